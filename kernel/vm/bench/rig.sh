# SPDX-License-Identifier: GPL-2.0-only
# For the scripts beside this one, which run as root in the guest. They print lines that begin with
# "= " and hold name=value pairs, for kernel/vm/bench/report to read on the host.
. /tmp/lib.sh
. /tmp/settings # ROUNDS, WINDOW: how often, and for how many seconds, each thing is measured

RAMP=3 # seconds until everybody has started and the rates are even

# What is measured: NAME or NAME:NR_REQUESTS.
# bfq0 is bfq without idling and without its heuristics for latency; iocost is `none` below it.
sched_of() {
	case ${1%:*} in
	bfq0) echo bfq ;;
	iocost) echo none ;;
	*) echo "${1%:*}" ;;
	esac
}

# iocost on|off: a linear model of 6400 I/Os of 4 KiB, and no changes to it by what it sees.
iocost() {
	dev=$(cat /sys/block/$D/dev)
	if [ "$1" = off ]; then
		echo "$dev enable=0" >$C/io.cost.qos
		return
	fi
	echo "$dev ctrl=user model=linear rbps=10000000000 rseqiops=6400 rrandiops=6400" \
		"wbps=10000000000 wseqiops=6400 wrandiops=6400" >$C/io.cost.model
	echo "$dev enable=1 ctrl=user rpct=0 wpct=0 min=100 max=100" >$C/io.cost.qos
}

# choose CANDIDATE
choose() {
	iocost off
	# By way of none: each begins with its own default of nr_requests.
	echo none >$Q/scheduler
	echo "$(sched_of "$1")" >$Q/scheduler
	case $1 in
	bfq0*)
		echo 0 >$Q/iosched/slice_idle
		echo 0 >$Q/iosched/low_latency
		;;
	iocost*) iocost on ;;
	esac
	case $1 in
	*:*) echo "${1#*:}" >$Q/nr_requests ;;
	esac
}

# weigh CANDIDATE GROUP WEIGHT: in the file that this one reads, if it has weights
weigh() {
	case $1 in
	weir*) echo "$3" >$C/$2/io.weir.weight ;;
	bfq*) echo "$3" >$C/$2/io.bfq.weight ;;
	iocost*) echo "$3" >$C/$2/io.weight ;;
	esac
}

# In $C/GROUP, or in the root if that is "-". Every one has its statistics from zero.
fresh_groups() {
	for g; do
		[ ! -d $C/$g ] || rmdir $C/$g || sleep 1
		mkdir -p $C/$g
	done
}

# start GROUP FIO-ARGS...: in the background. Ends by itself; fio's results come to /tmp/GROUP.fio
start() {
	group=$1
	shift
	into=$C/$group
	[ "$group" != - ] || into=$C
	(
		echo 0 >$into/cgroup.procs
		exec fio --name=$group --time_based --ramp_time=$RAMP --runtime=$((WINDOW + 2)) \
			--randrepeat=0 --output-format=terse --terse-version=3 \
			--output=/tmp/$group.fio "$@" >/dev/null 2>&1
	) &
}

# Deep random I/O straight to the disk, the load of most lines.
deep="--filename=/dev/$D --ioengine=libaio --direct=1 --bs=4k --norandommap --iodepth=128"

# Time in seconds, then the I/Os that a group has asked the disk for.
asked() {
	read -r now rest_of_it </proc/uptime
	echo "$now $(tr ' ' '\n' <$C/$1/io.stat | awk -F= '/^[rw]ios=/ {n += $2} END {print n + 0}')"
}

# window GROUP...: what each does in WINDOW seconds, all over the same time, to /tmp/GROUP.rate
window() {
	sleep $((RAMP + 1))
	for g; do
		asked $g >/tmp/$g.from
	done
	sleep $WINDOW
	for g; do
		asked $g >/tmp/$g.to
		[ ! -r $C/$g/io.weir.stat ] || cp $C/$g/io.weir.stat /tmp/$g.stat
	done
	for g; do
		cat /tmp/$g.from /tmp/$g.to | awk '
			{t[NR] = $1; n[NR] = $2}
			END {printf "%.1f\n", (n[2] - n[1]) / (t[2] - t[1])}' >/tmp/$g.rate
	done
}

# fio's own: what it completed a second in both directions, mean and longest time of each in us,
# which includes the wait for being let in.
fio_results() {
	awk -F';' '{
		n = $8 + $49
		mean = n ? ($8 * $40 + $49 * $81) / n : 0
		printf "fio_iops=%.1f mean_us=%.0f max_us=%.0f", n, mean, ($39 > $80 ? $39 : $80)
	}' /tmp/$1.fio
}

# What weir counted of a group since it was made, if weir was in charge: the waits before the device
# and the times in it.
weir_results() {
	[ -s /tmp/$1.stat ] || return 0
	tr ' ' '\n' </tmp/$1.stat | grep -E '^[rw](wait|service)_(mean|max)_us=' | tr '\n' ' '
}

# tell GROUP NAME=VALUE...: a line of results
tell() {
	g=$1
	shift
	rate=$(cat /tmp/$g.rate 2>/dev/null)
	echo "= $* group=$g iops=${rate:-0} $(fio_results $g) $(weir_results $g)"
	rm -f /tmp/$g.rate /tmp/$g.stat
}
