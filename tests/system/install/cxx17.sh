#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# cxx17.sh INCLUDE: a public header that a compiler for C++17 reads is either right in C++17 too, or refused
# by one sentence that says what to pass.
set -u
include=$1
broken=0
said=$(mktemp) || exit 1
trap 'rm -f "$said"' EXIT
while read -r header; do
    ${CXX:-c++} -std=c++17 -fsyntax-only -I"$include" -x c++ - <<<"#include <$header>" >"$said" 2>&1 && continue
    first=$(grep -m1 'error: ' "$said")
    count=$(grep -c 'error: ' "$said")
    # The second is that the compiler ends there.
    if [[ $first != *'Plexus needs C++20: pass -std=c++20'* ]] || ((count > 2)); then
        echo "$header: $count errors, the first is: $first"
        broken=1
    fi
done < <(cd "$include" && find plexus -name '*.h' | sort)
${CXX:-c++} -std=c++17 -fsyntax-only -I"$include" -x c++ - <<<'#include <plexus/plexus.h>' >"$said" 2>&1 &&
    { echo "plexus/plexus.h is taken as C++17"; broken=1; }
exit $broken
