"""`gputime path` and `gputime whatif` against the oracle, to the ns: programs by seed and the captures of tests/data."""

import collections
import json
import os

import pytest
from gpu_program import MILLION, Change
from gpu_program_traces import kineto, write_nsys
from gpu_programs import KINDS, SEEDS, changes, mixture, program
from path_oracle.answers import Answers
from path_oracle.graph import lower_median
from path_oracle.trace import STEP, load
from samples import DATA

IS_FULL = bool(os.environ.get("GPUTIME_ALL_PROGRAMS"))
ASKED = SEEDS if IS_FULL else SEEDS[:len(KINDS)]  # one of each kind
FORMS = ("records", "streams", "none") if IS_FULL else ("records", "none")
PROGRAMS = [(seed, syncs) for seed in ASKED for syncs in FORMS]
MIXTURES = [(seed, syncs, "mixture") for seed in range(100 if IS_FULL else 4) for syncs in ("records", "none")]
CAPTURES = sorted((DATA / "torch").glob("*.json.gz"))
USUAL_CHANGES = [
    (("--class", "compute=0.5"), Change(classes=(("compute", MILLION // 2),))),
    (("--class", "comm=0"), Change(classes=(("comm", 0),))),
    (("--overlap", "comm"), Change(overlap_comm=True)),
    (("--cpu", "2"), Change(cpu=2)),
    (("--no", "launch"), Change(no=frozenset({"launch"}))),
    (("--no", "think"), Change(no=frozenset({"think"}))),
    (("--no", "sync"), Change(no=frozenset({"sync"}))),
]


class Asked:
    """A trace, what the oracle says of it, and what the program does."""

    def __init__(self, gputime, path, changes_):
        self.gputime, self.path, self.changes = gputime, path, changes_
        self.answers = Answers(load(path))

    def __call__(self, command, *options):
        return self.gputime.json(command, self.path, *options, "--no-cache", "--top", "0")

    def windows(self, values):
        """Lengths of windows by their names; steps together are the run."""
        steps = self.answers.trace.steps
        if not steps:
            return {"trace": values[0]}
        return {f"step {STEP.match(step.name)[1]}": value for step, value in zip(steps, values)} | {"run": sum(values)}


def trace_name(what):
    return what.name.removesuffix(".json.gz") if hasattr(what, "name") else "-".join(map(str, what))


def one_worker(what):
    """The oracle takes its time: it explains each trace once."""
    return pytest.param(what, id=trace_name(what), marks=pytest.mark.xdist_group(trace_name(what)))


@pytest.fixture(scope="module", params=map(one_worker, [*PROGRAMS, *MIXTURES, *CAPTURES]))
def asked(request, gputime, tmp_path_factory):
    if request.param in CAPTURES:
        return Asked(gputime, request.param, USUAL_CHANGES)
    seed, syncs, *mixed = request.param
    timeline = (mixture if mixed else program)(seed).run()
    path = tmp_path_factory.mktemp("program") / "a.json"
    path.write_text(json.dumps(kineto(timeline, syncs)))
    return Asked(gputime, path, changes(timeline, seed))


def column(report, table, key):
    return {row["window"]: row[key] for row in report["tables"][table]["rows"]}


def test_graph(asked):
    facts, graph = asked("path")["inputs"][0]["facts"], asked.answers.graph
    assert facts["path_nodes"] == len(graph.nodes)
    assert facts["path_edges"] == len(graph.edges)
    assert facts["edges_inferred"] == sum(not edge.is_exact for edge in graph.edges)
    assert facts["edges_contradicting"] == graph.contradicting
    if graph.queue_depth:
        assert facts["queue_depth"] == graph.queue_depth


def test_path(asked):
    found = collections.defaultdict(dict)
    for row in asked("path")["tables"]["path_kinds"]["rows"]:
        if row["total_ns"]:
            found[row["window"]][row["kind"]] = row["total_ns"]
    windows = asked.answers.kinds()
    for kind in {kind for window in windows for kind in window}:
        expected = asked.windows([window.get(kind, 0) for window in windows])
        assert {name: kinds.get(kind, 0) for name, kinds in found.items()} == expected, kind


def test_replay(asked):
    report, answers = asked("path"), asked.answers
    assert column(report, "replay", "wall_ns") == asked.windows(answers.lengths(answers.recorded()))
    assert column(report, "replay", "replay_ns") == asked.windows(answers.replay(Change()))


def test_slack(asked):
    lengths, slacks = collections.defaultdict(list), collections.defaultdict(list)
    for op in asked.answers.trace.ops:
        lengths[op.name].append(op.length)
    for op, slack in asked.answers.slack().items():
        slacks[op.name].append(slack)
    rows = {row["name"]: row for row in asked("path")["tables"]["slack"]["rows"]}
    assert rows.keys() == lengths.keys()
    for name, row in rows.items():
        assert row["count"] == len(lengths[name]) and row["total_ns"] == sum(lengths[name])
        known = slacks[name]
        expected = (min(known), lower_median(known), max(known)) if known else (None, None, None)
        assert (row["critical"], row["min_ns"], row["median_ns"], row["max_ns"]) == (known.count(0), *expected), name


def test_what_if(asked):
    answers = asked.answers
    for options, change in asked.changes:
        report = asked("whatif", *options, "--force")
        assert column(report, "whatif", "base_ns") == asked.windows(answers.lengths(answers.recorded()))
        assert column(report, "whatif", "predicted_ns") == asked.windows(answers.whatif(change)), options
        assert column(report, "whatif", "low_ns") == asked.windows(answers.whatif(change, only_sure=True)), options


@pytest.mark.parametrize("seed", ASKED)
def test_formats_agree(gputime, tmp_path, seed):
    """Nsight Systems and the PyTorch profiler record the same program: the answers are the same."""
    timeline = program(seed).run()
    written = tmp_path / "a.json", write_nsys(tmp_path / "a.sqlite", timeline)
    written[0].write_text(json.dumps(kineto(timeline)))
    # The PyTorch profiler records no graph as one op: there it is a kernel, which has other latencies.
    has_whole_graph = any(one.op.kind == "graph" for one in timeline.ops)
    keys = ("base_ns",) if has_whole_graph else ("base_ns", "predicted_ns", "low_ns")
    for options, _ in changes(timeline, seed):
        one, two = (gputime.json("whatif", path, *options, "--force", "--no-cache", "--top", "0") for path in written)
        for key in keys:
            assert column(one, "whatif", key) == column(two, "whatif", key), options
