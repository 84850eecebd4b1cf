"""The timeline of pages: its rows add up to the tables, whatever detail there is room for; and it is bounded."""

import base64
import collections
import json
import math

import pytest

import tracegen
from conftest import page_report
from samples import DATA, real_traces, trace_name

Item = collections.namedtuple("Item", "start end name count busy")
TRACE = DATA / "torch/llama_train_compiled.json.gz"


def timelines(gputime, *args):
    done = gputime(*args, "--html")
    assert done.returncode == 0, done.stderr
    return page_report(done.stdout).get("timelines", [])


def numbers(text):
    value = shift = 0
    for byte in base64.b64decode(text, validate=True):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
    assert shift == 0


def unpack(row):
    items, before, stream = [], 0, numbers(row["items"])
    for signed in stream:
        start = before + (-(signed + 1) // 2 if signed % 2 else signed // 2)
        length, name = next(stream), next(stream)
        count, idle = (next(stream), next(stream)) if name % 2 else (1, 0)
        before = start + length
        items.append(Item(start, before, name // 2, count, length - idle))
    return items


def rows_of(timeline, kind):
    return [row for row in timeline["rows"] if row["kind"] == kind]


def gap_parts(row):
    """What the timeline may show of a row of the table of gaps: itself or, of a late start, two parts."""
    if not row["queued_ns"]:
        return {(row["device"], row["start_ns"], row["end_ns"], row["cause"])}
    launched = row["end_ns"] - row["queued_ns"]
    causes = ["sync", "host", "launch"] if row["cause"] == "dependency" else [row["cause"]]
    return {(row["device"], launched, row["end_ns"], "dependency")} | \
        {(row["device"], row["start_ns"], launched, cause) for cause in causes}


ON_THE_GPU = ("ops", "gaps", "ranges", "collectives")


def check_curve(timeline, row):
    """Points in order of time, all but the first in what is shown, none outside of the lowest and highest value."""
    times, lows, highs = row["points"][::3], row["points"][1::3], row["points"][2::3]
    assert len(times) == len(lows) == len(highs) == row["count"] and not unpack(row)
    assert times == sorted(times) and all(time <= timeline["end_ns"] for time in times)
    assert all(time >= timeline["start_ns"] for time in times[1:])
    assert all(row["low"] <= low <= high <= row["high"] for low, high in zip(lows, highs))


def check(gputime, path, *options):
    """Every row against the tables of the JSON output; says whether some items represent several."""
    tables = gputime.json("gaps", path, *options)["tables"]
    made = timelines(gputime, "gaps", path, *options)
    if not tables["streams"]["rows"] and not made:
        return False  # nothing ran on a GPU
    [timeline] = made
    for row in timeline["rows"]:
        items = unpack(row)
        if row["kind"] == "counters":
            check_curve(timeline, row)
            continue
        assert sum(item.count for item in items) == row["count"]
        assert sum(item.busy for item in items) == row["busy_ns"]
        begin, end = ("start_ns", "end_ns") if row["kind"] in ON_THE_GPU else ("first_ns", "last_ns")
        assert all(timeline[begin] <= item.start <= item.end <= timeline[end] for item in items)
        assert [item.start for item in items] == sorted(item.start for item in items)
        assert all(0 <= item.busy <= item.end - item.start for item in items)
        assert row["grain_ns"] == 0 or math.log2(row["grain_ns"]).is_integer()
        assert row["grain_ns"] or all(item.count == 1 for item in items)
        has_category = row["kind"] in ("ops", "collectives")
        assert all((timeline["categories"][item.name] is not None) == has_category for item in items)
    shown = [(row["device"], row["pid"], row["stream"], row["count"], row["busy_ns"]) for row in rows_of(timeline, "ops")]
    streams = [(row["device"], row["pid"], row["stream"], row["count"], row["busy_ns"]) for row in tables["streams"]["rows"]]
    assert collections.Counter(shown) == collections.Counter(streams)
    gaps = collections.Counter()
    for row in tables["gaps"]["rows"]:
        gaps[row["device"]] += row["gap_ns"]
    assert {row["device"]: row["busy_ns"] for row in rows_of(timeline, "gaps")} == dict(gaps)
    single = {(row["device"], item.start, item.end, timeline["names"][item.name])
              for row in rows_of(timeline, "gaps") for item in unpack(row) if item.count == 1}
    assert single <= {part for row in tables["gaps"]["rows"] for part in gap_parts(row)}
    causes = tables["idle_causes"]["rows"]
    assert sum(row["count"] for row in rows_of(timeline, "gaps")) == sum(row["count"] for row in causes)
    return any(row["grain_ns"] for row in timeline["rows"])


@pytest.mark.parametrize("seed", range(40))
def test_random_traces_add_up(gputime, tmp_path, seed):
    path = tmp_path / "trace.json"
    path.write_text(tracegen.trace(seed)[0], encoding="utf-8")
    check(gputime, path)
    if gputime.json(path)["facts"].get("span_ns", 0) > 100:
        check(gputime, path, "--from", "20%", "--to", "70%")


@pytest.mark.parametrize("path", real_traces(), ids=trace_name)
def test_real_traces_add_up(gputime, path):
    check(gputime, path)


def kernels(count, length_us=3, streams=3, names=1000):
    return [{"ph": "X", "cat": "kernel", "name": f"kernel {i * 7919 % names}" + "x" * (i % 90), "pid": 0, "tid": i % streams,
             "ts": 5 * i, "dur": length_us, "args": {"device": 0, "stream": i % streams}} for i in range(count)]


def test_long_traces_keep_sums_and_little_else(gputime, tmp_path):
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"traceEvents": kernels(300_000)}))
    assert check(gputime, path)
    assert len(gputime(path, "--html").stdout) < 5_000_000
    part = timelines(gputime, path, "--from", "10%", "--to", "12%")[0]
    assert all(row["grain_ns"] == 0 for row in part["rows"])


def test_damaged_times_and_crowded_streams(gputime, tmp_path):
    path = tmp_path / "odd.json"
    events = kernels(3000, length_us=10_000_000, streams=1500)
    events.append({**events[0], "ts": 8_000_000_000_000_000})
    path.write_text(json.dumps({"traceEvents": events}))
    [timeline] = timelines(gputime, path)
    assert len(rows_of(timeline, "ops")) + timeline["rows_left_out"]["ops"] == 1500
    assert sum(len(unpack(row)) for row in timeline["rows"]) < 160_000


def test_several_inputs_share_the_room(gputime, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"traceEvents": kernels(80_000, streams=1)}))
    both = timelines(gputime, tmp_path / "a.json", tmp_path / "b.json")
    assert [timeline["input"] for timeline in both] == ["a.json", "b.json"]
    assert sum(len(unpack(row)) for timeline in both for row in rows_of(timeline, "ops")) <= 100_000


def test_selection_is_kept_for_the_command_that_shows_more(gputime):
    [timeline] = timelines(gputime, TRACE, "--device", "0", "--name", "nvjet", "--from", "0s")
    assert timeline["options"] == [{"name": "device", "value": "0"}, {"name": "name", "value": "nvjet"}]


@pytest.mark.parametrize("command, expected", [("summary", 1), ("gaps", 1), ("ranges", 1), ("steps", 1), ("explain", 1), ("kernels", 0)])
def test_which_pages_have_one(gputime, command, expected):
    assert len(timelines(gputime, command, TRACE)) == expected
    assert "timelines" not in gputime.json(command, TRACE)


def test_names_stay_text(gputime):
    [timeline] = timelines(gputime, DATA / "hostile.json")
    names = gputime.json("kernels", DATA / "hostile.json")["tables"]["kernels"]["rows"]
    short = {row["name"] for row in names if len(row["name"]) < 300}
    assert {name for name in timeline["names"] if len(name) < 300} >= short
