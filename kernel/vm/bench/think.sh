# SPDX-License-Identifier: GPL-2.0-only
# Line 2: a group that reads one block at a time and thinks in between, beside three deep ones of the
# same weight. What it keeps of its rate alone.
. /tmp/rig.sh

disk irqmode=2 completion_nsec=2000000 hw_queue_depth=16 submit_queues=1

# run CANDIDATE THINK-US BESIDE
run() {
	choose $1
	begin thinker a b c
	job thinker thinker filename=/dev/$D ioengine=psync direct=1 rw=randread thinktime=$2 $no_ramp
	for g in $3; do
		job $g $g $deep rw=randread
	done
	for g in thinker $3; do
		weigh $1 $g 100
	done
	all_jobs thinker $3
	for g in thinker $3; do
		tell $g $g line=think round=$round who=$1 think_us=$2 beside=$([ -n "$3" ] && echo yes || echo no)
	done
}

for round in $(seq $ROUNDS); do
	for think in 200 5000; do
		for who in ${WHO:-weir none mq-deadline kyber bfq bfq0 iocost}; do
			run $who $think ""
			run $who $think "a b c"
		done
	done
done
end
