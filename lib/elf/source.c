/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/source.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/range.h"

enum {
	FIRST_READ = 1 << 20, /* memory that is taken on the word of a file */
	WIN_SIZE = 4096,
	WIN_MAX = 64 << 10,
	AHEAD_MAX = 32 << 10, /* a larger read goes past the read-ahead */
	AHEAD = 256, /* header and first bytes of the next archive member */
};

struct dp_src
dp_src_fd(int fd, uint64_t off, uint64_t size)
{
	return (struct dp_src){ .fd = fd, .off = off, .size = size };
}

struct dp_src
dp_src_mem(struct dp_bytes b)
{
	return (struct dp_src){ .fd = -1, .mem = b.p, .size = b.n };
}

bool
dp_src_measure(struct dp_src *src, struct dp_err *e)
{
	struct stat st;
	uint64_t size;

	if (src->size != DP_SRC_UNKNOWN)
		return true;
	if (fstat(src->fd, &st) != 0)
		return dp_err_errno(e, errno, "cannot stat the object");
	if (!S_ISREG(st.st_mode))
		return dp_err_set(e, DP_EUNSUP, DP_NOOFF, "not a regular file");
	size = (uint64_t)st.st_size;
	src->size = size > src->off ? size - src->off : 0;
	return true;
}

/* Bytes of the object behind `off`, at most `n`. */
static uint64_t
clip(const struct dp_src *src, uint64_t off, uint64_t n)
{
	uint64_t at;

	if (off >= src->size)
		return 0;
	if (n > src->size - off)
		n = src->size - off;
	if (src->fd < 0)
		return n;
	/* past what off_t can say there is no file */
	if (__builtin_add_overflow(src->off, off, &at) || at > INT64_MAX)
		return 0;
	return n < INT64_MAX - at ? n : INT64_MAX - at;
}

/* Append `n` bytes at `at` of the file; fewer at its end. */
static bool
append_file(int fd, uint64_t at, struct dp_buf *buf, size_t n, struct dp_err *e)
{
	size_t got = 0;
	ssize_t r;

	while (got < n) {
		r = pread(fd, buf->p + buf->n, n - got, (off_t)(at + got));
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return dp_err_errno(e, errno, "cannot read");
		if (r == 0)
			break;
		got += (size_t)r;
		buf->n += (size_t)r;
	}
	return true;
}

/* The same out of what was read ahead, which is read anew if need be. */
static bool
append_ahead(const struct dp_src *src, uint64_t at, struct dp_buf *buf,
             size_t n, struct dp_err *e)
{
	struct dp_ahead *a = src->ahead;

	if (at < a->off || !dp_range_ok(at - a->off, n, a->buf.n)) {
		a->buf.n = 0;
		a->off = at;
		if (!dp_buf_reserve(&a->buf, n + AHEAD))
			return dp_err_set(e, DP_ENOMEM, at, "out of memory");
		if (!append_file(src->fd, at, &a->buf, n + AHEAD, e)) {
			a->buf.n = 0;
			return false;
		}
	}
	at -= a->off;
	if (n > a->buf.n - at)
		n = (size_t)(a->buf.n - at);
	memcpy(buf->p + buf->n, a->buf.p + at, n);
	buf->n += n;
	return true;
}

/* Append `n` bytes for which there is room; fewer at the end of the file. */
static bool
append(const struct dp_src *src, uint64_t off, struct dp_buf *buf, size_t n,
       struct dp_err *e)
{
	if (src->fd < 0) {
		memcpy(buf->p + buf->n, src->mem + off, n);
		buf->n += n;
		return true;
	}
	if (src->ahead != NULL && n <= AHEAD_MAX &&
	    src->off + off <= INT64_MAX - AHEAD_MAX - AHEAD)
		return append_ahead(src, src->off + off, buf, n, e);
	return append_file(src->fd, src->off + off, buf, n, e);
}

bool
dp_src_some(const struct dp_src *src, uint64_t off, struct dp_buf *buf,
            size_t n, struct dp_err *e)
{
	uint64_t left = clip(src, off, n);
	size_t step = FIRST_READ, before = buf->n, at;

	while (left != 0) {
		step = left < step ? (size_t)left : step;
		at = buf->n;
		if (!dp_buf_reserve(buf, step)) {
			buf->n = before;
			return dp_err_set(e, DP_ENOMEM, off, "out of memory");
		}
		if (!append(src, off, buf, step, e)) {
			buf->n = before;
			return false;
		}
		if (buf->n - at < step)
			break;
		off += step;
		left -= step;
		step = buf->n - before;
	}
	return true;
}

bool
dp_src_load(const struct dp_src *src, uint64_t off, uint64_t n,
            struct dp_buf *buf, struct dp_err *e)
{
	uint64_t end;

	buf->n = 0;
	if (n > SIZE_MAX ||
	    (src->size != DP_SRC_UNKNOWN && !dp_range_ok(off, n, src->size)))
		return dp_err_set(e, DP_EFORMAT, src->size,
		                  "cut: %ju bytes wanted at %#jx", (uintmax_t)n,
		                  (uintmax_t)off);
	if (!dp_src_some(src, off, buf, (size_t)n, e))
		return false;
	if (buf->n == n)
		return true;
	end = off + buf->n;
	buf->n = 0;
	return dp_err_set(e, DP_EFORMAT, end, "cut: %ju bytes wanted at %#jx",
	                  (uintmax_t)n, (uintmax_t)off);
}

bool
dp_win_get(struct dp_win *w, const struct dp_src *src, uint64_t off, size_t n,
           struct dp_bytes *b_ret)
{
	struct dp_err ignored = DP_ERR_INIT;
	uint64_t at;

	if (n > WIN_MAX)
		n = WIN_MAX;
	if (off < w->off || !dp_range_ok(off - w->off, n, w->buf.n)) {
		w->buf.n = 0;
		w->off = off;
		if (!dp_src_some(src, off, &w->buf, n > WIN_SIZE ? n : WIN_SIZE,
		                 &ignored))
			return false;
	}
	*b_ret = (struct dp_bytes){ NULL, 0 };
	at = off - w->off;
	if (at >= w->buf.n)
		return true;
	b_ret->p = w->buf.p + at;
	b_ret->n = w->buf.n - (size_t)at < n ? w->buf.n - (size_t)at : n;
	return true;
}

void
dp_win_deinit(struct dp_win *w)
{
	dp_buf_deinit(&w->buf);
	w->off = 0;
}
