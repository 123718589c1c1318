#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The main job on this machine's own binaries: which probes are there?
set -eu
: "${BIN:=build/release}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

echo "\$ dofextract -r /usr/bin /usr/sbin /usr/lib | dofparse --text"
"$BIN/dofextract" -r /usr/bin /usr/sbin /usr/lib >"$tmp/raw" || [ $? -le 2 ]
"$BIN/dofparse" --stats --text <"$tmp/raw" >"$tmp/text" 2>"$tmp/stats" || :

echo
echo "Objects with the most sites:"
awk '/^[^ ]/ { name = $1 } /^  0x/ { n[name]++ }
     END { for (o in n) printf "%7d  %s\n", n[o], o }' "$tmp/text" |
	sort -k1,1nr -k2 | head -n 10
echo
echo "The first lines of the table:"
head -n 12 "$tmp/text"
echo
sed 's/^dofparse: //' "$tmp/stats"
