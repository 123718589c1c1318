#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The record stream between the two programs: its two forms, streams one
# behind the other, cut ones, records of later versions.

load common

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return 1
	cat >m.c <<-'EOF'
	#include <sys/sdt.h>
	static char c;
	__attribute__((noinline)) int f(int a) { DTRACE_PROBE2(s, p, a, &c); return a; }
	int main(int n, char **v) { DTRACE_PROBE1(s, q, v); return f(n); }
	EOF
	cc -O1 -g -o note m.c 2>/dev/null || return 0 # need_sdt tells
	python3 "$BATS_TEST_DIRNAME/../corpus/dofimage.py" d 0x1000 a b=int,char \
		>d.dof
	objcopy --add-section .SUNW_dof=d.dof note both
	cc -O1 -x c -o plain - <<<'int main(void) { return 0; }'
}

fixtures()
{
	need_sdt
	ln -s "$BATS_FILE_TMPDIR"/* .
}

@test "NDJSON between the two makes no difference" {
	fixtures
	status 0 dofextract note both d.dof
	mv out bin
	status 0 dofextract --json note both d.dof
	mv out json
	for form in "" --json --text; do
		status 0 dofparse $form bin
		mv out from.bin
		status 0 dofparse $form json
		sed -i 's/^json  \[/bin  [/' out # nothing else may differ
		same out from.bin
	done
	status 0 sh -c '"$1/dofextract" note | "$1/dofparse" --json' - "$BIN"
	mv out want
	status 0 sh -c '"$1/dofextract" --json note | "$1/dofparse" --json' \
		- "$BIN"
	same out want
}

@test "NDJSON: type first, all keys of records.def, as the schema has them" {
	fixtures
	for form in extract parse; do
		if [ $form = extract ]; then
			set -- dofextract both
		else
			"$BIN/dofextract" both >s
			set -- dofparse s
		fi
		status 0 "$@"
		mv out bin
		status 0 "$@" --json
		mv out json
		status 0 python3 - "$PY" bin json <<-'EOF' || fail "$form"
		import sys
		sys.path.insert(0, sys.argv[1])
		import stream
		s = stream.Stream(stream.Schema(), open(sys.argv[2], 'rb').read(),
		                  open(sys.argv[3], 'rb').read())
		stream.objects(s)
		EOF
	done
}

@test "NDJSON: keys in any order, unknown ones, numbers as hex" {
	fixtures
	"$BIN/dofextract" --json both >s
	status 0 dofparse s
	mv out want
	python3 - <<-'EOF'
	import json
	with open('odd', 'w') as f:
	    for line in open('s'):
	        j = json.loads(line)
	        items = [(k, v) for k, v in j.items()]
	        items.reverse()
	        items.append(('later', {'a': [1, 2, {}]}))
	        f.write(json.dumps(dict(items), separators=(' , ', ' : ')) + '\r\n')
	EOF
	status 0 dofparse odd
	same out want
	jq . s >/dev/null || absent machine "needs jq"
	jq -c . s >through
	status 0 dofparse through
	same out want
}

@test "bytes that are no UTF-8 live through NDJSON" {
	fixtures
	name=$(printf 'b\303\244d\377\200"\\\n\001')
	cp note "$name"
	status 0 dofextract "$name"
	mv out bin
	status 0 dofextract --json "$name"
	python3 -c 'open("out", "rb").read().decode("utf-8")'
	is hex "$(query 'T("object")[0]["path_hex"]')" \
		"$(printf %s "$name" | od -An -tx1 | tr -d ' \n')"
	mv out json
	for form in "" --json; do
		status 0 dofparse $form bin
		mv out want
		status 0 dofparse $form json
		same out want
	done
}

@test "cat a b is a stream, in any mix of forms" {
	fixtures
	"$BIN/dofextract" note >a
	"$BIN/dofextract" both >b
	"$BIN/dofextract" --json d.dof >c
	status 0 dofparse --json a b c
	query '[r for r in R if r["type"] not in ("header", "end")]' >want
	status 0 sh -c 'cat a b c | "$1" --json' - "$BIN/dofparse"
	is frame "$(query 'len(T("header")), len(T("end")), R[-1]["objects"]')" \
		"(1, 1, 3)"
	query '[r for r in R if r["type"] not in ("header", "end")]' >got
	cmp want got
	status 0 sh -c 'cat c c a a c | "$1" --json' - "$BIN/dofparse"
	is mixed "$(query 'R[-1]["objects"]')" 5
}

@test "a cut stream is noticed, wherever it is cut" {
	fixtures
	"$BIN/dofextract" note both d.dof >s
	status 0 python3 "$PY/cuts.py" s
	like cuts "$(cat out)" "cuts: * ok"
	[ "$(sed 's/[^0-9]//g' out)" -ge 100 ]
}

@test "cut NDJSON is noticed, too" {
	fixtures
	"$BIN/dofextract" --json note both d.dof >s
	lines=$(wc -l <s)
	for n in $(seq 1 $((lines - 1))); do
		head -n "$n" s >cut
		status 2 dofparse --json cut
		is "end after $n" "$(grep -c '"type":"end"' out)" 0
		is "message after $n" "$(grep -c "$(grep -c object_end cut) \
whole object" err)" 1
	done
	head -c $(($(stat -c %s s) - 5)) s >cut
	status 2 dofparse --json cut
	is "end" "$(grep -c '"type":"end"' out)" 0
}

@test "a cut stream in front of a good one spoils only itself" {
	fixtures
	"$BIN/dofextract" note both >a
	"$BIN/dofextract" d.dof >b
	head -c $(($(stat -c %s a) - 40)) a >cut
	status 2 dofparse --json cut b
	is "no end" "$(query 'T("end")')" "[]"
	[ "$(query 'T("object")[0]["path"]')" = note ]
	[ "$(query 'T("object")[-1]["path"]')" = d.dof ]
	# cut inside of an object: it ends with an error, and the next is read
	[ "$(query '[r["reach"] for r in T("error")]')" = "['object']" ]
	is ends "$(query 'len(T("object_end")) - len(T("object"))')" 0
	is whole "$(query '[r["errors"] for r in T("object_end")]')" "[0, 1, 0]"
	status 2 dofparse cut b cut b
	is objects "$("$BIN/dofparse" -qj cut b cut b | grep -c object_end)" 6
}

@test "an object without its end, or without its beginning, costs itself" {
	fixtures
	"$BIN/dofextract" --json note both d.dof >s
	n=$(grep -n '"type":"object_end"' s | head -n 1 | cut -d: -f1)
	sed "${n}d" s >no-end
	status 2 dofparse --json no-end
	is "no end" "$(query '[r["path"] for r in T("object")],
		[r["errors"] for r in T("object_end")]')" \
		"(['note', 'both', 'd.dof'], [1, 0, 0])"
	n=$(grep -n '"type":"object"' s | sed -n 2p | cut -d: -f1)
	sed "${n}d" s >no-object
	status 2 dofparse --json no-object
	is "no beginning" "$(query '[r["path"] for r in T("object")],
		[r["errors"] for r in T("object_end")], len(T("error"))')" \
		"(['note', 'd.dof'], [0, 0], 2)"
}

@test "an input that is empty is told, wherever it stands" {
	fixtures
	"$BIN/dofextract" note >s
	: >empty
	for inputs in "empty" "s empty" "empty s" "s empty s"; do
		# shellcheck disable=SC2086
		status 2 dofparse $inputs
		like "$inputs" "$(cat err)" "dofparse: empty: empty: *"
	done
	status 0 dofparse s s
}

@test "records of unknown type or version are passed over and counted" {
	fixtures
	"$BIN/dofextract" note both >s
	status 0 dofparse s
	mv out want
	python3 - "$PY" <<-'EOF'
	import struct, sys
	sys.path.insert(0, sys.argv[1])
	import stream
	data = open('s', 'rb').read()
	out, n = b'', 0
	for at, kind, version, body in stream.frames(data):
	    rec = data[at:at + 8 + len(body)]
	    if kind == 35:      # its last field counts them, too
	        total, = struct.unpack_from('<Q', rec, 16)
	        rec = rec[:16] + struct.pack('<Q', total + n + 2)
	    new = struct.pack('<IHHQ', 16, 999 + n, 1, n)
	    later = struct.pack('<IHHQ', 16, kind, version + 1, n)
	    if kind == 1:       # behind the header
	        out += rec
	        rec = b''
	    out += new + (later if kind not in (1, 2, 34, 35) else new)
	    out += rec
	    n += 2
	open('odd', 'wb').write(out)
	print(n)
	EOF
	n=$(python3 -c "import struct
d, at, n = open('s', 'rb').read(), 0, 0
while at < len(d):
    n, at = n + 2, at + struct.unpack_from('<I', d, at)[0]
print(n)")
	status 0 dofparse --stats odd
	same out want
	like stats "$(head -n1 err)" "* $n unknown records passed over"
	"$BIN/dofextract" --json note both >s.json
	n=$(wc -l <s.json)
	sed -e "s/\"records\":$n/\"records\":$((2 * n - 1))/" \
		-e '$!a {"type":"later","x":1}' s.json >odd
	status 0 dofparse --stats odd
	same out want
	like stats "$(head -n1 err)" "* $(grep -c later odd) unknown records *"
}

@test "damaged records: never a crash, always a message" {
	fixtures
	"$BIN/dofextract" both >s
	python3 - "$BIN/dofparse" <<-'EOF'
	import random, subprocess, sys
	random.seed(7)
	good = open('s', 'rb').read()
	for i in range(300):
	    b = bytearray(good)
	    for _ in range(random.choice((1, 1, 4))):
	        b[random.randrange(len(b))] = random.choice((0, 1, 127, 255))
	    p = subprocess.run([sys.argv[1]], input=bytes(b),
	        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
	    assert p.returncode in (0, 1, 2), (i, p.returncode)
	    assert (p.returncode == 2) == bool(p.stderr), (i, p.stderr)
	    assert b'signal' not in p.stderr, (i, p.stderr)
	EOF
}

@test "record sizes that lie" {
	fixtures
	"$BIN/dofextract" note >s
	python3 - "$BIN/dofparse" <<-'EOF'
	import struct, subprocess, sys
	good = open('s', 'rb').read()
	at = 0
	while at < len(good):
	    size, = struct.unpack_from('<I', good, at)
	    for lie in (0, 4, 7, 8, size - 8, size + 1, size + 8, 0x7fffffff,
	                0xfffffff8, 0xffffffff):
	        b = bytearray(good)
	        struct.pack_into('<I', b, at, lie & 0xffffffff)
	        p = subprocess.run([sys.argv[1]], input=bytes(b), timeout=60,
	            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
	        assert p.returncode == 2 and p.stderr.startswith(b'dofparse: '), \
	            (at, lie, p.returncode, p.stderr)
	    at += size
	EOF
}

@test "a broken ELF is an error record, and both filters end with 2" {
	fixtures
	head -c 200 both >cut
	status 2 dofextract note cut both
	mv out s
	like message "$(cat err)" "dofextract: cut: *"
	status 2 dofparse --json s
	is message "$(cat err)" "dofparse: 1 error of dofextract in the input"
	is records "$(query '[r["path"] for r in T("object")],
		[r["input"] for r in T("error")], R[-1]["type"]')" \
		"(['note', 'both'], ['cut'], 'end')"
	status 2 dofparse --quiet --text s
	silent
	is text "$(grep -c '^error: cut: ' out)" 1
	status 2 dofparse --strict --json s
	like strict "$(head -n 1 err)" "dofparse: cut: *"
	is "broken off" "$(query 'T("end"), [r["path"] for r in T("object")]')" \
		"([], ['note'])"
}

@test "the same file gives the same bytes" {
	fixtures
	for i in 1 2 3; do
		"$BIN/dofextract" both d.dof >s$i
		"$BIN/dofparse" s$i >p$i
		"$BIN/dofparse" --json s$i >j$i
	done
	for i in 2 3; do
		same s1 s$i
		same p1 p$i
		same j1 j$i
	done
}
