/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A header is 60 bytes of text: name 16, date 12, uid 6, gid 6, mode 8,
 * size 10 (decimal, spaces behind), "`\n".  Data follow, padded to even.
 */
#include "elf/archive.h"

#include "base/limits.h"
#include "base/range.h"

enum {
	MAGIC_LEN = 8,
	HDR_LEN = 60,
	NAME_LEN = 16,
	SIZE_AT = 48,
	SIZE_LEN = 10,
	END_AT = 58,
};

/* Names that begin a table and no member. */
static const char *const tables[] = {
	"/",
	"/SYM64/",
	"//",
	"__.SYMDEF",
	"__.SYMDEF SORTED",
	"__.SYMDEF_64",
	"__.SYMDEF_64 SORTED",
};

/* Decimal digits, then spaces to the end; false for anything else. */
static bool
parse_number(struct dp_bytes s, uint64_t *v_ret)
{
	uint64_t v = 0;
	size_t i = 0;

	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		v = v * 10 + (uint64_t)(s.p[i++] - '0'); /* 15 digits at most */
	if (i == 0)
		return false;
	for (size_t k = i; k < s.n; k++)
		if (s.p[k] != ' ')
			return false;
	*v_ret = v;
	return true;
}

static struct dp_bytes
trim(struct dp_bytes s, char c)
{
	while (s.n != 0 && s.p[s.n - 1] == (uint8_t)c)
		s.n--;
	return s;
}

static bool
starts(struct dp_bytes s, const char *with)
{
	size_t n = strlen(with);

	return s.n >= n && memcmp(s.p, with, n) == 0;
}

bool
dp_ar_open(struct dp_ar *ar_ret, const struct dp_src *src, struct dp_err *e)
{
	struct dp_ar ar = { .src = *src, .pos = MAGIC_LEN };
	struct dp_bytes head;
	bool ok;

	if (!dp_src_measure(&ar.src, e) ||
	    !dp_src_some(&ar.src, 0, &ar.scratch, MAGIC_LEN, e)) {
		dp_buf_deinit(&ar.scratch);
		return false;
	}
	head = dp_buf_bytes(&ar.scratch);
	if (dp_bytes_is(head, "!<thin>\n"))
		ok = dp_err_set(e, DP_EUNSUP, 0,
		                "thin archive: its members are other files");
	else if (!dp_bytes_is(head, "!<arch>\n"))
		ok = dp_err_set(e, DP_EFORMAT, 0, "not an archive");
	else
		ok = true;
	if (ok)
		*ar_ret = ar;
	else
		dp_buf_deinit(&ar.scratch);
	return ok;
}

/* GNU: "/123" is the name at 123 of the table, which "/\n" or NUL ends. */
static bool
long_name(const struct dp_ar *ar, struct dp_bytes digits,
          struct dp_ar_member *m, struct dp_err *e)
{
	uint64_t off;
	size_t n = 0;

	/* Without the name there is still what it names. */
	if (!parse_number(digits, &off) || off >= ar->longs.n)
		return true;
	m->name.p = ar->longs.p + off;
	while (off + n < ar->longs.n && m->name.p[n] != '\n' &&
	       m->name.p[n] != '\0')
		if (++n > DP_MAX_PATH)
			return dp_err_set(e, DP_ELIMIT, m->hdr_off,
			                  "name is too long");
	m->name.n = n;
	if (n != 0 && m->name.p[n - 1] == '/')
		m->name.n--;
	return true;
}

/* BSD: "#1/len"; the name stands before the data and counts as such. */
static bool
front_name(struct dp_ar *ar, struct dp_bytes digits, struct dp_ar_member *m,
           struct dp_err *e)
{
	uint64_t n;

	if (!parse_number(digits, &n) || n > m->size)
		return dp_err_set(e, DP_EFORMAT, m->hdr_off,
		                  "length of the name is broken");
	if (n > DP_MAX_PATH)
		return dp_err_set(e, DP_ELIMIT, m->hdr_off, "name is too long");
	if (!dp_src_load(&ar->src, m->off, n, &ar->scratch, e))
		return false;
	m->name = trim(dp_buf_bytes(&ar->scratch), '\0');
	m->head.n = 0;
	m->off += n;
	m->size -= n;
	return true;
}

/* Read the header at ar->pos; the name is the raw field. */
static bool
read_header(struct dp_ar *ar, struct dp_ar_member *m, struct dp_err *e)
{
	struct dp_bytes h;

	ar->scratch.n = 0;
	if (!dp_src_some(&ar->src, ar->pos, &ar->scratch, HDR_LEN + DP_AR_HEAD,
	                 e))
		return false;
	h = dp_buf_bytes(&ar->scratch);
	if (h.n < HDR_LEN)
		return dp_err_set(e, DP_EFORMAT, ar->pos,
		                  "archive header is cut");
	if (h.p[END_AT] != '`' || h.p[END_AT + 1] != '\n' ||
	    !parse_number((struct dp_bytes){ h.p + SIZE_AT, SIZE_LEN },
	                  &m->size))
		return dp_err_set(e, DP_EFORMAT, ar->pos,
		                  "archive header is broken");
	m->hdr_off = ar->pos;
	m->off = ar->pos + HDR_LEN;
	m->name = trim((struct dp_bytes){ h.p, NAME_LEN }, ' ');
	m->head.p = h.p + HDR_LEN;
	m->head.n = h.n - HDR_LEN;
	if (m->head.n > m->size)
		m->head.n = (size_t)m->size;
	if (!dp_range_ok(m->off, m->size, ar->src.size))
		return dp_err_set(e, DP_EFORMAT, ar->pos,
		                  "member of %ju bytes is cut",
		                  (uintmax_t)m->size);
	return true;
}

static bool
is_table(struct dp_bytes name)
{
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		if (dp_bytes_is(name, tables[i]))
			return true;
	return false;
}

/* Turn the raw field into the name; *skip_ret for what is no member. */
static bool
resolve_name(struct dp_ar *ar, struct dp_ar_member *m, bool *skip_ret,
             struct dp_err *e)
{
	struct dp_bytes raw = m->name, rest;

	*skip_ret = is_table(raw);
	if (dp_bytes_is(raw, "//")) {
		if (m->size > DP_MAX_ELF_SECTION)
			return dp_err_set(e, DP_ELIMIT, m->hdr_off,
			                  "table of long names is too large");
		return dp_src_load(&ar->src, m->off, m->size, &ar->longs, e);
	}
	if (*skip_ret)
		return true;
	if (starts(raw, "#1/")) {
		rest = (struct dp_bytes){ raw.p + 3, raw.n - 3 };
		if (!front_name(ar, rest, m, e))
			return false;
		*skip_ret = is_table(m->name);
		return true;
	}
	if (raw.n > 1 && raw.p[0] == '/' && raw.p[1] >= '0' &&
	    raw.p[1] <= '9') {
		rest = (struct dp_bytes){ raw.p + 1, raw.n - 1 };
		return long_name(ar, rest, m, e);
	}
	if (raw.n > 1 && raw.p[raw.n - 1] == '/')
		m->name.n--; /* GNU ends short names so */
	return true;
}

bool
dp_ar_next(struct dp_ar *ar, struct dp_ar_member *m_ret, bool *more_ret,
           struct dp_err *e)
{
	struct dp_ar_member m = { 0 };
	bool skip = true;
	uint64_t end;

	while (skip) {
		if (ar->pos >= ar->src.size) {
			*more_ret = false;
			return true;
		}
		if (ar->nmembers >= DP_MAX_AR_MEMBERS)
			return dp_err_set(e, DP_ELIMIT, ar->pos,
			                  "more than %d members",
			                  DP_MAX_AR_MEMBERS);
		if (!read_header(ar, &m, e))
			return false;
		end = m.off + m.size;
		if (!resolve_name(ar, &m, &skip, e))
			return false;
		ar->nmembers++;
		ar->pos = end + (end & 1);
	}
	*m_ret = m;
	*more_ret = true;
	return true;
}

struct dp_src
dp_ar_src(const struct dp_ar *ar, const struct dp_ar_member *m)
{
	struct dp_src src = ar->src;

	if (src.fd < 0)
		src.mem += m->off;
	else
		src.off += m->off;
	src.size = m->size;
	return src;
}

void
dp_ar_close(struct dp_ar *ar)
{
	dp_buf_deinit(&ar->longs);
	dp_buf_deinit(&ar->scratch);
}
