/* SPDX-License-Identifier: BSD-2-Clause */
#include "usdt/usdtnote.h"

#include "base/limits.h"
#include "base/range.h"

/* Read a name; false, with `e` set, if it is cut or empty. */
static bool
read_name(struct dp_rd *r, const char *what, struct dp_bytes *s_ret,
          struct dp_err *e)
{
	size_t at = r->pos;

	*s_ret = dp_rd_str(r);
	if (!dp_rd_ok(r))
		return dp_err_set(e, DP_EFORMAT, at, "%s without NUL", what);
	if (s_ret->n == 0)
		return dp_err_set(e, DP_EFORMAT, at, "empty %s", what);
	return true;
}

bool
dp_usdt_site_parse(struct dp_bytes desc, enum dp_order order,
                   struct dp_usdt_site *ret, struct dp_err *e)
{
	struct dp_rd r = dp_rd_init(desc, order);
	struct dp_usdt_site s = { .pc_off = 0, .func_off = 8 };
	size_t at;

	s.pc = dp_rd_u64(&r);
	s.func_addr = dp_rd_u64(&r);
	if (!dp_rd_ok(&r))
		return dp_err_set(e, DP_EFORMAT, r.pos,
		                  "descriptor of %zu bytes", desc.n);
	if (!read_name(&r, "provider name", &s.provider, e) ||
	    !read_name(&r, "probe name", &s.probe, e))
		return false;
	s.nargs = dp_rd_u8(&r);
	if (!dp_rd_ok(&r))
		return dp_err_set(e, DP_EFORMAT, r.pos, "no argument count");
	at = r.pos;
	s.args = dp_rd_str(&r);
	if (!dp_rd_ok(&r))
		return dp_err_set(e, DP_EFORMAT, at,
		                  "argument string without NUL");
	*ret = s;
	return true;
}

bool
dp_usdt_prov_parse(struct dp_bytes desc, enum dp_order order,
                   struct dp_usdt_prov *ret, struct dp_err *e)
{
	struct dp_rd r = dp_rd_init(desc, order);
	struct dp_usdt_prov p = { .order = order };

	if (!read_name(&r, "provider name", &p.name, e))
		return false;
	dp_rd_seek(&r, dp_align_up(r.pos, DP_NOTE_ALIGN));
	for (int i = 0; i < DP_USDT_NATTRS; i++)
		p.attr[i] = dp_rd_u32(&r);
	p.nprobes = dp_rd_u32(&r);
	if (!dp_rd_ok(&r))
		return dp_err_set(e, DP_EFORMAT, r.pos,
		                  "provider attributes cut");
	if (p.nprobes > DP_MAX_USDT_PROBES)
		return dp_err_set(e, DP_ELIMIT, r.pos - 4, "%u probes",
		                  p.nprobes);
	if (r.pos > UINT32_MAX)
		return dp_err_set(e, DP_ELIMIT, 0, "provider name too long");
	p.probes_off = (uint32_t)r.pos;
	*ret = p;
	return true;
}

void
dp_usdt_probe_iter_init(struct dp_usdt_probe_iter *it, struct dp_bytes desc,
                        const struct dp_usdt_prov *prov)
{
	it->r = dp_rd_init(desc, prov->order);
	it->left = prov->nprobes;
	dp_rd_seek(&it->r, prov->probes_off);
}

/*
 * Step over `n` strings, each followed by `extra` bytes; *long_at becomes
 * where the first one starts that is too long for a type.
 */
static struct dp_bytes
take_strs(struct dp_rd *r, unsigned n, unsigned extra, size_t *long_at)
{
	struct dp_bytes run = { NULL, 0 };
	size_t at = r->pos;

	for (unsigned i = 0; i < n && dp_rd_ok(r); i++) {
		size_t start = r->pos;

		if (dp_rd_str(r).n > DP_MAX_DOF_TYPE && *long_at == 0)
			*long_at = start;
		(void)dp_rd_take(r, extra);
	}
	if (n > 0 && dp_rd_ok(r)) {
		run.p = r->in.p + at;
		run.n = r->pos - at;
	}
	return run;
}

/* Every index of the map of `p`, which starts at `at`, names an argument. */
static bool
check_map(const struct dp_usdt_probe *p, size_t at, struct dp_err *e)
{
	struct dp_rd r = dp_rd_init(p->xlated, DP_LE);

	for (unsigned i = 0; i < p->nxlated; i++) {
		uint8_t native;

		(void)dp_rd_str(&r);
		native = dp_rd_u8(&r);
		if (native >= p->nnative)
			return dp_err_set(e, DP_EFORMAT, at + r.pos - 1,
			                  "argument %u maps to %u of %u", i,
			                  native, p->nnative);
	}
	return true;
}

enum dp_step
dp_usdt_probe_next(struct dp_usdt_probe_iter *it,
                   struct dp_usdt_probe *probe_ret, struct dp_err *e)
{
	struct dp_usdt_probe p = { .off = 0 };
	struct dp_rd *r = &it->r;
	size_t map_at, long_at = 0; /* no type is the first thing */

	if (it->left == 0)
		return DP_STEP_END;
	it->left--;
	dp_rd_seek(r, dp_align_up(r->pos, DP_NOTE_ALIGN));
	p.off = (uint32_t)r->pos;
	p.name = dp_rd_str(r);
	p.nnative = dp_rd_u8(r);
	p.native = take_strs(r, p.nnative, 0, &long_at);
	p.nxlated = dp_rd_u8(r);
	map_at = r->pos;
	p.xlated = take_strs(r, p.nxlated, 1, &long_at);
	if (!dp_rd_ok(r)) {
		dp_err_set(e, DP_EFORMAT, r->pos,
		           "list of probes cut, %u missing", it->left + 1);
		it->left = 0;
		return DP_STEP_BAD;
	}
	if (p.name.n == 0) {
		dp_err_set(e, DP_EFORMAT, p.off, "empty probe name");
		return DP_STEP_BAD;
	}
	if (long_at != 0) {
		dp_err_set(e, DP_ELIMIT, long_at, "type of more than %d bytes",
		           DP_MAX_DOF_TYPE);
		return DP_STEP_BAD;
	}
	if (!check_map(&p, map_at, e))
		return DP_STEP_BAD;
	*probe_ret = p;
	return DP_STEP_OK;
}

void
dp_usdt_xlat_init(struct dp_usdt_xlat_iter *it,
                  const struct dp_usdt_probe *probe)
{
	it->r = dp_rd_init(probe->xlated, DP_LE);
	it->left = probe->nxlated;
}

bool
dp_usdt_xlat_next(struct dp_usdt_xlat_iter *it, struct dp_bytes *type_ret,
                  uint8_t *native_ret)
{
	struct dp_bytes type;
	uint8_t native;

	if (it->left == 0)
		return false;
	it->left--;
	type = dp_rd_str(&it->r);
	native = dp_rd_u8(&it->r);
	if (!dp_rd_ok(&it->r))
		return false;
	*type_ret = type;
	*native_ret = native;
	return true;
}
