#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What a hostile user types. Bad input: exit status 2, one line on stderr that names the place, the
# value and what would be accepted, nothing on stdout. Input that is only large runs, in time. What
# is not in force is said.
set -u

source_dir=${WEIR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
weir=${WEIR:-$source_dir/build/weir}
. "$source_dir/tests/tap.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

head='[a]\nfilename=/dev/x\ndirect=1\n'
short='time_based\nruntime=1ms\n'

# fails PATTERN ARGUMENT...: as above; stderr has the pattern and no control characters.
fails()
{
	pattern=$1
	shift
	"$weir" "$@" >out 2>err </dev/null
	got=$?
	head -c 600 err
	[ "$got" -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -q -e "$pattern" err &&
		! tr -d '\n' <err | LC_ALL=C grep -q '[[:cntrl:]]'
}

# runs PATTERN ARGUMENT...: status 0, the pattern in the output, nothing on stderr.
runs()
{
	pattern=$1
	shift
	timeout 100 "$weir" "$@" >out 2>err </dev/null || { head -c 600 err; return 1; }
	head -c 2000 out
	[ ! -s err ] && grep -q -e "$pattern" out
}

# job PATTERN TEXT: a job file that is refused; groups, profile: the same of other files.
job()
{
	printf "$2" >job.fio
	check "job: $(printf '%.40s' "$1")" fails "^weir sim: job.fio:$1" sim job.fio --device null
}

groups()
{
	printf "$2" >groups.ini
	check "groups: $(printf '%.40s' "$1")" fails "^weir sim: groups.ini:$1" \
		sim one.fio --device null --groups groups.ini
}

profile()
{
	printf "$2" >disk.profile
	check "profile: $(printf '%.40s' "$1")" fails "^weir curve: disk.profile:$1" \
		curve --device profile:disk.profile
}

printf "${head}rw=randread\n$short" >one.fio
printf '[g]\nio.weight = 200\n' >good.ini

# ---- the command line ----

line='with
line end'
escape=$(printf 'with \033[31m escape')
long=$(head -c 100000 /dev/zero | tr '\0' x)

# typed PATTERN ARGUMENT...
typed()
{
	check "typed: $(printf '%.60s' "$2 ${3-} ${4-}" | tr '\n\033' '??')" fails "$@"
}

for value in "$line" "$escape" "$long"; do
	typed 'accepted are noop' sim one.fio --policy "$value"
	typed 'accepted is tunable=value' sim one.fio --policy "weir:$value=1"
	typed 'accepted is 0 or 1' sim one.fio --policy "weir:adapt=$value"
	typed 'no such model; there are' sim one.fio --device "$value"
	typed 'no such option; there are' sim one.fio --device "null:$value=1"
	typed 'a whole number from 1 to' sim one.fio --device "null:latency_us=$value"
	typed 'accepted' sim one.fio --host "$value=1"
	typed 'accepted' sim one.fio --host "plug=$value"
	typed 'accepted is a time from 1ns' sim one.fio --runtime "$value"
	typed 'accepted is a whole number' sim one.fio --seed "$value"
	typed 'name of a job section is accepted' sim one.fio --section "$value"
	typed 'no such option; there are --device' sim one.fio "--$value"
	typed 'accepted ' sim "builtin:$value"
	typed 'accepted' sim "builtin:interleave:threads=$value"
	typed 'accepted are noop' policies "$value"
	typed 'no such model; there are' devices "$value"
	typed '--bs must be' curve --device null --bs "$value"
	typed '--rw must be' curve --device null --rw "$value"
	typed '--seed must be' curve --device null --seed "$value"
	typed 'cannot be read' rerun "$value"
	typed 'no such command; there are sim' "$value"
done

typed 'no job file given' sim
typed 'accepted are noop' sim one.fio --policy noop,
typed '(empty): accepted are' sim one.fio --policy ''
typed 'adapt (no value): accepted is' sim one.fio --policy weir:adapt
# A choice goes by its names, as they are, and by nothing else.
for value in '' cfq Deadline deadlin 'deadline ' 1; do
	typed "leaf=$value: accepted is noop, deadline or anticipatory" \
		sim one.fio --policy "efq:leaf=$value"
done
typed 'congestion=v7: accepted is v8 or v9' sim one.fio --policy efq:congestion=v7
typed 'nr_group_requests=3: accepted is a whole number, from 4 to 65536' \
	sim one.fio --policy efq:nr_group_requests=3
typed 'from 0 to 10s' sim one.fio --policy weir:depth_us=11s
typed 'from 0 to 10s' sim one.fio --policy weir:depth_us=18446744073709551616
typed 'latency_us is given twice' sim one.fio --device null:latency_us=1:latency_us=2
typed 'neither a file nor built in; built in are' sim one.fio --device profile:nosuch
typed 'accepted is a whole number, from 1 to 128' sim one.fio --host plug=129
typed 'charge=nobody: accepted is root|dirtier' sim one.fio --host charge=nobody
typed 'read_ahead=5k: accepted is a multiple of 4k' sim one.fio --host read_ahead=5k
typed 'dirty=2g: accepted is .* up to 1g' sim one.fio --host dirty=2g
typed 'copy=0: accepted is .* from 1ns to 1ms' sim one.fio --host copy=0
typed 'dirty_background=1g: accepted is less' sim one.fio --host dirty_background=1g
typed 'accepted is a time from 1ns to 1000000s' sim one.fio --runtime 1000001
typed 'accepted is a time from 1ns to 1000000s' sim one.fio --runtime 0
for seed in -1 x '' 1e3 0x10 9223372036854775808 18446744073709551616; do
	typed 'below 2^63' sim one.fio --seed "$seed"
	typed 'below 2^63' curve --device null --seed "$seed"
done
typed 'accepted is one file' sim one.fio --groups good.ini --groups good.ini
typed 'accepted with one policy and one device' sim one.fio --policy all --record x
typed '(empty): accepted is the name' sim one.fio --record ''
typed 'multiple of 512 bytes up to 1g' curve --device null --bs 18014398509481985k
typed 'multiple of 512 bytes up to 1g' curve --device null --bs 100
typed 'needs a value: --device=DEVICE' curve --device
typed 'is needed' curve
typed 'no argument is accepted' curve ssd
typed 'takes no value' curve --json=1
typed 'one device is accepted' devices ssd hdd
typed 'accepted is one name' policies noop weir
typed 'no recording given' rerun
typed 'one of them is accepted' rerun --json --verbose x
for command in sim policies devices curve rerun; do
	typed 'no such option; there are --' "$command" --usage
	check "help of $command" runs "Usage: weir $command" "$command" --help
done

# ---- job files ----

job '1: \[a: ' '[a'
job '1: size=1m: options are accepted behind' 'size=1m\n'
job '1: a: a job needs size=' '[a]\n'
job '4: a NUL byte: text is accepted' '[a]\nfilename=/dev/x\nsize=4m\n\0bs=4k\n'
job '1: a\\x01b: ' '[a\001b]\nsize=1m\n'
job '4: iodepth=0: a whole number from 1 to 65536' "${head}iodepth=0\n"
job '4: iodepth=100000: a whole number' "${head}iodepth=100000\n"
job '4: numjobs=100000: a whole number' "${head}numjobs=100000\n"
job '4: bs=0: ' "${head}bs=0\n"
job '4: bs=2g: ' "${head}bs=2g\n"
job '4: runtime=99999999999999999999: a time' "${head}runtime=99999999999999999999\n"
job '4: runtime=-1: a time' "${head}runtime=-1\n"
job '4: rw=sideways: read, write' "${head}rw=sideways\n"
job '4: ioengine=nosuch: the name of an engine' "${head}ioengine=nosuch\n"
job '1: \[a\] .*multiples of 512, and 1000 is none' "${head}bs=1000\n"
job '4: verify_fatal=x: 0 or 1' "${head}verify_fatal=x\n"
job '4: io_submit_mode=late: one of inline' "${head}io_submit_mode=late\n"
job '4: cgroup=../a: a path without' "${head}cgroup=../a\n"
job '4: cgroup=a//b: a path without' "${head}cgroup=a//b\n"
job '4: .*at most 32 deep' "${head}cgroup=$(seq -s/ 33)\n"
job '4: cgroup_weight=0: .*from 1 to 10000' "${head}cgroup_weight=0\n"
job '4: cgroup_weight=10001: .*from 1 to 10000' "${head}cgroup_weight=10001\n"
job '9: cgroup_weight=200: one weight .* job.fio:5 gives' \
	"${head}cgroup=g\ncgroup_weight=100\n[b]\nsize=1m\ncgroup=g\ncgroup_weight=200\n"
job '4: wait_for=b: the name of a job above' "${head}wait_for=b\n[b]\nsize=1m\nwait_for=a\n"
job '4: \[a\] size 1099511627776 .*up to 1000000000000' "${head}size=1t\n"
job '3: a line of 9002 bytes' "[a]\nsize=1m\nx=$(head -c 9000 /dev/zero | tr '\0' x)\n"

printf 'include loop-b.inc\n' >loop-a.inc
printf 'include loop-a.inc\n' >loop-b.inc
printf '[a]\ninclude loop-a.inc\n' >loop.fio
check "an include loop" fails 'loop-b.inc:1: .*loop-a.inc' sim loop.fio

truncate -s 100M large.fio
check "100 MB" fails 'large.fio: .* a file of at most 8388608 bytes' sim large.fio
check "100 MB of groups" fails 'large.fio: .* at most 8388608' sim one.fio --groups large.fio
head -c 65536 "$weir" >binary.fio
check "binary rubbish" fails 'binary.fio:1: ' sim binary.fio
check "binary groups" fails 'binary.fio:1: ' sim one.fio --groups binary.fio
check "a binary profile" fails 'binary.fio:1: ' curve --device profile:binary.fio
check "no recording" fails 'binary.fio: block 0 .*not a recording of weir' rerun binary.fio
for device in /dev/zero /dev/full; do
	[ -e $device ] || continue
	check "$device as a job file" fails "$device" sim $device
	check "$device as groups" fails "$device" sim one.fio --groups $device
	check "$device as a profile" fails "$device:1: " curve --device profile:$device
	check "$device as a recording" fails "$device: block 0" rerun $device
done
check "a directory as a job file" fails ' \.: a directory' sim .
check "a directory as groups" fails ' \.: a directory' sim one.fio --groups .
check "a directory as a profile" fails ' \./: .*is accepted' curve --device profile:./
check "an empty file" fails 'there is no job in it' sim /dev/null
check "an empty recording" fails 'the file ends here' rerun /dev/null
check "a missing file" fails 'nosuch: No such file' sim nosuch
check "missing groups" fails 'nosuch: No such file' sim one.fio --groups nosuch
if [ "$(id -u)" -ne 0 ]; then
	cp one.fio secret.fio
	chmod 0 secret.fio
	check "an unreadable file" fails 'secret.fio: Permission denied' sim secret.fio
fi

# ---- groups ----

groups '1: io.weight: keys are accepted behind' 'io.weight = 5\n'
groups '2: weight: io.weight, ' '[g]\nweight = 5\n'
groups '2: io.weight=0: a weight from 1 to 10000' '[g]\nio.weight = 0\n'
groups '2: io.weight=10001: a weight' '[g]\nio.weight = 10001\n'
groups '4: io.weight=6: one value .* groups.ini:2 gives' '[g]\nio.weight = 5\n[/g]\nio.weight = 6\n'
groups '2: io.weight=5: the root has' '[/]\nio.weight = 5\n'
groups '2: io.max=rbps=0: a ceiling of 0 would stop' '[g]\nio.max = rbps=0\n'
groups '2: io.max=rbps=1k: a whole number' '[g]\nio.max = rbps=1k\n'
groups '2: io.max=rbps=18446744073709551615: a whole' '[g]\nio.max = rbps=18446744073709551615\n'
groups '2: io.max=speed=1: rbps=, wbps=' '[g]\nio.max = speed=1\n'
groups '2: io.low=rbps=max: a floor is a number' '[g]\nio.low = rbps=max\n'
groups '3: g: io.low above io.max' '[g]\nio.max = rbps=100\nio.low = rbps=200\n'
groups '4: g/h: io.low above .* at groups.ini:2' '[g]\nio.max = rbps=9\n[g/h]\nio.low = rbps=10\n'
groups '2: io.latency=target=0: target= is' '[g]\nio.latency = target=0\n'
groups '1: .*nested at most 32 deep' "[$(seq -s/ 33)]\n"
groups '2: io.\\x1bweight = 5: text without' '[g]\nio.\033weight = 5\n'

printf '[a]\nsize=1m\ncgroup=g\ncgroup_weight=100\n' >weighed.fio
check "a job and a groups file" fails 'good.ini:2: .* weighed.fio:4 gives another' \
	sim weighed.fio --groups good.ini

# ---- profiles ----

six='rbps=488636629 rseqiops=8932 rrandiops=8518 wbps=427891549 wseqiops=28755 wrandiops=21940'
profile '1: end: rbps is missing' ''
profile '2: 1: rbps must be a whole number from' '\nrbps=1\n'
profile '1: 1000000000000000000: rbps must be' 'rbps=1000000000000000000\n'
profile '1: colour: no such key; there are' "$six colour=red\n"
profile '1: 5: rbps is given twice' "$six rbps=5\n"
profile '1: 0: depth must be' "$six depth=0\n"
profile '1: .*flat JSON object' '{"rbps":'

# ---- where output can't go ----

if [ -e /dev/full ]; then
	full()
	{
		"$weir" "$@" >/dev/full 2>err
		[ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'cannot write the output' err
	}
	check "a full disk: sim" full sim one.fio --device null
	check "a full disk: sim --json" full sim one.fio --device null --json
	check "a full disk: policies" full policies
	check "a full disk: devices" full devices --json
	check "a full disk: curve" full curve --device null
	check "a full disk: help" full help
	check "a recording to a full disk" fails '/dev/full: cannot be written: No space' \
		sim one.fio --device null --record /dev/full
fi

closed()
{
	"$weir" sim one.fio --device null >&- 2>err
	[ $? -eq 2 ] && grep -q 'cannot write the output' err
}
check "a closed stdout" closed
check "a recording to a directory" fails '\.: cannot be written' sim one.fio --record .
check "a recording to nowhere" fails 'no/x: cannot be written' sim one.fio --record no/x
cp one.fio precious.fio
check "a recording over its job file" fails 'accepted is a file other than the input' \
	sim precious.fio --record ./precious.fio
check "... which is as it was" cmp one.fio precious.fio
check "a recording over its groups" fails 'accepted is a file other than the input' \
	sim one.fio --groups good.ini --record good.ini
printf "${head}size=1t\n" >beyond.fio
echo kept >kept.rec
check "a run that can't start" fails 'beyond.fio:4: ' sim beyond.fio --record kept.rec
check "... leaves the recording alone" grep -q '^kept$' kept.rec

# ---- large, small and odd, but right ----

printf "${head}ioengine=libaio\niodepth=65536\nrw=randread\n$short" >deep.fio
check "65536 deep" runs '^total' sim deep.fio --device null
printf "${head}numjobs=1000\niodepth=4\nioengine=libaio\nrw=randread\n$short" >many.fio
check "1000 jobs" runs '^(940 more jobs: --json has them)$' sim many.fio --device ssd
printf '[a]\nsize=64k\nrw=randwrite\nbs=1\nfsync=16\n' >bytes.fio
check "single bytes" runs '^total' sim bytes.fio --device ssd
printf "${head}bs=1g\nrw=write\nsize=2g\n" >blocks.fio
check "1 GiB at once" runs '^total' sim blocks.fio --device ssd
printf '[a]\nfilename=/dev/x\nrw=read:-8k\nbssplit=4k/50:64k/50\nruntime=10ms\n' >tail.fio
check "the end of a device that is no whole page" runs '^total' sim tail.fio --device ssd
printf "${head}size=16k\nrw=randread\nrate=1\n" >slow.fio
check "1 byte per second" runs '^weir on ssd, 16384s measured' sim slow.fio
printf "${head}size=16k\nrw=randread\nthinktime=1h\n" >pauses.fio
check "pauses of an hour" runs '^weir on ssd, 14400s measured' sim pauses.fio
check "1 ns" runs '^weir on ssd, 1ns measured' sim one.fio --runtime 1ns
printf "${head}cgroup=$(seq -s/ 32)\nrw=randread\n$short" >nested.fio
check "32 levels" runs '^total' sim nested.fio --device null
profile_text="rbps=65536 rseqiops=1 rrandiops=1 wbps=65536 wseqiops=1 wrandiops=1 latency_us=60000000"
echo "$profile_text" >slow.profile
check "a device of one command a minute" runs '^total' sim one.fio --device profile:slow.profile \
	--runtime 200
check "a controller of 1 ms" runs '^total' sim one.fio --device ssd:controller_ns=1000000
for seed in 0 9223372036854775807; do
	check "seed $seed" runs "\"seed\": $seed," sim one.fio --device null --json --seed $seed
done
check "no environment" env -i "$weir" sim one.fio --device null

# 10,000 groups 4 deep, with weights in the job file and limits in the groups file.
awk 'BEGIN {
	print "[global]\nfilename=/dev/x\ndirect=1\nrw=randread\nnorandommap\ntime_based\nruntime=20ms"
	for (i = 0; i < 10000; i++)
		printf "[j%d]\ncgroup=a%d/b%d/c%d/d%d\ncgroup_weight=%d\n", i, i / 1000, i / 100 % 10,
			i / 10 % 10, i % 10, 100 + i % 10
}' >groups.fio
awk 'BEGIN {
	for (i = 0; i < 10000; i++)
		printf "[a%d/b%d/c%d/d%d]\nio.max = riops=10000\nio.low = riops=1\n", i / 1000,
			i / 100 % 10, i / 10 % 10, i % 10
}' >groups.ini
check "10,000 groups" runs '^(11050 more groups: --json has them)$' sim groups.fio \
	--groups groups.ini --device nvme
check "... in a table of bounded length" test "$(wc -l <out)" -lt 200

# ---- what is not in force is said ----

cat >g.fio <<'JOB'
[global]
filename=/dev/x
direct=1
ioengine=libaio
rw=randread
time_based
runtime=300ms
[a]
iodepth=8
cgroup=g
cgroup_weight=300
prio=1
[b]
iodepth=64
JOB
printf '[g]\nio.low = riops=1000000\nio.latency = target=1\n[typo]\nio.weight = 9\n' >g.ini
check "weights, floors, targets" \
	runs 'under noop: weights (io.weight), floors (io.low), latency targets' \
	sim g.fio --groups g.ini --policy noop --device ssd
check "... whose fault it was" grep -q '^g: floor missed by .*which noop does not enforce' out
check "priorities" runs 'not in force under weir: I/O priorities$' sim g.fio --device ssd
check "a group that no job is in" runs 'no job is in typo: ' sim g.fio --groups g.ini --device ssd
check "a setting that the device lowers" \
	runs 'max_sectors=65536 is more than ssd takes: 1024 is in force' \
	sim one.fio --device ssd --host max_sectors=65536
printf "${head}randrepeat=0\nrate_cycle=10\nnosuchoption=1\n$short" >ignored.fio
check "options without effect" runs 'without effect in the lab: .*rate_cycle.*nosuchoption' \
	sim ignored.fio --device null
check "... and a note" grep -q '^note: ignored.fio:4: randrepeat=0 has no effect' out
printf "${head}size=64k\nramp_time=10\n" >ramp.fio
check "nothing measured" runs '^Nothing was measured: ' sim ramp.fio --policy noop,weir
check "... and nothing concluded" test "$(grep -c 'shortest\|amount of work' out)" -eq 0

# ---- output ----

name=$(head -c 200 /dev/zero | tr '\0' n)
printf "${head}cgroup=$name/$name\nrw=randread\n$short[$name]\nsize=1m\ncgroup=$name/x\n$short" >n.fio
narrow()
{
	runs '^total' sim n.fio --device ssd,null:latency_ns=7 \
		--policy weir:adapt=0:depth_us=100:async_every=7,noop &&
		awk -v name=n.fio 'length > 100 && $0 !~ /nnnnnnnnnn/ { print; bad = 1 } END { exit bad }' out
}
check "100 columns" narrow
check "one comparison a device" test "$(grep -c '^compared on ' out)" -eq 2
check "a policy's whole name" grep -q '^weir:adapt=0:depth_us=100:async_every=7$' out

printf '[a\377"b\\\\c]\nfilename=/dev/x\nsize=64k\ncgroup=g\376"x\\\\y\n' >odd.fio
valid_json()
{
	"$weir" "$@" >out && python3 -c 'import json, sys; json.load(open(sys.argv[1]))' out
}
check "JSON of odd names" valid_json sim odd.fio --device null --json
echo "$six" >"$(printf 'p\377.profile')"
check "JSON of an odd device" valid_json curve --device "profile:$(printf 'p\377.profile')" --json
check "... and its facts" valid_json devices "profile:$(printf 'p\377.profile')" --json
finish
