/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/bare.h"

#include <elf.h>

#include "base/limits.h"
#include "base/range.h"

enum {
	CHUNK = 256 << 10, /* a multiple of 8 */
	STEP = 8,
	MAGIC_LEN = 4,
};

static const uint8_t magic[MAGIC_LEN] = { 0x7f, 'D', 'O', 'F' };

struct dp_bare
dp_bare_init(const struct dp_elf *elf)
{
	return (struct dp_bare){ .elf = elf, .budget = DP_MAX_SCAN };
}

static const struct dp_elf_seg *
seg_of(const struct dp_bare *b)
{
	return DP_VEC_AT(&b->elf->segs, struct dp_elf_seg, b->seg);
}

/* Bytes of the segment that the file really has. */
static uint64_t
data_size(const struct dp_bare *b)
{
	const struct dp_elf_seg *s = seg_of(b);
	uint64_t have = b->elf->src.size;

	if (s->type != PT_LOAD || s->off >= have)
		return 0;
	have -= s->off;
	if (s->filesz < have)
		have = s->filesz;
	return s->memsz < have ? s->memsz : have;
}

/* The first offset >= `at` whose address 8 divides; wraps to 0. */
static uint64_t
aligned(const struct dp_elf_seg *s, uint64_t at)
{
	return dp_align_up(s->vaddr + at, STEP) - s->vaddr;
}

static void
next_seg(struct dp_bare *b)
{
	b->seg++;
	b->at = 0;
	b->chunk.n = 0;
}

/* Look in the chunk from b->at on; true with b->at at a candidate. */
static bool
find_in_chunk(struct dp_bare *b)
{
	uint64_t i = b->at - b->chunk_at;

	for (; i + MAGIC_LEN <= b->chunk.n; i += STEP)
		if (memcmp(b->chunk.p + i, magic, MAGIC_LEN) == 0) {
			b->at = b->chunk_at + i;
			return true;
		}
	b->at = b->chunk_at + i;
	return false;
}

/* Bring the bytes at b->at; `size` is data_size(). */
static bool
fill(struct dp_bare *b, uint64_t size, struct dp_err *e)
{
	uint64_t n = size - b->at < CHUNK ? size - b->at : CHUNK;

	if (n > b->budget)
		return dp_err_set(e, DP_ELIMIT, seg_of(b)->off + b->at,
		                  "more than %d bytes to search for DOF",
		                  DP_MAX_SCAN);
	b->budget -= n;
	b->chunk.n = 0;
	b->chunk_at = b->at;
	return dp_src_some(&b->elf->src, seg_of(b)->off + b->at, &b->chunk,
	                   (size_t)n, e);
}

/* Go on in the segment in hand; *hit_ret true with b->at at a candidate. */
static bool
scan_seg(struct dp_bare *b, uint64_t size, bool *hit_ret, struct dp_err *e)
{
	*hit_ret = false;
	for (;;) {
		b->at = aligned(seg_of(b), b->at);
		if (!dp_range_ok(b->at, MAGIC_LEN, size))
			return true;
		if (b->chunk.n == 0 || b->at < b->chunk_at ||
		    !dp_range_ok(b->at - b->chunk_at, MAGIC_LEN, b->chunk.n)) {
			if (!fill(b, size, e))
				return false;
			if (b->chunk.n < MAGIC_LEN)
				return true; /* the file was cut meanwhile */
		}
		if (find_in_chunk(b)) {
			*hit_ret = true;
			return true;
		}
	}
}

bool
dp_bare_next(struct dp_bare *b, struct dp_bare_hit *hit_ret, bool *more_ret,
             struct dp_err *e)
{
	uint64_t size;
	bool hit;

	for (; b->seg < b->elf->segs.n; next_seg(b)) {
		size = data_size(b);
		if (!scan_seg(b, size, &hit, e))
			return false;
		if (!hit)
			continue;
		hit_ret->vaddr = seg_of(b)->vaddr + b->at;
		hit_ret->off = seg_of(b)->off + b->at;
		hit_ret->left = size - b->at;
		b->at += STEP;
		*more_ret = true;
		return true;
	}
	*more_ret = false;
	return true;
}

void
dp_bare_skip(struct dp_bare *b, uint64_t n)
{
	/* no file is longer, and aligned() must not wrap */
	if (n > INT64_MAX - b->at)
		b->at = INT64_MAX;
	else if (n > STEP)
		b->at = b->at - STEP + n;
}

void
dp_bare_deinit(struct dp_bare *b)
{
	dp_buf_deinit(&b->chunk);
}
