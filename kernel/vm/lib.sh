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
	ok "the kernel's log is clean" sh -c '! dmesg | grep -E "WARNING|BUG|Oops|weir: .* does not hold|blocked for more|lockup|rcu: INFO"'
	echo "1..$nr"
	exit $((failed > 0))
}

# disk ARGS...: null_blk with these parameters, scheduled by weir
disk() {
	insmod /tmp/m/null_blk.ko nr_devices=1 gb=4 "$@"
	echo weir >$Q/scheduler
}

# The policies to try: all that the elevator has, or those that the host named.
policies() {
	if [ -e /tmp/policies ]; then
		cat /tmp/policies
	else
		tr -d '[]' <$Q/iosched/policy
	fi
}

# groups NAME...
groups() {
	for g; do
		mkdir -p $C/$g
	done
}

# load GROUP FIO-ARGS...: in the background, until unload
loads=
load() {
	group=$1
	shift
	(
		echo 0 >$C/$group/cgroup.procs
		exec fio --name=$group --filename=/dev/$D --ioengine=libaio --direct=1 --bs=4k \
			--iodepth=128 --norandommap --randrepeat=0 --time_based --runtime=600 \
			--thread --output=/dev/null "$@" >/dev/null 2>&1
	) &
	loads="$loads $!"
}

unload() {
	kill -KILL $loads
	wait $loads 2>/dev/null
	loads=
}

# A group's counters: time in seconds, I/Os, bytes.
counters() {
	read -r now rest_of_it </proc/uptime
	tr ' ' '\n' <$C/$1/io.weir.stat | awk -F= -v now="$now" '
		/^[rw]ios=/ {ios += $2}
		/^[rw]bytes=/ {bytes += $2}
		END {print now, ios + 0, bytes + 0}'
}

# measure GROUP...: what each gets, over 5 s and the time that it takes to look
measure() {
	for g; do
		counters $g >/tmp/$g.start
	done
	for g; do
		started $g || echo "# $g does nothing"
	done
	sleep 2
	for g; do
		counters $g >/tmp/$g.from
	done
	sleep 5
	for g; do
		counters $g >/tmp/$g.to
	done
}

# Programs take long to start where the machine is emulated and busy.
started() {
	for i in $(seq 100); do
		[ "$(counters $1 | cut -d' ' -f2)" = "$(cut -d' ' -f2 /tmp/$1.start)" ] || return 0
		sleep 0.3
	done
	return 1
}

# Of all these groups, a second: I/Os in tenths; bytes.
ios10() {
	for g; do
		cat /tmp/$g.from /tmp/$g.to | awk '{t[NR] = $1; n[NR] = $2} END {print 10 * (n[2] - n[1]) / (t[2] - t[1])}'
	done | awk '{sum += $1} END {printf "%d\n", sum + 0.5}'
}

bytes() {
	cat /tmp/$1.from /tmp/$1.to | awk '{t[NR] = $1; n[NR] = $3} END {printf "%d\n", (n[2] - n[1]) / (t[2] - t[1])}'
}

# within VALUE LOW HIGH
within() {
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ] || { echo "# $1 is not in $2..$3"; return 1; }
}
