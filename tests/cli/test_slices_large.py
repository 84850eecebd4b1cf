"""A trace so long that reading, labels, analyses and writing are cut into slices as they are in practice: whatever the number
of threads, reports are the same byte by byte. Short traces with short slices: tests/unit/test_slices.c."""

import sqlite3
import subprocess

import pytest

from conftest import ROOT

KERNELS = 400_000  # of two GPUs: several slices of ops and of gaps
NAMES = 70_000  # of ranges, each once: more than one thread joins
THREADS = (2, 5, 16)
COMMANDS = {
    "summary": ["summary", "--json"],
    "kernels": ["kernels", "--csv"],
    "all gaps": ["gaps", "--top", "0", "--csv"],
    "some gaps": ["gaps", "--top", "3000", "--json"],
    "steps": ["steps", "--top", "0", "--csv"],
    "ranges": ["ranges", "--tree", "--json"],
}


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", "-o", folder / "nsysgen", ROOT / "bench/nsysgen.c", "-lsqlite3"], check=True)
    subprocess.run([folder / "nsysgen", "-k", str(KERNELS), "-g", "2", folder / "trace.sqlite"], check=True,
                   stdout=subprocess.DEVNULL)
    with sqlite3.connect(folder / "trace.sqlite") as database:
        named = database.execute("update NVTX_EVENTS set text = 'layer_' || rowid || '.op', textId = null where textId in "
                                 "(select id from StringIds where value like 'layer_%') and rowid % 40").rowcount
    assert named >= NAMES
    return folder / "trace.sqlite"


@pytest.mark.parametrize("command", COMMANDS)
def test_reports_of_slices(gputime, trace, command):
    def report(threads):
        done = gputime(*COMMANDS[command], trace, "--no-cache", "--threads", str(threads))
        assert done.returncode == 0, done.stderr
        return done.stdout

    alone = report(1)
    assert len(alone) > 1000
    for threads in THREADS:
        assert report(threads) == alone, threads


def test_folders_of_slices(gputime, trace, tmp_path):
    def folder(threads):
        path = tmp_path / str(threads)
        done = gputime("explain", trace, "--no-cache", "-q", "--threads", str(threads), "--out", path,
                       env={"SOURCE_DATE_EPOCH": "1000000000"})
        assert done.returncode == 0, done.stderr
        return {file.relative_to(path): file.read_bytes() for file in path.rglob("*") if file.is_file()}

    alone = folder(1)
    assert len(alone) > 3
    for threads in THREADS:
        files = folder(threads)
        assert files.keys() == alone.keys()
        assert [name for name in alone if files[name] != alone[name]] == [], threads
