/* SPDX-License-Identifier: BSD-2-Clause */
/* An ELF under construction: shared by mkelf.c and mkelfsec.c only. */
#ifndef DP_TEST_MKELF_H
#define DP_TEST_MKELF_H

#include "mk.h"

enum {
	ELF_MAX_SECS = 4096,
	ELF_MAX_PHDRS = 256,
	ELF_NOBITS = 8,
};

struct elf_sec {
	const char *name;
	struct mk_stmt *s; /* NULL: the string table of the section before */
	uint64_t name_off, type, flags, addr, off, size, link, info, align,
		entsize;
	unsigned int load; /* index of its phdr + 1, or 0 */
	struct mk_buf data;
};

struct elf_phdr {
	struct mk_stmt *s;
	uint64_t type, flags, off, vaddr, paddr, filesz, memsz, align;
	bool placed; /* a load whose first section has its place */
};

/* One symbol, for &NAME and for relocations. */
struct elf_sym {
	struct elf_sym *next;
	const char *name;
	unsigned int sec, index; /* the table, and the place in it */
	uint64_t value;
};

struct mk_elf {
	struct mk *mk;
	struct mk_stmt *s;
	struct mk_ctx c; /* class and order of this ELF */
	unsigned int pass;
	struct elf_sec *secs; /* [0] is the null section */
	unsigned int nsecs, cap;
	struct elf_phdr phdrs[ELF_MAX_PHDRS];
	unsigned int nphdrs;
	struct elf_sym *syms;
	uint64_t end; /* of what has its place so far */
};

/* mkelfsec.c: fill, or fill again, the data of one section. */
void elf_fill(struct mk_elf *e, unsigned int i);
/* The index of a named section; dies when there is none. */
unsigned int elf_find(struct mk_elf *e, const struct mk_stmt *s,
                      const char *name);

#endif /* DP_TEST_MKELF_H */
