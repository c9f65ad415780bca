#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# other_versions.sh BUILD [STATIC LIBRARY ECO'S STATIC LIBRARY]: a program with an Asio and a spdlog of other versions
# works with the installed library, and with the static one linked into it; so does one with a group and both
# static libraries.
set -u
build=$1
static=${2:+$(realpath "$2")}
eco_static=${3:+$(realpath "$3")}
here=$(cd "$(dirname "$0")" && pwd)
source_file=$here/other_versions.cpp
# shellcheck source=installed.sh
source "$(dirname "$0")/installed.sh"

# Over tcp, and with a log: both make use of what is inside.
runs() {
    said=$(PLEXUS_METHODS=tcp PLEXUS_LOG=info timeout --kill-after=5 60 "$plexus" run -n 2 -- "$1" 2>log)
    local code=$?
    [ $code -eq 0 ] || { cat log >&2; fail "$2 ends with $code"; }
    [ "$said" = '[1] 4.0 by tcp' ] || fail "$2 says: $said"
    grep -q 'joined the directory' log || fail "$2 logs nothing, so the logger was not tried"
}

${CXX:-c++} -O1 -Wall -Wextra -Werror "$source_file" "${flags[@]}" -o shared || fail "the program does not link to the shared library"
runs ./shared "with the shared library the program"

if [ -n "$static" ]; then
    read -r -a cflags < <(pkg-config --cflags plexus)
    read -r -a private < <(pkg-config --static --libs-only-l --libs-only-other plexus)
    private=("${private[@]/#-lplexus/$static}")
    ${CXX:-c++} -O1 -Wall -Wextra -Werror "${cflags[@]}" "$source_file" "${private[@]}" -o static ||
        fail "the program does not link to the static library, with: ${private[*]}"
    # The loader's path is empty: nothing but the program itself may hold Plexus.
    LD_LIBRARY_PATH='' ldd static | grep libplexus && fail "it was linked to the shared library instead"
    runs ./static "with the static library the program"
fi

# ECO's static library takes the base layer from the runtime's, which follows it.
if [ -n "$eco_static" ]; then
    read -r -a cflags < <(pkg-config --cflags plexus-eco)
    read -r -a private < <(pkg-config --static --libs-only-l --libs-only-other plexus-eco)
    for at in "${!private[@]}"; do
        case ${private[at]} in
            -lplexus-eco) private[at]=$eco_static ;;
            -lplexus) private[at]=$static ;;
        esac
    done
    ${CXX:-c++} -O1 -Wall -Wextra -Werror "${cflags[@]}" "$here/group.cpp" "${private[@]}" -o group ||
        fail "a program with a group does not link to the static libraries, with: ${private[*]}"
    LD_LIBRARY_PATH='' ldd group | grep libplexus && fail "it was linked to a shared library instead"
    said=$(timeout --kill-after=5 60 "$plexus" run -n 2 -- ./group) || fail "the program with a group fails: $said"
fi
