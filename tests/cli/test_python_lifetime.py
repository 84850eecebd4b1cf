"""Memory of the library is freed when nothing refers to it, and not before: with plain and with sanitized builds."""

import inspect
import os
import subprocess
import sys

import pytest

import python_package  # noqa: F401 (skips where there is no build)
from conftest import DATA, ROOT

SCRIPT = ROOT / "tests/cli/python_lifetimes.py"
LIBRARY = {"plain": ROOT / "build/libgputime.so", "sanitized": ROOT / "build/asan/libgputime.so"}
TRACE = DATA / "ranks/rank0.json.gz"


def scenarios():
    text = SCRIPT.read_text(encoding="utf-8")
    return [line[4:line.index("(")] for line in text.splitlines() if line.startswith("def ") and line.endswith("(path):")
            and not line.startswith("def opened")]


def sanitizer():
    """What has to be loaded before a library that was built with it."""
    found = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    return found if os.path.isabs(found) else None


@pytest.mark.parametrize("build", LIBRARY)
@pytest.mark.parametrize("scenario", scenarios())
def test_lifetimes(tmp_path, scenario, build):
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"), GPUTIME_LIBRARY=str(LIBRARY[build]),
                       PYTHONMALLOC="malloc" if build == "sanitized" else "default", XDG_CACHE_HOME=str(tmp_path))
    if not LIBRARY[build].exists():
        pytest.skip(f"needs {LIBRARY[build].relative_to(ROOT)}: make asan")
    if build == "sanitized":
        if not sanitizer():
            pytest.skip("needs gcc's libasan.so")
        # Python keeps memory to its end on purpose; what is freed twice or read when it is gone is what counts.
        environment |= {"LD_PRELOAD": sanitizer(), "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1"}
    done = subprocess.run([sys.executable, SCRIPT, scenario, TRACE], env=environment, capture_output=True, text=True,
                          cwd=tmp_path, timeout=300)
    assert done.returncode == 0 and done.stdout == "done\n", (done.returncode, done.stdout, done.stderr[-4000:])


def test_scenarios_are_found():
    assert {"views", "cycles", "threads", "fork", "leaving"} <= set(scenarios()) and inspect.isfunction(scenarios)
