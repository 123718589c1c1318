/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a record stream, binary or NDJSON, through a buffer into a sink.
 * It counts what an object_end and an end record must say.
 */
#ifndef DP_RECORD_WRITER_H
#define DP_RECORD_WRITER_H

#include "record/codec.h"

/* Takes all of `b` or fails; `ctx` is the caller's. */
struct dp_sink {
	bool (*write)(void *ctx, struct dp_bytes b, struct dp_err *e);
	void *ctx;
};

/* A sink that writes to a descriptor: .ctx points at the int. */
bool dp_sink_fd(void *ctx, struct dp_bytes b, struct dp_err *e);

struct dp_writer {
	struct dp_sink sink;
	struct dp_buf buf; /* not yet in the sink; owned */
	bool json;
	uint64_t objects; /* object_end records so far */
	uint64_t records; /* all records so far */
	uint64_t pos;     /* bytes of the binary form since the object record */
	uint32_t counts[DP_REC_MAX + 1]; /* records of the open object */
};

void dp_writer_init(struct dp_writer *w, struct dp_sink sink, bool json);
void dp_writer_deinit(struct dp_writer *w);

/*
 * dp_put_site(w, &site, e) and so on.  An object record begins the counts;
 * the fields of an object_end or end record are filled in here, whatever
 * was in them.
 */
#define RECORD(T, t, num, ver, stages, doc)                                    \
	bool dp_put_##t(struct dp_writer *w, const struct dp_rec_##t *r,       \
	                struct dp_err *e);
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"

/* Any record; its type says which. */
bool dp_put_record(struct dp_writer *w, const struct dp_record *rec,
                   struct dp_err *e);

/* The header record of a stream of this library's version. */
bool dp_put_stream_header(struct dp_writer *w, enum dp_word_stage stage,
                          const char *producer, struct dp_err *e);

/* An error record out of an error value. */
bool dp_put_err(struct dp_writer *w, struct dp_bytes input,
                enum dp_word_reach reach, const struct dp_err *what,
                struct dp_err *e);

/* Hand everything buffered to the sink. */
bool dp_writer_flush(struct dp_writer *w, struct dp_err *e);

#endif /* DP_RECORD_WRITER_H */
