/* SPDX-License-Identifier: BSD-2-Clause */
/* Gate, spans, bare DOF, source. */
#include "elfutil.h"

#include "base/limits.h"
#include "elf/bare.h"
#include "elf/gate.h"
#include "elf/spans.h"

static const struct kind {
	unsigned word;
	enum dp_order order;
} kinds[] = { { 4, DP_LE }, { 4, DP_BE }, { 8, DP_LE }, { 8, DP_BE } };

static unsigned
gate_mem(struct dp_bytes b)
{
	struct dp_src src = dp_src_mem(b);
	struct dp_buf scratch = { 0 };
	struct dp_err e = DP_ERR_INIT;
	unsigned flags = ~0U;

	if (b.n > DP_GATE_HEAD)
		b.n = DP_GATE_HEAD;
	ck_ok(dp_gate(&src, b, &scratch, &flags, &e), e);
	dp_buf_deinit(&scratch);
	return flags;
}

static unsigned
gate_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dp_src src = dp_src_fd(fd, 0, DP_SRC_UNKNOWN);
	struct dp_buf scratch = { 0 }, head = { 0 };
	struct dp_err e = DP_ERR_INIT;
	unsigned flags = ~0U;

	ck_assert_msg(fd >= 0, "%s", path);
	ck_ok(dp_src_some(&src, 0, &head, DP_GATE_HEAD, &e), e);
	ck_assert_int_eq(dp_magic_of(dp_buf_bytes(&head)), DP_MAGIC_ELF);
	ck_ok(dp_gate(&src, dp_buf_bytes(&head), &scratch, &flags, &e), e);
	dp_buf_deinit(&scratch);
	dp_buf_deinit(&head);
	(void)close(fd);
	return flags;
}

START_TEST(test_magic)
{
	static const struct {
		const char *bytes;
		size_t n;
		enum dp_magic want;
	} rows[] = {
		{ "", 0, DP_MAGIC_NONE },
		{ "\177EL", 3, DP_MAGIC_NONE },
		{ "\177ELF", 4, DP_MAGIC_ELF },
		{ "\177DOF", 4, DP_MAGIC_DOF },
		{ "!<arch>\n", 8, DP_MAGIC_AR },
		{ "!<arch>", 7, DP_MAGIC_NONE },
		{ "!<thin>\n", 8, DP_MAGIC_AR_THIN },
		{ "\xfe\xed\xfa\xce", 4, DP_MAGIC_MACHO },
		{ "\xfe\xed\xfa\xcf", 4, DP_MAGIC_MACHO },
		{ "\xce\xfa\xed\xfe", 4, DP_MAGIC_MACHO },
		{ "\xcf\xfa\xed\xfe", 4, DP_MAGIC_MACHO },
		/* two slices, x86-64 at 0x1000, 2^12 */
		{ "\xca\xfe\xba\xbe\0\0\0\2\1\0\0\7\0\0\0\3\0\0\x10\0\0\0\x20"
		  "\0\0\0\0\x0c",
		  28, DP_MAGIC_FAT },
		/* the same without the first slice, and with none */
		{ "\xca\xfe\xba\xbe\0\0\0\2", 8, DP_MAGIC_NONE },
		{ "\xca\xfe\xba\xbe\0\0\0\0\1\0\0\7\0\0\0\3\0\0\x10\0\0\0\x20"
		  "\0\0\0\0\x0c",
		  28, DP_MAGIC_NONE },
		/* 64-bit offsets */
		{ "\xca\xfe\xba\xbf\0\0\0\1\1\0\0\x0c\0\0\0\0\0\0\0\0\0\0\x40"
		  "\0\0\0\0\0\0\0\x20\0\0\0\0\x0e\0\0\0\0",
		  40, DP_MAGIC_FAT },
		/* a class of Java 8 (52): pool of 29, Methodref */
		{ "\xca\xfe\xba\xbe\0\0\0\x34\0\x1d\x0a\0\6\0\x0f\x09\0\x10\0"
		  "\x11\x08\0\x12\x0a\0\x13\0\x14\7\0",
		  32, DP_MAGIC_NONE },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct dp_bytes b = { (const uint8_t *)rows[i].bytes,
			              rows[i].n };

		ck_assert_msg(dp_magic_of(b) == rows[i].want, "row %zu", i);
	}
}
END_TEST

START_TEST(test_flags_by_section)
{
	static const struct {
		const char *name;
		uint32_t type;
		unsigned want;
	} rows[] = {
		{ ".text", SHT_PROGBITS, 0 },
		{ ".SUNW_dof", SHT_PROGBITS, DP_GATE_DOF },
		{ ".any", DP_SHT_SUNW_DOF, DP_GATE_DOF },
		{ ".SUNW_dof", SHT_NOBITS, 0 },
		{ ".SUNW_dof2", SHT_PROGBITS, 0 },
		{ ".note.stapsdt", SHT_NOTE, DP_GATE_SDT },
		{ ".note.stapsdt", SHT_NOBITS, 0 },
		{ ".note.stapsdt", SHT_PROGBITS, DP_GATE_SDT },
		{ ".note.usdt", SHT_NOTE, DP_GATE_USDT },
		{ ".note.usd", SHT_NOTE, 0 },
	};

	for (size_t k = 0; k < 4; k++)
		for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
			struct img im = { .word = kinds[k].word,
				          .order = kinds[k].order,
				          .type = ET_DYN };
			struct dp_buf out = { 0 };

			(void)add_sec(&im, rows[i].name, rows[i].type, 0, 0);
			make_elf(&im, &out);
			ck_assert_msg(gate_mem(dp_buf_bytes(&out)) ==
			                      rows[i].want,
			              "row %zu kind %zu", i, k);
			dp_buf_deinit(&out);
		}
}
END_TEST

/* Offsets of e_shoff, e_shentsize, e_shnum, e_shstrndx by class. */
static size_t
at_shoff(unsigned w)
{
	return w == 4 ? 32 : 40;
}

static size_t
at_shent(unsigned w)
{
	return w == 4 ? 46 : 58;
}

START_TEST(test_no_headers)
{
	for (size_t k = 0; k < 4; k++) {
		const uint16_t types[] = { ET_EXEC, ET_DYN, ET_CORE, ET_REL };
		unsigned w = kinds[k].word;
		struct dp_buf out = { 0 };

		for (size_t i = 0; i < 4; i++) {
			struct img im = { .word = w,
				          .order = kinds[k].order,
				          .type = types[i],
				          .no_headers = true };

			make_elf(&im, &out);
			ck_assert_uint_eq(gate_mem(dp_buf_bytes(&out)),
			                  i < 2 ? DP_GATE_NOSHDR : 0);
			/* e_shoff of no meaning: still none */
			put_at(&out, at_shoff(w), im.order, 0xfffffff0, w);
			ck_assert_uint_eq(gate_mem(dp_buf_bytes(&out)),
			                  i < 2 ? DP_GATE_NOSHDR : 0);
		}
		dp_buf_deinit(&out);
	}
}
END_TEST

/* More than 65279 sections: numbers stand in section 0. */
START_TEST(test_extended_numbers)
{
	for (size_t k = 0; k < 4; k++) {
		unsigned w = kinds[k].word;
		unsigned len = w == 4 ? 40 : 64;
		struct img im = { .word = w,
			          .order = kinds[k].order,
			          .type = ET_REL };
		const struct dp_elf_sec *sec;
		struct dp_buf out = { 0 };
		struct dp_err e = DP_ERR_INIT;
		struct dp_elf elf;
		struct dp_src src;
		uint64_t shoff, n;

		(void)add_sec(&im, ".note.usdt", SHT_NOTE, 0, 0);
		make_elf(&im, &out);
		shoff = out.n - 3 * len;
		n = 70000;
		while ((out.n - shoff) / len < n) /* null sections */
			for (unsigned i = 0; i < len; i++)
				must(dp_buf_add(&out, "", 1));
		put_at(&out, at_shent(w) + 2, im.order, 0, 2);
		put_at(&out, at_shent(w) + 4, im.order, SHN_XINDEX, 2);
		put_at(&out, shoff + (w == 4 ? 20 : 32), im.order, n, w);
		put_at(&out, shoff + (w == 4 ? 24 : 40), im.order, 2, 4);
		ck_assert_uint_eq(gate_mem(dp_buf_bytes(&out)), DP_GATE_USDT);
		src = dp_src_mem(dp_buf_bytes(&out));
		ck_ok(dp_elf_open(&elf, &src, &e), e);
		ck_assert_uint_eq(elf.secs.n, n);
		ck_assert_int_eq(elf.secs_why.code, DP_OK);
		sec = dp_elf_sec_named(&elf, ".note.usdt");
		ck_assert_ptr_nonnull(sec);
		ck_assert_uint_eq(sec->index, 1);
		dp_elf_close(&elf);
		dp_buf_deinit(&out);
	}
}
END_TEST

/* One past the limit of section headers. */
START_TEST(test_too_many)
{
	struct img im = { .word = 8, .order = DP_LE, .type = ET_REL };
	struct dp_buf out = { 0 }, scratch = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_src src;
	struct dp_elf elf;
	unsigned flags = 77;
	size_t shoff;

	(void)add_sec(&im, ".note.usdt", SHT_NOTE, 0, 0);
	make_elf(&im, &out);
	shoff = out.n - 3 * 64;
	put_at(&out, at_shent(8) + 2, DP_LE, 0, 2);
	put_at(&out, shoff + 32, DP_LE, DP_MAX_ELF_SECS + 1ULL, 8);
	src = dp_src_mem(dp_buf_bytes(&out));
	ck_assert(!dp_gate(&src, dp_buf_bytes(&out), &scratch, &flags, &e));
	ck_assert_int_eq(e.code, DP_ELIMIT);
	ck_assert_uint_eq(flags, 77);
	e = (struct dp_err)DP_ERR_INIT;
	ck_ok(dp_elf_open(&elf, &src, &e), e);
	ck_assert_uint_eq(elf.secs.n, 0);
	ck_assert_int_eq(elf.secs_why.code, DP_ELIMIT);
	dp_elf_close(&elf);
	/* at the limit the headers are cut, which is another error */
	put_at(&out, shoff + 32, DP_LE, DP_MAX_ELF_SECS, 8);
	e = (struct dp_err)DP_ERR_INIT;
	ck_assert(!dp_gate(&src, dp_buf_bytes(&out), &scratch, &flags, &e));
	ck_assert_int_eq(e.code, DP_EFORMAT);
	ck_assert_uint_eq(e.off, out.n);
	dp_buf_deinit(&out);
	dp_buf_deinit(&scratch);
}
END_TEST

/* Names up to a size; past it only types are seen. */
START_TEST(test_names_limit)
{
	struct img im = { .word = 8, .order = DP_LE, .type = ET_DYN };
	struct dp_buf out = { 0 };
	size_t shstr, from;

	(void)add_sec(&im, ".note.usdt", SHT_NOTE, 0, 0);
	(void)add_sec(&im, ".x", DP_SHT_SUNW_DOF, 0, 0);
	make_elf(&im, &out);
	shstr = out.n - 64;
	memcpy(&from, out.p + shstr + 24, sizeof from); /* sh_offset */
	ck_assert(dp_buf_reserve(&out, DP_MAX_ELF_NAMES + 1));
	memset(out.p + out.n, 0, DP_MAX_ELF_NAMES + 1);
	out.n += DP_MAX_ELF_NAMES + 1;
	put_at(&out, shstr + 32, DP_LE, DP_MAX_ELF_NAMES, 8);
	ck_assert_uint_eq(gate_mem(dp_buf_bytes(&out)),
	                  DP_GATE_DOF | DP_GATE_USDT);
	put_at(&out, shstr + 32, DP_LE, DP_MAX_ELF_NAMES + 1, 8);
	ck_assert_uint_eq(gate_mem(dp_buf_bytes(&out)),
	                  DP_GATE_DOF | DP_GATE_NONAMES);
	dp_buf_deinit(&out);
}
END_TEST

START_TEST(test_bad_headers)
{
	struct img im = { .word = 8, .order = DP_LE, .type = ET_DYN };
	struct dp_buf out = { 0 }, scratch = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_src src;
	unsigned flags = 77;

	(void)add_sec(&im, ".x", DP_SHT_SUNW_DOF, 0, 0);
	make_elf(&im, &out);
	/* the names are of no use: the type still decides */
	for (unsigned bad = 0; bad < 2; bad++) {
		put_at(&out, at_shent(8) + 4, DP_LE, bad ? 99 : 0, 2);
		ck_assert_uint_eq(gate_mem(dp_buf_bytes(&out)),
		                  DP_GATE_DOF | DP_GATE_NONAMES);
	}
	/* every cut of the file loses the section headers */
	for (size_t n = 64; n < out.n; n++) {
		struct dp_bytes b = exact((struct dp_bytes){ out.p, n });

		src = dp_src_mem(b);
		e = (struct dp_err)DP_ERR_INIT;
		ck_assert(!dp_gate(&src, (struct dp_bytes){ b.p, 64 }, &scratch,
		                   &flags, &e));
		ck_assert_int_eq(e.code, DP_EFORMAT);
		ck_assert_uint_le(e.off, n);
		ck_assert_uint_eq(flags, 77);
		free((void *)(uintptr_t)b.p);
	}
	put_at(&out, at_shent(8), DP_LE, 63, 2);
	e = (struct dp_err)DP_ERR_INIT;
	src = dp_src_mem(dp_buf_bytes(&out));
	ck_assert(!dp_gate(&src, dp_buf_bytes(&out), &scratch, &flags, &e));
	ck_assert_uint_eq(e.off, 58);
	dp_buf_deinit(&out);
	dp_buf_deinit(&scratch);
}
END_TEST

/* The gate must say of every installed program what readelf says. */
START_TEST(test_against_readelf)
{
	char line[4096], path[4096] = "";
	unsigned want = 0, files = 0, hits = 0;
	FILE *f;

	if (!have("readelf"))
		return;
	f = run("readelf -SW /usr/bin/* /usr/lib/x86_64-linux-gnu/lib*.so* "
	        "/usr/lib/postgresql/15/bin/postgres /dev/null 2>/dev/null");
	ck_assert_ptr_nonnull(f);
	for (;;) {
		char *got = fgets(line, sizeof line, f);

		if (got == NULL || strncmp(line, "File: ", 6) == 0) {
			/* what was said about the last file is complete */
			if (path[0] != '\0' && want != ~0U) {
				ck_assert_msg(gate_file(path) == want, "%s",
				              path);
				files++;
				hits += want != 0;
			}
			if (got == NULL)
				break;
			line[strcspn(line, "\n")] = '\0';
			(void)snprintf(path, sizeof path, "%.4000s", line + 6);
			want = ~0U;
			continue;
		}
		if (strncmp(line, "There are ", 10) == 0)
			want = 0;
		if (strstr(line, "] .note.stapsdt ") != NULL &&
		    strstr(line, "NOBITS") == NULL)
			want |= DP_GATE_SDT;
	}
	(void)pclose(f);
	printf("gate: %u files agree with readelf, %u with probes\n", files,
	       hits);
	ck_assert_uint_gt(files, 10);
}
END_TEST

START_TEST(test_corpus)
{
	static const struct {
		const char *name;
		unsigned want;
	} rows[] = {
		{ "gen/basic/nopie", DP_GATE_DOF },
		{ "gen/basic/pie32", DP_GATE_DOF },
		{ "gen_extra/two/libtwo.so", DP_GATE_DOF },
		{ "gen_extra/static/st.debug", 0 },
		{ "sdt/main.ppc64le.O2", DP_GATE_SDT },
		{ "sdt/main.s390x.O0", DP_GATE_SDT },
		{ "sdt/main.arm.O2", DP_GATE_SDT },
		{ "sdt/main.x86_64.o", DP_GATE_SDT },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *path = corpus(rows[i].name);

		if (path != NULL)
			ck_assert_msg(gate_file(path) == rows[i].want, "%s: %u",
			              path, gate_file(path));
	}
}
END_TEST

/* ---- spans, held against the plain way to ask ---- */

static int
by_id(const void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	return (a > b) - (a < b);
}

START_TEST(test_spans)
{
	uint32_t seed = 12345;

	for (int round = 0; round < 300; round++) {
		struct dp_spans s = { 0 };
		struct dp_span in[20];
		unsigned n = 1 + (unsigned)round % 20;

		for (unsigned i = 0; i < n; i++) {
			seed = seed * 1103515245 + 12345;
			in[i].sec = (seed >> 8) % 2;
			in[i].id = n - i;
			in[i].lo = (seed >> 16) % 40;
			in[i].hi = in[i].lo + (seed >> 24) % 20;
			must(dp_spans_add(&s, &in[i]));
		}
		ck_assert(dp_spans_build(&s, by_id, NULL));
		for (uint32_t sec = 0; sec < 3; sec++)
			for (uint64_t at = 0; at < 64; at++) {
				const struct dp_span *p =
					dp_spans_find(&s, sec, at);
				uint32_t best = 0;

				for (unsigned i = 0; i < n; i++)
					if (in[i].sec == sec &&
					    in[i].lo <= at && at < in[i].hi &&
					    (best == 0 || in[i].id < best))
						best = in[i].id;
				must((p ? p->id : 0) == best);
			}
		dp_spans_deinit(&s);
	}
}
END_TEST

/* 200,000 intervals that nest in each other must not take minutes. */
START_TEST(test_spans_nested)
{
	struct dp_spans s = { 0 };
	uint32_t n = 200000;

	for (uint32_t i = 0; i < n; i++) {
		struct dp_span in = { .id = n - i, .lo = i, .hi = 1000000 - i };

		must(dp_spans_add(&s, &in));
	}
	ck_assert(dp_spans_build(&s, by_id, NULL));
	ck_assert_uint_eq(dp_spans_find(&s, 0, 500000)->id, 1);
	ck_assert_uint_eq(dp_spans_find(&s, 0, 7)->id, n - 7);
	ck_assert_ptr_null(dp_spans_find(&s, 0, 1000000));
	dp_spans_deinit(&s);
}
END_TEST

/* ---- bare DOF ---- */

START_TEST(test_bare)
{
	static const uint64_t want[] = { 8, 0x1000, 0x40000 - 8, 0x40000,
		                         0x7fff8 };
	struct img im = {
		.word = 8, .order = DP_LE, .type = ET_DYN, .no_headers = true
	};
	struct img_sec *sec = add_sec(&im, ".x", SHT_PROGBITS, 2, 0x10000);
	struct dp_buf out = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_bare_hit hit = { 0 };
	struct dp_bare b;
	struct dp_src src;
	struct dp_elf elf;
	bool more = false;

	for (size_t i = 0; i < 0x80000; i++)
		must(dp_buf_add(&sec->data, "", 1));
	for (size_t i = 0; i < 5; i++)
		memcpy(sec->data.p + want[i], "\177DOF", 4);
	memcpy(sec->data.p + 0x2004, "\177DOF", 4); /* 8 does not divide it */
	im.nsegs = 2;
	im.segs[0] = (struct img_seg){ PT_LOAD, 5, 0x10000, 1, 0, 0, 0 };
	im.segs[1] = (struct img_seg){ PT_LOAD, 5, 0, -1, 0, 0, 0x1000 };
	make_elf(&im, &out);
	src = dp_src_mem(dp_buf_bytes(&out));
	ck_ok(dp_elf_open(&elf, &src, &e), e);
	b = dp_bare_init(&elf);
	for (size_t i = 0; i < 5; i++) {
		ck_ok(dp_bare_next(&b, &hit, &more, &e), e);
		ck_assert(more);
		ck_assert_uint_eq(hit.vaddr, 0x10000 + want[i]);
		ck_assert_uint_eq(hit.left, 0x80000 - want[i]);
		ck_assert_int_eq(memcmp(out.p + hit.off, "\177DOF", 4), 0);
	}
	ck_ok(dp_bare_next(&b, &hit, &more, &e), e);
	ck_assert(!more);
	dp_bare_deinit(&b);
	/* step over a DOF as large as all of it but the last one */
	b = dp_bare_init(&elf);
	ck_ok(dp_bare_next(&b, &hit, &more, &e), e);
	dp_bare_skip(&b, 0x40001);
	ck_ok(dp_bare_next(&b, &hit, &more, &e), e);
	ck_assert_uint_eq(hit.vaddr, 0x10000 + 0x7fff8);
	dp_bare_skip(&b, UINT64_MAX);
	ck_ok(dp_bare_next(&b, &hit, &more, &e), e);
	ck_assert(!more);
	dp_bare_deinit(&b);
	dp_elf_close(&elf);
	dp_buf_deinit(&out);
}
END_TEST

/* A sparse file with one byte too many to search, and with none too many. */
START_TEST(test_bare_limit)
{
	for (unsigned over = 0; over < 2; over++) {
		struct img im = { .word = 8,
			          .order = DP_LE,
			          .type = ET_DYN,
			          .no_headers = true,
			          .nsegs = 1 };
		const char *path = tmp_path("sparse");
		uint64_t size = DP_MAX_SCAN + 8ULL * over;
		struct dp_err e = DP_ERR_INIT;
		struct dp_bare_hit hit;
		struct dp_buf out = { 0 };
		struct dp_elf elf;
		struct dp_bare b;
		bool more = true;
		int fd;

		im.segs[0] = (struct img_seg){ PT_LOAD, 5,    0,   -1,
			                       0x1000,  size, size };
		make_elf(&im, &out);
		write_file(path, out.p, out.n);
		ck_assert_int_eq(truncate(path, 0x1000 + (off_t)size), 0);
		open_elf(&elf, path, &fd);
		b = dp_bare_init(&elf);
		ck_assert(dp_bare_next(&b, &hit, &more, &e) == (over == 0));
		ck_assert_int_eq(e.code, over ? DP_ELIMIT : DP_OK);
		dp_bare_deinit(&b);
		dp_elf_close(&elf);
		(void)close(fd);
		dp_buf_deinit(&out);
	}
}
END_TEST

/* A real file that has lost its section headers. */
START_TEST(test_bare_real)
{
	const char *path = corpus("gen_extra/two/two");
	struct dp_buf file = { 0 };
	struct dp_err e = DP_ERR_INIT;
	const struct dp_elf_sec *sec;
	struct dp_elf elf;
	struct dp_src src;
	struct dp_bare b;
	struct dp_bare_hit hit;
	uint64_t addr, off;
	bool more;

	if (path == NULL)
		return;
	read_file(path, &file);
	src = dp_src_mem(dp_buf_bytes(&file));
	ck_ok(dp_elf_open(&elf, &src, &e), e);
	sec = dp_elf_sec_named(&elf, ".SUNW_dof");
	ck_assert_ptr_nonnull(sec);
	addr = sec->addr;
	off = sec->off;
	dp_elf_close(&elf);
	memset(file.p + 40, 0, 8); /* e_shoff */
	ck_assert_uint_eq(gate_mem(dp_buf_bytes(&file)), DP_GATE_NOSHDR);
	ck_ok(dp_elf_open(&elf, &src, &e), e);
	ck_assert_uint_eq(elf.secs.n, 0);
	b = dp_bare_init(&elf);
	ck_ok(dp_bare_next(&b, &hit, &more, &e), e);
	ck_assert(more);
	ck_assert_uint_eq(hit.vaddr, addr);
	ck_assert_uint_eq(hit.off, off);
	ck_ok(dp_bare_next(&b, &hit, &more, &e), e);
	ck_assert(more); /* the second DOF of the section */
	ck_ok(dp_bare_next(&b, &hit, &more, &e), e);
	ck_assert(!more);
	dp_bare_deinit(&b);
	dp_elf_close(&elf);
	dp_buf_deinit(&file);
}
END_TEST

/* A size that the file does not have must not become memory. */
START_TEST(test_source)
{
	const char *path = tmp_path("short");
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf b = { 0 };
	struct dp_src src;
	int fd, fds[2];

	write_file(path, "0123456789", 10);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	src = dp_src_fd(fd, 2, DP_SRC_UNKNOWN);
	ck_assert(!dp_src_load(&src, 4, UINT64_C(1) << 40, &b, &e));
	ck_assert_int_eq(e.code, DP_EFORMAT);
	ck_assert_uint_eq(e.off, 8);
	ck_assert_uint_lt(b.cap, 4 << 20);
	ck_ok(dp_src_measure(&src, &e), e);
	ck_assert_uint_eq(src.size, 8);
	e = (struct dp_err)DP_ERR_INIT;
	ck_ok(dp_src_load(&src, 3, 5, &b, &e), e);
	ck_assert(dp_bytes_is(dp_buf_bytes(&b), "56789"));
	ck_assert(!dp_src_load(&src, 3, 6, &b, &e));
	ck_assert(!dp_src_load(&src, UINT64_MAX, 2, &b, &e));
	ck_assert_uint_eq(b.n, 0);
	/* offsets past what off_t can say are past the end */
	src = dp_src_fd(fd, INT64_MAX, DP_SRC_UNKNOWN);
	e = (struct dp_err)DP_ERR_INIT;
	ck_ok(dp_src_some(&src, 5, &b, 5, &e), e);
	ck_assert_uint_eq(b.n, 0);
	(void)close(fd);
	/* a pipe has no place to read at */
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	src = dp_src_fd(fds[0], 0, DP_SRC_UNKNOWN);
	ck_assert(!dp_src_measure(&src, &e));
	ck_assert_int_eq(e.code, DP_EUNSUP);
	e = (struct dp_err)DP_ERR_INIT;
	ck_assert(!dp_src_load(&src, 0, 1, &b, &e));
	ck_assert_int_eq(e.code, DP_EIO);
	(void)close(fds[0]);
	(void)close(fds[1]);
	dp_buf_deinit(&b);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("elf_gate");
	TCase *t = tcase_create("gate");

	(void)tmp_dir();
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_magic);
	tcase_add_test(t, test_flags_by_section);
	tcase_add_test(t, test_no_headers);
	tcase_add_test(t, test_extended_numbers);
	tcase_add_test(t, test_too_many);
	tcase_add_test(t, test_names_limit);
	tcase_add_test(t, test_bad_headers);
	tcase_add_test(t, test_against_readelf);
	tcase_add_test(t, test_corpus);
	tcase_add_test(t, test_spans);
	tcase_add_test(t, test_spans_nested);
	tcase_add_test(t, test_bare);
	tcase_add_test(t, test_bare_limit);
	tcase_add_test(t, test_bare_real);
	tcase_add_test(t, test_source);
	suite_add_tcase(s, t);
	return run_suite(s);
}
