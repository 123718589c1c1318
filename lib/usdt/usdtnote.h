/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors of the notes that DTrace for Linux writes since 2025 (section
 * .note.usdt): sites of owner "usdt", declarations of owner "prov".  Joining
 * the two, and finding duplicates, is left to the caller; so is the name of
 * the function, which lies in .rodata.
 *
 * Every offset counts from the start of the descriptor.
 */
#ifndef DP_USDTNOTE_H
#define DP_USDTNOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "usdt/notes.h"

#define DP_USDT_SECTION    ".note.usdt"
#define DP_USDT_OWNER      "usdt" /* one note a site */
#define DP_USDT_PROV_OWNER "prov" /* one note a provider */

enum {
	DP_USDT_TYPE_PROBE = 1,   /* note types of owner "usdt" */
	DP_USDT_TYPE_ENABLED = 2, /* an is-enabled site */
	DP_USDT_TYPE_PROV = 1,    /* note type of owner "prov" */
	DP_USDT_NATTRS = 5, /* provider, module, function, name, arguments */
};

/* A site: owner "usdt", either type. */
struct dp_usdt_site {
	uint64_t pc;        /* link-time vaddr of the nop */
	uint64_t func_addr; /* vaddr of the function's name */
	uint32_t pc_off;    /* where the two words lie */
	uint32_t func_off;
	struct dp_bytes provider; /* without NUL, not empty, any bytes */
	struct dp_bytes probe;    /* the same */
	uint8_t nargs;            /* operands, as the note says */
	struct dp_bytes args;     /* for dp_arg_iter_init(); may be empty */
};

/* *ret is untouched on failure.  Bytes behind the last string are ignored. */
bool dp_usdt_site_parse(struct dp_bytes desc, enum dp_order order,
                        struct dp_usdt_site *ret, struct dp_err *e);

/* A provider's declaration: owner "prov". */
struct dp_usdt_prov {
	struct dp_bytes name;          /* without NUL, not empty, any bytes */
	uint32_t attr[DP_USDT_NATTRS]; /* encoded as in DOF */
	uint32_t nprobes;              /* <= DP_MAX_USDT_PROBES, as the note
	                                  says; the list may prove shorter */
	enum dp_order order;           /* as given to the parser */
	uint32_t probes_off;           /* where their list starts */
};

/* *ret is untouched on failure.  The probes are not looked at yet. */
bool dp_usdt_prov_parse(struct dp_bytes desc, enum dp_order order,
                        struct dp_usdt_prov *ret, struct dp_err *e);

/* A probe of a declaration. */
struct dp_usdt_probe {
	struct dp_bytes name;   /* without NUL, not empty, any bytes */
	uint32_t off;           /* where it starts */
	uint8_t nnative;        /* types in `native` */
	struct dp_bytes native; /* strings with their NULs, for dp_rd_str() */
	uint8_t nxlated;        /* entries in `xlated` */
	struct dp_bytes xlated; /* checked, for dp_usdt_xlat_init() */
};

struct dp_usdt_probe_iter {
	struct dp_rd r;
	uint32_t left; /* probes still to come */
};

/* Begin on the probes of `prov`, which was parsed from `desc`. */
void dp_usdt_probe_iter_init(struct dp_usdt_probe_iter *it,
                             struct dp_bytes desc,
                             const struct dp_usdt_prov *prov);

/*
 * The next probe.  DP_STEP_BAD sets `e`, which must be fresh each time: the
 * walk goes on behind a probe with an empty name, a bad map or a type of more
 * than DP_MAX_DOF_TYPE bytes, and ends with a list that is cut.
 */
enum dp_step dp_usdt_probe_next(struct dp_usdt_probe_iter *it,
                                struct dp_usdt_probe *probe_ret,
                                struct dp_err *e);

/* The translated arguments of a probe. */
struct dp_usdt_xlat_iter {
	struct dp_rd r;
	uint8_t left;
};

void dp_usdt_xlat_init(struct dp_usdt_xlat_iter *it,
                       const struct dp_usdt_probe *probe);

/*
 * The next translated argument: its type, without NUL, and the index of the
 * native argument behind it, < nnative.  False at the end.
 */
bool dp_usdt_xlat_next(struct dp_usdt_xlat_iter *it, struct dp_bytes *type_ret,
                       uint8_t *native_ret);

#endif /* DP_USDTNOTE_H */
