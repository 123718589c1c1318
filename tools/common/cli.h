/* SPDX-License-Identifier: BSD-2-Clause */
/* What the filters share: start, options, messages, exit status. */
#ifndef DP_CLI_H
#define DP_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/err.h"

/* Exit statuses, as grep(1) has them. */
enum {
	CLI_OK = 0,      /* all read, something found */
	CLI_NOTHING = 1, /* all read, nothing found; no message */
	CLI_TROUBLE = 2, /* a message is on stderr */
};

/* The worse of two statuses. */
int cli_worse(int a, int b);

/* Make descriptors 0 to 2 valid, remember the program's name. */
void cli_start(const char *prog);

/* One line on stderr: "prog: " and the text. */
void cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "prog: input: at 0x1c: what"; unprintable bytes of the input escaped. */
void cli_err(struct dp_bytes input, const struct dp_err *e);

/* After a usage message: "Try 'prog --help'.", exit 2. */
_Noreturn void cli_try_help(void);

/* "prog VERSION" and the libraries in use, to stdout. */
void cli_version(const char *libraries);

/* A whole decimal number of [min, max]; false after a message. */
bool cli_number(const char *option, const char *text, uint64_t min,
                uint64_t max, uint64_t *n_ret);

/* Refuse to write binary to a terminal; exits after a message. */
void cli_no_terminal(const char *instead);

/* An EPIPE is no news: whoever read had enough. */
bool cli_is_epipe(const struct dp_err *e);

/* Append `s` to a line for people: unprintable bytes as \xNN. */
void cli_print(FILE *f, struct dp_bytes s);

#endif /* DP_CLI_H */
