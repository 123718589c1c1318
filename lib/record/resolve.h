/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only place where a relocation is applied.  The stream and the
 * catalogue keep addresses as the files have them; whoever wants one that
 * holds somewhere asks here.
 */
#ifndef DP_RECORD_RESOLVE_H
#define DP_RECORD_RESOLVE_H

#include "record/model.h"

/*
 * Where the object lies.  All zeros but for dof, the DOF's own link-time
 * address, gives link-time vaddrs; a helper row gives run-time addresses.
 */
struct dp_bases {
	uint64_t bias; /* run-time minus link-time address */
	uint64_t dof;  /* address of the DOF that holds the word */
	bool wrap32;   /* addresses of the object have 32 bits */
};

/*
 * `value` with the n relocations at `relocs` applied; the sum wraps at the
 * width of the object's addresses.  `value` may be the word in place plus any
 * offset.
 */
uint64_t dp_resolve(uint64_t value, const struct dp_rec_reloc *relocs,
                    uint32_t n, const struct dp_bases *bases);

/* Would this relocation change an address of an object loaded somewhere? */
bool dp_reloc_matters(const struct dp_rec_reloc *reloc);

#endif /* DP_RECORD_RESOLVE_H */
