/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of the walk: its jobs and what a thread needs to do them. */
#ifndef DP_WALKJOBS_H
#define DP_WALKJOBS_H

#include <stdatomic.h>
#include <sys/types.h>

#include "extract/mounts.h"
#include "extract/queue.h"
#include "extract/walk.h"

enum dp_walk_kind {
	DP_WALK_PATH,  /* a name that was given */
	DP_WALK_FD,    /* an open file that was given */
	DP_WALK_LIST,  /* more names to come from a list */
	DP_WALK_DIR,   /* a directory, or the rest of a large one */
	DP_WALK_DIRS,  /* directories of a directory, still to become jobs */
	DP_WALK_FILES, /* files of a directory, or of a list */
	DP_WALK_LIVE,  /* files of processes */
	DP_WALK_LIVE_PART,
	DP_WALK_ERROR, /* an input that is one error */
	DP_WALK_KIND_COUNT
};

/*
 * What a directory is called.  Each keeps its own name only: whole paths
 * would take memory by the square of the depth.
 */
struct dp_dirname {
	struct dp_dirname *up; /* counted in its refs; NULL: none */
	atomic_uint refs;
	size_t path_len; /* of the whole path, with the '/' at its end */
	size_t len;      /* of the part below, which ends in '/', too */
	char part[];     /* not NUL-terminated */
};

/* An open directory that several jobs read through. */
struct dp_dir {
	int fd;
	atomic_uint refs;
	dev_t dev;      /* of the tree */
	bool careful;   /* look at files before they are opened */
	unsigned depth; /* directories around it */
	struct dp_dirname *name;
};

struct dp_walk_job {
	struct dp_job job; /* first */
	enum dp_walk_kind kind;
	int fd;              /* list or file; owned */
	struct dp_dir *dir;  /* the directory that `name` is in; shared */
	bool resumed;        /* DIR: the rest of `dir` itself */
	size_t from, to;     /* LIVE_PART */
	struct dp_err *what; /* ERROR; owned */
	struct dp_buf list;  /* LIST, resumed: what the list is called */
	struct dp_buf names; /* path, name, or several with a NUL each */
};

/* Names of one part of a directory. */
struct dp_walk_batch {
	struct dp_buf raw;   /* what getdents64 gave */
	struct dp_buf names; /* with their NULs */
	struct dp_vec files; /* size_t: offsets of names */
	struct dp_vec dirs;  /* the same */
};

struct dp_walk {
	struct dp_walk_opts opts;
	struct dp_queue queue;
	const struct dp_live_set *live; /* borrowed */
	struct dp_mounts mounts;        /* with -r */
	atomic_uint_fast64_t files;
	atomic_uint_fast64_t found; /* for progress only */
};

struct dp_worker {
	struct dp_walk *walk;
	pthread_t thread;
	struct dp_walk_job *job; /* being done */
	struct dp_writer out;
	struct dp_extractor *x;
	struct dp_walk_batch batch;
	struct dp_buf path; /* of the file being read */
	uint64_t told;      /* of what it found, in walk->found */
};

struct dp_walk_job *dp_walk_job_create(enum dp_walk_kind kind,
                                       struct dp_bytes names);
void dp_walk_free_job(struct dp_job *job);

/* Do wk->job; false when output or memory fails. */
bool dp_walk_do(struct dp_worker *wk, struct dp_err *e);

/* walkdir.c: one part of a directory, its subdirectories as jobs. */
bool dp_walk_dir(struct dp_worker *wk, struct dp_err *e);
bool dp_walk_dirs(struct dp_worker *wk, struct dp_err *e);
void dp_walk_batch_deinit(struct dp_walk_batch *b);
struct dp_dir *dp_dir_hold(struct dp_dir *d);
void dp_dir_drop(struct dp_dir *d);

/*
 * Read a file: `name` in `dir` (its path is dir's and name), or a path of
 * its own when dir is NULL.
 */
bool dp_walk_file(struct dp_worker *wk, struct dp_dir *dir, const char *name,
                  struct dp_err *e);

/* An error record about a path, from errno or with `what`. */
bool dp_walk_errno(struct dp_worker *wk, struct dp_bytes path, int errnum,
                   struct dp_err *e);
bool dp_walk_error(struct dp_worker *wk, struct dp_bytes path,
                   enum dp_code code, const char *what, struct dp_err *e);

/* Path of `name` in `dir`, in wk->path; false when memory is out. */
bool dp_walk_path(struct dp_worker *wk, const struct dp_dir *dir,
                  const char *name, struct dp_err *e);

#endif /* DP_WALKJOBS_H */
