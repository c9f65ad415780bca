#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test.sh PLEXUS PROGRAM: the imbalance falls, with rows that cost what they cost and with a
# member that is slow; without balancing it stays; the members together do what one alone
# does (the program's own verdict).
set -u
plexus=$1
program=$2
fail() {
    echo "test.sh: $1" >&2
    exit 1
}

try() { # CONTEXTS OPTION...: the imbalance of the second iteration and of the last
    local contexts=$1 said
    shift
    said=$(timeout --kill-after=5 30 "$plexus" run -n "$contexts" --no-prefix -- \
        "$program" --load work --rows 120 --columns 60 --passes 100 "$@" 2>&1) || fail "$contexts members with $* failed: $said"
    grep -q '^Every row was worked on once in each iteration.$' <<<"$said" || fail "no verdict in: $said"
    second=$(awk '$1 == "2" { print $2 }' <<<"$said")
    last=$(awk '$1 ~ /^[0-9]+$/ { last = $2 } END { print last }' <<<"$said")
    echo "$contexts members, $*: imbalance $second, then $last"
}
below() { # NUMBER LIMIT
    awk -v number="$1" -v limit="$2" 'BEGIN { exit !(number != "" && number < limit) }'
}

try 1 --iterations 3
try 4 --iterations 3 --off
below 1.5 "$last" || fail "it was even before anything was moved: $last"
for contexts in 2 3 4; do
    try $contexts --iterations 25
    below "$last" 1.1 || fail "rows of unequal cost are not balanced: $last"
done
try 4 --iterations 25 --slow 1:3
below "$last" 1.2 || fail "a slow member is not relieved: $last"
below "$last" "$second" || fail "the imbalance did not fall: $second, $last"
