#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lab.sh PLEXUS PROGRAM NETWORK: on two clusters that are far from each other, the pattern that
# follows their map gives the digest that one member alone comes to, and so do others. 77: this
# machine allows no lab.
set -u
plexus=$1
program=$2
network=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
options=(--atoms 108 --steps 5 --sums fixed)

cat >"$folder/map.txt" <<'END'
4 left-1 left-2 right-1 right-2
0 100 500 500
100 0 500 500
500 500 0 100
500 500 100 0
END
digest_of() { # COMMAND...
    local said code
    said=$(timeout --kill-after=5 40 "$@" 2>&1)
    code=$?
    [ $code -eq 0 ] || echo "lab.sh: $* ended with $code: $said" >&2
    sed -n 's/^digest *//p' <<<"$said"
    return $code
}

alone=$(digest_of "$plexus" run -n 1 --no-prefix -- "$program" "${options[@]}") || exit 1
for pattern in eco star ring; do
    digest=$(digest_of "$plexus" lab "$network" --hosts left-1,right-1,left-2,right-2 --no-prefix -- \
        "$program" "${options[@]}" --pattern $pattern --map "$folder/map.txt") || exit $?
    echo "$pattern: $digest"
    if [ "$digest" != "$alone" ]; then
        echo "lab.sh: $pattern gives other numbers than one member alone: $alone" >&2
        exit 1
    fi
done
