/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/range.h"
#include "proc/pagemap.h"
#include "proc/procfile.h"

enum {
	CHUNK = 1 << 18, /* a multiple of any page size */
	MAGIC_ALIGN = 8,
	MAGIC_LEN = 4
};

/* What the search carries about. */
struct scan {
	const struct dp_memory *m;
	struct dp_memscan *s;
	struct dp_pagemap pages;
	uint8_t *buf; /* CHUNK bytes, owned */
	uint64_t limit;
};

bool
dp_memory_open(const struct dp_process *p, struct dp_memory *m_ret,
               struct dp_err *e)
{
	struct dp_memory m = { .fd = -1, .pagemap = -1 };

	m.page = (uint64_t)sysconf(_SC_PAGESIZE);
	m.fd = dp_procfile_open(p->dirfd, "mem", O_RDONLY);
	if (m.fd < 0)
		return dp_err_errno(e, errno, "memory of process %d",
		                    (int)p->pid);
	m.pagemap = dp_procfile_open(p->dirfd, "pagemap", O_RDONLY);
	*m_ret = m;
	return true;
}

void
dp_memory_deinit(struct dp_memory *m)
{
	if (m->fd >= 0)
		(void)close(m->fd);
	if (m->pagemap >= 0)
		(void)close(m->pagemap);
	m->fd = -1;
	m->pagemap = -1;
}

size_t
dp_memory_read(const struct dp_memory *m, uint64_t addr, void *dst, size_t n,
               struct dp_err *e)
{
	size_t done = 0;
	int err = 0;

	while (done < n) {
		uint64_t at = addr + done;
		ssize_t got = -1;

		/* pread() takes no offset over 2^63, and none that wraps. */
		errno = EFAULT;
		if (at >= addr && at <= INT64_MAX)
			got = dp_procfile_pread(m->fd, (uint8_t *)dst + done,
			                        n - done, (off_t)at);
		if (got <= 0) {
			err = got == 0 ? ESRCH : errno;
			break;
		}
		done += (size_t)got;
	}
	if (done < n) {
		(void)dp_err_errno(e, err, "memory at 0x%" PRIx64, addr + done);
		if (e->off == DP_NOOFF)
			e->off = addr + done;
	}
	return done;
}

struct kind {
	const char *prefix;
	bool file;    /* the line has an inode */
	bool deleted; /* the line ends in " (deleted)" */
};

/* What is searched, besides lines with neither inode nor path. */
static const struct kind kinds[] = {
	{ "[heap]", false, false }, { "[stack", false, false },
	{ "[anon:", false, false }, { "[anon_shmem:", true, false },
	{ "/memfd:", true, true },  { "/dev/zero", true, true },
	{ "/SYSV", true, true },    { "/anon_hugepage", true, true },
};

bool
dp_memory_scans(const struct dp_map *map)
{
	if ((map->perms & DP_MAP_R) == 0)
		return false;
	if (map->path.n == 0)
		return map->ino == 0;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		size_t n = strlen(kinds[i].prefix);

		if (map->path.n >= n &&
		    memcmp(map->path.p, kinds[i].prefix, n) == 0 &&
		    kinds[i].file == (map->ino != 0) &&
		    kinds[i].deleted == map->deleted)
			return true;
	}
	return false;
}

static bool
search_bytes(struct scan *sc, uint64_t addr, size_t n, struct dp_err *e)
{
	static const uint8_t magic[MAGIC_LEN] = { 0x7f, 'D', 'O', 'F' };
	struct dp_memscan *s = sc->s;

	for (size_t i = 0; n - i >= MAGIC_LEN; i += MAGIC_ALIGN) {
		if (memcmp(sc->buf + i, magic, MAGIC_LEN) == 0 &&
		    !s->hit(s->arg, addr + i, e))
			return false;
		if (n - i < MAGIC_ALIGN)
			break;
	}
	return true;
}

/* Bytes that may still be searched; notes when there are none. */
static uint64_t
left(struct scan *sc)
{
	uint64_t used = sc->s->bytes + sc->s->skipped;

	if (used < sc->limit)
		return sc->limit - used;
	sc->s->cut = true;
	return 0;
}

/* Search [a, b), of which every page may turn out unreadable. */
static bool
search_run(struct scan *sc, uint64_t a, uint64_t b, struct dp_err *e)
{
	uint64_t page = sc->m->page;

	while (a < b) {
		struct dp_err why = DP_ERR_INIT;
		uint64_t room = left(sc), next;
		size_t n = CHUNK, got;

		if (room == 0)
			return true;
		if (n > b - a)
			n = (size_t)(b - a);
		if (n > room)
			n = (size_t)room;
		got = dp_memory_read(sc->m, a, sc->buf, n, &why);
		sc->s->bytes += got;
		if (!search_bytes(sc, a, got, e))
			return false;
		a += got;
		if (got == n)
			continue;
		if (why.os_errno == ESRCH) {
			if (e->code == DP_OK)
				*e = why;
			return false;
		}
		next = (a & ~(page - 1)) + page;
		if (next <= a || next > b)
			next = b;
		sc->s->skipped += next - a;
		a = next;
	}
	return true;
}

static bool
search_map(struct scan *sc, const struct dp_map *map, struct dp_err *e)
{
	/* The kernel's lines are page aligned; anybody else's are made so. */
	uint64_t at = map->start & ~(sc->m->page - 1);

	while (at < map->end) {
		uint64_t a = map->end, b = map->end;

		if (!dp_pagemap_run(&sc->pages, at, map->end, &a, &b)) {
			sc->s->cut = true;
			return true;
		}
		if (a < b && left(sc) == 0)
			return true;
		if (!search_run(sc, a, b, e))
			return false;
		at = b;
	}
	return true;
}

static bool
search_maps(struct scan *sc, struct dp_maps *walk, struct dp_err *e)
{
	for (;;) {
		struct dp_err bad = DP_ERR_INIT;
		enum dp_maps_step step;
		struct dp_map map;

		step = dp_maps_next(walk, &map, &bad);
		if (step == DP_MAPS_END)
			return true;
		if (step == DP_MAPS_BAD || !dp_memory_scans(&map))
			continue;
		if (left(sc) == 0)
			return true;
		if (!search_map(sc, &map, e))
			return false;
	}
}

bool
dp_memory_scan(const struct dp_memory *m, struct dp_bytes maps,
               struct dp_memscan *s, struct dp_err *e)
{
	struct scan sc = { .m = m, .s = s };
	struct dp_maps *walk = malloc(sizeof *walk); /* large for a stack */
	bool ok;

	s->bytes = 0;
	s->skipped = 0;
	s->cut = false;
	sc.limit = s->limit != 0 ? s->limit : DP_MAX_MEMSCAN;
	sc.buf = malloc(CHUNK);
	dp_pagemap_init(&sc.pages, m->pagemap, m->page);
	ok = walk != NULL && sc.buf != NULL;
	if (ok) {
		dp_maps_init(walk, maps);
		ok = search_maps(&sc, walk, e);
	} else {
		(void)dp_err_set(e, DP_ENOMEM, DP_NOOFF, "memory search");
	}
	free(sc.buf);
	free(walk);
	return ok;
}
