/* SPDX-License-Identifier: BSD-2-Clause */
#include "sandbox/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ioctl PAGEMAP_SCAN of Linux 6.7: 12 words of 8 bytes, reads only. */
#define PAGEMAP_SCAN_IOCTL _IOC(_IOC_READ | _IOC_WRITE, 'f', 16, 96)

/* Linux 5.17; only gives a name to memory of one's own. */
#define SET_VMA_PRCTL 0x53564d61

#ifdef __s390__
enum { CLONE_FLAGS_ARG = 1 };
#else
enum { CLONE_FLAGS_ARG = 0 };
#endif

/* A condition on one argument: (arg & mask) == value.  Mask 0: none. */
struct cond {
	unsigned arg;
	uint64_t mask;
	uint64_t value;
};

/* One allowed system call; rows for one call are alternatives. */
struct rule {
	int nr;
	unsigned sets; /* DP_FILTER_* */
	struct cond c[2];
};

enum { R = DP_FILTER_READER, PR = DP_FILTER_PIPE | DP_FILTER_READER };

/* clang-format off */
#define ROW(name, in, ...) \
	{ .nr = SCMP_SYS(name), .sets = (in), .c = { __VA_ARGS__ } }

/* The kernel takes these arguments as 32 bits, so does the filter. */
#define IS(n, v)   { (n), 0xffffffff, (uint32_t)(v) }
#define NULL_AT(n) { (n), UINT64_MAX, 0 }
#define NO_EXEC    { 2, PROT_EXEC, 0 }

/* No access mode but reading; O_TRUNC works with it, so it is named. */
#define WRITING    (O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))
#define READING(n) { (n), WRITING, O_RDONLY }

#define THREAD      (CLONE_VM | CLONE_THREAD | CLONE_SIGHAND)
#define NAMESPACES  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | \
                     CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define THREAD_ONLY { CLONE_FLAGS_ARG, THREAD | NAMESPACES, THREAD }

static const struct rule rules[] = {
	/* open descriptors */
	ROW(read, PR),
	ROW(readv, PR),
	ROW(write, PR),
	ROW(writev, PR),
	ROW(close, PR),
	ROW(fstat, PR),
	ROW(lseek, PR),
	ROW(poll, PR),
	ROW(ppoll, PR),
	ROW(fcntl, PR, IS(1, F_GETFD)),
	ROW(fcntl, PR, IS(1, F_GETFL)),
	/* F_SETOWN is not here: it can send signals to others */
	ROW(fcntl, R, IS(1, F_SETFD)),
	ROW(fcntl, R, IS(1, F_SETFL)),
	ROW(fcntl, R, IS(1, F_DUPFD)),
	ROW(fcntl, R, IS(1, F_DUPFD_CLOEXEC)),
	ROW(fcntl, R, IS(1, F_GETPIPE_SZ)),
	ROW(fcntl, R, IS(1, F_SETPIPE_SZ)),
	ROW(pread64, R),
	ROW(preadv, R),
	ROW(dup, R),
	ROW(dup2, R),
	ROW(dup3, R),
	ROW(pipe2, R),
	ROW(fadvise64, R),
	ROW(readahead, R),
	ROW(fstatfs, R),
	ROW(memfd_create, R),
	ROW(ioctl, R, IS(1, TIOCGWINSZ)),
	ROW(ioctl, R, IS(1, TCGETS)),
	ROW(ioctl, R, IS(1, PAGEMAP_SCAN_IOCTL)),

	/* the file system, for reading */
	ROW(open, R, READING(1)),
	ROW(openat, R, READING(2)),
	ROW(getdents64, R),
	ROW(stat, R),
	ROW(lstat, R),
	ROW(newfstatat, R),
	ROW(fstatat64, R),
	ROW(statx, R),
	ROW(statfs, R),
	ROW(readlink, R),
	ROW(readlinkat, R),
	ROW(access, R),
	ROW(faccessat, R),
	ROW(faccessat2, R),
	ROW(getcwd, R),

	/* memory: never executable */
	ROW(brk, PR),
	ROW(mmap, PR, NO_EXEC),
	ROW(mprotect, PR, NO_EXEC),
	ROW(munmap, PR),
	ROW(mremap, PR),
	ROW(madvise, PR),
	ROW(prctl, PR, IS(0, SET_VMA_PRCTL)),

	/* threads and waiting */
	ROW(futex, PR),
	ROW(sched_yield, PR),
	ROW(restart_syscall, PR),
	ROW(clone, R, THREAD_ONLY),
	ROW(set_robust_list, R),
	ROW(set_tid_address, R),
	ROW(rseq, R),
	ROW(nanosleep, R),
	ROW(clock_nanosleep, R),
	ROW(sched_getaffinity, R),
	ROW(prctl, R, IS(0, PR_SET_NAME)),

	/* signals of its own; tgkill is added with the pid */
	ROW(rt_sigreturn, PR),
	ROW(rt_sigprocmask, PR),
	ROW(rt_sigaction, PR),
	ROW(sigaltstack, PR),

	/* questions */
	ROW(clock_gettime, PR),
	ROW(gettimeofday, PR),
	ROW(getrandom, PR),
	ROW(getpid, PR),
	ROW(gettid, PR),
	ROW(prctl, PR, IS(0, PR_GET_SECCOMP)),
	ROW(prctl, PR, IS(0, PR_GET_NO_NEW_PRIVS)),
	ROW(landlock_create_ruleset, PR, NULL_AT(0), IS(2, 1)),
	ROW(getuid, R),
	ROW(geteuid, R),
	ROW(getgid, R),
	ROW(getegid, R),
	ROW(uname, R),
	ROW(sysinfo, R),
	ROW(getrlimit, R),
	ROW(prlimit64, R, IS(0, 0), NULL_AT(2)),

	/* the end */
	ROW(exit, PR),
	ROW(exit_group, PR),
};
/* clang-format on */

/* -EDOM: this architecture has no such call, and so no way to make it. */
static int
add(scmp_filter_ctx ctx, uint32_t action, const struct rule *r)
{
	struct scmp_arg_cmp cmp[2];
	unsigned n = 0;
	int rc;

	for (size_t i = 0; i < 2; i++)
		if (r->c[i].mask != 0)
			cmp[n++] = (struct scmp_arg_cmp){
				.arg = r->c[i].arg,
				.op = SCMP_CMP_MASKED_EQ,
				.datum_a = r->c[i].mask,
				.datum_b = r->c[i].value,
			};
	rc = seccomp_rule_add_array(ctx, action, r->nr, n, cmp);
	return rc == -EDOM ? 0 : rc;
}

/* The rows that are not constant. */
static int
add_own(scmp_filter_ctx ctx, enum dp_filter_set set)
{
	const struct rule self = ROW(tgkill, PR, IS(0, getpid()));
	const struct rule clone3 = ROW(clone3, R);
	const struct rule openat2 = ROW(openat2, R);
	int rc = add(ctx, SCMP_ACT_ALLOW, &self);

	if (rc != 0 || set != DP_FILTER_READER)
		return rc;
	rc = add(ctx, SCMP_ACT_ERRNO(ENOSYS), &clone3);
	if (rc != 0)
		return rc;
	return add(ctx, SCMP_ACT_ERRNO(ENOSYS), &openat2);
}

static int
fill(scmp_filter_ctx ctx, enum dp_filter_set set)
{
	int rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
	                          SCMP_ACT_KILL_PROCESS);

	for (size_t i = 0; rc == 0 && i < sizeof rules / sizeof rules[0]; i++)
		if ((rules[i].sets & set) != 0)
			rc = add(ctx, SCMP_ACT_ALLOW, &rules[i]);
	if (rc == 0)
		rc = add_own(ctx, set);
	return rc;
}

bool
dp_filter_load(enum dp_filter_set set, struct dp_err *e)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int rc;

	if (ctx == NULL)
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "seccomp filter");
	/* A search tree instead of a list; only speed is lost without. */
	(void)seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	rc = fill(ctx, set);
	if (rc == 0)
		rc = seccomp_load(ctx);
	seccomp_release(ctx);
	return rc == 0 || dp_err_errno(e, -rc, "seccomp filter");
}
