/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/model.h"

struct row {
	const char *name;
	uint16_t version;
};

static const struct row rows[DP_REC_MAX + 1] = {
#define RECORD(T, t, num, ver, stages, doc) [DP_REC_##T] = { #t, (ver) },
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"
};

/* One NULL-free array of words a list, then a table of the arrays. */
#define ENUM(list)          static const char *const words_##list[] = {
#define WORD(list, c, word) [DPR_##c] = (word),
#define ENDENUM(list)                                                          \
	}                                                                      \
	;
#include "enums.def"
#undef ENUM
#undef WORD
#undef ENDENUM

static const struct {
	const char *const *words;
	uint8_t n;
} lists[DP_LIST_COUNT] = {
#define ENUM(list) [DP_LIST_##list] = { words_##list, DPR_##list##_COUNT },
#define WORD(list, c, word)
#define ENDENUM(list)
#include "enums.def"
#undef ENUM
#undef WORD
#undef ENDENUM
};

const char *
dp_record_name(uint16_t type)
{
	return type <= DP_REC_MAX ? rows[type].name : NULL;
}

uint16_t
dp_record_version(uint16_t type)
{
	return type <= DP_REC_MAX ? rows[type].version : 0;
}

uint16_t
dp_record_type(struct dp_bytes name)
{
	for (unsigned t = 0; t <= DP_REC_MAX; t++)
		if (rows[t].name != NULL && dp_bytes_is(name, rows[t].name))
			return (uint16_t)t;
	return 0;
}

const char *
dp_word(enum dp_list list, uint8_t value)
{
	return value < lists[list].n ? lists[list].words[value] : NULL;
}

bool
dp_word_value(enum dp_list list, struct dp_bytes word, uint8_t *v_ret)
{
	for (uint8_t v = 0; v < lists[list].n; v++) {
		if (dp_bytes_is(word, lists[list].words[v])) {
			*v_ret = v;
			return true;
		}
	}
	return false;
}

bool
dp_strs_next(const struct dp_strs *s, size_t *at, struct dp_bytes *str_ret)
{
	if (!dp_str_at(s->run, *at, str_ret))
		return false;
	*at += str_ret->n + 1;
	return true;
}
