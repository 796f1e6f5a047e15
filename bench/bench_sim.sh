#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How many I/Os the lab simulates in a second on one core: bench/sim.fio on pcie-flash under weir, the
# best of five runs. The program is one thread that waits for nothing, so the time it ran is the wall
# time of a machine that has nothing else to do.
#
#	bench/bench_sim.sh [BUILD]
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
weir=${1:-$top/build}/weir
goal=2000000
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# One run. Sets elapsed_ms (user and system time) and ios.
run()
{
	local TIMEFORMAT='%U %S' spent user system
	spent=$({ time "$weir" sim "$top/bench/sim.fio" --device pcie-flash --policy weir --json \
		>"$out"; } 2>&1)
	read -r user system <<<"$spent"
	elapsed_ms=$((10#${user/./} + 10#${system/./}))
	ios=$(python3 -c 'import json, sys
print(sum(j[d]["total_ios"] for j in json.load(open(sys.argv[1]))["runs"][0]["jobs"]
	  for d in ("read", "write")))' "$out")
}

best=0
for _ in 1 2 3 4 5; do
	run
	rate=$((ios * 1000 / elapsed_ms))
	[ $rate -le $best ] || best=$rate
done

verdict=reached
[ $best -ge $goal ] || verdict=MISSED
printf 'lab: %d I/Os simulated, four groups, pcie-flash, policy weir\n' "$ios"
printf '  %-46s %8s %-4s >= %s  %s\n' "million I/Os per second on one core" \
	"$(printf '%d.%02d' $((best / 1000000)) $((best % 1000000 / 10000)))" "M/s" 2.00 $verdict
