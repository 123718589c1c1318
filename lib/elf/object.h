/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One ELF object: its header, program headers and section headers, and the
 * bytes of its sections.  Both classes and orders.  The tables are decoded
 * here with every range checked; libelf gets to see nothing but the data of
 * compressed sections (elf/inflate.c).  Not what the sections mean.
 *
 * An opened object does not change, so threads may read one together; what
 * they read into is their own.
 */
#ifndef DP_OBJECT_H
#define DP_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "elf/source.h"
#include "elf/spans.h"

enum {
	DP_SHT_SUNW_DOF = 0x6ffffff4, /* sh_type of .SUNW_dof */
	DP_ELF_NAME_MAX = 4096,       /* a section name is cut to these bytes */
	DP_ELF_STR_MAX = 4096, /* dp_elf_rodata_str: most bytes, NUL not in */
};

/* A program header, as it stands in the file. */
struct dp_elf_seg {
	uint32_t type;  /* PT_* */
	uint32_t flags; /* PF_* */
	uint64_t vaddr;
	uint64_t off; /* file offset in the object; may lie outside of it */
	uint64_t filesz;
	uint64_t memsz;
	uint64_t align;
};

/* A section header, as it stands in the file, with its name. */
struct dp_elf_sec {
	struct dp_bytes name; /* borrowed from the dp_elf; may be empty */
	uint32_t index;
	uint32_t type; /* SHT_* */
	uint32_t link;
	uint32_t info;
	uint64_t flags; /* SHF_* */
	uint64_t addr;
	uint64_t off;  /* file offset in the object; may lie outside of it */
	uint64_t size; /* in the file, for a compressed one: compressed */
	uint64_t entsize;
};

struct dp_elf {
	struct dp_src src; /* size is known */
	enum dp_order order;
	unsigned word; /* bytes of an address: 4 (ELFCLASS32) or 8 */
	uint16_t type; /* ET_* */
	uint16_t machine;
	uint8_t osabi;
	uint8_t abiversion;
	uint32_t flags; /* e_flags */
	uint64_t entry;
	struct dp_vec segs; /* of struct dp_elf_seg: all, in file order */
	struct dp_vec secs; /* of struct dp_elf_sec: all; [0] is the null one */
	struct dp_buf names;    /* .shstrtab; empty when it is of no use */
	struct dp_spans loads;  /* file-backed parts of the PT_LOADs */
	struct dp_err segs_why; /* why segs is empty; DP_OK: it is not wrong */
	struct dp_err secs_why; /* why secs is empty or has no names */
};

/*
 * Read header and tables of the object in `src`, whose fd is borrowed until
 * dp_elf_close().  Fails when it is no ELF, when the header itself is cut or
 * contradicts itself, and on I/O and memory.  A table that cannot be used
 * (outside the file, over a limit) is left empty and segs_why or secs_why
 * says why: the other one may still serve.
 */
bool dp_elf_open(struct dp_elf *elf_ret, const struct dp_src *src,
                 struct dp_err *e);

/* Free all; a zeroed one is fine. */
void dp_elf_close(struct dp_elf *elf);

/* The section number `i`, or NULL when there is none. */
const struct dp_elf_sec *dp_elf_sec(const struct dp_elf *elf, uint64_t i);

/* The first section of that name, or NULL. */
const struct dp_elf_sec *dp_elf_sec_named(const struct dp_elf *elf,
                                          const char *name);

/* The first section of that type (SHT_*), or NULL. */
const struct dp_elf_sec *dp_elf_sec_typed(const struct dp_elf *elf,
                                          uint32_t type);

/* The first program header of that type (PT_*), or NULL. */
const struct dp_elf_seg *dp_elf_seg_typed(const struct dp_elf *elf,
                                          uint32_t type);

/*
 * Replace what `buf` (the caller's) holds by the data of a section; a
 * compressed one is unpacked.  A section without data in the file
 * (SHT_NOBITS, SHT_NULL, size 0) gives buf->n = 0 and true.  Fails with
 * DP_EFORMAT, DP_ELIMIT (over DP_MAX_ELF_SECTION), DP_EUNSUP (way of
 * compression), DP_EIO, DP_ENOMEM.
 */
bool dp_elf_sec_read(const struct dp_elf *elf, const struct dp_elf_sec *sec,
                     struct dp_buf *buf, struct dp_err *e);

/*
 * The PT_LOAD whose part in the file holds `vaddr`, or NULL.  Where several
 * do, the last one: a loader maps it over the others.
 */
const struct dp_elf_seg *dp_elf_load_of(const struct dp_elf *elf,
                                        uint64_t vaddr);

/*
 * File offset of `vaddr` through dp_elf_load_of(); false when no PT_LOAD
 * holds it or the sum wraps, with *off_ret untouched.
 */
bool dp_elf_off_of(const struct dp_elf *elf, uint64_t vaddr, uint64_t *off_ret);

/*
 * The NUL-terminated string at `vaddr`, read out of section .rodata, or out
 * of the PT_LOAD that holds it when there is no such section.  `buf` gets
 * it without its NUL.  DP_EFORMAT when it lies outside or does not end.
 */
bool dp_elf_rodata_str(const struct dp_elf *elf, uint64_t vaddr,
                       struct dp_buf *buf, struct dp_err *e);

/* The same for who has the section (or NULL) at hand and many to read. */
bool dp_elf_str_at(const struct dp_elf *elf, const struct dp_elf_sec *rodata,
                   uint64_t vaddr, struct dp_buf *buf, struct dp_err *e);

#endif /* DP_OBJECT_H */
