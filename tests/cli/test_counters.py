"""Hardware counters by kernel, range and kind of time: against an independent program, by hand, and with values that no
counter has."""

import json
import lzma
import math

import pytest

from kineto_by_hand import US, Trace
from samples import DATA

ZOO = "data/h200/efficiency/zoo_10000"
PERCENTS = ("sm_active", "sm_issue", "tensor", "dram_read", "dram_write", "warps")
# The independent program writes percents with 3 decimals and clocks with 1; others have 6.
ROUNDED = dict.fromkeys(PERCENTS, 5.1e-4) | {"gpc_mhz": 0.051}
METRICS = {"sm_active": "SMs Active [Throughput %]", "sm_issue": "SM Issue", "tensor": "Tensor Active / FP16 Active",
           "dram_read": "DRAM Read Bandwidth", "dram_write": "VRAM Write Bandwidth", "warps": "Compute Warps In Flight",
           "gpc_mhz": "GPC Clock Frequency"}
PERIOD = 100  # us
MHZ = 1e6


def is_same(have, want, tolerance=1.1e-6):
    if isinstance(want, float) and have is not None:
        return math.isclose(have, want, rel_tol=1e-9, abs_tol=tolerance)
    return have == want


# ---- against an independent program ----


@pytest.fixture(scope="module", params=[".nsys-rep", ".sqlite.xz"])
def zoo(request, gputime, shared, tmp_path_factory):
    path = shared(ZOO + request.param)
    if path.suffix == ".xz":
        packed, path = path, tmp_path_factory.mktemp("zoo") / path.stem
        path.write_bytes(lzma.decompress(packed.read_bytes()))
    golden = json.loads(shared("golden/efficiency/zoo_10000.json").read_text())
    return golden, gputime.json("efficiency", path, "--top", "0")


def rows_of(report, table, columns):
    return [[row[column] for column in columns] for row in report["tables"][table]["rows"]]


def test_every_row(zoo):
    golden, report = zoo
    want = golden["tables"]["counters"]
    have = rows_of(report, "counters", want["columns"])
    assert len(have) == len(want["rows"])
    for row, expected in zip(have, want["rows"]):
        for column, value, wanted in zip(want["columns"], row, expected):
            assert is_same(value, wanted, ROUNDED.get(column, 1.1e-6)), (expected[:3], column, value, wanted)


def test_facts_and_issues(zoo):
    golden, report = zoo
    for fact in ("sample_period_ns", "samples", "hfu_counter", "counter_coverage"):
        assert is_same(report["facts"][fact], golden["facts"][fact]), fact
    assert is_same(report["facts"]["gpc_clock_busy_mhz"], golden["facts"]["gpc_clock_busy_mhz"], 0.051)
    issues = {issue["id"]: issue["count"] for issue in report["issues"]}
    assert issues["samples_outside_span"] == golden["issues"]["samples_outside_span"]
    assert "metric_out_of_range" not in issues


def test_waterfall(zoo):
    golden, report = zoo
    want = [row for row in golden["tables"]["waterfall"]["rows"] if row[1] == "counter"]
    columns = golden["tables"]["waterfall"]["columns"]
    have = [row for row in rows_of(report, "waterfall", columns) if row[1] == "counter"]
    assert [row[:5] for row in have] == [row[:5] for row in want]
    assert all(is_same(row[5], expected[5]) for row, expected in zip(have, want))


def test_kernels_without_known_work(zoo):
    golden, report = zoo
    columns = ("name", "bytes", "efficiency", "bound", "provenance")
    places = [golden["tables"]["efficiency"]["columns"].index(column) for column in columns]
    have = rows_of(report, "efficiency", columns)
    assert len(have) == len(golden["tables"]["efficiency"]["rows"])
    for row, expected in zip(have, golden["tables"]["efficiency"]["rows"]):
        name, size, efficiency, bound, provenance = (expected[place] for place in places)
        assert (row[0], row[1], row[3], row[4]) == (name, size, bound, provenance)
        assert is_same(row[2], efficiency, 5e-5), row  # computed there from the rounded percents


# ---- by hand ----


class Sampled(Trace):
    """A trace with counter events of a GPU that the data sheets know."""

    def sample(self, at, device=0, **values):
        for key, value in values.items():
            self.events.append({"ph": "C", "name": METRICS[key], "pid": f"GPU {device} Counters", "tid": 0, "ts": at,
                                "args": {"value": value}})

    def write(self, folder):
        path = folder / "trace.json"
        devices = [{"id": number, "name": "NVIDIA H200", "totalGlobalMem": 150_000_000_000} for number in (0, 1)]
        path.write_text(json.dumps({"deviceProperties": devices, "traceEvents": self.events}))
        return path


def busy_and_idle(trace):
    """1 ms of one kernel, 1 ms of nothing, 1 ms of another."""
    trace.op(0, 1000, "first")
    trace.op(2000, 1000, "second", launched=1990)
    trace.range("outer", -10, 3000)
    trace.range("inner", 1980, 100)
    for number in range(30):
        at = number * PERIOD
        values = {0: (80, 1700), 1: (0, 1900), 2: (10, 1900)}[number // 10]
        trace.sample(at, tensor=values[0], gpc_mhz=values[1] * MHZ, dram_read=number // 10 * 20, dram_write=5, sm_active=50)


def counters_of(gputime, trace, folder, *options):
    report = gputime.json("summary", trace.write(folder), "--table", "counters", *options)
    rows = {(row["scope"], row["name"], row["device"]): row for row in report["tables"]["counters"]["rows"]}
    return rows, report


# As the PyTorch profiler writes samples of CUPTI: a process of its own, or the GPU's with its label, which may come last.
PEAK = ".avg.pct_of_peak_sustained_elapsed"
WAYS = {"process": {"pid": "GPU 1 Counters", "name": "hardware"}, "event": {"pid": 7, "name": "GPU 1 Counters"},
        "label": {"pid": 7, "name": "CUPTI PM Sampling"}}


@pytest.mark.parametrize("way", WAYS)
def test_names_of_cupti(gputime, tmp_path, way):
    trace = Sampled()
    trace.op(0, 1000, "kernel_a", device=1)
    values = {"sm__cycles_active" + PEAK: 55.5, "sm__throughput" + PEAK: 40, "gpu__dram_throughput" + PEAK: 20,
              "sm__inst_executed_pipe_tensor" + PEAK: 33, "sm__inst_executed_pipe_fma" + PEAK: 99,
              "sm__warps_active.ratio": 0.25, "gpc__cycles_elapsed.avg.per_second": 1.5e9, "sm__issue_active.avg": 77}
    for at in range(0, 1000, PERIOD):
        trace.events.append({"ph": "C", "cat": "hardware_counters", "tid": 0, "ts": at, "args": values} | WAYS[way])
    if way == "label":
        trace.events.append({"ph": "M", "name": "process_labels", "pid": 7, "tid": 0, "ts": 0, "args": {"labels": "GPU 1"}})
    rows, _ = counters_of(gputime, trace, tmp_path)
    row = rows["kernel", "kernel_a", 1]
    want = {"sm_active": 55.5, "sm_throughput": 40, "dram": 20, "tensor": 33, "warps": 25, "gpc_mhz": 1500, "sm_issue": None,
            "dram_read": None, "dram_write": None}
    assert {key: row[key] for key in want} == want
    assert row["dram_bytes"] == round(4.8e12 * 0.2 * 1e-3)
    assert b"not known" not in gputime("summary", tmp_path / "trace.json", "--table", "counters").stdout


def test_single_counters_and_exports_keep_their_metric(gputime, tmp_path):
    trace = Sampled()
    trace.op(0, 1000, "kernel_a")
    for at in range(0, 1000, PERIOD):
        trace.events.append({"ph": "C", "name": "sm__throughput" + PEAK, "pid": "GPU 0 Counters", "tid": 0, "ts": at,
                             "args": {"sm__throughput" + PEAK: 40}})
        trace.events.append({"ph": "C", "name": "GPU 0 Counters", "pid": 0, "tid": 0, "ts": at,
                             "args": {"dram__throughput": 30, "dram__bytes.sum": 1e6}})
    rows, report = counters_of(gputime, trace, tmp_path)
    assert (rows["kernel", "kernel_a", 0]["sm_throughput"], rows["kernel", "kernel_a", 0]["dram"]) == (40, 30)
    exported = tmp_path / "t.pftrace"
    assert gputime("export", tmp_path / "trace.json", "-o", exported).returncode == 0
    again = gputime.json("summary", exported, "--table", "counters")["tables"]["counters"]["rows"]
    assert [{**row, "input": ""} for row in again] == [{**row, "input": ""} for row in report["tables"]["counters"]["rows"]]


def test_counters_of_other_names_are_not_denied(gputime, tmp_path):
    said = " ".join(gputime("summary", DATA / "rocm/train.db", "--table", "counters").stdout.decode().split())
    assert "Counters under names that are not known here: GRBM_COUNT, SQ_WAVES. 'gputime sql' has their values." in said
    trace = Trace()
    trace.op(0, 1000)
    for number in range(7):
        trace.events.append({"ph": "C", "name": f"metric_{number}", "pid": "GPU 0 Counters", "tid": 0, "ts": 5, "args": {"value": 1}})
    said = " ".join(gputime("summary", trace.write(tmp_path), "--table", "counters").stdout.decode().split())
    assert "not known here: metric_0, metric_1, metric_2, metric_3, metric_4 and others." in said
    memory = Trace()
    memory.op(0, 1000)
    assert b"The trace has no hardware counters." in gputime("summary", memory.write(tmp_path), "--table", "counters").stdout


def test_means_by_hand(gputime, tmp_path):
    trace = Sampled()
    busy_and_idle(trace)
    rows, report = counters_of(gputime, trace, tmp_path)
    first, second, idle = rows["kernel", "first", 0], rows["kernel", "second", 0], rows["gap", "host", 0]
    assert (first["method"], first["samples"], first["coverage"]) == ("direct", 10, 1.0)
    assert (first["tensor"], first["gpc_mhz"], first["dram_read"]) == (80, 1700, 0)
    assert (second["tensor"], second["gpc_mhz"], second["dram_read"]) == (10, 1900, 40)
    assert (first["sm_issue"], first["warps"]) == (None, None)
    assert idle["time_ns"] == 1000 * US and idle["tensor"] == 0
    assert rows["device", "span", 0]["tensor"] == 30 and rows["device", "busy", 0]["tensor"] == 45
    assert rows["class", "compute", 0]["tensor"] == 45 and ("class", "comm", 0) not in rows
    assert rows["range", "outer", 0]["tensor"] == 45 and rows["range", "outer", 0]["count"] == 2
    assert rows["range", "inner", 0]["tensor"] == 10 and rows["range", "inner", 0]["time_ns"] == 1000 * US
    # the bandwidth is that of the data sheet: 4800 GB/s
    assert second["dram_bytes"] == round(0.45 * 4.8e12 * 1e-3)
    assert report["facts"]["gpc_clock_busy_mhz"] == 1800
    assert math.isclose(report["facts"]["hfu_counter"], (0.8 * 1700 + 0.1 * 1900) / (1830 * 3))
    assert report["facts"]["samples"] == 30 and report["facts"]["sample_period_ns"] == PERIOD * US
    assert report["facts"]["counter_coverage"] == 1.0


def test_the_sample_that_is_worked_out_by_hand(gputime):
    tables = gputime.json("efficiency", DATA / "sampled.json")["tables"]
    rows = {row["name"]: row for row in tables["counters"]["rows"]}
    assert (rows["gemm"]["method"], rows["gemm"]["samples"], rows["gemm"]["tensor"]) == ("direct", 24, 70)
    assert {rows["first"]["method"], rows["second"]["method"]} == {"solved"}
    assert math.isclose(rows["first"]["tensor"], 80, rel_tol=1e-6) and rows["second"]["tensor"] < 1e-6
    steps = gputime.json("memory", DATA / "sampled.json")["tables"]["memory_steps"]["rows"]
    assert [row["last"] for row in steps] == [2_000_000_000 + 10_000_000 * number for number in range(1, 7)]


def test_a_sample_counts_for_what_fills_it(gputime, tmp_path):
    trace = Sampled()
    trace.op(0, 495, "long")  # 4.95 periods: the last one counts, 0.95 of it
    trace.op(495, 85, "short")  # 0.05 and 0.8 of a period: neither
    trace.op(580, 520, "rest")
    for number in range(11):
        trace.sample(number * PERIOD, tensor=number)
    rows, _ = counters_of(gputime, trace, tmp_path)
    assert rows["kernel", "long", 0]["samples"] == 5
    assert math.isclose(rows["kernel", "long", 0]["tensor"], (100 * (0 + 1 + 2 + 3) + 95 * 4) / 495)
    short = rows["kernel", "short", 0]
    assert (short["method"], short["samples"], short["tensor"], short["dram_bytes"]) == ("unsampled", 0, None, None)


def test_kernels_that_share_all_samples_are_solved(gputime, tmp_path):
    """Each sample has both kernels, in turn 30 and 70 or 60 and 40 us of them."""
    trace = Sampled()
    for number in range(40):
        part = (30, 60)[number % 2]
        start = number * PERIOD
        trace.op(start, part, "a")
        trace.op(start + part, PERIOD - part, "b")
        trace.sample(start, tensor=part / PERIOD * 80, sm_active=part / PERIOD * 20 + (1 - part / PERIOD) * 90)
    rows, _ = counters_of(gputime, trace, tmp_path)
    a, b = rows["kernel", "a", 0], rows["kernel", "b", 0]
    assert a["method"] == b["method"] == "solved" and a["samples"] == 0
    assert math.isclose(a["tensor"], 80, rel_tol=0.02) and abs(b["tensor"]) < 0.01
    assert math.isclose(a["sm_active"], 20, rel_tol=0.02) and math.isclose(b["sm_active"], 90, rel_tol=0.02)
    assert a["gpc_mhz"] is None


def test_rates_are_never_negative_nor_above_everything(gputime, tmp_path):
    trace = Sampled()
    for number in range(40):
        start = number * PERIOD
        trace.op(start, 50, "a")
        trace.op(start + 50, 50 - 10 * (number % 2), "b")
        trace.sample(start, tensor=100 if number % 2 == 0 else 20)  # b alone explains more than all
    rows, _ = counters_of(gputime, trace, tmp_path)
    assert rows["kernel", "a", 0]["tensor"] == 0 and rows["kernel", "b", 0]["tensor"] == 100


def test_overlapping_ops_are_charged_once(gputime, tmp_path):
    """A copy under a kernel has only the time after it."""
    trace = Sampled()
    trace.op(0, 1000, "kernel_a")
    trace.op(500, 1000, "Memcpy DtoD (Device -> Device)", stream=8, bytes=1)
    for number in range(15):
        trace.sample(number * PERIOD, dram_read=60 if number < 10 else 20)
    rows, _ = counters_of(gputime, trace, tmp_path)
    copy = rows["kernel", "Memcpy DtoD (Device -> Device)", 0]
    assert copy["time_ns"] == 500 * US and copy["dram_read"] == 20 and copy["samples"] == 5
    assert rows["kernel", "kernel_a", 0]["dram_read"] == 60 and rows["class", "memory", 0]["time_ns"] == 500 * US


def test_each_gpu_has_its_samples(gputime, tmp_path):
    trace = Sampled()
    for device in (0, 1):
        trace.op(0, 1000, "kernel_a", device=device)
        for number in range(10):
            trace.sample(number * PERIOD, device, tensor=10 + device)
    rows, report = counters_of(gputime, trace, tmp_path)
    assert [rows["kernel", "kernel_a", device]["tensor"] for device in (0, 1)] == [10, 11]
    assert report["facts"]["samples"] == 20 and "hfu_counter" not in report["facts"]


def waterfall_of(gputime, path, *options):
    report = gputime.json("efficiency", path, *options)
    rows = [row for row in report["tables"]["waterfall"]["rows"] if row["basis"] == "counter"]
    return {(row["part"], row["key"]): row["ns"] for row in rows}, report


def test_waterfall_by_hand(gputime, tmp_path):
    trace = Sampled()
    busy_and_idle(trace)
    parts, _ = waterfall_of(gputime, trace.write(tmp_path))
    # first: 80% tensor above 5% DRAM; second: 45% DRAM above 10% tensor
    assert parts["ideal", "tensor"] == 10 * int(80_000 * 1700 / 1830)
    assert parts["inefficiency", "clock"] == 800 * US - parts["ideal", "tensor"]
    assert parts["ideal", "memory"] == 450 * US
    assert parts["inefficiency", "below_roof"] == 200 * US + 550 * US
    assert parts["unmodelled", "unsampled"] == 0 and parts["idle", "host"] == 1000 * US


@pytest.mark.parametrize("options", [(), ("--from", "350us", "--to", "2777us"), ("--from", "1234567ns"), ("--name", "first")])
def test_waterfall_sums_to_the_span(gputime, tmp_path, options):
    trace = Sampled()
    busy_and_idle(trace)
    path = trace.write(tmp_path)
    parts, report = waterfall_of(gputime, path, *options)
    span = gputime.json("summary", path, *options)["tables"]["accounting"]["rows"][0]["span_ns"]
    assert parts and sum(parts.values()) == span and min(parts.values()) >= 0


def test_compute_without_samples_is_unmodelled(gputime, tmp_path):
    trace = Sampled()
    busy_and_idle(trace)
    trace.events = [event for event in trace.events if event["ph"] != "C" or event["ts"] < 500]
    parts, _ = waterfall_of(gputime, trace.write(tmp_path))
    assert parts["unmodelled", "unsampled"] == 1500 * US and sum(parts.values()) == 3000 * US


def test_no_waterfall_without_the_metrics_for_it(gputime, tmp_path):
    trace = Sampled()
    busy_and_idle(trace)
    trace.events = [event for event in trace.events if "DRAM" not in event["name"]]
    parts, report = waterfall_of(gputime, trace.write(tmp_path))
    assert not parts and report["tables"]["counters"]["rows"]


def test_ranges_that_overlap(gputime, tmp_path):
    """An op belongs to all ranges around its launch, whether they nest or not, and once to each name."""
    trace = Sampled()
    trace.range("A", 0, 2000)
    trace.range("B", 1000, 3000)
    trace.range("A", 1100, 800)
    for number, launched in enumerate((100, 1200, 3000)):
        trace.op(10_000 + 1000 * number, 1000, f"kernel_{number}", launched=launched)
    for number in range(30):
        trace.sample(10_000 + number * PERIOD, tensor=number // 10 * 10 + 10)
    rows, _ = counters_of(gputime, trace, tmp_path)
    kept = ("count", "time_ns", "samples", "tensor")
    assert [rows["range", "A", 0][key] for key in kept] == [2, 2000 * US, 20, 15]
    assert [rows["range", "B", 0][key] for key in kept] == [2, 2000 * US, 20, 25]


def test_a_sample_of_several_ranges(gputime, tmp_path):
    """Ranges of one name share a sample; ranges around both have all of it."""
    trace = Sampled()
    trace.range("step", 0, 900)
    for number in range(8):
        trace.range("layer", 10 + 100 * number, 50)
        trace.range(f"layer {number}", 12 + 100 * number, 40)
        trace.op(10_000 + 50 * number, 50, launched=20 + 100 * number)
    for number in range(4):
        trace.sample(10_000 + number * PERIOD, tensor=40)
    rows, _ = counters_of(gputime, trace, tmp_path)
    assert [rows["range", name, 0]["samples"] for name in ("step", "layer", "layer 3")] == [4, 4, 0]
    assert rows["range", "layer", 0]["coverage"] == 1 and rows["range", "step", 0]["time_ns"] == 400 * US


def test_many_ranges_inside_each_other(gputime, tmp_path):
    """Depth costs no more than length."""
    trace, count = Sampled(), 10_000
    for depth in range(count):
        trace.range(f"range {depth}", depth, 4 * count - 2 * depth)
        trace.op(100_000 + 10 * depth, 10, f"kernel_{depth % 2}", launched=2 * count - 5)
    for number in range(count // 10):
        trace.sample(100_000 + number * 100, tensor=40)
    report = gputime.json("efficiency", trace.write(tmp_path), "--table", "counters", "--top", "0", timeout=20)
    rows = [row for row in report["tables"]["counters"]["rows"] if row["scope"] == "range"]
    assert len(rows) == count and {(row["count"], row["samples"], row["tensor"]) for row in rows} == {(count, count // 10, 40)}


def test_an_unknown_clock_is_no_full_clock(gputime, tmp_path):
    trace = Sampled()
    trace.op(0, 1000, "kernel_a")
    for number in range(10):
        trace.sample(number * PERIOD, tensor=70, dram_read=10, dram_write=10)
    row = gputime.json("efficiency", trace.write(tmp_path), "--no-cache")["tables"]["efficiency"]["rows"][0]
    assert (row["provenance"], row["efficiency"], row["bound"]) == ("counter", None, None) and row["bytes"] > 0


def test_counters_that_say_nothing_about_work(gputime, tmp_path):
    trace = Sampled()
    trace.op(0, 1000, "kernel_a")
    for number in range(10):
        trace.sample(number * PERIOD, sm_active=70)
    row = gputime.json("efficiency", trace.write(tmp_path), "--no-cache")["tables"]["efficiency"]["rows"][0]
    assert (row["provenance"], row["bytes"]) == ("unknown", None)


@pytest.mark.parametrize("other", ["Compute Warps in Flight [Avg]", "Compute Warps In Flight [Sum]"])
def test_averages_are_no_percents(gputime, tmp_path, other, monkeypatch):
    """Counter events have no unit: the name says it."""
    trace = Sampled()
    trace.op(0, 1000, "kernel_a")
    for key, name, value in (("warps", other, 12), ("warps", "Compute Warps in Flight [Throughput %]", 80)):
        monkeypatch.setitem(METRICS, key, name)
        for number in range(10):
            trace.sample(number * PERIOD, **{key: value})
    rows, _ = counters_of(gputime, trace, tmp_path)
    assert rows["kernel", "kernel_a", 0]["warps"] == 80


# ---- values that no counter has ----


def test_values_out_of_range_are_left_out(gputime, tmp_path):
    trace = Sampled()
    trace.op(0, 1000, "kernel_a")
    for number in range(10):
        tensor = {3: 101, 4: -1, 5: 1e300}.get(number, 40)
        trace.sample(number * PERIOD, tensor=tensor, gpc_mhz=-5 if number == 2 else 1500 * MHZ)
    rows, report = counters_of(gputime, trace, tmp_path)
    assert rows["kernel", "kernel_a", 0]["tensor"] == 40 and rows["kernel", "kernel_a", 0]["samples"] == 10
    assert rows["kernel", "kernel_a", 0]["gpc_mhz"] == 1500
    assert {"metric_out_of_range": 4}.items() <= {issue["id"]: issue["count"] for issue in report["issues"]}.items()


def test_values_that_are_no_numbers(gputime, tmp_path):
    trace = Sampled()
    trace.op(0, 1000, "kernel_a")
    for number in range(10):
        trace.sample(number * PERIOD, tensor=40, sm_active=float("nan") if number % 2 else 70)
    rows, _ = counters_of(gputime, trace, tmp_path)
    assert rows["kernel", "kernel_a", 0]["tensor"] == 40 and rows["kernel", "kernel_a", 0]["sm_active"] == 70


def test_order_and_doubles_do_not_matter(gputime, tmp_path):
    trace, other = Sampled(), Sampled()
    busy_and_idle(trace)
    busy_and_idle(other)
    other.events = other.events[::-1]
    path = tmp_path / "other"
    path.mkdir()
    assert counters_of(gputime, trace, tmp_path)[0] == counters_of(gputime, other, path)[0]
    other.events += [event for event in other.events if event["ph"] == "C"]
    rows, _ = counters_of(gputime, other, path)
    assert rows["kernel", "first", 0]["tensor"] == 80


def test_samples_outside_the_span_are_counted(gputime, tmp_path):
    trace = Sampled()
    busy_and_idle(trace)
    for number in (-300, -200, 3500):
        trace.sample(number, tensor=99)
    rows, report = counters_of(gputime, trace, tmp_path)
    assert rows["kernel", "first", 0]["tensor"] == 80
    assert {"samples_outside_span": 3}.items() <= {issue["id"]: issue["count"] for issue in report["issues"]}.items()
    _, chosen = counters_of(gputime, trace, tmp_path, "--from", "1ms")
    assert "samples_outside_span" not in {issue["id"] for issue in chosen["issues"]}


def test_lost_samples_make_no_long_period(gputime, tmp_path):
    trace = Sampled()
    trace.op(0, 2000, "kernel_a")
    for number in (*range(6), *range(15, 20)):
        trace.sample(number * PERIOD, tensor=number)
    rows, _ = counters_of(gputime, trace, tmp_path)
    assert rows["kernel", "kernel_a", 0]["samples"] == 11 and rows["kernel", "kernel_a", 0]["coverage"] == 0.55


@pytest.mark.parametrize("times", [[0], [0, 0, 0], [0, 1e15], [-9e15, 9e15]], ids=str)
def test_few_and_far_samples(gputime, tmp_path, times):
    trace = Sampled()
    trace.op(0, 1000, "kernel_a")
    for at in times:
        trace.sample(at, tensor=50, dram_read=10, dram_write=10, gpc_mhz=1000 * MHZ)
    rows, report = counters_of(gputime, trace, tmp_path)
    assert rows["kernel", "kernel_a", 0]["method"] == "unsampled" and 0 <= report["facts"]["sample_period_ns"] < 2**63
    parts, _ = waterfall_of(gputime, trace.write(tmp_path))
    assert sum(parts.values()) == 1000 * US


def test_a_trace_without_counters(gputime, tmp_path):
    trace = Sampled()
    trace.op(0, 1000, "kernel_a")
    rows, report = counters_of(gputime, trace, tmp_path)
    assert not rows and "samples" not in report["facts"]
    assert report["tables"]["counters"]["rows"] == []
