/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A record stream in either form.  What the reader gives is written in both
 * forms and must come back the same.
 */
#include <stdlib.h>
#include <string.h>

#include "record/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* The reader's buffer, kept from input to input: a new one costs more than
 * what is tested. */
static struct dp_buf room;

struct input {
	struct dp_bytes left;
	size_t step; /* bytes a read, at most */
};

static ssize_t
read_some(void *ctx, void *p, size_t n, struct dp_err *e)
{
	struct input *in = ctx;

	(void)e;
	if (n > in->step)
		n = in->step;
	if (n > in->left.n)
		n = in->left.n;
	if (n != 0)
		memcpy(p, in->left.p, n);
	in->left.p += n;
	in->left.n -= n;
	return (ssize_t)n;
}

struct forms {
	struct dp_buf bin, json, again;
	struct dp_json_line line;
};

/* Binary to NDJSON to binary. */
static void
both_forms(struct forms *f, const struct dp_record *rec)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_record got;

	f->bin.n = f->json.n = f->again.n = 0;
	if (!dp_record_encode(&f->bin, rec, &e) ||
	    !dp_record_decode(dp_buf_bytes(&f->bin), &got, &e) ||
	    !dp_record_to_json(&f->json, &got, &e) ||
	    !dp_record_from_json(&f->line, dp_buf_bytes(&f->json), &got, &e) ||
	    !dp_record_encode(&f->again, &got, &e))
		abort();
	if (!dp_bytes_eq(dp_buf_bytes(&f->bin), dp_buf_bytes(&f->again)))
		abort();
}

/* What reader.h promises of every answer. */
static void
check(const struct dp_reader *r, enum dp_read got, const struct dp_err *e,
      uint64_t n)
{
	bool failed = got == DP_READ_BAD || got == DP_READ_FAIL;

	if (failed != (e->code != DP_OK) || (failed && e->msg[0] == '\0'))
		abort();
	if (failed && e->off != DP_NOOFF && e->off > n)
		abort();
	if (got == DP_READ_EOF && r->in_stream)
		abort();
	if (r->all_objects < r->objects || r->rec_pos > n)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const size_t steps[] = { 1, 7, 4096, SIZE_MAX };
	struct input in = { { data, n }, steps[n % 4] };
	struct forms f = { 0 };
	struct dp_record rec;
	struct dp_reader r;
	enum dp_read got;

	dp_reader_init(&r, (struct dp_source){ read_some, &in });
	r.buf = room;
	r.buf.n = 0;
	do {
		struct dp_err e = DP_ERR_INIT;

		got = dp_reader_next(&r, &rec, &e);
		check(&r, got, &e, n);
		if (got == DP_READ_RECORD)
			both_forms(&f, &rec);
	} while (got == DP_READ_RECORD || got == DP_READ_BAD);
	room = r.buf;
	r.buf = (struct dp_buf){ 0 };
	dp_reader_deinit(&r);
	dp_json_line_deinit(&f.line);
	dp_buf_deinit(&f.bin);
	dp_buf_deinit(&f.json);
	dp_buf_deinit(&f.again);
	return 0;
}
