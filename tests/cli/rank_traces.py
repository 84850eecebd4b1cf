"""Traces of the ranks of a made job, as the PyTorch profiler writes them; times in ns.

A job is played forward: members leave a collective together, when the last has come and the data has moved. So the waits
of each member are known exactly.
"""

import copy
import json

BASE = 2_000_000_000_000
KERNEL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
LAUNCH_AHEAD = 2_000_000


class Rank:
    """One rank: its GPU goes from kernel to kernel on one stream."""

    def __init__(self, number, world):
        self.number, self.world = number, world
        self.now = BASE
        self.kernels = []  # [name, start, end, args]
        self.late = set()  # kernels that were launched just before they start
        self.steps = []
        self.waits = []  # of each collective: (start, end, wait)

    def compute(self, length, name="gemm_kernel"):
        self.kernels.append([name, self.now, self.now + length, {}])
        self.now += length

    def idle(self, length):
        """The CPU does something else before it launches the next kernel."""
        self.now += length
        self.late.add(len(self.kernels))


class Job:
    """Ranks that communicate. Steps are numbered from 1."""

    def __init__(self, world):
        self.ranks = [Rank(number, world) for number in range(world)]
        self.sequence = {}

    def each(self, action):
        for rank in self.ranks:
            action(rank)

    def collective(self, members, transfer, name="allreduce", group=None, nelems=4096, **args):
        """All leave when the last has come and the data has moved."""
        group = group or "g" + "_".join(map(str, members))
        ranks = [self.ranks[number] for number in members]
        last = max(rank.now for rank in ranks)
        sequence = self.sequence[group] = self.sequence.get(group, -1) + 1
        for rank in ranks:
            rank.waits.append((rank.now, last + transfer, last - rank.now))
            rank.kernels.append([KERNEL, rank.now, last + transfer, {
                "Collective name": name, "In msg nelems": nelems, "Out msg nelems": nelems, "Group size": len(members),
                "dtype": "BFloat16", "In split size": "[]", "Out split size": "[]", "Process Group Name": group,
                "Process Group Description": "made", "Process Group Ranks": str(list(members)), "made sequence": sequence,
                **args}])
            rank.now = last + transfer

    def message(self, source, target, transfer, nelems=1024):
        """The receiver leaves with the data, the sender needs as long to send it."""
        sender, receiver = self.ranks[source], self.ranks[target]
        end = max(sender.now, receiver.now) + transfer
        common = {"In msg nelems": nelems, "Out msg nelems": nelems, "Group size": len(self.ranks), "dtype": "BFloat16",
                  "In split size": "[]", "Out split size": "[]", "Process Group Name": "0",
                  "Process Group Description": "pp", "Process Group Ranks": str(list(range(len(self.ranks))))}
        name = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
        sender.kernels.append([name, sender.now, end, {"Collective name": "send", "Dst Rank": target, **common}])
        receiver.kernels.append([name, receiver.now, end, {"Collective name": "recv", "Src Rank": source, **common}])
        sender.now = receiver.now = end

    def step(self, number, body):
        begins = [len(rank.kernels) for rank in self.ranks]
        body()
        for rank, begin in zip(self.ranks, begins):
            rank.steps.append((number, begin, len(rank.kernels)))

    def write(self, folder, change=lambda rank: rank, name="rank{}.json", **settings):
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for rank in self.ranks:
            path = folder / name.format(rank.number)
            path.write_text(json.dumps(document(change(copy.deepcopy(rank)), **settings)))
            paths.append(path)
        return paths


def us(time_ns):
    return round(time_ns / 1000, 3)


def document(rank, with_rank=True, with_steps=True, with_metadata=True):
    """All ops of a step are launched before its first one starts, so that the CPU is never late."""
    events, correlation = [], 0
    launches = {}
    for number, begin, end in rank.steps:
        start = rank.kernels[begin][1] - LAUNCH_AHEAD
        last = max((rank.kernels[index][1] for index in rank.late if begin <= index < end), default=0)
        for offset, index in enumerate(range(begin, end)):
            launches[index] = start + 1000 + 100 * offset
        if with_steps:
            events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1, "tid": 1,
                           "ts": us(start), "dur": us(max(2000 + 100 * (end - begin), last - start)), "args": {}})
    for index, (name, start, end, args) in enumerate(rank.kernels):
        correlation += 1
        args = {key: value for key, value in args.items() if key != "made sequence"} if with_metadata else {}
        launched = start - 2000 if index in rank.late else launches.get(index, start - LAUNCH_AHEAD)
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                       "ts": us(launched), "dur": 0.05, "args": {"correlation": correlation}})
        events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": us(start),
                       "dur": us(end - start),
                       "args": {"device": 0, "stream": 7, "correlation": correlation, "External id": correlation,
                                "grid": [1, 1, 1], "block": [128, 1, 1], **args}})
    info = {"distributedInfo": {"rank": rank.number, "world_size": rank.world}} if with_rank else {}
    return {"schemaVersion": 1, **info, "traceEvents": events}


# ---- changes of one rank ----


def shifted(number, by_ns):
    """Its clock is wrong by a constant."""
    def change(rank):
        if rank.number == number:
            for kernel in rank.kernels:
                kernel[1] += by_ns
                kernel[2] += by_ns
        return rank
    return change


def drifting(number, ppm):
    """Its clock is too fast."""
    def change(rank):
        if rank.number == number:
            for kernel in rank.kernels:
                kernel[1:3] = [time + round((time - BASE) * ppm / 1e6) for time in kernel[1:3]]
        return rank
    return change


def without(number, chosen):
    """Some of its communication kernels, by their numbers, are not in the trace."""
    def change(rank):
        if rank.number == number:
            gone = [index for index, kernel in enumerate(rank.kernels) if kernel[3]]
            gone = {gone[place] for place in chosen}
            rank.steps = [(step, begin - sum(index < begin for index in gone), end - sum(index < end for index in gone))
                          for step, begin, end in rank.steps]
            rank.late = {late - sum(index < late for index in gone) for late in rank.late - gone}
            rank.kernels = [kernel for index, kernel in enumerate(rank.kernels) if index not in gone]
        return rank
    return change


def numbered(key, value):
    """Kernels have a number that is the same on all ranks."""
    def change(rank):
        for kernel in rank.kernels:
            if kernel[3]:
                kernel[3][key] = value(kernel[3])
        return rank
    return change


# ---- jobs ----


def uneven_length(rank, step, place):
    """Work that differs from rank to rank and step to step, a little."""
    return 100_000 + 1_000 * ((rank * 7 + step * 5 + place * 3) % 11)


def two_by_two(steps=6, slow=2, extra=400_000, late=(4, 1, 15_000_000), scale=1):
    """Four ranks, two groups of tensor and two of data parallelism; one rank computes more, one is late once."""
    job = Job(4)

    def body(step):
        for place in range(3):
            for rank in job.ranks:
                if late and (step, rank.number, place) == (late[0], late[1], 1):
                    rank.idle(late[2])
                rank.compute(scale * uneven_length(rank.number, step, place))
                if rank.number == slow:
                    rank.compute(scale * extra, "extra_gemm_kernel")
            job.collective((0, 1), 300_000, nelems=2048)
            job.collective((2, 3), 300_000, nelems=2048)
        job.collective((0, 2), 500_000, nelems=8192)
        job.collective((1, 3), 500_000, nelems=8192)

    for step in range(1, steps + 1):
        job.step(step, lambda: body(step))
    return job


def pipeline(steps=4, micro_batches=4, slow=1):
    """Stages that pass micro batches on and back."""
    job = Job(4)

    def body(step):
        for batch in range(micro_batches):
            for stage in range(4):
                job.ranks[stage].compute(uneven_length(stage, step, batch) * (2 if stage == slow else 1))
                if stage < 3:
                    job.message(stage, stage + 1, 50_000)
        for batch in range(micro_batches):
            for stage in (3, 2, 1):
                job.ranks[stage].compute(uneven_length(stage, step, batch) * (2 if stage == slow else 1))
                job.message(stage, stage - 1, 50_000)

    for step in range(1, steps + 1):
        job.step(step, lambda: body(step))
    return job
