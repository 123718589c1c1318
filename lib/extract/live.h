/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What live processes map: each file once, with all processes that map it,
 * opened while that is still permitted; and DOF that only memory holds.
 * Nothing that a process chose is decoded but its maps until the sandbox is
 * closed: dp_live_search() and what extracts come after.
 */
#ifndef DP_LIVE_H
#define DP_LIVE_H

#include "extract/extract.h"

struct dp_live_set;

struct dp_live_opts {
	bool memory; /* open the memory, too, for dp_live_search() */
	bool quiet;  /* processes that may not be read are passed over */
};

struct dp_live_set *dp_live_create(const struct dp_live_opts *opts);
void dp_live_destroy(struct dp_live_set *s);

/*
 * Add what a process maps; one that was added by its number before is not
 * added again.  False when memory is out; a process that is not there or may
 * not be read is kept as an error.
 */
bool dp_live_add_pid(struct dp_live_set *s, pid_t pid, struct dp_err *e);

/* All processes, each once: not for a set that already has some. */
bool dp_live_add_all(struct dp_live_set *s, struct dp_err *e);

size_t dp_live_count(const struct dp_live_set *s); /* files */

/* Write what could not be read as error records. */
bool dp_live_put_errors(const struct dp_live_set *s, struct dp_extractor *x,
                        struct dp_err *e);

/*
 * Write the i-th file's records and close it: once for each i.  Several
 * threads may do so for different i, since nothing else of `s` changes.
 */
bool dp_live_extract(const struct dp_live_set *s, size_t i,
                     struct dp_extractor *x, struct dp_err *e);

/*
 * Search the memory that was opened for DOF, and close it.  It needs no
 * rights: to be called in the sandbox, before the set is extracted.  False
 * when memory is out; what a search left out is kept as an error.
 */
bool dp_live_search(struct dp_live_set *s, struct dp_err *e);

/* DOFs found in memory, and their records. */
size_t dp_live_ndofs(const struct dp_live_set *s);
bool dp_live_extract_dof(const struct dp_live_set *s, size_t i,
                         struct dp_extractor *x, struct dp_err *e);

#endif /* DP_LIVE_H */
