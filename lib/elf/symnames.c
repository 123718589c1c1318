/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The second question of symbols.h: what a name stands for.  Sorted by hash
 * and only then by name: integers decide nearly always, and names made to
 * collide cost no more than a sort by name would.
 */
#include <elf.h>
#include <stdlib.h>

#include "base/limits.h"
#include "elf/symbols.h"
#include "elf/symload.h"

enum {
	NAMES_MAX = DP_MAX_SYMTAB / 64, /* symbols of one object */
};

struct entry {
	uint64_t hash;
	struct dp_bytes name;
	uint64_t value;
	uint32_t shndx;
	uint8_t type;
	bool tls;
};

/* FNV-1a, 64 bits. */
static uint64_t
hash_of(struct dp_bytes name)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < name.n; i++)
		h = (h ^ name.p[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* "name@VERSION" and "name@@VERSION" are name. */
static struct dp_bytes
without_version(struct dp_bytes name)
{
	const uint8_t *at = memchr(name.p, '@', name.n);

	if (at != NULL && at != name.p)
		name.n = (size_t)(at - name.p);
	return name;
}

static bool
take_name(void *ctx, const struct dp_symload *s, struct dp_err *e)
{
	struct dp_symnames *names = ctx;
	struct entry *n;

	if (names->v.n >= NAMES_MAX)
		return dp_err_set(e, DP_ELIMIT, DP_NOOFF,
		                  "more than %d symbols", NAMES_MAX);
	n = dp_vec_push(&names->v, sizeof *n);
	if (n == NULL)
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	n->name = without_version(s->name);
	n->hash = hash_of(n->name);
	n->value = s->sym.value;
	n->shndx = s->shndx;
	n->type = s->sym.info & 0xf;
	n->tls = n->type == STT_TLS;
	return true;
}

static int
cmp_name(uint64_t hash, struct dp_bytes name, const struct entry *b)
{
	if (hash != b->hash)
		return hash < b->hash ? -1 : 1;
	return dp_bytes_cmp(name, b->name);
}

static int
by_name(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	int c = cmp_name(a->hash, a->name, b);

	if (c != 0)
		return c;
	if (a->tls != b->tls)
		return a->tls ? 1 : -1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if (a->shndx != b->shndx)
		return a->shndx < b->shndx ? -1 : 1;
	return (a->type > b->type) - (a->type < b->type);
}

/* The same thing under one name. */
static bool
is_same(const struct dp_symnames *s, const struct entry *a,
        const struct entry *b)
{
	return a->hash == b->hash && dp_bytes_eq(a->name, b->name) &&
	       a->value == b->value && a->tls == b->tls &&
	       (!s->rel || a->shndx == b->shndx);
}

static void
sort_and_thin(struct dp_symnames *s)
{
	struct entry *v = s->v.p;
	size_t to = 0;

	if (s->v.n == 0)
		return;
	qsort(v, s->v.n, sizeof *v, by_name);
	for (size_t i = 1; i < s->v.n; i++)
		if (!is_same(s, &v[to], &v[i]))
			v[++to] = v[i];
	s->v.n = to + 1;
}

bool
dp_symnames_load(struct dp_symnames *s_ret, const struct dp_elf *elf,
                 const struct dp_debugwhere *where, struct dp_err *e)
{
	struct dp_symwant want = {
		.types = 1U << STT_NOTYPE | 1U << STT_OBJECT | 1U << STT_FUNC |
		         1U << STT_TLS | 1U << STT_GNU_IFUNC,
		.take = take_name,
		.ctx = s_ret,
	};

	*s_ret = (struct dp_symnames){ .rel = elf->type == ET_REL };
	if (!dp_symload_run(&s_ret->from, elf, where, &want, e))
		return false;
	sort_and_thin(s_ret);
	return true;
}

void
dp_symnames_deinit(struct dp_symnames *s)
{
	dp_symfrom_deinit(&s->from);
	dp_vec_deinit(&s->v);
}

struct dp_symval
dp_symnames_find(const struct dp_symnames *s, struct dp_bytes name)
{
	const struct entry *v = s->v.p;
	struct dp_symval val = { 0 };
	uint64_t hash = hash_of(name);
	size_t lo = 0, hi = s->v.n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (cmp_name(hash, name, &v[mid]) > 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == s->v.n || cmp_name(hash, name, &v[lo]) != 0)
		return val;
	val.n = 1;
	val.type = v[lo].type;
	val.value = v[lo].value;
	val.shndx = v[lo].shndx;
	if (lo + 1 < s->v.n && cmp_name(hash, name, &v[lo + 1]) == 0)
		val.n = 2;
	return val;
}
