/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Images in which every field, byte and length is wrong once.  Nothing may
 * be read outside, run for long, or leak: that is for the sanitizers and
 * the time limit to see; exercise() checks what it is promised.
 */
#include "elfutil.h"

#include "elfexercise.h"

static const struct kind {
	unsigned word;
	enum dp_order order;
} kinds[] = { { 4, DP_LE }, { 4, DP_BE }, { 8, DP_LE }, { 8, DP_BE } };

static void
put_rel(struct dp_buf *b, const struct img *im, uint64_t off, unsigned type)
{
	put(b, im->order, off, im->word);
	put(b, im->order,
	    im->word == 4 ? 1U << 8 | type : UINT64_C(1) << 32 | type,
	    im->word);
}

/* A little of everything in one image; `obj` for a relocatable object. */
static void
make_rich(struct img *im, bool obj, struct dp_buf *out)
{
	static const uint64_t none[] = { 0, 0 }, f[] = { 0x1000, 8 },
			      g[] = { 0x1004, 0x40 };
	static const uint8_t id[] = { 1, 2, 3, 4 };
	struct img_sec *s;

	im->type = obj ? ET_REL : ET_DYN;
	im->machine = obj ? EM_PPC64 : EM_X86_64;
	s = add_sec(im, ".rodata", SHT_PROGBITS, 2, 0x1000);
	must(dp_buf_add(&s->data, "abc\0def\0\177DOF\0\0\0\0", 16));
	s = add_sec(im, ".symtab", SHT_SYMTAB, 0, 0);
	s->link = 3;
	put_sym(&s->data, im, 0, 0, 0, none);
	put_sym(&s->data, im, 1, 0x12, obj ? 7 : 1, f);
	put_sym(&s->data, im, 6, 0x12, SHN_XINDEX, g);
	s = add_sec(im, ".strtab", SHT_STRTAB, 0, 0);
	must(dp_buf_add(&s->data, "\0name\0na@@V1", 13));
	s = add_sec(im, ".rela.SUNW_dof", SHT_RELA, obj ? 0 : 2, 0);
	s->link = 2;
	s->info = obj ? 7 : 0;
	put_rel(&s->data, im, obj ? 0 : 0x3000, 1);
	put(&s->data, im->order, 7, im->word);
	s = add_sec(im, ".rel.x", SHT_REL, 2, 0);
	s->link = 2;
	s->info = 7;
	put_rel(&s->data, im, obj ? 8 : 0x3008, 38);
	s = add_sec(im, ".relr.dyn", SHT_RELR, 2, 0);
	put(&s->data, im->order, 0x3000, im->word);
	put(&s->data, im->order, 0xf1, im->word);
	s = add_sec(im, obj ? ".opd" : ".SUNW_dof",
	            obj ? SHT_PROGBITS : DP_SHT_SUNW_DOF, 2, 0x3000);
	must(dp_buf_add(&s->data, "\177DOF56789abcdef0123456789", 24));
	s = add_sec(im, ".symtab_shndx", SHT_SYMTAB_SHNDX, 0, 0);
	s->link = 2;
	for (unsigned i = 0; i < 3; i++)
		put(&s->data, im->order, 1, 4);
	s = add_sec(im, ".note.gnu.build-id", SHT_NOTE, 2, 0x4000);
	put(&s->data, im->order, 4, 4);
	put(&s->data, im->order, sizeof id, 4);
	put(&s->data, im->order, NT_GNU_BUILD_ID, 4);
	must(dp_buf_add(&s->data, "GNU", 4));
	must(dp_buf_add(&s->data, id, sizeof id));
	s = add_sec(im, ".gnu_debuglink", SHT_PROGBITS, 0, 0);
	must(dp_buf_add(&s->data, "d\0\0\0crc", 8));
	s = add_sec(im, ".dynamic", SHT_DYNAMIC, 2, 0x5000);
	for (unsigned i = 0; i < 2; i++) {
		put(&s->data, im->order, i ? DT_SONAME : DT_STRTAB, im->word);
		put(&s->data, im->order, i ? 4 : 0x1000, im->word);
		put(&s->data, im->order, i ? DT_RELA : DT_STRSZ, im->word);
		put(&s->data, im->order, i ? 0x1000 : 16, im->word);
	}
	put(&s->data, im->order, DT_RELASZ, im->word);
	put(&s->data, im->order, 16, im->word);
	s = add_sec(im, ".note.stapsdt", SHT_NOTE, SHF_COMPRESSED, 0);
	put(&s->data, im->order, 1, 4);
	put(&s->data, im->order, 0, im->word == 4 ? 0 : 4);
	put(&s->data, im->order, 11, im->word);
	put(&s->data, im->order, 1, im->word);
	must(dp_buf_add(&s->data,
	                "\x78\1\1\x0b\0\xf4\xffhello world\x1a\x0b\4\x5d", 22));
	im->nsegs = 4;
	im->segs[0] = (struct img_seg){ PT_LOAD, 5, 0x1000, 1, 0, 0, 0 };
	im->segs[1] = (struct img_seg){ PT_LOAD, 6, 0x3000, 7, 0, 0, 0 };
	im->segs[2] = (struct img_seg){ PT_DYNAMIC, 6, 0x5000, 11, 0, 0, 0 };
	im->segs[3] = (struct img_seg){ PT_NOTE, 4, 0x4000, 9, 0, 0, 0 };
	make_elf(im, out);
}

static void
run_exact(const struct dp_buf *b, size_t n)
{
	struct dp_bytes copy = exact((struct dp_bytes){ b->p, n });
	struct dp_src src = dp_src_mem(copy);

	exercise(&src);
	free((void *)(uintptr_t)copy.p);
}

/* Image number `i` of 8: four kinds, linked and not. */
static void
make_number(unsigned i, struct dp_buf *out, struct img *im_ret)
{
	*im_ret = (struct img){ .word = kinds[i % 4].word,
		                .order = kinds[i % 4].order };
	make_rich(im_ret, i >= 4, out);
}

/* The image as it is must be seen whole, else the rest tests nothing. */
START_TEST(test_whole)
{
	for (unsigned i = 0; i < 8; i++) {
		struct dp_err e = DP_ERR_INIT;
		struct dp_buf out = { 0 }, b = { 0 };
		struct dp_relocs rs;
		struct dp_funcs f;
		struct dp_elf elf;
		struct dp_src src;
		struct img im;
		struct dp_relrange g = { i < 4 ? 0x3000 : 0, 24, 7 };

		make_number(i, &out, &im);
		src = dp_src_mem(dp_buf_bytes(&out));
		ck_ok(dp_elf_open(&elf, &src, &e), e);
		ck_ok(dp_elf_build_id(&elf, &b, &e), e);
		ck_assert_uint_eq(b.n, 4);
		ck_ok(dp_elf_soname(&elf, &b, &e), e);
		ck_assert(dp_bytes_is(dp_buf_bytes(&b), "def"));
		ck_ok(dp_elf_sec_read(&elf,
		                      dp_elf_sec_named(&elf, ".note.stapsdt"),
		                      &b, &e),
		      e);
		ck_assert_uint_eq(b.n, 11);
		ck_ok(dp_relocs_load(&rs, &elf, &g, 1, &e), e);
		ck_assert_uint_ge(rs.v.n, 2);
		ck_assert_int_eq(rs.trouble.code, DP_OK);
		dp_relocs_deinit(&rs);
		ck_ok(dp_funcs_load(&f, &elf, NULL, &e), e);
		ck_assert_uint_eq(f.v.n, i < 4 ? 2 : f.v.n);
		dp_funcs_deinit(&f);
		dp_elf_close(&elf);
		run_exact(&out, out.n);
		dp_buf_deinit(&out);
		dp_buf_deinit(&b);
	}
}
END_TEST

START_TEST(test_prefixes)
{
	for (unsigned i = 0; i < 8; i++) {
		struct dp_buf out = { 0 };
		struct img im;

		make_number(i, &out, &im);
		for (size_t n = 0; n < out.n; n++)
			run_exact(&out, n);
		dp_buf_deinit(&out);
	}
}
END_TEST

START_TEST(test_flipped_bytes)
{
	static const uint8_t masks[] = { 0xff, 0x01 };

	for (unsigned i = 0; i < 8; i++) {
		struct dp_buf out = { 0 };
		struct img im;

		make_number(i, &out, &im);
		for (size_t at = 0; at < out.n; at++)
			for (size_t k = 0; k < sizeof masks; k++) {
				out.p[at] ^= masks[k];
				run_exact(&out, out.n);
				out.p[at] ^= masks[k];
			}
		dp_buf_deinit(&out);
	}
}
END_TEST

/* Every aligned 2, 4 and 8 byte field of the image with odd values. */
START_TEST(test_fields)
{
	static const uint64_t values[] = {
		0,
		1,
		3,
		0x7fffffff,
		0x80000000,
		0xffffffff,
		0xfffffff8,
		0x7fffffffffffffff,
		0x8000000000000000,
		UINT64_MAX,
		UINT64_MAX - 7,
		1U << 28,
		(1U << 28) + 1,
		1U << 30,
	};

	for (unsigned i = 0; i < 8; i++) {
		struct dp_buf out = { 0 };
		struct img im;

		make_number(i, &out, &im);
		for (unsigned w = 2; w <= 8; w *= 2)
			for (size_t at = 0; at + w <= out.n; at += w)
				for (size_t k = 0;
				     k < sizeof values / sizeof values[0];
				     k++) {
					uint8_t old[8];

					/* the same again in fewer bytes */
					if (w == 2 && k > 5)
						break;
					memcpy(old, out.p + at, w);
					put_at(&out, at, im.order, values[k],
					       w);
					run_exact(&out, out.n);
					memcpy(out.p + at, old, w);
				}
		dp_buf_deinit(&out);
	}
}
END_TEST

/* 65,535 sections that all claim to be one large table. */
START_TEST(test_many_tables)
{
	static const uint32_t types[] = { SHT_RELA, SHT_RELR, SHT_SYMTAB,
		                          SHT_NOTE, DP_SHT_SUNW_DOF };

	for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
		struct img im = { .word = 8, .order = DP_LE, .type = ET_DYN };
		struct dp_relrange g = { 0, UINT64_MAX, 0 };
		struct dp_err e = DP_ERR_INIT;
		struct dp_buf out = { 0 }, id = { 0 };
		struct dp_relocs rs;
		struct dp_elf elf;
		struct dp_src src;
		size_t at, first;
		bool ok;

		(void)add_sec(&im, ".x", types[k], SHF_ALLOC, 0);
		make_elf(&im, &out);
		at = out.n;
		first = at;
		for (unsigned i = 0; i < 65000; i++) {
			put(&out, DP_LE, 1, 4);
			put(&out, DP_LE, types[k], 4);
			put(&out, DP_LE, SHF_ALLOC, 8);
			put(&out, DP_LE, 0, 8);
			put(&out, DP_LE, 0, 8);
			put(&out, DP_LE, 65000 * 64, 8);
			put(&out, DP_LE, 1, 4);
			put(&out, DP_LE, 1, 4);
			put(&out, DP_LE, 0, 8);
			put(&out, DP_LE, 0, 8);
		}
		put_at(&out, 40, DP_LE, first, 8);
		put_at(&out, 60, DP_LE, 65000, 2);
		src = dp_src_mem(dp_buf_bytes(&out));
		ck_ok(dp_elf_open(&elf, &src, &e), e);
		ck_assert_uint_eq(elf.secs.n, 65000);
		ck_ok(dp_elf_build_id(&elf, &id, &e), e);
		ok = dp_relocs_load(&rs, &elf, &g, 1, &e);
		ck_assert(ok == (k > 1));
		ck_assert_int_eq(e.code, k > 1 ? DP_OK : DP_ELIMIT);
		dp_relocs_deinit(&rs);
		exercise_symbols(&elf);
		dp_elf_close(&elf);
		dp_buf_deinit(&out);
		dp_buf_deinit(&id);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("elf_hostile");
	TCase *t = tcase_create("hostile");

	(void)tmp_dir();
	tcase_set_timeout(t, 300);
	tcase_add_test(t, test_whole);
	tcase_add_test(t, test_prefixes);
	tcase_add_test(t, test_flipped_bytes);
	tcase_add_test(t, test_fields);
	tcase_add_test(t, test_many_tables);
	suite_add_tcase(s, t);
	return run_suite(s);
}
