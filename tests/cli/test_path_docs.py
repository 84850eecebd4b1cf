"""docs/path.md has the tables that docs/make_path_table.py prints."""

import subprocess
import sys

import pytest
from captured_whatif import ARCHIVE
from conftest import ROOT, find_binary


@pytest.mark.parametrize("table", ["replays", "captures"])  # programs take minutes
def test_tables_are_those_of_the_program(gputime, shared, table):
    folder = shared(ARCHIVE).parents[2]
    command = [sys.executable, ROOT / "docs/make_path_table.py", table, folder, find_binary("GPUTIME", "build/gputime")]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    page = (ROOT / "docs/path.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 10 and set(lines) <= set(page), sorted(set(lines) - set(page))
