"""The judge: reads a Kineto trace with Python's json and works out every number as plainly as the definitions allow.

In: a trace file and a selection. Out: the tables of the report as lists of dictionaries with the same keys. It shares
nothing with the program but the definitions, and prefers being obviously right to being fast.
"""

from .arithmetic import length, statistics, union
from .events import CLASSES, Call
from .gpu import (
    accounting, accounting_summary, categories, histogram, kernels, memory, overlaps, stream_gaps, streams, transitions,
)
from .host import kernel_launches, launches, processes, steps
from .idle import device_gaps, idle_causes, idle_causes_all, idle_host, idle_work, operators
from .reading import load, nanoseconds
from .selection import Selection, View
from .summary import facts, kernel_facts, stream_gap_facts

__all__ = [
    "CLASSES", "Call", "Selection", "TABLES", "View", "accounting", "categories", "device_gaps", "facts", "histogram",
    "kernel_facts", "length", "load", "nanoseconds", "overlaps", "report", "statistics", "stream_gap_facts",
    "stream_gaps", "union",
]

TABLES = {
    "accounting": accounting,
    "accounting_summary": accounting_summary,
    "categories": categories,
    "kernels": kernels,
    "memory": memory,
    "streams": streams,
    "stream_gaps": stream_gaps,
    "transitions": transitions,
    "gaps": device_gaps,
    "idle_causes": idle_causes,
    "idle_causes_all": idle_causes_all,
    "operators": operators,
    "idle_host": idle_host,
    "idle_work": idle_work,
    "histogram": histogram,
    "launches": launches,
    "kernel_launches": kernel_launches,
    "steps": steps,
    "processes": processes,
}


def report(trace, selection=None):
    view = View(trace, selection)
    return {key: make(view) for key, make in TABLES.items()}
