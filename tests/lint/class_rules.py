# SPDX-License-Identifier: BSD-3-Clause
"""Rules about classes and names, on what declarations.py reads of the tree.

Each rule gives its findings as (path, line, what). A rule that the tree does not keep everywhere yet has
a number in ratchet.txt: so many findings are left, and the number may only fall."""
import os
import re
from collections import defaultdict

from declarations import parse

MOST_FIELDS = 15
MOST_FUNCTIONS = 30
HOUSES = ("include/", "runtime/", "modules/", "tools/", "examples/")

# Classes that may be larger than the rule `classes` says, and why. Eight at most.
LARGE_CLASSES = {
    "plexus::Context": "the one entry of the public API: overloads of on() and bind(), and forwarding functions without state",
    "plexus::poll::Lane": "one method's numbers in the poll loop: plain data in the order of the cache lines that a turn touches",
    "climate::Ocean": "an example's physical fields, one array for each quantity of the model",
    "climate::Atmosphere": "an example's physical fields, one array for each quantity of the model",
}
MOST_LARGE_CLASSES = 8

# Rooms of the runtime and of ECO whose namespaces no application needs to know.
INTERNALS = ("bootstrap", "config", "context", "host", "loader", "memory", "method", "multicast", "poll", "request",
             "topology", "transport", "wire")

MUTEX = re.compile(r"(recursive_|shared_|timed_)*mutex$|(Ranked)?(Mutex|Spinlock)$|[A-Z]\w*Mutex$")


def files_of(root, paths, houses, kinds=(".h", ".cpp")):
    """(path, what was read of it) for each file, read once."""
    for path in paths:
        if path.startswith(houses) and path.endswith(kinds):
            yield path, _read(os.path.join(root, path))


_cache = {}


def _read(path):
    if path not in _cache:
        with open(path, encoding="utf-8", errors="replace") as file:
            _cache[path] = parse(file.read())
    return _cache[path]


def classes(root, paths):
    """No class is large: at most 15 fields and 30 member functions."""
    if len(LARGE_CLASSES) > MOST_LARGE_CLASSES:
        yield "tests/lint/class_rules.py", 1, f"{len(LARGE_CLASSES)} classes are listed as exceptions; {MOST_LARGE_CLASSES} are the most"
    large = set()
    for path, unit in files_of(root, paths, HOUSES):
        if path == "include/plexus/module/abi.h":
            continue  # tables of C functions: their slots are the contract
        for each in unit.classes:
            fields, functions = len(each.object_fields()), len(each.member_functions())
            if fields <= MOST_FIELDS and functions <= MOST_FUNCTIONS:
                continue
            large.add(each.name)
            if each.name not in LARGE_CLASSES:
                yield path, each.line, (f"{each.name} has {fields} fields and {functions} member functions; "
                                        f"{MOST_FIELDS} and {MOST_FUNCTIONS} are the most")
    for name in sorted(set(LARGE_CLASSES) - large):
        yield "tests/lint/class_rules.py", 1, f"{name} is listed as an exception and is not large"


def one_file(root, paths):
    """A class is implemented in one .cpp, so that its size is seen."""
    known = set()
    for _, unit in files_of(root, paths, HOUSES, (".h",)):
        known.update(each.name for each in unit.classes)
    where = defaultdict(dict)
    for path, unit in files_of(root, paths, HOUSES, (".cpp",)):
        for function in unit.functions:
            owner = function.name.rpartition("::")[0]
            if function.defined and owner in known:
                where[owner].setdefault(path, function.line)
    for owner, found in sorted(where.items()):
        houses = defaultdict(list)
        for path in sorted(found):
            houses[path.split("/")[0] + (path.split("/")[1] if path.startswith(("modules/", "examples/")) else "")].append(path)
        for several in houses.values():
            if len(several) > 1:
                yield several[0], found[several[0]], f"{owner} is implemented in {len(several)} files: {', '.join(several)}"


def locks(root, paths):
    """A mutex says what it guards: clang checks only what carries GUARDED_BY."""
    for path, unit in files_of(root, paths, ("include/", "runtime/", "modules/", "tools/")):
        for each in unit.classes:
            mutexes = [field for field in each.object_fields()
                       if any(MUTEX.match(word) for word in field.type) and not {"&", "*"} & set(field.type)]
            if mutexes and not any(field.guarded for field in each.fields) and not _is_a_lock(each):
                yield path, mutexes[0].line, f"{each.name} has a mutex, {mutexes[0].name}, and no field with GUARDED_BY"


def _is_a_lock(owner):
    return {"lock", "unlock"} <= {function.name for function in owner.functions}


def internals(root, paths):
    """Public headers show nothing of the rooms, except in detail/, which programs do not include."""
    for path, unit in files_of(root, paths, ("include/plexus/",), (".h",)):
        if "/detail/" in path:
            continue
        tokens = unit.tokens
        for at, token in enumerate(tokens[:-1]):
            room = token.text in INTERNALS and tokens[at + 1].text in ("::", "{")
            shown = room and (tokens[at + 1].text == "::" or (at > 0 and tokens[at - 1].text in ("namespace", "::")))
            if shown:
                yield path, token.line, f"shows {token.text}::, which is inside the library"


SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*$")
CAMEL = re.compile(r"[A-Z][A-Za-z0-9]*$")
CONSTANT = re.compile(r"k[A-Z0-9][A-Za-z0-9]*$")
FREE_MACROS = re.compile(r"PLEXUS_\w+$|LAB_\w+$|_GNU_SOURCE$|ASIO_\w+$|TOML_\w+$|SPDLOG_\w+$|FMT_\w+$|CATCH_\w+$")
# What the language or a library calls by these names.
GIVEN = re.compile(r"operator|(promise_type|get_return_object|unhandled_exception|main|LLVMFuzzerTestOneInput)$")


def identifiers(root, paths):
    """Types CamelCase; functions, variables and fields snake_case; constants kCamel; private fields with a
    trailing underscore, others without; macros PLEXUS_."""
    for path, unit in files_of(root, paths, HOUSES):
        if path.startswith("include/plexus/module/"):
            continue  # C, whose names all begin with plexus_
        for name, line in unit.macros:
            if not FREE_MACROS.match(name):
                yield path, line, f"the macro {name} does not begin with PLEXUS_"
        for each in unit.classes:
            if not CAMEL.match(each.own_name) and not _has_given_name(each):
                yield path, each.line, f"the type {each.own_name} is not CamelCase"
            for field in each.fields:
                yield from _field(path, each, field)
            for function in each.functions:
                yield from _function(path, function, each)
        for function in unit.functions:
            yield from _function(path, function, None)
        for variable in unit.variables:
            if variable.is_constant and not _is_request(variable) and not CONSTANT.match(variable.name):
                if not (SNAKE.match(variable.name) and (variable.is_template or _is_object(variable))):
                    yield path, variable.line, f"the constant {variable.name} is not called k…"


def _has_given_name(each):
    """A specialisation of another library's template, a struct of C, or a name that the language looks for."""
    return SNAKE.match(each.own_name) and (each.is_template or GIVEN.match(each.own_name) or each.name.startswith(("std::", "cereal::", "fmt::"))
                                           or each.own_name.startswith("plexus_"))


def _is_request(variable):
    return "Request" in variable.type


def _is_object(variable):
    """`inline constexpr Automatic automatic{}`: a name that programs write like a word."""
    return any(CAMEL.match(word) for word in variable.type)


def _field(path, owner, field):
    if field.is_static:
        # Constants may be called as in the standard library: value, size, is_….
        if not (CONSTANT.match(field.name) and {"const", "constexpr"} & set(field.type)) and not SNAKE.match(field.name.rstrip("_")):
            yield path, field.line, f"the static member {owner.own_name}::{field.name} is neither k… nor snake_case"
        return
    if not SNAKE.match(field.name.rstrip("_")):
        yield path, field.line, f"the field {owner.own_name}::{field.name} is not snake_case"
    elif field.access == "public" and field.name.endswith("_"):
        yield path, field.line, f"the public field {owner.own_name}::{field.name} ends with an underscore"
    elif field.access != "public" and not field.name.endswith("_"):
        yield path, field.line, f"the private field {owner.own_name}::{field.name} has no underscore at its end"


def _function(path, function, owner):
    name = function.name.rsplit("::", 1)[-1].lstrip("~")
    parent = owner.own_name if owner else function.name.split("::")[-2] if "::" in function.name else ""
    if name == parent or GIVEN.match(name) or SNAKE.match(name):
        return
    yield path, function.line, f"the function {function.name} is not snake_case"


RULES = (classes, one_file, locks, internals, identifiers)


def allowed(root):
    """How many findings of each rule are left."""
    numbers = {}
    with open(os.path.join(root, "tests/lint/ratchet.txt"), encoding="utf-8") as file:
        for line in file:
            words = line.partition("#")[0].split()
            if words:
                numbers[words[0]] = int(words[1])
    return numbers


def judge(rule, found, left):
    """(lines to print, whether the rule is broken)."""
    lines = [f"{path}:{line}: {what}" for path, line, what in found]
    if len(found) > left:
        if left:
            lines.append(f"{rule}: {len(found)} findings; tests/lint/ratchet.txt allows {left} that were there before")
        return lines, True
    if len(found) < left:
        lines.append(f"{rule}: only {len(found)} findings are left: lower its number in tests/lint/ratchet.txt from {left}")
    return lines, False
