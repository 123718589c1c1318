/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/base: errors, the bounded reader, ranges, arrays, maps, JSON text. */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "base/range.h"
#include "base/strmap.h"
#include "streams.h"

START_TEST(err_first_wins)
{
	struct dp_err e = DP_ERR_INIT;

	ck_assert(!dp_err_set(&e, DP_EFORMAT, 7, "one %d", 1));
	ck_assert(!dp_err_set(&e, DP_ELIMIT, 8, "two"));
	ck_assert(!dp_err_errno(&e, ENOENT, "three"));
	ck_assert_int_eq(e.code, DP_EFORMAT);
	ck_assert_int_eq(e.os_errno, 0);
	ck_assert_uint_eq(e.off, 7);
	ck_assert_str_eq(e.msg, "one 1");
}
END_TEST

START_TEST(err_one_clean_line)
{
	struct dp_err e = DP_ERR_INIT;

	dp_err_set(&e, DP_EFORMAT, 0, "a\nb\x1b[2J\x7f\tc\xc3\xa9");
	ck_assert_str_eq(e.msg, "a?b?[2J??c\xc3\xa9");
	dp_err_prefix(&e, "in\n%s", "f");
	ck_assert_str_eq(e.msg, "in?f: a?b?[2J??c\xc3\xa9");
}
END_TEST

START_TEST(err_long_is_cut)
{
	struct dp_err e = DP_ERR_INIT;
	char big[1000];

	memset(big, 'x', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	dp_err_set(&e, DP_ELIMIT, DP_NOOFF, "%s", big);
	ck_assert_uint_eq(strlen(e.msg), sizeof e.msg - 1);
	dp_err_prefix(&e, "%s", "head");
	ck_assert_uint_eq(strlen(e.msg), sizeof e.msg - 1);
	ck_assert(strncmp(e.msg, "head: xxx", 9) == 0);
	dp_err_prefix(&e, "%s", big);
	ck_assert_uint_eq(strlen(e.msg), sizeof e.msg - 1);
	e = (struct dp_err)DP_ERR_INIT;
	dp_err_errno(&e, ENOENT, "%s", big);
	ck_assert_uint_eq(strlen(e.msg), sizeof e.msg - 1);
}
END_TEST

START_TEST(err_errno)
{
	struct dp_err e = DP_ERR_INIT;

	ck_assert(!dp_err_errno(&e, ENOENT, "open %s", "x"));
	ck_assert_int_eq(e.code, DP_EIO);
	ck_assert_int_eq(e.os_errno, ENOENT);
	ck_assert_uint_eq(e.off, DP_NOOFF);
	ck_assert_str_eq(e.msg, "open x: No such file or directory");
	e = (struct dp_err)DP_ERR_INIT;
	dp_err_errno(&e, ENOENT, "%s", "");
	ck_assert_str_eq(e.msg, "No such file or directory");
}
END_TEST

START_TEST(err_names)
{
	static const char *const names[] = { "ok",     "usage",       "io",
		                             "format", "unsupported", "limit",
		                             "db",     "attach",      "nomem" };

	ck_assert_uint_eq(LEN(names), DP_CODE_COUNT);
	for (unsigned i = 0; i < DP_CODE_COUNT; i++) {
		ck_assert_str_eq(dp_code_name((enum dp_code)i), names[i]);
		/* the stream has the same words at the same numbers */
		ck_assert_str_eq(dp_word(DP_LIST_code, (uint8_t)i), names[i]);
	}
	ck_assert_str_eq(dp_code_name(DP_CODE_COUNT), "unknown");
	ck_assert_ptr_null(dp_word(DP_LIST_code, DP_CODE_COUNT));
}
END_TEST

static const uint8_t digits[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

START_TEST(rd_both_orders)
{
	struct dp_rd le = dp_rd_init((struct dp_bytes){ digits, 9 }, DP_LE);
	struct dp_rd be = dp_rd_init((struct dp_bytes){ digits, 9 }, DP_BE);

	ck_assert_uint_eq(dp_rd_u16(&le), 0x0201);
	ck_assert_uint_eq(dp_rd_u16(&be), 0x0102);
	ck_assert_uint_eq(dp_rd_u32(&le), 0x06050403);
	ck_assert_uint_eq(dp_rd_u32(&be), 0x03040506);
	ck_assert_uint_eq(dp_rd_u8(&le), 7);
	ck_assert_uint_eq(dp_rd_left(&le), 2);
	dp_rd_seek(&le, 1);
	dp_rd_seek(&be, 1);
	ck_assert_uint_eq(dp_rd_word(&le, 8), 0x0908070605040302);
	ck_assert_uint_eq(dp_rd_u64(&be), 0x0203040506070809);
	dp_rd_seek(&be, 5);
	ck_assert_uint_eq(dp_rd_word(&be, 4), 0x06070809);
	ck_assert(dp_rd_ok(&le) && dp_rd_ok(&be));
	ck_assert_uint_eq(dp_rd_left(&be), 0);
}
END_TEST

START_TEST(rd_bad_stays)
{
	struct dp_bytes in = exact_copy((struct dp_bytes){ digits, 9 });

	for (size_t at = 2; at <= 9; at++) {
		struct dp_rd r = dp_rd_init(in, DP_BE);

		dp_rd_seek(&r, at);
		ck_assert(dp_rd_ok(&r));
		ck_assert_uint_eq(dp_rd_u64(&r), 0);
		ck_assert(!dp_rd_ok(&r));
		ck_assert_uint_eq(r.pos, at); /* where the read began */
		ck_assert_uint_eq(dp_rd_u8(&r), 0);
		ck_assert_uint_eq(dp_rd_take(&r, 0).n, 0);
		dp_rd_seek(&r, 0);
		ck_assert_uint_eq(dp_rd_u32(&r), 0);
		ck_assert(!dp_rd_ok(&r));
	}
	free((void *)(uintptr_t)in.p);
}
END_TEST

START_TEST(rd_edges)
{
	struct dp_rd r = dp_rd_init((struct dp_bytes){ NULL, 0 }, DP_LE);

	dp_rd_seek(&r, 0);
	ck_assert_uint_eq(dp_rd_take(&r, 0).n, 0);
	ck_assert(dp_rd_ok(&r));
	ck_assert_uint_eq(dp_rd_str(&r).n, 0);
	ck_assert(!dp_rd_ok(&r));
	r = dp_rd_init((struct dp_bytes){ digits, 9 }, DP_LE);
	dp_rd_seek(&r, 9);
	ck_assert(dp_rd_ok(&r));
	dp_rd_seek(&r, 10);
	ck_assert(!dp_rd_ok(&r));
	r = dp_rd_init((struct dp_bytes){ digits, 9 }, DP_LE);
	(void)dp_rd_u8(&r);
	ck_assert_uint_eq(dp_rd_take(&r, UINT64_MAX).n, 0);
	ck_assert(!dp_rd_ok(&r));
	r = dp_rd_init((struct dp_bytes){ digits, 9 }, DP_LE);
	ck_assert_uint_eq(dp_rd_take(&r, 9).n, 9);
	ck_assert(dp_rd_ok(&r));
	dp_rd_seek(&r, (uint64_t)1 << 32);
	ck_assert(!dp_rd_ok(&r));
}
END_TEST

START_TEST(strings)
{
	struct dp_bytes tab = exact_copy(LIT("ab\0\0c\0def"));
	struct dp_rd r = dp_rd_init(tab, DP_LE);
	struct dp_bytes s = { digits, 1 }, run = { digits, 1 };

	ck_str(dp_rd_str(&r), "ab");
	ck_assert_uint_eq(dp_rd_str(&r).n, 0);
	ck_str(dp_rd_str(&r), "c");
	ck_assert(dp_rd_ok(&r));
	ck_assert_uint_eq(dp_rd_str(&r).n, 0); /* no NUL behind it */
	ck_assert(!dp_rd_ok(&r));
	ck_assert(!dp_str_at(tab, 6, &s) && !dp_str_at(tab, 9, &s));
	ck_assert(!dp_str_at(tab, UINT64_MAX, &s));
	ck_assert_uint_eq(s.n, 1); /* untouched */
	ck_assert(dp_str_at(tab, 5, &s) && s.n == 0);
	ck_assert(dp_str_at(tab, 1, &s));
	ck_str(s, "b");
	ck_assert(!dp_strs_at(tab, 0, 4, 10, &run));
	ck_assert(!dp_strs_at(tab, 0, 3, 1, &run));
	ck_assert(!dp_strs_at(tab, 10, 0, 1, &run));
	ck_assert_uint_eq(run.n, 1);
	ck_assert(dp_strs_at(tab, 0, 3, 2, &run) && run.n == 6);
	ck_assert(dp_strs_at(tab, 9, 0, 0, &run) && run.n == 0);
	free((void *)(uintptr_t)tab.p);
}
END_TEST

START_TEST(comparing)
{
	ck_assert(dp_bytes_eq((struct dp_bytes){ NULL, 0 }, LIT("")));
	ck_assert(!dp_bytes_eq(LIT("a"), LIT("a\0")));
	ck_assert(dp_bytes_is(LIT("abc"), "abc"));
	ck_assert(!dp_bytes_is(LIT("abc\0"), "abc"));
	ck_assert_int_lt(dp_bytes_cmp(LIT("a"), LIT("a\0")), 0);
	ck_assert_int_gt(dp_bytes_cmp(LIT("a\0b"), LIT("a\0a")), 0);
	ck_assert_int_gt(dp_bytes_cmp(LIT("\xff"), LIT("a")), 0);
	ck_assert_int_eq(dp_bytes_cmp((struct dp_bytes){ NULL, 0 }, LIT("")),
	                 0);
	ck_assert_int_lt(dp_bytes_cmp((struct dp_bytes){ NULL, 0 }, LIT("x")),
	                 0);
}
END_TEST

START_TEST(ranges)
{
	ck_assert(dp_range_ok(0, 0, 0));
	ck_assert(dp_range_ok(10, 0, 10) && !dp_range_ok(11, 0, 10));
	ck_assert(dp_range_ok(4, 6, 10) && !dp_range_ok(4, 7, 10));
	ck_assert(!dp_range_ok(UINT64_MAX, 2, 10));
	ck_assert(!dp_range_ok(2, UINT64_MAX, 10));
	ck_assert(dp_range_ok(1, UINT64_MAX - 1, UINT64_MAX));
	ck_assert(!dp_table_ok(0, UINT32_MAX, UINT32_MAX, UINT32_MAX));
	ck_assert(dp_table_ok(8, 3, 4, 20) && !dp_table_ok(9, 3, 4, 20));
	ck_assert(!dp_table_ok(0, 1U << 31, 2, 8)); /* 2^32 is not 0 */
	ck_assert(dp_pow2(1) && dp_pow2(1ULL << 63));
	ck_assert(!dp_pow2(0) && !dp_pow2(3) && !dp_pow2(UINT64_MAX));
	ck_assert_uint_eq(dp_align_up(0, 8), 0);
	ck_assert_uint_eq(dp_align_up(9, 8), 16);
	ck_assert_uint_eq(dp_align_up(16, 8), 16);
	ck_assert_uint_eq(dp_align_up(UINT64_MAX, 8), 0);
}
END_TEST

START_TEST(vectors)
{
	struct dp_vec v = { 0 };

	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t *x = dp_vec_push(&v, sizeof *x);

		ck_assert_ptr_nonnull(x);
		ck_assert_uint_eq(*x, 0);
		*x = i;
	}
	ck_assert_uint_eq(v.n, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(*DP_VEC_AT(&v, uint64_t, i), i);
	v.n = 0; /* what is used again is zeroed again */
	ck_assert_uint_eq(*(uint64_t *)dp_vec_push(&v, 8), 0);
	ck_assert(dp_vec_reserve(&v, 0, 8));
	{
		struct dp_vec old = v;

		ck_assert(!dp_vec_reserve(&v, SIZE_MAX, 8));
		ck_assert(!dp_vec_reserve(&v, SIZE_MAX / 4, 8));
		ck_assert(!dp_vec_reserve(&v, SIZE_MAX - v.n, 1));
		ck_assert_mem_eq(&v, &old, sizeof v);
	}
	dp_vec_deinit(&v);
	ck_assert(v.p == NULL && v.n == 0 && v.cap == 0);
	dp_vec_deinit(&v);
}
END_TEST

START_TEST(buffers)
{
	struct dp_buf b = { 0 };
	char want[64];

	ck_assert(dp_buf_add(&b, NULL, 0) && b.n == 0);
	ck_assert(dp_buf_str(&b, "x=") && dp_buf_printf(&b, "%04d", 7));
	ck_assert(dp_bytes_is(dp_buf_bytes(&b), "x=0007"));
	ck_assert(!dp_buf_reserve(&b, SIZE_MAX));
	ck_assert(!dp_buf_reserve(&b, SIZE_MAX - 3));
	ck_assert_uint_eq(b.n, 6);
	for (int i = 0; i < 5000; i++)
		ck_assert(dp_buf_printf(&b, "%d,", i));
	snprintf(want, sizeof want, "4998,4999,");
	ck_assert_mem_eq(b.p + b.n - strlen(want), want, strlen(want));
	ck_assert_uint_le(b.n, b.cap);
	dp_buf_deinit(&b);
	ck_assert_ptr_null(b.p);
}
END_TEST

enum { MANY_KEYS = 20000 };

static struct dp_bytes
map_key(uint32_t i, uint32_t room[2])
{
	room[0] = i & ~1U; /* neighbours share all but the length */
	room[1] = 0;
	return (struct dp_bytes){ (const uint8_t *)room, 4 + (i & 1) };
}

START_TEST(map)
{
	struct dp_strmap m = { 0 };
	uint32_t room[2], *v;
	bool added = false;

	ck_assert_ptr_null(dp_strmap_find(&m, LIT("")));
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < MANY_KEYS; i++) {
			v = dp_strmap_add(&m, map_key(i, room), i, &added);
			ck_assert(v != NULL && added && *v == i);
		}
		for (uint32_t i = 0; i < MANY_KEYS; i++) {
			v = dp_strmap_add(&m, map_key(i, room), 9, &added);
			ck_assert(v != NULL && !added && *v == i);
			ck_assert(dp_strmap_find(&m, map_key(i, room)) == v);
			ck_assert(dp_bytes_eq(dp_strmap_key(&m, i),
			                      map_key(i, room)));
		}
		ck_assert_ptr_null(
			dp_strmap_find(&m, map_key(MANY_KEYS, room)));
		ck_assert_uint_eq(m.rows.n, MANY_KEYS);
		ck_assert_uint_le(m.rows.n * 2, m.nslots);
		dp_strmap_clear(&m);
		ck_assert_ptr_null(dp_strmap_find(&m, map_key(1, room)));
		v = dp_strmap_add(&m, LIT(""), 5, &added); /* a small one */
		ck_assert(v != NULL && added && *v == 5);
		ck_assert(dp_strmap_find(&m, LIT("")) == v);
		ck_assert_ptr_null(dp_strmap_find(&m, LIT("\0")));
		dp_strmap_clear(&m);
		dp_strmap_clear(&m);
	}
	dp_strmap_deinit(&m);
	dp_strmap_deinit(&m);
}
END_TEST

START_TEST(utf8)
{
	static const struct {
		const char *s;
		size_t len;
	} rows[] = {
		{ "a", 1 },
		{ "\x7f", 1 },
		{ "\xc2\x80", 2 },
		{ "\xdf\xbf", 2 },
		{ "\xe0\xa0\x80", 3 },
		{ "\xef\xbf\xbf", 3 },
		{ "\xed\x9f\xbf", 3 },
		{ "\xee\x80\x80", 3 },
		{ "\xf0\x90\x80\x80", 4 },
		{ "\xf4\x8f\xbf\xbf", 4 },
		/* alone, overlong, surrogates, too high, cut, not begun */
		{ "\x80", 0 },
		{ "\xbf", 0 },
		{ "\xc0\x80", 0 },
		{ "\xc1\xbf", 0 },
		{ "\xe0\x80\x80", 0 },
		{ "\xe0\x9f\xbf", 0 },
		{ "\xf0\x80\x80\x80", 0 },
		{ "\xf0\x8f\xbf\xbf", 0 },
		{ "\xed\xa0\x80", 0 },
		{ "\xed\xbf\xbf", 0 },
		{ "\xf4\x90\x80\x80", 0 },
		{ "\xf5\x80\x80\x80", 0 },
		{ "\xf8\x88\x80\x80\x80", 0 },
		{ "\xff", 0 },
		{ "\xc3", 0 },
		{ "\xe2\x82", 0 },
		{ "\xf0\x9f\x98", 0 },
		{ "\xc3(", 0 },
		{ "\xe2(\xa1", 0 },
		{ "\xe2\x82(", 0 },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct dp_bytes s = exact_copy(dp_cstr(rows[i].s));

		ck_assert_msg(dp_utf8_len(s.p, s.n) == rows[i].len,
		              "row %zu gives %zu", i, dp_utf8_len(s.p, s.n));
		free((void *)(uintptr_t)s.p);
	}
	ck_assert_uint_eq(dp_utf8_len((const uint8_t *)"\0", 1), 1);
}
END_TEST

START_TEST(json_text)
{
	static const uint8_t u8s[] = { 0, 7, 255 };
	struct dp_buf b = { 0 };
	struct dp_json j;

	dp_json_begin(&j, &b, "t");
	dp_json_u64(&j, "a", UINT64_MAX);
	dp_json_hex(&j, "b", 0x1f);
	dp_json_n64(&j, "c", UINT64_C(1) << 53);
	dp_json_n64(&j, "d", (UINT64_C(1) << 53) + 1);
	dp_json_s64(&j, "e", -(INT64_C(1) << 53));
	dp_json_s64(&j, "f", -(INT64_C(1) << 53) - 1);
	dp_json_s64(&j, "g", INT64_MIN);
	dp_json_bool(&j, "h", true);
	dp_json_str(&j, "i", LIT("\"\\\0\n\x7f/\xc3\xa9"));
	dp_json_str(&j, "j", LIT("a\xffz"));
	dp_json_bytes(&j, "k", LIT("\x01\xab"));
	dp_json_strs(&j, "l", LIT("x\0\0\xc0\0"));
	dp_json_strs(&j, "m", LIT(""));
	dp_json_u8s(&j, "n", (struct dp_bytes){ u8s, 3 });
	ck_assert(dp_json_end(&j));
	ck_str(dp_buf_bytes(&b),
	       "{\"type\":\"t\",\"a\":18446744073709551615,\"b\":\"0x1f\","
	       "\"c\":9007199254740992,\"d\":\"0x20000000000001\","
	       "\"e\":-9007199254740992,\"f\":\"0xffdfffffffffffff\","
	       "\"g\":\"0x8000000000000000\",\"h\":true,"
	       "\"i\":\"\\u0022\\u005c\\u0000\\u000a\\u007f/\xc3\xa9\","
	       "\"j\":\"a\xef\xbf\xbdz\",\"j_hex\":\"61ff7a\","
	       "\"k\":\"01ab\",\"l\":[\"x\",\"\",\"\xef\xbf\xbd\"],"
	       "\"l_hex\":\"780000c000\",\"m\":[],\"n\":[0,7,255]}\n");
	dp_buf_deinit(&b);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("base");
	TCase *t = tcase_create("base");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, err_first_wins);
	tcase_add_test(t, err_one_clean_line);
	tcase_add_test(t, err_long_is_cut);
	tcase_add_test(t, err_errno);
	tcase_add_test(t, err_names);
	tcase_add_test(t, rd_both_orders);
	tcase_add_test(t, rd_bad_stays);
	tcase_add_test(t, rd_edges);
	tcase_add_test(t, strings);
	tcase_add_test(t, comparing);
	tcase_add_test(t, ranges);
	tcase_add_test(t, vectors);
	tcase_add_test(t, buffers);
	tcase_add_test(t, map);
	tcase_add_test(t, utf8);
	tcase_add_test(t, json_text);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_checks(suite());
}
