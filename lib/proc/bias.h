/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The load bias: what a loader added to every vaddr of an ELF file in one
 * process, found from the program headers and the mappings of the file.
 * Pure.  "Start minus offset of the text mapping" is not it: a linker may
 * pack segments so that vaddr and fileoff drift apart, and lld gives all
 * mappings of a small PIE the file offset 0.
 */
#ifndef DP_BIAS_H
#define DP_BIAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "proc/maps.h"

/* Bits of dp_load.flags, as in an ELF program header. */
enum dp_load_flag { DP_LOAD_X = 1, DP_LOAD_W = 2, DP_LOAD_R = 4 };

/* One PT_LOAD. */
struct dp_load {
	uint64_t vaddr;   /* as the file says it */
	uint64_t fileoff; /* where its bytes begin in the file */
	uint64_t filesz;  /* bytes in the file */
	uint64_t memsz;   /* bytes in memory */
	uint32_t flags;   /* DP_LOAD_* */
};

/* The question; everything is borrowed. */
struct dp_bias_query {
	const struct dp_load *loads; /* the PT_LOADs, in file order */
	size_t nloads;
	const struct dp_map *maps; /* of this file, ascending, disjoint */
	size_t nmaps;
	uint64_t page; /* page size of the process; a power of two */
	bool et_exec;  /* ET_EXEC: loaded where it says, or not at all */
};

/*
 * Append each bias at which the file is loaded to `biases` (uint64_t
 * elements, ascending, none twice).  Addresses are computed modulo 2^64, so
 * a file that lies below its vaddr has a bias that counts as negative.
 *
 * A candidate is the start of a mapping of the first page of the first
 * PT_LOAD that has bytes in the file, less the page of its vaddr; for
 * ET_EXEC it is 0.  It holds when every executable PT_LOAD with bytes in
 * the file has an executable mapping somewhere in its range, with the
 * right file offset.  Not the whole range is asked for: mprotect() splits
 * mappings and takes rights from single pages.  So a file that is only
 * mmap'ed as data, or whose text was copied to anonymous memory, or that
 * has no executable PT_LOAD, has no bias here: true and nothing appended.
 *
 * False, with `biases` as it was: page is no power of two (DP_EUSAGE),
 * a PT_LOAD wraps or page offsets of vaddr and fileoff differ (DP_EFORMAT;
 * `off` is the index of the PT_LOAD), too much to compare (DP_ELIMIT),
 * DP_ENOMEM.
 */
bool dp_bias_find(const struct dp_bias_query *q, struct dp_vec *biases,
                  struct dp_err *e);

#endif /* DP_BIAS_H */
