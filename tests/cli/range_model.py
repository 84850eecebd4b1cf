"""Random traces with ranges, made once as a model (ops, calls, ranges) and written as Kineto JSON or as an Nsight export."""

import collections
import json
import random
import sqlite3

Op = collections.namedtuple("Op", "start end device stream pid correlation name")
Call = collections.namedtuple("Call", "start end pid tid correlation")
# kind: PushPop, StartEnd, Mark or GPU. end_tid: None unless it ended on another thread. stream: of GPU, on device 0.
Range = collections.namedtuple("Range", "start end kind pid tid end_tid stream name domain")
Model = collections.namedtuple("Model", "ops calls ranges")

NAMES = ["step", "forward", "layer", "layer", "a > b", "", "\u00e9 \"quoted\"", "x" * 90]


def nested_ranges(pick, start, end, depth=0):
    """Push/pop pairs as a program makes them, with borders that may touch."""
    while start < end and pick.random() < 0.9 - 0.1 * depth:
        begin = pick.randint(start, end)
        stop = pick.randint(begin, end)
        yield begin, stop
        if depth < 6:
            yield from nested_ranges(pick, begin, stop, depth + 1)
        start = stop


def make_model(seed, processes, domains, elsewhere):
    pick = random.Random(seed)
    length = pick.choice([60, 400, 50_000])
    threads = [(pid, tid) for pid in processes for tid in (1, 2, 3)]
    ranges = []
    for pid, tid in threads:
        for start, end in nested_ranges(pick, 0, length):
            ranges.append(Range(start, end, "PushPop", pid, tid, None, None, pick.choice(NAMES), pick.choice(domains)))
    for _ in range(pick.choice([0, 0, 5, 15])):
        pid, tid = pick.choice(threads)
        start = pick.randint(0, length)
        end_tid = pick.choice([None, None, 4, tid % 3 + 1]) if elsewhere else None
        kind = "StartEnd" if elsewhere else "PushPop"
        ranges.append(Range(start, start + pick.randint(0, length // 2), kind, pid, tid, end_tid, None,
                            pick.choice(NAMES), pick.choice(domains)))
    pick.shuffle(ranges)

    ops, calls = [], []
    for correlation in range(1, pick.choice([2, 12, 50])):
        pid, tid = pick.choice(threads)
        start = pick.randint(0, length)
        if pick.random() < 0.85:
            calls.append(Call(start, start + pick.randint(0, length // 10), pid, tid, correlation))
        device, stream = pick.randrange(2), pick.choice([7, 13])
        for _ in range(pick.choice([1, 1, 1, 4])):  # a kernel, or the nodes of a graph
            begin = start + pick.randint(0, length)
            ops.append(Op(begin, begin + pick.randint(0, length // 4), device, stream, pid, correlation,
                          pick.choice(["gemm", "relu"])))
    return Model(ops, calls, ranges)


def kineto_model(seed):
    """One process, one domain, and copies of some ranges on the GPU's side."""
    model = make_model(seed, [100], [""], elsewhere=False)
    pick = random.Random(-seed)
    length = max((op.end for op in model.ops), default=1)
    for _ in range(pick.choice([0, 6])):
        start = pick.randint(0, length)
        model.ranges.append(Range(start, pick.randint(start, length), "GPU", None, None, None, pick.choice([7, 13]),
                                  pick.choice(NAMES), ""))
    return model


def nsight_model(seed):
    model = make_model(seed, [100, 200], ["", "engine"], elsewhere=True)
    pick = random.Random(-seed)
    for _ in range(pick.choice([0, 4])):
        time = pick.randint(0, 50)
        model.ranges.append(Range(time, time, "Mark", 100, 1, None, None, "mark", ""))
    return model


def micro(time):
    return float(f"{time // 1000}.{time % 1000:03}")


def write_kineto(model, path):
    def event(category, name, start, end, pid, tid, **args):
        return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": micro(start),
                "dur": micro(end - start), "args": args}

    events = []
    for one in model.ranges:
        if one.kind == "GPU":
            events.append(event("gpu_user_annotation", one.name, one.start, one.end, 0, one.stream, device=0,
                                stream=one.stream))
        else:
            events.append(event("user_annotation", one.name, one.start, one.end, one.pid, one.tid))
    for call in model.calls:
        events.append(event("cuda_runtime", "cudaLaunchKernel", call.start, call.end, call.pid, call.tid,
                            correlation=call.correlation))
    for op in model.ops:
        events.append(event("kernel", op.name, op.start, op.end, op.device, op.stream, device=op.device,
                            stream=op.stream, correlation=op.correlation))
    path.write_text(json.dumps({"traceEvents": events}))


def global_id(pid, tid=0):
    return 1 << 48 | pid << 24 | tid


def write_nsight(model, path):
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
        CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
            globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
            eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,
            returnValue INTEGER NOT NULL);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
            deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER,
            globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,
            graphNodeId INTEGER);
    """)
    database.executemany("INSERT INTO META_DATA_EXPORT VALUES (?, ?)",
                         [("EXPORT_PRODUCT", "NVIDIA Nsight Systems"), ("EXPORT_SCHEMA_VERSION", "3.20.4")])
    strings = {"cudaLaunchKernel_v7000": 1, "gemm": 2, "relu": 3, "layer": 4}
    database.executemany("INSERT INTO StringIds VALUES (?, ?)", [(number, text) for text, number in strings.items()])
    for pid in sorted({one.pid for one in model.ranges}):
        database.execute("INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, 'engine', ?, NULL, NULL, 5)", [global_id(pid, 1)])
    for one in model.ranges:
        registered = one.name == "layer"
        database.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [
            one.start, None if one.kind == "Mark" else one.end, {"PushPop": 59, "StartEnd": 60, "Mark": 34}[one.kind],
            None if registered else one.name, global_id(one.pid, one.tid),
            None if one.end_tid is None else global_id(one.pid, one.end_tid), strings["layer"] if registered else None,
            5 if one.domain else 0])
    database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, 1, 0)",
                         [(call.start, call.end, global_id(call.pid, call.tid), call.correlation) for call in model.calls])
    database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, NULL, NULL)",
                         [(op.start, op.end, op.device, op.stream, op.correlation, global_id(op.pid), strings[op.name],
                           strings[op.name]) for op in model.ops])
    database.commit()
    database.close()
