/* SPDX-License-Identifier: BSD-2-Clause */
/* The sections of a DOF into their places, and the places `poke` can name. */
#include <string.h>

#include "mkdof.h"

static const struct mk_field header_fields[] = {
	/* clang-format off */
	{ "magic", 0, 4, 0, 4 },     { "model", 4, 1, 4, 1 },
	{ "encoding", 5, 1, 5, 1 },  { "version", 6, 1, 6, 1 },
	{ "difvers", 7, 1, 7, 1 },   { "iregs", 8, 1, 8, 1 },
	{ "tregs", 9, 1, 9, 1 },     { "pad", 10, 1, 10, 1 },
	{ "flags", 16, 4, 16, 4 },   { "hdrsize", 20, 4, 20, 4 },
	{ "secsize", 24, 4, 24, 4 }, { "secnum", 28, 4, 28, 4 },
	{ "secoff", 32, 8, 32, 8 },  { "loadsz", 40, 8, 40, 8 },
	{ "filesz", 48, 8, 48, 8 },  { 0 },
	/* clang-format on */
};

static const struct mk_field section_fields[] = {
	/* clang-format off */
	{ "type", 0, 4, 0, 4 },     { "align", 4, 4, 4, 4 },
	{ "flags", 8, 4, 8, 4 },    { "entsize", 12, 4, 12, 4 },
	{ "offset", 16, 8, 16, 8 }, { "size", 24, 8, 24, 8 },
	{ 0 },
	/* clang-format on */
};

static const struct mk_field provider_fields[] = {
	/* clang-format off */
	{ "strtab", 0, 4, 0, 4 },  { "probes", 4, 4, 4, 4 },
	{ "prargs", 8, 4, 8, 4 },  { "proffs", 12, 4, 12, 4 },
	{ "name", 16, 4, 16, 4 },  { "provattr", 20, 4, 20, 4 },
	{ "modattr", 24, 4, 24, 4 }, { "funcattr", 28, 4, 28, 4 },
	{ "nameattr", 32, 4, 32, 4 }, { "argsattr", 36, 4, 36, 4 },
	{ "prenoffs", 40, 4, 40, 4 }, { 0 },
	/* clang-format on */
};

static const struct mk_field probe_fields[] = {
	/* clang-format off */
	{ "addr", 0, 8, 0, 8 },      { "func", 8, 4, 8, 4 },
	{ "name", 12, 4, 12, 4 },    { "nargv", 16, 4, 16, 4 },
	{ "xargv", 20, 4, 20, 4 },   { "argidx", 24, 4, 24, 4 },
	{ "offidx", 28, 4, 28, 4 },  { "nargc", 32, 1, 32, 1 },
	{ "xargc", 33, 1, 33, 1 },   { "noffs", 34, 2, 34, 2 },
	{ "enoffidx", 36, 4, 36, 4 }, { "nenoffs", 40, 2, 40, 2 },
	{ 0 },
	/* clang-format on */
};

static const struct mk_field reloc_fields[] = {
	/* clang-format off */
	{ "name", 0, 4, 0, 4 },   { "type", 4, 4, 4, 4 },
	{ "offset", 8, 8, 8, 8 }, { "data", 16, 8, 16, 8 },
	{ 0 },
	/* clang-format on */
};

static const struct mk_field urelhdr_fields[] = {
	{ "strtab", 0, 4, 0, 4 },
	{ "relsec", 4, 4, 4, 4 },
	{ "tgtsec", 8, 4, 8, 4 },
	{ 0 },
};

/* Records that stand in the data of a section, one after another. */
static const struct {
	uint32_t type;
	uint32_t stride; /* 0: the section holds one */
	const char *kind;
	const struct mk_field *fields;
} records[] = {
	{ DOF_PROVIDER, 0, "provider", provider_fields },
	{ DOF_PROBES, DOF_PROBE, "probe", probe_fields },
	{ DOF_RELTAB, DOF_RELOC, "reloc", reloc_fields },
	{ DOF_URELHDR, 0, "urelhdr", urelhdr_fields },
};

/* Give the sections of one kind their places, from `at` on; returns the end. */
static uint64_t
place(struct dof *d, uint64_t at, bool strtab, bool loaded)
{
	struct dof_sec *s;
	unsigned int i;

	for (i = 0; i < d->nsecs; i++) {
		s = &d->secs[i];
		if ((i == 0) != strtab || (s->flags & 1) != loaded)
			continue;
		if (s->align > 1 && at % s->align != 0)
			at += s->align - at % s->align;
		s->off = at;
		at += s->data.n;
	}
	return at;
}

static void
write_header(struct dof *d, struct mk_buf *b, uint64_t loadsz, uint64_t filesz)
{
	bool msb = d->c.msb;

	mk_put(b, "\177DOF", 4);
	mk_uint(b, msb, 1, d->model);
	mk_uint(b, msb, 1, msb ? 2 : 1);
	mk_uint(b, msb, 1, d->version);
	mk_uint(b, msb, 1, 2);
	mk_uint(b, msb, 1, 8);
	mk_uint(b, msb, 1, 8);
	mk_fill(b, 6, 0);
	mk_uint(b, msb, 4, 0);
	mk_uint(b, msb, 4, DOF_HDR);
	mk_uint(b, msb, 4, DOF_SECHDR);
	mk_uint(b, msb, 4, d->nsecs);
	mk_uint(b, msb, 8, DOF_HDR);
	mk_uint(b, msb, 8, loadsz);
	mk_uint(b, msb, 8, filesz);
	mk_uint(b, msb, 8, 0);
}

static void
write_sechdr(struct dof *d, struct mk_buf *b, const struct dof_sec *s)
{
	bool msb = d->c.msb;

	mk_uint(b, msb, 4, s->type);
	mk_uint(b, msb, 4, s->align);
	mk_uint(b, msb, 4, s->flags);
	mk_uint(b, msb, 4, s->entsize);
	mk_uint(b, msb, 8, s->off);
	mk_uint(b, msb, 8, s->data.n);
}

/* What had to wait for the places: DOFREL distances, and expressions. */
static void
settle(struct dof *d)
{
	struct dof_sec *s;
	struct dof_pend *p;
	struct mk_fix *f;

	for (p = d->pend; p != NULL; p = p->next) {
		s = &d->secs[p->sec];
		if (p->expr == NULL) {
			mk_set(&s->data, d->c.msb, p->off, p->size,
			       p->addr - (d->c.vaddr + s->off + p->off));
			continue;
		}
		f = mk_alloc(d->mk, sizeof(*f));
		f->at = d->c.at + s->off + p->off;
		f->size = p->size;
		f->expr = p->expr;
		f->reloc = p->slot ? d->slot_reloc : NULL;
		f->next = *d->c.fixes;
		*d->c.fixes = f;
	}
}

static void
mark_records(struct dof *d, struct mk_block *b, size_t kind)
{
	struct mk_mark m = { .kind = records[kind].kind,
		             .fields = records[kind].fields };
	const struct dof_sec *s;
	unsigned int i;
	uint64_t at;

	for (i = 0; i < d->nsecs; i++) {
		s = &d->secs[i];
		if (s->type != records[kind].type)
			continue;
		for (at = 0; at < s->data.n; at += records[kind].stride) {
			m.at = s->off + at;
			mk_mark(b, m);
			m.index++;
			if (records[kind].stride == 0)
				break;
		}
	}
}

static void
mark_all(struct dof *d, struct mk_block *b)
{
	unsigned int i;
	size_t k;

	mk_mark(b,
	        (struct mk_mark){ .kind = "header", .fields = header_fields });
	for (i = 0; i < d->nsecs; i++) {
		mk_mark(b, (struct mk_mark){ .kind = "section",
		                             .index = i,
		                             .at = DOF_HDR +
		                                   (uint64_t)i * DOF_SECHDR,
		                             .fields = section_fields });
		mk_mark(b, (struct mk_mark){ .kind = "data",
		                             .index = i,
		                             .at = d->secs[i].off });
	}
	for (k = 0; k < sizeof(records) / sizeof(records[0]); k++)
		mark_records(d, b, k);
}

void
dof_write(struct dof *d, struct mk_block *b)
{
	uint64_t at = DOF_HDR + (uint64_t)d->nsecs * DOF_SECHDR, loadsz;
	const struct dof_sec *s;
	unsigned int i;

	if (d->lay->str_first)
		at = place(d, at, true, true);
	at = place(d, at, false, true);
	if (!d->lay->str_first)
		at = place(d, at, true, true);
	loadsz = at;
	for (i = 0; i < d->nsecs; i++)
		if (!(d->secs[i].flags & 1))
			at = (loadsz + 7) / 8 * 8;
	at = place(d, at, false, false);

	settle(d);
	write_header(d, &b->buf, loadsz, at);
	for (i = 0; i < d->nsecs; i++)
		write_sechdr(d, &b->buf, &d->secs[i]);
	mk_fill(&b->buf, at - b->buf.n, 0);
	for (i = 0; i < d->nsecs; i++) {
		s = &d->secs[i];
		if (s->data.n != 0)
			memcpy(b->buf.p + s->off, s->data.p, s->data.n);
	}
	mark_all(d, b);
}
