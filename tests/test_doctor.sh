#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# weir doctor on one made-up host after the other: exactly the findings that each should have, in the
# text and in the JSON, and the exit status.
set -u

source_dir=${WEIR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
weir=${WEIR:-$source_dir/build/weir}
. "$source_dir/tests/tap.inc"
. "$source_dir/tests/doctor_tree.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

deadline='none [mq-deadline] kyber bfq'
bfq='none mq-deadline kyber [bfq]'
weir_list='none mq-deadline [weir]'

# Then nothing is said of the module.
loaded() { mkdir -p "$root/sys/module/weir"; }

# two_weights FILE MAJ:MIN: siblings of 200 and 300 that both did I/O there.
two_weights()
{
	group a "$1" 'default 200'
	group b "$1" 'default 300'
	did a "$2" 40960000
	did b "$2" 40960000
}

# says_first ID TEXT: as says, of a report made now on the only disk.
says_first()
{
	doctor "$(ls "$root/sys/block" | head -1)" --json >"$tmp/json"
	says "$@"
}

# ---- plain disks ----

host
disk nvme0n1 259:0
check "nvme without a setting" finds 0 nvme0n1 weir-not-built
check "its name, its number and its path are the same" holds 'j["device"] == "nvme0n1" and
	j["stack"][0]["dev"] == "259:0" and j["stack"][0]["scheduler"] == "none"'
check "by number" finds 0 259:0 weir-not-built
check "by a path to nowhere, as in a copy" finds 0 /dev/nvme0n1 weir-not-built
ln -s ../nvme0n1 "$root/dev/main"
check "by a link to nowhere" finds 0 /dev/main weir-not-built
: >"$root/dev/nvme0n1"
check "by a link to what is a file, as in a copy" finds 0 /dev/main weir-not-built

host
disk sda 8:0 scheduler "$deadline" nr_requests 64 rotational 1 wbt_lat_usec 75000
echo 'ST4000NM0035' >"$root/sys/devices/sda/device/model"
check "sata with mq-deadline" finds 0 sda wbt-default weir-not-built
check "header" grep -q '^scheduler  sda: none \[mq-deadline\] kyber bfq; 64 requests, spinning' \
	"$tmp/text"
check "the model is shown" grep -q '^device     sda (8:0), ST4000NM0035' "$tmp/text"

host
disk sda 8:0 rotational 1
echo 'INTEL SSDSC2KB96' >"$root/sys/devices/sda/device/model"
check "an SSD that counts as spinning" finds 0 sda rotational-guess weir-not-built
disk vdb 254:16 rotational 1
check "a virtual disk that counts as spinning" finds 0 vdb rotational-guess weir-not-built
check "what to type" says rotational-guess 'echo 0 > /sys/block/vdb/queue/rotational'

host
disk sda 8:0 nomerges 2
check "merging switched off" finds 0 sda no-merges weir-not-built

# ---- bfq ----

host
disk sda 8:0 scheduler "$bfq" nr_requests 64 rotational 1
set_queue sda iosched/low_latency 0 iosched/slice_idle 8
two_weights io.bfq.weight 8:0
check "bfq with two weights, few requests" finds 0 sda few-requests weir-not-built
check "more requests" says few-requests 'echo 1024 > /sys/block/sda/queue/nr_requests'
set_queue sda nr_requests 1024 rotational 0 iosched/low_latency 1
check "bfq as it comes, on flash" finds 0 sda bfq-low-latency bfq-idles weir-not-built
set_group a io.weight 'default 1200' io.bfq.weight 'default 200'
check "systemd wrote another weight" finds 0 sda weights-rescaled bfq-low-latency weight-spare \
	bfq-idles weir-not-built
set_queue sda scheduler "$deadline"
check "weights of bfq under mq-deadline" finds 1 sda io-weight-unread bfq-weight-unread weir-not-built
check "who sets them" says bfq-weight-unread 'in /a and /b,'
check "what would read them" says bfq-weight-unread 'echo bfq > /sys/block/sda/queue/scheduler'
check "the cgroups stand in the text" grep -q 'io.bfq.weight is set in /a and /b' "$tmp/text"
check "the count" grep -q '^2 settings have no effect; 0 warnings, 1 note.$' "$tmp/text"

# ---- what others named ----

# A cgroup's name can be anything; what the doctor says to type does what it says and nothing else.
typed()
{
	doctor sda --json >"$tmp/json"
	python3 -c 'import json, sys
print([f["command"] for f in json.load(open(sys.argv[1]))["findings"]
       if f["id"] == "setting-on-partition"][0])' "$tmp/json" >"$tmp/command"
	(cd "$tmp" && sed "s|/sys/fs/cgroup|$cg|" "$tmp/command" | sh) || return 1
	cat "$tmp/command"
	[ ! -e "$tmp/taken" ] && [ "$(cat "$cg/$1/io.max")" = '8:0 rbps=1000 wbps=max' ]
}
host
disk sda 8:0
partition sda sda1 8:1
for name in 'a b' 'a;touch taken' '$(touch taken)' '`touch taken`' "it's;touch taken" '-n' 'a&b|c>d'; do
	group "$name" io.max '8:1 rbps=1000 wbps=max'
	check "a cgroup named $name" typed "$name"
	rm -r "$cg/$name"
done

# ---- io.weight and iocost ----

host
disk nvme0n1 259:0
two_weights io.weight 259:0
check "io.weight, iocost off" finds 1 nvme0n1 io-weight-unread weir-not-built
check "switch it on" says io-weight-unread "echo '259:0 enable=1' > /sys/fs/cgroup/io.cost.qos"
check "the cgroups, for programs" holds 'j["findings"][0]["cgroups"] == ["/a", "/b"]'
echo '259:0 enable=1 ctrl=user rpct=95.00 rlat=5000 wpct=95.00 wlat=5000 min=50.00 max=150.00' \
	>"$cg/io.cost.qos"
model='259:0 ctrl=user model=linear rbps=3102524156 rseqiops=724816 rrandiops=778122'
echo "$model wbps=1742780862 wseqiops=425702 wrandiops=443193" >"$cg/io.cost.model"
check "iocost with its set for fast flash" finds 0 nvme0n1 weir-not-built
echo "$model wbps=1742780862 wseqiops=425702 wrandiops=4431930" >"$cg/io.cost.model"
check "a digit too many" finds 0 nvme0n1 iocost-model weir-not-built
check "which coefficients" says iocost-model '4431930 random writes a second against 425702'
sed -i 's/rbps=3102524156/rbps=0/' "$cg/io.cost.model"
check "a coefficient of 0" finds 0 nvme0n1 iocost-model weir-not-built
sed -i 's/rbps=0/rbps=3102524156/; s/rrandiops=778122/rrandiops=370/; s/4431930/443193/' \
	"$cg/io.cost.model"
check "a spinning disk's model on flash" finds 0 nvme0n1 iocost-model weir-not-built
sed -i 's/rrandiops=370/rrandiops=778122/; s/ctrl=user/ctrl=auto/' "$cg/io.cost.model"
check "the built-in model" finds 0 nvme0n1 iocost-auto weir-not-built
sed -i 's/pct=95.00/pct=0.00/g' "$cg/io.cost.qos"
check "no latency to keep" finds 0 nvme0n1 iocost-auto iocost-no-target weir-not-built
echo '259:0 rbytes=81920000 wbytes=0 rios=20000 wios=0 dbytes=0 dios=0 cost.vrate=50.00' \
	>"$cg/io.stat"
check "the model's correction at its end" finds 0 nvme0n1 iocost-vrate iocost-auto \
	iocost-no-target weir-not-built
check "that is, slower" says iocost-vrate 'slower'
set_queue nvme0n1 scheduler "$bfq"
check "iocost above bfq" finds 0 nvme0n1 two-controllers iocost-vrate iocost-auto iocost-no-target \
	weir-not-built

# ---- siblings ----

host
disk sda 8:0 scheduler "$bfq"
group a io.bfq.weight 'default 200'
did a 8:0 40960
check "a weight without a sibling" finds 0 sda weight-alone weir-not-built
group b io.bfq.weight 'default 200'
did b 8:0 40960
check "two alike" finds 0 sda weights-equal weir-not-built
set_group b io.bfq.weight 'default 300' io.stat ''
check "the other never did I/O" finds 0 sda weights-idle weir-not-built
printf 'default 300\n8:0 200\n' >"$cg/b/io.bfq.weight"
did b 8:0 40960
check "a line for the disk overrides" finds 0 sda weights-equal weir-not-built
printf 'default 300\n8:16 200\n' >"$cg/b/io.bfq.weight"
check "one for another disk does not" finds 0 sda weir-not-built

# ---- weir ----

host
loaded
disk nullb0 252:0 scheduler "$weir_list" wbt_lat_usec 2000 iosched/policy 'noop deadline tpps [weir]'
group a io.weir.weight 'default 800' io.weir.low '252:0 rbps=1000000 wbps=0 riops=0 wiops=0'
group b io.weir.weight 'default 100' io.weir.latency '252:0 target=5000'
did a 252:0 4096
did b 252:0 4096
check "weir, and write-back throttling" finds 0 nullb0 wbt-active
set_queue nullb0 wbt_lat_usec 0
check "weir, and nothing to say" finds 0 nullb0
check "that is said" grep -q '^No setting without effect; 0 warnings, 0 notes.$' "$tmp/text"
set_queue nullb0 iosched/policy 'noop deadline [tpps] weir'
check "a policy without floors and latencies" finds 1 nullb0 weir-policy-lacks weir-policy-lacks
set_queue nullb0 iosched/policy '[noop] deadline tpps weir'
check "a policy without weights" finds 1 nullb0 weir-policy-lacks weir-policy-lacks weir-policy-lacks
check "choose the other" says weir-policy-lacks 'echo weir > /sys/block/nullb0/queue/iosched/policy'
set_queue nullb0 scheduler '[none] mq-deadline weir'
check "weir's files without weir" finds 1 nullb0 weir-setting-unread weir-setting-unread \
	weir-setting-unread weir-not-chosen
check "choose it" says weir-setting-unread 'echo weir > /sys/block/nullb0/queue/scheduler'
check "a line of weir's for all" says weir-setting-unread 'io.weir.weight is set in /a,'
rmdir "$root/sys/module/weir"
mkdir -p "$root/lib/modules/6.12.1/updates/dkms"
: >"$root/lib/modules/6.12.1/updates/dkms/weir.ko.xz"
rm -r "$cg/a" "$cg/b"
check "installed, not loaded" finds 0 nullb0 weir-not-loaded
mkdir -p "$root/sys/kernel/security"
echo 'none [integrity] confidentiality' >"$root/sys/kernel/security/lockdown"
check "locked down" finds 0 nullb0 weir-refused weir-not-loaded
echo '[none] integrity confidentiality' >"$root/sys/kernel/security/lockdown"
mkdir -p "$root/sys/module/module/parameters"
echo Y >"$root/sys/module/module/parameters/sig_enforce"
check "signatures enforced" finds 0 nullb0 weir-refused weir-not-loaded
echo 1 >"$root/proc/sys/kernel/modules_disabled"
check "no modules at all" says_first weir-refused modules_disabled
mv "$root/lib/modules/6.12.1" "$root/lib/modules/6.1.9"
rm "$root/proc/sys/kernel/modules_disabled" "$root/sys/module/module/parameters/sig_enforce"
check "built for another kernel" finds 0 nullb0 weir-other-kernel
mv "$root/lib/modules/6.1.9/updates/dkms/weir.ko.xz" "$root/lib/modules/6.1.9/updates/dkms/weird.ko.xz"
check "another module is not ours" finds 0 nullb0 weir-not-built

# ---- partitions and stacks ----

host
disk sda 8:0 scheduler "$bfq"
partition sda sda1 8:1
group a
check "a partition" finds 0 sda1 partition weir-not-built
check "its disk is named" says partition 'Name the whole disk: 8:0.'
check "the disk is where requests are scheduled" holds \
	'[n["name"] for n in j["stack"] if n["schedules"]] == ["sda"]'
set_group a io.max '8:1 rbps=1000000 wbps=max riops=max wiops=max'
check "a ceiling on a partition" finds 1 sda1 setting-on-partition partition weir-not-built
check "the same from the disk" finds 1 sda setting-on-partition weir-not-built
check "on the disk instead" says setting-on-partition \
	"echo '8:0 rbps=1000000 wbps=max riops=max wiops=max' > /sys/fs/cgroup/a/io.max"
set_group a io.max '8:0 rbps=1000000 wbps=max riops=max wiops=max'
check "a ceiling on the disk" finds 0 sda weir-not-built

host
disk sda 8:0 scheduler "$bfq"
disk sdb 8:16
partition sda sda2 8:2
mapping dm-0 253:0 crypt CRYPT-LUKS2-0 sda2
mapping dm-1 253:1 vg-root LVM-abc dm-0 sdb
ln -s ../dm-1 "$root/dev/vg-root"
check "lvm over luks over two disks" finds 0 /dev/vg-root stacked weir-not-built
check "requests are scheduled on" says stacked 'schedulers and weights act on sdb (8:16) and sda (8:0)'
check "the stack, in order" holds '[(n["name"], n["under"]) for n in j["stack"]] ==
	[("dm-1", None), ("dm-0", "dm-1"), ("sdb", "dm-1"), ("sda2", "dm-0"), ("sda", "sda2")]'
check "the mappings are named" grep -q 'dm-0 (253:0, crypt, CRYPT)' "$tmp/text"
two_weights io.bfq.weight 8:0
check "weights count on one of the two" finds 0 dm-1 leaves-differ stacked weir-not-built
check "which" says leaves-differ 'sdb has none, sda has bfq'
printf 'default 200\n253:1 300\n' >"$cg/a/io.bfq.weight"
check "a weight on the mapping" finds 1 dm-1 setting-on-stacked leaves-differ stacked weir-not-built
set_group a io.bfq.weight 'default 200' io.latency '253:1 target=1000'
check "a latency target on the mapping" finds 1 dm-1 setting-on-stacked leaves-differ stacked \
	weir-not-built
set_group a io.latency '' io.max '253:1 rbps=1000 wbps=max riops=max wiops=max'
check "a ceiling on the mapping works" finds 0 dm-1 leaves-differ stacked weir-not-built
set_queue sda scheduler '[none] bfq'
printf 'default 200\n8:0 300\n' >"$cg/a/io.bfq.weight"
check "from the other disk, sda's line is none of its affair" finds 1 sdb bfq-weight-unread weir-not-built
check "only the lines for all" says bfq-weight-unread 'in /a and /b'

host
disk sda 8:0
disk sdb 8:16
bare md0 9:0
mkdir "$root/sys/devices/md0/md"
echo raid1 >"$root/sys/devices/md0/md/level"
over md0 sda sdb
check "a mirror" finds 0 md0 stacked weir-not-built
echo raid5 >"$root/sys/devices/md0/md/level"
check "parity" finds 0 md0 stacked md-parity weir-not-built

host
disk loop0 7:0
mkdir "$root/sys/devices/loop0/loop"
echo '/srv/disk image' >"$root/sys/devices/loop0/loop/backing_file"
check "a loop device" finds 0 loop0 loop-file weir-not-built
bare zram0 252:1
group a io.weight 'default 200'
check "zram, and a weight" finds 1 zram0 io-weight-unread no-elevator
check "nothing can help" says io-weight-unread 'No controller of weights can act on zram0'

host
bare nvme0n1 259:0
disk nvme0c0n1 -
disk nvme0c1n1 -
disk nvme0c1n12 -
group a io.bfq.weight 'default 100'
printf 'default 100\n259:0 200\n' >"$cg/a/io.bfq.weight"
check "nvme over two paths" finds 1 nvme0n1 setting-on-stacked multipath weir-not-built
check "its paths and no others" holds '[n["name"] for n in j["stack"]] ==
	["nvme0n1", "nvme0c0n1", "nvme0c1n1"]'

host
disk mmc!0 179:0
printf 'DEVNAME=mmc/0\n' >"$root/sys/devices/mmc!0/uevent"
check "a name with a slash, by number" finds 0 179:0 weir-not-built

# ---- the hierarchy ----

v1='33 32 0:28 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio'
host
disk sda 8:0
echo "$v1" >"$root/proc/self/mountinfo"
mkdir -p "$cg/blkio/a"
echo 200 >"$cg/blkio/a/blkio.bfq.weight"
echo '8:0 1048576' >"$cg/blkio/a/blkio.throttle.read_bps_device"
check "version 1" finds 1 sda bfq-weight-unread cgroup-v1 weir-not-built
# As the kernel writes it.
printf 'default 200\n8:0 300\n' >"$cg/blkio/a/blkio.bfq.weight_device"
set_queue sda scheduler "$bfq"
check "version 1, bfq" finds 0 sda weight-alone cgroup-v1 weir-not-built
mkdir "$cg/blkio/b"
printf 'default 300\n' >"$cg/blkio/b/blkio.bfq.weight_device"
echo 300 >"$cg/blkio/b/blkio.bfq.weight"
check "version 1: the device's weight overrides" finds 0 sda cgroup-v1 weights-equal weir-not-built
rm -r "$cg/blkio/b" "$cg/blkio/a/blkio.bfq.weight_device"
set_queue sda scheduler "$deadline"
finds 1 sda bfq-weight-unread cgroup-v1 weir-not-built >"$tmp/log"
check "what was set" holds 'j["cgroups"]["lines_set"] == {"blkio.bfq.weight": 1,
	"blkio.throttle.read_bps_device": 1}'
echo '34 32 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw' >>"$root/proc/self/mountinfo"
check "hybrid" finds 1 sda bfq-weight-unread cgroup-hybrid weir-not-built
: >"$root/proc/self/mountinfo"
check "no cgroups" finds 0 sda cgroup-none weir-not-built

host
disk sda 8:0
group a
echo 'cpu memory pids' >"$cg/cgroup.subtree_control"
rm "$cg"/a/io.*
check "io not enabled below the root" finds 0 sda io-not-enabled weir-not-built
check "enable it" says io-not-enabled 'echo +io > /sys/fs/cgroup/cgroup.subtree_control'
echo 'cpu memory pids' >"$cg/cgroup.controllers"
check "io not there" says_first io-not-enabled 'not available'

host
disk sda 8:0
group system.slice
group system.slice/db.service
rm "$cg"/system.slice/db.service/io.*
check "io not enabled further down" finds 0 sda io-not-below weir-not-built
check "by hand" says io-not-below 'echo +io > /sys/fs/cgroup/system.slice/cgroup.subtree_control'
mkdir -p "$root/run/systemd/system"
finds 0 sda io-not-below weir-not-built >"$tmp/log"
check "with systemd" says io-not-below 'IOAccounting=yes'
printf 'populated 0\n' >"$cg/system.slice/db.service/cgroup.events"
check "nobody is in there" finds 0 sda weir-not-built
printf 'io\n' >"$cg/system.slice/cgroup.subtree_control"
check "io without memory" finds 0 sda writeback-no-memory weir-not-built

host
disk sda 8:0
group a
rm "$cg/a/io.latency"
check "a kernel without io.latency" finds 0 sda kernel-lacks weir-not-built
check "which files, and why" says kernel-lacks \
	"no io.latency (CONFIG_BLK_CGROUP_IOLATENCY), io.low (gone since 6.10)."
: >"$cg/a/io.latency"
: >"$cg/cgroup.events"
check "in a container" finds 0 sda part-of-host weir-not-built

host
disk sda 8:0 scheduler "$deadline"
group a io.prio.class restrict-to-be io.low '8:0 rbps=1000000 wbps=max riops=max wiops=max'
check "io.low without its other half" finds 1 sda io-low-incomplete weir-not-built
set_group a io.low '8:0 rbps=1000000 wbps=max riops=max wiops=max idle=1000 latency=100'
check "io.low, whole" finds 0 sda weir-not-built
set_queue sda scheduler '[none] mq-deadline'
check "a priority that nobody looks at" finds 1 sda prio-unread weir-not-built

# ---- the root, and write-back ----

host
disk sda 8:0
partition sda sda1 8:1
mapping dm-0 253:0 data CRYPT-LUKS2-1 sda1
group a
mounted 253:0 /data ext4 /dev/mapper/data rw
mounted 0:44 /pool btrfs /dev/sda1 rw,space_cache
mounted 8:1 /boot vfat /dev/sda1 rw
mounted 8:1 '/other\040boot' vfat /dev/sda1 rw
mounted 8:17 /elsewhere vfat /dev/sdb1 rw
mounted 8:1 /cd iso9660 /dev/sda1 ro
check "a file system without owners" finds 0 sda writeback-to-root weir-not-built
check "which" says writeback-to-root 'vfat does not tell'
mounted 253:0 /journal ext4 /dev/mapper/data rw,data=journal
check "ext4 with data=journal" finds 0 sda writeback-to-root writeback-to-root weir-not-built
check "the same from the mapping" finds 0 dm-0 writeback-to-root stacked weir-not-built

host
disk sda 8:0
group a
mkdir -p "$root/proc/7" "$root/proc/8"
printf '7\n8\n9\n' >"$cg/cgroup.procs"
printf '/usr/bin/postgres\0-D\0' >"$root/proc/7/cmdline"
echo postgres >"$root/proc/7/comm"
: >"$root/proc/8/cmdline"
echo kworker >"$root/proc/8/comm"
check "a process in the root" finds 0 sda root-tasks weir-not-built
check "which" says root-tasks '1 process is in the root cgroup (postgres)'
echo '8:0 rbytes=8589934592 wbytes=0 rios=9 wios=0 dbytes=0 dios=0' >"$cg/io.stat"
did a 8:0 1073741824
check "most I/O is the root's" finds 0 sda root-tasks root-io weir-not-built
check "how much" says root-io '87 %'

# ---- names ----

page()
{
	sed -n 's/^\.It Cm \([a-z0-9-]*\)$/\1/p' "$source_dir/docs/man/weir-doctor.1" | sort >"$tmp/page"
	"$weir" doctor --list | awk '{print $2}' | sort >"$tmp/list"
	[ "$(wc -l <"$tmp/list")" -ge 40 ] && diff "$tmp/list" "$tmp/page"
}
check "weir-doctor(1) has each finding" page

# Each name is found on some host above.
all_tried()
{
	for id in $("$weir" doctor --list | awk '{print $2}'); do
		grep -qw -e "$id" "$source_dir"/tests/test_doctor*.sh || { echo "$id"; return 1; }
	done
}
check "each finding has a host in these tests" all_tried
finish
