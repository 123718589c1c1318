/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening what somebody else has named: an O_PATH descriptor is looked at
 * first, so that a FIFO or a device in that place is never opened.
 */
#ifndef DP_OPENREG_H
#define DP_OPENREG_H

#include <sys/stat.h>

/*
 * From an O_PATH descriptor, which stays the caller's, to one that reads
 * the same file, whatever has happened to its path meanwhile.  *st_ret is
 * what fstat says of it.  -1 and errno: EINVAL for what is no regular
 * file, ENOENT, too, when /proc is not mounted.
 */
int dp_open_regular(int pathfd, struct stat *st_ret);

#endif /* DP_OPENREG_H */
