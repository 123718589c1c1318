/* SPDX-License-Identifier: BSD-2-Clause */
/* The notes of a section, and before each the symbols that it needs. */
#include <elf.h>
#include <stdlib.h>

#include "base/limits.h"
#include "extract/state.h"
#include "usdt/argspec.h"
#include "usdt/notes.h"
#include "usdt/sdt.h"
#include "usdt/usdtnote.h"

/* Has this symbol record gone out yet?  Remembers it. */
static bool
first_time(struct dp_elfwork *w, uint8_t kind, uint32_t section,
           struct dp_bytes name, bool *first_ret)
{
	struct dp_buf *key = &w->x->key;

	key->n = 0;
	return dp_buf_add(key, &kind, 1) &&
	       dp_buf_add(key, &section, sizeof section) &&
	       dp_buf_add(key, name.p, name.n) &&
	       dp_strmap_add(&w->x->sent, dp_buf_bytes(key), 0, first_ret) !=
	               NULL;
}

static struct dp_debugwhere
where(const struct dp_elfwork *w)
{
	return (struct dp_debugwhere){
		/* in a process's namespace the name may be another file's */
		.object_dir = w->dir.n == 0 || w->im->in->nlives != 0
		                      ? NULL
		                      : (const char *)w->dir.p,
		.debug_dir = w->x->opts->debug_dir,
		.root_fd = w->im->in->root_fd,
	};
}

static uint8_t
source_of(unsigned sources)
{
	return sources & DP_SYMS_DEBUGFILE   ? DPR_SYMSRC_DEBUGFILE
	       : sources & DP_SYMS_DEBUGDATA ? DPR_SYMSRC_DEBUGDATA
	       : sources & DP_SYMS_SYMTAB    ? DPR_SYMSRC_SYMTAB
	                                     : DPR_SYMSRC_DYNSYM;
}

/* Trouble with a symbol table costs names, not sites. */
static bool
tell(struct dp_elfwork *w, const struct dp_err *trouble, struct dp_err *e)
{
	struct dp_err what = *trouble;

	if (what.code == DP_OK)
		return true;
	(void)dp_err_prefix(&what, "symbols");
	return dp_image_complain(w->x, w->im, DPR_REACH_ARGUMENT, &what, e);
}

static int
by_place(const void *a, const void *b)
{
	const struct dp_codeaddr *x = a, *y = b;

	if (x->sec != y->sec)
		return x->sec < y->sec ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

static bool
load_funcs(struct dp_elfwork *w, struct dp_err *e)
{
	struct dp_wanted wanted = { w->wanted.p, w->wanted.n };
	struct dp_debugwhere from = where(w);
	struct dp_err what = DP_ERR_INIT;

	if (w->wanted.n > 1)
		qsort(w->wanted.p, w->wanted.n, sizeof *wanted.at, by_place);
	if (!dp_funcs_around(&w->funcs, &w->elf, &from, &wanted, &what))
		return tell(w, &what, e);
	return tell(w, &w->funcs.from.trouble, e);
}

static bool
load_names(struct dp_elfwork *w, struct dp_err *e)
{
	struct dp_debugwhere from = where(w);
	struct dp_err what = DP_ERR_INIT;

	if (w->names_loaded)
		return true;
	w->names_loaded = true;
	if (!dp_symnames_load(&w->names, &w->elf, &from, &what))
		return tell(w, &what, e);
	return tell(w, &w->names.from.trouble, e);
}

static bool
put_function(struct dp_elfwork *w, uint32_t section, uint64_t addr,
             struct dp_err *e)
{
	struct dp_rec_symbol s = { .kind = DPR_SYM_FUNC };
	const struct dp_func *f;
	bool first = false;

	f = dp_funcs_find(&w->funcs, section, addr);
	if (f == NULL || f->name.n > DP_MAX_STR)
		return true;
	if (!first_time(w, DPR_SYM_FUNC, section,
	                (struct dp_bytes){ (const uint8_t *)&f->addr,
	                                   sizeof f->addr },
	                &first))
		return dp_extract_nomem(e);
	if (!first)
		return true;
	s.value = f->addr;
	s.size = f->size;
	s.section = f->sec;
	s.from = source_of(w->funcs.from.sources);
	s.name = f->name;
	return dp_put_symbol(w->x->out, &s, e);
}

/*
 * All functions that sites lie in, by place and before any note, so that
 * dofparse has them in order when the first note comes.
 */
bool
dp_put_functions(struct dp_elfwork *w, struct dp_err *e)
{
	const struct dp_codeaddr *at;

	if (w->wanted.n == 0)
		return true;
	if (!load_funcs(w, e))
		return false;
	at = w->wanted.p; /* sorted now */
	for (size_t i = 0; i < w->wanted.n; i++)
		if (!put_function(w, at[i].sec, at[i].addr, e))
			return false;
	return true;
}

static bool
put_named(struct dp_elfwork *w, struct dp_bytes name, struct dp_err *e)
{
	struct dp_rec_symbol s = { .name = name };
	struct dp_symval v;
	bool first = false;

	if (!first_time(w, DPR_SYM_OBJECT, 0, name, &first))
		return dp_extract_nomem(e);
	if (!first)
		return true;
	if (!load_names(w, e))
		return false;
	v = dp_symnames_find(&w->names, name);
	if (v.n == 0)
		return true; /* dofparse says that it is missing */
	s.value = v.value;
	s.kind = v.n > 1             ? DPR_SYM_AMBIGUOUS
	         : v.type == STT_TLS ? DPR_SYM_TLS
	                             : DPR_SYM_OBJECT;
	s.section = w->elf.type == ET_REL ? v.shndx : 0;
	s.from = source_of(w->names.from.sources);
	return dp_put_symbol(w->x->out, &s, e);
}

static bool
put_arg_symbols(struct dp_elfwork *w, struct dp_bytes args, struct dp_err *e)
{
	struct dp_arg_iter it;
	struct dp_arg a;

	dp_arg_iter_init(&it, args, w->elf.machine, w->elf.word);
	while (dp_arg_next(&it, &a))
		if (a.symbol.n != 0 && !put_named(w, a.symbol, e))
			return false;
	return true;
}

/* Section and offset that a relocation of ET_REL puts into a word. */
static uint64_t
place_of(const struct dp_elfwork *w, uint64_t at, uint64_t word,
         uint32_t *section_ret)
{
	struct dp_relhits hits = dp_relocs_in(w, at, w->elf.word);

	*section_ret = 0;
	if (hits.n == 0)
		return word;
	*section_ret = w->elf.type == ET_REL ? hits.r[0].sym_shndx : 0;
	if (hits.r[0].in_place)
		return hits.r[0].sym_value + word;
	return hits.r[0].sym_value + (uint64_t)hits.r[0].addend;
}

/* Descriptor and the place of its site; false for one that is broken. */
static bool
site_of(const struct dp_elfwork *w, struct dp_bytes desc, uint64_t at,
        struct dp_sdt *n, struct dp_codeaddr *pc)
{
	struct dp_err ignored = DP_ERR_INIT; /* dofparse will tell */

	if (!dp_sdt_parse(desc, w->elf.word, w->elf.order, n, &ignored))
		return false;
	pc->addr = place_of(w, at + n->pc_off, n->pc, &pc->sec) +
	           dp_sdt_delta(w->base, w->has_base, n->base);
	if (w->elf.word == 4)
		pc->addr = (uint32_t)pc->addr;
	return true;
}

bool
dp_put_sdt_symbols(struct dp_elfwork *w, struct dp_bytes desc, uint64_t at,
                   struct dp_err *e)
{
	struct dp_err ignored = DP_ERR_INIT; /* dofparse will tell */
	struct dp_sdt n;

	(void)at;
	if (!dp_sdt_parse(desc, w->elf.word, w->elf.order, &n, &ignored))
		return true;
	return put_arg_symbols(w, n.args, e);
}

bool
dp_want_sites(struct dp_elfwork *w, struct dp_err *e)
{
	struct dp_note_iter it;
	enum dp_step step;
	struct dp_note n;

	dp_note_iter_init(&it, dp_buf_bytes(&w->x->data), w->elf.order);
	do {
		struct dp_err ignored = DP_ERR_INIT;
		struct dp_codeaddr pc, *slot;
		struct dp_sdt sdt;

		step = dp_note_next(&it, &n, &ignored);
		if (step != DP_STEP_OK ||
		    !dp_note_is(&n, DP_SDT_OWNER, DP_SDT_TYPE) ||
		    !site_of(w, n.desc, n.desc_off, &sdt, &pc))
			continue;
		slot = dp_vec_push(&w->wanted, sizeof *slot);
		if (slot == NULL)
			return dp_extract_nomem(e);
		*slot = pc;
	} while (step != DP_STEP_END && w->wanted.n < DP_MAX_NOTES);
	return true;
}

bool
dp_put_usdt_symbols(struct dp_elfwork *w, struct dp_bytes desc, uint64_t at,
                    struct dp_err *e)
{
	struct dp_rec_symbol s = { .kind = DPR_SYM_STRING,
		                   .from = DPR_SYMSRC_RODATA };
	struct dp_err ignored = DP_ERR_INIT;
	struct dp_usdt_site n;
	uint32_t section;
	bool first = false;

	if (!dp_usdt_site_parse(desc, w->elf.order, &n, &ignored))
		return true;
	s.value = place_of(w, at + n.func_off, n.func_addr, &section);
	if (!first_time(w, DPR_SYM_STRING, section,
	                (struct dp_bytes){ (const uint8_t *)&s.value,
	                                   sizeof s.value },
	                &first))
		return dp_extract_nomem(e);
	if (first &&
	    dp_elf_str_at(&w->elf, w->rodata, s.value, &w->x->text, &ignored)) {
		s.name = dp_buf_bytes(&w->x->text);
		if (!dp_put_symbol(w->x->out, &s, e))
			return false;
	}
	return put_arg_symbols(w, n.args, e);
}

/* The notes that each kind of section is read for. */
static const struct {
	const char *owner;
	uint32_t type;
	bool usdt;
	bool (*symbols)(struct dp_elfwork *w, struct dp_bytes desc, uint64_t at,
	                struct dp_err *e);
} kinds[] = {
	{ DP_SDT_OWNER, DP_SDT_TYPE, false, dp_put_sdt_symbols },
	{ DP_USDT_OWNER, DP_USDT_TYPE_PROBE, true, dp_put_usdt_symbols },
	{ DP_USDT_OWNER, DP_USDT_TYPE_ENABLED, true, dp_put_usdt_symbols },
	{ DP_USDT_PROV_OWNER, DP_USDT_TYPE_PROV, true, NULL },
};

static bool
put_note(struct dp_elfwork *w, const struct dp_elf_sec *sec,
         const struct dp_note *n, struct dp_err *e)
{
	struct dp_rec_rawnote r = {
		.fileoff =
			(sec->flags & SHF_COMPRESSED ? 0 : sec->off) + n->off,
		.base = w->base,
		.note_type = n->type,
		.desc_off = (uint32_t)(n->desc_off - n->off),
		.has_base = w->has_base,
		.section = sec->name,
		.owner = n->owner,
		.desc = n->desc,
	};

	w->im->nraw++;
	return dp_put_elfrels(w, dp_relocs_in(w, n->desc_off, n->desc.n),
	                      n->desc_off, e) &&
	       dp_put_rawnote(w->x->out, &r, e);
}

static bool
one_note(struct dp_elfwork *w, const struct dp_elf_sec *sec, bool usdt,
         const struct dp_note *n, struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (kinds[i].usdt != usdt ||
		    !dp_note_is(n, kinds[i].owner, kinds[i].type))
			continue;
		if (n->desc.n > DP_MAX_NOTE_DESC) {
			(void)dp_err_set(&what, DP_ELIMIT, sec->off + n->off,
			                 "note of %zu bytes, limit %d",
			                 n->desc.n, DP_MAX_NOTE_DESC);
			return dp_image_complain(w->x, w->im, DPR_REACH_SITE,
			                         &what, e);
		}
		if (kinds[i].symbols != NULL &&
		    !kinds[i].symbols(w, n->desc, n->desc_off, e))
			return false;
		return put_note(w, sec, n, e);
	}
	return true; /* another owner's */
}

bool
dp_put_notes(struct dp_elfwork *w, const struct dp_elf_sec *sec, bool usdt,
             struct dp_err *e)
{
	struct dp_note_iter it;

	dp_note_iter_init(&it, dp_buf_bytes(&w->x->data), w->elf.order);
	for (;;) {
		struct dp_err what = DP_ERR_INIT;
		struct dp_note n;
		enum dp_step step = dp_note_next(&it, &n, &what);

		if (step == DP_STEP_END)
			return true;
		if (++w->nnotes > DP_MAX_NOTES) {
			what = (struct dp_err)DP_ERR_INIT;
			(void)dp_err_set(&what, DP_ELIMIT, sec->off,
			                 "more than %d notes", DP_MAX_NOTES);
			return dp_image_complain(w->x, w->im, DPR_REACH_OBJECT,
			                         &what, e);
		}
		if (step == DP_STEP_BAD) {
			if (what.off != DP_NOOFF)
				what.off += sec->off;
			if (!dp_image_complain(w->x, w->im, DPR_REACH_SITE,
			                       &what, e))
				return false;
		} else if (!one_note(w, sec, usdt, &n, e)) {
			return false;
		}
	}
}
