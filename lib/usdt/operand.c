/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One function reads the memory operands of each family of assemblers; what
 * else differs is in the table of dialects.  Functions that return a string
 * return NULL on success and otherwise the reason, which is static.
 */
#include "usdt/operand.h"

#include <elf.h>
#include <string.h>
#include <strings.h>

#include "usdt/arglex.h"

enum percent { PERCENT_NONE, PERCENT_MAY, PERCENT_MUST };

/* What register 0 is in an address: itself, or nothing. */
enum reg0 { REG0_REG, REG0_NO_BASE, REG0_NOTHING };

enum { MAX_SHIFT = 7 }; /* the scale is a byte */

struct dialect {
	uint16_t machine;
	char mark;            /* in front of a constant; 0: none */
	bool bare;            /* a constant may have no mark */
	uint8_t regs;         /* registers in parentheses, at most */
	bool index1st;        /* the index is written before the base */
	enum percent percent; /* in front of a register */
	enum reg0 reg0;
	const char *(*mem)(const struct dialect *d, struct dp_bytes s,
	                   struct dp_arg *a);
	const char *const *modifiers; /* that have a meaning; NULL: no
	                                 symbol has one */
};

/* The sum in front of an address, or a constant. */
struct expr {
	int64_t disp;
	struct dp_bytes symbol;
	struct dp_bytes modifier;
	unsigned nterms; /* 0: nothing was there */
};

/* "sym", "sym@GOTOFF", "sym@toc@l" */
static const char *
eat_symbol(struct dp_bytes *s, struct expr *x)
{
	x->symbol = dp_lex_while(s, dp_lex_name);
	if (!dp_lex_eat(s, '@'))
		return NULL;
	x->modifier.p = s->p;
	do {
		if (dp_lex_while(s, dp_lex_name).n == 0)
			return "'@' without a name";
	} while (dp_lex_eat(s, '@'));
	x->modifier.n = (size_t)(s->p - x->modifier.p);
	return NULL;
}

/* "-8", "sym+28", "40+sym", "sym@GOTOFF", or nothing. */
static const char *
eat_expr(struct dp_bytes *s, struct expr *x)
{
	memset(x, 0, sizeof *x);
	for (;; x->nterms++) {
		bool neg = dp_lex_eat(s, '-');
		bool sign = neg || dp_lex_eat(s, '+');
		const char *why;
		int64_t v = 0;

		if (!sign &&
		    (x->nterms > 0 || s->n == 0 || !dp_lex_name(s->p[0])))
			return NULL;
		if (s->n > 0 && dp_lex_digit(s->p[0])) {
			why = dp_lex_number(s, neg, &v);
			if (why != NULL)
				return why;
			if (__builtin_add_overflow(x->disp, v, &x->disp))
				return "sum past 64 bits";
			continue;
		}
		if (s->n == 0 || !dp_lex_name(s->p[0]))
			return "sign without a number";
		if (neg || x->symbol.n > 0)
			return "more than a symbol and a number";
		why = eat_symbol(s, x);
		if (why != NULL)
			return why;
	}
}

static void
use_expr(struct dp_arg *a, const struct expr *x)
{
	a->disp = x->disp;
	a->symbol = x->symbol;
	a->modifier = x->modifier;
}

static const char *
eat_reg(const struct dialect *d, struct dp_bytes *s,
        const struct dp_reg **reg_ret)
{
	bool percent = d->percent != PERCENT_NONE && dp_lex_eat(s, '%');
	const struct dp_reg *r;

	if (d->percent == PERCENT_MUST && !percent)
		return "no register";
	r = dp_reg_find(d->machine, dp_lex_while(s, dp_lex_alnum));
	if (r == NULL)
		return "no such register";
	*reg_ret = r;
	return NULL;
}

/* A register that can stand in an address. */
static const char *
eat_addr_reg(const struct dialect *d, struct dp_bytes *s,
             const struct dp_reg **reg_ret)
{
	const struct dp_reg *r = NULL;
	const char *why = eat_reg(d, s, &r);

	if (why != NULL)
		return why;
	if (r->cls == DP_REG_VEC)
		return "vector register in an address";
	if (r->width < 4)
		return "narrow register in an address";
	*reg_ret = r;
	return NULL;
}

/* The factor of an index: a power of two up to `max`. */
static const char *
eat_scale(struct dp_bytes *s, int64_t max, uint8_t *scale_ret)
{
	int64_t v = 0;
	const char *why = dp_lex_number(s, false, &v);

	if (why != NULL)
		return why;
	if (v <= 0 || v > max || (v & (v - 1)) != 0)
		return "scale is not a power of two, or too large";
	*scale_ret = (uint8_t)v;
	return NULL;
}

/* The inside of "(base,index,scale)", "(index,base)" or "(base)". */
static const char *
eat_list(const struct dialect *d, struct dp_bytes *s, struct dp_arg *a)
{
	const struct dp_reg *reg[2] = { NULL, NULL };
	const char *why;
	bool two = false;

	/* x86 may leave the base out: "(,%rax,4)" */
	if (d->regs < 3 || s->n == 0 || s->p[0] != ',') {
		why = eat_addr_reg(d, s, &reg[0]);
		if (why != NULL)
			return why;
	}
	if (d->regs > 1 && dp_lex_eat(s, ',')) {
		why = eat_addr_reg(d, s, &reg[1]);
		if (why != NULL)
			return why;
		two = true;
	}
	if (d->regs > 2 && two && dp_lex_eat(s, ',')) {
		why = eat_scale(s, 8, &a->scale);
		if (why != NULL)
			return why;
	}
	a->base = reg[d->index1st && two];
	a->index = two ? reg[!d->index1st] : NULL;
	return NULL;
}

/* "disp(base)" and its relatives: x86, s390, ppc, riscv. */
static const char *
mem_paren(const struct dialect *d, struct dp_bytes s, struct dp_arg *a)
{
	struct expr x;
	const char *why = eat_expr(&s, &x);

	if (why != NULL)
		return why;
	use_expr(a, &x);
	a->kind = DP_ARG_MEM;
	/* only x86 has absolute addresses: "gb+28" */
	if (s.n == 0 && x.nterms > 0 && d->regs > 2)
		return NULL;
	if (!dp_lex_eat(&s, '('))
		return "not an operand of this machine";
	why = eat_list(d, &s, a);
	if (why != NULL)
		return why;
	return dp_lex_eat(&s, ')') && s.n == 0 ? NULL : "bad end of an address";
}

static const char *
mem_x86(const struct dialect *d, struct dp_bytes s, struct dp_arg *a)
{
	if (s.p[0] == '%') {
		static const char first[6] = { 'c', 'd', 'e', 'f', 'g', 's' };

		if (s.n < 4 || memchr(first, s.p[1], sizeof first) == NULL ||
		    s.p[2] != 's' || s.p[3] != ':')
			return "no such register";
		a->segment = (struct dp_bytes){ s.p + 1, 2 };
		dp_lex_step(&s, 4);
	}
	return mem_paren(d, s, a);
}

/* "3,4" is the sum of r3 and r4, as of an indexed load: no scale. */
static const char *
mem_ppc(const struct dialect *d, struct dp_bytes s, struct dp_arg *a)
{
	const struct dp_reg *base = NULL, *index = NULL;
	struct dp_bytes t = s;

	if (eat_addr_reg(d, &t, &base) != NULL || !dp_lex_eat(&t, ','))
		return mem_paren(d, s, a);
	if (eat_addr_reg(d, &t, &index) != NULL || t.n != 0)
		return "bad index register";
	a->kind = DP_ARG_MEM;
	a->base = base;
	a->index = index;
	return NULL;
}

/* What may follow an index register: a factor, or a shift or extension. */
static const struct extension {
	const char *name;
	uint8_t width;   /* of the index register; 0: a full one */
	bool amount;     /* a number must follow */
	const char *why; /* cannot be said in struct dp_arg */
} extensions[] = {
	{ "lsl", 0, true, NULL },
	{ "uxtw", 4, false, NULL },
	{ "uxtx", 8, false, NULL },
	{ "sxtx", 8, false, NULL },
	{ "sxtw", 4, false, "sign-extended index register" },
};

static const char *
eat_extension(const struct dialect *d, struct dp_bytes *s, struct dp_arg *a)
{
	struct dp_bytes name = dp_lex_while(s, dp_lex_alnum);
	unsigned full = dp_reg_word(d->machine, 8);
	const struct extension *x = NULL;
	int64_t n = 0;

	for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++)
		if (dp_bytes_is(name, extensions[i].name))
			x = &extensions[i];
	if (x == NULL || (x->width != 0 && full != 8))
		return "unknown shift of an index register";
	if (a->index->width != (x->width != 0 ? x->width : full))
		return "extension does not fit the index register";
	dp_lex_spaces(s);
	if (x->amount || (s->n > 0 && s->p[0] != ']')) {
		const char *why;

		(void)dp_lex_eat(s, '#');
		why = dp_lex_number(s, false, &n);
		if (why != NULL)
			return why;
		if (n < 0 || n > MAX_SHIFT)
			return "index register shifted too far";
	}
	a->scale = (uint8_t)(1U << n);
	a->why = x->why;
	return NULL;
}

/* "x1", "x1, lsl 3", "x7,4" */
static const char *
eat_index(const struct dialect *d, struct dp_bytes *s, struct dp_arg *a)
{
	const char *why = eat_addr_reg(d, s, &a->index);
	bool narrow;

	if (why != NULL)
		return why;
	narrow = a->index->width < dp_reg_word(d->machine, 8);
	if (!dp_lex_eat(s, ','))
		return narrow ? "narrow index register" : NULL;
	dp_lex_spaces(s);
	if (s->n == 0 || !dp_lex_digit(s->p[0]))
		return eat_extension(d, s, a);
	/* "[x9,x7,4]": only DTrace's notes have it, where numbers are bare */
	if (narrow || !d->bare)
		return "bad index register";
	return eat_scale(s, 1 << MAX_SHIFT, &a->scale);
}

/* Behind the comma of "[base, ...]". */
static const char *
eat_offset(const struct dialect *d, struct dp_bytes *s, struct dp_arg *a)
{
	bool mark = dp_lex_eat(s, '#');
	struct dp_bytes modifier = { NULL, 0 };
	struct expr x;
	const char *why;

	if (!mark && !dp_lex_at_number(*s) && (s->n == 0 || s->p[0] != ':'))
		return eat_index(d, s, a);
	if (dp_lex_eat(s, ':')) {
		modifier = dp_lex_while(s, dp_lex_name);
		if (modifier.n == 0 || !dp_lex_eat(s, ':'))
			return "bad relocation operator";
	}
	why = eat_expr(s, &x);
	if (why != NULL)
		return why;
	if (x.nterms == 0 || (x.symbol.n > 0) != (modifier.n > 0) ||
	    x.modifier.n > 0)
		return "bad offset in an address";
	x.modifier = modifier;
	use_expr(a, &x);
	return NULL;
}

/* "[base]" and its relatives: arm, aarch64. */
static const char *
mem_bracket(const struct dialect *d, struct dp_bytes s, struct dp_arg *a)
{
	const char *why;

	if (!dp_lex_eat(&s, '['))
		return "not an operand of this machine";
	a->kind = DP_ARG_MEM;
	why = eat_addr_reg(d, &s, &a->base);
	if (why != NULL)
		return why;
	if (dp_lex_eat(&s, ',')) {
		dp_lex_spaces(&s);
		why = eat_offset(d, &s, a);
		if (why != NULL)
			return why;
	}
	return dp_lex_eat(&s, ']') && s.n == 0 ? NULL : "bad end of an address";
}

static const char *const x86_modifiers[] = { "GOTOFF", "tpoff", "ntpoff",
	                                     NULL };
static const char *const aarch64_modifiers[] = { "lo12", NULL };

/* clang-format off */
static const struct dialect dialects[] = {
	{ .machine = EM_X86_64, .mark = '$', .regs = 3, .percent = PERCENT_MUST,
	  .mem = mem_x86, .modifiers = x86_modifiers },
	{ .machine = EM_386, .mark = '$', .regs = 3, .percent = PERCENT_MUST,
	  .mem = mem_x86, .modifiers = x86_modifiers },
	{ .machine = EM_AARCH64, .mark = '#', .bare = true, .mem = mem_bracket,
	  .modifiers = aarch64_modifiers },
	{ .machine = EM_ARM, .mark = '#', .mem = mem_bracket },
	{ .machine = EM_PPC64, .mark = 'i', .regs = 1, .percent = PERCENT_MAY,
	  .reg0 = REG0_NO_BASE, .mem = mem_ppc },
	{ .machine = EM_PPC, .mark = 'i', .regs = 1, .percent = PERCENT_MAY,
	  .reg0 = REG0_NO_BASE, .mem = mem_ppc },
	{ .machine = EM_S390, .bare = true, .regs = 2, .index1st = true,
	  .percent = PERCENT_MUST, .reg0 = REG0_NOTHING, .mem = mem_paren },
	{ .machine = EM_RISCV, .bare = true, .regs = 1, .mem = mem_paren },
};
/* clang-format on */

/* A whole constant, behind its mark; on x86 it may be a symbol's address. */
static const char *
constant(const struct dialect *d, struct dp_bytes s, struct dp_arg *a)
{
	struct expr x;
	const char *why = eat_expr(&s, &x);

	if (why != NULL)
		return why;
	if (s.n != 0 || x.nterms == 0)
		return "bad constant";
	if (x.symbol.n == 0 ? x.nterms > 1 : d->regs < 3)
		return "bad constant";
	use_expr(a, &x);
	a->kind = x.symbol.n == 0 ? DP_ARG_CONST : DP_ARG_SYM;
	return NULL;
}

static const char *
operand(const struct dialect *d, struct dp_bytes op, struct dp_arg *a)
{
	const struct dp_reg *r = NULL;
	struct dp_bytes s = op;
	const char *why;

	if (op.n == 0)
		return "no operand";
	if (d->mark != 0 && dp_lex_eat(&s, d->mark))
		return constant(d, s, a);
	if (d->bare && dp_lex_at_number(op) && constant(d, op, a) == NULL)
		return NULL;
	if (eat_reg(d, &s, &r) == NULL && s.n == 0) {
		a->kind = DP_ARG_REG;
		a->base = r;
		return NULL;
	}
	why = d->mem(d, op, a);
	if (why != NULL)
		return why;
	if (d->reg0 != REG0_REG && a->base != NULL && a->base->dwarf == 0)
		a->base = NULL;
	if (d->reg0 == REG0_NOTHING && a->index != NULL && a->index->dwarf == 0)
		a->index = NULL;
	return NULL;
}

static const char *
bad_symbol(const struct dialect *d, const struct dp_arg *a)
{
	const char *const *m = d->modifiers;

	if (a->symbol.p[0] == '.' && a->symbol.n > 1 && a->symbol.p[1] == 'L')
		return "symbol is local to the assembler";
	if (m == NULL)
		return "symbol in an operand of this machine";
	if (a->modifier.n == 0)
		return NULL;
	if (a->kind == DP_ARG_SYM)
		return "relocation operator on an address";
	for (; *m != NULL; m++)
		if (strlen(*m) == a->modifier.n &&
		    strncasecmp(*m, (const char *)a->modifier.p,
		                a->modifier.n) == 0)
			return NULL;
	return "unknown relocation operator";
}

static bool
is_pc(const struct dp_reg *r)
{
	return r != NULL && r->cls == DP_REG_PC;
}

/* Why an operand whose syntax is right has no place to read from, or NULL. */
static const char *
bad_place(const struct dialect *d, const struct dp_arg *a)
{
	if (a->why != NULL)
		return a->why;
	if (a->index != NULL && (is_pc(a->index) || is_pc(a->base)))
		return "program counter with an index";
	if (a->symbol.n > 0)
		return bad_symbol(d, a);
	if (a->kind == DP_ARG_MEM && is_pc(a->base))
		return "address counts from an instruction that is not known";
	if (a->kind != DP_ARG_REG)
		return NULL;
	if (a->base->cls == DP_REG_VEC)
		return "vector register";
	if (a->base->shift != 0 && a->size > a->base->width)
		return "value is larger than its register";
	return NULL;
}

const char *
dp_operand_read(uint16_t machine, struct dp_bytes op, struct dp_arg *a)
{
	const struct dialect *d = NULL;
	struct dp_arg parsed = *a;
	const char *why;

	for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++)
		if (dialects[i].machine == machine)
			d = &dialects[i];
	if (d == NULL)
		return "operands of this machine are not known";
	why = operand(d, op, &parsed);
	if (why != NULL)
		return why;
	*a = parsed;
	return bad_place(d, a);
}
