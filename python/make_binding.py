#!/usr/bin/env python3
"""Prints python/gputime/_c.py, the ctypes layer, from include/gputime.h:
python3 python/make_binding.py > python/gputime/_c.py"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = ROOT / "include/gputime.h"
INTRO = '''"""The library's interface for ctypes. Made from include/gputime.h by python/make_binding.py; do not edit."""

from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32,
                    c_uint64, c_void_p)

'''
PLAIN = {"int": "c_int", "size_t": "c_size_t", "int64_t": "c_int64", "uint64_t": "c_uint64", "uint32_t": "c_uint32",
         "double": "c_double", "char": "c_char"}
TYPE = re.compile(r"(?:const\s+)?((?:struct|enum)\s+\w+|\w+)((?:\s|\*|const\b)*)(.*)", re.DOTALL)


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


def split(text):
    """At commas outside of parentheses."""
    parts, depth, last = [], 0, 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(text[last:place])
            last = place + 1
    return [part.strip() for part in parts + [text[last:]]]


class Header:
    """What the header declares: constants, structs with their fields, functions."""

    def __init__(self, text):
        self.version = re.search(r'#define GPUTIME_VERSION "(.*)"', text)[1]
        macros = re.findall(r"^#define (GPUTIME_FACTS_USUAL) (.*)$", text, re.MULTILINE)
        plain = without_comments(text)
        plain = re.sub(r'extern "C" \{|#(?:.*\\\n)*.*', "", plain[:plain.rindex("#ifdef __cplusplus")])
        self.constants = []
        for body in re.findall(r"enum\s+\w*\s*\{(.*?)\}", plain, re.DOTALL):
            self.add_constants(body)
        self.constants += [(name, eval(value, {}, dict(self.constants))) for name, value in macros]
        self.structs = {name: body for name, body in re.findall(r"struct (\w+) \{(.*?)\n\};", plain, re.DOTALL)}
        outside = re.sub(r"(?:struct|enum) \w+ \{.*?\n?\};", "", plain, flags=re.DOTALL)
        self.functions = [self.function(text) for text in outside.split(";") if re.search(r"\bgputime_\w+\s*\(", text)]

    def add_constants(self, body):
        value = -1
        for item in split(body.strip().rstrip(",")):
            name, _, given = (part.strip() for part in item.partition("="))
            known = dict(self.constants)
            value = eval(given, {}, known) if given else value + 1  # names, numbers and operators alone
            self.constants.append((name, value))

    def type_of(self, base, stars, is_counted=False):
        """The ctypes name of a type with so many stars. Text that is not terminated must not be read to a NUL."""
        kind, _, name = base.rpartition(" ")
        if kind == "enum":
            return "c_int" if not stars else "POINTER(c_int)"
        if kind == "struct":
            if name in self.structs:
                return "POINTER(" * stars + name + ")" * stars
            return "POINTER(" * (stars - 1) + "c_void_p" + ")" * (stars - 1) if stars else None
        if name == "char" and stars:
            pointer = "POINTER(c_char)" if is_counted else "c_char_p"
            return "POINTER(" * (stars - 1) + pointer + ")" * (stars - 1)
        if name == "void":
            return "None" if not stars else "POINTER(" * (stars - 1) + "c_void_p" + ")" * (stars - 1)
        return "POINTER(" * stars + PLAIN[name] + ")" * stars

    def callback(self, text):
        """(name, type) of `void (*name)(...)`."""
        result, name, arguments = re.fullmatch(r"(.*?)\(\s*\*\s*(\w*)\s*\)\s*\((.*)\)", text.strip(), re.DOTALL).groups()
        return name, f"CFUNCTYPE({', '.join([self.result(result)] + self.arguments(arguments))})"

    def result(self, text):
        base, stars, _ = TYPE.fullmatch(text.strip() + " ").groups()
        return self.type_of(base, stars.count("*"))

    def fields(self, struct):
        for declaration in filter(None, (part.strip() for part in self.structs[struct].split(";"))):
            if "(" in declaration:
                yield self.callback(declaration)
                continue
            base, _, _ = TYPE.fullmatch(declaration).groups()
            rest = declaration[declaration.index(base) + len(base):]
            for item in split(rest):
                stars, name, count = re.fullmatch(r"((?:\s|\*|const\b)*)(\w+)(?:\[(\d+)\])?", item).groups()
                is_counted = f"{name}_bytes" in self.structs[struct] or struct == "gputime_text" or name == "metadata"
                kind = self.type_of(base, stars.count("*"), is_counted)
                yield name, f"{kind} * {count}" if count else kind

    def arguments(self, text):
        kinds = []
        for item in split(text):
            if "(" in item:
                kinds.append(self.callback(item)[1])
            elif item and item != "void":
                base, stars, rest = TYPE.fullmatch(item).groups()
                kinds.append(self.type_of(base, stars.count("*") + rest.count("[")))
        return kinds

    def function(self, text):
        result, name, arguments = re.fullmatch(r"\s*(.*?)\b(gputime_\w+)\s*\((.*)\)\s*", text, re.DOTALL).groups()
        return name, self.result(result), self.arguments(arguments)


def facts_of_rows():
    """Which fact gives the rows of a kind, as docs/rows.md has it; the other kinds come with any."""
    sys.path.insert(0, str(ROOT / "docs"))
    import make_rows

    keys = [key for key, *_ in make_rows.facts()]
    for kind, _, _ in make_rows.tables():
        fact = make_rows.given_by(kind, keys)
        yield kind, f"GPUTIME_FACT_{fact.upper()}" if fact else "0"


def page(text):
    header = Header(text)
    out = [INTRO + f'HEADER_VERSION = "{header.version}"\n']
    out += [f"{name} = {value}" for name, value in header.constants]
    for struct in header.structs:
        out.append(f"\n\nclass {struct}(Structure):\n    pass")
    out.append("\n")
    for struct in header.structs:
        out.append(f"{struct}._fields_ = [")
        out += [f'    ("{name}", {kind}),' for name, kind in header.fields(struct)]
        out.append("]")
    out.append("\n# Name: (type of the result, types of the arguments).\nFUNCTIONS = {")
    for name, result, arguments in header.functions:
        out.append(f'    "{name}": ({result}, [{", ".join(arguments)}]),')
    out.append("}\n\n# Kind of rows: the facts to read for it.\nFACTS_OF_ROWS = {")
    out += [f'    "{kind}": {facts},' for kind, facts in facts_of_rows()]
    out.append("}\n")
    return "\n".join(out)


if __name__ == "__main__":
    print(page(HEADER.read_text(encoding="utf-8")), end="")
