/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/bias.h"

#include <stdlib.h>

#include "base/range.h"

/*
 * Comparisons that one query may cost.  Real ones take some dozens; made up
 * headers and mappings could ask for 2^50.
 */
enum { WORK_MAX = 1 << 24 };

struct search {
	const struct dp_bias_query *q;
	uint64_t work;
	bool over;
};

static uint64_t
page_floor(const struct dp_bias_query *q, uint64_t v)
{
	return v & ~(q->page - 1);
}

/* What every PT_LOAD must satisfy for the arithmetic below to mean it. */
static bool
check(const struct dp_bias_query *q, struct dp_err *e)
{
	if (!dp_pow2(q->page))
		return dp_err_set(e, DP_EUSAGE, DP_NOOFF, "page size");
	for (size_t i = 0; i < q->nloads; i++) {
		const struct dp_load *l = &q->loads[i];

		if (!dp_range_ok(l->vaddr, l->filesz, UINT64_MAX) ||
		    !dp_range_ok(l->fileoff, l->filesz, UINT64_MAX))
			return dp_err_set(e, DP_EFORMAT, i, "PT_LOAD %zu wraps",
			                  i);
		if (l->filesz != 0 &&
		    ((l->vaddr ^ l->fileoff) & (q->page - 1)) != 0)
			return dp_err_set(e, DP_EFORMAT, i,
			                  "PT_LOAD %zu cannot be mapped", i);
	}
	return true;
}

static const struct dp_load *
first_load(const struct dp_bias_query *q)
{
	for (size_t i = 0; i < q->nloads; i++)
		if (q->loads[i].filesz != 0)
			return &q->loads[i];
	return NULL;
}

static bool
is_text(const struct dp_load *l)
{
	return (l->flags & DP_LOAD_X) != 0 && l->filesz != 0;
}

/* The first mapping that ends after `addr`; nmaps if there is none. */
static size_t
map_after(const struct dp_bias_query *q, uint64_t addr)
{
	size_t lo = 0, hi = q->nmaps;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (q->maps[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * True if an executable mapping lies in the range of `l` under `bias` with
 * the file offset that belongs there.  Being in the range is not enough:
 * start minus offset must agree, too, and that is what tells one candidate
 * from its neighbours.
 */
static bool
text_mapped(struct search *s, const struct dp_load *l, uint64_t bias)
{
	uint64_t begin = page_floor(s->q, l->vaddr + bias);
	uint64_t end = l->vaddr + bias + l->filesz;
	uint64_t delta = l->vaddr + bias - l->fileoff;

	if (end <= begin) /* biased past the end of the address space */
		return false;
	for (size_t i = map_after(s->q, begin); i < s->q->nmaps; i++) {
		const struct dp_map *m = &s->q->maps[i];

		if (++s->work > WORK_MAX)
			s->over = true;
		if (s->over || m->start >= end)
			return false;
		if ((m->perms & DP_MAP_X) != 0 && m->start - m->off == delta)
			return true;
	}
	return false;
}

static bool
holds(struct search *s, uint64_t bias)
{
	bool any = false;

	for (size_t i = 0; i < s->q->nloads; i++) {
		if (++s->work > WORK_MAX)
			s->over = true;
		if (s->over)
			return false;
		if (!is_text(&s->q->loads[i]))
			continue;
		if (!text_mapped(s, &s->q->loads[i], bias))
			return false;
		any = true;
	}
	return any;
}

static bool
try_bias(struct search *s, uint64_t bias, struct dp_vec *biases,
         struct dp_err *e)
{
	uint64_t *slot;

	if (!holds(s, bias)) {
		if (s->over)
			return dp_err_set(e, DP_ELIMIT, DP_NOOFF,
			                  "too many PT_LOADs and mappings");
		return true;
	}
	slot = dp_vec_push(biases, sizeof *slot);
	if (slot == NULL)
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "load biases");
	*slot = bias;
	return true;
}

static int
u64_cmp(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sort what stands from `first` on and drop repetitions. */
static void
tidy(struct dp_vec *v, size_t first)
{
	size_t n = v->n - first, out = 0;
	uint64_t *p;

	if (n == 0)
		return;
	p = DP_VEC_AT(v, uint64_t, first);
	qsort(p, n, sizeof *p, u64_cmp);
	for (size_t i = 0; i < n; i++)
		if (out == 0 || p[out - 1] != p[i])
			p[out++] = p[i];
	v->n = first + out;
}

static bool
try_all(struct search *s, struct dp_vec *biases, struct dp_err *e)
{
	const struct dp_bias_query *q = s->q;
	const struct dp_load *l = first_load(q);

	if (l == NULL)
		return true;
	if (q->et_exec)
		return try_bias(s, 0, biases, e);
	for (size_t i = 0; i < q->nmaps; i++) {
		const struct dp_map *m = &q->maps[i];
		uint64_t bias = m->start - page_floor(q, l->vaddr);

		if (m->off == page_floor(q, l->fileoff) &&
		    !try_bias(s, bias, biases, e))
			return false;
	}
	return true;
}

bool
dp_bias_find(const struct dp_bias_query *q, struct dp_vec *biases,
             struct dp_err *e)
{
	struct search s = { .q = q };
	size_t first = biases->n;

	if (!check(q, e))
		return false;
	if (!try_all(&s, biases, e)) {
		biases->n = first;
		return false;
	}
	tidy(biases, first);
	return true;
}
