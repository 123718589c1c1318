/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directories with a mount on something in them that is no directory.  The
 * type in a directory entry is that of what lies below such a mount, so
 * only there a walk has to look at each file before it opens it.
 */
#ifndef DP_MOUNTS_H
#define DP_MOUNTS_H

#include <sys/stat.h>

#include "base/vec.h"

/* Zeroed it is empty: no such mounts. */
struct dp_mounts {
	struct dp_vec dirs; /* struct dp_mountdir, sorted */
	bool unknown;       /* the kernel does not tell: it may be any */
};

/*
 * As the mounts of this process are now, from the text of a mountinfo file
 * (/proc/self/mountinfo).  False when memory is out; dp_mounts_deinit() in
 * any case.
 */
bool dp_mounts_read(struct dp_mounts *m_ret, const char *file);
void dp_mounts_deinit(struct dp_mounts *m);

/* May there be such a mount in this directory? */
bool dp_mounts_in(const struct dp_mounts *m, const struct stat *dir);

#endif /* DP_MOUNTS_H */
