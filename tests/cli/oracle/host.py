"""Tables of what the program asked for: launches, steps and processes."""

import collections
import fractions
import functools

from .arithmetic import common, fraction, length, median, quantile, times_of
from .events import CLASSES


def queue_time(view, op):
    """From the end of the launch call to the start of the op; None without call, or when the op started before."""
    start = view.trace.ops[op.row].start
    return start - op.call.end if op.call is not None and start >= op.call.end else None


def queue_columns(waits):
    waits = sorted(wait for wait in waits if wait is not None)
    return {
        "queued": len(waits),
        "queue_p50_ns": float(quantile(waits, fractions.Fraction(1, 2))) if waits else None,
        "queue_p90_ns": float(quantile(waits, fractions.Fraction(9, 10))) if waits else None,
        "queue_max_ns": waits[-1] if waits else None,
    }


def total_of(waits):
    waits = [wait for wait in waits if wait is not None]
    return sum(waits) if waits else None


def kernel_launches(view):
    groups = collections.defaultdict(list)
    for op in view.ops:
        if op.kind == "kernel":
            groups[op.name].append(queue_time(view, op))
    return [{"name": name, "count": len(waits), **queue_columns(waits), "queue_ns": total_of(waits)}
            for name, waits in groups.items()]


@functools.lru_cache(maxsize=4)
def launches(view):
    """By launch call: how many calls started selected ops, their time, and how long the ops then queued. Without a
    selection, calls that launch by their name count too, even if what they launched is not in the trace."""
    groups, queues = collections.defaultdict(dict), collections.defaultdict(list)
    for op in view.ops:
        if op.call is not None:
            groups[op.call.plain_name][op.call.row] = op.call
            queues[op.call.plain_name].append(queue_time(view, op))
    if view.is_whole:
        seen = {(call.pid, call.correlation) for calls in groups.values() for call in calls.values()}
        for call in view.trace.calls:
            if call.launches_by_name and (call.pid, call.correlation) not in seen:
                groups[call.plain_name][call.row] = call
                seen |= {(call.pid, call.correlation)} if call.correlation is not None else set()
    rows = []
    for name, calls in groups.items():
        times = [call.end - call.start for call in calls.values()]
        row = {"name": name, "count": len(calls), "total_ns": sum(times), "max_ns": max(times)}
        rows.append({**row, "avg_ns": sum(times) / len(times), **queue_columns(queues[name])})
    return rows


def steps(view):
    """Each step on each device: when the ops it launched ran. Where nothing was left out, a step that launched none has
    a separate row."""
    groups = collections.defaultdict(list)
    for op in view.ops:
        if op.step is not None:
            groups[id(op.step)].append(op)
    origin, rows = view.trace.origin, []
    for step in view.trace.steps:
        for device in sorted({op.device for op in groups[id(step)]}) or [None] * view.is_whole:
            ops = [op for op in groups[id(step)] if op.device == device]
            compute, comm, memory = (times_of(ops, time_class) for time_class in CLASSES)
            compute_or_comm, span = times_of(ops, "compute", "comm"), None
            if ops:
                span = max(op.end for op in ops) - min(op.start for op in ops)
            rows.append({
                "step": step.number,
                "pid": step.pid,
                "device": device,
                "start_ns": min(op.start for op in ops) - origin if ops else None,
                "end_ns": max(op.end for op in ops) - origin if ops else None,
                "ops": len(ops),
                "busy_ns": length(times_of(ops)),
                "cpu_start_ns": step.start - origin,
                "cpu_end_ns": step.end - origin,
                "state": step_state(view.trace.steps, step),
                "compute_ns": length(compute) if ops else None,
                "exposed_comm_ns": length(comm) - common(comm, compute) if ops else None,
                "exposed_memory_ns": length(memory) - common(memory, compute_or_comm) if ops else None,
                "idle_ns": span - length(times_of(ops)) if ops else None,
                "comm_ns": length(comm) if ops else None,
                "memory_ns": length(memory) if ops else None,
                "overlap_ns": common(comm, compute) if ops else None,
                "sum_ns": sum(op.ns for op in ops) if ops else None,
            })
    return rows


def step_state(steps, step):
    """Over 1.5 times the median is an outlier; before the first step that is not, it is warm-up."""
    usual = [one for one in steps if one.end - one.start <= 1.5 * median([two.end - two.start for two in steps])]
    if any(one is step for one in usual):
        return "steady"
    return "warm-up" if steps.index(step) < min(map(steps.index, usual), default=len(steps)) else "outlier"


def processes(view):
    groups = collections.defaultdict(list)
    for op in view.ops:
        groups[op.call.pid if op.call is not None else None].append(op)
    total = sum(op.ns for op in view.ops)
    return [
        {
            "pid": pid,
            "ops": len(ops),
            "kernels": sum(op.kind == "kernel" for op in ops),
            "total_ns": sum(op.ns for op in ops),
            "share": fraction(sum(op.ns for op in ops), total),
        }
        for pid, ops in groups.items()
    ]
