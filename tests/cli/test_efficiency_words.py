"""What `gputime efficiency` says first, with and without shapes, counters and peaks; one kernel in words; two waterfalls
compared; and the waterfall's law where no recorded sample has it."""

import json
import random
import re

import pytest

from conftest import DATA
from efficiency_by_hand import BF16, H200, Operators
from test_counters import MHZ, PERIOD, Sampled
from test_efficiency import BIG, MM, unmodelled
from test_efficiency_golden import check_waterfall

MI300X = {"id": 0, "name": "AMD Instinct MI300X", "totalGlobalMem": 206141652992, "computeMajor": 9, "computeMinor": 4,
          "warpSize": 64, "numSms": 304}


def first_words(gputime, path, *options):
    """The first sentence, which follows the line on the trace."""
    text = gputime("efficiency", path, "--no-cache", "--width", "1000", *options).stdout.decode()
    return text.split("\n\n")[1].strip()


# ---- the first sentence ----


def test_peaks_of_amd(gputime, tmp_path):
    words = first_words(gputime, Operators(MI300X).run("aten::mm", MM).write(tmp_path))
    assert re.match(r"HFU 1\.\d%, MFU 1\.\d% \(dense bf16 peak of AMD Instinct MI300X, 1307 TFLOP/s\); \d+\.\d% of the span is "
                    "lost in very short matrix products", words)


@pytest.mark.parametrize("gpu, peak", [("MI300X", "1307"), ("h200", "989"), ("H100 PCIe", "756")])
def test_peaks_of_another_gpu(gputime, tmp_path, gpu, peak):
    """The multiprocessors of the trace do not count for it."""
    path = Operators(H200 | {"name": "NVIDIA H100 80GB HBM3", "numSms": 100}).run("aten::mm", MM).write(tmp_path)
    assert f"(dense bf16 peak of {gpu.upper() if gpu == 'h200' else gpu} as given, {peak} TFLOP/s)" in first_words(
        gputime, path, "--gpu", gpu)


@pytest.mark.parametrize("trace, why", [
    (Operators().run("aten::mm", None), "operators were recorded without shapes"),
    (Operators().run("aten::mul", [BIG, BIG]), "no matrix work is modelled")], ids=["no shapes", "no products"])
def test_why_nothing_is_known(gputime, tmp_path, trace, why):
    assert first_words(gputime, trace.write(tmp_path)).startswith(f"HFU and MFU are not known, because {why}")


def test_traces_without_operators(gputime):
    words = first_words(gputime, DATA / "nsys/graph_whole.nsys-rep")
    assert words.startswith("HFU and MFU are not known, because the trace has no operators with shapes; ")


@pytest.mark.parametrize("values, is_shown", [(None, False), (MM, True)], ids=["no shapes", "shapes"])
def test_flops_that_are_not_known_are_not_shown_as_zero(gputime, tmp_path, values, is_shown):
    path = Operators().run("aten::mm", values).write(tmp_path)
    text = gputime("efficiency", path, "--no-cache", "--table", "mfu").stdout.decode()
    assert ("FLOPs" in text.split("───")[0]) == is_shown and "MFU" in text


def test_kernels_of_unknown_work_may_be_products(gputime, tmp_path):
    trace = Operators().run("aten::mm", MM, length=100).run("library::op", [BIG], length=100)
    assert first_words(gputime, trace.write(tmp_path)).startswith("HFU at least ")
    assert unmodelled(trace.report(gputime, tmp_path)) == {"no_model": 1}
    trace = Operators(H200 | {"name": "?"}).run("aten::mm", MM, length=100).run("library::op", [BIG], length=100)
    assert re.match(r"At least \S+ TFLOP/s of matrix work on average; ", first_words(gputime, trace.write(tmp_path)))


def sampled(tensor, dram, clock=1830):
    trace = Sampled()
    trace.op(0, 50 * PERIOD, "kernel_a")
    for number in range(50):
        trace.sample(number * PERIOD, gpc_mhz=clock * MHZ, tensor=tensor, dram_read=dram, dram_write=0)
    return trace


@pytest.mark.parametrize("trace, words", [
    (sampled(40, 10), "HFU 40.0% by hardware counters; 60.0% of the span is lost in kernels below the limits of both matrix "
                      "units and memory."),
    (sampled(100, 10, 915), "HFU 50.0% by hardware counters; 50.0% of the span is lost in a clock below that of the peak.")])
def test_counters_instead_of_shapes(gputime, tmp_path, trace, words):
    assert first_words(gputime, trace.write(tmp_path)) == words


@pytest.mark.parametrize("name", ["cpu-only.json", "empty.json"])
def test_nothing_is_said_without_gpu_work(gputime, name):
    assert "HFU " not in first_words(gputime, DATA / name)


# ---- one kernel ----


def test_a_kernel_in_words(gputime, tmp_path):
    trace = Operators().run("aten::mm", MM, ["void product<int>(float*)"], length=100).run("aten::mul", [BIG, BIG], length=900)
    notes = gputime("efficiency", trace.write(tmp_path), "--no-cache", "--width", "1000", "--name", "product").stdout.decode()
    assert "\nproduct: 100 us in 1 op, 21.5 TFLOP/s, 62.9 GB/s: " in notes
    assert " TFLOP/s, 62.9 GB/s: 2.2% of its roof (compute-bound, work known by shape), 97.83 us lost." in notes
    everything = gputime("efficiency", trace.write(tmp_path), "--no-cache", "--width", "1000").stdout.decode()
    assert "% of its roof" not in everything


def test_explain_has_it_on_request(gputime, tmp_path):
    path = Operators().run("aten::mm", MM).write(tmp_path)
    assert "waterfall" not in gputime.json("explain", path, "--no-cache")["tables"]
    report = gputime.json("explain", path, "--no-cache", "--efficiency")
    assert {"waterfall", "mfu", "op_efficiency", "efficiency"} <= set(report["tables"])


# ---- two of them ----


@pytest.mark.parametrize("a, b", [("torch/llama_train_compiled.json.gz", "torch/tpdp_rank0.json.gz"),
                                  ("sampled.json", "devices.json"), ("nsys/train.nsys-rep", "nsys/graph_whole.nsys-rep")])
def test_changes_of_the_parts_sum_to_that_of_the_span(gputime, a, b):
    report = gputime.json("diff", DATA / a, DATA / b, "--of", "waterfall", "--per", "none", "--no-cache")
    rows = [row for row in report["tables"]["waterfall"]["rows"] if row["basis"] == "model"]
    spans = [sum(row["span_ns"] for row in gputime.json("summary", DATA / name)["tables"]["accounting"]["rows"]) for name in (a, b)]
    assert [sum(row[key] or 0 for row in rows) for key in ("a_ns", "b_ns")] == spans
    assert sum(row["delta_ns"] if row["delta_ns"] is not None else (row["b_ns"] or 0) - (row["a_ns"] or 0)
               for row in rows) == spans[1] - spans[0]


def test_a_sentence_on_the_change(gputime, tmp_path):
    paths = []
    for name, length in (("a.json", 300), ("b.json", 500)):
        paths.append(tmp_path / name)
        Operators().run("aten::mul", [BIG, BIG], length=length).run("aten::mul", [BIG, BIG], length=300).write(tmp_path, name)
    text = " ".join(gputime("diff", *paths, "--of", "waterfall", "--no-cache").stdout.decode().split())
    assert "+200 us of GPU span against ideal kernels (760 us -> 960 us, +26.3%): lost (elementwise) +200." in text


def test_utilization_is_compared_and_not_divided(gputime, tmp_path):
    paths, alone = [], []
    for name, length in (("a.json", 100), ("b.json", 150)):
        trace = Operators()
        for step in range(3):
            trace.range(f"ProfilerStep#{step}", trace.at - 10, 240)
            trace.run("aten::mm", MM, length=length)
        paths.append(trace.write(tmp_path, name))
        rows = gputime.json("efficiency", paths[-1])["tables"]["mfu"]["rows"]
        alone.append({row["name"]: row for row in rows if row["scope"] == "step"})
    rows = gputime.json("diff", *paths, "--of", "mfu", "--per", "step")["tables"]["mfu"]["rows"]
    steps = [row for row in rows if row["scope"] == "step"]
    assert steps
    for row in steps:
        for side, known in zip("ab", alone):
            for key in ("mfu", "hfu", "time_ns", "flops"):
                assert row[f"{side}_{key}"] == pytest.approx(known[row["name"]][key]), (row["name"], key)
    shown = gputime("diff", *paths, "--of", "mfu", "--per", "step").stdout.decode()
    trace = next(line for line in shown.splitlines() if line.startswith("trace "))
    assert trace.count("%") == 4, "both sides, the change, and its share"


def test_steps_of_one_name_have_their_mean(gputime):
    path = DATA / "nsys/train.nsys-rep"
    alone = [row["time_ns"] for row in gputime.json("efficiency", path)["tables"]["mfu"]["rows"] if row["scope"] == "step"]
    rows = gputime.json("diff", path, path, "--of", "mfu", "--per", "none")["tables"]["mfu"]["rows"]
    assert len(alone) > 1
    assert [row["a_time_ns"] for row in rows if row["scope"] == "step"] == [pytest.approx(sum(alone) / len(alone))]


# ---- limits ----


@pytest.mark.parametrize("limit, status", [("mfu>40%", 3), ("mfu<40%", 0), ("hfu>0.1%", 0), ("hfu<0.1%", 3),
                                           ("model_coverage>=100%", 0), ("model_coverage<50%", 3)])
def test_limits(gputime, tmp_path, limit, status):
    assert gputime("check", Operators().run("aten::mm", MM).write(tmp_path), "--limit", limit).returncode == status


@pytest.mark.parametrize("limit, status", [("mfu<20", 2), ("mfu>1.5", 2), ("mfu<0.4", 0), ("mfu<=1", 0), ("mfu<150%", 0)])
def test_limits_of_shares_without_a_percent_sign(gputime, tmp_path, limit, status):
    done = gputime("check", Operators().run("aten::mm", MM).write(tmp_path), "--limit", limit)
    assert done.returncode == status and (b"is a share: use %" in done.stderr) == (status == 2)


@pytest.mark.parametrize("trace", [Operators().run("aten::mm", None), Operators(H200 | {"name": "?"}).run("aten::mm", MM)],
                         ids=["no shapes", "unknown GPU"])
def test_limits_on_what_is_not_known_are_errors(gputime, tmp_path, trace):
    done = gputime("check", trace.write(tmp_path), "--limit", "mfu>40%")
    assert done.returncode == 2 and b"matrix work of known FLOPs on one GPU of known peaks" in done.stderr


def test_limits_on_changes(gputime, tmp_path):
    paths = [Operators().run("aten::mm", MM, length=length).write(tmp_path, f"{length}.json") for length in (100, 150)]
    assert gputime("diff", *paths, "--fail-if", "mfu<-10%").returncode == 3
    assert gputime("diff", *paths, "--fail-if", "mfu<-50%").returncode == 0


# ---- the law ----


@pytest.mark.parametrize("gpu", [MI300X, H200 | {"name": "GPU of tomorrow", "computeMajor": 99}], ids=["AMD", "unknown"])
def test_waterfall_of_other_gpus(gputime, tmp_path, gpu):
    trace = Operators(gpu).run("aten::mm", MM).run("aten::mul", [BIG, BIG], length=10).run("library::op", None)
    trace.op(trace.at, 50, "ncclDevKernel_AllReduce")
    trace.op(trace.at + 20, 100, "Memcpy DtoH (Device -> Pinned)", bytes=1000)
    check_waterfall(gputime, trace.write(tmp_path))


@pytest.mark.parametrize("seed", range(5))
def test_waterfall_of_random_overlaps(gputime, tmp_path, seed):
    """By model and by counters, on several streams and GPUs; some samples are missing."""
    chance = random.Random(seed)
    trace = Sampled()
    names = ["kernel_a", "kernel_b", "ncclDevKernel_AllReduce", "Memcpy HtoD (Pinned -> Device)"]
    for _ in range(200):
        trace.op(chance.randrange(20 * PERIOD), chance.randrange(3 * PERIOD), chance.choice(names), launched=-10,
                 stream=chance.randrange(4), device=chance.randrange(2))
    for number in range(25):
        for device in (0, 1):
            if chance.random() < 0.9:
                trace.sample(number * PERIOD, device=device, gpc_mhz=chance.randrange(900, 1990) * MHZ, tensor=chance.randrange(101),
                             dram_read=chance.randrange(101), dram_write=chance.randrange(101))
    path = trace.write(tmp_path)
    bases = {row["basis"] for row in gputime.json("efficiency", path)["tables"]["waterfall"]["rows"]}
    assert bases == {"model", "counter"}
    check_waterfall(gputime, path)


# ---- other reports ----


def test_other_reports_say_who_reads_shapes(gputime, tmp_path):
    words = "Operators were recorded with shapes: 'gputime efficiency' has MFU"
    for shapes, is_said in ((1, True), (0, False)):
        path = Operators().run("aten::mm", MM).write(tmp_path)
        path.write_text(path.read_text().replace("{", f'{{"record_shapes": {shapes}, ', 1))
        for command in ("summary", "explain"):
            more = "and 'gputime findings' has findings on them, too."
            assert (more in " ".join(gputime(command, path, "--no-cache").stdout.decode().split())) == is_said
            assert (words in " ".join(gputime(command, path, "--no-cache").stdout.decode().split())) == is_said
        for command in ("findings", "kernels", "efficiency"):
            assert words not in " ".join(gputime(command, path, "--no-cache").stdout.decode().split())


def test_shapes_without_operators_are_not_announced(gputime, tmp_path):
    path = Operators().run("aten::mm", MM).write(tmp_path)
    trace = json.loads(path.read_text()) | {"record_shapes": 1}
    trace["traceEvents"] = [event for event in trace["traceEvents"] if event.get("cat") != "cpu_op"]
    path.write_text(json.dumps(trace))
    assert "recorded with shapes" not in " ".join(gputime("summary", path, "--no-cache").stdout.decode().split())
    assert first_words(gputime, path).startswith("HFU and MFU are not known, because the trace has no operators with shapes")
