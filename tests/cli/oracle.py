"""The judge: reads a Kineto trace with Python's json and works out every number as plainly as the definitions allow.

In: a trace file and a selection. Out: the tables of the report as lists of dictionaries with the same keys. It shares
nothing with the program but the definitions, and prefers being obviously right to being fast.
"""

import bisect
import collections
import dataclasses
import decimal
import fractions
import functools
import gzip
import json
import math
import re
import subprocess
import sys

INT64_MAX = 2**63 - 1
DECIMALS = decimal.Context(prec=400)

COMM_WORDS = (
    "nccl rccl msccl nvshmem deep_ep deepep cross_device_reduce allreduce all_reduce allgather all_gather "
    "reducescatter reduce_scatter alltoall all_to_all"
).split()
CLASSES = ("compute", "comm", "memory")
OP_KINDS = {
    "kernel": "kernel",
    "gpu_memcpy": "memcpy",
    "memcpy": "memcpy",
    "gpu_memset": "memset",
    "memset": "memset",
    "gpu_op": None,  # the name decides
}
CALL_CATEGORIES = {"cuda_runtime", "cuda_driver", "runtime", "hip_runtime", "driver"}
CODE_CATEGORIES = {"cpu_op", "operator", "user_annotation"}  # what tells where in the program a thread was


def numbered(word):
    return re.compile(rf"(?<![a-z]){word}[ _:#=-]{{0,2}}(\d+)(?! *[a-z0-9_])", re.IGNORECASE)


STEP_KINDS = [  # the clearest first; a trace's steps are all of the first kind that it has
    numbered("ProfilerStep#"), numbered("step"), numbered("step_num"), numbered("iteration"), numbered("iter"),
    re.compile("train_step()$", re.IGNORECASE), re.compile("training_step()$", re.IGNORECASE),
    re.compile("execute_context_()", re.IGNORECASE), re.compile("execute_new_()", re.IGNORECASE),
    re.compile(r"step\[()", re.IGNORECASE), re.compile("execute_model()$", re.IGNORECASE),
    re.compile("step()$", re.IGNORECASE), re.compile("iteration()$", re.IGNORECASE), numbered("batch"),
    numbered("request"),
]
SYNC_CALL = re.compile(r"(cuda|cu|hip)(Device|Stream|Event|Ctx)Synchronize")
BLOCKING_COPY = re.compile(r"(cuda|cu|hip)Mem(cpy|set)(?!.*Async)")
CALL_SUFFIX = re.compile(r"(_v\d+|_ptsz|_ptds)+$")
OUTSIDE = "(outside ranges and operators)"
NSIGHT_SUFFIX = re.compile(r"(_v\d{4,}|_ptsz|_ptds)+$")  # a short version is the driver's own: cuMemcpyDtoH_v2


@dataclasses.dataclass(slots=True)
class Call:
    row: int
    name: str
    start: int
    end: int
    pid: object
    tid: object
    correlation: object

    @property
    def plain_name(self):
        return NSIGHT_SUFFIX.sub("", self.name)

    @property
    def launches_by_name(self):
        return "Launch" in self.name and "HostFunc" not in self.name

    @property
    def blocks_host(self):
        name = CALL_SUFFIX.sub("", self.name)
        return bool(SYNC_CALL.fullmatch(name) or BLOCKING_COPY.match(name))


@dataclasses.dataclass(slots=True)
class Op:
    row: int
    kind: str
    name: str
    start: int
    end: int
    device: int
    stream: int
    correlation: object
    bytes: object
    call: object = None
    step: object = None

    @property
    def ns(self):
        return self.end - self.start

    @property
    def time_class(self):
        if self.kind in ("memcpy", "memset"):
            return "memory"
        return "comm" if self.kind == "kernel" and is_communication(self.name) else "compute"


@dataclasses.dataclass(slots=True)
class Step:
    number: int
    start: int
    end: int
    pid: object


@dataclasses.dataclass(slots=True)
class Code:
    """An operator or annotation on a CPU thread."""

    start: int
    end: int
    pid: object
    tid: object
    name: str = ""
    is_annotation: bool = False


@dataclasses.dataclass
class Trace:
    ops: list
    calls: list
    steps: list
    code: list
    issues: collections.Counter
    origin: int  # start of the first op; 0 without ops
    base: int
    events: int
    covers: dict = dataclasses.field(default_factory=dict)  # by kind and thread: when it was inside something of the kind


@dataclasses.dataclass
class Selection:
    from_ns: int | None = None  # from the first op
    to_ns: int | None = None
    steps: set | None = None
    devices: set | None = None
    streams: set | None = None
    processes: set | None = None
    classes: set | None = None
    name: str | None = None


@functools.lru_cache(maxsize=None)
def is_communication(name):
    name = name.lower()
    return not name.startswith("triton_") and any(word in name for word in COMM_WORDS)


# ---- reading -------------------------------------------------------------------------------------------------------


def read_bytes(path):
    with open(path, "rb") as file:
        raw = file.read()
    if raw[:2] == b"\x1f\x8b":
        return gzip.decompress(raw)
    if raw[:4] == b"\x28\xb5\x2f\xfd":
        return subprocess.run(["zstd", "-dc"], input=raw, stdout=subprocess.PIPE, check=True).stdout
    return raw


def first_wins(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        for key, value in reversed(pairs):
            result[key] = value
    return result


def number(value):
    """A JSON number, or a string that holds one, as an exact Decimal; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", value):
            return None
    elif not isinstance(value, (int, decimal.Decimal)):
        return None
    result = decimal.Decimal(value)
    return result if result.is_finite() else None


def nanoseconds(value):
    """Microseconds to integer ns, half away from zero; None when it is no number or does not fit 64 bits."""
    if type(value) is int:
        return value * 1000 if abs(value) * 1000 <= INT64_MAX else None
    exact = number(value)
    if exact is None or exact.adjusted() > 20:
        return None
    if exact.adjusted() < -30:
        return 0
    result = int(exact.scaleb(3, DECIMALS).to_integral_value(decimal.ROUND_HALF_UP, DECIMALS))
    return result if abs(result) <= INT64_MAX else None


def integer(value):
    if type(value) is int:
        return value
    exact = number(value)
    if exact is None or exact.adjusted() > 20 or exact != exact.to_integral_value():
        return None
    return int(exact)


def stream_number(args, event):
    stream = integer(args.get("stream"))
    if stream is not None:
        return stream
    tid = event.get("tid")
    if isinstance(tid, str) and (match := re.fullmatch(r"stream (\d+)", tid)):
        return int(match[1])
    tid = integer(tid)
    return 0 if tid is None else tid


def op_kind(category, name):
    if category != "gpu_op":
        return OP_KINDS[category]
    lower = name.lower()
    return "memcpy" if lower.startswith("memcpy") else "memset" if lower.startswith("memset") else "kernel"


def parse(raw):
    text = raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    document = json.loads(text, strict=False, parse_float=decimal.Decimal, object_pairs_hook=first_wins)
    if isinstance(document, dict):
        return document.get("traceEvents", []), integer(document.get("baseTimeNanoseconds")) or 0
    return document, 0


def load(path):
    events, base = parse(read_bytes(path))
    trace = Trace([], [], [], [], collections.Counter(), 0, base, len(events))
    for event in events:
        if isinstance(event, dict) and event.get("ph") == "X":
            add_event(trace, event)
    match_calls(trace)
    find_steps(trace)
    match_steps(trace)
    trace.origin = min((op.start for op in trace.ops), default=0)
    return trace


def add_event(trace, event):
    category = event.get("cat")
    category = category.lower() if isinstance(category, str) else ""
    name = event.get("name", "")
    name = name if isinstance(name, str) else ""
    is_annotation = category == "user_annotation" or (
        category != "gpu_user_annotation" and re.fullmatch(r"ProfilerStep#\d+", name))
    if not (category in OP_KINDS or category in CALL_CATEGORIES | CODE_CATEGORIES or is_annotation):
        return
    start, length = nanoseconds(event.get("ts")), nanoseconds(event.get("dur", 0)) or 0
    args = event.get("args")
    args = args if isinstance(args, dict) else {}
    if category in OP_KINDS:
        add_op(trace, event, args, op_kind(category, name), name, start, length)
    elif start is not None:
        if length < 0:
            trace.issues["call_negative_duration"] += 1
            length = 0
        if category in CALL_CATEGORIES:
            call = Call(len(trace.calls), name, start, start + length, event.get("pid"), event.get("tid"), None)
            call.correlation = integer(args.get("correlation"))
            trace.calls.append(call)
        else:
            trace.code.append(Code(start, start + length, event.get("pid"), event.get("tid"), name, bool(is_annotation)))


def search_step(kind, name):
    name = name.removeprefix(":")
    return kind.search(name) if kind.pattern[0] == "(" else kind.match(name)


def find_steps(trace):
    """Moves the annotations that are steps from the code to the steps."""
    for kind in STEP_KINDS:
        search = functools.partial(search_step, kind)
        found = [(code, search(code.name)) for code in trace.code if code.is_annotation and search(code.name)]
        found = [(code, hit) for code, hit in found if int(hit[1] or 0) <= INT64_MAX]
        if found:
            break
    else:
        return
    chosen = {id(code) for code, _ in found}
    trace.code = [code for code in trace.code if id(code) not in chosen]
    trace.steps = [Step(int(hit[1] or 0), code.start, code.end, code.pid) for code, hit in found]
    trace.steps.sort(key=lambda step: (step.start, step.number))
    for place, step in enumerate(trace.steps):
        step.number = step.number if found[0][1][1] else place


def add_op(trace, event, args, kind, name, start, length):
    if start is None:
        trace.issues["op_without_time"] += 1
        return
    if length < 0:
        trace.issues["op_negative_duration"] += 1
        return
    device = integer(args.get("device"))
    if device is None:
        device = integer(event.get("pid"))
    if device is None:
        trace.issues["op_without_device"] += 1
        device = 0
    trace.issues["op_zero_length"] += length == 0
    trace.issues["op_without_name"] += name == ""
    op = Op(len(trace.ops), kind, name, start, start + length, device, stream_number(args, event), None, None)
    op.correlation = integer(args.get("correlation"))
    op.bytes = integer(args.get("bytes"))
    trace.ops.append(op)


def match_calls(trace):
    """An op's launch call has its correlation id. Kineto does not say whose op it is, so where several processes use
    the id, it is the process that launched most of the device's other ops, if there is such a one."""
    zeros = collections.Counter(call.pid for call in trace.calls if call.correlation == 0)
    by_correlation = collections.defaultdict(list)
    for call in trace.calls:
        # Several calls with id 0 mean that there is no id.
        if call.correlation is not None and not (call.correlation == 0 and zeros[call.pid] > 1):
            by_correlation[call.correlation].append(call)
    unclear, votes = [], collections.defaultdict(collections.Counter)
    for op in trace.ops:
        calls = by_correlation.get(op.correlation, []) if op.correlation is not None else []
        if len({call.pid for call in calls}) > 1:
            unclear.append((op, calls))
        elif (call := launch_call(op, calls)) is not None:
            op.call = call
            votes[op.device][call.pid] += 1
        elif trace.calls:
            trace.issues["op_without_call"] += 1
    for op, calls in unclear:
        for pid, count in votes[op.device].items():
            if 2 * count > votes[op.device].total():
                op.call = launch_call(op, [call for call in calls if call.pid == pid])
        trace.issues["launch_ambiguous"] += op.call is None


def launch_call(op, calls):
    """The earliest, then the longest; none if it began only after the op had ended."""
    first = min(calls, key=lambda call: (call.start, call.start - call.end, call.row), default=None)
    return first if first is not None and first.start <= op.end else None


def match_steps(trace):
    for op in trace.ops:
        if op.call is not None:
            for step in trace.steps:
                if step.pid == op.call.pid and step.start <= op.call.start and op.call.end <= step.end:
                    op.step = step
                    break


# ---- selection -----------------------------------------------------------------------------------------------------


def is_wanted(op, selection):
    """Whether the selection takes an op, leaving the window aside."""
    return (
        (selection.devices is None or op.device in selection.devices)
        and (selection.streams is None or op.stream in selection.streams)
        and (selection.processes is None or (op.call is not None and op.call.pid in selection.processes))
        and (selection.classes is None or op.time_class in selection.classes)
        and (selection.name is None or selection.name.lower() in op.name.lower())
        and (selection.steps is None or (op.step is not None and op.step.number in selection.steps))
    )


class View:
    """The chosen ops, clipped to the window, in the order that decides ties: device, start, longer, stream, row."""

    def __init__(self, trace, selection=None):
        selection = selection or Selection()
        self.trace = trace
        self.last_end = max((op.end for op in trace.ops), default=0)
        self.window = self.find_window(selection)
        wanted = [op for op in trace.ops if is_wanted(op, selection)]
        self.devices = sorted({op.device for op in wanted})
        self.ops = [self.clipped(op) for op in wanted if self.is_inside(op)]
        self.ops.sort(key=lambda op: (op.device, op.start, -op.ns, op.stream, op.row))
        whole = [(op.start, op.end) for op in trace.ops]
        self.is_whole = len(self.ops) == len(whole) and all((op.start, op.end) == whole[op.row] for op in self.ops)

    def find_window(self, selection):
        """Nothing is known outside the trace, so a window ends where the trace does."""
        if selection.from_ns is None and selection.to_ns is None:
            return None
        origin = self.trace.origin
        start = origin if selection.from_ns is None else min(origin + selection.from_ns, self.last_end)
        end = self.last_end if selection.to_ns is None else min(origin + selection.to_ns, self.last_end)
        return start, end

    def is_inside(self, op):
        """Whether some of an op lies in the window. A moment belongs to the window that begins with it, and the very
        last one to the window that reaches to the end."""
        if self.window is None:
            return True
        start, end = self.window
        if op.start == op.end:
            return start <= op.start < end or op.start == end == self.last_end
        return op.start < end and op.end > start

    def clipped(self, op):
        if self.window is None:
            return op
        return dataclasses.replace(op, start=max(op.start, self.window[0]), end=min(op.end, self.window[1]))

    def by_device(self):
        """Devices whose ops the window all leaves out are idle in it, not absent."""
        return {device: [op for op in self.ops if op.device == device] for device in self.devices}

    def by_stream(self):
        groups = collections.defaultdict(list)
        for op in self.ops:
            groups[op.device, op.stream].append(op)
        return dict(sorted(groups.items()))

    def span(self, ops):
        return self.window or (min(op.start for op in ops), max(op.end for op in ops))


# ---- intervals -----------------------------------------------------------------------------------------------------


def union(intervals):
    merged = []
    for start, end in sorted(intervals):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(merged):
    return sum(end - start for start, end in merged)


def common(a, b):
    """Length of the common part of two merged lists."""
    total, i, j = 0, 0, 0
    while i < len(a) and j < len(b):
        total += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total


def common_with_one(merged, start, end):
    """Length of the part of [start, end) that a merged list covers."""
    total = 0
    position = bisect.bisect_right(merged, start, key=lambda item: item[1])
    while position < len(merged) and merged[position][0] < end:
        total += max(0, min(end, merged[position][1]) - max(start, merged[position][0]))
        position += 1
    return total


def times_of(ops, *classes):
    return union((op.start, op.end) for op in ops if not classes or op.time_class in classes)


# ---- statistics ----------------------------------------------------------------------------------------------------


def quantile(values, q):
    """Linear interpolation at q * (n - 1); values sorted, q a Fraction. Exact."""
    place = q * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def median(values):
    return quantile(sorted(values), fractions.Fraction(1, 2)) if values else None


def sample_stddev(values):
    n = len(values)
    if n < 2:
        return 0.0
    total, squares = sum(values), sum(value * value for value in values)
    variance = fractions.Fraction(n * squares - total * total, n * (n - 1))
    # The integer square root at 2^200 times the scale is exact far beyond a double.
    root = math.isqrt((variance.numerator << 400) // variance.denominator)
    return float(fractions.Fraction(root, 1 << 200))


def statistics(values):
    values = sorted(values)
    return {
        "count": len(values),
        "total_ns": sum(values),
        "avg_ns": sum(values) / len(values),
        "min_ns": values[0],
        "median_ns": float(quantile(values, fractions.Fraction(1, 2))),
        "max_ns": values[-1],
        "stddev_ns": sample_stddev(values),
        "p90_ns": float(quantile(values, fractions.Fraction(9, 10))),
        "p99_ns": float(quantile(values, fractions.Fraction(99, 100))),
    }


def fraction(part, whole):
    return part / whole if whole else 0.0


# ---- tables --------------------------------------------------------------------------------------------------------


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


@functools.lru_cache(maxsize=4)
def gaps_with_calls(view):
    """Each device gap and the call that launched the op behind it."""
    pairs = []
    for device, ops in view.by_device().items():
        pairs.extend(gaps_of_device(view, device, ops))
    return sorted(pairs, key=lambda pair: (-pair[0]["gap_ns"], pair[0]["device"], pair[0]["start_ns"]))


def device_gaps(view):
    return [gap for gap, _ in gaps_with_calls(view)]


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
        recoverable = max(0, b - a - waits) if causes[a] in ("sync", "host", "launch") else 0
        yield {
            "device": device,
            "start_ns": a - origin,
            "end_ns": b - origin,
            "gap_ns": b - a,
            "cause": causes[a],
            "activity": activity(view, calls[a], a) if causes[a] == "host" else None,
            "recoverable_ns": recoverable,
            "after": ended_at[a].name if a in ended_at else None,
            "before": enders[b].name if b in enders else None,
            "call": calls[a].plain_name if calls[a] is not None else None,
            **surroundings(view, a, calls[a], causes[a]),
        }, calls[a]


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
    groups, gaps = collections.defaultdict(list), device_gaps(view)
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
        return "inside API calls"
    if 2 * covered_time(view, "code", call, a) > call.start - a:
        return "inside ranges or operators"
    return "outside everything"


def idle_causes(view):
    groups, idle = collections.defaultdict(list), collections.Counter()
    for gap in device_gaps(view):
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
    for gap, call in gaps_with_calls(view):
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
    for gap in device_gaps(view):
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


def kernel_launches(view):
    groups = collections.defaultdict(list)
    for op in view.ops:
        if op.kind == "kernel":
            groups[op.name].append(queue_time(view, op))
    return [{"name": name, "count": len(waits), **queue_columns(waits)} for name, waits in groups.items()]


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
    one row of its own."""
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


def facts(view):
    """The single numbers of the summary; what the trace cannot tell has none."""
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


def overlaps(view):
    """Ops that start before an earlier op of their stream has ended."""
    count = 0
    for ops in view.by_stream().values():
        reached = -math.inf
        for op in ops:
            count += op.start < reached
            reached = max(reached, op.end)
    return count


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


if __name__ == "__main__":
    json.dump(report(load(sys.argv[1])), sys.stdout, indent=1, default=str)
