/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The limits of lib/base/limits.h that only whole programs and the
 * extractor meet, at the limit and one past it, and a check that every
 * limit is tested somewhere.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "dofmake.h"
#include "elf/gate.h"
#include "extract/walk.h"
#include "streams.h"

/*
 * Where each limit is tested:
 *
 *   DP_MAX_RECORD DP_MAX_JSON_LINE          test_reader
 *   DP_MAX_STR                              test_record, and here in a file
 *   DP_MAX_DOF_SIZE DP_MAX_DOF_SECS         test_dof
 *   DP_MAX_DOF_SITES                        test_dof (relocations),
 *                                           test_parse_dof (sites)
 *   DP_MAX_DOF_TYPES                        test_parse_dof
 *   DP_MAX_DOF_NAME DP_MAX_DOF_FUNC
 *   DP_MAX_DOF_TYPE                         test_dofprobe
 *   DP_MAX_NOTE_DESC DP_MAX_NOTES           test_sdt, and here in a file;
 *                                           test_parse_notes in a stream
 *   DP_MAX_ARGS                             test_argspec, test_parse_notes
 *   DP_MAX_USDT_PROBES                      test_usdtnote
 *   DP_MAX_ELF_SECS DP_MAX_SCAN             test_elf_gate
 *   DP_MAX_ELF_PHDRS DP_MAX_ELF_SECTION     test_elf_object
 *   DP_MAX_SYMTAB DP_MAX_DEBUGDATA          test_elf_symbols
 *   DP_MAX_AR_MEMBERS                       test_elf_archive
 *   DP_MAX_FAT_ARCHS DP_MAX_MACHO_CMDS      test_macho
 *   DP_MAX_MAPS DP_MAX_MEMSCAN              test_proc
 *   DP_MAX_PATH                             test_proc, and here in a list
 *   DP_MAX_SEGMENTS DP_MAX_RAW_BYTES
 *   DP_MAX_DEPTH DP_MAX_THREADS
 *   DP_MAX_STDIN                            here
 */

/* What was complained of, and what came out. */
struct seen {
	uint64_t objects, found, files;
	unsigned errors;
	struct dp_err first;
	uint32_t counts[DP_REC_MAX + 1]; /* of the last object */
};

static void
note_error(void *ctx, struct dp_bytes input, const struct dp_err *what)
{
	struct seen *s = ctx;

	(void)input;
	if (s->errors++ == 0)
		s->first = *what;
}

/* Read one file; objects without probes are written, too. */
static void
extract(int fd, struct seen *s)
{
	const struct dp_extract_opts opts = { .sources = DP_EXTRACT_ALL,
		                              .empty = true,
		                              .complain = note_error,
		                              .ctx = s };
	uint8_t head[DP_GATE_HEAD];
	struct dp_extract_input in = {
		.path = LIT("f"), .fd = fd, .named = true, .root_fd = AT_FDCWD
	};
	const struct dp_rec_end end = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_extractor *x;
	struct dp_buf out = { 0 };
	struct dp_writer w;
	ssize_t n = pread(fd, head, sizeof head, 0);

	memset(s, 0, sizeof *s);
	ck_assert_int_gt(n, 0);
	in.head = (struct dp_bytes){ head, (size_t)n };
	dp_writer_init(&w, (struct dp_sink){ buf_sink, &out }, false);
	ck_ok(dp_put_stream_header(&w, DPR_STAGE_EXTRACT, "t", &e), e);
	x = dp_extractor_create(&opts, &w);
	ck_assert_ptr_nonnull(x);
	ck_assert_msg(dp_extract_file(x, &in, &e),
	              "bad contents must not stop the stream: %s", e.msg);
	memcpy(s->counts, w.counts, sizeof s->counts);
	s->objects = w.objects;
	ck_assert_uint_eq(dp_extractor_errors(x), s->errors);
	ck_ok(dp_put_end(&w, &end, &e) && dp_writer_flush(&w, &e), e);
	check_readable(dp_buf_bytes(&out));
	dp_extractor_destroy(x);
	dp_writer_deinit(&w);
	dp_buf_deinit(&out);
}

static void
ck_limit(const struct seen *s, const char *what)
{
	ck_assert_uint_eq(s->errors, 1);
	ck_assert_msg(s->first.code == DP_ELIMIT &&
	                      strstr(s->first.msg, what) != NULL,
	              "%s", s->first.msg);
}

/* A section of a sparse file. */
struct part {
	uint32_t name; /* in part_names */
	uint32_t type;
	uint64_t off, size;
	uint32_t link;
};

enum { NAME_DOF = 1, NAME_SDT = 11, NAME_STR = 25, HEADS_AT = 4096 };

static const char part_names[] = "\0.SUNW_dof\0.note.stapsdt\0.shstrtab";

static void
put_at(int fd, const void *p, size_t n, uint64_t off)
{
	ck_assert_int_eq(pwrite(fd, p, n, (off_t)off), (ssize_t)n);
}

/*
 * An ELF in memory: file header, section headers at HEADS_AT, data where
 * the parts say; what nobody writes is zeros and takes no room.
 */
static int
sparse_elf(const struct part *parts, unsigned n, uint64_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
		                      ELFDATA2LSB, EV_CURRENT },
		         .e_type = ET_DYN,
		         .e_machine = EM_X86_64,
		         .e_version = EV_CURRENT,
		         .e_ehsize = sizeof h,
		         .e_phentsize = sizeof(Elf64_Phdr),
		         .e_shoff = HEADS_AT,
		         .e_shentsize = sizeof(Elf64_Shdr),
		         .e_shnum = (uint16_t)(n + 2),
		         .e_shstrndx = (uint16_t)(n + 1) };
	Elf64_Shdr s = { .sh_name = NAME_STR,
		         .sh_type = SHT_STRTAB,
		         .sh_offset = 512,
		         .sh_size = sizeof part_names };

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	put_at(fd, &h, sizeof h, 0);
	put_at(fd, part_names, sizeof part_names, 512);
	put_at(fd, &s, sizeof s, HEADS_AT + (n + 1) * sizeof s);
	for (unsigned i = 0; i < n; i++) {
		s = (Elf64_Shdr){ .sh_name = parts[i].name,
			          .sh_type = parts[i].type,
			          .sh_offset = parts[i].off,
			          .sh_size = parts[i].size,
			          .sh_link = parts[i].link,
			          .sh_entsize = sizeof(Elf64_Sym),
			          .sh_addralign = 4 };
		put_at(fd, &s, sizeof s, HEADS_AT + (i + 1) * sizeof s);
	}
	return fd;
}

/* A small DOF that is a good one. */
static void
good_dof(struct dp_buf *b)
{
	static const uint8_t strs[] = "\0p\0f";
	static const uint32_t offs[] = { 4 };
	const struct mk_probe p = {
		.addr = 0x1000, .func = 3, .name = 3, .noffs = 1
	};
	const struct mk_prov pv = { 1, &p, 1, DP_DOF_REL_SETX };
	const struct mk_dof d = { .order = DP_LE,
		                  .version = 3,
		                  .strs = { strs, sizeof strs },
		                  .offs = offs,
		                  .noffs = 1,
		                  .provs = &pv,
		                  .nprovs = 1 };

	mk_dof(b, &d);
}

/* A good stapsdt note, header and all. */
static const uint8_t sdt_note[] = {
	8,   0,   0,   0,   31,  0,   0,   0, 3,    0,   0, 0, 's',
	't', 'a', 'p', 's', 'd', 't', 0,   0, 0x10, 0,   0, 0, 0,
	0,   0,   0,   0,   0,   0,   0,   0, 0,    0,   0, 0, 0,
	0,   0,   0,   0,   0,   'p', 'r', 0, 'n',  'm', 0, 0, 0,
};

enum { SEGMENTS_AT = 8192 };

static int
elf_with_segments(unsigned n)
{
	int fd = sparse_elf(NULL, 0, SEGMENTS_AT + n * sizeof(Elf64_Phdr));
	Elf64_Ehdr h;

	ck_assert_int_eq(pread(fd, &h, sizeof h, 0), sizeof h);
	h.e_phoff = SEGMENTS_AT;
	h.e_phnum = (uint16_t)n;
	put_at(fd, &h, sizeof h, 0);
	for (unsigned i = 0; i < n; i++) {
		const Elf64_Phdr p = { .p_type = i % 2 ? PT_LOAD : PT_TLS,
			               .p_vaddr = 0x1000 * i };

		put_at(fd, &p, sizeof p, SEGMENTS_AT + i * sizeof p);
	}
	return fd;
}

START_TEST(segments)
{
	for (unsigned past = 0; past < 2; past++) {
		int fd = elf_with_segments(DP_MAX_SEGMENTS + past);
		struct seen s;

		extract(fd, &s);
		ck_assert_uint_eq(s.counts[DP_REC_SEGMENT], DP_MAX_SEGMENTS);
		ck_assert_uint_eq(s.objects, 1);
		if (past)
			ck_limit(&s, "more than 2048 segments");
		else
			ck_assert_uint_eq(s.errors, 0);
		(void)close(fd);
	}
}
END_TEST

/* The parser keeps as many of a stream. */
START_TEST(segments_in_a_stream)
{
	struct dp_buf b = { 0 };
	struct lab l;

	good_dof(&b);
	for (unsigned past = 0; past < 2; past++) {
		lab_open(&l, &(struct dp_rec_object){ .format = DPR_FORMAT_ELF,
		                                      .class = 64,
		                                      .e_type = ET_EXEC,
		                                      .machine = EM_X86_64 });
		for (unsigned i = 1; i < DP_MAX_SEGMENTS + past; i++)
			PUT(&l, SEGMENT, segment, .p_type = PT_LOAD,
			    .vaddr = 0x100000 + 0x1000 * i, .memsz = 0x1000);
		PUT(&l, SEGMENT, segment, .p_type = PT_LOAD, .vaddr = 0x1000,
		    .memsz = 0x1000, .filesz = 0x1000, .flags = PF_X);
		PUT(&l, RAWDOF, rawdof, .bytes = dp_buf_bytes(&b));
		lab_close(&l);
		ck_assert_uint_eq(count_of(&l, DP_REC_SEGMENT),
		                  DP_MAX_SEGMENTS + past);
		ck_assert_int_eq(NTH(&l, SITE, site, 0)->attachable, !past);
		lab_free(&l);
	}
	dp_buf_deinit(&b);
}
END_TEST

/* Sections as large as they may be, until they are too much in all. */
START_TEST(raw_bytes)
{
	const uint64_t data_at = 65536;
	struct part p[6];
	struct dp_buf b = { 0 };
	struct seen s;
	int fd;

	good_dof(&b);
	for (unsigned i = 0; i < 4; i++)
		p[i] = (struct part){ NAME_DOF, 0x6ffffff4, data_at,
			              DP_MAX_ELF_SECTION, 0 };
	p[4] = (struct part){ NAME_DOF, 0x6ffffff4, data_at, 8, 0 };
	ck_assert_uint_eq(4 * (uint64_t)DP_MAX_ELF_SECTION, DP_MAX_RAW_BYTES);
	for (unsigned past = 0; past < 2; past++) {
		fd = sparse_elf(p, 4 + past, data_at + DP_MAX_ELF_SECTION);
		put_at(fd, b.p, b.n, data_at + DP_MAX_ELF_SECTION - b.n);
		extract(fd, &s);
		ck_assert_uint_eq(s.objects, 1);
		if (past)
			ck_limit(&s, "raw sections");
		else
			ck_assert_msg(s.errors == 0, "%s", s.first.msg);
		(void)close(fd);
	}
	dp_buf_deinit(&b);
}
END_TEST

/*
 * What begins like a DOF and is broken may be as large as its section, and
 * larger than any record: it is refused, what is beside it is not.
 */
START_TEST(dof_larger_than_a_record)
{
	const uint64_t data_at = 65536, size = DP_MAX_RECORD + 65536;
	struct part p[2] = { { NAME_DOF, 0x6ffffff4, data_at, size, 0 },
		             { NAME_DOF, 0x6ffffff4, data_at + size, 0, 0 } };
	struct dp_buf b = { 0 };
	struct seen s;
	int fd;

	good_dof(&b);
	p[1].size = b.n;
	fd = sparse_elf(p, 2, data_at + size + b.n);
	put_at(fd, "\177DOF\xff", 5, data_at);
	put_at(fd, b.p, b.n, data_at + size);
	extract(fd, &s);
	ck_assert_uint_eq(s.objects, 1);
	ck_limit(&s, "bytes");
	ck_assert_uint_eq(s.counts[DP_REC_RAWDOF], 1);
	(void)close(fd);
	dp_buf_deinit(&b);
}
END_TEST

START_TEST(note_desc)
{
	const uint64_t data_at = 65536;

	for (uint32_t past = 0; past < 2; past++) {
		const uint32_t n = DP_MAX_NOTE_DESC + past;
		const uint64_t next = data_at + 20 + ((n + 3) & ~3U);
		const struct part p = { NAME_SDT, SHT_NOTE, data_at,
			                next - data_at + sizeof sdt_note, 0 };
		int fd = sparse_elf(&p, 1, next + sizeof sdt_note);
		struct seen s;

		put_at(fd, sdt_note, sizeof sdt_note, data_at);
		put_at(fd, &n, 4, data_at + 4);
		put_at(fd, sdt_note, sizeof sdt_note, next);
		extract(fd, &s);
		ck_assert_uint_eq(s.counts[DP_REC_RAWNOTE], 2 - past);
		if (past)
			ck_limit(&s, "descriptor");
		else
			ck_assert_msg(s.errors == 0, "%s", s.first.msg);
		(void)close(fd);
	}
}
END_TEST

/*
 * A function whose name is longer than a string of a record may be: its
 * site is there without the name, and the stream is in order.
 */
START_TEST(long_function_name)
{
	const uint64_t at = 65536;

	for (uint64_t past = 0; past < 2; past++) {
		const uint64_t n = DP_MAX_STR + past;
		const struct part p[3] = {
			{ NAME_SDT, SHT_NOTE, at, sizeof sdt_note, 0 },
			{ NAME_STR, SHT_SYMTAB, at + 512, 2 * sizeof(Elf64_Sym),
			  3 },
			{ NAME_STR, SHT_STRTAB, at + 1024, n + 2, 0 },
		};
		const Elf64_Sym sym = { .st_name = 1,
			                .st_info = ELF64_ST_INFO(STB_GLOBAL,
			                                         STT_FUNC),
			                .st_shndx = 1,
			                .st_value = 0x1000,
			                .st_size = 16 };
		int fd = sparse_elf(p, 3, at + 1024 + n + 2);
		char *name = malloc(n);
		struct seen s;

		ck_assert_ptr_nonnull(name);
		memset(name, 'f', n);
		put_at(fd, sdt_note, sizeof sdt_note, at);
		put_at(fd, &sym, sizeof sym, at + 512 + sizeof sym);
		put_at(fd, name, n, at + 1024 + 1);
		free(name);
		extract(fd, &s);
		ck_assert_uint_eq(s.counts[DP_REC_RAWNOTE], 1);
		ck_assert_uint_eq(s.counts[DP_REC_SYMBOL], 1 - past);
		(void)close(fd);
	}
}
END_TEST

/* Twelve zeros are a note: many of them, and a good one behind. */
START_TEST(notes_of_a_file)
{
	const uint64_t data_at = 65536;

	for (uint64_t past = 0; past < 2; past++) {
		const uint64_t zeros = 12 * (DP_MAX_NOTES - 1 + past);
		const struct part p = { NAME_SDT, SHT_NOTE, data_at,
			                zeros + sizeof sdt_note, 0 };
		int fd = sparse_elf(&p, 1, data_at + p.size);
		struct seen s;

		put_at(fd, sdt_note, sizeof sdt_note, data_at + zeros);
		extract(fd, &s);
		ck_assert_uint_eq(s.counts[DP_REC_RAWNOTE], 1 - past);
		if (past)
			ck_limit(&s, "more than");
		else
			ck_assert_msg(s.errors == 0, "%s", s.first.msg);
		(void)close(fd);
	}
}
END_TEST

/* A walk of what `add` put into it. */
static struct dp_walk *
walk_begin(struct seen *s, unsigned threads)
{
	const struct dp_walk_opts opts = {
		.extract = { .sources = DP_EXTRACT_ALL,
		             .complain = note_error,
		             .ctx = s },
		.recursive = true,
		.threads = threads,
	};
	struct dp_walk *w = dp_walk_create(&opts);

	memset(s, 0, sizeof *s);
	ck_assert_ptr_nonnull(w);
	return w;
}

static void
walk_end(struct dp_walk *w, struct seen *s)
{
	struct dp_walk_result result = { 0 };
	struct dp_err e = DP_ERR_INIT;

	ck_ok(dp_walk_run(w, (struct dp_sink){ null_sink, NULL }, &result, &e),
	      e);
	s->found = result.found;
	s->files = result.files;
	s->objects = result.objects;
	ck_assert_uint_eq(result.errors, s->errors);
	dp_walk_destroy(w);
}

static void
list_path(size_t n, const char *next, struct seen *s)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_walk *w = walk_begin(s, 1);
	int fd = memfd_create("list", MFD_CLOEXEC);
	char *path = malloc(n + 1);

	ck_assert(path != NULL && fd >= 0);
	memset(path, 'x', n);
	path[n] = '\0';
	put_at(fd, path, n + 1, 0);
	put_at(fd, next, strlen(next) + 1, n + 1);
	ck_ok(dp_walk_add_list(w, fd, "list", &e), e);
	walk_end(w, s);
	free(path);
}

/* The kernel refuses the longest path that we take; the list goes on. */
START_TEST(path_in_a_list)
{
	static const char self[] = "/proc/self/exe";
	struct seen s;

	list_path(10, self, &s);
	ck_assert_uint_eq(s.errors, 1);
	ck_assert_int_eq(s.first.os_errno, ENOENT);
	ck_assert_uint_eq(s.files, 1);
	list_path(DP_MAX_PATH, self, &s);
	ck_assert_uint_eq(s.errors, 1);
	ck_assert_msg(s.first.os_errno == ENAMETOOLONG, "%s", s.first.msg);
	ck_assert_uint_eq(s.files, 1);
	list_path(DP_MAX_PATH + 1, self, &s);
	ck_limit(&s, "too long");
	ck_assert_uint_eq(s.files, 0);
}
END_TEST

/* A chain of directories, `depth` of them below the top, DOF in the last. */
static void
make_chain(unsigned depth)
{
	struct dp_buf b = { 0 };
	int fd;

	good_dof(&b);
	for (unsigned i = 0; i < depth; i++) {
		ck_assert_int_eq(mkdir("d", 0700), 0);
		ck_assert_int_eq(chdir("d"), 0);
	}
	fd = open("f", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	put_at(fd, b.p, b.n, 0);
	(void)close(fd);
	dp_buf_deinit(&b);
}

static void
remove_chain(unsigned depth)
{
	ck_assert_int_eq(unlink("f"), 0);
	for (unsigned i = 0; i < depth; i++) {
		ck_assert_int_eq(chdir(".."), 0);
		ck_assert_int_eq(rmdir("d"), 0);
	}
}

START_TEST(nested_directories)
{
	char top[] = "/tmp/dp-depth-XXXXXX";
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_ptr_nonnull(mkdtemp(top));
	for (unsigned past = 0; past < 2; past++) {
		struct dp_err e = DP_ERR_INIT;
		struct dp_walk *w;
		struct seen s;

		ck_assert_int_eq(chdir(top), 0);
		make_chain(DP_MAX_DEPTH + past);
		w = walk_begin(&s, 1 + past);
		ck_ok(dp_walk_add_path(w, top, &e), e);
		walk_end(w, &s);
		remove_chain(DP_MAX_DEPTH + past);
		ck_assert_uint_eq(s.found, 1 - past);
		if (past)
			ck_limit(&s, "deep");
		else
			ck_assert_msg(s.errors == 0, "%s", s.first.msg);
	}
	ck_assert_int_eq(fchdir(here), 0);
	(void)close(here);
	ck_assert_int_eq(rmdir(top), 0);
}
END_TEST

/* A program of ours in $BIN; NULL, told, when it is not built. */
static const char *
program(const char *name)
{
	static char path[4096];
	const char *bin = getenv("BIN");

	(void)snprintf(path, sizeof path, "%s/%s",
	               bin != NULL ? bin : "build/release", name);
	if (access(path, X_OK) == 0)
		return path;
	printf("skip: no %s\n", path);
	return NULL;
}

/* Run a shell command; its exit status, its output in `out`. */
static int
run(const char *cmd, char *out, size_t size)
{
	FILE *f = popen(cmd, "r");
	size_t n;
	int status;

	ck_assert_ptr_nonnull(f);
	n = fread(out, 1, size - 1, f);
	out[n] = '\0';
	status = pclose(f);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(threads)
{
	static const struct {
		int n;
		int status;
	} rows[] = { { 0, 2 },
		     { 1, 1 },
		     { DP_MAX_THREADS, 1 },
		     { DP_MAX_THREADS + 1, 2 } };
	const char *x = program("dofextract");
	char cmd[8192], out[4096];

	for (size_t i = 0; i < LEN(rows) && x != NULL; i++) {
		int status;

		snprintf(cmd, sizeof cmd,
		         "mkdir -p /tmp/dp-empty.$$ && %s -r -j %d "
		         "/tmp/dp-empty.$$ 2>&1 >/dev/null; s=$?; "
		         "rmdir /tmp/dp-empty.$$; exit $s",
		         x, rows[i].n);
		status = run(cmd, out, sizeof out);
		ck_assert_msg(status == rows[i].status, "-j %d: exit %d: %s",
		              rows[i].n, status, out);
		ck_assert_int_eq(strstr(out, "-j") != NULL,
		                 rows[i].status == 2);
	}
}
END_TEST

/* Kilobytes that can be had, as the kernel thinks. */
static unsigned long
memory(void)
{
	unsigned long kb = 0;
	char line[256];
	FILE *f = fopen("/proc/meminfo", "r");

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "MemAvailable: %lu", &kb) == 1)
			break;
	if (f != NULL)
		(void)fclose(f);
	return kb;
}

START_TEST(standard_input)
{
	const char *x = program("dofextract");
	char cmd[8192], out[4096];

	if (x == NULL)
		return;
	if (memory() < 3UL << 20) {
		printf("skip: less than 3 GiB of memory for DP_MAX_STDIN\n");
		return;
	}
	for (unsigned past = 0; past < 2; past++) {
		snprintf(cmd, sizeof cmd,
		         "head -c %u /dev/zero | %s - 2>&1 >/dev/null",
		         (unsigned)DP_MAX_STDIN + past, x);
		ck_assert_int_eq(run(cmd, out, sizeof out), 2);
		ck_assert_msg(strstr(out, past ? "more than" : "not an ELF") !=
		                      NULL,
		              "%s", out);
	}
}
END_TEST

/* Does any file of a folder of tests have the name? */
static bool
named_in(const char *dir, const char *name)
{
	bool found = false;
	const struct dirent *de;
	DIR *d = opendir(dir);

	while (d != NULL && !found && (de = readdir(d)) != NULL) {
		char path[4096], line[512];
		FILE *f;

		snprintf(path, sizeof path, "%s/%s", dir, de->d_name);
		if (strcmp(de->d_name, "test_limits.c") == 0 ||
		    (f = fopen(path, "r")) == NULL)
			continue;
		while (!found && fgets(line, sizeof line, f) != NULL) {
			const char *at = strstr(line, name);
			char after = at == NULL ? '_' : at[strlen(name)];

			found = after != '_' && (after < 'A' || after > 'Z');
		}
		(void)fclose(f);
	}
	if (d != NULL)
		(void)closedir(d);
	return found;
}

/* Those that this very file is the only one to test. */
static const char *const own[] = { "DP_MAX_SEGMENTS", "DP_MAX_RAW_BYTES",
	                           "DP_MAX_DEPTH", "DP_MAX_THREADS",
	                           "DP_MAX_STDIN" };

static bool
is_own(const char *name)
{
	for (size_t i = 0; i < LEN(own); i++)
		if (strcmp(own[i], name) == 0)
			return true;
	return false;
}

START_TEST(every_limit)
{
	FILE *f = fopen("lib/base/limits.h", "r");
	unsigned n = 0;
	char line[512];

	if (f == NULL) {
		printf("skip: no lib/base/limits.h here\n");
		return;
	}
	while (fgets(line, sizeof line, f) != NULL) {
		char name[64];

		if (sscanf(line, " %63[A-Z_] =", name) != 1 ||
		    strncmp(name, "DP_MAX_", 7) != 0)
			continue;
		n++;
		ck_assert_msg(is_own(name) || named_in("tests/unit", name),
		              "%s is tested nowhere", name);
	}
	(void)fclose(f);
	ck_assert_uint_ge(n, 31);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("limits");
	TCase *t = tcase_create("limits");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, segments);
	tcase_add_test(t, segments_in_a_stream);
	tcase_add_test(t, raw_bytes);
	tcase_add_test(t, dof_larger_than_a_record);
	tcase_add_test(t, note_desc);
	tcase_add_test(t, long_function_name);
	tcase_add_test(t, notes_of_a_file);
	tcase_add_test(t, path_in_a_list);
	tcase_add_test(t, nested_directories);
	tcase_add_test(t, threads);
	tcase_add_test(t, standard_input);
	tcase_add_test(t, every_limit);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_checks(suite());
}
