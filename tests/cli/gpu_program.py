"""Runs small GPU programs: CPU threads that launch, copy, record, wait and synchronize, and a GPU whose streams work in
order, without contention. One run gives the exact time of everything. A run with a Change gives the time that the changed
program really takes, which is what a what-if has to predict.

A program is a tuple of instructions for its first thread. Instructions carry all their lengths (ns), so that every run
is the same. Nothing here knows how gputime explains a trace.
"""

import dataclasses
import fnmatch
import heapq

MILLION = 1_000_000
NEVER = -1  # an end before every start
COMMUNICATION = "nccl"  # part of the names of communication kernels in these programs


# ---- instructions ----


@dataclasses.dataclass(frozen=True)
class Op:
    """What runs on a stream. gap: after the op before it on the stream; event_gap: after an event that it waited for."""
    name: str
    length: int
    kind: str = "kernel"  # or memcpy, memset, graph (a graph that is traced as one op)
    gap: int = 1000
    event_gap: int = 1500

    @property
    def time_class(self):
        if self.kind in ("memcpy", "memset"):
            return "memory"
        return "comm" if COMMUNICATION in self.name else "compute"


@dataclasses.dataclass(frozen=True)
class Work:
    """The CPU computes."""
    length: int


@dataclasses.dataclass(frozen=True)
class Enter:
    """A range or (category cpu_op) an operator begins on the thread."""
    name: str
    category: str = "user_annotation"


@dataclasses.dataclass(frozen=True)
class Leave:
    """The range or operator that began last ends."""


@dataclasses.dataclass(frozen=True)
class Launch:
    """An asynchronous launch or copy. The op may start `delay` after the call's end."""
    op: Op
    stream: int
    length: int = 5000
    delay: int = 2000
    room: int = 1000  # from the end of the op that makes room in a full queue to the call's return
    call: str = "cudaLaunchKernel"


@dataclasses.dataclass(frozen=True)
class BlockingCopy:
    """A copy that the call waits for: cudaMemcpy, or cudaMemcpyAsync with pageable memory. The op may start `offset` after
    the call's start; the call returns `back` after the op's end."""
    op: Op
    stream: int
    offset: int = 3000
    length: int = 5000  # of a call that has nothing to wait for
    back: int = 3000
    call: str = "cudaMemcpy"


@dataclasses.dataclass(frozen=True)
class Node:
    """A node of a graph. after: indices of the nodes that it depends on; none: what the stream did before the graph."""
    op: Op
    stream: int
    after: tuple = ()


@dataclasses.dataclass(frozen=True)
class GraphLaunch:
    """All nodes may start `offset` after the call's start."""
    nodes: tuple
    stream: int
    length: int = 20_000
    offset: int = 12_000
    call: str = "cudaGraphLaunch"


@dataclasses.dataclass(frozen=True)
class Record:
    event: str
    stream: int
    length: int = 1000


@dataclasses.dataclass(frozen=True)
class Wait:
    """cudaStreamWaitEvent."""
    event: str
    stream: int
    length: int = 1000


@dataclasses.dataclass(frozen=True)
class Synchronize:
    """Waits for an event, a stream or (neither given) the device."""
    stream: int | None = None
    event: str | None = None
    length: int = 2000
    back: int = 4000

    @property
    def call(self):
        what = "Event" if self.event is not None else "Stream" if self.stream is not None else "Device"
        return f"cuda{what}Synchronize"


@dataclasses.dataclass(frozen=True)
class Free:
    """cudaFree: waits for the device, but is not there to synchronize."""
    length: int = 30_000
    back: int = 4000
    call: str = "cudaFree"


@dataclasses.dataclass(frozen=True)
class HandOver:
    """Another thread does the work, and this one waits for it, as backward() does."""
    thread: int
    program: tuple
    there: int = 10_000
    back: int = 10_000


@dataclasses.dataclass(frozen=True)
class Spawn:
    """Another thread works at the same time."""
    thread: int
    program: tuple
    there: int = 10_000


# ---- changes ----


def scaled(length, ppm):
    return (length * ppm + MILLION // 2) // MILLION


@dataclasses.dataclass(frozen=True)
class Change:
    """Factors are ppm. scale: ((glob, ppm), ...), of which the last match wins; classes: (("compute", ppm), ...)."""
    scale: tuple = ()
    classes: tuple = ()
    cpu: float = 1.0
    no: frozenset = frozenset()  # of launch, think, sync
    overlap_comm: bool = False

    def op_length(self, op):
        named = [ppm for glob, ppm in self.scale if fnmatch.fnmatchcase(op.name, glob)]
        of_class = [ppm for name, ppm in self.classes if name == op.time_class]
        ppm = (named or of_class or [MILLION])[-1]
        return scaled(op.length, ppm)

    def cpu_length(self, length):
        return scaled(length, round(MILLION / self.cpu)) if self.cpu != 1 else length

    def think(self, length):
        return 0 if "think" in self.no else self.cpu_length(length)

    def launch_call(self, length):
        return 0 if "launch" in self.no else self.cpu_length(length)

    def launch_delay(self, length):
        return 0 if "launch" in self.no else length

    def is_ignored(self, op):
        """Whether nothing but communication waits for the op."""
        return self.overlap_comm and op.time_class == "comm"


UNCHANGED = Change()


# ---- what a run gives ----


@dataclasses.dataclass(frozen=True)
class RunCall:
    thread: int
    name: str
    start: int
    end: int
    correlation: int


@dataclasses.dataclass(frozen=True)
class RunOp:
    op: Op
    stream: int
    start: int
    end: int
    correlation: int
    launched: int  # start of its call
    key: tuple  # thread and number of the op in it: the same in every run of a program
    is_node: bool = False


@dataclasses.dataclass(frozen=True)
class RunRange:
    thread: int
    name: str
    category: str
    start: int
    end: int


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """An event was recorded."""
    event: str
    stream: int
    correlation: int


@dataclasses.dataclass(frozen=True)
class RunSync:
    """A call waited, or made a stream wait. record: which record of the event."""
    kind: str  # context, stream, event, stream_wait
    call: RunCall
    stream: int | None = None
    record: RunRecord | None = None


class Timeline:
    """What ran when. Steps are ranges named ProfilerStep#N."""

    def __init__(self):
        self.calls, self.ops, self.ranges, self.records, self.syncs = [], [], [], [], []

    def steps(self):
        return sorted((one for one in self.ranges if one.name.startswith("ProfilerStep#")), key=lambda one: one.start)

    def launched_in(self):
        """Which ops each step launched: sets of keys."""
        return [{one.key for one in self.ops if step.start <= one.launched < step.end} for step in self.steps()]

    def bounds(self, before=None):
        """The start of the first step, then for each step the later of its end and the end of its last op. before: the
        timeline without a change, whose steps launched the ops."""
        found = [self.steps()[0].start]
        for step, launched in zip(self.steps(), (before or self).launched_in()):
            found.append(max([step.end, *(one.end for one in self.ops if one.key in launched)]))
        return found

    def step_lengths(self, before=None):
        bounds = self.bounds(before)
        return [after - before for before, after in zip(bounds, bounds[1:])]

    def run_length(self, before=None):
        return sum(self.step_lengths(before))


# ---- the machine ----


class Stream:
    """end: of all ops so far; seen: of those that others wait for; waited: until when waits since the last op hold."""

    def __init__(self):
        self.end = self.seen = self.waited = NEVER
        self.ends = []  # of every op that takes a place in the queue

    def ran(self, end, is_ignored):
        self.end = max(self.end, end)
        if not is_ignored:
            self.seen = max(self.seen, end)

    def reached(self):
        """When everything on the stream so far is done, as an event or the CPU sees it."""
        return max(self.seen, self.waited)


class Thread:
    def __init__(self, index):
        self.index = index
        self.clock = 0
        self.work = None  # iterator of instructions; None: it has nothing to do
        self.open = []  # ranges: (name, category, start)
        self.launched = 0  # ops
        self.caller = None  # (thread that waits for this one's work, how long it takes to go on)


class Machine:
    """queue_depth: how many ops a stream can hold before a launch waits."""

    def __init__(self, change=UNCHANGED, queue_depth=1024):
        self.change = change
        self.queue_depth = queue_depth
        self.threads, self.streams = {}, {}
        self.recorded = {}  # event: (time, record)
        self.ready = []  # heap of (clock, thread)
        self.timeline = Timeline()

    def run(self, program, start=0):
        self.begin(0, program, start, None)
        while self.ready:
            _, index = heapq.heappop(self.ready)
            self.advance(self.threads[index])
        assert not any(thread.open for thread in self.threads.values()), "a range is never left"
        return self.timeline

    def begin(self, index, program, start, caller):
        thread = self.threads.setdefault(index, Thread(index))
        assert thread.work is None, f"thread {index} is at work"
        thread.clock, thread.caller, thread.work = max(thread.clock, start), caller, iter(program)
        heapq.heappush(self.ready, (thread.clock, index))

    def advance(self, thread):
        """One instruction of the thread that is earliest: so calls reach a stream in the order of their starts."""
        instruction = next(thread.work, None)
        if instruction is None:
            thread.work = None
            if thread.caller:
                caller, back = thread.caller
                caller.clock = thread.clock + back
                heapq.heappush(self.ready, (caller.clock, caller.index))
            return
        if self.execute[type(instruction)](self, thread, instruction) != "blocked":
            heapq.heappush(self.ready, (thread.clock, thread.index))

    def stream(self, number):
        return self.streams.setdefault(number, Stream())

    # ---- the CPU ----

    def do_work(self, thread, one):
        thread.clock += self.change.think(one.length)

    def do_enter(self, thread, one):
        thread.open.append((one.name, one.category, thread.clock))

    def do_leave(self, thread, _):
        name, category, start = thread.open.pop()
        self.timeline.ranges.append(RunRange(thread.index, name, category, start, thread.clock))

    def do_hand_over(self, thread, one):
        start = thread.clock + self.change.cpu_length(one.there)
        self.begin(one.thread, one.program, start, (thread, self.change.cpu_length(one.back)))
        return "blocked"

    def do_spawn(self, thread, one):
        self.begin(one.thread, one.program, thread.clock + self.change.cpu_length(one.there), None)

    def called(self, thread, name, end):
        """The thread is in the call until `end`."""
        call = RunCall(thread.index, name, thread.clock, end, len(self.timeline.calls) + 1)
        self.timeline.calls.append(call)
        thread.clock = end
        return call

    # ---- launches ----

    def place(self, op, number, ready, before, waited, call):
        """Runs the op once it is ready, after the end of what came before and of what its stream had to wait for."""
        start = max(ready, before + op.gap if before != NEVER else 0, waited + op.event_gap if waited != NEVER else 0)
        end = start + self.change.op_length(op)
        thread = self.threads[call.thread]
        thread.launched += 1
        key, is_node = (thread.index, thread.launched), call.name == "cudaGraphLaunch" and op.kind != "graph"
        self.timeline.ops.append(RunOp(op, number, start, end, call.correlation, call.start, key, is_node))
        self.stream(number).ran(end, self.change.is_ignored(op))
        return end

    def place_last(self, op, number, ready, call):
        """At the end of the stream's queue."""
        stream = self.stream(number)
        end = self.place(op, number, ready, stream.end if op.time_class == "comm" else stream.seen, stream.waited, call)
        stream.waited = NEVER
        stream.ends.append(end)
        return end

    def do_launch(self, thread, one):
        ends = self.stream(one.stream).ends
        end = thread.clock + self.change.launch_call(one.length)
        if len(ends) >= self.queue_depth:
            end = max(end, ends[-self.queue_depth] + one.room)
        call = self.called(thread, one.call, end)
        self.place_last(one.op, one.stream, end + self.change.launch_delay(one.delay), call)

    def do_blocking_copy(self, thread, one):
        call = RunCall(thread.index, one.call, thread.clock, thread.clock, len(self.timeline.calls) + 1)
        done = self.place_last(one.op, one.stream, call.start + self.change.launch_call(one.offset), call)
        self.called(thread, one.call, max(call.start + self.change.launch_call(one.length), done + one.back))

    def do_graph(self, thread, one):
        """Inside a graph its edges decide, not the order of a stream."""
        ready = thread.clock + self.change.launch_call(one.offset)
        call = self.called(thread, one.call, thread.clock + self.change.launch_call(one.length))
        home, ends = self.stream(one.stream), []
        before, waited = home.seen, home.waited
        for node in one.nodes:
            if node.after:
                ends.append(self.place(node.op, node.stream, ready, max(ends[i] for i in node.after), NEVER, call))
            else:
                ends.append(self.place(node.op, node.stream, ready, before, waited, call))
        home.ran(max(ends), False)
        home.waited = NEVER

    # ---- events and waits ----

    def do_record(self, thread, one):
        call = self.called(thread, "cudaEventRecord", thread.clock + self.change.think(one.length))
        record = RunRecord(one.event, one.stream, call.correlation)
        self.recorded[one.event] = (self.stream(one.stream).reached(), record)
        self.timeline.records.append(record)

    def do_wait(self, thread, one):
        call = self.called(thread, "cudaStreamWaitEvent", thread.clock + self.change.think(one.length))
        time, record = self.recorded.get(one.event, (NEVER, None))
        stream = self.stream(one.stream)
        stream.waited = max(stream.waited, time)
        self.timeline.syncs.append(RunSync("stream_wait", call, one.stream, record))

    def device_done(self):
        return max((stream.reached() for stream in self.streams.values()), default=NEVER)

    def do_synchronize(self, thread, one):
        record = None
        if one.event is not None:
            done, record = self.recorded.get(one.event, (NEVER, None))
        elif one.stream is not None:
            done = self.stream(one.stream).reached()
        else:
            done = self.device_done()
        end = thread.clock + self.change.cpu_length(one.length)
        if done != NEVER and "sync" not in self.change.no:
            end = max(end, done + one.back)
        call = self.called(thread, one.call, end)
        kind = "event" if one.event is not None else "stream" if one.stream is not None else "context"
        self.timeline.syncs.append(RunSync(kind, call, one.stream, record))

    def do_free(self, thread, one):
        end, done = thread.clock + self.change.cpu_length(one.length), self.device_done()
        self.called(thread, one.call, max(end, done + one.back if done != NEVER else 0))

    execute = {Work: do_work, Enter: do_enter, Leave: do_leave, Launch: do_launch, BlockingCopy: do_blocking_copy,
               GraphLaunch: do_graph, Record: do_record, Wait: do_wait, Synchronize: do_synchronize, Free: do_free,
               HandOver: do_hand_over, Spawn: do_spawn}


def run(program, change=UNCHANGED, start=0, queue_depth=1024):
    return Machine(change, queue_depth).run(program, start)
