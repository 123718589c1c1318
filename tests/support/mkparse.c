/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of a fixture into statements.  A statement is a keyword, values
 * and KEY=VALUE pairs, and may have a block in braces.  It ends at the end
 * of the line, at `;`, or at a brace; a backslash joins two lines.
 */
#include <string.h>

#include "mk.h"

enum tok { TOK_WORD, TOK_OPEN, TOK_CLOSE, TOK_END, TOK_EOF };

struct lex {
	struct mk *mk;
	const char *p, *end;
	unsigned int line;
	enum tok tok;
	struct mk_word key, val; /* of TOK_WORD; key.s NULL without `=` */
};

/* A growing list of the arguments of one statement. */
struct args {
	struct mk_arg *p;
	unsigned int n, cap;
};

static int
hexdigit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* One character behind a backslash; stores it and steps over it. */
static char
lex_escape(struct lex *l)
{
	char c = *l->p++;

	if (c == 'n')
		return '\n';
	if (c == 't')
		return '\t';
	if (c == '0')
		return '\0';
	if (c == '"' || c == '\\')
		return c;
	if (c != 'x' || l->end - l->p < 2 || hexdigit(l->p[0]) < 0 ||
	    hexdigit(l->p[1]) < 0)
		mk_die(l->mk, l->line, "unknown escape");
	c = (char)(hexdigit(l->p[0]) << 4 | hexdigit(l->p[1]));
	l->p += 2;
	return c;
}

static struct mk_word
lex_quoted(struct lex *l)
{
	struct mk_buf b = { .mk = l->mk };
	char c;

	for (l->p++;;) {
		if (l->p == l->end || *l->p == '\n')
			mk_die(l->mk, l->line, "string without an end");
		c = *l->p++;
		if (c == '"')
			break;
		if (c == '\\') {
			if (l->p == l->end)
				mk_die(l->mk, l->line, "string without an end");
			c = lex_escape(l);
		}
		mk_put(&b, &c, 1);
	}
	mk_put(&b, "", 1);
	return (struct mk_word){ (const char *)b.p, b.n - 1, true };
}

static bool
is_bare(char c)
{
	return c != '\0' && strchr(" \t\r\n;{}\"=", c) == NULL;
}

static struct mk_word
lex_bare(struct lex *l)
{
	const char *start = l->p;
	size_t n;
	char *s;

	while (l->p < l->end && is_bare(*l->p))
		l->p++;
	n = (size_t)(l->p - start);
	if (n == 0)
		mk_die(l->mk, l->line, "unexpected character 0x%02x",
		       (unsigned int)(unsigned char)*start);
	s = mk_alloc(l->mk, n + 1);
	memcpy(s, start, n);
	return (struct mk_word){ s, n, false };
}

static struct mk_word
lex_value(struct lex *l)
{
	if (l->p < l->end && *l->p == '"')
		return lex_quoted(l);
	if (l->p == l->end)
		mk_die(l->mk, l->line, "value expected");
	return lex_bare(l);
}

/* Over blanks, comments and joined lines. */
static void
lex_skip(struct lex *l)
{
	for (; l->p < l->end; l->p++) {
		if (*l->p == '\\' && l->end - l->p > 1 && l->p[1] == '\n') {
			l->p++;
			l->line++;
		} else if (*l->p == '#') {
			while (l->p < l->end && *l->p != '\n')
				l->p++;
			return;
		} else if (*l->p != ' ' && *l->p != '\t' && *l->p != '\r') {
			return;
		}
	}
}

static void
lex_next(struct lex *l)
{
	char c;

	lex_skip(l);
	if (l->p == l->end) {
		l->tok = TOK_EOF;
		return;
	}
	c = *l->p;
	l->tok = c == '{'                ? TOK_OPEN
	         : c == '}'              ? TOK_CLOSE
	         : c == '\n' || c == ';' ? TOK_END
	                                 : TOK_WORD;
	if (l->tok != TOK_WORD) {
		l->line += c == '\n';
		l->p++;
		return;
	}
	l->key = (struct mk_word){ 0 };
	l->val = lex_value(l);
	if (!l->val.quoted && l->p < l->end && *l->p == '=') {
		l->p++;
		l->key = l->val;
		l->val = lex_value(l);
	}
}

static void
args_add(struct mk *mk, struct args *a, struct mk_word key, struct mk_word val)
{
	struct mk_arg *p;

	if (a->n == a->cap) {
		a->cap = a->cap == 0 ? 8 : a->cap * 2;
		p = mk_alloc(mk, a->cap * sizeof(*p));
		if (a->n != 0)
			memcpy(p, a->p, a->n * sizeof(*p));
		a->p = p;
	}
	a->p[a->n++] = (struct mk_arg){ .key = key, .val = val };
}

static struct mk_stmt *parse_block(struct lex *l, unsigned int depth);

/* One statement; the current token is its keyword.  MK_MAX_DEPTH ends it. */
static struct mk_stmt *
parse_stmt(struct lex *l, unsigned int depth) /* NOLINT(misc-no-recursion) */
{
	struct mk_stmt *s = mk_alloc(l->mk, sizeof(*s));
	struct args a = { 0 };

	if (l->key.s != NULL || l->val.quoted)
		mk_die(l->mk, l->line, "keyword expected");
	s->kw = l->val.s;
	s->line = l->line;
	for (lex_next(l); l->tok == TOK_WORD; lex_next(l))
		args_add(l->mk, &a, l->key, l->val);
	s->args = a.p;
	s->nargs = a.n;
	if (l->tok == TOK_OPEN) {
		lex_next(l);
		s->kids = parse_block(l, depth + 1);
		if (l->tok != TOK_CLOSE)
			mk_die(l->mk, s->line, "block without an end");
		lex_next(l);
	}
	return s;
}

/* Statements up to a closing brace or the end. */
static struct mk_stmt *
parse_block(struct lex *l, unsigned int depth) /* NOLINT(misc-no-recursion) */
{
	struct mk_stmt *first = NULL, **tail = &first;

	if (depth > MK_MAX_DEPTH)
		mk_die(l->mk, l->line, "more than %d nested blocks",
		       MK_MAX_DEPTH);
	for (;;) {
		while (l->tok == TOK_END)
			lex_next(l);
		if (l->tok == TOK_CLOSE || l->tok == TOK_EOF)
			return first;
		if (l->tok == TOK_OPEN)
			mk_die(l->mk, l->line, "block without a keyword");
		*tail = parse_stmt(l, depth);
		tail = &(*tail)->next;
	}
}

void
mk_parse(struct mk *mk, const char *text, size_t n)
{
	struct lex l = { .mk = mk, .p = text, .end = text + n, .line = 1 };

	lex_next(&l);
	mk->top = parse_block(&l, 0);
	if (l.tok != TOK_EOF)
		mk_die(mk, l.line, "} without {");
}

void
mk_unused(const struct mk *mk, /* NOLINT(misc-no-recursion): as parsed */
          const struct mk_stmt *s)
{
	const struct mk_arg *a;
	unsigned int i;

	for (; s != NULL; s = s->next) {
		if (!s->used)
			mk_die(mk, s->line, "%s does not belong here", s->kw);
		for (i = 0; i < s->nargs; i++) {
			a = &s->args[i];
			if (!a->used)
				mk_die(mk, s->line, "%s: what is %s?", s->kw,
				       a->key.s ? a->key.s : a->val.s);
		}
		mk_unused(mk, s->kids);
	}
}

struct mk_word
mk_key(struct mk_stmt *s, const char *key)
{
	unsigned int i;

	s->used = true;
	for (i = 0; i < s->nargs; i++) {
		if (s->args[i].key.s == NULL ||
		    strcmp(s->args[i].key.s, key) != 0)
			continue;
		s->args[i].used = true;
		return s->args[i].val;
	}
	return (struct mk_word){ 0 };
}

struct mk_word
mk_pos(struct mk_stmt *s, unsigned int i)
{
	unsigned int k;

	s->used = true;
	for (k = 0; k < s->nargs; k++) {
		if (s->args[k].key.s != NULL || i-- != 0)
			continue;
		s->args[k].used = true;
		return s->args[k].val;
	}
	return (struct mk_word){ 0 };
}

unsigned int
mk_npos(const struct mk_stmt *s)
{
	unsigned int i, n = 0;

	for (i = 0; i < s->nargs; i++)
		n += s->args[i].key.s == NULL;
	return n;
}

struct mk_word
mk_need(const struct mk *mk, struct mk_stmt *s, unsigned int i)
{
	struct mk_word w = mk_pos(s, i);

	if (w.s == NULL)
		mk_die(mk, s->line, "%s: value %u is missing", s->kw, i + 1);
	return w;
}

struct mk_word
mk_needkey(const struct mk *mk, struct mk_stmt *s, const char *key)
{
	struct mk_word w = mk_key(s, key);

	if (w.s == NULL)
		mk_die(mk, s->line, "%s: %s= is missing", s->kw, key);
	return w;
}
