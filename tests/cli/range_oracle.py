"""The judge of ranges: searches everything for everything, and holds tables of a report against what it found."""

import collections
import math
import statistics


def union(intervals):
    total, reached = 0, None
    for start, end in sorted(intervals):
        start = start if reached is None else max(start, reached)
        if end > start:
            total += end - start
            reached = end
    return total


class Oracle:
    def __init__(self, model, selected=None):
        self.model = model
        self.ranges = model.ranges
        self.ops = [op for op in model.ops if selected is None or selected(op)]
        self.is_whole = len(self.ops) == len(model.ops)
        self.origin = min((op.start for op in model.ops), default=0)
        calls = {(call.pid, call.correlation): call for call in model.calls}
        # A call that began after the op had ended cannot have launched it.
        self.call_of = {op: call if (call := calls.get((op.pid, op.correlation))) and call.start <= op.end else None
                        for op in self.ops}
        self.holders = [self.ranges_around(op) for op in self.ops]
        self.ops_of = collections.defaultdict(list)
        for op, holders in zip(self.ops, self.holders):
            for number in holders:
                self.ops_of[number].append(op)
        self.parents = [self.parent_of(number) for number in range(len(self.ranges))]
        self.listed = [number for number, one in enumerate(self.ranges) if self.ops_of[number]
                       or (self.is_whole and one.kind in ("PushPop", "StartEnd"))]

    def outermost_first(self, numbers):
        return sorted(numbers, key=lambda number: (self.ranges[number].start, -self.ranges[number].end, number))

    def is_on_thread(self, one):
        """A range that can be a step: one that began and ended on a thread."""
        return one.kind != "GPU" and self.can_hold(one)

    def can_hold(self, one):
        return one.kind != "Mark" and one.end_tid in (None, one.tid)

    def ranges_around(self, op):
        call = self.call_of[op]
        found = []
        for number, one in enumerate(self.ranges):
            if not self.can_hold(one):
                continue
            if call:
                same = one.kind != "GPU" and (one.pid, one.tid) == (call.pid, call.tid)
                start, end = call.start, call.end
            else:
                same = one.kind == "GPU" and (0, one.stream) == (op.device, op.stream)
                start, end = op.start, op.end
            if same and one.start <= start and end <= one.end:
                found.append(number)
        return self.outermost_first(found)

    def parent_of(self, number):
        inner = self.ranges[number]
        if not self.can_hold(inner):
            return None
        same = [other for other, one in enumerate(self.ranges) if self.can_hold(one)
                and (one.kind == "GPU", one.pid, one.tid, one.stream) == (inner.kind == "GPU", inner.pid, inner.tid,
                                                                         inner.stream)]
        order = self.outermost_first(same)
        around = [other for other in order[:order.index(number)] if self.ranges[other].end >= inner.end]
        return around[-1] if around else None

    def level(self, number):
        return 0 if self.parents[number] is None else 1 + self.level(self.parents[number])

    def launches(self, number):
        return len({(op.pid, op.correlation) for op in self.ops_of[number] if self.call_of[op]})

    def projection(self, number):
        ops = self.ops_of[number]
        start = min(op.start for op in ops)
        return start, max(op.end for op in ops) - start

    def range_table(self):
        groups = collections.defaultdict(list)
        for number in self.listed:
            groups[self.ranges[number].name, self.ranges[number].domain].append(number)
        total = sum(op.end - op.start for op in self.ops)
        rows = []
        for (name, domain), members in groups.items():
            own = [(op, holders) for op, holders in zip(self.ops, self.holders) if set(holders) & set(members)]
            exclusive = sum(op.end - op.start for op, holders in own if holders[-1] in members)
            used = [number for number in members if self.ops_of[number]]
            lengths = [self.projection(number)[1] for number in used]
            rows.append({
                "name": name, "domain": domain, "instances": len(members), "ops": len(own),
                "busy_ns": sum(union([(op.start, op.end) for op, _ in own if op.device == device]) for device in (0, 1)),
                "sum_ns": sum(op.end - op.start for op, _ in own), "projected_ns": sum(lengths),
                "range_ns": sum(self.ranges[number].end - self.ranges[number].start for number in members),
                "exclusive_ns": exclusive, "share": exclusive / total if total else 0,
                "launches": sum(self.launches(number) for number in members), "used": len(used),
                "proj_avg_ns": statistics.fmean(lengths) if used else None,
                "proj_median_ns": statistics.median(lengths) if used else None,
                "proj_min_ns": min(lengths, default=None), "proj_max_ns": max(lengths, default=None),
                "proj_stddev_ns": None if not used else statistics.stdev(lengths) if len(used) > 1 else 0,
                "level_avg": statistics.fmean(self.level(number) for number in used) if used else None,
                "range_avg_ns": sum(self.ranges[number].end - self.ranges[number].start for number in members) / len(members),
                "group": "steps" if name == "step" and any(self.is_on_thread(one) for one in self.ranges
                                                           if (one.name, one.domain) == (name, domain)) else None,
            })
        return sorted(rows, key=lambda row: (-row["busy_ns"], row["name"].encode(), row["domain"].encode()))

    def instance_table(self):
        rows = []
        for number in self.listed:
            one, ops = self.ranges[number], self.ops_of[number]
            start, length = self.projection(number) if ops else (None, None)
            rows.append({
                "range": number, "name": one.name, "domain": one.domain,
                "start_ns": start - self.origin if ops else None, "projected_ns": length,
                "range_start_ns": one.start - self.origin, "range_ns": one.end - one.start, "ops": len(ops),
                "launches": self.launches(number), "level": self.level(number), "parent": self.parents[number],
                "children": sum(parent == number and bool(self.ops_of[child])
                                for child, parent in enumerate(self.parents)),
                "style": one.kind, "pid": one.pid, "tid": one.tid,
            })
        return sorted(rows, key=lambda row: (row["ops"] == 0, row["start_ns"] or 0, -(row["projected_ns"] or 0),
                                             row["range"]))

    def path(self, number):
        own = (self.ranges[number].name, self.ranges[number].domain)
        return (own,) if self.parents[number] is None else (*self.path(self.parents[number]), own)

    def tree_table(self):
        total = sum(op.end - op.start for op in self.ops)
        instances = collections.Counter(self.path(number) for number in self.listed)
        chains = [(op, self.path(holders[-1])) for op, holders in zip(self.ops, self.holders) if holders]
        sums = {path: sum(op.end - op.start for op, own in chains if own[:len(path)] == path) for path in instances}

        def place(path):
            return [(-sums[path[:depth]], path[depth - 1][0].encode(), path[depth - 1][1].encode())
                    for depth in range(1, len(path) + 1)]

        return [{
            "range": "  " * (len(path) - 1) + path[-1][0], "depth": len(path) - 1,
            "path": " > ".join(name for name, _ in path), "domain": path[-1][1], "instances": instances[path],
            "ops": sum(own[:len(path)] == path for _, own in chains), "sum_ns": sums[path],
            "exclusive_ns": sum(op.end - op.start for op, own in chains if own == path),
            "share": sums[path] / total if total else 0,
        } for path in sorted(instances, key=place)]

    def coverage(self):
        total = sum(op.end - op.start for op in self.ops)
        return sum(op.end - op.start for op, holders in zip(self.ops, self.holders) if holders) / total if total else None


def same_cell(found, expected):
    if isinstance(expected, float) and found is not None:
        return math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12)
    return found == expected


def check_table(report, key, expected):
    rows = report["tables"][key]["rows"]
    assert len(rows) == len(expected), key
    for index, (row, wanted) in enumerate(zip(rows, expected)):
        assert set(row) - {"input"} == set(wanted)
        for column, value in wanted.items():
            assert same_cell(row[column], value), f"{key}[{index}].{column}: {row[column]} is not {value}"


SELECTIONS = {
    "all": ([], None),
    "device": (["--device", "1"], lambda op: op.device == 1),
    "stream": (["--stream", "7"], lambda op: op.stream == 7),
    "name": (["--name", "gem"], lambda op: op.name == "gemm"),
}
