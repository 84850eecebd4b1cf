"""Random GPU programs by seed, of the kinds whose time is hard to predict, and changes to ask about."""

import dataclasses
import random

from gpu_program import (MILLION, BlockingCopy, Change, Enter, Free, GraphLaunch, HandOver, Launch, Leave, Node, Op, Record,
                         Spawn, Synchronize, Wait, Work, run)

COMPUTE, COPIES, SIDE, NCCL = 7, 13, 20, 17  # numbers of streams
TO_DEVICE, FROM_DEVICE = "Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pinned)"
PAGEABLE = "Memcpy DtoH (Device -> Pageable)"
START = 1_000_000
KERNELS = ("gemm_large", "gemm_small", "attention", "layer_norm", "elementwise_add", "elementwise_gelu", "reduce_sum")
ALL_REDUCE, ALL_GATHER = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "ncclDevKernel_AllGather_RING_LL"


@dataclasses.dataclass(frozen=True)
class Program:
    kind: str
    seed: int
    instructions: tuple
    queue_depth: int = 1024

    def run(self, change=Change()):
        return run(self.instructions, change, START, self.queue_depth)


class Author:
    """Writes instructions whose lengths waver around those of the program. balance: GPU time for each CPU time."""

    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.balance = self.pick.choice([0.5, 0.7, 0.9, 1.1, 1.5, 3.0])
        self.host = self.pick.randint(8_000, 30_000)  # CPU time of one operator
        self.call = self.pick.randint(3_000, 7_000)
        self.delay = self.pick.randint(1_500, 4_000)
        self.weight = {name: self.pick.uniform(0.2, 2.5) for name in KERNELS}

    def about(self, length, share=0.15):
        return max(1, round(length * self.pick.uniform(1 - share, 1 + share)))

    def operator(self, name, *body):
        return [Enter(name, "cpu_op"), *body, Leave()]

    def range(self, name, *body):
        return [Enter(name), *body, Leave()]

    def op(self, name, length, kind="kernel"):
        return Op(name, self.about(length), kind, self.about(1_000, 0.3), self.about(1_600, 0.3))

    def work(self, length=None):
        return Work(self.about(length or self.host, 0.4))

    def launch(self, op, stream=COMPUTE, call="cudaLaunchKernel"):
        return Launch(op, stream, self.about(self.call), self.about(self.delay), self.about(1_000, 0.3), call)

    def kernel(self, stream=COMPUTE, scale=1.0, name=None):
        name = name or self.pick.choice(KERNELS)
        length = (self.host + self.call) * self.balance * self.weight[name] * scale
        launch = self.launch(self.op(name, max(2_000, length)), stream)
        return self.operator(f"aten::{name}", self.work(), launch, self.work(2_000))

    def kernels(self, count, stream=COMPUTE, scale=1.0):
        return [one for _ in range(count) for one in self.kernel(stream, scale)]

    def copy(self, length, stream=COPIES, name=TO_DEVICE):
        return self.operator("aten::copy_", self.work(3_000),
                             self.launch(self.op(name, length, "memcpy"), stream, "cudaMemcpyAsync"))

    def record(self, event, stream):
        return Record(event, stream, self.about(1_000))

    def wait(self, event, stream):
        return Wait(event, stream, self.about(1_000))

    def sync(self, stream=None, event=None):
        return Synchronize(stream, event, self.about(2_000), self.about(4_500))

    def read_back(self, stream=COMPUTE):
        """A value of the GPU: as item() reads it, with memory that is not pinned, or by cudaMemcpy."""
        way = self.pick.choice(["item", "item", "pageable", "blocking"])
        if way == "item":
            copy = self.launch(self.op(FROM_DEVICE, 1_500, "memcpy"), stream, "cudaMemcpyAsync")
            return self.operator("aten::item", self.work(3_000), copy, self.work(500), self.sync(stream))
        call = "cudaMemcpyAsync" if way == "pageable" else "cudaMemcpy"
        op = self.op(PAGEABLE if way == "pageable" else FROM_DEVICE, self.pick.choice([2_000, 40_000]), "memcpy")
        copy = BlockingCopy(op, stream, self.about(4_000), self.about(6_000), self.about(3_000), call)
        return self.operator("aten::to", self.work(3_000), copy)

    def hand_over(self, thread, *body):
        """As backward() hands over to the thread of autograd."""
        return HandOver(thread, tuple(body), self.about(12_000), self.about(9_000))

    def steps(self, count, make, between=20_000):
        """make(number of the step) gives its instructions."""
        out = []
        for number in range(count):
            out += [self.work(between)] if number else []
            out += self.range(f"ProfilerStep#{number + 1}", *make(number))
        return out


# ---- kinds of programs ----


def training(author):
    """Batch to the device, forward, backward on another thread, optimizer, at times the loss is read."""
    pick, layers = author.pick, author.pick.randint(8, 20)
    reads, has_memset = pick.choice([0, 1, 3]), pick.random() < 0.5

    def make(number):
        out = author.copy(pick.randint(20_000, 200_000), COMPUTE)
        out += author.range("forward", *author.kernels(layers))
        backward = author.range("backward", *author.kernels(2 * layers, scale=0.9))
        out += [author.hand_over(1, *backward), *author.range("optimizer", *author.kernels(layers // 2))]
        if has_memset:
            fill = author.launch(author.op("Memset (Device)", 2_000, "memset"), COMPUTE, "cudaMemsetAsync")
            out += author.operator("aten::zero_", author.work(), fill)
        if reads and number % reads == 0:
            out += author.read_back()
        return out

    return author.steps(pick.randint(3, 6), make)


def double_buffered(author):
    """The next batch is copied while this one is computed; two buffers, so a copy waits for the last use of its own."""
    pick, layers, copy = author.pick, author.pick.randint(4, 10), author.pick.randint(50_000, 400_000)
    waits_on_host = pick.random() < 0.3

    def fetch(number):
        buffer, out = number % 2, []
        if number >= 2:
            out += [author.sync(event=f"free{buffer}")] if waits_on_host else [author.wait(f"free{buffer}", COPIES)]
        return [*out, *author.copy(copy), author.record(f"full{buffer}", COPIES)]

    def make(number):
        buffer = number % 2
        out = (fetch(0) if number == 0 else []) + fetch(number + 1)
        out += [author.wait(f"full{buffer}", COMPUTE), *author.range("compute", *author.kernels(layers))]
        return [*out, author.record(f"free{buffer}", COMPUTE), author.work()]

    return author.steps(pick.randint(5, 9), make)


def streams(author):
    """Work forks to other streams and joins again, by events."""
    pick = author.pick
    count = pick.choice([1, 1, 2, 3])

    def section(number):
        out = author.kernels(pick.randint(1, 4)) + [author.record(f"fork{number}", COMPUTE)]
        side = pick.sample(range(SIDE, SIDE + 4), count)
        for stream in side:
            out += [author.wait(f"fork{number}", stream), *author.kernels(pick.randint(1, 4), stream)]
            out.append(author.record(f"join{number}.{stream}", stream))
        out += author.kernels(pick.randint(0, 3))
        for stream in side:
            out.append(author.wait(f"join{number}.{stream}", COMPUTE))
        return out + author.kernels(1)

    def make(number):
        out = [one for part in range(pick.randint(2, 4)) for one in section(f"{number}.{part}")]
        return out + ([author.sync()] if pick.random() < 0.5 else author.read_back())

    return author.steps(pick.randint(3, 5), make)


def read_backs(author):
    """A loop of decoding: few kernels, then a value that the CPU needs. At times memory is freed."""
    pick, layers, frees = author.pick, author.pick.randint(2, 8), author.pick.random() < 0.3

    def make(_):
        out = []
        for _ in range(pick.randint(2, 5)):
            out += author.kernels(layers) + author.read_back()
        if frees:
            out += author.kernels(2) + [Free(author.about(30_000), author.about(4_000))]
        return out

    return author.steps(pick.randint(4, 8), make)


def hand_overs(author):
    """Work goes to threads of a pool, one after the other; meanwhile another thread may copy a checkpoint."""
    pick = author.pick
    has_background = pick.random() < 0.5

    def background():
        out = []
        for _ in range(6):
            out += [author.work(150_000), *author.copy(pick.randint(50_000, 150_000), COPIES, FROM_DEVICE)]
            out += [author.sync(COPIES)]
        return author.range("checkpoint", *out)

    def make(number):
        out = author.kernels(pick.randint(2, 6))
        if number == 0 and has_background:
            out.append(Spawn(9, tuple(background())))
        for _ in range(pick.randint(1, 3)):
            out += [author.hand_over(pick.randint(1, 3), *author.range("job", *author.kernels(pick.randint(6, 15))))]
            out += author.kernels(pick.randint(1, 5))
        return out + (author.read_back() if pick.random() < 0.4 else [])

    return author.steps(pick.randint(3, 6), make)


def deep_queue(author):
    """The CPU launches faster than the GPU works, until launches wait for room in the queue. Only then does it come to
    the work of another stream."""
    pick = author.pick
    author.host, author.call = 1_500, 2_500
    length, side, synchronizes = pick.randint(12_000, 25_000), pick.choice([0, 0.3, 0.7]), pick.random() < 0.5

    def make(_):
        out = []
        for _ in range(650):
            op = author.op(pick.choice(KERNELS[:4]), length * pick.uniform(0.4, 2.0))
            out += author.operator("aten::op", author.work(), author.launch(op))
        if side:
            out += author.operator("aten::side", author.launch(author.op("side_kernel", 650 * length * side), SIDE))
        return out

    return author.steps(3, make) + ([author.sync()] if synchronizes else [])


def graph(author, nodes, branches):
    """A chain of kernels from which branches on other streams leave and return."""
    pick, out, last = author.pick, [], ()

    def node(stream, after):
        out.append(Node(author.op(pick.choice(KERNELS), author.host * author.balance), stream, after))
        return (len(out) - 1,)

    for index in range(nodes):
        before, last = last, node(COMPUTE, last)
        if branches and index % 5 == 2:
            side = before
            for _ in range(pick.randint(1, 3)):
                side = node(SIDE, side)
            last += side
    return tuple(out)


def graphs(author):
    """Replays of one graph, with eager kernels and copies around."""
    pick = author.pick
    nodes, is_whole = graph(author, pick.randint(6, 24), pick.random() < 0.5), pick.random() < 0.2
    length = 8_000 + 900 * len(nodes)

    def replay():
        if is_whole:
            op = Op("graph", sum(one.op.length for one in nodes), "graph")
            return [author.launch(op, COMPUTE, "cudaGraphLaunch")]
        return [GraphLaunch(nodes, COMPUTE, author.about(length), author.about(length * 0.6))]

    def make(_):
        out = author.copy(pick.randint(5_000, 30_000), COMPUTE)
        for _ in range(pick.randint(1, 3)):
            out += author.operator("replay", author.work(), *replay())
        out += author.kernels(pick.randint(1, 4))
        return out + (author.read_back() if pick.random() < 0.7 else [])

    return author.steps(pick.randint(4, 8), make)


def collective(author, bucket, name=ALL_REDUCE):
    """A collective as DDP starts it. NCCL records and waits for events of its own inside, which hold nothing up."""
    own = [author.record(f"nccl{bucket}", NCCL), author.wait(f"nccl{bucket}", NCCL)]
    op = author.op(name, author.pick.randint(60_000, 300_000))
    return [author.record(f"bucket{bucket}", COMPUTE), author.wait(f"bucket{bucket}", NCCL),
            *author.range("nccl:all_reduce", author.work(4_000), *own, author.launch(op, NCCL, "cudaLaunchKernelExC")),
            author.record(f"reduced{bucket}", NCCL)]


def data_parallel(author):
    """Gradients are summed bucket by bucket while backward goes on; the optimizer waits for all."""
    pick, layers, buckets = author.pick, author.pick.randint(6, 14), author.pick.randint(2, 5)
    has_thread, reads = pick.random() < 0.7, pick.random() < 0.5

    def make(_):
        backward = []
        for bucket in range(buckets):
            backward += author.kernels(max(1, 2 * layers // buckets)) + collective(author, bucket)
        backward += [author.wait(f"reduced{bucket}", COMPUTE) for bucket in range(buckets)]
        backward += author.kernel()
        backward = author.range("backward", *backward)
        out = author.range("forward", *author.kernels(layers))
        out += [author.hand_over(1, *backward)] if has_thread else backward
        out += author.range("optimizer", *author.kernels(layers // 2))
        return out + (author.read_back() if reads else [])

    return author.steps(pick.randint(3, 5), make)


# ---- everything at once ----


def anything(author, threads, depth=0):
    """One thing that a thread may do; threads: to whom it may hand work over."""
    pick, event = author.pick, f"event{author.pick.randrange(6)}"
    stream, other = pick.choice([COMPUTE, COPIES, SIDE]), pick.choice([COMPUTE, COPIES, SIDE])
    wait = pick.choice([author.wait(event, other), author.sync(event=event)])

    def job():
        taker = pick.choice(threads)
        more = [one for one in threads if one != taker] if depth == 0 and pick.random() < 0.5 else []
        return [author.hand_over(taker, *author.range("job", *many(author, pick.randint(1, 5), more, depth + 1)))]

    return pick.choice([
        lambda: author.kernels(pick.randint(1, 6), stream),
        lambda: author.kernels(pick.randint(1, 6)),
        lambda: author.read_back(stream),
        lambda: [author.sync(pick.choice([None, COMPUTE, SIDE]))],
        lambda: author.copy(pick.randint(2_000, 200_000)),
        lambda: [author.record(event, stream), *author.kernels(pick.randint(0, 2)), wait],
        lambda: [Free(author.about(30_000), author.about(4_000))],
        lambda: [GraphLaunch(graph(author, pick.randint(2, 9), True), COMPUTE, author.about(20_000), author.about(12_000))],
        lambda: collective(author, pick.randrange(1000)),
        job if threads else lambda: [author.work(pick.choice([2_000, 100_000]))],
    ])()


def many(author, count, threads, depth=0):
    return [one for _ in range(count) for one in anything(author, threads, depth)]


def mixture(seed):
    """A program in which threads do everything that others do, at the same time. What it takes after a change is hard to
    know from a trace: which thread waits for which is not in it."""
    author = Author(seed)
    pick = author.pick

    def make(number):
        out = []
        for thread in range(pick.randrange(3) if number == 0 else 0):
            pool = [30 + 3 * thread, 31 + 3 * thread]
            out.append(Spawn(20 + thread, tuple(author.range("background", *many(author, 10, pool)))))
        return out + many(author, pick.randint(4, 12), [1, 2, 3])

    return Program("mixture", seed, tuple(author.steps(pick.randint(2, 4), make)))


KINDS = (training, double_buffered, streams, read_backs, hand_overs, graphs, data_parallel, deep_queue)
SEEDS = range(160)


def program(seed):
    """The program of a seed; its kind is seed % 8."""
    author, make = Author(seed), KINDS[seed % len(KINDS)]
    depth = author.pick.randint(962, 1032)
    return Program(make.__name__, seed, tuple(make(author)), depth)


# ---- changes ----


def changes(timeline, seed):
    """About ten questions about a program: [(options of gputime whatif, Change)]."""
    pick = random.Random(seed)
    ops = {one.op for one in timeline.ops}
    classes = {op.time_class for op in ops}
    names = sorted({op.name for op in ops if op.kind == "kernel"})
    half, ninth = ("compute", MILLION // 2), ("compute", MILLION * 9 // 10)
    out = [(("--class", "compute=0.5"), Change(classes=(half,))),
           (("--class", "compute=0.9"), Change(classes=(ninth,))),
           (("--cpu", "2"), Change(cpu=2)),
           (("--cpu", "0.8"), Change(cpu=0.8)),
           (("--no", "launch"), Change(no=frozenset({"launch"}))),
           (("--no", "think"), Change(no=frozenset({"think"}))),
           (("--no", "sync"), Change(no=frozenset({"sync"}))),
           (("--class", "compute=0.5", "--cpu", "2"), Change(classes=(half,), cpu=2))]
    if names:
        name, factor = pick.choice(names), pick.choice(["0", "0.5", "0.75", "2"])
        out.append((("--scale", f"{name}={factor}"), Change(scale=((name, round(float(factor) * MILLION)),))))
    if "comm" in classes:
        out.append((("--class", "comm=0"), Change(classes=(("comm", 0),))))
        out.append((("--overlap", "comm"), Change(overlap_comm=True)))
    elif "memory" in classes:
        out.append((("--class", "memory=0.5"), Change(classes=(("memory", MILLION // 2),))))
    return out
