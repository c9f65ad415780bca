# SPDX-License-Identifier: BSD-3-Clause
"""Reads C++ as far as the lint needs it: which classes a file declares with which members, and which
functions it defines. A tokenizer and a walk over balanced brackets; no types, no macros, no templates.
What the walk does not understand it skips up to the next semicolon or brace."""
import re
from dataclasses import dataclass, field

TOKEN = re.compile(r"""
    (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]*)\(.*?\)(?P=delimiter)")
  | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
  | (?P<char>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
  | (?P<comment>//[^\n]*(?:\\\n[^\n]*)*|/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:[^\\\n/]|\\.|\\\n|/(?![/*]))*)
  | (?P<number>\.?\d(?:'?[\w.]|[eEpP][+-])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<punct>::|->|\.\.\.|[^\s\w])
  | (?P<blank>\s+)
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

OPEN = {"(": ")", "[": "]", "{": "}"}
# Written like a call behind or before a declaration, but part of neither name nor type.
MACRO = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+$")
NOT_A_CALL = re.compile(MACRO.pattern + r"|alignas$|decltype$|noexcept$|requires$|explicit$|__attribute__$|asm$")
KEYS = ("class", "struct", "union")
NOT_A_MEMBER = ("using", "typedef", "friend", "static_assert", "enum", "namespace", "extern", "asm")


@dataclass
class Token:
    kind: str
    text: str
    line: int


@dataclass
class Field:
    name: str
    line: int
    type: list       # texts of the tokens before the name
    access: str
    is_static: bool
    is_constant: bool
    guarded: bool    # carries GUARDED_BY or PT_GUARDED_BY
    is_template: bool = False


@dataclass
class Function:
    name: str        # with its qualifiers: "Link::send"
    line: int
    access: str
    defined: bool
    generated: bool  # = default or = delete
    words: list      # texts of the tokens before the name


@dataclass
class Class:
    name: str        # "plexus::tcp::Link"; a class in an unnamed namespace has "{}" in its name
    key: str
    line: int
    is_template: bool = False
    fields: list = field(default_factory=list)
    functions: list = field(default_factory=list)

    @property
    def own_name(self):
        return self.name.rsplit("::", 1)[-1]

    def object_fields(self):
        return [each for each in self.fields if not each.is_static]

    def member_functions(self):
        """Without constructors, the destructor, and what the compiler writes."""
        return [each for each in self.functions
                if not each.generated and each.name.lstrip("~") != self.own_name]


@dataclass
class Unit:
    classes: list = field(default_factory=list)
    functions: list = field(default_factory=list)   # at namespace scope, also "Class::function"
    variables: list = field(default_factory=list)   # at namespace scope
    macros: list = field(default_factory=list)      # (name, line)
    tokens: list = field(default_factory=list)


def tokenize(text):
    """Tokens without comments and blanks; a directive of the preprocessor is one token."""
    line, at = 1, 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:  # an unterminated string or comment: the character alone
            yield Token("punct", text[at], line)
            at += 1
            continue
        kind, word = match.lastgroup, match.group()
        if match.group("raw"):
            kind = "raw"
        if kind not in ("blank", "comment"):
            yield Token("string" if kind == "raw" else kind, word, line)
        line += word.count("\n")
        at = match.end()


def parse(text):
    unit = Unit()
    for token in tokenize(text):
        if token.kind == "directive":
            macro = re.match(r"[ \t]*#[ \t]*define[ \t]+(\w+)", token.text)
            if macro:
                unit.macros.append((macro.group(1), token.line))
        else:
            unit.tokens.append(token)
    _Walk(unit).scope(0, len(unit.tokens), [], None)
    return unit


class _Walk:
    def __init__(self, unit):
        self.unit = unit
        self.tokens = unit.tokens

    def text(self, at):
        return self.tokens[at].text if at < len(self.tokens) else ""

    def behind(self, at):
        """Behind the bracket that closes the one at `at`."""
        depth = 0
        for place in range(at, len(self.tokens)):
            if self.text(place) in OPEN:
                depth += 1
            elif self.text(place) in OPEN.values():
                depth -= 1
                if depth == 0:
                    return place + 1
        return len(self.tokens)

    def behind_angles(self, at, end):
        """Behind the > that closes the < at `at`; `at` + 1 where it is a comparison."""
        depth, place = 0, at
        while place < end:
            text = self.text(place)
            if text in OPEN:
                place = self.behind(place)
                continue
            if text in (";", "}", ")"):
                return at + 1
            depth += (text == "<") - (text == ">")
            place += 1
            if depth == 0:
                return place
        return at + 1

    def scope(self, at, end, path, owner):
        access = "private" if owner and owner.key == "class" else "public"
        while at < end:
            text = self.text(at)
            if text in (";", "}"):
                at += 1
            elif owner and text in ("public", "private", "protected") and self.text(at + 1) == ":":
                access = text
                at += 2
            else:
                at = self.statement(at, end, path, owner, access)

    def statement(self, at, end, path, owner, access):
        begin = at
        is_template = False
        while self.text(at) == "template":
            is_template = True
            at = self.behind_angles(at + 1, end) if self.text(at + 1) == "<" else at + 1
        if self.text(at) == "requires":
            at = self.behind_requires(at, end)
        if self.text(at) == "inline" and self.text(at + 1) == "namespace":
            at += 1
        if self.text(at) == "namespace":
            return self.namespace(at, end, path)
        if self.text(at) == "extern" and self.text(at + 1) == '"C"':
            if self.text(at + 2) == "{":
                self.scope(at + 3, self.behind(at + 2) - 1, path + ["extern C"], None)
                return self.behind(at + 2)
            path, at = path + ["extern C"], at + 2
        if self.text(at) in KEYS:
            behind = self.class_at(at, end, path, owner, access, is_template)
            if behind:
                return behind
        if self.text(at) in NOT_A_MEMBER:
            return self.skip_statement(at, end)
        seen = len(owner.fields if owner else self.unit.variables)
        behind = self.member(at, end, path, owner, access)
        for each in (owner.fields if owner else self.unit.variables)[seen:]:
            each.is_template = is_template
        return max(behind, begin + 1)

    def behind_requires(self, at, end):
        """A clause before a declaration: in brackets, or names with template arguments joined by && and ||."""
        at += 1
        while at < end:
            if self.text(at) in OPEN:
                at = self.behind(at)
            else:
                at += 1
                while self.text(at) == "::":
                    at += 2
                if self.text(at) == "<":
                    at = self.behind_angles(at, end)
            if self.text(at) in ("&", "|") and self.text(at + 1) == self.text(at):
                at += 2
            else:
                return at
        return at

    def skip_statement(self, at, end):
        while at < end:
            if self.text(at) == ";":
                return at + 1
            at = self.behind(at) if self.text(at) in OPEN else at + 1
        return at

    def namespace(self, at, end, path):
        at += 1
        names = []
        while at < end and self.text(at) not in ("{", ";", "="):
            if self.tokens[at].kind == "name" and self.text(at + 1) != "(" and self.text(at) != "inline":
                names.append(self.text(at))
            at = self.behind(at) if self.text(at) in OPEN else at + 1
        if self.text(at) != "{":
            return self.skip_statement(at, end)
        self.scope(at + 1, self.behind(at) - 1, path + (names or ["{}"]), None)
        return self.behind(at)

    def class_at(self, at, end, path, owner, access, is_template):
        """Behind a class's definition; None: it only names a class, as `struct stat there{}` does."""
        key, line = self.text(at), self.tokens[at].line
        place, name = at + 1, ""
        while place < end and self.text(place) not in ("{", ";", ":"):
            token = self.tokens[place]
            if token.text in OPEN:
                place = self.behind(place)
            elif token.text == "<":
                place = self.behind_angles(place, end)
            elif token.kind == "name":
                if self.text(place + 1) == "(" and not NOT_A_CALL.match(token.text):
                    return None
                if token.text != "final" and self.text(place + 1) != "(":
                    if name and self.text(place - 1) not in ("::", "]", ")") and not MACRO.match(name):
                        return None
                    name = name + "::" + token.text if self.text(place - 1) == "::" else token.text
                place += 1
            elif token.text == "::":
                place += 1
            else:
                return None
        while place < end and self.text(place) not in ("{", ";"):  # bases
            if self.text(place) == "<":
                place = self.behind_angles(place, end)
            else:
                place = self.behind(place) if self.text(place) in OPEN else place + 1
        if self.text(place) != "{":
            return place + 1
        found = Class("::".join(path + name.split("::") if name else path + ["{}"]), key, line, is_template)
        if name:
            self.unit.classes.append(found)
        behind = self.behind(place)
        self.scope(place + 1, behind - 1, found.name.split("::"), found)
        if self.text(behind) == ";":
            return behind + 1
        if not name and owner and self.tokens[behind].kind != "name":
            return behind
        return self.declarators(behind, end, path, owner, access, [key, name])

    def member(self, at, end, path, owner, access):
        """A function or variables, from `at` on."""
        place, words, called, guarded = at, [], None, False
        while place < end:
            token = self.tokens[place]
            text = token.text
            if text == "operator":
                name, place = self.operator_name(place, end)
                words += [name]
                called = len(words) - 1
                return self.function(at, place, end, path, owner, access, words, called)
            if text == "<" and words:
                behind = self.behind_angles(place, end)
                words += [each.text for each in self.tokens[place:behind]]
                place = behind
                if behind - 1 > 0 and self.text(behind - 1) == ">":
                    words.append("")  # what follows is not part of the arguments
            elif text == "[":
                if self.text(place + 1) == "[":
                    place = self.behind(place)
                else:
                    return self.variables(place, end, path, owner, access, words, guarded)
            elif text == "(":
                before = words[-1] if words else ""
                if NOT_A_CALL.match(before) and not self.is_constructor(before, owner):
                    guarded = guarded or before.endswith("GUARDED_BY")
                    words.pop()
                    place = self.behind(place)
                elif self.text(place + 1) in ("*", "&") or self.is_pointer_to_member(place):
                    return self.variables(place, end, path, owner, access, words, guarded)
                elif re.match(r"~?\w+$", before):
                    return self.function(at, place, end, path, owner, access, words, len(words) - 1)
                else:
                    place = self.behind(place)
            elif text in (";", "=", "{", ",", ":"):
                return self.variables(place, end, path, owner, access, words, guarded)
            elif text == "~":
                words.append("~" + self.text(place + 1))
                place += 2
            elif text == "}":
                return place + 1
            else:
                words.append(text)
                place += 1
        return place

    def is_pointer_to_member(self, place):
        """At `(Class::*name)`, and not at parameters."""
        inside = [each.text for each in self.tokens[place + 1:self.behind(place) - 1]]
        return len(inside) > 3 and inside[-2] == "*" and inside[-3] == "::" and all(
            each == "::" or re.match(r"\w+$", each) for each in inside[:-3])

    @staticmethod
    def is_constructor(name, owner):
        return owner is not None and name == owner.own_name

    def operator_name(self, place, end):
        name, place = "operator", place + 1
        if self.text(place) == "(":
            return name + "()", place + 2
        while place < end and self.text(place) != "(":
            name += (" " if self.tokens[place].kind == "name" else "") + self.text(place)
            place += 1
        return name, place

    def function(self, begin, place, end, path, owner, access, words, called):
        line = self.tokens[min(place, len(self.tokens) - 1)].line
        name, first = words[called], called
        while first >= 2 and words[first - 1] == "::":
            first -= 2
            while first > 0 and words[first] == "" or words[first] == ">":
                depth = 0
                while first > 0:
                    depth += (words[first] == ">") - (words[first] == "<")
                    first -= 1
                    if depth == 0 and words[first + 1] == "<":
                        break
            name = words[first] + "::" + name
        found = Function(name, line, access, False, False, words[:max(first, 0)])
        is_guide = False
        place = self.behind(place)
        while place < end:
            text = self.text(place)
            if text == ";":
                place += 1
                break
            if text == "=":
                found.generated = self.text(place + 1) in ("default", "delete")
                place = self.skip_statement(place, end)
                break
            if text == "{":
                found.defined = True
                place = self.behind(place)
                break
            if text == "try":
                place += 1
            elif text == ":":
                place = self.behind_initialisers(place + 1, end)
            elif text in OPEN:
                place = self.behind(place)
            elif text == "<":
                place = self.behind_angles(place, end)
            elif text == "}":
                break
            else:
                # Template<Arguments> from a constructor's arguments: it has no result before it.
                is_guide = is_guide or (text == "->" and not found.words)
                place += 1
        while self.text(place) == "catch":
            place = self.behind(self.behind(place + 1))
        if "extern C" in path or is_guide:
            return place
        (owner.functions if owner else self.unit.functions).append(found)
        if not owner:
            found.name = "::".join([each for each in path] + [found.name])
        return place

    def behind_initialisers(self, place, end):
        """At the brace of a constructor's body."""
        while place < end:
            while place < end and self.text(place) not in ("(", "{"):
                place = self.behind_angles(place, end) if self.text(place) == "<" else place + 1
            place = self.behind(place)
            if self.text(place) == "...":
                place += 1
            if self.text(place) != ",":
                return place
            place += 1
        return place

    def variables(self, place, end, path, owner, access, words, guarded):
        """The first name is the last of `words` or, in brackets, at `place`."""
        if self.text(place) == "(":
            inside = [each.text for each in self.tokens[place:self.behind(place)] if each.kind == "name"]
            words = words + inside[-1:]
            place = self.behind(place)
        names = [each for each in words if re.match(r"[A-Za-z_]\w*$", each)]
        plain = len(words) > 1 and bool(names) and words[-1] == names[-1] and names[-1] not in ("const", "auto")
        if not plain:
            return self.skip_statement(place, end)
        return self.declarators(place, end, path, owner, access, words[:-1], words[-1], guarded)

    def declarators(self, place, end, path, owner, access, words, name="", guarded=False):
        line = self.tokens[min(max(place - 1, 0), len(self.tokens) - 1)].line
        found = []

        def keep():
            if name:
                found.append(Field(name, line, words, access, "static" in words,
                                   "constexpr" in words or ("const" in words and "*" not in words and "&" not in words),
                                   guarded))
        while place < end:
            token = self.tokens[place]
            if token.text == ";":
                place += 1
                break
            if token.text == ",":
                keep()
                name, guarded = "", False
                place += 1
            elif token.text == "=":
                while place < end and self.text(place) not in (";", ","):
                    if self.text(place) == "<":
                        place = self.behind_angles(place, end)
                    else:
                        place = self.behind(place) if self.text(place) in OPEN else place + 1
            elif token.text in OPEN:
                place = self.behind(place)
            elif token.kind == "name" and self.text(place + 1) == "(":
                guarded = guarded or token.text.endswith("GUARDED_BY")
                place = self.behind(place + 1)
            else:
                if token.kind == "name" and token.text != "final":
                    name, line = token.text, token.line
                place += 1
        keep()
        if "extern C" not in path and "friend" not in words:
            (owner.fields if owner else self.unit.variables).extend(found)
        return place
