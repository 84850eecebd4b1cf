"""The Python package from the source tree, for tests: `gputime` here is the package, not the program."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "python"))
try:
    import gputime as package
except ImportError as error:
    if (ROOT / "build").exists():
        raise
    import pytest  # only here: long runs of the laws do without
    pytest.skip(f"needs a build: {error}", allow_module_level=True)


def opened(path, **options):
    """Opens a sample; never from the user's cache."""
    options.setdefault("cache", False)
    return package.open(path, **options)


def table_rows(table):
    return [dict(row) for row in table]


def json_rows(report, table):
    return [{key: value for key, value in row.items() if key != "input"} for row in report["tables"][table]["rows"]]
