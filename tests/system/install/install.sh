#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# install.sh BUILD README VERSION: installs into a folder of its own, checks what is there,
# and builds and runs the README's program with nothing but that. Leaves nothing behind.
set -u
build=$1
readme=$2
version=$3
# shellcheck source=installed.sh
source "$(dirname "$0")/installed.sh"

header=$(the include/plexus/plexus.h) || exit 1
the include/plexus/module/abi.h >/dev/null || exit 1
for name in local shm tcp; do the "plexus/modules/plexus_$name.so" >/dev/null || exit 1; done
the share/plexus/networks/flat.toml >/dev/null || exit 1
[ -z "$(find "$root" -name 'plexus_faults.so')" ] || fail "the module for tests was installed"
[ -z "$(find "${header%/*}" -name meson.build)" ] || fail "build files lie among the headers"
[ "$(pkg-config --modversion plexus)" = "$version" ] || fail "pkg-config knows another version than $version"
[ -f "$modules/plexus_tcp.so" ] || fail "pkg-config says that modules are in $modules, they are not"

awk '/^```cpp$/ { on = 1; next } /^```$/ { if (on) exit } on' "$readme" >program.cpp
[ -s program.cpp ] || fail "$readme shows no program"
${CXX:-c++} -std=c++20 -Wall -Wextra -Werror program.cpp "${flags[@]}" -o program || fail "the README's program does not compile"

said=$(timeout --kill-after=5 60 "$plexus" run -n 2 -- ./program) || fail "the README's program failed"
echo "$said"
expected='[1] 15.5 degrees, by shm'
[ "$said" = "$expected" ] || fail "it should have said: $expected"

timeout --kill-after=5 30 "$plexus" info --set methods=tcp | grep -q '^tcp  *built in' || fail "the installed plexus does not know tcp"
timeout --kill-after=5 30 "$plexus" lab list | grep -q '^flat ' || fail "the installed plexus does not know its networks"
