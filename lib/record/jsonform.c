/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The NDJSON form.  Writing is straight code out of schema/records.def;
 * reading looks each key up in the line that jansson has parsed, so that
 * keys may come in any order and unknown ones do no harm.
 */
#include "record/codec.h"

#include <jansson.h>

#include "base/json.h"
#include "base/limits.h"

static void
put_word(struct dp_json *j, const char *key, enum dp_list list, uint8_t v)
{
	const char *word = dp_word(list, v);

	if (word != NULL)
		dp_json_str(j, key, dp_cstr(word));
	else
		dp_json_u64(j, key, v);
}

#define RECORD(T, t, num, ver, stages, doc)                                    \
	static void write_##t(struct dp_json *j, const struct dp_rec_##t *r)   \
	{
#define U8(t, f, doc)         dp_json_u64(j, #f, r->f);
#define U16(t, f, doc)        dp_json_u64(j, #f, r->f);
#define U32(t, f, doc)        dp_json_u64(j, #f, r->f);
#define N64(t, f, doc)        dp_json_n64(j, #f, r->f);
#define S64(t, f, doc)        dp_json_s64(j, #f, r->f);
#define X32(t, f, doc)        dp_json_hex(j, #f, r->f);
#define X64(t, f, doc)        dp_json_hex(j, #f, r->f);
#define BOOL(t, f, doc)       dp_json_bool(j, #f, r->f);
#define ENUM(t, f, list, doc) put_word(j, #f, DP_LIST_##list, r->f);
#define STR(t, f, doc)        dp_json_str(j, #f, r->f);
#define BYTES(t, f, doc)      dp_json_bytes(j, #f, r->f);
#define STRS(t, f, doc)       dp_json_strs(j, #f, r->f.run);
#define U8S(t, f, doc)        dp_json_u8s(j, #f, r->f);
#define ENDRECORD(T, t)       }
#include "records.def"

#include "record/undef.h"

bool
dp_record_to_json(struct dp_buf *b, const struct dp_record *rec,
                  struct dp_err *e)
{
	const char *name = dp_record_name(rec->type);
	struct dp_json j;

	if (name == NULL)
		return dp_err_set(e, DP_EUSAGE, DP_NOOFF, "no record type %u",
		                  rec->type);
	dp_json_begin(&j, b, name);
	switch (rec->type) {
#define RECORD(T, t, num, ver, stages, doc)                                    \
	case (num):                                                            \
		write_##t(&j, &rec->t);                                        \
		break;
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"
	}
	if (!dp_json_end(&j))
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	return true;
}

/* State of reading one line: what went wrong first, and where bytes go. */
struct in {
	const json_t *root;
	struct dp_buf *arena; /* reserved for the whole line: never moves */
	const char *bad_key;
};

static void
bad(struct in *in, const char *key)
{
	if (in->bad_key == NULL)
		in->bad_key = key;
}

/* -1 for what is no digit; upper case is not. */
static int
nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "0x1f" without signs, spaces or more than 64 bits. */
static bool
hex_value(const json_t *v, uint64_t *v_ret)
{
	const char *s = json_string_value(v);
	size_t n = json_string_length(v);
	uint64_t x = 0;

	if (s == NULL || n < 3 || n > 18 || s[0] != '0' || s[1] != 'x')
		return false;
	for (size_t i = 2; i < n; i++) {
		int d = nibble(s[i]);

		if (d < 0)
			return false;
		x = x << 4 | (uint64_t)d;
	}
	*v_ret = x;
	return true;
}

/* A number of at most `max`, as JSON number or as "0x..." string. */
static uint64_t
get_num(struct in *in, const char *key, uint64_t max)
{
	const json_t *v = json_object_get(in->root, key);
	uint64_t x = 0;

	if (json_is_integer(v) && json_integer_value(v) >= 0)
		x = (uint64_t)json_integer_value(v);
	else if (!hex_value(v, &x))
		bad(in, key);
	if (x > max)
		bad(in, key);
	return x;
}

static int64_t
get_s64(struct in *in, const char *key)
{
	const json_t *v = json_object_get(in->root, key);

	if (json_is_integer(v))
		return json_integer_value(v);
	return (int64_t)get_num(in, key, UINT64_MAX);
}

static bool
get_bool(struct in *in, const char *key)
{
	const json_t *v = json_object_get(in->root, key);

	if (!json_is_boolean(v))
		bad(in, key);
	return json_is_true(v);
}

/* Text of a string value, NULs inside included. */
static struct dp_bytes
text_of(const json_t *v)
{
	return (struct dp_bytes){ (const uint8_t *)json_string_value(v),
		                  json_string_length(v) };
}

static uint8_t
get_word(struct in *in, const char *key, enum dp_list list)
{
	const json_t *v = json_object_get(in->root, key);
	uint8_t x = 0;

	if (!json_is_string(v))
		return (uint8_t)get_num(in, key, UINT8_MAX);
	if (!dp_word_value(list, text_of(v), &x))
		bad(in, key);
	return x;
}

/* Unhex a string value into the arena. */
static struct dp_bytes
unhex(struct in *in, const char *key, const json_t *v)
{
	const char *s = json_string_value(v);
	size_t n = json_string_length(v);
	struct dp_bytes b = { in->arena->p + in->arena->n, n / 2 };

	if (s == NULL || n % 2 != 0 || !dp_buf_reserve(in->arena, n / 2)) {
		bad(in, key);
		return (struct dp_bytes){ NULL, 0 };
	}
	for (size_t i = 0; i < n; i++) {
		int d = nibble(s[i]);
		unsigned x = d < 0 ? 0 : (unsigned)d;
		uint8_t *at = in->arena->p + in->arena->n + i / 2;

		if (d < 0)
			bad(in, key);
		*at = (uint8_t)(i % 2 == 0 ? x << 4 : *at | x);
	}
	in->arena->n += n / 2;
	return b;
}

static const json_t *
hex_twin(struct in *in, const char *key)
{
	char twin[64];

	(void)snprintf(twin, sizeof twin, "%s_hex", key);
	return json_object_get(in->root, twin);
}

static struct dp_bytes
get_str(struct in *in, const char *key)
{
	const json_t *v = json_object_get(in->root, key);
	const json_t *hex = hex_twin(in, key);
	struct dp_bytes s = { NULL, 0 };

	if (hex != NULL)
		s = unhex(in, key, hex);
	else if (json_is_string(v))
		s = text_of(v);
	else
		bad(in, key);
	if (s.n > DP_MAX_STR)
		bad(in, key);
	return s;
}

static struct dp_bytes
get_bytes(struct in *in, const char *key)
{
	return unhex(in, key, json_object_get(in->root, key));
}

static struct dp_strs
get_strs(struct in *in, const char *key)
{
	const json_t *v = json_object_get(in->root, key);
	const json_t *hex = hex_twin(in, key);
	struct dp_strs s = { .n = (uint32_t)json_array_size(v) };
	struct dp_bytes run = { NULL, 0 };
	size_t start = in->arena->n;

	if (!json_is_array(v)) {
		bad(in, key);
		return (struct dp_strs){ 0 };
	}
	for (size_t i = 0; i < s.n && hex == NULL; i++) {
		const json_t *item = json_array_get(v, i);
		const char *str = json_string_value(item);

		if (str == NULL ||
		    !dp_buf_add(in->arena, str, json_string_length(item) + 1)) {
			bad(in, key);
			return (struct dp_strs){ 0 };
		}
	}
	s.run.p = in->arena->p + start;
	s.run.n = in->arena->n - start;
	if (hex != NULL)
		s.run = unhex(in, key, hex);
	if (!dp_strs_at(s.run, 0, s.n, SIZE_MAX, &run) || run.n != s.run.n)
		bad(in, key); /* a NUL inside a string, or a short run */
	return s;
}

static struct dp_bytes
get_u8s(struct in *in, const char *key)
{
	const json_t *v = json_object_get(in->root, key);
	struct dp_bytes b = { in->arena->p + in->arena->n, json_array_size(v) };

	if (!json_is_array(v))
		bad(in, key);
	for (size_t i = 0; i < b.n; i++) {
		const json_t *item = json_array_get(v, i);
		json_int_t x = json_integer_value(item);
		uint8_t byte = (uint8_t)x;

		if (!json_is_integer(item) || x < 0 || x > UINT8_MAX ||
		    !dp_buf_add(in->arena, &byte, 1))
			bad(in, key);
	}
	return b;
}

#define RECORD(T, t, num, ver, stages, doc)                                    \
	static void parse_##t(struct in *in, struct dp_rec_##t *r)             \
	{
#define U8(t, f, doc)         r->f = (uint8_t)get_num(in, #f, UINT8_MAX);
#define U16(t, f, doc)        r->f = (uint16_t)get_num(in, #f, UINT16_MAX);
#define U32(t, f, doc)        r->f = (uint32_t)get_num(in, #f, UINT32_MAX);
#define N64(t, f, doc)        r->f = get_num(in, #f, UINT64_MAX);
#define S64(t, f, doc)        r->f = get_s64(in, #f);
#define X32(t, f, doc)        r->f = (uint32_t)get_num(in, #f, UINT32_MAX);
#define X64(t, f, doc)        r->f = get_num(in, #f, UINT64_MAX);
#define BOOL(t, f, doc)       r->f = get_bool(in, #f);
#define ENUM(t, f, list, doc) r->f = get_word(in, #f, DP_LIST_##list);
#define STR(t, f, doc)        r->f = get_str(in, #f);
#define BYTES(t, f, doc)      r->f = get_bytes(in, #f);
#define STRS(t, f, doc)       r->f = get_strs(in, #f);
#define U8S(t, f, doc)        r->f = get_u8s(in, #f);
#define ENDRECORD(T, t)       }
#include "records.def"

#include "record/undef.h"

static bool
line_to_record(struct in *in, struct dp_record *rec, struct dp_err *e)
{
	const json_t *v = json_object_get(in->root, "type");
	const char *type = json_string_value(v);

	if (type == NULL)
		return dp_err_set(e, DP_EFORMAT, 0, "line without a \"type\"");
	rec->type = dp_record_type(text_of(v));
	rec->version = dp_record_version(rec->type);
	switch (rec->type) {
#define RECORD(T, t, num, ver, stages, doc)                                    \
	case (num):                                                            \
		parse_##t(in, &rec->t);                                        \
		break;
#include "record/nofields.h"
#define ENDRECORD(T, t)
#include "records.def"

#include "record/undef.h"
	default:
		return dp_err_set(e, DP_EUNSUP, 0, "record type \"%.40s\"",
		                  type);
	}
	if (in->bad_key != NULL)
		return dp_err_set(e, DP_EFORMAT, 0,
		                  "%s record: key \"%s\" missing or bad", type,
		                  in->bad_key);
	return true;
}

/*
 * jansson takes some fifty bytes for each value, so that a line of "[[[["
 * would ask for a multiple of its size.  No record has that many.
 */
static bool
few_values(struct dp_bytes line, struct dp_err *e)
{
	uint32_t n = 0;
	bool in_str = false;

	for (size_t i = 0; i < line.n; i++) {
		uint8_t c = line.p[i];

		if (in_str && c == '\\')
			i++; /* whatever it is, it ends no string */
		else if (c == '"')
			in_str = !in_str;
		else if (!in_str && (c == '[' || c == '{' || c == ',') &&
		         ++n > DP_MAX_JSON_VALUES)
			return dp_err_set(e, DP_ELIMIT, i,
			                  "more than %d values",
			                  DP_MAX_JSON_VALUES);
	}
	return true;
}

bool
dp_record_from_json(struct dp_json_line *l, struct dp_bytes line,
                    struct dp_record *rec_ret, struct dp_err *e)
{
	struct in in = { .arena = &l->arena };
	struct dp_record rec;
	json_error_t why;

	json_decref(l->root);
	l->root = NULL;
	l->arena.n = 0;
	if (!few_values(line, e))
		return false;
	if (!dp_buf_reserve(&l->arena, line.n + 1)) /* no value is longer */
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	l->root = json_loadb((const char *)line.p, line.n,
	                     JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &why);
	in.root = l->root;
	if (!json_is_object(in.root))
		return dp_err_set(e, DP_EFORMAT,
		                  why.position > 0 ? (uint64_t)why.position - 1
		                                   : 0,
		                  "not a JSON object");
	if (!line_to_record(&in, &rec, e))
		return false;
	*rec_ret = rec;
	return true;
}

void
dp_json_line_deinit(struct dp_json_line *l)
{
	json_decref(l->root);
	dp_buf_deinit(&l->arena);
	*l = (struct dp_json_line){ 0 };
}
