/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Argument strings of probe notes: "-4@%edi 8@-16(%rbp)", for the assembly
 * syntax of each machine.  This says where a value lies; it resolves no
 * symbol and reads no value.
 *
 * A failure reaches one operand: it comes out as DP_ARG_UNREADABLE with a
 * reason, and the next one is read.  All bytes are borrowed from the string.
 */
#ifndef DP_ARGSPEC_H
#define DP_ARGSPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "usdt/regs.h"

enum dp_arg_kind {
	DP_ARG_REG,   /* the value is in `base` */
	DP_ARG_CONST, /* the value is `disp` */
	DP_ARG_MEM,   /* the value is in memory, see struct dp_arg */
	DP_ARG_SYM,   /* the value is the address of `symbol` plus `disp` */
	DP_ARG_UNREADABLE,
	DP_ARG_KIND_COUNT
};

/*
 * One operand.  The address of DP_ARG_MEM is the sum of
 *	base + index * scale + disp + symbol + base of the segment
 * of which each part may be missing, cut to the width of an address.
 * A register in it narrower than that (w1, %eax) is zero-extended from its
 * width.  A base of class DP_REG_PC only says how code would reach the
 * symbol: it adds nothing, and `symbol` is never empty then.
 * `modifier` says what the symbol stands for, in upper or lower case:
 * nothing (its address), "GOTOFF" (its distance to the GOT), "tpoff" and
 * "ntpoff" (its distance to the thread pointer), "lo12" (the low 12 bits of
 * its address).  No other modifier occurs but in DP_ARG_UNREADABLE.
 *
 * The low `size` bytes count, whatever the width of a register's name.
 * A size other than 1, 2, 4, 8, or `partial`, gives a place but no integer:
 * ask dp_arg_is_int().
 *
 * An UNREADABLE operand has the fields of its parts when it was understood
 * but has no place (a vector register, a symbol that is never in a file);
 * otherwise only text, size, is_signed, is_float and why.
 */
struct dp_arg {
	struct dp_bytes text; /* as written: "[-]N[f]@OP" */
	uint32_t size;        /* bytes; 0 when it could not be read */
	bool is_signed;       /* N has a '-' */
	bool is_float;        /* N has an 'f': a bit pattern */
	bool partial;         /* the register holds a part of the value */
	enum dp_arg_kind kind;
	const struct dp_reg *base;  /* static, or NULL */
	const struct dp_reg *index; /* static, or NULL */
	uint8_t scale;              /* of the index, a power of two; else 1 */
	int64_t disp;               /* 64-bit pattern of a constant */
	struct dp_bytes symbol;     /* empty: none */
	struct dp_bytes modifier;   /* without '@' or ':'; empty: none */
	struct dp_bytes segment;    /* "fs", "gs" ...; empty: none */
	const char *why;            /* static; NULL unless UNREADABLE */
};

/* The walk.  Zero-cost to copy; owns nothing. */
struct dp_arg_iter {
	struct dp_bytes rest; /* what is still to be read */
	uint16_t machine;     /* EM_* */
	uint8_t addr_width;   /* 4 or 8 */
	uint32_t n;           /* operands given out */
	bool too_many;        /* ended at DP_MAX_ARGS with more to come */
};

/*
 * Begin on the argument string `args` (without its NUL) of an object of ELF
 * machine `machine` whose addresses have `addr_width` bytes, 4 or 8.  "" and
 * a string that begins with ':' hold no arguments.
 */
void dp_arg_iter_init(struct dp_arg_iter *it, struct dp_bytes args,
                      uint16_t machine, unsigned addr_width);

/*
 * The next operand, or false at the end; *arg_ret is untouched then.  Look
 * at it->too_many after the end.
 */
bool dp_arg_next(struct dp_arg_iter *it, struct dp_arg *arg_ret);

/* True if the value is one integer (or pattern) of 1, 2, 4 or 8 bytes. */
bool dp_arg_is_int(const struct dp_arg *a);

/*
 * What `raw`, read from the operand's place (for DP_ARG_CONST: disp), is as
 * a value: cut to `size` and extended by sign or zeros to 64 bits.  The
 * place of a register starts at its `shift`.
 */
uint64_t dp_arg_extend(const struct dp_arg *a, uint64_t raw);

/* "reg", "const", "mem", "sym", "unreadable". */
const char *dp_arg_kind_name(enum dp_arg_kind kind);

#endif /* DP_ARGSPEC_H */
