/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads record streams, binary or NDJSON, one behind the other.  Which form
 * a record has is told by its first byte: a size is a multiple of 8, '{' is
 * not.  The bytes are hostile.
 */
#ifndef DP_RECORD_READER_H
#define DP_RECORD_READER_H

#include <sys/types.h>

#include "record/codec.h"

/* Up to n bytes into p; 0 at the end, -1 with `e` filled. */
struct dp_source {
	ssize_t (*read)(void *ctx, void *p, size_t n, struct dp_err *e);
	void *ctx;
};

/* A source that reads a descriptor: .ctx points at the int. */
ssize_t dp_source_fd(void *ctx, void *p, size_t n, struct dp_err *e);

struct dp_reader {
	struct dp_source source;
	struct dp_buf buf; /* owned; [start, buf.n) is unread */
	size_t start;
	uint64_t pos;     /* stream offset of buf.p[0] */
	uint64_t rec_pos; /* stream offset of the record last given */
	bool eof;
	bool in_stream; /* a header was seen, its end not yet */
	bool in_object;
	bool orphan;          /* of records outside of objects one was told */
	bool json;            /* the record last given was a line */
	uint8_t stage;        /* of the header last seen: enum dp_word_stage */
	uint64_t streams;     /* headers seen */
	uint64_t objects;     /* whole objects of the open stream */
	uint64_t all_objects; /* whole objects of all streams */
	uint64_t records;     /* records of the open stream */
	uint64_t unknown; /* records passed over: type or version not ours */
	uint32_t counts[DP_REC_MAX + 1]; /* of the open object */
	struct dp_json_line line;
};

enum dp_read {
	DP_READ_RECORD, /* *rec_ret holds; it borrows until the next call */
	DP_READ_EOF,    /* the end, where an end may be */
	DP_READ_BAD,    /* a record could not be read, go on; `e` says why */
	DP_READ_FAIL,   /* nothing more can be read; `e` says why */
};

void dp_reader_init(struct dp_reader *r, struct dp_source source);
void dp_reader_deinit(struct dp_reader *r);

/*
 * The next record.  Unknown ones are counted and passed over.  Besides
 * broken records, DP_READ_BAD tells an object_end or end whose counts are
 * not what was read, and one that ends nothing (the record is not given); an
 * object that has no end (in_object is false then, and what comes instead is
 * given by the next call); and the first of several records outside of an
 * object, of which the others are passed over like unknown ones.  A stream
 * without its end is DP_READ_FAIL with the number of whole objects in the
 * message.
 */
enum dp_read dp_reader_next(struct dp_reader *r, struct dp_record *rec_ret,
                            struct dp_err *e);

/*
 * The next `n` bytes without stepping over them; fewer at the end of the
 * input; .p NULL with `e` filled when reading failed or memory is out.
 */
struct dp_bytes dp_reader_peek(struct dp_reader *r, size_t n, struct dp_err *e);

/* Step over n bytes that a peek has shown. */
void dp_reader_skip(struct dp_reader *r, size_t n);

#endif /* DP_RECORD_READER_H */
