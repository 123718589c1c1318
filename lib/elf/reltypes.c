/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One row a type: number, kind, bytes.  Calls, jumps, GOT and TLS types are
 * left out: they do not occur in data that a reader could mistake.  A width
 * of WORD is that of an address (x32 and ILP32 share numbers with LP64).
 */
#include "elf/reltypes.h"

#include <elf.h>
#include <stddef.h>

enum {
	WORD = 0,
	/* R_AARCH64_P32_PREL32, which <elf.h> lacks */
	P32_PREL32 = 3,
};

struct row {
	uint32_t type;
	uint8_t kind;
	uint8_t width;
};

static const struct row x86_64[] = {
	{ R_X86_64_NONE, DP_REL_NONE, 0 },
	{ R_X86_64_64, DP_REL_SYMBOL, 8 },
	{ R_X86_64_PC32, DP_REL_PCREL, 4 },
	{ R_X86_64_GLOB_DAT, DP_REL_SYMBOL, WORD },
	{ R_X86_64_JUMP_SLOT, DP_REL_SYMBOL, WORD },
	{ R_X86_64_RELATIVE, DP_REL_RELATIVE, WORD },
	{ R_X86_64_32, DP_REL_SYMBOL, 4 },
	{ R_X86_64_32S, DP_REL_SYMBOL, 4 },
	{ R_X86_64_16, DP_REL_SYMBOL, 2 },
	{ R_X86_64_PC16, DP_REL_PCREL, 2 },
	{ R_X86_64_8, DP_REL_SYMBOL, 1 },
	{ R_X86_64_PC8, DP_REL_PCREL, 1 },
	{ R_X86_64_PC64, DP_REL_PCREL, 8 },
	{ R_X86_64_RELATIVE64, DP_REL_RELATIVE, 8 },
};

static const struct row i386[] = {
	{ R_386_NONE, DP_REL_NONE, 0 },
	{ R_386_32, DP_REL_SYMBOL, 4 },
	{ R_386_PC32, DP_REL_PCREL, 4 },
	{ R_386_GLOB_DAT, DP_REL_SYMBOL, 4 },
	{ R_386_JMP_SLOT, DP_REL_SYMBOL, 4 },
	{ R_386_RELATIVE, DP_REL_RELATIVE, 4 },
	{ R_386_16, DP_REL_SYMBOL, 2 },
	{ R_386_PC16, DP_REL_PCREL, 2 },
	{ R_386_8, DP_REL_SYMBOL, 1 },
	{ R_386_PC8, DP_REL_PCREL, 1 },
};

static const struct row aarch64[] = {
	{ R_AARCH64_NONE, DP_REL_NONE, 0 },
	{ R_AARCH64_ABS64, DP_REL_SYMBOL, 8 },
	{ R_AARCH64_ABS32, DP_REL_SYMBOL, 4 },
	{ R_AARCH64_ABS16, DP_REL_SYMBOL, 2 },
	{ R_AARCH64_PREL64, DP_REL_PCREL, 8 },
	{ R_AARCH64_PREL32, DP_REL_PCREL, 4 },
	{ R_AARCH64_PREL16, DP_REL_PCREL, 2 },
	{ R_AARCH64_GLOB_DAT, DP_REL_SYMBOL, 8 },
	{ R_AARCH64_JUMP_SLOT, DP_REL_SYMBOL, 8 },
	{ R_AARCH64_RELATIVE, DP_REL_RELATIVE, 8 },
	{ R_AARCH64_P32_ABS32, DP_REL_SYMBOL, 4 },
	{ P32_PREL32, DP_REL_PCREL, 4 },
	{ R_AARCH64_P32_GLOB_DAT, DP_REL_SYMBOL, 4 },
	{ R_AARCH64_P32_JUMP_SLOT, DP_REL_SYMBOL, 4 },
	{ R_AARCH64_P32_RELATIVE, DP_REL_RELATIVE, 4 },
};

static const struct row arm[] = {
	{ R_ARM_NONE, DP_REL_NONE, 0 },
	{ R_ARM_ABS32, DP_REL_SYMBOL, 4 },
	{ R_ARM_REL32, DP_REL_PCREL, 4 },
	{ R_ARM_ABS16, DP_REL_SYMBOL, 2 },
	{ R_ARM_ABS8, DP_REL_SYMBOL, 1 },
	{ R_ARM_GLOB_DAT, DP_REL_SYMBOL, 4 },
	{ R_ARM_JUMP_SLOT, DP_REL_SYMBOL, 4 },
	{ R_ARM_RELATIVE, DP_REL_RELATIVE, 4 },
	{ R_ARM_TARGET1, DP_REL_SYMBOL, 4 }, /* ABS32 on Linux */
};

/* JMP_SLOT writes code or a whole descriptor on these two: not a word. */
static const struct row ppc64[] = {
	{ R_PPC64_NONE, DP_REL_NONE, 0 },
	{ R_PPC64_ADDR32, DP_REL_SYMBOL, 4 },
	{ R_PPC64_ADDR16, DP_REL_SYMBOL, 2 },
	{ R_PPC64_GLOB_DAT, DP_REL_SYMBOL, 8 },
	{ R_PPC64_RELATIVE, DP_REL_RELATIVE, 8 },
	{ R_PPC64_UADDR32, DP_REL_SYMBOL, 4 },
	{ R_PPC64_REL32, DP_REL_PCREL, 4 },
	{ R_PPC64_ADDR64, DP_REL_SYMBOL, 8 },
	{ R_PPC64_UADDR64, DP_REL_SYMBOL, 8 },
	{ R_PPC64_REL64, DP_REL_PCREL, 8 },
};

static const struct row ppc[] = {
	{ R_PPC_NONE, DP_REL_NONE, 0 },
	{ R_PPC_ADDR32, DP_REL_SYMBOL, 4 },
	{ R_PPC_ADDR16, DP_REL_SYMBOL, 2 },
	{ R_PPC_GLOB_DAT, DP_REL_SYMBOL, 4 },
	{ R_PPC_RELATIVE, DP_REL_RELATIVE, 4 },
	{ R_PPC_UADDR32, DP_REL_SYMBOL, 4 },
	{ R_PPC_REL32, DP_REL_PCREL, 4 },
};

static const struct row s390[] = {
	{ R_390_NONE, DP_REL_NONE, 0 },
	{ R_390_8, DP_REL_SYMBOL, 1 },
	{ R_390_16, DP_REL_SYMBOL, 2 },
	{ R_390_32, DP_REL_SYMBOL, 4 },
	{ R_390_PC32, DP_REL_PCREL, 4 },
	{ R_390_GLOB_DAT, DP_REL_SYMBOL, WORD },
	{ R_390_JMP_SLOT, DP_REL_SYMBOL, WORD },
	{ R_390_RELATIVE, DP_REL_RELATIVE, WORD },
	{ R_390_PC16, DP_REL_PCREL, 2 },
	{ R_390_64, DP_REL_SYMBOL, 8 },
	{ R_390_PC64, DP_REL_PCREL, 8 },
};

static const struct row riscv[] = {
	{ R_RISCV_NONE, DP_REL_NONE, 0 },
	{ R_RISCV_32, DP_REL_SYMBOL, 4 },
	{ R_RISCV_64, DP_REL_SYMBOL, 8 },
	{ R_RISCV_RELATIVE, DP_REL_RELATIVE, WORD },
	{ R_RISCV_JUMP_SLOT, DP_REL_SYMBOL, WORD },
	{ R_RISCV_32_PCREL, DP_REL_PCREL, 4 },
};

/* JMP_SLOT changes code here, too. */
static const struct row sparc[] = {
	{ R_SPARC_NONE, DP_REL_NONE, 0 },
	{ R_SPARC_8, DP_REL_SYMBOL, 1 },
	{ R_SPARC_16, DP_REL_SYMBOL, 2 },
	{ R_SPARC_32, DP_REL_SYMBOL, 4 },
	{ R_SPARC_DISP8, DP_REL_PCREL, 1 },
	{ R_SPARC_DISP16, DP_REL_PCREL, 2 },
	{ R_SPARC_DISP32, DP_REL_PCREL, 4 },
	{ R_SPARC_GLOB_DAT, DP_REL_SYMBOL, WORD },
	{ R_SPARC_RELATIVE, DP_REL_RELATIVE, WORD },
	{ R_SPARC_UA32, DP_REL_SYMBOL, 4 },
	{ R_SPARC_64, DP_REL_SYMBOL, 8 },
	{ R_SPARC_DISP64, DP_REL_PCREL, 8 },
	{ R_SPARC_UA64, DP_REL_SYMBOL, 8 },
	{ R_SPARC_UA16, DP_REL_SYMBOL, 2 },
};

#define ROWS(t) (t), sizeof(t) / sizeof((t)[0])

static const struct machine {
	uint16_t machine;
	const struct row *rows;
	size_t n;
	uint32_t relative;    /* B + A with 8 byte addresses */
	uint32_t relative_32; /* with 4 byte addresses */
} machines[] = {
	{ EM_X86_64, ROWS(x86_64), R_X86_64_RELATIVE, R_X86_64_RELATIVE },
	{ EM_386, ROWS(i386), R_386_RELATIVE, R_386_RELATIVE },
	{ EM_AARCH64, ROWS(aarch64), R_AARCH64_RELATIVE,
	  R_AARCH64_P32_RELATIVE },
	{ EM_ARM, ROWS(arm), R_ARM_RELATIVE, R_ARM_RELATIVE },
	{ EM_PPC64, ROWS(ppc64), R_PPC64_RELATIVE, R_PPC64_RELATIVE },
	{ EM_PPC, ROWS(ppc), R_PPC_RELATIVE, R_PPC_RELATIVE },
	{ EM_S390, ROWS(s390), R_390_RELATIVE, R_390_RELATIVE },
	{ EM_RISCV, ROWS(riscv), R_RISCV_RELATIVE, R_RISCV_RELATIVE },
	{ EM_SPARCV9, ROWS(sparc), R_SPARC_RELATIVE, R_SPARC_RELATIVE },
	{ EM_SPARC32PLUS, ROWS(sparc), R_SPARC_RELATIVE, R_SPARC_RELATIVE },
	{ EM_SPARC, ROWS(sparc), R_SPARC_RELATIVE, R_SPARC_RELATIVE },
};

static const struct machine *
find_machine(uint16_t machine)
{
	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}

bool
dp_reltype(uint16_t machine, unsigned word, uint32_t type,
           enum dp_relkind *kind_ret, uint8_t *width_ret)
{
	const struct machine *m = find_machine(machine);
	const struct row *row;

	for (size_t i = 0; m != NULL && i < m->n; i++) {
		row = &m->rows[i];
		if (row->type != type)
			continue;
		*kind_ret = (enum dp_relkind)row->kind;
		*width_ret = row->width;
		if (row->width == WORD && row->kind != DP_REL_NONE)
			*width_ret = (uint8_t)word;
		return true;
	}
	return false;
}

uint32_t
dp_reltype_relative(uint16_t machine, unsigned word)
{
	const struct machine *m = find_machine(machine);

	if (m == NULL)
		return 0;
	return word == 4 ? m->relative_32 : m->relative;
}

uint32_t
dp_reltype_of(uint16_t machine, unsigned word, uint64_t info)
{
	if (word == 4)
		return (uint32_t)(info & 0xff);
	/* SPARC keeps data of the type in the 24 bits above it */
	if (machine == EM_SPARCV9)
		return (uint32_t)(info & 0xff);
	return (uint32_t)info;
}
