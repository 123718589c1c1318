#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# dofparse: options, exit statuses, messages, bare DOF, its jail.  What it
# reads out of real files is checked by tests/corpus.

load common

@test "misuse is told on stderr with status 2" {
	for bad in --nonsense -x --machine --machine=vax --machine= --json=1 \
		--machine=X86_64 --stats=1 --strict=1; do
		status 2 dofparse "$bad" </dev/null
		[ ! -s out ]
		like "$bad" "$(tail -n1 err)" "Try 'dofparse --help'."
		is "lines for $bad" "$(wc -l <err)" 2
	done
}

@test "--help and --version go to stdout" {
	status 0 dofparse --help
	silent
	like usage "$(head -n1 out)" "usage: dofparse *"
	status 0 dofparse --version
	silent
	like version "$(cat out)" \
		"dofparse $(cat "$ROOT/VERSION") (jansson *, nettle *)"
	status 2 sh -c "exec '$BIN/dofparse' --help >/dev/full"
	status 2 sh -c "exec '$BIN/dofparse' --version >/dev/full"
}

@test "0 for probes, 1 for none, 2 for what is neither stream nor DOF" {
	dof_file d.dof p 0x1000 a
	status 0 dofparse --json d.dof
	silent
	cc -O1 -x c -o plain - <<<'int main(void) { return 0; }'
	"$BIN/dofextract" plain >none || true
	status 1 dofparse --json none
	silent
	is whole "$(query '[r["type"] for r in R]')" "['header', 'end']"
	: >empty
	echo text >text
	head -c 4096 /dev/zero >zeros
	printf '{"type":"header"' >half
	for f in empty text zeros half; do
		status 2 dofparse --json $f
		like $f "$(cat err)" "dofparse: $f: *"
		is "lines for $f" "$(wc -l <err)" 1
		is "end of $f" "$(grep -c '"type":"end"' out)" 0
	done
	status 2 dofparse .
	like directory "$(cat err)" "dofparse: .: *"
}

@test "several inputs; one that is missing is told and the rest is read" {
	dof_file a.dof a 0x1000 x
	dof_file b.dof b 0x1000 y
	status 0 dofparse --json a.dof b.dof
	is providers "$(query '[r["name"] for r in T("provider")]')" \
		"['a', 'b']"
	is frame "$(query 'len(T("header")), R[-1]["objects"]')" "(1, 2)"
	status 2 dofparse --json a.dof missing b.dof
	is message "$(cat err)" \
		"dofparse: missing: No such file or directory"
	is providers "$(query '[r["name"] for r in T("provider")]')" \
		"['a', 'b']"
	status 0 sh -c '"$1" --json a.dof - <b.dof' - "$BIN/dofparse"
	is dash "$(query '[r["path"] for r in T("object")]')" \
		"['a.dof', 'stdin']"
	echo text >text
	status 2 dofparse --json a.dof text b.dof
	is "around a bad one" "$(query '[r["name"] for r in T("provider")]')" \
		"['a', 'b']"
}

@test "more inputs than descriptors are allowed at first" {
	dof_file a.dof a 0x1000 x
	for i in $(seq 300); do ln a.dof "l$i"; done
	status 0 bash -c 'ulimit -Sn 100; exec "$@"' - "$BIN/dofparse" --json l*
	is objects "$(query 'R[-1]["objects"]')" 300
}

@test "bare DOF one behind the other, with and without padding" {
	dof_file a.dof a 0x1000 x
	dof_file b.dof b 0x1000 yy=int,char
	dof_file c.dof --be c 0x1000 zzz
	[ $(($(stat -c %s a.dof) % 8)) != 0 ] # else it tests nothing
	cat a.dof b.dof c.dof >tight
	for f in a b c; do
		cat $f.dof
		head -c $((-$(stat -c %s $f.dof) & 7)) /dev/zero
	done >padded
	for f in tight padded; do
		status 0 dofparse --json $f
		silent
		is $f "$(query '[r["name"] for r in T("provider")]')" \
			"['a', 'b', 'c']"
		is raw "$(query '[len(r["raw"]) // 2 for r in T("dof")]')" \
			"$(stat -c %s a.dof b.dof c.dof |
				python3 -c 'import sys
print([int(x) for x in sys.stdin])')"
	done
	(cat a.dof && printf '\177DOF') >cut
	status 2 dofparse --json cut
	is "the whole one" "$(query '[r["name"] for r in T("provider")]')" \
		"['a']"
	is "the cut one" "$(query 'len(T("error"))')" 1
	"$BIN/dofextract" b.dof >b.stream
	cat a.dof b.stream c.dof >mixed
	status 0 dofparse --json mixed
	is mixed "$(query '[r["name"] for r in T("provider")]')" \
		"['a', 'b', 'c']"
}

@test "--machine is for bare DOF" {
	dof_file a.dof a 0x1000 x
	for m in x86_64:62 i386:3 aarch64:183 arm:40 ppc:20 ppc64:21 s390x:22 \
		riscv64:243 sparc:2 sparcv9:43; do
		status 0 dofparse --json --machine=${m%:*} a.dof
		is "$m" "$(query 'T("object")[0]["machine"]')" ${m#*:}
	done
	status 0 dofparse --json a.dof
	is none "$(query 'T("object")[0]["machine"]')" 0
}

@test "--text: one line a site, nothing unprintable" {
	dof_file a.dof p 0x1000 x "y=int,char *"
	cp a.dof "$(printf 'od\033d\n\377')"
	status 0 dofparse --text a.dof
	is text "$(cat out)" "$(
		cat <<-'EOF'
		a.dof  [none unknown machine]
		  0x1010 probe p:a.dof:f_x:x [DOF without its object]
		  0x100a is-enabled p:a.dof:f_x:x [DOF without its object]
		  0x1050 probe p:a.dof:f_y:y (int, char *) [DOF without its object]
		  0x104a is-enabled p:a.dof:f_y:y (int, char *) [DOF without its object]
		EOF
	)"
	status 0 dofparse -t od*
	is name "$(head -n1 out)" 'od\x1bd\x0a\xff  [none unknown machine]'
	run ! grep -qP '[^\x20-\x7e]' out
	sdt_program prog
	"$BIN/dofextract" prog >s
	status 0 dofparse -t s
	is lines "$(wc -l <out)" 3
	like site "$(sed -n 2p out)" "  0x* probe fix:prog:*:* *@*"
}

@test "--text says what --json says" {
	sdt_program prog
	dof_file d.dof p 0x1000 a
	objcopy --add-section .SUNW_dof=d.dof prog both
	"$BIN/dofextract" both >s
	status 0 dofparse --text s
	grep -oE '^  0x[0-9a-f]+' out | sort >text
	status 0 dofparse --json s
	query '"\n".join(sorted("  " + hex(int(s["addr"], 16)
		+ sum(r["addend"] for r in T("reloc")
		if s["reloc"] <= r["id"] < s["reloc"] + s["nreloc"]))
		for s in T("site")))' >json
	diff json text
}

@test "--stats counts, relocations too" {
	sdt_program prog
	"$BIN/dofextract" prog >s
	status 0 dofparse --stats --json s
	sites=$(query 'len(T("site"))')
	is objects "$(sed -n 1p err)" "dofparse: 1 objects, 0 DOFs, 2 notes, \
0 errors, 0 unknown records passed over"
	is probes "$(sed -n 2p err)" "dofparse: 1 providers, 2 probes, \
$sites sites, $(query 'len(T("arg"))') arguments (0 unreadable)"
	is relocs "$(sed -n 3p err)" \
		"dofparse: $(query 'len(T("reloc"))') relocations sdt-base"
	is matter "$(sed -n 4p err)" "dofparse: 2 relocations would change \
an address"
	# in an executable that is not relocated none would
	sdt_program fixed -no-pie
	"$BIN/dofextract" fixed >s
	status 0 dofparse --stats s
	is matter "$(tail -n1 err)" "dofparse: 0 relocations would change \
an address"
	dof_file d.dof p 0x1000 a b c
	status 0 dofparse --stats d.dof
	like dofs "$(cat err)" "*1 DOFs*1 providers, 3 probes, 6 sites*\
3 relocations plain*0 relocations would*"
}

# A DOF whose second provider is broken: name outside the strings.
broken()
{
	dof_file a.dof a 0x1000 x
	python3 - <<-'EOF'
	b = bytearray(open('a.dof', 'rb').read())
	secs = [b[64 + 32 * i:96 + 32 * i] for i in range(6)]
	at = int.from_bytes(secs[5][16:24], 'little')
	b[at + 16:at + 20] = b'\xff\xff\xff\x7f'
	open('bad.dof', 'wb').write(b)
	EOF
}

@test "bad contents: message, error record, status 2, the rest is read" {
	broken
	status 2 dofparse --json bad.dof a.dof
	like message "$(cat err)" "dofparse: bad.dof: at 0x*: *"
	is lines "$(wc -l <err)" 1
	is error "$(query '[(r["input"], r["code"]) for r in T("error")]')" \
		"[('bad.dof', 'format')]"
	is rest "$(query '[r["name"] for r in T("provider")]')" "['a']"
	is end "$(query 'R[-1]["type"]')" end
	status 2 dofparse -q --json bad.dof a.dof
	silent
	status 2 dofparse --quiet bad.dof
	silent
}

@test "--strict stops at the first thing that is wrong" {
	broken
	status 2 dofparse --strict --json a.dof bad.dof a.dof
	is lines "$(wc -l <err)" 1
	is before "$(query 'len(T("provider")), T("end")')" "(1, [])"
	status 0 dofparse --strict --json a.dof a.dof
	is whole "$(query 'R[-1]["type"], R[-1]["objects"]')" "('end', 2)"
}

@test "a stream that was parsed is not parsed again" {
	dof_file a.dof a 0x1000 x
	for form in "" --json; do
		"$BIN/dofparse" $form a.dof >parsed
		status 2 dofparse parsed
		like "$form" "$(cat err)" \
			"dofparse: parsed: *this stream was parsed already"
	done
}

@test "output that fails is told, closed descriptors do no harm" {
	dof_file a.dof a 0x1000 x
	for form in "" --json --text; do
		status 2 sh -c 'exec "$@" >/dev/full' - "$BIN/dofparse" $form \
			a.dof
		like "full $form" "$(cat err)" \
			"dofparse: *No space left on device*"
		status 2 sh -c 'exec "$@" >&-' - "$BIN/dofparse" $form a.dof
		[ -s err ]
	done
	status 0 dofparse a.dof
	mv out want
	status 0 sh -c 'exec "$@" <&-' - "$BIN/dofparse" a.dof
	same out want
	status 0 sh -c 'exec "$@" 2>&-' - "$BIN/dofparse" a.dof
	same out want
	status 2 sh -c 'exec "$@" <&-' - "$BIN/dofparse"
	[ -s err ]
	status 2 sh -c 'exec "$@" 2>&-' - "$BIN/dofparse" missing a.dof
	status 2 sh -c 'exec "$@" <&- >&- 2>&-' - "$BIN/dofparse" a.dof
}

@test "SIGPIPE kills, or, ignored, ends it quietly with 2" {
	dof_file a.dof a 0x1000 x
	for form in "" --json --text; do
		# shellcheck disable=SC2086
		is "statuses $form" "$(python3 - "$BIN/dofparse" $form a.dof <<-'EOF'
		import os, subprocess, sys
		for default in (True, False):
		    r, w = os.pipe()
		    os.close(r)
		    p = subprocess.run(sys.argv[1:], stdout=w, stderr=subprocess.PIPE,
		        restore_signals=default)
		    os.close(w)
		    print(p.returncode, len(p.stderr))
		EOF
		)" "$(printf -- '-13 0\n2 0')"
	done
}

@test "binary records are not written to a terminal, the other forms are" {
	need script
	dof_file a.dof a 0x1000 x
	status 2 script -qec "'$BIN/dofparse' a.dof" /dev/null </dev/null
	like refused "$(cat out)" "*not writing binary*terminal*--text*"
	for form in --text --json; do
		status 0 script -qec "'$BIN/dofparse' $form a.dof" /dev/null \
			</dev/null
		[ -s out ]
	done
}

has_child() { [ -n "$(child "$1")" ]; }
jailed() { grep -q '^Seccomp:.*2$' "/proc/$1/status"; }

start_blocked()
{
	mkfifo in
	"$BIN/dofparse" --json <in >blocked 2>err 3>&- &
	pid=$!
	STARTED+=("$pid")
	exec 9>in
	wait_until has_child $pid
	kid=$(child $pid)
	wait_until jailed $kid
}

@test "it decodes in a jail: no rights, no new ones, system calls filtered" {
	start_blocked
	is no_new_privs "$(awk '/^NoNewPrivs:/ { print $2 }' \
		"/proc/$kid/status")" 1
	for set in CapInh CapPrm CapEff CapBnd CapAmb; do
		[ $set != CapBnd ] || [ "$(id -u)" = 0 ] || continue
		is $set $((0x$(awk -v s=$set: '$1 == s { print $2 }' \
			"/proc/$kid/status"))) 0
	done
	dof_file a.dof a 0x1000 x
	cat a.dof >&9
	exec 9>&-
	ended $pid
	is status "$got" 0
	STARTED=()
	is site "$(query 'len(T("site"))' blocked)" 2
}

@test "in the jail nothing can be opened, connected or run" {
	need strace
	start_blocked
	strace -f -o log -p $kid 2>strace.err 9>&- 3>&- &
	STARTED+=($!)
	wait_until grep -q attached strace.err
	dof_file a.dof a 0x1000 x
	cat a.dof >&9
	exec 9>&-
	ended $pid
	is status "$got" 0
	grep -q 'write(1' log
	run grep -E 'open|socket|connect|execve|clone|fork' log
	is calls "$output" ""
}

@test "the decoder does not outlive its parent, and its death is told" {
	start_blocked
	kill -KILL $pid
	wait $pid 2>/dev/null || true
	wait_until gone $kid
	exec 9>&-
	rm in
	start_blocked
	kill -KILL $kid
	ended $pid
	is status "$got" 2
	like message "$(cat err)" "dofparse: the decoder was ended by signal 9 *"
	exec 9>&-
}

@test "corpus: real DOF in one input, in any order" {
	need_corpus
	cat "$CORPUS"/real/*.dof "$CORPUS"/real/node/*.dof >all
	status 0 dofparse --json all
	is objects "$(query 'R[-1]["objects"], len(T("dof"))')" "(7, 7)"
	cat "$CORPUS"/variants/*.dof >all
	status 0 dofparse --json all
	is objects "$(query 'R[-1]["objects"], len(T("dof"))')" "(57, 57)"
}
