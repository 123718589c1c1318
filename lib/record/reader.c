/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/limits.h"

enum { READ_AT_ONCE = 1 << 20 };

static const uint8_t nothing[1];

ssize_t
dp_source_fd(void *ctx, void *p, size_t n, struct dp_err *e)
{
	const int *fd = ctx;
	ssize_t got;

	do {
		got = read(*fd, p, n);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		dp_err_errno(e, errno, "read");
	return got;
}

void
dp_reader_init(struct dp_reader *r, struct dp_source source)
{
	*r = (struct dp_reader){ .source = source };
}

void
dp_reader_deinit(struct dp_reader *r)
{
	dp_buf_deinit(&r->buf);
	dp_json_line_deinit(&r->line);
}

/* Move what is unread to the front, so that the buffer need not grow. */
static void
compact(struct dp_reader *r)
{
	if (r->start == 0)
		return;
	memmove(r->buf.p, r->buf.p + r->start, r->buf.n - r->start);
	r->pos += r->start;
	r->buf.n -= r->start;
	r->start = 0;
}

/* Read until `n` bytes are unread, or the end. */
static bool
fill(struct dp_reader *r, size_t n, struct dp_err *e)
{
	while (r->buf.n - r->start < n && !r->eof) {
		size_t want = n - (r->buf.n - r->start);
		ssize_t got;

		if (want < READ_AT_ONCE)
			want = READ_AT_ONCE;
		if (want > r->buf.cap - r->buf.n)
			compact(r);
		/* Ask for little at a time: a size field may lie. */
		if (want > READ_AT_ONCE)
			want = READ_AT_ONCE;
		if (!dp_buf_reserve(&r->buf, want))
			return dp_err_set(e, DP_ENOMEM, r->pos,
			                  "out of memory");
		got = r->source.read(r->source.ctx, r->buf.p + r->buf.n, want,
		                     e);
		if (got < 0)
			return false;
		if (got == 0)
			r->eof = true;
		r->buf.n += (size_t)got;
	}
	return true;
}

struct dp_bytes
dp_reader_peek(struct dp_reader *r, size_t n, struct dp_err *e)
{
	struct dp_bytes b = { NULL, 0 };

	if (!fill(r, n, e))
		return b;
	b.n = r->buf.n - r->start < n ? r->buf.n - r->start : n;
	b.p = b.n == 0 ? nothing : r->buf.p + r->start;
	return b;
}

void
dp_reader_skip(struct dp_reader *r, size_t n)
{
	r->start += n;
}

static enum dp_read
fail(struct dp_reader *r, struct dp_err *e, const char *what)
{
	dp_err_set(e, DP_EFORMAT, r->pos + r->start,
	           "%s; %" PRIu64 " whole objects before it", what,
	           r->all_objects);
	return DP_READ_FAIL;
}

/* Whole binary record, header included, at the front of the buffer. */
static enum dp_read
take_binary(struct dp_reader *r, struct dp_bytes *whole_ret, struct dp_err *e)
{
	struct dp_bytes head = dp_reader_peek(r, DP_RECORD_HEADER_SIZE, e);
	struct dp_rd rd = dp_rd_init(head, DP_LE);
	uint32_t size = dp_rd_u32(&rd);

	if (head.p == NULL)
		return DP_READ_FAIL;
	if (head.n < DP_RECORD_HEADER_SIZE)
		return fail(r, e, "stream cut in a record");
	if (size < DP_RECORD_HEADER_SIZE || size % 8 != 0)
		return fail(r, e, "no record here");
	if (size > DP_MAX_RECORD) {
		dp_err_set(e, DP_ELIMIT, r->pos + r->start,
		           "record of %" PRIu32 " bytes, limit %d", size,
		           DP_MAX_RECORD);
		return DP_READ_FAIL;
	}
	*whole_ret = dp_reader_peek(r, size, e);
	if (whole_ret->p == NULL)
		return DP_READ_FAIL;
	if (whole_ret->n < size)
		return fail(r, e, "stream cut in a record");
	return DP_READ_RECORD;
}

/* Whole line without its newline.  A line that lacks it was cut. */
static enum dp_read
take_line(struct dp_reader *r, struct dp_bytes *line_ret, struct dp_err *e)
{
	size_t looked = 0, want = 4096;

	for (;;) {
		struct dp_bytes b = dp_reader_peek(r, want, e);
		const uint8_t *nl;

		if (b.p == NULL)
			return DP_READ_FAIL;
		nl = memchr(b.p + looked, '\n', b.n - looked);
		if (nl != NULL) {
			*line_ret =
				(struct dp_bytes){ b.p, (size_t)(nl - b.p) };
			return DP_READ_RECORD;
		}
		if (b.n < want)
			return fail(r, e, "stream cut in a line");
		looked = b.n;
		if (want >= DP_MAX_JSON_LINE) {
			dp_err_set(e, DP_ELIMIT, r->pos + r->start,
			           "line longer than %d bytes",
			           DP_MAX_JSON_LINE);
			return DP_READ_FAIL;
		}
		want = want * 2 < DP_MAX_JSON_LINE ? want * 2
		                                   : DP_MAX_JSON_LINE;
	}
}

/* One record of either form, decoded and stepped over. */
static enum dp_read
take(struct dp_reader *r, struct dp_record *rec, struct dp_err *e)
{
	struct dp_bytes first = dp_reader_peek(r, 1, e);
	struct dp_bytes whole = { NULL, 0 };
	enum dp_read got;
	bool ok;

	if (first.p == NULL)
		return DP_READ_FAIL;
	if (first.n == 0)
		return DP_READ_EOF;
	r->rec_pos = r->pos + r->start;
	if (first.p[0] == '{') {
		got = take_line(r, &whole, e);
		if (got != DP_READ_RECORD)
			return got;
		dp_reader_skip(r, whole.n + 1);
		ok = dp_record_from_json(&r->line, whole, rec, e);
		r->json = true;
	} else {
		got = take_binary(r, &whole, e);
		if (got != DP_READ_RECORD)
			return got;
		dp_reader_skip(r, whole.n);
		ok = dp_record_decode(whole, rec, e);
		r->json = false;
	}
	if (ok)
		return DP_READ_RECORD;
	if (e->off != DP_NOOFF)
		e->off += r->rec_pos;
	r->records++;
	return e->code == DP_ENOMEM ? DP_READ_FAIL : DP_READ_BAD;
}

/*
 * Does object_end say what was read?  Asked of the binary form only: lines
 * may have been taken out by whoever stood between.
 */
static bool
object_end_ok(const struct dp_reader *r, const struct dp_rec_object_end *o)
{
	const uint32_t *c = r->counts;

	return o->segments == c[DP_REC_SEGMENT] &&
	       o->symbols == c[DP_REC_SYMBOL] &&
	       o->elfrels == c[DP_REC_ELFREL] &&
	       o->rawdofs == c[DP_REC_RAWDOF] &&
	       o->rawnotes == c[DP_REC_RAWNOTE] && o->dofs == c[DP_REC_DOF] &&
	       o->providers == c[DP_REC_PROVIDER] &&
	       o->probes == c[DP_REC_PROBE] && o->sites == c[DP_REC_SITE] &&
	       o->args == c[DP_REC_ARG] && o->relocs == c[DP_REC_RELOC] &&
	       o->helpers == c[DP_REC_HELPER] && o->errors == c[DP_REC_ERROR];
}

static enum dp_read
bad(const struct dp_reader *r, struct dp_err *e, const char *what)
{
	dp_err_set(e, DP_EFORMAT, r->rec_pos, "%s", what);
	return DP_READ_BAD;
}

static enum dp_read
begin_stream(struct dp_reader *r, const struct dp_rec_header *h,
             struct dp_err *e)
{
	if (r->in_stream)
		return fail(r, e, "new stream before the end of the last");
	if (h->magic != DP_STREAM_MAGIC)
		return fail(r, e, "not a record stream");
	if (h->v != DP_STREAM_FORMAT) {
		dp_err_set(e, DP_EUNSUP, r->rec_pos,
		           "stream format %" PRIu32 ", this reads %d", h->v,
		           DP_STREAM_FORMAT);
		return DP_READ_FAIL;
	}
	r->in_stream = true;
	r->orphan = false;
	r->streams++;
	r->stage = h->stage;
	r->objects = 0;
	r->records = 1;
	return DP_READ_RECORD;
}

/* The end of the object is missing: what is here instead comes again. */
static enum dp_read
no_object_end(struct dp_reader *r, struct dp_err *e)
{
	r->in_object = false;
	r->records--;
	r->start = (size_t)(r->rec_pos - r->pos);
	return bad(r, e, "object without its end");
}

/* Does a record of this type stand between objects? */
static bool
outside(uint16_t type)
{
	return type == DP_REC_HEADER || type == DP_REC_OBJECT ||
	       type == DP_REC_OBJECT_END || type == DP_REC_END ||
	       type == DP_REC_ERROR;
}

/* Is it one more of the records whose object was lost? */
static bool
orphan(const struct dp_reader *r, const struct dp_record *rec)
{
	return r->in_stream && !r->in_object && r->orphan &&
	       !outside(rec->type);
}

/* Order of records: header (object ... object_end)* end, again and again. */
static enum dp_read
track(struct dp_reader *r, const struct dp_record *rec, struct dp_err *e)
{
	if (rec->type == DP_REC_HEADER)
		return begin_stream(r, &rec->header, e);
	if (!r->in_stream)
		return fail(r, e, "record outside of a stream");
	r->records++;
	r->counts[rec->type]++;
	switch (rec->type) {
	case DP_REC_OBJECT:
		if (r->in_object)
			return no_object_end(r, e);
		memset(r->counts, 0, sizeof r->counts);
		r->in_object = true;
		r->orphan = false;
		break;
	case DP_REC_OBJECT_END:
		r->orphan = false;
		if (!r->in_object)
			return bad(r, e, "end of no object");
		r->in_object = false;
		if (!r->json && !object_end_ok(r, &rec->object_end))
			return bad(r, e, "object lost records");
		r->objects++;
		r->all_objects++;
		break;
	case DP_REC_END:
		if (r->in_object)
			return no_object_end(r, e);
		r->in_stream = false;
		if (!r->json && (rec->end.objects != r->objects ||
		                 rec->end.records != r->records))
			return bad(r, e, "stream lost objects or records");
		break;
	case DP_REC_ERROR:
		break;
	default:
		if (r->in_object)
			break;
		r->orphan = true;
		return bad(r, e, "record outside of an object");
	}
	return DP_READ_RECORD;
}

enum dp_read
dp_reader_next(struct dp_reader *r, struct dp_record *rec_ret, struct dp_err *e)
{
	struct dp_record rec;
	enum dp_read got;

	for (;;) {
		got = take(r, &rec, e);
		if (got == DP_READ_BAD && e->code == DP_EUNSUP) {
			*e = (struct dp_err)DP_ERR_INIT;
			r->unknown++;
			continue;
		}
		if (got != DP_READ_RECORD || !orphan(r, &rec))
			break;
		r->records++;
		r->unknown++;
	}
	if (got == DP_READ_EOF && r->in_stream)
		return fail(r, e, "stream cut");
	if (got == DP_READ_RECORD)
		got = track(r, &rec, e);
	if (got == DP_READ_RECORD)
		*rec_ret = rec;
	return got;
}
