#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Man pages of the program plexus, made of what its verbs print with --help.
Usage: man.py PROGRAM FOLDER writes FOLDER/plexus.1 and FOLDER/plexus-VERB.1 for each verb."""
import os
import re
import subprocess
import sys


def said(program, *words):
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("PLEXUS_")}
    return subprocess.run([program, *words], check=True, capture_output=True, text=True, env=quiet,
                          timeout=60).stdout


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"[^\x00-\x7f]", lambda match: f"\\[u{ord(match.group()):04X}]", text)
    return "\\&" + text if text.startswith((".", "'")) else text


def literal(lines):
    return [".PP", ".nf", *(escaped(line) for line in lines), ".fi"]


def sections(help_text):
    """What stands before the usage, the usage, and the blocks that follow, each a list of lines."""
    before, usage, blocks, block = [], "", [], []
    for line in help_text.splitlines() + [""]:
        if line.startswith("Usage: "):
            usage = line.removeprefix("Usage: ")
        elif not usage:
            before.append(line)
        elif line.strip():
            block.append(line)
        elif block:
            blocks.append(block)
            block = []
    return " ".join(filter(None, before)), usage, blocks


def entries(lines):
    """(term, text) of a list of options: two spaces and the term, the text in a column behind it."""
    found = []
    for line in lines:
        inner = line.strip()
        indent = len(line) - len(line.lstrip())
        if indent == 2:
            term, _, text = (re.split(r"(\s{2,})", inner, maxsplit=1) + ["", ""])[:3]
            # A term that nearly fills its column has one space behind it; CLI11's column is 30 wide.
            if not text and len(line) > 30 and line[29] == " ":
                term, text = line[2:30].strip(), line[30:].strip()
            found.append([term, text])
        elif found:
            found[-1][1] = f"{found[-1][1]} {inner}".strip()
    return found


def page(name, one_line, usage, blocks, version, also):
    lines = [f'.TH "{name.upper()}" 1 "" "{version}" "Plexus"', ".SH NAME", f"{escaped(name)} \\- {escaped(one_line)}",
             ".SH SYNOPSIS", f"\\fB{escaped(usage.split(' ')[0])}\\fR {escaped(usage.partition(' ')[2])}"]
    description, listed = [], []
    for block in blocks:
        title = re.fullmatch(r"([A-Z][\w ]*):", block[0])
        if title and len(block) > 1 and block[1].startswith("  "):
            listed += [f".SH {title.group(1).upper()}"]
            for term, text in entries(block[1:]):
                listed += [".TP", f"\\fB{escaped(term)}\\fR", escaped(text)]
        else:
            description += literal(block)
    if description:
        lines += [".SH DESCRIPTION", *description]
    lines += listed
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{escaped(each)}\\fR(1)" for each in also if each != name)]
    return "\n".join(lines) + "\n"


def main():
    program, folder = sys.argv[1:]
    version = said(program, "--version").strip()
    _, usage, blocks = sections(said(program, "--help"))
    verbs = [term for block in blocks if block[0] == "Verbs:" for term, _ in entries(block[1:])]
    every = ["plexus"] + [f"plexus-{verb}" for verb in verbs]
    pages = {"plexus": page("plexus", "messaging by several methods at once", usage, blocks, version, every)}
    for verb in verbs:
        summary, usage, blocks = sections(said(program, "help", verb))
        name = f"plexus-{verb}"
        pages[name] = page(name, summary.rstrip("."), usage, blocks, version, every)
    for name, text in pages.items():
        with open(os.path.join(folder, name + ".1"), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
