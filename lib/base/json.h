/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One JSON object on one line, written into a buffer.  Text that is not
 * valid UTF-8 is written with U+FFFD in the bad places and once more,
 * exactly, as hex under the key with "_hex" behind it.
 */
#ifndef DP_JSON_H
#define DP_JSON_H

#include "base/vec.h"

enum { DP_JSON_SAFE = 53 }; /* bits of an integer that every reader keeps */

struct dp_json {
	struct dp_buf *out; /* borrowed */
	bool comma;         /* the next key needs one in front */
	bool bad;           /* memory ran out; what follows does nothing */
};

void dp_json_begin(struct dp_json *j, struct dp_buf *out, const char *type);
void dp_json_u64(struct dp_json *j, const char *key, uint64_t v); /* number */
void dp_json_hex(struct dp_json *j, const char *key, uint64_t v); /* "0x1f" */

/* A number while it fits 2^53, else "0x..." as two's complement. */
void dp_json_n64(struct dp_json *j, const char *key, uint64_t v);
void dp_json_s64(struct dp_json *j, const char *key, int64_t v);
void dp_json_bool(struct dp_json *j, const char *key, bool v);
void dp_json_str(struct dp_json *j, const char *key, struct dp_bytes s);

/* Bytes as a string of hex digits. */
void dp_json_bytes(struct dp_json *j, const char *key, struct dp_bytes b);

/* NUL-terminated strings one behind the other: an array of strings. */
void dp_json_strs(struct dp_json *j, const char *key, struct dp_bytes run);

/* An array of small numbers, one a byte. */
void dp_json_u8s(struct dp_json *j, const char *key, struct dp_bytes b);

/* Close the object and the line; false when memory ran out. */
bool dp_json_end(struct dp_json *j);

/*
 * Length of the UTF-8 sequence at p (n > 0 bytes left), 0 when it is not
 * one: overlong forms, surrogates and values past U+10FFFF are not.
 */
size_t dp_utf8_len(const uint8_t *p, size_t n);

#endif /* DP_JSON_H */
