/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `dof`: providers and probes into the sections of a DOF, arranged as one of
 * the known producers does.  mkdofout.c gives the sections their places.
 */
#include <string.h>

#include "mkdof.h"

/* The sections of one provider, by index; 0 for what is not there. */
struct prov_secs {
	unsigned int probes, args, offs, enoffs, provider, rel, urel;
};

static const struct dof_layout layouts[] = {
	/* clang-format off */
	{ .name = "dtrace", .reloc = RELOC_SETX, .comments = true,
	  .def_attr = 0x04040500 },
	{ .name = "apple", .reloc = RELOC_APPLE, .def_attr = 0x04040500 },
	{ .name = "libusdt", .reloc = RELOC_NONE, .str_first = true,
	  .prenoffs = true, .one_types = true, .def_attr = 0x06060600 },
	{ .name = "oxide", .reloc = RELOC_NONE, .str_first = true,
	  .str_entsize = true, .prenoffs = true, .shared = true,
	  .def_attr = 0x04040500 },
	/* clang-format on */
};

static const struct mk_const relocs[] = {
	{ "setx", RELOC_SETX },
	{ "dofrel", RELOC_DOFREL },
	{ "apple", RELOC_APPLE },
	{ "none", RELOC_NONE },
	{ 0 },
};

static const struct mk_const models[] = {
	{ "lp64", 2 },
	{ "ilp32", 1 },
	{ 0 },
};

static unsigned int
add_sec(struct dof *d, uint32_t type, uint32_t align, uint32_t entsize)
{
	struct dof_sec *p;

	if (d->nsecs == d->cap) {
		d->cap = d->cap == 0 ? 16 : d->cap * 2;
		p = mk_alloc(d->mk, d->cap * sizeof(*p));
		if (d->nsecs != 0)
			memcpy(p, d->secs, d->nsecs * sizeof(*p));
		d->secs = p;
	}
	d->secs[d->nsecs] = (struct dof_sec){
		.type = type,
		.align = align,
		.flags = type != DOF_COMMENTS && type != DOF_UTSNAME,
		.entsize = entsize,
		.data.mk = d->mk,
	};
	return d->nsecs++;
}

static void
sec_u32(struct dof *d, unsigned int sec, uint64_t v)
{
	mk_uint(&d->secs[sec].data, d->c.msb, 4, v);
}

static uint32_t
add_string(struct dof *d, struct mk_word w)
{
	struct mk_buf *b = &d->secs[0].data;
	uint32_t at = (uint32_t)b->n;

	mk_put(b, w.s, w.n + 1);
	return at;
}

static struct mk_stmt *
find_kid(struct mk_stmt *s, const char *kw)
{
	struct mk_stmt *k;

	for (k = s->kids; k != NULL; k = k->next)
		if (strcmp(k->kw, kw) == 0) {
			k->used = true;
			return k;
		}
	return NULL;
}

/* The stability names of one attribute, or its number. */
uint32_t
mk_attr(const struct mk_ctx *c, const struct mk_stmt *s, struct mk_word w)
{
	static const struct mk_const names[] = {
		{ "internal", 0 }, { "private", 1 },  { "obsolete", 2 },
		{ "external", 3 }, { "unstable", 4 }, { "evolving", 5 },
		{ "stable", 6 },   { "standard", 7 }, { 0 },
	};
	static const struct mk_const classes[] = {
		{ "unknown", 0 },
		{ "cpu", 1 },
		{ "platform", 2 },
		{ "group", 3 },
		{ "isa", 4 },
		{ "common", 5 },
		{ 0 },
	};
	char part[64] = { 0 };
	const char *p = w.s;
	uint32_t v = 0;
	uint64_t one;
	unsigned int i;
	size_t n;

	if (strchr(p, '/') == NULL)
		return (uint32_t)mk_value(c, s, w);
	for (i = 0; i < 3; i++) {
		n = strcspn(p, "/");
		if (n >= sizeof(part) || (p[n] == '/') != (i < 2))
			mk_die(c->mk, s->line, "NAME/DATA/CLASS expected");
		memcpy(part, p, n);
		part[n] = '\0';
		one = mk_named(c, s, (struct mk_word){ part, n, false },
		               i < 2 ? names : classes);
		v = v << 8 | (uint32_t)(one & 255);
		p += n + (i < 2);
	}
	return v << 8;
}

static void
put_attrs(struct dof *d, struct mk_stmt *s, unsigned int sec)
{
	static const char *const keys[] = { "pattr", "mattr", "fattr", "nattr",
		                            "aattr" };
	struct mk_word w = mk_key(s, "attr");
	uint32_t all = d->lay->def_attr;
	unsigned int i;

	if (w.s != NULL)
		all = mk_attr(&d->c, s, w);
	for (i = 0; i < 5; i++) {
		w = mk_key(s, keys[i]);
		sec_u32(d, sec, w.s ? mk_attr(&d->c, s, w) : all);
	}
}

/* Remember bytes of a section for dof_write(); they are the next ones. */
static void
pend(struct dof *d, struct dof_pend p)
{
	struct dof_pend *n = mk_alloc(d->mk, sizeof(*n));

	p.off = d->secs[p.sec].data.n;
	p.next = d->pend;
	*n = p;
	d->pend = n;
}

/* "&a-&b" as an assembler reads it. */
static const char *
gas_expr(struct dof *d, struct mk_word w, const char *tail)
{
	struct mk_buf b = { .mk = d->mk };
	size_t i;

	for (i = 0; i < w.n; i++)
		if (w.s[i] != '&')
			mk_put(&b, &w.s[i], 1);
	mk_put(&b, tail, strlen(tail) + 1);
	return (const char *)b.p;
}

/* With --gas: the slot is an expression, of 4 bytes in a 32-bit object. */
static void
pend_slot(struct dof *d, struct mk_word w, unsigned int sec)
{
	const char *tail = d->reloc == RELOC_DOFREL ? " - ." : "";

	pend(d, (struct dof_pend){ .sec = sec,
	                           .size = d->model == 1 ? 4 : 8,
	                           .slot = true,
	                           .expr = gas_expr(d, w, tail) });
}

/* The address slot of a probe. */
static void
put_slot(struct dof *d, struct mk_stmt *s, unsigned int sec)
{
	struct mk_word slot = mk_key(s, "slot"), addr = mk_key(s, "addr");
	uint64_t v = 0;

	if (slot.s == NULL && addr.s == NULL)
		mk_die(d->mk, s->line, "probe: addr= or slot= is missing");
	if (slot.s != NULL) {
		v = mk_value(&d->c, s, slot);
	} else if (mk_symbolic(&d->c, addr)) {
		pend_slot(d, addr, sec);
	} else {
		v = mk_value(&d->c, s, addr);
		if (d->reloc == RELOC_DOFREL)
			pend(d, (struct dof_pend){
					.sec = sec, .size = 8, .addr = v });
	}
	if (d->reloc == RELOC_APPLE && slot.s == NULL)
		v = 0;
	mk_uint(&d->secs[sec].data, d->c.msb, 8, v);
}

/* The offsets of one kind of site; returns their number. */
static unsigned int
put_sites(struct dof *d, struct mk_stmt *probe, const char *kw,
          unsigned int sec)
{
	struct mk_stmt *s = find_kid(probe, kw);
	unsigned int i, n = s == NULL ? 0 : mk_npos(s);
	uint64_t base = 0, v = 0;
	struct mk_word w;

	if (d->reloc == RELOC_APPLE)
		base = mk_num(&d->c, probe, "addr", 0) + d->site_bias -
		       d->c.vaddr;
	if (n != 0 && sec == 0)
		mk_die(d->mk, s->line, "%s needs version 2 or 3", kw);
	for (i = 0; i < n; i++) {
		w = mk_pos(s, i);
		if (mk_symbolic(&d->c, w))
			pend(d, (struct dof_pend){
					.sec = sec,
					.size = 4,
					.expr = gas_expr(d, w, ""),
				});
		else
			v = mk_value(&d->c, s, w) + base;
		sec_u32(d, sec, v);
	}
	return n;
}

/* The strings of `native` or `translated`; *n_ret is how many. */
static uint32_t
put_types(struct dof *d, struct mk_stmt *s, unsigned int *n_ret)
{
	uint32_t at = 0, one;
	unsigned int i;

	*n_ret = s == NULL ? 0 : mk_npos(s);
	for (i = 0; i < *n_ret; i++) {
		one = add_string(d, mk_pos(s, i));
		at = i == 0 ? one : at;
	}
	return at;
}

static void
put_map(struct dof *d, struct mk_stmt *probe, unsigned int sec, unsigned int n)
{
	struct mk_stmt *s = find_kid(probe, "map");
	unsigned int i;

	if (s != NULL && mk_npos(s) != n)
		mk_die(d->mk, s->line, "map: %u translated arguments", n);
	for (i = 0; i < n; i++)
		mk_uint(&d->secs[sec].data, d->c.msb, 1,
		        s == NULL ? i : mk_value(&d->c, s, mk_pos(s, i)));
}

static void
put_reloc(struct dof *d, unsigned int sec, uint32_t name, uint64_t off)
{
	if (sec == 0)
		return;
	sec_u32(d, sec, name);
	sec_u32(d, sec, d->reloc == RELOC_DOFREL ? 2 : 1);
	mk_uint(&d->secs[sec].data, d->c.msb, 8, off);
	mk_uint(&d->secs[sec].data, d->c.msb, 8, 0);
}

/* One `probe FUNCTION NAME addr=... { ... }`. */
static void
put_probe(struct dof *d, struct mk_stmt *s, const struct prov_secs *x)
{
	struct mk_stmt *trans = find_kid(s, "translated");
	uint32_t name = add_string(d, mk_need(d->mk, s, 1));
	uint32_t func = add_string(d, mk_need(d->mk, s, 0));
	unsigned int nargc, xargc, noffs, nenoffs;
	struct mk_buf *b = &d->secs[x->probes].data;
	uint32_t nargv, xargv, argidx, offidx, enoffidx;

	put_reloc(d, x->rel, func, b->n);
	nargv = put_types(d, find_kid(s, "native"), &nargc);
	xargv = nargv;
	xargc = nargc;
	if (!d->lay->one_types || trans != NULL)
		xargv = put_types(d, trans ? trans : find_kid(s, "native"),
		                  &xargc);
	argidx = (uint32_t)d->secs[x->args].data.n;
	put_map(d, s, x->args, xargc);
	offidx = (uint32_t)d->secs[x->offs].data.n / 4;
	noffs = put_sites(d, s, "sites", x->offs);
	enoffidx = x->enoffs ? (uint32_t)d->secs[x->enoffs].data.n / 4 : 0;
	nenoffs = put_sites(d, s, "enabled", x->enoffs);

	put_slot(d, s, x->probes);
	sec_u32(d, x->probes, func);
	sec_u32(d, x->probes, name);
	sec_u32(d, x->probes, nargv);
	sec_u32(d, x->probes, xargv);
	sec_u32(d, x->probes, argidx);
	sec_u32(d, x->probes, offidx);
	mk_uint(b, d->c.msb, 1, nargc);
	mk_uint(b, d->c.msb, 1, xargc);
	mk_uint(b, d->c.msb, 2, noffs);
	sec_u32(d, x->probes, enoffidx);
	mk_uint(b, d->c.msb, 2, nenoffs);
	mk_fill(b, 6, 0);
}

/* The provider's own section, and the header of its relocations. */
static void
put_provider(struct dof *d, struct mk_stmt *s, const struct prov_secs *x)
{
	sec_u32(d, x->provider, 0);
	sec_u32(d, x->provider, x->probes);
	sec_u32(d, x->provider, x->args);
	sec_u32(d, x->provider, x->offs);
	sec_u32(d, x->provider, add_string(d, mk_need(d->mk, s, 0)));
	put_attrs(d, s, x->provider);
	if (mk_num(&d->c, s, "size", 44) == 44)
		sec_u32(d, x->provider, x->enoffs);
	if (x->urel == 0)
		return;
	sec_u32(d, x->urel, 0);
	sec_u32(d, x->urel, x->rel);
	sec_u32(d, x->urel, x->probes);
}

static bool
has_enabled(struct mk_stmt *s)
{
	struct mk_stmt *p;

	for (p = s->kids; p != NULL; p = p->next)
		if (find_kid(p, "enabled") != NULL)
			return true;
	return false;
}

static bool
is_provider(struct mk_stmt *s)
{
	return strcmp(s->kw, "provider") == 0;
}

static void
put_probes(struct dof *d, struct mk_stmt *s, const struct prov_secs *x)
{
	struct mk_stmt *p;

	for (p = s->kids; p != NULL; p = p->next) {
		if (strcmp(p->kw, "probe") != 0)
			mk_die(d->mk, p->line, "provider: no %s here", p->kw);
		put_probe(d, p, x);
	}
	if (d->lay->one_types && d->secs[x->args].data.n == 0)
		mk_fill(&d->secs[x->args].data, 1, 0);
}

/* Every provider with sections of its own. */
static void
put_separate(struct dof *d)
{
	struct prov_secs x;
	struct mk_stmt *s;

	for (s = d->s->kids; s != NULL; s = s->next) {
		if (!is_provider(s))
			continue;
		x = (struct prov_secs){ 0 };
		x.probes = add_sec(d, DOF_PROBES, 8, DOF_PROBE);
		x.args = add_sec(d, DOF_PRARGS, 1, 1);
		x.offs = add_sec(d, DOF_PROFFS, 4, 4);
		if (d->version > 1 && (d->lay->prenoffs || has_enabled(s)))
			x.enoffs = add_sec(d, DOF_PRENOFFS, 4, 4);
		x.provider = add_sec(d, DOF_PROVIDER, 4, 0);
		if (d->reloc != RELOC_NONE) {
			x.rel = add_sec(d, DOF_RELTAB, 8, DOF_RELOC);
			x.urel = add_sec(d, DOF_URELHDR, 4, 0);
		}
		put_probes(d, s, &x);
		put_provider(d, s, &x);
	}
}

/* Shared tables, then all probes, then all providers. */
static void
put_shared(struct dof *d)
{
	struct prov_secs x = { 0 };
	unsigned int first, n = 0;
	struct mk_stmt *s;

	x.args = add_sec(d, DOF_PRARGS, 1, 1);
	x.offs = add_sec(d, DOF_PROFFS, 4, 4);
	x.enoffs = add_sec(d, DOF_PRENOFFS, 4, 4);
	first = d->nsecs;
	for (s = d->s->kids; s != NULL; s = s->next) {
		if (!is_provider(s))
			continue;
		x.probes = add_sec(d, DOF_PROBES, 8, DOF_PROBE);
		put_probes(d, s, &x);
	}
	for (s = d->s->kids; s != NULL; s = s->next) {
		if (!is_provider(s))
			continue;
		x.probes = first + n++;
		x.provider = add_sec(d, DOF_PROVIDER, 4, 0);
		put_provider(d, s, &x);
	}
}

/* `section`: one that no provider has, with any content. */
static void
put_extra(struct dof *d)
{
	struct mk_block b;
	struct mk_stmt *s;
	unsigned int i;

	for (s = d->s->kids; s != NULL; s = s->next) {
		if (strcmp(s->kw, "section") == 0) {
			i = add_sec(d, (uint32_t)mk_num(&d->c, s, "type", 0),
			            (uint32_t)mk_num(&d->c, s, "align", 1),
			            (uint32_t)mk_num(&d->c, s, "entsize", 0));
			d->secs[i].flags =
				(uint32_t)mk_num(&d->c, s, "flags", 1);
			b = (struct mk_block){ .buf.mk = d->mk };
			mk_content(&d->c, s->kids, &b);
			d->secs[i].data = b.buf;
		} else if (!is_provider(s) && !mk_is_override(s)) {
			mk_die(d->mk, s->line, "dof: no %s here", s->kw);
		}
	}
	if (!d->lay->comments || mk_num(&d->c, d->s, "strip", 0))
		return;
	i = add_sec(d, DOF_COMMENTS, 1, 0);
	mk_put(&d->secs[i].data, "dofpipe test", 13);
	i = add_sec(d, DOF_UTSNAME, 1, 0);
	mk_put(&d->secs[i].data, "TestOS", 7);
	mk_fill(&d->secs[i].data, 390 - 7, 0);
}

static const struct dof_layout *
find_layout(const struct mk_ctx *c, struct mk_stmt *s)
{
	struct mk_word w = mk_key(s, "layout");
	size_t i;

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (w.s == NULL || strcmp(w.s, layouts[i].name) == 0)
			return &layouts[i];
	mk_die(c->mk, s->line, "dof: no layout %s", w.s);
}

void
mk_put_dof(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	static const struct mk_const orders[] = {
		{ "lsb", 0 },
		{ "msb", 1 },
		{ 0 },
	};
	struct dof d = { .mk = c->mk, .c = *c, .s = s };
	struct mk_word w = mk_key(s, "order");

	if (w.s != NULL)
		d.c.msb = mk_named(c, s, w, orders) != 0;
	d.c.vaddr = mk_num(c, s, "at", c->vaddr);
	d.version = (uint8_t)mk_num(c, s, "version", 3);
	d.lay = find_layout(c, s);
	w = mk_key(s, "model");
	d.model = w.s ? (uint8_t)mk_named(c, s, w, models) : c->wide ? 2 : 1;
	w = mk_key(s, "reloc");
	d.reloc =
		w.s ? (enum dof_reloc)mk_named(c, s, w, relocs) : d.lay->reloc;
	d.site_bias = (uint32_t)mk_num(c, s, "sitebias", 0);
	d.slot_reloc = mk_key(s, "slotreloc").s;

	add_sec(&d, DOF_STRTAB, 1, d.lay->str_entsize);
	mk_put(&d.secs[0].data, "", 1);
	if (d.lay->shared)
		put_shared(&d);
	else
		put_separate(&d);
	put_extra(&d);
	dof_write(&d, b);
	mk_overrides(&d.c, s->kids, b);
}
