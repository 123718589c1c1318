#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# dofextract on processes: biases against what the processes themselves say,
# identities against /proc, files that have no name any more, memory.

load common

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return 1
	cat >lib.c <<-'EOF'
	#include <sys/sdt.h>
	int work(int a) { DTRACE_PROBE1(live, work, a); return a + 1; }
	EOF
	# tells where it has each file, then waits for the end of its input
	cat >prog.c <<-'EOF'
	#define _GNU_SOURCE
	#include <link.h>
	#include <stdio.h>
	#include <sys/sdt.h>
	extern int work(int);
	static int
	tell(struct dl_phdr_info *i, size_t n, void *unused)
	{
		(void)n;
		(void)unused;
		printf("%lx %s\n", (unsigned long)i->dlpi_addr, i->dlpi_name);
		return 0;
	}
	int
	main(int argc, char **argv)
	{
		(void)argv;
		DTRACE_PROBE1(live, main, argc);
		dl_iterate_phdr(tell, NULL);
		printf("%d ready\n", work(0));
		fflush(stdout);
		return getchar() == 0;
	}
	EOF
	cat >memory.c <<-'EOF'
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <stdint.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <unistd.h>
	/* memory FILE PLACE...: code nobody's file holds, and a DOF of FILE for
	 * it, its probe addresses, which lie at PLACE, counted from the code */
	int
	main(int argc, char **argv)
	{
		int fd = open(argv[1], O_RDONLY);
		char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		char *dof = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (fd == -1 || read(fd, dof + 4096 + 64, 60000) <= 0)
			return 1;
		memset(code, 0x90, 4096);
		mprotect(code, 4096, PROT_READ | PROT_EXEC);
		for (int i = 2; i < argc; i++) {
			char *at = dof + 4096 + 64 + atoi(argv[i]);
			uint64_t word;
			memcpy(&word, at, 8);
			word += (uint64_t)(uintptr_t)code;
			memcpy(at, &word, 8);
		}
		printf("%lx %lx\nready\n", (unsigned long)code,
			(unsigned long)(dof + 4096 + 64));
		fflush(stdout);
		return getchar() == 0;
	}
	EOF
	cc -O1 -g -fPIC -shared -Wl,-soname,liblive.so -Wl,--build-id \
		-o liblive.so lib.c 2>/dev/null || return 0 # need_sdt tells
	cc -O1 -g -pie -fPIE -o prog prog.c ./liblive.so -Wl,-rpath,'$ORIGIN'
	cc -O1 -g -no-pie -fno-pie -o fixed prog.c ./liblive.so \
		-Wl,-rpath,'$ORIGIN'
	cc -O1 -o memory memory.c
}

# start OUTPUT COMMAND...: in the background, until it says that it is ready;
# $pid. It ends when the test does.
start()
{
	local said=$1 n=${#STARTED[@]}

	shift
	mkfifo "hold$n"
	"$@" <"hold$n" >"$said" 2>/dev/null 3>&- &
	pid=$!
	STARTED+=("$pid")
	eval "exec $((20 + n))>hold$n"
	wait_until grep -q ready "$said"
}

fixtures()
{
	need_sdt
	cp "$BATS_FILE_TMPDIR"/{prog,fixed,memory,liblive.so} .
}

# helper SUFFIX [FILE]: pid and bias of each process that maps that path
helper()
{
	python3 - "$1" "${2:-out}" <<-'EOF'
	import json, sys
	path = ''
	for line in open(sys.argv[2]):
	    j = json.loads(line)
	    if j['type'] == 'object':
	        path = j['path']
	    elif j['type'] == 'helper' and path.endswith(sys.argv[1]):
	        print(j['pid'], j['addr'])
	EOF
}

# loader OUTPUT SUFFIX: what dl_iterate_phdr said
loader()
{
	awk -v s="$2" 'substr($2, length($2) - length(s) + 1) == s && $2 != "" {
		print "0x" $1 }' "$1"
}

# by_maps PID SUFFIX: the bias, from maps and the program headers
by_maps()
{
	python3 - "$1" "$2" <<-'EOF'
	import struct, sys
	pid, suffix = sys.argv[1:]
	maps = []
	for line in open('/proc/%s/maps' % pid):
	    f = line.split(None, 5)
	    if len(f) == 6 and f[5].rstrip('\n').endswith(suffix):
	        start, end = (int(x, 16) for x in f[0].split('-'))
	        maps.append((start, end, int(f[2], 16), f[5].rstrip('\n')))
	if not maps:
	    sys.exit('not mapped: ' + suffix)
	b = open('/proc/%s/root%s' % (pid, maps[0][3]), 'rb').read()
	etype, = struct.unpack_from('<H', b, 16)
	phoff, = struct.unpack_from('<Q', b, 32)
	size, n = struct.unpack_from('<HH', b, 54)
	for i in range(n):
	    kind, _, off, vaddr = struct.unpack_from('<IIQQ', b, phoff + i * size)
	    if kind == 1:
	        for start, end, at, _ in maps:
	            if at <= off < at + end - start:
	                print(hex(start + off - at - vaddr))
	                sys.exit()
	EOF
}

@test "the bias is what the loader says, for PIE, library, libc" {
	fixtures
	start said ./prog
	status 0 dofextract --json -p $pid
	silent
	status 0 dofextract --empty --json -p $pid
	for f in /liblive.so /libc.so.6; do
		is "$f" "$(helper $f)" "$pid $(loader said $f)"
		is "maps $f" "$(by_maps $pid $f)" "$(loader said $f)"
	done
	is program "$(helper /prog)" "$pid 0x$(head -n1 said | cut -d' ' -f1)"
	is maps "$(by_maps $pid /prog)" "0x$(head -n1 said | cut -d' ' -f1)"
}

@test "a program that is not relocated has bias 0" {
	fixtures
	start said ./fixed
	status 0 dofextract --json -p $pid
	is program "$(helper /fixed)" "$pid 0x0"
	is library "$(helper /liblive.so)" "$pid $(loader said /liblive.so)"
}

@test "who a process is: pid, start time, namespace, module" {
	fixtures
	start said ./prog
	status 0 dofextract --json -p $pid
	is identity "$(query '[(h["pid"], h["nspid"], h["start_time"],
		h["pidns"], h["module"], h["presence"], h["dof"],
		h["generation"]) for h in T("helper")
		if h["module"] == "liblive.so"]')" \
		"[($pid, $pid, $(awk '{ print $22 }' /proc/$pid/stat), \
$(stat -Lc %i /proc/$pid/ns/pid), 'liblive.so', 'there', '0x0', 0)]"
	read -r dev ino < <(awk '$6 ~ /liblive/ { print $4, $5; exit }' \
		/proc/$pid/maps)
	is file "$(query '[("%02x:%02x" % (h["dev"] >> 8 & 0xfff,
		h["dev"] & 0xff | h["dev"] >> 12 & 0xfff00), h["ino"])
		for h in T("helper") if h["module"] == "liblive.so"]')" \
		"[('$dev', $ino)]"
	is object "$(query '[(o["path"], o["deleted"], o["origin"])
		for o in T("object") if o["path"].endswith("liblive.so")]')" \
		"[('$PWD/liblive.so', False, 'file')]"
}

@test "bash and python3, as they are installed" {
	start said bash -c 'echo ready; read -r x'
	bash=$pid
	start said2 /usr/bin/python3 -c 'print("ready", flush=True); input()'
	for p in $bash $pid; do
		got=0
		dofextract --empty --json -p $p >out 2>err || got=$?
		[ $got -le 1 ] # not every libc has probes
		silent
		is libc "$(helper /libc.so.6)" \
			"$p $(by_maps $p /libc.so.6)"
	done
	exe=$(readlink /proc/$pid/exe)
	if [ "$(readelf -n "$exe" | grep -c stapsdt)" != 0 ]; then
		is python "$(helper "$exe")" "$pid $(by_maps $pid "$exe")"
	fi
	dofextract --empty --json -p $bash -p $pid >out || [ $? = 1 ]
	is both "$(helper /libc.so.6 | sort)" \
		"$(for p in $bash $pid; do
			echo "$p $(by_maps $p /libc.so.6)"
		done | sort)"
	is once "$(query 'len([o for o in T("object")
		if o["path"].endswith("/libc.so.6")])')" 1
}

# no_helpers STREAM: the records of one object but for what helpers change
object_of()
{
	python3 - "$PY" "$1" "$2" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	import stream
	schema, on, out = stream.Schema(), False, b''
	data = open(sys.argv[2], 'rb').read()
	for at, kind, _, body in stream.frames(data):
	    name = schema.records[kind][0]
	    if name == 'object':
	        rec = schema.decode(kind, body)
	        on = rec['path'].decode().endswith(sys.argv[3])
	    on = on and name != 'object_end'
	    if on and name != 'helper':
	        out += data[at:at + 8 + len(body)]
	sys.stdout.buffer.write(out)
	EOF
}

@test "two processes, two biases: only the HELPER records differ" {
	fixtures
	start said1 ./prog
	one=$pid
	start said2 ./prog
	two=$pid
	if [ "$(loader said1 /liblive.so)" = "$(loader said2 /liblive.so)" ]
	then
		absent machine "addresses are not randomized here"
	fi
	for p in $one $two; do
		status 0 dofextract -p $p
		mv out raw.$p
		"$BIN/dofparse" raw.$p >parsed.$p
		"$BIN/dofparse" --json raw.$p >json.$p
		for s in raw parsed; do
			object_of $s.$p /liblive.so >$s.lib.$p
			[ -s $s.lib.$p ]
		done
	done
	same raw.lib.$one raw.lib.$two
	same parsed.lib.$one parsed.lib.$two
	is one "$(helper /liblive.so json.$one)" \
		"$one $(loader said1 /liblive.so)"
	is two "$(helper /liblive.so json.$two)" \
		"$two $(loader said2 /liblive.so)"
	# and as from the file
	"$BIN/dofextract" "$PWD/liblive.so" >raw.file
	object_of raw.file /liblive.so >raw.lib.file
	same raw.lib.file raw.lib.$one
	# both at once: one object, two helpers
	status 0 dofextract --json -p $one -p $two
	is both "$(helper /liblive.so | sort)" "$(printf '%s %s\n' \
		$one "$(loader said1 /liblive.so)" \
		$two "$(loader said2 /liblive.so)" | sort)"
}

@test "--all-pids has them all" {
	need_root
	fixtures
	start said1 ./prog
	one=$pid
	start said2 ./fixed
	status 0 dofextract -q --json --all-pids
	[ "$(helper /liblive.so | grep -c "^\($one\|$pid\) ")" = 2 ]
	is one "$(helper /liblive.so | grep "^$one ")" \
		"$one $(loader said1 /liblive.so)"
	is two "$(helper /fixed | grep "^$pid ")" "$pid 0x0"
	is objects "$(query 'len([o for o in T("object")
		if o["path"] == "'"$PWD"'/liblive.so"])')" 1
}

@test "deleted files" {
	need_root
	fixtures
	start said ./prog
	"$BIN/dofextract" --json "$PWD/liblive.so" >before
	rm prog liblive.so
	status 0 dofextract --json -p $pid
	is library "$(helper /liblive.so)" "$pid $(loader said /liblive.so)"
	is program "$(helper /prog)" "$pid 0x$(head -n1 said | cut -d' ' -f1)"
	is deleted "$(query '[(o["path"], o["deleted"]) for o in T("object")
		if "live" in o["path"]]')" "[('$PWD/liblive.so', True)]"
	is notes "$(query 'sorted(r["desc"] for r in T("rawnote"))' before)" \
		"$(python3 - <<-'EOF'
		import json
		on, out = False, []
		for line in open('out'):
		    j = json.loads(line)
		    if j['type'] == 'object':
		        on = j['path'].endswith('liblive.so')
		    if on and j['type'] == 'rawnote':
		        out.append(j['desc'])
		print(sorted(out))
		EOF
		)"
	# another file of that name is not taken for it
	echo "something else" >liblive.so
	status 0 dofextract --json -p $pid
	is library "$(helper /liblive.so)" "$pid $(loader said /liblive.so)"
	is deleted "$(query '[o["deleted"] for o in T("object")
		if "live" in o["path"]]')" "[True]"
}

@test "a name that really ends in \" (deleted)\"" {
	fixtures
	mv prog "prog (deleted)"
	start said "./prog (deleted)"
	status 0 dofextract --json -p $pid
	is object "$(query '[(o["path"], o["deleted"]) for o in T("object")
		if "/prog" in o["path"]]')" "[('$PWD/prog (deleted)', False)]"
	is module "$(query '[h["module"] for h in T("helper")
		if "prog" in h["module"]]')" "['prog (deleted)']"
}

@test "a program in a memfd" {
	need_root
	fixtures
	export LD_LIBRARY_PATH=$PWD
	start said /usr/bin/python3 -c '
import os
fd = os.memfd_create("held")
os.write(fd, open("prog", "rb").read())
os.execve(fd, ["held"], os.environ)'
	status 0 dofextract --json -p $pid
	is bias "$(query '[(h["pid"], h["addr"]) for h in T("helper")
		if "held" in h["module"]]')" \
		"[($pid, '0x$(head -n1 said | cut -d' ' -f1)')]"
	is object "$(query '[(o["deleted"], o["e_type"]) for o in T("object")
		if "held" in o["path"]]')" "[(True, 3)]"
}

@test "a file that only the process's mount namespace has" {
	need_root
	need unshare mount
	fixtures
	mkdir private
	# the shell waits, so that what it starts can be found and ended
	start said unshare -m sh -c 'mount -t tmpfs none private &&
		cp prog liblive.so private && exec private/prog'
	[ ! -e private/prog ]
	status 0 dofextract --json -p $pid
	is program "$(helper /private/prog)" \
		"$pid 0x$(head -n1 said | cut -d' ' -f1)"
	is library "$(helper /private/liblive.so)" \
		"$pid $(loader said /private/liblive.so)"
	# a file of that name on this side is another one
	echo "something else" >private/prog
	status 0 dofextract --json -p $pid
	is program "$(helper /private/prog)" \
		"$pid 0x$(head -n1 said | cut -d' ' -f1)"
}

@test "a process in a pid namespace" {
	need_root
	need unshare
	fixtures
	start said unshare -p -f --kill-child ./prog
	kid=$(child $pid)
	status 0 dofextract --json -p "$kid"
	is identity "$(query '[(h["pid"], h["nspid"], h["pidns"])
		for h in T("helper") if h["module"] == "liblive.so"]')" \
		"[($kid, 1, $(stat -Lc %i "/proc/$kid/ns/pid"))]"
	[ "$(stat -Lc %i "/proc/$kid/ns/pid")" != \
		"$(stat -Lc %i /proc/self/ns/pid)" ]
}

make_dof()
{
	# probes at 0 and 64 of the code; their addresses lie in the second
	# section, 48 bytes apart
	dof_file mem.dof mem 0 first second=int
	read -r A B < <(python3 -c "
b = open('mem.dof', 'rb').read()
at = int.from_bytes(b[64 + 32 + 16:64 + 32 + 24], 'little')
print(at, at + 48)")
}

@test "DOF that only memory holds" {
	fixtures
	make_dof
	start said ./memory mem.dof "$A" "$B"
	read -r code dof _ <said
	status 0 dofextract --json -p $pid
	silent
	is object "$(query '[(o["origin"], o["format"], o["size"])
		for o in T("object") if o["origin"] == "memory"]')" \
		"[('memory', 'none', $(stat -c %s mem.dof))]"
	is place "$(query '[r["vaddr"] for r in T("rawdof")]')" "['0x$dof']"
	status 0 sh -c '"$1/dofextract" -p '$pid' | "$1/dofparse" --json' - \
		"$BIN"
	is sites "$(query '[hex(int(s["addr"], 16) - 0x'"$code"')
		for s in T("site") if s["stored"] in ("0x10", "0xa")]')" \
		"['0x10', '0xa', '0x50', '0x4a']"
	is helper "$(query '[(h["pid"], h["dof"]) for h in T("helper")
		if h["dof"] != "0x0"]')" "[($pid, '0x$dof')]"
	is module "$(query '[h["module"] for h in T("helper")
		if h["dof"] != "0x0"]')" "['']"
	is attachable "$(query '[s["attachable"] for s in T("site")
		if s["stored"] in ("0x10", "0xa")]')" \
		"[True, True, True, True]"
	if [ "$(id -u)" = 0 ]; then
		# others may have more memory than is searched
		got=0
		dofextract -q --json --all-pids --memory >out 2>err || got=$?
		[ $got = 0 ] || [ $got = 2 ]
		is all "$(query 'len([r for r in T("rawdof")
			if r["vaddr"] == "0x'"$dof"'"])')" 1
		got=0 # whether others have probes is not for us to say
		dofextract -q --json --all-pids >out 2>err || got=$?
		[ $got -le 1 ]
		is "not unless asked" "$(query 'len([r for r in T("rawdof")
			if r["vaddr"] == "0x'"$dof"'"])')" 0
	fi
}

@test "what looks like DOF in memory, and is none, does no harm" {
	fixtures
	(printf '\177DOF' && head -c 3000 /dev/zero) >mem.dof
	start said ./memory mem.dof
	got=0
	dofextract --json -p $pid >out 2>err || got=$?
	[ $got -le 1 ]
	silent
	is none "$(query 'len(T("rawdof"))')" 0
	(printf '\177DOF\002\001\003\002\010\010' && head -c 3000 /dev/urandom) \
		>mem.dof
	start said2 ./memory mem.dof
	got=0
	dofextract --json -p $pid >out 2>err || got=$?
	[ $got -le 2 ]
	is end "$(query 'R[-1]["type"]')" end
}

@test "processes that are not there or may not be read" {
	fixtures
	status 2 dofextract --json -p 2147483646
	like message "$(cat err)" "dofextract: *2147483646*"
	is lines "$(wc -l <err)" 1
	start said ./prog
	status 2 dofextract --json -p 2147483646 -p $pid
	is "the other one" "$(helper /liblive.so)" \
		"$pid $(loader said /liblive.so)"
	if [ "$(id -u)" = 0 ]; then
		need setpriv
		cp "$BIN/dofextract" x
		status 2 setpriv --reuid=65534 --regid=65534 --clear-groups \
			./x --json -p $pid
		like message "$(cat err)" "dofextract: *$pid*ermission denied*"
		got=0
		timeout 60 setpriv --reuid=65534 --regid=65534 \
			--clear-groups ./x --json --all-pids >out 2>err || got=$?
		[ $got -le 1 ] # those that may not be read are passed over
		silent
	fi
}

@test "a process that ends meanwhile, and one that is a zombie" {
	fixtures
	python3 -c '
import os, time
if os.fork() == 0:
    os._exit(0)
print("ready", flush=True)
time.sleep(30)' >said 3>&- &
	parent=$!
	STARTED+=($parent)
	wait_until grep -q ready said
	zombie=$(child $parent)
	wait_until grep -q 'State:.*Z' "/proc/$zombie/status"
	got=0
	dofextract --json -p "$zombie" >out 2>err || got=$?
	[ $got -ge 1 ]
	[ $got -le 2 ]
	is "message" "$([ -s err ] && echo 2 || echo 1)" $got
}

@test "a process that is named twice is there once" {
	fixtures
	start said ./prog
	status 0 dofextract --json -p $pid -p $pid
	is helper "$(helper /liblive.so)" "$pid $(loader said /liblive.so)"
}

@test "the process is left as it was" {
	fixtures
	start said ./prog
	before=$(cat /proc/$pid/maps)
	status 0 dofextract --json -p $pid
	is maps "$(cat /proc/$pid/maps)" "$before"
	is tracer "$(awk '/^TracerPid:/ { print $2 }' /proc/$pid/status)" 0
	like state "$(awk '/^State:/ { print $2 }' /proc/$pid/status)" "[SR]"
}

@test "a standard input that cannot be read costs the others nothing" {
	fixtures
	start said ./prog
	status 2 sh -c '"$@" </' - "$BIN/dofextract" --json ./prog - liblive.so \
		-p $pid
	is message "$(cat err)" "dofextract: -: read: Is a directory"
	is error "$(query '[(r["input"], r["code"]) for r in T("error")]')" \
		"[('-', 'io')]"
	is objects "$(query '[o["path"] for o in T("object")
		if "live" in o["path"] or "prog" in o["path"]]')" \
		"['./prog', 'liblive.so', '$PWD/prog', '$PWD/liblive.so']"
	is order "$(query '[R[i - 1]["type"] for i in range(len(R))
		if R[i]["type"] == "error"]')" "['object_end']"
	is ends "$(query 'R[0]["type"], R[-1]["type"]')" "('header', 'end')"
	# alone it is a whole stream, too
	status 2 sh -c '"$1" --json - </' - "$BIN/dofextract"
	is types "$(query '[r["type"] for r in R]')" \
		"['header', 'error', 'end']"
	status 2 sh -c '"$1" -q --json - </' - "$BIN/dofextract"
	silent
}
