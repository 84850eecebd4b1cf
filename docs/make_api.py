#!/usr/bin/env python3
"""Prints docs/api.md from the comments of include/gputime.h: python3 docs/make_api.py > docs/api.md"""

import pathlib
import re

HEADER = pathlib.Path(__file__).resolve().parent.parent / "include/gputime.h"
INTRO = """# The library

Made from [include/gputime.h](../include/gputime.h) by `python3 docs/make_api.py > docs/api.md`. Programs to start from:
[kernels.c](examples/kernels.c) reads a table, [longest_ops.c](examples/longest_ops.c) the events, which
[rows.md](rows.md) lists, [counters.c](examples/counters.c) counters,
[compare.cpp](examples/compare.cpp) compares two traces, [stats.c](examples/stats.c) sets a class map and writes the report.
"""


def text_of(comment):
    """The sentences of a comment, without its marks; indented lines stay code."""
    lines = comment.strip().removeprefix("/*").removesuffix("*/").split("\n")
    stars = all(line.lstrip().startswith("*") for line in lines[1:])
    lines = [re.sub(r"^ \* ?", "", line) if stars else re.sub(r"^ {0,3}", "", line, count=1) for line in lines]
    out = []
    for line in (line.rstrip() for line in lines):
        out.append("    " + line.strip() if stars and line.startswith("  ") else line.strip() if not stars else line)
    return "\n".join(out).strip("\n").strip()


def pieces(header):
    """(comment, code) for every declaration, or (heading, None)."""
    body = header[header.index("#define GPUTIME_VERSION"):header.rindex("#ifdef __cplusplus")]
    for block in re.split(r"\n\n(?=/\*|enum|struct|#define)", body.strip()):
        heading = re.fullmatch(r"/\* ---- (.*) ---- \*/", block.strip())
        if heading:
            yield heading[1], None
            continue
        comment = re.match(r"/\*.*?\*/\n", block, re.DOTALL)
        yield (comment[0] if comment else ""), block[comment.end():] if comment else block


def names_of(code):
    functions = re.findall(r"\b(gputime_\w+)\(", code)
    kinds = re.findall(r"^((?:struct|enum) gputime_\w+)(?= \{|;)", code, re.MULTILINE)
    macros = re.findall(r"^#define (\w+)", code, re.MULTILINE)
    return list(dict.fromkeys(kinds or functions or macros))


def page(header):
    out = [INTRO]
    intro = text_of(re.match(r"/\*.*?\*/", header, re.DOTALL)[0])
    out.append(intro[intro.index("Rules for every function"):] + "\n")
    for first, code in pieces(header):
        if code is None:
            out.append(f"## {first}\n")
            continue
        out.append("### " + ", ".join(f"`{name}`" for name in names_of(code)) + "\n")
        if first:
            out.append(text_of(first) + "\n")
        out.append(f"```c\n{code.rstrip()}\n```\n")
    return "\n".join(out)


if __name__ == "__main__":
    print(page(HEADER.read_text(encoding="utf-8")), end="")
