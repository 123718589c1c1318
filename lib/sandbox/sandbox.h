/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a filter gives up what it does not need: no_new_privs, capabilities,
 * Landlock where the kernel has it, and a seccomp allow list.  What is not
 * allowed fails with EPERM, so the caller sees an ordinary error; system
 * calls of a foreign architecture (x32 among them) kill the process.
 *
 * Order: open what is needed, dp_sandbox_drop_caps(), then one of
 * dp_sandbox_pipe() and dp_sandbox_reader(), then threads.  All three act on
 * the calling thread, so they refuse to run when there are others; nothing
 * can be undone.  On failure the process may be restricted in part.
 *
 * A kernel without Landlock is no error; one without seccomp is, and the
 * caller decides.  LeakSanitizer cannot work inside: end with _exit().
 */
#ifndef DP_SANDBOX_H
#define DP_SANDBOX_H

#include <stdbool.h>

#include "base/err.h"

/* What holds for the calling thread. */
struct dp_sandbox_state {
	bool no_new_privs;
	int seccomp; /* 0 none, 1 strict, 2 filter; -1 not told */

	/*
	 * Highest Landlock ABI of the kernel, 0 for none.  dp_sandbox_pipe()
	 * and dp_sandbox_reader() use it whenever it is there, and fail when it
	 * does not take effect.
	 */
	int landlock_abi;
};

/*
 * For a process that only reads and writes open descriptors: memory, time,
 * signals to itself, and exit are left.  No file can be opened.
 */
bool dp_sandbox_pipe(struct dp_err *e);

/*
 * For a reader of files with threads: any file or directory that the user
 * may read can be opened for reading, nothing for writing.  No sockets, no
 * processes, no signals but to itself, no executable memory.
 *
 * A process in a Landlock domain may not inspect one outside: what is needed
 * of /proc/PID/{mem,maps,map_files,root,exe} has to be open before.
 *
 * openat2() passes its flags in memory, where a filter cannot see them, and
 * clone3() likewise: both give ENOSYS, and glibc takes the older ones.
 */
bool dp_sandbox_reader(struct dp_err *e);

/*
 * Drop all capabilities from the effective, permitted, inheritable, ambient
 * and bounding sets, but for CAP_DAC_READ_SEARCH if `keep_dac_read` and if
 * it was there.  The bounding set is left alone where CAP_SETPCAP is
 * missing; no_new_privs, which is set too, makes up for it.
 */
bool dp_sandbox_drop_caps(bool keep_dac_read, struct dp_err *e);

/* What is in force; works inside the sandboxes, too. */
void dp_sandbox_query(struct dp_sandbox_state *s_ret);

#endif /* DP_SANDBOX_H */
