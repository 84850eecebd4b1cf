"""Laws of the findings, over all real traces: no time is promised twice, and none that is not there."""

import pytest

from finding_traces import order_of
from samples import CAPTURES, NVIDIA_EXPORTS, PUBLIC_EXPORTS, real_traces, trace_name, with_shared

WAITING = {"compilation", "data_loading", "allocator", "readback", "sync_waits", "pageable_copies", "copies_in_line",
           "small_copies", "exposed_comm", "host_stalls", "host_bound"}
COMPUTE = {"no_tensor_cores", "unfused_attention", "unfused_elementwise", "unfused_optimizer"}


def check_laws(report):
    accounts, found = report["tables"]["accounting"]["rows"], report["findings"]
    check_order(found)
    if not accounts:
        assert not any(one["recoverable_ns"] for one in found)
        return

    def mean(*columns):
        """Over the GPUs, as savings are."""
        return sum(row[column] for row in accounts for column in columns) / len(accounts)

    def promised(rules=None):
        return sum(one["recoverable_ns"] or 0 for one in found if rules is None or one["id"] in rules)

    assert promised(WAITING) <= mean("idle_ns", "exposed_comm_ns", "exposed_memory_ns")
    assert promised(COMPUTE) <= mean("compute_ns")
    assert promised() <= mean("span_ns")
    assert sum(one["share"] or 0 for one in found) < 1 + 1e-9
    for row in accounts:
        claims = [saving for one in found for saving in one["savings"] if saving["device"] == row["device"]]
        waiting, compute = (sum(saving[key] for saving in claims) for key in ("waiting_ns", "compute_ns"))
        assert waiting <= row["idle_ns"] + row["exposed_comm_ns"] + row["exposed_memory_ns"]
        assert compute <= row["compute_ns"] and waiting + compute <= row["span_ns"]
    for one in found:
        check_windows(one, {row["device"]: row["span_ns"] for row in accounts})


def check_order(found):
    order = order_of(found)
    assert order == sorted(order)
    assert len({one["id"] for one in found}) == len(found)


def check_windows(finding, spans):
    windows = finding["windows"]
    assert len(windows) <= 5 and (finding["share"] is not None or not windows), "no window without a claim"
    for window in windows:
        length = window["end_ns"] - window["start_ns"]
        assert 0 <= window["start_ns"] and 0 < length <= spans[window["device"]], finding["id"]


@pytest.mark.parametrize("path", real_traces(), ids=lambda path: path and trace_name(path))
def test_pytorch(gputime, path):
    check_laws(gputime.json("summary", path))


@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_nsight(gputime, capture):
    check_laws(gputime.json("summary", capture.report))


@pytest.mark.parametrize("path", with_shared([], NVIDIA_EXPORTS, PUBLIC_EXPORTS), ids=lambda path: path and path.name)
def test_exports(gputime, path):
    check_laws(gputime.json("summary", path))
