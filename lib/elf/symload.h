/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Running through the symbol tables of an object and of what stands in for
 * them when it is stripped: the common part of both tables of symbols.h.
 */
#ifndef DP_SYMLOAD_H
#define DP_SYMLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/hdr.h"
#include "elf/symbols.h"

/* A defined symbol of a wanted type. */
struct dp_symload {
	struct dp_esym sym;
	uint32_t shndx;       /* extended index resolved */
	struct dp_bytes name; /* not empty; lives as long as the dp_symfrom */
};

/* Take one symbol; false stops the run as a failure that `e` describes. */
typedef bool dp_symload_fn(void *ctx, const struct dp_symload *s,
                           struct dp_err *e);

/* What a run is to find. */
struct dp_symwant {
	uint32_t types; /* bit 1 << STT_* for each type that is wanted */
	bool sized;     /* those of size 0 are not wanted */
	/*
	 * .dynsym is read beside .symtab, not only in place of it: a
	 * library's names there come without a version.
	 */
	bool both;
	/*
	 * Asked before the name is looked at, which costs most; false: not
	 * wanted.  NULL: all are.
	 */
	bool (*pick)(void *ctx, const struct dp_esym *sym, uint32_t shndx);
	dp_symload_fn *take;
	void *ctx;
};

/*
 * Run through the tables in the order that symbols.h says.  `from` is
 * filled anew, dp_symfrom_deinit() frees it.  Fails on memory and I/O of
 * the object, and when `take` does.
 */
bool dp_symload_run(struct dp_symfrom *from, const struct dp_elf *elf,
                    const struct dp_debugwhere *where,
                    const struct dp_symwant *want, struct dp_err *e);
void dp_symfrom_deinit(struct dp_symfrom *from);

#endif /* DP_SYMLOAD_H */
