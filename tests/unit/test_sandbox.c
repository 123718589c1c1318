/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sandbox, on real processes: each case forks, enters, tries one thing
 * and tells errno through a pipe that was open before.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/landlock.h"
#include "sandbox/sandbox.h"

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

enum { PIPE, READER, JAILS };

#define IN(jail)  (1 << (jail))
#define ALL_JAILS (IN(PIPE) | IN(READER))

/* What the actions work on; made before the sandbox is entered. */
struct scene {
	char dir[64];
	char file[96]; /* holds "hello" */
	char gone[96]; /* does not exist */
	char sock[96]; /* a listening socket */
	int sock_fd;
	int file_fd;  /* `file`, opened for reading */
	pid_t victim; /* a sleeping process of the same user */
};

typedef int action_fn(const struct scene *s);

struct act {
	const char *name;
	action_fn *fn; /* 0 or errno */
	int allowed;   /* IN() of the jails where it gives 0; else EPERM */
};

static int
err_of(long rc)
{
	return rc < 0 ? errno : 0;
}

static int
enter(int jail, struct dp_err *e)
{
	return jail == PIPE ? dp_sandbox_pipe(e) : dp_sandbox_reader(e);
}

static int
act_read(const struct scene *s)
{
	char b[8];

	/* The jails before this one have moved the shared offset. */
	if (lseek(s->file_fd, 0, SEEK_SET) != 0)
		return errno;
	return read(s->file_fd, b, sizeof b) == 5 ? 0 : EIO;
}

static int
act_fstat(const struct scene *s)
{
	struct stat st;

	return err_of(syscall(SYS_fstat, s->file_fd, &st));
}

static int
act_open(const struct scene *s)
{
	return err_of(open(s->file, O_RDONLY));
}

static int
act_open_old(const struct scene *s)
{
	return err_of(syscall(SYS_open, s->file, O_RDONLY));
}

static int
act_open_old_rw(const struct scene *s)
{
	return err_of(syscall(SYS_open, s->file, O_RDWR));
}

static int
act_open_w(const struct scene *s)
{
	return err_of(openat(AT_FDCWD, s->file, O_WRONLY));
}

static int
act_open_trunc(const struct scene *s)
{
	return err_of(open(s->file, O_RDONLY | O_TRUNC));
}

static int
act_create(const struct scene *s)
{
	return err_of(open(s->gone, O_RDONLY | O_CREAT, 0600));
}

static int
act_tmpfile(const struct scene *s)
{
	return err_of(open(s->dir, O_TMPFILE | O_RDWR, 0600));
}

static int
act_openat2_w(const struct scene *s)
{
	struct open_how how = { .flags = O_WRONLY };

	return err_of(
		syscall(SYS_openat2, AT_FDCWD, s->file, &how, sizeof how));
}

static int
act_list(const struct scene *s)
{
	DIR *d = opendir(s->dir);
	int n = 0;

	if (d == NULL)
		return errno;
	while (readdir(d) != NULL)
		n++;
	return n >= 3 ? 0 : EIO;
}

static int
act_stat(const struct scene *s)
{
	struct stat st;

	return err_of(stat(s->file, &st));
}

static int
act_unlink(const struct scene *s)
{
	return err_of(unlink(s->file));
}

static int
act_mkdir(const struct scene *s)
{
	return err_of(mkdir(s->gone, 0700));
}

static int
act_rename(const struct scene *s)
{
	return err_of(rename(s->file, s->gone));
}

static int
act_chmod(const struct scene *s)
{
	return err_of(chmod(s->file, 0777));
}

static int
act_socket(const struct scene *s)
{
	(void)s;
	return err_of(socket(AF_INET, SOCK_STREAM, 0));
}

static int
act_connect(const struct scene *s)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	memcpy(a.sun_path, s->sock, sizeof s->sock);
	return err_of(connect(s->sock_fd, (struct sockaddr *)&a, sizeof a));
}

static int
act_exec(const struct scene *s)
{
	char *const argv[] = { (char[]){ "true" }, NULL };

	(void)s;
	return err_of(execv("/bin/true", argv));
}

static int
act_fork(const struct scene *s)
{
	pid_t pid = fork();

	(void)s;
	if (pid == 0)
		_exit(0);
	return err_of(pid);
}

static int
act_clone3(const struct scene *s)
{
	(void)s;
	return err_of(syscall(SYS_clone3, NULL, 0));
}

static int
act_unshare(const struct scene *s)
{
	(void)s;
	return err_of(unshare(CLONE_NEWUSER));
}

static int
act_ptrace(const struct scene *s)
{
	return err_of(ptrace(PTRACE_ATTACH, s->victim, NULL, NULL));
}

static int
act_vm_read(const struct scene *s)
{
	char b[8];
	struct iovec io = { b, sizeof b };

	return err_of(process_vm_readv(s->victim, &io, 1, &io, 1, 0));
}

static int
act_kill(const struct scene *s)
{
	return err_of(kill(s->victim, 0));
}

static int
act_tgkill(const struct scene *s)
{
	return err_of(syscall(SYS_tgkill, s->victim, s->victim, 0));
}

static int
act_tgkill_self(const struct scene *s)
{
	(void)s;
	return err_of(syscall(SYS_tgkill, getpid(), gettid(), 0));
}

static int
act_setown(const struct scene *s)
{
	return err_of(fcntl(s->file_fd, F_SETOWN, s->victim));
}

static int
act_getfl(const struct scene *s)
{
	return err_of(fcntl(s->file_fd, F_GETFL));
}

static int
act_mmap(const struct scene *s)
{
	(void)s;
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
	               ? errno
	               : 0;
}

static int
act_mmap_exec(const struct scene *s)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, s->file_fd,
	            0) == MAP_FAILED
	               ? errno
	               : 0;
}

static int
act_mprotect_exec(const struct scene *s)
{
	void *p =
		mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)s;
	return err_of(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int
act_malloc(const struct scene *s)
{
	char *p = malloc(64 << 20);

	(void)s;
	if (p == NULL)
		return ENOMEM;
	memset(p, 1, 64 << 20);
	p = realloc(p, 80 << 20);
	free(p);
	return p == NULL ? ENOMEM : 0;
}

static int
act_tiocsti(const struct scene *s)
{
	return err_of(ioctl(s->file_fd, TIOCSTI, "x"));
}

static int
act_tcgets(const struct scene *s)
{
	return isatty(s->file_fd) ? EIO : errno;
}

static int
act_getrlimit(const struct scene *s)
{
	struct rlimit rl;

	(void)s;
	return err_of(getrlimit(RLIMIT_NOFILE, &rl));
}

static int
act_setrlimit(const struct scene *s)
{
	struct rlimit rl = { 64, 64 };

	(void)s;
	return err_of(setrlimit(RLIMIT_NOFILE, &rl));
}

static int
act_memfd(const struct scene *s)
{
	int fd = memfd_create("x", MFD_CLOEXEC);

	(void)s;
	return fd < 0 ? errno : (write(fd, "abc", 3) == 3 ? 0 : EIO);
}

static int
act_fd_again(const struct scene *s)
{
	char b[64];

	(void)snprintf(b, sizeof b, "/proc/self/fd/%d", s->file_fd);
	return err_of(open(b, O_RDONLY));
}

static void *
thread_read(void *arg)
{
	const struct scene *s = arg;
	int fd = open(s->file, O_RDONLY);
	char b[8];
	bool ok = fd >= 0 && pread(fd, b, sizeof b, 0) == 5;

	/* NULL is success. */
	return ok ? NULL : arg;
}

static int
act_threads(const struct scene *s)
{
	struct scene copy = *s;
	pthread_t t[4];
	void *bad;
	int n = 0, rc = 0;

	for (; n < 4 && rc == 0; n++)
		rc = pthread_create(&t[n], NULL, thread_read, &copy);
	if (rc != 0)
		return rc == EAGAIN ? EPERM : rc;
	while (n-- > 0) {
		if (pthread_join(t[n], &bad) != 0 || bad != NULL)
			rc = EIO;
	}
	return rc;
}

static int
act_bpf(const struct scene *s)
{
	(void)s;
	return err_of(syscall(SYS_bpf, 0, NULL, 0));
}

static int
act_io_uring(const struct scene *s)
{
	(void)s;
	return err_of(syscall(SYS_io_uring_setup, 1, NULL));
}

static int
act_pidfd(const struct scene *s)
{
	return err_of(syscall(SYS_pidfd_open, s->victim, 0));
}

/* clang-format off */
static const struct act acts[] = {
	{ "read", act_read, ALL_JAILS },
	{ "fstat", act_fstat, ALL_JAILS },
	{ "malloc", act_malloc, ALL_JAILS },
	{ "mmap", act_mmap, ALL_JAILS },
	{ "fcntl F_GETFL", act_getfl, ALL_JAILS },
	{ "tgkill self", act_tgkill_self, ALL_JAILS },
	{ "open", act_open, IN(READER) },
	{ "open (old)", act_open_old, IN(READER) },
	{ "list", act_list, IN(READER) },
	{ "stat", act_stat, IN(READER) },
	{ "threads", act_threads, IN(READER) },
	{ "getrlimit", act_getrlimit, IN(READER) },
	{ "memfd", act_memfd, IN(READER) },
	{ "/proc/self/fd", act_fd_again, IN(READER) },
	{ "open O_RDWR (old)", act_open_old_rw, 0 },
	{ "open O_WRONLY", act_open_w, 0 },
	{ "open O_TRUNC", act_open_trunc, 0 },
	{ "open O_CREAT", act_create, 0 },
	{ "open O_TMPFILE", act_tmpfile, 0 },
	{ "unlink", act_unlink, 0 },
	{ "mkdir", act_mkdir, 0 },
	{ "rename", act_rename, 0 },
	{ "chmod", act_chmod, 0 },
	{ "socket", act_socket, 0 },
	{ "connect", act_connect, 0 },
	{ "execve", act_exec, 0 },
	{ "fork", act_fork, 0 },
	{ "unshare", act_unshare, 0 },
	{ "ptrace", act_ptrace, 0 },
	{ "process_vm_readv", act_vm_read, 0 },
	{ "kill", act_kill, 0 },
	{ "tgkill another", act_tgkill, 0 },
	{ "pidfd_open", act_pidfd, 0 },
	{ "fcntl F_SETOWN", act_setown, 0 },
	{ "mmap PROT_EXEC", act_mmap_exec, 0 },
	{ "mprotect PROT_EXEC", act_mprotect_exec, 0 },
	{ "ioctl TIOCSTI", act_tiocsti, 0 },
	{ "setrlimit", act_setrlimit, 0 },
	{ "bpf", act_bpf, 0 },
	{ "io_uring_setup", act_io_uring, 0 },
};
/* clang-format on */

static void
scene_make(struct scene *s)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd;

	memset(s, 0, sizeof *s);
	(void)snprintf(s->dir, sizeof s->dir, "/tmp/dp-sandbox-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(s->dir));
	(void)snprintf(s->file, sizeof s->file, "%s/file", s->dir);
	(void)snprintf(s->gone, sizeof s->gone, "%s/gone", s->dir);
	(void)snprintf(s->sock, sizeof s->sock, "%s/sock", s->dir);
	fd = open(s->file, O_WRONLY | O_CREAT | O_EXCL, 0600);
	ck_assert_int_eq(write(fd, "hello", 5), 5);
	(void)close(fd);
	memcpy(a.sun_path, s->sock, sizeof s->sock);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	s->sock_fd = socket(AF_UNIX, SOCK_STREAM, 0);
	s->file_fd = open(s->file, O_RDONLY | O_CLOEXEC);
	s->victim = fork();
	if (s->victim == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
}

static void
scene_drop(struct scene *s)
{
	(void)kill(s->victim, SIGKILL);
	(void)waitpid(s->victim, NULL, 0);
	(void)unlink(s->file);
	(void)unlink(s->sock);
	ck_assert_int_eq(rmdir(s->dir), 0);
	(void)close(s->sock_fd);
	(void)close(s->file_fd);
}

/* Run `fn` in a child inside `jail`; its answer, or -signal. */
static int
inside(int jail, action_fn *fn, const struct scene *s)
{
	int p[2], got = -1000, status;
	pid_t pid;

	ck_assert_int_eq(pipe(p), 0);
	pid = fork();
	if (pid == 0) {
		struct dp_err e = DP_ERR_INIT;
		int rc = jail < 0 || enter(jail, &e) ? fn(s) : 2000;

		if (write(p[1], &rc, sizeof rc) != sizeof rc)
			_exit(1);
		_exit(0);
	}
	(void)close(p[1]);
	if (read(p[0], &got, sizeof got) != sizeof got)
		got = -1000;
	(void)close(p[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return -WTERMSIG(status);
	return got;
}

START_TEST(actions)
{
	const struct act *a = &acts[_i % (int)(sizeof acts / sizeof acts[0])];
	struct scene s;

	scene_make(&s);
	for (int jail = 0; jail < JAILS; jail++) {
		int got = inside(jail, a->fn, &s);
		int want = (a->allowed & IN(jail)) != 0 ? 0 : EPERM;

		/* Landlock answers first where it has a say. */
		if (want == EPERM && got == EACCES && jail == READER)
			got = EPERM;
		ck_assert_msg(got == want, "%s in jail %d: %d, not %d", a->name,
		              jail, got, want);
	}
	scene_drop(&s);
}
END_TEST

/* Without a sandbox nearly all of it works: the refusals are the jail's. */
START_TEST(actions_outside)
{
	static const char *const denied[] = { "open O_WRONLY", "connect",
		                              "socket",        "fork",
		                              "kill",          "mmap PROT_EXEC",
		                              "unlink" };
	struct scene s;

	for (size_t i = 0; i < sizeof denied / sizeof denied[0]; i++)
		for (size_t k = 0; k < sizeof acts / sizeof acts[0]; k++) {
			if (strcmp(acts[k].name, denied[i]) != 0)
				continue;
			scene_make(&s);
			ck_assert_int_eq(inside(-1, acts[k].fn, &s), 0);
			scene_drop(&s);
		}
}
END_TEST

START_TEST(special_answers)
{
	struct scene s;

	scene_make(&s);
	ck_assert_int_eq(inside(PIPE, act_clone3, &s), EPERM);
	ck_assert_int_eq(inside(READER, act_clone3, &s), ENOSYS);
	ck_assert_int_eq(inside(READER, act_openat2_w, &s), ENOSYS);
	ck_assert_int_eq(inside(READER, act_tcgets, &s), ENOTTY);
	ck_assert_int_eq(inside(PIPE, act_tcgets, &s), EPERM);
	scene_drop(&s);
}
END_TEST

#ifdef __x86_64__
static int
act_x32(const struct scene *s)
{
	(void)s;
	return err_of(syscall(0x40000000 | SYS_getpid));
}

static int
act_i386(const struct scene *s)
{
	long rc = 20; /* getpid there */

	(void)s;
	__asm__ volatile("int $0x80" : "+a"(rc) : : "memory");
	return rc < 0 ? (int)-rc : 0;
}

START_TEST(foreign)
{
	struct scene s;

	scene_make(&s);
	ck_assert_int_eq(inside(PIPE, act_x32, &s), -SIGSYS);
	ck_assert_int_eq(inside(READER, act_x32, &s), -SIGSYS);
	if (inside(-1, act_i386, &s) != 0)
		(void)printf("skipped: no 32-bit calls in this kernel\n");
	else
		ck_assert_int_eq(inside(PIPE, act_i386, &s), -SIGSYS);
	scene_drop(&s);
}
END_TEST
#endif

/* Value of a line of /proc/self/status, from a descriptor opened before. */
static bool
status_is(int fd, const char *key, const char *want)
{
	char b[8192], line[128];
	ssize_t n;

	if (lseek(fd, 0, SEEK_SET) != 0)
		return false;
	n = read(fd, b, sizeof b - 1);
	if (n < 0)
		return false;
	b[n] = '\0';
	(void)snprintf(line, sizeof line, "\n%s:\t%s\n", key, want);
	return strstr(b, line) != NULL;
}

static int
act_status(const struct scene *s)
{
	static const char none[] = "0000000000000000";
	struct dp_err e = DP_ERR_INIT;
	struct dp_sandbox_state st;
	int fd = open("/proc/self/status", O_RDONLY);

	(void)s;
	if (!dp_sandbox_drop_caps(false, &e) || !dp_sandbox_pipe(&e))
		return 1;
	if (!status_is(fd, "NoNewPrivs", "1") || !status_is(fd, "Seccomp", "2"))
		return 2;
	if (!status_is(fd, "CapEff", none) || !status_is(fd, "CapPrm", none) ||
	    !status_is(fd, "CapInh", none) || !status_is(fd, "CapAmb", none))
		return 3;
	if (geteuid() == 0 && !status_is(fd, "CapBnd", none))
		return 4;
	dp_sandbox_query(&st);
	return st.no_new_privs && st.seccomp == 2 ? 0 : 5;
}

static int
act_query(const struct scene *s)
{
	struct dp_sandbox_state st;

	(void)s;
	dp_sandbox_query(&st);
	return st.landlock_abi;
}

START_TEST(status)
{
	struct dp_sandbox_state st;
	struct scene s;

	dp_sandbox_query(&st);
	ck_assert_int_ge(st.landlock_abi, 0);
	if (st.landlock_abi == 0)
		(void)printf("skipped: Landlock, the kernel has none\n");
	scene_make(&s);
	ck_assert_int_eq(inside(-1, act_status, &s), 0);
	ck_assert_int_eq(inside(PIPE, act_query, &s), st.landlock_abi);
	ck_assert_int_eq(inside(READER, act_query, &s), st.landlock_abi);
	scene_drop(&s);
}
END_TEST

static int
act_keep_dac(const struct scene *s)
{
	static const char dac[] = "0000000000000004";
	struct dp_err e = DP_ERR_INIT;
	int fd = open("/proc/self/status", O_RDONLY);

	(void)s;
	if (!dp_sandbox_drop_caps(true, &e))
		return 1;
	if (!status_is(fd, "CapEff", dac) || !status_is(fd, "CapPrm", dac) ||
	    !status_is(fd, "CapBnd", dac))
		return 2;
	/* A second time there is nothing left to drop it with. */
	if (!dp_sandbox_drop_caps(false, &e))
		return 3;
	return status_is(fd, "CapEff", "0000000000000000") ? 0 : 4;
}

static int
act_drop_as_user(const struct scene *s)
{
	struct dp_err e = DP_ERR_INIT;
	bool root = geteuid() == 0;

	if (root && setuid(65534) != 0)
		return 1;
	if (!dp_sandbox_drop_caps(true, &e) || !dp_sandbox_reader(&e))
		return 2;
	return act_open(s) == (root ? EACCES : 0) ? 0 : 3;
}

START_TEST(caps)
{
	struct scene s;

	scene_make(&s);
	ck_assert_int_eq(inside(-1, act_drop_as_user, &s), 0);
	if (geteuid() != 0)
		(void)printf("skipped: keeping a capability needs root\n");
	else
		ck_assert_int_eq(inside(-1, act_keep_dac, &s), 0);
	scene_drop(&s);
}
END_TEST

static void *
thread_wait(void *arg)
{
	(void)usleep(200000);
	return arg;
}

static int
act_late(const struct scene *s)
{
	struct dp_err e[3] = { DP_ERR_INIT, DP_ERR_INIT, DP_ERR_INIT };
	pthread_t t;

	(void)s;
	if (pthread_create(&t, NULL, thread_wait, NULL) != 0)
		return 1;
	if (dp_sandbox_pipe(&e[0]) || dp_sandbox_reader(&e[1]) ||
	    dp_sandbox_drop_caps(false, &e[2]))
		return 2;
	for (int i = 0; i < 3; i++)
		if (e[i].code != DP_EUSAGE)
			return 3;
	return pthread_join(t, NULL);
}

START_TEST(late)
{
	struct scene s;

	scene_make(&s);
	ck_assert_int_eq(inside(-1, act_late, &s), 0);
	scene_drop(&s);
}
END_TEST

/* /proc/PID/mem: open before, and it can be read after, not opened again. */
static int
act_mem(const struct scene *s)
{
	int again = dp_landlock_abi() > 0 ? EACCES : 0;
	struct dp_err e = DP_ERR_INIT;
	char path[64];
	char b[6] = "";
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/mem", (int)s->victim);
	fd = open(path, O_RDONLY);
	if (fd < 0 || !dp_sandbox_reader(&e))
		return 1;
	/* The victim is a fork of this process: same addresses. */
	if (pread(fd, b, 5, (off_t)(uintptr_t)s->dir) != 5 ||
	    memcmp(b, "/tmp/", 5) != 0)
		return 2;
	return err_of(open(path, O_RDONLY)) == again ? 0 : 3;
}

START_TEST(memory)
{
	struct scene s;

	scene_make(&s);
	ck_assert_int_eq(inside(-1, act_mem, &s), 0);
	scene_drop(&s);
}
END_TEST

static int
act_abort(const struct scene *s)
{
	(void)s;
	(void)signal(SIGABRT, SIG_DFL);
	abort();
}

static int
act_stdio(const struct scene *s)
{
	/* stdio asks for a stat of its file and lives with the refusal. */
	FILE *f = fdopen(dup(s->file_fd), "r");

	return f != NULL && fgetc(f) == 'h' ? 0 : EIO;
}

static int
act_overflow(const struct scene *s)
{
	volatile char *p = malloc(8);

	(void)s;
	p[8] = 1;
	return 0;
}

START_TEST(ends)
{
	struct scene s;
	int got;

	scene_make(&s);
	if (!WITH_ASAN) {
		ck_assert_int_eq(inside(PIPE, act_abort, &s), -SIGABRT);
		ck_assert_int_eq(inside(READER, act_abort, &s), -SIGABRT);
	}
	ck_assert_int_eq(inside(READER, act_stdio, &s), 0);
	if (WITH_ASAN) {
		/* It reports and exits: nothing comes through the pipe. */
		got = inside(PIPE, act_overflow, &s);
		ck_assert_msg(got == -1000 || got == -SIGABRT, "%d", got);
		got = inside(READER, act_overflow, &s);
		ck_assert_msg(got == -1000 || got == -SIGABRT, "%d", got);
	}
	scene_drop(&s);
}
END_TEST

/* Landlock alone: in the jails seccomp mostly answers before it. */
static int
act_landlock(const struct scene *s)
{
	struct dp_err e = DP_ERR_INIT;
	int abi = dp_landlock_abi();

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!dp_landlock_enter(true, &e))
		return 1;
	if (act_open(s) != 0 || act_list(s) != 0 || act_open_w(s) != EACCES ||
	    act_unlink(s) != EACCES || act_exec(s) != EACCES ||
	    act_mkdir(s) != EACCES || act_ptrace(s) != EPERM)
		return 2;
	if (abi >= 4) {
		struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = 1 };
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (fd >= 0 &&
		    (connect(fd, (struct sockaddr *)&a, sizeof a) == 0 ||
		     errno != EACCES))
			return 4;
	}
	if (abi >= 6 && act_kill(s) != EPERM)
		return 5;
	if (!dp_landlock_enter(false, &e))
		return 6;
	return act_open(s) == EACCES && act_read(s) == 0 ? 0 : 7;
}

START_TEST(landlock)
{
	struct scene s;

	scene_make(&s);
	if (dp_landlock_abi() > 0)
		ck_assert_int_eq(inside(-1, act_landlock, &s), 0);
	scene_drop(&s);
}
END_TEST

/* A jail inside a jail: the second is refused, the first stays. */
static int
act_twice(const struct scene *s)
{
	struct dp_err e = DP_ERR_INIT;

	if (dp_sandbox_pipe(&e))
		return 1;
	return act_open_w(s) == 0 ? 2 : 0;
}

START_TEST(twice)
{
	struct scene s;

	scene_make(&s);
	ck_assert_int_eq(inside(READER, act_twice, &s), 0);
	ck_assert_int_eq(inside(PIPE, act_twice, &s), 0);
	scene_drop(&s);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("sandbox");
	TCase *tc = tcase_create("sandbox");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, actions, 0,
	                    (int)(sizeof acts / sizeof acts[0]));
	tcase_add_test(tc, actions_outside);
	tcase_add_test(tc, special_answers);
#ifdef __x86_64__
	tcase_add_test(tc, foreign);
#endif
	tcase_add_test(tc, status);
	tcase_add_test(tc, caps);
	tcase_add_test(tc, late);
	tcase_add_test(tc, memory);
	tcase_add_test(tc, ends);
	tcase_add_test(tc, landlock);
	tcase_add_test(tc, twice);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
