/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols of an object, for two questions: which function holds this
 * address, and what is the address of this name.  Each question has its own
 * table, built when asked for and only then.
 */
#ifndef DP_SYMBOLS_H
#define DP_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "elf/debugfile.h"
#include "elf/object.h"
#include "elf/spans.h"

/* Where symbols were read from; bits. */
enum {
	DP_SYMS_SYMTAB = 1 << 0,
	DP_SYMS_DYNSYM = 1 << 1,
	DP_SYMS_DEBUGFILE = 1 << 2,
	DP_SYMS_DEBUGDATA = 1 << 3,
};

/* A function; borrowed from the dp_funcs that it is in. */
struct dp_func {
	struct dp_bytes name;
	uint64_t addr; /* of its code: Thumb bit cleared, .opd followed;
	                  ET_REL: offset in section `sec` */
	uint64_t size; /* > 0 */
	uint32_t sec;  /* ET_REL: section index; else 0 */
	uint8_t bind;  /* STB_* */
	uint8_t type;  /* STT_FUNC or STT_GNU_IFUNC */
};

/* What a table of symbols rests on; owned by the table. */
struct dp_symfrom {
	struct dp_buf strs[4]; /* string tables, what names point into */
	unsigned nstrs;        /* how many of them are in use */
	unsigned sources;      /* DP_SYMS_* that gave something */
	uint64_t name_budget;  /* bytes of names that may still be read */
	struct dp_err trouble; /* first source that was there but broken */
};

/* Zeroed it is empty and valid. */
struct dp_funcs {
	struct dp_symfrom from;
	struct dp_vec v;       /* of struct dp_func, in file order */
	struct dp_spans spans; /* who holds which address */
};

/*
 * Load the functions of `elf`: .symtab and .dynsym; when there is no
 * .symtab also those of a separate debug file (`where` may be NULL), else
 * of .gnu_debugdata.  `f_ret` is filled anew and must be given to
 * dp_funcs_deinit(), whatever is returned.  A source that is broken or too
 * large is noted in ->from.trouble and the others are used; fails on memory and
 * on I/O of the object.
 */
bool dp_funcs_load(struct dp_funcs *f_ret, const struct dp_elf *elf,
                   const struct dp_debugwhere *where, struct dp_err *e);

/* An address that somebody will ask for. */
struct dp_codeaddr {
	uint32_t sec; /* ET_REL: section index; else 0 */
	uint64_t addr;
};

struct dp_wanted {
	const struct dp_codeaddr *at; /* by section and address; borrowed */
	size_t n;
};

/*
 * The same for the functions that hold one of the wanted addresses, NULL for
 * all: an object has many functions and few sites.
 */
bool dp_funcs_around(struct dp_funcs *f_ret, const struct dp_elf *elf,
                     const struct dp_debugwhere *where,
                     const struct dp_wanted *wanted, struct dp_err *e);
void dp_funcs_deinit(struct dp_funcs *f);

/*
 * The function in which `addr` lies by address and size, or NULL.  The
 * smallest when several do; of equal ones a global before a weak before a
 * local, then the shorter name, then the lesser.  `sec` is the section
 * index for ET_REL, else 0.
 */
const struct dp_func *dp_funcs_find(const struct dp_funcs *f, uint32_t sec,
                                    uint64_t addr);

/* What a name stands for. */
struct dp_symval {
	uint32_t n;     /* definitions that differ: 0, 1, 2 for more */
	uint8_t type;   /* STT_* of the first one */
	uint64_t value; /* st_value of it; for STT_TLS offset in PT_TLS */
	uint32_t shndx; /* its section, extended index resolved */
};

/* Zeroed it is empty and valid. */
struct dp_symnames {
	struct dp_symfrom from;
	struct dp_vec v; /* by hash, then name; internal */
	bool rel;        /* ET_REL: a value counts from its section */
};

/*
 * Load all defined symbols with a name, of every type but section and file:
 * from .symtab, else from .dynsym and those places that dp_funcs_load()
 * would look at.  Ownership and failure as there.
 */
bool dp_symnames_load(struct dp_symnames *s_ret, const struct dp_elf *elf,
                      const struct dp_debugwhere *where, struct dp_err *e);
void dp_symnames_deinit(struct dp_symnames *s);

/*
 * Look up a name; a version behind '@' in the file does not count.  Equal
 * definitions (same value, section and TLS or not) count once.
 */
struct dp_symval dp_symnames_find(const struct dp_symnames *s,
                                  struct dp_bytes name);

#endif /* DP_SYMBOLS_H */
