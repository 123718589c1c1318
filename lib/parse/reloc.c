/* SPDX-License-Identifier: BSD-2-Clause */
/* What must be added to an address word, and whether anything can attach. */
#include "parse/state.h"

#include <elf.h>

#include "record/resolve.h"

uint8_t
dp_parse_base(const struct dp_parser *p)
{
	switch (p->obj.e_type) {
	case ET_EXEC:
	case ET_REL:
		return DPR_BASE_NONE;
	default:
		return DPR_BASE_BIAS;
	}
}

static struct dp_rec_reloc *
append(struct dp_word *w, const struct dp_rec_reloc *r)
{
	if (w->n == DP_WORD_RELOCS) {
		w->why = "too many relocations of one word";
		return NULL;
	}
	w->r[w->n] = *r;
	return &w->r[w->n++];
}

struct dp_rec_reloc *
dp_word_add(struct dp_word *w, uint8_t kind, uint8_t base, int64_t addend)
{
	const struct dp_rec_reloc r = { .kind = kind,
		                        .base = base,
		                        .addend = addend };

	return append(w, &r);
}

/* How an ELF relocation of each kind counts. */
static const struct {
	uint8_t kind;
	bool adds_symbol;
	bool minus_place;
	bool needs_base;
} elf_kinds[DPR_relkind_COUNT] = {
	[DPR_RELKIND_OTHER] = { DPR_RELOC_ELF_OTHER, false, false, false },
	[DPR_RELKIND_RELATIVE] = { DPR_RELOC_ELF_RELATIVE, false, false, true },
	[DPR_RELKIND_SYMBOL] = { DPR_RELOC_ELF_SYMBOL, true, false, true },
	[DPR_RELKIND_PCREL] = { DPR_RELOC_ELF_PCREL, true, true, false },
};

/* An absolute symbol stays where it is, wherever the object is loaded. */
static uint8_t
base_of(const struct dp_parser *p, uint8_t k, const struct dp_rec_elfrel *rel)
{
	if (!elf_kinds[k].needs_base ||
	    (elf_kinds[k].adds_symbol && rel->sym_section == SHN_ABS))
		return DPR_BASE_NONE;
	return dp_parse_base(p);
}

static void
add_elf(struct dp_parser *p, const struct dp_hit *h, struct dp_bytes symbol,
        struct dp_place at, struct dp_word *w)
{
	uint8_t k = h->rel.kind < DPR_relkind_COUNT ? h->rel.kind
	                                            : DPR_RELKIND_OTHER;
	struct dp_rec_reloc r = {
		.kind = elf_kinds[k].kind,
		.base = base_of(p, k, &h->rel),
		.r_type = h->rel.r_type,
		.width = h->rel.width,
		.replaces = h->rel.explicit_addend && k != DPR_RELKIND_OTHER,
		.addend = k == DPR_RELKIND_OTHER ? 0 : h->rel.addend,
		.symbol = symbol,
	};

	if (elf_kinds[k].adds_symbol)
		r.sym_value = h->rel.sym_value;
	if (elf_kinds[k].minus_place)
		r.addend -= (int64_t)(at.vaddr + h->rel.offset);
	if (r.replaces && h->rel.offset == at.off) {
		w->n = 0; /* a loader stores: what came before is lost */
		w->why = NULL;
	}
	if (k == DPR_RELKIND_OTHER)
		w->why = "relocation of a type that is not known";
	else if (elf_kinds[k].adds_symbol && h->rel.sym_section == 0)
		w->why = "relocation against a symbol that is not here";
	(void)append(w, &r);
}

/* The first one at or behind `off`; they are sorted by offset. */
static size_t
first_hit(struct dp_hits hits, uint64_t off)
{
	size_t lo = 0, hi = hits.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (hits.h[mid].rel.offset < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t
dp_hits_section(const struct dp_parser *p, struct dp_hits hits, uint64_t off)
{
	size_t i = first_hit(hits, off);

	if (p->obj.e_type != ET_REL || i == hits.n ||
	    hits.h[i].rel.offset != off)
		return 0;
	return hits.h[i].rel.sym_section;
}

void
dp_word_elf(struct dp_parser *p, struct dp_hits hits, struct dp_place at,
            struct dp_word *w_ret)
{
	size_t lo = first_hit(hits, at.off);

	w_ret->n = 0;
	w_ret->why = NULL;
	for (; lo < hits.n && hits.h[lo].rel.offset - at.off < at.width; lo++) {
		const struct dp_hit *h = &hits.h[lo];

		add_elf(p, h,
		        dp_buf_part(hits.names, h->name_off, h->name_size), at,
		        w_ret);
	}
}

bool
dp_word_write(struct dp_parser *p, struct dp_word *w, uint64_t in_place,
              const struct dp_addr_ref *ref, struct dp_err *e)
{
	for (uint32_t i = 0; i < w->n; i++) {
		struct dp_rec_reloc *r = &w->r[i];

		r->id = p->nrelocs++;
		r->in_place = in_place;
		r->rec = ref->rec;
		r->field = ref->field;
		r->rec_id = ref->rec_id;
		r->arg = ref->arg;
		r->dof = ref->dof;
		r->dof_sec = ref->dof_sec;
		r->dof_off = ref->place;
		r->pos = ref->pos;
		if (r->width == 0)
			r->width = ref->dof != DP_NO_ID ? 8
			           : p->obj.class == 32 ? 4
			                                : 8;
		p->stats.relocs[r->kind]++;
		p->stats.matter += dp_reloc_matters(r);
		if (!dp_put_reloc(p->out, r, e))
			return false;
	}
	return true;
}

uint64_t
dp_word_resolve(const struct dp_parser *p, const struct dp_word *w,
                uint64_t value, uint64_t dof_vaddr)
{
	struct dp_bases link = { .dof = dof_vaddr,
		                 .wrap32 = p->obj.class == 32 };

	return dp_resolve(value, w->r, w->n, &link);
}

static const struct dp_rec_segment *
segment_of(const struct dp_parser *p, uint64_t vaddr)
{
	for (size_t i = 0; i < p->segments.n; i++) {
		const struct dp_rec_segment *s =
			DP_VEC_AT(&p->segments, struct dp_rec_segment, i);

		if (s->p_type == PT_LOAD && vaddr >= s->vaddr &&
		    vaddr - s->vaddr < s->memsz)
			return s;
	}
	return NULL;
}

/* --gc-sections leaves 0 for the address of what it has taken out. */
static bool
in_header(const struct dp_parser *p, const struct dp_rec_segment *s,
          uint64_t vaddr)
{
	uint64_t size =
		p->obj.class == 32 ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr);
	uint64_t in = vaddr - s->vaddr;

	return s->fileoff < size && in < size - s->fileoff;
}

const char *
dp_parse_why_not(const struct dp_parser *p, uint64_t vaddr)
{
	const struct dp_rec_segment *s;

	if (p->obj.format == DPR_FORMAT_NONE)
		return p->obj.origin == DPR_ORIGIN_MEMORY
		               ? NULL
		               : "DOF without its object";
	if (p->obj.format == DPR_FORMAT_MACHO)
		return "not an ELF object";
	if (p->obj.e_type == ET_REL)
		return "relocatable object";
	if (p->obj.debug)
		return "separate debug file";
	if (p->obj.member.n != 0)
		return "member of an archive";
	s = segment_of(p, vaddr);
	if (s == NULL)
		return "address in no segment";
	if (in_header(p, s, vaddr))
		return "address in the ELF header: its code was dropped";
	if (!(s->flags & PF_X))
		return "address in a segment that is not executable";
	if (vaddr - s->vaddr >= s->filesz)
		return "address behind the file part of its segment";
	return NULL;
}

const char *
dp_parse_sem_why_not(const struct dp_parser *p, uint64_t vaddr)
{
	const struct dp_rec_segment *s = segment_of(p, vaddr);

	if (p->obj.format != DPR_FORMAT_ELF || p->obj.e_type == ET_REL)
		return NULL; /* refused already */
	if (s == NULL)
		return "semaphore in no segment";
	if (s->flags & PF_X)
		return "semaphore in an executable segment";
	if (!(s->flags & PF_W))
		return "semaphore in a segment that is not writable";
	if (s->filesz < 2 || vaddr - s->vaddr > s->filesz - 2)
		return "semaphore behind the file part of its segment";
	return NULL;
}
