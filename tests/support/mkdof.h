/* SPDX-License-Identifier: BSD-2-Clause */
/* A DOF under construction: shared by mkdof.c and mkdofout.c only. */
#ifndef DP_TEST_MKDOF_H
#define DP_TEST_MKDOF_H

#include "mk.h"

enum { DOF_HDR = 64, DOF_SECHDR = 32, DOF_PROBE = 48, DOF_RELOC = 24 };

/* dof.h: section types */
enum {
	DOF_COMMENTS = 1,
	DOF_STRTAB = 8,
	DOF_RELTAB = 10,
	DOF_URELHDR = 12,
	DOF_PROVIDER = 15,
	DOF_PROBES = 16,
	DOF_PRARGS = 17,
	DOF_PROFFS = 18,
	DOF_UTSNAME = 20,
	DOF_PRENOFFS = 26,
};

enum dof_reloc { RELOC_SETX, RELOC_DOFREL, RELOC_APPLE, RELOC_NONE };

struct dof_sec {
	uint32_t type, align, flags, entsize;
	struct mk_buf data;
	uint64_t off; /* set by dof_write() */
};

/* Bytes that are known only when the sections have their places. */
struct dof_pend {
	struct dof_pend *next;
	unsigned int sec, size;
	uint64_t off;     /* in the data of that section */
	uint64_t addr;    /* DOFREL without --gas: what to measure from there */
	const char *expr; /* --gas: the expression; else NULL */
	bool slot;        /* --gas: the address slot of a probe */
};

struct dof {
	struct mk *mk;
	struct mk_ctx c; /* with this DOF's own byte order */
	struct mk_stmt *s;
	uint8_t version, model;
	enum dof_reloc reloc;
	const struct dof_layout *lay;
	struct dof_sec *secs;
	unsigned int nsecs, cap;
	struct dof_pend *pend;
	uint32_t site_bias;     /* Apple: added to each distance */
	const char *slot_reloc; /* --gas: relocation for the slots, or NULL */
};

/* How one producer arranges its sections (facts: order, presence). */
struct dof_layout {
	const char *name;
	enum dof_reloc reloc;
	bool str_first;    /* string data in front of the rest */
	bool str_entsize;  /* STRTAB says entsize 1 */
	bool comments;     /* COMMENTS and UTSNAME at the end */
	bool prenoffs;     /* PRENOFFS even when nothing is in it */
	bool shared;       /* argument and offset tables for all providers */
	bool one_types;    /* translated types are the native strings */
	uint32_t def_attr; /* all five attributes */
};

/* mkdofout.c: place the sections and write everything into `b`. */
void dof_write(struct dof *d, struct mk_block *b);

#endif /* DP_TEST_MKDOF_H */
