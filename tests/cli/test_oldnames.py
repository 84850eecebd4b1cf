"""Under the name of a program that it replaces, gputime takes that program's command lines as their READMEs print them."""

import csv
import gzip
import json
import os
import shutil
import subprocess

import pytest

from conftest import DATA, Program
from stats_cases import reference, words

REPORT = DATA / "nsys/graph_whole.nsys-rep"
EXPORT = DATA / "explain/full"
OWN_RULES = {"DEF": {"ABC": {"sgemm|cutlass": "gemm", "J|K": "attn", "CUDA mem": "non-gpu-H_D_memops", ".*": "misc"}}}


@pytest.fixture
def old(gputime, tmp_path):
    """Runs a command line in a folder with a link of the program's first word to gputime."""
    def run(line):
        name = line.split()[0]
        link = tmp_path / name
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(gputime.binary)
        return subprocess.run(f"./{line}", shell=True, cwd=tmp_path, capture_output=True, timeout=120,
                              env=gputime.environment)

    return run


@pytest.fixture
def same(old, gputime, tmp_path):
    """Says whether an old command line prints what a command of gputime prints."""
    def check(line, *args):
        done, expected = old(line), gputime(*args, cwd=tmp_path)
        assert done.returncode == expected.returncode == 0, done.stderr
        assert done.stdout == expected.stdout and done.stdout
        return done.stdout.decode()

    return check


# ---- gputrc2graph ----------------------------------------------------------------------------------------------------

def result_of(folder):
    with open(folder / "result.csv", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ["gputrc2graph.py", "gputrc2graph"])
def test_graph_of_one_profile(old, tmp_path, name):
    shutil.copy(REPORT, tmp_path / "run1.nsys-rep")
    done = old(f'{name} \\\n--in_file run1.nsys-rep,vllm,gpt-oss,306 \\\n--title "vLLM-gpt-oss profile"')
    assert done.returncode == 0 and done.stdout.startswith(b"vLLM-gpt-oss profile\n"), done.stderr
    rows = result_of(tmp_path)
    assert {row["Model_Engine"] for row in rows} == {"gpt-oss_vllm_run1_0"}
    assert sum(float(row["Elapsed Time (sec)"]) for row in rows) == pytest.approx(306)
    assert (tmp_path / "result.html").exists() or b"result.html" not in done.stdout


def test_graph_of_several_profiles(old, tmp_path):
    for name in ("run1", "run2"):
        shutil.copy(REPORT, tmp_path / f"{name}.nsys-rep")
    (tmp_path / "trace.json").write_text('{"traceEvents": []}')  # no rules, though JSON in the program's folder
    done = old('gputrc2graph.py \\\n--in_file run1.nsys-rep,vllm,llama,100 run2.nsys-rep,vllm,gpt-oss,102 \\\n'
               '--out_dir results \\\n--title "Comparison of vLLM Models"')
    assert done.returncode == 0, done.stderr
    assert {row["Model_Engine"] for row in result_of(tmp_path / "results")} == {"llama_vllm_run1_0", "gpt-oss_vllm_run2_1"}


def test_graph_of_a_new_model_in_a_file_next_to_the_program(old, tmp_path):
    shutil.copy(REPORT, tmp_path / "new.nsys-rep")
    (tmp_path / "engine_DEF.json").write_text(json.dumps(OWN_RULES))
    done = old("gputrc2graph.py --infile new.nsys-rep,DEF,ABC,10")
    assert done.returncode == 0, done.stderr
    assert {row["Category"] for row in result_of(tmp_path)} <= {"CPU(non-GPU)", "gemm", "attn", "misc", "non-gpu-H_D_memops"}
    (tmp_path / "engine_DEF.json").unlink()
    done = old("gputrc2graph.py --infile new.nsys-rep,DEF,ABC,10")
    assert done.returncode == 2 and b"no model 'ABC' of engine 'DEF'" in done.stderr


def test_graph_help_and_wrong_options(old):
    done = old("gputrc2graph.py --help")
    assert done.returncode == 0 and done.stdout.startswith(b"Usage: gputime graph ")
    assert old("gputrc2graph.py --in_files x").returncode == 2 and old("gputrc2graph.py").returncode == 2
    assert b"nsys-cmd" in done.stdout


# ---- nsys-llm-explainer ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("options", ["", "--phase-map phases.json", "--phases-json phases.json", "--no-nvtx-kernel-map",
                                     "--nvtx-coverage-warn-threshold 0.7"])
def test_explain(old, tmp_path, options):
    (tmp_path / "trace.sqlite").write_bytes(gzip.decompress((EXPORT / "trace.sqlite.gz").read_bytes()))
    shutil.copy(EXPORT / "phases.json", tmp_path)
    done = old(f"nsys-llm-explain trace.sqlite --out artifacts/run_1/ {options}")
    assert done.returncode == 0, done.stderr
    out = tmp_path / "artifacts/run_1"
    assert {"report.md", "report.json", "tables"} <= set(os.listdir(out))
    assert {path.name for path in (out / "tables").iterdir()} >= {path.name for path in (EXPORT / "out/tables").iterdir()}
    assert (out / "tables/kernels.csv").read_bytes() == (EXPORT / "out/tables/kernels.csv").read_bytes()


# ---- GPU Kernel Analyzer ---------------------------------------------------------------------------------------------

@pytest.fixture
def trace(tmp_path):
    packed = DATA / "torch/llama_train_compiled.json.gz"
    (tmp_path / "trace.json").write_bytes(gzip.decompress(packed.read_bytes()))


@pytest.mark.parametrize("options", ["", "--top 20 --sort duration-percentage", "--sort duration", "--gaps",
                                     "--gaps --hist-min 1 --hist-max 100", "--gaps --gap-sort count"])
def test_kernels(same, trace, options):
    text = same(f"profiler.py trace.json {options}", "kernels", "trace.json", *options.split())
    assert ("Gaps" in text or "gaps" in text) == ("--gaps" in options)


def test_kernels_into_files(same, trace, tmp_path):
    same("profiler.py trace.json --output kernels.txt --gap-output gaps.txt --gaps", "kernels", "trace.json", "--gaps")
    assert (tmp_path / "kernels.txt").read_text().startswith("DETAILED GPU KERNEL ANALYSIS\n")
    assert (tmp_path / "gaps.txt").read_text().startswith("DETAILED GPU GAP ANALYSIS\n")


def test_kernels_of_a_step_with_whole_names(same, trace):
    same("gpu-kernel-analyzer trace.json -v -t 5 -s count --gap-top 3", "kernels", "trace.json", "-v", "-t", "5",
         "-s", "count", "--gap-top", "3")


# ---- GPU Performance Analyser, GPU_kernel_info_statistic --------------------------------------------------------------

@pytest.mark.parametrize("line", ["src/main.py --config=example/config.json", "analyzer/main.py --config='example/config.json'",
                                  "gpu_perf_analyser --config=example/config.json", "src/kernel_stats.py --config example/config.json"])
@pytest.mark.parametrize("case", ["readme_llama2", "readme_gpt5b"])
def test_stats(old, tmp_path, line, case):
    shutil.copytree(DATA / "stats" / case, tmp_path / "example")
    done = old(line)
    assert done.returncode == 0, done.stderr
    assert words(done.stdout.decode()) == reference(case)


# ---- names -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["main", "profiler", "kernel_stats", "gputrc2graph.sh", "my-gputrc2graph", "py", ".py"])
def test_other_names_are_gputime(gputime, tmp_path, name):
    (tmp_path / name).symlink_to(gputime.binary)
    done = Program(tmp_path / name, gputime.home)("--version")
    assert done.returncode == 0 and done.stdout.startswith(b"gputime ")
    done = Program(tmp_path / name, gputime.home)("graph", "--help")
    assert done.stdout.startswith(b"Usage: gputime graph ")


def test_the_first_word_is_no_command_to_an_old_program(old):
    done = old("nsys-llm-explain diff --out out")
    assert done.returncode == 1 and b"'diff'" in done.stderr
