"""`gputime stats` by iterations and GPUs: tags of ranges, what is divided by what, and nothing to divide."""

import json

import pytest

from samples import DATA, own_capture
from stats_cases import error_of, facts_of, map_of, ranges_of, rows_of, table_of, text_of, two_gpus, words, write_config


# ---- tags ----


@pytest.mark.parametrize("names, tag, count", [
    (["Train_step", "Train_step", "other"], "Train_step", 2),
    ([":Train_step", ":Train_step", ":other"], "Train_step", 2),
    ([":Train_step", ":Train_step", ":other"], ":Train_step", 2),
    ([":Train_step", "other"], "Train_step", 1),
    (["TSL:step", "CCCL:step", "TSL:no"], "TSL:step", 1),
    (["TSL:step", "CCCL:step", "TSL:no"], "step", 2),
])
def test_tags_match_with_and_without_their_domain(gputime, tmp_path, names, tag, count):
    paths = [table_of(tmp_path, [("gemm", 10, 1)]), ranges_of(tmp_path, names)]
    facts = facts_of(gputime, *paths, "--nvtx-tag", tag)
    assert facts["iteration_ranges"] == count == facts["iterations"]


def test_a_tag_that_does_not_occur(gputime, tmp_path):
    paths = [table_of(tmp_path, [("gemm", 10, 1)]), ranges_of(tmp_path, ["train_step", "optimizer", "Train", "a", "b"])]
    message = error_of(gputime, *paths, "--nvtx-tag", "Train_stop", status=2)
    assert "no range is called 'Train_stop'; did you mean one of 'train_step', 'Train', 'optimizer'; 'gputime ranges'" in message
    part = ["XlaModule:#hlo_module=jit_train_step,id=46#", "Train", "rain_steps", "a"]
    ranges_of(tmp_path, part)
    message = error_of(gputime, *paths, "--nvtx-tag", "JIT_train_step", status=2)
    assert f"did you mean one of '{part[0]}', 'rain_steps'" in message, "the one that contains it is first"


def test_names_with_work_are_offered_before_others(gputime, tmp_path):
    path = two_gpus(tmp_path)
    trace = json.loads(path.read_text())
    trace["traceEvents"] += [{"ph": "X", "cat": "user_annotation", "name": name, "ts": 5000, "dur": 1, "pid": 1, "tid": 1}
                             for name in ("steq", "stek")]
    path.write_text(json.dumps(trace))
    assert "mean one of 'step', 'steq', 'stek'" in error_of(gputime, path, "--nvtx-tag", "ste", status=2)


def test_of_several_inputs_one_may_lack_the_tag(gputime, tmp_path):
    trace = two_gpus(tmp_path)
    other = tmp_path / "other.json"
    other.write_text(trace.read_text().replace('"step"', '"Train"'))
    report = gputime.json("stats", trace, other, "--nvtx-tag", "step")
    assert report["facts"]["two.json"]["iteration_ranges"] == 2 and "iteration_ranges" not in report["facts"]["other.json"]
    assert any("NVTX (no range is called 'step'; did you mean 'Train';" in note
               for note in report["inputs"][1]["notes"])


def test_an_estimate_below_zero_has_a_reason(gputime, tmp_path):
    trace = json.loads(two_gpus(tmp_path).read_text())
    path = tmp_path / "outside.json"
    outside = {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 500, "dur": 300, "pid": 0, "tid": 7,
               "args": {"device": 0, "stream": 7}}
    path.write_text(json.dumps({"traceEvents": trace["traceEvents"] + [outside]}))
    text = " ".join(text_of(gputime, path, "--nvtx-tag", "step").split())
    assert "is negative and meaningless: 300 us of 380 us of GPU work ran outside the ranges." in text
    assert "below zero" not in text_of(gputime, two_gpus(tmp_path), "--nvtx-tag", "step")
    paths = [table_of(tmp_path, [("gemm", 1000, 1)]), ranges_of(tmp_path, ["step"])]
    text = " ".join(text_of(gputime, *paths, "--nvtx-tag", "step").split())
    assert "kernels ran outside the ranges or concurrently." in text


def test_tags_of_xla_are_found_by_their_parts(gputime):
    path = own_capture("jax").report
    wanted = "'XlaModule:#hlo_module=jit_train_step,program_id=4642#'"
    for tag in ("jit_train_step", "jit_step", "jit", "XlaModule", "Train_stp"):
        assert wanted in error_of(gputime, path, "--nvtx-tag", tag, status=2), tag
    text = " ".join(text_of(gputime, path, "--nvtx-tag", wanted.strip("'")).split())
    assert "-580.99 (%)" in text and "of GPU work ran outside the ranges" in text


def test_a_tag_without_ranges(gputime, tmp_path):
    text = text_of(gputime, table_of(tmp_path, [("gemm", 10, 1)]), "--nvtx-tag", "step")
    assert "NVTX (the input has no ranges)" in " ".join(text.split()) and "NVTX range count" not in text


def test_summed_ranges(gputime, tmp_path):
    facts = facts_of(gputime, DATA / "nsys-csv/mini_cuda_gpu_kern_sum.csv", DATA / "nsys-csv/mini_nvtx_gpu_proj_sum.csv",
                     "--nvtx-tag", range_names(gputime, DATA / "nsys-csv/mini_nvtx_gpu_proj_sum.csv")[0])
    assert facts["iteration_ranges"] > 0 and facts["iteration_range_total_ns"] > 0


def range_names(gputime, path):
    return [row["name"] for row in gputime.json("ranges", path)["tables"]["ranges"]["rows"]]


# ---- nothing to divide ----


def test_zero_kernel_time(gputime, tmp_path):
    paths = [table_of(tmp_path, [("gemm", 0, 4)]), ranges_of(tmp_path, ["step"])]
    text = text_of(gputime, *paths, "--map", map_of(tmp_path, {"gemm": "gemm"}), "--nvtx-tag", "step")
    assert ["gemm", "0.00", "4", "n/a", "0.00", "4", "n/a"] in words(text)
    rows = rows_of(gputime, "class_stats", *paths)
    assert rows["gemm"]["share"] is None


def test_ranges_without_length(gputime, tmp_path):
    ranges = ranges_of(tmp_path, ["step"])
    ranges.write_text(ranges.read_text().replace(",50,", ",0,"))
    text = text_of(gputime, table_of(tmp_path, [("gemm", 10, 1)]), ranges, "--nvtx-tag", "step")
    assert "bubble time per range: n/a (%)" in text and "bubble total time: n/a (%)" in text


def test_a_table_without_rows(gputime, tmp_path):
    text = text_of(gputime, table_of(tmp_path, []))
    assert "Kernel total instances: 0" in text and "no communication kernels" in text


def test_an_empty_file_is_reported(gputime, tmp_path):
    (tmp_path / "empty.csv").touch()
    assert "empty.csv" in error_of(gputime, tmp_path / "empty.csv")
    config = write_config(tmp_path, {"kernel_sum": "empty.csv"})
    assert "empty.csv" in error_of(gputime, "--config", config)


# ---- several GPUs ----


def test_two_gpus_count_each_for_itself_since_ranges_do_not_add_up(gputime, tmp_path):
    """A step takes 30 us, of which the two kernels take 20 on average: 10 are left. The older tool takes the 80 us of all
    kernels off the 60 us of the ranges."""
    path = two_gpus(tmp_path)
    facts = facts_of(gputime, path, "--nvtx-tag", "step")
    assert (facts["iterations"], facts["gpus"]) == (2, 2)
    assert facts["kernel_total_ns"] == 80_000 and facts["kernel_time_per_iter_ns"] == 20_000
    assert facts["kernel_instances_per_iter"] == 1
    assert facts["iteration_range_avg_ns"] == 30_000 and facts["iteration_range_total_ns"] == 60_000
    assert facts["non_hidden_per_range_ns"] == 10_000 and facts["non_hidden_total_ns"] == 20_000
    only = facts_of(gputime, path, "--nvtx-tag", "step", "--device", "1")
    assert only["gpus"] == 1 and only["kernel_time_per_iter_ns"] == 30_000 and only["non_hidden_total_ns"] == 0


def test_division_by_gpus_is_said(gputime, tmp_path):
    text = " ".join(text_of(gputime, two_gpus(tmp_path), "--iters", "2").split())
    assert "Per-iteration numbers are per GPU: totals divided by 2 iterations and 2 GPUs." in text
    assert "divided by" not in text_of(gputime, two_gpus(tmp_path), "--iters", "2", "--device", "0")


def test_another_number_of_gpus_than_the_trace_shows_is_noted(gputime, tmp_path):
    text = " ".join(text_of(gputime, two_gpus(tmp_path), "--gpus", "4").split())
    assert "divided by 4 GPUs, but the trace has 2" in text
