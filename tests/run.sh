#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# All tests, one after the other; a line each, what failed in full, and the
# sum at the end.  BIN holds the programs.
set -u
: "${BIN:=build/release}"
BIN=$(cd "$BIN" && pwd)
export BIN
pass=0 fail=0 skip=0
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT

# run NAME COMMAND...: whole programs count as one test.
run() {
	name=$1
	shift
	if "$@" >"$tmp/log" 2>&1; then
		pass=$((pass + 1))
		printf 'ok    %s: %s\n' "$name" "$(grep -v '^ *$' "$tmp/log" | tail -n 1)"
		grep -i '^skip' "$tmp/log" | sed 's/^/      /'
		skip=$((skip + $(grep -ci '^skip' "$tmp/log")))
	else
		fail=$((fail + 1))
		printf 'FAIL  %s\n' "$name"
		sed 's/^/      /' "$tmp/log"
	fi
}

for t in "$BIN"/tests/unit/test_*; do
	case $t in *.o | *.d) continue ;; esac
	run "$(basename "$t")" "$t"
done
for t in "$BIN"/tests/fuzz/*.replay; do
	run "$(basename "$t")" "$t" "$BIN/fixtures"
done
for t in tests/corpus/fixtures.py tests/corpus/check.py tests/corpus/readelf.py; do
	run "$(basename "$t")" python3 "$t"
done

bats --tap tests/cli >"$tmp/bats" 2>&1
while IFS= read -r line; do
	case $line in
	"ok "*"# skip"*) skip=$((skip + 1)); echo "$line" ;;
	"ok "*) pass=$((pass + 1)) ;;
	"not ok "*) fail=$((fail + 1)); echo "$line" ;;
	"#"*) echo "      $line" ;;
	esac
done <"$tmp/bats"
grep -q '^1\.\.[1-9]' "$tmp/bats" || { fail=$((fail + 1)); cat "$tmp/bats"; }

echo "$pass passed, $fail failed, $skip skipped"
# What must not be skipped is named by DOFPIPE_REQUIRE; with it nothing may.
[ "$fail" -eq 0 ] && { [ -z "${DOFPIPE_REQUIRE:-}" ] || [ "$skip" -eq 0 ]; }
