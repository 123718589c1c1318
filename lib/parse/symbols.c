/* SPDX-License-Identifier: BSD-2-Clause */
/* The symbol records of the object in work: functions by place, others by
 * name, strings by address. */
#include <stdlib.h>

#include "parse/state.h"

enum {
	MAX_NESTING = 64, /* functions inside functions; hostile beyond */
	/*
	 * Functions come before the notes, so one sorting does.  A stream
	 * that mixes them may have a few more; then late ones name nothing.
	 */
	MAX_SORTS = 64,
};

static struct dp_sym *
sym_at(const struct dp_parser *p, size_t i)
{
	return DP_VEC_AT(&p->symbols, struct dp_sym, i);
}

static struct dp_bytes
name_of(const struct dp_parser *p, const struct dp_sym *s)
{
	return dp_buf_part(&p->names, s->name_off, s->name_size);
}

static struct dp_bytes
addr_key(const uint64_t *addr)
{
	return (struct dp_bytes){ (const uint8_t *)addr, sizeof *addr };
}

bool
dp_parse_symbol(struct dp_parser *p, const struct dp_rec_symbol *rec,
                struct dp_err *e)
{
	struct dp_sym *s;
	uint32_t *place, i;
	bool added;

	if (!dp_parse_room(p, DP_KEEP_SYMBOLS, rec->name.n, &added, e))
		return false;
	if (!added)
		return true;
	s = dp_vec_push(&p->symbols, sizeof *s);
	if (s == NULL || !dp_buf_add(&p->names, rec->name.p, rec->name.n))
		return dp_nomem(e);
	i = (uint32_t)p->symbols.n - 1;
	*s = (struct dp_sym){
		.value = rec->value,
		.size = rec->size,
		.section = rec->section,
		.kind = rec->kind,
		.name_off = p->names.n - rec->name.n,
		.name_size = rec->name.n,
	};
	if (rec->kind == DPR_SYM_FUNC) {
		if (p->sorts >= MAX_SORTS)
			return true;
		p->symbols_sorted = false;
		place = dp_vec_push(&p->by_place, sizeof *place);
		if (place == NULL)
			return dp_nomem(e);
		*place = i;
	}
	if (rec->kind == DPR_SYM_STRING)
		return dp_strmap_add(&p->strings, addr_key(&rec->value), i,
		                     &added) != NULL ||
		       dp_nomem(e);
	return dp_strmap_add(&p->by_name, rec->name, i, &added) != NULL ||
	       dp_nomem(e);
}

/* By section, start, then the larger first: what contains comes first. */
static int
cmp_place(const void *a, const void *b, void *ctx)
{
	const struct dp_parser *p = ctx;
	const struct dp_sym *x = sym_at(p, *(const uint32_t *)a);
	const struct dp_sym *y = sym_at(p, *(const uint32_t *)b);

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->size < y->size) - (x->size > y->size);
}

static bool
holds(const struct dp_sym *s, uint32_t section, uint64_t addr)
{
	return s->section == section && addr >= s->value &&
	       addr - s->value < s->size;
}

/* Sort, and link each function to the nearest one that starts around it. */
static void
sort_functions(struct dp_parser *p)
{
	uint32_t *order = p->by_place.p;

	if (p->by_place.n > 1)
		qsort_r(order, p->by_place.n, sizeof *order, cmp_place, p);
	for (size_t i = 0; i < p->by_place.n; i++) {
		struct dp_sym *s = sym_at(p, order[i]);
		uint32_t up = i == 0 ? 0 : (uint32_t)i; /* order[up - 1] */

		while (up != 0 &&
		       !holds(sym_at(p, order[up - 1]), s->section, s->value))
			up = sym_at(p, order[up - 1])->up;
		s->up = up;
	}
	p->symbols_sorted = true;
	p->sorts++;
}

/* Number + 1 of the last function that starts at or before the address. */
static uint32_t
last_before(const struct dp_parser *p, uint32_t section, uint64_t addr)
{
	const uint32_t *order = p->by_place.p;
	size_t lo = 0, hi = p->by_place.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct dp_sym *s = sym_at(p, order[mid]);

		if (s->section < section ||
		    (s->section == section && s->value <= addr))
			lo = mid + 1;
		else
			hi = mid;
	}
	return (uint32_t)lo;
}

bool
dp_parse_function(struct dp_parser *p, uint32_t section, uint64_t addr,
                  struct dp_bytes *name_ret, struct dp_err *e)
{
	const uint32_t *order = p->by_place.p;
	uint32_t at;

	(void)e;
	*name_ret = (struct dp_bytes){ NULL, 0 };
	if (!p->symbols_sorted)
		sort_functions(p);
	at = last_before(p, section, addr);
	for (int i = 0; i < MAX_NESTING && at != 0; i++) {
		const struct dp_sym *s = sym_at(p, order[at - 1]);

		if (holds(s, section, addr)) {
			*name_ret = name_of(p, s);
			break;
		}
		at = s->up;
	}
	return true;
}

const struct dp_sym *
dp_parse_find(struct dp_parser *p, struct dp_bytes name)
{
	const uint32_t *i = dp_strmap_find(&p->by_name, name);

	return i == NULL ? NULL : sym_at(p, *i);
}

bool
dp_parse_string(struct dp_parser *p, uint64_t addr, struct dp_bytes *s_ret)
{
	const uint32_t *i = dp_strmap_find(&p->strings, addr_key(&addr));

	if (i == NULL)
		return false;
	*s_ret = name_of(p, sym_at(p, *i));
	return true;
}

void
dp_parse_symbols_clear(struct dp_parser *p)
{
	p->symbols.n = 0;
	p->by_place.n = 0;
	p->names.n = 0;
	p->symbols_sorted = true;
	p->sorts = 0;
	dp_strmap_clear(&p->by_name);
	dp_strmap_clear(&p->strings);
}
