"""explain: its folder against the runs of nsys-llm-explain in tests/data/explain (same columns, keys and numbers but
where that tool is wrong: each such test says why in its name), against a plain oracle on random traces, and its three
files against each other."""

import collections
import csv
import gzip
import io
import json
import math
import os
import random
import re
import sqlite3

import pytest

from conftest import DATA, SHARED
from test_ranges import Oracle, global_id, nsight_model, write_nsight

CASES = DATA / "explain"
TABLES = ["kernels", "nvtx_ranges", "gpu_idle_gaps", "kernels_by_pid", "sync_by_pid", "nvtx_by_pid"]
OWN_TABLES = {"categories": "category", "idle_causes": "cause", "phases": "phase"}  # and what their rows are called by
WHEN = "2026-01-02T03:04:05+00:00"


class Folder:
    """What explain wrote."""

    def __init__(self, path, stdout):
        self.path, self.stdout = path, stdout
        self.json = json.loads((path / "report.json").read_text(encoding="utf-8"))
        self.markdown = (path / "report.md").read_text(encoding="utf-8")
        self.metrics = self.json["metrics"]

    def csv(self, name):
        path = self.path / "tables" / f"{name}.csv"
        text = path.read_bytes().decode("utf-8") if path.exists() else ""
        assert not text or text.endswith("\r\n")
        return list(csv.DictReader(io.StringIO(text, newline="")))

    def table(self, key):
        return self.json["tables"][key]["rows"] if key in self.json["tables"] else []


def explain(gputime, trace, folder, *options):
    done = gputime("explain", trace, "--out", folder, "--generated-at", WHEN, *options)
    assert done.returncode == 0, done.stderr
    return Folder(folder, done.stdout.decode("utf-8"))


def unpack(case, tmp_path):
    path = tmp_path / "trace.sqlite"
    path.write_bytes(gzip.decompress((CASES / case / "trace.sqlite.gz").read_bytes()))
    return path


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
    assert "(guessed from the names of ranges)" in new.markdown and "guessed" not in mapped.markdown


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
    assert "within 1 ms" in text and "2 processes have calls" in text and "100.0% of the kernels are of process 0" in text
    large = [(10**6 * i, 10**6 * i + 5, 0, 16_000_000, None, "k") for i in range(5)]
    text = "\n".join(explain(gputime, database(tmp_path / "b.sqlite", large), tmp_path / "b").json["warnings"])
    assert "100.0% of the kernels are of processes with impossible numbers" in text and "within 1 ms" not in text
    new = explain(gputime, unpack("kernel_only", tmp_path), tmp_path / "c")
    assert new.metrics["per_pid"]["reason"] == "no_pid_column" and "process of any kernel" in new.markdown
    text = "\n".join(explain(gputime, unpack("full", tmp_path), tmp_path / "d").json["warnings"])
    assert "process" not in text and "1 ms" not in text


def test_the_findings_of_the_old_tool_are_found(reference):
    old = json.loads((reference[0] / "report.json").read_text())["findings"]
    ids = {"kernel dominates": "dominant_kernel", "Single kernel": "dominant_kernel", "launch storm": "launch_storm",
           "synchronization detected": "sync_calls", "idle gaps": "idle_gpu", "NVTX ranges present": "has_ranges"}
    found = {finding["id"]: finding for finding in reference[1].json["findings"]}
    for finding in old:
        rule, = (rule for text, rule in ids.items() if text in finding["title"])
        assert rule in found, finding["title"]
        if finding["title"] != "Single kernel is a large share of GPU time":  # of one of two devices
            assert found[rule]["severity"] == finding["severity"], rule


def test_negative_durations_are_a_counted_issue_so_no_share_exceeds_100_percent(gputime, tmp_path):
    new = explain(gputime, unpack("text_names", tmp_path), tmp_path / "out")
    assert [issue["count"] for issue in new.json["issues"] if issue["id"] == "op_negative_duration"] == [1]
    shares = [row["pct_total_kernel_time"] for row in new.metrics["top_kernels"]["kernels"]]
    assert sum(shares) == pytest.approx(100) and min(shares) >= 0
    assert new.metrics["per_pid"]["top_pids"][0]["pct_of_total_kernel_time"] == 100


def test_percentiles_of_a_process_are_those_of_the_whole_interpolated(gputime, tmp_path):
    new = explain(gputime, unpack("text_names", tmp_path), tmp_path / "out")
    assert new.metrics["per_pid"]["pids"][0]["launch_storm"]["p50_kernel_us"] == new.metrics["launch_storm"]["p50_kernel_us"]


def database(path, kernels=(), calls=(), ranges=(), more=""):
    """kernels: (start, end, device, pid, correlation, name); calls: (start, end, pid, tid, correlation, name);
    ranges: (start, end, pid, tid, name)."""
    connection = sqlite3.connect(path)
    connection.executescript("""
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
            nameId INTEGER);
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
    """ + more)
    names = {}
    for text in [row[5] for row in kernels] + [row[5] for row in calls]:
        names.setdefault(text, len(names) + 1)
    connection.executemany("INSERT INTO StringIds VALUES (?, ?)", [(number, text) for text, number in names.items()])
    connection.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, 7, ?, ?, ?, ?)", [
        (start, end, device, correlation, global_id(pid), names[name], names[name])
        for start, end, device, pid, correlation, name in kernels])
    connection.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, ?)", [
        (start, end, global_id(pid, tid), correlation, names[name]) for start, end, pid, tid, correlation, name in calls])
    connection.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?)", [
        (start, end, name, global_id(pid, tid)) for start, end, pid, tid, name in ranges])
    connection.commit()
    connection.close()
    return path


LAUNCH = "cudaLaunchKernel_v7000"


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
    assert dominant["severity"] == "high" and "60.0%" in dominant["title"] and "'big'" in dominant["title"]
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
    assert storm["window_s"] == pytest.approx(2e-3, rel=1e-2) and storm["is_launch_storm"] is True
    assert new.metrics["per_pid"]["pids"][0]["launch_storm"]["launches_per_s"] == storm["launches_per_s"]


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


def check_tables(markdown):
    """(title, header, rows of cells) of each table; all rows of one are as wide as its header."""
    tables, title, lines = [], "", []
    for line in markdown.splitlines() + [""]:
        if line.startswith("### "):
            title = line[4:]
        if line.startswith("|"):
            lines.append([cell.strip() for cell in re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]])
        elif lines:
            assert len({len(cells) for cells in lines}) == 1, title
            tables.append((title, lines[0], lines[2:]))
            lines = []
    return tables


SCALES = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "kB": 1e3, "MB": 1e6, "GB": 1e9, "B": 1}


def shown(cell):
    """The number in a cell and half a unit of its last digit; None for text."""
    text = cell.replace("\\", "").replace(",", "").strip()
    match = re.fullmatch(r"(<)?(-?\d+(?:\.(\d+))?)\s*(%|[a-zA-Z]*)", text)
    if not match or (match[4] and match[4] != "%" and match[4] not in SCALES):
        return None
    scale = 0.01 if match[4] == "%" else SCALES.get(match[4], 1)
    step = 10 ** -len(match[3] or "") * scale
    return float(match[2]) * scale, step if match[1] else 0.51 * step


def check_markdown_in_json(new):
    titles = {table["title"]: table for table in new.json["tables"].values()}
    seen = 0
    for title, header, rows in check_tables(new.markdown):
        table = titles[title.replace("\\", "")]
        columns = {column["title"]: column["key"] for column in table["columns"]}
        for number, cells in enumerate(rows):
            for head, cell in zip(header, cells):
                match = re.fullmatch(r"(.*?)(?: \((ns|us|ms|s|B|kB|MB|GB)\))?", head.replace("\\", ""))
                value = table["rows"][number][columns[match[1]]]
                found = shown(cell)
                if value is None:
                    assert cell in ("-", ""), (title, head, cell)
                elif not isinstance(value, str):
                    scale = SCALES[match[2]] if match[2] else 1
                    assert found and abs(found[0] * scale - value) <= found[1] * scale * 1.0001 + 1e-9, (title, head, cell, value)
                    seen += 1
    return seen


def check_csv_in_json(new):
    """The CSV tables are lists of the metrics, cell for cell."""
    lists = {
        "kernels": new.metrics["top_kernels"]["kernels"], "gpu_idle_gaps": new.metrics["gpu_idle"]["gaps"],
        "kernels_by_pid": new.metrics["by_pid"]["kernels"]["kernels"], "sync_by_pid": new.metrics["by_pid"]["sync"]["sync_calls"],
        "nvtx_by_pid": new.metrics["by_pid"]["nvtx"]["ranges"],
    }
    for name, rows in lists.items():
        found = new.csv(name)
        assert len(found) == len(rows), name
        for one, other in zip(found, rows):
            for key, text in one.items():
                value = other[key]
                if isinstance(value, str):  # control characters are not for spreadsheets, formulas are defused
                    same = "\ufffd" in text or text in (value, f"'{value}")
                else:
                    same = text == "" if value is None else float(text) == value
                assert same, (name, key, text, value)
    own = {(row["name"], row["domain"]): row for row in new.table("ranges")}
    assert len(own) == len(new.csv("nvtx_ranges"))
    totals = sorted((float(row["total_time_ms"]) for row in new.csv("nvtx_ranges")), reverse=True)
    assert totals == sorted((row["range_ns"] / 1e6 for row in own.values()), reverse=True)


def test_every_number_of_the_markdown_is_in_the_json_and_the_tables_agree(reference):
    assert check_markdown_in_json(reference[1]) > 20
    check_csv_in_json(reference[1])
    assert reference[1].markdown.index("What to do next") < reference[1].markdown.index("### GPU time")


# ---- the oracle ----


def quantile(values, q):
    values = sorted(values)
    position = q * (len(values) - 1)
    low = int(position)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (position - low)


def check_kernels(new, ops):
    groups = collections.defaultdict(list)
    for op in ops:
        groups[op.name, op.device].append(op.end - op.start)
    assert len(new.table("device_kernels")) == len(groups)
    for row in new.table("device_kernels"):
        lengths = groups[row["name"], row["device"]]
        assert (row["count"], row["total_ns"], row["min_ns"], row["max_ns"]) == (len(lengths), sum(lengths), min(lengths), max(lengths))
        assert row["median_ns"] == pytest.approx(quantile(lengths, 0.5)) and row["p90_ns"] == pytest.approx(quantile(lengths, 0.9))
    owners = collections.defaultdict(list)
    for op in ops:
        owners[op.pid, op.name, op.device].append(op.end - op.start)
    total = sum(op.end - op.start for op in ops)
    assert len(new.table("process_kernels")) == len(owners)
    for row in new.table("process_kernels"):
        lengths = owners[row["pid"], row["name"], row["device"]]
        of_process = sum(op.end - op.start for op in ops if op.pid == row["pid"])
        assert (row["count"], row["total_ns"], row["process_kernel_ns"]) == (len(lengths), sum(lengths), of_process)
        assert row["share"] == pytest.approx(sum(lengths) / total if total else 0)


def check_rates(new, ops):
    def window(chosen):
        total, reached, start = 0, None, None
        for op in sorted(chosen, key=lambda op: op.start):
            if reached is None or op.start - reached >= 10_000_000:
                total += 0 if reached is None else reached - start
                start, reached = op.start, op.end
            reached = max(reached, op.end)
        return total + reached - start

    rates = [(None, row) for row in new.table("launch_rate")] + [(row["pid"], row) for row in new.table("process_launch_rates")]
    assert len(rates) == (1 if ops else 0) + len({op.pid for op in ops})
    for pid, row in rates:
        chosen = [op for op in ops if pid in (None, op.pid)]
        lengths = [op.end - op.start for op in chosen]
        assert (row["count"], row["window_ns"]) == (len(chosen), window(chosen))
        assert row["per_second"] == pytest.approx(len(chosen) / (max(window(chosen), 1) / 1e9))
        assert [row[key] for key in ("median_ns", "p90_ns", "p99_ns")] == pytest.approx([quantile(lengths, q) for q in (0.5, 0.9, 0.99)])
        assert row["under_5us"] == pytest.approx(sum(length < 5000 for length in lengths) / len(lengths))
    tiny = collections.Counter(op.name for op in ops if op.end - op.start <= 5000)
    assert {row["name"]: row["count"] for row in new.table("tiny_kernels")} == tiny
    tiny = collections.Counter((op.pid, op.name) for op in ops if op.end - op.start <= 5000)
    assert {(row["pid"], row["name"]): row["count"] for row in new.table("process_tiny_kernels")} == tiny


def check_ranges(new, oracle):
    inside = collections.defaultdict(list)
    for op, holders in zip(oracle.ops, oracle.holders):
        if holders:
            innermost = oracle.ranges[holders[-1]]
            inside[op.pid, innermost.name, innermost.domain].append(op.end - op.start)
    names = collections.defaultdict(list)
    for (_, name, domain), lengths in inside.items():
        names[name, domain] += lengths
    found = {(row["name"], row["domain"]): (row["kernels"], row["kernel_ns"]) for row in new.table("range_kernels")}
    assert found == {key: (len(lengths), sum(lengths)) for key, lengths in names.items()}
    walls = collections.defaultdict(list)
    for number in oracle.listed:
        one = oracle.ranges[number]
        walls[one.pid, one.name, one.domain].append(one.end - one.start)
    rows = {(row["pid"], row["name"], row["domain"]): row for row in new.table("process_ranges")}
    assert set(rows) == set(walls) | set(inside)
    for key, row in rows.items():
        assert (row["instances"], row["range_ns"]) == (len(walls[key]), sum(walls[key]))
        assert (row["kernels"], row["kernel_ns"]) == (len(inside[key]), sum(inside[key]))
    for row in new.table("process_coverage"):
        total = sum(op.end - op.start for op in oracle.ops if op.pid == row["pid"])
        covered = sum(sum(lengths) for key, lengths in inside.items() if key[0] == row["pid"])
        assert (row["kernel_ns"], row["covered_ns"]) == (total, covered) and covered <= total
    lengths = sorted((one.end - one.start for one in (oracle.ranges[number] for number in oracle.listed)), reverse=True)
    assert [row["range_ns"] for row in new.table("longest_ranges")] == lengths[:50]


SYNCS = ["cudaStreamSynchronize_v3020", "cudaMemcpy_v3020", "cudaMemcpyAsync_v3020", "cudaEventQuery_v3020", "cuCtxSynchronize"]


def add_syncs(path, seed):
    """Calls beside launches; what blocks of them, by process and name."""
    pick = random.Random(seed)
    calls = [(start := pick.randint(0, 1000), start + pick.randint(0, 500), pick.choice([100, 200]), pick.randrange(len(SYNCS)))
             for _ in range(pick.choice([0, 30]))]
    connection = sqlite3.connect(path)
    connection.executemany("INSERT INTO StringIds VALUES (?, ?)", [(1000 + number, name) for number, name in enumerate(SYNCS)])
    connection.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, ?, 0)",
                           [(start, end, global_id(pid, 1), 10**6 + number, 1000 + name)
                            for number, (start, end, pid, name) in enumerate(calls)])
    connection.commit()
    connection.close()
    sums = collections.defaultdict(list)
    for start, end, pid, name in calls:
        if name in (0, 1, 4):
            sums[pid, SYNCS[name]].append(end - start)
    return sums


def check_syncs(new, sums):
    found = {(row["pid"], row["api_name"]): (row["count"], row["total_ns"]) for row in new.table("process_sync_calls")}
    assert found == {key: (len(lengths), sum(lengths)) for key, lengths in sums.items()}
    names = collections.Counter()
    for (_, name), lengths in sums.items():
        names[name] += sum(lengths)
    assert {row["api_name"]: row["total_ns"] for row in new.table("sync_calls")} == dict(names)


@pytest.mark.parametrize("seed", range(25))
def test_random_traces_with_nested_overlapping_and_cross_thread_ranges(gputime, tmp_path, seed):
    model = nsight_model(seed)
    write_nsight(model, tmp_path / "t.sqlite")
    sums = add_syncs(tmp_path / "t.sqlite", seed)
    new = explain(gputime, tmp_path / "t.sqlite", tmp_path / "out", "--kernel-limit", "0")
    oracle = Oracle(model)
    check_kernels(new, oracle.ops)
    check_rates(new, oracle.ops)
    check_ranges(new, oracle)
    check_syncs(new, sums)
    check_markdown_in_json(new)
    check_csv_in_json(new)


def test_threads_change_no_byte(gputime, tmp_path):
    traces = [unpack("full", tmp_path), tmp_path / "t.sqlite"]
    write_nsight(nsight_model(3), traces[1])
    for trace in traces:
        written = []
        for threads in ("1", "2", "7"):
            folder = tmp_path / (trace.stem + threads)
            explain(gputime, trace, folder, "--threads", threads)
            written.append({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()})
        assert written[0] and written[1] == written[0] and written[2] == written[0]


# ---- files that the old tool has not ----


def test_categories_idle_causes_and_phases_have_files_beside_the_others(gputime, tmp_path):
    new = explain(gputime, unpack("full", tmp_path), tmp_path / "out")
    for table, name in OWN_TABLES.items():
        rows = new.csv(table)
        assert rows and [row[name] for row in rows] == [row[name] for row in new.table(table)], table
        totals = {"phases": ("exclusive_time_ms", "exclusive_ns")}.get(table, ("total_time_ms", "total_ns"))
        assert [float(row[totals[0]]) * 1e6 for row in rows] == pytest.approx([row[totals[1]] for row in new.table(table)])
        assert sum(float(row[next(key for key in row if key.startswith("pct_"))]) for row in rows) == pytest.approx(
            100 * len({row.get("device_id") for row in rows})), table
    bare = explain(gputime, DATA / "empty.json", tmp_path / "out")
    assert not any((bare.path / f"tables/{table}.csv").exists() for table in OWN_TABLES)


# ---- options ----


def long_trace(path, count=90):
    """As many kernels of different names, with a gap behind each."""
    rows = [{"ph": "X", "cat": "kernel", "name": f"kernel_{number}", "pid": 0, "tid": 7, "ts": 10 * number, "dur": 5,
             "args": {"device": 0, "stream": 7, "correlation": number}} for number in range(1, count + 1)]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": rows}))
    return path


@pytest.mark.parametrize("options, kernels, gaps", [([], 30, 50), (["--top", "0"], 90, 89), (["--top", "7"], 7, 7),
                                                    (["--kernel-limit", "0"], 90, 50), (["--kernel-limit", "3"], 3, 50),
                                                    (["--top", "0", "--kernel-limit", "4"], 4, 89)], ids=str)
def test_top_limits_every_list_and_0_lifts_all_limits(gputime, tmp_path, options, kernels, gaps):
    new = explain(gputime, long_trace(tmp_path / "t.json"), tmp_path / "out", *options)
    assert (len(new.csv("kernels")), len(new.csv("gpu_idle_gaps"))) == (kernels, gaps)
    assert (len(new.table("kernels")), len(new.table("gaps"))) == (kernels, gaps)
    shown = gputime("explain", tmp_path / "t.json", *options).stdout.decode()
    assert len(re.findall(r"^kernel_\d+ ", re.split("^Kernels.*\n", shown, flags=re.MULTILINE)[1], re.MULTILINE)) == kernels


@pytest.mark.parametrize("when", ["2026-01-31", "2024-02-29T23:59", "2026-01-31T09:30:00Z", "2026-01-31T09:30:60.25+01:00",
                                  "2026-01-31T09:30:00-05"])
def test_a_time_to_state_is_a_time(gputime, tmp_path, when):
    done = gputime("explain", DATA / "overlap.json", "--out", tmp_path / "out", "--generated-at", when)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out/report.json").read_text())["generated_at"] == when


@pytest.mark.parametrize("when", ["yesterday", "2026", "2026-01", "2026-1-31", "2026-13-01", "2026-02-29", "2026-00-10",
                                  "2026-01-31T", "2026-01-31T24:00", "2026-01-31T09:60", "2026-01-31T09:30:61",
                                  "2026-01-31T09:30:00.", "2026-01-31T09:30:00+", "2026-01-31T09:30:00+1:00",
                                  "2026-01-31 09:30:00", "2026-01-31T09:30:00Z ", "2026-01-31Z", "-026-01-31", "2026-01-3a"])
def test_what_is_no_time_is_a_usage_error(gputime, tmp_path, when):
    done = gputime("explain", DATA / "overlap.json", "--out", tmp_path / "out", f"--generated-at={when}")
    assert done.returncode == 2 and f"'{when}'".encode() in done.stderr and not (tmp_path / "out").exists()


def test_options_of_the_old_tool(gputime, tmp_path):
    trace = unpack("full", tmp_path)
    few = explain(gputime, trace, tmp_path / "few", "--top-kernels", "1", "--no-kernel-percentiles", "--phases-json", CASES / "full/phases.json")
    assert [row["kernel_name"] for row in few.csv("kernels")] == ["flash_fwd_kernel"] * 2
    assert {(row["p50_duration_us"], row["p90_duration_us"]) for row in few.csv("kernels")} == {("", "")}
    assert few.metrics["nvtx_kernel_phases"]["present"] is True
    bare = explain(gputime, trace, tmp_path / "bare", "--no-nvtx-kernel-map")
    assert bare.metrics["nvtx_kernel_time"]["present"] is False and bare.metrics["nvtx_kernel_phases"] is None
    assert {row["attributed_kernel_count"] for row in bare.csv("nvtx_by_pid")} == {""}
    assert [row["count"] for row in bare.csv("nvtx_ranges")] == ["2", "2", "12", "6", "4", "2"]


def test_without_kernels_of_ranges_phases_stay_and_nothing_is_said_to_be_zero(gputime, tmp_path):
    trace = unpack("full", tmp_path)
    (tmp_path / "map.json").write_text('{"all": ["re:."]}')
    bare = explain(gputime, trace, tmp_path / "bare", "--phase-map", tmp_path / "map.json", "--no-nvtx-kernel-map")
    assert "### Phases" in bare.markdown and "Kernel time inside ranges" not in bare.markdown
    assert "range_kernel_coverage" not in bare.json["facts"]
    full = explain(gputime, trace, tmp_path / "full", "--phase-map", tmp_path / "map.json")
    assert bare.metrics["nvtx_phases"] == full.metrics["nvtx_phases"] and bare.metrics["nvtx_phases"]["present"]
    assert bare.metrics["nvtx_kernel_phases"] is None
    assert {row["exclusive_ns"] for row in bare.table("phases")} == {None}


def test_low_coverage_is_warned_of_below_the_threshold(gputime, tmp_path):
    trace = unpack("full", tmp_path)
    assert explain(gputime, trace, tmp_path / "a").metrics["nvtx_coverage_warn_threshold"] == 0.7
    high = explain(gputime, trace, tmp_path / "b", "--nvtx-coverage-warn-threshold", "0.79")
    warnings = "\n".join(high.json["warnings"])
    assert "78.6%" in warnings and "process 4343" in warnings and "78.6%" in high.markdown
    assert not any("%" in warning for warning in explain(gputime, trace, tmp_path / "c").json["warnings"])
    refused = gputime("explain", trace, "--out", tmp_path / "d", "--nvtx-coverage-warn-threshold", "7")
    assert refused.returncode == 2 and b"'7'" in refused.stderr and not (tmp_path / "d").exists()


def test_print_schema_shows_tables_rows_and_columns_of_exports_and_what_other_inputs_hold(gputime, tmp_path):
    new = explain(gputime, unpack("full", tmp_path), tmp_path / "out", "--print-schema")
    assert "CUPTI_ACTIVITY_KIND_KERNEL (rows=144): start:INTEGER, end:INTEGER" in new.stdout
    assert "StringIds (rows=16): id:INTEGER, value:TEXT" in new.stdout
    other = explain(gputime, DATA / "overlap.json", tmp_path / "other", "--print-schema")
    assert "kernels (rows=3)" in other.stdout and other.json["schema"]["tables"] == {}


def test_print_schema_without_a_folder_prints_the_schema_and_nothing_else(gputime, tmp_path):
    trace = unpack("full", tmp_path)
    done = gputime("explain", trace, "--print-schema")
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0 and not done.stderr
    assert "StringIds (rows=16): id:INTEGER, value:TEXT" in lines
    assert all(" (rows=" in line for line in lines if line)
    folder = explain(gputime, trace, tmp_path / "out", "--print-schema")
    assert lines == [line for line in folder.stdout.splitlines() if " (rows=" in line] + [""]
    assert folder.table("kernels") and folder.table("findings")
    assert set(gputime.json("explain", trace, "--print-schema")["tables"]) == {
        "schema", "schema_columns", "schema_capabilities", "schema_processes"}
    written = gputime("explain", trace, "--print-schema", "--csv").stdout.decode().splitlines()
    assert written[0].startswith("input,table,role,rows") and len(written) == len(lines)


def test_the_time_is_that_of_source_date_epoch_or_of_the_run(gputime, tmp_path):
    trace = unpack("kernel_only", tmp_path)
    for environment, expected in (({"SOURCE_DATE_EPOCH": "86400"}, r"1970-01-02T00:00:00\+00:00"),
                                  ({"SOURCE_DATE_EPOCH": "x"}, r"20\d\d-\d\d-\d\dT.*\+00:00")):
        assert gputime("explain", trace, "--out", tmp_path / "out", env=environment).returncode == 0
        assert re.fullmatch(expected, json.loads((tmp_path / "out/report.json").read_text())["generated_at"])


def test_stdout_is_short_and_says_what_was_found_and_where_the_files_are(gputime, tmp_path):
    new = explain(gputime, unpack("full", tmp_path), tmp_path / "out")
    lines = new.stdout.splitlines()
    assert len(lines) <= 8 and "'flash_fwd_kernel'" in lines[0] and str(tmp_path / "out/report.md") in lines[-1]
    quiet = gputime("explain", unpack("full", tmp_path), "--out", tmp_path / "out", "-q")
    assert quiet.returncode == 0 and quiet.stdout == b""


# ---- the folder ----


def test_a_folder_is_updated_file_by_file_and_what_is_not_of_the_report_any_more_goes(gputime, tmp_path):
    folder = tmp_path / "a/b"
    explain(gputime, unpack("full", tmp_path), folder)
    (folder / "mine.txt").write_text("stays")
    second = explain(gputime, unpack("kernel_only", tmp_path), folder)
    assert not (folder / "tables/nvtx_by_pid.csv").exists() and (folder / "mine.txt").exists()
    assert second.csv("nvtx_ranges") == [] and not list(folder.rglob("*.tmp*"))


def test_a_folder_that_cannot_be_written_is_an_error_and_leaves_nothing(gputime, tmp_path):
    trace = unpack("full", tmp_path)
    (tmp_path / "file").write_text("")
    done = gputime("explain", trace, "--out", tmp_path / "file")
    assert done.returncode == 1 and b"file" in done.stderr
    (tmp_path / "out/tables").mkdir(parents=True)
    (tmp_path / "out/tables/kernels.csv").mkdir()
    done = gputime("explain", trace, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert sorted(path.name for path in (tmp_path / "out").rglob("*")) == ["kernels.csv", "tables"]


def test_a_folder_is_about_one_trace(gputime, tmp_path):
    trace = unpack("full", tmp_path)
    done = gputime("explain", trace, DATA / "overlap.json", "--out", tmp_path / "out")
    assert done.returncode == 2 and not (tmp_path / "out").exists()
    assert gputime("explain", trace, DATA / "overlap.json").returncode == 0


# ---- traces that lack something ----


def test_what_a_trace_lacks_is_said(gputime, tmp_path):
    none = explain(gputime, unpack("kernel_only", tmp_path), tmp_path / "none")
    assert "no runtime calls" in none.markdown and "no ranges" in none.markdown
    assert none.metrics["nvtx_kernel_time"]["present"] is False and none.metrics["per_pid"]["present"] is False
    one = explain(gputime, database(tmp_path / "one.sqlite", [(5, 9, 0, 1, None, "only")]), tmp_path / "one")
    assert one.csv("kernels")[0]["kernel_name"] == "only" and one.metrics["launch_storm"]["total_launches"] == 1
    zero = explain(gputime, database(tmp_path / "zero.sqlite"), tmp_path / "zero")
    assert zero.metrics["launch_storm"] is None and zero.csv("kernels") == []
    assert any(issue["id"] == "no_gpu_work" for issue in zero.json["issues"]) and "no_gpu_work" in zero.markdown


@pytest.mark.parametrize("sample", ["devices.json", "cpu-only.json", "empty.json", "hostile.json", "cut.json",
                                    "nsys/graph_whole.nsys-rep", "nsys-csv/mini_cuda_gpu_kern_sum.csv",
                                    "nsys-csv/mini_cuda_gpu_trace.csv"])
def test_any_input_gives_a_folder(hardened, tmp_path, sample):
    new = explain(hardened, DATA / sample, tmp_path / "out")
    check_markdown_in_json(new)
    check_csv_in_json(new)


INFER = SHARED / "data/h200/nsys/infer"


@pytest.mark.skipif(not INFER.exists(), reason="needs the captures beside the repository")
def test_a_real_capture_is_the_same_from_report_and_export(gputime, tmp_path):
    report, = INFER.glob("*.nsys-rep")
    new = explain(gputime, report, tmp_path / "out")
    check_markdown_in_json(new)
    check_csv_in_json(new)
    phases = {row["phase"]: row["total_kernel_time_ms"] for row in new.metrics["nvtx_kernel_phases"]["phases"]}
    assert {"prefill", "decode", "sampling"} <= set(phases)


JAX = SHARED / "data/h200/nsys/jax/jax.nsys-rep"


@pytest.mark.skipif(not JAX.exists(), reason="needs the captures beside the repository")
def test_gaps_and_their_sums_tell_the_same_of_the_cpu(gputime):
    """The thread compiled for 692 of 773 ms, and a range of 45 us was around the launch in the end."""
    tables = gputime.json("gaps", JAX)["tables"]
    longest = next(row for row in tables["gaps"]["rows"] if 772_000_000 < row["gap_ns"] < 773_500_000)
    assert longest["meanwhile"] == "XlaCompileBackend:#module=jit_train_step,program_id=4642#"
    calls = {row["name"] for row in gputime.json(JAX, "--table", "launches")["tables"]["launches"]["rows"]}
    sums = collections.Counter()
    for row in tables["gaps"]["rows"]:
        if row["cause"] == "host" and row["meanwhile"] not in calls:
            sums[row["meanwhile"]] += row["gap_ns"]
    by_name = {row["name"]: row["total_ns"] for row in tables["idle_work"]["rows"]}
    name = longest["meanwhile"]
    assert sums[name] == by_name[name] == longest["gap_ns"]


def test_a_trace_without_gpu_work_is_said_to_have_none(gputime, tmp_path):
    trace = database(tmp_path / "t.sqlite", [], [], [])
    text = gputime("explain", trace, "--out", tmp_path / "out").stdout.decode()
    assert text.startswith("The trace has no GPU work.\n")
    markdown = (tmp_path / "out" / "report.md").read_text()
    assert "The trace has no memory operation." in markdown and "selection" not in markdown


def test_one_is_singular(gputime, tmp_path):
    trace = database(tmp_path / "t.sqlite", [(1000, 2000, 0, 100, 1, "k")], [(500, 600, 100, 1, 1, "cudaLaunchKernel")],
                     [(400, 700, 100, 1, "alone")])
    text = gputime("explain", trace, "--out", tmp_path / "out").stdout.decode()
    assert "launches: 1)" in text
    markdown = (tmp_path / "out" / "report.md").read_text()
    assert ", 1 GPU op\n" in markdown
    assert not re.findall(r"(?<![\d.,#])1 (?:[A-Z]+ )?[a-z]{2,}s\b", text + markdown)


@pytest.mark.skipif(not JAX.exists(), reason="needs the captures beside the repository")
def test_the_rate_says_of_what_time_it_is(gputime, tmp_path):
    text = gputime("explain", JAX, "--out", tmp_path / "out").stdout.decode()
    assert "Kernel launches: 1412, 6993/s in 201.9 ms without pauses; median kernel 28.54 us\n" in text


@pytest.mark.skipif(not JAX.exists(), reason="needs the captures beside the repository")
def test_gaps_tell_what_the_cpu_did_and_no_column_is_empty(gputime):
    text = gputime("explain", JAX).stdout.decode()
    assert "meanwhile in" in text.split("Longest idle gaps")[1].split("──")[0]
    assert "Kind" not in text
