/* SPDX-License-Identifier: BSD-2-Clause */
/* Relocations that hit ranges; real files held against readelf. */
#include "elfutil.h"

#include "elf/relocs.h"

static const struct kind {
	unsigned word;
	enum dp_order order;
} kinds[] = { { 4, DP_LE }, { 4, DP_BE }, { 8, DP_LE }, { 8, DP_BE } };

static const struct dp_reloc *
rel_at(const struct dp_relocs *rs, size_t i)
{
	must(i < rs->v.n);
	return DP_VEC_AT(&rs->v, struct dp_reloc, i);
}

static struct dp_relrange
range_of(const struct dp_elf *elf, const struct dp_elf_sec *sec)
{
	return (struct dp_relrange){ .start = elf->type == ET_REL ? 0
		                                                  : sec->addr,
		                     .size = sec->size,
		                     .sec = sec->index };
}

/* Is there a relocation that says what a line of readelf says? */
static bool
has_line(const struct dp_relocs *rs, const struct dp_relrange *g, uint64_t addr,
         uint32_t type, const char *rest)
{
	char name[600];
	long long addend;

	for (size_t i = 0; i < rs->v.n; i++) {
		const struct dp_reloc *r = rel_at(rs, i);
		struct dp_bytes sym = r->sym_name;

		if (g->start + r->off != addr || r->type != type)
			continue;
		addend = (long long)r->addend;
		if (r->st_type == STT_SECTION)
			sym = r->sym_sec;
		(void)snprintf(name, sizeof name, " %.*s", (int)sym.n,
		               sym.n ? (const char *)sym.p : "");
		if ((r->has_sym && sym.n == 0) || strstr(rest, name) == NULL)
			continue;
		if (r->in_place)
			return true;
		(void)snprintf(name, sizeof name,
		               r->has_sym ? "%s%llx\n" : "%s%llx",
		               !r->has_sym  ? " "
		               : addend < 0 ? " - "
		                            : " + ",
		               r->has_sym && addend < 0 ? -addend : addend);
		if (strstr(rest, name) != NULL)
			return true;
	}
	return false;
}

/* All relocations that hit a section, both ways; RELR lists apart. */
static void
check_section(const char *path, const char *name, unsigned least)
{
	struct dp_err e = DP_ERR_INIT;
	const struct dp_elf_sec *sec;
	struct dp_relocs rs;
	struct dp_relrange g;
	char line[4096], target[512] = "";
	struct dp_elf elf;
	unsigned n = 0;
	FILE *f;
	int fd;

	open_elf(&elf, path, &fd);
	sec = dp_elf_sec_named(&elf, name);
	ck_assert_msg(sec != NULL, "%s: no %s", path, name);
	g = range_of(&elf, sec);
	ck_ok(dp_relocs_load(&rs, &elf, &g, 1, &e), e);
	ck_assert_int_eq(rs.trouble.code, DP_OK);
	f = run("LC_ALL=C readelf -rW %s 2>/dev/null", path);
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof line, f) != NULL) {
		unsigned long at, info;
		int end = 0;

		(void)sscanf(line, "Relocation section '%500[^']'", target);
		if (sscanf(line, "%lx %lx %*s%n", &at, &info, &end) != 2 ||
		    end == 0)
			continue;
		if (elf.type == ET_REL &&
		    strcmp(strchr(target + 1, '.') ? strchr(target + 1, '.')
		                                   : "",
		           name) != 0)
			continue;
		if (at - g.start >= g.size)
			continue;
		ck_assert_msg(has_line(&rs, &g, at,
		                       elf.word == 4 ? (uint32_t)(info & 0xff)
		                                     : (uint32_t)info,
		                       line + end),
		              "%s: missing: %s", path, line);
		n++;
	}
	(void)pclose(f);
	ck_assert_msg(n == rs.v.n, "%s: %u by readelf, %zu here", path, n,
	              rs.v.n);
	ck_assert_uint_ge(n, least);
	printf("relocs: %s %s: %u agree\n", path, name, n);
	dp_relocs_deinit(&rs);
	dp_elf_close(&elf);
	(void)close(fd);
}

START_TEST(test_real)
{
	static const struct {
		const char *path, *sec;
		unsigned least;
	} rows[] = {
		{ "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", ".data", 10 },
		{ "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", ".got", 10 },
		{ "/usr/lib/postgresql/15/bin/postgres", ".data", 100 },
		{ "/bin/ls", ".data.rel.ro", 10 },
		{ "gen/basic/so32.so", ".SUNW_dof", 1 },
		{ "gen/basic/pie32", ".SUNW_dof", 1 },
		{ "gen_extra/dso/libwork32.so", ".SUNW_dof", 1 },
		{ "gen_extra/two/libtwo32.so", ".SUNW_dof", 1 },
		{ "gen/basic/so.so", ".SUNW_dof", 0 },
		{ "gen/basic/pie", ".SUNW_dof", 0 },
		{ "sdt/main.x86_64.o", ".note.stapsdt", 10 },
		{ "sdt/main.x86_64.o", ".eh_frame", 1 },
	};

	if (!have("readelf"))
		return;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *path = rows[i].path;

		if (path[0] != '/')
			path = corpus(path);
		else if (!have_file(path))
			path = NULL;
		if (path != NULL)
			check_section(path, rows[i].sec, rows[i].least);
	}
}
END_TEST

static const char asm_src[] =
	".text\n.globl f\n.type f,%function\nf: .long 0\n.size f,.-f\n"
	".section .SUNW_dof,\"a\",%progbits\n.balign 8\n"
	".ascii \"0123456789abcdef\"\n"
	"#ifdef WORD64\n.quad f\n.quad .text+4\n"
	"#ifndef NOPC\n.quad f - .\n#endif\n"
	"#else\n.long f\n.long .text+4\n.long f - .\n#endif\n";

/* What each machine's assembler makes of a word, a section, a distance. */
START_TEST(test_machines)
{
	static const struct {
		const char *target;
		unsigned word;
		bool pc_word; /* the assembler can say f - . */
	} rows[] = {
		{ "x86_64-linux-gnu", 8, true },
		{ "i386-linux-gnu", 4, true },
		{ "aarch64-linux-gnu", 8, true },
		{ "aarch64_be-linux-gnu", 8, true },
		{ "arm-linux-gnueabi", 4, true },
		{ "powerpc64-linux-gnu", 8, true },
		{ "powerpc64le-linux-gnu", 8, true },
		{ "powerpc-linux-gnu", 4, true },
		{ "s390x-linux-gnu", 8, true },
		{ "sparcv9-linux-gnu", 8, true },
		{ "sparc-linux-gnu", 4, true },
		{ "riscv64-linux-gnu", 8, false },
		{ "riscv32-linux-gnu", 4, true },
	};
	const char *src = tmp_path("m.S"), *obj = tmp_path("m.o");

	if (!have("clang"))
		return;
	write_file(src, asm_src, sizeof asm_src - 1);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct dp_err e = DP_ERR_INIT;
		const struct dp_elf_sec *sec;
		const struct dp_reloc *r;
		struct dp_relrange g[2];
		struct dp_relocs rs;
		struct dp_elf elf;
		int fd;

		if (!sh("clang --target=%s -fintegrated-as -c %s %s -o %s %s "
		        "2>/dev/null",
		        rows[i].target, rows[i].word == 8 ? "-DWORD64" : "",
		        rows[i].pc_word ? "" : "-DNOPC", obj, src)) {
			printf("skip: clang does not know %s\n",
			       rows[i].target);
			continue;
		}
		open_elf(&elf, obj, &fd);
		sec = dp_elf_sec_named(&elf, ".SUNW_dof");
		ck_assert_ptr_nonnull(sec);
		/* the second range begins in the middle of the section */
		g[0] = (struct dp_relrange){ 0, 16 + rows[i].word, sec->index };
		g[1] = (struct dp_relrange){ 16 + rows[i].word, 99,
			                     sec->index };
		ck_ok(dp_relocs_load(&rs, &elf, g, 2, &e), e);
		r = rel_at(&rs, 0);
		ck_assert_msg(r->kind == DP_REL_SYMBOL && r->range == 0 &&
		                      r->off == 16 &&
		                      r->width == rows[i].word && r->has_sym &&
		                      r->sym_defined && r->sym_value == 0 &&
		                      r->st_type == STT_FUNC,
		              "%s: kind %d type %u", rows[i].target, r->kind,
		              r->type);
		ck_assert_msg(dp_bytes_is(r->sym_name, "f"), "%s: %zu",
		              rows[i].target, r->sym_name.n);
		ck_assert(dp_bytes_is(r->sym_sec, ".text"));
		r = rel_at(&rs, 1);
		ck_assert_msg(r->kind == DP_REL_SYMBOL && r->range == 1 &&
		                      r->off == 0 && r->width == rows[i].word &&
		                      dp_bytes_is(r->sym_sec, ".text"),
		              "%s: type %u", rows[i].target, r->type);
		ck_assert(r->in_place || r->addend == 4);
		if (rows[i].pc_word) {
			r = rel_at(&rs, 2);
			ck_assert_msg(r->kind == DP_REL_PCREL &&
			                      r->off == rows[i].word &&
			                      r->width == rows[i].word,
			              "%s: type %u", rows[i].target, r->type);
		}
		dp_relocs_deinit(&rs);
		dp_elf_close(&elf);
		(void)close(fd);
	}
}
END_TEST

/*
 * One library linked with plain and with packed relocations: RELR must hit
 * the same places, and so must all of it when only PT_DYNAMIC is left.
 */
static const char lld_src[] =
	"extern int ext; extern int ext2(void); static int x[200];\n"
	"static void g(void) {}\n"
	"__attribute__((section(\".SUNW_dof\"), aligned(8))) void *const t[] = "
	"{ x, 0, x + 1, x + 2, g, 0, 0, &ext, (void *)ext2, x + 5,\n"
	"#define A 0,0,0,0,0,0,0,x,0,0,\n"
	"A A A A A A A A A A A A A A A A A A\n};\n";

static void
load_dof(const char *path, bool strip, struct dp_relocs *rs)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf file = { 0 };
	struct dp_relrange g;
	struct dp_elf elf;
	struct dp_src src;
	int fd;

	open_elf(&elf, path, &fd);
	ck_assert_ptr_nonnull(dp_elf_sec_named(&elf, ".SUNW_dof"));
	g = range_of(&elf, dp_elf_sec_named(&elf, ".SUNW_dof"));
	if (strip) {
		size_t at = elf.word == 4 ? 32 : 40;

		dp_elf_close(&elf);
		read_file(path, &file);
		memset(file.p + at, 0, elf.word); /* e_shoff */
		src = dp_src_mem(dp_buf_bytes(&file));
		ck_ok(dp_elf_open(&elf, &src, &e), e);
		ck_assert_uint_eq(elf.secs.n, 0);
	}
	ck_ok(dp_relocs_load(rs, &elf, &g, 1, &e), e);
	ck_assert_int_eq(rs->trouble.code, DP_OK);
	ck_assert(rs->from_dynamic == strip);
	/* section names end with the object: forget them */
	for (size_t i = 0; i < rs->v.n; i++)
		DP_VEC_AT(&rs->v, struct dp_reloc, i)->sym_sec.n = 0;
	dp_elf_close(&elf);
	dp_buf_deinit(&file);
	(void)close(fd);
}

static void
check_same(const struct dp_relocs *a, const struct dp_relocs *b)
{
	ck_assert_uint_eq(a->v.n, b->v.n);
	for (size_t i = 0; i < a->v.n; i++) {
		const struct dp_reloc *x = rel_at(a, i), *y = rel_at(b, i);

		must(x->off == y->off && x->type == y->type &&
		     x->kind == y->kind && x->width == y->width &&
		     x->sym_defined == y->sym_defined &&
		     dp_bytes_eq(x->sym_name, y->sym_name));
	}
}

START_TEST(test_relr_and_dynamic)
{
	static const char *const targets[] = { "x86_64-linux-gnu",
		                               "i386-linux-gnu",
		                               "aarch64-linux-gnu" };
	const char *src = tmp_path("r.c"), *obj = tmp_path("r.o");

	if (!have("clang ld.lld"))
		return;
	write_file(src, lld_src, sizeof lld_src - 1);
	for (size_t i = 0; i < 3; i++) {
		struct dp_relocs plain, packed, bare, bare_packed;
		char a[300], b[300];
		unsigned relative = 0;

		(void)snprintf(a, sizeof a, "%s/a%zu.so", tmp_dir(), i);
		(void)snprintf(b, sizeof b, "%s/b%zu.so", tmp_dir(), i);
		ck_assert(sh("clang --target=%s -w -fPIC -c -o %s %s",
		             targets[i], obj, src));
		ck_assert(sh("ld.lld -shared -z notext -o %s %s", a, obj));
		ck_assert(sh("ld.lld -shared -z notext "
		             "--pack-dyn-relocs=relr -o %s %s",
		             b, obj));
		load_dof(a, false, &plain);
		load_dof(b, false, &packed);
		load_dof(a, true, &bare);
		load_dof(b, true, &bare_packed);
		ck_assert_uint_eq(plain.v.n, 5 + 2 + 18);
		check_same(&plain, &packed);
		check_same(&plain, &bare);
		check_same(&plain, &bare_packed);
		ck_assert_uint_gt(packed.tables, plain.tables);
		for (size_t k = 0; k < plain.v.n; k++) {
			const struct dp_reloc *r = rel_at(&plain, k);

			relative += r->kind == DP_REL_RELATIVE;
			if (r->kind != DP_REL_SYMBOL)
				continue;
			ck_assert(!r->sym_defined && r->has_sym);
			ck_assert(dp_bytes_is(r->sym_name, "ext") ||
			          dp_bytes_is(r->sym_name, "ext2"));
		}
		ck_assert_uint_eq(relative, 5 + 18);
		dp_relocs_deinit(&plain);
		dp_relocs_deinit(&packed);
		dp_relocs_deinit(&bare);
		dp_relocs_deinit(&bare_packed);
	}
}
END_TEST

/* RELR by hand: place, map, map, both classes and orders. */
START_TEST(test_relr_words)
{
	for (size_t k = 0; k < 4; k++) {
		unsigned w = kinds[k].word;
		struct img im = { .word = w,
			          .order = kinds[k].order,
			          .type = ET_DYN,
			          .machine = EM_X86_64 };
		struct dp_relrange g = { .start = 0x1000, .size = 0x1000 };
		uint64_t top = w == 4 ? 1ULL << 31 : 1ULL << 63;
		struct dp_err e = DP_ERR_INIT;
		struct dp_buf out = { 0 };
		struct img_sec *s;
		struct dp_relocs rs;
		struct dp_elf elf;
		struct dp_src src;
		uint64_t want[6];

		s = add_sec(&im, ".relr.dyn", SHT_RELR, SHF_ALLOC, 0x400);
		put(&s->data, im.order, 0xff8, w); /* before the range */
		put(&s->data, im.order, 0x1000, w);
		put(&s->data, im.order, 3 | top, w); /* first and last bit */
		put(&s->data, im.order, 1, w);       /* nothing */
		put(&s->data, im.order, 5, w);       /* second bit */
		put(&s->data, im.order, 0x1ffe, w);
		put(&s->data, im.order, 0x2000, w); /* behind the range */
		make_elf(&im, &out);
		src = dp_src_mem(dp_buf_bytes(&out));
		ck_ok(dp_elf_open(&elf, &src, &e), e);
		ck_ok(dp_relocs_load(&rs, &elf, &g, 1, &e), e);
		want[0] = 0;
		want[1] = w;
		want[2] = w + (8 * w - 2) * w;
		want[3] = w + 2 * (8 * w - 1) * w + w;
		want[4] = 0xffe;
		ck_assert_uint_eq(rs.v.n, 5);
		for (size_t i = 0; i < 5; i++) {
			ck_assert_uint_eq(rel_at(&rs, i)->off, want[i]);
			ck_assert_uint_eq(rel_at(&rs, i)->kind,
			                  DP_REL_RELATIVE);
			ck_assert_uint_eq(rel_at(&rs, i)->type,
			                  R_X86_64_RELATIVE);
			ck_assert(rel_at(&rs, i)->in_place);
		}
		dp_relocs_deinit(&rs);
		dp_elf_close(&elf);
		dp_buf_deinit(&out);
	}
}
END_TEST

/* REL and RELA by hand; broken symbols, unknown types and machines. */
START_TEST(test_entries)
{
	for (size_t k = 0; k < 8; k++) {
		unsigned w = kinds[k % 4].word;
		unsigned rela = k < 4, machine = k % 2 ? EM_X86_64 : 0x7777;
		struct img im = { .word = w,
			          .order = kinds[k % 4].order,
			          .type = ET_DYN,
			          .machine = (uint16_t)machine };
		struct dp_relrange g[] = { { 0x2000, 0x10, 0 },
			                   { 0x1000, 0x10, 0 },
			                   { 0x1008, 0x100, 0 },
			                   { 0x3000, 0, 0 } };
		static const struct {
			uint64_t off;
			unsigned sym, type;
		} in[] = {
			{ 0x1000, 0, 8 },  { 0x100f, 1, 6 }, { 0x1010, 99, 1 },
			{ 0x2000, 1, 77 }, { 0x200f, 2, 1 }, { 0x2010, 1, 1 },
			{ 0x3000, 1, 1 },  { 0xfff, 1, 1 },
		};
		static const uint64_t val[] = { 0x55, 0 }, none[] = { 0, 0 };
		struct dp_err e = DP_ERR_INIT;
		struct dp_buf out = { 0 };
		const struct dp_reloc *r;
		struct img_sec *s;
		struct dp_relocs rs;
		struct dp_elf elf;
		struct dp_src src;

		s = add_sec(&im, ".dynsym", SHT_DYNSYM, 2, 0x100);
		s->link = 2;
		put_sym(&s->data, &im, 0, 0, 0, none);
		put_sym(&s->data, &im, 1, 0x12, 3, val);
		put_sym(&s->data, &im, 1000, 0x11, 0, val); /* bad name */
		s = add_sec(&im, ".dynstr", SHT_STRTAB, 2, 0x200);
		must(dp_buf_add(&s->data, "\0name", 6));
		s = add_sec(&im, rela ? ".rela.dyn" : ".rel.dyn",
		            rela ? SHT_RELA : SHT_REL, 2, 0x300);
		s->link = 1;
		for (size_t i = 0; i < sizeof in / sizeof in[0]; i++) {
			uint64_t info =
				w == 4 ? in[i].sym << 8 | in[i].type
				       : (uint64_t)in[i].sym << 32 | in[i].type;

			put(&s->data, im.order, in[i].off, w);
			put(&s->data, im.order, info, w);
			if (rela)
				put(&s->data, im.order, UINT64_MAX - i, w);
		}
		make_elf(&im, &out);
		src = dp_src_mem(dp_buf_bytes(&out));
		ck_ok(dp_elf_open(&elf, &src, &e), e);
		ck_ok(dp_relocs_load(&rs, &elf, g, 4, &e), e);
		ck_assert_uint_eq(rs.v.n, 5);
		r = rel_at(&rs, 0); /* range 0 is at 0x2000 */
		ck_assert(r->range == 0 && r->off == 0 && r->type == 77);
		ck_assert_uint_eq(r->kind, DP_REL_OTHER);
		ck_assert_uint_eq(r->width, 0);
		ck_assert(r->has_sym && r->sym_defined);
		ck_assert_uint_eq(r->sym_value, 0x55);
		ck_assert_msg(dp_bytes_is(r->sym_name, "name"),
		              "k %zu: %zu %.*s", k, r->sym_name.n,
		              (int)r->sym_name.n, (const char *)r->sym_name.p);
		ck_assert_uint_eq(r->in_place, !rela);
		ck_assert_int_eq(r->addend, rela ? -4 : 0);
		r = rel_at(&rs, 1);
		ck_assert(r->range == 0 && r->off == 0xf && r->has_sym);
		ck_assert(!r->sym_defined && r->sym_name.n == 0);
		r = rel_at(&rs, 2);
		ck_assert(r->range == 1 && r->off == 0 && !r->has_sym);
		ck_assert_uint_eq(r->kind, machine == EM_X86_64
		                                   ? DP_REL_RELATIVE
		                                   : DP_REL_OTHER);
		/* where ranges overlap the first one has it */
		r = rel_at(&rs, 3);
		ck_assert(r->range == 1 && r->off == 0xf);
		ck_assert_uint_eq(r->kind, machine == EM_X86_64 ? DP_REL_SYMBOL
		                                                : DP_REL_OTHER);
		r = rel_at(&rs, 4);
		ck_assert(r->range == 2 && r->off == 8 && !r->has_sym);
		dp_relocs_deinit(&rs);
		dp_elf_close(&elf);
		dp_buf_deinit(&out);
	}
}
END_TEST

/* A table that lies outside is noted, the next one is read. */
START_TEST(test_trouble)
{
	struct img im = {
		.word = 8, .order = DP_LE, .type = ET_DYN, .machine = EM_X86_64
	};
	struct dp_relrange g = { 0x1000, 0x1000, 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf out = { 0 };
	struct img_sec *s;
	struct dp_relocs rs;
	struct dp_elf elf;
	struct dp_src src;

	for (unsigned i = 0; i < 3; i++) {
		s = add_sec(&im, ".rela", SHT_RELA, i == 2 ? 0 : 2, 0);
		put(&s->data, DP_LE, 0x1000 + i, 8);
		put(&s->data, DP_LE, R_X86_64_RELATIVE, 8);
		put(&s->data, DP_LE, 0x99, 8);
	}
	im.secs[1].entsize = 23;
	make_elf(&im, &out);
	src = dp_src_mem(dp_buf_bytes(&out));
	ck_ok(dp_elf_open(&elf, &src, &e), e);
	ck_ok(dp_relocs_load(&rs, &elf, &g, 1, &e), e);
	ck_assert_int_eq(rs.trouble.code, DP_EFORMAT);
	/* the third one is not allocated: applied by the linker */
	ck_assert_uint_eq(rs.v.n, 1);
	ck_assert_uint_eq(rel_at(&rs, 0)->off, 1);
	ck_assert_int_eq(rel_at(&rs, 0)->addend, 0x99);
	dp_relocs_deinit(&rs);
	ck_ok(dp_relocs_load(&rs, &elf, NULL, 0, &e), e);
	ck_assert_uint_eq(rs.v.n, 0);
	dp_relocs_deinit(&rs);
	dp_elf_close(&elf);
	dp_buf_deinit(&out);
}
END_TEST

/* 300,000 relocations and 1000 ranges in one pass. */
START_TEST(test_many)
{
	struct img im = {
		.word = 8, .order = DP_LE, .type = ET_DYN, .machine = EM_X86_64
	};
	static struct dp_relrange g[1000];
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf out = { 0 };
	struct img_sec *s;
	struct dp_relocs rs;
	struct dp_elf elf;
	struct dp_src src;

	s = add_sec(&im, ".rela", SHT_RELA, 2, 0);
	for (unsigned i = 0; i < 300000; i++) {
		put(&s->data, DP_LE, 8ULL * (299999 - i), 8);
		put(&s->data, DP_LE, R_X86_64_RELATIVE, 8);
		put(&s->data, DP_LE, i, 8);
	}
	for (unsigned i = 0; i < 1000; i++)
		g[i] = (struct dp_relrange){ 800ULL * i, 80, 0 };
	make_elf(&im, &out);
	src = dp_src_mem(dp_buf_bytes(&out));
	ck_ok(dp_elf_open(&elf, &src, &e), e);
	ck_ok(dp_relocs_load(&rs, &elf, g, 1000, &e), e);
	ck_assert_uint_eq(rs.v.n, 10000);
	for (unsigned i = 0; i < 10000; i++)
		must(rel_at(&rs, i)->range == i / 10 &&
		     rel_at(&rs, i)->off == i % 10 * 8);
	dp_relocs_deinit(&rs);
	dp_elf_close(&elf);
	dp_buf_deinit(&out);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("elf_relocs");
	TCase *t = tcase_create("relocs");

	(void)tmp_dir();
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_real);
	tcase_add_test(t, test_machines);
	tcase_add_test(t, test_relr_and_dynamic);
	tcase_add_test(t, test_relr_words);
	tcase_add_test(t, test_entries);
	tcase_add_test(t, test_trouble);
	tcase_add_test(t, test_many);
	suite_add_tcase(s, t);
	return run_suite(s);
}
