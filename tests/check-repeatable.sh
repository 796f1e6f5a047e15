#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The same job, policy and seed give the same bytes: twice from one program, and from programs that
# other compilers made, with or without sanitizers. Another seed gives other bytes, or the comparison
# would prove nothing.
#
# WEIR names the program, WEIR_OTHERS those that must agree with it.
set -u

source_dir=${WEIR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
weir=${WEIR:-$source_dir/build/weir}
others=${WEIR_OTHERS:-}
. "$source_dir/tests/tap.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
policies=noop,deadline,tpps,bfq,weir

# sim PROGRAM OUT SEED JOB DEVICE [OPTION...]
sim()
{
	program=$1 out=$2 seed=$3 job=$4 device=$5
	shift 5
	"$program" sim "$source_dir/examples/$job" --device "$device" --policy $policies \
		--seed "$seed" --json "$@" >"$out" </dev/null
}

# Is it the whole answer, and one that says something?
sound()
{
	python3 -c 'import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
assert len(runs) == 5, len(runs)
assert all(run["total"]["iops"] > 0 for run in runs), [run["total"] for run in runs]' "$1"
}

first_run() { sim "$weir" "$tmp/first" "$@" && sound "$tmp/first"; }

same_from()
{
	program=$1
	shift
	sim "$program" "$tmp/again" "$@" && cmp "$tmp/first" "$tmp/again"
}

other_seed_differs()
{
	sim "$weir" "$tmp/other" 99 "$@" || return 1
	sed 's/"seed": *[0-9]*//' "$tmp/first" >"$tmp/first.bare"
	sed 's/"seed": *[0-9]*//' "$tmp/other" >"$tmp/other.bare"
	! cmp -s "$tmp/first.bare" "$tmp/other.bare"
}

# compare SEED JOB DEVICE [OPTION...]
compare()
{
	what="$2 on $3, seed $1"
	check "$what runs" first_run "$@"
	check "$what: the same again" same_from "$weir" "$@"
	for program in $others; do
		check "$what: the same from $program" same_from "$program" "$@"
	done
}

compare 1 mysql-cluster.fio pcie-flash
check "another seed, other bytes" other_seed_differs mysql-cluster.fio pcie-flash
compare 7 mysql-cluster.fio pcie-flash:stall=0
compare 1 limits.fio ssd --groups "$source_dir/examples/limits.ini"
compare 1 buffered-writers.fio ssd
compare 1 sequential-hdd.fio hdd
compare 1 fsync-loop.fio hdd
finish
