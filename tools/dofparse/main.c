/* SPDX-License-Identifier: BSD-2-Clause */
/* dofparse: raw records in, probes out, decoded in a jail. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <nettle/version.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/cli.h"
#include "../common/machine.h"
#include "decode.h"
#include "sandbox/sandbox.h"

static const char usage[] =
	"usage: dofparse [--json | --text] [--stats] [--strict] [-q]\n"
	"                [--machine=NAME] [FILE...]\n"
	"Turn the raw DOF and notes of dofextract into probes.\n"
	"\n"
	"  -j, --json          write the records as NDJSON\n"
	"  -t, --text          write one line a site, for people\n"
	"      --stats         say on stderr what was there, relocations too\n"
	"      --strict        stop at the first thing that is wrong\n"
	"      --machine=NAME  CPU of bare DOF: x86_64, i386, aarch64, arm,\n"
	"                      ppc, ppc64, s390x, riscv64, sparc, sparcv9\n"
	"  -q, --quiet         no messages about bad contents\n"
	"      --help          this text\n"
	"      --version       versions of the program and its libraries\n"
	"\n"
	"FILE is a stream of dofextract, binary or NDJSON, or bare DOF; "
	"without\n"
	"one, or for -, standard input. Exit status: 0 probes found, 1 none,\n"
	"2 trouble.\n";

enum { PIPE_BYTES = 1 << 20 };

enum { OPT_STATS = 256, OPT_STRICT, OPT_MACHINE, OPT_HELP, OPT_VERSION };

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "text", no_argument, NULL, 't' },
	{ "stats", no_argument, NULL, OPT_STATS },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "machine", required_argument, NULL, OPT_MACHINE },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

static uint16_t
machine(const char *name)
{
	uint16_t m = machine_number(name);

	if (m != 0)
		return m;
	cli_warn("--machine: no CPU '%s'", name);
	cli_try_help();
}

static void
print_version(void)
{
	char libs[96];

	(void)snprintf(libs, sizeof libs, "jansson %s, nettle %d.%d",
	               jansson_version_str(), nettle_version_major(),
	               nettle_version_minor());
	cli_version(libs);
}

static void
parse_args(int argc, char **argv, struct decode_opts *o)
{
	int c;

	while ((c = getopt_long(argc, argv, "jtq", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			o->form = DECODE_JSON;
			break;
		case 't':
			o->form = DECODE_TEXT;
			break;
		case OPT_STATS:
			o->stats = true;
			break;
		case OPT_STRICT:
			o->strict = true;
			break;
		case OPT_MACHINE:
			o->machine = machine(optarg);
			break;
		case 'q':
			o->quiet = true;
			break;
		case OPT_HELP:
			(void)fputs(usage, stdout);
			exit(fflush(stdout) == 0 ? CLI_OK : CLI_TROUBLE);
		case OPT_VERSION:
			print_version();
			exit(fflush(stdout) == 0 ? CLI_OK : CLI_TROUBLE);
		default:
			cli_try_help();
		}
	}
}

/* All inputs are opened before the jail closes; a bad one is named. */
static size_t
open_inputs(char **names, size_t n, struct decode_input *in, bool *bad_ret)
{
	struct rlimit lim;
	size_t nin = 0;

	if (n > 64 && getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = lim.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &lim);
	}
	for (size_t i = 0; i < n; i++) {
		struct dp_err e = DP_ERR_INIT;
		int fd = STDIN_FILENO;

		if (strcmp(names[i], "-") != 0)
			fd = open(names[i], O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (fd == -1) {
			(void)dp_err_errno(&e, errno, "%s", "");
			cli_err(dp_cstr(names[i]), &e);
			*bad_ret = true;
			continue;
		}
		in[nin++] = (struct decode_input){
			fd == STDIN_FILENO ? "stdin" : names[i], fd
		};
	}
	return nin;
}

/* In the child: never returns, and runs no exit handlers of a library. */
static _Noreturn void
jailed(const struct decode_opts *o, const struct decode_input *in, size_t nin,
       pid_t parent)
{
	struct dp_err e = DP_ERR_INIT;
	int status;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it was faster */
		_exit(CLI_TROUBLE);
	for (size_t i = 0; i < nin; i++) /* fewer, larger turns; else EBADF */
		(void)fcntl(in[i].fd, F_SETPIPE_SZ, PIPE_BYTES);
	if (!dp_sandbox_drop_caps(false, &e) || !dp_sandbox_pipe(&e)) {
		cli_err(dp_cstr("sandbox"), &e);
		_exit(CLI_TROUBLE);
	}
	status = decode_run(o, in, nin);
	if (fflush(stdout) != 0)
		status = CLI_TROUBLE;
	_exit(status);
}

/* The child's end becomes ours. */
static int
wait_for(pid_t child)
{
	int how;

	while (waitpid(child, &how, 0) == -1)
		if (errno != EINTR)
			return CLI_TROUBLE;
	if (WIFEXITED(how))
		return WEXITSTATUS(how);
	if (WTERMSIG(how) == SIGPIPE || WTERMSIG(how) == SIGINT ||
	    WTERMSIG(how) == SIGTERM) {
		(void)signal(WTERMSIG(how), SIG_DFL);
		(void)raise(WTERMSIG(how));
	}
	cli_warn("the decoder was ended by signal %d (%s)", WTERMSIG(how),
	         strsignal(WTERMSIG(how)));
	return CLI_TROUBLE;
}

int
main(int argc, char **argv)
{
	static char dash[] = "-";
	char *from_stdin[] = { dash };
	struct decode_opts o = { .form = DECODE_BINARY };
	struct decode_input *in;
	bool bad = false;
	size_t n, nin;
	char **names;
	int status;
	pid_t child, self = getpid();

	cli_start("dofparse");
	parse_args(argc, argv, &o);
	if (o.form == DECODE_BINARY)
		cli_no_terminal("use --text or --json");
	n = optind < argc ? (size_t)(argc - optind) : 1;
	names = optind < argc ? argv + optind : from_stdin;
	in = calloc(n, sizeof *in);
	if (in == NULL) {
		cli_warn("out of memory");
		return CLI_TROUBLE;
	}
	nin = open_inputs(names, n, in, &bad);
	child = fork();
	if (child == -1) {
		cli_warn("fork: %s", strerror(errno));
		free(in);
		return CLI_TROUBLE;
	}
	if (child == 0)
		jailed(&o, in, nin, self);
	status = wait_for(child);
	free(in);
	return bad ? CLI_TROUBLE : status;
}
