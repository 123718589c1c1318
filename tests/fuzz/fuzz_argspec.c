/* SPDX-License-Identifier: BSD-2-Clause */
/* Argument strings.  The first byte picks the machine and address width. */
#include <elf.h>
#include <stdlib.h>

#include "base/limits.h"
#include "usdt/argspec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Stop unless `b` lies inside the input. */
static void
inside(struct dp_bytes b, const uint8_t *data, size_t n)
{
	if (b.n != 0 &&
	    (b.p < data || b.n > n || (size_t)(b.p - data) > n - b.n))
		abort();
}

/* What argspec.h promises of every operand. */
static void
check(const struct dp_arg *a, const uint8_t *data, size_t n)
{
	inside(a->text, data, n);
	inside(a->symbol, data, n);
	inside(a->modifier, data, n);
	inside(a->segment, data, n);
	if (a->text.n == 0 || a->scale == 0 || (a->scale & (a->scale - 1)))
		abort();
	if ((a->why != NULL) != (a->kind == DP_ARG_UNREADABLE))
		abort();
	if (a->kind == DP_ARG_REG && a->base == NULL)
		abort();
	if (a->kind == DP_ARG_SYM && a->symbol.n == 0)
		abort();
	if (a->kind == DP_ARG_MEM && a->base != NULL &&
	    a->base->cls == DP_REG_PC && a->symbol.n == 0)
		abort();
	if (dp_arg_is_int(a))
		(void)dp_arg_extend(a, (uint64_t)a->disp);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const uint16_t machines[] = { EM_X86_64, EM_386,   EM_AARCH64,
		                             EM_ARM,    EM_PPC64, EM_PPC,
		                             EM_S390,   EM_RISCV, EM_SPARC };
	struct dp_arg_iter it;
	struct dp_arg a;
	uint32_t count = 0;

	if (n == 0)
		return 0;
	dp_arg_iter_init(&it, (struct dp_bytes){ data + 1, n - 1 },
	                 machines[(data[0] >> 1) %
	                          (sizeof machines / sizeof machines[0])],
	                 data[0] & 1 ? 4 : 8);
	while (dp_arg_next(&it, &a)) {
		check(&a, data + 1, n - 1);
		count++;
	}
	if (count > DP_MAX_ARGS || count > n)
		abort();
	return 0;
}
