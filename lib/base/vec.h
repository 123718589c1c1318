/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one way in which arrays grow.  dp_vec holds elements of one size,
 * dp_buf is a vec of bytes for building output.  Both own their memory;
 * a zeroed one is empty and valid; deinit leaves it so.
 */
#ifndef DP_VEC_H
#define DP_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bytes.h"

struct dp_vec {
	void *p;    /* owned */
	size_t n;   /* elements in use */
	size_t cap; /* elements allocated */
};

/*
 * Room for `more` elements of `size` bytes behind the n in use.  False
 * when memory is out or the product wraps; the vec is unchanged then.
 */
bool dp_vec_reserve(struct dp_vec *v, size_t more, size_t size);

/* Append a zeroed element and return it, or NULL when memory is out. */
void *dp_vec_push(struct dp_vec *v, size_t size);
void dp_vec_deinit(struct dp_vec *v);

/* Element i of a vec of `type`; i must be < n. */
#define DP_VEC_AT(v, type, i) (((type *)(v)->p) + (i))

struct dp_buf {
	uint8_t *p; /* owned */
	size_t n;
	size_t cap;
};

/* Room for `more` bytes behind the n in use; false when memory is out. */
bool dp_buf_reserve(struct dp_buf *b, size_t more);
bool dp_buf_add(struct dp_buf *b, const void *p, size_t n);
bool dp_buf_str(struct dp_buf *b, const char *s);
bool dp_buf_printf(struct dp_buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void dp_buf_deinit(struct dp_buf *b);

static inline struct dp_bytes
dp_buf_bytes(const struct dp_buf *b)
{
	return (struct dp_bytes){ b->p, b->n };
}

/* Bytes [off, off + n) of what is in use; of an empty part no pointer. */
static inline struct dp_bytes
dp_buf_part(const struct dp_buf *b, size_t off, size_t n)
{
	struct dp_bytes part = { NULL, 0 };

	if (n != 0) {
		part.p = b->p + off;
		part.n = n;
	}
	return part;
}

#endif /* DP_VEC_H */
