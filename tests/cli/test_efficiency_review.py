"""Efficiency where something is missing or differs: peaks, one side of a comparison, steps that only fill queues."""

import pytest

from efficiency_by_hand import H200, Operators
from test_counters import MHZ, PERIOD, Sampled
from test_efficiency import MM, MM_FLOPS

UNKNOWN = H200 | {"name": "GPU of tomorrow", "computeMajor": 99}


def text_of(gputime, *arguments):
    return " ".join(gputime(*arguments, "--no-cache", "--width", "1000").stdout.decode().split())


def parts_of(tables):
    return {(row["part"], row["key"]): row["ns"] for row in tables["waterfall"]}


# ---- peaks ----


def test_work_with_an_unknown_peak_is_a_part_of_its_own(gputime, tmp_path):
    trace = Operators(UNKNOWN).run("aten::mm", MM).run("aten::mm", None)
    tables = trace.tables(gputime, tmp_path)
    parts = parts_of(tables)
    assert parts["unmodelled", "peak_unknown"] == 100_000 and parts["unmodelled", ""] == 100_000
    assert sum(parts.values()) == tables["mfu"][0]["time_ns"]
    assert [(row["flops"], row["efficiency"]) for row in tables["op_efficiency"]] == [(MM_FLOPS, None)]
    assert ("unmodelled", "peak_unknown") not in parts_of(Operators().run("aten::mm", MM).tables(gputime, tmp_path))


def test_one_kernel_with_an_unknown_peak(gputime, tmp_path):
    path = Operators(UNKNOWN).run("aten::mm", MM).run("aten::mm", MM, kernels=("other",)).write(tmp_path)
    assert "(work known by shape, peak unknown)" in text_of(gputime, "efficiency", path, "--name", "other")


def test_peaks_of_another_gpu_are_its_own(gputime, tmp_path):
    path = Operators().run("aten::mm", MM).write(tmp_path)
    row = gputime.json("efficiency", path, "--no-cache", "--gpu", "a100-sxm4-80gb")["tables"]["peaks"]["rows"][0]
    assert (row["name"], row["sms"], row["arch"]) == ("A100-SXM4-80GB", 108, "sm_80")


def test_launches_are_judged_on_the_gpu_they_ran_on(gputime, tmp_path):
    """A T4 has room for half as many blocks; the kernels did not run there."""
    trace = Operators().run("aten::mm", MM)
    own, other = (trace.tables(gputime, tmp_path, *options)["efficiency"][0] for options in ((), ("--gpu", "T4")))
    assert own["resident"] and (own["resident"], own["occupancy"], own["limiter"]) == (
        other["resident"], other["occupancy"], other["limiter"])


# ---- MFU ----


def test_steps_that_only_fill_queues(gputime, tmp_path):
    """Their ops take longer than they do, and no step is above the peak for it."""
    trace = Operators()
    for step in range(3):
        trace.range(f"ProfilerStep#{step}", trace.at - 10, 70)
        trace.run("aten::mm", MM, length=400)
    rows = {row["name"]: row for row in trace.tables(gputime, tmp_path)["mfu"] if row["scope"] == "step"}
    assert rows["ProfilerStep#1"]["time_ns"] == 400_000


def test_hfu_by_counters_is_in_the_table(gputime, tmp_path):
    trace = Sampled()
    trace.op(0, 1000, "kernel_a")
    for at in range(0, 1000, PERIOD):
        trace.sample(at, sm_active=100, tensor=50, gpc_mhz=1830 * MHZ, dram_read=0, dram_write=0)
    report = gputime.json("efficiency", trace.write(tmp_path), "--no-cache")
    row = next(row for row in report["tables"]["mfu"]["rows"] if row["scope"] == "trace")
    assert row["hfu_counter"] == pytest.approx(0.5), "half of the pipe's time, at the clock of the peak"
    plain = Operators().run("aten::mm", MM).write(tmp_path)
    assert gputime.json("efficiency", plain, "--no-cache")["tables"]["mfu"]["rows"][0]["hfu_counter"] is None
    assert "HFU (counters)" not in text_of(gputime, "efficiency", plain)


def test_limits_on_mfu_say_nothing_about_ranges(gputime, tmp_path):
    trace = Operators()
    trace.range("forward", trace.at - 10, 300)
    path = trace.run("aten::mm", MM).write(tmp_path)
    words = text_of(gputime, "check", "--limit", "mfu<90%", path)
    assert "ok" in words and "Distinct ranges" not in words and "in no phase" not in words
    assert "Distinct ranges" in text_of(gputime, "check", "--limit", "range:*<90%", path)


# ---- comparisons ----


def steps_of(lengths, values=MM):
    trace = Operators()
    for step, length in enumerate(lengths):
        start = trace.at
        trace.run("aten::mm", values, length=length)
        trace.range(f"ProfilerStep#{step}", start - 10, trace.at - start)
    return trace


def compared(gputime, tmp_path, a, b):
    paths = a.write(tmp_path, "a.json"), b.write(tmp_path, "b.json")
    report = gputime.json("diff", "--of", "waterfall", *paths, "--no-cache")
    return {(row["part"], row["key"]): row for row in report["tables"]["waterfall"]["rows"]}, paths


def test_parts_that_vary_from_step_to_step_are_noise(gputime, tmp_path):
    rows, _ = compared(gputime, tmp_path, steps_of([100, 300, 100, 300, 100, 300]), steps_of([110, 310, 110, 310, 110, 310]))
    assert rows["inefficiency", "gemm"]["status"] == "noise"
    rows, _ = compared(gputime, tmp_path, steps_of([200] * 6), steps_of([210] * 6))
    assert rows["inefficiency", "gemm"]["status"] == "up", "the same change, where steps are alike"


def test_status_is_on_the_screen(gputime, tmp_path):
    _, paths = compared(gputime, tmp_path, steps_of([200] * 4), steps_of([300] * 4))
    text = gputime("diff", "--of", "waterfall", *paths, "--no-cache").stdout.decode()
    head = text[text.index("Where the span went, against ideal kernels"):].split("───")[0]
    assert "Status" in head and "Basis" not in head and "GPU" not in head


def test_work_that_only_one_side_knows(gputime, tmp_path):
    _, paths = compared(gputime, tmp_path, steps_of([200] * 3), steps_of([200] * 3, values=None))
    words = text_of(gputime, "diff", "--of", "waterfall", *paths)
    assert "Not comparable part by part: 0.0% of GPU span against ideal kernels in A is unmodelled, but " in words
    _, paths = compared(gputime, tmp_path, steps_of([200] * 3), steps_of([250] * 3))
    assert "Not comparable" not in text_of(gputime, "diff", "--of", "waterfall", *paths)


def test_utilization_is_not_per_step(gputime, tmp_path):
    _, paths = compared(gputime, tmp_path, steps_of([200] * 3), steps_of([250] * 3))
    said = "(undivided in 'Model and hardware FLOP utilization (MFU, HFU)')"
    assert said in text_of(gputime, "diff", "--of", "mfu", *paths)
    assert "undivided" not in text_of(gputime, "diff", "--of", "waterfall", *paths)
