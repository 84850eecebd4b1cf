"""`gputime efficiency` against what an independent program computes by the same rules, and the law of the waterfall on
every sample: its parts sum to the span, to the ns."""

import json
import math

import pytest

from samples import CAPTURES, DATA, NVIDIA_EXPORTS, PUBLIC_EXPORTS, real_traces, trace_name, with_shared
from test_matrix import SAMPLES

KINETO = {"ops_zoo": "data/h200/efficiency/ops_zoo.json.gz", "ddp_rank0": "data/h200/ranks/ddp_rank0.json.gz"}
TABLES = ("peaks", "efficiency", "op_efficiency", "roofline", "waterfall", "mfu")
FACTS = ("hfu", "mfu", "model_coverage", "modelled_ns", "compute_sum_ns")
ISSUES = {"unknown_gpu", "no_shapes", "over_roofline"}


def is_same(have, want):
    """Integers exactly, rounded numbers within their last digit."""
    if isinstance(want, float) and not isinstance(have, str) and have is not None:
        return math.isclose(have, want, rel_tol=1e-6, abs_tol=1e-6)
    return have == want and (have is None) == (want is None)


def check_rows(have, want):
    assert len(have) == len(want["rows"])
    for place, row in enumerate(want["rows"]):
        for column, value in zip(want["columns"], row):
            assert is_same(have[place][column], value), (place, row[:3], column, have[place][column], value)


@pytest.fixture(scope="module", params=KINETO)
def computed(request, gputime, shared):
    golden = json.loads(shared(f"golden/efficiency/{request.param}.json").read_text())
    return golden, gputime.json("efficiency", shared(KINETO[request.param]), "--top", "0")


@pytest.mark.parametrize("table", TABLES)
def test_table(computed, table):
    golden, report = computed
    want, rows = golden["tables"][table], report["tables"][table]["rows"]
    assert len(rows) == len(want["rows"])
    check_rows(rows, want)


def test_facts_and_issues(computed):
    golden, report = computed
    for fact in FACTS:
        assert is_same(report["facts"][fact], golden["facts"][fact]), fact
    ours = {issue["id"]: issue["count"] for issue in report["issues"]}
    assert {key: count for key, count in ours.items() if key in ISSUES or key.startswith("unmodelled_")} == {
        key: count for key, count in golden["issues"].items() if key in ISSUES or key.startswith("unmodelled_")}


def test_nsight(gputime, shared):
    """Without operators: peaks, recorded copies and fills, and the model's waterfall."""
    golden = json.loads(shared("golden/efficiency/zoo_10000.json").read_text())["tables"]
    report = gputime.json("efficiency", shared("data/h200/efficiency/zoo_10000.nsys-rep"), "--top", "0")["tables"]
    for table in ("peaks", "roofline", "op_efficiency", "mfu"):
        check_rows(report[table]["rows"], golden[table])
    models = [row for row in golden["waterfall"]["rows"] if row[1] == "model"]
    check_rows([row for row in report["waterfall"]["rows"] if row["basis"] == "model"],
               {"columns": golden["waterfall"]["columns"], "rows": models})
    kept = ("name", "count", "total_ns", "wall_ns", "blocks", "threads", "resident", "limiter", "occupancy", "waves", "tail")
    places = [golden["efficiency"]["columns"].index(column) for column in kept]
    check_rows(report["efficiency"]["rows"],
               {"columns": kept, "rows": [[row[place] for place in places] for row in golden["efficiency"]["rows"]]})


# ---- the law ----


def check_waterfall(gputime, path, *options):
    report = gputime.json("efficiency", path, "--top", "0", *options)
    accounts = gputime.json("summary", path, *options)["tables"]["accounting"]["rows"]
    rows = report["tables"]["waterfall"]["rows"]
    assert {row["device"] for row in rows} == {row["device"] for row in accounts}
    for account in accounts:
        for basis in {row["basis"] for row in rows}:
            parts = [row for row in rows if row["device"] == account["device"] and row["basis"] == basis]
            assert sum(row["ns"] for row in parts) == account["span_ns"]
            assert all(row["ns"] >= 0 for row in parts)
            assert sum(row["ns"] for row in parts if row["part"] == "idle") == account["idle_ns"]
            assert sum(row["ns"] for row in parts if row["part"].startswith("exposed_")) == \
                account["exposed_comm_ns"] + account["exposed_memory_ns"]
    kernels = report["tables"]["efficiency"]["rows"]
    assert all(row["lost_ns"] is None or row["lost_ns"] >= 0 for row in kernels)
    assert sum(row["wall_ns"] for row in kernels if row["provenance"] != "record") == \
        sum(account["compute_ns"] for account in accounts)


def name_of(path):
    return path and f"{path.parent.name}/{path.name}"


@pytest.mark.parametrize("path", SAMPLES, ids=name_of)
def test_waterfall_of_samples(gputime, unpacked, path):
    check_waterfall(gputime, unpacked(path))


@pytest.mark.parametrize("path", real_traces(), ids=lambda path: path and trace_name(path))
def test_waterfall_of_pytorch(gputime, path):
    check_waterfall(gputime, path)


@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_waterfall_of_captures(gputime, capture):
    check_waterfall(gputime, capture.report)


@pytest.mark.parametrize("path", with_shared([], NVIDIA_EXPORTS, PUBLIC_EXPORTS), ids=lambda path: path and path.name)
def test_waterfall_of_exports(gputime, path):
    check_waterfall(gputime, path)


@pytest.mark.parametrize("options", [("--from", "20%", "--to", "60%"), ("--from", "1ms"), ("--name", "gemm")], ids=str)
def test_waterfall_of_a_selection(gputime, options):
    check_waterfall(gputime, DATA / "torch/tpdp_rank0.json.gz", *options)
