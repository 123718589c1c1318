/* SPDX-License-Identifier: BSD-2-Clause */
/* `macho`: one Mach-O file of segments and sections; `fat`: several in one. */
#include <string.h>

#include "mk.h"

enum { CMD_SEGMENT = 1, CMD_UUID = 0x1b, CMD_SEGMENT_64 = 0x19 };

static const struct mk_const cpus[] = {
	{ "x86_64", 0x01000007 },
	{ "arm64", 0x0100000c },
	{ "i386", 7 },
	{ "ppc", 18 },
	{ "ppc64", 0x01000012 },
	{ "arm", 12 },
	{ 0 },
};

static const struct mk_field header_fields[] = {
	/* clang-format off */
	{ "magic", 0, 4, 0, 4 },     { "cputype", 4, 4, 4, 4 },
	{ "cpusubtype", 8, 4, 8, 4 }, { "filetype", 12, 4, 12, 4 },
	{ "ncmds", 16, 4, 16, 4 },   { "sizeofcmds", 20, 4, 20, 4 },
	{ "flags", 24, 4, 24, 4 },   { 0 },
	/* clang-format on */
};

static const struct mk_field command_fields[] = {
	/* clang-format off */
	{ "cmd", 0, 4, 0, 4 },       { "cmdsize", 4, 4, 4, 4 },
	{ "vmaddr", 24, 4, 24, 8 },  { "vmsize", 28, 4, 32, 8 },
	{ "fileoff", 32, 4, 40, 8 }, { "filesize", 36, 4, 48, 8 },
	{ "nsects", 48, 4, 64, 4 },  { 0 },
	/* clang-format on */
};

static const struct mk_field section_fields[] = {
	/* clang-format off */
	{ "addr", 32, 4, 32, 8 },   { "size", 36, 4, 40, 8 },
	{ "offset", 40, 4, 48, 4 }, { "align", 44, 4, 52, 4 },
	{ "flags", 56, 4, 64, 4 },  { 0 },
	/* clang-format on */
};

static const struct mk_field slice_fields[] = {
	/* clang-format off */
	{ "cputype", 0, 4, 0, 4 }, { "cpusubtype", 4, 4, 4, 4 },
	{ "offset", 8, 4, 8, 8 },  { "size", 12, 4, 16, 8 },
	{ "align", 16, 4, 24, 4 }, { 0 },
	/* clang-format on */
};

/* A Mach-O under construction. */
struct macho {
	struct mk_ctx c;
	struct mk_block *b;
	struct mk_buf data; /* the file from 0 on; the headers go over it */
	unsigned int ncmds, nsecs;
};

static uint64_t
align_up(uint64_t v, uint64_t align)
{
	return align > 1 && v % align != 0 ? v + align - v % align : v;
}

static uint64_t
shift(struct mk *mk, unsigned int line, uint64_t power)
{
	if (power > 20)
		mk_die(mk, line, "alignment 2^%llu", (unsigned long long)power);
	return UINT64_C(1) << power;
}

static unsigned int
count_kids(const struct mk_stmt *s)
{
	const struct mk_stmt *k;
	unsigned int n = 0;

	for (k = s->kids; k != NULL; k = k->next)
		n++;
	return n;
}

static uint64_t
command_size(const struct mk_ctx *c, struct mk_stmt *s)
{
	struct mk_block b = { .buf.mk = c->mk };
	uint64_t n = count_kids(s);

	if (strcmp(s->kw, "uuid") == 0)
		return 24;
	if (strcmp(s->kw, "segment") == 0)
		return c->wide ? 72 + 80 * n : 56 + 68 * n;
	if (strcmp(s->kw, "command") != 0)
		mk_die(c->mk, s->line, "macho: no %s here", s->kw);
	mk_content(c, s->kids, &b);
	return align_up(8 + b.buf.n, c->wide ? 8 : 4);
}

/* A name in 16 bytes, the first n of `p`. */
static void
put_name(struct mk_buf *b, const char *p, size_t n)
{
	mk_put(b, p, n > 16 ? 16 : n);
	mk_fill(b, n > 16 ? 0 : 16 - n, 0);
}

struct place {
	const char *segment;
	uint64_t vmaddr, fileoff, addr, off, size;
};

/* The header of one section; its data goes to m->data. */
static void
put_section(struct macho *m, struct mk_stmt *s, struct place *p)
{
	struct mk_block in = { .buf.mk = m->c.mk };
	struct mk_word name = mk_need(m->c.mk, s, 0);
	uint64_t power = mk_num(&m->c, s, "align", 0);
	uint64_t align = shift(m->c.mk, s->line, power);
	uint64_t flags = mk_num(&m->c, s, "flags", 0);
	const char *comma = strchr(name.s, ',');
	struct mk_buf *o = &m->b->buf;
	unsigned int word = m->c.wide ? 8 : 4;
	struct mk_ctx c = m->c;

	p->addr = mk_num(&m->c, s, "addr", align_up(p->addr, align));
	p->off = p->fileoff + (p->addr - p->vmaddr);
	c.vaddr = p->addr;
	mk_content(&c, s->kids, &in);
	if (p->off < m->data.n || p->off > MK_MAX_ZERO)
		mk_die(m->c.mk, s->line, "section %s: offset 0x%llx", name.s,
		       (unsigned long long)p->off);
	mk_fill(&m->data, p->off - m->data.n, 0);
	mk_put(&m->data, in.buf.p, in.buf.n);
	p->addr += in.buf.n;

	mk_mark(m->b, (struct mk_mark){ .kind = "section",
	                                .index = m->nsecs,
	                                .name = name.s,
	                                .at = o->n,
	                                .fields = section_fields });
	mk_mark(m->b, (struct mk_mark){ .kind = "data",
	                                .index = m->nsecs++,
	                                .name = name.s,
	                                .at = p->off });
	if (comma != NULL) {
		put_name(o, comma + 1, strlen(comma + 1));
		put_name(o, name.s, (size_t)(comma - name.s));
	} else {
		put_name(o, name.s, name.n);
		put_name(o, p->segment, strlen(p->segment));
	}
	mk_uint(o, c.msb, word, c.vaddr);
	mk_uint(o, c.msb, word, in.buf.n);
	mk_uint(o, c.msb, 4, p->off);
	mk_uint(o, c.msb, 4, power);
	mk_uint(o, c.msb, 4, 0);
	mk_uint(o, c.msb, 4, 0);
	mk_uint(o, c.msb, 4, flags | mk_num(&m->c, s, "type", 0));
	mk_fill(o, c.wide ? 12 : 8, 0);
}

/* LC_SEGMENT, with its sections. */
static void
put_segment(struct macho *m, struct mk_stmt *s, uint64_t size)
{
	struct mk_word name = mk_need(m->c.mk, s, 0);
	struct mk_buf *o = &m->b->buf;
	unsigned int word = m->c.wide ? 8 : 4;
	struct place p = { .segment = name.s };
	size_t at = o->n;
	struct mk_stmt *k;

	p.vmaddr = mk_num(&m->c, s, "vmaddr", 0);
	if (m->nsecs != 0) {
		mk_align(&m->data, 16);
		p.fileoff = m->data.n;
	}
	p.fileoff = mk_num(&m->c, s, "fileoff", p.fileoff);
	p.addr = p.vmaddr + (p.fileoff == 0 ? m->data.n : 0);

	mk_uint(o, m->c.msb, 4, m->c.wide ? CMD_SEGMENT_64 : CMD_SEGMENT);
	mk_uint(o, m->c.msb, 4, size);
	put_name(o, name.s, name.n);
	mk_fill(o, m->c.wide ? 32 : 16, 0);
	mk_uint(o, m->c.msb, 4, mk_num(&m->c, s, "maxprot", 7));
	mk_uint(o, m->c.msb, 4, mk_num(&m->c, s, "prot", 5));
	mk_uint(o, m->c.msb, 4, count_kids(s));
	mk_uint(o, m->c.msb, 4, 0);
	for (k = s->kids; k != NULL; k = k->next) {
		if (strcmp(k->kw, "section") != 0)
			mk_die(m->c.mk, k->line, "segment: no %s here", k->kw);
		put_section(m, k, &p);
	}
	size = mk_num(&m->c, s, "filesize", p.addr - p.vmaddr);
	at += 24;
	mk_set(o, m->c.msb, at, word, p.vmaddr);
	mk_set(o, m->c.msb, at += word, word, mk_num(&m->c, s, "vmsize", size));
	mk_set(o, m->c.msb, at += word, word, p.fileoff);
	mk_set(o, m->c.msb, at + word, word, size);
}

static void
put_command(struct macho *m, struct mk_stmt *s)
{
	uint64_t size = command_size(&m->c, s);
	struct mk_buf *o = &m->b->buf;
	struct mk_block in = { .buf.mk = m->c.mk };
	size_t start = o->n;

	mk_mark(m->b, (struct mk_mark){ .kind = "command",
	                                .index = m->ncmds++,
	                                .at = start,
	                                .fields = command_fields });
	if (strcmp(s->kw, "segment") == 0) {
		put_segment(m, s, size);
		return;
	}
	if (strcmp(s->kw, "uuid") == 0) {
		mk_uint(o, m->c.msb, 4, CMD_UUID);
		mk_uint(o, m->c.msb, 4, size);
		mk_puthex(&m->c, s, mk_need(m->c.mk, s, 0), o);
		if (o->n - start != size)
			mk_die(m->c.mk, s->line, "uuid: 16 bytes expected");
		return;
	}
	mk_uint(o, m->c.msb, 4, mk_value(&m->c, s, mk_need(m->c.mk, s, 0)));
	mk_uint(o, m->c.msb, 4, size);
	mk_content(&m->c, s->kids, &in);
	mk_put(o, in.buf.p, in.buf.n);
	mk_fill(o, size - (o->n - start), 0);
}

void
mk_put_macho(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	static const struct mk_const types[] = {
		{ "execute", 2 }, { "object", 1 }, { "dylib", 6 },
		{ "bundle", 8 },  { "dsym", 10 },  { 0 },
	};
	static const struct mk_const orders[] = { { "lsb", 0 },
		                                  { "msb", 1 },
		                                  { 0 } };
	struct macho m = { .c = *c, .b = b, .data.mk = c->mk };
	uint64_t total = 0, n = 0;
	struct mk_stmt *k;
	size_t hdr;

	m.c.elf = NULL;
	m.c.vaddr = 0;
	m.c.msb = mk_numname(c, s, "order", orders) != 0;
	m.c.wide = mk_num(c, s, "class", 64) != 32;
	for (k = s->kids; k != NULL; k = k->next)
		if (!mk_is_override(k)) {
			total += command_size(&m.c, k);
			n++;
		}
	hdr = m.c.wide ? 32 : 28;
	mk_fill(&m.data, hdr + total, 0);
	mk_mark(b,
	        (struct mk_mark){ .kind = "header", .fields = header_fields });
	mk_uint(&b->buf, m.c.msb, 4, m.c.wide ? 0xfeedfacf : 0xfeedface);
	mk_uint(&b->buf, m.c.msb, 4, mk_numname(c, s, "cpu", cpus));
	mk_uint(&b->buf, m.c.msb, 4, mk_num(c, s, "sub", 3));
	mk_uint(&b->buf, m.c.msb, 4, mk_numname(c, s, "type", types));
	mk_uint(&b->buf, m.c.msb, 4, n);
	mk_uint(&b->buf, m.c.msb, 4, total);
	mk_uint(&b->buf, m.c.msb, 4, mk_num(c, s, "flags", 0x200085));
	mk_fill(&b->buf, hdr - 28, 0);
	for (k = s->kids; k != NULL; k = k->next)
		if (!mk_is_override(k)) {
			k->used = true;
			put_command(&m, k);
		}
	mk_put(&b->buf, m.data.p + b->buf.n, m.data.n - b->buf.n);
	mk_overrides(&m.c, s->kids, b);
}

/* One fat_arch, and where its bytes go. */
static uint64_t
put_slice(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b,
          uint64_t at)
{
	uint64_t power = mk_num(c, s, "align", 4);
	struct mk_block in = { .buf.mk = c->mk };
	unsigned int word = c->wide ? 8 : 4;
	struct mk_ctx sub = *c;

	at = align_up(at, shift(c->mk, s->line, power));
	sub.msb = false;
	mk_content(&sub, s->kids, &in);
	mk_uint(&b->buf, true, 4, mk_numname(c, s, "cpu", cpus));
	mk_uint(&b->buf, true, 4, mk_num(c, s, "sub", 3));
	mk_uint(&b->buf, true, word, at);
	mk_uint(&b->buf, true, word, in.buf.n);
	mk_uint(&b->buf, true, 4, power);
	mk_fill(&b->buf, c->wide ? 4 : 0, 0);
	return at + in.buf.n;
}

static void
put_slice_data(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	uint64_t power = mk_num(c, s, "align", 4);
	struct mk_block in = { .buf.mk = c->mk };
	struct mk_ctx sub = *c;

	sub.msb = false;
	mk_align(&b->buf, shift(c->mk, s->line, power));
	mk_content(&sub, s->kids, &in);
	mk_put(&b->buf, in.buf.p, in.buf.n);
}

void
mk_put_fat(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	struct mk_ctx big = *c;
	uint64_t n = 0, at;
	struct mk_stmt *k;

	big.elf = NULL;
	big.msb = true;
	big.wide = mk_num(c, s, "bits", 32) == 64;
	for (k = s->kids; k != NULL; k = k->next)
		if (strcmp(k->kw, "slice") == 0)
			n++;
		else if (!mk_is_override(k))
			mk_die(c->mk, k->line, "fat: no %s here", k->kw);
	at = 8 + n * (big.wide ? 32 : 20);
	mk_mark(b, (struct mk_mark){ .kind = "header" });
	mk_uint(&b->buf, true, 4, big.wide ? 0xcafebabf : 0xcafebabe);
	mk_uint(&b->buf, true, 4, n);
	for (n = 0, k = s->kids; k != NULL; k = k->next) {
		if (mk_is_override(k))
			continue;
		mk_mark(b, (struct mk_mark){ .kind = "slice",
		                             .index = (unsigned int)n++,
		                             .at = b->buf.n,
		                             .fields = slice_fields });
		at = put_slice(&big, k, b, at);
	}
	for (k = s->kids; k != NULL; k = k->next)
		if (!mk_is_override(k))
			put_slice_data(&big, k, b);
	mk_overrides(&big, s->kids, b);
}
