#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test_sites.sh PLEXUS PROGRAM: two jobs, one of which serves the URL, in both orders, compute what one job computes; jobs
# that do not fit, or that find nobody, end with a reason.
set -u
plexus=$1
program=$2
folder=$(mktemp -d)
finish() {
    kill $(jobs -p) 2>/dev/null
    wait
    rm -rf "$folder"
}
trap finish EXIT
fail() {
    echo "test_sites.sh: $1" >&2
    exit 1
}
umask 077
head -c 32 /dev/urandom | base64 >"$folder/key"
head -c 32 /dev/urandom | base64 >"$folder/other_key"
port=$((20000 + $$ % 10000)) # below those that the system gives to whoever wants any
url=plexus://127.0.0.1:$port

job() { # NAME KEY OPTION...: its output in the files NAME.out and NAME.err
    local name=$1 key=$2
    shift 2
    timeout --kill-after=5 60 "$plexus" run -n 2 --no-prefix --set "job.key_file=$folder/$key" -- "$program" --sites "$url" \
        --grid 24x16 --steps 8 --image none "$@" >"$folder/$name.out" 2>"$folder/$name.err"
}
says() { # NAME TEXT
    grep -q -e "$2" "$folder/$1".* || fail "$1 does not say \"$2\": $(cat "$folder/$1".*)"
}
until_waiting() { # NAME
    for ((i = 0; i < 600; ++i)); do
        grep -q "waits for" "$folder/$1.err" 2>/dev/null && return
        sleep 0.05
    done
    fail "$1 does not say that it waits: $(cat "$folder/$1".*)"
}

one=$(timeout --kill-after=5 60 "$plexus" run -n 4 --no-prefix -- "$program" --grid 24x16 --steps 8 --image none) ||
    fail "one job failed: $one"
checksum=$(sed -n 's/^checksum *//p' <<<"$one")

for first in atmosphere ocean; do
    second=$([ $first = ocean ] && echo atmosphere || echo ocean)
    rm -f "$folder"/*.out "$folder"/*.err
    # The atmosphere serves.
    serve() { [ "$1" = atmosphere ] && echo --serve; }
    job $first key --model $first $(serve $first) &
    until_waiting $first
    job $second key --model $second $(serve $second) || fail "the second job failed: $(cat "$folder"/*.out "$folder"/*.err)"
    wait $! || fail "the first job failed: $(cat "$folder"/*.out "$folder"/*.err)"
    says atmosphere "^checksum  *$checksum\$"
    says atmosphere "^joined  *the ocean's job with 2 contexts"
    says ocean "^joined  *the atmosphere's job with 2 contexts"
    echo "$first first: $checksum"
done

job lonely key --model ocean --wait 2
[ $? -eq 1 ] || fail "a job that finds nobody does not end with 1"
says lonely "coupled_climate: waits for somebody who listens at $url, 2 s at most"
says lonely "coupled_climate: waited 2 s for somebody who listens at $url: "

job served key --model atmosphere --serve --wait 30 &
until_waiting served
job stranger other_key --model ocean --wait 30
[ $? -eq 1 ] || fail "a job with another key does not end with 1"
says stranger "key"
job differs key --model ocean --ratio 3
[ $? -eq 2 ] || fail "a job with other options does not end with 2: $(cat "$folder"/differs.*)"
wait $!
[ $? -eq 2 ] || fail "its partner does not end with 2: $(cat "$folder"/served.*)"
says differs "both jobs need the same options: the atmosphere's job has --grid 24x16 --ratio 2 --steps 8"
says served "both jobs need the same options: the ocean's job has --grid 24x16 --ratio 3 --steps 8"
