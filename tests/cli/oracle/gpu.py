"""Tables of what the GPU did: accounting, categories, kernels, memory and the gaps of streams."""

import bisect
import collections
import fractions
import functools
import math

from .arithmetic import common, common_with_one, fraction, length, statistics, times_of, union
from .events import CLASSES


@functools.lru_cache(maxsize=4)
def accounting(view):
    rows = []
    for device, ops in view.by_device().items():
        start, end = view.span(ops)
        everything, compute = times_of(ops), times_of(ops, "compute")
        comm, memory = times_of(ops, "comm"), times_of(ops, "memory")
        compute_or_comm = times_of(ops, "compute", "comm")
        busy = length(everything)
        rows.append({
            "device": device,
            "span_ns": end - start,
            "busy_ns": busy,
            "idle_ns": end - start - busy,
            "compute_ns": length(compute),
            "comm_ns": length(comm),
            "memory_ns": length(memory),
            "exposed_comm_ns": length(comm) - common(comm, compute),
            "exposed_memory_ns": length(memory) - common(memory, compute_or_comm),
            "overlap_ns": common(comm, compute),
            "sum_ns": sum(op.ns for op in ops),
            "utilisation": fraction(busy, end - start),
        })
    return rows


def accounting_summary(view):
    """Mean, least and largest over the devices; never their sum."""
    rows = accounting(view)
    columns = [key for key in rows[0] if key != "device"] if rows else []
    return [
        {"measure": measure, **{key: combine([row[key] for row in rows]) for key in columns}}
        for measure, combine in (("mean", lambda values: sum(values) / len(values)), ("min", min), ("max", max))
        if rows
    ]


def charged(view):
    """Each op with the wall time charged to it alone: compute, then comm, then memory, then the earlier op."""
    result = []
    for ops in view.by_device().values():
        stronger = []
        for time_class in CLASSES:
            reached = -math.inf
            for op in ops:
                if op.time_class == time_class:
                    start = max(op.start, reached)
                    reached = max(reached, op.end)
                    own = max(0, op.end - start)
                    result.append((op, own - common_with_one(stronger, start, op.end) if own else 0))
            stronger = union(stronger + times_of(ops, time_class))
    return result


def categories(view):
    """By kind of time: which category a kernel has inside its kind is for the rules to say, not for the judge."""
    rows = {}
    for op, wall in charged(view):
        row = rows.setdefault(op.time_class, {"time_class": op.time_class, "count": 0, "total_ns": 0, "wall_ns": 0})
        row["count"] += 1
        row["total_ns"] += op.ns
        row["wall_ns"] += wall
    busy = sum(row["wall_ns"] for row in rows.values())
    for row in rows.values():
        row["share"] = fraction(row["wall_ns"], busy)
    return list(rows.values())


def kernels(view):
    groups = collections.defaultdict(list)
    for op in view.ops:
        if op.kind in ("kernel", "graph"):
            groups[op.name].append(op.ns)
    total, launches = sum(map(sum, groups.values())), sum(map(len, groups.values()))
    rows = []
    for name, values in groups.items():
        row = {"name": name, **statistics(values)}
        row["share"] = fraction(row["total_ns"], total)
        row["launch_share"] = fraction(row["count"], launches)
        rows.append(row)
    return rows


def memory(view):
    groups = collections.defaultdict(list)
    for op in view.ops:
        if op.kind in ("memcpy", "memset"):
            groups[op.name].append(op)
    total = sum(op.ns for ops in groups.values() for op in ops)
    rows = []
    for name, ops in groups.items():
        numbers = statistics([op.ns for op in ops])
        sizes = [op.bytes for op in ops if op.bytes is not None]
        rows.append({
            "name": name,
            **{key: numbers[key] for key in numbers if not key.startswith("p9")},
            "bytes": sum(sizes) if sizes else None,
            "share": fraction(numbers["total_ns"], total),
        })
    return rows


def stream_gap_details(view):
    """(device, stream, start, end, ops that ended last, op that ends the gap) of every stream gap."""
    for (device, stream), ops in view.by_stream().items():
        reached, last = ops[0].end, [ops[0]]
        for op in ops[1:]:
            if op.start > reached:
                yield device, stream, reached, op.start, last, op
            if op.end > reached:
                reached, last = op.end, [op]
            elif op.end == reached:
                last = last + [op]


@functools.lru_cache(maxsize=4)
def stream_gaps(view):
    """Of several ops that ended at the same instant, the one that came last in order is the one before the gap."""
    origin = view.trace.origin
    return [
        {
            "device": device,
            "stream": stream,
            "start_ns": start - origin,
            "end_ns": end - origin,
            "gap_ns": end - start,
            "after": last[-1].name,
            "before": op.name,
        }
        for device, stream, start, end, last, op in stream_gap_details(view)
    ]


def streams(view):
    gaps = collections.defaultdict(list)
    for gap in stream_gaps(view):
        gaps[gap["device"], gap["stream"]].append(gap["gap_ns"])
    spans = {row["device"]: row["span_ns"] for row in accounting(view)}
    return [
        {
            "device": device,
            "stream": stream,
            "count": len(ops),
            "busy_ns": length(times_of(ops)),
            "busy_share": fraction(length(times_of(ops)), spans[device]),
            "gap_count": len(gaps[device, stream]),
            "gap_ns": sum(gaps[device, stream]),
        }
        for (device, stream), ops in view.by_stream().items()
    ]


def transitions(view):
    groups = collections.defaultdict(list)
    for gap in stream_gaps(view):
        groups[gap["after"], gap["before"]].append(gap["gap_ns"])
    total = sum(map(sum, groups.values()))
    return [
        {
            "from": before,
            "to": after,
            **{key: value for key, value in statistics(values).items() if not key.startswith("p9")},
            "share": fraction(sum(values), total),
        }
        for (before, after), values in groups.items()
    ]


def histogram(view, least_us=None, most_us=None, bins=None):
    """Bins of the stream gaps between the bounds: from 1, 2 and 5 times powers of ten, or so many equal ones."""
    least = -math.inf if least_us is None else fractions.Fraction(least_us) * 1000
    most = math.inf if most_us is None else fractions.Fraction(most_us) * 1000
    gaps = [gap["gap_ns"] for gap in stream_gaps(view) if least <= gap["gap_ns"] <= most]
    if not gaps:
        return []
    if bins is None:
        edges = [digit * 10**power for power in range(19) for digit in (1, 2, 5)]
        first, last = (bisect.bisect_right(edges, gap) - 1 for gap in (min(gaps), max(gaps)))
        edges = edges[first:last + 2]
    else:
        bins = bins if min(gaps) < max(gaps) else 1
        edges = [min(gaps) + fractions.Fraction(i * (max(gaps) - min(gaps)), bins) for i in range(bins + 1)]
    counts = [[] for _ in edges[1:]]
    for gap in gaps:
        counts[min(bisect.bisect_right(edges, gap) - 1, len(counts) - 1)].append(gap)
    return [
        {
            "from_ns": start,
            "to_ns": end,
            "count": len(inside),
            "total_ns": sum(inside),
            "share": fraction(sum(inside), sum(gaps)),
        }
        for start, end, inside in zip(edges, edges[1:], counts)
    ]


def overlaps(view):
    """Ops that start before an earlier op of their stream has ended."""
    count = 0
    for ops in view.by_stream().values():
        reached = -math.inf
        for op in ops:
            count += op.start < reached
            reached = max(reached, op.end)
    return count
