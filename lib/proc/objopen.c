/* SPDX-License-Identifier: BSD-2-Clause */
/* The half of objects.h that asks the file system of the process. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/openreg.h"
#include "base/range.h"
#include "proc/objects.h"
#include "proc/procfile.h"

/* A way to the file: an O_PATH descriptor, or -1 and errno. */
typedef int find_fn(const struct dp_process *p, const struct dp_object *o);

static bool
dev_is(uint64_t dev, const struct stat *st)
{
	return major(dev) == major(st->st_dev) &&
	       minor(dev) == minor(st->st_dev);
}

/* A mapping may end inside the last page, but begins and ends in the file. */
static bool
size_covers(const struct dp_object *o, uint64_t size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t room = dp_align_up(size, page);

	for (size_t i = 0; i < o->nmaps; i++) {
		const struct dp_map *m = &o->maps[i];

		if (!dp_range_ok(m->off, m->end - m->start, room))
			return false;
	}
	return true;
}

bool
dp_object_is(const struct dp_object *o, const struct stat *st,
             bool *differs_ret)
{
	if (!S_ISREG(st->st_mode) || (uint64_t)st->st_ino != o->ino)
		return false;
	if (dev_is(o->dev, st)) {
		*differs_ret = false;
		return true;
	}
	if (major(o->dev) != 0 && major(st->st_dev) != 0)
		return false;
	if (st->st_size < 0 || !size_covers(o, (uint64_t)st->st_size))
		return false;
	*differs_ret = true;
	return true;
}

static int
find_map_files(const struct dp_process *p, const struct dp_object *o)
{
	char name[64];
	int fd = -1;

	/* A mapping may have been split or moved since the text was read. */
	for (size_t i = 0; fd < 0 && i < o->nmaps; i++) {
		(void)snprintf(name, sizeof name,
		               "map_files/%" PRIx64 "-%" PRIx64,
		               o->maps[i].start, o->maps[i].end);
		fd = dp_procfile_open(p->dirfd, name, O_PATH);
		if (fd < 0 && errno != ENOENT)
			break;
	}
	return fd;
}

static int
find_exe(const struct dp_process *p, const struct dp_object *o)
{
	struct stat st;
	bool differs;
	int fd = dp_procfile_open(p->dirfd, "exe", O_PATH);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && dp_object_is(o, &st, &differs))
		return fd;
	/* Most objects are not the executable: that is no finding. */
	(void)close(fd);
	errno = ENOENT;
	return -1;
}

/*
 * `path` below `rootfd`.  The kernel prints resolved paths, so a symbolic
 * link in one is news, and must not lead us about in our own root.
 */
static int
open_below(int rootfd, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS,
	};
	long fd;

	do
		fd = syscall(SYS_openat2, rootfd, path, &how, sizeof how);
	while (fd < 0 && (errno == EINTR || errno == EAGAIN));
	if (fd >= 0 || errno != ENOSYS)
		return (int)fd;
	/* Before 5.6, or in a sandbox; the inode is compared in any case. */
	path += strspn(path, "/");
	return dp_procfile_open(rootfd, path, O_PATH | O_NOFOLLOW);
}

static int
find_root(const struct dp_process *p, const struct dp_object *o)
{
	int fd, err, root;

	if (o->path.n == 0 || o->path.p[0] != '/') {
		errno = ENOENT;
		return -1;
	}
	root = dp_procfile_open(p->dirfd, "root", O_PATH | O_DIRECTORY);
	if (root < 0)
		return -1;
	fd = open_below(root, (const char *)o->path.p);
	err = errno;
	(void)close(root);
	errno = err;
	return fd;
}

static int
find_path(const struct dp_process *p, const struct dp_object *o)
{
	struct stat theirs, ours;

	if (o->path.n == 0 || o->path.p[0] != '/' ||
	    fstatat(p->dirfd, "ns/mnt", &theirs, 0) != 0 ||
	    stat("/proc/self/ns/mnt", &ours) != 0 ||
	    theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino) {
		errno = ENOENT;
		return -1;
	}
	return dp_procfile_open(AT_FDCWD, (const char *)o->path.p,
	                        O_PATH | O_NOFOLLOW);
}

static find_fn *const ways[] = {
	[DP_VIA_MAP_FILES] = find_map_files,
	[DP_VIA_EXE] = find_exe,
	[DP_VIA_ROOT] = find_root,
	[DP_VIA_PATH] = find_path,
};
_Static_assert(sizeof ways / sizeof ways[0] == DP_VIA_PATH + 1,
               "every way has its function");

/* Go one way.  False with `e` still unset: nothing was found there. */
static bool
try_way(const struct dp_process *p, const struct dp_object *o,
        enum dp_object_via via, struct dp_object_file *f, struct dp_err *e)
{
	bool ok = false;
	struct stat st;
	int fd = ways[via](p, o);

	if (fd < 0)
		return errno == ENOENT ? false : dp_err_errno(e, errno, "find");
	f->via = via;
	if (fstat(fd, &st) != 0)
		(void)dp_err_errno(e, errno, "fstat");
	else if (!S_ISREG(st.st_mode))
		(void)dp_err_set(e, DP_EUNSUP, DP_NOOFF, "not a regular file");
	else if (!dp_object_is(o, &st, &f->dev_differs))
		(void)dp_err_set(e, DP_EIO, DP_NOOFF,
		                 "another file has its place");
	else if ((f->fd = dp_open_regular(fd, &f->st)) < 0)
		(void)dp_err_errno(e, errno, "open");
	else
		ok = true;
	(void)close(fd);
	return ok;
}

bool
dp_object_open(const struct dp_process *p, const struct dp_object *o,
               struct dp_object_file *f_ret, struct dp_err *e)
{
	struct dp_err last = DP_ERR_INIT;
	struct dp_object_file f = { .fd = -1 };

	for (int via = DP_VIA_MAP_FILES; via <= DP_VIA_PATH; via++) {
		struct dp_err now = DP_ERR_INIT;

		if (try_way(p, o, (enum dp_object_via)via, &f, &now)) {
			*f_ret = f;
			return true;
		}
		if (now.code != DP_OK)
			last = now;
	}
	if (last.code == DP_OK)
		(void)dp_err_errno(&last, ENOENT, "find");
	if (e->code == DP_OK)
		*e = last;
	return dp_err_prefix(e, "mapped file, inode %" PRIu64, o->ino);
}

/* True if a file of exactly this path is the one that is mapped. */
static bool
stands(const struct dp_process *p, const struct dp_object *o)
{
	bool differs, ok = false;
	struct stat st;
	int fd;

	for (int via = DP_VIA_ROOT; !ok && via <= DP_VIA_PATH; via++) {
		fd = ways[via](p, o);
		if (fd < 0)
			continue;
		ok = fstat(fd, &st) == 0 && dp_object_is(o, &st, &differs);
		(void)close(fd);
	}
	return ok;
}

void
dp_objects_confirm(const struct dp_process *p, struct dp_objects *o)
{
	for (size_t i = 0; i < o->objs.n; i++) {
		struct dp_object *obj =
			DP_VEC_AT(&o->objs, struct dp_object, i);
		struct dp_object whole = *obj;
		size_t cut;

		if (!obj->deleted)
			continue;
		/* The rest of the name stands behind the NUL. */
		cut = (size_t)(obj->path.p - o->names.p) + obj->path.n;
		o->names.p[cut] = ' ';
		whole.path.n += strlen((const char *)o->names.p + cut);
		if (stands(p, &whole)) {
			obj->path = whole.path;
			obj->deleted = false;
		} else {
			o->names.p[cut] = '\0';
		}
	}
}
