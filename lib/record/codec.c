/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The binary form.  Each record gets a size function, an encoder and a
 * decoder out of schema/records.def, so that the compiler sees straight
 * code: records are written by the million.
 */
#include "record/codec.h"

#include "base/limits.h"

static void
put16(uint8_t **p, uint16_t v)
{
	v = htole16(v);
	memcpy(*p, &v, sizeof v);
	*p += sizeof v;
}

static void
put32(uint8_t **p, uint32_t v)
{
	v = htole32(v);
	memcpy(*p, &v, sizeof v);
	*p += sizeof v;
}

static void
put64(uint8_t **p, uint64_t v)
{
	v = htole64(v);
	memcpy(*p, &v, sizeof v);
	*p += sizeof v;
}

static void
put_bytes(uint8_t **p, struct dp_bytes b)
{
	put32(p, (uint32_t)b.n);
	if (b.n != 0)
		memcpy(*p, b.p, b.n);
	*p += b.n;
}

/*
 * Make room for a record of `size` bytes and write its header; NULL when
 * that is not to be had.  The padding is zeroed here.
 */
static uint8_t *
begin(struct dp_buf *b, size_t size, uint16_t type, struct dp_err *e)
{
	uint8_t *p;

	if (size > DP_MAX_RECORD) {
		dp_err_set(e, DP_ELIMIT, DP_NOOFF,
		           "%s record of %zu bytes, limit %d",
		           dp_record_name(type), size, DP_MAX_RECORD);
		return NULL;
	}
	if (!dp_buf_reserve(b, size)) {
		dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
		return NULL;
	}
	p = b->p + b->n;
	memset(p + size - 8, 0, 8); /* before the fields: they may reach it */
	b->n += size;
	put32(&p, (uint32_t)size);
	put16(&p, type);
	put16(&p, dp_record_version(type));
	return p;
}

#define RECORD(T, t, num, ver, stages, doc)                                    \
	size_t dp_size_##t(const struct dp_rec_##t *r)                         \
	{                                                                      \
		size_t n = sizeof(struct dp_wire_##t);                         \
		(void)r;
#define U8(t, f, doc)
#define U16(t, f, doc)
#define U32(t, f, doc)
#define N64(t, f, doc)
#define S64(t, f, doc)
#define X32(t, f, doc)
#define X64(t, f, doc)
#define BOOL(t, f, doc)
#define ENUM(t, f, list, doc)
#define STR(t, f, doc)   n += 4 + r->f.n;
#define BYTES(t, f, doc) n += 4 + r->f.n;
#define STRS(t, f, doc)  n += 8 + r->f.run.n;
#define U8S(t, f, doc)   n += 4 + r->f.n;
#define ENDRECORD(T, t)                                                        \
	return (n + 7) & ~(size_t)7;                                           \
	}
#include "records.def"

#include "record/undef.h"

#define RECORD(T, t, num, ver, stages, doc)                                    \
	bool dp_enc_##t(struct dp_buf *b, const struct dp_rec_##t *r,          \
	                struct dp_err *e)                                      \
	{                                                                      \
		uint8_t *p = begin(b, dp_size_##t(r), (num), e);               \
		if (p == NULL)                                                 \
			return false;
#define U8(t, f, doc)         *p++ = r->f;
#define U16(t, f, doc)        put16(&p, r->f);
#define U32(t, f, doc)        put32(&p, r->f);
#define N64(t, f, doc)        put64(&p, r->f);
#define S64(t, f, doc)        put64(&p, (uint64_t)r->f);
#define X32(t, f, doc)        put32(&p, r->f);
#define X64(t, f, doc)        put64(&p, r->f);
#define BOOL(t, f, doc)       *p++ = r->f ? 1 : 0;
#define ENUM(t, f, list, doc) *p++ = r->f;
#define STR(t, f, doc)        put_bytes(&p, r->f);
#define BYTES(t, f, doc)      put_bytes(&p, r->f);
#define STRS(t, f, doc)                                                        \
	put32(&p, r->f.n);                                                     \
	put_bytes(&p, r->f.run);
#define U8S(t, f, doc) put_bytes(&p, r->f);
#define ENDRECORD(T, t)                                                        \
	return true;                                                           \
	}
#include "records.def"

#include "record/undef.h"

bool
dp_record_encode(struct dp_buf *b, const struct dp_record *rec,
                 struct dp_err *e)
{
	switch (rec->type) {
#define RECORD(T, t, num, ver, stages, doc)                                    \
	case (num):                                                            \
		return dp_enc_##t(b, &rec->t, e);
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"
	default:
		return dp_err_set(e, DP_EUSAGE, DP_NOOFF, "no record type %u",
		                  rec->type);
	}
}

static struct dp_bytes
get_bytes(struct dp_rd *r)
{
	return dp_rd_take(r, dp_rd_u32(r));
}

static struct dp_bytes
get_str(struct dp_rd *r)
{
	struct dp_bytes s = get_bytes(r);

	if (s.n > DP_MAX_STR)
		r->bad = true;
	return s;
}

/* The count must be the number of NULs, and the last byte one of them. */
static struct dp_strs
get_strs(struct dp_rd *r)
{
	struct dp_strs s = { .n = dp_rd_u32(r), .run = get_bytes(r) };
	struct dp_bytes run = { NULL, 0 };

	if (r->bad || !dp_strs_at(s.run, 0, s.n, SIZE_MAX, &run) ||
	    run.n != s.run.n)
		r->bad = true;
	return s;
}

#define RECORD(T, t, num, ver, stages, doc)                                    \
	static void dec_##t(struct dp_rd *rd, struct dp_rec_##t *r)            \
	{
#define U8(t, f, doc)         r->f = dp_rd_u8(rd);
#define U16(t, f, doc)        r->f = dp_rd_u16(rd);
#define U32(t, f, doc)        r->f = dp_rd_u32(rd);
#define N64(t, f, doc)        r->f = dp_rd_u64(rd);
#define S64(t, f, doc)        r->f = (int64_t)dp_rd_u64(rd);
#define X32(t, f, doc)        r->f = dp_rd_u32(rd);
#define X64(t, f, doc)        r->f = dp_rd_u64(rd);
#define BOOL(t, f, doc)       r->f = dp_rd_u8(rd) != 0;
#define ENUM(t, f, list, doc) r->f = dp_rd_u8(rd);
#define STR(t, f, doc)        r->f = get_str(rd);
#define BYTES(t, f, doc)      r->f = get_bytes(rd);
#define STRS(t, f, doc)       r->f = get_strs(rd);
#define U8S(t, f, doc)        r->f = get_bytes(rd);
#define ENDRECORD(T, t)       }
#include "records.def"

#include "record/undef.h"

bool
dp_record_decode(struct dp_bytes whole, struct dp_record *rec_ret,
                 struct dp_err *e)
{
	struct dp_rd rd = dp_rd_init(whole, DP_LE);
	struct dp_record rec;
	uint32_t size = dp_rd_u32(&rd);

	rec.type = dp_rd_u16(&rd);
	rec.version = dp_rd_u16(&rd);
	if (!dp_rd_ok(&rd) || size != whole.n)
		return dp_err_set(e, DP_EFORMAT, 0, "record cut");
	if (dp_record_name(rec.type) == NULL)
		return dp_err_set(e, DP_EUNSUP, 4, "record type %u", rec.type);
	if (rec.version != dp_record_version(rec.type))
		return dp_err_set(e, DP_EUNSUP, 6, "%s record of version %u",
		                  dp_record_name(rec.type), rec.version);
	switch (rec.type) {
#define RECORD(T, t, num, ver, stages, doc)                                    \
	case (num):                                                            \
		dec_##t(&rd, &rec.t);                                          \
		break;
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"
	}
	if (!dp_rd_ok(&rd))
		return dp_err_set(e, DP_EFORMAT, rd.pos,
		                  "%s record has a field that does not fit",
		                  dp_record_name(rec.type));
	*rec_ret = rec;
	return true;
}
