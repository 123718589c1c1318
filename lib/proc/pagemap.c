/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/pagemap.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "proc/procfile.h"

/* include/uapi/linux/fs.h of Linux 6.7; headers in use may be older. */
struct scan_region {
	uint64_t start, end, categories;
};

struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t inverted, mask, anyof, ret;
};

enum {
	SCAN_PRESENT = 1 << 3,
	SCAN_SWAPPED = 1 << 4,
	ENTRIES = 512,      /* of the file, read at a time */
	ASKED_MAX = 1 << 28 /* pages: 2 GiB of entries */
};

#define SCAN_IOCTL _IOWR('f', 16, struct scan_arg)
#define ENTRY_HELD (UINT64_C(3) << 62) /* present or swapped */

void
dp_pagemap_init(struct dp_pagemap *pm, int fd, uint64_t page)
{
	pm->fd = fd;
	pm->page = page;
	pm->how = fd < 0 ? DP_PAGEMAP_NONE : DP_PAGEMAP_SCAN;
	pm->asked = 0;
}

static bool
run_scan(const struct dp_pagemap *pm, uint64_t at, uint64_t end,
         struct scan_region *r)
{
	struct scan_arg arg = {
		.size = sizeof arg,
		.start = at,
		.end = end,
		.vec = (uintptr_t)r,
		.vec_len = 1,
		.anyof = SCAN_PRESENT | SCAN_SWAPPED,
		.ret = SCAN_PRESENT | SCAN_SWAPPED,
	};
	int n;

	do
		n = ioctl(pm->fd, SCAN_IOCTL, &arg);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return false;
	if (n == 0 || r->start < at || r->end > end || r->end <= r->start)
		*r = (struct scan_region){ .start = end, .end = end };
	return true;
}

/* Looks at up to ENTRIES pages from `at` on; 0 when it cannot. */
static size_t
look(struct dp_pagemap *pm, uint64_t at, uint64_t end, uint64_t *entries)
{
	uint64_t n = (end - at + pm->page - 1) / pm->page;
	ssize_t got;

	if (n > ENTRIES)
		n = ENTRIES;
	got = dp_procfile_pread(pm->fd, entries, n * sizeof *entries,
	                        (off_t)(at / pm->page * sizeof *entries));
	if (got < (ssize_t)sizeof *entries)
		return 0;
	n = (uint64_t)got / sizeof *entries;
	pm->asked += n < ASKED_MAX - pm->asked ? n : ASKED_MAX - pm->asked;
	return n;
}

/* More than may still be asked: leave it, so that others get their share. */
static bool
too_vast(const struct dp_pagemap *pm, uint64_t at, uint64_t end)
{
	return (end - at) / pm->page > ASKED_MAX - pm->asked;
}

/* False: the file does not tell. */
static bool
run_read(struct dp_pagemap *pm, uint64_t at, uint64_t end,
         struct scan_region *r)
{
	uint64_t entries[ENTRIES];
	bool open = false;

	r->start = end;
	r->end = end;
	while (at < end) {
		size_t n = look(pm, at, end, entries);

		if (n == 0)
			return false;
		for (size_t i = 0; i < n; i++, at += pm->page) {
			bool held = (entries[i] & ENTRY_HELD) != 0;

			if (held && !open)
				r->start = at;
			if (!held && open) {
				r->end = at;
				return true;
			}
			open = held;
		}
	}
	return true;
}

bool
dp_pagemap_run(struct dp_pagemap *pm, uint64_t at, uint64_t end,
               uint64_t *a_ret, uint64_t *b_ret)
{
	struct scan_region r = { .start = at, .end = end };

	if (pm->how == DP_PAGEMAP_SCAN && !run_scan(pm, at, end, &r))
		pm->how = DP_PAGEMAP_READ;
	if (pm->how == DP_PAGEMAP_READ && too_vast(pm, at, end))
		return false;
	if (pm->how == DP_PAGEMAP_READ && !run_read(pm, at, end, &r))
		pm->how = DP_PAGEMAP_NONE;
	if (pm->how == DP_PAGEMAP_NONE)
		r = (struct scan_region){ .start = at, .end = end };
	*a_ret = r.start;
	*b_ret = r.end;
	return true;
}
