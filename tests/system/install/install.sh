#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# install.sh BUILD README VERSION: installs into a folder of its own, checks what is there,
# and builds and runs the README's program with nothing but that. Leaves nothing behind.
set -u
build=$1
readme=$2
source=${readme%/*}
version=$3
# shellcheck source=installed.sh
source "$(dirname "$0")/installed.sh"

header=$(the include/plexus/plexus.h) || exit 1
the include/plexus/module/abi.h >/dev/null || exit 1
abi=$(awk '/define PLEXUS_ABI_MAJOR/ { print $3 + 0 }' "$(the include/plexus/module/abi.h)")
for name in local shm tcp; do the "plexus/modules-abi$abi/plexus_$name.so" >/dev/null || exit 1; done
the share/plexus/networks/flat.toml >/dev/null || exit 1
[ -z "$(find "$root" -name 'plexus_faults.so')" ] || fail "the module for tests was installed"
[ -z "$(find "${header%/*}" -name meson.build)" ] || fail "build files lie among the headers"
[ "$(pkg-config --modversion plexus)" = "$version" ] || fail "pkg-config knows another version than $version"
for package_file in plexus plexus-eco; do the "pkgconfig/$package_file.pc" >/dev/null || exit 1; done
for file in LICENSE README.md examples/hello/hello.cpp examples/module_pipe/meson.build examples/CMakeLists.txt; do
    the "share/doc/plexus/$file" >/dev/null || exit 1
done
[ -f "$modules/plexus_tcp.so" ] || fail "pkg-config says that modules are in $modules, they are not"

awk '/^```cpp$/ { on = 1; next } /^```$/ { if (on) exit } on' "$readme" >program.cpp
[ -s program.cpp ] || fail "$readme shows no program"
# Nothing to add: the flags say what the headers need.
${CXX:-c++} -Wall -Wextra -Werror program.cpp "${flags[@]}" -o program || fail "the README's program does not compile"

if command -v strings >/dev/null; then
    # What is loaded of each file, that is without what is for debuggers.
    while read -r file; do
        strings -d "$file" | grep -F -e "$build" -e "$source" && fail "$file names the folder where it was built"
    done < <(find "$root" -type f \( -name '*.so*' -o -perm -100 \) ! -path '*/share/*')
fi
grep -rIlF -e "$build" "$root" && fail "these name the folder where they were built"

# Each verb has a page, of the same text as --help, which man shows without a complaint.
verbs=$("$plexus" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p')
[ -n "$verbs" ] || fail "plexus --help lists no verbs"
for verb in $verbs; do
    page=$(the "man/man1/plexus-$verb.1") || exit 1
    grep -q "^\.SH OPTIONS" "$page" || fail "$page has no options"
    "$plexus" "$verb" --help >help
    for option in $(grep -o -e '^  \(-[a-z],\)\?--[a-z][a-z-]*' help | grep -o -e '--[a-z-]*'); do
        sed 's/\\//g' "$page" | grep -qF -e "$option" || fail "$page has nothing of $option"
    done
    if command -v groff >/dev/null; then
        complaints=$(groff -man -Tutf8 -ww -z "$page" 2>&1) && [ -z "$complaints" ] || fail "groff: $complaints"
    fi
done
the man/man1/plexus.1 >/dev/null || exit 1

said=$(timeout --kill-after=5 60 "$plexus" run -n 2 -- ./program) || fail "the README's program failed"
echo "$said"
expected='[1] 15.5 degrees, by shm'
[ "$said" = "$expected" ] || fail "it should have said: $expected"

timeout --kill-after=5 30 "$plexus" info --set methods=tcp | grep -q '^tcp  *built in' || fail "the installed plexus does not know tcp"
timeout --kill-after=5 30 "$plexus" lab list | grep -q '^flat ' || fail "the installed plexus does not know its networks"

# Whoever can write to a folder above the library has no code loaded by it.
library=$(the libplexus.so) || exit 1
for word in meson-private "$build/modules"; do
    grep -q -F -e "$word" "$library" && fail "the installed library knows of $word"
done
folder=$(dirname "$(readlink -f "$library")")
for place in "$folder" "${folder%/*}" "$root"; do
    mkdir -p "$place/meson-private" "$place/modules"
    echo planted >"$place/modules/plexus_planted.so"
done
seen=$(timeout --kill-after=5 30 "$plexus" info 2>&1) || fail "the installed plexus info failed: $seen"
echo "$seen" | grep -q planted && fail "the installed library looks for modules above its own folder"
exit 0
