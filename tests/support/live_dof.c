/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes of a .SUNW_dof section to attach to, x86-64: one DOF of version 1,
 * one of version 3 with is-enabled sites.  A site is five NOPs with the
 * arguments where the C calling convention puts them, as dtrace -G leaves
 * it.  The DOF comes from live_dof.txt.  In $S (tests/support) to $O:
 *
 *   mkfix --gas -o $O/live_dof.s $S/live_dof.txt
 *   PIE      cc -O2 -g -fPIE -pie -Wa,-I$O -o $O/live_dof \
 *                $S/live_main.c $S/live_dof.c
 *   non-PIE  cc -O2 -g -fno-pie -no-pie -Wa,-I$O -o $O/live_dof_nopie \
 *                $S/live_main.c $S/live_dof.c
 *   library  cc -O2 -g -fPIC -shared -Wa,-I$O -o $O/liblive_dof.so \
 *                $S/live_dof.c
 *            cc -O2 -g -o $O/live_dof_so $S/live_main.c -L$O -llive_dof \
 *                -Wl,-rpath,'$ORIGIN'
 *
 * GNU as only.  Nothing here registers the DOF with a kernel.  A round R
 * passes (counts in brackets)
 *
 *   livev1:live_step:step [1]      arg0 int R, arg1 "round" (char *)
 *   livev1:live_loop:loop [3]      arg0 int i = 0 1 2, arg1 long R * 10 + i
 *   livev1:live_twice:twice [2]    two sites: arg0 int 1, then 2
 *   livev3:live_guarded:guarded    is-enabled [1]; probe [1 when a tracer
 *                                  stored 1 through arg0 of the is-enabled
 *                                  site (uint32_t *), else 0], arg0 int R
 *   livev3:live_swap:swap [1]      native int R, "swap"; args[0] is the
 *                                  string and args[1] the int
 */
#ifndef __x86_64__
#error "the sites are written for x86-64"
#endif

#include <stddef.h>
#include <stdint.h>

#include "live.h"

__asm__(".include \"live_dof.s\"");

#define SITE(label) #label ":\n\t.byte 0x90, 0x90, 0x90, 0x90, 0x90\n"

enum { STEP, LOOP, TWICE, ENABLED, GUARDED, SWAP };

static struct live_count counts[] = {
	[STEP] = { "livev1:live_step:step", 0 },
	[LOOP] = { "livev1:live_loop:loop", 0 },
	[TWICE] = { "livev1:live_twice:twice", 0 },
	[ENABLED] = { "livev3:live_guarded:guarded(is-enabled)", 0 },
	[GUARDED] = { "livev3:live_guarded:guarded", 0 },
	[SWAP] = { "livev3:live_swap:swap", 0 },
	{ NULL, 0 },
};

/* The DOF names these functions, so they have external linkage. */
void live_step(int round, const char *text);
void live_loop(int round);
void live_twice(void);
void live_guarded(int round);
void live_swap(int round, const char *text);

LIVE_FUNCTION void
live_step(int round, const char *text)
{
	__asm__ volatile(SITE(live_step_1)
	                 :
	                 : "D"(round), "S"(text)
	                 : "memory");
	counts[STEP].n++;
}

LIVE_FUNCTION void
live_loop(int round)
{
	long v;
	int i;

#pragma GCC unroll 1
	for (i = 0; i < 3; i++) {
		v = round * 10L + i;
		__asm__ volatile(SITE(live_loop_1)
		                 :
		                 : "D"(i), "S"(v)
		                 : "memory");
		counts[LOOP].n++;
	}
}

LIVE_FUNCTION void
live_twice(void)
{
	__asm__ volatile(SITE(live_twice_1) : : "D"(1) : "memory");
	counts[TWICE].n++;
	__asm__ volatile(SITE(live_twice_2) : : "D"(2) : "memory");
	counts[TWICE].n++;
}

LIVE_FUNCTION void
live_guarded(int round)
{
	uint32_t enabled = 0;

	__asm__ volatile(SITE(live_guarded_en) : : "D"(&enabled) : "memory");
	counts[ENABLED].n++;
	if (enabled == 0)
		return;
	__asm__ volatile(SITE(live_guarded_1) : : "D"(round) : "memory");
	counts[GUARDED].n++;
}

LIVE_FUNCTION void
live_swap(int round, const char *text)
{
	__asm__ volatile(SITE(live_swap_1)
	                 :
	                 : "D"(round), "S"(text)
	                 : "memory");
	counts[SWAP].n++;
}

void
live_run(int round)
{
	live_step(round, "round");
	live_loop(round);
	live_twice();
	live_guarded(round);
	live_swap(round, "swap");
}

const struct live_count *
live_counts(void)
{
	return counts;
}
