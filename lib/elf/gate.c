/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linkers of the GNU family put .shstrtab directly before the section
 * headers, so one pread that begins a little before e_shoff brings both.
 * 1024 bytes before hold the names of 8 in 10 ELF files of a distribution.
 */
#include "elf/gate.h"

#include <elf.h>

#include "base/limits.h"
#include "base/range.h"
#include "elf/hdr.h"

enum {
	NAMES_BEFORE = 1024,
	AT_SHENTSIZE_32 = 46, /* offset of e_shentsize */
	AT_SHENTSIZE_64 = 58,
};

static const struct magic_row {
	uint8_t n;
	uint8_t bytes[8];
	enum dp_magic magic;
} magics[] = {
	{ 4, { 0x7f, 'E', 'L', 'F' }, DP_MAGIC_ELF },
	{ 8, { '!', '<', 'a', 'r', 'c', 'h', '>', '\n' }, DP_MAGIC_AR },
	{ 8, { '!', '<', 't', 'h', 'i', 'n', '>', '\n' }, DP_MAGIC_AR_THIN },
	{ 4, { 0xfe, 0xed, 0xfa, 0xce }, DP_MAGIC_MACHO },
	{ 4, { 0xfe, 0xed, 0xfa, 0xcf }, DP_MAGIC_MACHO },
	{ 4, { 0xce, 0xfa, 0xed, 0xfe }, DP_MAGIC_MACHO },
	{ 4, { 0xcf, 0xfa, 0xed, 0xfe }, DP_MAGIC_MACHO },
	{ 4, { 0xca, 0xfe, 0xba, 0xbe }, DP_MAGIC_FAT },
	{ 4, { 0xca, 0xfe, 0xba, 0xbf }, DP_MAGIC_FAT },
	{ 4, { 0x7f, 'D', 'O', 'F' }, DP_MAGIC_DOF },
};

static const struct name_row {
	const char *name;
	size_t len; /* with its NUL */
	unsigned flag;
} names[] = {
	{ ".SUNW_dof", sizeof ".SUNW_dof", DP_GATE_DOF },
	{ ".note.stapsdt", sizeof ".note.stapsdt", DP_GATE_SDT },
	{ ".note.usdt", sizeof ".note.usdt", DP_GATE_USDT },
};

/* One file on its way through the gate. */
struct view {
	const struct dp_src *src;
	struct dp_ehdr h;
	struct dp_buf *buf;
	uint64_t at;         /* offset in the object of buf's first byte */
	size_t hdrs;         /* where in buf the section headers begin */
	uint32_t n;          /* section headers */
	uint64_t strndx;     /* the one of the names */
	struct dp_bytes tab; /* the names; empty: of no use */
};

/*
 * A Java class begins with the bytes of a fat Mach-O, too.  Where the first
 * slice has its CPU type, a class has the size of its constant pool and the
 * tag of the first constant, which is never 0; the third byte of every CPU
 * type is.
 */
static bool
is_fat(struct dp_bytes head)
{
	struct dp_rd r = dp_rd_init(head, DP_BE);
	uint32_t magic = dp_rd_u32(&r);
	unsigned word = magic == 0xcafebabfU ? 8 : 4;
	uint32_t n = dp_rd_u32(&r);
	uint32_t cpu = dp_rd_u32(&r);
	uint64_t off, size;
	uint32_t align;

	(void)dp_rd_u32(&r); /* CPU subtype */
	off = dp_rd_word(&r, word);
	size = dp_rd_word(&r, word);
	align = dp_rd_u32(&r);
	if (!dp_rd_ok(&r) || n == 0 || n > DP_MAX_FAT_ARCHS)
		return false;
	if (cpu == 0 || (cpu & 0x00ffff00U) != 0 || size == 0 || align > 32)
		return false;
	return off >= 8 + (uint64_t)n * (word == 8 ? 32 : 20) &&
	       (off & ((UINT64_C(1) << align) - 1)) == 0;
}

enum dp_magic
dp_magic_of(struct dp_bytes head)
{
	const struct magic_row *m;

	for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
		m = &magics[i];
		/* the first byte settles it for nearly all files */
		if (head.n < m->n || head.p[0] != (uint8_t)m->bytes[0] ||
		    memcmp(head.p, m->bytes, m->n) != 0)
			continue;
		if (m->magic == DP_MAGIC_FAT && !is_fat(head))
			return DP_MAGIC_NONE;
		return m->magic;
	}
	return DP_MAGIC_NONE;
}

/* Read section headers [0, n) and what stands before them. */
static bool
load_headers(struct view *v, uint64_t n, struct dp_err *e)
{
	uint64_t pre = v->h.shoff < NAMES_BEFORE ? v->h.shoff : NAMES_BEFORE;
	uint64_t want = pre + n * v->h.shentsize;
	uint64_t end;

	v->at = v->h.shoff - pre;
	v->hdrs = (size_t)pre;
	v->buf->n = 0;
	if (want > SIZE_MAX || __builtin_add_overflow(v->at, want, &end))
		return dp_err_set(e, DP_EFORMAT, v->h.shoff,
		                  "section headers lie outside the file");
	if (!dp_src_some(v->src, v->at, v->buf, (size_t)want, e))
		return false;
	if (v->buf->n < want)
		return dp_err_set(e, DP_EFORMAT, v->at + v->buf->n,
		                  "section headers are cut: %ju at %#jx",
		                  (uintmax_t)n, (uintmax_t)v->h.shoff);
	return true;
}

/* Decode section header `i` of those in the buffer. */
static void
get_header(const struct view *v, uint64_t i, struct dp_elf_sec *s_ret,
           uint32_t *name_ret)
{
	struct dp_rd r = dp_rd_init(dp_buf_bytes(v->buf), v->h.order);

	dp_rd_seek(&r, v->hdrs + i * v->h.shentsize);
	dp_shdr_read(&r, v->h.word, s_ret, name_ret);
}

/*
 * Find out how many section headers there are and read them.  *none_ret is
 * true when the file has none: too many for e_shnum is a 0 there and the
 * number in section 0, but a 0 there is also what stripping tools leave.
 */
static bool
find_headers(struct view *v, bool *none_ret, struct dp_err *e)
{
	struct dp_err why = DP_ERR_INIT;
	struct dp_elf_sec zero;
	uint64_t n = v->h.shnum;
	uint32_t name;

	*none_ret = true;
	if (v->h.shoff == 0)
		return true;
	if (v->h.shentsize < dp_shdr_len(v->h.word)) {
		if (n == 0)
			return true;
		return dp_err_set(
			e, DP_EFORMAT,
			v->h.word == 4 ? AT_SHENTSIZE_32 : AT_SHENTSIZE_64,
			"section headers of %u bytes", v->h.shentsize);
	}
	if (n == 0) {
		if (!load_headers(v, 1, &why)) {
			if (why.code == DP_EFORMAT)
				return true;
			*e = why;
			return false;
		}
		get_header(v, 0, &zero, &name);
		n = zero.size;
	}
	if (n == 0)
		return true;
	if (n > DP_MAX_ELF_SECS)
		return dp_err_set(e, DP_ELIMIT, v->h.shoff,
		                  "%ju section headers", (uintmax_t)n);
	*none_ret = false;
	v->n = (uint32_t)n;
	if (!load_headers(v, n, e))
		return false;
	get_header(v, 0, &zero, &name);
	v->strndx = v->h.shstrndx == SHN_XINDEX ? zero.link : v->h.shstrndx;
	return true;
}

/* Set v->tab; it stays empty when the table of names is of no use. */
static bool
find_names(struct view *v, struct dp_err *e)
{
	struct dp_elf_sec s;
	uint32_t name;
	size_t at = v->buf->n;

	if (v->strndx == SHN_UNDEF || v->strndx >= v->n)
		return true;
	get_header(v, v->strndx, &s, &name);
	if (s.type == SHT_NOBITS || s.type == SHT_NULL ||
	    (s.flags & SHF_COMPRESSED) != 0 || s.size == 0 ||
	    s.size > DP_MAX_ELF_NAMES)
		return true;
	if (s.off >= v->at && dp_range_ok(s.off - v->at, s.size, v->buf->n)) {
		v->tab.p = v->buf->p + (s.off - v->at);
		v->tab.n = (size_t)s.size;
		return true;
	}
	if (!dp_src_some(v->src, s.off, v->buf, (size_t)s.size, e))
		return false;
	if (v->buf->n - at == s.size)
		v->tab = (struct dp_bytes){ v->buf->p + at, (size_t)s.size };
	return true;
}

/* The DP_GATE_* bit of a section by its name, or 0. */
static unsigned
flag_of_name(struct dp_bytes tab, uint32_t off)
{
	size_t len;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		len = names[i].len;
		if (dp_range_ok(off, len, tab.n) &&
		    tab.p[off + 1] == (uint8_t)names[i].name[1] &&
		    memcmp(tab.p + off, names[i].name, len) == 0)
			return names[i].flag;
	}
	return 0;
}

bool
dp_gate(const struct dp_src *src, struct dp_bytes head, struct dp_buf *scratch,
        unsigned *flags_ret, struct dp_err *e)
{
	struct view v = { .src = src, .buf = scratch };
	unsigned flags = 0;
	uint32_t name, type;
	struct dp_rd r;
	bool none;

	if (!dp_ehdr_read(head, &v.h, e) || !find_headers(&v, &none, e))
		return false;
	if (none) {
		*flags_ret = v.h.type == ET_EXEC || v.h.type == ET_DYN
		                     ? DP_GATE_NOSHDR
		                     : 0;
		return true;
	}
	if (!find_names(&v, e))
		return false;
	if (v.tab.n == 0)
		flags |= DP_GATE_NONAMES;
	r = dp_rd_init(dp_buf_bytes(v.buf), v.h.order);
	for (uint32_t i = 1; i < v.n; i++) {
		/* name and type begin a header of either class */
		dp_rd_seek(&r, v.hdrs + (uint64_t)i * v.h.shentsize);
		name = dp_rd_u32(&r);
		type = dp_rd_u32(&r);
		if (type == SHT_NOBITS || type == SHT_NULL)
			continue;
		if (type == DP_SHT_SUNW_DOF)
			flags |= DP_GATE_DOF;
		else if (v.tab.n != 0)
			flags |= flag_of_name(v.tab, name);
	}
	*flags_ret = flags;
	return true;
}
