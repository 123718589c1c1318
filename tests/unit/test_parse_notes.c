/* SPDX-License-Identifier: BSD-2-Clause */
/* From rawnote records to probes: dp_parser on notes made by hand. */
#include <elf.h>

#include "base/limits.h"
#include "streams.h"

static const struct dp_rec_object exe64 = {
	.format = DPR_FORMAT_ELF,
	.class = 64,
	.e_type = ET_EXEC,
	.machine = EM_X86_64,
	.path = { (const uint8_t *)"/bin/x", 6 },
};

/* A descriptor in the making, in the object's order and class. */
struct desc {
	struct dp_buf b;
	const struct dp_rec_object *o;
};

static void
word(struct desc *d, uint64_t v, unsigned width)
{
	bool msb = d->o->order == DPR_ORDER_MSB;
	uint8_t x[8];

	for (unsigned i = 0; i < width; i++)
		x[msb ? width - 1 - i : i] = (uint8_t)(v >> 8 * i);
	ck_assert(dp_buf_add(&d->b, x, width));
}

static void
text(struct desc *d, const char *s)
{
	ck_assert(dp_buf_add(&d->b, s, strlen(s) + 1));
}

static void
put_note(struct lab *l, struct desc *d, const char *owner, uint32_t type)
{
	struct dp_bytes exact = exact_copy(dp_buf_bytes(&d->b));

	PUT(l, RAWNOTE, rawnote, .fileoff = 0x1000, .desc_off = 20,
	    .note_type = type, .owner = dp_cstr(owner), .desc = exact);
	free((void *)(uintptr_t)exact.p);
	dp_buf_deinit(&d->b);
}

struct sdt {
	uint64_t pc, base, sem;
	const char *provider, *name, *args;
	uint64_t section_base; /* address of .stapsdt.base; 0 none */
};

static void
put_sdt(struct lab *l, const struct dp_rec_object *o, const struct sdt *n)
{
	const unsigned width = o->class == 32 ? 4 : 8;
	struct desc d = { .o = o };
	struct dp_bytes exact;

	word(&d, n->pc, width);
	word(&d, n->base, width);
	word(&d, n->sem, width);
	text(&d, n->provider);
	text(&d, n->name);
	text(&d, n->args);
	exact = exact_copy(dp_buf_bytes(&d.b));
	PUT(l, RAWNOTE, rawnote, .fileoff = 0x1000, .desc_off = 20,
	    .note_type = 3, .owner = LIT("stapsdt"), .desc = exact,
	    .base = n->section_base, .has_base = n->section_base != 0);
	free((void *)(uintptr_t)exact.p);
	dp_buf_deinit(&d.b);
}

static void
put_segments(struct lab *l)
{
	PUT(l, SEGMENT, segment, .p_type = PT_LOAD, .vaddr = 0x401000,
	    .fileoff = 0x1000, .memsz = 0x2000, .filesz = 0x2000,
	    .flags = PF_R | PF_X);
	PUT(l, SEGMENT, segment, .p_type = PT_LOAD, .vaddr = 0x404000,
	    .fileoff = 0x4000, .memsz = 0x1000, .filesz = 0x800,
	    .flags = PF_R | PF_W);
	PUT(l, SEGMENT, segment, .p_type = PT_LOAD, .vaddr = 0x406000,
	    .memsz = 0x800, .filesz = 0x800, .flags = PF_R);
	PUT(l, SEGMENT, segment, .p_type = PT_TLS, .vaddr = 0x403800,
	    .memsz = 0x14, .filesz = 0x10, .align = 16, .flags = PF_R);
}

static void
put_func(struct lab *l, uint64_t value, uint64_t size, const char *name)
{
	PUT(l, SYMBOL, symbol, .kind = DPR_SYM_FUNC, .value = value,
	    .size = size, .name = dp_cstr(name));
}

static void
ck_why(const struct dp_rec_site *s, const char *why)
{
	if (why == NULL)
		ck_assert_msg(s->attachable, "%.*s", (int)s->why.n,
		              (const char *)s->why.p);
	else
		ck_str(s->why, why);
}

/* One stapsdt note in an object with segments. */
static void
one_sdt(struct lab *l, const struct dp_rec_object *o, const struct sdt *n)
{
	lab_open(l, o);
	put_segments(l);
	put_sdt(l, o, n);
	lab_close(l);
}

/* The delta of a prelinked file moves pc and semaphore alike. */
START_TEST(base_delta)
{
	static const struct {
		struct sdt n;
		int64_t delta;
		bool sem;
	} rows[] = {
		{ { 0x401010, 0x2030, 0x404010, "p", "n", "", 0x2030 },
		  0,
		  true },
		{ { 0x400010, 0x2030, 0x403010, "p", "n", "", 0x3030 },
		  0x1000,
		  true },
		{ { 0x402010, 0x3030, 0x405010, "p", "n", "", 0x2030 },
		  -0x1000,
		  true },
		{ { 0x401010, 0, 0x404010, "p", "n", "", 0x2030 }, 0, true },
		{ { 0x401010, 0x2030, 0x404010, "p", "n", "", 0 }, 0, true },
		{ { 0x400010, 0x2030, 0, "p", "n", "", 0x3030 },
		  0x1000,
		  false },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct sdt *n = &rows[i].n;
		const struct dp_rec_site *s;
		struct lab l;

		one_sdt(&l, &exe64, n);
		s = NTH(&l, SITE, site, 0);
		ck_assert(s->addr == n->pc && s->stored == n->pc);
		ck_assert(s->sem == n->sem && s->kind == DPR_SITE_PROBE);
		ck_assert_uint_eq(s->sem_nreloc, rows[i].sem);
		for (uint32_t r = 0; r < 1U + rows[i].sem; r++) {
			const struct dp_rec_reloc *x = NTH(&l, RELOC, reloc, r);

			ck_assert_uint_eq(x->kind, DPR_RELOC_SDT_BASE);
			ck_assert_uint_eq(x->base, DPR_BASE_NONE);
			ck_assert_int_eq(x->addend, rows[i].delta);
			ck_assert_uint_eq(x->dof_off, 16 * r);
			ck_assert(x->dof == DP_NO_ID && x->width == 8);
		}
		ck_why(s, NULL);
		lab_free(&l);
	}
}
END_TEST

/* Where pc and semaphore may lie (FIELD-REPORTS 3.10, 3.11). */
START_TEST(places)
{
	static const struct {
		uint64_t pc, sem;
		const char *why;
	} rows[] = {
		{ 0x401000, 0x404000, NULL },
		{ 0x402fff, 0x4047fe, NULL },
		{ 0x401000, 0x4047ff,
		  "semaphore behind the file part of its segment" },
		{ 0x401000, 0x404ffe,
		  "semaphore behind the file part of its segment" },
		{ 0x401000, 0x406000,
		  "semaphore in a segment that is not writable" },
		{ 0x40603f, 0x404000,
		  "address in the ELF header: its code was dropped" },
		{ 0x406040, 0x404000,
		  "address in a segment that is not executable" },
		{ 0x403000, 0x404000, "address in no segment" },
		{ 0x404010, 0x404000,
		  "address in a segment that is not executable" },
		{ 0x401000, 0x405000, "semaphore in no segment" },
		{ 0x401000, 0x401100, "semaphore in an executable segment" },
		{ 0x401000, 0x403804, "semaphore in no segment" }, /* PT_TLS */
		{ 0x401000, 0, NULL },
		{ 0, 0x404000, "address in no segment" },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct sdt n = { rows[i].pc, 0, rows[i].sem, "p", "n",
			               "",         0 };
		struct lab l;

		one_sdt(&l, &exe64, &n);
		ck_why(NTH(&l, SITE, site, 0), rows[i].why);
		lab_free(&l);
	}
}
END_TEST

START_TEST(refused_objects)
{
	const struct sdt n = { 0x401000, 0, 0x404000, "p", "n", "", 0 };
	struct dp_rec_object o = exe64;
	struct lab l;

	o.member = LIT("m.o");
	lab_open(&l, &o);
	put_segments(&l);
	put_sdt(&l, &o, &n);
	PUT(&l, RAWNOTE, rawnote, .owner = LIT("stapsdt"), .note_type = 3);
	lab_close(&l);
	ck_why(NTH(&l, SITE, site, 0), "member of an archive");
	ck_str(NTH(&l, ERROR, error, 0)->input, "/bin/x(m.o)");
	lab_free(&l);
	o = exe64;
	o.e_type = ET_DYN;
	one_sdt(&l, &o, &n);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 0)->base, DPR_BASE_BIAS);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 1)->base, DPR_BASE_BIAS);
	ck_assert_uint_eq(l.stats.matter, 2);
	lab_free(&l);
}
END_TEST

/* Not linked: words are 0 and wait for the relocations of the file. */
static void
rel_object(uint8_t class, bool rela)
{
	struct dp_rec_object o = exe64;
	const struct sdt n = { rela ? 0 : 0x24, 0, 0, "p", "n", "", 0 };
	const unsigned width = class == 32 ? 4 : 8;
	struct lab l;

	o.e_type = ET_REL;
	o.class = class;
	lab_open(&l, &o);
	PUT(&l, SYMBOL, symbol, .kind = DPR_SYM_FUNC, .section = 4,
	    .value = 0x20, .size = 0x10, .name = LIT("other"));
	PUT(&l, SYMBOL, symbol, .kind = DPR_SYM_FUNC, .section = 1,
	    .value = 0x20, .size = 0x10, .name = LIT("mine"));
	PUT(&l, ELFREL, elfrel, .offset = 2 * width, .width = (uint8_t)width,
	    .kind = DPR_RELKIND_SYMBOL, .sym_section = 3, .sym_value = 8,
	    .explicit_addend = rela, .symbol = LIT("sem"));
	PUT(&l, ELFREL, elfrel, .offset = 0, .width = (uint8_t)width,
	    .kind = DPR_RELKIND_SYMBOL, .sym_section = 1,
	    .addend = rela ? 0x24 : 0, .explicit_addend = rela,
	    .symbol = LIT(".text"));
	put_sdt(&l, &o, &n);
	lab_close(&l);
	ck_str(NTH(&l, PROBE, probe, 0)->function, "mine");
	ck_why(NTH(&l, SITE, site, 0), "relocatable object");
	ck_assert_uint_eq(count_of(&l, DP_REC_RELOC), 2);
	ck_assert_uint_eq(NTH(&l, SITE, site, 0)->sem_nreloc, 1);
	for (uint32_t i = 0; i < 2; i++) {
		const struct dp_rec_reloc *r = NTH(&l, RELOC, reloc, i);

		ck_assert_uint_eq(r->kind, DPR_RELOC_ELF_SYMBOL);
		ck_assert_uint_eq(r->base, DPR_BASE_NONE);
		ck_assert_int_eq(r->replaces, rela);
		ck_assert_uint_eq(r->width, width);
		ck_str(r->symbol, i == 0 ? ".text" : "sem");
	}
	lab_free(&l);
}

START_TEST(relocatable)
{
	rel_object(64, true);
	rel_object(64, false);
	rel_object(32, true);
	rel_object(32, false);
}
END_TEST

/* The same note in both classes and orders. */
START_TEST(class_and_order)
{
	struct dp_rec_object o = exe64;
	const struct sdt n = { 0x401020,     0, 0x404020, "prov", "name",
		               "-4@8(%ebp)", 0 };
	struct lab l;

	o.class = _i & 1 ? 32 : 64;
	o.machine = _i & 1 ? EM_386 : EM_X86_64;
	o.order = _i & 2 ? DPR_ORDER_MSB : DPR_ORDER_LSB;
	one_sdt(&l, &o, &n);
	ck_assert_uint_eq(NTH(&l, SITE, site, 0)->addr, 0x401020);
	ck_assert_uint_eq(NTH(&l, SITE, site, 0)->sem, 0x404020);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 1)->dof_off, _i & 1 ? 8 : 16);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 1)->width, _i & 1 ? 4 : 8);
	ck_assert_uint_eq(NTH(&l, ARG, arg, 0)->kind, DPR_ARG_MEM);
	ck_assert_int_eq(NTH(&l, ARG, arg, 0)->disp, 8);
	ck_assert_uint_eq(NTH(&l, ARG, arg, 0)->size, 4);
	ck_assert(NTH(&l, ARG, arg, 0)->is_signed);
	ck_str(NTH(&l, ARG, arg, 0)->base, "ebp");
	ck_str(NTH(&l, PROVIDER, provider, 0)->name, "prov");
	ck_assert_uint_eq(NTH(&l, PROVIDER, provider, 0)->source,
	                  DPR_SOURCE_STAPSDT);
	ck_assert_uint_eq(NTH(&l, PROVIDER, provider, 0)->dof, DP_NO_ID);
	lab_free(&l);
}
END_TEST

/* In 32 bits the way of .stapsdt.base wraps with the addresses. */
START_TEST(delta_wraps_32)
{
	struct dp_rec_object o = exe64;
	const struct sdt n = { 0x402010, 0x3030, 0, "p", "n", "", 0x2030 };
	struct lab l;

	o.class = 32;
	o.machine = EM_386;
	lab_open(&l, &o);
	put_segments(&l);
	put_func(&l, 0x401000, 0x100, "f");
	put_sdt(&l, &o, &n);
	lab_close(&l);
	ck_str(NTH(&l, PROBE, probe, 0)->function, "f");
	ck_why(NTH(&l, SITE, site, 0), NULL);
	lab_free(&l);
}
END_TEST

/* The function around a site by its size; nothing when there is none. */
START_TEST(functions)
{
	static const struct {
		uint64_t pc;
		const char *name;
	} rows[] = {
		{ 0x401000, "outer" },     { 0x4010ff, "outer" },
		{ 0x401100, "outer" }, /* an empty one is around nothing */
		{ 0x401200, "inner" },     { 0x40120f, "inner" },
		{ 0x401210, "innermost" }, { 0x40121f, "innermost" },
		{ 0x401220, "inner" },     { 0x401280, "outer" },
		{ 0x401fff, "outer" },     { 0x402000, "" },
		{ 0x402800, "" },          { 0x400fff, "" },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct sdt n = { rows[i].pc, 0, 0, "p", "n", "", 0 };
		struct lab l;

		lab_open(&l, &exe64);
		put_segments(&l);
		put_func(&l, 0x401200, 0x80, "inner");
		put_func(&l, 0x401000, 0x1000, "outer");
		put_func(&l, 0x401100, 0, "empty");
		put_func(&l, 0x401210, 0x10, "innermost");
		put_func(&l, 0x401240, 0x8, "aside");
		put_sdt(&l, &exe64, &n);
		lab_close(&l);
		ck_assert_msg(dp_bytes_is(NTH(&l, PROBE, probe, 0)->function,
		                          rows[i].name),
		              "0x%llx is not in \"%s\"",
		              (unsigned long long)rows[i].pc, rows[i].name);
		lab_free(&l);
	}
}
END_TEST

/* Names come with the notes that need them, not all before the first. */
START_TEST(functions_as_they_come)
{
	struct lab l;

	lab_open(&l, &exe64);
	put_segments(&l);
	for (uint64_t i = 0; i < 3; i++) {
		static const char *const names[] = { "c", "b", "a" };
		uint64_t at = 0x402000 - 0x100 * i;
		const struct sdt n = { at + 4, 0, 0, "p", "n", "", 0 };

		put_func(&l, at, 8, names[i]);
		put_sdt(&l, &exe64, &n);
	}
	lab_close(&l);
	ck_str(NTH(&l, PROBE, probe, 0)->function, "c");
	ck_str(NTH(&l, PROBE, probe, 2)->function, "a");
	lab_free(&l);
}
END_TEST

/* One probe a function; its sites are one probe's, in whatever order. */
START_TEST(joining)
{
	static const struct sdt notes[] = {
		{ 0x401010, 0, 0x404000, "p", "n", "-4@$1", 0 },
		{ 0x401110, 0, 0, "p", "n", "", 0 },
		{ 0x401020, 0, 0x404010, "p", "n", "-4@$2", 0 },
		{ 0x401010, 0, 0, "p", "m", "", 0 },
		{ 0x401010, 0, 0, "q", "n", "", 0 },
	};
	static const uint32_t probe_of[] = { 0, 1, 0, 2, 3 };
	struct lab l;

	lab_open(&l, &exe64);
	put_segments(&l);
	put_func(&l, 0x401000, 0x100, "f");
	put_func(&l, 0x401100, 0x100, "g");
	for (size_t i = 0; i < LEN(notes); i++)
		put_sdt(&l, &exe64, &notes[i]);
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_PROVIDER), 2);
	ck_assert_uint_eq(count_of(&l, DP_REC_PROBE), 4);
	for (uint32_t i = 0; i < 5; i++)
		ck_assert_uint_eq(NTH(&l, SITE, site, i)->probe, probe_of[i]);
	ck_str(NTH(&l, PROBE, probe, 0)->function, "f");
	ck_str(NTH(&l, PROBE, probe, 1)->function, "g");
	ck_assert_uint_eq(NTH(&l, SITE, site, 2)->sem, 0x404010);
	ck_assert_int_eq(NTH(&l, ARG, arg, 0)->disp, 1);
	ck_assert_int_eq(NTH(&l, ARG, arg, 1)->disp, 2);
	ck_assert_uint_eq(NTH(&l, ARG, arg, 1)->site, 2);
	lab_free(&l);
}
END_TEST

static void
put_named(struct lab *l, uint8_t kind, uint64_t value, const char *name)
{
	PUT(l, SYMBOL, symbol, .kind = kind, .value = value,
	    .name = dp_cstr(name));
}

static const struct {
	const char *arg;
	uint16_t machine;
	uint8_t kind;
	uint64_t value;
	int64_t tp;
	uint32_t nreloc;
	const char *why;
} operands[] = {
	{ "-4@sv(%rip)", EM_X86_64, DPR_ARG_MEM, 0x404100, 0, 1, "" },
	{ "4@sv+12(%rip)", EM_X86_64, DPR_ARG_MEM, 0x404100, 0, 1, "" },
	{ "4@gone(%rip)", EM_X86_64, DPR_ARG_UNREADABLE, 0, 0, 0,
	  "symbol not in the file" },
	{ "4@two(%rip)", EM_X86_64, DPR_ARG_UNREADABLE, 0, 0, 0,
	  "several symbols of this name" },
	/* memsz 0x14, align 16: the block begins 0x20 below the pointer */
	{ "4@%fs:tv@tpoff", EM_X86_64, DPR_ARG_MEM, 8, 8 - 0x20, 1, "" },
	{ "4@%eax", EM_X86_64, DPR_ARG_REG, 0, 0, 0, "" },
	{ "4@$7", EM_X86_64, DPR_ARG_CONST, 0, 0, 0, "" },
	{ "4@%rax", EM_NONE, DPR_ARG_UNREADABLE, 0, 0, 0, NULL },
};

START_TEST(symbols)
{
	const struct sdt n = { 0x401010, 0, 0, "p", "n", operands[_i].arg, 0 };
	struct dp_rec_object o = exe64;
	const struct dp_rec_arg *a;
	struct lab l;

	o.machine = operands[_i].machine;
	o.e_type = ET_DYN;
	lab_open(&l, &o);
	put_segments(&l);
	put_named(&l, DPR_SYM_OBJECT, 0x404100, "sv");
	put_named(&l, DPR_SYM_AMBIGUOUS, 0x404100, "two");
	put_named(&l, DPR_SYM_TLS, 8, "tv");
	put_sdt(&l, &o, &n);
	lab_close(&l);
	a = NTH(&l, ARG, arg, 0);
	ck_assert_msg(a->kind == operands[_i].kind, "%s: %s %.*s", n.args,
	              dp_word(DP_LIST_argkind, a->kind), (int)a->why.n,
	              (const char *)a->why.p);
	ck_str(a->text, n.args);
	ck_assert_uint_eq(a->symbol_value, operands[_i].value);
	ck_assert_int_eq(a->symbol_found, operands[_i].nreloc != 0);
	ck_assert_int_eq(a->tp_offset, operands[_i].tp);
	ck_assert_uint_eq(a->nreloc, operands[_i].nreloc);
	if (a->nreloc != 0) {
		ck_assert_uint_eq(NTH(&l, RELOC, reloc, a->reloc)->base,
		                  dp_bytes_is(a->symbol, "tv") ? DPR_BASE_NONE
		                                               : DPR_BASE_BIAS);
		ck_assert_uint_eq(NTH(&l, RELOC, reloc, a->reloc)->kind,
		                  DPR_RELOC_PLAIN);
	}
	if (operands[_i].why != NULL)
		ck_str(a->why, operands[_i].why);
	else
		ck_assert_uint_ne(a->why.n, 0);
	ck_assert_uint_eq(l.stats.unreadable, a->why.n != 0);
	ck_assert(NTH(&l, SITE, site, 0)->attachable); /* the site is fine */
	lab_free(&l);
}
END_TEST

START_TEST(too_many_args)
{
	static char args[DP_MAX_ARGS * 4 + 8];
	const struct sdt n = { 0x401010, 0, 0, "p", "n", args, 0 };
	struct lab l;

	for (int i = 0; i < DP_MAX_ARGS; i++)
		memcpy(args + 4 * i, "4@1 ", 4);
	one_sdt(&l, &exe64, &n);
	ck_assert_uint_eq(count_of(&l, DP_REC_ARG), DP_MAX_ARGS);
	ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 0);
	lab_free(&l);
	memcpy(args + 4 * DP_MAX_ARGS, "4@1 ", 5);
	one_sdt(&l, &exe64, &n);
	ck_assert_uint_eq(count_of(&l, DP_REC_ARG), DP_MAX_ARGS);
	ck_assert_uint_eq(NTH(&l, SITE, site, 0)->nargs, DP_MAX_ARGS);
	ck_assert_uint_eq(NTH(&l, ERROR, error, 0)->reach, DPR_REACH_ARGUMENT);
	ck_assert_uint_eq(NTH(&l, ERROR, error, 0)->code, DPR_CODE_LIMIT);
	ck_assert_uint_eq(NTH(&l, ERROR, error, 0)->offset,
	                  0x1000 + 20 + 24 + 4);
	lab_free(&l);
}
END_TEST

/* What is broken costs itself: one error, and the next note is read. */
START_TEST(bad_beside_good)
{
	const struct sdt good = { 0x401010, 0, 0, "p", "n", "4@$1", 0 };
	const struct sdt nameless = { 0x401010, 0, 0, "", "n", "", 0 };
	struct lab l;

	lab_open(&l, &exe64);
	put_segments(&l);
	put_sdt(&l, &exe64, &good);
	PUT(&l, RAWNOTE, rawnote, .owner = LIT("stapsdt"), .note_type = 3,
	    .fileoff = 0x1000, .desc_off = 20, .desc = LIT("short"));
	put_sdt(&l, &exe64, &nameless);
	PUT(&l, RAWNOTE, rawnote, .owner = LIT("stapsdt"), .note_type = 2,
	    .fileoff = 0x2000, .desc = LIT("old"));
	PUT(&l, RAWNOTE, rawnote, .owner = LIT("GNU"), .note_type = 3,
	    .fileoff = 0x2000, .desc = LIT("build"));
	put_sdt(&l, &exe64, &good);
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_SITE), 2);
	ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct dp_rec_error *e = NTH(&l, ERROR, error, i);

		ck_assert_uint_eq(e->reach, DPR_REACH_SITE);
		ck_assert_uint_eq(e->code,
		                  i < 2 ? DPR_CODE_FORMAT : DPR_CODE_UNSUP);
		ck_assert_uint_ge(e->offset, i < 2 ? 0x1014 : 0x2000);
	}
	ck_assert_uint_eq(l.stats.notes, 6);
	lab_free(&l);
}
END_TEST

/* A .note.usdt site; func is the address of its function's name. */
static void
put_usdt(struct lab *l, uint64_t pc, uint64_t func, uint32_t type,
         const char *const strs[3])
{
	struct desc d = { .o = &exe64 };
	uint8_t nargs = 0;

	for (const char *s = strs[2]; *s != '\0'; s++)
		nargs += *s == '@';
	word(&d, pc, 8);
	word(&d, func, 8);
	text(&d, strs[0]);
	text(&d, strs[1]);
	word(&d, nargs, 1);
	text(&d, strs[2]);
	put_note(l, &d, "usdt", type);
}

static void
align4(struct desc *d)
{
	while (d->b.n % 4 != 0)
		word(d, 0, 1);
}

/* Declares provider p: n(int, char *) as args char *, int; and empty e(). */
static void
put_prov(struct lab *l)
{
	struct desc d = { .o = &exe64 };

	text(&d, "p");
	align4(&d);
	for (uint32_t i = 0; i < 5; i++)
		word(&d, 0x01020300 + i, 4);
	word(&d, 2, 4);
	text(&d, "n");
	word(&d, 2, 1);
	text(&d, "int");
	text(&d, "char *");
	word(&d, 2, 1);
	text(&d, "string");
	word(&d, 1, 1);
	text(&d, "int");
	word(&d, 0, 1);
	align4(&d);
	text(&d, "e");
	word(&d, 0, 1);
	word(&d, 0, 1);
	put_note(l, &d, "prov", 1);
}

static const char *const n_strs[] = { "p", "n", "-4@%eax 8@%rdi" };
static const char *const e_strs[] = { "p", "e", "" };
static const char *const q_strs[] = { "q", "n", "" };

static void
ck_joined(const struct lab *l)
{
	const struct dp_rec_probe *pr = NTH(l, PROBE, probe, 0);
	const struct dp_rec_provider *pv = NTH(l, PROVIDER, provider, 0);

	ck_str(pv->name, "p");
	ck_assert_uint_eq(pv->source, DPR_SOURCE_USDT);
	ck_assert_uint_eq(pv->attr_provider, 0x01020300);
	ck_assert_uint_eq(pv->attr_args, 0x01020304);
	ck_str(pr->function, "fun");
	ck_str(pr->name, "n");
	ck_assert_uint_eq(pr->native.n, 2);
	ck_assert(dp_bytes_eq(pr->native.run, LIT("int\0char *\0")));
	ck_assert_uint_eq(pr->translated.n, 2);
	ck_assert(dp_bytes_eq(pr->translated.run, LIT("string\0int\0")));
	ck_assert(dp_bytes_eq(pr->map, LIT("\1\0")));
	ck_assert_uint_eq(NTH(l, PROBE, probe, 1)->native.n, 0);
	ck_assert_uint_eq(NTH(l, PROVIDER, provider, 1)->attr_provider, 0);
	ck_assert_uint_eq(NTH(l, SITE, site, 1)->kind, DPR_SITE_IS_ENABLED);
	ck_assert_uint_eq(NTH(l, SITE, site, 0)->nargs, 2);
}

START_TEST(usdt_either_order)
{
	for (int where = 0; where < 3; where++) {
		struct lab l;

		lab_open(&l, &exe64);
		put_segments(&l);
		put_named(&l, DPR_SYM_STRING, 0x404200, "fun");
		l.stats.sites = 0;
		if (where == 0)
			put_prov(&l);
		put_usdt(&l, 0x401010, 0x404200, 1, n_strs);
		if (where == 1)
			put_prov(&l);
		put_usdt(&l, 0x401020, 0x404200, 2, e_strs);
		put_usdt(&l, 0x401030, 0x404200, 1, q_strs);
		if (where == 2)
			put_prov(&l);
		lab_close(&l);
		ck_assert_uint_eq(count_of(&l, DP_REC_SITE), 3);
		ck_assert_uint_eq(count_of(&l, DP_REC_PROBE), 3);
		ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 0);
		ck_joined(&l);
		ck_why(NTH(&l, SITE, site, 0), NULL);
		lab_free(&l);
	}
}
END_TEST

START_TEST(usdt_duplicates)
{
	struct lab l;

	lab_open(&l, &exe64);
	put_segments(&l);
	put_named(&l, DPR_SYM_STRING, 0x404200, "fun");
	put_prov(&l);
	put_prov(&l);
	put_usdt(&l, 0x401010, 0x404200, 1, n_strs);
	put_usdt(&l, 0x401010, 0x404200, 2, n_strs); /* another kind */
	put_usdt(&l, 0x401010, 0x404200, 1, n_strs);
	put_usdt(&l, 0x401014, 0x404200, 1, n_strs);
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_SITE), 3);
	ck_assert_uint_eq(count_of(&l, DP_REC_PROBE), 1);
	ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 2);
	ck_assert_uint_eq(NTH(&l, ERROR, error, 0)->reach, DPR_REACH_PROVIDER);
	ck_assert_uint_eq(NTH(&l, ERROR, error, 1)->reach, DPR_REACH_SITE);
	ck_assert_uint_eq(NTH(&l, PROBE, probe, 0)->native.n, 2);
	lab_free(&l);
}
END_TEST

/* No name for the function: an error of that note, and of no other. */
START_TEST(usdt_no_string)
{
	struct lab l;

	lab_open(&l, &exe64);
	put_segments(&l);
	put_named(&l, DPR_SYM_STRING, 0x404208, "fun");
	put_usdt(&l, 0x401010, 0x404200, 1, n_strs);
	put_usdt(&l, 0x401020, 0x404208, 1, n_strs);
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_SITE), 1);
	ck_str(NTH(&l, PROBE, probe, 0)->function, "fun");
	ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 1);
	ck_assert_uint_eq(NTH(&l, ERROR, error, 0)->reach, DPR_REACH_SITE);
	ck_assert_uint_eq(NTH(&l, ERROR, error, 0)->offset, 0x1000 + 20 + 8);
	lab_free(&l);
}
END_TEST

/* Both words may be hit by relocations; the note's own stay with it. */
START_TEST(usdt_relocated)
{
	struct dp_rec_object o = exe64;
	struct lab l;

	o.e_type = ET_DYN;
	lab_open(&l, &o);
	put_segments(&l);
	put_named(&l, DPR_SYM_STRING, 0x404200, "fun");
	for (int i = 0; i < 2; i++) {
		PUT(&l, ELFREL, elfrel, .offset = 8, .addend = 0x404200,
		    .kind = DPR_RELKIND_RELATIVE, .explicit_addend = true);
		PUT(&l, ELFREL, elfrel, .offset = 0, .addend = 0x401010 + i,
		    .kind = DPR_RELKIND_RELATIVE, .explicit_addend = true,
		    .symbol = i == 0 ? LIT("one") : LIT("two"));
		put_usdt(&l, (uint64_t)i, 0, 1, n_strs);
	}
	put_usdt(&l, 0x401010, 0x404200, 1, e_strs);
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 0);
	ck_assert_uint_eq(count_of(&l, DP_REC_RELOC), 3);
	for (uint32_t i = 0; i < 2; i++) {
		const struct dp_rec_reloc *r = NTH(&l, RELOC, reloc, i);

		ck_assert_uint_eq(r->kind, DPR_RELOC_ELF_RELATIVE);
		ck_assert_int_eq(r->addend, 0x401010 + (int)i);
		ck_str(r->symbol, i == 0 ? "one" : "two");
		ck_why(NTH(&l, SITE, site, i), NULL);
		ck_str(NTH(&l, PROBE, probe, 0)->function, "fun");
	}
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 2)->kind, DPR_RELOC_PLAIN);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 2)->base, DPR_BASE_BIAS);
	lab_free(&l);
}
END_TEST

/* In a .o all words are 0: what the relocations say tells sites apart. */
START_TEST(usdt_in_a_relocatable)
{
	static const struct {
		uint64_t addend;
		uint32_t section;
	} sites[] = { { 0x10, 1 }, { 0x20, 1 }, { 0x10, 5 }, { 0x20, 1 } };
	struct dp_rec_object o = exe64;
	struct lab l;

	o.e_type = ET_REL;
	lab_open(&l, &o);
	put_named(&l, DPR_SYM_STRING, 0x200, "fun");
	for (size_t i = 0; i < LEN(sites); i++) {
		PUT(&l, ELFREL, elfrel, .offset = 0, .width = 8,
		    .addend = (int64_t)sites[i].addend,
		    .sym_section = sites[i].section, .kind = DPR_RELKIND_SYMBOL,
		    .explicit_addend = true);
		put_usdt(&l, 0, 0x200, 1, n_strs);
	}
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_SITE), 3);
	ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 1);
	lab_free(&l);
}
END_TEST

/* Broken ones: a site, a provider, a probe of a provider. */
START_TEST(usdt_broken)
{
	struct desc d = { .o = &exe64 };
	struct lab l;

	lab_open(&l, &exe64);
	put_segments(&l);
	put_named(&l, DPR_SYM_STRING, 0x404200, "fun");
	PUT(&l, RAWNOTE, rawnote, .owner = LIT("usdt"), .note_type = 1);
	PUT(&l, RAWNOTE, rawnote, .owner = LIT("prov"), .note_type = 1);
	PUT(&l, RAWNOTE, rawnote, .owner = LIT("usdt"), .note_type = 3);
	text(&d, "r"); /* announces two probes, has one with a bad map */
	align4(&d);
	for (int i = 0; i < 5; i++)
		word(&d, 0, 4);
	word(&d, 2, 4);
	text(&d, "n");
	word(&d, 0, 1);
	word(&d, 1, 1);
	text(&d, "int");
	word(&d, 0, 1);
	put_note(&l, &d, "prov", 1);
	put_usdt(&l, 0x401010, 0x404200, 1, n_strs);
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_SITE), 1);
	ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 5);
	lab_free(&l);
}
END_TEST

/* One declaration of 510 types, joined with `n` functions. */
static void
put_typed(struct lab *l, uint32_t n)
{
	static const char *const strs3[] = { "p", "n", "" };
	struct desc d = { .o = &exe64 };

	text(&d, "p");
	align4(&d);
	for (int i = 0; i < 5; i++)
		word(&d, 0, 4);
	word(&d, 1, 4);
	text(&d, "n");
	for (int part = 0; part < 2; part++) {
		word(&d, 255, 1);
		for (int i = 0; i < 255; i++) {
			text(&d, "t");
			if (part == 1)
				word(&d, 7, 1);
		}
	}
	put_note(l, &d, "prov", 1);
	for (uint32_t i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof name, "f%u", i);
		put_named(l, DPR_SYM_STRING, 0x404200 + i, name);
		put_usdt(l, 0x401010 + i, 0x404200 + i, 1, strs3);
		put_usdt(l, 0x401010 + i, 0x404200 + i, 2, strs3);
	}
}

/* A few bytes a site could ask for all the types again, each time. */
START_TEST(usdt_types_in_all)
{
	const uint32_t full = DP_MAX_DOF_TYPES / 510;

	for (uint32_t past = 0; past < 3; past++) {
		struct lab l;

		lab_open(&l, &exe64);
		put_typed(&l, full + past);
		lab_put(&l, &(struct dp_record){ .type = DP_REC_OBJECT_END });
		ck_assert_uint_eq(dp_parser_stats(l.p)->errors, past != 0);
		ck_assert_uint_eq(dp_parser_stats(l.p)->probes, full + past);
		ck_assert_uint_le(l.bytes.n + l.out.buf.n,
		                  (full + 8) * (510 * 2 + 255 + 700));
		lab_put(&l, &(struct dp_record){ .type = DP_REC_OBJECT,
		                                 .object = exe64 });
		l.bytes.n = 0; /* the next object begins anew */
		put_typed(&l, 1);
		lab_put(&l, &(struct dp_record){ .type = DP_REC_OBJECT_END });
		ck_assert_uint_eq(dp_parser_stats(l.p)->errors, past != 0);
		dp_parser_destroy(l.p);
		dp_writer_deinit(&l.out);
		lab_free(&l);
	}
}
END_TEST

/* The number of operands announced is believed by nobody. */
START_TEST(usdt_wrong_nargs)
{
	struct desc d = { .o = &exe64 };
	struct lab l;

	lab_open(&l, &exe64);
	put_segments(&l);
	put_named(&l, DPR_SYM_STRING, 0x404200, "fun");
	word(&d, 0x401010, 8);
	word(&d, 0x404200, 8);
	text(&d, "p");
	text(&d, "n");
	word(&d, 200, 1);
	text(&d, "4@%eax");
	put_note(&l, &d, "usdt", 1);
	lab_close(&l);
	ck_assert_uint_eq(NTH(&l, SITE, site, 0)->nargs, 1);
	ck_assert_uint_eq(NTH(&l, ERROR, error, 0)->reach, DPR_REACH_ARGUMENT);
	ck_assert_uint_eq(NTH(&l, ERROR, error, 0)->offset,
	                  0x1000 + 20 + 8 + 8 + 2 + 2 + 1);
	lab_free(&l);
}
END_TEST

/* Everything twice through one parser: what came before leaves no trace. */
static void
whole_object(struct lab *l)
{
	const struct sdt n = {
		0x401010, 0, 0x404000, "p", "n", "4@sv(%rip)", 0
	};

	lab_put(l,
	        &(struct dp_record){ .type = DP_REC_OBJECT, .object = exe64 });
	put_segments(l);
	put_func(l, 0x401000, 0x100, "f");
	put_named(l, DPR_SYM_OBJECT, 0x404100, "sv");
	put_named(l, DPR_SYM_STRING, 0x404200, "fun");
	PUT(l, ELFREL, elfrel, .offset = 0, .kind = DPR_RELKIND_RELATIVE);
	put_sdt(l, &exe64, &n);
	put_prov(l);
	put_usdt(l, 0x401010, 0x404200, 1, n_strs);
	lab_put(l, &(struct dp_record){ .type = DP_REC_OBJECT_END });
}

START_TEST(same_bytes)
{
	struct dp_err e = DP_ERR_INIT;
	struct lab l;
	size_t start, n;

	lab_begin(&l, (struct dp_sink){ buf_sink, &l.bytes });
	ck_ok(dp_writer_flush(&l.out, &e), e);
	start = l.bytes.n;
	for (int i = 0; i < 3; i++) {
		whole_object(&l);
		ck_ok(dp_writer_flush(&l.out, &e), e);
		n = (l.bytes.n - start) / ((size_t)i + 1);
		ck_assert_uint_eq((l.bytes.n - start) % ((size_t)i + 1), 0);
		ck_assert_mem_eq(l.bytes.p + start,
		                 l.bytes.p + start + (size_t)i * n, n);
	}
	dp_parser_destroy(l.p);
	dp_writer_deinit(&l.out);
	lab_free(&l);
}
END_TEST

static void
helper_at(struct dp_buf *out, int where)
{
	const struct sdt n = { 0x401010, 0, 0, "p", "n", "4@sv(%rip)", 0 };
	struct lab l;

	lab_open(&l, &exe64);
	for (int i = 0; i < 5; i++) {
		if (i == where)
			PUT(&l, HELPER, helper, .pid = 7, .module = LIT("x"));
		if (i == 0)
			put_segments(&l);
		else if (i == 1)
			put_named(&l, DPR_SYM_OBJECT, 0x404100, "sv");
		else if (i == 4)
			put_named(&l, DPR_SYM_STRING, 0x404200, "fun");
		else if (i == 2)
			put_sdt(&l, &exe64, &n);
		else if (i == 3)
			put_usdt(&l, 0x401010, 0x404200, 1, n_strs);
	}
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_SITE), 2);
	for (size_t i = 0; i + 2 < l.recs.n; i++)
		if (lab_at(&l, i)->rec.type != DP_REC_HELPER)
			ck_assert(dp_buf_add(out, l.bytes.p + lab_at(&l, i)->at,
			                     lab_at(&l, i + 1)->at -
			                             lab_at(&l, i)->at));
	lab_free(&l);
}

START_TEST(helper_anywhere)
{
	struct dp_buf none = { 0 };

	helper_at(&none, -1);
	for (int where = 0; where < 5; where++) {
		struct dp_buf got = { 0 };

		helper_at(&got, where);
		ck_assert_msg(
			dp_bytes_eq(dp_buf_bytes(&got), dp_buf_bytes(&none)),
			"helper at %d changes other records", where);
		dp_buf_deinit(&got);
	}
	dp_buf_deinit(&none);
}
END_TEST

/* What only a parser writes has no place in what it reads. */
START_TEST(parsed_records)
{
	const struct sdt good = { 0x401010, 0, 0, "p", "n", "4@%eax", 0 };
	struct lab l;

	lab_open(&l, &exe64);
	put_segments(&l);
	PUT(&l, DOF, dof, .id = 0);
	PUT(&l, PROVIDER, provider, .id = 0);
	PUT(&l, PROBE, probe, .id = 0);
	PUT(&l, SITE, site, .id = 0);
	PUT(&l, ARG, arg, .site = 0);
	PUT(&l, RELOC, reloc, .id = 0);
	put_sdt(&l, &exe64, &good);
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 6);
	ck_assert_uint_eq(NTH(&l, ERROR, error, 5)->reach, DPR_REACH_OBJECT);
	ck_assert_uint_eq(count_of(&l, DP_REC_SITE), 1);
	ck_assert_uint_eq(count_of(&l, DP_REC_RELOC), 1);
	ck_assert_uint_eq(count_of(&l, DP_REC_DOF), 0);
	lab_free(&l);
}
END_TEST

/* Tiny bad notes up to the limit, one more, and many more. */
START_TEST(notes_in_all)
{
	const struct sdt good = { 0x401010, 0, 0, "p", "n", "", 0 };
	struct dp_record rec = { .type = DP_REC_RAWNOTE };
	struct lab l;

	rec.rawnote.owner = LIT("stapsdt");
	rec.rawnote.note_type = 3;
	lab_begin(&l, (struct dp_sink){ null_sink, NULL });
	lab_put(&l,
	        &(struct dp_record){ .type = DP_REC_OBJECT, .object = exe64 });
	for (uint32_t i = 1; i < DP_MAX_NOTES; i++)
		lab_put(&l, &rec);
	put_sdt(&l, &exe64, &good);
	ck_assert_uint_eq(dp_parser_stats(l.p)->sites, 1);
	ck_assert_uint_eq(dp_parser_stats(l.p)->notes, DP_MAX_NOTES);
	ck_assert_uint_eq(dp_parser_stats(l.p)->errors, DP_MAX_NOTES - 1);
	for (int i = 0; i < 3; i++) {
		put_sdt(&l, &exe64, &good);
		ck_assert_uint_eq(dp_parser_stats(l.p)->sites, 1);
		ck_assert_uint_eq(dp_parser_stats(l.p)->errors, DP_MAX_NOTES);
	}
	lab_put(&l, &(struct dp_record){ .type = DP_REC_OBJECT_END });
	/* the next object begins anew */
	lab_put(&l,
	        &(struct dp_record){ .type = DP_REC_OBJECT, .object = exe64 });
	put_sdt(&l, &exe64, &good);
	ck_assert_uint_eq(dp_parser_stats(l.p)->sites, 2);
	lab_close(&l);
}
END_TEST

static void
open_nowhere(struct lab *l)
{
	lab_begin(l, (struct dp_sink){ null_sink, NULL });
	lab_put(l,
	        &(struct dp_record){ .type = DP_REC_OBJECT, .object = exe64 });
}

/* As many as may be kept, one more, and a few more. */
static void
many(const struct dp_record *rec, uint32_t max, uint32_t behind_each)
{
	const struct dp_record sep = { .type = DP_REC_RAWDOF };
	uint64_t dofs;
	struct lab l;

	open_nowhere(&l);
	for (uint32_t i = 0; i < max; i++) {
		lab_put(&l, rec);
		if (i % behind_each == 0)
			lab_put(&l, &sep); /* relocations are for one record */
	}
	dofs = dp_parser_stats(l.p)->dofs;
	ck_assert_uint_eq(dp_parser_stats(l.p)->errors, dofs);
	for (int i = 0; i < 3; i++) {
		lab_put(&l, rec);
		ck_assert_uint_eq(dp_parser_stats(l.p)->errors, dofs + 1);
	}
	lab_put(&l, &(struct dp_record){ .type = DP_REC_OBJECT_END });
	lab_put(&l,
	        &(struct dp_record){ .type = DP_REC_OBJECT, .object = exe64 });
	lab_put(&l, rec); /* the next object begins anew */
	ck_assert_uint_eq(dp_parser_stats(l.p)->errors, dofs + 1);
	lab_close(&l);
}

START_TEST(kept_in_all)
{
	struct dp_record rec = { .type = DP_REC_ELFREL };
	struct dp_bytes text = { calloc(1, DP_MAX_STR), DP_MAX_STR };

	ck_assert_ptr_nonnull(text.p);
	many(&rec, DP_MAX_ELFRELS, 4096);
	rec.elfrel.symbol = text;
	many(&rec, DP_MAX_RAW_BYTES / DP_MAX_STR, 1);
	rec = (struct dp_record){ .type = DP_REC_SYMBOL };
	many(&rec, DP_MAX_SYMBOLS, DP_MAX_SYMBOLS);
	rec = (struct dp_record){ .type = DP_REC_HELPER };
	many(&rec, DP_MAX_HELPERS, DP_MAX_HELPERS);
	free((void *)(uintptr_t)text.p);
}
END_TEST

/* The notes of .note.usdt wait for the end, the others do not. */
START_TEST(kept_bytes)
{
	struct dp_record rec = { .type = DP_REC_RAWNOTE };
	struct dp_record rel = { .type = DP_REC_ELFREL };
	struct dp_bytes text = { calloc(1, DP_MAX_STR), DP_MAX_STR };
	struct lab l;

	ck_assert_ptr_nonnull(text.p);
	rec.rawnote.owner = LIT("usdt");
	rec.rawnote.note_type = 1;
	rel.elfrel.symbol = text;
	rec.rawnote.desc = text;
	open_nowhere(&l);
	for (uint32_t i = 0; i < DP_MAX_RAW_BYTES / DP_MAX_STR / 2; i++) {
		lab_put(&l, &rel); /* its name is kept with the note */
		lab_put(&l, &rec);
	}
	ck_assert_uint_eq(dp_parser_stats(l.p)->errors, 0);
	for (int i = 0; i < 3; i++) {
		lab_put(&l, &rec);
		ck_assert_uint_eq(dp_parser_stats(l.p)->errors, 1);
	}
	lab_close(&l);
	free((void *)(uintptr_t)text.p);
}
END_TEST

/* A descriptor of exactly `n` bytes, nearly all of it arguments. */
static void
long_note(struct lab *l, size_t n)
{
	struct sdt note = { 0x401010, 0, 0, "p", "n", NULL, 0 };
	char *args = malloc(n);

	ck_assert_ptr_nonnull(args);
	memset(args, 'x', n - 29);
	args[n - 29] = '\0';
	note.args = args;
	one_sdt(l, &exe64, &note);
	free(args);
}

/* What is written must be readable: no string longer than the reader takes. */
START_TEST(long_descriptors)
{
	struct lab l;

	long_note(&l, DP_MAX_NOTE_DESC);
	ck_assert_uint_eq(NTH(&l, SITE, site, 0)->args.n,
	                  DP_MAX_NOTE_DESC - 29);
	ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 0);
	lab_free(&l);
	long_note(&l, DP_MAX_NOTE_DESC + 1);
	ck_assert_uint_eq(count_of(&l, DP_REC_SITE), 0);
	ck_assert_uint_eq(NTH(&l, ERROR, error, 0)->code, DPR_CODE_LIMIT);
	lab_free(&l);
	long_note(&l, DP_MAX_STR + 100);
	ck_assert_uint_eq(NTH(&l, ERROR, error, 0)->reach, DPR_REACH_SITE);
	lab_free(&l);
}
END_TEST

/* The name of an object in messages is path and member: two strings. */
START_TEST(long_names)
{
	uint8_t *p = malloc(DP_MAX_STR);
	struct dp_rec_object o = exe64;
	struct lab l;

	ck_assert_ptr_nonnull(p);
	memset(p, 'a', DP_MAX_STR);
	o.path = (struct dp_bytes){ p, DP_MAX_STR };
	o.member = o.path;
	lab_open(&l, &o);
	PUT(&l, RAWNOTE, rawnote, .owner = LIT("stapsdt"), .note_type = 3);
	lab_close(&l);
	ck_assert_uint_gt(NTH(&l, ERROR, error, 0)->input.n, 1000);
	lab_free(&l);
	free(p);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("parse_notes");
	TCase *t = tcase_create("parse_notes");

	tcase_set_timeout(t, 120);
	tcase_add_test(t, base_delta);
	tcase_add_test(t, places);
	tcase_add_test(t, refused_objects);
	tcase_add_test(t, relocatable);
	tcase_add_loop_test(t, class_and_order, 0, 4);
	tcase_add_test(t, delta_wraps_32);
	tcase_add_test(t, functions);
	tcase_add_test(t, functions_as_they_come);
	tcase_add_test(t, joining);
	tcase_add_loop_test(t, symbols, 0, (int)LEN(operands));
	tcase_add_test(t, too_many_args);
	tcase_add_test(t, bad_beside_good);
	tcase_add_test(t, usdt_either_order);
	tcase_add_test(t, usdt_duplicates);
	tcase_add_test(t, usdt_no_string);
	tcase_add_test(t, usdt_relocated);
	tcase_add_test(t, usdt_in_a_relocatable);
	tcase_add_test(t, usdt_broken);
	tcase_add_test(t, usdt_wrong_nargs);
	tcase_add_test(t, usdt_types_in_all);
	tcase_add_test(t, same_bytes);
	tcase_add_test(t, helper_anywhere);
	tcase_add_test(t, parsed_records);
	tcase_add_test(t, notes_in_all);
	tcase_add_test(t, kept_in_all);
	tcase_add_test(t, kept_bytes);
	tcase_add_test(t, long_descriptors);
	tcase_add_test(t, long_names);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_checks(suite());
}
