"""What every test of the program shares: where it is, how it is run (away from the user's settings) and --update."""

import collections
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

from commandline import write_trace
from samples import ABSENT, DATA, ROOT, sample_name, shared_folder, shared_path
from training import USUAL, training

LOSS_LINE = re.compile(r"gputime: '(?P<path>.*)' was only partly read: (?P<help>.+)")
OWN_SETTINGS = ("GPUTIME_THREADS", "GPUTIME_CACHE", "GPUTIME_RULES", "COLUMNS", "NO_COLOR", "CLICOLOR_FORCE")


# Run in the background or by nohup, this process ignores signals that the program under test has to obey. What is
# ignored is inherited, what is handled is not.
for number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="rewrite the expected outputs of the golden cases")


def pytest_configure(config):
    config.addinivalue_line("markers", "shared: needs samples that the repository does not have")
    folder = shared_folder()
    if folder and not folder.is_dir():
        raise pytest.UsageError(f"GPUTIME_SHARED: there is no folder {folder}")


def pytest_report_header():
    return f"more samples: {shared_folder() or 'none (GPUTIME_SHARED is not set)'}"


def pytest_collection_modifyitems(items):
    for item in items:
        if "shared" in item.fixturenames:
            item.add_marker("shared")


@pytest.fixture(scope="session")
def shared():
    """The path of a file that the repository does not have; where it is missing, the test is skipped."""
    def path_of(name):
        path = shared_path(name)
        if not path:
            pytest.skip(ABSENT)
        return path

    return path_of


class Program:
    """Runs one binary with its own home directory, so that no cache or setting of the user takes part."""

    def __init__(self, binary, home):
        self.binary = pathlib.Path(binary)
        self.home = pathlib.Path(home)
        self.environment = {key: value for key, value in os.environ.items() if key not in OWN_SETTINGS}
        self.environment |= {
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=1",
            "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1",
        }

    def __call__(self, *args, stdin=None, cwd=None, env=None, timeout=120, **pipes):
        if stdin is None:
            pipes.setdefault("stdin", subprocess.DEVNULL)
        else:
            pipes["input"] = stdin
        pipes.setdefault("stdout", subprocess.PIPE)
        return subprocess.run(
            [str(self.binary), *map(os.fspath, args)],
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=self.environment | (env or {}),
            timeout=timeout,
            **pipes,
        )

    def json(self, *args, **settings):
        done = self(*args, "--json", **settings)
        assert done.returncode == 0, (args, done.returncode, done.stderr)
        report = json.loads(done.stdout)
        check_warnings(report, done.stderr)
        return report


def check_warnings(report, stderr):
    """What was lost is also reported on stderr, in one line for each trace, and nothing else. Notes of a job say it."""
    lost, jobs = {}, {entry["input"] for entry in report["inputs"] if entry["format"] == "job"}
    for issue in report["issues"]:
        if issue["loss"] and issue["input"] not in jobs:
            lost.setdefault(issue["input"], issue["help"])
    paths = {entry["input"]: entry["path"] for entry in report["inputs"]}
    lines = stderr.decode("utf-8", "surrogateescape").splitlines()
    reported = [LOSS_LINE.fullmatch(line) for line in lines]
    assert all(reported) and [line["path"] for line in reported] == [paths[name] for name in lost], (lost, lines)
    assert [line["help"] for line in reported] == list(lost.values()), (lost, lines)


PAGE_PARTS = re.compile(
    rb'<!doctype html>.*<script type="application/json" id="report">(?P<report>.*?)</script>\n<script>(?P<script>.*?)'
    rb"</script>\n</body>\n</html>\n", re.DOTALL)


def page_report(page):
    """The report inside a page, with its rows as the JSON format has them. Nothing in it may end the script element."""
    parts = PAGE_PARTS.fullmatch(page)
    assert parts, page[-200:]
    assert not re.search(rb"</|<!|\xe2\x80[\xa8\xa9]", parts["report"])
    report = json.loads(parts["report"].decode("utf-8"))
    for table in report["tables"].values():
        keys = [column["key"] for column in table["columns"]]
        assert all(len(row) == len(keys) for row in table["rows"])
        cells = ((report["texts"][cell[0]] if isinstance(cell, list) else cell for cell in row) for row in table["rows"])
        table["rows"] = [dict(zip(keys, row)) for row in cells]
    return report


def find_binary(variable, default):
    binary = pathlib.Path(os.environ.get(variable, default))
    return binary if binary.is_absolute() else ROOT / binary


def has_page():
    """Whether the program was built with the page (not by make WEB=0)."""
    binary = find_binary("GPUTIME", "build/gputime")
    if not binary.exists():
        return False
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.run([binary, DATA / "devices.json", "--html", "--no-cache"], **quiet).returncode == 0


@pytest.fixture(scope="session")
def gputime(tmp_path_factory):
    binary = find_binary("GPUTIME", "build/gputime")
    if not binary.exists():
        pytest.fail(f"{binary} is missing: run make first")
    return Program(binary, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def hardened(tmp_path_factory, gputime):
    """The build with sanitizers where there is one: for tests that try to break the reader."""
    binary = find_binary("GPUTIME_ASAN", "build/asan/gputime")
    return Program(binary, tmp_path_factory.mktemp("home")) if binary.exists() else gputime


@pytest.fixture(scope="session")
def dump_rows():
    """The rows of the store that a file decodes to: {table: [row as dict]}, see tests/tools/dump_rows.c."""
    binary = find_binary("GPUTIME_DUMP_ROWS", "build/dump_rows")
    if not binary.exists():
        pytest.fail(f"{binary} is missing: run make {binary.relative_to(ROOT)} first")

    def dump(path, *tables, facts="all", threads=1, reader="auto", also=()):
        others = [word for other in also for word in ("--with", other)]
        command = [binary, "--facts", facts, "--threads", str(threads), "--reader", reader, *others, path, *tables]
        output = subprocess.run(command, check=True, capture_output=True).stdout
        rows = collections.defaultdict(list)
        for line in output.splitlines():
            row = json.loads(line.decode("utf-8", "surrogateescape"))
            rows[row.pop("table")].append(row)
        return rows

    return dump


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory):
    """The path of a sample; databases are kept packed, and only read plain."""
    folder = tmp_path_factory.mktemp("samples")

    def path_of(sample):
        if not sample.name.endswith(".sqlite.gz"):
            return sample
        path = folder / sample.parent.name / sample_name(sample)
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(gzip.decompress(sample.read_bytes()))
        return path

    return path_of


@pytest.fixture
def folder(tmp_path):
    """A working folder with a trace a.json in it."""
    write_trace(tmp_path / "a.json")
    return tmp_path


@pytest.fixture
def run(gputime, folder):
    """Runs the program in that folder."""
    def run_there(*args, **settings):
        return gputime(*args, cwd=folder, **settings)
    return run_there


@pytest.fixture
def config(folder):
    """Where a configuration file goes, given XDG_CONFIG_HOME two folders up."""
    path = folder / "config" / "gputime" / "config"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def trace(tmp_path):
    """Writes a trace and gives its path."""
    def write(name, document):
        path = tmp_path / name
        path.write_text(json.dumps(document))
        return path

    return write


@pytest.fixture
def changed(trace):
    """Two traces of which the second lacks a kernel and has a slower one."""
    other = dict(USUAL)
    other["flash_fwd_kernel"] = (4, 60_000)  # a fifth slower
    del other["softmax_warp_forward"]
    return trace("a.json", training(USUAL)), trace("b.json", training(other, seed=2))
