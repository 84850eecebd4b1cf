"""Golden cases: a command on a tiny hand-written trace and its exact output. `pytest --update` rewrites the outputs.

A case is a folder of tests/data/golden: `cmd` (a shell line, run in tests/data), `stdout`, and where they are not
empty and 0, `stderr` and `exit`. The numbers of the traces are worked out by hand in tests/data/*.txt.
"""

import os
import re
import subprocess

import pytest

from conftest import DATA

CASES = sorted(path for path in (DATA / "golden").iterdir() if path.is_dir())
VERSION = re.compile(rb'("version": ")[^"]*"')
RULE = re.compile(rb"\bbuiltin \d+:")  # its number changes with every rule before it


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_golden(gputime, case, tmp_path, request):
    command = (case / "cmd").read_text(encoding="utf-8")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "gputime").symlink_to(gputime.binary)
    environment = gputime.environment | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "TMP": str(tmp_path)}
    done = subprocess.run(["bash", "-c", command], cwd=DATA, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    actual = {
        "stdout": RULE.sub(b"builtin N:", VERSION.sub(rb'\1VERSION"', done.stdout)),
        "stderr": done.stderr,
        "exit": b"%d\n" % done.returncode if done.returncode else b"",
    }
    if request.config.getoption("--update"):
        update(case, actual)
    for name, content in actual.items():
        path = case / name
        expected = path.read_bytes() if path.exists() else b""
        assert content.decode("utf-8", "replace") == expected.decode("utf-8", "replace"), f"{name} of: {command}"
        assert content == expected


def update(case, actual):
    for name, content in actual.items():
        path = case / name
        if content or name == "stdout":
            path.write_bytes(content)
        else:
            path.unlink(missing_ok=True)


def test_there_are_cases():
    assert len(CASES) >= 12
    assert all((case / "cmd").exists() and (case / "stdout").exists() for case in CASES)
