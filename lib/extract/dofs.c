/* SPDX-License-Identifier: BSD-2-Clause */
/* DOFs one behind the other in a section, and the relocations in them. */
#include "base/limits.h"
#include "base/range.h"
#include "extract/state.h"
#include "usdt/dof.h"

static const uint8_t magic[] = { 0x7f, 'D', 'O', 'F' };

static bool
has_magic(struct dp_bytes data, size_t at)
{
	return data.n - at >= sizeof magic &&
	       memcmp(data.p + at, magic, sizeof magic) == 0;
}

/* Where the next DOF begins, or the end of the data. */
static size_t
next_magic(struct dp_bytes data, size_t at)
{
	for (at = (size_t)dp_align_up(at, DP_DOF_STEP); at < data.n;
	     at += DP_DOF_STEP)
		if (has_magic(data, at))
			return at;
	return data.n;
}

/*
 * Bytes of the DOF at `at`: what its header says, or, when that is broken,
 * all up to the next one, so that nothing good behind it is lost.
 */
static size_t
extent(struct dp_bytes data, size_t at)
{
	struct dp_bytes rest = { data.p + at, data.n - at };
	struct dp_err ignored = DP_ERR_INIT;
	struct dp_dof d;

	if (dp_dof_header(rest, &d, &ignored))
		return (size_t)dp_dof_extent(&d);
	return next_magic(data, at + 1) - at;
}

static bool
put_dof(struct dp_extractor *x, struct dp_image *im,
        const struct dp_rec_rawdof *dof, struct dp_err *e)
{
	if (!im->has_dof) {
		im->has_dof = true;
		im->first_dof = dof->vaddr;
	}
	im->nraw++;
	return dp_put_rawdof(x->out, dof, e);
}

/* Zeros fill up to the next DOF; anything else there is not ours. */
static size_t
skip_zeros(struct dp_bytes data, size_t at)
{
	while (at < data.n && data.p[at] == 0)
		at++;
	return at;
}

bool
dp_put_dofs(struct dp_extractor *x, struct dp_image *im,
            const struct dp_rec_rawdof *first, struct dp_elfwork *w,
            struct dp_err *e)
{
	struct dp_bytes data = dp_buf_bytes(&x->data);
	size_t at = 0;

	while ((at = skip_zeros(data, at)) < data.n) {
		struct dp_rec_rawdof dof = *first;
		struct dp_err what = DP_ERR_INIT;
		size_t n;

		if (!has_magic(data, at)) {
			size_t next = next_magic(data, at);

			(void)dp_err_set(&what, DP_EFORMAT, first->fileoff + at,
			                 "%zu bytes that are no DOF",
			                 next - at);
			if (!dp_image_complain(x, im, DPR_REACH_DOF, &what, e))
				return false;
			at = next;
			continue;
		}
		n = extent(data, at);
		if (n > DP_MAX_DOF_SIZE) {
			(void)dp_err_set(&what, DP_ELIMIT, first->fileoff + at,
			                 "DOF of %zu bytes, limit %d", n,
			                 DP_MAX_DOF_SIZE);
			if (!dp_image_complain(x, im, DPR_REACH_DOF, &what, e))
				return false;
			at += n;
			continue;
		}
		dof.vaddr += at;
		dof.fileoff += at;
		dof.bytes = (struct dp_bytes){ data.p + at, n };
		if (w != NULL &&
		    !dp_put_elfrels(w, dp_relocs_in(w, at, n), at, e))
			return false;
		if (!put_dof(x, im, &dof, e))
			return false;
		at += n;
	}
	return true;
}

/* First relocation of the list at or behind (range, off). */
static size_t
lower_bound(const struct dp_relocs *rs, uint32_t range, uint64_t off)
{
	const struct dp_reloc *r = rs->v.p;
	size_t lo = 0, hi = rs->v.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r[mid].range < range ||
		    (r[mid].range == range && r[mid].off < off))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct dp_relhits
dp_relocs_in(const struct dp_elfwork *w, uint64_t at, uint64_t n)
{
	size_t lo = lower_bound(&w->rels, w->range, at);
	size_t hi = lower_bound(&w->rels, w->range, at + n);
	struct dp_relhits hits = { NULL, hi - lo };

	if (hits.n != 0)
		hits.r = DP_VEC_AT(&w->rels.v, struct dp_reloc, lo);
	return hits;
}

static const uint8_t relkinds[] = {
	[DP_REL_OTHER] = DPR_RELKIND_OTHER,
	[DP_REL_NONE] = DPR_RELKIND_OTHER, /* never written */
	[DP_REL_RELATIVE] = DPR_RELKIND_RELATIVE,
	[DP_REL_SYMBOL] = DPR_RELKIND_SYMBOL,
	[DP_REL_PCREL] = DPR_RELKIND_PCREL,
};

bool
dp_put_elfrels(struct dp_elfwork *w, struct dp_relhits hits, uint64_t at,
               struct dp_err *e)
{
	for (size_t i = 0; i < hits.n; i++) {
		const struct dp_reloc *h = &hits.r[i];
		struct dp_rec_elfrel r = {
			.offset = h->off - at,
			.addend = h->addend,
			.sym_value = h->sym_value,
			.r_type = h->type,
			.sym_section = h->sym_defined ? h->sym_shndx : 0,
			.kind = relkinds[h->kind],
			.width = h->width,
			.explicit_addend = !h->in_place,
			.symbol = h->sym_name.n != 0 ? h->sym_name : h->sym_sec,
		};

		if (h->kind != DP_REL_NONE && !dp_put_elfrel(w->x->out, &r, e))
			return false;
	}
	return true;
}
