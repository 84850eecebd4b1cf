"""What-if against programs whose changed time is known: gputime sees the trace of a program and predicts a change; the
interpreter (gpu_program.py) runs the changed program.

A usual run asks about a few programs of each kind. GPUTIME_ALL_PROGRAMS=1 asks about all of them."""

import os
import statistics

import pytest
from gpu_program import Change
from gpu_programs import KINDS, SEEDS, program
from program_cases import FORMATS, ask, questions, share_within, write_json

IS_FULL = bool(os.environ.get("GPUTIME_ALL_PROGRAMS"))
ASKED = SEEDS if IS_FULL else SEEDS[::5]  # as many of each kind
FEW = SEEDS[:len(KINDS)]  # one of each kind


@pytest.fixture(scope="module")
def cases(gputime, tmp_path_factory):
    """All questions about traces of one form, asked once."""
    asked = {}

    def of(form):
        if form not in asked:
            asked[form] = ask(gputime.json, tmp_path_factory.mktemp("programs"), form, ASKED)
        return asked[form]

    return of


def worst(found, count=10):
    return "\n".join(map(repr, sorted(found, key=lambda case: -case.predicted_error)[:count]))


# Which share of the answers has to be within 1 % of the truth. Two of the eight kinds are all about events: where the trace
# does not say what waits for what, the answer for those is the interval.
NEEDED = {"records": 0.97, "nsys": 0.97, "none": 0.95}
NEEDED_INTERVALS = {"records": 0.97, "nsys": 0.97, "none": 0.96}
ONE_WORKER = pytest.mark.xdist_group("whatif_truth")  # answers are asked for once


@ONE_WORKER
@pytest.mark.parametrize("form", NEEDED)
def test_predictions_are_right(cases, form):
    found = cases(form)
    errors = [case.predicted_error for case in found]
    assert statistics.median(errors) < 0.0001, worst(found)
    assert share_within(errors) >= NEEDED[form], worst(found)


@ONE_WORKER
@pytest.mark.parametrize("form", NEEDED)
def test_truth_is_in_the_interval(cases, form):
    found = cases(form)
    assert share_within([case.interval_error for case in found]) >= NEEDED_INTERVALS[form], worst(found)


# How far a single answer may be from the truth. Edges of graphs are not in traces, so branches are found by the clock alone.
FARTHEST = {"graphs": 0.1, "double_buffered": 0.25, "streams": 0.25}
KNOWN_FARTHEST = {"graphs": 0.1}  # where the trace has all events


@ONE_WORKER
@pytest.mark.parametrize("form", NEEDED)
def test_no_prediction_is_far_off(cases, form):
    limits = FARTHEST if form == "none" else KNOWN_FARTHEST
    far = [case for case in cases(form) if case.interval_error > limits.get(case.kind, 0.05)]
    assert not far, worst(far)


@ONE_WORKER
@pytest.mark.parametrize("form", ["records", "nsys"])
def test_traces_are_trusted(cases, form):
    """The graph explains nearly every trace of a program in which everything is recorded."""
    found = cases(form)
    assert sum(case.row["trust"] == "good" for case in found) >= 0.95 * len(found), {
        (case.kind, case.seed, case.row["trust"]) for case in found if case.row["trust"] != "good"}


@ONE_WORKER
def test_better_than_taking_off_what_is_saved(cases):
    """With half the compute, most programs save less than half of their compute time: predictions have to know it."""
    found = [case for case in cases("records") if case.options == "--class compute=0.5"]
    naive = []
    for case in found:
        ops = questions(case.seed)[1].ops
        saved = sum(one.op.length for one in ops if one.op.time_class == "compute") // 2
        naive.append(case.error(max(0, case.base - saved)))
    assert statistics.median(naive) > 0.05
    assert statistics.median(case.predicted_error for case in found) < 0.001, worst(found)


@ONE_WORKER
def test_what_is_saved(cases):
    for case in cases("records"):
        row = case.row
        assert row["saved_ns"] == row["base_ns"] - row["predicted_ns"]
        assert row["saved_share"] == pytest.approx(row["saved_ns"] / row["base_ns"])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("seed", FEW)
def test_no_change_changes_nothing(gputime, tmp_path, form, seed):
    """A simulation without a change gives every window its recorded length."""
    path = FORMATS[form](tmp_path / "a.json", program(seed).run())
    for options in (("--scale", "*=1"), ("--cpu", "1"), ("--class", "compute=1")):
        rows = gputime.json("whatif", path, *options, "--force", "--no-cache", "--top", "0")["tables"]["whatif"]["rows"]
        assert rows and all(row["predicted_ns"] == row["low_ns"] == row["base_ns"] for row in rows), rows


@pytest.mark.parametrize("seed", FEW)
def test_steps_are_predicted_too(gputime, tmp_path, seed):
    """New bounds of steps, of which the lengths sum to that of the run."""
    made = program(seed)
    timeline = made.run()
    path = FORMATS["records"](tmp_path / "a.json", timeline)
    changed = made.run(Change(cpu=2)).step_lengths(timeline)
    report = gputime.json("whatif", path, "--cpu", "2", "--force", "--no-cache", "--top", "0")
    rows = {row["window"]: row for row in report["tables"]["whatif"]["rows"]}
    steps = [rows[f"step {number + 1}"] for number in range(len(changed))]
    assert [row["base_ns"] for row in steps] == timeline.step_lengths()
    assert sum(row["predicted_ns"] for row in steps) == rows["run"]["predicted_ns"]
    for row, truth in zip(steps, changed):
        assert abs(row["predicted_ns"] - truth) <= 0.02 * truth, (row, truth)


# ---- the path ----


def segments_of(report):
    """Of the run: those of all steps."""
    return sorted(report["tables"]["critical_path"]["rows"], key=lambda row: (row["start_ns"], row["end_ns"]))


def check_segments(rows, start, end):
    """Segments touch and sum to the window, to the ns."""
    assert rows and rows[0]["start_ns"] == start and rows[-1]["end_ns"] == end
    for one, two in zip(rows, rows[1:]):
        assert one["end_ns"] == two["start_ns"], (one, two)
    assert all(row["dur_ns"] == row["end_ns"] - row["start_ns"] >= 0 for row in rows)


def check_waits_are_absent(rows, timeline):
    """While the CPU waits in a call, the path is on the GPU: `sync` segments are only the way back."""
    spent = sum(row["dur_ns"] for row in rows if row["kind"] == "sync")
    waited = {one.call for one in timeline.syncs if one.kind != "stream_wait"}
    copied = {one.correlation for one in timeline.ops if one.op.kind == "memcpy"}
    waited |= {call for call in timeline.calls if call.correlation in copied or call.name == "cudaFree"}
    assert spent <= sum(min(call.end - call.start, 10_000) for call in waited)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("seed", SEEDS if IS_FULL else FEW)
def test_path_sums_to_the_window(gputime, tmp_path, form, seed):
    timeline = program(seed).run()
    path = FORMATS[form](tmp_path / "a.json", timeline)
    report = gputime.json("path", path, "--no-cache", "--top", "0")
    origin, bounds = int(report["inputs"][0]["origin_ns"]), timeline.bounds()
    rows = segments_of(report)
    check_segments(rows, bounds[0] - origin, bounds[-1] - origin)
    check_waits_are_absent(rows, timeline)
    by_kind = {}
    for row in rows:
        by_kind[row["kind"]] = by_kind.get(row["kind"], 0) + row["dur_ns"]
    kinds = {row["kind"]: row["total_ns"] for row in report["tables"]["path_kinds"]["rows"]
             if row["window"] == "run" and row["total_ns"]}
    assert kinds == {kind: total for kind, total in by_kind.items() if total}


@pytest.mark.parametrize("seed", SEEDS if IS_FULL else FEW)
def test_steps_tile_the_run(gputime, tmp_path, seed):
    """Paths of steps are the path of the run, cut at their bounds."""
    timeline = program(seed).run()
    report = gputime.json("path", write_json(tmp_path / "a.json", timeline, "records"), "--no-cache", "--top", "0")
    rows = {row["window"]: row for row in report["tables"]["replay"]["rows"]}
    steps = [f"step {number + 1}" for number in range(len(timeline.steps()))]
    assert [rows[name]["wall_ns"] for name in steps] == timeline.step_lengths()
    assert rows["run"]["wall_ns"] == timeline.run_length()
    totals = {}
    for row in report["tables"]["path_kinds"]["rows"]:
        totals.setdefault(row["window"] == "run", {}).setdefault(row["kind"], []).append(row["total_ns"])
    assert {kind: sum(parts) for kind, parts in totals[False].items() if sum(parts)} == {
        kind: sum(parts) for kind, parts in totals[True].items() if sum(parts)}


@pytest.mark.parametrize("seed", FEW)
def test_threads_change_nothing(gputime, tmp_path, seed):
    path = write_json(tmp_path / "a.json", program(seed).run(), "none")
    one, many = (gputime.json("path", path, "--no-cache", "--threads", count)["tables"] for count in ("1", "3"))
    assert one == many
