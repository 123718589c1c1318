/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Intervals that may nest and overlap in any way, turned once into a sorted
 * list of pieces of which each belongs to one of them.  Building costs
 * n log n and a look-up log n, whatever the intervals are.
 */
#ifndef DP_SPANS_H
#define DP_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* The interval [lo, hi) of space `sec`; with lo >= hi it is empty. */
struct dp_span {
	uint32_t sec; /* intervals of different spaces never meet */
	uint32_t id;  /* the caller's number for it */
	uint64_t lo, hi;
};

/* Zeroed it is empty and valid. */
struct dp_spans {
	struct dp_vec in;     /* of struct dp_span: what was added */
	struct dp_vec pieces; /* of struct dp_span: disjoint, sorted */
};

/* <0 when interval `a` is to win over `b` where both lie. */
typedef int dp_span_order(const void *ctx, uint32_t a, uint32_t b);

/* Add one; false when memory is out. */
bool dp_spans_add(struct dp_spans *s, const struct dp_span *span);

/* Build the pieces and drop what was added; false when memory is out. */
bool dp_spans_build(struct dp_spans *s, dp_span_order *order, const void *ctx);

/* The piece that holds `at` of space `sec`, or NULL. */
const struct dp_span *dp_spans_find(const struct dp_spans *s, uint32_t sec,
                                    uint64_t at);
void dp_spans_deinit(struct dp_spans *s);

#endif /* DP_SPANS_H */
