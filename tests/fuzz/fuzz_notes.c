/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A section of notes, each read as every kind of descriptor.  The first byte
 * picks byte order and address width.
 */
#include <stdlib.h>

#include "usdt/notes.h"
#include "usdt/sdt.h"
#include "usdt/usdtnote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Stop unless an error lies inside the `n` bytes it speaks of. */
static void
check_err(const struct dp_err *e, size_t n)
{
	if (e->code == DP_OK || e->off > n || e->msg[0] == '\0')
		abort();
}

static void
read_prov(struct dp_bytes desc, enum dp_order order)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_usdt_probe_iter it;
	struct dp_usdt_xlat_iter x;
	struct dp_usdt_probe probe;
	struct dp_usdt_prov prov;
	struct dp_bytes type;
	enum dp_step s;
	uint8_t native;

	if (!dp_usdt_prov_parse(desc, order, &prov, &e)) {
		check_err(&e, desc.n);
		return;
	}
	dp_usdt_probe_iter_init(&it, desc, &prov);
	while ((s = dp_usdt_probe_next(&it, &probe, &e)) != DP_STEP_END) {
		unsigned k = 0;

		if (s == DP_STEP_BAD) {
			check_err(&e, desc.n);
			e = (struct dp_err)DP_ERR_INIT;
			continue;
		}
		dp_usdt_xlat_init(&x, &probe);
		for (; dp_usdt_xlat_next(&x, &type, &native); k++)
			if (native >= probe.nnative)
				abort();
		if (k != probe.nxlated || probe.name.n == 0)
			abort();
	}
}

static void
read_desc(struct dp_bytes desc, unsigned width, enum dp_order order)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_usdt_site site;
	struct dp_sdt sdt;

	if (!dp_sdt_parse(desc, width, order, &sdt, &e))
		check_err(&e, desc.n);
	else if (sdt.provider.n == 0 || sdt.name.n == 0)
		abort();
	e = (struct dp_err)DP_ERR_INIT;
	if (!dp_usdt_site_parse(desc, order, &site, &e))
		check_err(&e, desc.n);
	read_prov(desc, order);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct dp_err e = DP_ERR_INIT;
	struct dp_note_iter it;
	struct dp_note note;
	enum dp_order order;
	uint64_t last = 0;
	enum dp_step s;

	if (n == 0)
		return 0;
	order = data[0] & 1 ? DP_BE : DP_LE;
	dp_note_iter_init(&it, (struct dp_bytes){ data + 1, n - 1 }, order);
	while ((s = dp_note_next(&it, &note, &e)) != DP_STEP_END) {
		if (s == DP_STEP_BAD) {
			check_err(&e, n - 1);
			e = (struct dp_err)DP_ERR_INIT;
			continue;
		}
		if (note.off % DP_NOTE_ALIGN != 0 || note.off < last ||
		    (note.desc.n > 0 &&
		     note.desc.p != data + 1 + note.desc_off))
			abort();
		last = note.off + DP_NOTE_HDR;
		read_desc(note.desc, data[0] & 2 ? 4 : 8, order);
	}
	/* and the whole as one descriptor, to reach deeper */
	read_desc((struct dp_bytes){ data + 1, n - 1 }, data[0] & 2 ? 4 : 8,
	          order);
	return 0;
}
