#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""man_pages.py PROGRAM FOLDER: a verb's man page says what `plexus help VERB` says: each word of the help is in the page,
as often, and the page has no other words than the help, its own headings and the names of pages."""
import collections
import os
import re
import subprocess
import sys

HEADINGS = "NAME SYNOPSIS DESCRIPTION POSITIONALS OPTIONS SEE ALSO Usage"


def words(text):
    return collections.Counter(re.findall(r"[^\s,]+", text))


def plain(page):
    """The text of a page without its macros."""
    lines = []
    for line in page.splitlines():
        if line.startswith((".TH", ".PP", ".nf", ".fi", ".TP")):
            continue
        line = re.sub(r"\\\[u([0-9A-F]+)\]", lambda match: chr(int(match.group(1), 16)), line.removeprefix(".SH "))
        lines.append(re.sub(r"\\f[BR]|\\&", "", line).replace("\\-", "-").replace("\\e", "\\"))
    return "\n".join(lines)


def main():
    program, folder = sys.argv[1:]
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("PLEXUS_")}

    def said(*arguments):
        return subprocess.run([program, *arguments], check=True, capture_output=True, text=True, env=quiet, timeout=60).stdout

    verbs = re.findall(r"^  ([a-z-]+) ", said("--help").partition("Verbs:")[2], re.MULTILINE)
    wrong = [] if verbs else ["plexus --help lists no verbs"]
    for verb in verbs:
        if said("help", verb) != said(verb, "--help"):
            wrong.append(f"plexus help {verb} and plexus {verb} --help differ")
        with open(os.path.join(folder, f"plexus-{verb}.1"), encoding="utf-8") as file:
            page = words(plain(file.read()))
        told = words(said("help", verb))
        told["Usage:"] = 0
        # A heading of the help is one in capitals; the summary's full stop is left out in NAME.
        folded = collections.Counter()
        for word, count in told.items():
            folded[word.rstrip(".:").lower()] += count
        there = collections.Counter()
        for word, count in page.items():
            there[word.rstrip(".:").lower()] += count
        for word, count in (folded - there).items():
            wrong.append(f"plexus-{verb}.1 lacks \"{word}\", which the help has {count} times more")
        known = {word.lower() for word in HEADINGS.split()} | {"-", "plexus"} | {f"plexus-{each}(1)" for each in verbs} | {
            f"plexus-{verb}", "plexus(1)"}
        for word in (there - folded):
            if word not in known:
                wrong.append(f"plexus-{verb}.1 has \"{word}\", which the help has not")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
