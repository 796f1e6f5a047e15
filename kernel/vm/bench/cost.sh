# SPDX-License-Identifier: GPL-2.0-only
# Line 5: what a scheduler costs. The disk takes no time, so the processor is what there is too little
# of; CLOCK, from the settings, says whether instructions are counted or real time is measured.
if [ -z "${WINDOW:-}" ] && grep -q CLOCK=counted /tmp/settings; then
	# Instructions come out the same each time, and these are all that the emulation can do.
	export WINDOW=400 RAMP=200 SLACK=0
fi
. /tmp/rig.sh

disk irqmode=0 submit_queues=2

run() {
	choose $1
	begin g
	# shellcheck disable=SC2086 # two words
	for n in $(seq $2); do
		job j$n g filename=/dev/$D ioengine=libaio direct=1 rw=randread iodepth=32 gtod_reduce=1
	done
	all_jobs
	for n in $(seq $2); do
		tell j$n g line=cost clock=$CLOCK round=$round who=$1 jobs=$2
	done
}

for round in $(seq $ROUNDS); do
	for jobs in 1 2; do
		for who in ${WHO:-weir none mq-deadline kyber bfq}; do
			run $who $jobs
		done
	done
done
end
