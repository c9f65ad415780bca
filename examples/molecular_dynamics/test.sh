#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test.sh PLEXUS PROGRAM: energy and momentum are conserved (the program's own verdict); with fixed
# sums the digest is the same for every pattern and number of members; with sums of doubles it is
# where the order is: in the same run again, and for every pattern of two members.
set -u
plexus=$1
program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "test.sh: $1" >&2
    exit 1
}

digest=
try() { # CONTEXTS OPTION...
    local contexts=$1 said found
    shift
    said=$(timeout --kill-after=5 30 "$plexus" run -n "$contexts" --no-prefix -- "$program" --steps 20 "$@" 2>&1) ||
        fail "$contexts members with $* failed: $said"
    found=$(sed -n 's/^digest *//p' <<<"$said")
    echo "$contexts members, $*: $found"
    [ -n "$found" ] || fail "no digest in: $said"
    [ "$found" = "${digest:=$found}" ] || fail "other numbers than before: $said"
}

printf '1 %s\n0\n' "$(uname -n)" >"$folder/map.txt"
for contexts in 1 2 3; do try $contexts --atoms 256 --sums fixed; done
for pattern in star tree:4 binomial chain ring butterfly; do
    try 4 --atoms 256 --sums fixed --pattern $pattern
done
try 4 --atoms 256 --sums fixed --pattern eco --map "$folder/map.txt"

digest=
try 4 --atoms 256
try 4 --atoms 256
digest=
for pattern in auto star ring butterfly; do try 2 --atoms 108 --pattern $pattern; done
