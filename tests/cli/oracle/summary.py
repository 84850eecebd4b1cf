"""The single numbers of reports."""

import fractions

from .arithmetic import statistics
from .gpu import accounting, stream_gaps
from .host import launches


def facts(view):
    """The single numbers of the summary; what the trace lacks has none."""
    rows = accounting(view)
    first, last = view.window or (min((op.start for op in view.ops), default=0), max((op.end for op in view.ops), default=0))
    processes = {op.call.pid for op in view.ops if op.call is not None}
    steps = {id(op.step) for op in view.ops if op.step is not None}
    kernel_names = {op.name for op in view.ops if op.kind == "kernel"}
    result = {
        "ops": len(view.ops),
        "kernels": sum(op.kind == "kernel" for op in view.ops),
        "kernel_launches": sum(op.kind == "kernel" for op in view.ops),
        "kernel_names": len(kernel_names),
        "memory_ops": sum(op.kind in ("memcpy", "memset") for op in view.ops),
        "devices": len(rows),
        "streams": len(view.by_stream()),
        "span_ns": last - first,
        "busy_share": fractions.Fraction(sum(row["utilisation"] for row in rows)) / len(rows) if rows else None,
        "kernel_time_ns": sum(op.ns for op in view.ops if op.kind == "kernel"),
    }
    if view.trace.calls:
        result["launch_calls"] = sum(row["count"] for row in launches(view))
    if processes:
        result["processes"] = len(processes)
    if view.trace.steps:
        result["steps"] = len(view.trace.steps) if view.is_whole else len(steps)
    return result


def kernel_facts(view):
    return {key: value for key, value in facts(view).items() if key in ("kernel_names", "kernel_launches", "kernel_time_ns")}


def stream_gap_facts(view):
    lengths = [gap["gap_ns"] for gap in stream_gaps(view)]
    result = {"count": len(lengths), "total_ns": sum(lengths)}
    if lengths:
        numbers = statistics(lengths)
        result |= {"avg_ns": numbers["avg_ns"], "p50_ns": numbers["median_ns"], "p90_ns": numbers["p90_ns"],
                   "p99_ns": numbers["p99_ns"]}
    return {f"stream_gap_{key}": value for key, value in result.items()}
