"""Memory of GPUs: peak, owners, steps and curve, against an independent program, by hand, and with damaged events."""

import json
import lzma
import math
import random
import sqlite3

import pytest

from kineto_by_hand import US, Trace
from samples import DATA, real_traces, trace_name

GOLDEN = {"ops_zoo": "data/h200/efficiency/ops_zoo.json.gz", "zoo_10000": "data/h200/efficiency/zoo_10000.nsys-rep",
          "zoo_10000 ": "data/h200/efficiency/zoo_10000.sqlite.xz"}
TABLES = ("memory_timeline", "memory_peak", "memory_owners", "allocator_calls")
ISSUES = ("memory_free_of_unknown", "memory_address_twice", "memory_without_addresses")
GB, MB = 10**9, 10**6
CAPACITY = 80 * GB


# ---- against an independent program ----


@pytest.fixture(scope="module", params=GOLDEN)
def computed(request, gputime, shared, tmp_path_factory):
    path = shared(GOLDEN[request.param])
    if path.suffix == ".xz":
        packed, path = path, tmp_path_factory.mktemp("zoo") / path.stem
        path.write_bytes(lzma.decompress(packed.read_bytes()))
    golden = json.loads(shared(f"golden/efficiency/{request.param.strip()}.json").read_text())
    return golden, gputime.json("memory", path, "--top", "0")


@pytest.mark.parametrize("table", TABLES)
def test_table(computed, table):
    golden, report = computed
    want, rows = golden["tables"].get(table, {"columns": [], "rows": []}), report["tables"][table]["rows"]
    assert len(rows) == len(want["rows"])
    for row, expected in zip(rows, want["rows"]):
        for column, value in zip(want["columns"], expected):
            close = isinstance(value, float) and math.isclose(row[column], value, abs_tol=1.1e-6)
            assert row[column] == value or close, (expected[:3], column, row[column], value)


def test_issues(computed):
    golden, report = computed
    ours = {issue["id"]: issue["count"] for issue in report["issues"]}
    assert {key: ours.get(key) for key in ISSUES} == {key: golden["issues"].get(key) for key in ISSUES}


# ---- by hand ----


class Allocating(Trace):
    """A trace with the events of PyTorch's allocator."""

    def __init__(self):
        super().__init__()
        self.allocated, self.reserved = {}, {}
        self.op(0, 100)

    def memory(self, at, size, address, device=0, tid=1, pid=1, kind=1, totals=True, reserved=None):
        key = (pid, device)
        self.allocated[key] = self.allocated.get(key, 0) + size
        args = {"Bytes": size, "Device Type": kind, "Device Id": device}
        if address is not None:
            args["Addr"] = address
        if totals:
            args |= {"Total Allocated": self.allocated[key],
                     "Total Reserved": self.allocated[key] if reserved is None else reserved}
        self.events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": pid, "tid": tid,
                            "ts": at, "args": args})

    def step(self, number, start, length):
        self.range(f"ProfilerStep#{number}", start, length)

    def write(self, folder):
        path = folder / "trace.json"
        devices = [{"id": number, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": CAPACITY} for number in (0, 1)]
        path.write_text(json.dumps({"deviceProperties": devices, "traceEvents": self.events}))
        return path


def memory_of(gputime, trace, folder, *options):
    report = gputime.json("memory", trace.write(folder), *options)
    return {key: table["rows"] for key, table in report["tables"].items()}, report


def issues_of(report):
    return {issue["id"]: issue["count"] for issue in report["issues"] if issue["id"] in ISSUES}


def two_blocks(trace):
    trace.range("forward", 1000, 1000)
    trace.operator("aten::mm", 1100, 100)
    trace.operator("aten::empty_strided", 1110, 20)
    trace.memory(1115, 3 * GB, 0x1000, reserved=5 * GB)
    trace.memory(1500, GB, 0x2000, reserved=5 * GB)
    trace.memory(1900, -3 * GB, 0x1000, reserved=5 * GB)


def test_peak_and_owners(gputime, tmp_path):
    trace = Allocating()
    two_blocks(trace)
    tables, report = memory_of(gputime, trace, tmp_path)
    peak = tables["memory_peak"][0]
    assert (peak["time_ns"], peak["allocated"], peak["reserved"]) == (1500 * US, 4 * GB, 5 * GB)
    assert (peak["fragmentation"], peak["fragmentation_share"]) == (GB, 0.2)
    assert (peak["first"], peak["last"], peak["events"]) == (3 * GB, GB, 3)
    assert [(row["op"], row["range"], row["bytes"], row["blocks"], row["share"]) for row in tables["memory_owners"]] == [
        ("aten::mm", "forward", 3 * GB, 1, 0.75), ("(unknown)", "forward", GB, 1, 0.25)]
    assert report["facts"]["peak_memory"] == 4 * GB and not issues_of(report)
    note = report["inputs"][0]["notes"][0]
    assert note == ("Peak 4 GB of 80 GB allocated at 1.5 ms: 75% by aten::mm in forward; reserved 5 GB, 20% fragmentation.")


def test_curve(gputime, tmp_path):
    trace = Allocating()
    two_blocks(trace)
    curve = memory_of(gputime, trace, tmp_path)[0]["memory_timeline"]
    assert len(curve) == 256 and curve[0]["start_ns"] == 1115 * US
    assert [row["start_ns"] for row in curve] == [1115 * US + 785 * US * i // 256 for i in range(256)]
    middle = next(i for i, row in enumerate(curve) if row["allocated_max"] == 4 * GB)
    assert curve[middle]["allocated_min"] == 3 * GB and curve[middle]["start_ns"] <= 1500 * US
    assert curve[middle - 1]["allocated_end"] == 3 * GB and curve[middle + 1]["allocated_min"] == 4 * GB
    assert (curve[-1]["allocated_max"], curve[-1]["allocated_end"]) == (4 * GB, GB)


def test_what_was_there_before_the_trace(gputime, tmp_path):
    trace = Allocating()
    trace.allocated[1, 0] = 10 * GB
    two_blocks(trace)
    trace.memory(1950, -2 * GB, 0x9000)  # allocated before
    tables, report = memory_of(gputime, trace, tmp_path)
    assert tables["memory_owners"][0] | {"input": None} == {
        "input": None, "device": 0, "op": "(before the trace)", "range": "", "bytes": 10 * GB, "blocks": 0, "share": 10 / 14}
    assert issues_of(report) == {"memory_free_of_unknown": 1}
    assert "71% before the trace, 21% by aten::mm in forward" in report["inputs"][0]["notes"][0]


def leaking(trace, sizes, keeps=1):
    """Each step allocates 1 GB that it frees and so much that it keeps."""
    for number, size in enumerate(sizes):
        start = 1000 * (number + 1)
        trace.step(number, start, 900)
        trace.memory(start + 100, GB, 0x1000)
        for part in range(keeps):
            trace.memory(start + 200 + part, size // keeps, 0x100000 + 16 * number + part)
        trace.memory(start + 300, -GB, 0x1000)


def test_steps(gputime, tmp_path):
    trace = Allocating()
    leaking(trace, [50 * MB, 10 * MB, 12 * MB, 12 * MB, 14 * MB, 12 * MB], keeps=2)
    tables, report = memory_of(gputime, trace, tmp_path)
    steps = [(row["step"], row["first"], row["last"], row["peak"], row["kept_bytes"], row["kept_blocks"])
             for row in tables["memory_steps"]]
    assert steps[0] == (0, 0, 50 * MB, GB + 50 * MB, 50 * MB, 2)  # its first event says what was there before
    assert steps[1] == (1, 50 * MB, 60 * MB, GB + 60 * MB, 10 * MB, 2)
    assert steps[5] == (5, 98 * MB, 110 * MB, GB + 110 * MB, 12 * MB, 2)
    assert report["facts"]["memory_growth"] == 12 * MB
    assert report["inputs"][0]["notes"][0].endswith("; grows 12 MB a step.")
    assert "(step 5)" in report["inputs"][0]["notes"][0]


def test_the_first_event_says_what_was_there_before(gputime, tmp_path):
    trace = Allocating()
    trace.allocated[1, 0] = 5 * GB
    trace.step(0, 100, 100)
    trace.memory(110, -2 * GB, 0x1000)
    row = memory_of(gputime, trace, tmp_path)[0]["memory_steps"][0]
    assert (row["first"], row["peak"], row["last"]) == (5 * GB, 5 * GB, 3 * GB)


def test_a_step_without_events_keeps_what_was_there(gputime, tmp_path):
    trace = Allocating()
    trace.memory(10, GB, 0x1000)
    trace.step(0, 100, 100)
    trace.step(1, 200, 100)
    rows = memory_of(gputime, trace, tmp_path)[0]["memory_steps"]
    assert [(row["step"], row["first"], row["peak"], row["last"], row["kept_blocks"]) for row in rows] == [
        (0, GB, GB, GB, None), (1, GB, GB, GB, None)]


def test_order_of_the_file_does_not_matter(gputime, tmp_path):
    trace, other = Allocating(), Allocating()
    leaking(trace, [10 * MB] * 6)
    leaking(other, [10 * MB] * 6)
    random.Random(1).shuffle(other.events)
    folder = tmp_path / "other"
    folder.mkdir()
    ours, theirs = memory_of(gputime, trace, tmp_path)[0], memory_of(gputime, other, folder)[0]
    assert ours == theirs


def test_memory_of_the_host_does_not_count(gputime, tmp_path):
    trace = Allocating()
    trace.memory(10, GB, 0x1000)
    trace.memory(20, 7 * GB, 0x2000, kind=0, device=-1)
    tables, _ = memory_of(gputime, trace, tmp_path)
    assert len(tables["memory_peak"]) == 1 and tables["memory_peak"][0]["allocated"] == GB


def test_amd_and_several_gpus(gputime, tmp_path):
    trace = Allocating()
    trace.op(0, 100, device=1)
    trace.memory(10, GB, 0x1000, kind=6)
    trace.memory(20, 2 * GB, 0x1000, kind=6, device=1)
    tables, report = memory_of(gputime, trace, tmp_path)
    assert [(row["device"], row["allocated"]) for row in tables["memory_peak"]] == [(0, GB), (1, 2 * GB)]
    assert report["inputs"][0]["notes"][0].startswith("GPU 1: peak 2 GB of 80 GB") and not issues_of(report)
    assert [row["device"] for row in memory_of(gputime, trace, tmp_path, "--device", "1")[0]["memory_peak"]] == [1]


def test_the_fact_is_the_largest_peak(gputime, tmp_path):
    """The fullest GPU may have less than one with more memory."""
    trace = Allocating()
    trace.op(0, 100, device=1)
    trace.memory(10, 39 * GB, 0x1000)
    trace.memory(20, 50 * GB, 0x1000, device=1)
    path = trace.write(tmp_path)
    path.write_text(path.read_text().replace(str(CAPACITY), str(40 * GB), 1))
    report = gputime.json("memory", path)
    assert report["facts"]["peak_memory"] == 50 * GB and "GPU 0: peak 39 GB of 40 GB" in report["inputs"][0]["notes"][0]
    assert gputime("check", path, "--limit", "peak_memory<50GB").returncode == 3


def test_processes_share_a_gpu(gputime, tmp_path):
    trace = Allocating()
    trace.memory(10, GB, 0x1000, pid=1)
    trace.memory(20, 2 * GB, 0x1000, pid=2)
    trace.memory(30, -GB, 0x1000, pid=1)
    tables, report = memory_of(gputime, trace, tmp_path)
    assert (tables["memory_peak"][0]["allocated"], tables["memory_peak"][0]["last"]) == (3 * GB, 2 * GB)
    assert not issues_of(report)


def test_events_without_addresses(gputime, tmp_path):
    """Traces of 2021 have only the bytes."""
    trace = Allocating()
    for number, size in enumerate((GB, 2 * GB, -GB, -2 * GB)):
        trace.memory(10 + number, size, None, totals=False)
    tables, report = memory_of(gputime, trace, tmp_path)
    peak = tables["memory_peak"][0]
    assert (peak["allocated"], peak["reserved"], peak["fragmentation"], peak["last"]) == (3 * GB, None, None, 0)
    assert tables["memory_owners"] == [] and issues_of(report) == {"memory_without_addresses": 4}


def test_an_address_twice(gputime, tmp_path):
    trace = Allocating()
    trace.memory(10, GB, 0x1000)
    trace.memory(20, 2 * GB, 0x1000)
    tables, report = memory_of(gputime, trace, tmp_path)
    assert issues_of(report) == {"memory_address_twice": 1}
    assert [(row["bytes"], row["blocks"]) for row in tables["memory_owners"]] == [(2 * GB, 1), (GB, 0)]


def test_a_window(gputime, tmp_path):
    trace = Allocating()
    trace.op(3000, 100)
    two_blocks(trace)
    tables, _ = memory_of(gputime, trace, tmp_path, "--from", "1800us", "--to", "2500us")
    peak = tables["memory_peak"][0]
    assert (peak["time_ns"], peak["allocated"], peak["last"], peak["events"]) == (1800 * US, 4 * GB, GB, 2)


def test_allocator_calls(gputime, tmp_path):
    trace = Allocating()
    trace.op(1000, 100, launched=990)
    trace.memory(10, GB, 0x1000)
    trace.call("cudaMalloc", 50, 100)  # half of it while the GPU is idle
    trace.call("cudaMalloc", 500, 10)
    trace.call("cudaFree", 1010, 20)
    trace.call("hipHostFree", 1090, 50)  # after the last op
    trace.call("cudaMemcpyAsync", 600, 100)
    trace.call("cudaMalloc", 5000, 100)  # outside the span
    rows = memory_of(gputime, trace, tmp_path)[0]["allocator_calls"]
    assert [(row["name"], row["count"], row["total_ns"], row["max_ns"], row["idle_ns"]) for row in rows] == [
        ("cudaMalloc", 2, 110 * US, 100 * US, 60 * US), ("hipHostFree", 1, 50 * US, 50 * US, 0),
        ("cudaFree", 1, 20 * US, 20 * US, 0)]


# ---- events of the driver ----


def export(folder, events):
    """An export of Nsight Systems: (start, bytes, address, kind, is_free, correlation) and one kernel."""
    path = folder / "trace.sqlite"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as base:
        base.executescript("""
            CREATE TABLE StringIds (id INTEGER, value TEXT);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
                streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
                nameId INTEGER);
            CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER,
                address INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER, correlationId INTEGER);
            INSERT INTO StringIds VALUES (1, 'kernel_a'), (2, 'cudaMalloc_v3020');
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 2000, 0, 1, 7, 1, 16777216, 1, 1);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1500, 1600, 16777217, 5, 2);""")
        base.executemany("INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (?, 16777216, 0, 1, ?, ?, ?, ?, ?)",
                         [(start, address, size, kind, is_free, correlation)
                          for start, size, address, kind, is_free, correlation in events])
    base.close()
    return path


def test_events_of_the_driver(gputime, tmp_path):
    path = export(tmp_path, [(0, GB, 1, 2, 0, 99), (0, 100, 2, 5, 0, 0), (0, 9 * GB, 3, 1, 0, 98), (1550, 2 * GB, 4, 2, 0, 5),
                             (1700, GB, 1, 2, 1, 6), (1800, GB, 77, 2, 1, 7), (1900, 3 * GB, 4, 2, 0, 8)])
    report = gputime.json("memory", path)
    tables = {key: table["rows"] for key, table in report["tables"].items()}
    peak = tables["memory_peak"][0]
    # pinned memory does not count; the free of an unknown address changes nothing; the last block replaces one
    assert (peak["allocated"], peak["time_ns"], peak["first"]) == (3 * GB + 100, 550, GB)
    assert (peak["last"], peak["events"], peak["reserved"]) == (3 * GB + 100, 6, None)
    assert {(row["op"], row["bytes"], row["blocks"]) for row in tables["memory_owners"]} == {
        ("cudaMalloc", 2 * GB, 1), ("(before the trace)", GB, 1), ("(static)", 100, 1)}
    assert issues_of(report) == {"memory_free_of_unknown": 1, "memory_address_twice": 1}


def test_extreme_numbers(gputime, tmp_path):
    most = 2**63 - 1
    path = export(tmp_path, [(start, most, address, 2, 0, 0) for start, address in ((-most, 1), (most, 2), (5, 3), (5, 3))])
    rows = gputime.json("memory", path)["tables"]
    assert rows["memory_peak"]["rows"][0]["allocated"] == most
    law(rows)


# ---- laws ----


def law(tables):
    """The peak is the largest of the curve, and of the steps of one process."""
    for peak in tables["memory_peak"]["rows"]:
        curve = [row for row in tables["memory_timeline"]["rows"] if row["device"] == peak["device"]]
        assert max(row["allocated_max"] for row in curve) == peak["allocated"]
        assert all(row["allocated_min"] <= row["allocated_end"] <= row["allocated_max"] for row in curve)
        assert curve[-1]["allocated_end"] == peak["last"] and len(curve) in (1, 256)
        owners = [row for row in tables["memory_owners"]["rows"] if row["device"] == peak["device"]]
        assert not owners or sum(row["bytes"] for row in owners) >= peak["allocated"]


@pytest.mark.parametrize("seed", range(5))
def test_random_events(gputime, tmp_path, seed):
    chance = random.Random(seed)
    trace = Allocating()
    alive = {}
    for number in range(400):
        address = chance.randrange(60)
        if address in alive:
            trace.memory(number, -alive.pop(address), address)
        else:
            alive[address] = chance.randrange(1, GB)
            trace.memory(number, alive[address], address)
    report = gputime.json("memory", trace.write(tmp_path))
    law(report["tables"])
    assert not issues_of(report)
    assert sum(row["bytes"] for row in report["tables"]["memory_owners"]["rows"]) == report["facts"]["peak_memory"]


@pytest.mark.parametrize("path", real_traces(), ids=lambda path: path and trace_name(path))
def test_law_of_real_traces(gputime, path):
    law(gputime.json("memory", path)["tables"])


def test_damaged_events(gputime, tmp_path):
    trace = Allocating()
    two_blocks(trace)
    for number, args in enumerate([{}, {"Bytes": "x"}, {"Bytes": 1e300, "Device Type": 1, "Device Id": 0},
                                   {"Bytes": -5, "Device Type": 1, "Device Id": 0, "Addr": "y", "Total Allocated": -7}]):
        trace.events.append({"ph": "i", "name": "[memory]", "cat": "cpu_instant_event", "pid": 1, "tid": 1, "ts": 1950 + number,
                             "args": args})
    tables, _ = memory_of(gputime, trace, tmp_path)
    assert tables["memory_peak"][0]["allocated"] == 4 * GB


def test_many_addresses_twice(gputime, tmp_path):
    """Time and memory grow with the file, not with its square."""
    trace = Allocating()
    for number in range(60000):
        trace.memory(number, GB, number % 20000)
    _, report = memory_of(gputime, trace, tmp_path)
    assert issues_of(report) == {"memory_address_twice": 40000}


def test_many_gpus_with_many_steps(gputime, tmp_path):
    """No more GPUs than machines have get rows for every step."""
    trace = Allocating()
    for number in range(400):
        trace.step(number, 1000 * (number + 1), 900)
    for device in range(1000):
        trace.memory(500, GB, 0x1000, device=device)
    tables, report = memory_of(gputime, trace, tmp_path)
    assert len(tables["memory_peak"]) == 256 and len(tables["memory_steps"]) == 256 * 400
    assert "Memory of 744 more GPUs is not shown." in report["inputs"][0]["notes"]


# ---- limits and the other meaning of the word ----


@pytest.mark.parametrize("limit, status", [
    ("peak_memory<5GB", 0), ("peak_memory<=4GB", 0), ("peak_memory<4GB", 3), ("peak_memory<4000MB", 3), ("peak_memory<3.8GiB", 0),
    ("peak_memory<3.7GiB", 3), ("peak_memory<4000001kB", 0), ("peak_memory<4000000001", 0), ("peak_memory<5TiB", 0),
    ("peak_memory<4000000000B", 3), ("peak_memory<1s", 2), ("peak_memory<50%", 2), ("idle<1GB", 2), ("peak_memory<1XB", 2),
    ("memory_growth<1GB", 2)])
def test_limits(gputime, tmp_path, limit, status):
    trace = Allocating()
    two_blocks(trace)
    assert gputime("check", trace.write(tmp_path), "--limit", limit).returncode == status


def test_limits_of_a_trace_without_memory(gputime):
    done = gputime("check", DATA / "overlap.json", "--limit", "peak_memory<1GB")
    assert done.returncode == 2 and b"has no memory events" in done.stderr


@pytest.mark.parametrize("steps, status", [(4, 2), (5, 3)])
def test_growth_takes_five_steps(gputime, tmp_path, steps, status):
    trace = Allocating()
    leaking(trace, [10 * MB] * steps)
    done = gputime("check", trace.write(tmp_path), "--limit", "memory_growth<9MB")
    assert done.returncode == status and (status == 3 or b"memory events in five steps or more" in done.stderr)


def test_a_limit_on_growth_and_a_file_of_limits(gputime, tmp_path):
    trace = Allocating()
    leaking(trace, [10 * MB] * 6)
    path, limits = trace.write(tmp_path), tmp_path / "limits.txt"
    limits.write_text("memory_growth<20MB\npeak_memory<80%\n")
    assert gputime("check", path, "--limit", "memory_growth<9MB").returncode == 3
    assert gputime("check", path, "--limits", limits).returncode == 2  # no share
    limits.write_text("memory_growth<20MB  # a step\npeak_memory < 2 GB\n")
    assert gputime("check", path, "--limits", limits).returncode == 0


def test_a_change_of_the_peak(gputime, tmp_path):
    trace, other, folder = Allocating(), Allocating(), tmp_path / "other"
    folder.mkdir()
    two_blocks(trace)
    two_blocks(other)
    other.memory(1950, 5 * GB, 0x5000)  # 6 GB then
    sides = trace.write(tmp_path), other.write(folder)
    assert gputime("diff", *sides, "--fail-if", "peak_memory>+1GB").returncode == 3
    assert gputime("diff", *sides, "--fail-if", "peak_memory>+3GB").returncode == 0


def test_levels_are_not_divided_by_steps(gputime, tmp_path):
    trace = Allocating()
    leaking(trace, [10 * MB] * 4)
    for number in range(4):
        trace.op(1000 * (number + 1) + 150, 700)
    path = trace.write(tmp_path)
    owners = gputime.json("memory", path)["tables"]["memory_owners"]["rows"]
    peaks, compared = (gputime.json("diff", path, path, "--per", "step", "--of", key)["tables"][key]["rows"]
                       for key in ("memory_peak", "memory_owners"))
    assert [row["a_allocated"] for row in peaks] == [GB + 40 * MB]
    assert sorted((row["a_bytes"], row["b_blocks"]) for row in compared) == sorted((row["bytes"], row["blocks"]) for row in owners)


def test_copies_keep_their_table(gputime):
    report = gputime.json("memory", DATA / "overlap.json", "--table", "memory")
    assert list(report["tables"]) == ["memory"] and report["tables"]["memory"]["columns"][1]["key"] == "name"


def test_a_trace_without_memory_events(gputime):
    report = gputime.json("memory", DATA / "overlap.json")
    assert all(not report["tables"][table]["rows"] for table in TABLES[:3])
    assert any("memory allocations" in note for note in report["inputs"][0]["notes"])
    assert b"profile(profile_memory=True)" in gputime("memory", DATA / "overlap.json").stdout
