/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole raw streams, cut at every byte and with every byte changed, through
 * reader and parser: nothing may be read outside of the input, and parsing
 * may fail in no way but the promised ones.  For sanitizers and valgrind.
 */
#include <dirent.h>
#include <elf.h>
#include <unistd.h>

#include "dofimage.h"
#include "streams.h"

/* Made once a test: what is large is not to be allocated for each input. */
struct rig {
	struct dp_parser *p;
	struct dp_writer w;
	struct dp_buf room; /* of the reader */
};

static void
rig_begin(struct rig *g, bool json)
{
	static const struct dp_parse_opts opts = { .machine = EM_X86_64 };

	memset(g, 0, sizeof *g);
	dp_writer_init(&g->w, (struct dp_sink){ null_sink, NULL }, json);
	g->p = dp_parser_create(&g->w, &opts);
	ck_assert_ptr_nonnull(g->p);
}

static void
rig_end(struct rig *g)
{
	dp_parser_destroy(g->p);
	dp_writer_deinit(&g->w);
	dp_buf_deinit(&g->room);
}

/* The reader's buffer has room behind a record: give the parser a copy. */
static void
put_exact(struct rig *g, const struct dp_record *rec)
{
	struct dp_record copy = *rec;
	struct dp_bytes *raw = rec->type == DP_REC_RAWDOF ? &copy.rawdof.bytes
	                                                  : &copy.rawnote.desc;
	struct dp_err e = DP_ERR_INIT;
	bool is_raw = rec->type == DP_REC_RAWDOF || rec->type == DP_REC_RAWNOTE;

	if (is_raw)
		*raw = exact_copy(*raw);
	if (!dp_parser_put(g->p, &copy, &e))
		ck_abort_msg("output failed: %s", e.msg);
	if (is_raw)
		free((void *)(uintptr_t)raw->p);
}

/* As dofparse does it, into nothing. */
static void
parse_stream(struct rig *g, struct dp_bytes in)
{
	const struct dp_record object_end = { .type = DP_REC_OBJECT_END };
	struct mem_source m = { .in = in };
	struct dp_record rec;
	struct dp_reader r;
	enum dp_read got;

	dp_reader_init(&r, (struct dp_source){ mem_read, &m });
	r.buf = g->room;
	r.buf.n = 0;
	do {
		struct dp_err e = DP_ERR_INIT;
		bool in_object = r.in_object;

		got = dp_reader_next(&r, &rec, &e);
		if (got == DP_READ_RECORD && rec.type != DP_REC_HEADER &&
		    rec.type != DP_REC_END)
			put_exact(g, &rec);
		if (got == DP_READ_BAD && in_object && !r.in_object)
			put_exact(g, &object_end);
	} while (got == DP_READ_RECORD || got == DP_READ_BAD);
	g->room = r.buf;
	r.buf = (struct dp_buf){ 0 };
	dp_reader_deinit(&r);
}

static void
parse_bare(struct rig *g, struct dp_bytes in)
{
	struct dp_err e = DP_ERR_INIT;

	if (!dp_parser_bare(g->p, LIT("x"), in, &e))
		ck_abort_msg("output failed: %s", e.msg);
}

/* Every prefix, then every byte changed in two ways; `step` bytes apart. */
static void
mangle(struct rig *g, struct dp_bytes in, size_t step,
       void (*parse)(struct rig *, struct dp_bytes))
{
	static const uint8_t flips[] = { 0xff, 0x01 };

	for (size_t n = 0; n <= in.n; n += step) {
		struct dp_bytes cut = exact_copy((struct dp_bytes){ in.p, n });

		parse(g, cut);
		free((void *)(uintptr_t)cut.p);
	}
	for (size_t at = 0; at < in.n * LEN(flips); at += step) {
		struct dp_bytes m = exact_copy(in);

		((uint8_t *)(uintptr_t)m.p)[at / 2] ^= flips[at % 2];
		parse(g, m);
		free((void *)(uintptr_t)m.p);
	}
}

/* An input for the parser: what dofextract could have written. */
struct feed {
	struct dp_buf b;
	struct dp_writer w;
};

#define FEED(f, t, ...)                                                        \
	do {                                                                   \
		struct dp_rec_##t r_ = { __VA_ARGS__ };                        \
		struct dp_err e_ = DP_ERR_INIT;                                \
                                                                               \
		ck_ok(dp_put_##t(&(f)->w, &r_, &e_), e_);                      \
	} while (0)

static void
feed_begin(struct feed *f, bool json, uint8_t order, uint8_t class)
{
	struct dp_err e = DP_ERR_INIT;

	memset(f, 0, sizeof *f);
	dp_writer_init(&f->w, (struct dp_sink){ buf_sink, &f->b }, json);
	ck_ok(dp_put_stream_header(&f->w, DPR_STAGE_EXTRACT, "t", &e), e);
	FEED(f, object, .format = DPR_FORMAT_ELF, .class = class,
	     .order = order, .e_type = ET_DYN, .machine = EM_X86_64,
	     .path = LIT("/x"));
	FEED(f, segment, .p_type = PT_LOAD, .vaddr = 0x401000, .memsz = 0x2000,
	     .filesz = 0x2000, .flags = PF_X);
}

static void
feed_end(struct feed *f)
{
	struct dp_err e = DP_ERR_INIT;
	struct rig g;

	FEED(f, object_end, .args = 0);
	FEED(f, end, .objects = 0);
	ck_ok(dp_writer_flush(&f->w, &e), e);
	dp_writer_deinit(&f->w);
	rig_begin(&g, false);
	mangle(&g, dp_buf_bytes(&f->b), 1, parse_stream);
	rig_end(&g);
	dp_buf_deinit(&f->b);
}

START_TEST(dof_stream)
{
	struct img m = img_make(_i & 1 ? DP_BE : DP_LE, 0);
	struct feed f;

	feed_begin(&f, _i & 2, DPR_ORDER_LSB, 64);
	FEED(&f, elfrel, .offset = AT_PROBES, .kind = DPR_RELKIND_RELATIVE,
	     .addend = 0x401000, .explicit_addend = true);
	FEED(&f, rawdof, .vaddr = 0x404000, .section = LIT(".SUNW_dof"),
	     .bytes = img_bytes(&m));
	FEED(&f, helper, .pid = 1, .module = LIT("x"));
	feed_end(&f);
	free(m.p);
}
END_TEST

/* pc, base, semaphore and three strings; both classes, both orders. */
static const uint8_t sdt64[] =
	"\x10\x10\x40\0\0\0\0\0\x30\x20\0\0\0\0\0\0\x10\x40\x40\0\0\0\0\0"
	"prov\0name\0-4@sv+4(%rip) 8@-8(%rbp,%rax,2) 4@$-1 2f@%xmm0 8@tv@"
	"tpoff";
static const uint8_t sdt32[] = "\0\x40\x10\x10\0\0\0\0\0\x40\x40\x10p\0n\0"
			       "4@%eax";
/* pc, function's name, provider, probe, count, operands */
static const uint8_t usdt[] =
	"\x10\x10\x40\0\0\0\0\0\0\x42\x40\0\0\0\0\0p\0n\0\x02-4@%eax 8@%rdi";
/* provider, padding, attributes, one probe with types and map */
static const uint8_t prov[] = "p\0\0\0\1\1\1\1\2\2\2\2\3\3\3\3\4\4\4\4\5\5\5\5"
			      "\1\0\0\0n\0\2int\0char *\0\1string\0\1";

START_TEST(note_stream)
{
	const bool small = _i & 1;
	struct dp_bytes sdt = { small ? sdt32 : sdt64,
		                small ? sizeof sdt32 : sizeof sdt64 };
	struct feed f;

	feed_begin(&f, _i & 2, small ? DPR_ORDER_MSB : DPR_ORDER_LSB,
	           small ? 32 : 64);
	FEED(&f, symbol, .kind = DPR_SYM_FUNC, .value = 0x401000, .size = 64,
	     .name = LIT("fn"));
	FEED(&f, symbol, .kind = DPR_SYM_TLS, .value = 8, .name = LIT("tv"));
	FEED(&f, symbol, .kind = DPR_SYM_OBJECT, .name = LIT("sv"));
	FEED(&f, symbol, .kind = DPR_SYM_STRING, .value = 0x404200,
	     .name = LIT("fun"));
	FEED(&f, rawnote, .owner = LIT("stapsdt"), .note_type = 3,
	     .base = 0x3030, .has_base = true, .desc = sdt);
	FEED(&f, rawnote, .owner = LIT("usdt"), .note_type = 1,
	     .desc = { usdt, sizeof usdt });
	FEED(&f, rawnote, .owner = LIT("prov"), .note_type = 1,
	     .desc = { prov, sizeof prov });
	FEED(&f, error, .message = LIT("m"));
	feed_end(&f);
}
END_TEST

START_TEST(bare_dof)
{
	struct img m = img_make(_i == 0 ? DP_LE : DP_BE, 0);
	struct rig g;

	rig_begin(&g, true);
	mangle(&g, img_bytes(&m), 1, parse_bare);
	rig_end(&g);
	free(m.p);
}
END_TEST

/* Real ones, some bytes of each: all of them would take too long. */
static void
mangle_file(struct rig *g, const char *path, unsigned *files)
{
	static uint8_t buf[64 << 10];
	FILE *f = fopen(path, "rb");
	size_t n;

	ck_assert_msg(f != NULL, "%s", path);
	n = fread(buf, 1, sizeof buf, f);
	(void)fclose(f);
	if (n < 64 || memcmp(buf, "\177DOF", 4) != 0)
		return;
	mangle(g, (struct dp_bytes){ buf, n }, n / 64 + 1, parse_bare);
	++*files;
}

START_TEST(corpus)
{
	static const char *const dirs[] = { "bad", "real", "gen", "variants",
		                            "gen_extra" };
	const char *shared = getenv("DOFPIPE_SHARED");
	unsigned files = 0;
	struct rig g;

	rig_begin(&g, false);
	for (size_t i = 0; i < LEN(dirs); i++) {
		char path[4096], dir[2048];
		const struct dirent *de;
		DIR *d;

		snprintf(dir, sizeof dir, "%s/corpus/%s",
		         shared != NULL ? shared : "../shared", dirs[i]);
		d = opendir(dir);
		while (d != NULL && (de = readdir(d)) != NULL) {
			if (strstr(de->d_name, ".dof") == NULL)
				continue;
			snprintf(path, sizeof path, "%s/%s", dir, de->d_name);
			mangle_file(&g, path, &files);
		}
		if (d != NULL)
			(void)closedir(d);
	}
	rig_end(&g);
	if (files == 0)
		printf("skip: no ../shared/corpus with bare DOF\n");
	else
		printf("%u files of the corpus\n", files);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("mangle");
	TCase *t = tcase_create("mangle");

	tcase_set_timeout(t, 300);
	tcase_add_loop_test(t, dof_stream, 0, 4);
	tcase_add_loop_test(t, note_stream, 0, 4);
	tcase_add_loop_test(t, bare_dof, 0, 2);
	tcase_add_test(t, corpus);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_checks(suite());
}
