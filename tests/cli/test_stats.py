"""`gputime stats`: the numbers, words and order of the older tools from their tables, and the right ones where they err.

Cases of tests/data/stats are tables with what an older tool printed for them (reference.txt)."""

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
