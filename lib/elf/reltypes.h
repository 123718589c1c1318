/* SPDX-License-Identifier: BSD-2-Clause */
/* What the relocation types of each machine do, as far as data is hit. */
#ifndef DP_RELTYPES_H
#define DP_RELTYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/relocs.h"

/*
 * Kind and width of type `type` of `machine` (EM_*); `word` is the size of
 * an address in bytes.  False, with nothing set, for one that is not known.
 */
bool dp_reltype(uint16_t machine, unsigned word, uint32_t type,
                enum dp_relkind *kind_ret, uint8_t *width_ret);

/* The machine's own B + A, which RELR stands for; 0 when not known. */
uint32_t dp_reltype_relative(uint16_t machine, unsigned word);

/* The part of r_info that is the type, for the machines that pack more. */
uint32_t dp_reltype_of(uint16_t machine, unsigned word, uint64_t info);

#endif /* DP_RELTYPES_H */
