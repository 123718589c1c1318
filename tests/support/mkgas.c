/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a DOF as source for GNU as, to be linked into a program: what
 * depends on a symbol is left to the assembler and the linker.
 */
#include <stdlib.h>

#include "mkgas.h"

static int
by_place(const void *a, const void *b)
{
	const struct mk_fix *const *x = a, *const *y = b;

	return ((*x)->at > (*y)->at) - ((*x)->at < (*y)->at);
}

static void
bytes(FILE *f, const struct mk_buf *b, uint64_t at, uint64_t end)
{
	unsigned int col = 0;

	for (; at < end; at++) {
		fprintf(f, "%s0x%02x", col == 0 ? "\t.byte " : ",", b->p[at]);
		if (++col == 12 || at + 1 == end) {
			fputc('\n', f);
			col = 0;
		}
	}
}

void
mk_gas(FILE *f, const struct mk_buf *b, struct mk_fix *fixes)
{
	const struct mk_fix **list, *x;
	size_t n = 0, i;
	uint64_t at = 0;

	for (x = fixes; x != NULL; x = x->next)
		n++;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	list = mk_alloc(b->mk, (n + 1) * sizeof(x));
	for (x = fixes, i = 0; x != NULL; x = x->next)
		list[i++] = x;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the same */
	qsort(list, n, sizeof(x), by_place);

	fputs("\t.pushsection .SUNW_dof,\"a\",@0x6ffffff4\n\t.balign 8\n", f);
	for (i = 0; i < n; i++) {
		x = list[i];
		if (x->at < at || x->at > b->n || x->size > b->n - x->at)
			mk_die(b->mk, 0,
			       "--gas: %s is not in a dof that is "
			       "whole and outside of an elf",
			       x->expr);
		bytes(f, b, at, x->at);
		if (x->reloc != NULL)
			fprintf(f, "\t.reloc ., %s, %s\n\t.%ubyte 0\n",
			        x->reloc, x->expr, x->size);
		else
			fprintf(f, "\t.%ubyte %s\n", x->size, x->expr);
		at = x->at + x->size;
	}
	bytes(f, b, at, b->n);
	fputs("\t.popsection\n", f);
}
