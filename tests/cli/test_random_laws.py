"""Laws between reports of random traces and of the same traces changed in a known way (docs/laws.md).

A few hundred traces here; `make laws N=100000` takes as many as there is time for.
"""

import dataclasses
import random

import pytest

pytest.importorskip("python_package")

from laws import kineto, rules, traces  # noqa: E402

TRACES = 25


def files(folder):
    for path in folder.iterdir():
        path.unlink()
    return folder


@pytest.mark.parametrize("name", rules.LAWS)
def test_law(name, tmp_path):
    for seed in range(TRACES):
        rules.LAWS[name](traces.make(seed), random.Random(f"{name} {seed}"), files(tmp_path))


# ---- a law that cannot be broken is none ----

def longer(trace):
    """One op is a nanosecond longer."""
    last = max(range(len(trace.ops)), key=lambda index: trace.ops[index].end)
    ops = [dataclasses.replace(op, end=op.end + 1) if index == last else op for index, op in enumerate(trace.ops)]
    return traces.Trace(ops, trace.calls, trace.ranges)


@pytest.mark.parametrize("name", ["scale", "split_devices", "drop_stream", "formats"])
def test_one_nanosecond_breaks_it(name, tmp_path, monkeypatch):
    """The first file says that one op was longer: for traces that keep this op the law must not hold any more."""
    written, write = [], kineto.write

    def write_wrong(path, trace, **settings):
        written.append(path)
        return write(path, longer(trace) if len(written) == 1 and trace.ops else trace, **settings)

    monkeypatch.setattr(kineto, "write", write_wrong)
    broken = 0
    for seed in range(16):
        written.clear()
        try:
            rules.LAWS[name](traces.make(seed), random.Random(f"{name} {seed}"), files(tmp_path))
        except rules.Broken:
            broken += 1
    assert broken >= 2


def test_traces_have_everything():
    """Each kind of row and each hard case occurs among the first seeds."""
    made = [traces.make(seed) for seed in range(60)]
    ops = [op for trace in made for op in trace.ops]
    assert {op.kind for op in ops} == {"kernel", "memcpy", "memset"}
    assert any(op.start == op.end for op in ops) and any(op.graph for op in ops)
    assert any(op.name in traces.COLLECTIVES for op in ops)
    assert any(len({op.device for op in trace.ops}) > 1 for trace in made)
    assert any(len({(op.device, op.stream) for op in trace.ops}) > 2 for trace in made)
    assert any(len({call.pid for call in trace.calls}) > 1 for trace in made)
    assert any(one.name.startswith("ProfilerStep#") for trace in made for one in trace.ranges)
    assert {one.is_operator for trace in made for one in trace.ranges} == {True, False}
    assert any(len({op.start for op in trace.ops}) < len(trace.ops) for trace in made)
