# SPDX-License-Identifier: BSD-2-Clause
# What the command-line tests share: where the programs are, what a test may
# be skipped for, small fixtures, a reader of NDJSON.

bats_require_minimum_version 1.5.0

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
BIN=$(cd "$ROOT" && realpath "${BIN:-build/release}")
SHARED=$(cd "$ROOT" && realpath -m "${DOFPIPE_SHARED:-../shared}")
PY=$ROOT/tests/corpus
DP_TMP=$BATS_TEST_TMPDIR
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1 SHELL=$BASH # script(1) uses it

setup()
{
	cd "$DP_TMP" || return 1
	STARTED=()
}

# Ends only what the test itself has started.
teardown()
{
	local pid

	for pid in "${STARTED[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	return 0
}

dofextract() { "$BIN/dofextract" "$@"; }
dofparse() { "$BIN/dofparse" "$@"; }

# --- what may be missing ---------------------------------------------------

# absent KIND REASON: a skip, or a failure when $DOFPIPE_REQUIRE names KIND.
# A "machine" (rights, packages) is required with whatever is.
absent()
{
	case ",$DOFPIPE_REQUIRE," in
	,,) skip "$2" ;;
	*,"$1",*) fail "required: $2" ;;
	esac
	[ "$1" != machine ] || fail "required: $2"
	skip "$2"
}

fail()
{
	printf '%s\n' "$@" >&2
	return 1
}

need_root() { [ "$(id -u)" = 0 ] || absent machine "needs root"; }

need()
{
	local tool

	for tool; do
		command -v "$tool" >/dev/null || absent machine "needs $tool"
	done
}

need_sdt()
{
	need cc
	echo '#include <sys/sdt.h>' | cc -E - >/dev/null 2>&1 ||
		absent machine "needs sys/sdt.h (systemtap-sdt-dev)"
}

need_corpus()
{
	CORPUS=$SHARED/corpus
	[ -d "$CORPUS" ] || absent corpus "needs the corpus at $CORPUS"
}

# --- checks ----------------------------------------------------------------

# is WHAT GOT WANT
is()
{
	[ "$2" = "$3" ] || fail "$1" "got:  $2" "want: $3"
}

# like WHAT GOT GLOB
like()
{
	# shellcheck disable=SC2053
	[[ $2 == $3 ]] || fail "$1" "got:  $2" "want: $3"
}

same() { cmp "$1" "$2" || fail "$1 and $2 differ"; }

# status WANT COMMAND...: stdout in ./out, stderr in ./err, limited in time.
# Functions are not known to timeout(1), so the programs are named in full.
status()
{
	local want=$1 got=0

	shift
	case $1 in
	dofextract | dofparse) set -- "$BIN/$1" "${@:2}" ;;
	esac
	timeout -k 5 60 "$@" >out 2>err || got=$?
	[ "$got" = "$want" ] ||
		fail "$*" "status $got, want $want" "$(head -c 2000 err)"
}

silent() { [ ! -s err ] || fail "stderr: $(head -c 2000 err)"; }

# query EXPRESSION [FILE]: Python; R the records of an NDJSON file, T(type)
# those of one type.
query()
{
	python3 -c '
import json, sys
R = [json.loads(x) for x in open(sys.argv[2], encoding="utf-8")]
T = lambda t: [r for r in R if r["type"] == t]
print(eval("(%s\n)" % sys.argv[1]))' "$1" "${2:-out}"
}

# wait_until COMMAND...: at most ten seconds.
wait_until()
{
	local i

	for i in $(seq 200); do
		"$@" && return 0
		sleep 0.05
	done
	fail "did not happen: $*"
}

gone() { [ ! -d "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status"; }

# child PID: its only child
child() { tr -d ' ' <"/proc/$1/task/$1/children"; }

# ended PID: wait for a child, but not for ever; $got is its status.
ended()
{
	wait_until gone "$1"
	got=0
	wait "$1" || got=$?
}

# --- fixtures --------------------------------------------------------------

# sdt_source: a program with two probes, one in a static function.
sdt_source()
{
	cat <<-'EOF'
	#include <stdio.h>
	#include <unistd.h>
	#include <sys/sdt.h>
	static __attribute__((noinline)) int
	inner(int a, const char *s)
	{
		DTRACE_PROBE2(fix, in, a, s);
		__asm__ volatile("" ::: "memory");
		return a + 1;
	}
	int
	main(int argc, char **argv)
	{
		DTRACE_PROBE1(fix, begin, argc);
		if (argc > 1) {
			puts("ready");
			fflush(stdout);
			pause();
		}
		return inner(argc, argv[0]) == 0;
	}
	EOF
}

# sdt_program FILE [CC OPTION...]
sdt_program()
{
	local file=$1

	shift
	need_sdt
	sdt_source | cc -O1 -x c -o "$file" "$@" -Wl,--build-id -
}

# dof_file FILE [dofimage.py ARGUMENT...]
dof_file()
{
	local file=$1

	shift
	python3 "$PY/dofimage.py" "$@" >"$file"
}

# make_members: files for an archive, three with probes; their names in MEMBERS
make_members()
{
	need_sdt
	sdt_source | cc -O1 -g -c -x c -o m.o -
	cp m.o a_name_longer_than_fifteen_characters.o
	cp m.o 'blank name.o'
	cc -c -x c -o plain.o - <<<'int plain;'
	MEMBERS=(m.o a_name_longer_than_fifteen_characters.o plain.o
		'blank name.o')
}
