/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/limits.h"

enum { CHUNK = 1 << 16, LINK_FIRST = 256 };

int
dp_procfile_open(int dirfd, const char *name, int flags)
{
	int fd;

	do
		fd = openat(dirfd, name, flags | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd;
}

ssize_t
dp_procfile_pread(int fd, void *dst, size_t n, off_t at)
{
	ssize_t got;

	do
		got = pread(fd, dst, n, at);
	while (got < 0 && errno == EINTR);
	return got;
}

/* Sequential on purpose: seq_file content is not stable under pread(). */
static ssize_t
read_retry(int fd, void *dst, size_t n)
{
	ssize_t got;

	do
		got = read(fd, dst, n);
	while (got < 0 && errno == EINTR);
	return got;
}

bool
dp_procfile_read(int dirfd, const char *name, size_t max, struct dp_buf *out,
                 struct dp_err *e)
{
	int fd = dp_procfile_open(dirfd, name, O_RDONLY | O_NOCTTY);
	bool ok = false;
	ssize_t got = 1;

	out->n = 0;
	if (fd < 0)
		return dp_err_errno(e, errno, "%s", name);
	while (got > 0) {
		if (!dp_buf_reserve(out, CHUNK)) {
			(void)dp_err_set(e, DP_ENOMEM, DP_NOOFF, "%s", name);
			goto out;
		}
		got = read_retry(fd, out->p + out->n, CHUNK);
		if (got < 0) {
			(void)dp_err_errno(e, errno, "%s", name);
			goto out;
		}
		out->n += (size_t)got;
		if (out->n > max) {
			(void)dp_err_set(e, DP_ELIMIT, max,
			                 "%s: over %zu bytes", name, max);
			goto out;
		}
	}
	ok = true;
out:
	(void)close(fd);
	return ok;
}

bool
dp_procfile_link(int dirfd, const char *name, struct dp_buf *out,
                 struct dp_err *e)
{
	size_t room = LINK_FIRST;
	ssize_t got;

	out->n = 0;
	for (;;) {
		if (!dp_buf_reserve(out, room))
			return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "%s", name);
		got = readlinkat(dirfd, name, (char *)out->p, room);
		if (got < 0)
			return dp_err_errno(e, errno, "%s", name);
		if ((size_t)got < room)
			break;
		/* It filled the room, so it may have been cut. */
		if (room >= DP_MAX_PATH)
			return dp_err_set(e, DP_ELIMIT, DP_NOOFF,
			                  "%s: link over %zu bytes", name,
			                  room);
		room *= 2;
	}
	out->n = (size_t)got;
	return true;
}
