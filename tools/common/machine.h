/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tools call CPUs, in options and for people. */
#ifndef DP_MACHINE_H
#define DP_MACHINE_H

#include <stdint.h>

/* "x86_64" for an e_machine and a class of 32 or 64. */
const char *machine_name(uint16_t machine, unsigned class);

/* The e_machine of a name; 0 for a name that is not known. */
uint16_t machine_number(const char *name);

#endif /* DP_MACHINE_H */
