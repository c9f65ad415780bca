#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A type that can't be sent is one error, and it says what to write: with every compiler that is here.
# Usage: refused.sh SOURCE_ROOT
set -uo pipefail
root=$1
compilers=()
for each in g++ clang++-14 clang++; do
    command -v "$each" >/dev/null && compilers+=("$each") && [[ $each == clang++-14 ]] && break
done
((${#compilers[@]})) || { echo 'neither g++ nor clang++ is installed'; exit 77; }

# A part of what each case of refused.cpp has to say.
said=(''
    'a pointer means nothing to another process: send what it points to'
    'a pointer means nothing to another process: send what it points to'
    'the fields of this type can.t be seen: write PLEXUS_FIELDS(Type, a, b)'
    'a type with serialize() needs a name on the wire: write PLEXUS_NAME(Type, '
    'the fields of this type can.t be seen: write PLEXUS_FIELDS(Type, a, b)'
    'long double is another type on every machine: send double'
    'inside another type can.t be sent: use std::vector or std::string there'
    'a type with serialize() needs a name on the wire: write PLEXUS_NAME(Type, '
    'the fields of this type can.t be seen: write PLEXUS_FIELDS(Type, a, b)'
    'the fields of this type can.t be seen: write PLEXUS_FIELDS(Type, a, b)'
    'the fields of this type can.t be seen: write PLEXUS_FIELDS(Type, a, b)'
    'the fields of this type can.t be seen: write PLEXUS_FIELDS(Type, a, b)'
    'the fields of this type can.t be seen: write PLEXUS_FIELDS(Type, a, b)'
    'a view.s elements have to be plain'
    'a request can.t return a view: return a std::vector or std::string'
    'what may be lost has no answer: send() it, or call')

folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
printf '#include "plexus/plexus.h"\n' >"$folder/all.h"

wrong=0
for compiler in "${compilers[@]}"; do
    # The headers once, not once for each case.
    rm -f "$folder"/all.h.*
    suffix=pch
    [[ $compiler == g++ ]] && suffix=gch
    "$compiler" -std=c++20 -I"$root/include" -x c++-header "$folder/all.h" -o "$folder/all.h.$suffix" || exit 3
    for number in "${!said[@]}"; do
        output=$("$compiler" -std=c++20 -fsyntax-only -I"$root/include" -include "$folder/all.h" -DCASE="$number" \
            "$root/tests/types/refused.cpp" 2>&1)
        errors=$(grep -c 'error:' <<<"$output")
        if [[ -z ${said[number]} ]]; then
            ((errors == 0)) && continue
        elif ((errors == 1)) && grep 'error:' <<<"$output" | grep -q "plexus: .*${said[number]}"; then
            continue
        fi
        printf '%s, case %d: %d errors\n%s\n' "$compiler" "$number" "$errors" "$(grep 'error:' <<<"$output")"
        wrong=1
    done
done
exit "$wrong"
