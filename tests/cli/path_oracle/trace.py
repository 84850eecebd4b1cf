"""What the graph is made of: calls, ops, ranges and waits of a PyTorch trace."""

import collections
import dataclasses
import gzip
import json
import re

OP_KINDS = {"kernel": "kernel", "gpu_memcpy": "memcpy", "gpu_memset": "memset"}
CALL_CATEGORIES = ("cuda_runtime", "cuda_driver", "runtime")
HOST_CATEGORIES = ("cpu_op", "user_annotation", "python_function")
STEP = re.compile(r"ProfilerStep#(\d+)")
UNKNOWN = float("-inf")  # launch time of ops that were launched before the trace


@dataclasses.dataclass(eq=False)
class Call:
    thread: int
    name: str  # without the suffix of its version
    start: int
    end: int
    correlation: int
    ops: list = dataclasses.field(default_factory=list)  # of node calls: what they launched

    @property
    def is_sync(self):
        return re.fullmatch(r"(cuda|cu|hip)(Device|Stream|Event|Ctx)Synchronize", self.name) is not None

    @property
    def is_blocking_copy(self):
        return re.match(r"(cuda|cu|hip)Mem(cpy|set)", self.name) is not None and "Async" not in self.name

    @property
    def is_allocation(self):
        return re.fullmatch(r"(cuda|cu|hip)(Free|FreeHost|Malloc|HostAlloc|MallocHost|HostMalloc|MemFree|MemFreeHost|"
                            r"MemAlloc|MemHostAlloc|MemRelease|HostRegister|HostUnregister)", self.name) is not None


@dataclasses.dataclass(eq=False)
class Op:
    name: str
    kind: str
    stream: int
    start: int
    end: int
    call: Call | None
    launched: float = UNKNOWN

    @property
    def is_node(self):
        return self.call is not None and "GraphLaunch" in self.call.name

    @property
    def latency_class(self):
        return "node" if self.is_node else self.kind

    def is_launched_in(self, step):
        return self.call is not None and step.start <= self.call.start and self.call.end <= step.end

    @property
    def length(self):
        return self.end - self.start

    @property
    def time_class(self):
        if self.kind in ("memcpy", "memset"):
            return "memory"
        return "comm" if "nccl" in self.name.lower() else "compute"

    @property
    def path_kind(self):
        return {"memory": "copy", "comm": "comm", "compute": "kernel"}[self.time_class]


@dataclasses.dataclass(eq=False)
class Range:
    thread: int
    name: str
    start: int
    end: int


@dataclasses.dataclass(eq=False)
class Sync:
    stream: int | None
    record_stream: int | None
    record_call: Call | None


def nanoseconds(event):
    start = round(event["ts"] * 1000)
    return start, start + round(event.get("dur", 0) * 1000)


def known(value):
    return value if value is not None and value >= 0 else None


class Trace:
    def __init__(self, document):
        events = [event for event in document["traceEvents"] if event.get("ph") == "X"]
        self.threads = {}
        self.calls = [self.call(event) for event in events if event["cat"] in CALL_CATEGORIES]
        self.ranges = [Range(self.thread(event), event["name"], *nanoseconds(event))
                       for event in events if event["cat"] in HOST_CATEGORIES]
        by_correlation = collections.defaultdict(list)
        for call in self.calls:
            by_correlation[call.correlation].append(call)
        self.launch_calls = {key: min(calls, key=lambda call: (call.start, -call.end))
                             for key, calls in by_correlation.items()}
        self.ops = sorted((self.op(event) for event in events if event["cat"] in OP_KINDS),
                          key=lambda op: (op.start, -op.end, op.stream))
        self.streams = collections.defaultdict(list)
        for op in self.ops:
            self.streams[op.stream].append(op)
        self.syncs = dict(self.sync(event) for event in events if event["cat"] == "cuda_sync")
        self.steps = sorted((one for one in self.ranges if STEP.match(one.name)), key=lambda one: one.start)
        self.flows = self.find_flows(document["traceEvents"])
        self.set_launch_times()

    def thread(self, event):
        return self.threads.setdefault((event["pid"], event["tid"]), len(self.threads))

    def find_flows(self, events):
        """Pairs of threads: forward ran on the first, and its backward on the second."""
        ends = collections.defaultdict(dict)
        for event in events:
            if event.get("cat") == "fwdbwd" and event.get("ph") in ("s", "f"):
                ends[event["id"]][event["ph"]] = self.thread(event)
        return {(one["s"], one["f"]) for one in ends.values() if len(one) == 2}

    def call(self, event):
        name = re.sub(r"(_v\d+|_ptsz|_ptds)+$", "", event["name"])
        return Call(self.thread(event), name, *nanoseconds(event), event["args"].get("correlation"))

    def op(self, event):
        start, end = nanoseconds(event)
        call = self.launch_calls.get(event["args"].get("correlation"))
        return Op(event["name"], OP_KINDS[event["cat"]], event["args"]["stream"], start, end,
                  call if call and call.start < end else None)

    def sync(self, event):
        args = event["args"]
        stream = known(args.get("wait_on_stream"))
        record = self.launch_calls.get(known(args.get("wait_on_cuda_event_record_corr_id")))
        return args["correlation"], Sync(known(args.get("stream")), stream, record)

    def set_launch_times(self):
        for ops in self.streams.values():
            with_call = [index for index, op in enumerate(ops) if op.call]
            for index, op in enumerate(ops):
                if op.call:
                    op.launched = op.call.start
                elif not with_call or index > with_call[0]:
                    op.launched = op.start

    def boundaries(self):
        """{thread: sorted times at which something starts or ends}."""
        found = collections.defaultdict(set)
        for one in (*self.calls, *self.ranges):
            found[one.thread] |= {one.start, one.end}
        return {thread: sorted(times) for thread, times in found.items()}


def load(path):
    opened = gzip.open(path) if str(path).endswith(".gz") else open(path, "rb")
    with opened as file:
        return Trace(json.load(file))
