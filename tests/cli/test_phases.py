"""Phases: every cell against a plain oracle on random traces, maps as users write them, and names of real programs."""

import collections
import json

import pytest

from range_model import kineto_model, nsight_model, write_kineto, write_nsight
from range_oracle import SELECTIONS, Oracle, check_table, union
from samples import DATA, own_capture

INFER = DATA / "nsys-more" / "infer_part.sqlite.gz"
MAP = {"layers": ["LAYER", "re:^x+$"], "passes": "re:^(step|forward)$", "never": ["forward", "nothing has this name"]}


def phase_by_map(name):
    lower = name.lower()
    if "layer" in lower or (name and set(name) == {"x"}):
        return "layers"
    return "passes" if name in ("step", "forward") else "unmapped"


def phase_rows(oracle, phase_of, source):
    """phase_of: by number of a range. Ops count for the phase of their innermost range alone."""
    own = [(op, phase_of[holders[-1]], holders[-1]) for op, holders in zip(oracle.ops, oracle.holders) if holders]
    used = {number for _, _, number in own}
    counted = [number for number, one in enumerate(oracle.ranges) if number in used
               or (oracle.is_whole and one.kind in ("PushPop", "StartEnd"))]
    cpu = collections.Counter()
    for number in counted:
        one = oracle.ranges[number]
        inside = [oracle.ranges[child] for child, parent in enumerate(oracle.parents) if parent == number]
        if one.kind != "GPU":
            cpu[phase_of[number]] += one.end - one.start - union([(child.start, child.end) for child in inside])
    covered = sum(op.end - op.start for op, _, _ in own)
    rows = []
    for phase in {phase_of[number] for number in counted}:
        ops = [op for op, of, _ in own if of == phase]
        exclusive = sum(op.end - op.start for op in ops)
        rows.append({
            "phase": phase, "instances": sum(phase_of[number] == phase for number in counted), "ops": len(ops),
            "exclusive_ns": exclusive,
            "busy_ns": sum(union([(op.start, op.end) for op in ops if op.device == device]) for device in (0, 1)),
            "share": exclusive / covered if covered else 0, "cpu_ns": cpu[phase],
            "cpu_share": cpu[phase] / cpu.total() if cpu.total() else 0, "source": source,
        })
    return sorted(rows, key=lambda row: (row["phase"] == "unmapped", -row["exclusive_ns"], row["phase"]))


def guessed(oracle):
    """Of these names only 'forward' means something; names without meaning belong to the range around them."""

    def phase(number):
        if oracle.ranges[number].name == "forward":
            return "forward"
        parent = oracle.parents[number]
        return "unmapped" if parent is None else phase(parent)

    return [phase(number) for number in range(len(oracle.ranges))]


@pytest.mark.parametrize("writer", [write_kineto, write_nsight], ids=["kineto", "nsight"])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_random_traces(gputime, tmp_path, writer, selection):
    args, selected = SELECTIONS[selection]
    phase_map = tmp_path / "phases.json"
    phase_map.write_text(json.dumps(MAP))
    for seed in range(12):
        model = kineto_model(seed) if writer is write_kineto else nsight_model(seed)
        path = tmp_path / f"{seed}.{'json' if writer is write_kineto else 'sqlite'}"
        writer(model, path)
        oracle = Oracle(model, selected)
        if not oracle.ops:
            continue
        by_map = [phase_by_map(one.name) for one in oracle.ranges]
        report = gputime.json("ranges", path, *args, "--phase-map", phase_map)
        check_table(report, "phases", phase_rows(oracle, by_map, "map"))
        report = gputime.json("ranges", path, *args)
        check_table(report, "phases", phase_rows(oracle, guessed(oracle), "guessed"))


def phases_of(gputime, path, *args):
    return {row["phase"]: row for row in gputime.json("ranges", path, *args)["tables"]["phases"]["rows"]}


def trace_of(tmp_path, *names):
    """Ranges one after the other, each with one kernel of 10 us."""
    events = []
    for number, name in enumerate(names):
        start = 100 * number
        events += [
            {"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": 90},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": start + 1, "dur": 5,
             "args": {"correlation": number + 1}},
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": start + 10, "dur": 10,
             "args": {"device": 0, "stream": 7, "correlation": number + 1}},
        ]
    path = tmp_path / "names.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


@pytest.mark.parametrize("name, phase", [
    ("prefill", "prefill"), ("Prefill bs=4", "prefill"), ("decode", "decode"), ("decode_graph", "decode"),
    ("LlamaDecoderLayer", "unmapped"), ("execute_context_1(888_788544)_generation_0(0)", "prefill"),
    ("execute_context_0(0)_generation_8(8)", "decode"), ("execute_32_context_0(sq0)_generation_32(sq32)", "decode"),
    ("gpu_model_runner: forward", "forward"), ("gpu_model_runner: sample", "sampling"),
    ("step[EXTEND bs=1 toks=107]", "prefill"), ("step[DECODE bs=4]", "decode"),
    ("[Executor] _forward_step 7: 1 ctx reqs, 0 gen reqs", "prefill"),
    ("[Executor] _forward_step 7: 0 ctx reqs, 4 gen reqs", "decode"), ("[Executor] _sample_async", "sampling"),
    ("Optimizer.step#AdamW.step", "optimizer"), ("DistributedDataParallel.forward", "forward"), ("backward", "backward"),
    ("nccl:all_reduce", "communication"), ("ncclAllReduce", "communication"),
    ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "data loading"),
    ("Thunk:#name=jit(train_step)/transpose(jvp())/dot_general#", "backward"),
    ("Thunk:#name=jit(train_step)/jvp()/dot_general#", "forward"), ("sampling", "sampling"), ("other", "unmapped"),
])
def test_common_names(gputime, tmp_path, name, phase):
    assert list(phases_of(gputime, trace_of(tmp_path, name))) == [phase]


def test_the_first_phase_of_the_map_wins(gputime, tmp_path):
    trace, phase_map = trace_of(tmp_path, "decode", "prefill decode", "other"), tmp_path / "map.json"
    phase_map.write_text('{"a": "PREFILL", "b": ["decode", "prefill"], /* none */ "c": []}')
    rows = phases_of(gputime, trace, "--phases-json", phase_map)
    assert {phase: row["ops"] for phase, row in rows.items()} == {"a": 1, "b": 1, "unmapped": 1}
    assert list(rows)[-1] == "unmapped" and all(row["source"] == "map" for row in rows.values())


def test_patterns_respect_case_and_substrings_do_not(gputime, tmp_path):
    trace, phase_map = trace_of(tmp_path, "Decode"), tmp_path / "map.json"
    phase_map.write_text('{"a": "re:decode"}')
    assert list(phases_of(gputime, trace, "--phase-map", phase_map)) == ["unmapped"]
    phase_map.write_text('{"a": "decODE"}')
    assert list(phases_of(gputime, trace, "--phase-map", phase_map)) == ["a"]


@pytest.mark.parametrize("content, error", [
    ("[1]", "object"), ('{"a": 3}', "phase 'a'"), ('{"a": ["x", {}]}', "not an object"), ('{"a": "re:("}', "phase 'a'"),
    ('{"a": ""}', "non-empty"), ("{", "line 1"),
])
def test_errors_in_a_map_name_their_place(gputime, tmp_path, content, error):
    trace, phase_map = trace_of(tmp_path, "decode"), tmp_path / "map.json"
    phase_map.write_text(content)
    done = gputime("ranges", trace, "--phase-map", phase_map)
    assert done.returncode in (1, 2) and not done.stdout
    assert b"map.json" in done.stderr and error.encode() in done.stderr and done.stderr.count(b"\n") == 1, done.stderr


def test_a_guess_is_marked_as_one(gputime, tmp_path):
    trace = trace_of(tmp_path, "decode", "prefill")
    assert b"Phases (guessed from range names)" in gputime("ranges", trace).stdout
    assert b"guessed" not in gputime("ranges", trace_of(tmp_path, "nothing", "else")).stdout


def check_phases_of_an_inference(gputime, path, counts, others):
    report = gputime.json("ranges", path)
    phases = {row["phase"]: row for row in report["tables"]["phases"]["rows"]}
    ranges = {row["name"]: row for row in report["tables"]["ranges"]["rows"]}
    assert set(phases) == {"prefill", "decode", "sampling", *others}
    for name in ("prefill", "decode", "sampling"):
        assert phases[name]["exclusive_ns"] == ranges[name]["exclusive_ns"]
        assert phases[name]["ops"] == ranges[name]["ops"] and phases[name]["instances"] == ranges[name]["instances"]
    assert [phases[name]["instances"] for name in ("prefill", "decode", "sampling")] == counts


def test_phases_of_an_inference_are_found_without_a_map(gputime, unpacked):
    check_phases_of_an_inference(gputime, unpacked(INFER), [1, 2, 2], [])


def test_phases_of_a_whole_inference(gputime, shared):
    check_phases_of_an_inference(gputime, shared("data/h200/nsys/infer/infer.nsys-rep"), [3, 72, 72], ["unmapped"])


def test_a_phase_that_most_of_the_time_belongs_to_is_noted_below_the_phases(gputime, unpacked, tmp_path):
    train = unpacked(own_capture("train").export)
    names = tmp_path / "map.json"
    names.write_text(json.dumps({"all": ["re:."]}))
    for options in ((), ("--phase-map", names)):
        phases = [row for row in gputime.json("ranges", train, *options)["tables"]["phases"]["rows"] if row["phase"] != "unmapped"]
        text = " ".join(gputime("ranges", train, *options).stdout.decode().split())
        for words, column in (("op", "share"), ("CPU", "cpu_share")):
            top = max(phases, key=lambda row: row[column])
            note = f"Phase '{top['phase']}' takes {100 * top[column]:.1f}% of {words} time in ranges."
            assert (note in text) == (top[column] >= 0.7), note
    assert "Phase 'all' takes 100.0% of op time in ranges." in text
    assert "Phase 'all'" not in gputime("summary", train, "--phase-map", names).stdout.decode(), "it does not show the phases"


def test_op_time_outside_ranges_is_reported_below_the_phases(gputime, unpacked, tmp_path):
    train = unpacked(own_capture("train").export)
    text = gputime("ranges", train).stdout.decode()
    assert "57.3% of op time was launched outside ranges and is in no phase" in " ".join(text.split())
    assert "outside ranges" not in gputime("ranges", unpacked(INFER)).stdout.decode()
    names = tmp_path / "map.json"
    names.write_text(json.dumps({"x": ["nothing has this name"]}))
    assert "No range matches the phase map." in gputime("ranges", train, "--phase-map", names).stdout.decode()


def test_steps_of_several_processes_are_distinguished(gputime, shared):
    two = shared("data/h200/nsys/two/two.sqlite")
    text = gputime("steps", two).stdout.decode()
    assert "Process" in text and "1172" in text
    assert "Process" not in gputime("steps", shared("data/h200/nsys/infer/infer.sqlite")).stdout.decode()
    assert "Step 0 of process 1172, 0 of process 1173: up to" in " ".join(gputime("findings", two).stdout.decode().split())
