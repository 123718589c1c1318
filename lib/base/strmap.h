/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A map from byte strings to numbers that hostile keys cannot slow down:
 * the hash (SipHash-1-3) is keyed with random bits.  What is stored never
 * depends on them.  Keys are copied.
 */
#ifndef DP_STRMAP_H
#define DP_STRMAP_H

#include "base/vec.h"

struct dp_strmap {
	uint64_t seed[2]; /* 0, 0 until the first use */
	struct dp_vec
		rows; /* struct dp_strmap_row, in order of arrival; owned */
	struct dp_buf keys; /* owned */
	uint32_t *slots;    /* row number + 1; owned */
	size_t nslots;      /* a power of two, or 0 */
};

struct dp_strmap_row {
	size_t key_off; /* in keys */
	uint32_t key_size;
	uint32_t value;
	uint64_t hash;
};

/*
 * The value of `key`, or NULL.  The pointer is good until the next add.
 */
uint32_t *dp_strmap_find(struct dp_strmap *m, struct dp_bytes key);

/*
 * Find `key`, or add it with `value`; *added_ret says which.  NULL when
 * memory is out.
 */
uint32_t *dp_strmap_add(struct dp_strmap *m, struct dp_bytes key,
                        uint32_t value, bool *added_ret);

/* The key of row i, which must be < rows.n. */
struct dp_bytes dp_strmap_key(const struct dp_strmap *m, size_t i);

/* Forget all rows, keep the memory. */
void dp_strmap_clear(struct dp_strmap *m);
void dp_strmap_deinit(struct dp_strmap *m);

#endif /* DP_STRMAP_H */
