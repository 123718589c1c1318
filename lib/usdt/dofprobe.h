/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a DOF says about probes: providers, probes, sites, argument types
 * and maps, stability attributes.  On top of dof.h, and like it: nothing is
 * allocated, all bytes are borrowed from the DOF, positions count from its
 * first byte.  Addresses are as they stand, before relocation.
 *
 * Sections may be shared and strings may overlap, so a small DOF can spell
 * out far more than its size.  A caller that walks through all of it keeps
 * two totals: dp_dof_probe_types() of each entry before it is read, against
 * DP_MAX_DOF_TYPES, and its sites, against DP_MAX_DOF_SITES, before they are
 * sorted: dp_dof_sites_unique() takes its time also when it refuses them.  A
 * failed probe counts as one site more, so that these come to an end, too.
 */
#ifndef DP_DOFPROBE_H
#define DP_DOFPROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "usdt/dof.h"

enum {
	DP_DOF_PROVIDER_V1 = 40, /* least size of a provider, version 1 */
	DP_DOF_PROVIDER_V2 = 44, /* and from version 2 on */
	DP_DOF_PROBE_SIZE = 48,  /* probe entry; the stride is entsize */
	DP_DOF_MAX_KIND_SITES = UINT16_MAX, /* sites of one kind of a probe */
	DP_DOF_ATTR_TEXT = 32, /* room for any text of dp_dof_attr_text() */
};

/* What the five attributes speak of, in the order of dp_dof_provider.attr */
enum dp_dof_attr {
	DP_DOF_ATTR_PROVIDER,
	DP_DOF_ATTR_MODULE,
	DP_DOF_ATTR_FUNCTION,
	DP_DOF_ATTR_NAME,
	DP_DOF_ATTR_ARGS,
	DP_DOF_ATTR_COUNT
};

/* The sections that a provider links, in the order of dp_dof_provider.sec */
enum dp_dof_part {
	DP_DOF_PART_STRTAB,
	DP_DOF_PART_PROBES,
	DP_DOF_PART_PRARGS,
	DP_DOF_PART_PROFFS,
	DP_DOF_PART_PRENOFFS, /* all zeros when has_prenoffs is false */
	DP_DOF_PART_COUNT
};

enum dp_dof_kind { DP_DOF_SITE, DP_DOF_ENABLED, DP_DOF_KIND_COUNT };

struct dp_dof_provider {
	uint32_t index;       /* of its PROVIDER section */
	uint64_t at;          /* position of the record */
	struct dp_bytes name; /* <= DP_MAX_DOF_NAME, any bytes, may be empty */
	uint32_t attr[DP_DOF_ATTR_COUNT];          /* see dp_dof_attr_text() */
	struct dp_dof_sec part[DP_DOF_PART_COUNT]; /* checked links */
	bool has_prenoffs;    /* false: none, or version 1 */
	uint32_t nprobes;     /* whole entries; 0 for a provider never used */
	uint32_t tail;        /* bytes of a part entry at the end, ignored */
	struct dp_bytes strs; /* data of the string table */
};

/* `n` NUL-terminated strings, one behind the other; dp_rd_str() walks. */
struct dp_dof_types {
	uint32_t n;
	struct dp_bytes run; /* with all NULs; empty when n is 0 */
};

/* Where the offsets of one kind lie: n u32. */
struct dp_dof_offs {
	uint32_t n;  /* <= DP_DOF_MAX_KIND_SITES */
	uint64_t at; /* position of the first */
};

struct dp_dof_probe {
	uint32_t index;             /* of the entry */
	uint64_t addr;              /* base of the sites, as it stands */
	struct dp_bytes func;       /* <= DP_MAX_DOF_FUNC, any bytes */
	struct dp_bytes name;       /* <= DP_MAX_DOF_NAME, any bytes */
	struct dp_dof_types native; /* of the call in the source */
	struct dp_dof_types xlated; /* of args[] */
	struct dp_bytes map; /* xlated.n bytes, each < native.n: args[i] is
	                        made of native argument map[i] */
	struct dp_dof_offs offs[DP_DOF_KIND_COUNT]; /* at least one n > 0 */
	uint32_t slot_sec; /* PROBES section that holds addr ... */
	uint64_t slot_off; /* ... at this offset in its data */
	uint64_t slot_at;  /* position of addr, and of the entry */
};

/*
 * Read the provider that section `sec` of an opened DOF holds, and resolve
 * its links.  A failure tells nothing about other providers of the DOF.
 * An empty PROBES section is legal: 0 probes.
 */
bool dp_dof_provider(const struct dp_dof *d, uint32_t sec,
                     struct dp_dof_provider *prov_ret, struct dp_err *e);

/*
 * Native and translated types that entry `j` claims, unchecked; 0 when there
 * is no such entry.  To be added up before dp_dof_probe() reads them.
 */
uint32_t dp_dof_probe_types(const struct dp_dof *d,
                            const struct dp_dof_provider *prov, uint32_t j);

/*
 * Read probe `j` of a provider.  A failure tells nothing about the others.
 * Not checked here: dp_dof_sites_unique().
 */
bool dp_dof_probe(const struct dp_dof *d, const struct dp_dof_provider *prov,
                  uint32_t j, struct dp_dof_probe *probe_ret, struct dp_err *e);

/*
 * Offset `k` of `kind`, to be added to addr modulo 2^64; k < offs[kind].n.
 * (Apple's are int32: the caller sign-extends.)
 */
uint32_t dp_dof_site(const struct dp_dof *d, const struct dp_dof_probe *p,
                     enum dp_dof_kind kind, uint32_t k);

/* Position in the DOF of that offset. */
uint64_t dp_dof_site_at(const struct dp_dof_probe *p, enum dp_dof_kind kind,
                        uint32_t k);

/*
 * Check that no offset comes twice within one kind.  `scratch` is used for
 * sorting when the offsets do not ascend as they stand; it needs room for
 * the greater offs[].n, DP_DOF_MAX_KIND_SITES always suffice, and it may
 * hold anything before and after; DP_EUSAGE when it is too small.
 */
bool dp_dof_sites_unique(const struct dp_dof *d, const struct dp_dof_probe *p,
                         uint32_t *scratch, size_t nscratch, struct dp_err *e);

/* "Internal" to "Standard", "Unknown" to "Common"; NULL for any other. */
const char *dp_dof_stability_name(uint32_t stability);
const char *dp_dof_class_name(uint32_t class);

/* One of the two words that "attribute" means in a u32 of attr[]. */
static inline uint32_t
dp_dof_attr_name(uint32_t attr)
{
	return attr >> 24;
}

static inline uint32_t
dp_dof_attr_data(uint32_t attr)
{
	return attr >> 16 & 0xff;
}

static inline uint32_t
dp_dof_attr_class(uint32_t attr)
{
	return attr >> 8 & 0xff;
}

/*
 * An attribute as "name/data/class", say "Evolving/Evolving/ISA"; "#N" for
 * a number that has no name, which is legal.
 */
void dp_dof_attr_text(uint32_t attr, char text_ret[DP_DOF_ATTR_TEXT]);

#endif /* DP_DOFPROBE_H */
