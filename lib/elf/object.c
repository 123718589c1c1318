/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/object.h"

#include <elf.h>

#include "base/limits.h"
#include "base/range.h"
#include "elf/hdr.h"

/* What find_counts() learns about the two tables. */
struct counts {
	uint64_t nsecs, nsegs, strndx;
};

static struct dp_elf_sec *
sec_at(const struct dp_elf *elf, size_t i)
{
	return DP_VEC_AT(&elf->secs, struct dp_elf_sec, i);
}

static struct dp_elf_seg *
seg_at(const struct dp_elf *elf, size_t i)
{
	return DP_VEC_AT(&elf->segs, struct dp_elf_seg, i);
}

/*
 * The numbers of headers.  What is too large for its 16 bits stands in
 * section 0: sh_size, sh_info, sh_link (System V gABI, "Sections").
 * A section 0 that cannot be read leaves the numbers of the header.
 */
static bool
find_counts(const struct dp_elf *elf, const struct dp_ehdr *h,
            struct counts *c_ret, struct dp_err *e)
{
	struct counts c = { h->shnum, h->phnum, h->shstrndx };
	struct dp_buf buf = { 0 };
	struct dp_elf_sec zero;
	struct dp_rd r;
	uint32_t name;
	bool ok;

	if (h->shoff == 0)
		c.nsecs = 0;
	*c_ret = c;
	if (h->shoff == 0 ||
	    (h->shnum != 0 && h->phnum != PN_XNUM && h->shstrndx != SHN_XINDEX))
		return true;
	ok = dp_src_some(&elf->src, h->shoff, &buf, dp_shdr_len(h->word), e);
	r = dp_rd_init(dp_buf_bytes(&buf), h->order);
	dp_shdr_read(&r, h->word, &zero, &name);
	if (ok && dp_rd_ok(&r) && h->shentsize >= dp_shdr_len(h->word)) {
		if (h->shnum == 0)
			c.nsecs = zero.size;
		if (h->phnum == PN_XNUM)
			c.nsegs = zero.info;
		if (h->shstrndx == SHN_XINDEX)
			c.strndx = zero.link;
		*c_ret = c;
	}
	dp_buf_deinit(&buf);
	return ok;
}

/*
 * Read a table of headers into `buf`.  True with buf->n 0 and *why set when
 * it is of no use.
 */
static bool
load_table(const struct dp_elf *elf, uint64_t off, const uint64_t n_each_max[3],
           struct dp_buf *buf, struct dp_err *why)
{
	uint64_t n = n_each_max[0], each = n_each_max[1];

	buf->n = 0;
	if (n > n_each_max[2])
		return dp_err_set(why, DP_ELIMIT, off, "%ju headers at %#jx",
		                  (uintmax_t)n, (uintmax_t)off);
	return dp_src_load(&elf->src, off, n * each, buf, why);
}

/* True when `why` is about the file and not about us. */
static bool
is_about_input(const struct dp_err *why)
{
	return why->code != DP_EIO && why->code != DP_ENOMEM;
}

static bool
load_segs(struct dp_elf *elf, const struct dp_ehdr *h, uint64_t n,
          struct dp_buf *buf)
{
	const uint64_t shape[3] = { n, h->phentsize, DP_MAX_ELF_PHDRS };
	struct dp_elf_seg *seg;
	struct dp_rd r;

	if (n == 0 || h->phoff == 0)
		return true;
	if (h->phentsize < dp_phdr_len(h->word))
		return dp_err_set(&elf->segs_why, DP_EFORMAT, h->phoff,
		                  "program headers of %u bytes", h->phentsize);
	if (!load_table(elf, h->phoff, shape, buf, &elf->segs_why))
		return dp_err_prefix(&elf->segs_why, "program headers");
	if (!dp_vec_reserve(&elf->segs, (size_t)n, sizeof *seg))
		return dp_err_set(&elf->segs_why, DP_ENOMEM, DP_NOOFF,
		                  "out of memory");
	for (uint64_t i = 0; i < n; i++) {
		r = dp_rd_init(dp_buf_bytes(buf), h->order);
		dp_rd_seek(&r, i * h->phentsize);
		seg = dp_vec_push(&elf->segs, sizeof *seg);
		if (seg == NULL)
			return dp_err_set(&elf->segs_why, DP_ENOMEM, DP_NOOFF,
			                  "out of memory");
		dp_phdr_read(&r, h->word, seg);
	}
	return true;
}

static int
last_wins(const void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	return (a < b) - (a > b);
}

/* Index the parts of the PT_LOADs that are in the file. */
static bool
index_loads(struct dp_elf *elf)
{
	const struct dp_elf_seg *seg;
	struct dp_span span = { 0 };
	uint64_t size;

	for (size_t i = 0; i < elf->segs.n; i++) {
		seg = seg_at(elf, i);
		if (seg->type != PT_LOAD)
			continue;
		size = seg->filesz < seg->memsz ? seg->filesz : seg->memsz;
		span.id = (uint32_t)i;
		span.lo = seg->vaddr;
		if (__builtin_add_overflow(seg->vaddr, size, &span.hi))
			span.hi = UINT64_MAX;
		if (!dp_spans_add(&elf->loads, &span))
			return false;
	}
	return dp_spans_build(&elf->loads, last_wins, NULL);
}

/* The string at `off` of the section names, cut to DP_ELF_NAME_MAX. */
static struct dp_bytes
name_at(const struct dp_elf *elf, uint32_t off)
{
	struct dp_bytes none = { NULL, 0 };
	const uint8_t *p, *nul;
	size_t n;

	if (off >= elf->names.n)
		return none;
	p = elf->names.p + off;
	n = elf->names.n - off;
	if (n > DP_ELF_NAME_MAX)
		n = DP_ELF_NAME_MAX;
	nul = memchr(p, '\0', n);
	if (nul == NULL && n < DP_ELF_NAME_MAX)
		return none; /* ran out of the table */
	return (struct dp_bytes){ p, nul != NULL ? (size_t)(nul - p) : n };
}

/* Read the names and hand them out; `buf` still holds the raw headers. */
static bool
name_secs(struct dp_elf *elf, const struct dp_ehdr *h, uint64_t strndx,
          const struct dp_buf *buf)
{
	const struct dp_elf_sec *tab = dp_elf_sec(elf, strndx);
	struct dp_rd r = dp_rd_init(dp_buf_bytes(buf), h->order);

	if (strndx == SHN_UNDEF)
		return true;
	if (tab == NULL || tab->type == SHT_NOBITS || tab->type == SHT_NULL ||
	    (tab->flags & SHF_COMPRESSED) != 0)
		return dp_err_set(&elf->secs_why, DP_EFORMAT, h->shoff,
		                  "section %ju cannot hold the names",
		                  (uintmax_t)strndx);
	if (!dp_elf_sec_read(elf, tab, &elf->names, &elf->secs_why))
		return dp_err_prefix(&elf->secs_why, "section names");
	for (size_t i = 0; i < elf->secs.n; i++) {
		dp_rd_seek(&r, i * h->shentsize);
		sec_at(elf, i)->name = name_at(elf, dp_rd_u32(&r));
	}
	return true;
}

static bool
load_secs(struct dp_elf *elf, const struct dp_ehdr *h, const struct counts *c,
          struct dp_buf *buf)
{
	const uint64_t shape[3] = { c->nsecs, h->shentsize, DP_MAX_ELF_SECS };
	struct dp_elf_sec *sec;
	struct dp_rd r;
	uint32_t name;

	if (c->nsecs == 0)
		return true;
	if (h->shentsize < dp_shdr_len(h->word))
		return dp_err_set(&elf->secs_why, DP_EFORMAT, h->shoff,
		                  "section headers of %u bytes", h->shentsize);
	if (!load_table(elf, h->shoff, shape, buf, &elf->secs_why))
		return dp_err_prefix(&elf->secs_why, "section headers");
	if (!dp_vec_reserve(&elf->secs, (size_t)c->nsecs, sizeof *sec))
		return dp_err_set(&elf->secs_why, DP_ENOMEM, DP_NOOFF,
		                  "out of memory");
	for (uint64_t i = 0; i < c->nsecs; i++) {
		r = dp_rd_init(dp_buf_bytes(buf), h->order);
		dp_rd_seek(&r, i * h->shentsize);
		sec = dp_vec_push(&elf->secs, sizeof *sec);
		if (sec == NULL)
			return dp_err_set(&elf->secs_why, DP_ENOMEM, DP_NOOFF,
			                  "out of memory");
		dp_shdr_read(&r, h->word, sec, &name);
		sec->index = (uint32_t)i;
	}
	return name_secs(elf, h, c->strndx, buf);
}

/* Read both tables; true even when one is of no use for what it holds. */
static bool
load_tables(struct dp_elf *elf, const struct dp_ehdr *h, struct dp_buf *buf,
            struct dp_err *e)
{
	struct counts c;

	if (!find_counts(elf, h, &c, e))
		return false;
	if (!load_segs(elf, h, c.nsegs, buf) &&
	    !is_about_input(&elf->segs_why)) {
		*e = elf->segs_why;
		return false;
	}
	if (!load_secs(elf, h, &c, buf) && !is_about_input(&elf->secs_why)) {
		*e = elf->secs_why;
		return false;
	}
	if (!index_loads(elf))
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	return true;
}

bool
dp_elf_open(struct dp_elf *elf_ret, const struct dp_src *src, struct dp_err *e)
{
	struct dp_elf elf = { .src = *src,
		              .segs_why = DP_ERR_INIT,
		              .secs_why = DP_ERR_INIT };
	struct dp_buf buf = { 0 };
	struct dp_ehdr h;
	bool ok = false;

	if (!dp_src_measure(&elf.src, e) ||
	    !dp_src_some(&elf.src, 0, &buf, sizeof(Elf64_Ehdr), e) ||
	    !dp_ehdr_read(dp_buf_bytes(&buf), &h, e))
		goto out;
	elf.order = h.order;
	elf.word = h.word;
	elf.type = h.type;
	elf.machine = h.machine;
	elf.osabi = h.osabi;
	elf.abiversion = h.abiversion;
	elf.flags = h.flags;
	elf.entry = h.entry;
	if (!load_tables(&elf, &h, &buf, e))
		goto out;
	ok = true;
	*elf_ret = elf;
	elf = (struct dp_elf){ 0 };
out:
	dp_buf_deinit(&buf);
	dp_elf_close(&elf);
	return ok;
}

void
dp_elf_close(struct dp_elf *elf)
{
	dp_vec_deinit(&elf->segs);
	dp_vec_deinit(&elf->secs);
	dp_buf_deinit(&elf->names);
	dp_spans_deinit(&elf->loads);
}

const struct dp_elf_seg *
dp_elf_seg_typed(const struct dp_elf *elf, uint32_t type)
{
	for (size_t i = 0; i < elf->segs.n; i++)
		if (seg_at(elf, i)->type == type)
			return seg_at(elf, i);
	return NULL;
}

const struct dp_elf_seg *
dp_elf_load_of(const struct dp_elf *elf, uint64_t vaddr)
{
	const struct dp_span *p = dp_spans_find(&elf->loads, 0, vaddr);

	return p != NULL ? seg_at(elf, p->id) : NULL;
}

bool
dp_elf_off_of(const struct dp_elf *elf, uint64_t vaddr, uint64_t *off_ret)
{
	const struct dp_elf_seg *seg = dp_elf_load_of(elf, vaddr);
	uint64_t off;

	if (seg == NULL ||
	    __builtin_add_overflow(seg->off, vaddr - seg->vaddr, &off))
		return false;
	*off_ret = off;
	return true;
}
