/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Published and derived DOFs against what is known to be in them, malformed
 * ones against their verdicts.  The files are in directory `corpus` of
 * DOFPIPE_SHARED or ../shared; without it everything here is skipped.
 */
#include <check.h>
#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "usdt/dof.h"
#include "usdt/dofprobe.h"

/* Files that the corpus had when this was written; it may grow. */
enum { MIN_VERDICTS = 86, MIN_EXPECTED = 57 + 7 };

/* What a reader of a bare DOF has to know from elsewhere. */
struct load {
	uint64_t load_addr, dof_addr, bias;
	bool is_signed;
};

/* Lines of text, to compare two accounts of a DOF whatever their order. */
struct lines {
	char **v;
	size_t n;
};

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
lines_add(struct lines *l, char *s)
{
	l->v = realloc(l->v, (l->n + 1) * sizeof *l->v);
	ck_assert_ptr_nonnull(l->v);
	l->v[l->n++] = s;
}

static void
lines_free(struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	memset(l, 0, sizeof *l);
}

static bool
lines_have(const struct lines *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], s) == 0)
			return true;
	return false;
}

static void
lines_same(const char *file, struct lines *got, struct lines *want)
{
	if (got->n > 0)
		qsort(got->v, got->n, sizeof *got->v, by_text);
	if (want->n > 0)
		qsort(want->v, want->n, sizeof *want->v, by_text);
	for (size_t i = 0; i < got->n || i < want->n; i++) {
		const char *g = i < got->n ? got->v[i] : "nothing";
		const char *w = i < want->n ? want->v[i] : "nothing";

		ck_assert_msg(strcmp(g, w) == 0, "%s: got  %s\nwant %s", file,
		              g, w);
	}
}

/* A growing line: `f` writes to `s`. */
struct line {
	char *s;
	size_t n;
	FILE *f;
};

static void
line_open(struct line *l)
{
	l->f = open_memstream(&l->s, &l->n);
	ck_assert_ptr_nonnull(l->f);
}

static char *
line_close(struct line *l)
{
	ck_assert_int_eq(fclose(l->f), 0);
	return l->s;
}

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
put_sites(FILE *f, const char *kind, uint64_t *v, size_t n)
{
	if (n > 0)
		qsort(v, n, sizeof *v, by_value);
	fprintf(f, "|%s", kind);
	for (size_t i = 0; i < n; i++)
		fprintf(f, " %" PRIx64, v[i]);
}

/* One DOF, all of it. */
struct account {
	struct dp_dof d;
	struct lines provs;  /* name, attributes */
	struct lines probes; /* provider, function, name, types, map, sites */
	struct lines sites;  /* the same without types and map */
	unsigned nerrors;
};

/* The value of the relocated base of `p`. */
static uint64_t
base_of(const struct dp_dof *d, const struct dp_dof_probe *p,
        const struct load *load)
{
	struct dp_err e = DP_ERR_INIT;
	uint64_t base = p->addr;
	struct dp_dof_rels it;
	struct dp_dof_rel rel;

	dp_dof_rels_init(&it, d);
	while (dp_dof_rels_next(&it, &rel, &e)) {
		if (rel.word_at != p->slot_at)
			continue;
		ck_assert_uint_eq(rel.tgt, p->slot_sec);
		ck_assert_uint_eq(rel.off, p->slot_off);
		base += rel.type == DP_DOF_REL_SETX
		                ? load->load_addr
		                : load->dof_addr + rel.word_at;
	}
	ck_assert(!it.failed);
	return base;
}

static void
put_types(FILE *f, const struct dp_dof_types *t)
{
	struct dp_rd r = dp_rd_init(t->run, DP_LE);

	fputc('|', f);
	for (uint32_t i = 0; i < t->n; i++) {
		struct dp_bytes s = dp_rd_str(&r);

		fprintf(f, "%.*s,", (int)s.n, (const char *)s.p);
	}
	ck_assert(dp_rd_ok(&r));
	ck_assert_uint_eq(dp_rd_left(&r), 0);
}

static void
put_name(FILE *f, struct dp_bytes s)
{
	fwrite(s.p, 1, s.n, f);
	fputc('|', f);
}

static void
add_probe(struct account *a, const struct dp_dof_provider *prov,
          const struct dp_dof_probe *p, const struct load *load)
{
	static const char *const kinds[] = { "probe", "is-enabled" };
	uint64_t base = base_of(&a->d, p, load);
	struct line full, brief;

	line_open(&full);
	line_open(&brief);
	for (unsigned i = 0; i < 2; i++) {
		FILE *f = i == 0 ? full.f : brief.f;

		put_name(f, prov->name);
		put_name(f, p->func);
		put_name(f, p->name);
	}
	put_types(full.f, &p->native);
	put_types(full.f, &p->xlated);
	for (size_t i = 0; i < p->map.n; i++)
		fprintf(full.f, " %u", p->map.p[i]);
	for (enum dp_dof_kind k = 0; k < DP_DOF_KIND_COUNT; k++) {
		uint32_t n = p->offs[k].n;
		uint64_t *v = malloc((n + 1) * sizeof *v);

		for (uint32_t i = 0; i < n; i++) {
			uint32_t off = dp_dof_site(&a->d, p, k, i);

			v[i] = base + load->bias +
			       (load->is_signed ? (uint64_t)(int32_t)off : off);
		}
		put_sites(full.f, kinds[k], v, n);
		put_sites(brief.f, kinds[k], v, n);
		free(v);
	}
	lines_add(&a->probes, line_close(&full));
	lines_add(&a->sites, line_close(&brief));
}

static void
add_provider(struct account *a, const struct dp_dof_provider *prov)
{
	char text[DP_DOF_ATTR_TEXT];
	struct line l;

	line_open(&l);
	put_name(l.f, prov->name);
	for (unsigned i = 0; i < DP_DOF_ATTR_COUNT; i++) {
		dp_dof_attr_text(prov->attr[i], text);
		fprintf(l.f, " %s", text);
	}
	lines_add(&a->provs, line_close(&l));
}

/* Read all that there is. */
static void
account(struct dp_bytes in, const struct load *load, struct account *a)
{
	static uint32_t scratch[DP_DOF_MAX_KIND_SITES];
	struct dp_dof_provider prov;
	struct dp_dof_probe p;
	struct dp_err e = DP_ERR_INIT;

	memset(a, 0, sizeof *a);
	if (!dp_dof_open(in, &a->d, &e)) {
		a->nerrors++;
		return;
	}
	for (uint32_t i = 0;; i++) {
		i = dp_dof_find(&a->d, DP_DOF_PROVIDER, i);
		if (i == a->d.secnum)
			break;
		e = (struct dp_err)DP_ERR_INIT;
		if (!dp_dof_provider(&a->d, i, &prov, &e)) {
			a->nerrors++;
			continue;
		}
		add_provider(a, &prov);
		for (uint32_t j = 0; j < prov.nprobes; j++) {
			e = (struct dp_err)DP_ERR_INIT;
			if (!dp_dof_probe(&a->d, &prov, j, &p, &e) ||
			    !dp_dof_sites_unique(&a->d, &p, scratch,
			                         DP_DOF_MAX_KIND_SITES, &e))
				a->nerrors++;
			else
				add_probe(a, &prov, &p, load);
		}
	}
}

static void
account_free(struct account *a)
{
	lines_free(&a->provs);
	lines_free(&a->probes);
	lines_free(&a->sites);
}

static const char *corpus; /* its path */

static char *
path_of(const char *dir, const char *name)
{
	char *s;

	ck_assert_int_ge(asprintf(&s, "%s/%s/%s", corpus, dir, name), 0);
	return s;
}

/* A file in a heap block of its exact size. */
static struct dp_bytes
slurp(const char *dir, const char *name)
{
	char *path = path_of(dir, name);
	FILE *f = fopen(path, "rb");
	uint8_t *p;
	long n;

	ck_assert_msg(f != NULL, "cannot open %s", path);
	ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
	n = ftell(f);
	ck_assert_int_ge(n, 0);
	rewind(f);
	p = malloc((size_t)n);
	ck_assert(p != NULL || n == 0);
	if (n > 0)
		ck_assert_uint_eq(fread(p, 1, (size_t)n, f), (size_t)n);
	(void)fclose(f);
	free(path);
	return (struct dp_bytes){ p, (size_t)n };
}

static void
discard(struct dp_bytes b)
{
	free((void *)(uintptr_t)b.p);
}

static json_t *
load_json(const char *dir, const char *name)
{
	char *path = path_of(dir, name);
	json_error_t err;
	json_t *j = json_load_file(path, 0, &err);

	ck_assert_msg(j != NULL, "%s: %s", path, err.text);
	free(path);
	return j;
}

static const char *
str(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	ck_assert_msg(s != NULL, "no string %s", key);
	return s;
}

/* A list of addresses in a verdict. */
static void
verdict_sites(FILE *f, const char *kind, const json_t *list)
{
	uint64_t v[16];
	size_t k;
	json_t *x;

	ck_assert_uint_le(json_array_size(list), 16);
	json_array_foreach(list, k, x) v[k] = (uint64_t)json_integer_value(x);
	put_sites(f, kind, v, json_array_size(list));
}

/* "sites" of a verdict: [provider, function, probe, [sites], [enabled]] */
static void
verdict_lines(const json_t *row, struct lines *want)
{
	size_t i;
	json_t *r;

	json_array_foreach(json_object_get(row, "sites"), i, r)
	{
		struct line l;

		line_open(&l);
		for (size_t k = 0; k < 3; k++)
			fprintf(l.f, "%s|",
			        json_string_value(json_array_get(r, k)));
		verdict_sites(l.f, "probe", json_array_get(r, 3));
		verdict_sites(l.f, "is-enabled", json_array_get(r, 4));
		lines_add(want, line_close(&l));
	}
}

/*
 * In this one a probe claims a second offset, its neighbour's, made equal to
 * its own; so the neighbour, sound by itself, has moved.
 */
static const char dup_file[] = "probe-dup-offsets.dof";
static const char dup_line[] =
	"myprov|helper|done-it||probe 401190|is-enabled 4011a4";

static void
check_verdict(const json_t *row, const struct lines *known)
{
	static const struct load zero;
	const char *verdict = str(row, "verdict"), *file = str(row, "file");
	struct dp_bytes in = slurp("bad", file);
	struct lines want = { NULL, 0 };
	struct account a;

	account(in, &zero, &a);
	if (strcmp(verdict, "accept") == 0) {
		verdict_lines(row, &want);
		ck_assert_uint_gt(want.n, 0);
		ck_assert_msg(a.nerrors == 0, "%s refused", file);
		lines_same(file, &a.sites, &want);
	} else if (strcmp(verdict, "reject") == 0) {
		ck_assert_msg(a.nerrors > 0, "%s not refused", file);
		for (size_t i = 0; i < a.sites.n; i++)
			ck_assert_msg(
				lines_have(known, a.sites.v[i]) ||
					(strcmp(file, dup_file) == 0 &&
			                 strcmp(a.sites.v[i], dup_line) == 0),
				"%s gives %s", file, a.sites.v[i]);
	} else {
		ck_assert_str_eq(verdict, "choice");
	}
	lines_free(&want);
	account_free(&a);
	discard(in);
}

START_TEST(test_verdicts)
{
	json_t *rows = load_json("bad", "VERDICTS.json"), *row;
	struct lines known = { NULL, 0 };
	size_t i, n = 0;

	/* probes that the files were made of: any other one is wrong */
	json_array_foreach(rows, i,
	                   row) if (strcmp(str(row, "group"), "valid") == 0)
		verdict_lines(row, &known);
	ck_assert_uint_eq(known.n, 4);
	json_array_foreach(rows, i, row)
	{
		check_verdict(row, &known);
		n++;
	}
	ck_assert_uint_ge(n, MIN_VERDICTS);
	lines_free(&known);
	json_decref(rows);
}
END_TEST

static void
expect_providers(const json_t *want, struct lines *out)
{
	static const char *const keys[] = { "provider", "module", "function",
		                            "name", "args" };
	json_t *p;
	size_t i;

	json_array_foreach(json_object_get(want, "providers"), i, p)
	{
		json_t *attrs = json_object_get(p, "attributes");
		struct line l;

		line_open(&l);
		fprintf(l.f, "%s|", str(p, "name"));
		for (unsigned k = 0; k < DP_DOF_ATTR_COUNT; k++)
			for (unsigned m = 0; m < 3; m++)
				fprintf(l.f, "%c%s", m == 0 ? ' ' : '/',
				        json_string_value(json_array_get(
						json_object_get(attrs, keys[k]),
						m)));
		lines_add(out, line_close(&l));
	}
}

static void
expect_sites(FILE *f, const json_t *sites, const char *kind)
{
	uint64_t v[64];
	size_t i, n = 0;
	json_t *s;

	json_array_foreach(sites, i, s)
	{
		if (strcmp(str(s, "kind"), kind) != 0)
			continue;
		ck_assert_uint_lt(n, 64);
		v[n++] = (uint64_t)json_integer_value(
			json_object_get(s, "vaddr"));
	}
	put_sites(f, kind, v, n);
}

static void
expect_probes(const json_t *want, struct lines *out)
{
	json_t *p, *x;
	size_t i, k;

	json_array_foreach(json_object_get(want, "probes"), i, p)
	{
		struct line l;

		line_open(&l);
		fprintf(l.f, "%s|%s|%s|", str(p, "provider"),
		        str(p, "function"), str(p, "name"));
		fputc('|', l.f);
		json_array_foreach(json_object_get(p, "native_types"), k, x)
			fprintf(l.f, "%s,", json_string_value(x));
		fputc('|', l.f);
		json_array_foreach(json_object_get(p, "translated_types"), k, x)
			fprintf(l.f, "%s,", json_string_value(x));
		json_array_foreach(json_object_get(p, "map"), k, x)
			fprintf(l.f, " %d", (int)json_integer_value(x));
		expect_sites(l.f, json_object_get(p, "sites"), "probe");
		expect_sites(l.f, json_object_get(p, "sites"), "is-enabled");
		lines_add(out, line_close(&l));
	}
}

static uint64_t
number(const json_t *j, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(j, key));
}

static void
check_expected(const char *dir, const char *name)
{
	json_t *want = load_json(dir, name), *dof, *how;
	const char *file = str(want, "file");
	struct lines provs = { NULL, 0 }, probes = { NULL, 0 };
	struct dp_bytes in = slurp(dir, file);
	struct account a;
	struct load load;

	how = json_object_get(want, "load");
	load.load_addr = number(how, "load_addr");
	load.dof_addr = number(how, "dof_addr");
	load.bias = number(how, "site_bias");
	load.is_signed = json_is_true(json_object_get(how, "signed_offsets"));
	dof = json_array_get(json_object_get(want, "dof"), 0);

	account(in, &load, &a);
	ck_assert_msg(a.nerrors == 0, "%s refused", file);
	ck_assert_uint_eq(a.d.version, number(dof, "version"));
	ck_assert_str_eq(a.d.model == DP_DOF_LP64 ? "LP64" : "ILP32",
	                 str(dof, "model"));
	ck_assert_str_eq(a.d.order == DP_LE ? "LSB" : "MSB",
	                 str(dof, "encoding"));
	ck_assert_uint_eq(dp_dof_extent(&a.d), in.n);
	expect_providers(want, &provs);
	expect_probes(want, &probes);
	ck_assert_uint_gt(provs.n, 0);
	lines_same(file, &a.provs, &provs);
	lines_same(file, &a.probes, &probes);
	lines_free(&provs);
	lines_free(&probes);
	account_free(&a);
	discard(in);
	json_decref(want);
}

static bool
ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

/* Call `each` for every file of `dir` with that ending; how many. */
static size_t
for_each(const char *dir, const char *end,
         void (*each)(const char *dir, const char *name))
{
	char *path = path_of(dir, ".");
	DIR *d = opendir(path);
	struct dirent *de;
	size_t n = 0;

	ck_assert_msg(d != NULL, "cannot open %s", path);
	free(path);
	while ((de = readdir(d)) != NULL) {
		if (!ends_in(de->d_name, end))
			continue;
		each(dir, de->d_name);
		n++;
	}
	(void)closedir(d);
	return n;
}

START_TEST(test_expected)
{
	size_t n = 0;

	n += for_each("variants", ".expect.json", check_expected);
	n += for_each("real", ".expect.json", check_expected);
	n += for_each("real/node", ".expect.json", check_expected);
	ck_assert_uint_ge(n, MIN_EXPECTED);
}
END_TEST

int
main(void)
{
	const char *shared = getenv("DOFPIPE_SHARED");
	Suite *s = suite_create("dofcorpus");
	TCase *tc = tcase_create("corpus");
	SRunner *sr;
	char *dir;
	int failed;
	DIR *d;

	if (asprintf(&dir, "%s/corpus", shared != NULL ? shared : "../shared") <
	    0)
		return 1;
	d = opendir(dir);
	if (d == NULL) {
		printf("skipped: no corpus at %s\n", dir);
		free(dir);
		return 0;
	}
	(void)closedir(d);
	corpus = dir;
	sr = srunner_create(s);
	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_verdicts);
	tcase_add_test(tc, test_expected);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	free(dir);
	return failed == 0 ? 0 : 1;
}
