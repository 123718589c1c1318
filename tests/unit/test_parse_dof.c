/* SPDX-License-Identifier: BSD-2-Clause */
/* From rawdof records to probes: dp_parser on DOFs made by hand. */
#include <elf.h>

#include "base/limits.h"
#include "dofimage.h"
#include "dofmake.h"
#include "streams.h"

enum { STR_P = 1, STR_Q = 3, STR_FN = 5, STR_NM = 8, STR_T = 11 };

static const uint8_t strs[] = "\0p\0q\0fn\0nm\0t1\0t2\0t3";
static const uint32_t offs[] = { 0x10, 0x20, 0x30, 0xfffffff0 };
static const uint32_t enoffs[] = { 8, 0x18 };

/* What most tests use: a probe at `addr` with two sites and a test. */
static struct mk_probe
simple_probe(uint64_t addr)
{
	return (struct mk_probe){ .addr = addr,
		                  .func = STR_FN,
		                  .name = STR_NM,
		                  .noffs = 2,
		                  .nenoffs = 1 };
}

/* Of `n` providers; the probe of the first one is at the result. */
static uint64_t
make(struct dp_buf *b, uint8_t version, const struct mk_prov *provs, uint32_t n)
{
	const struct mk_dof d = { .order = DP_LE,
		                  .version = version,
		                  .strs = { strs, sizeof strs },
		                  .map = LIT("\0\1\2"),
		                  .offs = offs,
		                  .noffs = LEN(offs),
		                  .enoffs = enoffs,
		                  .nenoffs = LEN(enoffs),
		                  .provs = provs,
		                  .nprovs = n };

	return mk_dof(b, &d);
}

static const struct dp_rec_object exe = {
	.format = DPR_FORMAT_ELF,
	.class = 64,
	.e_type = ET_EXEC,
	.machine = EM_X86_64,
	.path = { (const uint8_t *)"/bin/x", 6 },
};

/* Code at 0x401000 to 0x405000, the last page without file behind it. */
static void
put_segments(struct lab *l)
{
	PUT(l, SEGMENT, segment, .p_type = PT_LOAD, .vaddr = 0x400000,
	    .memsz = 0x1000, .filesz = 0x1000, .flags = PF_R);
	PUT(l, SEGMENT, segment, .p_type = PT_LOAD, .vaddr = 0x401000,
	    .fileoff = 0x1000, .memsz = 0x4000, .filesz = 0x3000,
	    .flags = PF_R | PF_X);
}

/* One DOF with one provider of one probe in object `o`. */
static void
one_probe(struct lab *l, const struct dp_rec_object *o, uint8_t version,
          uint64_t addr, uint32_t rel)
{
	struct mk_probe p = simple_probe(addr);
	struct mk_prov pv = { STR_P, &p, 1, rel };
	struct dp_buf b = { 0 };

	make(&b, version, &pv, 1);
	lab_open(l, o);
	put_segments(l);
	PUT(l, RAWDOF, rawdof, .vaddr = 0x600000, .fileoff = 0x500,
	    .section = LIT(".SUNW_dof"), .bytes = dp_buf_bytes(&b));
	lab_close(l);
	dp_buf_deinit(&b);
}

static void
ck_why(const struct dp_rec_site *s, const char *why)
{
	if (why == NULL)
		ck_assert_msg(s->attachable, "%.*s", (int)s->why.n,
		              (const char *)s->why.p);
	else
		ck_str(s->why, why);
}

START_TEST(everything_in_both_orders)
{
	struct dp_rec_object o = exe;
	struct img m = img_make(_i == 0 ? DP_LE : DP_BE, 0);
	const struct dp_rec_provider *pv;
	const struct dp_rec_probe *pr;
	const struct dp_rec_dof *d;
	struct lab l;

	o.order = _i == 0 ? DPR_ORDER_LSB : DPR_ORDER_MSB;
	lab_open(&l, &o);
	put_segments(&l);
	PUT(&l, RAWDOF, rawdof, .vaddr = 0x600000, .fileoff = 0x500,
	    .section = LIT("s"), .bytes = img_bytes(&m));
	lab_close(&l);
	d = NTH(&l, DOF, dof, 0);
	ck_assert(dp_bytes_eq(d->raw, img_bytes(&m)));
	ck_assert(d->version == 3 && d->model == DPR_MODEL_LP64);
	ck_assert_uint_eq(d->order, o.order);
	ck_assert(d->vaddr == 0x600000 && d->fileoff == 0x500);
	ck_assert_uint_eq(d->digest.n, 32);
	ck_str(d->section, "s");
	pv = NTH(&l, PROVIDER, provider, 0);
	ck_str(pv->name, "prov");
	ck_assert(pv->source == DPR_SOURCE_DOF && pv->dof == 0);
	ck_assert_uint_eq(pv->attr_provider, 0x05050400);
	ck_assert_uint_eq(pv->attr_module, 0x01010000);
	ck_assert_uint_eq(pv->attr_function, 0x04040500);
	ck_assert_uint_eq(pv->attr_name, 0x07070300);
	ck_assert_uint_eq(pv->attr_args, 0x08060600);
	pr = NTH(&l, PROBE, probe, 0);
	ck_str(pr->function, "f");
	ck_str(pr->name, "start");
	ck_assert_uint_eq(pr->addr, 0x401000);
	ck_assert(pr->native.n == 2 &&
	          dp_bytes_eq(pr->native.run, LIT("int\0char *\0")));
	ck_assert(pr->translated.n == 2 &&
	          dp_bytes_eq(pr->translated.run, LIT("char *\0int\0")));
	ck_assert(dp_bytes_eq(pr->map, LIT("\1\0")));
	ck_assert_uint_eq(count_of(&l, DP_REC_SITE), 5);
	ck_assert_uint_eq(NTH(&l, SITE, site, 1)->addr, 0x401020);
	ck_assert_uint_eq(NTH(&l, SITE, site, 1)->stored, 0x20);
	ck_assert_uint_eq(NTH(&l, SITE, site, 2)->addr, 0x401008);
	ck_assert_uint_eq(NTH(&l, SITE, site, 2)->kind, DPR_SITE_IS_ENABLED);
	ck_assert_uint_eq(NTH(&l, SITE, site, 3)->addr, 0x8000000000402030);
	ck_assert_uint_eq(NTH(&l, SITE, site, 4)->addr, 0x8000000000402018);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 0)->kind, DPR_RELOC_SETX);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 0)->dof_sec, S_PROBES);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 0)->dof_off, 0);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 0)->width, 8);
	ck_str(NTH(&l, RELOC, reloc, 0)->symbol, "f");
	ck_str(NTH(&l, RELOC, reloc, 1)->symbol, "g");
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 1)->kind, DPR_RELOC_DOFREL);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 1)->base, DPR_BASE_DOF);
	ck_assert_int_eq(NTH(&l, RELOC, reloc, 1)->addend, AT_PROBE1);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 1)->dof_off, 48);
	ck_assert_uint_eq(count_of(&l, DP_REC_RELOC), 2);
	ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 0);
	ck_assert(l.stats.dofs == 1 && l.stats.probes == 2 &&
	          l.stats.sites == 5 && l.stats.matter == 1);
	lab_free(&l);
	free(m.p);
}
END_TEST

/* SETX asks for the bias only where there can be one. */
START_TEST(setx)
{
	static const struct {
		uint16_t e_type;
		uint8_t base;
		const char *why;
	} rows[] = {
		{ ET_EXEC, DPR_BASE_NONE, NULL },
		{ ET_DYN, DPR_BASE_BIAS, NULL },
		{ ET_REL, DPR_BASE_NONE, "relocatable object" },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct dp_rec_object o = exe;
		const struct dp_rec_reloc *r;
		struct lab l;

		o.e_type = rows[i].e_type;
		one_probe(&l, &o, 3, 0x401100, DP_DOF_REL_SETX);
		ck_assert_uint_eq(count_of(&l, DP_REC_RELOC), 1);
		r = NTH(&l, RELOC, reloc, 0);
		ck_assert_uint_eq(r->kind, DPR_RELOC_SETX);
		ck_assert_uint_eq(r->base, rows[i].base);
		ck_assert_uint_eq(r->state, DPR_RELOC_PENDING);
		ck_assert(r->addend == 0 && !r->replaces && r->dof == 0);
		ck_assert_uint_eq(l.stats.matter,
		                  rows[i].base != DPR_BASE_NONE);
		for (uint32_t s = 0; s < 3; s++)
			ck_why(NTH(&l, SITE, site, s), rows[i].why);
		lab_free(&l);
	}
}
END_TEST

/* An ELF relocation on the slot of a probe, and the SETX behind it. */
static const struct hit_row {
	const char *what;
	uint16_t e_type;
	uint8_t class;
	uint64_t addr; /* in place */
	struct dp_rec_elfrel rel;
	int64_t at; /* added to the slot's offset */
	uint32_t n; /* relocs in all; the last one is the SETX */
	uint8_t kind, base, state;
	bool replaces;
	int64_t addend;
	uint64_t sym_value;
	uint64_t site; /* link-time address of the site 0x10 */
	const char *why;
} hits[] = {
	{ "RELATIVE, lld PIE",
	  ET_DYN,
	  64,
	  0,
	  { .kind = DPR_RELKIND_RELATIVE,
	    .addend = 0x401100,
	    .explicit_addend = true,
	    .width = 8,
	    .r_type = 8 },
	  0,
	  2,
	  DPR_RELOC_ELF_RELATIVE,
	  DPR_BASE_BIAS,
	  DPR_RELOC_LOADER,
	  true,
	  0x401100,
	  0,
	  0x401110,
	  NULL },
	{ "RELATIVE, bfd PIE",
	  ET_DYN,
	  64,
	  0x401100,
	  { .kind = DPR_RELKIND_RELATIVE,
	    .addend = 0x401100,
	    .explicit_addend = true,
	    .width = 8,
	    .r_type = 8 },
	  0,
	  2,
	  DPR_RELOC_ELF_RELATIVE,
	  DPR_BASE_BIAS,
	  DPR_RELOC_LOADER,
	  true,
	  0x401100,
	  0,
	  0x401110,
	  NULL },
	{ "RELATIVE as REL, i386",
	  ET_DYN,
	  32,
	  0x401100,
	  { .kind = DPR_RELKIND_RELATIVE, .width = 4, .r_type = 8 },
	  0,
	  2,
	  DPR_RELOC_ELF_RELATIVE,
	  DPR_BASE_BIAS,
	  DPR_RELOC_LOADER,
	  false,
	  0,
	  0,
	  0x401110,
	  NULL },
	{ "on the low half of a big-endian word",
	  ET_DYN,
	  32,
	  0x401100,
	  { .kind = DPR_RELKIND_RELATIVE, .width = 4, .r_type = 8 },
	  4,
	  2,
	  DPR_RELOC_ELF_RELATIVE,
	  DPR_BASE_BIAS,
	  DPR_RELOC_LOADER,
	  false,
	  0,
	  0,
	  0x401110,
	  NULL },
	{ "symbol",
	  ET_DYN,
	  64,
	  0,
	  { .kind = DPR_RELKIND_SYMBOL,
	    .addend = 4,
	    .sym_value = 0x401100,
	    .sym_section = 12,
	    .explicit_addend = true,
	    .width = 8,
	    .r_type = 1,
	    .symbol = { (const uint8_t *)"fn", 2 } },
	  0,
	  2,
	  DPR_RELOC_ELF_SYMBOL,
	  DPR_BASE_BIAS,
	  DPR_RELOC_LOADER,
	  true,
	  4,
	  0x401100,
	  0x401114,
	  NULL },
	{ "symbol as REL, i386",
	  ET_DYN,
	  32,
	  4,
	  { .kind = DPR_RELKIND_SYMBOL,
	    .sym_value = 0x401100,
	    .sym_section = 12,
	    .width = 4,
	    .r_type = 1 },
	  0,
	  2,
	  DPR_RELOC_ELF_SYMBOL,
	  DPR_BASE_BIAS,
	  DPR_RELOC_LOADER,
	  false,
	  0,
	  0x401100,
	  0x401114,
	  NULL },
	{ "undefined symbol",
	  ET_DYN,
	  64,
	  0x401100,
	  { .kind = DPR_RELKIND_SYMBOL,
	    .explicit_addend = true,
	    .width = 8,
	    .r_type = 1 },
	  0,
	  2,
	  DPR_RELOC_ELF_SYMBOL,
	  DPR_BASE_BIAS,
	  DPR_RELOC_LOADER,
	  true,
	  0,
	  0,
	  0x10,
	  "relocation against a symbol that is not here" },
	{ "absolute symbol",
	  ET_DYN,
	  64,
	  0,
	  { .kind = DPR_RELKIND_SYMBOL,
	    .sym_value = 0x401100,
	    .sym_section = SHN_ABS,
	    .explicit_addend = true,
	    .width = 8,
	    .r_type = 1 },
	  0,
	  2,
	  DPR_RELOC_ELF_SYMBOL,
	  DPR_BASE_NONE,
	  DPR_RELOC_LOADER,
	  true,
	  0,
	  0x401100,
	  0x401110,
	  NULL },
	{ "symbol in ET_REL",
	  ET_REL,
	  64,
	  0,
	  { .kind = DPR_RELKIND_SYMBOL,
	    .addend = 0x20,
	    .sym_section = 1,
	    .explicit_addend = true,
	    .width = 8,
	    .r_type = 1 },
	  0,
	  2,
	  DPR_RELOC_ELF_SYMBOL,
	  DPR_BASE_NONE,
	  DPR_RELOC_PENDING,
	  true,
	  0x20,
	  0,
	  0x30,
	  "relocatable object" },
	{ "unknown type",
	  ET_DYN,
	  64,
	  0x401100,
	  { .kind = DPR_RELKIND_OTHER,
	    .addend = 99,
	    .sym_value = 98,
	    .explicit_addend = true,
	    .width = 8,
	    .r_type = 200 },
	  0,
	  2,
	  DPR_RELOC_ELF_OTHER,
	  DPR_BASE_NONE,
	  DPR_RELOC_PENDING,
	  false,
	  0,
	  0,
	  0x401110,
	  "relocation of a type that is not known" },
	{ "a kind from later",
	  ET_DYN,
	  64,
	  0x401100,
	  { .kind = 77,
	    .addend = 99,
	    .explicit_addend = true,
	    .width = 8,
	    .r_type = 200 },
	  0,
	  2,
	  DPR_RELOC_ELF_OTHER,
	  DPR_BASE_NONE,
	  DPR_RELOC_PENDING,
	  false,
	  0,
	  0,
	  0x401110,
	  "relocation of a type that is not known" },
	{ "the next word's",
	  ET_DYN,
	  64,
	  0x401100,
	  { .kind = DPR_RELKIND_RELATIVE,
	    .addend = 1,
	    .width = 8,
	    .explicit_addend = true },
	  8,
	  1,
	  DPR_RELOC_SETX,
	  DPR_BASE_BIAS,
	  DPR_RELOC_PENDING,
	  false,
	  0,
	  0,
	  0x401110,
	  NULL },
	{ "the one before",
	  ET_DYN,
	  64,
	  0x401100,
	  { .kind = DPR_RELKIND_RELATIVE,
	    .addend = 1,
	    .width = 8,
	    .explicit_addend = true },
	  -1,
	  1,
	  DPR_RELOC_SETX,
	  DPR_BASE_BIAS,
	  DPR_RELOC_PENDING,
	  false,
	  0,
	  0,
	  0x401110,
	  NULL },
};

static uint64_t
link_time(const struct lab *l, const struct dp_rec_site *s, uint64_t dof)
{
	struct dp_rec_reloc r[8] = { 0 };
	const struct dp_bases at = {
		.dof = dof, .wrap32 = NTH(l, OBJECT, object, 0)->class == 32
	};

	for (uint32_t i = 0; i < s->nreloc; i++)
		r[i] = *NTH(l, RELOC, reloc, s->reloc + i);
	return dp_resolve(s->addr, r, s->nreloc, &at);
}

START_TEST(slot_hit)
{
	const struct hit_row *row = &hits[_i];
	struct mk_probe p = simple_probe(row->addr);
	struct mk_prov pv = { STR_P, &p, 1, DP_DOF_REL_SETX };
	struct dp_record rel = { .type = DP_REC_ELFREL, .elfrel = row->rel };
	struct dp_rec_object o = exe;
	const struct dp_rec_reloc *r;
	struct dp_buf b = { 0 };
	struct lab l;

	rel.elfrel.offset = make(&b, 3, &pv, 1) + (uint64_t)row->at;
	o.e_type = row->e_type;
	o.class = row->class;
	lab_open(&l, &o);
	put_segments(&l);
	lab_put(&l, &rel);
	PUT(&l, RAWDOF, rawdof, .vaddr = 0x600000, .bytes = dp_buf_bytes(&b));
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_RELOC), row->n);
	r = NTH(&l, RELOC, reloc, 0);
	ck_assert_msg(r->kind == row->kind && r->base == row->base &&
	                      r->replaces == row->replaces &&
	                      r->addend == row->addend &&
	                      r->sym_value == row->sym_value,
	              "%s: reloc %u base %u addend %lld", row->what, r->kind,
	              r->base, (long long)r->addend);
	if (row->n == 2) {
		ck_assert_uint_eq(r->r_type, row->rel.r_type);
		ck_assert_uint_eq(r->width, row->rel.width);
		ck_assert(dp_bytes_eq(r->symbol, row->rel.symbol));
	}
	r = NTH(&l, RELOC, reloc, row->n - 1);
	ck_assert_uint_eq(r->kind, DPR_RELOC_SETX);
	ck_assert_msg(r->state == row->state, "%s: state of SETX", row->what);
	ck_assert_msg(link_time(&l, NTH(&l, SITE, site, 0), 0x600000) ==
	                      row->site,
	              "%s", row->what);
	ck_why(NTH(&l, SITE, site, 0), row->why);
	lab_free(&l);
	dp_buf_deinit(&b);
}
END_TEST

/* PC-relative and DOFREL: the DOF's own address cancels out. */
START_TEST(slot_pcrel)
{
	struct mk_probe p = simple_probe(0);
	struct mk_prov pv = { STR_P, &p, 1, DP_DOF_REL_DOFREL };
	struct dp_rec_object o = exe;
	struct dp_buf b = { 0 };
	struct lab l;
	uint64_t at = make(&b, 3, &pv, 1);

	o.e_type = ET_REL;
	lab_open(&l, &o);
	PUT(&l, ELFREL, elfrel, .offset = at, .kind = DPR_RELKIND_PCREL,
	    .sym_value = 0x40, .sym_section = 1, .addend = 4, .width = 8,
	    .explicit_addend = true, .r_type = 24);
	PUT(&l, RAWDOF, rawdof, .bytes = dp_buf_bytes(&b));
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_RELOC), 2);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 0)->kind, DPR_RELOC_ELF_PCREL);
	ck_assert_int_eq(NTH(&l, RELOC, reloc, 0)->addend, 4 - (int64_t)at);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 1)->state, DPR_RELOC_PENDING);
	ck_assert_uint_eq(link_time(&l, NTH(&l, SITE, site, 0), 0), 0x54);
	lab_free(&l);
	dp_buf_deinit(&b);
}
END_TEST

/* What comes in any order and number is kept in order, and not all of it. */
START_TEST(many_hits)
{
	struct mk_probe p[2] = { simple_probe(0x401100),
		                 simple_probe(0x401200) };
	struct mk_prov pv = { STR_P, p, 2, DP_DOF_REL_SETX };
	struct dp_rec_object o = exe;
	struct dp_buf b = { 0 };
	struct lab l;
	uint64_t at = make(&b, 3, &pv, 1);

	o.e_type = ET_DYN;
	lab_open(&l, &o);
	put_segments(&l);
	PUT(&l, ELFREL, elfrel, .offset = at + 48,
	    .kind = DPR_RELKIND_RELATIVE);
	for (int64_t i = 0; i < 20; i++)
		PUT(&l, ELFREL, elfrel, .offset = at, .addend = i,
		    .kind = DPR_RELKIND_RELATIVE);
	PUT(&l, RAWDOF, rawdof, .bytes = dp_buf_bytes(&b));
	/* they were for that one, not for this one */
	PUT(&l, RAWDOF, rawdof, .bytes = dp_buf_bytes(&b));
	lab_close(&l);
	ck_assert_uint_eq(NTH(&l, PROBE, probe, 0)->nreloc, 4);
	ck_why(NTH(&l, SITE, site, 0), "too many relocations of one word");
	ck_why(NTH(&l, SITE, site, 3), NULL);
	ck_assert_uint_eq(NTH(&l, PROBE, probe, 1)->nreloc, 2);
	ck_assert_uint_eq(NTH(&l, PROBE, probe, 2)->nreloc, 1);
	ck_assert_uint_eq(NTH(&l, PROBE, probe, 3)->nreloc, 1);
	lab_free(&l);
	dp_buf_deinit(&b);
}
END_TEST

/* Three of the ELF file leave room for one; SETX must not take the third. */
START_TEST(full_word)
{
	for (int n = 2; n < 6; n++) {
		struct mk_probe p = simple_probe(0x401100);
		struct mk_prov pv = { STR_P, &p, 1, DP_DOF_REL_SETX };
		struct dp_rec_object o = exe;
		struct dp_buf b = { 0 };
		struct lab l;
		uint64_t at = make(&b, 3, &pv, 1);

		o.e_type = ET_DYN;
		lab_open(&l, &o);
		put_segments(&l);
		for (int i = 0; i < n; i++)
			PUT(&l, ELFREL, elfrel, .offset = at,
			    .kind = DPR_RELKIND_RELATIVE);
		PUT(&l, RAWDOF, rawdof, .bytes = dp_buf_bytes(&b));
		lab_close(&l);
		ck_assert_uint_eq(count_of(&l, DP_REC_RELOC),
		                  n < 4 ? (unsigned)n + 1 : 4);
		for (uint32_t i = 0; i < count_of(&l, DP_REC_RELOC); i++)
			ck_assert_uint_eq(NTH(&l, RELOC, reloc, i)->state,
			                  i == (unsigned)n ? DPR_RELOC_LOADER
			                                   : DPR_RELOC_PENDING);
		ck_why(NTH(&l, SITE, site, 0),
		       n < 4 ? NULL : "too many relocations of one word");
		lab_free(&l);
		dp_buf_deinit(&b);
	}
}
END_TEST

/* Loaders store the sum of a RELA: of several the last one stays. */
START_TEST(stored_twice)
{
	struct mk_probe p = simple_probe(0x7000);
	struct mk_prov pv = { STR_P, &p, 1, DP_DOF_REL_SETX };
	struct dp_rec_object o = exe;
	struct dp_buf b = { 0 };
	struct lab l;
	uint64_t at = make(&b, 3, &pv, 1);

	o.e_type = ET_DYN;
	lab_open(&l, &o);
	put_segments(&l);
	PUT(&l, ELFREL, elfrel, .offset = at, .kind = DPR_RELKIND_OTHER);
	for (int64_t i = 0; i < 40; i++)
		PUT(&l, ELFREL, elfrel, .offset = at, .addend = 0x401100 + i,
		    .kind = DPR_RELKIND_RELATIVE, .explicit_addend = true);
	PUT(&l, RAWDOF, rawdof, .bytes = dp_buf_bytes(&b));
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_RELOC), 2);
	ck_assert_uint_eq(link_time(&l, NTH(&l, SITE, site, 0), 0), 0x401137);
	ck_why(NTH(&l, SITE, site, 0), NULL);
	lab_free(&l);
	dp_buf_deinit(&b);
}
END_TEST

/*
 * The image has one on each of two probes: moved behind the addresses they
 * hit nothing.  Those of a probe or a provider that failed are not meant.
 */
START_TEST(stray_relocations)
{
	static const struct {
		uint64_t off[2]; /* of the words in the PROBES section */
		uint32_t name;   /* of the first probe */
		uint32_t prov;   /* name of the provider */
		uint32_t errors;
		const char *msg;
	} rows[] = {
		{ { 0, 48 }, STR_START, STR_PROV, 0, NULL },
		{ { 0, 0 }, STR_START, STR_PROV, 0, NULL },
		{ { 8, 48 },
		  STR_START,
		  STR_PROV,
		  1,
		  "relocation of 0x168 hits no probe's address (1 of them)" },
		{ { 56, 8 },
		  STR_START,
		  STR_PROV,
		  1,
		  "relocation of 0x168 hits no probe's address (2 of them)" },
		{ { 0, 48 }, 0xffff, STR_PROV, 1, NULL },
		{ { 0, 48 }, STR_START, 0xffff, 1, NULL },
	};

	ck_assert_uint_eq(AT_PROBES + 8, 0x168);
	for (size_t i = 0; i < LEN(rows); i++) {
		struct img m = img_make(DP_LE, 0);
		const struct dp_rec_error *err;
		struct lab l;

		img_put(&m, AT_RELTAB + 8, 8, rows[i].off[0]);
		img_put(&m, AT_RELTAB + 32, 8, rows[i].off[1]);
		img_put(&m, AT_PROBES + 12, 4, rows[i].name);
		img_put(&m, AT_PROVIDER + 16, 4, rows[i].prov);
		lab_open(&l, &exe);
		PUT(&l, RAWDOF, rawdof, .fileoff = 0x500,
		    .bytes = img_bytes(&m));
		lab_close(&l);
		ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), rows[i].errors);
		if (rows[i].msg != NULL) {
			err = NTH(&l, ERROR, error, 0);
			ck_str(err->message, rows[i].msg);
			ck_assert_uint_eq(err->reach, DPR_REACH_DOF);
			ck_assert_uint_eq(err->offset,
			                  0x500 + AT_RELTAB +
			                          (i == 3 ? 24 : 0));
		}
		lab_free(&l);
		free(m.p);
	}
}
END_TEST

START_TEST(several_providers)
{
	struct mk_probe p[2] = { simple_probe(0x401100),
		                 simple_probe(0x402000) };
	struct mk_prov pv[3] = { { STR_P, p, 2, DP_DOF_REL_SETX },
		                 { STR_Q, NULL, 0, DP_DOF_REL_NONE },
		                 { STR_Q, p, 1, DP_DOF_REL_NONE } };
	struct dp_buf b = { 0 };
	struct lab l;

	make(&b, 3, pv, 3);
	lab_open(&l, &exe);
	put_segments(&l);
	for (int i = 0; i < 2; i++)
		PUT(&l, RAWDOF, rawdof, .bytes = dp_buf_bytes(&b));
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_DOF), 2);
	ck_assert_uint_eq(count_of(&l, DP_REC_PROVIDER), 6);
	ck_assert_uint_eq(count_of(&l, DP_REC_PROBE), 6);
	ck_assert_uint_eq(count_of(&l, DP_REC_SITE), 18);
	ck_assert_uint_eq(NTH(&l, PROVIDER, provider, 3)->dof, 1);
	ck_assert_uint_eq(NTH(&l, PROBE, probe, 2)->provider, 2);
	ck_assert_uint_eq(NTH(&l, PROBE, probe, 5)->provider, 5);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 2)->kind, DPR_RELOC_PLAIN);
	ck_assert_uint_eq(NTH(&l, RELOC, reloc, 5)->dof, 1);
	ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 0);
	lab_free(&l);
	dp_buf_deinit(&b);
}
END_TEST

START_TEST(is_enabled)
{
	for (uint8_t version = 2; version <= 3; version++) {
		struct lab l;

		one_probe(&l, &exe, version, 0x401100, DP_DOF_REL_SETX);
		ck_why(NTH(&l, SITE, site, 0), NULL);
		ck_assert_uint_eq(NTH(&l, SITE, site, 2)->kind,
		                  DPR_SITE_IS_ENABLED);
		ck_why(NTH(&l, SITE, site, 2),
		       version == 3 ? NULL
		                    : "is-enabled site of DOF version 2");
		lab_free(&l);
	}
}
END_TEST

/* Where a site may not lie. */
START_TEST(places)
{
	static const struct {
		uint64_t addr;
		const char *why;
	} rows[] = {
		{ 0x400100, "address in a segment that is not executable" },
		{ 0x400000, "address in the ELF header: its code was dropped" },
		{ 0x40001f, "address in the ELF header: its code was dropped" },
		{ 0x400040, "address in a segment that is not executable" },
		{ 0x401000, NULL },
		{ 0x403fd0, NULL },
		{ 0x404000, "address behind the file part of its segment" },
		{ 0x405000, "address in no segment" },
		{ 0x1000, "address in no segment" },
		{ UINT64_MAX - 0x20, "address in no segment" },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct lab l;

		one_probe(&l, &exe, 3, rows[i].addr, DP_DOF_REL_SETX);
		for (uint32_t s = 0; s < 3; s++)
			ck_why(NTH(&l, SITE, site, s), rows[i].why);
		lab_free(&l);
	}
}
END_TEST

/* Who counts as Apple's, and what the others are. */
static const struct apple_row {
	uint8_t format, origin, version;
	uint64_t addr;
	uint16_t machine;
	uint32_t rel;
	uint8_t kind, base;
	int64_t addend;
	bool apple;
	const char *why;
} apples[] = {
	{ DPR_FORMAT_MACHO, DPR_ORIGIN_FILE, 3, 0, EM_X86_64, DP_DOF_REL_SETX,
	  DPR_RELOC_APPLE, DPR_BASE_DOF, -1, true, "not an ELF object" },
	{ DPR_FORMAT_MACHO, DPR_ORIGIN_FILE, 3, 0, EM_386, DP_DOF_REL_SETX,
	  DPR_RELOC_APPLE, DPR_BASE_DOF, -1, true, "not an ELF object" },
	{ DPR_FORMAT_MACHO, DPR_ORIGIN_FILE, 3, 0, EM_AARCH64, DP_DOF_REL_SETX,
	  DPR_RELOC_APPLE, DPR_BASE_DOF, 0, true, "not an ELF object" },
	{ DPR_FORMAT_MACHO, DPR_ORIGIN_FILE, 3, 0x1000, EM_X86_64,
	  DP_DOF_REL_SETX, DPR_RELOC_SETX, DPR_BASE_BIAS, 0, false,
	  "not an ELF object" },
	{ DPR_FORMAT_NONE, DPR_ORIGIN_FILE, 3, 0, EM_X86_64, DP_DOF_REL_SETX,
	  DPR_RELOC_APPLE, DPR_BASE_DOF, -1, true, "DOF without its object" },
	{ DPR_FORMAT_NONE, DPR_ORIGIN_FILE, 3, 0, EM_NONE, DP_DOF_REL_SETX,
	  DPR_RELOC_APPLE, DPR_BASE_DOF, 0, true, "DOF without its object" },
	{ DPR_FORMAT_NONE, DPR_ORIGIN_FILE, 2, 0, EM_X86_64, DP_DOF_REL_SETX,
	  DPR_RELOC_SETX, DPR_BASE_BIAS, 0, false, NULL },
	{ DPR_FORMAT_NONE, DPR_ORIGIN_FILE, 3, 0x10, EM_X86_64, DP_DOF_REL_SETX,
	  DPR_RELOC_SETX, DPR_BASE_BIAS, 0, false, "DOF without its object" },
	{ DPR_FORMAT_NONE, DPR_ORIGIN_FILE, 3, 0, EM_X86_64, DP_DOF_REL_NONE,
	  DPR_RELOC_PLAIN, DPR_BASE_NONE, 0, false, "DOF without its object" },
	{ DPR_FORMAT_NONE, DPR_ORIGIN_MEMORY, 3, 0, EM_X86_64, DP_DOF_REL_SETX,
	  DPR_RELOC_SETX, DPR_BASE_BIAS, 0, false, NULL },
	/* libusdt registers addresses of the process, without relocations */
	{ DPR_FORMAT_NONE, DPR_ORIGIN_MEMORY, 3, 0x7f0000001000, EM_X86_64,
	  DP_DOF_REL_NONE, DPR_RELOC_PLAIN, DPR_BASE_NONE, 0, false, NULL },
	{ DPR_FORMAT_ELF, DPR_ORIGIN_FILE, 3, 0x401100, EM_X86_64,
	  DP_DOF_REL_NONE, DPR_RELOC_PLAIN, DPR_BASE_BIAS, 0, false, NULL },
	{ DPR_FORMAT_ELF, DPR_ORIGIN_FILE, 3, 0, EM_X86_64, DP_DOF_REL_SETX,
	  DPR_RELOC_SETX, DPR_BASE_BIAS, 0, false, "address in no segment" },
};

START_TEST(apple)
{
	const struct apple_row *row = &apples[_i];
	struct mk_probe p = simple_probe(row->addr);
	struct mk_prov pv = { STR_P, &p, 1, row->rel };
	struct dp_rec_object o = { .format = row->format,
		                   .origin = row->origin,
		                   .machine = row->machine,
		                   .class = 64 };
	const struct dp_rec_reloc *r;
	const struct dp_rec_site *s;
	struct dp_buf b = { 0 };
	struct lab l;

	p.noffs = 4; /* the last one is -16 */
	make(&b, row->version, &pv, 1);
	lab_open(&l, &o);
	if (row->format == DPR_FORMAT_ELF)
		put_segments(&l);
	PUT(&l, RAWDOF, rawdof, .vaddr = 0x9000, .bytes = dp_buf_bytes(&b));
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_RELOC), 1);
	r = NTH(&l, RELOC, reloc, 0);
	ck_assert_uint_eq(r->kind, row->kind);
	ck_assert_uint_eq(r->base, row->base);
	ck_assert_int_eq(r->addend, row->addend);
	s = NTH(&l, SITE, site, 3);
	ck_assert_uint_eq(s->stored, row->apple ? (uint64_t)-16 : 0xfffffff0);
	ck_assert_uint_eq(s->addr, row->addr + s->stored);
	if (row->apple)
		ck_assert_uint_eq(link_time(&l, s, 0x9000),
		                  0x9000 - 16 + (uint64_t)row->addend);
	if (row->version == 3)
		ck_why(NTH(&l, SITE, site, 0), row->why);
	lab_free(&l);
	dp_buf_deinit(&b);
}
END_TEST

/* A bad probe between good ones, a bad provider between good ones. */
START_TEST(reach_of_errors)
{
	struct mk_probe p[3] = { simple_probe(0x401100), simple_probe(0x401200),
		                 simple_probe(0x401300) };
	struct mk_prov pv[3] = { { STR_P, p, 3, DP_DOF_REL_SETX },
		                 { 0xffff, p, 1, DP_DOF_REL_NONE },
		                 { STR_Q, p, 1, DP_DOF_REL_NONE } };
	struct dp_buf b = { 0 };
	const struct dp_rec_error *err;
	struct lab l;
	uint64_t at;

	p[1].name = 0xffff;
	at = make(&b, 3, pv, 3);
	lab_open(&l, &exe);
	put_segments(&l);
	PUT(&l, RAWDOF, rawdof, .fileoff = 0x500, .bytes = dp_buf_bytes(&b));
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_PROVIDER), 2);
	ck_assert_uint_eq(count_of(&l, DP_REC_PROBE), 3);
	ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 2);
	ck_assert_uint_eq(NTH(&l, PROBE, probe, 1)->addr, 0x401300);
	err = NTH(&l, ERROR, error, 0);
	ck_assert_uint_eq(err->reach, DPR_REACH_PROBE);
	ck_assert_uint_eq(err->code, DPR_CODE_FORMAT);
	ck_assert_uint_ge(err->offset, 0x500 + at + 48);
	ck_assert_uint_lt(err->offset, 0x500 + at + 96);
	ck_assert(err->message.n > 9 &&
	          memcmp(err->message.p, "probe 1: ", 9) == 0);
	ck_str(err->input, "/bin/x");
	ck_assert_uint_eq(NTH(&l, ERROR, error, 1)->reach, DPR_REACH_PROVIDER);
	ck_assert_uint_eq(l.stats.errors, 2);
	lab_free(&l);
	dp_buf_deinit(&b);
}
END_TEST

/* A DOF that is refused is still there for a later version to read. */
START_TEST(refused_whole)
{
	static const struct {
		struct dp_bytes raw;
		uint8_t code, version, order;
	} rows[] = {
		{ LIT(""), DPR_CODE_FORMAT, 0, DPR_ORDER_NONE },
		{ LIT("\177DOF"), DPR_CODE_FORMAT, 0, DPR_ORDER_NONE },
		{ LIT("\177DOF\2\2\x09\0\0\0\0\0\0\0\0\0"
		      "\0\0\0\0\0\0\0\x40\0\0\0\x20\0\0\0\0"
		      "\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\x40"
		      "\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\0"),
		  DPR_CODE_UNSUP, 9, DPR_ORDER_MSB },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct dp_bytes raw = exact_copy(rows[i].raw);
		const struct dp_rec_dof *d;
		struct lab l;

		lab_open(&l, &exe);
		PUT(&l, RAWDOF, rawdof, .fileoff = 0x500, .bytes = raw);
		lab_close(&l);
		d = NTH(&l, DOF, dof, 0);
		ck_assert(dp_bytes_eq(d->raw, raw));
		ck_assert_uint_eq(d->version, rows[i].version);
		ck_assert_uint_eq(d->order, rows[i].order);
		ck_assert_uint_eq(NTH(&l, ERROR, error, 0)->code, rows[i].code);
		ck_assert_uint_eq(NTH(&l, ERROR, error, 0)->reach,
		                  DPR_REACH_DOF);
		ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 1);
		ck_assert_uint_eq(count_of(&l, DP_REC_PROVIDER), 0);
		lab_free(&l);
		free((void *)(uintptr_t)raw.p);
	}
}
END_TEST

/*
 * A rawdof record can be as large as a record gets, and the dof record made
 * of it is a little larger: that must cost this DOF, not the stream.
 */
START_TEST(too_large_to_pass_on)
{
	const size_t n =
		DP_MAX_RECORD - dp_size_rawdof(&(struct dp_rec_rawdof){ 0 });
	uint8_t *p = calloc(1, n);
	struct dp_record rec = { .type = DP_REC_RAWDOF,
		                 .rawdof = { .bytes = { p, n } } };
	struct dp_err e = DP_ERR_INIT;
	struct lab l;

	ck_assert_ptr_nonnull(p);
	lab_open(&l, &exe);
	ck_assert_msg(dp_parser_put(l.p, &rec, &e), "the stream ends here: %s",
	              e.msg);
	lab_close(&l);
	ck_assert_uint_eq(NTH(&l, ERROR, error, 0)->reach, DPR_REACH_DOF);
	lab_free(&l);
	free(p);
}
END_TEST

/* Stats and the last error alone: some DOFs spell out millions. */
struct totals {
	struct dp_parse_stats stats;
	uint32_t errors; /* told of */
	struct dp_err last;
};

static void
count_error(void *ctx, struct dp_bytes input, const struct dp_err *what)
{
	struct totals *t = ctx;

	(void)input;
	t->errors++;
	t->last = *what;
}

static void
totals_of(const struct mk_dof *d, struct totals *t)
{
	const struct dp_parse_opts opts = { .complain = count_error, .ctx = t };
	struct dp_err e = DP_ERR_INIT;
	struct dp_buf b = { 0 };
	struct dp_parser *p;
	struct dp_writer w;

	memset(t, 0, sizeof *t);
	mk_dof(&b, d);
	dp_writer_init(&w, (struct dp_sink){ null_sink, NULL }, false);
	p = dp_parser_create(&w, &opts);
	ck_assert_ptr_nonnull(p);
	ck_ok(dp_parser_bare(p, LIT("x"), dp_buf_bytes(&b), &e), e);
	t->stats = *dp_parser_stats(p);
	dp_parser_destroy(p);
	dp_writer_deinit(&w);
	dp_buf_deinit(&b);
}

enum {
	MANY = DP_DOF_MAX_KIND_SITES,
	FULL = DP_MAX_DOF_SITES / MANY, /* probes with that many sites */
	REST = DP_MAX_DOF_SITES % MANY,
};

/* 17 probes that share one list of offsets; the last one has `rest`. */
static void
site_totals(uint16_t rest, struct totals *t)
{
	static uint32_t many[MANY];
	struct mk_probe p[FULL + 2];
	const struct mk_prov pv = { STR_P, p, FULL + 2, DP_DOF_REL_NONE };
	const struct mk_dof d = { .order = DP_LE,
		                  .version = 3,
		                  .strs = { strs, sizeof strs },
		                  .offs = many,
		                  .noffs = MANY,
		                  .provs = &pv,
		                  .nprovs = 1 };

	for (uint32_t i = 0; i < MANY; i++)
		many[i] = i;
	for (uint32_t i = 0; i < FULL + 2; i++) {
		p[i] = simple_probe(0x401000 + i);
		p[i].nenoffs = 0;
		p[i].noffs = i < FULL ? MANY : i == FULL ? rest : 1;
	}
	totals_of(&d, t);
}

START_TEST(sites_in_all)
{
	struct totals t;

	site_totals(REST - 1, &t); /* and the last probe's one */
	ck_assert_uint_eq(t.stats.sites, DP_MAX_DOF_SITES);
	ck_assert_uint_eq(t.stats.probes, FULL + 2);
	ck_assert_uint_eq(t.errors, 0);
	site_totals(REST, &t);
	ck_assert_uint_eq(t.stats.sites, DP_MAX_DOF_SITES);
	ck_assert_uint_eq(t.errors, 1);
	ck_assert_int_eq(t.last.code, DP_ELIMIT);
	site_totals(REST + 1, &t);
	ck_assert_uint_eq(t.stats.sites, (uint64_t)FULL * MANY);
	ck_assert_uint_eq(t.stats.probes, FULL);
	ck_assert_uint_eq(t.errors, 1);
	ck_assert_int_eq(t.last.code, DP_ELIMIT);
}
END_TEST

/* Sorting is paid for also when the probe is refused because of it. */
START_TEST(sites_sorted_in_vain)
{
	static uint32_t many[MANY];
	static struct mk_probe p[4 * FULL];
	const struct mk_prov pv = { STR_P, p, LEN(p), DP_DOF_REL_NONE };
	const struct mk_dof d = { .order = DP_LE,
		                  .version = 3,
		                  .strs = { strs, sizeof strs },
		                  .offs = many,
		                  .noffs = MANY,
		                  .provs = &pv,
		                  .nprovs = 1 };
	struct totals t;

	for (uint32_t i = 1; i < MANY; i++)
		many[i] = MANY - i;
	many[0] = 1; /* as the last one */
	for (uint32_t i = 0; i < LEN(p); i++) {
		p[i] = simple_probe(0x401000 + i);
		p[i].nenoffs = 0;
		p[i].noffs = MANY;
	}
	totals_of(&d, &t);
	ck_assert_uint_eq(t.stats.probes, 0);
	ck_assert_uint_eq(t.errors, FULL + 1);
	ck_assert_int_eq(t.last.code, DP_ELIMIT);
}
END_TEST

enum {
	TYPES = 2 * 255,
	TYPED = DP_MAX_DOF_TYPES / TYPES, /* probes with that many types */
};

/* Probes that share 255 native and 255 translated types; `rest` on top. */
static void
type_totals(uint8_t rest, struct totals *t)
{
	static uint8_t text[512];
	static uint8_t map[255];
	struct mk_probe *p = calloc(TYPED + 1, sizeof *p);
	const struct mk_prov pv = { STR_P, p, TYPED + 1, DP_DOF_REL_NONE };
	const struct mk_dof d = { .order = DP_LE,
		                  .version = 3,
		                  .strs = { text, sizeof text },
		                  .map = { map, sizeof map },
		                  .offs = offs,
		                  .noffs = LEN(offs),
		                  .provs = &pv,
		                  .nprovs = 1 };

	ck_assert_ptr_nonnull(p);
	memcpy(text, strs, sizeof strs);
	for (uint32_t i = 0; i < TYPED + 1; i++) {
		p[i] = simple_probe(0x401000 + i);
		p[i].noffs = 1;
		p[i].nenoffs = 0;
		p[i].nargv = p[i].xargv = sizeof strs;
		p[i].nargc = i < TYPED ? 255 : rest;
		p[i].xargc = i < TYPED ? 255 : 1;
	}
	totals_of(&d, t);
	free(p);
}

START_TEST(types_in_all)
{
	const uint8_t rest = DP_MAX_DOF_TYPES % TYPES - 1;
	struct totals t;

	type_totals(rest, &t);
	ck_assert_uint_eq(t.stats.probes, TYPED + 1);
	ck_assert_uint_eq(t.errors, 0);
	type_totals(rest + 1, &t);
	ck_assert_uint_eq(t.stats.probes, TYPED);
	ck_assert_uint_eq(t.errors, 1);
	ck_assert_int_eq(t.last.code, DP_ELIMIT);
}
END_TEST

/*
 * A probe that fails counts as one site, so that bad entries cannot go on
 * for ever.  When they have used the limit up, that has to be said: what is
 * behind them is lost, too.
 */
START_TEST(failed_probes_in_all)
{
	const uint32_t per = 1 << 17, nprovs = DP_MAX_DOF_SITES / per;
	struct mk_probe *p = calloc(per, sizeof *p);
	struct mk_probe good = simple_probe(0x401000);
	struct mk_prov pv[DP_MAX_DOF_SITES / (1 << 17) + 1];
	const struct mk_dof d = { .order = DP_LE,
		                  .version = 3,
		                  .strs = { strs, sizeof strs },
		                  .offs = offs,
		                  .noffs = LEN(offs),
		                  .provs = pv,
		                  .nprovs = nprovs + 1 };
	struct totals t;

	ck_assert_ptr_nonnull(p);
	for (uint32_t i = 0; i < per; i++) /* no sites: refused */
		p[i] = (struct mk_probe){ .func = STR_FN, .name = STR_NM };
	for (uint32_t i = 0; i < nprovs; i++)
		pv[i] = (struct mk_prov){ STR_P, p, per, 0 };
	good.nenoffs = 0;
	pv[nprovs] = (struct mk_prov){ STR_Q, &good, 1, 0 };
	totals_of(&d, &t);
	ck_assert_uint_eq(t.stats.probes, 0);
	ck_assert_uint_ge(t.errors, DP_MAX_DOF_SITES);
	ck_assert_uint_le(t.errors, DP_MAX_DOF_SITES + 1);
	ck_assert_msg(t.last.code == DP_ELIMIT, "a good probe was lost: %s",
	              t.last.msg);
	free(p);
}
END_TEST

/* A helper record says nothing of the file: what is of it stays the same. */
static void
with_helper(struct dp_buf *out, int where, const struct dp_bytes *dof)
{
	struct lab l;

	lab_open(&l, &exe);
	for (int i = 0; i < 4; i++) {
		if (i == where)
			PUT(&l, HELPER, helper, .pid = 7, .addr = 0x10000,
			    .module = LIT("x"));
		if (i == 0)
			put_segments(&l);
		else if (i < 3)
			PUT(&l, RAWDOF, rawdof, .bytes = *dof);
	}
	lab_close(&l);
	for (size_t i = 0; i < l.recs.n; i++) {
		const struct out_rec *o = lab_at(&l, i);
		size_t next =
			i + 1 < l.recs.n ? lab_at(&l, i + 1)->at : l.bytes.n;

		if (o->rec.type != DP_REC_HELPER &&
		    o->rec.type != DP_REC_OBJECT_END &&
		    o->rec.type != DP_REC_END)
			ck_assert(dp_buf_add(out, l.bytes.p + o->at,
			                     next - o->at));
	}
	ck_assert_uint_eq(count_of(&l, DP_REC_HELPER), where >= 0);
	lab_free(&l);
}

START_TEST(same_bytes)
{
	struct mk_probe p = simple_probe(0x401100);
	struct mk_prov pv = { STR_P, &p, 1, DP_DOF_REL_SETX };
	struct dp_buf b = { 0 }, none = { 0 };
	struct dp_bytes dof;

	make(&b, 3, &pv, 1);
	dof = dp_buf_bytes(&b);
	with_helper(&none, -1, &dof);
	for (int where = -1; where < 4; where++) {
		struct dp_buf got = { 0 };

		with_helper(&got, where, &dof);
		ck_assert_msg(
			dp_bytes_eq(dp_buf_bytes(&got), dp_buf_bytes(&none)),
			"helper at %d changes other records", where);
		dp_buf_deinit(&got);
	}
	dp_buf_deinit(&none);
	dp_buf_deinit(&b);
}
END_TEST

/* Records that stand in the input already, errors above all, go on. */
START_TEST(passed_on)
{
	struct lab l;

	lab_open(&l, &exe);
	put_segments(&l);
	PUT(&l, ERROR, error, .code = DPR_CODE_IO, .reach = DPR_REACH_DOF,
	    .message = LIT("of dofextract"));
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_SEGMENT), 2);
	ck_str(NTH(&l, ERROR, error, 0)->message, "of dofextract");
	ck_assert(l.stats.errors == 1 && l.stats.objects == 1);
	lab_free(&l);
}
END_TEST

/* Bytes behind the last whole probe entry are told of. */
START_TEST(tail_of_probes)
{
	struct img m = img_make(DP_LE, 0);
	struct lab l;

	img_put(&m, SEC(S_PROBES) + 24, 8, 95);
	img_put(&m, SEC(S_RELTAB) + 24, 8, 24); /* the one that still fits */
	lab_open(&l, &exe);
	PUT(&l, RAWDOF, rawdof, .fileoff = 0x500, .bytes = img_bytes(&m));
	lab_close(&l);
	ck_assert_uint_eq(count_of(&l, DP_REC_PROBE), 1);
	ck_assert_uint_eq(count_of(&l, DP_REC_ERROR), 1);
	ck_assert_uint_eq(NTH(&l, ERROR, error, 0)->offset,
	                  0x500 + AT_PROBES + 48);
	lab_free(&l);
	free(m.p);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("parse_dof");
	TCase *t = tcase_create("parse_dof");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, everything_in_both_orders, 0, 2);
	tcase_add_test(t, setx);
	tcase_add_loop_test(t, slot_hit, 0, (int)LEN(hits));
	tcase_add_test(t, slot_pcrel);
	tcase_add_test(t, many_hits);
	tcase_add_test(t, full_word);
	tcase_add_test(t, stray_relocations);
	tcase_add_test(t, stored_twice);
	tcase_add_test(t, several_providers);
	tcase_add_test(t, is_enabled);
	tcase_add_test(t, places);
	tcase_add_loop_test(t, apple, 0, (int)LEN(apples));
	tcase_add_test(t, reach_of_errors);
	tcase_add_test(t, refused_whole);
	tcase_add_test(t, too_large_to_pass_on);
	tcase_add_test(t, sites_in_all);
	tcase_add_test(t, sites_sorted_in_vain);
	tcase_add_test(t, types_in_all);
	tcase_add_test(t, failed_probes_in_all);
	tcase_add_test(t, same_bytes);
	tcase_add_test(t, passed_on);
	tcase_add_test(t, tail_of_probes);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_checks(suite());
}
