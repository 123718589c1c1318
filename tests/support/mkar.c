/* SPDX-License-Identifier: BSD-2-Clause */
/* `ar`: an archive, with long names as GNU or BSD ar write them. */
#include <stdio.h>
#include <string.h>

#include "mk.h"

enum { AR_NAME = 16, AR_GNU_SHORT = 15 };

/* The header of one member, 60 bytes. */
static void
put_header(struct mk_block *b, const char *name, uint64_t size)
{
	char text[96];

	snprintf(text, sizeof(text), "%-16.16s%-12d%-6d%-6d%-8o%-10llu`\n",
	         name, 0, 0, 0, 0100644u, (unsigned long long)size);
	mk_put(&b->buf, text, 60);
}

/* GNU: the table of names that do not fit, each with "/\n" behind it. */
static void
put_gnu_names(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	struct mk_buf names = { .mk = c->mk };
	struct mk_word w;
	struct mk_stmt *k;

	for (k = s->kids; k != NULL; k = k->next) {
		if (mk_is_override(k) || mk_key(k, "raw").s != NULL)
			continue;
		w = mk_need(c->mk, k, 0);
		if (w.n > AR_GNU_SHORT) {
			mk_put(&names, w.s, w.n);
			mk_put(&names, "/\n", 2);
		}
	}
	if (names.n == 0)
		return;
	put_header(b, "//", names.n);
	mk_put(&b->buf, names.p, names.n);
	if (names.n % 2 != 0)
		mk_put(&b->buf, "\n", 1);
}

static void
put_member(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b,
           uint64_t *names)
{
	struct mk_word raw = mk_key(s, "raw"), name = { 0 };
	struct mk_block in = { .buf.mk = c->mk };
	uint64_t bsd = 0;

	if (raw.s == NULL)
		name = mk_need(c->mk, s, 0);
	mk_content(c, s->kids, &in);
	if (raw.s != NULL) {
		put_header(b, raw.s, in.buf.n);
	} else if (names != NULL && name.n > AR_GNU_SHORT) {
		put_header(b,
		           mk_fmt(c->mk, "/%llu", (unsigned long long)*names),
		           in.buf.n);
		*names += name.n + 2;
	} else if (names != NULL) {
		put_header(b, mk_fmt(c->mk, "%s/", name.s), in.buf.n);
	} else if (name.n > AR_NAME || strchr(name.s, ' ') != NULL) {
		bsd = (name.n + 7) / 8 * 8;
		put_header(b, mk_fmt(c->mk, "#1/%llu", (unsigned long long)bsd),
		           bsd + in.buf.n);
		mk_put(&b->buf, name.s, name.n);
		mk_fill(&b->buf, bsd - name.n, 0);
	} else {
		put_header(b, name.s, in.buf.n);
	}
	mk_put(&b->buf, in.buf.p, in.buf.n);
	if (b->buf.n % 2 != 0)
		mk_put(&b->buf, "\n", 1);
}

void
mk_put_ar(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	static const struct mk_const styles[] = {
		{ "gnu", 0 },
		{ "bsd", 1 },
		{ 0 },
	};
	bool bsd = mk_numname(c, s, "style", styles) != 0, named = false;
	struct mk_mark m = { .kind = "member" };
	struct mk_ctx sub = *c;
	uint64_t names = 0;
	struct mk_stmt *k;

	sub.elf = NULL;
	sub.vaddr = 0;
	mk_put(&b->buf, "!<arch>\n", 8);
	for (k = s->kids; k != NULL; k = k->next) {
		if (mk_is_override(k))
			continue;
		if (strcmp(k->kw, "member") != 0)
			mk_die(c->mk, k->line, "ar: no %s here", k->kw);
		/* behind the symbol table, which only raw= can write */
		if (!bsd && !named && mk_key(k, "raw").s == NULL) {
			put_gnu_names(c, s, b);
			named = true;
		}
		m.at = b->buf.n;
		mk_mark(b, m);
		m.index++;
		put_member(&sub, k, b, bsd ? NULL : &names);
	}
	mk_overrides(c, s->kids, b);
}
