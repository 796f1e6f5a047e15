#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# weir doctor on a real kernel: null_blk under none, weir, bfq and iocost, with weights set. Without the
# program there is nothing to try.
. /tmp/lib.sh
WEIR=/tmp/m/weir

[ -x "$WEIR" ] || { echo "1..0 # SKIP weir is not built"; exit 0; }

# finds STATUS ID...: these are among the findings, with that status.
finds() {
	want=$1
	shift
	$WEIR doctor $D >/tmp/text
	got=$?
	[ $got -eq $want ] || { echo "# status $got"; cat /tmp/text; return 1; }
	for id; do
		grep -q "($id)\$" /tmp/text || { echo "# no $id"; cat /tmp/text; return 1; }
	done
}

# lacks ID...: the last report has none of them.
lacks() {
	for id; do
		! grep -q "($id)\$" /tmp/text || { echo "# $id"; cat /tmp/text; return 1; }
	done
}

# Both cgroups do some I/O.
touch_both() {
	for g in a b; do
		(echo 0 >$C/$g/cgroup.procs && exec dd if=/dev/$D of=/dev/null bs=4k count=64 iflag=direct) \
			2>/dev/null
	done
}

insmod /tmp/m/bfq.ko
insmod /tmp/m/null_blk.ko nr_devices=1 gb=1
groups a b
ok "by path" $WEIR doctor /dev/$D --json
ok "by number" $WEIR doctor $(cat /sys/block/$D/dev)
touch_both

echo none >$Q/scheduler
ok "none, nothing set" finds 0 weir-not-chosen
echo 'default 300' >$C/a/io.weir.weight
ok "none, weir's weights" finds 1 weir-setting-unread
echo weir >$Q/scheduler
ok "weir, weights" finds 0
ok "weir, weights: none of them is lost" lacks weir-setting-unread weir-not-chosen weights-idle
echo noop >$Q/iosched/policy
ok "weir with a policy without weights" finds 1 weir-policy-lacks

echo none >$Q/scheduler
echo 'default 100' >$C/a/io.weir.weight
echo 'default 300' >$C/a/io.bfq.weight
ok "none, bfq's weights" finds 1 bfq-weight-unread
echo bfq >$Q/scheduler
ok "bfq as it comes" finds 0 bfq-low-latency
ok "bfq: none of them is lost" lacks bfq-weight-unread wbt-active
cat /tmp/text

echo none >$Q/scheduler
echo 'default 100' >$C/a/io.bfq.weight
echo 'default 300' >$C/a/io.weight
ok "none, io.weight" finds 1 io-weight-unread
cat /tmp/text
eval "$(grep '^        echo.*io.cost.qos' /tmp/text)"
ok "iocost after what it said to type" finds 0 iocost-auto iocost-no-target
ok "io.weight counts" lacks io-weight-unread
cat /tmp/text
echo bfq >$Q/scheduler
echo 'default 300' >$C/a/io.bfq.weight
ok "bfq and iocost" finds 0 two-controllers

echo "$(cat /sys/block/$D/dev) rbps=1000000" >$C/a/io.max
ok "a ceiling is no error" finds 0
rmmod weir 2>/dev/null
ok "without weir" finds 0
$WEIR doctor $D
finish
