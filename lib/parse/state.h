/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of lib/parse: what is known of the object in work.  Everything is
 * kept from object to object, emptied and not freed.
 */
#ifndef DP_PARSE_STATE_H
#define DP_PARSE_STATE_H

#include "base/strmap.h"
#include "parse/parse.h"
#include "usdt/dofprobe.h"

/* A symbol record; its name lies in dp_parser.names. */
struct dp_sym {
	uint64_t value;
	uint64_t size;
	uint32_t section;
	uint32_t up; /* functions: the next one around, number + 1; 0 none */
	uint8_t kind;
	size_t name_off;
	size_t name_size;
};

/* An ELF relocation on its way to the raw record behind it. */
struct dp_hit {
	struct dp_rec_elfrel rel; /* symbol is not used */
	uint32_t nth;             /* as they came: of two the later counts */
	size_t name_off;          /* in dp_hits.names */
	size_t name_size;
};

/* What is kept of an object, each within limits; see dp_parse_room(). */
enum dp_keep {
	DP_KEEP_ELFRELS,
	DP_KEEP_SYMBOLS,
	DP_KEEP_HELPERS,
	DP_KEEP_NOTES,
	DP_KEEP_COUNT
};

struct dp_kept_total {
	uint32_t n;
	uint64_t bytes;
	bool told; /* that there is no more room */
};

/* A .note.usdt note kept until the object ends: order is not given. */
struct dp_kept {
	struct dp_rec_rawnote note; /* strings are not used */
	size_t desc_off, desc_size; /* in dp_parser.kept_bytes */
	bool is_prov;
	size_t hit0, nhits; /* in dp_parser.kept_hits */
};

struct dp_parser {
	struct dp_writer *out; /* borrowed */
	struct dp_parse_opts opts;
	struct dp_parse_stats stats;
	struct dp_rec_object obj; /* strings: path and member below */
	struct dp_buf path;       /* of the object, for messages */
	struct dp_vec segments;   /* struct dp_rec_segment */
	struct dp_vec symbols;    /* struct dp_sym */
	struct dp_buf names;      /* of symbols */
	struct dp_vec hits;       /* struct dp_hit, for the next raw record */
	struct dp_buf hit_names;
	struct dp_kept_total totals[DP_KEEP_COUNT];
	bool symbols_sorted;
	unsigned sorts;         /* of this object */
	struct dp_vec by_place; /* uint32_t: functions, by section and value */
	struct dp_strmap by_name;   /* other symbols */
	struct dp_strmap strings;   /* address of a string -> symbol */
	struct dp_strmap providers; /* of notes: source, name -> id */
	struct dp_strmap probes;  /* of notes: provider, function, name -> id */
	struct dp_buf key;        /* scratch for the maps */
	struct dp_vec kept;       /* struct dp_kept */
	struct dp_vec kept_hits;  /* struct dp_hit */
	struct dp_buf kept_bytes; /* descriptors, and names of kept_hits */
	struct dp_vec rels;       /* struct dp_dof_rel of the DOF in work */
	struct dp_buf matched;    /* a byte each: it hits a probe's address */
	uint32_t *scratch;        /* DP_DOF_MAX_KIND_SITES, for sorting */
	struct dp_vec helpers; /* struct dp_rec_helper, module in `modules` */
	struct dp_buf modules;
	uint32_t ndofs, nproviders, nprobes, nsites, nrelocs;
	uint32_t nnotes; /* of the object */
	uint32_t ntypes; /* of declarations, written in the object */
};

/* Address of a field and what is to be added to it, to be written. */
struct dp_addr_ref {
	uint8_t rec;     /* enum dp_word_relocrec */
	uint8_t field;   /* enum dp_word_relocfield */
	uint32_t rec_id; /* probe, site */
	uint32_t arg;    /* index of the argument */
	uint32_t dof;    /* DOF id, or DP_NO_ID */
	uint32_t dof_sec;
	uint64_t place; /* offset in that section, or in the descriptor */
	uint64_t pos;   /* of the field, from the object record */
};

/* Some relocations, by offset; borrowed. */
struct dp_hits {
	const struct dp_hit *h;
	size_t n;
	const struct dp_buf *names;
};

/* Those of the raw record in work. */
static inline struct dp_hits
dp_hits_now(const struct dp_parser *p)
{
	return (struct dp_hits){ p->hits.p, p->hits.n, &p->hit_names };
}

/* A word of a raw record. */
struct dp_place {
	uint64_t off;   /* in the record's data */
	uint32_t width; /* bytes */
	uint64_t vaddr; /* of the record's data */
};

/* At most this many relocations are kept for one word. */
enum { DP_WORD_RELOCS = 4 };

struct dp_word {
	struct dp_rec_reloc r[DP_WORD_RELOCS];
	uint32_t n;
	const char *why; /* static: why nothing can attach here, or NULL */
};

/* symbols.c */
bool dp_parse_symbol(struct dp_parser *p, const struct dp_rec_symbol *s,
                     struct dp_err *e);
/* The function around `addr` of `section`; empty when unknown. */
bool dp_parse_function(struct dp_parser *p, uint32_t section, uint64_t addr,
                       struct dp_bytes *name_ret, struct dp_err *e);
/* A symbol of an operand, or NULL. */
const struct dp_sym *dp_parse_find(struct dp_parser *p, struct dp_bytes name);
/* The string at `addr`; false when none came. */
bool dp_parse_string(struct dp_parser *p, uint64_t addr,
                     struct dp_bytes *s_ret);
void dp_parse_symbols_clear(struct dp_parser *p);

/* reloc.c */
/* The base that an address of the object needs: bias, or none. */
uint8_t dp_parse_base(const struct dp_parser *p);
/* The relocations of the ELF file that hit a word; begins the word. */
void dp_word_elf(struct dp_parser *p, struct dp_hits hits, struct dp_place at,
                 struct dp_word *w_ret);
/*
 * In a relocatable object a word's address lies in the section of the symbol
 * of the relocation that hits its first byte; 0 in others, and when none does.
 */
uint32_t dp_hits_section(const struct dp_parser *p, struct dp_hits hits,
                         uint64_t off);
/* Append one to the word. */
/*
 * It is pending.  NULL when the word is full: then nothing can attach, and
 * w->why says so.
 */
struct dp_rec_reloc *dp_word_add(struct dp_word *w, uint8_t kind, uint8_t base,
                                 int64_t addend);
/* Fill in what all have in common and write them. */
bool dp_word_write(struct dp_parser *p, struct dp_word *w, uint64_t in_place,
                   const struct dp_addr_ref *ref, struct dp_err *e);
/* Link-time address of a word, DOF at `dof_vaddr`. */
uint64_t dp_word_resolve(const struct dp_parser *p, const struct dp_word *w,
                         uint64_t value, uint64_t dof_vaddr);
/* Why a site at `vaddr` cannot be attached; NULL when nothing forbids it. */
const char *dp_parse_why_not(const struct dp_parser *p, uint64_t vaddr);
/* The same for a semaphore. */
const char *dp_parse_sem_why_not(const struct dp_parser *p, uint64_t vaddr);

/* dof.c, sdt.c, usdt.c: one raw record each */
bool dp_parse_dof(struct dp_parser *p, const struct dp_rec_rawdof *raw,
                  struct dp_err *e);
bool dp_parse_sdt(struct dp_parser *p, const struct dp_rec_rawnote *raw,
                  struct dp_err *e);
bool dp_parse_usdt_keep(struct dp_parser *p, const struct dp_rec_rawnote *raw,
                        struct dp_err *e);
bool dp_parse_usdt_flush(struct dp_parser *p, struct dp_err *e);

/* noteprobe.c: what both kinds of note share */
struct dp_note_site {
	uint8_t source; /* enum dp_word_source */
	struct dp_bytes provider, function, name, args;
	uint64_t pc, sem;
	struct dp_word pc_word, sem_word;
	uint64_t pc_place, sem_place;        /* offsets in the descriptor */
	uint8_t kind;                        /* enum dp_word_sitekind */
	const struct dp_rec_provider *attrs; /* declared, or NULL */
	struct dp_strs native, translated;   /* declared */
	struct dp_bytes map;
	uint64_t args_at; /* place of args in the object, for messages */
};

bool dp_note_site_write(struct dp_parser *p, struct dp_note_site *s,
                        struct dp_err *e);

/* args.c */
bool dp_args_write(struct dp_parser *p, uint32_t site,
                   const struct dp_note_site *s, struct dp_err *e);
uint32_t dp_args_count(const struct dp_parser *p, struct dp_bytes args);

/* parse.c: an error record about the object in work; counted and told. */
bool dp_parse_complain(struct dp_parser *p, enum dp_word_reach reach,
                       const struct dp_err *what, struct dp_err *e);
bool dp_nomem(struct dp_err *e);
/*
 * May one more, of `bytes`, be kept of the object?  That it may not, in
 * *room_ret, is told once an object.
 */
bool dp_parse_room(struct dp_parser *p, enum dp_keep what, size_t bytes,
                   bool *room_ret, struct dp_err *e);

#endif /* DP_PARSE_STATE_H */
