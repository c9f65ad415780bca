#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test.sh PROGRAM: a server, a client with its key, and one with a wrong key, which gets
# no answer and a closed connection. Leaves nothing behind.
set -u
program=$1
folder=$(mktemp -d)
server=
finish() {
    [ -n "$server" ] && kill "$server" 2>/dev/null
    rm -rf "$folder"
}
trap finish EXIT
fail() {
    echo "test.sh: $1" >&2
    exit 1
}

umask 077
head -c 32 /dev/urandom >"$folder/key"
head -c 32 /dev/urandom >"$folder/wrong_key"
mkfifo "$folder/says"
timeout --kill-after=5 50 "$program" serve "$folder/key" >"$folder/says" &
server=$!
exec 3<"$folder/says"
read -r -t 20 -u 3 url || fail "the server printed no URL"
echo "the server is at $url"

if timeout --kill-after=5 20 "$program" join "$folder/wrong_key" "$url"; then
    fail "a client without the key came in"
fi
said=$(timeout --kill-after=5 20 "$program" join "$folder/key" "$url") || fail "the client failed"
echo "$said"
[[ $said == "the server counts 55"* ]] || fail "the client said something else"
read -r -t 20 -u 3 last || fail "the server said nothing at its end"
[[ $last == "served up to 55" ]] || fail "the server said: $last"
wait "$server" || fail "the server failed"
server=
