#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Install what a job needs: build, check, bench or ci.  As root by apt; others
# are told the command, and only when something is missing.
set -eu

build="gcc make pkg-config libelf-dev liblzma-dev nettle-dev libseccomp-dev \
libcap-dev libjansson-dev"
check="$build check bats python3 jq binutils elfutils strace xz-utils mandoc \
systemtap-sdt-dev libc6-dev util-linux bsdutils procps gdb postgresql-15 \
libvirt-daemon php-cli ruby python3-dbg lld llvm mount"
bench="$build python3 binutils findutils valgrind"
ci="$check $bench clang libclang-rt-14-dev clang-format clang-tidy"

case ${1:-} in
build) want=$build ;;
check) want=$check ;;
bench) want=$bench ;;
ci) want=$ci ;;
*) echo "usage: deps.sh build|check|bench|ci" >&2; exit 2 ;;
esac

missing=
for p in $want; do
	case $(dpkg-query -W -f='${Status}' "$p" 2>/dev/null) in
	*" installed") ;;
	*) missing="$missing $p" ;;
	esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "These packages are missing; as root:" >&2
	echo "  apt-get install$missing" >&2
	exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086
if ! apt-get install -y -qq --no-install-recommends $missing >"$log" 2>&1; then
	cat "$log" >&2
	exit 1
fi
