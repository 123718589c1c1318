/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>

size_t
dp_utf8_len(const uint8_t *p, size_t n)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = p[0] < 0x80           ? 1
	             : (p[0] >> 5) == 0x06 ? 2
	             : (p[0] >> 4) == 0x0e ? 3
	             : (p[0] >> 3) == 0x1e ? 4
	                                   : 0;
	uint32_t c;

	if (len <= 1)
		return len;
	if (len > n)
		return 0;
	c = p[0] & (0xffU >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3fU);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return len;
}

static void
raw(struct dp_json *j, const void *p, size_t n)
{
	if (!j->bad && !dp_buf_add(j->out, p, n))
		j->bad = true;
}

static void
text(struct dp_json *j, const char *s)
{
	raw(j, s, strlen(s));
}

/* Write `s` quoted; false when some of it was not UTF-8. */
static bool
quoted(struct dp_json *j, struct dp_bytes s)
{
	bool clean = true;
	size_t done = 0, i = 0;

	text(j, "\"");
	while (i < s.n) {
		size_t len = dp_utf8_len(s.p + i, s.n - i);
		char esc[8];

		if (len > 1 || (len == 1 && s.p[i] >= 0x20 && s.p[i] != '"' &&
		                s.p[i] != '\\' && s.p[i] != 0x7f)) {
			i += len;
			continue;
		}
		raw(j, s.p + done, i - done);
		if (len == 0) {
			text(j, "\xef\xbf\xbd");
			clean = false;
		} else {
			(void)snprintf(esc, sizeof esc, "\\u%04x", s.p[i]);
			text(j, esc);
		}
		done = ++i;
	}
	if (s.n != 0)
		raw(j, s.p + done, s.n - done);
	text(j, "\"");
	return clean;
}

static void
hex_digits(struct dp_json *j, struct dp_bytes b)
{
	static const char digit[] = "0123456789abcdef";

	if (j->bad || b.n > SIZE_MAX / 2 || !dp_buf_reserve(j->out, b.n * 2)) {
		j->bad = true;
		return;
	}
	for (size_t i = 0; i < b.n; i++) {
		j->out->p[j->out->n++] = (uint8_t)digit[b.p[i] >> 4];
		j->out->p[j->out->n++] = (uint8_t)digit[b.p[i] & 15];
	}
}

static void
key_text(struct dp_json *j, const char *key, const char *suffix)
{
	text(j, j->comma ? ",\"" : "\"");
	text(j, key);
	text(j, suffix);
	text(j, "\":");
	j->comma = true;
}

void
dp_json_begin(struct dp_json *j, struct dp_buf *out, const char *type)
{
	*j = (struct dp_json){ .out = out };
	text(j, "{");
	dp_json_str(j, "type", dp_cstr(type));
}

void
dp_json_u64(struct dp_json *j, const char *key, uint64_t v)
{
	char num[24];

	key_text(j, key, "");
	(void)snprintf(num, sizeof num, "%" PRIu64, v);
	text(j, num);
}

void
dp_json_hex(struct dp_json *j, const char *key, uint64_t v)
{
	char num[24];

	key_text(j, key, "");
	(void)snprintf(num, sizeof num, "\"0x%" PRIx64 "\"", v);
	text(j, num);
}

void
dp_json_n64(struct dp_json *j, const char *key, uint64_t v)
{
	if (v <= UINT64_C(1) << DP_JSON_SAFE)
		dp_json_u64(j, key, v);
	else
		dp_json_hex(j, key, v);
}

void
dp_json_s64(struct dp_json *j, const char *key, int64_t v)
{
	char num[24];

	if (v >= 0 || v < -(INT64_C(1) << DP_JSON_SAFE)) {
		dp_json_n64(j, key, (uint64_t)v);
		return;
	}
	key_text(j, key, "");
	(void)snprintf(num, sizeof num, "%" PRId64, v);
	text(j, num);
}

void
dp_json_bool(struct dp_json *j, const char *key, bool v)
{
	key_text(j, key, "");
	text(j, v ? "true" : "false");
}

void
dp_json_str(struct dp_json *j, const char *key, struct dp_bytes s)
{
	key_text(j, key, "");
	if (quoted(j, s))
		return;
	key_text(j, key, "_hex");
	text(j, "\"");
	hex_digits(j, s);
	text(j, "\"");
}

void
dp_json_bytes(struct dp_json *j, const char *key, struct dp_bytes b)
{
	key_text(j, key, "");
	text(j, "\"");
	hex_digits(j, b);
	text(j, "\"");
}

void
dp_json_strs(struct dp_json *j, const char *key, struct dp_bytes run)
{
	struct dp_bytes s;
	bool clean = true;

	key_text(j, key, "");
	text(j, "[");
	for (uint64_t at = 0; dp_str_at(run, at, &s); at += s.n + 1) {
		text(j, at == 0 ? "" : ",");
		clean = quoted(j, s) && clean;
	}
	text(j, "]");
	if (clean)
		return;
	key_text(j, key, "_hex"); /* the whole run, NULs included */
	text(j, "\"");
	hex_digits(j, run);
	text(j, "\"");
}

void
dp_json_u8s(struct dp_json *j, const char *key, struct dp_bytes b)
{
	char num[8];

	key_text(j, key, "");
	text(j, "[");
	for (size_t i = 0; i < b.n; i++) {
		(void)snprintf(num, sizeof num, "%s%u", i == 0 ? "" : ",",
		               b.p[i]);
		text(j, num);
	}
	text(j, "]");
}

bool
dp_json_end(struct dp_json *j)
{
	text(j, "}\n");
	return !j->bad;
}
