"""Findings of a part of a trace, of several processes, and of files that were only partly read."""

import json

import pytest
from finding_traces import Trace, findings_of


def steps_with_late_launches(trace, steps, process=1, device=0, gap=50, length=50):
    """Steps of 10 kernels, each launched `gap` us after the one before has ended."""
    for step in range(steps):
        start = step * 10 * (gap + length)
        trace.event("user_annotation", f"ProfilerStep#{step}", start, 10 * (gap + length), pid=process, tid=process)
        for number in range(10):
            at = start + gap + number * (gap + length)
            trace.correlation += 1
            trace.event("cuda_runtime", "cudaLaunchKernel", at - 2, 1, pid=process, tid=process, correlation=trace.correlation)
            trace.event("kernel", f"kernel_{number}", at, length, device, 7, device=device, stream=7,
                        correlation=trace.correlation)


@pytest.mark.parametrize("selection, steps", [((), 10), (("--step", "2"), 1), (("--step", "2-5"), 4)])
def test_what_a_step_saves_is_counted_over_the_steps_selected(gputime, tmp_path, selection, steps):
    trace = Trace()
    steps_with_late_launches(trace, 10)
    bound = findings_of(gputime, trace.write(tmp_path), *selection)["host_bound"]
    assert bound["recoverable_step_ns"] == bound["recoverable_ns"] // steps
    assert 440_000 <= bound["recoverable_step_ns"] <= 510_000


def test_processes_on_their_own_gpus_save_as_much_a_step_as_one(gputime, tmp_path):
    trace = Trace()
    for process in range(4):
        steps_with_late_launches(trace, 10, process + 1, process)
    bound = findings_of(gputime, trace.write(tmp_path))["host_bound"]
    assert bound["recoverable_step_ns"] == bound["recoverable_ns"] // 10


def test_waits_of_threads_that_launch_nothing_are_no_sync_waits(gputime, tmp_path):
    trace = Trace()
    steps_with_late_launches(trace, 10)
    trace.event("cuda_runtime", "cudaEventSynchronize", 100, 9000, tid=99)
    assert "sync_waits" not in findings_of(gputime, trace.write(tmp_path))


def test_waits_outside_of_the_selection_are_not_counted(gputime, tmp_path):
    trace = Trace()
    steps_with_late_launches(trace, 10)
    for step in range(5, 9):
        trace.call("cudaDeviceSynchronize", step * 1000 + 951, 40)
    assert "sync_waits" not in findings_of(gputime, trace.write(tmp_path), "--step", "2")


def test_steps_with_the_largest_number_are_steps(gputime, tmp_path):
    trace = Trace()
    steps_with_late_launches(trace, 5)
    for event in trace.events:
        if event["name"] == "ProfilerStep#4":
            event["name"] = f"ProfilerStep#{2**63 - 1}"
    assert findings_of(gputime, trace.write(tmp_path))["host_bound"]


def test_a_doubt_is_said_however_much_evidence_there_is(gputime, tmp_path):
    trace = Trace()
    steps_with_late_launches(trace, 40)
    path = trace.write(tmp_path)
    whole = findings_of(gputime, path)["host_bound"]
    text = json.dumps({"traceEvents": trace.events})
    path.write_text(text[: len(text) * 9 // 10])
    doubted = findings_of(gputime, path)["host_bound"]
    assert whole["severity"] == "high" and doubted["severity"] == "medium"
    assert any(sentence.startswith("Less certain") for sentence in doubted["evidence"])
