/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mach-O: one object of each width and order made by hand from the same
 * values, objects made by clang, and what is broken.
 */
#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/vec.h"
#include "usdt/macho.h"

#define must(cond)                                                             \
	do {                                                                   \
		if (!(cond))                                                   \
			ck_abort_msg("%s", #cond);                             \
	} while (0)

struct out {
	struct dp_buf b;
	enum dp_order order;
};

static void
put(struct out *o, uint64_t v, unsigned width)
{
	uint8_t x[8];

	for (unsigned i = 0; i < width; i++)
		x[o->order == DP_LE ? i : width - 1 - i] =
			(uint8_t)(v >> 8 * i);
	must(dp_buf_add(&o->b, x, width));
}

static void
put_name(struct out *o, const char *name)
{
	char field[16] = "";

	memcpy(field, name, strlen(name)); /* 16 without a NUL is legal */
	must(dp_buf_add(&o->b, field, 16));
}

static void
put_section(struct out *o, unsigned w, const char *sect, uint32_t flags,
            uint32_t off)
{
	put_name(o, sect);
	put_name(o, "__DATA");
	put(o, 0x100001000, w);
	put(o, 0x234, w);
	put(o, off, 4);
	put(o, 3, 4);
	put(o, 0, 4);
	put(o, 0, 4);
	put(o, flags, 4);
	put(o, 0, 4);
	put(o, 0, 4);
	if (w == 8)
		put(o, 0, 4);
}

enum { NSECTS = 4 };

/* A library with a segment of four sections, a UUID and its own name. */
static void
make(struct out *o, unsigned w, uint32_t cpu)
{
	const uint32_t seg = (w == 8 ? 72 : 56) + NSECTS * (w == 8 ? 80 : 68);

	o->b.n = 0;
	put(o, w == 8 ? 0xfeedfacf : 0xfeedface, 4);
	put(o, cpu, 4);
	put(o, 3, 4);
	put(o, 6, 4); /* MH_DYLIB */
	put(o, 4, 4);
	put(o, seg + 24 + 16 + 40, 4);
	put(o, 0x85, 4);
	if (w == 8)
		put(o, 0, 4);
	put(o, 0x26, 4); /* LC_FUNCTION_STARTS: of no interest */
	put(o, 16, 4);
	put(o, 1, 8);
	put(o, w == 8 ? 0x19 : 1, 4);
	put(o, seg, 4);
	put_name(o, "__DATA");
	put(o, 0x100000000, w);
	put(o, 0x4000, w);
	put(o, 0x2000, w);
	put(o, 0x3000, w);
	put(o, 7, 4);
	put(o, 5, 4);
	put(o, NSECTS, 4);
	put(o, 0, 4);
	put_section(o, w, "__text", 0x80000400, 0x2000);
	put_section(o, w, "__dof_node", 0, 0x2100);
	put_section(o, w, "a_name_of_16_chr", DP_MACHO_S_DOF, 0x2200);
	put_section(o, w, "__bss", 1, 0x2300);
	put(o, 0x1b, 4);
	put(o, 24, 4);
	must(dp_buf_add(&o->b, "0123456789abcdef", 16));
	put(o, 0xd, 4);
	put(o, 40, 4);
	put(o, 24, 4);
	put(o, 0, 4);
	put(o, 0, 4);
	put(o, 0, 4);
	must(dp_buf_add(&o->b, "/lib/x.dylib\0\0\0\0", 16));
}

/* The next item, which must be of that kind. */
static struct dp_macho_item
next(struct dp_macho_it *it, enum dp_macho_kind kind)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_macho_item item = { 0 };
	bool more = false;

	if (!dp_macho_next(it, &item, &more, &e))
		ck_abort_msg("%s", e.msg);
	ck_assert(more);
	ck_assert_int_eq(item.kind, kind);
	return item;
}

START_TEST(test_all)
{
	static const char *const names[] = { "__text", "__dof_node",
		                             "a_name_of_16_chr", "__bss" };

	for (unsigned k = 0; k < 4; k++) {
		const unsigned w = k & 1 ? 4 : 8;
		struct out o = { .order = k & 2 ? DP_BE : DP_LE };
		struct dp_err e = DP_ERR_INIT;
		struct dp_macho_item item;
		struct dp_macho_it it;
		struct dp_macho m;
		uint64_t size = 0;
		bool more = true;

		make(&o, w, w == 8 ? 0x01000007 : 7);
		ck_assert(dp_macho_size((struct dp_bytes){ o.b.p, 32 }, &size,
		                        &e));
		ck_assert_uint_eq(size, o.b.n);
		must(dp_buf_add(&o.b, "behind", 6));
		ck_assert(dp_macho_open(dp_buf_bytes(&o.b), &m, &e));
		ck_assert_uint_eq(m.word, w);
		ck_assert(m.order == o.order);
		ck_assert_uint_eq(m.machine, w == 8 ? EM_X86_64 : EM_386);
		ck_assert_uint_eq(m.cpusubtype, 3);
		ck_assert_uint_eq(m.filetype, 6);
		ck_assert_uint_eq(m.flags, 0x85);
		ck_assert_uint_eq(m.in.n, size);
		it = dp_macho_iter(&m);
		item = next(&it, DP_MACHO_SEGMENT);
		ck_assert(dp_bytes_is(item.segname, "__DATA"));
		ck_assert_uint_eq(item.addr, w == 8 ? 0x100000000 : 0);
		ck_assert_uint_eq(item.vmsize, 0x4000);
		ck_assert_uint_eq(item.off, 0x2000);
		ck_assert_uint_eq(item.size, 0x3000);
		ck_assert_uint_eq(item.maxprot, 7);
		ck_assert_uint_eq(item.initprot, 5);
		for (unsigned i = 0; i < NSECTS; i++) {
			item = next(&it, DP_MACHO_SECTION);
			ck_assert(dp_bytes_is(item.sectname, names[i]));
			ck_assert(dp_bytes_is(item.segname, "__DATA"));
			ck_assert_uint_eq(item.addr,
			                  w == 8 ? 0x100001000 : 0x1000);
			ck_assert_uint_eq(item.vmsize, 0x234);
			ck_assert_uint_eq(item.size, i == 3 ? 0 : 0x234);
			ck_assert_uint_eq(item.off,
			                  i == 3 ? 0 : 0x2000 + i * 0x100);
			ck_assert(item.is_dof == (i == 1 || i == 2));
		}
		item = next(&it, DP_MACHO_UUID);
		ck_assert(dp_bytes_is(item.text, "0123456789abcdef"));
		item = next(&it, DP_MACHO_ID_DYLIB);
		ck_assert(dp_bytes_is(item.text, "/lib/x.dylib"));
		ck_assert(dp_macho_next(&it, &item, &more, &e));
		ck_assert(!more);
		dp_buf_deinit(&o.b);
	}
}
END_TEST

START_TEST(test_machines)
{
	static const struct {
		uint32_t cpu;
		uint16_t em;
	} rows[] = {
		{ 7, EM_386 },
		{ 0x01000007, EM_X86_64 },
		{ 12, EM_ARM },
		{ 0x0100000c, EM_AARCH64 },
		{ 18, EM_PPC },
		{ 0x01000012, EM_PPC64 },
		{ 0x0200000c, EM_AARCH64 },
		{ 0, EM_NONE },
		{ 0xffffffff, EM_NONE },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ck_assert_uint_eq(dp_macho_machine(rows[i].cpu), rows[i].em);
}
END_TEST

/* Run through an exact copy; how many items there were before the end. */
static unsigned
walk(struct dp_bytes in, struct dp_err *e)
{
	uint8_t *copy = malloc(in.n != 0 ? in.n : 1);
	struct dp_macho_item item;
	struct dp_macho_it it;
	struct dp_macho m;
	unsigned n = 0, sum = 0;
	bool more = true;

	must(copy != NULL);
	if (in.n != 0)
		memcpy(copy, in.p, in.n);
	*e = (struct dp_err)DP_ERR_INIT;
	if (dp_macho_open((struct dp_bytes){ copy, in.n }, &m, e)) {
		it = dp_macho_iter(&m);
		while (dp_macho_next(&it, &item, &more, e) && more) {
			n++;
			for (size_t i = 0; i < item.text.n; i++)
				sum += item.text.p[i];
			for (size_t i = 0; i < item.sectname.n; i++)
				sum += item.sectname.p[i];
			must(item.cmd_off < in.n);
		}
	}
	free(copy);
	return n + (sum == UINT32_MAX);
}

START_TEST(test_broken)
{
	/* of the 64-bit one: first command at 32, the segment at 48 */
	static const struct {
		size_t at;
		uint64_t v;
		unsigned width;
		enum dp_code code;
		uint64_t off;
		unsigned items;
	} rows[] = {
		{ 0, 0, 4, DP_EFORMAT, 0, 0 },
		{ 16, DP_MAX_MACHO_CMDS + 1, 4, DP_ELIMIT, 16, 0 },
		{ 16, DP_MAX_MACHO_CMDS, 4, DP_EFORMAT, 504, 7 },
		{ 16, 1, 4, DP_OK, 0, 0 },
		{ 20, DP_MAX_ELF_SECTION + 1U, 4, DP_ELIMIT, 16, 0 },
		{ 20, DP_MAX_ELF_SECTION, 4, DP_EFORMAT, 504, 0 },
		{ 20, 0, 4, DP_EFORMAT, 32, 0 },
		{ 36, 7, 4, DP_EFORMAT, 32, 0 },
		{ 36, 0xffffffff, 4, DP_EFORMAT, 32, 0 },
		{ 52, 391, 4, DP_EFORMAT, 48, 0 },
		{ 52, 71, 4, DP_EFORMAT, 48, 0 },
		{ 112, 5, 4, DP_EFORMAT, 48, 0 },
		{ 112, 0xffffffff, 4, DP_EFORMAT, 48, 0 },
		{ 112, 0, 4, DP_OK, 0, 3 },
		{ 444, 23, 4, DP_EFORMAT, 440, 5 },
		{ 472, 23, 4, DP_EFORMAT, 464, 6 },
		{ 472, 41, 4, DP_EFORMAT, 464, 6 },
		{ 472, 40, 4, DP_OK, 0, 7 },
	};
	struct out o = { .order = DP_LE };
	struct dp_err e;

	make(&o, 8, 0x01000007);
	ck_assert_uint_eq(o.b.n, 504);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct out bad = { .order = DP_LE };
		unsigned items;
		size_t n;

		must(dp_buf_add(&bad.b, o.b.p, o.b.n));
		n = bad.b.n;
		bad.b.n = rows[i].at;
		put(&bad, rows[i].v, rows[i].width);
		bad.b.n = n;
		items = walk(dp_buf_bytes(&bad.b), &e);
		ck_assert_msg(e.code == rows[i].code && items == rows[i].items,
		              "row %zu: %d %u: %s", i, e.code, items, e.msg);
		if (e.code != DP_OK)
			ck_assert_msg(e.off == rows[i].off, "row %zu: %ju", i,
			              (uintmax_t)e.off);
		dp_buf_deinit(&bad.b);
	}
	dp_buf_deinit(&o.b);
}
END_TEST

START_TEST(test_prefixes_and_flips)
{
	for (unsigned k = 0; k < 4; k++) {
		struct out o = { .order = k & 2 ? DP_BE : DP_LE };
		struct dp_err e;

		make(&o, k & 1 ? 4 : 8, 12);
		for (size_t n = 0; n < o.b.n; n++) {
			(void)walk((struct dp_bytes){ o.b.p, n }, &e);
			must(e.code == DP_EFORMAT);
		}
		for (size_t at = 0; at < o.b.n; at++)
			for (unsigned bit = 0; bit < 9; bit++) {
				uint8_t mask =
					bit == 8 ? 0xff : (uint8_t)(1 << bit);

				o.b.p[at] ^= mask;
				(void)walk(dp_buf_bytes(&o.b), &e);
				o.b.p[at] ^= mask;
			}
		dp_buf_deinit(&o.b);
	}
}
END_TEST

START_TEST(test_fat)
{
	for (unsigned w = 4; w <= 8; w += 4) {
		struct out o = { .order = DP_BE };
		static const uint64_t where[][2] = {
			{ 0x1000, 0x500 },    { 0x2000, 0x1000 },
			{ 0x2000, 0x1001 },   { 8, 16 },
			{ 0xfffffff0, 0x20 },
		};
		const uint64_t file = 0x3000;
		struct dp_fat_slice s = { .off = 77 };
		struct dp_err e = DP_ERR_INIT;
		struct dp_fat fat;
		uint64_t size = 0;

		put(&o, w == 8 ? 0xcafebabf : 0xcafebabe, 4);
		put(&o, 5, 4);
		for (unsigned i = 0; i < 5; i++) {
			put(&o, i ? 0x0100000c : 0x01000007, 4);
			put(&o, i, 4);
			put(&o, where[i][0], w);
			put(&o, where[i][1], w);
			put(&o, 12, 4);
			if (w == 8)
				put(&o, 0, 4);
		}
		ck_assert(
			dp_fat_size((struct dp_bytes){ o.b.p, 8 }, &size, &e));
		ck_assert_uint_eq(size, o.b.n);
		ck_assert(!dp_fat_open((struct dp_bytes){ o.b.p, o.b.n - 1 },
		                       &fat, &e));
		ck_assert_int_eq(e.code, DP_EFORMAT);
		e = (struct dp_err)DP_ERR_INIT;
		ck_assert(dp_fat_open(dp_buf_bytes(&o.b), &fat, &e));
		ck_assert_uint_eq(fat.n, 5);
		for (uint32_t i = 0; i < 6; i++) {
			bool ok;

			e = (struct dp_err)DP_ERR_INIT;
			ok = dp_fat_slice(&fat, i, file, &s, &e);
			ck_assert(ok == (i < 2));
			if (!ok) {
				ck_assert_int_eq(e.code, DP_EFORMAT);
				ck_assert_uint_eq(e.off,
				                  8 + i * (w == 8 ? 32 : 20));
				ck_assert_uint_eq(s.off, 0x2000);
				continue;
			}
			ck_assert_uint_eq(s.machine,
			                  i ? EM_AARCH64 : EM_X86_64);
			ck_assert_uint_eq(s.cpusubtype, i);
			ck_assert_uint_eq(s.off, where[i][0]);
			ck_assert_uint_eq(s.size, where[i][1]);
		}
		dp_buf_deinit(&o.b);
	}
}
END_TEST

START_TEST(test_fat_limit)
{
	for (unsigned over = 0; over < 2; over++) {
		struct out o = { .order = DP_BE };
		struct dp_err e = DP_ERR_INIT;
		uint64_t size = 0;

		put(&o, 0xcafebabe, 4);
		put(&o, DP_MAX_FAT_ARCHS + over, 4);
		ck_assert(dp_fat_size(dp_buf_bytes(&o.b), &size, &e) ==
		          (over == 0));
		ck_assert_int_eq(e.code, over ? DP_ELIMIT : DP_OK);
		dp_buf_deinit(&o.b);
	}
}
END_TEST

/* Objects of a real assembler. */
START_TEST(test_real)
{
	static const struct {
		const char *target;
		uint16_t em;
		unsigned word;
	} rows[] = {
		{ "x86_64-apple-macos10.13", EM_X86_64, 8 },
		{ "arm64-apple-macos11", EM_AARCH64, 8 },
		{ "i386-apple-macos10.13", EM_386, 4 },
	};

	if (system("command -v clang >/dev/null") != 0) {
		printf("skip: no clang\n");
		return;
	}
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char path[] = "/tmp/dp-macho-XXXXXX", cmd[400];
		static uint8_t bytes[65536];
		struct dp_err e = DP_ERR_INIT;
		struct dp_macho_item item;
		struct dp_macho_it it;
		struct dp_macho m;
		unsigned dofs = 0;
		bool more = true;
		FILE *f;
		size_t n;

		ck_assert_int_ge(mkstemp(path), 0);
		(void)snprintf(
			cmd, sizeof cmd,
			"printf '.section __DATA,__dof_myprov,regular\\n"
			".ascii \"DOFDOFDO\"\\n.text\\nnop\\n' | clang "
			"--target=%s -c -x assembler -o %s - 2>/dev/null",
			rows[i].target, path);
		if (system(cmd) != 0) {
			printf("skip: clang does not know %s\n",
			       rows[i].target);
			(void)unlink(path);
			continue;
		}
		f = fopen(path, "r");
		must(f != NULL);
		n = fread(bytes, 1, sizeof bytes, f);
		(void)fclose(f);
		(void)unlink(path);
		ck_assert(dp_macho_open((struct dp_bytes){ bytes, n }, &m, &e));
		ck_assert_uint_eq(m.machine, rows[i].em);
		ck_assert_uint_eq(m.word, rows[i].word);
		ck_assert_uint_eq(m.filetype, 1);
		it = dp_macho_iter(&m);
		while (dp_macho_next(&it, &item, &more, &e) && more) {
			if (item.kind != DP_MACHO_SECTION || !item.is_dof)
				continue;
			dofs++;
			ck_assert(dp_bytes_is(item.sectname, "__dof_myprov"));
			ck_assert_uint_eq(item.size, 8);
			ck_assert(item.off + 8 <= n);
			ck_assert_int_eq(
				memcmp(bytes + item.off, "DOFDOFDO", 8), 0);
		}
		ck_assert_int_eq(e.code, DP_OK);
		ck_assert_uint_eq(dofs, 1);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("macho");
	TCase *t = tcase_create("macho");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_all);
	tcase_add_test(t, test_machines);
	tcase_add_test(t, test_broken);
	tcase_add_test(t, test_prefixes_and_flips);
	tcase_add_test(t, test_fat);
	tcase_add_test(t, test_fat_limit);
	tcase_add_test(t, test_real);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
