/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoding of ELF's header and table records, for lib/elf's own use.  The
 * layouts are those of <elf.h>; bytes in, values out, nothing is checked
 * beyond the record itself.
 */
#ifndef DP_HDR_H
#define DP_HDR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "elf/object.h"

/* The header of an ELF file, both classes. */
struct dp_ehdr {
	enum dp_order order;
	unsigned word; /* 4 or 8 */
	uint8_t osabi, abiversion;
	uint16_t type, machine;
	uint32_t flags;
	uint64_t entry, phoff, shoff;
	uint16_t phentsize, phnum, shentsize, shnum, shstrndx;
};

/* A symbol table entry, both classes. */
struct dp_esym {
	uint32_t name; /* offset in the string table */
	uint8_t info, other;
	uint16_t shndx; /* raw: may be SHN_XINDEX */
	uint64_t value, size;
};

/* Bytes of one record, by class; all fit 32 bits. */
static inline uint32_t
dp_shdr_len(unsigned word)
{
	return word == 4 ? 40 : 64;
}

static inline uint32_t
dp_phdr_len(unsigned word)
{
	return word == 4 ? 32 : 56;
}

static inline uint32_t
dp_esym_len(unsigned word)
{
	return word == 4 ? 16 : 24;
}

/*
 * Decode and check the identification and the header.  DP_EFORMAT when it
 * is no ELF or cut, DP_EUNSUP for a class, order or version of another ELF.
 */
bool dp_ehdr_read(struct dp_bytes in, struct dp_ehdr *h_ret, struct dp_err *e);

/* Decode one section header at `r`; name_off_ret gets sh_name. */
void dp_shdr_read(struct dp_rd *r, unsigned word, struct dp_elf_sec *s_ret,
                  uint32_t *name_off_ret);
void dp_phdr_read(struct dp_rd *r, unsigned word, struct dp_elf_seg *p_ret);
void dp_esym_read(struct dp_rd *r, unsigned word, struct dp_esym *s_ret);

#endif /* DP_HDR_H */
