/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/proc, on texts made here and on real children.  The independent
 * answers are /proc read by this file's own few lines, dl_iterate_phdr(),
 * and what the children say through a pipe.
 */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <link.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/bias.h"
#include "proc/maps.h"
#include "proc/memory.h"
#include "proc/objects.h"
#include "proc/process.h"

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifndef WITH_ASAN
#define WITH_ASAN 0
#endif

enum { PAGE = 4096 };

static char dir[64];

static void
setup(void)
{
	(void)snprintf(dir, sizeof dir, "/tmp/dp-proc-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static int
rm_one(const char *path, const struct stat *st, int flag, struct FTW *f)
{
	(void)st;
	(void)flag;
	(void)f;
	return remove(path);
}

static void
teardown(void)
{
	(void)nftw(dir, rm_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* ---- maps texts ---- */

static void
one(const char *text, struct dp_map *map, struct dp_maps *m)
{
	struct dp_err e = DP_ERR_INIT;

	dp_maps_init(m, dp_cstr(text));
	ck_assert_int_eq(dp_maps_next(m, map, &e), DP_MAPS_ENTRY);
}

START_TEST(maps_good)
{
	static struct dp_maps m;
	struct dp_map map;

	one("55dad8eb2000-55dad8ec6000 r-xp 00003000 fe:00 248030      "
	    "               /usr/bin/sed\n",
	    &map, &m);
	ck_assert_uint_eq(map.start, 0x55dad8eb2000);
	ck_assert_uint_eq(map.end, 0x55dad8ec6000);
	ck_assert_uint_eq(map.perms, DP_MAP_R | DP_MAP_X);
	ck_assert_uint_eq(map.off, 0x3000);
	ck_assert_uint_eq(map.dev, makedev(0xfe, 0));
	ck_assert_uint_eq(map.ino, 248030);
	ck_assert(dp_bytes_is(map.path, "/usr/bin/sed") && !map.deleted);

	one("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0    "
	    "              [vsyscall]\n",
	    &map, &m);
	ck_assert_uint_eq(map.perms, DP_MAP_X);
	ck_assert_uint_eq(map.end, UINT64_C(0xffffffffff601000));
	ck_assert(dp_bytes_is(map.path, "[vsyscall]"));

	one("1000-2000 rw-s fffffffffffff000 00:1a 18446744073709551615 \n",
	    &map, &m);
	ck_assert_uint_eq(map.perms, DP_MAP_R | DP_MAP_W | DP_MAP_SHARED);
	ck_assert_uint_eq(map.ino, UINT64_MAX);
	ck_assert_uint_eq(map.dev, makedev(0, 0x1a));
	ck_assert_uint_eq(map.path.n, 0);

	one("1000-2000 ---p 00000000 00:00 0\n", &map, &m);
	ck_assert_uint_eq(map.perms, 0);

	one("1000-2000 r--p 0 fff:fffff 7 /a b\\012c\\040\\\xff (deleted)\n",
	    &map, &m);
	ck_assert(map.deleted);
	ck_assert(dp_bytes_is(map.path, "/a b\nc\\040\\\xff (deleted)"));
	ck_assert(dp_bytes_is(dp_map_bare_path(&map), "/a b\nc\\040\\\xff"));
	ck_assert_uint_eq(major(map.dev), 0xfff);
	ck_assert_uint_eq(minor(map.dev), 0xfffff);
}
END_TEST

static const struct {
	const char *line;
	uint64_t off;
} bad_lines[] = {
	{ "\n", 0 },
	{ "1000-2000 r--p 0 0:0 0", 0 }, /* cut */
	{ "x000-2000 r--p 0 0:0 0\n", 0 },
	{ "1000 2000 r--p 0 0:0 0\n", 4 },
	{ "1000-2000 rq-p 0 0:0 0\n", 14 },
	{ "1000-2000 r--p 0 0:0\n", 20 },
	{ "1000-2000 r--p 0 00 0\n", 19 },
	{ "1000-2000 r--p  0 0:0 0\n", 15 },
	{ "1000-2000 r--p 0 0:0 x\n", 21 },
	{ "1000-2000 r--p 0 0:0 1/x\n", 22 },
	{ "2000-2000 r--p 0 0:0 0\n", 22 },
	{ "2000-1000 r--p 0 0:0 0\n", 22 },
	{ "1000-2000 r--p 0 100000000:0 0\n", 30 },
	{ "10000000000000000-2 r--p 0 0:0 0\n", 16 },
	{ "1000-2000 r--p 0 0:0 18446744073709551616\n", 40 },
	{ "1000-2000 r--p", 0 },
};

START_TEST(maps_bad)
{
	static const char good[] = "a000-b000 r--p 0 0:0 5 /g\n";
	static struct dp_maps m;
	struct dp_map map;
	char text[256];

	/* In front of each there is a good line, and behind it another. */
	(void)snprintf(text, sizeof text, "%s%s%s", good, bad_lines[_i].line,
	               strchr(bad_lines[_i].line, '\n') ? good : "");
	dp_maps_init(&m, dp_cstr(text));
	for (int i = 0; i < 3; i++) {
		struct dp_err e = DP_ERR_INIT;
		enum dp_maps_step step = dp_maps_next(&m, &map, &e);

		if (i == 1) {
			ck_assert_int_eq(step, DP_MAPS_BAD);
			ck_assert_int_eq(e.code, DP_EFORMAT);
			ck_assert_uint_eq(e.off,
			                  strlen(good) + bad_lines[_i].off);
		} else if (i == 0 || strchr(bad_lines[_i].line, '\n')) {
			ck_assert_int_eq(step, DP_MAPS_ENTRY);
			ck_assert(dp_bytes_is(map.path, "/g"));
		} else {
			ck_assert_int_eq(step, DP_MAPS_END);
		}
	}
}
END_TEST

/* Each prefix and each flipped byte, in a block of just that size. */
START_TEST(maps_mangled)
{
	static const char text[] =
		"7f00-8f00 r-xp 00001000 fe:01 77   /l\\012 (deleted)\n"
		"9000-a000 rw-p 00000000 00:00 0    [heap]\n";
	static struct dp_maps m;
	size_t n = sizeof text - 1;

	for (size_t i = 0; i <= 2 * n; i++) {
		size_t len = i <= n ? i : n;
		uint8_t *p = malloc(len + (len == 0));
		int steps = 0;

		memcpy(p, text, len);
		if (i > n)
			p[i - n - 1] ^= 0x10;
		dp_maps_init(&m, (struct dp_bytes){ p, len });
		for (;;) {
			struct dp_err e = DP_ERR_INIT;
			struct dp_map map;

			if (dp_maps_next(&m, &map, &e) == DP_MAPS_END)
				break;
			ck_assert_uint_eq(++steps, m.n);
		}
		ck_assert_int_le(steps, 4);
		free(p);
	}
}
END_TEST

START_TEST(maps_limits)
{
	static const char line[] = "1-2 r--p 0 0:0 0\n";
	static struct dp_maps m;
	size_t len = sizeof line - 1, n = 0;
	char *text = malloc((DP_MAX_MAPS + 2) * len);
	struct dp_map map;

	for (size_t i = 0; i < DP_MAX_MAPS + 2; i++)
		memcpy(text + i * len, line, len);
	for (size_t more = 0; more < 3; more++) {
		struct dp_err e = DP_ERR_INIT;

		dp_maps_init(&m,
		             (struct dp_bytes){ (uint8_t *)text,
		                                (DP_MAX_MAPS + more) * len });
		for (n = 0; dp_maps_next(&m, &map, &e) == DP_MAPS_ENTRY;)
			n++;
		ck_assert_uint_eq(n, DP_MAX_MAPS);
		ck_assert_int_eq(e.code, more == 0 ? DP_OK : DP_ELIMIT);
		ck_assert_int_eq(dp_maps_next(&m, &map, &e), DP_MAPS_END);
	}
	n = (size_t)sprintf(text, "1-2 r--p 0 0:0 9 ");
	memset(text + n, 'p', DP_MAX_PATH + 1);
	for (size_t more = 0; more < 2; more++) {
		struct dp_err e = DP_ERR_INIT;

		text[n + DP_MAX_PATH + more] = '\n';
		dp_maps_init(&m,
		             (struct dp_bytes){ (uint8_t *)text,
		                                n + DP_MAX_PATH + more + 1 });
		ck_assert_int_eq(dp_maps_next(&m, &map, &e),
		                 more == 0 ? DP_MAPS_ENTRY : DP_MAPS_BAD);
		ck_assert_int_eq(e.code, more == 0 ? DP_OK : DP_ELIMIT);
		text[n + DP_MAX_PATH] = 'p';
	}
	free(text);
}
END_TEST

/* ---- stat and status ---- */

#define STAT_TAIL                                                              \
	" S 1 2 3 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654321 10 11 12\n"

START_TEST(stat_texts)
{
	static const char *const good[] = {
		"42 (sleep)" STAT_TAIL,
		"42 (a) b ) (c)" STAT_TAIL,
		"42 ()) R 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 7 1)" STAT_TAIL,
		"42 (new\nline)" STAT_TAIL,
	};
	static const char *const bad[] = {
		"",
		"42 (sleep",
		"42 (sleep)",
		"42 (sleep) S 1 2 3",
		"42 (sleep) S 1 2 3 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 x 1",
		"42 (sleep) S 1 2 3 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0",
		("42 (x) S 1 2 3 0 0 0 1 2 3 4 5 6 7 8 9 0 1 0 "
		 "18446744073709551616"),
		"42 (sleep) SS 1",
	};
	uint64_t start = 0;
	char state = 0;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct dp_err e = DP_ERR_INIT;

		ck_assert_msg(
			dp_stat_parse(dp_cstr(good[i]), &start, &state, &e),
			"%zu: %s", i, e.msg);
		ck_assert_uint_eq(start, 987654321);
		ck_assert_int_eq(state, 'S');
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct dp_err e = DP_ERR_INIT;

		start = 5;
		ck_assert(!dp_stat_parse(dp_cstr(bad[i]), &start, &state, &e));
		ck_assert_int_eq(e.code, DP_EFORMAT);
		ck_assert_uint_eq(start, 5);
	}
}
END_TEST

START_TEST(status_texts)
{
	static const struct {
		const char *text;
		pid_t tgid, ns; /* tgid 0: refused */
	} rows[] = {
		{ "Name:\tx\nTgid:\t10\nNSpid:\t10\t3\t1\n", 10, 1 },
		{ "Name:\tx\nTgid:\t10\nPid:\t10\n", 10, 10 },
		{ "Name:\tTgid:\t5\nTgid:\t10", 10, 10 },
		{ "Name:\tx\nNSpid:\t10\n", 0, 0 },
		{ "Tgid:\t10\nNSpid:\n", 0, 0 },
		{ "Tgid:\t10\nNSpid:\t1x\n", 0, 0 },
		{ "Tgid:\t2147483648\n", 0, 0 },
		{ "Tgid:\t-4\n", 0, 0 },
		{ "", 0, 0 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct dp_err e = DP_ERR_INIT;
		pid_t tgid = -1, ns = -1;
		bool ok =
			dp_status_parse(dp_cstr(rows[i].text), &tgid, &ns, &e);

		ck_assert_msg(ok == (rows[i].tgid != 0), "row %zu", i);
		ck_assert_int_eq(tgid, ok ? rows[i].tgid : -1);
		ck_assert_int_eq(ns, ok ? rows[i].ns : -1);
	}
}
END_TEST

/* ---- children ---- */

/* A child that prepares something, tells of it, and waits to be ended. */
struct kid {
	pid_t pid;
	int out; /* what it wrote */
	int in;  /* closing it ends the child */
};

typedef bool kid_fn(int out, void *arg);

static void
kid_start(struct kid *k, kid_fn *fn, void *arg)
{
	int down[2], up[2];
	char c = 0;

	ck_assert_int_eq(pipe2(down, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(up, O_CLOEXEC), 0);
	k->pid = fork();
	if (k->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(down[1]);
		(void)close(up[0]);
		if (fn(up[1], arg) && write(up[1], "k", 1) == 1)
			while (read(down[0], &c, 1) > 0)
				;
		_exit(0);
	}
	(void)close(down[0]);
	(void)close(up[1]);
	k->out = up[0];
	k->in = down[1];
}

static bool
kid_says(const struct kid *k, void *p, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = read(k->out, (char *)p + done, n - done);

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static bool
kid_ready(const struct kid *k)
{
	char c;

	return kid_says(k, &c, 1) && c == 'k';
}

static void
kid_end(struct kid *k)
{
	(void)close(k->in);
	(void)close(k->out);
	(void)kill(k->pid, SIGKILL);
	ck_assert_int_eq(waitpid(k->pid, NULL, 0), k->pid);
}

static bool
kid_idle(int out, void *arg)
{
	(void)out;
	return arg == NULL || prctl(PR_SET_NAME, arg) == 0;
}

/* One field out of /proc by this test's own reading. */
static bool
own_link(pid_t pid, const char *what, char *to, size_t n)
{
	char name[64];
	ssize_t got;

	(void)snprintf(name, sizeof name, "/proc/%d/%s", (int)pid, what);
	got = readlink(name, to, n - 1);
	if (got < 0)
		return false;
	to[got] = '\0';
	return true;
}

START_TEST(process)
{
	char name[] = ") Z 9 (x) 1", link[128], want[128];
	struct dp_err e = DP_ERR_INIT;
	struct dp_process p, q;
	struct dp_buf text = { NULL, 0, 0 };
	struct kid k;
	bool deleted = true;

	kid_start(&k, kid_idle, name);
	ck_assert(kid_ready(&k));
	ck_assert_msg(dp_process_open(k.pid, &p, &e), "%s", e.msg);
	ck_assert_int_eq(p.pid, k.pid);
	ck_assert(own_link(k.pid, "ns/pid", link, sizeof link));
	(void)snprintf(want, sizeof want, "pid:[%" PRIu64 "]", p.pidns);
	ck_assert_str_eq(link, want);
	ck_assert_uint_ne(p.start, 0);
	ck_assert(dp_process_alive(&p));
	p.start++;
	ck_assert(!dp_process_alive(&p));
	p.start--;
	ck_assert(dp_process_exe(&p, &text, &deleted, &e));
	ck_assert(own_link(k.pid, "exe", link, sizeof link));
	ck_assert(dp_bytes_is(dp_buf_bytes(&text), link) && !deleted);

	ck_assert(dp_process_open(getpid(), &q, &e));
	ck_assert_uint_ge(p.start, q.start);
	dp_process_deinit(&q);

	ck_assert_int_eq(kill(k.pid, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)k.pid, NULL, WEXITED | WNOWAIT),
	                 0);
	ck_assert(!dp_process_alive(&p)); /* a zombie */
	kid_end(&k);
	ck_assert(!dp_process_alive(&p));
	ck_assert(!dp_process_maps(&p, &text, &e));
	ck_assert(e.os_errno == ESRCH || e.os_errno == ENOENT);
	dp_process_deinit(&p);
	dp_process_deinit(&p);
	dp_buf_deinit(&text);
}
END_TEST

static void *
thread_tid(void *arg)
{
	struct dp_err *e = arg;
	struct dp_process p;

	return dp_process_open(gettid(), &p, e) ? e : NULL;
}

START_TEST(process_refused)
{
	struct dp_err e[4] = { DP_ERR_INIT, DP_ERR_INIT, DP_ERR_INIT,
		               DP_ERR_INIT };
	struct dp_process p = { .pid = -7 };
	pthread_t t;
	void *opened;

	ck_assert(!dp_process_open(0, &p, &e[0]));
	ck_assert_int_eq(e[0].code, DP_EUSAGE);
	ck_assert(!dp_process_open(-1, &p, &e[1]));
	ck_assert(!dp_process_open(INT32_MAX, &p, &e[2]));
	ck_assert_int_eq(e[2].os_errno, ENOENT);
	ck_assert_int_eq(p.pid, -7);
	ck_assert_int_eq(pthread_create(&t, NULL, thread_tid, &e[3]), 0);
	ck_assert_int_eq(pthread_join(t, &opened), 0);
	ck_assert_ptr_null(opened);
	ck_assert_int_eq(e[3].code, DP_EUSAGE);
}
END_TEST

START_TEST(process_list)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_vec v = { NULL, 0, 0 };
	bool self = false, kid = false;
	struct kid k;

	kid_start(&k, kid_idle, NULL);
	ck_assert(kid_ready(&k));
	ck_assert(dp_process_list(&v, &e));
	for (size_t i = 0; i < v.n; i++) {
		pid_t pid = *DP_VEC_AT(&v, pid_t, i);

		self |= pid == getpid();
		kid |= pid == k.pid;
		if (i > 0)
			ck_assert_int_lt(*DP_VEC_AT(&v, pid_t, i - 1), pid);
	}
	ck_assert(self && kid);
	dp_vec_deinit(&v);
	kid_end(&k);
}
END_TEST

/* The pid is given to another process: the open one does not become it. */
START_TEST(process_reuse)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf text = { NULL, 0, 0 };
	struct dp_process p;
	struct kid k;
	struct clone_args how = { .exit_signal = SIGCHLD,
		                  .set_tid = (uintptr_t)&k.pid,
		                  .set_tid_size = 1 };
	pid_t again;

	kid_start(&k, kid_idle, NULL);
	ck_assert(kid_ready(&k));
	ck_assert(dp_process_open(k.pid, &p, &e));
	kid_end(&k);
	again = (pid_t)syscall(SYS_clone3, &how, sizeof how);
	if (again == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	if (again != k.pid) {
		(void)printf("skipped: cannot choose pids here\n");
	} else {
		ck_assert(!dp_process_alive(&p));
		ck_assert(!dp_process_maps(&p, &text, &e));
		(void)kill(again, SIGKILL);
		(void)waitpid(again, NULL, 0);
	}
	dp_process_deinit(&p);
	dp_buf_deinit(&text);
}
END_TEST

static bool
kid_pidns(int out, void *arg)
{
	pid_t pid;

	(void)arg;
	if (unshare(CLONE_NEWPID) != 0)
		return false;
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	return write(out, &pid, sizeof pid) == sizeof pid;
}

START_TEST(process_pidns)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_process p, self;
	struct kid k;
	pid_t pid;

	kid_start(&k, kid_pidns, NULL);
	if (!kid_says(&k, &pid, sizeof pid)) {
		(void)printf("skipped: no right to a new pid namespace\n");
	} else {
		ck_assert_msg(dp_process_open(pid, &p, &e), "%s", e.msg);
		ck_assert(dp_process_open(getpid(), &self, &e));
		ck_assert_int_eq(p.pid, pid);
		ck_assert_int_eq(p.ns_pid, 1);
		ck_assert_uint_ne(p.pidns, self.pidns);
		dp_process_deinit(&p);
		dp_process_deinit(&self);
		(void)kill(pid, SIGKILL);
	}
	kid_end(&k);
}
END_TEST

/* ---- objects ---- */

/* The same lines as sscanf() reads them: all of a running process. */
START_TEST(maps_live)
{
	static struct dp_maps m;
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf text = { NULL, 0, 0 };
	struct dp_process p;
	struct dp_map map;
	char *line, *save = NULL;
	int n = 0;

	ck_assert(dp_process_open(getpid(), &p, &e));
	ck_assert(dp_process_maps(&p, &text, &e));
	ck_assert(dp_buf_add(&text, "", 1));
	dp_maps_init(&m, (struct dp_bytes){ text.p, text.n - 1 });
	while (dp_maps_next(&m, &map, &e) == DP_MAPS_ENTRY)
		n++;
	ck_assert_int_eq(e.code, DP_OK);
	ck_assert_int_gt(n, 10);
	dp_maps_init(&m, (struct dp_bytes){ text.p, text.n - 1 });
	line = strdup((char *)text.p);
	for (char *l = strtok_r(line, "\n", &save); l != NULL;
	     l = strtok_r(NULL, "\n", &save), n--) {
		uint64_t start, end, off, ino;
		unsigned maj, min;
		char perms[5], path[512] = "";

		ck_assert_int_ge(sscanf(l,
		                        "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64
		                        " %x:%x %" SCNu64 " %511[^\n]",
		                        &start, &end, perms, &off, &maj, &min,
		                        &ino, path),
		                 7);
		ck_assert_int_eq(dp_maps_next(&m, &map, &e), DP_MAPS_ENTRY);
		ck_assert(map.start == start && map.end == end &&
		          map.off == off && map.ino == ino &&
		          map.dev == makedev(maj, min));
		ck_assert(dp_bytes_is(map.path, path));
		ck_assert_int_eq((map.perms & DP_MAP_X) != 0, perms[2] == 'x');
	}
	ck_assert_int_eq(n, 0);
	free(line);
	dp_buf_deinit(&text);
	dp_process_deinit(&p);
}
END_TEST

static const char grouped[] =
	"1000-2000 r--p 00000000 fe:00 7 /b\n"
	"2000-3000 r-xp 00001000 fe:00 7 /b\n"
	"3000-4000 r-xp 00000000 fe:01 7 /other-device\n"
	"junk\n"
	"4000-5000 r--p 00000000 fe:00 8 /data\n"
	"5000-6000 rw-p 00000000 00:00 0 [heap]\n"
	"6000-7000 rw-p 00002000 fe:00 7 /b\n"
	"8000-9000 r--p 00000000 fe:00 9 /link1 (deleted)\n"
	"9000-a000 r-xp 00001000 fe:00 9 /link2\n"
	"a000-b000 r-xp 00000000 00:01 9 /memfd:jit (deleted)\n";

START_TEST(objects_grouped)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_objects o;
	const struct dp_object *p;

	ck_assert(dp_objects_parse(dp_cstr(grouped), 0, &o, &e));
	ck_assert_uint_eq(o.nbad, 1);
	ck_assert_uint_eq(o.bad_off,
	                  (size_t)(strstr(grouped, "junk") - grouped));
	ck_assert_uint_eq(o.objs.n, 4);
	p = o.objs.p;
	ck_assert_str_eq((const char *)p[0].path.p, "/b");
	ck_assert_uint_eq(p[0].nmaps, 3);
	ck_assert_uint_eq(p[0].maps[2].off, 0x2000);
	ck_assert_uint_eq(p[0].dev, makedev(0xfe, 0));
	ck_assert_str_eq((const char *)p[1].path.p, "/other-device");
	ck_assert_str_eq((const char *)p[2].path.p, "/link2");
	ck_assert(!p[2].deleted && p[2].nmaps == 2);
	ck_assert_str_eq((const char *)p[3].path.p, "/memfd:jit");
	ck_assert(p[3].deleted && p[3].exec);
	ck_assert_uint_eq(p[3].path.n, strlen("/memfd:jit"));
	dp_objects_deinit(&o);

	ck_assert(dp_objects_parse(dp_cstr(grouped), DP_OBJECTS_ALL, &o, &e));
	ck_assert_uint_eq(o.objs.n, 5);
	p = o.objs.p;
	ck_assert_str_eq((const char *)p[2].path.p, "/data");
	ck_assert(!p[2].exec);
	dp_objects_deinit(&o);

	ck_assert(dp_objects_parse(dp_cstr(""), 0, &o, &e));
	ck_assert_uint_eq(o.objs.n, 0);
	dp_objects_deinit(&o);
}
END_TEST

START_TEST(object_identity)
{
	struct dp_map maps[2] = {
		{ .start = 0x1000, .end = 0x3000, .off = 0 },
		{ .start = 0x8000, .end = 0x9000, .off = 0x4000 }
	};
	struct dp_object o = { .ino = 500, .maps = maps, .nmaps = 2 };
	static const struct {
		unsigned maps_major, maps_minor, major, minor;
		ino_t ino;
		mode_t mode;
		off_t size;
		int want; /* 0 no, 1 same device, 2 another device */
	} rows[] = {
		{ 0xfe, 0, 0xfe, 0, 500, S_IFREG, 0, 1 },
		/* btrfs, overlayfs: FIELD-REPORTS case 3.37 */
		{ 0, 0x1a, 0, 0x18, 500, S_IFREG, 0x4001, 2 },
		{ 0, 0x1a, 0, 0x18, 500, S_IFREG, 0x5000, 2 },
		{ 0, 0x1a, 0, 0x18, 500, S_IFREG, 0x4000, 0 },
		{ 0, 0x1a, 0, 0x18, 501, S_IFREG, 0x5000, 0 },
		{ 8, 1, 0, 0x30, 500, S_IFREG, 0x5000, 2 },
		/* two disks: inode numbers meet by chance */
		{ 8, 1, 8, 2, 500, S_IFREG, 0x5000, 0 },
		{ 0xfe, 0, 0xfe, 0, 501, S_IFREG, 0x5000, 0 },
		{ 0xfe, 0, 0xfe, 0, 500, S_IFIFO, 0x5000, 0 },
		{ 0xfe, 0, 0xfe, 0, 500, S_IFCHR, 0x5000, 0 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct stat st = { .st_ino = rows[i].ino,
			           .st_mode = rows[i].mode,
			           .st_size = rows[i].size };
		bool differs = false;
		int got;

		o.dev = makedev(rows[i].maps_major, rows[i].maps_minor);
		st.st_dev = makedev(rows[i].major, rows[i].minor);
		got = dp_object_is(&o, &st, &differs) ? 1 + differs : 0;
		ck_assert_msg(got == rows[i].want, "row %zu: %d", i, got);
	}
}
END_TEST

static void
put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	ck_assert_int_eq(close(fd), 0);
}

/* Map a file executable; `arg` is its path. */
static bool
kid_map(int out, void *arg)
{
	int fd = open(arg, O_RDONLY);

	(void)out;
	return mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) !=
	       MAP_FAILED;
}

static const struct dp_object *
find(const struct dp_objects *o, const char *path)
{
	for (size_t i = 0; i < o->objs.n; i++) {
		const struct dp_object *p =
			DP_VEC_AT(&o->objs, struct dp_object, i);

		if (dp_bytes_is(p->path, path))
			return p;
	}
	return NULL;
}

/* The object of `path` in the child and what it holds, or "" if not. */
static struct dp_objects
look(const struct kid *k, struct dp_process *p)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_objects o;

	ck_assert_msg(dp_process_open(k->pid, p, &e), "%s", e.msg);
	ck_assert_msg(dp_objects_read(p, 0, &o, &e), "%s", e.msg);
	return o;
}

static void
check_holds(const struct dp_process *p, const struct dp_object *o,
            const char *text)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_object_file f;
	char got[64] = "";
	int flags;

	ck_assert_ptr_nonnull(o);
	ck_assert_msg(dp_object_open(p, o, &f, &e), "%s", e.msg);
	ck_assert_int_eq(read(f.fd, got, sizeof got - 1), (int)strlen(text));
	ck_assert_str_eq(got, text);
	flags = fcntl(f.fd, F_GETFL);
	ck_assert_int_eq(flags & O_ACCMODE, O_RDONLY);
	ck_assert_int_eq(fcntl(f.fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(close(f.fd), 0);
}

enum { WAY_FAILED = 100, WAY_UNSUP, WAY_IO };

/*
 * Open again without the capabilities that map_files asks for: gives the way
 * that was taken, or WAY_*.  Needs root, as most of what is opened here.
 */
static int
way_without_caps(const struct dp_process *p, const struct dp_object *o)
{
	static const cap_value_t lost[] = { CAP_SYS_ADMIN,
		                            CAP_CHECKPOINT_RESTORE };
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct dp_err e = DP_ERR_INIT;
		struct dp_object_file f;
		cap_t c = cap_get_proc();

		(void)alarm(10);
		if (cap_set_flag(c, CAP_EFFECTIVE, 2, lost, CAP_CLEAR) != 0 ||
		    cap_set_flag(c, CAP_PERMITTED, 2, lost, CAP_CLEAR) != 0 ||
		    cap_set_proc(c) != 0)
			_exit(WAY_FAILED);
		if (dp_object_open(p, o, &f, &e))
			_exit((int)f.via);
		_exit(e.code == DP_EUNSUP ? WAY_UNSUP : WAY_IO);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Names that try the escapes and the suffix of the kernel. */
START_TEST(object_names)
{
	static const char *const names[] = {
		"plain",  "a b",         "tab\there",    "line\nbreak",
		"back\\", "x (deleted)", "\xff\xfe\x80", "x\\040y",
	};
	char path[128];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct dp_process p;
		struct dp_objects o;
		const struct dp_object *obj;
		struct kid k;

		(void)snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		put_file(path, names[i]);
		kid_start(&k, kid_map, path);
		ck_assert(kid_ready(&k));
		o = look(&k, &p);
		obj = find(&o, path);
		ck_assert_msg(obj != NULL, "%zu: %s", i, path);
		ck_assert(!obj->deleted);
		check_holds(&p, obj, names[i]);
		dp_objects_deinit(&o);

		ck_assert_int_eq(unlink(path), 0);
		ck_assert(dp_objects_read(&p, 0, &o,
		                          &(struct dp_err)DP_ERR_INIT));
		obj = find(&o, path);
		ck_assert(obj != NULL && obj->deleted);
		if (geteuid() == 0)
			check_holds(&p, obj, names[i]);
		dp_objects_deinit(&o);
		dp_process_deinit(&p);
		kid_end(&k);
	}
}
END_TEST

/* A file that is gone, and then something else under its name. */
START_TEST(object_replaced)
{
	struct dp_process p;
	struct dp_objects o;
	const struct dp_object *obj;
	struct kid k;
	char path[128], fake[160];

	if (geteuid() != 0) {
		(void)printf("skipped: map_files needs root\n");
		return;
	}
	(void)snprintf(path, sizeof path, "%s/lib.so", dir);
	(void)snprintf(fake, sizeof fake, "%s (deleted)", path);
	put_file(path, "old");
	kid_start(&k, kid_map, path);
	ck_assert(kid_ready(&k));
	ck_assert_int_eq(unlink(path), 0);
	/* A file that is called as the deleted one is printed. */
	put_file(fake, "fake");
	o = look(&k, &p);
	obj = find(&o, path);
	ck_assert(obj != NULL && obj->deleted);
	check_holds(&p, obj, "old");
	ck_assert_int_eq(way_without_caps(&p, obj), WAY_IO);
	put_file(path, "new");
	check_holds(&p, obj, "old");
	ck_assert_int_eq(way_without_caps(&p, obj), WAY_IO);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0666), 0);
	check_holds(&p, obj, "old");
	ck_assert_int_eq(way_without_caps(&p, obj), WAY_UNSUP);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	ck_assert_int_gt(way_without_caps(&p, obj), WAY_FAILED);
	dp_objects_deinit(&o);
	dp_process_deinit(&p);
	kid_end(&k);
}
END_TEST

static bool
kid_device(int out, void *arg)
{
	int fd = open("/dev/zero", O_RDWR);
	int mfd = memfd_create("jit code", 0);
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	(void)out;
	(void)arg;
	return write(mfd, "memfd", 5) == 5 && p != MAP_FAILED &&
	       mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, mfd, 0) !=
	               MAP_FAILED;
}

START_TEST(object_device_and_memfd)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_object_file f;
	const struct dp_object *dev;
	struct dp_process p;
	struct dp_objects o;
	struct kid k;

	kid_start(&k, kid_device, NULL);
	ck_assert(kid_ready(&k));
	o = look(&k, &p);
	dev = find(&o, "/dev/zero");
	ck_assert(dev != NULL && find(&o, "/memfd:jit code") != NULL);
	ck_assert(!dp_object_open(&p, dev, &f, &e));
	ck_assert_int_eq(e.code, DP_EUNSUP);
	if (geteuid() == 0)
		check_holds(&p, find(&o, "/memfd:jit code"), "memfd");
	else
		(void)printf("skipped: a memfd needs root\n");
	dp_objects_deinit(&o);
	dp_process_deinit(&p);
	kid_end(&k);
}
END_TEST

/* Copy and start a program, then delete its file. */
START_TEST(object_deleted_exe)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf path = { NULL, 0, 0 };
	struct dp_object_file f;
	const struct dp_object *obj;
	struct dp_process p;
	struct dp_objects o;
	struct kid k;
	char exe[128], cmd[256], elf[4];
	int done[2];
	bool deleted = false;

	(void)snprintf(exe, sizeof exe, "%s/sleeper", dir);
	(void)snprintf(cmd, sizeof cmd, "cp /bin/sleep %s", exe);
	ck_assert_int_eq(system(cmd), 0);
	ck_assert_int_eq(pipe2(done, O_CLOEXEC), 0);
	k.pid = fork();
	if (k.pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)execl(exe, "sleeper", "60", NULL);
		_exit(1);
	}
	(void)close(done[1]);
	/* It ends when the execve() has closed the other side. */
	ck_assert_int_eq(read(done[0], cmd, 1), 0);
	k.out = done[0];
	k.in = -1;
	ck_assert_int_eq(unlink(exe), 0);
	o = look(&k, &p);
	ck_assert(dp_process_exe(&p, &path, &deleted, &e));
	ck_assert(dp_bytes_is(dp_buf_bytes(&path), exe) && deleted);
	obj = find(&o, exe);
	ck_assert(obj != NULL && obj->deleted);
	ck_assert_msg(dp_object_open(&p, obj, &f, &e), "%s", e.msg);
	ck_assert_int_eq(read(f.fd, elf, 4), 4);
	ck_assert_mem_eq(elf, "\177ELF", 4);
	(void)close(f.fd);
	if (geteuid() == 0)
		ck_assert_int_eq(way_without_caps(&p, obj), DP_VIA_EXE);
	dp_buf_deinit(&path);
	dp_objects_deinit(&o);
	dp_process_deinit(&p);
	kid_end(&k);
}
END_TEST

struct place {
	const char *root; /* chroot() here */
	const char *fs;   /* a mount here in a namespace of its own */
	const char *path; /* the file, as the child sees it */
};

static bool
kid_elsewhere(int out, void *arg)
{
	const struct place *pl = arg;
	int fd;

	if (pl->fs != NULL) {
		if (unshare(CLONE_NEWNS) != 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		    mount("none", pl->fs, "tmpfs", 0, NULL) != 0)
			return false;
		fd = open(pl->path, O_WRONLY | O_CREAT, 0644);
		if (write(fd, "inner", 5) != 5 || close(fd) != 0)
			return false;
	}
	if (pl->root != NULL && (chroot(pl->root) != 0 || chdir("/") != 0))
		return false;
	return kid_map(out, (void *)(uintptr_t)pl->path);
}

START_TEST(object_chroot)
{
	struct place pl = { .root = dir, .path = "/lib.so" };
	struct dp_process p;
	struct dp_objects o;
	const struct dp_object *obj;
	struct kid k;
	char path[128];

	(void)snprintf(path, sizeof path, "%s/lib.so", dir);
	put_file(path, "jailed");
	kid_start(&k, kid_elsewhere, &pl);
	if (!kid_ready(&k)) {
		(void)printf("skipped: chroot needs root\n");
	} else {
		o = look(&k, &p);
		obj = find(&o, path);
		check_holds(&p, obj, "jailed");
		ck_assert_int_eq(way_without_caps(&p, obj), DP_VIA_PATH);
		dp_objects_deinit(&o);
		dp_process_deinit(&p);
	}
	kid_end(&k);
}
END_TEST

START_TEST(object_mount_namespace)
{
	char path[128];
	struct place pl = { .fs = dir, .path = path };
	struct dp_process p;
	struct dp_objects o;
	const struct dp_object *obj;
	struct kid k;

	(void)snprintf(path, sizeof path, "%s/lib.so", dir);
	put_file(path, "outer");
	kid_start(&k, kid_elsewhere, &pl);
	if (!kid_ready(&k)) {
		(void)printf("skipped: mounting needs root\n");
	} else {
		o = look(&k, &p);
		obj = find(&o, path);
		check_holds(&p, obj, "inner");
		ck_assert_int_eq(way_without_caps(&p, obj), DP_VIA_ROOT);
		dp_objects_deinit(&o);
		dp_process_deinit(&p);
	}
	kid_end(&k);
}
END_TEST

static bool
kid_overlay(int out, void *arg)
{
	char opt[512], path[160];

	if (unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return false;
	/* upper and work on another file system than lower */
	(void)snprintf(path, sizeof path, "%s/rw", dir);
	if (mount("none", path, "tmpfs", 0, NULL) != 0)
		return false;
	(void)snprintf(opt, sizeof opt, "%s/rw/up", dir);
	if (mkdir(opt, 0755) != 0)
		return false;
	(void)snprintf(opt, sizeof opt, "%s/rw/work", dir);
	if (mkdir(opt, 0755) != 0)
		return false;
	(void)snprintf(opt, sizeof opt,
	               "lowerdir=%s/low,upperdir=%s/rw/up,workdir=%s/rw/work",
	               dir, dir, dir);
	(void)snprintf(path, sizeof path, "%s/merged", dir);
	if (mount("overlay", path, "overlay", 0, opt) != 0)
		return false;
	return kid_map(out, arg);
}

START_TEST(object_overlayfs)
{
	static const char *const dirs[] = { "low", "rw", "merged" };
	char path[128];
	struct dp_process p;
	struct dp_objects o;
	struct kid k;

	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof path, "%s/%s", dir, dirs[i]);
		ck_assert_int_eq(mkdir(path, 0755), 0);
	}
	(void)snprintf(path, sizeof path, "%s/low/lib.so", dir);
	put_file(path, "layer");
	(void)snprintf(path, sizeof path, "%s/merged/lib.so", dir);
	kid_start(&k, kid_overlay, path);
	if (!kid_ready(&k)) {
		(void)printf("skipped: no overlayfs here\n");
	} else {
		o = look(&k, &p);
		check_holds(&p, find(&o, path), "layer");
		ck_assert_int_eq(way_without_caps(&p, find(&o, path)),
		                 DP_VIA_ROOT);
		dp_objects_deinit(&o);
		dp_process_deinit(&p);
	}
	kid_end(&k);
}
END_TEST

/* ---- bias ---- */

/* Find biases and say how many; the first goes to *first. */
static int
biases(const struct dp_bias_query *q, uint64_t *first)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_vec v = { NULL, 0, 0 };
	int n = -(int)DP_CODE_COUNT;

	if (dp_bias_find(q, &v, &e)) {
		n = (int)v.n;
		if (n > 0)
			*first = *DP_VEC_AT(&v, uint64_t, 0);
	} else {
		ck_assert_uint_eq(v.n, 0);
		n = -(int)e.code;
	}
	dp_vec_deinit(&v);
	return n;
}

#define RX   (DP_MAP_R | DP_MAP_X)
#define RW   (DP_MAP_R | DP_MAP_W)
#define BASE UINT64_C(0x555555554000)

static const struct dp_load lld[] = {
	{ 0, 0, 0x78c, 0x78c, DP_LOAD_R },
	{ 0x1790, 0x790, 0x160, 0x160, DP_LOAD_R | DP_LOAD_X },
	{ 0x28f0, 0x8f0, 0x1c0, 0x710, DP_LOAD_R },
	{ 0x3ab0, 0xab0, 0x30, 0x38, DP_LOAD_R | DP_LOAD_W },
};

/* FIELD-REPORTS case 3.6: every mapping has the file offset 0. */
START_TEST(bias_lld)
{
	struct dp_map maps[] = {
		{ .start = BASE, .end = BASE + 0x1000, .perms = DP_MAP_R },
		{ .start = BASE + 0x1000, .end = BASE + 0x2000, .perms = RX },
		{ .start = BASE + 0x2000,
		  .end = BASE + 0x3000,
		  .perms = DP_MAP_R },
		{ .start = BASE + 0x3000, .end = BASE + 0x4000, .perms = RW },
	};
	struct dp_bias_query q = { .loads = lld,
		                   .nloads = 4,
		                   .maps = maps,
		                   .nmaps = 4,
		                   .page = PAGE };
	uint64_t bias = 0;

	ck_assert_int_eq(biases(&q, &bias), 1);
	ck_assert_uint_eq(bias, BASE);
	ck_assert_uint_eq(bias + 0x1880, UINT64_C(0x555555555880));
	/* the text is not executable: no load */
	maps[1].perms = DP_MAP_R;
	ck_assert_int_eq(biases(&q, &bias), 0);
	q.nmaps = 0;
	ck_assert_int_eq(biases(&q, &bias), 0);
}
END_TEST

static const struct dp_load exec_loads[] = {
	{ 0x400000, 0, 0x500, 0x500, DP_LOAD_R },
	{ 0x401000, 0x1000, 0x2200, 0x2200, DP_LOAD_R | DP_LOAD_X },
	{ 0x404e38, 0x3e38, 0x200, 0x300, DP_LOAD_R | DP_LOAD_W },
};

START_TEST(bias_shapes)
{
	struct dp_map exec[] = {
		{ .start = 0x400000, .end = 0x401000, .perms = DP_MAP_R },
		/* text split by mprotect(), its first page not executable */
		{ .start = 0x401000,
		  .end = 0x402000,
		  .off = 0x1000,
		  .perms = DP_MAP_R },
		{ .start = 0x402000,
		  .end = 0x404000,
		  .off = 0x2000,
		  .perms = RX },
	};
	/* the whole file as data, then a real load, then another */
	struct dp_map many[] = {
		{ .start = 0x10000, .end = 0x15000, .perms = DP_MAP_R },
		{ .start = 0x700000, .end = 0x701000, .perms = DP_MAP_R },
		{ .start = 0x701000,
		  .end = 0x704000,
		  .off = 0x1000,
		  .perms = RX },
		{ .start = 0x900000, .end = 0x901000, .perms = DP_MAP_R },
		{ .start = 0x901000,
		  .end = 0x904000,
		  .off = 0x1000,
		  .perms = RX },
	};
	struct dp_bias_query q = { .loads = exec_loads,
		                   .nloads = 3,
		                   .maps = exec,
		                   .nmaps = 3,
		                   .page = PAGE,
		                   .et_exec = true };
	uint64_t bias = 1;

	ck_assert_int_eq(biases(&q, &bias), 1);
	ck_assert_uint_eq(bias, 0);
	exec[2].off = 0x3000; /* executable, but other bytes */
	ck_assert_int_eq(biases(&q, &bias), 0);

	q.maps = many;
	q.nmaps = 5;
	ck_assert_int_eq(biases(&q, &bias), 0); /* ET_EXEC is not there */
	q.et_exec = false;
	ck_assert_int_eq(biases(&q, &bias), 2);
	ck_assert_uint_eq(bias, 0x300000);
	q.nmaps = 1;
	ck_assert_int_eq(biases(&q, &bias), 0);
	/* below its vaddr: a bias that counts as negative */
	q.nmaps = 2;
	q.maps = many + 1;
	many[1].start -= 0x600000;
	many[1].end -= 0x600000;
	many[2].start -= 0x600000;
	many[2].end -= 0x600000;
	ck_assert_int_eq(biases(&q, &bias), 1);
	ck_assert_uint_eq(bias, (uint64_t)-0x300000);
}
END_TEST

START_TEST(bias_hostile)
{
	struct dp_map map = { .start = 0x1000, .end = 0x2000, .perms = RX };
	struct dp_load l[2] = { { 0, 0, 0x1000, 0x1000, DP_LOAD_X },
		                { 0x1000, 0x1000, 1, 1, DP_LOAD_R } };
	struct dp_bias_query q = {
		.loads = l, .nloads = 2, .maps = &map, .nmaps = 1, .page = PAGE
	};
	struct dp_load *loads;
	struct dp_map *maps;
	uint64_t bias;

	ck_assert_int_eq(biases(&q, &bias), 1);
	q.page = 0;
	ck_assert_int_eq(biases(&q, &bias), -DP_EUSAGE);
	q.page = 3000;
	ck_assert_int_eq(biases(&q, &bias), -DP_EUSAGE);
	q.page = PAGE;
	l[1].vaddr = 0x1008;
	ck_assert_int_eq(biases(&q, &bias), -DP_EFORMAT);
	l[1].vaddr = 0x1000;
	l[1].filesz = UINT64_MAX;
	ck_assert_int_eq(biases(&q, &bias), -DP_EFORMAT);
	l[1].filesz = 0; /* no bytes: does not count */
	ck_assert_int_eq(biases(&q, &bias), 1);
	l[0].filesz = 0;
	ck_assert_int_eq(biases(&q, &bias), 0);
	q.nloads = 0;
	ck_assert_int_eq(biases(&q, &bias), 0);

	/* 2^16 loads that all hold, and 2^16 mappings that all begin one */
	loads = calloc(1 << 16, sizeof *loads);
	maps = calloc(1 << 16, sizeof *maps);
	for (size_t i = 0; i < 1 << 16; i++) {
		loads[i] = (struct dp_load){ 0, 0, 1, 1, DP_LOAD_X };
		maps[i] = (struct dp_map){ .start = i << 12,
			                   .end = (i + 1) << 12,
			                   .perms = RX };
	}
	q.loads = loads;
	q.nloads = 1 << 16;
	q.maps = maps;
	q.nmaps = 1 << 16;
	ck_assert_int_eq(biases(&q, &bias), -DP_ELIMIT);
	q.nloads = 1;
	ck_assert_int_eq(biases(&q, &bias), 1 << 16);
	free(loads);
	free(maps);
}
END_TEST

/* What a child tells of one of its loaded objects. */
struct told {
	uint64_t addr; /* dlpi_addr, or l_addr */
	uint64_t text; /* an address that lies in it, 0 for none */
	size_t n;
	struct dp_load loads[16];
};

static void
told_fill(struct told *t, const struct dl_phdr_info *info)
{
	t->addr = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum && t->n < 16; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD)
			t->loads[t->n++] =
				(struct dp_load){ ph->p_vaddr, ph->p_offset,
				                  ph->p_filesz, ph->p_memsz,
				                  ph->p_flags };
		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X) != 0)
			t->text = info->dlpi_addr + ph->p_vaddr;
	}
}

/* The object of a process that has `addr` mapped. */
static const struct dp_object *
object_at(const struct dp_objects *o, uint64_t addr)
{
	for (size_t i = 0; i < o->objs.n; i++) {
		const struct dp_object *obj =
			DP_VEC_AT(&o->objs, struct dp_object, i);

		for (size_t k = 0; k < obj->nmaps; k++)
			if (obj->maps[k].start <= addr &&
			    addr < obj->maps[k].end)
				return obj;
	}
	return NULL;
}

struct own {
	const struct dp_objects *o;
	int seen;
};

static int
own_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct own *own = arg;
	struct told t = { .n = 0 };
	const struct dp_object *obj;
	uint64_t bias = 1;

	(void)size;
	told_fill(&t, info);
	obj = object_at(own->o, t.text);
	if (obj == NULL)
		return 0; /* the vdso has no file */
	ck_assert_int_eq(biases(&(struct dp_bias_query){ .loads = t.loads,
	                                                 .nloads = t.n,
	                                                 .maps = obj->maps,
	                                                 .nmaps = obj->nmaps,
	                                                 .page = PAGE },
	                        &bias),
	                 1);
	ck_assert_uint_eq(bias, t.addr);
	own->seen++;
	return 0;
}

/* Every object of this very process, against dlpi_addr. */
START_TEST(bias_live)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_process p;
	struct dp_objects o;
	struct own own = { .o = &o };

	if (sysconf(_SC_PAGESIZE) != PAGE)
		return;
	ck_assert(dp_process_open(getpid(), &p, &e));
	ck_assert(dp_objects_read(&p, 0, &o, &e));
	(void)dl_iterate_phdr(own_object, &own);
	ck_assert_int_ge(own.seen, 3); /* program, libc, loader */
	dp_objects_deinit(&o);
	dp_process_deinit(&p);
}
END_TEST

static const char libname[] = "libanl.so.1"; /* small, not loaded yet */

static int
told_lib(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	if (strstr(info->dlpi_name, libname) != NULL)
		told_fill(arg, info);
	return 0;
}

/* Load a library, elsewhere if asked to, and say where it landed. */
static bool
kid_loads(int out, void *arg)
{
	struct told t = { .n = 0 };

	void *h = dlopen(libname, RTLD_NOW);

	if (h == NULL)
		return false;
	(void)dl_iterate_phdr(told_lib, &t);
	if (arg != NULL) {
		/* Take its place, and let it find another one. */
		void *at = (void *)(uintptr_t)(t.text & ~(PAGE - 1UL));

		if (dlclose(h) != 0 ||
		    mmap(at, PAGE, PROT_NONE,
		         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		         0) != at ||
		    dlopen(libname, RTLD_NOW) == NULL)
			return false;
		t = (struct told){ .n = 0 };
		(void)dl_iterate_phdr(told_lib, &t);
	}
	return write(out, &t, sizeof t) == sizeof t;
}

START_TEST(bias_two_processes)
{
	struct kid k[2];
	struct told t[2];
	uint64_t bias[2] = { 1, 1 }, ino[2];

	for (int i = 0; i < 2; i++) {
		struct dp_process p;
		struct dp_objects o;
		const struct dp_object *obj;

		kid_start(&k[i], kid_loads, i == 0 ? NULL : &k);
		if (!kid_says(&k[i], &t[i], sizeof t[i])) {
			(void)printf("skipped: no %s\n", libname);
			for (int j = 0; j <= i; j++)
				kid_end(&k[j]);
			return;
		}
		o = look(&k[i], &p);
		obj = object_at(&o, t[i].text);
		ck_assert_ptr_nonnull(obj);
		ino[i] = obj->ino;
		ck_assert_int_eq(
			biases(&(struct dp_bias_query){ .loads = t[i].loads,
		                                        .nloads = t[i].n,
		                                        .maps = obj->maps,
		                                        .nmaps = obj->nmaps,
		                                        .page = PAGE },
		               &bias[i]),
			1);
		ck_assert_uint_eq(bias[i], t[i].addr);
		dp_objects_deinit(&o);
		dp_process_deinit(&p);
	}
	ck_assert_uint_eq(ino[0], ino[1]);
	ck_assert_uint_ne(bias[0], bias[1]);
	kid_end(&k[0]);
	kid_end(&k[1]);
}
END_TEST

/* ---- memory ---- */

/* Where the child put what. */
struct layout {
	uint64_t heap;   /* magic, anonymous */
	uint64_t memfd;  /* magic, shared memfd */
	uint64_t file;   /* magic, in a file mapping */
	uint64_t odd;    /* magic, not 8-aligned */
	uint64_t hidden; /* magic, PROT_NONE */
	uint64_t hole;   /* two pages, the second is not mapped */
	uint64_t huge;   /* magic, deep in reserved 256 GiB */
};

enum { SHIFT = 38 };

static char *
anon(size_t n, int prot)
{
	void *p = mmap(NULL, n, prot,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Written in two steps, so that no copy of it lies in this program. */
static uint64_t
magic_at(char *p)
{
	p[1] = 'D';
	p[2] = 'O';
	p[3] = 'F';
	*(volatile char *)p = 0x7f;
	return (uintptr_t)p;
}

static bool
kid_memory(int out, void *arg)
{
	struct layout l;
	int fd = memfd_create("dof", 0);
	int file = open(arg, O_RDONLY);
	char *p;

	if (ftruncate(fd, 2 * PAGE) != 0)
		return false;
	p = anon(4 * PAGE, PROT_READ | PROT_WRITE);
	l.heap = magic_at(p + 2 * PAGE + 64);
	l.odd = magic_at(p + PAGE + 4);
	p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	l.memfd = magic_at(p + 2 * PAGE - 8);
	p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0);
	l.file = (uintptr_t)p;
	p = anon(PAGE, PROT_READ | PROT_WRITE);
	l.hidden = magic_at(p);
	if (mprotect(p, PAGE, PROT_NONE) != 0)
		return false;
	p = anon(2 * PAGE, PROT_READ | PROT_WRITE);
	memset(p, 'h', PAGE);
	if (munmap(p + PAGE, PAGE) != 0)
		return false;
	l.hole = (uintptr_t)p;
	p = anon(UINT64_C(1) << SHIFT, PROT_READ | PROT_WRITE);
	l.huge = p == NULL ? 0 : magic_at(p + (UINT64_C(1) << (SHIFT - 1)));
	return write(out, &l, sizeof l) == sizeof l;
}

struct found {
	uint64_t at[64];
	size_t n;
	size_t stop; /* refuse this many-th; 0 never */
};

static bool
hit(void *arg, uint64_t addr, struct dp_err *e)
{
	struct found *f = arg;

	if (f->n < 64)
		f->at[f->n] = addr;
	if (++f->n == f->stop)
		return dp_err_set(e, DP_ELIMIT, addr, "enough");
	return true;
}

static bool
has(const struct found *f, uint64_t addr)
{
	for (size_t i = 0; i < f->n && i < 64; i++)
		if (f->at[i] == addr)
			return true;
	return false;
}

/* A child with the memory above, opened. */
struct remote {
	struct kid k;
	struct layout l;
	struct dp_process p;
	struct dp_memory m;
	struct dp_buf maps;
};

static void
remote_start(struct remote *r)
{
	struct dp_err e = DP_ERR_INIT;
	static char path[128];

	(void)snprintf(path, sizeof path, "%s/data", dir);
	put_file(path, "\177DOF in a file");
	r->maps = (struct dp_buf){ NULL, 0, 0 };
	kid_start(&r->k, kid_memory, path);
	ck_assert(kid_says(&r->k, &r->l, sizeof r->l));
	ck_assert(dp_process_open(r->k.pid, &r->p, &e));
	ck_assert_msg(dp_memory_open(&r->p, &r->m, &e), "%s", e.msg);
	ck_assert(dp_process_maps(&r->p, &r->maps, &e));
}

static void
remote_end(struct remote *r)
{
	dp_memory_deinit(&r->m);
	dp_memory_deinit(&r->m);
	dp_process_deinit(&r->p);
	dp_buf_deinit(&r->maps);
	kid_end(&r->k);
}

START_TEST(memory_read)
{
	struct dp_err e[4] = { DP_ERR_INIT, DP_ERR_INIT, DP_ERR_INIT,
		               DP_ERR_INIT };
	char b[2 * PAGE] = "";
	struct remote r;

	remote_start(&r);
	ck_assert_uint_eq(dp_memory_read(&r.m, r.l.heap, b, 4, &e[0]), 4);
	ck_assert_mem_eq(b, "\177DOF", 4);
	ck_assert_int_eq(e[0].code, DP_OK);
	/* the hole: the front is given, and where it ends */
	ck_assert_uint_eq(dp_memory_read(&r.m, r.l.hole + 8, b, PAGE, &e[0]),
	                  PAGE - 8);
	ck_assert(b[0] == 'h' && b[PAGE - 9] == 'h');
	ck_assert_int_eq(e[0].code, DP_EIO);
	ck_assert_uint_eq(e[0].off, r.l.hole + PAGE);
	ck_assert_uint_eq(dp_memory_read(&r.m, 0, b, 8, &e[1]), 0);
	ck_assert_uint_eq(e[1].off, 0);
	ck_assert_uint_eq(dp_memory_read(&r.m, UINT64_MAX - 3, b, 8, &e[2]), 0);
	ck_assert_int_eq(e[2].code, DP_EIO);
	ck_assert_int_eq(kill(r.k.pid, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)r.k.pid, NULL, WEXITED | WNOWAIT),
	                 0);
	ck_assert_uint_eq(dp_memory_read(&r.m, r.l.heap, b, 4, &e[3]), 0);
	ck_assert_int_eq(e[3].os_errno, ESRCH);
	remote_end(&r);
}
END_TEST

static void
check_found(const struct remote *r, const struct found *f)
{
	ck_assert(has(f, r->l.heap));
	ck_assert(has(f, r->l.memfd));
	ck_assert(!has(f, r->l.file));
	ck_assert(!has(f, r->l.odd));
	ck_assert(!has(f, r->l.hidden));
	ck_assert(r->l.huge == 0 || has(f, r->l.huge));
}

START_TEST(memory_scan)
{
	struct dp_err e = DP_ERR_INIT;
	struct found f = { .n = 0 };
	struct dp_memscan s = { .hit = hit, .arg = &f };
	struct remote r;

	remote_start(&r);
	ck_assert_msg(dp_memory_scan(&r.m, dp_buf_bytes(&r.maps), &s, &e), "%s",
	              e.msg);
	check_found(&r, &f);
	/* its shadow memory is too vast before Linux 6.7 */
	ck_assert(WITH_ASAN || !s.cut);
	ck_assert_uint_gt(s.bytes, 5 * PAGE);
	/* what was only reserved is not read */
	ck_assert_uint_lt(s.bytes, DP_MAX_MEMSCAN);

	/* stop at the second */
	f = (struct found){ .stop = 2 };
	ck_assert(!dp_memory_scan(&r.m, dp_buf_bytes(&r.maps), &s, &e));
	ck_assert_uint_eq(f.n, 2);
	ck_assert_str_eq(e.msg, "enough");
	remote_end(&r);
}
END_TEST

/* The lines of single mappings, without and with pagemap, and the limit. */
START_TEST(memory_scan_limits)
{
	struct dp_err e = DP_ERR_INIT;
	struct found f = { .n = 0 };
	struct dp_memscan s = { .hit = hit, .arg = &f };
	struct remote r;
	char line[128];
	uint64_t at;
	int n, pagemap;

	remote_start(&r);
	/* a range that runs into the hole, and on into it */
	n = snprintf(line, sizeof line,
	             "%" PRIx64 "-%" PRIx64 " rw-p 0 00:00 0 \n", r.l.hole,
	             r.l.hole + 2 * PAGE);
	pagemap = r.m.pagemap;
	r.m.pagemap = -1;
	ck_assert(dp_memory_scan(
		&r.m, (struct dp_bytes){ (uint8_t *)line, (size_t)n }, &s, &e));
	ck_assert_uint_ge(s.bytes, PAGE);
	ck_assert_uint_eq(s.bytes + s.skipped, 2 * PAGE);

	at = r.l.heap & ~(uint64_t)(PAGE - 1);
	n = snprintf(line, sizeof line,
	             "%" PRIx64 "-%" PRIx64 " rw-p 0 00:00 0 \n", at - PAGE,
	             at + PAGE);
	for (int i = 0; i < 2; i++) {
		/* at the limit, one less, with and without pagemap */
		f.n = 0;
		r.m.pagemap = i == 0 ? -1 : pagemap;
		s.limit = 2 * PAGE;
		ck_assert(dp_memory_scan(
			&r.m, (struct dp_bytes){ (uint8_t *)line, (size_t)n },
			&s, &e));
		ck_assert(has(&f, r.l.heap) && !s.cut);
		f.n = 0;
		s.limit = PAGE + 64;
		ck_assert(dp_memory_scan(
			&r.m, (struct dp_bytes){ (uint8_t *)line, (size_t)n },
			&s, &e));
		ck_assert(!has(&f, r.l.heap) && s.cut);
		ck_assert_uint_eq(s.bytes + s.skipped, PAGE + 64);
	}
	/* gone: said, not passed over */
	ck_assert_int_eq(kill(r.k.pid, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)r.k.pid, NULL, WEXITED | WNOWAIT),
	                 0);
	s.limit = 0;
	r.m.pagemap = -1;
	ck_assert(!dp_memory_scan(
		&r.m, (struct dp_bytes){ (uint8_t *)line, (size_t)n }, &s, &e));
	ck_assert_int_eq(e.os_errno, ESRCH);
	r.m.pagemap = pagemap;
	remote_end(&r);
}
END_TEST

START_TEST(memory_kinds)
{
	static const struct {
		const char *line;
		bool want;
	} rows[] = {
		{ "1000-2000 rw-p 0 00:00 0\n", true },
		{ "1000-2000 -w-p 0 00:00 0\n", false },
		{ "1000-2000 r--p 0 00:00 0 [heap]\n", true },
		{ "1000-2000 rw-p 0 00:00 0 [stack]\n", true },
		{ "1000-2000 rw-p 0 00:00 0 [anon:x]\n", true },
		{ "1000-2000 r-xp 0 00:00 0 [vdso]\n", false },
		{ "1000-2000 r--p 0 00:00 0 [vvar]\n", false },
		{ "1000-2000 r-xp 0 00:00 0 [uprobes]\n", false },
		{ "1000-2000 rw-s 0 00:01 9 /memfd:x (deleted)\n", true },
		{ "1000-2000 rw-s 0 fe:00 9 /memfd:x\n", false },
		{ "1000-2000 rw-s 0 00:01 9 /dev/zero (deleted)\n", true },
		{ "1000-2000 rw-s 0 00:01 9 /SYSV00000000 (deleted)\n", true },
		{ "1000-2000 r--p 0 fe:00 9 /lib/x.so\n", false },
		{ "1000-2000 r--p 0 fe:00 9 /lib/x.so (deleted)\n", false },
	};
	static struct dp_maps m;
	struct dp_map map;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		one(rows[i].line, &map, &m);
		ck_assert_msg(dp_memory_scans(&map) == rows[i].want, "%s",
		              rows[i].line);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("proc");
	TCase *tc = tcase_create("proc");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, maps_good);
	tcase_add_loop_test(tc, maps_bad, 0,
	                    (int)(sizeof bad_lines / sizeof *bad_lines));
	tcase_add_test(tc, maps_mangled);
	tcase_add_test(tc, maps_limits);
	tcase_add_test(tc, maps_live);
	tcase_add_test(tc, stat_texts);
	tcase_add_test(tc, status_texts);
	tcase_add_test(tc, process);
	tcase_add_test(tc, process_refused);
	tcase_add_test(tc, process_list);
	tcase_add_test(tc, process_reuse);
	tcase_add_test(tc, process_pidns);
	tcase_add_test(tc, objects_grouped);
	tcase_add_test(tc, object_identity);
	tcase_add_test(tc, object_names);
	tcase_add_test(tc, object_replaced);
	tcase_add_test(tc, object_device_and_memfd);
	tcase_add_test(tc, object_deleted_exe);
	tcase_add_test(tc, object_chroot);
	tcase_add_test(tc, object_mount_namespace);
	tcase_add_test(tc, object_overlayfs);
	tcase_add_test(tc, bias_lld);
	tcase_add_test(tc, bias_shapes);
	tcase_add_test(tc, bias_hostile);
	tcase_add_test(tc, bias_live);
	tcase_add_test(tc, bias_two_processes);
	tcase_add_test(tc, memory_read);
	tcase_add_test(tc, memory_scan);
	tcase_add_test(tc, memory_scan_limits);
	tcase_add_test(tc, memory_kinds);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
