# SPDX-License-Identifier: GPL-2.0-only
# Everything changes under load, with each policy, on the raw disk and under a file system; nothing is
# lost: what was written is read back.
. /tmp/lib.sh

insmod /tmp/m/null_blk.ko nr_devices=2 memory_backed=1 irqmode=0 submit_queues=2 gb=1
for m in crc32c_generic libcrc32c crc16 mbcache jbd2 ext4; do
	insmod /tmp/m/$m.ko 2>/dev/null
done
F=/sys/block/nullb1/queue
echo weir >$Q/scheduler
echo weir >$F/scheduler
policies=$(policies)
groups_each=$((1000 / $(echo $policies | wc -w) + 1))
mkfs.ext4 -q -F /dev/nullb1
mkdir -p /tmp/fs
mount -t ext4 /dev/nullb1 /tmp/fs
ok "ext4 is mounted" grep -q /tmp/fs /proc/mounts
groups a b
echo +io >$C/b/cgroup.subtree_control
groups b/c

# verify NAME GROUP FIO-ARGS...
verify() {
	name=$1
	group=$2
	shift 2
	(
		echo 0 >$C/$group/cgroup.procs
		exec fio --name=$name --ioengine=libaio --direct=1 --rw=randrw --bsrange=512-65536 \
			--iodepth=32 --loops=2 --verify=crc32c --verify_fatal=1 --verify_backlog=64 \
			--thread --output=/tmp/$name.out "$@" >/dev/null 2>&1
	) &
	eval pid_$name=$!
}

# 1,000 cgroups come, do I/O, and go.
cat >/tmp/cgroups.py <<'END'
import mmap, os, sys
root, disk, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
page = mmap.mmap(-1, 65536)
fd = os.open(disk, os.O_RDONLY | os.O_DIRECT)
def enter(group):
    with open(group + "/cgroup.procs", "w") as f:
        f.write("0")
for n in range(first, first + count):
    group = "%s/new%d" % (root, n)
    os.mkdir(group)
    try:
        with open(group + "/io.weir.weight", "w") as f:
            f.write("%d" % (n * 7 % 10000 + 1))
    except OSError:
        pass
    enter(group)
    os.preadv(fd, [page], n * 65536 % (1 << 29))
    enter(root)
    os.rmdir(group)
print("made")
END

rounds=0
change() {
	rounds=$((rounds + 1))
	case $((rounds % 6)) in
	0) elevator=none ;;
	3) elevator=mq-deadline ;;
	*) elevator=weir ;;
	esac
	for q in $Q $F; do
		echo $elevator >$q/scheduler
		[ $elevator != weir ] || echo $policy >$q/iosched/policy
	done
	echo $((4 + rounds * 37 % 250)) >$Q/nr_requests
	echo $((rounds * 91 % 10000 + 1)) >$C/a/io.weir.weight
	dev=$(cat /sys/block/$D/dev)
	if [ $((rounds % 2)) = 0 ]; then
		echo "$dev riops=$((1000 + rounds)) wbps=$((50000000 + rounds))" >$C/a/io.weir.max
	else
		echo "$dev riops=max wbps=max" >$C/a/io.weir.max
	fi 2>/dev/null
	echo "$dev rbps=$((rounds * 1000))" >$C/b/io.weir.low 2>/dev/null
	sleep 0.2
}

any() {
	for pid; do
		! kill -0 $pid 2>/dev/null || return 0
	done
	return 1
}

first=0
for policy in $policies; do
	from=$rounds
	verify raw1 a --filename=/dev/nullb0 --size=48M
	verify raw2 b/c --filename=/dev/nullb0 --offset=200M --size=48M
	verify file b/c --directory=/tmp/fs --size=48M --bsrange=4096-65536 --fsync=64
	python3 /tmp/cgroups.py $C /dev/nullb0 $first $groups_each >/tmp/cgroups.out 2>&1 &
	pid_cgroups=$!
	first=$((first + groups_each))
	running="$pid_raw1 $pid_raw2 $pid_file $pid_cgroups"
	while any $running; do
		[ $((rounds - from)) -lt 600 ] || break
		change 2>>/tmp/change.err
	done
	echo "# $policy: $((rounds - from)) rounds of changes"
	for name in raw1 raw2 file; do
		eval wait \$pid_$name
		ok "$policy: what was written is read back, $name" test $? = 0
	done
	wait $pid_cgroups
	ok "$policy: $groups_each cgroups came and went" grep -q made /tmp/cgroups.out
	ok "$policy: there were changes enough" test $((rounds - from)) -ge 5
done
echo none >$Q/scheduler
echo none >$F/scheduler
umount /tmp/fs
ok "the file system is whole" fsck.ext4 -fn /dev/nullb1
ok "no request is in flight" sh -c '! grep -v "^ *0 *0$" /sys/block/nullb?/inflight'
ok "and the module can go" rmmod weir
finish
