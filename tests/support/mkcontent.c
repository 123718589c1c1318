/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The content of a block: what each statement appends, and the overrides
 * that damage the finished bytes.
 */
#include <string.h>

#include "mk.h"

static void
put_hex(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	unsigned int i;

	for (i = 0; i < mk_npos(s); i++)
		mk_puthex(c, s, mk_pos(s, i), &b->buf);
}

static void
put_string(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	struct mk_word w;
	unsigned int i;

	(void)c;
	for (i = 0; i < mk_npos(s); i++) {
		w = mk_pos(s, i);
		mk_put(&b->buf, w.s, w.n);
	}
}

static void
put_asciz(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	struct mk_word w;
	unsigned int i;

	(void)c;
	for (i = 0; i < mk_npos(s); i++) {
		w = mk_pos(s, i);
		mk_put(&b->buf, w.s, w.n + 1);
	}
}

static void
put_zero(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	uint64_t n = mk_value(c, s, mk_need(c->mk, s, 0));

	mk_fill(&b->buf, n, (uint8_t)mk_num(c, s, "byte", 0));
}

static void
put_align(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	mk_align(&b->buf, mk_value(c, s, mk_need(c->mk, s, 0)));
}

static void
put_ints(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	static const struct mk_const sizes[] = {
		{ "u8", 1 }, { "u16", 2 }, { "u32", 4 }, { "u64", 8 }, { 0 },
	};
	const struct mk_const *t = sizes;
	unsigned int i;

	while (t->name != NULL && strcmp(t->name, s->kw) != 0)
		t++;
	for (i = 0; i < mk_npos(s); i++)
		mk_uint(&b->buf, c->msb, (unsigned int)t->value,
		        mk_value(c, s, mk_pos(s, i)));
}

/* One entry of a .dynamic section. */
static void
put_dyn(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	static const struct mk_const tags[] = {
		{ "null", 0 },   { "needed", 1 },   { "strtab", 5 },
		{ "symtab", 6 }, { "rela", 7 },     { "relasz", 8 },
		{ "strsz", 10 }, { "relaent", 9 },  { "syment", 11 },
		{ "rel", 17 },   { "soname", 14 },  { "relsz", 18 },
		{ "relr", 36 },  { "relent", 19 },  { "relrsz", 35 },
		{ "hash", 4 },   { "relrent", 37 }, { 0 },
	};
	unsigned int size = c->wide ? 8 : 4;

	mk_uint(&b->buf, c->msb, size,
	        mk_named(c, s, mk_need(c->mk, s, 0), tags));
	mk_uint(&b->buf, c->msb, size, mk_value(c, s, mk_need(c->mk, s, 1)));
}

static const struct {
	const char *kw;
	mk_put_fn *put;
	bool inside; /* a container: what is in it is a block of its own */
} items[] = {
	/* clang-format off */
	{ "hex", put_hex, false },
	{ "string", put_string, false },
	{ "asciz", put_asciz, false },
	{ "zero", put_zero, false },
	{ "align", put_align, false },
	{ "u8", put_ints, false },
	{ "u16", put_ints, false },
	{ "u32", put_ints, false },
	{ "u64", put_ints, false },
	{ "dyn", put_dyn, false },
	{ "note", mk_put_note, false },
	{ "stapsdt", mk_put_stapsdt, false },
	{ "usdt", mk_put_usdt, false },
	{ "prov", mk_put_prov, false },
	{ "dof", mk_put_dof, true },
	{ "elf", mk_put_elf, true },
	{ "macho", mk_put_macho, true },
	{ "fat", mk_put_fat, true },
	{ "ar", mk_put_ar, true },
	/* clang-format on */
};

/* Run a container's statement in a block of its own and append that. */
static void
put_inside(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b,
           mk_put_fn *put)
{
	struct mk_block in = { .buf.mk = c->mk };
	struct mk_ctx sub = *c;

	sub.vaddr += b->buf.n;
	sub.at += b->buf.n;
	put(&sub, s, &in);
	mk_put(&b->buf, in.buf.p, in.buf.n);
}

void
mk_content(const struct mk_ctx *c, struct mk_stmt *first, struct mk_block *b)
{
	struct mk_stmt *s;
	size_t i;

	for (s = first; s != NULL; s = s->next) {
		if (mk_is_override(s))
			continue;
		for (i = 0; i < sizeof(items) / sizeof(items[0]); i++)
			if (strcmp(items[i].kw, s->kw) == 0)
				break;
		if (i == sizeof(items) / sizeof(items[0]))
			mk_die(c->mk, s->line, "%s is unknown here", s->kw);
		s->used = true;
		if (items[i].inside)
			put_inside(c, s, b, items[i].put);
		else
			items[i].put(c, s, b);
	}
	mk_overrides(c, first, b);
}

void
mk_mark(struct mk_block *b, struct mk_mark m)
{
	struct mk_mark *p = mk_alloc(b->buf.mk, sizeof(*p));

	*p = m;
	p->next = b->marks;
	b->marks = p;
}

/* The place that the first KIND=KEY of a poke names. */
static const struct mk_mark *
poke_mark(const struct mk_ctx *c, struct mk_stmt *s, const struct mk_block *b)
{
	const struct mk_mark *m;
	struct mk_word w;

	for (m = b->marks; m != NULL; m = m->next) {
		w = mk_key(s, m->kind);
		if (w.s == NULL)
			continue;
		if (m->name != NULL && strcmp(m->name, w.s) == 0)
			return m;
		if (w.s[0] >= '0' && w.s[0] <= '9' &&
		    mk_value(c, s, w) == m->index)
			return m;
	}
	mk_die(c->mk, s->line, "poke: no such place");
}

static const struct mk_field *
poke_field(const struct mk_ctx *c, struct mk_stmt *s, const struct mk_mark *m)
{
	struct mk_word w = mk_key(s, "field");
	const struct mk_field *f = m->fields;

	if (w.s == NULL)
		return NULL;
	for (; f != NULL && f->name != NULL; f++)
		if (strcmp(f->name, w.s) == 0)
			return f;
	mk_die(c->mk, s->line, "poke: no field %s", w.s);
}

static void
do_poke(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	uint64_t value = mk_value(c, s, mk_needkey(c->mk, s, "value"));
	uint64_t size = mk_num(c, s, "size", 4), at;
	const struct mk_mark *m = NULL;
	const struct mk_field *f = NULL;

	if (mk_key(s, "at").s != NULL) {
		at = mk_num(c, s, "at", 0);
	} else {
		m = poke_mark(c, s, b);
		f = poke_field(c, s, m);
		at = m->at + mk_num(c, s, "offset", 0);
	}
	if (f != NULL) {
		at += c->wide ? f->off64 : f->off32;
		size = c->wide ? f->size64 : f->size32;
	}
	if (size > 8 || at > b->buf.n || size > b->buf.n - at)
		mk_die(c->mk, s->line, "poke: outside of the block");
	mk_set(&b->buf, c->msb, at, (unsigned int)size, value);
}

static void
do_cut(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	uint64_t at = mk_num(c, s, "at", b->buf.n);
	uint64_t last = mk_num(c, s, "last", 0);

	if (at > b->buf.n || last > at)
		mk_die(c->mk, s->line, "cut: the block has only %zu bytes",
		       b->buf.n);
	b->buf.n = (size_t)(at - last);
}

static const struct {
	const char *kw;
	mk_put_fn *run;
} overrides[] = {
	{ "poke", do_poke },
	{ "cut", do_cut },
	{ "append", put_hex },
};

bool
mk_is_override(const struct mk_stmt *s)
{
	size_t i;

	for (i = 0; i < sizeof(overrides) / sizeof(overrides[0]); i++)
		if (strcmp(overrides[i].kw, s->kw) == 0)
			return true;
	return false;
}

void
mk_overrides(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	size_t i;

	for (; s != NULL; s = s->next)
		for (i = 0; i < sizeof(overrides) / sizeof(overrides[0]); i++)
			if (strcmp(overrides[i].kw, s->kw) == 0)
				overrides[i].run(c, s, b);
}
