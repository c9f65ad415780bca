#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test.sh PLEXUS PROGRAM: the numbers are the same whoever carried them, however tcp was
# polled, and however many contexts took part; nothing gets lost; the picture is one.
set -u
plexus=$1
program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "test.sh: $1" >&2
    exit 1
}

checksum=
try() { # CONTEXTS OPTION...
    local contexts=$1 said
    shift
    said=$(timeout --kill-after=5 60 "$plexus" run -n "$contexts" --no-prefix -- "$program" --grid 48x24 --steps 40 "$@") ||
        fail "$contexts contexts with $* failed: $said"
    local found
    found=$(sed -n 's/^checksum *//p' <<<"$said")
    echo "$contexts contexts, $*: $found"
    [ -n "$found" ] || fail "no checksum in: $said"
    [ "$found" = "${checksum:=$found}" ] || fail "other numbers than before: $said"
    grep -q '^between  *tcp x' <<<"$said" || fail "the models did not talk by tcp: $said"
    last=$said
}

try 2 --image none
try 6 --image "$folder/new/climate.png"
grep -q '^inside  *shm x 8$' <<<"$last" || fail "inside the models it was not shm: $last"
[ "$(head -c 4 "$folder/new/climate.png" | tail -c 3)" = PNG ] || fail "the picture is no PNG"
try 6 --methods tcp-only --image none
grep -q '^inside  *tcp x 8$' <<<"$last" || fail "inside the models it was not tcp: $last"
try 5 --atmosphere 1 --polling selective --image none
try 4 --polling skip=100 --image none
try 3 --polling blocking --image none
