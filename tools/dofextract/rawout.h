/* SPDX-License-Identifier: BSD-2-Clause */
/* A sink that lets the bytes of rawdof records through and nothing else. */
#ifndef DP_RAWOUT_H
#define DP_RAWOUT_H

#include "record/writer.h"

struct rawout {
	struct dp_sink out;
	struct dp_buf kept; /* a record that is not whole yet */
};

/* For struct dp_sink: ctx is the struct rawout. */
bool rawout_write(void *ctx, struct dp_bytes b, struct dp_err *e);

#endif /* DP_RAWOUT_H */
