#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# install.sh BUILD README VERSION: installs into a folder of its own, checks what is there,
# and builds and runs the README's program with nothing but that. Leaves nothing behind.
set -u
build=$1
readme=$2
version=$3

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "install.sh: $1" >&2
    exit 1
}

root=$folder/root
meson install -C "$build" --no-rebuild --quiet --destdir "$root" >"$folder/log" 2>&1 ||
    { cat "$folder/log" >&2; fail "meson install failed"; }

# The one file of that name under the new root.
the() {
    local found
    mapfile -t found < <(find "$root" -path "*/$1")
    [ ${#found[@]} -eq 1 ] || fail "$1 was installed ${#found[@]} times instead of once"
    printf '%s' "${found[0]}"
}
plexus=$(the bin/plexus) || exit 1
library=$(the libplexus.so) || exit 1
package=$(the pkgconfig/plexus.pc) || exit 1
header=$(the include/plexus/plexus.h) || exit 1
the include/plexus/module/abi.h >/dev/null || exit 1
for name in local shm tcp; do the "plexus/modules/plexus_$name.so" >/dev/null || exit 1; done
[ -z "$(find "$root" -name 'plexus_faults.so')" ] || fail "the module for tests was installed"
[ -z "$(find "${header%/*}" -name meson.build)" ] || fail "build files lie among the headers"

# From here on as a user who has unpacked this somewhere.
export LD_LIBRARY_PATH=${library%/*} PKG_CONFIG_PATH=${package%/*} PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
cd "$folder" || exit 1 # no plexus.toml of somebody else's

[ "$(pkg-config --modversion plexus)" = "$version" ] || fail "pkg-config knows another version than $version"
modules=$root$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=moduledir plexus)
[ -f "$modules/plexus_tcp.so" ] || fail "pkg-config says that modules are in $modules, they are not"

awk '/^```cpp$/ { on = 1; next } /^```$/ { if (on) exit } on' "$readme" >program.cpp
[ -s program.cpp ] || fail "$readme shows no program"
read -r -a flags < <(pkg-config --cflags --libs plexus)
${CXX:-c++} -std=c++20 -Wall -Wextra -Werror program.cpp "${flags[@]}" -o program || fail "the README's program does not compile"

said=$(timeout --kill-after=5 60 "$plexus" run -n 2 -- ./program) || fail "the README's program failed"
echo "$said"
expected='[1] 15.5 degrees, by shm'
[ "$said" = "$expected" ] || fail "it should have said: $expected"

timeout --kill-after=5 30 "$plexus" info --set methods=tcp | grep -q '^tcp  *built in' || fail "the installed plexus does not know tcp"
