/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which pages of a range exist, from /proc/PID/pagemap.  Only spares work:
 * where the kernel does not tell, everything counts as existing.
 */
#ifndef DP_PAGEMAP_H
#define DP_PAGEMAP_H

#include <stdbool.h>
#include <stdint.h>

/* How the kernel is asked; each falls back to the next. */
enum dp_pagemap_how {
	DP_PAGEMAP_SCAN, /* ioctl PAGEMAP_SCAN, Linux 6.7 */
	DP_PAGEMAP_READ, /* 8 bytes a page */
	DP_PAGEMAP_NONE
};

struct dp_pagemap {
	int fd;        /* borrowed; -1: not permitted */
	uint64_t page; /* bytes */
	enum dp_pagemap_how how;
	uint64_t asked; /* pages looked up so far by reading */
};

void dp_pagemap_init(struct dp_pagemap *pm, int fd, uint64_t page);

/*
 * The first run of existing pages in [at, end): *a_ret to *b_ret, both `end`
 * if there is none.  `at` is page aligned.  False when the range is more
 * than may still be looked up page by page; the outputs are untouched then.
 */
bool dp_pagemap_run(struct dp_pagemap *pm, uint64_t at, uint64_t end,
                    uint64_t *a_ret, uint64_t *b_ret);

#endif /* DP_PAGEMAP_H */
