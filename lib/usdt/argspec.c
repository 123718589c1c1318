/* SPDX-License-Identifier: BSD-2-Clause */
#include "usdt/argspec.h"

#include "base/limits.h"
#include "usdt/arglex.h"
#include "usdt/operand.h"

/* Length of "[-]N[f]@" at the start of `s`, 0 if there is none. */
static size_t
prefix_len(struct dp_bytes s)
{
	struct dp_bytes t = s;

	(void)dp_lex_eat(&t, '-');
	if (dp_lex_while(&t, dp_lex_digit).n == 0)
		return 0;
	(void)dp_lex_eat(&t, 'f');
	return dp_lex_eat(&t, '@') ? s.n - t.n : 0;
}

/* Take size and sign from `op`; old notes have neither: unsigned words. */
static const char *
eat_prefix(struct dp_bytes *op, unsigned addr_width, struct dp_arg *a)
{
	size_t n = prefix_len(*op);
	struct dp_bytes t = *op;
	int64_t size = 0;

	if (n == 0) {
		a->size = addr_width;
		return NULL;
	}
	a->is_signed = dp_lex_eat(&t, '-');
	if (dp_lex_number(&t, false, &size) != NULL || size <= 0 ||
	    size > UINT32_MAX)
		size = 0;
	a->is_float = op->p[n - 2] == 'f';
	a->size = (uint32_t)size;
	dp_lex_step(op, n);
	return size == 0 ? "bad size" : NULL;
}

/*
 * Cut the next operand off.  Spaces inside brackets belong to it, but a
 * bracket that is never closed ends where the next "N@" begins.
 */
static struct dp_bytes
cut_operand(struct dp_bytes *rest)
{
	struct dp_bytes word = { rest->p, 0 };
	struct dp_bytes s = *rest;
	size_t depth = 0;

	while (s.n > 0) {
		uint8_t c = s.p[0];

		if (c == '[' || c == '(')
			depth++;
		else if ((c == ']' || c == ')') && depth > 0)
			depth--;
		if (c == ' ' && depth == 0)
			break;
		dp_lex_step(&s, 1);
		if (c == ' ' && prefix_len(s) > 0)
			break;
	}
	word.n = rest->n - s.n;
	while (word.n > 0 && word.p[word.n - 1] == ' ')
		word.n--;
	*rest = s;
	return word;
}

static void
read_operand(const struct dp_arg_iter *it, struct dp_bytes word,
             struct dp_arg *arg_ret)
{
	struct dp_arg a = { .text = word, .scale = 1 };
	struct dp_bytes op = word;
	const char *why = eat_prefix(&op, it->addr_width, &a);

	if (why == NULL)
		why = dp_operand_read(it->machine, op, &a);
	if (why != NULL)
		a.kind = DP_ARG_UNREADABLE;
	a.why = why;
	a.partial = a.kind == DP_ARG_REG &&
	            a.size > dp_reg_word(it->machine, it->addr_width);
	*arg_ret = a;
}

void
dp_arg_iter_init(struct dp_arg_iter *it, struct dp_bytes args, uint16_t machine,
                 unsigned addr_width)
{
	*it = (struct dp_arg_iter){
		.rest = args,
		.machine = machine,
		.addr_width = addr_width == 4 ? 4 : 8,
	};
	if (args.n > 0 && args.p[0] == ':')
		it->rest.n = 0;
}

bool
dp_arg_next(struct dp_arg_iter *it, struct dp_arg *arg_ret)
{
	dp_lex_spaces(&it->rest);
	if (it->rest.n == 0)
		return false;
	if (it->n == DP_MAX_ARGS) {
		it->too_many = true;
		return false;
	}
	it->n++;
	read_operand(it, cut_operand(&it->rest), arg_ret);
	return true;
}

bool
dp_arg_is_int(const struct dp_arg *a)
{
	return a->kind != DP_ARG_UNREADABLE && !a->partial &&
	       (a->size == 1 || a->size == 2 || a->size == 4 || a->size == 8);
}

uint64_t
dp_arg_extend(const struct dp_arg *a, uint64_t raw)
{
	unsigned bits = a->size < 8 ? a->size * 8 : 64;
	uint64_t top;

	if (bits == 0 || bits == 64)
		return raw;
	top = (uint64_t)1 << (bits - 1);
	raw &= (top << 1) - 1;
	return a->is_signed ? (raw ^ top) - top : raw;
}

const char *
dp_arg_kind_name(enum dp_arg_kind kind)
{
	static const char *const names[] = {
		[DP_ARG_REG] = "reg",
		[DP_ARG_CONST] = "const",
		[DP_ARG_MEM] = "mem",
		[DP_ARG_SYM] = "sym",
		[DP_ARG_UNREADABLE] = "unreadable",
	};

	_Static_assert(sizeof names / sizeof names[0] == DP_ARG_KIND_COUNT,
	               "a name for each kind");
	return kind < DP_ARG_KIND_COUNT ? names[kind] : "unknown";
}
