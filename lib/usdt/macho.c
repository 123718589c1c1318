/* SPDX-License-Identifier: BSD-2-Clause */
#include "usdt/macho.h"

#include <elf.h>

#include "base/limits.h"
#include "base/range.h"

enum {
	MAGIC_32 = 0xfeedface,
	MAGIC_64 = 0xfeedfacf,
	FAT_32 = 0xcafebabe,
	FAT_64 = 0xcafebabf,
	HDR_32 = 28,
	HDR_64 = 32,
	NAME_LEN = 16,
	CMD_LEN = 8, /* cmd and cmdsize */
	LC_SEGMENT = 0x1,
	LC_ID_DYLIB = 0xd,
	LC_SEGMENT_64 = 0x19,
	LC_UUID = 0x1b,
	SECT_LEN_32 = 68,
	SECT_LEN_64 = 80,
	SEG_LEN_32 = 56,
	SEG_LEN_64 = 72,
	TYPE_MASK = 0xff, /* of a section's flags */
	S_ZEROFILL = 0x1,
	S_GB_ZEROFILL = 0xc,
	S_THREAD_LOCAL_ZEROFILL = 0x12,
};

static const struct cpu_row {
	uint32_t cputype;
	uint16_t machine;
} cpus[] = {
	{ 7, EM_386 },
	{ 7 | 0x01000000, EM_X86_64 },
	{ 12, EM_ARM },
	{ 12 | 0x01000000, EM_AARCH64 },
	{ 12 | 0x02000000, EM_AARCH64 }, /* arm64_32: 4-byte pointers */
	{ 18, EM_PPC },
	{ 18 | 0x01000000, EM_PPC64 },
};

uint16_t
dp_macho_machine(uint32_t cputype)
{
	for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++)
		if (cpus[i].cputype == cputype)
			return cpus[i].machine;
	return EM_NONE;
}

/* Read the header into *m_ret (but in) and the sizes behind it. */
static bool
read_header(struct dp_bytes in, struct dp_macho *m_ret, uint64_t *size_ret,
            struct dp_err *e)
{
	struct dp_rd r = dp_rd_init(in, DP_LE);
	struct dp_macho m = { 0 };
	uint32_t magic = dp_rd_u32(&r), cmds;

	if (dp_rd_ok(&r) && magic != MAGIC_32 && magic != MAGIC_64) {
		r.order = DP_BE;
		dp_rd_seek(&r, 0);
		magic = dp_rd_u32(&r);
	}
	if (!dp_rd_ok(&r) || (magic != MAGIC_32 && magic != MAGIC_64))
		return dp_err_set(e, DP_EFORMAT, 0, "not a Mach-O object");
	m.order = r.order;
	m.word = magic == MAGIC_32 ? 4 : 8;
	m.hdr_size = magic == MAGIC_32 ? HDR_32 : HDR_64;
	m.cputype = dp_rd_u32(&r);
	m.cpusubtype = dp_rd_u32(&r);
	m.machine = dp_macho_machine(m.cputype);
	m.filetype = dp_rd_u32(&r);
	m.ncmds = dp_rd_u32(&r);
	cmds = dp_rd_u32(&r);
	m.flags = dp_rd_u32(&r);
	(void)dp_rd_take(&r, m.hdr_size - HDR_32);
	if (!dp_rd_ok(&r))
		return dp_err_set(e, DP_EFORMAT, in.n, "Mach-O header is cut");
	if (m.ncmds > DP_MAX_MACHO_CMDS || cmds > DP_MAX_ELF_SECTION)
		return dp_err_set(e, DP_ELIMIT, 16,
		                  "%u load commands in %u bytes", m.ncmds,
		                  cmds);
	*m_ret = m;
	*size_ret = (uint64_t)m.hdr_size + cmds;
	return true;
}

bool
dp_macho_size(struct dp_bytes head, uint64_t *size_ret, struct dp_err *e)
{
	struct dp_macho m;

	return read_header(head, &m, size_ret, e);
}

bool
dp_macho_open(struct dp_bytes in, struct dp_macho *m_ret, struct dp_err *e)
{
	struct dp_macho m;
	uint64_t size = 0;

	if (!read_header(in, &m, &size, e))
		return false;
	if (size > in.n)
		return dp_err_set(e, DP_EFORMAT, in.n, "load commands are cut");
	m.in = (struct dp_bytes){ in.p, (size_t)size };
	*m_ret = m;
	return true;
}

struct dp_macho_it
dp_macho_iter(const struct dp_macho *m)
{
	return (struct dp_macho_it){ .m = m, .next = m->hdr_size };
}

/* A name field of 16 bytes, which a NUL ends only when it is shorter. */
static struct dp_bytes
read_name(struct dp_rd *r)
{
	struct dp_bytes b = dp_rd_take(r, NAME_LEN);
	const uint8_t *nul = b.n != 0 ? memchr(b.p, '\0', b.n) : NULL;

	if (nul != NULL)
		b.n = (size_t)(nul - b.p);
	return b;
}

/* LC_SEGMENT and LC_SEGMENT_64 differ in the width of four words. */
static bool
read_segment(struct dp_macho_it *it, struct dp_rd *r, unsigned word,
             struct dp_macho_item *out, struct dp_err *e)
{
	const uint32_t each = word == 4 ? SECT_LEN_32 : SECT_LEN_64;
	uint32_t nsects;

	out->kind = DP_MACHO_SEGMENT;
	out->segname = read_name(r);
	out->addr = dp_rd_word(r, word);
	out->vmsize = dp_rd_word(r, word);
	out->off = dp_rd_word(r, word);
	out->size = dp_rd_word(r, word);
	out->maxprot = dp_rd_u32(r);
	out->initprot = dp_rd_u32(r);
	nsects = dp_rd_u32(r);
	out->flags = dp_rd_u32(r);
	if (!dp_rd_ok(r) || !dp_table_ok(r->pos, nsects, each, r->in.n))
		return dp_err_set(e, DP_EFORMAT, out->cmd_off,
		                  "segment command is too small");
	it->sect = out->cmd_off + r->pos;
	it->nsect = nsects;
	return true;
}

/* The dylib's name stands in the command, at an offset that it says. */
static bool
read_id(struct dp_rd *r, struct dp_macho_item *out, struct dp_err *e)
{
	uint32_t off = dp_rd_u32(r);
	const uint8_t *nul;

	if (!dp_rd_ok(r) || off < 24 || off > r->in.n)
		return dp_err_set(e, DP_EFORMAT, out->cmd_off,
		                  "name of the library is outside its command");
	out->kind = DP_MACHO_ID_DYLIB;
	out->text = (struct dp_bytes){ r->in.p + off, r->in.n - off };
	if (out->text.n == 0)
		return true;
	/* padding ends it; a name that fills the command needs none */
	nul = memchr(out->text.p, '\0', out->text.n);
	if (nul != NULL)
		out->text.n = (size_t)(nul - out->text.p);
	return true;
}

/*
 * Read the command at it->next.  *got_ret is false for one of no interest.
 */
static bool
read_command(struct dp_macho_it *it, struct dp_macho_item *out, bool *got_ret,
             struct dp_err *e)
{
	struct dp_rd r = dp_rd_init(it->m->in, it->m->order);
	uint32_t cmd, size;

	out->cmd_off = it->next;
	dp_rd_seek(&r, it->next);
	cmd = dp_rd_u32(&r);
	size = dp_rd_u32(&r);
	if (!dp_rd_ok(&r) || size < CMD_LEN ||
	    !dp_range_ok(it->next, size, it->m->in.n))
		return dp_err_set(e, DP_EFORMAT, it->next,
		                  "load command %u does not fit", it->cmd);
	r = dp_rd_init(
		(struct dp_bytes){ it->m->in.p + (size_t)it->next, size },
		it->m->order);
	dp_rd_seek(&r, CMD_LEN);
	it->next += size;
	it->cmd++;
	it->cmd_kind = cmd;
	*got_ret = true;
	switch (cmd) {
	case LC_SEGMENT:
		return read_segment(it, &r, 4, out, e);
	case LC_SEGMENT_64:
		return read_segment(it, &r, 8, out, e);
	case LC_UUID:
		out->kind = DP_MACHO_UUID;
		out->text = dp_rd_take(&r, DP_MACHO_UUID_LEN);
		if (!dp_rd_ok(&r))
			return dp_err_set(e, DP_EFORMAT, out->cmd_off,
			                  "UUID is cut");
		return true;
	case LC_ID_DYLIB:
		return read_id(&r, out, e);
	default:
		*got_ret = false;
		return true;
	}
}

static bool
has_no_data(uint32_t flags)
{
	uint32_t type = flags & TYPE_MASK;

	return type == S_ZEROFILL || type == S_GB_ZEROFILL ||
	       type == S_THREAD_LOCAL_ZEROFILL;
}

/* Read the section header at it->sect, which lies in its command. */
static void
read_section(struct dp_macho_it *it, struct dp_macho_item *out)
{
	const unsigned word = it->cmd_kind == LC_SEGMENT ? 4 : 8;
	struct dp_rd r = dp_rd_init(it->m->in, it->m->order);

	out->kind = DP_MACHO_SECTION;
	out->cmd_off = it->sect;
	dp_rd_seek(&r, it->sect);
	out->sectname = read_name(&r);
	out->segname = read_name(&r);
	out->addr = dp_rd_word(&r, word);
	out->vmsize = dp_rd_word(&r, word);
	out->off = dp_rd_u32(&r);
	(void)dp_rd_take(&r, 12); /* align, reloff, nreloc */
	out->flags = dp_rd_u32(&r);
	out->size = out->vmsize;
	if (has_no_data(out->flags))
		out->off = out->size = 0;
	out->is_dof = (out->flags & TYPE_MASK) == DP_MACHO_S_DOF ||
	              (out->sectname.n >= 6 &&
	               memcmp(out->sectname.p, "__dof_", 6) == 0);
	it->sect += word == 4 ? SECT_LEN_32 : SECT_LEN_64;
	it->nsect--;
}

bool
dp_macho_next(struct dp_macho_it *it, struct dp_macho_item *item_ret,
              bool *more_ret, struct dp_err *e)
{
	struct dp_macho_item item = { 0 };
	bool got = false;

	if (it->nsect != 0) {
		read_section(it, &item);
		got = true;
	}
	while (!got && it->cmd < it->m->ncmds) {
		item = (struct dp_macho_item){ 0 };
		if (!read_command(it, &item, &got, e))
			return false;
	}
	if (got)
		*item_ret = item;
	*more_ret = got;
	return true;
}

static bool
read_fat(struct dp_bytes in, struct dp_fat *fat_ret, uint64_t *size_ret,
         struct dp_err *e)
{
	struct dp_rd r = dp_rd_init(in, DP_BE);
	struct dp_fat fat = { 0 };
	uint32_t magic = dp_rd_u32(&r);

	fat.n = dp_rd_u32(&r);
	if (!dp_rd_ok(&r) || (magic != FAT_32 && magic != FAT_64))
		return dp_err_set(e, DP_EFORMAT, 0, "not a fat Mach-O");
	if (fat.n > DP_MAX_FAT_ARCHS)
		return dp_err_set(e, DP_ELIMIT, 4, "%u slices", fat.n);
	fat.arch_len = magic == FAT_32 ? 20 : 32;
	*fat_ret = fat;
	*size_ret = DP_FAT_HEAD + (uint64_t)fat.n * fat.arch_len;
	return true;
}

bool
dp_fat_size(struct dp_bytes head, uint64_t *size_ret, struct dp_err *e)
{
	struct dp_fat fat;

	return read_fat(head, &fat, size_ret, e);
}

bool
dp_fat_open(struct dp_bytes in, struct dp_fat *fat_ret, struct dp_err *e)
{
	struct dp_fat fat;
	uint64_t size = 0;

	if (!read_fat(in, &fat, &size, e))
		return false;
	if (size > in.n)
		return dp_err_set(e, DP_EFORMAT, in.n,
		                  "table of slices is cut");
	fat.in = (struct dp_bytes){ in.p, (size_t)size };
	*fat_ret = fat;
	return true;
}

bool
dp_fat_slice(const struct dp_fat *fat, uint32_t i, uint64_t file_size,
             struct dp_fat_slice *slice_ret, struct dp_err *e)
{
	const unsigned word = fat->arch_len == 20 ? 4 : 8;
	struct dp_rd r = dp_rd_init(fat->in, DP_BE);
	struct dp_fat_slice s = { 0 };
	uint64_t at = DP_FAT_HEAD + (uint64_t)i * fat->arch_len;

	dp_rd_seek(&r, at);
	s.cputype = dp_rd_u32(&r);
	s.cpusubtype = dp_rd_u32(&r);
	s.machine = dp_macho_machine(s.cputype);
	s.off = dp_rd_word(&r, word);
	s.size = dp_rd_word(&r, word);
	if (!dp_rd_ok(&r))
		return dp_err_set(e, DP_EFORMAT, at, "no slice %u", i);
	if (s.off < fat->in.n || !dp_range_ok(s.off, s.size, file_size))
		return dp_err_set(e, DP_EFORMAT, at,
		                  "slice %u lies outside the file", i);
	*slice_ret = s;
	return true;
}
