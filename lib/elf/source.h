/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the bytes of one object come from: a range of an open file (an
 * archive member is a part of one) or memory.  Read with pread only: never
 * mmap, which turns a file that is cut meanwhile into SIGBUS, and never
 * lseek, so threads may share an fd.  Every offset here, and every offset
 * in an error of lib/elf, counts from the start of the object.
 */
#ifndef DP_SOURCE_H
#define DP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"

#define DP_SRC_UNKNOWN UINT64_MAX /* size: to the end of the file */

/*
 * Bytes of the file read ahead, for one that is read in many small pieces
 * from front to back, as an archive is.  Zeroed it is empty; owned memory.
 */
struct dp_ahead {
	struct dp_buf buf;
	uint64_t off; /* of buf's first byte in the file */
};

struct dp_src {
	int fd;                 /* borrowed; -1 when the bytes are in memory */
	const uint8_t *mem;     /* borrowed; NULL when they are in a file */
	uint64_t off;           /* where the object begins in the file */
	uint64_t size;          /* bytes of the object, or DP_SRC_UNKNOWN */
	struct dp_ahead *ahead; /* borrowed; NULL: read what is asked for */
};

/* The object of `size` bytes (or DP_SRC_UNKNOWN) at `off` of `fd`. */
struct dp_src dp_src_fd(int fd, uint64_t off, uint64_t size);

/* An object in memory that outlives all use of the source. */
struct dp_src dp_src_mem(struct dp_bytes b);

/*
 * An unknown size becomes the one that fstat gives (0 for a start past the
 * end).  Fails for what is not a regular file; *src is untouched then.
 */
bool dp_src_measure(struct dp_src *src, struct dp_err *e);

/*
 * Append up to `n` bytes at `off` to `buf`; fewer only at the end of the
 * object.  Fails only when the system call does or memory is out; buf->n is
 * as before then.
 */
bool dp_src_some(const struct dp_src *src, uint64_t off, struct dp_buf *buf,
                 size_t n, struct dp_err *e);

/*
 * Replace what `buf` holds by the `n` bytes at `off`.  An object that ends
 * before is DP_EFORMAT at its end.  Memory is taken as the bytes come, so a
 * size that the file does not have costs nothing.  On failure buf->n is 0.
 */
bool dp_src_load(const struct dp_src *src, uint64_t off, uint64_t n,
                 struct dp_buf *buf, struct dp_err *e);

/*
 * A small moving window, for records that are needed here and there in a
 * table too large to read whole.  Zeroed it is empty; owned memory.
 */
struct dp_win {
	struct dp_buf buf;
	uint64_t off; /* of buf's first byte in the object */
};

/*
 * Borrow up to `n` (at most 64 KiB) bytes at `off`, fewer at the end of the
 * object; the borrow ends with the next call.  False: I/O or memory.
 */
bool dp_win_get(struct dp_win *w, const struct dp_src *src, uint64_t off,
                size_t n, struct dp_bytes *b_ret);
void dp_win_deinit(struct dp_win *w);

#endif /* DP_SOURCE_H */
