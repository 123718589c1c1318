/* SPDX-License-Identifier: BSD-2-Clause */
/* Archives: made by ar, made by hand, and broken. */
#include "elfutil.h"

#include "base/limits.h"
#include "elf/archive.h"

/* Append a member; `name` and `size` as they stand in the header. */
static void
put_member(struct dp_buf *b, const char *name, const char *size,
           const char *data, size_t n)
{
	must(dp_buf_printf(b, "%-16s%-12s%-6s%-6s%-8s%-10s`\n", name, "0", "0",
	                   "0", "644", size));
	must(dp_buf_add(b, data, n));
	if (b->n % 2 != 0)
		must(dp_buf_add(b, "\n", 1));
}

struct want {
	const char *name, *data;
};

/* Step through; `n` members, then the end or a failure of `code`. */
static uint64_t
check(struct dp_bytes in, const struct want *want, size_t n, enum dp_code code)
{
	struct dp_src src = dp_src_mem(in);
	struct dp_err e = DP_ERR_INIT;
	struct dp_ar_member m;
	struct dp_buf b = { 0 };
	struct dp_src sub;
	struct dp_ar ar;
	bool more = true;

	ck_ok(dp_ar_open(&ar, &src, &e), e);
	for (size_t i = 0; i < n; i++) {
		ck_ok(dp_ar_next(&ar, &m, &more, &e), e);
		ck_assert(more);
		ck_assert_msg(dp_bytes_is(m.name, want[i].name), "%zu: %.*s", i,
		              (int)m.name.n, (const char *)m.name.p);
		sub = dp_ar_src(&ar, &m);
		ck_ok(dp_src_load(&sub, 0, m.size, &b, &e), e);
		ck_assert(dp_bytes_is(dp_buf_bytes(&b), want[i].data));
	}
	ck_assert(dp_ar_next(&ar, &m, &more, &e) == (code == DP_OK));
	ck_assert_int_eq(e.code, code);
	ck_assert(more == (code != DP_OK));
	dp_ar_close(&ar);
	dp_buf_deinit(&b);
	return e.off;
}

START_TEST(test_names)
{
	static const struct want want[] = {
		{ "short.o", "odd" },
		{ "a very long name of a member.o", "even" },
		{ "dir/second name.o", "x" },
		{ "bsd name", "data" },
		{ "plain", "" },
		{ "msvc.obj", "y" },
		{ "/99", "z" }, /* outside of the table of names */
	};
	struct dp_buf b = { 0 };

	must(dp_buf_str(&b, "!<arch>\n"));
	put_member(&b, "/", "4", "\0\0\0\0", 4);
	put_member(&b, "/SYM64/", "8", "\0\0\0\0\0\0\0\0", 8);
	put_member(&b, "//", "60",
	           "a very long name of a member.o/\ndir/second name.o/\n"
	           "msvc.obj\0",
	           60);
	put_member(&b, "__.SYMDEF", "2", "xx", 2);
	put_member(&b, "#1/20", "22", "__.SYMDEF SORTED\0\0\0\0xx", 22);
	put_member(&b, "short.o/", "3", "odd", 3);
	put_member(&b, "/0", "4", "even", 4);
	put_member(&b, "/32", "1", "x", 1);
	put_member(&b, "#1/12", "16", "bsd name\0\0\0\0data", 16);
	put_member(&b, "plain", "0", "", 0);
	put_member(&b, "/51", "1", "y", 1);
	put_member(&b, "/99", "1", "z", 1);
	(void)check(dp_buf_bytes(&b), want, 7, DP_OK);
	(void)check((struct dp_bytes){ b.p, 8 }, NULL, 0, DP_OK);
	dp_buf_deinit(&b);
}
END_TEST

START_TEST(test_broken)
{
	static const struct {
		const char *name, *size;
		enum dp_code code;
	} rows[] = {
		{ "a/", "5", DP_EFORMAT }, /* one byte more than there is */
		{ "a/", "9999999999", DP_EFORMAT }, { "a/", "", DP_EFORMAT },
		{ "a/", "-1", DP_EFORMAT },         { "a/", "1 2", DP_EFORMAT },
		{ "a/", "0x4", DP_EFORMAT },        { "#1/5", "4", DP_EFORMAT },
		{ "#1/", "4", DP_EFORMAT },
	};
	static const struct want one[] = { { "ok", "fine" } };
	struct dp_buf b = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint64_t at, off;

		b.n = 0;
		must(dp_buf_str(&b, "!<arch>\n"));
		put_member(&b, "ok/", "4", "fine", 4);
		at = b.n;
		put_member(&b, rows[i].name, rows[i].size, "1234", 4);
		off = check(dp_buf_bytes(&b), one, 1, rows[i].code);
		ck_assert_msg(off == at, "row %zu: %" PRIu64, i, off);
	}
	dp_buf_deinit(&b);
}
END_TEST

/* Every prefix of an archive: the whole members stay, then an error. */
START_TEST(test_prefixes)
{
	static const struct want want[] = { { "one", "first" },
		                            { "two", "second" } };
	struct dp_buf b = { 0 };
	size_t ends[3];

	must(dp_buf_str(&b, "!<arch>\n"));
	ends[0] = b.n;
	put_member(&b, "one/", "5", "first", 5);
	ends[1] = b.n;
	put_member(&b, "two/", "6", "second", 6);
	ends[2] = b.n;
	for (size_t n = 8; n <= b.n; n++) {
		struct dp_bytes cut = exact((struct dp_bytes){ b.p, n });
		/* the padding byte may be missing */
		size_t have = n >= ends[2] ? 2 : n >= ends[1] - 1 ? 1 : 0;
		bool whole = n == ends[0] || n == ends[1] || n == ends[1] - 1 ||
		             n == ends[2];

		(void)check(cut, want, have, whole ? DP_OK : DP_EFORMAT);
		free((void *)(uintptr_t)cut.p);
	}
	dp_buf_deinit(&b);
}
END_TEST

START_TEST(test_open)
{
	struct dp_src src = dp_src_mem(dp_cstr("!<thin>\nmore"));
	struct dp_err e = DP_ERR_INIT;
	struct dp_ar ar;

	ck_assert(!dp_ar_open(&ar, &src, &e));
	ck_assert_int_eq(e.code, DP_EUNSUP);
	e = (struct dp_err)DP_ERR_INIT;
	src = dp_src_mem(dp_cstr("!<arch>"));
	ck_assert(!dp_ar_open(&ar, &src, &e));
	ck_assert_int_eq(e.code, DP_EFORMAT);
}
END_TEST

/* As many members as may be, and one more. */
START_TEST(test_limit)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_ar_member m;
	struct dp_buf b = { 0 };
	struct dp_src src;
	struct dp_ar ar;
	bool more = true;
	uint32_t n = 0;

	must(dp_buf_str(&b, "!<arch>\n"));
	put_member(&b, "x/", "0", "", 0);
	must(dp_buf_reserve(&b, 60UL * DP_MAX_AR_MEMBERS));
	for (uint32_t i = 0; i < DP_MAX_AR_MEMBERS; i++)
		must(dp_buf_add(&b, b.p + 8, 60));
	for (unsigned over = 0; over < 2; over++) {
		src = dp_src_mem((struct dp_bytes){
			b.p, 8 + 60UL * (DP_MAX_AR_MEMBERS + over) });
		ck_ok(dp_ar_open(&ar, &src, &e), e);
		for (n = 0; dp_ar_next(&ar, &m, &more, &e) && more; n++)
			;
		ck_assert_uint_eq(n, DP_MAX_AR_MEMBERS);
		ck_assert_int_eq(e.code, over ? DP_ELIMIT : DP_OK);
		dp_ar_close(&ar);
	}
	dp_buf_deinit(&b);
}
END_TEST

/* What `ar` makes: `ar t` and `ar p` are the independent answer. */
START_TEST(test_real)
{
	static const char *const flavours[] = { "gnu", "bsd" };
	const char *dir = tmp_dir();
	struct dp_err e = DP_ERR_INIT;
	const char *tool = "ar";

	if (!have("ar gcc cmp"))
		return;
	ck_assert(
		sh("cd %s && for n in a bb a_name_of_more_than_16_chars "
	           "odd_length_of_name_number_5; do echo \"int $n;\" | "
	           "gcc -g -xc -c -o $n.o - || exit 1; done; printf odd >z.txt",
	           dir));
	for (unsigned i = 0; i < 2; i++) {
		struct dp_ar_member m;
		struct dp_buf b = { 0 };
		struct dp_src src, sub;
		struct dp_ar ar;
		bool more;
		unsigned n = 0;
		int fd;

		if (i == 1) {
			if (!have("llvm-ar"))
				break;
			tool = "llvm-ar --format=bsd";
		}
		ck_assert(sh("cd %s && rm -f t.a && %s rcs t.a a.o z.txt "
		             "a_name*.o odd*.o bb.o",
		             dir, tool));
		fd = open(tmp_path("t.a"), O_RDONLY | O_CLOEXEC);
		src = dp_src_fd(fd, 0, DP_SRC_UNKNOWN);
		ck_ok(dp_ar_open(&ar, &src, &e), e);
		for (;;) {
			struct dp_elf elf;

			ck_ok(dp_ar_next(&ar, &m, &more, &e), e);
			if (!more)
				break;
			sub = dp_ar_src(&ar, &m);
			ck_ok(dp_src_load(&sub, 0, m.size, &b, &e), e);
			write_file(tmp_path("member"), b.p, b.n);
			ck_assert(sh("cd %s && cmp member %.*s", dir,
			             (int)m.name.n, (const char *)m.name.p));
			n++;
			if (dp_bytes_is(m.name, "z.txt"))
				continue;
			ck_ok(dp_elf_open(&elf, &sub, &e), e);
			ck_assert_int_eq(elf.secs_why.code, DP_OK);
			ck_assert_ptr_nonnull(
				dp_elf_sec_named(&elf, ".symtab"));
			dp_elf_close(&elf);
		}
		ck_assert_uint_eq(n, 5);
		printf("archive: %s: 5 members agree\n", flavours[i]);
		dp_ar_close(&ar);
		dp_buf_deinit(&b);
		(void)close(fd);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("elf_archive");
	TCase *t = tcase_create("archive");

	(void)tmp_dir();
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_names);
	tcase_add_test(t, test_broken);
	tcase_add_test(t, test_prefixes);
	tcase_add_test(t, test_open);
	tcase_add_test(t, test_limit);
	tcase_add_test(t, test_real);
	suite_add_tcase(s, t);
	return run_suite(s);
}
