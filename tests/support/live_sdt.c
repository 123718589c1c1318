/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes of <sys/sdt.h> (Debian: systemtap-sdt-dev) to attach to: here those
 * with a semaphore, in live_plain.c those without.  In $S (tests/support) to
 * $O:
 *
 *   PIE      cc -O2 -g -fPIE -pie -o $O/live_sdt $S/live_main.c \
 *                $S/live_sdt.c $S/live_plain.c
 *   non-PIE  cc -O2 -g -fno-pie -no-pie -o $O/live_sdt_nopie \
 *                $S/live_main.c $S/live_sdt.c $S/live_plain.c
 *   library  cc -O2 -g -fPIC -shared -o $O/liblive_sdt.so \
 *                $S/live_sdt.c $S/live_plain.c
 *            cc -O2 -g -o $O/live_sdt_so $S/live_main.c -L$O -llive_sdt \
 *                -Wl,-rpath,'$ORIGIN'
 *
 * A round R passes (counts in brackets): live:live_guarded:guarded [1 when
 * its semaphore is raised, else 0], live:live_sema:always [1], and what
 * live_plain.c says.
 */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl*): sdt.h's own */
#define _SDT_HAS_SEMAPHORES 1
#include <stddef.h>
#include <sys/sdt.h>

#include "live.h"
#include "live_plain.h"

#define SEMAPHORE(name)                                                        \
	unsigned short name __attribute__((section(".probes"), used))

SEMAPHORE(live_guarded_semaphore);
SEMAPHORE(live_always_semaphore);

enum { GUARDED, ALWAYS, PLAIN };

static struct live_count counts[] = {
	[GUARDED] = { "live:live_guarded:guarded", 0 },
	[ALWAYS] = { "live:live_sema:always", 0 },
	[PLAIN + LIVE_STEP] = { "live:live_step:step", 0 },
	[PLAIN + LIVE_LOOP] = { "live:live_loop:loop", 0 },
	[PLAIN + LIVE_KINDS] = { "live:live_kinds:kinds", 0 },
	[PLAIN + LIVE_TWICE] = { "live:live_twice:twice", 0 },
	{ NULL, 0 },
};

/* External linkage: a static one would be changed to fit its only caller. */
void live_guarded(int round);
void live_sema(int round);

/* arg0: the round; only for a tracer that raised the semaphore. */
LIVE_FUNCTION void
live_guarded(int round)
{
	volatile unsigned short *raised = &live_guarded_semaphore;

	if (*raised == 0)
		return;
	STAP_PROBE1(live, guarded, round);
	counts[GUARDED].n++;
}

/* arg0: the round plus 100; passed whatever the semaphore says. */
LIVE_FUNCTION void
live_sema(int round)
{
	STAP_PROBE1(live, always, round + 100);
	counts[ALWAYS].n++;
}

void
live_run(int round)
{
	live_guarded(round);
	live_sema(round);
	live_plain(round, counts + PLAIN);
}

const struct live_count *
live_counts(void)
{
	return counts;
}
