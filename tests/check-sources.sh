#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A source, test or manual page that no meson.build lists is found out.
set -u

source_dir=${WEIR_SOURCE:-$(dirname "$0")/..}
. "$source_dir/tests/tap.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

forgotten()
{
	rm -rf "$tmp/tree"
	mkdir "$tmp/tree"
	for dir in core policy lib lab cli tests fuzz bench docs; do
		cp -r "$source_dir/$dir" "$tmp/tree/"
	done
	mkdir -p "$tmp/tree/$(dirname "$1")"
	: >"$tmp/tree/$1"
	if "$source_dir/scripts/check-sources" "$tmp/tree" >"$tmp/out"; then
		echo "not noticed"
		return 1
	fi
	cat "$tmp/out"
	grep -q "^$1: not listed" "$tmp/out"
}

check "the tree as it is" "$source_dir/scripts/check-sources" "$source_dir"
check "a core file" forgotten core/zzz.c
check "a policy's folder" forgotten policy/weir/zzz.c
check "a cmocka test" forgotten tests/test_zzz.c
check "a shell test" forgotten tests/zzz.sh
check "a manual page" forgotten docs/man/weir-zzz.1
check "a fuzz target" forgotten fuzz/fuzz_zzz.c
finish
