#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# run_program.sh PLEXUS PROGRAM: the README's program as a job of four. Each of three senders adds 0.5 before it asks, so each
# reads 15.5 at least, and the last one to be answered reads the sum of all. Under the thread sanitizer a race ends a process.
set -u
plexus=$(realpath "$1") || exit 3
program=$(realpath "$2") || exit 3
unset "${!PLEXUS_@}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder" || exit 3
for turn in 1 2 3 4 5; do
    said=$(timeout --kill-after=5 50 "$plexus" run -n 4 -- "$program") || { echo "turn $turn: the program failed"; exit 1; }
    echo "$said"
    [ "$(grep -cE '^\[[123]\] 1(5\.5|6\.0|6\.5) degrees, by [a-z]+$' <<<"$said")" = 3 ] || { echo "three lines were due"; exit 1; }
    grep -q ' 16\.5 degrees' <<<"$said" || { echo "what one sender added is missing"; exit 1; }
done
