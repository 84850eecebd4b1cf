"""What XLA's profiler writes (JAX, TensorFlow): row by row against an independent reader (xla_facts.py), both of its
files against each other, and what no capture at hand has."""

import gzip
import json
import re

import pytest

import xla_by_hand
import xla_facts
from samples import DATA, ROOT, with_shared
from xla_by_hand import event

PB, JSON = DATA / "xla/jax.xplane.pb", DATA / "xla/jax.trace.json.gz"
TABLES = ("ops", "copies", "graph_ops", "kernel_configs", "calls", "ranges", "overheads", "driver_work", "python_calls",
          "memory_events", "counters")
ALL = "ops,calls,ranges,overheads,graphs,configs,stacks,memory,counters"
ONLY_IN_THE_PROTOBUF = ("memory_events", "counters")


# ---- rows ----


def resolve(dumped):
    """The rows with tracks instead of their numbers and ops instead of theirs, and only the columns that are given."""
    processes = [row["label"] or row["pid"] for row in dumped["processes"]]
    threads = [(processes[row["process"]], row["tid"]) for row in dumped["threads"]]
    lanes = [(dumped["devices"][row["device"]]["id"], row["stream"]) for row in dumped["lanes"]]
    tracks = {"process": processes, "thread": threads, "lane": lanes}
    tables = {name: [{key: tracks[key][value] if key in tracks and value is not None else value
                      for key, value in row.items() if key != "row"} for row in dumped.get(name, [])] for name in TABLES}
    tables["counters"] = []
    for run in dumped.get("counter_runs", []):
        about = dumped["counter_tracks"][run["track"]]
        process = None if about["process"] is None else processes[about["process"]]
        for row in dumped["counters"][run["first"]:run["first"] + run["values"]]:
            tables["counters"].append({"track": (process, about["device"], about["name"], about["series"]),
                                       "time_ns": row["time_ns"], "value": row["value"]})
    return tables


def word(value):
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def comparable(tables, columns_of=None):
    """Rows that do not depend on the order of the file."""
    ops = tables["ops"]
    found = {}
    for name in TABLES:
        keys = columns_of.get(name) if columns_of else None
        rows = []
        for row in tables.get(name, []):
            row = {key: value for key, value in row.items() if keys is None or key in keys}
            if "op" in row:
                row["op"] = tuple(sorted((key, word(value)) for key, value in ops[row["op"]].items()))
            rows.append(tuple(sorted((key, word(value)) for key, value in row.items())))
        found[name] = sorted(rows)
    return found


def check_rows(found, expected, tables=TABLES):
    columns = {name: set(expected[name][0]) for name in TABLES if expected.get(name)}
    found, expected = comparable(found, columns), comparable(expected)
    for name in tables:
        assert len(found[name]) == len(expected[name]), name
        assert found[name] == expected[name], name


def read(path):
    data = path.read_bytes()
    is_json = data[:1] == b"{" or data[:2] == b"\x1f\x8b"
    return (xla_facts.read_json if is_json else xla_facts.read_xplane)(data)


def captures():
    return with_shared([PB, JSON, *sorted((DATA / "xla-nsys").glob("jax.*"))], "data/h200/jax_profiler/*")


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("path", captures(), ids=lambda path: f"{path.parent.name}-{path.name}" if path else "none")
def test_every_row_is_read(path, threads, dump_rows):
    planes, about = read(path)
    dumped = dump_rows(path, facts=ALL, threads=threads)
    expected = xla_facts.rows_of(planes)
    assert len(expected["ops"]) in (752, 792) and len(expected["calls"]) > 100 and len(expected["python_calls"]) > 10
    check_rows(resolve(dumped), expected)
    assert (dumped["meta"][0]["host"] or "") == about["host"]


@pytest.mark.parametrize("seed", range(24))
def test_every_row_of_made_up_captures_is_read(seed, tmp_path, dump_rows):
    planes = xla_by_hand.capture(seed)
    pb, text = tmp_path / "a.xplane.pb", tmp_path / "a.trace.json"
    pb.write_bytes(xla_by_hand.xplane(planes, host="node7", first_word=(1, 120, 1 << 40)[seed % 3]))
    text.write_bytes(xla_by_hand.trace_json(planes))
    assert comparable(xla_facts.rows_of(read(pb)[0])) == comparable(xla_facts.rows_of(planes))
    check_rows(resolve(dump_rows(pb, facts=ALL, threads=1 + seed % 3)), xla_facts.rows_of(planes))
    check_rows(resolve(dump_rows(text, facts=ALL)), xla_facts.rows_of(read(text)[0]))


def test_what_nobody_asks_for_is_left_out(dump_rows):
    expected = xla_facts.rows_of(read(PB)[0])
    tables = {"ops": ("ops", "copies"), "calls": ("calls",), "ranges": ("ranges",), "stacks": ("python_calls",),
              "overheads": ("overheads", "driver_work"), "counters": ("counters",),
              "graphs": ("ops", "copies", "graph_ops"), "configs": ("ops", "copies", "kernel_configs")}
    for fact, wanted in tables.items():
        found = resolve(dump_rows(PB, facts=fact))
        check_rows(found, expected, wanted)
        for name in set(TABLES) - set(wanted):
            assert found[name] == [], (fact, name)


def test_the_known_facts_of_the_capture(gputime):
    """What the program did: five steps of a model with four layers, two values read back."""
    report = gputime.json("kernels", PB)
    kernels = {row["name"]: row for row in report["tables"]["kernels"]["rows"]}
    assert sum(row["count"] for row in kernels.values()) == 730 and len(kernels) == 43
    assert kernels["gemm_fusion_dot_134"]["count"] == 5 * 4 and kernels["input_reduce_fusion"]["count"] == 5
    steps = gputime.json("steps", PB)["tables"]["steps"]["rows"]
    assert [row["step"] for row in steps] == [0, 1, 2, 3, 4] and [row["ops"] for row in steps] == [150, 151, 150, 151, 150]
    memory = {row["name"]: row for row in gputime.json(PB)["tables"]["memory"]["rows"]}
    assert memory["Memcpy DtoH (Device -> Pinned)"]["count"] == 2
    assert memory["Memcpy DtoH (Device -> Pinned)"]["bytes"] == 8
    about = report["inputs"][0]
    assert about["producer"] == "JAX 0.11.2, XLA profiler" and about["format"] == "xplane" and about["host"] == "vm"


# ---- both files ----

COMMANDS = ("summary", "kernels", "gaps", "ranges", "steps", "findings", "path")
OF_THE_INPUT = {"input", "pid", "gpu"}  # the JSON says neither of which process nor what GPU


def without_the_input(value):
    if isinstance(value, dict):
        return {key: without_the_input(item) for key, item in value.items() if key not in OF_THE_INPUT}
    return [without_the_input(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("command", COMMANDS)
def test_both_files_give_the_same_report(command, gputime):
    one, other = (gputime.json(command, path)["tables"] for path in (PB, JSON))
    for tables in (one, other):
        tables.pop("processes", None)  # the JSON has no number of the process
    assert without_the_input(one) == without_the_input(other)


@pytest.mark.parametrize("seed", range(100, 108))
def test_both_files_of_made_up_captures_give_the_same_report(seed, gputime, tmp_path):
    planes = [plane for plane in xla_by_hand.capture(seed) if plane["name"].startswith(xla_by_hand.KEPT_BY_JSON)]
    for plane in planes:
        plane["stats"] = {}  # the JSON has none
    pb, text = tmp_path / "a.xplane.pb", tmp_path / "a.trace.json"
    pb.write_bytes(xla_by_hand.xplane(planes))
    text.write_bytes(xla_by_hand.trace_json(planes))
    one, other = (gputime.json("summary", path)["tables"] for path in (pb, text))
    assert without_the_input(one) == without_the_input(other)


def test_a_folder_of_the_profiler_is_one_trace(gputime):
    """It has both files of each host."""
    job = gputime.json("ranks", DATA / "xla")["inputs"][0]
    assert job["facts"]["ranks"] == 1 and job["ops"] == 752


def test_packed_files_and_pipes_are_the_same(gputime, tmp_path):
    packed = tmp_path / "jax.xplane.pb.gz"
    packed.write_bytes(gzip.compress(PB.read_bytes()))
    wanted = gputime.json("kernels", PB)["tables"]["kernels"]["rows"]
    found = gputime.json("kernels", packed)["tables"]["kernels"]["rows"]
    assert without_the_input(found) == without_the_input(wanted)
    done = gputime("kernels", "-", "--format", "json", stdin=PB.read_bytes())
    assert without_the_input(json.loads(done.stdout)["tables"]["kernels"]["rows"]) == without_the_input(wanted)


# ---- what the capture lacks ----


def small(*lines, name="/device:GPU:0", **stats):
    return {"name": name, "lines": list(lines), "stats": stats}


def line(name, *events, number=7, origin=0):
    return {"name": name, "id": number, "origin": origin, "events": list(events)}


def write(tmp_path, *planes, **about):
    path = tmp_path / "made.xplane.pb"
    path.write_bytes(xla_by_hand.xplane(planes, **about))
    return path


def issues(report):
    return {issue["id"]: issue["count"] for issue in report["issues"]}


def test_derived_lines_are_not_gpu_work(gputime, tmp_path):
    kernel = event("k", 100, 50, correlation_id=1, kernel_details="regs:8 static_shared:0 dynamic_shared:0 grid:1,1,1 "
                   "block:32,1,1 occ_pct:50")
    derived = [line(name, event("jit_f", 0, 1000, correlation_id=1)) for name in
               ("XLA Modules", "XLA Ops", "Steps", "Framework Name Scope", "Framework Ops", "Source", "Async XLA Ops",
                "Launch Stats")]
    path = write(tmp_path, small(line("Stream #7(Compute)", kernel), *derived))
    report = gputime.json(path)
    assert report["inputs"][0]["ops"] == 1
    assert report["tables"]["accounting"]["rows"][0]["span_ns"] == 50


def test_events_of_tpus_are_named_and_not_read(gputime, tmp_path):
    """A profile of TPUs is none of a run on the CPU."""
    planes = [small(line("XLA Ops", event("fusion.1", 100, 50)), name=f"/device:TPU:{number}") for number in range(2)]
    path = write(tmp_path, *planes, small(line("main", event("PjitFunction(f)", 0, 500)), name="/host:CPU"))
    other = tmp_path / "made.trace.json"
    names = [{"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}}
             for pid, name in ((1, "/device:TPU:0"), (2, "/device:TPU:1"))]
    other.write_text(json.dumps({"traceEvents": [*names, {"ph": "X", "pid": 1, "tid": 2, "ts": 0, "dur": 8, "name": "f"}]}))
    for file in (path, other):
        assert issues(gputime.json(file)) == {"tpu_not_read": 2}
        assert b"/device:TPU" in gputime(file).stdout and gputime(file, "--strict").returncode == 1
    empty = write(tmp_path, small(name="/device:TPU:0"), small(line("Stream #7", event("k", 1, 5))))
    assert issues(gputime.json(empty)) == issues(gputime.json(write(tmp_path, small(line("Stream #7", event("k", 1, 5))))))


def test_times_since_1970_are_counted_from_the_start_of_the_capture(gputime, tmp_path):
    start = 1_794_761_264_916_439_840
    environment = small(name="Task Environment", profile_start_time=start)
    for origin in (5, start + 5):
        kernel = event("k", origin + 10, 50)
        path = write(tmp_path, small(line("Stream #7", kernel, origin=origin)), environment)
        about = gputime.json(path)["inputs"][0]
        assert about["origin_ns"] == "15" and about["base_ns"] == str(start)


def test_an_amd_gpu_has_calls_of_hip(gputime, tmp_path, dump_rows):
    kernel = event("loop_add_fusion", 100, 50, correlation_id=1)
    call = event("loop_add_fusion", 80, 5, device_id=0, correlation_id=1)
    path = write(tmp_path, small(line("Stream #7(Kernel)", kernel), device_vendor="AMD", gpu_device_name="MI300X"),
                 small(line("python3", call), name="/host:CPU"))
    dumped = dump_rows(path)
    assert dumped["calls"][0]["name"] == "hipLaunchKernel" and dumped["devices"][0]["name"] == "AMD MI300X"


def test_facts_of_the_gpu_are_kept(dump_rows):
    device = dump_rows(PB)["devices"][0]
    assert device["name"] == "NVIDIA H200" and device["multiprocessors"] == 132 and device["memory_bytes"] == 150109880320
    assert device["bandwidth"] == 4814304000000 and device["clock_hz"] == 1980000000
    assert (device["compute_major"], device["compute_minor"]) == (9, 0)


def test_counters_of_a_gpu(tmp_path, dump_rows):
    samples = [event("power", 100 + i, 0, power_mw=float(i)) for i in range(3)]
    path = write(tmp_path, small(line("Stream #7", event("k", 100, 50)), line("_counters_", *samples, number=8)))
    dumped = dump_rows(path, facts="ops,metrics")
    assert [row["value"] for row in dumped["counters"]] == [0, 1, 2]
    assert dumped["counter_tracks"][0]["name"] == "power" and dumped["counter_tracks"][0]["device"] == 0


SCOPES = ("jit(f)/layer0/dot", "jit(f)/layer0/add", "jit(f)/transpose(jvp(layer1))/mul", "jit(f)/layer0/dot")


@pytest.mark.parametrize("has_host", [True, False])
def test_named_scopes_are_ranges(has_host, gputime, tmp_path):
    """Around the launches; without a record of these on the GPU, around kernels that follow each other."""
    kernels = [event("k", 100 * i + 90, 50, correlation_id=i, name=name) for i, name in enumerate(SCOPES)]
    calls = [event("k", 100 * i + 10, 20, device_id=0, correlation_id=i) for i in range(len(SCOPES))]
    thread = line("python3", event("PjitFunction(f)", 0, 450), *(calls if has_host else ()))
    path = write(tmp_path, small(line("Stream #7(Compute)", *kernels)), small(thread, name="/host:CPU"))
    rows = {row["name"]: row for row in gputime.json("ranges", path)["tables"]["ranges"]["rows"]}
    assert rows["jit(f)/layer0"]["instances"] == (3 if has_host else 2) and rows["jit(f)/layer0"]["ops"] == 3
    assert rows["jit(f)/transpose(jvp(layer1))"]["ops"] == 1
    assert rows["PjitFunction(f)"]["ops"] == (4 if has_host else 0)


@pytest.mark.parametrize("name, scope", [
    ("jit(f)/jvp(layer0)", "jit(f)/jvp(layer0)"), ("jit(f)", "jit(f)"), ("jit(f)/layer1", "jit(f)/layer1"),
    ("jit(f)/layer", "jit(f)"), ("jit(f)/layer1/dot", "jit(f)/layer1"), ("jit(f)/layer1/do", "jit(f)/layer1"),
    ("alone", None)])
def test_fused_operations_keep_the_scope_that_they_share(name, scope, gputime, tmp_path):
    """Its name is all scope if it ends with a bracket or if operations lie inside."""
    names = (name, "jit(f)/layer1-a/add", "jit(f)/layer1/dot", "jit(f)/layer10/dot")
    kernels = [event("k", 100 * i + 90, 50, correlation_id=i, name=each) for i, each in enumerate(names)]
    calls = [event("k", 100 * i + 10, 20, device_id=0, correlation_id=i) for i in range(len(names))]
    path = write(tmp_path, small(line("Stream #7(Compute)", *kernels)), small(line("python3", *calls), name="/host:CPU"))
    rows = gputime.json("sql", path, "select range from ops order by start_ns")["tables"]["rows"]["rows"]
    assert [row["range"] for row in rows] == [scope, "jit(f)/layer1-a", "jit(f)/layer1", "jit(f)/layer10"]


@pytest.mark.parametrize("kind", ["xplane.pb", "trace.json"])
def test_an_op_without_a_scope_ends_a_range_of_its_own_stream(kind, tmp_path, dump_rows):
    """Also where a JSON has the events of all lines in the order of time."""
    scoped = [event("k", 0, 50, name="f/a/dot"), event("k", 300, 50), event("k", 600, 50, name="f/a/add")]
    other = [event("k", 300 * i + 100, 50) for i in range(3)]
    planes = [small(line("Stream #7", *scoped), line("Stream #8", *other, number=8))]
    data = xla_by_hand.xplane(planes)
    if kind == "trace.json":
        document = json.loads(xla_by_hand.trace_json(planes))
        document["traceEvents"].sort(key=lambda item: item.get("ts", -1))
        data = json.dumps(document).encode()
    path = tmp_path / f"a.{kind}"
    path.write_bytes(data)
    dumped = dump_rows(path, facts=ALL)
    assert [(row["start_ns"], row["end_ns"], row["name"]) for row in dumped["ranges"]] == [(0, 50, "f/a"), (600, 650, "f/a")]


def test_losses_that_the_profiler_reports(gputime, tmp_path):
    path = write(tmp_path, small(line("Stream #7", event("k", 100, 50))), warnings=("Dropped 12 activity events", "hello"))
    assert issues(gputime.json(path))["events_dropped"] == 1


@pytest.mark.parametrize("count, is_capped", [(999_999, False), (1_000_000, True), (1_000_100, False)])
def test_a_trace_that_the_profiler_has_cut_short_says_so(count, is_capped, gputime, tmp_path):
    path = tmp_path / "capped.trace.json"
    head = xla_by_hand.trace_json([small(line("Stream #7", event("k", 100, 50)))])
    assert head.endswith(b",{}]}")
    path.write_bytes(head[:-4] + b'{"ph":"X"},' * (count - 1) + b"{}]}")
    assert ("events_dropped" in issues(gputime.json(path, "--no-cache"))) == is_capped


def test_advice_is_for_jax(gputime, tmp_path):
    """A GPU that waits for launches: torch.compile is of no use here."""
    kernels, calls = [], []
    for i in range(400):
        calls.append(event("loop_add_fusion", 30_000 * i, 20_000, device_id=0, correlation_id=i + 1))
        kernels.append(event("loop_add_fusion", 30_000 * i + 21_000, 3_000, correlation_id=i + 1))
    path = write(tmp_path, small(line("Stream #7(Compute)", *kernels), gpu_device_name="NVIDIA H200"),
                 small(line("python3", *calls), name="/host:CPU"))
    text = gputime("findings", path).stdout.decode()
    text = re.sub(r"\s+", " ", text)
    assert "host_bound" in text and "--xla_gpu_enable_command_buffer" in text and "lax.scan" in text
    assert "torch" not in text


# ---- damage ----


def test_every_cut_of_a_line_is_counted(gputime, tmp_path):
    """Cuts at every byte are for the unit test; here the report says so."""
    data = PB.read_bytes()
    path = tmp_path / "cut.xplane.pb"
    for size in (2000, 50_000, 95_000, 100_000, 141_000):
        path.write_bytes(data[:size])
        done = gputime(path, "--no-cache")
        assert done.returncode == 0 and b"input_cut" in done.stdout, size
        assert gputime(path, "--strict").returncode == 1


def test_a_file_without_words_still_has_its_times(gputime, tmp_path):
    """Names come after the lines that use them: a cut takes them away."""
    data = PB.read_bytes()
    path = tmp_path / "cut.xplane.pb"
    path.write_bytes(data[:60_000])
    report = gputime.json(path)
    assert report["inputs"][0]["ops"] > 300 and issues(report)["op_without_name"] == report["inputs"][0]["ops"]


def test_the_sample_was_cut_by_our_own_script(shared, tmp_path):
    import subprocess
    import sys
    out = tmp_path / "cut.pb"
    whole = shared("data/h200/jax_profiler/jax_h512.xplane.pb")
    subprocess.run([sys.executable, ROOT / "tests/tools/cut_xplane.py", whole, out], check=True)
    assert out.read_bytes() == PB.read_bytes()
