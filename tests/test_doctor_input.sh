#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# weir doctor with what it must not stumble over: devices that are none, files that may not be read,
# garbage where the kernel would write a value, links in circles, ten thousand cgroups.
set -u

source_dir=${WEIR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
weir=${WEIR:-$source_dir/build/weir}
. "$source_dir/tests/tap.inc"
. "$source_dir/tests/doctor_tree.inc"

# Many small files: memory is ten times as fast as a disk.
tmp=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

# fails TEXT ARGUMENT...: status 2, nothing on stdout, one line with the text on stderr.
fails()
{
	text=$1
	shift
	timeout 20 "$weir" doctor "$@" >out 2>err </dev/null
	got=$?
	cat err
	[ $got -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -qF -e "$text" err &&
		! tr -d '\n' <err | LC_ALL=C grep -q '[[:cntrl:]]'
}

# odd ID... on sda: as finds, in time.
odd() { finds 0 sda "$@"; }

# ---- the command line ----

host
disk sda 8:0
echo text >"$root/dev/file"
check "no device" fails 'a device is needed'
check "two devices" fails 'sdb: one device is accepted' sda sdb
check "no such option" fails 'no such option; there are --json' --fast sda
check "a root that isn't there" fails '--root=/nonexistent: No such file' --root=/nonexistent sda
check "a root that is a file" fails 'a directory is needed' --root=/dev/null sda
check "a root without a value" fails '--root: needs a value' sda --root
check "unknown name" fails 'floppy: no such device; DEV is a path, a name or MAJ:MIN' floppy
check "what there is instead" fails 'there are sda' --root="$root" sdb
check "an empty name" fails '(empty): no such device' ''
check "a directory" fails '/dev: is a directory' /dev
check "a directory in a copy" fails '/dev: is a directory' --root="$root" /dev
check "a character device" fails '/dev/null: is a character device' /dev/null
check "a regular file" fails 'is a regular file' "$weir"
check "a path to nowhere" fails 'No such file or directory' /dev/nonexistent
check "no such path in a copy" fails 'no such device' --root="$root" /dev/sdb
check "a file in a copy that names no disk" fails 'is a regular file' --root="$root" /dev/file
check "unknown number" fails '8:99: no block device has this number' --root="$root" 8:99
check "no number" fails '8:: no such device' --root="$root" 8:
check "a number and more" fails '8:0x: no such device' --root="$root" 8:0x
check "up and away" fails '..: no such device' --root="$root" ..
check "a name that is too long" fails 'no such device' "$(printf '%0300d' 0)"
check "a terminal's escape in a name" fails '\x1b[2Jsda' "$(printf '\033[2Jsda')"
ln -s circle "$root/dev/circle"
check "a link to itself" fails 'symbolic links' --root="$root" /dev/circle
check "help" "$weir" doctor --help
check "the list fits 100 columns" sh -c '! "$1" doctor --list | grep -E "^.{101}"' sh "$weir"

# ---- garbage ----

check "the host itself, for a start" odd weir-not-built
for value in '' none '[' ']' '[]' 'none mq-deadline' 'a [b] [c]' "$(printf '%05000d' 0)"; do
	set_queue sda scheduler "$value"
	doctor sda --json >json 2>err
	check "scheduler \"$(printf '%.20s' "$value")\"" sh -c '[ "$1" -eq 0 ] && python3 -m json.tool json' sh $?
done
check "is said" says unexpected queue/scheduler
set_queue sda scheduler '[none] bfq' nr_requests lots
check "no number" odd unexpected weir-not-built
check "which" says unexpected '"lots" is not a number'
set_queue sda nr_requests -1
check "a negative number" odd unexpected weir-not-built
set_queue sda nr_requests 99999999999999999999999
check "a number of 77 bits" odd unexpected weir-not-built
set_queue sda nr_requests 256
printf '[none]\0bfq\n' >"$root/sys/devices/sda/queue/scheduler"
check "a NUL" odd unexpected weir-not-built
check "is said" says unexpected 'has a NUL in it'
set_queue sda scheduler '[none] bfq'
head -c 3000000 /dev/zero | tr '\0' x >"$root/sys/devices/sda/queue/rotational"
check "a line of 3 MB" odd unexpected unexpected weir-not-built
check "is said" says unexpected 'longer than 4096 bytes'
set_queue sda rotational 0
group a io.weight 'default heavy' io.max '8:0 fast'
check "weights and ceilings of words" odd unexpected unexpected weir-not-built
check "file and value" says unexpected '/sys/fs/cgroup/a/io.weight: "default heavy"'
set_group a io.weight 'default 10001'
check "a weight that can't be" odd unexpected unexpected weir-not-built
group "$(printf 'b\033[2J')" io.max '8:0 rbps=x'
check "a cgroup with an escape in its name" odd unexpected unexpected unexpected weir-not-built
check "shown as text" sh -c '! LC_ALL=C tr -d "\n" <text | LC_ALL=C grep -q "[[:cntrl:]]" &&
	grep -qF "b\\x1b[2J" text'
rm -r "$cg"/a "$cg"/b*
echo 'nonsense' >>"$root/proc/self/mountinfo"
echo 'a b c - ' >>"$root/proc/self/mountinfo"
echo '1 2 8:0 - ext4' >>"$root/proc/self/mountinfo"
check "mounts that are none" odd unexpected weir-not-built
sed -i 1q "$root/proc/self/mountinfo"
rm "$root/sys/devices/sda/uevent"
check "no uevent: the name will do" odd weir-not-built
partition sda sda1 8:1
check "a partition of nothing" finds 0 sda1 unexpected
printf 'DEVNAME=sda\n' >"$root/sys/devices/sda/uevent"

# ---- links ----

ln -sf scheduler "$root/sys/devices/sda/queue/scheduler"
check "a file that links to itself" odd unexpected no-elevator
rm "$root/sys/devices/sda/queue/scheduler"
ln -s /etc/passwd "$root/sys/devices/sda/queue/scheduler"
check "a link out of the tree leads nowhere" odd no-elevator
rm "$root/sys/devices/sda/queue/scheduler"
ln -s ../../../../../../../../../../etc/passwd "$root/sys/devices/sda/queue/scheduler"
check "and so does a long way up" odd no-elevator
rm "$root/sys/devices/sda/queue/scheduler"
mkfifo "$root/sys/devices/sda/queue/scheduler"
check "a pipe that nobody writes to" timeout 20 "$weir" doctor --root="$root" sda
rm "$root/sys/devices/sda/queue/scheduler"
set_queue sda scheduler '[none] bfq'
bare dm-0 253:0
bare dm-1 253:1
over dm-0 dm-1
over dm-1 dm-0
check "two devices on each other" timeout 20 "$weir" doctor --root="$root" dm-0
group a
ln -s .. "$cg/a/up"
ln -s /sys/fs/cgroup "$cg/a/top"
check "links among cgroups aren't followed" odd weir-not-built
check "one cgroup" holds 'j["cgroups"]["cgroups"] == 1'

# ---- much ----

# deep LEVELS BYTES: cgroups below each other, with names that long.
deep()
{
	python3 -c 'import os, sys
os.chdir(sys.argv[1])
for i in range(int(sys.argv[2])):
    os.mkdir("d" * int(sys.argv[3]))
    os.chdir("d" * int(sys.argv[3]))' "$cg/a" "$1" "$2"
}
deep 300 4
check "300 levels" odd unexpected weir-not-built
check "of which 200 are looked at" holds 'j["cgroups"]["cgroups"] == 200'
rm -r "$cg/a/dddd"
deep 30 200
check "a path of 6000 bytes" odd unexpected weir-not-built
check "is said" says unexpected 'File name too long'
rm -r "$cg/a"
long=$(printf '%0250d' 0)
group "$long" io.weight 'default 200'
check "a name of 250 characters is broken at the end of the line" finds 1 sda io-weight-unread \
	weir-not-built
rm -r "$cg/$long"

bare md0 9:0
for i in $(seq 200); do
	disk "sd$i" "65:$i"
	over md0 "sd$i"
done
check "an array of 200 disks" finds 0 md0 unexpected stacked weir-not-built
check "its report is still one to read" sh -c '[ "$(wc -l <text)" -le 70 ]'

host
disk sda 8:0 scheduler 'none [bfq]'
set_queue sda nr_requests 1048576 iosched/low_latency 0
python3 - "$cg" <<'END'
import os, sys
files = {"io.stat": "8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n", "io.max": "",
         "io.weight": "default 100\n", "io.latency": "", "io.prio.class": "no-change\n",
         "io.bfq.weight": "default 100\n", "cgroup.events": "populated 1\nfrozen 0\n",
         "cgroup.subtree_control": "io memory\n", "memory.current": "0\n"}
for i in range(100):
    for k in range(-1, 99):
        d = "%s/tenant%d.slice%s" % (sys.argv[1], i, "/job%d" % k if k >= 0 else "")
        os.makedirs(d)
        for name, text in files.items():
            if name == "io.bfq.weight" and k >= 0:
                text = "default %d\n" % (200 + k)
            with open(d + "/" + name, "w") as f:
                f.write(text)
END
# Time of a processor, since a busy machine is no fault of the program; sanitizers get ten times as long.
quickly()
{
	finds 0 sda weir-not-built || return 1
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, check=True)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
took_ms = 1000 * (r.ru_utime + r.ru_stime)
print(took_ms, "ms")
sys.exit(took_ms > int(sys.argv[1]))' "$1" "$weir" doctor --root="$root" sda
}
limit_ms=2000
meson introspect --buildoptions "${WEIR_BUILD:-$source_dir/build}" 2>/dev/null |
	grep -q '"b_sanitize".*"value": "[a-z]*address' && limit_ms=20000
check "10,000 cgroups within $limit_ms ms" quickly $limit_ms
check "all of them" holds 'j["cgroups"]["cgroups"] == 10000 and
	j["cgroups"]["lines_set"]["io.bfq.weight"] == 9900'
set_queue sda scheduler '[none] bfq'
check "their weights without effect: one finding" finds 1 sda bfq-weight-unread weir-not-built
check "of which all are named to programs" holds 'len(j["findings"][0]["cgroups"]) == 9900'
check "and three to people" says bfq-weight-unread '/tenant0.slice/job0, /tenant0.slice/job1'

# ---- not permitted ----

# as_nobody COMMAND...: without root's eyes.
as_nobody()
{
	if [ "$(id -u)" -ne 0 ]; then
		"$@"
	else
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	fi
}

host
disk sda 8:0
group a io.max '8:0 rbps=1'
group b
chmod 0 "$cg/a/io.max" "$cg/b"
cp "$weir" "$tmp/weir"
chmod 755 "$tmp" "$tmp/weir"
chmod -R go+rX "$root"
chmod 0 "$cg/a/io.max" "$cg/b"
if as_nobody test ! -r "$cg/a/io.max" && as_nobody "$tmp/weir" --version >"$tmp/out"; then
	not_read()
	{
		as_nobody "$tmp/weir" doctor --root="$root" sda --json >json || return 1
		holds '[f["id"] for f in j["findings"]] == ["not-read", "weir-not-built"]' &&
			says not-read '2 files' && says not-read /sys/fs/cgroup/a/io.max &&
			says not-read /sys/fs/cgroup/b
	}
	check "two files that may not be read" not_read
fi
chmod -R u+rwx "$cg"

# ---- anything at all ----

# Every file of a rich tree is overwritten in turn with noise, or with a piece of another.
noise()
{
	python3 - "$weir" "$root" <<'END'
import json, os, random, subprocess, sys
weir, root = sys.argv[1:]
seed = int(os.environ.get("WEIR_SEED", "1"))
rng = random.Random(seed)
files = sorted(os.path.join(d, f) for d, _, fs in os.walk(root) for f in fs
               if not os.path.islink(os.path.join(d, f)))
texts = [open(f, "rb").read() for f in files]
for n, name in enumerate(files):
    kind = rng.randrange(4)
    if kind == 0:
        noise = rng.randbytes(rng.randrange(600))
    elif kind == 1:
        noise = rng.choice(texts) + rng.choice(texts)
    elif kind == 2:
        noise = b"8:0 " + bytes(rng.choice(b"0123456789:=[] defaultrbps\n") for _ in range(200))
    else:
        noise = texts[n][:rng.randrange(len(texts[n]) + 1)] + rng.randbytes(3)
    with open(name, "wb") as f:
        f.write(noise)
    for option in ([], ["--json"]):
        r = subprocess.run([weir, "doctor", "--root=" + root, rng.choice(("dm-0", "sda1"))] + option,
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        if r.returncode not in (0, 1, 2) or (r.returncode == 2) != (r.stdout == b""):
            sys.exit("seed %d, %s: status %d: %s" % (seed, name, r.returncode, r.stderr[-900:]))
        if option and r.returncode < 2:
            json.loads(r.stdout)
    if rng.randrange(3):
        with open(name, "wb") as f:
            f.write(texts[n])
END
}

host
disk sda 8:0 scheduler 'none [bfq]' iosched/low_latency 1 iosched/slice_idle 8
disk sdb 8:16 scheduler '[weir] none' iosched/policy '[weir] noop'
partition sda sda1 8:1
mapping dm-0 253:0 name LVM-1 sda1 sdb
echo '8:0 enable=1 ctrl=user rpct=95.00 rlat=5000 wpct=95.00 wlat=5000 min=50.00 max=150.00' \
	>"$cg/io.cost.qos"
echo '8:0 ctrl=user model=linear rbps=1 rseqiops=2 rrandiops=3 wbps=4 wseqiops=5 wrandiops=6' \
	>"$cg/io.cost.model"
two='default 200
8:0 300'
group a io.weight "$two" io.bfq.weight "$two" io.weir.weight "$two" io.prio.class idle
group a/b io.max '8:1 rbps=1 wbps=max' io.latency '253:0 target=1' io.low '8:0 rbps=1'
did a 8:0 4096
mounted 253:0 /data vfat /dev/mapper/name rw
check "noise in each file" noise
finish
