/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The error value that every fallible function takes last.  It lives on the
 * caller's stack and filling it never allocates, so it works when memory is
 * gone and inside a strict system call filter.
 */
#ifndef DP_ERR_H
#define DP_ERR_H

#include <stdbool.h>
#include <stdint.h>

#define DP_NOOFF UINT64_MAX /* the error has no place in the input */

enum dp_code {
	DP_OK,
	DP_EUSAGE,  /* the caller or the command line asked for nonsense */
	DP_EIO,     /* a system call failed; os_errno says how */
	DP_EFORMAT, /* the input breaks the rules of its own format */
	DP_EUNSUP,  /* well-formed, but from a later version or another kind */
	DP_ELIMIT,  /* the input is past a DP_MAX_* limit */
	DP_EDB,     /* the database refused */
	DP_EATTACH, /* the kernel refused to attach */
	DP_ENOMEM,
	DP_CODE_COUNT
};

struct dp_err {
	enum dp_code code;
	int os_errno;  /* 0 when no system call is to blame */
	uint64_t off;  /* byte offset in the input, or DP_NOOFF */
	char msg[240]; /* one line: no newline, no program or file name */
};

/* A fresh value: `struct dp_err e = DP_ERR_INIT;` */
#define DP_ERR_INIT                                                            \
	{                                                                      \
		.code = DP_OK, .off = DP_NOOFF                                 \
	}

/*
 * Make `e` fresh without touching all of it, for paths that are taken a
 * million times: an initialiser would zero the message each time.
 */
static inline void
dp_err_clear(struct dp_err *e)
{
	e->code = DP_OK;
	e->os_errno = 0;
	e->off = DP_NOOFF;
	e->msg[0] = '\0';
}

/*
 * Record a failure and return false.  The first one stays: a later call
 * changes nothing.  Bytes that a terminal could obey become '?'.
 */
bool dp_err_set(struct dp_err *e, enum dp_code code, uint64_t off,
                const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The same for a failed system call: DP_EIO, errnum and its text. */
bool dp_err_errno(struct dp_err *e, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Put context and ": " in front of a message already there; returns false.
 */
bool dp_err_prefix(struct dp_err *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* "format", "limit" ...; "unknown" for a value outside the enum. */
const char *dp_code_name(enum dp_code code);

#endif /* DP_ERR_H */
