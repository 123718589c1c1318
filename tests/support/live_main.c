/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PROG [ROUNDS [PAUSE_MS]]: fires the probes ROUNDS times (1), each time
 * after a pause of PAUSE_MS milliseconds (0), and prints one line for each
 * probe at the end: its name and how often it was passed.  SIGTERM ends the
 * rounds early.  The probes are in live_sdt.c or live_dof.c, which say how
 * to build all this.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "live.h"

static volatile sig_atomic_t stop;

static void
on_term(int sig)
{
	(void)sig;
	stop = 1;
}

static int
number(const char *text, int max)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || v < 0 || v > max) {
		fprintf(stderr, "not a number up to %d: %s\n", max, text);
		exit(2);
	}
	return (int)v;
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? number(argv[1], 1000000000) : 1, i;
	int ms = argc > 2 ? number(argv[2], 1000000) : 0;
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };
	const struct live_count *c;

	(void)signal(SIGTERM, on_term);
	for (i = 0; i < rounds && !stop; i++) {
		if (ms != 0)
			(void)nanosleep(&ts, NULL);
		live_run(i);
	}
	for (c = live_counts(); c->name != NULL; c++)
		printf("%s %lu\n", c->name, c->n);
	return fflush(stdout) == 0 ? 0 : 2;
}
