/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DOF that only the memory of a process holds.  The memory is opened while
 * the rights for that are still there; not a byte of it is looked at before
 * dp_livemem_search(), which needs none and can run in the sandbox.
 */
#ifndef DP_LIVEMEM_H
#define DP_LIVEMEM_H

#include "extract/extract.h"
#include "proc/memory.h"

/* One process whose memory waits to be searched. */
struct dp_livemem {
	struct dp_live live;  /* who it is; without maps */
	struct dp_memory mem; /* owned; fd -1: it has none, as in the kernel */
	struct dp_buf maps;   /* owned: the text of its maps */
};

/* What a search may take; dp_livemem_limits() gives the usual ones. */
struct dp_livemem_limits {
	uint64_t kept; /* bytes: all DOFs that are kept, over all searches */
	uint64_t read; /* bytes of candidates, one search */

	/*
	 * Steps of one search: a candidate, a section or relocation of it, a
	 * provider that is looked up, a type string of that.
	 */
	uint64_t work;
};

/* A DOF that was found. */
struct dp_livemem_dof {
	struct dp_live live;
	uint64_t addr;
	struct dp_buf path;  /* owned: the kernel's name of the mapping */
	struct dp_buf bytes; /* owned */
};

/* All that were found, of all processes.  A zeroed one is empty. */
struct dp_livemem_found {
	struct dp_vec dofs; /* struct dp_livemem_dof */
	uint64_t size;      /* bytes that they take */
	bool full;          /* limits.kept was met: do not search on */
};

struct dp_livemem_limits dp_livemem_limits(void);

/*
 * Open the memory of `p` and copy its maps; `live` says who it is.  On
 * failure *m_ret is untouched.
 */
bool dp_livemem_open(const struct dp_process *p, const struct dp_live *live,
                     struct dp_livemem *m_ret, struct dp_err *e);

/* Close and free; may be called again. */
void dp_livemem_deinit(struct dp_livemem *m);

/*
 * Add to `found` each DOF in anonymous memory that has a probe in memory
 * which the process can execute.  On failure `e` says what was left out:
 * DP_ELIMIT for any of the limits, and what was found before stays.  That
 * the process went meanwhile is no failure.
 */
bool dp_livemem_search(const struct dp_livemem *m,
                       const struct dp_livemem_limits *lim,
                       struct dp_livemem_found *found, struct dp_err *e);

void dp_livemem_found_deinit(struct dp_livemem_found *found);

#endif /* DP_LIVEMEM_H */
