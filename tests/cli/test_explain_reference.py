"""explain against the runs of nsys-llm-explain in tests/data/explain: same columns, keys and numbers but where that
tool is wrong. Each such test says why in its name."""

import collections
import csv
import io
import json
import math
import os
import re
import sqlite3

import pytest

from explained import (
    CASES, LAUNCH, OWN_TABLES, WHEN, check_csv_in_json, check_markdown_in_json, check_tables, database, explain, unpack,
)


@pytest.fixture(scope="module", params=["full", "kernel_only", "storm"])
def reference(request, gputime, tmp_path_factory):
    """(what the old tool wrote, what explain writes) of one capture."""
    folder = tmp_path_factory.mktemp(request.param)
    options = ["--phase-map", CASES / "full/phases.json"] if request.param == "full" else []
    return CASES / request.param / "out", explain(gputime, unpack(request.param, folder), folder / "out", *options)


# ---- as the old tool has it ----


@pytest.mark.parametrize("name", ["kernels", "nvtx_ranges", "gpu_idle_gaps", "kernels_by_pid"])
def test_tables_are_the_old_ones_byte_for_byte(reference, name):
    old, new = reference
    assert (new.path / f"tables/{name}.csv").read_bytes() == (old / f"tables/{name}.csv").read_bytes()


def test_ranges_of_processes_are_the_old_ones_and_those_of_imported_types(reference):
    old, new = reference
    known = [row for row in new.csv("nvtx_by_pid") if row["range_name"] != "oldtype"]  # types 70 and 71
    if (old / "tables/nvtx_by_pid.csv").exists():
        assert known == list(csv.DictReader(io.StringIO((old / "tables/nvtx_by_pid.csv").read_bytes().decode(), newline="")))
    else:
        assert not known


def test_the_same_files_are_there(reference):
    old, new = reference
    assert set(os.listdir(new.path / "tables")) - {f"{name}.csv" for name in OWN_TABLES} == set(os.listdir(old / "tables"))
    assert {"report.md", "report.json"} <= set(os.listdir(new.path))


# What is not compared: texts for people, the time, and what the tests below say is wrong there.
OTHER = {"sql", "notes", "generated_at", "sqlite_version", "path", "sync", "nvtx_phases", "sync_calls"}


def by_process(rows):
    """Rows in the order of processes, for equal ones come in any order there."""
    return sorted(rows, key=lambda row: row["pid"]) if rows and isinstance(rows[0], dict) and "pid" in rows[0] else rows


def compare(found, expected, place):
    if isinstance(expected, dict):
        assert isinstance(found, dict), place
        missing = set(expected) - set(found)
        assert not missing, f"{place} has no {missing}"
        for key in set(expected) - OTHER:
            compare(found[key], expected[key], f"{place}.{key}")
    elif isinstance(expected, list):
        assert isinstance(found, list) and len(found) == len(expected), place
        for number, (one, other) in enumerate(zip(by_process(found), by_process(expected))):
            compare(one, other, f"{place}[{number}]")
    elif isinstance(expected, float) and found is not None:
        assert math.isclose(found, expected, rel_tol=1e-12), place
    elif expected is not None or place.rsplit(".", 1)[-1] != "nvtx_kernel_phases":
        assert found == expected, place


def test_keys_and_numbers_of_the_json_are_the_old_ones(reference):
    old = json.loads((reference[0] / "report.json").read_text())
    new = reference[1].json
    assert set(old) <= set(new)
    by_pid = old["metrics"]["by_pid"]["nvtx"]
    old_ranges = by_pid.pop("ranges", None)
    compare(new["schema"], old["schema"], "schema")
    compare(new["metrics"], old["metrics"], "metrics")
    if old_ranges:  # in which ranges of the types 70 and 71 are missing
        kept = [row for row in new["metrics"]["by_pid"]["nvtx"]["ranges"] if row["range_name"] != "oldtype"]
        compare(kept, old_ranges, "by_pid.nvtx.ranges")
    assert new["generated_at"] == WHEN


def test_findings_keep_the_old_keys(reference):
    for finding in reference[1].json["findings"]:
        assert finding["recommendation"] == finding["advice"] and finding["evidence"] and finding["title"]
        assert finding["severity"] in ("high", "medium", "low")


# ---- where the old tool is wrong ----


def test_sync_is_what_blocks_not_event_queries_and_names_with_wait_in_them(gputime, tmp_path):
    full = explain(gputime, unpack("full", tmp_path), tmp_path / "full")
    assert [row["api_name"] for row in full.metrics["sync"]["sync_calls"]] == ["cudaStreamSynchronize_v3020"]
    assert full.metrics["sync"]["sync_calls"][0]["total_time_ms"] == 3.0
    assert {row["api_name"] for row in full.csv("sync_by_pid")} == {"cudaStreamSynchronize_v3020"}
    text = explain(gputime, unpack("text_names", tmp_path), tmp_path / "text")
    assert [row["api_name"] for row in text.metrics["sync"]["sync_calls"]] == ["cuCtxSynchronize"]


def test_phases_use_exclusive_time_because_nested_ranges_would_count_twice(gputime, tmp_path):
    new = explain(gputime, unpack("full", tmp_path), tmp_path / "out", "--phase-map", CASES / "full/phases.json")
    phases = new.metrics["nvtx_phases"]["phases"]
    old = json.loads((CASES / "full/out/report.json").read_text())["metrics"]["nvtx_phases"]
    assert [row["phase"] for row in phases] == [row["phase"] for row in old["phases"]]
    assert sum(row["total_time_ms"] for row in phases) < old["nvtx_total_time_ms"]
    assert sum(row["pct_of_nvtx_total"] for row in phases) == pytest.approx(100)
    attributed = new.metrics["nvtx_kernel_phases"]
    assert sum(row["total_kernel_time_ms"] for row in attributed["phases"]) == pytest.approx(81.4985)


def test_phases_are_guessed_without_a_map_and_say_so(gputime, tmp_path):
    new = explain(gputime, unpack("storm", tmp_path), tmp_path / "out")
    old = json.loads((CASES / "storm/out/report.json").read_text())["metrics"]
    for key in ("nvtx_phases", "nvtx_kernel_phases"):
        assert old[key] is None and new.metrics[key]["source"] == "guessed"
    mapped = explain(gputime, unpack("full", tmp_path), tmp_path / "full", "--phase-map", CASES / "full/phases.json")
    assert mapped.metrics["nvtx_phases"]["source"] == "map"
    assert "(guessed from range names)" in new.markdown and "guessed" not in mapped.markdown


# of text_names, whose tables lack most columns: key, what the old tool has, what is right, why
ODD = [
    ("top_kernels.kernels.0.device_id", -1, 0, "ops without a device are on device 0, which is a counted issue"),
    ("top_kernels.total_kernel_time_ns", 1500, 2500, "an op that ends before it starts takes no time away from others"),
    ("launch_storm.total_launches", 5, 4, "and is none"),
    ("launch_storm.window_s", 5e-6, 4.5e-6, "and ends nothing"),
    ("gpu_idle.devices.0.idle_ms", 0.003, 0.0025, "nor is the GPU idle until then"),
    ("gpu_idle.devices.0.busy_ms", 0.002, 0.002, ""),
    ("gpu_idle.gaps.0.gap_ms", 0.0025, 0.0025, ""),
    ("nvtx.ranges.0.range_name", "r1", "r1", ""),
    ("nvtx.ranges.0.total_time_ms", 1e-4, 1e-4, ""),
    ("nvtx.ranges.1.range_name", "None", "", "no text is no name"),
    ("nvtx.ranges.1.total_time_ms", 5e-5, 5e-5, ""),
    ("pid_attribution.runtime_pid_count", 2, 2, ""),
    ("per_pid.top_pids.0.pct_of_total_kernel_time", 166.66666666666669, 100, "shares of one whole"),
]


def test_an_export_with_few_columns_gives_the_old_numbers_but_for_what_cannot_be(gputime, tmp_path):
    def value(tree, path):
        for key in path.split("."):
            tree = tree[int(key)] if isinstance(tree, list) else tree[key]
        return tree

    new = explain(gputime, unpack("text_names", tmp_path), tmp_path / "out")
    old = json.loads((CASES / "text_names/out/report.json").read_text())["metrics"]
    for path, was, right, why in ODD:
        assert value(old, path) == pytest.approx(was) if isinstance(was, float) else value(old, path) == was, path
        assert value(new.metrics, path) == (pytest.approx(right) if isinstance(right, float) else right), (path, why)
    compare_keys(new.metrics, old, "metrics")
    assert [(row["range_name"], row["count"]) for row in new.csv("nvtx_ranges")] == [("r1", "1"), ("", "1")]
    assert "inside ranges" not in " ".join(new.json["warnings"]), "without correlation ids nothing is known of that"


def compare_keys(found, expected, place):
    """All keys are there, whatever they hold."""
    if isinstance(expected, dict) and isinstance(found, dict):
        assert set(expected) <= set(found), place
        for key in set(expected) - {"sql"}:
            compare_keys(found[key], expected[key], f"{place}.{key}")
    elif isinstance(expected, list) and isinstance(found, list) and expected and found:
        compare_keys(found[0], expected[0], f"{place}[0]")


def test_what_makes_processes_and_units_doubtful_is_warned_of(gputime, tmp_path):
    text = "\n".join(explain(gputime, unpack("text_names", tmp_path), tmp_path / "a").json["warnings"])
    assert "within 1 ms" in text and "2 processes have calls" in text and "100.0% of kernels belong to process 0" in text
    large = [(10**6 * i, 10**6 * i + 5, 0, 16_000_000, None, "k") for i in range(5)]
    text = "\n".join(explain(gputime, database(tmp_path / "b.sqlite", large), tmp_path / "b").json["warnings"])
    assert "100.0% of kernels belong to processes with implausible ids" in text and "within 1 ms" not in text
    new = explain(gputime, unpack("kernel_only", tmp_path), tmp_path / "c")
    assert new.metrics["per_pid"]["reason"] == "no_pid_column" and "no process ids for kernels" in new.markdown
    text = "\n".join(explain(gputime, unpack("full", tmp_path), tmp_path / "d").json["warnings"])
    assert "process" not in text and "1 ms" not in text


def test_the_findings_of_the_old_tool_are_found(reference):
    old = json.loads((reference[0] / "report.json").read_text())["findings"]
    ids = {"kernel dominates": {"dominant_kernel"}, "Single kernel": {"dominant_kernel"}, "launch storm": {"launch_storm"},
           "idle gaps": {"idle_gpu", "host_bound", "host_stalls", "sync_waits"}}
    tables = {"synchronization detected": "sync_calls", "NVTX ranges present": "ranges"}  # what is there, but to no harm
    new = reference[1].json
    found = {finding["id"] for finding in new["findings"]}
    for finding in old:
        rules = [rules for text, rules in ids.items() if text in finding["title"]]
        named = [table for text, table in tables.items() if text in finding["title"]]
        assert len(rules) + len(named) == 1, finding["title"]
        assert all(found & one for one in rules) and all(new["tables"][table]["rows"] for table in named), finding["title"]


def test_negative_durations_are_a_counted_issue_so_no_share_exceeds_100_percent(gputime, tmp_path):
    new = explain(gputime, unpack("text_names", tmp_path), tmp_path / "out")
    assert [issue["count"] for issue in new.json["issues"] if issue["id"] == "op_negative_duration"] == [1]
    shares = [row["pct_total_kernel_time"] for row in new.metrics["top_kernels"]["kernels"]]
    assert sum(shares) == pytest.approx(100) and min(shares) >= 0
    assert new.metrics["per_pid"]["top_pids"][0]["pct_of_total_kernel_time"] == 100


def test_percentiles_of_a_process_are_those_of_the_whole_interpolated(gputime, tmp_path):
    new = explain(gputime, unpack("text_names", tmp_path), tmp_path / "out")
    assert new.metrics["per_pid"]["pids"][0]["launch_storm"]["p50_kernel_us"] == new.metrics["launch_storm"]["p50_kernel_us"]


def test_equal_correlation_ids_of_two_processes_never_give_more_than_100_percent_coverage(gputime, tmp_path):
    kernels = [(1000 * i, 1000 * i + 900, pid - 1, pid, i, "k") for pid in (1, 2) for i in range(1, 20)]
    calls = [(1000 * i - 500, 1000 * i - 400, pid, 1, i, LAUNCH) for pid in (1, 2) for i in range(1, 20)]
    ranges = [(0, 10**6, pid, 1, f"r{pid}") for pid in (1, 2)]
    new = explain(gputime, database(tmp_path / "t.sqlite", kernels, calls, ranges), tmp_path / "out")
    assert new.metrics["nvtx_kernel_time"]["coverage_pct"] == 100
    assert [row["kernel_count"] for row in new.metrics["nvtx_kernel_time"]["ranges"]] == [19, 19]
    assert {row["pid_attribution_coverage_pct"] for row in new.csv("nvtx_by_pid")} == {"100.0"}


def test_a_kernel_on_eight_devices_is_one_kernel_in_findings_and_limits(gputime, tmp_path):
    kernels = [(0, 600, device, 1, None, "big") for device in range(8)]
    kernels += [(1000 + 10 * i, 1000 + 10 * i + 8, device, 1, None, f"small{i}") for device in range(8) for i in range(50)]
    new = explain(gputime, database(tmp_path / "t.sqlite", kernels), tmp_path / "out", "--kernel-limit", "2")
    dominant = next(finding for finding in new.json["findings"] if finding["id"] == "dominant_kernel")
    assert dominant["severity"] == "low" and "60.0%" in dominant["title"] and "'big'" in dominant["title"]
    assert [(row["name"], row["count"]) for row in new.table("kernels")] == [("big", 8), ("small0", 8)]
    assert collections.Counter(row["kernel_name"] for row in new.csv("kernels")) == {"big": 8, "small0": 8}
    assert new.metrics["top_kernels"]["total_kernel_time_ns"] == 8 * 1000


def test_copies_and_graphs_are_work_of_the_gpu_so_their_time_is_not_idle(gputime, tmp_path):
    more = """CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
                  correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);
              INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (100, 500, 0, 7, 1, 0, 64, 1);
              CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER,
                  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER);
              INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (500, 800, 0, 7, 2, 0, 1);"""
    path = database(tmp_path / "t.sqlite", [(0, 100, 0, 1, None, "k"), (900, 1000, 0, 1, None, "k")], more=more)
    new = explain(gputime, path, tmp_path / "out")
    assert new.metrics["gpu_idle"]["devices"][0]["idle_ms"] == 0.0001
    assert [(row["gap_start_ns"], row["gap_end_ns"]) for row in new.csv("gpu_idle_gaps")] == [("800", "900")]


def test_limits_change_no_total(gputime, tmp_path):
    kernels = [(100 * i, 100 * i + 50, 0, 1, i, "k") for i in range(1, 200)]
    calls = [(100 * i - 50, 100 * i - 40, 1, 1, i, LAUNCH) for i in range(1, 200)]
    ranges = [(100 * i - 60, 100 * i - 30, 1, 1, f"range {i}") for i in range(1, 200)]
    new = explain(gputime, database(tmp_path / "t.sqlite", kernels, calls, ranges), tmp_path / "out")
    assert new.metrics["nvtx_kernel_time"]["coverage_pct"] == 100 and new.metrics["nvtx_kernel_time"]["mapped_kernel_count"] == 199
    assert len(new.metrics["nvtx_kernel_time"]["ranges"]) == 50 and len(new.csv("nvtx_ranges")) == 199


def test_launch_rate_leaves_out_pauses_of_10_ms_such_as_loading(gputime, tmp_path):
    second = 10**9
    kernels = [(60 * second + 2000 * i, 60 * second + 2000 * i + 1000, 0, 1, None, "k") for i in range(1000)]
    kernels += [(0, 1000, 0, 1, None, "warm-up")]
    new = explain(gputime, database(tmp_path / "t.sqlite", kernels), tmp_path / "out")
    storm = new.metrics["launch_storm"]
    assert storm["active_window_s"] == pytest.approx(2e-3, rel=1e-2) and storm["is_launch_storm"] is True
    assert storm["active_launches_per_s"] == pytest.approx(1001 / storm["active_window_s"])
    assert storm["window_s"] == (60 * second + 1999 * 1000) / second, "the old key has the old meaning"
    assert storm["launches_per_s"] == pytest.approx(1001 / storm["window_s"])
    of_process = new.metrics["per_pid"]["pids"][0]["launch_storm"]
    assert of_process.items() <= storm.items()


@pytest.mark.parametrize("rows", [{}, {"ranges": [(0, 10**6, 1, 1, "r")]}, {"kernels": [(5, 5, 0, 1, 1, "k")]},
                                  {"kernels": [(5, 15, 0, 1, 1, "k")], "calls": [(1, 2, 1, 1, 1, LAUNCH)]}],
                         ids=["nothing", "ranges alone", "no time", "no ranges"])
def test_what_is_0_to_the_old_tool_is_not_null(gputime, tmp_path, rows):
    new = explain(gputime, database(tmp_path / "t.sqlite", **rows), tmp_path / "out")
    assert new.metrics["nvtx_kernel_time"]["coverage_pct"] == new.metrics["nvtx_kernel_time"]["coverage_fraction"] == 0
    storm = new.metrics["launch_storm"]
    assert storm["total_launches"] == len(rows.get("kernels", [])) and storm["tiny_kernel_us"] == 5
    if not rows.get("kernels"):
        assert storm["is_launch_storm"] is False and storm["tiny_kernels"] == []
        assert {storm[key] for key in storm if key.endswith(("_s", "kernel_us")) or key.startswith("pct_")
                if key != "tiny_kernel_us"} == {0}


def test_coverage_is_null_where_nothing_is_known_of_ranges(gputime, tmp_path):
    for case, *options in (("kernel_only",), ("full", "--no-nvtx-kernel-map")):
        new = explain(gputime, unpack(case, tmp_path), tmp_path / case, *options)
        assert new.metrics["nvtx_kernel_time"]["coverage_pct"] is None, case


def test_kernels_of_a_database_without_strings_keep_their_ids_as_names(gputime, tmp_path):
    kernels = [(1000 * i, 1000 * i + 100 * (1 + i % 3), 0, 1, i, f"kernel {i % 3}") for i in range(9)]
    path = database(tmp_path / "t.sqlite", kernels)
    connection = sqlite3.connect(path)
    ids = dict(connection.execute("SELECT value, id FROM StringIds"))
    connection.executescript("DROP TABLE StringIds;")
    connection.close()
    new = explain(gputime, path, tmp_path / "out")
    assert [(row["kernel_name"], row["call_count"]) for row in new.csv("kernels")] == \
        [(str(ids[f"kernel {i}"]), "3") for i in (2, 1, 0)]
    assert [(issue["id"], issue["count"]) for issue in new.json["issues"] if issue["id"] == "op_without_name"] == \
        [("op_without_name", 9)]
    connection = sqlite3.connect(path)
    connection.executescript(f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = NULL WHERE shortName = {ids['kernel 0']};")
    connection.close()
    assert explain(gputime, path, tmp_path / "short").csv("kernels") == new.csv("kernels"), "the short name's id is next"


def test_process_0_is_a_process_and_not_minus_1(gputime, tmp_path):
    new = explain(gputime, unpack("text_names", tmp_path), tmp_path / "out")
    assert {row["pid"] for row in new.csv("kernels_by_pid")} == {"0"}


def test_a_missing_empty_or_foreign_file_is_an_error_and_creates_nothing(gputime, tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("no trace")
    sqlite3.connect(tmp_path / "other.sqlite").execute("CREATE TABLE a (b)").connection.commit()
    before = sorted(os.listdir(tmp_path))
    for name in ("missing.sqlite", "empty", "text", "other.sqlite"):
        done = gputime("explain", tmp_path / name, "--out", tmp_path / "out")
        assert done.returncode == 1 and done.stderr.count(b"\n") == 1, name
    assert sorted(os.listdir(tmp_path)) == before


def test_names_are_escaped_so_that_markdown_renders(gputime, tmp_path):
    hostile = ["a|b", "<img src=x>", "`tick` ``two``", "x" * 5000, "[l](javascript:1)", "new\nline", "\\", "*b*_i_"]
    kernels = [(1000 * i, 1000 * i + 10 * (i + 1), 0, 1, None, name) for i, name in enumerate(hostile)]
    new = explain(gputime, database(tmp_path / "t.sqlite", kernels), tmp_path / "out")
    for line in new.markdown.splitlines():
        assert len(line) < 2000
        if line.startswith("|"):
            outside = re.sub(r"(`+).*?[^`]\1(?!`)|</?code>|\\<", "", line)
            assert "<" not in outside, line
    assert check_tables(new.markdown)
    assert {row["kernel_name"] for row in new.csv("kernels")} == set(hostile), "the tables have names whole"


# ---- the files among themselves ----


def test_every_number_of_the_markdown_is_in_the_json_and_the_tables_agree(reference):
    assert check_markdown_in_json(reference[1]) > 20
    check_csv_in_json(reference[1])
    assert reference[1].markdown.index("What to do next") < reference[1].markdown.index("### GPU time")
