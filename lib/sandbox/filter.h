/* SPDX-License-Identifier: BSD-2-Clause */
/* The seccomp allow lists of the sandbox, and loading one of them. */
#ifndef DP_FILTER_H
#define DP_FILTER_H

#include <stdbool.h>

#include "base/err.h"

/* Which list; bits, because one row of the table may be in both. */
enum dp_filter_set { DP_FILTER_PIPE = 1, DP_FILTER_READER = 2 };

/*
 * Load the list for the calling thread and those it will create, and set
 * no_new_privs.
 */
bool dp_filter_load(enum dp_filter_set set, struct dp_err *e);

#endif /* DP_FILTER_H */
