/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From object files to raw records: an ELF, an archive of them, a Mach-O,
 * bare DOF, or DOF in the memory of a process.  The files are open already;
 * how they are found is walk.h's and live.h's business.
 */
#ifndef DP_EXTRACT_H
#define DP_EXTRACT_H

#include "proc/maps.h"
#include "proc/process.h"
#include "record/writer.h"

/* What is looked for. */
enum dp_extract_source {
	DP_EXTRACT_DOF = 1,
	DP_EXTRACT_STAPSDT = 2,
	DP_EXTRACT_USDT = 4,
	DP_EXTRACT_ALL = 7,
};

struct dp_extract_opts {
	unsigned sources;      /* enum dp_extract_source, or'ed */
	const char *debug_dir; /* separate debug files; NULL for none */
	bool empty;            /* objects without probes are written, too */
	/* Told of each error record; any thread, may be NULL. */
	void (*complain)(void *ctx, struct dp_bytes input,
	                 const struct dp_err *what);
	void *ctx;
};

/* A process that maps the object; borrowed. */
struct dp_live {
	uint64_t start_time;
	uint64_t pidns;
	uint32_t pid;
	uint32_t nspid;
	uint64_t dev; /* as its maps give them */
	uint64_t ino;
	const struct dp_map *maps; /* of the object, ascending */
	size_t nmaps;
};

struct dp_extract_input {
	struct dp_bytes path; /* how it is called; any bytes */
	int fd;               /* open for reading, a regular file */
	struct dp_bytes head; /* its first bytes, DP_GATE_HEAD if it has them */
	bool named;           /* not being an object is an error */
	bool deleted;
	bool only_dev; /* pass over a file that is not on device `dev` */
	uint64_t dev;
	int root_fd; /* root of its mount namespace, or AT_FDCWD */
	const struct dp_live *lives;
	size_t nlives;
};

/* One thread's tools. */
struct dp_extractor;

/* NULL when memory is out; `opts` and `out` are borrowed. */
struct dp_extractor *dp_extractor_create(const struct dp_extract_opts *opts,
                                         struct dp_writer *out);
void dp_extractor_destroy(struct dp_extractor *x);

/* Objects with something in them, and errors, so far. */
uint64_t dp_extractor_found(const struct dp_extractor *x);
uint64_t dp_extractor_errors(const struct dp_extractor *x);

/*
 * Write the records of one file.  What is wrong in it becomes error
 * records; false only when output or memory fails.
 */
bool dp_extract_file(struct dp_extractor *x, const struct dp_extract_input *in,
                     struct dp_err *e);

/* A DOF in the memory of a process; no file holds it.  Borrowed. */
struct dp_memory_dof {
	struct dp_live live;  /* its maps are not used */
	struct dp_bytes path; /* the kernel's name of the mapping */
	uint64_t addr;
	struct dp_bytes bytes;
};

/* Write it as an object of its own. */
bool dp_extract_memory(struct dp_extractor *x, const struct dp_memory_dof *m,
                       struct dp_err *e);

/* An error record outside of any object. */
bool dp_extract_error(struct dp_extractor *x, struct dp_bytes input,
                      const struct dp_err *what, struct dp_err *e);

#endif /* DP_EXTRACT_H */
