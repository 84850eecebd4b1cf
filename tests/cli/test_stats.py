"""`gputime stats`: the numbers, words and order of the older tools from their tables, and the right ones where they err.

Cases of tests/data/stats are tables with what an older tool printed for them (reference.txt)."""

import csv
import io
import json
import shutil

import pytest

from conftest import DATA, SHARED

CASES = DATA / "stats"
HEADER = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
REPORT_OF = {"kernel_sum": "cuda_gpu_kern_sum", "nvtx_proj_trace": "nvtx_gpu_proj_trace",
             "mem_time_sum": "cuda_gpu_mem_time_sum", "k": "cuda_gpu_kern_sum", "m": "cuda_gpu_mem_time_sum",
             "n": "nvtx_gpu_proj_trace"}


def words(text):
    """Lines as lists of words: white space does not count, nor do blank lines."""
    return [line.split() for line in text.splitlines() if line.split()]


def reference(case):
    return words((CASES / case / "reference.txt").read_text())


def one_capture(case, folder):
    """The tables of a case under names that make them one capture."""
    paths = []
    for path in sorted((CASES / case).glob("*.csv")):
        paths.append(folder / f"run_{REPORT_OF[path.stem]}.csv")
        shutil.copy(path, paths[-1])
    return paths


def table_of(folder, rows, name="run_cuda_gpu_kern_sum.csv"):
    """A table of kernels: rows of (name, total ns, instances)."""
    lines = [f'0.0,{total},{count},1,1,1,1,1,"{kernel}"\n' for kernel, total, count in rows]
    path = folder / name
    path.write_text(HEADER + "".join(lines))
    return path


def map_of(folder, classes):
    path = folder / "classes.json"
    path.write_text(json.dumps(classes))
    return path


def text_of(gputime, *args, **settings):
    done = gputime("stats", *args, **settings)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    return done.stdout.decode()


def error_of(gputime, *args, status=1, **settings):
    done = gputime("stats", *args, **settings)
    message = done.stderr.decode()
    assert done.returncode == status and done.stdout == b"", (done.returncode, message)
    assert message.startswith("gputime: ") and message.count("\n") == 1
    return message


def facts_of(gputime, *args):
    return gputime.json("stats", *args)["facts"]


def rows_of(gputime, table, *args):
    key = "class" if table == "class_stats" else "operation"
    return {row[key]: row for row in gputime.json("stats", *args)["tables"][table]["rows"]}


# ---- the examples of the READMEs ----


@pytest.mark.parametrize("case", ["readme_llama2", "readme_gpt5b"])
def test_readme_example_without_a_configuration(gputime, tmp_path, case):
    given = json.loads((CASES / case / "config.json").read_text())["inputs"][0]
    args = given["analysis_args"]
    text = text_of(gputime, *one_capture(case, tmp_path), "--map", CASES / case / "config.json", "--title", given["title"],
                   "--iters", str(args["num_of_iters"]), "--nvtx-tag", args["nvtx_tag_of_iter"])
    assert words(text) == reference(case)


@pytest.mark.parametrize("case", ["readme_llama2", "readme_gpt5b"])
@pytest.mark.parametrize("folder", ["elsewhere", "beside"])
def test_readme_example(gputime, tmp_path, case, folder):
    """Files are found from the current folder and from that of the configuration."""
    where = CASES / case if folder == "beside" else tmp_path
    text = text_of(gputime, "--config", "config.json" if folder == "beside" else CASES / case / "config.json", cwd=where)
    assert words(text) == reference(case)


@pytest.mark.parametrize("case", ["readme_llama2", "readme_gpt5b"])
def test_shared_readme_example(gputime, case):
    folder = next(iter((SHARED / "golden").glob(f"*/{case}")), None)
    if not folder:
        pytest.skip("the reference runs are not here")
    text = text_of(gputime, "--config", folder / "config.json")
    assert words(text) == words((folder / "stdout").read_text())


def test_text_is_aligned_whatever_the_names(gputime):
    lines = text_of(gputime, "--config", CASES / "branches/config.json").splitlines()
    start = lines.index("Kernel Statistic:") + 1
    assert len({len(line) for line in lines[start:start + 4]}) == 1


# ---- other tables of the older tools: the same but for what they do wrong ----


def changed_lines(gputime, case, *args):
    """Lines of ours and of the reference that the other has not; notes apart."""
    ours = [line for line in words(text_of(gputime, *args)) if line[0] != "Note:" and line != ["an", "iteration)."]]
    theirs = reference(case)
    return ([line for line in ours if line not in theirs], [line for line in theirs if line not in ours])


def test_instances_are_divided_once_since_floors_of_each_kernel_lose_some(gputime):
    """12 launches, 2 iterations, 2 GPUs are 3 for each; the older tool sums floors and gets 2."""
    facts = facts_of(gputime, "--config", CASES / "branches/config.json")
    assert facts["kernel_instances"] == 12 and facts["kernel_instances_per_iter"] == 3
    ours, theirs = changed_lines(gputime, "branches", "--config", CASES / "branches/config.json")
    assert ["Kernel", "instances", "per", "iteration:", "3"] in ours
    assert ["Kernel", "instances", "per", "iteration:", "2"] in theirs
    assert ["NCCL", "instances", "per", "iteration:", "5"] in ours


def test_halves_are_rounded_up_on_the_screen_and_exact_in_data(gputime):
    rows = rows_of(gputime, "class_stats", "--config", CASES / "branches/config.json")
    name = "a_class_name_longer_than_17"
    assert rows[name]["instances_per_iter"] == 0.5
    assert [name, "0.12", "1", "5.05", "0.50", "2", "5.05"] in words(
        text_of(gputime, "--config", CASES / "branches/config.json"))


def test_nccl_operations_end_where_the_word_does(gputime):
    """The older tool calls one SendRecv(ncclDevComm *), and any name's second word an operation."""
    rows = rows_of(gputime, "nccl_stats", "--config", CASES / "branches/config.json")
    assert list(rows) == ["AllGather", "Broadcast", "my_nccl_like_gemm", "SendRecv"]
    assert rows["AllGather"]["total_ns"] == 5_000_000 and rows["AllGather"]["instances"] == 12
    assert rows["SendRecv"]["instances_per_iter"] == 0.5


def test_all_else_is_as_in_the_older_tool(gputime):
    """Times, shares and totals of every row."""
    ours, theirs = changed_lines(gputime, "branches", "--config", CASES / "branches/config.json")
    names = {"SendRecv(ncclDevComm": "SendRecv", "nccl": "my_nccl_like_gemm"}

    def without_instances(lines):
        found = []
        for line in lines:
            numbers = [word for word in line if word.replace(".", "").isdigit()]
            if len(numbers) in (4, 6):  # a row: the second number is that of instances per iteration
                found.append([names.get(line[0], line[0]), numbers[0], *numbers[2:]])
        return found

    assert without_instances(ours) == without_instances(theirs) and len(without_instances(ours)) == 9


def test_a_class_named_nccl_joins_communication(gputime):
    rows = rows_of(gputime, "nccl_stats", "--config", CASES / "class_named_nccl/config.json")
    assert rows["a_very_long_class_kernel_relu"]["total_ns"] == 500_000
    assert list(rows_of(gputime, "class_stats", "--config", CASES / "class_named_nccl/config.json")) == ["others"]
    ours, theirs = changed_lines(gputime, "class_named_nccl", "--config", CASES / "class_named_nccl/config.json")
    assert [line[1:] for line in ours] == [["1.00", "3", "1.00", "3"], ["0.50", "2", "0.50", "2"],
                                           ["0.50", "2", "0.50", "2"]]
    assert len(theirs) == 3


def test_the_total_estimate_is_of_the_ranges_since_other_work_is_not_theirs(gputime, tmp_path):
    """3 iterations, but ranges of only 2: the older tool takes the kernels of all 3 off the time of 2 ranges."""
    args = [*one_capture("synthetic_branches", tmp_path), "--map", map_of(tmp_path, {"GEMM": "Gemm", "relu": "Act"}),
            "--iters", "3", "--nvtx-tag", "Train_step", "--title", "T"]
    facts = facts_of(gputime, *args)
    assert facts["iteration_ranges"] == 2 and facts["iteration_range_total_ns"] == 25_000_000
    assert facts["non_hidden_per_range_ns"] == pytest.approx(9.2e6)
    assert facts["non_hidden_total_ns"] == pytest.approx(2 * 9.2e6)
    assert facts["non_hidden_share"] == pytest.approx(9.2 / 12.5)
    text = text_of(gputime, *args)
    assert "There are 2 ranges 'Train_step', but 3 iterations on 1 GPU" in text
    ours, theirs = changed_lines(gputime, "synthetic_branches", *args)
    assert ["18.400", "(ms)"] in [line[-2:] for line in ours] and ["15.100", "(ms)"] in [line[-2:] for line in theirs]


def test_operations_stand_by_time_since_all_inputs_agree_then(gputime, tmp_path):
    path = table_of(tmp_path, [("ncclDevKernel_Broadcast_RING(int)", 10, 1), ("ncclDevKernel_AllGather_RING(int)", 30, 1)])
    assert list(rows_of(gputime, "nccl_stats", path)) == ["AllGather", "Broadcast"]


# ---- classes ----


def test_longer_key_wins_where_keys_contain_each_other(gputime, tmp_path):
    path = table_of(tmp_path, [("xmma_gemm_e4m3_k", 30, 3), ("plain_gemm", 20, 2), ("other", 1, 1)])
    args = [path, "--map", map_of(tmp_path, {"gemm": "Gemm", "GEMM_e4m3": "FP8"})]
    rows = rows_of(gputime, "class_stats", *args)
    assert {name: row["total_ns"] for name, row in rows.items()} == {"others": 1, "gemm": 20, "fp8": 30}
    assert "('gemm' is in 'GEMM_e4m3')" in " ".join(text_of(gputime, *args).split())


def test_first_key_of_the_file_wins(gputime, tmp_path):
    path = table_of(tmp_path, [("softmax_gemm", 30, 3)])
    for keys in (["gemm", "softmax"], ["softmax", "gemm"]):
        rows = rows_of(gputime, "class_stats", path, "--map", map_of(tmp_path, {key: key for key in keys}))
        assert list(rows) == ["others", *keys] and rows[keys[0]]["instances"] == 3
        assert "contain each other" not in text_of(gputime, path, "--map", tmp_path / "classes.json")


def test_classes_are_lower_case_and_those_that_differ_by_case_are_one(gputime, tmp_path):
    path = table_of(tmp_path, [("A_Softmax", 5, 1), ("b_norm", 7, 1)])
    rows = rows_of(gputime, "class_stats", path, "--map", map_of(tmp_path, {"softmax": "Small", "NORM": "SMALL", "x": "X"}))
    assert {name: row["total_ns"] for name, row in rows.items()} == {"others": 0, "small": 12, "x": 0}


def test_keys_that_differ_by_case_are_one_with_the_last_class_in_the_first_place(gputime, tmp_path):
    path = table_of(tmp_path, [("a_Gemm_softmax", 5, 1)])
    args = [path, "--map", map_of(tmp_path, {"GEMM": "First", "softmax": "S", "gemm": "Second"})]
    rows = rows_of(gputime, "class_stats", *args)
    assert {name: row["total_ns"] for name, row in rows.items()} == {"others": 0, "second": 5, "s": 0}
    assert list(rows) == ["others", "second", "s"] and "contain each other" not in text_of(gputime, *args)


@pytest.mark.parametrize("classes", [{"gemm": ""}, {"": ["gemm"]}])
def test_a_class_without_a_name_is_an_error(gputime, tmp_path, classes):
    path = table_of(tmp_path, [("gemm", 5, 1)])
    message = error_of(gputime, path, "--map", map_of(tmp_path, classes), status=2)
    assert "classes.json': line 1, column 2: the name of a category is empty" in message


def test_a_class_may_be_others(gputime, tmp_path):
    path = table_of(tmp_path, [("gemm", 5, 1), ("b_norm", 7, 1)])
    rows = rows_of(gputime, "class_stats", path, "--map", map_of(tmp_path, {"gemm": "Others"}))
    assert {name: row["total_ns"] for name, row in rows.items()} == {"others": 12}


def test_without_a_map_built_in_categories_are_the_classes(gputime, tmp_path):
    path = table_of(tmp_path, [("ampere_sgemm_128x64_tn", 50, 1), ("softmax_warp_forward", 70, 1)])
    assert list(rows_of(gputime, "class_stats", path)) == ["softmax", "gemm"]


@pytest.mark.parametrize("name, operation", [
    ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "AllReduce"),
    ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "SendRecv"),
    ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)", "SendRecv"),
    ("ncclSymkDevKernel_AllGather_LL(ncclSymkDevWorkArgs4K)", "AllGather"),
    ("ncclAllReduceRingLLKernel(ncclColl)", "AllReduce"),
    ("ncclsomething", "ncclsomething"),
    ("rccl_main", "rccl_main"),
    ("ncclKernel_", "ncclKernel_"),
    ("void vllm::cross_device_reduce_1stage<float, 8>(int)", "AllReduce"),
    ("nvshmem_allgather_kernel", "AllGather"),
])
def test_operation_of_a_communication_kernel(gputime, tmp_path, name, operation):
    path = table_of(tmp_path, [(name, 5, 1), ("gemm", 1, 1)])
    assert list(rows_of(gputime, "nccl_stats", path)) == [operation]
    assert list(rows_of(gputime, "nccl_stats", path, "--map", map_of(tmp_path, {"gemm": "gemm"}))) == [operation]


def test_a_key_claims_communication_but_for_nccl(gputime, tmp_path):
    path = table_of(tmp_path, [("cross_device_reduce_1stage", 5, 1), ("ncclDevKernel_AllReduce_x", 7, 1)])
    args = [path, "--map", map_of(tmp_path, {"reduce": "Reduce"})]
    assert rows_of(gputime, "class_stats", *args)["reduce"]["total_ns"] == 5
    assert list(rows_of(gputime, "nccl_stats", *args)) == ["AllReduce"]


# ---- tags ----


RANGES = ("Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration (ns),Style,PID,TID,NumGPUOps,Lvl,"
          "NumChild,RangeId,ParentId,RangeStack\n")


def ranges_of(folder, names):
    path = folder / "run_nvtx_gpu_proj_trace.csv"
    path.write_text(RANGES + "".join(f'"{name}",{i * 100},50,{i * 100},50,PushPop,1,1,3,0,0,{i},None,:{i}\n'
                                     for i, name in enumerate(names)))
    return path


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
    assert "no range is called 'Train_stop'; the most similar are 'train_step', 'Train', 'optimizer'; 'gputime ranges'" in message
    part = ["XlaModule:#hlo_module=jit_train_step,id=46#", "Train", "rain_steps", "a"]
    ranges_of(tmp_path, part)
    message = error_of(gputime, *paths, "--nvtx-tag", "JIT_train_step", status=2)
    assert f"the most similar are '{part[0]}', 'rain_steps'" in message, "the one that contains it is first"


def test_names_with_work_are_offered_before_others(gputime, tmp_path):
    path = two_gpus(tmp_path)
    trace = json.loads(path.read_text())
    trace["traceEvents"] += [{"ph": "X", "cat": "user_annotation", "name": name, "ts": 5000, "dur": 1, "pid": 1, "tid": 1}
                             for name in ("steq", "stek")]
    path.write_text(json.dumps(trace))
    assert "similar are 'step', 'steq', 'stek'" in error_of(gputime, path, "--nvtx-tag", "ste", status=2)


def test_of_several_inputs_one_may_lack_the_tag(gputime, tmp_path):
    trace = two_gpus(tmp_path)
    other = tmp_path / "other.json"
    other.write_text(trace.read_text().replace('"step"', '"Train"'))
    report = gputime.json("stats", trace, other, "--nvtx-tag", "step")
    assert report["facts"]["two.json"]["iteration_ranges"] == 2 and "iteration_ranges" not in report["facts"]["other.json"]
    assert any("NVTX (no range is called 'step'; the most similar is 'Train';" in note
               for note in report["inputs"][1]["notes"])


def test_an_estimate_below_zero_has_a_reason(gputime, tmp_path):
    trace = json.loads(two_gpus(tmp_path).read_text())
    path = tmp_path / "outside.json"
    outside = {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 500, "dur": 300, "pid": 0, "tid": 7,
               "args": {"device": 0, "stream": 7}}
    path.write_text(json.dumps({"traceEvents": trace["traceEvents"] + [outside]}))
    text = " ".join(text_of(gputime, path, "--nvtx-tag", "step").split())
    assert "is below zero and says nothing: 300 us of 380 us of GPU work ran outside the ranges." in text
    assert "below zero" not in text_of(gputime, two_gpus(tmp_path), "--nvtx-tag", "step")
    paths = [table_of(tmp_path, [("gemm", 1000, 1)]), ranges_of(tmp_path, ["step"])]
    text = " ".join(text_of(gputime, *paths, "--nvtx-tag", "step").split())
    assert "kernels ran outside the ranges, or several at a time." in text


@pytest.mark.skipif(not SHARED.exists(), reason="needs the shared captures")
def test_tags_of_xla_are_found_by_their_parts(gputime):
    path = SHARED / "data/h200/nsys/jax/jax.nsys-rep"
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
    assert "Kernel total instances: 0" in text and "no communication kernel" in text


def test_an_empty_file_is_told(gputime, tmp_path):
    (tmp_path / "empty.csv").touch()
    assert "empty.csv" in error_of(gputime, tmp_path / "empty.csv")
    config = write_config(tmp_path, {"kernel_sum": "empty.csv"})
    assert "empty.csv" in error_of(gputime, "--config", config)


# ---- tables of all versions ----


@pytest.mark.parametrize("names", [
    ["mini2021_gpukernsum.csv", "mini2021_gpumemtimesum.csv"],
    ["mini2022_gpukernsum.csv"],
    ["mini2023_cuda_gpu_trace.csv", "mini2023_nvtx_gpu_proj_trace.csv"],
    ["mini_cuda_gpu_kern_sum.csv", "mini_cuda_gpu_mem_time_sum.csv"],
    ["mini_cuda_gpu_trace.csv"],
    ["mini_us_cuda_gpu_trace.csv"],
    ["mini_stdout.txt"],
], ids=lambda names: names[0])
def test_columns_are_found_by_their_titles_in_tables_of_every_version(gputime, names):
    """The older tools take columns by place, which holds for 2023 and later only."""
    paths = [DATA / "nsys-csv" / name for name in names]
    kernels = gputime.json("kernels", *paths)["tables"]["kernels"]["rows"]
    facts = facts_of(gputime, *paths)
    total = facts["kernel_total_ns"] + facts.get("nccl_total_ns", 0)
    assert total == sum(row["total_ns"] for row in kernels) > 0
    assert facts["kernel_instances"] + facts.get("nccl_instances", 0) == sum(row["count"] for row in kernels)


def test_old_names_of_copies_are_printed_as_they_are(gputime):
    rows = rows_of(gputime, "memory_stats", DATA / "nsys-csv/mini2021_gpumemtimesum.csv")
    assert any("HtoD" in name or "DtoH" in name for name in rows), list(rows)
    rows = rows_of(gputime, "memory_stats", DATA / "nsys-csv/mini_cuda_gpu_mem_time_sum.csv")
    assert any(name in ("[CUDA memcpy H2D]", "[CUDA memcpy D2H]", "[CUDA memcpy D2D]") for name in rows), list(rows)


@pytest.mark.parametrize("name", ["train", "infer", "two", "jax", "extras", "graph_node"])
def test_all_kinds_of_input_agree(gputime, tmp_path, name):
    folder = SHARED / "data/h200/nsys" / name
    if not folder.exists():
        pytest.skip("the captures are not here")
    sums = [path for path in folder.iterdir() if path.name.endswith(("_kern_sum.csv", "_mem_time_sum.csv"))]
    classes = map_of(tmp_path, {"gemm": "Gemm", "triton": "Triton", "nvjet": "Gemm", "elementwise": "Elementwise"})
    reports = [gputime.json("stats", *paths, "--iters", "5", "--gpus", "1", "--map", classes, "--title", "run")
               for paths in ([folder / f"{name}.nsys-rep"], [folder / f"{name}.sqlite"], sums)]
    for report in reports[1:]:
        assert report["tables"] == reports[0]["tables"] and report["facts"] == reports[0]["facts"]


def test_range_of_an_iteration_in_all_kinds_of_input(gputime):
    folder = SHARED / "data/h200/nsys/train"
    if not folder.exists():
        pytest.skip("the captures are not here")
    sums = [path for path in folder.iterdir()
            if path.name.endswith(("_kern_sum.csv", "_mem_time_sum.csv", "_gpu_proj_trace.csv"))]
    facts = [facts_of(gputime, *paths, "--nvtx-tag", "Train_step")
             for paths in ([folder / "train.nsys-rep"], [folder / "train.sqlite"], sums)]
    assert facts[0] == facts[1] == facts[2] and facts[0]["iteration_ranges"] == facts[0]["iterations"] == 5


# ---- several GPUs ----


def two_gpus(folder, kernel_us=(10, 30)):
    """Two steps; each launches a kernel on GPU 0 and one on GPU 1, at the same time."""
    events = []
    for step in range(2):
        at = 1000 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": "step", "ts": at, "dur": 100, "pid": 1, "tid": 1})
        for device, length in enumerate(kernel_us):
            number = step * 2 + device + 1
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 10 + device, "dur": 1,
                           "pid": 1, "tid": 1, "args": {"correlation": number}})
            events.append({"ph": "X", "cat": "kernel", "name": "gemm", "ts": at + 20, "dur": length, "pid": device,
                           "tid": 7, "args": {"correlation": number, "device": device, "stream": 7}})
    path = folder / "two.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


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
    assert "per iteration are of one GPU: totals are divided by 2 iterations and 2 GPUs." in text
    assert "divided by" not in text_of(gputime, two_gpus(tmp_path), "--iters", "2", "--device", "0")


def test_another_number_of_gpus_than_the_trace_shows_is_noted(gputime, tmp_path):
    text = " ".join(text_of(gputime, two_gpus(tmp_path), "--gpus", "4").split())
    assert "divided by 4 GPUs, but the trace shows 2" in text


# ---- configurations ----


def write_config(folder, files, arguments=None, classes=None, **others):
    path = folder / "config.json"
    entry = {"format": "csv", "title": "T", "nsys_csv_file_path": files, "analysis_args": arguments or {"num_of_iters": 2}}
    path.write_text(json.dumps({"inputs": [entry | others], "kernel_to_class_map": classes or {"gemm": "gemm"}}))
    return path


def test_configuration_with_comments_and_trailing_commas(gputime, tmp_path):
    table_of(tmp_path, [("gemm", 10, 4)], "k.csv")
    config = tmp_path / "config.json"
    config.write_text("""{ // what to read
      "inputs": [
        { "format": "CSV", /* any case */ "title": "A // no comment",
          "nsys_csv_file_path": { "kernel_sum": "k.csv", "nvtx_proj_trace": null, },
          "analysis_args": { "num_of_iters": 2, "num_of_gpus": 1, "nvtx_tag_of_iter": null, }, },
        { "title": "B", "path": "k.csv" },
      ],
      "kernel_to_class_map": { "gemm": "Gemm", },
    }""")
    text = text_of(gputime, "--config", config)
    assert [line for line in text.splitlines() if line.startswith("===")] == ["===== A // no comment =====", "===== B ====="]
    report = gputime.json("stats", "--config", config)
    assert [entry["input"] for entry in report["inputs"]] == ["A // no comment", "B"]
    assert report["facts"]["A // no comment"]["iterations"] == 2 and report["facts"]["B"]["iterations"] == 1


def test_inputs_of_all_kinds_in_one_configuration(gputime, tmp_path):
    table_of(tmp_path, [("gemm", 10, 4)], "k.csv")
    config = tmp_path / "config.json"
    both = {"with_nvtx": True, "with_mem": True}
    config.write_text(json.dumps({"inputs": [
        {"format": "csv", "nsys_csv_file_path": {"kernel_sum": "k.csv"}, "title": "same"},
        {"format": "nsys-rep", "nsys_report": {"path": str(DATA / "nsys/extras.nsys-rep"), **both}},
        {"format": "torch-json", "nsys_report": {"path": str(two_gpus(tmp_path)), **both}, "title": "same",
         "analysis_args": {"num_of_iters": 2, "nvtx_tag_of_iter": "step"}},
        {"nsys_report": {"path": str(DATA / "nsys/extras.nsys-rep")}, "title": "bare"}]}))
    report = gputime.json("stats", "--config", config)
    assert [entry["input"] for entry in report["inputs"]] == ["same", "extras.nsys-rep", "same (2)", "bare"]
    assert report["facts"]["same (2)"]["non_hidden_total_ns"] == 20_000
    named = [row["input"] for row in report["tables"]["memory_stats"]["rows"]]
    assert "extras.nsys-rep" in named and "bare" not in named, "with_mem is false unless it is given"
    for format in ("text", "csv", "md"):
        assert b"gemm" in gputime("stats", "--config", config, "--format", format).stdout


def test_what_the_command_line_says_goes_first(gputime, tmp_path):
    table_of(tmp_path, [("gemm", 10, 4)], "k.csv")
    config = write_config(tmp_path, {"kernel_sum": "k.csv"})
    assert facts_of(gputime, "--config", config)["iterations"] == 2
    assert facts_of(gputime, "--config", config, "--iters", "4")["kernel_instances_per_iter"] == 1
    other = tmp_path / "other.json"
    other.write_text('{"ge": "G"}')
    assert list(rows_of(gputime, "class_stats", "--config", config, "--map", other)) == ["others", "g"]


def test_the_map_of_a_configuration_goes_before_the_environment(gputime, tmp_path):
    table_of(tmp_path, [("gemm", 10, 4)], "k.csv")
    config = write_config(tmp_path, {"kernel_sum": "k.csv"}, classes={"ge": "own"})

    def classes(*args):
        report = gputime.json("stats", *args, env={"GPUTIME_RULES": "vllm,llama"})
        return [row["class"] for row in report["tables"]["class_stats"]["rows"] if row["instances"]]

    assert classes("--config", config) == ["own"]
    assert classes("--config", config, "--rules", "sglang,ds") == ["gemm"]
    config.write_text('{"inputs": [{"path": "k.csv"}]}')
    assert classes("--config", config) == ["gemm"]


@pytest.mark.parametrize("missing", ["none.csv", "folder"])
def test_an_optional_file_that_cannot_be_read_is_noted(gputime, tmp_path, missing):
    table_of(tmp_path, [("gemm", 10, 4)], "k.csv")
    (tmp_path / "folder").mkdir()
    config = write_config(tmp_path, {"kernel_sum": "k.csv", "mem_time_sum": missing, "nvtx_proj_trace": None})
    report = gputime.json("stats", "--config", config)
    notes = report["inputs"][0]["notes"]
    assert report["facts"]["kernel_instances"] == 4
    assert any("mem_time_sum: cannot read '" in note and missing in note for note in notes), notes


def test_the_wrong_file_is_noted(gputime, tmp_path):
    memory = DATA / "nsys-csv/mini_cuda_gpu_mem_time_sum.csv"
    config = write_config(tmp_path, {"kernel_sum": str(memory)})
    text = " ".join(text_of(gputime, "--config", config).split())
    assert "The input has no kernels. Of the tables, cuda_gpu_kern_sum or cuda_gpu_trace have them." in text
    config.write_text(json.dumps({"inputs": [{"format": "csv", "path": str(DATA / "nsys/extras.nsys-rep")}]}))
    text = "".join(text_of(gputime, "--config", config).split())
    assert "'format'iscsv,but" in text and "extras.nsys-rep'isnsys-repandisreadasthat." in text
    config.write_text(json.dumps({"inputs": [{"format": "CSV", "path": str(memory)}]}))
    assert "'format'" not in text_of(gputime, "--config", config)


def test_needless_arguments_are_noted(gputime, tmp_path):
    table_of(tmp_path, [("gemm", 10, 4)], "k.csv")
    config = write_config(tmp_path, {"kernel_sum": "k.csv"}, {"num_of_iters": 2, "with_header": True, "kernel_name_idx": 8})
    text = " ".join(text_of(gputime, "--config", config).split())
    assert "Not used: 'with_header', 'kernel_name_idx' (the header of a table tells its columns and units)." in text


@pytest.mark.parametrize("content, parts", [
    ('{"inputs": [{"format": "csv",\n  "nsys_csv_file_path": {"kernel_sum": "none.csv"}}]}',
     ["line 2, column 26", "cannot read 'none.csv'", "no such file", "beside"]),
    ('{"inputs": [{"format": "csv", "nsys_csv_file_path": {"kernel_sum": "folder"}}]}', ["it is a folder; name a file"]),
    ('{"inputs": [{"format": "xml", "path": "k.csv"}]}', ["unknown format 'xml'; there are csv, nsys-rep, sqlite"]),
    ('{"inputs": [{"path": "k.csv", "titel": "x"}]}', ["unknown key 'titel'; there are format, title, path"]),
    ('{"inputs": [{"path": "k.csv",\n "analysis_args": {"num_of_iter": 3}}]}',
     ["line 2", "unknown key 'num_of_iter'; there are num_of_iters, num_of_gpus, nvtx_tag_of_iter"]),
    ('{"inputs": [{"path": "k.csv", "analysis_args": {"num_of_iters": 0}}]}', ["must be a whole number from 1 on, not 0"]),
    ('{"inputs": [{"path": "k.csv", "analysis_args": {"num_of_iters": "5"}}]}',
     ['must be a whole number from 1 on, not the string "5"']),
    ('{"inputs": [{"path": "k.csv", "analysis_args": {"num_of_iters": 1e99}}]}', ["must be a whole number from 1 on"]),
    ('{"inputs": [{"path": ["k.csv"]}]}', ["'path' must be a string, not an array"]),
    ('{"inputs": [{"path": ""}]}', ["'path' must be a string, not empty"]),
    ('{"inputs": [{"format": "csv", "nsys_csv_file_path": {}}]}', ["names no file", "kernel_sum"]),
    ('{"inputs": [{"title": "x"}]}', ["names no file", "nsys_report"]),
    ('{"inputs": [7]}', ["an input is an object, not a number"]),
    ('{"inputs": []}', ["must be a list with an input at least"]),
    ('{"input": []}', ["unknown key 'input'; there are inputs, kernel_to_class_map"]),
    ('{}', ["must be a list with an input at least"]),
    ('[]', ["a configuration is an object"]),
    ('{"inputs": [{"path": "k.csv"}], "kernel_to_class_map": 3}', ["'kernel_to_class_map' must be an object, not 3"]),
    ('{"inputs": [{"path": "k.csv"}], "kernel_to_class_map": {"a": 3}}', ["a class is a list of substrings"]),
    ('{"inputs": [', ["line 1, column 13"]),
    ('', ["config.json"]),
])
def test_what_is_wrong_is_told_with_file_and_place(gputime, tmp_path, content, parts):
    table_of(tmp_path, [("gemm", 10, 4)], "k.csv")
    (tmp_path / "folder").mkdir()
    config = tmp_path / "config.json"
    config.write_text(content)
    done = gputime("stats", "--config", config)
    message = done.stderr.decode()
    assert done.returncode in (1, 2) and done.stdout == b"" and message.count("\n") == 1
    assert "config.json" in message and all(part in message for part in parts), message


def test_configuration_that_is_not_there_or_a_folder(gputime, tmp_path):
    assert "none.json" in error_of(gputime, "--config", tmp_path / "none.json")
    assert str(tmp_path) in error_of(gputime, "--config", tmp_path)
    message = error_of(gputime, "--config", tmp_path / "none.json", "trace.json", status=2)
    assert "--config names the traces" in message


@pytest.mark.parametrize("size", [0, 1, 5])
def test_any_bytes_in_a_configuration(hardened, tmp_path, size):
    good = (CASES / "readme_llama2/config.json").read_bytes()
    config = tmp_path / "config.json"
    for cut in range(0, len(good), 7):
        config.write_bytes(good[:cut] + bytes(0xE0 + i for i in range(size)) + good[cut + size:])
        assert hardened("stats", "--config", config, cwd=CASES / "readme_llama2").returncode in (0, 1, 2)


# ---- the other outputs ----


def test_data_formats_have_the_same_numbers(gputime, tmp_path):
    config = CASES / "readme_gpt5b/config.json"
    rows = gputime.json("stats", "--config", config)["tables"]["class_stats"]["rows"]
    lines = list(csv.DictReader(io.StringIO(gputime("stats", "--config", config, "--csv").stdout.decode())))
    assert [(row["class"], str(row["total_ns"])) for row in rows] == [(line["class"], line["total_ns"]) for line in lines]
    done = gputime("stats", "--config", config, "-o", tmp_path / "stats.txt")
    assert done.returncode == 0 and words((tmp_path / "stats.txt").read_text()) == reference("readme_gpt5b")
    done = gputime("stats", "--config", config, "-o", f"{tmp_path}/tables/")
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == {"class_stats", "nccl_stats", "memory_stats"}


def test_order_and_length_of_the_text(gputime):
    config = CASES / "readme_gpt5b/config.json"
    lines = text_of(gputime, "--config", config, "--sort", "total_ns", "--top", "3").splitlines()
    start = lines.index("Kernel Statistic:") + 2
    assert [line.split()[0] for line in lines[start:start + 3]] == ["fusion", "fp8_gemm", "other_gemm"]
    assert lines[start + 3].startswith("… and ") and lines[start + 3].endswith("(--table class_stats --top 0 shows all)")
    text = text_of(gputime, "--config", config, "--table", "nccl_stats")
    assert "Kernel Statistic" not in text and "AllGather" in text


def test_units_and_columns_of_the_text(gputime):
    config = CASES / "readme_gpt5b/config.json"
    text = text_of(gputime, "--config", config, "--unit", "s")
    assert "Total (s)" in text and "(ms)" not in text
    text = text_of(gputime, "--config", config, "--columns", "class,total_ns")
    table = text[text.index("Kernel classes"):]
    assert table.splitlines()[1].split() == ["Class", "Total", "(ms)"]


def test_classes_add_up_to_all_kernels_of_real_traces(gputime, tmp_path):
    path = DATA / "torch/llama_train_compiled.json.gz"
    classes = {"nvjet": "gemm", "gemm": "gemm", "triton": "triton", "flash": "attention", "multi_tensor": "optimizer"}
    kernels = gputime.json("kernels", path)["tables"]["kernels"]["rows"]
    expected = dict.fromkeys(["others", *classes.values()], 0)
    for row in kernels:
        key = next((key for key in classes if key in row["name"].lower()), None)
        expected[classes.get(key, "others")] += row["total_ns"]
    rows = rows_of(gputime, "class_stats", path, "--map", map_of(tmp_path, classes), "--iters", "3")
    assert {name: row["total_ns"] for name, row in rows.items()} == expected
    assert sum(row["share"] for row in rows.values()) == pytest.approx(1)
    assert all(row["time_per_iter_ns"] == pytest.approx(row["total_ns"] / 3) for row in rows.values())
