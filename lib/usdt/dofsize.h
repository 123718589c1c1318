/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many bytes a DOF takes, told by its first 64: for those who have to
 * read it before they can look at it whole.  Not whether it is a good one.
 */
#ifndef DP_DOFSIZE_H
#define DP_DOFSIZE_H

#include "base/limits.h"
#include "usdt/dof.h"

/*
 * The greater of loadsz and filesz; 0 when `head` does not begin like a
 * DOF, is too short, or claims a size that no DOF has.
 */
static inline uint64_t
dp_dof_size(struct dp_bytes head)
{
	struct dp_rd rd;
	uint64_t loadsz, filesz;

	if (head.n < DP_DOF_HDR_SIZE || memcmp(head.p, "\177DOF", 4) != 0 ||
	    head.p[5] < 1 || head.p[5] > 2)
		return 0;
	rd = dp_rd_init(head, head.p[5] == 2 ? DP_BE : DP_LE);
	dp_rd_seek(&rd, 40);
	loadsz = dp_rd_u64(&rd);
	filesz = dp_rd_u64(&rd);
	if (loadsz < DP_DOF_HDR_SIZE || loadsz > DP_MAX_DOF_SIZE)
		return 0;
	return filesz > loadsz && filesz <= DP_MAX_DOF_SIZE ? filesz : loadsz;
}

#endif /* DP_DOFSIZE_H */
