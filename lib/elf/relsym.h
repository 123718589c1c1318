/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single symbols by their index, for elf/relocs.c: a few out of a table
 * that may be large, so they are read through small windows.
 */
#ifndef DP_RELSYM_H
#define DP_RELSYM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "elf/hdr.h"
#include "elf/object.h"
#include "elf/source.h"

enum {
	DP_RELSYM_NAME_MAX = 64 << 10, /* a longer name counts as broken */
};

/* Where a symbol table and its strings lie in the object, in bytes. */
struct dp_symplace {
	uint64_t off, size;
	uint64_t str_off, str_size;
	uint32_t sec; /* section index of the table; 0: found without one */
};

/* Zeroed it is valid; all owned. */
struct dp_relsym {
	struct dp_win syms, strs, xndx;
	const struct dp_elf_sec *xndx_sec; /* SHT_SYMTAB_SHNDX, or NULL */
	uint64_t wasted; /* bytes read for names that turned out broken */
};

/* A symbol. */
struct dp_relsym_val {
	struct dp_esym sym;
	uint32_t shndx;       /* extended index resolved */
	struct dp_bytes name; /* borrowed until the next call; may be empty */
};

/*
 * The place of the symbol table in section `link`; size 0 when that is no
 * usable symbol table.
 */
struct dp_symplace dp_symplace_of(const struct dp_elf *elf, uint32_t link);

/* Read symbol `i`; false when the table does not have it. */
bool dp_relsym_get(struct dp_relsym *rs, const struct dp_elf *elf,
                   const struct dp_symplace *at, uint32_t i,
                   struct dp_relsym_val *val_ret);
void dp_relsym_deinit(struct dp_relsym *rs);

#endif /* DP_RELSYM_H */
