"""CSVs of `nsys stats`: every generation of headers gives the same tables, sums agree with the events they were made
from, and events with the SQLite export of the same capture."""

import collections
import csv
import gzip
import io
import json

import pytest

from samples import CAPTURES, DATA

SAMPLES = DATA / "nsys-csv"
MINI = SAMPLES / "mini_cuda_gpu_trace.csv"
TRACES = ["mini2023_cuda_gpu_trace.csv", "mini2022_gputrace.csv", "mini2021_gputrace.csv", "mini_us_cuda_gpu_trace.csv",
          "mini_ms_cuda_gpu_trace.csv", "mini_s_cuda_gpu_trace.csv", "mini_crlf_cuda_gpu_trace.csv"]
KERNEL_SUMS = ["mini_cuda_gpu_kern_sum.csv", "mini_cuda_gpu_sum.csv", "mini2021_gpukernsum.csv", "mini_stdout.txt"]
MEMORY_SUMS = ["mini_cuda_gpu_mem_time_sum.csv", "mini_cuda_gpu_sum.csv", "mini2021_gpumemtimesum.csv",
               "mini_stdout.txt"]

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
    """The report on a file that cannot be read whole, which is reported on standard error, too."""
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
    """Rows of one kernel are joined; what the parts do not say about the whole is unknown."""
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


def test_sums_say_what_they_lack(gputime):
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
    for path in (sums, SAMPLES / "mini_nvtx_gpu_proj_sum.csv"):
        done = gputime("kernels", path, "--from", "1ms")
        assert done.returncode == 2 and b"--from needs times" in done.stderr
        for one, many in (("device", "devices"), ("stream", "streams"), ("process", "processes"), ("step", "steps")):
            done = gputime("kernels", path, f"--{one}", "7")
            assert done.returncode == 2 and done.stdout == b"", one
            assert f"no {one} 7; summary tables have no {many}".encode() in done.stderr
    done = gputime("kernels", SAMPLES / "header_cuda_gpu_trace.csv", "--device", "0")
    assert done.returncode == 2 and b"no device 0; the trace has no GPU ops" in done.stderr


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


# What `nsys stats` writes in addition to the tables that gputime reads, by the first of their columns.
OTHER_REPORTS = {
    "cuda_api_sum": "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name",
    "cuda_kern_exec_sum": "PID,TID,DevId,Count,QCount,TAvg (ns),TMed (ns),API Name,Kernel Name",
    "cuda_gpu_mem_size_sum": "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation",
    "mpi_event_sum": "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Source,Name",
    "nvtx_sum": "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Style,Range",
    "cudaapisum": "Time (%),Total Time (ns),Num Calls,Average (ns),Minimum (ns),Maximum (ns),StdDev (ns),Name",
    "nvtxppsum": "Time (%),Total Time (ns),Instances,Average (ns),Minimum (ns),Maximum (ns),StdDev (ns),Range",
}


def write_capture(folder, name, reports):
    """The files of a capture: those that are read from the samples, the others with a row of ones."""
    for report, sample in reports.items():
        (folder / f"{name}_{report}.csv").write_bytes((SAMPLES / sample).read_bytes())
    for report, header in OTHER_REPORTS.items():
        ones = ",".join("1" for _ in header.split(","))
        (folder / f"{name}_{report}.csv").write_text(f"{header}\n{ones}\n")
    packed = folder / f"{name}_cuda_api_sum.csv"
    (folder / f"{name}_cuda_api_sum_base.csv.gz").write_bytes(gzip.compress(packed.read_bytes()))


@pytest.mark.parametrize("reports", [
    {"cuda_gpu_trace": "mini_cuda_gpu_trace.csv", "nvtx_gpu_proj_sum": "mini_nvtx_gpu_proj_sum.csv",
     "cuda_gpu_kern_sum_base": "mini_cuda_gpu_kern_sum.csv"},
    {"gputrace": "mini2021_gputrace.csv", "gpukernsum": "mini2021_gpukernsum.csv",
     "gpumemtimesum": "mini2021_gpumemtimesum.csv"}])
def test_all_reports_of_a_capture(gputime, tmp_path, reports):
    """Files that only differ in the report are one capture, whatever else its name holds."""
    for name in ("run", "run_nvtx_2", "run_gputrace_3"):
        write_capture(tmp_path, name, reports)
    expected = summary(gputime, MINI)
    for paths in (sorted(tmp_path.glob("run_*")), sorted(tmp_path.glob("run_*"), reverse=True)):
        found = gputime.json("kernels", *paths, "--no-cache")
        assert [one["ops"] for one in found["inputs"]] == [8, 8, 8]
        kernels = rows(expected, "kernels")
        assert rows(found, "kernels") == 3 * kernels
    others = [tmp_path / f"run_{report}.csv" for report in OTHER_REPORTS]
    done = gputime("kernels", *others)
    assert done.returncode == 1 and b"no supported 'nsys stats' table" in done.stderr


def test_other_files_are_captures_of_their_own(gputime, tmp_path):
    """A report's name in that of another kind of file, or a part of it, says nothing."""
    for name in ("run_cuda_gpu_trace.txt", "run_cuda_gpu_sum.txt", "run_cuda_gpu_tracer.csv", "run_gputraces.csv"):
        (tmp_path / name).write_bytes(MINI.read_bytes())
    assert len(gputime.json("kernels", *sorted(tmp_path.iterdir()))["inputs"]) == 4


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
    assert done.returncode == 1 and b"only partly read" in done.stderr


@pytest.mark.parametrize("name", ["mini_nvtx_gpu_proj_trace.csv", "mini2023_nvtx_gpu_proj_trace.csv",
                                  "mini_nvtx_gpu_proj_sum.csv"])
def test_projected_ranges_alone(gputime, name):
    report = summary(gputime, SAMPLES / name)
    assert issues(report) == {}
    assert b"the trace has no GPU ops" in gputime("summary", SAMPLES / name).stdout
    done = gputime("ranges", SAMPLES / name)
    assert b"Incomplete (ranges" not in done.stdout and b"no_gpu_work" not in done.stdout
    assert b"ncclAllReduce" in done.stdout and done.stderr == b""


# ---- projected ranges ----

STEP = {"name": "step", "domain": "", "instances": 1, "ops": None, "busy_ns": None, "sum_ns": None,
        "projected_ns": 3063200, "range_ns": 3000000, "exclusive_ns": None, "share": None, "launches": 6, "used": 1,
        "proj_avg_ns": 3063200, "proj_median_ns": 3063200, "proj_min_ns": 3063200, "proj_max_ns": 3063200,
        "proj_stddev_ns": 0, "level_avg": 0, "range_avg_ns": 3000000, "group": None}
REDUCE = STEP | {"name": "ncclAllReduce", "domain": "NCCL", "projected_ns": 500000, "range_ns": 10000, "launches": 1,
                 "proj_avg_ns": 500000, "proj_median_ns": 500000, "proj_min_ns": 500000, "proj_max_ns": 500000,
                 "level_avg": 1, "range_avg_ns": 10000}


def test_projected_ranges_of_mini(gputime):
    single, sums = SAMPLES / "mini_nvtx_gpu_proj_trace.csv", SAMPLES / "mini_nvtx_gpu_proj_sum.csv"
    expected = [STEP, REDUCE]
    gpu_sums = SAMPLES / "mini_cuda_gpu_sum.csv"
    for paths in ([single], [single, sums], [sums, single], [MINI, single], [single, gpu_sums]):
        report = gputime.json("ranges", *paths)
        assert len(report["inputs"]) == 1
        assert rows(report, "ranges") == expected
        assert report["facts"]["range_names"] == report["facts"]["range_count"] == 2
        assert "range_coverage" not in report["facts"]
        assert [[row[column] for column in ("range", "name", "start_ns", "projected_ns", "range_start_ns", "range_ns",
                                            "ops", "launches", "level", "parent", "children", "style", "pid", "tid")]
                for row in rows(report, "range_instances")] == [
            [0, "step", 0, 3063200, -100000, 3000000, None, 6, 0, None, None, "PushPop", 42, 43],
            [1, "ncclAllReduce", 1600000, 500000, 1500000, 10000, None, 1, 1, None, None, "PushPop", 42, 43]]
    report = gputime.json("ranges", sums)
    assert rows(report, "ranges") == [row | {"level_avg": None} for row in expected]
    assert rows(report, "range_instances") == []


def test_projected_ranges_are_not_cut(gputime):
    for paths in ([MINI, SAMPLES / "mini_nvtx_gpu_proj_trace.csv"], [SAMPLES / "mini_nvtx_gpu_proj_sum.csv"]):
        report = gputime.json("ranges", *paths, "--name", "gemm")
        assert rows(report, "ranges") == rows(report, "range_instances") == []
        assert b"not available for a selection" in gputime("ranges", *paths, "--name", "gemm", "--width", "200").stdout


def test_projected_ranges_of_several_styles(gputime, tmp_path):
    """Rows of one name are joined; what a table lacks or the parts do not say is unknown."""
    table = tmp_path / "sum.csv"
    table.write_text("Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Med (ns),"
                     "Proj Min (ns),Proj Max (ns),Proj StdDev (ns),Total GPU Ops\n:a,PushPop,30,50,2,15.0,10,20,7.1,4\n"
                     ":a,StartEnd,40,60,1,40.0,40,40,0.0,5\nd:a,PushPop,0,0,0,,,,,\n")
    first, second = rows(gputime.json("ranges", table), "ranges")
    assert first == STEP | {"name": "a", "instances": 3, "projected_ns": 70, "range_ns": 110, "launches": 9, "used": 3,
                            "proj_avg_ns": pytest.approx(70 / 3), "proj_median_ns": None, "proj_min_ns": 10,
                            "proj_max_ns": 40, "proj_stddev_ns": None, "level_avg": None,
                            "range_avg_ns": pytest.approx(110 / 3)}
    assert second["domain"] == "d"
    assert second["launches"] is second["proj_avg_ns"] is second["proj_min_ns"] is None
    table.write_text("Name,Projected Start (ns),Projected Duration (ns)\nb,100,7\nb,50,4\na,50,5\n")
    report = gputime.json("ranges", table)
    assert [(row["name"], row["projected_ns"], row["proj_median_ns"], row["range_ns"], row["launches"])
            for row in rows(report, "ranges")] == [("b", 11, 5.5, None, None), ("a", 5, 5, None, None)]
    assert [(row["range"], row["start_ns"], row["range_start_ns"], row["pid"])
            for row in rows(report, "range_instances")] == [(2, 0, None, None), (1, 0, None, None), (0, 50, None, None)]


def test_every_cut_of_projected_ranges(hardened, tmp_path):
    for name in ("mini_nvtx_gpu_proj_trace.csv", "mini_nvtx_gpu_proj_sum.csv"):
        whole = (SAMPLES / name).read_bytes()
        path = tmp_path / "cut.csv"
        for length in range(0, len(whole), 5):
            path.write_bytes(whole[:length])
            done = hardened("ranges", path, "--json")
            assert done.returncode in (0, 1), (length, done.stderr)


def test_other_texts(gputime, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n100.0,9,1,9.0,cudaLaunchKernel\n")
    done = gputime("kernels", other)
    assert done.returncode == 1 and b"cuda_gpu_kern_sum" in done.stderr
    other.write_text("a,b\n1,2\n")
    done = gputime("kernels", other)
    assert done.returncode == 1 and b"unrecognized trace format" in done.stderr


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


@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_real_sums(gputime, capture):
    events = summary(gputime, capture.table("cuda_gpu_trace"))
    check_sums(events, summary(gputime, capture.table("cuda_gpu_kern_sum")), "kernels")
    check_sums(events, summary(gputime, capture.table("cuda_gpu_mem_time_sum")), "memory")


@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_real_sqlite(gputime, unpacked, capture):
    """The tables of `nsys stats` leave out what they do not know: processes, launch calls, graphs traced whole."""
    if capture.name == "graph_whole":
        pytest.skip("nsys stats leaves out graphs that were traced as a whole")
    events = summary(gputime, capture.table("cuda_gpu_trace"))
    export = summary(gputime, unpacked(capture.export))
    tables = ["accounting", "accounting_summary", "kernels", "memory", "categories"]
    for table in tables:
        assert rows(events, table) == rows(export, table), table
    causes = ("input", "cause", "activity", "call", "recoverable_ns", "meanwhile", "range", "operator")
    assert rows(events, "gaps", causes) == rows(export, "gaps", causes)
    if len({row["pid"] for row in export["tables"]["streams"]["rows"]}) == 1:
        assert rows(events, "streams", ("input", "pid")) == rows(export, "streams", ("input", "pid"))


@pytest.mark.parametrize("report", ["nvtx_gpu_proj_sum", "nvtx_gpu_proj_trace"])
@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_real_projected_names(gputime, capture, report):
    found = gputime.json("ranges", capture.table(report))
    ours = {f"{row['domain']}:{row['name']}": row for row in rows(found, "ranges")}
    theirs = capture.rows("nvtx_gpu_proj_sum")
    assert sorted(ours) == sorted(row["Range"] for row in theirs)
    assert found["facts"]["range_count"] == sum(int(row["Range Instances"]) for row in theirs)
    for row in theirs:
        own = ours[row["Range"]]
        exact = {"projected_ns": "Total Proj Time (ns)", "range_ns": "Total Range Time (ns)", "used": "Range Instances",
                 "instances": "Range Instances", "proj_min_ns": "Proj Min (ns)", "proj_max_ns": "Proj Max (ns)",
                 "launches": "Total GPU Ops"}
        assert {key: own[key] for key in exact} == {key: int(row[title]) for key, title in exact.items()}
        rounded = {"proj_avg_ns": "Proj Avg (ns)", "proj_median_ns": "Proj Med (ns)",
                   "proj_stddev_ns": "Proj StdDev (ns)", "level_avg": "Avg Range Lvl"}
        for key, title in rounded.items():
            if key != "level_avg" or report == "nvtx_gpu_proj_trace":
                assert own[key] == pytest.approx(float(row[title]), abs=PRINTED, rel=1e-9), (row["Range"], title)


@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_real_projected_ranges_equal_the_export(gputime, unpacked, capture):
    if capture.name == "graph_whole":
        pytest.skip("nsys stats leaves out graphs that were traced as a whole")
    single = gputime.json("ranges", capture.table("nvtx_gpu_proj_trace"))
    export = gputime.json("ranges", unpacked(capture.export))
    common = ("name", "domain", "projected_ns", "launches", "used", "proj_avg_ns", "proj_median_ns",
              "proj_min_ns", "proj_max_ns", "proj_stddev_ns", "level_avg")
    expected = {(row["name"], row["domain"]): row for row in rows(export, "ranges") if row["used"]}
    found = rows(single, "ranges")
    assert len(found) == len(expected)
    for row in found:
        other = expected[row["name"], row["domain"]]
        assert {key: row[key] for key in common} == {key: other[key] for key in common}
        assert row["range_ns"] == other["range_ns"] or other["used"] < other["instances"]
    columns = ("name", "domain", "projected_ns", "range_ns", "launches", "level", "style", "pid", "tid")
    lists = []
    for report in (single, export):
        origin = int(report["inputs"][0]["origin_ns"])
        lists.append([[row["start_ns"] + origin, row["range_start_ns"] + origin] + [row[key] for key in columns]
                      for row in rows(report, "range_instances") if row["start_ns"] is not None])
    assert lists[0] == lists[1]


@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_real_files_are_one_capture(gputime, capture):
    files = capture.tables()
    assert len(files) > 5
    found = summary(gputime, *files)
    assert len(found["inputs"]) == 1
    expected = summary(gputime, capture.table("cuda_gpu_trace"))
    for table in ("accounting", "kernels", "memory", "categories"):
        assert rows(found, table) == rows(expected, table), table
