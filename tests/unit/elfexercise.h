/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything that lib/elf can do with one object, for inputs of which
 * nothing is known but that nothing may go wrong.  Used by the tests of
 * hostile images and by the fuzzer; a broken promise aborts.
 */
#ifndef DP_ELFEXERCISE_H
#define DP_ELFEXERCISE_H

#include <elf.h>
#include <stdlib.h>

#include "base/limits.h"
#include "elf/archive.h"
#include "elf/bare.h"
#include "elf/debugfile.h"
#include "elf/gate.h"
#include "elf/identity.h"
#include "elf/relocs.h"
#include "elf/symbols.h"

#define promise(cond)                                                          \
	do {                                                                   \
		if (!(cond))                                                   \
			abort();                                               \
	} while (0)

/* Read every byte, so that a sanitizer sees those that are not there. */
static inline unsigned
touch(struct dp_bytes b)
{
	unsigned sum = 0;

	for (size_t i = 0; i < b.n; i++)
		sum += b.p[i];
	return sum;
}

/* A failure has a code and a text, success has neither. */
static inline void
check_err(bool ok, struct dp_err *e)
{
	promise(ok == (e->code == DP_OK));
	promise(ok || e->msg[0] != '\0');
	*e = (struct dp_err)DP_ERR_INIT;
}

static inline void
exercise_relocs(const struct dp_elf *elf)
{
	struct dp_relrange g[8];
	struct dp_err e = DP_ERR_INIT;
	struct dp_relocs rs;
	uint32_t n = 0;

	for (size_t i = 0; i < elf->secs.n && n < 7; i++) {
		const struct dp_elf_sec *s = dp_elf_sec(elf, i);

		g[n].start = elf->type == ET_REL ? 0 : s->addr;
		g[n].size = s->size;
		g[n++].sec = s->index;
	}
	if (n == 0)
		g[n++] = (struct dp_relrange){ 0x1000, 0x10000, 0 };
	check_err(dp_relocs_load(&rs, elf, g, n, &e), &e);
	for (size_t i = 0; i < rs.v.n; i++) {
		struct dp_reloc *r = DP_VEC_AT(&rs.v, struct dp_reloc, i);

		promise(r->range < n && r->off < g[r->range].size);
		promise(r->width <= 8);
		(void)touch(r->sym_name);
		(void)touch(r->sym_sec);
	}
	dp_relocs_deinit(&rs);
}

static inline void
exercise_symbols(const struct dp_elf *elf)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_symnames names;
	struct dp_funcs f;

	check_err(dp_funcs_load(&f, elf, NULL, &e), &e);
	for (size_t i = 0; i < f.v.n; i++) {
		struct dp_func *fn = DP_VEC_AT(&f.v, struct dp_func, i);
		const struct dp_func *got =
			dp_funcs_find(&f, fn->sec, fn->addr);

		/* one at the very top has no room for its last byte */
		promise(got != NULL || fn->addr == UINT64_MAX);
		promise(got == NULL || got->size <= fn->size);
		(void)touch(fn->name);
	}
	dp_funcs_deinit(&f);
	check_err(dp_symnames_load(&names, elf, NULL, &e), &e);
	(void)dp_symnames_find(&names, dp_cstr("name"));
	dp_symnames_deinit(&names);
}

static inline void
exercise_identity(const struct dp_elf *elf)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf b = { 0 };
	uint64_t off;
	uint32_t crc;

	check_err(dp_elf_build_id(elf, &b, &e), &e);
	promise(b.n <= DP_BUILDID_MAX);
	check_err(dp_elf_soname(elf, &b, &e), &e);
	check_err(dp_elf_debuglink(elf, &b, &crc, &e), &e);
	check_err(dp_debugdata_read(elf, &b, &e), &e);
	check_err(dp_elf_rodata_str(elf, 0x1004, &b, &e), &e);
	for (size_t i = 0; i < elf->segs.n; i++) {
		struct dp_elf_seg *s =
			DP_VEC_AT(&elf->segs, struct dp_elf_seg, i);

		(void)dp_elf_off_of(elf, s->vaddr, &off);
		(void)dp_elf_off_of(elf, s->vaddr + s->filesz, &off);
	}
	for (size_t i = 0; i < elf->secs.n && i < 64; i++) {
		(void)touch(dp_elf_sec(elf, i)->name);
		check_err(dp_elf_sec_read(elf, dp_elf_sec(elf, i), &b, &e), &e);
		(void)touch(dp_buf_bytes(&b));
	}
	dp_buf_deinit(&b);
}

static inline void
exercise_bare(const struct dp_elf *elf)
{
	struct dp_bare b = dp_bare_init(elf);
	struct dp_err e = DP_ERR_INIT;
	struct dp_bare_hit hit;
	bool more = true, ok;
	unsigned n = 0;

	while (more && n++ < 1000) {
		ok = dp_bare_next(&b, &hit, &more, &e);
		check_err(ok, &e);
		if (!ok)
			break;
		if (more) {
			promise(hit.vaddr % 8 == 0 && hit.left >= 4);
			dp_bare_skip(&b, n % 3 ? 0 : 64);
		}
	}
	dp_bare_deinit(&b);
}

static inline void
exercise_archive(const struct dp_src *src)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_ar_member m;
	struct dp_ar ar;
	bool more = true, ok;

	ok = dp_ar_open(&ar, src, &e);
	check_err(ok, &e);
	if (!ok)
		return;
	while (ok && more) {
		ok = dp_ar_next(&ar, &m, &more, &e);
		check_err(ok, &e);
		if (ok && more) {
			(void)touch(m.name);
			promise(m.off <= ar.src.size &&
			        m.size <= ar.src.size - m.off);
		}
	}
	dp_ar_close(&ar);
}

/* The whole of it. */
static inline void
exercise(const struct dp_src *src)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf scratch = { 0 }, head = { 0 };
	unsigned flags = 0;
	struct dp_elf elf;
	bool ok;

	check_err(dp_src_some(src, 0, &head, DP_GATE_HEAD, &e), &e);
	(void)dp_magic_of(dp_buf_bytes(&head));
	check_err(dp_gate(src, dp_buf_bytes(&head), &scratch, &flags, &e), &e);
	dp_buf_deinit(&head);
	dp_buf_deinit(&scratch);
	exercise_archive(src);
	ok = dp_elf_open(&elf, src, &e);
	check_err(ok, &e);
	if (!ok)
		return;
	/* what the gate has seen must be there for who comes behind it */
	if (flags & DP_GATE_SDT)
		promise(dp_elf_sec_named(&elf, ".note.stapsdt") != NULL);
	exercise_identity(&elf);
	exercise_relocs(&elf);
	exercise_symbols(&elf);
	exercise_bare(&elf);
	dp_elf_close(&elf);
}

#endif /* DP_ELFEXERCISE_H */
