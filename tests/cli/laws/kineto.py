"""Writes a trace as the PyTorch profiler does, or as the CSV of `nsys stats`. Times keep every nanosecond."""

import csv
import io
import json

from .traces import COLLECTIVES

CATEGORIES = {"kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset"}


class Exact(float):
    """A number of microseconds with all digits, which a float of today's date does not have."""

    def __new__(cls, ns):
        number = super().__new__(cls, ns / 1000)
        number.text = f"{'-' if ns < 0 else ''}{abs(ns) // 1000}.{abs(ns) % 1000:03d}"
        return number

    def __repr__(self):
        return self.text


def event(category, one, pid, tid, args):
    return (f'{{"ph":"X","cat":"{category}","name":{json.dumps(one.name)},"pid":{pid},"tid":{tid},'
            f'"ts":{Exact(one.start)!r},"dur":{Exact(one.end - one.start)!r},"args":{json.dumps(args)}}}')


def op_args(op):
    args = {"device": op.device, "context": 1, "stream": op.stream, "correlation": op.correlation}
    if op.kind != "kernel":
        args["bytes"] = op.bytes
    if op.graph:
        args |= {"graph id": op.graph, "graph node id": 1}
    if op.name in COLLECTIVES:
        args |= {"Collective name": COLLECTIVES[op.name], "In msg nelems": 1024, "Out msg nelems": 1024, "dtype": "BFloat16",
                 "Group size": 2, "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}
    return args


def events(trace):
    lines = [event("cpu_op" if one.is_operator else "user_annotation", one, one.pid, one.tid, {}) for one in trace.ranges]
    for call in trace.calls:
        category = "cuda_driver" if call.name.startswith("cuL") else "cuda_runtime"
        lines.append(event(category, call, call.pid, call.tid, {"cbid": 211, "correlation": call.correlation}))
    lines += [event(CATEGORIES[op.kind], op, op.device, op.stream, op_args(op)) for op in trace.ops]
    return lines


def text(trace, shuffle=None, rank=None, world=2):
    lines = events(trace)
    if shuffle:
        shuffle(lines)
    devices = [{"id": device, "name": "GPU"} for device in sorted({op.device for op in trace.ops})]
    head = {"schemaVersion": 1, "displayTimeUnit": "ms", "deviceProperties": devices}
    if rank is not None:
        head["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": world}
    return json.dumps(head)[:-1] + ',"traceEvents":[\n' + ",\n".join(lines) + "\n]}\n"


def write(path, trace, **settings):
    path.write_text(text(trace, **settings), encoding="utf-8")
    return path


# ---- nsys stats -r cuda_gpu_trace ----

HEADER = ["Start (ns)", "Duration (ns)", "CorrId", "GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ", "Reg/Trd", "StcSMem (MB)",
          "DymSMem (MB)", "Bytes (MB)", "Throughput (MB/s)", "SrcMemKd", "DstMemKd", "Device", "Ctx", "GreenCtx", "Strm",
          "Name"]
CSV_NAMES = {"Memcpy HtoD (Pageable -> Device)": "[CUDA memcpy Host-to-Device]",
             "Memcpy DtoH (Device -> Pinned)": "[CUDA memcpy Device-to-Host]",
             "Memcpy DtoD (Device -> Device)": "[CUDA memcpy Device-to-Device]", "Memset (Device)": "[CUDA memset]"}


def csv_text(ops):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for op in ops:
        is_kernel = op.kind == "kernel"
        sizes = [1, 1, 1, 32, 1, 1, 16, "0.000", "0.000"] if is_kernel else [""] * 9
        writer.writerow([op.start, op.end - op.start, op.correlation, *sizes, "" if is_kernel else "0.004", "", "", "",
                         f"NVIDIA H200 ({op.device})", 1, "", op.stream, CSV_NAMES.get(op.name, op.name)])
    return out.getvalue()
