"""Findings on compute: products without tensor cores, unfused attention, chains of element-wise kernels, optimizers that
launch a kernel for each parameter, and one kernel that takes most of the time."""

import json

import pytest

US = 1000
ARRAY = "std::array<char*, {}ul> >(int, ...)"
MUL = "void at::native::vectorized_elementwise_kernel<8, at::native::AUnaryFunctor<float, MulFunctor<float> >, " + ARRAY.format(2)
ADD = "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<float>, " + ARRAY.format(3)
SIGMOID = "void at::native::vectorized_elementwise_kernel<8, at::native::sigmoid_kernel_cuda(...), " + ARRAY.format(2)
SQRT = "void at::native::vectorized_elementwise_kernel<8, at::native::sqrt_kernel_cuda(...), " + ARRAY.format(2)
ADDCDIV = "void at::native::vectorized_elementwise_kernel<8, at::native::addcdiv_cuda_kernel(...), " + ARRAY.format(4)
COPY = "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(...), " + ARRAY.format(2)
MASK = "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<masked_fill_kernel(...)> >(int)"
SOFTMAX = "void (anonymous namespace)::softmax_warp_forward<float, float, float, 11, false, false>(float*, float const*, int)"
SOFTMAX_BACKWARD = "void at::native::cunn_SoftMaxBackwardSmem<4, float, float, float, SoftMaxBackwardEpilogue>(float*)"
LOG_SOFTMAX = "void at::native::cunn_SoftMaxForwardReg<float, float, float, at::native::LogSoftMaxForwardEpilogue>(float*)"
TOPK = "void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(int)"
PRODUCT = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT"
FLASH = "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4> >(Flash_fwd_params)"
FUSED = "void at::native::multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<4>, FusedAdamMathFunctor<float> >(int)"
SGEMM = "ampere_sgemm_128x64_nn"
H100, A10, T4, P100 = (9, 0), (8, 6), (7, 5), (6, 0)


class Trace:
    """Kernels of one stream, one after the other; times in microseconds."""

    def __init__(self, capability=H100):
        self.events, self.at, self.number = [], 1000, 0
        self.device = {"id": 0, "name": "GPU"}
        if capability:
            self.device |= {"computeMajor": capability[0], "computeMinor": capability[1]}

    def event(self, category, name, start, length, tid=1, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": length,
                            "args": args})

    def run(self, length, *names, gap=0, call="cudaLaunchKernel"):
        """Launched long before or, with a gap, just before they start."""
        for name in names:
            self.number += 1
            self.at += gap
            category = {"Memcpy": "gpu_memcpy", "Memset": "gpu_memset"}.get(name[:6], "kernel")
            self.event("cuda_runtime", call, self.at - 2 if gap else self.number / 10, 1 if gap else 0.05,
                       correlation=self.number)
            self.event(category, name, self.at, length, tid=7, device=0, stream=7, correlation=self.number)
            self.at += length
        return self

    def fill(self, length):
        """Other work, no kernel of which takes most of the time."""
        return self.run(length / 10, *(f"work_{letter}" for letter in "abcdefghij"))

    def write(self, folder):
        path = folder / "trace.json"
        path.write_text(json.dumps({"deviceProperties": [self.device], "traceEvents": self.events}))
        return path


@pytest.fixture
def find(gputime, tmp_path):
    """The findings of a trace by id."""
    return lambda trace: {one["id"]: one for one in gputime.json("findings", trace.write(tmp_path))["findings"]}


# ---- no_tensor_cores ----

@pytest.mark.parametrize("capability, saved", [(H100, 87.5), (A10, 50), (T4, 87.5), (None, 50)])
def test_float32_products_on_the_ordinary_cores(find, capability, saved):
    finding = find(Trace(capability).run(100, SGEMM, SGEMM).fill(300))["no_tensor_cores"]
    assert finding["recoverable_ns"] == 2 * saved * US
    assert finding["title"] == f"float32 matrix products without tensor cores cost {saved * 2 / 5:.1f}% of the time"
    assert f"2 kernels took 200 us; on tensor cores they would be about {100 / (100 - saved):.0f} times as fast." in finding["evidence"]
    assert any("TF32" in one for one in finding["advice"]) == (capability != T4)


@pytest.mark.parametrize("name", [
    "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
    "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nt_align1>(cutlass_80_simt_sgemm_256x128_8x4_nt_align1::Params)",
    "volta_sgemm_128x64_tn", "magma_sgemmEx_kernel<float, float, float, true, false, 6, 3, 4, 5, 3>",
])
def test_names_of_float32_products(find, name):
    assert find(Trace().run(100, name).fill(400))["no_tensor_cores"]["recoverable_ns"] == 87.5 * US


@pytest.mark.parametrize("name", [
    "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_stage3_warpsize2x2x1_tensor16x8x8_execute_kernel__5x_cublas",
    "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_32x3_nt_align4>(int)", PRODUCT, "ampere_dgemm_64x64_nn",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", "void gemv2T_kernel_val<int, int, float, float, float>(int)",
    "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float, cutlass::arch::Sm80>::Params)",
    "Cijk_Ailk_Bljk_SB_MT64x64x16_MI16x16x4x1_SN_1LDSB0",
])
def test_products_on_tensor_cores_and_in_double_precision_are_no_fault(find, name):
    assert "no_tensor_cores" not in find(Trace().run(100, name).fill(400))


def test_an_old_gpu_has_no_tensor_cores_to_use(find):
    assert "no_tensor_cores" not in find(Trace(P100).run(100, SGEMM).fill(400))


def test_products_below_a_hundredth_of_the_time_are_left_out(find):
    assert find(Trace().run(100, SGEMM).fill(8650))["no_tensor_cores"]["severity"] == "low"
    assert "no_tensor_cores" not in find(Trace().run(100, SGEMM).fill(8651))


def test_convolutions_gain_less(find):
    finding = find(Trace().run(90, "void implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1>(int)").fill(400))["no_tensor_cores"]
    assert finding["recoverable_ns"] == 60 * US
    assert finding["title"].startswith("float32 convolutions without tensor cores")


@pytest.mark.parametrize("name", ["void cudnn::detail::dgrad_engine<{}, 512, 6, 5, 3, 3, 3, false>(int)",
                                  "void cudnn::cnn::wgrad_alg0_engine<{}, 128, 6, 7, 3, 3, 5, false, 512>(int)"])
def test_gradients_of_convolutions_say_the_type_of_their_data(find, name):
    finding = find(Trace().run(90, name.format("float")).fill(400))["no_tensor_cores"]
    assert finding["recoverable_ns"] == 60 * US and finding["title"].startswith("float32 convolutions")
    assert "no_tensor_cores" not in find(Trace().run(90, name.format("__half")).fill(400))


def test_16_bit_products_that_tensor_cores_refused_need_other_shapes(find):
    finding = find(Trace().run(100, "ampere_fp16_sgemm_fp16_128x64_nn").fill(300))["no_tensor_cores"]
    assert finding["title"].startswith("16-bit matrix products without tensor cores")
    assert "multiples of 8" in finding["advice"][0] and not any("TF32" in one for one in finding["advice"])


def test_amd_has_matrix_cores(find):
    finding = find(Trace(None).run(100, "Cijk_Ailk_Bljk_SB_MT64x64x8_SN_1LDSB0_APM1", call="hipLaunchKernel").fill(300))["no_tensor_cores"]
    assert finding["title"].startswith("float32 matrix products without matrix cores")
    assert finding["recoverable_ns"] == 50 * US and not any("TF32" in one for one in finding["advice"])


# ---- unfused_attention ----

def test_softmax_between_two_products_is_attention(find):
    trace = Trace().run(50, PRODUCT).run(100, MUL, MASK, COPY, SOFTMAX, COPY).run(50, PRODUCT).fill(400)
    finding = find(trace)["unfused_attention"]
    assert finding["recoverable_ns"] == 500 * US
    assert finding["title"] == "Unfused attention: softmax, masks and scaling as separate kernels cost 50.0% of the time"
    assert finding["evidence"][:2] == [
        "1 softmax runs between two matrix products of attention (forward or backward).",
        "Softmax takes 100 us, the element-wise kernels around it 400 us.",
    ]
    assert "unfused_elementwise" not in find(trace)


def test_copies_and_fills_of_the_driver_are_passed_and_not_claimed(find):
    trace = Trace().run(50, PRODUCT).run(10, "Memset (Device)", "Memcpy DtoD (Device -> Device)")
    trace.run(100, SOFTMAX_BACKWARD).run(10, "Memset (Device)").run(50, PRODUCT).fill(400)
    assert find(trace)["unfused_attention"]["recoverable_ns"] == 100 * US


@pytest.mark.parametrize("names", [
    [PRODUCT, LOG_SOFTMAX, PRODUCT],  # a loss
    [PRODUCT, SOFTMAX, TOPK, PRODUCT],  # the router of experts, sampling
    [PRODUCT, SOFTMAX, MUL],  # nothing follows
    [MUL, SOFTMAX, PRODUCT],
    [PRODUCT, FLASH, PRODUCT],
    [PRODUCT, *[MUL] * 17, SOFTMAX, PRODUCT],  # too far away
])
def test_other_softmaxes_are_no_attention(find, names):
    assert "unfused_attention" not in find(Trace().run(100, *names).fill(400))


def test_products_sixteen_ops_away_are_near(find):
    names = [PRODUCT, *[MUL] * 16, SOFTMAX, *[MUL] * 16, PRODUCT]
    assert find(Trace().run(100, *names).fill(400))["unfused_attention"]["recoverable_ns"] == 3300 * US


# ---- unfused_elementwise ----

def test_a_chain_saves_what_its_kernels_hand_on(find):
    """The sum reads another tensor, which it has to read once fused, too."""
    trace = Trace().run(100, MUL).run(150, ADD).run(100, SIGMOID).fill(400)
    trace.event("user_annotation", "activation", 0, 0.25)
    trace.event("cpu_op", "aten::mul", 0.09, 0.1)
    finding = find(trace)["unfused_elementwise"]
    assert finding["recoverable_ns"] == 200 * US
    assert finding["title"] == "Unfused element-wise kernels in 'activation' cost 26.7% of the time"
    assert finding["evidence"] == [
        "3 kernels over large tensors, one directly after the other, in 1 chain: 350 us.",
        "The longest chain has 3 kernels and takes 350 us: 'aten::mul'.",
        "Each writes its result to memory and the next one reads it; fused, 42.9% of that time would remain.",
    ]


@pytest.mark.parametrize("make", [
    lambda: Trace().run(100, MUL, ADD),  # too short
    lambda: Trace().run(100, MUL, PRODUCT, ADD, PRODUCT, SIGMOID),
    lambda: Trace().run(9.999, MUL, ADD, SIGMOID, MUL, ADD),  # limited by launches
    lambda: Trace().run(100, MUL, COPY, COPY),  # copies alone are no reason to fuse
    lambda: Trace().run(100, *[MUL] * 7),  # a loop over tensors
    lambda: Trace().run(100, *[MUL] * 4).run(130, *[MUL] * 4),
    lambda: Trace().run(100, MUL).run(401, SIGMOID).run(100, MUL),  # of other sizes
    lambda: Trace().run(100, "triton_poi_fused_add_mul_0", "triton_poi_fused_add_mul_1", "triton_poi_fused_sigmoid_2"),
])
def test_no_chain(find, make):
    assert "unfused_elementwise" not in find(make().fill(800))


def test_the_same_kernel_again_and_again_is_a_chain(find):
    assert find(Trace().run(100, *[SIGMOID] * 8).fill(800))["unfused_elementwise"]["recoverable_ns"] == 700 * US


# ---- unfused_optimizer ----

def updates(trace, parameters, names=(MUL, SQRT, MUL, ADDCDIV), **settings):
    for _ in range(parameters):
        trace.run(2, *names, **settings)
    return trace


def test_an_optimizer_is_known_by_its_operations(find):
    finding = find(updates(Trace(), 13).fill(300))["unfused_optimizer"]
    assert finding["title"] == "The optimizer launches a kernel for each parameter and operation: 15.4% of the time"
    assert finding["recoverable_ns"] == 4 * 13 * 2 * 0.6 * US
    assert finding["evidence"][0] == "The optimizer launches 52 element-wise kernels, 4.0 for each of about 13 parameters."
    assert "unfused_optimizer" not in find(updates(Trace(), 12).fill(300))  # too few


@pytest.mark.parametrize("name", ["Optimizer.step#SGD.step", "optimizer", "adamw_update"])
def test_an_optimizer_is_known_by_its_range(find, name):
    trace = updates(Trace(), 20, (MUL, ADD, MUL)).fill(300)
    trace.event("user_annotation", name, 0, 6.07)
    finding = find(trace)["unfused_optimizer"]
    assert finding["title"].startswith(f"'{name}' launches a kernel for each parameter")
    assert finding["evidence"][0] == "The optimizer launches 60 element-wise kernels."


@pytest.mark.parametrize("name", ["Optimizer.zero_grad#SGD.zero_grad", "train_step with optimizer", "activation"])
def test_other_ranges_are_no_optimizer(find, name):
    trace = updates(Trace(), 20, (MUL, ADD, MUL)).fill(300)
    trace.event("user_annotation", name, 0, 6.07)
    assert "unfused_optimizer" not in find(trace)


def test_a_range_with_products_is_more_than_an_optimizer(find):
    trace = updates(Trace().run(100, PRODUCT), 20, (MUL, ADD, MUL)).fill(300)
    trace.event("user_annotation", "optimizer and all", 0, 6.17)
    assert "unfused_optimizer" not in find(trace)


def test_a_fused_optimizer_is_fine(find):
    trace = Trace().run(100, *[FUSED] * 60).fill(300)
    trace.event("user_annotation", "Optimizer.step#Adam.step", 0, 7)
    assert "unfused_optimizer" not in find(trace)


def test_waits_for_the_launches_of_an_optimizer_are_its_own(find):
    found = find(updates(Trace().fill(2000), 13, gap=10).fill(2000))
    alone = find(updates(Trace().fill(2000), 13).fill(2000))
    waits_ns = found["unfused_optimizer"]["recoverable_ns"] - alone["unfused_optimizer"]["recoverable_ns"]
    assert 0.9 * 52 * 10 * US < waits_ns <= 52 * 10 * US
    assert "host_bound" not in found


def test_a_stall_is_no_wait_for_a_launch(find):
    found = find(updates(updates(Trace(), 13), 1, gap=1000).fill(500))
    assert found["unfused_optimizer"]["recoverable_ns"] == 56 * 2 * 0.6 * US
    assert found["host_stalls"]["recoverable_ns"] > 3900 * US


def test_waits_count_less_where_the_profiler_records_operators(find):
    trace = updates(Trace().fill(2000), 13, gap=10).fill(2000)
    without = find(trace)["unfused_optimizer"]
    trace.event("cpu_op", "aten::mul", 0, 1)
    finding = find(trace)["unfused_optimizer"]
    kernels_ns = 52 * 2 * 0.6 * US
    assert finding["recoverable_ns"] - kernels_ns == pytest.approx(0.8 * (without["recoverable_ns"] - kernels_ns), abs=52)
    assert any("The profiler makes each launch slower" in one for one in finding["evidence"])


def test_findings_on_compute_promise_no_more_than_there_is_compute(find):
    """Here the waits are longer than all kernels."""
    found = find(updates(Trace(), 50, gap=50).run(20, PRODUCT, gap=50))
    assert 0 < found["unfused_optimizer"]["recoverable_ns"] <= 200 * 2 * 0.6 * US + 20 * US


# ---- dominant_kernel ----

def test_one_kernel_takes_most_of_the_time(find):
    finding = find(Trace().run(100, "big<int>(float*)").fill(300))["dominant_kernel"]
    assert finding["title"] == "One kernel takes 25.0% of kernel time: 'big'"
    assert finding["severity"] == "low" and finding["recoverable_ns"] is None
    assert "Nsight Compute" in finding["advice"][0]
    assert "dominant_kernel" not in find(Trace().run(100, "big<int>(float*)").fill(301))


def test_amd_has_its_own_profiler_of_kernels(find):
    finding = find(Trace(None).run(100, "big", call="hipLaunchKernel").fill(200))["dominant_kernel"]
    assert "rocprofv3" in finding["advice"][0]


def test_kernels_that_differ_in_their_arguments_are_several(find):
    assert "dominant_kernel" not in find(Trace().run(100, *(f"big<{number}>(float*)" for number in range(5))))


def test_a_collective_is_nothing_for_a_profiler_of_kernels(find):
    assert "dominant_kernel" not in find(Trace().run(500, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)").fill(300))


def test_a_kernel_that_another_finding_is_about_is_not_reported_again(find):
    found = find(Trace().run(500, SGEMM).fill(300))
    assert "no_tensor_cores" in found and "dominant_kernel" not in found
