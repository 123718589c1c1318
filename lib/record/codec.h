/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One record to bytes and back, in both forms of the stream.
 *
 * Binary: u32 size (header included, a multiple of 8) | u16 type |
 * u16 version | fields | zero padding, all little-endian.  NDJSON: one
 * object a line.  Framing a stream is reader.h's and writer.h's work.
 */
#ifndef DP_RECORD_CODEC_H
#define DP_RECORD_CODEC_H

#include "base/err.h"
#include "base/vec.h"
#include "record/model.h"

enum { DP_RECORD_HEADER_SIZE = 8 };

/*
 * dp_size_site(&site) and so on: bytes of the binary record, padding
 * included.  dp_enc_site(buf, &site, e): append it.  False when it is past
 * DP_MAX_RECORD or memory is out; the buffer is unchanged then.
 */
#define RECORD(T, t, num, ver, stages, doc)                                    \
	size_t dp_size_##t(const struct dp_rec_##t *r);                        \
	bool dp_enc_##t(struct dp_buf *b, const struct dp_rec_##t *r,          \
	                struct dp_err *e);
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"

/* Append any record; its type says which. */
bool dp_record_encode(struct dp_buf *b, const struct dp_record *rec,
                      struct dp_err *e);

/*
 * Decode the record that `whole` holds, header included.  The result
 * borrows from `whole`.  Errors: DP_EUNSUP for a type or a version that is
 * not ours (well-formed: pass over it), DP_EFORMAT with the offset in
 * `whole`.
 */
bool dp_record_decode(struct dp_bytes whole, struct dp_record *rec_ret,
                      struct dp_err *e);

/* Append one record as an NDJSON line, newline included. */
bool dp_record_to_json(struct dp_buf *b, const struct dp_record *rec,
                       struct dp_err *e);

/*
 * A record read from NDJSON borrows from here; it is good until the next
 * line is read into the same one.  Zero it before first use.
 */
struct dp_json_line {
	void *root;          /* the parsed line; owned */
	struct dp_buf arena; /* bytes that were hex; owned */
};

bool dp_record_from_json(struct dp_json_line *l, struct dp_bytes line,
                         struct dp_record *rec_ret, struct dp_err *e);
void dp_json_line_deinit(struct dp_json_line *l);

#endif /* DP_RECORD_CODEC_H */
