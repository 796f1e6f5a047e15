#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# weir reproduce from outside: tables that fit, the same figures as JSON, equal output for equal seeds,
# and an exit status that is what the lines say.
set -u

source_dir=${WEIR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
weir=${WEIR:-$source_dir/build/weir}
. "$source_dir/tests/tap.inc"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# one_line STATUS PATTERN COMMAND...: nothing on stdout, one line that matches on stderr
one_line()
{
	want=$1 pattern=$2
	shift 2
	"$weir" reproduce "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	[ $? -eq "$want" ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -q -e "$pattern" "$tmp/err"
}

whole() { "$weir" reproduce 001 004 >"$tmp/whole" 2>"$tmp/err"; status=$?; [ ! -s "$tmp/err" ]; }
fits() { ! grep -qE '^.{101}' "$tmp/whole"; }

# 1 if a line is missed, else 0.
status_says_it()
{
	want=0
	! grep -q '^MISSED' "$tmp/whole" || want=1
	[ "$status" -eq $want ]
}

# Each line that is closed names a heading of docs/fidelity.md that is there.
closed_are_explained()
{
	sed -n 's/^ *why: docs\/fidelity.md, //p' "$tmp/whole" | sort -u | while read -r name; do
		grep -q "^##* $name$" "$source_dir/docs/fidelity.md" || return 1
	done
}

every_policy()
{
	for name in $("$weir" policies | sed -n 's/^\([a-z][a-z-]*\) .*/\1/p'); do
		grep -qE "^$name( |:|\$)" "$tmp/whole" || { echo "# no $name"; return 1; }
	done
}

json_has_the_same()
{
	"$weir" reproduce 004 --json >"$tmp/json"
	"$weir" reproduce 004 >"$tmp/004"
	python3 - "$tmp/json" "$tmp/004" <<'END'
import json, sys
j = json.load(open(sys.argv[1]))
text = open(sys.argv[2]).read()
(thread,) = j["threads"]
assert thread["thread"] == "004"
for verdict in thread["verdicts"]:
    word = "holds" if verdict["holds"] else "closed" if verdict["closed_by"] else "MISSED"
    assert any(line.startswith(word) and verdict["text"] in line and
               line.endswith("%.3f" % verdict["value"]) for line in text.split("\n")), verdict
table = thread["tables"][0]
noop = next(row for row in table["rows"] if row["policy"] == "noop")
assert abs(noop["published"]["3"] - 79.0 * 1.048576) < 0.001
assert "%.1f" % noop["simulated"]["3"] in text
assert next(row for row in table["rows"] if row["policy"] == "weir")["published"] is None
END
}

only_these()
{
	"$weir" reproduce 001 --policy noop,cfq:slice_idle=0 >"$tmp/out" &&
		grep -q '^noop ' "$tmp/out" && grep -q '^cfq:slice_idle=0' "$tmp/out" &&
		! grep -qE '^(weir|deadline|holds|MISSED)' "$tmp/out"
}

seeds()
{
	"$weir" reproduce 004 --policy cfq:close_cooperator=0 --seed 7 >"$tmp/a" &&
		"$weir" reproduce 004 --policy cfq:close_cooperator=0 --seed 7 >"$tmp/b" &&
		"$weir" reproduce 004 --policy cfq:close_cooperator=0 --seed 8 >"$tmp/c" &&
		cmp "$tmp/a" "$tmp/b" && ! cmp -s "$tmp/a" "$tmp/c"
}

check "tables, and nothing else" whole
check "within 100 columns" fits
check "the exit status is what the lines say" status_says_it
check "what is closed is explained" closed_are_explained
check "every policy is there" every_policy
check "JSON has the same" json_has_the_same
check "only some policies" only_these
check "equal for equal seeds only" seeds
check "an unknown thread" one_line 2 '^weir reproduce: 005: accepted are 000, 001, 004, and all$' 005
check "an empty one" one_line 2 '(empty): accepted are' ''
check "an unknown policy" one_line 2 'bsq.*accepted' --policy bsq 001
check "no seed" one_line 2 "--seed: x: accepted is" --seed x
check "an unknown option" one_line 2 '--nonsense' --nonsense
finish
