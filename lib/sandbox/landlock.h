/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Landlock by raw system calls: the headers in use may be older than the
 * kernel that runs.  Only the two shapes that the sandbox needs.
 */
#ifndef DP_LANDLOCK_H
#define DP_LANDLOCK_H

#include <stdbool.h>

#include "base/err.h"

/* The highest ABI the running kernel offers; 0: none, or switched off. */
int dp_landlock_abi(void);

/*
 * Put the calling thread into a domain that denies everything the ABI at
 * hand can deny: files, TCP, and (ABI 6) signals and abstract sockets to
 * processes outside.  With `read_all` files and directories may be read;
 * truncating them is then for the filter to refuse.  no_new_privs has to be
 * set.  Fails when the kernel has no Landlock: ask dp_landlock_abi() first.
 */
bool dp_landlock_enter(bool read_all, struct dp_err *e);

#endif /* DP_LANDLOCK_H */
