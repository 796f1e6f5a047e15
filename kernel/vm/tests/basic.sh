# SPDX-License-Identifier: GPL-2.0-only
# The module comes, is chosen, refuses what is wrong, and goes again.
. /tmp/lib.sh

insmod /tmp/m/null_blk.ko nr_devices=1 gb=4
ok "weir is offered" grep -q weir $Q/scheduler
echo weir >$Q/scheduler
ok "and chosen" grep -q '\[weir\]' $Q/scheduler
ok "its policy is weir" grep -q '\[weir\]' $Q/iosched/policy
ok "it reads" dd if=/dev/$D of=/dev/null bs=4k count=100 iflag=direct status=none
ok "it isn't unloaded while it is used" sh -c '! rmmod weir 2>/dev/null'

for p in $(policies); do
	ok "policy $p" sh -c "echo $p >$Q/iosched/policy && dd if=/dev/$D of=/dev/null bs=4k count=10 iflag=direct status=none"
done
ok "an unknown policy is refused" sh -c "! echo nonsense >$Q/iosched/policy" 2>/dev/null

groups a
dev=$(cat /sys/block/$D/dev)
ok "default weight" sh -c "echo 250 >$C/a/io.weir.weight && grep -qx 'default 250' $C/a/io.weir.weight"
ok "weight of a disk" sh -c "echo $dev 10000 >$C/a/io.weir.weight && grep -qx '$dev 10000' $C/a/io.weir.weight"
ok "and back to the default" sh -c "echo $dev default >$C/a/io.weir.weight && ! grep -q $dev $C/a/io.weir.weight"
for bad in 0 10001 x "default" "$dev 0" "$dev" "9:9 100"; do
	ok "weight '$bad' is refused" sh -c "! echo '$bad' >$C/a/io.weir.weight" 2>/dev/null
done
ok "ceilings" sh -c "echo $dev rbps=1000000 wiops=7 >$C/a/io.weir.max && grep -qx '$dev rbps=1000000 wbps=max riops=max wiops=7' $C/a/io.weir.max"
ok "a ceiling of 0 is refused" sh -c "! echo $dev rbps=0 >$C/a/io.weir.max" 2>/dev/null
ok "and changed nothing" grep -q rbps=1000000 $C/a/io.weir.max
ok "a floor above the ceiling is refused" sh -c "! echo $dev rbps=2000000 >$C/a/io.weir.low" 2>/dev/null
ok "a floor below it is taken" sh -c "echo $dev rbps=500000 >$C/a/io.weir.low && grep -q rbps=500000 $C/a/io.weir.low"
ok "no ceilings" sh -c "echo $dev rbps=max wiops=max >$C/a/io.weir.max && ! grep -q $dev $C/a/io.weir.max"
ok "a target" sh -c "echo $dev target=5000 >$C/a/io.weir.latency && grep -qx '$dev target=5000' $C/a/io.weir.latency"
ok "no two figures of the statistics have one name" sh -c "! tr ' ' '\n' <$C/a/io.weir.stat | sed -n 's/=.*//p' | sort | uniq -d | grep ."
ok "statistics" grep -q "^$dev rbytes=" $C/a/io.weir.stat
(echo 0 >$C/a/cgroup.procs && exec dd if=/dev/$D of=/dev/null bs=4k count=9 iflag=direct status=none)
ok "that count" grep -q " rios=9 .* rservice_max_us=[1-9]" $C/a/io.weir.stat
ok "what is no yes does not reset them" sh -c "! echo 0 >$Q/iosched/stats_reset" 2>/dev/null
ok "they still count" grep -q " rios=9 " $C/a/io.weir.stat
ok "and are reset" sh -c "echo 1 >$Q/iosched/stats_reset && grep -q ' rios=0 .* rservice_max_us=0 ' $C/a/io.weir.stat"

echo none >$Q/scheduler
ok "it is unloaded when nothing uses it" rmmod weir
ok "the files go with it" sh -c "! ls $C/a/io.weir.weight 2>/dev/null"
ok "and it comes again" insmod /tmp/m/weir.ko
finish
