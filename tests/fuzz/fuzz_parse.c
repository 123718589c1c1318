/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From raw records to probes.  An input is bare DOF, a record stream, or,
 * behind an 'N', what an object and a note in it say.  Whatever comes in,
 * the stream that goes out must be readable without an error.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* The reader's buffer, kept from input to input: a new one costs more than
 * what is tested. */
static struct dp_buf room;

enum { MOST_OUTPUT = 64 << 20 }; /* what is more is not read again */

struct output {
	struct dp_buf b;
	bool over;
};

static ssize_t
read_mem(void *ctx, void *p, size_t n, struct dp_err *e)
{
	struct dp_bytes *left = ctx;

	(void)e;
	if (n > left->n)
		n = left->n;
	if (n != 0)
		memcpy(p, left->p, n);
	left->p += n;
	left->n -= n;
	return (ssize_t)n;
}

static bool
keep(void *ctx, struct dp_bytes b, struct dp_err *e)
{
	struct output *o = ctx;

	(void)e;
	o->over |= b.n > MOST_OUTPUT - o->b.n;
	if (!o->over && !dp_buf_add(&o->b, b.p, b.n))
		abort();
	return true;
}

/* Parse a stream as dofparse does; false when it breaks off in an object. */
static bool
stream(struct dp_parser *p, struct dp_bytes in)
{
	const struct dp_record object_end = { .type = DP_REC_OBJECT_END };
	struct dp_err out = DP_ERR_INIT;
	struct dp_record rec;
	struct dp_reader r;
	enum dp_read got;
	bool whole;

	dp_reader_init(&r, (struct dp_source){ read_mem, &in });
	r.buf = room;
	r.buf.n = 0;
	do {
		struct dp_err e = DP_ERR_INIT;
		bool in_object = r.in_object;

		got = dp_reader_next(&r, &rec, &e);
		if (got == DP_READ_RECORD && rec.type != DP_REC_HEADER &&
		    rec.type != DP_REC_END && !dp_parser_put(p, &rec, &out))
			abort();
		if (got == DP_READ_RECORD && rec.type == DP_REC_HEADER &&
		    rec.header.stage != DPR_STAGE_EXTRACT)
			break; /* dofparse refuses it */
		if (got == DP_READ_BAD && in_object && !r.in_object &&
		    !dp_parser_put(p, &object_end, &out))
			abort();
	} while (got == DP_READ_RECORD || got == DP_READ_BAD);
	whole = !r.in_object;
	room = r.buf;
	r.buf = (struct dp_buf){ 0 };
	dp_reader_deinit(&r);
	return whole;
}

/* An object, a symbol and a note out of a few bytes. */
static void
note(struct dp_parser *p, struct dp_bytes in)
{
	static const uint16_t machines[] = { EM_X86_64, EM_386,   EM_AARCH64,
		                             EM_ARM,    EM_PPC64, EM_NONE,
		                             EM_S390,   EM_RISCV };
	static const char *const owners[] = { "stapsdt", "usdt", "prov", "x" };
	struct dp_rd rd = dp_rd_init(in, DP_LE);
	uint8_t how = dp_rd_u8(&rd), what = dp_rd_u8(&rd);
	struct dp_rec_object obj = { .format = DPR_FORMAT_ELF,
		                     .class = how & 1 ? 32 : 64,
		                     .order = how >> 1 & 1,
		                     .e_type = 1 + (how >> 2) % 3,
		                     .machine = machines[what & 7] };
	struct dp_record rec[] = {
		{ .type = DP_REC_OBJECT, .object = obj },
		{ .type = DP_REC_SEGMENT },
		{ .type = DP_REC_SYMBOL },
		{ .type = DP_REC_ELFREL },
		{ .type = DP_REC_RAWNOTE },
		{ .type = DP_REC_OBJECT_END },
	};
	struct dp_err e = DP_ERR_INIT;

	rec[1].segment = (struct dp_rec_segment){
		.p_type = what & 8 ? PT_LOAD : PT_TLS,
		.vaddr = dp_rd_u16(&rd),
		.memsz = dp_rd_u16(&rd),
		.filesz = dp_rd_u16(&rd),
		.align = dp_rd_u8(&rd),
		.flags = dp_rd_u8(&rd),
	};
	rec[2].symbol = (struct dp_rec_symbol){ .value = dp_rd_u16(&rd),
		                                .size = dp_rd_u16(&rd),
		                                .kind = dp_rd_u8(&rd) % 6 };
	rec[2].symbol.name = dp_rd_take(&rd, 2);
	rec[3].elfrel = (struct dp_rec_elfrel){ .offset = dp_rd_u8(&rd),
		                                .kind = dp_rd_u8(&rd),
		                                .addend = dp_rd_u16(&rd) };
	rec[4].rawnote = (struct dp_rec_rawnote){
		.note_type = 1 + (what >> 4) % 3,
		.owner = dp_cstr(owners[what >> 6]),
		.base = dp_rd_u8(&rd),
		.has_base = how >> 7,
	};
	rec[4].rawnote.desc = dp_rd_take(&rd, dp_rd_left(&rd));
	for (size_t i = 0; i < sizeof rec / sizeof rec[0]; i++)
		if (!dp_parser_put(p, &rec[i], &e))
			abort();
}

/* The output, read again: a cut where the input was cut, no other fault. */
static void
check(struct dp_bytes out, bool whole)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_record rec;
	struct dp_reader r;
	enum dp_read got;

	dp_reader_init(&r, (struct dp_source){ read_mem, &out });
	r.buf = room;
	r.buf.n = 0;
	do {
		got = dp_reader_next(&r, &rec, &e);
	} while (got == DP_READ_RECORD);
	if (got != (whole ? DP_READ_EOF : DP_READ_FAIL) || r.unknown != 0)
		abort();
	room = r.buf;
	r.buf = (struct dp_buf){ 0 };
	dp_reader_deinit(&r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct dp_parse_opts opts = { .machine = EM_X86_64 };
	const struct dp_rec_end end = { 0 };
	struct dp_bytes in = { data, n };
	struct dp_err e = DP_ERR_INIT;
	struct output o = { 0 };
	struct dp_parser *p;
	struct dp_writer w;
	bool whole = true;

	dp_writer_init(&w, (struct dp_sink){ keep, &o }, false);
	p = dp_parser_create(&w, &opts);
	if (p == NULL || !dp_put_stream_header(&w, DPR_STAGE_PARSE, "fuzz", &e))
		abort();
	if (n >= 4 && memcmp(data, "\177DOF", 4) == 0) {
		if (!dp_parser_bare(p, dp_cstr("bare"), in, &e))
			abort();
	} else if (n >= 1 && data[0] == 'N') {
		note(p, (struct dp_bytes){ data + 1, n - 1 });
	} else {
		whole = stream(p, in);
	}
	if ((whole && !dp_put_end(&w, &end, &e)) || !dp_writer_flush(&w, &e))
		abort();
	if (!o.over)
		check(dp_buf_bytes(&o.b), whole);
	dp_parser_destroy(p);
	dp_writer_deinit(&w);
	dp_buf_deinit(&o.b);
	return 0;
}
