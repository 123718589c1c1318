/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode.h"

#include <inttypes.h>
#include <unistd.h>

#include "../common/cli.h"
#include "base/limits.h"
#include "parse/parse.h"
#include "text.h"
#include "usdt/dofsize.h"

/* What goes through all inputs. */
struct run {
	const struct decode_opts *o;
	struct dp_writer out;
	struct dp_parser *parser;
	struct dp_bytes name; /* of the input being read */
	uint64_t unknown;
	uint64_t passed_on; /* error records of dofextract */
	bool trouble;
	bool cut; /* an input was: the output must show it, too */
};

static void
complain(void *ctx, struct dp_bytes input, const struct dp_err *what)
{
	struct run *r = ctx;

	r->trouble = true;
	if (!r->o->quiet)
		cli_err(input, what);
}

/*
 * Is a DOF next?  Its first byte cannot begin a record: sizes are multiples
 * of 8.
 */
static bool
dof_ahead(struct dp_bytes peek)
{
	return peek.n >= 4 && memcmp(peek.p, "\177DOF", 4) == 0;
}

/*
 * One bare DOF.  How long it is only its header says; when that is broken
 * the rest of the input is taken for it, since nothing tells where it ends.
 */
static bool
bare_dof(struct run *r, struct dp_reader *in, struct dp_err *e)
{
	struct dp_bytes b = dp_reader_peek(in, DP_DOF_HDR_SIZE, e);
	uint64_t want;

	if (b.p == NULL)
		return false;
	want = dp_dof_size(b);
	if (want == 0)
		want = DP_MAX_DOF_SIZE + 1;
	b = dp_reader_peek(in, (size_t)want, e);
	if (b.p == NULL || !dp_parser_bare(r->parser, r->name, b, e))
		return false;
	dp_reader_skip(in, b.n);
	return true;
}

/* Zeros up to the next multiple of 8 may lie between two DOFs. */
static void
skip_padding(struct dp_reader *in)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_bytes b = dp_reader_peek(in, DP_DOF_STEP, &e);
	size_t n = 0;

	while (n < b.n && n < DP_DOF_STEP - 1 && b.p[n] == 0)
		n++;
	if (n == b.n || (n < b.n && b.p[n] == 0x7f))
		dp_reader_skip(in, n);
}

/* A header of the wrong stage means that the stages were mixed up. */
static bool
check_stage(const struct dp_record *rec, struct dp_err *e)
{
	if (rec->type != DP_REC_HEADER ||
	    rec->header.stage == DPR_STAGE_EXTRACT)
		return true;
	return dp_err_set(e, DP_EUSAGE, DP_NOOFF,
	                  "this stream was parsed already");
}

/*
 * What dofextract could not read it has told of, maybe long ago: here the
 * number will do, but for the one that ends the work.
 */
static void
pass_on(struct run *r, const struct dp_rec_error *rec)
{
	struct dp_err what = DP_ERR_INIT;

	r->trouble = true;
	r->passed_on++;
	if (!r->o->strict || r->o->quiet)
		return;
	(void)dp_err_set(&what, DP_EFORMAT, rec->offset, "%.*s",
	                 (int)rec->message.n, (const char *)rec->message.p);
	cli_err(rec->input, &what);
}

/* One record or one DOF; false at the end of the input or of everything. */
static bool
step(struct run *r, struct dp_reader *in, struct dp_err *e)
{
	const struct dp_record object_end = { .type = DP_REC_OBJECT_END };
	bool in_object = in->in_object;
	struct dp_record rec;
	struct dp_bytes peek;
	struct dp_err what;

	dp_err_clear(&what);
	peek = dp_reader_peek(in, 4, e);
	if (peek.p == NULL)
		return false;
	if (!in->in_object && dof_ahead(peek)) {
		if (!bare_dof(r, in, e))
			return false;
		skip_padding(in);
		return true;
	}
	switch (dp_reader_next(in, &rec, &what)) {
	case DP_READ_RECORD:
		break;
	case DP_READ_BAD:
		if (!dp_parser_error(r->parser, r->name, DPR_REACH_OBJECT,
		                     &what, e))
			return false;
		/* An object that lost records still ends. */
		return !in_object || in->in_object ||
		       dp_parser_put(r->parser, &object_end, e);
	case DP_READ_FAIL:
		*e = what;
		return false;
	case DP_READ_EOF:
		return false;
	}
	if (!check_stage(&rec, e))
		return false;
	if (rec.type == DP_REC_HEADER || rec.type == DP_REC_END)
		return true; /* the output has its own */
	if (rec.type == DP_REC_ERROR)
		pass_on(r, &rec.error);
	return dp_parser_put(r->parser, &rec, e);
}

/*
 * Say why an input is not read any further.  An object that it was inside of
 * ends, so that the next input can follow; what is missing then is told by
 * the error in it, and by the end record that the output lacks.
 */
static bool
input_failed(struct run *r, bool in_object, const struct dp_err *what)
{
	const struct dp_record end = { .type = DP_REC_OBJECT_END };
	enum dp_word_reach reach =
		in_object ? DPR_REACH_OBJECT : DPR_REACH_STREAM;
	struct dp_err e = DP_ERR_INIT;

	if (dp_parser_error(r->parser, r->name, reach, what, &e) &&
	    (!in_object || dp_parser_put(r->parser, &end, &e)))
		return true;
	if (!cli_is_epipe(&e))
		cli_err(dp_cstr("stdout"), &e);
	return false;
}

/* False when the output failed: nothing can go on. */
static bool
read_input(struct run *r, const struct decode_input *input)
{
	const struct dp_parse_stats *stats = dp_parser_stats(r->parser);
	const uint64_t before = stats->objects + stats->errors;
	struct dp_err e = DP_ERR_INIT;
	int fd = input->fd;
	struct dp_reader in;

	dp_reader_init(&in, (struct dp_source){ dp_source_fd, &fd });
	r->name = dp_cstr(input->name);
	while (step(r, &in, &e))
		if (r->o->strict && r->trouble)
			break;
	if (e.code == DP_OK && in.streams == 0 &&
	    stats->objects + stats->errors == before)
		(void)dp_err_set(&e, DP_EFORMAT, DP_NOOFF,
		                 "empty: neither records nor DOF");
	r->unknown += in.unknown;
	dp_reader_deinit(&in);
	if (e.code == DP_OK)
		return true;
	r->trouble = true;
	r->cut = true;
	if (cli_is_epipe(&e))
		return false;
	return input_failed(r, in.in_object, &e) && e.code != DP_ENOMEM;
}

static void
print_stats(const struct run *r)
{
	const struct dp_parse_stats *s = dp_parser_stats(r->parser);

	cli_warn("%" PRIu64 " objects, %" PRIu64 " DOFs, %" PRIu64
	         " notes, %" PRIu64 " errors, %" PRIu64
	         " unknown records passed over",
	         s->objects, s->dofs, s->notes, s->errors, r->unknown);
	cli_warn("%" PRIu64 " providers, %" PRIu64 " probes, %" PRIu64
	         " sites, %" PRIu64 " arguments (%" PRIu64 " unreadable)",
	         s->providers, s->probes, s->sites, s->args, s->unreadable);
	for (unsigned k = 0; k < DPR_relockind_COUNT; k++)
		if (s->relocs[k] != 0)
			cli_warn("%" PRIu64 " relocations %s", s->relocs[k],
			         dp_word(DP_LIST_relockind, (uint8_t)k));
	cli_warn("%" PRIu64 " relocations would change an address", s->matter);
}

/* All inputs; true when the output is whole. */
static bool
run_all(struct run *r, const struct decode_input *in, size_t nin)
{
	const struct dp_rec_end end = { 0 };
	struct dp_err e = DP_ERR_INIT;

	if (!dp_put_stream_header(&r->out, DPR_STAGE_PARSE, "dofparse", &e))
		goto failed;
	for (size_t i = 0; i < nin; i++) {
		if (!read_input(r, &in[i]) || (r->o->strict && r->trouble)) {
			(void)dp_writer_flush(&r->out, &e);
			return false;
		}
	}
	if ((r->cut || dp_put_end(&r->out, &end, &e)) &&
	    dp_writer_flush(&r->out, &e))
		return true;
failed:
	if (!cli_is_epipe(&e))
		cli_err(dp_cstr("stdout"), &e);
	r->trouble = true;
	return false;
}

int
decode_run(const struct decode_opts *o, const struct decode_input *in,
           size_t nin)
{
	int fd = STDOUT_FILENO, status = CLI_TROUBLE;
	struct dp_sink sink = { dp_sink_fd, &fd };
	struct run r = { .o = o };
	struct dp_parse_opts opts = { .machine = o->machine,
		                      .complain = complain,
		                      .ctx = &r };
	struct text *text = NULL;

	if (o->form == DECODE_TEXT) {
		text = text_create(stdout);
		sink = (struct dp_sink){ text_write, text };
	}
	dp_writer_init(&r.out, sink, o->form == DECODE_JSON);
	r.parser = dp_parser_create(&r.out, &opts);
	if (r.parser == NULL || (o->form == DECODE_TEXT && text == NULL)) {
		cli_warn("out of memory");
		goto out;
	}
	if (run_all(&r, in, nin) && !r.trouble)
		status = dp_parser_stats(r.parser)->sites != 0 ? CLI_OK
		                                               : CLI_NOTHING;
	if (r.passed_on != 0 && !o->quiet)
		cli_warn("%" PRIu64 " error%s of dofextract in the input",
		         r.passed_on, r.passed_on == 1 ? "" : "s");
	if (o->stats)
		print_stats(&r);
out:
	dp_parser_destroy(r.parser);
	dp_writer_deinit(&r.out);
	text_destroy(text);
	return status;
}
