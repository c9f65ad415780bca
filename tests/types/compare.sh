#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds kinds.cpp with gcc, clang, and clang with libc++: identities and bytes have to be the same, and each
# program has to read what the others wrote. Without libc++ the others are compared, and the test
# counts as skipped. Usage: compare.sh SOURCE_ROOT
set -uo pipefail
root=$1
folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT

clang=$(command -v clang++-14 || command -v clang++)
command -v g++ >/dev/null && [[ -n $clang ]] || { echo 'g++ and clang++ are needed: tools/setup --tests'; exit 77; }
names=(gcc clang)
commands=(g++ "$clang")
result=0
if echo '#include <version>' | "$clang" -stdlib=libc++ -fsyntax-only -x c++ - 2>/dev/null &&
    echo 'int main() {}' | "$clang" -stdlib=libc++ -x c++ - -o "$folder/probe" 2>/dev/null; then
    names+=(libc++)
    commands+=("$clang -stdlib=libc++")
else
    echo 'libc++ is not installed: tools/setup --tests'
    result=77
fi

for i in "${!names[@]}"; do
    # shellcheck disable=SC2086
    ${commands[i]} -std=c++20 -Wall -Wextra -Werror -I"$root/include" "$root/tests/types/kinds.cpp" \
        "$root/runtime/wire/writer.cpp" -o "$folder/${names[i]}" || { echo "${names[i]}: does not compile"; exit 1; }
    "$folder/${names[i]}" >"$folder/${names[i]}.txt" || { echo "${names[i]}: does not write"; exit 1; }
done
for one in "${names[@]}"; do
    [[ $(wc -l <"$folder/$one.txt") -ge 70 ]] || { echo "$one wrote too little"; exit 1; }
    diff "$folder/gcc.txt" "$folder/$one.txt" || { echo "gcc and $one differ"; exit 1; }
    for other in "${names[@]}"; do
        "$folder/$one" "$folder/$other.txt" || { echo "$one can't read what $other wrote"; exit 1; }
    done
done
exit "$result"
