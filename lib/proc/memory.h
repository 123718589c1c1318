/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of another process through /proc/PID/mem: ranges of it, and a
 * search for DOF that no file holds.  What is found is not parsed here.
 *
 * Open it before a Landlock domain is entered: open descriptors stay usable.
 */
#ifndef DP_MEMORY_H
#define DP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "proc/maps.h"
#include "proc/process.h"

/* The memory of one process; dp_memory_deinit() closes it. */
struct dp_memory {
	int fd;        /* owned: /proc/PID/mem */
	int pagemap;   /* owned: /proc/PID/pagemap, or -1 */
	uint64_t page; /* page size, bytes */
};

/*
 * Open the memory of `p`; needs the right to trace it.  After an execve()
 * of the process it still shows the old memory, which is then empty.
 * On failure *m_ret is untouched.
 */
bool dp_memory_open(const struct dp_process *p, struct dp_memory *m_ret,
                    struct dp_err *e);
void dp_memory_deinit(struct dp_memory *m);

/*
 * Read `n` bytes at `addr` into `dst` and return how many could be read from
 * the front.  When fewer than n, `e` says why, and e->off is the address of
 * the first byte that is missing.
 */
size_t dp_memory_read(const struct dp_memory *m, uint64_t addr, void *dst,
                      size_t n, struct dp_err *e);

/* A search: what to call, and, afterwards, what happened. */
struct dp_memscan {
	/*
	 * Called for each address that holds the magic; false ends the
	 * search, which then fails with what was put into `e`.  A process
	 * can hold millions of them: the callee keeps its own limit.
	 */
	bool (*hit)(void *arg, uint64_t addr, struct dp_err *e);
	void *arg;
	uint64_t limit;   /* bytes; 0 stands for DP_MAX_MEMSCAN */
	uint64_t bytes;   /* out: bytes searched */
	uint64_t skipped; /* out: bytes that could not be read */
	bool cut;         /* out: not all was searched: the limit, or (before
	                   * Linux 6.7) a mapping too vast to look through */
};

/*
 * True if dp_memory_scan() looks into `map`: readable, and no named file
 * behind it.  That is anonymous memory (heap, stack, brk, named anonymous),
 * memfds, shared anonymous memory and System V segments; not the pages the
 * kernel lends ([vdso], [vvar], [vsyscall], [uprobes]) and no file, deleted
 * or not, since a file is read as a file.
 */
bool dp_memory_scans(const struct dp_map *map);

/*
 * Search the mappings of the maps text for the DOF magic 7f 44 4f 46 at
 * addresses that are multiples of 8.  Pages that the process never touched
 * are not read where the kernel tells which they are: a reserved terabyte
 * is neither searched nor filled.  Unreadable pages are skipped and counted
 * against the limit.  False: `hit` said so, no memory, or the process is
 * gone; the counters are valid in any case.
 */
bool dp_memory_scan(const struct dp_memory *m, struct dp_bytes maps,
                    struct dp_memscan *s, struct dp_err *e);

#endif /* DP_MEMORY_H */
