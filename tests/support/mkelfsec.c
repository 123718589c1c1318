/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data of ELF sections: any content, symbol tables with their strings,
 * relocations.  Also what @SECTION, %SECTION and &SYMBOL are.
 */
#include <string.h>

#include "mkelf.h"

static const struct mk_const reloc_types[] = {
	/* clang-format off */
	{ "R_X86_64_64", 1 },        { "R_X86_64_GLOB_DAT", 6 },
	{ "R_X86_64_RELATIVE", 8 },  { "R_X86_64_PC64", 24 },
	{ "R_386_32", 1 },           { "R_386_PC32", 2 },
	{ "R_386_RELATIVE", 8 },     { "R_AARCH64_ABS64", 257 },
	{ "R_AARCH64_PREL64", 260 }, { "R_AARCH64_RELATIVE", 1027 },
	{ "R_ARM_ABS32", 2 },        { "R_ARM_RELATIVE", 23 },
	{ "R_PPC_ADDR32", 1 },       { "R_PPC_RELATIVE", 22 },
	{ "R_PPC64_ADDR64", 38 },    { "R_PPC64_REL64", 44 },
	{ "R_PPC64_RELATIVE", 22 },  { "R_390_64", 22 },
	{ "R_390_RELATIVE", 12 },    { "R_RISCV_64", 2 },
	{ "R_RISCV_RELATIVE", 3 },   { 0 },
	/* clang-format on */
};

unsigned int
elf_find(struct mk_elf *e, const struct mk_stmt *s, const char *name)
{
	unsigned int i;

	for (i = 1; i < e->nsecs; i++)
		if (strcmp(e->secs[i].name, name) == 0)
			return i;
	mk_die(e->mk, s->line, "no section %s", name);
}

static struct elf_sym *
find_sym(struct mk_elf *e, const char *name, unsigned int sec)
{
	struct elf_sym *y;

	for (y = e->syms; y != NULL; y = y->next)
		if (strcmp(y->name, name) == 0 && (sec == 0 || y->sec == sec))
			return y;
	return NULL;
}

uint64_t
mk_elf_lookup(const struct mk_ctx *c, const struct mk_stmt *s, char sigil,
              struct mk_word name)
{
	const struct elf_sec *sec;
	const struct elf_sym *y;

	if (c->elf == NULL)
		mk_die(c->mk, s->line, "%c%s outside of an elf", sigil, name.s);
	if (sigil == '&') {
		y = find_sym(c->elf, name.s, 0);
		if (y == NULL && c->elf->pass == 2)
			mk_die(c->mk, s->line, "no symbol %s", name.s);
		return y == NULL ? 0 : y->value;
	}
	sec = &c->elf->secs[elf_find(c->elf, s, name.s)];
	return sigil == '@' ? sec->addr : sec->size;
}

/* st_shndx: a section's name, `abs`, `undef`, or a number. */
static uint64_t
sym_section(struct mk_elf *e, struct mk_stmt *s)
{
	struct mk_word w = mk_key(s, "section");

	if (w.s == NULL || strcmp(w.s, "undef") == 0)
		return 0;
	if (strcmp(w.s, "abs") == 0)
		return 0xfff1;
	if (w.s[0] >= '0' && w.s[0] <= '9')
		return mk_value(&e->c, s, w);
	return elf_find(e, s, w.s);
}

static void
remember_sym(struct mk_elf *e, struct elf_sym y)
{
	struct elf_sym *p = find_sym(e, y.name, y.sec);

	if (p == NULL) {
		p = mk_alloc(e->mk, sizeof(*p));
		y.next = e->syms;
		e->syms = p;
	} else {
		y.next = p->next;
	}
	*p = y;
}

/* One `sym NAME value= size= type= bind= section=`. */
static void
put_sym(struct mk_elf *e, struct mk_stmt *s, unsigned int i, unsigned int index)
{
	static const struct mk_const types[] = {
		{ "notype", 0 },  { "object", 1 }, { "func", 2 },
		{ "section", 3 }, { "file", 4 },   { "tls", 6 },
		{ "ifunc", 10 },  { 0 },
	};
	static const struct mk_const binds[] = {
		{ "local", 0 },
		{ "global", 1 },
		{ "weak", 2 },
		{ 0 },
	};
	struct mk_buf *b = &e->secs[i].data, *str = &e->secs[i + 1].data;
	struct mk_word name = mk_need(e->mk, s, 0);
	uint64_t value = mk_num(&e->c, s, "value", 0);
	uint64_t size = mk_num(&e->c, s, "size", 0);
	uint64_t bind = mk_numname(&e->c, s, "bind", binds);
	uint64_t info = bind << 4 | mk_numname(&e->c, s, "type", types);
	uint64_t other = mk_num(&e->c, s, "other", 0);
	bool msb = e->c.msb;

	mk_uint(b, msb, 4, name.n ? str->n : 0);
	if (name.n != 0)
		mk_put(str, name.s, name.n + 1);
	if (!e->c.wide) {
		mk_uint(b, msb, 4, value);
		mk_uint(b, msb, 4, size);
	}
	mk_uint(b, msb, 1, info);
	mk_uint(b, msb, 1, other);
	mk_uint(b, msb, 2, sym_section(e, s));
	if (e->c.wide) {
		mk_uint(b, msb, 8, value);
		mk_uint(b, msb, 8, size);
	}
	if (bind == 0)
		e->secs[i].info = index + 1;
	remember_sym(e, (struct elf_sym){ NULL, name.s, i, index, value });
}

static void
fill_symbols(struct mk_elf *e, unsigned int i)
{
	struct mk_buf *str = &e->secs[i + 1].data;
	struct elf_sec *sec = &e->secs[i];
	unsigned int index = 1;
	struct mk_stmt *s;

	*str = (struct mk_buf){ .mk = e->mk };
	mk_put(str, "", 1);
	mk_fill(&sec->data, e->c.wide ? 24 : 16, 0);
	sec->info = 1;
	sec->link = i + 1;
	for (s = sec->s->kids; s != NULL; s = s->next) {
		if (strcmp(s->kw, "sym") != 0)
			mk_die(e->mk, s->line, "symbols: no %s here", s->kw);
		put_sym(e, s, i, index++);
	}
}

/* One `reloc at= type= sym= addend=`. */
static void
put_reloc(struct mk_elf *e, struct mk_stmt *s, struct elf_sec *sec)
{
	struct mk_word sym = mk_key(s, "sym");
	uint64_t type =
		mk_named(&e->c, s, mk_needkey(e->mk, s, "type"), reloc_types);
	unsigned int size = e->c.wide ? 8 : 4;
	const struct elf_sym *y = NULL;
	uint64_t index = 0;

	if (sym.s != NULL && sym.s[0] >= '0' && sym.s[0] <= '9') {
		index = mk_value(&e->c, s, sym);
	} else if (sym.s != NULL) {
		y = find_sym(e, sym.s, (unsigned int)sec->link);
		if (y == NULL && e->pass == 2)
			mk_die(e->mk, s->line, "no symbol %s", sym.s);
		index = y == NULL ? 0 : y->index;
	}
	mk_uint(&sec->data, e->c.msb, size, mk_num(&e->c, s, "at", 0));
	mk_uint(&sec->data, e->c.msb, size,
	        e->c.wide ? index << 32 | type : index << 8 | type);
	if (sec->type == 4)
		mk_uint(&sec->data, e->c.msb, size,
		        mk_num(&e->c, s, "addend", 0));
}

static void
fill_relocs(struct mk_elf *e, struct elf_sec *sec)
{
	struct mk_stmt *s;

	for (s = sec->s->kids; s != NULL; s = s->next) {
		if (strcmp(s->kw, "reloc") != 0)
			mk_die(e->mk, s->line, "relocs: no %s here", s->kw);
		put_reloc(e, s, sec);
	}
}

void
elf_fill(struct mk_elf *e, unsigned int i)
{
	struct elf_sec *sec = &e->secs[i];
	struct mk_block b = { .buf.mk = e->mk };
	struct mk_ctx c = e->c;

	if (sec->s == NULL)
		return;
	sec->data = b.buf;
	if (strcmp(sec->s->kw, "symbols") == 0) {
		fill_symbols(e, i);
	} else if (strcmp(sec->s->kw, "relocs") == 0) {
		fill_relocs(e, sec);
	} else {
		c.vaddr = sec->addr;
		mk_content(&c, sec->s->kids, &b);
		sec->data = b.buf;
	}
}
