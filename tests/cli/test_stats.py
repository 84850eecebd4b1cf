"""`gputime stats`: numbers, words and order of the older tools from their tables, and the right ones where they err."""

import csv
import io
import json

import pytest

from samples import CAPTURES, DATA, own_capture
from stats_cases import CASES, error_of, facts_of, map_of, one_capture, reference, rows_of, table_of, text_of, words


# ---- the examples of the READMEs ----


@pytest.mark.parametrize("case", ["readme_llama2", "readme_gpt5b"])
def test_readme_example_without_a_configuration(gputime, tmp_path, case):
    given = json.loads((CASES / case / "config.json").read_text())["inputs"][0]
    args = given["analysis_args"]
    text = text_of(gputime, *one_capture(case, tmp_path), "--map", CASES / case / "config.json", "--title", given["title"],
                   "--iters", str(args["num_of_iters"]), "--nvtx-tag", args["nvtx_tag_of_iter"])
    assert words(text) == reference(case)


@pytest.mark.parametrize("case", ["readme_llama2", "readme_gpt5b"])
@pytest.mark.parametrize("folder", ["elsewhere", "same"])
def test_readme_example(gputime, tmp_path, case, folder):
    """Files are found from the current folder and from that of the configuration."""
    where = CASES / case if folder == "same" else tmp_path
    text = text_of(gputime, "--config", "config.json" if folder == "same" else CASES / case / "config.json", cwd=where)
    assert words(text) == reference(case)


@pytest.mark.parametrize("case", ["readme_llama2", "readme_gpt5b"])
def test_shared_readme_example(gputime, shared, case):
    tool = {"readme_llama2": "gpu_perf_analyser", "readme_gpt5b": "kernel_info_statistic"}[case]
    folder = shared(f"golden/{tool}/{case}")
    text = text_of(gputime, "--config", folder / "config.json")
    assert words(text) == words((folder / "stdout").read_text())


def test_text_is_aligned_whatever_the_names(gputime):
    lines = text_of(gputime, "--config", CASES / "branches/config.json").splitlines()
    start = lines.index("Kernel Statistic:") + 1
    assert len({len(line) for line in lines[start:start + 4]}) == 1


# ---- other tables of the older tools: the same except for what they do wrong ----


def changed_lines(gputime, case, *args):
    """Lines of ours and of the reference that the other has not; notes apart."""
    ours = [line for line in words(text_of(gputime, *args)) if line[0] != "Note:"]
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
    assert "Found 2 ranges 'Train_step' for 3 iterations on 1 GPU" in text
    ours, theirs = changed_lines(gputime, "synthetic_branches", *args)
    assert ["18.400", "(ms)"] in [line[-2:] for line in ours] and ["15.100", "(ms)"] in [line[-2:] for line in theirs]


def test_operations_are_sorted_by_time_so_that_all_inputs_agree(gputime, tmp_path):
    path = table_of(tmp_path, [("ncclDevKernel_Broadcast_RING(int)", 10, 1), ("ncclDevKernel_AllGather_RING(int)", 30, 1)])
    assert list(rows_of(gputime, "nccl_stats", path)) == ["AllGather", "Broadcast"]


# ---- classes ----


def test_longer_key_wins_where_keys_contain_each_other(gputime, tmp_path):
    path = table_of(tmp_path, [("xmma_gemm_e4m3_k", 30, 3), ("plain_gemm", 20, 2), ("other", 1, 1)])
    args = [path, "--map", map_of(tmp_path, {"gemm": "Gemm", "GEMM_e4m3": "FP8"})]
    rows = rows_of(gputime, "class_stats", *args)
    assert {name: row["total_ns"] for name, row in rows.items()} == {"others": 1, "gemm": 20, "fp8": 30}
    assert "('gemm' is part of 'GEMM_e4m3')" in " ".join(text_of(gputime, *args).split())


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


@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_all_kinds_of_input_agree(gputime, unpacked, tmp_path, capture):
    if capture.name == "graph_whole":
        pytest.skip("nsys stats leaves out graphs that were traced as a whole")
    sums = [path for path in capture.tables() if path.name.endswith(("_kern_sum.csv", "_mem_time_sum.csv"))]
    classes = map_of(tmp_path, {"gemm": "Gemm", "triton": "Triton", "nvjet": "Gemm", "elementwise": "Elementwise"})
    reports = [gputime.json("stats", *paths, "--iters", "5", "--gpus", "1", "--map", classes, "--title", "run")
               for paths in ([capture.report], [unpacked(capture.export)], sums)]
    for report in reports[1:]:
        assert report["tables"] == reports[0]["tables"] and report["facts"] == reports[0]["facts"]


def test_range_of_an_iteration_in_all_kinds_of_input(gputime, unpacked):
    train = own_capture("train")
    sums = [path for path in train.tables()
            if path.name.endswith(("_kern_sum.csv", "_mem_time_sum.csv", "_gpu_proj_trace.csv"))]
    facts = [facts_of(gputime, *paths, "--nvtx-tag", "Train_step")
             for paths in ([train.report], [unpacked(train.export)], sums)]
    assert facts[0] == facts[1] == facts[2] and facts[0]["iteration_ranges"] == facts[0]["iterations"] == 5


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
