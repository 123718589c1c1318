/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors of SystemTap probe notes (section .note.stapsdt), as made by
 * <sys/sdt.h>.  One note is one site.  Addresses are as stored: for an
 * ET_REL they wait for relocations, for others see dp_sdt_delta().
 */
#ifndef DP_SDT_H
#define DP_SDT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

#define DP_SDT_SECTION      ".note.stapsdt"
#define DP_SDT_BASE_SECTION ".stapsdt.base"
#define DP_SDT_OWNER        "stapsdt"

enum { DP_SDT_TYPE = 3 }; /* note type; 1 and 2 are history */

struct dp_sdt {
	uint64_t pc;        /* link-time vaddr of the nop, as stored */
	uint64_t base;      /* .stapsdt.base when it was linked, or 0 */
	uint64_t semaphore; /* vaddr of a u16 counter, as stored; 0: none */
	uint32_t pc_off;    /* where the three words lie in the descriptor */
	uint32_t base_off;
	uint32_t semaphore_off;
	struct dp_bytes provider; /* without NUL, not empty, any bytes */
	struct dp_bytes name;     /* the same */
	struct dp_bytes args;     /* for dp_arg_iter_init(); may be empty */
};

/*
 * Decode a descriptor whose words have `addr_width` bytes, 4 or 8 (the ELF
 * class).  err.off counts from the start of `desc`.  Bytes behind the third
 * string are ignored.  *ret is untouched on failure.
 */
bool dp_sdt_parse(struct dp_bytes desc, unsigned addr_width,
                  enum dp_order order, struct dp_sdt *ret, struct dp_err *e);

/*
 * What to add to pc, and to a semaphore that is not 0, when a file was moved
 * after linking: the address of .stapsdt.base minus what the note has as
 * base.  0 unless there is such a section and neither is 0.  It may be
 * "negative": add it modulo 2^64, or 2^32 for 32-bit objects.
 */
uint64_t dp_sdt_delta(uint64_t base_section_addr, bool have_base,
                      uint64_t note_base);

#endif /* DP_SDT_H */
