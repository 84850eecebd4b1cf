"""Calls that fail anywhere in the process, libraries included; little memory; loss of power. Some points of each: `make faults` tries
many more (tests/faults)."""

import random
import sys

import pytest

from conftest import find_binary
from samples import ROOT
from test_errors import FAILED, check_error

sys.path.insert(0, str(ROOT / "tests/faults"))

import cases  # noqa: E402
import limits  # noqa: E402
import losing  # noqa: E402
import power  # noqa: E402
from faulted import FAULTS, Machine, points_of, torture  # noqa: E402

POINTS, SIZES = 8, 10
WRITING = [case for case in cases.OUTPUT_CASES if "-o" in case.words or "--out" in case.words or "--out-dir" in case.words or
           case.name == "cache"]
LITTLE = ["summary", "input packed.json.xz", "input small.sqlite", "page", "parquet of events", "redact", "sql", "mcp", "view"]


def ids(chosen):
    return [case.name for case in chosen]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return cases.make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture
def machine(gputime, world, tmp_path):
    library = find_binary("GPUTIME_FAULTY", "build/faulty.so")
    if not library.exists():
        pytest.fail(f"{library} is missing: run make {library.relative_to(ROOT)} first")
    return Machine(gputime.binary, world, tmp_path / "machine", library)


@pytest.mark.parametrize("case", cases.CASES, ids=ids(cases.CASES))
def test_calls_fail(machine, case):
    usual = machine.usual(case)
    points = list(points_of(case, usual, POINTS if case.light else 1, random.Random(case.name)))
    assert {point[0] for point in points} == {kind for kind in FAULTS if usual["calls"][kind]} >= {"memory"}
    outcomes = [torture(machine, case, usual, point) for point in points]
    assert "refused" in outcomes, "no fault was noticed"


@pytest.mark.parametrize("name", LITTLE)
def test_little_memory(machine, name):
    [case] = [case for case in cases.CASES if case.name == name]
    found = limits.torture_limits(machine, case, machine.usual(case), limits.least_to_start(machine), SIZES)
    assert found[-1][1] == "as usual" and {outcome for _, outcome in found} <= {"as usual", "refused", "not started"}


# ---- loss of power ----


@pytest.mark.parametrize("case", WRITING, ids=ids(WRITING))
def test_power_is_lost(machine, case):
    assert sum(losing.lose_power(machine, case).values()) >= 5


def replay(machine, run, steps):
    return power.replay(steps, machine.scratch, run["folders"], run["before"], run["results"])


def test_a_sync_that_is_missing_is_found(machine):
    """The model itself: without the sync of the file it may be empty under its name, without that of the folder it may be the old one."""
    [case] = [case for case in cases.CASES if case.name == "json to a file"]
    run = losing.record(machine, case)
    syncs = [number for number, step in enumerate(run["steps"]) if step.kind == "synced"]
    assert len(syncs) == 2
    assert replay(machine, run, run["steps"])[1] == set(run["results"])
    without = [[step for number, step in enumerate(run["steps"]) if number != left_out] for left_out in syncs]
    with pytest.raises(power.Lost, match="out.json"):
        replay(machine, run, without[0])
    assert replay(machine, run, without[1])[1] == set()


def test_a_file_that_is_written_in_place_is_found(machine):
    run = {"folders": [machine.scratch], "before": {str(machine.scratch / "a"): b"old"}, "results": {str(machine.scratch / "a"): b"new"}}
    steps = [power.Step("opened", "1:1", str(machine.scratch / "a")), power.Step("written", "1:1", "0 " + b"new".hex()),
             power.Step("synced", "1:1", None)]
    with pytest.raises(power.Lost):
        replay(machine, run, steps)


# ---- what these found ----


@pytest.mark.parametrize("browser", ["", "/nonexistent/browser"])
def test_a_server_whose_address_nobody_can_know_ends(gputime, browser):
    if b"no server" in gputime("version").stdout:
        pytest.skip("gputime was built without libmicrohttpd")
    environment = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "BROWSER": browser}
    with open("/dev/full", "wb") as full:
        done = gputime("view", cases.DATA / "devices.json", stdout=full, env=environment, timeout=60)
    assert (b"cannot open 'http://" in done.stderr) == bool(browser)
    done.stderr = done.stderr.splitlines(keepends=True)[-1]
    check_error(done, FAILED, "address", "no space left")


def test_every_allocation_of_mcp(machine):
    """One that fails once in a stream in memory cost a letter."""
    [case] = [case for case in cases.CASES if case.name == "mcp"]
    usual = machine.usual(case)
    for place in range(60):
        torture(machine, case, usual, ("memory", place, "ENOMEM", False))
