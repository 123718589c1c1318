#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# dofextract on what one file can hold: archives and their members, and
# where the names of functions come from.

load common

# --- archives ---------------------------------------------------------------

@test "archives: members, long names, GNU and BSD form" {
	need llvm-ar ar
	make_members
	ar rcs gnu.a "${MEMBERS[@]}"
	llvm-ar --format=bsd rcs bsd.a "${MEMBERS[@]}"
	llvm-ar --format=darwin rcs darwin.a "${MEMBERS[@]}"
	for a in gnu bsd darwin; do
		status 0 dofextract --json $a.a
		silent
		is "$a" "$(query '[(r["path"], r["member"], r["e_type"])
			for r in T("object")]')" "[('$a.a', 'm.o', 1), \
('$a.a', 'a_name_longer_than_fifteen_characters.o', 1), \
('$a.a', 'blank name.o', 1)]"
		is sites "$(query 'len(T("rawnote"))')" 6
		"$BIN/dofextract" $a.a | "$BIN/dofparse" --json >out
		is offsets "$(query 'sorted(set((s["why"]) for s in T("site")))')" \
			"['relocatable object']"
	done
	mkdir t
	cp gnu.a t
	status 0 dofextract -r --json t
	is walk "$(query 'len(T("object"))')" 3
	python3 - <<-'EOF' # member_off is where the image begins
	import json
	b, want = open('gnu.a', 'rb').read(), open('m.o', 'rb').read()
	objs = [j for j in map(json.loads, open('out')) if j['type'] == 'object']
	assert len(objs) == 3
	for j in objs:
	    at = j['member_off']
	    assert j['size'] == len(want) and b[at:at + len(want)] == want
	EOF
}

@test "archives: broken ones keep what is good" {
	need ar
	make_members
	ar rcs good.a "${MEMBERS[@]}"
	n=$(stat -c %s good.a)
	status 0 dofextract --json good.a
	for cut in 8 9 60 68 100 $((n / 3)) $((n / 2)) $((n - 100)); do
		head -c "$cut" good.a >cut.a
		got=0
		dofextract --json cut.a >out 2>err || got=$?
		[ "$got" -le 2 ]
		is "message at $cut" "$([ -s err ] && echo 2 || echo not)" \
			"$([ "$got" = 2 ] && echo 2 || echo not)"
		is end "$(query 'R[-1]["type"]')" end
	done
	is "good ones" "$(query 'len(T("object")) >= 2')" True
	ar rcT thin.a m.o
	got=0
	dofextract --json thin.a >out 2>err || got=$?
	[ "$got" -le 2 ]
	printf '!<arch>\n' >none.a
	status 1 dofextract none.a
}

# --- function names --------------------------------------------------------------

# functions FILE [OPTION...]: of its sites, in the order of the notes
functions()
{
	timeout 20 "$BIN/dofextract" "$@" 2>err | "$BIN/dofparse" --json >out
	query 'sorted(r["name"] + " " + r["function"] for r in T("probe"))'
}

NAMED="['begin main', 'in inner']"
UNNAMED="['begin ', 'in ']"

@test "function names: the file's own symbols" {
	sdt_program prog -g
	is symtab "$(functions prog)" "$NAMED"
	objcopy --strip-all prog bare
	is stripped "$(functions bare)" "$UNNAMED"
	sdt_program dyn -rdynamic
	objcopy --strip-all dyn dynbare
	is dynsym "$(functions dynbare)" "['begin main', 'in ']"
}

@test "function names: .gnu_debuglink" {
	sdt_program prog -g
	objcopy --only-keep-debug prog x.debug
	objcopy --strip-all --remove-section=.note.gnu.build-id prog bare
	mkdir -p d/.debug g
	objcopy --add-gnu-debuglink=x.debug bare d/bare
	is "not there" "$(functions d/bare)" "$UNNAMED"
	cp x.debug d
	is "beside it" "$(functions d/bare)" "$NAMED"
	mv d/x.debug d/.debug
	is ".debug" "$(functions d/bare)" "$NAMED"
	rm d/.debug/x.debug
	mkdir -p "g$PWD/d"
	cp x.debug "g$PWD/d"
	is "--debug-dir" "$(functions --debug-dir=g "$PWD/d/bare")" "$NAMED"
	is "without" "$(functions --debug-dir=none "$PWD/d/bare")" "$UNNAMED"
	printf x >>x.debug # the checksum is another
	cp x.debug d
	is "other checksum" "$(functions d/bare)" "$UNNAMED"
	rm d/x.debug
	mkfifo d/x.debug
	is "a FIFO" "$(functions d/bare)" "$UNNAMED"
}

@test "function names: a FIFO in the place of a debug file is never opened" {
	need strace
	sdt_program prog -g
	objcopy --only-keep-debug prog x.debug
	objcopy --strip-all --remove-section=.note.gnu.build-id prog bare
	objcopy --add-gnu-debuglink=x.debug bare
	rm x.debug
	mkfifo x.debug
	status 0 strace -f -qq -e trace=open,openat,openat2 -o log \
		"$BIN/dofextract" "$PWD/bare"
	grep -q 'x\.debug", .*O_PATH' log
	run grep 'x\.debug"' <(grep -v O_PATH log)
	is "opened" "$output" ""
	run grep /proc/self/fd log
	is "opened again" "$output" ""
}

@test "function names: build-id" {
	sdt_program prog -g
	id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
	objcopy --strip-all prog bare
	mkdir -p "g/.build-id/${id:0:2}"
	file=g/.build-id/${id:0:2}/${id:2}.debug
	objcopy --only-keep-debug prog "$file"
	is "no folder" "$(functions bare)" "$UNNAMED"
	is found "$(functions --debug-dir=g bare)" "$NAMED"
	is from "$("$BIN/dofextract" --json --debug-dir=g bare >out
		query 'sorted(set(r["from"] for r in T("symbol")
			if r["kind"] == "func"))')" "['debugfile']"
	sdt_program other -g -O2 -DOTHER=1 -Wl,--build-id=0x0102
	objcopy --only-keep-debug other "$file"
	is "another file's" "$(functions --debug-dir=g bare)" "$UNNAMED"
	echo garbage >"$file"
	is garbage "$(functions --debug-dir=g bare)" "$UNNAMED"
}

@test "function names: .gnu_debugdata" {
	need xz
	sdt_program prog -g
	objcopy --only-keep-debug prog full
	objcopy -S --remove-section .comment --keep-symbol=inner \
		--keep-symbol=main full mini
	xz -k mini
	objcopy --strip-all prog bare
	objcopy --add-section .gnu_debugdata=mini.xz bare with
	is mini "$(functions with)" "$NAMED"
	is from "$("$BIN/dofextract" --json with >out
		query 'sorted(set(r["from"] for r in T("symbol")
			if r["kind"] == "func"))')" "['debugdata']"
	head -c 100 mini.xz >cut.xz
	objcopy --add-section .gnu_debugdata=cut.xz bare with
	got=0
	"$BIN/dofextract" --json with >out 2>err || got=$?
	[ "$got" != 1 ]
	is "sites are there" "$(query 'len(T("rawnote"))')" 2
	printf 'text' >text
	objcopy --add-section .gnu_debugdata=text bare with
	"$BIN/dofextract" --json with >out 2>err || true
	is "sites are there" "$(query 'len(T("rawnote"))')" 2
}
