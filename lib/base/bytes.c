/* SPDX-License-Identifier: BSD-2-Clause */
#include "bytes.h"

struct dp_bytes
dp_rd_str(struct dp_rd *r)
{
	struct dp_bytes s = { NULL, 0 };
	const uint8_t *at, *nul;

	if (r->bad || r->pos == r->in.n) {
		r->bad = true;
		return s;
	}
	at = r->in.p + r->pos;
	nul = memchr(at, '\0', r->in.n - r->pos);
	if (nul == NULL) {
		r->bad = true;
		return s;
	}
	s.p = at;
	s.n = (size_t)(nul - at);
	r->pos += s.n + 1;
	return s;
}

bool
dp_str_at(struct dp_bytes tab, uint64_t off, struct dp_bytes *s_ret)
{
	struct dp_rd r = dp_rd_init(tab, DP_LE);
	struct dp_bytes s;

	dp_rd_seek(&r, off);
	s = dp_rd_str(&r);
	if (!dp_rd_ok(&r))
		return false;
	*s_ret = s;
	return true;
}

bool
dp_strs_at(struct dp_bytes tab, uint64_t off, uint32_t n, size_t max,
           struct dp_bytes *run_ret)
{
	struct dp_rd r = dp_rd_init(tab, DP_LE);

	dp_rd_seek(&r, off);
	for (uint32_t i = 0; i < n; i++) {
		struct dp_bytes s = dp_rd_str(&r);

		if (!dp_rd_ok(&r) || s.n > max)
			return false;
	}
	if (!dp_rd_ok(&r))
		return false;
	run_ret->p = n == 0 ? NULL : tab.p + off;
	run_ret->n = n == 0 ? 0 : r.pos - (size_t)off;
	return true;
}
