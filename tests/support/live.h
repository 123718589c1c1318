/* SPDX-License-Identifier: BSD-2-Clause */
/* What live_main.c asks of a program with probes. */
#ifndef DP_TEST_LIVE_H
#define DP_TEST_LIVE_H

/* A function of its own in the object, whatever the optimiser thinks. */
#if defined(__clang__)
#define LIVE_FUNCTION __attribute__((noinline))
#else
#define LIVE_FUNCTION __attribute__((noipa))
#endif

/* How often a probe was passed. */
struct live_count {
	const char *name; /* provider:function:probe */
	unsigned long n;
};

/* Fire every probe; `round` counts from 0. */
void live_run(int round);

/* The counts so far; ends with a NULL name. */
const struct live_count *live_counts(void);

#endif /* DP_TEST_LIVE_H */
