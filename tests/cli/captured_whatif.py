"""One loop captured many times on a GPU, with one thing changed at a time: what `gputime whatif` predicts from the capture
without the change, and what the capture with the change measured.

Each regime (gpu, cpu, overlap, sync) has a base and changes: a_half (matrix products half as long), b_half (element-wise
kernels half as long), cpu_half (the CPU's busy waiting half as long), no_sync (without the value read back).
"""

import dataclasses
import fnmatch
import json
import tarfile

ARCHIVE = "data/h200/whatif.tar.xz"
REGIMES = ("gpu", "cpu", "overlap", "sync")
CHANGES = ("a_half", "b_half", "cpu_half")
PRODUCTS, POINTWISE = "nvjet*", "*elementwise*"
GPU_CATEGORIES = ("kernel", "gpu_memcpy", "gpu_memset")
CALL_CATEGORIES = ("cuda_runtime", "cuda_driver")


def unpack(archive, folder):
    """{regime_change: path of its trace}."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder)
    return {path.stem: path for path in sorted(folder.glob("w/*_*.json")) if path.stem != "measured_ns"}


def nanoseconds(event):
    start = round(event["ts"] * 1000)
    return start, start + round(event.get("dur", 0) * 1000)


class Capture:
    """What one trace measured, read without gputime."""

    def __init__(self, path):
        self.path = path
        events = [event for event in json.loads(path.read_text())["traceEvents"] if event.get("ph") == "X"]
        self.steps = sorted(nanoseconds(event) for event in events if event["name"].startswith("ProfilerStep#"))
        calls = [event for event in events if event["cat"] in CALL_CATEGORIES]
        self.waits = [nanoseconds(event) for event in calls if event["name"].endswith("Synchronize")]
        launched = {event["args"]["correlation"]: nanoseconds(event)[0] for event in calls}
        self.ops = [(event["name"], *nanoseconds(event), launched.get(event["args"]["correlation"]))
                    for event in events if event["cat"] in GPU_CATEGORIES]

    @property
    def step_ns(self):
        """Mean length of a step, from the start of the first to the end of the last and of its ops."""
        first, last = self.steps[0], self.steps[-1]
        end = max([last[1], *(end for _, _, end, launched in self.ops if launched and last[0] <= launched < last[1])])
        return (end - first[0]) / len(self.steps)

    def kernel_ns(self, glob):
        """In a step."""
        return sum(end - start for name, start, end, _ in self.ops if fnmatch.fnmatchcase(name, glob)) / len(self.steps)

    @property
    def cpu_ns(self):
        """CPU work in a step: all but waiting for the GPU."""
        first, last = self.steps[0][0], self.steps[-1][1]
        waited = sum(end - start for start, end in self.waits if first <= start < last)
        return (last - first - waited) / len(self.steps)


def ratio(value):
    return f"{value:.4f}"


def options_alone(change, base, other):
    """The change as a user would ask for it, with the factor that it really had."""
    if change == "cpu_half":
        return ["--cpu", ratio(base.cpu_ns / other.cpu_ns)]
    glob = PRODUCTS if change == "a_half" else POINTWISE
    return ["--scale", f"{glob}={ratio(other.kernel_ns(glob) / base.kernel_ns(glob))}"]


def options_together(base, other):
    """All that differs between the captures: CPU and clocks do not run alike twice."""
    scales = [f"{glob}={ratio(other.kernel_ns(glob) / base.kernel_ns(glob))}" for glob in (PRODUCTS, POINTWISE)]
    return ["--scale", scales[0], "--scale", scales[1], "--cpu", ratio(base.cpu_ns / other.cpu_ns)]


@dataclasses.dataclass(frozen=True)
class Row:
    """Lengths of a mean step in ns."""
    regime: str
    change: str
    options: tuple
    base: float
    predicted: float
    low: float
    measured: float
    cpu_ratio: float  # CPU work with the change / without

    @property
    def error(self):
        return self.predicted / self.measured - 1


def predict(ask, capture, options):
    """(predicted_ns, low_ns) of a mean step. ask: runs gputime with arguments and gives its report."""
    report = ask("whatif", capture.path, *options, "--force", "--no-cache", "--top", "0")
    run, = (row for row in report["tables"]["whatif"]["rows"] if row["window"] == "run")
    return run["predicted_ns"] / len(capture.steps), run["low_ns"] / len(capture.steps)


def rows(ask, traces, together):
    """Predictions for all pairs: of the change alone, or together with what else differs between the captures."""
    for regime in REGIMES:
        base = Capture(traces[f"{regime}_base"])
        for change in CHANGES:
            other = Capture(traces[f"{regime}_{change}"])
            options = options_together(base, other) if together else options_alone(change, base, other)
            predicted, low = predict(ask, base, options)
            yield Row(regime, change, tuple(options), base.step_ns, predicted, low, other.step_ns,
                      other.cpu_ns / base.cpu_ns)
