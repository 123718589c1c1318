/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "proc/procfile.h"

enum {
	STAT_START = 22, /* fields as proc(5) numbers them */
	STAT_STATE = 3,
	STAT_MAX = 1 << 16,
	STATUS_MAX = 1 << 20,
	MAPS_LINE_MEAN = 256 /* a text over this per mapping is refused */
};

/* A decimal number that fits a pid_t, at least one digit. */
static bool
take_pid(struct dp_rd *r, pid_t *pid_ret)
{
	size_t first = r->pos;
	int64_t v = 0;

	while (dp_rd_left(r) != 0) {
		uint8_t c = r->in.p[r->pos];

		if (c < '0' || c > '9')
			break;
		v = v * 10 + (c - '0');
		if (v > INT32_MAX)
			return false;
		r->pos++;
	}
	if (r->pos == first)
		return false;
	*pid_ret = (pid_t)v;
	return true;
}

/* The next run of bytes without blanks; empty at the end. */
static struct dp_bytes
word(struct dp_rd *r)
{
	size_t first;

	while (dp_rd_left(r) != 0 &&
	       (r->in.p[r->pos] == ' ' || r->in.p[r->pos] == '\n'))
		r->pos++;
	first = r->pos;
	while (dp_rd_left(r) != 0 && r->in.p[r->pos] != ' ' &&
	       r->in.p[r->pos] != '\n')
		r->pos++;
	return (struct dp_bytes){ r->in.p + first, r->pos - first };
}

bool
dp_stat_parse(struct dp_bytes stat, uint64_t *start_ret, char *state_ret,
              struct dp_err *e)
{
	const uint8_t *paren = NULL;
	struct dp_bytes w;
	uint64_t v = 0;
	struct dp_rd r;
	char state;

	if (stat.n != 0)
		paren = memrchr(stat.p, ')', stat.n);
	if (paren == NULL)
		return dp_err_set(e, DP_EFORMAT, 0, "stat: no name");
	r = dp_rd_init(stat, DP_LE);
	dp_rd_seek(&r, (size_t)(paren - stat.p) + 1);
	w = word(&r);
	if (w.n != 1)
		return dp_err_set(e, DP_EFORMAT, r.pos, "stat: no state");
	state = (char)w.p[0];
	for (int i = STAT_STATE; i < STAT_START; i++)
		w = word(&r);
	if (w.n == 0)
		return dp_err_set(e, DP_EFORMAT, r.pos, "stat: no start time");
	for (size_t i = 0; i < w.n; i++)
		if (w.p[i] < '0' || w.p[i] > '9' ||
		    __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, w.p[i] - '0', &v))
			return dp_err_set(e, DP_EFORMAT, r.pos,
			                  "stat: bad start time");
	*start_ret = v;
	*state_ret = state;
	return true;
}

/* The value of a "Key:\t..." line up to its newline; false when absent. */
static bool
status_line(struct dp_bytes status, const char *key, struct dp_bytes *v_ret)
{
	size_t n = strlen(key), at = 0;

	while (at < status.n) {
		const uint8_t *p = status.p + at;
		const uint8_t *nl = memchr(p, '\n', status.n - at);
		size_t len = nl == NULL ? status.n - at : (size_t)(nl - p);

		if (len > n && memcmp(p, key, n) == 0 && p[n] == ':') {
			*v_ret = (struct dp_bytes){ p + n + 1, len - n - 1 };
			return true;
		}
		at += len + 1;
	}
	return false;
}

/* The last of the numbers in a list with blanks and tabs. */
static bool
last_pid(struct dp_bytes v, pid_t *pid_ret)
{
	struct dp_rd r = dp_rd_init(v, DP_LE);
	bool any = false;
	pid_t pid = 0;

	while (dp_rd_left(&r) != 0) {
		if (r.in.p[r.pos] == ' ' || r.in.p[r.pos] == '\t') {
			r.pos++;
			continue;
		}
		if (!take_pid(&r, &pid))
			return false;
		any = true;
	}
	if (any)
		*pid_ret = pid;
	return any;
}

bool
dp_status_parse(struct dp_bytes status, pid_t *tgid_ret, pid_t *ns_pid_ret,
                struct dp_err *e)
{
	struct dp_bytes v;
	pid_t tgid, ns;

	/* The name comes first, but the kernel escapes its newlines. */
	if (!status_line(status, "Tgid", &v) || !last_pid(v, &tgid))
		return dp_err_set(e, DP_EFORMAT, DP_NOOFF, "status: no Tgid");
	ns = tgid;
	if (status_line(status, "NSpid", &v) && !last_pid(v, &ns))
		return dp_err_set(e, DP_EFORMAT, DP_NOOFF, "status: NSpid");
	*tgid_ret = tgid;
	*ns_pid_ret = ns;
	return true;
}

/* The number in "pid:[4026531836]"; 0 when there is none. */
static uint64_t
pid_namespace(int dirfd, struct dp_buf *tmp)
{
	static const char head[] = "pid:[";
	struct dp_err ignored = DP_ERR_INIT;
	uint64_t v = 0;

	if (!dp_procfile_link(dirfd, "ns/pid", tmp, &ignored))
		return 0;
	if (tmp->n < sizeof head || memcmp(tmp->p, head, sizeof head - 1) != 0)
		return 0;
	for (size_t i = sizeof head - 1; i < tmp->n; i++) {
		uint8_t c = tmp->p[i];

		if (c == ']')
			return v;
		if (c < '0' || c > '9' || v > UINT64_MAX / 16)
			return 0;
		v = v * 10 + (c - '0');
	}
	return 0;
}

static bool
fill(struct dp_process *p, struct dp_buf *tmp, struct dp_err *e)
{
	pid_t tgid = 0;
	char state;

	if (!dp_procfile_read(p->dirfd, "stat", STAT_MAX, tmp, e) ||
	    !dp_stat_parse(dp_buf_bytes(tmp), &p->start, &state, e) ||
	    !dp_procfile_read(p->dirfd, "status", STATUS_MAX, tmp, e) ||
	    !dp_status_parse(dp_buf_bytes(tmp), &tgid, &p->ns_pid, e))
		return false;
	if (tgid != p->pid)
		return dp_err_set(e, DP_EUSAGE, DP_NOOFF,
		                  "a thread of process %d", (int)tgid);
	p->pidns = pid_namespace(p->dirfd, tmp);
	return true;
}

bool
dp_process_open(pid_t pid, struct dp_process *p_ret, struct dp_err *e)
{
	struct dp_process p = { .pid = pid, .dirfd = -1 };
	struct dp_buf tmp = { NULL, 0, 0 };
	char name[32];
	bool ok;

	if (pid <= 0)
		return dp_err_set(e, DP_EUSAGE, DP_NOOFF, "no process %d",
		                  (int)pid);
	(void)snprintf(name, sizeof name, "/proc/%d", (int)pid);
	p.dirfd = dp_procfile_open(AT_FDCWD, name, O_PATH | O_DIRECTORY);
	if (p.dirfd < 0)
		return dp_err_errno(e, errno, "process %d", (int)pid);
	ok = fill(&p, &tmp, e);
	dp_buf_deinit(&tmp);
	if (!ok) {
		dp_process_deinit(&p);
		return dp_err_prefix(e, "process %d", (int)pid);
	}
	*p_ret = p;
	return true;
}

void
dp_process_deinit(struct dp_process *p)
{
	if (p->dirfd >= 0)
		(void)close(p->dirfd);
	p->dirfd = -1;
}

bool
dp_process_alive(const struct dp_process *p)
{
	struct dp_err ignored = DP_ERR_INIT;
	struct dp_buf tmp = { NULL, 0, 0 };
	uint64_t start = 0;
	char state = 'X';
	bool ok;

	/* The descriptor is bound to the process, not to its number. */
	ok = dp_procfile_read(p->dirfd, "stat", STAT_MAX, &tmp, &ignored) &&
	     dp_stat_parse(dp_buf_bytes(&tmp), &start, &state, &ignored) &&
	     start == p->start && state != 'Z' && state != 'X';
	dp_buf_deinit(&tmp);
	return ok;
}

bool
dp_process_maps(const struct dp_process *p, struct dp_buf *text,
                struct dp_err *e)
{
	return dp_procfile_read(p->dirfd, "maps",
	                        (size_t)DP_MAX_MAPS * MAPS_LINE_MEAN, text, e);
}

bool
dp_process_exe(const struct dp_process *p, struct dp_buf *path,
               bool *deleted_ret, struct dp_err *e)
{
	static const char suffix[] = " (deleted)";
	size_t n = sizeof suffix - 1;

	if (!dp_procfile_link(p->dirfd, "exe", path, e))
		return false;
	*deleted_ret =
		path->n > n && memcmp(path->p + path->n - n, suffix, n) == 0;
	if (*deleted_ret)
		path->n -= n;
	return true;
}

/* True for a name of digits only that is a pid; others are not processes. */
static bool
name_pid(const char *name, pid_t *pid_ret)
{
	struct dp_rd r = dp_rd_init(dp_cstr(name), DP_LE);

	return take_pid(&r, pid_ret) && dp_rd_left(&r) == 0;
}

static int
pid_cmp(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

bool
dp_process_list(struct dp_vec *pids, struct dp_err *e)
{
	size_t first = pids->n;
	struct dirent *d;
	pid_t pid, *slot;
	DIR *dir = opendir("/proc");

	if (dir == NULL)
		return dp_err_errno(e, errno, "/proc");
	for (errno = 0; (d = readdir(dir)) != NULL; errno = 0) {
		if (!name_pid(d->d_name, &pid))
			continue;
		slot = dp_vec_push(pids, sizeof *slot);
		if (slot == NULL) {
			errno = ENOMEM;
			break;
		}
		*slot = pid;
	}
	if (errno != 0) {
		(void)dp_err_errno(e, errno, "/proc");
		pids->n = first;
		(void)closedir(dir);
		return false;
	}
	(void)closedir(dir);
	if (pids->n > first)
		qsort(DP_VEC_AT(pids, pid_t, first), pids->n - first,
		      sizeof(pid_t), pid_cmp);
	return true;
}
