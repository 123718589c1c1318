/* SPDX-License-Identifier: BSD-2-Clause */
/* Which libelf this was built with, for --version. */
#ifndef DP_LIBVER_H
#define DP_LIBVER_H

/* The version times 1000 plus the part behind the dot: 188 for 0.188. */
int dp_libelf_version(void);

#endif /* DP_LIBVER_H */
