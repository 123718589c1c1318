/* SPDX-License-Identifier: BSD-2-Clause */
/* Where processes have the object: one helper record a load. */
#include <elf.h>
#include <unistd.h>

#include "extract/state.h"
#include "proc/bias.h"

static bool
collect_loads(struct dp_elfwork *w)
{
	struct dp_vec *v = &w->x->loads;

	v->n = 0;
	for (size_t i = 0; i < w->elf.segs.n; i++) {
		const struct dp_elf_seg *s =
			DP_VEC_AT(&w->elf.segs, struct dp_elf_seg, i);
		struct dp_load *l;

		if (s->type != PT_LOAD)
			continue;
		l = dp_vec_push(v, sizeof *l);
		if (l == NULL)
			return false;
		*l = (struct dp_load){ .vaddr = s->vaddr,
			               .fileoff = s->off,
			               .filesz = s->filesz,
			               .memsz = s->memsz,
			               .flags = s->flags };
	}
	return true;
}

static struct dp_bytes
basename_of(struct dp_bytes path)
{
	const uint8_t *slash = memrchr(path.p, '/', path.n);

	if (slash == NULL)
		return path;
	path.n -= (size_t)(slash + 1 - path.p);
	path.p = slash + 1;
	return path;
}

static bool
put_helper(struct dp_elfwork *w, const struct dp_live *live, uint64_t bias,
           struct dp_err *e)
{
	const struct dp_image *im = w->im;
	struct dp_rec_helper h = {
		.start_time = live->start_time,
		.dev = live->dev,
		.ino = live->ino,
		.addr = bias,
		.dof = im->has_dof ? im->first_dof + bias : 0,
		.pidns = live->pidns,
		.pid = live->pid,
		.nspid = live->nspid,
		.presence = DPR_PRESENCE_THERE,
		.module = basename_of(im->in->path),
	};

	return dp_put_helper(w->x->out, &h, e);
}

bool
dp_put_helpers(struct dp_elfwork *w, struct dp_err *e)
{
	const struct dp_extract_input *in = w->im->in;
	struct dp_vec *biases = &w->x->biases;

	if (in->nlives == 0 || w->im->member.n != 0)
		return true;
	if (!collect_loads(w))
		return dp_extract_nomem(e);
	for (size_t i = 0; i < in->nlives; i++) {
		const struct dp_live *live = &in->lives[i];
		struct dp_bias_query q = {
			.loads = w->x->loads.p,
			.nloads = w->x->loads.n,
			.maps = live->maps,
			.nmaps = live->nmaps,
			.page = (uint64_t)sysconf(_SC_PAGESIZE),
			.et_exec = w->elf.type == ET_EXEC,
		};
		struct dp_err what = DP_ERR_INIT;

		biases->n = 0;
		if (!dp_bias_find(&q, biases, &what)) {
			if (!dp_image_complain(w->x, w->im, DPR_REACH_OBJECT,
			                       &what, e))
				return false;
			if (what.code == DP_EFORMAT)
				return true; /* the file: the same for all */
			continue;
		}
		for (size_t b = 0; b < biases->n; b++)
			if (!put_helper(w, live,
			                *DP_VEC_AT(biases, uint64_t, b), e))
				return false;
	}
	return true;
}
