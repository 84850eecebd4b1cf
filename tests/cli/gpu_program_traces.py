"""Writes the timeline of a GPU program (gpu_program.py) as the traces that profilers make of such a program."""

import sqlite3

PROCESS, DEVICE, CONTEXT = 100, 0, 1
NO_EVENT = 4294967295

# ---- PyTorch profiler ----

SYNC_NAMES = {"context": "Context Sync", "stream": "Stream Sync", "event": "Event Sync", "stream_wait": "Stream Wait Event"}
OP_CATEGORIES = {"kernel": "kernel", "graph": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset"}


def event(category, name, start, end, pid, tid, args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start / 1000,
            "dur": (end - start) / 1000, "args": args}


def kineto_sync(sync, with_records):
    """What CUPTI says of a wait. Without records it does not say which stream's event it was."""
    args = {"cuda_sync_kind": SYNC_NAMES[sync.kind]}
    if sync.kind in ("event", "stream_wait"):
        record = sync.record if with_records else None
        args |= {"wait_on_stream": record.stream if record else -1,
                 "wait_on_cuda_event_record_corr_id": record.correlation if record else -1, "wait_on_cuda_event_id": 1}
    stream = -1 if sync.stream is None else sync.stream
    args |= {"stream": stream, "correlation": sync.call.correlation, "device": DEVICE, "context": CONTEXT}
    return event("cuda_sync", SYNC_NAMES[sync.kind], sync.call.start, sync.call.end, DEVICE, stream, args)


def kineto(timeline, syncs="records"):
    """The profiler's document. syncs: none, as by default; streams, as enable_cuda_sync_events writes them where CUPTI does
    not know the record; records, where it does."""
    events = [event(one.category, one.name, one.start, one.end, PROCESS, PROCESS + one.thread, {})
              for one in timeline.ranges]
    events += [event("cuda_runtime", one.name, one.start, one.end, PROCESS, PROCESS + one.thread,
                     {"correlation": one.correlation}) for one in timeline.calls]
    for one in timeline.ops:
        args = {"device": DEVICE, "context": CONTEXT, "stream": one.stream, "correlation": one.correlation}
        if one.is_node:
            args |= {"graph id": 1, "graph node id": 1}
        if one.op.kind in ("memcpy", "memset"):
            args["bytes"] = 4096
        events.append(event(OP_CATEGORIES[one.op.kind], one.op.name, one.start, one.end, DEVICE, one.stream, args))
    if syncs != "none":
        events += [kineto_sync(one, syncs == "records") for one in timeline.syncs]
    return {"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": events}


# ---- Nsight Systems ----

SCHEMA = """
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
        demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, graphNodeId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
        bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
        value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
        graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
        globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
    CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
        category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER,
        domainId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER,
        contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL,
        eventId INTEGER, eventSyncId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INTEGER, contextId INTEGER, streamId INTEGER,
        correlationId INTEGER, globalPid INTEGER, eventId INTEGER, eventSyncId INTEGER);
"""
SYNC_TYPES = {"event": 1, "stream_wait": 2, "stream": 3, "context": 4}
COPY_KINDS = {"HtoD": 1, "DtoH": 2, "DtoD": 8}
MEMORY_KINDS = {"Pageable": 0, "Pinned": 1, "Device": 2}
PUSH_POP = 59


def global_id(tid=0):
    return 1 << 48 | PROCESS << 24 | tid


def copy_kinds(name):
    """'Memcpy DtoH (Device -> Pageable)': copyKind, srcKind, dstKind."""
    direction, source, _, target = name.removeprefix("Memcpy ").replace("(", "").replace(")", "").split()
    return COPY_KINDS[direction], MEMORY_KINDS[source], MEMORY_KINDS[target]


class Database:
    def __init__(self, path):
        self.connection = sqlite3.connect(path)
        self.connection.executescript(SCHEMA)
        self.texts = {}

    def text(self, value):
        return self.texts.setdefault(value, len(self.texts) + 1)

    def add(self, table, *values):
        marks = ", ".join("?" * len(values))
        self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", values)

    def add_op(self, one):
        where = (one.start, one.end, DEVICE, CONTEXT, one.stream, one.correlation, global_id())
        node = 1 if one.is_node else None
        kind, table = one.op.kind, f"CUPTI_ACTIVITY_KIND_{'GRAPH_TRACE' if one.op.kind == 'graph' else one.op.kind.upper()}"
        if kind == "kernel":
            self.add(table, *where, self.text(one.op.name), self.text(one.op.name), node)
        elif kind == "memcpy":
            self.add(table, *where, 4096, *copy_kinds(one.op.name), node)
        elif kind == "memset":
            self.add(table, *where, 0, 4096, node, MEMORY_KINDS["Device"])
        else:
            self.add(table, *where, 1, 1)

    def close(self):
        self.connection.executemany("INSERT INTO StringIds VALUES (?, ?)", ((id, text) for text, id in self.texts.items()))
        self.add("TARGET_INFO_GPU", 1, DEVICE, "GPU")
        self.connection.commit()
        self.connection.close()


def write_nsys(path, timeline, syncs="records"):
    """The SQLite export. syncs: none, or records."""
    database = Database(path)
    for one in timeline.calls:
        database.add("CUPTI_ACTIVITY_KIND_RUNTIME", one.start, one.end, 0, global_id(PROCESS + one.thread), one.correlation,
                     database.text(f"{one.name}_v7000"), 0)
    for one in timeline.ops:
        database.add_op(one)
    for one in timeline.ranges:
        database.add("NVTX_EVENTS", one.start, one.end, PUSH_POP, None, None, None, one.name,
                     global_id(PROCESS + one.thread), None, None, 0)
    if syncs == "records":
        write_syncs(database, timeline)
    database.close()
    return path


def write_syncs(database, timeline):
    numbers, of_record = {}, {}
    for index, one in enumerate(timeline.records):
        number = numbers.setdefault(one.event, len(numbers) + 1)
        of_record[one] = (number, index + 1)
        database.add("CUPTI_ACTIVITY_KIND_CUDA_EVENT", DEVICE, CONTEXT, one.stream, one.correlation, global_id(), number,
                     index + 1)
    for one in timeline.syncs:
        event_id, record = of_record.get(one.record, (NO_EVENT, NO_EVENT))
        stream = 0 if one.stream is None else one.stream
        database.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", one.call.start, one.call.end, DEVICE, CONTEXT, stream,
                     one.call.correlation, global_id(), SYNC_TYPES[one.kind], event_id, record)
