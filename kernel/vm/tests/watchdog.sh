# SPDX-License-Identifier: GPL-2.0-only
# A scheduler that fails does not stop the disk: the watchdog passes all through, says so, and nothing is
# lost. What waits rightly is none of its business.
. /tmp/lib.sh

rmmod weir
insmod /tmp/m/weir.ko faults=1 watchdog_ms=2000
disk irqmode=2 completion_nsec=500000 hw_queue_depth=16 submit_queues=2 memory_backed=1
mount -t debugfs debug /sys/kernel/debug
R=/sys/kernel/debug/weir/$D
W=/sys/module/weir/parameters/watchdog_ms
dev=$(cat /sys/block/$D/dev)
groups a b

said() {
	dmesg | grep -c "weir: $D: .*$1"
}

field() {
	tr ' ' '\n' <$R/state | sed -n "s/^$1=//p" | head -1
}

# Writes and reads back; its verdict is that of `verified`.
verify() {
	before=$(field dispatched)
	(
		echo 0 >$C/b/cgroup.procs
		exec fio --name=b --filename=/dev/$D --ioengine=libaio --direct=1 --bsrange=512-16384 \
			--size=24M --rw=randwrite --verify=crc32c --verify_fatal=1 --verify_backlog=32 \
			--iodepth=48 --thread --output=/tmp/verify.out "$@" >/dev/null 2>&1
	) &
	verifier=$!
	moves $before
}

# moves BEFORE: more was dispatched than that, within a while. io.weir.stat knows nothing of what goes past
# the policy.
moves() {
	for i in $(seq 100); do
		[ "$(field dispatched)" = $1 ] || return 0
		sleep 0.3
	done
	return 1
}

verified() {
	wait $verifier || { sed 's/^/# /' /tmp/verify.out; return 1; }
}

goes_on() {
	sleep 1
	moves $(field dispatched)
}

# stuck WHAT: it is, within a while
stuck() {
	for i in $(seq 50); do
		[ "$(field queued)" -gt 0 ] && [ "$(field in_flight)" = 0 ] && return 0
		sleep 0.1
	done
	return 1
}

# shown REGEXP: in the state, within a while
shown() {
	for i in $(seq 50); do
		! grep -q "$1" $R/state || return 0
	done
	return 1
}

# Without a watchdog: what does the state say?
echo 0 >$W
verify
echo 1 >$R/stall
ok "a policy is stuck" stuck
sleep 4
ok "the state can be read" timeout 10 cat $R/state
ok "and says since when" test "$(field oldest_ms)" -ge 3000
ok "with 0 the watchdog does nothing" test "$(field passed_through)" = 0
echo 2000 >$W

passed=0
for stall in 1 2 3; do
	if [ $stall != 1 ]; then
		verify
		echo $stall >$R/stall
		ok "stall $stall: a policy is stuck" stuck
	fi
	ok "stall $stall: the disk goes on" goes_on
	passed=$((passed + 1))
	ok "stall $stall: all pass through" grep -q passing_through $R/state
	ok "stall $stall: it is said once" test "$(said 'all pass through')" = $passed
	ok "stall $stall: all is read back" verified
	if [ $stall = 3 ]; then
		ok "not even the policy's hand-over was believed" grep -q past_policy=1 $R/state
		ok "and that is said once" test "$(said 'requests go past it')" = 1
	else
		ok "stall $stall: by the policy's own hand" grep -q past_policy=0 $R/state
	fi
	verify --size=4M
	ok "stall $stall: it stays so, and works" verified
	echo 0 >$R/stall
	echo weir >$Q/iosched/policy
	ok "stall $stall: until a policy is chosen" sh -c "! grep -q passing_through $R/state"
	verify --size=4M
	ok "stall $stall: which then works" verified
	ok "stall $stall: and nothing waits" test "$(field queued) $(field held) $(field pool_used)" = "0 0 0"
done
ok "no task was let go" test "$(field let_go)" = 0
ok "the state counts them" test "$(field passed_through)" = 4

# Tasks that wait for a place, and are not told.
echo 4 >$Q/nr_requests
verify --numjobs=32 --size=2M --offset_increment=2M --ioengine=psync
echo 4 >$R/stall
ok "tasks wait for a place" shown 'tasks=[1-9]'
for i in $(seq 60); do
	[ "$(field let_go)" -gt 0 ] && break
	sleep 0.5
done
ok "tasks that were not told are told" test "$(field let_go)" -gt 0
ok "which is said" test "$(said 'were not told')" -gt 0
echo 0 >$R/stall
ok "all is read back" verified
ok "that is no reason to pass through" test "$(field passed_through)" = 4
echo 32 >$Q/nr_requests

# A long wait for a ceiling is none of its business; nor does it hide that others are stuck.
echo "$dev riops=1 rbps=4096" >$C/a/io.weir.max
load a --rw=randread --bs=32k
sleep 7
ok "a ceiling holds" test "$(field held)" -gt 0
ok "for longer than the watchdog waits" test "$(field oldest_ms)" -gt 2500
ok "and is not passed" test "$(field passed_through)" = 4
verify
echo 2 >$R/stall
ok "others are stuck beside it" goes_on
ok "and are helped" test "$(field passed_through)" = 5
ok "all is read back" verified
echo 0 >$R/stall
echo "$dev riops=max rbps=max" >$C/a/io.weir.max
unload
echo none >$Q/scheduler
ok "the module can go" rmmod weir
dmesg | sed -n 's/^.*\(weir: \)/# \1/p'
finish
