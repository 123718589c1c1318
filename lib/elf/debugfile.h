/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the symbols of a stripped object went: a separate debug file, found
 * by build-id or by .gnu_debuglink, and .gnu_debugdata, an xz-packed ELF in
 * a section.  A file is taken only when it proves to be the right one.
 */
#ifndef DP_DEBUGFILE_H
#define DP_DEBUGFILE_H

#include <fcntl.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "elf/object.h"

/* Where to look; all strings are borrowed. */
struct dp_debugwhere {
	const char *object_dir; /* of the object, as its processes see it;
	                           NULL: unknown */
	const char *debug_dir;  /* /usr/lib/debug, or NULL: look nowhere */
	int root_fd; /* root of the object's mount namespace, or AT_FDCWD */
};

/* Look nowhere. */
#define DP_DEBUGWHERE_NONE                                                     \
	{                                                                      \
		.root_fd = AT_FDCWD                                            \
	}

/*
 * Open a file that has the .symtab of `elf`: by build-id under
 * debug_dir/.build-id (its own build-id must be the same), then by the name
 * in .gnu_debuglink (its CRC must be the one there, and it at most
 * DP_MAX_DEBUGFILE bytes) beside the object, in .debug beside it, and under
 * debug_dir.  Only regular files are opened, through /proc/self/fd.  With a
 * root_fd names are looked up under it, then debug_dir on this side as well.
 * *fd_ret is -1 when there is none, else the caller's to close.  Fails on I/O
 * of the object and on memory only.
 */
bool dp_debugfile_open(const struct dp_elf *elf,
                       const struct dp_debugwhere *where, int *fd_ret,
                       struct dp_err *e);

/*
 * Unpack .gnu_debugdata into `buf` (replaced): an ELF image for
 * dp_src_mem().  buf->n is 0 when the object has none.  DP_EFORMAT for what
 * is not xz, DP_ELIMIT past DP_MAX_DEBUGDATA.
 */
bool dp_debugdata_read(const struct dp_elf *elf, struct dp_buf *buf,
                       struct dp_err *e);

#endif /* DP_DEBUGFILE_H */
