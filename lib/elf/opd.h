/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Function descriptors of 64-bit PowerPC's first ABI: a function symbol
 * there names a descriptor in .opd whose first word is the code address.
 */
#ifndef DP_OPD_H
#define DP_OPD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "elf/object.h"
#include "elf/relocs.h"

/* Zeroed it is valid: an object without descriptors. */
struct dp_opd {
	const struct dp_elf *elf;     /* borrowed; NULL: no descriptors */
	const struct dp_elf_sec *sec; /* .opd */
	struct dp_buf bytes;
	struct dp_relocs relocs; /* that hit it */
};

/* An address: of section `sec` in ET_REL, else `sec` is 0. */
struct dp_opd_at {
	uint32_t sec;
	uint64_t addr;
};

/*
 * Read the descriptors; `o_ret` needs dp_opd_deinit() whatever happens.
 * Fails on I/O and memory only: broken ones are not found later.
 */
bool dp_opd_load(struct dp_opd *o_ret, const struct dp_elf *elf,
                 struct dp_err *e);

/*
 * Follow *at_io when it lies in .opd; elsewhere it stays.  False when the
 * descriptor is broken: nobody knows where the code is.
 */
bool dp_opd_follow(const struct dp_opd *o, struct dp_opd_at *at_io);
void dp_opd_deinit(struct dp_opd *o);

#endif /* DP_OPD_H */
