#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# cmake.sh BUILD VERSION: find_package(Plexus) finds what is installed, in a folder that it was moved to,
# refuses versions and components that it does not have, and the examples build with it.
set -u
build=$1
version=$2
command -v cmake >/dev/null || { echo "cmake is not installed: on Debian 12, apt-get install cmake"; exit 77; }
# shellcheck source=installed.sh
source "$(dirname "$0")/installed.sh"

prefix=$folder/moved
mv "$root$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=prefix plexus)" "$prefix" || fail "the installation cannot be moved"
plexus=$prefix/bin/plexus
LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name libplexus.so)")
unset PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR

configure() { cmake -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" "${@:3}" >log 2>&1; }
read -r -a compiler <<<"${CXX:-c++}"
unset CXX
launcher=()
((${#compiler[@]} > 1)) && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER="${compiler[0]}")
how=(-DCMAKE_CXX_COMPILER="${compiler[-1]}" "${launcher[@]}")

configure "$prefix/share/doc/plexus/examples" built "${how[@]}" || { cat log >&2; fail "the installed examples do not configure"; }
cmake --build built --target hello >log 2>&1 || { cat log >&2; fail "the example hello does not build"; }
said=$(timeout --kill-after=5 60 "$plexus" run -n 3 -- ./built/hello) || fail "hello failed"
grep -q 'all 3 are here' <<<"$said" || fail "hello says: $said"

mkdir asks && cat >asks/main.cpp <<'END'
#include <plexus/eco/map.h>
int main() { return plexus::eco::Map({"a", "b"}, {"tcp"}, {8}, "").hosts().size() == 2 ? 0 : 1; }
END
asks() {
    cat >asks/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.19)
project(asks CXX)
$1
add_executable(asks main.cpp)
target_link_libraries(asks PRIVATE Plexus::eco)
END
    rm -rf asked
    configure asks asked "${how[@]}"
}
asks "find_package(Plexus ${version%.*} REQUIRED COMPONENTS plexus eco)
if(NOT IS_DIRECTORY \"\${Plexus_MODULE_DIR}\")
  message(FATAL_ERROR \"no modules in \${Plexus_MODULE_DIR}\")
endif()
find_package(Plexus REQUIRED) # a second time changes nothing" || { cat log >&2; fail "a program that asks for ECO does not configure"; }
cmake --build asked >log 2>&1 || { cat log >&2; fail "a program that asks for ECO does not build"; }
./asked/asks || fail "a program that asks for ECO does not run"

asks "find_package(Plexus $version EXACT REQUIRED)" || { cat log >&2; fail "the version that is there is not found"; }
asks "find_package(Plexus ${version%%.*}...99 REQUIRED)" || { cat log >&2; fail "a range of versions that this one is in does not find it"; }
asks "find_package(Plexus 99 REQUIRED)" && fail "version 99 was found"
asks "find_package(Plexus REQUIRED COMPONENTS telepathy)" && fail "a component that nobody has was found"
grep -q 'no component "telepathy"' log || { cat log >&2; fail "the refusal does not name the component"; }
