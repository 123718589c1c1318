/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Help for tests of the record stream and of the parser: sources and sinks
 * in memory, and a bench that feeds raw records to a parser and takes its
 * output apart.  What must hold of any output is checked for all of them.
 */
#ifndef DP_STREAMS_H
#define DP_STREAMS_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse/parse.h"
#include "record/resolve.h"

#define ck_ok(call, e)                                                         \
	do {                                                                   \
		if (!(call))                                                   \
			ck_abort_msg("%s: %s", #call, (e).msg);                \
	} while (0)

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Bytes of a string literal, NULs in it included. */
#define LIT(s) ((struct dp_bytes){ (const uint8_t *)(s), sizeof(s) - 1 })

/* A small generator, so that a seed always gives the same values. */
static inline uint64_t
rnd(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33 ^ *seed << 31;
}

/* A copy of exactly that size, so that a sanitizer sees what lies behind. */
static inline struct dp_bytes
exact_copy(struct dp_bytes b)
{
	uint8_t *p = malloc(b.n != 0 ? b.n : 1);

	ck_assert_ptr_nonnull(p);
	if (b.n != 0)
		memcpy(p, b.p, b.n);
	return (struct dp_bytes){ p, b.n };
}

/* A source that gives at most `step` bytes a read; 0: as many as asked. */
struct mem_source {
	struct dp_bytes in;
	size_t pos, step;
};

static inline ssize_t
mem_read(void *ctx, void *p, size_t n, struct dp_err *e)
{
	struct mem_source *m = ctx;
	size_t left = m->in.n - m->pos;

	(void)e;
	if (m->step != 0 && n > m->step)
		n = m->step;
	if (n > left)
		n = left;
	if (n != 0)
		memcpy(p, m->in.p + m->pos, n);
	m->pos += n;
	return (ssize_t)n;
}

/* A sink that keeps everything; ctx is a struct dp_buf. */
static inline bool
buf_sink(void *ctx, struct dp_bytes b, struct dp_err *e)
{
	return dp_buf_add(ctx, b.p, b.n) ||
	       dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
}

static inline bool
null_sink(void *ctx, struct dp_bytes b, struct dp_err *e)
{
	(void)ctx;
	(void)b;
	(void)e;
	return true;
}

/* A record of the output and where it begins. */
struct out_rec {
	size_t at;
	struct dp_record rec; /* borrows from lab.bytes */
};

struct lab {
	struct dp_buf bytes; /* header, one object, end */
	struct dp_writer out;
	struct dp_parser *p;
	struct dp_parse_stats stats;
	struct dp_vec recs; /* struct out_rec, after lab_close() */
	size_t object_at;
};

static inline void
lab_put(struct lab *l, const struct dp_record *rec)
{
	struct dp_err e = DP_ERR_INIT;

	ck_ok(dp_parser_put(l->p, rec, &e), e);
}

/* PUT(&lab, RAWDOF, rawdof, .bytes = b); */
#define PUT(l, T, t, ...)                                                      \
	lab_put((l), &(struct dp_record){ .type = DP_REC_##T,                  \
	                                  .t = { __VA_ARGS__ } })

/* A parser whose output goes to `sink`. */
static inline void
lab_begin(struct lab *l, struct dp_sink sink)
{
	const struct dp_parse_opts opts = { 0 };
	struct dp_err e = DP_ERR_INIT;

	memset(l, 0, sizeof *l);
	dp_writer_init(&l->out, sink, false);
	ck_ok(dp_put_stream_header(&l->out, DPR_STAGE_PARSE, "test", &e), e);
	l->object_at = l->out.buf.n;
	l->p = dp_parser_create(&l->out, &opts);
	ck_assert_ptr_nonnull(l->p);
}

static inline void
lab_open(struct lab *l, const struct dp_rec_object *o)
{
	lab_begin(l, (struct dp_sink){ buf_sink, &l->bytes });
	lab_put(l, &(struct dp_record){ .type = DP_REC_OBJECT, .object = *o });
}

static inline const struct out_rec *
lab_at(const struct lab *l, size_t i)
{
	return DP_VEC_AT(&l->recs, struct out_rec, i);
}

/* How many records of a type came out. */
static inline uint32_t
count_of(const struct lab *l, uint16_t type)
{
	uint32_t n = 0;

	for (size_t i = 0; i < l->recs.n; i++)
		n += lab_at(l, i)->rec.type == type;
	return n;
}

/* The n-th record of a type; it must be there. */
static inline const struct dp_record *
nth(const struct lab *l, uint16_t type, uint32_t n)
{
	for (size_t i = 0; i < l->recs.n; i++)
		if (lab_at(l, i)->rec.type == type && n-- == 0)
			return &lab_at(l, i)->rec;
	ck_abort_msg("%s record %u is missing", dp_record_name(type), n);
	return NULL;
}

#define NTH(l, T, t, n) (&nth((l), DP_REC_##T, (n))->t)

/* The field that a reloc is for: its place in its record, and its value. */
static inline bool
reloc_target(const struct dp_rec_reloc *r, const struct dp_record *rec,
             size_t *off_ret, uint64_t *value_ret)
{
	bool sem = r->field == DPR_RELOC_SEM;

	switch (r->rec) {
	case DPR_RELOC_OF_PROBE:
		*off_ret = DP_WIRE_OFF(probe, addr);
		*value_ret = rec->probe.addr;
		return rec->type == DP_REC_PROBE && rec->probe.id == r->rec_id;
	case DPR_RELOC_OF_SITE:
		*off_ret =
			sem ? DP_WIRE_OFF(site, sem) : DP_WIRE_OFF(site, addr);
		*value_ret = sem ? rec->site.sem : rec->site.addr;
		return rec->type == DP_REC_SITE && rec->site.id == r->rec_id;
	default:
		*off_ret = DP_WIRE_OFF(arg, symbol_value);
		*value_ret = rec->arg.symbol_value;
		return rec->type == DP_REC_ARG && rec->arg.site == r->rec_id &&
		       rec->arg.index == r->arg;
	}
}

/* reloc.pos must lead to that field, and in_place be what stands there. */
static inline void
check_reloc(const struct lab *l, const struct dp_rec_reloc *r)
{
	for (size_t i = 0; i < l->recs.n; i++) {
		const struct out_rec *o = lab_at(l, i);
		uint64_t value, wire;
		size_t off;

		if (!reloc_target(r, &o->rec, &off, &value))
			continue;
		ck_assert_uint_eq(l->object_at + r->pos, o->at + off);
		memcpy(&wire, l->bytes.p + l->object_at + r->pos, 8);
		ck_assert_uint_eq(le64toh(wire), value);
		ck_assert_uint_eq(r->in_place, value);
		return;
	}
	ck_abort_msg("reloc %u is for no record", r->id);
}

/* The relocs [first, first + n) must be for that record and field. */
static inline void
check_range(const struct lab *l, uint32_t first, uint32_t n,
            const struct dp_rec_reloc *want)
{
	for (uint32_t i = first; i < first + n; i++) {
		const struct dp_rec_reloc *r = NTH(l, RELOC, reloc, i);

		ck_assert_uint_eq(r->rec, want->rec);
		ck_assert_uint_eq(r->field, want->field);
		ck_assert_uint_eq(r->rec_id, want->rec_id);
		ck_assert_uint_eq(r->arg, want->arg);
	}
}

static inline void
check_site(const struct lab *l, const struct dp_rec_site *s)
{
	bool dof = NTH(l, PROVIDER, provider,
	               NTH(l, PROBE, probe, s->probe)->provider)
	                   ->source == DPR_SOURCE_DOF;
	struct dp_rec_reloc want = {
		.rec = dof ? DPR_RELOC_OF_PROBE : DPR_RELOC_OF_SITE,
		.field = DPR_RELOC_ADDR,
		.rec_id = dof ? s->probe : s->id,
	};
	uint32_t args = 0;

	check_range(l, s->reloc, s->nreloc, &want);
	want.field = DPR_RELOC_SEM;
	check_range(l, s->sem_reloc, s->sem_nreloc, &want);
	for (size_t i = 0; i < l->recs.n; i++) {
		const struct dp_record *rec = &lab_at(l, i)->rec;

		if (rec->type == DP_REC_ARG && rec->arg.site == s->id)
			ck_assert_uint_eq(rec->arg.index, args++);
	}
	ck_assert_uint_eq(s->nargs, args);
	ck_assert_int_eq(s->attachable, s->why.n == 0);
}

/* Ids count up, and what names another record names one that is there. */
static inline void
check_record(const struct lab *l, const struct dp_record *r, uint32_t seen)
{
	switch (r->type) {
	case DP_REC_DOF:
		ck_assert_uint_eq(r->dof.id, seen);
		break;
	case DP_REC_PROVIDER:
		ck_assert_uint_eq(r->provider.id, seen);
		break;
	case DP_REC_PROBE:
		ck_assert_uint_eq(r->probe.id, seen);
		ck_assert_uint_lt(r->probe.provider,
		                  count_of(l, DP_REC_PROVIDER));
		check_range(l, r->probe.reloc, r->probe.nreloc,
		            &(struct dp_rec_reloc){ .rec_id = r->probe.id });
		break;
	case DP_REC_SITE:
		ck_assert_uint_eq(r->site.id, seen);
		check_site(l, &r->site);
		break;
	case DP_REC_RELOC:
		ck_assert_uint_eq(r->reloc.id, seen);
		check_reloc(l, &r->reloc);
		break;
	default:
		break;
	}
}

/* The reader must find nothing wrong: counts, order, every field. */
static inline void
check_readable(struct dp_bytes stream)
{
	struct mem_source m = { .in = stream };
	struct dp_err e = DP_ERR_INIT;
	struct dp_record rec;
	struct dp_reader r;
	enum dp_read got;

	dp_reader_init(&r, (struct dp_source){ mem_read, &m });
	do {
		got = dp_reader_next(&r, &rec, &e);
	} while (got == DP_READ_RECORD);
	ck_assert_msg(got == DP_READ_EOF, "output not readable: %s", e.msg);
	ck_assert_uint_eq(r.unknown, 0);
	dp_reader_deinit(&r);
}

/* Take the output apart and check what holds of any. */
static inline void
lab_index(struct lab *l)
{
	uint32_t seen[DP_REC_MAX + 1] = { 0 };
	struct dp_err e = DP_ERR_INIT;
	struct out_rec *o;

	for (size_t at = 0; at < l->bytes.n;) {
		uint32_t size;

		memcpy(&size, l->bytes.p + at, 4);
		o = dp_vec_push(&l->recs, sizeof *o);
		ck_assert_ptr_nonnull(o);
		o->at = at;
		ck_ok(dp_record_decode((struct dp_bytes){ l->bytes.p + at,
		                                          le32toh(size) },
		                       &o->rec, &e),
		      e);
		at += le32toh(size);
	}
	for (size_t i = 0; i < l->recs.n; i++) {
		const struct dp_record *r = &lab_at(l, i)->rec;

		check_record(l, r, seen[r->type]++);
	}
	check_readable(dp_buf_bytes(&l->bytes));
}

/* End the object and the stream; afterwards the records can be asked for. */
static inline void
lab_close(struct lab *l)
{
	const struct dp_record end = { .type = DP_REC_OBJECT_END };
	const struct dp_rec_end last = { 0 };
	struct dp_err e = DP_ERR_INIT;

	lab_put(l, &end);
	ck_ok(dp_put_end(&l->out, &last, &e), e);
	ck_ok(dp_writer_flush(&l->out, &e), e);
	l->stats = *dp_parser_stats(l->p);
	dp_parser_destroy(l->p);
	l->p = NULL;
	dp_writer_deinit(&l->out);
	if (l->bytes.n != 0)
		lab_index(l);
}

static inline void
lab_free(struct lab *l)
{
	dp_vec_deinit(&l->recs);
	dp_buf_deinit(&l->bytes);
}

#define ck_str(b, s)                                                           \
	ck_assert_msg(dp_bytes_is((b), (s)), "\"%.*s\" is not \"%s\"",         \
	              (int)(b).n, (const char *)(b).p, (s))

/* Run one suite; the status for main(). */
static inline int
run_checks(Suite *s)
{
	SRunner *sr = srunner_create(s);
	int failed;

	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}

#endif /* DP_STREAMS_H */
