/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One record in both of its forms: every record of schema/records.def with
 * random values, hostile strings, and broken in every place.
 */
#include <inttypes.h>

#include "base/limits.h"
#include "record/codec.h"
#include "streams.h"

static const struct dp_bytes texts[] = {
	{ NULL, 0 },
	{ (const uint8_t *)"plain", 5 },
	{ (const uint8_t *)"a\0b\0", 4 },
	{ (const uint8_t *)"\"\\/\b\f\n\r\t\x01\x1f\x7f", 11 },
	{ (const uint8_t *)"\xff\xfe", 2 },
	{ (const uint8_t *)"\xc0\x80 overlong", 11 },
	{ (const uint8_t *)"\xed\xa0\x80\xed\xb0\x80", 6 },
	{ (const uint8_t *)"\xf4\x90\x80\x80", 4 },
	{ (const uint8_t *)"cut\xe2\x82", 5 },
	{ (const uint8_t *)"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9 },
	{ (const uint8_t *)"\xef\xbf\xbd", 3 },
	{ (const uint8_t *)"{\"type\":\"end\"}\n", 15 },
	{ (const uint8_t *)"\\u0000", 6 },
};

static const uint64_t edges[] = {
	0,
	1,
	(UINT64_C(1) << 53) - 1,
	UINT64_C(1) << 53,
	(UINT64_C(1) << 53) + 1,
	UINT64_MAX,
	UINT64_C(1) << 63, /* INT64_MIN */
	(UINT64_C(1) << 63) - 1,
	UINT64_MAX - (UINT64_C(1) << 53) + 1, /* -2^53 */
	UINT64_MAX - (UINT64_C(1) << 53),
	UINT32_MAX,
};

static uint64_t
some_number(uint64_t *seed)
{
	uint64_t v = rnd(seed);

	return v % 3 == 0 ? rnd(seed) : edges[v / 3 % LEN(edges)];
}

static struct dp_bytes
some_text(uint64_t *seed)
{
	return texts[rnd(seed) % LEN(texts)];
}

/* Up to three strings, each with its NUL; some of them not UTF-8. */
static struct dp_strs
some_strs(uint64_t *seed)
{
	static const struct dp_strs sets[] = {
		{ 0, { NULL, 0 } },
		{ 1, { (const uint8_t *)"", 1 } },
		{ 3, { (const uint8_t *)"int\0char *\0", 12 } },
		{ 2, { (const uint8_t *)"\xff\xc3\xa9\0x", 6 } },
		{ 3, { (const uint8_t *)"\n\0\"\0\xc0\x80", 7 } },
	};

	return sets[rnd(seed) % LEN(sets)];
}

#define RECORD(T, t, num, ver, stages, doc)                                    \
	static void fill_##t(struct dp_rec_##t *r, uint64_t *seed)             \
	{
#define U8(t, f, doc)         r->f = (uint8_t)some_number(seed);
#define U16(t, f, doc)        r->f = (uint16_t)some_number(seed);
#define U32(t, f, doc)        r->f = (uint32_t)some_number(seed);
#define N64(t, f, doc)        r->f = some_number(seed);
#define S64(t, f, doc)        r->f = (int64_t)some_number(seed);
#define X32(t, f, doc)        r->f = (uint32_t)some_number(seed);
#define X64(t, f, doc)        r->f = some_number(seed);
#define BOOL(t, f, doc)       r->f = rnd(seed) & 1;
#define ENUM(t, f, list, doc) r->f = (uint8_t)(rnd(seed) & 1 ? rnd(seed) : 1);
#define STR(t, f, doc)        r->f = some_text(seed);
#define BYTES(t, f, doc)      r->f = some_text(seed);
#define STRS(t, f, doc)       r->f = some_strs(seed);
#define U8S(t, f, doc)        r->f = some_text(seed);
#define ENDRECORD(T, t)       }
#include "records.def"

#include "record/undef.h"

static bool
strs_eq(struct dp_strs a, struct dp_strs b)
{
	return a.n == b.n && dp_bytes_eq(a.run, b.run);
}

#define RECORD(T, t, num, ver, stages, doc)                                    \
	static bool eq_##t(const struct dp_rec_##t *a,                         \
	                   const struct dp_rec_##t *b)                         \
	{                                                                      \
		bool eq = true;
#define U8(t, f, doc)         eq &= a->f == b->f;
#define U16(t, f, doc)        eq &= a->f == b->f;
#define U32(t, f, doc)        eq &= a->f == b->f;
#define N64(t, f, doc)        eq &= a->f == b->f;
#define S64(t, f, doc)        eq &= a->f == b->f;
#define X32(t, f, doc)        eq &= a->f == b->f;
#define X64(t, f, doc)        eq &= a->f == b->f;
#define BOOL(t, f, doc)       eq &= a->f == b->f;
#define ENUM(t, f, list, doc) eq &= a->f == b->f;
#define STR(t, f, doc)        eq &= dp_bytes_eq(a->f, b->f);
#define BYTES(t, f, doc)      eq &= dp_bytes_eq(a->f, b->f);
#define STRS(t, f, doc)       eq &= strs_eq(a->f, b->f);
#define U8S(t, f, doc)        eq &= dp_bytes_eq(a->f, b->f);
#define ENDRECORD(T, t)                                                        \
	return eq;                                                             \
	}
#include "records.def"

#include "record/undef.h"

/* What the tests go through: every record there is. */
static const uint16_t types[] = {
#define RECORD(T, t, num, ver, stages, doc) (num),
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"
};

static void
fill(struct dp_record *rec, uint16_t type, uint64_t *seed)
{
	memset(rec, 0, sizeof *rec);
	rec->type = type;
	rec->version = dp_record_version(type);
	switch (type) {
#define RECORD(T, t, num, ver, stages, doc)                                    \
	case (num):                                                            \
		fill_##t(&rec->t, seed);                                       \
		break;
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"
	}
}

static bool
same(const struct dp_record *a, const struct dp_record *b)
{
	if (a->type != b->type || a->version != b->version)
		return false;
	switch (a->type) {
#define RECORD(T, t, num, ver, stages, doc)                                    \
	case (num):                                                            \
		return eq_##t(&a->t, &b->t);
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"
	}
	return false;
}

/* A wire struct must be exactly the header and the fixed-width fields. */
START_TEST(sizes)
{
	struct dp_buf b = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_rec_site s = { .args = LIT("123"), .why = LIT("1234567") };

	ck_assert_uint_eq(sizeof(struct dp_wire_end), 8 + 16);
	ck_assert_uint_eq(DP_WIRE_OFF(site, addr), 8);
	ck_assert_uint_eq(DP_WIRE_OFF(site, sem), 16);
	ck_assert_uint_eq(sizeof(struct dp_wire_site), 8 + 3 * 8 + 7 * 4 + 2);
	ck_assert_uint_eq(dp_size_site(&s), (62 + 4 + 7 + 4 + 3 + 7) / 8 * 8);
	ck_assert(dp_enc_site(&b, &s, &e));
	ck_assert_uint_eq(b.n, dp_size_site(&s));
	ck_assert_mem_eq(b.p + 4, "\x13\0\x01\0", 4); /* 19, version 1 */
	dp_buf_deinit(&b);
}
END_TEST

/* Binary, NDJSON and binary again: all of it must come back. */
static void
both_forms(const struct dp_record *rec, struct dp_json_line *line)
{
	struct dp_buf bin = { 0 }, json = { 0 }, again = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_record got = { 0 };
	struct dp_bytes whole, text;

	ck_ok(dp_record_encode(&bin, rec, &e), e);
	ck_assert_uint_eq(bin.n % 8, 0);
	whole = exact_copy(dp_buf_bytes(&bin));
	ck_ok(dp_record_decode(whole, &got, &e), e);
	ck_assert_msg(same(rec, &got), "%s changed in binary",
	              dp_record_name(rec->type));
	ck_ok(dp_record_to_json(&json, &got, &e), e);
	ck_assert(json.p[json.n - 1] == '\n');
	ck_assert_ptr_null(memchr(json.p, '\n', json.n - 1));
	text = exact_copy((struct dp_bytes){ json.p, json.n - 1 });
	memset(&got, 0, sizeof got);
	ck_ok(dp_record_from_json(line, text, &got, &e), e);
	ck_assert_msg(same(rec, &got), "%s changed in NDJSON: %.*s",
	              dp_record_name(rec->type), (int)text.n,
	              (const char *)text.p);
	ck_ok(dp_record_encode(&again, &got, &e), e);
	ck_assert(dp_bytes_eq(dp_buf_bytes(&again), whole));
	free((void *)(uintptr_t)whole.p);
	free((void *)(uintptr_t)text.p);
	dp_buf_deinit(&bin);
	dp_buf_deinit(&json);
	dp_buf_deinit(&again);
}

START_TEST(round_trip)
{
	uint16_t type = types[_i];
	struct dp_json_line line = { 0 };
	struct dp_record rec;

	for (uint64_t i = 0; i < 300; i++) {
		uint64_t seed = i * 1000003 + type;

		fill(&rec, type, &seed);
		both_forms(&rec, &line);
	}
	dp_json_line_deinit(&line);
}
END_TEST

/* Every text in a place of its own, so that none is left to chance. */
START_TEST(every_text)
{
	struct dp_record rec = { .type = DP_REC_SYMBOL, .version = 1 };
	struct dp_json_line line = { 0 };

	for (size_t i = 0; i < LEN(texts); i++) {
		rec.symbol.name = texts[i];
		rec.symbol.kind = (uint8_t)(250 + i % 5);
		for (size_t k = 0; k < LEN(edges); k++) {
			rec.symbol.value = edges[k];
			both_forms(&rec, &line);
		}
	}
	for (unsigned v = 0; v < 256; v++) { /* every byte alone */
		uint8_t b = (uint8_t)v;

		rec.symbol.name = (struct dp_bytes){ &b, 1 };
		rec.symbol.kind = b;
		both_forms(&rec, &line);
	}
	dp_json_line_deinit(&line);
}
END_TEST

START_TEST(append_only)
{
	struct dp_rec_end end = { 1, 2 };
	struct dp_rec_symbol big = { .name = { (const uint8_t *)"", 0 } };
	struct dp_buf b = { 0 };
	struct dp_err e = DP_ERR_INIT;

	ck_assert(dp_enc_end(&b, &end, &e) && b.n == 24);
	big.name.n = DP_MAX_RECORD; /* never read: the size is refused first */
	ck_assert(!dp_enc_symbol(&b, &big, &e));
	ck_assert_int_eq(e.code, DP_ELIMIT);
	ck_assert_uint_eq(b.n, 24);
	dp_buf_deinit(&b);
}
END_TEST

/* Decode; what is accepted must stand up to being written again. */
static bool
decode_and_use(struct dp_bytes whole)
{
	struct dp_buf bin = { 0 }, json = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_record rec;
	bool ok = dp_record_decode(whole, &rec, &e);

	if (ok) {
		ck_ok(dp_record_encode(&bin, &rec, &e), e);
		ck_assert_uint_le(bin.n, (whole.n + 7) & ~(size_t)7);
		ck_ok(dp_record_to_json(&json, &rec, &e), e);
	} else {
		ck_assert(e.code == DP_EFORMAT || e.code == DP_EUNSUP);
		ck_assert_uint_le(e.off, whole.n);
	}
	dp_buf_deinit(&bin);
	dp_buf_deinit(&json);
	return ok;
}

START_TEST(every_prefix)
{
	struct dp_buf b = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_record rec;
	uint64_t seed = types[_i];

	fill(&rec, types[_i], &seed);
	ck_ok(dp_record_encode(&b, &rec, &e), e);
	for (size_t n = 0; n < b.n; n++) {
		struct dp_bytes cut = exact_copy((struct dp_bytes){ b.p, n });
		uint32_t size = htole32((uint32_t)n);

		ck_assert(!decode_and_use(cut));
		if (n >= 4) { /* and with a size that agrees */
			memcpy((void *)(uintptr_t)cut.p, &size, 4);
			ck_assert(!decode_and_use(cut) || b.n - n < 8);
		}
		free((void *)(uintptr_t)cut.p);
	}
	dp_buf_deinit(&b);
}
END_TEST

START_TEST(every_byte)
{
	static const uint8_t flips[] = { 0xff, 0x01, 0x80 };
	struct dp_buf b = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_record rec;
	uint64_t seed = types[_i] + 77;

	fill(&rec, types[_i], &seed);
	ck_ok(dp_record_encode(&b, &rec, &e), e);
	for (size_t i = 0; i < b.n * LEN(flips); i++) {
		struct dp_bytes m = exact_copy(dp_buf_bytes(&b));
		uint8_t *p = (uint8_t *)(uintptr_t)m.p;

		p[i / LEN(flips)] ^= flips[i % LEN(flips)];
		(void)decode_and_use(m);
		free(p);
	}
	dp_buf_deinit(&b);
}
END_TEST

static void
decode_head(uint32_t size, uint16_t type, uint16_t version, enum dp_code code)
{
	uint8_t p[24] = { (uint8_t)size,
		          0,
		          0,
		          0,
		          (uint8_t)type,
		          (uint8_t)(type >> 8),
		          (uint8_t)version,
		          (uint8_t)(version >> 8) };
	struct dp_err e = DP_ERR_INIT;
	struct dp_record rec = { .type = 99 };
	bool ok = dp_record_decode((struct dp_bytes){ p, sizeof p }, &rec, &e);

	ck_assert_int_eq(ok, code == DP_OK);
	ck_assert_msg(e.code == code, "type %u version %u: %s", type, version,
	              dp_code_name(e.code));
	ck_assert_uint_eq(rec.type, ok ? type : 99); /* untouched */
}

START_TEST(unknown)
{
	struct dp_record rec = { .type = 40 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf b = { 0 };

	decode_head(24, DP_REC_END, 1, DP_OK);
	decode_head(24, DP_REC_END, 0, DP_EUNSUP);
	decode_head(24, DP_REC_END, 2, DP_EUNSUP);
	decode_head(24, DP_REC_END, 0x101, DP_EUNSUP);
	decode_head(24, 0, 1, DP_EUNSUP);
	decode_head(24, 8, 1, DP_EUNSUP);
	decode_head(24, DP_REC_MAX, 1, DP_EUNSUP);
	decode_head(24, DP_REC_MAX + 1, 1, DP_EUNSUP);
	decode_head(24, 0x100 + DP_REC_END, 1, DP_EUNSUP);
	decode_head(24, UINT16_MAX, 1, DP_EUNSUP);
	decode_head(16, DP_REC_END, 1, DP_EFORMAT);
	ck_assert_ptr_null(dp_record_name(8));
	ck_assert_ptr_null(dp_record_name(UINT16_MAX));
	ck_assert_uint_eq(dp_record_version(8), 0);
	ck_assert_uint_eq(dp_record_type(LIT("sites")), 0);
	ck_assert_uint_eq(dp_record_type(LIT("site\0")), 0);
	ck_assert(!dp_record_encode(&b, &rec, &e));
	ck_assert_int_eq(e.code, DP_EUSAGE);
	e = (struct dp_err)DP_ERR_INIT;
	ck_assert(!dp_record_to_json(&b, &rec, &e));
	ck_assert_int_eq(e.code, DP_EUSAGE);
	ck_assert_uint_eq(b.n, 0);
}
END_TEST

START_TEST(words)
{
	uint8_t v = 200;

	for (uint16_t i = 0; i < LEN(types); i++) {
		const char *name = dp_record_name(types[i]);

		ck_assert_ptr_nonnull(name);
		ck_assert_uint_eq(dp_record_type(dp_cstr(name)), types[i]);
		ck_assert_uint_le(types[i], DP_REC_MAX);
	}
	for (unsigned l = 0; l < DP_LIST_COUNT; l++) {
		uint8_t n = 0;

		for (; dp_word((enum dp_list)l, n) != NULL; n++) {
			const char *w = dp_word((enum dp_list)l, n);

			ck_assert(
				dp_word_value((enum dp_list)l, dp_cstr(w), &v));
			ck_assert_uint_eq(v, n);
		}
		ck_assert_uint_gt(n, 1);
		ck_assert_ptr_null(dp_word((enum dp_list)l, 255));
		v = 200;
		ck_assert(!dp_word_value((enum dp_list)l, LIT("no"), &v));
		ck_assert(!dp_word_value((enum dp_list)l, LIT(""), &v));
		ck_assert_uint_eq(v, 200);
	}
}
END_TEST

#define OBJ_END                                                                \
	"\"segments\":1,\"symbols\":2,\"elfrels\":0,\"rawdofs\":0,"            \
	"\"rawnotes\":0,\"dofs\":0,\"providers\":0,\"probes\":0,\"sites\":0,"  \
	"\"args\":0,\"relocs\":0,\"helpers\":0,"
#define PROBE                                                                  \
	"{\"type\":\"probe\",\"addr\":\"0x0\",\"id\":0,\"provider\":0,"        \
	"\"reloc\":0,\"nreloc\":0,\"function\":\"\",\"name\":\"n\","           \
	"\"translated\":[],"
#define SYM                                                                    \
	"{\"type\":\"symbol\",\"value\":\"0x1\",\"size\":\"0x0\","             \
	"\"section\":0,\"from\":\"dynsym\","
#define GOOD_END "{\"type\":\"end\",\"records\":2,\"objects\":1}"

static const struct {
	struct dp_bytes line;
	enum dp_code code;
} lines[] = {
	{ LIT(GOOD_END), DP_OK },
	{ LIT(" \t" GOOD_END " \r"), DP_OK },
	{ LIT("{\"x\":[{}],\"objects\":1,\"records\":2,\"type\":\"end\"}"),
	  DP_OK }, /* any order, more keys */
	{ LIT("{\"type\":\"end\",\"records\":\"0x2\",\"objects\":1}"), DP_OK },
	{ LIT("{\"type\":\"end\",\"records\":-2,\"objects\":1}"), DP_EFORMAT },
	{ LIT("{\"type\":\"end\",\"records\":2.0,\"objects\":1}"), DP_EFORMAT },
	{ LIT("{\"type\":\"end\",\"records\":\"2\",\"objects\":1}"),
	  DP_EFORMAT },
	{ LIT("{\"type\":\"end\",\"records\":\"0x\",\"objects\":1}"),
	  DP_EFORMAT },
	{ LIT("{\"type\":\"end\",\"records\":\"0X1\",\"objects\":1}"),
	  DP_EFORMAT },
	{ LIT("{\"type\":\"end\",\"records\":\"0x+1\",\"objects\":1}"),
	  DP_EFORMAT },
	{ LIT("{\"type\":\"end\",\"records\":\"0xffffffffffffffff\","
	      "\"objects\":1}"),
	  DP_OK },
	{ LIT("{\"type\":\"end\",\"records\":\"0x10000000000000000\","
	      "\"objects\":1}"),
	  DP_EFORMAT },
	{ LIT("{\"type\":\"end\",\"records\":99999999999999999999,"
	      "\"objects\":1}"),
	  DP_EFORMAT },
	{ LIT("{\"type\":\"end\",\"records\":true,\"objects\":1}"),
	  DP_EFORMAT },
	{ LIT("{\"type\":\"end\",\"objects\":1}"), DP_EFORMAT },
	{ LIT("{\"type\":\"end\",\"records\":2,\"records\":2,\"objects\":1}"),
	  DP_EFORMAT },
	{ LIT(GOOD_END "x"), DP_EFORMAT },
	{ LIT(GOOD_END GOOD_END), DP_EFORMAT },
	{ LIT("[]"), DP_EFORMAT },
	{ LIT(""), DP_EFORMAT },
	{ LIT("{}"), DP_EFORMAT },
	{ LIT("{\"type\":7}"), DP_EFORMAT },
	{ LIT("{\"type\":\"quark\"}"), DP_EUNSUP },
	{ LIT("{\"type\":\"\"}"), DP_EUNSUP },
	{ LIT("{\"type\":\"object_end\"," OBJ_END "\"errors\":4294967295}"),
	  DP_OK },
	{ LIT("{\"type\":\"object_end\"," OBJ_END "\"errors\":4294967296}"),
	  DP_EFORMAT },
	{ LIT(PROBE "\"native\":[\"a\",\"\"],\"map\":[0,255]}"), DP_OK },
	{ LIT(PROBE "\"native\":[\"a\\u0000b\"],\"map\":[]}"), DP_EFORMAT },
	{ LIT(PROBE "\"native\":[1],\"map\":[]}"), DP_EFORMAT },
	{ LIT(PROBE "\"native\":\"a\",\"map\":[]}"), DP_EFORMAT },
	{ LIT(PROBE "\"native\":[],\"map\":[256]}"), DP_EFORMAT },
	{ LIT(PROBE "\"native\":[],\"map\":[-1]}"), DP_EFORMAT },
	{ LIT(PROBE "\"native\":[],\"map\":[\"1\"]}"), DP_EFORMAT },
	{ LIT(PROBE "\"native\":[\"?\"],\"native_hex\":\"ff00\",\"map\":[]}"),
	  DP_OK },
	{ LIT(PROBE "\"native\":[\"?\"],\"native_hex\":\"ff\",\"map\":[]}"),
	  DP_EFORMAT },
	{ LIT(PROBE "\"native\":[\"?\"],\"native_hex\":\"ff0000\","
	            "\"map\":[]}"),
	  DP_EFORMAT },
	{ LIT(SYM "\"kind\":\"func\",\"name\":\"x\"}"), DP_OK },
	{ LIT(SYM "\"kind\":200,\"name\":\"x\"}"), DP_OK },
	{ LIT(SYM "\"kind\":256,\"name\":\"x\"}"), DP_EFORMAT },
	{ LIT(SYM "\"kind\":\"funk\",\"name\":\"x\"}"), DP_EFORMAT },
	{ LIT(SYM "\"kind\":\"func\\u0000\",\"name\":\"x\"}"), DP_EFORMAT },
	{ LIT(SYM "\"kind\":0,\"name\":\"?\",\"name_hex\":\"fF\"}"),
	  DP_EFORMAT },
	{ LIT(SYM "\"kind\":0,\"name\":\"?\",\"name_hex\":\"f\"}"),
	  DP_EFORMAT },
	{ LIT(SYM "\"kind\":0,\"name\":\"?\",\"name_hex\":\"0g\"}"),
	  DP_EFORMAT },
	{ LIT(SYM "\"kind\":0,\"name\":\"?\",\"name_hex\":7}"), DP_EFORMAT },
	{ LIT(SYM "\"kind\":0,\"name\":\"\xff\"}"), DP_EFORMAT },
	{ LIT(SYM "\"kind\":0,\"name\":null}"), DP_EFORMAT },
	{ LIT("{\"type\":\"end\\u0000\",\"records\":2,\"objects\":1}"),
	  DP_EUNSUP },
};

START_TEST(json_lines)
{
	struct dp_bytes line = exact_copy(lines[_i].line);
	struct dp_json_line l = { 0 };
	struct dp_record rec = { .type = 99 };
	struct dp_err e = DP_ERR_INIT;
	bool ok = dp_record_from_json(&l, line, &rec, &e);

	ck_assert_msg(e.code == lines[_i].code, "%.*s: %s: %s", (int)line.n,
	              (const char *)line.p, dp_code_name(e.code), e.msg);
	ck_assert_int_eq(ok, e.code == DP_OK);
	if (!ok)
		ck_assert_uint_eq(rec.type, 99);
	free((void *)(uintptr_t)line.p);
	dp_json_line_deinit(&l);
}
END_TEST

/* DP_MAX_JSON_VALUES: what stands in strings does not count. */
START_TEST(many_values)
{
	static const char *const bits[] = { "[", "{", ",", "]\"[,{\\\"[,{\"" };

	for (size_t t = 0; t < LEN(bits); t++) {
		for (uint32_t n = 0; n < 2; n++) {
			uint32_t left = DP_MAX_JSON_VALUES + n;
			struct dp_json_line l = { 0 };
			struct dp_err e = DP_ERR_INIT;
			struct dp_buf b = { 0 };
			struct dp_record rec;

			ck_assert(dp_buf_str(&b, "{\"type\":7"));
			for (left--; left > 0; left--)
				ck_assert(
					dp_buf_str(&b, t < 3 ? bits[t] : ","));
			for (uint32_t i = 0; i < 9000 && t == 3; i++)
				ck_assert(dp_buf_str(&b, bits[t]));
			ck_assert(!dp_record_from_json(&l, dp_buf_bytes(&b),
			                               &rec, &e));
			ck_assert_int_eq(e.code,
			                 n == 0 ? DP_EFORMAT : DP_ELIMIT);
			dp_json_line_deinit(&l);
			dp_buf_deinit(&b);
		}
	}
}
END_TEST

static void
max_str(size_t n, bool want)
{
	uint8_t *p = calloc(1, n);
	struct dp_rec_symbol s = { .name = { p, n } };
	struct dp_record rec = { .type = DP_REC_SYMBOL, .symbol = s }, got;
	struct dp_buf bin = { 0 }, json = { 0 };
	struct dp_json_line l = { 0 };
	struct dp_err e = DP_ERR_INIT;

	ck_assert_ptr_nonnull(p);
	memset(p, 'a', n);
	ck_ok(dp_record_encode(&bin, &rec, &e), e);
	ck_ok(dp_record_to_json(&json, &rec, &e), e);
	ck_assert_int_eq(dp_record_decode(dp_buf_bytes(&bin), &got, &e), want);
	ck_assert_int_eq(e.code, want ? DP_OK : DP_EFORMAT);
	e = (struct dp_err)DP_ERR_INIT;
	ck_assert_int_eq(dp_record_from_json(&l, dp_buf_bytes(&json), &got, &e),
	                 want);
	ck_assert_int_eq(e.code, want ? DP_OK : DP_EFORMAT);
	if (want)
		ck_assert(dp_bytes_eq(got.symbol.name, s.name));
	dp_json_line_deinit(&l);
	dp_buf_deinit(&bin);
	dp_buf_deinit(&json);
	free(p);
}

/* DP_MAX_STR holds for strings, not for bytes. */
START_TEST(string_limit)
{
	struct dp_rec_rawdof raw = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf b = { 0 };
	struct dp_record got;

	max_str(DP_MAX_STR, true);
	max_str(DP_MAX_STR + 1, false);
	raw.bytes =
		(struct dp_bytes){ calloc(1, DP_MAX_STR + 1), DP_MAX_STR + 1 };
	ck_ok(dp_enc_rawdof(&b, &raw, &e), e);
	ck_ok(dp_record_decode(dp_buf_bytes(&b), &got, &e), e);
	ck_assert_uint_eq(got.rawdof.bytes.n, DP_MAX_STR + 1);
	free((void *)(uintptr_t)raw.bytes.p);
	dp_buf_deinit(&b);
}
END_TEST

START_TEST(walking_strs)
{
	struct dp_strs s = { 3, LIT("a\0\0bc\0") };
	struct dp_bytes str = { NULL, 0 };
	size_t at = 0;

	ck_assert(dp_strs_next(&s, &at, &str) && dp_bytes_is(str, "a"));
	ck_assert(dp_strs_next(&s, &at, &str) && str.n == 0);
	ck_assert(dp_strs_next(&s, &at, &str) && dp_bytes_is(str, "bc"));
	ck_assert(!dp_strs_next(&s, &at, &str));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("record");
	TCase *t = tcase_create("record");
	const int n = (int)LEN(types);

	tcase_set_timeout(t, 120);
	tcase_add_test(t, sizes);
	tcase_add_loop_test(t, round_trip, 0, n);
	tcase_add_test(t, every_text);
	tcase_add_test(t, append_only);
	tcase_add_loop_test(t, every_prefix, 0, n);
	tcase_add_loop_test(t, every_byte, 0, n);
	tcase_add_test(t, unknown);
	tcase_add_test(t, words);
	tcase_add_loop_test(t, json_lines, 0, (int)LEN(lines));
	tcase_add_test(t, many_values);
	tcase_add_test(t, string_limit);
	tcase_add_test(t, walking_strs);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_checks(suite());
}
