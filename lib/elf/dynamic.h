/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dynamic section of an object, for lib/elf's own use: the entries
 * that say where names, symbols and relocations lie.  What a loader sees,
 * so it works without section headers.
 */
#ifndef DP_DYNAMIC_H
#define DP_DYNAMIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "elf/object.h"

/* The tags that are kept; each the index of its value. */
enum dp_dyntag {
	DP_DYN_SONAME,
	DP_DYN_STRTAB,
	DP_DYN_STRSZ,
	DP_DYN_SYMTAB,
	DP_DYN_RELA,
	DP_DYN_RELASZ,
	DP_DYN_RELAENT,
	DP_DYN_REL,
	DP_DYN_RELSZ,
	DP_DYN_RELENT,
	DP_DYN_RELR,
	DP_DYN_RELRSZ,
	DP_DYN_JMPREL,
	DP_DYN_PLTRELSZ,
	DP_DYN_PLTREL,
	DP_DYN_COUNT
};

struct dp_dynamic {
	uint64_t v[DP_DYN_COUNT];
	bool has[DP_DYN_COUNT];
};

/*
 * Read PT_DYNAMIC, or the section of type SHT_DYNAMIC when there is no such
 * program header.  An object without either gives an empty result; what
 * lies outside the file counts as not there.  The last entry of a tag
 * holds, as for a loader.  Fails on I/O and memory only.
 */
bool dp_dynamic_read(const struct dp_elf *elf, struct dp_dynamic *d_ret,
                     struct dp_err *e);

#endif /* DP_DYNAMIC_H */
