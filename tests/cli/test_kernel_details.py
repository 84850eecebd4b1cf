"""Occupancy, its limits and the sources of kernels: 'kernels --details' against a naive reading of PyTorch's JSON."""

import collections
import gzip
import json

import pytest

from kineto_by_hand import Trace
from samples import DATA

SAMPLES = [DATA / "limits.json", DATA / "torch/llama_train_compiled.json.gz", DATA / "torch/ops_zoo.json.gz"]


def events_of(path):
    text = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    return [event for event in json.loads(text)["traceEvents"] if event.get("ph") == "X"]


def sources(events):
    """By correlation: arguments of the innermost operator around the launch call."""
    operators = collections.defaultdict(list)
    for event in events:
        if event.get("cat") == "cpu_op":
            operators[event["pid"], event["tid"]].append(event)
    found = {}
    for call in events:
        if call.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in call.get("args", {}):
            around = [one for one in operators[call["pid"], call["tid"]]
                      if one["ts"] <= call["ts"] and call["ts"] + call["dur"] <= one["ts"] + one["dur"]]
            inner = max(around, key=lambda one: (one["ts"], -one["dur"]), default={})
            args = inner.get("args", {})
            found[call["args"]["correlation"]] = (args.get("kernel_file"), args.get("kernel_kwargs"))
    return found


def expected(path):
    events = events_of(path)
    of_call = sources(events)
    rows = collections.defaultdict(lambda: [0, 0, 0, 0.0, None])
    for event in events:
        if event.get("cat") != "kernel":
            continue
        args = event["args"]
        limits = args.get("occupancy", {})
        percent = float(args.get("est. achieved occupancy %") or 0)
        file, options = of_call.get(args.get("correlation"), (None, None))
        blocks, limiters = limits.get("activeBlocksPerMultiprocessor"), limits.get("limitingFactors")
        if not (percent or file or limiters or blocks is not None):
            continue
        duration = round(event["dur"] * 1000)
        row = rows[event["name"], limiters, file, options or None]
        row[0] += 1
        row[1] += duration
        row[2] += duration if percent else 0
        row[3] += percent / 100 * duration
        row[4] = blocks if row[4] is None else min(row[4], blocks)
    return {key: (count, total, pytest.approx(weighted / known) if known else None, blocks)
            for key, (count, total, known, weighted, blocks) in rows.items()}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_they_are_what_the_trace_says(gputime, path):
    rows = gputime.json("kernels", "--details", "--names", "full", path)["tables"]["kernel_details"]["rows"]
    found = {(row["name"], row["limiters"], row["file"], row["compiled_with"]):
             (row["count"], row["total_ns"], row["occupancy"], row["active_blocks"]) for row in rows}
    assert len(found) == len(rows) and found == expected(path)
    assert [row["total_ns"] for row in rows] == sorted((row["total_ns"] for row in rows), reverse=True)


def test_samples_have_all_of_it():
    keys = [key for path in SAMPLES for key in expected(path)]
    assert {"REGS|SMEM", "WARPS", "BLOCKS"} <= {limiters for _, limiters, _, _ in keys}
    assert sum(file is not None for _, _, file, _ in keys) > 10 and any(options for *_, options in keys)


def test_they_fit_a_screen_and_are_only_there_on_request(gputime):
    text = gputime("kernels", "--details", "--width", "80", DATA / "torch/llama_train_compiled.json.gz").stdout.decode()
    assert max(map(len, text.splitlines())) <= 80 and "Limited" in text and ".py" in text
    assert "kernel_details" not in gputime.json("kernels", DATA / "limits.json")["tables"]
    assert b"No kernels whose occupancy or source is known." in gputime("kernels", "--details", DATA / "late_start.json").stdout


def test_redacted_traces_do_not_tell_where_sources_are(gputime):
    rows = gputime.json("kernels", "--details", "--redact", DATA / "limits.json")["tables"]["kernel_details"]["rows"]
    assert rows and not any("/home" in (row["file"] or "") for row in rows)


def test_channels_are_columns(gputime, tmp_path):
    trace = Trace()
    trace.op(1000, 10, channel=3, channel_type=1)
    done = gputime("sql", "select channel, channel_type from ops", trace.write(tmp_path), "--csv")
    assert done.stdout.decode().splitlines() == ["channel,channel_type", "3,1"]
