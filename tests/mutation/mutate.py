#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which one-line changes to the code do the tests notice?

Usage: mutate.py [--scratch FOLDER] [--jobs N] [--only ID] [--again] [--alone] [--check] [ROOM...]

Copies the tree to the scratch folder, puts every change of the rooms behind a switch, builds once, runs
each suite without a change (it must pass), then the suites of each change with that change switched on.
See README.md for the format of changes/ROOM.txt.

Exit codes: 0 all rooms reach 95 %, 1 a room does not, 2 usage, 3 a list, the build or a suite is at fault.
"""
import argparse
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WANTED = 0.95
MOST_MEMORY = 8 << 30         # bytes of a process of a suite
MARK = "MUTANT"            # in a changed line: true while this change is switched on
VARIABLE = "TESTED_CHANGE"  # names the change that is switched on
HEADER = "plexus_changes.h"
SWITCH = """// The switch behind every change: true in the process whose environment names it.
#pragma once
#include <cstdlib>
#include <type_traits>

constexpr unsigned long long plexus_change_hash(const char* name) {
    unsigned long long hash = 14695981039346656037ull;
    for (; *name != 0; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 1099511628211ull;
    return hash;
}
inline unsigned long long plexus_change_on() {
    static const unsigned long long on = [] {
        const char* const name = std::getenv("%s");
        return name == nullptr ? 0 : plexus_change_hash(name);
    }();
    return on;
}
template <unsigned long long Hash>
constexpr bool plexus_change() {
    if (std::is_constant_evaluated()) return false;
    return plexus_change_on() == Hash;
}
""" % VARIABLE


class Fault(Exception):
    pass


class Change:
    def __init__(self, room, name, file, where):
        self.id = f"{room}/{name}"
        self.room, self.file, self.where = room, file, where
        self.old, self.new, self.suites = [], [], []

    def key(self):
        """Says whether a kept result is about this change as it is now."""
        return hashlib.sha1("\n".join([self.file, *self.old, ">", *self.new]).encode()).hexdigest()[:12]


def read_room(room):
    path = os.path.join(HERE, "changes", room + ".txt")
    if not os.path.exists(path):
        raise Fault(f"no room {room}: {path} is missing")
    changes, suites = [], []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().splitlines(), 1):
            where = f"{path}:{number}"
            if not line.strip() or line.startswith("#"):
                continue
            sign, rest = line[0], line[2:]
            if sign == "*" and len(rest.split()) == 2:
                changes.append(Change(room, *rest.split(), where))
                changes[-1].suites = suites
            elif sign == "@" and rest:
                named = [each.strip() for each in rest.split(",")]
                if changes and not changes[-1].old:
                    changes[-1].suites = named
                else:
                    suites = named
            elif sign in "-+" and changes:
                (changes[-1].old if sign == "-" else changes[-1].new).append(rest.strip())
            else:
                raise Fault(f"{where}: a line begins with one of # @ * - + and a blank")
    for change in changes:
        if not change.old or not change.new or not change.suites:
            raise Fault(f"{change.where}: {change.id} needs a line to replace (-), a changed line (+) and suites (@)")
        if not any(re.search(rf"\b{MARK}\b", line) for line in change.new):
            raise Fault(f"{change.where}: {change.id}: the changed line does not say {MARK}")
    return changes


def apply(changes, text, file):
    """The text of `file` with all its changes behind their switches."""
    lines = text.split("\n")
    taken, misfits = {}, []
    for change in changes:
        size = len(change.old)
        stripped = [line.strip() for line in lines]
        found = [i for i in range(len(lines) - size + 1) if stripped[i:i + size] == change.old]
        if len(found) != 1:
            misfits.append(f"{change.where}: {change.id}: {file} has this line {len(found)} times, not once: {change.old[0]}")
            continue
        for i in range(found[0], found[0] + size):
            if i in taken:
                raise Fault(f"{change.where}: {change.id} replaces the line that {taken[i]} replaces")
            taken[i] = change.id
    if misfits:
        raise Fault("\n".join(misfits))
    for change in changes:
        stripped = [line.strip() if isinstance(line, str) else None for line in lines]
        size = len(change.old)
        at = next(i for i in range(len(lines) - size + 1) if stripped[i:i + size] == change.old)
        new = "\n".join(change.new)
        new = re.sub(rf"\b{MARK}\b", f'plexus_change<plexus_change_hash("{change.id}")>()', new)
        lines[at:at + size] = [(new,)] + [("",)] * (size - 1)  # a tuple is no line to be found again
    return "\n".join(line if isinstance(line, str) else line[0] for line in lines)


def changed_files(changes, tree):
    """The files that have changes, with all of them behind their switches: path -> bytes."""
    by_file = {}
    for change in changes:
        by_file.setdefault(change.file, []).append(change)
    files, misfits = {}, []
    for path, there in by_file.items():
        source = os.path.join(ROOT, path)
        if not os.path.isfile(source):
            misfits.append(f"{there[0].where}: {there[0].id}: no file {path}")
            continue
        with open(source, encoding="utf-8") as file:
            text = file.read()
        header = f'#include "{os.path.join(tree, HEADER)}"\n'
        if path.endswith(".cpp"):
            header = "#pragma GCC optimize(1)\n" + header  # less to compile
        try:
            files[path] = (header + apply(there, text, path)).encode()
        except Fault as fault:
            misfits.append(str(fault))
    if misfits:
        raise Fault("\n".join(misfits))
    return files


def mutated_tree(changes, tree):
    """Files of the copy: path -> bytes. Only what git knows, or would add."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            check=True, capture_output=True).stdout.decode().split("\0")
    changed = changed_files(changes, tree)
    files = {}
    for path in filter(None, listed):
        source = os.path.join(ROOT, path)
        if os.path.isfile(source) and path not in changed:
            with open(source, "rb") as file:
                files[path] = file.read()
    return {**files, **changed, HEADER: SWITCH.encode()}


def copy_tree(files, tree):
    """Writes what differs, so that a second build is short."""
    known = os.path.join(tree, ".files")
    before = set(open(known, encoding="utf-8").read().split("\0")) if os.path.exists(known) else set()
    for path in before - set(files):
        if path and os.path.exists(os.path.join(tree, path)):
            os.remove(os.path.join(tree, path))
    for path, content in files.items():
        target = os.path.join(tree, path)
        if os.path.exists(target) and open(target, "rb").read() == content:
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(content)
        if path in (known, HEADER) or not os.path.exists(os.path.join(ROOT, path)):
            continue
        os.chmod(target, os.stat(os.path.join(ROOT, path)).st_mode & 0o777)
    with open(known, "w", encoding="utf-8") as file:
        file.write("\0".join(sorted(files)))


def run(command, **options):
    print("+", shlex.join(command), flush=True)
    if subprocess.run(command, **options).returncode != 0:
        raise Fault("failed: " + shlex.join(command))


def build(tree, folder, jobs, suites):
    cached = {"CXX": "ccache g++", "CC": "ccache gcc"} if shutil.which("ccache") and "CXX" not in os.environ else {}
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        # As everybody builds it, in a folder of the same name: what has no change is in the compiler's cache.
        run(["meson", "setup", folder, tree, "--buildtype=release", "-Dwerror=true", "-Dunity=on", "-Dunity_size=7"],
            env={**os.environ, **cached}, stdout=subprocess.DEVNULL)
    tests = known_tests(folder)
    targets = set()
    for suite in suites:
        if suite.split(" ", 1)[0] not in tests:
            raise Fault(f"no suite {suite.split(' ', 1)[0]}: it is one of {', '.join(sorted(tests))}")
        test = tests[suite.split(" ", 1)[0]]
        targets.update(os.path.relpath(each, folder) for each in test["cmd"] if each.startswith(folder + "/"))
        targets.update(depends_of(folder, test))
    run(["nice", "ninja", "-C", folder, "-j", str(jobs), "--quiet", *sorted(targets)])
    return known_tests(folder)


def known_tests(folder):
    """Suite -> test; a suite is written FOLDER/NAME as meson prints it, blanks as underscores."""
    listed = subprocess.run(["meson", "introspect", "--tests", folder], check=True, capture_output=True).stdout
    return {f"{test['suite'][0].split(':')[-1]}/{test['name']}".replace(" ", "_"): test for test in json.loads(listed)}


def depends_of(folder, test):
    wanted = set(test.get("depends", []))
    listed = subprocess.run(["meson", "introspect", "--targets", folder], check=True, capture_output=True).stdout
    for target in json.loads(listed):
        if target["id"] in wanted:
            yield from (os.path.relpath(name, folder) for name in target["filename"])


def bound_memory():
    """In a suite's process: a change may let memory grow without end, which would end other programs first."""
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))


def run_suite(tests, suite, change, limit):
    """How it ended: passed, failed, or time; and how long it took."""
    name, _, cases = suite.partition(" ")
    test = tests[name]
    command = list(test["cmd"]) + ([cases] if cases else [])
    if name.startswith(("unit/", "conformance/", "builtin/", "eco/", "faults/")) or "-over-" in name:
        command.append("--abort")
    environment = {**os.environ, **test["env"], VARIABLE: change or ""}
    start = time.monotonic()
    with subprocess.Popen(command, cwd=test.get("workdir") or os.getcwd(), env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                          preexec_fn=bound_memory) as process:
        try:
            code = process.wait(limit)
            ended = "passed" if code == 0 else "failed"
        except subprocess.TimeoutExpired:
            ended = "time"
        try:  # also what it has started
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return ended, time.monotonic() - start


class Results:
    """Kept in a file after each change, so that an interrupted run goes on where it was."""

    def __init__(self, path, again):
        self.path, self.kept = path, {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.kept = json.load(file)
        self.again = again

    def of(self, change):
        kept = self.kept.get(change.id)
        if kept is None or kept["key"] != change.key() or (self.again and not kept["noticed"]):
            return None
        return kept

    def keep(self, change, noticed, by):
        self.kept[change.id] = {"key": change.key(), "noticed": noticed, "by": by}
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.kept, file, indent=1, sort_keys=True)
        os.replace(self.path + ".new", self.path)


def try_changes(changes, tests, results):
    clean = {}  # suite -> seconds without a change
    for change in changes:
        if results.of(change) is not None:
            continue
        noticed, by = False, ""
        for suite in change.suites:
            if suite not in clean:
                ended, clean[suite] = run_suite(tests, suite, None, 600)
                if ended != "passed":
                    raise Fault(f"{suite} does not pass without a change")
                print(f"  {suite}: {clean[suite]:.1f} s", flush=True)
            ended, seconds = run_suite(tests, suite, change.id, 20 + 4 * clean[suite])
            if ended != "passed":
                noticed, by = True, suite + (" (time limit)" if ended == "time" else "")
                break
        print(f"  {change.id}: {'noticed by ' + by if noticed else 'SURVIVED'}", flush=True)
        results.keep(change, noticed, by)


def report(rooms, changes, results):
    worst = 1.0
    print(f"\n{'room':14} {'changes':>8} {'noticed':>8} {'by limit':>9} {'score':>7}")
    survivors, total, found = [], 0, 0
    for room in rooms:
        own = [(change, results.of(change) or results.kept.get(change.id)) for change in changes if change.room == room]
        noticed = [kept for _, kept in own if kept and kept["noticed"]]
        survivors += [change for change, kept in own if kept and not kept["noticed"]]
        score = len(noticed) / len(own) if own else 1.0
        worst = min(worst, score)
        total, found = total + len(own), found + len(noticed)
        late = sum("(time limit)" in kept["by"] for kept in noticed)
        print(f"{room:14} {len(own):8} {len(noticed):8} {late:9} {score:7.1%}")
    print(f"{'all':14} {total:8} {found:8} {'':9} {found / total if total else 1:7.1%}")
    for change in survivors:
        print(f"\nsurvived: {change.id}, {change.file}, suites {', '.join(change.suites)}")
        for sign, lines in (("-", change.old), ("+", change.new)):
            for line in lines:
                print(f"  {sign} {line}")
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help="names of changes/ROOM.txt; without one: all")
    parser.add_argument("--scratch", default="/tmp/plexus-mutation", help="copy, build and results; kept")
    parser.add_argument("--jobs", type=int, default=2, help="of the build; the suites run one at a time")
    parser.add_argument("--only", metavar="ID", action="append", help="try this change alone, also if it was tried")
    parser.add_argument("--again", action="store_true", help="try those again that were not noticed")
    parser.add_argument("--alone", action="store_true", help="build the changes of these rooms only")
    parser.add_argument("--check", action="store_true", help="only see that the lists fit the code")
    options = parser.parse_args()
    known = sorted(name[:-4] for name in os.listdir(os.path.join(HERE, "changes")) if name.endswith(".txt"))
    rooms = options.rooms or known
    scratch = os.path.abspath(options.scratch)
    tree, folder = scratch, os.path.join(scratch, "build", "release")
    changes = [change for room in rooms for change in read_room(room)]
    # One build for any choice of rooms: what is not switched on costs a comparison.
    others = [change for room in known if room not in rooms and not options.alone for change in read_room(room)]
    ids = [change.id for change in changes]
    twice = {each for each in ids if ids.count(each) > 1}
    if twice:
        raise Fault("two changes have one name: " + ", ".join(sorted(twice)))
    unknown = sorted(set(options.only or []) - set(ids))
    if unknown:
        parser.error(f"no change {', '.join(unknown)} in {', '.join(rooms)}")
    if options.check:
        changed_files(changes, tree)
        print(f"{len(changes)} changes fit the code")
        return 0
    try:
        files = mutated_tree(changes + others, tree)
    except Fault:
        files = mutated_tree(changes, tree)  # a list of another room does not fit the code
    os.makedirs(tree, exist_ok=True)
    copy_tree(files, tree)
    tests = build(tree, folder, options.jobs, sorted({suite for change in changes for suite in change.suites}))
    results = Results(os.path.join(scratch, "results.json"), options.again)
    chosen = changes
    if options.only:
        chosen = [change for change in changes if change.id in options.only]
        for change in chosen:
            results.kept.pop(change.id, None)
    try_changes(chosen, tests, results)
    results.again = False
    return 0 if report(rooms, changes, results) >= WANTED else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Fault as fault:
        print(fault, file=sys.stderr)
        sys.exit(3)
