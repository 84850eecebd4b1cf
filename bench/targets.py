"""What the benchmark is to show, and whether the rows of a saved one do."""

KINETO = "JSON as Kineto writes it"


def faster(case, contender, peer, factor):
    """At least so many times as fast as a peer, by wall time."""
    return f"{case}: {contender} >= {factor}x {peer}", lambda rows: (
        rows[case, peer]["wall_s"] / rows[case, contender]["wall_s"], factor, "x")


def within(case, contender, peer, factor):
    """At most so many times the time of a peer."""
    return f"{case}: {contender} <= {factor}x {peer}", lambda rows: (
        -rows[case, contender]["wall_s"] / rows[case, peer]["wall_s"], -factor, "x")


def heap_per_event(case, contender, most):
    """Bytes of heap for each kept event, names left out."""
    def measure(rows):
        row = rows[case, contender]
        return -(row["peak_bytes"] - row["name_bytes"]) / row["kept_events"], -most, " bytes"
    return f"{case}: {contender}: heap <= {most} bytes an event", measure


def heap_per_row(case, contender, reader, most):
    """Bytes of heap for each event that a reader of the same input keeps."""
    return f"{case}: {contender}: heap <= {most} bytes a row", lambda rows: (
        -rows[case, contender]["peak_bytes"] / rows[case, reader]["kept_events"], -most, " bytes")


def heap_per_input(case, contender, most):
    return f"{case}: {contender}: heap <= {most} MB per GB", lambda rows: (
        -rows[case, contender]["peak_bytes"] / rows[case, contender]["input_bytes"] * 1000, -most, " MB")


def heap_against(case, contender, other, factor):
    return f"{case}: {contender}: heap <= {factor:.2f}x {other}", lambda rows: (
        -rows[case, contender]["peak_bytes"] / rows[case, other]["peak_bytes"], -factor, "x")


def as_fast(case, other_case, contender, least):
    """Bytes per second as in another case, but for a part."""
    def measure(rows):
        speeds = [rows[name, contender]["input_bytes"] / rows[name, contender]["wall_s"] for name in (case, other_case)]
        return speeds[0] / speeds[1], least, "x"
    return f"{case}: {contender} >= {least}x the speed of '{other_case}'", measure


def speed(case, contender, least):
    return f"{case}: {contender} >= {least} MB/s", lambda rows: (
        rows[case, contender]["input_bytes"] / rows[case, contender]["wall_s"] / 1e6, least, " MB/s")


def quick(case, contender, most_s):
    return f"{case}: {contender} <= {most_s * 1000:.0f} ms", lambda rows: (
        -rows[case, contender]["wall_s"] * 1000, -most_s * 1000, " ms")


TARGETS = [
    faster(KINETO, "gputime 1 thread", "simdjson on-demand", 6),
    faster(KINETO, "gputime 2 threads", "simdjson on-demand", 11),
    faster(KINETO, "gputime 1 thread", "Python json", 80),
    faster("JSON on one line", "gputime 1 thread", "simdjson on-demand", 4),
    faster("JSON, args on one line", "gputime 1 thread", "simdjson on-demand", 4),
    faster("Nsight SQLite", "gputime 1 thread", "sqlite3_step", 4),
    faster("Nsight SQLite, 8 GPUs", "reading all, 1 thread", "sqlite3_step, all tables", 4),
    faster("Nsight SQLite, 8 GPUs", "reading all, 2 threads", "sqlite3_step, all tables", 7),
    *(target for threads in ("1 thread", "2 threads") for target in (
        within("Nsight SQLite, 8 GPUs", f"kernels, {threads}", f"reading ops, {threads}", 1.3),
        within("Nsight SQLite, 8 GPUs", f"summary, {threads}", f"reading all, {threads}", 2.2))),
    faster("JSON kernels by threads", "kernels, 16 threads", "kernels, 1 thread", 9),
    faster("JSON summary by threads", "summary, 16 threads", "summary, 1 thread", 8),
    faster("SQLite explain by threads", "explain, 16 threads", "explain, 1 thread", 7),
    faster("report kernels by threads", "kernels, 16 threads", "kernels, 1 thread", 9),
    faster("gzip by threads", "gputime 16 threads", "isal alone", 4),
    faster("rocpd", "gputime 1 thread", "sqlite3_step", 4),
    faster("Nsight SQLite", "gputime 2 threads", "sqlite3_step", 6),
    faster("Nsight SQLite", "gputime 1 thread", "Python sqlite3", 25),
    faster("Nsight SQLite", "whole command, 2 threads", "SQL GROUP BY", 40),
    speed("Nsight report", "gputime 1 thread", 500),
    speed("GPU metrics", "gputime 1 thread", 400),
    within("GPU metrics", "gputime 1 thread", "LZ4 alone", 6),
    faster("the cache", "gputime, cached", "gputime 1 thread", 10),
    faster("JSON, 100 MB", "gputime 1 thread", "Perfetto (WebAssembly)", 70),
    as_fast("JSON, 4.6 GB", KINETO, "gputime 1 thread", 0.85),
    as_fast("JSON, 4.6 GB", KINETO, "gputime 2 threads", 0.85),
    within("JSON in gzip", "gputime 2 threads", "isal alone", 1.10),
    within("JSON in zstd", "gputime 2 threads", "zstd alone", 1.10),
    within(KINETO, "whole command, 1 thread", "gputime 1 thread", 1.25),
    within("arguments", "reading with arguments, 1 thread", "reading alone, 1 thread", 2),
    within("arguments", "efficiency, 1 thread", "reading alone, 1 thread", 2),
    within("export", "export, 2 threads", "reading what is exported, 2 threads", 2.5),
    within("counters", "counters, 1 thread", "reading all, 1 thread", 2),
    within("explain", "explain, 2 threads", "reading alone, 2 threads", 3),
    faster("SQL", "sql by name", "sqlite3 by name", 3),
    faster("SQL", "sql by range", "sqlite3 by range", 20),
    quick("SQL", "sql by range", 3),
    quick("view", "window, slowest", 0.020),
    heap_against("view", "window, slowest", "reading", 1.30),
    within("diff", "diff, 2 threads", "kernels of both, 2 threads", 1.20),
    within("diff", "diff, 2 threads", "reading both, 2 threads", 1.20),
    *(quick("dependency graph", part, most_s)
      for part, most_s in (("graph", 1.5), ("simulation", 0.15), ("path", 0.15), ("slack", 0.15))),
    heap_per_event("dependency graph", "graph", 64),
    heap_per_row("explain", "explain, 2 threads", "reading alone, 2 threads", 120),
    heap_per_event(KINETO, "gputime 1 thread", 45),
    heap_against(KINETO, "gputime 2 threads", "gputime 1 thread", 1.20),
    heap_per_event("Nsight SQLite", "gputime 1 thread", 45),
    heap_against("Nsight SQLite", "gputime 2 threads", "gputime 1 thread", 1.20),
    heap_per_event("GPU metrics", "gputime 1 thread", 16),
    heap_per_input(KINETO, "gputime 2 threads", 150),
    quick("30 MB", "summary on the screen", 0.050),
]


class Verdict:
    """What a target came to; value is None where nobody measured it."""

    def __init__(self, title, value=None, target=0, unit=""):
        self.title, self.unit = title, unit
        self.is_met = value is not None and value >= target  # "at most" is told by negative numbers
        self.value = None if value is None else abs(value)


def judge(rows):
    """A verdict for each target, from the rows of a saved benchmark."""
    by_name = {(row["case"], row["contender"]): row for row in rows}
    for title, measure in TARGETS:
        try:
            yield Verdict(title, *measure(by_name))
        except KeyError:
            yield Verdict(title)
