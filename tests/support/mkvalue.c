/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers, names of constants, and hexadecimal bytes in a fixture's text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mk.h"

static uint64_t
plain_number(const struct mk_ctx *c, const struct mk_stmt *s, const char *text)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno != 0 || end == text || *end != '\0' || text[0] < '0' ||
	    text[0] > '9')
		mk_die(c->mk, s->line, "%s: %s is no number", s->kw, text);
	return v;
}

/* One term of a sum, of n characters. */
static uint64_t
term(const struct mk_ctx *c, const struct mk_stmt *s, const char *p, size_t n)
{
	char text[128];

	if (n == 0 || n >= sizeof(text))
		mk_die(c->mk, s->line, "%s: number expected", s->kw);
	memcpy(text, p, n);
	text[n] = '\0';
	if (strchr("@%&", text[0]) != NULL)
		return mk_elf_lookup(
			c, s, text[0],
			(struct mk_word){ text + 1, n - 1, false });
	return plain_number(c, s, text);
}

uint64_t
mk_value(const struct mk_ctx *c, const struct mk_stmt *s, struct mk_word w)
{
	const char *p = w.s;
	uint64_t sum = 0, v;
	unsigned int i;
	bool minus;
	size_t n;

	for (i = 0; i == 0 || *p != '\0'; i++) {
		minus = *p == '-';
		if (*p == '-' || *p == '+')
			p++;
		n = strcspn(p, "+-");
		v = term(c, s, p, n);
		sum += minus ? -v : v;
		p += n;
		if (i == MK_MAX_CHAIN)
			mk_die(c->mk, s->line, "%s: number of too many terms",
			       s->kw);
	}
	return sum;
}

uint64_t
mk_num(const struct mk_ctx *c, struct mk_stmt *s, const char *key, uint64_t def)
{
	struct mk_word w = mk_key(s, key);

	return w.s == NULL ? def : mk_value(c, s, w);
}

uint64_t
mk_named(const struct mk_ctx *c, const struct mk_stmt *s, struct mk_word w,
         const struct mk_const *t)
{
	for (; t->name != NULL; t++)
		if (strcmp(t->name, w.s) == 0)
			return t->value;
	return mk_value(c, s, w);
}

uint64_t
mk_numname(const struct mk_ctx *c, struct mk_stmt *s, const char *key,
           const struct mk_const *t)
{
	struct mk_word w = mk_key(s, key);

	return w.s == NULL ? t->value : mk_named(c, s, w, t);
}

bool
mk_symbolic(const struct mk_ctx *c, struct mk_word w)
{
	return c->fixes != NULL && w.s != NULL && strchr(w.s, '&') != NULL;
}

void
mk_puthex(const struct mk_ctx *c, const struct mk_stmt *s, struct mk_word w,
          struct mk_buf *b)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	unsigned int v = 0, nibbles = 0;
	const char *d;
	size_t i;

	for (i = 0; i < w.n; i++) {
		if (w.s[i] == ' ')
			continue;
		d = w.s[i] == '\0' ? NULL : strchr(digits, w.s[i]);
		if (d == NULL)
			mk_die(c->mk, s->line, "%s: no hexadecimal digit",
			       s->kw);
		v = v << 4 | ((unsigned int)(d - digits) & 15);
		if (++nibbles % 2 == 0)
			mk_put(b, &(uint8_t){ (uint8_t)v }, 1);
	}
	if (nibbles % 2 != 0)
		mk_die(c->mk, s->line, "%s: half a byte", s->kw);
}
