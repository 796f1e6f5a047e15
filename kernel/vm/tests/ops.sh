# SPDX-License-Identifier: GPL-2.0-only
# All kinds of operations with each policy: flush, FUA, discard, zeroing, priorities, and I/O that must
# not wait.
. /tmp/lib.sh

insmod /tmp/m/null_blk.ko nr_devices=0
K=/sys/kernel/config
mount -t configfs config $K
D=nullb1
Q=/sys/block/$D/queue
mkdir $K/nullb/$D
for setting in size=256 memory_backed=1 discard=1 cache_size=16 irqmode=0 submit_queues=2; do
	echo ${setting#*=} >$K/nullb/$D/${setting%=*}
done
echo 1 >$K/nullb/$D/power
echo weir >$Q/scheduler
groups a b
dev=$(cat /sys/block/$D/dev)

is_zero() {
	cmp -s -n $2 -i $1:0 /dev/$D /dev/zero
}

fio_in() {
	group=$1
	shift
	(
		echo 0 >$C/$group/cgroup.procs
		exec timeout 60 fio --name=x --filename=/dev/$D --direct=1 --thread --size=8M \
			--output=/tmp/fio.out "$@" >/dev/null 2>&1
	)
}

idle() {
	sleep 0.5
	! grep -v '^ *0 *0$' /sys/block/$D/inflight
}

ok "the disk has a write cache" grep -q back $Q/write_cache
for policy in $(policies); do
	echo $policy >$Q/iosched/policy
	ok "$policy: flushes" fio_in a --rw=randwrite --bs=4k --ioengine=libaio --iodepth=8 --fsync=4 \
		--verify=crc32c
	ok "$policy: FUA" fio_in a --rw=randwrite --bs=4k --ioengine=psync --sync=dsync --size=1M
	ok "$policy: buffered writes" fio_in a --rw=write --bs=64k --ioengine=psync --direct=0 \
		--end_fsync=1 --verify=crc32c
	dd if=/dev/urandom of=/dev/$D bs=1M count=4 seek=16 oflag=direct status=none
	ok "$policy: data is there" sh -c "! cmp -s -n 4194304 -i 16777216:0 /dev/$D /dev/zero"
	ok "$policy: discard" blkdiscard -o 16M -l 2M /dev/$D
	ok "$policy: discarded" is_zero 16777216 2097152
	ok "$policy: zeroing" blkdiscard -z -o 18M -l 2M /dev/$D
	ok "$policy: zeroed" is_zero 18874368 2097152
	ok "$policy: trims among reads and writes" fio_in b --rw=trimwrite --bs=64k --ioengine=psync
	ok "$policy: priorities" fio_in b --rw=randrw --bs=4k --ioengine=libaio --iodepth=16 \
		--prioclass=1 --prio=3
	ok "$policy: io_uring, many at once" fio_in b --rw=randrw --bs=4k --ioengine=io_uring \
		--iodepth=128 --iodepth_batch=32
	ok "$policy: nothing is left" idle
done

# What must not wait fails at once when there is no place, and leaves nothing behind: not a place of the
# few that a held group has.
echo "$dev riops=20" >$C/a/io.weir.max
echo 8 >$Q/nr_requests
fio_in a --rw=randread --bs=4k --ioengine=io_uring --iodepth=64 --nowait=1 --time_based --runtime=3 \
	--ignore_error=EAGAIN,EAGAIN
fio_in a --rw=randread --bs=4k --ioengine=io_uring --iodepth=64 --iodepth_batch=16 --time_based \
	--runtime=3
echo "$dev riops=max" >$C/a/io.weir.max
ok "no place was lost: one group" fio_in a --rw=randread --bs=4k --ioengine=libaio --iodepth=64
ok "no place was lost: the other" fio_in b --rw=randread --bs=4k --ioengine=libaio --iodepth=64
ok "nothing is left" idle
finish
