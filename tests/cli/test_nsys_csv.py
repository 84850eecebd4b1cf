"""CSVs of `nsys stats`: every generation of headers gives the same tables, sums agree with the events they were made
from, and events with the SQLite export of the same capture."""

import collections
import csv
import gzip
import io
import json

import pytest

from conftest import DATA, SHARED

SAMPLES = DATA / "nsys-csv"
MINI = SAMPLES / "mini_cuda_gpu_trace.csv"
TRACES = ["mini2023_cuda_gpu_trace.csv", "mini2022_gputrace.csv", "mini2021_gputrace.csv", "mini_us_cuda_gpu_trace.csv",
          "mini_ms_cuda_gpu_trace.csv", "mini_s_cuda_gpu_trace.csv", "mini_crlf_cuda_gpu_trace.csv"]
KERNEL_SUMS = ["mini_cuda_gpu_kern_sum.csv", "mini_cuda_gpu_sum.csv", "mini2021_gpukernsum.csv", "mini_stdout.txt"]
MEMORY_SUMS = ["mini_cuda_gpu_mem_time_sum.csv", "mini_cuda_gpu_sum.csv", "mini2021_gpumemtimesum.csv",
               "mini_stdout.txt"]
NSYS = SHARED / "data/h200/nsys"
CAPTURES = sorted(path.name for path in NSYS.iterdir()) if NSYS.exists() else []

# What the sums are printed to: one decimal.
PRINTED = 0.0501


def rows(report, table, without=("input",)):
    return [{key: value for key, value in row.items() if key not in without}
            for row in report["tables"][table]["rows"]]


def summary(gputime, *paths):
    report = gputime.json("summary", *paths, "--no-cache")
    assert report["inputs"][0]["format"] == "nsys-csv" or paths[0].suffix == ".sqlite"
    return report


def damaged(gputime, command, path):
    """The report on a file that cannot be read whole, which is told on standard error, too."""
    done = gputime(command, path, "--json", "--no-cache")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def by_name(report, table):
    return {row["name"]: row for row in rows(report, table)}


def issues(report):
    return {issue["id"]: issue["count"] for issue in report["issues"]}


def check_sums(events, sums, table):
    """Rows of a summed table against those made from the events."""
    expected, found = by_name(events, table), by_name(sums, table)
    assert found.keys() == expected.keys()
    for name, row in found.items():
        for column in ("count", "total_ns", "min_ns", "max_ns"):
            assert row[column] == expected[name][column], (name, column)
        assert row["avg_ns"] == pytest.approx(expected[name]["avg_ns"], rel=1e-12)
        for column in ("median_ns", "stddev_ns"):
            if row[column] is not None:
                assert row[column] == pytest.approx(expected[name][column], abs=PRINTED), (name, column)


def test_mini(gputime):
    report = summary(gputime, MINI)
    assert issues(report) == {}
    assert report["inputs"][0]["ops"] == 8
    assert report["inputs"][0]["kernels"] == 5
    kernels = by_name(report, "kernels")
    assert kernels["void cutlass::gemm<float, (int)4>(int, float *)"]["count"] == 3
    assert 'lambda("x")' in kernels
    memory = by_name(report, "memory")
    assert {name: row["bytes"] for name, row in memory.items()} == {
        "[CUDA memcpy Host-to-Device]": 4194304, "[CUDA memcpy Device-to-Host]": 65536, "[CUDA memset]": 4}
    accounting = rows(report, "accounting")
    assert [row["device"] for row in accounting] == [0, 1]
    assert accounting[0]["span_ns"] == 3063200
    assert accounting[0]["exposed_comm_ns"] == 100000
    counts = collections.Counter()
    for row in rows(report, "categories"):
        counts[row["time_class"]] += row["count"]
    assert counts == {"compute": 4, "comm": 1, "memory": 3}


@pytest.mark.parametrize("name", TRACES)
def test_generations_of_traces(gputime, name):
    expected, found = summary(gputime, MINI), summary(gputime, SAMPLES / name)
    assert issues(found) == {}
    assert found["tables"].keys() == expected["tables"].keys()
    for table in expected["tables"]:
        assert rows(found, table) == rows(expected, table), table


@pytest.mark.parametrize("name", KERNEL_SUMS)
def test_kernel_sums(gputime, name):
    check_sums(summary(gputime, MINI), summary(gputime, SAMPLES / name), "kernels")


@pytest.mark.parametrize("name", MEMORY_SUMS)
def test_memory_sums(gputime, name):
    check_sums(summary(gputime, MINI), summary(gputime, SAMPLES / name), "memory")


@pytest.mark.parametrize("name", ["mini_cuda_gpu_kern_gb_sum.csv", "mini2022_gpukernsum.csv"])
def test_sums_by_launch_shape(gputime, name):
    """Rows of one kernel are joined; what the parts do not tell about the whole is left open."""
    expected, found = by_name(summary(gputime, MINI), "kernels"), by_name(summary(gputime, SAMPLES / name), "kernels")
    assert found.keys() == expected.keys()
    for kernel, row in found.items():
        for column in ("count", "total_ns", "min_ns", "max_ns"):
            assert row[column] == expected[kernel][column]
    assert found["void cutlass::gemm<float, (int)4>(int, float *)"]["median_ns"] is None


def test_categories_of_sums(gputime):
    expected = summary(gputime, MINI)
    found = summary(gputime, SAMPLES / "mini_cuda_gpu_sum.csv")
    total = {row["category"]: (row["count"], row["total_ns"]) for row in rows(expected, "categories")}
    assert {row["category"]: (row["count"], row["total_ns"]) for row in rows(found, "categories")} == total
    assert sum(row["share"] for row in rows(found, "categories")) == pytest.approx(1)
    assert all(row["wall_ns"] is None for row in rows(found, "categories"))


def test_sums_tell_what_they_lack(gputime):
    done = gputime("gaps", SAMPLES / "mini_cuda_gpu_kern_sum.csv")
    assert done.returncode == 0
    assert b"the trace has no gpu ops with times" in done.stdout.lower()


def test_selection_of_sums(gputime):
    sums = SAMPLES / "mini_cuda_gpu_sum.csv"
    report = gputime.json("kernels", sums, "--name", "GEMM")
    assert [row["name"] for row in rows(report, "kernels")] == ["void cutlass::gemm<float, (int)4>(int, float *)"]
    assert report["facts"]["kernel_launches"] == 3
    report = gputime.json("kernels", sums, "--category", "comm")
    assert [row["count"] for row in rows(report, "kernels")] == [1]
    for option in (["--from", "1ms"], ["--device", "0"], ["--stream", "7"]):
        done = gputime("kernels", sums, *option)
        assert done.returncode == 2 and done.stdout == b"", option


def test_one_capture_in_several_files(gputime):
    """Nothing counts twice, in whichever order the files come."""
    expected = summary(gputime, MINI)
    files = sorted(path for path in SAMPLES.glob("mini_*") if path.name.startswith(("mini_cuda", "mini_nvtx")))
    assert len(files) == 7
    for paths in (files, files[::-1]):
        found = summary(gputime, *paths)
        assert len(found["inputs"]) == 1
        for table in ("accounting", "kernels", "memory", "categories", "streams", "gaps"):
            assert rows(found, table) == rows(expected, table), table
    kernels, memory = SAMPLES / "mini_cuda_gpu_kern_sum.csv", SAMPLES / "mini_cuda_gpu_mem_time_sum.csv"
    found = summary(gputime, kernels, memory)
    check_sums(expected, found, "kernels")
    check_sums(expected, found, "memory")


def test_packed_and_piped(gputime, tmp_path):
    packed = tmp_path / "mini.csv.gz"
    packed.write_bytes(gzip.compress(MINI.read_bytes()))
    piped = gputime("kernels", "-", "--json", stdin=MINI.read_bytes())
    assert piped.returncode == 0
    assert rows(gputime.json("kernels", packed), "kernels") == rows(gputime.json("kernels", MINI), "kernels")
    packed.write_bytes(packed.read_bytes()[:-30])
    assert issues(damaged(gputime, "kernels", packed)).get("packing_damaged") == 1


def test_header_alone(gputime):
    report = summary(gputime, SAMPLES / "header_cuda_gpu_trace.csv")
    assert report["inputs"][0]["ops"] == 0
    assert issues(report) == {"no_gpu_work": 1}


def test_ragged_rows(gputime):
    """Two rows are damaged, one of them by a quote that never closes; the other six are read."""
    ragged = SAMPLES / "ragged_cuda_gpu_trace.csv"
    report = damaged(gputime, "summary", ragged)
    assert report["inputs"][0]["ops"] == 6
    assert issues(report) == {"event_damaged": 2}
    done = gputime("kernels", ragged, "--strict")
    assert done.returncode == 1 and b"not read whole" in done.stderr


@pytest.mark.parametrize("name", ["mini_nvtx_gpu_proj_trace.csv", "mini2023_nvtx_gpu_proj_trace.csv",
                                  "mini_nvtx_gpu_proj_sum.csv"])
def test_projected_ranges_alone(gputime, name):
    report = summary(gputime, SAMPLES / name)
    assert issues(report) == {"no_gpu_work": 1}


def test_other_texts(gputime, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n100.0,9,1,9.0,cudaLaunchKernel\n")
    done = gputime("kernels", other)
    assert done.returncode == 1 and b"cuda_gpu_kern_sum" in done.stderr
    other.write_text("a,b\n1,2\n")
    done = gputime("kernels", other)
    assert done.returncode == 1 and b"no trace that gputime knows" in done.stderr


def test_odd_names(gputime, tmp_path):
    """Names with all that CSV has to quote come through whole."""
    names = ['a,b', 'say "x"', 'two\nlines', ' spaces ', '"', ',', 'ünïcode', "'"]
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["Start (ns)", "Duration (ns)", "Device", "Strm", "Name"])
    for i, name in enumerate(names):
        writer.writerow([i * 100, 50 + i, "GPU (0)", 7, name])
    path = tmp_path / "odd.csv"
    path.write_bytes(table.getvalue().encode())
    report = gputime.json("kernels", path)
    assert {row["name"]: row["total_ns"] for row in rows(report, "kernels")} == {
        name: 50 + i for i, name in enumerate(names)}


def test_every_cut(hardened, tmp_path):
    """Cut anywhere, a table gives a report that says so, or an error where its header is gone."""
    whole = MINI.read_bytes()
    header = len(whole.split(b"\n")[0])
    path = tmp_path / "cut.csv"
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        done = hardened("kernels", path, "--csv")
        assert done.returncode == (0 if length >= header else 1), (length, done.stderr)


# ---- real captures ----


def trace_of(capture):
    return next(NSYS.joinpath(capture).glob(f"{capture}_cuda_gpu_trace.csv*"))


@pytest.mark.parametrize("capture", CAPTURES)
def test_real_sums(gputime, capture):
    events = summary(gputime, trace_of(capture))
    check_sums(events, summary(gputime, NSYS / capture / f"{capture}_cuda_gpu_kern_sum.csv"), "kernels")
    check_sums(events, summary(gputime, NSYS / capture / f"{capture}_cuda_gpu_mem_time_sum.csv"), "memory")


@pytest.mark.parametrize("capture", CAPTURES)
def test_real_sqlite(gputime, capture):
    """The tables of `nsys stats` leave out what they do not know: processes, launch calls, graphs traced whole."""
    if capture == "graph_whole":
        pytest.skip("nsys stats leaves out graphs that were traced as a whole")
    events = summary(gputime, trace_of(capture))
    export = summary(gputime, NSYS / capture / f"{capture}.sqlite")
    tables = ["accounting", "accounting_summary", "kernels", "memory", "categories"]
    for table in tables:
        assert rows(events, table) == rows(export, table), table
    causes = ("input", "cause", "activity", "call", "recoverable_ns")
    assert rows(events, "gaps", causes) == rows(export, "gaps", causes)
    if len({row["pid"] for row in export["tables"]["streams"]["rows"]}) == 1:
        assert rows(events, "streams", ("input", "pid")) == rows(export, "streams", ("input", "pid"))
