/* SPDX-License-Identifier: BSD-2-Clause */
#include "err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const code_names[] = {
	[DP_OK] = "ok",
	[DP_EUSAGE] = "usage",
	[DP_EIO] = "io",
	[DP_EFORMAT] = "format",
	[DP_EUNSUP] = "unsupported",
	[DP_ELIMIT] = "limit",
	[DP_EDB] = "db",
	[DP_EATTACH] = "attach",
	[DP_ENOMEM] = "nomem",
};
_Static_assert(sizeof code_names / sizeof code_names[0] == DP_CODE_COUNT,
               "every code has a name");

const char *
dp_code_name(enum dp_code code)
{
	return code < DP_CODE_COUNT ? code_names[code] : "unknown";
}

/* Messages quote names out of hostile files: keep them one plain line. */
static void
clean(char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
}

bool
dp_err_set(struct dp_err *e, enum dp_code code, uint64_t off, const char *fmt,
           ...)
{
	va_list ap;

	if (e->code != DP_OK)
		return false;
	e->code = code;
	e->os_errno = 0;
	e->off = off;
	va_start(ap, fmt);
	(void)vsnprintf(e->msg, sizeof e->msg, fmt, ap);
	va_end(ap);
	clean(e->msg);
	return false;
}

bool
dp_err_errno(struct dp_err *e, int errnum, const char *fmt, ...)
{
	char text[64];
	va_list ap;
	size_t n;

	if (e->code != DP_OK)
		return false;
	e->code = DP_EIO;
	e->os_errno = errnum;
	e->off = DP_NOOFF;
	va_start(ap, fmt);
	(void)vsnprintf(e->msg, sizeof e->msg, fmt, ap);
	va_end(ap);
	n = strlen(e->msg);
	(void)snprintf(e->msg + n, sizeof e->msg - n, "%s%s", n ? ": " : "",
	               strerror_r(errnum, text, sizeof text));
	clean(e->msg);
	return false;
}

bool
dp_err_prefix(struct dp_err *e, const char *fmt, ...)
{
	char old[sizeof e->msg];
	va_list ap;
	size_t n;

	memcpy(old, e->msg, sizeof old);
	va_start(ap, fmt);
	(void)vsnprintf(e->msg, sizeof e->msg, fmt, ap);
	va_end(ap);
	n = strlen(e->msg);
	(void)snprintf(e->msg + n, sizeof e->msg - n, ": %s", old);
	clean(e->msg);
	return false;
}
