#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The counting behind "N passed, N failed": failures inside a program that ends well, crashes,
# time-outs and empty logs must all show.
set -u

source_dir=${WEIR_SOURCE:-$(dirname "$0")/..}
. "$source_dir/tests/tap.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# entry STDOUT RESULT STATUS
entry()
{
	printf '{"name": "t", "stdout": "%s", "result": "%s", "returncode": %s}\n' "$@"
}

# counts EXPECTED STATUS: of the log on stdin
counts()
{
	cat >"$tmp/log"
	got=$("$source_dir/scripts/count-tests" "$tmp/log")
	status=$?
	echo "got '$got' and status $status"
	[ "$got" = "$1" ] && [ "$status" -eq "$2" ]
}

two_good() { entry '1..2\nok 1 - a\nok 2 - b\n' OK 0 | counts "2 0" 0; }
one_bad() { entry '1..2\nok 1 - a\nnot ok 2 - b\n' FAIL 1 | counts "1 1" 1; }
bad_but_zero() { entry '1..1\nnot ok 1 - a\n' OK 0 | counts "0 1" 1; }
crash() { entry '1..9\nok 1 - a\n' FAIL -11 | counts "1 1" 1; }
hang() { entry '' TIMEOUT -9 | counts "0 1" 1; }
no_tap() { entry 'fine\n' OK 0 | counts "1 0" 0; }
skipped() { (entry '' SKIP 77; entry '' OK 0) | counts "1 0" 0; }
skipped_case() { entry '1..2\nok 1 - a\nnot ok 2 # SKIP b\n' OK 0 | counts "1 0" 0; }
nothing() { counts "0 0" 1 </dev/null; }

check "cases of one program" two_good
check "a failed case" one_bad
check "a failed case in a program that says 0" bad_but_zero
check "a crash after one case" crash
check "a time-out" hang
check "a program without TAP" no_tap
check "a skipped program counts for nothing" skipped
check "a skipped case too" skipped_case
check "no tests at all is no success" nothing
finish
