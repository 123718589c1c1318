/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A line of progress on stderr: only on a terminal, first after a second,
 * gone before any message and at the end.
 */
#ifndef DP_PROGRESS_H
#define DP_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Begin; nothing is ever shown when stderr is no terminal or quiet is set. */
void progress_start(bool quiet);

/*
 * Show "N what, M found" when it is time to; cheap enough to be called for
 * every file, from any thread.
 */
void progress_tick(uint64_t n, const char *what, uint64_t found);

/* Wipe the line, if there is one. */
void progress_clear(void);

#endif /* DP_PROGRESS_H */
