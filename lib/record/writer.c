/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/writer.h"

#include <errno.h>
#include <unistd.h>

enum {
	FLUSH_AT = 256 << 10, /* bytes gathered before the sink sees them */
	MAX_INPUT_NAME = 64 << 10, /* of an error record */
};

bool
dp_sink_fd(void *ctx, struct dp_bytes b, struct dp_err *e)
{
	const int *fd = ctx;

	while (b.n != 0) {
		ssize_t n = write(*fd, b.p, b.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return dp_err_errno(e, errno, "write");
		b.p += n;
		b.n -= (size_t)n;
	}
	return true;
}

void
dp_writer_init(struct dp_writer *w, struct dp_sink sink, bool json)
{
	*w = (struct dp_writer){ .sink = sink, .json = json };
}

void
dp_writer_deinit(struct dp_writer *w)
{
	dp_buf_deinit(&w->buf);
}

bool
dp_writer_flush(struct dp_writer *w, struct dp_err *e)
{
	struct dp_bytes all = dp_buf_bytes(&w->buf);

	if (all.n == 0)
		return true;
	w->buf.n = 0;
	return w->sink.write(w->sink.ctx, all, e);
}

/* What object_end says, by record type. */
static void
fill_object_end(const struct dp_writer *w, struct dp_rec_object_end *r)
{
	*r = (struct dp_rec_object_end){
		.segments = w->counts[DP_REC_SEGMENT],
		.symbols = w->counts[DP_REC_SYMBOL],
		.elfrels = w->counts[DP_REC_ELFREL],
		.rawdofs = w->counts[DP_REC_RAWDOF],
		.rawnotes = w->counts[DP_REC_RAWNOTE],
		.dofs = w->counts[DP_REC_DOF],
		.providers = w->counts[DP_REC_PROVIDER],
		.probes = w->counts[DP_REC_PROBE],
		.sites = w->counts[DP_REC_SITE],
		.args = w->counts[DP_REC_ARG],
		.relocs = w->counts[DP_REC_RELOC],
		.helpers = w->counts[DP_REC_HELPER],
		.errors = w->counts[DP_REC_ERROR],
	};
}

/* Counts, for a record of `type` and `size` that is about to be written. */
static void
account(struct dp_writer *w, uint16_t type, size_t size)
{
	if (type == DP_REC_HEADER) {
		w->objects = 0;
		w->records = 0;
	} else if (type == DP_REC_OBJECT) {
		memset(w->counts, 0, sizeof w->counts);
		w->pos = 0;
	} else if (type == DP_REC_OBJECT_END) {
		w->objects++;
	}
	w->counts[type]++;
	w->records++;
	w->pos += size;
}

static bool
put_json(struct dp_writer *w, const struct dp_record *rec, struct dp_err *e)
{
	return dp_record_to_json(&w->buf, rec, e);
}

#define RECORD(T, t, num, ver, stages, doc)                                    \
	static bool emit_##t(struct dp_writer *w, const struct dp_rec_##t *r,  \
	                     struct dp_err *e)                                 \
	{                                                                      \
		size_t before = w->buf.n, size;                                \
		bool ok;                                                       \
		if (w->json) {                                                 \
			struct dp_record rec = { .type = (num),                \
				                 .version = (ver),             \
				                 .t = *r };                    \
			ok = put_json(w, &rec, e);                             \
			size = dp_size_##t(r);                                 \
		} else {                                                       \
			ok = dp_enc_##t(&w->buf, r, e);                        \
			size = w->buf.n - before;                              \
		}                                                              \
		if (!ok)                                                       \
			return false;                                          \
		account(w, (num), size);                                       \
		return w->buf.n < FLUSH_AT || dp_writer_flush(w, e);           \
	}
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"

#define RECORD(T, t, num, ver, stages, doc)                                    \
	bool dp_put_##t(struct dp_writer *w, const struct dp_rec_##t *r,       \
	                struct dp_err *e)                                      \
	{                                                                      \
		if ((num) == DP_REC_OBJECT_END || (num) == DP_REC_END) {       \
			struct dp_record own = { .type = (num) };              \
			if (own.type == DP_REC_OBJECT_END)                     \
				fill_object_end(w, &own.object_end);           \
			else                                                   \
				own.end =                                      \
					(struct dp_rec_end){ w->objects,       \
					                     w->records + 1 }; \
			return emit_##t(w, &own.t, e);                         \
		}                                                              \
		return emit_##t(w, r, e);                                      \
	}
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"

bool
dp_put_record(struct dp_writer *w, const struct dp_record *rec,
              struct dp_err *e)
{
	switch (rec->type) {
#define RECORD(T, t, num, ver, stages, doc)                                    \
	case (num):                                                            \
		return dp_put_##t(w, &rec->t, e);
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"
	default:
		return dp_err_set(e, DP_EUSAGE, DP_NOOFF, "no record type %u",
		                  rec->type);
	}
}

bool
dp_put_stream_header(struct dp_writer *w, enum dp_word_stage stage,
                     const char *producer, struct dp_err *e)
{
	struct dp_rec_header h = {
		.magic = DP_STREAM_MAGIC,
		.v = DP_STREAM_FORMAT,
		.stage = (uint8_t)stage,
		.producer = dp_cstr(producer),
		.producer_version = dp_cstr(DP_VERSION),
	};

	return dp_put_header(w, &h, e);
}

bool
dp_put_err(struct dp_writer *w, struct dp_bytes input, enum dp_word_reach reach,
           const struct dp_err *what, struct dp_err *e)
{
	/* What only serves people need not be whole. */
	struct dp_bytes shown = { input.p, input.n < MAX_INPUT_NAME
		                                   ? input.n
		                                   : MAX_INPUT_NAME };
	struct dp_rec_error r = {
		.offset = what->off,
		.code = (uint8_t)what->code,
		.reach = (uint8_t)reach,
		.input = shown,
		.message = dp_cstr(what->msg),
	};

	return dp_put_error(w, &r, e);
}
