"""The layering of the library, as ARCHITECTURE.md states it, and allocation in one place only."""

import pathlib
import re

import pytest

from conftest import ROOT

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
ALLOCATION = re.compile(
    r"(?<![\w.>])(malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|free|mmap|mremap|munmap|"
    r"strdup|strndup|asprintf|vasprintf|getline|open_memstream)\s*\(")


def sources(folder):
    return sorted(path for pattern in ("*.c", "*.h", "*.def") for path in (ROOT / folder).rglob(pattern))


def folder_of(path):
    """lib/base/arena.h -> lib/base; lib/gputime.c -> lib; cli/main.c -> cli; include/gputime.h -> include"""
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[:2]) if parts[0] == "lib" and len(parts) > 2 else parts[0]


def include_table():
    """Folder -> folders it may include, from the rows of the table."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table, inside = {}, False
    for line in text.splitlines():
        cells = [cell.strip().replace("`", "") for cell in line.strip().strip("|").split("|")]
        if [cell.lower() for cell in cells[:2]] == ["folder", "may include"]:
            inside = True
        elif inside and not line.startswith("|"):
            inside = False
        elif inside and set(cells[0]) - set(":- "):
            allowed = {item.strip().rstrip("/") for item in cells[1].split(",")} - {"-", ""}
            table[cells[0].rstrip("/")] = allowed
    return table


def included_folder(path, name):
    for base in (ROOT / "lib", ROOT / "include", path.parent):
        target = base / name
        if target.exists():
            return folder_of(target.resolve())
    return None


@pytest.fixture(scope="module")
def table():
    table = include_table()
    assert table, "ARCHITECTURE.md has no table with the columns folder and may include"
    return table


def test_every_folder_has_a_row(table):
    folders = {folder_of(path) for folder in ("lib", "cli") for path in sources(folder)}
    assert folders <= set(table)


def test_includes_keep_to_the_table(table):
    wrong = []
    for path in sources("lib") + sources("cli"):
        allowed = table.get(folder_of(path), set())
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            target = included_folder(path, name)
            anything = "everything under lib" in allowed and (target or "").startswith("lib")
            if target is not None and target not in allowed and not anything:
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong, "\n".join(wrong)


def test_quoted_includes_exist():
    generated = {"pages.h", "embedded.h"}
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources("lib") + sources("cli")
        for name in INCLUDE.findall(path.read_text(encoding="utf-8"))
        if included_folder(path, name) is None and pathlib.Path(name).name not in generated
    ]
    assert not missing, "\n".join(missing)


def test_only_base_allocates():
    wrong = []
    for path in sources("lib"):
        if folder_of(path) == "lib/base":
            continue
        code = COMMENT_OR_TEXT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), path.read_text(encoding="utf-8"))
        for number, line in enumerate(code.splitlines(), 1):
            if match := ALLOCATION.search(line):
                wrong.append(f"{path.relative_to(ROOT)}:{number} calls {match[1]}")
    assert not wrong, "\n".join(wrong)


def test_the_check_sees_a_call():
    assert ALLOCATION.search("x = malloc (3);")
    assert not ALLOCATION.search("gt_mem_free(x); map.free(x); arena->free(x);")
