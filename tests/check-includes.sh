#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The include check passes on the tree as it is, and fails, naming file and line, for each kind of
# arrow that must not exist, planted in a copy.
set -u

source_dir=${WEIR_SOURCE:-$(dirname "$0")/..}
. "$source_dir/tests/tap.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# planted FILE LINE: that include in that file is found out.
planted()
{
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree"
	for dir in include core policy lib lab cli; do
		cp -r "$source_dir/$dir" "$tmp/tree/"
	done
	mkdir -p "$tmp/tree/$(dirname "$1")"
	echo "$2" >>"$tmp/tree/$1"
	if "$source_dir/scripts/check-includes" "$tmp/tree" >"$tmp/out"; then
		echo "not noticed"
		return 1
	fi
	cat "$tmp/out"
	grep -q "^$1:$(wc -l <"$tmp/tree/$1"): " "$tmp/out"
}

check "the tree as it is" "$source_dir/scripts/check-includes" "$source_dir"
check "core: libc" planted core/heap.h '#include <string.h>'
check "core: even a freestanding header" planted core/heap.h '#include <stdint.h>'
check "core: the lab" planted core/fixed.h '#include "lab/device.h"'
check "core: by a relative path" planted core/fixed.h '#include "../lab/device.h"'
check "core: indented, with a comment" planted core/list.h '# include <stdio.h> /* printf */'
check "policy: the lab" planted policy/noop.c '#include "lab/device.h"'
check "public header: the core" planted include/weir/group.h '#include "core/list.h"'
check "public header: stdint.h beside types.h" planted include/weir/group.h '#include <stdint.h>'
check "public header: libc in types.h" planted include/weir/types.h '#include <stdlib.h>'
check "lab: inside the core" planted lab/device.h '#include "core/group.h"'
check "lab: a policy" planted lab/device.h '#include "policy/noop.h"'
check "lab: another host" planted lab/device.h '#include "serve/nbd.h"'
check "lab: the command line" planted lab/device.h '#include "cli/cli.h"'
check "serve: the lab" planted serve/x.c '#include "lab/device.h"'
check "cli: inside the core" planted cli/main.c '#include "core/list.h"'
check "lib: inside the core" planted lib/assert.c '#include "core/list.h"'
finish
