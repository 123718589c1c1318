/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF notes: any one (`note`), SystemTap probes (`stapsdt`), and the two
 * kinds of DTrace for Linux (`usdt`, `prov`).
 */
#include <string.h>

#include "mk.h"

static const struct mk_field note_fields[] = {
	{ "namesz", 0, 4, 0, 4 },
	{ "descsz", 4, 4, 4, 4 },
	{ "type", 8, 4, 8, 4 },
	{ 0 },
};

/*
 * One note around a finished descriptor.  The statement can give another
 * owner=, type=, namesz= or descsz= than the right one; ownernul=0 leaves
 * the NUL of the owner out.
 */
static void
put_note(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b,
         const struct mk_buf *desc, const struct mk_word *owner_type)
{
	struct mk_mark m = { .kind = "note",
		             .at = b->buf.n,
		             .fields = note_fields };
	struct mk_word owner = mk_key(s, "owner");
	struct mk_word type = mk_key(s, "type");
	const struct mk_mark *p;
	size_t name;

	if (owner.s == NULL)
		owner = owner_type[0];
	if (type.s == NULL)
		type = owner_type[1];
	for (p = b->marks; p != NULL; p = p->next)
		m.index += p->fields == note_fields;
	mk_mark(b, m);
	name = owner.n == 0 ? 0 : owner.n + 1; /* no owner: not even a NUL */
	if (name != 0 && !mk_num(c, s, "ownernul", 1))
		name--;
	mk_uint(&b->buf, c->msb, 4, mk_num(c, s, "namesz", name));
	mk_uint(&b->buf, c->msb, 4, mk_num(c, s, "descsz", desc->n));
	mk_uint(&b->buf, c->msb, 4, mk_value(c, s, type));
	mk_put(&b->buf, owner.s, name);
	mk_align(&b->buf, 4);
	mk_put(&b->buf, desc->p, desc->n);
	if (mk_num(c, s, "pad", 1))
		mk_align(&b->buf, 4);
}

void
mk_put_note(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	struct mk_block desc = { .buf.mk = c->mk };
	struct mk_word ot[2];

	ot[0] = mk_needkey(c->mk, s, "owner");
	ot[1] = mk_needkey(c->mk, s, "type");
	mk_content(c, s->kids, &desc);
	put_note(c, s, b, &desc.buf, ot);
}

void
mk_put_stapsdt(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	static const struct mk_word ot[2] = { { "stapsdt", 7, false },
		                              { "3", 1, false } };
	unsigned int size = c->wide ? 8 : 4;
	struct mk_buf desc = { .mk = c->mk };
	struct mk_word args = mk_key(s, "args"), w;

	mk_uint(&desc, c->msb, size, mk_num(c, s, "pc", 0));
	mk_uint(&desc, c->msb, size, mk_num(c, s, "base", 0));
	mk_uint(&desc, c->msb, size, mk_num(c, s, "sema", 0));
	w = mk_need(c->mk, s, 0);
	mk_put(&desc, w.s, w.n + 1);
	w = mk_need(c->mk, s, 1);
	mk_put(&desc, w.s, w.n + 1);
	if (args.s != NULL)
		mk_put(&desc, args.s, args.n);
	if (mk_num(c, s, "nul", 1))
		mk_put(&desc, "", 1);
	put_note(c, s, b, &desc, ot);
}

void
mk_put_usdt(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	static const struct mk_const kinds[] = {
		{ "probe", 1 },
		{ "is-enabled", 2 },
		{ 0 },
	};
	struct mk_word ot[2] = { { "usdt", 4, false }, { "1", 1, false } };
	struct mk_buf desc = { .mk = c->mk };
	struct mk_word args = mk_key(s, "args"), w;

	if (mk_numname(c, s, "kind", kinds) == 2)
		ot[1].s = "2";
	mk_uint(&desc, c->msb, 8, mk_num(c, s, "pc", 0));
	mk_uint(&desc, c->msb, 8, mk_num(c, s, "fn", 0));
	w = mk_need(c->mk, s, 0);
	mk_put(&desc, w.s, w.n + 1);
	w = mk_need(c->mk, s, 1);
	mk_put(&desc, w.s, w.n + 1);
	mk_uint(&desc, c->msb, 1, mk_num(c, s, "nargs", 0));
	if (args.s != NULL)
		mk_put(&desc, args.s, args.n);
	if (mk_num(c, s, "nul", 1))
		mk_put(&desc, "", 1);
	put_note(c, s, b, &desc, ot);
}

/* The types of one probe: the native ones, then each translated with its map.
 */
static void
put_types(const struct mk_ctx *c, struct mk_stmt *probe, struct mk_buf *b)
{
	struct mk_stmt *list[3] = { NULL, NULL, NULL }, *s;
	static const char *const kws[] = { "native", "translated", "map" };
	struct mk_word w;
	unsigned int i, n;

	for (s = probe->kids; s != NULL; s = s->next) {
		for (i = 0; i < 3; i++)
			if (strcmp(s->kw, kws[i]) == 0)
				break;
		if (i == 3)
			mk_die(c->mk, s->line, "probe: no %s here", s->kw);
		list[i] = s;
		s->used = true;
	}
	if (list[1] == NULL)
		list[1] = list[0];
	n = list[0] == NULL ? 0 : mk_npos(list[0]);
	mk_uint(b, c->msb, 1, n);
	for (i = 0; i < n; i++) {
		w = mk_pos(list[0], i);
		mk_put(b, w.s, w.n + 1);
	}
	n = list[1] == NULL ? 0 : mk_npos(list[1]);
	mk_uint(b, c->msb, 1, n);
	for (i = 0; i < n; i++) {
		w = mk_pos(list[1], i);
		mk_put(b, w.s, w.n + 1);
		mk_uint(b, c->msb, 1,
		        list[2] == NULL ? i
		                        : mk_value(c, list[2],
		                                   mk_need(c->mk, list[2], i)));
	}
}

void
mk_put_prov(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	static const struct mk_word ot[2] = { { "prov", 4, false },
		                              { "1", 1, false } };
	static const char *const keys[] = { "pattr", "mattr", "fattr", "nattr",
		                            "aattr" };
	struct mk_buf desc = { .mk = c->mk };
	struct mk_word w = mk_need(c->mk, s, 0), all = mk_key(s, "attr");
	unsigned int i, n = 0;
	struct mk_stmt *p;

	if (all.s == NULL)
		all = (struct mk_word){ "0x04040500", 10, false };
	mk_put(&desc, w.s, w.n + 1);
	mk_align(&desc, 4);
	for (i = 0; i < 5; i++) {
		w = mk_key(s, keys[i]);
		mk_uint(&desc, c->msb, 4, mk_attr(c, s, w.s ? w : all));
	}
	for (p = s->kids; p != NULL; p = p->next)
		n++;
	mk_uint(&desc, c->msb, 4, mk_num(c, s, "nprobes", n));
	for (p = s->kids; p != NULL; p = p->next) {
		if (strcmp(p->kw, "probe") != 0)
			mk_die(c->mk, p->line, "prov: no %s here", p->kw);
		mk_align(&desc, 4);
		w = mk_need(c->mk, p, 0);
		mk_put(&desc, w.s, w.n + 1);
		put_types(c, p, &desc);
	}
	put_note(c, s, b, &desc, ot);
}
