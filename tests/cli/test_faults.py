"""Programs with one planted fault each: the first finding is that fault, and its saving is what the fault costs."""

import collections
import csv
import re
import tarfile

import pytest

from samples import shared_path

MOST_COSTS = 12  # of programs whose fault costs over a tenth of the step
GOOD_COSTS = 10  # so many savings are from half to one and a half times the cost

Fault = collections.namedtuple("Fault", "trace rules words cost")


def read_faults():
    table = shared_path("golden/faults/expected.csv")
    if not table:
        return []
    with table.open(newline="") as file:
        return [Fault(row["trace"], row["finding"].split("|") if row["finding"] else [], row["mentions"],
                      float(row["cost"] or 0)) for row in csv.DictReader(file)]


FAULTS = read_faults()


@pytest.fixture(scope="module")
def traces(shared, tmp_path_factory):
    """The unpacked folder."""
    folder = tmp_path_factory.mktemp("faults")
    with tarfile.open(shared("data/h200/faults.tar.xz")) as packed:
        packed.extractall(folder)
    return folder / "faults_a"


def findings_of(gputime, path):
    return gputime.json("findings", path)["findings"]


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.trace for fault in FAULTS])
def test_the_fault_comes_first(gputime, traces, fault):
    captures = [path for path in traces.glob(f"{fault.trace}.*")]
    assert traces / f"{fault.trace}.json" in captures
    for path in captures:
        check_fault(fault, findings_of(gputime, path))


def check_fault(fault, found):
    if not fault.rules:
        assert [one["title"] for one in found if one["severity"] != "low"] == []
        return
    assert found and found[0]["id"] in fault.rules, [one["id"] for one in found]
    assert re.search(fault.words, " ".join([found[0]["title"], *found[0]["evidence"]])), found[0]


def test_savings_are_what_the_faults_cost(gputime, traces):
    ratios = {}
    for fault in FAULTS:
        if fault.cost > 0.1:
            found = findings_of(gputime, traces / f"{fault.trace}.json")
            is_right = found and found[0]["id"] in fault.rules and found[0]["share"] is not None
            ratios[fault.trace] = found[0]["share"] / fault.cost if is_right else 0
    assert len(ratios) == MOST_COSTS
    assert sum(0.5 <= ratio <= 1.5 for ratio in ratios.values()) >= GOOD_COSTS, ratios
