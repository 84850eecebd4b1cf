"""Findings on copies and communication: what is claimed, to the nanosecond, and which code is named."""

import pytest
from kineto_by_hand import US, Trace, findings_of

MB = 10**6
WAITING = ("pageable_copies", "copies_in_line", "exposed_comm")


def only(found, rule):
    """The finding; no other one claims the same time."""
    assert [one for one in WAITING if one in found] == [rule], list(found)
    return found[rule]


def kernels(trace, start, count, length=100, **settings):
    """Back to back, all launched long before."""
    for number in range(count):
        trace.op(start + number * length, length, f"kernel_{'abcdefgh'[number % 8]}", launched=number, **settings)
    return start + count * length


# ---- pageable memory ----


def pageable(trace, size=10 * MB, source="Pageable", call_end=None, **settings):
    """Kernels, a copy alone, kernels. It takes 1000 us; 10 MB of pinned memory 400."""
    end = kernels(trace, 100, 10)
    launched, call_end = end - 500, call_end or end + 1000
    trace.copy(end, 1000, size, source, launched=launched, call_length=call_end - launched, **settings)
    return kernels(trace, end + 1000, 10)


def test_a_copy_of_pageable_memory_alone_is_saved(gputime, tmp_path):
    trace = Trace()
    pageable(trace)
    trace.range("load_weights", 550, 1600)
    finding = only(findings_of(gputime, trace, tmp_path), "pageable_copies")
    assert finding["recoverable_ns"] == 1000 * US and finding["severity"] == "high"
    assert finding["title"] == "'load_weights' copies from pageable memory: 33.3% of the time"
    assert finding["evidence"] == [
        "1 copy moved 10 MB between pageable memory and the GPU (host to device) in 1 ms, at 10.0 GB/s.",
        "Nothing else ran for 1 ms.",
        "Pinned memory would reach about 25.0 GB/s, and compute can hide the copies.",
        "The calls block the CPU for 1.5 ms: the driver copies pageable memory to a buffer of its own first.",
        "Longest: 1 ms, 'Memcpy HtoD (Pageable -> Device)' by cudaMemcpyAsync."]


@pytest.mark.parametrize("settings", [{"size": 255_999}, {"source": "Pinned", "stream": 9}], ids=str)
def test_what_is_small_or_pinned_is_no_pageable_copy(gputime, tmp_path, settings):
    trace = Trace()
    pageable(trace, **settings)
    assert "pageable_copies" not in findings_of(gputime, trace, tmp_path)


def test_the_operator_is_named_where_there_is_no_range(gputime, tmp_path):
    trace = Trace()
    pageable(trace)
    for index, name in enumerate(["my_ops::load", "aten::to", "aten::_to_copy", "aten::copy_"]):
        trace.operator(name, 590 + index, 1600 - 2 * index)
    assert only(findings_of(gputime, trace, tmp_path), "pageable_copies")["title"].startswith("'aten::to' copies from")


def test_copies_that_nothing_names_are_the_subject_themselves(gputime, tmp_path):
    trace = Trace()
    pageable(trace)
    finding = only(findings_of(gputime, trace, tmp_path), "pageable_copies")
    assert finding["title"] == "Copies from pageable memory keep the GPU waiting: 33.3% of the time"


def test_a_copy_under_compute_costs_nothing(gputime, tmp_path):
    trace = Trace()
    kernels(trace, 100, 30)
    trace.copy(1000, 1000, 10 * MB, "Pageable", launched=900, stream=9)
    assert not set(WAITING) & set(findings_of(gputime, trace, tmp_path))


def test_before_the_first_compute_only_the_slowness_of_pageable_memory_is_saved(gputime, tmp_path):
    trace = Trace()
    trace.copy(100, 1000, 10 * MB, "Pageable", launched=50, call_length=1050)
    kernels(trace, 1100, 20)
    finding = only(findings_of(gputime, trace, tmp_path), "pageable_copies")
    assert finding["recoverable_ns"] == (1000 - 400) * US
    assert "400 us would remain that no compute can hide" in finding["evidence"][2]


def test_compute_hides_no_more_than_its_own_length(gputime, tmp_path):
    trace = Trace()
    trace.op(100, 100, launched=1)
    trace.copy(200, 1000, 10 * MB, "Pageable", launched=150, call_length=1050)
    trace.op(1200, 100, launched=2)
    finding = only(findings_of(gputime, trace, tmp_path), "pageable_copies")
    assert finding["recoverable_ns"] == (1000 - (400 - 200)) * US


def test_the_speed_of_pinned_copies_in_the_trace_counts(gputime, tmp_path):
    trace = Trace()
    trace.copy(100, 1000, 10 * MB, "Pageable", launched=50, call_length=1050)
    end = kernels(trace, 1100, 20)
    trace.copy(end, 200, 10 * MB, launched=60, stream=9)  # 50 GB/s
    finding = only(findings_of(gputime, trace, tmp_path), "pageable_copies")
    assert finding["recoverable_ns"] == (1000 - 200) * US
    assert finding["evidence"][2].startswith("Pinned memory reaches 50.0 GB/s;")


def test_gaps_that_the_call_causes_are_part_of_it(gputime, tmp_path):
    """The call stages for 200 us before the copy starts, and the CPU needs 300 us after it to launch again."""
    trace = Trace()
    end = kernels(trace, 100, 10)
    trace.copy(end + 300, 1000, 10 * MB, "Pageable", launched=end + 100, call_length=1200)
    trace.op(end + 1600, 1000, launched=end + 1598)
    finding = only(findings_of(gputime, trace, tmp_path), "pageable_copies")
    assert finding["recoverable_ns"] == (200 + 1000 + 300) * US
    assert finding["evidence"][1] == "Nothing else ran for 1 ms, and the GPU was idle for 500 us more because of their calls."


# ---- copies in line ----


def checkpoint(trace, target="Pageable", gap=50, size=5 * MB, inner=True):
    """Ten copies to the host after each other, in the range save, then compute again."""
    end = kernels(trace, 100, 10)
    start = end
    for number in range(10):
        if inner:
            trace.range(f"parameter {number}", end - 4, 204)
        end = trace.copy(end, 200, size, "Device", target, launched=end - 2, call_length=202) + gap
    trace.range("save", start - 5, end - start)
    return kernels(trace, end - gap, 30)


def test_a_checkpoint_is_named_by_the_range_around_all_copies(gputime, tmp_path):
    trace = Trace()
    checkpoint(trace)
    finding = only(findings_of(gputime, trace, tmp_path), "copies_in_line")
    assert finding["recoverable_ns"] == (10 * 200 + 9 * 50) * US
    assert finding["title"] == "'save' moves 50 MB to the CPU while nothing computes: 38.0% of the time"
    assert finding["evidence"][0] == (
        "10 copies moved 50 MB between pageable memory and the GPU (device to host) in 2 ms, at 25.0 GB/s.")


def test_many_small_copies_after_each_other_are_one_large_one(gputime, tmp_path):
    trace = Trace()
    checkpoint(trace, size=25_600)
    assert "'save'" in only(findings_of(gputime, trace, tmp_path), "copies_in_line")["title"]
    trace = Trace()
    checkpoint(trace, size=25_599)
    assert "copies_in_line" not in findings_of(gputime, trace, tmp_path)


def test_copies_on_the_stream_of_compute_are_in_line(gputime, tmp_path):
    trace = Trace()
    end = kernels(trace, 100, 10)
    trace.copy(end, 400, 10 * MB, launched=50)
    kernels(trace, end + 400, 10)
    finding = only(findings_of(gputime, trace, tmp_path), "copies_in_line")
    assert finding["recoverable_ns"] == 400 * US
    assert finding["title"].startswith("Copies move 10 MB to the GPU while nothing computes")
    trace = Trace()
    kernels(trace, 100, 10)
    trace.copy(end, 400, 10 * MB, launched=50, stream=9)
    kernels(trace, end + 400, 10)
    assert "copies_in_line" not in findings_of(gputime, trace, tmp_path)


def test_copies_inside_a_gpu_are_none(gputime, tmp_path):
    trace = Trace()
    end = kernels(trace, 100, 10)
    trace.op(end, 400, "Memcpy DtoD (Device -> Device)", launched=50, call="cudaMemcpyAsync", bytes=10 * MB)
    kernels(trace, end + 400, 10)
    assert not set(WAITING) & set(findings_of(gputime, trace, tmp_path))


def test_what_would_remain_of_a_series_is_no_readback(gputime, tmp_path):
    """Twelve copies of 1 ms that the CPU waits for, 300 us apart: 4.8 ms would remain, of which 200 us can be hidden."""
    trace = Trace()
    trace.op(100, 100)
    for number in range(12):
        start = 200 + 1300 * number
        trace.copy(start, 1000, 10 * MB, "Device", "Pageable", launched=start - 10, call_length=20)
        trace.event("cuda_runtime", "cudaStreamSynchronize", start + 11, 990)
    trace.op(200 + 1300 * 12, 100)
    trace.range("save", 180, 1300 * 12 - 100)
    found = findings_of(gputime, trace, tmp_path)
    assert "readback" not in found
    assert only(found, "copies_in_line")["recoverable_ns"] == (12 * 1300 - (12 * 400 - 200)) * US


@pytest.mark.parametrize("size, is_readback", [(255_999, True), (256_000, False)])
def test_copies_of_much_data_are_not_read_for_a_value(gputime, tmp_path, size, is_readback):
    trace = Trace()
    for number in range(12):
        start = 1000 * number
        trace.op(start + 20, 300, launched=start)
        trace.copy(start + 320, 2, size, "Device", "Pinned", launched=start + 5, stream=9)
        trace.event("cuda_runtime", "cudaStreamSynchronize", start + 8, 320)
    assert ("readback" in findings_of(gputime, trace, tmp_path)) == is_readback


# ---- small copies ----


def small_copies(count, size=64_000, name="Memcpy HtoD (Pinned -> Device)"):
    trace = Trace()
    kernels(trace, 1000, 10, length=1000)
    for number in range(count):
        trace.op(1000 + number * 3, 2, name, launched=number, call="cudaMemcpyAsync", stream=9, bytes=size)
    return trace


def test_many_small_copies_are_low_and_save_nothing(gputime, tmp_path):
    finding = findings_of(gputime, small_copies(100), tmp_path)["small_copies"]
    assert finding["severity"] == "low" and finding["recoverable_ns"] is None
    assert finding["title"] == "100 copies of 64 kB or less between host and GPU"
    for trace in (small_copies(99), small_copies(100, 64_001), small_copies(100, name="Memcpy DtoD (Device -> Device)")):
        assert "small_copies" not in findings_of(gputime, trace, tmp_path)


# ---- communication ----


def comm(hidden, exposed, compute=1000, name="ncclDevKernel_AllReduce_Sum", device=0, trace=None, around=None):
    """Communication at the end of compute, so long under it and so long alone; then compute."""
    trace = trace or Trace()
    trace.op(100, compute, launched=10, device=device)
    trace.op(100 + compute - hidden, exposed + hidden, name, launched=50, device=device, stream=9)
    trace.op(100 + compute + exposed, 100, launched=60, device=device)
    trace.range(around or "backward", 5, 30)
    trace.range("optimizer", 55, 30)
    return trace


def test_exposed_communication_is_what_compute_could_hide(gputime, tmp_path):
    finding = only(findings_of(gputime, comm(200, 300), tmp_path), "exposed_comm")
    assert finding["recoverable_ns"] == 300 * US and finding["severity"] == "high"
    assert finding["title"] == "Exposed all_reduce: 21.4% of the time"
    assert finding["evidence"] == [
        "all_reduce: 300 us exposed in 1 kernel, 100.0% of all exposed communication.",
        "Most of it runs between compute of 'backward' and of 'optimizer'.",
        "A collective also waits for the slowest rank; only traces of all ranks show how much of this is waiting."]
    assert any("bucket_cap_mb" in sentence for sentence in finding["advice"])


def test_no_more_communication_is_claimed_than_there_is_compute(gputime, tmp_path):
    finding = only(findings_of(gputime, comm(100, 500, compute=300), tmp_path), "exposed_comm")
    assert finding["recoverable_ns"] == 300 * US  # 400 us of compute, 100 us of them hide some already
    assert "Compute of the same GPU could hide 300 us of 500 us; the rest takes fewer bytes or faster links." in finding["evidence"]


@pytest.mark.parametrize("hidden, exposed", [(500, 0), (200, 10)])
def test_hidden_communication_is_fine(gputime, tmp_path, hidden, exposed):
    assert "exposed_comm" not in findings_of(gputime, comm(hidden, exposed), tmp_path)


def test_advice_fits_the_collective(gputime, tmp_path):
    for name, word in (("ncclDevKernel_AllGather_RING_LL", "forward_prefetch"), ("ncclDevKernel_ReduceScatter_Sum", "buckets"),
                       ("ncclDevKernel_SendRecv", "micro-batches")):
        finding = findings_of(gputime, comm(0, 300, name=name), tmp_path)["exposed_comm"]
        assert any(word in sentence for sentence in finding["advice"]), name
    trace = comm(0, 300, name="ncclDevKernel_SendRecv")
    trace.range("nccl:all_to_all", 49, 3)
    finding = findings_of(gputime, trace, tmp_path)["exposed_comm"]
    assert finding["title"].startswith("Exposed all_to_all: ") and any("Experts" in one for one in finding["advice"])


def test_the_worst_gpu_is_named(gputime, tmp_path):
    trace = comm(200, 300)
    finding = findings_of(gputime, comm(0, 500, trace=trace, device=1), tmp_path)["exposed_comm"]
    assert finding["recoverable_ns"] == (300 + 500) // 2 * US
    assert "Most on GPU 1: 500 us, 31.2% of its span." in finding["evidence"]


def test_poor_overlap_refers_to_exposed_communication(gputime, tmp_path):
    finding = findings_of(gputime, comm(0, 300), tmp_path)["poor_overlap"]
    assert finding["severity"] == "low" and finding["recoverable_ns"] is None
    assert "poor_overlap" not in findings_of(gputime, comm(200, 300), tmp_path)
    assert "poor_overlap" not in findings_of(gputime, comm(0, 50), tmp_path)  # too little to matter


def test_unbalanced_gpus_are_low(gputime, tmp_path):
    for other, is_found in ((9, True), (10, False)):
        trace = Trace()
        kernels(trace, 100, 10)
        kernels(trace, 100, other, device=1)
        found = findings_of(gputime, trace, tmp_path)
        assert ("unbalanced_devices" in found) == is_found
        if is_found:
            assert found["unbalanced_devices"]["severity"] == "low"
            assert found["unbalanced_devices"]["title"] == "Load imbalance: GPU 1 computes 10.0% less than GPU 0"
