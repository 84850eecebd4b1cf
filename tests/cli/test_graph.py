"""`gputime graph`: the numbers of gputrc2graph, to the ns, from every input; several GPUs and several runs kept apart."""

import collections
import csv
import fractions
import gzip
import io
import json
import os

import pytest

import oracle
import tracegen
from samples import DATA, real_traces, trace_name

DEVICES = DATA / "devices.json"  # two GPUs; numbers by hand in devices.txt
OVERLAP = DATA / "overlap.json"
REPORT = DATA / "nsys/graph_whole.nsys-rep"
GOLDEN = "golden/gputrc2graph/two_runs/result.csv"
OLD_RULES = "data/public/engine-models/vllm_engine_model.json"
NON_GPU = "CPU(non-GPU)"
HEADER = ["Model_Engine", "Category", "Instances", "Name", "Elapsed Time (sec)"]


def run_of(path, engine="vllm", model="llama", seconds="0"):
    return f"{path},{engine},{model},{seconds}"


def tables(gputime, *args, **settings):
    return {key: table["rows"] for key, table in gputime.json("graph", *args, **settings)["tables"].items()}


def result_rows(folder):
    rows = list(csv.reader(io.StringIO((folder / "result.csv").read_text(), newline="")))
    assert rows[0] == HEADER
    return rows[1:]


# ---- the old tool's numbers ----------------------------------------------------------------------------------------

def two_runs(shared, kind):
    suffixes = {"nsys-rep": "{}.nsys-rep", "sqlite": "{}.sqlite", "csv": "{}_cuda_gpu_trace.csv.gz"}
    return [shared(f"data/h200/nsys/{name}/{suffixes[kind].format(name)}") for name in ("infer", "train")]


@pytest.mark.parametrize("has_rules", [False, True], ids=["built-in", "old"])
@pytest.mark.parametrize("kind", ["nsys-rep", "sqlite", "csv"])
def test_every_row_of_the_reference_run(gputime, shared, tmp_path, kind, has_rules):
    infer, train = two_runs(shared, kind)
    rules = ["--rules", shared(OLD_RULES).parent] if has_rules else []
    done = gputime("graph", "--in_file", run_of(infer, "vllm", "llama", "4"), run_of(train, "vllm", "gpt-oss", "2"),
                   "--out_dir", tmp_path / "out", "--title", "Two runs", *rules)
    assert done.returncode == 0, done.stderr
    ours = collections.Counter(tuple(row[:4]) + (float(row[4]),) for row in result_rows(tmp_path / "out"))
    with open(shared(GOLDEN), newline="") as file:
        theirs = collections.Counter(tuple(row[:4]) + (float(row[4]),) for row in list(csv.reader(file))[1:])
    ours_gpu = {row: count for row, count in ours.items() if row[1] != NON_GPU}
    theirs_gpu = {row: count for row, count in theirs.items() if row[1] != NON_GPU}
    assert ours_gpu == theirs_gpu and len(ours_gpu) > 90


def test_non_gpu_time_is_exact_where_the_old_tool_rounds_to_tenths_of_a_second(gputime, unpacked):
    infer = unpacked(DATA / "nsys-more/infer_part.sqlite.gz")
    rows = tables(gputime, run_of(infer, seconds="4"))
    busy = sum(row["elapsed_ns"] for row in rows["graph"] if row["category"] != NON_GPU)
    (non_gpu,) = [row for row in rows["graph_kernels"] if row["category"] == NON_GPU]
    assert non_gpu["elapsed_ns"] == 4_000_000_000 - busy and non_gpu["instances"] == 1
    assert rows["graph_runs"][0]["busy_ns"] == busy


# ---- the judge -----------------------------------------------------------------------------------------------------

def judged(view, elapsed_ns=0):
    """(by name: instances, mean elapsed; by device: busy; elapsed of the run; mean non-GPU time), as plainly as can be."""
    names = collections.defaultdict(lambda: [0, 0])
    busy = {}
    for device, ops in view.by_device().items():
        reached = -(2**63)
        for op in ops:
            names[op.name][0] += 1
            names[op.name][1] += max(0, op.end - max(op.start, reached))
            reached = max(reached, op.end)
        busy[device] = oracle.length(oracle.union((op.start, op.end) for op in ops))
    spans = [view.span(ops) for ops in view.by_device().values()]
    whole = max(end for _, end in spans) - min(start for start, _ in spans) if spans else 0
    elapsed = elapsed_ns or whole
    count = len(busy) or 1
    non_gpu = fractions.Fraction(sum(max(0, elapsed - ns) for ns in busy.values()), count) if busy else elapsed
    means = {name: (instances, fractions.Fraction(ns, count)) for name, (instances, ns) in names.items()}
    return means, busy, elapsed, non_gpu


def compare(rows, view, elapsed_ns=0):
    means, busy, elapsed, non_gpu = judged(view, elapsed_ns)
    found = collections.defaultdict(lambda: [0, 0])
    for row in rows["graph_kernels"]:
        found[row["name"]][0] += row["instances"]
        found[row["name"]][1] += row["elapsed_ns"]
    assert found.pop(NON_GPU) == [1, pytest.approx(float(non_gpu), abs=1e-3)]
    assert set(found) == set(means)
    for name, (instances, ns) in means.items():
        assert found[name] == [instances, pytest.approx(float(ns), rel=1e-12)], name
    assert {row["device"]: row["busy_ns"] for row in rows["graph_devices"]} == busy
    assert all(row["non_gpu_ns"] == max(0, elapsed - row["busy_ns"]) for row in rows["graph_devices"])
    assert all(row["elapsed_ns"] == elapsed for row in rows["graph_devices"] + rows["graph_runs"])
    bars = sum(row["elapsed_ns"] for row in rows["graph"])
    if all(ns <= elapsed for ns in busy.values()):
        assert bars == pytest.approx(elapsed, rel=1e-12), "the bars sum to the elapsed time"
    assert bars == pytest.approx(sum(row["elapsed_ns"] for row in rows["graph_kernels"]), rel=1e-12)
    assert sum(row["share"] for row in rows["graph"]) == pytest.approx(1 if bars else 0)


@pytest.mark.parametrize("seed", range(60))
def test_random_trace(gputime, tmp_path, seed):
    path = tmp_path / "trace.json"
    path.write_text(tracegen.trace(seed)[0], encoding="utf-8")
    trace = oracle.load(path)
    view = oracle.View(trace)
    compare(tables(gputime, run_of(path)), view)
    compare(tables(gputime, path, "--names", "full"), view)
    span = judged(view)[2]
    for elapsed_ns in (span // 3 or 1, span + 12_345, 5_000_000_000):
        compare(tables(gputime, run_of(path, seconds=f"{elapsed_ns / 1e9:.9f}")), view, elapsed_ns)
    if span > 10:
        window = oracle.Selection(from_ns=span // 4, to_ns=span // 2)
        chosen = oracle.View(trace, window)
        if chosen.ops:
            compare(tables(gputime, run_of(path), "--from", f"{span // 4}ns", "--to", f"{span // 2}ns"), chosen)


@pytest.mark.parametrize("path", real_traces(), ids=trace_name)
def test_real_trace(gputime, path):
    compare(tables(gputime, run_of(path)), oracle.View(oracle.load(path)))


def test_two_gpus_are_not_merged(gputime):
    """The old tool takes the union over both GPUs: 14 + 4.5 us busy, where each was busy for 14 and 9.5."""
    rows = tables(gputime, run_of(DEVICES, seconds="0.0001"))
    assert [(row["device"], row["busy_ns"], row["non_gpu_ns"]) for row in rows["graph_devices"]] == \
        [(0, 14_000, 86_000), (1, 9_500, 90_500)]
    (run,) = rows["graph_runs"]
    assert (run["gpus"], run["elapsed_ns"], run["busy_ns"], run["non_gpu_ns"]) == (2, 100_000, 11_750, 88_250)
    means = {row["name"]: (row["instances"], row["elapsed_ns"]) for row in rows["graph_kernels"]}
    assert means["alpha"] == (3, 8_500) and means["beta"] == (1, 2_000) and means["gamma"] == (1, 1_250)
    assert means[NON_GPU] == (1, 88_250)
    text = gputime("graph", run_of(DEVICES, seconds="0.0001"), "--format", "text").stdout.decode()
    assert "Elapsed time by GPU" in text


def test_seconds_0_or_none_is_the_time_of_gpu_work_where_the_old_tool_says_no_non_gpu_time(gputime):
    for seconds in ("0", "0.0", ""):
        rows = tables(gputime, run_of(DEVICES, seconds=seconds))
        assert {row["elapsed_ns"] for row in rows["graph_devices"]} == {40_000}
        assert [row["non_gpu_ns"] for row in rows["graph_devices"]] == [26_000, 30_500]
        assert rows["graph_runs"][0]["is_given"] == 0


def test_seconds_below_the_busy_time_warn(gputime):
    report = gputime.json("graph", run_of(DEVICES, seconds="0.00001"))
    assert [row["non_gpu_ns"] for row in report["tables"]["graph_devices"]["rows"]] == [0, 500]
    notes = report["inputs"][0]["notes"]
    assert any("given elapsed time (10 us) is shorter than the busy time of 1 of 2 GPUs" in note for note in notes)
    assert any(note == "Times are means over 2 GPUs; instances and ops are totals." for note in notes)
    alone = gputime.json("graph", run_of(DEVICES), "--device", "0")["inputs"][0]
    assert not any("means over" in note for note in alone["notes"])
    assert b"counts as 0" in gputime("graph", run_of(DEVICES, seconds="0.00001"), "--format", "text").stdout
    enough = gputime.json("graph", run_of(DEVICES, seconds="1"))["inputs"][0]
    assert not any("shorter" in note for note in enough["notes"])


# ---- files ---------------------------------------------------------------------------------------------------------

def test_files_and_screen(gputime, tmp_path):
    done = gputime("graph", "--in_file", run_of(OVERLAP, seconds="1"), run_of(DEVICES, "sglang", "ds"), "--title", "A <b>",
                   cwd=tmp_path)
    assert done.returncode == 0 and not done.stderr
    text = done.stdout.decode()
    assert text.startswith("A <b>\n") and "Wrote result.csv" in text
    assert "llama_vllm_overlap_0" in text and "ds_sglang_devices_1" in text
    rows = result_rows(tmp_path)
    assert [row[0] for row in rows] == sorted((row[0] for row in rows), key=lambda label: label[-1])
    for label in ("llama_vllm_overlap_0", "ds_sglang_devices_1"):
        own = [(row[1], -float(row[4]), row[3]) for row in rows if row[0] == label]
        assert own == sorted(own) and own[0][0] == NON_GPU
    assert done.stdout == gputime("graph", run_of(OVERLAP, seconds="1"), run_of(DEVICES, "sglang", "ds"), "--title", "A <b>",
                                  cwd=tmp_path).stdout


def test_out_dir_is_made_and_other_formats_leave_it_alone(gputime, tmp_path):
    assert gputime("graph", run_of(OVERLAP), "--out-dir", tmp_path / "a/b/c", "-q").stdout == b""
    assert result_rows(tmp_path / "a/b/c")
    for format in ("csv", "json", "md", "text"):
        assert gputime("graph", run_of(OVERLAP), "--format", format, cwd=tmp_path).returncode == 0
    assert gputime("graph", run_of(OVERLAP), "-o", tmp_path / "x.json", cwd=tmp_path).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "x.json"]
    both = gputime("graph", run_of(OVERLAP), "--out-dir", tmp_path / "d", "--json")
    assert json.loads(both.stdout)["command"] == "graph" and result_rows(tmp_path / "d")


def test_out_dir_that_cannot_be(gputime, tmp_path):
    (tmp_path / "file").write_text("")
    done = gputime("graph", run_of(OVERLAP), "--out-dir", tmp_path / "file/x")
    assert done.returncode == 1 and b"its directory cannot be created or written to" in done.stderr
    assert done.stdout == b""


def test_no_folder_is_made_for_a_trace_that_cannot_be_read(gputime, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text("no trace")
    assert gputime("graph", run_of(broken), "--out-dir", tmp_path / "out").returncode == 1
    assert not (tmp_path / "out").exists()


def test_twelve_runs_stay_in_order(gputime, tmp_path):
    runs = [run_of(OVERLAP, seconds=str(i + 1)) for i in range(12)]
    done = gputime("graph", *runs, "--out-dir", tmp_path, "--width", "80")
    labels = [f"llama_vllm_overlap_{i}" for i in range(12)]
    assert list(dict.fromkeys(row[0] for row in result_rows(tmp_path))) == labels
    text, files = done.stdout.decode().split("\nWrote ", 1)
    assert max(map(len, text.splitlines())) <= 80 and "(not shown:" not in text and files.startswith(str(tmp_path))
    listed = [word for line in text.splitlines() for word in line.split()[:1] if word.startswith("llama_")]
    assert listed[:12] == labels
    totals = [line.split()[1:] for line in text.splitlines() if line.startswith("total")]
    assert [value for line in totals for value in line if value != "s"] == [f"{i + 1},000.000" for i in range(12)]
    page = gputime("graph", *runs, "--format", "md").stdout.decode()
    assert all(label in page for label in labels)


def test_title_in_every_format(gputime):
    title = "Runs | of *today*"
    assert gputime.json("graph", OVERLAP, "--title", title)["heading"] == title
    assert "heading" not in gputime.json("graph", OVERLAP)
    assert gputime("graph", OVERLAP, "--title", title, "--format", "md").stdout.startswith(b"# Runs ")
    assert gputime("graph", OVERLAP, "--title", title, "--format", "text").stdout.decode().startswith(title)


# ---- runs ----------------------------------------------------------------------------------------------------------

def labels(gputime, *runs):
    return [entry["input"] for entry in gputime.json("graph", *runs)["inputs"]]


def test_labels_drop_every_known_suffix(gputime, tmp_path):
    content = gzip.compress(OVERLAP.read_bytes())
    report = REPORT.read_bytes()
    rows = (DATA / "nsys-csv/mini_cuda_gpu_trace.csv").read_bytes()
    names = {"a.json.gz": content, "b.pt.trace.json.gz": content, "c.nsys-rep": report,
             "d.nsys-rep_cuda_gpu_trace.csv": rows, "e_cuda_gpu_trace.csv": rows, "f.nsys-rep.gz": gzip.compress(report),
             "g": content, "h,with,commas,too.json.gz": content}
    for name, raw in names.items():
        (tmp_path / name).write_bytes(raw)
    stems = [*"abcdefg", "h,with,commas,too"]
    assert labels(gputime, *(run_of(tmp_path / name, "sglang", "ds") for name in names)) == \
        [f"ds_sglang_{stem}_{i}" for i, stem in enumerate(stems)]


def test_a_trace_alone_and_a_file_named_like_a_run(gputime, tmp_path):
    odd = tmp_path / "a,b,c,d"
    odd.write_bytes(OVERLAP.read_bytes())
    assert labels(gputime, odd, run_of(odd), OVERLAP) == ["a,b,c,d", "llama_vllm_a,b,c,d_1", "overlap.json"]
    categories = {row["category"] for row in tables(gputime, OVERLAP)["graph"]}
    assert "comm" in categories and "nccl_and_custom_ar" not in categories
    assert "nccl_and_custom_ar" in {row["category"] for row in tables(gputime, run_of(OVERLAP))["graph"]}


def test_a_map_is_for_traces_whose_run_names_no_model(gputime, tmp_path):
    path = tmp_path / "map.json"
    path.write_text('{"gemm": "own"}')
    assert "own" in {row["category"] for row in tables(gputime, OVERLAP, "--map", path)["graph"]}
    done = gputime("graph", run_of(OVERLAP), "--map", path)
    assert done.returncode == 2 and b"omit --map, or give only the trace" in done.stderr and done.stderr.count(b"\n") == 1
    (tmp_path / "gputime").mkdir()
    (tmp_path / "gputime/config").write_text(f"map = {path}\n")
    set_map = {"env": {"XDG_CONFIG_HOME": str(tmp_path)}}
    assert "own" in {row["category"] for row in tables(gputime, OVERLAP, **set_map)["graph"]}
    assert "own" not in {row["category"] for row in tables(gputime, run_of(OVERLAP), **set_map)["graph"]}


def test_spellings(gputime):
    expected = gputime.json("graph", run_of(OVERLAP), run_of(DEVICES))
    for option in ("--in_file", "--in-file", "--infile"):
        assert gputime.json("graph", option, run_of(OVERLAP), run_of(DEVICES)) == expected
        assert gputime.json("graph", f"{option}={run_of(OVERLAP)}", option, run_of(DEVICES)) == expected


def test_parts_of_one_capture_are_one_run_and_tuples_are_not(gputime, tmp_path):
    rows = DATA / "nsys-csv/mini_cuda_gpu_trace.csv"
    sums = DATA / "nsys-csv/mini_cuda_gpu_kern_sum.csv"
    assert len(labels(gputime, rows, sums)) == 1
    assert len(labels(gputime, run_of(rows), run_of(rows))) == 2


@pytest.mark.parametrize("word, parts", [
    ("{},vllm", ["invalid run", "use FILE,ENGINE,MODEL,SECONDS"]),
    ("{},vllm,llama", ["use FILE,ENGINE,MODEL,SECONDS"]),
    ("{},,llama,0", ["engine or model is empty"]),
    ("{},vllm,,0", ["engine or model is empty"]),
    (",vllm,llama,0", ["file, engine or model is empty"]),
    ("{},vlm,llama,0", ["no model 'llama' of engine 'vlm'", "available: vllm: llama, ds, gpt-oss; sglang: llama"]),
    ("{},vllm,lama,0", ["no model 'lama' of engine 'vllm'"]),
    ("{},vllm,llama,soon", ["invalid elapsed time 'soon'"]),
    ("{},vllm,llama,-3", ["invalid elapsed time '-3'"]),
    ("{},vllm,llama,nan", ["invalid elapsed time 'nan'"]),
    ("{}.gone,vllm,llama,0", ["cannot read", "no such file"]),
    ("/,vllm,llama,0", ["it is a directory"]),
])
def test_wrong_runs_are_one_line_before_anything_is_read(gputime, tmp_path, word, parts):
    slow = tmp_path / "pipe"
    os.mkfifo(slow)  # reading it would never end
    done = gputime("graph", run_of(slow), word.format(OVERLAP), "--out-dir", tmp_path / "out", timeout=20)
    message = done.stderr.decode()
    assert done.returncode in (1, 2) and done.stdout == b"" and message.count("\n") == 1, message
    assert all(part in message for part in parts), message
    assert not (tmp_path / "out").exists()


def test_user_rules_for_runs(gputime, tmp_path):
    (tmp_path / "DEF.json").write_text('{"DEF": {"ABC": {"gemm": "gemm", "flash": "attn", "CUDA mem": "moves"}}}')
    rows = tables(gputime, run_of(OVERLAP, "DEF", "ABC"), "--rules", tmp_path)
    assert {row["category"] for row in rows["graph"]} == {"gemm", "moves", "misc", NON_GPU}
    rows = tables(gputime, run_of(OVERLAP, "DEF", "ABC"), run_of(OVERLAP), env={"GPUTIME_RULES": str(tmp_path)})
    assert {row["category"] for row in rows["graph"] if row["input"].startswith("ABC")} == {"gemm", "moves", "misc", NON_GPU}
    done = gputime("graph", run_of(OVERLAP, "DEF", "XYZ"), "--rules", tmp_path)
    assert done.returncode == 2 and b"sglang: llama, ds, gpt-oss; DEF: ABC" in done.stderr


def test_sums_alone_give_no_elapsed_time(gputime):
    report = gputime.json("graph", run_of(DATA / "nsys-csv/mini_cuda_gpu_kern_sum.csv", seconds="3"))
    rows = {key: table["rows"] for key, table in report["tables"].items()}
    assert rows["graph"] and all(row["elapsed_ns"] is None and row["total_ns"] > 0 for row in rows["graph"])
    assert any("use the cuda_gpu_trace table" in note for note in report["inputs"][0]["notes"])


def test_no_gpu_work_is_all_non_gpu_time(gputime):
    rows = tables(gputime, run_of(DATA / "cpu-only.json", seconds="2"))
    assert [(row["category"], row["elapsed_ns"]) for row in rows["graph"]] == [(NON_GPU, 2_000_000_000)]
    assert [row["elapsed_ns"] for row in tables(gputime, DATA / "cpu-only.json")["graph"]] == [0]
