/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors of DTrace's ELF notes, built here in both byte orders. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "usdt/usdtnote.h"

struct out {
	uint8_t b[1024];
	size_t n;
	enum dp_order order;
};

static void
put_uint(struct out *o, uint64_t v, unsigned width)
{
	for (unsigned i = 0; i < width; i++) {
		unsigned at = o->order == DP_LE ? i : width - 1 - i;

		o->b[o->n++] = (uint8_t)(v >> (8 * at));
	}
}

static void
put_bytes(struct out *o, const void *p, size_t n)
{
	memcpy(o->b + o->n, p, n);
	o->n += n;
}

static void
put_str(struct out *o, const char *s)
{
	put_bytes(o, s, strlen(s) + 1);
}

static void
put_pad(struct out *o)
{
	while (o->n % 4 != 0)
		o->b[o->n++] = 0;
}

static struct dp_bytes
bytes(const struct out *o)
{
	return (struct dp_bytes){ o->b, o->n };
}

static struct dp_bytes
exact(const uint8_t *p, size_t n)
{
	uint8_t *q = malloc(n == 0 ? 1 : n);

	ck_assert_ptr_nonnull(q);
	memcpy(q, p, n);
	return (struct dp_bytes){ q, n };
}

static void
drop(struct dp_bytes b)
{
	free((void *)(uintptr_t)b.p);
}

static struct out
site_sample(enum dp_order order)
{
	struct out o = { .order = order };

	put_uint(&o, 0x401136, 8);
	put_uint(&o, 0x402010, 8);
	put_str(&o, "../../prov");
	put_str(&o, "get-it");
	put_uint(&o, 2, 1);
	put_str(&o, "-4@%edi 8@[x9,x7,4] ");
	return o;
}

/* A probe named `name` of two native and three translated arguments. */
static void
put_probe(struct out *o, const char *name)
{
	put_pad(o);
	put_str(o, name);
	put_uint(o, 2, 1);
	put_str(o, "int");
	put_str(o, "char *");
	put_uint(o, 3, 1);
	put_str(o, "char *");
	put_uint(o, 1, 1);
	put_str(o, "");
	put_uint(o, 0, 1);
	put_str(o, "info_t");
	put_uint(o, 1, 1);
}

static void
put_prov(struct out *o, const char *name, uint32_t nprobes)
{
	put_str(o, name);
	put_pad(o);
	for (uint32_t i = 0; i < DP_USDT_NATTRS; i++)
		put_uint(o, 0x01020300 + i, 4);
	put_uint(o, nprobes, 4);
}

static struct out
prov_sample(enum dp_order order)
{
	struct out o = { .order = order };

	put_prov(&o, "prov5", 3);
	put_probe(&o, "first");
	put_pad(&o);
	put_str(&o, "bare");
	put_uint(&o, 0, 2);
	put_probe(&o, "third");
	return o;
}

START_TEST(test_site)
{
	for (enum dp_order order = DP_LE; order <= DP_BE; order++) {
		struct out o = site_sample(order);
		struct dp_err e = DP_ERR_INIT;
		struct dp_usdt_site s;

		ck_assert(dp_usdt_site_parse(bytes(&o), order, &s, &e));
		ck_assert_uint_eq(s.pc, 0x401136);
		ck_assert_uint_eq(s.func_addr, 0x402010);
		ck_assert_uint_eq(s.pc_off, 0);
		ck_assert_uint_eq(s.func_off, 8);
		ck_assert(dp_bytes_is(s.provider, "../../prov"));
		ck_assert(dp_bytes_is(s.probe, "get-it"));
		ck_assert_uint_eq(s.nargs, 2);
		ck_assert(dp_bytes_is(s.args, "-4@%edi 8@[x9,x7,4] "));
	}
}
END_TEST

START_TEST(test_site_bad)
{
	static const struct {
		const char *b; /* what follows the two words */
		size_t n;
		uint64_t off;
		const char *msg;
	} want[] = {
		{ "", 0, 16, "provider name without NUL" },
		{ "\0p\0\0", 5, 16, "empty provider name" },
		{ "p\0q", 3, 18, "probe name without NUL" },
		{ "p\0\0\0", 5, 18, "empty probe name" },
		{ "p\0q", 4, 20, "no argument count" },
		{ "p\0q\0\1", 5, 21, "argument string without NUL" },
		{ "p\0q\0\1-4@1", 9, 21, "argument string without NUL" },
	};

	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
		struct out o = { .order = DP_LE };
		struct dp_err e = DP_ERR_INIT;
		struct dp_usdt_site s = { .pc = 77 };
		struct dp_bytes d;

		put_uint(&o, 1, 8);
		put_uint(&o, 2, 8);
		put_bytes(&o, want[i].b, want[i].n);
		d = exact(o.b, o.n);
		ck_assert(!dp_usdt_site_parse(d, DP_LE, &s, &e));
		ck_assert_int_eq(e.code, DP_EFORMAT);
		ck_assert_uint_eq(e.off, want[i].off);
		ck_assert_str_eq(e.msg, want[i].msg);
		ck_assert_uint_eq(s.pc, 77);
		drop(d);
	}
}
END_TEST

/* Check what put_probe() made. */
static void
check_probe(const struct dp_usdt_probe *p, const char *name)
{
	static const struct {
		const char *type;
		unsigned native;
	} want[] = { { "char *", 1 }, { "", 0 }, { "info_t", 1 } };
	struct dp_usdt_xlat_iter it;
	struct dp_bytes type;
	uint8_t native;

	ck_assert(dp_bytes_is(p->name, name));
	ck_assert_uint_eq(p->off % 4, 0);
	ck_assert_uint_eq(p->nnative, 2);
	ck_assert_uint_eq(p->native.n, 11);
	ck_assert_int_eq(memcmp(p->native.p, "int\0char *", 11), 0);
	ck_assert_uint_eq(p->nxlated, 3);
	dp_usdt_xlat_init(&it, p);
	for (int i = 0; i < 3; i++) {
		ck_assert(dp_usdt_xlat_next(&it, &type, &native));
		ck_assert(dp_bytes_is(type, want[i].type));
		ck_assert_uint_eq(native, want[i].native);
	}
	ck_assert(!dp_usdt_xlat_next(&it, &type, &native));
}

START_TEST(test_prov)
{
	for (enum dp_order order = DP_LE; order <= DP_BE; order++) {
		struct out o = prov_sample(order);
		struct dp_err e = DP_ERR_INIT;
		struct dp_usdt_probe_iter it;
		struct dp_usdt_xlat_iter x;
		struct dp_usdt_prov p;
		struct dp_usdt_probe pr;
		struct dp_bytes type;
		uint8_t native;

		ck_assert(dp_usdt_prov_parse(bytes(&o), order, &p, &e));
		ck_assert(dp_bytes_is(p.name, "prov5"));
		ck_assert_uint_eq(p.nprobes, 3);
		ck_assert_uint_eq(p.probes_off, 8 + 24);
		for (uint32_t i = 0; i < DP_USDT_NATTRS; i++)
			ck_assert_uint_eq(p.attr[i], 0x01020300 + i);

		dp_usdt_probe_iter_init(&it, bytes(&o), &p);
		ck_assert_int_eq(dp_usdt_probe_next(&it, &pr, &e), DP_STEP_OK);
		ck_assert_uint_eq(pr.off, 32);
		check_probe(&pr, "first");
		ck_assert_int_eq(dp_usdt_probe_next(&it, &pr, &e), DP_STEP_OK);
		ck_assert(dp_bytes_is(pr.name, "bare"));
		ck_assert_uint_eq(pr.nnative + pr.nxlated, 0);
		ck_assert_uint_eq(pr.native.n + pr.xlated.n, 0);
		dp_usdt_xlat_init(&x, &pr);
		ck_assert(!dp_usdt_xlat_next(&x, &type, &native));
		ck_assert_int_eq(dp_usdt_probe_next(&it, &pr, &e), DP_STEP_OK);
		check_probe(&pr, "third");
		ck_assert_int_eq(dp_usdt_probe_next(&it, &pr, &e), DP_STEP_END);
		ck_assert_int_eq(e.code, DP_OK);
	}
}
END_TEST

START_TEST(test_prov_bad)
{
	static const struct {
		const char *b;
		size_t n;
		uint64_t off;
		const char *msg;
	} want[] = {
		{ "", 0, 0, "provider name without NUL" },
		{ "prov", 4, 0, "provider name without NUL" },
		{ "\0\0\0", 4, 0, "empty provider name" },
		/* the padding is missing, then one word after the other */
		{ "prov", 5, 5, "provider attributes cut" },
		{ "prov\0\0\0\0\0\0", 10, 8, "provider attributes cut" },
		{ "pro\0\0\0\0\0\0\0", 11, 8, "provider attributes cut" },
	};

	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
		struct dp_bytes d =
			exact((const uint8_t *)want[i].b, want[i].n);
		struct dp_err e = DP_ERR_INIT;
		struct dp_usdt_prov p = { .nprobes = 77 };

		ck_assert(!dp_usdt_prov_parse(d, DP_LE, &p, &e));
		ck_assert_int_eq(e.code, DP_EFORMAT);
		ck_assert_uint_eq(e.off, want[i].off);
		ck_assert_str_eq(e.msg, want[i].msg);
		ck_assert_uint_eq(p.nprobes, 77);
		drop(d);
	}
}
END_TEST

START_TEST(test_limit)
{
	struct out o = { .order = DP_LE };
	struct dp_err e = DP_ERR_INIT;
	struct dp_usdt_probe_iter it;
	struct dp_usdt_probe pr;
	struct dp_usdt_prov p;
	unsigned n = 0;
	size_t size;
	uint8_t *b;

	put_prov(&o, "p", DP_MAX_USDT_PROBES + 1);
	ck_assert(!dp_usdt_prov_parse(bytes(&o), DP_LE, &p, &e));
	ck_assert_int_eq(e.code, DP_ELIMIT);
	ck_assert_uint_eq(e.off, 4 + 20);

	/* as many as are allowed, of four bytes each */
	o.n = 0;
	put_prov(&o, "p", DP_MAX_USDT_PROBES);
	size = o.n + (size_t)DP_MAX_USDT_PROBES * 4;
	b = calloc(1, size);
	ck_assert_ptr_nonnull(b);
	memcpy(b, o.b, o.n);
	for (size_t i = o.n; i < size; i += 4)
		b[i] = 'n';
	e = (struct dp_err)DP_ERR_INIT;
	ck_assert(dp_usdt_prov_parse((struct dp_bytes){ b, size }, DP_LE, &p,
	                             &e));
	dp_usdt_probe_iter_init(&it, (struct dp_bytes){ b, size }, &p);
	while (dp_usdt_probe_next(&it, &pr, &e) == DP_STEP_OK)
		n++;
	ck_assert_uint_eq(n, DP_MAX_USDT_PROBES);
	ck_assert_int_eq(e.code, DP_OK);
	free(b);
}
END_TEST

START_TEST(test_probe_bad)
{
	/* the list starts at offset 28, behind "p" and six words */
	static const struct {
		unsigned nprobes;
		const char *b;
		size_t n;
		const char *steps;
		uint64_t off; /* of the first error */
	} want[] = {
		{ 0, "", 0, "", DP_NOOFF },
		{ 0, "junk", 4, "", DP_NOOFF },
		{ 1, "a\0\0\0", 4, "o", DP_NOOFF },
		{ 1, "a\0\0\0junk", 8, "o", DP_NOOFF },
		{ 1, "", 0, "b", 28 },
		{ 2, "a\0\0\0", 4, "ob", 32 },
		{ 9, "a\0\0\0b", 5, "ob", 32 },
		{ 9, "a\0\0\0b\0", 6, "ob", 34 },
		{ 2, "ab\0\0\0", 5, "ob", 33 },
		/* an empty name; the next one is found */
		{ 2, "\0\0\0\0c\0\0\0", 8, "bo", 28 },
		/* types cut: no string, no NUL, no count, no index */
		{ 1, "a\0\1", 3, "b", 31 },
		{ 1, "a\0\1int", 6, "b", 31 },
		{ 1, "a\0\2int\0", 7, "b", 35 },
		{ 1, "a\0\1int\0", 7, "b", 35 },
		{ 1, "a\0\1int\0\1", 8, "b", 36 },
		{ 1, "a\0\1int\0\1T\0", 10, "b", 38 },
		{ 1, "a\0\1int\0\1T\0\0", 11, "o", DP_NOOFF },
		/* the map: index 1 of 1, then 0 of 0, then the second one */
		{ 2, "a\0\1int\0\1T\0\1\0b\0\0\0", 16, "bo", 38 },
		{ 1, "a\0\0\1T\0\0", 7, "b", 34 },
		{ 1, "a\0\1int\0\2T\0\0U\0\377", 14, "b", 41 },
	};

	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
		struct out o = { .order = DP_LE };
		struct dp_err e = DP_ERR_INIT;
		struct dp_usdt_probe_iter it;
		struct dp_usdt_probe pr;
		struct dp_usdt_prov p;
		char got[16] = "";
		enum dp_step s;
		struct dp_bytes d;
		size_t n = 0;

		put_prov(&o, "p", want[i].nprobes);
		put_bytes(&o, want[i].b, want[i].n);
		d = exact(o.b, o.n);
		ck_assert(dp_usdt_prov_parse(d, DP_LE, &p, &e));
		dp_usdt_probe_iter_init(&it, d, &p);
		while ((s = dp_usdt_probe_next(&it, &pr, &e)) != DP_STEP_END) {
			ck_assert_uint_lt(n, sizeof got - 1);
			got[n++] = s == DP_STEP_OK ? 'o' : 'b';
		}
		ck_assert_msg(strcmp(got, want[i].steps) == 0, "row %zu: %s", i,
		              got);
		ck_assert_msg(e.off == want[i].off, "row %zu: %llu", i,
		              (unsigned long long)e.off);
		drop(d);
	}
}
END_TEST

/* Types of DP_MAX_DOF_TYPE bytes, and one of one more in each place. */
START_TEST(test_long_types)
{
	for (int which = -1; which < 4; which++) {
		struct out o = { .order = DP_LE };
		struct dp_err e = DP_ERR_INIT;
		struct dp_usdt_probe_iter it;
		struct dp_usdt_probe pr;
		struct dp_usdt_prov p;
		size_t at = 0;

		put_prov(&o, "p", 2);
		put_bytes(&o, "a\0\2", 3);
		for (int i = 0; i < 4; i++) {
			char type[DP_MAX_DOF_TYPE + 2];
			size_t n = DP_MAX_DOF_TYPE + (i == which);

			memset(type, 't', n);
			type[n] = '\0';
			if (i == which)
				at = o.n;
			put_bytes(&o, type, n + 1);
			if (i == 1)
				put_bytes(&o, "\2", 1); /* two translated */
			else if (i > 1)
				put_bytes(&o, "", 1); /* of the first one */
		}
		while (o.n % 4 != 0)
			put_bytes(&o, "", 1);
		put_bytes(&o, "b\0\0", 4);
		ck_assert(dp_usdt_prov_parse(bytes(&o), DP_LE, &p, &e));
		dp_usdt_probe_iter_init(&it, bytes(&o), &p);
		ck_assert_int_eq(dp_usdt_probe_next(&it, &pr, &e),
		                 which < 0 ? DP_STEP_OK : DP_STEP_BAD);
		ck_assert_int_eq(e.code, which < 0 ? DP_OK : DP_ELIMIT);
		ck_assert_uint_eq(e.off, which < 0 ? DP_NOOFF : at);
		ck_assert_int_eq(dp_usdt_probe_next(&it, &pr, &e), DP_STEP_OK);
		ck_assert(dp_bytes_is(pr.name, "b"));
	}
}
END_TEST

/* Walk through all there is; the number of good probes. */
static unsigned
walk(struct dp_bytes d, enum dp_order order)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_usdt_probe_iter it;
	struct dp_usdt_probe pr;
	struct dp_usdt_prov p;
	enum dp_step s;
	unsigned n = 0;

	if (!dp_usdt_prov_parse(d, order, &p, &e))
		return 0;
	dp_usdt_probe_iter_init(&it, d, &p);
	while ((s = dp_usdt_probe_next(&it, &pr, &e)) != DP_STEP_END) {
		struct dp_usdt_xlat_iter x;
		struct dp_bytes type;
		uint8_t native;
		unsigned k = 0;

		if (s != DP_STEP_OK)
			continue;
		dp_usdt_xlat_init(&x, &pr);
		for (; dp_usdt_xlat_next(&x, &type, &native); k++)
			ck_assert_uint_lt(native, pr.nnative);
		ck_assert_uint_eq(k, pr.nxlated);
		n++;
	}
	return n;
}

START_TEST(test_every_byte)
{
	struct out site = site_sample(DP_LE);
	struct out prov = prov_sample(DP_LE);
	struct dp_usdt_site s;

	for (size_t n = 0; n < site.n; n++) {
		struct dp_bytes d = exact(site.b, n);
		struct dp_err e = DP_ERR_INIT;

		ck_assert(!dp_usdt_site_parse(d, DP_LE, &s, &e));
		ck_assert_uint_le(e.off, n);
		drop(d);
	}
	for (size_t n = 0; n <= prov.n; n++) {
		struct dp_bytes d = exact(prov.b, n);

		ck_assert(walk(d, DP_LE) == 3 ? n == prov.n : n < prov.n);
		drop(d);
	}
	for (size_t n = 0; n < prov.n * 8; n++) {
		struct dp_bytes d;

		prov.b[n / 8] ^= (uint8_t)(1U << n % 8);
		d = exact(prov.b, prov.n);
		prov.b[n / 8] ^= (uint8_t)(1U << n % 8);
		(void)walk(d, DP_LE);
		drop(d);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("usdtnote");
	TCase *t = tcase_create("usdtnote");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, test_site);
	tcase_add_test(t, test_site_bad);
	tcase_add_test(t, test_prov);
	tcase_add_test(t, test_prov_bad);
	tcase_add_test(t, test_limit);
	tcase_add_test(t, test_probe_bad);
	tcase_add_test(t, test_long_types);
	tcase_add_test(t, test_every_byte);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
