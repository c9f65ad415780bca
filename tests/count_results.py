#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sums Meson's test logs. Usage: count_results.py testlog.json...

Prints "PASSED FAILED SKIPPED". A program of ours counts its own cases in its last line
("cases: 3 passed, 0 failed, 1 skipped"); any other test counts as one.
"""
import json
import re
import sys

CASES = re.compile(r"^cases: (\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)
GOOD = {"OK", "EXPECTEDFAIL"}


def count(test):
    result = test["result"]
    found = CASES.findall(test.get("stdout") or "")
    if not found:
        return (1, 0, 0) if result in GOOD else (0, 0, 1) if result == "SKIP" else (0, 1, 0)
    passed, failed, skipped = (int(n) for n in found[-1])
    if result not in GOOD and result != "SKIP":
        failed = max(failed, 1)  # it died, or a sanitizer spoke, after its last case
    return passed, failed, skipped


def main():
    total = [0, 0, 0]
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as log:
            for line in log:
                total = [a + b for a, b in zip(total, count(json.loads(line)))]
    print(*total)
    return 0


if __name__ == "__main__":
    sys.exit(main())
