/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registers that probe operands name: one static table per machine.
 * Whether the kernel or BPF can reach a register is not decided here.
 */
#ifndef DP_REGS_H
#define DP_REGS_H

#include <stdint.h>

#include "base/bytes.h"

enum dp_reg_class {
	DP_REG_GP,   /* general purpose, stack and frame pointers included */
	DP_REG_PC,   /* the program counter */
	DP_REG_ZERO, /* always reads as zero (riscv zero, aarch64 xzr) */
	DP_REG_VEC,  /* floating point or vector: no integer can be had */
};

enum { DP_REG_NODWARF = 0xffff }; /* a register that DWARF does not number */

struct dp_reg {
	char name[8];   /* as assembly has it without '%'; NUL-terminated */
	uint16_t dwarf; /* DWARF number of the full register, shared by its
	                   parts and aliases; or DP_REG_NODWARF */
	uint8_t width;  /* bytes this name covers; EM_S390 and EM_RISCV tables
	                   give the 64-bit width, 32-bit objects have 4 */
	uint8_t shift;  /* lowest bit in the full register: 8 for ah..dh */
	uint8_t cls;    /* enum dp_reg_class */
};

/*
 * The register `name` (without '%') of an ELF machine (EM_*), or NULL when
 * there is none or the machine is not known.  PowerPC registers are found
 * as "r3" and as "3"; the row's name is "r3" both times.
 */
const struct dp_reg *dp_reg_find(uint16_t machine, struct dp_bytes name);

/* The same by place, to walk a table: NULL at and after its end. */
const struct dp_reg *dp_reg_at(uint16_t machine, unsigned i);

/*
 * Bytes of a full general register: what a register operand can hold at
 * most.  `addr_width` (4 or 8) decides where the machine has both sizes.
 * 0 for a machine that is not known.
 */
unsigned dp_reg_word(uint16_t machine, unsigned addr_width);

#endif /* DP_REGS_H */
