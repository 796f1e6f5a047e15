#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/deps on machines that lack things, played with a PATH of stand-ins: it asks apt-get for what
# is missing and nothing else, does nothing when all is there, and says so where it cannot help.
set -u

source_dir=${WEIR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
. "$source_dir/tests/tap.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
real_path=$PATH

# stand_in NAME BODY
stand_in()
{
	rm -f "$tmp/bin/$1"
	printf '#!/bin/sh\n%s\n' "$2" >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}

# A machine where everything is installed and the user is root.
machine()
{
	rm -rf "$tmp/bin"
	mkdir "$tmp/bin"
	for tool in sh cat rm mktemp env uname sed; do
		ln -s "$(PATH=$real_path command -v $tool)" "$tmp/bin/$tool"
	done
	for tool in cc meson ninja pkg-config; do
		stand_in $tool 'exit 0'
	done
	stand_in id 'echo 0'
	stand_in apt-get "echo \"\$*\" >>'$tmp/asked'
case \"\$*\" in *meson*) printf '#!/bin/sh\n' >'$tmp/bin/meson'
chmod +x '$tmp/bin/meson' ;; esac"
	ln -s "$(PATH=$real_path command -v chmod)" "$tmp/bin/chmod"
	: >"$tmp/asked"
}

# deps STATUS ARGUMENT...
deps()
{
	want=$1
	shift
	PATH=$tmp/bin "$source_dir/scripts/deps" "$@" >"$tmp/out" 2>&1
	got=$?
	cat "$tmp/out"
	echo "status $got; asked: $(cat "$tmp/asked")"
	[ $got -eq "$want" ]
}

all_there()
{
	machine
	deps 0 build && [ ! -s "$tmp/out" ] && [ ! -s "$tmp/asked" ]
}

one_missing()
{
	machine
	rm "$tmp/bin/meson"
	deps 0 build && grep -qx '.* install -y --no-install-recommends meson' "$tmp/asked" &&
		[ "$(wc -l <"$tmp/asked")" -eq 1 ] && grep -q 'installing meson' "$tmp/out"
}

library_missing()
{
	machine
	stand_in pkg-config 'test "$2" != inih'
	# The stand-in does not install it, and that is noticed too.
	deps 1 build && grep -q 'install .* libinih-dev$' "$tmp/asked" &&
		grep -q 'not usable: libinih-dev' "$tmp/out"
}

no_apt()
{
	machine
	rm "$tmp/bin/meson" "$tmp/bin/apt-get"
	deps 1 build && grep -q 'missing here: meson$' "$tmp/out"
}

no_root()
{
	machine
	rm "$tmp/bin/meson"
	stand_in id 'echo 1000'
	deps 1 build && grep -q 'as root, run: apt-get install meson' "$tmp/out" &&
		[ ! -s "$tmp/asked" ]
}

with_sudo()
{
	machine
	rm "$tmp/bin/meson"
	stand_in id 'echo 1000'
	stand_in sudo 'exec "$@"'
	deps 0 build && [ -s "$tmp/asked" ]
}

apt_fails()
{
	machine
	rm "$tmp/bin/meson"
	stand_in apt-get 'echo E: no network; exit 100'
	deps 1 build && grep -q 'E: no network' "$tmp/out" && grep -q 'could not install' "$tmp/out"
}

bad_argument()
{
	machine
	deps 2 everything && grep -q '^usage:' "$tmp/out"
}

check "all there: silent, nothing asked" all_there
check "one missing: that one is installed" one_missing
check "a library missing" library_missing
check "no apt-get: the names are given" no_apt
check "neither root nor sudo: the command is given" no_root
check "not root, with sudo" with_sudo
check "apt-get fails: its words are shown" apt_fails
check "an unknown set" bad_argument
finish
