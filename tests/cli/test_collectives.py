"""Collectives of real traces: counts, bytes, time and bandwidth, against a plain reading of the JSON."""

import ast
import gzip
import json
from collections import defaultdict

import pytest
from kineto_by_hand import Trace
from samples import with_shared

TRACES = with_shared([], "data/h200/ranks/*_rank[02].json.gz")
REPORTS = with_shared([], "data/h200/ranks/nsys/rank1.nsys-rep")
EXPORTS = with_shared([], "data/h200/ranks/nsys/rank1.sqlite")
OPERATIONS = {"allreduce": "all_reduce", "_allgather_base": "all_gather", "_reduce_scatter_base": "reduce_scatter",
              "all_to_allv": "all_to_all"}
BYTES = {"Byte": 1, "BFloat16": 2, "Float": 4}
WHOLE_RING = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1}


def load(args, operator, sent, received):
    """What a rank of an all_to_all has to move: to others, or from them."""
    splits = [ast.literal_eval(args[key]) for key in ("In split size", "Out split size")]
    own = operator["Rank"]
    return max(size - size * parts[own] // sum(parts) for size, parts in zip((sent, received), splits))


def plain(path):
    """By operation and group: count, bytes, time and bytes on the bus, and the fastest."""
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    operators = {event["args"]["External id"]: event["args"] for event in events
                 if event.get("name") == "record_param_comms"}
    sums = defaultdict(lambda: [0, 0, 0.0, 0.0, 0.0])
    for event in events:
        args = event.get("args", {})
        if event.get("cat") != "kernel" or "Collective name" not in args:
            continue
        name = OPERATIONS.get(args["Collective name"], args["Collective name"])
        width, size, time_ns = BYTES[args["dtype"]], args["Group size"], event["dur"] * 1000
        sent, received = args["In msg nelems"] * width, args["Out msg nelems"] * width
        on_bus = {"all_gather": received, "all_to_all": None}.get(name, sent)
        if name == "all_to_all":
            on_bus = load(args, operators[args["External id"]], sent, received)
        elif name in WHOLE_RING:
            on_bus *= WHOLE_RING[name] * (size - 1) / size
        of = sums[name, args["Process Group Name"]]
        of[0] += 1
        of[1] += received if name == "reduce_scatter" else sent
        of[2] += time_ns
        of[3] += on_bus
        of[4] = max(of[4], on_bus / time_ns)
    return sums


@pytest.mark.parametrize("path", TRACES)
def test_a_plain_reading_agrees(gputime, path):
    expected = plain(path)
    assert expected
    for row in gputime.json(path)["tables"]["collectives"]["rows"]:
        count, size, time_ns, on_bus, best = expected.pop((row["name"], row["group"]))
        assert (row["count"], row["bytes"]) == (count, size)
        assert row["time_ns"] == pytest.approx(time_ns, abs=count)
        if on_bus:
            assert row["busbw"] == pytest.approx(on_bus / time_ns, rel=1e-4)
            assert row["best_busbw"] == pytest.approx(best, rel=1e-4)
        else:
            assert row["busbw"] is None and row["best_busbw"] is None
    assert not expected


@pytest.mark.parametrize("path", REPORTS)
def test_every_kernel_of_nccl_belongs_to_a_call(gputime, path):
    document = gputime.json(path, "--top", "0")
    kernels = [row for row in document["tables"]["kernels"]["rows"] if row["name"].startswith("nccl")]
    rows = document["tables"]["collectives"]["rows"]
    assert all(row["time_ns"] for row in rows)
    # Kernels of messages carry both directions and count in both rows.
    messages = {row["communicator"] for row in rows if row["name"] == "send"}
    alone = sum(row["time_ns"] for row in rows if row["name"] not in ("send", "recv"))
    assert messages and alone == sum(row["total_ns"] for row in kernels if "SendRecv" not in row["name"])


@pytest.mark.parametrize("path", REPORTS)
def test_a_missing_bandwidth_has_a_reason(gputime, path):
    assert b"does not say how many ranks their groups have" in b" ".join(gputime("summary", path).stdout.split())


@pytest.mark.parametrize("path", EXPORTS)
def test_an_export_without_payloads_says_how_to_get_them(gputime, path):
    assert b"--include-blobs=true" in gputime("summary", path).stdout
    assert gputime.json(path)["tables"]["collectives"]["rows"] == []


@pytest.mark.parametrize("left", ["external", "calls", "sequences"])
def test_records_of_one_collective_are_joined(gputime, tmp_path, left):
    """By the same id; else the launch call lies in the operator, or group and number are the same."""
    trace = Trace()
    for number in range(6):
        at, name = 1000 + 300 * number, ("allreduce", "send")[number % 2]
        record = {"Collective name": name, "In msg nelems": 1024, "Out msg nelems": 1024, "Group size": 2, "dtype": "Float",
                  "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Seq": number // 2}
        trace.event("cpu_op", "record_param_comms", at, 10, **record, **{"External id": number + 1, "Rank": 0, "Global rank start": 0})
        if left == "external":
            record["External id"] = number + 1
        trace.op(at + 50, 40, f"ncclDevKernel_{('AllReduce_Sum_f32_RING_LL', 'SendRecv')[number % 2]}(x)", launched=at + 2, **record)
    if left == "calls":
        for event in trace.events:
            event["args"].pop("Seq", None)
    if left == "sequences":
        trace.events = [event for event in trace.events if event["cat"] != "cuda_runtime"]
    rows = gputime.json(trace.write(tmp_path))["tables"]["collectives"]["rows"]
    assert [(row["name"], row["count"], row["bytes"], row["time_ns"]) for row in rows] == [
        ("all_reduce", 3, 3 * 4096, 120000), ("send", 3, 3 * 4096, 120000)]
