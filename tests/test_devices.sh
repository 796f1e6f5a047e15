#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# weir devices and weir curve from outside: the tables in docs/devices.md are what the program prints,
# everything fits 100 columns, JSON parses, and an error is one line and status 2.
set -u

source_dir=${WEIR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
weir=${WEIR:-$source_dir/build/weir}
. "$source_dir/tests/tap.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The rows below "measured", as printed, stand in the document in this order.
documented()
{
	"$weir" devices "$1" >"$tmp/out" || return 1
	sed -n '/^measured /,$p' "$tmp/out" >"$tmp/table"
	[ "$(wc -l <"$tmp/table")" -eq 9 ] || return 1
	python3 - "$tmp/table" "$source_dir/docs/devices.md" <<'END'
import sys
table, doc = (open(name).read() for name in sys.argv[1:])
sys.exit(table not in doc)
END
}

fits() { "$weir" "$@" >"$tmp/out" && [ -s "$tmp/out" ] && ! grep -qE '^.{101}' "$tmp/out"; }

# json EXPRESSION COMMAND...: the expression about the parsed output, j, holds.
json()
{
	expression=$1
	shift
	"$weir" "$@" >"$tmp/out" &&
		python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
assert eval("(" + sys.argv[2] + ")"), j' "$tmp/out" "$expression"
}

# refuses TEXT COMMAND...: status 2, nothing on stdout, one line with the text on stderr.
refuses()
{
	text=$1
	shift
	"$weir" "$@" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -qF -e "$text" "$tmp/err"
}

for device in hdd ssd pcie-flash nvme; do
	check "docs/devices.md has the table of $device" documented $device
done
for device in '' hdd ssd pcie-flash nvme profile profile:ssdpekka256 null; do
	check "weir devices $device fits 100 columns" fits devices $device
done
check "weir curve fits 100 columns" fits curve --device profile:pc711 --rw randwrite
check "the list as JSON" json 'len(j["devices"]) == 6 and len(j["profiles"]) == 11' devices --json
check "a device as JSON" json \
	'j["profile"]["rrandiops"] > 0 and len(j["table"]) == 16 and j["queue_depth"] == 32' \
	devices ssd --json
check "a curve as JSON" json \
	'[r["depth"] for r in j["curve"]] == [2 ** i for i in range(9)] and j["knee_depth"] == 8' \
	curve --device pcie-flash:stall=0 --json
check "the best rate of a curve is at the knee" json \
	'[r["iops"] for r in j["curve"] if r["depth"] == j["knee_depth"]][0] * 100 >=
	 99 * max(r["iops"] for r in j["curve"])' \
	curve --device nvme --rw read --bs 128k --json
# What --profile prints for the first device is a profile, and that one has the same.
profile_again()
{
	for device; do
		"$weir" devices --profile "$device" >"$tmp/line" && [ "$(wc -l <"$tmp/line")" -eq 1 ] &&
			"$weir" devices --profile "profile:$tmp/line" >"$tmp/again" &&
			cmp -s "$tmp/line" "$tmp/again" || return 1
	done
}
check "a profile in one line, which is read back the same" \
	profile_again hdd ssd pcie-flash nvme profile:pc711 profile:hfs256
check "with what rotates" sh -c "'$weir' devices -p hdd | grep -q ' flush_us=8580 rotational=1\$'"
check "help is printed and is no error" fits curve --help
check "unknown device" refuses "floppy: no such model; there are hdd," devices floppy
check "unknown option of a device" refuses "there are wcache," devices hdd:speed=1
check "value out of range" refuses "wcache=2: wcache must be" devices hdd:wcache=2
check "two devices" refuses "ssd: one device is accepted" devices hdd ssd
check "unknown option" refuses "--fast: no such option; there are --json," devices --fast
check "a profile of nothing" refuses "--profile: needs a device" devices --profile
check "a profile as JSON" refuses "--profile: not with --json" devices --profile --json hdd
check "a curve without a device" refuses "--device=DEVICE" curve
check "unknown pattern" refuses "sideways: --rw must be read," curve -d hdd --rw sideways
check "odd block size" refuses "1000: --bs must be" curve -d hdd --bs 1000
check "block larger than a command" refuses "1m: --bs may be up to 512k" curve -d hdd --bs 1m
check "missing value" refuses "--bs: needs a value" curve -d hdd --bs
check "seed that is none" refuses "x: --seed must be" curve -d hdd --seed x
finish
