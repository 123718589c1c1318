/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of /proc/PID/maps, line by line.  Pure: bytes in, one mapping at
 * a time out; no file is opened and nothing is allocated.  A line that is
 * not understood costs that line only.
 *
 * The kernel writes the path with one escape: newline becomes \012.  Blanks,
 * backslashes and bytes over 0x7f stand as they are, so a name that really
 * holds the four characters \012 cannot be told from one with a newline;
 * whoever opens the path compares the inode.
 */
#ifndef DP_MAPS_H
#define DP_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/limits.h"

/* Bits of dp_map.perms. */
enum dp_map_perm {
	DP_MAP_R = 1,
	DP_MAP_W = 2,
	DP_MAP_X = 4,
	DP_MAP_SHARED = 8 /* 's'; 'p' leaves it clear */
};

/* One mapping of a process. */
struct dp_map {
	uint64_t start; /* first address */
	uint64_t end;   /* one past the last address; > start */
	uint64_t off;   /* fileoff of `start`; 0 when anonymous */
	uint64_t dev;   /* makedev() of what the line says: the device of
	                 * the superblock, not always stat's st_dev */
	uint64_t ino;   /* 0: no file behind it */
	uint32_t perms; /* DP_MAP_* */
	bool deleted;   /* the path ends in " (deleted)": either the kernel
	                 * says that it is unlinked, or it is called so */
	struct dp_bytes path; /* with that suffix, \012 undone; may be empty;
	                       * "[heap]", "[vdso]" and such count as path */
};

/* A walk over the text; set up with dp_maps_init(), needs no deinit. */
struct dp_maps {
	struct dp_bytes in;        /* borrowed: outlives the walk */
	size_t pos;                /* where the next line begins */
	size_t line;               /* where the last line began: for messages */
	uint32_t n;                /* lines seen */
	uint8_t path[DP_MAX_PATH]; /* a path with its escapes undone */
};

/* What one step of the walk found. */
enum dp_maps_step {
	DP_MAPS_ENTRY, /* *map_ret is filled */
	DP_MAPS_BAD,   /* `e` says what is wrong at which offset; go on */
	DP_MAPS_END    /* no more lines */
};

/* Begin a walk over `in`. */
void dp_maps_init(struct dp_maps *m, struct dp_bytes in);

/*
 * The next line.  map_ret->path is borrowed from `in` or from `m` and lives
 * until the next call.  On DP_MAPS_BAD *map_ret is untouched; `e` has to be
 * fresh for each call that is to report.  More than DP_MAX_MAPS lines end
 * the walk: one DP_MAPS_BAD with DP_ELIMIT, then DP_MAPS_END.
 */
enum dp_maps_step dp_maps_next(struct dp_maps *m, struct dp_map *map_ret,
                               struct dp_err *e);

/* The path without its " (deleted)", where dp_map.deleted says it has one. */
struct dp_bytes dp_map_bare_path(const struct dp_map *m);

#endif /* DP_MAPS_H */
