#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The symbol check of the freestanding build can fail: a source with one forbidden thing, compiled
# with the build's own flags, is refused by the name of the symbol that it would need.
set -u

source_dir=${WEIR_SOURCE:-$(dirname "$0")/..}
cc=${CC:-cc}
. "$source_dir/tests/tap.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
flags=$(cat "$source_dir/scripts/freestanding.flags")

# compile BITS TEXT
compile()
{
	printf '#include "core/fixed.h"\n%s\n' "$2" >"$tmp/x.c"
	# As the build does it: see lib/meson.build.
	size=
	[ "$1" = 64 ] || size=-Os
	# shellcheck disable=SC2086 # lists of words
	$cc $flags "-m$1" $size -I"$source_dir" -I"$source_dir/include" -c "$tmp/x.c" -o "$tmp/x.o"
}

# shellcheck disable=SC2086
passes()
{
	compile "$1" "$2" && "$source_dir/scripts/check-symbols" "$tmp/out.o" $cc "-m$1" "$tmp/x.o"
}

# refused BITS TEXT SYMBOL
refused()
{
	compile "$1" "$2" || return 1
	# shellcheck disable=SC2086
	if "$source_dir/scripts/check-symbols" "$tmp/out.o" $cc "-m$1" "$tmp/x.o" 2>"$tmp/err"; then
		echo "not noticed"
		return 1
	fi
	cat "$tmp/err"
	[ ! -e "$tmp/out.o" ] && grep -q "$3" "$tmp/err"
}

# The compiler itself may refuse floating point under -mgeneral-regs-only; either will do.
refused_or_error()
{
	compile "$1" "$2" || return 0
	refused "$@"
}

divide='uint64_t f(uint64_t a, uint64_t b);
uint64_t f(uint64_t a, uint64_t b) { return a / b; }'
divide100='uint64_t f(uint64_t a);
uint64_t f(uint64_t a) { return a / 100; }'
own_divide='uint64_t f(uint64_t a, uint64_t b);
uint64_t f(uint64_t a, uint64_t b) { return weir_div64(a, b) + weir_mul_div(a, b, 3); }'
divide128='uint64_t f(uint64_t a, uint64_t b, uint64_t c);
uint64_t f(uint64_t a, uint64_t b, uint64_t c)
{ return (uint64_t)((unsigned __int128)a * b / c); }'
call='void *malloc(size_t bytes);
void *f(size_t n);
void *f(size_t n) { return malloc(n); }'
agreed='void *memcpy(void *to, const void *from, size_t bytes);
void f(char *to, const char *from, size_t n);
void f(char *to, const char *from, size_t n) { memcpy(to, from, n); }'
floating='uint64_t f(uint64_t a);
uint64_t f(uint64_t a) { return (uint64_t)((double)a * 0.5); }'

check "64 bits: plain division is fine" passes 64 "$divide"
check "64 bits: memcpy is agreed" passes 64 "$agreed"
check "64 bits: a library call" refused 64 "$call" malloc
check "64 bits: 128-bit division" refused 64 "$divide128" __udivti3
check "64 bits: floating point" refused_or_error 64 "$floating" __
check "an object without functions" refused 64 "extern int x;" "no function"
if compile 32 "$agreed" >/dev/null 2>&1; then
	check "32 bits: memcpy is agreed" passes 32 "$agreed"
	check "32 bits: the core's own division" passes 32 "$own_divide"
	check "32 bits: 64-bit division" refused 32 "$divide" __udivdi3
	check "32 bits: 64-bit division by a constant" refused 32 "$divide100" __udivdi3
	check "32 bits: floating point" refused_or_error 32 "$floating" __
fi
finish
