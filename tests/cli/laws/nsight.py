"""Writes a trace as `nsys export --type sqlite` does."""

import sqlite3

from gpu_program_traces import PUSH_POP, SCHEMA, copy_kinds


def global_id(pid, tid=0):
    return 1 << 48 | pid << 24 | tid


class Texts(dict):
    """Numbers of texts, from 1."""

    def __missing__(self, text):
        self[text] = len(self) + 1
        return self[text]


def op_row(op, texts):
    where = (op.start, op.end, op.device, 1, op.stream, op.correlation, global_id(op.pid))
    node = 1 if op.graph else None
    if op.kind == "kernel":
        return (*where, texts[op.name], texts[op.name], node)
    if op.kind == "memcpy":
        return (*where, op.bytes, *copy_kinds(op.name), node)
    return (*where, 0, op.bytes, node, 2)


def write(path, trace, shuffle=None):
    texts = Texts()
    rows = [(f"CUPTI_ACTIVITY_KIND_{op.kind.upper()}", op_row(op, texts)) for op in trace.ops]
    rows += [("CUPTI_ACTIVITY_KIND_RUNTIME", (call.start, call.end, 0, global_id(call.pid, call.tid), call.correlation,
                                              texts[call.name + "_v7000"], 0)) for call in trace.calls]
    rows += [("NVTX_EVENTS", (one.start, one.end, PUSH_POP, None, None, None, one.name, global_id(one.pid, one.tid), None,
                              None, 0)) for one in trace.ranges]
    if shuffle:
        shuffle(rows)
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;" + SCHEMA)
    for table, row in rows:
        connection.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)
    connection.executemany("INSERT INTO StringIds VALUES (?, ?)", ((number, text) for text, number in texts.items()))
    for device in sorted({op.device for op in trace.ops}):
        connection.execute("INSERT INTO TARGET_INFO_GPU VALUES (1, ?, 'GPU')", (device,))
    connection.commit()
    connection.close()
    return path
