/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The notes of DTrace for Linux.  Declarations and sites come in any order,
 * so both are kept until the object ends and then joined by provider and
 * probe.
 */
#include "usdt/usdtnote.h"

#include <elf.h>

#include "parse/state.h"

/* A declared probe; its bytes lie in the kept descriptors. */
struct decl {
	uint32_t prov; /* index in decls.provs */
	struct dp_usdt_probe probe;
	bool spelled; /* its part of decls.types and .map is there */
	size_t types_off, types_size, map_off;
};

struct decls {
	struct dp_parser *p;
	struct dp_vec provs;  /* struct dp_rec_provider */
	struct dp_vec probes; /* struct decl */
	struct dp_strmap prov_ids;
	struct dp_strmap probe_ids; /* provider index, probe name */
	struct dp_strmap seen;      /* provider, function, probe, address */
	struct dp_buf types;        /* translated ones, of decls in use */
	struct dp_buf map;
};

bool
dp_parse_usdt_keep(struct dp_parser *p, const struct dp_rec_rawnote *raw,
                   struct dp_err *e)
{
	size_t bytes = raw->desc.n + p->hit_names.n;
	struct dp_kept *k;
	struct dp_hit *h;
	size_t names_off;
	bool room;

	if (!dp_parse_room(p, DP_KEEP_NOTES, bytes, &room, e))
		return false;
	if (!room)
		return true;
	k = dp_vec_push(&p->kept, sizeof *k);
	if (k == NULL || !dp_buf_add(&p->kept_bytes, raw->desc.p, raw->desc.n))
		return dp_nomem(e);
	k->note = *raw;
	k->is_prov = dp_bytes_is(raw->owner, DP_USDT_PROV_OWNER);
	k->desc_off = p->kept_bytes.n - raw->desc.n;
	k->desc_size = raw->desc.n;
	k->hit0 = p->kept_hits.n;
	k->nhits = p->hits.n;
	if (p->hits.n == 0)
		return true;
	names_off = p->kept_bytes.n;
	if (!dp_vec_reserve(&p->kept_hits, p->hits.n, sizeof *h) ||
	    !dp_buf_add(&p->kept_bytes, p->hit_names.p, p->hit_names.n))
		return dp_nomem(e);
	h = DP_VEC_AT(&p->kept_hits, struct dp_hit, p->kept_hits.n);
	memcpy(h, p->hits.p, p->hits.n * sizeof *h);
	for (size_t i = 0; i < p->hits.n; i++)
		h[i].name_off += names_off;
	p->kept_hits.n += p->hits.n;
	return true;
}

static bool
complain(struct dp_parser *p, const struct dp_kept *k, enum dp_word_reach reach,
         struct dp_err *what, struct dp_err *e)
{
	if (what->off != DP_NOOFF)
		what->off += k->note.fileoff + k->note.desc_off;
	return dp_parse_complain(p, reach, what, e);
}

static bool
probe_key(struct dp_buf *key, uint32_t prov, struct dp_bytes name)
{
	key->n = 0;
	return dp_buf_add(key, &prov, sizeof prov) &&
	       dp_buf_add(key, name.p, name.n);
}

static bool
declare_probe(struct decls *d, const struct dp_kept *k, uint32_t prov,
              const struct dp_usdt_probe *pr, struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;
	struct decl *decl;
	bool added;

	if (!probe_key(&d->p->key, prov, pr->name) ||
	    dp_strmap_add(&d->probe_ids, dp_buf_bytes(&d->p->key),
	                  (uint32_t)d->probes.n, &added) == NULL)
		return dp_nomem(e);
	if (!added) {
		(void)dp_err_set(&what, DP_EFORMAT, pr->off,
		                 "probe declared twice");
		return complain(d->p, k, DPR_REACH_PROBE, &what, e);
	}
	decl = dp_vec_push(&d->probes, sizeof *decl);
	if (decl == NULL)
		return dp_nomem(e);
	*decl = (struct decl){ .prov = prov, .probe = *pr };
	return true;
}

static bool
declare_probes(struct decls *d, const struct dp_kept *k, struct dp_bytes desc,
               const struct dp_usdt_prov *prov, struct dp_err *e)
{
	struct dp_usdt_probe_iter it;
	struct dp_usdt_probe pr;

	dp_usdt_probe_iter_init(&it, desc, prov);
	for (;;) {
		struct dp_err what = DP_ERR_INIT;
		enum dp_step step = dp_usdt_probe_next(&it, &pr, &what);

		if (step == DP_STEP_END)
			return true;
		if (step == DP_STEP_BAD
		            ? !complain(d->p, k, DPR_REACH_PROBE, &what, e)
		            : !declare_probe(d, k, (uint32_t)d->provs.n - 1,
		                             &pr, e))
			return false;
	}
}

static enum dp_order
order_of(const struct dp_parser *p)
{
	return p->obj.order == DPR_ORDER_MSB ? DP_BE : DP_LE;
}

static struct dp_bytes
desc_of(const struct dp_parser *p, const struct dp_kept *k)
{
	return dp_buf_part(&p->kept_bytes, k->desc_off, k->desc_size);
}

static bool
declare(struct decls *d, const struct dp_kept *k, struct dp_err *e)
{
	struct dp_bytes desc = desc_of(d->p, k);
	struct dp_err what = DP_ERR_INIT;
	struct dp_rec_provider *r;
	struct dp_usdt_prov prov;
	bool added;

	if (!dp_usdt_prov_parse(desc, order_of(d->p), &prov, &what))
		return complain(d->p, k, DPR_REACH_PROVIDER, &what, e);
	if (dp_strmap_add(&d->prov_ids, prov.name, (uint32_t)d->provs.n,
	                  &added) == NULL)
		return dp_nomem(e);
	if (!added) {
		(void)dp_err_set(&what, DP_EFORMAT, 0,
		                 "provider declared twice");
		return complain(d->p, k, DPR_REACH_PROVIDER, &what, e);
	}
	r = dp_vec_push(&d->provs, sizeof *r);
	if (r == NULL)
		return dp_nomem(e);
	*r = (struct dp_rec_provider){
		.attr_provider = prov.attr[0],
		.attr_module = prov.attr[1],
		.attr_function = prov.attr[2],
		.attr_name = prov.attr[3],
		.attr_args = prov.attr[4],
	};
	return declare_probes(d, k, desc, &prov, e);
}

/* Once a declaration, however many sites it has: types one behind the other. */
static bool
spell_out(struct decls *d, struct decl *decl)
{
	struct dp_usdt_xlat_iter it;
	struct dp_bytes type;
	uint8_t native;

	decl->types_off = d->types.n;
	decl->map_off = d->map.n;
	dp_usdt_xlat_init(&it, &decl->probe);
	while (dp_usdt_xlat_next(&it, &type, &native))
		if (!dp_buf_add(&d->types, type.p, type.n) ||
		    !dp_buf_add(&d->types, "", 1) ||
		    !dp_buf_add(&d->map, &native, 1))
			return false;
	decl->types_size = d->types.n - decl->types_off;
	decl->spelled = true;
	return true;
}

/* Types and map of the declaration, when there is one. */
static bool
join(struct decls *d, struct dp_note_site *s, struct dp_err *e)
{
	const uint32_t *prov = dp_strmap_find(&d->prov_ids, s->provider);
	struct decl *decl;
	const uint32_t *i;

	if (prov == NULL)
		return true;
	s->attrs = DP_VEC_AT(&d->provs, struct dp_rec_provider, *prov);
	if (!probe_key(&d->p->key, *prov, s->name))
		return dp_nomem(e);
	i = dp_strmap_find(&d->probe_ids, dp_buf_bytes(&d->p->key));
	if (i == NULL)
		return true;
	decl = DP_VEC_AT(&d->probes, struct decl, *i);
	s->native = (struct dp_strs){ decl->probe.nnative, decl->probe.native };
	if (!decl->spelled && !spell_out(d, decl))
		return dp_nomem(e);
	s->translated =
		(struct dp_strs){ decl->probe.nxlated,
		                  dp_buf_part(&d->types, decl->types_off,
		                              decl->types_size) };
	s->map = dp_buf_part(&d->map, decl->map_off, decl->probe.nxlated);
	return true;
}

static bool
key_part(struct dp_buf *key, struct dp_bytes s)
{
	uint64_t n = s.n;

	return dp_buf_add(key, &n, sizeof n) && dp_buf_add(key, s.p, s.n);
}

static struct dp_hits
hits_of(const struct dp_parser *p, const struct dp_kept *k)
{
	struct dp_hits hits = { NULL, k->nhits, &p->kept_bytes };

	if (hits.n != 0)
		hits.h = DP_VEC_AT(&p->kept_hits, struct dp_hit, k->hit0);
	return hits;
}

/*
 * Each (provider, function, probe, address) is there once.  The address is
 * the one after relocation: the words of a relocatable object are all 0.
 */
static bool
first_time(struct decls *d, const struct dp_kept *k,
           const struct dp_note_site *s, bool *first_ret, struct dp_err *e)
{
	uint64_t pc = dp_word_resolve(d->p, &s->pc_word, s->pc, 0);
	uint32_t sec = dp_hits_section(d->p, hits_of(d->p, k), s->pc_place);
	struct dp_buf *key = &d->p->key;

	key->n = 0;
	if (!key_part(key, s->provider) || !key_part(key, s->function) ||
	    !key_part(key, s->name) || !dp_buf_add(key, &s->kind, 1) ||
	    !dp_buf_add(key, &pc, sizeof pc) ||
	    !dp_buf_add(key, &sec, sizeof sec) ||
	    dp_strmap_add(&d->seen, dp_buf_bytes(key), 0, first_ret) == NULL)
		return dp_nomem(e);
	return true;
}

/* Fill in addresses and function; false with `what` when there is none. */
static bool
locate(struct dp_parser *p, const struct dp_kept *k,
       const struct dp_usdt_site *n, struct dp_note_site *s,
       struct dp_err *what)
{
	struct dp_hits hits = hits_of(p, k);
	struct dp_place pc = { n->pc_off, 8, 0 };
	struct dp_place func = { n->func_off, 8, 0 };
	struct dp_word fword;

	dp_word_elf(p, hits, pc, &s->pc_word);
	if (s->pc_word.n == 0)
		(void)dp_word_add(&s->pc_word, DPR_RELOC_PLAIN,
		                  dp_parse_base(p), 0);
	dp_word_elf(p, hits, func, &fword);
	s->sem_word.n = 0;
	s->sem_word.why = NULL;
	if (dp_parse_string(p, dp_word_resolve(p, &fword, n->func_addr, 0),
	                    &s->function))
		return true;
	return dp_err_set(what, DP_EFORMAT, n->func_off,
	                  "no function name at 0x%llx",
	                  (unsigned long long)n->func_addr);
}

static bool
site(struct decls *d, const struct dp_kept *k, struct dp_err *e)
{
	struct dp_bytes desc = desc_of(d->p, k);
	struct dp_note_site s = { .source = DPR_SOURCE_USDT };
	struct dp_err what = DP_ERR_INIT;
	struct dp_usdt_site n;
	bool first = false;
	uint64_t args_off;

	if (!dp_usdt_site_parse(desc, order_of(d->p), &n, &what))
		return complain(d->p, k, DPR_REACH_SITE, &what, e);
	s.kind = k->note.note_type == DP_USDT_TYPE_ENABLED ? DPR_SITE_IS_ENABLED
	                                                   : DPR_SITE_PROBE;
	s.provider = n.provider;
	s.name = n.probe;
	s.args = n.args;
	args_off = (uint64_t)(n.args.p - desc.p);
	s.args_at = k->note.fileoff + k->note.desc_off + args_off;
	s.pc = n.pc;
	s.pc_place = n.pc_off;
	if (!locate(d->p, k, &n, &s, &what))
		return complain(d->p, k, DPR_REACH_SITE, &what, e);
	if (!join(d, &s, e) || !first_time(d, k, &s, &first, e))
		return false;
	if (!first) {
		(void)dp_err_set(&what, DP_EFORMAT, n.pc_off,
		                 "the same site twice");
		return complain(d->p, k, DPR_REACH_SITE, &what, e);
	}
	if (dp_args_count(d->p, n.args) != n.nargs) {
		(void)dp_err_set(&what, DP_EFORMAT, args_off,
		                 "%u arguments announced, %u there", n.nargs,
		                 dp_args_count(d->p, n.args));
		if (!complain(d->p, k, DPR_REACH_ARGUMENT, &what, e))
			return false;
	}
	return dp_note_site_write(d->p, &s, e);
}

bool
dp_parse_usdt_flush(struct dp_parser *p, struct dp_err *e)
{
	struct decls d = { .p = p };
	bool ok = true;

	for (int prov = 1; prov >= 0 && ok; prov--) {
		for (size_t i = 0; i < p->kept.n && ok; i++) {
			const struct dp_kept *k =
				DP_VEC_AT(&p->kept, struct dp_kept, i);

			if (k->is_prov == (prov == 1))
				ok = prov ? declare(&d, k, e) : site(&d, k, e);
		}
	}
	dp_vec_deinit(&d.provs);
	dp_vec_deinit(&d.probes);
	dp_strmap_deinit(&d.prov_ids);
	dp_strmap_deinit(&d.probe_ids);
	dp_strmap_deinit(&d.seen);
	dp_buf_deinit(&d.types);
	dp_buf_deinit(&d.map);
	p->kept.n = 0;
	p->kept_hits.n = 0;
	p->kept_bytes.n = 0;
	return ok;
}
