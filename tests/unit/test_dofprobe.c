/* SPDX-License-Identifier: BSD-2-Clause */
/* Providers, probes, sites, types, maps, attributes of a DOF. */
#include "usdt/dofprobe.h"

#include "base/limits.h"
#include "dofimage.h"

#define OK DP_OK, DP_NOOFF
#define P0 AT_PROBES
#define P1 AT_PROBE1

/* clang-format off */
static const struct row rows[] = {
	{ "record size", { { SEC(S_PROVIDER) + 24, 8, 43 } }, FAIL_PROVIDER, DP_EFORMAT, SEC(S_PROVIDER) + 24 },
	{ "record size, version 1", { { SEC(S_PROVIDER) + 24, 8, 40 }, { 6, 1, 1 } }, FINE, OK },
	{ "record too small for it", { { SEC(S_PROVIDER) + 24, 8, 39 }, { 6, 1, 1 } }, FAIL_PROVIDER, DP_EFORMAT, SEC(S_PROVIDER) + 24 },
	{ "record longer", { { SEC(S_PROVIDER) + 24, 8, 48 } }, FINE, OK },
	{ "record misaligned", { { SEC(S_PROVIDER) + 16, 8, AT_PROVIDER + 2 }, { SEC(S_PROVIDER) + 4, 4, 1 } }, FAIL_PROVIDER, DP_EFORMAT, SEC(S_PROVIDER) + 16 },
	{ "strtab link", { { AT_PROVIDER, 4, S_COUNT } }, FAIL_PROVIDER, DP_EFORMAT, AT_PROVIDER },
	{ "strtab type", { { AT_PROVIDER, 4, S_PRARGS } }, FAIL_PROVIDER, DP_EFORMAT, AT_PROVIDER },
	{ "probes none", { { AT_PROVIDER + 4, 4, UINT32_MAX } }, FAIL_PROVIDER, DP_EFORMAT, AT_PROVIDER + 4 },
	{ "probes type", { { AT_PROVIDER + 4, 4, S_PROFFS } }, FAIL_PROVIDER, DP_EFORMAT, AT_PROVIDER + 4 },
	{ "prargs 0 is a section", { { AT_PROVIDER + 8, 4, 0 } }, FAIL_PROVIDER, DP_EFORMAT, AT_PROVIDER + 8 },
	{ "proffs not loaded", { { AT_PROVIDER + 12, 4, S_COMMENTS } }, FAIL_PROVIDER, DP_EFORMAT, AT_PROVIDER + 12 },
	{ "prenoffs type", { { AT_PROVIDER + 40, 4, S_PROFFS } }, FAIL_PROVIDER, DP_EFORMAT, AT_PROVIDER + 40 },
	{ "prenoffs -1 is not none", { { AT_PROVIDER + 40, 4, UINT32_MAX } }, FAIL_PROVIDER, DP_EFORMAT, AT_PROVIDER + 40 },
	{ "prenoffs unread in version 1", { { AT_PROVIDER + 40, 4, UINT32_MAX }, { 6, 1, 1 } }, FINE, OK },
	{ "prenoffs none, but counts", { { AT_PROVIDER + 40, 4, 0 } }, FAIL_PROBE, DP_EFORMAT, P0 + 36 },
	{ "prenoffs none, but index", { { AT_PROVIDER + 40, 4, 0 }, { P0 + 40, 2, 0 }, { P1 + 40, 2, 0 } }, FAIL_PROBE, DP_EFORMAT, P1 + 36 },
	{ "name outside", { { AT_PROVIDER + 16, 4, STR_SIZE } }, FAIL_PROVIDER, DP_EFORMAT, AT_PROVIDER + 16 },
	{ "name far outside", { { AT_PROVIDER + 16, 4, UINT32_MAX } }, FAIL_PROVIDER, DP_EFORMAT, AT_PROVIDER + 16 },
	{ "name empty", { { AT_PROVIDER + 16, 4, 0 } }, FINE, OK },
	{ "attributes of any value", { { AT_PROVIDER + 20, 8, UINT64_MAX } }, FINE, OK },

	{ "probes entsize 0", { { SEC(S_PROBES) + 12, 4, 0 } }, FAIL_PROVIDER, DP_EFORMAT, SEC(S_PROBES) + 12 },
	{ "probes entsize 40", { { SEC(S_PROBES) + 12, 4, 40 } }, FAIL_PROVIDER, DP_EFORMAT, SEC(S_PROBES) + 12 },
	{ "probes entsize 44", { { SEC(S_PROBES) + 12, 4, 44 } }, FAIL_PROVIDER, DP_EFORMAT, SEC(S_PROBES) + 12 },
	{ "probes entsize 52", { { SEC(S_PROBES) + 12, 4, 52 } }, FAIL_PROVIDER, DP_EFORMAT, SEC(S_PROBES) + 12 },
	{ "probes entsize 96", { { SEC(S_PROBES) + 12, 4, 96 } }, FINE, OK },
	{ "probes entsize past size", { { SEC(S_PROBES) + 12, 4, 104 } }, FAIL_PROVIDER, DP_EFORMAT, SEC(S_PROBES) + 12 },
	{ "probes empty", { { SEC(S_PROBES) + 24, 8, 0 }, { AT_RELTAB + 4, 4, 0 }, { AT_RELTAB + 28, 4, 0 } }, FINE, OK },
	{ "probes with a tail", { { SEC(S_PROBES) + 24, 8, 95 }, { AT_RELTAB + 28, 4, 0 } }, FINE, OK },
	{ "prargs entsize", { { SEC(S_PRARGS) + 12, 4, 4 } }, FAIL_PROVIDER, DP_EFORMAT, SEC(S_PRARGS) + 12 },
	{ "proffs entsize", { { SEC(S_PROFFS) + 12, 4, 8 } }, FAIL_PROVIDER, DP_EFORMAT, SEC(S_PROFFS) + 12 },
	{ "proffs misaligned", { { SEC(S_PROFFS) + 16, 8, AT_PROFFS + 2 }, { SEC(S_PROFFS) + 4, 4, 1 } }, FAIL_PROVIDER, DP_EFORMAT, SEC(S_PROFFS) + 16 },
	{ "prenoffs entsize 0", { { SEC(S_PRENOFFS) + 12, 4, 0 } }, FINE, OK },
	{ "prenoffs misaligned", { { SEC(S_PRENOFFS) + 16, 8, AT_PRENOFFS - 1 }, { SEC(S_PRENOFFS) + 4, 4, 1 } }, FINE, OK },

	{ "func outside", { { P0 + 8, 4, STR_SIZE } }, FAIL_PROBE, DP_EFORMAT, P0 + 8 },
	{ "func empty", { { P0 + 8, 4, STR_SIZE - 1 } }, FINE, OK },
	{ "name outside", { { P1 + 12, 4, UINT32_MAX } }, FAIL_PROBE, DP_EFORMAT, P1 + 12 },
	{ "probe name empty", { { P1 + 12, 4, 0 } }, FINE, OK },
	{ "native types outside", { { P0 + 16, 4, STR_SIZE } }, FAIL_PROBE, DP_EFORMAT, P0 + 16 },
	{ "native types run out", { { P0 + 16, 4, 32 } }, FAIL_PROBE, DP_EFORMAT, P0 + 16 },
	{ "native types to the end", { { P0 + 16, 4, STR_CHAR } }, FINE, OK },
	{ "as many as 255", { { P0 + 32, 1, 255 } }, FAIL_PROBE, DP_EFORMAT, P0 + 16 },
	{ "no native types", { { P1 + 16, 4, UINT32_MAX }, { P1 + 32, 1, 0 } }, FINE, OK },
	{ "translated types outside", { { P0 + 20, 4, UINT32_MAX } }, FAIL_PROBE, DP_EFORMAT, P0 + 20 },
	{ "translated types run out", { { P0 + 20, 4, 32 } }, FAIL_PROBE, DP_EFORMAT, P0 + 20 },
	{ "no translated types", { { P0 + 20, 4, UINT32_MAX }, { P0 + 33, 1, 0 } }, FINE, OK },
	{ "map outside", { { P0 + 24, 4, 1 } }, FAIL_PROBE, DP_EFORMAT, P0 + 24 },
	{ "map wraps", { { P0 + 24, 4, UINT32_MAX } }, FAIL_PROBE, DP_EFORMAT, P0 + 24 },
	{ "no map at the end", { { P1 + 24, 4, 2 } }, FINE, OK },
	{ "no map behind it", { { P1 + 24, 4, 3 } }, FAIL_PROBE, DP_EFORMAT, P1 + 24 },
	{ "map to nargc", { { AT_PRARGS + 1, 1, 2 } }, FAIL_PROBE, DP_EFORMAT, AT_PRARGS + 1 },
	{ "map to 255", { { AT_PRARGS, 1, 255 } }, FAIL_PROBE, DP_EFORMAT, AT_PRARGS },
	{ "map without natives", { { P0 + 32, 1, 0 } }, FAIL_PROBE, DP_EFORMAT, AT_PRARGS },
	{ "sites outside", { { P0 + 28, 4, 2 } }, FAIL_PROBE, DP_EFORMAT, P0 + 28 },
	{ "sites to the end", { { P0 + 28, 4, 1 } }, FINE, OK },
	{ "site index wraps", { { P0 + 28, 4, UINT32_MAX } }, FAIL_PROBE, DP_EFORMAT, P0 + 28 },
	{ "site index * 4 wraps", { { P0 + 28, 4, 0x3fffffff } }, FAIL_PROBE, DP_EFORMAT, P0 + 28 },
	{ "site index * 4 is 0", { { P0 + 28, 4, 0x40000000 } }, FAIL_PROBE, DP_EFORMAT, P0 + 28 },
	{ "sites without end", { { P0 + 34, 2, 65535 } }, FAIL_PROBE, DP_EFORMAT, P0 + 28 },
	{ "enabled outside", { { P1 + 36, 4, 2 } }, FAIL_PROBE, DP_EFORMAT, P1 + 36 },
	{ "enabled * 4 wraps", { { P1 + 36, 4, 0x3fffffff } }, FAIL_PROBE, DP_EFORMAT, P1 + 36 },
	{ "enabled * 4 wraps, entsize 0", { { P1 + 36, 4, 0x3fffffff }, { SEC(S_PRENOFFS) + 12, 4, 0 } }, FAIL_PROBE, DP_EFORMAT, P1 + 36 },
	{ "enabled unread in version 1", { { P1 + 36, 4, UINT32_MAX }, { 6, 1, 1 } }, FINE, OK },
	{ "enabled only", { { P0 + 34, 2, 0 } }, FINE, OK },
	{ "enabled only, version 2", { { P0 + 34, 2, 0 }, { 6, 1, 2 } }, FINE, OK },
	{ "enabled only, version 1", { { P0 + 34, 2, 0 }, { 6, 1, 1 } }, FAIL_PROBE, DP_EFORMAT, P0 + 34 },
	{ "no sites", { { P1 + 34, 2, 0 }, { P1 + 40, 2, 0 } }, FAIL_PROBE, DP_EFORMAT, P1 + 34 },
	{ "pad", { { P0 + 42, 2, 0xffff }, { P0 + 44, 4, 1 } }, FINE, OK },
	{ "base wraps", { { P0, 8, UINT64_MAX } }, FINE, OK },
	{ "same offset", { { AT_PROFFS, 4, 0x20 } }, FAIL_UNIQUE, DP_EFORMAT, AT_PROFFS + 4 },
	{ "same enabled offset", { { AT_PRENOFFS, 4, 0x18 }, { P0 + 40, 2, 2 } }, FAIL_UNIQUE, DP_EFORMAT, AT_PRENOFFS + 4 },
	{ "same in both kinds", { { AT_PRENOFFS, 4, 0x20 } }, FINE, OK },
	{ "same in two probes", { { AT_PROFFS, 4, 0x30 } }, FINE, OK },
	{ "descending, far apart", { { AT_PROFFS, 4, 0xfffffff0 } }, FINE, OK },
	{ "2 GiB apart", { { AT_PROFFS, 4, 0x80000020 } }, FINE, OK },
};
/* clang-format on */

START_TEST(test_row)
{
	img_row(&rows[_i], DP_LE);
	img_row(&rows[_i], DP_BE);
}
END_TEST

static const enum dp_order orders[] = { DP_LE, DP_BE };

/* Open an image and its provider; the image must be sound. */
static void
open_image(const struct img *m, struct dp_dof *d, struct dp_dof_provider *prov)
{
	struct dp_err e = DP_ERR_INIT;

	ck_assert_msg(dp_dof_open(img_bytes(m), d, &e), "%s", e.msg);
	ck_assert_msg(dp_dof_provider(d, S_PROVIDER, prov, &e), "%s", e.msg);
}

START_TEST(test_provider)
{
	struct img m = img_make(orders[_i], 0);
	struct dp_err e = DP_ERR_INIT;
	struct dp_dof_provider prov;
	struct dp_dof d;

	open_image(&m, &d, &prov);
	ck_assert_uint_eq(prov.index, S_PROVIDER);
	ck_assert_uint_eq(prov.at, AT_PROVIDER);
	ck_assert(dp_bytes_is(prov.name, "prov"));
	ck_assert_uint_eq(prov.attr[DP_DOF_ATTR_PROVIDER], 0x05050400);
	ck_assert_uint_eq(prov.attr[DP_DOF_ATTR_MODULE], 0x01010000);
	ck_assert_uint_eq(prov.attr[DP_DOF_ATTR_FUNCTION], 0x04040500);
	ck_assert_uint_eq(prov.attr[DP_DOF_ATTR_NAME], 0x07070300);
	ck_assert_uint_eq(prov.attr[DP_DOF_ATTR_ARGS], 0x08060600);
	ck_assert_uint_eq(prov.nprobes, 2);
	ck_assert_uint_eq(prov.tail, 0);
	ck_assert(prov.has_prenoffs);
	ck_assert_uint_eq(prov.part[DP_DOF_PART_STRTAB].index, S_STRTAB);
	ck_assert_uint_eq(prov.part[DP_DOF_PART_PROBES].index, S_PROBES);
	ck_assert_uint_eq(prov.part[DP_DOF_PART_PRARGS].index, S_PRARGS);
	ck_assert_uint_eq(prov.part[DP_DOF_PART_PROFFS].index, S_PROFFS);
	ck_assert_uint_eq(prov.part[DP_DOF_PART_PRENOFFS].index, S_PRENOFFS);
	ck_assert_ptr_eq(prov.strs.p, m.p + AT_STRTAB);
	ck_assert_uint_eq(prov.strs.n, STR_SIZE);

	prov.index = 77;
	ck_assert(!dp_dof_provider(&d, S_PROBES, &prov, &e));
	ck_assert_uint_eq(e.off, SEC(S_PROBES));
	ck_assert(!dp_dof_provider(&d, S_COUNT, &prov, &e));
	ck_assert_uint_eq(prov.index, 77);

	m.p[6] = 1; /* version */
	open_image(&m, &d, &prov);
	ck_assert(!prov.has_prenoffs);
	ck_assert_uint_eq(prov.part[DP_DOF_PART_PRENOFFS].size, 0);
	m.p[6] = 2;
	img_put(&m, AT_PROVIDER + 40, 4, 0);
	img_put(&m, AT_RELTAB + 28, 4, DP_DOF_REL_NONE);
	img_put(&m, SEC(S_PROBES) + 24, 8, 95);
	open_image(&m, &d, &prov);
	ck_assert(!prov.has_prenoffs);
	ck_assert_uint_eq(prov.nprobes, 1);
	ck_assert_uint_eq(prov.tail, 47);
	free(m.p);
}
END_TEST

static void
check_run(const struct dp_dof_types *t, const char *run, size_t size,
          uint32_t n)
{
	ck_assert_uint_eq(t->n, n);
	ck_assert_uint_eq(t->run.n, size);
	if (size != 0)
		ck_assert_mem_eq(t->run.p, run, size);
}

START_TEST(test_probe)
{
	struct img m = img_make(orders[_i], 0);
	struct dp_err e = DP_ERR_INIT;
	struct dp_dof_provider prov;
	struct dp_dof_probe p;
	struct dp_dof d;

	open_image(&m, &d, &prov);
	ck_assert_msg(dp_dof_probe(&d, &prov, 0, &p, &e), "%s", e.msg);
	ck_assert_uint_eq(p.index, 0);
	ck_assert_uint_eq(p.addr, 0x401000);
	ck_assert(dp_bytes_is(p.func, "f"));
	ck_assert(dp_bytes_is(p.name, "start"));
	check_run(&p.native, "int\0char *", 11, 2);
	check_run(&p.xlated, "char *\0int", 11, 2);
	ck_assert_uint_eq(p.map.n, 2);
	ck_assert_mem_eq(p.map.p, "\1\0", 2);
	ck_assert_uint_eq(p.slot_sec, S_PROBES);
	ck_assert_uint_eq(p.slot_off, 0);
	ck_assert_uint_eq(p.slot_at, AT_PROBES);
	ck_assert_uint_eq(p.offs[DP_DOF_SITE].n, 2);
	ck_assert_uint_eq(p.offs[DP_DOF_ENABLED].n, 1);
	ck_assert_uint_eq(dp_dof_site(&d, &p, DP_DOF_SITE, 0), 0x10);
	ck_assert_uint_eq(dp_dof_site(&d, &p, DP_DOF_SITE, 1), 0x20);
	ck_assert_uint_eq(dp_dof_site(&d, &p, DP_DOF_ENABLED, 0), 8);
	ck_assert_uint_eq(dp_dof_site_at(&p, DP_DOF_SITE, 1), AT_PROFFS + 4);

	ck_assert_msg(dp_dof_probe(&d, &prov, 1, &p, &e), "%s", e.msg);
	ck_assert_uint_eq(p.index, 1);
	ck_assert_uint_eq(p.addr, 0x8000000000402000);
	ck_assert(dp_bytes_is(p.func, "g"));
	ck_assert(dp_bytes_is(p.name, "done"));
	check_run(&p.native, "int", 4, 1);
	check_run(&p.xlated, "", 0, 0);
	ck_assert_uint_eq(p.map.n, 0);
	ck_assert_uint_eq(p.slot_off, 48);
	ck_assert_uint_eq(p.slot_at, AT_PROBE1);
	ck_assert_uint_eq(p.offs[DP_DOF_SITE].n, 1);
	ck_assert_uint_eq(dp_dof_site(&d, &p, DP_DOF_SITE, 0), 0x30);
	ck_assert_uint_eq(dp_dof_site(&d, &p, DP_DOF_ENABLED, 0), 0x18);
	ck_assert_uint_eq(dp_dof_site_at(&p, DP_DOF_ENABLED, 0),
	                  AT_PRENOFFS + 4);

	ck_assert_uint_eq(dp_dof_probe_types(&d, &prov, 0), 4);
	ck_assert_uint_eq(dp_dof_probe_types(&d, &prov, 1), 1);
	ck_assert_uint_eq(dp_dof_probe_types(&d, &prov, 2), 0);

	p.index = 77;
	ck_assert(!dp_dof_probe(&d, &prov, 2, &p, &e));
	ck_assert_int_eq(e.code, DP_EFORMAT);
	ck_assert(!dp_dof_probe(&d, &prov, UINT32_MAX, &p, &e));
	ck_assert_uint_eq(p.index, 77);
	free(m.p);
}
END_TEST

/* A broken probe says nothing about the one behind it. */
START_TEST(test_reach)
{
	struct img m = img_make(orders[_i], 0);
	struct dp_err e = DP_ERR_INIT;
	struct dp_dof_provider prov;
	struct dp_dof_probe p;
	struct dp_dof d;

	img_put(&m, AT_PROBES + 8, 4, UINT32_MAX);
	open_image(&m, &d, &prov);
	ck_assert(!dp_dof_probe(&d, &prov, 0, &p, &e));
	ck_assert_str_eq(e.msg, "probe 0: function name outside the strtab");
	e = (struct dp_err)DP_ERR_INIT;
	ck_assert(dp_dof_probe(&d, &prov, 1, &p, &e));
	ck_assert(dp_bytes_is(p.name, "done"));
	free(m.p);
}
END_TEST

/* Names and types of the longest length, and one more. */
START_TEST(test_name_limits)
{
	static const struct {
		const char *what;
		uint32_t at;
		size_t max;
		enum stage stage;
	} cases[] = {
		{ "provider", AT_PROVIDER + 16, DP_MAX_DOF_NAME,
		  FAIL_PROVIDER },
		{ "function", AT_PROBES + 8, DP_MAX_DOF_FUNC, FAIL_PROBE },
		{ "probe", AT_PROBES + 12, DP_MAX_DOF_NAME, FAIL_PROBE },
		{ "native", AT_PROBE1 + 16, DP_MAX_DOF_TYPE, FAIL_PROBE },
		{ "translated", AT_PROBES + 20, DP_MAX_DOF_TYPE, FAIL_PROBE },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		for (size_t over = 0; over < 2; over++) {
			struct img m =
				img_make(orders[_i], cases[i].max + 1 + over);
			struct dp_err e = DP_ERR_INIT;
			enum stage got;

			img_put(&m, cases[i].at, 4, STR_SIZE);
			/* the only type that can stand at the very end */
			if (cases[i].at == AT_PROBES + 20)
				img_put(&m, AT_PROBES + 33, 1, 1);
			got = img_read(img_bytes(&m), &e);
			ck_assert_msg(got == (over ? cases[i].stage : FINE),
			              "%s + %zu: stage %d: %s", cases[i].what,
			              over, got, e.msg);
			ck_assert_int_eq(e.code, over ? DP_ELIMIT : DP_OK);
			ck_assert_uint_eq(e.off, over ? cases[i].at : DP_NOOFF);
			free(m.p);
		}
	}
}
END_TEST

/* Probe 0 with `n` sites: the image's proffs moves behind it, to 4-align. */
static struct img
many_sites(enum dp_order order, uint32_t n)
{
	struct img a = img_make(order, 0), m;
	size_t at = (a.n + 3) / 4 * 4;

	m = img_zero(order, at + 4 * (size_t)n);
	memcpy(m.p, a.p, a.n);
	free(a.p);
	img_put(&m, 40, 8, m.n);
	img_put(&m, 48, 8, m.n);
	img_put(&m, SEC(S_PROFFS) + 16, 8, at);
	img_put(&m, SEC(S_PROFFS) + 24, 8, 4ull * n);
	img_put(&m, AT_PROBES + 34, 2, n);
	return m;
}

static bool
unique(const struct img *m, uint32_t *scratch, size_t n, struct dp_err *e)
{
	struct dp_dof_provider prov;
	struct dp_dof_probe p;
	struct dp_dof d;

	open_image(m, &d, &prov);
	ck_assert_msg(dp_dof_probe(&d, &prov, 0, &p, e), "%s", e->msg);
	return dp_dof_sites_unique(&d, &p, scratch, n, e);
}

START_TEST(test_unique)
{
	enum { N = DP_DOF_MAX_KIND_SITES };
	struct img m = many_sites(orders[_i], N);
	uint32_t *scratch = malloc(N * sizeof *scratch);
	struct dp_err e = DP_ERR_INIT;
	size_t at = m.n - 4 * (size_t)N;

	/* ascending: no scratch needed */
	for (uint32_t k = 0; k < N; k++)
		img_put(&m, at + 4 * k, 4, k * 65537u);
	ck_assert_msg(unique(&m, NULL, 0, &e), "%s", e.msg);
	/* all over the 32 bits: an odd factor permutes them */
	for (uint32_t k = 0; k < N; k++)
		img_put(&m, at + 4 * k, 4, k * 2654435761u);
	ck_assert_msg(unique(&m, scratch, N, &e), "%s", e.msg);
	ck_assert(!unique(&m, scratch, N - 1, &e));
	ck_assert_int_eq(e.code, DP_EUSAGE);
	/* the last equals the third: named by its own place */
	e = (struct dp_err)DP_ERR_INIT;
	img_put(&m, m.n - 4, 4, 2 * 2654435761u);
	ck_assert(!unique(&m, scratch, N, &e));
	ck_assert_int_eq(e.code, DP_EFORMAT);
	ck_assert_uint_eq(e.off, m.n - 4);
	/* all equal */
	e = (struct dp_err)DP_ERR_INIT;
	memset(m.p + at, 0xff, m.n - at);
	ck_assert(!unique(&m, scratch, N, &e));
	ck_assert_uint_eq(e.off, at + 4);
	free(scratch);
	free(m.p);
}
END_TEST

/* Every order of five offsets sorts, and every pair of equal ones is seen. */
START_TEST(test_unique_small)
{
	static const uint32_t v[5] = { 0, 7, 0x7fffffff, 0x80000000,
		                       0xffffffff };
	struct img m = many_sites(orders[_i], 5);
	size_t at = m.n - 20;
	uint32_t scratch[5];

	for (unsigned code = 0; code < 3125; code++) {
		unsigned seen = 0, c = code;
		bool twice = false;
		struct dp_err e = DP_ERR_INIT;

		for (unsigned k = 0; k < 5; k++, c /= 5) {
			twice |= seen >> c % 5 & 1;
			seen |= 1u << c % 5;
			img_put(&m, at + 4 * k, 4, v[c % 5]);
		}
		ck_assert_int_eq(unique(&m, scratch, 5, &e), !twice);
	}
	free(m.p);
}
END_TEST

START_TEST(test_attr)
{
	static const struct {
		uint32_t attr;
		const char *text;
	} cases[] = {
		{ 0x04040500, "Unstable/Unstable/Common" },
		{ 0x05050400, "Evolving/Evolving/ISA" },
		{ 0x00010000, "Internal/Private/Unknown" },
		{ 0x02030100, "Obsolete/External/CPU" },
		{ 0x06070200, "Stable/Standard/Platform" },
		{ 0x00000300, "Internal/Internal/Group" },
		{ 0x06060600, "Stable/Stable/#6" },
		{ 0x08ff07ab, "#8/#255/#7" },
		{ 0xffffffff, "#255/#255/#255" },
	};
	char text[DP_DOF_ATTR_TEXT];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		dp_dof_attr_text(cases[i].attr, text);
		ck_assert_str_eq(text, cases[i].text);
	}
	ck_assert_uint_eq(dp_dof_attr_name(0x01020304), 1);
	ck_assert_uint_eq(dp_dof_attr_data(0x01020304), 2);
	ck_assert_uint_eq(dp_dof_attr_class(0x01020304), 3);
	ck_assert_str_eq(dp_dof_stability_name(7), "Standard");
	ck_assert_ptr_null(dp_dof_stability_name(8));
	ck_assert_str_eq(dp_dof_class_name(5), "Common");
	ck_assert_ptr_null(dp_dof_class_name(6));
	ck_assert_ptr_null(dp_dof_class_name(UINT32_MAX));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("dofprobe");
	TCase *tc = tcase_create("probes");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(tc, test_row, 0, NROWS(rows));
	tcase_add_loop_test(tc, test_provider, 0, 2);
	tcase_add_loop_test(tc, test_probe, 0, 2);
	tcase_add_loop_test(tc, test_reach, 0, 2);
	tcase_add_loop_test(tc, test_name_limits, 0, 2);
	tcase_add_loop_test(tc, test_unique, 0, 2);
	tcase_add_loop_test(tc, test_unique_small, 0, 2);
	tcase_add_test(tc, test_attr);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
