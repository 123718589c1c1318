/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What dofparse does, in one process and without its jail, so that a
 * profiler can write its results: reads a stream, parses it, and throws the
 * output away.
 */
#include <stdio.h>
#include <unistd.h>

#include "parse/parse.h"

static bool
drop(void *ctx, struct dp_bytes b, struct dp_err *e)
{
	uint64_t *total = ctx;

	(void)e;
	*total += b.n;
	return true;
}

static bool
parse(struct dp_reader *in, struct dp_parser *p, struct dp_err *e)
{
	struct dp_record rec;

	for (;;) {
		switch (dp_reader_next(in, &rec, e)) {
		case DP_READ_EOF:
			return true;
		case DP_READ_RECORD:
			break;
		default:
			return false;
		}
		if (rec.type != DP_REC_HEADER && rec.type != DP_REC_END &&
		    !dp_parser_put(p, &rec, e))
			return false;
	}
}

int
main(void)
{
	const struct dp_parse_opts opts = { 0 };
	struct dp_err e = DP_ERR_INIT;
	int fd = STDIN_FILENO;
	struct dp_parser *p;
	struct dp_reader in;
	struct dp_writer out;
	uint64_t total = 0;
	bool ok;

	dp_reader_init(&in, (struct dp_source){ dp_source_fd, &fd });
	dp_writer_init(&out, (struct dp_sink){ drop, &total }, false);
	p = dp_parser_create(&out, &opts);
	ok = p != NULL && parse(&in, p, &e) && dp_writer_flush(&out, &e);
	if (ok)
		(void)printf("%ju sites, %ju bytes\n",
		             (uintmax_t)dp_parser_stats(p)->sites,
		             (uintmax_t)total);
	else
		(void)fprintf(stderr, "parse: %s\n", e.msg);
	dp_parser_destroy(p);
	dp_reader_deinit(&in);
	dp_writer_deinit(&out);
	return ok ? 0 : 2;
}
