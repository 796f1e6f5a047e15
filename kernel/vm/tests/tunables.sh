# SPDX-License-Identifier: GPL-2.0-only
# queue/iosched/: a file for each tunable of the policy, and the disk's profile.
. /tmp/lib.sh

disk irqmode=0
S=$Q/iosched

# refused ERRNO VALUE FILE: by that name
refused() {
	! /bin/echo "$2" 2>/tmp/why >$S/$3 && grep -q "$1" /tmp/why
}
EINVAL='Invalid argument'
ERANGE='range'

# Names that the table has, and the files that there are beside the fixed ones.
listed() {
	cut -d= -f1 $S/tunables | sort
}
present() {
	ls $S | grep -vxE 'policy|tunables|profile|contexts|stats_reset' | sort
}
# A number, or the name in brackets.
value_of() {
	sed 's/.*\[\(.*\)\].*/\1/' $S/$1
}
# Of the policy of the moment: a file for each line and no other, with the line's value; whole lines.
agree() {
	[ "$(listed)" = "$(present)" ] || { echo "# listed:" $(listed) "# present:" $(present); return 1; }
	[ -z "$(tail -c 1 $S/tunables | tr -d '\n')" ] || return 1
	while read -r line; do
		name=${line%%=*}
		value=${line#*=}
		[ "$(value_of $name)" = "${value%% *}" ] || { echo "# $line, but $(cat $S/$name)"; return 1; }
	done <$S/tunables
}

for p in $(policies); do
	echo $p >$S/policy
	ok "$p: a file for each of its tunables, and no other" agree
done
echo deadline >$S/policy
ok "deadline has tunables" test "$(present | wc -l)" -ge 4
echo noop >$S/policy
ok "noop has none" test -z "$(present)"
echo weir >$S/policy
ok "a line tells value, unit, range, default and what it is for" \
	grep -qE '^floor_percent=94 % 1-99 default=94 [a-z]+ ' $S/tunables

ok "a number is taken" sh -c "echo 8 >$S/async_every && grep -qx 8 $S/async_every && grep -q ^async_every=8 $S/tunables"
ok "words are refused" refused "$EINVAL" eight async_every
ok "nothing is refused" refused "$EINVAL" "" async_every
ok "a number and more is refused" refused "$EINVAL" "8 9" async_every
ok "below its range it is refused" refused "$ERANGE" 0 floor_percent
ok "above its range it is refused" refused "$ERANGE" 100 floor_percent
ok "more than 64 bits are refused" refused "$ERANGE" 99999999999999999999 floor_percent
ok "and nothing changed" test "$(cat $S/floor_percent)" = 94
ok "the list is read only" sh -c "! echo async_every=9 >$S/tunables" 2>/dev/null
ok "an unknown policy changes nothing" sh -c "! echo nonsense >$S/policy; test \$(cat $S/async_every) = 8" 2>/dev/null
echo weir >$S/policy
ok "chosen anew, a policy has its defaults" test "$(cat $S/async_every)" = 16

# ---- a choice ----
echo efq >$S/policy
ok "a choice shows its names" grep -qx '\[noop\] deadline anticipatory' $S/leaf
ok "and the list too" grep -qE '^leaf=noop choice noop\|deadline\|anticipatory default=noop [a-z]+ ' $S/tunables
ok "a name is taken" sh -c "echo deadline >$S/leaf && grep -qx 'noop \[deadline\] anticipatory' $S/leaf && grep -q ^leaf=deadline $S/tunables"
for bad in cfq Deadline deadlin "deadline noop" 1 ""; do
	ok "'$bad' is refused" refused "$EINVAL" "$bad" leaf
done
ok "and nothing changed" grep -q '\[deadline\]' $S/leaf
dd if=/dev/$D of=/dev/null bs=4k count=20000 iflag=direct status=none &
reads=$!
n=0
while kill -0 $reads 2>/dev/null && [ $n -lt 60 ]; do
	n=$((n + 1))
	for leaf in noop deadline anticipatory; do
		echo $leaf >$S/leaf
	done
done
wait $reads
ok "it changes under load" test $? = 0
echo weir >$S/policy

# Readers and writers of what comes and goes, while it does; two writers of the policy; and the
# directory with all that goes too.
hammer() {
	while [ ! -e /tmp/stop ]; do
		for f in $S/*; do
			cat $f >/dev/null
			echo 1 >$f
		done
	done 2>/dev/null
}
switch() {
	while [ ! -e /tmp/stop ]; do
		for p in "$@"; do
			echo $p >$S/policy
		done
	done 2>/dev/null
}
hammer &
hammer &
switch $(policies) &
switch weir deadline &
n=0
until [ $n -ge 40 ]; do
	n=$((n + 1))
	sleep 0.2
	[ $((n % 4)) -ne 0 ] || { echo none >$Q/scheduler; echo weir >$Q/scheduler; }
done
touch /tmp/stop
wait
ok "after a storm of changes" agree
echo none >$Q/scheduler
ok "without weir there are no files" test ! -e $S/policy
echo weir >$Q/scheduler
ok "and with it again those of weir" agree

# ---- profile ----
one='rbps=488636629 rseqiops=8932 rrandiops=8518 wbps=427891549 wseqiops=28755 wrandiops=21940'
auto=$(cat $S/profile)
ok "a default profile" sh -c "grep -q '^ctrl=auto model=linear rbps=[0-9]* .*rotational=0$' $S/profile"
ok "a profile is taken, and read back" \
	sh -c "echo $one >$S/profile && grep -qx 'ctrl=user model=linear $one rotational=0' $S/profile"
ok "a line of io.cost.model" sh -c "echo 8:16 ctrl=user model=linear $one >$S/profile && grep -q '$one' $S/profile"
ok "what it shows can be written" sh -c "x=\$(cat $S/profile); echo \"\$x\" >$S/profile && [ \"\$x\" = \"\$(cat $S/profile)\" ]"
printf '# of a laptop, rbps=1\nrbps=488636629 rseqiops=8932 rrandiops=8518\nwbps=427891549 wseqiops=28755 wrandiops=21940\nlatency_us=180 # idle\nrlat=900\n' >/tmp/laptop
ok "a file with comments" sh -c "cat /tmp/laptop >$S/profile && grep -qx 'ctrl=user model=linear $one latency_us=180 rotational=0' $S/profile"
ok "what is not used is said" sh -c "dmesg | grep -q '$D: profile: rlat .*not used'"
ok "a key too few is refused" refused "$EINVAL" "${one% *}" profile
ok "and named" sh -c "dmesg | grep -q '$D: profile: wrandiops is missing'"
ok "a key twice is refused" refused "$EINVAL" "$one rbps=488636629" profile
ok "an unknown key is refused" refused "$EINVAL" "$one speed=9" profile
ok "a word is refused" refused "$EINVAL" "$one fast" profile
ok "a value that is no number is refused" refused "$EINVAL" "rbps=much $one" profile
ok "0 is refused" refused "$ERANGE" "rbps=0 ${one#* }" profile
ok "and its range told" sh -c "dmesg | grep -q '$D: profile: 0: rbps must be from 65536 to 1000000000000'"
ok "nothing of that is in force" grep -q "$one latency_us=180" $S/profile
ok "rotational" sh -c "echo $one rotational=1 >$S/profile && grep -q 'rotational=1$' $S/profile"
echo 64 >$Q/nr_requests
ok "it outlives a change of nr_requests" grep -q "^ctrl=user .*$one rotational=1$" $S/profile
echo tpps >$S/policy
ok "and of the policy" grep -q "$one rotational=1$" $S/profile
echo weir >$S/policy
ok "default" sh -c "echo default >$S/profile && [ \"$auto\" = \"\$(cat $S/profile)\" ]"
echo 1 >$Q/rotational
ok "a disk with an arm has another default" sh -c "echo default >$S/profile && grep -q '^ctrl=auto .*rrandiops=200 .*rotational=1$' $S/profile"
echo 0 >$Q/rotational
echo default >$S/profile

# In force at once: a request's price is what its group is charged.
groups a
# charged PROFILE: device time of 100 random reads, in us
charged() {
	echo "$1" >$S/profile
	before=$(stat_of device_us)
	(
		echo 0 >$C/a/cgroup.procs
		exec fio --name=a --filename=/dev/$D --ioengine=psync --direct=1 --bs=4k --rw=randread \
			--number_ios=100 --norandommap --output=/dev/null >/dev/null 2>&1
	)
	echo $(($(stat_of device_us) - before))
}
stat_of() {
	tr ' ' '\n' <$C/a/io.weir.stat | awk -F= -v key=$1 '$1 == key && !seen++ {n = $2} END {print n + 0}'
}
slow=$(charged "rbps=500000000 rseqiops=1000 rrandiops=1000 wbps=500000000 wseqiops=1000 wrandiops=1000")
fast=$(charged "rbps=500000000 rseqiops=100000 rrandiops=100000 wbps=500000000 wseqiops=1000 wrandiops=1000")
echo "# 100 reads: $slow us at 1000 a second, $fast us at 100000"
ok "a read costs what the profile says" within $slow 99000 110000
ok "and another when that changes" within $fast 990 1500
finish
