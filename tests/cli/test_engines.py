"""The built-in engines and models give a kernel the category that gputrc2graph gives it."""

import csv
import io
import json
import lzma

import pytest

from samples import DATA

SAMPLE = DATA / "graph/categories.csv"  # names that every rule decides, and names that a looser rule would take
WHOLE = "golden/gputrc2graph/categories.csv.xz"
MODELS = [f"{engine}/{model}" for engine in ("vllm", "sglang") for model in ("llama", "ds", "gpt-oss")]


def answers(text):
    """By engine and model: by name, the old tool's category; it has none for what no rule matches."""
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert header == ["name", *MODELS]
    return {model: {row[0]: row[column] or "misc" for row in rows} for column, model in enumerate(MODELS, 1)}


def trace_of(folder, names):
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 100 * i, "dur": 10,
               "args": {"device": 0, "stream": 7, "correlation": i + 1}} for i, name in enumerate(names)]
    path = folder / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def categories_of(gputime, path, model):
    report = gputime.json("graph", f"{path},{model.replace('/', ',')},0")
    return {row["name"]: row["category"] for row in report["tables"]["graph_kernels"]["rows"]
            if row["name"] != "CPU(non-GPU)"}


def wrong_names(gputime, folder, model, expected):
    found = categories_of(gputime, trace_of(folder, expected), model)
    assert found.keys() == expected.keys()
    return {name: (found[name], category) for name, category in expected.items() if found[name] != category}


@pytest.mark.parametrize("model", MODELS)
def test_sample_of_names(gputime, tmp_path, model):
    expected = answers(SAMPLE.read_text())[model]
    assert len(expected) > 200 and len(set(expected.values())) > 10
    assert not wrong_names(gputime, tmp_path, model, expected)


def test_all_names_that_the_old_tool_was_asked_for(gputime, shared, tmp_path):
    expected = answers(lzma.open(shared(WHOLE), "rt", encoding="utf-8", newline="").read())
    wrong = {model: wrong_names(gputime, tmp_path, model, names) for model, names in expected.items()}
    cells = sum(map(len, expected.values()))
    assert cells > 11_000 and sum(map(len, wrong.values())) <= cells * 0.002, wrong


@pytest.mark.parametrize("model", MODELS)
def test_copies_and_memsets_of_every_input(gputime, tmp_path, model):
    names = ["[CUDA memcpy Host-to-Device]", "[CUDA memset]", "Memcpy DtoH (Device -> Pageable)", "Memset (Device)"]
    found = categories_of(gputime, trace_of(tmp_path, [*names, "[CUDA graph 1]"]), model)
    assert found == dict.fromkeys(names, "non-gpu-H_D_memops") | {"[CUDA graph 1]": "misc"}
