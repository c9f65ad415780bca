#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a library of ours shows to the program that links to it. Usage: symbols.py FILE...

libplexus*.so shows names of the namespace plexus, a module its passport (or, as the second part
of a method, its implementation), and no library needs or shows a name of Asio or spdlog: a program may have
another version of both, whose names are the same and whose layouts are not. The namespaces of fmt
and toml++ carry their versions; a name of fmt without one is as bad.

Exit codes: 0 clean, 1 broken (each line says where and why), 77 cannot be checked here.
"""
import os
import re
import shutil
import subprocess
import sys

OURS = re.compile(r"_ZN[VKRO]*6plexus|_ZT[ISVT]N6plexus|_ZGVN6plexus|_ZT(h|v|c)\w*_N6plexus")
UNVERSIONED = re.compile(r"4asio(?![a-z])|6spdlog|(?<!\d)3fmt(?!\d+v\d)")
# Tables of the sanitizers and of coverage, which belong to no source.
INSTRUMENTED = re.compile(r"__(odr_asan|asan|tsan|ubsan|sanitizer|start___|stop___|gcov|llvm)")


def names(arguments, file):
    """(type letter, name) of each symbol that nm lists."""
    text = subprocess.run(["nm", *arguments, file], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2 and len(words[-2]) == 1:
            yield words[-2], words[-1].split("@")[0]


def allowed_in(file):
    """Whether a name may be shown, and the name that must be there."""
    base = os.path.basename(file)
    if base.startswith("libplexus-eco"):
        return OURS.match, "_ZN6plexus3eco8load_map"
    if base.startswith("libplexus"):
        return OURS.match, "_ZTIN6plexus5ErrorE"
    passport = "plexus_module_impl" if base.startswith("impl_") else "plexus_passport"
    return passport.__eq__, passport


def broken(file):
    if file.endswith(".a"):
        shown = [name for _, name in names(["-g", "--defined-only"], file)]
        if not any(OURS.match(name) for name in shown):
            yield "holds nothing of plexus"
        for name in filter(UNVERSIONED.search, shown):
            yield f"holds {name}, which another version of that library has too"
        return
    allowed, needed = allowed_in(file)
    shown = [name for kind, name in names(["-D", "--defined-only"], file) if kind != "A"]
    if not any(name.startswith(needed) for name in shown):
        yield f"does not show {needed}"
    for name in shown:
        if not allowed(name) and not INSTRUMENTED.match(name):
            yield f"shows {name}"
    for _, name in names(["-D", "--undefined-only"], file):
        if UNVERSIONED.search(name):
            yield f"needs {name}, which a program may have in another version"


def main():
    if len(sys.argv) < 2:
        print("usage: symbols.py FILE...", file=sys.stderr)
        return 2
    if not shutil.which("nm"):
        print("nm is not installed: on Debian 12, apt-get install binutils")
        return 77
    clean = True
    for file in sys.argv[1:]:
        for what in broken(file):
            print(f"{os.path.basename(file)} {what}")
            clean = False
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
