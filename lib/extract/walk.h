/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From paths, lists of paths and processes to one stream of raw records:
 * several threads, output in the order of the input.  A directory's files
 * come before its subdirectories, both by name (in a very large one, part
 * by part).
 */
#ifndef DP_WALK_H
#define DP_WALK_H

#include "extract/extract.h"

struct dp_walk_opts {
	struct dp_extract_opts extract;
	bool recursive;   /* go into directories, on one file system */
	bool json;        /* the stream's form */
	unsigned threads; /* 1 to DP_MAX_THREADS */
	/* Told of the files looked at so far; any thread, may be NULL. */
	void (*tick)(void *ctx, uint64_t files, uint64_t found);
};

struct dp_walk_result {
	uint64_t files;   /* looked at */
	uint64_t objects; /* written */
	uint64_t found;   /* objects with something in them */
	uint64_t errors;
};

struct dp_walk;
struct dp_live_object; /* live.h */

/* NULL when memory is out. */
struct dp_walk *dp_walk_create(const struct dp_walk_opts *opts);
void dp_walk_destroy(struct dp_walk *w);

/* What is to be read, in this order.  All strings are copied. */
bool dp_walk_add_path(struct dp_walk *w, const char *path, struct dp_err *e);

/* Paths from `fd`, each ended by NUL; read while the work goes on. */
bool dp_walk_add_list(struct dp_walk *w, int fd, const char *name,
                      struct dp_err *e);

/* An open file with a name; the descriptor becomes the walk's. */
bool dp_walk_add_fd(struct dp_walk *w, int fd, const char *name,
                    struct dp_err *e);

/* An input that could not even be opened: `what` becomes its record. */
bool dp_walk_add_error(struct dp_walk *w, const char *name,
                       const struct dp_err *what, struct dp_err *e);

/* What live processes map; `set` is borrowed until the walk has run. */
struct dp_live_set;
bool dp_walk_add_live(struct dp_walk *w, const struct dp_live_set *set,
                      struct dp_err *e);

/*
 * Do it all: header, objects, end into `sink`.  False when output or memory
 * failed; what could not be read is in the result and in error records.
 */
bool dp_walk_run(struct dp_walk *w, struct dp_sink sink,
                 struct dp_walk_result *result_ret, struct dp_err *e);

#endif /* DP_WALK_H */
