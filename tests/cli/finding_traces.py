"""Traces made by hand for the rules of the findings, and the findings of a trace."""

import re

from kineto_by_hand import US, Trace
from samples import DATA, ROOT

RULES = re.findall(r"^GT_RULE\((\w+),", (ROOT / "lib/measure/findings/findings.def").read_text(), re.MULTILINE)
SEVERITIES = ["high", "medium", "low"]
KEYS = ["input", "id", "severity", "title", "evidence", "advice", "table", "recoverable_ns", "recoverable_step_ns", "share",
        "saving_by", "simulation", "rule", "windows", "savings"]


def dense(trace, start, count, length=100, **settings):
    """Kernels back to back, all launched long before."""
    for number in range(count):
        trace.op(start + number * length, length, name=f"kernel_{'abcdefgh'[number % 8]}", launched=number * 2, **settings)
    return start + count * length


def late_launches(trace, count, gap, length=10):
    """The CPU launches each kernel `gap` us after the one before has ended."""
    for number in range(count):
        trace.op(100 + number * (gap + length), length, name=f"kernel_{'abcdefgh'[number % 8]}", call_length=1)


def one_kernel(trace, share):
    trace.op(100, share, name="big<int>(float*)", launched=0)
    for number in range(10):
        trace.op(100 + share + 10 * number, 10, name=f"small_{number}", launched=1 + number)


def stalls(trace):
    dense(trace, 100, 40)
    trace.range("loading", 4000, 2500)
    trace.op(6100, 100, launched=6090)
    dense(trace, 6200, 1)


def sync_waits(trace):
    for number in range(10):
        start = 1000 * number
        trace.op(start + 10, 100, launched=start)
        trace.call("cudaStreamSynchronize", start + 2, 900)


def readbacks(trace, waits="cudaStreamSynchronize", call="cudaMemcpyAsync", count=12):
    for number in range(count):
        start = 1000 * number
        trace.op(start + 20, 300, launched=start)
        trace.op(start + 320, 2, name="Memcpy DtoH (Device -> Pinned)", launched=start + 5, call=call, call_length=2,
                 bytes=4)
        if waits:
            trace.call(waits, start + 8, 320)
        trace.range("sampling", start + 1, 500)


def storm(trace, nodes=1):
    """Each launch brings so many kernels."""
    for number in range(1200):
        trace.op(100 + 10 * number, 8, name=f"kernel_{number % 8}", launched=number / 100)
    for event in trace.events:
        event["args"]["correlation"] = (event["args"]["correlation"] - 1) // nodes


def tiny(trace):
    for number in range(120):
        trace.op(100 + 20 * number, 4, name=f"kernel_{number % 8}")


def comm(trace, hidden, exposed=200, compute=1000):
    dense(trace, 100, compute // 100)
    trace.op(100 + compute - hidden, exposed + hidden, name="ncclDevKernel_AllReduce", launched=50, stream=9)


def unbalanced(trace, other=6):
    dense(trace, 100, 10)
    dense(trace, 100, other, device=1)


def nested_copies(trace):
    """As some exports write one call: two rows with one correlation. The last pair has two correlations."""
    dense(trace, 100, 10)
    for number in range(3):
        trace.event("cuda_runtime", "cudaMemcpy_v3020", 2010 + 1000 * number, 500, correlation=900 + number // 2 * number)
        trace.event("cuda_runtime", "cudaMemcpy", 2000 + 1000 * number, 600, correlation=900 + number // 2)


def copies_in_line(trace, start=1100, stream=7):
    dense(trace, 100, 10)
    trace.op(start, 200, name="Memcpy HtoD (Pinned -> Device)", launched=50, call="cudaMemcpyAsync", stream=stream,
             bytes=10**8)


def small_copies(trace, name="Memcpy HtoD (Pinned -> Device)"):
    dense(trace, 1000, 10, length=1000)
    for number in range(100):
        trace.op(1000 + number * 3, 2, name=name, launched=number, call="cudaMemcpyAsync", stream=9, bytes=64000)


def pageable_copy(trace, name="Memcpy HtoD (Pageable -> Device)", call="cudaMemcpyAsync"):
    dense(trace, 100, 10)
    trace.op(200, 30, name=name, launched=50, call=call, stream=9, bytes=10**6)


def sync_copy(trace, call="cudaMemcpy", size=64001):
    dense(trace, 100, 10)
    trace.op(200, 30, name="Memcpy HtoD (Pinned -> Device)", launched=50, call=call, call_length=1200, stream=9, bytes=size)


def sync_memset(trace, name="Memset (Managed)"):
    dense(trace, 100, 10)
    trace.op(200, 30, name=name, launched=50, call="cudaMemset", call_length=10, stream=9, bytes=100)


def steps(trace, lengths, name="step {}"):
    start = 1000
    for number, length in enumerate(lengths):
        trace.range(name.format(number), start, length)
        trace.op(start + 10, length - 20, name=f"kernel_{number % 8}", launched=start + 1)
        start += length


def ranges(trace, inside, outside, name="decode"):
    for number in range(8):
        trace.op(100 + number * inside, inside, name=f"kernel_{number}", launched=10 + number)
        trace.op(100 + 8 * inside + number * outside, outside, name=f"kernel_{number}", launched=50 + number)
    trace.range(name, 5, 30)


def overhead(trace, start=150):
    dense(trace, 100, 10)
    trace.event("overhead", "Buffer Flush", start, 60, pid=-1, tid=0)
    trace.event("overhead", "Buffer Flush", start + 50, 60, pid=-1, tid=0)


def made(make, *args, **settings):
    def write(folder):
        trace = Trace()
        make(trace, *args, **settings)
        return trace.write(folder)

    return write


def sample(name):
    return lambda folder: DATA / "nsys" / name


def findings_of(gputime, *args):
    report = gputime.json("findings", *args)
    for finding in report["findings"]:
        assert list(finding) == KEYS and finding["evidence"] and finding["advice"] and finding["title"]
        assert finding["id"] in RULES and finding["severity"] in ("high", "medium", "low")
    return {finding["id"]: finding for finding in report["findings"]}


def order_of(found):
    """By severity, then by saving; what makes the CPU late comes before the launches that are late then."""
    late = next((one for one in found if one["id"] == "host_bound"), None)

    def saving(one):
        is_cause = late and one["severity"] == late["severity"] and one["id"] in ("readback", "sync_waits", "allocator")
        return max(one["recoverable_ns"] or 0, late["recoverable_ns"] + 1 if is_cause else 0)

    return [(SEVERITIES.index(one["severity"]), -saving(one)) for one in found]
