/* SPDX-License-Identifier: BSD-2-Clause */
#include "extract/livemem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/limits.h"
#include "extract/state.h"
#include "proc/process.h"
#include "usdt/dofprobe.h"
#include "usdt/dofsize.h"

enum { MAX_WORK = 1 << 22 }; /* a few seconds */

/* Where the process has memory; the maps text has the rest. */
struct space {
	uint64_t start, end;
	size_t line; /* offset of its line in the text */
	bool exec;
};

/* A search through the memory of one process. */
struct search {
	const struct dp_livemem *m;
	const struct dp_livemem_limits *lim;
	struct dp_livemem_found *found;
	struct dp_vec spaces; /* struct space, ascending */
	struct dp_maps *it;   /* owned; large for a stack */
	struct dp_buf buf;    /* the candidate */
	uint64_t at;          /* its address */
	uint64_t read;        /* bytes of candidates that may be read */
	uint64_t work;        /* steps that may be made */
};

struct dp_livemem_limits
dp_livemem_limits(void)
{
	return (struct dp_livemem_limits){ .kept = DP_MAX_MEMSCAN,
		                           .read = DP_MAX_MEMSCAN,
		                           .work = MAX_WORK };
}

bool
dp_livemem_open(const struct dp_process *p, const struct dp_live *live,
                struct dp_livemem *m_ret, struct dp_err *e)
{
	struct dp_livemem m = { .live = *live,
		                .mem = { .fd = -1, .pagemap = -1 } };

	if (!dp_process_maps(p, &m.maps, e) ||
	    (m.maps.n != 0 && !dp_memory_open(p, &m.mem, e))) {
		dp_buf_deinit(&m.maps);
		return false;
	}
	*m_ret = m;
	return true;
}

void
dp_livemem_deinit(struct dp_livemem *m)
{
	dp_memory_deinit(&m->mem);
	dp_buf_deinit(&m->maps);
}

void
dp_livemem_found_deinit(struct dp_livemem_found *found)
{
	for (size_t i = 0; i < found->dofs.n; i++) {
		struct dp_livemem_dof *d =
			DP_VEC_AT(&found->dofs, struct dp_livemem_dof, i);

		dp_buf_deinit(&d->path);
		dp_buf_deinit(&d->bytes);
	}
	dp_vec_deinit(&found->dofs);
	*found = (struct dp_livemem_found){ .size = 0 };
}

static int
by_start(const void *a, const void *b)
{
	const struct space *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool
read_spaces(struct search *q, struct dp_err *e)
{
	enum dp_maps_step step;
	struct dp_err ignored;
	struct space *sp;
	struct dp_map map;

	dp_maps_init(q->it, dp_buf_bytes(&q->m->maps));
	for (;;) {
		dp_err_clear(&ignored);
		step = dp_maps_next(q->it, &map, &ignored);
		if (step == DP_MAPS_END)
			break;
		if (step != DP_MAPS_ENTRY)
			continue;
		sp = dp_vec_push(&q->spaces, sizeof *sp);
		if (sp == NULL)
			return dp_extract_nomem(e);
		*sp = (struct space){ .start = map.start,
			              .end = map.end,
			              .line = q->it->line,
			              .exec = (map.perms & DP_MAP_X) != 0 };
	}
	/* The kernel's order holds within one read() of the text only. */
	if (q->spaces.n != 0)
		qsort(q->spaces.p, q->spaces.n, sizeof *sp, by_start);
	return true;
}

/* The mapping that holds `addr`; NULL when none does. */
static const struct space *
space_at(const struct search *q, uint64_t addr)
{
	size_t lo = 0, hi = q->spaces.n;
	const struct space *sp;

	while (lo < hi) { /* the first that starts behind it */
		size_t mid = lo + (hi - lo) / 2;

		if (DP_VEC_AT(&q->spaces, struct space, mid)->start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
		return NULL;
	sp = DP_VEC_AT(&q->spaces, struct space, lo - 1);
	return addr < sp->end ? sp : NULL;
}

static bool
spend(uint64_t *left, uint64_t n, const struct search *q, struct dp_err *e)
{
	if (n > *left)
		return dp_err_set(e, DP_ELIMIT, q->at,
		                  "too much that looks like DOF");
	*left -= n;
	return true;
}

/* Read a candidate whole; an empty buffer when it is no DOF. */
static bool
read_dof(struct search *q, struct dp_err *e)
{
	struct dp_err ignored = DP_ERR_INIT;
	struct dp_buf *b = &q->buf;
	uint64_t size;

	b->n = 0;
	if (!dp_buf_reserve(b, DP_DOF_HDR_SIZE))
		return dp_extract_nomem(e);
	b->n = dp_memory_read(&q->m->mem, q->at, b->p, DP_DOF_HDR_SIZE,
	                      &ignored);
	size = dp_dof_size(dp_buf_bytes(b));
	b->n = 0;
	if (size == 0)
		return true;
	/* Claims of 64 MiB at every eighth byte must not cost a day. */
	if (!spend(&q->read, size, q, e))
		return false;
	if (!dp_buf_reserve(b, (size_t)size))
		return dp_extract_nomem(e);
	dp_err_clear(&ignored);
	b->n = dp_memory_read(&q->m->mem, q->at, b->p, (size_t)size, &ignored);
	return true;
}

/*
 * No fewer than the relocations that dp_dof_open() has to look at.  Tables
 * can be shared, so a few pages of DOF can ask for a million.
 */
static uint64_t
relocations(const struct dp_dof *d)
{
	uint64_t users = 0, longest = 0, all;

	for (uint32_t i = 0; i < d->secnum; i++) {
		struct dp_err ignored = DP_ERR_INIT;
		struct dp_dof_sec s;

		if (!dp_dof_sec(d, i, &s, &ignored))
			continue;
		users += s.type == DP_DOF_URELHDR;
		if (s.type == DP_DOF_RELTAB &&
		    s.size / DP_DOF_REL_SIZE > longest)
			longest = s.size / DP_DOF_REL_SIZE;
	}
	if (longest > DP_MAX_DOF_SITES)
		longest = DP_MAX_DOF_SITES;
	all = users * longest;
	return all < DP_MAX_DOF_SITES ? all : DP_MAX_DOF_SITES;
}

/*
 * Bytes that look like DOF are in many places: what a program has read from
 * a file, for one.  One that this process can fire has a site in memory
 * that it can execute.  False when the search is over.
 */
static bool
fires(struct search *q, const struct dp_dof *d, bool *yes_ret, struct dp_err *e)
{
	uint32_t s = dp_dof_find(d, DP_DOF_PROVIDER, 0);
	bool yes = false;

	for (; s < d->secnum && !yes;
	     s = dp_dof_find(d, DP_DOF_PROVIDER, s + 1)) {
		struct dp_err ignored = DP_ERR_INIT;
		struct dp_dof_provider prov;
		const struct space *sp;
		struct dp_dof_probe pr;
		enum dp_dof_kind kind;

		if (!spend(&q->work, 1, q, e))
			return false;
		if (!dp_dof_provider(d, s, &prov, &ignored) ||
		    prov.nprobes == 0)
			continue;
		if (!spend(&q->work, dp_dof_probe_types(d, &prov, 0), q, e))
			return false;
		if (!dp_dof_probe(d, &prov, 0, &pr, &ignored))
			continue;
		kind = pr.offs[DP_DOF_SITE].n != 0 ? DP_DOF_SITE
		                                   : DP_DOF_ENABLED;
		sp = space_at(q, pr.addr + dp_dof_site(d, &pr, kind, 0));
		yes = sp != NULL && sp->exec;
	}
	*yes_ret = yes;
	return true;
}

static bool
keep(struct search *q, const struct dp_dof *d, struct dp_err *e)
{
	struct dp_livemem_found *f = q->found;
	const struct space *sp = space_at(q, q->at);
	struct dp_bytes text = dp_buf_bytes(&q->m->maps);
	struct dp_err ignored = DP_ERR_INIT;
	struct dp_livemem_dof *dof;
	struct dp_map map;
	uint64_t size;

	if (sp == NULL) /* the text changed while it was read */
		return true;
	text.p += sp->line;
	text.n -= sp->line;
	dp_maps_init(q->it, text);
	if (dp_maps_next(q->it, &map, &ignored) != DP_MAPS_ENTRY)
		return true;
	size = sizeof *dof + map.path.n + dp_dof_extent(d);
	if (size > q->lim->kept - f->size) {
		f->full = true;
		return dp_err_set(e, DP_ELIMIT, q->at,
		                  "over %" PRIu64 " bytes of DOF in memory",
		                  q->lim->kept);
	}
	dof = dp_vec_push(&f->dofs, sizeof *dof);
	if (dof == NULL)
		return dp_extract_nomem(e);
	dof->live = q->m->live;
	dof->addr = q->at;
	if (!dp_buf_add(&dof->path, map.path.p, map.path.n) ||
	    !dp_buf_add(&dof->bytes, d->in.p, (size_t)dp_dof_extent(d)))
		return dp_extract_nomem(e);
	f->size += size;
	return true;
}

static bool
hit(void *arg, uint64_t addr, struct dp_err *e)
{
	struct dp_err ignored = DP_ERR_INIT;
	struct search *q = arg;
	struct dp_bytes b;
	struct dp_dof d;
	bool yes;

	q->at = addr;
	if (!spend(&q->work, 1, q, e) || !read_dof(q, e))
		return false;
	b = dp_buf_bytes(&q->buf);
	if (b.n == 0 || !dp_dof_header(b, &d, &ignored))
		return true;
	if (!spend(&q->work, d.secnum, q, e) ||
	    !spend(&q->work, relocations(&d), q, e))
		return false;
	if (!dp_dof_open(b, &d, &ignored))
		return true;
	if (!fires(q, &d, &yes, e))
		return false;
	return !yes || keep(q, &d, e);
}

/* It ended, or its pid is another's by now; after an execve() it is there. */
static bool
gone(const struct dp_livemem *m)
{
	struct dp_err ignored = DP_ERR_INIT;
	struct dp_process p;
	bool there;

	if (!dp_process_open((pid_t)m->live.pid, &p, &ignored))
		return true;
	there = p.start == m->live.start_time && dp_process_alive(&p);
	dp_process_deinit(&p);
	return !there;
}

bool
dp_livemem_search(const struct dp_livemem *m,
                  const struct dp_livemem_limits *lim,
                  struct dp_livemem_found *found, struct dp_err *e)
{
	struct search q = { .m = m,
		            .lim = lim,
		            .found = found,
		            .read = lim->read,
		            .work = lim->work };
	struct dp_memscan scan = { .hit = hit, .arg = &q };
	struct dp_err what = DP_ERR_INIT;
	bool ok;

	if (m->mem.fd < 0)
		return true;
	q.it = malloc(sizeof *q.it);
	ok = q.it != NULL || dp_extract_nomem(&what);
	if (ok)
		ok = read_spaces(&q, &what);
	if (ok)
		ok = dp_memory_scan(&m->mem, dp_buf_bytes(&m->maps), &scan,
		                    &what);
	if (ok && scan.cut)
		ok = dp_err_set(&what, DP_ELIMIT, DP_NOOFF,
		                "memory searched up to %d bytes only",
		                DP_MAX_MEMSCAN);
	if (!ok && what.os_errno == ESRCH && gone(m))
		ok = true;
	if (!ok)
		*e = what;
	free(q.it);
	dp_vec_deinit(&q.spaces);
	dp_buf_deinit(&q.buf);
	return ok;
}
