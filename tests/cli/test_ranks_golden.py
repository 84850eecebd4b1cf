"""Many ranks, number by number: what an independent program computes for the samples. Integers exactly."""

import json

import pytest

KINETO = ["tpdp", "moe", "pp", "ddp"]
LONG = 100  # rows from which a table may be cut there
ADDED = {"rank_steps": {"aligned_start_ns"}}  # columns that the other program does not have


def is_equal(got, expected):
    if isinstance(got, float) or isinstance(expected, float):
        return got is not None and expected is not None and got == pytest.approx(expected, rel=1e-6, abs=6e-7)
    return got == expected


def check(report, expected):
    facts = report["inputs"][0]["facts"]
    for key, value in expected["facts"].items():
        assert is_equal(facts[key], value), (key, facts[key], value)
    assert {issue["id"]: issue["count"] for issue in report["issues"]} == expected["issues"]
    for name, table in expected["tables"].items():
        check_table(name, report["tables"][name]["rows"], table)


def check_table(name, rows, table):
    is_whole = len(table["rows"]) < LONG
    assert len(rows) == len(table["rows"]) if is_whole else len(rows) >= len(table["rows"]), name
    for row, cells in zip(rows, table["rows"]):
        assert set(table["columns"]) == set(row) - {"input"} - ADDED.get(name, set()), name
        for column, value in zip(table["columns"], cells):
            assert is_equal(row[column], value), (name, column, row, value)


@pytest.mark.parametrize("name", KINETO)
def test_kineto(gputime, shared, name):
    paths = [shared(f"data/h200/ranks/{name}_rank{rank}.json.gz") for rank in range(4)]
    check(gputime.json("ranks", *paths), json.loads(shared(f"golden/ranks/{name}.json").read_text()))


def test_nsight(gputime, shared):
    paths = [shared(f"data/h200/ranks/nsys/rank{rank}.nsys-rep") for rank in range(4)]
    check(gputime.json("ranks", "--step-tag", "step", *paths), json.loads(shared("golden/ranks/nsys.json").read_text()))
