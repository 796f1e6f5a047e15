# SPDX-License-Identifier: GPL-2.0-only
# Line 4: ceilings, floors, targets and nested weights, for kernel/vm/bench/report to compare with what
# the lab says about the same files; and what a group costs the others that its ceiling holds.
. /tmp/rig.sh

disk irqmode=2 completion_nsec=2000000 hw_queue_depth=16 submit_queues=1
dev=$(cat /sys/block/$D/dev)

# groups_of INI: makes the groups, and sets what it says of them
groups_of() {
	awk -F' *= *' -v OFS='\t' '
		/^\[/ {gsub(/[][]/, ""); path = $0; print path, "", ""}
		/^io\./ {key = $1; sub(/^[^=]*= */, ""); print path, key, $0}' $1 |
		while IFS='	' read -r path key value; do
			mkdir -p $C/$path
			[ "$path" = "${path%/*}" ] || echo +io >$C/${path%/*}/cgroup.subtree_control
			case $key in
			io.weight) echo "$value" >$C/$path/io.weir.weight ;;
			io.*) echo "$dev $value" >$C/$path/io.weir.${key#io.} ;;
			esac
		done
}

# Of the case's groups none is left, so that the next one begins with nothing set.
forget_groups() {
	find $C -mindepth 1 -depth -type d -exec rmdir {} \;
}

# The disk by itself, which the lab's is set to.
measure_none() {
	choose none
	begin a b
	job a a $deep rw=randread
	job b b $deep rw=randread
	all_jobs a b
	for g in a b; do
		tell $g $g line=limits round=$round who=none case=none
	done
	forget_groups
}

run_case() {
	choose weir
	groups_of /tmp/$1.ini
	awk -v runtime=$((WINDOW + SLACK))ms -v no_ramp="$no_ramp" '
		/^runtime=/ {$0 = "runtime=" runtime}
		{print}
		/^thinktime=/ {gsub(" ", "\n", no_ramp); print no_ramp}' /tmp/$1.fio >/tmp/run.fio
	all_jobs $(sed -n 's/^cgroup=//p' /tmp/$1.fio)
	awk '/^\[/ {gsub(/[][]/, ""); job = $0} /^cgroup=/ {print job, substr($0, 8)}' /tmp/$1.fio |
		while read -r j path; do
			tell $j $path line=limits round=$round who=weir case=$1 path=$path
		done
	forget_groups
}

# held CANDIDATE yes|no: three groups without limits, and perhaps one with a ceiling of 10 IOPS
held() {
	choose $1
	begin a b c held
	case $1 in
	weir*) echo "$dev riops=10" >$C/held/io.weir.max ;;
	*) echo "$dev riops=10" >$C/held/io.max ;;
	esac
	all="a b c"
	[ $2 = no ] || all="a b c held"
	for g in $all; do
		job $g $g $deep rw=randread
	done
	all_jobs $all
	for g in $all; do
		tell $g $g line=limits round=$round who=$1 case=held with=$2
	done
	forget_groups
}

for round in $(seq $ROUNDS); do
	measure_none
	for c in ceilings floor tree latency; do
		run_case $c
	done
	for who in weir none; do
		held $who no
		held $who yes
	done
done
end
