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
#include "extract/state.h"
#include "extract/walk.h"
#include "streams.h"
#include "usdt/dof.h"

/*
 * Where each limit is tested:
 *
 *   DP_MAX_RECORD DP_MAX_JSON_LINE          test_reader
 *   DP_MAX_JSON_VALUES                      test_record
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
 *   DP_MAX_ELFRELS DP_MAX_SYMBOLS
 *   DP_MAX_HELPERS                          test_parse_notes
 *   DP_MAX_ELF_SECS DP_MAX_SCAN
 *   DP_MAX_ELF_NAMES                        test_elf_gate
 *   DP_MAX_ELF_PHDRS DP_MAX_ELF_SECTION     test_elf_object
 *   DP_MAX_SYMTAB DP_MAX_DEBUGDATA
 *   DP_MAX_DEBUGFILE                        test_elf_symbols
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
extract_input(struct dp_extract_input in, struct seen *s)
{
	const struct dp_extract_opts opts = { .sources = DP_EXTRACT_ALL,
		                              .empty = true,
		                              .complain = note_error,
		                              .ctx = s };
	uint8_t head[DP_GATE_HEAD];
	const struct dp_rec_end end = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_extractor *x;
	struct dp_buf out = { 0 };
	struct dp_writer w;
	ssize_t n = pread(in.fd, head, sizeof head, 0);

	memset(s, 0, sizeof *s);
	ck_assert_int_gt(n, 0);
	in.head = (struct dp_bytes){ head, (size_t)n };
	dp_writer_init(&w, (struct dp_sink){ buf_sink, &out }, false);
	ck_ok(dp_put_stream_header(&w, DPR_STAGE_EXTRACT, "t", &e), e);
	x = dp_extractor_create(&opts, &w);
	ck_assert_ptr_nonnull(x);
	ck_assert_msg(dp_extract_file(x, &in, &e),
	              "bad contents must not stop the stream: %s", e.msg);
	/* nothing large is kept for the next file */
	ck_assert_uint_le(x->data.cap, 1 << 20);
	ck_assert_uint_le(x->scratch.cap, 1 << 20);
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
extract_named(int fd, struct dp_bytes path, struct seen *s)
{
	extract_input((struct dp_extract_input){ .path = path,
	                                         .fd = fd,
	                                         .named = true,
	                                         .root_fd = AT_FDCWD },
	              s);
}

static void
extract(int fd, struct seen *s)
{
	extract_named(fd, LIT("f"), s);
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
	uint64_t flags;
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
			          .sh_flags = parts[i].flags,
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

/* A Mach-O library of nothing but its own name, of `n` bytes. */
static int
dylib_called(size_t n)
{
	const uint32_t size = (uint32_t)(24 + n + 8) / 8 * 8;
	const uint32_t head[] = {
		0xfeedfacf, 0x01000007, 3,  6, 1, size, 0, 0, /* the header */
		0xd,        size,       24, 0, 0, 0 /* LC_ID_DYLIB, its name at
		                                       24 */
	};
	int fd = memfd_create("dylib", MFD_CLOEXEC);
	char *name = malloc(n);

	ck_assert_ptr_nonnull(name);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, 32 + (off_t)size), 0);
	memset(name, 'n', n);
	put_at(fd, head, sizeof head, 0);
	put_at(fd, name, n, sizeof head);
	free(name);
	return fd;
}

START_TEST(name_of_a_dylib)
{
	for (unsigned past = 0; past < 2; past++) {
		int fd = dylib_called(DP_MAX_STR + past);
		struct seen s;

		extract(fd, &s);
		ck_assert_msg(s.errors == 0, "%s", s.first.msg);
		ck_assert_uint_eq(s.objects, 1);
		(void)close(fd);
	}
}
END_TEST

/* Of any format: an error, and no object that nobody could read. */
START_TEST(path_of_an_object)
{
	struct dp_buf dof = { 0 }, path = { 0 };
	int fds[3] = { sparse_elf(NULL, 0, 8192), dylib_called(1),
		       memfd_create("dof", MFD_CLOEXEC) };
	struct seen s;

	good_dof(&dof);
	put_at(fds[2], dof.p, dof.n, 0);
	ck_assert(dp_buf_reserve(&path, DP_MAX_STR + 1));
	memset(path.p, 'p', DP_MAX_STR + 1);
	for (unsigned i = 0; i < LEN(fds); i++) {
		path.n = DP_MAX_STR;
		extract_named(fds[i], dp_buf_bytes(&path), &s);
		ck_assert_msg(s.errors == 0, "%s", s.first.msg);
		ck_assert_uint_eq(s.objects, 1);
		path.n++;
		extract_named(fds[i], dp_buf_bytes(&path), &s);
		ck_limit(&s, "name of 1048577 bytes");
		ck_assert_uint_eq(s.objects, 0);
		(void)close(fds[i]);
	}
	dp_buf_deinit(&dof);
	dp_buf_deinit(&path);
}
END_TEST

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
		    .fileoff = 0x1000, .memsz = 0x1000, .filesz = 0x1000,
		    .flags = PF_X);
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
		p[i] = (struct part){ NAME_DOF,           0x6ffffff4, data_at,
			              DP_MAX_ELF_SECTION, 0,          0 };
	p[4] = (struct part){ NAME_DOF, 0x6ffffff4, data_at, 8, 0, 0 };
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

/* Bits of a deflate stream, the lowest first. */
static void
put_bits(struct dp_buf *b, unsigned *nbits, unsigned bits, unsigned n)
{
	for (; n != 0; n--, bits >>= 1, ++*nbits) {
		if (*nbits % 8 == 0)
			ck_assert(dp_buf_add(b, "", 1));
		b->p[b->n - 1] |= (uint8_t)((bits & 1) << *nbits % 8);
	}
}

/* A section of `size` zeros, packed 150 times over. */
static void
zeros_zipped(struct dp_buf *b, uint32_t size)
{
	const Elf64_Chdr h = { .ch_type = ELFCOMPRESS_ZLIB,
		               .ch_size = size,
		               .ch_addralign = 1 };
	/* Adler-32 of zeros */
	const uint32_t sum = (uint32_t)(size % 65521) << 16 | 1;
	unsigned nbits = 0;

	b->n = 0;
	ck_assert(dp_buf_add(b, &h, sizeof h));
	ck_assert(dp_buf_add(b, "\x78\x9c", 2));
	put_bits(b, &nbits, 3, 3); /* the last block, fixed codes */
	for (uint32_t i = 0; i < size % 258; i++)
		put_bits(b, &nbits, 0x0c, 8); /* a zero */
	for (uint32_t i = 0; i < size / 258; i++)
		put_bits(b, &nbits, 0xa3, 13); /* 258 times the last byte */
	put_bits(b, &nbits, 0, 7);             /* the end */
	for (int i = 24; i >= 0; i -= 8)
		ck_assert(dp_buf_add(b, &(uint8_t){ (uint8_t)(sum >> i) }, 1));
}

/* What sections are unpacked counts, and ends it for all behind. */
START_TEST(raw_bytes_unpacked)
{
	const uint64_t data_at = 65536;
	struct dp_buf b = { 0 };
	struct part p[6];
	struct seen s;
	int fd;

	zeros_zipped(&b, DP_MAX_ELF_SECTION);
	for (unsigned i = 0; i < LEN(p); i++)
		p[i] = (struct part){ .name = NAME_DOF,
			              .type = 0x6ffffff4,
			              .off = data_at,
			              .size = b.n,
			              .flags = SHF_COMPRESSED };
	for (unsigned past = 0; past < 3; past += 2) {
		fd = sparse_elf(p, 4 + past, data_at + b.n);
		put_at(fd, b.p, b.n, data_at);
		extract(fd, &s);
		ck_assert_uint_eq(s.errors, past);
		ck_assert(past == 0 || strstr(s.first.msg, "raw sections"));
		(void)close(fd);
	}
	dp_buf_deinit(&b);
}
END_TEST

/* An object of one segment, of `size` bytes at address 0, and no sections. */
static int
bare_elf(uint64_t size, uint64_t dynamic)
{
	const Elf64_Phdr p[] = { { .p_type = PT_LOAD,
		                   .p_flags = PF_R | PF_X,
		                   .p_filesz = size,
		                   .p_memsz = size },
		                 { .p_type = PT_DYNAMIC,
		                   .p_offset = dynamic,
		                   .p_vaddr = dynamic,
		                   .p_filesz = 64,
		                   .p_memsz = 64 } };
	int fd = sparse_elf(NULL, 0, size);
	Elf64_Ehdr h;

	ck_assert_int_eq(pread(fd, &h, sizeof h, 0), sizeof h);
	h.e_shoff = h.e_shnum = h.e_shstrndx = 0;
	h.e_phoff = sizeof h;
	h.e_phnum = dynamic != 0 ? 2 : 1;
	put_at(fd, &h, sizeof h, 0);
	put_at(fd, p, sizeof p, sizeof h);
	return fd;
}

/* Chance hits that claim to be as large as can be. */
START_TEST(bare_candidates)
{
	static const uint8_t head[DP_DOF_HDR_SIZE] = {
		0x7f, 'D', 'O', 'F', 2, 1, 3, [43] = 4 /* loadsz: 64 MiB */
	};
	const unsigned most = DP_MAX_RAW_BYTES / DP_MAX_DOF_SIZE;
	struct dp_buf b = { 0 };
	struct seen s;

	good_dof(&b);
	for (unsigned past = 0; past < 3; past++) {
		int fd = bare_elf(UINT64_C(130) << 20, 0);

		/* what is found before counts; it is paid for, too */
		put_at(fd, b.p, b.n, 4096);
		for (unsigned i = 1; i < most + past; i++)
			put_at(fd, head, sizeof head, 4096 + 4096 * i);
		extract(fd, &s);
		ck_assert_uint_eq(s.counts[DP_REC_RAWDOF], 1);
		if (past > 1)
			ck_limit(&s, "begins like DOF");
		else
			ck_assert_uint_eq(s.errors, past);
		(void)close(fd);
	}
	dp_buf_deinit(&b);
}
END_TEST

/* Each DOF gets the relocations that are its own; trouble is told once. */
START_TEST(bare_relocations)
{
	const uint64_t dof_at[] = { 0x2000, 0x4000, 0x6000 };
	const Elf64_Rela r[] = {
		{ 0x2010, ELF64_R_INFO(0, R_X86_64_RELATIVE), 1 },
		{ 0x4010, ELF64_R_INFO(0, R_X86_64_RELATIVE), 2 },
		{ 0x4018, ELF64_R_INFO(0, R_X86_64_RELATIVE), 3 },
		{ 0x5ff8, ELF64_R_INFO(0, R_X86_64_RELATIVE), 4 },
		{ 0x6010, ELF64_R_INFO(0, R_X86_64_RELATIVE), 5 },
	};
	struct dp_buf b = { 0 };
	struct seen s;

	good_dof(&b);
	for (unsigned broken = 0; broken < 2; broken++) {
		const Elf64_Dyn d[] = {
			{ DT_RELA, { 0x1000 } },
			{ DT_RELASZ, { broken ? 1 << 20 : sizeof r } },
			{ DT_RELAENT, { sizeof r[0] } },
			{ DT_NULL, { 0 } },
		};
		int fd = bare_elf(0x8000, 0x800);

		put_at(fd, d, sizeof d, 0x800);
		put_at(fd, r, sizeof r, 0x1000);
		for (unsigned i = 0; i < LEN(dof_at); i++)
			put_at(fd, b.p, b.n, dof_at[i]);
		extract(fd, &s);
		ck_assert_uint_eq(s.counts[DP_REC_RAWDOF], 3);
		ck_assert_uint_eq(s.errors, broken);
		if (!broken)
			ck_assert_uint_eq(s.counts[DP_REC_ELFREL], 4);
		(void)close(fd);
	}
	dp_buf_deinit(&b);
}
END_TEST

/*
 * A process whose mappings are too much to compare does not take the other
 * ones' helpers; an object that nobody can have mapped takes all of them.
 */
START_TEST(helpers_of_others)
{
	static struct dp_map many[8192];
	const struct dp_map one = { .start = 0x10000000,
		                    .end = 0x10001000,
		                    .perms = DP_MAP_X };
	const struct dp_live lives[] = {
		{ .pid = 1, .maps = many, .nmaps = LEN(many) },
		{ .pid = 2, .maps = &one, .nmaps = 1 },
		{ .pid = 3, .maps = many, .nmaps = LEN(many) },
		{ .pid = 4, .maps = &one, .nmaps = 1 },
	};
	struct dp_extract_input in = { .path = LIT("f"),
		                       .root_fd = AT_FDCWD,
		                       .lives = lives,
		                       .nlives = LEN(lives) };
	const uint64_t askew = 1;
	struct seen s;

	for (size_t i = 0; i < LEN(many); i++)
		many[i] = (struct dp_map){ .start = (i + 1) * 4096,
			                   .end = (i + 2) * 4096 };
	in.fd = bare_elf(LEN(many) * 4096, 0);
	extract_input(in, &s);
	ck_assert_uint_eq(s.errors, 2);
	ck_assert_int_eq(s.first.code, DP_ELIMIT);
	ck_assert_uint_eq(s.counts[DP_REC_HELPER], 2);
	put_at(in.fd, &askew, 8, 64 + offsetof(Elf64_Phdr, p_vaddr));
	extract_input(in, &s);
	ck_assert_uint_eq(s.errors, 1);
	ck_assert_int_eq(s.first.code, DP_EFORMAT);
	ck_assert_uint_eq(s.counts[DP_REC_HELPER], 0);
	(void)close(in.fd);
}
END_TEST

/*
 * What begins like a DOF and is broken may be as large as its section, and
 * larger than any record: it is refused, what is beside it is not.
 */
START_TEST(dof_larger_than_a_record)
{
	const uint64_t data_at = 65536, size = DP_MAX_RECORD + 65536;
	struct part p[2] = { { NAME_DOF, 0x6ffffff4, data_at, size, 0, 0 },
		             { NAME_DOF, 0x6ffffff4, data_at + size, 0, 0,
		               0 } };
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
		const struct part p = {
			NAME_SDT, SHT_NOTE,
			data_at,  next - data_at + sizeof sdt_note,
			0,        0
		};
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
			{ NAME_SDT, SHT_NOTE, at, sizeof sdt_note, 0, 0 },
			{ NAME_STR, SHT_SYMTAB, at + 512, 2 * sizeof(Elf64_Sym),
			  3, 0 },
			{ NAME_STR, SHT_STRTAB, at + 1024, n + 2, 0, 0 },
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
		const struct part p = { NAME_SDT, SHT_NOTE,
			                data_at,  zeros + sizeof sdt_note,
			                0,        0 };
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

enum { PROGRESS_FILES = 4096, PROGRESS_THREADS = 4 };

/* What is told as found is that of all threads, but for files in work. */
static void
check_tick(void *ctx, uint64_t files, uint64_t found)
{
	struct seen *s = ctx;

	if (found + 2 * PROGRESS_THREADS < files)
		s->errors++; /* the walk itself has none here */
	if (files == PROGRESS_FILES)
		s->files = files;
}

START_TEST(progress)
{
	struct seen s = { 0 };
	const struct dp_walk_opts opts = {
		.extract = { .sources = DP_EXTRACT_ALL, .ctx = &s },
		.threads = PROGRESS_THREADS,
		.tick = check_tick,
	};
	struct dp_walk *w = dp_walk_create(&opts);
	struct dp_walk_result result = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf b = { 0 };
	int dof = memfd_create("dof", MFD_CLOEXEC);
	int list = memfd_create("list", MFD_CLOEXEC);

	good_dof(&b);
	put_at(dof, b.p, b.n, 0);
	b.n = 0;
	for (unsigned i = 0; i < PROGRESS_FILES; i++)
		ck_assert(dp_buf_printf(&b, "/proc/self/fd/%d", dof) &&
		          dp_buf_add(&b, "", 1));
	put_at(list, b.p, b.n, 0);
	ck_ok(dp_walk_add_list(w, list, "list", &e), e);
	ck_ok(dp_walk_run(w, (struct dp_sink){ null_sink, NULL }, &result, &e),
	      e);
	ck_assert_uint_eq(result.found, PROGRESS_FILES);
	ck_assert_uint_eq(s.files, PROGRESS_FILES);
	ck_assert_uint_eq(s.errors, 0);
	dp_walk_destroy(w);
	(void)close(dof);
	dp_buf_deinit(&b);
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
	tcase_add_test(t, name_of_a_dylib);
	tcase_add_test(t, path_of_an_object);
	tcase_add_test(t, segments);
	tcase_add_test(t, segments_in_a_stream);
	tcase_add_test(t, raw_bytes);
	tcase_add_test(t, raw_bytes_unpacked);
	tcase_add_test(t, bare_candidates);
	tcase_add_test(t, bare_relocations);
	tcase_add_test(t, helpers_of_others);
	tcase_add_test(t, dof_larger_than_a_record);
	tcase_add_test(t, note_desc);
	tcase_add_test(t, long_function_name);
	tcase_add_test(t, notes_of_a_file);
	tcase_add_test(t, progress);
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
