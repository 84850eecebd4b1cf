"""Random legal traces from a seed: streams, devices, processes, ranges, operators, graphs, copies, collectives, steps,
overlaps, equal times and moments without length. Times are whole nanoseconds; correlation ids are unique.
"""

import dataclasses
import random

KERNELS = [
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, std::array<char*, 1ul> >(int, ...)",
    "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT",
    "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>, false>(flash::Flash_fwd_params)",
    "triton_poi_fused_add_mul_3",
    "Cijk_Alik_Bljk_HHS_BH_MT128x64x16",
    "kernel \"quoted\" \\ and \u00e9\u4e2d",
    "k",
]
COLLECTIVES = {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "allreduce",
               "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "_allgather_base"}
COPIES = ["Memcpy HtoD (Pageable -> Device)", "Memcpy DtoH (Device -> Pinned)", "Memcpy DtoD (Device -> Device)"]
MEMSET = "Memset (Device)"
LAUNCHES = {"kernel": ["cudaLaunchKernel", "cuLaunchKernel"], "memcpy": ["cudaMemcpyAsync"], "memset": ["cudaMemsetAsync"]}
OTHER_CALLS = ["cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventRecord", "cudaMalloc", "cudaEventQuery"]
OPERATORS = ["aten::mm", "aten::add", "aten::copy_", "autograd::engine::evaluate_function: MmBackward0"]
RANGES = ["forward", "backward", "optimizer.step", "data \u00fc"]


@dataclasses.dataclass(frozen=True)
class Op:
    kind: str  # kernel, memcpy, memset
    name: str
    start: int
    end: int
    device: int
    stream: int
    correlation: int
    pid: int
    bytes: int = 0
    graph: int = 0  # 0: not of a graph


@dataclasses.dataclass(frozen=True)
class Call:
    name: str
    start: int
    end: int
    pid: int
    tid: int
    correlation: int


@dataclasses.dataclass(frozen=True)
class Range:
    name: str
    start: int
    end: int
    pid: int
    tid: int
    is_operator: bool = False


@dataclasses.dataclass
class Trace:
    ops: list
    calls: list
    ranges: list

    def changed(self, op=lambda one: one, call=lambda one: one, span=lambda one: one):
        """The same with each row changed; None takes it away."""
        lists = ([change(one) for one in rows]
                 for change, rows in ((op, self.ops), (call, self.calls), (span, self.ranges)))
        return Trace(*([one for one in rows if one is not None] for rows in lists))

    def moved(self, move):
        """With another time for each moment."""
        def change(one):
            return dataclasses.replace(one, start=move(one.start), end=move(one.end))
        return self.changed(change, change, change)

    @property
    def origin(self):
        return min(op.start for op in self.ops)

    @property
    def end(self):
        return max(op.end for op in self.ops)


class Author:
    """Writes one trace. Lengths are of very different sizes, times often on a grid so that many are equal."""

    def __init__(self, seed):
        self.pick = random.Random(seed)
        pick = self.pick
        self.base = pick.choice([1, 5_000, 1_700_000_000_000_000_000, 3_847_745_009_978_503])
        self.length = pick.choice([400, 6_000, 500_000, 60_000_000])
        self.grain = pick.choice([1, 1, 10, max(1, self.length // 40)])
        self.processes = pick.sample(range(1000, 9000, 100), pick.choice([1, 1, 2]))
        self.streams = [(device, stream) for device in pick.sample(range(8), pick.choice([1, 1, 2, 3]))
                        for stream in pick.sample([0, 7, 13, 20, 41, 301], pick.choice([1, 1, 2, 3]))]
        self.owner = {device: pick.choice(self.processes) for device, _ in self.streams}
        self.names = pick.sample(KERNELS, pick.randint(1, 5))
        self.next_correlation = pick.choice([1, 100, 2**31 - 20])
        self.ops, self.calls, self.ranges = [], [], []

    def time(self, start=0, end=None):
        end = self.length if end is None else end
        return self.base + self.pick.randrange(start, max(start + 1, end)) // self.grain * self.grain

    def span(self, part):
        return self.pick.randrange(0, max(2, self.length // part)) // self.grain * self.grain

    def thread(self, pid, start, end):
        """One that is in no other call: calls of a thread do not overlap."""
        tid = pid + self.pick.choice([0, 0, 0, 1])
        while any(call.tid == tid and call.start <= end and start <= call.end for call in self.calls):
            tid += 1
        return tid

    def call(self, name, pid, start, end):
        self.next_correlation += 1
        self.calls.append(Call(name, start, end, pid, self.thread(pid, start, end), self.next_correlation))
        return self.next_correlation

    def op(self, kind, correlation, device, stream, start, graph=0):
        pick = self.pick
        length = 0 if pick.random() < 0.05 else self.span(pick.choice([5, 20, 60]))
        if kind == "kernel":
            name = pick.choice(list(COLLECTIVES)) if pick.random() < 0.15 else pick.choice(self.names)
        else:
            name = pick.choice(COPIES) if kind == "memcpy" else MEMSET
        size = 0 if kind == "kernel" else pick.choice([0, 4, 65536, 2**33])
        self.ops.append(Op(kind, name, start, start + length, device, stream, correlation, self.owner[device], size, graph))

    def launch(self):
        pick = self.pick
        device, stream = pick.choice(self.streams)
        kind = pick.choice(["kernel"] * 6 + ["memcpy", "memset"])
        start = self.time()
        end = start + self.span(40)
        is_graph = kind == "kernel" and pick.random() < 0.1
        name = "cudaGraphLaunch" if is_graph else pick.choice(LAUNCHES[kind])
        correlation = self.call(name, self.owner[device], start, end)
        for _ in range(pick.randint(2, 5) if is_graph else 1):
            self.op(kind, correlation, device, stream, end + self.span(pick.choice([10, 30, 100])), int(is_graph))

    def orphan(self):
        self.next_correlation += 1
        device, stream = self.pick.choice(self.streams)
        self.op("kernel", self.next_correlation, device, stream, self.time())

    def other_call(self):
        start = self.time()
        self.call(self.pick.choice(OTHER_CALLS), self.pick.choice(self.processes), start, start + self.span(10))

    def nested(self, pid, tid, start, end, depth):
        """Ranges of a thread lie inside each other or side by side."""
        at = start
        while at < end and self.pick.random() < 0.7:
            begin = self.pick.randrange(at, end)
            stop = self.pick.randrange(begin, end) + 1
            is_operator = self.pick.random() < 0.5
            name = self.pick.choice(OPERATORS if is_operator else RANGES)
            self.ranges.append(Range(name, begin, stop, pid, tid, is_operator))
            if depth:
                self.nested(pid, tid, begin, stop, depth - 1)
            at = stop

    def steps(self, pid):
        """Steps of the main thread with what is inside them; without steps it has ranges all the same."""
        count = self.pick.choice([0, 0, 3, 4])
        width = self.length // max(1, count)
        for number in range(count):
            start = self.base + number * width
            end = start + max(1, width - 2)
            self.ranges.append(Range(f"ProfilerStep#{number + 3}", start, end, pid, pid))
            self.nested(pid, pid, start, end, 2)
        if not count:
            self.nested(pid, pid, self.base, self.base + self.length, 2)

    def write(self):
        for pid in self.processes:
            self.steps(pid)
            self.nested(pid, pid + 1, self.base, self.base + self.length, 2)
        self.launch()
        for _ in range(self.pick.choice([0, 2, 6, 15, 40])):
            self.pick.choice([self.launch] * 7 + [self.orphan, self.other_call, self.other_call])()
        return Trace(self.ops, self.calls, self.ranges)


def make(seed):
    return Author(seed).write()


def without_ties(trace, pick):
    """Moments of ops and calls moved apart, and of ranges of a thread that begin and end together only the first: between
    equals the order in the file decides."""
    spread, origin, seen = 1 << 20, trace.origin, set()

    def apart(one):
        start, end = (origin + (time - origin) * spread for time in (one.start, one.end))
        return dataclasses.replace(one, start=start + pick.randrange(spread // 2),
                                   end=end + pick.randrange(spread // 2, spread))

    def first(one):
        one = dataclasses.replace(one, start=origin + (one.start - origin) * spread,
                                  end=origin + (one.end - origin) * spread)
        key = (one.pid, one.tid, one.start, one.end)
        return None if key in seen or seen.add(key) else one

    return trace.changed(apart, apart, first)


def in_line(trace):
    """Each op of a stream begins after the one before it has ended, as on a GPU. Ops only move to later, so that none
    begins before its call."""
    ends, moved = {}, []
    for op in sorted(trace.ops, key=lambda op: op.start):
        start = max(op.start, ends.get((op.device, op.stream), op.start - 1) + 1)
        ends[op.device, op.stream] = start + op.end - op.start
        moved.append(dataclasses.replace(op, start=start, end=start + op.end - op.start))
    return Trace(moved, trace.calls, trace.ranges)
