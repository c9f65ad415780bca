#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# options.sh SOURCE: what the options of the build leave out is left out, the rest is still a build; what is
# asked for and not there ends the configuration, and names what is missing. Configures only, builds nothing.
set -u
source=$1
fail() {
    echo "options.sh: $1" >&2
    exit 1
}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# configure OPTION...: $names is then what this build would make, a target a line.
configure() {
    rm -rf "$folder/build"
    meson setup "$folder/build" "$source" "$@" >"$folder/log" 2>&1 || return 1
    names=$(meson introspect --targets "$folder/build" | python3 -c 'import json, sys
for target in json.load(sys.stdin): print(target["name"], target["type"].replace(" ", "_"), target["installed"], "")')
}
has() { grep -q "^$1 " <<<"$names" || fail "$2: there is no $1"; }
lacks() { ! grep -q "^$1 " <<<"$names" || fail "$2: there is $1"; }

configure -Ducx=disabled -Dlibfabric=disabled -Dpmix=disabled -Dzstd=disabled -Dtls=disabled -Dtools=disabled -Dexamples=disabled -Dpeers=disabled -Ddefault_library=static ||
    { tail -n 5 "$folder/log" >&2; fail "with everything disabled it does not configure"; }
for name in plexus_ucx plexus_libfabric plexus_zstd plexus_tls hello coupled_climate plexus-limits 'plexus executable' unit_lab; do lacks "$name" "all disabled"; done
for name in plexus_tcp 'plexus static_library True' 'plexus shared_library False' unit_wire eco_plan; do has "$name" "all disabled"; done

# A machine that has all packages but one.
mkdir "$folder/packages"
for place in $(pkg-config --variable=pc_path pkg-config | tr ':' ' '); do
    ln -sf "$place"/*.pc "$folder/packages" 2>/dev/null
done
rm -f "$folder"/packages/libfabric.pc
PKG_CONFIG_LIBDIR=$folder/packages PKG_CONFIG_PATH='' configure -Dlibfabric=enabled -Dtests=false &&
    fail "libfabric was asked for, is not there, and that is no error"
grep -q 'ERROR: .*libfabric' "$folder/log" || { tail -n 5 "$folder/log" >&2; fail "the error does not name libfabric"; }
PKG_CONFIG_LIBDIR=$folder/packages PKG_CONFIG_PATH='' configure -Dexamples=disabled -Ddefault_library=both ||
    { tail -n 5 "$folder/log" >&2; fail "without libfabric and examples it does not configure"; }
for name in plexus_libfabric hello system_lab; do lacks "$name" "no libfabric, no examples"; done
for name in 'plexus executable True' system_tools 'plexus static_library True' 'plexus shared_library True'; do
    has "$name" "no examples"
done
