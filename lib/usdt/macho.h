/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mach-O, as far as probes need it: load commands of a thin object (32 and
 * 64 bit, both orders) and the slices of a fat one.  Pure: bytes in, values
 * out.  The caller reads the file: dp_macho_size() says how many bytes the
 * header and the commands take.  All offsets count from the start of the
 * thin object, which in a fat one is the start of the slice.
 */
#ifndef DP_MACHO_H
#define DP_MACHO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

enum {
	DP_MACHO_HEAD = 32,   /* bytes that dp_macho_size() may look at */
	DP_FAT_HEAD = 8,      /* bytes that dp_fat_size() looks at */
	DP_MACHO_S_DOF = 0xf, /* section type S_DTRACE_DOF */
	DP_MACHO_UUID_LEN = 16,
	DP_MACHO_PROT_X = 4, /* bit of maxprot and initprot: execute */
};

/* An opened thin object; `in` is borrowed and must outlive it. */
struct dp_macho {
	struct dp_bytes in; /* header and commands, nothing behind them */
	enum dp_order order;
	unsigned word;    /* bytes of an address: 4 or 8 */
	uint16_t machine; /* EM_* for cputype; EM_NONE: another one */
	uint32_t cputype;
	uint32_t cpusubtype;
	uint32_t filetype; /* MH_*: 1 object, 2 execute, 6 dylib, 8 bundle */
	uint32_t ncmds;
	uint32_t flags;
	uint32_t hdr_size; /* 28 or 32 */
};

enum dp_macho_kind {
	DP_MACHO_SEGMENT,
	DP_MACHO_SECTION, /* follows the segment that it is in */
	DP_MACHO_UUID,
	DP_MACHO_ID_DYLIB, /* the name under which a library is linked */
};

struct dp_macho_item {
	enum dp_macho_kind kind;
	uint64_t cmd_off; /* where it stands in the object */
	/* SEGMENT and SECTION; names end before the first NUL, 16 at most */
	struct dp_bytes segname;
	struct dp_bytes sectname; /* SECTION */
	uint64_t addr;            /* vmaddr, or addr of the section */
	uint64_t vmsize;          /* in memory; SECTION: its size */
	uint64_t off;             /* file offset; 0 also for what has no data */
	uint64_t size; /* bytes in the file; SECTION: its size, 0 when it
	                  has no data (zerofill) */
	uint32_t maxprot, initprot; /* SEGMENT */
	uint32_t flags;             /* of the segment or section */
	bool is_dof;          /* SECTION: type S_DTRACE_DOF, or named __dof_* */
	struct dp_bytes text; /* UUID: 16 bytes; ID_DYLIB: the name */
};

/* A place in the commands; internal. */
struct dp_macho_it {
	const struct dp_macho *m; /* borrowed */
	uint32_t cmd;             /* commands that were begun */
	uint64_t next;            /* offset of the next command */
	uint64_t sect;            /* offset of the next section header */
	uint32_t nsect;           /* section headers left in this segment */
	uint32_t cmd_kind;        /* command that the sections belong to */
};

/*
 * How many bytes the header and the load commands take, from the first
 * bytes of the object.  DP_EFORMAT when it is no Mach-O or cut, DP_ELIMIT
 * for too many commands, or more than DP_MAX_ELF_SECTION bytes of them.
 */
bool dp_macho_size(struct dp_bytes head, uint64_t *size_ret, struct dp_err *e);

/* Open; `in` must hold dp_macho_size() bytes, what is behind is ignored. */
bool dp_macho_open(struct dp_bytes in, struct dp_macho *m_ret,
                   struct dp_err *e);

struct dp_macho_it dp_macho_iter(const struct dp_macho *m);

/*
 * Step to the next item; commands of no interest are passed over.
 * *more_ret is false at the end, with *item_ret untouched.  DP_EFORMAT for
 * a command that does not fit: what comes behind it cannot be found.
 */
bool dp_macho_next(struct dp_macho_it *it, struct dp_macho_item *item_ret,
                   bool *more_ret, struct dp_err *e);

/* EM_* for a cputype; EM_NONE for one without. */
uint16_t dp_macho_machine(uint32_t cputype);

/* An opened fat header; `in` is borrowed and must outlive it. */
struct dp_fat {
	struct dp_bytes in;
	uint32_t n;        /* slices */
	uint32_t arch_len; /* bytes of one entry: 20, or 32 with 64 bits */
};

struct dp_fat_slice {
	uint32_t cputype;
	uint32_t cpusubtype;
	uint16_t machine; /* EM_*, as in struct dp_macho */
	uint64_t off;     /* in the file */
	uint64_t size;    /* bytes, inside the file */
};

/* How many bytes the table of slices takes, header included. */
bool dp_fat_size(struct dp_bytes head, uint64_t *size_ret, struct dp_err *e);

/* Open; `in` must hold dp_fat_size() bytes. */
bool dp_fat_open(struct dp_bytes in, struct dp_fat *fat_ret, struct dp_err *e);

/*
 * Slice `i` (< n) of a file of `file_size` bytes.  DP_EFORMAT when it does
 * not lie in the file behind the table; the other slices are not touched.
 */
bool dp_fat_slice(const struct dp_fat *fat, uint32_t i, uint64_t file_size,
                  struct dp_fat_slice *slice_ret, struct dp_err *e);

#endif /* DP_MACHO_H */
