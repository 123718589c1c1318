/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/hdr.h"

#include <elf.h>

bool
dp_ehdr_read(struct dp_bytes in, struct dp_ehdr *h_ret, struct dp_err *e)
{
	struct dp_rd r = dp_rd_init(in, DP_LE);
	struct dp_bytes id = dp_rd_take(&r, EI_NIDENT);
	struct dp_ehdr h = { 0 };

	if (id.n == 0 || memcmp(id.p, ELFMAG, SELFMAG) != 0)
		return dp_err_set(e, DP_EFORMAT, 0, "not an ELF file");
	if (id.p[EI_CLASS] != ELFCLASS32 && id.p[EI_CLASS] != ELFCLASS64)
		return dp_err_set(e, DP_EUNSUP, EI_CLASS, "ELF class %d",
		                  id.p[EI_CLASS]);
	if (id.p[EI_DATA] != ELFDATA2LSB && id.p[EI_DATA] != ELFDATA2MSB)
		return dp_err_set(e, DP_EUNSUP, EI_DATA, "ELF byte order %d",
		                  id.p[EI_DATA]);
	if (id.p[EI_VERSION] != EV_CURRENT)
		return dp_err_set(e, DP_EUNSUP, EI_VERSION, "ELF version %d",
		                  id.p[EI_VERSION]);
	h.word = id.p[EI_CLASS] == ELFCLASS32 ? 4 : 8;
	h.order = id.p[EI_DATA] == ELFDATA2LSB ? DP_LE : DP_BE;
	h.osabi = id.p[EI_OSABI];
	h.abiversion = id.p[EI_ABIVERSION];
	r.order = h.order;
	h.type = dp_rd_u16(&r);
	h.machine = dp_rd_u16(&r);
	(void)dp_rd_u32(&r); /* e_version: nobody looks at it */
	h.entry = dp_rd_word(&r, h.word);
	h.phoff = dp_rd_word(&r, h.word);
	h.shoff = dp_rd_word(&r, h.word);
	h.flags = dp_rd_u32(&r);
	(void)dp_rd_u16(&r); /* e_ehsize */
	h.phentsize = dp_rd_u16(&r);
	h.phnum = dp_rd_u16(&r);
	h.shentsize = dp_rd_u16(&r);
	h.shnum = dp_rd_u16(&r);
	h.shstrndx = dp_rd_u16(&r);
	if (!dp_rd_ok(&r))
		return dp_err_set(e, DP_EFORMAT, in.n, "ELF header is cut");
	*h_ret = h;
	return true;
}

void
dp_shdr_read(struct dp_rd *r, unsigned word, struct dp_elf_sec *s_ret,
             uint32_t *name_off_ret)
{
	struct dp_elf_sec s = { 0 };

	*name_off_ret = dp_rd_u32(r);
	s.type = dp_rd_u32(r);
	s.flags = dp_rd_word(r, word);
	s.addr = dp_rd_word(r, word);
	s.off = dp_rd_word(r, word);
	s.size = dp_rd_word(r, word);
	s.link = dp_rd_u32(r);
	s.info = dp_rd_u32(r);
	(void)dp_rd_word(r, word); /* sh_addralign */
	s.entsize = dp_rd_word(r, word);
	*s_ret = s;
}

/* p_flags stands second in ELF64 and last but one in ELF32. */
void
dp_phdr_read(struct dp_rd *r, unsigned word, struct dp_elf_seg *p_ret)
{
	struct dp_elf_seg p = { 0 };

	p.type = dp_rd_u32(r);
	if (word == 8)
		p.flags = dp_rd_u32(r);
	p.off = dp_rd_word(r, word);
	p.vaddr = dp_rd_word(r, word);
	(void)dp_rd_word(r, word); /* p_paddr */
	p.filesz = dp_rd_word(r, word);
	p.memsz = dp_rd_word(r, word);
	if (word == 4)
		p.flags = dp_rd_u32(r);
	p.align = dp_rd_word(r, word);
	*p_ret = p;
}

/* st_value and st_size stand last in ELF64 and second in ELF32. */
void
dp_esym_read(struct dp_rd *r, unsigned word, struct dp_esym *s_ret)
{
	struct dp_esym s = { 0 };

	s.name = dp_rd_u32(r);
	if (word == 4) {
		s.value = dp_rd_u32(r);
		s.size = dp_rd_u32(r);
	}
	s.info = dp_rd_u8(r);
	s.other = dp_rd_u8(r);
	s.shndx = dp_rd_u16(r);
	if (word == 8) {
		s.value = dp_rd_u64(r);
		s.size = dp_rd_u64(r);
	}
	*s_ret = s;
}
