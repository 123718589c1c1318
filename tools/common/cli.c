/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "progress.h"

static const char *progname = "dofpipe";

int
cli_worse(int a, int b)
{
	/* Something found makes up for nothing found, never for trouble. */
	if (a == CLI_TROUBLE || b == CLI_TROUBLE)
		return CLI_TROUBLE;
	return a == CLI_OK || b == CLI_OK ? CLI_OK : CLI_NOTHING;
}

void
cli_start(const char *prog)
{
	/* The next open() must not become a standard stream.  The wrong
	 * direction makes use of a closed one an error. */
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) == -1 &&
		    open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			_exit(CLI_TROUBLE);
	progname = prog;
}

void
cli_print(FILE *f, struct dp_bytes s)
{
	for (size_t i = 0; i < s.n;) {
		size_t len = dp_utf8_len(s.p + i, s.n - i);

		if (len > 1 || (len == 1 && s.p[i] >= 0x20 && s.p[i] != 0x7f &&
		                s.p[i] != '\\')) {
			(void)fwrite(s.p + i, 1, len, f);
			i += len;
		} else {
			(void)fprintf(f, "\\x%02x", s.p[i++]);
		}
	}
}

void
cli_warn(const char *fmt, ...)
{
	va_list ap;

	flockfile(stderr);
	progress_clear();
	(void)fprintf(stderr, "%s: ", progname);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
	funlockfile(stderr);
}

void
cli_err(struct dp_bytes input, const struct dp_err *e)
{
	flockfile(stderr); /* threads: one line stays one line */
	progress_clear();
	(void)fprintf(stderr, "%s: ", progname);
	cli_print(stderr, input);
	if (input.n != 0)
		(void)fputs(": ", stderr);
	if (e->off != DP_NOOFF)
		(void)fprintf(stderr, "at 0x%" PRIx64 ": ", e->off);
	(void)fprintf(stderr, "%s\n", e->msg);
	funlockfile(stderr);
}

void
cli_try_help(void)
{
	(void)fprintf(stderr, "Try '%s --help'.\n", progname);
	exit(CLI_TROUBLE);
}

void
cli_version(const char *libraries)
{
	printf("%s %s (%s)\n", progname, DP_VERSION, libraries);
}

bool
cli_number(const char *option, const char *text, uint64_t min, uint64_t max,
           uint64_t *n_ret)
{
	char *end = NULL;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
	    n < min || n > max) {
		cli_warn("%s: '%s' is not a number from %" PRIu64
		         " to %" PRIu64,
		         option, text, min, max);
		return false;
	}
	*n_ret = n;
	return true;
}

void
cli_no_terminal(const char *instead)
{
	if (!isatty(STDOUT_FILENO))
		return;
	cli_warn("not writing binary records to a terminal: %s", instead);
	exit(CLI_TROUBLE);
}

bool
cli_is_epipe(const struct dp_err *e)
{
	return e->code == DP_EIO && e->os_errno == EPIPE;
}
