/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkfix: the binary fixtures of the tests out of text.  The language is
 * described in help[] below, which --help prints.
 *
 * Build: cc -o mkfix tests/support/mk*.c
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mkgas.h"

/* clang-format off */
static const char *const help[] = {
"Usage: mkfix [-o OUT] FILE.txt       assemble into OUT or standard output",
"       mkfix --gas [-o OUT] FILE.txt the DOF of FILE as source for GNU as",
"       mkfix --all SRCDIR OUTDIR     every SRCDIR/X.txt into OUTDIR/X.bin",
"",
"A text is statements, one a line: KEYWORD VALUE... KEY=VALUE... [{ BLOCK }].",
"`;` ends a statement early, `\\` at the end of a line joins the next, `#`",
"starts a comment.  A value is a bare word or \"text\" with \\xNN \\n \\t \\0 \\\"",
"\\\\.  A number is a sum of terms: 12, 0x1f, and in an elf @SECTION (its",
"address), %SECTION (its size), &SYMBOL (its value), as in @.text+0x10.",
"",
"Content: the top level, and the inside of every block that holds bytes.",
"  hex \"00 ff\"...   string \"a\"...   asciz \"a\"...   zero N [byte=B]",
"  align N   u8|u16|u32|u64 N...   dyn TAG N   dof|elf|macho|fat|ar ...",
"  note owner=\"GNU\" type=3 { CONTENT }",
"  stapsdt PROVIDER NAME pc= base= sema= args=\"...\" [nul=0: no last NUL]",
"  usdt PROVIDER NAME kind=probe|is-enabled pc= fn= nargs= args=\"...\"",
"  prov PROVIDER attr= [nprobes=] { probe NAME { native.. translated.. map.. } }",
"    all notes: owner= type= namesz= descsz= override; ownernul=0: no NUL",
"    behind the owner; pad=0: no padding behind the note",
"Overrides, run in their order when the bytes of their block are complete:",
"  poke at=N [size=4] value=N    poke KIND=KEY field=F|offset=N [size=] value=N",
"  cut at=N | last=N             append \"hex\"",
"  KEY is an index, or a section's name.  KIND is: in content note; in dof",
"  header section provider probe reloc urelhdr data; in elf header section",
"  phdr data; in macho header command section data; in fat header slice; in",
"  ar member.  `data` is the content of that section.",
"",
"dof version=1..3 order=lsb|msb model=lp64|ilp32 [strip=1: no COMMENTS]",
"    layout=dtrace|apple|libusdt|oxide reloc=setx|dofrel|apple|none",
"    [at=ADDRESS of the DOF] [sitebias=N added to Apple's distances]",
"    [slotreloc=R_X86_64_GLOB_DAT with --gas: relocation for the addresses] {",
"  provider NAME attr=stable/stable/common [pattr= mattr= fattr= nattr= aattr=]",
"      [size=40] {",
"    probe FUNCTION NAME addr=N|slot=N {    slot: the stored value as it is",
"      native \"int\"...; translated \"int\"...; map 0...",
"      sites OFFSET...; enabled OFFSET... } }   offsets count from addr",
"  section type= align= entsize= flags= { CONTENT } }",
"  translated is like native and map is 0 1 2... when absent.  In a Mach-O",
"  or with reloc=apple the stored offset is addr + OFFSET + sitebias - DOF.",
"",
"elf class=32|64 order= machine=x86_64|i386|aarch64|arm|ppc|ppc64|s390x|riscv",
"    type=rel|exec|dyn|core [osabi= entry= flags= page=16 noshdr=1",
"    extended=1: counts in section 0] {",
"  load flags=rwx [vaddr= fileoff= filesz= memsz= align= paddr=] { SECTIONS }",
"  phdr note|tls|dynamic|interp|N [section=NAME] [the same keys]",
"  section NAME type= flags=waxMSGTC addr= off= align= link= info= entsize=",
"      [size= of nobits] { CONTENT }",
"  symbols .symtab|.dynsym flags= addr= { sym NAME value= size= other=",
"      type=func|object|... bind=local|global|weak section=NAME|abs|undef|N }",
"  relocs NAME kind=rela|rel symbols=NAME target=NAME flags= addr= {",
"      reloc at=N type=R_...|N sym=NAME|N addend=N } }",
"  A section in a load without addr= follows the one before it.  symbols",
"  brings its .strtab or .dynstr along; .shstrtab comes by itself.",
"",
"macho class= order= cpu=x86_64|arm64|i386|ppc|N sub= type=execute|object|dylib",
"    flags= {",
"  uuid HEX;  command N { CONTENT }",
"  segment NAME vmaddr= [vmsize= fileoff= filesize= prot= maxprot=] {",
"    section NAME|SEGMENT,NAME addr= type=0xf flags= align=POWER { CONTENT } } }",
"fat bits=32|64 { slice cpu= sub= align=POWER { CONTENT } }",
"ar style=gnu|bsd { member NAME|raw=\"16 characters\" { CONTENT } }",
};
/* clang-format on */

/* All of a file, in mk's memory. */
static struct mk_buf
read_text(struct mk *mk)
{
	struct mk_buf b = { .mk = mk };
	FILE *f = fopen(mk->path, "re");
	char chunk[4096];
	size_t n;

	if (f == NULL)
		mk_die(mk, 0, "%s", strerror(errno));
	while ((n = fread(chunk, 1, sizeof(chunk), f)) != 0)
		mk_put(&b, chunk, n);
	if (ferror(f))
		mk_die(mk, 0, "read error");
	(void)fclose(f);
	return b;
}

/* Assemble mk->path into `out`; a NULL name is standard output. */
static void
assemble(struct mk *mk, const char *out, bool gas)
{
	struct mk_block b = { .buf.mk = mk };
	struct mk_fix *fixes = NULL;
	struct mk_ctx c = { .mk = mk, .machine = 62, .wide = true };
	struct mk_buf text = read_text(mk);
	FILE *f = stdout;

	c.fixes = gas ? &fixes : NULL;
	mk_parse(mk, (const char *)text.p, text.n);
	mk_content(&c, mk->top, &b);
	mk_unused(mk, mk->top);
	if (out != NULL)
		f = fopen(out, "we");
	if (f == NULL)
		mk_die(mk, 0, "%s: %s", out, strerror(errno));
	if (gas)
		mk_gas(f, &b.buf, fixes);
	else if (b.buf.n != 0)
		(void)fwrite(b.buf.p, 1, b.buf.n, f);
	if (ferror(f) || (f == stdout ? fflush(f) : fclose(f)) != 0)
		mk_die(mk, 0, "%s: write error", out ? out : "output");
}

static int
is_text(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 4 && strcmp(d->d_name + n - 4, ".txt") == 0;
}

static void
assemble_all(const char *src, const char *dst)
{
	struct mk all = { .path = src };
	struct dirent **list;
	int i, n;

	n = scandir(src, &list, is_text, alphasort);
	if (n < 0)
		mk_die(&all, 0, "%s", strerror(errno));
	for (i = 0; i < n; i++) {
		struct mk mk = { 0 };
		const char *name = list[i]->d_name;
		int stem = (int)strlen(name) - 4;

		mk.path = mk_fmt(&all, "%s/%s", src, name);
		assemble(&mk, mk_fmt(&all, "%s/%.*s.bin", dst, stem, name),
		         false);
		mk_free(&mk);
		free(list[i]);
	}
	free(list);
	mk_free(&all);
}

static int
usage(FILE *f, int status)
{
	size_t i, n = sizeof(help) / sizeof(help[0]);

	for (i = 0; i < (status ? 3 : n); i++)
		fprintf(f, "%s\n", help[i]);
	return status;
}

int
main(int argc, char **argv)
{
	const char *out = NULL;
	bool gas = false;
	struct mk mk = { 0 };
	int i = 1;

	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return usage(stdout, 0);
	if (argc == 4 && strcmp(argv[1], "--all") == 0) {
		assemble_all(argv[2], argv[3]);
		return 0;
	}
	if (i < argc && strcmp(argv[i], "--gas") == 0) {
		gas = true;
		i++;
	}
	if (i + 1 < argc && strcmp(argv[i], "-o") == 0) {
		out = argv[i + 1];
		i += 2;
	}
	if (i + 1 != argc || argv[i][0] == '-')
		return usage(stderr, 2);
	mk.path = argv[i];
	assemble(&mk, out, gas);
	mk_free(&mk);
	return 0;
}
