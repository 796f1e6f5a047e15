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

# load GROUP FIO-ARGS...: in the background; its figures go to /tmp/GROUP
load() {
	group=$1
	shift
	(
		echo 0 >$C/$group/cgroup.procs
		exec fio --name=$group --filename=/dev/$D --ioengine=libaio --direct=1 --bs=4k \
			--iodepth=128 --norandommap --randrepeat=0 --output-format=terse \
			--terse-version=3 --output=/tmp/$group "$@" >/dev/null 2>&1
	) &
}

# iops GROUP: reads and writes
iops() {
	awk -F';' '{print $8 + $49}' /tmp/$1
}

# within VALUE LOW HIGH
within() {
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ] || { echo "# $1 is not in $2..$3"; return 1; }
}

# share GROUP OTHERS...: of all of them, in 1/1000
share() {
	for g; do
		iops $g
	done | awk 'NR == 1 {mine = $1} {all += $1} END {printf "%d\n", all ? 1000 * mine / all : 0}'
}
