/* SPDX-License-Identifier: BSD-2-Clause */
/* One ELF image to the records of an object. */
#include <elf.h>

#include "base/limits.h"
#include "base/range.h"
#include "elf/bare.h"
#include "elf/gate.h"
#include "elf/identity.h"
#include "extract/state.h"
#include "usdt/dofsize.h"
#include "usdt/sdt.h"
#include "usdt/usdtnote.h"

static bool
is_dof(const struct dp_elf_sec *s)
{
	return s->type == DP_SHT_SUNW_DOF ||
	       (dp_bytes_is(s->name, ".SUNW_dof") && s->type != SHT_REL &&
	        s->type != SHT_RELA);
}

static bool
is_sdt(const struct dp_elf_sec *s)
{
	return s->type == SHT_NOTE && dp_bytes_is(s->name, DP_SDT_SECTION);
}

static bool
is_usdt(const struct dp_elf_sec *s)
{
	return s->type == SHT_NOTE && dp_bytes_is(s->name, DP_USDT_SECTION);
}

static bool put_dof_section(struct dp_elfwork *w, const struct dp_elf_sec *s,
                            struct dp_err *e);
static bool put_sdt_section(struct dp_elfwork *w, const struct dp_elf_sec *s,
                            struct dp_err *e);
static bool put_usdt_section(struct dp_elfwork *w, const struct dp_elf_sec *s,
                             struct dp_err *e);

/* The sections that are read, and for which source. */
static const struct raw_kind {
	unsigned source;
	enum dp_word_reach reach; /* what an unreadable one costs */
	bool (*is)(const struct dp_elf_sec *s);
	bool (*put)(struct dp_elfwork *w, const struct dp_elf_sec *s,
	            struct dp_err *e);
} raw_kinds[] = {
	{ DP_EXTRACT_DOF, DPR_REACH_DOF, is_dof, put_dof_section },
	{ DP_EXTRACT_STAPSDT, DPR_REACH_OBJECT, is_sdt, put_sdt_section },
	{ DP_EXTRACT_USDT, DPR_REACH_OBJECT, is_usdt, put_usdt_section },
};

static const struct raw_kind *
raw_kind(const struct dp_elfwork *w, const struct dp_elf_sec *s)
{
	if (s->type == SHT_NOBITS || s->size == 0)
		return NULL;
	for (size_t i = 0; i < sizeof raw_kinds / sizeof raw_kinds[0]; i++)
		if ((w->x->opts->sources & raw_kinds[i].source) &&
		    raw_kinds[i].is(s))
			return &raw_kinds[i];
	return NULL;
}

static bool
put_dof_section(struct dp_elfwork *w, const struct dp_elf_sec *s,
                struct dp_err *e)
{
	struct dp_rec_rawdof first = {
		.vaddr = s->addr,
		.fileoff = s->flags & SHF_COMPRESSED ? 0 : s->off,
		.section = s->name,
	};

	return dp_put_dofs(w->x, w->im, &first, w, e);
}

static bool
put_sdt_section(struct dp_elfwork *w, const struct dp_elf_sec *s,
                struct dp_err *e)
{
	return dp_put_notes(w, s, false, e);
}

static bool
put_usdt_section(struct dp_elfwork *w, const struct dp_elf_sec *s,
                 struct dp_err *e)
{
	return dp_put_notes(w, s, true, e);
}

static bool
complain(struct dp_elfwork *w, const struct dp_err *what, struct dp_err *e)
{
	return dp_image_complain(w->x, w->im, DPR_REACH_OBJECT, what, e);
}

/*
 * objcopy --only-keep-debug keeps the notes, which are not loaded, and turns
 * all code into sections without data.
 */
static bool
is_debug_file(const struct dp_elf *elf)
{
	bool code = false;

	for (size_t i = 0; i < elf->secs.n; i++) {
		const struct dp_elf_sec *s =
			DP_VEC_AT(&elf->secs, struct dp_elf_sec, i);

		if (!(s->flags & SHF_EXECINSTR) || s->size == 0)
			continue;
		if (s->type != SHT_NOBITS)
			return false;
		code = true;
	}
	return code;
}

static bool
put_object(struct dp_elfwork *w, const struct dp_rec_object *fs,
           struct dp_err *e)
{
	struct dp_err ignored = DP_ERR_INIT; /* then it has no such name */
	struct dp_rec_object o = *fs;

	w->x->id.n = w->x->name.n = 0;
	if (dp_elf_build_id(&w->elf, &w->x->id, &ignored))
		o.build_id = dp_buf_bytes(&w->x->id);
	if (dp_elf_soname(&w->elf, &w->x->name, &ignored) &&
	    w->x->name.n <= DP_MAX_STR)
		o.soname = dp_buf_bytes(&w->x->name);
	o.machine = w->elf.machine;
	o.e_type = w->elf.type;
	o.class = w->elf.word == 4 ? 32 : 64;
	o.osabi = w->elf.osabi;
	o.format = DPR_FORMAT_ELF;
	o.debug = is_debug_file(&w->elf);
	o.order = w->elf.order == DP_BE ? DPR_ORDER_MSB : DPR_ORDER_LSB;
	return dp_put_object(w->x->out, &o, e);
}

static bool
put_segments(struct dp_elfwork *w, struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;
	uint32_t n = 0;

	for (size_t i = 0; i < w->elf.segs.n; i++) {
		const struct dp_elf_seg *s =
			DP_VEC_AT(&w->elf.segs, struct dp_elf_seg, i);
		struct dp_rec_segment r = {
			.vaddr = s->vaddr,
			.fileoff = s->off,
			.filesz = s->filesz,
			.memsz = s->memsz,
			.align = s->align,
			.p_type = s->type,
			.flags = s->flags,
		};

		if (s->type != PT_LOAD && s->type != PT_TLS)
			continue;
		if (++n > DP_MAX_SEGMENTS) {
			(void)dp_err_set(&what, DP_ELIMIT, DP_NOOFF,
			                 "more than %d segments",
			                 DP_MAX_SEGMENTS);
			return complain(w, &what, e);
		}
		if (!dp_put_segment(w->x->out, &r, e))
			return false;
	}
	return w->elf.segs_why.code == DP_OK ||
	       complain(w, &w->elf.segs_why, e);
}

/* What hits the ranges; trouble with a table costs what was in it. */
static bool
load_rels(struct dp_elfwork *w, const struct dp_vec *ranges, struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;

	if (!dp_relocs_load(&w->rels, &w->elf, ranges->p, (uint32_t)ranges->n,
	                    &what))
		return complain(w, &what, e);
	return w->rels.trouble.code == DP_OK ||
	       complain(w, &w->rels.trouble, e);
}

/* One look at all relocations, for all sections that are read. */
static bool
load_relocs(struct dp_elfwork *w, struct dp_err *e)
{
	bool any = false;

	for (size_t i = 0; i < w->elf.secs.n; i++) {
		const struct dp_elf_sec *s =
			DP_VEC_AT(&w->elf.secs, struct dp_elf_sec, i);
		struct dp_relrange *r;

		if (raw_kind(w, s) == NULL)
			continue;
		r = dp_vec_push(&w->ranges, sizeof *r);
		if (r == NULL)
			return dp_extract_nomem(e);
		r->sec = s->index;
		r->start = w->elf.type == ET_REL ? 0 : s->addr;
		/* Notes are not loaded: nothing can hit them later. */
		if (w->elf.type == ET_REL || (s->flags & SHF_ALLOC))
			r->size = s->size;
		any |= r->size != 0;
	}
	return !any || load_rels(w, &w->ranges, e);
}

static bool
over_budget(const struct dp_elf_sec *s, struct dp_err *what)
{
	return dp_err_set(what, DP_ELIMIT, s->off,
	                  "over %d bytes of raw sections", DP_MAX_RAW_BYTES);
}

/*
 * Data of a section into x->data.  The budget bounds what a file can cost:
 * a compressed section counts as what it is unpacked.
 */
static bool
read_section(struct dp_elfwork *w, const struct dp_elf_sec *s, uint64_t *budget,
             struct dp_err *what)
{
	if (!dp_range_ok(s->off, s->size, w->elf.src.size))
		return dp_err_set(what, DP_EFORMAT, s->off,
		                  "section of 0x%llx bytes outside the file",
		                  (unsigned long long)s->size);
	if (s->size > *budget)
		return over_budget(s, what);
	*budget -= s->size;
	if (!dp_elf_sec_read(&w->elf, s, &w->x->data, what))
		return false;
	if (w->x->data.n <= s->size)
		return true;
	if (w->x->data.n - s->size > *budget) {
		*budget = 0; /* or the next one would be unpacked for nothing */
		return over_budget(s, what);
	}
	*budget -= w->x->data.n - s->size;
	return true;
}

/* A first pass over stapsdt sections; what is wrong the second one tells. */
static bool
want_sections(struct dp_elfwork *w, struct dp_err *e)
{
	uint64_t budget = DP_MAX_RAW_BYTES;
	bool ok = true;

	for (size_t i = 0; i < w->elf.secs.n && ok; i++) {
		const struct dp_elf_sec *s =
			DP_VEC_AT(&w->elf.secs, struct dp_elf_sec, i);
		const struct raw_kind *kind = raw_kind(w, s);
		struct dp_err ignored = DP_ERR_INIT;

		if (kind == NULL)
			continue;
		if (kind->source == DP_EXTRACT_STAPSDT &&
		    read_section(w, s, &budget, &ignored))
			ok = dp_want_sites(w, e);
		w->range++;
	}
	w->range = 0;
	return ok;
}

static bool
put_sections(struct dp_elfwork *w, struct dp_err *e)
{
	uint64_t budget = DP_MAX_RAW_BYTES;

	for (size_t i = 0; i < w->elf.secs.n; i++) {
		const struct dp_elf_sec *s =
			DP_VEC_AT(&w->elf.secs, struct dp_elf_sec, i);
		const struct raw_kind *kind = raw_kind(w, s);
		struct dp_err what = DP_ERR_INIT;

		if (kind == NULL)
			continue;
		if (read_section(w, s, &budget, &what)
		            ? !kind->put(w, s, e)
		            : !dp_image_complain(w->x, w->im, kind->reach,
		                                 &what, e))
			return false;
		w->range++;
	}
	return true;
}

/* DOFs of an object without section headers. */
struct bare_dofs {
	struct dp_vec ranges; /* struct dp_relrange: addresses and sizes */
	struct dp_vec offs;   /* uint64_t: where they are in the file */
	struct dp_win win;
	uint64_t budget; /* bytes that may still be read for candidates */
};

/*
 * The size of a DOF at a candidate's place; 0 when its header does not
 * hold, so that it is a chance hit.  False when the budget is used up.
 */
static bool
try_candidate(struct dp_elfwork *w, const struct dp_bare_hit *hit,
              struct bare_dofs *d, uint64_t *size_ret, struct dp_err *what)
{
	struct dp_err not_one = DP_ERR_INIT;
	struct dp_buf *data = &w->x->data;
	struct dp_bytes head;
	struct dp_dof dof;
	uint64_t size;

	*size_ret = 0;
	if (hit->left < DP_DOF_HDR_SIZE ||
	    !dp_win_get(&d->win, &w->elf.src, hit->off, DP_DOF_HDR_SIZE, &head))
		return true;
	size = dp_dof_size(head);
	if (size > hit->left)
		size = hit->left;
	if (size == 0)
		return true;
	if (size > d->budget)
		return dp_err_set(what, DP_ELIMIT, hit->off,
		                  "over %d bytes of what begins like DOF",
		                  DP_MAX_RAW_BYTES);
	d->budget -= size;
	if (dp_src_load(&w->elf.src, hit->off, size, data, &not_one) &&
	    dp_dof_header(dp_buf_bytes(data), &dof, &not_one))
		*size_ret = dp_dof_extent(&dof);
	return true;
}

/* What is found before an error counts. */
static bool
find_bare(struct dp_elfwork *w, struct bare_dofs *d, struct dp_err *e)
{
	struct dp_bare b = dp_bare_init(&w->elf);
	struct dp_err what = DP_ERR_INIT;
	struct dp_bare_hit hit;
	bool more = false, ok = true;
	uint64_t size;

	while (ok && dp_bare_next(&b, &hit, &more, &what) && more) {
		struct dp_relrange *r;
		uint64_t *off;

		if (!try_candidate(w, &hit, d, &size, &what))
			break;
		if (size == 0)
			continue;
		dp_bare_skip(&b, size);
		r = dp_vec_push(&d->ranges, sizeof *r);
		off = dp_vec_push(&d->offs, sizeof *off);
		ok = r != NULL && off != NULL;
		if (!ok)
			break;
		*r = (struct dp_relrange){ .start = hit.vaddr, .size = size };
		*off = hit.off;
	}
	dp_bare_deinit(&b);
	if (!ok)
		return dp_extract_nomem(e);
	return what.code == DP_OK || complain(w, &what, e);
}

/* The relocations are looked at once, whatever the number of DOFs. */
static bool
put_found(struct dp_elfwork *w, const struct bare_dofs *d, struct dp_err *e)
{
	dp_relocs_deinit(&w->rels);
	if (!load_rels(w, &d->ranges, e))
		return false;
	for (size_t i = 0; i < d->offs.n; i++) {
		const struct dp_relrange *r =
			DP_VEC_AT(&d->ranges, struct dp_relrange, i);
		struct dp_rec_rawdof first = {
			.vaddr = r->start,
			.fileoff = *DP_VEC_AT(&d->offs, uint64_t, i),
		};
		struct dp_err what = DP_ERR_INIT;

		w->range = (uint32_t)i;
		if (dp_src_load(&w->elf.src, first.fileoff, r->size,
		                &w->x->data, &what)
		            ? !dp_put_dofs(w->x, w->im, &first, w, e)
		            : !complain(w, &what, e))
			return false;
	}
	return true;
}

/*
 * Without section headers DOF is found by its first bytes: where all of
 * them are first, then they are read again one by one.
 */
static bool
put_bare(struct dp_elfwork *w, struct dp_err *e)
{
	struct bare_dofs d = { .budget = DP_MAX_RAW_BYTES };
	bool ok = find_bare(w, &d, e) && (d.offs.n == 0 || put_found(w, &d, e));

	dp_vec_deinit(&d.ranges);
	dp_vec_deinit(&d.offs);
	dp_win_deinit(&d.win);
	return ok;
}

static void
find_named(struct dp_elfwork *w)
{
	const struct dp_elf_sec *s =
		dp_elf_sec_named(&w->elf, DP_SDT_BASE_SECTION);

	w->has_base = s != NULL && w->elf.type != ET_REL;
	w->base = w->has_base ? s->addr : 0;
	w->rodata = dp_elf_sec_named(&w->elf, ".rodata");
}

/* The directory of the object, for debug files beside it. */
static bool
find_dir(struct dp_elfwork *w, struct dp_err *e)
{
	struct dp_bytes path = w->im->in->path;
	const uint8_t *slash = memrchr(path.p, '/', path.n);
	size_t n = slash == NULL ? 0 : (size_t)(slash - path.p);

	if (memchr(path.p, '\0', path.n) != NULL)
		return true;
	if (slash == NULL ? !dp_buf_str(&w->dir, ".")
	                  : !dp_buf_add(&w->dir, path.p, n == 0 ? 1 : n))
		return dp_extract_nomem(e);
	if (!dp_buf_add(&w->dir, "", 1))
		return dp_extract_nomem(e);
	return true;
}

static bool
put_all(struct dp_elfwork *w, const struct dp_rec_object *o, unsigned flags,
        struct dp_err *e)
{
	dp_strmap_clear(&w->x->sent);
	find_named(w);
	if (!find_dir(w, e) || !put_object(w, o, e) || !put_segments(w, e))
		return false;
	if (w->elf.secs_why.code != DP_OK && !complain(w, &w->elf.secs_why, e))
		return false;
	return load_relocs(w, e) && want_sections(w, e) &&
	       dp_put_functions(w, e) && put_sections(w, e) &&
	       (!(flags & DP_GATE_NOSHDR) || put_bare(w, e)) &&
	       dp_put_helpers(w, e) && dp_image_end(w->x, w->im, e);
}

bool
dp_extract_elf(struct dp_extractor *x, struct dp_image *im, unsigned flags,
               struct dp_err *e)
{
	struct dp_elfwork w = { .x = x, .im = im };
	struct dp_err what = DP_ERR_INIT;
	struct dp_rec_object o;
	bool ok;

	if (dp_elf_open(&w.elf, &im->src, &what)) {
		im->src.size = w.elf.src.size;
		ok = dp_image_object(im, &o, &what) ? put_all(&w, &o, flags, e)
		                                    : complain(&w, &what, e);
		dp_elf_close(&w.elf);
	} else {
		ok = complain(&w, &what, e);
	}
	dp_relocs_deinit(&w.rels);
	dp_vec_deinit(&w.ranges);
	dp_vec_deinit(&w.wanted);
	dp_buf_deinit(&w.dir);
	dp_funcs_deinit(&w.funcs);
	dp_symnames_deinit(&w.names);
	return ok;
}
