/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recdoc: the tables of dofrecords(5) out of schema/records.def and
 * schema/enums.def.  Copies standard input to standard output and puts the
 * records in the place of a line @RECORDS@ and the words in the place of a
 * line @WORDS@, both as mdoc.
 *
 *   recdoc < schema/dofrecords.5.in > dofrecords.5
 *
 * It shares nothing with the library but the two lists.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 72 }; /* of a line of text */

/* A record begins with a row of kind NULL and ends before the next one. */
struct row {
	const char *kind; /* "U8" and so on */
	const char *name; /* of the field, or of the record */
	const char *list; /* ENUM: its words; a record: its stages */
	const char *doc;
	unsigned bytes;   /* fixed width; 0 for the other kinds */
	unsigned number;  /* of a record */
	unsigned version; /* of a record */
};

/* clang-format off */
#define RECORD(T, t, num, ver, stages, doc) \
	{ NULL, #t, stages, doc, 0, num, ver },
#define U8(t, f, doc)         { "U8", #f, NULL, doc, 1, 0, 0 },
#define U16(t, f, doc)        { "U16", #f, NULL, doc, 2, 0, 0 },
#define U32(t, f, doc)        { "U32", #f, NULL, doc, 4, 0, 0 },
#define N64(t, f, doc)        { "N64", #f, NULL, doc, 8, 0, 0 },
#define S64(t, f, doc)        { "S64", #f, NULL, doc, 8, 0, 0 },
#define X32(t, f, doc)        { "X32", #f, NULL, doc, 4, 0, 0 },
#define X64(t, f, doc)        { "X64", #f, NULL, doc, 8, 0, 0 },
#define BOOL(t, f, doc)       { "BOOL", #f, NULL, doc, 1, 0, 0 },
#define ENUM(t, f, list, doc) { "ENUM", #f, #list, doc, 1, 0, 0 },
#define STR(t, f, doc)        { "STR", #f, NULL, doc, 0, 0, 0 },
#define BYTES(t, f, doc)      { "BYTES", #f, NULL, doc, 0, 0, 0 },
#define STRS(t, f, doc)       { "STRS", #f, NULL, doc, 0, 0, 0 },
#define U8S(t, f, doc)        { "U8S", #f, NULL, doc, 0, 0, 0 },
#define ENDRECORD(T, t)

static const struct row rows[] = {
#include "records.def"
};

#undef ENUM

/* A list begins with a row without a word. */
struct word {
	const char *list;
	const char *word;
};

#define ENUM(list)          { #list, NULL },
#define WORD(list, c, word) { #list, word },
#define ENDENUM(list)

static const struct word words[] = {
#include "enums.def"
};
/* clang-format on */

enum { HEADER_SIZE = 8, NROWS = sizeof rows / sizeof rows[0] };

/* Text in lines that mandoc takes for text, each sentence on its own. */
static void
put_text(const char *s)
{
	size_t column = 0;

	while (*s != '\0') {
		size_t n = strcspn(s, " ");
		bool ends = n > 1 && s[n - 1] == '.' && s[n - 2] != '.';

		if (column != 0 && column + 1 + n > WIDTH) {
			(void)putchar('\n');
			column = 0;
		}
		if (column != 0)
			(void)putchar(' ');
		else if (*s == '.' || *s == '\'')
			(void)fputs("\\&", stdout);
		for (size_t i = 0; i < n; i++)
			(void)(s[i] == '\\' ? fputs("\\e", stdout)
			                    : putchar(s[i]));
		column += n + (column != 0);
		if (ends) {
			(void)putchar('\n');
			column = 0;
		}
		s += n;
		s += *s == ' ';
	}
	if (column != 0)
		(void)putchar('\n');
}

static void
put_field(const struct row *r, unsigned *off)
{
	(void)printf(".It Va %s Pq Sy %s", r->name, r->kind);
	if (r->bytes != 0) {
		(void)printf(" No at %u", *off);
		*off += r->bytes;
	}
	(void)putchar('\n');
	put_text(r->doc);
	if (r->list != NULL)
		(void)printf(".Pq words: Sq %s\n", r->list);
}

static void
put_records(void)
{
	for (size_t i = 0; i < NROWS;) {
		const struct row *rec = &rows[i++];
		unsigned off = HEADER_SIZE;

		(void)printf(".Ss %s\n", rec->name);
		(void)printf("Type %u, version %u, stage %s.\n", rec->number,
		             rec->version,
		             strcmp(rec->list, "both") == 0
		                     ? "extract and parse"
		                     : rec->list);
		put_text(rec->doc);
		(void)puts(".Bl -tag -width Ds -compact");
		for (; i < NROWS && rows[i].kind != NULL; i++)
			put_field(&rows[i], &off);
		(void)puts(".El");
	}
}

static void
put_words(void)
{
	unsigned n = 0;

	(void)puts(".Bl -tag -width relocstate_ -compact");
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (words[i].word == NULL) {
			(void)printf(".It %s\n", words[i].list);
			n = 0;
			continue;
		}
		(void)printf("%u\n.Cm %s%s\n", n++, words[i].word,
		             i + 1 < sizeof words / sizeof words[0] &&
		                             words[i + 1].word != NULL
		                     ? " ,"
		                     : "");
	}
	(void)puts(".El");
}

int
main(void)
{
	char line[1024];

	while (fgets(line, sizeof line, stdin) != NULL) {
		if (strcmp(line, "@RECORDS@\n") == 0)
			put_records();
		else if (strcmp(line, "@WORDS@\n") == 0)
			put_words();
		else
			(void)fputs(line, stdout);
	}
	return ferror(stdin) || fflush(stdout) != 0 ? 1 : 0;
}
