"""`findings --why`: the thresholds that a rule uses, and the commands that show its windows."""

import re

import pytest
from finding_traces import RULES, Trace, dense, made, tiny
from samples import ROOT

FOLDER = ROOT / "lib/measure/findings"
THRESHOLDS = re.findall(r"^GT_THRESHOLD\(([\w\s]+),\s*(\w+),", (FOLDER / "thresholds.def").read_text(), re.MULTILINE)
LEAD = {"stall_ns", "queue_ops"}
# What rules use through modules that they share with others.
SHARED = {"compilation": LEAD | {"first_launch_ns"}, "data_loading": LEAD, "allocator": LEAD | {"calls_per_free"},
          "readback": LEAD | {"readback_count", "readback_steps", "bulk_copy_bytes"}, "sync_waits": LEAD,
          "pageable_copies": {"bulk_copy_bytes", "pinned_bytes_per_s", "stall_ns"},
          "copies_in_line": {"bulk_copy_bytes", "pinned_bytes_per_s", "stall_ns"},
          "host_stalls": {"stall_ns", "named_ns", "busy_pieces_per_ms"},
          "host_bound": {"stall_ns", "busy_pieces_per_ms", "small_batch_count", "looked_up_gaps"},
          "unfused_optimizer": {"kernels_per_update", "fewest_updates", "stall_ns"},
          "periodic_work": {"fewest_steps", "more_ops_ratio"}, "small_batch": {"small_batch_share", "stall_ns"},
          "launch_storm": {"storm_rate", "storm_launches", "storm_single_share"},
          "tiny_kernels": {"tiny_ns", "tiny_count", "tiny_share", "tiny_wait_share", "stall_ns"}}


def rules_of(threshold):
    return {rule for rules, name in THRESHOLDS if name == threshold for rule in rules.split()}


@pytest.mark.parametrize("rule", SHARED)
def test_why_lists_every_threshold_that_a_rule_uses(gputime, tmp_path, rule):
    report = gputime.json("findings", made(tiny)(tmp_path), "--why", rule)
    shown = {row["threshold"]: row["number"] for row in report["tables"]["finding_thresholds"]["rows"]}
    assert SHARED[rule] <= set(shown), SHARED[rule] - set(shown)
    assert all(number > 0 for number in shown.values())
    assert all(rules_of(name) & {rule, "severity"} for name in shown)


def test_every_threshold_is_listed_for_the_rules_whose_code_reads_it():
    known = {"severity", "verdict", *RULES}
    assert THRESHOLDS and all(rules_of(name) <= known for _, name in THRESHOLDS)
    for path in FOLDER.glob("find_*.c"):
        code = path.read_text()
        rules = set(re.findall(r"^bool gt_find_(\w+)\(", code, re.MULTILINE))
        for name in set(re.findall(r"gt_thresholds\.(\w+)", code)):
            assert rules_of(name) & (rules | {"severity"}), (path.name, name)


def test_meanings_are_wrapped_and_not_shortened(gputime, tmp_path):
    path = made(tiny)(tmp_path)
    rows = gputime.json("findings", path, "--why", "copies_in_line")["tables"]["finding_thresholds"]["rows"]
    for options in ([], ["-v"]):
        text = gputime("findings", path, "--why", "copies_in_line", "--width", "80", *options).stdout.decode()
        assert max(map(len, text.splitlines())) <= 80
        words = " ".join(text.split())
        assert max(len(row["meaning"]) for row in rows) > 80
        assert [words.count(row["meaning"]) for row in rows] == [1] * len(rows), text


def test_each_window_has_a_command_that_shows_it(gputime, tmp_path):
    """A copy from pageable memory, and a shorter gap that its call causes."""
    trace = Trace()
    dense(trace, 100, 10)
    trace.op(1100, 300, name="Memcpy HtoD (Pageable -> Device)", launched=1000, call="cudaMemcpyAsync", call_length=500,
             bytes=10**6)
    trace.op(1502, 20, launched=1501)
    path = trace.write(tmp_path)
    windows = gputime.json("findings", path, "--why", "pageable_copies")["tables"]["finding_windows"]["rows"]
    shown = []
    for window in windows:
        program, *args, last = window["command"].split()
        assert (program, last) == ("gputime", "TRACE")
        tables = gputime.json(*args, path)["tables"]
        if args[0] == "gaps":
            assert (window["start_ns"], window["end_ns"]) in {(row["start_ns"], row["end_ns"]) for row in tables["gaps"]["rows"]}
        else:
            assert [row["name"] for row in tables["memory"]["rows"]] == ["Memcpy HtoD (Pageable -> Device)"]
        shown.append(args[0])
    assert shown == ["summary", "gaps"]
