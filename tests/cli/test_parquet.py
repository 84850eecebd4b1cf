"""Parquet files, read by a reader of our own: tables of reports have the cells of the JSON output, exports the events."""

import collections
import itertools
import json
import os
import pty
import resource
import subprocess
import sys

import pytest

import parquet_by_hand
from arrow_by_hand import Table
from conftest import DATA, sample_name
from library import Library
from parquet_by_hand import BYTES, DOUBLE, INT64
from samples import ROOT

SAMPLES = [*sorted(DATA.glob("*.json")), DATA / "torch/tpdp_rank0.json.gz", DATA / "nsys/train.nsys-rep",
           DATA / "nsys/graph_whole.nsys-rep", DATA / "nsys-csv/mini_cuda_gpu_trace.csv",
           DATA / "nsys-csv/mini_cuda_gpu_kern_sum.csv"]
LARGER = DATA / "torch/llama_train_compiled.json.gz"


def files_of(folder):
    return {path.stem: parquet_by_hand.read(path) for path in folder.iterdir()}


# ---- reports ----


def check_table(file, table):
    assert list(file.columns) == [column["key"] for column in table["columns"]]
    rows = file.rows()
    assert rows == table["rows"], file.name
    for column in table["columns"]:
        for part in ("title", "unit", "of"):
            assert file.about.get(f"column.{column['key']}.{part}", "") == column.get(part, "")
        if column["unit"] == "share":
            assert file.types[column["key"]] == DOUBLE
        elif column["unit"]:
            assert file.types[column["key"]] in (INT64, DOUBLE)
    assert file.about["gputime.table"] == file.name and file.about["gputime.title"] == table["title"]


@pytest.mark.parametrize("command", ["summary", "kernels", "gaps", "stats"])
@pytest.mark.parametrize("sample", [*SAMPLES, LARGER], ids=sample_name)
def test_directory_has_the_tables_of_json(gputime, tmp_path, sample, command):
    tables = gputime.json(command, sample)["tables"]
    assert gputime(command, sample, "--format", "parquet", "-o", f"{tmp_path}/out/", "-q").returncode == 0
    files = files_of(tmp_path / "out")
    assert set(files) == set(tables)
    for key, file in files.items():
        assert file.name == key
        check_table(file, tables[key])


def test_two_inputs_in_one_table(gputime, tmp_path):
    samples = [DATA / "overlap.json", DATA / "devices.json"]
    assert gputime("summary", *samples, "-o", tmp_path / "all.parquet", "--table", "categories").returncode == 0
    check_table(parquet_by_hand.read(tmp_path / "all.parquet"), gputime.json("summary", *samples)["tables"]["categories"])


def test_chosen_columns_and_pipe(gputime):
    done = gputime("kernels", LARGER, "--format", "parquet", "--columns", "count,name", "--top", "3")
    file = parquet_by_hand.File(done.stdout)
    wanted = gputime.json("kernels", LARGER, "--top", "3")["tables"]["kernels"]["rows"]
    assert file.rows() == [{"count": row["count"], "name": row["name"]} for row in wanted]


def test_commands_that_print_too(gputime, tmp_path):
    done = gputime("kernels", LARGER, "--format", "parquet", "-o", f"{tmp_path}/out/")
    assert done.returncode == 0 and done.stdout == gputime("kernels", LARGER).stdout
    assert "kernels" in files_of(tmp_path / "out")


def test_terminal_is_refused(gputime):
    master, terminal = pty.openpty()
    done = gputime("kernels", LARGER, "--format", "parquet", stdout=terminal)
    os.close(terminal)
    os.close(master)
    assert done.returncode == 2
    assert done.stderr == b"gputime: parquet is binary and not for a terminal; use -o FILE.parquet or a pipe\n"


@pytest.mark.parametrize("args", [["-o", "out/", "--format", "json"], ["-o", "out/", "--format", "md"]])
def test_other_formats_write_no_directory(gputime, tmp_path, args):
    done = gputime("summary", LARGER, *args, cwd=tmp_path)
    assert done.returncode == 2 and b"a directory gets csv or parquet files" in done.stderr
    assert not list(tmp_path.iterdir())


# ---- exports ----


def exported(gputime, folder, *args):
    done = gputime("export", "-q", *args, "-o", f"{folder}/")
    assert done.returncode == 0 and not done.stdout, done.stderr
    return files_of(folder)


def sums_of(file, key, value):
    sums = collections.Counter()
    counts = collections.Counter()
    for name, amount in zip(file.columns[key], file.columns[value]):
        sums[name] += amount
        counts[name] += 1
    return {name: (counts[name], sums[name]) for name in sums}


# Columns of what an export does not read.
DETAILS = ["kernel_file", "kernel_hash", "kernel_backend", "kernel_kwargs", "kernel_grid", "num_warps", "num_stages", "stack", "modules"]
UNREAD = {"cpu_ops": ["dims", "types", "sequence", *DETAILS], "ops": ["kernel_file", "stack"]}
UNREAD_FRAMES = {"python_calls"}


@pytest.mark.parametrize("sample", [*SAMPLES, LARGER], ids=sample_name)
def test_export_has_the_frames(gputime, tmp_path, sample):
    """Every table that Arrow streams have, with the same values."""
    files = exported(gputime, tmp_path / "out", sample)
    library = Library()
    assert set(files) == set(library.frames())
    with library.opened(sample) as trace:
        for key, names in library.frames().items():
            file, unread = files[key], UNREAD.get(key, [])
            assert list(file.columns) == ["input", "rank", *names]
            assert all(value is None for name in unread for value in file.columns[name])
            assert set(file.columns["input"]) <= {sample.name}
            if key in UNREAD_FRAMES:
                assert file.row_count == 0
                continue
            table = Table(library.frame_stream(trace, key, [name for name in names if name not in unread]))
            assert {name: file.columns[name] for name in table.keys} == table.columns(), key
            table.release()
            table.release_stream()


@pytest.mark.parametrize("sample", [*SAMPLES, LARGER], ids=sample_name)
def test_export_sums_to_the_report(gputime, tmp_path, sample):
    ops = exported(gputime, tmp_path / "out", sample)["ops"]
    report = gputime.json("summary", sample, "--table", "categories")
    wanted = {row["category"]: (row["count"], row["total_ns"]) for row in report["tables"]["categories"]["rows"]}
    if ops.row_count:
        assert sums_of(ops, "category", "dur_ns") == {key: value for key, value in wanted.items() if value[0]}
    kernels = gputime.json("kernels", sample)["tables"]["kernels"]["rows"]
    found = collections.Counter()
    for name, kind, length in zip(ops.columns["name"], ops.columns["kind"], ops.columns["dur_ns"]):
        if kind in ("kernel", "graph"):
            found[name] += length
    if ops.row_count:
        assert found == collections.Counter({row["full_name"] or row["name"]: row["total_ns"] for row in kernels})


@pytest.mark.parametrize("selection", [["--step", "4"], ["--from", "10%", "--to", "50%"], ["--device", "0"],
                                       ["--category", "gemm"], ["--name", "nothing has this name"]], ids=" ".join)
def test_selection_is_of_ops(gputime, tmp_path, selection):
    everything = exported(gputime, tmp_path / "all", LARGER)
    some = exported(gputime, tmp_path / "some", LARGER, *selection)
    rows = {row["id"]: row for row in everything["ops"].rows()}
    assert all(rows[row["id"]] == row for row in some["ops"].rows())
    ids = some["ops"].columns["id"]
    assert ids == sorted(ids)
    report = gputime.json("summary", LARGER, "--table", "categories", *selection)
    assert len(ids) == sum(row["count"] for row in report["tables"]["categories"]["rows"])
    assert all(some[key].columns == everything[key].columns for key in everything if key != "ops")


def test_several_traces(gputime, tmp_path):
    samples = [DATA / "torch/tpdp_rank0.json.gz", DATA / "overlap.json"]
    together = exported(gputime, tmp_path / "both", *samples)
    for sample in samples:
        alone = exported(gputime, tmp_path / sample.name, sample)
        for key, file in alone.items():
            assert [row for row in together[key].rows() if row["input"] == sample.name] == file.rows()
    assert set(zip(together["ops"].columns["input"], together["ops"].columns["rank"])) == {
        ("tpdp_rank0.json.gz", 0), ("overlap.json", None)}


def test_threads_change_nothing(gputime, tmp_path):
    for threads in ("1", "2", "5"):
        exported(gputime, tmp_path / threads, LARGER, "--threads", threads)
    for path in (tmp_path / "1").iterdir():
        assert path.read_bytes() == (tmp_path / "2" / path.name).read_bytes() == (tmp_path / "5" / path.name).read_bytes()


@pytest.mark.parametrize("args, message", [
    (["-o", "out"], b"unknown suffix of 'out'; end a directory with '/', or name a format"),
    (["-o", "out", "--format", "parquet"], b"format 'parquet' writes a directory; end its path with '/'"),
    (["-o", "out/", "--format", "json"], b"'export' cannot write json (only: parquet"),
    ([], b"'export' needs an output"),
    (["-o", "no/such/out/"], b"its directory does not exist"),
    (["-o", "out/", "--step", "99"], b"99"),
])
def test_wrong_requests_leave_nothing(gputime, tmp_path, args, message):
    done = gputime("export", LARGER, *args, cwd=tmp_path)
    assert done.returncode in (1, 2) and message in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())


def test_existing_files_are_replaced_or_kept(gputime, tmp_path):
    exported(gputime, tmp_path / "out", LARGER)
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    limit = (4096, 4096)  # a file that cannot grow is a full disk
    done = gputime("export", DATA / "nsys/train.nsys-rep", "-o", f"{tmp_path}/out/",
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert done.returncode == 1 and b"file too large" in done.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
    done = gputime("export", LARGER, "-o", f"{tmp_path}/new/",
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert done.returncode == 1 and not (tmp_path / "new").exists()


# ---- names from anywhere ----

NAMES = ["nul\\u0000inside", "line\\nbreak", "\\ud83d\\ude00 smile", "lone \\ud800 surrogate", "x" * 1_000_000, "", " ",
         "\"quoted\"", "=1+1"]


def hostile_trace(path):
    """Kernels with all these names, one of them with bytes that are no text."""
    names = [*NAMES, "bytes \xff\xfe end", "bytes \xf0\x9f\x98 cut"]
    events = [f'{{"ph":"X","cat":"kernel","name":"{text}","pid":0,"tid":7,"ts":{10 * i},"dur":5,'
              f'"args":{{"device":0,"stream":7,"correlation":{i}}}}}' for i, text in enumerate(
                  name.replace('"', '\\"') for name in names)]
    path.write_bytes(("{\"traceEvents\":[" + ",\n".join(events) + "]}").encode("latin-1"))
    return len(names)


def test_hostile_names(gputime, tmp_path):
    count = hostile_trace(tmp_path / "trace.json")
    kernels = gputime.json("kernels", tmp_path / "trace.json")["tables"]["kernels"]
    done = gputime("kernels", tmp_path / "trace.json", "--format", "parquet")
    assert parquet_by_hand.File(done.stdout).rows() == kernels["rows"]
    ops = exported(gputime, tmp_path / "out", tmp_path / "trace.json")["ops"]
    assert ops.row_count == count
    assert set(ops.columns["name"]) == {row["full_name"] or row["name"] for row in kernels["rows"]}
    assert {"nul\0inside", "x" * 1_000_000, "bytes \ufffd\ufffd end", "bytes \ufffd cut"} <= set(ops.columns["name"])


def test_nothing_at_all(gputime, tmp_path):
    (tmp_path / "empty.json").write_text('{"traceEvents":[]}')
    files = exported(gputime, tmp_path / "out", tmp_path / "empty.json")
    assert files["ops"].row_count == 0 and files["ops"].groups == []
    tables = gputime.json("summary", tmp_path / "empty.json")["tables"]
    assert gputime("summary", tmp_path / "empty.json", "--format", "parquet", "-o", f"{tmp_path}/tables/").returncode == 0
    for key, file in files_of(tmp_path / "tables").items():
        check_table(file, tables[key])


def test_many_rows(gputime, tmp_path):
    """More than a page of rows, of which every third has no correlation."""
    rows = 70_000
    events = (f'{{"ph":"X","cat":"kernel","name":"k{i % 300}","pid":0,"tid":7,"ts":{3 * i},"dur":{1 + i % 2},'
              f'"args":{{"device":0,"stream":7{"" if i % 3 == 0 else f", {chr(34)}correlation{chr(34)}:{i}"}}}}}'
              for i in range(rows))
    (tmp_path / "trace.json").write_text("{\"traceEvents\":[" + ",\n".join(events) + "]}")
    assert gputime("export", "-q", tmp_path / "trace.json", "-o", f"{tmp_path}/out/").returncode == 0
    ops = parquet_by_hand.read(tmp_path / "out/ops.parquet")
    assert ops.row_count == rows and ops.types["correlation"] == INT64 and ops.types["name"] == BYTES
    assert ops.columns["start_ns"] == [3000 * i for i in range(rows)]
    assert ops.columns["name"] == [f"k{i % 300}" for i in range(rows)]
    assert ops.columns["correlation"] == [None if i % 3 == 0 else i for i in range(rows)]


def test_the_page_on_frames_is_current():
    done = subprocess.run([sys.executable, ROOT / "docs/make_frames.py"], stdout=subprocess.PIPE, check=True, text=True)
    assert (ROOT / "docs/frames.md").read_text() == done.stdout, "python3 docs/make_frames.py > docs/frames.md"


def test_the_reader_sees_mistakes(gputime):
    good = gputime("kernels", LARGER, "--format", "parquet").stdout
    file = parquet_by_hand.File(good)
    assert file.codecs == {"uncompressed", "zstd"}
    wrong = 0
    for place in itertools.islice(range(4, len(good) - 8, 7), 400):
        damaged = bytearray(good)
        damaged[place] ^= 1
        try:
            wrong += parquet_by_hand.File(bytes(damaged)).rows() != file.rows()
        except Exception:  # whichever way it fails
            wrong += 1
    assert wrong > 350
    assert json.dumps(file.rows())
