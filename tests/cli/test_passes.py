"""How often each command walks through the rows of a trace, and in which functions: counted by a build in which every access
to memory is (tests/passes/passes.c; make counted). The table tests/passes/expected.txt says it; --update writes it anew. One
more pass over ops, calls or ranges is another number there, and no clock takes part."""

import collections
import difflib
import os
import platform
import subprocess
import time

import pytest

from conftest import ROOT, find_binary
from test_growth import READ_NO_TRACE, SERVE
from test_matrix import command_names

EXPECTED = ROOT / "tests/passes/expected.txt"
TABLES = ("ops", "calls", "ranges")
LEAST = 0.5  # passes of a function that are worth a line
# What commands cannot do without. All others are run with a trace alone.
ARGUMENTS = {
    "check": ["--limit", "idle<=100%"],
    "export": ["-o", "exported/"],
    "explain": ["--out", "explained"],
    "sql": ["select name, count(*), sum(dur_ns) from ops group by name"],
}
TRACES = {"diff": 2}
CACHED = "kernels, cached"

pytestmark = pytest.mark.xdist_group("passes")


@pytest.fixture(scope="module")
def binary():
    path = find_binary("GPUTIME_COUNTED", "build/passes/counted")
    if not path.exists():
        pytest.skip(f"needs {path}: make counted")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("passes")


@pytest.fixture(scope="module")
def trace(folder):
    """5000 ops, 5022 calls and 974 ranges on two GPUs: tables are known by their numbers of rows."""
    subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", "-o", folder / "nsysgen", ROOT / "bench/nsysgen.c", "-lsqlite3"], check=True)
    subprocess.run([folder / "nsysgen", "-k", "5000", "-g", "2", "-r", "7", folder / "trace.sqlite"], check=True,
                   stdout=subprocess.DEVNULL)
    return folder / "trace.sqlite"


class Counts:
    """What a run of the program walked through: passes by table, and by table and function."""

    def __init__(self, text):
        self.rows, self.visits = {}, collections.Counter()
        for line in text.splitlines():
            table, number, file, function = line.split("\t")
            if function:
                self.visits[table, f"{file} {function}".strip()] += int(number)
            else:
                self.rows[table] = int(number)

    def passes(self, table):
        """{function: passes} of those that see half of the rows or more."""
        found = {function: round(count / self.rows[table], 1)
                 for (of_table, function), count in self.visits.items() if of_table == table and self.rows[table]}
        return {function: passes for function, passes in found.items() if passes >= LEAST}


def run(binary, trace, folder, command, *options):
    counted = folder / "counted.tsv"
    environment = os.environ | {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "LC_ALL": "C.UTF-8",
                                "GPUTIME_PASSES": str(counted)}
    arguments = [command, *[trace] * TRACES.get(command, 1), *ARGUMENTS.get(command, []), "--threads", "1", *options]
    done = subprocess.run([binary, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode == 0, (arguments, done.stderr)
    return Counts(counted.read_text())


def fill_cache(binary, trace, folder):
    time.sleep(max(0, trace.stat().st_mtime + 3 - time.time()))  # younger files are not kept
    run(binary, trace, folder, "explain", "--cache-after", "0s")
    assert any((folder / "cache").rglob("*.columns"))


@pytest.fixture(scope="module")
def counts(binary, trace, folder):
    found = {command: run(binary, trace, folder, command, "--no-cache")
             for command in command_names() if command not in READ_NO_TRACE | SERVE}
    fill_cache(binary, trace, folder)
    found[CACHED] = run(binary, trace, folder, "kernels")
    return found


def tools():
    """What the numbers depend on: which functions a compiler makes of the source, and how often a sort compares."""
    major = subprocess.run(["gcc", "-dumpversion"], check=True, capture_output=True, text=True).stdout.split(".")[0].strip()
    return f"Counted with gcc {major} and {' '.join(platform.libc_ver())} on {platform.machine()}"


def describe(counts):
    """The table: all passes of each command, then for each function in which commands it makes how many."""
    lines = [tools(), "", "Passes over the rows of a trace by command, those of all functions together"]
    for command, count in sorted(counts.items()):
        sums = "  ".join(f"{table} {sum(count.passes(table).values()):5.1f}" for table in TABLES)
        lines.append(f"  {command:<16} {sums}".rstrip())
    for table in TABLES:
        lines += ["", f"Passes over {table} by function"]
        functions = collections.defaultdict(lambda: collections.defaultdict(list))
        for command, count in sorted(counts.items()):
            for function, passes in count.passes(table).items():
                functions[function][passes].append(command)
        for function, found in sorted(functions.items()):
            lines += [f"  {function}", *(f"    {passes:4.1f}  {'; '.join(names)}" for passes, names in sorted(found.items()))]
    return "\n".join(lines) + "\n"


def test_passes_of_every_command(counts, request):
    text = describe(counts)
    if request.config.getoption("--update"):
        EXPECTED.write_text(text)
    expected = EXPECTED.read_text().splitlines()
    if tools() != expected[0]:
        pytest.skip(f"{tools()}; the table was {expected[0].lower()}")
    changed = list(difflib.unified_diff(expected, text.splitlines(), "expected", "counted", n=1, lineterm=""))
    assert not changed, "\n".join(["passes over rows are others than before:", *changed])


# Files, and prefixes of functions, that match launches, find steps, and look for ranges around calls.
MATCHING = ("correlate.c", "id_order.c", "gt_id_order", "id_slots.c", "gt_id_slots")
STEPS = ("label_steps.c", "step_tree.c", "gt_step_tree")
RANGES = ("attribute.c", "enclose.c", "gt_enclose")
FILLING = {"correlate.c have_no_calls"}  # the column of a trace without calls says so of every op


def walkers(count, parts):
    return {function for _, function in count.visits if function.startswith(parts)} - FILLING


@pytest.mark.parametrize("parts", [MATCHING, STEPS, RANGES], ids=["launches", "steps", "ranges"])
def test_kernels_look_up_nothing(counts, parts):
    """Neither of a file nor of the cache, which has all of it; a summary does, so the names are right."""
    assert walkers(counts["summary"], parts)
    for command in ("kernels", CACHED):
        assert not walkers(counts[command], parts), command


def test_kernels_touch_ops_alone(counts):
    assert counts["summary"].rows["calls"] and counts["summary"].rows["ranges"]
    assert counts[CACHED].rows == counts["summary"].rows, "the cache has calls and ranges"
    for command in ("kernels", CACHED):
        assert {table for table, _ in counts[command].visits} == {"ops"}, command


def test_rows_tell_tables_apart(counts):
    for command, count in counts.items():
        rows = [number for number in count.rows.values() if number]
        assert len(set(rows)) == len(rows), command
        assert abs(count.rows["ops"] - count.rows["calls"]) > 1, command
