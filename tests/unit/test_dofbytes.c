/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every prefix and every flipped byte of sound DOFs: nothing is read outside
 * an exact-size heap block (to be run under ASan), whatever is said of it.
 * The image of dofimage.h is always there; the corpus in directory `corpus`
 * of DOFPIPE_SHARED or ../shared is skipped when it is not.
 */
#include <dirent.h>
#include <stdio.h>

#include "dofimage.h"

/* Sound DOFs that the corpus had when this was written; it may grow. */
enum { MIN_FILES = 57 + 7 };

/* ck_assert() without its cost of a write to a file each time. */
static void
must(bool what)
{
	if (!what)
		ck_abort_msg("a value breaks what the headers promise");
}

/* What a walk found, to see that it went all the way. */
struct found {
	unsigned ndofs, nprobes, nsites, nrels;
};

static void
walk_probe(const struct dp_dof *d, const struct dp_dof_probe *p,
           struct found *f)
{
	static uint32_t scratch[DP_DOF_MAX_KIND_SITES];
	struct dp_err e = DP_ERR_INIT;

	for (size_t i = 0; i < p->map.n; i++)
		must(p->map.p[i] < p->native.n);
	if (!dp_dof_sites_unique(d, p, scratch, DP_DOF_MAX_KIND_SITES, &e))
		return;
	f->nprobes++;
	for (enum dp_dof_kind k = 0; k < DP_DOF_KIND_COUNT; k++)
		for (uint32_t i = 0; i < p->offs[k].n; i++) {
			must(dp_dof_site_at(p, k, i) + 4 <= d->loadsz);
			(void)dp_dof_site(d, p, k, i);
			f->nsites++;
		}
}

static void
walk(struct dp_bytes in, struct found *f)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_dof_provider prov;
	struct dp_dof_probe p;
	struct dp_dof_rels it;
	struct dp_dof_rel rel;
	struct dp_dof d;

	if (!dp_dof_open(in, &d, &e)) {
		must(e.code != DP_OK);
		return;
	}
	f->ndofs++;
	dp_dof_rels_init(&it, &d);
	while (dp_dof_rels_next(&it, &rel, &e)) {
		must(rel.word_at + 8 <= d.loadsz);
		f->nrels++;
	}
	must(!it.failed);
	for (uint32_t i = 0;; i++) {
		i = dp_dof_find(&d, DP_DOF_PROVIDER, i);
		if (i == d.secnum)
			break;
		e = (struct dp_err)DP_ERR_INIT;
		if (!dp_dof_provider(&d, i, &prov, &e))
			continue;
		for (uint32_t j = 0; j < prov.nprobes; j++) {
			e = (struct dp_err)DP_ERR_INIT;
			if (dp_dof_probe(&d, &prov, j, &p, &e))
				walk_probe(&d, &p, f);
		}
	}
}

/* `in` is one exact block; it comes back as it was. */
static void
torture(uint8_t *in, size_t size)
{
	struct found f = { 0 };

	walk((struct dp_bytes){ in, size }, &f);
	ck_assert_uint_eq(f.ndofs, 1);
	for (size_t n = 0; n < size; n++) {
		uint8_t *p = malloc(n);

		must(p != NULL || n == 0);
		if (n > 0)
			memcpy(p, in, n);
		walk((struct dp_bytes){ p, n }, &f);
		free(p);
	}
	for (size_t i = 0; i < size; i++) {
		uint8_t old = in[i];

		in[i] = old ^ 0xff;
		walk((struct dp_bytes){ in, size }, &f);
		in[i] = (uint8_t)(old ^ 1u << i % 8);
		walk((struct dp_bytes){ in, size }, &f);
		in[i] = old;
	}
}

START_TEST(test_image)
{
	struct img m = img_make(_i == 0 ? DP_LE : DP_BE, 0);
	struct found f = { 0 };

	walk(img_bytes(&m), &f);
	ck_assert_uint_eq(f.nprobes, 2);
	ck_assert_uint_eq(f.nsites, 5);
	ck_assert_uint_eq(f.nrels, 2);
	torture(m.p, m.n);
	free(m.p);
}
END_TEST

static const char *corpus; /* its path, or NULL */

static void
torture_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *p;
	long n;

	ck_assert_msg(f != NULL, "cannot open %s", path);
	ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
	n = ftell(f);
	ck_assert_int_gt(n, 0);
	rewind(f);
	p = malloc((size_t)n);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(fread(p, 1, (size_t)n, f), (size_t)n);
	(void)fclose(f);
	torture(p, (size_t)n);
	free(p);
}

START_TEST(test_corpus)
{
	static const char *const dirs[] = { "variants", "real", "real/node" };
	size_t nfiles = 0;

	for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
		struct dirent *de;
		char path[4096];
		DIR *d;

		(void)snprintf(path, sizeof path, "%s/%s", corpus, dirs[i]);
		d = opendir(path);
		ck_assert_msg(d != NULL, "cannot open %s", path);
		while ((de = readdir(d)) != NULL) {
			size_t n = strlen(de->d_name);

			if (n < 4 || strcmp(de->d_name + n - 4, ".dof") != 0)
				continue;
			(void)snprintf(path, sizeof path, "%s/%s/%s", corpus,
			               dirs[i], de->d_name);
			torture_file(path);
			nfiles++;
		}
		(void)closedir(d);
	}
	ck_assert_uint_ge(nfiles, MIN_FILES);
}
END_TEST

int
main(void)
{
	const char *shared = getenv("DOFPIPE_SHARED");
	Suite *s = suite_create("dofbytes");
	TCase *tc = tcase_create("bytes");
	SRunner *sr = srunner_create(s);
	char dir[2048];
	int failed;
	DIR *d;

	(void)snprintf(dir, sizeof dir, "%s/corpus",
	               shared != NULL ? shared : "../shared");
	d = opendir(dir);
	if (d != NULL) {
		(void)closedir(d);
		corpus = dir;
	} else {
		printf("skipped: no corpus at %s\n", dir);
	}
	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test_image, 0, 2);
	if (corpus != NULL)
		tcase_add_test(tc, test_corpus);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
