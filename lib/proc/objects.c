/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/objects.h"

#include <stdlib.h>

/* A file-backed line, until its object is known. */
struct item {
	struct dp_map map; /* path unset */
	size_t name;       /* where it begins in dp_objects.names */
	size_t name_n;     /* its length, without suffix and NUL */
};

/* What the grouping works on. */
struct work {
	struct dp_objects o;
	struct dp_vec items; /* struct item */
	bool all;            /* objects without executable mapping, too */
};

static bool
nomem(struct dp_err *e)
{
	return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "no memory for mappings");
}

/*
 * Keep one line.  A " (deleted)" is cut by overwriting its blank with NUL:
 * the rest stays behind it, so dp_objects_confirm() can put it back.
 */
static bool
add(struct work *w, const struct dp_map *map, struct dp_err *e)
{
	struct item *it = dp_vec_push(&w->items, sizeof *it);
	struct dp_buf *names = &w->o.names;

	if (it == NULL)
		return nomem(e);
	it->map = *map;
	it->map.path = (struct dp_bytes){ NULL, 0 };
	it->name = names->n;
	it->name_n = dp_map_bare_path(map).n;
	if (!dp_buf_add(names, map->path.p, map->path.n) ||
	    !dp_buf_add(names, "", 1))
		return nomem(e);
	names->p[it->name + it->name_n] = '\0';
	return true;
}

static bool
walk(struct work *w, struct dp_bytes text, struct dp_err *e)
{
	struct dp_maps *m = malloc(sizeof *m); /* large for a stack */
	bool ok = true;

	if (m == NULL)
		return nomem(e);
	dp_maps_init(m, text);
	for (;;) {
		struct dp_err bad = DP_ERR_INIT;
		enum dp_maps_step step;
		struct dp_map map;

		step = dp_maps_next(m, &map, &bad);
		if (step == DP_MAPS_END)
			break;
		if (step == DP_MAPS_BAD && bad.code == DP_ELIMIT &&
		    m->n >= DP_MAX_MAPS) {
			*e = bad;
			ok = false;
			break;
		}
		if (step == DP_MAPS_BAD) {
			if (w->o.nbad++ == 0)
				w->o.bad_off = bad.off;
			continue;
		}
		if (map.ino != 0 && !add(w, &map, e)) {
			ok = false;
			break;
		}
	}
	free(m);
	return ok;
}

static int
cmp_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int
item_cmp(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int c = cmp_u64(x->map.dev, y->map.dev);

	if (c == 0)
		c = cmp_u64(x->map.ino, y->map.ino);
	return c != 0 ? c : cmp_u64(x->map.start, y->map.start);
}

static int
object_cmp(const void *a, const void *b)
{
	const struct dp_object *x = a, *y = b;

	return cmp_u64(x->maps[0].start, y->maps[0].start);
}

/* Make an object of n items with one key; the room in maps is there. */
static bool
group(struct work *w, const struct item *it, size_t n, struct dp_err *e)
{
	struct dp_map *maps = DP_VEC_AT(&w->o.maps, struct dp_map, w->o.maps.n);
	const struct item *named = it;
	struct dp_object *obj;
	bool exec = false;

	for (size_t i = 0; i < n; i++) {
		maps[i] = it[i].map;
		exec |= (maps[i].perms & DP_MAP_X) != 0;
		/* One of several links may be gone: take one that is not. */
		if (named->map.deleted && !it[i].map.deleted)
			named = &it[i];
	}
	if (!exec && !w->all)
		return true;
	obj = dp_vec_push(&w->o.objs, sizeof *obj);
	if (obj == NULL)
		return nomem(e);
	w->o.maps.n += n;
	obj->dev = it->map.dev;
	obj->ino = it->map.ino;
	obj->path.p = w->o.names.p + named->name;
	obj->path.n = named->name_n;
	obj->deleted = named->map.deleted;
	obj->exec = exec;
	obj->maps = maps;
	obj->nmaps = n;
	return true;
}

static bool
group_all(struct work *w, struct dp_err *e)
{
	const struct item *it = w->items.p;
	size_t n = w->items.n, first = 0;

	if (n == 0)
		return true;
	/* All at once: the objects point into it while it is filled. */
	if (!dp_vec_reserve(&w->o.maps, n, sizeof(struct dp_map)))
		return nomem(e);
	qsort(w->items.p, n, sizeof *it, item_cmp);
	for (size_t i = 1; i <= n; i++) {
		if (i < n && it[i].map.dev == it[first].map.dev &&
		    it[i].map.ino == it[first].map.ino)
			continue;
		if (!group(w, it + first, i - first, e))
			return false;
		first = i;
	}
	if (w->o.objs.n != 0)
		qsort(w->o.objs.p, w->o.objs.n, sizeof(struct dp_object),
		      object_cmp);
	return true;
}

bool
dp_objects_parse(struct dp_bytes maps, unsigned flags, struct dp_objects *o_ret,
                 struct dp_err *e)
{
	struct work w = { .o.bad_off = DP_NOOFF };
	bool ok;

	w.all = (flags & DP_OBJECTS_ALL) != 0;
	ok = walk(&w, maps, e) && group_all(&w, e);
	dp_vec_deinit(&w.items);
	if (!ok) {
		dp_objects_deinit(&w.o);
		return false;
	}
	*o_ret = w.o;
	return true;
}

bool
dp_objects_read(const struct dp_process *p, unsigned flags,
                struct dp_objects *o_ret, struct dp_err *e)
{
	struct dp_buf text = { NULL, 0, 0 };
	struct dp_objects o;
	bool ok;

	ok = dp_process_maps(p, &text, e) &&
	     dp_objects_parse(dp_buf_bytes(&text), flags, &o, e);
	dp_buf_deinit(&text);
	if (!ok)
		return false;
	dp_objects_confirm(p, &o);
	*o_ret = o;
	return true;
}

void
dp_objects_deinit(struct dp_objects *o)
{
	dp_vec_deinit(&o->objs);
	dp_vec_deinit(&o->maps);
	dp_buf_deinit(&o->names);
}
