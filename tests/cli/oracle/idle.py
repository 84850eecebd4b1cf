"""Tables of why a GPU was idle: the gaps of devices, their causes and what the launching thread did at that time."""

import bisect
import collections
import fractions
import functools
import math

from .arithmetic import common_with_one, fraction, length, median, statistics, times_of, union

OUTSIDE = "(outside ranges and operators)"


@functools.lru_cache(maxsize=4)
def all_gaps(view):
    """Each device gap, its parts and the call that launched the op after it."""
    gaps = []
    for device, ops in view.by_device().items():
        gaps.extend(gaps_of_device(view, device, ops))
    return sorted(gaps, key=lambda gap: (-gap[0]["gap_ns"], gap[0]["device"], gap[0]["start_ns"]))


def device_gaps(view):
    return [gap for gap, _, _ in all_gaps(view)]


def gap_parts(view):
    """What the accounts by cause count and sum."""
    return [part for _, parts, _ in all_gaps(view) for part in parts]


def gaps_of_device(view, device, ops):
    start, end = view.span(ops)
    busy = times_of(ops)
    edges = [start] + [edge for interval in busy for edge in interval] + [end]
    holes = [(a, b) for a, b in zip(edges[::2], edges[1::2]) if a < b]
    enders = {}
    for op in sorted(ops, key=lambda op: (op.stream, op.row)):
        enders.setdefault(op.start, op)
    ended_at = {op.end: op for op in ops}  # in order, so that of several the last one stays
    calls = {a: ender_call(enders.get(b)) for a, b in holes}
    latency = median([b - calls[a].end for a, b in holes if calls[a] is not None and calls[a].end >= a])
    causes = {a: cause_of(view, a, b, enders.get(b), calls[a], latency) for a, b in holes}
    waits = median([b - a for a, b in holes if causes[a] == "dependency"]) or 0
    origin = view.trace.origin
    for a, b in holes:
        parts = parts_of(a, b, causes[a], calls[a], latency)
        lengths = [part_end - part_start for part_start, part_end, _ in parts]
        cause = parts[lengths.index(max(lengths))][2]
        yield {
            "device": device,
            "start_ns": a - origin,
            "end_ns": b - origin,
            "gap_ns": b - a,
            "cause": cause,
            "activity": activity(view, calls[a], a) if cause == "host" else None,
            "recoverable_ns": sum(recoverable(length, part[2], waits) for length, part in zip(lengths, parts)),
            "queued_ns": sum(lengths[1:]),
            "after": ended_at[a].name if a in ended_at else None,
            "before": enders[b].name if b in enders else None,
            "call": calls[a].plain_name if calls[a] is not None else None,
            **surroundings(view, a, calls[a], cause),
        }, [{
            "device": device,
            "start_ns": part_start - origin,
            "end_ns": part_end - origin,
            "gap_ns": part_end - part_start,
            "cause": part_cause,
            "activity": activity(view, calls[a], a) if part_cause == "host" else None,
            "recoverable_ns": recoverable(part_end - part_start, part_cause, waits),
        } for part_start, part_end, part_cause in parts], calls[a]


def parts_of(a, b, cause, call, latency):
    """A gap as (start, end, cause); two of them where its op was asked for during the gap and started late."""
    if cause not in ("sync", "host", "launch") or call.end <= a:
        return [(a, b, cause)]
    limit = min(200_000, max(10_000, 4 * latency))
    if b - call.end <= limit:
        return [(a, b, cause)]
    reached_gpu = min(b, call.end + max(0, math.floor(latency)))
    parts = [(a, reached_gpu, cause), (reached_gpu, b, "dependency")]
    return [part for part in parts if part[0] < part[1]]


def recoverable(ns, cause, waits):
    return max(0, ns - waits) if cause in ("sync", "host", "launch") else 0


def surroundings(view, a, call, cause):
    """Where the launching thread was: the operator of the launch, and what kept it for most of the time until then."""
    around = operator_of(view.trace, call)
    result = {"operator": around and around.name}
    if cause not in ("sync", "host"):
        return result | {"meanwhile": None}
    longest, spent = None, 0
    for other in earlier(view.trace, "call", call, a):
        inside = min(other.end, call.start) - max(other.start, a)
        if inside > spent or (inside == spent > 0 and other.row < longest.row):
            longest, spent = other, inside
    if spent > (call.start - a) // 2:
        return result | {"meanwhile": longest.plain_name}
    work = work_during(view, call, a)
    return result | {"meanwhile": None if work == OUTSIDE else work}


def earlier(trace, kind, call, since):
    """What the thread of a call had begun by then and may have been in at a time, the latest first."""
    if "begun" not in trace.covers:
        trace.covers["begun"] = begun = collections.defaultdict(list)
        for row, code in enumerate(code for code in trace.code if not code.is_annotation):
            begun["operator", code.pid, code.tid].append((code.start, -code.end, row, code))
        for other in trace.calls:
            begun["call", other.pid, other.tid].append((other.start, -other.end, other.row, other))
        for events in begun.values():
            events.sort(key=lambda event: event[:3])
        trace.covers["longest"] = {key: max(-event[1] - event[0] for event in events) for key, events in begun.items()}
    key = kind, call.pid, call.tid
    events = trace.covers["begun"].get(key, [])
    for place in range(bisect.bisect_right(events, call.start, key=lambda event: event[0]) - 1, -1, -1):
        if events[place][0] + trace.covers["longest"][key] < since:
            return
        yield events[place][3]


def operator_of(trace, call):
    """The innermost operator around a call."""
    if call is None:
        return None
    key = "operator", call.row
    if key not in trace.covers:
        trace.covers[key] = next((code for code in earlier(trace, "operator", call, call.end) if code.end >= call.end), None)
    return trace.covers[key]


def operators(view):
    groups, total = collections.defaultdict(list), sum(op.ns for op in view.ops)
    for op in view.ops:
        if (around := operator_of(view.trace, op.call)) is not None:
            groups[around.name].append(op)
    return [{
        "name": name,
        "calls": len({op.call.row for op in ops}),
        "ops": len(ops),
        "total_ns": sum(op.ns for op in ops),
        "avg_ns": fractions.Fraction(sum(op.ns for op in ops), len(ops)),
        "share": fraction(sum(op.ns for op in ops), total),
    } for name, ops in groups.items()]


def idle_causes_all(view):
    groups, gaps = collections.defaultdict(list), gap_parts(view)
    for gap in gaps:
        groups[gap["cause"]].append(gap)
    return [{
        "cause": cause,
        "count": len(members),
        "total_ns": sum(gap["gap_ns"] for gap in members),
        "longest_ns": max(gap["gap_ns"] for gap in members),
        "recoverable_ns": sum(gap["recoverable_ns"] for gap in members),
        "share": fraction(sum(gap["gap_ns"] for gap in members), sum(gap["gap_ns"] for gap in gaps)),
    } for cause, members in groups.items()]


def ender_call(op):
    return op.call if op is not None else None


def cause_of(view, a, b, op, call, latency):
    if op is None:
        return "end"
    if call is None:
        return "unknown"
    if call.start > a:
        return "sync" if 2 * covered_time(view, "blocking", call, a) > call.start - a else "host"
    if call.end > a or b - call.end <= (latency if latency is not None else -1):
        return "launch"
    return "dependency"


def covered_time(view, kind, call, a):
    """How much of [a, call.start) the thread of the call spent inside what is of that kind."""
    trace = view.trace
    if "blocking" not in trace.covers:
        trace.covers["blocking"] = by_thread(call for call in trace.calls if call.blocks_host)
        trace.covers["calls"] = by_thread(trace.calls)
        trace.covers["code"] = by_thread(trace.code)
    return common_with_one(trace.covers[kind].get((call.pid, call.tid), []), a, call.start)


def by_thread(events):
    threads = collections.defaultdict(list)
    for event in events:
        threads[event.pid, event.tid].append((event.start, event.end))
    return {thread: union(intervals) for thread, intervals in threads.items()}


def activity(view, call, a):
    """What the launching thread did while the GPU waited for it."""
    if 2 * covered_time(view, "calls", call, a) > call.start - a:
        return "in API calls"
    if 2 * covered_time(view, "code", call, a) > call.start - a:
        return "in ranges or operators"
    return "in untraced code"


def idle_causes(view):
    groups, idle = collections.defaultdict(list), collections.Counter()
    for gap in gap_parts(view):
        groups[gap["device"], gap["cause"]].append(gap)
        idle[gap["device"]] += gap["gap_ns"]
    return [
        {
            "device": device,
            "cause": cause,
            "count": len(gaps),
            "total_ns": sum(gap["gap_ns"] for gap in gaps),
            "longest_ns": max(gap["gap_ns"] for gap in gaps),
            "recoverable_ns": sum(gap["recoverable_ns"] for gap in gaps),
            "share": fraction(sum(gap["gap_ns"] for gap in gaps), idle[device]),
        }
        for (device, cause), gaps in groups.items()
    ]


@functools.lru_cache(maxsize=64)
def outermost_code(view, pid, tid):
    """What no other range or operator of the thread encloses, as (start, end, name) that do not overlap."""
    code = [(event.start, -event.end, not event.is_annotation, index, event.name)
            for index, event in enumerate(view.trace.code)
            if (event.pid, event.tid) == (pid, tid) and event.end > event.start]
    reached, result = None, []
    for start, minus_end, _, _, name in sorted(code):
        if reached is None or -minus_end > reached:
            result.append((start if reached is None else max(start, reached), -minus_end, name))
            reached = -minus_end
    return result


def work_during(view, call, a):
    outermost = outermost_code(view, call.pid, call.tid)
    first = max(0, bisect.bisect_left(outermost, (a,)) - 1)
    last = bisect.bisect_left(outermost, (call.start,))
    parts = [(max(0, min(end, call.start) - max(start, a)), name) for start, end, name in outermost[first:last]]
    longest = max((length for length, _ in parts), default=0)
    name = next((name for length, name in parts if length == longest and length), "")
    return (2 * sum(length for length, _ in parts) > call.start - a and name) or OUTSIDE


def idle_work(view):
    groups, idle = collections.defaultdict(list), collections.Counter()
    for _, (gap, *_), call in all_gaps(view):
        if gap["cause"] == "host":
            name = work_during(view, call, gap["start_ns"] + view.trace.origin)
            groups[gap["device"], name].append(gap["gap_ns"])
            idle[gap["device"]] += gap["gap_ns"]
    return [
        {
            "device": device,
            "name": name,
            "count": len(gaps),
            "total_ns": sum(gaps),
            "longest_ns": max(gaps),
            "stddev_ns": statistics(gaps)["stddev_ns"],
            "share": fraction(sum(gaps), idle[device]),
        }
        for (device, name), gaps in groups.items()
    ]


def idle_host(view):
    groups, idle = collections.defaultdict(list), collections.Counter()
    for gap in gap_parts(view):
        if gap["cause"] == "host":
            groups[gap["device"], gap["activity"]].append(gap["gap_ns"])
            idle[gap["device"]] += gap["gap_ns"]
    return [
        {
            "device": device,
            "activity": activity,
            "count": len(gaps),
            "total_ns": sum(gaps),
            "longest_ns": max(gaps),
            "share": fraction(sum(gaps), idle[device]),
        }
        for (device, activity), gaps in groups.items()
    ]
