"""Ranges: every cell of the three tables against a plain oracle on random traces, and against NVIDIA's own projections of
the same captures where those lie beside the repository.

The random traces are made once as a model (ops, calls, ranges) and written as Kineto JSON or as a small Nsight export.
"""

import collections
import csv
import json
import math
import random
import sqlite3
import statistics

import pytest

from conftest import DATA, SHARED

NSYS = SHARED / "data" / "h200" / "nsys"
CAPTURES = sorted(path.name for path in NSYS.glob("*")) if NSYS.exists() else []
NOT_GRAPHS = r"re:^(?!\[CUDA graph)"

Op = collections.namedtuple("Op", "start end device stream pid correlation name")
Call = collections.namedtuple("Call", "start end pid tid correlation")
# kind: PushPop, StartEnd, Mark or GPU. end_tid: None unless it ended on another thread. stream: of GPU, on device 0.
Range = collections.namedtuple("Range", "start end kind pid tid end_tid stream name domain")
Model = collections.namedtuple("Model", "ops calls ranges")

NAMES = ["step", "forward", "layer", "layer", "a > b", "", "\u00e9 \"quoted\"", "x" * 90]


# ---- random models ----


def nested_ranges(pick, start, end, depth=0):
    """Push/pop pairs as a program makes them, with borders that may touch."""
    while start < end and pick.random() < 0.9 - 0.1 * depth:
        begin = pick.randint(start, end)
        stop = pick.randint(begin, end)
        yield begin, stop
        if depth < 6:
            yield from nested_ranges(pick, begin, stop, depth + 1)
        start = stop


def make_model(seed, processes, domains, elsewhere):
    pick = random.Random(seed)
    length = pick.choice([60, 400, 50_000])
    threads = [(pid, tid) for pid in processes for tid in (1, 2, 3)]
    ranges = []
    for pid, tid in threads:
        for start, end in nested_ranges(pick, 0, length):
            ranges.append(Range(start, end, "PushPop", pid, tid, None, None, pick.choice(NAMES), pick.choice(domains)))
    for _ in range(pick.choice([0, 0, 5, 15])):
        pid, tid = pick.choice(threads)
        start = pick.randint(0, length)
        end_tid = pick.choice([None, None, 4, tid % 3 + 1]) if elsewhere else None
        kind = "StartEnd" if elsewhere else "PushPop"
        ranges.append(Range(start, start + pick.randint(0, length // 2), kind, pid, tid, end_tid, None,
                            pick.choice(NAMES), pick.choice(domains)))
    pick.shuffle(ranges)

    ops, calls = [], []
    for correlation in range(1, pick.choice([2, 12, 50])):
        pid, tid = pick.choice(threads)
        start = pick.randint(0, length)
        if pick.random() < 0.85:
            calls.append(Call(start, start + pick.randint(0, length // 10), pid, tid, correlation))
        device, stream = pick.randrange(2), pick.choice([7, 13])
        for _ in range(pick.choice([1, 1, 1, 4])):  # a kernel, or the nodes of a graph
            begin = start + pick.randint(0, length)
            ops.append(Op(begin, begin + pick.randint(0, length // 4), device, stream, pid, correlation,
                          pick.choice(["gemm", "relu"])))
    return Model(ops, calls, ranges)


def kineto_model(seed):
    """One process, one domain, and copies of some ranges on the GPU's side."""
    model = make_model(seed, [100], [""], elsewhere=False)
    pick = random.Random(-seed)
    length = max((op.end for op in model.ops), default=1)
    for _ in range(pick.choice([0, 6])):
        start = pick.randint(0, length)
        model.ranges.append(Range(start, pick.randint(start, length), "GPU", None, None, None, pick.choice([7, 13]),
                                  pick.choice(NAMES), ""))
    return model


def nsight_model(seed):
    model = make_model(seed, [100, 200], ["", "engine"], elsewhere=True)
    pick = random.Random(-seed)
    for _ in range(pick.choice([0, 4])):
        time = pick.randint(0, 50)
        model.ranges.append(Range(time, time, "Mark", 100, 1, None, None, "mark", ""))
    return model


# ---- writers ----


def micro(time):
    return float(f"{time // 1000}.{time % 1000:03}")


def write_kineto(model, path):
    def event(category, name, start, end, pid, tid, **args):
        return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": micro(start),
                "dur": micro(end - start), "args": args}

    events = []
    for one in model.ranges:
        if one.kind == "GPU":
            events.append(event("gpu_user_annotation", one.name, one.start, one.end, 0, one.stream, device=0,
                                stream=one.stream))
        else:
            events.append(event("user_annotation", one.name, one.start, one.end, one.pid, one.tid))
    for call in model.calls:
        events.append(event("cuda_runtime", "cudaLaunchKernel", call.start, call.end, call.pid, call.tid,
                            correlation=call.correlation))
    for op in model.ops:
        events.append(event("kernel", op.name, op.start, op.end, op.device, op.stream, device=op.device,
                            stream=op.stream, correlation=op.correlation))
    path.write_text(json.dumps({"traceEvents": events}))


def global_id(pid, tid=0):
    return 1 << 48 | pid << 24 | tid


def write_nsight(model, path):
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
        CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
            globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
            eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,
            returnValue INTEGER NOT NULL);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
            deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER,
            globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,
            graphNodeId INTEGER);
    """)
    database.executemany("INSERT INTO META_DATA_EXPORT VALUES (?, ?)",
                         [("EXPORT_PRODUCT", "NVIDIA Nsight Systems"), ("EXPORT_SCHEMA_VERSION", "3.20.4")])
    strings = {"cudaLaunchKernel_v7000": 1, "gemm": 2, "relu": 3, "layer": 4}
    database.executemany("INSERT INTO StringIds VALUES (?, ?)", [(number, text) for text, number in strings.items()])
    for pid in sorted({one.pid for one in model.ranges}):
        database.execute("INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, 'engine', ?, NULL, NULL, 5)", [global_id(pid, 1)])
    for one in model.ranges:
        registered = one.name == "layer"
        database.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [
            one.start, None if one.kind == "Mark" else one.end, {"PushPop": 59, "StartEnd": 60, "Mark": 34}[one.kind],
            None if registered else one.name, global_id(one.pid, one.tid),
            None if one.end_tid is None else global_id(one.pid, one.end_tid), strings["layer"] if registered else None,
            5 if one.domain else 0])
    database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, 1, 0)",
                         [(call.start, call.end, global_id(call.pid, call.tid), call.correlation) for call in model.calls])
    database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, NULL, NULL)",
                         [(op.start, op.end, op.device, op.stream, op.correlation, global_id(op.pid), strings[op.name],
                           strings[op.name]) for op in model.ops])
    database.commit()
    database.close()


# ---- the oracle: searches everything for everything ----


def union(intervals):
    total, reached = 0, None
    for start, end in sorted(intervals):
        start = start if reached is None else max(start, reached)
        if end > start:
            total += end - start
            reached = end
    return total


class Oracle:
    def __init__(self, model, selected=None):
        self.model = model
        self.ranges = model.ranges
        self.ops = [op for op in model.ops if selected is None or selected(op)]
        self.is_whole = len(self.ops) == len(model.ops)
        self.origin = min((op.start for op in model.ops), default=0)
        calls = {(call.pid, call.correlation): call for call in model.calls}
        # A call that began after the op had ended cannot have launched it.
        self.call_of = {op: call if (call := calls.get((op.pid, op.correlation))) and call.start <= op.end else None
                        for op in self.ops}
        self.holders = [self.ranges_around(op) for op in self.ops]
        self.ops_of = collections.defaultdict(list)
        for op, holders in zip(self.ops, self.holders):
            for number in holders:
                self.ops_of[number].append(op)
        self.parents = [self.parent_of(number) for number in range(len(self.ranges))]
        self.listed = [number for number, one in enumerate(self.ranges) if self.ops_of[number]
                       or (self.is_whole and one.kind in ("PushPop", "StartEnd"))]

    def outermost_first(self, numbers):
        return sorted(numbers, key=lambda number: (self.ranges[number].start, -self.ranges[number].end, number))

    def is_on_thread(self, one):
        """A range that can be a step: one that began and ended on a thread."""
        return one.kind != "GPU" and self.can_hold(one)

    def can_hold(self, one):
        return one.kind != "Mark" and one.end_tid in (None, one.tid)

    def ranges_around(self, op):
        call = self.call_of[op]
        found = []
        for number, one in enumerate(self.ranges):
            if not self.can_hold(one):
                continue
            if call:
                same = one.kind != "GPU" and (one.pid, one.tid) == (call.pid, call.tid)
                start, end = call.start, call.end
            else:
                same = one.kind == "GPU" and (0, one.stream) == (op.device, op.stream)
                start, end = op.start, op.end
            if same and one.start <= start and end <= one.end:
                found.append(number)
        return self.outermost_first(found)

    def parent_of(self, number):
        inner = self.ranges[number]
        if not self.can_hold(inner):
            return None
        same = [other for other, one in enumerate(self.ranges) if self.can_hold(one)
                and (one.kind == "GPU", one.pid, one.tid, one.stream) == (inner.kind == "GPU", inner.pid, inner.tid,
                                                                         inner.stream)]
        order = self.outermost_first(same)
        around = [other for other in order[:order.index(number)] if self.ranges[other].end >= inner.end]
        return around[-1] if around else None

    def level(self, number):
        return 0 if self.parents[number] is None else 1 + self.level(self.parents[number])

    def launches(self, number):
        return len({(op.pid, op.correlation) for op in self.ops_of[number] if self.call_of[op]})

    def projection(self, number):
        ops = self.ops_of[number]
        start = min(op.start for op in ops)
        return start, max(op.end for op in ops) - start

    def range_table(self):
        groups = collections.defaultdict(list)
        for number in self.listed:
            groups[self.ranges[number].name, self.ranges[number].domain].append(number)
        total = sum(op.end - op.start for op in self.ops)
        rows = []
        for (name, domain), members in groups.items():
            own = [(op, holders) for op, holders in zip(self.ops, self.holders) if set(holders) & set(members)]
            exclusive = sum(op.end - op.start for op, holders in own if holders[-1] in members)
            used = [number for number in members if self.ops_of[number]]
            lengths = [self.projection(number)[1] for number in used]
            rows.append({
                "name": name, "domain": domain, "instances": len(members), "ops": len(own),
                "busy_ns": sum(union([(op.start, op.end) for op, _ in own if op.device == device]) for device in (0, 1)),
                "sum_ns": sum(op.end - op.start for op, _ in own), "projected_ns": sum(lengths),
                "range_ns": sum(self.ranges[number].end - self.ranges[number].start for number in members),
                "exclusive_ns": exclusive, "share": exclusive / total if total else 0,
                "launches": sum(self.launches(number) for number in members), "used": len(used),
                "proj_avg_ns": statistics.fmean(lengths) if used else None,
                "proj_median_ns": statistics.median(lengths) if used else None,
                "proj_min_ns": min(lengths, default=None), "proj_max_ns": max(lengths, default=None),
                "proj_stddev_ns": None if not used else statistics.stdev(lengths) if len(used) > 1 else 0,
                "level_avg": statistics.fmean(self.level(number) for number in used) if used else None,
                "range_avg_ns": sum(self.ranges[number].end - self.ranges[number].start for number in members) / len(members),
                "group": "steps" if name == "step" and any(self.is_on_thread(one) for one in self.ranges
                                                           if (one.name, one.domain) == (name, domain)) else None,
            })
        return sorted(rows, key=lambda row: (-row["busy_ns"], row["name"].encode(), row["domain"].encode()))

    def instance_table(self):
        rows = []
        for number in self.listed:
            one, ops = self.ranges[number], self.ops_of[number]
            start, length = self.projection(number) if ops else (None, None)
            rows.append({
                "range": number, "name": one.name, "domain": one.domain,
                "start_ns": start - self.origin if ops else None, "projected_ns": length,
                "range_start_ns": one.start - self.origin, "range_ns": one.end - one.start, "ops": len(ops),
                "launches": self.launches(number), "level": self.level(number), "parent": self.parents[number],
                "children": sum(parent == number and bool(self.ops_of[child])
                                for child, parent in enumerate(self.parents)),
                "style": one.kind, "pid": one.pid, "tid": one.tid,
            })
        return sorted(rows, key=lambda row: (row["ops"] == 0, row["start_ns"] or 0, -(row["projected_ns"] or 0),
                                             row["range"]))

    def path(self, number):
        own = (self.ranges[number].name, self.ranges[number].domain)
        return (own,) if self.parents[number] is None else (*self.path(self.parents[number]), own)

    def tree_table(self):
        total = sum(op.end - op.start for op in self.ops)
        instances = collections.Counter(self.path(number) for number in self.listed)
        chains = [(op, self.path(holders[-1])) for op, holders in zip(self.ops, self.holders) if holders]
        sums = {path: sum(op.end - op.start for op, own in chains if own[:len(path)] == path) for path in instances}

        def place(path):
            return [(-sums[path[:depth]], path[depth - 1][0].encode(), path[depth - 1][1].encode())
                    for depth in range(1, len(path) + 1)]

        return [{
            "range": "  " * (len(path) - 1) + path[-1][0], "depth": len(path) - 1,
            "path": " > ".join(name for name, _ in path), "domain": path[-1][1], "instances": instances[path],
            "ops": sum(own[:len(path)] == path for _, own in chains), "sum_ns": sums[path],
            "exclusive_ns": sum(op.end - op.start for op, own in chains if own == path),
            "share": sums[path] / total if total else 0,
        } for path in sorted(instances, key=place)]

    def coverage(self):
        total = sum(op.end - op.start for op in self.ops)
        return sum(op.end - op.start for op, holders in zip(self.ops, self.holders) if holders) / total if total else None


# ---- random traces against it ----


def same_cell(found, expected):
    if isinstance(expected, float) and found is not None:
        return math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12)
    return found == expected


def check_table(report, key, expected):
    rows = report["tables"][key]["rows"]
    assert len(rows) == len(expected), key
    for index, (row, wanted) in enumerate(zip(rows, expected)):
        assert set(row) - {"input"} == set(wanted)
        for column, value in wanted.items():
            assert same_cell(row[column], value), f"{key}[{index}].{column}: {row[column]} is not {value}"


def check_report(report, oracle):
    check_table(report, "ranges", oracle.range_table())
    check_table(report, "range_instances", oracle.instance_table())
    check_table(report, "range_tree", oracle.tree_table())
    assert same_cell(report["facts"].get("range_coverage"), oracle.coverage())
    assert report["facts"]["range_count"] == len(oracle.listed)
    assert report["facts"]["range_names"] == len(report["tables"]["ranges"]["rows"])


SELECTIONS = {
    "all": ([], None),
    "device": (["--device", "1"], lambda op: op.device == 1),
    "stream": (["--stream", "7"], lambda op: op.stream == 7),
    "name": (["--name", "gem"], lambda op: op.name == "gemm"),
}


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


def test_single_ranges_are_left_out_of_text_and_stand_in_data(gputime, tmp_path):
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


def nsys_rows(capture, report):
    with open(NSYS / capture / f"{capture}_{report}.csv", newline="") as file:
        return list(csv.DictReader(file))


def nsys_name(row):
    """nsys joins domain and text; the default domain has no name, which leaves a colon in front."""
    return f"{row['domain']}:{row['name']}"


@pytest.fixture(scope="module", params=CAPTURES)
def capture(request, gputime):
    """A capture as nsys sees it: graphs recorded as a whole are nowhere in its reports."""
    path = NSYS / request.param / f"{request.param}.sqlite"
    return request.param, gputime.json("ranges", "--name", NOT_GRAPHS, path)


def test_sums_equal_nvtx_gpu_proj_sum_whose_gpu_ops_are_launches(capture):
    name, report = capture
    ours = {nsys_name(row): row for row in report["tables"]["ranges"]["rows"] if row["used"]}
    theirs = nsys_rows(name, "nvtx_gpu_proj_sum")
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


def test_instances_equal_nvtx_gpu_proj_trace_which_stands_in_the_order_of_the_file(capture):
    name, report = capture
    origin = int(report["inputs"][0]["origin_ns"])
    ours = [row for row in report["tables"]["range_instances"]["rows"] if row["ops"]]
    assert ours == sorted(ours, key=lambda row: (row["start_ns"], -row["projected_ns"], row["range"]))
    ours.sort(key=lambda row: row["range"])
    theirs = nsys_rows(name, "nvtx_gpu_proj_trace")
    assert len(ours) == len(theirs)
    number_of = {row["RangeId"]: own["range"] for row, own in zip(theirs, ours)}
    for row, own in zip(theirs, ours):
        assert [nsys_name(own), own["start_ns"] + origin, own["projected_ns"], own["range_start_ns"] + origin,
                own["range_ns"], own["style"], own["pid"], own["tid"], own["launches"], own["level"], own["children"],
                own["parent"]] == [row["Name"], int(row["Projected Start (ns)"]), int(row["Projected Duration (ns)"]),
                                   int(row["Orig Start (ns)"]), int(row["Orig Duration (ns)"]), row["Style"],
                                   int(row["PID"]), int(row["TID"]), int(row["NumGPUOps"]), int(row["Lvl"]),
                                   int(row["NumChild"]), number_of[row["ParentId"]] if row["ParentId"] else None]


@pytest.mark.skipif("graph_whole" not in CAPTURES, reason="no captures beside the repository")
def test_graphs_recorded_whole_count_although_nsys_leaves_them_out(gputime):
    report = gputime.json("ranges", NSYS / "graph_whole" / "graph_whole.sqlite")
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
