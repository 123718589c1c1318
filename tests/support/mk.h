/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of mkfix share: memory, byte buffers, the parsed text, and
 * the functions that turn a statement into bytes.  mkfix makes the binary
 * fixtures of the tests out of text; it shares no code with what it tests.
 *
 * A mistake in the text ends the program (mk_die), so no function here has
 * a failure value.  All memory belongs to struct mk and is freed with it.
 */
#ifndef DP_TEST_MK_H
#define DP_TEST_MK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MK_MAX_MEM = 256 << 20, /* all memory of one run */
	MK_MAX_DEPTH = 24,      /* blocks inside blocks */
	MK_MAX_ZERO = 16 << 20, /* bytes that one statement may fill */
	MK_MAX_CHAIN = 8,       /* terms of one number */
};

/* One allocation, linked to the one before it. */
struct mk_chunk {
	struct mk_chunk *next;
	uint64_t data[]; /* 64-bit words, for their alignment */
};

/* One run over one text. */
struct mk {
	const char *path;        /* for messages */
	struct mk_chunk *chunks; /* every allocation */
	size_t used;             /* bytes in them */
	struct mk_stmt *top;     /* the parsed text */
};

/* Bytes under construction.  Zeroed is empty. */
struct mk_buf {
	struct mk *mk;
	uint8_t *p;
	size_t n, cap;
};

/* A word of the text: any bytes, and a NUL behind them. */
struct mk_word {
	const char *s; /* NULL: absent */
	size_t n;
	bool quoted;
};

/* One `VALUE` (key.s NULL) or `KEY=VALUE` of a statement. */
struct mk_arg {
	struct mk_word key, val;
	bool used; /* something asked for it; others are typing errors */
};

/* One statement, with its block. */
struct mk_stmt {
	const char *kw;
	unsigned int line;
	unsigned int nargs;
	struct mk_arg *args;
	struct mk_stmt *kids; /* first statement of the block */
	struct mk_stmt *next;
	bool used;
};

/* A named constant; tables end with a NULL name. */
struct mk_const {
	const char *name;
	uint64_t value;
};

/* A field that `poke` can name, in 32- and 64-bit files. */
struct mk_field {
	const char *name;
	uint8_t off32, size32, off64, size64;
};

/* A place that `poke KIND=KEY` can name. */
struct mk_mark {
	struct mk_mark *next;
	const char *kind;
	const char *name; /* may be NULL */
	unsigned int index;
	uint64_t at;                   /* offset in its block */
	const struct mk_field *fields; /* ends with a NULL name; may be NULL */
};

/* A block under construction: its bytes and the places in it. */
struct mk_block {
	struct mk_buf buf;
	struct mk_mark *marks;
};

/* A number that only the assembler can know (--gas). */
struct mk_fix {
	struct mk_fix *next;
	uint64_t at; /* in the buffer of the outermost block */
	unsigned int size;
	const char *expr;
	const char *reloc; /* as a relocation of this name, or NULL */
};

struct mk_elf; /* mkelf.h: what numbers may name */

/* What a statement needs to know of where it stands. */
struct mk_ctx {
	struct mk *mk;
	struct mk_elf *elf;    /* NULL outside of an ELF */
	struct mk_fix **fixes; /* NULL unless --gas */
	uint64_t vaddr;        /* address of the first byte of the block */
	uint64_t at;           /* --gas: where the block starts */
	uint16_t machine;      /* e_machine; EM_X86_64 outside of an ELF */
	bool msb, wide;        /* byte order, and 64-bit words */
};

/*
 * What @NAME (address of a section), %NAME (its size) or &NAME (a symbol) is
 * in an ELF under construction: 0 in its first pass, which is after sizes.
 */
uint64_t mk_elf_lookup(const struct mk_ctx *c, const struct mk_stmt *s,
                       char sigil, struct mk_word name);

/* mkout.c */
_Noreturn void mk_die(const struct mk *mk, unsigned int line, const char *fmt,
                      ...) __attribute__((format(printf, 3, 4)));
/* Zeroed memory that lives as long as mk. */
void *mk_alloc(struct mk *mk, size_t size);
void mk_free(struct mk *mk);
void mk_put(struct mk_buf *b, const void *p, size_t n);
void mk_fill(struct mk_buf *b, uint64_t n, uint8_t byte);
void mk_align(struct mk_buf *b, uint64_t align);
void mk_uint(struct mk_buf *b, bool msb, unsigned int size, uint64_t v);
/* Overwrite `size` bytes at `at`, which must exist. */
void mk_set(struct mk_buf *b, bool msb, uint64_t at, unsigned int size,
            uint64_t v);
/* The text behind printf's format, in mk's memory. */
const char *mk_fmt(struct mk *mk, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* mkparse.c */
void mk_parse(struct mk *mk, const char *text, size_t n);
/* Complain about the first statement or argument that nothing asked for. */
void mk_unused(const struct mk *mk, const struct mk_stmt *s);
/* The value of KEY=, or a word with s NULL. */
struct mk_word mk_key(struct mk_stmt *s, const char *key);
/* The i-th value without a key; absent: a word with s NULL. */
struct mk_word mk_pos(struct mk_stmt *s, unsigned int i);
unsigned int mk_npos(const struct mk_stmt *s);
/* The i-th value or KEY=, which must be there. */
struct mk_word mk_need(const struct mk *mk, struct mk_stmt *s, unsigned int i);
struct mk_word mk_needkey(const struct mk *mk, struct mk_stmt *s,
                          const char *key);

/* mkvalue.c */
/* The number that `w` spells; a sum of numbers, @SECTION, %SECTION, &SYMBOL. */
uint64_t mk_value(const struct mk_ctx *c, const struct mk_stmt *s,
                  struct mk_word w);
/* The same for KEY=, `def` when absent. */
uint64_t mk_num(const struct mk_ctx *c, struct mk_stmt *s, const char *key,
                uint64_t def);
/* The same for a word that may be a name in a table. */
uint64_t mk_named(const struct mk_ctx *c, const struct mk_stmt *s,
                  struct mk_word w, const struct mk_const *t);
uint64_t mk_numname(const struct mk_ctx *c, struct mk_stmt *s, const char *key,
                    const struct mk_const *t);
/* Append the bytes that hexadecimal digits spell. */
void mk_puthex(const struct mk_ctx *c, const struct mk_stmt *s,
               struct mk_word w, struct mk_buf *b);
/* Whether the number is the assembler's business: --gas and a symbol in it. */
bool mk_symbolic(const struct mk_ctx *c, struct mk_word w);

/* mkcontent.c */
/* Run the statements of a block, then its overrides, into `b`. */
void mk_content(const struct mk_ctx *c, struct mk_stmt *first,
                struct mk_block *b);
/* Run poke, cut and append of a block whose bytes are complete. */
void mk_overrides(const struct mk_ctx *c, struct mk_stmt *s,
                  struct mk_block *b);
bool mk_is_override(const struct mk_stmt *s);
void mk_mark(struct mk_block *b, struct mk_mark m);

/* A statement's function: append its bytes to `b`. */
typedef void mk_put_fn(const struct mk_ctx *c, struct mk_stmt *s,
                       struct mk_block *b);

mk_put_fn mk_put_dof;  /* mkdof.c */
mk_put_fn mk_put_note; /* mknote.c, and the next three */
mk_put_fn mk_put_stapsdt;
mk_put_fn mk_put_usdt;
mk_put_fn mk_put_prov;
mk_put_fn mk_put_elf;   /* mkelf.c */
mk_put_fn mk_put_macho; /* mkmacho.c, and the next */
mk_put_fn mk_put_fat;
mk_put_fn mk_put_ar; /* mkar.c */

/* mkdof.c: "stable/stable/common" as the word of the format. */
uint32_t mk_attr(const struct mk_ctx *c, const struct mk_stmt *s,
                 struct mk_word w);

#endif /* DP_TEST_MK_H */
