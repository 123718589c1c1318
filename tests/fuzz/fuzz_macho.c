/* SPDX-License-Identifier: BSD-2-Clause */
/* Mach-O load commands and fat headers. */
#include <stdlib.h>

#include "usdt/macho.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static unsigned
touch(struct dp_bytes b)
{
	unsigned sum = 0;

	for (size_t i = 0; i < b.n; i++)
		sum += b.p[i];
	return sum;
}

static void
one(struct dp_bytes in)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_macho_item item;
	struct dp_macho_it it;
	struct dp_macho m;
	bool more = true;

	if (!dp_macho_open(in, &m, &e)) {
		if (e.code == DP_OK)
			abort();
		return;
	}
	it = dp_macho_iter(&m);
	while (dp_macho_next(&it, &item, &more, &e) && more) {
		(void)touch(item.segname);
		(void)touch(item.sectname);
		(void)touch(item.text);
		if (item.cmd_off >= in.n)
			abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct dp_bytes in = { data, n };
	struct dp_err e = DP_ERR_INIT;
	struct dp_fat_slice s;
	struct dp_fat fat;

	one(in);
	if (!dp_fat_open(in, &fat, &e))
		return 0;
	for (uint32_t i = 0; i < fat.n; i++) {
		e = (struct dp_err)DP_ERR_INIT;
		if (!dp_fat_slice(&fat, i, n, &s, &e))
			continue;
		if (s.off > n || s.size > n - s.off)
			abort();
		one((struct dp_bytes){ data + s.off, (size_t)s.size });
	}
	return 0;
}
