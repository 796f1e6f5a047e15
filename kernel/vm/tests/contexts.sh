# SPDX-License-Identifier: GPL-2.0-only
# A context for each process: it comes with the first I/O, follows group and priority, and goes with
# the process; also when the elevator is changed meanwhile.
. /tmp/lib.sh

insmod /tmp/m/bfq.ko
rmmod weir
insmod /tmp/m/weir.ko dyndbg=+p
disk irqmode=2 completion_nsec=100000
S=$Q/iosched
groups a b

# said PATTERN: in the kernel's log, since it was last asked
lines=0
said() {
	dmesg | tail -n +$((lines + 1)) >/tmp/log
	lines=$((lines + $(wc -l </tmp/log)))
	grep -q "$D: $1" /tmp/log || { grep "$D: " /tmp/log | head -5 | sed 's/^/# /'; return 1; }
}
# number N: of contexts; a process that has ended is waited for
number() {
	i=0
	while [ $i -lt 20 ]; do
		[ "$(cat $S/contexts)" -ne $1 ] || return 0
		i=$((i + 1))
		sleep 0.1
	done
	echo "# $(cat $S/contexts) contexts, not $1"
	return 1
}
# reader: reads a block for each line that it gets
reader() {
	exec python3 -c '
import mmap, os, sys
f = os.open("/dev/'$D'", os.O_RDWR | os.O_DIRECT)
b = mmap.mmap(-1, 4096)
for line in sys.stdin:
    word = line.strip()
    if word == "flush":
        fd = os.open("/dev/'$D'", os.O_RDWR | os.O_DIRECT | os.O_DSYNC)
        os.pwritev(fd, [b], 0)
    elif word == "group":
        open("/sys/fs/cgroup/b/cgroup.procs", "w").write("0")
    elif word == "idle":
        os.system("ionice -c3 -p %d" % os.getpid())
    os.preadv(f, [b], 0)
    open("/tmp/done", "w").write("x")
' </tmp/pipe
}
# tell WORD: and wait until it is done
tell() {
	rm -f /tmp/done
	echo "$1" >&3
	i=0
	until [ -e /tmp/done ] || [ $i -ge 100 ]; do
		i=$((i + 1))
		sleep 0.1
	done
	[ -e /tmp/done ]
}

ok "nobody read, there is none" number 0
mkfifo /tmp/pipe
(
	echo 0 >$C/a/cgroup.procs
	ionice -c2 -n6 -p $(exec sh -c 'echo $PPID')
	reader
) &
exec 3>/tmp/pipe
tell read
ok "a process that reads has one" number 1
ok "in its group, with its priority" said 'python3.*: context in group [1-9][0-9]*, ioprio 2/6'
tell read
ok "and keeps it" number 1
ok "no second one is made" sh -c "! dmesg | tail -n +$((lines + 1)) | grep -q '$D: python3.*: context'"
tell idle
ok "another priority is seen" said 'python3.*: ioprio 3/'
tell group
ok "and another group" said 'python3.*: moved to group'
tell flush
ok "a write with FUA needs no other" number 1
exec 3>&-
wait
ok "it goes with the process" number 0

dd if=/dev/zero of=/dev/$D bs=64k count=64 conv=fsync status=none
ok "nor does buffered writing leave one" number 0

# The log must not overflow, or the verdict on it means nothing.
echo 'module weir -p' >/proc/dynamic_debug/control

# A thousand short processes under each policy, eight at a time, with the elevator changed meanwhile.
nr_each=250
cat >/tmp/many.py <<'END'
import mmap, os, sys
disk, nr = sys.argv[1], int(sys.argv[2])
running, bad = 0, 0
for i in range(nr):
    if running == 2:
        bad += os.wait()[1] != 0
        running -= 1
    if os.fork() == 0:
        f = os.open(disk, os.O_RDWR | os.O_DIRECT)
        b = mmap.mmap(-1, 65536)
        os._exit(0 if all(os.preadv(f, [b], (i * 7 + k) << 16) == 65536 for k in range(3)) and
                 os.pwritev(f, [b], i << 16) == 65536 else 1)
    running += 1
while running:
    bad += os.wait()[1] != 0
    running -= 1
sys.exit(bad != 0)
END
many() {
	python3 /tmp/many.py /dev/$D $nr_each || echo failed >>/tmp/failed
}
for p in $(policies); do
	echo weir >$Q/scheduler
	echo $p >$S/policy
	many &
	one=$!
	many &
	two=$!
	(
		echo 0 >$C/a/cgroup.procs
		many
	) &
	three=$!
	(
		echo 0 >$C/b/cgroup.procs
		many
	) &
	four=$!
	rounds=0
	while kill -0 $one 2>/dev/null; do
		rounds=$((rounds + 1))
		case $((rounds % 4)) in
		0) echo none >$Q/scheduler ;;
		1) echo bfq >$Q/scheduler ;;
		esac
		echo weir >$Q/scheduler
		echo $p >$S/policy
		sleep 0.1
	done
	wait $one $two $three $four
	ok "$p: $((4 * nr_each)) processes and $rounds changes of the elevator: none is left" number 0
	ok "$p: and all of them read and wrote" test ! -e /tmp/failed
done

# One that stays while everything else changes around it.
(
	echo 0 >$C/a/cgroup.procs
	exec fio --name=stays --filename=/dev/$D --ioengine=libaio --iodepth=16 --direct=1 --rw=randrw \
		--bs=4k --norandommap --time_based --runtime=6 --output=/tmp/stays >/dev/null 2>&1
) &
stays=$!
while kill -0 $stays 2>/dev/null; do
	for p in tpps weir noop; do
		echo $p >$S/policy 2>/dev/null
	done
	echo none >$Q/scheduler
	echo weir >$Q/scheduler
	sleep 0.1
done
wait $stays
ok "a process that stays comes through" test $? = 0
ok "and leaves none" number 0

echo none >$Q/scheduler
ok "the module goes" rmmod weir
ok "and comes again" insmod /tmp/m/weir.ko
finish
