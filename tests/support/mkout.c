/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory, messages and byte buffers of mkfix. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mk.h"

void
mk_die(const struct mk *mk, unsigned int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "mkfix: %s:%u: ", mk->path, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

void *
mk_alloc(struct mk *mk, size_t size)
{
	struct mk_chunk *c;

	if (size > MK_MAX_MEM - mk->used)
		mk_die(mk, 0, "more than %d bytes of memory", MK_MAX_MEM);
	c = calloc(1, sizeof(*c) + size);
	if (c == NULL)
		mk_die(mk, 0, "out of memory");
	mk->used += size;
	c->next = mk->chunks;
	mk->chunks = c;
	return c->data;
}

void
mk_free(struct mk *mk)
{
	struct mk_chunk *c = mk->chunks, *next;

	for (; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	mk->chunks = NULL;
	mk->used = 0;
}

/* Make room for n more bytes; the old array stays until the end. */
static uint8_t *
buf_room(struct mk_buf *b, size_t n)
{
	size_t cap = b->cap == 0 ? 64 : b->cap;
	uint8_t *p;

	if (n > MK_MAX_MEM)
		mk_die(b->mk, 0, "more than %d bytes of memory", MK_MAX_MEM);
	while (cap - b->n < n)
		cap *= 2;
	if (cap != b->cap) {
		p = mk_alloc(b->mk, cap);
		if (b->n != 0)
			memcpy(p, b->p, b->n);
		b->p = p;
		b->cap = cap;
	}
	return b->p + b->n;
}

void
mk_put(struct mk_buf *b, const void *p, size_t n)
{
	if (n != 0)
		memcpy(buf_room(b, n), p, n);
	b->n += n;
}

void
mk_fill(struct mk_buf *b, uint64_t n, uint8_t byte)
{
	if (n > MK_MAX_ZERO)
		mk_die(b->mk, 0, "more than %d bytes to fill", MK_MAX_ZERO);
	if (n != 0)
		memset(buf_room(b, (size_t)n), byte, (size_t)n);
	b->n += (size_t)n;
}

void
mk_align(struct mk_buf *b, uint64_t align)
{
	if (align > 1 && b->n % align != 0)
		mk_fill(b, align - b->n % align, 0);
}

void
mk_uint(struct mk_buf *b, bool msb, unsigned int size, uint64_t v)
{
	mk_fill(b, size, 0);
	mk_set(b, msb, b->n - size, size, v);
}

void
mk_set(struct mk_buf *b, bool msb, uint64_t at, unsigned int size, uint64_t v)
{
	unsigned int i, shift;

	if (size > 8 || at > b->n || size > b->n - at)
		mk_die(b->mk, 0, "no %u bytes at 0x%llx", size,
		       (unsigned long long)at);
	for (i = 0; i < size; i++) {
		shift = 8 * (msb ? size - 1 - i : i);
		b->p[at + i] = (uint8_t)(v >> shift);
	}
}

const char *
mk_fmt(struct mk *mk, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		mk_die(mk, 0, "a name that cannot be printed");
	p = mk_alloc(mk, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}
