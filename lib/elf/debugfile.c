/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/debugfile.h"

#include <elf.h>
#include <errno.h>
#include <linux/openat2.h>
#include <lzma.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/openreg.h"
#include "base/range.h"
#include "elf/identity.h"

enum { CHUNK = 256 << 10 };

/* A search; path and ids are owned. */
struct hunt {
	const struct dp_elf *elf;
	const struct dp_debugwhere *where;
	struct dp_buf id;   /* build-id of the object */
	struct dp_buf link; /* its .gnu_debuglink */
	uint32_t crc;       /* and what that file must have */
	struct dp_buf path;
	int fd; /* what was found, or -1 */
};

/*
 * Find `path` with `root` for "/".  Links inside a foreign root must not
 * lead out of it; a kernel before 5.6 cannot promise that, but then too
 * a file has to prove itself.
 */
static int
find_under(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
		                .resolve = RESOLVE_IN_ROOT |
		                           RESOLVE_NO_MAGICLINKS };
	long fd;

	if (root == AT_FDCWD)
		return openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);
	fd = syscall(SYS_openat2, root, path, &how, sizeof how);
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return (int)fd;
	while (*path == '/')
		path++;
	return openat(root, path, O_PATH | O_CLOEXEC);
}

/* Not the object itself? */
static bool
is_another(const struct hunt *h, const struct stat *st)
{
	struct stat own;

	if (h->elf->src.fd < 0 || fstat(h->elf->src.fd, &own) != 0)
		return true;
	return st->st_dev != own.st_dev || st->st_ino != own.st_ino;
}

static bool
crc_matches(const struct hunt *h, int fd)
{
	struct dp_src src = dp_src_fd(fd, 0, DP_SRC_UNKNOWN);
	struct dp_err ignored = DP_ERR_INIT;
	struct dp_buf buf = { 0 };
	uint32_t crc = 0;
	uint64_t at = 0;
	bool ok;

	do {
		buf.n = 0;
		ok = at <= DP_MAX_DEBUGFILE &&
		     dp_src_some(&src, at, &buf, CHUNK, &ignored);
		if (ok && buf.n != 0)
			crc = lzma_crc32(buf.p, buf.n, crc);
		at += buf.n;
	} while (ok && buf.n != 0);
	dp_buf_deinit(&buf);
	return ok && at <= DP_MAX_DEBUGFILE && crc == h->crc;
}

/*
 * It has symbols and is of the same kind, and its build-id is that of the
 * object; with `need_id` false a file without one passes, too.
 */
static bool
is_right(const struct hunt *h, int fd, bool need_id)
{
	struct dp_src src = dp_src_fd(fd, 0, DP_SRC_UNKNOWN);
	struct dp_err ignored = DP_ERR_INIT;
	const struct dp_elf_sec *tab;
	struct dp_buf id = { 0 };
	struct dp_elf elf;
	bool ok = false;

	if (!dp_elf_open(&elf, &src, &ignored))
		return false;
	tab = dp_elf_sec_typed(&elf, SHT_SYMTAB);
	if (tab != NULL && tab->size != 0 && elf.word == h->elf->word &&
	    elf.order == h->elf->order && elf.machine == h->elf->machine &&
	    dp_elf_build_id(&elf, &id, &ignored))
		ok = dp_bytes_eq(dp_buf_bytes(&id), dp_buf_bytes(&h->id)) ||
		     (!need_id && (id.n == 0 || h->id.n == 0));
	dp_buf_deinit(&id);
	dp_elf_close(&elf);
	return ok;
}

/* Try h->path; `by_link` says how the file has to prove itself. */
static void
try_path(struct hunt *h, int root, bool by_link)
{
	int pathfd = find_under(root, (const char *)h->path.p);
	struct stat st;
	int fd;

	if (pathfd < 0)
		return;
	fd = dp_open_regular(pathfd, &st);
	(void)close(pathfd);
	if (fd < 0)
		return;
	if (is_another(h, &st) && is_right(h, fd, !by_link) &&
	    (!by_link || crc_matches(h, fd)))
		h->fd = fd;
	else
		(void)close(fd);
}

/* DIR/.build-id/ab/cdef.debug */
static bool
hunt_by_id(struct hunt *h, int root)
{
	const struct dp_buf *id = &h->id;

	if (h->fd >= 0 || id->n < 2 || h->where->debug_dir == NULL)
		return true;
	h->path.n = 0;
	if (!dp_buf_printf(&h->path, "%s/.build-id/%02x/", h->where->debug_dir,
	                   id->p[0]))
		return false;
	for (size_t i = 1; i < id->n; i++)
		if (!dp_buf_printf(&h->path, "%02x", id->p[i]))
			return false;
	if (!dp_buf_printf(&h->path, ".debug"))
		return false;
	try_path(h, root, false);
	return true;
}

/* A/B/C/link, each of A, B, C may be "". */
static bool
hunt_by_link(struct hunt *h, int root, const char *a, const char *b,
             const char *c)
{
	if (h->fd >= 0 || h->link.n == 0)
		return true;
	h->path.n = 0;
	if (!dp_buf_printf(&h->path, "%s%s%s/", a, b, c) ||
	    !dp_buf_add(&h->path, h->link.p, h->link.n) ||
	    !dp_buf_add(&h->path, "", 1))
		return false;
	try_path(h, root, true);
	return true;
}

/* Look everywhere; false when memory is out. */
static bool
hunt_all(struct hunt *h)
{
	const char *dir = h->where->object_dir;
	const char *debug = h->where->debug_dir;
	int root = h->where->root_fd;

	if (!hunt_by_id(h, root) ||
	    (root != AT_FDCWD && !hunt_by_id(h, AT_FDCWD)))
		return false;
	if (dir == NULL)
		return true;
	if (!hunt_by_link(h, root, dir, "", "") ||
	    !hunt_by_link(h, root, dir, "/.debug", ""))
		return false;
	if (debug == NULL || dir[0] != '/')
		return true;
	return hunt_by_link(h, root, debug, dir, "") &&
	       (root == AT_FDCWD || hunt_by_link(h, AT_FDCWD, debug, dir, ""));
}

/* A name that stays in the folder it is looked up in. */
static bool
is_plain_name(struct dp_bytes name)
{
	return name.n != 0 && memchr(name.p, '/', name.n) == NULL &&
	       !dp_bytes_is(name, ".") && !dp_bytes_is(name, "..");
}

bool
dp_debugfile_open(const struct dp_elf *elf, const struct dp_debugwhere *where,
                  int *fd_ret, struct dp_err *e)
{
	struct dp_err why = DP_ERR_INIT;
	struct hunt h = { .elf = elf, .where = where, .fd = -1 };
	bool ok = false;

	if (!dp_elf_build_id(elf, &h.id, e))
		goto out;
	if (!dp_elf_debuglink(elf, &h.link, &h.crc, &why) &&
	    (why.code == DP_EIO || why.code == DP_ENOMEM)) {
		*e = why;
		goto out;
	}
	if (!is_plain_name(dp_buf_bytes(&h.link)))
		h.link.n = 0;
	if (!hunt_all(&h)) {
		(void)dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
		goto out;
	}
	*fd_ret = h.fd;
	ok = true;
out:
	dp_buf_deinit(&h.id);
	dp_buf_deinit(&h.link);
	dp_buf_deinit(&h.path);
	return ok;
}
