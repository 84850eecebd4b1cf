"""What the reader of PyTorch traces makes of a file when it is asked for more or for less than usual, row by row
against an independent reader (torch_facts.py)."""

import collections
import json
import tarfile

import pytest

import torch_facts
from samples import DATA, with_shared

# The tables that each fact brings, and the facts that it cannot be read without.
TABLES = {
    "ops": ("ops", "copies"), "calls": ("calls",), "ranges": ("ranges",), "cpu_ops": ("cpu_ops",),
    "overheads": ("overheads", "driver_work"), "counters": ("counters",), "comms": ("comms",),
    "syncs": ("syncs", "event_records"), "flows": ("flows",), "arguments": ("operator_args",),
    "configs": ("kernel_configs", "launch_details"), "graphs": ("graph_ops",), "details": ("operator_details",),
    "memory": ("memory_events",), "stacks": ("python_calls",),
}
IMPLIES = {"memory": ("calls", "ranges", "cpu_ops"),
           "comms": ("ops", "calls", "ranges", "cpu_ops"), "syncs": ("calls",), "flows": ("cpu_ops",),
           "arguments": ("cpu_ops",), "configs": ("ops",), "graphs": ("ops",), "details": ("cpu_ops", "arguments")}
TEXTS_OF_VALUES = ("dims", "types", "strides", "inputs")


def tables_of(facts):
    asked = {fact for name in facts for fact in (name, *IMPLIES.get(name, ()))}
    return {table for fact in asked for table in TABLES[fact]}


def resolve(dumped):
    """The rows with tracks and groups instead of their numbers."""
    processes = [row["label"] or (row["pid"] if row["pid"] is not None else -1) for row in dumped["processes"]]
    threads = [(processes[row["process"]], row["label"] or (row["tid"] if row["tid"] is not None else -1))
               for row in dumped["threads"]]
    lanes = [(dumped["devices"][row["device"]]["id"], row["stream"]) for row in dumped["lanes"]]
    groups = [tuple(torch_facts.plain(value) if key == "ranks" else value for key, value in row.items() if key != "row")
              for row in dumped["comm_groups"]]
    tracks = {"process": processes, "thread": threads, "end_thread": threads, "lane": lanes, "group": groups}
    tables = collections.defaultdict(list)
    for name, rows in dumped.items():
        tables[name] = [{key: tracks[key][value] if key in tracks and value is not None else value
                         for key, value in row.items() if key != "row"} for row in rows]
    counters = []
    for run in dumped["counter_runs"]:
        about = dumped["counter_tracks"][run["track"]]
        process = None if about["process"] is None else processes[about["process"]]
        key = (process, about["device"], about["name"], about["series"], about["unit"])
        assert about["kind"] == "state" and about["period_ns"] == 0
        values_of_run = dumped["counters"][run["first"]:run["first"] + run["values"]]
        counters += [{"track": key, "time_ns": row["time_ns"], "value": row["value"]} for row in values_of_run]
    tables["counters"] = counters
    tables["groups"] = set(groups)
    for row in tables["operator_args"]:
        row.update({key: json.loads(row[key]) if row[key] else "" for key in TEXTS_OF_VALUES})
    for row in tables["ranges"]:
        assert row.pop("end_thread") is None and row.pop("domain") == ""
    return tables


def by_track(counters):
    """As sealing puts them: the tracks in order of appearance, their values by time."""
    tracks = list(dict.fromkeys(row["track"] for row in counters))
    return sorted(counters, key=lambda row: (tracks.index(row["track"]), row["time_ns"]))


def expected_rows(path):
    reader = torch_facts.Reader(torch_facts.load(path))
    reader.tables["counters"] = by_track(reader.tables["counters"])
    return reader


def check_rows(found, expected, tables):
    for name in tables:
        assert len(found[name]) == len(expected[name]), name
        for number, (row, other) in enumerate(zip(found[name], expected[name])):
            assert row == other, (name, number)


def check_facts(path, dump_rows, *facts, **how):
    reader = expected_rows(path)
    found = resolve(dump_rows(path, facts=",".join(facts), **how))
    wanted = tables_of(facts)
    check_rows(found, reader.tables, wanted)
    for name in set(reader.tables) - wanted:
        assert found[name] == [], name
    return found, reader


def captures():
    own = [*sorted((DATA / "torch").glob("*.json.gz")), DATA / "limits.json", DATA / "accelerators.json"]
    return with_shared(own, "data/h200/torch/*.json.gz", "data/h200/ranks/*.json.gz", "data/h200/efficiency/*.json.gz", "data/public/kineto/*/*.json.gz")


@pytest.mark.parametrize("path", captures(), ids=lambda path: path.name if path else "none")
def test_every_row_is_read(path, dump_rows):
    found, reader = check_facts(path, dump_rows, *TABLES)
    assert found["groups"] == reader.groups
    assert found["meta"][0]["skipped_events"] == reader.skipped


def test_every_row_of_the_planted_faults_is_read(shared, tmp_path, dump_rows):
    with tarfile.open(shared("data/h200/faults.tar.xz")) as archive:
        names = [member for member in archive.getmembers() if member.name.endswith(".json")][::4]
        assert names
        for member in names:
            path = tmp_path / "fault.json"
            path.write_bytes(archive.extractfile(member).read())
            _, reader = check_facts(path, dump_rows, *TABLES, threads=3)
            assert reader.tables["ops"], member.name


@pytest.mark.parametrize("fact", TABLES)
def test_what_nobody_asks_for_is_left_out(fact, dump_rows):
    for name in ("llama_train_eager_stack", "tpdp_rank0", "ops_zoo"):
        found, _ = check_facts(DATA / "torch" / f"{name}.json.gz", dump_rows, fact)
        assert found["issues"] == []


# ---- what no capture at hand has ----


def kernel(ts, **args):
    return {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": ts, "dur": 2.5,
            "args": {"External id": ts, "device": 0, "stream": 7, "correlation": ts, **args}}


def cpu_op(ts, name, **args):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 9, "tid": 10, "ts": ts, "dur": 1,
            "args": {"External id": ts, **args}}


def sync(ts, kind, tid, **args):
    return {"ph": "X", "cat": "cuda_sync", "name": kind, "pid": 0, "tid": tid, "ts": ts, "dur": 1,
            "args": {"cuda_sync_kind": kind, **args}}


def counter(ts, name, pid, **args):
    return {"ph": "C", "cat": "hardware_counters", "name": name, "pid": pid, "tid": 0, "ts": ts, "args": args}


def memory(ts, **args):
    return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 9, "tid": 10, "ts": ts,
            "args": args}


def made_trace():
    collective = {"Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "Group size": 4,
                  "dtype": "Float8_e4m3fn", "In split size": "[]", "Out split size": "[]", "Process Group Name": "7",
                  "Process Group Description": "dp", "Process Group Ranks": "[0, 1, 2, 3]"}
    occupancy = {"activeBlocksPerMultiprocessor": 2, "limitingFactors": "REGS|SMEM", "blockLimitRegs": 2}
    return {
        "schemaVersion": 1,
        "traceEvents": [
            cpu_op(1, "record_param_comms", **collective, **{"Rank": 2, "Global rank start": 0, "Global rank stride": 1,
                                                            "Seq": 41, "Comms Id": 2**64 - 3, "Src Rank": -1}),
            cpu_op(2, "record_param_comms", **{"Input Dims": [[]]}),
            cpu_op(3, "aten::mm", **{"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"],
                                    "Input Strides": [[3, 1], [4, 1]], "Concrete Inputs": ["", ""],
                                    "Sequence number": 5, "Fwd thread id": 0}),
            {"ph": "X", "cat": "cpu_op", "name": "bare", "pid": 9, "tid": 10, "ts": 3.5, "dur": 1},
            {"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": 3, "pid": 9, "tid": 10, "ts": 3},
            {"ph": "f", "cat": "other", "name": "fwdbwd", "id": 3, "pid": 9, "tid": 11, "ts": 8, "bp": "e"},
            {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 4, "pid": 9, "tid": 10, "ts": 3},
            {"ph": "s", "cat": "ac2g", "name": "fwdbwd", "id": 4, "pid": 9, "tid": 10, "ts": 3},
            {"ph": "X", "cat": "PythonFunction", "name": "train.py(41): log", "pid": 9, "tid": 10, "ts": 2, "dur": 3},
            {"ph": "X", "cat": "overhead", "name": "Lazy Function Loading", "pid": 9, "tid": 10, "ts": 2, "dur": 3},
            kernel(10, **collective, **{"Seq": 41, "Comms Id": 2**64 - 3}),
            kernel(11, **{**collective, "dtype": "Mystery", "Group size": 0, "In msg nelems": -5}),
            kernel(12, **{**collective, "dtype": "Long", "In msg nelems": 2**63, "Out msg nelems": 2**61 - 1}),
            kernel(12.5, **{"graph id": 4, "graph node id": 17179869185, "channel": 3, "channel_type": 1}),
            cpu_op(4, "triton_poi_fused_0", kernel_file="/tmp/x.py", kernel_kwargs="XBLOCK=4", num_warps=8, grid="(4,)"),
            cpu_op(5, "aten::add", **{"Call stack": "a.py(1): f;b.py(2): g", "Module Hierarchy": "Net.fc"}),
            kernel(13, grid=[16, 2], block=[1, 1, 2**32 - 2], priority=-5, occupancy=occupancy,
                   **{"registers per thread": 255, "shared memory": 1024, "blocks per SM": 0.5, "warps per SM": 4,
                      "est. achieved occupancy %": 50}),
            {"ph": "X", "cat": "kernel", "name": "bare", "pid": 0, "tid": 7, "ts": 14, "dur": 1},
            sync(20, "Stream Wait Event", 7, stream=7, correlation=5, device=0, wait_on_stream=20,
                 wait_on_cuda_event_record_corr_id=4, wait_on_cuda_event_id=99),
            sync(21, "Event Sync", 7, stream=-1, correlation=6, device=1, wait_on_stream=-1,
                 wait_on_cuda_event_record_corr_id=-1, wait_on_cuda_event_id="N/A"),
            sync(22, "Stream Sync", 1000007, correlation=7),
            sync(23, "Context Sync", -1, stream="INVALID", device=0, correlation=8, event_id=3),
            sync(24, "Something Else", 7),
            {"ph": "X", "cat": "cuda_event", "name": "cudaEvent", "pid": 0, "tid": 7, "ts": 25, "dur": 1,
             "args": {"event_id": 99, "stream": 20, "correlation": 4, "device": 0, "context": 1}},
            counter(30, "sm__cycles_active.avg", "GPU 1 Counters", value=12.25),
            counter(29, "sm__cycles_active.avg", "GPU 1 Counters", value=11),
            counter(31, "queue", 9, depth=3, **{"in flight": -2.5}),
            counter(32, "power", 9, device=2, power=700),
            counter(33, "words", 9, text="many", nothing=None),
            memory(40, **{"Addr": 2**63 + 5, "Bytes": 512, "Device Type": 1, "Device Id": 0, "Total Allocated": 1024,
                          "Total Reserved": 4096}),
            memory(41, **{"Addr": 77, "Bytes": -16, "Device Type": 0, "Device Id": -1, "Total Allocated": 8}),
            memory(42, **{"Bytes": 4, "Device Type": 6, "Device Id": 3}),
            {"ph": "i", "name": "Record Window End", "pid": "", "tid": "", "ts": 50, "s": "g"},
        ],
        "host_name": "node\u00e9 7",
        "distributedInfo": {"rank": 3, "world_size": 4, "pg_config": [
            {"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": 4, "ranks": [0, 1, 2, 3]},
            {"pg_name": "7", "pg_desc": "dp", "pg_size": 2, "ranks": "[0, 2]"},
        ]},
    }


# Blanks and lines as Kineto, json.dump and others write them.
LAYOUTS = {"dump": {}, "indented": {"indent": 1}, "compact": {"separators": (",", ":")}}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("fact", ["all together", *TABLES])
def test_facts_of_a_made_trace(layout, fact, tmp_path, dump_rows):
    path = tmp_path / "made.json"
    document = made_trace()
    document["traceEvents"] *= 3  # from the second time on they are as usual
    path.write_text(json.dumps(document, **LAYOUTS[layout]))
    found, reader = check_facts(path, dump_rows, *(TABLES if fact == "all together" else [fact]))
    meta = found["meta"][0]
    assert (meta["host"], meta["rank"], meta["world_size"]) == ("node\u00e9 7", 3, 4)
    if fact in ("comms", "all together"):
        assert found["groups"] == reader.groups
    if fact == "all together":
        assert meta["skipped_events"] == reader.skipped


def test_the_made_trace_has_every_table():
    tables = torch_facts.Reader(made_trace()).tables
    assert {name for name, rows in tables.items() if not rows} == {"calls", "ranges", "overheads", "copies"}


def test_the_samples_have_most_facts():
    """What the comparisons above compare."""
    rows = {}
    for path in sorted((DATA / "torch").glob("*.json.gz")):
        for name, found in expected_rows(path).tables.items():
            rows[name] = rows.get(name, 0) + len(found)
    lacking = {name for name, found in rows.items() if not found}
    assert lacking == {"syncs", "event_records", "driver_work", "graph_ops", "launch_details"}


# ---- today's releases and other accelerators ----


@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"separators": (",", ":")}], ids=["lines", "indented", "packed"])
def test_limits_nodes_and_channels_are_the_same_in_every_layout(layout, tmp_path, dump_rows):
    """Often enough that the fast reader knows them, with objects that change and some that are odd."""
    limits = {"activeBlocksPerMultiprocessor": 2, "limitingFactors": "REGS|SMEM", "blockLimitRegs": 2,
              "blockLimitWarps": 8}
    odd = [{}, {"limitingFactors": ""}, {"blockLimitRegs": "12"}, {"limitingFactors": 'a"b'}, {"unknown": {"a": [1]}},
           {"blockLimitRegs": 7, "limitingFactors": "WARPS"}]
    events = []
    for i in range(400):
        more = {"graph id": i % 3, "graph node id": (i % 3 << 32) + i if i % 3 else 0, "channel": i % 5,
                "channel_type": 1, "grid": [i % 7 + 1, 1, 1], "block": [32, 1, 1], "priority": -(i % 2)}
        more["occupancy"] = odd[i // 10 % len(odd)] if i % 10 == 3 else {**limits, "blockLimitRegs": i % 4}
        events.append(kernel(i * 10, **more))
        if i % 4 == 0:
            events.append({**kernel(i * 10 + 5, bytes=64, **{"graph id": 2, "graph node id": 3 + i}),
                           "cat": "gpu_memcpy", "name": "Memcpy DtoD (Device -> Device)"})
        events.append(cpu_op(i * 10, "triton_0", **({"kernel_file": f"/x/{i % 3}.py", "num_warps": 4} if i % 2 else {}),
                             **({"Call stack": "a.py(1): f;b.py(2): g"} if i % 5 == 0 else {})))
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}, **layout))
    for threads in (1, 3):
        found, _ = check_facts(path, dump_rows, *TABLES, threads=threads)
        assert len(found["launch_details"]) == 500 and len(found["operator_details"]) == 240


ODD_CONFIGS = [{"registers per thread": "many"}, {"registers per thread": -1}, {"registers per thread": 2**33}, {"grid": "[4, 5, 6]"},
               {"grid": [1, 2]}, {"grid": [1, "x", 3]}, {"block": 7}, {"block": [2**33, 1, 1]}, {"shared memory": "1 KB"},
               {"blocks per SM": "few"}, {"warps per SM": None}, {"grid": {"x": 1}}, {"occupancy": 5},
               {"occupancy": {"blockLimitRegs": -3}}, {"occupancy": {"blockLimitRegs": 2**40}}, {"grid": []}]
ODD_ARGUMENTS = [{"Input Dims": "none"}, {"Input Dims": 5}, {"Input type": {"a": 1}}, {"Input Strides": "[]"},
                 {"Concrete Inputs": ["}"]}, {"Sequence number": "five"}, {"Fwd thread id": -2}, {"Input Dims": []}]


def test_odd_values_are_the_same_in_every_layout(tmp_path, dump_rows):
    """Among so many usual ones that the fast reader knows them: what it cannot read it leaves to the other."""
    events = []
    for i in range(480):
        config = {"registers per thread": 32 + i % 3, "shared memory": 1024, "blocks per SM": 0.5, "warps per SM": 4,
                  "grid": [i % 7 + 1, 1, 1], "block": [32, 1, 1]}
        arguments = {"Input Dims": [[i % 3, 2]], "Input type": ["float"], "Input Strides": [[2, 1]], "Concrete Inputs": [""]}
        if i % 10 == 7:
            config.update(ODD_CONFIGS[i // 10 % len(ODD_CONFIGS)])
            arguments.update(ODD_ARGUMENTS[i // 10 % len(ODD_ARGUMENTS)])
        events += [kernel(10 * i, **config), cpu_op(10 * i, "aten::mm", **arguments)]
    events += [sync(6000, "Stream Sync", "none"), sync(6001, "Nothing", -7), {**sync(6002, "", 7), "pid": "x"}]
    events += [{"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "pid": 9, "tid": 10, "ts": 6010},
               {"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": "x", "pid": 9, "tid": 10, "ts": 6011},
               {"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": 5, "pid": 9, "tid": 10, "ts": "late"}]
    dumps = []
    for layout in LAYOUTS.values():
        path = tmp_path / "trace.json"
        path.write_text(json.dumps({"traceEvents": events}, **layout))
        rows = dump_rows(path)
        for row in rows["operator_args"]:  # texts are as they are written
            row.update({key: row[key] and row[key].replace(" ", "").replace("\n", "") for key in TEXTS_OF_VALUES})
        for table, key in (("meta", "read_bytes"), ("fact_issues", "first_offset")):  # are of the text
            for row in rows[table]:
                row.pop(key)
        dumps.append(rows)
    assert dumps[0] == dumps[1] == dumps[2]
    configs = dumps[0]["kernel_configs"]
    assert len(configs) == 480 and sum(row["registers"] is None for row in configs) == 9
    issues = {row["id"]: row["count"] for row in dumps[0]["issues"]}
    assert issues["number_unreadable"] > 30 and issues["event_damaged"] == 1


def test_distributed_info_after_the_events(dump_rows):
    dumped = dump_rows(DATA / "limits.json", facts="comms")
    assert (dumped["meta"][0]["rank"], dumped["meta"][0]["world_size"], dumped["meta"][0]["host"]) == (3, 8, "node17")
    groups = {(row["name"], row["description"], row["size"], row["ranks"]) for row in dumped["comm_groups"]}
    assert groups == {("0", "default_pg", 8, "[0, 1, 2, 3, 4, 5, 6, 7]"), ("1", "mesh_tp", 2, "[2, 3]")}


def test_rows_shown_beside_their_stream(dump_rows):
    found = resolve(dump_rows(DATA / "limits.json", facts="ops,ranges,syncs"))
    assert {row["lane"] for row in found["ops"]} == {(0, 7)}
    assert {row["lane"] for row in found["ranges"] if row["kind"] == "gpu"} == {(0, 7)}
    assert {(row["device"], row["stream"], row["kind"]) for row in found["syncs"]} == {(0, 7, "stream")}


def ascend_ops(path):
    """Work of the processes of that name, wherever their names are in the file."""
    events = json.loads(path.read_text())
    named = {(e["name"], e["pid"], e["tid"]): e["args"] for e in events if e["ph"] == "M"}
    ops = []
    for event in events:
        process = named.get(("process_name", event["pid"], 0), {}).get("name", "")
        if event["ph"] != "X" or process != "Ascend Hardware" or "cat" in event:
            continue
        stream = named.get(("thread_name", event["pid"], event["tid"]), {}).get("name", "")
        words = stream.split() if stream.startswith("Stream ") else (None, event["tid"])
        start = torch_facts.nanoseconds(event["ts"])
        ops.append({"start_ns": start, "end_ns": start + torch_facts.nanoseconds(event["dur"]), "correlation": None,
                    "name": event["name"], "lane": (6, event["args"].get("Stream Id", int(words[1]))), "flags": 0,
                    "kind": "memcpy" if "MEMCPY" in event["name"] else "kernel"})
    return ops


@pytest.mark.parametrize("threads", [1, 4])
def test_work_of_an_ascend_npu(threads, dump_rows):
    path = DATA / "ascend.json"
    dumped = dump_rows(path, facts="ops,ranges,cpu_ops", threads=threads)
    found = resolve(dumped)
    assert found["ops"] == ascend_ops(path) and len(found["ops"]) == 9
    assert dumped["devices"][0]["name"] == "Ascend NPU"
    assert [(row["id"], row["count"]) for row in dumped["issues"]] == [("other_accelerator", 9)]
    assert len(found["ranges"]) == len(found["cpu_ops"]) == 3
    assert dumped["meta"][0]["skipped_events"] == 6


def test_ways_to_name_an_ascend_npu(tmp_path, dump_rows):
    """By a number in the name, by one in the label, and else by the order; streams by argument, by name and by thread."""
    def named(kind, key, pid, text, tid=0):
        return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {key: text}}

    def work(pid, tid, ts, name="MatMul", **more):
        return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": 2, **more}

    events = [
        named("process_name", "name", 1, "Ascend Hardware 6"), named("process_labels", "labels", 1, "NPU 2"),
        named("process_name", "name", 2, "Ascend Hardware"), named("process_labels", "labels", 2, "NPU 4"),
        named("process_name", "name", 3, "Ascend Hardware"), named("process_labels", "labels", 3, "NPU"),
        named("process_name", "name", 3, "Ascend Hardware 9"),  # a second name is none
        named("process_name", "name", 8, "Python"), named("thread_name", "name", 8, "Stream 5", 1),
        named("thread_name", "name", 1, "Stream 33", 1), named("thread_name", "name", 2, "Stream", 1),
        work(1, 1, 10), work(2, 1, 20, "aclrtMemset"), work(3, 7, 30, "MEMCPY_ASYNC", args={"Stream Id": 12}), work(8, 1, 40),
        work(1, 1, 9.3e15), work("x", 1, 50), work(1, "y", 60), work(1, 1, "z"), work(1, 1, 70, dur="long"), work(1, 1, 80, cat=""),
    ]
    path = tmp_path / "npu.json"
    path.write_text(json.dumps({"traceEvents": events}, indent=1))
    rows = dump_rows(path)
    lanes = [(rows["devices"][row["device"]]["id"], row["stream"]) for row in rows["lanes"]]
    found = {row["start_ns"] // 1000: (row["kind"], *lanes[row["lane"]]) for row in rows["ops"]}
    assert found[10] == ("kernel", 6, 33) and found[20] == ("memset", 4, 1) and found[30][:2] == ("memcpy", 2)
    assert 40 not in found and {name["name"] for name in rows["devices"]} == {"Ascend NPU"}
    assert {row["id"]: row["count"] for row in rows["issues"]}["other_accelerator"] == len(found)


def test_a_large_ascend_trace_does_not_depend_on_threads(tmp_path, dump_rows):
    events = []
    for i in range(12000):
        events.append({"ph": "X", "name": f"op{i % 50}", "pid": 2 + i % 3, "tid": i % 7, "ts": f"{i * 10}.125", "dur": 4.5,
                       "args": {"Task Type": "AI_CORE", "Stream Id": i % 4, "Task Id": i}})
    events += [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
               for pid, name in ((2, "Ascend Hardware"), (3, "CANN"), (4, "Ascend Hardware"))]
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(events))
    one, many = (resolve(dump_rows(path, facts="ops", threads=threads)) for threads in (1, 4))
    assert len(one["ops"]) == 8000 and one["ops"] == many["ops"]
    assert {row["lane"][0] for row in one["ops"]} == {0, 1}
