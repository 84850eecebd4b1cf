"""What the graph of a trace says: which edge held each node back, how long changed programs take, what the path is."""

import collections

from path_oracle.graph import LATE, LATEST, NEAR, OWN, Graph, lower_median

NEVER = float("-inf")
FREE = ("think", "order", "handover")  # edges without latency
RANK = {"stream": 0, "sync": 0, "event": 1, "room": 1, "launch": 2, "handover": 2, "think": 3, "order": 3, "own": 3}


class Answers:
    """change of simulations: what gpu_program.Change offers."""

    def __init__(self, trace):
        self.trace = trace
        self.graph = Graph(trace)
        self.set_typical()
        self.infer_by_clock()
        self.set_typical()
        for edge in self.graph.edges:
            edge.latency = self.latency(edge)
        self.order = self.sort()

    # ---- latencies ----

    def set_typical(self):
        self.bind, lags = {}, collections.defaultdict(list)
        for node in self.graph.nodes:
            edges = [edge for edge in node.before
                     if not (node.op and edge.lets_go > node.start and edge.lets_go >= node.end)]
            if not edges:
                continue
            edge = max(edges, key=lambda edge: (edge.lets_go, -RANK[edge.kind], edge.source.start))
            self.bind[node] = edge
            if node.kind != "point" and edge.kind not in FREE:
                lag = max(0, node.start - edge.lets_go)
                lags[edge.kind, node.latency_class].append(lag)
                lags[edge.kind, None].append(lag)
        self.limit = {key: min(LATEST, max(LATE, 4 * lower_median(values))) for key, values in lags.items()}
        self.typical = {}
        for key, values in lags.items():
            usual = [value for value in values if value <= self.limit[key]]
            self.typical[key] = sum(usual) // len(usual) if usual else 0

    def typical_of(self, edge, default=0):
        key = (edge.kind, edge.target.latency_class)
        return self.typical.get(key, default if edge.kind == "own" else self.typical.get((edge.kind, None), default))

    def is_unexplained(self, node):
        edge = self.bind.get(node)
        if not edge or node.kind == "point" or edge.kind in FREE or (edge.kind == "own" and not node.call.is_sync):
            return False
        return node.start - edge.lets_go > self.limit[edge.kind, node.latency_class]

    def infer_by_clock(self):
        found = []
        for node in self.graph.op_node.values():
            if not self.is_unexplained(node):
                continue
            after = max(self.bind[node].lets_go, node.start - NEAR)
            sources = [one for one in self.graph.by_end if after < one.end <= node.start and one is not node
                       and one.op.launched < node.start and (one.op.stream != node.op.stream or node.op.is_node)]
            if sources:
                found.append((max(sources, key=lambda one: one.end), node))
        for source, node in found:
            self.graph.add(source, node, "event", is_exact=False)

    def has_latency(self, edge):
        is_start_to_start = edge.kind == "stream" and edge.from_start
        return edge.kind not in FREE and edge.target.kind != "point" and not is_start_to_start

    def latency(self, edge):
        distance = edge.target.start - edge.lets_go
        if self.bind.get(edge.target) is edge:
            return distance
        if not self.has_latency(edge):
            return 0
        return min(distance, self.typical_of(edge, OWN if edge.kind == "own" else 0))

    def replay_latency(self, edge):
        if self.bind.get(edge.target) is not edge or edge.latency < 0:
            return edge.latency
        if not self.has_latency(edge):
            return 0
        if edge.kind == "own" and not self.is_unexplained(edge.target):
            return edge.latency
        return self.typical_of(edge, OWN if edge.kind == "own" else 0)

    # ---- simulation ----

    def sort(self):
        """Nodes, each after those that it waits for."""
        order, seen = [], set()
        for first in self.graph.nodes:
            stack = [] if first in seen else [(first, iter(first.before))]
            seen.add(first)
            while stack:
                node, edges = stack[-1]
                source = next((edge.source for edge in edges if edge.source not in seen), None)
                if source:
                    seen.add(source)
                    stack.append((source, iter(source.before)))
                else:
                    order.append(stack.pop()[0])
        return order

    def is_dropped(self, edge, change, only_sure):
        source, target = edge.source, edge.target
        if only_sure and edge.kind == "event" and not edge.is_exact and self.bind.get(target) is not edge:
            return True
        if "sync" in change.no and edge.kind == "sync" and target.call.is_sync:
            return True
        is_comm = source.op is not None and change.is_ignored(source.op)
        return is_comm and not (target.op is not None and change.is_ignored(target.op))

    def travel(self, edge, change, latency):
        """How long after its anchor the edge lets go, latency included."""
        if edge.kind == "think":
            return change.think(edge.cpu)
        if edge.kind == "handover":
            return change.cpu_length(edge.cpu)
        if edge.kind == "launch":
            return change.launch_call(edge.cpu) + change.launch_delay(latency)
        if edge.kind == "own":
            return change.launch_call(latency) if edge.target.call.ops else change.cpu_length(latency)
        return edge.cpu + latency

    def length(self, node, change):
        if node.op:
            return change.op_length(node.op)
        if node.kind == "call":
            return (change.launch_call if node.call.ops else change.cpu_length)(node.end - node.start)
        return 0

    def simulate(self, change, only_sure=False, latency=lambda edge: edge.latency):
        """{node: (start, end)}."""
        times = {}
        for node in self.order:
            starts = []
            for edge in node.before:
                if self.is_dropped(edge, change, only_sure):
                    continue
                start, end = times[edge.source]
                time = (start if edge.from_start else end) + self.travel(edge, change, latency(edge))
                starts.append(max(time, start) if edge.kind == "stream" else time)
            # A point whose edges are all dropped holds nothing up, and neither do points that wait for such a point.
            start = max(starts, default=NEVER)
            if start == NEVER and not (node.kind == "point" and node.before):
                start = node.start
            times[node] = (start, start + self.length(node, change))
        return times

    # ---- windows ----

    def recorded(self):
        return {node: (node.start, node.end) for node in self.graph.nodes}

    def bounds(self, times):
        graph, steps = self.graph, self.trace.steps
        if not steps:
            launches = [call for calls in graph.node_calls.values() for call in calls if call.ops]
            first = min(launches, key=lambda call: call.start)
            return [times[graph.begin[first]][0], max(times[node][1] for node in graph.op_node.values())]
        found = [times[graph.mark_node[steps[0].thread, steps[0].start]][0]]
        for step in steps:
            ends = [times[node][1] for op, node in graph.op_node.items() if op.is_launched_in(step)]
            # Changes may let a step end before the one before it: no step is shorter than nothing.
            found.append(max([found[-1], times[graph.mark_node[step.thread, step.end]][0], *ends]))
        return found

    def lengths(self, times):
        bounds = self.bounds(times)
        return [after - before for before, after in zip(bounds, bounds[1:])]

    def whatif(self, change, only_sure=False):
        return self.lengths(self.simulate(change, only_sure))

    def replay(self, unchanged):
        return self.lengths(self.simulate(unchanged, latency=self.replay_latency))

    def slack(self):
        """{op: the longest delay of its end that moves no window's end}, without ops that end after all windows."""
        graph, bounds = self.graph, self.bounds(self.recorded())
        late = {node: float("inf") for node in graph.nodes}
        late |= {node: bounds[-1] for node in graph.op_node.values() if node.end <= bounds[-1]}
        for step, bound in zip(self.trace.steps, bounds[1:]):
            late[graph.mark_node[step.thread, step.end]] = bound
            for op, node in graph.op_node.items():
                if op.is_launched_in(step):
                    late[node] = bound
        for node in reversed(self.order):
            for edge in node.before:
                source = edge.source
                latest = late[node] - (node.end - node.start) - edge.latency - edge.cpu
                late[source] = min(late[source], latest + (source.end - source.start if edge.from_start else 0))
        return {op: late[node] - node.end for op, node in graph.op_node.items() if late[node] != float("inf")}

    # ---- the path ----

    def kind_of(self, edge):
        """Of the latency of an edge."""
        if edge.kind in ("stream", "event"):
            return "queue"
        if edge.kind == "own":
            call = edge.target.call
            return "sync" if call.is_sync else "launch" if call.ops else "call"
        return {"launch": "launch", "room": "launch", "sync": "sync"}.get(edge.kind, "cpu")

    def kind_of_node(self, node):
        if node.kind == "call":
            return "launch" if node.call.ops else "call"
        return node.op.path_kind

    def segments(self):
        """(start, end, kind) of the path through all windows, from its end."""
        bounds = self.bounds(self.recorded())
        begin, time = bounds[0], bounds[-1]
        node, is_at_end = self.last_node(time), True
        while time > begin:
            edge = self.bind.get(node)
            released = edge.lets_go if edge else begin
            if is_at_end and node.end > node.start:
                own = max(node.start, released if edge else node.start)
                yield own, time, self.kind_of_node(node)
                time = min(time, own)
            if not edge:
                yield begin, time, "unknown"
                return
            if released < time:
                yield from self.split_latency(edge, released, time)
                time = released
            anchor = edge.lets_go - edge.cpu
            if anchor < time:
                yield anchor, time, "launch" if edge.kind == "launch" else "cpu"
                time = anchor
            node, is_at_end = edge.source, not edge.from_start

    def split_latency(self, edge, start, end):
        """The usual latency begins when the edge lets go; nothing explains the rest."""
        usual = min(end - start, self.typical_of(edge)) if self.is_unexplained(edge.target) else end - start
        yield start + usual, end, "unknown"
        yield start, start + usual, self.kind_of(edge)

    def last_node(self, time):
        found = [node for node in self.graph.nodes if node.end == time and node.kind in ("op", "mark")]
        return max(found, key=lambda node: (node.op is not None, node.start))

    def kinds(self):
        """[{kind: ns}] for each window: the path cut at their bounds."""
        bounds = self.bounds(self.recorded())
        found = [collections.Counter() for _ in bounds[1:]]
        for start, end, kind in self.segments():
            for index, (first, last) in enumerate(zip(bounds, bounds[1:])):
                found[index][kind] += max(0, min(end, last) - max(start, first))
        return [{kind: total for kind, total in one.items() if total} for one in found]
