"""The graph of a trace: nodes, and edges for what each had to wait for."""

import bisect
import collections
import dataclasses
import itertools

from path_oracle.trace import UNKNOWN

LATE, LATEST, NEAR, SKEW = 10_000, 200_000, 20_000, 20_000
SILENT, BLOCKED, OWN, FLIGHT = 50_000, 20_000, 2_000, 512


@dataclasses.dataclass(eq=False)
class Node:
    kind: str  # call, begin, return, mark, op, point
    start: float
    end: float
    thread: int | None = None
    call: object = None
    op: object = None
    before: list = dataclasses.field(default_factory=list)  # edges into it

    @property
    def latency_class(self):
        return self.op.latency_class if self.op else self.call.name if self.call else None


@dataclasses.dataclass(eq=False)
class Edge:
    source: Node
    target: Node
    kind: str
    from_start: bool = False
    cpu: int = 0
    is_exact: bool = True
    latency: int = 0

    @property
    def lets_go(self):
        return (self.source.start if self.from_start else self.source.end) + self.cpu


def lower_median(values):
    return sorted(values)[(len(values) - 1) // 2]


class Graph:
    def __init__(self, trace):
        self.trace = trace
        self.nodes, self.edges, self.contradicting, self.queue_depth = [], [], 0, None
        self.op_node = {op: Node("op", op.start, op.end, op=op) for op in trace.ops}
        self.streams = {stream: [self.op_node[op] for op in ops] for stream, ops in trace.streams.items()}
        self.by_end = sorted(self.op_node.values(), key=lambda node: node.end)
        self.ends = [node.end for node in self.by_end]
        self.find_node_calls()
        self.waits = {call: list(self.waits_of(call)) for calls in self.node_calls.values() for call in calls}
        self.room = self.find_room()
        self.find_marks()
        self.join_threads()
        self.nodes += self.op_node.values()
        self.join_ops()

    def add(self, *args, **settings):
        """Keeps an edge that does not contradict the trace."""
        edge = Edge(*args, **settings)
        late = edge.lets_go - edge.target.start
        is_stream = edge.kind == "stream" and edge.source.op is not None
        if late > 0 and not is_stream and not (edge.kind == "sync" and late <= SKEW):
            self.contradicting += 1
            return
        edge.target.before.append(edge)
        self.edges.append(edge)

    # ---- calls ----

    def find_node_calls(self):
        """{thread: node calls by start}. A call inside another belongs to that one, with its ops."""
        launched = collections.defaultdict(list)
        for op in self.trace.ops:
            if op.call:
                launched[op.call].append(op)
        self.node_calls = collections.defaultdict(list)
        self.owner = {}  # call: the node call that it belongs to
        for call in sorted(self.trace.calls, key=lambda call: (call.start, -call.end)):
            if not (call in launched or call.is_sync or call.is_blocking_copy
                    or (call.is_allocation and call.end - call.start >= BLOCKED)):
                continue
            kept = self.node_calls[call.thread]
            if kept and call.start < kept[-1].end:
                self.owner[call] = kept[-1]
            else:
                kept.append(call)
                self.owner[call] = call
            self.owner[call].ops += launched.get(call, [])
        self.node_calls = {thread: calls for thread, calls in self.node_calls.items() if calls}
        for op in self.trace.ops:
            if op.call:
                op.launched = self.owner[op.call].start

    def last_op(self, stream, time):
        found = [node for node in self.streams.get(stream, []) if node.op.launched < time]
        return max(found, key=lambda node: node.end, default=None)

    def near_op(self, call):
        index = bisect.bisect_right(self.ends, call.end)
        for node in reversed(self.by_end[max(0, index - 32):index]):
            if node.end <= max(call.start, call.end - NEAR):
                return None
            if node.op.launched < call.start:
                return node
        return None

    def waits_of(self, call):
        """(op, whether that is exact) for each op that the call had to wait for."""
        found = []
        if call.is_sync:
            found = self.sync_waits(call)
        elif call.is_allocation:
            found = [(self.near_op(call), False)]
        for op in call.ops:
            is_copy = op.kind in ("memcpy", "memset")
            if is_copy and op.end <= call.end and (call.is_blocking_copy or "Pageable" in op.name):
                found.append((self.op_node[op], True))
        return ((node, is_exact) for node, is_exact in found if node and node.end <= call.end + SKEW)

    def sync_waits(self, call):
        sync = self.trace.syncs.get(call.correlation)
        if "Device" in call.name or "Ctx" in call.name:
            return [(self.last_op(stream, call.start), True) for stream in self.streams]
        if "Stream" in call.name:
            if sync and sync.stream is not None:
                return [(self.last_op(sync.stream, call.start), True)]
            before = [one for one in self.node_calls[call.thread] if one.start < call.start and one.ops]
            node = self.last_op(before[-1].ops[-1].stream, call.start) if before else None
            return [(self.near_op(call) if node and node.end > call.end + SKEW else node, False)]
        if sync and sync.record_stream is not None:
            return [(self.last_op(sync.record_stream, (sync.record_call or call).start), True)]
        return [(self.near_op(call), False)] if call.end - call.start >= BLOCKED else []

    def find_room(self):
        """{call: op whose end made room for its launch}."""
        found = {}
        for nodes in self.streams.values():
            by_end, ends = sorted(nodes, key=lambda node: node.end), sorted(node.end for node in nodes)
            deep, flights = [], []
            for index, node in enumerate(sorted(nodes, key=lambda node: node.op.launched)):
                call = node.op.call and self.owner[node.op.call]
                if not call or node.op.is_node:
                    continue
                ended = bisect.bisect_right(ends, call.end)
                flight = index + 1 - ended
                if flight < FLIGHT:
                    continue
                deep.append((call, index))
                is_near = ended and call.start < ends[ended - 1] and call.end - ends[ended - 1] <= NEAR
                if call.end - call.start >= BLOCKED and is_near:
                    found[call] = by_end[ended - 1]
                    flights.append(flight)
            if len(flights) >= 3:
                depth = self.queue_depth = lower_median(flights)
                for call, index in deep:
                    if call not in found and index >= depth and by_end[index - depth].end <= call.end:
                        found[call] = by_end[index - depth]
        return found

    # ---- threads ----

    def find_marks(self):
        """{thread: {time: whether the thread waited for another one until then}}, hand-overs between them."""
        trace = self.trace
        self.boundaries = {thread: times for thread, times in trace.boundaries().items() if thread in self.node_calls}
        self.marks = collections.defaultdict(dict)
        for thread in self.node_calls:
            self.marks[thread][self.boundaries[thread][0]] = False
        for step in trace.steps:
            self.marks[step.thread].setdefault(step.start, False)
            self.marks[step.thread].setdefault(step.end, False)
        self.hand_overs = []  # (thread, time, thread, time)
        for giver, given, taken, taker, first, last in self.find_hand_overs():
            self.hand_overs += [(giver, given, taker, first), (taker, last, giver, taken)]
            self.marks[giver].setdefault(given, False)
            self.marks[taker].setdefault(last, False)
            self.marks[giver][taken] = self.marks[taker][first] = True
        reached = {(thread, time) for _, _, thread, time in self.hand_overs}
        for thread in self.node_calls:
            first = self.boundaries[thread][0]
            earlier = [(times[bisect.bisect_left(times, first) - 1], other) for other, times in self.boundaries.items()
                       if times[0] < first]
            if earlier and (thread, first) not in reached:
                time, other = max(earlier)
                self.hand_overs.append((other, time, thread, first))
                self.marks[other].setdefault(time, False)

    def is_inside(self, thread, time):
        """Whether the thread is inside any event."""
        return any(start <= time < end for start, end in self.spans[thread])

    def find_hand_overs(self):
        self.spans = collections.defaultdict(list)
        for one in (*self.trace.calls, *self.trace.ranges):
            self.spans[one.thread].append((one.start, one.end))
        launches = {thread: [call.start for call in calls if call.ops] for thread, calls in self.node_calls.items()}
        found = []
        for giver, times in self.boundaries.items():
            for start, end in zip(times, times[1:]):
                if end - start < SILENT:
                    continue
                answers = []
                for taker in launches:
                    count = bisect.bisect_left(launches[taker], end) - bisect.bisect_left(launches[taker], start)
                    if taker == giver or not count or self.is_inside(taker, start - 1) or self.is_inside(taker, end):
                        continue
                    own = self.boundaries[taker]
                    first, last = own[bisect.bisect_left(own, start)], own[bisect.bisect_right(own, end) - 1]
                    has_flow = (giver, taker) in self.trace.flows
                    if 2 * (last - first) >= end - start or has_flow:
                        answers.append((has_flow, count, taker, first, last))
                if answers:
                    found.append((end - start, giver, start, end, *max(answers, key=lambda one: one[:2])[2:]))
        answered = set()  # works, each known by its thread and begin
        for _, giver, start, end, taker, first, last in sorted(found):
            if (taker, first) not in answered:
                answered.add((taker, first))
                yield giver, start, end, taker, first, last

    def join_threads(self):
        self.mark_node, self.begin, self.end = {}, {}, {}
        for thread, marks in self.marks.items():
            calls = self.node_calls.get(thread, [])
            items = [(call.start, 1, call.end, call) for call in calls]
            for time, is_wait in marks.items():
                inside = [call.end for call in calls if call.start < time < call.end]
                items.append((inside[0] if inside else time, 0, time, is_wait))
            last = None
            for time, is_call, key, what in sorted(items, key=lambda item: item[:3]):
                if is_call:
                    last = self.add_call(what, last)
                    continue
                node = self.mark_node[thread, key] = Node("mark", time, time, thread)
                self.nodes.append(node)
                self.follow(last, node, "order" if what else "think")
                last = node
        for giver, given, taker, taken in self.hand_overs:
            source, target = self.mark_node[giver, given], self.mark_node[taker, taken]
            self.add(source, target, "handover", cpu=target.start - source.end, is_exact=False)
        for call, waits in self.waits.items():
            for node, is_exact in waits:
                self.add(node, self.end[call], "sync", is_exact=is_exact)
        for call, node in self.room.items():
            self.add(node, self.end[call], "room", is_exact=False)

    def follow(self, last, node, kind="think"):
        if last:
            self.add(last, node, kind, cpu=0 if kind == "order" else node.start - last.end)

    def add_call(self, call, last):
        if call.is_sync or self.waits[call] or call in self.room:
            begin = Node("begin", call.start, call.start, call.thread, call)
            end = Node("return", call.end, call.end, call.thread, call)
            self.nodes += [begin, end]
            self.follow(last, begin)
            self.add(begin, end, "own")
        else:
            begin = end = Node("call", call.start, call.end, call.thread, call)
            self.nodes.append(begin)
            self.follow(last, begin)
        self.begin[call], self.end[call] = begin, end
        return end

    # ---- ops ----

    def join_ops(self):
        for nodes in self.streams.values():
            self.join_stream(nodes)
        has_records = any(sync.record_stream is not None for sync in self.trace.syncs.values())
        points = []
        if has_records:
            points = self.join_events()
        else:
            self.infer_events()
        self.join_launches()
        self.nodes += points

    def join_stream(self, nodes):
        for index, (before, node) in enumerate(itertools.pairwise(nodes), 1):
            if before.end <= node.start:
                self.add(before, node, "stream")
            elif before.op.is_node and node.op.is_node and before.op.call is node.op.call:
                ended = [one for one in nodes[max(0, index - 16):index] if one.end <= node.start]
                if ended:
                    self.add(max(ended, key=lambda one: one.end), node, "stream")
            else:
                self.add(before, node, "stream", from_start=True)
                if before.end < node.end:
                    self.add(before, node, "stream")

    def join_launches(self):
        offsets, later = collections.defaultdict(list), []
        for op, node in self.op_node.items():
            if not op.call:
                continue
            call = self.owner[op.call]
            if op.start >= call.end:
                self.add(self.end[call], node, "launch")
            elif any(edge.lets_go > call.start for edge in node.before):
                later.append((node, call))
            else:
                offsets[call.name].append(op.start - call.start)
                self.add(self.begin[call], node, "launch", from_start=True, cpu=op.start - call.start)
        for node, call in later:
            usual = lower_median(offsets[call.name]) if offsets[call.name] else 0
            self.add(self.begin[call], node, "launch", from_start=True, cpu=max(0, min(node.start - call.start, usual)))

    def join_events(self):
        """Waits and records as points on their streams."""
        items, records = [], {}
        for stream, nodes in self.streams.items():
            launched = itertools.accumulate((node.op.launched for node in nodes), max)
            items += [(time, 0, index, stream, "op", node, None)
                      for index, (time, node) in enumerate(zip(launched, nodes))]
        for call in self.trace.calls:
            sync = self.trace.syncs.get(call.correlation)
            if not call.name.endswith("StreamWaitEvent") or not sync or sync.record_stream is None:
                continue
            if not {sync.stream, sync.record_stream} <= self.streams.keys():  # nothing ever ran there
                continue
            recorded = sync.record_call or call
            key = (recorded, sync.record_stream)
            if key not in records:
                records[key] = Node("point", UNKNOWN, UNKNOWN)
                items.append((recorded.start, 1, 0, sync.record_stream, "record", records[key], None))
            items.append((call.start, 1, 1, sync.stream, "wait", Node("point", UNKNOWN, UNKNOWN), records[key]))
        last_op, last_wait, points, edges = {}, {}, [], []
        for *_, stream, kind, node, record in sorted(items, key=lambda item: item[:3]):
            if kind == "op":
                if stream in last_wait:
                    edges.append((last_wait.pop(stream), node))
                last_op[stream] = node
                continue
            sources = [one for one in (record, last_wait.get(stream), last_op.get(stream)) if one and one.end != UNKNOWN]
            if not sources:
                continue
            node.start = node.end = max(one.end for one in sources)
            for one in sources:
                self.add(one, node, "event")
            points.append(node)
            if kind == "wait":
                last_wait[stream] = node
        for wait, node in edges:
            self.add(wait, node, "event")
        return points

    def infer_events(self):
        """By the order of calls: a wait is for what the thread recorded since its last launch, else for what ended last."""
        inside_nccl = [(one.thread, one.start, one.end) for one in self.trace.ranges if one.name.startswith("nccl:")]
        by_thread = collections.defaultdict(list)
        for call in sorted(self.trace.calls, key=lambda call: call.start):
            is_skipped = any(thread == call.thread and start <= call.start < end for thread, start, end in inside_nccl)
            is_event = "EventRecord" in call.name or call.name.endswith("StreamWaitEvent")
            if (is_event and not is_skipped) or (call.ops and self.owner[call] is call):
                by_thread[call.thread].append(call)
        for calls in by_thread.values():
            launched = recorded = None
            for index, call in enumerate(calls):
                if call.ops:
                    launched, recorded = self.op_node[call.ops[-1]], None
                elif "EventRecord" in call.name:
                    recorded = call
                else:
                    self.infer_event(call, calls[index + 1:], launched, recorded)

    def infer_event(self, call, later, launched, recorded):
        sync = self.trace.syncs.get(call.correlation)
        stream = sync.stream if sync else None
        target = next((self.op_node[op] for one in later for op in one.ops if stream is None or op.stream == stream), None)
        if not target:
            return
        source = None
        if recorded and launched and launched.op.stream != target.op.stream:
            source = self.last_op(launched.op.stream, recorded.start)
        if not source or source.end > target.start:
            source = max((node for other, nodes in self.streams.items() if other != target.op.stream
                          for node in [one for one in nodes if one.op.launched < call.start][-64:]
                          if node.end <= target.start), key=lambda node: node.end, default=None)
        if source:
            self.add(source, target, "event", is_exact=False)
