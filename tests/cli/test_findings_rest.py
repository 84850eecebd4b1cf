"""Rules of the findings that have no file of their own: each is reported where it should be, and not where it should not."""

import pytest

from finding_traces import US, findings_of, late_launches, made, overhead, sample, storm, tiny

# rule, how its trace is made, severity (None: it is not reported), potential saving in us (None: not known)
CASES = [
    ("launch_storm", made(storm), "low", None),
    ("launch_storm", made(late_launches, 1200, 20), None, None),
    ("launch_storm", made(storm, nodes=100), None, None),  # of graphs
    ("tiny_kernels", made(tiny), "low", None),
    ("tiny_kernels", made(late_launches, 120, 20), None, None),
    ("graph_time", sample("graph_whole.nsys-rep"), "low", None),
    ("graph_time", sample("extras.nsys-rep"), None, None),
    ("profiler_overhead", made(overhead), "low", None),
    ("profiler_overhead", made(overhead, start=5000), None, None),  # after the span
    ("dropped_events", sample("graph_whole.nsys-rep"), "low", None),
    ("dropped_events", made(overhead), None, None),
]


@pytest.mark.parametrize("rule, make, severity, saving_us", CASES, ids=[f"{case[0]}-{case[2]}-{i}" for i, case in enumerate(CASES)])
def test_rule(gputime, tmp_path, rule, make, severity, saving_us):
    found = findings_of(gputime, make(tmp_path))
    if severity is None:
        assert rule not in found, found[rule]
        return
    assert rule in found, list(found)
    assert found[rule]["severity"] == severity, found[rule]
    assert found[rule]["recoverable_ns"] == (None if saving_us is None else saving_us * US), found[rule]


def test_tiny_kernels_are_reported_without_the_longer_ones_of_their_names(gputime, tmp_path):
    def make(trace):
        tiny(trace)
        trace.op(4000, 5, name="kernel_0")
        trace.op(4020, 30, name="kernel_0")

    path = made(make)(tmp_path)
    evidence = findings_of(gputime, path)["tiny_kernels"]["evidence"]
    assert evidence[1] == "'kernel_0': 16 launches of 5 us or less, 4.063 us on average."
    assert evidence[2] == "'kernel_1': 15 launches of 5 us or less, 4 us on average."
    row = gputime.json("summary", path, "--table", "tiny_kernels")["tables"]["tiny_kernels"]["rows"][0]
    assert (row["name"], row["count"], row["avg_ns"]) == ("kernel_0", 16, 4062.5)
