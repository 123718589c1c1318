/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The small steps of reading operand text: each takes what it wants from the
 * front of `s` and leaves the rest.  Private to argspec.c and operand.c.
 */
#ifndef DP_ARGLEX_H
#define DP_ARGLEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

static inline void
dp_lex_step(struct dp_bytes *s, size_t n)
{
	if (n > 0) {
		s->p += n;
		s->n -= n;
	}
}

static inline bool
dp_lex_eat(struct dp_bytes *s, char c)
{
	if (s->n == 0 || s->p[0] != (uint8_t)c)
		return false;
	dp_lex_step(s, 1);
	return true;
}

static inline void
dp_lex_spaces(struct dp_bytes *s)
{
	while (dp_lex_eat(s, ' '))
		;
}

static inline bool
dp_lex_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static inline bool
dp_lex_alnum(uint8_t c)
{
	return dp_lex_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* Characters of symbols; compilers pass UTF-8 through. */
static inline bool
dp_lex_name(uint8_t c)
{
	return dp_lex_alnum(c) || c == '_' || c == '.' || c == '$' || c >= 0x80;
}

static inline bool
dp_lex_at_number(struct dp_bytes s)
{
	return s.n > 0 &&
	       (dp_lex_digit(s.p[0]) || s.p[0] == '-' || s.p[0] == '+');
}

static inline struct dp_bytes
dp_lex_while(struct dp_bytes *s, bool (*is)(uint8_t c))
{
	struct dp_bytes run = { s->p, 0 };

	while (run.n < s->n && is(s->p[run.n]))
		run.n++;
	dp_lex_step(s, run.n);
	return run;
}

static inline unsigned
dp_lex_digit_value(uint8_t c)
{
	if (dp_lex_digit(c))
		return (unsigned)c - '0';
	return dp_lex_alnum(c) ? (unsigned)(c | 32) - 'a' + 10 : 99;
}

/* Digits, decimal or 0x; *v_ret is the 64-bit pattern, negated if `neg`. */
static inline const char *
dp_lex_number(struct dp_bytes *s, bool neg, int64_t *v_ret)
{
	bool hex = s->n > 1 && s->p[0] == '0' && (s->p[1] | 32) == 'x';
	unsigned base = hex ? 16 : 10;
	bool wide = false;
	size_t n = 0;
	uint64_t v = 0;

	dp_lex_step(s, hex ? 2 : 0);
	for (; n < s->n && dp_lex_digit_value(s->p[n]) < base; n++) {
		wide |= __builtin_mul_overflow(v, base, &v);
		wide |= __builtin_add_overflow(v, dp_lex_digit_value(s->p[n]),
		                               &v);
	}
	dp_lex_step(s, n);
	if (n == 0)
		return "not a number";
	if (wide || (neg && v > (uint64_t)INT64_MAX + 1))
		return "number past 64 bits";
	*v_ret = (int64_t)(neg ? 0 - v : v);
	return NULL;
}

#endif /* DP_ARGLEX_H */
