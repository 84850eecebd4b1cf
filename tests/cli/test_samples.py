"""The samples themselves: what lies in tests/data is listed and small, and more samples come from one place only."""

import os
import re
import subprocess
import sys

import pytest

from samples import DATA, OWN_CAPTURES, ROOT, shared_paths, values, with_shared

MOST_BYTES = 8_000_000
NAMES_THE_FOLDER = re.compile(rb"""\.\./shared\b|parent\s*/\s*["']shared\b""")
READS_THE_VARIABLE = re.compile(rb"""(environ|getenv|process\.env)\W*(get\W+)?GPUTIME_SHARED""")


def files_matching(pattern):
    places = [ROOT / name for name in (".ci", "bench", "cli", "docs", "include", "lib", "tests", "web/src")]
    files = [path for place in places for path in place.rglob("*") if path.is_file() and "node_modules" not in path.parts]
    files += [path for path in ROOT.iterdir() if path.is_file()]
    found = (path.relative_to(ROOT) for path in files if pattern.search(path.read_bytes()))
    return {str(path) for path in found} - {"tests/cli/test_samples.py"}


def test_the_folder_of_more_samples_is_named_in_one_place():
    assert files_matching(NAMES_THE_FOLDER) == {"Makefile", ".ci/run"}
    assert files_matching(READS_THE_VARIABLE) == {"tests/cli/samples.py", "tests/unit/sqlite_world.h",
                                                  "tests/browser/browser.mjs"}


def test_every_sample_is_listed():
    listed = (DATA / "README.md").read_text()
    for folder in ("torch", "diff", "nsys", "nsys-more", "nsys-mpi", "perfetto", "xla", "xla-nsys", "rocm"):
        for path in (DATA / folder).iterdir():
            name = path.name.split("_cuda_")[0].split("_nvtx_")[0].split(".")[0]
            name = "train" if folder == "rocm" else name
            assert f"`{folder}/{name}" in listed, path
    assert sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file()) <= MOST_BYTES


def test_captures_have_all_their_forms():
    assert len(OWN_CAPTURES) >= 4
    for capture in OWN_CAPTURES:
        assert capture.report.exists() and capture.export.exists()
        assert capture.rows("cuda_gpu_kern_sum") and len(capture.tables()) > 5


def collected(folder, *options):
    """Runs the tests of a file that needs more samples for some, with this folder of them."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "shared", *options,
               ROOT / "tests/cli/test_phases.py"]
    environment = os.environ | {"GPUTIME_SHARED": str(folder)}
    return subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.parametrize("has_folder", [False, True], ids=["none", "empty"])
def test_what_needs_more_samples_is_skipped_without_them(gputime, tmp_path, has_folder):
    done = collected(tmp_path if has_folder else "")
    assert done.returncode == 0, done.stdout
    assert re.search(r"^\d+ skipped, \d+ deselected", done.stdout, re.MULTILINE), done.stdout


def test_a_folder_that_is_missing_is_an_error(tmp_path):
    done = collected(tmp_path / "missing", "--collect-only")
    assert done.returncode == 4 and "GPUTIME_SHARED: there is no folder" in done.stdout


def test_parameters_hold_what_the_repository_lacks(tmp_path, monkeypatch):
    for name in ("a.x.gz", "b.x"):
        (tmp_path / name).write_bytes(b"")
    monkeypatch.setenv("GPUTIME_SHARED", str(tmp_path))
    own = [DATA / "a.x"]
    found = with_shared(own, "*.x", "*.x.gz")
    assert values(found) == [*own, tmp_path / "b.x"] and found[1].marks[0].name == "shared"
    assert [path.name for path in shared_paths("*.x*")] == ["a.x.gz", "b.x"]
    monkeypatch.setenv("GPUTIME_SHARED", "")
    absent = with_shared(own, "*.x")[1]
    assert values(with_shared(own, "*.x")) == own and [mark.name for mark in absent.marks] == ["shared", "skip"]
