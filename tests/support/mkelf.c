/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `elf`: headers and layout.  Sections are filled three times: for their
 * sizes, for the symbols once all have addresses, and for good.
 */
#include <string.h>

#include "mkelf.h"

static const struct mk_const machines[] = {
	/* clang-format off */
	{ "x86_64", 62 }, { "i386", 3 },   { "aarch64", 183 }, { "arm", 40 },
	{ "ppc", 20 },    { "ppc64", 21 }, { "s390x", 22 },    { "riscv", 243 },
	{ "sparc", 2 },   { "sparcv9", 43 }, { "mips", 8 },    { 0 },
	/* clang-format on */
};

static const struct mk_const sec_types[] = {
	/* clang-format off */
	{ "progbits", 1 }, { "null", 0 },    { "symtab", 2 },  { "strtab", 3 },
	{ "rela", 4 },     { "hash", 5 },    { "dynamic", 6 }, { "note", 7 },
	{ "nobits", 8 },   { "rel", 9 },     { "dynsym", 11 }, { "relr", 19 },
	{ "symtab_shndx", 18 }, { "dof", 0x6ffffff4 }, { 0 },
	/* clang-format on */
};

static const struct mk_const ph_types[] = {
	/* clang-format off */
	{ "load", 1 }, { "dynamic", 2 }, { "interp", 3 }, { "note", 4 },
	{ "phdr", 6 }, { "tls", 7 },     { "null", 0 },   { 0 },
	/* clang-format on */
};

static const struct mk_field header_fields[] = {
	/* clang-format off */
	{ "magic", 0, 4, 0, 4 },       { "class", 4, 1, 4, 1 },
	{ "data", 5, 1, 5, 1 },        { "identversion", 6, 1, 6, 1 },
	{ "osabi", 7, 1, 7, 1 },       { "type", 16, 2, 16, 2 },
	{ "machine", 18, 2, 18, 2 },   { "version", 20, 4, 20, 4 },
	{ "entry", 24, 4, 24, 8 },     { "phoff", 28, 4, 32, 8 },
	{ "shoff", 32, 4, 40, 8 },     { "flags", 36, 4, 48, 4 },
	{ "ehsize", 40, 2, 52, 2 },    { "phentsize", 42, 2, 54, 2 },
	{ "phnum", 44, 2, 56, 2 },     { "shentsize", 46, 2, 58, 2 },
	{ "shnum", 48, 2, 60, 2 },     { "shstrndx", 50, 2, 62, 2 },
	{ 0 },
	/* clang-format on */
};

static const struct mk_field section_fields[] = {
	/* clang-format off */
	{ "name", 0, 4, 0, 4 },    { "type", 4, 4, 4, 4 },
	{ "flags", 8, 4, 8, 8 },   { "addr", 12, 4, 16, 8 },
	{ "offset", 16, 4, 24, 8 }, { "size", 20, 4, 32, 8 },
	{ "link", 24, 4, 40, 4 },  { "info", 28, 4, 44, 4 },
	{ "align", 32, 4, 48, 8 }, { "entsize", 36, 4, 56, 8 },
	{ 0 },
	/* clang-format on */
};

static const struct mk_field phdr_fields[] = {
	/* clang-format off */
	{ "type", 0, 4, 0, 4 },    { "flags", 24, 4, 4, 4 },
	{ "offset", 4, 4, 8, 8 },  { "vaddr", 8, 4, 16, 8 },
	{ "paddr", 12, 4, 24, 8 }, { "filesz", 16, 4, 32, 8 },
	{ "memsz", 20, 4, 40, 8 }, { "align", 28, 4, 48, 8 },
	{ 0 },
	/* clang-format on */
};

static struct elf_sec *
add_sec(struct mk_elf *e, struct mk_stmt *s, const char *name)
{
	struct elf_sec *p;

	if (e->nsecs == ELF_MAX_SECS)
		mk_die(e->mk, s == NULL ? 0 : s->line, "too many sections");
	if (e->nsecs == e->cap) {
		e->cap = e->cap == 0 ? 16 : e->cap * 2;
		p = mk_alloc(e->mk, e->cap * sizeof(*p));
		if (e->nsecs != 0)
			memcpy(p, e->secs, e->nsecs * sizeof(*p));
		e->secs = p;
	}
	e->secs[e->nsecs] =
		(struct elf_sec){ .s = s, .name = name, .data.mk = e->mk };
	return &e->secs[e->nsecs++];
}

/* `flags=` letters, one bit each; or a number. */
static uint64_t
letters(const struct mk_ctx *c, struct mk_stmt *s, const char *set,
        const uint16_t *bits)
{
	struct mk_word w = mk_key(s, "flags");
	uint64_t v = 0;
	const char *p, *d;

	if (w.s == NULL)
		return 0;
	if (w.s[0] >= '0' && w.s[0] <= '9')
		return mk_value(c, s, w);
	for (p = w.s; *p != '\0'; p++) {
		d = strchr(set, *p);
		if (d == NULL)
			mk_die(c->mk, s->line, "flags: what is %c?", *p);
		v |= bits[d - set];
	}
	return v;
}

static uint64_t
sec_flags(const struct mk_ctx *c, struct mk_stmt *s)
{
	static const uint16_t bits[] = { 1, 2, 4, 16, 32, 0x200, 0x400, 0x800 };

	return letters(c, s, "waxMSGTC", bits);
}

/* Make the section of one statement; its data comes later. */
static void
collect_section(struct mk_elf *e, struct mk_stmt *s, unsigned int load)
{
	const char *name = mk_need(e->mk, s, 0).s;
	bool dynsym = strcmp(name, ".dynsym") == 0;
	struct elf_sec *x = add_sec(e, s, name);
	struct mk_word w = mk_key(s, "type");
	unsigned int word = e->c.wide ? 8 : 4;

	x->load = load;
	x->type = w.s ? mk_named(&e->c, s, w, sec_types) : 1;
	x->flags = sec_flags(&e->c, s);
	x->align = mk_num(&e->c, s, "align", 1);
	x->entsize = mk_num(&e->c, s, "entsize", 0);
	if (strcmp(s->kw, "symbols") == 0) {
		x->type = w.s ? x->type : dynsym ? 11 : 2;
		x->align = word;
		x->entsize = e->c.wide ? 24 : 16;
		x = add_sec(e, NULL, dynsym ? ".dynstr" : ".strtab");
		x->type = 3;
		x->align = 1;
		x->flags = e->secs[e->nsecs - 2].flags;
		x->load = load;
	} else if (strcmp(s->kw, "relocs") == 0) {
		w = mk_key(s, "kind");
		x->type = w.s && strcmp(w.s, "rel") == 0 ? 9 : 4;
		x->align = word;
		x->entsize = x->type == 4 ? 3 * word : 2 * word;
	} else if (strcmp(s->kw, "section") != 0) {
		mk_die(e->mk, s->line, "elf: no %s here", s->kw);
	}
}

static void
collect(struct mk_elf *e)
{
	struct mk_stmt *s, *k;
	bool load;

	add_sec(e, NULL, "");
	for (s = e->s->kids; s != NULL; s = s->next) {
		load = strcmp(s->kw, "load") == 0;
		if (load || strcmp(s->kw, "phdr") == 0) {
			if (e->nphdrs == ELF_MAX_PHDRS)
				mk_die(e->mk, s->line, "too many headers");
			e->phdrs[e->nphdrs++].s = s;
			for (k = load ? s->kids : NULL; k; k = k->next)
				collect_section(e, k, e->nphdrs);
		} else if (!mk_is_override(s)) {
			collect_section(e, s, 0);
		}
	}
	if (!mk_num(&e->c, e->s, "noshdr", 0)) {
		add_sec(e, NULL, ".shstrtab")->type = 3;
		e->secs[e->nsecs - 1].align = 1;
	}
}

/* link= and info=: the name of a section, or a number. */
static uint64_t
sec_ref(struct mk_elf *e, struct mk_stmt *s, const char *key, uint64_t def)
{
	struct mk_word w = mk_key(s, key);

	if (w.s == NULL)
		return def;
	if (w.s[0] >= '0' && w.s[0] <= '9')
		return mk_value(&e->c, s, w);
	return elf_find(e, s, w.s);
}

static void
link_sections(struct mk_elf *e)
{
	struct elf_sec *x;
	unsigned int i;

	for (i = 1; i < e->nsecs; i++) {
		x = &e->secs[i];
		if (x->s == NULL)
			continue;
		x->link = sec_ref(e, x->s, "link", x->link);
		x->info = sec_ref(e, x->s, "info", x->info);
		if (strcmp(x->s->kw, "relocs") == 0) {
			x->link = sec_ref(e, x->s, "symbols", x->link);
			x->info = sec_ref(e, x->s, "target", x->info);
		}
	}
}

static uint64_t
align_up(uint64_t v, uint64_t align)
{
	return align > 1 && v % align != 0 ? v + align - v % align : v;
}

/* Where a section of a segment stands; the first one places the segment. */
static void
place_loaded(struct mk_elf *e, struct elf_sec *x)
{
	struct elf_phdr *p = &e->phdrs[x->load - 1];
	uint64_t page = mk_num(&e->c, e->s, "page", 16);
	struct mk_word w = { 0 };

	if (x->s != NULL)
		w = mk_key(x->s, "addr");
	if (!p->placed) {
		p->vaddr = mk_num(&e->c, p->s, "vaddr",
		                  w.s ? mk_value(&e->c, x->s, w) : 0);
		p->off = align_up(e->end, page);
		if (page > 1)
			p->off += p->vaddr % page;
		p->off = mk_num(&e->c, p->s, "fileoff", p->off);
		p->memsz = p->off == 0 ? e->end : 0;
		p->filesz = p->memsz;
		p->placed = true;
	}
	x->addr = align_up(p->vaddr + p->memsz, x->align);
	if (w.s != NULL)
		x->addr = mk_value(&e->c, x->s, w);
	x->off = p->off + (x->addr - p->vaddr);
	p->memsz = x->addr + x->size - p->vaddr;
	if (x->type != ELF_NOBITS)
		p->filesz = p->memsz;
}

static void
place_section(struct mk_elf *e, struct elf_sec *x)
{
	unsigned int line = x->s == NULL ? 0 : x->s->line;

	x->size = x->data.n;
	if (x->type == ELF_NOBITS && x->s != NULL)
		x->size = mk_num(&e->c, x->s, "size", 0);
	if (x->load != 0) {
		place_loaded(e, x);
	} else {
		x->off = align_up(e->end, x->align);
		if (x->s != NULL) {
			x->addr = mk_num(&e->c, x->s, "addr", 0);
			x->off = mk_num(&e->c, x->s, "off", x->off);
		}
	}
	if (x->type == ELF_NOBITS)
		return;
	if (x->off > MK_MAX_ZERO)
		mk_die(e->mk, line, "section %s: offset 0x%llx", x->name,
		       (unsigned long long)x->off);
	if (x->off < e->end && x->size != 0)
		mk_die(e->mk, line, "section %s: overlaps what is before it",
		       x->name);
	if (x->off + x->size > e->end)
		e->end = x->off + x->size;
}

/* What the statement of a program header says over what the layout gave. */
static void
finish_phdr(struct mk_elf *e, struct elf_phdr *p)
{
	static const uint16_t bits[] = { 4, 2, 1 };
	bool load = strcmp(p->s->kw, "load") == 0;
	struct mk_word w = mk_key(p->s, "section");
	const struct elf_sec *x;

	p->type =
		load ? 1
		     : mk_named(&e->c, p->s, mk_need(e->mk, p->s, 0), ph_types);
	p->align = mk_num(&e->c, e->s, "page", 16);
	if (w.s != NULL) {
		x = &e->secs[elf_find(e, p->s, w.s)];
		p->vaddr = x->addr;
		p->off = x->off;
		p->memsz = x->size;
		p->filesz = x->type == ELF_NOBITS ? 0 : x->size;
		p->align = x->align;
	}
	p->flags = letters(&e->c, p->s, "rwx", bits);
	p->vaddr = mk_num(&e->c, p->s, "vaddr", p->vaddr);
	p->paddr = mk_num(&e->c, p->s, "paddr", p->vaddr);
	p->off = mk_num(&e->c, p->s, "fileoff", p->off);
	p->filesz = mk_num(&e->c, p->s, "filesz", p->filesz);
	p->memsz = mk_num(&e->c, p->s, "memsz", p->memsz);
	p->align = mk_num(&e->c, p->s, "align", p->align);
}

static void
name_sections(struct mk_elf *e)
{
	struct mk_buf *str = &e->secs[e->nsecs - 1].data;
	unsigned int i;

	if (mk_num(&e->c, e->s, "noshdr", 0))
		return;
	for (i = 0; i < e->nsecs; i++) {
		e->secs[i].name_off = str->n;
		mk_put(str, e->secs[i].name, strlen(e->secs[i].name) + 1);
	}
}

static void
write_phdr(struct mk_elf *e, struct mk_block *b, const struct elf_phdr *p)
{
	bool msb = e->c.msb, wide = e->c.wide;
	unsigned int word = wide ? 8 : 4;

	mk_uint(&b->buf, msb, 4, p->type);
	if (wide)
		mk_uint(&b->buf, msb, 4, p->flags);
	mk_uint(&b->buf, msb, word, p->off);
	mk_uint(&b->buf, msb, word, p->vaddr);
	mk_uint(&b->buf, msb, word, p->paddr);
	mk_uint(&b->buf, msb, word, p->filesz);
	mk_uint(&b->buf, msb, word, p->memsz);
	if (!wide)
		mk_uint(&b->buf, msb, 4, p->flags);
	mk_uint(&b->buf, msb, word, p->align);
}

static void
write_shdr(struct mk_elf *e, struct mk_block *b, const struct elf_sec *x)
{
	unsigned int word = e->c.wide ? 8 : 4;
	bool msb = e->c.msb;

	mk_uint(&b->buf, msb, 4, x->name_off);
	mk_uint(&b->buf, msb, 4, x->type);
	mk_uint(&b->buf, msb, word, x->flags);
	mk_uint(&b->buf, msb, word, x->addr);
	mk_uint(&b->buf, msb, word, x->off);
	mk_uint(&b->buf, msb, word, x->size);
	mk_uint(&b->buf, msb, 4, x->link);
	mk_uint(&b->buf, msb, 4, x->info);
	mk_uint(&b->buf, msb, word, x->align);
	mk_uint(&b->buf, msb, word, x->entsize);
}

static void
write_ehdr(struct mk_elf *e, struct mk_block *b, uint64_t shoff)
{
	static const struct mk_const types[] = {
		{ "dyn", 3 }, { "rel", 1 }, { "exec", 2 }, { "core", 4 }, { 0 },
	};
	bool msb = e->c.msb, ext = mk_num(&e->c, e->s, "extended", 0);
	unsigned int word = e->c.wide ? 8 : 4, nsh = shoff ? e->nsecs : 0;
	struct mk_buf *o = &b->buf;

	mk_put(o, "\177ELF", 4);
	mk_uint(o, msb, 1, e->c.wide ? 2 : 1);
	mk_uint(o, msb, 1, msb ? 2 : 1);
	mk_uint(o, msb, 1, 1);
	mk_uint(o, msb, 1, mk_num(&e->c, e->s, "osabi", 0));
	mk_fill(o, 8, 0);
	mk_uint(o, msb, 2, mk_numname(&e->c, e->s, "type", types));
	mk_uint(o, msb, 2, e->c.machine);
	mk_uint(o, msb, 4, 1);
	mk_uint(o, msb, word, mk_num(&e->c, e->s, "entry", 0));
	mk_uint(o, msb, word, e->nphdrs ? (e->c.wide ? 64 : 52) : 0);
	mk_uint(o, msb, word, shoff);
	mk_uint(o, msb, 4, mk_num(&e->c, e->s, "flags", 0));
	mk_uint(o, msb, 2, e->c.wide ? 64 : 52);
	mk_uint(o, msb, 2, e->c.wide ? 56 : 32);
	mk_uint(o, msb, 2, ext && nsh ? 0xffff : e->nphdrs);
	mk_uint(o, msb, 2, e->c.wide ? 64 : 40);
	mk_uint(o, msb, 2, ext ? 0 : nsh);
	mk_uint(o, msb, 2, ext && nsh ? 0xffff : nsh ? nsh - 1 : 0);
	if (ext && nsh) {
		/* elf.h: counts too large for the header go here */
		e->secs[0].size = nsh;
		e->secs[0].link = nsh - 1;
		e->secs[0].info = e->nphdrs;
	}
}

static void
write_elf(struct mk_elf *e, struct mk_block *b)
{
	bool noshdr = mk_num(&e->c, e->s, "noshdr", 0);
	uint64_t shoff = noshdr ? 0 : align_up(e->end, 8);
	const struct elf_sec *x;
	unsigned int i;

	write_ehdr(e, b, shoff);
	for (i = 0; i < e->nphdrs; i++) {
		mk_mark(b, (struct mk_mark){ .kind = "phdr",
		                             .index = i,
		                             .at = b->buf.n,
		                             .fields = phdr_fields });
		write_phdr(e, b, &e->phdrs[i]);
	}
	mk_fill(&b->buf, (shoff ? shoff : e->end) - b->buf.n, 0);
	for (i = 0; i < e->nsecs; i++) {
		x = &e->secs[i];
		if (x->type != ELF_NOBITS && i != 0 && x->data.n != x->size)
			mk_die(e->mk, e->s->line,
			       "section %s: its size hangs "
			       "on addresses",
			       x->name);
		if (x->type != ELF_NOBITS && x->data.n != 0)
			memcpy(b->buf.p + x->off, x->data.p, x->data.n);
		mk_mark(b, (struct mk_mark){ .kind = "data",
		                             .index = i,
		                             .name = x->name,
		                             .at = x->off });
		if (noshdr)
			continue;
		mk_mark(b, (struct mk_mark){ .kind = "section",
		                             .index = i,
		                             .name = x->name,
		                             .at = b->buf.n,
		                             .fields = section_fields });
		write_shdr(e, b, x);
	}
	mk_mark(b,
	        (struct mk_mark){ .kind = "header", .fields = header_fields });
}

void
mk_put_elf(const struct mk_ctx *c, struct mk_stmt *s, struct mk_block *b)
{
	static const struct mk_const orders[] = { { "lsb", 0 },
		                                  { "msb", 1 },
		                                  { 0 } };
	struct mk_elf *e = mk_alloc(c->mk, sizeof(*e));
	unsigned int i;

	e->mk = c->mk;
	e->s = s;
	e->c = *c;
	e->c.elf = e;
	e->c.msb = mk_numname(c, s, "order", orders) != 0;
	e->c.wide = mk_num(c, s, "class", 64) != 32;
	e->c.machine = (uint16_t)mk_numname(c, s, "machine", machines);
	collect(e);
	link_sections(e);
	for (i = 1; i < e->nsecs; i++)
		elf_fill(e, i);
	name_sections(e);
	e->end = e->c.wide ? 64 + 56 * e->nphdrs : 52 + 32 * e->nphdrs;
	for (i = 1; i < e->nsecs; i++)
		place_section(e, &e->secs[i]);
	for (i = 0; i < e->nphdrs; i++)
		finish_phdr(e, &e->phdrs[i]);
	for (e->pass = 1; e->pass <= 2; e->pass++)
		for (i = 1; i < e->nsecs; i++)
			elf_fill(e, i);
	e->pass = 2;
	write_elf(e, b);
	mk_overrides(&e->c, s->kids, b);
}
