/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes inputs of a given size for the bench, on standard output:
 *
 *   genstream dofs N PROBES   a stream of N objects, a DOF of PROBES each
 *   genstream sites N COPIES  the same, but one probe of N sites each
 *   genstream notes N         an ELF file with N stapsdt notes
 *
 * A DOF is arranged as libdtrace does it: the string table is section 0 and
 * last in the loaded data, no string is shared, each address has a SETX.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/writer.h"

/* Section numbers, in the order of libdtrace. */
enum {
	S_STRTAB,
	S_PROBES,
	S_PRARGS,
	S_PROFFS,
	S_PRENOFFS,
	S_PROVIDER,
	S_RELTAB,
	S_URELHDR,
	S_COMMENTS,
	S_UTSNAME,
	S_COUNT
};

enum {
	HDR_SIZE = 64,
	SECHDR_SIZE = 32,
	PROBE_SIZE = 48,
	DOF_VERSION = 3, /* the one with is-enabled sites */
	UTSNAME_SIZE = 390,
	ATTR = 0x04040500, /* Unstable, Unstable, Common */
	SETX = 1,
	TEXT = 0x1000,      /* address of the code of each object */
	TEXT_SIZE = 1 << 25 /* room for all sites and functions */
};

/* dof.h: type, alignment and entry size of each section. */
static const struct sec_row {
	uint32_t type, align, entsize;
	bool loaded;
} secs[] = {
	/* clang-format off */
	[S_STRTAB]   = { 8,  1, 0,  true },
	[S_PROBES]   = { 16, 8, 48, true },
	[S_PRARGS]   = { 17, 1, 1,  true },
	[S_PROFFS]   = { 18, 4, 4,  true },
	[S_PRENOFFS] = { 26, 4, 4,  true },
	[S_PROVIDER] = { 15, 4, 0,  true },
	[S_RELTAB]   = { 10, 8, 24, true },
	[S_URELHDR]  = { 12, 4, 0,  true },
	[S_COMMENTS] = { 1,  1, 0,  false },
	[S_UTSNAME]  = { 20, 1, 0,  false },
	/* clang-format on */
};
_Static_assert(sizeof secs / sizeof secs[0] == S_COUNT, "a row a section");

/* The order in which the data of the sections is laid out. */
static const uint8_t places[] = { S_PROBES,   S_PRARGS, S_PROFFS,  S_PRENOFFS,
	                          S_PROVIDER, S_RELTAB, S_URELHDR, S_STRTAB,
	                          S_COMMENTS, S_UTSNAME };

/* Built anew for each DOF; the memory is kept. */
struct dof {
	struct dp_buf sec[S_COUNT];
	struct dp_buf image;
};

static const char *const words[] = { "query",  "parse",  "start", "done",
	                             "commit", "buffer", "lock",  "read" };
static const char *const types[] = { "int", "char *", "uint64_t", "void *",
	                             "struct request *" };
enum {
	NWORDS = sizeof words / sizeof words[0],
	NTYPES = sizeof types / sizeof types[0]
};

static _Noreturn void
die(const char *what)
{
	(void)fprintf(stderr, "genstream: %s\n", what);
	exit(2);
}

static void
add(struct dp_buf *b, const void *p, size_t n)
{
	if (!dp_buf_add(b, p, n))
		die("out of memory");
}

/* A number of `width` bytes, the least first. */
static void
put(struct dp_buf *b, unsigned width, uint64_t v)
{
	uint8_t le[8];

	for (unsigned i = 0; i < width; i++)
		le[i] = (uint8_t)(v >> 8 * i);
	add(b, le, width);
}

static void
pad(struct dp_buf *b, size_t align)
{
	while (b->n % align != 0)
		put(b, 1, 0);
}

/* A string with its NUL; its offset in the buffer. */
static uint32_t
string(struct dp_buf *b, const char *s)
{
	uint32_t at = (uint32_t)b->n;

	add(b, s, strlen(s) + 1);
	return at;
}

/* `nargs` types, one behind the other; the offset of the first. */
static uint32_t
type_run(struct dp_buf *b, unsigned probe, unsigned nargs)
{
	uint32_t at = (uint32_t)b->n;

	for (unsigned i = 0; i < nargs; i++)
		(void)string(b, types[(probe + i) % NTYPES]);
	return at;
}

/* Probe `i`, in a function of its own, with sites 16 bytes apart. */
static void
add_probe(struct dof *d, unsigned i, unsigned nsites)
{
	struct dp_buf *p = &d->sec[S_PROBES], *str = &d->sec[S_STRTAB];
	uint32_t offidx = (uint32_t)(d->sec[S_PROFFS].n / 4);
	uint32_t enoffidx = (uint32_t)(d->sec[S_PRENOFFS].n / 4);
	uint32_t argidx = (uint32_t)d->sec[S_PRARGS].n;
	uint64_t slot = p->n;
	unsigned nargs = i % 4, enabled = i == 0;
	uint32_t func;
	char s[64];

	(void)snprintf(s, sizeof s, "%s_%s_%u", words[i % NWORDS],
	               words[i / NWORDS % NWORDS], i);
	func = string(str, s);
	put(p, 8, TEXT + (uint64_t)i * 4096);
	put(p, 4, func);
	(void)snprintf(s, sizeof s, "%s-%s-%u", words[i / NWORDS % NWORDS],
	               words[i % NWORDS], i);
	put(p, 4, string(str, s));
	put(p, 4, type_run(str, i, nargs));
	put(p, 4, type_run(str, i, nargs));
	put(p, 4, argidx);
	put(p, 4, offidx);
	put(p, 1, nargs);
	put(p, 1, nargs);
	put(p, 2, nsites);
	put(p, 4, enoffidx);
	put(p, 2, enabled);
	put(p, 2, 0);
	put(p, 4, 0);
	for (unsigned k = 0; k < nargs; k++)
		put(&d->sec[S_PRARGS], 1, k);
	for (unsigned k = 0; k < nsites; k++)
		put(&d->sec[S_PROFFS], 4, 32 + 16 * (uint64_t)k);
	for (unsigned k = 0; k < enabled; k++)
		put(&d->sec[S_PRENOFFS], 4, 16);
	put(&d->sec[S_RELTAB], 4, func);
	put(&d->sec[S_RELTAB], 4, SETX);
	put(&d->sec[S_RELTAB], 8, slot);
	put(&d->sec[S_RELTAB], 8, 0);
}

static void
add_provider(struct dof *d, unsigned number)
{
	struct dp_buf *p = &d->sec[S_PROVIDER], *u = &d->sec[S_URELHDR];
	char s[64];

	put(p, 4, S_STRTAB);
	put(p, 4, S_PROBES);
	put(p, 4, S_PRARGS);
	put(p, 4, S_PROFFS);
	(void)snprintf(s, sizeof s, "prov%u", number);
	put(p, 4, string(&d->sec[S_STRTAB], s));
	for (unsigned i = 0; i < 5; i++)
		put(p, 4, ATTR);
	put(p, 4, S_PRENOFFS);
	put(u, 4, S_STRTAB);
	put(u, 4, S_RELTAB);
	put(u, 4, S_PROBES);
	(void)string(&d->sec[S_COMMENTS], "dtrace: made for a bench");
	while (d->sec[S_UTSNAME].n < UTSNAME_SIZE)
		put(&d->sec[S_UTSNAME], 1, 0);
}

static void
put_header(struct dp_buf *b, uint64_t loadsz, uint64_t filesz)
{
	static const uint8_t ident[16] = { 0x7f, 'D',         'O', 'F', 2,
		                           1,    DOF_VERSION, 2,   8,   8 };

	b->n = 0;
	add(b, ident, sizeof ident);
	put(b, 4, 0);
	put(b, 4, HDR_SIZE);
	put(b, 4, SECHDR_SIZE);
	put(b, 4, S_COUNT);
	put(b, 8, HDR_SIZE);
	put(b, 8, loadsz);
	put(b, 8, filesz);
	put(b, 8, 0);
}

/* Place the sections, then write header, section headers and data. */
static void
assemble(struct dof *d)
{
	uint64_t at = HDR_SIZE + SECHDR_SIZE * S_COUNT, loadsz = 0;
	uint64_t off[S_COUNT];

	for (size_t i = 0; i < S_COUNT; i++) {
		unsigned s = places[i];

		at = (at + secs[s].align - 1) / secs[s].align * secs[s].align;
		off[s] = at;
		at += d->sec[s].n;
		if (secs[s].loaded)
			loadsz = at;
	}
	put_header(&d->image, loadsz, at);
	for (unsigned s = 0; s < S_COUNT; s++) {
		put(&d->image, 4, secs[s].type);
		put(&d->image, 4, secs[s].align);
		put(&d->image, 4, secs[s].loaded);
		put(&d->image, 4, secs[s].entsize);
		put(&d->image, 8, off[s]);
		put(&d->image, 8, d->sec[s].n);
	}
	for (size_t i = 0; i < S_COUNT; i++) {
		pad(&d->image, secs[places[i]].align);
		add(&d->image, d->sec[places[i]].p, d->sec[places[i]].n);
	}
}

static void
build(struct dof *d, unsigned number, unsigned nprobes, unsigned nsites)
{
	for (unsigned s = 0; s < S_COUNT; s++)
		d->sec[s].n = 0;
	(void)string(&d->sec[S_STRTAB], "");
	for (unsigned i = 0; i < nprobes; i++)
		add_probe(d, i, nsites);
	add_provider(d, number);
	assemble(d);
}

/* An object as dofextract would write it for a library with one DOF. */
static bool
put_object(struct dp_writer *w, unsigned number, const struct dof *d,
           struct dp_err *e)
{
	static const uint8_t id[20] = "bench build id here";
	char path[64];
	struct dp_rec_object o = { .dev = 1,
		                   .ino = number + 1,
		                   .size = TEXT + TEXT_SIZE + d->image.n,
		                   .mtime_ns = 1700000000000000000,
		                   .ctime_ns = 1700000000000000000,
		                   .machine = EM_X86_64,
		                   .e_type = ET_DYN,
		                   .class = 64,
		                   .format = DPR_FORMAT_ELF,
		                   .build_id = { id, sizeof id } };
	const struct dp_rec_segment text = { .vaddr = TEXT,
		                             .fileoff = TEXT,
		                             .filesz = TEXT_SIZE,
		                             .memsz = TEXT_SIZE,
		                             .align = 4096,
		                             .p_type = PT_LOAD,
		                             .flags = PF_R | PF_X };
	const struct dp_rec_rawdof raw = { .vaddr = TEXT + TEXT_SIZE,
		                           .fileoff = TEXT + TEXT_SIZE,
		                           .section = dp_cstr(".SUNW_dof"),
		                           .bytes = dp_buf_bytes(&d->image) };
	const struct dp_rec_object_end end = { 0 };

	(void)snprintf(path, sizeof path, "/usr/lib/bench/libprov%u.so",
	               number);
	o.path = dp_cstr(path);
	o.soname = dp_cstr(path + sizeof "/usr/lib/bench/" - 1);
	return dp_put_object(w, &o, e) && dp_put_segment(w, &text, e) &&
	       dp_put_rawdof(w, &raw, e) && dp_put_object_end(w, &end, e);
}

static bool
put_stream(unsigned n, unsigned nprobes, unsigned nsites, struct dp_err *e)
{
	const struct dp_rec_end end = { 0 };
	int fd = STDOUT_FILENO;
	struct dof d = { 0 };
	struct dp_writer w;
	bool ok;

	dp_writer_init(&w, (struct dp_sink){ dp_sink_fd, &fd }, false);
	ok = dp_put_stream_header(&w, DPR_STAGE_EXTRACT, "genstream", e);
	for (unsigned i = 0; i < n && ok; i++) {
		build(&d, i, nprobes, nsites);
		ok = put_object(&w, i, &d, e);
	}
	ok = ok && dp_put_end(&w, &end, e) && dp_writer_flush(&w, e);
	dp_writer_deinit(&w);
	for (unsigned s = 0; s < S_COUNT; s++)
		dp_buf_deinit(&d.sec[s]);
	dp_buf_deinit(&d.image);
	return ok;
}

static void
add_note(struct dp_buf *b, unsigned i)
{
	struct dp_buf desc = { 0 };
	char s[64];

	put(&desc, 8, TEXT + 8 * (uint64_t)i);
	put(&desc, 8, 0); /* no base */
	put(&desc, 8, 0); /* no semaphore */
	(void)string(&desc, "bench");
	(void)snprintf(s, sizeof s, "%s__%s_%u", words[i % NWORDS],
	               words[i / NWORDS % NWORDS], i);
	(void)string(&desc, s);
	(void)string(&desc, "8@%rdi -4@-24(%rbp,%rax,8)");
	put(b, 4, sizeof "stapsdt");
	put(b, 4, desc.n);
	put(b, 4, 3);
	(void)string(b, "stapsdt");
	add(b, desc.p, desc.n);
	pad(b, 4);
	dp_buf_deinit(&desc);
}

/* A function of eight notes' sites each, and its name. */
static void
add_symbols(struct dp_buf *syms, struct dp_buf *str, unsigned nnotes)
{
	const Elf64_Sym none = { 0 };
	char s[32];

	add(syms, &none, sizeof none);
	(void)string(str, "");
	for (unsigned i = 0; i < nnotes; i += 8) {
		Elf64_Sym sym = { .st_info =
			                  ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			          .st_shndx = 1,
			          .st_value = TEXT + 8 * (uint64_t)i,
			          .st_size = 64 };

		(void)snprintf(s, sizeof s, "%s_%u", words[i / 8 % NWORDS], i);
		sym.st_name = string(str, s);
		add(syms, &sym, sizeof sym);
	}
}

/* Append what a section holds, aligned; sets its place and size. */
static void
add_data(struct dp_buf *b, Elf64_Shdr *sh, const void *p, size_t n)
{
	pad(b, 8);
	sh->sh_offset = b->n;
	sh->sh_size = n;
	add(b, p, n);
}

/* Everything behind the program header; the place of the section headers. */
static uint64_t
add_sections(struct dp_buf *b, unsigned nnotes)
{
	static const char names[] = "\0.text\0.note.stapsdt\0.symtab\0"
				    ".strtab\0.shstrtab";
	struct dp_buf notes = { 0 }, syms = { 0 }, str = { 0 };
	Elf64_Shdr sh[] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		  .sh_addr = TEXT,
		  .sh_offset = TEXT,
		  .sh_size = TEXT_SIZE,
		  .sh_addralign = 16 },
		{ .sh_name = 7, .sh_type = SHT_NOTE, .sh_addralign = 4 },
		{ .sh_name = 21,
		  .sh_type = SHT_SYMTAB,
		  .sh_link = 4,
		  .sh_info = 1,
		  .sh_entsize = sizeof(Elf64_Sym),
		  .sh_addralign = 8 },
		{ .sh_name = 29, .sh_type = SHT_STRTAB, .sh_addralign = 1 },
		{ .sh_name = 37, .sh_type = SHT_STRTAB, .sh_addralign = 1 },
	};
	uint64_t shoff;

	for (unsigned i = 0; i < nnotes; i++)
		add_note(&notes, i);
	add_symbols(&syms, &str, nnotes);
	if (!dp_buf_reserve(b, TEXT + TEXT_SIZE - b->n))
		die("out of memory");
	memset(b->p + b->n, 0, TEXT + TEXT_SIZE - b->n); /* the code */
	b->n = TEXT + TEXT_SIZE;
	add_data(b, &sh[2], notes.p, notes.n);
	add_data(b, &sh[3], syms.p, syms.n);
	add_data(b, &sh[4], str.p, str.n);
	add_data(b, &sh[5], names, sizeof names);
	pad(b, 8);
	shoff = b->n;
	add(b, sh, sizeof sh);
	dp_buf_deinit(&notes);
	dp_buf_deinit(&syms);
	dp_buf_deinit(&str);
	return shoff;
}

static bool
put_elf(unsigned n, struct dp_err *e)
{
	Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
		                       ELFDATA2LSB, EV_CURRENT },
		          .e_type = ET_DYN,
		          .e_machine = EM_X86_64,
		          .e_version = EV_CURRENT,
		          .e_phoff = sizeof eh,
		          .e_ehsize = sizeof eh,
		          .e_phentsize = sizeof(Elf64_Phdr),
		          .e_phnum = 1,
		          .e_shentsize = sizeof(Elf64_Shdr),
		          .e_shnum = 6,
		          .e_shstrndx = 5 };
	const Elf64_Phdr ph = { .p_type = PT_LOAD,
		                .p_flags = PF_R | PF_X,
		                .p_offset = TEXT,
		                .p_vaddr = TEXT,
		                .p_filesz = TEXT_SIZE,
		                .p_memsz = TEXT_SIZE,
		                .p_align = 4096 };
	struct dp_buf b = { 0 };
	int fd = STDOUT_FILENO;
	bool ok;

	add(&b, &eh, sizeof eh);
	add(&b, &ph, sizeof ph);
	eh.e_shoff = add_sections(&b, n);
	memcpy(b.p, &eh, sizeof eh);
	ok = dp_sink_fd(&fd, dp_buf_bytes(&b), e);
	dp_buf_deinit(&b);
	return ok;
}

static unsigned
number(const char *s)
{
	char *end;
	unsigned long n = strtoul(s, &end, 10);

	if (*s == '\0' || *end != '\0' || n > 1000000)
		die("numbers are 0 to 1000000");
	return (unsigned)n;
}

int
main(int argc, char **argv)
{
	const char *what = argc < 3 ? "" : argv[1];
	struct dp_err e = DP_ERR_INIT;
	bool ok = false;

	if (strcmp(what, "dofs") == 0 && argc == 4)
		ok = put_stream(number(argv[2]), number(argv[3]), 1, &e);
	else if (strcmp(what, "sites") == 0 && argc == 4)
		ok = put_stream(number(argv[3]), 1, number(argv[2]), &e);
	else if (strcmp(what, "notes") == 0 && argc == 3)
		ok = put_elf(number(argv[2]), &e);
	else
		die("dofs N PROBES, sites N COPIES or notes N");
	if (!ok)
		die(e.msg);
	return 0;
}
