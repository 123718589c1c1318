/* SPDX-License-Identifier: BSD-2-Clause */
/* Argument strings: rows made by hand, and the corpus of compiled samples. */
#include <check.h>
#include <elf.h>
#include <glob.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "usdt/argspec.h"

/* One operand and what it must be; NULL strings are absent parts. */
struct row {
	uint16_t machine;
	const char *text;
	enum dp_arg_kind kind;
	const char *base;
	const char *index;
	unsigned scale; /* 0 stands for 1 */
	int64_t disp;
	const char *symbol;
	const char *modifier;
	const char *segment;
};

#define X64 EM_X86_64
#define I32 EM_386
#define A64 EM_AARCH64
#define A32 EM_ARM
#define P64 EM_PPC64
#define S39 EM_S390
#define RV  EM_RISCV
#define REG DP_ARG_REG
#define CON DP_ARG_CONST
#define MEM DP_ARG_MEM
#define SYM DP_ARG_SYM
#define BAD DP_ARG_UNREADABLE
#define N   NULL

/* clang-format off */
static const struct row rows[] = {
	/* x86: addresses */
	{ X64, "8@(%rsp)", MEM, "rsp", N, 0, 0, N, N, N },
	{ X64, "-4@-8(%rbp)", MEM, "rbp", N, 0, -8, N, N, N },
	{ X64, "1@-96(%rbp,%rax,8)", MEM, "rbp", "rax", 8, -96, N, N, N },
	{ X64, "1@(%rbp,%rax,8)", MEM, "rbp", "rax", 8, 0, N, N, N },
	{ X64, "1@-96(%rbp,%rax)", MEM, "rbp", "rax", 1, -96, N, N, N },
	{ X64, "1@(%rbp,%rax)", MEM, "rbp", "rax", 1, 0, N, N, N },
	{ X64, "1@(%rbp,%rax,3)", BAD, N, N, 0, 0, N, N, N },
	{ X64, "1@(%rbp,%rax,16)", BAD, N, N, 0, 0, N, N, N },
	{ X64, "1@(%rbp,%rax,0)", BAD, N, N, 0, 0, N, N, N },
	{ X64, "1@(%rbp,)", BAD, N, N, 0, 0, N, N, N },
	{ X64, "1@(%rbp", BAD, N, N, 0, 0, N, N, N },
	{ X64, "1@(%rbp))", BAD, N, N, 0, 0, N, N, N },
	{ X64, "1@()", BAD, N, N, 0, 0, N, N, N },
	{ X64, "1@", BAD, N, N, 0, 0, N, N, N },
	{ X64, "1@(%xmm0)", BAD, N, N, 0, 0, N, N, N },
	{ X64, "1@(%ax)", BAD, N, N, 0, 0, N, N, N },
	{ X64, "8@0x10(%rbp)", MEM, "rbp", N, 0, 16, N, N, N },
	{ X64, "8@1024", MEM, N, N, 0, 1024, N, N, N },
	{ X64, "24@8(%rsp)", MEM, "rsp", N, 0, 8, N, N, N },
	{ X64, "8@%fs:40", MEM, N, N, 0, 40, N, N, "fs" },
	{ X64, "8@%fs:-8(%rax)", MEM, "rax", N, 0, -8, N, N, "fs" },
	{ X64, "8@%fs:", BAD, N, N, 0, 0, N, N, N },
	{ X64, "8@%ks:40", BAD, N, N, 0, 0, N, N, N },
	/* constants */
	{ X64, "-4@$-1", CON, N, N, 0, -1, N, N, N },
	{ X64, "1@$-56", CON, N, N, 0, -56, N, N, N },
	{ X64, "-8@$81985529216486895", CON, N, N, 0, 0x0123456789abcdef,
	  N, N, N },
	{ X64, "8@$18446744073709551615", CON, N, N, 0, -1, N, N, N },
	{ X64, "8@$0xffffffffffffffff", CON, N, N, 0, -1, N, N, N },
	{ X64, "-8@$-9223372036854775808", CON, N, N, 0, INT64_MIN, N, N, N },
	{ X64, "-8@$-9223372036854775809", BAD, N, N, 0, 0, N, N, N },
	{ X64, "8@$18446744073709551616", BAD, N, N, 0, 0, N, N, N },
	{ X64, "8@$", BAD, N, N, 0, 0, N, N, N },
	{ X64, "8@$-", BAD, N, N, 0, 0, N, N, N },
	{ X64, "8@$--1", BAD, N, N, 0, 0, N, N, N },
	{ X64, "8@$1a", BAD, N, N, 0, 0, N, N, N },
	{ X64, "8@$9223372036854775807+sym+1", BAD, N, N, 0, 0, N, N, N },
	/* registers */
	{ X64, "-1@%dil", REG, "dil", N, 0, 0, N, N, N },
	{ X64, "2@%si", REG, "si", N, 0, 0, N, N, N },
	{ X64, "1@%ah", REG, "ah", N, 0, 0, N, N, N },
	{ X64, "2@%ah", BAD, "ah", N, 0, 0, N, N, N },
	{ X64, "-4@%dx", REG, "dx", N, 0, 0, N, N, N },
	{ X64, "8f@%rdx", REG, "rdx", N, 0, 0, N, N, N },
	{ X64, "4f@%eax", REG, "eax", N, 0, 0, N, N, N },
	{ X64, "8@%xmm0", BAD, "xmm0", N, 0, 0, N, N, N },
	{ X64, "8@%r16", BAD, N, N, 0, 0, N, N, N },
	{ X64, "8@%", BAD, N, N, 0, 0, N, N, N },
	{ X64, "8@rax", MEM, N, N, 0, 0, "rax", N, N },
	{ I32, "8@%rax", BAD, N, N, 0, 0, N, N, N },
	/* symbols */
	{ X64, "-4@sv(%rip)", MEM, "rip", N, 0, 0, "sv", N, N },
	{ X64, "-4@12+gv(%rip)", MEM, "rip", N, 0, 12, "gv", N, N },
	{ X64, "4@gv+12(%rip)", MEM, "rip", N, 0, 12, "gv", N, N },
	{ X64, "4@gv-12(%rip)", MEM, "rip", N, 0, -12, "gv", N, N },
	{ X64, "4@.LC0(%rip)", BAD, "rip", N, 0, 0, ".LC0", N, N },
	{ X64, "4@a+b(%rip)", BAD, N, N, 0, 0, N, N, N },
	{ X64, "4@-a(%rip)", BAD, N, N, 0, 0, N, N, N },
	{ X64, "4@12(%rip)", BAD, "rip", N, 0, 12, N, N, N },
	{ X64, "4@a(%rip,%rax)", BAD, "rip", "rax", 0, 0, "a", N, N },
	{ X64, "-4@sarr(,%rcx,4)", MEM, N, "rcx", 4, 0, "sarr", N, N },
	{ X64, "8@a@GOTPCREL(%rip)", BAD, "rip", N, 0, 0, "a", "GOTPCREL", N },
	{ X64, "8@a@(%rip)", BAD, N, N, 0, 0, N, N, N },
	{ X64, "-4@%fs:tls@tpoff", MEM, N, N, 0, 0, "tls", "tpoff", "fs" },
	{ X64, "-4@%fs:tls@TPOFF+4", MEM, N, N, 0, 4, "tls", "TPOFF", "fs" },
	{ X64, "8@$sym", SYM, N, N, 0, 0, "sym", N, N },
	{ X64, "8@$sym+8", SYM, N, N, 0, 8, "sym", N, N },
	{ X64, "8@$sym@GOTOFF", BAD, N, N, 0, 0, "sym", "GOTOFF", N },
	{ I32, "-4@gb+28", MEM, N, N, 0, 28, "gb", N, N },
	{ I32, "-4@g@GOTOFF(%eax)", MEM, "eax", N, 0, 0, "g", "GOTOFF", N },
	{ I32, "-4@a@GOTOFF(%ecx,%edx,4)", MEM, "ecx", "edx", 4, 0,
	  "a", "GOTOFF", N },
	/* aarch64 */
	{ A64, "8@x25", REG, "x25", N, 0, 0, N, N, N },
	{ A64, "4@w3", REG, "w3", N, 0, 0, N, N, N },
	{ A64, "-4@[x22]", MEM, "x22", N, 0, 0, N, N, N },
	{ A64, "2@[x22, 20]", MEM, "x22", N, 0, 20, N, N, N },
	{ A64, "2@[x22, #-20]", MEM, "x22", N, 0, -20, N, N, N },
	{ A64, "-4@[sp, 128]", MEM, "sp", N, 0, 128, N, N, N },
	{ A64, "8@5", CON, N, N, 0, 5, N, N, N },
	{ A64, "8@#5", CON, N, N, 0, 5, N, N, N },
	{ A64, "-1@[x0, x1]", MEM, "x0", "x1", 1, 0, N, N, N },
	{ A64, "8@[x0, x1, lsl 3]", MEM, "x0", "x1", 8, 0, N, N, N },
	{ A64, "8@[x0, x1, lsl #3]", MEM, "x0", "x1", 8, 0, N, N, N },
	{ A64, "8@[x0, w1, uxtw 3]", MEM, "x0", "w1", 8, 0, N, N, N },
	{ A64, "8@[x0, w1, uxtw]", MEM, "x0", "w1", 1, 0, N, N, N },
	{ A64, "8@[x0, w1, sxtw 3]", BAD, "x0", "w1", 8, 0, N, N, N },
	{ A64, "8@[x0, x1, sxtx 3]", MEM, "x0", "x1", 8, 0, N, N, N },
	{ A64, "8@[x0, x1, uxtw 3]", BAD, N, N, 0, 0, N, N, N },
	{ A64, "8@[x0, w1, lsl 3]", BAD, N, N, 0, 0, N, N, N },
	{ A64, "8@[x0, w1]", BAD, N, N, 0, 0, N, N, N },
	{ A64, "8@[x0, x1, lsl 8]", BAD, N, N, 0, 0, N, N, N },
	{ A64, "8@[x0, x1, lsl]", BAD, N, N, 0, 0, N, N, N },
	{ A64, "8@[x0, x1, ror 3]", BAD, N, N, 0, 0, N, N, N },
	{ A64, "8@[x9,x7,4]", MEM, "x9", "x7", 4, 0, N, N, N },
	{ A64, "8@[x9,x7,3]", BAD, N, N, 0, 0, N, N, N },
	{ A64, "8@[x9,x8]", MEM, "x9", "x8", 1, 0, N, N, N },
	{ A64, "8@[x9,4]", MEM, "x9", N, 0, 4, N, N, N },
	{ A64, "8@x31", BAD, N, N, 0, 0, N, N, N },
	{ A64, "-8@v0", BAD, "v0", N, 0, 0, N, N, N },
	{ A64, "8@[x1, #:lo12:.L]", BAD, "x1", N, 0, 0, ".L", "lo12", N },
	{ A64, "8@[x1, #:lo12:gv+4]", MEM, "x1", N, 0, 4, "gv", "lo12", N },
	{ A64, "8@[x1, :got_lo12:gv]", BAD, "x1", N, 0, 0, "gv", "got_lo12",
	  N },
	{ A64, "8@[x1, #:lo12]", BAD, N, N, 0, 0, N, N, N },
	{ A64, "8@[x1, #:lo12:]", BAD, N, N, 0, 0, N, N, N },
	{ A64, "8@[x1, #]", BAD, N, N, 0, 0, N, N, N },
	{ A64, "8@[x1, #4]!", BAD, N, N, 0, 0, N, N, N },
	{ A64, "8@[x1], 4", BAD, N, N, 0, 0, N, N, N },
	{ A64, "8@[]", BAD, N, N, 0, 0, N, N, N },
	/* s390 */
	{ S39, "-2@-28(%r15)", MEM, "r15", N, 0, -28, N, N, N },
	{ S39, "4@71", CON, N, N, 0, 71, N, N, N },
	{ S39, "-4@-7", CON, N, N, 0, -7, N, N, N },
	{ S39, "8@%r2", REG, "r2", N, 0, 0, N, N, N },
	{ S39, "8@r2", BAD, N, N, 0, 0, N, N, N },
	{ S39, "8@%f0", BAD, "f0", N, 0, 0, N, N, N },
	{ S39, "8@(%r1)", MEM, "r1", N, 0, 0, N, N, N },
	{ S39, "8@464(%r4,%r1)", MEM, "r1", "r4", 1, 464, N, N, N },
	{ S39, "8@8(%r0)", MEM, N, N, 0, 8, N, N, N },
	{ S39, "8@8(%r0,%r1)", MEM, "r1", N, 0, 8, N, N, N },
	{ S39, "8@8(%r1,%r2,4)", BAD, N, N, 0, 0, N, N, N },
	/* riscv */
	{ RV, "-8@-88(s0)", MEM, "s0", N, 0, -88, N, N, N },
	{ RV, "-8@(s0)", MEM, "s0", N, 0, 0, N, N, N },
	{ RV, "-8@a1", REG, "a1", N, 0, 0, N, N, N },
	{ RV, "8@fa0", BAD, "fa0", N, 0, 0, N, N, N },
	{ RV, "4@5", CON, N, N, 0, 5, N, N, N },
	{ RV, "8@sym(s0)", BAD, "s0", N, 0, 0, "sym", N, N },
	{ RV, "8@%lo(sym)(a5)", BAD, N, N, 0, 0, N, N, N },
	/* ppc */
	{ P64, "-4@i-9", CON, N, N, 0, -9, N, N, N },
	{ P64, "8@31", REG, "r31", N, 0, 0, N, N, N },
	{ P64, "8@%r31", REG, "r31", N, 0, 0, N, N, N },
	{ P64, "8@32", BAD, N, N, 0, 0, N, N, N },
	{ P64, "8@f1", BAD, "f1", N, 0, 0, N, N, N },
	{ P64, "-4@112(1)", MEM, "r1", N, 0, 112, N, N, N },
	{ P64, "-4@112(%r1)", MEM, "r1", N, 0, 112, N, N, N },
	{ P64, "8@3,4", MEM, "r3", "r4", 1, 0, N, N, N },
	{ P64, "8@0,4", MEM, N, "r4", 1, 0, N, N, N },
	{ P64, "8@3,", BAD, N, N, 0, 0, N, N, N },
	{ P64, "8@3,4,5", BAD, N, N, 0, 0, N, N, N },
	{ P64, "8@i", BAD, N, N, 0, 0, N, N, N },
	{ P64, "8@x@toc@l(9)", BAD, "r9", N, 0, 0, "x", "toc@l", N },
	/* arm */
	{ A32, "-4@[fp, #96]", MEM, "fp", N, 0, 96, N, N, N },
	{ A32, "4@#5", CON, N, N, 0, 5, N, N, N },
	{ A32, "4@5", BAD, N, N, 0, 0, N, N, N },
	{ A32, "4@[r0, r1, lsl #2]", MEM, "r0", "r1", 4, 0, N, N, N },
	{ A32, "4@[r0, -r1]", BAD, N, N, 0, 0, N, N, N },
	{ A32, "4@[r0, r1, uxtw 2]", BAD, N, N, 0, 0, N, N, N },
	{ A32, "4@[r0, r1, 4]", BAD, N, N, 0, 0, N, N, N },
	{ A32, "4@[pc, #4]", BAD, "pc", N, 0, 4, N, N, N },
	{ A32, "4@[pc, r1]", BAD, "pc", "r1", 1, 0, N, N, N },
	{ A32, "4@pc", REG, "pc", N, 0, 0, N, N, N },
	/* without a size; sizes that are none; another machine */
	{ X64, "%rax", REG, "rax", N, 0, 0, N, N, N },
	{ X64, "-4(%rbp)", MEM, "rbp", N, 0, -4, N, N, N },
	{ X64, "%fs:t@tpoff", MEM, N, N, 0, 0, "t", "tpoff", "fs" },
	{ X64, "@%rax", BAD, N, N, 0, 0, N, N, N },
	{ X64, "x@%rax", BAD, N, N, 0, 0, N, N, N },
	{ X64, "0@%rax", BAD, N, N, 0, 0, N, N, N },
	{ X64, "4294967296@%rax", BAD, N, N, 0, 0, N, N, N },
	{ X64, "99999999999999999999@%rax", BAD, N, N, 0, 0, N, N, N },
	{ EM_SPARC, "8@%o0", BAD, N, N, 0, 0, N, N, N },
	{ EM_SPARC, "8@$1", BAD, N, N, 0, 0, N, N, N },
};
/* clang-format on */

static unsigned
width_of(uint16_t machine)
{
	return machine == EM_386 || machine == EM_ARM ? 4 : 8;
}

static bool
str_eq(struct dp_bytes b, const char *s)
{
	return s == NULL ? b.n == 0 : dp_bytes_is(b, s);
}

static bool
reg_eq(const struct dp_reg *r, const char *name)
{
	return name == NULL ? r == NULL
	                    : r != NULL && strcmp(r->name, name) == 0;
}

/* The only operand of `text`. */
static struct dp_arg
one(uint16_t machine, const char *text)
{
	struct dp_arg_iter it;
	struct dp_arg a, more;

	dp_arg_iter_init(&it, dp_cstr(text), machine, width_of(machine));
	ck_assert_msg(dp_arg_next(&it, &a), "%s", text);
	ck_assert_msg(!dp_arg_next(&it, &more), "%s", text);
	return a;
}

START_TEST(test_rows)
{
	const struct row *r = &rows[_i];
	/* a bracket operand may be followed by what ends it badly */
	bool split = strcmp(r->text, "8@[x1], 4") == 0;
	struct dp_arg_iter it;
	struct dp_arg a;

	dp_arg_iter_init(&it, dp_cstr(r->text), r->machine,
	                 width_of(r->machine));
	ck_assert(dp_arg_next(&it, &a));
	ck_assert_msg(split || str_eq(a.text, r->text), "%s", r->text);
	ck_assert_msg(a.kind == r->kind, "%s is %s", r->text,
	              dp_arg_kind_name(a.kind));
	ck_assert_msg((a.why != NULL) == (a.kind == BAD), "%s", r->text);
	ck_assert_msg(reg_eq(a.base, r->base), "%s", r->text);
	ck_assert_msg(reg_eq(a.index, r->index), "%s", r->text);
	ck_assert_msg(a.scale == (r->scale == 0 ? 1 : r->scale), "%s", r->text);
	ck_assert_msg(a.disp == r->disp, "%s: %" PRId64, r->text, a.disp);
	ck_assert_msg(str_eq(a.symbol, r->symbol), "%s", r->text);
	ck_assert_msg(str_eq(a.modifier, r->modifier), "%s", r->text);
	ck_assert_msg(str_eq(a.segment, r->segment), "%s", r->text);
	ck_assert_msg(dp_arg_next(&it, &a) == split, "%s", r->text);
}
END_TEST

START_TEST(test_sizes)
{
	static const struct {
		uint16_t machine;
		const char *text;
		uint32_t size;
		bool is_signed, is_float, partial, is_int;
	} want[] = {
		{ X64, "8@(%rsp)", 8, false, false, false, true },
		{ X64, "-4@-8(%rbp)", 4, true, false, false, true },
		{ X64, "8f@%rdx", 8, false, true, false, true },
		{ X64, "16f@-24(%rsp)", 16, false, true, false, false },
		{ X64, "16@%rax", 16, false, false, true, false },
		{ X64, "24@8(%rsp)", 24, false, false, false, false },
		{ X64, "3@8(%rsp)", 3, false, false, false, false },
		{ X64, "8@%xmm0", 8, false, false, false, false },
		{ I32, "-8@%ecx", 8, true, false, true, false },
		{ A32, "8f@r2", 8, false, true, true, false },
		{ I32, "8@(%ecx)", 8, false, false, false, true },
		{ X64, "%rax", 8, false, false, false, true },
		{ I32, "%eax", 4, false, false, false, true },
		{ X64, "0@%rax", 0, false, false, false, false },
		{ X64, "-4294967295@%rip", UINT32_MAX, true, false, true,
		  false },
		{ X64, "4294967296@%rax", 0, false, false, false, false },
	};

	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
		struct dp_arg a = one(want[i].machine, want[i].text);

		ck_assert_msg(a.size == want[i].size, "%s", want[i].text);
		ck_assert_msg(a.is_signed == want[i].is_signed, "%s",
		              want[i].text);
		ck_assert_msg(a.is_float == want[i].is_float, "%s",
		              want[i].text);
		ck_assert_msg(a.partial == want[i].partial, "%s", want[i].text);
		ck_assert_msg(dp_arg_is_int(&a) == want[i].is_int, "%s",
		              want[i].text);
	}
}
END_TEST

START_TEST(test_word)
{
	struct dp_arg_iter it;
	struct dp_arg a;

	/* the same register, in a 64-bit and in a 32-bit object */
	dp_arg_iter_init(&it, dp_cstr("8@a0"), RV, 8);
	ck_assert(dp_arg_next(&it, &a) && !a.partial);
	dp_arg_iter_init(&it, dp_cstr("8@a0"), RV, 4);
	ck_assert(dp_arg_next(&it, &a) && a.partial);
	dp_arg_iter_init(&it, dp_cstr("8@%r2"), S39, 4);
	ck_assert(dp_arg_next(&it, &a) && a.partial);
	dp_arg_iter_init(&it, dp_cstr("8@3"), EM_PPC, 4);
	ck_assert(dp_arg_next(&it, &a) && a.partial);
	/* x32 has 4-byte addresses in 8-byte registers */
	dp_arg_iter_init(&it, dp_cstr("8@%rax %rax"), X64, 4);
	ck_assert(dp_arg_next(&it, &a) && !a.partial);
	ck_assert(dp_arg_next(&it, &a) && a.size == 4);
}
END_TEST

START_TEST(test_extend)
{
	static const struct {
		const char *text;
		uint64_t raw, value;
	} want[] = {
		{ "-4@$-1", UINT64_MAX, UINT64_MAX },
		{ "1@$-56", (uint64_t)-56, 200 },
		{ "-2@$-2", (uint64_t)-2, (uint64_t)-2 },
		{ "8@$-1", UINT64_MAX, UINT64_MAX },
		{ "-1@%dil", 0x1ff, UINT64_MAX },
		{ "2@%si", 0x1ffff, 65535 },
		{ "-1@%cl", 0x17f, 0x7f },
		{ "-4@%eax", 0x180000000, 0xffffffff80000000 },
		{ "4f@%eax", 0x13f800000, 0x3f800000 },
	};

	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
		struct dp_arg a = one(X64, want[i].text);

		if (a.kind == CON)
			ck_assert_uint_eq((uint64_t)a.disp, want[i].raw);
		ck_assert_uint_eq(dp_arg_extend(&a, want[i].raw),
		                  want[i].value);
	}
	ck_assert_uint_eq(one(X64, "1@%ah").base->shift, 8);
	ck_assert_uint_eq(one(X64, "1@%ah").base->dwarf, 0);
}
END_TEST

START_TEST(test_split)
{
	/* operands are told apart by '|' here */
	static const struct {
		uint16_t machine;
		const char *args, *want;
	} want[] = {
		{ X64, "", "" },
		{ X64, ":", "" },
		{ X64, ": 8@%rax", "" },
		{ X64, "   ", "" },
		{ X64, " 8@%rax  4@%ecx ", "8@%rax|4@%ecx" },
		{ X64, "8@%rax :", "8@%rax|:" },
		{ A64, "-4@[x0, 12] 8@x1", "-4@[x0, 12]|8@x1" },
		{ A64, "8@[x0, 12 8@x1", "8@[x0, 12|8@x1" },
		{ A64, "8@[x0  -4f@x1", "8@[x0|-4f@x1" },
		{ A64, "8@[x0 x1 x2", "8@[x0 x1 x2" },
		{ X64, "8@%rax) 8@%rcx", "8@%rax)|8@%rcx" },
		{ I32, "-4@g@GOTOFF(%eax) 4@%ecx", "-4@g@GOTOFF(%eax)|4@%ecx" },
		{ P64, "8@3,4 4@12(1)", "8@3,4|4@12(1)" },
		{ X64, "what is this", "what|is|this" },
	};

	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
		char got[256] = "";
		struct dp_arg_iter it;
		struct dp_arg a;

		dp_arg_iter_init(&it, dp_cstr(want[i].args), want[i].machine,
		                 width_of(want[i].machine));
		while (dp_arg_next(&it, &a)) {
			strcat(got, got[0] == '\0' ? "" : "|");
			strncat(got, (const char *)a.text.p, a.text.n);
		}
		ck_assert_str_eq(got, want[i].want);
		ck_assert(!it.too_many);
	}
}
END_TEST

START_TEST(test_limit)
{
	static char args[(DP_MAX_ARGS + 1) * 5 + 1];
	struct dp_arg_iter it;
	struct dp_arg a;
	unsigned n = 0;

	for (int i = 0; i < DP_MAX_ARGS; i++)
		strcpy(args + i * 5, "8@$1 ");
	dp_arg_iter_init(&it, dp_cstr(args), X64, 8);
	while (dp_arg_next(&it, &a))
		n++;
	ck_assert_uint_eq(n, DP_MAX_ARGS);
	ck_assert(!it.too_many);

	strcat(args, "8@$1");
	dp_arg_iter_init(&it, dp_cstr(args), X64, 8);
	for (n = 0; dp_arg_next(&it, &a); n++)
		;
	ck_assert_uint_eq(n, DP_MAX_ARGS);
	ck_assert(it.too_many);
	ck_assert(!dp_arg_next(&it, &a));
}
END_TEST

START_TEST(test_bytes)
{
	/* NULs and bytes over 0x7f are just bytes */
	static const uint8_t args[] = "8@%ra\0 8@\xc3\xa9(%rip)";
	struct dp_arg_iter it;
	struct dp_arg a;

	dp_arg_iter_init(&it, (struct dp_bytes){ args, sizeof args - 1 }, X64,
	                 8);
	ck_assert(dp_arg_next(&it, &a));
	ck_assert_int_eq(a.kind, BAD);
	ck_assert_uint_eq(a.text.n, 6);
	ck_assert(dp_arg_next(&it, &a));
	ck_assert_int_eq(a.kind, MEM);
	ck_assert(dp_bytes_is(a.symbol, "\xc3\xa9"));
	ck_assert(!dp_arg_next(&it, &a));
	dp_arg_iter_init(&it, (struct dp_bytes){ NULL, 0 }, X64, 8);
	ck_assert(!dp_arg_next(&it, &a));
}
END_TEST

START_TEST(test_regs)
{
	static const uint16_t machines[] = { EM_386,  EM_X86_64, EM_AARCH64,
		                             EM_ARM,  EM_PPC64,  EM_PPC,
		                             EM_S390, EM_RISCV };
	static const struct {
		uint16_t machine;
		const char *name;
		unsigned dwarf, width;
	} want[] = {
		{ X64, "rdx", 1, 8 },  { X64, "r15d", 15, 4 },
		{ X64, "rip", 16, 8 }, { I32, "edx", 2, 4 },
		{ I32, "esp", 4, 4 },  { A64, "sp", 31, 8 },
		{ A64, "w7", 7, 4 },   { A32, "lr", 14, 4 },
		{ S39, "r11", 11, 8 }, { RV, "a0", 10, 8 },
		{ RV, "s11", 27, 8 },  { RV, "fp", 8, 8 },
		{ RV, "t3", 28, 8 },   { RV, "x31", 31, 8 },
		{ P64, "3", 3, 8 },    { P64, "r3", 3, 8 },
	};

	static const uint8_t nul[] = "rax";

	for (size_t m = 0; m < sizeof machines / sizeof machines[0]; m++) {
		const struct dp_reg *r;
		unsigned i = 0;

		/* each name is found, and finds its own row */
		for (; (r = dp_reg_at(machines[m], i)) != NULL; i++) {
			ck_assert_msg(
				dp_reg_find(machines[m], dp_cstr(r->name)) == r,
				"%s", r->name);
			ck_assert_uint_ge(r->width, 1);
		}
		ck_assert_uint_ge(i, 16);
		ck_assert_uint_ne(dp_reg_word(machines[m], 8), 0);
	}
	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
		const struct dp_reg *r =
			dp_reg_find(want[i].machine, dp_cstr(want[i].name));

		ck_assert_ptr_nonnull(r);
		ck_assert_uint_eq(r->dwarf, want[i].dwarf);
		ck_assert_uint_eq(r->width, want[i].width);
	}
	ck_assert_ptr_null(dp_reg_find(X64, dp_cstr("")));
	ck_assert_ptr_null(dp_reg_find(X64, dp_cstr("rax1234567890")));
	ck_assert_ptr_null(dp_reg_find(P64, dp_cstr("1234567")));
	ck_assert_ptr_null(dp_reg_find(X64, (struct dp_bytes){ nul, 4 }));
	ck_assert_ptr_null(dp_reg_at(EM_SPARC, 0));
	ck_assert_uint_eq(dp_reg_word(EM_SPARC, 8), 0);
}
END_TEST

static uint16_t
machine_of(const char *name)
{
	static const struct {
		const char *name;
		uint16_t machine;
	} map[] = {
		{ "x86_64", X64 }, { "i386", I32 },    { "aarch64", A64 },
		{ "arm", A32 },    { "ppc64le", P64 }, { "s390x", S39 },
		{ "riscv64", RV },
	};

	for (size_t i = 0; i < sizeof map / sizeof map[0]; i++)
		if (strcmp(map[i].name, name) == 0)
			return map[i].machine;
	ck_abort_msg("machine %s", name);
}

/* The string `key` of a corpus operand; NULL for null. */
static const char *
str(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static void
compare(const struct dp_arg *a, const json_t *o)
{
	const char *text = str(o, "text");

	ck_assert_ptr_nonnull(text);
	ck_assert_msg(str_eq(a->text, text), "%s", text);
	ck_assert_msg(a->size == json_integer_value(json_object_get(o, "size")),
	              "%s", text);
	ck_assert_msg(a->is_signed ==
	                      json_is_true(json_object_get(o, "signed")),
	              "%s", text);
	ck_assert_msg(a->is_float == json_is_true(json_object_get(o, "float")),
	              "%s", text);
	ck_assert_msg(a->partial == json_is_true(json_object_get(o, "partial")),
	              "%s", text);
	ck_assert_msg(strcmp(dp_arg_kind_name(a->kind), str(o, "kind")) == 0,
	              "%s is %s", text, dp_arg_kind_name(a->kind));
	ck_assert_msg(reg_eq(a->base, str(o, "base")), "%s", text);
	ck_assert_msg(reg_eq(a->index, str(o, "index")), "%s", text);
	ck_assert_msg(a->scale ==
	                      json_integer_value(json_object_get(o, "scale")),
	              "%s", text);
	ck_assert_msg(a->disp == json_integer_value(json_object_get(o, "disp")),
	              "%s", text);
	ck_assert_msg(str_eq(a->symbol, str(o, "symbol")), "%s", text);
	ck_assert_msg(str_eq(a->modifier, str(o, "modifier")), "%s", text);
	ck_assert_msg(str_eq(a->segment, str(o, "segment")), "%s", text);
}

/* Each prefix, in a block of its own size, comes to an end. */
static void
prefixes(const char *args, uint16_t machine)
{
	size_t len = strlen(args);

	for (size_t n = 0; n < len; n++) {
		uint8_t *p = malloc(n == 0 ? 1 : n);
		struct dp_arg_iter it;
		struct dp_arg a;
		size_t got = 0;

		ck_assert_ptr_nonnull(p);
		memcpy(p, args, n);
		dp_arg_iter_init(&it, (struct dp_bytes){ p, n }, machine,
		                 width_of(machine));
		while (dp_arg_next(&it, &a)) {
			ck_assert_uint_gt(a.text.n, 0);
			ck_assert(a.text.p >= p);
			ck_assert(a.text.p + a.text.n <= p + n);
			ck_assert_uint_le(++got, n);
		}
		free(p);
	}
}

START_TEST(test_prefixes)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		prefixes(rows[i].text, rows[i].machine);
	prefixes("-4@[x0, 12] 8@[x1, #:lo12:.L] -1@[x0, w1, sxtw 3] 8@x1", A64);
	prefixes("-8@a@GOTOFF(%ecx,%edx,4) 8f@%fs:x@ntpoff 4@0x1f(%eax)", I32);
}
END_TEST

/* Compare one file of the corpus; the number of operands that it has. */
static unsigned
corpus_file(const char *path)
{
	json_error_t err;
	json_t *top = json_load_file(path, 0, &err);
	uint16_t machine;
	json_t *notes, *note;
	unsigned n = 0;
	size_t i;

	ck_assert_msg(top != NULL, "%s: %s", path, err.text);
	machine = machine_of(str(top, "machine"));
	notes = json_object_get(top, "notes");
	if (notes == NULL)
		notes = json_object_get(top, "strings");
	ck_assert_uint_gt(json_array_size(notes), 0);
	json_array_foreach(notes, i, note)
	{
		const json_t *parsed = json_object_get(note, "parsed");
		const char *args = str(note, "args");
		struct dp_arg_iter it;
		struct dp_arg a;
		size_t k = 0;

		dp_arg_iter_init(&it, dp_cstr(args), machine,
		                 width_of(machine));
		for (; dp_arg_next(&it, &a); k++)
			compare(&a, json_array_get(parsed, k));
		ck_assert_uint_eq(k, json_array_size(parsed));
		prefixes(args, machine);
		n += (unsigned)k;
	}
	json_decref(top);
	return n;
}

START_TEST(test_corpus)
{
	const char *shared = getenv("DOFPIPE_SHARED");
	char pattern[4096];
	unsigned n = 0;
	glob_t g;

	snprintf(pattern, sizeof pattern, "%s/corpus/sdt/*.json",
	         shared != NULL ? shared : "../shared");
	if (glob(pattern, 0, NULL, &g) != 0) {
		printf("test_argspec: corpus skipped, no %s\n", pattern);
		return;
	}
	for (size_t i = 0; i < g.gl_pathc; i++)
		n += corpus_file(g.gl_pathv[i]);
	printf("test_argspec: %u operands of %zu corpus files\n", n,
	       g.gl_pathc);
	ck_assert_uint_ge(n, 1600);
	globfree(&g);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("argspec");
	TCase *t = tcase_create("argspec");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, test_rows, 0,
	                    (int)(sizeof rows / sizeof rows[0]));
	tcase_add_test(t, test_sizes);
	tcase_add_test(t, test_word);
	tcase_add_test(t, test_extend);
	tcase_add_test(t, test_split);
	tcase_add_test(t, test_limit);
	tcase_add_test(t, test_bytes);
	tcase_add_test(t, test_regs);
	tcase_add_test(t, test_prefixes);
	tcase_add_test(t, test_corpus);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
