/* SPDX-License-Identifier: BSD-2-Clause */
/* The parse stream for people: a heading an object, a line a site. */
#ifndef DP_TEXT_H
#define DP_TEXT_H

#include <stdio.h>

#include "record/writer.h"

struct text;

/* A sink for a binary writer; prints to `out`.  NULL when memory is out. */
struct text *text_create(FILE *out);
void text_destroy(struct text *t);

/* For struct dp_sink: ctx is the struct text. */
bool text_write(void *ctx, struct dp_bytes b, struct dp_err *e);

#endif /* DP_TEXT_H */
