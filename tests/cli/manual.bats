#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The manuals: clean mdoc, examples that run, and nothing missing or left over
# against --help and against the records that the programs write.

bats_require_minimum_version 1.5.0

LIB=/usr/lib/x86_64-linux-gnu/libstdc++.so.6

setup() {
	BIN=$(cd "${BIN:-$BATS_TEST_DIRNAME/../../build/release}" && pwd)
	PATH=$BIN:$PATH
	mkdir "$BATS_TEST_TMPDIR/run"
	cd "$BATS_TEST_TMPDIR/run"
}

# Options that --help names, one a line.
help_options() {
	"$1" --help | grep -E '^ +(-[a-z], +)?-(-[a-z]|[a-z],?)' |
		sed -E 's/^ +//; s/ {2,}.*//' |
		grep -oE '(^|[ ,])--?[a-z0-9-]+' | tr -d ' ,' | sort -u
}

# Options that have an entry in the manual.
manual_options() {
	sed -nE 's/^\.It (Fl .*)/\1/p' "$BIN/man/$1.1" | grep -oE 'Fl [a-z0-9-]+' |
		sed 's/^Fl /-/' | sort -u
}

same_options() {
	help_options "$1" >help
	manual_options "$1" >manual
	[ "$(wc -l <help)" -ge 8 ]
	diff help manual
}

# Commands of a manual's examples, one script each: ex1, ex2...
examples() {
	mandoc -Tascii -O width=200 "$BIN/man/$1" | col -b -x | awk '
		/^[A-Z]/ { in_examples = ($1 == "EXAMPLES") }
		!in_examples { next }
		/^ +\$ / { n++; on = 1; sub(/^ +\$ /, "") }
		on {
			print > ("ex" n)
			on = /\\$/
		}'
}

# run_examples PAGE COUNT: each must print something, and end with 0.
run_examples() {
	[ -e "$LIB" ] || skip "no $LIB on this machine"
	command -v jq >/dev/null || skip "jq is not installed"
	examples "$1"
	[ "$(ls ex* | wc -l)" -eq "$2" ]
	for nr in $(seq "$2"); do
		before=$(ls | cksum)
		# to files: a job in the background would keep a pipe open
		status=0
		bash "ex$nr" >"../out" 2>"../err" 3>&- || status=$?
		echo "example $nr: $(cat "ex$nr")"
		echo "status $status: $(cat ../err)"
		[ "$status" -eq 0 ]
		[ -s ../out ] || [ "$before" != "$(ls | cksum)" ]
	done
}

@test "manuals are clean mdoc" {
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	for page in dofextract.1 dofparse.1 dofrecords.5; do
		run mandoc -Tlint -Wwarning "$BIN/man/$page"
		# the clock of a builder may be behind
		output=$(grep -v 'date in the future' <<<"$output") || :
		echo "$output"
		[ -z "$output" ]
	done
}

@test "manuals have the sections they should" {
	for page in dofextract.1 dofparse.1; do
		for s in NAME SYNOPSIS DESCRIPTION "EXIT STATUS" EXAMPLES \
			DIAGNOSTICS SECURITY LIMITS "SEE ALSO" CAVEATS; do
			grep -qx "\.Sh $s" "$BIN/man/$page"
		done
	done
}

@test "dofextract: --help and manual have the same options" {
	same_options dofextract
}

@test "dofparse: --help and manual have the same options" {
	same_options dofparse
}

@test "every option of the manual is taken" {
	for prog in dofextract dofparse; do
		for o in $(manual_options $prog); do
			# what is unknown is named, whatever else is wrong
			run "$prog" "$o" --help </dev/null
			echo "$prog $o: $output"
			[[ $output != *"unrecognized option"* ]]
			[[ $output != *"invalid option"* ]]
		done
	done
	run dofparse --no-such-option
	[[ $output == *"unrecognized option"* ]]
}

@test "dofparse: each machine of the manual is taken" {
	n=0
	for m in $(awk '/^\.It Fl -machine/ { on = 1; next }
			/^\.It/ { on = 0 }
			on && /^\.Cm/ { print $2 }' "$BIN/man/dofparse.1"); do
		dofparse --machine="$m" --help >/dev/null
		n=$((n + 1))
	done
	[ "$n" -ge 9 ]
}

@test "dofextract: the examples run" {
	run_examples dofextract.1 6
}

@test "dofparse: the examples run" {
	run_examples dofparse.1 8
}

@test "dofrecords: the example runs, and shows what is shown" {
	run_examples dofrecords.5 1
	mandoc -Tascii -O width=200 "$BIN/man/dofrecords.5" | col -b -x |
		grep -E '^ +000000 ' | sed 's/^ *//' >shown
	bash ex1 | head -n 1 >real
	diff shown real
}

@test "dofrecords: the relocation example is the real one" {
	f=$BIN/fixtures/good-elf64-so-sym.bin
	[ -e "$f" ] || skip "no fixtures beside the programs"
	dofextract -j1 "$f" | dofparse -j >out
	jq -c 'select(.type == "probe" and .name == "done-it")
		| [.addr, .reloc, .nreloc]' out >real
	jq -c 'select(.type == "reloc" and .rec_id == 0)
		| [.id, .in_place, .sym_value, .addend, .kind, .base, .state,
		   .replaces, .symbol]' out >>real
	jq -c 'select(.type == "site" and .id == 0)
		| [.addr, .stored, .reloc, .nreloc]' out >>real
	cat >want <<-'END'
	["0x0",0,2]
	[0,"0x0","0x1000",0,"elf-symbol","bias","pending",true,"helper"]
	[1,"0x0","0x0",0,"setx","bias","loader",false,"helper"]
	["0x29","0x29",0,2]
	END
	diff want real
	dofextract -j1 "$f" | dofparse -t | grep -q '^  0x1029 probe .*:done-it'
	# and the page says the same
	grep -q '0x29 - 0x0 + 0x1000 + 0 + 0 = 0x1029' "$BIN/man/dofrecords.5"
	for s in '"in_place":"0x0","sym_value":"0x1000"' \
		'"kind":"elf-symbol","base":"bias","state":"pending"' \
		'"kind":"setx","base":"bias","state":"loader"' \
		'"site","addr":"0x29","stored":"0x29"'; do
		grep -qF "$s" "$BIN/man/dofrecords.5"
	done
}

# "record key" for each key of real output, and for each entry of the page.
@test "dofrecords: names every record and key that occurs" {
	command -v jq >/dev/null || skip "jq is not installed"
	set -- "$BIN"/fixtures/*.bin
	[ -e "$1" ] || set --
	[ ! -e "$LIB" ] || set -- "$@" "$LIB"
	[ $# -gt 0 ] || skip "neither fixtures nor $LIB"
	dofextract -q --json "$@" >all || :
	dofextract -q "$@" | dofparse -q --json >>all || :
	if [ -e "$LIB" ]; then # any process with probes in it
		LD_PRELOAD=$LIB sleep 60 3>&- &
		pid=$!
		until grep -qs stdc++ "/proc/$pid/maps"; do sleep 0.1; done
		dofextract -q --json -p "$pid" >>all
		kill "$pid"
	fi
	jq -r '. as $r | keys_unsorted[] | select(. != "type")
		| select((endswith("_hex") and
			  (.[:-4] as $k | $r | has($k))) | not)
		| $r.type + " " + .' all | sort -u >seen
	awk '/^\.Ss / { record = $2 }
		/^\.It Va / { print record, $3 }' "$BIN/man/dofrecords.5" |
		sort -u >described
	[ -s seen ]
	[ -z "$(comm -23 seen described)" ]
	[ -e "$BIN/fixtures/good-elf64-all.bin" ] && [ -e "$LIB" ] ||
		skip "no fixtures or no $LIB: only a part is compared"
	# the fixtures have all records, so nothing is described in vain
	diff <(cut -d' ' -f1 seen | sort -u) <(cut -d' ' -f1 described | sort -u)
	diff seen described
}

@test "dofrecords: names every word that occurs" {
	[ -e "$BIN/fixtures/good-elf64-all.bin" ] ||
		skip "no fixtures beside the programs"
	dofextract -q "$BIN"/fixtures/*.bin | dofparse -q --json >all || :
	jq -r 'if .type == "site" or .type == "reloc" or .type == "arg"
		then .kind else empty end' all | sort -u >seen
	[ "$(wc -l <seen)" -ge 10 ]
	while read -r word; do
		grep -qE "^\.Cm $word( ,)?\$" "$BIN/man/dofrecords.5"
	done <seen
}
