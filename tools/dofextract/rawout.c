/* SPDX-License-Identifier: BSD-2-Clause */
#include "rawout.h"

/* Each starts at a multiple of 8, as linkers lay them out. */
static bool
put(struct rawout *r, struct dp_bytes dof, struct dp_err *e)
{
	static const uint8_t zeros[8];
	struct dp_bytes pad = { zeros, (8 - dof.n % 8) % 8 };

	return r->out.write(r->out.ctx, dof, e) &&
	       (pad.n == 0 || r->out.write(r->out.ctx, pad, e));
}

/* One whole record; *n_ret its size, 0 when it is not whole yet. */
static bool
one(struct rawout *r, struct dp_bytes b, size_t *n_ret, struct dp_err *e)
{
	struct dp_rd rd = dp_rd_init(b, DP_LE);
	uint32_t size = dp_rd_u32(&rd);
	struct dp_record rec;

	*n_ret = 0;
	if (!dp_rd_ok(&rd) || b.n < size)
		return true;
	*n_ret = b.n = size;
	if (!dp_record_decode(b, &rec, e))
		return false;
	return rec.type != DP_REC_RAWDOF || put(r, rec.rawdof.bytes, e);
}

bool
rawout_write(void *ctx, struct dp_bytes b, struct dp_err *e)
{
	struct rawout *r = ctx;
	struct dp_bytes all;
	size_t n;

	if (!dp_buf_add(&r->kept, b.p, b.n))
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	all = dp_buf_bytes(&r->kept);
	do {
		if (!one(r, all, &n, e))
			return false;
		all.p += n;
		all.n -= n;
	} while (n != 0);
	if (all.n != 0)
		memmove(r->kept.p, all.p, all.n);
	r->kept.n = all.n;
	return true;
}
