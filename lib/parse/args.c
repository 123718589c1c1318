/* SPDX-License-Identifier: BSD-2-Clause */
/* The operands of a note's site as arg records. */
#include <elf.h>

#include "base/limits.h"
#include "base/range.h"
#include "parse/state.h"
#include "usdt/argspec.h"

static struct dp_arg_iter
iter(const struct dp_parser *p, struct dp_bytes args)
{
	struct dp_arg_iter it;

	dp_arg_iter_init(&it, args, p->obj.machine, p->obj.class == 32 ? 4 : 8);
	return it;
}

uint32_t
dp_args_count(const struct dp_parser *p, struct dp_bytes args)
{
	struct dp_arg_iter it = iter(p, args);
	struct dp_arg a;
	uint32_t n = 0;

	while (dp_arg_next(&it, &a))
		n++;
	return n;
}

/*
 * Where the thread-local block lies against the thread pointer.  Machines
 * that keep it below the pointer end it there; those that keep it above
 * begin it behind a control block of their own.
 */
static const struct {
	uint16_t machine;
	bool below;
	int16_t gap;
} tls_layouts[] = {
	{ EM_X86_64, true, 0 },       { EM_386, true, 0 },
	{ EM_S390, true, 0 },         { EM_AARCH64, false, 16 },
	{ EM_ARM, false, 8 },         { EM_RISCV, false, 0 },
	{ EM_PPC64, false, -0x7000 }, { EM_PPC, false, -0x7000 },
};

static bool
tp_offset(const struct dp_parser *p, uint64_t value, int64_t *off_ret)
{
	const struct dp_rec_segment *tls = NULL;

	for (size_t i = 0; i < p->segments.n; i++) {
		const struct dp_rec_segment *s =
			DP_VEC_AT(&p->segments, struct dp_rec_segment, i);

		if (s->p_type == PT_TLS)
			tls = s;
	}
	if (tls == NULL || (tls->align != 0 && !dp_pow2(tls->align)))
		return false;
	for (size_t i = 0; i < sizeof tls_layouts / sizeof tls_layouts[0];
	     i++) {
		uint64_t align = tls->align == 0 ? 1 : tls->align;

		if (tls_layouts[i].machine != p->obj.machine)
			continue;
		if (tls_layouts[i].below)
			value -= dp_align_up(tls->memsz, align);
		else if (tls_layouts[i].gap > 0)
			value += dp_align_up((uint64_t)tls_layouts[i].gap,
			                     align);
		else
			value += (uint64_t)(int64_t)tls_layouts[i].gap;
		*off_ret = (int64_t)value;
		return true;
	}
	return false;
}

/* Fill in what the file says of the symbol; a reason when it says nothing. */
static const char *
symbol_fields(struct dp_parser *p, struct dp_rec_arg *r, uint8_t *base_ret)
{
	const struct dp_sym *s = dp_parse_find(p, r->symbol);

	if (s == NULL)
		return "symbol not in the file";
	if (s->kind == DPR_SYM_AMBIGUOUS)
		return "several symbols of this name";
	r->symbol_found = true;
	/* An offset in the template, or an address that moves or does not. */
	*base_ret = s->kind == DPR_SYM_TLS || s->section == SHN_ABS
	                    ? DPR_BASE_NONE
	                    : dp_parse_base(p);
	r->symbol_value = s->value;
	if (s->kind == DPR_SYM_TLS && !tp_offset(p, s->value, &r->tp_offset))
		return "thread-local symbol without a template";
	return NULL;
}

static struct dp_bytes
reg_name(const struct dp_reg *reg)
{
	return dp_cstr(reg == NULL ? "" : reg->name);
}

static const uint8_t kinds[DP_ARG_KIND_COUNT] = {
	[DP_ARG_REG] = DPR_ARG_REG,
	[DP_ARG_CONST] = DPR_ARG_CONST,
	[DP_ARG_MEM] = DPR_ARG_MEM,
	[DP_ARG_SYM] = DPR_ARG_SYM,
	[DP_ARG_UNREADABLE] = DPR_ARG_UNREADABLE,
};

static bool
put_arg(struct dp_parser *p, struct dp_rec_arg *r, const struct dp_arg *a,
        struct dp_err *e)
{
	const char *why = a->why;
	uint8_t base = DPR_BASE_NONE;
	struct dp_word word = { .n = 0 };
	struct dp_addr_ref ref = {
		.rec = DPR_RELOC_OF_ARG,
		.field = DPR_RELOC_SYMVAL,
		.rec_id = r->site,
		.arg = r->index,
		.dof = DP_NO_ID,
		.dof_sec = DP_NO_ID,
		.pos = p->out->pos + DP_WIRE_OFF(arg, symbol_value),
	};

	if (why == NULL && a->symbol.n != 0)
		why = symbol_fields(p, r, &base);
	if (why == NULL && p->obj.machine == 0)
		why = "machine not known";
	if (r->symbol_found) {
		(void)dp_word_add(&word, DPR_RELOC_PLAIN, base, 0);
		r->reloc = p->nrelocs;
		r->nreloc = word.n;
	}
	r->kind = why != NULL ? (uint8_t)DPR_ARG_UNREADABLE : kinds[a->kind];
	r->why = dp_cstr(why == NULL ? "" : why);
	p->stats.args++;
	p->stats.unreadable += why != NULL;
	return dp_put_arg(p->out, r, e) &&
	       dp_word_write(p, &word, r->symbol_value, &ref, e);
}

bool
dp_args_write(struct dp_parser *p, uint32_t site, const struct dp_note_site *s,
              struct dp_err *e)
{
	struct dp_arg_iter it = iter(p, s->args);
	struct dp_err what = DP_ERR_INIT;
	struct dp_arg a;

	for (uint32_t i = 0; dp_arg_next(&it, &a); i++) {
		struct dp_rec_arg r = {
			.site = site,
			.index = i,
			.disp = a.disp,
			.size = a.size,
			.scale = a.scale,
			.is_signed = a.is_signed,
			.is_float = a.is_float,
			.partial = a.partial,
			.text = a.text,
			.base = reg_name(a.base),
			.index_reg = reg_name(a.index),
			.symbol = a.symbol,
			.modifier = a.modifier,
			.segment = a.segment,
		};

		if (!put_arg(p, &r, &a, e))
			return false;
	}
	if (!it.too_many)
		return true;
	(void)dp_err_set(&what, DP_ELIMIT, s->args_at, "more than %d arguments",
	                 DP_MAX_ARGS);
	return dp_parse_complain(p, DPR_REACH_ARGUMENT, &what, e);
}
