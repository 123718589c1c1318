#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A sample of the programs' work under valgrind: any error fails.
set -eu
: "${BIN:=build/release}"
vg="valgrind -q --error-exitcode=99 --leak-check=no --trace-children=no"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0
for f in "$BIN"/fixtures/*.bin; do
	n=$((n + 1))
	[ $((n % 6)) -eq 0 ] || continue
	s=0
	"$BIN/dofextract" -q --empty "$f" >"$tmp/raw" 2>/dev/null || s=$?
	[ "$s" -le 2 ]
	s=0
	$vg "$BIN/dofextract" -q -j2 "$f" >/dev/null 2>"$tmp/err" || s=$?
	[ "$s" -le 2 ] || { echo "dofextract $f:"; cat "$tmp/err"; exit 1; }
	s=0
	$vg --trace-children=yes "$BIN/dofparse" -q --json "$tmp/raw" \
		>/dev/null 2>"$tmp/err" || s=$?
	[ "$s" -le 2 ] || { echo "dofparse $f:"; cat "$tmp/err"; exit 1; }
	echo "ok $f"
done
