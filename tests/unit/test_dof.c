/* SPDX-License-Identifier: BSD-2-Clause */
/* The DOF container: header, section headers, relocations, limits. */
#include "usdt/dof.h"

#include "base/limits.h"
#include "dofimage.h"

#define OK  DP_OK, DP_NOOFF
#define U64 UINT64_MAX

/* clang-format off */
static const struct row rows[] = {
	{ "unchanged", { { 0, 0, 0 } }, FINE, OK },
	{ "magic", { { 3, 1, 'f' } }, FAIL_HEADER, DP_EFORMAT, 0 },
	{ "model 0", { { 4, 1, 0 } }, FAIL_HEADER, DP_EFORMAT, 4 },
	{ "model ILP32", { { 4, 1, 1 } }, FINE, OK },
	{ "model 3", { { 4, 1, 3 } }, FAIL_HEADER, DP_EFORMAT, 4 },
	{ "encoding 0", { { 5, 1, 0 } }, FAIL_HEADER, DP_EFORMAT, 5 },
	{ "encoding 3", { { 5, 1, 3 } }, FAIL_HEADER, DP_EFORMAT, 5 },
	{ "version 0", { { 6, 1, 0 } }, FAIL_HEADER, DP_EFORMAT, 6 },
	{ "version 1", { { 6, 1, 1 } }, FINE, OK },
	{ "version 2", { { 6, 1, 2 } }, FINE, OK },
	{ "version 4", { { 6, 1, 4 } }, FAIL_HEADER, DP_EUNSUP, 6 },
	{ "DIF version 1", { { 7, 1, 1 } }, FAIL_HEADER, DP_EUNSUP, 7 },
	{ "DIF version 3", { { 7, 1, 3 } }, FAIL_HEADER, DP_EUNSUP, 7 },
	{ "no registers", { { 8, 2, 0 } }, FINE, OK },
	{ "integer registers", { { 8, 1, 9 } }, FAIL_HEADER, DP_EFORMAT, 8 },
	{ "tuple registers", { { 9, 1, 9 } }, FAIL_HEADER, DP_EFORMAT, 9 },
	{ "first pad", { { 10, 1, 1 } }, FAIL_HEADER, DP_EFORMAT, 10 },
	{ "last pad", { { 15, 1, 1 } }, FAIL_HEADER, DP_EFORMAT, 15 },
	{ "flags", { { 16, 4, 1 } }, FAIL_HEADER, DP_EFORMAT, 16 },
	{ "hdrsize is not believed", { { 20, 4, 0 } }, FINE, OK },
	{ "tail pad is not looked at", { { 56, 8, U64 } }, FINE, OK },
	{ "secsize 0", { { 24, 4, 0 } }, FAIL_HEADER, DP_EFORMAT, 24 },
	{ "secsize 8", { { 24, 4, 8 } }, FAIL_HEADER, DP_EFORMAT, 24 },
	{ "secsize 24", { { 24, 4, 24 } }, FAIL_HEADER, DP_EFORMAT, 24 },
	{ "secsize 36", { { 24, 4, 36 } }, FAIL_HEADER, DP_EFORMAT, 24 },
	{ "secsize huge", { { 24, 4, 0xfffffff8 } }, FAIL_HEADER, DP_EFORMAT, 32 },
	{ "no sections", { { 28, 4, 0 } }, FAIL_PROVIDER, DP_EFORMAT, 28 },
	{ "secnum", { { 28, 4, 18 } }, FAIL_HEADER, DP_EFORMAT, 32 },
	{ "secnum limit", { { 28, 4, 1 << 16 } }, FAIL_HEADER, DP_EFORMAT, 32 },
	{ "secnum past it", { { 28, 4, (1 << 16) + 1 } }, FAIL_HEADER, DP_ELIMIT, 28 },
	{ "product wraps", { { 24, 4, 1u << 31 }, { 28, 4, 2 } }, FAIL_HEADER, DP_EFORMAT, 32 },
	{ "secoff 0", { { 32, 8, 0 } }, FAIL_HEADER, DP_EFORMAT, 32 },
	{ "secoff 56", { { 32, 8, 56 } }, FAIL_HEADER, DP_EFORMAT, 32 },
	{ "secoff 68", { { 32, 8, 68 } }, FAIL_HEADER, DP_EFORMAT, 32 },
	{ "secoff behind", { { 32, 8, 624 } }, FAIL_HEADER, DP_EFORMAT, 32 },
	{ "secoff wraps", { { 32, 8, U64 - 7 } }, FAIL_HEADER, DP_EFORMAT, 32 },
	{ "loadsz 0", { { 40, 8, 0 } }, FAIL_HEADER, DP_EFORMAT, 40 },
	{ "loadsz 63", { { 40, 8, 63 } }, FAIL_HEADER, DP_EFORMAT, 40 },
	{ "loadsz 64", { { 40, 8, 64 } }, FAIL_HEADER, DP_EFORMAT, 32 },
	{ "loadsz of headers", { { 40, 8, 352 } }, FAIL_OPEN, DP_EFORMAT, SEC(0) + 16 },
	{ "loadsz behind", { { 40, 8, 625 } }, FAIL_HEADER, DP_EFORMAT, 40 },
	{ "loadsz huge", { { 40, 8, U64 } }, FAIL_HEADER, DP_EFORMAT, 40 },
	{ "filesz 0", { { 48, 8, 0 } }, FINE, OK },
	{ "filesz limit", { { 48, 8, 64 << 20 } }, FINE, OK },
	{ "filesz past it", { { 48, 8, (64 << 20) + 1 } }, FINE, OK },
	{ "filesz wild", { { 48, 8, UINT64_MAX } }, FINE, OK },

	{ "not loaded", { { SEC(S_PROFFS) + 8, 4, 2 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_PROFFS) + 8 },
	{ "other flags", { { SEC(S_PROFFS) + 8, 4, 0xfffffffd } }, FINE, OK },
	{ "align 0", { { SEC(S_PRARGS) + 4, 4, 0 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_PRARGS) + 4 },
	{ "align 3", { { SEC(S_PRARGS) + 4, 4, 3 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_PRARGS) + 4 },
	{ "align greater", { { SEC(S_PRARGS) + 4, 4, 64 } }, FINE, OK },
	{ "misaligned", { { SEC(S_PROBES) + 16, 8, AT_PROBES + 4 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_PROBES) + 16 },
	{ "offset at the end", { { SEC(S_PRARGS) + 16, 8, 616 }, { SEC(S_PRARGS) + 24, 8, 0 } }, FAIL_PROBE, DP_EFORMAT, AT_PROBES + 24 },
	{ "offset behind", { { SEC(S_PRARGS) + 16, 8, 617 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_PRARGS) + 16 },
	{ "size behind", { { SEC(S_STRTAB) + 24, 8, 37 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_STRTAB) + 24 },
	{ "size wraps", { { SEC(S_PRARGS) + 24, 8, U64 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_PRARGS) + 24 },
	{ "offset + size wraps", { { SEC(S_PRARGS) + 16, 8, U64 - 1 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_PRARGS) + 16 },
	{ "strtab empty", { { SEC(S_STRTAB) + 24, 8, 0 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_STRTAB) + 24 },
	{ "strtab empty at 0", { { SEC(S_STRTAB) + 16, 8, 0 }, { SEC(S_STRTAB) + 24, 8, 0 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_STRTAB) + 24 },
	{ "strtab final NUL", { { AT_STRTAB + 35, 1, 'x' } }, FAIL_OPEN, DP_EFORMAT, AT_STRTAB + 35 },
	{ "strtab first NUL", { { AT_STRTAB, 1, 'x' } }, FINE, OK },
	{ "unknown type, not loaded", { { SEC(S_COMMENTS), 4, 99 }, { SEC(S_COMMENTS) + 4, 4, 3 }, { SEC(S_COMMENTS) + 16, 8, U64 } }, FINE, OK },
	{ "unknown type, loaded, outside", { { SEC(S_COMMENTS), 4, 99 }, { SEC(S_COMMENTS) + 8, 4, 1 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_COMMENTS) + 24 },
	{ "unknown type, loaded", { { SEC(S_COMMENTS), 4, 27 }, { SEC(S_COMMENTS) + 8, 4, 1 }, { SEC(S_COMMENTS) + 24, 8, 0 } }, FINE, OK },
	{ "comments, loaded, outside", { { SEC(S_COMMENTS) + 8, 4, 1 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_COMMENTS) + 24 },
	{ "utsname may stay out", { { SEC(S_COMMENTS), 4, 20 } }, FINE, OK },
	{ "inttab may not", { { SEC(S_COMMENTS), 4, 19 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_COMMENTS) + 8 },

	{ "urelhdr small", { { SEC(S_URELHDR) + 24, 8, 11 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_URELHDR) + 24 },
	{ "urelhdr align", { { SEC(S_URELHDR) + 4, 4, 8 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_URELHDR) + 4 },
	{ "urelhdr strtab type", { { AT_URELHDR, 4, S_PROBES } }, FAIL_OPEN, DP_EFORMAT, AT_URELHDR },
	{ "urelhdr strtab none", { { AT_URELHDR, 4, UINT32_MAX } }, FAIL_OPEN, DP_EFORMAT, AT_URELHDR },
	{ "urelhdr relsec", { { AT_URELHDR + 4, 4, S_COUNT } }, FAIL_OPEN, DP_EFORMAT, AT_URELHDR + 4 },
	{ "urelhdr relsec type", { { AT_URELHDR + 4, 4, 0 } }, FAIL_OPEN, DP_EFORMAT, AT_URELHDR + 4 },
	{ "urelhdr target", { { AT_URELHDR + 8, 4, S_COUNT } }, FAIL_OPEN, DP_EFORMAT, AT_URELHDR + 8 },
	{ "urelhdr target not loaded", { { AT_URELHDR + 8, 4, S_COMMENTS } }, FAIL_OPEN, DP_EFORMAT, AT_URELHDR + 8 },
	{ "reltab entsize 0", { { SEC(S_RELTAB) + 12, 4, 0 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_RELTAB) + 12 },
	{ "reltab entsize 16", { { SEC(S_RELTAB) + 12, 4, 16 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_RELTAB) + 12 },
	{ "reltab entsize 48", { { SEC(S_RELTAB) + 12, 4, 48 } }, FINE, OK },
	{ "reltab align", { { SEC(S_RELTAB) + 4, 4, 4 } }, FAIL_OPEN, DP_EFORMAT, SEC(S_RELTAB) + 4 },
	{ "reltab empty", { { SEC(S_RELTAB) + 24, 8, 0 } }, FINE, OK },
	{ "rel type 3", { { AT_RELTAB + 28, 4, 3 } }, FAIL_OPEN, DP_EUNSUP, AT_RELTAB + 28 },
	{ "rel last word", { { AT_RELTAB + 8, 8, 88 } }, FINE, OK },
	{ "rel part word", { { AT_RELTAB + 8, 8, 89 } }, FAIL_OPEN, DP_EFORMAT, AT_RELTAB + 8 },
	{ "rel at the end", { { AT_RELTAB + 8, 8, 96 } }, FAIL_OPEN, DP_EFORMAT, AT_RELTAB + 8 },
	{ "rel wraps", { { AT_RELTAB + 8, 8, U64 - 3 } }, FAIL_OPEN, DP_EFORMAT, AT_RELTAB + 8 },
	{ "rel misaligned", { { AT_RELTAB + 32, 8, 4 } }, FAIL_OPEN, DP_EFORMAT, AT_RELTAB + 32 },
	{ "rel none anywhere", { { AT_RELTAB + 4, 4, 0 }, { AT_RELTAB + 8, 8, U64 } }, FINE, OK },
	{ "rel name", { { AT_RELTAB, 4, UINT32_MAX } }, FINE, OK },
	/* the target is a prargs section laid over what was checked */
	{ "rel over file header", { { AT_URELHDR + 8, 4, S_PRARGS }, { SEC(S_PRARGS) + 16, 8, 8 }, { SEC(S_PRARGS) + 24, 8, 64 } }, FAIL_OPEN, DP_EFORMAT, AT_RELTAB + 8 },
	{ "rel over first section", { { AT_URELHDR + 8, 4, S_PRARGS }, { SEC(S_PRARGS) + 16, 8, 64 }, { SEC(S_PRARGS) + 24, 8, 64 } }, FAIL_OPEN, DP_EFORMAT, AT_RELTAB + 8 },
	{ "rel over last section", { { AT_URELHDR + 8, 4, S_PRARGS }, { SEC(S_PRARGS) + 16, 8, 344 }, { SEC(S_PRARGS) + 24, 8, 64 } }, FAIL_OPEN, DP_EFORMAT, AT_RELTAB + 8 },
	{ "rel right behind", { { AT_URELHDR + 8, 4, S_PRENOFFS }, { SEC(S_PRENOFFS) + 16, 8, 352 }, { SEC(S_PRENOFFS) + 24, 8, 64 } }, FINE, OK },
};
/* clang-format on */

START_TEST(test_row)
{
	img_row(&rows[_i], DP_LE);
	img_row(&rows[_i], DP_BE);
}
END_TEST

static const enum dp_order orders[] = { DP_LE, DP_BE };

START_TEST(test_fields)
{
	struct img m = img_make(orders[_i], 0);
	struct dp_err e = DP_ERR_INIT;
	struct dp_dof_sec s;
	struct dp_dof d;

	m.p[8] = 7;
	m.p[9] = 6;
	img_put(&m, 20, 4, 0x01020304);
	ck_assert_msg(dp_dof_open(img_bytes(&m), &d, &e), "%s", e.msg);
	ck_assert_int_eq(d.order, orders[_i]);
	ck_assert_uint_eq(d.version, 3);
	ck_assert_uint_eq(d.model, DP_DOF_LP64);
	ck_assert_uint_eq(d.intregs, 7);
	ck_assert_uint_eq(d.tupregs, 6);
	ck_assert_uint_eq(d.hdrsize, 0x01020304);
	ck_assert_uint_eq(d.secsize, 32);
	ck_assert_uint_eq(d.secnum, S_COUNT);
	ck_assert_uint_eq(d.secoff, 64);
	ck_assert_uint_eq(d.loadsz, 616);
	ck_assert_uint_eq(d.filesz, 624);

	ck_assert(dp_dof_sec(&d, S_PROBES, &s, &e));
	ck_assert_uint_eq(s.index, S_PROBES);
	ck_assert_uint_eq(s.type, DP_DOF_PROBES);
	ck_assert_uint_eq(s.align, 8);
	ck_assert_uint_eq(s.flags, DP_DOF_LOAD);
	ck_assert_uint_eq(s.entsize, 48);
	ck_assert_uint_eq(s.off, AT_PROBES);
	ck_assert_uint_eq(s.size, 96);
	ck_assert_uint_eq(s.at, SEC(S_PROBES));
	ck_assert_ptr_eq(dp_dof_data(&d, &s).p, m.p + AT_PROBES);
	ck_assert_uint_eq(dp_dof_data(&d, &s).n, 96);
	s.size = d.loadsz;
	ck_assert_uint_eq(dp_dof_data(&d, &s).n, 0);
	s.index = 77;
	ck_assert(!dp_dof_sec(&d, S_COUNT, &s, &e));
	ck_assert_uint_eq(s.index, 77);

	ck_assert_uint_eq(dp_dof_find(&d, DP_DOF_PROVIDER, 0), S_PROVIDER);
	ck_assert_uint_eq(dp_dof_find(&d, DP_DOF_PROVIDER, S_PROVIDER),
	                  S_PROVIDER);
	ck_assert_uint_eq(dp_dof_find(&d, DP_DOF_PROVIDER, S_PROVIDER + 1),
	                  S_COUNT);
	ck_assert_uint_eq(dp_dof_find(&d, DP_DOF_PROVIDER, UINT32_MAX),
	                  S_COUNT);
	free(m.p);
}
END_TEST

/* What a section takes of a longer or shorter run of bytes. */
START_TEST(test_extent)
{
	static const struct {
		uint64_t filesz, extent;
	} cases[] = {
		{ 624, 624 },        { 623, 623 },
		{ 616, 616 },        { 615, 616 },
		{ 0, 616 },          { 1 << 20, 624 },
		{ 64 << 20, 624 },   { (64 << 20) + 1, 616 },
		{ UINT64_MAX, 616 },
	};
	struct img m = img_make(orders[_i], 0);
	struct dp_dof d;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct dp_err e = DP_ERR_INIT;

		img_put(&m, 48, 8, cases[i].filesz);
		ck_assert(dp_dof_header(img_bytes(&m), &d, &e));
		ck_assert_uint_eq(dp_dof_extent(&d), cases[i].extent);
		ck_assert_uint_eq(d.in.n, cases[i].extent);
	}
	free(m.p);
}
END_TEST

/* The unloaded tail may be cut, anything else may not. */
START_TEST(test_cut)
{
	struct img m = img_make(orders[_i], 0);
	struct dp_dof untouched, d;

	memset(&untouched, 0x5a, sizeof untouched);
	for (size_t n = 0; n <= m.n; n++) {
		struct dp_err e = DP_ERR_INIT;
		uint8_t *p = malloc(n);

		ck_assert(p != NULL || n == 0);
		if (n > 0)
			memcpy(p, m.p, n);
		d = untouched;
		ck_assert_int_eq(dp_dof_open((struct dp_bytes){ p, n }, &d, &e),
		                 n >= 616);
		if (n < 616) {
			ck_assert_mem_eq(&d, &untouched, sizeof d);
			ck_assert_int_eq(e.code, DP_EFORMAT);
			ck_assert_uint_eq(e.off, n < 64 ? n : 40);
		}
		free(p);
	}
	free(m.p);
}
END_TEST

START_TEST(test_rels)
{
	struct img m = img_make(orders[_i], 0);
	struct dp_err e = DP_ERR_INIT;
	struct dp_dof_rels it;
	struct dp_dof_rel rel;
	struct dp_dof d;

	ck_assert(dp_dof_open(img_bytes(&m), &d, &e));
	dp_dof_rels_init(&it, &d);
	ck_assert(dp_dof_rels_next(&it, &rel, &e));
	ck_assert_int_eq(rel.type, DP_DOF_REL_SETX);
	ck_assert_uint_eq(rel.urelhdr, S_URELHDR);
	ck_assert_uint_eq(rel.entry, 0);
	ck_assert_uint_eq(rel.tgt, S_PROBES);
	ck_assert_uint_eq(rel.off, 0);
	ck_assert_uint_eq(rel.word_at, AT_PROBES);
	ck_assert_uint_eq(rel.at, AT_RELTAB);
	ck_assert(dp_bytes_is(dp_dof_rel_name(&rel), "f"));
	ck_assert(dp_dof_rels_next(&it, &rel, &e));
	ck_assert_int_eq(rel.type, DP_DOF_REL_DOFREL);
	ck_assert_uint_eq(rel.entry, 1);
	ck_assert_uint_eq(rel.off, 48);
	ck_assert_uint_eq(rel.word_at, AT_PROBE1);
	ck_assert_uint_eq(rel.at, AT_RELTAB + 24);
	ck_assert(dp_bytes_is(dp_dof_rel_name(&rel), "g"));
	ck_assert(!dp_dof_rels_next(&it, &rel, &e));
	ck_assert(!dp_dof_rels_next(&it, &rel, &e));
	ck_assert(!it.failed);
	ck_assert_int_eq(e.code, DP_OK);

	/* NONE is passed over and a name outside is an empty one */
	img_put(&m, AT_RELTAB + 4, 4, DP_DOF_REL_NONE);
	img_put(&m, AT_RELTAB + 24, 4, STR_SIZE);
	dp_dof_rels_init(&it, &d);
	ck_assert(dp_dof_rels_next(&it, &rel, &e));
	ck_assert_uint_eq(rel.entry, 1);
	ck_assert_uint_eq(dp_dof_rel_name(&rel).n, 0);
	ck_assert(!dp_dof_rels_next(&it, &rel, &e));

	/* an error stays */
	img_put(&m, AT_RELTAB + 28, 4, 9);
	dp_dof_rels_init(&it, &d);
	ck_assert(!dp_dof_rels_next(&it, &rel, &e));
	ck_assert(it.failed);
	ck_assert_int_eq(e.code, DP_EUNSUP);
	ck_assert(!dp_dof_rels_next(&it, &rel, &e));
	free(m.p);
}
END_TEST

/*
 * `n` relocations in one table that `nhdr` headers name; `type` of all.
 * Sections: strtab, probes, reltab, then the headers.
 */
static struct img
many_rels(enum dp_order order, uint32_t n, uint32_t nhdr, uint32_t type)
{
	uint64_t tgt = SEC(3 + nhdr), tab = tgt + 8, hdr = tab + 24ull * n;
	struct img m = img_zero(order, hdr + 13);

	img_header(&m, 3 + nhdr, m.n);
	img_sec(&m, &(struct dp_dof_sec){ 0, 8, 1, 1, 0, hdr + 12, 1, 0 });
	img_sec(&m, &(struct dp_dof_sec){ 1, 16, 8, 1, 48, tgt, 8, 0 });
	img_sec(&m, &(struct dp_dof_sec){ 2, 10, 8, 1, 24, tab, 24ull * n, 0 });
	for (uint32_t i = 0; i < nhdr; i++)
		img_sec(&m,
		        &(struct dp_dof_sec){ 3 + i, 12, 4, 1, 0, hdr, 12, 0 });
	img_put(&m, hdr + 4, 4, 2);
	img_put(&m, hdr + 8, 4, 1);
	for (uint32_t i = 0; type != 0 && i < n; i++)
		img_put(&m, tab + 24ull * i + 4, 4, type);
	return m;
}

START_TEST(test_rels_limit)
{
	static const struct {
		uint32_t n, nhdr, type;
		enum dp_code code;
		uint64_t off;
	} cases[] = {
		{ DP_MAX_DOF_SITES, 1, 0, OK },
		{ DP_MAX_DOF_SITES + 1, 1, 0, DP_ELIMIT, SEC(3) },
		{ DP_MAX_DOF_SITES / 64, 64, 1, OK },
		{ DP_MAX_DOF_SITES / 64, 65, 1, DP_ELIMIT, SEC(3 + 64) },
		{ DP_MAX_DOF_SITES, 2, 0, DP_ELIMIT, SEC(4) },
		{ DP_MAX_DOF_SITES / 64 + 1, 64, 1, DP_ELIMIT, SEC(3 + 63) },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct img m = many_rels(orders[_i], cases[i].n, cases[i].nhdr,
		                         cases[i].type);
		struct dp_err e = DP_ERR_INIT;
		struct dp_dof_rels it;
		struct dp_dof_rel rel;
		struct dp_dof d;
		uint32_t n = 0;

		ck_assert_int_eq(dp_dof_open(img_bytes(&m), &d, &e),
		                 cases[i].code == DP_OK);
		ck_assert_int_eq(e.code, cases[i].code);
		ck_assert_uint_eq(e.off, cases[i].off);
		if (e.code == DP_OK) {
			dp_dof_rels_init(&it, &d);
			while (dp_dof_rels_next(&it, &rel, &e))
				n++;
			ck_assert_uint_eq(
				n, cases[i].type == 0 ? 0 : DP_MAX_DOF_SITES);
		}
		free(m.p);
	}
}
END_TEST

START_TEST(test_size_limit)
{
	struct img m = img_zero(orders[_i], DP_MAX_DOF_SIZE + 1);
	struct dp_err e = DP_ERR_INIT;
	struct dp_dof d;

	img_header(&m, 1, DP_MAX_DOF_SIZE);
	img_put(&m, 48, 8, DP_MAX_DOF_SIZE);
	ck_assert_msg(dp_dof_open(img_bytes(&m), &d, &e), "%s", e.msg);
	ck_assert_uint_eq(dp_dof_extent(&d), DP_MAX_DOF_SIZE);
	img_put(&m, 40, 8, DP_MAX_DOF_SIZE + 1);
	ck_assert(!dp_dof_open(img_bytes(&m), &d, &e));
	ck_assert_int_eq(e.code, DP_ELIMIT);
	ck_assert_uint_eq(e.off, 40);
	free(m.p);
}
END_TEST

START_TEST(test_secs_limit)
{
	size_t n = 64 + 32 * (size_t)(DP_MAX_DOF_SECS + 1);
	struct img m = img_zero(orders[_i], n);
	struct dp_err e = DP_ERR_INIT;
	struct dp_dof d;

	img_header(&m, DP_MAX_DOF_SECS, n);
	ck_assert_msg(dp_dof_open(img_bytes(&m), &d, &e), "%s", e.msg);
	ck_assert_uint_eq(d.secnum, DP_MAX_DOF_SECS);
	img_header(&m, DP_MAX_DOF_SECS + 1, n);
	ck_assert(!dp_dof_open(img_bytes(&m), &d, &e));
	ck_assert_int_eq(e.code, DP_ELIMIT);
	ck_assert_uint_eq(e.off, 28);
	free(m.p);
}
END_TEST

/* Section headers wider than today's, in a table behind everything else. */
START_TEST(test_wide_secs)
{
	struct img a = img_make(orders[_i], 0);
	struct img m = img_zero(orders[_i], a.n + 40 * S_COUNT);
	struct dp_err e = DP_ERR_INIT;

	memcpy(m.p, a.p, a.n);
	memset(m.p + 64, 0xee, AT_PROBES - 64);
	img_put(&m, 24, 4, 40);
	img_put(&m, 32, 8, a.n);
	img_put(&m, 40, 8, m.n);
	img_put(&m, 48, 8, m.n);
	for (unsigned i = 0; i < S_COUNT; i++)
		memcpy(m.p + a.n + 40 * i, a.p + SEC(i), 32);
	ck_assert_int_eq(img_read(img_bytes(&m), &e), FINE);
	free(m.p);
	free(a.p);
}
END_TEST

START_TEST(test_follow)
{
	struct img m = img_make(orders[_i], 0);
	struct dp_err e = DP_ERR_INIT;
	struct dp_dof_link link = { S_PROBES, DP_DOF_ANY, 5, "any" };
	struct dp_dof_sec s;
	struct dp_dof d;

	ck_assert(dp_dof_open(img_bytes(&m), &d, &e));
	ck_assert(dp_dof_follow(&d, &link, &s, &e));
	ck_assert_uint_eq(s.index, S_PROBES);
	link.type = DP_DOF_PRARGS;
	ck_assert(!dp_dof_follow(&d, &link, &s, &e));
	ck_assert_uint_eq(e.off, 5);
	free(m.p);
}
END_TEST

START_TEST(test_str)
{
	static const uint8_t raw[] = "ab\0cde\0\0x";
	struct dp_bytes tab = { raw, 9 }; /* without the last NUL */
	struct dp_bytes s = { raw, 77 };

	ck_assert_int_eq(dp_dof_str(tab, 0, 2, &s), DP_OK);
	ck_assert(dp_bytes_is(s, "ab"));
	ck_assert_int_eq(dp_dof_str(tab, 3, 3, &s), DP_OK);
	ck_assert(dp_bytes_is(s, "cde"));
	ck_assert_int_eq(dp_dof_str(tab, 3, 2, &s), DP_ELIMIT);
	ck_assert_int_eq(dp_dof_str(tab, 7, 0, &s), DP_OK);
	ck_assert_uint_eq(s.n, 0);
	s.n = 77;
	ck_assert_int_eq(dp_dof_str(tab, 8, 1, &s), DP_EFORMAT);
	ck_assert_int_eq(dp_dof_str(tab, 8, 0, &s), DP_ELIMIT);
	ck_assert_int_eq(dp_dof_str(tab, 9, 1, &s), DP_EFORMAT);
	ck_assert_int_eq(dp_dof_str(tab, UINT64_MAX, 1, &s), DP_EFORMAT);
	ck_assert_int_eq(dp_dof_str((struct dp_bytes){ NULL, 0 }, 0, 1, &s),
	                 DP_EFORMAT);
	ck_assert_uint_eq(s.n, 77);
}
END_TEST

START_TEST(test_names)
{
	ck_assert_str_eq(dp_dof_sectype_name(0), "none");
	ck_assert_str_eq(dp_dof_sectype_name(DP_DOF_STRTAB), "strtab");
	ck_assert_str_eq(dp_dof_sectype_name(DP_DOF_RELTAB), "reltab");
	ck_assert_str_eq(dp_dof_sectype_name(DP_DOF_URELHDR), "urelhdr");
	ck_assert_str_eq(dp_dof_sectype_name(DP_DOF_PROVIDER), "provider");
	ck_assert_str_eq(dp_dof_sectype_name(DP_DOF_PRENOFFS), "prenoffs");
	for (uint32_t i = 0; i < 27; i++)
		ck_assert_ptr_nonnull(dp_dof_sectype_name(i));
	ck_assert_ptr_null(dp_dof_sectype_name(27));
	ck_assert_ptr_null(dp_dof_sectype_name(UINT32_MAX));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("dof");
	TCase *tc = tcase_create("container");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(tc, test_row, 0, NROWS(rows));
	tcase_add_loop_test(tc, test_fields, 0, 2);
	tcase_add_loop_test(tc, test_extent, 0, 2);
	tcase_add_loop_test(tc, test_cut, 0, 2);
	tcase_add_loop_test(tc, test_rels, 0, 2);
	tcase_add_loop_test(tc, test_rels_limit, 0, 2);
	tcase_add_loop_test(tc, test_size_limit, 0, 2);
	tcase_add_loop_test(tc, test_secs_limit, 0, 2);
	tcase_add_loop_test(tc, test_wide_secs, 0, 2);
	tcase_add_loop_test(tc, test_follow, 0, 2);
	tcase_add_test(tc, test_str);
	tcase_add_test(tc, test_names);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
