#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel module and the library are of the same core and policies: the sources of weir.ko, as its
# Kbuild names them to make, against those of libweir, as meson builds it. No kernel is needed.
set -u

source_dir=$(cd "${WEIR_SOURCE:-$(dirname "$0")/..}" && pwd)
build=${WEIR_BUILD:-$source_dir/build}
. "$source_dir/tests/tap.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Of core and policy, one a line, below the top of the sources.
meson introspect --targets "$build" | python3 -c '
import json, os, sys
top = os.path.realpath(sys.argv[1])
for target in json.load(sys.stdin):
    # Of the two libraries, one is made of the objects of the other.
    if target["name"] == "weir" and target["type"].endswith("library"):
        for group in target["target_sources"]:
            for source in group.get("sources", []):
                print(os.path.relpath(os.path.realpath(source), top))
' "$source_dir" | grep -E '^(core|policy)/' | LC_ALL=C sort >"$tmp/library"

# What Kbuild makes weir.ko of, in a tree that is laid out from the sources in $1.
objects()
{
	rm -rf "$tmp/laid"
	"$1/scripts/kernel-tree" "$tmp/laid" || return 1
	printf 'src := %s\ninclude %s/Kbuild\nall:\n\t@printf "%%s\\n" $(weir-y)\n' \
		"$tmp/laid" "$tmp/laid" | make -s -f - all
}

module_sources()
{
	objects "$1" | sed -n 's/[.]o$/.c/p' | grep -E '^(core|policy)/' | LC_ALL=C sort
}

same_list()
{
	module_sources "$1" >"$tmp/module"
	[ -s "$tmp/library" ] && [ -s "$tmp/module" ] && diff "$tmp/library" "$tmp/module"
}

# Neither copies nor others of that name.
same_files()
{
	objects "$source_dir" >/dev/null && [ -s "$tmp/library" ] || return 1
	while read -r f; do
		[ "$(realpath "$tmp/laid/$f")" = "$(realpath "$source_dir/$f")" ] || {
			echo "$f is another file"
			return 1
		}
	done <"$tmp/library"
}

kernel_files_all_in()
{
	for f in "$source_dir"/kernel/*.c; do
		objects "$source_dir" | grep -qx "$(basename "$f" .c).o" || {
			echo "$f is not in weir.ko"
			return 1
		}
	done
}

# a_copy: of what the module is made from, to change
a_copy()
{
	rm -rf "$tmp/tree"
	mkdir "$tmp/tree"
	for dir in core policy include kernel scripts; do
		cp -r "$source_dir/$dir" "$tmp/tree/"
	done
}

# noticed FILE SIDE: a difference in FILE, told with the side that has it
noticed()
{
	! same_list "$tmp/tree" >"$tmp/said" || { echo "not noticed"; return 1; }
	cat "$tmp/said"
	grep -qx "$2 $1" "$tmp/said"
}

check "the library's list is known" test -s "$tmp/library"
check "weir.ko and libweir have the same core and policies" same_list "$source_dir"
check "and they are the same files" same_files
check "all of kernel/ is in weir.ko" kernel_files_all_in
a_copy
check "a copy of the tree gives the same list" same_list "$tmp/tree"
rm "$tmp/tree/core/heap.c"
check "a file that the module lacks is noticed" noticed core/heap.c '<'
a_copy
mkdir -p "$tmp/tree/policy/other/deep"
: >"$tmp/tree/policy/other/deep/zzz.c"
check "one that the library lacks is noticed, in a new folder too" noticed policy/other/deep/zzz.c '>'
finish
