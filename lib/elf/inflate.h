/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unpacking of SHF_COMPRESSED data, for elf/sections.c.  The one place
 * where libelf sees bytes of a file: it gets a small image that is made
 * here around the packed data, so every header in it is our own.
 */
#ifndef DP_INFLATE_H
#define DP_INFLATE_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "elf/object.h"

/*
 * Replace what `buf` holds by the unpacked data of `in`, which begins with
 * a compression header of the class and order of `elf`.  The unpacked size
 * is held against DP_MAX_ELF_SECTION before memory is taken.  DP_EFORMAT,
 * DP_ELIMIT, DP_EUNSUP (this libelf cannot unpack it), DP_ENOMEM; buf->n is
 * 0 then.
 */
bool dp_inflate(const struct dp_elf *elf, struct dp_bytes in,
                struct dp_buf *buf, struct dp_err *e);

#endif /* DP_INFLATE_H */
