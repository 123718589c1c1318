/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members of an `ar` archive, in order: GNU, BSD and SysV names.  Symbol
 * and name tables are not members.  Nested archives are the caller's
 * business, and so are thin ones, whose members are files of their own.
 */
#ifndef DP_ARCHIVE_H
#define DP_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "elf/source.h"

/* A reader's place; internal but for deinit.  Zeroed it is valid. */
struct dp_ar {
	struct dp_src src;
	uint64_t pos;          /* of the next header */
	uint32_t nmembers;     /* headers seen, tables included */
	struct dp_buf longs;   /* GNU's table of long names */
	struct dp_buf scratch; /* header, or BSD's name */
};

enum { DP_AR_HEAD = 64 };

struct dp_ar_member {
	struct dp_bytes name; /* borrowed until the next call; may be empty */
	uint64_t hdr_off;     /* of its header in the archive */
	uint64_t off;         /* of its data in the archive */
	uint64_t size;        /* bytes of data, inside the archive */
	/*
	 * The first DP_AR_HEAD bytes of data, or all, borrowed like the name;
	 * empty when they did not come with the header.
	 */
	struct dp_bytes head;
};

/*
 * Start on the archive in `src` (borrowed).  DP_EFORMAT when it is none,
 * DP_EUNSUP when it is a thin one.
 */
bool dp_ar_open(struct dp_ar *ar_ret, const struct dp_src *src,
                struct dp_err *e);

/*
 * Step to the next member; *more_ret is false at the end, with *m_ret
 * untouched.  Fails at a header that is cut or broken, or a member that the
 * archive does not hold whole: nothing can be read behind it, the members
 * before it stay valid.  DP_ELIMIT past DP_MAX_AR_MEMBERS.
 */
bool dp_ar_next(struct dp_ar *ar, struct dp_ar_member *m_ret, bool *more_ret,
                struct dp_err *e);

/* The member as a source of its own. */
struct dp_src dp_ar_src(const struct dp_ar *ar, const struct dp_ar_member *m);
void dp_ar_close(struct dp_ar *ar);

#endif /* DP_ARCHIVE_H */
