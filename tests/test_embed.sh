#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A stranger's way to libweir: install below a scratch directory, build examples/embed against that
# with pkg-config, linked both ways, and see weights 200 and 300 become 40 and 60 percent.
set -u

source_dir=${WEIR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
build=${WEIR_BUILD:-$source_dir/build}
cc=${CC:-cc}
. "$source_dir/tests/tap.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
libdir=$tmp

# A sanitized library needs its run-time library in the program as well.
sanitize=$(meson introspect --buildoptions "$build" |
	python3 -c 'import json, sys
print(*[o["value"] for o in json.load(sys.stdin) if o["name"] == "b_sanitize"])')
[ "$sanitize" = none ] || cc="$cc -fsanitize=$sanitize"

install_it()
{
	DESTDIR=$tmp/root meson install -C "$build" --no-rebuild || return 1
	pc=$(find "$tmp/root" -name weir.pc)
	[ -n "$pc" ] || return 1
	PKG_CONFIG_SYSROOT_DIR=$tmp/root
	PKG_CONFIG_PATH=$(dirname "$pc")
	libdir=$(dirname "$PKG_CONFIG_PATH")
	export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_PATH
}

headers_complete()
{
	for header in "$source_dir"/include/weir/*.h; do
		found=$(find "$tmp/root" -path "*/include/weir/$(basename "$header")")
		cmp "$header" "$found" || return 1
	done
}

version_agrees()
{
	header=$(sed -n 's/^#define WEIR_VERSION "\(.*\)"$/\1/p' "$source_dir/include/weir/weir.h")
	echo "header $header, pkg-config $(pkg-config --modversion weir)"
	[ "$(pkg-config --modversion weir)" = "$header" ]
}

# Only what the headers declare may be seen of the shared library.
exports_public_only()
{
	nm -D --defined-only "$libdir/libweir.so" | awk '$2 ~ /[TWDR]/ { print $3 }' >"$tmp/exports"
	[ "$(wc -l <"$tmp/exports")" -ge 40 ] || return 1
	while read -r symbol; do
		case $symbol in
		_init | _fini | __*) continue ;;
		esac
		if ! grep -qw "$symbol" "$source_dir"/include/weir/*.h; then
			echo "$symbol is not in the headers"
			return 1
		fi
	done <"$tmp/exports"
}

# build OUT FLAG...
build_it()
{
	out=$1
	shift
	# shellcheck disable=SC2046,SC2086 # lists of flags
	$cc -Wall -Wextra -Werror "$source_dir/examples/embed/embed.c" \
		$(pkg-config --cflags weir) "$@" -o "$out"
}

static_build()
{
	build_it "$tmp/embed-static" "$libdir/libweir.a"
}

shared_build()
{
	# shellcheck disable=SC2046
	build_it "$tmp/embed-shared" $(pkg-config --libs weir)
}

# 40 : 60 exactly, to one request in a thousand.
shares()
{
	LD_LIBRARY_PATH=$libdir "$1" >"$tmp/out" || return 1
	cat "$tmp/out"
	awk '/^weight 200:/ { a = $3 } /^weight 300:/ { b = $3 }
	     END { exit !(a + b >= 10000 && a / (a + b) > 0.3996 && a / (a + b) < 0.4004) }' \
		"$tmp/out"
}

check "installs" install_it
check "all public headers, as they are" headers_complete
check "one version" version_agrees
check "the shared library shows its public face alone" exports_public_only
check "builds against the static library" static_build
check "builds against the shared library" shared_build
check "weights 200 and 300, static" shares "$tmp/embed-static"
check "weights 200 and 300, shared" shares "$tmp/embed-shared"
finish
