# SPDX-License-Identifier: BSD-3-Clause
# installed.sh, read by the scripts beside it: installs $build into a folder of its own that
# goes away with the script, and sets the environment of a user who has unpacked that
# somewhere. Gives fail, the, $folder (the working directory), $root, $plexus, $modules.
fail() {
    echo "${0##*/}: $1" >&2
    exit 1
}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

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
library=$(the libplexus.so 2>/dev/null) || library=$(the libplexus.a) || exit 1
package=$(the pkgconfig/plexus.pc) || exit 1

export LD_LIBRARY_PATH=${library%/*} PKG_CONFIG_PATH=${package%/*} PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
unset "${!PLEXUS_@}"
cd "$folder" || exit 1 # no plexus.toml of somebody else's

modules=$root$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=moduledir plexus)
read -r -a flags < <(pkg-config --cflags --libs plexus)
