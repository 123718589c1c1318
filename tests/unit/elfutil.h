/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Help for the tests of lib/elf: running tools, a folder for what they
 * make, and a builder of small ELF images of both classes and orders.
 */
#ifndef DP_ELFUTIL_H
#define DP_ELFUTIL_H

#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "elf/object.h"

#define ck_ok(call, e)                                                         \
	do {                                                                   \
		if (!(call))                                                   \
			ck_abort_msg("%s: %s", #call, (e).msg);                \
	} while (0)

/* ck_assert() writes a line each time it is passed: not for inner loops. */
#define must(cond)                                                             \
	do {                                                                   \
		if (!(cond))                                                   \
			ck_abort_msg("%s", #cond);                             \
	} while (0)

/* Run a shell command; its standard output is the result, or NULL. */
__attribute__((format(printf, 1, 2))) static inline FILE *
run(const char *fmt, ...)
{
	static char cmd[8192];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(cmd, sizeof cmd, fmt, ap);
	va_end(ap);
	return popen(cmd, "r");
}

/* Run a shell command for its effect; true when it exits with 0. */
__attribute__((format(printf, 1, 2))) static inline bool
sh(const char *fmt, ...)
{
	static char cmd[8192];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(cmd, sizeof cmd, fmt, ap);
	va_end(ap);
	return system(cmd) == 0;
}

/* True when the tools (words in one string) are all there; says which not. */
static inline bool
have(const char *tools)
{
	if (sh("for t in %s; do command -v $t >/dev/null || "
	       "{ echo \"skip: no $t\"; exit 1; }; done",
	       tools))
		return true;
	return false;
}

/* True when the file is there; says so when not. */
static inline bool
have_file(const char *path)
{
	if (access(path, R_OK) == 0)
		return true;
	printf("skip: no %s\n", path);
	return false;
}

/* A path in the corpus of samples, in a static buffer; NULL: absent. */
static inline const char *
corpus(const char *name)
{
	static char path[4096];
	const char *shared = getenv("DOFPIPE_SHARED");

	(void)snprintf(path, sizeof path, "%s/corpus/%s",
	               shared != NULL ? shared : "../shared", name);
	return have_file(path) ? path : NULL;
}

/* The folder of this test program, made at the first call. */
static inline const char *
tmp_dir(void)
{
	static char dir[64];

	if (dir[0] == '\0') {
		(void)snprintf(dir, sizeof dir, "/tmp/dp-elf-XXXXXX");
		if (mkdtemp(dir) == NULL)
			abort();
	}
	return dir;
}

/* Remove it. */
static inline void
tmp_clean(void)
{
	(void)sh("rm -rf %s", tmp_dir());
}

/* A path in that folder; four at a time. */
static inline const char *
tmp_path(const char *name)
{
	static char paths[4][256];
	static unsigned next;
	char *p = paths[next++ % 4];

	(void)snprintf(p, sizeof paths[0], "%s/%s", tmp_dir(), name);
	return p;
}

static inline void
write_file(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(p, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

static inline void
read_file(const char *path, struct dp_buf *b)
{
	struct dp_err e = DP_ERR_INIT;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dp_src src = dp_src_fd(fd, 0, DP_SRC_UNKNOWN);

	ck_assert_msg(fd >= 0, "%s", path);
	ck_ok(dp_src_measure(&src, &e), e);
	ck_ok(dp_src_load(&src, 0, src.size, b, &e), e);
	(void)close(fd);
}

/* Open an ELF file; *fd_ret is to be closed after dp_elf_close(). */
static inline void
open_elf(struct dp_elf *elf, const char *path, int *fd_ret)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_src src;

	*fd_ret = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_msg(*fd_ret >= 0, "%s", path);
	src = dp_src_fd(*fd_ret, 0, DP_SRC_UNKNOWN);
	ck_ok(dp_elf_open(elf, &src, &e), e);
}

/* What make_elf() turns into a section. */
struct img_sec {
	const char *name;
	uint32_t type;
	uint64_t flags, addr;
	uint32_t link, info;
	uint64_t entsize;
	struct dp_buf data; /* owned by the test */
	uint64_t nobits;    /* size of a SHT_NOBITS one */
};

struct img_seg {
	uint32_t type, flags;
	uint64_t vaddr;
	int sec; /* covers this section, or -1: the next two */
	uint64_t off, filesz, memsz;
};

struct img {
	unsigned word;
	enum dp_order order;
	uint16_t type, machine;
	uint32_t flags;
	struct img_sec secs[24]; /* [0] is made up */
	unsigned nsecs;          /* [0] and .shstrtab not counted */
	struct img_seg segs[8];
	unsigned nsegs;
	bool no_headers; /* leave the section headers out */
};

static inline void
put(struct dp_buf *b, enum dp_order order, uint64_t v, unsigned width)
{
	uint8_t x[8];

	for (unsigned i = 0; i < width; i++)
		x[order == DP_LE ? i : width - 1 - i] = (uint8_t)(v >> 8 * i);
	must(dp_buf_add(b, x, width));
}

static inline void
put_at(struct dp_buf *b, size_t at, enum dp_order order, uint64_t v,
       unsigned width)
{
	size_t n = b->n;

	b->n = at;
	put(b, order, v, width);
	b->n = n;
}

static inline void
pad(struct dp_buf *b, size_t to)
{
	while (b->n % to != 0)
		must(dp_buf_add(b, "", 1));
}

/* A symbol table entry. */
static inline void
put_sym(struct dp_buf *b, const struct img *im, uint32_t name, unsigned info,
        unsigned shndx, const uint64_t value_size[2])
{
	put(b, im->order, name, 4);
	if (im->word == 4) {
		put(b, im->order, value_size[0], 4);
		put(b, im->order, value_size[1], 4);
	}
	put(b, im->order, info, 1);
	put(b, im->order, 0, 1);
	put(b, im->order, shndx, 2);
	if (im->word == 8) {
		put(b, im->order, value_size[0], 8);
		put(b, im->order, value_size[1], 8);
	}
}

static inline struct img_sec *
add_sec(struct img *im, const char *name, uint32_t type, uint64_t flags,
        uint64_t addr)
{
	struct img_sec *s = &im->secs[++im->nsecs];

	ck_assert_uint_lt(im->nsecs, 23);
	s->name = name;
	s->type = type;
	s->flags = flags;
	s->addr = addr;
	return s;
}

static inline void
img_put_phdr(struct dp_buf *b, const struct img *im, const struct img_seg *s)
{
	put(b, im->order, s->type, 4);
	if (im->word == 8)
		put(b, im->order, s->flags, 4);
	put(b, im->order, s->off, im->word);
	put(b, im->order, s->vaddr, im->word);
	put(b, im->order, s->vaddr, im->word);
	put(b, im->order, s->filesz, im->word);
	put(b, im->order, s->memsz, im->word);
	if (im->word == 4)
		put(b, im->order, s->flags, 4);
	put(b, im->order, 8, im->word);
}

/*
 * Lay the image out: header, program headers, sections in order, names,
 * section headers.  Segments that cover a section are filled in.  Frees the
 * data of the sections.
 */
static inline void
make_elf(struct img *im, struct dp_buf *out)
{
	const unsigned w = im->word;
	const unsigned eh = w == 4 ? 52 : 64, ph = w == 4 ? 32 : 56;
	const unsigned sh_len = w == 4 ? 40 : 64;
	uint64_t offs[24] = { 0 };
	uint32_t names[24] = { 0 };
	struct img_sec *str;
	unsigned n;

	str = add_sec(im, ".shstrtab", SHT_STRTAB, 0, 0);
	n = im->nsecs + 1;
	must(dp_buf_add(&str->data, "", 1));
	for (unsigned i = 1; i < n; i++) {
		names[i] = (uint32_t)str->data.n;
		must(dp_buf_add(&str->data, im->secs[i].name,
		                strlen(im->secs[i].name) + 1));
	}
	out->n = 0;
	for (unsigned i = 0; i < eh + ph * im->nsegs; i++)
		must(dp_buf_add(out, "", 1));
	for (unsigned i = 1; i < n; i++) {
		pad(out, 8);
		offs[i] = out->n;
		must(dp_buf_add(out, im->secs[i].data.p, im->secs[i].data.n));
	}
	pad(out, 8);
	n = im->no_headers ? 0 : n;
	{
		struct dp_buf h = { 0 };
		const uint8_t id[16] = { 0x7f,
			                 'E',
			                 'L',
			                 'F',
			                 w == 4 ? 1 : 2,
			                 im->order == DP_LE ? 1 : 2,
			                 1,
			                 3 };

		must(dp_buf_add(&h, id, 16));
		put(&h, im->order, im->type, 2);
		put(&h, im->order, im->machine, 2);
		put(&h, im->order, 1, 4);
		put(&h, im->order, 0x1234, w);
		put(&h, im->order, im->nsegs ? eh : 0, w);
		put(&h, im->order, n ? out->n : 0, w);
		put(&h, im->order, im->flags, 4);
		put(&h, im->order, eh, 2);
		put(&h, im->order, ph, 2);
		put(&h, im->order, im->nsegs, 2);
		put(&h, im->order, sh_len, 2);
		put(&h, im->order, n, 2);
		put(&h, im->order, n ? n - 1 : 0, 2);
		for (unsigned i = 0; i < im->nsegs; i++) {
			struct img_seg *s = &im->segs[i];

			if (s->sec >= 0) {
				s->off = offs[s->sec];
				s->filesz = im->secs[s->sec].data.n;
				s->memsz = s->filesz;
			}
			img_put_phdr(&h, im, s);
		}
		memcpy(out->p, h.p, h.n);
		dp_buf_deinit(&h);
	}
	for (unsigned i = 0; i < n; i++) {
		struct img_sec *s = &im->secs[i];

		put(out, im->order, names[i], 4);
		put(out, im->order, s->type, 4);
		put(out, im->order, s->flags, w);
		put(out, im->order, s->addr, w);
		put(out, im->order, offs[i], w);
		put(out, im->order, s->data.n + s->nobits, w);
		put(out, im->order, s->link, 4);
		put(out, im->order, s->info, 4);
		put(out, im->order, i ? 8 : 0, w);
		put(out, im->order, s->entsize, w);
	}
	for (unsigned i = 0; i <= im->nsecs; i++)
		dp_buf_deinit(&im->secs[i].data);
}

/* A copy of exactly that size, so that a sanitizer sees what lies behind. */
static inline struct dp_bytes
exact(struct dp_bytes b)
{
	uint8_t *p = malloc(b.n != 0 ? b.n : 1);

	ck_assert_ptr_nonnull(p);
	if (b.n != 0)
		memcpy(p, b.p, b.n);
	return (struct dp_bytes){ p, b.n };
}

/* Run one suite; the status for main(). */
static inline int
run_suite(Suite *s)
{
	SRunner *sr = srunner_create(s);
	int failed;

	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	tmp_clean();
	return failed == 0 ? 0 : 1;
}

#endif /* DP_ELFUTIL_H */
