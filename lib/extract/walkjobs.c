/* SPDX-License-Identifier: BSD-2-Clause */
/* The jobs of a walk but for directories, which have walkdir.c. */
#include "extract/walkjobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "elf/gate.h"
#include "extract/live.h"

enum {
	/* O_NONBLOCK: should a FIFO have taken the name, do not hang on it */
	OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
	LIST_BYTES = 8192, /* of a list, for one job */
	LIVE_FILES = 16,   /* of processes, for one job */
};

struct dp_walk_job *
dp_walk_job_create(enum dp_walk_kind kind, struct dp_bytes names)
{
	struct dp_walk_job *j = calloc(1, sizeof *j);

	if (j == NULL)
		return NULL;
	j->kind = kind;
	j->fd = -1;
	if (!dp_buf_add(&j->names, names.p, names.n) ||
	    !dp_buf_add(&j->names, "", 1)) {
		dp_walk_free_job(&j->job);
		return NULL;
	}
	return j;
}

void
dp_walk_free_job(struct dp_job *job)
{
	struct dp_walk_job *j = (struct dp_walk_job *)job;

	if (j->fd > STDERR_FILENO)
		(void)close(j->fd);
	if (j->dir != NULL)
		dp_dir_drop(j->dir);
	dp_buf_deinit(&j->list);
	dp_buf_deinit(&j->names);
	free(j->what);
	free(j);
}

bool
dp_walk_errno(struct dp_worker *wk, struct dp_bytes path, int errnum,
              struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;

	(void)dp_err_errno(&what, errnum, "%s", "");
	return dp_extract_error(wk->x, path, &what, e);
}

bool
dp_walk_error(struct dp_worker *wk, struct dp_bytes path, enum dp_code code,
              const char *what, struct dp_err *e)
{
	struct dp_err err = DP_ERR_INIT;

	(void)dp_err_set(&err, code, DP_NOOFF, "%s", what);
	return dp_extract_error(wk->x, path, &err, e);
}

bool
dp_walk_path(struct dp_worker *wk, const struct dp_dir *dir, const char *name,
             struct dp_err *e)
{
	const struct dp_dirname *up = dir == NULL ? NULL : dir->name;
	size_t at = up == NULL ? 0 : up->path_len;

	wk->path.n = 0;
	if (!dp_buf_reserve(&wk->path, at + strlen(name) + 1))
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	wk->path.n = at;
	(void)dp_buf_str(&wk->path, name); /* there is room */
	for (; up != NULL; up = up->up) {
		at -= up->len;
		memcpy(wk->path.p + at, up->part, up->len);
	}
	return true;
}

static void
tick(struct dp_worker *wk)
{
	struct dp_walk *w = wk->walk;
	uint64_t n = atomic_fetch_add(&w->files, 1) + 1;
	uint64_t mine = dp_extractor_found(wk->x);

	if (mine != wk->told) {
		(void)atomic_fetch_add(&w->found, mine - wk->told);
		wk->told = mine;
	}
	if (w->opts.tick != NULL && n % 64 == 0)
		w->opts.tick(w->opts.extract.ctx, n, atomic_load(&w->found));
}

/* The path is made only for a file that turns out to be of interest. */
static bool
read_open(struct dp_worker *wk, struct dp_dir *dir, const char *name, int fd,
          struct dp_err *e)
{
	uint8_t head[DP_GATE_HEAD];
	ssize_t n = pread(fd, head, sizeof head, 0);
	struct dp_extract_input in = { .fd = fd,
		                       .head = { head, 0 },
		                       .named = wk->job->kind == DP_WALK_PATH ||
		                                wk->job->kind == DP_WALK_FD,
		                       .only_dev = dir != NULL,
		                       .root_fd = AT_FDCWD };

	if (n < 0) {
		int err = errno;

		return dp_walk_path(wk, dir, name, e) &&
		       dp_walk_errno(wk, dp_buf_bytes(&wk->path), err, e);
	}
	in.head.n = (size_t)n;
	if (dir != NULL && dp_magic_of(in.head) == DP_MAGIC_NONE)
		return true;
	if (!dp_walk_path(wk, dir, name, e))
		return false;
	in.path = dp_buf_bytes(&wk->path);
	if (dir != NULL)
		in.dev = dir->dev;
	return dp_extract_file(wk->x, &in, e);
}

/* Is the file of the tree still there, and nothing mounted over it? */
static bool
is_plain(const struct dp_dir *dir, const char *name)
{
	struct stat st;

	if (fstatat(dir->fd, name, &st,
	            AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0)
		return true; /* open will say why */
	return S_ISREG(st.st_mode) && st.st_dev == dir->dev;
}

bool
dp_walk_file(struct dp_worker *wk, struct dp_dir *dir, const char *name,
             struct dp_err *e)
{
	bool ok;
	int fd;

	tick(wk);
	if (dir != NULL && dir->careful && !is_plain(dir, name))
		return true;
	fd = openat(dir == NULL ? AT_FDCWD : dir->fd, name,
	            dir == NULL ? OPEN_FLAGS : OPEN_FLAGS | O_NOFOLLOW);
	if (fd == -1) {
		int err = errno;

		/* It went, or became a link, while we were under way. */
		if (dir != NULL && (err == ENOENT || err == ELOOP))
			return true;
		return dp_walk_path(wk, dir, name, e) &&
		       dp_walk_errno(wk, dp_buf_bytes(&wk->path), err, e);
	}
	ok = read_open(wk, dir, name, fd, e);
	(void)close(fd);
	return ok;
}

/* A tree: its top directory is a job of its own. */
static bool
begin_tree(struct dp_worker *wk, const char *path, struct dp_err *e)
{
	struct dp_walk_job *j = dp_walk_job_create(DP_WALK_DIR, dp_cstr(path));

	if (j == NULL)
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	dp_queue_put(&wk->walk->queue, &wk->job->job, &j->job);
	return true;
}

/*
 * A name of its own.  One that was given must be an object, or a directory
 * with -r; a list may hold anything, and what is no object is passed over.
 */
static bool
named_path(struct dp_worker *wk, const char *path, bool listed,
           struct dp_err *e)
{
	struct stat st;

	if (path[0] == '\0')
		return dp_walk_error(wk, dp_cstr("''"), DP_EUSAGE, "empty path",
		                     e);
	if (stat(path, &st) != 0)
		return dp_walk_errno(wk, dp_cstr(path), errno, e);
	if (S_ISREG(st.st_mode))
		return dp_walk_file(wk, NULL, path, e);
	if (listed)
		return true;
	if (!S_ISDIR(st.st_mode))
		return dp_walk_error(wk, dp_cstr(path), DP_EUSAGE,
		                     "not a regular file", e);
	if (!wk->walk->opts.recursive)
		return dp_walk_error(wk, dp_cstr(path), DP_EUSAGE,
		                     "is a directory (-r goes into it)", e);
	return begin_tree(wk, path, e);
}

static bool
do_path(struct dp_worker *wk, struct dp_err *e)
{
	return named_path(wk, (const char *)wk->job->names.p, false, e);
}

static bool
do_fd(struct dp_worker *wk, struct dp_err *e)
{
	tick(wk);
	return read_open(wk, NULL, (const char *)wk->job->names.p, wk->job->fd,
	                 e);
}

/* Several names: of a directory, or of a list. */
static bool
do_files(struct dp_worker *wk, struct dp_err *e)
{
	struct dp_walk_job *j = wk->job;
	size_t at = 0;

	/* the last NUL is the job's own */
	while (at + 1 < j->names.n) {
		const char *name = (const char *)j->names.p + at;

		at += strlen(name) + 1;
		if (j->dir != NULL ? !dp_walk_file(wk, j->dir, name, e)
		                   : !named_path(wk, name, true, e))
			return false;
	}
	return true;
}

/*
 * Bytes of a list up to the last NUL; what is behind it waits in the job's
 * names.  *end_ret: the list is at its end.
 */
static bool
read_list(struct dp_worker *wk, struct dp_buf *b, bool *end_ret,
          struct dp_err *e)
{
	*end_ret = false;
	while (b->n < LIST_BYTES || memrchr(b->p, '\0', b->n) == NULL) {
		ssize_t n;

		if (b->n > DP_MAX_PATH) /* no path is that long */
			return true;
		if (!dp_buf_reserve(b, LIST_BYTES))
			return dp_err_set(e, DP_ENOMEM, DP_NOOFF,
			                  "out of memory");
		n = read(wk->job->fd, b->p + b->n, LIST_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 &&
		    !dp_walk_errno(wk, dp_buf_bytes(&wk->job->list), errno, e))
			return false;
		if (n <= 0) {
			*end_ret = true;
			return true;
		}
		b->n += (size_t)n;
	}
	return true;
}

/* The whole paths of `b` become one job; behind it the list goes on. */
static bool
do_list(struct dp_worker *wk, struct dp_err *e)
{
	struct dp_walk_job *list = wk->job, *files, *rest = NULL;
	struct dp_buf *b = &list->names;
	const uint8_t *nul;
	size_t whole;
	bool end;

	b->n--; /* the NUL that every job's names end with */
	if (!list->resumed) {
		if (!dp_buf_add(&list->list, b->p, b->n))
			return dp_err_set(e, DP_ENOMEM, DP_NOOFF,
			                  "out of memory");
		b->n = 0;
	}
	if (!read_list(wk, b, &end, e))
		return false;
	nul = b->n == 0 ? NULL : memchr(b->p, '\0', b->n);
	/* Only the first can be that long: others would still be read. */
	if ((nul == NULL ? b->n : (size_t)(nul - b->p)) > DP_MAX_PATH)
		return dp_walk_error(wk, dp_buf_bytes(&list->list), DP_ELIMIT,
		                     "path too long, list given up", e);
	nul = b->n == 0 ? NULL : memrchr(b->p, '\0', b->n);
	whole = end || nul == NULL ? b->n : (size_t)(nul + 1 - b->p);
	files = dp_walk_job_create(DP_WALK_FILES,
	                           (struct dp_bytes){ b->p, whole });
	if (!end)
		rest = dp_walk_job_create(
			DP_WALK_LIST,
			(struct dp_bytes){ b->p + whole, b->n - whole });
	if (files == NULL || (!end && rest == NULL)) {
		if (files != NULL)
			dp_walk_free_job(&files->job);
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	}
	if (rest != NULL) {
		rest->resumed = true;
		rest->fd = list->fd;
		list->fd = -1;
		rest->list = list->list;
		list->list = (struct dp_buf){ 0 };
		dp_queue_put(&wk->walk->queue, &list->job, &rest->job);
	}
	dp_queue_put(&wk->walk->queue, &list->job, &files->job);
	return true;
}

/* Files of processes, a few a job. */
static bool
do_live(struct dp_worker *wk, struct dp_err *e)
{
	size_t n =
		dp_live_count(wk->walk->live) + dp_live_ndofs(wk->walk->live);
	struct dp_job *chain = NULL;
	size_t parts = (n + LIVE_FILES - 1) / LIVE_FILES;

	if (!dp_live_put_errors(wk->walk->live, wk->x, e))
		return false;
	/* from the end, so that each goes before the one made before */
	while (parts != 0) {
		struct dp_walk_job *j =
			dp_walk_job_create(DP_WALK_LIVE_PART, dp_cstr(""));

		if (j == NULL)
			break;
		j->from = --parts * LIVE_FILES;
		j->to = n - j->from < LIVE_FILES ? n : j->from + LIVE_FILES;
		j->job.next = chain;
		chain = &j->job;
	}
	dp_queue_put(&wk->walk->queue, &wk->job->job, chain);
	return parts == 0 ||
	       dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
}

static bool
do_live_part(struct dp_worker *wk, struct dp_err *e)
{
	const struct dp_live_set *set = wk->walk->live;
	size_t nfiles = dp_live_count(set);

	for (size_t i = wk->job->from; i < wk->job->to; i++) {
		tick(wk);
		if (i < nfiles
		            ? !dp_live_extract(set, i, wk->x, e)
		            : !dp_live_extract_dof(set, i - nfiles, wk->x, e))
			return false;
	}
	return true;
}

static bool
do_error(struct dp_worker *wk, struct dp_err *e)
{
	return dp_extract_error(wk->x, dp_cstr((const char *)wk->job->names.p),
	                        wk->job->what, e);
}

static bool (*const doers[DP_WALK_KIND_COUNT])(struct dp_worker *wk,
                                               struct dp_err *e) = {
	[DP_WALK_PATH] = do_path,   [DP_WALK_FD] = do_fd,
	[DP_WALK_LIST] = do_list,   [DP_WALK_DIR] = dp_walk_dir,
	[DP_WALK_FILES] = do_files, [DP_WALK_DIRS] = dp_walk_dirs,
	[DP_WALK_LIVE] = do_live,   [DP_WALK_LIVE_PART] = do_live_part,
	[DP_WALK_ERROR] = do_error,
};

bool
dp_walk_do(struct dp_worker *wk, struct dp_err *e)
{
	return doers[wk->job->kind](wk, e);
}
