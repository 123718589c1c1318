/* SPDX-License-Identifier: BSD-2-Clause */
#include "usdt/sdt.h"

bool
dp_sdt_parse(struct dp_bytes desc, unsigned addr_width, enum dp_order order,
             struct dp_sdt *ret, struct dp_err *e)
{
	struct dp_rd r = dp_rd_init(desc, order);
	struct dp_sdt s = { .pc_off = 0,
		            .base_off = addr_width,
		            .semaphore_off = 2 * addr_width };
	struct {
		const char *what;
		struct dp_bytes *s;
		bool empty_ok;
	} strs[] = {
		{ "provider name", &s.provider, false },
		{ "probe name", &s.name, false },
		{ "argument string", &s.args, true },
	};

	if (addr_width != 4 && addr_width != 8)
		return dp_err_set(e, DP_EUSAGE, DP_NOOFF,
		                  "addresses of %u bytes", addr_width);
	s.pc = dp_rd_word(&r, addr_width);
	s.base = dp_rd_word(&r, addr_width);
	s.semaphore = dp_rd_word(&r, addr_width);
	if (!dp_rd_ok(&r))
		return dp_err_set(e, DP_EFORMAT, r.pos,
		                  "descriptor of %zu bytes", desc.n);
	for (size_t i = 0; i < sizeof strs / sizeof strs[0]; i++) {
		size_t at = r.pos;

		*strs[i].s = dp_rd_str(&r);
		if (!dp_rd_ok(&r))
			return dp_err_set(e, DP_EFORMAT, at, "%s without NUL",
			                  strs[i].what);
		if (strs[i].s->n == 0 && !strs[i].empty_ok)
			return dp_err_set(e, DP_EFORMAT, at, "empty %s",
			                  strs[i].what);
	}
	*ret = s;
	return true;
}

uint64_t
dp_sdt_delta(uint64_t base_section_addr, bool have_base, uint64_t note_base)
{
	if (!have_base || base_section_addr == 0 || note_base == 0)
		return 0;
	return base_section_addr - note_base;
}
