/* SPDX-License-Identifier: BSD-2-Clause */
#include "extract/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "proc/procfile.h"

enum {
	MAX_TEXT = 64 << 20, /* 100,000 mounts are 10 MiB */
	POINT = 5,           /* the field with the mount point */
};

struct dp_mountdir {
	dev_t dev;
	ino_t ino;
};

static int
cmp_dir(const void *a, const void *b)
{
	const struct dp_mountdir *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return (x->ino > y->ino) - (x->ino < y->ino);
}

/* What cannot be reached by its path cannot be met in a walk. */
static bool
out_of_reach(int err)
{
	return err == ENOENT || err == ENOTDIR || err == EACCES || err == ELOOP;
}

/* From what is known here: a server that is down must not hold us up. */
static int
look(const char *path, struct statx *st)
{
	return statx(AT_FDCWD, path,
	             AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
	             STATX_TYPE | STATX_INO, st);
}

/* Blanks and the like are written as a backslash and three digits. */
static void
unescape(char *s)
{
	char *to = s;

	for (; *s != '\0'; s++, to++) {
		*to = *s;
		if (s[0] != '\\' || s[1] < '0' || s[1] > '3' || s[2] < '0' ||
		    s[2] > '7' || s[3] < '0' || s[3] > '7')
			continue;
		*to = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
		             (s[3] - '0'));
		s += 3;
	}
	*to = '\0';
}

/* One mount point; its text is taken apart. */
static bool
note_point(struct dp_mounts *m, char *point)
{
	struct dp_mountdir *d;
	struct statx st;
	char *slash;

	unescape(point);
	slash = strrchr(point, '/');
	if (slash == NULL || slash[1] == '\0')
		return true; /* the root */
	if (look(point, &st) == 0 ? S_ISDIR(st.stx_mode) : out_of_reach(errno))
		return true;
	slash[slash == point ? 1 : 0] = '\0';
	if (look(point, &st) != 0) {
		m->unknown |= !out_of_reach(errno);
		return true;
	}
	d = dp_vec_push(&m->dirs, sizeof *d);
	if (d == NULL)
		return false;
	*d = (struct dp_mountdir){ makedev(st.stx_dev_major, st.stx_dev_minor),
		                   st.stx_ino };
	return true;
}

/* The mount point of a line, or NULL. */
static char *
point_of(char *line)
{
	char *field = NULL;

	for (int i = 0; i < POINT; i++) {
		field = strsep(&line, " ");
		if (field == NULL)
			return NULL;
	}
	return field;
}

bool
dp_mounts_read(struct dp_mounts *m_ret, const char *file)
{
	struct dp_err why = DP_ERR_INIT;
	struct dp_buf text = { 0 };
	bool ok = true;
	char *rest, *line;

	*m_ret = (struct dp_mounts){ 0 };
	if (!dp_procfile_read(AT_FDCWD, file, MAX_TEXT, &text, &why) ||
	    text.n == 0 || !dp_buf_add(&text, "", 1)) {
		m_ret->unknown = true;
		ok = why.code != DP_ENOMEM;
		goto out;
	}
	rest = (char *)text.p;
	while (ok && (line = strsep(&rest, "\n")) != NULL) {
		char *point = point_of(line);

		ok = point == NULL || note_point(m_ret, point);
	}
	if (m_ret->dirs.n > 1)
		qsort(m_ret->dirs.p, m_ret->dirs.n, sizeof(struct dp_mountdir),
		      cmp_dir);
out:
	dp_buf_deinit(&text);
	return ok;
}

void
dp_mounts_deinit(struct dp_mounts *m)
{
	dp_vec_deinit(&m->dirs);
}

bool
dp_mounts_in(const struct dp_mounts *m, const struct stat *dir)
{
	const struct dp_mountdir key = { dir->st_dev, dir->st_ino };

	if (m->unknown || m->dirs.n == 0)
		return m->unknown;
	return bsearch(&key, m->dirs.p, m->dirs.n, sizeof key, cmp_dir) != NULL;
}
