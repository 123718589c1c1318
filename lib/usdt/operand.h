/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One operand of an argument string, behind its "[-]N[f]@", in the assembly
 * syntax of a machine.  Used through argspec.h.
 */
#ifndef DP_OPERAND_H
#define DP_OPERAND_H

#include <stdint.h>

#include "base/bytes.h"
#include "usdt/argspec.h"

/*
 * Read `op` for ELF machine `machine` into kind, base, index, scale, disp,
 * symbol, modifier and segment of *a, which come in as for no operand at
 * all; a->size is set already.  NULL when it has a place to be read from,
 * otherwise the reason (static): then the kind means nothing, and the other
 * fields are set only if the operand was understood.
 */
const char *dp_operand_read(uint16_t machine, struct dp_bytes op,
                            struct dp_arg *a);

#endif /* DP_OPERAND_H */
