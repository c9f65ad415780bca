#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# expect.sh [--code N] [--says PATTERN]... -- COMMAND...
# Runs a command, for 50 seconds at most, and checks its exit code (0 unless said
# otherwise) and that each pattern (grep's) is found in a line of its output.
set -u
code=0
patterns=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1 in
    --code) code=$2 ;;
    --says) patterns+=("$2") ;;
    *) echo "expect.sh: unknown option $1" >&2; exit 2 ;;
    esac
    shift 2
done
shift
output=$(timeout --kill-after=5 50 "$@" 2>&1)
got=$?
printf '%s\n' "$output"
failed=0
if [ $got -ne "$code" ]; then
    echo "expect.sh: the exit code is $got instead of $code" >&2
    failed=1
fi
for pattern in "${patterns[@]}"; do
    if ! grep -q -e "$pattern" <<<"$output"; then
        echo "expect.sh: no line says: $pattern" >&2
        failed=1
    fi
done
exit $failed
