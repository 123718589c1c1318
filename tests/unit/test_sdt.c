/* SPDX-License-Identifier: BSD-2-Clause */
/* The walk over notes and the descriptors of SystemTap's. */
#include <check.h>
#include <elf.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "usdt/notes.h"
#include "usdt/sdt.h"

/* Bytes under construction, in either order. */
struct out {
	uint8_t b[1024];
	size_t n;
	enum dp_order order;
};

static void
put_uint(struct out *o, uint64_t v, unsigned width)
{
	for (unsigned i = 0; i < width; i++) {
		unsigned at = o->order == DP_LE ? i : width - 1 - i;

		o->b[o->n++] = (uint8_t)(v >> (8 * at));
	}
}

static void
put_bytes(struct out *o, const void *p, size_t n)
{
	memcpy(o->b + o->n, p, n);
	o->n += n;
}

static void
put_str(struct out *o, const char *s)
{
	put_bytes(o, s, strlen(s) + 1);
}

static void
put_pad(struct out *o)
{
	while (o->n % 4 != 0)
		o->b[o->n++] = 0;
}

static void
put_note(struct out *o, const char *owner, uint32_t type,
         const struct out *desc)
{
	put_uint(o, strlen(owner) + 1, 4);
	put_uint(o, desc->n, 4);
	put_uint(o, type, 4);
	put_str(o, owner);
	put_pad(o);
	put_bytes(o, desc->b, desc->n);
	put_pad(o);
}

static struct dp_bytes
bytes(const struct out *o)
{
	return (struct dp_bytes){ o->b, o->n };
}

/* A copy in a block of exactly its size, for the sanitizer. */
static struct dp_bytes
exact(const uint8_t *p, size_t n)
{
	uint8_t *q = malloc(n == 0 ? 1 : n);

	ck_assert_ptr_nonnull(q);
	memcpy(q, p, n);
	return (struct dp_bytes){ q, n };
}

static void
drop(struct dp_bytes b)
{
	free((void *)(uintptr_t)b.p);
}

static struct out
sample(unsigned width, enum dp_order order)
{
	struct out o = { .order = order };

	put_uint(&o, 0x40102a, width);
	put_uint(&o, 0x402030, width);
	put_uint(&o, 0x404010, width);
	put_str(&o, "prov");
	put_str(&o, "my__probe");
	put_str(&o, "-4@%edi 8@-16(%rbp)");
	return o;
}

START_TEST(test_good)
{
	for (int i = 0; i < 4; i++) {
		unsigned width = i & 1 ? 4 : 8;
		enum dp_order order = i & 2 ? DP_BE : DP_LE;
		struct out o = sample(width, order);
		struct dp_err e = DP_ERR_INIT;
		struct dp_sdt s;

		ck_assert(dp_sdt_parse(bytes(&o), width, order, &s, &e));
		ck_assert_int_eq(e.code, DP_OK);
		ck_assert_uint_eq(s.pc, 0x40102a);
		ck_assert_uint_eq(s.base, 0x402030);
		ck_assert_uint_eq(s.semaphore, 0x404010);
		ck_assert_uint_eq(s.pc_off, 0);
		ck_assert_uint_eq(s.base_off, width);
		ck_assert_uint_eq(s.semaphore_off, 2 * width);
		ck_assert(dp_bytes_is(s.provider, "prov"));
		ck_assert(dp_bytes_is(s.name, "my__probe"));
		ck_assert(dp_bytes_is(s.args, "-4@%edi 8@-16(%rbp)"));

		/* more behind the strings is ignored */
		put_bytes(&o, "junk", 4);
		ck_assert(dp_sdt_parse(bytes(&o), width, order, &s, &e));
		ck_assert(dp_bytes_is(s.args, "-4@%edi 8@-16(%rbp)"));
	}
}
END_TEST

START_TEST(test_words)
{
	static const uint8_t raw[] = "\xff\xff\xff\xff\xff\xff\xff\xff"
				     "\x01\0\0\0\0\0\0\0\0\0\0\0p\0\"n\"\0";
	struct dp_err e = DP_ERR_INIT;
	struct dp_sdt s;

	/* addresses are 32 bits without a sign; odd names are just bytes */
	ck_assert(dp_sdt_parse((struct dp_bytes){ raw + 4, sizeof raw - 4 - 8 },
	                       4, DP_LE, &s, &e) == false);
	e = (struct dp_err)DP_ERR_INIT;
	ck_assert(dp_sdt_parse((struct dp_bytes){ raw + 8, sizeof raw - 8 }, 4,
	                       DP_LE, &s, &e));
	ck_assert_uint_eq(s.pc, 1);
	ck_assert(dp_bytes_is(s.provider, "p"));
	ck_assert(dp_bytes_is(s.name, "\"n\""));
	ck_assert_uint_eq(s.args.n, 0);
	ck_assert(!dp_sdt_parse((struct dp_bytes){ raw, sizeof raw }, 2, DP_LE,
	                        &s, &e));
	ck_assert_int_eq(e.code, DP_EUSAGE);
}
END_TEST

START_TEST(test_bad)
{
	static const struct {
		unsigned width;
		const char *strs; /* what follows the three words */
		size_t n;
		uint64_t off;
		const char *msg;
	} want[] = {
		{ 8, "", 0, 24, "provider name without NUL" },
		{ 4, "", 0, 12, "provider name without NUL" },
		{ 8, "p", 1, 24, "provider name without NUL" },
		{ 8, "p", 2, 26, "probe name without NUL" },
		{ 8, "p\0nn", 4, 26, "probe name without NUL" },
		{ 8, "p\0nn", 5, 29, "argument string without NUL" },
		{ 4,
		  "p\0nn\0"
		  "8@%rax",
		  11, 17, "argument string without NUL" },
		{ 8, "\0n\0", 4, 24, "empty provider name" },
		{ 8, "p\0\0", 4, 26, "empty probe name" },
		{ 8, "\0\0", 3, 24, "empty provider name" },
	};

	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
		struct out o = { .order = DP_LE };
		struct dp_err e = DP_ERR_INIT;
		struct dp_sdt s = { .pc = 77 };
		struct dp_bytes d;

		put_uint(&o, 1, want[i].width);
		put_uint(&o, 2, want[i].width);
		put_uint(&o, 3, want[i].width);
		put_bytes(&o, want[i].strs, want[i].n);
		d = exact(o.b, o.n);
		ck_assert(!dp_sdt_parse(d, want[i].width, DP_LE, &s, &e));
		ck_assert_int_eq(e.code, DP_EFORMAT);
		ck_assert_uint_eq(e.off, want[i].off);
		ck_assert_str_eq(e.msg, want[i].msg);
		ck_assert_uint_eq(s.pc, 77);
		drop(d);
	}
}
END_TEST

START_TEST(test_prefixes)
{
	for (unsigned width = 4; width <= 8; width += 4) {
		struct out o = sample(width, DP_LE);

		for (size_t n = 0; n < o.n; n++) {
			struct dp_bytes d = exact(o.b, n);
			struct dp_err e = DP_ERR_INIT;
			struct dp_sdt s;

			ck_assert(!dp_sdt_parse(d, width, DP_LE, &s, &e));
			if (n < 3 * width)
				ck_assert_uint_eq(e.off, n - n % width);
			ck_assert_uint_le(e.off, n);
			drop(d);
		}
		for (size_t n = 0; n < o.n * 8; n++) {
			struct dp_bytes d;
			struct dp_err e = DP_ERR_INIT;
			struct dp_sdt s;

			o.b[n / 8] ^= (uint8_t)(1U << n % 8);
			d = exact(o.b, o.n);
			o.b[n / 8] ^= (uint8_t)(1U << n % 8);
			if (!dp_sdt_parse(d, width, DP_LE, &s, &e))
				ck_assert_uint_le(e.off, d.n);
			drop(d);
		}
	}
}
END_TEST

START_TEST(test_delta)
{
	ck_assert_uint_eq(dp_sdt_delta(0x2030, true, 0x2010), 0x20);
	ck_assert_uint_eq(dp_sdt_delta(0x2010, true, 0x2030), (uint64_t)-0x20);
	ck_assert_uint_eq(dp_sdt_delta(0x2030, true, 0), 0);
	ck_assert_uint_eq(dp_sdt_delta(0, true, 0x2030), 0);
	ck_assert_uint_eq(dp_sdt_delta(0, false, 0x2030), 0);
	ck_assert_uint_eq(dp_sdt_delta(0x2010, false, 0x2030), 0);
}
END_TEST

START_TEST(test_walk)
{
	for (enum dp_order order = DP_LE; order <= DP_BE; order++) {
		struct out o = { .order = order };
		struct out none = { .order = order };
		struct out desc = sample(8, order);
		struct dp_note_iter it;
		struct dp_note note;
		struct dp_err e = DP_ERR_INIT;
		size_t second;

		put_note(&o, "GNU", 5, &none);
		second = o.n;
		put_note(&o, DP_SDT_OWNER, DP_SDT_TYPE, &desc);
		put_note(&o, "stap", 3, &desc);
		put_note(&o, "", 3, &desc);
		put_uint(&o, 0, 8); /* padding */

		dp_note_iter_init(&it, bytes(&o), order);
		ck_assert_int_eq(dp_note_next(&it, &note, &e), DP_STEP_OK);
		ck_assert(dp_note_is(&note, "GNU", 5));
		ck_assert_uint_eq(note.desc.n, 0);
		ck_assert_uint_eq(note.off, 0);

		ck_assert_int_eq(dp_note_next(&it, &note, &e), DP_STEP_OK);
		ck_assert(dp_note_is(&note, "stapsdt", 3));
		ck_assert(!dp_note_is(&note, "stapsdt", 1));
		ck_assert(!dp_note_is(&note, "stapsd", 3));
		ck_assert(!dp_note_is(&note, "stapsdtx", 3));
		ck_assert_uint_eq(note.off, second);
		ck_assert_uint_eq(note.desc_off, second + 12 + 8);
		ck_assert(dp_bytes_eq(note.desc, bytes(&desc)));
		ck_assert_ptr_eq(note.desc.p, o.b + note.desc_off);

		ck_assert_int_eq(dp_note_next(&it, &note, &e), DP_STEP_OK);
		ck_assert(!dp_note_is(&note, "stapsdt", 3));
		ck_assert_int_eq(dp_note_next(&it, &note, &e), DP_STEP_OK);
		ck_assert_uint_eq(note.owner.n, 0);
		ck_assert(!dp_note_is(&note, "stapsdt", 3));
		ck_assert_int_eq(dp_note_next(&it, &note, &e), DP_STEP_END);
		ck_assert_int_eq(dp_note_next(&it, &note, &e), DP_STEP_END);
		ck_assert_int_eq(e.code, DP_OK);
	}
}
END_TEST

/* Steps of a walk as letters: o, b, then the end; *e has the first error. */
static void
steps(struct dp_bytes in, char *got, struct dp_err *e)
{
	struct dp_note_iter it;
	struct dp_note note;
	enum dp_step s;
	size_t n = 0;

	*e = (struct dp_err)DP_ERR_INIT;
	dp_note_iter_init(&it, in, DP_LE);
	while ((s = dp_note_next(&it, &note, e)) != DP_STEP_END) {
		ck_assert_uint_lt(n, 30);
		got[n++] = s == DP_STEP_OK ? 'o' : 'b';
	}
	got[n] = '\0';
}

START_TEST(test_bad_notes)
{
#define GOOD "\4\0\0\0\1\0\0\0\3\0\0\0abc\0D\0\0\0" /* 20 bytes */
	static const struct {
		const char *b;
		size_t n;
		const char *steps;
		uint64_t off; /* of the first error */
	} want[] = {
		{ "", 0, "", DP_NOOFF },
		{ GOOD, 20, "o", DP_NOOFF },
		{ GOOD GOOD, 40, "oo", DP_NOOFF },
		/* the last one without its padding; without a part */
		{ GOOD GOOD, 37, "oo", DP_NOOFF },
		{ GOOD GOOD, 36, "ob", 20 },
		{ GOOD GOOD, 35, "ob", 20 },
		{ GOOD GOOD, 32, "ob", 20 },
		{ GOOD GOOD, 31, "ob", 20 },
		{ GOOD "\4\0\0\0", 24, "ob", 20 },
		{ GOOD "\0\0\0\0\0\0\0\0\0\0\0", 31, "o", DP_NOOFF },
		{ GOOD "\0\0\0\0\0\0\0\0\0\0\1", 31, "ob", 20 },
		/* no name, no descriptor; the name's padding left out */
		{ "\0\0\0\0\0\0\0\0\7\0\0\0" GOOD, 32, "oo", DP_NOOFF },
		{ "\2\0\0\0\0\0\0\0\7\0\0\0a\0\0\0" GOOD, 36, "oo", DP_NOOFF },
		{ GOOD "\2\0\0\0\0\0\0\0\7\0\0\0a\0", 34, "oo", DP_NOOFF },
		{ GOOD "\2\0\0\0\1\0\0\0\7\0\0\0a\0", 34, "ob", 20 },
		/* an owner without NUL: the next note is found */
		{ "\3\0\0\0\1\0\0\0\3\0\0\0abc\0D\0\0\0" GOOD, 40, "bo", 0 },
		/* sizes that wrap or leave the section */
		{ "\377\377\377\377\1\0\0\0\3\0\0\0abc\0D\0\0\0" GOOD, 40, "b",
		  0 },
		{ GOOD "\4\0\0\0\377\377\377\377\3\0\0\0abc\0D\0\0\0", 40, "ob",
		  20 },
		{ GOOD "\375\377\377\377\4\0\0\0\3\0\0\0abc\0D\0\0\0", 40, "ob",
		  20 },
	};

	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
		struct dp_bytes d =
			exact((const uint8_t *)want[i].b, want[i].n);
		struct dp_err e;
		char got[32];

		steps(d, got, &e);
		ck_assert_msg(strcmp(got, want[i].steps) == 0, "row %zu: %s", i,
		              got);
		ck_assert_msg(e.off == want[i].off, "row %zu: %llu", i,
		              (unsigned long long)e.off);
		drop(d);
	}
}
END_TEST

START_TEST(test_note_bits)
{
	struct out desc = sample(8, DP_LE);
	struct out o = { .order = DP_LE };

	put_note(&o, DP_SDT_OWNER, DP_SDT_TYPE, &desc);
	put_note(&o, DP_SDT_OWNER, DP_SDT_TYPE, &desc);
	for (size_t n = 0; n < o.n * 8; n++) {
		struct dp_bytes d;
		struct dp_err e;
		char got[32];

		o.b[n / 8] ^= (uint8_t)(1U << n % 8);
		d = exact(o.b, o.n);
		o.b[n / 8] ^= (uint8_t)(1U << n % 8);
		steps(d, got, &e);
		drop(d);
		d = exact(o.b, n / 8);
		steps(d, got, &e);
		drop(d);
	}
}
END_TEST

START_TEST(test_note_limits)
{
	size_t big = 12 + (size_t)DP_MAX_NOTE_DESC + 4;
	size_t many = (size_t)(DP_MAX_NOTES + 1) * DP_NOTE_HDR;
	uint8_t *p = calloc(1, many);
	struct dp_note_iter it;
	struct dp_note note;
	struct dp_err e = DP_ERR_INIT;
	unsigned n = 0;

	ck_assert_ptr_nonnull(p);
	p[6] = DP_MAX_NOTE_DESC >> 16;
	dp_note_iter_init(&it, (struct dp_bytes){ p, big }, DP_LE);
	ck_assert_int_eq(dp_note_next(&it, &note, &e), DP_STEP_OK);
	ck_assert_uint_eq(note.desc.n, DP_MAX_NOTE_DESC);
	ck_assert_int_eq(dp_note_next(&it, &note, &e), DP_STEP_END);
	p[4] = 1;
	dp_note_iter_init(&it, (struct dp_bytes){ p, big + 12 }, DP_LE);
	ck_assert_int_eq(dp_note_next(&it, &note, &e), DP_STEP_BAD);
	ck_assert_int_eq(e.code, DP_ELIMIT);
	e = (struct dp_err)DP_ERR_INIT;
	ck_assert_int_eq(dp_note_next(&it, &note, &e), DP_STEP_OK);
	ck_assert_uint_eq(note.off, big);

	p[4] = p[6] = 0;
	dp_note_iter_init(&it, (struct dp_bytes){ p, many - 12 }, DP_LE);
	while (dp_note_next(&it, &note, &e) == DP_STEP_OK)
		n++;
	ck_assert_uint_eq(n, DP_MAX_NOTES);
	ck_assert_int_eq(e.code, DP_OK);
	dp_note_iter_init(&it, (struct dp_bytes){ p, many }, DP_LE);
	for (n = 0; dp_note_next(&it, &note, &e) == DP_STEP_OK; n++)
		;
	ck_assert_uint_eq(n, DP_MAX_NOTES);
	ck_assert_int_eq(e.code, DP_ELIMIT);
	ck_assert_uint_eq(e.off, many - 12);
	free(p);
}
END_TEST

/* What the corpus test knows of one ELF file. */
struct elf {
	struct dp_bytes file; /* owned */
	struct dp_bytes notes;
	uint64_t base;
	bool have_base;
	unsigned width;
	enum dp_order order;
};

static struct dp_bytes
read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *p = malloc(1 << 20);
	size_t n;

	ck_assert_msg(f != NULL && p != NULL, "%s", path);
	n = fread(p, 1, 1 << 20, f);
	ck_assert(n > 64 && n < 1 << 20);
	fclose(f);
	return (struct dp_bytes){ p, n };
}

/* Fields of section header `i`: name, address, offset, size. */
static void
elf_section(const struct elf *f, uint64_t i, uint64_t v[4])
{
	struct dp_rd r = dp_rd_init(f->file, f->order);
	uint64_t shoff;

	dp_rd_seek(&r, f->width == 8 ? 40 : 32);
	shoff = dp_rd_word(&r, f->width);
	dp_rd_seek(&r, shoff + i * (f->width == 8 ? 64 : 40));
	v[0] = dp_rd_u32(&r);
	(void)dp_rd_u32(&r);
	(void)dp_rd_word(&r, f->width);
	v[1] = dp_rd_word(&r, f->width);
	v[2] = dp_rd_word(&r, f->width);
	v[3] = dp_rd_word(&r, f->width);
	ck_assert(dp_rd_ok(&r));
}

static void
elf_open(struct elf *f, const char *path)
{
	struct dp_rd r;
	uint64_t strs[4], v[4];
	unsigned shnum;

	memset(f, 0, sizeof *f);
	f->file = read_file(path);
	f->width = f->file.p[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	f->order = f->file.p[EI_DATA] == ELFDATA2LSB ? DP_LE : DP_BE;
	r = dp_rd_init(f->file, f->order);
	dp_rd_seek(&r, f->width == 8 ? 60 : 48);
	shnum = dp_rd_u16(&r);
	elf_section(f, dp_rd_u16(&r), strs);
	for (unsigned i = 0; i < shnum; i++) {
		struct dp_bytes name;

		elf_section(f, i, v);
		ck_assert(dp_str_at(f->file, strs[2] + v[0], &name));
		if (dp_bytes_is(name, DP_SDT_SECTION))
			f->notes = (struct dp_bytes){ f->file.p + v[2], v[3] };
		if (dp_bytes_is(name, DP_SDT_BASE_SECTION)) {
			f->base = v[1];
			f->have_base = true;
		}
	}
	ck_assert_uint_gt(f->notes.n, 0);
}

static uint64_t
num(const json_t *o, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(o, key));
}

static void
compare(const struct elf *f, const struct dp_sdt *s, const json_t *o)
{
	const json_t *raw = json_object_get(o, "note");
	uint64_t delta;

	ck_assert(dp_bytes_is(s->provider, json_string_value(json_object_get(
						   o, "provider"))));
	ck_assert(dp_bytes_is(s->name,
	                      json_string_value(json_object_get(o, "name"))));
	ck_assert(dp_bytes_is(s->args,
	                      json_string_value(json_object_get(o, "args"))));
	/* an object file has zeros there, and relocations */
	ck_assert_uint_eq(s->pc, num(raw, "pc"));
	ck_assert_uint_eq(s->base, num(raw, "base"));
	ck_assert_uint_eq(s->semaphore, num(raw, "semaphore"));
	if (raw == NULL)
		return;
	delta = dp_sdt_delta(f->base, f->have_base, s->base);
	ck_assert_uint_eq(s->pc + delta, num(o, "pc"));
	if (s->semaphore != 0)
		ck_assert_uint_eq(s->semaphore + delta, num(o, "semaphore"));
	else
		ck_assert_uint_eq(num(o, "semaphore"), 0);
}

static unsigned
corpus_file(const char *json)
{
	json_t *top = json_load_file(json, 0, NULL);
	const json_t *notes = json_object_get(top, "notes");
	struct dp_err e = DP_ERR_INIT;
	struct dp_note_iter it;
	struct dp_note note;
	struct dp_sdt s;
	struct elf f;
	char path[4096];
	unsigned n = 0;

	ck_assert_msg(top != NULL, "%s", json);
	snprintf(path, sizeof path, "%.*s",
	         (int)(strlen(json) - strlen(".sdt.json")), json);
	elf_open(&f, path);
	ck_assert_uint_eq(f.width * 8, num(top, "class"));
	dp_note_iter_init(&it, f.notes, f.order);
	for (; dp_note_next(&it, &note, &e) == DP_STEP_OK; n++) {
		ck_assert(dp_note_is(&note, DP_SDT_OWNER, DP_SDT_TYPE));
		ck_assert_msg(dp_sdt_parse(note.desc, f.width, f.order, &s, &e),
		              "%s", e.msg);
		compare(&f, &s, json_array_get(notes, n));
	}
	ck_assert_msg(e.code == DP_OK, "%s: %s", path, e.msg);
	ck_assert_uint_eq(n, json_array_size(notes));
	drop(f.file);
	json_decref(top);
	return n;
}

START_TEST(test_corpus)
{
	const char *shared = getenv("DOFPIPE_SHARED");
	char pattern[4096];
	unsigned n = 0;
	glob_t g;

	snprintf(pattern, sizeof pattern, "%s/corpus/sdt/*.sdt.json",
	         shared != NULL ? shared : "../shared");
	if (glob(pattern, 0, NULL, &g) != 0) {
		printf("test_sdt: corpus skipped, no %s\n", pattern);
		return;
	}
	for (size_t i = 0; i < g.gl_pathc; i++)
		n += corpus_file(g.gl_pathv[i]);
	printf("test_sdt: %u notes of %zu corpus files\n", n, g.gl_pathc);
	ck_assert_uint_ge(n, 270);
	globfree(&g);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("sdt");
	TCase *t = tcase_create("sdt");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, test_good);
	tcase_add_test(t, test_words);
	tcase_add_test(t, test_bad);
	tcase_add_test(t, test_prefixes);
	tcase_add_test(t, test_delta);
	tcase_add_test(t, test_walk);
	tcase_add_test(t, test_bad_notes);
	tcase_add_test(t, test_note_bits);
	tcase_add_test(t, test_note_limits);
	tcase_add_test(t, test_corpus);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
