# SPDX-License-Identifier: GPL-2.0-only
# Everything changes under load, and nothing is lost: what was written is read back.
. /tmp/lib.sh

disk memory_backed=1 irqmode=0 submit_queues=2 gb=1
groups a b b/c
echo +io >$C/b/cgroup.subtree_control 2>/dev/null

# verify GROUP OFFSET
verify() {
	(
		echo 0 >$C/$1/cgroup.procs
		exec fio --name=v --filename=/dev/$D --ioengine=libaio --direct=1 --rw=randrw \
			--bsrange=512-65536 --iodepth=32 --offset=$2 --size=96M --loops=3 --verify=crc32c \
			--verify_fatal=1 --verify_backlog=64 --output=/tmp/v$3 >/dev/null 2>&1
	) &
	eval pid$3=$!
}

verify a 0 1
verify b/c 200M 2
n=0
while kill -0 $pid1 2>/dev/null || kill -0 $pid2 2>/dev/null; do
	n=$((n + 1))
	for p in noop deadline tpps weir; do
		echo $p >$Q/iosched/policy 2>/dev/null
	done
	mkdir $C/new$n && echo $((n % 10000 + 1)) >$C/a/io.weir.weight
	(echo 0 >$C/new$n/cgroup.procs && dd if=/dev/$D of=/dev/null bs=64k count=20 iflag=direct status=none)
	echo 0 >$C/cgroup.procs
	rmdir $C/new$n
	case $((n % 4)) in
	0) echo none >$Q/scheduler; echo weir >$Q/scheduler ;;
	1) echo $((32 + n % 200)) >$Q/nr_requests ;;
	2) echo "$(cat /sys/block/$D/dev) riops=$((1000 + n)) wiops=100000" >$C/a/io.weir.max ;;
	3) echo "$(cat /sys/block/$D/dev) riops=max wiops=max" >$C/a/io.weir.max ;;
	esac
	[ $n -lt 400 ] || break
done
echo "# $n rounds of changes"
wait $pid1
ok "what one group wrote is read back" test $? = 0
wait $pid2
ok "and another, nested" test $? = 0
ok "there were changes enough" test $n -ge 5
finish
