"""Perfetto traces as gputime writes them, read by a naive reader and compared with the rows of the input."""

import collections
import json
import subprocess

import pytest

from commandline import FAILED, error_of, write_trace
from perfetto_trace import Trace
from samples import DATA
from simulated_jobs import make_job, traces_of

FACTS = "ops,calls,correlation,ranges,cpu_ops,bytes,overheads,graphs,counters,configs,stacks"
SAMPLES = [*sorted(DATA.glob("*.json")), *sorted((DATA / "torch").glob("*.json.gz")),
           *sorted((DATA / "nsys").glob("*.nsys-rep"))]
CATEGORY_OF = {"python_calls": "python_function", "cpu_ops": "cpu_op", "calls": "cuda_runtime", "overheads": "overhead",
               "driver_work": "driver_work"}
CATEGORY_OF_RANGE = {"nested": "user_annotation", "start_end": "start_end_range", "mark": "mark",
                     "gpu": "gpu_user_annotation"}
STAGE_COMPUTE, API_CUDA = 2, 4
CONFIG_ARGS = {"registers": "registers_per_thread", "static_shared_bytes": "shared_mem_static", "local_bytes": "local_mem_per_thread",
               "dynamic_shared_bytes": "shared_mem_dynamic", "shared_bytes": "shared_mem", "occupancy_percent": "occupancy_percent",
               "blocks_per_multiprocessor": "blocks_per_multiprocessor", "warps_per_multiprocessor": "warps_per_multiprocessor",
               "cluster_x": "cluster_x", "cluster_y": "cluster_y", "cluster_z": "cluster_z", "priority": "priority"}


def export(gputime, path, *inputs):
    done = gputime("export", "--no-cache", *inputs, "-o", path)
    assert done.returncode == 0, done.stderr
    return Trace(path)


def shown(name):
    """A name as a protobuf string."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\0", "\ufffd")


def key_of(one, *keys):
    return (one["start_ns"], max(one["start_ns"], one["end_ns"]), *(one[key] for key in keys))


def thread_of(trace, uuid):
    """(pid, tid) of the nearest thread above a track."""
    while uuid and not trace.tracks[uuid]["is_thread"]:
        uuid = trace.tracks[uuid]["parent"]
    return (trace.tracks[uuid]["pid"], trace.tracks[uuid]["tid"]) if uuid else None


class Rows:
    """The rows of the input, as they must be in the trace."""

    def __init__(self, rows):
        self.rows = rows
        self.ops = rows["ops"]
        self.by_op = {table: {row["op"]: row for row in rows[table]} for table in ("copies", "kernel_configs", "graph_ops", "launch_details")}
        self.slices = [(CATEGORY_OF[table], row) for table in CATEGORY_OF for row in rows[table]]
        ranges = [(CATEGORY_OF_RANGE["start_end" if row["kind"] == "nested" and row["end_thread"] is not None else row["kind"]],
                   row) for row in rows["ranges"]]
        self.slices += [(category, row) for category, row in ranges if category != "mark"]
        self.marks = [row for category, row in ranges if category == "mark"]

    def thread(self, row):
        """(pid, tid), if the input knows both."""
        if row["thread"] is None:
            return None
        thread = self.rows["threads"][row["thread"]]
        pid = self.rows["processes"][thread["process"]]["pid"] if thread["process"] is not None else None
        return (pid, thread["tid"]) if pid is not None and thread["tid"] is not None else None


@pytest.fixture(scope="module", params=SAMPLES, ids=lambda path: path.name)
def exported(request, gputime, dump_rows, tmp_path_factory):
    trace = export(gputime, tmp_path_factory.mktemp("perfetto") / "t.pftrace", request.param)
    return request.param, Rows(dump_rows(request.param, facts=FACTS)), trace


def test_ops_are_render_stages(exported):
    _, rows, trace = exported
    assert sorted(key_of(op, "name", "stage") for op in trace.ops) == sorted(
        (*key_of(op)[:2], shown(op["name"]), op["kind"]) for op in rows.ops)
    lanes, devices = rows.rows["lanes"], rows.rows["devices"]
    assert collections.Counter((op["gpu"], op["queue"].split(" of ")[0]) for op in trace.ops) == collections.Counter(
        (devices[lanes[op["lane"]]["device"]]["id"], f"Stream {lanes[op['lane']]['stream']}") for op in rows.ops)
    assert len({op["id"] for op in trace.ops}) == len(trace.ops) and 0 not in {op["id"] for op in trace.ops}
    for op in trace.ops:
        is_kernel = op["stage"] in ("kernel", "graph")
        assert op["stage_category"] == (STAGE_COMPUTE if is_kernel else 0)
        assert op["api"] in (API_CUDA, None) and op["args"]["category"]
        assert not is_kernel or op["kernel"]["full"] == op["name"]


def test_ops_have_their_launch_arguments(exported):
    _, rows, trace = exported
    wanted, found = collections.Counter(), collections.Counter()
    for op in rows.ops:
        config, copy, graph, launch = (rows.by_op[table].get(op["row"])
                                       for table in ("kernel_configs", "copies", "graph_ops", "launch_details"))
        args = {key: value for key, value in (launch or {}).items() if key not in ("op", "row") and value not in (None, "")}
        if config:
            args |= {CONFIG_ARGS[key]: config[key] for key in CONFIG_ARGS if config[key] is not None}
        if copy:
            args |= {key: copy[key] for key in ("bytes", "src", "dst")}
        if graph:
            args["graph"] = graph["graph"]
        if op["flags"]:
            args["in_graph"] = 1
        sizes = [tuple(config[f"{what}_{axis}"] for axis in "xyz") if config and config[f"{what}_x"] is not None else None
                 for what in ("grid", "block")]
        wanted[(*key_of(op)[:2], shown(op["name"]), tuple(sorted(args.items())), *sizes)] += 1
    for op in trace.ops:
        args = tuple(sorted((key, value) for key, value in op["args"].items() if key != "category"))
        found[(*key_of(op, "name"), args, op["grid"], op["block"])] += 1
    assert found == wanted


def test_slices_nest_and_none_is_lost(exported):
    _, rows, trace = exported
    own = [one for one in trace.slices if one["category"] not in ("idle", "step")]
    assert sorted((*key_of(one, "name"), one["category"]) for one in own) == sorted(
        (*key_of(row)[:2], shown(row["name"]), category) for category, row in rows.slices)
    assert sorted(key_of(one, "name") for one in trace.instants) == sorted(
        (row["start_ns"], row["start_ns"], shown(row["name"])) for row in rows.marks)
    by_track = collections.defaultdict(list)
    for one in trace.slices:
        by_track[one["track"]].append(one)
    for slices in by_track.values():
        above = []
        for one in slices:  # in the order of the file
            above = [*above[:one["depth"]], one]
            if one["depth"]:
                outer = above[one["depth"] - 1]
                assert outer["start_ns"] <= one["start_ns"] and one["end_ns"] <= outer["end_ns"]


def test_slices_are_on_their_threads(exported):
    _, rows, trace = exported
    wanted = collections.Counter()
    for category, row in rows.slices:
        if category not in ("start_end_range", "gpu_user_annotation") and rows.thread(row):
            wanted[(*key_of(row)[:2], shown(row["name"]), rows.thread(row))] += 1
    found = collections.Counter((*key_of(one, "name"), thread_of(trace, one["track"])) for one in trace.slices
                                if one["category"] not in ("idle", "step"))
    assert wanted <= found
    domains = sorted(shown(row["domain"]) for _, row in rows.slices if row.get("domain"))
    assert sorted(one["args"]["domain"] for one in trace.slices if "domain" in one["args"]) == domains


def test_launch_calls_name_their_ops(exported):
    """Those that share a correlation number, where that says which ones are meant."""
    _, rows, trace = exported
    calls = collections.defaultdict(list)
    for call in rows.rows["calls"]:
        if call["correlation"] is not None:
            calls[call["correlation"]].append(call)
    ids = {op["id"]: op for op in trace.ops}
    found = collections.Counter()
    for one in trace.slices:
        for number in one["submitted"]:
            assert one["category"] == "cuda_runtime" and one["api"] == API_CUDA
            found[(*key_of(one, "name"), *key_of(ids[number], "name"))] += 1
    pids = {row["pid"] for row in rows.rows["processes"]}
    single = {number: found_calls[0] for number, found_calls in calls.items() if len(found_calls) == 1 and len(pids) == 1}
    wanted = collections.Counter()
    for op in rows.ops:
        call = single.get(op["correlation"])
        if call and call["start_ns"] <= op["start_ns"]:
            wanted[(*key_of(call)[:2], shown(call["name"]), *key_of(op)[:2], shown(op["name"]))] += 1
    assert wanted <= found and (not wanted or sum(found.values()) <= len(rows.ops))


def test_counters_have_all_values(exported):
    _, rows, trace = exported
    values = collections.Counter((one["time_ns"], float(one["value"])) for one in trace.counters)
    wanted = collections.Counter((row["time_ns"], float(row["value"])) for row in rows.rows["counters"])
    times, samples = rows.rows["sample_times"], rows.rows["sample_values"]
    for run in rows.rows["sample_runs"]:
        for i in range(run["values"]):
            wanted[times[run["times"] + i]["time_ns"], float(samples[run["first"] + i]["value"])] += 1
    assert values == wanted
    assert all(trace.tracks[one["track"]]["is_counter"] for one in trace.counters)
    names = collections.Counter(track["name"] for track in trace.tracks.values() if track["is_counter"])
    runs = {run["track"] for run in rows.rows["counter_runs"] + rows.rows["sample_runs"]}
    tracks = [row for row in rows.rows["counter_tracks"] if row["row"] in runs]
    assert names == collections.Counter(shown(row["name"]) + (f": {shown(row['series'])}" if row["series"] else "") for row in tracks)


def joined(gaps):
    """Late starts are two slices, one after the other: what reports show as one gap has the cause of the longer part."""
    found = {}
    for one in sorted(gaps, key=lambda one: one["start_ns"]):
        before = found.pop((one["track"], one["start_ns"]), None) if one["name"] == "dependency" else None
        parts = [*(before or []), one]
        found[one["track"], one["end_ns"]] = parts
    for parts in found.values():
        longest = max(parts, key=lambda part: part["end_ns"] - part["start_ns"])
        yield parts[0]["start_ns"], parts[-1]["end_ns"], longest["name"]


def test_gaps_steps_and_categories_are_those_of_reports(exported, gputime):
    path, _, trace = exported
    gaps = [one for one in trace.slices if one["category"] == "idle"]
    report = json.loads(gputime("gaps", path, "--json", "--top", "0", "--no-cache").stdout)
    origin = int(report["inputs"][0]["origin_ns"])
    table = report["tables"].get("gaps")
    wanted = [(row["start_ns"] + origin, row["end_ns"] + origin, row["cause"]) for row in table["rows"]] if table else []
    assert sorted(joined(gaps)) == sorted(wanted)
    summary = json.loads(gputime(path, "--json", "--no-cache", "--from", "0").stdout)
    sums = collections.Counter()
    for op in trace.ops:
        sums[op["args"]["category"]] += op["end_ns"] - op["start_ns"]
    assert {row["category"]: row["total_ns"] for row in summary["tables"]["categories"]["rows"]} == dict(sums)
    steps = json.loads(gputime("steps", path, "--json", "--no-cache").stdout)["tables"]["steps"]["rows"]
    numbers = {int(one["name"].rpartition("#")[2]) for one in trace.slices
               if one["category"] == "step" and one["name"].startswith("ProfilerStep#")}
    assert not numbers or {row["step"] for row in steps} <= numbers


def test_processes_gpus_and_origin_are_described(exported):
    _, rows, trace = exported
    pids = {row["pid"] for row in rows.rows["processes"] if row["pid"] is not None}
    assert pids <= {track["pid"] for track in trace.tracks.values() if track["is_process"]}
    used = {rows.rows["lanes"][op["lane"]]["device"] for op in rows.ops}
    named = {track["gpu"] for track in trace.tracks.values() if track["gpu"] is not None}
    assert named == {rows.rows["devices"][device]["id"] for device in used}
    for device in (rows.rows["devices"][number] for number in used):
        info = trace.gpus[0][device["id"]]
        assert info.get(1, b"").decode() == device["name"]
        if device["uuid"]:
            assert info[5].hex() == device["uuid"].replace("GPU-", "").replace("-", "")
    assert trace.attributes[0]["gputime.format"] == rows.rows["meta"][0]["format"]
    if rows.rows["meta"][0]["base_ns"] and rows.ops:
        times = [one for _, one in trace.snapshots if 1 in one]
        assert [one[1] - one[6] for one in times] == [rows.rows["meta"][0]["base_ns"]]


# ---- selections ----

TRAIN = DATA / "torch" / "llama_train_eager_stack.json.gz"


def test_a_step_is_cut_out(gputime, tmp_path):
    whole = export(gputime, tmp_path / "whole.pftrace", TRAIN)
    steps = {one["name"]: one for one in whole.slices if one["category"] == "step"}
    name = sorted(steps)[1]
    cut = export(gputime, tmp_path / "cut.pftrace", TRAIN, "--step", name.rpartition("#")[2])
    assert (tmp_path / "cut.pftrace").stat().st_size < (tmp_path / "whole.pftrace").stat().st_size / 2
    first = min(one["start_ns"] for one in cut.slices)
    last = max(one["end_ns"] for one in cut.slices)
    assert 0 < len(cut.ops) < len(whole.ops)
    inside = [one for one in whole.slices if first < one["end_ns"] and one["start_ns"] < last]
    assert {one["name"] for one in inside} == {one["name"] for one in cut.slices}
    report = json.loads(gputime("kernels", TRAIN, "--step", name.rpartition("#")[2], "--json", "--no-cache").stdout)
    kernels = [op for op in cut.ops if op["stage"] == "kernel"]
    assert report["facts"]["kernel_launches"] == len(kernels)
    assert report["facts"]["kernel_time_ns"] == sum(op["end_ns"] - op["start_ns"] for op in kernels)


def test_a_window_clips_what_crosses_it(gputime, tmp_path):
    whole = export(gputime, tmp_path / "whole.pftrace", TRAIN)
    cut = export(gputime, tmp_path / "cut.pftrace", TRAIN, "--from", "20ms", "--to", "30ms")
    start = min(op["start_ns"] for op in whole.ops) + 20_000_000
    end = start + 10_000_000
    for one in cut.ops + cut.slices:
        assert start <= one["start_ns"] <= one["end_ns"] <= end
    crossing = [one for one in whole.slices if one["start_ns"] < start and one["end_ns"] > end and one["category"] == "step"]
    assert crossing and {one["name"] for one in crossing} <= {one["name"] for one in cut.slices if key_of(one) == (start, end)}
    assert all(start <= one["time_ns"] < end for one in cut.counters) and cut.counters


def test_a_device_is_selected_with_its_threads(gputime, tmp_path, dump_rows):
    path = DATA / "devices.json"
    cut = export(gputime, tmp_path / "cut.pftrace", path, "--device", "1")
    rows = dump_rows(path)
    assert {op["gpu"] for op in cut.ops} == {1}
    on_gpu = [op for op in rows["ops"] if rows["devices"][rows["lanes"][op["lane"]]["device"]]["id"] == 1]
    assert len(cut.ops) == len(on_gpu)


# ---- several ranks ----


def test_ranks_are_on_one_clock(gputime, tmp_path):
    job = make_job(tmp_path / "job", "--ranks", "4", "--gpus-per-host", "1", "--skew", "--steps", "3")
    paths = traces_of(job)
    trace = export(gputime, tmp_path / "job.pftrace", *paths)
    names = {track["process_name"].split(":")[0] for track in trace.tracks.values() if track["is_process"]}
    assert names == {f"rank {number}" for number in range(4)}
    ends, alone = collections.defaultdict(list), collections.defaultdict(list)
    for machine in range(1, 5):
        kernels = [op for op in trace.ops if op["machine"] == machine and "AllReduce" in op["name"]]
        for index, op in enumerate(sorted(kernels, key=lambda op: op["start_ns"])):
            ends[index].append(op["end_ns"])
        own = export(gputime, tmp_path / "one.pftrace", paths[machine - 1])
        kernels = [op for op in own.ops if "AllReduce" in op["name"]]
        for index, op in enumerate(sorted(kernels, key=lambda op: op["start_ns"])):
            alone[index].append(op["end_ns"])
    assert ends and all(len(found) == 4 for found in ends.values())
    assert max(max(found) - min(found) for found in ends.values()) < 50_000  # members leave a collective together
    assert min(max(found) - min(found) for found in alone.values()) > 500_000  # by their own clocks they do not
    ids = [op["id"] for op in trace.ops]
    assert len(set(ids)) == len(ids)


def ranks_in(trace):
    return sorted(track["process_name"].split(":")[0] for track in trace.tracks.values() if track["is_process"])


@pytest.mark.parametrize("hiding", [[], ["--redact"], ["--redact-names"]], ids=lambda hiding: hiding[0] if hiding else "plain")
def test_known_ranks_are_kept(gputime, tmp_path, hiding):
    """Ranks of file names, also where files are not named; of two inputs of one rank, neither gets another."""
    paths = [tmp_path / name for name in ("secret_rank5.json", "secret_rank2.json", "again_rank2.json", "other.json")]
    for path in paths:
        path.write_bytes((DATA / "overlap.json").read_bytes())
    counted = len(ranks_in(export(gputime, tmp_path / "one.pftrace", paths[0])))
    found = ranks_in(export(gputime, tmp_path / "two.pftrace", *paths[:2], *hiding))
    assert found == ["rank 2"] * counted + ["rank 5"] * counted
    found = ranks_in(export(gputime, tmp_path / "all.pftrace", *paths, *hiding))
    assert found.count("rank 2") == 2 * counted and found.count("rank 5") == counted and len(found) == 4 * counted
    if hiding:
        assert b"secret" not in (tmp_path / "all.pftrace").read_bytes()


# ---- names, files, threads ----


def hostile_trace(path):
    names = [b"\\u0000nul\\u0000", b"broken \xff\xfe \xc3 utf-8", b"\xed\xa0\x80 surrogate", "ü €".encode(), b"x" * 1_000_000, b""]
    events = []
    for index, name in enumerate(names):
        at = 1000 + 100 * index
        events.append(b'{"ph":"X","cat":"kernel","name":"%s","pid":0,"tid":7,"ts":%d,"dur":50,"args":{"device":0,"stream":7,"correlation":%d}}'
                      % (name, at, index + 1))
        events.append(b'{"ph":"X","cat":"cuda_runtime","name":"%s","pid":1,"tid":1,"ts":%d,"dur":5,"args":{"correlation":%d}}'
                      % (name, at - 10, index + 1))
        events.append(b'{"ph":"X","cat":"user_annotation","name":"%s","pid":1,"tid":1,"ts":%d,"dur":20}' % (name, at - 15))
    path.write_bytes(b'{"schemaVersion":1,"traceEvents":[' + b",".join(events) + b"]}")
    return names


def test_hostile_names_are_valid_strings(hardened, tmp_path):
    names = hostile_trace(tmp_path / "a.json")
    trace = export(hardened, tmp_path / "a.pftrace", tmp_path / "a.json")
    wanted = sorted(name.replace(b"\\u0000", b"\0").decode("utf-8", "replace").replace("\0", "\ufffd") for name in names)
    assert sorted(op["name"] for op in trace.ops) == wanted
    assert sorted(one["name"] for one in trace.slices if one["category"] == "cuda_runtime") == wanted


def test_odd_numbers_fit(hardened, tmp_path):
    """Times below zero, huge process, thread and device numbers, lengths below zero."""
    event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": -1e9, "dur": 5, "args": {"device": 2**40, "stream": 2**40}}
    call = {"ph": "X", "cat": "cpu_op", "name": "o", "pid": 2**40, "tid": 2**50, "ts": 5, "dur": -3}
    (tmp_path / "a.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": [event, call, {**event, "ts": 9e15}]}))
    trace = export(hardened, tmp_path / "a.pftrace", tmp_path / "a.json")
    assert min(op["start_ns"] for op in trace.ops) == 0 and len(trace.ops) == 2


def test_bytes_do_not_depend_on_threads(gputime, tmp_path):
    for sample in (TRAIN, DATA / "nsys" / "extras.nsys-rep"):
        found = set()
        for threads in (1, 2, 5):
            export(gputime, tmp_path / "a.pftrace", sample, "--threads", str(threads))
            found.add((tmp_path / "a.pftrace").read_bytes())
        assert len(found) == 1


def test_a_file_is_written_whole_or_not_at_all(gputime, tmp_path):
    trace, path = write_trace(tmp_path / "a.json"), tmp_path / "a.pftrace"
    path.write_text("old")
    error_of(gputime("export", trace, "--step", "99", "-o", path), 2)
    assert path.read_text() == "old"
    limit = f"ulimit -f 1; trap '' XFSZ; exec {gputime.binary} export --no-cache {TRAIN} -o {path}"
    done = subprocess.run(["bash", "-c", limit], capture_output=True, env=gputime.environment)
    assert done.returncode == FAILED and b"cannot write" in done.stderr
    assert path.read_text() == "old" and sorted(one.name for one in tmp_path.iterdir()) == ["a.json", "a.pftrace"]


def test_overlapping_kernels_survive(gputime, tmp_path):
    events = [{"ph": "X", "cat": "kernel", "name": f"k{i}", "pid": 0, "tid": 7, "ts": 10 * i, "dur": 25,
               "args": {"device": 0, "stream": 7, "correlation": i}} for i in range(10)]
    ranges = [{"ph": "X", "cat": "user_annotation", "name": f"r{i}", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 25} for i in range(10)]
    (tmp_path / "a.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events + ranges}))
    trace = export(gputime, tmp_path / "a.pftrace", tmp_path / "a.json")
    assert sorted(key_of(op, "name") for op in trace.ops) == [(10_000 * i, 10_000 * i + 25_000, f"k{i}") for i in range(10)]
    found = [one for one in trace.slices if one["category"] == "user_annotation"]
    assert sorted(key_of(one, "name") for one in found) == [(10_000 * i, 10_000 * i + 25_000, f"r{i}") for i in range(10)]
    assert len({one["track"] for one in found}) == 3  # at most three run at once
