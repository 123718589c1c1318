/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/maps.h"

#include <sys/sysmacros.h>

static const char suffix[] = " (deleted)";

enum { SUFFIX_LEN = sizeof suffix - 1, ESCAPE_LEN = 4 };

void
dp_maps_init(struct dp_maps *m, struct dp_bytes in)
{
	m->in = in;
	m->pos = 0;
	m->line = 0;
	m->n = 0;
}

static int
digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* A number of at least one digit; too big for 64 bits is bad. */
static uint64_t
number(struct dp_rd *r, unsigned base)
{
	size_t first = r->pos;
	uint64_t v = 0;

	while (!r->bad && dp_rd_left(r) != 0) {
		unsigned d = (unsigned)digit(r->in.p[r->pos]);

		if (d >= base)
			break;
		if (__builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, d, &v)) {
			r->bad = true;
			return 0;
		}
		r->pos++;
	}
	if (r->pos == first)
		r->bad = true;
	return v;
}

static void
expect(struct dp_rd *r, char c)
{
	if (dp_rd_left(r) == 0 || r->in.p[r->pos] != (uint8_t)c)
		r->bad = true;
	else if (!r->bad)
		r->pos++;
}

static uint32_t
perms(struct dp_rd *r)
{
	static const char yes[] = "rwxs", no[] = "---p";
	struct dp_bytes b = dp_rd_take(r, 4);
	uint32_t v = 0;

	for (size_t i = 0; i < b.n; i++) {
		if (b.p[i] == (uint8_t)yes[i])
			v |= 1U << i;
		else if (b.p[i] != (uint8_t)no[i])
			r->bad = true;
	}
	return v;
}

/* The fields before the path; all of them are there, in this order. */
static void
fields(struct dp_rd *r, struct dp_map *m)
{
	uint64_t major, minor;

	m->start = number(r, 16);
	expect(r, '-');
	m->end = number(r, 16);
	expect(r, ' ');
	m->perms = perms(r);
	expect(r, ' ');
	m->off = number(r, 16);
	expect(r, ' ');
	major = number(r, 16);
	expect(r, ':');
	minor = number(r, 16);
	expect(r, ' ');
	m->ino = number(r, 10);
	if (major > UINT32_MAX || minor > UINT32_MAX || m->end <= m->start)
		r->bad = true;
	m->dev = makedev((unsigned)major, (unsigned)minor);
}

static bool
ends_deleted(struct dp_bytes b)
{
	return b.n > SUFFIX_LEN &&
	       memcmp(b.p + b.n - SUFFIX_LEN, suffix, SUFFIX_LEN) == 0;
}

/* Undo \012, the only escape here (fs/proc/task_mmu.c: seq_path(..."\n")). */
static struct dp_bytes
unescape(struct dp_bytes raw, uint8_t *dst)
{
	size_t n = 0, i = 0;

	if (raw.n == 0 || memchr(raw.p, '\\', raw.n) == NULL)
		return raw;
	while (i < raw.n) {
		if (raw.n - i >= ESCAPE_LEN &&
		    memcmp(raw.p + i, "\\012", ESCAPE_LEN) == 0) {
			dst[n++] = '\n';
			i += ESCAPE_LEN;
		} else {
			dst[n++] = raw.p[i++];
		}
	}
	return (struct dp_bytes){ dst, n };
}

static bool
path(struct dp_maps *m, struct dp_rd *r, struct dp_map *map, struct dp_err *e)
{
	struct dp_bytes raw = { NULL, 0 };

	if (dp_rd_left(r) != 0 && r->in.p[r->pos] != ' ')
		return dp_err_set(e, DP_EFORMAT, m->line + r->pos,
		                  "no blank after the inode");
	while (dp_rd_left(r) != 0 && r->in.p[r->pos] == ' ')
		r->pos++;
	raw = dp_rd_take(r, dp_rd_left(r));
	if (raw.n > DP_MAX_PATH)
		return dp_err_set(e, DP_ELIMIT, m->line, "path of %zu bytes",
		                  raw.n);
	if (raw.n != 0 && memchr(raw.p, '\0', raw.n) != NULL)
		return dp_err_set(e, DP_EFORMAT, m->line, "NUL in a path");
	map->path = unescape(raw, m->path);
	map->deleted = map->ino != 0 && ends_deleted(map->path);
	return true;
}

enum dp_maps_step
dp_maps_next(struct dp_maps *m, struct dp_map *map_ret, struct dp_err *e)
{
	struct dp_map map = { .start = 0 };
	struct dp_bytes line;
	const uint8_t *nl;
	struct dp_rd r;

	m->line = m->pos;
	if (m->pos >= m->in.n)
		return DP_MAPS_END;
	line.p = m->in.p + m->pos;
	line.n = m->in.n - m->pos;
	if (m->n >= DP_MAX_MAPS) {
		m->pos = m->in.n;
		(void)dp_err_set(e, DP_ELIMIT, m->line, "over %d mappings",
		                 DP_MAX_MAPS);
		return DP_MAPS_BAD;
	}
	m->n++;
	nl = memchr(line.p, '\n', line.n);
	if (nl == NULL) {
		/* The number that was cut would be taken for another one. */
		m->pos = m->in.n;
		(void)dp_err_set(e, DP_EFORMAT, m->line, "last line is cut");
		return DP_MAPS_BAD;
	}
	line.n = (size_t)(nl - line.p);
	m->pos += line.n + 1;

	r = dp_rd_init(line, DP_LE);
	fields(&r, &map);
	if (!dp_rd_ok(&r)) {
		(void)dp_err_set(e, DP_EFORMAT, m->line + r.pos,
		                 "not a line of a maps file");
		return DP_MAPS_BAD;
	}
	if (!path(m, &r, &map, e))
		return DP_MAPS_BAD;
	*map_ret = map;
	return DP_MAPS_ENTRY;
}

struct dp_bytes
dp_map_bare_path(const struct dp_map *m)
{
	struct dp_bytes b = m->path;

	if (m->deleted)
		b.n -= SUFFIX_LEN;
	return b;
}
