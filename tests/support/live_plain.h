/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of live_sdt.c whose probes have no semaphore. */
#ifndef DP_TEST_LIVE_PLAIN_H
#define DP_TEST_LIVE_PLAIN_H

#include "live.h"

/* Places in the counts given to live_plain(). */
enum { LIVE_STEP, LIVE_LOOP, LIVE_KINDS, LIVE_TWICE, LIVE_PLAIN_COUNT };

void live_plain(int round, struct live_count *counts);

#endif /* DP_TEST_LIVE_PLAIN_H */
