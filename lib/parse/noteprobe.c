/* SPDX-License-Identifier: BSD-2-Clause */
/* Sites of notes: their provider and probe are written when first seen. */
#include "base/limits.h"
#include "parse/state.h"

/* A key of several strings: each with its length, so that none can pose as
 * two others. */
static bool
key_add(struct dp_buf *key, struct dp_bytes s)
{
	uint64_t n = s.n;

	return dp_buf_add(key, &n, sizeof n) && dp_buf_add(key, s.p, s.n);
}

static bool
provider_id(struct dp_parser *p, const struct dp_note_site *s, uint32_t *id_ret,
            struct dp_err *e)
{
	struct dp_rec_provider r = { 0 };
	bool added = false;
	uint32_t *id;

	p->key.n = 0;
	if (!dp_buf_add(&p->key, &s->source, 1) ||
	    !key_add(&p->key, s->provider))
		return dp_nomem(e);
	id = dp_strmap_add(&p->providers, dp_buf_bytes(&p->key), p->nproviders,
	                   &added);
	if (id == NULL)
		return dp_nomem(e);
	*id_ret = *id;
	if (!added)
		return true;
	if (s->attrs != NULL)
		r = *s->attrs;
	r.id = p->nproviders++;
	r.dof = DP_NO_ID;
	r.source = s->source;
	r.name = s->provider;
	p->stats.providers++;
	return dp_put_provider(p->out, &r, e);
}

/*
 * The types of a declaration.  One may be joined with any number of
 * functions, so a few bytes of input could ask for all of them again.
 */
static bool
declared_types(struct dp_parser *p, const struct dp_note_site *s,
               struct dp_rec_probe *r, struct dp_err *e)
{
	const uint32_t n = s->native.n + s->translated.n;
	const bool told = p->ntypes > DP_MAX_DOF_TYPES;
	struct dp_err what = DP_ERR_INIT;

	if (!told && n <= DP_MAX_DOF_TYPES - p->ntypes) {
		p->ntypes += n;
		r->native = s->native;
		r->translated = s->translated;
		r->map = s->map;
		return true;
	}
	p->ntypes = DP_MAX_DOF_TYPES + 1;
	if (told)
		return true;
	(void)dp_err_set(&what, DP_ELIMIT, DP_NOOFF,
	                 "more than %d types in one object", DP_MAX_DOF_TYPES);
	return dp_parse_complain(p, DPR_REACH_OBJECT, &what, e);
}

static bool
probe_id(struct dp_parser *p, const struct dp_note_site *s, uint32_t provider,
         uint32_t *id_ret, struct dp_err *e)
{
	struct dp_rec_probe r = {
		.provider = provider,
		.function = s->function,
		.name = s->name,
	};
	bool added = false;
	uint32_t *id;

	p->key.n = 0;
	if (!dp_buf_add(&p->key, &provider, sizeof provider) ||
	    !key_add(&p->key, s->function) || !key_add(&p->key, s->name))
		return dp_nomem(e);
	id = dp_strmap_add(&p->probes, dp_buf_bytes(&p->key), p->nprobes,
	                   &added);
	if (id == NULL)
		return dp_nomem(e);
	*id_ret = *id;
	if (!added)
		return true;
	if (!declared_types(p, s, &r, e))
		return false;
	r.id = p->nprobes++;
	p->stats.probes++;
	return dp_put_probe(p->out, &r, e);
}

/* The relocations of the two address words, behind the site record. */
static bool
put_words(struct dp_parser *p, struct dp_note_site *s, uint32_t site,
          uint64_t pos, struct dp_err *e)
{
	struct dp_addr_ref ref = {
		.rec = DPR_RELOC_OF_SITE,
		.field = DPR_RELOC_ADDR,
		.rec_id = site,
		.dof = DP_NO_ID,
		.dof_sec = DP_NO_ID,
		.place = s->pc_place,
		.pos = pos + DP_WIRE_OFF(site, addr),
	};

	if (!dp_word_write(p, &s->pc_word, s->pc, &ref, e))
		return false;
	ref.field = DPR_RELOC_SEM;
	ref.place = s->sem_place;
	ref.pos = pos + DP_WIRE_OFF(site, sem);
	return dp_word_write(p, &s->sem_word, s->sem, &ref, e);
}

static const char *
why_not(const struct dp_parser *p, const struct dp_note_site *s)
{
	const char *why = s->pc_word.why;

	if (why == NULL)
		why = dp_parse_why_not(
			p, dp_word_resolve(p, &s->pc_word, s->pc, 0));
	if (why == NULL)
		why = s->sem_word.why;
	if (why == NULL && s->sem_word.n != 0)
		why = dp_parse_sem_why_not(
			p, dp_word_resolve(p, &s->sem_word, s->sem, 0));
	return why;
}

bool
dp_note_site_write(struct dp_parser *p, struct dp_note_site *s,
                   struct dp_err *e)
{
	const char *why = why_not(p, s);
	struct dp_rec_site r = {
		.addr = s->pc,
		.sem = s->sem,
		.stored = s->pc,
		.nargs = dp_args_count(p, s->args),
		.kind = s->kind,
		.attachable = why == NULL,
		.why = dp_cstr(why == NULL ? "" : why),
		.args = s->args,
	};
	uint32_t provider = DP_NO_ID;
	uint64_t pos;

	if (!provider_id(p, s, &provider, e) ||
	    !probe_id(p, s, provider, &r.probe, e))
		return false;
	r.id = p->nsites++;
	r.reloc = p->nrelocs;
	r.nreloc = s->pc_word.n;
	r.sem_reloc = p->nrelocs + s->pc_word.n;
	r.sem_nreloc = s->sem_word.n;
	p->stats.sites++;
	pos = p->out->pos;
	return dp_put_site(p->out, &r, e) && put_words(p, s, r.id, pos, e) &&
	       dp_args_write(p, r.id, s, e);
}
