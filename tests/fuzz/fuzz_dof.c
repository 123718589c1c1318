/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything that dof.h and dofprobe.h can read out of a run of bytes, as an
 * ELF section that may hold several DOFs, with the totals that a caller has
 * to keep.  Aborts when a value breaks what the headers promise.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "usdt/dof.h"
#include "usdt/dofprobe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Small totals keep the speed; the real ones are only greater. */
enum { MAX_TYPES = 1 << 14, MAX_SITES = 1 << 14 };

struct totals {
	uint32_t types, sites;
};

static void
must(bool what)
{
	if (!what)
		abort();
}

/* `b` must be a part of the loaded bytes. */
static void
inside(const struct dp_dof *d, struct dp_bytes b)
{
	if (b.n == 0)
		return;
	must(b.p >= d->in.p && b.n <= d->loadsz);
	must((size_t)(b.p - d->in.p) <= d->loadsz - b.n);
}

static void
types(const struct dp_dof *d, const struct dp_dof_types *t)
{
	struct dp_rd r = dp_rd_init(t->run, d->order);

	inside(d, t->run);
	for (uint32_t i = 0; i < t->n; i++)
		must(dp_rd_str(&r).n <= DP_MAX_DOF_TYPE);
	must(dp_rd_ok(&r) && dp_rd_left(&r) == 0);
}

static void
probe(const struct dp_dof *d, const struct dp_dof_probe *p)
{
	static uint32_t scratch[DP_DOF_MAX_KIND_SITES];
	struct dp_err e = DP_ERR_INIT;

	inside(d, p->func);
	inside(d, p->name);
	inside(d, p->map);
	types(d, &p->native);
	types(d, &p->xlated);
	must(p->func.n <= DP_MAX_DOF_FUNC && p->name.n <= DP_MAX_DOF_NAME);
	must(p->map.n == p->xlated.n);
	for (size_t i = 0; i < p->map.n; i++)
		must(p->map.p[i] < p->native.n);
	must(p->offs[DP_DOF_SITE].n + p->offs[DP_DOF_ENABLED].n > 0);
	if (dp_dof_sites_unique(d, p, scratch, DP_DOF_MAX_KIND_SITES, &e))
		for (enum dp_dof_kind k = 0; k < DP_DOF_KIND_COUNT; k++)
			for (uint32_t i = 1; i < p->offs[k].n; i++)
				must(dp_dof_site(d, p, k, i) !=
				     dp_dof_site(d, p, k, i - 1));
	else
		must(e.code == DP_EFORMAT && e.off < d->loadsz);
}

static void
provider(const struct dp_dof *d, uint32_t sec, struct totals *t)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_dof_provider prov;
	struct dp_dof_probe p;

	if (!dp_dof_provider(d, sec, &prov, &e)) {
		must(e.code != DP_OK && e.off < d->loadsz);
		return;
	}
	inside(d, prov.name);
	must(prov.name.n <= DP_MAX_DOF_NAME);
	for (uint32_t j = 0; j < prov.nprobes; j++) {
		e = (struct dp_err)DP_ERR_INIT;
		t->types += dp_dof_probe_types(d, &prov, j);
		t->sites++;
		if (t->types > MAX_TYPES || t->sites > MAX_SITES)
			return;
		if (!dp_dof_probe(d, &prov, j, &p, &e)) {
			must(e.code != DP_OK && e.off < d->loadsz);
			continue;
		}
		must(p.native.n + p.xlated.n ==
		     dp_dof_probe_types(d, &prov, j));
		t->sites += p.offs[DP_DOF_SITE].n + p.offs[DP_DOF_ENABLED].n;
		if (t->sites > MAX_SITES)
			return;
		probe(d, &p);
	}
}

static void
relocations(const struct dp_dof *d)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_dof_rels it;
	struct dp_dof_rel rel;

	dp_dof_rels_init(&it, d);
	while (dp_dof_rels_next(&it, &rel, &e)) {
		inside(d, dp_dof_rel_name(&rel));
		must(rel.word_at % 8 == 0 && rel.word_at >= DP_DOF_HDR_SIZE);
		must(rel.word_at + 8 <= d->loadsz);
	}
	must(!it.failed && e.code == DP_OK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct dp_bytes in = { data, n };

	for (;;) {
		struct totals t = { 0, 0 };
		struct dp_err e = DP_ERR_INIT;
		struct dp_dof d, head;
		uint64_t step;

		if (!dp_dof_header(in, &head, &e))
			return 0;
		if (dp_dof_open(in, &d, &e)) {
			relocations(&d);
			for (uint32_t i = 0;; i++) {
				i = dp_dof_find(&d, DP_DOF_PROVIDER, i);
				if (i == d.secnum)
					break;
				provider(&d, i, &t);
			}
		}
		step = dp_dof_extent(&head);
		must(step >= DP_DOF_HDR_SIZE && step <= in.n);
		step = (step + DP_DOF_STEP - 1) / DP_DOF_STEP * DP_DOF_STEP;
		if (step >= in.n)
			return 0;
		in.p += step;
		in.n -= (size_t)step;
	}
}
