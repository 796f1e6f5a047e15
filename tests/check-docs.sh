#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What the documents point at is there: relative links of the Markdown files, and the manual pages
# that manual pages of ours refer to. And the README shows what the program prints.
set -u

source_dir=${WEIR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
. "$source_dir/tests/tap.inc"
cd "$source_dir" || exit 1

# links_of FILE: every relative link leads to a file.
links_of()
{
	bad=0
	for link in $(grep -o '](\([^)#]*\))' "$1" | sed 's/^](//; s/)$//' | grep -v '^[a-z]*:'); do
		if [ ! -e "$(dirname "$1")/$link" ]; then
			echo "$1: $link is not there"
			bad=1
		fi
	done
	return $bad
}

# references_of PAGE: each .Xr weir... has a page.
references_of()
{
	bad=0
	for page in $(sed -n 's/^\.Xr \(\(lib\)\{0,1\}weir[a-z-]*\) \([1-8]\).*/\1.\3/p' "$1"); do
		if [ ! -e "docs/man/$page" ]; then
			echo "$1: $page is not there"
			bad=1
		fi
	done
	return $bad
}

documents=$(find . -name '*.md' -not -path './build*' -not -path './.git/*' | LC_ALL=C sort)
for document in $documents; do
	check "links of $document" links_of "$document"
done
for page in docs/man/*.[1-8]; do
	check "references of $page" references_of "$page"
done
check "the README's example" scripts/readme-example "${WEIR:-build/weir}"
finish
