/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From raw records to probes: takes the records of the extract stage one by
 * one and writes those of the parse stage.  No address is resolved and no
 * relocation applied.  It opens nothing, so that it can work in a jail.
 */
#ifndef DP_PARSE_H
#define DP_PARSE_H

#include "record/reader.h"
#include "record/writer.h"

/* Numbers for people, over the life of a parser. */
struct dp_parse_stats {
	uint64_t objects;
	uint64_t dofs;
	uint64_t notes; /* stapsdt and usdt, declarations included */
	uint64_t providers;
	uint64_t probes;
	uint64_t sites;
	uint64_t args;
	uint64_t unreadable; /* args that cannot be read */
	uint64_t errors;     /* error records written or passed on */
	uint64_t relocs[DPR_relockind_COUNT];
	uint64_t matter; /* relocs that would change an address */
};

struct dp_parse_opts {
	uint16_t machine; /* e_machine of bare DOF; 0 unknown */
	/* Told of each error record that this parser makes; may be NULL. */
	void (*complain)(void *ctx, struct dp_bytes input,
	                 const struct dp_err *what);
	void *ctx;
};

struct dp_parser;

/* NULL when memory is out.  `out` is borrowed. */
struct dp_parser *dp_parser_create(struct dp_writer *out,
                                   const struct dp_parse_opts *opts);
void dp_parser_destroy(struct dp_parser *p);

/*
 * Take one record of an extract stream; header and end records are the
 * caller's.  Bad contents become error records; false only when output or
 * memory fails, and nothing can go on.
 */
bool dp_parser_put(struct dp_parser *p, const struct dp_record *rec,
                   struct dp_err *e);

/*
 * Take the bytes of a DOF that came without a stream, as an object of its
 * own called `input`.
 */
bool dp_parser_bare(struct dp_parser *p, struct dp_bytes input,
                    struct dp_bytes dof, struct dp_err *e);

/*
 * An error record in the output, in or outside of an object; the caller has
 * found it while reading its input.
 */
bool dp_parser_error(struct dp_parser *p, struct dp_bytes input,
                     enum dp_word_reach reach, const struct dp_err *what,
                     struct dp_err *e);

const struct dp_parse_stats *dp_parser_stats(const struct dp_parser *p);

#endif /* DP_PARSE_H */
