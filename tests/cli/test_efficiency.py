"""`gputime efficiency`: whose work a kernel does, peaks, rooflines, launch facts, MFU and what is said in words."""

import json
import re
import sqlite3

import pytest

from efficiency_by_hand import BANDWIDTH, BF16, BF16_FLOPS, FP32_FLOPS, H200, Operators, arguments

SQUARE = ((1024, 1024), BF16)
MM = [SQUARE, SQUARE]
MM_FLOPS, MM_BYTES = 2 * 1024 ** 3, 3 * 2 * 1024 ** 2
BIG = ((8192, 8192), BF16)
CONFIG = {"registers per thread": 32, "shared memory": 0}


def unmodelled(report):
    return {issue["id"].removeprefix("unmodelled_"): issue["count"] for issue in report["issues"]
            if issue["id"].startswith("unmodelled_")}


def ops(report):
    return {(row["op"], row["provenance"]): row for row in report["tables"]["op_efficiency"]["rows"]}


# ---- whose work ----


def test_the_innermost_operator_with_a_model_counts(gputime, tmp_path):
    trace = Operators().run("aten::linear", [SQUARE, SQUARE, None], inside=[("aten::t", [SQUARE], {}), ("aten::mm", MM, {}),
                                                                            ("aten::empty", ["[2]"], {})])
    report = trace.report(gputime, tmp_path)
    assert list(ops(report)) == [("aten::mm", "shape")] and not unmodelled(report)


def test_an_operator_without_a_known_one_inside_counts_itself(gputime, tmp_path):
    report = Operators().run("aten::linear", [SQUARE, SQUARE, None],
                             inside=[("library::gemm", MM, {})]).report(gputime, tmp_path)
    assert list(ops(report)) == [("aten::linear", "shape")]


def test_nothing_further_out_is_tried(gputime, tmp_path):
    report = Operators().run("aten::matmul", MM, inside=[("aten::mm", [SQUARE], {})]).report(gputime, tmp_path)
    assert not ops(report) and unmodelled(report) == {"arguments_missing": 1}


def wrapped(outer, outer_values, inner, inner_values):
    """An operator that launches a kernel itself, before the operator inside it does."""
    trace = Operators()
    trace.operator(outer, 100, 50, **arguments(outer_values))
    trace.operator(inner, 130, 10, **arguments(inner_values))
    trace.op(200, 100, "kernel_a", launched=110)
    trace.op(300, 100, "kernel_b", launched=132)
    return trace


ATTENTION = [((2, 8, 64, 64), BF16)] * 3 + [None, "0.", "False"]


@pytest.mark.parametrize("outer, values", [("aten::matmul", MM), ("aten::scaled_dot_product_attention", ATTENTION)])
def test_a_wrapper_does_not_count_twice(gputime, tmp_path, outer, values):
    report = wrapped(outer, values, "aten::mm", MM).report(gputime, tmp_path)
    assert list(ops(report)) == [("aten::mm", "shape")] and unmodelled(report) == {"wrapper": 1}


def test_other_work_inside_leaves_an_operator_its_own(gputime, tmp_path):
    """A copy inside attention is a copy."""
    report = wrapped("aten::scaled_dot_product_attention", ATTENTION, "aten::copy_", [BIG, BIG]).report(gputime, tmp_path)
    assert set(ops(report)) == {("aten::scaled_dot_product_attention", "shape"), ("aten::copy_", "shape")}
    report = wrapped("aten::softmax", [BIG, "1", None], "aten::_softmax", [BIG, "1", "False"]).report(gputime, tmp_path)
    assert set(ops(report)) == {("aten::_softmax", "shape")} and unmodelled(report) == {"wrapper": 1}


def test_kernels_without_a_call_have_the_number_of_their_operator(gputime, tmp_path):
    trace = Operators()
    trace.operator("aten::mm", 100, 50, **arguments(MM), **{"External id": 7})
    trace.operator("aten::mm", 160, 50, **arguments([BIG, BIG]), **{"External id": 8})
    trace.event("kernel", "k", 200, 100, 0, 7, device=0, stream=7, **{"External id": 7})
    trace.event("kernel", "k", 400, 100, 0, 7, device=0, stream=7, **{"External id": 9})
    report = trace.report(gputime, tmp_path)
    assert [row["flops"] for row in ops(report).values()] == [MM_FLOPS] and unmodelled(report) == {"no_call": 1}


@pytest.mark.parametrize("values, reason", [(None, "no_shapes"), ([SQUARE], "no_model")])
def test_operators_that_say_nothing(gputime, tmp_path, values, reason):
    report = Operators().run("library::op", values).report(gputime, tmp_path)
    assert unmodelled(report) == {reason: 1}
    assert ("no_shapes" in {issue["id"] for issue in report["issues"]}) == (values is None)


def test_kernels_outside_of_operators(gputime, tmp_path):
    trace = Operators().run("aten::mm", MM)
    trace.op(trace.at + 100, 50)
    assert unmodelled(trace.report(gputime, tmp_path)) == {"no_operator": 1}


# ---- backward ----


def backward(forward, values, inner=(), fwd=1, node=None, seq=5):
    """A custom function: forward with shapes, its backward node without."""
    trace = Operators().run(forward, values, **{"Sequence number": seq, "Fwd thread id": 0})
    return trace.run("MyFunctionBackward", node, inside=inner, **{"Sequence number": 5, "Fwd thread id": fwd})


def test_backward_by_sequence_number(gputime, tmp_path):
    rows = ops(backward("aten::mm", MM).report(gputime, tmp_path))
    row = rows["MyFunctionBackward", "sequence"]
    assert (row["flops"], row["bytes"], row["family"]) == (2 * MM_FLOPS, 2 * MM_BYTES, "gemm")


def test_attention_backward_by_sequence_number(gputime, tmp_path):
    trace = backward("aten::scaled_dot_product_attention", [((2, 8, 64, 64), BF16)] * 3 + [None, "0.", "False"])
    report = trace.report(gputime, tmp_path)
    rows, forward = ops(report), 2 * 16 * 64 * 64 * 128
    assert rows["MyFunctionBackward", "sequence"]["flops"] == forward * 5 // 2
    mfu = report["tables"]["mfu"]["rows"][0]
    assert (mfu["flops"], mfu["model_flops"], mfu["dense_flops"]) == (forward * 7 // 2, 3 * forward, 3 * forward)


@pytest.mark.parametrize("trace", [
    backward("aten::mm", MM, seq=6), backward("aten::mul", [BIG, BIG]), backward("aten::mm", MM, fwd=0),
    backward("aten::mm", MM, inner=[("aten::mm", MM, {})])], ids=["other number", "vector", "forward", "matrix inside"])
def test_no_backward_by_sequence_number(gputime, tmp_path, trace):
    assert not any(provenance == "sequence" for _, provenance in ops(trace.report(gputime, tmp_path)))


@pytest.mark.parametrize("launches", [(2, 20), (20, 2)], ids=["outer first", "inner first"])
def test_nodes_inside_each_other_count_once(gputime, tmp_path, launches):
    """PyTorch has two nodes of one number, and either may launch kernels."""
    trace = Operators().run("aten::mm", MM, **{"Sequence number": 5, "Fwd thread id": 0})
    number, at = {"Sequence number": 5, "Fwd thread id": 1}, trace.at
    trace.operator("autograd::engine::evaluate_function: MyBackward", at, 50, tid=2, **number)
    trace.operator("MyBackward", at + 10, 30, tid=2, **number)
    for place, launch in enumerate(launches):
        trace.op(at + 60 + 100 * place, 100, f"kernel_{launch}", launched=at + launch, tid=2)
    report = trace.report(gputime, tmp_path)
    rows = ops(report)
    assert rows["MyBackward", "sequence"]["flops"] == 2 * MM_FLOPS and len(rows) == 2
    assert report["tables"]["mfu"]["rows"][0]["flops"] == 3 * MM_FLOPS and unmodelled(report) == {"no_shapes": 1}


def test_the_latest_forward_operator_counts(gputime, tmp_path):
    trace = Operators()
    for values in ([BIG, BIG], MM):
        trace.run("aten::mm", values, **{"Sequence number": 5, "Fwd thread id": 0})
    trace.run("MyFunctionBackward", None, **{"Sequence number": 5, "Fwd thread id": 1})
    trace.run("aten::mm", [BIG, BIG], **{"Sequence number": 5, "Fwd thread id": 0})
    assert ops(trace.report(gputime, tmp_path))["MyFunctionBackward", "sequence"]["flops"] == 2 * MM_FLOPS


def test_recomputation_is_hardware_work_alone(gputime, tmp_path):
    trace = Operators().run("aten::mm", MM)
    trace.run("autograd::engine::evaluate_function: CheckpointFunctionBackward", None,
              inside=[("aten::mm", MM, {"Sequence number": 9, "Fwd thread id": 0})])
    trace.run("autograd::engine::evaluate_function: MmBackward0", None,
              inside=[("aten::mm", MM, {"Sequence number": 9, "Fwd thread id": 1})])
    report = trace.report(gputime, tmp_path)
    assert sorted(row["recompute"] for row in report["tables"]["op_efficiency"]["rows"]) == [0, 1]
    mfu = report["tables"]["mfu"]["rows"][0]
    assert (mfu["flops"], mfu["model_flops"], mfu["dense_flops"]) == (3 * MM_FLOPS, 2 * MM_FLOPS, 2 * MM_FLOPS)
    assert mfu["hfu"] == pytest.approx(1.5 * mfu["mfu"])


# ---- graphs, names, records ----


def graph_kernel(trace, name="kernel_a", grid=(132, 1, 1)):
    trace.op(trace.at + 10, 100, name, call="cudaGraphLaunch", grid=list(grid), block=[256, 1, 1], **CONFIG)
    trace.at += 200


def test_a_kernel_of_a_graph_has_the_work_of_its_twin(gputime, tmp_path):
    trace = Operators().run("aten::mm", MM)
    graph_kernel(trace)
    report = trace.report(gputime, tmp_path)
    assert ops(report)["aten::mm", "twin"]["flops"] == MM_FLOPS and not unmodelled(report)


@pytest.mark.parametrize("settings", [{"grid": (131, 1, 1)}, {"name": "kernel_b"}])
def test_another_launch_is_no_twin(gputime, tmp_path, settings):
    trace = Operators().run("aten::mm", MM)
    graph_kernel(trace, **settings)
    assert unmodelled(trace.report(gputime, tmp_path)) == {"graph": 1}


def test_twins_with_different_work_say_nothing(gputime, tmp_path):
    trace = Operators().run("aten::mm", MM).run("aten::mm", [BIG, BIG])
    graph_kernel(trace)
    assert unmodelled(trace.report(gputime, tmp_path)) == {"graph": 1}


def multi_tensor(functor):
    return f"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<4>, {functor}, float>(int)"


@pytest.mark.parametrize("functor, size", [
    ("FusedAdamMathFunctor<c10::BFloat16, 4, (at::native::ADAM_MODE)1, false>", 2 * 7),
    ("FusedAdamMathFunctor<float, (int)5, (at::native::ADAM_MODE)0, false>", 4 * 9),
    ("FusedSgdMathFunctor<float, 2>", 4 * 3), ("FusedSgdMathFunctor<double, 3>", 8 * 5),
    ("BinaryOpScalarFunctor<float, 2, 1, 1>", 4 * 2), ("PointwiseOpScalarFunctor<c10::Half, 4, 3, 0>", 2 * 4)])
def test_optimizers_by_name(gputime, tmp_path, functor, size):
    trace = Operators()
    trace.op(100, 1000, multi_tensor(functor), grid=[320, 1, 1], block=[512, 1, 1], **CONFIG)
    row = trace.tables(gputime, tmp_path)["efficiency"][0]
    assert (row["family"], row["provenance"], row["bytes"]) == ("optimizer", "name", 320 * 65536 * size)


@pytest.mark.parametrize("functor", ["LpNormFunctor<float, (at::native::NormType)1, float, 1>", "CopyFunctor<float>",
                                     "FusedAdamMathFunctor<float, 7>", "Functor<c10::complex<float>, 2, 1, 1>"])
def test_other_functors(gputime, tmp_path, functor):
    trace = Operators()
    trace.op(100, 1000, multi_tensor(functor), grid=[320, 1, 1], block=[512, 1, 1], **CONFIG)
    assert trace.tables(gputime, tmp_path)["efficiency"][0]["provenance"] == "unknown"


def test_an_estimate_that_cannot_be(gputime, tmp_path):
    trace = Operators()
    trace.op(100, 1, multi_tensor("FusedAdamMathFunctor<float, 4>"), grid=[320, 1, 1], block=[512, 1, 1], **CONFIG)
    assert unmodelled(trace.report(gputime, tmp_path)) == {"estimate_refuted": 1}


def test_copies_and_fills_as_recorded(gputime, tmp_path):
    trace = Operators()
    trace.op(100, 10, "Memcpy DtoD (Device -> Device)", call="cudaMemcpyAsync", bytes=48_000_000)
    trace.op(200, 10, "Memset (Device)", call="cudaMemsetAsync", bytes=1000)
    trace.op(300, 10, "Memcpy HtoD (Pinned -> Device)", call="cudaMemcpyAsync", bytes=5000)
    tables = trace.tables(gputime, tmp_path)
    rows = {row["name"]: row for row in tables["efficiency"]}
    assert {name: (row["bytes"], row["family"], row["provenance"]) for name, row in rows.items()} == {
        "Memcpy DtoD (Device -> Device)": (96_000_000, "copy", "record"), "Memset (Device)": (1000, "fill", "record")}
    assert rows["Memcpy DtoD (Device -> Device)"]["roofline_ns"] == 20_000 and not tables["op_efficiency"]
    assert {row["part"] for row in tables["waterfall"] if row["ns"]} == {"exposed_memory", "idle"}


# ---- several kernels ----


def test_kernels_share_work_by_time_and_helpers_have_none(gputime, tmp_path):
    trace = Operators()
    trace.operator("aten::mm", 100, 50, **arguments(MM))
    for start, length, name in ((200, 30, "gemm"), (230, 10, "void splitKreduce_kernel<1>()"), (240, 70, "gemm_2")):
        trace.op(start, length, name, launched=110)
    tables = trace.tables(gputime, tmp_path)
    rows = {row["name"]: row for row in tables["efficiency"]}
    assert rows["gemm"]["flops"] == MM_FLOPS * 30 // 100
    assert rows["gemm"]["flops"] + rows["gemm_2"]["flops"] == MM_FLOPS
    assert rows["gemm"]["bytes"] + rows["gemm_2"]["bytes"] == MM_BYTES
    helper = next(row for name, row in rows.items() if "splitK" in name)
    assert (helper["role"], helper["flops"], helper["bytes"], helper["lost_ns"], helper["reason"]) == (
        "helper", 0, 0, 10_000, "extra_kernel")
    operator = tables["op_efficiency"][0]
    assert (operator["count"], operator["kernels"], operator["total_ns"], operator["flops"]) == (1, 3, 110_000, MM_FLOPS)
    assert operator["lost_ns"] == 110_000 - operator["roofline_ns"]
    assert tables["roofline"][0]["count"] == 1


def test_only_helpers_share_like_others(gputime, tmp_path):
    trace = Operators().run("aten::mm", MM, kernels=["nchwToNhwcKernel", "nhwcToNchwKernel"])
    rows = trace.tables(gputime, tmp_path)["efficiency"]
    assert [row["role"] for row in rows] == ["main", "main"] and sum(row["flops"] for row in rows) == MM_FLOPS


# ---- peaks ----


def test_peaks_of_the_data_sheet(gputime, tmp_path):
    row = Operators().run("aten::mm", MM).tables(gputime, tmp_path)["peaks"][0]
    assert row.items() >= {"device": 0, "name": "NVIDIA H200", "arch": "sm_90", "sms": 132, "matrix_clock_hz": 1_830_000_000,
                   "vector_clock_hz": 1_980_000_000, "bandwidth": 4_800_000_000_000, "source": "data sheet",
                   "bf16": 989_429_760_000_000, "tf32": 494_714_880_000_000, "fp8": 1_978_859_520_000_000,
                   "fp32": 66_908_160_000_000}.items()


SHEETS = {  # what vendors' data sheets say, in TFLOP/s without sparsity
    ("Tesla V100-SXM2-16GB", 80, 7, 0): {"bf16": 125, "fp32": 15.7}, ("Tesla T4", 40, 7, 5): {"bf16": 65, "fp32": 8.1},
    ("NVIDIA A100-SXM4-80GB", 108, 8, 0): {"bf16": 312, "tf32": 156, "fp32": 19.5},
    ("NVIDIA A10", 72, 8, 6): {"bf16": 125, "tf32": 62.5, "fp32": 31.2},
    ("NVIDIA A40", 84, 8, 6): {"bf16": 149.7, "tf32": 74.8, "fp32": 37.4},
    ("NVIDIA L4", 58, 8, 9): {"bf16": 121, "fp8": 242, "fp32": 30.3},
    ("NVIDIA L40S", 142, 8, 9): {"bf16": 362, "fp32": 91.6},
    ("NVIDIA H100 80GB HBM3", 132, 9, 0): {"bf16": 989.4, "tf32": 494.7, "fp8": 1978.9, "fp32": 66.9},
    ("NVIDIA H100 PCIe", 114, 9, 0): {"bf16": 756, "tf32": 378, "fp8": 1513, "fp32": 51.2},
    ("NVIDIA H100 NVL", 132, 9, 0): {"bf16": 835, "fp8": 1671, "fp32": 60},
    ("NVIDIA B200", 148, 10, 0): {"bf16": 2250, "fp8": 4500},
    ("AMD Instinct MI210", 104, 9, 0): {"bf16": 181, "fp32": 22.6},
    ("AMD Instinct MI300X", 304, 9, 4): {"bf16": 1307.4, "tf32": 653.7, "fp8": 2614.9, "fp32": 163.4},
    ("AMD Instinct MI355X", 256, 9, 5): {"bf16": 2516.6, "fp8": 5033, "fp32": 157.3},
}


@pytest.mark.parametrize("gpu", SHEETS, ids=lambda gpu: gpu[0])
def test_peaks_are_those_of_data_sheets(gputime, tmp_path, gpu):
    name, sms, major, minor = gpu
    device = H200 | {"name": name, "numSms": sms, "computeMajor": major, "computeMinor": minor}
    row = Operators(device).run("aten::mm", MM).tables(gputime, tmp_path)["peaks"][0]
    for unit, peak in SHEETS[gpu].items():
        assert row[unit] / 1e12 == pytest.approx(peak, rel=0.012), unit


def test_unknown_gpu(gputime, tmp_path):
    """FLOPs and bytes, but no percentages; what the user gives changes that."""
    trace = Operators(H200 | {"name": "NVIDIA GeForce RTX 9999", "computeMajor": 12}).run("aten::mm", MM)
    report = trace.report(gputime, tmp_path)
    row = report["tables"]["op_efficiency"]["rows"][0]
    assert (row["flops"], row["bytes"], row["roofline_ns"], row["efficiency"], row["bound"], row["lost_ns"]) == (
        MM_FLOPS, MM_BYTES, None, None, None, None)
    assert "unknown_gpu" in {issue["id"] for issue in report["issues"]}
    assert report["tables"]["peaks"]["rows"][0]["arch"] == "sm_120" and report["facts"]["hfu"] is None
    assert report["facts"]["model_coverage"] == 1
    report = trace.report(gputime, tmp_path, "--peak", "bf16=100T,fp32=10T", "--bandwidth", "1T")
    row = report["tables"]["op_efficiency"]["rows"][0]
    assert row["roofline_ns"] == round(MM_FLOPS / 100e12 * 1e9) and row["bound"] == "compute"
    assert report["tables"]["peaks"]["rows"][0]["source"] == "user"
    assert report["facts"]["hfu"] == pytest.approx(MM_FLOPS / 100e12 / 100e-6)
    report = trace.report(gputime, tmp_path, "--gpu", "h200")
    assert report["tables"]["op_efficiency"]["rows"][0]["roofline_ns"] == round(MM_FLOPS / BF16_FLOPS * 1e9)


CARDS = {("NVIDIA H20", 9, 0): None, ("NVIDIA GeForce RTX 4090", 8, 9): None, ("NVIDIA L40", 8, 9): None,
         ("NVIDIA H800", 9, 0): None, ("GeForce RTX 2080 Ti", 7, 5): None, ("NVIDIA GH200 480GB", 9, 0): 4096,
         ("NVIDIA A30", 8, 0): 2048}


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card[0])
def test_cards_without_a_row(gputime, tmp_path, card):
    """Those that are cut have not the rates of their architecture; others have, at the clock of the trace."""
    name, major, minor = card
    path = tmp_path / "trace.sqlite"
    with sqlite3.connect(path) as base:
        base.executescript(f"""
            CREATE TABLE StringIds (id INTEGER, value TEXT);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
                streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
            CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, smCount INTEGER, clockRate INTEGER,
                computeMajor INTEGER, computeMinor INTEGER, memoryBandwidth INTEGER);
            INSERT INTO StringIds VALUES (1, 'kernel_a');
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 2000, 0, 1, 7, 1, 16777216, 1, 1);
            INSERT INTO TARGET_INFO_GPU VALUES (1, 0, '{name}', 100, 2000000000, {major}, {minor}, 3000000000000);""")
    base.close()
    report = gputime.json("efficiency", path, "--no-cache")
    row = report["tables"]["peaks"]["rows"][0]
    rate = CARDS[card]
    assert row["bf16"] == (rate and rate * 100 * 2_000_000_000)
    assert (row["arch"], row["bandwidth"], row["source"]) == (f"sm_{major}{minor}", 3_000_000_000_000, "trace")
    assert ("unknown_gpu" in {issue["id"] for issue in report["issues"]}) == (rate is None)


def test_many_gpus_without_a_name(gputime, tmp_path):
    """The name that all others have is found once."""
    trace = Operators(*({"id": 50_000 + number, "name": "NVIDIA H200"} for number in range(20_000)))
    for number in range(20_000):
        trace.op(100, 100, device=number)
    rows = gputime.json("efficiency", trace.write(tmp_path), "--table", "peaks", "--top", "0", timeout=30)
    assert len(rows["tables"]["peaks"]["rows"]) == 20_000


def test_amd_is_not_taken_for_hopper(gputime, tmp_path):
    """An MI210 gives 9.0 as its compute capability; waves have 64 threads."""
    unnamed = H200 | {"name": "Graphics Device", "warpSize": 64, "numSms": 104}
    row = Operators(unnamed).run("aten::mm", MM).tables(gputime, tmp_path)["peaks"][0]
    assert row["arch"] is None and row["bf16"] is None
    tables = Operators(unnamed | {"name": "AMD Instinct MI210"}).run("aten::mm", MM).tables(gputime, tmp_path)
    assert tables["peaks"][0]["arch"] == "gfx90a" and tables["efficiency"][0]["occupancy"] is None


def test_one_name_holds_for_all(gputime, tmp_path):
    """ROCm's kernels may be on devices that the list of GPUs lacks."""
    listed = [H200 | {"id": number} for number in (2, 3)]
    assert Operators(*listed).run("aten::mm", MM).tables(gputime, tmp_path)["peaks"][0]["name"] == "NVIDIA H200"
    listed[1] = listed[1] | {"name": "NVIDIA B200"}
    assert Operators(*listed).run("aten::mm", MM).tables(gputime, tmp_path)["peaks"][0]["name"] is None


@pytest.mark.parametrize("options, words", [
    (("--peak", "bf16"), "invalid --peak 'bf16'; expected UNIT=FLOP/s"), (("--peak", "bf17=1T"), "invalid --peak"),
    (("--peak", "bf16=-1T"), "invalid --peak"), (("--peak", "bf16=0"), "invalid --peak"),
    (("--peak", "bf16=989"), "invalid --peak 'bf16=989'; expected UNIT=FLOP/s, such as bf16=989T"),
    (("--bandwidth", "4.8"), "invalid --bandwidth '4.8'; expected bytes per second, such as 4.8T"),
    (("--bandwidth", "fast"), "invalid --bandwidth 'fast'"), (("--peak", "bf16=99999999999P"), "invalid --peak"),
    (("--gpu", "H201"), "--gpu: no data sheet of 'H201'; did you mean 'H200'?"),
    (("--gpu", "a100"), "'A100-SXM4-40GB', 'A100-PCIE-40GB', 'A100-SXM4-80GB', 'A100 80GB PCIe'?")])
def test_wrong_options(gputime, tmp_path, options, words):
    """They are seen before the trace is read, and do not blame it."""
    path = Operators().run("aten::mm", MM).write(tmp_path)
    path.write_text("no trace")
    done = gputime("efficiency", path, *options)
    assert done.returncode == 2 and words in done.stderr.decode() and "trace.json" not in done.stderr.decode()


# ---- roofline and launches ----


def test_bounds(gputime, tmp_path):
    trace = Operators().run("aten::mm", [BIG, BIG], length=3000).run("aten::mul", [BIG, BIG], length=200)
    trace.run("aten::mul", [((64, 64), BF16)] * 2, length=3)
    rows = {(row["op"], row["bound"]): row for row in trace.tables(gputime, tmp_path)["op_efficiency"]}
    product, large = rows["aten::mm", "compute"], rows["aten::mul", "memory"]
    assert product["roofline_ns"] == round(2 * 8192 ** 3 / BF16_FLOPS * 1e9)
    assert large["roofline_ns"] == round(3 * 2 * 8192 ** 2 / BANDWIDTH * 1e9)
    assert large["efficiency"] == pytest.approx(large["roofline_ns"] / 200_000)
    assert large["gbytes_per_s"] == pytest.approx(3 * 2 * 8192 ** 2 / 200_000)
    assert ("aten::mul", "latency") in rows


def test_faster_than_its_roofline(gputime, tmp_path):
    """Data in a cache: shown and counted, and never a negative loss."""
    report = Operators().run("aten::mul", [BIG, BIG], length=50).report(gputime, tmp_path)
    row = report["tables"]["op_efficiency"]["rows"][0]
    assert row["efficiency"] > 1 and row["lost_ns"] == 0
    assert {"id": "over_roofline", "count": 1}.items() <= next(
        issue for issue in report["issues"] if issue["id"] == "over_roofline").items()
    ideal = [row["ns"] for row in report["tables"]["waterfall"]["rows"] if row["part"] == "ideal"]
    assert ideal == [50_000]


def launched(gputime, folder, grid, block, registers, shared, gpu=H200, length=300):
    trace = Operators(gpu)
    trace.operator("aten::mul", 100, 50, **arguments([BIG, BIG]))
    trace.op(200, length, "k", launched=110, grid=grid, block=block,
             **{"registers per thread": registers, "shared memory": shared})
    return trace.tables(gputime, folder)["efficiency"][0]


LAUNCHES = [  # grid, block, registers, shared memory: resident, limiter, occupancy, waves, tail, reason
    ([132, 1, 1], [384, 1, 1], 168, 0, (1, "registers", 0.1875, 1, 0, "occupancy")),
    ([2048, 1, 1], [256, 1, 1], 128, 0, (2, "registers", 0.25, 2048 / 264, 1 - 2048 / 264 / 8, "occupancy")),
    ([264, 1, 1], [128, 1, 1], 32, 100_000, (2, "shared_memory", 0.125, 1, 0, "occupancy")),
    ([1056, 1, 1], [256, 1, 1], 32, 0, (8, "registers", 1, 1, 0, None)),
    ([1056, 1, 1], [256, 1, 1], 16, 0, (8, "warps", 1, 1, 0, None)),
    ([160, 1, 1], [512, 1, 1], 60, 0, (2, "registers", 0.5, 160 / 264, 1 - 160 / 264, "tail")),
    ([32, 1, 1], [1024, 1, 1], 32, 0, (2, "registers", 1, 32 / 264, 1 - 32 / 132, "idle_sms")),
    ([4224, 1, 1], [32, 1, 1], 16, 0, (32, "blocks", 0.5, 1, 0, None)),
    ([11, 12, 1], [8, 8, 4], 32, 0, (8, "registers", 1, 132 / 1056, 0, None)),
]


@pytest.mark.parametrize("grid, block, registers, shared, expected", LAUNCHES)
def test_launch_facts(gputime, tmp_path, grid, block, registers, shared, expected):
    row = launched(gputime, tmp_path, grid, block, registers, shared)
    resident, limiter, occupancy, waves, tail, reason = expected
    assert (row["resident"], row["limiter"], row["reason"]) == (resident, limiter, reason)
    assert (row["occupancy"], row["waves"], row["tail"]) == pytest.approx((occupancy, waves, tail))
    assert row["blocks"] == grid[0] * grid[1] * grid[2] and row["threads"] == block[0] * block[1] * block[2]


def test_limits_of_other_architectures(gputime, tmp_path):
    turing = H200 | {"name": "Tesla T4", "computeMajor": 7, "computeMinor": 5, "maxThreadsPerMultiprocessor": 1024,
                     "sharedMemPerMultiprocessor": 65536, "numSms": 40}
    row = launched(gputime, tmp_path, [40, 1, 1], [32, 1, 1], 16, 0, turing)
    assert (row["resident"], row["limiter"], row["occupancy"]) == (16, "blocks", 0.5)
    row = launched(gputime, tmp_path, [40, 1, 1], [32, 1, 1], 16, 32768, turing)
    assert row["resident"] == 2, "Turing keeps no shared memory for itself"


@pytest.mark.parametrize("grid, block, registers", [
    ([2 ** 31, 2 ** 31, 2 ** 31], [1024, 1, 1], 32), ([1, 1, 1], [0, 1, 1], 32), ([0, 0, 0], [32, 1, 1], 10 ** 9),
    ([1, 1, 1], [2 ** 31, 2 ** 31, 1], 255), ([-1, 1, 1], [32, 1, 1], 16)])
def test_hostile_launches(gputime, tmp_path, grid, block, registers):
    assert launched(gputime, tmp_path, grid, block, registers, 2 ** 62)["count"] == 1


# ---- MFU ----


def test_steps_and_ranges(gputime, tmp_path):
    trace = Operators()
    for step in range(3):
        trace.range(f"ProfilerStep#{step}", trace.at - 10, 240)
        trace.range("outer", trace.at - 5, 100)
        trace.range("outer", trace.at - 4, 98)
        trace.run("aten::mm", MM)
    rows = {(row["scope"], row["name"]): row for row in trace.tables(gputime, tmp_path)["mfu"]}
    share = MM_FLOPS / BF16_FLOPS
    assert rows["step", "ProfilerStep#1"]["hfu"] == pytest.approx(share / 240e-6)
    assert rows["step", "ProfilerStep#1"]["time_ns"] == 240_000
    assert rows["range", "outer"]["flops"] == 3 * MM_FLOPS, "an operator inside two ranges of a name counts once"
    assert rows["range", "outer"]["time_ns"] == 6 * 100_000, "projected time is of each range"
    assert rows["trace", ""]["hfu"] == pytest.approx(3 * share / (rows["trace", ""]["time_ns"] / 1e9))


def test_ranges_that_overlap(gputime, tmp_path):
    """As in `ranges`: an op belongs to all ranges around its launch, whether they nest or not."""
    trace = Operators()
    trace.range("A", 95, 200)
    trace.range("B", 200, 400)
    trace.range("A", 205, 80)  # inside both
    for start in (100, 210, 310):
        trace.operator("aten::mm", start, 50, **arguments(MM))
        trace.op(1000 + start, 100, launched=start + 10)
    path = trace.write(tmp_path)
    rows = {row["name"]: row for row in trace.tables(gputime, tmp_path)["mfu"] if row["scope"] == "range"}
    ranges = {row["name"]: row for row in gputime.json("ranges", path)["tables"]["ranges"]["rows"]}
    assert {name: row["flops"] // MM_FLOPS for name, row in rows.items()} == {"A": 2, "B": 2}
    assert {name: row["ops"] for name, row in ranges.items()} == {"A": 2, "B": 2}
    assert {name: row["time_ns"] for name, row in rows.items()} == {
        name: row["projected_ns"] for name, row in ranges.items()}


def test_many_names_on_many_gpus(gputime, tmp_path):
    """Nothing of the size of all names is cleared for each GPU."""
    trace = Operators()
    for number in range(20_000):
        trace.range(f"range {number}", 10 * number, 9)
    for number in range(256):
        trace.op(500_000, 100, device=number, launched=10 * number + 2)
    assert len(gputime.json("efficiency", trace.write(tmp_path), "--table", "mfu", timeout=30)["tables"]["mfu"]["rows"]) == 256


def test_products_of_several_types(gputime, tmp_path):
    single = ((1024, 1024), "float")
    trace = Operators().run("aten::mm", MM).run("aten::mm", [single, single])
    row = trace.tables(gputime, tmp_path)["mfu"][0]
    assert row["hfu"] == pytest.approx((MM_FLOPS / BF16_FLOPS + MM_FLOPS / FP32_FLOPS) / (row["time_ns"] / 1e9))


def test_two_gpus(gputime, tmp_path):
    trace = Operators(H200, H200 | {"id": 1}).run("aten::mm", MM)
    trace.operator("aten::mm", trace.at, 50, **arguments(MM))
    trace.op(trace.at + 60, 100, "kernel_a", launched=trace.at + 20, device=1)
    report = trace.report(gputime, tmp_path)
    assert [row["device"] for row in report["tables"]["mfu"]["rows"] if row["scope"] == "trace"] == [0, 1]
    assert report["facts"]["hfu"] is None, "a fact is of one GPU"
    assert "mean over GPUs" in gputime("efficiency", tmp_path / "trace.json").stdout.decode()


def test_a_window_has_its_part(gputime, tmp_path):
    trace = Operators().run("aten::mul", [BIG, BIG], length=200).run("aten::mul", [BIG, BIG], length=200)
    whole = trace.tables(gputime, tmp_path)["op_efficiency"][0]
    half = trace.tables(gputime, tmp_path, "--from", "0us", "--to", "100us")["op_efficiency"][0]
    assert (half["total_ns"], half["bytes"]) == (100_000, whole["bytes"] // 4)


# ---- words ----


def words_of(gputime, trace, folder, *options):
    done = gputime("efficiency", trace.write(folder), "--no-cache", *options)
    assert done.returncode == 0
    return " ".join(done.stdout.decode().split())


def test_the_first_sentence(gputime, tmp_path):
    trace = Operators().run("aten::mm", MM, length=100).run("aten::mul", [BIG, BIG], length=900)
    words = words_of(gputime, trace, tmp_path)
    assert "HFU 0.2%, MFU 0.2% (dense bf16 peak of H200, 989 TFLOP/s); 70.4% of the span is lost in memory-bound " \
           "element-wise kernels." in words


def test_how_to_record_shapes_is_said(gputime, tmp_path):
    words = words_of(gputime, Operators().run("aten::mm", None), tmp_path)
    assert "record_shapes=True" in words and "Unmodelled kernel time: 100.0% (operators recorded without shapes 100.0%)" in words
    assert "record_shapes" not in words_of(gputime, Operators().run("aten::mm", MM), tmp_path)


def test_unknown_gpus_are_named(gputime, tmp_path):
    trace = Operators(H200 | {"name": "GPU of tomorrow", "computeMajor": 99}).run("aten::mm", MM)
    words = words_of(gputime, trace, tmp_path)
    assert "Peaks of GPU of tomorrow are not known" in words
    assert "TFLOP/s of matrix work on average; HFU and MFU are not known, because the peaks of the GPU are not" in words
    assert "so there are no percentages, and the waterfall counts all kernels as unmodelled; give --gpu NAME" in words
    assert "HFU" not in words.split("Where the span")[0].replace("HFU and MFU are not known", "") and "MFU 0" not in words


def test_percentages_of_a_recorded_bandwidth(gputime, shared):
    words = " ".join(gputime("efficiency", shared("data/public/nsys/mordred/unversioned_2021.sqlite")).stdout.decode().split())
    assert "are not known, so percentages are of memory bandwidth alone, and the waterfall counts matrix products as" in words
    assert "there are no percentages" not in words and "boost clock" not in words


def test_a_trace_without_a_gpu(gputime, tmp_path):
    trace = Operators()
    trace.operator("aten::mm", 0, 10, **arguments(MM))
    assert "no GPU ops" in words_of(gputime, trace, tmp_path)


def test_a_bandwidth_that_is_not_known_is_said(gputime, tmp_path):
    trace = Operators(H200 | {"name": "GPU of tomorrow", "computeMajor": 99}).run("aten::mm", MM)
    words = words_of(gputime, trace, tmp_path, "--peak", "bf16=100T")
    assert "The memory bandwidth of GPU of tomorrow is not known, so there are no rooflines; give --bandwidth." in words
    assert "is not known, so" not in words_of(gputime, trace, tmp_path, "--peak", "bf16=100T", "--bandwidth", "1T")


def test_names_of_gpus_in_words(gputime, tmp_path):
    trace = Operators(H200 | {"name": "NVIDIA " + "X" * 68, "computeMajor": 99}).run("aten::mm", MM)
    assert "Peaks of NVIDIA " + "X" * 40 in words_of(gputime, trace, tmp_path)
    trace = Operators({"id": 0}).run("aten::mm", MM)
    assert "(dense bf16 peak of the GPU, 0.250 TFLOP/s)" in words_of(gputime, trace, tmp_path, "--peak", "bf16=0.25T")


def test_what_is_nearly_nothing_is_not_said(gputime, tmp_path):
    trace = Operators().run("aten::mul", [BIG, BIG], length=500_000)
    trace.op(trace.at + 100, 1)
    words = words_of(gputime, trace, tmp_path)
    assert "Unmodelled" not in words and "hardware counters" not in words


def test_80_columns_show_what_matters(gputime, tmp_path):
    trace = Operators().run("aten::mm", [BIG, BIG], kernels=("a_kernel_with_a_name_that_is_long_" * 3,), length=30_000)
    trace.run("aten::native_layer_norm_backward", [((4, 2048, 4096), BF16)] * 8, length=9000)
    lines = gputime("efficiency", trace.write(tmp_path), "--no-cache", "--width", "80").stdout.decode()
    assert max(map(len, lines.splitlines())) <= 80
    hidden = set(re.findall(r"\w+", " ".join(re.findall(r"not shown: ([^;]*);", lines.replace("\n", " ")))))
    assert not hidden & {"efficiency", "bound", "lost_ns", "bf16", "fp8", "fp32", "bandwidth", "shape"}


# ---- limits ----


def test_limits_of_utilization(gputime, tmp_path):
    path = Operators().run("aten::mm", MM).write(tmp_path)
    assert gputime("check", path, "--limit", "mfu>=1%").returncode == 0
    assert gputime("check", path, "--limit", "hfu>=50%").returncode == 3
    assert gputime("check", path, "--limit", "model_coverage>=90%").returncode == 0


# ---- hostile ----


def test_many_operators_inside_each_other(gputime, tmp_path):
    """Depth costs no more than length: the innermost one has all kernels."""
    trace = Operators()
    for depth in range(20000):
        trace.operator("aten::mm" if depth % 2 else "aten::matmul", depth, 100_000 - 2 * depth, **arguments(MM))
        trace.op(200_000 + depth, 1, launched=50_000)
    report = gputime.json("efficiency", trace.write(tmp_path), "--no-cache", "--top", "0", timeout=30)
    rows = report["tables"]["op_efficiency"]["rows"]
    assert [(row["op"], row["count"], row["kernels"], row["flops"]) for row in rows] == [("aten::mm", 1, 20000, MM_FLOPS)]
    assert not unmodelled(report)


def test_many_backward_nodes_of_one_number(gputime, tmp_path):
    trace = Operators()
    for place in range(5000):
        trace.operator("aten::mm", place, 10 ** 6, **arguments(MM), **{"Sequence number": 1, "Fwd thread id": 0})
        trace.operator("B", 20_000 + 10 * place, 5, tid=2, **{"Sequence number": 1, "Fwd thread id": 1})
        trace.op(2 * 10 ** 6 + place, 1, launched=20_001 + 10 * place, tid=2)
    assert unmodelled(trace.report(gputime, tmp_path)) == {"no_shapes": 5000}
