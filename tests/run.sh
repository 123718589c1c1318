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

# By their sources: what was built from one that is gone is no test.
for t in tests/unit/test_*.c; do
	t=$(basename "$t" .c)
	run "$t" "$BIN/tests/unit/$t"
done
for t in tests/fuzz/fuzz_*.c; do
	t=$(basename "$t" .c)
	run "$t.replay" "$BIN/tests/fuzz/$t.replay" "$BIN/fixtures"
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
# A bats that died on its way has not run what it planned.
planned=$(sed -n 's/^1\.\.//p' "$tmp/bats")
ran=$(grep -c -E '^(not )?ok ' "$tmp/bats")
if [ "${planned:-0}" -eq 0 ] || [ "$planned" -ne "$ran" ]; then
	fail=$((fail + 1))
	echo "FAIL  bats: ${planned:-no} tests planned, $ran run"
	tail -n 20 "$tmp/bats"
fi

echo "$pass passed, $fail failed, $skip skipped"
# What must not be skipped is named by DOFPIPE_REQUIRE; with it nothing may.
[ "$fail" -eq 0 ] && { [ -z "${DOFPIPE_REQUIRE:-}" ] || [ "$skip" -eq 0 ]; }
