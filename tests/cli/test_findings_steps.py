"""Findings on steps: compared on the GPU, not on the CPU; what makes some of them longer is named and claimed."""

import csv
import re
import tarfile

import pytest
from kineto_by_hand import US, Trace, findings_of


def loop(extras, name="evaluate", extra_name=None, inner=None, work=1000, first=0):
    """A step for each number: 10 kernels of 100 us in forward, then so many more in the named range. The GPU is always
    busy. The CPU is so far ahead that its steps take 100 us, except for the last, which waits for the GPU."""
    trace, gpu, cpu = Trace(), 1000, 0
    for number, extra in enumerate(extras):
        start = cpu
        for part, count in (("forward", work // 100), (name.format(number), extra)):
            if count:
                trace.range(part, cpu, 20 + count)
            if count and inner and part != "forward":
                trace.range(inner, cpu + 1, 15 + count)
            for index in range(count):
                gpu = trace.op(gpu, 100, f"{extra_name or part}_{index % 8}", launched=cpu + 5 + index, call_length=0.5)
            cpu += 30 + count
        cpu = gpu + 10 if number + 1 == len(extras) else cpu
        trace.range(f"ProfilerStep#{first + number}", start, cpu - start - 1)
    return trace


# ---- periodic work ----


def test_what_only_some_steps_run_is_named(gputime, tmp_path):
    found = findings_of(gputime, loop([0, 0, 10, 0, 0, 10, 0], first=1), tmp_path)
    finding = found["periodic_work"]
    assert list(found)[0] == "periodic_work" and "step_outliers" not in found
    assert finding["recoverable_ns"] == 2 * 1000 * US and finding["severity"] == "high"
    assert finding["title"] == "'evaluate' runs every 3 steps (3, 6): +1 ms each, 22.2% of the time"
    assert finding["evidence"] == [
        "Steps with 'evaluate' take 2 ms on the GPU, the others 1 ms on average.",
        "50.0% of the time of these steps is work that 'evaluate' launched, or idle time in it.",
        "Run every 3 steps, it takes 25.0% of a long run."]


def test_half_of_the_steps_may_run_it(gputime, tmp_path):
    finding = findings_of(gputime, loop([10, 0, 0, 10]), tmp_path)["periodic_work"]
    assert finding["recoverable_ns"] == 2 * 1000 * US
    assert finding["title"].startswith("'evaluate' runs every 3 steps (0, 3): +1 ms each")


def test_once_is_enough_for_a_named_range(gputime, tmp_path):
    finding = findings_of(gputime, loop([0, 0, 5, 0]), tmp_path)["periodic_work"]
    assert finding["title"] == "'evaluate' runs in step 2: +500 us each, 11.1% of the time"
    assert "The trace has 4 steps: how often 'evaluate' runs in a long run is not in it." in finding["evidence"]


def test_names_that_differ_in_numbers_are_a_pattern(gputime, tmp_path):
    """Each GPU has all steps, which are listed once, in order."""
    trace = loop([0, 10, 0, 10, 10, 0], name="eval {} of v2")
    device = [dict(event, pid=1, args=dict(event["args"], device=1)) for event in trace.events if event["cat"] == "kernel"]
    trace.events += device
    finding = findings_of(gputime, trace, tmp_path)["periodic_work"]
    assert finding["title"].startswith("'eval N of v2' runs in steps 1, 3, 4: +1 ms each")
    assert "Steps with 'eval N of v2' take 2 ms on the GPU, the others 1 ms on average." in finding["evidence"]


def test_the_outer_of_nested_ranges_is_named(gputime, tmp_path):
    finding = findings_of(gputime, loop([0, 0, 10, 0], inner="eval_batch"), tmp_path)["periodic_work"]
    assert finding["title"].startswith("'evaluate' runs in step 2")


def test_ranges_that_differ_in_digits_are_the_same(gputime, tmp_path):
    assert "periodic_work" not in findings_of(gputime, loop([1, 1, 10, 1], name="batch {}"), tmp_path)


@pytest.mark.parametrize("name", ["optimizer", "Optimizer.step#AdamW.step", "prefill", "nccl:all_reduce"])
def test_parts_of_usual_steps_are_no_extra_work(gputime, tmp_path, name):
    assert "periodic_work" not in findings_of(gputime, loop([0, 0, 10, 0], name=name, extra_name="kernel"), tmp_path)
    assert "periodic_work" in findings_of(gputime, loop([0, 0, 10, 0], "eval_" + name, "kernel"), tmp_path)


def test_what_all_steps_run_is_not_periodic(gputime, tmp_path):
    assert "periodic_work" not in findings_of(gputime, loop([1, 1, 10, 1]), tmp_path)


def test_two_steps_show_no_period(gputime, tmp_path):
    assert "periodic_work" not in findings_of(gputime, loop([0, 10]), tmp_path)
    assert "periodic_work" in findings_of(gputime, loop([0, 0, 10]), tmp_path)


def test_a_tenth_of_a_step_matters(gputime, tmp_path):
    assert "periodic_work" in findings_of(gputime, loop([0, 0, 1, 0]), tmp_path)
    assert "periodic_work" not in findings_of(gputime, loop([0, 0, 1, 0], work=1100), tmp_path)


def test_another_loop_is_no_extra_work(gputime, tmp_path):
    """Numbers start again: what the second loop runs is not compared with the first."""
    trace, second = loop([0, 0, 0]), loop([10, 10, 10])
    for event in second.events:
        event["ts"] += 100_000
        if "correlation" in event["args"]:
            event["args"]["correlation"] += 1000
    trace.events += second.events
    assert not {"periodic_work", "step_outliers"} & set(findings_of(gputime, trace, tmp_path))


def unnamed(extras, usual=lambda number: 20, backward="gamma_backward", extra_names=("alpha", "beta"), lacks=0):
    """Steps without ranges in them: usual kernels of 50 us, and in some steps so many more of the first two names.
    These lack some of the usual ones."""
    trace, gpu, cpu = Trace(), 1000, 0
    for number, extra in enumerate(extras):
        names = [("alpha", "beta", backward, "update")[index % 4] for index in range(usual(number))]
        names = names[:len(names) - (lacks if extra else 0)] + [extra_names[index % 2] for index in range(extra)]
        start = cpu
        for name in names:
            gpu = trace.op(gpu, 50, name, launched=cpu + 1, call_length=0.5)
            cpu += 2
        cpu = gpu + 10 if number + 1 == len(extras) else cpu + 10
        trace.range(f"ProfilerStep#{number}", start, cpu - start - 1)
    return trace


def test_extra_work_without_a_range_is_found_by_its_ops(gputime, tmp_path):
    finding = findings_of(gputime, unnamed([0, 0, 10, 0, 0, 10, 0]), tmp_path)["periodic_work"]
    assert finding["recoverable_ns"] == 2 * 500 * US and finding["severity"] == "medium"
    assert finding["title"] == "Extra work without a name runs every 3 steps (2, 5): +500 us each, 12.5% of the time"
    assert finding["evidence"] == [
        "These steps take 1.5 ms on the GPU and run 10 more ops than the others, which take 1 ms for 20 ops on average.",
        "Most of what each of them adds: 'alpha' (5, 250 us), 'beta' (5, 250 us).",
        "They run the work of the others, too: evaluation inside the loop looks like this. A range around it "
        "(torch.profiler.record_function or NVTX) would name it.",
        "Run every 3 steps, it takes 14.3% of a long run."]


@pytest.mark.parametrize("extras, is_found", [
    ([0, 0, 4, 0, 0], True),                  # 1.2 times the ops
    ([0, 0, 3, 0, 0], False),                 # fewer
    ([0, 0, 10, 10, 0, 0], True),             # two of three are usual
    ([0, 10, 0, 10, 0], False),               # fewer
    ([10, 0, 0, 0, 0], False),                # the first alone may be the program's start
    ([0, 10, 0], False),                      # two are not enough to be usual
], ids=str)
def test_the_usual_steps_are_the_clear_majority(gputime, tmp_path, extras, is_found):
    assert ("periodic_work" in findings_of(gputime, unnamed(extras), tmp_path)) == is_found


@pytest.mark.parametrize("settings", [
    {"usual": lambda number: 20 + number % 2},                 # usual steps differ by a twentieth
    {"backward": "layer_norm"},                                # no training: steps of a server differ by their nature
    {"lacks": 6},                                              # not in addition to the usual work, but instead
    {"extra_names": ("multi_tensor_apply_kernel", "beta")}, # half of it is an optimizer: gradients are accumulated
    {"extra_names": ("ncclDevKernel_AllReduce", "ncclDevKernel_AllReduce")},
], ids=["usual", "backward", "lacks", "optimizer", "communication"])
def test_steps_that_differ_for_other_reasons_are_no_extra_work(gputime, tmp_path, settings):
    assert "periodic_work" not in findings_of(gputime, unnamed([0, 0, 10, 0, 0, 10, 0], **settings), tmp_path)


# ---- slow steps ----


def steps(trace, lengths, kernel=lambda number: 1000):
    """Steps of such lengths on the CPU, each with one kernel launched at its start."""
    start = 1000
    for number, length in enumerate(lengths):
        trace.range(f"step {number}", start, length)
        trace.op(start + 10, kernel(number), "kernel", launched=start + 1)
        start += length
    return trace


def test_a_step_with_a_slow_kernel_is_found(gputime, tmp_path):
    lengths = [1010, 1010, 1010, 1510 + 1, 1010]
    trace = steps(Trace(), lengths, lambda number: lengths[number] - 10)
    assert "step_outliers" not in findings_of(gputime, trace, tmp_path)  # 1501 of 1010 us is not 1.5 times as much
    lengths[3] = 2010
    trace = steps(Trace(), lengths, lambda number: lengths[number] - 10)
    finding = findings_of(gputime, trace, tmp_path)["step_outliers"]
    assert finding["recoverable_ns"] == 1000 * US
    assert finding["title"].startswith("Step 3 takes longer than steady ones: ") and finding["title"].endswith("mostly compute")
    assert finding["evidence"] == [
        "Up to 2.01 ms on the GPU, from the end of the step before to their own; steady ones take 1.01 ms.",
        "1 ms more compute in each than in steady ones, in no other finding.",
        "Most of it: 'kernel', 1 ms more per step."]


def test_more_ops_are_other_work(gputime, tmp_path):
    trace = steps(Trace(), [1010, 1010, 1010, 2010, 1010])
    trace.op(5040, 1000, "other", launched=4050)
    assert "step_outliers" not in findings_of(gputime, trace, tmp_path)


def test_the_length_on_the_cpu_does_not_matter(gputime, tmp_path):
    """The GPU is busy all the time, however long the steps are on the CPU."""
    trace, gpu, cpu = Trace(), 1000, 0
    for number, length in enumerate([100, 100, 900, 100, 2000, 100]):
        trace.range(f"step {number}", cpu, length)
        gpu = trace.op(gpu, 2000, launched=cpu + 1)
        cpu += length
    assert "step_outliers" not in findings_of(gputime, trace, tmp_path)


def test_what_another_finding_has_claimed_is_not_claimed_again(gputime, tmp_path):
    """The slow step waits for the CPU: that is a stall, and no outlier as well."""
    trace = Trace()
    start = 1000
    for number, wait in enumerate([10, 10, 10, 5000, 10]):
        trace.range(f"step {number}", start, wait + 1010)
        trace.op(start + wait, 1000, launched=start + wait - 2)
        start += wait + 1000
    found = findings_of(gputime, trace, tmp_path)
    assert "host_stalls" in found and "step_outliers" not in found


# ---- warm-up ----


def test_warm_up_is_low(gputime, tmp_path):
    lengths = [9010, 1010, 1010, 1010]
    finding = findings_of(gputime, steps(Trace(), lengths, lambda number: lengths[number] - 10), tmp_path)["warm_up"]
    assert finding["severity"] == "low" and finding["recoverable_ns"] is None
    assert finding["title"] == "Warm-up in the capture: 74.8% of step time"
    assert finding["evidence"] == ["Step 0: up to 9.01 ms on the CPU; the median is 1.01 ms. Other findings leave it out.",
                                   "--step 1-3 selects the steps after it."]
    lengths = [1010, 1010, 9010, 1010]
    assert "warm_up" not in findings_of(gputime, steps(Trace(), lengths, lambda number: lengths[number] - 10), tmp_path)


def test_warm_up_is_not_left_out_where_no_later_step_launches(gputime, tmp_path):
    trace = steps(Trace(), [9010], lambda number: 9000)
    trace.range("step 1", 10010, 50)
    assert "warm_up" not in findings_of(gputime, trace, tmp_path)


# ---- programs with one fault each ----


def test_faults_of_copies_and_steps(gputime, shared, tmp_path):
    with tarfile.open(shared("data/h200/faults.tar.xz")) as archive:
        for wanted in csv.DictReader(shared("golden/faults/expected.csv").read_text().splitlines()):
            if wanted["trace"] not in ("pageable_copy", "checkpoint", "eval_steps", "healthy"):
                continue
            archive.extract(f"faults_a/{wanted['trace']}.json", tmp_path)
            found = gputime.json("findings", tmp_path / f"faults_a/{wanted['trace']}.json")["findings"]
            if not wanted["finding"]:
                assert all(one["severity"] == "low" for one in found)
                continue
            assert found[0]["id"] in wanted["finding"].split("|"), found[0]
            assert re.search(wanted["mentions"], " ".join([found[0]["title"], *found[0]["evidence"]]))
            assert 0.5 <= found[0]["share"] / float(wanted["cost"]) <= 1.5
