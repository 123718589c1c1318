/* SPDX-License-Identifier: BSD-2-Clause */
/* The first question of symbols.h: which function holds an address. */
#include "elf/symbols.h"

#include <elf.h>

#include "base/limits.h"
#include "elf/opd.h"
#include "elf/symload.h"

enum {
	/* functions of one object; each takes about 100 bytes */
	FUNCS_MAX = DP_MAX_SYMTAB / 64,
};

struct loading {
	struct dp_funcs *f;
	const struct dp_elf *elf;
	const struct dp_wanted *wanted; /* NULL: all */
	struct dp_opd opd;
};

/* Where the code of a symbol begins; false when nothing says it. */
static bool
code_of(struct loading *l, const struct dp_esym *sym, uint32_t shndx,
        struct dp_opd_at *at_ret)
{
	struct dp_opd_at at = { 0, sym->value };

	if (l->elf->type == ET_REL)
		at.sec = shndx;
	if (l->elf->machine == EM_ARM)
		at.addr &= ~UINT64_C(1); /* set: Thumb code */
	if (!dp_opd_follow(&l->opd, &at))
		return false;
	*at_ret = at;
	return true;
}

/* The first wanted address at or behind one. */
static size_t
first_wanted(const struct dp_wanted *w, uint32_t sec, uint64_t addr)
{
	size_t lo = 0, hi = w->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (w->at[mid].sec < sec ||
		    (w->at[mid].sec == sec && w->at[mid].addr < addr))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Only functions that hold a wanted address: they are few among many. */
static bool
pick_func(void *ctx, const struct dp_esym *sym, uint32_t shndx)
{
	struct loading *l = ctx;
	struct dp_opd_at at;
	size_t i;

	if (!code_of(l, sym, shndx, &at))
		return false;
	i = first_wanted(l->wanted, at.sec, at.addr);
	return i < l->wanted->n && l->wanted->at[i].sec == at.sec &&
	       l->wanted->at[i].addr - at.addr < sym->size;
}

static bool
take_func(void *ctx, const struct dp_symload *s, struct dp_err *e)
{
	struct loading *l = ctx;
	struct dp_opd_at at;
	struct dp_func *f;

	if (!code_of(l, &s->sym, s->shndx, &at))
		return true;
	if (l->f->v.n >= FUNCS_MAX)
		return dp_err_set(e, DP_ELIMIT, DP_NOOFF,
		                  "more than %d functions", FUNCS_MAX);
	f = dp_vec_push(&l->f->v, sizeof *f);
	if (f == NULL)
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	f->name = s->name;
	f->addr = at.addr;
	f->size = s->sym.size;
	f->sec = at.sec;
	f->bind = s->sym.info >> 4;
	f->type = s->sym.info & 0xf;
	return true;
}

static const struct dp_func *
func_at(const struct dp_funcs *f, size_t i)
{
	return DP_VEC_AT(&f->v, struct dp_func, i);
}

static int
bind_rank(uint8_t bind)
{
	switch (bind) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return 0;
	case STB_WEAK:
		return 1;
	case STB_LOCAL:
		return 2;
	default:
		return 3;
	}
}

/* Which of two functions at one address gives its name. */
static int
by_merit(const void *ctx, uint32_t ia, uint32_t ib)
{
	const struct dp_func *a = func_at(ctx, ia), *b = func_at(ctx, ib);

	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	if (bind_rank(a->bind) != bind_rank(b->bind))
		return bind_rank(a->bind) < bind_rank(b->bind) ? -1 : 1;
	if (a->name.n != b->name.n)
		return a->name.n < b->name.n ? -1 : 1;
	return dp_bytes_cmp(a->name, b->name);
}

static bool
index_funcs(struct dp_funcs *f)
{
	const struct dp_func *fn;
	struct dp_span s;

	for (size_t i = 0; i < f->v.n; i++) {
		fn = func_at(f, i);
		s.sec = fn->sec;
		s.id = (uint32_t)i;
		s.lo = fn->addr;
		if (__builtin_add_overflow(fn->addr, fn->size, &s.hi))
			s.hi = UINT64_MAX;
		if (!dp_spans_add(&f->spans, &s))
			return false;
	}
	return dp_spans_build(&f->spans, by_merit, f);
}

bool
dp_funcs_load(struct dp_funcs *f_ret, const struct dp_elf *elf,
              const struct dp_debugwhere *where, struct dp_err *e)
{
	return dp_funcs_around(f_ret, elf, where, NULL, e);
}

bool
dp_funcs_around(struct dp_funcs *f_ret, const struct dp_elf *elf,
                const struct dp_debugwhere *where,
                const struct dp_wanted *wanted, struct dp_err *e)
{
	struct loading l = { .f = f_ret, .elf = elf, .wanted = wanted };
	struct dp_symwant want = {
		.types = 1U << STT_FUNC | 1U << STT_GNU_IFUNC,
		.sized = true,
		.both = true,
		.pick = wanted == NULL ? NULL : pick_func,
		.take = take_func,
		.ctx = &l,
	};
	bool ok;

	*f_ret = (struct dp_funcs){ 0 };
	ok = dp_opd_load(&l.opd, elf, e) &&
	     dp_symload_run(&f_ret->from, elf, where, &want, e);
	dp_opd_deinit(&l.opd);
	if (ok && !index_funcs(f_ret))
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	return ok;
}

void
dp_funcs_deinit(struct dp_funcs *f)
{
	dp_symfrom_deinit(&f->from);
	dp_vec_deinit(&f->v);
	dp_spans_deinit(&f->spans);
}

const struct dp_func *
dp_funcs_find(const struct dp_funcs *f, uint32_t sec, uint64_t addr)
{
	const struct dp_span *s = dp_spans_find(&f->spans, sec, addr);

	return s != NULL ? func_at(f, s->id) : NULL;
}
