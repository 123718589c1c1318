/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader and the writer of record streams: order, counts, cuts, sizes. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include "base/limits.h"
#include "streams.h"

/* A stream in memory and the writer that makes it. */
struct made {
	struct dp_buf bytes;
	struct dp_writer w;
};

static void
begin(struct made *m, bool json)
{
	struct dp_err e = DP_ERR_INIT;

	memset(&m->w, 0, sizeof m->w);
	dp_writer_init(&m->w, (struct dp_sink){ buf_sink, &m->bytes }, json);
	ck_ok(dp_put_stream_header(&m->w, DPR_STAGE_EXTRACT, "test", &e), e);
}

#define ADD(m, t, ...)                                                         \
	do {                                                                   \
		struct dp_rec_##t r_ = { __VA_ARGS__ };                        \
		struct dp_err e_ = DP_ERR_INIT;                                \
                                                                               \
		ck_ok(dp_put_##t(&(m)->w, &r_, &e_), e_);                      \
	} while (0)

static void
flush(struct made *m)
{
	struct dp_err e = DP_ERR_INIT;

	ck_ok(dp_writer_flush(&m->w, &e), e);
}

static void
finish(struct made *m)
{
	ADD(m, end, .objects = 99);
	flush(m);
	dp_writer_deinit(&m->w);
}

/* Two objects with something of most kinds in them; errors around. */
static void
two_objects(struct made *m, bool json)
{
	begin(m, json);
	ADD(m, error, .input = LIT("\xff"), .message = LIT("first"));
	ADD(m, object, .path = LIT("/a"), .size = 1);
	ADD(m, segment, .vaddr = 0x1000, .p_type = 1);
	ADD(m, symbol, .name = LIT("f\0g"));
	ADD(m, elfrel, .addend = -1);
	ADD(m, rawdof, .bytes = LIT("\177DOF\0\xff"));
	ADD(m, rawnote, .desc = LIT("{\n}"));
	ADD(m, helper, .pid = 7, .module = LIT("a"));
	ADD(m, error, .message = LIT("inside"));
	ADD(m, object_end, .symbols = 77);
	ADD(m, error, .message = LIT("between"));
	ADD(m, object, .path = LIT("/b"), .ino = UINT64_MAX);
	ADD(m, object_end, .sites = 77);
	finish(m);
}

struct tally {
	uint64_t records, bad;
	enum dp_read last;
	struct dp_err e; /* of the last BAD or FAIL */
	struct dp_reader r;
	struct dp_buf seen; /* all records, in binary, one behind the other */
};

static void
read_all(struct dp_bytes in, size_t step, struct tally *t)
{
	struct mem_source m = { .in = in, .step = step };
	struct dp_err enc = DP_ERR_INIT;
	struct dp_record rec;

	memset(t, 0, sizeof *t);
	dp_reader_init(&t->r, (struct dp_source){ mem_read, &m });
	do {
		t->e = (struct dp_err)DP_ERR_INIT;
		t->last = dp_reader_next(&t->r, &rec, &t->e);
		t->bad += t->last == DP_READ_BAD;
		if (t->last == DP_READ_RECORD) {
			t->records++;
			ck_ok(dp_record_encode(&t->seen, &rec, &enc), enc);
		} else if (t->last != DP_READ_EOF) {
			ck_assert_int_ne(t->e.code, DP_OK);
			ck_assert_uint_ne(t->e.msg[0], '\0');
		}
	} while (t->last == DP_READ_RECORD || t->last == DP_READ_BAD);
	if (t->last == DP_READ_EOF)
		ck_assert_int_eq(t->e.code, DP_OK);
}

static void
tally_free(struct tally *t)
{
	dp_reader_deinit(&t->r);
	dp_buf_deinit(&t->seen);
}

static void
made_free(struct made *m)
{
	dp_buf_deinit(&m->bytes);
}

START_TEST(both_forms_mixed)
{
	static const size_t steps[] = { 1, 7, 4096, 0 };
	struct made bin = { 0 }, json = { 0 };
	struct dp_buf all = { 0 };
	struct tally one, t;

	two_objects(&bin, false);
	two_objects(&json, true);
	read_all(dp_buf_bytes(&bin.bytes), 0, &one);
	ck_assert_uint_eq(one.records, 15);
	ck_assert(
		dp_bytes_eq(dp_buf_bytes(&one.seen), dp_buf_bytes(&bin.bytes)));
	for (int i = 0; i < 4; i++) {
		const struct made *m = i % 2 ? &json : &bin;

		ck_assert(dp_buf_add(&all, m->bytes.p, m->bytes.n));
	}
	for (size_t i = 0; i < LEN(steps); i++) {
		read_all(dp_buf_bytes(&all), steps[i], &t);
		ck_assert_int_eq(t.last, DP_READ_EOF);
		ck_assert_uint_eq(t.bad, 0);
		ck_assert_uint_eq(t.records, 4 * 15);
		ck_assert_uint_eq(t.r.streams, 4);
		ck_assert_uint_eq(t.r.all_objects, 8);
		ck_assert_uint_eq(t.r.objects, 2);
		ck_assert_uint_eq(t.r.records, 15);
		ck_assert_uint_eq(t.seen.n, 4 * one.seen.n);
		for (size_t k = 0; k < 4; k++)
			ck_assert_mem_eq(t.seen.p + k * one.seen.n, one.seen.p,
			                 one.seen.n);
		tally_free(&t);
	}
	tally_free(&one);
	dp_buf_deinit(&all);
	made_free(&bin);
	made_free(&json);
}
END_TEST

/* Where records and lines end. */
static bool
is_boundary(struct dp_bytes in, size_t at, bool json)
{
	size_t pos = 0;

	if (json)
		return at == 0 || in.p[at - 1] == '\n';
	while (pos < at) {
		uint32_t size;

		memcpy(&size, in.p + pos, 4);
		pos += le32toh(size);
	}
	return pos == at;
}

static void
every_cut(bool json)
{
	struct made m = { 0 };
	struct tally t;
	struct dp_bytes in;

	two_objects(&m, json);
	in = dp_buf_bytes(&m.bytes);
	for (size_t n = 0; n < in.n; n++) {
		struct dp_bytes cut = exact_copy((struct dp_bytes){ in.p, n });
		char want[80];

		read_all(cut, 13, &t);
		ck_assert_int_eq(t.last, n == 0 ? DP_READ_EOF : DP_READ_FAIL);
		ck_assert_uint_eq(t.bad, 0);
		snprintf(want, sizeof want, "%d whole objects",
		         (int)t.r.all_objects);
		if (n != 0) {
			ck_assert_int_eq(t.e.code, DP_EFORMAT);
			ck_assert_msg(strstr(t.e.msg, want) != NULL, "%s",
			              t.e.msg);
			ck_assert_msg(strstr(t.e.msg, "cut") != NULL, "%s",
			              t.e.msg);
		}
		/* what was whole came out, and nothing else */
		ck_assert_int_eq(is_boundary(in, n, json),
		                 t.r.start == t.r.buf.n);
		tally_free(&t);
		free((void *)(uintptr_t)cut.p);
	}
	made_free(&m);
}

START_TEST(cuts)
{
	every_cut(false);
	every_cut(true);
}
END_TEST

/* Objects that were whole at each cut, counted by another way. */
START_TEST(cut_counts)
{
	struct made m = { 0 };
	size_t ends[3] = { 0 };
	struct tally t;

	begin(&m, false);
	for (int i = 0; i < 3; i++) {
		ADD(&m, object, .path = LIT("x"));
		ADD(&m, object_end, .args = 0);
		flush(&m);
		ends[i] = m.bytes.n;
	}
	finish(&m);
	for (size_t n = 1; n < m.bytes.n; n++) {
		uint64_t want =
			(n >= ends[0]) + (n >= ends[1]) + (n >= ends[2]);

		read_all((struct dp_bytes){ m.bytes.p, n }, 0, &t);
		ck_assert_int_eq(t.last, DP_READ_FAIL);
		ck_assert_uint_eq(t.r.all_objects, want);
		tally_free(&t);
	}
	made_free(&m);
}
END_TEST

START_TEST(unknown_passed_over)
{
	static const uint8_t later[32] = { 16, 0, 0, 0, 63,  0, 1, 0,
		                           0,  0, 0, 0, 0,   0, 0, 0,
		                           16, 0, 0, 0, 35,  0, 2, 0,
		                           0,  0, 0, 0, 255, 0, 0, 0 };
	static const uint8_t top[8] = { 8, 0, 0, 0, 0xff, 0xff, 0, 0 };
	struct made m = { 0 };
	struct tally t;

	ck_assert(dp_buf_add(&m.bytes, top, sizeof top)); /* before a header */
	begin(&m, false);
	flush(&m);
	ck_assert(dp_buf_add(&m.bytes, later, sizeof later));
	ADD(&m, object, .path = LIT("/a"));
	flush(&m);
	ck_assert(dp_buf_add(&m.bytes, later, sizeof later));
	ck_assert(dp_buf_str(&m.bytes, "{\"type\":\"quark\",\"spin\":1}\n"));
	ADD(&m, object_end, .args = 0);
	m.w.records += 5; /* who wrote the unknown ones has counted them */
	finish(&m);
	read_all(dp_buf_bytes(&m.bytes), 1, &t);
	ck_assert_msg(t.last == DP_READ_EOF && t.bad == 0, "%s", t.e.msg);
	ck_assert_uint_eq(t.records, 4);
	ck_assert_uint_eq(t.r.unknown, 6);
	ck_assert_uint_eq(t.r.all_objects, 1);
	tally_free(&t);
	made_free(&m);
}
END_TEST

/* What may not stand where, and what comes of it. */
enum piece { END_OF_ROW, HEAD, OBJ, SEG, OBJEND, LAST, ERR, HELP };

static const struct {
	enum piece p[8];
	uint64_t bad, records;
	enum dp_read last;
} orders[] = {
	{ { END_OF_ROW }, 0, 0, DP_READ_EOF },
	{ { HEAD, LAST }, 0, 2, DP_READ_EOF },
	{ { HEAD, LAST, HEAD, OBJ, OBJEND, LAST }, 0, 6, DP_READ_EOF },
	{ { HEAD, ERR, LAST }, 0, 3, DP_READ_EOF },
	{ { HEAD, SEG, LAST }, 1, 2, DP_READ_EOF },
	{ { HEAD, HELP, OBJ, OBJEND, SEG, LAST }, 2, 4, DP_READ_EOF },
	/* the end of an object, or its beginning, is missing */
	{ { HEAD, OBJ, OBJ }, 1, 3, DP_READ_FAIL },
	{ { HEAD, OBJ, SEG, OBJ, OBJEND, LAST }, 1, 6, DP_READ_EOF },
	{ { HEAD, OBJ, LAST }, 1, 3, DP_READ_EOF },
	{ { HEAD, OBJ, LAST, HEAD, OBJ, OBJEND, LAST }, 1, 7, DP_READ_EOF },
	{ { HEAD, SEG, SEG, SEG, OBJ, OBJEND, LAST }, 1, 4, DP_READ_EOF },
	{ { HEAD, SEG, SEG, OBJEND, SEG, SEG }, 3, 1, DP_READ_FAIL },
	{ { HEAD, OBJ, HEAD }, 0, 2, DP_READ_FAIL },
	{ { HEAD, HEAD }, 0, 1, DP_READ_FAIL },
	{ { HEAD, OBJEND }, 1, 1, DP_READ_FAIL },
	{ { HEAD, OBJEND, OBJ, OBJEND }, 1, 3, DP_READ_FAIL },
	{ { HEAD }, 0, 1, DP_READ_FAIL },
	{ { OBJ }, 0, 0, DP_READ_FAIL },
	{ { LAST }, 0, 0, DP_READ_FAIL },
	{ { ERR }, 0, 0, DP_READ_FAIL },
	{ { HEAD, LAST, SEG }, 0, 2, DP_READ_FAIL },
	{ { HEAD, LAST, LAST }, 0, 2, DP_READ_FAIL },
};

static void
add_piece(struct made *m, enum piece p, bool json)
{
	switch (p) {
	case HEAD:
		begin(m, json);
		break;
	case OBJ:
		ADD(m, object, .path = LIT("/"));
		break;
	case SEG:
		ADD(m, segment, .p_type = 1);
		break;
	case OBJEND:
		ADD(m, object_end, .args = 0);
		break;
	case LAST:
		ADD(m, end, .objects = 0);
		break;
	case ERR:
		ADD(m, error, .code = 3);
		break;
	case HELP:
		ADD(m, helper, .pid = 3);
		break;
	default:
		break;
	}
}

START_TEST(order_of_records)
{
	for (int json = 0; json < 2; json++) {
		struct made m = { 0 };
		struct tally t;

		dp_writer_init(&m.w, (struct dp_sink){ buf_sink, &m.bytes },
		               json);
		for (int i = 0; i < 8; i++) {
			add_piece(&m, orders[_i].p[i], json);
			flush(&m);
			if (orders[_i].p[i + 1 < 8 ? i + 1 : i] == HEAD)
				dp_writer_deinit(&m.w);
		}
		read_all(dp_buf_bytes(&m.bytes), 0, &t);
		ck_assert_int_eq(t.last, orders[_i].last);
		ck_assert_uint_eq(t.bad, orders[_i].bad);
		ck_assert_uint_eq(t.records, orders[_i].records);
		tally_free(&t);
		dp_writer_deinit(&m.w);
		made_free(&m);
	}
}
END_TEST

static void
encode(struct dp_buf *b, const struct dp_record *rec)
{
	struct dp_err e = DP_ERR_INIT;

	ck_ok(dp_record_encode(b, rec, &e), e);
}

START_TEST(headers)
{
	static const struct {
		uint64_t magic;
		uint32_t v;
		enum dp_code code;
	} rows[] = {
		{ DP_STREAM_MAGIC, DP_STREAM_FORMAT, DP_OK },
		{ DP_STREAM_MAGIC, DP_STREAM_FORMAT + 1, DP_EUNSUP },
		{ DP_STREAM_MAGIC, 0, DP_EUNSUP },
		{ DP_STREAM_MAGIC + 1, DP_STREAM_FORMAT, DP_EFORMAT },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct dp_buf b = { 0 };
		struct tally t;

		encode(&b,
		       &(struct dp_record){ .type = DP_REC_HEADER,
		                            .header = { .magic = rows[i].magic,
		                                        .v = rows[i].v,
		                                        .stage = 1 } });
		encode(&b, &(struct dp_record){ .type = DP_REC_END,
		                                .end = { 0, 2 } });
		read_all(dp_buf_bytes(&b), 0, &t);
		ck_assert_int_eq(t.e.code, rows[i].code);
		ck_assert_int_eq(t.last, rows[i].code == DP_OK ? DP_READ_EOF
		                                               : DP_READ_FAIL);
		tally_free(&t);
		dp_buf_deinit(&b);
	}
}
END_TEST

/* An object_end with one count that is wrong by one, then `end`. */
static void
wrong_count(int which, const struct dp_rec_end *end, struct tally *t)
{
	struct made m = { 0 };
	struct dp_record fake = { .type = DP_REC_OBJECT_END };
	uint32_t counts[13] = { 0 };

	begin(&m, false);
	ADD(&m, object, .path = LIT("/a"));
	flush(&m);
	if (which >= 0)
		counts[which] = 1;
	ck_assert_uint_eq(sizeof counts, sizeof fake.object_end);
	memcpy(&fake.object_end, counts, sizeof counts);
	encode(&m.bytes, &fake);
	encode(&m.bytes,
	       &(struct dp_record){ .type = DP_REC_END, .end = *end });
	read_all(dp_buf_bytes(&m.bytes), 0, t);
	dp_writer_deinit(&m.w);
	made_free(&m);
}

START_TEST(object_end_counts)
{
	struct tally t;

	wrong_count(_i, &(struct dp_rec_end){ 0, 4 }, &t);
	ck_assert_uint_eq(t.bad, 1);
	ck_assert_uint_eq(t.records, 3); /* the object_end is not given */
	ck_assert_uint_eq(t.r.all_objects, 0);
	ck_assert(!t.r.in_object);
	ck_assert_int_eq(t.last, DP_READ_EOF);
	tally_free(&t);
}
END_TEST

START_TEST(end_counts)
{
	static const struct {
		struct dp_rec_end end;
		uint64_t bad;
	} rows[] = {
		{ { 1, 4 }, 0 },          { { 0, 4 }, 1 },
		{ { 2, 4 }, 1 },          { { 1, 3 }, 1 },
		{ { 1, 5 }, 1 },          { { 1, 0 }, 1 },
		{ { 1, UINT64_MAX }, 1 }, { { UINT64_MAX, 4 }, 1 },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct tally t;

		wrong_count(-1, &rows[i].end, &t);
		ck_assert_msg(t.bad == rows[i].bad, "row %zu: %u bad", i,
		              (unsigned)t.bad);
		ck_assert_int_eq(t.last, DP_READ_EOF);
		ck_assert_uint_eq(t.records, 4 - rows[i].bad);
		tally_free(&t);
	}
}
END_TEST

/* A record that cannot be read costs itself, and its object the counts. */
START_TEST(broken_record_inside)
{
	struct made m = { 0 };
	struct tally t;
	size_t at;

	begin(&m, false);
	ADD(&m, object, .path = LIT("/a"));
	flush(&m);
	at = m.bytes.n;
	ADD(&m, symbol, .name = LIT("abcdefgh"));
	ADD(&m, segment, .flags = 5);
	ADD(&m, object_end, .args = 0);
	ADD(&m, object, .path = LIT("/b"));
	ADD(&m, object_end, .args = 0);
	finish(&m);
	m.bytes.p[at + DP_RECORD_HEADER_SIZE + 8 + 8 + 4 + 2 + 3] = 0x7f;
	read_all(dp_buf_bytes(&m.bytes), 3, &t);
	ck_assert_int_eq(t.last, DP_READ_EOF);
	ck_assert_uint_eq(t.r.all_objects, 1);
	ck_assert_uint_eq(t.bad, 3); /* symbol, object_end, end */
	tally_free(&t);
	made_free(&m);
}
END_TEST

START_TEST(no_stream)
{
	static const struct {
		struct dp_bytes in;
		enum dp_code code;
	} junk[] = {
		{ LIT("\n"), DP_EFORMAT },
		{ LIT("text"), DP_EFORMAT },
		{ LIT("text, no records"), DP_EFORMAT },
		{ LIT("plain text: 'plai' is too large"), DP_ELIMIT },
		{ LIT("\0\0\0\0\0\0\0\0"), DP_EFORMAT },
		{ LIT("\x04\0\0\0\x01\0\x01\0"), DP_EFORMAT },
		{ LIT("\x0c\0\0\0\x01\0\x01\0\0\0\0\0"), DP_EFORMAT },
		{ LIT("\x10\0\0\0"), DP_EFORMAT },
		{ LIT("{"), DP_EFORMAT },
		{ LIT("\177ELF\2\1\1\0"), DP_EFORMAT },
	};

	for (size_t i = 0; i < LEN(junk); i++) {
		struct tally t;

		read_all(junk[i].in, 1, &t);
		ck_assert_int_eq(t.last, DP_READ_FAIL);
		ck_assert_msg(t.e.code == junk[i].code, "%zu: %s", i, t.e.msg);
		ck_assert_uint_le(t.e.off, junk[i].in.n);
		tally_free(&t);
	}
}
END_TEST

/* A source that fails once `left` bytes are given. */
static ssize_t
failing_read(void *ctx, void *p, size_t n, struct dp_err *e)
{
	struct mem_source *m = ctx;

	if (m->pos == m->in.n) {
		dp_err_errno(e, EIO, "read");
		return -1;
	}
	return mem_read(m, p, n, e);
}

START_TEST(source_fails)
{
	struct made m = { 0 };

	two_objects(&m, _i == 1);
	for (size_t n = 0; n < m.bytes.n; n += 5) {
		struct mem_source src = { .in = { m.bytes.p, n }, .step = 9 };
		struct dp_err e = DP_ERR_INIT;
		struct dp_record rec;
		struct dp_reader r;
		enum dp_read got;

		dp_reader_init(&r, (struct dp_source){ failing_read, &src });
		while ((got = dp_reader_next(&r, &rec, &e)) == DP_READ_RECORD)
			;
		ck_assert_int_eq(got, DP_READ_FAIL);
		ck_assert_int_eq(e.code, DP_EIO);
		ck_assert_int_eq(e.os_errno, EIO);
		dp_reader_deinit(&r);
	}
	made_free(&m);
}
END_TEST

/* A size field may lie: memory grows only with what really comes. */
START_TEST(lying_size)
{
	uint8_t in[18] = { 0, 0, 0, 8, DP_REC_RAWDOF, 0, 1 }; /* 128 MiB */
	struct mallinfo2 before = mallinfo2(), after;
	struct mem_source m = { .in = { in, sizeof in } };
	struct dp_err e = DP_ERR_INIT;
	struct dp_record rec;
	struct dp_reader r;

	dp_reader_init(&r, (struct dp_source){ mem_read, &m });
	ck_assert_int_eq(dp_reader_next(&r, &rec, &e), DP_READ_FAIL);
	ck_assert_int_eq(e.code, DP_EFORMAT);
	after = mallinfo2();
	ck_assert_uint_le(r.buf.cap, 4 << 20);
	ck_assert_uint_le(after.uordblks + after.hblkhd,
	                  before.uordblks + before.hblkhd + (4 << 20));
	dp_reader_deinit(&r);
}
END_TEST

static void
lying_field(size_t at)
{
	struct dp_buf b = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_record rec;

	encode(&b, &(struct dp_record){ .type = DP_REC_PROBE });
	memset(b.p + at, 0xff, 4);
	ck_assert(!dp_record_decode(dp_buf_bytes(&b), &rec, &e));
	ck_assert_int_eq(e.code, DP_EFORMAT);
	dp_buf_deinit(&b);
}

START_TEST(lying_lengths)
{
	const size_t strs = sizeof(struct dp_wire_probe);

	for (size_t i = 0; i < 7; i++) /* lengths and counts of a probe */
		lying_field(strs + 4 * i);
}
END_TEST

/* One record of exactly the limit, and 8 bytes more. */
START_TEST(record_limit)
{
	struct dp_rec_rawdof raw = { 0 };
	size_t over = dp_size_rawdof(&raw);
	struct made m = { 0 };
	struct dp_err e = DP_ERR_INIT;
	uint8_t *p = calloc(1, DP_MAX_RECORD);
	uint32_t size = htole32(DP_MAX_RECORD + 8);
	struct tally t;

	ck_assert_ptr_nonnull(p);
	raw.bytes = (struct dp_bytes){ p, DP_MAX_RECORD - over };
	ck_assert_uint_eq(dp_size_rawdof(&raw), DP_MAX_RECORD);
	begin(&m, false);
	ADD(&m, object, .path = LIT("/big"));
	ck_ok(dp_put_rawdof(&m.w, &raw, &e), e);
	raw.bytes.n++;
	ck_assert(!dp_put_rawdof(&m.w, &raw, &e));
	ck_assert_int_eq(e.code, DP_ELIMIT);
	ADD(&m, object_end, .args = 0);
	finish(&m);
	{
		struct mem_source src = { .in = dp_buf_bytes(&m.bytes) };
		struct dp_record rec;
		struct dp_reader r;

		e = (struct dp_err)DP_ERR_INIT;
		dp_reader_init(&r, (struct dp_source){ mem_read, &src });
		for (int i = 0; i < 3; i++)
			ck_assert_int_eq(dp_reader_next(&r, &rec, &e),
			                 DP_READ_RECORD);
		ck_assert_uint_eq(rec.rawdof.bytes.n, DP_MAX_RECORD - over);
		for (int i = 0; i < 2; i++)
			ck_assert_int_eq(dp_reader_next(&r, &rec, &e),
			                 DP_READ_RECORD);
		ck_assert_int_eq(dp_reader_next(&r, &rec, &e), DP_READ_EOF);
		dp_reader_deinit(&r);
	}
	memcpy(p, &size, 4);
	p[4] = DP_REC_RAWDOF;
	p[6] = 1;
	read_all((struct dp_bytes){ p, DP_MAX_RECORD }, 0, &t);
	ck_assert_int_eq(t.last, DP_READ_FAIL);
	ck_assert_int_eq(t.e.code, DP_ELIMIT);
	ck_assert_uint_eq(t.e.off, 0);
	ck_assert_uint_le(t.r.buf.cap, 8 << 20); /* not even read */
	tally_free(&t);
	free(p);
	made_free(&m);
}
END_TEST

/* An end record, as a line with blanks up to `total` bytes and a newline. */
struct blanks {
	size_t total, pos;
};

static ssize_t
blank_read(void *ctx, void *p, size_t n, struct dp_err *e)
{
	static const char head[] = "{\"type\":\"end\",\"objects\":0,"
				   "\"records\":1}";
	struct blanks *b = ctx;
	uint8_t *out = p;
	size_t i = 0;

	(void)e;
	for (; i < n && b->pos < sizeof head - 1; i++)
		out[i] = (uint8_t)head[b->pos++];
	if (n - i > b->total - b->pos)
		n = i + b->total - b->pos;
	if (n > i)
		memset(out + i, ' ', n - i);
	b->pos += n - i;
	if (b->pos == b->total && n > i)
		out[n - 1] = '\n';
	return (ssize_t)n;
}

static void
long_line(size_t total, enum dp_code code, const char *what)
{
	struct blanks b = { .total = total };
	struct dp_err e = DP_ERR_INIT;
	struct dp_record rec;
	struct dp_reader r;
	enum dp_read got;

	dp_reader_init(&r, (struct dp_source){ blank_read, &b });
	got = dp_reader_next(&r, &rec, &e);
	ck_assert_int_eq(got, DP_READ_FAIL);
	ck_assert_msg(e.code == code && strstr(e.msg, what) != NULL, "%s",
	              e.msg);
	dp_reader_deinit(&r);
}

/*
 * The limit holds for the line with its newline.  One that fits is parsed:
 * the reader says that it stands outside of a stream.
 */
START_TEST(line_limit)
{
	long_line(DP_MAX_JSON_LINE, DP_EFORMAT, "outside of a stream");
	long_line(DP_MAX_JSON_LINE + 1, DP_ELIMIT, "longer than");
}
END_TEST

START_TEST(peeking)
{
	struct mem_source m = { .in = LIT("\177DOF rest"), .step = 3 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_reader r;
	struct dp_bytes b;

	dp_reader_init(&r, (struct dp_source){ mem_read, &m });
	b = dp_reader_peek(&r, 4, &e);
	ck_str(b, "\177DOF");
	b = dp_reader_peek(&r, 100, &e);
	ck_str(b, "\177DOF rest");
	dp_reader_skip(&r, 4);
	ck_str(dp_reader_peek(&r, 2, &e), " r");
	dp_reader_skip(&r, 5);
	b = dp_reader_peek(&r, 1, &e);
	ck_assert(b.n == 0 && b.p != NULL);
	dp_reader_deinit(&r);
}
END_TEST

START_TEST(writer_counts)
{
	struct dp_rec_object_end end = { .segments = 55 };
	struct made m = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_record rec;
	uint64_t pos;
	size_t at;

	begin(&m, _i == 1);
	for (int round = 0; round < 2; round++) {
		ADD(&m, object, .path = LIT("12345"));
		pos = dp_size_object(
			&(struct dp_rec_object){ .path = LIT("12345") });
		ck_assert_uint_eq(m.w.pos, pos);
		ADD(&m, segment, .p_type = 1);
		ADD(&m, segment, .p_type = 1);
		ADD(&m, error, .code = 1);
		ck_assert_uint_eq(
			m.w.pos,
			pos +
				2 * dp_size_segment(
					    &(struct dp_rec_segment){ 0 }) +
				dp_size_error(&(struct dp_rec_error){ 0 }));
		flush(&m);
		at = m.bytes.n;
		ck_ok(dp_put_object_end(&m.w, &end, &e), e);
	}
	ck_assert_uint_eq(m.w.objects, 2);
	ck_assert_uint_eq(m.w.records, 11);
	finish(&m);
	if (_i == 0) { /* binary: look at the record itself */
		uint32_t size;

		memcpy(&size, m.bytes.p + at, 4);
		ck_ok(dp_record_decode((struct dp_bytes){ m.bytes.p + at,
		                                          le32toh(size) },
		                       &rec, &e),
		      e);
		ck_assert_uint_eq(rec.object_end.segments, 2);
		ck_assert_uint_eq(rec.object_end.errors, 1);
		ck_assert_uint_eq(rec.object_end.symbols, 0);
	}
	check_readable(dp_buf_bytes(&m.bytes));
	made_free(&m);
}
END_TEST

struct frail {
	unsigned writes, good;
};

static bool
frail_sink(void *ctx, struct dp_bytes b, struct dp_err *e)
{
	struct frail *f = ctx;

	ck_assert_uint_ne(b.n, 0);
	return f->writes++ < f->good || dp_err_errno(e, ENOSPC, "write");
}

START_TEST(writer_sink_fails)
{
	struct frail f = { .good = 1 };
	struct dp_rec_symbol s = { .name = LIT("xyz") };
	struct dp_err e = DP_ERR_INIT;
	struct dp_writer w;
	unsigned n = 0;

	dp_writer_init(&w, (struct dp_sink){ frail_sink, &f }, _i == 1);
	ck_ok(dp_put_stream_header(&w, DPR_STAGE_PARSE, "p", &e), e);
	ck_assert_uint_eq(f.writes, 0); /* gathered first */
	ck_assert(dp_writer_flush(&w, &e) && dp_writer_flush(&w, &e));
	ck_assert_uint_eq(f.writes, 1); /* nothing to write, nothing written */
	while (dp_put_symbol(&w, &s, &e))
		ck_assert_uint_lt(n++, 100000);
	ck_assert_int_eq(e.os_errno, ENOSPC);
	ck_assert_uint_eq(f.writes, 2);
	ck_assert_uint_gt(n, 1000);
	dp_writer_deinit(&w);
}
END_TEST

START_TEST(fd_sink_and_source)
{
	struct dp_err e = DP_ERR_INIT;
	char got[8] = "";
	int fds[2];

	(void)signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe(fds), 0);
	ck_ok(dp_sink_fd(&fds[1], LIT("abc"), &e), e);
	ck_assert_int_eq(dp_source_fd(&fds[0], got, sizeof got, &e), 3);
	ck_assert_str_eq(got, "abc");
	(void)close(fds[0]);
	ck_assert(!dp_sink_fd(&fds[1], LIT("abc"), &e));
	ck_assert_int_eq(e.os_errno, EPIPE);
	(void)close(fds[1]);
	e = (struct dp_err)DP_ERR_INIT;
	ck_assert_int_eq(dp_source_fd(&fds[0], got, sizeof got, &e), -1);
	ck_assert_int_eq(e.os_errno, EBADF);
}
END_TEST

START_TEST(err_record)
{
	struct dp_err what = DP_ERR_INIT, e = DP_ERR_INIT;
	struct made m = { 0 };
	struct dp_record rec;

	dp_err_set(&what, DP_ELIMIT, 0x1c, "too\nmuch");
	dp_writer_init(&m.w, (struct dp_sink){ buf_sink, &m.bytes }, false);
	ck_ok(dp_put_err(&m.w, LIT("f\0g"), DPR_REACH_DOF, &what, &e), e);
	flush(&m);
	ck_ok(dp_record_decode(dp_buf_bytes(&m.bytes), &rec, &e), e);
	ck_assert_uint_eq(rec.error.offset, 0x1c);
	ck_assert_uint_eq(rec.error.code, DPR_CODE_LIMIT);
	ck_assert_uint_eq(rec.error.reach, DPR_REACH_DOF);
	ck_assert(dp_bytes_eq(rec.error.input, LIT("f\0g")));
	ck_str(rec.error.message, "too?much");
	rec.type = 50;
	ck_assert(!dp_put_record(&m.w, &rec, &e));
	ck_assert_int_eq(e.code, DP_EUSAGE);
	dp_writer_deinit(&m.w);
	made_free(&m);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("reader");
	TCase *t = tcase_create("reader");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, both_forms_mixed);
	tcase_add_test(t, cuts);
	tcase_add_test(t, cut_counts);
	tcase_add_test(t, unknown_passed_over);
	tcase_add_loop_test(t, order_of_records, 0, (int)LEN(orders));
	tcase_add_test(t, headers);
	tcase_add_loop_test(t, object_end_counts, 0, 13);
	tcase_add_test(t, end_counts);
	tcase_add_test(t, broken_record_inside);
	tcase_add_test(t, no_stream);
	tcase_add_loop_test(t, source_fails, 0, 2);
	tcase_add_test(t, lying_size);
	tcase_add_test(t, lying_lengths);
	tcase_add_test(t, record_limit);
	tcase_add_test(t, line_limit);
	tcase_add_test(t, peeking);
	tcase_add_loop_test(t, writer_counts, 0, 2);
	tcase_add_loop_test(t, writer_sink_fails, 0, 2);
	tcase_add_test(t, fd_sink_and_source);
	tcase_add_test(t, err_record);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_checks(suite());
}
