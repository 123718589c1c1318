/* SPDX-License-Identifier: BSD-2-Clause */
#include "parse/parse.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/limits.h"
#include "parse/state.h"
#include "usdt/sdt.h"
#include "usdt/usdtnote.h"

bool
dp_nomem(struct dp_err *e)
{
	return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
}

struct dp_parser *
dp_parser_create(struct dp_writer *out, const struct dp_parse_opts *opts)
{
	struct dp_parser *p = calloc(1, sizeof *p);

	if (p == NULL)
		return NULL;
	p->scratch = malloc(DP_DOF_MAX_KIND_SITES * sizeof *p->scratch);
	if (p->scratch == NULL) {
		free(p);
		return NULL;
	}
	p->out = out;
	p->opts = *opts;
	return p;
}

void
dp_parser_destroy(struct dp_parser *p)
{
	if (p == NULL)
		return;
	dp_vec_deinit(&p->segments);
	dp_vec_deinit(&p->symbols);
	dp_vec_deinit(&p->hits);
	dp_vec_deinit(&p->by_place);
	dp_vec_deinit(&p->kept);
	dp_vec_deinit(&p->kept_hits);
	dp_vec_deinit(&p->rels);
	dp_buf_deinit(&p->matched);
	dp_vec_deinit(&p->helpers);
	dp_buf_deinit(&p->modules);
	dp_strmap_deinit(&p->by_name);
	dp_strmap_deinit(&p->strings);
	dp_strmap_deinit(&p->providers);
	dp_strmap_deinit(&p->probes);
	dp_buf_deinit(&p->path);
	dp_buf_deinit(&p->names);
	dp_buf_deinit(&p->hit_names);
	dp_buf_deinit(&p->key);
	dp_buf_deinit(&p->kept_bytes);
	free(p->scratch);
	free(p);
}

const struct dp_parse_stats *
dp_parser_stats(const struct dp_parser *p)
{
	return &p->stats;
}

bool
dp_parser_error(struct dp_parser *p, struct dp_bytes input,
                enum dp_word_reach reach, const struct dp_err *what,
                struct dp_err *e)
{
	p->stats.errors++;
	if (p->opts.complain != NULL)
		p->opts.complain(p->opts.ctx, input, what);
	return dp_put_err(p->out, input, reach, what, e);
}

bool
dp_parse_complain(struct dp_parser *p, enum dp_word_reach reach,
                  const struct dp_err *what, struct dp_err *e)
{
	return dp_parser_error(p, dp_buf_bytes(&p->path), reach, what, e);
}

static const struct {
	uint32_t max;
	const char *what;
} keep_limits[DP_KEEP_COUNT] = {
	[DP_KEEP_ELFRELS] = { DP_MAX_ELFRELS, "ELF relocations" },
	[DP_KEEP_SYMBOLS] = { DP_MAX_SYMBOLS, "symbols" },
	[DP_KEEP_HELPERS] = { DP_MAX_HELPERS, "helpers" },
	[DP_KEEP_NOTES] = { DP_MAX_NOTES, "notes" },
};

bool
dp_parse_room(struct dp_parser *p, enum dp_keep what, size_t bytes,
              bool *room_ret, struct dp_err *e)
{
	struct dp_kept_total *t = &p->totals[what];
	struct dp_err err;

	*room_ret = t->n < keep_limits[what].max &&
	            bytes <= DP_MAX_RAW_BYTES - t->bytes;
	if (*room_ret) {
		t->n++;
		t->bytes += bytes;
		return true;
	}
	if (t->told)
		return true;
	t->told = true;
	dp_err_clear(&err);
	(void)dp_err_set(&err, DP_ELIMIT, DP_NOOFF,
	                 "more than %" PRIu32 " %s, or %d bytes of them",
	                 keep_limits[what].max, keep_limits[what].what,
	                 DP_MAX_RAW_BYTES);
	return dp_parse_complain(p, DPR_REACH_OBJECT, &err, e);
}

/* "lib.a(member.o)", as ar and ld name it. */
static bool
set_path(struct dp_parser *p, const struct dp_rec_object *o)
{
	p->path.n = 0;
	if (!dp_buf_add(&p->path, o->path.p, o->path.n))
		return false;
	return o->member.n == 0 ||
	       (dp_buf_str(&p->path, "(") &&
	        dp_buf_add(&p->path, o->member.p, o->member.n) &&
	        dp_buf_str(&p->path, ")"));
}

static bool
begin_object(struct dp_parser *p, const struct dp_rec_object *o,
             struct dp_err *e)
{
	p->obj = *o;
	p->segments.n = 0;
	p->hits.n = 0;
	p->hit_names.n = 0;
	p->helpers.n = 0;
	p->modules.n = 0;
	p->kept.n = 0;
	p->kept_hits.n = 0;
	p->kept_bytes.n = 0;
	memset(p->totals, 0, sizeof p->totals);
	dp_parse_symbols_clear(p);
	dp_strmap_clear(&p->providers);
	dp_strmap_clear(&p->probes);
	p->ndofs = p->nproviders = p->nprobes = 0;
	p->nsites = p->nrelocs = p->nnotes = p->ntypes = 0;
	p->stats.objects++;
	if (!set_path(p, o))
		return dp_nomem(e);
	return dp_put_object(p->out, o, e);
}

static bool
keep_segment(struct dp_parser *p, const struct dp_rec_segment *s,
             struct dp_err *e)
{
	struct dp_rec_segment *copy;
	struct dp_err what = DP_ERR_INIT;

	if (!dp_put_segment(p->out, s, e))
		return false;
	if (p->segments.n > DP_MAX_SEGMENTS)
		return true; /* told once */
	copy = dp_vec_push(&p->segments, sizeof *copy);
	if (copy == NULL)
		return dp_nomem(e);
	*copy = *s;
	if (p->segments.n <= DP_MAX_SEGMENTS)
		return true;
	copy->p_type = 0; /* passed on, but not looked at */
	(void)dp_err_set(&what, DP_ELIMIT, DP_NOOFF, "more than %d segments",
	                 DP_MAX_SEGMENTS);
	return dp_parse_complain(p, DPR_REACH_OBJECT, &what, e);
}

static bool
keep_hit(struct dp_parser *p, const struct dp_rec_elfrel *r, struct dp_err *e)
{
	struct dp_hit *h;
	bool room;

	if (!dp_parse_room(p, DP_KEEP_ELFRELS, r->symbol.n, &room, e))
		return false;
	if (!room)
		return true;
	h = dp_vec_push(&p->hits, sizeof *h);
	if (h == NULL || !dp_buf_add(&p->hit_names, r->symbol.p, r->symbol.n))
		return dp_nomem(e);
	h->rel = *r;
	h->nth = (uint32_t)p->hits.n;
	h->name_off = p->hit_names.n - r->symbol.n;
	h->name_size = r->symbol.n;
	return true;
}

static int
cmp_hit(const void *a, const void *b)
{
	const struct dp_hit *x = a, *y = b;

	if (x->rel.offset != y->rel.offset)
		return x->rel.offset < y->rel.offset ? -1 : 1;
	return (x->nth > y->nth) - (x->nth < y->nth);
}

static void
sort_hits(struct dp_parser *p)
{
	if (p->hits.n > 1)
		qsort(p->hits.p, p->hits.n, sizeof(struct dp_hit), cmp_hit);
}

/* What reads a note, by its owner and type. */
static const struct {
	const char *owner;
	uint32_t type;
	bool (*parse)(struct dp_parser *p, const struct dp_rec_rawnote *raw,
	              struct dp_err *e);
} note_readers[] = {
	{ DP_SDT_OWNER, DP_SDT_TYPE, dp_parse_sdt },
	{ DP_USDT_OWNER, DP_USDT_TYPE_PROBE, dp_parse_usdt_keep },
	{ DP_USDT_OWNER, DP_USDT_TYPE_ENABLED, dp_parse_usdt_keep },
	{ DP_USDT_PROV_OWNER, DP_USDT_TYPE_PROV, dp_parse_usdt_keep },
};

static bool
note(struct dp_parser *p, const struct dp_rec_rawnote *raw, struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;
	size_t n = sizeof note_readers / sizeof note_readers[0];

	if (p->nnotes >= DP_MAX_NOTES) {
		if (p->nnotes++ > DP_MAX_NOTES)
			return true;
		(void)dp_err_set(&what, DP_ELIMIT, raw->fileoff,
		                 "more than %d notes", DP_MAX_NOTES);
		return dp_parse_complain(p, DPR_REACH_OBJECT, &what, e);
	}
	p->nnotes++;
	if (raw->desc.n > DP_MAX_NOTE_DESC) {
		(void)dp_err_set(&what, DP_ELIMIT, raw->fileoff,
		                 "note of %zu bytes, limit %d", raw->desc.n,
		                 DP_MAX_NOTE_DESC);
		return dp_parse_complain(p, DPR_REACH_SITE, &what, e);
	}
	p->stats.notes++;
	for (size_t i = 0; i < n; i++)
		if (note_readers[i].type == raw->note_type &&
		    dp_bytes_is(raw->owner, note_readers[i].owner))
			return note_readers[i].parse(p, raw, e);
	(void)dp_err_set(&what, DP_EUNSUP, raw->fileoff,
	                 "note of type %" PRIu32 " of another owner",
	                 raw->note_type);
	return dp_parse_complain(p, DPR_REACH_SITE, &what, e);
}

static bool
put_raw(struct dp_parser *p, const struct dp_record *rec, struct dp_err *e)
{
	bool ok;

	sort_hits(p);
	ok = rec->type == DP_REC_RAWDOF ? dp_parse_dof(p, &rec->rawdof, e)
	                                : note(p, &rec->rawnote, e);
	p->hits.n = 0;
	p->hit_names.n = 0;
	return ok;
}

/*
 * Helpers wait for the end of the object: what the file says must not
 * depend on who maps it, its places in the stream included.
 */
static bool
keep_helper(struct dp_parser *p, const struct dp_rec_helper *h,
            struct dp_err *e)
{
	struct dp_rec_helper *copy;
	bool room;

	if (!dp_parse_room(p, DP_KEEP_HELPERS, h->module.n, &room, e))
		return false;
	if (!room)
		return true;
	copy = dp_vec_push(&p->helpers, sizeof *copy);
	if (copy == NULL || !dp_buf_add(&p->modules, h->module.p, h->module.n))
		return dp_nomem(e);
	*copy = *h;
	return true;
}

static bool
put_helpers(struct dp_parser *p, struct dp_err *e)
{
	const uint8_t *module = p->modules.p;

	for (size_t i = 0; i < p->helpers.n; i++) {
		struct dp_rec_helper *h =
			DP_VEC_AT(&p->helpers, struct dp_rec_helper, i);

		h->module.p = module;
		module += h->module.n;
		if (!dp_put_helper(p->out, h, e))
			return false;
	}
	return true;
}

/* Its ids would stand among those that are given out here. */
static bool
refuse(struct dp_parser *p, const struct dp_record *rec, struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;

	(void)dp_err_set(&what, DP_EFORMAT, DP_NOOFF,
	                 "%s record in a stream that is not parsed",
	                 dp_record_name(rec->type));
	return dp_parse_complain(p, DPR_REACH_OBJECT, &what, e);
}

bool
dp_parser_put(struct dp_parser *p, const struct dp_record *rec,
              struct dp_err *e)
{
	switch (rec->type) {
	case DP_REC_OBJECT:
		return begin_object(p, &rec->object, e);
	case DP_REC_SEGMENT:
		return keep_segment(p, &rec->segment, e);
	case DP_REC_SYMBOL:
		return dp_parse_symbol(p, &rec->symbol, e);
	case DP_REC_ELFREL:
		return keep_hit(p, &rec->elfrel, e);
	case DP_REC_RAWDOF:
	case DP_REC_RAWNOTE:
		return put_raw(p, rec, e);
	case DP_REC_OBJECT_END:
		return dp_parse_usdt_flush(p, e) && put_helpers(p, e) &&
		       dp_put_object_end(p->out, &rec->object_end, e);
	case DP_REC_ERROR:
		p->stats.errors++;
		return dp_put_error(p->out, &rec->error, e);
	case DP_REC_HELPER:
		return keep_helper(p, &rec->helper, e);
	case DP_REC_DOF:
	case DP_REC_PROVIDER:
	case DP_REC_PROBE:
	case DP_REC_SITE:
	case DP_REC_ARG:
	case DP_REC_RELOC:
		return refuse(p, rec, e);
	default: /* what a later extract may add */
		return dp_put_record(p->out, rec, e);
	}
}

bool
dp_parser_bare(struct dp_parser *p, struct dp_bytes input, struct dp_bytes dof,
               struct dp_err *e)
{
	struct dp_rec_object o = {
		.size = dof.n,
		.machine = p->opts.machine,
		.order = DPR_ORDER_NONE,
		.path = input,
	};
	struct dp_rec_rawdof raw = { .bytes = dof };
	struct dp_record end = { .type = DP_REC_OBJECT_END };
	struct dp_record body = { .type = DP_REC_RAWDOF };

	body.rawdof = raw;
	return begin_object(p, &o, e) && dp_parser_put(p, &body, e) &&
	       dp_parser_put(p, &end, e);
}
