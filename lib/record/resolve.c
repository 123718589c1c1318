/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/resolve.h"

static uint64_t
base_value(uint8_t base, const struct dp_bases *bases)
{
	switch (base) {
	case DPR_BASE_BIAS:
		return bases->bias;
	case DPR_BASE_DOF:
		return bases->dof;
	default:
		return 0;
	}
}

uint64_t
dp_resolve(uint64_t value, const struct dp_rec_reloc *relocs, uint32_t n,
           const struct dp_bases *bases)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct dp_rec_reloc *r = &relocs[i];

		if (r->state != DPR_RELOC_PENDING)
			continue;
		if (r->replaces)
			value -= r->in_place;
		value += r->sym_value + (uint64_t)r->addend +
		         base_value(r->base, bases);
	}
	return bases->wrap32 ? (uint32_t)value : value;
}

bool
dp_reloc_matters(const struct dp_rec_reloc *r)
{
	uint64_t d = r->sym_value + (uint64_t)r->addend -
	             (r->replaces ? r->in_place : 0);

	if (r->width == 4)
		d = (uint32_t)d;
	return r->state == DPR_RELOC_PENDING &&
	       (r->base != DPR_BASE_NONE || d != 0);
}
