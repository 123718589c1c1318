/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every fixture of tests/data, cut at every byte and with every byte
 * changed, through the extractor and then the parser: whatever the file
 * says, nothing is read outside of it and both end well.  For sanitizers.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/gate.h"
#include "extract/extract.h"
#include "streams.h"

/* Raw records of the extractor go into `raw`, from there to the parser. */
struct rig {
	int fd;
	struct dp_buf raw;
	struct dp_writer out, parsed;
	struct dp_extractor *x;
	struct dp_parser *p;
	uint64_t runs;
};

static bool
keep(void *ctx, struct dp_bytes b, struct dp_err *e)
{
	(void)e;
	return dp_buf_add(ctx, b.p, b.n);
}

static void
rig_begin(struct rig *g)
{
	static const struct dp_extract_opts xo = { .sources = DP_EXTRACT_ALL,
		                                   .empty = true };
	static const struct dp_parse_opts po = { 0 };

	memset(g, 0, sizeof *g);
	g->fd = memfd_create("fixture", MFD_CLOEXEC);
	ck_assert_int_ge(g->fd, 0);
	dp_writer_init(&g->out, (struct dp_sink){ keep, &g->raw }, false);
	dp_writer_init(&g->parsed, (struct dp_sink){ null_sink, NULL }, false);
	g->x = dp_extractor_create(&xo, &g->out);
	g->p = dp_parser_create(&g->parsed, &po);
	ck_assert(g->x != NULL && g->p != NULL);
}

static void
rig_end(struct rig *g)
{
	dp_extractor_destroy(g->x);
	dp_parser_destroy(g->p);
	dp_writer_deinit(&g->out);
	dp_writer_deinit(&g->parsed);
	dp_buf_deinit(&g->raw);
	(void)close(g->fd);
}

/* Hand a record on with its raw bytes in a block of just their size. */
static void
put_exact(struct rig *g, struct dp_record *rec)
{
	struct dp_bytes *raw = rec->type == DP_REC_RAWDOF ? &rec->rawdof.bytes
	                       : rec->type == DP_REC_RAWNOTE
	                               ? &rec->rawnote.desc
	                               : NULL;
	struct dp_err e = DP_ERR_INIT;

	if (raw != NULL)
		*raw = exact_copy(*raw);
	if (!dp_parser_put(g->p, rec, &e))
		ck_abort_msg("parser: %s", e.msg);
	if (raw != NULL)
		free((void *)(uintptr_t)raw->p);
}

/* What the extractor wrote must be whole records, objects that end. */
static void
parse_raw(struct rig *g)
{
	struct dp_bytes b = dp_buf_bytes(&g->raw);
	int open = 0;

	while (b.n != 0) {
		struct dp_rd rd = dp_rd_init(b, DP_LE);
		struct dp_bytes whole = { b.p, dp_rd_u32(&rd) };
		struct dp_err e = DP_ERR_INIT;
		struct dp_record rec;

		if (!dp_record_decode(whole, &rec, &e))
			ck_abort_msg("extractor wrote: %s", e.msg);
		open += rec.type == DP_REC_OBJECT;
		open -= rec.type == DP_REC_OBJECT_END;
		put_exact(g, &rec);
		b.p += whole.n;
		b.n -= whole.n;
	}
	ck_assert_int_eq(open, 0);
}

static void
run(struct rig *g)
{
	uint8_t head[DP_GATE_HEAD];
	ssize_t n = pread(g->fd, head, sizeof head, 0);
	struct dp_extract_input in = { .path = dp_cstr("fixture"),
		                       .fd = g->fd,
		                       .head = { head, (size_t)n },
		                       .named = true,
		                       .root_fd = AT_FDCWD };
	struct dp_err e = DP_ERR_INIT;

	ck_assert_int_ge(n, 0);
	g->raw.n = 0;
	if (!dp_extract_file(g->x, &in, &e) || !dp_writer_flush(&g->out, &e))
		ck_abort_msg("extractor: %s", e.msg);
	parse_raw(g);
	g->runs++;
}

static void
mangle(struct rig *g, struct dp_bytes file)
{
	ck_assert_int_eq(ftruncate(g->fd, 0), 0);
	ck_assert_int_eq(pwrite(g->fd, file.p, file.n, 0), (ssize_t)file.n);
	run(g);
	for (size_t i = 0; i < file.n; i++) {
		uint8_t other = file.p[i] ^ (i % 2 == 0 ? 0xff : 0x01);

		ck_assert_int_eq(pwrite(g->fd, &other, 1, (off_t)i), 1);
		run(g);
		ck_assert_int_eq(pwrite(g->fd, file.p + i, 1, (off_t)i), 1);
	}
	for (size_t n = file.n; n-- != 0;) {
		ck_assert_int_eq(ftruncate(g->fd, (off_t)n), 0);
		run(g);
	}
}

static void
mangle_file(struct rig *g, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *p;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	p = malloc((size_t)st.st_size + 1);
	ck_assert_ptr_nonnull(p);
	ck_assert_int_eq(read(fd, p, (size_t)st.st_size), st.st_size);
	(void)close(fd);
	mangle(g, (struct dp_bytes){ p, (size_t)st.st_size });
	free(p);
}

START_TEST(every_byte)
{
	const char *bin = getenv("BIN");
	char dir[4096], path[8192];
	const struct dirent *de;
	unsigned files = 0;
	struct rig g;
	DIR *d;

	(void)snprintf(dir, sizeof dir, "%s/fixtures",
	               bin == NULL ? "build/release" : bin);
	d = opendir(dir);
	if (d == NULL)
		ck_abort_msg("no fixtures in %s: make tests", dir);
	rig_begin(&g);
	while ((de = readdir(d)) != NULL) {
		if (strstr(de->d_name, ".bin") == NULL)
			continue;
		(void)snprintf(path, sizeof path, "%s/%s", dir, de->d_name);
		mangle_file(&g, path);
		files++;
	}
	(void)closedir(d);
	printf("%u fixtures, %llu runs\n", files, (unsigned long long)g.runs);
	ck_assert_uint_ge(files, 100);
	rig_end(&g);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("fixbytes");
	TCase *tc = tcase_create("fixtures");

	tcase_add_test(tc, every_byte);
	tcase_set_timeout(tc, 1800);
	suite_add_tcase(s, tc);
	return run_checks(s);
}
