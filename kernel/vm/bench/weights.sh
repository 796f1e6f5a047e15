# SPDX-License-Identifier: GPL-2.0-only
# Line 1: four groups with weights, each with more to ask for than the device does.
. /tmp/rig.sh

disk irqmode=2 completion_nsec=2000000 hw_queue_depth=16 submit_queues=1

run() {
	choose $1
	begin g1000 g800 g600 g400
	for w in 1000 800 600 400; do
		weigh $1 g$w $w
		job g$w g$w $deep rw=$2
	done
	all_jobs g1000 g800 g600 g400
	for w in 1000 800 600 400; do
		tell g$w g$w line=weights round=$round who=$1 rw=$2 weight=$w
	done
}

for round in $(seq $ROUNDS); do
	for rw in randread randrw; do
		for who in ${WHO:-weir weir:1024 none mq-deadline mq-deadline:1024 kyber kyber:1024 \
			bfq bfq:1024 bfq0 bfq0:1024 iocost}; do
			run $who $rw
		done
	done
done
end
