/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The quick decision about a file in a walk: what is it, and if it is ELF,
 * can it hold probes?  Works on the first 64 bytes and one or two preads;
 * no stat, no mmap, no libelf.  It decides on section headers and names
 * alone; the contents are for lib/elf/object.h.
 */
#ifndef DP_GATE_H
#define DP_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "elf/source.h"

enum {
	DP_GATE_HEAD = 64, /* bytes of a file that the gate wants first */
};

/* What the first bytes of a file say that it is. */
enum dp_magic {
	DP_MAGIC_NONE,
	DP_MAGIC_ELF,
	DP_MAGIC_AR,
	DP_MAGIC_AR_THIN,
	DP_MAGIC_MACHO,
	DP_MAGIC_FAT, /* a fat Mach-O; a Java class is DP_MAGIC_NONE */
	DP_MAGIC_DOF,
};

/* What an ELF may have for us. */
enum {
	DP_GATE_DOF = 1 << 0,  /* a .SUNW_dof section with data */
	DP_GATE_SDT = 1 << 1,  /* a .note.stapsdt section with data */
	DP_GATE_USDT = 1 << 2, /* a .note.usdt section with data */
	/*
	 * No section headers in an executable or a library: DOF has to be
	 * looked for in the PT_LOADs (elf/bare.h).
	 */
	DP_GATE_NOSHDR = 1 << 3,
	/*
	 * The table of section names is missing, broken, or larger than
	 * DP_MAX_ELF_NAMES, so only the type of a section was seen: DP_GATE_DOF
	 * may be set, the notes cannot.
	 */
	DP_GATE_NONAMES = 1 << 4,
};

/* `head`: the first bytes of the file, DP_GATE_HEAD if it has them. */
enum dp_magic dp_magic_of(struct dp_bytes head);

/*
 * Look at the ELF in `src` whose first bytes are `head`.  *flags_ret gets
 * DP_GATE_* bits; 0 means: of no interest.  `scratch` is the caller's, kept
 * from file to file for its memory.  Fails with DP_EFORMAT (cut or
 * contradictory headers), DP_ELIMIT, DP_EUNSUP (class or order that ELF
 * does not have), DP_EIO or DP_ENOMEM.
 */
bool dp_gate(const struct dp_src *src, struct dp_bytes head,
             struct dp_buf *scratch, unsigned *flags_ret, struct dp_err *e);

#endif /* DP_GATE_H */
