/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small well-formed DOF for tests, in either byte order from the same
 * values: one provider, two probes, every kind of section that matters.
 * Its places are constants, so that a test can say "put this value there".
 * Not a general writer.
 */
#ifndef DP_DOFIMAGE_H
#define DP_DOFIMAGE_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "usdt/dof.h"
#include "usdt/dofprobe.h"

/* Section indices of the image. */
enum {
	S_STRTAB,
	S_PROBES,
	S_PRARGS,
	S_PROFFS,
	S_PRENOFFS,
	S_PROVIDER,
	S_RELTAB,
	S_URELHDR,
	S_COMMENTS,
	S_COUNT
};

/* Positions: a section header, the data of the sections, their end. */
#define SEC(i) (64u + 32u * (i))
enum {
	AT_PROBES = 64 + 32 * S_COUNT,
	AT_PROBE1 = AT_PROBES + 48,
	AT_PRARGS = AT_PROBES + 96,
	AT_PROFFS = AT_PRARGS + 4,
	AT_PRENOFFS = AT_PROFFS + 12,
	AT_PROVIDER = AT_PRENOFFS + 8,
	AT_RELTAB = AT_PROVIDER + 48,
	AT_URELHDR = AT_RELTAB + 48,
	AT_STRTAB = AT_URELHDR + 12,
	/* strings */
	STR_PROV = 1,
	STR_F = 6,
	STR_G = 8,
	STR_START = 10,
	STR_DONE = 16,
	STR_INT = 21,  /* int, char * */
	STR_CHAR = 25, /* char *, int */
	STR_SIZE = 36,
};

struct img {
	uint8_t *p; /* owned: exactly n bytes, so that ASan sees an over-read */
	size_t n;
	enum dp_order order;
};

static inline void
img_put(struct img *m, uint64_t at, unsigned width, uint64_t v)
{
	ck_assert_uint_le(at + width, m->n);
	for (unsigned i = 0; i < width; i++) {
		unsigned k = m->order == DP_LE ? i : width - 1 - i;

		m->p[at + k] = (uint8_t)(v >> 8 * i);
	}
}

static inline void
img_sec(struct img *m, const struct dp_dof_sec *s)
{
	uint64_t at = SEC(s->index);

	img_put(m, at, 4, s->type);
	img_put(m, at + 4, 4, s->align);
	img_put(m, at + 8, 4, s->flags);
	img_put(m, at + 12, 4, s->entsize);
	img_put(m, at + 16, 8, s->off);
	img_put(m, at + 24, 8, s->size);
}

static inline struct img
img_zero(enum dp_order order, size_t n)
{
	struct img m = { calloc(1, n), n, order };

	ck_assert_ptr_nonnull(m.p);
	return m;
}

static inline void
img_header(struct img *m, uint32_t secnum, uint64_t loadsz)
{
	memcpy(m->p, "\177DOF", 4);
	m->p[4] = DP_DOF_LP64;
	m->p[5] = m->order == DP_LE ? 1 : 2;
	m->p[6] = 3;
	m->p[7] = 2;
	m->p[8] = m->p[9] = 8;
	img_put(m, 20, 4, 64);
	img_put(m, 24, 4, 32);
	img_put(m, 28, 4, secnum);
	img_put(m, 32, 8, 64);
	img_put(m, 40, 8, loadsz);
	img_put(m, 48, 8, m->n);
}

static inline void
img_u32s(struct img *m, uint64_t at, const uint32_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		img_put(m, at + 4 * i, 4, v[i]);
}

static inline void
img_probe(struct img *m, uint64_t at, uint64_t addr, const uint32_t v[6])
{
	img_put(m, at, 8, addr);
	img_u32s(m, at + 8, v, 6);
}

/*
 * The image, its string table longer by `extra` bytes: 'x' up to a final
 * NUL, a string at STR_SIZE.
 */
static inline struct img
img_make(enum dp_order order, size_t extra)
{
	static const char strs[STR_SIZE] = "\0prov\0f\0g\0start\0done\0"
					   "int\0char *\0int";
	const struct dp_dof_sec secs[S_COUNT] = {
		{ S_STRTAB, 8, 1, 1, 0, AT_STRTAB, STR_SIZE + extra, 0 },
		{ S_PROBES, 16, 8, 1, 48, AT_PROBES, 96, 0 },
		{ S_PRARGS, 17, 1, 1, 1, AT_PRARGS, 2, 0 },
		{ S_PROFFS, 18, 4, 1, 4, AT_PROFFS, 12, 0 },
		{ S_PRENOFFS, 26, 4, 1, 4, AT_PRENOFFS, 8, 0 },
		{ S_PROVIDER, 15, 4, 1, 0, AT_PROVIDER, 44, 0 },
		{ S_RELTAB, 10, 8, 1, 24, AT_RELTAB, 48, 0 },
		{ S_URELHDR, 12, 4, 1, 0, AT_URELHDR, 12, 0 },
		{ S_COMMENTS, 1, 1, 0, 0, AT_STRTAB + STR_SIZE + extra, 8, 0 },
	};
	/* strtab, probes, prargs, proffs, name, attributes, prenoffs */
	static const uint32_t prov[11] = {
		S_STRTAB,   S_PROBES,   S_PRARGS,   S_PROFFS,
		STR_PROV,   0x05050400, 0x01010000, 0x04040500,
		0x07070300, 0x08060600, S_PRENOFFS,
	};
	/* func, name, nargv, xargv, argidx, offidx */
	static const uint32_t p0[6] = { STR_F,    STR_START, STR_INT,
		                        STR_CHAR, 0,         0 };
	static const uint32_t p1[6] = { STR_G, STR_DONE, STR_INT, 0, 2, 2 };
	static const uint32_t offs[3] = { 0x10, 0x20, 0x30 };
	static const uint32_t enoffs[2] = { 8, 0x18 };
	static const uint32_t rel[3] = { S_STRTAB, S_RELTAB, S_PROBES };
	size_t loadsz = AT_STRTAB + STR_SIZE + extra;
	struct img m = img_zero(order, loadsz + 8);

	img_header(&m, S_COUNT, loadsz);
	for (unsigned i = 0; i < S_COUNT; i++)
		img_sec(&m, &secs[i]);
	img_probe(&m, AT_PROBES, 0x401000, p0);
	img_put(&m, AT_PROBES + 32, 1, 2); /* nargc */
	img_put(&m, AT_PROBES + 33, 1, 2); /* xargc */
	img_put(&m, AT_PROBES + 34, 2, 2); /* noffs */
	img_put(&m, AT_PROBES + 40, 2, 1); /* nenoffs */
	img_probe(&m, AT_PROBE1, 0x8000000000402000, p1);
	img_put(&m, AT_PROBE1 + 32, 1, 1);
	img_put(&m, AT_PROBE1 + 34, 2, 1);
	img_put(&m, AT_PROBE1 + 36, 4, 1); /* enoffidx */
	img_put(&m, AT_PROBE1 + 40, 2, 1);
	m.p[AT_PRARGS] = 1; /* args[0] is native 1, args[1] native 0 */
	img_u32s(&m, AT_PROFFS, offs, 3);
	img_u32s(&m, AT_PRENOFFS, enoffs, 2);
	img_u32s(&m, AT_PROVIDER, prov, 11);
	img_put(&m, AT_RELTAB, 4, STR_F);
	img_put(&m, AT_RELTAB + 4, 4, DP_DOF_REL_SETX);
	img_put(&m, AT_RELTAB + 24, 4, STR_G);
	img_put(&m, AT_RELTAB + 28, 4, DP_DOF_REL_DOFREL);
	img_put(&m, AT_RELTAB + 32, 8, 48);
	img_u32s(&m, AT_URELHDR, rel, 3);
	memcpy(m.p + AT_STRTAB, strs, STR_SIZE);
	if (extra > 0)
		memset(m.p + AT_STRTAB + STR_SIZE, 'x', extra - 1);
	return m;
}

static inline struct dp_bytes
img_bytes(const struct img *m)
{
	return (struct dp_bytes){ m->p, m->n };
}

/* How far reading an image came. */
enum stage {
	FAIL_HEADER,
	FAIL_OPEN,
	FAIL_PROVIDER,
	FAIL_PROBE,
	FAIL_UNIQUE,
	FINE
};

/* Read all of the provider in S_PROVIDER; `e` says what failed. */
static inline enum stage
img_read(struct dp_bytes in, struct dp_err *e)
{
	uint32_t scratch[8];
	struct dp_dof_provider prov;
	struct dp_dof_probe p;
	struct dp_dof d;

	if (!dp_dof_header(in, &d, e))
		return FAIL_HEADER;
	if (!dp_dof_open(in, &d, e))
		return FAIL_OPEN;
	if (!dp_dof_provider(&d, S_PROVIDER, &prov, e))
		return FAIL_PROVIDER;
	for (uint32_t j = 0; j < prov.nprobes; j++) {
		if (!dp_dof_probe(&d, &prov, j, &p, e))
			return FAIL_PROBE;
		if (!dp_dof_sites_unique(&d, &p, scratch, 8, e))
			return FAIL_UNIQUE;
	}
	return FINE;
}

/* Up to three changes to the image and what must come of them. */
struct row {
	const char *what;
	struct {
		uint32_t at;
		uint32_t width; /* 0: no change */
		uint64_t value;
	} put[3];
	enum stage stage;
	enum dp_code code; /* DP_OK with FINE */
	uint64_t off;      /* DP_NOOFF with FINE */
};

/* Run one row in one byte order. */
static inline void
img_row(const struct row *row, enum dp_order order)
{
	const char *how = order == DP_LE ? "LSB" : "MSB";
	struct img m = img_make(order, 0);
	struct dp_err e = DP_ERR_INIT;
	enum stage got;

	for (unsigned i = 0; i < 3; i++)
		img_put(&m, row->put[i].at, row->put[i].width,
		        row->put[i].value);
	got = img_read(img_bytes(&m), &e);
	ck_assert_msg(got == row->stage && e.code == row->code &&
	                      e.off == row->off,
	              "%s, %s: stage %d not %d, code %s not %s, at %lld "
	              "not %lld: %s",
	              row->what, how, got, row->stage, dp_code_name(e.code),
	              dp_code_name(row->code), (long long)e.off,
	              (long long)row->off, e.msg);
	free(m.p);
}

#define NROWS(rows) ((int)(sizeof(rows) / sizeof((rows)[0])))

#endif /* DP_DOFIMAGE_H */
