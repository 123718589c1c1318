/* SPDX-License-Identifier: BSD-2-Clause */
#include "vec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool
dp_vec_reserve(struct dp_vec *v, size_t more, size_t size)
{
	size_t cap = v->cap != 0 ? v->cap : 8;
	size_t want, bytes;
	void *p;

	if (__builtin_add_overflow(v->n, more, &want))
		return false;
	if (want <= v->cap)
		return true;
	while (cap < want)
		if (__builtin_mul_overflow(cap, 2, &cap))
			return false;
	if (__builtin_mul_overflow(cap, size, &bytes))
		return false;
	p = realloc(v->p, bytes);
	if (p == NULL)
		return false;
	v->p = p;
	v->cap = cap;
	return true;
}

void *
dp_vec_push(struct dp_vec *v, size_t size)
{
	uint8_t *p;

	if (!dp_vec_reserve(v, 1, size))
		return NULL;
	p = (uint8_t *)v->p + v->n++ * size;
	memset(p, 0, size);
	return p;
}

void
dp_vec_deinit(struct dp_vec *v)
{
	free(v->p);
	*v = (struct dp_vec){ 0 };
}

bool
dp_buf_reserve(struct dp_buf *b, size_t more)
{
	struct dp_vec v = { b->p, b->n, b->cap };

	if (more <= b->cap - b->n)
		return true;
	if (!dp_vec_reserve(&v, more, 1))
		return false;
	b->p = v.p;
	b->cap = v.cap;
	return true;
}

bool
dp_buf_add(struct dp_buf *b, const void *p, size_t n)
{
	if (!dp_buf_reserve(b, n))
		return false;
	if (n != 0)
		memcpy(b->p + b->n, p, n);
	b->n += n;
	return true;
}

bool
dp_buf_str(struct dp_buf *b, const char *s)
{
	return dp_buf_add(b, s, strlen(s));
}

bool
dp_buf_printf(struct dp_buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !dp_buf_reserve(b, (size_t)n + 1))
		return false;
	va_start(ap, fmt);
	(void)vsnprintf((char *)b->p + b->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->n += (size_t)n;
	return true;
}

void
dp_buf_deinit(struct dp_buf *b)
{
	free(b->p);
	*b = (struct dp_buf){ 0 };
}
