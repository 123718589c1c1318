/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What live processes map, and the search of their memory: when it happens,
 * what it may cost and keep.  The process is a child that only waits.
 */
#include "extract/live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dofmake.h"
#include "extract/livemem.h"
#include "sandbox/sandbox.h"

enum { PAGE = 4096, MAPS = 2520, PROVIDERS = 16000, BIG = 8 };

/* A child with a page of code and `area`, which this process has, too. */
struct kid {
	pid_t pid;
	uint8_t *code;
	uint8_t *area; /* shared */
	size_t size;
};

static void
kid_run(const struct kid *k, int ready)
{
	volatile uint8_t sum = 0;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A page that was never touched is not searched. */
	for (size_t i = 0; i < k->size; i += PAGE)
		sum = (uint8_t)(sum + k->area[i]);
	if (write(ready, "r", 1) != 1)
		_exit(1);
	for (;;)
		(void)pause();
}

static void
kid_start(struct kid *k, size_t size)
{
	int fds[2];
	char c;

	k->size = size;
	k->area = mmap(NULL, size, PROT_READ | PROT_WRITE,
	               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	k->code = mmap(NULL, 3 * PAGE, PROT_READ | PROT_EXEC,
	               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(k->code, MAP_FAILED);
	ck_assert_ptr_ne(k->area, MAP_FAILED);
	/* Nothing on either side of it: see `edges`. */
	ck_assert_int_eq(munmap(k->code, PAGE), 0);
	k->code += PAGE;
	ck_assert_int_eq(munmap(k->code + PAGE, PAGE), 0);
	ck_assert_int_eq(pipe(fds), 0);
	k->pid = fork();
	ck_assert_int_ge(k->pid, 0);
	if (k->pid == 0)
		kid_run(k, fds[1]);
	(void)close(fds[1]);
	ck_assert_int_eq(read(fds[0], &c, 1), 1);
	(void)close(fds[0]);
}

static void
kid_end(struct kid *k)
{
	(void)kill(k->pid, SIGKILL);
	(void)waitpid(k->pid, NULL, 0);
	(void)munmap(k->area, k->size);
	(void)munmap(k->code, PAGE);
}

/* `n` providers, one probe each; only the last has its site at `last`. */
static size_t
put_dof(uint8_t *dst, uint32_t n, const uint8_t *last)
{
	static const uint32_t offs[] = { 16 };
	struct mk_probe *probes = calloc(n, sizeof *probes);
	struct mk_prov *provs = calloc(n, sizeof *provs);
	struct mk_dof d = {
		.order = DP_LE,
		.version = 2,
		.strs = { (const uint8_t *)"\0prov\0f\0go", 11 },
		.offs = offs,
		.noffs = 1,
		.provs = provs,
		.nprovs = n,
	};
	struct dp_buf b = { 0 };
	size_t size;

	ck_assert(probes != NULL && provs != NULL);
	for (uint32_t i = 0; i < n; i++) {
		probes[i] =
			(struct mk_probe){ .func = 6, .name = 8, .noffs = 1 };
		provs[i] = (struct mk_prov){ 1, &probes[i], 1, 0 };
	}
	probes[n - 1].addr = (uint64_t)(uintptr_t)last;
	mk_dof(&b, &d);
	memcpy(dst, b.p, b.n);
	size = b.n;
	dp_buf_deinit(&b);
	free(probes);
	free(provs);
	return size;
}

static void
open_kid(const struct kid *k, struct dp_livemem *m)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_process p;
	struct dp_live live;

	ck_assert_msg(dp_process_open(k->pid, &p, &e), "%s", e.msg);
	live = (struct dp_live){ .pid = (uint32_t)k->pid,
		                 .start_time = p.start };
	ck_assert_msg(dp_livemem_open(&p, &live, m, &e), "%s", e.msg);
	dp_process_deinit(&p);
}

/* The DOFs of the child's area, found with those limits; `code` as result. */
static size_t
search(const struct kid *k, const struct dp_livemem_limits *lim,
       struct dp_livemem_found *f, struct dp_err *e)
{
	struct dp_livemem m;

	open_kid(k, &m);
	if (!dp_livemem_search(&m, lim, f, e))
		ck_assert_int_ne(e->code, DP_OK);
	dp_livemem_deinit(&m);
	dp_livemem_deinit(&m); /* harmless */
	return f->dofs.n;
}

START_TEST(finds)
{
	const struct dp_livemem_limits lim = dp_livemem_limits();
	struct dp_livemem_found f = { .size = 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_livemem_dof *d;
	struct kid k;
	size_t n;

	kid_start(&k, 16 * PAGE);
	n = put_dof(k.area + 64, 3, k.code);
	(void)put_dof(k.area + 8 * PAGE, 3, k.area); /* no code there */
	ck_assert_uint_eq(search(&k, &lim, &f, &e), 1);
	ck_assert_int_eq(e.code, DP_OK);
	d = DP_VEC_AT(&f.dofs, struct dp_livemem_dof, 0);
	ck_assert_uint_eq(d->addr, (uint64_t)(uintptr_t)(k.area + 64));
	ck_assert_int_eq((pid_t)d->live.pid, k.pid);
	ck_assert(dp_bytes_is(dp_buf_bytes(&d->path), "/dev/zero (deleted)"));
	ck_assert_uint_eq(d->bytes.n, n);
	ck_assert_mem_eq(d->bytes.p, k.area + 64, n);
	dp_livemem_found_deinit(&f);
	kid_end(&k);
}
END_TEST

/* A site at the first and last byte of the code, and right outside. */
START_TEST(edges)
{
	static const struct {
		int at;
		size_t found;
	} rows[] = { { 0, 1 }, { PAGE - 1, 1 }, { -1, 0 }, { PAGE, 0 } };
	const struct dp_livemem_limits lim = dp_livemem_limits();
	struct kid k;

	kid_start(&k, PAGE);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct dp_livemem_found f = { .size = 0 };
		struct dp_err e = DP_ERR_INIT;
		uintptr_t at = (uintptr_t)k.code + (uintptr_t)rows[i].at;

		(void)put_dof(k.area, 1, (const uint8_t *)(at - 16));
		ck_assert_uint_eq(search(&k, &lim, &f, &e), rows[i].found);
		dp_livemem_found_deinit(&f);
	}
	kid_end(&k);
}
END_TEST

static struct timespec
now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t;
}

/* Many providers, many mappings: not their product. */
START_TEST(many_maps)
{
	const struct dp_livemem_limits lim = dp_livemem_limits();
	uint8_t *p = mmap(NULL, (size_t)MAPS * PAGE, PROT_NONE,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dp_livemem_found f = { .size = 0 };
	struct dp_err e = DP_ERR_INIT;
	struct timespec from;
	struct kid k;
	size_t n;

	ck_assert_ptr_ne(p, MAP_FAILED);
	for (size_t i = 0; i < MAPS; i += 2)
		ck_assert_int_eq(mprotect(p + i * PAGE, PAGE, PROT_READ), 0);
	kid_start(&k, BIG * ((size_t)5 << 20));
	n = put_dof(k.area, PROVIDERS, k.code);
	n = (n + 7) & ~(size_t)7;
	for (size_t i = 1; i < BIG; i++)
		memcpy(k.area + i * n, k.area, n);
	from = now();
	ck_assert_uint_eq(search(&k, &lim, &f, &e), BIG);
	ck_assert_int_lt(now().tv_sec - from.tv_sec, 10);
	dp_livemem_found_deinit(&f);
	kid_end(&k);
	(void)munmap(p, (size_t)MAPS * PAGE);
}
END_TEST

/* Exactly what a DOF of 3 providers costs, and one step less. */
START_TEST(work_limit)
{
	struct dp_livemem_limits lim = dp_livemem_limits();
	struct dp_livemem_found f = { .size = 0 };
	struct dp_err e = DP_ERR_INIT;
	struct kid k;

	kid_start(&k, 4 * PAGE);
	(void)put_dof(k.area, 3, k.code);
	lim.work = 1 + MK_PROBES(3) + 3;
	ck_assert_uint_eq(search(&k, &lim, &f, &e), 1);
	ck_assert_int_eq(e.code, DP_OK);
	dp_livemem_found_deinit(&f);
	lim.work--;
	ck_assert_uint_eq(search(&k, &lim, &f, &e), 0);
	ck_assert_int_eq(e.code, DP_ELIMIT);
	ck_assert_uint_eq(e.off, (uint64_t)(uintptr_t)k.area);
	ck_assert(!f.full);
	dp_livemem_found_deinit(&f);
	kid_end(&k);
}
END_TEST

/* Sections that share one table of relocations, in 40 KiB: a million. */
static void
put_sharing(uint8_t *dst, uint32_t n)
{
	struct dp_buf strs = { 0 };
	struct mk_dof d = { .order = DP_LE, .version = 2 };
	struct mk_work w = { .d = &d };

	w.data_at = 64 + 32 * ((size_t)n + 3);
	mk_begin(&w);
	mk_put(&w.data, DP_LE, 8, 0);
	mk_end(&w, DP_DOF_STRTAB, 1, 0);
	mk_begin(&w);
	for (uint32_t i = 0; i < n; i++) /* of no type: passed over */
		for (int j = 0; j < 3; j++)
			mk_put(&w.data, DP_LE, 8, 0);
	mk_end(&w, DP_DOF_RELTAB, 8, 24);
	mk_begin(&w);
	mk_put(&w.data, DP_LE, 4, 0); /* STRTAB, RELTAB, what is hit */
	mk_put(&w.data, DP_LE, 4, 1);
	mk_put(&w.data, DP_LE, 4, 1);
	for (uint32_t i = 0; i <= n; i++)
		mk_end(&w, DP_DOF_URELHDR, 4, 0);
	mk_header(&strs, &d, n + 3, w.data_at + w.data.n);
	memcpy(dst, strs.p, strs.n);
	memcpy(dst + strs.n, w.heads.p, w.heads.n);
	memcpy(dst + strs.n + w.heads.n, w.data.p, w.data.n);
	dp_buf_deinit(&strs);
	dp_buf_deinit(&w.heads);
	dp_buf_deinit(&w.data);
}

/* Dear candidates: the search ends, soon, and says so once. */
START_TEST(dear)
{
	const struct dp_livemem_limits lim = dp_livemem_limits();
	struct dp_livemem_found f = { .size = 0 };
	struct dp_err e = DP_ERR_INIT;
	struct timespec from;
	struct kid k;

	kid_start(&k, 256 * 16 * PAGE);
	for (size_t i = 0; i < 256; i++)
		put_sharing(k.area + i * 16 * PAGE, 1000);
	from = now();
	ck_assert_uint_eq(search(&k, &lim, &f, &e), 0);
	ck_assert_int_lt(now().tv_sec - from.tv_sec, 5);
	ck_assert_int_eq(e.code, DP_ELIMIT);
	kid_end(&k);
}
END_TEST

/* Claims of 64 MiB, which the memory does not hold. */
START_TEST(claims)
{
	const struct dp_livemem_limits lim = dp_livemem_limits();
	struct dp_livemem_found f = { .size = 0 };
	struct dp_err e = DP_ERR_INIT;
	const uint64_t size = 64 << 20;
	struct kid k;

	kid_start(&k, PAGE);
	for (size_t i = 0; i + 64 <= PAGE; i += 64) {
		memcpy(k.area + i, "\177DOF\2\1\2", 7);
		memcpy(k.area + i + 40, &size, 8);
	}
	ck_assert_uint_eq(search(&k, &lim, &f, &e), 0);
	ck_assert_int_eq(e.code, DP_ELIMIT);
	ck_assert_uint_eq(e.off, (uint64_t)(uintptr_t)(k.area + 16 * 64));
	kid_end(&k);
}
END_TEST

/* All DOFs that are kept, over several searches. */
START_TEST(kept_limit)
{
	struct dp_livemem_limits lim = dp_livemem_limits();
	struct dp_livemem_found f = { .size = 0 };
	struct dp_err e = DP_ERR_INIT;
	struct kid k;
	uint64_t one;

	kid_start(&k, 4 * PAGE);
	(void)put_dof(k.area, 1, k.code);
	ck_assert_uint_eq(search(&k, &lim, &f, &e), 1);
	one = f.size;
	ck_assert_uint_gt(one, 500);
	lim.kept = 2 * one;
	ck_assert_uint_eq(search(&k, &lim, &f, &e), 2);
	ck_assert_int_eq(e.code, DP_OK);
	ck_assert(!f.full);
	ck_assert_uint_eq(search(&k, &lim, &f, &e), 2);
	ck_assert_int_eq(e.code, DP_ELIMIT);
	ck_assert(f.full);
	dp_livemem_found_deinit(&f);
	e = (struct dp_err)DP_ERR_INIT;
	lim.kept = one - 1;
	ck_assert_uint_eq(search(&k, &lim, &f, &e), 0);
	ck_assert_int_eq(e.code, DP_ELIMIT);
	kid_end(&k);
}
END_TEST

START_TEST(went)
{
	const struct dp_livemem_limits lim = dp_livemem_limits();
	struct dp_livemem_found f = { .size = 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_livemem m;
	struct kid k;

	kid_start(&k, PAGE);
	open_kid(&k, &m);
	kid_end(&k);
	/* Without it, no page is known to be absent. */
	(void)close(m.mem.pagemap);
	m.mem.pagemap = -1;
	ck_assert_msg(dp_livemem_search(&m, &lim, &f, &e), "%s", e.msg);
	ck_assert_uint_eq(f.dofs.n, 0);
	dp_livemem_deinit(&m);
}
END_TEST

/* --- the set ------------------------------------------------------------- */

static bool
to_buf(void *ctx, struct dp_bytes b, struct dp_err *e)
{
	(void)e;
	return dp_buf_add(ctx, b.p, b.n);
}

static unsigned
times(const struct dp_buf *text, const char *what)
{
	struct dp_bytes in = dp_buf_bytes(text);
	const uint8_t *p;
	unsigned n = 0;

	while (in.n != 0 &&
	       (p = memmem(in.p, in.n, what, strlen(what))) != NULL) {
		in.n -= (size_t)(p + 1 - in.p);
		in.p = p + 1;
		n++;
	}
	return n;
}

/* All that a set gives, as NDJSON. */
static void
extract(const struct dp_live_set *s, struct dp_buf *text)
{
	const struct dp_extract_opts opts = { .sources = DP_EXTRACT_ALL,
		                              .empty = true };
	struct dp_err e = DP_ERR_INIT;
	struct dp_extractor *x;
	struct dp_writer w;

	dp_writer_init(&w, (struct dp_sink){ to_buf, text }, true);
	x = dp_extractor_create(&opts, &w);
	ck_assert_ptr_nonnull(x);
	ck_assert(dp_live_put_errors(s, x, &e));
	for (size_t i = 0; i < dp_live_count(s); i++)
		ck_assert_msg(dp_live_extract(s, i, x, &e), "%s", e.msg);
	for (size_t i = 0; i < dp_live_ndofs(s); i++)
		ck_assert_msg(dp_live_extract_dof(s, i, x, &e), "%s", e.msg);
	ck_assert(dp_writer_flush(&w, &e));
	dp_extractor_destroy(x);
	dp_writer_deinit(&w);
}

static struct dp_live_set *
set_of(const struct kid *k)
{
	const struct dp_live_opts lo = { .memory = true };
	struct dp_live_set *s = dp_live_create(&lo);
	struct dp_err e = DP_ERR_INIT;

	ck_assert_ptr_nonnull(s);
	ck_assert_msg(dp_live_add_pid(s, k->pid, &e), "%s", e.msg);
	ck_assert_msg(dp_live_add_pid(s, k->pid, &e), "%s", e.msg);
	return s;
}

/*
 * The child's memory is not looked at when it is added: the DOF comes after
 * that, and the search, in the sandbox, finds it.
 */
START_TEST(sandboxed)
{
	struct kid k;
	int st;
	pid_t pid;

	kid_start(&k, PAGE);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct dp_live_set *s = set_of(&k);
		struct dp_err e = DP_ERR_INIT;

		(void)put_dof(k.area, 1, k.code);
		if (!dp_sandbox_drop_caps(true, &e) || !dp_sandbox_reader(&e))
			_exit(1);
		if (dp_live_ndofs(s) != 0 || !dp_live_search(s, &e))
			_exit(2);
		_exit(dp_live_ndofs(s) == 1 ? 0 : 3);
	}
	ck_assert_int_eq(waitpid(pid, &st, 0), pid);
	ck_assert_msg(WIFEXITED(st) && WEXITSTATUS(st) == 0, "%#x",
	              (unsigned)st);
	kid_end(&k);
}
END_TEST

/* Descriptors above stderr that are open. */
static unsigned
open_fds(void)
{
	unsigned n = 0;

	for (int fd = 3; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

START_TEST(whole_set)
{
	struct dp_buf text = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_live_set *s;
	unsigned before;
	struct kid k;

	kid_start(&k, PAGE);
	(void)put_dof(k.area, 1, k.code);
	before = open_fds();
	s = set_of(&k);
	ck_assert_uint_eq(open_fds(), before + dp_live_count(s) + 2);
	ck_assert(dp_live_search(s, &e));
	ck_assert_uint_eq(open_fds(), before + dp_live_count(s));
	ck_assert_uint_eq(dp_live_ndofs(s), 1);
	extract(s, &text);
	ck_assert_uint_eq(open_fds(), before);
	ck_assert_uint_eq(times(&text, "\"type\":\"error\""), 0);
	ck_assert_uint_eq(times(&text, "\"type\":\"rawdof\""), 1);
	ck_assert_uint_eq(times(&text, "\"path\":\"/dev/zero (deleted)\""), 1);
	ck_assert_uint_eq(times(&text, "\"module\":\"zero (deleted)\""), 1);
	ck_assert_uint_eq(times(&text, "\"module\":\"test_live\""), 1);
	dp_live_destroy(s);
	dp_buf_deinit(&text);
	kid_end(&k);
}
END_TEST

/* What the kernel calls "[heap]" is no path. */
START_TEST(heap)
{
	const uint8_t *code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC,
	                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *p = sbrk(PAGE); /* never given back */
	struct dp_buf text = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct dp_live_set *s;
	struct kid k;

	ck_assert_ptr_ne(code, MAP_FAILED);
	ck_assert_ptr_ne(p, (void *)-1);
	p += -(uintptr_t)p & 7;
	(void)put_dof(p, 1, code);
	kid_start(&k, PAGE);
	s = set_of(&k);
	ck_assert(dp_live_search(s, &e));
	extract(s, &text);
	ck_assert_uint_ge(times(&text, "\"module\":\"[heap]\""), 1);
	dp_live_destroy(s);
	dp_buf_deinit(&text);
	kid_end(&k);
}
END_TEST

/* A mapped file that cannot be read is an error, not an empty file. */
START_TEST(unreadable)
{
	int null = open("/dev/null", O_WRONLY);
	char self[4096], path[64], link[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof self);
	struct dp_buf text = { 0 };
	struct dp_live_set *s;
	unsigned n = 0;
	struct kid k;

	kid_start(&k, PAGE);
	s = set_of(&k);
	for (int fd = 3; fd < 256; fd++) {
		(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		if (readlink(path, link, sizeof link) == len &&
		    memcmp(link, self, (size_t)len) == 0)
			n += dup2(null, fd) == fd;
	}
	ck_assert_uint_eq(n, 1);
	extract(s, &text);
	ck_assert_uint_eq(times(&text, "\"type\":\"error\""), 1);
	ck_assert_uint_eq(times(&text, "Bad file descriptor"), 1);
	ck_assert_uint_eq(times(&text, "/test_live\""), 1);
	dp_live_destroy(s);
	dp_buf_deinit(&text);
	kid_end(&k);
	(void)close(null);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("live");
	TCase *tc = tcase_create("live");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, finds);
	tcase_add_test(tc, edges);
	tcase_add_test(tc, many_maps);
	tcase_add_test(tc, work_limit);
	tcase_add_test(tc, dear);
	tcase_add_test(tc, claims);
	tcase_add_test(tc, kept_limit);
	tcase_add_test(tc, went);
	tcase_add_test(tc, sandboxed);
	tcase_add_test(tc, whole_set);
	tcase_add_test(tc, heap);
	tcase_add_test(tc, unreadable);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
