"""File = module = prefix: a function's name says where it is declared, and a file's name is found once."""

import collections
import re

import pytest

from samples import ROOT

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:.*\\\n)*.*$", re.MULTILINE)
FUNCTION = re.compile(r"\b(gt_[a-z0-9_]+)\s*\([^;{}]*[;{]")


def headers():
    return sorted((ROOT / "lib").rglob("*.h"))


def without_bodies(text):
    """Only what is outside of braces, so that calls inside inline functions do not count as declarations."""
    kept, depth = [], 0
    for character in text:
        depth -= character == "}"
        if depth == 0:
            kept.append(character)
        if character == "{":
            if depth == 0:
                kept[-1] = "{"
            depth += 1
    return "".join(kept)


def declared(text):
    plain = DIRECTIVE.sub("", COMMENT.sub("", text))
    return list(dict.fromkeys(FUNCTION.findall(without_bodies(plain))))


def prefixes(stem):
    """step_sets.h declares gt_step_sets_*, or gt_step_set_* where its functions are about one of them."""
    singular = stem[:-3] + "y" if stem.endswith("ies") else stem.removesuffix("s")
    return [f"gt_{name}" for name in {stem, singular}]


@pytest.mark.parametrize("path", headers(), ids=lambda path: path.stem)
def test_functions_begin_with_the_name_of_their_header(path):
    allowed = prefixes(path.stem)
    wrong = [name for name in declared(path.read_text(encoding="utf-8"))
             if not any(name == prefix or name.startswith(prefix + "_") for prefix in allowed)]
    assert not wrong


def test_no_two_files_have_the_same_name():
    names = collections.Counter(path.name for path in (ROOT / "lib").rglob("*.[ch]"))
    assert [name for name, count in names.items() if count > 1] == []


def test_declarations_are_seen():
    text = "/* gt_no(); */\n#define X gt_macro()\nstatic inline int gt_a(int x) { return gt_call(x); }\nvoid gt_b(void);\n"
    assert declared(text) == ["gt_a", "gt_b"]
    assert prefixes("copies") and "gt_copy" in prefixes("copies")


FAMILIES = {"torch", "nsys", "xla", "rocm", "nccl"}
# XLA's JSON is a Chrome trace like Kineto's, CSVs are of Nsight, and launchers set the same environment for all profilers.
SHARED = {("xla", "torch"), ("csv", "nsys"), ("rocm", "nsys")}


@pytest.mark.parametrize("folder", sorted(path.name for path in (ROOT / "lib/decode").iterdir() if path.is_dir()))
def test_families_of_formats_know_nothing_of_each_other(folder):
    """What several of them need is in the folder of what they are written in."""
    own = ROOT / "lib/decode" / folder
    named = {(folder, other) for path in own.glob("*.[ch]")
             for other in re.findall(r'#include "decode/(\w+)/', path.read_text(encoding="utf-8"))}
    assert {(one, other) for one, other in named if other in FAMILIES and other != one} <= SHARED
