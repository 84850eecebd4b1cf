"""Rules of the findings that have no file of their own: each is reported where it should be, and not where it should not."""

import pytest

from finding_traces import US, findings_of, late_launches, made, overhead, sample, storm, tiny

# rule, how its trace is made, severity (None: it is not reported), potential saving in us (None: not known)
CASES = [
    ("launch_storm", made(storm), "low", None),
    ("launch_storm", made(late_launches, 1200, 20), None, None),
    ("launch_storm", made(storm, nodes=100), None, None),  # of graphs
    ("tiny_kernels", made(tiny), "low", None),
    ("tiny_kernels", made(late_launches, 120, 20), None, None),
    ("graph_time", sample("graph_whole.nsys-rep"), "low", None),
    ("graph_time", sample("extras.nsys-rep"), None, None),
    ("profiler_overhead", made(overhead), "low", None),
    ("profiler_overhead", made(overhead, start=5000), None, None),  # after the span
    ("dropped_events", sample("graph_whole.nsys-rep"), "low", None),
    ("dropped_events", made(overhead), None, None),
]


@pytest.mark.parametrize("rule, make, severity, saving_us", CASES, ids=[f"{case[0]}-{case[2]}-{i}" for i, case in enumerate(CASES)])
def test_rule(gputime, tmp_path, rule, make, severity, saving_us):
    found = findings_of(gputime, make(tmp_path))
    if severity is None:
        assert rule not in found, found[rule]
        return
    assert rule in found, list(found)
    assert found[rule]["severity"] == severity, found[rule]
    assert found[rule]["recoverable_ns"] == (None if saving_us is None else saving_us * US), found[rule]


def test_tiny_kernels_are_reported_without_the_longer_ones_of_their_names(gputime, tmp_path):
    def make(trace):
        tiny(trace)
        trace.op(4000, 5, name="kernel_0")
        trace.op(4020, 30, name="kernel_0")

    path = made(make)(tmp_path)
    evidence = findings_of(gputime, path)["tiny_kernels"]["evidence"]
    assert evidence[1] == "'kernel_0': 16 launches of 5 us or less, 4.063 us on average."
    assert evidence[2] == "'kernel_1': 15 launches of 5 us or less, 4 us on average."
    row = gputime.json("summary", path, "--table", "tiny_kernels")["tables"]["tiny_kernels"]["rows"][0]
    assert (row["name"], row["count"], row["avg_ns"]) == ("kernel_0", 16, 4062.5)


def launched_by(make, call, kernel=None):
    """The same trace with another launch call, and kernels of another name."""
    def write(trace):
        make(trace)
        for event in trace.events:
            event["name"] = call if event["cat"] == "cuda_runtime" else kernel or event["name"]

    return made(write)


@pytest.mark.parametrize("call, words", [("cudaLaunchKernel", "a CUDA graph"), ("hipLaunchKernel", "a HIP graph")])
def test_graphs_have_the_name_of_the_platform(gputime, tmp_path, call, words):
    assert findings_of(gputime, launched_by(tiny, call)(tmp_path))["tiny_kernels"]["title"].endswith(words)


@pytest.mark.parametrize("call, kernel, words", [
    ("cudaLaunchKernel", "void vllm::rms_norm_kernel<c10::BFloat16>(int)", "--enforce-eager, SGLang: without --disable-cuda-graph"),
    ("hipLaunchKernel", "void vllm::rms_norm_kernel<c10::BFloat16>(int)", "HIP graphs (vLLM: without --enforce-eager), and"),
    ("cudaLaunchKernel", "void at::native::elementwise_kernel<4>(int)", "torch.compile(mode='reduce-overhead')"),
])
def test_an_inference_engine_captures_graphs_itself(gputime, tmp_path, call, kernel, words):
    advice = findings_of(gputime, launched_by(tiny, call, kernel)(tmp_path))["host_bound"]["advice"]
    assert words in advice[0] and ("engine" in advice[0]) == ("vllm" in kernel)
    assert ("reduce-overhead" in " ".join(advice)) == ("vllm" not in kernel)
    assert call[0] == "c" or "cuda" not in " ".join(advice).lower()
