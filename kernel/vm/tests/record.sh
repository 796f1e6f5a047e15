# SPDX-License-Identifier: GPL-2.0-only
# A recording taken here runs again in the lab with equal answers, whatever happened in it; and the
# files of debugfs bear that the elevator or the disk goes while they are in use.
. /tmp/lib.sh

disk irqmode=2 completion_nsec=500000 hw_queue_depth=16 submit_queues=2
mount -t debugfs debug /sys/kernel/debug
R=/sys/kernel/debug/weir/$D
dev=$(cat /sys/block/$D/dev)
groups a b c e
echo +io >$C/c/cgroup.subtree_control
groups c/d
echo 1000 >$C/a/io.weir.weight
echo 800 >$C/b/io.weir.weight
echo 600 >$C/c/io.weir.weight
echo 400 >$C/e/io.weir.weight
policies=$(policies)

# field NAME: of a summary of debugfs
field() {
	tr ' ' '\n' | sed -n "s/^$1=//p" | head -1
}

# rerun FILE: into /tmp/rerun.json
rerun() {
	/tmp/m/weir rerun --json $1 >/tmp/rerun.json 2>/tmp/rerun.err || { sed 's/^/# /' /tmp/rerun.err; return 1; }
	grep -q '"verdict": "equal"' /tmp/rerun.json
}

# count CALL: how many the last rerun had
count() {
	sed -n "s/^ *\"$1\": \([0-9]*\),*\$/\1/p" /tmp/rerun.json
}

# had CALL...
had() {
	for call; do
		[ "$(count $call)" -gt 0 ] || { echo "# no $call"; return 1; }
	done
}

# What changes while it is recorded. $1: another policy
changes() {
	echo 300 >$C/a/io.weir.weight
	echo "$dev riops=300 wbps=4000000" >$C/b/io.weir.max
	echo "$dev rbps=1000000" >$C/e/io.weir.low
	echo "$dev target=3000" >$C/a/io.weir.latency
	mkdir $C/new
	(echo 0 >$C/new/cgroup.procs && exec dd if=/dev/$D of=/dev/null bs=64k count=5 iflag=direct status=none)
	rmdir $C/new
	sleep 0.7
	echo $1 >$Q/iosched/policy
	cat $C/*/io.weir.stat >/dev/null
	sleep 0.7
	echo 64 >$Q/nr_requests
	sleep 0.5
	echo "$dev riops=max wbps=max" >$C/b/io.weir.max
	echo 1000 >$C/a/io.weir.weight
	echo 32 >$Q/nr_requests
}

for g in a b c/d e; do
	counters $g >/tmp/$(basename $g).start
done
load a --rw=randrw
load b --rw=randrw --size=128k
load c/d --rw=write --bs=16k --direct=0 --ioengine=psync --fsync=32 --size=64M
load e --rw=randread --ioengine=psync --numjobs=3
for g in a b c/d e; do
	cp /tmp/$(basename $g).start /tmp/started 2>/dev/null
	n=0
	while [ "$(counters $g | cut -d' ' -f2)" = "$(cut -d' ' -f2 /tmp/started)" ] && [ $n -lt 100 ]; do
		sleep 0.3
		n=$((n + 1))
	done
	ok "$g is at work" test $n -lt 100
done

other=$(echo $policies | awk '{print $NF}')
for policy in $policies; do
	echo $policy >$Q/iosched/policy
	ok "$policy: a recording begins under load" sh -c "echo on 8000000 >$R/record"
	ok "$policy: and not twice" sh -c "! echo 1 >$R/record" 2>/dev/null
	changes $other
	ok "$policy: it is on" grep -q '^on used=[1-9]' $R/record
	echo off >$R/record
	field used <$R/record >/tmp/used.$policy
	ok "$policy: and off, and did not overflow" grep -q '^off .*overflowed=0' $R/record
	cat $R/recording >/tmp/rec.$policy
	ok "$policy: reading takes it out" test "$(cat $R/recording | wc -c)" = 0
	other=$policy
done

for ring in 16384 65536; do
	ok "a ring of $ring bytes" sh -c "echo on $ring >$R/record"
	n=0
	while ! grep -q overflowed=1 $R/record && [ $n -lt 60 ]; do
		sleep 0.5
		n=$((n + 1))
	done
	ok "overflows, and says so" grep -q overflowed=1 $R/record
	echo 0 >$R/record
	cat $R/recording >/tmp/rec.$ring
done
ok "the state is shown" grep -q "^pool=.*pool_used=" $R/state
# A group without a request is not in it just then.
shown() {
	for i in $(seq 50); do
		! grep -q "$1" $R/state || return 0
	done
	return 1
}
ok "with the groups that are at work" shown ' weight=1000 .* path=/a$'
ok "and their weights" shown ' weight=400 .* path=/e$'
for n in 64 4 32; do
	echo $n >$Q/nr_requests
	ok "with $n requests the pool is $((2 * n)), for two queues" shown "^pool=$((2 * n)) "
done
ok "there is nothing to cause faults with" test ! -e $R/stall
unload

for policy in $policies; do
	rec=/tmp/rec.$policy
	ok "$policy: all of it was read" test "$(stat -c %s $rec)" = "$(cat /tmp/used.$policy)"
	ok "$policy: it runs again with equal answers" rerun $rec
	echo "# $(stat -c %s $rec) bytes: $(count insert) inserted, $(count dispatch) dispatches," \
		"$(count merge_bio) + $(count merge_rq) merged, $(count admit) admit, $(count wake) wake"
	ok "$policy: everything happened in it" had admit release wake insert dispatch complete \
		merge_find merge_bio group_create group_remove group_set switch reconfigure
	# One byte, in the midst.
	at=$(($(stat -c %s $rec) / 2))
	head -c $at $rec >/tmp/bad
	tail -c +$((at + 1)) $rec | head -c 1 | tr '\000-\377' '\001-\377\000' >>/tmp/bad
	tail -c +$((at + 2)) $rec >>/tmp/bad
	ok "$policy: a changed byte is found" sh -c '! /tmp/m/weir rerun /tmp/bad >/dev/null 2>&1'
done
for ring in 16384 65536; do
	ok "what fitted into $ring bytes runs again" rerun /tmp/rec.$ring
	ok "and is said to have overflowed" grep -q '"overflowed": true' /tmp/rerun.json
done

for bad in "" "on 100" "on x" "on 99999999999" "maybe" "off 3" "on 20000 3" "2"; do
	ok "record '$bad' is refused" sh -c "! echo '$bad' >$R/record" 2>/dev/null
done

# The files are used while the elevator comes and goes.
use() {
	while [ ! -e /tmp/enough ]; do
		echo on 100000 >$R/record && echo begun >>/tmp/begun
		cat $R/state $R/recording
		echo off >$R/record
		cat $R/record
	done >/dev/null 2>&1
}
load a --rw=randrw
(use) &
users=$!
(while [ ! -e /tmp/enough ]; do cat $R/state $R/record $R/recording; done >/dev/null 2>&1) &
users="$users $!"
sleep 2
for i in $(seq 20); do
	echo none >$Q/scheduler
	echo weir >$Q/scheduler
	[ $((i % 5)) != 0 ] || sleep 0.5
done
ok "recordings began meanwhile" test -s /tmp/begun
unload
touch /tmp/enough
wait $users
rm -f /tmp/enough /tmp/begun
ok "the elevator is there" grep -q '\[weir\]' $Q/scheduler
ok "and its files" grep -q "^pool=" $R/state
exec 8<$R/state 9<$R/recording
echo on >$R/record
echo none >$Q/scheduler
ok "with another elevator they are gone" test ! -e $R
ok "also for who has them open" sh -c '! cat <&8 && ! cat <&9' 2>/dev/null
exec 8<&- 9<&-

# And while the disk goes.
K=/sys/kernel/config
mount -t configfs config $K
D=nullb9
Q=/sys/block/$D/queue
R=/sys/kernel/debug/weir/$D
for i in 1 2 3; do
	mkdir $K/nullb/$D
	echo 256 >$K/nullb/$D/size
	echo 1 >$K/nullb/$D/power
	echo weir >$Q/scheduler
	rm -f /tmp/enough /tmp/begun
	(use) &
	users=$!
	sleep 1
	echo 0 >$K/nullb/$D/power
	rmdir $K/nullb/$D
	touch /tmp/enough
	wait $users
	ok "a disk goes that is being recorded: $(wc -l </tmp/begun) times" test -s /tmp/begun
	ok "with its files" test ! -e $R
done
ok "the module can go" rmmod weir
ok "and leaves nothing behind" test ! -e /sys/kernel/debug/weir
finish
