# SPDX-License-Identifier: GPL-2.0-only
# Shares follow weights, with many tags and with the few that are the default. VM_CLOCK=counted
. /tmp/lib.sh

disk irqmode=2 completion_nsec=2000000 hw_queue_depth=16
all="g1000 g800 g600 g400"
groups $all
for w in 1000 800 600 400; do
	echo $w >$C/g$w/io.weir.weight
done

# try NAME TOLERANCE (1/1000 of the share) FIO-ARGS...
try() {
	name=$1
	bound=$2
	shift 2
	for w in 1000 800 600 400; do
		load g$w "$@"
	done
	measure $all
	unload
	for w in 1000 800 600 400; do
		want=$((w * 1000 / 2800))
		got=$(($(ios10 g$w) * 1000 / $(ios10 $all)))
		echo "# $name: weight $w: $(($(ios10 g$w) / 10)) IOPS, $got of 1000, by weight $want"
		ok "$name, weight $w" within $got $((want - want * bound / 1000)) $((want + want * bound / 1000))
	done
}

try "randread, nr_requests $(cat $Q/nr_requests)" 100 --rw=randread
echo 1024 >$Q/nr_requests
try "randread, nr_requests 1024" 30 --rw=randread
finish
