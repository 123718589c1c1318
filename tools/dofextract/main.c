/* SPDX-License-Identifier: BSD-2-Clause */
/* dofextract: find raw DOF and probe notes in files and processes. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <lzma.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../common/cli.h"
#include "../common/progress.h"
#include "base/limits.h"
#include "elf/libver.h"
#include "extract/live.h"
#include "extract/walk.h"
#include "rawout.h"
#include "sandbox/sandbox.h"

static const char usage[] =
	"usage: dofextract [-rq] [-j N] [OPTION...] PATH...\n"
	"       dofextract [OPTION...] --files0-from=F\n"
	"       dofextract [OPTION...] -p PID... | --all-pids\n"
	"Write the raw DOF and probe notes of ELF and Mach-O files, archives\n"
	"and live processes as a stream of records for dofparse.\n"
	"\n"
	"  -r, --recursive       go into directories: one file system, no "
	"links\n"
	"      --files0-from=F   read paths from F, each ended by NUL; - is\n"
	"                        standard input\n"
	"  -p, --pid=PID         what this process maps; may be repeated\n"
	"      --all-pids        what every process maps\n"
	"      --memory          with --all-pids: search anonymous memory for\n"
	"                        DOF, too (-p does)\n"
	"  -j, --threads=N       threads; the CPUs, but 16 at least\n"
	"      --source=LIST     dof, stapsdt, usdt; all unless given\n"
	"      --debug-dir=DIR   separate debug files; /usr/lib/debug\n"
	"      --empty           write objects without probes, too\n"
	"      --raw             write the DOFs alone, one behind the other\n"
	"      --json            write the records as NDJSON\n"
	"  -q, --quiet           no progress, no messages about bad contents\n"
	"      --help            this text\n"
	"      --version         versions of the program and its libraries\n"
	"\n"
	"PATH - is an object on standard input. Exit status: 0 something "
	"found,\n"
	"1 nothing, 2 trouble.\n";

enum { MIN_THREADS = 16 };

enum {
	OPT_FILES0 = 256,
	OPT_ALL_PIDS,
	OPT_MEMORY,
	OPT_SOURCE,
	OPT_DEBUG_DIR,
	OPT_EMPTY,
	OPT_RAW,
	OPT_JSON,
	OPT_HELP,
	OPT_VERSION
};

static const struct option options[] = {
	{ "recursive", no_argument, NULL, 'r' },
	{ "files0-from", required_argument, NULL, OPT_FILES0 },
	{ "pid", required_argument, NULL, 'p' },
	{ "all-pids", no_argument, NULL, OPT_ALL_PIDS },
	{ "memory", no_argument, NULL, OPT_MEMORY },
	{ "threads", required_argument, NULL, 'j' },
	{ "source", required_argument, NULL, OPT_SOURCE },
	{ "debug-dir", required_argument, NULL, OPT_DEBUG_DIR },
	{ "empty", no_argument, NULL, OPT_EMPTY },
	{ "raw", no_argument, NULL, OPT_RAW },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

struct opts {
	struct dp_walk_opts walk;
	struct dp_vec pids; /* pid_t */
	const char *files0; /* NULL: none */
	bool all_pids;
	bool memory;
	bool raw;
	bool quiet;
};

static unsigned
sources(const char *list)
{
	static const struct {
		const char *name;
		unsigned source;
	} names[] = { { "dof", DP_EXTRACT_DOF },
		      { "stapsdt", DP_EXTRACT_STAPSDT },
		      { "usdt", DP_EXTRACT_USDT } };
	unsigned all = 0;

	while (*list != '\0') {
		size_t n = strcspn(list, ",");
		unsigned one = 0;

		for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
			if (strlen(names[i].name) == n &&
			    strncmp(names[i].name, list, n) == 0)
				one = names[i].source;
		if (one == 0) {
			cli_warn("--source: no source '%.*s' "
			         "(dof, stapsdt, usdt)",
			         (int)n, list);
			cli_try_help();
		}
		all |= one;
		list += n;
		list += *list == ',';
	}
	if (all == 0) {
		cli_warn("--source: no source given");
		cli_try_help();
	}
	return all;
}

static void
add_pid(struct opts *o, const char *text)
{
	pid_t *slot;
	uint64_t n;

	if (!cli_number("-p", text, 1, INT32_MAX, &n))
		cli_try_help();
	slot = dp_vec_push(&o->pids, sizeof *slot);
	if (slot == NULL) {
		cli_warn("out of memory");
		exit(CLI_TROUBLE);
	}
	*slot = (pid_t)n;
}

static unsigned
threads(const char *text)
{
	uint64_t n;

	if (!cli_number("-j", text, 1, DP_MAX_THREADS, &n))
		cli_try_help();
	return (unsigned)n;
}

static _Noreturn void
say(void (*what)(void))
{
	what();
	exit(fflush(stdout) == 0 ? CLI_OK : CLI_TROUBLE);
}

static void
print_usage(void)
{
	(void)fputs(usage, stdout);
}

static void
print_version(void)
{
	static char libs[96];

	(void)snprintf(libs, sizeof libs, "libelf %d.%d, liblzma %s",
	               dp_libelf_version() / 1000, dp_libelf_version() % 1000,
	               lzma_version_string());
	cli_version(libs);
}

/* Options that only set something; false for an unknown one. */
static bool
set_option(struct opts *o, int c)
{
	switch (c) {
	case 'r':
		o->walk.recursive = true;
		return true;
	case 'q':
		o->quiet = true;
		return true;
	case OPT_ALL_PIDS:
		o->all_pids = true;
		return true;
	case OPT_MEMORY:
		o->memory = true;
		return true;
	case OPT_EMPTY:
		o->walk.extract.empty = true;
		return true;
	case OPT_RAW:
		o->raw = true;
		return true;
	case OPT_JSON:
		o->walk.json = true;
		return true;
	default:
		return false;
	}
}

static void
parse_args(int argc, char **argv, struct opts *o)
{
	int c;

	while ((c = getopt_long(argc, argv, "rp:j:q", options, NULL)) != -1) {
		switch (c) {
		case 'p':
			add_pid(o, optarg);
			break;
		case 'j':
			o->walk.threads = threads(optarg);
			break;
		case OPT_FILES0:
			o->files0 = optarg;
			break;
		case OPT_SOURCE:
			o->walk.extract.sources = sources(optarg);
			break;
		case OPT_DEBUG_DIR:
			o->walk.extract.debug_dir = optarg;
			break;
		case OPT_HELP:
			say(print_usage);
		case OPT_VERSION:
			say(print_version);
		default:
			if (!set_option(o, c))
				cli_try_help();
		}
	}
}

static void
check_args(struct opts *o, char **paths)
{
	bool from_list = o->files0 != NULL && strcmp(o->files0, "-") == 0;

	if (paths[0] == NULL && o->files0 == NULL && o->pids.n == 0 &&
	    !o->all_pids) {
		cli_warn("no PATH, list or process given");
		cli_try_help();
	}
	for (; *paths != NULL; paths++) {
		if (strcmp(*paths, "-") == 0 && from_list) {
			cli_warn("standard input is an object or a list, "
			         "not both");
			cli_try_help();
		}
		from_list |= strcmp(*paths, "-") == 0;
	}
	if (o->raw && o->walk.json) {
		cli_warn("--raw and --json exclude each other");
		cli_try_help();
	}
	if (o->raw && !(o->walk.extract.sources & DP_EXTRACT_DOF)) {
		cli_warn("--raw writes DOF, which --source leaves out");
		cli_try_help();
	}
	if (o->raw) /* nothing else comes out, so nothing else is found */
		o->walk.extract.sources = DP_EXTRACT_DOF;
	if (!o->walk.json)
		cli_no_terminal("pipe them into dofparse, or use --json");
}

/* Standard input as a file: what reads objects needs offsets. */
static int
stdin_file(struct dp_err *e)
{
	int fd = memfd_create("stdin", MFD_CLOEXEC);
	uint64_t total = 0;
	static char buf[1 << 16];

	if (fd == -1) {
		(void)dp_err_errno(e, errno, "memfd_create");
		return -1;
	}
	for (;;) {
		ssize_t n = read(STDIN_FILENO, buf, sizeof buf);
		struct dp_bytes b = { (const uint8_t *)buf, (size_t)n };

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			(void)dp_err_errno(e, errno, "read");
		else if (n > 0 && (total += (uint64_t)n) > DP_MAX_STDIN)
			(void)dp_err_set(e, DP_ELIMIT, DP_MAX_STDIN,
			                 "more than %d bytes", DP_MAX_STDIN);
		else if (n > 0 && dp_sink_fd(&fd, b, e))
			continue;
		if (n == 0)
			return fd;
		(void)close(fd);
		return -1;
	}
}

/* When it cannot be read, the other inputs still can. */
static bool
add_stdin(struct dp_walk *w, struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;
	int fd = stdin_file(&what);

	if (fd == -1)
		return dp_walk_add_error(w, "-", &what, e);
	return dp_walk_add_fd(w, fd, "-", e);
}

static bool
add_paths(struct dp_walk *w, char **paths, struct dp_err *e)
{
	for (; *paths != NULL; paths++) {
		bool ok = strcmp(*paths, "-") == 0
		                  ? add_stdin(w, e)
		                  : dp_walk_add_path(w, *paths, e);

		if (!ok)
			return false;
	}
	return true;
}

static bool
add_list(struct dp_walk *w, const char *name, struct dp_err *e)
{
	int fd = STDIN_FILENO;

	if (strcmp(name, "-") != 0) {
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (fd == -1)
			return dp_err_errno(e, errno, "%s", name);
	}
	return dp_walk_add_list(w, fd, name, e);
}

/* While nothing is given up yet: other processes may be looked into. */
static bool
collect_live(const struct opts *o, struct dp_live_set **set_ret,
             struct dp_err *e)
{
	struct dp_live_opts lo = {
		.memory = o->all_pids ? o->memory : o->pids.n != 0,
		.quiet = o->all_pids,
	};
	struct dp_live_set *s = dp_live_create(&lo);
	bool ok = s != NULL ||
	          dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");

	if (ok && o->all_pids)
		ok = dp_live_add_all(s, e);
	for (size_t i = 0; i < o->pids.n && ok && !o->all_pids; i++)
		ok = dp_live_add_pid(s, *DP_VEC_AT(&o->pids, pid_t, i), e);
	*set_ret = s;
	return ok;
}

static void
complain(void *ctx, struct dp_bytes input, const struct dp_err *what)
{
	const struct opts *o = ctx;

	if (!o->quiet)
		cli_err(input, what);
}

static void
tick(void *ctx, uint64_t files, uint64_t found)
{
	(void)ctx;
	progress_tick(files, "files", found);
}

/*
 * More than the CPUs: on a cold cache all but a few wait for the disk, and
 * on a warm one the others cost nothing.
 */
static unsigned
default_threads(void)
{
	cpu_set_t set;

	unsigned n = 0;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		n = (unsigned)CPU_COUNT(&set);
	if (n < MIN_THREADS)
		n = MIN_THREADS;
	return n < DP_MAX_THREADS ? n : DP_MAX_THREADS;
}

/* One descriptor a level of a tree, one a file of a process. */
static void
raise_nofile(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = lim.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &lim);
	}
}

/* From here on only what is open, and files for reading. */
static bool
close_jail(struct dp_err *e)
{
	return dp_sandbox_drop_caps(true, e) && dp_sandbox_reader(e);
}

static int
run(struct opts *o, struct dp_walk *w, struct dp_live_set *live,
    struct dp_err *e)
{
	struct dp_walk_result result = { 0 };
	int fd = STDOUT_FILENO;
	struct dp_sink sink = { dp_sink_fd, &fd };
	struct rawout raw = { .out = sink };

	if (o->raw)
		sink = (struct dp_sink){ rawout_write, &raw };
	if ((live != NULL &&
	     (!dp_live_search(live, e) || !dp_walk_add_live(w, live, e))) ||
	    !dp_walk_run(w, sink, &result, e))
		return CLI_TROUBLE;
	if (result.errors != 0)
		return CLI_TROUBLE;
	return result.found != 0 ? CLI_OK : CLI_NOTHING;
}

int
main(int argc, char **argv)
{
	struct opts o = {
		.walk = { .extract = { .sources = DP_EXTRACT_ALL,
		                       .debug_dir = "/usr/lib/debug",
		                       .complain = complain },
		          .threads = default_threads(),
		          .tick = tick },
	};
	struct dp_live_set *live = NULL;
	struct dp_err e = DP_ERR_INIT;
	struct dp_walk *w;
	int status = CLI_TROUBLE;

	cli_start("dofextract");
	parse_args(argc, argv, &o);
	check_args(&o, argv + optind);
	o.walk.extract.ctx = &o;
	raise_nofile();
	progress_start(o.quiet);
	w = dp_walk_create(&o.walk);
	if (w == NULL)
		(void)dp_err_set(&e, DP_ENOMEM, DP_NOOFF, "out of memory");
	else if (add_paths(w, argv + optind, &e) &&
	         (o.files0 == NULL || add_list(w, o.files0, &e)) &&
	         ((o.pids.n == 0 && !o.all_pids) ||
	          collect_live(&o, &live, &e)) &&
	         close_jail(&e))
		status = run(&o, w, live, &e);
	progress_clear();
	if (e.code != DP_OK && !cli_is_epipe(&e))
		cli_err((struct dp_bytes){ NULL, 0 }, &e);
	fflush(stderr);
	_exit(status); /* the jail has no room for exit handlers */
}
