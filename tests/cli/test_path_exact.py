"""`gputime path` and `gputime whatif` against the oracle, to the ns."""

import collections
import json

import pytest
from gpu_program import Change
from gpu_program_traces import kineto, write_nsys
from gpu_programs import KINDS, SEEDS, changes, program
from path_oracle.answers import Answers
from path_oracle.graph import lower_median
from path_oracle.trace import Trace

# Threads of a pool take turns; which of two silences a work answers is then a matter of taste.
ASKED = [seed for seed in SEEDS[:2 * len(KINDS)] if KINDS[seed % len(KINDS)].__name__ != "hand_overs"]
SYNCS = ("records", "streams", "none")
BY_SEED = pytest.mark.parametrize("seed", ASKED)
BY_SYNCS = pytest.mark.parametrize("syncs", SYNCS)


@pytest.fixture
def asked(gputime, tmp_path):
    """(timeline, oracle, function that runs a command on the trace and gives its report) of a program."""
    def of(seed, syncs):
        timeline = program(seed).run()
        document = kineto(timeline, syncs)
        path = tmp_path / "a.json"
        path.write_text(json.dumps(document))

        def ask(command, *options):
            return gputime.json(command, path, *options, "--no-cache", "--top", "0")

        return timeline, Answers(Trace(document)), ask

    return of


def windows_of(lengths):
    """Lengths of steps and of the run, by name."""
    return {f"step {number}": length for number, length in enumerate(lengths, 1)} | {"run": sum(lengths)}


def column(report, table, key):
    return {row["window"]: row[key] for row in report["tables"][table]["rows"]}


@BY_SYNCS
@BY_SEED
def test_graph(asked, seed, syncs):
    _, answers, ask = asked(seed, syncs)
    facts, graph = ask("path")["inputs"][0]["facts"], answers.graph
    assert facts["path_nodes"] == len(graph.nodes)
    assert facts["path_edges"] == len(graph.edges)
    assert facts["edges_inferred"] == sum(not edge.is_exact for edge in graph.edges)
    assert facts["edges_contradicting"] == graph.contradicting
    if graph.queue_depth:
        assert facts["queue_depth"] == graph.queue_depth


@BY_SYNCS
@BY_SEED
def test_path(asked, seed, syncs):
    _, answers, ask = asked(seed, syncs)
    found = collections.defaultdict(dict)
    for row in ask("path")["tables"]["path_kinds"]["rows"]:
        if row["total_ns"]:
            found[row["window"]][row["kind"]] = row["total_ns"]
    steps = answers.kinds()
    assert [found[f"step {number}"] for number in range(1, len(steps) + 1)] == steps
    assert found["run"] == dict(sum(map(collections.Counter, steps), collections.Counter()))


@BY_SYNCS
@BY_SEED
def test_replay(asked, seed, syncs):
    timeline, answers, ask = asked(seed, syncs)
    report = ask("path")
    assert column(report, "replay", "wall_ns") == windows_of(timeline.step_lengths())
    assert column(report, "replay", "replay_ns") == windows_of(answers.replay(Change()))


@BY_SYNCS
@BY_SEED
def test_slack(asked, seed, syncs):
    _, answers, ask = asked(seed, syncs)
    expected = collections.defaultdict(list)
    for op, slack in answers.slack().items():
        expected[op.name].append((op.length, slack))
    rows = {row["name"]: row for row in ask("path")["tables"]["slack"]["rows"]}
    for name, row in rows.items():
        slacks = [slack for _, slack in expected[name]]
        assert row["count"] == len(slacks) and row["total_ns"] == sum(length for length, _ in expected[name])
        assert (row["critical"], row["min_ns"], row["median_ns"], row["max_ns"]) == (
            slacks.count(0), min(slacks), lower_median(slacks), max(slacks)), name
    assert rows.keys() == expected.keys()


@BY_SYNCS
@BY_SEED
def test_what_if(asked, seed, syncs):
    timeline, answers, ask = asked(seed, syncs)
    for options, change in changes(timeline, seed):
        report = ask("whatif", *options, "--force")
        assert column(report, "whatif", "base_ns") == windows_of(timeline.step_lengths())
        assert column(report, "whatif", "predicted_ns") == windows_of(answers.whatif(change)), options
        assert column(report, "whatif", "low_ns") == windows_of(answers.whatif(change, only_sure=True)), options


@BY_SEED
def test_formats_agree(gputime, asked, tmp_path, seed):
    """Nsight Systems and the PyTorch profiler record the same program: the answers are the same."""
    timeline, _, ask = asked(seed, "records")
    path = write_nsys(tmp_path / "a.sqlite", timeline)
    # The PyTorch profiler records no graph as one op: there it is a kernel, which has other latencies.
    has_whole_graph = any(one.op.kind == "graph" for one in timeline.ops)
    keys = ("base_ns",) if has_whole_graph else ("base_ns", "predicted_ns", "low_ns")
    for options, _ in changes(timeline, seed):
        theirs = gputime.json("whatif", path, *options, "--force", "--no-cache", "--top", "0")
        ours = ask("whatif", *options, "--force")
        for key in keys:
            assert column(theirs, "whatif", key) == column(ours, "whatif", key), options
