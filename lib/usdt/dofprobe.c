/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules are those of DTrace's consumers (provider_validate() and its
 * copies), computed in 64 bits: theirs wrap in 32.  Where they refuse what
 * real producers write, or do not look, it is said below.
 */
#include "usdt/dofprobe.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/range.h"

/* Positions in a section header, for errors (dof.h: dof_sec). */
enum { SEC_ENTSIZE = 12, SEC_OFF = 16, SEC_SIZE = 24 };

/* Positions in a provider record (dof.h: dof_provider). */
enum { PROV_NAME = 16, PROV_PRENOFFS = 40 };

/* Positions in a probe entry (dof.h: dof_probe). */
enum {
	PROBE_FUNC = 8,
	PROBE_NAME = 12,
	PROBE_NARGV = 16,
	PROBE_XARGV = 20,
	PROBE_ARGIDX = 24,
	PROBE_OFFIDX = 28,
	PROBE_NARGC = 32,
	PROBE_NOFFS = 34,
	PROBE_ENOFFIDX = 36,
};

/* A probe entry as it stands. */
struct entry {
	uint64_t addr;
	uint32_t func, name, nargv, xargv, argidx;
	uint8_t nargc, xargc;
	uint32_t idx[DP_DOF_KIND_COUNT]; /* first offset ... */
	uint16_t n[DP_DOF_KIND_COUNT];   /* ... and how many */
};

/* Which probe is in work, and whom to tell. */
struct ctx {
	const struct dp_dof *d;
	const struct dp_dof_provider *prov;
	uint32_t j;
	uint64_t at; /* of the entry */
	struct dp_err *e;
};

static bool
fail(const struct ctx *c, enum dp_code code, uint64_t at, const char *what)
{
	return dp_err_set(c->e, code, at, "probe %" PRIu32 ": %s", c->j, what);
}

/* Section types and places of a provider's links. */
/* clang-format off */
static const struct {
	const char *name;
	uint32_t type;
	uint32_t at; /* in the provider record */
} parts[] = {
	[DP_DOF_PART_STRTAB] = { "strtab", DP_DOF_STRTAB, 0 },
	[DP_DOF_PART_PROBES] = { "probes", DP_DOF_PROBES, 4 },
	[DP_DOF_PART_PRARGS] = { "prargs", DP_DOF_PRARGS, 8 },
	[DP_DOF_PART_PROFFS] = { "proffs", DP_DOF_PROFFS, 12 },
	[DP_DOF_PART_PRENOFFS] = { "prenoffs", DP_DOF_PRENOFFS, PROV_PRENOFFS },
};
/* clang-format on */
_Static_assert(sizeof parts / sizeof parts[0] == DP_DOF_PART_COUNT,
               "every link has a row");

/*
 * Strides and alignment of the linked tables.  prenoffs is left out: no
 * consumer looks at either there, and nothing here divides by its entsize.
 */
static bool
check_parts(struct dp_dof_provider *p, struct dp_err *e)
{
	const struct dp_dof_sec *probes = &p->part[DP_DOF_PART_PROBES];
	const struct dp_dof_sec *prargs = &p->part[DP_DOF_PART_PRARGS];
	const struct dp_dof_sec *proffs = &p->part[DP_DOF_PART_PROFFS];

	if (prargs->entsize != 1)
		return dp_err_set(e, DP_EFORMAT, prargs->at + SEC_ENTSIZE,
		                  "prargs entries of %" PRIu32 " bytes",
		                  prargs->entsize);
	if (proffs->entsize != 4)
		return dp_err_set(e, DP_EFORMAT, proffs->at + SEC_ENTSIZE,
		                  "proffs entries of %" PRIu32 " bytes",
		                  proffs->entsize);
	if (proffs->off % 4 != 0)
		return dp_err_set(e, DP_EFORMAT, proffs->at + SEC_OFF,
		                  "proffs at %#" PRIx64 " is not 4-aligned",
		                  proffs->off);
	p->nprobes = 0;
	p->tail = 0;
	/* libdtrace writes this for a provider that nobody uses */
	if (probes->size == 0)
		return true;
	if (probes->entsize < DP_DOF_PROBE_SIZE || probes->entsize % 8 != 0 ||
	    probes->entsize > probes->size)
		return dp_err_set(e, DP_EFORMAT, probes->at + SEC_ENTSIZE,
		                  "probes entries of %" PRIu32
		                  " bytes in %" PRIu64,
		                  probes->entsize, probes->size);
	/* the size is inside loadsz, so both fit */
	p->nprobes = (uint32_t)(probes->size / probes->entsize);
	p->tail = (uint32_t)(probes->size % probes->entsize);
	return true;
}

/* Resolve the links; `r` reads the provider record. */
static bool
follow_parts(const struct dp_dof *d, struct dp_rd *r, struct dp_dof_provider *p,
             struct dp_err *e)
{
	for (unsigned i = 0; i < DP_DOF_PART_COUNT; i++) {
		struct dp_dof_link link = {
			.type = parts[i].type,
			.at = p->at + parts[i].at,
			.what = parts[i].name,
		};

		if (i == DP_DOF_PART_PRENOFFS && d->version < 2)
			break;
		dp_rd_seek(r, parts[i].at);
		link.i = dp_rd_u32(r);
		/* 0 means none here alone; elsewhere it is section 0 */
		if (i == DP_DOF_PART_PRENOFFS && link.i == 0)
			break;
		if (!dp_dof_follow(d, &link, &p->part[i], e))
			return false;
		p->has_prenoffs = i == DP_DOF_PART_PRENOFFS;
	}
	return check_parts(p, e);
}

/* Find the record of a provider: *p_ret gets index and position. */
static bool
find_record(const struct dp_dof *d, uint32_t sec, struct dp_bytes *rec_ret,
            struct dp_dof_provider *p_ret, struct dp_err *e)
{
	uint32_t need =
		d->version < 2 ? DP_DOF_PROVIDER_V1 : DP_DOF_PROVIDER_V2;
	struct dp_dof_sec s = { .index = 0 };

	if (!dp_dof_sec(d, sec, &s, e))
		return false;
	if (s.type != DP_DOF_PROVIDER || !(s.flags & DP_DOF_LOAD))
		return dp_err_set(e, DP_EFORMAT, s.at,
		                  "section %" PRIu32 " is no provider", sec);
	if (s.off % 4 != 0)
		return dp_err_set(e, DP_EFORMAT, s.at + SEC_OFF,
		                  "provider at %#" PRIx64 " is not 4-aligned",
		                  s.off);
	if (s.size < need)
		return dp_err_set(e, DP_EFORMAT, s.at + SEC_SIZE,
		                  "provider of %" PRIu64 " bytes", s.size);
	*rec_ret = dp_dof_data(d, &s);
	p_ret->index = sec;
	p_ret->at = s.off;
	return true;
}

bool
dp_dof_provider(const struct dp_dof *d, uint32_t sec,
                struct dp_dof_provider *prov_ret, struct dp_err *e)
{
	struct dp_dof_provider p = { .index = sec };
	struct dp_bytes rec = { NULL, 0 };
	enum dp_code code;
	struct dp_rd r;
	uint32_t name;

	if (!find_record(d, sec, &rec, &p, e))
		return false;
	r = dp_rd_init(rec, d->order);
	if (!follow_parts(d, &r, &p, e))
		return false;
	p.strs = dp_dof_data(d, &p.part[DP_DOF_PART_STRTAB]);
	dp_rd_seek(&r, PROV_NAME);
	name = dp_rd_u32(&r);
	for (unsigned i = 0; i < DP_DOF_ATTR_COUNT; i++)
		p.attr[i] = dp_rd_u32(&r);
	if (!dp_rd_ok(&r))
		return dp_err_set(e, DP_EFORMAT, p.at, "provider cut");
	code = dp_dof_str(p.strs, name, DP_MAX_DOF_NAME, &p.name);
	if (code != DP_OK)
		return dp_err_set(e, code, p.at + PROV_NAME, "provider name %s",
		                  code == DP_ELIMIT ? "too long"
		                                    : "outside the strtab");
	*prov_ret = p;
	return true;
}

/* The bytes of entry `j`; empty when there is none. */
static struct dp_bytes
entry_bytes(const struct dp_dof *d, const struct dp_dof_provider *prov,
            uint32_t j)
{
	const struct dp_dof_sec *s = &prov->part[DP_DOF_PART_PROBES];
	struct dp_dof_sec one = { .size = DP_DOF_PROBE_SIZE };

	if (j >= prov->nprobes)
		return (struct dp_bytes){ NULL, 0 };
	one.off = s->off + (uint64_t)j * s->entsize;
	return dp_dof_data(d, &one);
}

static bool
read_entry(const struct dp_dof *d, const struct dp_dof_provider *prov,
           uint32_t j, struct entry *x_ret)
{
	struct dp_rd r = dp_rd_init(entry_bytes(d, prov, j), d->order);
	struct entry x = { 0 };

	x.addr = dp_rd_u64(&r);
	x.func = dp_rd_u32(&r);
	x.name = dp_rd_u32(&r);
	x.nargv = dp_rd_u32(&r);
	x.xargv = dp_rd_u32(&r);
	x.argidx = dp_rd_u32(&r);
	x.idx[DP_DOF_SITE] = dp_rd_u32(&r);
	x.nargc = dp_rd_u8(&r);
	x.xargc = dp_rd_u8(&r);
	x.n[DP_DOF_SITE] = dp_rd_u16(&r);
	if (d->version >= 2) {
		x.idx[DP_DOF_ENABLED] = dp_rd_u32(&r);
		x.n[DP_DOF_ENABLED] = dp_rd_u16(&r);
	}
	if (!dp_rd_ok(&r))
		return false;
	*x_ret = x;
	return true;
}

uint32_t
dp_dof_probe_types(const struct dp_dof *d, const struct dp_dof_provider *prov,
                   uint32_t j)
{
	struct dp_rd r = dp_rd_init(entry_bytes(d, prov, j), d->order);
	uint32_t n;

	dp_rd_seek(&r, PROBE_NARGC);
	n = dp_rd_u8(&r);
	n += dp_rd_u8(&r);
	return dp_rd_ok(&r) ? n : 0;
}

/* Where the offsets of both kinds lie. */
static bool
find_offs(const struct ctx *c, const struct entry *x, struct dp_dof_probe *p)
{
	static const unsigned idx_at[] = { PROBE_OFFIDX, PROBE_ENOFFIDX };
	static const unsigned part[] = { DP_DOF_PART_PROFFS,
		                         DP_DOF_PART_PRENOFFS };

	for (unsigned k = 0; k < DP_DOF_KIND_COUNT; k++) {
		const struct dp_dof_sec *s = &c->prov->part[part[k]];
		uint64_t at = (uint64_t)x->idx[k] * 4;

		/* without a prenoffs section its size is 0 here */
		if (!dp_range_ok(at, (uint64_t)x->n[k] * 4, s->size))
			return fail(c, DP_EFORMAT, c->at + idx_at[k],
			            k == DP_DOF_SITE
			                    ? "sites outside proffs"
			                    : "is-enabled sites outside "
			                      "prenoffs");
		p->offs[k].n = x->n[k];
		p->offs[k].at = s->off + at;
	}
	if (x->n[DP_DOF_SITE] == 0 && x->n[DP_DOF_ENABLED] == 0)
		return fail(c, DP_EFORMAT, c->at + PROBE_NOFFS, "no sites");
	return true;
}

static bool
find_map(const struct ctx *c, const struct entry *x, struct dp_bytes *map_ret)
{
	const struct dp_dof_sec *s = &c->prov->part[DP_DOF_PART_PRARGS];
	struct dp_dof_sec run = { .off = s->off + x->argidx, .size = x->xargc };
	struct dp_bytes map;

	if (!dp_range_ok(x->argidx, x->xargc, s->size))
		return fail(c, DP_EFORMAT, c->at + PROBE_ARGIDX,
		            "argument map outside prargs");
	map = dp_dof_data(c->d, &run);
	/* consumers let nargc itself pass: one past the last argument */
	for (size_t i = 0; i < map.n; i++)
		if (map.p[i] >= x->nargc)
			return fail(c, DP_EFORMAT, run.off + i,
			            "map to an argument that is not there");
	*map_ret = map;
	return true;
}

/* `off` was found at `field` of the entry. */
static bool
find_name(const struct ctx *c, unsigned field, uint32_t off,
          struct dp_bytes *name_ret)
{
	bool func = field == PROBE_FUNC;
	enum dp_code code;

	code = dp_dof_str(c->prov->strs, off,
	                  func ? DP_MAX_DOF_FUNC : DP_MAX_DOF_NAME, name_ret);
	if (code == DP_OK)
		return true;
	if (code == DP_ELIMIT)
		return fail(c, code, c->at + field,
		            func ? "function name too long" : "name too long");
	return fail(c, code, c->at + field,
	            func ? "function name outside the strtab"
	                 : "name outside the strtab");
}

/* As find_name(), for the `n` types from there on; n 0: not looked at. */
static bool
find_types(const struct ctx *c, unsigned field, uint32_t off, uint8_t n,
           struct dp_dof_types *types_ret)
{
	struct dp_bytes tab = c->prov->strs, s = { NULL, 0 };
	struct dp_dof_types t = { 0, { NULL, 0 } };
	uint64_t at = off;

	for (t.n = 0; t.n < n; t.n++) {
		enum dp_code code = dp_dof_str(tab, at, DP_MAX_DOF_TYPE, &s);

		if (code == DP_ELIMIT)
			return fail(c, code, c->at + field, "type too long");
		if (code != DP_OK)
			return fail(c, code, c->at + field,
			            "types outside the strtab");
		at += s.n + 1;
	}
	if (n != 0) {
		t.run.p = tab.p + off;
		t.run.n = (size_t)(at - off);
	}
	*types_ret = t;
	return true;
}

bool
dp_dof_probe(const struct dp_dof *d, const struct dp_dof_provider *prov,
             uint32_t j, struct dp_dof_probe *probe_ret, struct dp_err *e)
{
	const struct dp_dof_sec *s = &prov->part[DP_DOF_PART_PROBES];
	struct dp_dof_probe p = { .index = j, .slot_sec = s->index };
	struct ctx c = { .d = d, .prov = prov, .j = j, .e = e };
	struct entry x = { 0 };

	c.at = s->off + (uint64_t)j * s->entsize;
	if (!read_entry(d, prov, j, &x))
		return fail(&c, DP_EFORMAT, s->at + SEC_SIZE, "no such entry");
	p.addr = x.addr;
	p.slot_off = c.at - s->off;
	p.slot_at = c.at;
	if (!find_offs(&c, &x, &p) || !find_map(&c, &x, &p.map) ||
	    !find_name(&c, PROBE_FUNC, x.func, &p.func) ||
	    !find_name(&c, PROBE_NAME, x.name, &p.name) ||
	    !find_types(&c, PROBE_NARGV, x.nargv, x.nargc, &p.native) ||
	    !find_types(&c, PROBE_XARGV, x.xargv, x.xargc, &p.xlated))
		return false;
	*probe_ret = p;
	return true;
}

uint64_t
dp_dof_site_at(const struct dp_dof_probe *p, enum dp_dof_kind kind, uint32_t k)
{
	return p->offs[kind].at + (uint64_t)k * 4;
}

uint32_t
dp_dof_site(const struct dp_dof *d, const struct dp_dof_probe *p,
            enum dp_dof_kind kind, uint32_t k)
{
	struct dp_rd r = dp_rd_init(d->in, d->order);

	assert(k < p->offs[kind].n);
	dp_rd_seek(&r, dp_dof_site_at(p, kind, k));
	return dp_rd_u32(&r);
}

/* Let v[i] sink in a heap of `n`. */
static void
sink(uint32_t *v, size_t i, size_t n)
{
	for (;;) {
		size_t kid = 2 * i + 1;
		uint32_t t = v[i];

		if (kid >= n)
			return;
		if (kid + 1 < n && v[kid + 1] > v[kid])
			kid++;
		if (v[kid] <= t)
			return;
		v[i] = v[kid];
		v[kid] = t;
		i = kid;
	}
}

/* qsort() may allocate, which a jailed reader cannot; and this is u32. */
static void
sort(uint32_t *v, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sink(v, i, n);
	while (n > 1) {
		uint32_t top = v[0];

		n--;
		v[0] = v[n];
		v[n] = top;
		sink(v, 0, n);
	}
}

/* Producers write ascending offsets: then nothing has to be sorted. */
static bool
ascending(const struct dp_dof *d, const struct dp_dof_probe *p,
          enum dp_dof_kind kind)
{
	for (uint32_t k = 1; k < p->offs[kind].n; k++)
		if (dp_dof_site(d, p, kind, k) <=
		    dp_dof_site(d, p, kind, k - 1))
			return false;
	return true;
}

/* Position of the second `off` among the sites; there are two. */
static uint64_t
second_at(const struct dp_dof *d, const struct dp_dof_probe *p,
          enum dp_dof_kind kind, uint32_t off)
{
	uint32_t seen = 0, k;

	for (k = 0; k < p->offs[kind].n; k++)
		if (dp_dof_site(d, p, kind, k) == off && ++seen == 2)
			break;
	return dp_dof_site_at(p, kind, k);
}

bool
dp_dof_sites_unique(const struct dp_dof *d, const struct dp_dof_probe *p,
                    uint32_t *scratch, size_t nscratch, struct dp_err *e)
{
	for (enum dp_dof_kind kind = 0; kind < DP_DOF_KIND_COUNT; kind++) {
		uint32_t n = p->offs[kind].n;

		if (ascending(d, p, kind))
			continue;
		if (n > nscratch)
			return dp_err_set(e, DP_EUSAGE, DP_NOOFF,
			                  "no room to sort %" PRIu32 " sites",
			                  n);
		for (uint32_t k = 0; k < n; k++)
			scratch[k] = dp_dof_site(d, p, kind, k);
		sort(scratch, n);
		for (uint32_t k = 1; k < n; k++)
			if (scratch[k] == scratch[k - 1])
				return dp_err_set(
					e, DP_EFORMAT,
					second_at(d, p, kind, scratch[k]),
					"probe %" PRIu32 ": offset %#" PRIx32
					" twice",
					p->index, scratch[k]);
	}
	return true;
}

/* dtrace.h: DTRACE_STABILITY_*, DTRACE_CLASS_* */
static const char *const stabilities[] = {
	"Internal", "Private",  "Obsolete", "External",
	"Unstable", "Evolving", "Stable",   "Standard",
};
static const char *const classes[] = {
	"Unknown", "CPU", "Platform", "Group", "ISA", "Common",
};
enum {
	NSTABILITIES = sizeof stabilities / sizeof stabilities[0],
	NCLASSES = sizeof classes / sizeof classes[0],
};
_Static_assert(NSTABILITIES == 8 && NCLASSES == 6, "0-7 and 0-5");

const char *
dp_dof_stability_name(uint32_t stability)
{
	return stability < NSTABILITIES ? stabilities[stability] : NULL;
}

const char *
dp_dof_class_name(uint32_t class)
{
	return class < NCLASSES ? classes[class] : NULL;
}

void
dp_dof_attr_text(uint32_t attr, char text_ret[DP_DOF_ATTR_TEXT])
{
	uint32_t v[3] = { dp_dof_attr_name(attr), dp_dof_attr_data(attr),
		          dp_dof_attr_class(attr) };
	const char *name[3] = { dp_dof_stability_name(v[0]),
		                dp_dof_stability_name(v[1]),
		                dp_dof_class_name(v[2]) };
	char num[3][12];

	for (unsigned i = 0; i < 3; i++) {
		if (name[i] != NULL)
			continue;
		(void)snprintf(num[i], sizeof num[i], "#%" PRIu32, v[i]);
		name[i] = num[i];
	}
	(void)snprintf(text_ret, DP_DOF_ATTR_TEXT, "%s/%s/%s", name[0], name[1],
	               name[2]);
}
