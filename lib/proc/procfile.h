/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading what /proc gives: files without a size, and links whose text is
 * not always a path.  Nothing here knows what the content means.
 */
#ifndef DP_PROCFILE_H
#define DP_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"

/* openat() that retries EINTR, adds O_CLOEXEC, and gives -1 and errno. */
int dp_procfile_open(int dirfd, const char *name, int flags);

/* pread() that retries EINTR; -1 and errno. */
ssize_t dp_procfile_pread(int fd, void *dst, size_t n, off_t at);

/*
 * Replace what `out` holds by the content of the file, at most `max` bytes:
 * more is DP_ELIMIT.  After a failure `out` holds what had been read.
 */
bool dp_procfile_read(int dirfd, const char *name, size_t max,
                      struct dp_buf *out, struct dp_err *e);

/* Replace what `out` holds by the text of a symbolic link, without NUL. */
bool dp_procfile_link(int dirfd, const char *name, struct dp_buf *out,
                      struct dp_err *e);

#endif /* DP_PROCFILE_H */
