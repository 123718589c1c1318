/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes what was built as source for GNU as; see mkgas.c. */
#ifndef DP_TEST_MKGAS_H
#define DP_TEST_MKGAS_H

#include <stdio.h>

#include "mk.h"

/* Every fix lies in `b`; they need not be in order. */
void mk_gas(FILE *f, const struct mk_buf *b, struct mk_fix *fixes);

#endif /* DP_TEST_MKGAS_H */
