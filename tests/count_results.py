#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sums Meson's test logs. Usage: count_results.py [--failures] testlog.json...

Prints "PASSED FAILED SKIPPED". A program of ours counts its own cases in its last line
("cases: 3 passed, 0 failed, 1 skipped"); any other test counts as one.
With --failures, prints instead what each failed test said last before every case that failed.
"""
import json
import re
import sys

CASES = re.compile(r"^cases: (\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)
GOOD = {"OK", "EXPECTEDFAIL"}
LINES_BEFORE = 25  # of what a case printed before it failed
MOST_CASES = 5  # of one test


def count(test):
    result = test["result"]
    found = CASES.findall(test.get("stdout") or "")
    if not found:
        return (1, 0, 0) if result in GOOD else (0, 0, 1) if result == "SKIP" else (0, 1, 0)
    passed, failed, skipped = (int(n) for n in found[-1])
    if result not in GOOD and result != "SKIP":
        failed = max(failed, 1)  # it died, or a sanitizer spoke, after its last case
    return passed, failed, skipped


def last_words(text):
    return "\n".join("    " + line for line in text.rstrip().splitlines()[-LINES_BEFORE:])


def failure(test):
    """What to print of a test that failed; nothing of one that did not."""
    if count(test)[1] == 0:
        return
    print(f"  {test['name']}: {test['result']}, code {test.get('returncode')}, {test['duration']:.0f} s")
    parts = re.split(r"^(failed case: .*)$", test.get("stdout") or "", flags=re.MULTILINE)
    for said, name in list(zip(parts[::2], parts[1::2]))[:MOST_CASES]:
        print(f"   {name}\n{last_words(said)}")
    if len(parts) == 1:
        print(last_words(parts[0]))
    if test.get("stderr"):
        print(f"   on its error stream\n{last_words(test['stderr'])}")


def main():
    wants_failures = "--failures" in sys.argv
    total = [0, 0, 0]
    for path in (word for word in sys.argv[1:] if word != "--failures"):
        with open(path, encoding="utf-8") as log:
            for line in log:
                test = json.loads(line)
                if wants_failures:
                    failure(test)
                total = [a + b for a, b in zip(total, count(test))]
    if not wants_failures:
        print(*total)
    return 0


if __name__ == "__main__":
    sys.exit(main())
