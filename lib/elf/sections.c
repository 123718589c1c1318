/* SPDX-License-Identifier: BSD-2-Clause */
/* Sections of an opened object: finding them and reading their data. */
#include <elf.h>

#include "base/limits.h"
#include "base/range.h"
#include "elf/inflate.h"
#include "elf/object.h"

const struct dp_elf_sec *
dp_elf_sec(const struct dp_elf *elf, uint64_t i)
{
	if (i >= elf->secs.n)
		return NULL;
	return DP_VEC_AT(&elf->secs, struct dp_elf_sec, i);
}

const struct dp_elf_sec *
dp_elf_sec_named(const struct dp_elf *elf, const char *name)
{
	struct dp_bytes want = dp_cstr(name);

	for (size_t i = 0; i < elf->secs.n; i++)
		if (dp_bytes_eq(dp_elf_sec(elf, i)->name, want))
			return dp_elf_sec(elf, i);
	return NULL;
}

const struct dp_elf_sec *
dp_elf_sec_typed(const struct dp_elf *elf, uint32_t type)
{
	for (size_t i = 0; i < elf->secs.n; i++)
		if (dp_elf_sec(elf, i)->type == type)
			return dp_elf_sec(elf, i);
	return NULL;
}

bool
dp_elf_sec_read(const struct dp_elf *elf, const struct dp_elf_sec *sec,
                struct dp_buf *buf, struct dp_err *e)
{
	struct dp_buf packed = { 0 };
	bool zipped = (sec->flags & SHF_COMPRESSED) != 0;
	bool ok;

	buf->n = 0;
	if (sec->type == SHT_NOBITS || sec->type == SHT_NULL || sec->size == 0)
		return true;
	if (sec->size > DP_MAX_ELF_SECTION)
		return dp_err_set(e, DP_ELIMIT, sec->off,
		                  "section %u has %ju bytes", sec->index,
		                  (uintmax_t)sec->size);
	if (!dp_src_load(&elf->src, sec->off, sec->size, zipped ? &packed : buf,
	                 e)) {
		dp_buf_deinit(&packed);
		return dp_err_prefix(e, "section %u", sec->index);
	}
	if (!zipped)
		return true;
	ok = dp_inflate(elf, dp_buf_bytes(&packed), buf, e);
	dp_buf_deinit(&packed);
	if (!ok)
		return dp_err_prefix(e, "section %u", sec->index);
	return true;
}

/* Take the string out of the `n` bytes at `off` of the object. */
static bool
str_in(const struct dp_elf *elf, uint64_t off, uint64_t n, struct dp_buf *buf,
       struct dp_err *e)
{
	const uint8_t *nul;

	buf->n = 0;
	if (n > DP_ELF_STR_MAX + 1)
		n = DP_ELF_STR_MAX + 1;
	if (!dp_src_some(&elf->src, off, buf, (size_t)n, e))
		return false;
	nul = buf->n != 0 ? memchr(buf->p, '\0', buf->n) : NULL;
	if (nul == NULL) {
		buf->n = 0;
		return dp_err_set(e, DP_EFORMAT, off, "string does not end");
	}
	buf->n = (size_t)(nul - buf->p);
	return true;
}

bool
dp_elf_rodata_str(const struct dp_elf *elf, uint64_t vaddr, struct dp_buf *buf,
                  struct dp_err *e)
{
	return dp_elf_str_at(elf, dp_elf_sec_named(elf, ".rodata"), vaddr, buf,
	                     e);
}

bool
dp_elf_str_at(const struct dp_elf *elf, const struct dp_elf_sec *sec,
              uint64_t vaddr, struct dp_buf *buf, struct dp_err *e)
{
	const struct dp_elf_seg *seg;
	uint64_t off, at;

	buf->n = 0;
	if (sec != NULL && sec->type != SHT_NOBITS &&
	    (sec->flags & SHF_COMPRESSED) == 0) {
		at = vaddr - sec->addr;
		if (vaddr < sec->addr || at >= sec->size ||
		    __builtin_add_overflow(sec->off, at, &off))
			return dp_err_set(e, DP_EFORMAT, DP_NOOFF,
			                  "%#jx is not in section %u",
			                  (uintmax_t)vaddr, sec->index);
		return str_in(elf, off, sec->size - at, buf, e);
	}
	seg = dp_elf_load_of(elf, vaddr);
	if (seg == NULL || !dp_elf_off_of(elf, vaddr, &off))
		return dp_err_set(e, DP_EFORMAT, DP_NOOFF,
		                  "%#jx is in no PT_LOAD", (uintmax_t)vaddr);
	return str_in(elf, off, seg->filesz - (vaddr - seg->vaddr), buf, e);
}
