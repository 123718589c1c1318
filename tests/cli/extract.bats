#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# dofextract on files, trees and lists: options, exit statuses, messages,
# its jail.  Archives and names have objects.bats, processes live.bats, the
# form of the stream stream.bats.

load common

# paths of the objects in ./out, sorted
paths() { query '"\n".join(sorted(r["path"] for r in T("object")))' "$@"; }

@test "misuse is told on stderr with status 2" {
	status 2 dofextract
	is message "$(sed -n 1p err)" \
		"dofextract: no PATH, list or process given"
	is hint "$(sed -n 2p err)" "Try 'dofextract --help'."
	[ ! -s out ]
	for bad in --nonsense -x -j0 -j257 -jx -j-1 -j '-j 1' -j1x -p0 -px -p-1 \
		-p99999999999 --source=foo --source= --source=dof,foo \
		--files0-from --debug-dir --empty=1; do
		status 2 dofextract "$bad"
		[ ! -s out ]
		like "$bad" "$(tail -n1 err)" "Try 'dofextract --help'."
		is "lines for $bad" "$(wc -l <err)" 2
	done
	status 2 dofextract --raw --json /bin/sh
	like both "$(head -n1 err)" "*--raw and --json exclude*"
	status 2 dofextract --raw --source=stapsdt /bin/sh
	like source "$(head -n1 err)" "*--raw writes DOF*"
}

@test "--help and --version go to stdout" {
	status 0 dofextract --help
	silent
	like usage "$(head -n1 out)" "usage: dofextract *"
	status 0 dofextract --version
	silent
	like version "$(cat out)" \
		"dofextract $(cat "$ROOT/VERSION") (libelf *, liblzma *)"
	status 2 sh -c "exec '$BIN/dofextract' --help >/dev/full"
	status 2 sh -c "exec '$BIN/dofextract' --version >/dev/full"
}

@test "a named file that is no object is an error, the others are read" {
	sdt_program prog
	echo "not an object" >text
	: >empty
	for f in text empty missing .; do
		status 2 dofextract --json "$f" prog
		is objects "$(paths)" prog
		like "$f" "$(cat err)" "dofextract: $f: *"
		is lines "$(wc -l <err)" 1
		is "error record" "$(query '[(r["input"], len(r["message"]) > 0)
			for r in T("error")]')" "[('$f', True)]"
		is end "$(query 'R[-1]["objects"]')" 1
	done
	like directory "$(cat err)" "*-r*"
	status 2 dofextract -q text
	silent
}

@test "0 for something found, 1 for nothing, no message then" {
	sdt_program prog
	cc -O1 -x c -o plain - <<<'int main(void) { return 0; }'
	status 0 dofextract --json prog
	silent
	status 1 dofextract --json plain
	silent
	is objects "$(query 'len(T("object")), R[-1]["objects"]')" "(0, 0)"
	status 0 dofextract --json plain prog
	is objects "$(paths)" prog
	mkdir none
	status 1 dofextract -r none
	silent
}

@test "--empty writes objects without probes" {
	cc -O1 -x c -o plain - <<<'int main(void) { return 0; }'
	status 1 dofextract --empty --json plain
	silent
	is object "$(query '[r["path"] for r in T("object")],
		len(T("segment")) > 1, R[-1]["objects"]')" "(['plain'], True, 1)"
}

# A tree with everything that a file system can hold.
make_tree()
{
	mkdir -p "t/sub/$(printf 'new\nline')" "t/with space" t/loop
	for f in t/a t/sub/b "t/sub/$(printf 'new\nline')/c" "t/with space/d" \
		"t/sub/$(printf 'byte\377\376')" t/sub/-r; do
		cp prog "$f"
	done
	ln -s ../a t/sub/link
	ln -s ../sub t/sub/dirlink
	ln -s self t/self
	ln -s .. t/loop/up
	ln -s nowhere t/dangling
	: >t/empty
	echo text >t/text
	printf '\177ELF' >t/tiny
	mkfifo t/fifo t/sub/fifo2
	python3 -c 'import socket; s = socket.socket(socket.AF_UNIX)
s.bind("t/socket")'
}

@test "-r reads regular files only, whatever they are called" {
	sdt_program prog
	make_tree
	[ "$(id -u)" != 0 ] || mknod t/null c 1 3
	[ "$(id -u)" != 0 ] || mknod t/disk b 7 200
	status 2 dofextract -r --json t # for t/tiny
	like tiny "$(cat err)" "dofextract: t/tiny: *"
	is lines "$(wc -l <err)" 1
	query '"\n".join(sorted(r.get("path_hex",
		r["path"].encode().hex()) for r in T("object")))' >got
	(cd t && find . -xdev -type f -size +1k -printf 't/%P\0') |
		python3 -c 'import sys
print("\n".join(sorted(p.hex()
	for p in sys.stdin.buffer.read().split(b"\0")[:-1])))' >want
	diff want got
	is objects "$(wc -l <got)" 6
	is sites "$(query 'len(T("rawnote"))')" 12
}

@test "-r: files come before subdirectories, both by name" {
	sdt_program prog
	mkdir -p t/b t/a/z
	for f in t/c t/b/x t/a/y t/a/z/w t/d; do cp prog $f; done
	for j in 1 2 8; do
		status 0 dofextract -j$j -r --json t
		is order "$(query '[r["path"] for r in T("object")]')" \
			"['t/c', 't/d', 't/a/y', 't/a/z/w', 't/b/x']"
	done
	status 0 dofextract -r --json t/
	is slash "$(query '[r["path"] for r in T("object")][0]')" t/c
}

@test "-r never opens a FIFO, a device or a socket" {
	need strace
	sdt_program prog
	make_tree
	rm t/tiny
	[ "$(id -u)" != 0 ] || mknod t/null c 1 3
	status 0 strace -f -qq -e trace=open,openat,openat2 -o log \
		"$BIN/dofextract" -r t
	grep -q '"a"' log
	run grep -E '"([^"]*/)?(fifo|fifo2|null|socket|link|dirlink|up|self|dangling)"' log
	is "opened" "$output" ""
}

@test "a named FIFO, device or socket is refused without a wait" {
	mkfifo fifo
	sdt_program prog
	for f in fifo /dev/null /dev/tty /dev/zero; do
		status 2 dofextract --json $f prog
		like $f "$(cat err)" "dofextract: $f: *"
		is objects "$(paths)" prog
	done
	printf 'fifo\0/dev/zero\0prog\0' >list
	status 0 dofextract --json --files0-from=list # a list may hold anything
	is objects "$(paths)" prog
}

@test "a link that is named is followed" {
	sdt_program prog
	mkdir d
	cp prog d/p
	ln -s prog link
	ln -s d dlink
	ln -s self self
	status 0 dofextract --json link
	is object "$(paths)" link
	status 0 dofextract --json -r dlink
	is object "$(paths)" dlink/p
	status 2 dofextract self
	like loop "$(cat err)" "dofextract: self: *"
}

@test "unreadable files and directories are errors of their own" {
	need setpriv
	need_root
	sdt_program prog
	cp "$BIN/dofextract" x
	mkdir -p t/closed t/open
	cp prog t/a
	cp prog t/b
	cp prog t/open/c
	cp prog t/closed/d
	chmod 0 t/b t/closed
	status 2 setpriv --reuid=65534 --regid=65534 --clear-groups \
		./x -r --json t
	is objects "$(paths)" "$(printf 't/a\nt/open/c')"
	is errors "$(query 'sorted(r["input"] for r in T("error"))')" \
		"['t/b', 't/closed']"
	is lines "$(wc -l <err)" 2
	grep -q '^dofextract: t/b: Permission denied$' err
	grep -q '^dofextract: t/closed: Permission denied$' err
	status 0 dofextract -r --json t
	is "with rights" "$(query 'len(T("object"))')" 4
	chmod 755 t/closed
}

@test "300 directories in each other, past PATH_MAX" {
	sdt_program prog
	python3 - <<-'EOF'
	import os, shutil
	top, data = os.getcwd(), open('prog', 'rb').read()
	os.mkdir('t')
	os.chdir('t')
	for i in range(300):
	    os.mkdir('d' * 50)
	    os.chdir('d' * 50)
	open('deep', 'wb').write(data)
	EOF
	for j in 1 8; do
		status 0 dofextract -j$j -r --json t
		is length "$(query 'len(T("object")[0]["path"])')" \
			$((1 + 300 * 51 + 5))
	done
	rm -rf t
}

@test "long names in each other do not add up in memory" {
	[ "$(ulimit -n)" -gt 1000 ] || absent machine "needs 1000 descriptors"
	sdt_program prog
	cat >deep.py <<-'EOF'
	import os, resource, subprocess, sys
	top = os.open(".", os.O_RDONLY)
	os.chdir("t")
	for i in range(800):
	    os.mkdir("z") # waits, and keeps what is around it
	    os.mkdir("d" * 250)
	    os.chdir("d" * 250)
	os.link("prog", "prog", src_dir_fd=top)
	os.fchdir(top)
	subprocess.run([sys.argv[1], "-j1", "-r", "--json", "t"], check=True)
	most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
	assert most < int(sys.argv[2]), most
	EOF
	mkdir t
	# 800 paths of 100 kB would be 80 MB; a build that is watched takes more
	limit=32000
	! nm "$BIN/dofextract" | grep -q '__[at]san_init' || limit=1000000
	python3 deep.py "$BIN/dofextract" $limit >out
	is length "$(query 'len(T("object")[0]["path"])')" $((2 + 800 * 251 + 4))
	rm -rf t
}

@test "20,000 files in one directory" {
	sdt_program prog
	mkdir t
	python3 - <<-'EOF'
	import os
	for i in range(20000):
	    if i in (7, 8191, 8192, 12345, 19999):
	        os.link('prog', 't/f%05d' % i)
	    else:
	        open('t/f%05d' % i, 'w').close()
	EOF
	for j in 1 2 8; do
		status 0 dofextract -j$j -r t
		mv out out.$j
	done
	same out.1 out.2
	same out.1 out.8
	status 0 dofextract -r --json t
	is objects "$(query 'len(T("object")), len(T("rawnote"))')" "(5, 10)"
}

@test "-r stays on its file system" {
	need_root
	need unshare mount
	sdt_program prog
	mkdir -p t/mnt t/sub
	cp prog t/sub/a
	status 0 unshare -m sh -c 'mount -t tmpfs none t/mnt &&
		cp prog t/mnt/b && cp prog t/mnt/c && mkdir t/file &&
		touch t/bound && mount --bind t/mnt/c t/bound &&
		"$@"' - "$BIN/dofextract" -r --json t
	is objects "$(paths)" t/sub/a
	status 0 unshare -m sh -c 'mount -t tmpfs none t/mnt &&
		cp prog t/mnt/b && "$@"' - "$BIN/dofextract" -r --json t/mnt
	is "named itself" "$(paths)" t/mnt/b
}

@test "-r never opens what is mounted over a file" {
	need_root
	need unshare mount strace
	sdt_program prog
	mkdir -p t/sub 'q/a b'
	for f in t/a t/sub/a t/sub/b t/sub/c t/sub/z 'q/a b/a'; do
		cp prog "$f"
	done
	mkfifo fifo
	# over a file, behind another way there, under a name with blanks
	status 0 unshare -m sh -c 'mount --bind fifo t/sub/b &&
		mount --bind /dev/null t/sub/c && ln -s t/sub over &&
		mount --bind fifo "q/a b/a" &&
		strace -f -qq -e trace=open,openat,openat2,newfstatat -o log \
		"$@" >json' - "$BIN/dofextract" -r --json t q
	mv json out
	is objects "$(paths)" "$(printf "%s\n" t/a t/sub/a t/sub/z)"
	run grep -E 'openat.*"(b|c)"' log
	is opened "$output" ""
	# only files beside a mount are asked for
	is asked "$(grep -c 'newfstatat.*AT_SYMLINK_NOFOLLOW' log)" 5
	# the kernel does not tell: all of them are
	status 0 unshare -m sh -c 'mount --bind fifo t/sub/b &&
		mount -t tmpfs none /proc &&
		strace -f -qq -e trace=openat,newfstatat -o log \
		"$@" >json' - "$BIN/dofextract" -r --json t
	mv json out
	is objects "$(paths)" "$(printf "%s\n" t/a t/sub/a t/sub/c t/sub/z)"
	run grep -E 'openat.*"b"' log
	is opened "$output" ""
	is asked "$(grep -c 'newfstatat.*AT_SYMLINK_NOFOLLOW' log)" 5
}

@test "cut ELF files: a status, a message, the neighbours" {
	sdt_program prog
	n=$(stat -c %s prog)
	mkdir t
	cp prog t/zz
	for i in 1 4 15 16 40 63 64 65 100 200 400 $((n / 4)) $((n / 2)) \
		$((n - 64)) $((n - 1)); do
		head -c "$i" prog >cut
		got=0
		dofextract --json cut >out 2>err || got=$?
		[ "$got" -le 2 ]
		is "message for $i" "$([ -s err ] && echo 2 || echo not)" \
			"$([ "$got" = 2 ] && echo 2 || echo not)"
		is end "$(query 'R[-1]["type"]')" end
		cp cut "t/cut$i"
	done
	got=0
	dofextract -r --json t >out 2>err || got=$?
	is status $got 2
	is "the whole one" "$(query '[len([1 for r in R
		if r["type"] == "rawnote"]) >= 2, "t/zz" in
		[r["path"] for r in T("object")]]')" "[True, True]"
	run ! grep -v '^dofextract: t/cut[0-9]*: ' err
}

@test "--files0-from: file, standard input, last path without NUL" {
	sdt_program prog
	cp prog "$(printf 'odd\nname')"
	echo text >text
	printf 'prog\0odd\nname\0text\0prog' >list
	status 0 dofextract --json --files0-from=list
	silent
	is list "$(query '[r["path"] for r in T("object")]')" \
		"['prog', 'odd\\nname', 'prog']"
	mv out want
	for from in - /dev/stdin; do
		status 0 sh -c '"$1" --json --files0-from='$from' <list' - \
			"$BIN/dofextract"
		same out want
	done
	status 2 dofextract --json --files0-from=list text
	is "path first" "$(query 'T("error")[0]["input"]')" text
	: >none
	status 1 dofextract --json --files0-from=none
	silent
}

@test "--files0-from: what is missing or too long is told" {
	sdt_program prog
	status 2 dofextract --json --files0-from=missing
	like missing "$(cat err)" "dofextract: *missing*: No such file*"
	printf 'gone\0prog\0\0prog\0' >list
	status 2 dofextract --json --files0-from=list
	is objects "$(query '[r["path"] for r in T("object")]')" \
		"['prog', 'prog']"
	is errors "$(query 'len(T("error"))')" 2
	like gone "$(head -n1 err)" "dofextract: gone: No such file*"
	for n in 5000 65535; do # too long for the kernel
		python3 -c "print('prog\0' + 'x' * $n + '\0prog', end='\0')" >list
		status 2 dofextract --json --files0-from=list
		is "objects at $n" "$(query 'len(T("object"))')" 2
		is "errors at $n" "$(query 'len(T("error"))')" 1
	done
	python3 -c "print('prog\0' + 'x' * 200000 + '\0prog', end='\0')" >list
	status 2 dofextract --json --files0-from=list
	is "before it" "$(query '[r["path"] for r in T("object")][0]')" prog
	is message "$(cat err)" "dofextract: list: path too long, list given up"
	mv list other
	status 2 dofextract --files0-from=other
	is message "$(cat err)" "dofextract: other: path too long, list given up"
	head -c 8192 /dev/zero | tr '\0' x >long # told by a later job, too
	{ printf 'none\0' && cat long long long long long long long long long; } |
		status 2 dofextract --files0-from=-
	is message "$(grep 'too long,' err)" \
		"dofextract: -: path too long, list given up"
	status 2 dofextract --files0-from=.
	like message "$(cat err)" "dofextract: .: *"
}

@test "a long list, read while it is written, for all thread numbers" {
	sdt_program prog
	python3 -c '
for i in range(5000):
    print("prog" if i % 100 == 0 else "/dev/null", end="\0")' >list
	for j in 1 2 8; do
		status 0 dofextract -j$j --files0-from=list
		mv out out.$j
	done
	same out.1 out.2
	same out.1 out.8
	status 0 dofextract --json --files0-from=list
	is objects "$(query 'len(T("object"))')" 50
}

# --- standard input, threads, sources -----------------------------------------

@test "- is an object on standard input" {
	sdt_program prog
	status 0 sh -c '"$1" --json - <prog' - "$BIN/dofextract"
	is file "$(query 'T("object")[0]["path"], len(T("rawnote"))')" \
		"('-', 2)"
	status 0 sh -c 'cat prog | "$1" --json -' - "$BIN/dofextract"
	is pipe "$(query 'T("object")[0]["path"], len(T("rawnote"))')" \
		"('-', 2)"
	status 2 sh -c 'echo text | "$1" -' - "$BIN/dofextract"
	like text "$(cat err)" "dofextract: -: *"
	status 2 sh -c '"$1" - </dev/null' - "$BIN/dofextract"
	status 2 sh -c '"$1" - <&-' - "$BIN/dofextract"
	[ -s err ]
}

@test "output does not depend on the number of threads" {
	need ar
	make_members
	sdt_program prog
	mkdir -p t/a/b t/c
	ar rcs t/a/x.a "${MEMBERS[@]}"
	for i in $(seq 100); do
		ln prog "t/a/p$i"
		ln prog "t/c/q$i"
		ln m.o "t/a/b/o$i"
	done
	for form in "" --json; do
		for j in 1 2 8 256; do
			status 0 dofextract -j$j $form -r t prog t/c m.o
			mv out out.$j
		done
		for j in 2 8 256; do same out.1 out.$j; done
	done
	is objects "$(query 'len(T("object"))' out.1)" 405
}

@test "a whole tree of the system, with every number of threads" {
	local dir=/usr/lib

	status 0 dofextract -q -j1 -r $dir
	mv out out.1
	for j in 2 8; do
		status 0 dofextract -q -j$j -r $dir
		same out out.1
	done
}

@test "--source chooses" {
	sdt_program prog
	dof_file d.dof p 0x1000 a b
	objcopy --add-section .SUNW_dof=d.dof prog both
	status 0 dofextract --json both
	is all "$(query 'len(T("rawdof")), len(T("rawnote"))')" "(1, 2)"
	status 0 dofextract --json --source=dof,stapsdt,usdt both
	is all "$(query 'len(T("rawdof")), len(T("rawnote"))')" "(1, 2)"
	status 0 dofextract --json --source=dof both
	is dof "$(query 'len(T("rawdof")), len(T("rawnote"))')" "(1, 0)"
	status 0 dofextract --json --source=stapsdt both
	is notes "$(query 'len(T("rawdof")), len(T("rawnote"))')" "(0, 2)"
	status 1 dofextract --json --source=usdt both
	is none "$(query 'len(T("object"))')" 0
}

@test "--raw writes the DOFs alone" {
	dof_file d.dof p 0x1000 a b
	dof_file e.dof q 0x2000 c=int
	sdt_program prog
	objcopy --add-section .SUNW_dof=d.dof prog one
	objcopy --add-section .SUNW_dof=e.dof prog two
	status 0 dofextract --raw one two d.dof
	"$BIN/dofparse" --json out >json
	is dofs "$(query '[r["name"] for r in T("provider")]' json)" \
		"['p', 'q', 'p']"
	is first "$(head -c "$(stat -c %s d.dof)" out | sha256sum)" \
		"$(sha256sum <d.dof)"
	status 1 dofextract --raw prog
	[ ! -s out ]
}

# --- descriptors, signals, terminals -----------------------------------------------

@test "output that fails is told, closed descriptors do no harm" {
	sdt_program prog
	status 2 sh -c 'exec "$1" prog >/dev/full' - "$BIN/dofextract"
	like full "$(cat err)" "dofextract: *No space left on device"
	status 2 sh -c 'exec "$1" prog >&-' - "$BIN/dofextract"
	[ -s err ]
	status 0 sh -c 'exec "$1" prog <&-' - "$BIN/dofextract"
	mv out want
	status 0 sh -c 'exec "$1" prog 2>&-' - "$BIN/dofextract"
	same out want
	status 2 sh -c 'exec "$1" missing prog 2>&-' - "$BIN/dofextract"
	status 2 sh -c 'exec "$1" missing <&- >&- 2>&-' - "$BIN/dofextract"
	# a file that is opened first must not become a standard stream
	is intact "$(readelf -h prog | grep -c 'Class:')" 1
}

# sigpipe PROGRAM ARGUMENT...: status with SIGPIPE at its default, ignored
sigpipe()
{
	python3 - "$@" <<-'EOF'
	import os, subprocess, sys
	for default in (True, False):
	    r, w = os.pipe()
	    os.close(r)
	    p = subprocess.run(sys.argv[1:], stdout=w, stderr=subprocess.PIPE,
	        stdin=subprocess.DEVNULL, restore_signals=default)
	    os.close(w)
	    print(p.returncode, len(p.stderr))
	EOF
}

@test "SIGPIPE kills, or, ignored, ends it quietly with 2" {
	sdt_program prog
	is statuses "$(sigpipe "$BIN/dofextract" prog)" \
		"$(printf -- '-13 0\n2 0')"
	is statuses "$(sigpipe "$BIN/dofextract" -j8 -r --json /usr/bin)" \
		"$(printf -- '-13 0\n2 0')"
}

@test "binary records are not written to a terminal, JSON is" {
	need script
	sdt_program prog
	status 2 script -qec "'$BIN/dofextract' prog" /dev/null </dev/null
	like refused "$(cat out)" "*not writing binary*terminal*--json*"
	status 2 script -qec "'$BIN/dofextract' --raw prog" /dev/null </dev/null
	status 0 script -qec "'$BIN/dofextract' --json prog" /dev/null </dev/null
	grep -q '"type":"end"' out
}

slow_list()
{
	python3 -c '
import sys, time
for part in range(4):
    sys.stdout.write("prog\0" * 4000)
    sys.stdout.flush()
    time.sleep(0.5)'
}

@test "progress is shown on a terminal only, after a second, not with -q" {
	need script
	sdt_program prog
	slow_list | "$BIN/dofextract" --files0-from=- 2>err >/dev/null
	silent
	export -f slow_list
	script -qec "bash -c 'slow_list | \"$BIN/dofextract\" --files0-from=- \
		>/dev/null'" /dev/null </dev/null >tty
	grep -q ' files, ' tty
	is "cleared at the end" "$(tail -c 4 tty | od -An -tx1 | tr -d ' ')" \
		0d1b5b4b
	script -qec "bash -c 'slow_list | \"$BIN/dofextract\" -q \
		--files0-from=- >/dev/null'" /dev/null </dev/null >tty
	[ ! -s tty ]
}

@test "while it reads, it is in a jail" {
	mkfifo in
	"$BIN/dofextract" --files0-from=- <in >/dev/null 2>err 3>&- &
	pid=$!
	STARTED+=("$pid")
	exec 9>in
	wait_until grep -q '^Seccomp:.*2$' "/proc/$pid/status"
	is no_new_privs "$(awk '/^NoNewPrivs:/ { print $2 }' \
		"/proc/$pid/status")" 1
	for set in CapInh CapPrm CapEff CapAmb; do
		caps=$((0x$(awk -v s=$set: '$1 == s { print $2 }' \
			"/proc/$pid/status")))
		# CAP_DAC_READ_SEARCH, 2, is all it may keep
		is $set $((caps & ~4)) 0
	done
	exec 9>&-
	ended $pid
	is "an empty list" "$got" 1
	STARTED=()
}
