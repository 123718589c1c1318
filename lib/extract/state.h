/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/extract: one thread's state, kept from file to file. */
#ifndef DP_EXTRACT_STATE_H
#define DP_EXTRACT_STATE_H

#include <sys/stat.h>

#include "base/strmap.h"
#include "elf/object.h"
#include "elf/relocs.h"
#include "elf/symbols.h"
#include "extract/extract.h"

struct dp_extractor {
	const struct dp_extract_opts *opts; /* borrowed */
	struct dp_writer *out;              /* borrowed */
	uint64_t found;                     /* objects with something in them */
	uint64_t errors;
	struct dp_buf scratch; /* of the gate; header of a Mach-O */
	struct dp_buf head;    /* first bytes of a member */
	struct dp_buf data;    /* of the section in work */
	struct dp_buf name;    /* soname; a section's name */
	struct dp_buf text;    /* strings of .rodata */
	struct dp_buf id;      /* build-id */
	struct dp_buf key;     /* of `sent` */
	struct dp_buf label;   /* path(member), for messages */
	struct dp_strmap sent; /* symbol records of this object */
	struct dp_vec biases;  /* uint64_t */
	struct dp_vec loads;   /* struct dp_load */
};

/* One image: the file itself, a member, a slice. */
struct dp_image {
	const struct dp_extract_input *in;
	struct dp_src src; /* size is known once the object is open */
	struct dp_bytes head;
	struct dp_bytes member;
	int depth; /* archives around it */
	bool has_dof;
	uint64_t first_dof; /* vaddr of it */
	uint64_t nraw;      /* raw records written */
};

/* An ELF in work. */
struct dp_elfwork {
	struct dp_extractor *x;
	struct dp_image *im;
	struct dp_elf elf;
	struct dp_relocs rels;
	struct dp_vec ranges; /* struct dp_relrange, one a raw section */
	struct dp_buf dir;    /* of the object, NUL-terminated */
	struct dp_vec wanted; /* struct dp_codeaddr: sites to name */
	struct dp_funcs funcs;
	struct dp_symnames names;
	bool names_loaded;
	const struct dp_elf_sec *rodata; /* NULL: none */
	bool has_base;                   /* a .stapsdt.base, at: */
	uint64_t base;
	uint32_t nnotes;
	uint32_t range; /* of the section in work */
};

bool dp_extract_nomem(struct dp_err *e);

/* An error record about an image; counted and told. */
bool dp_image_complain(struct dp_extractor *x, const struct dp_image *im,
                       enum dp_word_reach reach, const struct dp_err *what,
                       struct dp_err *e);

/*
 * Begin an object record: what the file system gives and the image knows.
 * False when the file cannot be asked, or a name is longer than DP_MAX_STR.
 */
bool dp_image_object(const struct dp_image *im, struct dp_rec_object *o_ret,
                     struct dp_err *e);

/* Close the object and count it. */
bool dp_image_end(struct dp_extractor *x, const struct dp_image *im,
                  struct dp_err *e);

/*
 * DOFs one behind the other in x->data; `first` has section and place of
 * the data.  `w` is NULL when no ELF relocation can hit them.
 */
bool dp_put_dofs(struct dp_extractor *x, struct dp_image *im,
                 const struct dp_rec_rawdof *first, struct dp_elfwork *w,
                 struct dp_err *e);

/* Relocations that hit the range in work, by offset; borrowed. */
struct dp_relhits {
	const struct dp_reloc *r;
	size_t n;
};

struct dp_relhits dp_relocs_in(const struct dp_elfwork *w, uint64_t at,
                               uint64_t n);

/* Write them, offsets counted from `at`. */
bool dp_put_elfrels(struct dp_elfwork *w, struct dp_relhits hits, uint64_t at,
                    struct dp_err *e);

/* The notes of the section whose data are in x->data. */
bool dp_put_notes(struct dp_elfwork *w, const struct dp_elf_sec *sec, bool usdt,
                  struct dp_err *e);

/* Remember the sites of that section, whose functions will be asked for. */
bool dp_want_sites(struct dp_elfwork *w, struct dp_err *e);

/* The functions around those sites. */
bool dp_put_functions(struct dp_elfwork *w, struct dp_err *e);

/* Symbols that a descriptor at `at` of its section needs, each once. */
bool dp_put_sdt_symbols(struct dp_elfwork *w, struct dp_bytes desc, uint64_t at,
                        struct dp_err *e);
bool dp_put_usdt_symbols(struct dp_elfwork *w, struct dp_bytes desc,
                         uint64_t at, struct dp_err *e);

bool dp_extract_elf(struct dp_extractor *x, struct dp_image *im, unsigned flags,
                    struct dp_err *e);
bool dp_extract_macho(struct dp_extractor *x, struct dp_image *im,
                      struct dp_err *e);
bool dp_extract_fat(struct dp_extractor *x, struct dp_image *im,
                    struct dp_err *e);

/* Helper records of the processes that map this ELF. */
bool dp_put_helpers(struct dp_elfwork *w, struct dp_err *e);

#endif /* DP_EXTRACT_STATE_H */
