"""Findings on clocks and memory: each is reported where it should be, and not where it should not."""

import pytest

from finding_traces import findings_of
from test_counters import MHZ, PERIOD, Sampled
from test_memory_use import GB, MB, Allocating, leaking

def clocked(mhz, tensor=80, samples=100):
    trace = Sampled()
    trace.op(0, samples * PERIOD, "gemm")
    for number in range(samples):
        trace.sample(number * PERIOD, gpc_mhz=mhz * MHZ, tensor=tensor, dram_read=1, dram_write=1)
    return trace


def filled(peak, reserved=None):
    trace = Allocating()
    trace.operator("aten::mm", 5, 10)
    trace.memory(10, peak, 0x1000, reserved=reserved)
    return trace


def grown(sizes):
    trace = Allocating()
    leaking(trace, sizes)
    return trace


# rule, its trace, severity (None: it is not reported), potential saving (None: not known)
CASES = [
    ("low_clock", clocked(1400), "low", None),
    ("low_clock", clocked(1700), None, None),  # 0.93 of the peak's
    ("low_clock", clocked(1980), None, None),
    ("low_clock", clocked(1400, tensor=1), None, None),  # nothing is lost to it
    ("low_clock", clocked(1400, samples=20), None, None),
    ("low_clock", filled(77 * GB), None, None),
    ("memory_full", filled(77 * GB), "low", None),
    ("memory_full", filled(60 * GB, reserved=78 * GB), "low", None),
    ("memory_full", filled(60 * GB, reserved=75 * GB), None, None),
    ("memory_full", grown([10 * MB] * 7), None, None),
    ("memory_growth", grown([10 * MB] * 7), "low", None),
    ("memory_growth", grown([50 * MB, 20 * MB, *[10 * MB] * 5]), "low", None),
    ("memory_growth", grown([10 * MB] * 5), None, None),  # three changes after the first two steps
    ("memory_growth", grown([10 * MB, 10 * MB, 10 * MB, 0, 10 * MB, 10 * MB, 10 * MB]), None, None),
    ("memory_growth", grown([100] * 9), None, None),  # bytes
    ("memory_growth", grown([0] * 9), None, None),
    ("memory_growth", clocked(1400), None, None),
]


@pytest.mark.parametrize("rule, trace, severity, saving", CASES, ids=[f"{case[0]}-{i}" for i, case in enumerate(CASES)])
def test_rule(gputime, tmp_path, rule, trace, severity, saving):
    found = findings_of(gputime, trace.write(tmp_path))
    assert (rule in found) == (severity is not None)
    if severity:
        assert (found[rule]["severity"], found[rule]["recoverable_ns"]) == (severity, saving)


def test_words_of_a_low_clock(gputime, tmp_path):
    finding = findings_of(gputime, clocked(1464).write(tmp_path))["low_clock"]
    assert finding["title"] == "Low clock: GPU 0 runs at 1464 MHz while busy, 80.0% of the 1830 MHz of its peak"
    assert finding["evidence"] == ["100 samples, one each 100 us.",
                                   "At the clock of the peak its matrix units would need 1.6 ms less: 16.0% of the span."]
    assert finding["severity"] == "low" and finding["recoverable_ns"] is None and finding["table"] == "counters"


def test_words_of_full_memory(gputime, tmp_path):
    finding = findings_of(gputime, filled(60 * GB, reserved=78 * GB).write(tmp_path))["memory_full"]
    assert finding["title"] == "Memory nearly full: GPU 0 has 78 GB of 80 GB taken"
    assert finding["evidence"][0].startswith("Peak 60 GB of 80 GB allocated at 10 us: 100% by aten::mm; reserved 78 GB, 23%")
    assert finding["evidence"][1] == "18 GB of what is reserved is not used: the memory is fragmented."


def test_words_of_growing_memory(gputime, tmp_path):
    finding = findings_of(gputime, grown([10 * MB] * 8).write(tmp_path))["memory_growth"]
    assert finding["title"] == "Memory grows by 10 MB a step on GPU 0"
    assert finding["evidence"][0].startswith("20 MB allocated after step 1, 80 MB after step 7;")
    assert finding["evidence"][1] == "The last step allocates 1 block with 10 MB that it does not free."
    assert finding["evidence"][2] == "The 78.92 GB that are left at the peak last for about 7,892 steps."


@pytest.mark.parametrize("trace", [clocked(1400), filled(79 * GB), grown([10 * MB] * 9)], ids=["clock", "full", "growth"])
def test_other_reports_do_not_read_so_much(gputime, tmp_path, trace):
    report = gputime.json("summary", trace.write(tmp_path))
    assert not {finding["id"] for finding in report["findings"]} & {case[0] for case in CASES}


def test_why(gputime, tmp_path):
    done = gputime("findings", "--why", "low_clock", clocked(1700).write(tmp_path))
    assert done.returncode == 0 and b"low_clock_ratio" in done.stdout
