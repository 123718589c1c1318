/* SPDX-License-Identifier: BSD-2-Clause */
/* Range and product checks that cannot wrap themselves. */
#ifndef DP_RANGE_H
#define DP_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if [off, off + len) lies in [0, total). */
static inline bool
dp_range_ok(uint64_t off, uint64_t len, uint64_t total)
{
	return off <= total && len <= total - off;
}

/* True if [at, at + n * each) lies in [0, total); n and each are 32 bits. */
static inline bool
dp_table_ok(uint64_t at, uint32_t n, uint32_t each, uint64_t total)
{
	return dp_range_ok(at, (uint64_t)n * each, total);
}

/* True if `v` is a power of two; 0 is not. */
static inline bool
dp_pow2(uint64_t v)
{
	return v != 0 && (v & (v - 1)) == 0;
}

/* `v` rounded up to a multiple of the power of two `a`; wraps to 0. */
static inline uint64_t
dp_align_up(uint64_t v, uint64_t a)
{
	return (v + a - 1) & ~(a - 1);
}

#endif /* DP_RANGE_H */
