/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes DOFs of any shape for tests of the parser: several providers that
 * share strings, offsets and types.  Nothing is checked: bad values in, bad
 * DOF out.
 */
#ifndef DP_DOFMAKE_H
#define DP_DOFMAKE_H

#include <check.h>
#include <string.h>

#include "base/vec.h"
#include "usdt/dof.h"

struct mk_probe {
	uint64_t addr;
	uint32_t func, name; /* string offsets */
	uint32_t nargv, xargv, argidx, offidx, enoffidx;
	uint8_t nargc, xargc;
	uint16_t noffs, nenoffs;
};

struct mk_prov {
	uint32_t name; /* string offset */
	const struct mk_probe *probes;
	uint32_t nprobes;
	uint32_t rel; /* SETX or DOFREL on every probe; NONE for no table */
};

struct mk_dof {
	enum dp_order order;
	uint8_t version;
	struct dp_bytes strs;
	struct dp_bytes map; /* prargs */
	const uint32_t *offs, *enoffs;
	uint32_t noffs, nenoffs;
	const struct mk_prov *provs;
	uint32_t nprovs;
};

enum { MK_STRTAB, MK_PRARGS, MK_PROFFS, MK_PRENOFFS, MK_SHARED };

/* Sections of provider i, behind the shared ones. */
#define MK_PROBES(i)   (MK_SHARED + 4 * (i))
#define MK_PROVIDER(i) (MK_SHARED + 4 * (i) + 1)
#define MK_RELTAB(i)   (MK_SHARED + 4 * (i) + 2)
#define MK_URELHDR(i)  (MK_SHARED + 4 * (i) + 3)

static inline void
mk_put(struct dp_buf *b, enum dp_order order, unsigned width, uint64_t v)
{
	uint8_t x[8];

	for (unsigned i = 0; i < width; i++)
		x[order == DP_LE ? i : width - 1 - i] = (uint8_t)(v >> 8 * i);
	if (!dp_buf_add(b, x, width)) /* an assertion costs a system call */
		ck_abort();
}

/* The data and the headers while they are made. */
struct mk_work {
	const struct mk_dof *d;
	struct dp_buf data, heads;
	size_t data_at; /* position of the data in the DOF */
	size_t start;   /* of the section in work, in data */
};

static inline void
mk_begin(struct mk_work *w)
{
	while (w->data.n % 8 != 0)
		ck_assert(dp_buf_add(&w->data, "", 1));
	w->start = w->data.n;
}

static inline void
mk_end(struct mk_work *w, uint32_t type, uint32_t align, uint32_t entsize)
{
	enum dp_order o = w->d->order;

	mk_put(&w->heads, o, 4, type);
	mk_put(&w->heads, o, 4, align);
	mk_put(&w->heads, o, 4, DP_DOF_LOAD);
	mk_put(&w->heads, o, 4, entsize);
	mk_put(&w->heads, o, 8, w->data_at + w->start);
	mk_put(&w->heads, o, 8, w->data.n - w->start);
}

static inline void
mk_probe(struct mk_work *w, const struct mk_probe *p)
{
	const uint32_t v[] = { p->func,  p->name,   p->nargv,
		               p->xargv, p->argidx, p->offidx };
	enum dp_order o = w->d->order;

	mk_put(&w->data, o, 8, p->addr);
	for (size_t i = 0; i < 6; i++)
		mk_put(&w->data, o, 4, v[i]);
	mk_put(&w->data, o, 1, p->nargc);
	mk_put(&w->data, o, 1, p->xargc);
	mk_put(&w->data, o, 2, p->noffs);
	mk_put(&w->data, o, 4, p->enoffidx);
	mk_put(&w->data, o, 2, p->nenoffs);
	mk_put(&w->data, o, 2, 0);
	mk_put(&w->data, o, 4, 0);
}

static inline void
mk_provider(struct mk_work *w, uint32_t i)
{
	const struct mk_prov *pv = &w->d->provs[i];
	const uint32_t links[11] = { MK_STRTAB,  MK_PROBES(i), MK_PRARGS,
		                     MK_PROFFS,  pv->name,     0x05050400,
		                     0x01010000, 0x04040500,   0x07070300,
		                     0x08060600, MK_PRENOFFS };
	const uint32_t rel[3] = { MK_STRTAB, MK_RELTAB(i), MK_PROBES(i) };
	enum dp_order o = w->d->order;

	mk_begin(w);
	for (uint32_t j = 0; j < pv->nprobes; j++)
		mk_probe(w, &pv->probes[j]);
	mk_end(w, DP_DOF_PROBES, 8, 48);
	mk_begin(w);
	for (size_t k = 0; k < 11; k++)
		mk_put(&w->data, o, 4, links[k]);
	mk_end(w, DP_DOF_PROVIDER, 4, 0);
	mk_begin(w);
	for (uint32_t j = 0; j < pv->nprobes && pv->rel != 0; j++) {
		mk_put(&w->data, o, 4, 0);
		mk_put(&w->data, o, 4, pv->rel);
		mk_put(&w->data, o, 8, (uint64_t)48 * j);
		mk_put(&w->data, o, 8, 0);
	}
	mk_end(w, DP_DOF_RELTAB, 8, 24);
	mk_begin(w);
	for (size_t k = 0; k < 3; k++)
		mk_put(&w->data, o, 4, rel[k]);
	mk_end(w, DP_DOF_URELHDR, 4, 0);
}

static inline void
mk_u32s(struct mk_work *w, uint32_t type, const uint32_t *v, uint32_t n)
{
	mk_begin(w);
	for (uint32_t i = 0; i < n; i++)
		mk_put(&w->data, w->d->order, 4, v[i]);
	mk_end(w, type, 4, 4);
}

static inline void
mk_header(struct dp_buf *out, const struct mk_dof *d, uint32_t nsecs,
          uint64_t size)
{
	const uint8_t ident[16] = { 0x7f,        'D',
		                    'O',         'F',
		                    DP_DOF_LP64, d->order == DP_LE ? 1 : 2,
		                    d->version,  2,
		                    8,           8 };

	ck_assert(dp_buf_add(out, ident, sizeof ident));
	mk_put(out, d->order, 4, 0);
	mk_put(out, d->order, 4, 64);
	mk_put(out, d->order, 4, 32);
	mk_put(out, d->order, 4, nsecs);
	mk_put(out, d->order, 8, 64);
	mk_put(out, d->order, 8, size);
	mk_put(out, d->order, 8, size);
	mk_put(out, d->order, 8, 0);
}

/* Append the DOF to `out`; where provider 0's probes lie is the result. */
static inline uint64_t
mk_dof(struct dp_buf *out, const struct mk_dof *d)
{
	const uint32_t nsecs = MK_SHARED + 4 * d->nprovs;
	struct mk_work w = { .d = d, .data_at = 64 + 32 * (size_t)nsecs };
	uint64_t probes_at;

	mk_begin(&w);
	ck_assert(dp_buf_add(&w.data, d->strs.p, d->strs.n));
	mk_end(&w, DP_DOF_STRTAB, 1, 0);
	mk_begin(&w);
	ck_assert(dp_buf_add(&w.data, d->map.p, d->map.n));
	mk_end(&w, DP_DOF_PRARGS, 1, 1);
	mk_u32s(&w, DP_DOF_PROFFS, d->offs, d->noffs);
	mk_u32s(&w, DP_DOF_PRENOFFS, d->enoffs, d->nenoffs);
	mk_begin(&w);
	probes_at = w.data_at + w.start;
	for (uint32_t i = 0; i < d->nprovs; i++)
		mk_provider(&w, i);
	mk_header(out, d, nsecs, w.data_at + w.data.n);
	ck_assert(dp_buf_add(out, w.heads.p, w.heads.n));
	ck_assert(dp_buf_add(out, w.data.p, w.data.n));
	dp_buf_deinit(&w.heads);
	dp_buf_deinit(&w.data);
	return probes_at;
}

#endif /* DP_DOFMAKE_H */
