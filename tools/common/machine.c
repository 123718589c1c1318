/* SPDX-License-Identifier: BSD-2-Clause */
#include "machine.h"

#include <elf.h>
#include <string.h>

/* One name for both classes, or one for each. */
static const struct {
	uint16_t machine;
	const char *name64;
	const char *name32;
} machines[] = {
	{ EM_X86_64, "x86_64", "x32" },
	{ EM_386, "i386", "i386" },
	{ EM_AARCH64, "aarch64", "aarch64" },
	{ EM_ARM, "arm", "arm" },
	{ EM_PPC, "ppc", "ppc" },
	{ EM_PPC64, "ppc64", "ppc64" },
	{ EM_S390, "s390x", "s390" },
	{ EM_RISCV, "riscv64", "riscv32" },
	{ EM_SPARC, "sparc", "sparc" },
	{ EM_SPARCV9, "sparcv9", "sparcv9" },
	{ EM_MIPS, "mips64", "mips" },
	{ EM_LOONGARCH, "loongarch64", "loongarch32" },
};

enum { NMACHINES = sizeof machines / sizeof machines[0] };

const char *
machine_name(uint16_t machine, unsigned class)
{
	for (int i = 0; i < NMACHINES; i++)
		if (machines[i].machine == machine)
			return class == 32 ? machines[i].name32
			                   : machines[i].name64;
	return machine == EM_NONE ? "unknown machine" : "other machine";
}

uint16_t
machine_number(const char *name)
{
	for (int i = 0; i < NMACHINES; i++)
		if (strcmp(name, machines[i].name64) == 0 ||
		    strcmp(name, machines[i].name32) == 0)
			return machines[i].machine;
	return EM_NONE;
}
