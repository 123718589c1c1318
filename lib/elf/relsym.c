/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/relsym.h"

#include <elf.h>

#include "base/limits.h"
#include "base/range.h"

struct dp_symplace
dp_symplace_of(const struct dp_elf *elf, uint32_t link)
{
	const struct dp_elf_sec *sec = dp_elf_sec(elf, link);
	const struct dp_elf_sec *str;
	struct dp_symplace at = { 0 };

	if (sec == NULL || (sec->type != SHT_SYMTAB && sec->type != SHT_DYNSYM))
		return at;
	if (sec->flags & SHF_COMPRESSED)
		return at;
	at.off = sec->off;
	at.size = sec->size;
	at.sec = link;
	str = dp_elf_sec(elf, sec->link);
	if (str != NULL && str->type == SHT_STRTAB &&
	    (str->flags & SHF_COMPRESSED) == 0) {
		at.str_off = str->off;
		at.str_size = str->size;
	}
	return at;
}

/* The name at `off` of the strings; empty when it is broken. */
static struct dp_bytes
get_name(struct dp_relsym *rs, const struct dp_elf *elf,
         const struct dp_symplace *at, uint64_t off)
{
	static const size_t tries[] = { 256, 4096, DP_RELSYM_NAME_MAX };
	struct dp_bytes b, none = { NULL, 0 };
	const uint8_t *nul;
	uint64_t pos;
	size_t want;

	if (rs->wasted > DP_MAX_ELF_SECTION || off >= at->str_size ||
	    __builtin_add_overflow(at->str_off, off, &pos))
		return none;
	for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
		want = tries[i];
		if (want > at->str_size - off)
			want = (size_t)(at->str_size - off);
		if (!dp_win_get(&rs->strs, &elf->src, pos, want, &b) ||
		    b.n == 0)
			return none;
		nul = memchr(b.p, '\0', b.n);
		if (nul != NULL)
			return (struct dp_bytes){ b.p, (size_t)(nul - b.p) };
		rs->wasted += i == 0 ? 0 : b.n;
		if (b.n < tries[i])
			return none;
	}
	return none;
}

/* The section of symbol `i` whose st_shndx is SHN_XINDEX. */
static uint32_t
get_xindex(struct dp_relsym *rs, const struct dp_elf *elf,
           const struct dp_symplace *at, uint32_t i)
{
	const struct dp_elf_sec *sec = rs->xndx_sec;
	struct dp_bytes b;
	struct dp_rd r;
	uint64_t pos;
	uint32_t v;

	if (sec == NULL || at->sec == 0 || sec->link != at->sec ||
	    !dp_range_ok((uint64_t)i * 4, 4, sec->size) ||
	    __builtin_add_overflow(sec->off, (uint64_t)i * 4, &pos) ||
	    !dp_win_get(&rs->xndx, &elf->src, pos, 4, &b))
		return SHN_XINDEX;
	r = dp_rd_init(b, elf->order);
	v = dp_rd_u32(&r);
	return dp_rd_ok(&r) ? v : SHN_XINDEX;
}

bool
dp_relsym_get(struct dp_relsym *rs, const struct dp_elf *elf,
              const struct dp_symplace *at, uint32_t i,
              struct dp_relsym_val *val_ret)
{
	const uint32_t len = dp_esym_len(elf->word);
	struct dp_relsym_val v = { 0 };
	struct dp_bytes b;
	struct dp_rd r;
	uint64_t pos;

	if (!dp_range_ok((uint64_t)i * len, len, at->size) ||
	    __builtin_add_overflow(at->off, (uint64_t)i * len, &pos) ||
	    !dp_win_get(&rs->syms, &elf->src, pos, len, &b))
		return false;
	r = dp_rd_init(b, elf->order);
	dp_esym_read(&r, elf->word, &v.sym);
	if (!dp_rd_ok(&r))
		return false;
	v.shndx = v.sym.shndx;
	if (v.shndx == SHN_XINDEX)
		v.shndx = get_xindex(rs, elf, at, i);
	v.name = get_name(rs, elf, at, v.sym.name);
	*val_ret = v;
	return true;
}

void
dp_relsym_deinit(struct dp_relsym *rs)
{
	dp_win_deinit(&rs->syms);
	dp_win_deinit(&rs->strs);
	dp_win_deinit(&rs->xndx);
}
