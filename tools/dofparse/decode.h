/* SPDX-License-Identifier: BSD-2-Clause */
/* The work of dofparse: descriptors in, one stream out.  Runs in the jail. */
#ifndef DP_DECODE_H
#define DP_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum decode_form { DECODE_BINARY, DECODE_JSON, DECODE_TEXT };

struct decode_opts {
	enum decode_form form;
	bool strict; /* any error ends it */
	bool stats;
	bool quiet;       /* no messages about bad contents */
	uint16_t machine; /* of bare DOF */
};

/* An open input; `name` is for messages. */
struct decode_input {
	const char *name;
	int fd;
};

/* Decode all inputs to standard output; an exit status. */
int decode_run(const struct decode_opts *o, const struct decode_input *in,
               size_t nin);

#endif /* DP_DECODE_H */
