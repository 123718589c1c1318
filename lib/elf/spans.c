/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sweep over the intervals sorted by their start.  Those that hold the
 * current place are in a heap with the winner on top; one that has ended is
 * thrown out only when it comes to the top.
 */
#include "elf/spans.h"

#include <stdlib.h>

struct sweep {
	const struct dp_span *in;
	size_t n, next;
	uint32_t *heap; /* indices into in */
	size_t nheap;
	dp_span_order *order;
	const void *ctx;
};

bool
dp_spans_add(struct dp_spans *s, const struct dp_span *span)
{
	struct dp_span *slot;

	if (span->lo >= span->hi)
		return true;
	/* ids and heap indices are 32 bits */
	if (s->in.n == UINT32_MAX)
		return false;
	slot = dp_vec_push(&s->in, sizeof *slot);
	if (slot == NULL)
		return false;
	*slot = *span;
	return true;
}

static int
by_start(const void *pa, const void *pb)
{
	const struct dp_span *a = pa, *b = pb;

	if (a->sec != b->sec)
		return a->sec < b->sec ? -1 : 1;
	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static bool
wins(const struct sweep *w, uint32_t a, uint32_t b)
{
	int c = w->order(w->ctx, w->in[a].id, w->in[b].id);

	return c != 0 ? c < 0 : a < b;
}

static void
heap_push(struct sweep *w, uint32_t i)
{
	size_t at = w->nheap++, up;

	while (at != 0) {
		up = (at - 1) / 2;
		if (!wins(w, i, w->heap[up]))
			break;
		w->heap[at] = w->heap[up];
		at = up;
	}
	w->heap[at] = i;
}

static void
heap_pop(struct sweep *w)
{
	uint32_t last = w->heap[--w->nheap];
	size_t at = 0, kid;

	for (;;) {
		kid = 2 * at + 1;
		if (kid >= w->nheap)
			break;
		if (kid + 1 < w->nheap &&
		    wins(w, w->heap[kid + 1], w->heap[kid]))
			kid++;
		if (!wins(w, w->heap[kid], last))
			break;
		w->heap[at] = w->heap[kid];
		at = kid;
	}
	w->heap[at] = last;
}

/* Append [lo, hi) of interval `i`, or lengthen the piece before it. */
static bool
emit(struct dp_vec *out, const struct dp_span *i, uint64_t lo, uint64_t hi)
{
	struct dp_span *last;

	if (out->n != 0) {
		last = DP_VEC_AT(out, struct dp_span, out->n - 1);
		if (last->sec == i->sec && last->id == i->id &&
		    last->hi == lo) {
			last->hi = hi;
			return true;
		}
	}
	last = dp_vec_push(out, sizeof *last);
	if (last == NULL)
		return false;
	*last = *i;
	last->lo = lo;
	last->hi = hi;
	return true;
}

/* Sweep one space; `pos` moves from start or end to start or end. */
static bool
sweep_space(struct sweep *w, uint32_t sec, struct dp_vec *out)
{
	uint64_t pos = 0, to;
	const struct dp_span *top;

	for (;;) {
		if (w->nheap == 0) {
			if (w->next == w->n || w->in[w->next].sec != sec)
				return true;
			pos = w->in[w->next].lo;
		}
		while (w->next < w->n && w->in[w->next].sec == sec &&
		       w->in[w->next].lo <= pos)
			heap_push(w, (uint32_t)w->next++);
		while (w->nheap != 0 && w->in[w->heap[0]].hi <= pos)
			heap_pop(w);
		if (w->nheap == 0)
			continue;
		top = &w->in[w->heap[0]];
		to = top->hi;
		if (w->next < w->n && w->in[w->next].sec == sec &&
		    w->in[w->next].lo < to)
			to = w->in[w->next].lo;
		if (!emit(out, top, pos, to))
			return false;
		pos = to;
	}
}

bool
dp_spans_build(struct dp_spans *s, dp_span_order *order, const void *ctx)
{
	struct sweep w = { .n = s->in.n, .order = order, .ctx = ctx };
	bool ok = true;

	dp_vec_deinit(&s->pieces);
	if (s->in.n == 0)
		return true;
	w.heap = calloc(s->in.n, sizeof *w.heap);
	if (w.heap == NULL)
		return false;
	qsort(s->in.p, s->in.n, sizeof(struct dp_span), by_start);
	w.in = s->in.p;
	while (ok && w.next < w.n)
		ok = sweep_space(&w, w.in[w.next].sec, &s->pieces);
	free(w.heap);
	dp_vec_deinit(&s->in);
	return ok;
}

const struct dp_span *
dp_spans_find(const struct dp_spans *s, uint32_t sec, uint64_t at)
{
	const struct dp_span *p = s->pieces.p;
	size_t lo = 0, hi = s->pieces.n, mid;

	/* the last piece that starts at or before (sec, at) */
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (p[mid].sec < sec || (p[mid].sec == sec && p[mid].lo <= at))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || p[lo - 1].sec != sec || at >= p[lo - 1].hi)
		return NULL;
	return &p[lo - 1];
}

void
dp_spans_deinit(struct dp_spans *s)
{
	dp_vec_deinit(&s->in);
	dp_vec_deinit(&s->pieces);
}
