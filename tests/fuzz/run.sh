#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Run every fuzz target for SECONDS, from the fixtures, keeping what is found.
set -eu
seconds=${1:-60}
# What the programs make of the fixtures: seeds for the stream's readers.
streams=build/fuzz/streams
mkdir -p "$streams"
bin=${FIXTURES%/fixtures}
for f in "$FIXTURES"/good-*.bin; do
	name=$(basename "$f" .bin)
	"$bin/dofextract" -q "$f" >"$streams/$name.rec" || :
	"$bin/dofextract" -q --json "$f" >"$streams/$name.json" || :
done
for f in build/fuzz/tests/fuzz/*.fuzz; do
	name=$(basename "$f" .fuzz)
	new=build/fuzz/corpus/$name
	mkdir -p "$new" build/fuzz/crashes
	set -- "$new" "$FIXTURES" "$streams"
	shared=${DOFPIPE_SHARED:-../shared}
	case $name in
	fuzz_dof) [ ! -d "$shared/corpus/bad" ] || set -- "$@" "$shared/corpus/bad" ;;
	esac
	printf '%s: ' "$name"
	if ! "$f" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2560 \
		-max_len=65536 -artifact_prefix="build/fuzz/crashes/$name-" \
		-print_final_stats=1 "$@" >build/fuzz/"$name".log 2>&1; then
		echo "FAILED"
		tail -n 60 build/fuzz/"$name".log
		exit 1
	fi
	awk '/number_of_executed_units/ { print $2, "runs, nothing found" }' \
		build/fuzz/"$name".log
done
