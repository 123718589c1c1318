/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One process as /proc shows it.  The directory is opened once and all that
 * follows goes through that descriptor: should the process end and its pid
 * be given away, accesses fail instead of reading the newcomer.
 *
 * An execve() keeps pid and start time; only the mappings tell of it.
 */
#ifndef DP_PROCESS_H
#define DP_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"

/* A process that is looked at; dp_process_deinit() closes it. */
struct dp_process {
	pid_t pid;      /* as the /proc at hand numbers it */
	pid_t ns_pid;   /* in the innermost pid namespace it lives in */
	uint64_t start; /* clock ticks after boot: with pid, its identity */
	uint64_t pidns; /* inode of that namespace; 0 when not permitted */
	int dirfd;      /* owned: /proc/PID, O_PATH */
};

/*
 * Open process `pid`.  The id of a thread that leads no process is refused.
 * On failure *p_ret is untouched; os_errno ENOENT or ESRCH: no such process.
 */
bool dp_process_open(pid_t pid, struct dp_process *p_ret, struct dp_err *e);

/* Close it; an already closed or zeroed-by-deinit one is left alone. */
void dp_process_deinit(struct dp_process *p);

/*
 * True while the process that was opened exists and has memory: a zombie is
 * gone.  Never true for another process with the same pid.
 */
bool dp_process_alive(const struct dp_process *p);

/* Replace what `text` holds by the text of /proc/PID/maps. */
bool dp_process_maps(const struct dp_process *p, struct dp_buf *text,
                     struct dp_err *e);

/*
 * Replace what `path` holds by the path of the executable, without NUL and
 * without the kernel's " (deleted)", which *deleted_ret tells instead.  (A
 * name that really ends so is known by the link count of the open file.)
 * Kernel threads have none: DP_EIO with ENOENT.
 */
bool dp_process_exe(const struct dp_process *p, struct dp_buf *path,
                    bool *deleted_ret, struct dp_err *e);

/*
 * Append the pids of all processes to `pids` (pid_t elements), ascending.
 * On failure `pids` is as it was.
 */
bool dp_process_list(struct dp_vec *pids, struct dp_err *e);

/*
 * Field 22 of /proc/PID/stat (start time in clock ticks) and field 3 (the
 * state letter).  The name in field 2 is the process's own choice and may
 * hold blanks and ')', so counting starts at the last ')'.
 */
bool dp_stat_parse(struct dp_bytes stat, uint64_t *start_ret, char *state_ret,
                   struct dp_err *e);

/*
 * From /proc/PID/status: Tgid and the last number of NSpid.  Kernels before
 * 4.1 have no NSpid: then *ns_pid_ret is the Tgid.
 */
bool dp_status_parse(struct dp_bytes status, pid_t *tgid_ret, pid_t *ns_pid_ret,
                     struct dp_err *e);

#endif /* DP_PROCESS_H */
