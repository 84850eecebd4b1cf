"""The real traces that tests read: those of tests/data, and more where GPUTIME_SHARED names a folder of them.

Nothing else in the tests knows that folder. A test gets files of it as parameters made here, or by name from the fixture
`shared`; both mark the test `shared` and skip it where the folder is missing.
"""

import csv
import gzip
import io
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
ABSENT = "needs more samples than the repository has (GPUTIME_SHARED)"
NVIDIA_EXPORTS = "data/h200/nsys/*/*.sqlite"
PUBLIC_EXPORTS = "data/public/nsys/*/*.sqlite"


def shared_folder():
    name = os.environ.get("GPUTIME_SHARED")
    return pathlib.Path(name).resolve() if name else None


def shared_path(name):
    """The path of one file, or None."""
    folder = shared_folder()
    path = folder and folder / name
    return path if path and path.exists() else None


def shared_paths(*patterns):
    folder = shared_folder()
    return sorted(path for pattern in patterns for path in folder.glob(pattern)) if folder else []


def with_shared(own, *patterns, name=lambda path: path.name.removesuffix(".gz"), make=lambda path: path):
    """Parameters: what the repository has, then what it has not. `name` says which files are the same."""
    known = {name(one) for one in own}
    more = [make(path) for path in shared_paths(*patterns) if name(path) not in known]
    if not more:
        return [*own, pytest.param(None, id="shared", marks=[pytest.mark.shared, pytest.mark.skip(reason=ABSENT)])]
    return [*own, *(pytest.param(one, marks=pytest.mark.shared) for one in more)]


def values(parameters):
    """What the parameters hold, without those that only say that something is absent."""
    found = (one.values[0] if hasattr(one, "values") else one for one in parameters)
    return [one for one in found if one is not None]


# ---- PyTorch ----


def real_traces():
    return with_shared(sorted((DATA / "torch").glob("*.json.gz")), "data/h200/torch/*.json.gz",
                       "data/public/kineto/*/*.json.gz")


def trace_name(path):
    return f"{path.parent.name}/{path.name.removesuffix('.json.gz')}"


def sample_name(path):
    return path.name.removesuffix(".gz")


# ---- Nsight Systems ----


class Capture:
    """A capture in all its forms: the report, NVIDIA's export of it and the tables that `nsys stats` makes."""

    def __init__(self, path):
        self.name = path.name.split(".")[0]
        self.folder = path.parent

    def __repr__(self):
        return self.name

    @property
    def report(self):
        return self.folder / f"{self.name}.nsys-rep"

    @property
    def export(self):
        """As it is kept: packed in the repository (the fixture `unpacked` gives a plain one)."""
        return self._kept(f"{self.name}.sqlite")

    def table(self, report):
        return self._kept(f"{self.name}_{report}.csv")

    def tables(self):
        return sorted(self.folder.glob(f"{self.name}_*.csv*"))

    def rows(self, report):
        content = self.table(report).read_bytes()
        content = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
        return list(csv.DictReader(io.StringIO(content.decode(), newline="")))

    def _kept(self, name):
        plain = self.folder / name
        return plain if plain.exists() else self.folder / f"{name}.gz"


OWN_CAPTURES = [Capture(path) for path in sorted((DATA / "nsys").glob("*.nsys-rep"))]
CAPTURES = with_shared(OWN_CAPTURES, "data/h200/nsys/*/*.nsys-rep", make=Capture,
                       name=lambda one: one.name.split(".")[0])


def own_capture(name):
    return next(capture for capture in OWN_CAPTURES if capture.name == name)
