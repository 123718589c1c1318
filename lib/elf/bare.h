/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places where a DOF may begin in an object without section headers: the
 * four bytes of its magic at an address that 8 divides, in the parts of the
 * file that PT_LOADs load.  Whether it is one is for the caller to check.
 */
#ifndef DP_BARE_H
#define DP_BARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "elf/object.h"

/* A scan's place; internal but for deinit. */
struct dp_bare {
	const struct dp_elf *elf; /* borrowed */
	uint64_t budget;          /* bytes that may still be read */
	size_t seg;               /* index in elf->segs */
	uint64_t at;              /* next offset in that segment to look at */
	struct dp_buf chunk;      /* bytes in hand */
	uint64_t chunk_at;        /* offset in the segment of the first one */
};

struct dp_bare_hit {
	uint64_t vaddr; /* link-time address, a multiple of 8 */
	uint64_t off;   /* file offset in the object */
	uint64_t left;  /* bytes from there to the end of the segment's data */
};

struct dp_bare dp_bare_init(const struct dp_elf *elf);

/*
 * Step to the next candidate; *more_ret is false at the end, with *hit_ret
 * untouched.  DP_ELIMIT when DP_MAX_SCAN bytes were read and more are left.
 */
bool dp_bare_next(struct dp_bare *b, struct dp_bare_hit *hit_ret,
                  bool *more_ret, struct dp_err *e);

/* Go on `n` bytes behind the start of the last candidate (a whole DOF). */
void dp_bare_skip(struct dp_bare *b, uint64_t n);
void dp_bare_deinit(struct dp_bare *b);

#endif /* DP_BARE_H */
