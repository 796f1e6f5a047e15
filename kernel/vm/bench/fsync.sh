# SPDX-License-Identifier: GPL-2.0-only
# Line 3: thread 001's job (write, fsync, again) on ext4; alone, and beside a sequential and a random
# reader, each in a cgroup of its own.
. /tmp/rig.sh

# Writes are charged to who dirtied the pages only where memory is, too.
echo +memory >$C/cgroup.subtree_control
for m in crc32c_generic libcrc32c crc16 mbcache jbd2 ext4; do
	[ ! -e /tmp/m/$m.ko ] || insmod /tmp/m/$m.ko
done
disk memory_backed=1 gb=1 irqmode=2 completion_nsec=2000000 hw_queue_depth=16 submit_queues=1
mkdir /tmp/mnt
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0,nodiscard /dev/$D
mount -t ext4 /dev/$D /tmp/mnt || echo "# no ext4"

# run CANDIDATE GROUP BESIDE
run() {
	choose $1
	rm -f /tmp/mnt/*
	sync
	begin test seq rand
	# The job as published; the rest of it are fio's defaults. When the file is written it begins again.
	job test $2 directory=/tmp/mnt ioengine=psync rw=write fsync=1 size=100m
	if [ "$3" = yes ]; then
		job seq seq filename=/dev/$D ioengine=libaio direct=1 rw=read bs=64k iodepth=32 offset=50% size=50%
		job rand rand filename=/dev/$D ioengine=libaio direct=1 rw=randread iodepth=32
	fi
	for g in test seq rand; do
		weigh $1 $g 100
	done
	readers=
	[ "$3" = no ] || readers="seq rand"
	all_jobs $readers
	[ "$2" = - ] && where=root || where=group
	tell test test line=fsync round=$round who=$1 where=$where beside=$3
	for g in $readers; do
		tell $g $g line=fsync round=$round who=$1 where=$where beside=$3
	done
}

for round in $(seq $ROUNDS); do
	run none - no
	for who in ${WHO:-weir none mq-deadline kyber bfq bfq0}; do
		run $who test no
		run $who test yes
	done
done
end
