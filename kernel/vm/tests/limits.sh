# SPDX-License-Identifier: GPL-2.0-only
# Ceilings, floors; and a held group that must not take the others' tags.
. /tmp/lib.sh

disk irqmode=2 completion_nsec=2000000 hw_queue_depth=16
dev=$(cat /sys/block/$D/dev)
groups a b c held
echo "$dev riops=10" >$C/held/io.weir.max

run() {
	for g; do
		load $g --rw=randread --time_based --runtime=6 --ramp_time=1
	done
	wait
}

run a b c
alone=$(for g in a b c; do iops $g; done | awk '{s += $1} END {print int(s)}')
run a b c held
with=$(for g in a b c; do iops $g; done | awk '{s += $1} END {print int(s)}')
got=$(iops held | awk '{printf "%d", $1 * 10}')
echo "# three groups: $alone IOPS, beside a held one $with; that one $got / 10"
ok "a ceiling of 10 IOPS" within $got 90 112
ok "costs the others little" within $((with * 1000 / alone)) 850 1300

echo "$dev rbps=2000000" >$C/a/io.weir.max
run a
got=$(iops a | awk '{printf "%d", $1 * 4096}')
echo "# ceiling of 2,000,000 bytes/s: $got"
ok "a ceiling in bytes" within $got 1940000 2060000
echo "$dev rbps=max" >$C/a/io.weir.max

echo 1 >$C/a/io.weir.weight
echo 1000 >$C/b/io.weir.weight
echo "$dev riops=1500" >$C/a/io.weir.low
run a b
got=$(iops a | cut -d. -f1)
echo "# floor of 1500 IOPS at weight 1:1000: $got"
ok "a floor" within $got 1350 2500
finish
