/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes without semaphores, for live_sdt.c.  A round R passes
 *
 *   live:live_step:step [1]    arg0 int R, arg1 "round" (char *)
 *   live:live_loop:loop [3]    arg0 int i = 0 1 2, arg1 long R * 10 + i,
 *                              arg2 the address of the sum of all arg1
 *   live:live_kinds:kinds [1]  int8 -1, uint8 255, int16 -2, uint16 65534,
 *                              int32 -3, uint32 4294967293, int64 -4,
 *                              uint64 R, the constant 7
 *   live:live_twice:twice [2]  two sites: arg0 int 1, then 2
 */
#include "live_plain.h"

#include <stdint.h>
#include <sys/sdt.h>

/* External linkage: a static one would be changed to fit its only caller. */
void live_step(int round, const char *text);
void live_loop(int round, struct live_count *count);
void live_kinds(uint64_t round);
void live_twice(struct live_count *count);

LIVE_FUNCTION void
live_step(int round, const char *text)
{
	STAP_PROBE2(live, step, round, text);
}

LIVE_FUNCTION void
live_loop(int round, struct live_count *count)
{
	long sum = 0, v;
	int i;

	for (i = 0; i < 3; i++) {
		v = round * 10L + i;
		sum += v;
		STAP_PROBE3(live, loop, i, v, &sum);
		count->n++;
	}
}

LIVE_FUNCTION void
live_kinds(uint64_t round)
{
	volatile int8_t a = -1;
	volatile uint8_t b = UINT8_MAX;
	volatile int16_t c = -2;
	volatile uint16_t d = UINT16_MAX - 1;
	volatile int32_t e = -3;
	volatile uint32_t f = UINT32_MAX - 2;
	volatile int64_t g = -4;

	STAP_PROBE9(live, kinds, a, b, c, d, e, f, g, round, 7);
}

LIVE_FUNCTION void
live_twice(struct live_count *count)
{
	STAP_PROBE1(live, twice, 1);
	count->n++;
	STAP_PROBE1(live, twice, 2);
	count->n++;
}

void
live_plain(int round, struct live_count *counts)
{
	live_step(round, "round");
	counts[LIVE_STEP].n++;
	live_loop(round, &counts[LIVE_LOOP]);
	live_kinds((uint64_t)round);
	counts[LIVE_KINDS].n++;
	live_twice(&counts[LIVE_TWICE]);
}
