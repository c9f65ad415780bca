#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# module_pipe.sh BUILD EXAMPLES: what a stranger does who writes a method. Builds the example's
# folder alone, against an installed Plexus, checks the module, and runs a program that knows
# nothing of it over it, by what a configuration file says. Leaves nothing behind.
set -u
build=$1
examples=$2
# shellcheck source=installed.sh
source "$(dirname "$0")/installed.sh"

cp -r "$examples/module_pipe" "$examples/hello/hello.cpp" . || fail "the examples cannot be copied"
{ meson setup --werror module_pipe module_pipe/build && ninja -C module_pipe/build; } >log 2>&1 ||
    { cat log >&2; fail "the module does not build with what is installed"; }
file=$folder/module_pipe/build/plexus_pipe.so

timeout --kill-after=5 200 "$plexus" check-module "$file" >checked
code=$?
grep -e BROKEN -A 9 checked
tail -n 1 checked
[ $code -eq 0 ] || fail "check-module ends with $code"
# Six are of remote memory, which a pipe does not have.
grep -q 'promises hold; skipped: [6-8], broken: 0$' checked || fail "check-module left out too much"

${CXX:-c++} -std=c++20 hello.cpp "${flags[@]}" -o hello || fail "hello does not compile"
hello() {
    said=$(timeout --kill-after=5 60 "$plexus" run -n 3 -- ./hello) || fail "hello failed"
    for rank in 0 1 2; do
        grep -q "hello from rank $rank, by $1\$" <<<"$said" || fail "hello should go by $1, and says: $said"
    done
}

# By the folder that it is in, which takes a file that somebody names, ...
printf 'module_path = ["%s"]\nmethods = ["pipe"]\n' "${file%/*}" >site.toml
export PLEXUS_CONFIG=$PWD/site.toml
hello pipe
unset PLEXUS_CONFIG

# ... or installed, by one line.
cp "$file" "$modules" || fail "the module cannot be put beside the others"
echo 'methods = ["pipe", "tcp"]' >plexus.toml
hello pipe
