# SPDX-License-Identifier: GPL-2.0-only
# A recording taken here runs again in the lab with equal answers, whatever happened in it.
. /tmp/lib.sh

disk irqmode=2 completion_nsec=500000 hw_queue_depth=16 submit_queues=2
dev=$(cat /sys/block/$D/dev)
mount -t debugfs debug /sys/kernel/debug
R=/sys/kernel/debug/weir/$D
groups a b c
echo +io >$C/c/cgroup.subtree_control
groups c/d
policies=$(tr -d '[]' <$Q/iosched/policy)
next=$policies

take() {
	: >/tmp/$1
	while cat $R/recording >/tmp/part && [ -s /tmp/part ]; do
		cat /tmp/part >>/tmp/$1
	done
}

rerun() {
	/tmp/m/weir rerun /tmp/$1 >/tmp/rerun.out 2>&1
}

for policy in $policies; do
	echo $policy >$Q/iosched/policy
	load a --rw=randrw
	load b --rw=read --bs=4k --ioengine=io_uring --iodepth_batch=16
	load c/d --rw=write --bs=16k --direct=0 --ioengine=psync --fsync=32 --size=64M
	load c --rw=randread --ioengine=psync --numjobs=3
	for g in a b c/d; do
		mkdir -p /tmp/c
		counters $g >/tmp/$g.start
		started $g
	done
	ok "$policy: a recording begins under load" sh -c "echo on 4000000 >$R/record"
	ok "$policy: and not twice" sh -c "! echo on >$R/record" 2>/dev/null
	echo 300 >$C/a/io.weir.weight
	echo "$dev riops=300 wbps=4000000" >$C/b/io.weir.max
	echo "$dev rbps=1000000" >$C/c/io.weir.low
	echo "$dev target=3000" >$C/a/io.weir.latency
	mkdir $C/new
	(echo 0 >$C/new/cgroup.procs && dd if=/dev/$D of=/dev/null bs=64k count=5 iflag=direct status=none)
	rmdir $C/new
	next=$(echo $next | awk '{print $NF; for (i = 1; i < NF; i++) print $i}' | tr '\n' ' ')
	echo ${next%% *} >$Q/iosched/policy
	cat $C/*/io.weir.stat >/dev/null
	sleep 1
	echo 64 >$Q/nr_requests
	sleep 0.5
	echo off >$R/record
	state=$(cat $R/record)
	unload
	take rec
	echo "$dev riops=max wbps=max" >$C/b/io.weir.max
	ok "$policy: it is not empty" test $(stat -c %s /tmp/rec) -gt 20000
	case $state in
	*overflowed=1*) echo "# it overflowed, which is another test" ;;
	esac
	ok "$policy: it runs again with equal answers" rerun rec
	sed 's/^/# /' /tmp/rerun.out | tail -4
	# One byte, in the midst.
	at=$(($(stat -c %s /tmp/rec) / 2))
	head -c $at /tmp/rec >/tmp/bad
	tail -c +$((at + 1)) /tmp/rec | head -c 1 | tr '\000-\377' '\001-\377\000' >>/tmp/bad
	tail -c +$((at + 2)) /tmp/rec >>/tmp/bad
	ok "$policy: a changed byte is found" sh -c '! /tmp/m/weir rerun /tmp/bad >/dev/null 2>&1'
	echo 32 >$Q/nr_requests
done

counters a >/tmp/a.start
load a --rw=randread
started a
ok "a small ring" sh -c "echo on 16384 >$R/record"
sleep 2
ok "overflows, and says so" grep -q overflowed=1 $R/record
echo off >$R/record
take rec
/tmp/m/weir rerun /tmp/rec >/tmp/rerun.out 2>&1
sed 's/^/# /' /tmp/rerun.out | head -4
ok "the rerun says that it overflowed" grep -qi -e overflow -e "ring was full" /tmp/rerun.out

for bad in "" "on 100" "on x" "on 99999999999" "maybe" "off 3"; do
	ok "record '$bad' is refused" sh -c "! echo '$bad' >$R/record" 2>/dev/null
done
ok "the state is shown" grep -q "^pool=" $R/state
ok "with the group that is at work" grep -q "path=/a" $R/state

# The files are used while the elevator comes and goes.
(while [ ! -e /tmp/enough ]; do
	echo on >$R/record
	cat $R/state $R/recording
	echo off >$R/record
done >/dev/null 2>&1) &
for i in 1 2 3 4 5 6 7 8 9 10; do
	echo none >$Q/scheduler
	echo weir >$Q/scheduler
done
touch /tmp/enough
unload
wait
ok "the elevator is there" grep -q '\[weir\]' $Q/scheduler

# A policy that never answers: the watchdog passes all through.
echo 2000 >/sys/module/weir/parameters/watchdog_ms
counters b >/tmp/b.start
load b --rw=randread
started b
echo 1 >$R/stall
sleep 8
counters b >/tmp/b.start
ok "a stalled disk goes on" started b
ok "and the log says so" sh -c "dmesg | grep -q 'weir: $D: nothing was dispatched'"
ok "once" test $(dmesg | grep -c "weir: $D: nothing was dispatched") = 1
ok "and the state" grep -q passing_through $R/state
echo 0 >$R/stall
echo weir >$Q/iosched/policy
ok "until a policy is chosen" sh -c "! grep -q passing_through $R/state"
unload
# A long wait for a ceiling is none of its business.
echo "$dev riops=1 rbps=4096" >$C/a/io.weir.max
load a --rw=randread --bs=32k
sleep 7
ok "a ceiling may hold for long" test $(dmesg | grep -c "weir: $D: ") = 1
echo "$dev riops=max rbps=max" >$C/a/io.weir.max
unload
echo none >$Q/scheduler
ok "the module can go" rmmod weir
finish
