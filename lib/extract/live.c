/* SPDX-License-Identifier: BSD-2-Clause */
#include "extract/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "elf/gate.h"
#include "extract/state.h"
#include "proc/memory.h"
#include "proc/objects.h"
#include "proc/process.h"
#include "usdt/dofprobe.h"
#include "usdt/dofsize.h"

/* A file that processes map.  lives and maps grow while they are added. */
struct live_file {
	int fd; /* owned */
	bool deleted;
	size_t path_off, path_size; /* in set->paths */
	struct dp_vec lives;        /* struct dp_live; .maps set at the end */
	struct dp_vec maps;         /* struct dp_map of all of them */
};

/* A DOF that only memory holds. */
struct live_dof {
	struct dp_live live; /* without maps */
	uint64_t addr;
	size_t path_off, path_size;
	struct dp_buf bytes;
};

struct live_error {
	struct dp_err what;
	size_t path_off, path_size;
};

struct dp_live_set {
	struct dp_live_opts opts;
	struct dp_strmap by_id; /* device, inode -> number of a file */
	struct dp_vec files;    /* struct live_file */
	struct dp_vec dofs;     /* struct live_dof */
	struct dp_vec errors;   /* struct live_error */
	struct dp_vec pids;     /* pid_t: who has been looked at */
	struct dp_buf paths;
};

struct dp_live_set *
dp_live_create(const struct dp_live_opts *opts)
{
	struct dp_live_set *s = calloc(1, sizeof *s);

	if (s != NULL)
		s->opts = *opts;
	return s;
}

static struct live_file *
file_at(const struct dp_live_set *s, size_t i)
{
	return DP_VEC_AT(&s->files, struct live_file, i);
}

static struct live_dof *
dof_at(const struct dp_live_set *s, size_t i)
{
	return DP_VEC_AT(&s->dofs, struct live_dof, i);
}

void
dp_live_destroy(struct dp_live_set *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->files.n; i++) {
		struct live_file *f = file_at(s, i);

		if (f->fd != -1)
			(void)close(f->fd);
		dp_vec_deinit(&f->lives);
		dp_vec_deinit(&f->maps);
	}
	for (size_t i = 0; i < s->dofs.n; i++)
		dp_buf_deinit(&dof_at(s, i)->bytes);
	dp_strmap_deinit(&s->by_id);
	dp_vec_deinit(&s->files);
	dp_vec_deinit(&s->dofs);
	dp_vec_deinit(&s->errors);
	dp_vec_deinit(&s->pids);
	dp_buf_deinit(&s->paths);
	free(s);
}

size_t
dp_live_count(const struct dp_live_set *s)
{
	return s->files.n;
}

size_t
dp_live_ndofs(const struct dp_live_set *s)
{
	return s->dofs.n;
}

bool
dp_live_put_errors(const struct dp_live_set *s, struct dp_extractor *x,
                   struct dp_err *e)
{
	for (size_t i = 0; i < s->errors.n; i++) {
		const struct live_error *r =
			DP_VEC_AT(&s->errors, struct live_error, i);
		struct dp_bytes path =
			dp_buf_part(&s->paths, r->path_off, r->path_size);

		if (!dp_extract_error(x, path, &r->what, e))
			return false;
	}
	return true;
}

/* Keep an error for the stream; without memory for it, it is lost. */
static void
complain(struct dp_live_set *s, const struct dp_process *p,
         struct dp_bytes path, struct dp_err *what)
{
	struct live_error *r = dp_vec_push(&s->errors, sizeof *r);

	if (strncmp(what->msg, "process ", 8) != 0) /* lib/proc names it */
		(void)dp_err_prefix(what, "process %d", (int)p->pid);
	if (r == NULL || !dp_buf_add(&s->paths, path.p, path.n))
		return;
	r->what = *what;
	r->path_off = s->paths.n - path.n;
	r->path_size = path.n;
}

static struct dp_live
live_of(const struct dp_process *p)
{
	return (struct dp_live){ .start_time = p->start,
		                 .pidns = p->pidns,
		                 .pid = (uint32_t)p->pid,
		                 .nspid = (uint32_t)p->ns_pid };
}

/* Remember that `p` maps file `f`; the maps are copied. */
static bool
add_live(struct live_file *f, const struct dp_process *p,
         const struct dp_object *o)
{
	struct dp_live *live = dp_vec_push(&f->lives, sizeof *live);
	struct dp_map *copy;

	if (live == NULL || !dp_vec_reserve(&f->maps, o->nmaps, sizeof *copy))
		return false;
	*live = live_of(p);
	live->dev = o->dev;
	live->ino = o->ino;
	live->nmaps = o->nmaps;
	copy = DP_VEC_AT(&f->maps, struct dp_map, f->maps.n);
	for (size_t i = 0; i < o->nmaps; i++) {
		copy[i] = o->maps[i];
		copy[i].path = (struct dp_bytes){ NULL, 0 };
	}
	f->maps.n += o->nmaps;
	return true;
}

/* Is this what a mapping of an ordinary file is called? */
static bool
is_file(struct dp_bytes path)
{
	return path.n != 0 && path.p[0] == '/';
}

/* Open the file when it is new; false in *there_ret: it is not to be had. */
static bool
find_file(struct dp_live_set *s, const struct dp_process *p,
          const struct dp_object *o, struct live_file **f_ret, struct dp_err *e)
{
	uint64_t id[2] = { o->dev, o->ino };
	struct dp_bytes key = { (const uint8_t *)id, sizeof id };
	struct dp_object_file of;
	struct dp_err what = DP_ERR_INIT;
	const uint32_t *known = dp_strmap_find(&s->by_id, key);
	struct live_file *f;
	bool added;

	*f_ret = NULL;
	if (known != NULL) {
		*f_ret = file_at(s, *known);
		return true;
	}
	if (!dp_object_open(p, o, &of, &what)) {
		if (dp_process_alive(p) && is_file(o->path))
			complain(s, p, o->path, &what);
		return true;
	}
	f = dp_vec_push(&s->files, sizeof *f);
	if (f == NULL || !dp_buf_add(&s->paths, o->path.p, o->path.n) ||
	    dp_strmap_add(&s->by_id, key, (uint32_t)s->files.n - 1, &added) ==
	            NULL) {
		(void)close(of.fd);
		if (f != NULL)
			f->fd = -1;
		return dp_extract_nomem(e);
	}
	*f = (struct live_file){ .fd = of.fd,
		                 .deleted = o->deleted,
		                 .path_off = s->paths.n - o->path.n,
		                 .path_size = o->path.n };
	*f_ret = f;
	return true;
}

static bool
add_objects(struct dp_live_set *s, const struct dp_process *p,
            const struct dp_objects *objs, struct dp_err *e)
{
	for (size_t i = 0; i < objs->objs.n; i++) {
		const struct dp_object *o =
			DP_VEC_AT(&objs->objs, struct dp_object, i);
		struct live_file *f;

		if (!find_file(s, p, o, &f, e))
			return false;
		if (f != NULL && !add_live(f, p, o))
			return dp_extract_nomem(e);
	}
	return true;
}

/* A search through the memory of one process. */
struct search {
	struct dp_live_set *set;
	const struct dp_process *p;
	const struct dp_memory *mem;
	struct dp_bytes maps; /* text */
	uint64_t left;        /* bytes of candidates that may be read */
};

/* Mapping that holds `addr`; false when none does. */
static bool
map_of(struct dp_bytes text, uint64_t addr, struct dp_map *map_ret,
       struct dp_maps *it)
{
	struct dp_err ignored = DP_ERR_INIT;
	enum dp_maps_step step;

	dp_maps_init(it, text);
	while ((step = dp_maps_next(it, map_ret, &ignored)) != DP_MAPS_END)
		if (step == DP_MAPS_ENTRY && addr >= map_ret->start &&
		    addr < map_ret->end)
			return true;
	return false;
}

/*
 * Bytes that look like DOF are in many places: what a program has read from
 * a file, for one.  One that this process can fire has a site in memory
 * that it can execute.
 */
static bool
fires(const struct search *q, const struct dp_dof *d, struct dp_maps *it)
{
	uint32_t s = dp_dof_find(d, DP_DOF_PROVIDER, 0);

	for (; s < d->secnum; s = dp_dof_find(d, DP_DOF_PROVIDER, s + 1)) {
		struct dp_err ignored = DP_ERR_INIT;
		struct dp_dof_provider prov;
		struct dp_dof_probe pr;
		struct dp_map map;
		enum dp_dof_kind kind;

		if (!dp_dof_provider(d, s, &prov, &ignored) ||
		    prov.nprobes == 0 ||
		    !dp_dof_probe(d, &prov, 0, &pr, &ignored))
			continue;
		kind = pr.offs[DP_DOF_SITE].n != 0 ? DP_DOF_SITE
		                                   : DP_DOF_ENABLED;
		if (map_of(q->maps, pr.addr + dp_dof_site(d, &pr, kind, 0),
		           &map, it) &&
		    (map.perms & DP_MAP_X))
			return true;
	}
	return false;
}

/* Read a candidate whole; an empty buffer when it is no DOF. */
static bool
read_dof(struct search *q, uint64_t addr, struct dp_buf *b, struct dp_err *e)
{
	struct dp_err ignored = DP_ERR_INIT;
	uint64_t size;

	if (!dp_buf_reserve(b, DP_DOF_HDR_SIZE))
		return dp_extract_nomem(e);
	b->n = dp_memory_read(q->mem, addr, b->p, DP_DOF_HDR_SIZE, &ignored);
	size = dp_dof_size(dp_buf_bytes(b));
	b->n = 0;
	if (size == 0)
		return true;
	/* Claims of 64 MiB at every eighth byte must not cost a day. */
	if (size > q->left)
		return dp_err_set(e, DP_ELIMIT, addr,
		                  "too much that looks like DOF");
	q->left -= size;
	if (!dp_buf_reserve(b, (size_t)size))
		return dp_extract_nomem(e);
	ignored = (struct dp_err)DP_ERR_INIT;
	b->n = dp_memory_read(q->mem, addr, b->p, (size_t)size, &ignored);
	return true;
}

static bool
add_dof(const struct search *q, uint64_t addr, struct dp_buf *b,
        const struct dp_map *map, struct dp_err *e)
{
	struct dp_live_set *s = q->set;
	struct live_dof *dof = dp_vec_push(&s->dofs, sizeof *dof);

	if (dof == NULL || !dp_buf_add(&s->paths, map->path.p, map->path.n))
		return dp_extract_nomem(e);
	*dof = (struct live_dof){ .live = live_of(q->p),
		                  .addr = addr,
		                  .path_off = s->paths.n - map->path.n,
		                  .path_size = map->path.n,
		                  .bytes = *b };
	*b = (struct dp_buf){ 0 };
	return true;
}

static bool
hit(void *arg, uint64_t addr, struct dp_err *e)
{
	struct search *q = arg;
	struct dp_maps *it = malloc(sizeof *it);
	struct dp_err ignored = DP_ERR_INIT;
	struct dp_buf b = { 0 };
	struct dp_map map;
	struct dp_dof d;
	bool ok = it != NULL || dp_extract_nomem(e);

	if (ok)
		ok = read_dof(q, addr, &b, e);
	if (ok && b.n != 0 && dp_dof_open(dp_buf_bytes(&b), &d, &ignored) &&
	    fires(q, &d, it) && map_of(q->maps, addr, &map, it)) {
		b.n = (size_t)dp_dof_extent(&d);
		ok = add_dof(q, addr, &b, &map, e);
	}
	dp_buf_deinit(&b);
	free(it);
	return ok;
}

static bool
search_memory(struct dp_live_set *s, const struct dp_process *p,
              struct dp_err *e)
{
	struct dp_memscan scan = { .hit = hit };
	struct dp_err what = DP_ERR_INIT;
	struct dp_buf text = { 0 };
	struct search q = { .set = s, .p = p, .left = DP_MAX_MEMSCAN };
	struct dp_memory mem;

	if (!dp_process_maps(p, &text, &what) ||
	    (text.n != 0 && !dp_memory_open(p, &mem, &what))) {
		complain(s, p, (struct dp_bytes){ NULL, 0 }, &what);
		dp_buf_deinit(&text);
		return true;
	}
	if (text.n == 0) { /* a thread of the kernel */
		dp_buf_deinit(&text);
		return true;
	}
	q.mem = &mem;
	q.maps = dp_buf_bytes(&text);
	scan.arg = &q;
	if (!dp_memory_scan(&mem, q.maps, &scan, &what) &&
	    dp_process_alive(p) && what.code != DP_ENOMEM)
		complain(s, p, (struct dp_bytes){ NULL, 0 }, &what);
	if (scan.cut) {
		what = (struct dp_err)DP_ERR_INIT;
		(void)dp_err_set(&what, DP_ELIMIT, DP_NOOFF,
		                 "memory searched up to %d bytes only",
		                 DP_MAX_MEMSCAN);
		complain(s, p, (struct dp_bytes){ NULL, 0 }, &what);
	}
	dp_memory_deinit(&mem);
	dp_buf_deinit(&text);
	return what.code != DP_ENOMEM || dp_extract_nomem(e);
}

/* Told, unless it went meanwhile or nobody asked for it by its number. */
static void
not_readable(struct dp_live_set *s, pid_t pid, struct dp_err *what)
{
	const struct dp_process p = { .pid = pid, .dirfd = -1 };

	if (!s->opts.quiet)
		complain(s, &p, (struct dp_bytes){ NULL, 0 }, what);
}

/* Remember a process; *again_ret: it was there already. */
static bool
note_pid(struct dp_live_set *s, pid_t pid, bool *again_ret)
{
	pid_t *slot;

	for (size_t i = 0; i < s->pids.n; i++) {
		if (*DP_VEC_AT(&s->pids, pid_t, i) == pid) {
			*again_ret = true;
			return true;
		}
	}
	slot = dp_vec_push(&s->pids, sizeof *slot);
	if (slot != NULL)
		*slot = pid;
	return slot != NULL;
}

bool
dp_live_add_pid(struct dp_live_set *s, pid_t pid, struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;
	struct dp_objects objs;
	struct dp_process p;
	bool ok, again = false;

	if (!note_pid(s, pid, &again))
		return dp_extract_nomem(e);
	if (again)
		return true;
	if (!dp_process_open(pid, &p, &what)) {
		not_readable(s, pid, &what);
		return true;
	}
	if (!dp_objects_read(&p, 0, &objs, &what)) {
		not_readable(s, pid, &what);
		dp_process_deinit(&p);
		return true;
	}
	ok = add_objects(s, &p, &objs, e);
	if (ok && s->opts.memory)
		ok = search_memory(s, &p, e);
	dp_objects_deinit(&objs);
	dp_process_deinit(&p);
	return ok;
}

bool
dp_live_add_all(struct dp_live_set *s, struct dp_err *e)
{
	struct dp_vec pids = { 0 };
	bool ok = dp_process_list(&pids, e);

	for (size_t i = 0; i < pids.n && ok; i++)
		ok = dp_live_add_pid(s, *DP_VEC_AT(&pids, pid_t, i), e);
	dp_vec_deinit(&pids);
	return ok;
}

/* The lives of a file with their maps; NULL when memory is out. */
static struct dp_live *
lives_of(const struct live_file *f)
{
	struct dp_live *lives = calloc(f->lives.n + 1, sizeof *lives);
	size_t at = 0;

	for (size_t i = 0; lives != NULL && i < f->lives.n; i++) {
		lives[i] = *DP_VEC_AT(&f->lives, struct dp_live, i);
		lives[i].maps = DP_VEC_AT(&f->maps, struct dp_map, at);
		at += lives[i].nmaps;
	}
	return lives;
}

bool
dp_live_extract(const struct dp_live_set *s, size_t i, struct dp_extractor *x,
                struct dp_err *e)
{
	const struct live_file *f = file_at(s, i);
	struct dp_live *lives = lives_of(f);
	uint8_t head[DP_GATE_HEAD];
	ssize_t n = pread(f->fd, head, sizeof head, 0);
	struct dp_extract_input in = {
		.path = dp_buf_part(&s->paths, f->path_off, f->path_size),
		.fd = f->fd,
		.head = { head, n < 0 ? 0 : (size_t)n },
		.deleted = f->deleted,
		.root_fd = AT_FDCWD,
		.lives = lives,
		.nlives = f->lives.n,
	};
	bool ok;

	if (lives == NULL)
		return dp_extract_nomem(e);
	ok = dp_extract_file(x, &in, e);
	free(lives);
	return ok;
}

bool
dp_live_extract_dof(const struct dp_live_set *s, size_t i,
                    struct dp_extractor *x, struct dp_err *e)
{
	const struct live_dof *d = dof_at(s, i);
	struct dp_memory_dof m = {
		.live = d->live,
		.path = dp_buf_part(&s->paths, d->path_off, d->path_size),
		.addr = d->addr,
		.bytes = dp_buf_bytes(&d->bytes),
	};

	return dp_extract_memory(x, &m, e);
}
