/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checks are those that DTrace's consumers make (dtrace_dof_slurp() and
 * its copies), in the same two passes, plus the ones they forgot: strides
 * smaller than the record, empty string tables, relocations of headers.
 */
#include "usdt/dof.h"

#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "base/range.h"

/* Positions in the file header (dof.h: dof_hdr). */
enum {
	HDR_MODEL = 4,
	HDR_ENCODING,
	HDR_VERSION,
	HDR_DIFVERS,
	HDR_INTREGS,
	HDR_TUPREGS,
	HDR_PAD,
	HDR_FLAGS = 16,
	HDR_SECSIZE = 24,
	HDR_SECNUM = 28,
	HDR_SECOFF = 32,
	HDR_LOADSZ = 40,
};

/* Positions in a section header (dof.h: dof_sec). */
enum {
	SEC_ALIGN = 4,
	SEC_FLAGS = 8,
	SEC_ENTSIZE = 12,
	SEC_OFF = 16,
	SEC_SIZE = 24,
};

enum { ENCODE_LSB = 1, ENCODE_MSB = 2, DIF_VERSION = 2, MAX_REGS = 8 };

struct sectype {
	const char *name;
	bool loadable; /* must carry DP_DOF_LOAD */
};

/* clang-format off */
static const struct sectype sectypes[] = {
	[0] = { "none", false },
	[1] = { "comments", false },
	[2] = { "source", false },
	[3] = { "ecbdesc", true },
	[4] = { "probedesc", true },
	[5] = { "actdesc", true },
	[6] = { "difohdr", true },
	[7] = { "dif", true },
	[DP_DOF_STRTAB] = { "strtab", true },
	[9] = { "vartab", true },
	[DP_DOF_RELTAB] = { "reltab", true },
	[11] = { "typtab", true },
	[DP_DOF_URELHDR] = { "urelhdr", true },
	[13] = { "krelhdr", true },
	[14] = { "optdesc", true },
	[DP_DOF_PROVIDER] = { "provider", true },
	[DP_DOF_PROBES] = { "probes", true },
	[DP_DOF_PRARGS] = { "prargs", true },
	[DP_DOF_PROFFS] = { "proffs", true },
	[19] = { "inttab", true },
	[20] = { "utsname", false },
	[21] = { "xltab", true },
	[22] = { "xlmembers", true },
	[23] = { "xlimport", true },
	[24] = { "xlexport", true },
	[25] = { "prexport", true },
	[DP_DOF_PRENOFFS] = { "prenoffs", true },
};
/* clang-format on */
enum { NTYPES = sizeof sectypes / sizeof sectypes[0] };
_Static_assert(NTYPES == 27, "DOF_SECT_NONE to DOF_SECT_PRENOFFS");

const char *
dp_dof_sectype_name(uint32_t type)
{
	return type < NTYPES ? sectypes[type].name : NULL;
}

/* The bytes that a consumer would have loaded. */
static struct dp_bytes
loaded(const struct dp_dof *d)
{
	return (struct dp_bytes){ d->in.p, (size_t)d->loadsz };
}

/* The 16 identification bytes; they say in which order to read the rest. */
static bool
read_ident(struct dp_bytes in, struct dp_dof *d, struct dp_err *e)
{
	const uint8_t *b = in.p;

	if (in.n < DP_DOF_HDR_SIZE)
		return dp_err_set(e, DP_EFORMAT, in.n,
		                  "%zu bytes are too short for a DOF header",
		                  in.n);
	if (memcmp(b, "\177DOF", 4) != 0)
		return dp_err_set(e, DP_EFORMAT, 0, "no DOF magic");
	if (b[HDR_MODEL] != DP_DOF_ILP32 && b[HDR_MODEL] != DP_DOF_LP64)
		return dp_err_set(e, DP_EFORMAT, HDR_MODEL,
		                  "unknown data model %u", b[HDR_MODEL]);
	if (b[HDR_ENCODING] != ENCODE_LSB && b[HDR_ENCODING] != ENCODE_MSB)
		return dp_err_set(e, DP_EFORMAT, HDR_ENCODING,
		                  "unknown byte order %u", b[HDR_ENCODING]);
	if (b[HDR_VERSION] == 0)
		return dp_err_set(e, DP_EFORMAT, HDR_VERSION, "DOF version 0");
	if (b[HDR_VERSION] > 3)
		return dp_err_set(e, DP_EUNSUP, HDR_VERSION, "DOF version %u",
		                  b[HDR_VERSION]);
	if (b[HDR_DIFVERS] != DIF_VERSION)
		return dp_err_set(e, DP_EUNSUP, HDR_DIFVERS, "DIF version %u",
		                  b[HDR_DIFVERS]);
	for (unsigned i = HDR_INTREGS; i <= HDR_TUPREGS; i++)
		if (b[i] > MAX_REGS)
			return dp_err_set(e, DP_EFORMAT, i, "%u DIF registers",
			                  b[i]);
	for (unsigned i = HDR_PAD; i < HDR_FLAGS; i++)
		if (b[i] != 0)
			return dp_err_set(e, DP_EFORMAT, i,
			                  "padding in the header is not 0");
	d->order = b[HDR_ENCODING] == ENCODE_LSB ? DP_LE : DP_BE;
	d->model = b[HDR_MODEL];
	d->version = b[HDR_VERSION];
	d->intregs = b[HDR_INTREGS];
	d->tupregs = b[HDR_TUPREGS];
	return true;
}

/* Sizes and the place of the section headers; `n` bytes are at hand. */
static bool
check_sizes(const struct dp_dof *d, size_t n, struct dp_err *e)
{
	if (d->loadsz < DP_DOF_HDR_SIZE || d->loadsz > n)
		return dp_err_set(e, DP_EFORMAT, HDR_LOADSZ,
		                  "load size %" PRIu64 " of %zu bytes",
		                  d->loadsz, n);
	if (d->loadsz > DP_MAX_DOF_SIZE)
		return dp_err_set(e, DP_ELIMIT, HDR_LOADSZ,
		                  "load size %" PRIu64, d->loadsz);
	if (d->secsize < DP_DOF_SEC_SIZE || d->secsize % 8 != 0)
		return dp_err_set(e, DP_EFORMAT, HDR_SECSIZE,
		                  "section headers of %" PRIu32 " bytes",
		                  d->secsize);
	if (d->secnum > DP_MAX_DOF_SECS)
		return dp_err_set(e, DP_ELIMIT, HDR_SECNUM,
		                  "%" PRIu32 " sections", d->secnum);
	if (d->secoff < DP_DOF_HDR_SIZE || d->secoff % 8 != 0 ||
	    !dp_table_ok(d->secoff, d->secnum, d->secsize, d->loadsz))
		return dp_err_set(e, DP_EFORMAT, HDR_SECOFF,
		                  "%" PRIu32 " section headers at %#" PRIx64
		                  " of %" PRIu64 " bytes",
		                  d->secnum, d->secoff, d->loadsz);
	return true;
}

bool
dp_dof_header(struct dp_bytes in, struct dp_dof *dof_ret, struct dp_err *e)
{
	struct dp_dof d = { .in = in };
	uint32_t flags;
	struct dp_rd r;
	uint64_t size;

	if (!read_ident(in, &d, e))
		return false;
	r = dp_rd_init(in, d.order);
	dp_rd_seek(&r, HDR_FLAGS);
	flags = dp_rd_u32(&r);
	d.hdrsize = dp_rd_u32(&r);
	d.secsize = dp_rd_u32(&r);
	d.secnum = dp_rd_u32(&r);
	d.secoff = dp_rd_u64(&r);
	d.loadsz = dp_rd_u64(&r);
	d.filesz = dp_rd_u64(&r);
	if (!dp_rd_ok(&r))
		return dp_err_set(e, DP_EFORMAT, in.n, "header cut");
	if (flags != 0)
		return dp_err_set(e, DP_EFORMAT, HDR_FLAGS,
		                  "unknown flags %#" PRIx32, flags);
	if (!check_sizes(&d, in.n, e))
		return false;
	/* No consumer looks at it: nonsense there is no reason to refuse. */
	size = d.filesz > d.loadsz && d.filesz <= DP_MAX_DOF_SIZE ? d.filesz
	                                                          : d.loadsz;
	if (size < in.n)
		d.in.n = (size_t)size;
	*dof_ret = d;
	return true;
}

uint64_t
dp_dof_extent(const struct dp_dof *d)
{
	return d->in.n;
}

/* Header `i` as it stands; false only where there is none. */
static bool
read_sec(const struct dp_dof *d, uint32_t i, struct dp_dof_sec *sec_ret)
{
	struct dp_rd r = dp_rd_init(loaded(d), d->order);
	struct dp_dof_sec s = { .index = i };

	if (i >= d->secnum)
		return false;
	/* secnum * secsize is inside loadsz: the sum cannot wrap */
	s.at = d->secoff + (uint64_t)i * d->secsize;
	dp_rd_seek(&r, s.at);
	s.type = dp_rd_u32(&r);
	s.align = dp_rd_u32(&r);
	s.flags = dp_rd_u32(&r);
	s.entsize = dp_rd_u32(&r);
	s.off = dp_rd_u64(&r);
	s.size = dp_rd_u64(&r);
	if (!dp_rd_ok(&r))
		return false;
	*sec_ret = s;
	return true;
}

bool
dp_dof_sec(const struct dp_dof *d, uint32_t i, struct dp_dof_sec *sec_ret,
           struct dp_err *e)
{
	if (!read_sec(d, i, sec_ret))
		return dp_err_set(e, DP_EFORMAT, HDR_SECNUM,
		                  "no section %" PRIu32, i);
	return true;
}

bool
dp_dof_follow(const struct dp_dof *d, const struct dp_dof_link *link,
              struct dp_dof_sec *sec_ret, struct dp_err *e)
{
	struct dp_dof_sec s = { .index = 0 };

	if (!read_sec(d, link->i, &s))
		return dp_err_set(e, DP_EFORMAT, link->at,
		                  "%s link: no section %" PRIu32, link->what,
		                  link->i);
	if (!(s.flags & DP_DOF_LOAD))
		return dp_err_set(e, DP_EFORMAT, link->at,
		                  "%s link: section %" PRIu32 " is not loaded",
		                  link->what, link->i);
	if (link->type != DP_DOF_ANY && s.type != link->type)
		return dp_err_set(e, DP_EFORMAT, link->at,
		                  "%s link: section %" PRIu32
		                  " is of type %" PRIu32,
		                  link->what, link->i, s.type);
	*sec_ret = s;
	return true;
}

uint32_t
dp_dof_find(const struct dp_dof *d, uint32_t type, uint32_t from)
{
	struct dp_rd r = dp_rd_init(loaded(d), d->order);

	for (uint32_t i = from; i < d->secnum; i++) {
		dp_rd_seek(&r, d->secoff + (uint64_t)i * d->secsize);
		if (dp_rd_u32(&r) == type && dp_rd_ok(&r))
			return i;
	}
	return d->secnum;
}

struct dp_bytes
dp_dof_data(const struct dp_dof *d, const struct dp_dof_sec *sec)
{
	struct dp_bytes none = { NULL, 0 };

	if (!dp_range_ok(sec->off, sec->size, d->loadsz) || sec->size == 0)
		return none;
	return (struct dp_bytes){ d->in.p + sec->off, (size_t)sec->size };
}

enum dp_code
dp_dof_str(struct dp_bytes tab, uint64_t off, size_t max,
           struct dp_bytes *s_ret)
{
	const uint8_t *p, *nul;
	size_t left;

	if (off >= tab.n)
		return DP_EFORMAT;
	p = tab.p + off;
	left = tab.n - (size_t)off;
	nul = memchr(p, '\0', left <= max ? left : max + 1);
	if (nul == NULL)
		return left <= max ? DP_EFORMAT : DP_ELIMIT;
	*s_ret = (struct dp_bytes){ p, (size_t)(nul - p) };
	return DP_OK;
}

/* The rules for one section header alone: the first pass. */
static bool
check_sec(const struct dp_dof *d, const struct dp_dof_sec *s, struct dp_err *e)
{
	struct dp_bytes data;

	if (s->type < NTYPES && sectypes[s->type].loadable &&
	    !(s->flags & DP_DOF_LOAD))
		return dp_err_set(e, DP_EFORMAT, s->at + SEC_FLAGS,
		                  "section %" PRIu32 ": %s that is not loaded",
		                  s->index, sectypes[s->type].name);
	if (!(s->flags & DP_DOF_LOAD))
		return true;
	if (!dp_pow2(s->align))
		return dp_err_set(e, DP_EFORMAT, s->at + SEC_ALIGN,
		                  "section %" PRIu32 ": alignment %" PRIu32,
		                  s->index, s->align);
	if (s->off % s->align != 0)
		return dp_err_set(e, DP_EFORMAT, s->at + SEC_OFF,
		                  "section %" PRIu32 ": offset %#" PRIx64
		                  " is not %" PRIu32 "-aligned",
		                  s->index, s->off, s->align);
	if (!dp_range_ok(s->off, s->size, d->loadsz))
		return dp_err_set(
			e, DP_EFORMAT,
			s->at + (s->off > d->loadsz ? SEC_OFF : SEC_SIZE),
			"section %" PRIu32 ": %" PRIu64 " bytes at %#" PRIx64
			" pass the loaded %" PRIu64,
			s->index, s->size, s->off, d->loadsz);
	if (s->type != DP_DOF_STRTAB)
		return true;
	data = dp_dof_data(d, s);
	if (data.n == 0)
		return dp_err_set(e, DP_EFORMAT, s->at + SEC_SIZE,
		                  "section %" PRIu32 ": empty strtab",
		                  s->index);
	if (data.p[data.n - 1] != '\0')
		return dp_err_set(e, DP_EFORMAT, s->off + s->size - 1,
		                  "section %" PRIu32
		                  ": strtab without a final NUL",
		                  s->index);
	return true;
}

bool
dp_dof_open(struct dp_bytes in, struct dp_dof *dof_ret, struct dp_err *e)
{
	struct dp_dof_rel rel = { .entry = 0 };
	struct dp_dof_sec s = { .index = 0 };
	struct dp_dof d = { .secnum = 0 };
	struct dp_dof_rels it;

	if (!dp_dof_header(in, &d, e))
		return false;
	for (uint32_t i = 0; i < d.secnum; i++)
		if (!dp_dof_sec(&d, i, &s, e) || !check_sec(&d, &s, e))
			return false;
	dp_dof_rels_init(&it, &d);
	while (dp_dof_rels_next(&it, &rel, e))
		;
	if (it.failed)
		return false;
	*dof_ret = d;
	return true;
}

void
dp_dof_rels_init(struct dp_dof_rels *it, const struct dp_dof *d)
{
	*it = (struct dp_dof_rels){ .d = d, .left = DP_MAX_DOF_SITES };
}

/* Take up URELHDR `sec` (dof.h: dof_relohdr) and the sections it links. */
static bool
enter(struct dp_dof_rels *it, uint32_t sec, struct dp_err *e)
{
	struct dp_dof_link link[3] = {
		{ .type = DP_DOF_STRTAB, .what = "relocation strtab" },
		{ .type = DP_DOF_RELTAB, .what = "relocation table" },
		{ .type = DP_DOF_ANY, .what = "relocation target" },
	};
	struct dp_dof_sec hdr = { .index = 0 }, to[3] = { { .index = 0 } };
	struct dp_rd r;
	uint64_t n;

	if (!dp_dof_sec(it->d, sec, &hdr, e))
		return false;
	if (hdr.size < DP_DOF_URELHDR_SIZE)
		return dp_err_set(e, DP_EFORMAT, hdr.at + SEC_SIZE,
		                  "urelhdr of %" PRIu64 " bytes", hdr.size);
	if (hdr.align != 4)
		return dp_err_set(e, DP_EFORMAT, hdr.at + SEC_ALIGN,
		                  "urelhdr alignment %" PRIu32, hdr.align);
	r = dp_rd_init(dp_dof_data(it->d, &hdr), it->d->order);
	for (unsigned i = 0; i < 3; i++) {
		link[i].at = hdr.off + r.pos;
		link[i].i = dp_rd_u32(&r);
		if (!dp_dof_follow(it->d, &link[i], &to[i], e))
			return false;
	}
	it->tab = to[1];
	it->tgt = to[2];
	if (it->tab.entsize < DP_DOF_REL_SIZE)
		return dp_err_set(e, DP_EFORMAT, it->tab.at + SEC_ENTSIZE,
		                  "reltab entries of %" PRIu32 " bytes",
		                  it->tab.entsize);
	if (it->tab.align != 8)
		return dp_err_set(e, DP_EFORMAT, it->tab.at + SEC_ALIGN,
		                  "reltab alignment %" PRIu32, it->tab.align);
	n = it->tab.size / it->tab.entsize;
	if (n > it->left)
		return dp_err_set(e, DP_ELIMIT, hdr.at,
		                  "more than %d relocations", DP_MAX_DOF_SITES);
	it->strs = dp_dof_data(it->d, &to[0]);
	it->urelhdr = sec;
	it->i = 0;
	it->n = (uint32_t)n;
	it->left -= it->n;
	return true;
}

/*
 * The word to relocate must lie in its target, 8-aligned, and not over what
 * has been checked already: a consumer that adds to it would otherwise
 * change a section header behind its own back.
 */
static bool
check_word(const struct dp_dof_rels *it, const struct dp_dof_rel *rel,
           struct dp_err *e)
{
	uint64_t table = (uint64_t)it->d->secnum * it->d->secsize;
	uint64_t at = rel->at + 8, secoff = it->d->secoff;

	if (!dp_range_ok(rel->off, 8, it->tgt.size))
		return dp_err_set(e, DP_EFORMAT, at,
		                  "relocation at %#" PRIx64 " of %" PRIu64
		                  " bytes",
		                  rel->off, it->tgt.size);
	if (rel->word_at % 8 != 0)
		return dp_err_set(
			e, DP_EFORMAT, at,
			"relocation of a misaligned word at %#" PRIx64,
			rel->word_at);
	if (rel->word_at < DP_DOF_HDR_SIZE ||
	    (rel->word_at + 8 > secoff && rel->word_at < secoff + table))
		return dp_err_set(e, DP_EFORMAT, at,
		                  "relocation of a header at %#" PRIx64,
		                  rel->word_at);
	return true;
}

/* Decode entry it->i (dof.h: dof_relodesc); *rel_ret may be of type NONE. */
static bool
read_rel(const struct dp_dof_rels *it, struct dp_dof_rel *rel_ret,
         struct dp_err *e)
{
	struct dp_rd r = dp_rd_init(loaded(it->d), it->d->order);
	struct dp_dof_rel rel = {
		.urelhdr = it->urelhdr,
		.entry = it->i,
		.tgt = it->tgt.index,
		.at = it->tab.off + (uint64_t)it->i * it->tab.entsize,
	};
	uint32_t type;

	dp_rd_seek(&r, rel.at);
	rel.name_off = dp_rd_u32(&r);
	type = dp_rd_u32(&r);
	rel.off = dp_rd_u64(&r);
	if (!dp_rd_ok(&r))
		return dp_err_set(e, DP_EFORMAT, rel.at, "relocation cut");
	if (type > DP_DOF_REL_DOFREL)
		return dp_err_set(e, DP_EUNSUP, rel.at + 4,
		                  "relocation of type %" PRIu32, type);
	rel.type = (enum dp_dof_reltype)type;
	if (rel.type != DP_DOF_REL_NONE) {
		rel.word_at = it->tgt.off + rel.off;
		if (!check_word(it, &rel, e))
			return false;
		rel.strs = it->strs;
	}
	*rel_ret = rel;
	return true;
}

/* No consumer reads the name, so a bad one costs nothing else. */
struct dp_bytes
dp_dof_rel_name(const struct dp_dof_rel *rel)
{
	struct dp_bytes name = { NULL, 0 };

	(void)dp_dof_str(rel->strs, rel->name_off, DP_MAX_DOF_FUNC, &name);
	return name;
}

static bool
fail(struct dp_dof_rels *it)
{
	it->failed = true;
	it->i = it->n = 0;
	it->sec = it->d->secnum;
	return false;
}

bool
dp_dof_rels_next(struct dp_dof_rels *it, struct dp_dof_rel *rel_ret,
                 struct dp_err *e)
{
	struct dp_dof_rel rel = { .entry = 0 };

	for (;;) {
		uint32_t sec;

		while (it->i < it->n) {
			if (!read_rel(it, &rel, e))
				return fail(it);
			it->i++;
			if (rel.type != DP_DOF_REL_NONE) {
				*rel_ret = rel;
				return true;
			}
		}
		sec = dp_dof_find(it->d, DP_DOF_URELHDR, it->sec);
		if (sec == it->d->secnum)
			return false;
		it->sec = sec + 1;
		if (!enter(it, sec, e))
			return fail(it);
	}
}
