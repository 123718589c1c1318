/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects, sections, identity; real files held against readelf. */
#include "elfutil.h"

#include "base/limits.h"
#include "elf/identity.h"
#include "elf/object.h"

static const struct kind {
	unsigned word;
	enum dp_order order;
} kinds[] = { { 4, DP_LE }, { 4, DP_BE }, { 8, DP_LE }, { 8, DP_BE } };

static const char *const real_files[] = {
	"/bin/ls",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/postgresql/15/bin/postgres",
};

static const char *const corpus_files[] = {
	"sdt/main.aarch64.O2", "sdt/main.arm.O2",      "sdt/main.i386.O2",
	"sdt/main.ppc64le.O2", "sdt/main.riscv64.O2",  "sdt/main.s390x.O2",
	"sdt/main.x86_64.O2",  "sdt/main.x86_64.o",    "gen/basic/pie32",
	"gen/basic/so.so",     "gen_extra/static/st32"
};

/* Every program header, in order, as readelf -lW prints it. */
static unsigned
check_segments(const struct dp_elf *elf, const char *path)
{
	FILE *f = run("LC_ALL=C readelf -lW %s", path);
	char line[1024], type[64];
	unsigned long off, vaddr, paddr, filesz, memsz;
	size_t i = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof line, f) != NULL) {
		const struct dp_elf_seg *seg;
		bool x = strstr(line, " E ") != NULL ||
		         strstr(line, "RWE ") != NULL;

		if (sscanf(line, " %63s 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx", type,
		           &off, &vaddr, &paddr, &filesz, &memsz) != 6)
			continue;
		ck_assert_uint_lt(i, elf->segs.n);
		seg = DP_VEC_AT(&elf->segs, struct dp_elf_seg, i++);
		must(seg->off == off && seg->vaddr == vaddr &&
		     seg->filesz == filesz && seg->memsz == memsz);
		must((strcmp(type, "LOAD") == 0) == (seg->type == PT_LOAD));
		must((strcmp(type, "TLS") == 0) == (seg->type == PT_TLS));
		if (seg->type == PT_LOAD)
			must(x == ((seg->flags & PF_X) != 0));
	}
	(void)pclose(f);
	ck_assert_uint_eq(i, elf->segs.n);
	return (unsigned)i;
}

/* Every section header, as readelf -SW prints it. */
static unsigned
check_sections(const struct dp_elf *elf, const char *path)
{
	FILE *f = run("LC_ALL=C readelf -SW %s", path);
	char line[1024], name[256], type[64];
	unsigned long addr, off, size, es;
	unsigned i, n = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof line, f) != NULL) {
		const struct dp_elf_sec *sec;

		if (sscanf(line, " [%u] %255s %63s %lx %lx %lx %lx", &i, name,
		           type, &addr, &off, &size, &es) != 7 ||
		    i == 0)
			continue;
		sec = dp_elf_sec(elf, i);
		ck_assert_ptr_nonnull(sec);
		ck_assert_msg(sec->index == i && sec->addr == addr &&
		                      sec->off == off && sec->size == size &&
		                      sec->entsize == es &&
		                      dp_bytes_is(sec->name, name),
		              "%s: %s", path, line);
		must((strcmp(type, "NOBITS") == 0) ==
		     (sec->type == SHT_NOBITS));
		n++;
	}
	(void)pclose(f);
	ck_assert_uint_eq(n + 1, elf->secs.n);
	return n;
}

/* The first line of a command's output without its newline; "": none. */
static const char *
first_line(FILE *f)
{
	static char line[1024];

	ck_assert_ptr_nonnull(f);
	line[0] = '\0';
	if (fgets(line, sizeof line, f) != NULL)
		line[strcspn(line, "\n")] = '\0';
	while (fgetc(f) != EOF)
		;
	(void)pclose(f);
	return line;
}

static void
check_identity(const struct dp_elf *elf, const char *path)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf b = { 0 }, hex = { 0 };
	const char *want;

	ck_ok(dp_elf_build_id(elf, &b, &e), e);
	must(dp_buf_add(&hex, "", 0));
	for (size_t i = 0; i < b.n; i++)
		must(dp_buf_printf(&hex, "%02x", b.p[i]));
	want = first_line(run("LC_ALL=C readelf -nW %s 2>/dev/null | "
	                      "sed -n 's/.*Build ID: //p'",
	                      path));
	ck_assert_msg(dp_bytes_is(dp_buf_bytes(&hex), want), "%s: %s", path,
	              want);
	ck_ok(dp_elf_soname(elf, &b, &e), e);
	want = first_line(run("LC_ALL=C readelf -dW %s 2>/dev/null | sed -n "
	                      "'s/.*Library soname: \\[\\(.*\\)\\]/\\1/p'",
	                      path));
	ck_assert_msg(dp_bytes_is(dp_buf_bytes(&b), want), "%s: %s", path,
	              want);
	dp_buf_deinit(&b);
	dp_buf_deinit(&hex);
}

static void
check_file(const char *path)
{
	struct dp_elf elf;
	unsigned segs, secs;
	int fd;

	open_elf(&elf, path, &fd);
	segs = check_segments(&elf, path);
	secs = check_sections(&elf, path);
	check_identity(&elf, path);
	printf("object: %s: %u segments, %u sections agree\n", path, segs,
	       secs);
	dp_elf_close(&elf);
	(void)close(fd);
}

START_TEST(test_real)
{
	if (!have("readelf sed"))
		return;
	for (size_t i = 0; i < sizeof real_files / sizeof real_files[0]; i++)
		if (have_file(real_files[i]))
			check_file(real_files[i]);
	for (size_t i = 0; i < sizeof corpus_files / sizeof corpus_files[0];
	     i++)
		if (corpus(corpus_files[i]) != NULL)
			check_file(corpus(corpus_files[i]));
}
END_TEST

START_TEST(test_header)
{
	static const struct {
		const char *name;
		unsigned word;
		uint16_t type, machine;
	} rows[] = {
		{ "sdt/main.aarch64.O2", 8, ET_DYN, EM_AARCH64 },
		{ "sdt/main.arm.O2", 4, ET_DYN, EM_ARM },
		{ "sdt/main.s390x.O2", 8, ET_DYN, EM_S390 },
		{ "sdt/main.x86_64.o", 8, ET_REL, EM_X86_64 },
		{ "gen/basic/nopie32", 4, ET_EXEC, EM_386 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *path = corpus(rows[i].name);
		struct dp_elf elf;
		int fd;

		if (path == NULL)
			continue;
		open_elf(&elf, path, &fd);
		ck_assert_uint_eq(elf.word, rows[i].word);
		ck_assert_uint_eq(elf.machine, rows[i].machine);
		if (rows[i].type != ET_DYN)
			ck_assert_uint_eq(elf.type, rows[i].type);
		ck_assert(elf.order ==
		          (elf.machine == EM_S390 ? DP_BE : DP_LE));
		dp_elf_close(&elf);
		(void)close(fd);
	}
}
END_TEST

/* One image of each class and order, the same values. */
static void
make_all(struct img *im, struct dp_buf *out)
{
	static const uint8_t id[] = { 0xab, 0xcd, 0xef, 1, 2, 3, 4 };
	struct img_sec *s;

	s = add_sec(im, ".note.gnu.build-id", SHT_NOTE, 2, 0x200);
	put(&s->data, im->order, 4, 4);
	put(&s->data, im->order, sizeof id, 4);
	put(&s->data, im->order, NT_GNU_BUILD_ID, 4);
	must(dp_buf_add(&s->data, "GNU", 4));
	must(dp_buf_add(&s->data, id, sizeof id));
	pad(&s->data, 4);
	s = add_sec(im, ".rodata", SHT_PROGBITS, 2, 0x1000);
	must(dp_buf_add(&s->data, "first\0second\0no end", 19));
	s = add_sec(im, ".gnu_debuglink", SHT_PROGBITS, 0, 0);
	must(dp_buf_add(&s->data, "x.debug\0", 8));
	put(&s->data, im->order, 0x11223344, 4);
	s = add_sec(im, ".dynstr", SHT_STRTAB, 2, 0x2000);
	must(dp_buf_add(&s->data, "\0libx.so.7", 11));
	s = add_sec(im, ".dynamic", SHT_DYNAMIC, 3, 0x3000);
	put(&s->data, im->order, DT_STRTAB, im->word);
	put(&s->data, im->order, 0x2000, im->word);
	put(&s->data, im->order, DT_STRSZ, im->word);
	put(&s->data, im->order, 11, im->word);
	put(&s->data, im->order, DT_SONAME, im->word);
	put(&s->data, im->order, 1, im->word);
	put(&s->data, im->order, DT_NULL, im->word);
	put(&s->data, im->order, 0, im->word);
	s = add_sec(im, ".bss", SHT_NOBITS, 3, 0x4000);
	s->nobits = 123456;
	im->type = ET_DYN;
	im->machine = EM_X86_64;
	im->nsegs = 5;
	im->segs[0] = (struct img_seg){ PT_LOAD, 4, 0x1000, 2, 0, 0, 0 };
	im->segs[1] = (struct img_seg){ PT_LOAD, 4, 0x2000, 4, 0, 0, 0 };
	im->segs[2] = (struct img_seg){ PT_DYNAMIC, 6, 0x3000, 5, 0, 0, 0 };
	im->segs[3] = (struct img_seg){ PT_NOTE, 4, 0x200, 1, 0, 0, 0 };
	im->segs[4] = (struct img_seg){ PT_LOAD, 6, 0x9000, -1, 0, 0, 0 };
	make_elf(im, out);
}

/* What must be found with section headers and without. */
static void
check_all(const struct dp_elf *elf, bool headers)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf b = { 0 };
	uint32_t crc = 0;
	uint64_t off = 7;

	ck_ok(dp_elf_build_id(elf, &b, &e), e);
	ck_assert_uint_eq(b.n, 7);
	ck_assert_int_eq(memcmp(b.p, "\xab\xcd\xef\1\2\3\4", 7), 0);
	ck_ok(dp_elf_soname(elf, &b, &e), e);
	ck_assert(dp_bytes_is(dp_buf_bytes(&b), "libx.so.7"));
	ck_ok(dp_elf_debuglink(elf, &b, &crc, &e), e);
	ck_assert_uint_eq(crc, headers ? 0x11223344 : 0);
	ck_assert(dp_bytes_is(dp_buf_bytes(&b), headers ? "x.debug" : ""));
	ck_ok(dp_elf_rodata_str(elf, 0x1006, &b, &e), e);
	ck_assert(dp_bytes_is(dp_buf_bytes(&b), "second"));
	ck_ok(dp_elf_str_at(elf, NULL, 0x1006, &b, &e), e);
	ck_assert(dp_bytes_is(dp_buf_bytes(&b), "second"));
	ck_ok(dp_elf_rodata_str(elf, 0x1005, &b, &e), e);
	ck_assert_uint_eq(b.n, 0);
	for (unsigned i = 0; i < 3; i++) {
		static const uint64_t bad[] = { 0x100d, 0x1013, 0xfff };

		e = (struct dp_err)DP_ERR_INIT;
		ck_assert(!dp_elf_rodata_str(elf, bad[i], &b, &e));
		ck_assert_int_eq(e.code, DP_EFORMAT);
	}
	ck_assert(!dp_elf_off_of(elf, 0x9000, &off)); /* empty PT_LOAD */
	ck_assert(!dp_elf_off_of(elf, 0x3000, &off)); /* not a PT_LOAD */
	ck_assert_uint_eq(off, 7);
	ck_assert(dp_elf_off_of(elf, 0x1012, &off));
	ck_assert(!dp_elf_off_of(elf, 0x1013, &off));
	dp_buf_deinit(&b);
}

START_TEST(test_built)
{
	for (size_t k = 0; k < 8; k++) {
		struct img im = { .word = kinds[k % 4].word,
			          .order = kinds[k % 4].order,
			          .no_headers = k >= 4 };
		struct dp_err e = DP_ERR_INIT;
		struct dp_buf out = { 0 }, b = { 0 };
		const struct dp_elf_sec *sec;
		struct dp_elf elf;
		struct dp_src src;

		make_all(&im, &out);
		src = dp_src_mem(dp_buf_bytes(&out));
		ck_ok(dp_elf_open(&elf, &src, &e), e);
		ck_assert_uint_eq(elf.secs.n, k < 4 ? 8 : 0);
		ck_assert_uint_eq(elf.segs.n, 5);
		ck_assert_uint_eq(elf.entry, 0x1234);
		check_all(&elf, k < 4);
		sec = dp_elf_sec_named(&elf, ".bss");
		if (sec != NULL) {
			ck_ok(dp_elf_sec_read(&elf, sec, &b, &e), e);
			ck_assert_uint_eq(b.n, 0);
			ck_assert_uint_eq(sec->size, 123456);
		}
		dp_elf_close(&elf);
		dp_buf_deinit(&out);
		dp_buf_deinit(&b);
	}
}
END_TEST

/* The same as a part of a larger file. */
START_TEST(test_sub_range)
{
	struct img im = { .word = 8, .order = DP_LE };
	const char *path = tmp_path("sub");
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf out = { 0 }, all = { 0 };
	struct dp_elf elf;
	struct dp_src src;
	int fd;

	make_all(&im, &out);
	for (unsigned i = 0; i < 77; i++)
		must(dp_buf_add(&all, "x", 1));
	must(dp_buf_add(&all, out.p, out.n));
	must(dp_buf_add(&all, "behind", 6));
	write_file(path, all.p, all.n);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	src = dp_src_fd(fd, 77, out.n);
	ck_ok(dp_elf_open(&elf, &src, &e), e);
	check_all(&elf, true);
	dp_elf_close(&elf);
	src = dp_src_fd(fd, 78, out.n);
	ck_assert(!dp_elf_open(&elf, &src, &e));
	ck_assert_int_eq(e.code, DP_EFORMAT);
	/* a range that is smaller than the object cuts it */
	src = dp_src_fd(fd, 77, out.n - 1);
	e = (struct dp_err)DP_ERR_INIT;
	ck_ok(dp_elf_open(&elf, &src, &e), e);
	ck_assert_uint_eq(elf.secs.n, 0);
	ck_assert_int_eq(elf.secs_why.code, DP_EFORMAT);
	ck_assert_uint_eq(elf.segs.n, 5);
	dp_elf_close(&elf);
	(void)close(fd);
	dp_buf_deinit(&out);
	dp_buf_deinit(&all);
}
END_TEST

/* FIELD REPORTS: addresses go through the PT_LOAD that holds them. */
START_TEST(test_off_of)
{
	static const struct {
		uint64_t vaddr, off, size, at, want;
	} rows[] = {
		{ 0x401000, 0x1000, 0x1000, 0x40102a, 0x102a },
		{ 0x201520, 0x520, 0x1000, 0x20161a, 0x61a },
		{ 0x2037a8, 0x7a8, 0x1000, 0x2037b8, 0x7b8 },
		{ 0x403e38, 0x2e38, 0x1f0, 0x404010, 0x3010 },
		{ 0x1790, 0x790, 0x1000, 0x1880, 0x880 },
		{ 0, 0, 0x10, 0xf, 0xf },
		{ UINT64_MAX - 15, 0x10, 0x10, UINT64_MAX - 1, 0x1e },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct img im = { .word = 8, .order = DP_LE, .nsegs = 2 };
		struct dp_err e = DP_ERR_INIT;
		struct dp_buf out = { 0 };
		struct dp_elf elf;
		struct dp_src src;
		uint64_t off = 0;

		im.segs[0] = (struct img_seg){ PT_LOAD,       5,
			                       rows[i].vaddr, -1,
			                       rows[i].off,   rows[i].size,
			                       rows[i].size };
		/* the offset of this one wraps */
		im.segs[1] =
			(struct img_seg){ PT_LOAD,        5,  0x7000000, -1,
			                  UINT64_MAX - 1, 16, 16 };
		make_elf(&im, &out);
		src = dp_src_mem(dp_buf_bytes(&out));
		ck_ok(dp_elf_open(&elf, &src, &e), e);
		ck_assert(dp_elf_off_of(&elf, rows[i].at, &off));
		ck_assert_uint_eq(off, rows[i].want);
		ck_assert(dp_elf_off_of(&elf, 0x7000001, &off));
		ck_assert(!dp_elf_off_of(&elf, 0x7000002, &off));
		dp_elf_close(&elf);
		dp_buf_deinit(&out);
	}
}
END_TEST

/* Of overlapping PT_LOADs the last one is what a process sees. */
START_TEST(test_overlap)
{
	struct img im = { .word = 4, .order = DP_BE, .nsegs = 2 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf out = { 0 };
	struct dp_elf elf;
	struct dp_src src;
	uint64_t off = 0;

	im.segs[0] =
		(struct img_seg){ PT_LOAD, 5, 0x1000, -1, 0, 0x100, 0x100 };
	im.segs[1] =
		(struct img_seg){ PT_LOAD, 5, 0x1080, -1, 0x5000, 0x10, 0x10 };
	make_elf(&im, &out);
	src = dp_src_mem(dp_buf_bytes(&out));
	ck_ok(dp_elf_open(&elf, &src, &e), e);
	ck_assert(dp_elf_off_of(&elf, 0x107f, &off));
	ck_assert_uint_eq(off, 0x7f);
	ck_assert(dp_elf_off_of(&elf, 0x1081, &off));
	ck_assert_uint_eq(off, 0x5001);
	ck_assert(dp_elf_off_of(&elf, 0x1090, &off));
	ck_assert_uint_eq(off, 0x90);
	dp_elf_close(&elf);
	dp_buf_deinit(&out);
}
END_TEST

/* Compressed by a real tool, read back as the plain one. */
START_TEST(test_compressed)
{
	const char *plain = tmp_path("plain.o"), *packed = tmp_path("packed.o");
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf a = { 0 }, b = { 0 };
	const struct dp_elf_sec *sec;
	struct dp_elf elf;
	int fd;

	if (!have("gcc objcopy"))
		return;
	for (unsigned bits = 0; bits < 2; bits++) {
		const char *obj =
			bits ? corpus("sdt/main.s390x.O2") : "/usr/bin/true";

		if (obj == NULL || !have_file(obj))
			continue;
		/* 64 KiB of text as a section; 200 bytes would not shrink */
		ck_assert(sh("seq 12000 | head -c 65536 >%s/t && objcopy "
		             "--add-section .debug_x=%s/t %s %s 2>/dev/null || "
		             "cp %s %s",
		             tmp_dir(), tmp_dir(), obj, plain, obj, plain));
		ck_assert(sh("objcopy --compress-debug-sections=zlib-gabi %s "
		             "%s 2>/dev/null || cp %s %s",
		             plain, packed, plain, packed));
		open_elf(&elf, packed, &fd);
		sec = dp_elf_sec_named(&elf, ".debug_x");
		if (sec == NULL || (sec->flags & SHF_COMPRESSED) == 0) {
			printf("note: objcopy does not pack %s\n", obj);
		} else {
			ck_ok(dp_elf_sec_read(&elf, sec, &b, &e), e);
			read_file(tmp_path("t"), &a);
			ck_assert_uint_lt(sec->size, a.n);
			ck_assert(dp_bytes_eq(dp_buf_bytes(&a),
			                      dp_buf_bytes(&b)));
		}
		dp_elf_close(&elf);
		(void)close(fd);
	}
	dp_buf_deinit(&a);
	dp_buf_deinit(&b);
}
END_TEST

/* Compression headers by hand; a zlib stream of 11 stored bytes. */
START_TEST(test_compressed_bad)
{
	static const uint8_t z[] = { 0x78, 0x01, 0x01, 0x0b, 0x00, 0xf4,
		                     0xff, 'h',  'e',  'l',  'l',  'o',
		                     ' ',  'w',  'o',  'r',  'l',  'd',
		                     0x1a, 0x0b, 0x04, 0x5d };
	static const struct {
		uint32_t type;
		uint64_t size;
		unsigned cut;
		enum dp_code want;
	} rows[] = {
		{ 1, 11, 0, DP_OK },
		{ 1, 12, 0, DP_EFORMAT },
		{ 1, 10, 0, DP_EFORMAT },
		{ 1, 11, 10, DP_EFORMAT },
		{ 1, 11, 21, DP_EFORMAT },
		{ 1, 11, 1000, DP_EFORMAT },
		{ 1, 0, 0, DP_EFORMAT },
		{ 0, 11, 0, DP_EUNSUP },
		{ 99, 11, 0, DP_EUNSUP },
		{ 1, DP_MAX_ELF_SECTION, 0, DP_EFORMAT },
		{ 1, DP_MAX_ELF_SECTION + 1LL, 0, DP_ELIMIT },
		{ 1, 0xffffffff, 0, DP_ELIMIT },
	};

	for (size_t k = 0; k < 4; k++)
		for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
			struct img im = { .word = kinds[k].word,
				          .order = kinds[k].order };
			struct dp_err e = DP_ERR_INIT;
			struct dp_buf out = { 0 }, b = { 0 };
			struct img_sec *s;
			struct dp_elf elf;
			struct dp_src src;

			s = add_sec(&im, ".z", SHT_PROGBITS, SHF_COMPRESSED, 0);
			put(&s->data, im.order, rows[i].type, 4);
			if (im.word == 8)
				put(&s->data, im.order, 0, 4);
			put(&s->data, im.order, rows[i].size, im.word);
			put(&s->data, im.order, 1, im.word);
			must(dp_buf_add(&s->data, z, sizeof z));
			s->data.n = rows[i].cut > s->data.n
			                    ? 3
			                    : s->data.n - rows[i].cut;
			make_elf(&im, &out);
			src = dp_src_mem(dp_buf_bytes(&out));
			ck_ok(dp_elf_open(&elf, &src, &e), e);
			(void)dp_elf_sec_read(&elf, dp_elf_sec(&elf, 1), &b,
			                      &e);
			ck_assert_msg(e.code == rows[i].want,
			              "row %zu kind %zu: %d %s", i, k, e.code,
			              e.msg);
			if (e.code == DP_OK)
				ck_assert(dp_bytes_is(dp_buf_bytes(&b),
				                      "hello world"));
			else
				ck_assert_uint_eq(b.n, 0);
			dp_elf_close(&elf);
			dp_buf_deinit(&out);
			dp_buf_deinit(&b);
		}
}
END_TEST

/* Sizes at the limit and one past; the file is too short for either. */
START_TEST(test_section_limits)
{
	for (unsigned over = 0; over < 2; over++) {
		struct img im = { .word = 8, .order = DP_LE };
		struct dp_err e = DP_ERR_INIT;
		struct dp_buf out = { 0 }, b = { 0 };
		struct img_sec *s;
		struct dp_elf elf;
		struct dp_src src;

		s = add_sec(&im, ".x", SHT_PROGBITS, 0, 0);
		s->nobits = (uint64_t)DP_MAX_ELF_SECTION + over;
		make_elf(&im, &out);
		src = dp_src_mem(dp_buf_bytes(&out));
		ck_ok(dp_elf_open(&elf, &src, &e), e);
		ck_assert(!dp_elf_sec_read(&elf, dp_elf_sec(&elf, 1), &b, &e));
		ck_assert_int_eq(e.code, over ? DP_ELIMIT : DP_EFORMAT);
		dp_elf_close(&elf);
		dp_buf_deinit(&out);
		dp_buf_deinit(&b);
	}
}
END_TEST

/* PN_XNUM: the number of program headers stands in section 0. */
START_TEST(test_many_segments)
{
	for (unsigned over = 0; over < 2; over++) {
		struct img im = { .word = 8, .order = DP_LE, .nsegs = 1 };
		uint64_t n = (uint64_t)DP_MAX_ELF_PHDRS + over;
		struct dp_err e = DP_ERR_INIT;
		struct dp_buf out = { 0 };
		struct dp_elf elf;
		struct dp_src src;
		size_t shoff, phoff;

		im.segs[0] = (struct img_seg){ PT_LOAD, 5, 0, -1, 0, 9, 9 };
		make_elf(&im, &out);
		shoff = out.n - 2 * 64;
		phoff = out.n;
		put_at(&out, 32, DP_LE, phoff, 8);
		put_at(&out, 56, DP_LE, PN_XNUM, 2);
		put_at(&out, shoff + 44, DP_LE, n, 4); /* sh_info */
		for (uint64_t i = 0; i < n * 7; i++)
			put(&out, DP_LE, i % 7 == 0, 8); /* empty PT_LOADs */
		src = dp_src_mem(dp_buf_bytes(&out));
		ck_ok(dp_elf_open(&elf, &src, &e), e);
		ck_assert_uint_eq(elf.segs.n, over ? 0 : n);
		ck_assert_int_eq(elf.segs_why.code, over ? DP_ELIMIT : DP_OK);
		dp_elf_close(&elf);
		dp_buf_deinit(&out);
	}
}
END_TEST

START_TEST(test_not_elf)
{
	static const struct {
		size_t at;
		uint8_t v;
		enum dp_code code;
	} rows[] = { { 0, 0, DP_EFORMAT }, { 3, 0, DP_EFORMAT },
		     { 4, 0, DP_EUNSUP },  { 4, 3, DP_EUNSUP },
		     { 5, 0, DP_EUNSUP },  { 5, 3, DP_EUNSUP },
		     { 6, 0, DP_EUNSUP } };
	struct img im = { .word = 8, .order = DP_LE };
	struct dp_buf out = { 0 };
	struct dp_elf elf = { .word = 99 };
	struct dp_src src;

	make_elf(&im, &out);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct dp_err e = DP_ERR_INIT;
		uint8_t old = out.p[rows[i].at];

		out.p[rows[i].at] = rows[i].v;
		src = dp_src_mem(dp_buf_bytes(&out));
		ck_assert(!dp_elf_open(&elf, &src, &e));
		ck_assert_int_eq(e.code, rows[i].code);
		ck_assert_uint_eq(e.off, rows[i].at < 4 ? 0 : rows[i].at);
		ck_assert_uint_eq(elf.word, 99);
		out.p[rows[i].at] = old;
	}
	for (size_t n = 0; n < 64; n++) {
		struct dp_err e = DP_ERR_INIT;

		src = dp_src_mem((struct dp_bytes){ out.p, n });
		ck_assert(!dp_elf_open(&elf, &src, &e));
		ck_assert_int_eq(e.code, DP_EFORMAT);
	}
	dp_buf_deinit(&out);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("elf_object");
	TCase *t = tcase_create("object");

	(void)tmp_dir();
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_real);
	tcase_add_test(t, test_header);
	tcase_add_test(t, test_built);
	tcase_add_test(t, test_sub_range);
	tcase_add_test(t, test_off_of);
	tcase_add_test(t, test_overlap);
	tcase_add_test(t, test_compressed);
	tcase_add_test(t, test_compressed_bad);
	tcase_add_test(t, test_section_limits);
	tcase_add_test(t, test_many_segments);
	tcase_add_test(t, test_not_elf);
	suite_add_tcase(s, t);
	return run_suite(s);
}
