/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables are read in chunks and each entry is held against the ranges at
 * once, so the cost is that of reading the tables; only what hits is kept
 * and only for that a symbol is looked at.
 */
#include "elf/relocs.h"

#include <elf.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/range.h"
#include "elf/dynamic.h"
#include "elf/hdr.h"
#include "elf/relsym.h"
#include "elf/reltypes.h"

enum {
	CHUNK = 64 << 10,
	ENTSIZE_MAX = 4096,
	/* one RELR byte stands for up to 8 places to look at */
	RELR_COST = 16,
};

static const uint64_t budget = UINT64_C(2) << 30;

enum form { FORM_REL, FORM_RELA, FORM_RELR };

/* One table of relocations. */
struct table {
	enum form form;
	uint64_t off, size, each; /* in the object */
	uint32_t sec;             /* ET_REL: the section that it is for */
	struct dp_symplace syms;
};

struct job {
	const struct dp_elf *elf;
	const struct dp_relrange *ranges;
	struct dp_relocs *rs;
	struct dp_spans spans;  /* the ranges */
	struct dp_spans wanted; /* ET_REL: numbers of their sections */
	uint64_t lo, hi;        /* all ranges lie in [lo, hi) */
	uint64_t budget;
	struct dp_buf chunk;
	struct dp_relsym syms;
};

static int
first_wins(const void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	return (a > b) - (a < b);
}

static bool
is_rel(const struct job *j)
{
	return j->elf->type == ET_REL;
}

static bool
index_ranges(struct job *j, uint32_t n, struct dp_err *e)
{
	const struct dp_relrange *g;
	struct dp_span s = { 0 };

	j->lo = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		g = &j->ranges[i];
		s.id = i;
		s.sec = is_rel(j) ? g->sec : 0;
		s.lo = g->start;
		if (__builtin_add_overflow(g->start, g->size, &s.hi))
			s.hi = UINT64_MAX;
		if (s.lo >= s.hi)
			continue;
		j->lo = s.lo < j->lo ? s.lo : j->lo;
		j->hi = s.hi > j->hi ? s.hi : j->hi;
		if (!dp_spans_add(&j->spans, &s))
			goto nomem;
		s = (struct dp_span){ .id = i, .lo = g->sec };
		s.hi = s.lo + 1;
		if (is_rel(j) && !dp_spans_add(&j->wanted, &s))
			goto nomem;
	}
	if (dp_spans_build(&j->spans, first_wins, NULL) &&
	    dp_spans_build(&j->wanted, first_wins, NULL))
		return true;
nomem:
	return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
}

/* Fill in what the symbol `i` of the table says. */
static bool
add_symbol(struct job *j, const struct table *t, uint32_t i,
           struct dp_reloc *rel, struct dp_err *e)
{
	const struct dp_elf_sec *sec;
	struct dp_relsym_val v;

	if (i == 0 || !dp_relsym_get(&j->syms, j->elf, &t->syms, i, &v))
		return true;
	rel->has_sym = true;
	rel->st_type = v.sym.info & 0xf;
	rel->sym_defined = v.shndx != SHN_UNDEF;
	rel->sym_shndx = v.shndx;
	rel->sym_value = v.sym.value;
	sec = dp_elf_sec(j->elf, v.shndx);
	if (sec != NULL)
		rel->sym_sec = sec->name;
	if (j->rs->names.n + v.name.n > DP_MAX_ELF_SECTION)
		return dp_err_set(e, DP_ELIMIT, t->off,
		                  "too many names of relocated symbols");
	/* names.p moves: the pointer is set when all are there */
	if (!dp_buf_add(&j->rs->names, v.name.p, v.name.n))
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	rel->sym_name.n = v.name.n;
	return true;
}

/* A relocation as it stands in a table. */
struct entry {
	uint64_t off, info;
	int64_t addend;
};

static bool
keep(struct job *j, const struct table *t, const struct entry *in,
     const struct dp_span *hit, struct dp_err *e)
{
	struct dp_vec *v = &j->rs->v;
	enum dp_relkind kind = DP_REL_OTHER;
	struct dp_reloc rel = { 0 };
	uint32_t sym = 0;
	void *slot;

	if (v->n >= DP_MAX_NOTES)
		return dp_err_set(e, DP_ELIMIT, t->off,
		                  "more than %d relocations in the ranges",
		                  DP_MAX_NOTES);
	rel.range = hit->id;
	rel.off = in->off - j->ranges[hit->id].start;
	rel.seq = (uint32_t)v->n;
	rel.in_place = t->form != FORM_RELA;
	rel.addend = in->addend;
	if (t->form == FORM_RELR) {
		rel.type = dp_reltype_relative(j->elf->machine, j->elf->word);
		rel.kind = DP_REL_RELATIVE;
		rel.width = (uint8_t)j->elf->word;
	} else {
		rel.type =
			dp_reltype_of(j->elf->machine, j->elf->word, in->info);
		sym = (uint32_t)(in->info >> (j->elf->word == 4 ? 8 : 32));
		(void)dp_reltype(j->elf->machine, j->elf->word, rel.type, &kind,
		                 &rel.width);
		rel.kind = (uint8_t)kind;
	}
	if (!add_symbol(j, t, sym, &rel, e))
		return false;
	slot = dp_vec_push(v, sizeof rel);
	if (slot == NULL)
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	memcpy(slot, &rel, sizeof rel);
	return true;
}

/* Keep the entry if it hits. */
static bool
look(struct job *j, const struct table *t, const struct entry *in,
     struct dp_err *e)
{
	const struct dp_span *hit;

	if (in->off < j->lo || in->off >= j->hi)
		return true;
	hit = dp_spans_find(&j->spans, t->sec, in->off);
	return hit == NULL || keep(j, t, in, hit, e);
}

/* Decode the REL or RELA entries in the chunk. */
static bool
read_entries(struct job *j, const struct table *t, struct dp_err *e)
{
	const unsigned word = j->elf->word;
	struct dp_rd r = dp_rd_init(dp_buf_bytes(&j->chunk), j->elf->order);
	struct entry in = { 0 };

	for (uint64_t at = 0; at + t->each <= j->chunk.n; at += t->each) {
		dp_rd_seek(&r, at);
		in.off = dp_rd_word(&r, word);
		in.info = dp_rd_word(&r, word);
		if (t->form == FORM_RELA && word == 8)
			in.addend = (int64_t)dp_rd_u64(&r);
		else if (t->form == FORM_RELA)
			in.addend = (int32_t)dp_rd_u32(&r);
		if (!look(j, t, &in, e))
			return false;
	}
	return true;
}

/*
 * Decode the RELR words in the chunk: an even word is the place of one
 * relocation, an odd one a map of the words behind the last place.
 * *next_io is the place where the next map begins.
 */
static bool
read_relr(struct job *j, const struct table *t, uint64_t *next_io,
          struct dp_err *e)
{
	const unsigned word = j->elf->word;
	const uint64_t mask = word == 4 ? UINT32_MAX : UINT64_MAX;
	struct dp_rd r = dp_rd_init(dp_buf_bytes(&j->chunk), j->elf->order);
	struct entry in = { 0 };
	uint64_t v;

	while (dp_rd_left(&r) >= word) {
		v = dp_rd_word(&r, word);
		if ((v & 1) == 0) {
			in.off = v;
			if (!look(j, t, &in, e))
				return false;
			*next_io = (v + word) & mask;
			continue;
		}
		in.off = *next_io;
		*next_io = (*next_io + (UINT64_C(8) * word - 1) * word) & mask;
		for (v >>= 1; v != 0; v >>= 1) {
			if ((v & 1) && !look(j, t, &in, e))
				return false;
			in.off = (in.off + word) & mask;
		}
	}
	return true;
}

/* Note that a table is broken; the others may be fine. */
static void
trouble(struct job *j, const struct table *t, const char *what)
{
	(void)dp_err_set(&j->rs->trouble, DP_EFORMAT, t->off,
	                 "relocation table: %s", what);
}

/* Check the shape of the table; false when it is of no use. */
static bool
check_table(struct job *j, struct table *t)
{
	const unsigned word = j->elf->word;
	const uint64_t len[] = { [FORM_REL] = UINT64_C(2) * word,
		                 [FORM_RELA] = UINT64_C(3) * word,
		                 [FORM_RELR] = word };

	if (t->each == 0 || t->form == FORM_RELR)
		t->each = len[t->form];
	if (t->each < len[t->form] || t->each > ENTSIZE_MAX) {
		trouble(j, t, "odd size of an entry");
		return false;
	}
	if (!dp_range_ok(t->off, t->size, j->elf->src.size)) {
		trouble(j, t, "outside the file");
		if (t->off >= j->elf->src.size)
			return false;
		t->size = j->elf->src.size - t->off;
	}
	return true;
}

static bool
read_table(struct job *j, struct table *t, struct dp_err *e)
{
	uint64_t at = 0, next = 0, cost;
	size_t n;
	bool ok;

	j->rs->tables++;
	if (!check_table(j, t))
		return true;
	/* no overflow: the size lies in the file */
	cost = t->size / (t->form == FORM_RELR ? 1 : RELR_COST);
	if (cost > j->budget / RELR_COST)
		return dp_err_set(e, DP_ELIMIT, t->off,
		                  "relocation tables are too large");
	j->budget -= cost * RELR_COST;
	while (at < t->size) {
		n = (size_t)(CHUNK / t->each * t->each);
		n = t->size - at < n ? (size_t)(t->size - at) : n;
		j->chunk.n = 0;
		if (!dp_src_some(&j->elf->src, t->off + at, &j->chunk, n, e))
			return false;
		ok = t->form == FORM_RELR ? read_relr(j, t, &next, e)
		                          : read_entries(j, t, e);
		if (!ok)
			return false;
		if (j->chunk.n < n) {
			trouble(j, t, "cut");
			break;
		}
		at += n;
	}
	return true;
}

/* The tables that section headers name. */
static bool
read_sections(struct job *j, struct dp_err *e)
{
	const struct dp_elf_sec *sec;
	struct table t;

	for (size_t i = 0; i < j->elf->secs.n; i++) {
		sec = dp_elf_sec(j->elf, i);
		t = (struct table){ .off = sec->off,
			            .size = sec->size,
			            .each = sec->entsize };
		if (sec->type == SHT_REL)
			t.form = FORM_REL;
		else if (sec->type == SHT_RELA)
			t.form = FORM_RELA;
		else if (sec->type == SHT_RELR)
			t.form = FORM_RELR;
		else
			continue;
		/* unallocated ones are left by the linker's -q: applied */
		if (!is_rel(j) && (sec->flags & SHF_ALLOC) == 0)
			continue;
		if (is_rel(j) &&
		    dp_spans_find(&j->wanted, 0, sec->info) == NULL)
			continue;
		if (sec->flags & SHF_COMPRESSED)
			continue;
		if (is_rel(j))
			t.sec = sec->info;
		t.syms = dp_symplace_of(j->elf, sec->link);
		if (!read_table(j, &t, e))
			return false;
	}
	return true;
}

/* A table that the dynamic section names. */
static bool
read_dynamic_table(struct job *j, const struct dp_dynamic *d,
                   const enum dp_dyntag tags[3], struct table *t,
                   struct dp_err *e)
{
	if (!d->has[tags[0]] || !d->has[tags[1]] || d->v[tags[1]] == 0)
		return true;
	t->size = d->v[tags[1]];
	t->each =
		tags[2] != DP_DYN_COUNT && d->has[tags[2]] ? d->v[tags[2]] : 0;
	if (!dp_elf_off_of(j->elf, d->v[tags[0]], &t->off)) {
		trouble(j, t, "outside the PT_LOADs");
		return true;
	}
	return read_table(j, t, e);
}

/* The tables that a loader sees. */
static bool
read_dynamic(struct job *j, struct dp_err *e)
{
	static const enum dp_dyntag rel[] = { DP_DYN_REL, DP_DYN_RELSZ,
		                              DP_DYN_RELENT };
	static const enum dp_dyntag rela[] = { DP_DYN_RELA, DP_DYN_RELASZ,
		                               DP_DYN_RELAENT };
	static const enum dp_dyntag relr[] = { DP_DYN_RELR, DP_DYN_RELRSZ,
		                               DP_DYN_COUNT };
	static const enum dp_dyntag plt[] = { DP_DYN_JMPREL, DP_DYN_PLTRELSZ,
		                              DP_DYN_COUNT };
	struct table t = { .form = FORM_REL };
	struct dp_dynamic d;
	bool in_rela;

	if (!dp_dynamic_read(j->elf, &d, e))
		return false;
	j->rs->from_dynamic = true;
	/* the number of symbols is not said: up to the end of the file */
	if (d.has[DP_DYN_SYMTAB] &&
	    dp_elf_off_of(j->elf, d.v[DP_DYN_SYMTAB], &t.syms.off))
		t.syms.size = j->elf->src.size;
	if (d.has[DP_DYN_STRTAB] &&
	    dp_elf_off_of(j->elf, d.v[DP_DYN_STRTAB], &t.syms.str_off))
		t.syms.str_size = d.v[DP_DYN_STRSZ];
	if (!read_dynamic_table(j, &d, rel, &t, e))
		return false;
	t.form = FORM_RELA;
	if (!read_dynamic_table(j, &d, rela, &t, e))
		return false;
	t.form = FORM_RELR;
	if (!read_dynamic_table(j, &d, relr, &t, e))
		return false;
	/* some linkers count the PLT's table as a part of the other one */
	t.form = d.v[DP_DYN_PLTREL] == DT_RELA ? FORM_RELA : FORM_REL;
	in_rela = t.form == FORM_RELA ? d.v[DP_DYN_JMPREL] - d.v[DP_DYN_RELA] <
	                                        d.v[DP_DYN_RELASZ]
	                              : d.v[DP_DYN_JMPREL] - d.v[DP_DYN_REL] <
	                                        d.v[DP_DYN_RELSZ];
	return in_rela || read_dynamic_table(j, &d, plt, &t, e);
}

static int
by_place(const void *pa, const void *pb)
{
	const struct dp_reloc *a = pa, *b = pb;

	if (a->range != b->range)
		return a->range < b->range ? -1 : 1;
	if (a->off != b->off)
		return a->off < b->off ? -1 : 1;
	return (a->seq > b->seq) - (a->seq < b->seq);
}

/* Names were appended in the order of v: point at them, then sort. */
static void
finish(struct dp_relocs *rs)
{
	struct dp_reloc *rel;
	size_t at = 0;

	for (size_t i = 0; i < rs->v.n; i++) {
		rel = DP_VEC_AT(&rs->v, struct dp_reloc, i);
		if (rel->sym_name.n != 0)
			rel->sym_name.p = rs->names.p + at;
		at += rel->sym_name.n;
	}
	if (rs->v.n > 1)
		qsort(rs->v.p, rs->v.n, sizeof(struct dp_reloc), by_place);
}

bool
dp_relocs_load(struct dp_relocs *rs_ret, const struct dp_elf *elf,
               const struct dp_relrange *ranges, uint32_t n, struct dp_err *e)
{
	struct job j = {
		.elf = elf, .ranges = ranges, .rs = rs_ret, .budget = budget
	};
	bool ok;

	*rs_ret = (struct dp_relocs){ .trouble = DP_ERR_INIT };
	j.syms.xndx_sec = dp_elf_sec_typed(elf, SHT_SYMTAB_SHNDX);
	ok = index_ranges(&j, n, e);
	if (ok && j.spans.pieces.n != 0) {
		ok = read_sections(&j, e);
		if (ok && !is_rel(&j) && rs_ret->tables == 0)
			ok = read_dynamic(&j, e);
	}
	if (ok)
		finish(rs_ret);
	dp_spans_deinit(&j.spans);
	dp_spans_deinit(&j.wanted);
	dp_buf_deinit(&j.chunk);
	dp_relsym_deinit(&j.syms);
	return ok;
}

void
dp_relocs_deinit(struct dp_relocs *rs)
{
	dp_vec_deinit(&rs->v);
	dp_buf_deinit(&rs->names);
}

const char *
dp_relkind_name(enum dp_relkind kind)
{
	static const char *const names[] = {
		[DP_REL_OTHER] = "other",       [DP_REL_NONE] = "none",
		[DP_REL_RELATIVE] = "relative", [DP_REL_SYMBOL] = "symbol",
		[DP_REL_PCREL] = "pcrel",
	};

	if ((size_t)kind >= sizeof names / sizeof names[0])
		return names[DP_REL_OTHER];
	return names[kind];
}
