#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What DKMS is given: the sources of weir.ko below DESTDIR, and the script that gets the block layer's
# headers. What DKMS makes of it needs Debian's kernel headers, and is not tried here.
set -u

source_dir=$(cd "${WEIR_SOURCE:-$(dirname "$0")/..}" && pwd)
. "$source_dir/tests/tap.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
version=$(sed -n 's/^#define WEIR_VERSION "\(.*\)"$/\1/p' "$source_dir/include/weir/weir.h")
dir=$tmp/root/usr/src/weir-$version

lay_out()
{
	DESTDIR=$tmp/root "$source_dir/scripts/install-dkms"
}

# The whole list: kernel/ at the top, core, policy and include below, and what DKMS needs besides.
file_list()
{
	(
		cd "$source_dir" || exit 1
		find kernel -maxdepth 1 -name '*.[ch]' | sed 's|^kernel/||'
		find core policy include -name '*.[ch]'
		printf '%s\n' Kbuild LICENSE block-headers dkms.conf
	) | LC_ALL=C sort >"$tmp/expected"
	(cd "$dir" && find . ! -type d | sed 's|^[.]/||') | LC_ALL=C sort >"$tmp/found"
	[ "$(wc -l <"$tmp/expected")" -gt 50 ] && diff "$tmp/expected" "$tmp/found"
}

only_there()
{
	find "$tmp/root" -maxdepth 3
	[ "$(find "$tmp/root" -maxdepth 3 | wc -l)" = 4 ]
}

copies()
{
	! find "$dir" -type l | grep . || return 1
	while read -r f; do
		case $f in
		dkms.conf) continue ;;
		*/* | LICENSE) from=$source_dir/$f ;;
		*) from=$source_dir/kernel/$f ;;
		esac
		cmp "$from" "$dir/$f" || return 1
	done <"$tmp/expected"
}

# value NAME: as DKMS reads it, for a kernel of this version
value()
{
	bash -c '. "$1"; echo "${!2}"' - "$dir/dkms.conf" "$1"
}

conf_is_right()
{
	[ "$(value PACKAGE_NAME)-$(value PACKAGE_VERSION)" = "weir-$version" ] || return 1
	! grep @ "$dir/dkms.conf" || return 1
	script=$(value PRE_BUILD)
	[ -x "$dir/${script%% *}" ]
}

# kernels RESULT VERSION...: each is one that it is built for (0) or not (1)
kernels()
{
	result=$1
	shift
	for v; do
		bash -c '[[ $1 =~ $2 ]]' - "$v" "$(value BUILD_EXCLUSIVE_KERNEL)"
		[ $? = "$result" ] || { echo "$v"; return 1; }
	done
}

stale_goes()
{
	: >"$dir/gone.c"
	: >"$dir/core/gone.h"
	lay_out && file_list
}

# headers MAJOR MINOR SUBLEVEL: of a kernel, without block/
headers()
{
	rm -rf "$tmp/headers"
	mkdir -p "$tmp/headers/include/generated/uapi/linux"
	printf '#define LINUX_VERSION_MAJOR %s\n#define LINUX_VERSION_PATCHLEVEL %s\n#define LINUX_VERSION_SUBLEVEL %s\n' \
		"$@" >"$tmp/headers/include/generated/uapi/linux/version.h"
}

# source MAJOR MINOR SUBLEVEL: a tarball
source_of()
{
	rm -rf "$tmp/linux-source" "$tmp/source.tar.xz"
	mkdir -p "$tmp/linux-source/block/deeper" "$tmp/linux-source/drivers/block"
	printf 'VERSION = %s\nPATCHLEVEL = %s\nSUBLEVEL = %s\n' "$@" >"$tmp/linux-source/Makefile"
	for f in block/elevator.h block/blk.h block/elevator.c block/deeper/x.h drivers/block/y.h; do
		echo "$f" >"$tmp/linux-source/$f"
	done
	tar -C "$tmp" -cJf "$tmp/source.tar.xz" linux-source
}

block()
{
	rm -rf "$tmp/out"
	"$source_dir/kernel/block-headers" "$tmp/headers" "$tmp/out" "$@" 2>"$tmp/said"
	status=$?
	cat "$tmp/said"
	return $status
}

block_headers_come()
{
	headers 6 12 117
	source_of 6 12 117
	block "$tmp/source.tar.xz" || return 1
	[ "$(cd "$tmp/out" && find . ! -type d | LC_ALL=C sort | tr '\n' ' ')" = './block/blk.h ./block/elevator.h ' ]
}

# refused WORD...: all of them in one message, and nothing left behind
refused()
{
	[ "$(wc -l <"$tmp/said")" = 1 ] || return 1
	for word; do
		grep -qF -e "$word" "$tmp/said" || { echo "no $word in it"; return 1; }
	done
	[ ! -e "$tmp/out/block" ]
}

source_missing()
{
	headers 6 77 1
	! block && refused /usr/src/linux-source-6.77.tar.xz 'package linux-source-6.77' 6.77.1
}

other_release()
{
	headers 6 1 192
	source_of 6 1 191
	! block "$tmp/source.tar.xz" && refused 6.1.191 6.1.192 linux-source-6.1
}

no_tarball()
{
	headers 6 1 192
	echo no tarball >"$tmp/source.tar.xz"
	! block "$tmp/source.tar.xz" && grep -q "source.tar.xz is not a kernel's source" "$tmp/said"
}

own_sources()
{
	headers 6 12 117
	mkdir "$tmp/headers/block"
	echo own >"$tmp/headers/block/elevator.h"
	block && grep -qx own "$tmp/out/block/elevator.h"
}

check "lays out the sources below DESTDIR" lay_out
check "the files that are meant to be there, and no others" file_list
check "nothing else below DESTDIR" only_there
check "copies of the very sources" copies
check "dkms.conf has the version, and names what is there" conf_is_right
check "it is for 6.1 and 6.12" kernels 0 6.1.0-57-amd64 6.12.117+deb12-amd64
check "and no others" kernels 1 5.10.0-30-amd64 6.10.1-amd64 6.11.2 6.18.1-amd64 16.1.0
check "laid out again, what is no more is gone" stale_goes
check "block/*.h come out of the kernel's source" block_headers_come
check "which is asked for by the package's name" source_missing
check "of another release they are refused" other_release
check "and from what is no tarball" no_tarball
check "who has all of the kernel's source needs no package" own_sources
finish
