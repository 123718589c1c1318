/* SPDX-License-Identifier: BSD-2-Clause */
#include "progress.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static bool active;
static atomic_bool shown;
static atomic_int_fast64_t next_ms;

static int64_t
now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void
progress_start(bool quiet)
{
	active = !quiet && isatty(STDERR_FILENO);
	if (active)
		atomic_store(&next_ms, now_ms() + 1000);
}

void
progress_tick(uint64_t n, const char *what, uint64_t found)
{
	int_fast64_t due;
	int64_t now;

	if (!active || n % 64 != 0)
		return;
	now = now_ms();
	due = atomic_load(&next_ms);
	if (now < due ||
	    !atomic_compare_exchange_strong(&next_ms, &due, now + 200))
		return;
	(void)fprintf(stderr, "\r\033[K%" PRIu64 " %s, %" PRIu64 " found", n,
	              what, found);
	atomic_store(&shown, true);
}

void
progress_clear(void)
{
	if (active && atomic_exchange(&shown, false))
		(void)fputs("\r\033[K", stderr);
}
