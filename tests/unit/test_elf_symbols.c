/* SPDX-License-Identifier: BSD-2-Clause */
/* Function and name look-ups, debug files; held against readelf. */
#include "elfutil.h"

#include "base/limits.h"
#include "elf/identity.h"
#include "elf/symbols.h"

/* What readelf says of one function. */
struct line {
	uint64_t addr, size;
	char bind; /* G, W, L */
	char *name;
};

/* All functions with a size that readelf lists, names without a version. */
static struct line *
read_lines(const char *path, size_t *n_ret)
{
	FILE *f = run("LC_ALL=C readelf -sW %s 2>/dev/null", path);
	static char buf[65536], type[32], bind[32], ndx[32];
	struct dp_vec v = { 0 };
	unsigned long addr;
	char size[64];
	int at;

	must(f != NULL);
	while (fgets(buf, sizeof buf, f) != NULL) {
		char *other = strstr(buf, " [<localentry>");
		struct line *l;

		if (other != NULL) /* ppc64: between visibility and index */
			memset(other, ' ', strcspn(other, "]") + 1);
		at = 0;
		(void)sscanf(buf, " %*[0-9]: %lx %63s %31s %31s %*s %31s %n",
		             &addr, size, type, bind, ndx, &at);
		if (at == 0 || strcmp(ndx, "UND") == 0 ||
		    (strcmp(type, "FUNC") != 0 && strcmp(type, "IFUNC") != 0))
			continue;
		if (strtoull(size, NULL, 0) == 0)
			continue;
		l = dp_vec_push(&v, sizeof *l);
		must(l != NULL);
		l->addr = addr;
		l->size = strtoull(size, NULL, 0);
		l->bind = bind[0];
		buf[at + strcspn(buf + at, "@ \n")] = '\0';
		l->name = strdup(buf + at);
	}
	(void)pclose(f);
	*n_ret = v.n;
	return v.p;
}

static unsigned
rank(char bind)
{
	return bind == 'G' || bind == 'U' ? 0 : bind == 'W' ? 1 : 2;
}

/* The plain way: look at every function. */
static const struct line *
slow_find(const struct line *l, size_t n, uint64_t addr)
{
	const struct line *best = NULL;

	for (size_t i = 0; i < n; i++) {
		long c;

		if (addr < l[i].addr || addr - l[i].addr >= l[i].size)
			continue;
		if (best == NULL) {
			best = &l[i];
			continue;
		}
		c = l[i].size < best->size ? -1 : l[i].size > best->size;
		if (c == 0)
			c = (long)rank(l[i].bind) - (long)rank(best->bind);
		if (c == 0)
			c = (long)strlen(l[i].name) - (long)strlen(best->name);
		if (c == 0)
			c = strcmp(l[i].name, best->name);
		if (c < 0)
			best = &l[i];
	}
	return best;
}

/* 1000 places in and around functions of one file. */
static void
check_pcs(const char *path)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_funcs f;
	struct dp_elf elf;
	struct line *l;
	uint32_t seed = 99;
	unsigned held = 0;
	size_t n;
	int fd;

	l = read_lines(path, &n);
	ck_assert_uint_gt(n, 0);
	open_elf(&elf, path, &fd);
	ck_ok(dp_funcs_load(&f, &elf, NULL, &e), e);
	ck_assert_int_eq(f.from.trouble.code, DP_OK);
	for (unsigned i = 0; i < 1000; i++) {
		const struct line *at, *want;
		const struct dp_func *got;
		uint64_t pc;

		seed = seed * 1664525 + 1013904223;
		at = &l[seed / 7 % n];
		/* the start, the last byte, one past it, anywhere */
		pc = i % 4 == 0   ? at->addr
		     : i % 4 == 1 ? at->addr + at->size - 1
		     : i % 4 == 2 ? at->addr + at->size
		                  : at->addr + seed % at->size;
		if (elf.machine == EM_ARM)
			pc &= ~1ULL;
		want = slow_find(l, n, pc);
		got = dp_funcs_find(&f, 0, pc);
		must((want == NULL) == (got == NULL));
		if (want == NULL)
			continue;
		held++;
		if (!dp_bytes_is(got->name, want->name))
			ck_abort_msg("%s: %" PRIx64 ": %s, not %.*s", path, pc,
			             want->name, (int)got->name.n,
			             (const char *)got->name.p);
	}
	printf("symbols: %s: 1000 places agree, %u in one of %zu functions\n",
	       path, held, f.v.n);
	dp_funcs_deinit(&f);
	dp_elf_close(&elf);
	(void)close(fd);
	for (size_t i = 0; i < n; i++)
		free(l[i].name);
	free(l);
}

START_TEST(test_pcs)
{
	static const char *const files[] = {
		"/usr/lib/postgresql/15/bin/postgres",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"sdt/main.aarch64.O2",
		"sdt/main.s390x.O2",
		"sdt/main.ppc64le.O0",
		"sdt/main.riscv64.O2",
		"sdt/main.i386.O2",
		"gen_extra/cold/cold",
	};

	if (!have("readelf"))
		return;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		const char *path = files[i];

		if (path[0] != '/')
			path = corpus(path);
		else if (!have_file(path))
			path = NULL;
		if (path != NULL)
			check_pcs(path);
	}
}
END_TEST

/* Thumb functions have bit 0 of the value set; the code has not. */
START_TEST(test_thumb)
{
	struct img im = {
		.word = 4, .order = DP_LE, .type = ET_EXEC, .machine = EM_ARM
	};
	static const uint64_t none[] = { 0, 0 }, f[] = { 0x8001, 0x10 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf out = { 0 };
	const struct dp_func *fn;
	struct img_sec *s;
	struct dp_funcs fs;
	struct dp_elf elf;
	struct dp_src src;

	s = add_sec(&im, ".symtab", SHT_SYMTAB, 0, 0);
	s->link = 2;
	put_sym(&s->data, &im, 0, 0, 0, none);
	put_sym(&s->data, &im, 1, STB_GLOBAL << 4 | STT_FUNC, 1, f);
	s = add_sec(&im, ".strtab", SHT_STRTAB, 0, 0);
	must(dp_buf_add(&s->data, "\0thumb", 7));
	make_elf(&im, &out);
	src = dp_src_mem(dp_buf_bytes(&out));
	ck_ok(dp_elf_open(&elf, &src, &e), e);
	ck_ok(dp_funcs_load(&fs, &elf, NULL, &e), e);
	fn = dp_funcs_find(&fs, 0, 0x8000);
	ck_assert_ptr_nonnull(fn);
	ck_assert(dp_bytes_is(fn->name, "thumb"));
	ck_assert_ptr_nonnull(dp_funcs_find(&fs, 0, 0x800f));
	ck_assert_ptr_null(dp_funcs_find(&fs, 0, 0x8010));
	dp_funcs_deinit(&fs);
	dp_elf_close(&elf);
	dp_buf_deinit(&out);
}
END_TEST

/* Which name a place gets: rows of symbols, then the places. */
START_TEST(test_merit)
{
	static const struct {
		const char *name;
		uint64_t addr, size;
		unsigned info, shndx;
	} syms[] = {
		{ "outer", 0x100, 0x100, 0x12, 1 },
		{ "inner", 0x140, 0x10, 0x02, 1 },
		{ "zz", 0x200, 0x10, 0x12, 1 },
		{ "a_long_one", 0x200, 0x10, 0x12, 1 },
		{ "aa", 0x200, 0x10, 0x22, 1 }, /* weak */
		{ "b", 0x200, 0x10, 0x02, 1 },  /* local */
		{ "yy", 0x200, 0x10, 0x12, 1 },
		{ "undefined", 0x300, 0x10, 0x12, 0 },
		{ "data", 0x310, 0x10, 0x11, 1 },
		{ "sizeless", 0x320, 0, 0x12, 1 },
		{ "ifunc", 0x330, 4, 0x1a, 1 },
		{ "top", 0xfffffff0, 0xff, 0x12, 1 }, /* wraps in ELF32 */
		{ "left", 0x400, 0x20, 0x12, 1 },
		{ "right", 0x410, 0x20, 0x12, 1 }, /* overlaps, same size */
	};
	static const struct {
		uint64_t at;
		const char *want;
	} rows[] = {
		{ 0xff, NULL },        { 0x100, "outer" }, { 0x13f, "outer" },
		{ 0x140, "inner" },    { 0x14f, "inner" }, { 0x150, "outer" },
		{ 0x1ff, "outer" },    { 0x200, "yy" },    { 0x20f, "yy" },
		{ 0x210, NULL },       { 0x300, NULL },    { 0x310, NULL },
		{ 0x320, NULL },       { 0x333, "ifunc" }, { 0x334, NULL },
		{ 0x408, "left" },     { 0x418, "left" },  { 0x428, "right" },
		{ 0xffffffff, "top" },
	};

	for (unsigned k = 0; k < 4; k++) {
		struct img im = { .word = k & 1 ? 4 : 8,
			          .order = k & 2 ? DP_LE : DP_BE,
			          .type = ET_DYN };
		static const uint64_t none[] = { 0, 0 };
		struct dp_err e = DP_ERR_INIT;
		struct dp_buf out = { 0 };
		struct img_sec *s, *str;
		struct dp_funcs f;
		struct dp_elf elf;
		struct dp_src src;

		s = add_sec(&im, ".dynsym", SHT_DYNSYM, 2, 0);
		str = add_sec(&im, ".dynstr", SHT_STRTAB, 2, 0);
		s->link = 2;
		put_sym(&s->data, &im, 0, 0, 0, none);
		must(dp_buf_add(&str->data, "", 1));
		for (size_t i = 0; i < sizeof syms / sizeof syms[0]; i++) {
			uint64_t v[] = { syms[i].addr, syms[i].size };

			put_sym(&s->data, &im, (uint32_t)str->data.n,
			        syms[i].info, syms[i].shndx, v);
			must(dp_buf_add(&str->data, syms[i].name,
			                strlen(syms[i].name) + 1));
		}
		make_elf(&im, &out);
		src = dp_src_mem(dp_buf_bytes(&out));
		ck_ok(dp_elf_open(&elf, &src, &e), e);
		ck_ok(dp_funcs_load(&f, &elf, NULL, &e), e);
		ck_assert_uint_eq(f.from.sources, DP_SYMS_DYNSYM);
		for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
			const struct dp_func *fn =
				dp_funcs_find(&f, 0, rows[i].at);

			if (rows[i].want == NULL)
				ck_assert_msg(fn == NULL, "row %zu", i);
			else
				ck_assert_msg(fn != NULL &&
				                      dp_bytes_is(fn->name,
				                                  rows[i].want),
				              "row %zu", i);
		}
		ck_assert_ptr_null(dp_funcs_find(&f, 1, 0x100));
		dp_funcs_deinit(&f);
		dp_elf_close(&elf);
		dp_buf_deinit(&out);
	}
}
END_TEST

START_TEST(test_relocatable)
{
	const char *path = corpus("sdt/main.x86_64.o");
	struct dp_err e = DP_ERR_INIT;
	const struct dp_elf_sec *text;
	struct dp_funcs f;
	struct dp_elf elf;
	unsigned n = 0;
	int fd;

	if (path == NULL)
		return;
	open_elf(&elf, path, &fd);
	ck_ok(dp_funcs_load(&f, &elf, NULL, &e), e);
	text = dp_elf_sec_named(&elf, ".text");
	ck_assert_ptr_nonnull(text);
	for (size_t i = 0; i < f.v.n; i++) {
		const struct dp_func *fn = DP_VEC_AT(&f.v, struct dp_func, i);

		n += fn->sec == text->index;
		ck_assert_ptr_eq(dp_funcs_find(&f, fn->sec, fn->addr), fn);
		ck_assert_ptr_null(dp_funcs_find(&f, 0, fn->addr));
	}
	ck_assert_uint_gt(n, 0);
	dp_funcs_deinit(&f);
	dp_elf_close(&elf);
	(void)close(fd);
}
END_TEST

static const char prog_src[] =
	"int shared_name; static int twin(int x) { return x + 1; }\n"
	"__thread int tls_var = 5; int zero; int data_var = 7;\n"
	"extern int alias_var __attribute__((alias(\"data_var\")));\n"
	"__attribute__((noinline)) static int hidden_fn(int x)\n"
	"{ return twin(x) * 3; }\n"
	"int (*volatile keep)(int) = hidden_fn;\n"
	"int main(void) { return keep(1) + tls_var + zero; }\n";

/* Build prog, prog.debug with a link to it, and a packed one. */
static bool
build_prog(const char *dir)
{
	if (!have("gcc objcopy nm xz strip"))
		return false;
	if (!sh("rm -rf %s/* %s/.debug", dir, dir))
		return false;
	write_file(tmp_path("prog.c"), prog_src, sizeof prog_src - 1);
	return sh("cd %s && gcc -O1 -g -Wl,--build-id -o whole prog.c && "
	          "objcopy --only-keep-debug whole prog.debug && "
	          "cp whole prog && strip -s prog && "
	          "objcopy --keep-symbol=hidden_fn --keep-symbol=main "
	          "--strip-debug whole mini && xz -9 -k -f mini && "
	          "cp prog packed && "
	          "objcopy --add-section .gnu_debugdata=mini.xz packed && "
	          "objcopy --add-gnu-debuglink=prog.debug prog && "
	          "cp prog prog.noid && "
	          "objcopy --remove-section .note.gnu.build-id prog.noid",
	          dir);
}

/* The address of a symbol as nm has it. */
static uint64_t
addr_of(const char *file, const char *name)
{
	FILE *f = run("nm %s | grep ' %s$'", file, name);
	unsigned long v = 0;

	must(f != NULL && fscanf(f, "%lx", &v) == 1);
	(void)pclose(f);
	return v;
}

/* The name that hidden_fn's code gets, and where it came from. */
static unsigned
find_hidden(const char *file, const struct dp_debugwhere *where, bool *found)
{
	struct dp_err e = DP_ERR_INIT;
	const struct dp_func *fn;
	struct dp_funcs f;
	struct dp_elf elf;
	unsigned sources;
	int fd;

	open_elf(&elf, file, &fd);
	ck_ok(dp_funcs_load(&f, &elf, where, &e), e);
	fn = dp_funcs_find(&f, 0, addr_of(tmp_path("whole"), "hidden_fn") + 1);
	*found = fn != NULL && dp_bytes_is(fn->name, "hidden_fn");
	sources = f.from.sources & ~(unsigned)DP_SYMS_DYNSYM;
	dp_funcs_deinit(&f);
	dp_elf_close(&elf);
	(void)close(fd);
	return sources;
}

/* hidden_fn is found, and there. */
#define expect(file, where, source)                                            \
	do {                                                                   \
		bool found_;                                                   \
                                                                               \
		ck_assert_uint_eq(find_hidden(tmp_path(file), where, &found_), \
		                  source);                                     \
		ck_assert(found_ == ((source) != 0));                          \
	} while (0)

START_TEST(test_debug_link)
{
	struct dp_debugwhere w = DP_DEBUGWHERE_NONE;
	const char *dir = tmp_dir();
	char debug[300];

	if (!build_prog(dir))
		return;
	(void)snprintf(debug, sizeof debug, "%s/debugroot", dir);
	expect("whole", NULL, DP_SYMS_SYMTAB);
	expect("prog", NULL, 0);
	expect("prog", &w, 0);
	w.object_dir = dir;
	expect("prog", &w, DP_SYMS_DEBUGFILE);
	expect("prog.noid", &w, DP_SYMS_DEBUGFILE);
	/* .debug under the folder */
	ck_assert(sh("cd %s && mkdir .debug && mv prog.debug .debug/", dir));
	expect("prog.noid", &w, DP_SYMS_DEBUGFILE);
	/* the folder's name under debug_dir */
	ck_assert(sh("cd %s && mkdir -p debugroot%s && mv .debug/prog.debug "
	             "debugroot%s/",
	             dir, dir, dir));
	expect("prog.noid", &w, 0);
	w.debug_dir = debug;
	expect("prog.noid", &w, DP_SYMS_DEBUGFILE);
	/* one byte more: the CRC does not fit */
	ck_assert(sh("printf x >>%s/debugroot%s/prog.debug", dir, dir));
	expect("prog.noid", &w, 0);
	expect("prog", &w, 0);
	/* a FIFO must not block, a folder is no file */
	ck_assert(sh("cd %s && mkfifo prog.debug && mkdir .debug/prog.debug",
	             dir));
	expect("prog.noid", &w, 0);
}
END_TEST

/* A debug file is read whole for its CRC, up to a size. */
START_TEST(test_debug_link_limit)
{
	struct dp_debugwhere w = DP_DEBUGWHERE_NONE;
	const char *dir = tmp_dir();

	if (!build_prog(dir))
		return;
	w.object_dir = dir;
	for (int past = 0; past < 2; past++) {
		ck_assert(
			sh("cd %s && truncate -s %d prog.debug && "
		           "objcopy --remove-section .gnu_debuglink prog p && "
		           "objcopy --add-gnu-debuglink=prog.debug p",
		           dir, (int)DP_MAX_DEBUGFILE + past));
		expect("p", &w, past ? 0 : DP_SYMS_DEBUGFILE);
	}
}
END_TEST

START_TEST(test_build_id_file)
{
	struct dp_debugwhere w = DP_DEBUGWHERE_NONE;
	const char *dir = tmp_dir();
	char debug[300], root[300];
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf id = { 0 }, hex = { 0 };
	struct dp_elf elf;
	int fd;

	if (!build_prog(dir))
		return;
	open_elf(&elf, tmp_path("prog"), &fd);
	ck_ok(dp_elf_build_id(&elf, &id, &e), e);
	dp_elf_close(&elf);
	(void)close(fd);
	ck_assert_uint_eq(id.n, 20);
	must(dp_buf_printf(&hex, "%02x/", id.p[0]));
	for (size_t i = 1; i < id.n; i++)
		must(dp_buf_printf(&hex, "%02x", id.p[i]));
	(void)snprintf(debug, sizeof debug, "%s/dd", dir);
	(void)snprintf(root, sizeof root, "%s/root", dir);
	ck_assert(sh("cd %s && mkdir -p dd/.build-id/%.2s root/dd && "
	             "mv prog.debug dd/.build-id/%s.debug",
	             dir, (char *)hex.p, (char *)hex.p));
	w.debug_dir = debug;
	expect("prog", &w, DP_SYMS_DEBUGFILE);
	expect("packed", &w, DP_SYMS_DEBUGFILE);
	/* another program's symbols at that place */
	ck_assert(
		sh("cd %s && mv dd/.build-id/%s.debug keep && "
	           "gcc -Wl,--build-id -DOTHER -g -O0 -o dd/.build-id/%s.debug "
	           "prog.c",
	           dir, (char *)hex.p, (char *)hex.p));
	expect("prog", &w, 0);
	/* under the root of another mount namespace, through a link in it */
	ck_assert(sh("cd %s && mv keep dd/.build-id/%s.debug && "
	             "mv dd/.build-id root/dd/id && ln -s /dd/id "
	             "root/dd/.build-id && rmdir dd",
	             dir, (char *)hex.p));
	w.debug_dir = "/dd";
	expect("prog", &w, 0);
	w.root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(w.root_fd, 0);
	expect("prog", &w, DP_SYMS_DEBUGFILE);
	(void)close(w.root_fd);
	dp_buf_deinit(&id);
	dp_buf_deinit(&hex);
}
END_TEST

START_TEST(test_debugdata)
{
	struct dp_err e = DP_ERR_INIT;
	const char *dir = tmp_dir();
	struct dp_funcs f;
	struct dp_elf elf;
	int fd;

	if (!build_prog(dir))
		return;
	expect("packed", NULL, DP_SYMS_DEBUGDATA);
	/* cut in the middle: noted, and the rest goes on */
	ck_assert(sh("cd %s && head -c 200 mini.xz >cut.xz && cp prog cut && "
	             "objcopy --add-section .gnu_debugdata=cut.xz cut",
	             dir));
	open_elf(&elf, tmp_path("cut"), &fd);
	ck_ok(dp_funcs_load(&f, &elf, NULL, &e), e);
	ck_assert_int_eq(f.from.trouble.code, DP_EFORMAT);
	dp_funcs_deinit(&f);
	dp_elf_close(&elf);
	(void)close(fd);
}
END_TEST

/* 256 MiB of zeros pack into 40 KB; one byte more is over the limit. */
START_TEST(test_debugdata_limit)
{
	struct dp_err e = DP_ERR_INIT;
	const char *dir = tmp_dir();
	struct dp_buf b = { 0 };

	if (!have("gcc objcopy xz head"))
		return;
	ck_assert(sh("cd %s && head -c %d /dev/zero | xz -0 >z.xz && "
	             "echo 'int main(void){return 0;}' >z.c && gcc -s -o z z.c "
	             "&& objcopy --add-section .gnu_debugdata=z.xz z",
	             dir, DP_MAX_DEBUGDATA + 1));
	{
		struct dp_elf elf;
		int fd;

		open_elf(&elf, tmp_path("z"), &fd);
		ck_assert(!dp_debugdata_read(&elf, &b, &e));
		ck_assert_int_eq(e.code, DP_ELIMIT);
		ck_assert_uint_eq(b.n, 0);
		dp_elf_close(&elf);
		(void)close(fd);
	}
	dp_buf_deinit(&b);
}
END_TEST

START_TEST(test_names)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_symnames s;
	struct dp_symval v;
	struct dp_elf elf;
	int fd;

	if (!build_prog(tmp_dir()))
		return;
	open_elf(&elf, tmp_path("whole"), &fd);
	ck_ok(dp_symnames_load(&s, &elf, NULL, &e), e);
	ck_assert_uint_eq(s.from.sources, DP_SYMS_SYMTAB);
	v = dp_symnames_find(&s, dp_cstr("data_var"));
	ck_assert_uint_eq(v.n, 1);
	ck_assert_uint_eq(v.type, STT_OBJECT);
	ck_assert_uint_eq(v.value, addr_of(tmp_path("whole"), "data_var"));
	ck_assert_uint_eq(dp_symnames_find(&s, dp_cstr("alias_var")).value,
	                  v.value);
	v = dp_symnames_find(&s, dp_cstr("tls_var"));
	ck_assert_uint_eq(v.n, 1);
	ck_assert_uint_eq(v.type, STT_TLS);
	ck_assert_uint_eq(v.value, 0);
	v = dp_symnames_find(&s, dp_cstr("hidden_fn"));
	ck_assert_uint_eq(v.type, STT_FUNC);
	ck_assert_uint_eq(dp_symnames_find(&s, dp_cstr("data_va")).n, 0);
	ck_assert_uint_eq(dp_symnames_find(&s, dp_cstr("")).n, 0);
	dp_symnames_deinit(&s);
	dp_elf_close(&elf);
	(void)close(fd);
}
END_TEST

/* Two statics of one name; the same symbol twice; versions. */
START_TEST(test_ambiguous)
{
	static const struct {
		const char *name;
		uint64_t value;
		unsigned info, shndx;
	} syms[] = {
		{ "ti", 0x10, 0x01, 1 },    { "ti", 0x20, 0x01, 1 },
		{ "same", 0x30, 0x11, 1 },  { "same", 0x30, 0x01, 1 },
		{ "v@@V1", 0x40, 0x11, 1 }, { "tls", 0x50, 0x16, 2 },
		{ "tls", 0x50, 0x11, 1 },   { "und", 0x60, 0x11, 0 },
		{ "sec", 0x70, 0x03, 1 },   { "same2", 0x30, 0x11, 1 },
		{ "same2", 0x30, 0x11, 2 },
	};
	static const struct {
		const char *name;
		unsigned n, n_rel;
		uint64_t value;
	} rows[] = {
		{ "ti", 2, 2, 0x10 },  { "same", 1, 1, 0x30 },
		{ "v", 1, 1, 0x40 },   { "v@@V1", 0, 0, 0 },
		{ "tls", 2, 2, 0x50 }, { "und", 0, 0, 0 },
		{ "sec", 0, 0, 0 },    { "same2", 1, 2, 0x30 },
	};

	for (unsigned rel = 0; rel < 2; rel++) {
		struct img im = { .word = 8,
			          .order = DP_BE,
			          .type = rel ? ET_REL : ET_DYN };
		static const uint64_t none[] = { 0, 0 };
		struct dp_err e = DP_ERR_INIT;
		struct dp_buf out = { 0 };
		struct img_sec *s, *str;
		struct dp_symnames names;
		struct dp_elf elf;
		struct dp_src src;

		s = add_sec(&im, ".symtab", SHT_SYMTAB, 0, 0);
		str = add_sec(&im, ".strtab", SHT_STRTAB, 0, 0);
		s->link = 2;
		put_sym(&s->data, &im, 0, 0, 0, none);
		must(dp_buf_add(&str->data, "", 1));
		for (size_t i = 0; i < sizeof syms / sizeof syms[0]; i++) {
			uint64_t v[] = { syms[i].value, 4 };

			put_sym(&s->data, &im, (uint32_t)str->data.n,
			        syms[i].info, syms[i].shndx, v);
			must(dp_buf_add(&str->data, syms[i].name,
			                strlen(syms[i].name) + 1));
		}
		make_elf(&im, &out);
		src = dp_src_mem(dp_buf_bytes(&out));
		ck_ok(dp_elf_open(&elf, &src, &e), e);
		ck_ok(dp_symnames_load(&names, &elf, NULL, &e), e);
		for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
			struct dp_symval v =
				dp_symnames_find(&names, dp_cstr(rows[i].name));

			ck_assert_msg(v.n == (rel ? rows[i].n_rel : rows[i].n),
			              "row %zu: %u", i, v.n);
			if (v.n == 1)
				ck_assert_uint_eq(v.value, rows[i].value);
		}
		dp_symnames_deinit(&names);
		dp_elf_close(&elf);
		dp_buf_deinit(&out);
	}
}
END_TEST

/* Descriptors of 64-bit PowerPC: an object by clang, an image by hand. */
START_TEST(test_opd)
{
	static const char src_c[] = "int one(int x) { return x * 3 + 1; }\n"
				    "int two(int x) { return one(x) - 5; }\n";
	const char *obj = tmp_path("opd.o");
	struct dp_err e = DP_ERR_INIT;
	const struct dp_elf_sec *text;
	const struct dp_func *fn;
	struct dp_funcs f;
	struct dp_elf elf;
	int fd;

	if (!have("clang"))
		return;
	write_file(tmp_path("opd.c"), src_c, sizeof src_c - 1);
	if (!sh("cd %s && clang --target=powerpc64-linux-gnu -O1 -c opd.c "
	        "2>/dev/null",
	        tmp_dir())) {
		printf("skip: clang does not know powerpc64\n");
		return;
	}
	open_elf(&elf, obj, &fd);
	ck_assert_ptr_nonnull(dp_elf_sec_named(&elf, ".opd"));
	text = dp_elf_sec_named(&elf, ".text");
	ck_ok(dp_funcs_load(&f, &elf, NULL, &e), e);
	ck_assert_uint_eq(f.v.n, 2);
	fn = dp_funcs_find(&f, text->index, 0);
	ck_assert_ptr_nonnull(fn);
	ck_assert(dp_bytes_is(fn->name, "one"));
	fn = dp_funcs_find(&f, text->index, text->size - 4);
	ck_assert(fn == NULL || dp_bytes_is(fn->name, "two"));
	ck_assert_uint_gt(DP_VEC_AT(&f.v, struct dp_func, 1)->addr, 0);
	dp_funcs_deinit(&f);
	dp_elf_close(&elf);
	(void)close(fd);
}
END_TEST

START_TEST(test_opd_linked)
{
	struct img im = { .word = 8,
		          .order = DP_BE,
		          .type = ET_DYN,
		          .machine = EM_PPC64,
		          .flags = 1 };
	static const uint64_t none[] = { 0, 0 };
	static const uint64_t fns[][2] = {
		{ 0x20000, 0x40 }, /* in place */
		{ 0x20018, 0x40 }, /* a RELATIVE relocation, 0 in place */
		{ 0x20030, 0x40 }, /* 0: nobody knows */
		{ 0x2003c, 0x40 }, /* half outside */
		{ 0x10500, 0x40 }, /* code, not a descriptor */
	};
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf out = { 0 };
	const struct dp_func *fn;
	struct img_sec *s;
	struct dp_funcs f;
	struct dp_elf elf;
	struct dp_src src;

	s = add_sec(&im, ".symtab", SHT_SYMTAB, 0, 0);
	s->link = 2;
	put_sym(&s->data, &im, 0, 0, 0, none);
	for (unsigned i = 0; i < 5; i++)
		put_sym(&s->data, &im, 1 + 2 * i, 0x12, 3, fns[i]);
	s = add_sec(&im, ".strtab", SHT_STRTAB, 0, 0);
	must(dp_buf_add(&s->data, "\0a\0b\0c\0d\0e", 11));
	s = add_sec(&im, ".opd", SHT_PROGBITS, 3, 0x20000);
	put(&s->data, im.order, 0x10100, 8);
	for (unsigned i = 0; i < 7; i++)
		put(&s->data, im.order, 0, 8);
	s = add_sec(&im, ".rela.dyn", SHT_RELA, 2, 0);
	put(&s->data, im.order, 0x20018, 8);
	put(&s->data, im.order, R_PPC64_RELATIVE, 8);
	put(&s->data, im.order, 0x10300, 8);
	make_elf(&im, &out);
	src = dp_src_mem(dp_buf_bytes(&out));
	ck_ok(dp_elf_open(&elf, &src, &e), e);
	ck_ok(dp_funcs_load(&f, &elf, NULL, &e), e);
	ck_assert_uint_eq(f.v.n, 3);
	fn = dp_funcs_find(&f, 0, 0x10110);
	ck_assert(fn != NULL && dp_bytes_is(fn->name, "a"));
	fn = dp_funcs_find(&f, 0, 0x1033f);
	ck_assert(fn != NULL && dp_bytes_is(fn->name, "b"));
	fn = dp_funcs_find(&f, 0, 0x10500);
	ck_assert(fn != NULL && dp_bytes_is(fn->name, "e"));
	ck_assert_ptr_null(dp_funcs_find(&f, 0, 0x20000));
	dp_funcs_deinit(&f);
	dp_elf_close(&elf);
	dp_buf_deinit(&out);
}
END_TEST

/*
 * 300,000 functions, all over one place, with names that share 100 bytes:
 * loading and 100,000 look-ups must take seconds at most.
 */
START_TEST(test_hostile_size)
{
	struct img im = { .word = 8, .order = DP_LE, .type = ET_DYN };
	struct dp_err e = DP_ERR_INIT;
	struct dp_symnames names;
	struct dp_buf out = { 0 };
	struct img_sec *s, *str;
	struct dp_funcs f;
	struct dp_elf elf;
	struct dp_src src;
	const unsigned n = 300000;

	s = add_sec(&im, ".symtab", SHT_SYMTAB, 0, 0);
	str = add_sec(&im, ".strtab", SHT_STRTAB, 0, 0);
	s->link = 2;
	for (unsigned i = 0; i < 1000; i++)
		must(dp_buf_add(&str->data, i ? "a" : "", 1));
	must(dp_buf_add(&str->data, "", 1));
	for (unsigned i = 0; i < n; i++) {
		uint64_t v[] = { i, 2 * (n - i) };

		put_sym(&s->data, &im, 1 + i % 900, 0x12, 1, v);
	}
	make_elf(&im, &out);
	src = dp_src_mem(dp_buf_bytes(&out));
	ck_ok(dp_elf_open(&elf, &src, &e), e);
	ck_ok(dp_funcs_load(&f, &elf, NULL, &e), e);
	ck_assert_uint_eq(f.v.n, n);
	for (unsigned i = 0; i < 100000; i++)
		must(dp_funcs_find(&f, 0, i * 3) != NULL);
	dp_funcs_deinit(&f);
	ck_ok(dp_symnames_load(&names, &elf, NULL, &e), e);
	for (unsigned i = 0; i < 100000; i++)
		must(dp_symnames_find(&names, dp_cstr("aaaaaaaaaaaaaaaaaaaa"))
		             .n == 0);
	dp_symnames_deinit(&names);
	dp_elf_close(&elf);
	dp_buf_deinit(&out);
}
END_TEST

/* A table over the limit, and one that is cut: noted, not fatal. */
START_TEST(test_limits)
{
	for (unsigned over = 0; over < 2; over++) {
		struct img im = { .word = 8, .order = DP_LE, .type = ET_DYN };
		struct dp_err e = DP_ERR_INIT;
		struct dp_buf out = { 0 };
		struct img_sec *s;
		struct dp_funcs f;
		struct dp_elf elf;
		struct dp_src src;

		s = add_sec(&im, ".symtab", SHT_SYMTAB, 0, 0);
		s->nobits = (uint64_t)DP_MAX_SYMTAB + over;
		make_elf(&im, &out);
		src = dp_src_mem(dp_buf_bytes(&out));
		ck_ok(dp_elf_open(&elf, &src, &e), e);
		ck_ok(dp_funcs_load(&f, &elf, NULL, &e), e);
		ck_assert_int_eq(f.from.trouble.code,
		                 over ? DP_ELIMIT : DP_EFORMAT);
		dp_funcs_deinit(&f);
		dp_elf_close(&elf);
		dp_buf_deinit(&out);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("elf_symbols");
	TCase *t = tcase_create("symbols");

	(void)tmp_dir();
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_pcs);
	tcase_add_test(t, test_thumb);
	tcase_add_test(t, test_merit);
	tcase_add_test(t, test_relocatable);
	tcase_add_test(t, test_debug_link);
	tcase_add_test(t, test_debug_link_limit);
	tcase_add_test(t, test_build_id_file);
	tcase_add_test(t, test_debugdata);
	tcase_add_test(t, test_debugdata_limit);
	tcase_add_test(t, test_names);
	tcase_add_test(t, test_ambiguous);
	tcase_add_test(t, test_opd);
	tcase_add_test(t, test_opd_linked);
	tcase_add_test(t, test_hostile_size);
	tcase_add_test(t, test_limits);
	suite_add_tcase(s, t);
	return run_suite(s);
}
