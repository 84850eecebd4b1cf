"""Chrome traces that are not written as Kineto writes them: work in two halves, of rocprof, of Ascend's communication."""

import json
import random

import pytest


def write(path, events):
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def named(pid, name, tid=0, kind="process_name"):
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}}


def issues(rows):
    return {row["id"]: row["count"] for row in rows["issues"]}


def ops_of(rows):
    strings = [(rows["devices"][lane["device"]]["id"], lane["stream"]) for lane in rows["lanes"]]
    return [(*strings[op["lane"]], op["start_ns"], op["end_ns"], op["kind"], op["name"]) for op in rows["ops"]]


# ---- begins and ends ----


def begin(name, ts, cat="kernel", stream=7, **args):
    return {"ph": "B", "cat": cat, "name": name, "pid": 0, "tid": stream, "ts": ts, "args": {"device": 0, "stream": stream, **args}}


def end(ts, stream=7, **more):
    return {"ph": "E", "pid": 0, "tid": stream, "ts": ts, **more}


def test_begins_and_ends_are_ops(tmp_path, dump_rows):
    """Ends have a name and a category or nothing; of what is nested, the inner one ends first."""
    path = write(tmp_path / "halves.json", [
        begin("a", 1, correlation=5), end(3, cat="kernel", name="a"), begin("b", 3), begin("c", 4), end(5), end(9),
        begin("Memcpy HtoD (Pageable -> Device)", 10, "gpu_memcpy", bytes=64), end(12), begin("Memset", 13, "gpu_op"), end(14),
        begin("d", 2, stream=8), end(2.5, stream=8), begin("e", 20, "npu_kernel", stream=9), end(21, stream=9)])
    rows = dump_rows(path, facts="ops,bytes,correlation")
    assert sorted(ops_of(rows)) == [
        (0, 7, 1000, 3000, "kernel", "a"), (0, 7, 3000, 9000, "kernel", "b"), (0, 7, 4000, 5000, "kernel", "c"),
        (0, 7, 10000, 12000, "memcpy", "Memcpy HtoD (Pageable -> Device)"), (0, 7, 13000, 14000, "memset", "Memset"),
        (0, 8, 2000, 2500, "kernel", "d"), (0, 9, 20000, 21000, "kernel", "e")]
    assert [row["bytes"] for row in rows["copies"]] == [64] and issues(rows) == {"other_accelerator": 1}
    assert [row["correlation"] for row in rows["ops"] if row["name"] == "a"] == [5]


def test_halves_without_a_partner(tmp_path, dump_rows):
    path = write(tmp_path / "open.json", [end(1), begin("a", 2), begin("b", 3), end(4), begin("c", 5, stream=8),
                                          {"ph": "B", "cat": "other", "name": "x", "pid": 0, "tid": 7, "ts": 6},
                                          {"ph": "B", "name": "y", "pid": 0, "tid": 9, "ts": 6}, end(7, stream=9)])
    rows = dump_rows(path, facts="ops")
    assert ops_of(rows) == [(0, 7, 3000, 4000, "kernel", "b")] and issues(rows) == {"event_damaged": 2}


@pytest.mark.parametrize("order", ["by time", "shuffled"])
def test_halves_do_not_depend_on_threads(tmp_path, dump_rows, order):
    events = []
    for i in range(12000):
        stream = i % 5
        events += [begin(f"k{i % 40}", f"{i * 10}.25", stream=stream, correlation=i), end(f"{i * 10 + 4}.5", stream)]
    if order == "shuffled":
        random.Random(3).shuffle(events)
    path = write(tmp_path / "many.json", events)
    one, many = (ops_of(dump_rows(path, facts="ops", threads=threads)) for threads in (1, 4))
    assert one == many and len(one) == 12000
    assert sorted(one)[:1] == [(0, 0, 250, 4500, "kernel", "k0")]


# ---- categories that nobody knows ----


def test_events_of_devices_that_are_not_read_are_counted(gputime, tmp_path, dump_rows):
    events = [{"ph": "X", "cat": "new_work", "name": "k", "pid": 0, "tid": 7, "ts": i, "dur": 0.5,
               "args": {"device": 0, "stream": 7, "correlation": i}} for i in range(50)]
    events += [{"ph": "X", "cat": "new_work", "name": "k", "pid": 0, "tid": 7, "ts": i, "dur": 0.5,
                "args": {"device": 0, "note": "stream"}} for i in range(50)]
    path = write(tmp_path / "new.json", events)
    for threads in (1, 3):
        assert issues(dump_rows(path, facts="ops", threads=threads)) == {"device_events_not_read": 50}
    report = gputime.json(path)
    assert {issue["id"] for issue in report["issues"]} == {"device_events_not_read"}
    assert gputime(path, "--strict").returncode == 1


# ---- rocprof ----


def rocprof(name, number, **args):
    exact = {"BeginNs": str(number * 10000 + 7), "EndNs": str(number * 10000 + 5009), "dev-id": "0", "queue-id": "1"}
    return {"ts": number * 10, "dur": 5, "ph": "X", "pid": 6, "tid": 1, "name": name, "args": {**exact, "Name": name, **args}}


def test_the_json_of_rocprof(gputime, tmp_path, dump_rows):
    """Its events have whole microseconds, and ns as args; a process for each GPU is named by a number and the GPU."""
    other = {"ts": 9, "dur": 1, "ph": "X", "pid": 2, "tid": 1, "name": "hipLaunchKernel", "args": {"BeginNs": "9000", "EndNs": "9900"}}
    path = write(tmp_path / "results.json", [
        named(2, "0 CPU HIP API"), named(6, "1 GPU3"), rocprof("gemm", 1), rocprof("CopyHostToDevice", 2), rocprof("FillBuffer", 3),
        {**rocprof("bare", 4), "args": {}}, other, {"ph": "s", "cat": "DataFlow", "id": 1, "pid": 2, "tid": 1, "ts": 9, "name": "dep"}])
    rows = dump_rows(path, facts="ops")
    assert ops_of(rows) == [(3, 1, 10007, 15009, "kernel", "gemm"), (3, 1, 20007, 25009, "memcpy", "CopyHostToDevice"),
                            (3, 1, 30007, 35009, "memset", "FillBuffer"), (3, 1, 40000, 45000, "kernel", "bare")]
    assert rows["devices"][0]["name"] == "AMD GPU" and issues(rows) == {}
    report = gputime.json("findings", path)
    assert "Nsight" not in json.dumps(report["findings"])


# ---- Ascend ----


def ascend(pid, tid, name, ts, dur=10):
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": {"connection_id": ts}}


def test_collectives_of_an_ascend_npu(gputime, tmp_path, dump_rows):
    """They are on streams of their own; the tasks that they are made of are not read."""
    path = write(tmp_path / "trace_view.json", [
        named(12, "Communication"), named(10, "Ascend Hardware"), named(10, "Stream 3", 3, "thread_name"),
        ascend(10, 3, "MatMulV2", 0), ascend(12, 3, "hcom_allReduce__123_0", 20, 30), ascend(12, 9, "Notify_Wait", 20, 5),
        ascend(12, 4, "hcom_broadcast__9_1", 60)])
    rows = dump_rows(path, facts="ops")
    assert ops_of(rows) == [(0, 3, 0, 10000, "kernel", "MatMulV2"), (0, 4, 20000, 50000, "kernel", "hcom_allReduce__123_0"),
                            (0, 5, 60000, 70000, "kernel", "hcom_broadcast__9_1")]
    assert issues(rows) == {"other_accelerator": 3}
    parts = gputime.json(path)["tables"]["accounting"]["rows"][0]
    assert (parts["exposed_comm_ns"], parts["idle_ns"]) == (40000, 20000)


def test_collectives_of_several_ascend_npus(tmp_path, dump_rows):
    def labels(pid, text):
        return {"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": text}}

    path = write(tmp_path / "trace_view.json", [
        named(1, "HCCL"), named(2, "Ascend Hardware 6"), named(3, "Communication"), named(4, "Ascend Hardware 2"),
        named(5, "Communication"), labels(5, "NPU 6"), *(ascend(pid, 1, "hcom_allGather_", 10 * pid) for pid in range(1, 6))])
    assert [(device, start // 10000) for device, _, start, *_ in ops_of(dump_rows(path, facts="ops"))] == \
        [(6, 1), (6, 2), (6, 3), (2, 4), (6, 5)]


def test_communication_without_an_npu_is_nothing(tmp_path, dump_rows):
    path = write(tmp_path / "other.json", [named(1, "Communication"), ascend(1, 1, "hcom_allGather_", 10)])
    assert dump_rows(path, facts="ops")["ops"] == []
