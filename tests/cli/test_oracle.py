"""Every number of the JSON reports against the oracle, to the ns: on random traces and on all real ones.

The oracle itself is checked against a second, even plainer pass that looks at every single nanosecond.
"""

import collections
import math
import random
import statistics

import pytest

import oracle
import tracegen
from oracle_report import COLUMNS, COMMANDS, check_input, compare_histogram, compare_report, microseconds, selections
from samples import real_traces, trace_name

RANDOM_TRACES = 160


def histograms(view, pick):
    """Some histograms of the stream gaps: (arguments, settings of the oracle's)."""
    lengths = sorted({gap["gap_ns"] for gap in oracle.stream_gaps(view)}) or [1]
    least, most = sorted(pick.choices([*lengths, lengths[0] + 1, lengths[-1] - 1], k=2))
    least, most = microseconds(max(least, 0)), microseconds(max(most, 0))
    bins = pick.randrange(1, 40)
    yield ["--hist-min", least], {"least_us": least}
    yield ["--hist-max", most], {"most_us": most}
    yield ["--hist", "linear"], {"bins": 15}
    yield ["--bins", str(bins), "--hist-min", least, "--hist-max", most], \
        {"bins": bins, "least_us": least, "most_us": most}


def compare_commands(gputime, path):
    """Every command on all of a trace; the trace and the oracle's view of it."""
    trace = oracle.load(path)
    view = oracle.View(trace)
    for command, args in COMMANDS.items():
        report = gputime.json(*args, path)
        compare_report(command, report, view)
        check_input(report, trace)
    return trace, view


def compare_histograms(gputime, path, view, pick):
    for args, settings in histograms(view, pick):
        tables = gputime.json("gaps", path, "--table", "histogram", *args)["tables"]
        compare_histogram(oracle.histogram(view, **settings), tables["histogram"]["rows"])


@pytest.mark.parametrize("seed", range(RANDOM_TRACES))
def test_random_trace(gputime, tmp_path, seed):
    text, layout = tracegen.trace(seed)
    path = tmp_path / f"{layout}.json"
    path.write_text(text, encoding="utf-8")
    trace, view = compare_commands(gputime, path)
    pick = random.Random(seed)
    for args, selection in selections(trace, pick):
        chosen = oracle.View(trace, selection)
        if chosen.ops:  # the program may refuse a window that is empty
            command = pick.choice(list(COMMANDS))
            compare_report(command, gputime.json(*COMMANDS[command], path, *args), chosen)
    compare_histograms(gputime, path, view, pick)


@pytest.mark.parametrize("path", real_traces(), ids=trace_name)
def test_real_trace(gputime, path):
    trace, view = compare_commands(gputime, path)
    for args, selection in selections(trace, random.Random(1)):
        chosen = oracle.View(trace, selection)
        if chosen.ops:
            compare_report("summary", gputime.json(path, *args), chosen)
    compare_histograms(gputime, path, view, random.Random(1))


def test_every_table_is_judged(gputime, tmp_path):
    """A trace with everything shows each table the oracle knows in at least one command."""
    seed = next(seed for seed in range(1000) if has_everything(seed, tmp_path))
    path = tmp_path / "trace.json"
    path.write_text(tracegen.trace(seed)[0], encoding="utf-8")
    judged = set()
    for args in COMMANDS.values():
        judged |= set(gputime.json(*args, path)["tables"])
    assert set(COLUMNS) <= judged


def has_everything(seed, folder):
    path = folder / "candidate.json"
    path.write_text(tracegen.trace(seed)[0], encoding="utf-8")
    return all(oracle.report(oracle.load(path)).values())


# ---- the oracle against every single nanosecond ----------------------------------------------------------------------


def small_trace(seed, tmp_path):
    generator = tracegen.Generator(seed)
    generator.length_ns, generator.grain_ns = 300, random.Random(seed).choice([1, 10, 30])
    generator.base_ns, generator.time_style = 5000, "decimal"
    path = tmp_path / "small.json"
    path.write_text(tracegen.layout(generator.make(), "kineto"), encoding="utf-8")
    return oracle.load(path)


def rank(op):
    return oracle.CLASSES.index(op.time_class), op.start, -op.ns, op.stream, op.row


def paint(view):
    """By device: how many ns fall to each mixture of classes, the wall time by class, and the idle runs."""
    result = {}
    for device, ops in view.by_device().items():
        start, end = view.span(ops)
        mixtures, walls, runs = collections.Counter(), collections.Counter(), []
        for now in range(start, end):
            running = [op for op in ops if op.start <= now < op.end]
            mixtures[frozenset(op.time_class for op in running)] += 1
            if running:
                walls[min(running, key=rank).time_class] += 1
            elif runs and runs[-1][1] == now:
                runs[-1][1] = now + 1
            else:
                runs.append([now, now + 1])
        result[device] = mixtures, walls, runs
    return result


def expected_accounting(mixtures):
    def time(test):
        return sum(count for mixture, count in mixtures.items() if test(mixture))

    return {
        "span_ns": time(lambda m: True),
        "busy_ns": time(lambda m: m),
        "idle_ns": time(lambda m: not m),
        "compute_ns": time(lambda m: "compute" in m),
        "comm_ns": time(lambda m: "comm" in m),
        "memory_ns": time(lambda m: "memory" in m),
        "exposed_comm_ns": time(lambda m: "comm" in m and "compute" not in m),
        "exposed_memory_ns": time(lambda m: m == {"memory"}),
        "overlap_ns": time(lambda m: {"comm", "compute"} <= m),
    }


def plain_cause(view, ops, a, b, latency):
    enders = sorted((op.stream, op.row, op.call) for op in ops if op.start == b)
    if not enders:
        return "end"
    call = enders[0][2]
    if call is None:
        return "unknown"
    if call.start > a:
        blocking = [c for c in view.trace.calls if c.blocks_host and (c.pid, c.tid) == (call.pid, call.tid)]
        blocked = sum(any(c.start <= now < c.end for c in blocking) for now in range(a, call.start))
        return "sync" if blocked > (call.start - a) / 2 else "host"
    if call.end > a or (latency is not None and b - call.end <= latency):
        return "launch"
    return "dependency"


@pytest.mark.parametrize("seed", range(150))
def test_oracle_against_every_nanosecond(tmp_path, seed):
    trace = small_trace(seed, tmp_path)
    if not trace.ops:
        return
    pick = random.Random(seed)
    start = pick.randrange(0, 200)
    window = oracle.Selection(from_ns=start, to_ns=start + pick.randrange(1, 200))
    for selection in (oracle.Selection(), window):
        view = oracle.View(trace, selection)
        painted = paint(view)
        by_device = {row["device"]: row for row in oracle.accounting(view)}
        assert by_device.keys() == painted.keys()
        walls = collections.Counter()
        for device, (mixtures, device_walls, runs) in painted.items():
            for key, value in expected_accounting(mixtures).items():
                assert by_device[device][key] == value, key
            walls += device_walls
            check_gaps(view, device, runs)
        assert {row["time_class"]: row["wall_ns"] for row in oracle.categories(view) if row["wall_ns"]} == walls


def plain_activity(view, call, a):
    def time_in(events):
        mine = [event for event in events if (event.pid, event.tid) == (call.pid, call.tid)]
        return sum(any(event.start <= now < event.end for event in mine) for now in range(a, call.start))

    if time_in(view.trace.calls) > (call.start - a) / 2:
        return "in API calls"
    return "in ranges or operators" if time_in(view.trace.code) > (call.start - a) / 2 else "in untraced code"


def check_gaps(view, device, runs):
    ops = view.by_device()[device]
    gaps = {row["start_ns"] + view.trace.origin: row for row in oracle.device_gaps(view) if row["device"] == device}
    assert {(a, row["gap_ns"]) for a, row in gaps.items()} == {(a, b - a) for a, b in runs}
    delays = []
    for a, b in runs:
        enders = sorted((op.stream, op.row, op.call) for op in ops if op.start == b)
        if enders and enders[0][2] is not None and enders[0][2].end >= a:
            delays.append(b - enders[0][2].end)
    latency = statistics.median(delays) if delays else None
    for a, b in runs:
        assert gaps[a]["cause"] == plain_cause(view, ops, a, b, latency)
        call = min(((op.stream, op.row, op.call) for op in ops if op.start == b), default=(None,))[-1]
        assert gaps[a]["activity"] == (plain_activity(view, call, a) if gaps[a]["cause"] == "host" else None)


@pytest.mark.parametrize("seed", range(50))
def test_oracle_statistics(seed):
    pick = random.Random(seed)
    values = [pick.randrange(0, 10**pick.randrange(1, 12)) for _ in range(pick.randrange(2, 40))]
    row = oracle.statistics(values)
    deciles = statistics.quantiles(values, n=10, method="inclusive")
    centiles = statistics.quantiles(values, n=100, method="inclusive")
    assert math.isclose(row["stddev_ns"], statistics.stdev(values), rel_tol=1e-12)
    assert math.isclose(row["median_ns"], statistics.median(values), rel_tol=1e-12)
    assert math.isclose(row["p90_ns"], deciles[8], rel_tol=1e-12)
    assert math.isclose(row["p99_ns"], centiles[98], rel_tol=1e-12)


def test_oracle_times():
    assert oracle.nanoseconds(12) == 12_000
    assert oracle.nanoseconds("3847745009978.503") == 3_847_745_009_978_503
    assert oracle.nanoseconds("1.5e3") == 1_500_000
    assert oracle.nanoseconds("1.0005") == 1_001
    assert oracle.nanoseconds("-1.0005") == -1_001
    assert oracle.nanoseconds("x") is None
    assert oracle.nanoseconds("1e400") is None


def test_oracle_blocking_calls():
    def blocks(name):
        return oracle.Call(0, name, 0, 1, 0, 0, 0).blocks_host

    assert all(map(blocks, ("cudaDeviceSynchronize", "cuCtxSynchronize", "cudaStreamSynchronize_ptsz",
                            "hipEventSynchronize", "cudaMemcpy", "cuMemcpyDtoH_v2", "cudaMemcpy2D_v3020_ptds",
                            "cudaMemset", "hipMemcpyWithStream")))
    assert not any(map(blocks, ("cudaMemcpyAsync", "cuMemcpyDtoHAsync_v2", "cudaStreamWaitEvent", "cudaEventQuery",
                                "cudaLaunchKernel", "cudaMalloc", "cudaMemsetAsync")))
