# SPDX-License-Identifier: GPL-2.0-only
# For the scripts beside this one, which run as root in the guest. They print lines that begin with
# "= " and hold name=value pairs, for kernel/vm/bench/report to read on the host.
. /tmp/lib.sh
. /tmp/settings # ROUNDS, and CLOCK: how often, and by which clock, each thing is measured
cd /tmp || exit 1

# busybox has it, and is the shell only on the clock that counts.
command -v usleep >/dev/null || usleep() {
	sleep "$(awk "BEGIN {print $1 / 1000000}")"
}

# Milliseconds that a measurement takes, and before it, until the rates are even.
WINDOW=${WINDOW:-4000}
RAMP=${RAMP:-2000}
SLACK=${SLACK:-500} # and after it, for those who started late

for m in bfq kyber-iosched mq-deadline; do
	[ ! -e /tmp/m/$m.ko ] || insmod /tmp/m/$m.ko 2>/dev/null
done

# Candidates are NAME or NAME:NR_REQUESTS. bfq0 is bfq without idling and without its heuristics for
# latency; iocost is itself, below `none`.
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

# begin GROUP...: groups with their statistics at zero, and no jobs yet
begin() {
	for g; do
		[ ! -d $C/$g ] || rmdir $C/$g
		mkdir $C/$g
	done
	cat >/tmp/run.fio <<-END
		[global]
		cgroup_nodelete=1
		time_based
		ramp_time=${RAMP}ms
		runtime=$((WINDOW + SLACK))ms
		randrepeat=0
		norandommap
		bs=4k
	END
}

# job NAME GROUP OPTION...: in that group, or in the root if it is "-"
job() {
	{
		echo "[$1]"
		[ "$2" = - ] || echo "cgroup=$2"
		shift 2
		printf '%s\n' "$@"
	} >>/tmp/run.fio
}

# Deep random I/O straight to the disk, the load of most lines.
deep="filename=/dev/$D ioengine=libaio direct=1 iodepth=128"

# Nanoseconds, then the I/Os that a group has asked the disk for.
asked() {
	echo "$(awk '/^now at/ {print $3; exit}' /proc/timer_list)" \
		"$(tr ' ' '\n' <$C/$1/io.stat | awk -F= '/^[rw]ios=/ {n += $2} END {print n + 0}')"
}

# For jobs that think: fio 3.33 forgets to, for some time, when a ramp ends.
no_ramp="ramp_time=0 runtime=$((RAMP + WINDOW + SLACK))ms"

# all_jobs [GROUP...]: all of them at once, in one fio. What each group does in the window is counted
# by the kernel: fio, at the end, adds to its count what it had asked for, and not the time that takes.
all_jobs() {
	rm -f /tmp/*.from /tmp/*.to
	fio --output-format=terse --terse-version=3 --output=/tmp/run.terse /tmp/run.fio >/tmp/run.err 2>&1 &
	fio=$!
	for g; do
		while [ "$(asked $g | cut -d' ' -f2)" = 0 ] && kill -0 $fio 2>/dev/null; do
			sleep 0.01
		done
	done
	usleep $((RAMP * 1000))
	# The longest wait of the start, when not all are there yet, is not what is asked for.
	[ ! -e $Q/iosched/stats_reset ] || echo 1 >$Q/iosched/stats_reset
	for g; do
		asked $g >/tmp/${g##*/}.from
	done
	usleep $((WINDOW * 1000))
	for g; do
		asked $g >/tmp/${g##*/}.to
	done
	wait $fio || sed 's/^/# /' /tmp/run.err
}

# I/Os a second, if it was counted.
rate() {
	[ ! -e /tmp/$1.to ] || cat /tmp/$1.from /tmp/$1.to | awk '
		{t[NR] = $1; n[NR] = $2}
		END {printf "iops=%.1f", 1e9 * (n[2] - n[1]) / (t[2] - t[1])}'
}

# Of a job: KiB in each direction, time in ms, mean and longest time of an I/O in us from when fio
# began to ask: the wait for being let in is in it.
fio_results() {
	awk -F';' -v job="$1" '$3 == job {
		mean = $6 + $47 ? ($6 * $40 + $47 * $81) / ($6 + $47) : 0
		printf "read_kb=%d write_kb=%d ms=%d mean_us=%.0f max_us=%.0f", $6, $47, \
			($9 > $50 ? $9 : $50), mean, ($39 > $80 ? $39 : $80)
	}' /tmp/run.terse
}

# What weir counted of a group since it was made, if weir is in charge.
weir_results() {
	[ -r $C/$1/io.weir.stat ] || return 0
	tr ' ' '\n' <$C/$1/io.weir.stat | grep -E '_(mean|max|p90|p99)_us=' | tr '\n' ' '
}

# tell JOB GROUP NAME=VALUE...: a line of results
tell() {
	j=$1
	g=$2
	shift 2
	echo "= $* job=$j $(rate ${g##*/}) $(fio_results $j) $(weir_results $g)"
}

# The last thing of each script.
end() {
	dmesg | grep -E 'WARNING|BUG|Oops|weir: .* does not hold|blocked for more|lockup' |
		sed 's/^/# the kernel complained: /'
	exit 0
}
