"""Findings on idle time that the CPU causes: which rule has which gap, to the nanosecond, and which name it gives."""

import json

import pytest

from kineto_by_hand import US, Trace
from samples import DATA


@pytest.fixture
def find(gputime, tmp_path):
    """What is found in a trace, by rule."""
    def look(trace):
        return {one["id"]: one for one in gputime.json("findings", trace.write(tmp_path))["findings"]}
    return look


def dense(trace, start, count, length=100):
    """Kernels back to back, all launched long before. Returns their end."""
    for number in range(count):
        trace.op(start + number * length, length, name=f"kernel_{'abcdefgh'[number % 8]}", launched=number * 2)
    return start + count * length


def late_launches(trace, count, gap, length=10, name="kernel_{}"):
    """The CPU launches each kernel `gap` us after the one before has ended."""
    for number in range(count):
        trace.op(100 + number * (gap + length), length, name=name.format("abcdefgh"[number % 8]))


def gap_of(length, what=None, busy=40, after=10):
    """A busy GPU, a gap in which the CPU does something, then a kernel. The CPU part ends 1 us before the gap."""
    trace = Trace()
    start = dense(trace, 100, busy)
    if what:
        what(trace, start, length)
    trace.op(start + length, 100 * after, launched=start + length - 2)
    return trace


def said(finding):
    return " ".join([finding["title"], *finding["evidence"]])


# ---- host-bound ----

def test_late_launches_are_host_bound(find):
    trace = Trace()
    late_launches(trace, 100, 20)
    finding = find(trace)["host_bound"]
    assert finding["severity"] == "high" and finding["recoverable_ns"] == 99 * 20 * US
    assert finding["title"] == "Host-bound: the GPU waits for launches 66.4% of the time"
    assert "20 us each on average" in finding["evidence"][0]
    assert any("slows every operator and launch" in one for one in finding["evidence"])


def test_launches_that_cost_less_than_a_percent_are_not_reported(find):
    trace = Trace()
    late_launches(trace, 100, 20, length=2000)
    assert "host_bound" not in find(trace)


def test_the_range_that_launches_late_is_named_and_steps_are_not(find):
    trace = Trace()
    late_launches(trace, 120, 20)
    for number in range(4):
        start = 50 + 900 * number
        trace.range(f"ProfilerStep#{number}", start, 899)
        trace.range("decode", start + 10, 800)
    finding = find(trace)["host_bound"]
    assert finding["title"].startswith("Host-bound in 'decode': the GPU waits for launches")
    assert "ProfilerStep" not in said(finding)
    assert any(one.startswith("30 kernel launches per step of 899 us (median), one every") for one in finding["evidence"])


def test_without_ranges_the_operators_that_launch_late_are_named(find):
    trace = Trace()
    late_launches(trace, 81, 20)
    for number in range(81):
        trace.operator("aten::add" if number % 4 else "aten::mul", 100 + 30 * number - 5, 4)
    finding = find(trace)["host_bound"]
    assert finding["title"].startswith("Host-bound in 'aten::add'")
    assert "By the code that launched: 'aten::add' 75.0%, 'aten::mul' 25.0%." in finding["evidence"]


def test_a_long_gap_full_of_small_operators_is_slow_launching(find):
    """The CPU works all the time, and nothing has most of it: that is no stall."""
    def operators(trace, start, length):
        for number in range(length // 40):
            trace.operator("aten::view", start + number * 40, 30)

    found = find(gap_of(2000, operators))
    assert "host_stalls" not in found and found["host_bound"]["recoverable_ns"] == 2000 * US
    found = find(gap_of(2000, lambda trace, start, length: operators(trace, start, 1000)))
    assert "host_bound" not in found and found["host_stalls"]["recoverable_ns"] == 2000 * US


# ---- stalls ----

def test_a_stall_is_named_by_its_range(find):
    finding = find(gap_of(2000, lambda trace, start, length: trace.range("log_metrics", start - 100, 1900)))["host_stalls"]
    assert finding["recoverable_ns"] == 2000 * US
    assert finding["title"] == "'log_metrics' stalls the CPU: the GPU waits 28.6% of the time"
    assert finding["evidence"][0] == "'log_metrics': 1 gap, 2 ms of idle time."


def test_a_gap_below_a_millisecond_is_no_stall(find):
    found = find(gap_of(999, lambda trace, start, length: trace.range("log_metrics", start - 100, 900)))
    assert "host_stalls" not in found and found["host_bound"]["recoverable_ns"] == 999 * US


def test_stalls_are_summed_by_name(find):
    """The longest single gap is not the name with the most time. Numbers that emit_nvtx appends do not count."""
    trace = Trace()
    start = 100
    for number, (name, length) in enumerate([("tokenize, seq = 1, op_id = 7", 2000), ("save", 3000),
                                             ("tokenize, seq = 2, op_id = 9", 2000)]):
        start = trace.op(start, 1000, launched=start - 2 if number else 0)
        trace.range(name, start, length - 100)
        start += length
    trace.op(start, 1000)
    finding = find(trace)["host_stalls"]
    assert finding["title"] == "'tokenize' and other code stall the CPU: the GPU waits 63.6% of the time"
    assert finding["evidence"][:2] == ["'tokenize': 2 gaps, 4 ms of idle time.", "'save': 1 gap, 3 ms."]
    assert finding["recoverable_ns"] == 7000 * US


def test_what_other_rules_claimed_does_not_count_as_stall(find):
    def free_then_nothing(trace, start, length):
        trace.call("cudaFree", start, length - 900)

    found = find(gap_of(6000, free_then_nothing))  # less than 1 ms is left
    assert "host_stalls" not in found and found["allocator"]["recoverable_ns"] == 5100 * US
    assert found["host_bound"]["recoverable_ns"] == 900 * US
    found = find(gap_of(6000, lambda trace, start, length: trace.call("cudaFree", start, 3000)))
    assert found["allocator"]["recoverable_ns"] == 3000 * US and found["host_stalls"]["recoverable_ns"] == 3000 * US
    assert "27.3% of the time" in found["host_stalls"]["title"]


def test_a_stall_outside_everything_is_called_untraced(find):
    trace = Trace()
    for number in range(4):
        start = 100 + 5000 * number
        trace.range(f"ProfilerStep#{number}", start - 50, 1000)
        trace.op(start, 1000, launched=start - 10)
    finding = find(trace)["host_stalls"]
    assert finding["title"] == "Untraced CPU work between steps stalls the GPU: 75.0% of the time"
    assert finding["recoverable_ns"] == 3 * 4000 * US
    assert "outside any range or operator" in finding["evidence"][0] and "with_stack=True" in finding["evidence"][0]
    assert "garbage collection" in finding["evidence"][0]


def test_one_gap_with_most_of_the_stalls_may_be_set_up(find):
    """Five gaps: the longest has 60% of their time, or a little less."""
    def gaps(longest):
        trace, start = Trace(), 100
        for number, length in enumerate([1000, 1000, longest, 1000, 1000, 0]):
            start = trace.op(start, 1000, launched=start - 2 if number else 0) + length
        return find(trace)["host_stalls"]["evidence"]

    words = "One gap alone has {}: if that was initialization, let the program warm up before the capture."
    assert words.format("6 ms") in gaps(6000)
    assert not any("initialization" in one for one in gaps(5990))


@pytest.mark.parametrize("name, library, attention", [
    ("aten::_cudnn_attention_forward", "cuDNN", True), ("aten::cudnn_convolution", "cuDNN", False),
    ("aten::miopen_convolution", "MIOpen", False), ("aten::mm", None, False),
])
def test_libraries_prepare_plans_for_new_shapes(find, name, library, attention):
    finding = find(gap_of(2000, lambda trace, start, length: trace.operator(name, start - 100, 1900)))["host_stalls"]
    assert finding["title"].startswith(f"'{name}' stalls the CPU")
    plans = [one for one in finding["advice"] if "a plan for every new shape" in one]
    assert [one.split()[0] for one in plans] == [library] * bool(library)
    assert any("enable_cudnn_sdp" in one for one in finding["advice"]) == attention


def test_a_kernel_that_cudnn_makes_at_run_time_needs_a_plan(find):
    def advice(kernel):
        trace = Trace()
        dense(trace, 100, 40)
        trace.op(6100, 1000, name=kernel, launched=6090)
        return " ".join(find(trace)["host_stalls"]["advice"])

    words = advice("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128")
    assert "cuDNN prepares a plan for every new shape" in words and "enable_cudnn_sdp(False)" in words
    assert "cudnn" not in advice("cudnn_infer_ampere_scudnn_128x64_relu_medium_nn_v1").lower()


@pytest.mark.parametrize("sample, flag, collects", [("extras.nsys-rep", "--sample=process-tree", False),
                                                    ("jax.nsys-rep", "--python-sampling=true", True)])
def test_untraced_work_of_a_program_without_python_is_sampled_otherwise(gputime, sample, flag, collects):
    finding = next(one for one in gputime.json("findings", DATA / "nsys" / sample)["findings"] if one["id"] == "host_stalls")
    assert finding["title"].startswith("Untraced CPU work") and flag in finding["evidence"][0]
    assert ("garbage collection" in said(finding)) == collects


def test_a_stall_in_python_is_named_by_file_and_line(gputime, tmp_path):
    def frames(trace, start, length):
        trace.event("python_function", "train.py(10): main", 0, start + length)
        trace.event("python_function", "train.py(41): write_log", start, length - 100)
        trace.event("python_function", "<built-in method sleep>", start, length - 100)

    path = gap_of(2000, frames).write(tmp_path)
    document = gputime.json("findings", path)
    finding = document["findings"][0]
    assert document["facts"]["python_calls"] == 3
    assert finding["id"] == "host_stalls" and finding["title"].startswith("'train.py(41): write_log' stalls the CPU")
    assert gputime.json(path)["findings"] == document["findings"]


def test_a_stall_in_a_library_is_named_by_its_caller(find):
    def frames(trace, start, length):
        trace.event("python_function", "train.py(1): <module>", 0, start + length)
        trace.event("python_function", "train.py(41): write_log", start, length - 100)
        trace.event("python_function", "json/encoder.py(205): iterencode", start + 1, length - 110)

    finding = find(gap_of(2000, frames))["host_stalls"]
    assert finding["title"].startswith("'train.py(41): write_log' stalls the CPU")
    assert ("Most of the longest one is spent in 'json/encoder.py(205): iterencode', called from there."
            in finding["evidence"])


# ---- a CPU that reads results back ----


def passes(count=12, launches=30, size=8, name="gemm_kernel", reader="aten::item"):
    """Again and again: kernels of 10 us, each launched 20 us after the one before has ended, then a copy that the CPU
    waits for."""
    trace, now = Trace(), 100
    for _ in range(count):
        for number in range(launches):
            now = trace.op(now + 20, 10, name=f"{name}_{number % 4}")
        trace.operator(reader, now + 1, 60)
        now = trace.op(now + 20, 2, name="Memcpy DtoH (Device -> Pinned)", call="cudaMemcpyAsync", bytes=size)
        trace.call("cudaStreamSynchronize", now - 1, 20)
        now += 40
    return trace


def test_host_bound_refers_to_the_reads_that_stop_the_cpu(find):
    found = find(passes(launches=4))
    assert {"readback", "host_bound"} <= set(found)
    assert ("'aten::item' makes the CPU wait for a copy 12 times, every 4 launches on average, so it cannot run ahead (see "
            "readback).") in found["host_bound"]["evidence"]
    assert "decode" not in said(found["host_bound"])


def test_passes_that_each_end_with_a_token_look_like_decoding(find):
    assert "; 8 B or less each after many short kernels: probably a decode loop, one token at a time." in said(find(passes())["host_bound"])


@pytest.mark.parametrize("settings", [{"launches": 19}, {"size": 1001}, {"name": "softmax_kernel"},
                                      {"name": "gemm_wgrad"}], ids=str)
def test_other_reads_do_not(find, settings):
    finding = find(passes(**settings))["host_bound"]
    assert "cannot run ahead" in said(finding) and "decode" not in said(finding)


def test_a_program_that_trains_does_not_decode(find):
    trace = passes()
    trace.range("Optimizer.step#AdamW.step", 105, 30)
    assert "decode" not in said(find(trace)["host_bound"])


# ---- what has a name of its own ----

@pytest.mark.parametrize("name", ["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "next_batch",
                                  "train/get_batch", "load_batch", "fetch_batch", "dataload", "tf.data::Iterator",
                                  "dali.pipeline", "DataLoader", "Iterator::GetNext"])
def test_loaders_are_recognized(find, name):
    finding = find(gap_of(2000, lambda trace, start, length: trace.range(name, start, 1500)))["data_loading"]
    assert name[:60] in finding["title"] and finding["title"].endswith("starves the GPU: 21.4% of the time")
    assert finding["recoverable_ns"] == 1500 * US


@pytest.mark.parametrize("name", ["load_weights", "prefetch", "FSDP::pre_forward_prefetch", "vandalism", "forget_batch",
                                  "download", "workload"])
def test_other_names_are_not(find, name):
    found = find(gap_of(2000, lambda trace, start, length: trace.range(name, start, 1500)))
    assert "data_loading" not in found and name in found["host_stalls"]["title"]


def test_loading_per_step_says_how_many_workers_would_hide_it(find):
    trace = Trace()
    for number in range(4):
        start = 100 + 10000 * number
        trace.range(f"ProfilerStep#{number}", start, 10000)
        trace.range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", start + 1, 7000)
        trace.op(start + 8000, 2000, launched=start + 7998)
    finding = find(trace)["data_loading"]
    assert finding["recoverable_ns"] == 3 * 7000 * US
    assert "Per step: 7 ms in the loader, 25.0% of it hidden by GPU work." in finding["evidence"]
    assert "The rest of a step takes 4.75 ms, so 2 workers in the background would hide the loading." in finding["evidence"]
    assert any("has no workers" in one for one in finding["advice"])


def test_allocations_are_counted_per_step(find):
    trace = Trace()
    for number in range(4):
        start = 100 + 1000 * number
        trace.range(f"ProfilerStep#{number}", start - 20, 1000)
        trace.op(start, 500, launched=start - 15)
        trace.call("cudaFree", start + 500, 200)
        trace.call("cudaMalloc", start + 720, 50)
        trace.call("cudaMalloc", start + 780, 50)
    finding = find(trace)["allocator"]
    assert finding["title"].startswith("cudaFree and cudaMalloc keep the GPU waiting:")
    assert finding["evidence"][:2] == ["cudaFree: 4 calls (1 per step), 800 us on the CPU.",
                                       "cudaMalloc: 8 calls (2 per step), 400 us on the CPU."]
    assert finding["recoverable_ns"] == 3 * 300 * US
    assert any("empty_cache" in one for one in finding["advice"])


def test_pools_are_not_the_allocator(find):
    found = find(gap_of(500, lambda trace, start, length: trace.call("cudaMallocAsync", start, 450)))
    assert "allocator" not in found


@pytest.mark.parametrize("name, words", [("torch/_dynamo/convert_frame.compile_inner", "torch.compile"),
                                         ("CachingAutotuner.benchmark_all_configs", "kernel autotuning"),
                                         ("XlaCompile:#module=jit_f#", "XLA")])
def test_compilers_are_named_in_words(find, name, words):
    finding = find(gap_of(2000, lambda trace, start, length: trace.range(name, start, 1900)))["compilation"]
    assert finding["title"] == f"Compilation stalls the GPU: 27.1% of the time, most of it {words}"
    assert finding["recoverable_ns"] == 1900 * US


@pytest.mark.parametrize("name", ["TorchDynamo Cache Lookup", "## Call CompiledFxGraph fabc ##", "Torch-Compiled Region: 0/0"])
def test_running_compiled_code_is_no_compilation(find, name):
    assert "compilation" not in find(gap_of(2000, lambda trace, start, length: trace.range(name, start, 1900)))


def test_only_the_first_launch_of_a_kernel_loads_code(find):
    def slow_launch(name):
        trace = Trace()
        end = dense(trace, 100, 40)
        trace.op(end + 800, 1000, name=name, launched=end, call_length=790)
        return find(trace)

    found = slow_launch("kernel_new")
    assert found["compilation"]["recoverable_ns"] == 790 * US
    assert "first launches of kernels (lazy loading)" in found["compilation"]["title"]
    assert "compilation" not in slow_launch("kernel_a")


# ---- waiting for the GPU ----

def readbacks(waits="cudaStreamSynchronize", call="cudaMemcpyAsync", count=12, pause=0):
    trace = Trace()
    for number in range(count):
        start = (1000 + pause) * number
        trace.op(start + 20, 300, launched=start)
        trace.operator("aten::item", start + 4, 330)
        trace.operator("aten::_local_scalar_dense", start + 4.5, 328)
        trace.op(start + 320, 2, name="Memcpy DtoH (Device -> Pinned)", launched=start + 5, call=call, call_length=2)
        if waits:
            trace.call(waits, start + 8, 320)
        trace.range("sampling", start + 1, 500)
    return trace


@pytest.mark.parametrize("settings", [{}, {"waits": None, "call": "cudaMemcpy"}])
def test_copies_that_the_cpu_waits_for_are_readbacks(find, settings):
    """Without the 330 us of each read, the CPU would still take 670 us from launch to launch."""
    found = find(readbacks(**settings))
    finding = found["readback"]
    assert finding["recoverable_ns"] == 11 * 330 * US and finding["severity"] == "high"
    assert finding["title"] == ("'aten::item' makes the CPU wait for a copy from the GPU 12 times: "
                                "32.1% of the time")
    assert found["host_bound"]["recoverable_ns"] == 11 * (698 - 330) * US
    assert "The longest gap follows one in range 'sampling'." in finding["evidence"]


@pytest.mark.parametrize("settings", [{"waits": None}, {"waits": "cudaEventQuery"}, {"count": 9}])
def test_copies_that_nobody_waits_for_or_that_are_few_are_not(find, settings):
    assert "readback" not in find(readbacks(**settings))


def test_few_copies_count_if_every_step_has_one(find):
    trace = readbacks(count=4)
    for number in range(4):
        trace.range(f"ProfilerStep#{number}", 1000 * number, 999)
    finding = find(trace)["readback"]
    assert finding["recoverable_ns"] == 4 * 330 * US and "4 times (1 per step)" in finding["title"]


def test_a_long_pause_after_a_readback_is_a_stall(find):
    """The CPU has the value and does something else for 1.67 ms and more: that has a name of its own."""
    trace = readbacks(pause=1000)
    for number in range(12):
        trace.range("log_metrics", 2000 * number + 510, 1480)
    found = find(trace)
    assert "readback" not in found and found["host_stalls"]["recoverable_ns"] == pytest.approx(11 * 1694 * US, rel=0.001)
    assert "'log_metrics'" in found["host_stalls"]["title"]


def behind(wait, after=1, tid=1):
    """The CPU is far ahead, waits `wait` us for the GPU, then launches `after` kernels late, 30 us each."""
    trace = Trace()
    end = dense(trace, 100, 40)
    trace.call("cudaDeviceSynchronize", end - wait, wait)
    for number in range(after):
        trace.op(end + 30 + 130 * number, 100, tid=tid)
    return trace


def test_gaps_after_a_wait_are_its_fault_as_far_as_it_cost_lead(find):
    found = find(behind(wait=3000, after=20))
    assert found["sync_waits"]["recoverable_ns"] == 20 * 30 * US and "host_bound" not in found
    assert found["sync_waits"]["title"] == ("The CPU waits in cudaDeviceSynchronize while the GPU runs dry: 9.1% of the time")
    assert found["sync_waits"]["evidence"] == [
        "cudaDeviceSynchronize: 1 call, 3 ms on the CPU.",
        "The GPU was idle for 600 us in later gaps, because the CPU had launched nothing ahead.",
        "If no call waited for the GPU, all of it would take 6.1 ms instead of 6.7 ms (simulated)."]
    found = find(behind(wait=150, after=20))
    assert found["sync_waits"]["recoverable_ns"] == 148 * US  # a call that need not wait takes 2 us
    assert found["host_bound"]["recoverable_ns"] == 452 * US


def test_a_thread_that_takes_over_is_behind_too(find):
    """As autograd's does for the backward pass."""
    found = find(behind(wait=3000, after=20, tid=2))
    assert found["sync_waits"]["recoverable_ns"] == 20 * 30 * US and "host_bound" not in found


def test_a_wait_is_forgotten_after_as_many_ops_as_the_queue_holds(find):
    found = find(behind(wait=3900, after=1200))
    assert found["sync_waits"]["recoverable_ns"] == pytest.approx(3898 * US, abs=US)
    trace = behind(wait=3900, after=0)
    end = 4100
    for number in range(1200):  # launched in time after the wait
        end = trace.op(end + 1, 10, launched=4101 - 1 + number / 100, call_length=0.005)
    for number in range(20):
        trace.op(end + 30 + 130 * number, 100)
    assert "sync_waits" not in find(trace)


def test_a_gap_inside_a_synchronizing_call_is_a_sync_wait(find):
    trace = Trace()
    for number in range(10):
        start = 1000 * number
        trace.op(start + 10, 100, launched=start)
        trace.call("cudaStreamSynchronize", start + 2, 900)
    finding = find(trace)["sync_waits"]
    assert finding["recoverable_ns"] == 9 * 900 * US
    assert finding["evidence"] == ["cudaStreamSynchronize: 10 calls, 9 ms on the CPU.",
                                   "The GPU was idle for 8.1 ms in 9 gaps meanwhile."]
    trace = Trace()
    late_launches(trace, 10, 900)
    assert "sync_waits" not in find(trace)


# ---- what saves nothing by itself ----

def test_idle_time_without_a_launch_call_has_no_cause(find):
    trace = Trace()
    late_launches(trace, 10, 3)
    trace.events = [event for event in trace.events if event["cat"] == "kernel"]
    finding = find(trace)["idle_gpu"]
    assert finding["title"] == "The GPU was idle 21.3% of the time for reasons that the trace does not show"
    assert finding["recoverable_ns"] is None
    assert finding["evidence"] == ["27 us in 9 gaps, 3 us each on average: the trace has no launch call for the next op."]
    late = Trace()
    late_launches(late, 10, 2)
    late.events = [event for event in late.events if event["cat"] == "kernel"]
    assert "idle_gpu" not in find(late)


def test_idle_time_of_queued_work_is_worded_as_such(find):
    trace = Trace()
    for number in range(20):
        trace.op(200 + 40 * number, 20, launched=number)
    finding = find(trace)["idle_gpu"]
    assert finding["title"].endswith("of the time although work is queued")
    assert finding["evidence"][0].startswith("380 us in 19 gaps, 20 us each on average: the next op had been launched")


def test_small_matrix_products_are_a_small_batch(find):
    trace = Trace()
    late_launches(trace, 100, 20, length=4, name="sm80_xmma_gemm_f16f16_{}")
    finding = find(trace)["small_batch"]
    assert finding["severity"] == "low" and finding["recoverable_ns"] is None
    assert finding["title"] == "Small batch: 100.0% of the matrix products are shorter than a launch takes"
    assert finding["evidence"][0].startswith("100 matrix products take 4 us on average; the CPU launches one kernel every 23.8")
    assert any("For inference" in advice for advice in finding["advice"])
    trace.range("backward", 100, 10)
    assert not any("For inference" in advice for advice in find(trace)["small_batch"]["advice"])
    trace = Trace()
    late_launches(trace, 100, 20, length=4)
    assert "small_batch" not in find(trace)  # no matrix products
    trace = Trace()
    late_launches(trace, 100, 20, length=200, name="sm80_xmma_gemm_f16f16_{}")
    assert "small_batch" not in find(trace)  # long ones


def storm(nodes=1):
    """Each launch brings so many kernels."""
    trace = Trace()
    for number in range(1200):
        trace.op(100 + 10 * number, 8, name=f"kernel_{number % 8}", launched=number / 100)
    for event in trace.events:
        event["args"]["correlation"] = (event["args"]["correlation"] - 1) // nodes
    return trace


def test_a_storm_is_of_launches_not_of_graphs(find):
    finding = find(storm())["launch_storm"]
    assert finding["severity"] == "low" and "kernel launches per second, median kernel 8 us" in finding["title"]
    assert "launch_storm" not in find(storm(nodes=100))
    trace = Trace()
    late_launches(trace, 1200, 20)
    assert "launch_storm" not in find(trace)


def test_tiny_kernels_are_reported_without_the_longer_ones_of_their_names(gputime, find, tmp_path):
    trace = Trace()
    for number in range(120):
        trace.op(100 + 20 * number, 4, name=f"kernel_{number % 8}")
    trace.op(4000, 5, name="kernel_0")
    trace.op(4020, 30, name="kernel_0")
    evidence = find(trace)["tiny_kernels"]["evidence"]
    assert evidence[1] == "'kernel_0': 16 launches of 5 us or less, 4.063 us on average."
    assert evidence[2] == "'kernel_1': 15 launches of 5 us or less, 4 us on average."
    row = gputime.json("summary", tmp_path / "trace.json", "--table", "tiny_kernels")["tables"]["tiny_kernels"]["rows"][0]
    assert (row["name"], row["count"], row["avg_ns"]) == ("kernel_0", 16, 4062.5)
    longer = Trace()
    late_launches(longer, 120, 20)
    assert "tiny_kernels" not in find(longer)


def test_an_inference_is_bound_by_launching_and_its_token_copy_is_named(gputime, shared):
    def of(name):
        return {one["id"]: one for one in gputime.json("findings", shared(f"data/h200/nsys/infer/infer.{name}"))["findings"]}

    found = of("nsys-rep")
    host = found["host_bound"]
    assert host["severity"] == "high" and host["title"].startswith("Host-bound in 'decode'")
    assert host["recoverable_ns"] < 450_000_000  # of the 2.7 s, the last 0.47 s are no warm-up
    assert any("Warm-up excluded" in sentence for sentence in host["evidence"])
    assert "readback" not in found  # without these reads the CPU launches as slowly
    assert any(sentence.startswith("cudaStreamSynchronize makes the CPU wait for a copy 48 times (24 per step)")
               for sentence in host["evidence"])
    assert [{**one, "input": None} for one in found.values()] == [{**one, "input": None} for one in of("sqlite").values()]


def test_the_longest_wait_is_named_by_the_operator_that_was_called_else_by_the_innermost_range(find):
    def words(*inner):
        trace = behind(wait=3000, after=20)
        trace.range("epoch", 1, 8000)
        trace.range("ProfilerStep#3", 1050, 3100)
        trace.call("cudaStreamSynchronize", 500, 100)
        for add, name, start, length in inner:
            getattr(trace, add)(name, start, length)
        return [one for one in find(trace)["sync_waits"]["evidence"] if one.startswith("The longest wait")]

    outer = [("range", "validate", 1060, 3050), ("range", "other", 400, 300)]
    assert words() == ["The longest wait is in 'epoch'."]
    assert words(*outer) == ["The longest wait is in 'validate'."]
    assert words(*outer, ("operator", "c10d::barrier", 1090, 3015), ("operator", "record_param_comms", 1095, 3008),
                 ("operator", "aten::item", 450, 200)) == ["The longest wait is in 'c10d::barrier'."]


@pytest.mark.parametrize("name, is_copy", [("aten::to", True), ("aten::copy_", True), ("c10d::barrier", False)])
def test_copies_that_wait_need_not(find, name, is_copy):
    trace = behind(wait=3000, after=20)
    trace.operator(name, 1090, 3015)
    finding = find(trace)["sync_waits"]
    assert f"The longest wait is in '{name}'." in finding["evidence"]
    assert ("non_blocking=True" in finding["advice"][0]) == is_copy
