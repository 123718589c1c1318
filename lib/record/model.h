/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records of the stream as C values: one struct a record, one enum a
 * word list, all from schema/.  Strings and bytes are borrowed: whoever
 * fills a record keeps them alive as long as it is used.
 */
#ifndef DP_RECORD_MODEL_H
#define DP_RECORD_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define DP_STREAM_MAGIC  0x0065706970666f64ULL /* "dofpipe\0" */
#define DP_STREAM_FORMAT 1
#define DP_NO_ID         UINT32_MAX /* "none" in a field that holds an id */

/* n strings one behind the other, each with its NUL; borrowed. */
struct dp_strs {
	uint32_t n;
	struct dp_bytes run;
};

/* enum dp_word_stage { DPR_STAGE_EXTRACT, ..., DPR_stage_COUNT }; and so on */
#define ENUM(list)                                                             \
	enum dp_word_##list                                                    \
	{
#define WORD(list, c, word) DPR_##c,
#define ENDENUM(list)                                                          \
	DPR_##list##_COUNT                                                     \
	}                                                                      \
	;
#include "enums.def"
#undef ENUM
#undef WORD
#undef ENDENUM

/* Record numbers: DP_REC_HEADER = 1 ... */
enum dp_rectype {
#define RECORD(T, t, num, ver, stages, doc) DP_REC_##T = (num),
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"
	DP_REC_MAX = 63, /* numbers above are from a later version */
};

/* struct dp_rec_site and the like; the fields are described in schema/. */
#define RECORD(T, t, num, ver, stages, doc) struct dp_rec_##t {
#define U8(t, f, doc)                       uint8_t f;
#define U16(t, f, doc)                      uint16_t f;
#define U32(t, f, doc)                      uint32_t f;
#define N64(t, f, doc)                      uint64_t f;
#define S64(t, f, doc)                      int64_t f;
#define X32(t, f, doc)                      uint32_t f;
#define X64(t, f, doc)                      uint64_t f;
#define BOOL(t, f, doc)                     bool f;
#define ENUM(t, f, list, doc)               uint8_t f; /* enum dp_word_<list> */
#define STR(t, f, doc)                      struct dp_bytes f;
#define BYTES(t, f, doc)                    struct dp_bytes f;
#define STRS(t, f, doc)                     struct dp_strs f;
#define U8S(t, f, doc)                      struct dp_bytes f;
#define ENDRECORD(T, t)                                                        \
	}                                                                      \
	;
#include "records.def"

#include "record/undef.h"

/* Any record.  `version` is what the stream said; a reader fills it in. */
struct dp_record {
	uint16_t type; /* enum dp_rectype */
	uint16_t version;
	union {
#define RECORD(T, t, num, ver, stages, doc) struct dp_rec_##t t;
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"
	};
};

/*
 * Where a fixed-width field stands in its record on the wire, header
 * included: DP_WIRE_OFF(site, addr).  These structs are never filled.
 */
#define RECORD(T, t, num, ver, stages, doc)                                    \
	struct __attribute__((packed)) dp_wire_##t {                           \
		uint8_t header_[8];
#define U8(t, f, doc)         uint8_t f;
#define U16(t, f, doc)        uint16_t f;
#define U32(t, f, doc)        uint32_t f;
#define N64(t, f, doc)        uint64_t f;
#define S64(t, f, doc)        int64_t f;
#define X32(t, f, doc)        uint32_t f;
#define X64(t, f, doc)        uint64_t f;
#define BOOL(t, f, doc)       uint8_t f;
#define ENUM(t, f, list, doc) uint8_t f;
#define STR(t, f, doc)
#define BYTES(t, f, doc)
#define STRS(t, f, doc)
#define U8S(t, f, doc)
#define ENDRECORD(T, t)                                                        \
	}                                                                      \
	;
#include "records.def"

#include "record/undef.h"

#define DP_WIRE_OFF(t, f) offsetof(struct dp_wire_##t, f)

/* "site" for DP_REC_SITE; NULL for a number that is not in the list. */
const char *dp_record_name(uint16_t type);

/* The number for "site"; 0 for a word that is not in the list. */
uint16_t dp_record_type(struct dp_bytes name);

/* The version that this library writes; 0 for an unknown number. */
uint16_t dp_record_version(uint16_t type);

/*
 * The word for a value of list `list` and back: dp_word(DP_LIST_stage, 1) is
 * "parse".  NULL, and false, for what the list does not have.
 */
enum dp_list {
#define ENUM(list) DP_LIST_##list,
#define WORD(list, c, word)
#define ENDENUM(list)
#include "enums.def"
#undef ENUM
#undef WORD
#undef ENDENUM
	DP_LIST_COUNT
};

const char *dp_word(enum dp_list list, uint8_t value);
bool dp_word_value(enum dp_list list, struct dp_bytes word, uint8_t *v_ret);

/*
 * Walk the strings of `s`: start with *at = 0; false when there is no
 * further one.  The string comes without its NUL.
 */
bool dp_strs_next(const struct dp_strs *s, size_t *at,
                  struct dp_bytes *str_ret);

#endif /* DP_RECORD_MODEL_H */
