/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The DOF container: file header, section headers, relocations.  Bytes in,
 * values out: nothing is allocated, nothing is written, no relocation is
 * applied.  What the sections of a provider hold is in dofprobe.h.
 *
 * Every position given here (`at`, err.off) counts from the first byte of
 * the DOF.  Only the loadsz bytes that consumers load are ever read.
 */
#ifndef DP_DOF_H
#define DP_DOF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

enum {
	DP_DOF_HDR_SIZE = 64,     /* file header */
	DP_DOF_SEC_SIZE = 32,     /* section header; the stride is secsize */
	DP_DOF_URELHDR_SIZE = 12, /* body of a URELHDR section */
	DP_DOF_REL_SIZE = 24,     /* RELTAB entry; the stride is entsize */
	DP_DOF_STEP = 8,          /* DOFs of one ELF section start at these */
	DP_DOF_LOAD = 1,          /* section flag: part of the loaded bytes */
	DP_DOF_ILP32 = 1,         /* values of dp_dof.model */
	DP_DOF_LP64 = 2,
};

/* Section types; those in between and above exist, nobody here reads them. */
enum dp_dof_sectype {
	DP_DOF_STRTAB = 8,
	DP_DOF_RELTAB = 10,
	DP_DOF_URELHDR = 12,
	DP_DOF_PROVIDER = 15,
	DP_DOF_PROBES = 16,
	DP_DOF_PRARGS = 17,
	DP_DOF_PROFFS = 18,
	DP_DOF_PRENOFFS = 26,
	DP_DOF_ANY = INT32_MAX, /* for dp_dof_follow() */
};

/* An opened DOF.  A plain value: copy it freely, nothing to release. */
struct dp_dof {
	struct dp_bytes in;  /* borrowed; cut to the extent, >= loadsz */
	enum dp_order order; /* of every integer in it */
	uint8_t version;     /* 1, 2 or 3 */
	uint8_t model;       /* DP_DOF_ILP32 or DP_DOF_LP64; changes nothing */
	uint8_t intregs;     /* DIF integer registers, <= 8 */
	uint8_t tupregs;     /* DIF tuple registers, <= 8 */
	uint32_t hdrsize;    /* as found: no consumer believes it */
	uint32_t secsize;    /* stride of the section headers, >= 32 */
	uint32_t secnum;     /* <= DP_MAX_DOF_SECS */
	uint64_t secoff;     /* position of the section headers, >= 64 */
	uint64_t loadsz;     /* >= 64 and all there */
	uint64_t filesz;     /* as found: any number */
};

/* A section header. */
struct dp_dof_sec {
	uint32_t index;
	uint32_t type;    /* enum dp_dof_sectype or any other number */
	uint32_t align;   /* a power of two when loaded */
	uint32_t flags;   /* DP_DOF_LOAD; other bits mean nothing */
	uint32_t entsize; /* as found */
	uint64_t off;     /* of its data; not checked when not loaded */
	uint64_t size;    /* of its data; not checked when not loaded */
	uint64_t at;      /* where the header lies */
};

/*
 * Read the file header at the start of `in` and check it, section headers
 * not looked at: enough to step through an ELF section that holds several.
 * `in` may go on behind the DOF.  DP_EUNSUP for a version that came later,
 * DP_ELIMIT past DP_MAX_DOF_SIZE or DP_MAX_DOF_SECS, else DP_EFORMAT.
 */
bool dp_dof_header(struct dp_bytes in, struct dp_dof *dof_ret,
                   struct dp_err *e);

/*
 * Bytes that this DOF takes: filesz, but not less than loadsz and not more
 * than there is; so >= 64.  A filesz over DP_MAX_DOF_SIZE does not count.  The
 * next DOF of the same ELF section starts at the next multiple of DP_DOF_STEP.
 */
uint64_t dp_dof_extent(const struct dp_dof *d);

/*
 * dp_dof_header(), then every section header and every relocation.  What
 * fails here makes the whole DOF unusable; what fails in dofprobe.h later
 * costs one provider or one probe.
 */
bool dp_dof_open(struct dp_bytes in, struct dp_dof *dof_ret, struct dp_err *e);

/* Decode section header `i` of an opened DOF; fails when there is none. */
bool dp_dof_sec(const struct dp_dof *d, uint32_t i, struct dp_dof_sec *sec_ret,
                struct dp_err *e);

/* A link from one section to another, as found in the DOF. */
struct dp_dof_link {
	uint32_t i;       /* section that it names */
	uint32_t type;    /* what that has to be: sectype, or DP_DOF_ANY */
	uint64_t at;      /* where the link lies, for the error */
	const char *what; /* for the error's message: "strtab" ... */
};

/* The section of a link: must exist, be loaded and of the type wanted. */
bool dp_dof_follow(const struct dp_dof *d, const struct dp_dof_link *link,
                   struct dp_dof_sec *sec_ret, struct dp_err *e);

/* The first section of `type` at index `from` or above; secnum when none. */
uint32_t dp_dof_find(const struct dp_dof *d, uint32_t type, uint32_t from);

/* The data of a loaded section; empty when it lies outside. */
struct dp_bytes dp_dof_data(const struct dp_dof *d,
                            const struct dp_dof_sec *sec);

/* "strtab", "probes" ...; NULL for a number that is no type. */
const char *dp_dof_sectype_name(uint32_t type);

/*
 * The string at `off` of a string table, without its NUL, at most `max`
 * bytes.  DP_EFORMAT when it starts outside or does not end, DP_ELIMIT when
 * it is longer; *s_ret is untouched then.  Looks at max + 1 bytes only, so
 * that a long table costs nothing.
 */
enum dp_code dp_dof_str(struct dp_bytes tab, uint64_t off, size_t max,
                        struct dp_bytes *s_ret);

enum dp_dof_reltype {
	DP_DOF_REL_NONE = 0,   /* never given out */
	DP_DOF_REL_SETX = 1,   /* add the load address of the object */
	DP_DOF_REL_DOFREL = 2, /* add the address of the word itself */
};

/* One relocation of a u64. */
struct dp_dof_rel {
	enum dp_dof_reltype type; /* SETX or DOFREL */
	uint32_t urelhdr;         /* section index of its URELHDR */
	uint32_t entry;           /* index in the RELTAB */
	uint32_t tgt;             /* section index of its target */
	uint64_t off;             /* of the word, in the target's data */
	uint64_t word_at;         /* position of the word: 8-aligned */
	uint64_t at;              /* position of the RELTAB entry */
	uint64_t name_off;        /* of its symbol in `strs`: unchecked */
	struct dp_bytes strs;     /* that string table */
};

/*
 * Walks through all relocations of a DOF in one pass, by URELHDR and then
 * by entry.  Sections may overlap, so match a word by `word_at` rather than
 * by section and offset.  All fields but `failed` are private.
 */
struct dp_dof_rels {
	const struct dp_dof *d; /* borrowed */
	uint32_t sec;           /* where to look for the next URELHDR */
	uint32_t urelhdr;       /* the one in work */
	uint32_t i, n;          /* entry of its RELTAB, and how many */
	bool failed;            /* false has come because of an error */
	uint32_t left;          /* entries that DP_MAX_DOF_SITES leaves */
	struct dp_dof_sec tab, tgt;
	struct dp_bytes strs;
};

/* The symbol of a relocation; empty when outside or too long. */
struct dp_bytes dp_dof_rel_name(const struct dp_dof_rel *rel);

void dp_dof_rels_init(struct dp_dof_rels *it, const struct dp_dof *d);

/*
 * The next relocation that is not NONE.  False at the end, with `e` as it
 * was, or on failure, with it->failed and `e` set; false from then on.
 * Once dp_dof_open() said yes it cannot fail.  DP_ELIMIT when all tables
 * together, counted once a URELHDR, have over DP_MAX_DOF_SITES entries.
 */
bool dp_dof_rels_next(struct dp_dof_rels *it, struct dp_dof_rel *rel_ret,
                      struct dp_err *e);

#endif /* DP_DOF_H */
