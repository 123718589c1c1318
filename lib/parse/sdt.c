/* SPDX-License-Identifier: BSD-2-Clause */
/* One stapsdt note to site, arg and reloc records. */
#include "usdt/sdt.h"

#include <elf.h>

#include "parse/state.h"

static unsigned
addr_width(const struct dp_parser *p)
{
	return p->obj.class == 32 ? 4 : 8;
}

/*
 * An address word of the note.  When no relocation of the file hits it (it
 * was linked), it still waits for the load bias and, in a file that was
 * moved after linking, for the way that .stapsdt.base has gone.
 */
static void
note_word(struct dp_parser *p, uint32_t off, uint64_t delta,
          struct dp_word *word)
{
	struct dp_hits hits = dp_hits_now(p);
	struct dp_place at = { off, addr_width(p), 0 };

	dp_word_elf(p, hits, at, word);
	if (word->n == 0)
		(void)dp_word_add(word, DPR_RELOC_SDT_BASE, dp_parse_base(p),
		                  (int64_t)delta);
}

bool
dp_parse_sdt(struct dp_parser *p, const struct dp_rec_rawnote *raw,
             struct dp_err *e)
{
	enum dp_order order = p->obj.order == DPR_ORDER_MSB ? DP_BE : DP_LE;
	struct dp_note_site s = { .source = DPR_SOURCE_STAPSDT,
		                  .kind = DPR_SITE_PROBE };
	const struct dp_hits hits = dp_hits_now(p);
	struct dp_err what = DP_ERR_INIT;
	uint64_t delta, at = raw->fileoff + raw->desc_off;
	struct dp_sdt n;

	if (!dp_sdt_parse(raw->desc, addr_width(p), order, &n, &what)) {
		if (what.off != DP_NOOFF)
			what.off += at;
		return dp_parse_complain(p, DPR_REACH_SITE, &what, e);
	}
	delta = dp_sdt_delta(raw->base, raw->has_base, n.base);
	s.provider = n.provider;
	s.name = n.name;
	s.args = n.args;
	s.args_at =
		at + (uint64_t)(n.args.p == NULL ? 0 : n.args.p - raw->desc.p);
	s.pc = n.pc;
	s.sem = n.semaphore;
	s.pc_place = n.pc_off;
	s.sem_place = n.semaphore_off;
	note_word(p, n.pc_off, delta, &s.pc_word);
	note_word(p, n.semaphore_off, delta, &s.sem_word);
	if (n.semaphore == 0 && s.sem_word.r[0].kind == DPR_RELOC_SDT_BASE)
		s.sem_word.n = 0; /* no semaphore, so no address */
	if (!dp_parse_function(p, dp_hits_section(p, hits, n.pc_off),
	                       dp_word_resolve(p, &s.pc_word, s.pc, 0),
	                       &s.function, e))
		return false;
	return dp_note_site_write(p, &s, e);
}
