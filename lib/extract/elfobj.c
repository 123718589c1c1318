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

/* One look at all relocations, for all sections that are read. */
static bool
load_relocs(struct dp_elfwork *w, struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;
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
	if (!any)
		return true;
	if (!dp_relocs_load(&w->rels, &w->elf, w->ranges.p,
	                    (uint32_t)w->ranges.n, &what))
		return complain(w, &what, e);
	return w->rels.trouble.code == DP_OK ||
	       complain(w, &w->rels.trouble, e);
}

/* Data of a section into x->data; the budget bounds what a file can cost. */
static bool
read_section(struct dp_elfwork *w, const struct dp_elf_sec *s, uint64_t *budget,
             struct dp_err *what)
{
	if (!dp_range_ok(s->off, s->size, w->elf.src.size))
		return dp_err_set(what, DP_EFORMAT, s->off,
		                  "section of 0x%llx bytes outside the file",
		                  (unsigned long long)s->size);
	if (s->size > *budget)
		return dp_err_set(what, DP_ELIMIT, s->off,
		                  "over %d bytes of raw sections",
		                  DP_MAX_RAW_BYTES);
	*budget -= s->size;
	return dp_elf_sec_read(&w->elf, s, &w->x->data, what);
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

/* One candidate: its header must hold, or it is a chance hit. */
static bool
put_candidate(struct dp_elfwork *w, const struct dp_bare_hit *hit,
              uint64_t *size_ret, struct dp_err *e)
{
	struct dp_rec_rawdof first = { .vaddr = hit->vaddr,
		                       .fileoff = hit->off };
	struct dp_buf *data = &w->x->data;
	struct dp_err not_one = DP_ERR_INIT;
	struct dp_dof d;
	uint64_t size;

	*size_ret = 0;
	if (hit->left < DP_DOF_HDR_SIZE ||
	    !dp_src_load(&w->elf.src, hit->off, DP_DOF_HDR_SIZE, data,
	                 &not_one))
		return true;
	size = dp_dof_size(dp_buf_bytes(data));
	if (size > hit->left)
		size = hit->left;
	if (size == 0 ||
	    !dp_src_load(&w->elf.src, hit->off, size, data, &not_one) ||
	    !dp_dof_header(dp_buf_bytes(data), &d, &not_one))
		return true;
	*size_ret = data->n = (size_t)dp_dof_extent(&d);
	return dp_put_dofs(w->x, w->im, &first, w, e);
}

/* Without section headers DOF is found by its first bytes. */
static bool
put_bare(struct dp_elfwork *w, struct dp_err *e)
{
	struct dp_bare b = dp_bare_init(&w->elf);
	struct dp_err what = DP_ERR_INIT;
	struct dp_bare_hit hit;
	bool more = false, ok = true;
	uint64_t size;

	while (ok && dp_bare_next(&b, &hit, &more, &what) && more) {
		struct dp_relrange r = { .start = hit.vaddr, .size = hit.left };
		struct dp_err broken = DP_ERR_INIT;

		dp_relocs_deinit(&w->rels);
		w->range = 0;
		if (!dp_relocs_load(&w->rels, &w->elf, &r, 1, &broken) &&
		    !complain(w, &broken, e)) {
			ok = false;
			break;
		}
		ok = put_candidate(w, &hit, &size, e);
		if (size != 0)
			dp_bare_skip(&b, size);
	}
	dp_bare_deinit(&b);
	if (!ok || what.code == DP_OK)
		return ok;
	return complain(w, &what, e);
}

static void
find_base(struct dp_elfwork *w)
{
	const struct dp_elf_sec *s =
		dp_elf_sec_named(&w->elf, DP_SDT_BASE_SECTION);

	w->has_base = s != NULL && w->elf.type != ET_REL;
	w->base = w->has_base ? s->addr : 0;
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
	find_base(w);
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
