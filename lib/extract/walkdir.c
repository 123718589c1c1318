/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One part of a directory: its names are read in parts of limited size, so
 * that memory does not grow with the directory.  Files are read by this
 * job, or in chunks by others when there are many; each subdirectory
 * becomes a job right behind, and so does what is left of the directory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "extract/walkjobs.h"

enum {
	RAW_BYTES = 64 << 10, /* of one getdents64 call */
	PART_NAMES = 8192,    /* names read before they are worked on */
	INLINE_FILES = 64,    /* files that this job reads itself */
	CHUNK_FILES = 128,    /* files of another job */
	CHUNK_DIRS = 64,      /* directories that are jobs at a time */
};

struct dp_dir *
dp_dir_hold(struct dp_dir *d)
{
	(void)atomic_fetch_add(&d->refs, 1);
	return d;
}

/* Names live on when the descriptor is closed, while those below need them. */
static void
drop_name(struct dp_dirname *n)
{
	while (n != NULL && atomic_fetch_sub(&n->refs, 1) == 1) {
		struct dp_dirname *up = n->up;

		free(n);
		n = up;
	}
}

/* The name of a directory in `up`, or of the top one; NULL: no memory. */
static struct dp_dirname *
make_name(struct dp_dirname *up, const char *name)
{
	struct dp_bytes s = dp_cstr(name); /* not empty */
	size_t slash = s.p[s.n - 1] == '/' ? 0 : 1;
	struct dp_dirname *n = malloc(sizeof *n + s.n + slash);

	if (n == NULL)
		return NULL;
	memcpy(n->part, s.p, s.n);
	n->part[s.n + slash - 1] = '/'; /* a length, no NUL */
	n->len = s.n + slash;
	n->path_len = n->len + (up == NULL ? 0 : up->path_len);
	n->refs = 1;
	n->up = up;
	if (up != NULL)
		(void)atomic_fetch_add(&up->refs, 1);
	return n;
}

void
dp_dir_drop(struct dp_dir *d)
{
	if (atomic_fetch_sub(&d->refs, 1) != 1)
		return;
	if (d->fd != -1)
		(void)close(d->fd);
	drop_name(d->name);
	free(d);
}

void
dp_walk_batch_deinit(struct dp_walk_batch *b)
{
	dp_buf_deinit(&b->raw);
	dp_buf_deinit(&b->names);
	dp_vec_deinit(&b->files);
	dp_vec_deinit(&b->dirs);
}

static bool
nomem(struct dp_err *e)
{
	return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
}

/*
 * Open the directory of this job.  *dir_ret stays NULL when it is not to be
 * walked: it cannot be opened (told), or lies on another file system.
 */
static bool
open_dir(struct dp_worker *wk, struct dp_dir **dir_ret, struct dp_err *e)
{
	struct dp_walk_job *j = wk->job;
	const char *name = (const char *)j->names.p;
	struct dp_dir *up = j->dir;
	int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC |
	            (up == NULL ? 0 : O_NOFOLLOW);
	int fd = openat(up == NULL ? AT_FDCWD : up->fd, name, flags);
	int err = errno;
	struct dp_dir *d;
	struct stat st;

	if (fd == -1) /* gone, or replaced, meanwhile: no news */
		return (up != NULL &&
		        (err == ENOENT || err == ELOOP || err == ENOTDIR)) ||
		       (dp_walk_path(wk, up, name, e) &&
		        dp_walk_errno(wk, dp_buf_bytes(&wk->path), err, e));
	if (fstat(fd, &st) != 0 || (up != NULL && st.st_dev != up->dev)) {
		(void)close(fd);
		return true;
	}
	if (up != NULL && up->depth + 1 > DP_MAX_DEPTH) {
		(void)close(fd);
		return dp_walk_path(wk, up, name, e) &&
		       dp_walk_error(wk, dp_buf_bytes(&wk->path), DP_ELIMIT,
		                     "directories too deep in each other", e);
	}
	d = calloc(1, sizeof *d);
	if (d == NULL) {
		(void)close(fd);
		return nomem(e);
	}
	d->fd = fd;
	d->refs = 1;
	d->dev = st.st_dev;
	d->careful = dp_mounts_in(&wk->walk->mounts, &st);
	d->depth = up == NULL ? 0 : up->depth + 1;
	d->name = make_name(up == NULL ? NULL : up->name, name);
	if (d->name == NULL) {
		dp_dir_drop(d);
		return nomem(e);
	}
	*dir_ret = d;
	return true;
}

/* What an entry is; file systems may leave that to stat. */
static unsigned char
type_of(const struct dp_dir *d, const struct dirent64 *de)
{
	struct stat st;

	if (de->d_type != DT_UNKNOWN)
		return de->d_type;
	if (fstatat(d->fd, de->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return DT_UNKNOWN;
	return S_ISDIR(st.st_mode)   ? DT_DIR
	       : S_ISREG(st.st_mode) ? DT_REG
	                             : DT_UNKNOWN;
}

/* Keep a name's offset in `v`; pointers come when the names stay put. */
static bool
keep(struct dp_walk_batch *b, struct dp_vec *v, const char *name)
{
	size_t *off = dp_vec_push(v, sizeof *off);

	if (off == NULL)
		return false;
	*off = b->names.n;
	return dp_buf_add(&b->names, name, strlen(name) + 1);
}

static bool
keep_entries(struct dp_walk_batch *b, const struct dp_dir *d, size_t n)
{
	for (size_t at = 0; at < n;) {
		/* the kernel's own layout, aligned by it */
		const struct dirent64 *de = (const void *)(b->raw.p + at);
		const char *name = de->d_name;
		unsigned char type;

		at += de->d_reclen;
		if (name[0] == '.' &&
		    (name[1] == '\0' || (name[1] == '.' && name[2] == '\0')))
			continue;
		type = type_of(d, de);
		if ((type == DT_REG && !keep(b, &b->files, name)) ||
		    (type == DT_DIR && !keep(b, &b->dirs, name)))
			return false;
	}
	return true;
}

static bool
tell_unread(struct dp_worker *wk, const struct dp_dir *d, int errnum,
            struct dp_err *e)
{
	return dp_walk_path(wk, d, "", e) &&
	       dp_walk_errno(wk, dp_buf_bytes(&wk->path), errnum, e);
}

/* Read names until there are enough; *more_ret: there are more. */
static bool
read_names(struct dp_worker *wk, const struct dp_dir *d, bool *more_ret,
           struct dp_err *e)
{
	struct dp_walk_batch *b = &wk->batch;

	*more_ret = false;
	b->names.n = b->files.n = b->dirs.n = 0;
	if (!dp_buf_reserve(&b->raw, RAW_BYTES))
		return nomem(e);
	for (;;) {
		ssize_t n = getdents64(d->fd, b->raw.p, RAW_BYTES);

		if (n < 0)
			return tell_unread(wk, d, errno, e);
		if (n == 0)
			return true;
		if (!keep_entries(b, d, (size_t)n))
			return nomem(e);
		if (b->files.n + b->dirs.n >= PART_NAMES) {
			*more_ret = true;
			return true;
		}
	}
}

static int
cmp_name(const void *a, const void *b, void *names)
{
	const char *base = names;

	return strcmp(base + *(const size_t *)a, base + *(const size_t *)b);
}

static void
sort_names(struct dp_walk_batch *b, struct dp_vec *v)
{
	if (v->n > 1)
		qsort_r(v->p, v->n, sizeof(size_t), cmp_name, b->names.p);
}

static const char *
name_at(const struct dp_walk_batch *b, const struct dp_vec *v, size_t i)
{
	return (const char *)b->names.p + *DP_VEC_AT(v, size_t, i);
}

/* Names [from, to) of a list of the batch. */
struct name_span {
	const struct dp_vec *list;
	size_t from, to;
};

/* Jobs that are to go into the queue together. */
struct chain {
	struct dp_job *first, *last;
};

/* A job that needs the directory, at the end of the chain. */
static struct dp_walk_job *
chain_job(struct chain *c, enum dp_walk_kind kind, struct dp_dir *d,
          struct dp_bytes names)
{
	struct dp_walk_job *j = dp_walk_job_create(kind, names);

	if (j == NULL)
		return NULL;
	j->dir = dp_dir_hold(d);
	if (c->last != NULL)
		c->last->next = &j->job;
	else
		c->first = &j->job;
	c->last = &j->job;
	return j;
}

/* Names [from, to) of a list as one job. */
static bool
chain_names(struct chain *c, enum dp_walk_kind kind, struct dp_dir *d,
            const struct dp_walk_batch *b, struct name_span span)
{
	struct dp_buf names = { 0 };
	bool ok = true;

	for (size_t i = span.from; i < span.to && ok; i++) {
		const char *s = name_at(b, span.list, i);

		ok = dp_buf_add(&names, s, strlen(s) + 1);
	}
	ok = ok && chain_job(c, kind, d, dp_buf_bytes(&names)) != NULL;
	dp_buf_deinit(&names);
	return ok;
}

/* Files past the first few go to other jobs, in chunks. */
static bool
chain_files(const struct dp_walk_batch *b, struct dp_dir *d, size_t from,
            struct chain *c)
{
	for (size_t i = from; i < b->files.n; i += CHUNK_FILES) {
		struct name_span span = { &b->files, i, i + CHUNK_FILES };

		if (span.to > b->files.n)
			span.to = b->files.n;
		if (!chain_names(c, DP_WALK_FILES, d, b, span))
			return false;
	}
	return true;
}

/*
 * The first directories are jobs of their own; the others wait as names,
 * which take a tenth of the memory: trees can be wide at every level.
 */
static bool
chain_all(const struct dp_walk_batch *b, struct dp_dir *d, size_t from,
          bool more, struct chain *c)
{
	struct name_span rest = { &b->dirs, CHUNK_DIRS, b->dirs.n };
	struct dp_walk_job *resumed;

	if (!chain_files(b, d, from, c))
		return false;
	for (size_t i = 0; i < b->dirs.n && i < CHUNK_DIRS; i++)
		if (chain_job(c, DP_WALK_DIR, d,
		              dp_cstr(name_at(b, &b->dirs, i))) == NULL)
			return false;
	if (rest.from < rest.to && !chain_names(c, DP_WALK_DIRS, d, b, rest))
		return false;
	if (!more)
		return true;
	resumed = chain_job(c, DP_WALK_DIR, d, dp_cstr(""));
	if (resumed != NULL)
		resumed->resumed = true;
	return resumed != NULL;
}

/* The next few of the names become jobs, the others wait on. */
bool
dp_walk_dirs(struct dp_worker *wk, struct dp_err *e)
{
	const struct dp_walk_job *j = wk->job;
	struct dp_bytes names = { j->names.p, j->names.n - 1 };
	struct chain c = { 0 };
	bool ok = true;

	for (size_t i = 0; i < CHUNK_DIRS && names.n != 0 && ok; i++) {
		struct dp_bytes name = dp_cstr((const char *)names.p);

		ok = chain_job(&c, DP_WALK_DIR, j->dir, name) != NULL;
		names.p += name.n + 1;
		names.n -= name.n + 1;
	}
	if (ok && names.n != 0)
		ok = chain_job(&c, DP_WALK_DIRS, j->dir, names) != NULL;
	dp_queue_put(&wk->walk->queue, &wk->job->job, c.first);
	return ok || nomem(e);
}

bool
dp_walk_dir(struct dp_worker *wk, struct dp_err *e)
{
	struct dp_walk_batch *b = &wk->batch;
	struct chain chain = { 0 };
	struct dp_dir *d = NULL;
	bool more = false, ok;
	size_t n;

	if (wk->job->resumed)
		d = dp_dir_hold(wk->job->dir);
	else if (!open_dir(wk, &d, e))
		return false;
	if (d == NULL)
		return true;
	ok = read_names(wk, d, &more, e);
	if (ok) {
		sort_names(b, &b->files);
		sort_names(b, &b->dirs);
		n = b->files.n > INLINE_FILES && wk->walk->opts.threads > 1
		            ? INLINE_FILES
		            : b->files.n;
		ok = chain_all(b, d, n, more, &chain) || nomem(e);
		/* also what there is of it: the queue frees it */
		dp_queue_put(&wk->walk->queue, &wk->job->job, chain.first);
		for (size_t i = 0; i < n && ok; i++)
			ok = dp_walk_file(wk, d, name_at(b, &b->files, i), e);
	}
	dp_dir_drop(d);
	return ok;
}
