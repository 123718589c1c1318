/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/opd.h"

#include <elf.h>

enum {
	ABI_MASK = 3, /* of e_flags: 0 not said, 1 descriptors, 2 none */
	ABI_V2 = 2,
};

bool
dp_opd_load(struct dp_opd *o_ret, const struct dp_elf *elf, struct dp_err *e)
{
	struct dp_err why = DP_ERR_INIT;
	struct dp_relrange range = { 0 };
	const struct dp_elf_sec *sec;

	*o_ret = (struct dp_opd){ 0 };
	if (elf->machine != EM_PPC64 || (elf->flags & ABI_MASK) == ABI_V2)
		return true;
	sec = dp_elf_sec_named(elf, ".opd");
	if (sec == NULL || sec->type != SHT_PROGBITS)
		return true;
	range.start = elf->type == ET_REL ? 0 : sec->addr;
	range.size = sec->size;
	range.sec = sec->index;
	if (!dp_elf_sec_read(elf, sec, &o_ret->bytes, &why) ||
	    !dp_relocs_load(&o_ret->relocs, elf, &range, 1, &why)) {
		if (why.code != DP_EIO && why.code != DP_ENOMEM)
			return true;
		*e = why;
		return false;
	}
	o_ret->elf = elf;
	o_ret->sec = sec;
	return true;
}

/* The relocation at `off` of .opd, or NULL. */
static const struct dp_reloc *
reloc_at(const struct dp_opd *o, uint64_t off)
{
	const struct dp_reloc *v = o->relocs.v.p;
	size_t lo = 0, hi = o->relocs.v.n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (v[mid].off < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < o->relocs.v.n && v[lo].off == off ? &v[lo] : NULL;
}

bool
dp_opd_follow(const struct dp_opd *o, struct dp_opd_at *at_io)
{
	const bool rel = o->elf != NULL && o->elf->type == ET_REL;
	const struct dp_reloc *hit;
	struct dp_rd r;
	uint64_t off, in_place;

	if (o->elf == NULL)
		return true;
	off = at_io->addr - (rel ? 0 : o->sec->addr);
	if ((rel && at_io->sec != o->sec->index) || off >= o->sec->size)
		return true;
	r = dp_rd_init(dp_buf_bytes(&o->bytes), o->elf->order);
	dp_rd_seek(&r, off);
	in_place = dp_rd_u64(&r);
	if (!dp_rd_ok(&r))
		return false;
	hit = reloc_at(o, off);
	if (hit != NULL && hit->kind == DP_REL_RELATIVE && !hit->in_place) {
		at_io->addr = (uint64_t)hit->addend;
		return true;
	}
	if (hit != NULL && hit->kind == DP_REL_SYMBOL && hit->has_sym &&
	    hit->sym_defined && !hit->in_place) {
		at_io->sec = rel ? hit->sym_shndx : 0;
		at_io->addr = hit->sym_value + (uint64_t)hit->addend;
		return true;
	}
	/* a linked file has the address in place; 0 is no function */
	at_io->addr = in_place;
	return !rel && in_place != 0;
}

void
dp_opd_deinit(struct dp_opd *o)
{
	dp_buf_deinit(&o->bytes);
	dp_relocs_deinit(&o->relocs);
}
