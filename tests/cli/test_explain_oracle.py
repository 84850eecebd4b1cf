"""explain against a plain oracle on random traces: kernels, rates, ranges and calls that wait."""

import collections
import random
import sqlite3

import pytest

from explained import check_csv_in_json, check_markdown_in_json, explain, unpack
from range_model import global_id, nsight_model, write_nsight
from range_oracle import Oracle


def quantile(values, q):
    values = sorted(values)
    position = q * (len(values) - 1)
    low = int(position)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (position - low)


def check_kernels(new, ops):
    groups = collections.defaultdict(list)
    for op in ops:
        groups[op.name, op.device].append(op.end - op.start)
    assert len(new.table("device_kernels")) == len(groups)
    for row in new.table("device_kernels"):
        lengths = groups[row["name"], row["device"]]
        assert (row["count"], row["total_ns"], row["min_ns"], row["max_ns"]) == (len(lengths), sum(lengths), min(lengths), max(lengths))
        assert row["median_ns"] == pytest.approx(quantile(lengths, 0.5)) and row["p90_ns"] == pytest.approx(quantile(lengths, 0.9))
    owners = collections.defaultdict(list)
    for op in ops:
        owners[op.pid, op.name, op.device].append(op.end - op.start)
    total = sum(op.end - op.start for op in ops)
    assert len(new.table("process_kernels")) == len(owners)
    for row in new.table("process_kernels"):
        lengths = owners[row["pid"], row["name"], row["device"]]
        of_process = sum(op.end - op.start for op in ops if op.pid == row["pid"])
        assert (row["count"], row["total_ns"], row["process_kernel_ns"]) == (len(lengths), sum(lengths), of_process)
        assert row["share"] == pytest.approx(sum(lengths) / total if total else 0)


def check_rates(new, ops):
    def window(chosen):
        total, reached, start = 0, None, None
        for op in sorted(chosen, key=lambda op: op.start):
            if reached is None or op.start - reached >= 10_000_000:
                total += 0 if reached is None else reached - start
                start, reached = op.start, op.end
            reached = max(reached, op.end)
        return total + reached - start

    rates = [(None, row) for row in new.table("launch_rate")] + [(row["pid"], row) for row in new.table("process_launch_rates")]
    assert len(rates) == (1 if ops else 0) + len({op.pid for op in ops})
    for pid, row in rates:
        chosen = [op for op in ops if pid in (None, op.pid)]
        lengths = [op.end - op.start for op in chosen]
        assert (row["count"], row["window_ns"]) == (len(chosen), window(chosen))
        assert row["per_second"] == pytest.approx(len(chosen) / (max(window(chosen), 1) / 1e9))
        span = max(1, max(op.end for op in chosen) - min(op.start for op in chosen))
        assert (row["span_ns"], row["span_per_second"]) == (span, pytest.approx(len(chosen) / (span / 1e9)))
        assert [row[key] for key in ("median_ns", "p90_ns", "p99_ns")] == pytest.approx([quantile(lengths, q) for q in (0.5, 0.9, 0.99)])
        assert row["under_5us"] == pytest.approx(sum(length < 5000 for length in lengths) / len(lengths))
    tiny = collections.Counter(op.name for op in ops if op.end - op.start <= 5000)
    assert {row["name"]: row["count"] for row in new.table("tiny_kernels")} == tiny
    tiny = collections.Counter((op.pid, op.name) for op in ops if op.end - op.start <= 5000)
    assert {(row["pid"], row["name"]): row["count"] for row in new.table("process_tiny_kernels")} == tiny


def check_ranges(new, oracle):
    inside = collections.defaultdict(list)
    for op, holders in zip(oracle.ops, oracle.holders):
        if holders:
            innermost = oracle.ranges[holders[-1]]
            inside[op.pid, innermost.name, innermost.domain].append(op.end - op.start)
    names = collections.defaultdict(list)
    for (_, name, domain), lengths in inside.items():
        names[name, domain] += lengths
    found = {(row["name"], row["domain"]): (row["kernels"], row["kernel_ns"]) for row in new.table("range_kernels")}
    assert found == {key: (len(lengths), sum(lengths)) for key, lengths in names.items()}
    walls = collections.defaultdict(list)
    for number in oracle.listed:
        one = oracle.ranges[number]
        walls[one.pid, one.name, one.domain].append(one.end - one.start)
    rows = {(row["pid"], row["name"], row["domain"]): row for row in new.table("process_ranges")}
    assert set(rows) == set(walls) | set(inside)
    for key, row in rows.items():
        assert (row["instances"], row["range_ns"]) == (len(walls[key]), sum(walls[key]))
        assert (row["kernels"], row["kernel_ns"]) == (len(inside[key]), sum(inside[key]))
    for row in new.table("process_coverage"):
        total = sum(op.end - op.start for op in oracle.ops if op.pid == row["pid"])
        covered = sum(sum(lengths) for key, lengths in inside.items() if key[0] == row["pid"])
        assert (row["kernel_ns"], row["covered_ns"]) == (total, covered) and covered <= total
    lengths = sorted((one.end - one.start for one in (oracle.ranges[number] for number in oracle.listed)), reverse=True)
    assert [row["range_ns"] for row in new.table("longest_ranges")] == lengths[:50]


SYNCS = ["cudaStreamSynchronize_v3020", "cudaMemcpy_v3020", "cudaMemcpyAsync_v3020", "cudaEventQuery_v3020", "cuCtxSynchronize"]


def add_syncs(path, seed):
    """Calls other than launches; what blocks of them, by process and name."""
    pick = random.Random(seed)
    calls = [(start := pick.randint(0, 1000), start + pick.randint(0, 500), pick.choice([100, 200]), pick.randrange(len(SYNCS)))
             for _ in range(pick.choice([0, 30]))]
    connection = sqlite3.connect(path)
    connection.executemany("INSERT INTO StringIds VALUES (?, ?)", [(1000 + number, name) for number, name in enumerate(SYNCS)])
    connection.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, ?, 0)",
                           [(start, end, global_id(pid, 1), 10**6 + number, 1000 + name)
                            for number, (start, end, pid, name) in enumerate(calls)])
    connection.commit()
    connection.close()
    sums = collections.defaultdict(list)
    for start, end, pid, name in calls:
        if name in (0, 1, 4):
            sums[pid, SYNCS[name]].append(end - start)
    return sums


def check_syncs(new, sums):
    found = {(row["pid"], row["api_name"]): (row["count"], row["total_ns"]) for row in new.table("process_sync_calls")}
    assert found == {key: (len(lengths), sum(lengths)) for key, lengths in sums.items()}
    names = collections.Counter()
    for (_, name), lengths in sums.items():
        names[name] += sum(lengths)
    assert {row["api_name"]: row["total_ns"] for row in new.table("sync_calls")} == dict(names)


@pytest.mark.parametrize("seed", range(25))
def test_random_traces_with_nested_overlapping_and_cross_thread_ranges(gputime, tmp_path, seed):
    model = nsight_model(seed)
    write_nsight(model, tmp_path / "t.sqlite")
    sums = add_syncs(tmp_path / "t.sqlite", seed)
    new = explain(gputime, tmp_path / "t.sqlite", tmp_path / "out", "--kernel-limit", "0")
    oracle = Oracle(model)
    check_kernels(new, oracle.ops)
    check_rates(new, oracle.ops)
    check_ranges(new, oracle)
    check_syncs(new, sums)
    check_markdown_in_json(new)
    check_csv_in_json(new)


def test_threads_change_no_byte(gputime, tmp_path):
    traces = [unpack("full", tmp_path), tmp_path / "t.sqlite"]
    write_nsight(nsight_model(3), traces[1])
    for trace in traces:
        written = []
        for threads in ("1", "2", "7"):
            folder = tmp_path / (trace.stem + threads)
            explain(gputime, trace, folder, "--threads", threads)
            written.append({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()})
        assert written[0] and written[1] == written[0] and written[2] == written[0]
