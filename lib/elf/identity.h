/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an ELF object calls itself: build-id, soname, and the name of its
 * separate debug file.  An object that has none is no failure.
 */
#ifndef DP_IDENTITY_H
#define DP_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "elf/object.h"

enum {
	DP_BUILDID_MAX = 64, /* bytes; SHA-1 has 20, nothing known has more */
};

/*
 * Replace what `id` holds by the bytes of the build-id; id->n is 0 when
 * there is none.  Looked for in section .note.gnu.build-id, then in the
 * allocated note sections, then in the PT_NOTEs; at most 1 MiB is read.
 * Broken notes count as none; fails on I/O and memory only.
 */
bool dp_elf_build_id(const struct dp_elf *elf, struct dp_buf *id,
                     struct dp_err *e);

/*
 * Replace what `name` holds by DT_SONAME without its NUL; name->n is 0 when
 * there is none.  Fails when there is one that cannot be read.
 */
bool dp_elf_soname(const struct dp_elf *elf, struct dp_buf *name,
                   struct dp_err *e);

/*
 * Replace what `name` holds by the file name in .gnu_debuglink, without a
 * NUL, and put the CRC-32 of that file into *crc_ret.  name->n is 0 and
 * *crc_ret untouched when there is none.  Fails when the section is broken.
 */
bool dp_elf_debuglink(const struct dp_elf *elf, struct dp_buf *name,
                      uint32_t *crc_ret, struct dp_err *e);

#endif /* DP_IDENTITY_H */
