#!/usr/bin/env python3
"""Prints the tables of docs/path.md that are measured, as Markdown: how well replays fit recorded time, how predictions
compare with captures of the changed program, and with programs whose changed time is known (some minutes).

    python3 docs/make_path_table.py replays|captures|programs SAMPLES [build/gputime]

SAMPLES is the folder that GPUTIME_SHARED names in tests; programs need none.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "cli"))

from captured_whatif import ARCHIVE, rows, unpack  # noqa: E402
from gpu_programs import KINDS, SEEDS  # noqa: E402
from program_cases import ask as ask_programs  # noqa: E402
from program_cases import share_within  # noqa: E402

FAULTS = "data/h200/faults.tar.xz"
SOURCES = {
    "PyTorch profiler, one GPU": ("data/h200/torch/*.json.gz", "data/h200/efficiency/*.json.gz"),
    "PyTorch profiler, four ranks": ("data/h200/ranks/*.json.gz",),
    "Nsight Systems": ("data/h200/nsys/*/*.sqlite", "data/h200/efficiency/*.nsys-rep"),
    "Nsight Systems, four ranks": ("data/h200/ranks/nsys/*.sqlite",),
    "PyTorch profiler, public": ("data/public/kineto/*/*.json.gz",),
    "Nsight Systems, public": ("data/public/nsys/*/*.sqlite",),
}
PACKED = {"programs with one fault each": (FAULTS, "faults_a/*"), "one loop, changed": (ARCHIVE, "w/*_*.json")}


def program_at(binary):
    """Runs the program with arguments and gives its report."""
    def run(*args):
        done = subprocess.run([binary, *map(str, args), "--json"], check=True, capture_output=True)
        return json.loads(done.stdout)
    return run


def percent(share, digits=2):
    return f"{100 * share:.{digits}f} %"


def ms(ns):
    return f"{ns / 1e6:.2f} ms"


# ---- replays ----


def sources(shared, folder):
    """(name, traces)."""
    for name, patterns in SOURCES.items():
        yield name, sorted(path for pattern in patterns for path in shared.glob(pattern))
    for name, (archive, pattern) in PACKED.items():
        with tarfile.open(shared / archive) as packed:
            packed.extractall(folder)
        yield name, sorted(path for path in folder.glob(pattern)
                           if path.suffix in (".json", ".nsys-rep") and path.stem != "measured_ns")


def replays_of(report_of, paths):
    """[(trace, row of its replay)], of steps, or of whole traces without steps."""
    found = []
    for path in paths:
        report = report_of("path", path, "--no-cache", "--top", "0")
        found += [(path, row) for row in report["tables"]["replay"]["rows"] if row["window"] != "run" and row["wall_ns"]]
    return found


def replay_line(name, traces, found):
    errors = sorted(row["error"] for _, row in found)
    trust = [sum(row["trust"] == word for _, row in found) for word in ("good", "rough", "refused")]
    p90 = errors[int(0.9 * (len(errors) - 1))]
    return (f"| {name} | {traces} | {len(found)} | {percent(statistics.median(errors))} | {percent(p90)} | "
            f"{percent(errors[-1], 1)} | {trust[0]} | {trust[1]} | {trust[2]} |")


def doubtful_table(everything):
    """Traces with windows that are not good, and the largest numbers of those."""
    doubtful = {}
    for path, row in everything:
        if row["trust"] != "good":
            doubtful.setdefault(path.name, []).append(row)
    yield "| trace | windows | replay error | unknown | trust |"
    yield "|---|---|---|---|---|"
    for name, found in doubtful.items():
        error, unknown = max(row["error"] for row in found), max(row["unknown_ns"] / row["wall_ns"] for row in found)
        trust = ", ".join(sorted({row["trust"] for row in found}))
        yield f"| `{name}` | {len(found)} | {percent(error, 1)} | {percent(unknown, 0)} | {trust} |"


def replay_tables(report_of, shared):
    yield "| captures | traces | windows | median | p90 | worst | good | rough | refused |"
    yield "|---|---|---|---|---|---|---|---|---|"
    everything, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, paths in sources(shared, pathlib.Path(folder)):
            found = replays_of(report_of, paths)
            traces = len({path for path, _ in found})
            everything, count = everything + found, count + traces
            yield replay_line(name, traces, found)
    yield replay_line("all", count, everything)
    yield ""
    yield from doubtful_table(everything)


# ---- captures of the changed program ----


def capture_table(report_of, shared):
    yield "| regime | change | without it | predicted | measured | error | with all that differs | error |"
    yield "|---|---|---|---|---|---|---|---|"
    with tempfile.TemporaryDirectory() as folder:
        traces = unpack(shared / ARCHIVE, pathlib.Path(folder))
        for alone, together in zip(rows(report_of, traces, together=False), rows(report_of, traces, together=True)):
            yield (f"| {alone.regime} | `{' '.join(alone.options)}` | {ms(alone.base)} | {ms(alone.predicted)} | "
                   f"{ms(alone.measured)} | {alone.error:+.1%} | {ms(together.predicted)} | {together.error:+.1%} |")


# ---- programs ----

FORMS = {
    "PyTorch trace with `cuda_sync` events and their recordings": "records",
    "Nsight Systems export with CUDA events": "nsys",
    "PyTorch trace with `cuda_sync` events, recordings unknown": "streams",
    "PyTorch trace without": "none",
}


def program_tables(report_of):
    cases = {}
    yield "| trace | predictions | within 1 % | median error | worst | [low, predicted] within 1 % |"
    yield "|---|---|---|---|---|---|"
    with tempfile.TemporaryDirectory() as folder:
        for name, form in FORMS.items():
            found = cases[form] = ask_programs(report_of, pathlib.Path(folder), form, SEEDS)
            errors = [case.predicted_error for case in found]
            intervals = share_within([case.interval_error for case in found])
            yield (f"| {name} | {len(found)} | {percent(share_within(errors), 1)} | {percent(statistics.median(errors), 3)} | "
                   f"{percent(max(errors), 1)} | {percent(intervals, 1)} |")
    yield ""
    yield "| kind of program | " + " | ".join(f"{form}: within 1 %, worst" for form in ("records", "streams", "none")) + " |"
    yield "|---|---|---|---|"
    for kind in KINDS:
        cells = []
        for form in ("records", "streams", "none"):
            errors = [case.predicted_error for case in cases[form] if case.kind == kind.__name__]
            cells.append(f"{percent(share_within(errors), 0)}, {percent(max(errors), 1)}")
        yield f"| {kind.__name__.replace('_', ' ')} | {' | '.join(cells)} |"


TABLES = {"replays": replay_tables, "captures": capture_table}

if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in (*TABLES, "programs"):
        sys.exit(__doc__)
    run = program_at(sys.argv[3] if len(sys.argv) == 4 else str(ROOT / "build" / "gputime"))
    what, samples = sys.argv[1], pathlib.Path(sys.argv[2])
    for line in program_tables(run) if what == "programs" else TABLES[what](run, samples):
        print(line, flush=True)
