#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Debian's package fio-examples: every job file parses, and each either runs or says in one line why
# the lab can't. No crash, no sanitizer report, no partial output.
#
#	WEIR_FIO_EXAMPLES   a directory with the unpacked files; without it they are fetched
#	WEIR                the program
#
# Skipped (77) where the package can't be had.
set -u

source_dir=${WEIR_SOURCE:-$(dirname "$0")/..}
weir=${WEIR:-$source_dir/build/weir}
. "$source_dir/tests/tap.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

fetch()
{
	cd "$tmp" && timeout 60 apt-get -q download fio-examples && dpkg -x fio-examples_*.deb .
}

dir=${WEIR_FIO_EXAMPLES:-}
if [ -z "$dir" ]; then
	(fetch) >"$tmp/log" 2>&1 || { echo "# no package fio-examples: skipped"; exit 77; }
	dir=$tmp/usr/share/doc/fio/examples
fi

# Some are compressed in some releases of the package.
mkdir "$tmp/jobs"
cp "$dir"/*.fio "$tmp/jobs/" 2>/dev/null
for file in "$dir"/*.fio.gz; do
	[ -f "$file" ] && gzip -dc "$file" >"$tmp/jobs/$(basename "$file" .gz)"
done

# What some of them take from the environment.
export FIO_BS=4k FIO_DIR=/tmp FIO_IODEPTH=8 FIO_RW=randread uri=/dev/nvme0n1
export GPU_DEV_IDS=0 POOL=pool CONT=cont SSE_KEY=key STORAGE_CLASS=class SWIFT_id=id
export unixsocket=/run/socket

# A device with room for all of them.
device=ssd:capacity_gb=8000

ran=0
refused=0

one_object()
{
	[ "$(head -c 1 "$tmp/out")" = '{' ] && [ "$(tail -n 1 "$tmp/out")" = '}' ] &&
		grep -q '"device_ios"' "$tmp/out"
}

# One line: FILE:LINE: [SECTION] REASON. Anything else is a file that was not understood.
one_reason()
{
	[ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -q "^weir sim: [^:]*/$1:[0-9]*: \[[^]]*\] ..*" "$tmp/err"
}

one_file()
{
	timeout 100 "$weir" sim "$tmp/jobs/$1" --device $device --runtime 1s --json \
		>"$tmp/out" 2>"$tmp/err"
	status=$?
	echo "status $status"
	cat "$tmp/err"
	! grep -q -e Sanitizer -e 'runtime error' "$tmp/err" || return 1
	case $status in
	0) ran=$((ran + 1)) && one_object ;;
	2) refused=$((refused + 1)) && one_reason "$1" ;;
	*) return 1 ;;
	esac
}

for file in "$tmp"/jobs/*.fio; do
	check "$(basename "$file")" one_file "$(basename "$file")"
done

# The package has about ninety, and a good third of them is block I/O: else nothing was tested.
enough()
{
	[ $((ran + refused)) -ge 80 ] && [ $((ran * 3)) -ge $((ran + refused)) ]
}

check "enough of them, and enough that run" enough
echo "# $((ran + refused)) job files: $ran run, $refused say why they can't"
finish
