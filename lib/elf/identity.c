/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/identity.h"

#include <elf.h>

#include "base/range.h"
#include "elf/dynamic.h"

enum {
	NOTES_MAX = 1 << 20, /* bytes of notes that are searched */
	NAME_MAX_LEN = 4096, /* soname, debug link */
};

/* A search for the build-id through several runs of notes. */
struct search {
	const struct dp_elf *elf;
	struct dp_buf *id;
	struct dp_buf buf;
	size_t budget;
};

/* Find the GNU build-id in notes aligned to `align`; empty when not there. */
static struct dp_bytes
find_note(struct dp_bytes in, enum dp_order order, uint64_t align)
{
	struct dp_rd r = dp_rd_init(in, order);
	struct dp_bytes name, desc, none = { NULL, 0 };
	uint32_t namesz, descsz, type;

	while (dp_rd_ok(&r)) {
		namesz = dp_rd_u32(&r);
		descsz = dp_rd_u32(&r);
		type = dp_rd_u32(&r);
		name = dp_rd_take(&r, namesz);
		dp_rd_seek(&r, dp_align_up(r.pos, align));
		desc = dp_rd_take(&r, descsz);
		if (!dp_rd_ok(&r))
			break;
		if (type == NT_GNU_BUILD_ID && desc.n != 0 &&
		    desc.n <= DP_BUILDID_MAX &&
		    dp_bytes_eq(name, (struct dp_bytes){
					      (const uint8_t *)ELF_NOTE_GNU,
					      sizeof ELF_NOTE_GNU }))
			return desc;
		dp_rd_seek(&r, dp_align_up(r.pos, align));
	}
	return none;
}

/* Search the notes in `size` bytes at `off` of the object. */
static bool
search_at(struct search *s, uint64_t off, uint64_t size, uint64_t align,
          struct dp_err *e)
{
	struct dp_bytes id;
	size_t n = size < s->budget ? (size_t)size : s->budget;

	if (s->id->n != 0 || n == 0)
		return true;
	s->budget -= n;
	s->buf.n = 0;
	if (!dp_src_some(&s->elf->src, off, &s->buf, n, e))
		return false;
	id = find_note(dp_buf_bytes(&s->buf), s->elf->order,
	               align == 8 ? 8 : 4);
	if (!dp_buf_add(s->id, id.p, id.n))
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	return true;
}

static bool
search_all(struct search *s, struct dp_err *e)
{
	const struct dp_elf *elf = s->elf;
	const struct dp_elf_sec *sec =
		dp_elf_sec_named(elf, ".note.gnu.build-id");
	const struct dp_elf_seg *seg;

	if (sec != NULL && sec->type == SHT_NOTE &&
	    !search_at(s, sec->off, sec->size, 4, e))
		return false;
	for (size_t i = 0; i < elf->secs.n && s->id->n == 0; i++) {
		sec = dp_elf_sec(elf, i);
		if (sec->type != SHT_NOTE || (sec->flags & SHF_ALLOC) == 0)
			continue;
		if (!search_at(s, sec->off, sec->size, 4, e))
			return false;
	}
	for (size_t i = 0; i < elf->segs.n && s->id->n == 0; i++) {
		seg = DP_VEC_AT(&elf->segs, struct dp_elf_seg, i);
		if (seg->type != PT_NOTE)
			continue;
		if (!search_at(s, seg->off, seg->filesz, seg->align, e))
			return false;
	}
	return true;
}

bool
dp_elf_build_id(const struct dp_elf *elf, struct dp_buf *id, struct dp_err *e)
{
	struct search s = { .elf = elf, .id = id, .budget = NOTES_MAX };
	bool ok;

	id->n = 0;
	ok = search_all(&s, e);
	dp_buf_deinit(&s.buf);
	return ok;
}

bool
dp_elf_soname(const struct dp_elf *elf, struct dp_buf *name, struct dp_err *e)
{
	struct dp_dynamic d;
	uint64_t off, left;
	const uint8_t *nul;

	name->n = 0;
	if (!dp_dynamic_read(elf, &d, e))
		return false;
	if (!d.has[DP_DYN_SONAME])
		return true;
	if (!d.has[DP_DYN_STRTAB] || !d.has[DP_DYN_STRSZ] ||
	    d.v[DP_DYN_SONAME] >= d.v[DP_DYN_STRSZ] ||
	    !dp_elf_off_of(elf, d.v[DP_DYN_STRTAB], &off) ||
	    __builtin_add_overflow(off, d.v[DP_DYN_SONAME], &off))
		return dp_err_set(e, DP_EFORMAT, DP_NOOFF,
		                  "DT_SONAME is outside the string table");
	left = d.v[DP_DYN_STRSZ] - d.v[DP_DYN_SONAME];
	if (left > NAME_MAX_LEN)
		left = NAME_MAX_LEN;
	if (!dp_src_some(&elf->src, off, name, (size_t)left, e))
		return false;
	nul = name->n != 0 ? memchr(name->p, '\0', name->n) : NULL;
	if (nul == NULL) {
		name->n = 0;
		return dp_err_set(e, DP_EFORMAT, off, "DT_SONAME does not end");
	}
	name->n = (size_t)(nul - name->p);
	return true;
}

/* The section holds a name, its NUL, zeros to a multiple of 4, the CRC. */
bool
dp_elf_debuglink(const struct dp_elf *elf, struct dp_buf *name,
                 uint32_t *crc_ret, struct dp_err *e)
{
	const struct dp_elf_sec *sec = dp_elf_sec_named(elf, ".gnu_debuglink");
	struct dp_bytes link;
	struct dp_rd r;
	uint32_t crc;

	name->n = 0;
	if (sec == NULL || sec->type == SHT_NOBITS)
		return true;
	if (!dp_elf_sec_read(elf, sec, name, e))
		return false;
	r = dp_rd_init(dp_buf_bytes(name), elf->order);
	link = dp_rd_str(&r);
	dp_rd_seek(&r, dp_align_up(r.pos, 4));
	crc = dp_rd_u32(&r);
	if (!dp_rd_ok(&r) || link.n == 0 || link.n > NAME_MAX_LEN) {
		name->n = 0;
		return dp_err_set(e, DP_EFORMAT, sec->off,
		                  ".gnu_debuglink is broken");
	}
	name->n = link.n; /* it stands at the start */
	*crc_ret = crc;
	return true;
}
