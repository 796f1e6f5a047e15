# SPDX-License-Identifier: GPL-2.0-only
# Disks go away under load, while tasks wait for a place, are held by a ceiling, or have requests queued.
. /tmp/lib.sh

insmod /tmp/m/null_blk.ko nr_devices=0
K=/sys/kernel/config
mount -t configfs config $K
groups a held

# on: a disk of its own, slow, so that much is waiting
on() {
	mkdir $K/nullb/$D
	echo 1024 >$K/nullb/$D/size
	echo 2 >$K/nullb/$D/irqmode
	echo 5000000 >$K/nullb/$D/completion_nsec
	echo 4 >$K/nullb/$D/hw_queue_depth
	echo 2 >$K/nullb/$D/submit_queues
	echo 1 >$K/nullb/$D/power
	Q=/sys/block/$D/queue
	echo weir >$Q/scheduler
	echo "$(cat /sys/block/$D/dev) riops=2 wiops=2" >$C/held/io.weir.max
}

gone() {
	n=0
	while kill -0 $loads 2>/dev/null && [ $n -lt 100 ]; do
		sleep 0.3
		n=$((n + 1))
	done
	[ $n -lt 100 ]
}

for round in 1 2 3 4; do
	on
	policy=$(tr -d '[]' <$Q/iosched/policy | cut -d' ' -f$round)
	[ -z "$policy" ] || echo $policy >$Q/iosched/policy
	load a --rw=randrw
	load held --rw=randrw --iodepth=8
	load held --rw=randread --ioengine=psync --numjobs=4
	started_all=yes
	for g in a held; do
		counters $g >/tmp/$g.start
		started $g || started_all=no
	done
	ok "round $round: both groups have I/O under way" test $started_all = yes
	echo 0 >$K/nullb/$D/power
	ok "round $round: the disk is gone" test ! -e /sys/block/$D
	ok "round $round: and nobody waits for it" gone
	unload 2>/dev/null
	rmdir $K/nullb/$D
done

for m in scsi_common scsi_mod crc64 crc64-rocksoft t10-pi crct10dif_common crc-t10dif sd_mod; do
	insmod /tmp/m/$m.ko 2>/dev/null
done
if insmod /tmp/m/scsi_debug.ko dev_size_mb=64 delay=1 max_queue=8; then
	sleep 2
	D=$(basename "$(ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/*)")
	Q=/sys/block/$D/queue
	echo weir >$Q/scheduler
	ok "weir schedules a SCSI disk" grep -q '\[weir\]' $Q/scheduler
	load a --rw=randrw
	load held --rw=randread
	for g in a held; do
		counters $g >/tmp/$g.start
		started $g
	done
	echo 1 >/sys/block/$D/device/delete
	ok "the SCSI disk is gone" test ! -e /sys/block/$D
	ok "and nobody waits for it" gone
	unload 2>/dev/null
fi
ok "the module can go" rmmod weir
finish
