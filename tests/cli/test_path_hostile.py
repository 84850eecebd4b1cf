"""Traces that make no sense, for the critical path: as many streams, threads, processes, steps or waits as there are
events, clocks that are wrong, everything at one time. Both laws hold, and what cannot be explained is refused."""

import gzip
import json
import random

import pytest

from samples import DATA
from test_path import Trace, check_laws, record_event, rows, wait_event

MANY = 1500


def shuffled(trace):
    """Clocks that are wrong everywhere."""
    pick = random.Random(7)
    names = ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaStreamWaitEvent",
             "cudaEventRecord", "cudaMalloc", "cudaMemcpy")
    for i in range(MANY):
        trace.launch(pick.randrange(MANY), pick.randrange(30), pick.randrange(MANY), pick.randrange(40),
                     stream=pick.randrange(6), tid=pick.randrange(1, 4))
        if i % 10 == 0:
            trace.call(pick.choice(names), pick.randrange(MANY), pick.randrange(60), tid=pick.randrange(1, 4))


def late_gpu_clock(trace):
    """An op seems to end after the synchronization that waited for it, and to run after an op that was launched later
    still: a circle unless an edge is dropped."""
    for i in range(MANY // 2):
        trace.launch(40 * i, 1, 40 * i + 16, 9)
        trace.call("cudaDeviceSynchronize", 40 * i + 2, 10)
        trace.launch(40 * i + 14, 1, 40 * i + 15.5, 0.3)


def no_length(trace):
    for i in range(MANY):
        trace.launch(5, 0, 5, 0, stream=i % 5, tid=1 + i % 3)
        trace.call("cudaDeviceSynchronize", 5, 0, tid=1 + i % 3)


def streams(trace):
    for i in range(MANY):
        trace.launch(3 * i, 1, 3 * i + 1, 1, stream=i)
        trace.call("cudaStreamWaitEvent" if i % 2 else "cudaDeviceSynchronize", 3 * i + 1.5, 0.5)


def threads(trace):
    """Each silent while all others work."""
    for i in range(MANY):
        trace.launch(100 * i, 60, 100 * i + 70, 20, tid=i + 1)


def silent_threads(trace):
    """All silent at the same time."""
    for i in range(MANY // 2):
        trace.launch(i % 100, 1, i + 10, 1, tid=i + 1)
        trace.launch(1_000_000 + i % 100, 1, 1_000_000 + i, 1, tid=i + 1)


def waits_for_each_other(trace):
    for i in range(MANY // 5):
        trace.launch(100 * i, 5, 100 * i + 10, 20, stream=1)
        trace.launch(100 * i + 10, 5, 100 * i + 20, 20, stream=2)
        first, second = trace.correlation + 1, trace.correlation + 4
        record_event(trace, 100 * i + 30)
        wait_event(trace, 100 * i + 29, 1, 2, second)
        wait_event(trace, 100 * i + 28, 2, 1, first)
        record_event(trace, 100 * i + 31)


def waits_for_one_event(trace):
    trace.launch(0, 5, 10, 100, stream=1)
    trace.launch(1, 5, 10, 100, stream=2)
    record = record_event(trace, 6)
    for i in range(MANY):
        wait_event(trace, 8 + i / 1000, 2, 1, record)
    trace.launch(MANY, 5, MANY + 10, 50, stream=2)


def waits_before_launches(trace):
    """Nothing says which streams wait."""
    for i in range(MANY):
        trace.call("cudaStreamWaitEvent", i, 0.5)
    for i in range(MANY):
        trace.launch(MANY + i, 0.5, MANY + i + 1, 0.2, stream=i % 3)


def events_at_one_time(trace):
    for _ in range(2 * MANY):
        trace.add("cpu_op", "op", 1, 5, 0)
    for i in range(10):
        trace.launch(6 + i, 0.5, 7 + i, 0.5)


def launches_at_one_time(trace):
    for i in range(MANY):
        trace.launch(5, 100, 5 + i / 1000, 0.001)


def one_graph_launch(trace):
    pick = random.Random(3)
    trace.call("cudaGraphLaunch", 0, 5)
    for i in range(MANY):
        trace.add("kernel", "k", i % 4, 10 + pick.randrange(MANY), pick.randrange(20), device=0, stream=i % 4,
                  correlation=trace.correlation)


def launch_of_several_streams(trace):
    """A launch call into a stream with a long queue, whose last op is one of the first of another stream."""
    trace.launch(0, 1, 2, 1, stream=1)
    for i in range(MANY):
        trace.launch(4 + 2 * i, 1, 10 + 2 * i, 1, stream=2)
        if i == MANY // 2:
            trace.add("kernel", "k", 1, 10.5 + 2 * i, 1, device=0, stream=1, correlation=trace.correlation)
    trace.launch(4 + 2 * MANY, 1, 10 + 2 * MANY, 1, stream=1)


def unexplained(trace):
    """Every other op begins long after its launch."""
    for i in range(MANY):
        trace.launch(4000 * i, 5, 4000 * i + (10 if i % 2 else 3500), 20, stream=i % 7)


def names_of_calls(trace):
    for i in range(MANY):
        trace.launch(10 * i, 5, 10 * i + 6, 3, call=f"cudaLaunchKernel{i}x")


KINDS = (shuffled, late_gpu_clock, no_length, streams, threads, silent_threads, waits_for_each_other,
         waits_for_one_event, waits_before_launches, events_at_one_time, launches_at_one_time, one_graph_launch,
         launch_of_several_streams, unexplained, names_of_calls)

# What the graph cannot explain: clocks that are wrong, and threads of which nothing says why they went on.
TRUST = {shuffled: "rough", threads: "refused"}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_laws_hold_where_nothing_makes_sense(gputime, tmp_path, kind):
    trace = Trace()
    kind(trace)
    report = check_laws(gputime, trace.write(tmp_path))
    assert report["facts"]["path_nodes"] >= 10
    assert [row["trust"] for row in rows(report, "replay")] == [TRUST.get(kind, "good")]


def test_a_late_gpu_clock_closes_no_circle(gputime, tmp_path):
    trace = Trace()
    late_gpu_clock(trace)
    assert gputime.json("path", trace.write(tmp_path))["facts"]["edges_contradicting"] >= MANY // 2


def test_a_window_for_each_process(gputime, tmp_path):
    trace = Trace()
    for i in range(300):
        trace.launch(10 * i, 5, 10 * i + 6, 3, stream=i)
        trace.events[-2]["pid"] = trace.events[-2]["tid"] = i + 1
    report = check_laws(gputime, trace.write(tmp_path))
    assert [row["wall_ns"] for row in rows(report, "replay")] == [9000] * 300


@pytest.mark.parametrize("length", [9, 0])
def test_a_window_for_each_step(gputime, tmp_path, length):
    """Of some length, one after the other; or all of them empty and at one time."""
    trace = Trace()
    for i in range(400):
        start = 10 * i if length else 5
        trace.add("user_annotation", f"ProfilerStep#{i}", 1, start, length)
        trace.launch(start + length / 9, length / 3, start + length / 3, length / 3)
    path = trace.write(tmp_path)
    report = check_laws(gputime, path)
    steps = [row for row in rows(report, "replay") if row["window"].startswith("step")]
    assert len(steps) == 400
    answers = rows(json.loads(gputime("whatif", "--cpu", "2", "--force", "--json", path).stdout), "whatif")
    answers = [row for row in answers if row["window"].startswith("step")]
    assert [row["window"] for row in answers] == [f"step {i}" for i in range(400)]
    assert [row["base_ns"] for row in answers] == [row["wall_ns"] for row in steps]
    assert all((row["predicted_ns"] < row["base_ns"]) == (length > 0) for row in answers)


def test_the_answer_does_not_depend_on_threads(gputime, tmp_path):
    trace = Trace()
    shuffled(trace)
    path = trace.write(tmp_path)
    one, many = (gputime.json("path", "--threads", threads, path)["tables"] for threads in ("1", "5"))
    assert one == many


@pytest.mark.parametrize("kept", [0.5, 0.97])
def test_a_file_that_is_only_partly_read_is_never_trusted(gputime, tmp_path, kept):
    """The rest fits together well, but what was lost may be what was waited for."""
    whole, cut = tmp_path / "whole.json", tmp_path / "cut.json"
    whole.write_bytes(gzip.decompress((DATA / "torch/llama_train_compiled.json.gz").read_bytes()))
    cut.write_bytes(whole.read_bytes()[:int(kept * whole.stat().st_size)])
    for path, trust in ((whole, "good"), (cut, "rough")):
        report = gputime.json("path", path)
        assert {row["trust"] for row in rows(report, "replay")} == {trust}
        assert {row["trust"] for row in rows(gputime.json("whatif", path), "whatif")} == {trust}


def test_paths_of_nested_ranges_take_room_by_the_trace(gputime, tmp_path):
    """Each of 200 ranges has nearly the whole trace in it: only some get a path, and the report says so."""
    trace = Trace()
    for depth in range(200):
        trace.add("user_annotation", "r", 1, depth / 1000, 10 * MANY + 100 - depth / 500)
    for i in range(MANY):
        trace.launch(10 + 10 * i, 3, 14 + 10 * i, 4)
    path = trace.write(tmp_path)
    report = gputime.json("path", "--range", "r", path)
    windows, nodes = len(rows(report, "path_windows")), report["facts"]["path_nodes"]
    segments = len(rows(report, "critical_path"))
    assert 1 < windows < 200 and windows == len(rows(report, "replay"))
    assert 8 * nodes < segments <= 12 * nodes + 2**16
    for command in ("path", "whatif"):
        text = " ".join(gputime(command, "--range", "r", path).stdout.decode().split())
        assert f"Only the first {windows} ranges of that name have a path: there are too many." in text
