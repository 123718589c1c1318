/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ELF relocations that hit given ranges of an object: what a loader
 * (ET_EXEC, ET_DYN) or a linker (ET_REL) would add there.  REL, RELA and
 * RELR.  One pass over all relocations of the object, whatever the number
 * of ranges.  Nothing is applied: the bytes stay as they are.
 */
#ifndef DP_RELOCS_H
#define DP_RELOCS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "elf/object.h"

/* What a relocation computes; S symbol, A addend, P place, B load bias. */
enum dp_relkind {
	DP_REL_OTHER,    /* anything else, or an unknown machine */
	DP_REL_NONE,     /* R_*_NONE: nothing */
	DP_REL_RELATIVE, /* B + A */
	DP_REL_SYMBOL,   /* S + A, also a GLOB_DAT or JUMP_SLOT */
	DP_REL_PCREL,    /* S + A - P */
};

/* A range of interest. */
struct dp_relrange {
	/*
	 * ET_EXEC, ET_DYN: link-time address.  ET_REL: offset in section
	 * `sec`, 0 for the whole of it.
	 */
	uint64_t start;
	uint64_t size; /* bytes */
	uint32_t sec;  /* ET_REL: section index; else not looked at */
};

struct dp_reloc {
	uint64_t off;    /* from the start of the range */
	uint32_t range;  /* index in the caller's array */
	uint32_t seq;    /* rank in the file, tables in their order */
	uint32_t type;   /* R_* of the machine, as the file has it */
	uint8_t kind;    /* enum dp_relkind */
	uint8_t width;   /* bytes that change; 0 for OTHER and NONE */
	bool in_place;   /* REL, RELR: the addend is what the bytes hold */
	bool has_sym;    /* the fields sym_* say something */
	int64_t addend;  /* 0 when in_place */
	uint8_t st_type; /* STT_* of the symbol */
	bool sym_defined;
	uint32_t sym_shndx;       /* its section, extended index resolved */
	uint64_t sym_value;       /* st_value: ET_REL: offset in sym_shndx */
	struct dp_bytes sym_name; /* borrowed from the dp_relocs; empty for a
	                             section symbol, or a name that is broken */
	struct dp_bytes sym_sec;  /* name of its section, borrowed from the
	                             dp_elf; empty when it has none */
};

/* Zeroed it is empty and valid. */
struct dp_relocs {
	struct dp_vec v;       /* of struct dp_reloc, by (range, off, seq) */
	struct dp_buf names;   /* what sym_name points into */
	uint32_t tables;       /* relocation tables that were read */
	bool from_dynamic;     /* found through PT_DYNAMIC */
	struct dp_err trouble; /* first table that was cut or broken, if any */
};

/*
 * Collect what hits the `n` ranges; `rs_ret` is filled anew and must be
 * given to dp_relocs_deinit(), whatever is returned.  Where ranges overlap,
 * the one that comes first in the array gets the relocation.  A relocation
 * belongs to the range in which its first byte lies.  A broken table is
 * noted in ->trouble and the others are read.  Fails on I/O and memory, and
 * with DP_ELIMIT past 2 GiB of tables, DP_MAX_NOTES hits, or
 * DP_MAX_ELF_SECTION bytes of names.
 */
bool dp_relocs_load(struct dp_relocs *rs_ret, const struct dp_elf *elf,
                    const struct dp_relrange *ranges, uint32_t n,
                    struct dp_err *e);
void dp_relocs_deinit(struct dp_relocs *rs);

/* "relative", "symbol" ...; "other" for what is outside the enum. */
const char *dp_relkind_name(enum dp_relkind kind);

#endif /* DP_RELOCS_H */
