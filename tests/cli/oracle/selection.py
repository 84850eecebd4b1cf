"""What a selection takes of a trace."""

import collections
import dataclasses


@dataclasses.dataclass
class Selection:
    from_ns: int | None = None  # from the first op
    to_ns: int | None = None
    steps: set | None = None
    devices: set | None = None
    streams: set | None = None
    processes: set | None = None
    classes: set | None = None
    name: str | None = None


def is_wanted(op, selection):
    """Whether the selection takes an op, regardless of the window."""
    return (
        (selection.devices is None or op.device in selection.devices)
        and (selection.streams is None or op.stream in selection.streams)
        and (selection.processes is None or (op.call is not None and op.call.pid in selection.processes))
        and (selection.classes is None or op.time_class in selection.classes)
        and (selection.name is None or selection.name.lower() in op.name.lower())
        and (selection.steps is None or (op.step is not None and op.step.number in selection.steps))
    )


class View:
    """The chosen ops, clipped to the window, in the order that decides ties: device, start, longer, stream, row; start and
    length are those of the trace."""

    def __init__(self, trace, selection=None):
        selection = selection or Selection()
        self.trace = trace
        self.last_end = max((op.end for op in trace.ops), default=0)
        self.window = self.find_window(selection)
        wanted = [op for op in trace.ops if is_wanted(op, selection)]
        self.devices = sorted({op.device for op in wanted})
        wanted.sort(key=lambda op: (op.device, op.start, -op.ns, op.stream, op.row))
        self.ops = [self.clipped(op) for op in wanted if self.is_inside(op)]
        whole = [(op.start, op.end) for op in trace.ops]
        self.is_whole = len(self.ops) == len(whole) and all((op.start, op.end) == whole[op.row] for op in self.ops)

    def find_window(self, selection):
        """Nothing is known outside the trace, so a window ends where the trace does."""
        if selection.from_ns is None and selection.to_ns is None:
            return None
        origin = self.trace.origin
        start = origin if selection.from_ns is None else min(origin + selection.from_ns, self.last_end)
        end = self.last_end if selection.to_ns is None else min(origin + selection.to_ns, self.last_end)
        return start, end

    def is_inside(self, op):
        """Whether some of an op lies in the window. A moment belongs to the window that begins with it, and the very
        last one to the window that reaches to the end."""
        if self.window is None:
            return True
        start, end = self.window
        if op.start == op.end:
            return start <= op.start < end or op.start == end == self.last_end
        return op.start < end and op.end > start

    def clipped(self, op):
        if self.window is None:
            return op
        return dataclasses.replace(op, start=max(op.start, self.window[0]), end=min(op.end, self.window[1]))

    def by_device(self):
        """Devices whose ops the window all leaves out are idle in it, not absent."""
        return {device: [op for op in self.ops if op.device == device] for device in self.devices}

    def by_stream(self):
        groups = collections.defaultdict(list)
        for op in self.ops:
            groups[op.device, op.stream].append(op)
        return dict(sorted(groups.items()))

    def span(self, ops):
        return self.window or (min(op.start for op in ops), max(op.end for op in ops))
