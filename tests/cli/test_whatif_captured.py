"""What-if against captures of a GPU: one loop, one thing changed at a time (captured_whatif.py)."""

import pytest
from captured_whatif import ARCHIVE, REGIMES, Capture, predict, rows, unpack

# Changes that should not matter to a step move it by 5 to 8 % from one capture to the next.
NOISE = 0.08
# With the lengths that kernels and CPU work had in the other capture, little is left to chance.
KNOWN = 0.05
# Kernels of two streams share the GPU in the regime `overlap`: each is slower for it, which predictions leave out.
SHARED_GPU = 0.2


@pytest.fixture(scope="module")
def traces(shared, tmp_path_factory):
    return unpack(shared(ARCHIVE), tmp_path_factory.mktemp("whatif"))


def table(found):
    return "\n".join(f"{row.regime:8} {row.change:9} base {row.base / 1e6:.3f} predicted {row.predicted / 1e6:.3f} "
                     f"measured {row.measured / 1e6:.3f} ms ({row.error:+.1%}), CPU x {row.cpu_ratio:.2f}" for row in found)


def is_comparable(row):
    """Whether the CPU ran alike in both captures, or does not decide how long a step takes."""
    return row.change == "cpu_half" or row.regime in ("gpu", "overlap") or abs(row.cpu_ratio - 1) <= NOISE


def test_change_alone(gputime, traces):
    """A prediction from one capture, as a user makes it."""
    found = list(rows(gputime.json, traces, together=False))
    comparable = [row for row in found if is_comparable(row)]
    assert len(comparable) >= 10, table(found)
    far = [row for row in comparable if abs(row.error) > (SHARED_GPU if row.regime == "overlap" else NOISE)]
    assert not far, table(found)


def test_all_that_differs(gputime, traces):
    found = list(rows(gputime.json, traces, together=True))
    far = [row for row in found if abs(row.error) > (SHARED_GPU if row.regime == "overlap" else KNOWN)]
    assert not far, table(found)


def test_direction(gputime, traces):
    """What got clearly faster is predicted to be faster, by half as much or more (a third where kernels share the GPU)."""
    faster = [row for row in rows(gputime.json, traces, together=True) if row.measured < 0.9 * row.base]
    assert len(faster) >= 5
    for row in faster:
        share = 1 / 3 if row.regime == "overlap" else 1 / 2
        assert row.base - row.predicted >= share * (row.base - row.measured), table([row])


def test_without_synchronizing(gputime, traces):
    """`--no sync` drops the wait at each step's end, too, which the capture kept: a lower bound."""
    base, other = Capture(traces["sync_base"]), Capture(traces["sync_no_sync"])
    predicted, _ = predict(gputime.json, base, ["--no", "sync"])
    assert predicted <= (1 + NOISE) * other.step_ns
    assert predicted <= base.step_ns


@pytest.mark.parametrize("regime", REGIMES)
def test_captures_are_explained(gputime, traces, regime):
    """Simulated with usual latencies, the run takes about as long as it did, and its window is the one that was measured."""
    capture = Capture(traces[f"{regime}_base"])
    report = gputime.json("path", capture.path, "--no-cache", "--top", "0")
    run, = (row for row in report["tables"]["replay"]["rows"] if row["window"] == "run")
    assert run["wall_ns"] == pytest.approx(capture.step_ns * len(capture.steps), abs=1)
    if regime == "overlap":  # kernels start late because others have the GPU: answers carry a warning
        assert 0.05 < run["error"] <= 0.15 and run["trust"] == "rough", run
    else:
        assert run["error"] <= 0.05 and run["trust"] == "good", run
    segments = sorted((row["start_ns"], row["end_ns"]) for row in report["tables"]["critical_path"]["rows"])
    assert all(one[1] == two[0] for one, two in zip(segments, segments[1:]))
    assert segments[-1][1] - segments[0][0] == run["wall_ns"]
