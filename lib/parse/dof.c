/* SPDX-License-Identifier: BSD-2-Clause */
/* One rawdof record to dof, provider, probe, site and reloc records. */
#include <elf.h>
#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "parse/state.h"

/* The DOF in work. */
struct work {
	struct dp_parser *p;
	const struct dp_rec_rawdof *raw;
	struct dp_dof d;
	uint32_t id;
	struct dp_hits hits;
	bool apple;     /* offsets are signed, SETX adds the DOF's address */
	uint32_t sites; /* charged so far; see dofprobe.h */
	uint32_t types;
	size_t next_rel; /* where the last probe's relocations ended */
	bool lost;       /* a provider: not all addresses are known */
};

static bool
put_dof(struct work *w, struct dp_err *e)
{
	const struct dp_rec_rawdof *raw = w->raw;
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct dp_rec_dof r = {
		.vaddr = raw->vaddr,
		.fileoff = raw->fileoff,
		.id = w->id,
		.order = DPR_ORDER_NONE,
		.section = raw->section,
		.digest = { digest, sizeof digest },
		.raw = raw->bytes,
	};
	struct sha256_ctx sha;

	sha256_init(&sha);
	sha256_update(&sha, raw->bytes.n, raw->bytes.p);
	sha256_digest(&sha, sizeof digest, digest);
	/* As the bytes claim, also when they are refused below. */
	if (raw->bytes.n >= DP_DOF_HDR_SIZE) {
		r.model = raw->bytes.p[4] < DPR_model_COUNT ? raw->bytes.p[4]
		                                            : DPR_MODEL_NONE;
		r.order = raw->bytes.p[5] == 1   ? DPR_ORDER_LSB
		          : raw->bytes.p[5] == 2 ? DPR_ORDER_MSB
		                                 : DPR_ORDER_NONE;
		r.version = raw->bytes.p[6];
	}
	w->p->stats.dofs++;
	return dp_put_dof(w->p->out, &r, e);
}

/* Error offsets count from the start of the image. */
static bool
complain(struct work *w, enum dp_word_reach reach, struct dp_err *what,
         struct dp_err *e)
{
	if (what->off != DP_NOOFF)
		what->off += w->raw->fileoff;
	return dp_parse_complain(w->p, reach, what, e);
}

static int
cmp_rel(const void *a, const void *b)
{
	const struct dp_dof_rel *x = a, *y = b;

	return (x->word_at > y->word_at) - (x->word_at < y->word_at);
}

/* All relocations of the DOF, by the place they hit. */
static bool
collect_rels(struct work *w, struct dp_err *e)
{
	struct dp_vec *v = &w->p->rels;
	struct dp_dof_rels it;
	struct dp_dof_rel rel;
	struct dp_err what;
	bool sorted = true;

	dp_err_clear(&what);
	v->n = 0;
	dp_dof_rels_init(&it, &w->d);
	while (dp_dof_rels_next(&it, &rel, &what)) {
		struct dp_dof_rel *last =
			v->n == 0 ? NULL
				  : DP_VEC_AT(v, struct dp_dof_rel, v->n - 1);
		struct dp_dof_rel *slot;

		if (last != NULL && cmp_rel(last, &rel) > 0)
			sorted = false;
		slot = dp_vec_push(v, sizeof *slot);
		if (slot == NULL)
			return dp_nomem(e);
		*slot = rel;
	}
	if (it.failed)
		return complain(w, DPR_REACH_DOF, &what, e);
	if (!sorted)
		qsort(v->p, v->n, sizeof rel, cmp_rel);
	w->p->matched.n = 0;
	if (!dp_buf_reserve(&w->p->matched, v->n))
		return dp_nomem(e);
	if (v->n != 0)
		memset(w->p->matched.p, 0, v->n);
	w->p->matched.n = v->n;
	return true;
}

/*
 * The first relocation at or behind a word.  Probes and relocations mostly
 * come in the same order, so the one behind the last is tried first.
 */
static size_t
first_rel(struct work *w, uint64_t word_at)
{
	const struct dp_dof_rel *rels = w->p->rels.p;
	size_t lo = 0, hi = w->p->rels.n;

	if (w->next_rel < hi && rels[w->next_rel].word_at == word_at &&
	    (w->next_rel == 0 || rels[w->next_rel - 1].word_at != word_at))
		return w->next_rel;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (rels[mid].word_at < word_at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Apple's linker leaves the address 0, counts the sites from the DOF and
 * has the kernel add where the DOF lies.  A Mach-O image says so; bare DOF
 * shows it by an address 0 that a SETX in a version 3 would move.
 */
static bool
is_apple(const struct work *w, uint64_t addr, bool has_setx)
{
	if (w->p->obj.format == DPR_FORMAT_MACHO)
		return addr == 0;
	return w->p->obj.format == DPR_FORMAT_NONE &&
	       w->p->obj.origin == DPR_ORIGIN_FILE && w->d.version == 3 &&
	       addr == 0 && has_setx;
}

/* On x86 its offsets point one byte into the site. */
static int64_t
apple_addend(uint16_t machine)
{
	return machine == EM_X86_64 || machine == EM_386 ? -1 : 0;
}

/* Does the loader compute the word, so that it has the bias already? */
static bool
by_loader(const struct dp_parser *p, const struct dp_word *word)
{
	for (uint32_t k = 0; k < word->n && p->obj.e_type != ET_REL; k++)
		if (word->r[k].kind == DPR_RELOC_ELF_RELATIVE ||
		    word->r[k].kind == DPR_RELOC_ELF_SYMBOL)
			return true;
	return false;
}

/* One relocation of the DOF. */
static void
add_rel(struct work *w, const struct dp_dof_rel *rel, bool loader,
        struct dp_word *word)
{
	struct dp_parser *p = w->p;
	struct dp_rec_reloc *r;

	if (rel->type == DP_DOF_REL_DOFREL)
		r = dp_word_add(word, DPR_RELOC_DOFREL, DPR_BASE_DOF,
		                (int64_t)rel->word_at);
	else if (w->apple)
		r = dp_word_add(word, DPR_RELOC_APPLE, DPR_BASE_DOF,
		                apple_addend(p->obj.machine));
	else
		r = dp_word_add(word, DPR_RELOC_SETX, dp_parse_base(p), 0);
	if (r == NULL)
		return;
	r->symbol = dp_dof_rel_name(rel);
	/* ld.so adds the bias itself: SETX must not do so again. */
	if (loader && rel->type == DP_DOF_REL_SETX)
		r->state = DPR_RELOC_LOADER;
}

/* Everything that is to be added to the address of a probe. */
static void
probe_word(struct work *w, const struct dp_dof_probe *pr, struct dp_word *word)
{
	struct dp_parser *p = w->p;
	const struct dp_dof_rel *rels = p->rels.p;
	struct dp_place at = { pr->slot_at, 8, w->raw->vaddr };
	size_t i = first_rel(w, pr->slot_at);
	bool loader, setx;

	dp_word_elf(p, w->hits, at, word);
	loader = by_loader(p, word);
	setx = i < p->rels.n && rels[i].word_at == pr->slot_at &&
	       rels[i].type == DP_DOF_REL_SETX;
	w->apple = is_apple(w, pr->addr, setx);
	for (; i < p->rels.n && rels[i].word_at == pr->slot_at; i++) {
		add_rel(w, &rels[i], loader, word);
		p->matched.p[i] = 1;
	}
	w->next_rel = i;
	if (word->n == 0) /* libusdt: the address holds as it is */
		(void)dp_word_add(word, DPR_RELOC_PLAIN,
		                  p->obj.origin == DPR_ORIGIN_FILE &&
		                                  p->obj.format !=
		                                          DPR_FORMAT_NONE
		                          ? dp_parse_base(p)
		                          : DPR_BASE_NONE,
		                  0);
}

static const char *
site_why(struct work *w, const struct dp_word *word, uint64_t addr,
         enum dp_dof_kind kind)
{
	if (kind == DP_DOF_ENABLED && w->d.version == 2)
		return "is-enabled site of DOF version 2";
	if (word->why != NULL)
		return word->why;
	return dp_parse_why_not(
		w->p, dp_word_resolve(w->p, word, addr, w->raw->vaddr));
}

static bool
put_sites(struct work *w, const struct dp_dof_probe *pr,
          const struct dp_word *word, enum dp_dof_kind kind, struct dp_err *e)
{
	struct dp_parser *p = w->p;

	for (uint32_t i = 0; i < pr->offs[kind].n; i++) {
		uint32_t off = dp_dof_site(&w->d, pr, kind, i);
		uint64_t step =
			w->apple ? (uint64_t)(int64_t)(int32_t)off : off;
		const char *why = site_why(w, word, pr->addr + step, kind);
		struct dp_rec_site r = {
			.addr = pr->addr + step,
			.stored = step,
			.id = p->nsites++,
			.probe = p->nprobes - 1,
			.reloc = word->n == 0 ? 0 : word->r[0].id,
			.nreloc = word->n,
			.kind = kind == DP_DOF_ENABLED ? DPR_SITE_IS_ENABLED
			                               : DPR_SITE_PROBE,
			.attachable = why == NULL,
			.why = dp_cstr(why == NULL ? "" : why),
		};

		p->stats.sites++;
		if (!dp_put_site(p->out, &r, e))
			return false;
	}
	return true;
}

static bool
put_probe(struct work *w, const struct dp_dof_probe *pr, struct dp_err *e)
{
	struct dp_parser *p = w->p;
	struct dp_addr_ref ref = {
		.rec = DPR_RELOC_OF_PROBE,
		.field = DPR_RELOC_ADDR,
		.rec_id = p->nprobes,
		.dof = w->id,
		.dof_sec = pr->slot_sec,
		.place = pr->slot_off,
		.pos = p->out->pos + DP_WIRE_OFF(probe, addr),
	};
	struct dp_rec_probe r = {
		.addr = pr->addr,
		.id = p->nprobes++,
		.provider = p->nproviders - 1,
		.reloc = p->nrelocs,
		.function = pr->func,
		.name = pr->name,
		.native = { pr->native.n, pr->native.run },
		.translated = { pr->xlated.n, pr->xlated.run },
		.map = pr->map,
	};
	struct dp_word word;

	probe_word(w, pr, &word);
	r.nreloc = word.n;
	p->stats.probes++;
	return dp_put_probe(p->out, &r, e) &&
	       dp_word_write(p, &word, pr->addr, &ref, e) &&
	       put_sites(w, pr, &word, DP_DOF_SITE, e) &&
	       put_sites(w, pr, &word, DP_DOF_ENABLED, e);
}

/* A small DOF can spell out far more than its size; this is where it ends. */
static bool
within_totals(struct work *w, uint32_t types, const struct dp_dof_probe *pr,
              struct dp_err *what)
{
	uint32_t sites = pr->offs[DP_DOF_SITE].n + pr->offs[DP_DOF_ENABLED].n;

	if (types > DP_MAX_DOF_TYPES - w->types)
		return dp_err_set(what, DP_ELIMIT, pr->slot_at,
		                  "more than %d types in one DOF",
		                  DP_MAX_DOF_TYPES);
	if (sites > DP_MAX_DOF_SITES - w->sites)
		return dp_err_set(what, DP_ELIMIT, pr->slot_at,
		                  "more than %d sites in one DOF",
		                  DP_MAX_DOF_SITES);
	w->types += types;
	w->sites += sites;
	return true;
}

/* The relocations of a probe that failed are no riddle. */
static void
skip_rels(struct work *w, const struct dp_dof_provider *prov, uint32_t j)
{
	const struct dp_dof_sec *sec = &prov->part[DP_DOF_PART_PROBES];
	const uint64_t at = sec->off + (uint64_t)j * sec->entsize;
	const struct dp_dof_rel *rels = w->p->rels.p;
	size_t i = first_rel(w, at);

	for (; i < w->p->rels.n && rels[i].word_at == at; i++)
		w->p->matched.p[i] = 1;
}

/* Tell of relocations that are for nothing that is read here. */
static bool
check_rels(struct work *w, struct dp_err *e)
{
	const struct dp_dof_rel *rels = w->p->rels.p;
	const size_t n = w->p->rels.n;
	const uint8_t *first = n == 0 ? NULL : memchr(w->p->matched.p, 0, n);
	size_t many = 0, at;
	struct dp_err what;

	if (first == NULL || w->lost)
		return true;
	at = (size_t)(first - w->p->matched.p);
	for (size_t i = at; i < n; i++)
		many += w->p->matched.p[i] == 0;
	dp_err_clear(&what);
	(void)dp_err_set(&what, DP_EFORMAT, rels[at].at,
	                 "relocation of %#" PRIx64
	                 " hits no probe's address (%zu of them)",
	                 rels[at].word_at, many);
	return complain(w, DPR_REACH_DOF, &what, e);
}

/* false in *go_on_ret: a total is used up, the DOF ends here. */
static bool
one_probe(struct work *w, const struct dp_dof_provider *prov, uint32_t j,
          bool *go_on_ret, struct dp_err *e)
{
	uint32_t types = dp_dof_probe_types(&w->d, prov, j);
	struct dp_dof_probe pr;
	struct dp_err what;

	dp_err_clear(&what);
	*go_on_ret = true;
	if (dp_dof_probe(&w->d, prov, j, &pr, &what)) {
		/* Charged before they are sorted: a refusal costs the same. */
		if (!within_totals(w, types, &pr, &what)) {
			*go_on_ret = false;
			return complain(w, DPR_REACH_DOF, &what, e);
		}
		if (dp_dof_sites_unique(&w->d, &pr, w->p->scratch,
		                        DP_DOF_MAX_KIND_SITES, &what))
			return put_probe(w, &pr, e);
		types = 0; /* charged already */
	}
	if (!complain(w, DPR_REACH_PROBE, &what, e))
		return false;
	skip_rels(w, prov, j);
	/* A failed probe counts as one more, so that they come to an end. */
	if (++w->sites < DP_MAX_DOF_SITES &&
	    types <= DP_MAX_DOF_TYPES - w->types) {
		w->types += types;
		return true;
	}
	dp_err_clear(&what);
	(void)dp_err_set(&what, DP_ELIMIT, prov->at,
	                 "too many bad probes in one DOF");
	*go_on_ret = false;
	return complain(w, DPR_REACH_DOF, &what, e);
}

static bool
put_provider(struct work *w, const struct dp_dof_provider *prov,
             struct dp_err *e)
{
	struct dp_rec_provider r = {
		.id = w->p->nproviders++,
		.dof = w->id,
		.attr_provider = prov->attr[DP_DOF_ATTR_PROVIDER],
		.attr_module = prov->attr[DP_DOF_ATTR_MODULE],
		.attr_function = prov->attr[DP_DOF_ATTR_FUNCTION],
		.attr_name = prov->attr[DP_DOF_ATTR_NAME],
		.attr_args = prov->attr[DP_DOF_ATTR_ARGS],
		.source = DPR_SOURCE_DOF,
		.name = prov->name,
	};

	w->p->stats.providers++;
	return dp_put_provider(w->p->out, &r, e);
}

static bool
one_provider(struct work *w, uint32_t sec, bool *go_on_ret, struct dp_err *e)
{
	struct dp_dof_provider prov;
	struct dp_err what;

	dp_err_clear(&what);
	if (!dp_dof_provider(&w->d, sec, &prov, &what)) {
		w->lost = true;
		return complain(w, DPR_REACH_PROVIDER, &what, e);
	}
	if (!put_provider(w, &prov, e))
		return false;
	for (uint32_t j = 0; j < prov.nprobes && *go_on_ret; j++)
		if (!one_probe(w, &prov, j, go_on_ret, e))
			return false;
	if (prov.tail == 0 || !*go_on_ret)
		return true;
	(void)dp_err_set(&what, DP_EFORMAT,
	                 prov.part[DP_DOF_PART_PROBES].off +
	                         prov.part[DP_DOF_PART_PROBES].size - prov.tail,
	                 "%u bytes of a part entry behind the probes",
	                 prov.tail);
	return complain(w, DPR_REACH_PROBE, &what, e);
}

bool
dp_parse_dof(struct dp_parser *p, const struct dp_rec_rawdof *raw,
             struct dp_err *e)
{
	struct work w = {
		.p = p, .raw = raw, .id = p->ndofs, .hits = dp_hits_now(p)
	};
	struct dp_err what;
	bool go_on = true;

	dp_err_clear(&what);
	if (raw->bytes.n > DP_MAX_DOF_SIZE) { /* too large to keep, too */
		(void)dp_err_set(&what, DP_ELIMIT, 0,
		                 "DOF of %zu bytes, limit %d", raw->bytes.n,
		                 DP_MAX_DOF_SIZE);
		return complain(&w, DPR_REACH_DOF, &what, e);
	}
	p->ndofs++;
	if (!put_dof(&w, e))
		return false;
	if (!dp_dof_open(raw->bytes, &w.d, &what))
		return complain(&w, DPR_REACH_DOF, &what, e);
	if (!collect_rels(&w, e))
		return false;
	for (uint32_t s = dp_dof_find(&w.d, DP_DOF_PROVIDER, 0);
	     s < w.d.secnum && go_on;
	     s = dp_dof_find(&w.d, DP_DOF_PROVIDER, s + 1))
		if (!one_provider(&w, s, &go_on, e))
			return false;
	return !go_on || check_rels(&w, e);
}
