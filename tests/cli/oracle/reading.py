"""A Kineto trace file, packed or not, as a Trace whose ops know their launch calls and steps."""

import collections
import decimal
import functools
import gzip
import json
import re
import subprocess

from .events import Call, Code, Op, Step, Trace

INT64_MAX = 2**63 - 1
DECIMALS = decimal.Context(prec=400)
OP_KINDS = {
    "kernel": "kernel",
    "gpu_memcpy": "memcpy",
    "memcpy": "memcpy",
    "gpu_memset": "memset",
    "memset": "memset",
    "gpu_op": None,  # the name decides
}
CALL_CATEGORIES = {"cuda_runtime", "cuda_driver", "runtime", "hip_runtime", "driver"}
CODE_CATEGORIES = {"cpu_op", "operator", "user_annotation"}  # what shows where in the program a thread was


def numbered(word, number=r"(\d+)"):
    """The word and a number, after it no more words; before it no word that begins with "warm"."""
    return re.compile(rf"(?s)\A(?!.*(?<![a-z])warm.*{word}).*?(?<![a-z]){word}[ _:#=-]{{0,2}}{number}(?! *[a-z0-9_])",
                      re.IGNORECASE)


STEP_KINDS = [  # the clearest first; a trace's steps are all of the first kind that it has
    numbered("ProfilerStep#"), numbered("step"), numbered("step_num"), numbered("iteration"), numbered("iter"),
    re.compile("train_step()$", re.IGNORECASE), re.compile("training_step()$", re.IGNORECASE),
    re.compile("execute_context_()", re.IGNORECASE), re.compile(r"execute_\d+_context_()", re.IGNORECASE),
    re.compile("execute_new_()", re.IGNORECASE),
    re.compile(r"step\[()", re.IGNORECASE), re.compile("execute_model()$", re.IGNORECASE),
    re.compile("step()$", re.IGNORECASE), re.compile("iteration()$", re.IGNORECASE),
    re.compile("test_step()$", re.IGNORECASE), re.compile(r"(?s)\A(?:.*[^a-z])?single_iteration()$", re.IGNORECASE),
    numbered("step", r"(\d+) to ?\d+"), numbered("iteration", r"(\d+) to ?\d+"), numbered("batch"), numbered("request"),
]


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
