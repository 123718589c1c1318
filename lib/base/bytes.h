/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Borrowed bytes, and the reader that everything untrusted goes through.
 *
 * A read past the end gives zeros, moves nothing and marks the reader bad;
 * the mark stays.  So read a whole record and ask dp_rd_ok() once, before
 * any value of it is used as a size, count, index, offset or branch.
 */
#ifndef DP_BYTES_H
#define DP_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum dp_order { DP_LE, DP_BE };

/* A run of bytes that somebody else owns; p may be NULL when n is 0. */
struct dp_bytes {
	const uint8_t *p;
	size_t n;
};

struct dp_rd {
	struct dp_bytes in;
	size_t pos; /* <= in.n; once bad, where the failed read began */
	enum dp_order order;
	bool bad;
};

/* The bytes of a C string without its NUL. */
static inline struct dp_bytes
dp_cstr(const char *s)
{
	return (struct dp_bytes){ (const uint8_t *)s, strlen(s) };
}

static inline bool
dp_bytes_eq(struct dp_bytes a, struct dp_bytes b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool
dp_bytes_is(struct dp_bytes a, const char *s)
{
	return dp_bytes_eq(a, dp_cstr(s));
}

/* Order as strcmp has it, embedded NULs included: <0, 0, >0. */
static inline int
dp_bytes_cmp(struct dp_bytes a, struct dp_bytes b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n == 0 ? 0 : memcmp(a.p, b.p, n);

	return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

static inline struct dp_rd
dp_rd_init(struct dp_bytes in, enum dp_order order)
{
	return (struct dp_rd){ .in = in, .order = order };
}

static inline bool
dp_rd_ok(const struct dp_rd *r)
{
	return !r->bad;
}

static inline size_t
dp_rd_left(const struct dp_rd *r)
{
	return r->in.n - r->pos;
}

/* Go to `off`; past the end the reader goes bad. */
static inline void
dp_rd_seek(struct dp_rd *r, uint64_t off)
{
	if (r->bad || off > r->in.n)
		r->bad = true;
	else
		r->pos = (size_t)off;
}

/* Borrow the next `n` bytes; empty on failure. */
static inline struct dp_bytes
dp_rd_take(struct dp_rd *r, uint64_t n)
{
	struct dp_bytes b = { NULL, 0 };

	if (r->bad || n > r->in.n - r->pos) {
		r->bad = true;
		return b;
	}
	if (n == 0)
		return b;
	b.p = r->in.p + r->pos;
	b.n = (size_t)n;
	r->pos += (size_t)n;
	return b;
}

static inline uint8_t
dp_rd_u8(struct dp_rd *r)
{
	struct dp_bytes b = dp_rd_take(r, 1);

	return b.n == 0 ? 0 : b.p[0];
}

static inline uint16_t
dp_rd_u16(struct dp_rd *r)
{
	struct dp_bytes b = dp_rd_take(r, 2);
	uint16_t v = 0;

	if (b.n != 0)
		memcpy(&v, b.p, sizeof v);
	return r->order == DP_LE ? le16toh(v) : be16toh(v);
}

static inline uint32_t
dp_rd_u32(struct dp_rd *r)
{
	struct dp_bytes b = dp_rd_take(r, 4);
	uint32_t v = 0;

	if (b.n != 0)
		memcpy(&v, b.p, sizeof v);
	return r->order == DP_LE ? le32toh(v) : be32toh(v);
}

static inline uint64_t
dp_rd_u64(struct dp_rd *r)
{
	struct dp_bytes b = dp_rd_take(r, 8);
	uint64_t v = 0;

	if (b.n != 0)
		memcpy(&v, b.p, sizeof v);
	return r->order == DP_LE ? le64toh(v) : be64toh(v);
}

/* A word of 4 or 8 bytes: what the class of an object calls an address. */
static inline uint64_t
dp_rd_word(struct dp_rd *r, unsigned width)
{
	return width == 4 ? dp_rd_u32(r) : dp_rd_u64(r);
}

/*
 * Borrow a string that ends in NUL, without the NUL, and step over both.
 * No NUL before the end: bad.
 */
struct dp_bytes dp_rd_str(struct dp_rd *r);

/*
 * The string at `off` of the table `tab`, without its NUL.  False when it
 * starts or ends outside; *s_ret is untouched then.
 */
bool dp_str_at(struct dp_bytes tab, uint64_t off, struct dp_bytes *s_ret);

/*
 * The run of `n` strings, each with its NUL, that starts at `off` of `tab`;
 * *run_ret holds the NULs too.  False when it leaves the table or when one
 * string is longer than `max`.
 */
bool dp_strs_at(struct dp_bytes tab, uint64_t off, uint32_t n, size_t max,
                struct dp_bytes *run_ret);

#endif /* DP_BYTES_H */
