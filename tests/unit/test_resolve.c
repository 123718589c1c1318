/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one function that applies relocations: link-time and run-time
 * addresses of everything that real linkers were seen to make.
 */
#include "base/bytes.h"
#include "record/resolve.h"
#include "streams.h"

enum { MAX_RELOCS = 3 };

#define BIAS      DPR_BASE_BIAS
#define DOFB      DPR_BASE_DOF
#define NONE      DPR_BASE_NONE
#define PIE_BASE  0x555555554000
#define DOF_THERE 0x7f0000201000 /* where a DOF lies in a process */

/* RELA: kind, base, addend, and the word in place does not count. */
#define RELA(k, b, sym, add, word)                                             \
	{                                                                      \
		.kind = DPR_RELOC_ELF_##k, .base = (b), .sym_value = (sym),    \
		.addend = (int64_t)(add), .replaces = true, .in_place = (word) \
	}
#define REL(k, b, sym, word)                                                   \
	{                                                                      \
		.kind = DPR_RELOC_ELF_##k, .base = (b), .sym_value = (sym),    \
		.in_place = (word), .width = 4                                 \
	}

static const struct row {
	const char *what;
	uint64_t value;
	uint32_t n;
	struct dp_rec_reloc r[MAX_RELOCS];
	struct dp_bases at;
	uint64_t link, run; /* all zeros but .dof_link; with `at` */
	uint64_t dof_link;
} rows[] = {
	{ "nothing to add",
	  0x40102a,
	  0,
	  { { 0 } },
	  { PIE_BASE, 1, false },
	  0x40102a,
	  0x40102a,
	  0 },
	/* FIELD-REPORTS 3.1, 3.2: executables at fixed addresses */
	{ "ET_EXEC note",
	  0x40102a,
	  1,
	  { { .kind = DPR_RELOC_SDT_BASE, .base = NONE } },
	  { 0, 0, false },
	  0x40102a,
	  0x40102a,
	  0 },
	{ "ET_EXEC of lld",
	  0x20161a,
	  1,
	  { { .kind = DPR_RELOC_SDT_BASE, .base = NONE } },
	  { 0, 0, false },
	  0x20161a,
	  0x20161a,
	  0 },
	/* 3.3, 3.4: a semaphore is not moved with the text */
	{ "semaphore of lld",
	  0x2037b8,
	  1,
	  { { .kind = DPR_RELOC_SDT_BASE, .base = NONE } },
	  { 0, 0, false },
	  0x2037b8,
	  0x2037b8,
	  0 },
	{ "semaphore",
	  0x404010,
	  1,
	  { { .kind = DPR_RELOC_SDT_BASE, .base = NONE } },
	  { 0, 0, false },
	  0x404010,
	  0x404010,
	  0 },
	/* 3.6: the bias, not the start of the executable mapping */
	{ "PIE of lld",
	  0x1880,
	  1,
	  { { .kind = DPR_RELOC_SDT_BASE, .base = BIAS } },
	  { PIE_BASE, 0, false },
	  0x1880,
	  0x555555555880,
	  0 },
	/* prelink moved the file: 0x2030 -> 0x3030; and back */
	{ "moved file",
	  0x1129,
	  1,
	  { { .kind = DPR_RELOC_SDT_BASE, .base = BIAS, .addend = 0x1000 } },
	  { 0x10000, 0, false },
	  0x2129,
	  0x12129,
	  0 },
	{ "file moved down",
	  0x2129,
	  1,
	  { { .kind = DPR_RELOC_SDT_BASE, .base = BIAS, .addend = -0x1000 } },
	  { 0x10000, 0, false },
	  0x1129,
	  0x11129,
	  0 },
	/* 3.9: no base on one side, so no way to go */
	{ "note base 0",
	  0x1129,
	  1,
	  { { .kind = DPR_RELOC_SDT_BASE, .base = BIAS, .addend = 0 } },
	  { 0x10000, 0, false },
	  0x1129,
	  0x11129,
	  0 },
	/* 3.32: four ways in which linkers leave the word of a probe */
	{ "lld PIE: 0 in place, RELATIVE 0x1709",
	  0,
	  2,
	  { RELA(RELATIVE, BIAS, 0, 0x1709, 0),
	    { .kind = DPR_RELOC_SETX,
	      .base = BIAS,
	      .state = DPR_RELOC_LOADER } },
	  { PIE_BASE, 0, false },
	  0x1709,
	  PIE_BASE + 0x1709,
	  0 },
	{ "bfd PIE: 0x1129 in place and as addend",
	  0x1129,
	  2,
	  { RELA(RELATIVE, BIAS, 0, 0x1129, 0x1129),
	    { .kind = DPR_RELOC_SETX,
	      .base = BIAS,
	      .in_place = 0x1129,
	      .state = DPR_RELOC_LOADER } },
	  { PIE_BASE, 0, false },
	  0x1129,
	  PIE_BASE + 0x1129,
	  0 },
	{ ".so: R_X86_64_64 against 0x1109",
	  0,
	  2,
	  { RELA(SYMBOL, BIAS, 0x1109, 0, 0),
	    { .kind = DPR_RELOC_SETX,
	      .base = BIAS,
	      .state = DPR_RELOC_LOADER } },
	  { 0x7f0000000000, 0, false },
	  0x1109,
	  0x7f0000001109,
	  0 },
	{ "no ELF relocation: SETX adds the bias",
	  0x1129,
	  1,
	  { { .kind = DPR_RELOC_SETX, .base = BIAS, .in_place = 0x1129 } },
	  { PIE_BASE, 0, false },
	  0x1129,
	  PIE_BASE + 0x1129,
	  0 },
	/* the same with a site's offset on top of the word */
	{ "site of lld PIE",
	  0x14,
	  2,
	  { RELA(RELATIVE, BIAS, 0, 0x1709, 0),
	    { .kind = DPR_RELOC_SETX,
	      .base = BIAS,
	      .state = DPR_RELOC_LOADER } },
	  { PIE_BASE, 0, false },
	  0x171d,
	  PIE_BASE + 0x171d,
	  0 },
	{ "site of bfd PIE",
	  0x1129 + 0x14,
	  1,
	  { RELA(RELATIVE, BIAS, 0, 0x1129, 0x1129) },
	  { PIE_BASE, 0, false },
	  0x113d,
	  PIE_BASE + 0x113d,
	  0 },
	/* i386: REL adds to what stands there, and ld.so does it once */
	{ "i386 PIE: RELATIVE and SETX",
	  0x11b9,
	  2,
	  { REL(RELATIVE, BIAS, 0, 0x11b9),
	    { .kind = DPR_RELOC_SETX,
	      .base = BIAS,
	      .in_place = 0x11b9,
	      .state = DPR_RELOC_LOADER } },
	  { 0x56555000, 0, true },
	  0x11b9,
	  0x565561b9,
	  0 },
	{ "i386 .so: R_386_32 with 0 in place",
	  0,
	  2,
	  { REL(SYMBOL, BIAS, 0x11a0, 0),
	    { .kind = DPR_RELOC_SETX,
	      .base = BIAS,
	      .state = DPR_RELOC_LOADER } },
	  { 0xf7d00000, 0, true },
	  0x11a0,
	  0xf7d011a0,
	  0 },
	{ "REL with an addend in place",
	  8,
	  1,
	  { REL(SYMBOL, BIAS, 0x11a0, 8) },
	  { 0xf7d00000, 0, true },
	  0x11a8,
	  0xf7d011a8,
	  0 },
	{ "RELA replaces what stands there",
	  8,
	  1,
	  { RELA(SYMBOL, BIAS, 0x11a0, 16, 8) },
	  { 0x10000, 0, false },
	  0x11b0,
	  0x111b0,
	  0 },
	/* 32 bits wrap: a bias near the top, an addend below zero */
	{ "bias wraps at 32 bits",
	  0x2000,
	  1,
	  { { .kind = DPR_RELOC_SETX, .base = BIAS } },
	  { 0xfffff000, 0, true },
	  0x2000,
	  0x1000,
	  0 },
	{ "negative bias in 32 bits",
	  0x8048123,
	  1,
	  { { .kind = DPR_RELOC_SDT_BASE, .base = BIAS, .addend = -0x1000 } },
	  { (uint64_t)-0x8000000, 0, true },
	  0x8047123,
	  0x47123,
	  0 },
	{ "64 bits do not wrap at 32",
	  0xffffffff,
	  1,
	  { { .kind = DPR_RELOC_SETX, .base = BIAS } },
	  { 1, 0, false },
	  0xffffffff,
	  0x100000000,
	  0 },
	{ "64 bits wrap at 64",
	  0x2000,
	  1,
	  { { .kind = DPR_RELOC_SETX, .base = BIAS } },
	  { (uint64_t)-0x3000, 0, false },
	  0x2000,
	  (uint64_t)-0x1000,
	  0 },
	{ "a value of more than 32 bits is cut where none can be",
	  0x100001129,
	  0,
	  { { 0 } },
	  { 0, 0, true },
	  0x1129,
	  0x1129,
	  0 },
	/* DOFREL (FreeBSD): place-relative, needs the DOF, not the bias */
	{ "DOFREL",
	  0x401136 - 0x402058,
	  1,
	  { { .kind = DPR_RELOC_DOFREL, .base = DOFB, .addend = 0x58 } },
	  { 0, 0x402000, false },
	  0x401136,
	  0x401136,
	  0x402000 },
	{ "DOFREL in a PIE",
	  (uint64_t)(0x1136 - 0x3058),
	  1,
	  { { .kind = DPR_RELOC_DOFREL, .base = DOFB, .addend = 0x58 } },
	  { PIE_BASE, PIE_BASE + 0x3000, false },
	  0x1136,
	  PIE_BASE + 0x1136,
	  0x3000 },
	/* not yet linked: PC-relative in the file, then DOFREL on top */
	{ "PCREL and DOFREL in ET_REL",
	  0,
	  2,
	  { RELA(PCREL, NONE, 0x40, 4 - 0x58, 0),
	    { .kind = DPR_RELOC_DOFREL, .base = DOFB, .addend = 0x58 } },
	  { 0, 0x9000, false },
	  0x44,
	  0x9044,
	  0 },
	/* Apple: 0 in place, offsets are signed and count from the DOF */
	{ "Apple, x86",
	  (uint64_t)-0x1000,
	  1,
	  { { .kind = DPR_RELOC_APPLE, .base = DOFB, .addend = -1 } },
	  { 0x100000000, DOF_THERE, false },
	  0x100002fff,
	  DOF_THERE - 0x1001,
	  0x100004000 },
	{ "Apple, arm64",
	  (uint64_t)-0x1000,
	  1,
	  { { .kind = DPR_RELOC_APPLE, .base = DOFB } },
	  { 0x100000000, DOF_THERE, false },
	  0x100003000,
	  DOF_THERE - 0x1000,
	  0x100004000 },
	/* libusdt: the address of the process stands there already */
	{ "libusdt",
	  0x7f0000001000,
	  1,
	  { { .kind = DPR_RELOC_PLAIN, .base = NONE } },
	  { 0x7f0000000000, DOF_THERE, false },
	  0x7f0000001000,
	  0x7f0000001000,
	  0 },
	/* a relocation that nobody knows changes nothing */
	{ "other",
	  0x1234,
	  1,
	  { { .kind = DPR_RELOC_ELF_OTHER, .base = NONE, .r_type = 200 } },
	  { PIE_BASE, 0, false },
	  0x1234,
	  0x1234,
	  0 },
	{ "done by the loader",
	  0x1234,
	  1,
	  { { .kind = DPR_RELOC_SETX,
	      .base = BIAS,
	      .addend = 7,
	      .sym_value = 9,
	      .replaces = true,
	      .in_place = 0x1234,
	      .state = DPR_RELOC_LOADER } },
	  { PIE_BASE, 1, false },
	  0x1234,
	  0x1234,
	  0 },
	{ "a state from later is not applied",
	  0x1234,
	  1,
	  { { .kind = DPR_RELOC_SETX, .base = BIAS, .addend = 7, .state = 9 } },
	  { PIE_BASE, 1, false },
	  0x1234,
	  0x1234,
	  0 },
	{ "three add up",
	  1,
	  3,
	  { { .base = BIAS, .addend = 0x10 },
	    { .base = DOFB, .sym_value = 0x100 },
	    { .base = NONE, .addend = -1 } },
	  { 0x1000, 0x10000, false },
	  0x110,
	  0x11110,
	  0 },
};

START_TEST(table)
{
	const struct row *row = &rows[_i];
	struct dp_bases link = { .dof = row->dof_link,
		                 .wrap32 = row->at.wrap32 };
	uint64_t got = dp_resolve(row->value, row->r, row->n, &link);

	ck_assert_msg(got == row->link, "%s: link-time 0x%llx not 0x%llx",
	              row->what, (unsigned long long)got,
	              (unsigned long long)row->link);
	got = dp_resolve(row->value, row->r, row->n, &row->at);
	ck_assert_msg(got == row->run, "%s: run-time 0x%llx not 0x%llx",
	              row->what, (unsigned long long)got,
	              (unsigned long long)row->run);
}
END_TEST

/* Sites are the word plus an offset: resolving must not mind which first. */
START_TEST(offset_first_or_last)
{
	const struct row *row = &rows[_i];

	for (uint64_t off = 1; off != 0; off <<= 7) {
		uint64_t a =
			dp_resolve(row->value + off, row->r, row->n, &row->at);
		uint64_t b = row->run + off;

		ck_assert_uint_eq(a, row->at.wrap32 ? (uint32_t)b : b);
	}
}
END_TEST

START_TEST(matters)
{
	static const struct {
		struct dp_rec_reloc r;
		bool want;
	} cases[] = {
		{ { .base = BIAS }, true },
		{ { .base = DOFB }, true },
		{ { .base = NONE }, false },
		{ { .base = NONE, .addend = -1 }, true },
		{ { .base = NONE, .sym_value = 1 }, true },
		{ { .base = NONE, .in_place = 5 }, false },
		{ { .base = NONE, .in_place = 5, .replaces = true }, true },
		{ { .base = NONE, .in_place = 0, .replaces = true }, false },
		/* what is stored is what stands there */
		{ { .base = NONE,
		    .in_place = 5,
		    .sym_value = 7,
		    .addend = -2,
		    .replaces = true },
		  false },
		{ { .base = NONE, .sym_value = 2, .addend = -2 }, false },
		{ { .base = NONE, .addend = INT64_C(1) << 32, .width = 4 },
		  false },
		{ { .base = NONE, .addend = INT64_C(1) << 32, .width = 8 },
		  true },
		{ { .base = NONE, .addend = -1, .width = 4 }, true },
		{ { .base = BIAS, .state = DPR_RELOC_LOADER }, false },
		{ { .base = NONE, .addend = 4, .state = DPR_RELOC_LOADER },
		  false },
	};

	for (size_t i = 0; i < LEN(cases); i++)
		ck_assert_msg(dp_reloc_matters(&cases[i].r) == cases[i].want,
		              "case %zu", i);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("resolve");
	TCase *t = tcase_create("resolve");

	tcase_add_loop_test(t, table, 0, (int)LEN(rows));
	tcase_add_loop_test(t, offset_first_or_last, 0, (int)LEN(rows));
	tcase_add_test(t, matters);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_checks(suite());
}
