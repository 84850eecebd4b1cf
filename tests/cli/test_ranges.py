"""Ranges: every cell of the three tables against a plain oracle on random traces, and against NVIDIA's own projections
of the same captures where those are available."""

import json

import pytest

from samples import CAPTURES, DATA, own_capture
from range_model import Call, Model, Op, Range, kineto_model, nsight_model, write_kineto, write_nsight
from range_oracle import SELECTIONS, Oracle, check_table, same_cell

NOT_GRAPHS = r"re:^(?!\[CUDA graph)"


# ---- random traces against it ----


def check_report(report, oracle):
    check_table(report, "ranges", oracle.range_table())
    check_table(report, "range_instances", oracle.instance_table())
    check_table(report, "range_tree", oracle.tree_table())
    assert same_cell(report["facts"].get("range_coverage"), oracle.coverage())
    assert report["facts"]["range_count"] == len(oracle.listed)
    assert report["facts"]["range_names"] == len(report["tables"]["ranges"]["rows"])


def check_model(gputime, model, path):
    for name, (options, selected) in SELECTIONS.items():
        oracle = Oracle(model, selected)
        if name in ("device", "stream") and not oracle.ops:
            continue  # a device or stream that the trace does not have is a usage error
        check_report(gputime.json("ranges", "--tree", *options, path), oracle)


@pytest.mark.parametrize("seed", range(60))
def test_random_annotations_of_kineto_nested_and_overlapping(gputime, tmp_path, seed):
    model = kineto_model(seed)
    write_kineto(model, tmp_path / "trace.json")
    check_model(gputime, model, tmp_path / "trace.json")


@pytest.mark.parametrize("seed", range(60))
def test_random_nvtx_of_nsight_nested_overlapping_and_across_threads(gputime, tmp_path, seed):
    model = nsight_model(seed)
    write_nsight(model, tmp_path / "trace.sqlite")
    check_model(gputime, model, tmp_path / "trace.sqlite")


def test_a_window_cuts_projections(gputime, tmp_path):
    model = Model([Op(0, 100, 0, 7, 100, 1, "gemm"), Op(200, 300, 0, 7, 100, 2, "gemm")],
                  [Call(0, 1, 100, 1, 1), Call(2, 3, 100, 1, 2)],
                  [Range(0, 10, "PushPop", 100, 1, None, None, "both", ""),
                   Range(4, 5, "PushPop", 100, 1, None, None, "nothing", "")])
    write_kineto(model, tmp_path / "trace.json")
    report = gputime.json("ranges", "--from", "50ns", "--to", "230ns", tmp_path / "trace.json")
    (row,) = report["tables"]["ranges"]["rows"]
    assert (row["name"], row["ops"], row["busy_ns"], row["projected_ns"]) == ("both", 2, 80, 180)
    (row,) = report["tables"]["range_instances"]["rows"]
    assert (row["start_ns"], row["projected_ns"]) == (50, 180)


def test_an_op_in_two_ranges_of_one_name_counts_once(gputime, tmp_path):
    model = Model([Op(0, 100, 0, 7, 100, 1, "gemm")], [Call(5, 6, 100, 1, 1)],
                  [Range(0, 10, "PushPop", 100, 1, None, None, "again", ""),
                   Range(1, 9, "PushPop", 100, 1, None, None, "again", "")])
    write_kineto(model, tmp_path / "trace.json")
    (row,) = gputime.json("ranges", tmp_path / "trace.json")["tables"]["ranges"]["rows"]
    assert (row["instances"], row["ops"], row["sum_ns"], row["busy_ns"], row["exclusive_ns"]) == (2, 1, 100, 100, 100)
    assert (row["projected_ns"], row["launches"]) == (200, 2)


def test_single_ranges_are_in_data_and_not_in_text(gputime, tmp_path):
    write_kineto(kineto_model(3), tmp_path / "trace.json")
    assert b"Range instances" not in gputime("ranges", tmp_path / "trace.json").stdout
    assert "range_instances" in gputime.json("ranges", tmp_path / "trace.json")["tables"]
    listed = gputime("ranges", "--table", "range_instances", "--csv", tmp_path / "trace.json").stdout.decode()
    assert listed.startswith("input,range,name,domain,start_ns,projected_ns,")
    assert gputime("ranges", tmp_path / "trace.json", "-o", f"{tmp_path}/out/").returncode == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "operators.csv", "phases.csv", "range_categories.csv", "range_instances.csv", "range_texts.csv", "ranges.csv"]


def test_deep_nesting_stays_small(gputime, tmp_path):
    """Paths of thousands of levels would take memory with the square of the depth."""
    depth = 20_000
    ranges = [Range(i, 3 * depth - i, "PushPop", 100, 1, None, None, f"level {i}", "") for i in range(depth)]
    model = Model([Op(5 * depth, 5 * depth + 10, 0, 7, 100, 1, "gemm")], [Call(depth, depth, 100, 1, 1)], ranges)
    write_kineto(model, tmp_path / "trace.json")
    rows = gputime.json("ranges", "--tree", tmp_path / "trace.json", timeout=60)["tables"]["range_tree"]["rows"]
    assert [row["depth"] for row in rows] == list(range(depth))
    assert all(len(row["path"]) < 1100 and row["path"].endswith(f"level {i}") for i, row in enumerate(rows))
    assert all(row["ops"] == 1 and row["sum_ns"] == 10 for row in rows)


# ---- NVIDIA's own projections ----


def nsys_name(row):
    """nsys joins domain and text; the default domain has no name, which leaves a colon in front."""
    return f"{row['domain']}:{row['name']}"


@pytest.fixture(scope="module", params=CAPTURES, ids=str)
def capture(request, gputime, unpacked):
    """A capture as nsys sees it: graphs recorded as a whole are nowhere in its reports."""
    return request.param, gputime.json("ranges", "--name", NOT_GRAPHS, unpacked(request.param.export))


def test_sums_equal_nvtx_gpu_proj_sum_whose_gpu_ops_are_launches(capture):
    seen, report = capture
    ours = {nsys_name(row): row for row in report["tables"]["ranges"]["rows"] if row["used"]}
    theirs = seen.rows("nvtx_gpu_proj_sum")
    assert sorted(ours) == sorted(row["Range"] for row in theirs)
    for row in theirs:
        own = ours[row["Range"]]
        exact = {"projected_ns": "Total Proj Time (ns)", "range_ns": "Total Range Time (ns)", "used": "Range Instances",
                 "proj_min_ns": "Proj Min (ns)", "proj_max_ns": "Proj Max (ns)", "launches": "Total GPU Ops"}
        assert {key: own[key] for key in exact} == {key: int(row[title]) for key, title in exact.items()}
        rounded = {"proj_avg_ns": "Proj Avg (ns)", "proj_median_ns": "Proj Med (ns)", "proj_stddev_ns": "Proj StdDev (ns)",
                   "level_avg": "Avg Range Lvl"}
        for key, title in rounded.items():
            assert abs(own[key] - float(row[title])) <= 0.05 + 1e-9 * abs(own[key]), (row["Range"], title)


def test_instances_equal_nvtx_gpu_proj_trace_in_the_order_of_the_file(capture):
    seen, report = capture
    origin = int(report["inputs"][0]["origin_ns"])
    ours = [row for row in report["tables"]["range_instances"]["rows"] if row["ops"]]
    assert ours == sorted(ours, key=lambda row: (row["start_ns"], -row["projected_ns"], row["range"]))
    ours.sort(key=lambda row: row["range"])
    theirs = seen.rows("nvtx_gpu_proj_trace")
    assert len(ours) == len(theirs)
    number_of = {row["RangeId"]: own["range"] for row, own in zip(theirs, ours)}
    for row, own in zip(theirs, ours):
        assert [nsys_name(own), own["start_ns"] + origin, own["projected_ns"], own["range_start_ns"] + origin,
                own["range_ns"], own["style"], own["pid"], own["tid"], own["launches"], own["level"], own["children"],
                own["parent"]] == [row["Name"], int(row["Projected Start (ns)"]), int(row["Projected Duration (ns)"]),
                                   int(row["Orig Start (ns)"]), int(row["Orig Duration (ns)"]), row["Style"],
                                   int(row["PID"]), int(row["TID"]), int(row["NumGPUOps"]), int(row["Lvl"]),
                                   int(row["NumChild"]), number_of[row["ParentId"]] if row["ParentId"] else None]


def test_graphs_recorded_whole_count_although_nsys_leaves_them_out(gputime, unpacked):
    report = gputime.json("ranges", unpacked(own_capture("graph_whole").export))
    (decode,) = [row for row in report["tables"]["ranges"]["rows"] if row["name"] == "decode"]
    assert decode["ops"] == decode["launches"] == 40


# ---- operators ----


def test_operators_that_have_ended_hide_none(gputime, tmp_path):
    """A thousand crossing operators that ended long ago lie between a call and the operator that encloses it."""
    def event(category, name, start, end, tid=100, **args):
        return {"ph": "X", "cat": category, "name": name, "pid": 100, "tid": tid, "ts": start, "dur": end - start,
                "args": args}
    events = [event("cpu_op", "encloses", 0, 1_000_000)]
    events += [event("cpu_op", "has ended", 10 + i, 2_000 + i) for i in range(1_100)]
    events += [event("cpu_op", "ends during the call", 1_500, 100_000),
               event("cuda_runtime", "cudaLaunchKernel", 90_000, 110_000, correlation=1),
               event("kernel", "k", 120_000, 130_000, tid=7, device=0, stream=7, correlation=1),
               event("kernel", "before the gap", 50, 60, tid=7, device=0, stream=7)]
    path = tmp_path / "crossing.json"
    path.write_text(json.dumps({"traceEvents": events}))
    for table in ("operators", "gaps"):
        rows = gputime.json("ranges", path, "--table", table)["tables"][table]["rows"]
        assert [row.get("name", row.get("operator")) for row in rows] == ["encloses"], table


def test_shares_of_nothing_are_left_out(gputime):
    for sample in ("empty.json", "cpu-only.json"):
        for command in (["ranges"], ["explain"], ["check", "--limit", "losses<1"]):
            done = gputime(*command, DATA / sample)
            assert done.returncode == 0 and b"inside ranges  " not in done.stdout, (sample, command)
        facts = gputime.json("explain", DATA / sample)["facts"]
        assert "range_names" in facts and not {"range_coverage", "range_kernel_coverage"} & set(facts)
    assert gputime("check", DATA / "empty.json", "--limit", "coverage>1%").returncode == 2
