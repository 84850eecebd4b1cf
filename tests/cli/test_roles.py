"""Comparisons and limits know no table by name: what analyses are called is no text of theirs, nor of the program."""

import json
import re

import pytest

from conftest import ROOT
from test_includes import sources

TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"((?:\\.|[^"\\\n])*)"', re.DOTALL)
COLUMN = re.compile(r'\{[\s\\]*"(\w+)",[\s\\]*"[^"]*",[\s\\]*GT_UNIT_\w+,')

# Tables that comparisons and limits make themselves, the words in their cells, and names of units.
OWN = {"ops", "rows", "share", "category", "change", "bound", "unit"} | {"ns", "bytes"}

# Data: commands name their analyses; options have names of their own, and so have the lists of registries.
DATA = {"commands.c", "options.c", "list.c", "oldname.c"}


def texts(path):
    return {match for match in TEXT.findall(path.read_text(encoding="utf-8")) if match}


@pytest.fixture(scope="module")
def keys(gputime):
    """Keys of all analyses and of their tables."""
    listed = json.loads(gputime("list", "analyses", "--json").stdout)
    rows = listed["tables"]["analyses"]["rows"]
    return {row["key"] for row in rows} | {key for row in rows for key in row["detail"].split(",") if key}


@pytest.mark.parametrize("folder", ["lib/compare", "lib/verdict", "cli"])
def test_no_analysis_or_table_is_known_by_name(folder, keys):
    assert {"kernels", "idle_causes_all", "spread"} <= keys
    found = {path.name: texts(path) & keys for path in sources(folder) if path.name not in DATA}
    assert found and not {name: texts for name, texts in found.items() if texts}


@pytest.mark.parametrize("folder", ["lib/compare", "lib/verdict"])
def test_no_column_is_known_by_name(folder):
    columns = {key for path in sources("lib/measure") for key in COLUMN.findall(path.read_text(encoding="utf-8"))}
    assert {"total_ns", "wall_ns", "device", "longest_ns"} <= columns
    found = {path.name: (texts(path) & columns) - OWN for path in sources(folder)}
    assert found and not {name: texts for name, texts in found.items() if texts}


def test_the_check_sees_a_text(tmp_path):
    path = tmp_path / "a.c"
    path.write_text('/* "comment" */ f("kernels", "a \\"b\\""); // "c"\n', encoding="utf-8")
    assert texts(path) == {"kernels", 'a \\"b\\"'}
