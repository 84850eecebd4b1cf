"""Findings on kernels against their roofs: far from it, idle SMs because of the grid, converted layouts, tensor cores by
FLOPs and bytes, and what memory events say about the allocator."""

import shlex

import pytest

from efficiency_by_hand import BANDWIDTH, BF16, FP32_FLOPS, H200, TF32_FLOPS, Operators, arguments
from finding_traces import findings_of
from test_counters import PERIOD, Sampled
from test_memory_use import GB, MB, Allocating

BIG = ((8192, 8192), BF16)
MUL_US = 3 * 2 * 8192 ** 2 / BANDWIDTH * 1e6  # at the roof
PRODUCT = [BIG, BIG]
PRODUCT_US = 2 * 8192 ** 3 / (4096 * 132 * 1830e6) * 1e6
ADVICE_ON_LAYOUT = "channels_last"


def kernels(trace, name, values, length, kernel="kernel_a", count=10, grid=(132, 1, 1), launched=None, **args):
    """One operator after the other, all launched long before."""
    for number in range(count):
        start = 10 * (len(trace.events) + 1)
        trace.operator(name, start, 8, **arguments(values), **args)
        trace.at = trace.op(max(trace.at, 100_000), length, kernel, launched=start + 2, grid=list(grid),
                            block=[256, 1, 1], **{"registers per thread": 32, "shared memory": 0})
    return trace


def filled(trace, length=1000):
    """Other work, of which nothing is known."""
    for letter in "abcdefghij":
        trace.at = trace.op(max(trace.at, 100_000), length / 10, f"work_{letter}", launched=5)
    return trace


def found(gputime, tmp_path, trace, *options):
    return findings_of(gputime, trace.write(tmp_path), "--no-cache", *options)


# ---- low_efficiency ----


def slow(times, count=10):
    """Element-wise kernels that take so many times as long as memory needs."""
    return filled(kernels(Operators(), "aten::mul", PRODUCT, times * MUL_US, kernel="slow_kernel", count=count))


def test_kernels_far_from_their_roof(gputime, tmp_path):
    finding = found(gputime, tmp_path, slow(5))["low_efficiency"]
    span = 10 * 5 * MUL_US + 1000
    lost = 10 * (5 - 1 / 0.7) * MUL_US
    assert finding["recoverable_ns"] == pytest.approx(lost * 1000, rel=1e-3)
    assert finding["share"] == pytest.approx(lost / span, rel=1e-3)
    assert finding["severity"] == "medium"  # one lower
    assert finding["title"].startswith("A kernel is far from the GPU's limits: 57.7%") and "'slow_kernel' (elementwise)" in finding["title"]
    assert "at 20.0% of its roof (memory-bound, work known by shape)." in finding["evidence"][0]
    assert finding["table"] == "efficiency" and any("Nsight Compute" in one for one in finding["advice"])


@pytest.mark.parametrize("times", [1.2, 2, 2.8])
def test_kernels_near_enough_to_their_roof(gputime, tmp_path, times):
    """Good ones of this kind take 1.43 times as long as memory needs; twice as long is far."""
    assert "low_efficiency" not in found(gputime, tmp_path, slow(times))


def test_the_most_lost_time_comes_first(gputime, tmp_path):
    """Not the lowest share: a kernel at 4 % of its roof that runs once loses less."""
    trace = kernels(slow(5), "aten::mul", PRODUCT, 25 * MUL_US, kernel="rare_kernel", count=1)
    evidence = found(gputime, tmp_path, trace)["low_efficiency"]["evidence"]
    assert evidence[0].startswith("'slow_kernel'") and evidence[1].startswith("'rare_kernel'")


def test_short_kernels_are_no_question_of_efficiency(gputime, tmp_path):
    small = ((512, 512), BF16)
    trace = filled(kernels(Operators(), "aten::mul", [small, small], 50, count=50))
    assert not {"low_efficiency", "tail"} & set(found(gputime, tmp_path, trace))


def test_a_lower_bound_of_the_work_says_too_little(gputime, tmp_path):
    packed = [((16384, 16, 128), BF16)] * 3 + [((17,), "int")] * 2 + ["1024", "1024", "0.", "True"]
    trace = filled(kernels(Operators(), "aten::_flash_attention_forward", packed, 5000))
    assert "low_efficiency" not in found(gputime, tmp_path, trace)


def test_unknown_gpus_have_no_roofs(gputime, tmp_path):
    trace = slow(5)
    trace.gpus = (H200 | {"name": "GPU of tomorrow", "computeMajor": 99},)
    assert "low_efficiency" not in found(gputime, tmp_path, trace)


@pytest.mark.parametrize("command", ["summary", "explain"])
def test_other_reports_do_not_read_arguments(gputime, tmp_path, command):
    report = gputime.json(command, slow(5).write(tmp_path), "--no-cache")
    assert "low_efficiency" not in {finding["id"] for finding in report["findings"]}


def test_the_saving_is_simulated(gputime, shared):
    path = shared("data/h200/efficiency/ops_zoo.json.gz")
    finding = findings_of(gputime, path)["low_efficiency"]
    simulation = finding["simulation"]
    assert finding["saving_by"] == "simulation" and "fmha_cutlass" in finding["title"]
    assert 0 < finding["recoverable_ns"] <= simulation["base_ns"] - simulation["predicted_ns"]
    done = gputime.json("whatif", path, *shlex.split(simulation["command"])[3:])["tables"]["whatif"]["rows"]
    assert [row["predicted_ns"] for row in done if row["predicted_ns"] == simulation["predicted_ns"]]


def test_why_lists_what_it_claims(gputime, tmp_path):
    report = gputime.json("findings", "--why", "low_efficiency", slow(5).write(tmp_path), "--no-cache")
    rows = report["tables"]["finding_rows"]["rows"]
    assert len(rows) == 10 and sum(row["claimed_ns"] for row in rows) == report["findings"][0]["recoverable_ns"]
    assert {"slow_ratio", "good_vectors"} <= {row["threshold"] for row in report["tables"]["finding_thresholds"]["rows"]}


def test_advice_fits_the_work(gputime, tmp_path):
    heads = ((4, 16, 2048, 128), BF16)
    values = [heads, heads, heads, "0.", "False", "False", None]
    trace = filled(kernels(Operators(), "aten::_scaled_dot_product_flash_attention", values, 2000, kernel="flash_fwd_kernel"))
    assert any("FlashAttention 3" in one for one in found(gputime, tmp_path, trace)["low_efficiency"]["advice"])
    trace = filled(kernels(Operators(), "aten::mm", PRODUCT, 4 * PRODUCT_US))
    assert any("multiples of the tile" in one for one in found(gputime, tmp_path, trace)["low_efficiency"]["advice"])


def test_counters_know_roofs_where_operators_do_not(gputime, tmp_path):
    def sampled(dram):
        trace = Sampled()
        trace.op(0, 100 * PERIOD, "kernel_a")
        for number in range(100):
            trace.sample(number * PERIOD, gpc_mhz=1830 * 1_000_000, tensor=1, dram_read=dram, dram_write=0, sm_issue=5)
        return findings_of(gputime, trace.write(tmp_path))
    assert "work known by counter" in sampled(20)["low_efficiency"]["evidence"][0]
    assert "low_efficiency" not in sampled(60)


# ---- tail ----


def grids(blocks, length=3):
    """8 blocks fit on each of 132 SMs: 1056 blocks are a wave."""
    return filled(kernels(Operators(), "aten::mul", PRODUCT, length * MUL_US, kernel="tail_kernel", grid=(blocks, 1, 1)))


@pytest.mark.parametrize("blocks, part", [(1100, 1 - 1100 / 2112), (66, 0.5)])
def test_grids_that_leave_sms_idle(gputime, tmp_path, blocks, part):
    all_found = found(gputime, tmp_path, grids(blocks))
    finding = all_found["tail"]
    part = min(part, 1 - 1 / 3 / 0.7)
    assert finding["recoverable_ns"] == pytest.approx(10 * 3 * MUL_US * part * 1000, rel=1e-3)
    assert f"{blocks:,} blocks in {blocks / 1056:.2f} waves" in finding["evidence"][0]
    assert "low_efficiency" not in all_found, "no time is promised twice"


@pytest.mark.parametrize("blocks, length", [(1056, 3), (132, 3), (10_600, 3), (1100, 1.2)])
def test_grids_that_do_not_matter(gputime, tmp_path, blocks, length):
    """Full waves, many of them, and kernels that reach their roof all the same."""
    assert "tail" not in found(gputime, tmp_path, grids(blocks, length))


# ---- layout_copies ----


def layouts(length, gpu=H200):
    trace = filled(Operators(gpu))
    for number in range(10):
        for kernel in ("void cudnn::nchwToNhwcKernel<__half>(int)", "void cudnn::nhwcToNchwKernel<__half>(int)"):
            trace.at = trace.op(trace.at, length, kernel, launched=50 + number)
    return trace


def test_layouts_are_converted_for_convolutions(gputime, tmp_path):
    finding = found(gputime, tmp_path, layouts(10))["layout_copies"]
    assert (finding["recoverable_ns"], finding["share"]) == (200_000, pytest.approx(200 / 1200))
    assert finding["title"] == "Layouts of tensors are converted for convolutions: 16.7% of the time"
    assert "'nchwToNhwcKernel': 10 kernels, 100 us." in finding["evidence"]
    assert any(ADVICE_ON_LAYOUT in one for one in finding["advice"])
    assert "layout_copies" in {one["id"] for one in gputime.json("summary", layouts(10).write(tmp_path))["findings"]}


def test_few_conversions_do_not_matter(gputime, tmp_path):
    assert "layout_copies" not in found(gputime, tmp_path, layouts(0.1))


# ---- no_tensor_cores, by FLOPs and bytes ----

SINGLE = ((4096, 4096), "float")


def products(values, length, kernel, name="aten::mm"):
    return filled(kernels(Operators(), name, values, length, kernel=kernel), 100)


def test_products_are_known_by_their_operator(gputime, tmp_path):
    """No name says that the kernel uses ordinary cores."""
    length = 2 * 4096 ** 3 / FP32_FLOPS * 1e6 / 0.9
    finding = found(gputime, tmp_path, products([SINGLE, SINGLE], length, "my_product"))["no_tensor_cores"]
    gain = length * 0.75 / (2 * 4096 ** 3 / TF32_FLOPS * 1e6)
    assert gain < 8 and finding["recoverable_ns"] == pytest.approx(10 * length * (1 - 1 / gain) * 1000, rel=1e-3)
    assert finding["evidence"][0].endswith("about 6 times as fast, by their FLOPs and bytes.")


def test_memory_limits_what_tensor_cores_gain(gputime, tmp_path):
    """A product of a matrix with few vectors reads the matrix."""
    values = [((8, 16384), "float"), ((16384, 16384), "float")]
    at_memory = 4 * (16384 ** 2 + 2 * 8 * 16384) / BANDWIDTH * 1e6
    assert "no_tensor_cores" not in found(gputime, tmp_path, products(values, at_memory / 0.76, "ampere_sgemm_32x32"))
    finding = found(gputime, tmp_path, products(values, 2 * at_memory / 0.75, "ampere_sgemm_32x32"))["no_tensor_cores"]
    assert finding["recoverable_ns"] == pytest.approx(10 * at_memory / 0.75 * 1000, rel=1e-3)


def test_products_for_convolutions_gain_as_convolutions(gputime, tmp_path):
    x, w = ((64, 256, 56, 56), "float"), ((256, 256, 3, 3), "float")
    values = [x, w, None, "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"]
    trace = products(values, 8000, "ampere_sgemm_128x64_nn", "aten::convolution")
    finding = found(gputime, tmp_path, trace)["no_tensor_cores"]
    assert "convolutions" in finding["title"]
    assert finding["recoverable_ns"] == pytest.approx(10 * 8000 * (1 - 1 / 3) * 1000, rel=1e-3)


@pytest.mark.parametrize("values, kernel", [([SINGLE, SINGLE], "cutlass_80_tensorop_s1688gemm_128x128"),
                                            ([SINGLE, SINGLE], "nvjet_sm90_ss"), (PRODUCT, "my_product")])
def test_products_on_tensor_cores(gputime, tmp_path, values, kernel):
    assert "no_tensor_cores" not in found(gputime, tmp_path, products(values, 3000, kernel))


# ---- allocator, by memory events ----


def allocating(reserved):
    """cudaMalloc and cudaFree between kernels, and what is reserved after each."""
    trace = Allocating()
    for number, size in enumerate(reserved):
        start = 1000 * number
        trace.op(start + 500, 300, launched=start + 490)
        trace.call("cudaFree", start + 10, 200)
        trace.call("cudaMalloc", start + 220, 200)
        trace.memory(start + 430, MB, 0x1000 + number, reserved=size)
    return trace


@pytest.mark.parametrize("reserved, words", [
    ([20 * GB, 4 * GB] * 5, ["The cache is flushed 5 times: 80 GB of reserved memory go back to the driver, 64 GB are taken again.",
                             "At most 20 GB of 80 GB are reserved: the GPU is not full, so the program itself empties the cache."]),
    ([79 * GB, 60 * GB] * 5, ["At most 79 GB of 80 GB are reserved: the GPU is full, and the allocator frees its cache to try again."]),
    ([n * GB for n in range(1, 11)], ["Reserved memory grows 9 times, by 9 GB in all, and none is given back: the cache of "
                                      "the allocator is still filling."]),
])
def test_what_the_allocator_does(gputime, tmp_path, reserved, words):
    finding = found(gputime, tmp_path, allocating(reserved))["allocator"]
    assert set(words) <= set(finding["evidence"])
