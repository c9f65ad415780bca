#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Rules of the house that a reader of the tree can check. Usage: lint.py RULE ROOT

Exit codes: 0 clean, 1 broken (each line says where and why), 77 cannot be checked here.
"""
import functools
import os
import re
import shutil
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True  # a tree that is read stays as it is
import class_rules  # noqa: E402

SOURCES = (".h", ".hpp", ".cpp", ".c", ".in", ".py", ".build", ".sh")
CODE = (".h", ".hpp", ".cpp", ".c")
MOST_LINES = 700
MEDIAN_LINES = 150

# A room may include these others, itself apart. Public headers are open to all.
BELOW_TRANSPORT = ["base", "wire", "config", "loader", "method", "poll"]
ROOMS = {
    "base": [],
    "wire": ["base"],
    "config": ["base", "wire"],
    "loader": ["base", "wire"],
    "method": ["base", "wire"],
    "poll": ["base", "wire"],
    "bootstrap": ["base", "wire"],
    "transport": BELOW_TRANSPORT,
    "request": BELOW_TRANSPORT + ["transport"],
    "memory": BELOW_TRANSPORT + ["transport", "request"],
    "forward": BELOW_TRANSPORT + ["transport", "request", "bootstrap"],
    "counters": ["base"],
    "context": BELOW_TRANSPORT + ["transport", "request", "memory", "bootstrap", "forward", "counters"],
}
# ECO is a library of its own; its rooms include each other by "<room>/<file>", and the locks and keys of base. The
# pure ones work on values: of the public headers they see these alone, and neither clock nor network.
ECO_ROOMS = {
    "topology": ["base"],
    "plan": ["topology"],
    "model": ["topology", "plan"],
    "synthesis": [],
    "host": ["base"],
    "multicast": ["base"],
    "group": ["base", "topology", "plan", "model", "host", "multicast"],
}
ECO_PURE = ("topology", "plan", "model", "synthesis")
ECO_PURE_HEADERS = ("plexus/eco/", "plexus/error.h", "plexus/export.h", "plexus/status.h")
ECO_IMPURE_SYSTEM = r"chrono|ctime|time\.h|thread|future|sys/.*|netinet/.*|unistd\.h|asio.*"
DEFAULT_ORDER = "runtime/config/default_order.cpp"  # the one place that names modules
RANKS = "runtime/base/mutex.h"  # the one list of lock ranks
LOCKS = ("runtime/base/lock.h", RANKS)  # the classes of locks
BASE = "runtime/base"
UNRANKED = re.compile(r"\bstd::(?:\w+_)?mutex\b|^\s*(?:(?:mutable|static|inline|thread_local) )*(?:plexus::)?Mutex \w+")
MODULES = "shm|tcp|ucx|libfabric|faults|zstd|tls"


def tree(root):
    """Every file of the project, as paths relative to its root."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build", "out")) and f != "packagecache")
        for name in sorted(set(files) - {".git"}):
            yield os.path.relpath(os.path.join(folder, name), root)


def lines_of(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


def code_of(line):
    """The line without its // comment and without one-line /* */ comments."""
    return re.sub(r"/\*.*?\*/", "", re.sub(r"//.*", "", line))


def is_ours(path, kinds=SOURCES):
    return path.endswith(kinds) and not path.startswith("subprojects/")


@functools.lru_cache(maxsize=1)
def base_layer(root):
    """What modules may see of the runtime, as it is included: headers of base without state, and what is made of
    their sources: (headers, sources), by the lists in base's meson.build."""
    build = "\n".join(lines_of(root, BASE + "/meson.build"))

    def names_in(pattern):
        found = re.search(pattern, build)
        return set(re.findall(r"'([\w.]+)'", found.group(1))) if found else set()

    headers = names_in(r"base_layer_headers = \[([^\]]*)\]")
    sources = names_in(r"base_layer_sources = files\(([^)]*)\)")
    return {f"base/{each}" for each in headers}, {f"base/{each}" for each in sources}


def base_layer_lists(root):
    """Each header of the base layer is there, and its source is made into `plexus_base`, and no other is."""
    headers, sources = base_layer(root)
    files = set(os.listdir(os.path.join(root, BASE)))
    if not headers:
        yield f"{BASE}/meson.build: lists no headers of the base layer"
    for header in sorted(headers):
        name = os.path.basename(header)
        source = header[:-2] + ".cpp"
        if name not in files:
            yield f"{BASE}/meson.build: lists {name}, which is not there"
        if os.path.basename(source) in files and source not in sources:
            yield f"{BASE}/meson.build: {name} is of the base layer, its source is not"
    for source in sorted(sources):
        if source[:-4] + ".h" not in headers:
            yield f"{BASE}/meson.build: {os.path.basename(source)} is of the base layer, its header is not"


def arrows(root):
    yield from base_layer_lists(root)
    for path in tree(root):
        if not is_ours(path, CODE):
            continue
        house, _, rest = path.partition("/")
        room = rest.split("/")[0]
        pure = path.startswith(tuple(f"runtime/eco/{each}/" for each in ECO_PURE))
        for number, line in enumerate(lines_of(root, path), 1):
            if pure and re.match(rf"\s*#\s*include\s+<({ECO_IMPURE_SYSTEM})>", line):
                yield f"{path}:{number}: a pure room has no clock, no thread and no network: {line.strip()}"
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            target = match.group(1)
            why = forbidden_include(root, path, house, room, target)
            if why:
                yield f"{path}:{number}: includes \"{target}\": {why}"


def forbidden_include(root, path, house, room, target):
    if target.startswith(".."):
        return "paths start at an include folder"
    first = target.split("/")[0]
    if house == "include":
        if target.startswith("plexus/eco/") and not path.startswith("include/plexus/eco/"):
            return "ECO stands on the public headers, not under them"
        return None if first == "plexus" else "a public header includes public headers only"
    if house == "modules":
        if first in ("common", "message_link", "stream_link", "over", room) or target.startswith("plexus/module/"):
            return None
        if target in base_layer(root)[0]:
            return None
        return f"a module includes plexus/module/, the base layer (see {BASE}/meson.build), common/, message_link/, stream_link/, over/ and itself"
    if path.startswith("runtime/base/") and path[len("runtime/"):] in set.union(*base_layer(root)):
        if target not in base_layer(root)[0]:
            return "the base layer includes itself alone"
    if house == "runtime" and room == "eco":
        return forbidden_in_eco(path.split("/")[2], first, target)
    if house == "runtime" and target.startswith("plexus/eco/"):
        return "ECO stands on the runtime, not under it"
    if house in ("tools", "examples"):
        beside = os.path.join(root, os.path.dirname(path), target)
        above = os.path.join(root, house, target)
        if first == "plexus" and not target.startswith("plexus/module/"):
            return None
        if house == "tools" and target.startswith("runtime/base/"):
            return None
        if first == house or os.path.exists(beside) or os.path.exists(above):
            return None
        return "it sees what an application sees"
    if house == "runtime" and first in ROOMS and first != room and first not in ROOMS.get(room, []):
        return f"{room} may not know {first}"
    return None


def forbidden_in_eco(room, first, target):
    if first == "plexus":
        if target.startswith("plexus/module/"):
            return "it sees what an application sees"
        if room in ECO_PURE and not target.startswith(ECO_PURE_HEADERS):
            return f"{room} works on values: no context, no request"
        return None
    if first == room or first in ECO_ROOMS.get(room, []):
        return None
    return f"eco/{room} may not know {first}"


def comments(root):
    for path in tree(root):
        if not is_ours(path):
            continue
        lines = lines_of(root, path)
        first = lines[1] if lines and lines[0].startswith("#!") and len(lines) > 1 else lines[0] if lines else ""
        if "SPDX-License-Identifier: BSD-3-Clause" not in first:
            yield f"{path}:1: does not start with its SPDX line"
        for number, line in enumerate(lines, 1):
            if re.search(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))", line) and not path.endswith("lint.py"):
                yield f"{path}:{number}: a TODO carries its issue: TODO(#12)"
            if path.endswith(CODE) and re.match(r"\s*//\s*(return\b.*|[\w:.>\[\]-]+\(.*\)|[\w:.<>*& ]+ = .*);\s*$", line):
                yield f"{path}:{number}: looks like code in a comment"


def format(root):  # noqa: A001: the rule's name
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not tool:
        print("clang-format is not installed: on Debian 12, apt-get install clang-format-14")
        sys.exit(77)
    files = [path for path in tree(root) if is_ours(path, (".h", ".hpp", ".cpp"))]
    done = subprocess.run([tool, "--dry-run", "--style=file"] + files, cwd=root, capture_output=True, text=True, check=False)
    broken = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "warning: code should be" in line})
    for path in broken:
        yield f"{path}: not formatted: run clang-format -i"
    if done.returncode != 0 and not broken:
        yield done.stderr


def handles(root):
    """A handle's type is opaque: two modules in one program that each define it break the
    one-definition rule, and the linker mixes up their functions without a word."""
    for path in tree(root):
        if not path.startswith("modules/") or not is_ours(path, CODE):
            continue
        for number, line in enumerate(lines_of(root, path), 1):
            if re.search(r"\b(struct|class)\s+(plexus_link|plexus_module)\b[^;*&(),>]*(\{|$)", code_of(line)):
                yield f"{path}:{number}: defines the handle's type: define one in the module's namespace and cast"


def names(root):
    for path in tree(root):
        if not path.startswith("runtime/") or path.startswith("runtime/eco/") or path == DEFAULT_ORDER:
            continue
        if not is_ours(path, CODE):
            continue
        for number, line in enumerate(lines_of(root, path), 1):
            code = re.sub(r"#\s*include.*", "", code_of(line))
            literals = " ".join(re.findall(r'"(?:[^"\\]|\\.)*"', code))
            # "tcp" outside of a literal is Asio's word, "local" in one may be English.
            found = re.search(rf"\b({MODULES})\b", literals) or re.search(r"\b(shm|ucx|libfabric)\b", code)
            found = found or re.search(r'"local"', literals)
            if found:
                yield f"{path}:{number}: names the module {found.group(0)}: only {DEFAULT_ORDER} may"


def ranks(root):
    """Each mutex of the runtime has a rank, and the list of ranks in base/mutex.h is that of the tree: each rank,
    each file. Mutexes of tools have none."""
    listed, used = {}, {}
    for number, line in enumerate(lines_of(root, RANKS), 1):
        match = re.match(r"// (\d+) (\w+/[\w.]+.*)", line)
        for path in re.findall(r"\b\w+/[\w/]+\.(?:h|cpp)\b", match.group(2)) if match else []:
            listed.setdefault((int(match.group(1)), "runtime/" + path), number)
    for path in tree(root):
        if not path.startswith(("runtime/", "tools/")) or not is_ours(path, CODE) or path in LOCKS:
            continue
        for number, line in enumerate(lines_of(root, path), 1):
            code = code_of(line)
            found = re.findall(r"\bRanked(?:Mutex|Spinlock)<(\d+)>", code)
            if path.startswith("tools/"):
                if found:
                    yield f"{path}:{number}: has a lock with a rank: ranks are the runtime's, take base/lock.h"
                continue
            if UNRANKED.search(code):
                yield f"{path}:{number}: has a mutex without a rank: take RankedMutex of {RANKS}"
            for rank in found:
                used.setdefault((int(rank), path), number)
    for (rank, path), number in sorted(used.items()):
        if (rank, path) not in listed:
            yield f"{path}:{number}: has a lock of rank {rank}, which {RANKS} does not list for this file"
    for (rank, path), number in sorted(listed.items()):
        if (rank, path) not in used:
            yield f"{RANKS}:{number}: lists rank {rank} for {path}, which has no such lock"
    if not listed:
        yield f"{RANKS}: has no list of ranks"


def sizes(root):
    counts = {p: len(lines_of(root, p)) for p in tree(root) if is_ours(p)}
    for path, count in counts.items():
        if count > MOST_LINES:
            yield f"{path}: {count} lines; {MOST_LINES} are the most"
    house = [c for p, c in counts.items() if p.startswith(("runtime/", "modules/", "include/"))]
    if house and statistics.median(house) > MEDIAN_LINES:
        yield f"half of the files have more than {statistics.median(house):.0f} lines; the aim is {MEDIAN_LINES}"


def paths(root):
    for path in tree(root):
        if path.startswith("subprojects/") or path.endswith((".png", ".svg", ".bin")):
            continue
        for number, line in enumerate(lines_of(root, path), 1):
            for found in re.finditer(r"/(home|root|work|users|tmp/build)/", line.lower()):
                yield f"{path}:{number}: \"{found.group()}\" is a folder of one user or one build"


def main():
    rules = {rule.__name__: rule for rule in (arrows, comments, format, handles, names, paths, ranks, sizes)}
    of_classes = {rule.__name__: rule for rule in class_rules.RULES}
    if len(sys.argv) != 3 or sys.argv[1] not in rules | of_classes:
        print(f"usage: lint.py {{{'|'.join(rules | of_classes)}}} ROOT", file=sys.stderr)
        return 2
    rule, root = sys.argv[1:]
    if rule in of_classes:
        left = class_rules.allowed(root).get(rule, 0)
        lines, is_broken = class_rules.judge(rule, list(of_classes[rule](root, list(tree(root)))), left)
        print(*lines, sep="\n")
        return 1 if is_broken else 0
    broken = list(rules[rule](root))
    for line in broken:
        print(line)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
