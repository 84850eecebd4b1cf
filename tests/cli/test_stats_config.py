"""`gputime stats --config`: configurations of the older tools, what goes first, and what is wrong with one."""

import json

import pytest

from conftest import DATA
from stats_cases import CASES, error_of, facts_of, rows_of, table_of, text_of, two_gpus, write_config


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
    assert "The input has no kernels. Add cuda_gpu_kern_sum or cuda_gpu_trace." in text
    config.write_text(json.dumps({"inputs": [{"format": "csv", "path": str(DATA / "nsys/extras.nsys-rep")}]}))
    text = "".join(text_of(gputime, "--config", config).split())
    assert "'format'iscsv,but" in text and "extras.nsys-rep'isnsys-repandwasreadassuch." in text
    config.write_text(json.dumps({"inputs": [{"format": "CSV", "path": str(memory)}]}))
    assert "'format'" not in text_of(gputime, "--config", config)


def test_needless_arguments_are_noted(gputime, tmp_path):
    table_of(tmp_path, [("gemm", 10, 4)], "k.csv")
    config = write_config(tmp_path, {"kernel_sum": "k.csv"}, {"num_of_iters": 2, "with_header": True, "kernel_name_idx": 8})
    text = " ".join(text_of(gputime, "--config", config).split())
    assert "Ignored: 'with_header', 'kernel_name_idx' (columns and units come from the table's header)." in text


@pytest.mark.parametrize("content, parts", [
    ('{"inputs": [{"format": "csv",\n  "nsys_csv_file_path": {"kernel_sum": "none.csv"}}]}',
     ["line 2, column 26", "cannot read 'none.csv'", "no such file", "next to"]),
    ('{"inputs": [{"format": "csv", "nsys_csv_file_path": {"kernel_sum": "folder"}}]}', ["it is a directory; give a file"]),
    ('{"inputs": [{"format": "xml", "path": "k.csv"}]}', ["unknown format 'xml'; known formats: torch-json, nsys-rep, rocpd, sqlite, csv, "]),
    ('{"inputs": [{"path": "k.csv", "titel": "x"}]}', ["unknown key 'titel'; known keys: format, title, path"]),
    ('{"inputs": [{"path": "k.csv",\n "analysis_args": {"num_of_iter": 3}}]}',
     ["line 2", "unknown key 'num_of_iter'; known keys: num_of_iters, num_of_gpus, nvtx_tag_of_iter"]),
    ('{"inputs": [{"path": "k.csv", "analysis_args": {"num_of_iters": 0}}]}', ["must be a positive integer, not 0"]),
    ('{"inputs": [{"path": "k.csv", "analysis_args": {"num_of_iters": "5"}}]}',
     ['must be a positive integer, not the string "5"']),
    ('{"inputs": [{"path": "k.csv", "analysis_args": {"num_of_iters": 1e99}}]}', ["must be a positive integer"]),
    ('{"inputs": [{"path": ["k.csv"]}]}', ["'path' must be a string, not an array"]),
    ('{"inputs": [{"path": ""}]}', ["'path' must be a string, not empty"]),
    ('{"inputs": [{"format": "csv", "nsys_csv_file_path": {}}]}', ["has no file; add \"nsys_csv_file_path\"", "kernel_sum"]),
    ('{"inputs": [{"title": "x"}]}', ["has no file", "nsys_report"]),
    ('{"inputs": [7]}', ["an input must be an object, not a number"]),
    ('{"inputs": []}', ["must be a non-empty list"]),
    ('{"input": []}', ["unknown key 'input'; known keys: inputs, kernel_to_class_map"]),
    ('{}', ["must be a non-empty list"]),
    ('[]', ["a configuration must be an object"]),
    ('{"inputs": [{"path": "k.csv"}], "kernel_to_class_map": 3}', ["'kernel_to_class_map' must be an object, not 3"]),
    ('{"inputs": [{"path": "k.csv"}], "kernel_to_class_map": {"a": 3}}', ["a class with a list of substrings"]),
    ('{"inputs": [', ["line 1, column 13"]),
    ('', ["config.json"]),
])
def test_errors_name_file_and_place(gputime, tmp_path, content, parts):
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
    assert "--config lists the traces" in message


@pytest.mark.parametrize("size", [0, 1, 5])
def test_any_bytes_in_a_configuration(hardened, tmp_path, size):
    good = (CASES / "readme_llama2/config.json").read_bytes()
    config = tmp_path / "config.json"
    for cut in range(0, len(good), 7):
        config.write_bytes(good[:cut] + bytes(0xE0 + i for i in range(size)) + good[cut + size:])
        assert hardened("stats", "--config", config, cwd=CASES / "readme_llama2").returncode in (0, 1, 2)
