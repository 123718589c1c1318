/* SPDX-License-Identifier: BSD-2-Clause */
#include "extract/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "elf/gate.h"
#include "extract/livemem.h"
#include "extract/state.h"
#include "proc/objects.h"
#include "proc/process.h"

/* A file that processes map.  lives and maps grow while they are added. */
struct live_file {
	int fd; /* owned; -1 once it was extracted */
	bool deleted;
	size_t path_off, path_size; /* in set->paths */
	struct dp_vec lives;        /* struct dp_live; .maps set at the end */
	struct dp_vec maps;         /* struct dp_map of all of them */
};

struct live_error {
	struct dp_err what;
	size_t path_off, path_size;
};

struct dp_live_set {
	struct dp_live_opts opts;
	struct dp_strmap by_id; /* device, inode -> number of a file */
	struct dp_vec files;    /* struct live_file */
	struct dp_vec mems;     /* struct dp_livemem: to be searched */
	uint64_t maps_size;     /* bytes of maps in them */
	struct dp_livemem_found found;
	struct dp_vec errors; /* struct live_error */
	struct dp_vec pids;   /* pid_t: who was asked for by number */
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

static void
close_memory(struct dp_live_set *s)
{
	for (size_t i = 0; i < s->mems.n; i++)
		dp_livemem_deinit(DP_VEC_AT(&s->mems, struct dp_livemem, i));
	dp_vec_deinit(&s->mems);
	s->maps_size = 0;
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
	close_memory(s);
	dp_livemem_found_deinit(&s->found);
	dp_strmap_deinit(&s->by_id);
	dp_vec_deinit(&s->files);
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
	return s->found.dofs.n;
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
complain(struct dp_live_set *s, pid_t pid, struct dp_bytes path,
         struct dp_err *what)
{
	struct live_error *r = dp_vec_push(&s->errors, sizeof *r);

	if (strncmp(what->msg, "process ", 8) != 0) /* lib/proc names it */
		(void)dp_err_prefix(what, "process %d", (int)pid);
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

/* Open the file when it is new; NULL in *f_ret: it is not to be had. */
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
			complain(s, p->pid, o->path, &what);
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

/* Open its memory for the search that comes when the rights are gone. */
static bool
open_memory(struct dp_live_set *s, const struct dp_process *p, struct dp_err *e)
{
	const struct dp_live live = live_of(p);
	struct dp_err what = DP_ERR_INIT;
	struct dp_livemem m, *slot;

	if (dp_livemem_open(p, &live, &m, &what) &&
	    m.maps.n > DP_MAX_MEMSCAN - s->maps_size) {
		dp_livemem_deinit(&m);
		(void)dp_err_set(&what, DP_ELIMIT, DP_NOOFF,
		                 "over %d bytes of maps in all",
		                 DP_MAX_MEMSCAN);
	}
	if (what.code != DP_OK) {
		if (what.code == DP_ENOMEM)
			return dp_extract_nomem(e);
		if (dp_process_alive(p))
			complain(s, p->pid, (struct dp_bytes){ NULL, 0 },
			         &what);
		return true;
	}
	slot = dp_vec_push(&s->mems, sizeof *slot);
	if (slot == NULL) {
		dp_livemem_deinit(&m);
		return dp_extract_nomem(e);
	}
	*slot = m;
	s->maps_size += m.maps.n;
	return true;
}

/* Told, unless it went meanwhile or nobody asked for it by its number. */
static void
not_readable(struct dp_live_set *s, pid_t pid, struct dp_err *what)
{
	if (!s->opts.quiet)
		complain(s, pid, (struct dp_bytes){ NULL, 0 }, what);
}

static bool
add_process(struct dp_live_set *s, pid_t pid, struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;
	struct dp_objects objs;
	struct dp_process p;
	bool ok;

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
		ok = open_memory(s, &p, e);
	dp_objects_deinit(&objs);
	dp_process_deinit(&p);
	return ok;
}

bool
dp_live_add_pid(struct dp_live_set *s, pid_t pid, struct dp_err *e)
{
	pid_t *slot;

	for (size_t i = 0; i < s->pids.n; i++)
		if (*DP_VEC_AT(&s->pids, pid_t, i) == pid)
			return true;
	slot = dp_vec_push(&s->pids, sizeof *slot);
	if (slot == NULL)
		return dp_extract_nomem(e);
	*slot = pid;
	return add_process(s, pid, e);
}

bool
dp_live_add_all(struct dp_live_set *s, struct dp_err *e)
{
	struct dp_vec pids = { 0 };
	bool ok = dp_process_list(&pids, e);

	for (size_t i = 0; i < pids.n && ok; i++)
		ok = add_process(s, *DP_VEC_AT(&pids, pid_t, i), e);
	dp_vec_deinit(&pids);
	return ok;
}

bool
dp_live_search(struct dp_live_set *s, struct dp_err *e)
{
	const struct dp_livemem_limits lim = dp_livemem_limits();

	for (size_t i = 0; i < s->mems.n && !s->found.full; i++) {
		const struct dp_livemem *m =
			DP_VEC_AT(&s->mems, struct dp_livemem, i);
		struct dp_err what = DP_ERR_INIT;

		if (dp_livemem_search(m, &lim, &s->found, &what))
			continue;
		if (what.code == DP_ENOMEM)
			return dp_extract_nomem(e);
		complain(s, (pid_t)m->live.pid, (struct dp_bytes){ NULL, 0 },
		         &what);
	}
	close_memory(s);
	return true;
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

static bool
extract_open(const struct dp_live_set *s, const struct live_file *f,
             struct dp_extractor *x, struct dp_err *e)
{
	struct dp_live *lives;
	uint8_t head[DP_GATE_HEAD];
	ssize_t n = pread(f->fd, head, sizeof head, 0);
	struct dp_extract_input in = {
		.path = dp_buf_part(&s->paths, f->path_off, f->path_size),
		.fd = f->fd,
		.deleted = f->deleted,
		.root_fd = AT_FDCWD,
		.nlives = f->lives.n,
	};
	bool ok;

	if (n < 0) {
		struct dp_err what = DP_ERR_INIT;

		(void)dp_err_errno(&what, errno, "read");
		return dp_extract_error(x, in.path, &what, e);
	}
	in.head = (struct dp_bytes){ head, (size_t)n };
	lives = lives_of(f);
	if (lives == NULL)
		return dp_extract_nomem(e);
	in.lives = lives;
	ok = dp_extract_file(x, &in, e);
	free(lives);
	return ok;
}

bool
dp_live_extract(const struct dp_live_set *s, size_t i, struct dp_extractor *x,
                struct dp_err *e)
{
	struct live_file *f = file_at(s, i);
	bool ok;

	if (f->fd == -1)
		return dp_err_set(e, DP_EUSAGE, DP_NOOFF,
		                  "a mapped file was asked for twice");
	ok = extract_open(s, f, x, e);
	(void)close(f->fd);
	f->fd = -1;
	return ok;
}

bool
dp_live_extract_dof(const struct dp_live_set *s, size_t i,
                    struct dp_extractor *x, struct dp_err *e)
{
	const struct dp_livemem_dof *d =
		DP_VEC_AT(&s->found.dofs, struct dp_livemem_dof, i);
	struct dp_memory_dof m = {
		.live = d->live,
		.path = dp_buf_bytes(&d->path),
		.addr = d->addr,
		.bytes = dp_buf_bytes(&d->bytes),
	};

	return dp_extract_memory(x, &m, e);
}
