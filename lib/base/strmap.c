/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/strmap.h"

#include <stdlib.h>
#include <sys/random.h>

enum { KEEP_SLOTS = 1 << 12 };

/* The state of SipHash (Aumasson, Bernstein 2012), one and three rounds. */
struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t
rotl(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static void
sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v1 = rotl(s->v1, 13) ^ s->v0;
	s->v0 = rotl(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = rotl(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = rotl(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = rotl(s->v1, 17) ^ s->v2;
	s->v2 = rotl(s->v2, 32);
}

static uint64_t
sip_hash(const uint64_t seed[2], struct dp_bytes key)
{
	struct sip s = { seed[0] ^ 0x736f6d6570736575,
		         seed[1] ^ 0x646f72616e646f6d,
		         seed[0] ^ 0x6c7967656e657261,
		         seed[1] ^ 0x7465646279746573 };
	struct dp_rd r = dp_rd_init(key, DP_LE);
	uint64_t last = (uint64_t)key.n << 56;

	while (dp_rd_left(&r) >= 8) {
		uint64_t m = dp_rd_u64(&r);

		s.v3 ^= m;
		sip_round(&s);
		s.v0 ^= m;
	}
	for (unsigned i = 0; dp_rd_left(&r) > 0; i += 8)
		last |= (uint64_t)dp_rd_u8(&r) << i;
	s.v3 ^= last;
	sip_round(&s);
	s.v0 ^= last;
	s.v2 ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

static struct dp_strmap_row *
row_at(const struct dp_strmap *m, size_t i)
{
	return DP_VEC_AT(&m->rows, struct dp_strmap_row, i);
}

struct dp_bytes
dp_strmap_key(const struct dp_strmap *m, size_t i)
{
	const struct dp_strmap_row *r = row_at(m, i);

	return (struct dp_bytes){ m->keys.p + r->key_off, r->key_size };
}

/* The slot that holds the key, or the free one where it belongs. */
static uint32_t *
slot_of(const struct dp_strmap *m, uint64_t hash, struct dp_bytes key)
{
	size_t i = hash & (m->nslots - 1);

	for (;; i = (i + 1) & (m->nslots - 1)) {
		uint32_t row = m->slots[i];

		if (row == 0)
			return &m->slots[i];
		if (row_at(m, row - 1)->hash == hash &&
		    dp_bytes_eq(dp_strmap_key(m, row - 1), key))
			return &m->slots[i];
	}
}

static bool
grow(struct dp_strmap *m)
{
	size_t n = m->nslots != 0 ? m->nslots * 2 : 64;
	uint32_t *slots = calloc(n, sizeof *slots);

	if (slots == NULL)
		return false;
	free(m->slots);
	m->slots = slots;
	m->nslots = n;
	for (size_t row = 0; row < m->rows.n; row++) {
		size_t i = row_at(m, row)->hash & (n - 1);

		while (slots[i] != 0)
			i = (i + 1) & (n - 1);
		slots[i] = (uint32_t)row + 1;
	}
	return true;
}

uint32_t *
dp_strmap_find(struct dp_strmap *m, struct dp_bytes key)
{
	uint32_t row;

	if (m->rows.n == 0)
		return NULL;
	row = *slot_of(m, sip_hash(m->seed, key), key);
	return row == 0 ? NULL : &row_at(m, row - 1)->value;
}

uint32_t *
dp_strmap_add(struct dp_strmap *m, struct dp_bytes key, uint32_t value,
              bool *added_ret)
{
	struct dp_strmap_row *row;
	uint64_t hash;
	uint32_t *slot;

	if (m->nslots == 0)
		(void)getrandom(m->seed, sizeof m->seed, GRND_NONBLOCK);
	if (m->rows.n >= UINT32_MAX / 2 || key.n > UINT32_MAX ||
	    (m->rows.n + 1 > m->nslots / 2 && !grow(m)))
		return NULL;
	hash = sip_hash(m->seed, key);
	slot = slot_of(m, hash, key);
	*added_ret = *slot == 0;
	if (*slot != 0)
		return &row_at(m, *slot - 1)->value;
	if (!dp_vec_reserve(&m->rows, 1, sizeof *row) ||
	    !dp_buf_add(&m->keys, key.p, key.n))
		return NULL;
	row = row_at(m, m->rows.n++);
	*row = (struct dp_strmap_row){ m->keys.n - key.n, (uint32_t)key.n,
		                       value, hash };
	*slot = (uint32_t)m->rows.n;
	return &row->value;
}

void
dp_strmap_clear(struct dp_strmap *m)
{
	if (m->rows.n == 0)
		return;
	m->rows.n = 0;
	m->keys.n = 0;
	if (m->nslots > KEEP_SLOTS) { /* one giant must not slow all dwarfs */
		free(m->slots);
		m->slots = NULL;
		m->nslots = 0;
		return;
	}
	memset(m->slots, 0, m->nslots * sizeof *m->slots);
}

void
dp_strmap_deinit(struct dp_strmap *m)
{
	dp_vec_deinit(&m->rows);
	dp_buf_deinit(&m->keys);
	free(m->slots);
	*m = (struct dp_strmap){ 0 };
}
