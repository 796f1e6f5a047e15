# SPDX-License-Identifier: GPL-2.0-only
# For the scripts in tests/, which run as root in the guest.
C=/sys/fs/cgroup
D=nullb0
Q=/sys/block/$D/queue
nr=0
failed=0

# ok WHAT COMMAND...: a line for each thing that was tried
ok() {
	what=$1
	shift
	nr=$((nr + 1))
	if "$@"; then
		echo "ok $nr - $what"
	else
		echo "not ok $nr - $what"
		failed=$((failed + 1))
	fi
}

# The kernel has nothing to complain about; then the verdict.
finish() {
	ok "the kernel's log is clean" sh -c '! dmesg | grep -E "WARNING|BUG|Oops|weir: .* does not hold|blocked for more|lockup"'
	echo "1..$nr"
	exit $((failed > 0))
}

# disk ARGS...: null_blk with these parameters, scheduled by weir
disk() {
	insmod /tmp/m/null_blk.ko nr_devices=1 gb=4 "$@"
	echo weir >$Q/scheduler
}

# groups NAME...
groups() {
	for g; do
		mkdir -p $C/$g
	done
}

# load GROUP FIO-ARGS...: in the background, until rest
load() {
	group=$1
	shift
	(
		echo 0 >$C/$group/cgroup.procs
		exec fio --name=$group --filename=/dev/$D --ioengine=libaio --direct=1 --bs=4k \
			--iodepth=128 --norandommap --randrepeat=0 --time_based --runtime=1h \
			--output=/dev/null "$@" >/dev/null 2>&1
	) &
}

rest() {
	pkill fio
	wait
}

# count GROUP FIELD...: sum of these fields of its statistics
count() {
	group=$1
	shift
	tr ' ' '\n' <$C/$group/io.weir.stat | awk -F= -v names=" $* " \
		'index(names, " " $1 " ") {sum += $2} END {printf "%d\n", sum}'
}

# measure GROUP...: what each completes in 5 s, all in the same; I/Os to /tmp/GROUP.ios, bytes too
measure() {
	sleep 3
	for g; do
		count $g rios wios >/tmp/$g.ios0
		count $g rbytes wbytes >/tmp/$g.bytes0
	done
	sleep 5
	for g; do
		echo $(($(count $g rios wios) - $(cat /tmp/$g.ios0))) >/tmp/$g.ios
		echo $(($(count $g rbytes wbytes) - $(cat /tmp/$g.bytes0))) >/tmp/$g.bytes
	done
}

# ios GROUP..., of all of them, in the 5 s
ios() {
	for g; do
		cat /tmp/$g.ios
	done | awk '{sum += $1} END {print sum}'
}

# within VALUE LOW HIGH
within() {
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ] || { echo "# $1 is not in $2..$3"; return 1; }
}
