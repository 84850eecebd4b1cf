"""Scenarios of test_python_lifetime.py, each in a process of its own: python_lifetimes.py SCENARIO TRACE. What fails ends
the process with an error, be it a signal."""

import atexit
import concurrent.futures
import copy
import gc
import os
import pickle
import signal
import sys
import threading

import gputime
from gputime import _trace

COUNT = {"opened": 0, "freed": 0}


def count_frees():
    """Counts traces that the library frees."""
    free = _trace.lib.gputime_trace_free

    def counted(address):
        free(address)
        COUNT["freed"] += 1

    _trace.lib.gputime_trace_free = counted


def opened(path):
    COUNT["opened"] += 1
    return gputime.open(path, cache=False)


def total(values):
    """With numpy, or without it."""
    return int(sum(values.tolist()))


def views(path):
    """Arrays, rows, frames and reports outlive the trace that they are of; then its memory is freed."""
    trace = opened(path)
    starts, rows, frame, report = trace.rows("ops")["start_ns"], trace.rows("ops"), trace.ops, trace.kernels()
    late, expected, kernels = trace.ops["end_ns"], total(starts), report.to_dict()
    ends = total(late)
    trace.close()
    trace.close()
    del trace
    gc.collect()
    assert COUNT["freed"] == 0
    assert total(starts) == expected == total(rows["start_ns"]) and frame.to_dict()["name"] == rows.to_dict()["name"]
    table = report["kernels"]
    del report, frame, rows
    assert table.to_dict() == kernels and repr(table) and table._repr_html_()
    part = starts[2:5]
    del starts, table
    gc.collect()
    assert COUNT["freed"] == 0 and total(part)
    del part
    gc.collect()
    assert COUNT["freed"] == 1 and total(late) == ends  # a column of a frame keeps what it needs by itself


def closed(path):
    trace = opened(path)
    with trace:
        assert len(trace.kernels())
    for use in (lambda: trace.kernels(), lambda: trace.ops, lambda: trace.info, lambda: trace.read("memory")):
        try:
            use()
        except gputime.Error as error:
            assert str(error) == "the trace is closed"
        else:
            raise AssertionError("a closed trace was used")
    assert repr(trace) == "<closed trace>" and COUNT["freed"] == 1


class Node:
    """Part of a cycle: its finalizer reads a view, whose owner is in the same cycle."""

    seen = []

    def __init__(self, **parts):
        self.me = self
        self.__dict__.update(parts)

    def __del__(self):
        Node.seen.append((total(self.view), len(self.report)))


def cycles(path):
    expected = None
    for kept in (["trace", "view", "report"], ["report", "view", "trace"], ["view", "trace", "report"]):
        trace = opened(path)
        parts = {"trace": trace, "view": trace.ops["end_ns"], "report": trace.kernels()}
        expected = total(parts["view"]), len(parts["report"])
        Node(**{key: parts[key] for key in kept})
        del trace, parts
        gc.collect()
    assert Node.seen == [expected] * 3 and COUNT["freed"] == 3


def orders(path):
    """Whatever goes first, nothing is freed twice or too early."""
    names = ["trace", "frame", "view", "report", "table", "column", "other"]
    for first in range(len(names)):
        trace = opened(path)
        report = trace.summary()
        parts = {"trace": trace, "frame": trace.ops, "view": trace.ops["end_ns"], "report": report,
                 "table": report["kernels"], "column": report["kernels"]["total_ns"], "other": gputime.diff(trace, trace)}
        del trace, report
        for name in names[first:] + names[:first]:
            del parts[name]
            gc.collect()
            for part in parts.values():
                repr(part)
    assert COUNT["freed"] == len(names)


def threads(path):
    """Eight threads open traces and make reports of one, while others read more of it."""
    shared = opened(path)
    expected = shared.kernels().to_dict(), total(shared.ops["start_ns"])

    def work(number):
        own = opened(path)
        for _ in range(2):
            assert own.kernels().to_dict() == expected[0] == shared.kernels().to_dict()
            assert total(shared.ops["start_ns"]) == expected[1]
            rows = [shared.rows("kernel_configs"), shared.memory_events, shared.syncs, shared.collectives][number % 4]
            assert len(rows.to_dict()) == len(rows.columns)
        if number % 2:
            own.close()
        return own.ops["start_ns"] if not number % 2 else None

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(8)))
    assert all(total(one) == expected[1] for one in results if one is not None)
    del results
    shared.close()
    gc.collect()


def closing(path):
    """One thread closes what others use: they end with an error or a result, and nothing breaks."""
    for _ in range(3):
        trace, done = opened(path), []

        def work():
            try:
                while True:
                    done.append(len(trace.kernels()) + total(trace.ops["start_ns"]))
            except gputime.Error as error:
                assert str(error) == "the trace is closed"

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        while len(done) < 4:
            pass
        trace.close()
        for worker in workers:
            worker.join()
        assert len(set(done)) == 1
    del trace, workers, work
    gc.collect()
    assert COUNT["freed"] == 3


def fork(path):
    trace = opened(path)
    report, view = trace.kernels(), trace.ops["start_ns"]
    expected = report.to_dict(), total(view)
    for leave in (sys.exit, os._exit):
        child = os.fork()
        if not child:
            same = trace.kernels().to_dict() == expected[0] and total(view) == expected[1] and repr(report)
            del report, view, trace
            leave(0 if same else 1)
        assert os.waitpid(child, 0)[1] == 0
    assert report.to_dict() == trace.kernels().to_dict() == expected[0] and total(view) == expected[1]


def leaving(path):
    """The interpreter ends with everything open, and a thread at work."""
    global kept
    trace = opened(path)
    kept = [trace, trace.ops["start_ns"], trace.ops, trace.summary(), memoryview(trace.ops["end_ns"])]
    kept.append(kept)
    expected = total(kept[1])
    atexit.register(lambda: total(kept[1]) == expected and repr(kept[3]) or os._exit(9))

    def work():
        while True:
            trace.kernels()

    threading.Thread(target=work, daemon=True).start()
    trace.kernels()


def interrupt(path):
    """A signal arrives between two calls, or at the end of one."""
    trace, calls = opened(path), 0
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        while True:
            trace.kernels()
            calls += 1
    except KeyboardInterrupt:
        assert len(trace.kernels()) and calls >= 0
    else:
        raise AssertionError("no interrupt")


def copies(path):
    trace = opened(path)
    for make in (pickle.dumps, copy.deepcopy):
        for what in (trace, trace.kernels(), trace.ops):
            try:
                make(what)
            except TypeError:
                continue
            raise AssertionError(f"{make} copied {what!r}")
    frame = copy.copy(trace.ops)
    expected = total(frame["start_ns"])
    trace.close()
    del trace
    gc.collect()
    assert total(frame["start_ns"]) == expected


def callbacks(path):
    """What a callback raises ends nothing."""
    seen = []

    def progress(done, whole):
        seen.append(done)
        raise RuntimeError("from a callback")

    sys.unraisablehook = lambda _: seen.append("raised")
    assert len(gputime.ranks([path], progress=progress, cache=False)) == 1 and "raised" in seen


def without_numpy(path):
    sys.modules["numpy"] = None
    for name in [name for name in sys.modules if name.split(".")[0] == "gputime"]:
        del sys.modules[name]
    import gputime as plain

    trace = plain.open(path, cache=False)
    kernels, ops = trace.kernels(), trace.ops
    assert list(kernels["total_ns"]) == kernels.to_dict()["total_ns"] and ops["start_ns"].readonly
    assert kernels["name"] == kernels.to_dict()["name"] and len(ops["start_ns"]) == len(ops) == len(list(ops))
    names = ops.to_dict()["name"]
    view, address = ops["start_ns"], total(ops["start_ns"])
    trace.close()
    del trace, kernels, ops
    gc.collect()
    assert total(view) == address and names


if __name__ == "__main__":
    count_frees()
    globals()[sys.argv[1]](sys.argv[2])
    print("done", flush=True)
