/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/dynamic.h"

#include <elf.h>

#include "base/vec.h"

enum {
	DYN_BYTES_MAX = 1 << 20, /* 65536 entries; real ones have 40 */
};

static const int64_t tags[DP_DYN_COUNT] = {
	[DP_DYN_SONAME] = DT_SONAME,   [DP_DYN_STRTAB] = DT_STRTAB,
	[DP_DYN_STRSZ] = DT_STRSZ,     [DP_DYN_SYMTAB] = DT_SYMTAB,
	[DP_DYN_RELA] = DT_RELA,       [DP_DYN_RELASZ] = DT_RELASZ,
	[DP_DYN_RELAENT] = DT_RELAENT, [DP_DYN_REL] = DT_REL,
	[DP_DYN_RELSZ] = DT_RELSZ,     [DP_DYN_RELENT] = DT_RELENT,
	[DP_DYN_RELR] = DT_RELR,       [DP_DYN_RELRSZ] = DT_RELRSZ,
	[DP_DYN_JMPREL] = DT_JMPREL,   [DP_DYN_PLTRELSZ] = DT_PLTRELSZ,
	[DP_DYN_PLTREL] = DT_PLTREL,
};

static void
keep(struct dp_dynamic *d, uint64_t tag, uint64_t value)
{
	for (unsigned i = 0; i < DP_DYN_COUNT; i++)
		if ((uint64_t)tags[i] == tag) {
			d->v[i] = value;
			d->has[i] = true;
		}
}

bool
dp_dynamic_read(const struct dp_elf *elf, struct dp_dynamic *d_ret,
                struct dp_err *e)
{
	const struct dp_elf_seg *seg = dp_elf_seg_typed(elf, PT_DYNAMIC);
	const struct dp_elf_sec *sec = dp_elf_sec_typed(elf, SHT_DYNAMIC);
	struct dp_dynamic d = { 0 };
	struct dp_buf buf = { 0 };
	uint64_t off = 0, size = 0, tag, value;
	struct dp_rd r;

	if (seg != NULL) {
		off = seg->off;
		size = seg->filesz;
	} else if (sec != NULL) {
		off = sec->off;
		size = sec->size;
	}
	if (size > DYN_BYTES_MAX)
		size = DYN_BYTES_MAX;
	if (!dp_src_some(&elf->src, off, &buf, (size_t)size, e)) {
		dp_buf_deinit(&buf);
		return false;
	}
	r = dp_rd_init(dp_buf_bytes(&buf), elf->order);
	for (;;) {
		tag = dp_rd_word(&r, elf->word);
		value = dp_rd_word(&r, elf->word);
		if (!dp_rd_ok(&r) || tag == DT_NULL)
			break;
		keep(&d, tag, value);
	}
	dp_buf_deinit(&buf);
	*d_ret = d;
	return true;
}
