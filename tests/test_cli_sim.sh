#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# weir sim and weir policies as a user types them: output, exit status, one line for each mistake and
# nothing on stdout then.
set -u

source_dir=${WEIR_SOURCE:-$(dirname "$0")/..}
weir=${WEIR:-$source_dir/build/weir}
. "$source_dir/tests/tap.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cat >"$tmp/one.fio" <<'JOB'
[one]
filename=/dev/x
direct=1
rw=randread
bs=4k
time_based
runtime=1
JOB

cat >"$tmp/two.fio" <<'JOB'
[global]
filename=/dev/x
direct=1
ioengine=libaio
iodepth=64
rw=randread
bs=4k
norandommap
time_based
ramp_time=100ms
runtime=500ms
[a]
cgroup=a
cgroup_weight=200
[b]
cgroup=b
cgroup_weight=300
JOB

echo '[a' >"$tmp/broken.fio"
printf '[a]\nfilename=/dev/x\nsize=1t\nrw=read\ndirect=1\n' >"$tmp/large.fio"
printf '[a]\nio.weight = 0\n' >"$tmp/broken.ini"
printf '[a]\nio.max = riops=1000\n' >"$tmp/limit.ini"

# fails STATUS PATTERN ARGUMENT...: one line with the pattern on stderr, nothing on stdout.
fails()
{
	want=$1
	pattern=$2
	shift 2
	"$weir" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/err"
	[ "$got" -eq "$want" ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -q -e "$pattern" "$tmp/err"
}

# says PATTERN ARGUMENT...: status 0, the pattern in the output, nothing on stderr.
says()
{
	pattern=$1
	shift
	"$weir" "$@" >"$tmp/out" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	cat "$tmp/out" "$tmp/err"
	[ ! -s "$tmp/err" ] && grep -q -e "$pattern" "$tmp/out"
}

null=null:latency_us=100

exact()
{
	says '^total .* 10000/- ' sim "$tmp/one.fio" --device $null --policy noop
}

json()
{
	"$weir" sim "$tmp/one.fio" --device $null --json >"$tmp/out" || return 1
	python3 - "$tmp/out" <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))["runs"][0]
job = run["jobs"][0]
assert run["policy"] == "weir", run["policy"]
assert job["read"]["iops"] == 10000, job["read"]["iops"]
assert job["read"]["clat_ns"]["percentile"]["99.000000"] == 100000
assert run["total"]["device_ios"] == 10000
PY
}

same_twice()
{
	"$weir" sim "$tmp/two.fio" --device pcie-flash --policy weir,noop --json >"$tmp/1" &&
		"$weir" sim "$tmp/two.fio" --device pcie-flash --policy weir,noop --json >"$tmp/2" &&
		cmp "$tmp/1" "$tmp/2"
}

shares()
{
	"$weir" sim "$tmp/two.fio" --device pcie-flash >"$tmp/out" &&
		grep -q '^a  *40.0%  *40.0%' "$tmp/out" && grep -q '^b  *60.0%  *60.0%' "$tmp/out"
}

policies_in_order()
{
	"$weir" sim "$tmp/two.fio" --device $null --policy weir,noop,weir:adapt=0 >"$tmp/out" ||
		return 1
	cat "$tmp/out"
	[ "$(sed -n 's/ on null.*//p' "$tmp/out" | tr '\n' ' ')" = 'weir noop weir:adapt=0 ' ] &&
		grep -q '^compared' "$tmp/out"
}

two_devices()
{
	"$weir" sim "$tmp/one.fio" --device $null,null:latency_us=50 >"$tmp/out" || return 1
	grep -q '^total .* 10000/- ' "$tmp/out" && grep -q '^total .* 20000/- ' "$tmp/out"
}

ceiling()
{
	says '^a .* 1000/- ' sim "$tmp/two.fio" --device $null --groups "$tmp/limit.ini"
}

no_progress_in_a_pipe()
{
	"$weir" sim "$tmp/two.fio" --device pcie-flash --runtime 5 2>&1 >/dev/null | wc -c |
		grep -q '^0$'
}

full_disk()
{
	[ -e /dev/full ] || return 0
	"$weir" sim "$tmp/one.fio" --device $null >/dev/full 2>"$tmp/err"
	[ $? -eq 2 ] && grep -q 'cannot write' "$tmp/err"
}

recording()
{
	"$weir" sim "$tmp/one.fio" --device $null --runtime 10ms --record "$tmp/run.rec" >/dev/null &&
		[ -s "$tmp/run.rec" ]
}

examples()
{
	for job in "$source_dir"/examples/*.fio; do
		"$weir" sim "$job" --runtime 200ms --device ssd >"$tmp/out" || return 1
		awk 'length > 100 { print; bad = 1 } END { exit bad }' "$tmp/out" || return 1
	done
}

# Each line "  NAME: ..." below "Settings" of the help has its entry in the manual page.
manual_has_settings()
{
	names=$("$weir" sim --help | sed -n '/^Settings of/,/^$/s/^  \([a-z_]*\):.*/\1/p')
	[ "$(echo "$names" | wc -l)" -gt 10 ] || return 1
	for name in $names; do
		grep -q "^\.It Cm $name\$" "$source_dir/docs/man/weir-sim.1" ||
			{ echo "$name is not in weir-sim(1)"; return 1; }
	done
}

check "an exact rate" exact
check "JSON with the same figure" json
check "the same bytes twice" same_twice
check "shares" shares
check "policies in the order given" policies_in_order
check "two devices" two_devices
check "limits from an INI file" ceiling
check "a runtime from the command line" says '250ms measured' \
	sim "$tmp/one.fio" --device $null --runtime 250ms
check "one section" says '^total .* 10000/- ' \
	sim "$tmp/two.fio" "$tmp/one.fio" --section one --device $null
check "interleave" says 'page cache: 16.8 MB read' \
	sim builtin:interleave:threads=3:size=16m --device $null
check "no progress line in a pipe" no_progress_in_a_pipe
check "a full disk" full_disk
check "a flight recording" recording
check "the examples run and fit 100 columns" examples
check "help of sim" says 'host_ns: CPU time' sim --help
check "the manual has every setting" manual_has_settings
check "list of policies" says '^weir ' policies
check "tunables of one" says '^adapt  *0/1  *1 ' policies weir
check "policies as JSON" says '"weir version"' policies --json
check "help of policies" says 'Usage: weir policies' policies --help

check "no job file" fails 2 'no job file' sim
check "a missing job file" fails 2 "$tmp/none.fio: No such file" sim "$tmp/none.fio"
check "a broken job file" fails 2 "broken.fio:1: " sim "$tmp/broken.fio"
check "a size that the device has not" fails 2 'large.fio:3: .*1099511627776.*accepted' \
	sim "$tmp/large.fio" --device $null
check "an unknown option" fails 2 '--polcy=noop: no such option; there are --device' \
	sim "$tmp/one.fio" --polcy=noop
check "an unknown policy" fails 2 'cfs: accepted are noop' sim "$tmp/one.fio" --policy cfs
check "an unknown tunable" fails 2 'accepted is tunable=value with' \
	sim "$tmp/one.fio" --policy weir:speed=1
check "a value out of range" fails 2 'adapt=7: accepted is 0 or 1' \
	sim "$tmp/one.fio" --policy weir:adapt=7
check "an unknown device" fails 2 'floppy' sim "$tmp/one.fio" --device floppy
check "an unknown setting" fails 2 'speed: accepted are host_ns' \
	sim "$tmp/one.fio" --host speed=1
check "a bad seed" fails 2 '--seed: x: accepted' sim "$tmp/one.fio" --seed x
check "a bad runtime" fails 2 '--runtime: 0: accepted' sim "$tmp/one.fio" --runtime 0
check "a missing INI file" fails 2 'none.ini' sim "$tmp/one.fio" --groups "$tmp/none.ini"
check "a broken INI file" fails 2 'broken.ini:2: ' sim "$tmp/one.fio" --groups "$tmp/broken.ini"
check "a section that is not there" fails 2 'nobody' sim "$tmp/one.fio" --section nobody
check "a recording of two policies" fails 2 'one policy and one device' \
	sim "$tmp/one.fio" --policy noop,weir --record "$tmp/x"
check "a recording that can't be written" fails 2 "$tmp/no/x" \
	sim "$tmp/one.fio" --device $null --record "$tmp/no/x"
check "a built-in that is none" fails 2 'accepted is builtin:interleave' sim builtin:sysbench
check "a built-in beside a file" fails 2 'accepted is nothing else' \
	sim builtin:interleave "$tmp/one.fio"
check "an unknown policy to list" fails 2 'accepted are noop' policies cfs
check "two policies to list" fails 2 'accepted is one name' policies noop weir
finish
