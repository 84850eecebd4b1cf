"""The oracle of the critical path (path_oracle) against what another program computed for captures, against the laws of
every path, and against programs whose changed time is known."""

import collections
import json
import statistics

import pytest
from gpu_program import MILLION, Change
from gpu_program_traces import kineto
from gpu_programs import KINDS, SEEDS, changes, program
from path_oracle.answers import Answers
from path_oracle.graph import lower_median
from path_oracle.trace import Trace, load
from samples import DATA, sample_name

ONE_OF_EACH = SEEDS[:len(KINDS)]
GOLDEN = {"llama_train_compiled": "data/h200/torch/llama_train_compiled.json.gz",
          "ddp_rank0": "data/h200/ranks/ddp_rank0.json.gz"}
PATH_KINDS = ("kernel", "comm", "copy", "queue", "launch", "cpu", "call", "sync", "unknown")


# ---- captures ----


@pytest.fixture(scope="module", params=GOLDEN)
def capture(request, shared):
    """(what the oracle says of a capture, what another program computed)."""
    expected = json.loads(shared(f"golden/critical/{request.param}.json").read_text())
    return Answers(load(shared(GOLDEN[request.param]))), expected


def change_of(text):
    """'class:compute=0.5', 'cpu=2', 'no:launch', 'overlap:comm', or several with commas between."""
    settings = {}
    for part in text.split(","):
        what, value = part.replace("cpu=", "cpu:").split(":")
        if what == "class":
            name, factor = value.split("=")
            settings["classes"] = ((name, round(float(factor) * MILLION)),)
        elif what == "cpu":
            settings["cpu"] = float(value)
        elif what == "no":
            settings["no"] = frozenset({value})
        else:
            settings["overlap_comm"] = True
    return Change(**settings)


def test_graph_of_a_capture(capture):
    answers, expected = capture
    graph = answers.graph
    assert (len(graph.nodes), len(graph.edges)) == (expected["nodes"], expected["edges"])
    assert expected["edge_kinds"] == collections.Counter(
        edge.kind if edge.is_exact else f"{edge.kind} inferred" for edge in graph.edges)
    assert expected["typical_limit_ns"] == {
        f"{kind}/{name}": [answers.typical[kind, name], limit] for (kind, name), limit in answers.limit.items() if name}


def test_what_if_of_a_capture(capture):
    answers, expected = capture
    for text, lengths in expected["whatif_ns"].items():
        assert answers.whatif(change_of(text)) == lengths, text
        assert answers.whatif(change_of(text), only_sure=True) == expected["whatif_low_ns"][text], text


def test_path_of_a_capture(capture):
    answers, expected = capture
    windows = [dict(zip(expected["window_columns"], row)) for row in expected["windows"]]
    windows = [window for window in windows if window["name"] != "run"]
    assert answers.replay(Change()) == [window["replay_ns"] for window in windows]
    assert answers.kinds() == [{kind: window[kind] for kind in PATH_KINDS if window[kind]} for window in windows]


def test_slack_of_a_capture(capture):
    answers, expected = capture
    found = collections.defaultdict(list)
    for op, slack in answers.slack().items():
        found[op.name].append((op.length, slack))
    for name, *row in expected["slack"]:
        slacks = [slack for _, slack in found[name]]
        assert row == [len(slacks), sum(length for length, _ in found[name]), slacks.count(0), min(slacks),
                       lower_median(slacks), max(slacks)]


@pytest.mark.parametrize("path", sorted((DATA / "torch").glob("*.json.gz")), ids=sample_name)
def test_laws_of_captures(path):
    answers = Answers(load(path))
    assert answers.simulate(Change()) == answers.recorded()
    assert [sum(kinds.values()) for kinds in answers.kinds()] == answers.lengths(answers.recorded())
    assert min(answers.slack().values()) == 0


# ---- programs ----


@pytest.mark.parametrize("syncs", ["records", "streams", "none"])
@pytest.mark.parametrize("seed", ONE_OF_EACH)
def test_laws(seed, syncs):
    """Without a change every node keeps its times; the path sums to each window; no slack is negative."""
    timeline = program(seed).run()
    answers = Answers(Trace(kineto(timeline, syncs)))
    assert answers.simulate(Change()) == answers.recorded()
    assert answers.lengths(answers.recorded()) == timeline.step_lengths()
    assert [sum(kinds.values()) for kinds in answers.kinds()] == timeline.step_lengths()
    assert min(answers.slack().values()) == 0


@pytest.mark.parametrize("seed", ONE_OF_EACH)
def test_predictions(seed):
    made = program(seed)
    timeline = made.run()
    answers = Answers(Trace(kineto(timeline)))
    errors = []
    for _, change in changes(timeline, seed):
        truth = made.run(change).run_length(timeline)
        errors.append(abs(sum(answers.whatif(change)) - truth) / truth)
    assert statistics.median(errors) < 0.01
    assert max(errors) < 0.1


def test_slack_is_what_an_op_can_be_delayed():
    """An op that ends later by its slack moves no step's end; by one ns more, it does."""
    timeline = program(2).run()
    answers = Answers(Trace(kineto(timeline)))
    before = answers.lengths(answers.recorded())

    class Longer(Change):
        def op_length(self, op):
            return op.length + (delay if op is chosen else 0)

    for chosen, slack in list(answers.slack().items())[::9]:
        delay = slack
        assert answers.whatif(Longer()) == before
        delay = slack + 1
        assert answers.whatif(Longer()) != before
