/* SPDX-License-Identifier: BSD-2-Clause */
#include "usdt/notes.h"

#include "base/limits.h"
#include "base/range.h"

void
dp_note_iter_init(struct dp_note_iter *it, struct dp_bytes in,
                  enum dp_order order)
{
	*it = (struct dp_note_iter){ .in = in, .order = order };
}

/* End the walk: where a next note could be is not known. */
static enum dp_step
stop(struct dp_note_iter *it)
{
	it->pos = it->in.n;
	return DP_STEP_BAD;
}

/* Fewer bytes than a header are left: padding, or something else. */
static enum dp_step
tail(struct dp_note_iter *it, struct dp_err *e)
{
	size_t at = it->pos;

	for (size_t i = at; i < it->in.n; i++) {
		if (it->in.p[i] == 0)
			continue;
		dp_err_set(e, DP_EFORMAT, at, "%zu bytes behind the last note",
		           it->in.n - at);
		return stop(it);
	}
	it->pos = it->in.n;
	return DP_STEP_END;
}

/*
 * Read the note at it->pos and move behind it.  *name_ret is the owner with
 * its NUL.  False if it leaves the section.
 */
static bool
take(struct dp_note_iter *it, struct dp_note *note, struct dp_bytes *name_ret)
{
	struct dp_rd r = dp_rd_init(it->in, it->order);
	uint32_t namesz, descsz;

	dp_rd_seek(&r, it->pos);
	namesz = dp_rd_u32(&r);
	descsz = dp_rd_u32(&r);
	note->type = dp_rd_u32(&r);
	*name_ret = dp_rd_take(&r, namesz);
	if (!dp_rd_ok(&r))
		return false;
	note->off = it->pos;
	note->desc_off = dp_align_up(r.pos, DP_NOTE_ALIGN);
	/* some writers leave the padding of the last note out */
	if (note->desc_off > it->in.n)
		note->desc_off = it->in.n;
	dp_rd_seek(&r, note->desc_off);
	note->desc = dp_rd_take(&r, descsz);
	if (!dp_rd_ok(&r))
		return false;
	it->pos = (size_t)dp_align_up(r.pos, DP_NOTE_ALIGN);
	if (it->pos > it->in.n)
		it->pos = it->in.n;
	return true;
}

enum dp_step
dp_note_next(struct dp_note_iter *it, struct dp_note *note_ret,
             struct dp_err *e)
{
	struct dp_bytes name = { NULL, 0 };
	struct dp_note note = { .type = 0 };
	size_t at = it->pos;

	if (it->in.n - at < DP_NOTE_HDR)
		return tail(it, e);
	if (it->n == DP_MAX_NOTES) {
		dp_err_set(e, DP_ELIMIT, at, "more than %u notes",
		           (unsigned)DP_MAX_NOTES);
		return stop(it);
	}
	it->n++;
	if (!take(it, &note, &name)) {
		dp_err_set(e, DP_EFORMAT, at, "note runs out of its section");
		return stop(it);
	}
	if (note.desc.n > DP_MAX_NOTE_DESC) {
		dp_err_set(e, DP_ELIMIT, at, "note descriptor of %zu bytes",
		           note.desc.n);
		return DP_STEP_BAD;
	}
	if (name.n > 0 && name.p[name.n - 1] != '\0') {
		dp_err_set(e, DP_EFORMAT, at, "owner of a note without NUL");
		return DP_STEP_BAD;
	}
	note.owner = name;
	if (name.n > 0)
		note.owner.n--;
	*note_ret = note;
	return DP_STEP_OK;
}

bool
dp_note_is(const struct dp_note *note, const char *owner, uint32_t type)
{
	return note->type == type && dp_bytes_is(note->owner, owner);
}
