/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A walk over the ELF notes of a section or segment.  It knows nothing of
 * what owners put into them.  Nothing is allocated; all bytes are borrowed.
 */
#ifndef DP_NOTES_H
#define DP_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

enum {
	DP_NOTE_HDR = 12,  /* bytes of a note's header */
	DP_NOTE_ALIGN = 4, /* of notes and descriptors, in both ELF classes */
};

/* What one step of a walk found. */
enum dp_step {
	DP_STEP_END, /* nothing left */
	DP_STEP_OK,  /* an item, in the `_ret` argument */
	DP_STEP_BAD, /* a bad item, `e` is set; the walk may go on */
};

struct dp_note {
	struct dp_bytes owner; /* without its NUL; any bytes, may be empty */
	uint32_t type;
	struct dp_bytes desc;
	uint64_t off;      /* of the header, from the start of the walk */
	uint64_t desc_off; /* of the descriptor, likewise */
};

struct dp_note_iter {
	struct dp_bytes in;
	enum dp_order order;
	size_t pos; /* where the next header is */
	uint32_t n; /* notes passed, bad ones too */
};

/* Begin on the bytes of a note section; 0 bytes are legal. */
void dp_note_iter_init(struct dp_note_iter *it, struct dp_bytes in,
                       enum dp_order order);

/*
 * The next note.  DP_STEP_BAD sets `e` with the offset of the note that is
 * bad, counted like note_ret->off; give a fresh `e` each time.  After a note
 * whose end is not known the next step is DP_STEP_END.  A tail of zeros too
 * short for a header is padding and no error.
 */
enum dp_step dp_note_next(struct dp_note_iter *it, struct dp_note *note_ret,
                          struct dp_err *e);

/* True if `note` has exactly this owner and type. */
bool dp_note_is(const struct dp_note *note, const char *owner, uint32_t type);

#endif /* DP_NOTES_H */
