"""The critical path, its replay and what-if: expected values of real captures, the two laws on every sample and on random
traces, hostile traces, and the exit status of a refusal."""

import json
import random

import pytest
import tracegen
from samples import DATA, with_shared

GOLDEN = "golden/critical/"
CAPTURES = {
    "llama_train_compiled": "data/h200/torch/llama_train_compiled.json.gz",
    "llama_infer": "data/h200/torch/llama_infer.json.gz",
    "ddp_rank0": "data/h200/ranks/ddp_rank0.json.gz",
    "train_nsys": "data/h200/nsys/train/train.sqlite",
}
# Every trace there is, in every format.
SAMPLES = with_shared(
    sorted([*DATA.glob("*.json"), *DATA.glob("torch/*.json.gz"), *DATA.glob("nsys*/*.sqlite.gz"),
            *DATA.glob("nsys*/*.nsys-rep"), *DATA.glob("nsys-csv/*.csv"), *DATA.glob("nsys/*_cuda_gpu_trace.csv.gz")]),
    "data/h200/*/*.json.gz", "data/h200/*/*.nsys-rep", "data/h200/*/*/*.sqlite", "data/h200/*/*/*.nsys-rep",
    "data/public/kineto/*/*.json.gz", "data/public/nsys/*/*.sqlite")
CHANGES = ("class:compute=0.5", "class:comm=0", "overlap:comm", "cpu=2", "no:launch", "no:think", "no:sync",
           "cpu=2,no:launch", "class:compute=0.9")


def options_of(changes):
    """The options for "cpu=2,no:launch"."""
    options = []
    for change in changes.split(","):
        name, value = change.split("=", 1) if change.startswith("cpu") else change.split(":", 1)
        options += [f"--{name}", value]
    return options


def rows(report, table):
    return report["tables"][table]["rows"]


@pytest.fixture(scope="module", params=CAPTURES)
def capture(request, shared, gputime):
    path = shared(CAPTURES[request.param])
    golden = json.loads(shared(f"{GOLDEN}{request.param}.json").read_text(encoding="utf-8"))
    return golden, path, gputime.json("path", path)


# ---- expected values ----


def test_the_graph_has_the_expected_nodes_and_edges(capture):
    golden, _, report = capture
    kinds = {}
    for row in rows(report, "edge_kinds"):
        kinds |= {row["kind"]: row["recorded"]} if row["recorded"] else {}
        kinds |= {f"{row['kind']} inferred": row["inferred"]} if row["inferred"] else {}
    assert (report["facts"]["path_nodes"], report["facts"]["path_edges"]) == (golden["nodes"], golden["edges"])
    assert kinds == golden["edge_kinds"]
    delays = {f"{row['kind']}/{row['to']}": [row["typical_ns"], row["limit_ns"]] for row in rows(report, "edge_delays")}
    assert delays == golden["typical_limit_ns"]


def window_rows(report, columns):
    """As the expected values have them, but for the name."""
    kinds = list(rows(report, "path_kinds"))
    found = []
    for row in rows(report, "replay"):
        taken = {}
        while kinds and kinds[0]["window"] == row["window"] and kinds[0]["kind"] not in taken:
            kind = kinds.pop(0)
            taken[kind["kind"]] = kind["total_ns"]
        values = row | {kind: taken.get(kind, 0) for kind in columns[7:]}
        found.append([values[column] for column in columns[1:]])
    return found


def test_windows_are_as_expected(capture):
    golden, _, report = capture
    assert window_rows(report, golden["window_columns"]) == [window[1:] for window in golden["windows"]]


def test_ranges_are_windows_of_their_own(gputime, shared):
    golden = json.loads(shared(f"{GOLDEN}llama_infer.json").read_text(encoding="utf-8"))
    report = gputime.json("path", "--range", golden["range"], shared(CAPTURES["llama_infer"]))
    columns = golden["window_columns"][:7]
    found = [[row["window"] if column == "name" else row[column] for column in columns] for row in rows(report, "replay")]
    assert found == [window[:7] for window in golden["range_windows"]]


def test_names_on_the_path_are_as_expected(capture):
    golden, _, report = capture
    kernels = rows(report, "path_kernels")
    assert [[row["name"], row["count"], row["path_ns"]] for row in kernels][:10] == golden["path_kernels"]
    keys = ["name", "ops", "total_ns", "path_ns", "saved_ns"]
    assert [[row[key] for key in keys] for row in kernels][:len(golden["sensitivity"])] == golden["sensitivity"]
    host = [[row[key] for key in ("range", "operator", "call", "total_ns")] for row in rows(report, "path_host")]
    assert host[:10] == golden["path_host"]


def test_segments_are_as_expected(capture):
    golden, _, report = capture
    keys = ("start_ns", "end_ns", "kind", "name", "inferred")
    segments = [[row[key] for key in keys] for row in rows(report, "critical_path")]
    assert segments[:8] == golden["first_segments"]
    assert segments[-8:] == golden["last_segments"]


def test_slack_is_as_expected(capture):
    golden, _, report = capture
    assert [[row[key] for key in golden["slack_columns"]] for row in rows(report, "slack")][:10] == golden["slack"]


@pytest.mark.parametrize("change", CHANGES)
def test_predictions_are_as_expected(capture, gputime, change):
    golden, path, _ = capture
    report = gputime.json("whatif", *options_of(change), path)
    found = [row for row in rows(report, "whatif") if row["window"] != "run"]
    assert [row["base_ns"] for row in found] == golden["whatif_base_ns"]
    assert [row["predicted_ns"] for row in found] == golden["whatif_ns"][change]
    assert [row["low_ns"] for row in found] == golden["whatif_low_ns"][change]
    assert {row["change"] for row in found} == {change.replace(",", ", ")}


# ---- laws ----


def check_laws(gputime, path, *options):
    """Without a change the simulation gives the recorded times; segments touch and fill their windows."""
    report = gputime.json("path", *options, path)
    segments = rows(report, "critical_path")
    for window in rows(report, "replay"):
        if window["window"] == "run":
            continue
        own = [row for row in segments if row["window"] == window["window"] and row["pid"] == window["pid"]]
        if window["window"].startswith("step") and len(own) != window["segments"]:
            continue  # several steps of one number
        assert len(own) == window["segments"]
        assert sum(row["dur_ns"] for row in own) == window["wall_ns"]
        assert all(row["dur_ns"] > 0 and row["end_ns"] - row["start_ns"] == row["dur_ns"] for row in own)
        assert all(a["end_ns"] == b["start_ns"] for a, b in zip(own, own[1:]))
    total = sum(row["total_ns"] for row in rows(report, "path_kinds"))
    assert total == sum(row["wall_ns"] for row in rows(report, "replay"))
    same = gputime.json("whatif", "--cpu", "1", "--force", *options, path)
    assert all(row["predicted_ns"] == row["base_ns"] for row in rows(same, "whatif"))
    assert [row["base_ns"] for row in rows(same, "whatif")] == [row["wall_ns"] for row in rows(report, "replay")]
    return report


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name if path else None)
def test_both_laws_hold_on_every_sample(gputime, unpacked, sample):
    check_laws(gputime, unpacked(sample))


@pytest.mark.parametrize("seed", range(60))
def test_both_laws_hold_on_random_traces(gputime, tmp_path, seed):
    path = tmp_path / "random.json"
    path.write_text(tracegen.trace(seed)[0], encoding="utf-8")
    check_laws(gputime, path)


def test_a_step_is_a_part_of_the_run(gputime, shared):
    path = shared(CAPTURES["llama_train_compiled"])
    whole = [row for row in rows(gputime.json("path", path), "path_kinds") if row["window"] == "step 4"]
    report = gputime.json("path", "--step", "4", path)
    assert rows(report, "path_kinds") == whole
    assert {row["window"] for row in rows(report, "critical_path")} == {"step 4"}


def test_a_window_of_time_cuts_the_path(gputime, shared):
    path = shared(CAPTURES["ddp_rank0"])
    report = check_laws_of_window(gputime, path, "--from", "80ms", "--to", "90ms")
    assert [row["wall_ns"] for row in rows(report, "replay")] == [10_000_000]


def check_laws_of_window(gputime, path, *options):
    report = gputime.json("path", *options, path)
    assert sum(row["dur_ns"] for row in rows(report, "critical_path")) == 10_000_000
    assert sum(row["total_ns"] for row in rows(report, "path_kinds")) == 10_000_000
    return report


# ---- small programs that anybody can check ----


class Trace:
    """Calls on threads and ops on streams, in us."""

    def __init__(self):
        self.events, self.correlation = [], 0

    def add(self, category, name, tid, start, length, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": length,
                            "args": args})

    def launch(self, start, length, op_start, op_length, name="k", stream=7, tid=1, call="cudaLaunchKernel",
               category="kernel"):
        self.correlation += 1
        self.add("cuda_runtime", call, tid, start, length, correlation=self.correlation)
        self.add(category, name, stream, op_start, op_length, device=0, stream=stream, correlation=self.correlation)

    def call(self, name, start, length, tid=1):
        self.correlation += 1
        self.add("cuda_runtime", name, tid, start, length, correlation=self.correlation)

    def write(self, folder):
        path = folder / "trace.json"
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": self.events}), encoding="utf-8")
        return path


def test_a_queue_of_kernels_is_on_the_path(gputime, tmp_path):
    trace = Trace()
    for i in range(20):
        trace.launch(10 * i, 5, 10 + 100 * i, 99, name=f"k{i % 2}")
    trace.call("cudaDeviceSynchronize", 200, 1815)
    report = check_laws(gputime, trace.write(tmp_path))
    kinds = {row["kind"]: row["total_ns"] for row in rows(report, "path_kinds")}
    assert kinds == {"kernel": 1_980_000, "queue": 19_000, "launch": 10_000}
    half = gputime.json("whatif", "--scale", "k0=0.5", trace.write(tmp_path))
    assert [row["saved_ns"] for row in rows(half, "whatif")] == [495_000]


def test_a_slow_cpu_is_on_the_path(gputime, tmp_path):
    trace = Trace()
    for i in range(10):
        trace.launch(100 * i, 5, 100 * i + 7, 20)
    report = check_laws(gputime, trace.write(tmp_path))
    kinds = {row["kind"]: row["total_ns"] for row in rows(report, "path_kinds")}
    assert kinds == {"cpu": 855_000, "launch": 52_000, "kernel": 20_000}
    names = rows(report, "path_kernels")
    assert [(row["count"], row["saved_ns"]) for row in names] == [(1, 2_000)]
    (slack,) = rows(report, "slack")
    assert (slack["critical"], slack["min_ns"], slack["max_ns"]) == (1, 0, 720_000)  # nine more kernels of 20 us
    twice = gputime.json("whatif", "--cpu", "2", trace.write(tmp_path))
    assert [row["predicted_ns"] for row in rows(twice, "whatif")] == [927_000 - 427_500 - 25_000]


def test_the_first_line_says_it_in_words(gputime, tmp_path):
    trace = Trace()
    for i in range(10):
        trace.launch(100 * i, 5, 100 * i + 7, 20)
    text = " ".join(gputime("path", trace.write(tmp_path)).stdout.decode().split())
    assert "Trace 927 us: 92% waits for the CPU, 6% launching, 2% kernels; faster kernels would save almost" in text


def test_no_gpu_work_has_no_path(gputime):
    assert b"No GPU work to find a path through." in gputime("path", DATA / "empty.json").stdout


# ---- selections ----


def two_processes(folder):
    """The same program as process 1 and, twice as slow, as process 2."""
    trace = Trace()
    for i in range(10):
        trace.launch(100 * i, 5, 100 * i + 7, 20)
    events = trace.events + [event | {"pid": 2, "tid": 2, "ts": 2 * event["ts"],
                                      "args": event["args"] | {"correlation": event["args"]["correlation"] + 100}}
                             for event in trace.events]
    for event in events:
        if event["cat"] == "kernel":
            event |= {"tid": 6 + event["pid"], "args": event["args"] | {"stream": 6 + event["pid"]}, "pid": 0}
    path = folder / "two.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), encoding="utf-8")
    return path


def test_a_process_can_be_chosen(gputime, tmp_path):
    path = two_processes(tmp_path)
    assert [(row["pid"], row["wall_ns"]) for row in rows(gputime.json("path", path), "replay")] == [
        (1, 927_000), (2, 1_834_000)]
    for command in ("path", "whatif --cpu 2"):
        report = gputime.json(*command.split(), "--process", "2", path)
        assert {row["pid"] for row in rows(report, "replay")} == {2}
    assert {row["pid"] for row in rows(report, "whatif")} == {2}


def test_other_selections_do_not_change_the_path(gputime, tmp_path):
    trace = Trace()
    trace.launch(0, 5, 10, 20, stream=7)
    trace.launch(10, 5, 31, 20, stream=8)
    path = trace.write(tmp_path)
    whole, chosen = gputime.json("path", path), gputime.json("path", path, "--stream", "7")
    assert rows(whole, "critical_path") == rows(chosen, "critical_path")
    assert b"through all GPU work, not only through" in gputime("path", path, "--stream", "7").stdout


def test_times_after_a_change_cannot_be_asked_for(gputime, tmp_path):
    trace = Trace()
    trace.launch(0, 5, 10, 20)
    done = gputime("whatif", "--cpu", "2", "--from", "1us", trace.write(tmp_path))
    assert done.returncode == 2 and b"use --step or --range" in done.stderr


# ---- trust ----


def unexplained_trace():
    """Kernels that begin 3 ms after their launch for no reason that the trace has."""
    trace = Trace()
    for i in range(20):
        begin = 4000 * i + (10 if i % 2 else 3500)
        trace.launch(4000 * i, 5, begin, 20)
        trace.call("cudaDeviceSynchronize", 4000 * i + 6, begin - 4000 * i + 20)
    return trace


def test_a_refusal_is_an_error_with_the_reason(gputime, tmp_path):
    path = unexplained_trace().write(tmp_path)
    done = gputime("whatif", "--cpu", "2", "--json", path)
    assert done.returncode == 1
    assert b"no answer for" in done.stderr and b"replay error" in done.stderr and b"--force" in done.stderr
    report = json.loads(done.stdout)
    assert {row["trust"] for row in rows(report, "whatif")} == {"refused"}
    assert all(row["predicted_ns"] is None for row in rows(report, "whatif"))
    lengths = [row["dur_ns"] for row in rows(report, "path_unknown")]
    assert lengths and lengths == sorted(lengths, reverse=True)
    first = b"too much is unexplained to say what would save time"
    assert first in b" ".join(gputime("path", path).stdout.split())
    forced = gputime("whatif", "--cpu", "2", "--force", "--json", path)
    assert forced.returncode == 0
    assert all(row["predicted_ns"] is not None for row in rows(json.loads(forced.stdout), "whatif"))


@pytest.mark.parametrize("option, value, message", [
    ("--scale", "nothing*=0.5", b"no GPU op is named"),
    ("--scale", "k", b"not NAME=FACTOR"),
    ("--class", "nonsense=0.5", b"no category 'nonsense'"),
    ("--cpu", "fast", b"not a factor"),
    ("--no", "sleep", b"unknown change 'no:sleep'"),
    ("--overlap", "k", b"unknown change"),
])
def test_changes_that_make_no_sense_are_usage_errors(gputime, tmp_path, option, value, message):
    trace = Trace()
    trace.launch(0, 5, 10, 20)
    done = gputime("whatif", option, value, trace.write(tmp_path))
    assert done.returncode == 2 and message in done.stderr


def test_without_changes_there_is_a_list_of_savings(gputime, tmp_path):
    trace = Trace()
    for i in range(10):
        trace.launch(100 * i, 5, 100 * i + 7, 20)
    found = rows(gputime.json("whatif", trace.write(tmp_path)), "whatif")
    savings = [row["saved_ns"] for row in found]
    assert savings == sorted(savings, reverse=True)
    assert {"cpu=2", "no:launch", "no:think", "no:sync", "scale:k=0.9"} <= {row["change"] for row in found}


# ---- hostile traces ----


def shuffled_times(seed):
    """Every event at a random time: clocks that are wrong everywhere."""
    pick, trace = random.Random(seed), Trace()
    for _ in range(400):
        trace.launch(pick.randrange(1000), pick.randrange(30), pick.randrange(1000), pick.randrange(40),
                     stream=pick.randrange(6), tid=pick.randrange(1, 4))
    for name in ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaStreamWaitEvent",
                 "cudaEventRecord", "cudaMalloc", "cudaMemcpy"):
        for _ in range(40):
            trace.call(name, pick.randrange(1000), pick.randrange(60), tid=pick.randrange(1, 4))
    return trace


@pytest.mark.parametrize("seed", range(8))
def test_wrong_clocks_make_no_circle(gputime, tmp_path, seed):
    check_laws(gputime, shuffled_times(seed).write(tmp_path))


def test_zero_lengths_at_one_time(gputime, tmp_path):
    trace = Trace()
    for i in range(3000):
        trace.launch(5, 0, 5, 0, stream=i % 5, tid=1 + i % 3)
        trace.call("cudaDeviceSynchronize", 5, 0, tid=1 + i % 3)
    check_laws(gputime, trace.write(tmp_path))


def test_many_streams_and_synchronizations(gputime, tmp_path):
    trace = Trace()
    for i in range(20000):
        trace.launch(i, 1, i + 1, 1, stream=i)
        trace.call("cudaDeviceSynchronize", i + 0.5, 0.1, tid=2)
    done = gputime("path", "--json", trace.write(tmp_path), timeout=60)
    assert done.returncode == 0


def wait_event(trace, start, stream, other, record):
    """Stream waits for an event that was recorded on another one."""
    trace.correlation += 1
    trace.add("cuda_runtime", "cudaStreamWaitEvent", 1, start, 1, correlation=trace.correlation)
    trace.add("cuda_sync", "Stream Wait Event", stream, start, 1, correlation=trace.correlation, device=0, stream=stream,
              wait_on_stream=other, wait_on_cuda_event_record_corr_id=record, wait_on_cuda_event_id=1,
              cuda_sync_kind="Stream Wait Event")


def record_event(trace, start):
    trace.correlation += 1
    trace.add("cuda_runtime", "cudaEventRecord", 1, start, 1, correlation=trace.correlation)
    return trace.correlation


def test_an_event_joins_two_streams(gputime, tmp_path):
    trace = Trace()
    trace.launch(0, 5, 10, 100, stream=1, name="first")
    record = record_event(trace, 6)
    wait_event(trace, 8, 2, 1, record)
    trace.launch(10, 5, 111, 50, stream=2, name="second")
    report = check_laws(gputime, trace.write(tmp_path))
    kinds = {row["kind"]: row["recorded"] for row in rows(report, "edge_kinds")}
    assert kinds["event"] == 3  # op to recording, recording to wait, wait to op
    assert [row["name"] for row in rows(report, "critical_path") if row["kind"] == "kernel"] == ["first", "second"]
    faster = gputime.json("whatif", "--scale", "first=0.5", trace.write(tmp_path))
    assert [row["saved_ns"] for row in rows(faster, "whatif")] == [50_000]


def test_streams_that_wait_for_each_other(gputime, tmp_path):
    trace = Trace()
    for i in range(50):
        trace.launch(100 * i, 5, 100 * i + 10, 20, stream=1)
        trace.launch(100 * i + 10, 5, 100 * i + 20, 20, stream=2)
        first, second = trace.correlation + 1, trace.correlation + 4
        record_event(trace, 100 * i + 30)
        wait_event(trace, 100 * i + 29, 1, 2, second)
        wait_event(trace, 100 * i + 28, 2, 1, first)
        record_event(trace, 100 * i + 31)
    check_laws(gputime, trace.write(tmp_path))
