/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols are streamed, strings are read whole since names point into them.
 * A hostile table can let a million symbols share one long name, so the
 * names have a common budget: what is done with them later (hashing,
 * sorting) costs in proportion to their length.
 */
#include "elf/symload.h"

#include <elf.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/range.h"

enum {
	CHUNK = 256 << 10,
};

/* One table on its way in. */
struct run {
	struct dp_symfrom *from;
	const struct dp_elf *elf;
	const struct dp_symwant *want;
	struct dp_bytes strs;
	struct dp_buf chunk;
	struct dp_buf xndx; /* SHT_SYMTAB_SHNDX, or empty */
	unsigned source;    /* DP_SYMS_* bit */
};

/*
 * Judge a failure about one source: true, and a note, when the others may
 * still be used; false, and *e, when it is about us.
 */
static bool
forgive(struct dp_symfrom *from, const struct dp_err *why, bool own,
        struct dp_err *e)
{
	if (why->code == DP_ENOMEM || (own && why->code == DP_EIO)) {
		*e = *why;
		return false;
	}
	if (from->trouble.code == DP_OK)
		from->trouble = *why;
	return true;
}

/* Read the strings that belong to the table; names borrow from them. */
static bool
load_strings(struct run *r, const struct dp_elf_sec *tab, struct dp_err *why)
{
	const struct dp_elf_sec *str = dp_elf_sec(r->elf, tab->link);
	struct dp_buf *buf = &r->from->strs[r->from->nstrs];
	const uint8_t *nul;

	if (str == NULL || str->type != SHT_STRTAB ||
	    (str->flags & SHF_COMPRESSED) != 0)
		return dp_err_set(why, DP_EFORMAT, tab->off,
		                  "symbol table %u has no names", tab->index);
	if (str->size > DP_MAX_SYMTAB)
		return dp_err_set(why, DP_ELIMIT, str->off,
		                  "%ju bytes of symbol names",
		                  (uintmax_t)str->size);
	if (!dp_src_load(&r->elf->src, str->off, str->size, buf, why))
		return dp_err_prefix(why, "symbol names");
	/* what has no NUL is no name, and must not be searched for one */
	nul = buf->n != 0 ? memrchr(buf->p, '\0', buf->n) : NULL;
	r->strs = (struct dp_bytes){ buf->p,
		                     nul != NULL ? (size_t)(nul - buf->p) + 1
		                                 : 0 };
	r->from->nstrs++;
	return true;
}

/* Read the table of extended section indices, if there is one. */
static bool
load_xndx(struct run *r, const struct dp_elf_sec *tab, struct dp_err *why)
{
	const struct dp_elf_sec *sec =
		dp_elf_sec_typed(r->elf, SHT_SYMTAB_SHNDX);

	if (sec == NULL || sec->link != tab->index)
		return true;
	if (sec->size > DP_MAX_SYMTAB)
		return dp_err_set(why, DP_ELIMIT, sec->off,
		                  "%ju bytes of section indices",
		                  (uintmax_t)sec->size);
	return dp_src_load(&r->elf->src, sec->off, sec->size, &r->xndx, why);
}

/* The section of symbol `i`. */
static uint32_t
section_of(const struct run *r, const struct dp_esym *sym, uint64_t i)
{
	struct dp_rd rd;
	uint32_t v;

	if (sym->shndx != SHN_XINDEX)
		return sym->shndx;
	rd = dp_rd_init(dp_buf_bytes(&r->xndx), r->elf->order);
	dp_rd_seek(&rd, i * 4);
	v = dp_rd_u32(&rd);
	return dp_rd_ok(&rd) ? v : SHN_XINDEX;
}

/* Hand the symbol on if it is wanted. */
static bool
offer(struct run *r, struct dp_symload *s, uint64_t i, struct dp_err *why)
{
	struct dp_symfrom *from = r->from;

	if ((r->want->types & (1U << (s->sym.info & 0xf))) == 0 ||
	    (r->want->sized && s->sym.size == 0) || s->sym.name == 0 ||
	    s->sym.shndx == SHN_UNDEF || s->sym.shndx == SHN_COMMON)
		return true;
	s->shndx = section_of(r, &s->sym, i);
	from->sources |= r->source;
	if (r->want->pick != NULL &&
	    !r->want->pick(r->want->ctx, &s->sym, s->shndx))
		return true;
	if (!dp_str_at(r->strs, s->sym.name, &s->name) || s->name.n == 0)
		return true;
	if (s->name.n > from->name_budget)
		return dp_err_set(why, DP_ELIMIT, DP_NOOFF,
		                  "symbol names are too long in sum");
	from->name_budget -= s->name.n;
	return r->want->take(r->want->ctx, s, why);
}

static bool
stream(struct run *r, const struct dp_elf_sec *tab, struct dp_err *why)
{
	const uint32_t len = dp_esym_len(r->elf->word);
	uint64_t n = tab->size / len, i = 0;
	struct dp_symload s;
	struct dp_rd rd;
	size_t step;

	while (i < n) {
		step = n - i < CHUNK / len ? (size_t)(n - i) : CHUNK / len;
		if (!dp_src_load(&r->elf->src, tab->off + i * len, step * len,
		                 &r->chunk, why))
			return dp_err_prefix(why, "symbols");
		rd = dp_rd_init(dp_buf_bytes(&r->chunk), r->elf->order);
		for (size_t k = 0; k < step; k++) {
			dp_esym_read(&rd, r->elf->word, &s.sym);
			if (!offer(r, &s, i + k, why))
				return false;
		}
		i += step;
	}
	return true;
}

/* Run through the first table of that section type, if there is one. */
static bool
run_table(struct run *r, uint32_t type, struct dp_err *why)
{
	const struct dp_elf_sec *tab = dp_elf_sec_typed(r->elf, type);
	bool ok;

	if (tab == NULL || tab->size == 0 || (tab->flags & SHF_COMPRESSED) != 0)
		return true;
	if (tab->size > DP_MAX_SYMTAB)
		return dp_err_set(why, DP_ELIMIT, tab->off,
		                  "%ju bytes of symbols", (uintmax_t)tab->size);
	if (!dp_range_ok(tab->off, tab->size, r->elf->src.size))
		return dp_err_set(why, DP_EFORMAT, tab->off,
		                  "symbol table %u is cut", tab->index);
	ok = load_xndx(r, tab, why) && load_strings(r, tab, why) &&
	     stream(r, tab, why);
	dp_buf_deinit(&r->chunk);
	dp_buf_deinit(&r->xndx);
	return ok;
}

/* The same file in kind, so that addresses mean the same. */
static bool
is_twin(const struct dp_elf *a, const struct dp_elf *b)
{
	return a->word == b->word && a->order == b->order &&
	       a->machine == b->machine;
}

/* Take the symbols of another image of the object. */
static bool
run_other(const struct run *r, const struct dp_src *src, unsigned source,
          struct dp_err *why)
{
	struct run other = { .from = r->from,
		             .want = r->want,
		             .source = source };
	struct dp_elf elf;
	bool ok = true;

	if (!dp_elf_open(&elf, src, why))
		return false;
	other.elf = &elf;
	if (is_twin(&elf, r->elf))
		ok = run_table(&other, SHT_SYMTAB, why);
	dp_elf_close(&elf);
	return ok;
}

static bool
run_debugfile(const struct run *r, const struct dp_debugwhere *where,
              struct dp_err *e)
{
	struct dp_err why = DP_ERR_INIT;
	struct dp_src src;
	int fd = -1;
	bool ok;

	if (where == NULL)
		return true;
	if (!dp_debugfile_open(r->elf, where, &fd, e))
		return false;
	if (fd < 0)
		return true;
	src = dp_src_fd(fd, 0, DP_SRC_UNKNOWN);
	ok = run_other(r, &src, DP_SYMS_DEBUGFILE, &why);
	(void)close(fd);
	return ok || forgive(r->from, &why, false, e);
}

static bool
run_debugdata(const struct run *r, struct dp_err *e)
{
	struct dp_err why = DP_ERR_INIT;
	struct dp_buf image = { 0 };
	bool unpacked, ok;

	unpacked = ok = dp_debugdata_read(r->elf, &image, &why);
	if (ok && image.n != 0) {
		struct dp_src src = dp_src_mem(dp_buf_bytes(&image));

		ok = run_other(r, &src, DP_SYMS_DEBUGDATA, &why);
		if (!ok)
			(void)dp_err_prefix(&why, ".gnu_debugdata");
	}
	dp_buf_deinit(&image);
	return ok || forgive(r->from, &why, !unpacked, e);
}

bool
dp_symload_run(struct dp_symfrom *from, const struct dp_elf *elf,
               const struct dp_debugwhere *where, const struct dp_symwant *want,
               struct dp_err *e)
{
	struct run r = {
		.from = from, .elf = elf, .want = want, .source = DP_SYMS_SYMTAB
	};
	struct dp_err why = DP_ERR_INIT;

	*from = (struct dp_symfrom){ .name_budget = DP_MAX_SYMTAB,
		                     .trouble = DP_ERR_INIT };
	if (!run_table(&r, SHT_SYMTAB, &why) && !forgive(from, &why, true, e))
		return false;
	if (from->sources != 0 && !want->both)
		return true;
	why = (struct dp_err)DP_ERR_INIT;
	r.source = DP_SYMS_DYNSYM;
	if (!run_table(&r, SHT_DYNSYM, &why) && !forgive(from, &why, true, e))
		return false;
	if ((from->sources & DP_SYMS_SYMTAB) == 0 &&
	    !run_debugfile(&r, where, e))
		return false;
	if ((from->sources & (DP_SYMS_SYMTAB | DP_SYMS_DEBUGFILE)) == 0)
		return run_debugdata(&r, e);
	return true;
}

void
dp_symfrom_deinit(struct dp_symfrom *from)
{
	for (size_t i = 0; i < sizeof from->strs / sizeof from->strs[0]; i++)
		dp_buf_deinit(&from->strs[i]);
	from->nstrs = 0;
}
