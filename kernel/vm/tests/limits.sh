# SPDX-License-Identifier: GPL-2.0-only
# Ceilings, floors; and a held group that must not take the others' tags. VM_CLOCK=counted
. /tmp/lib.sh

disk irqmode=2 completion_nsec=2000000 hw_queue_depth=16
dev=$(cat /sys/block/$D/dev)
groups a b c held
echo "$dev riops=10" >$C/held/io.weir.max

run() {
	for g; do
		load $g --rw=randread
	done
	measure "$@"
	unload
}

run a b c
alone=$(ios10 a b c)
run a b c held
with=$(ios10 a b c)
echo "# three groups: $((alone / 10)) IOPS, beside a held one $((with / 10)); that one $(ios10 held) / 10"
ok "a ceiling of 10 IOPS" within $(ios10 held) 95 105
ok "costs the others little" within $((with * 1000 / alone)) 970 1050

echo "$dev rbps=2000000" >$C/a/io.weir.max
run a
echo "# ceiling of 2,000,000 bytes/s: $(bytes a)"
ok "a ceiling in bytes" within $(bytes a) 1980000 2020000
echo "$dev rbps=max" >$C/a/io.weir.max

echo 1 >$C/a/io.weir.weight
echo 1000 >$C/b/io.weir.weight
echo "$dev riops=1500" >$C/a/io.weir.low
run a b
echo "# floor of 1500 IOPS at weight 1:1000: $(($(ios10 a) / 10))"
ok "a floor" within $(($(ios10 a) / 10)) 1485 1700
finish
