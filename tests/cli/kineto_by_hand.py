"""PyTorch traces written by hand, for tests of findings; times in microseconds."""

import json

US = 1000


class Trace:
    """A trace by hand."""

    def __init__(self):
        self.events = []
        self.correlation = 0

    def event(self, category, name, start, length, pid=1, tid=1, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": length,
                            "args": args})

    def op(self, start, length, name="kernel_a", launched=None, call="cudaLaunchKernel", call_length=1, device=0, stream=7,
           tid=1, **args):
        """A kernel or, by its name, a copy or fill; launched just before it starts unless given. Returns its end."""
        self.correlation += 1
        launched = start - call_length - 1 if launched is None else launched
        category = {"Memcpy": "gpu_memcpy", "Memset": "gpu_memset"}.get(name[:6], "kernel")
        self.event("cuda_runtime", call, launched, call_length, tid=tid, correlation=self.correlation)
        self.event(category, name, start, length, device, stream, device=device, stream=stream,
                   correlation=self.correlation, **args)
        return start + length

    def copy(self, start, length, size, source="Pinned", target="Device", **settings):
        way = {"Device": "HtoD"}.get(target, "DtoH")
        return self.op(start, length, f"Memcpy {way} ({source} -> {target})", call=settings.pop("call", "cudaMemcpyAsync"),
                       bytes=size, **settings)

    def range(self, name, start, length, tid=1):
        self.event("user_annotation", name, start, length, tid=tid)

    def operator(self, name, start, length, tid=1):
        self.event("cpu_op", name, start, length, tid=tid)

    def call(self, name, start, length, tid=1):
        self.event("cuda_runtime", name, start, length, tid=tid)

    def write(self, folder):
        path = folder / "trace.json"
        path.write_text(json.dumps({"traceEvents": self.events}))
        return path


def findings_of(gputime, trace, folder, *args):
    report = gputime.json("findings", trace.write(folder), *args)
    return {finding["id"]: finding for finding in report["findings"]}
