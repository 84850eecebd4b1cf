#!/usr/bin/env python3
"""Measures gputime against other readers on the same inputs, in the same run: make bench, or make bench QUICK=1.

Inputs and programs are made under build/bench, the table is printed and saved as build/bench/results.json for
bench/check. The contenders of a case take turns, round after round, so that all meet the same noise; each runs twice a
round or more, since memory that nobody used for a while is slow the first time on a virtual machine, and the best run
counts. Peak memory is measured in a run of its own: anonymous memory only, since pages of mapped files are the system's to
take back.
"""
import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

from view import ViewCase

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SAMPLE_SECONDS = 0.002
ROUND_SECONDS = 0.5  # what a quick contender may take in a round
MAX_REPEATS = 8


class Contender:
    """A command in a case. `slow` ones run once."""

    def __init__(self, name, command, slow=False):
        self.name, self.command, self.slow = name, [str(word) for word in command], slow
        self.wall = self.user = self.system = float("inf")
        self.cpu = float("inf")
        self.peak_bytes = 0
        self.answer = ""

    def run(self):
        begin = time.perf_counter()
        process = subprocess.Popen(self.command, stdout=subprocess.PIPE, env=ENVIRONMENT)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"bench: {' '.join(self.command)} failed")
        self.answer = output.decode(errors="replace")
        self.cpu = min(self.cpu, usage.ru_utime + usage.ru_stime)
        if wall < self.wall:
            self.wall, self.user, self.system = wall, usage.ru_utime, usage.ru_stime

    def measure_memory(self):
        process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
        while process.poll() is None:
            try:
                status = Path(f"/proc/{process.pid}/status").read_text()
            except OSError:
                continue
            match = re.search(r"RssAnon:\s+(\d+) kB", status)
            if match:
                self.peak_bytes = max(self.peak_bytes, int(match.group(1)) * 1024)
            time.sleep(SAMPLE_SECONDS)


class Case:
    """Contenders on one input. Ratios are to the baseline's wall time."""

    def __init__(self, name, input_bytes, baseline, contenders):
        self.name, self.input_bytes, self.baseline, self.contenders = name, input_bytes, baseline, contenders

    def run(self, rounds):
        for contender in self.contenders:
            contender.run()
        for _ in range(rounds - 1):
            for contender in self.contenders:
                repeats = 0 if contender.slow else max(2, min(MAX_REPEATS, int(ROUND_SECONDS / contender.wall)))
                for _ in range(repeats):
                    contender.run()
        for contender in self.contenders:
            if not contender.slow:
                contender.measure_memory()
        self.check_answers()

    def check_answers(self):
        """All must have read the same kernels; double sums of microseconds may be a few ns off."""
        found = {}
        for contender in self.contenders:
            match = re.match(r"kernels (\d+) kernel_ns (\d+)", contender.answer)
            if match:
                found[contender.name] = (int(match.group(1)), int(match.group(2)))
        for name, (count, total) in found.items():
            first_count, first_total = next(iter(found.values()))
            if count != first_count or abs(total - first_total) > 1000:
                sys.exit(f"bench: {self.name}: {name} read something else: {found}")

    def rows(self):
        base = next(contender for contender in self.contenders if contender.name == self.baseline)
        for contender in self.contenders:
            is_reader = contender.answer.startswith("kernels ")  # which tells what it kept
            counts = dict(re.findall(r"(\w+) (\d+)", contender.answer)) if is_reader else {}
            yield {
                "case": self.name,
                "contender": contender.name,
                "input_bytes": self.input_bytes,
                "wall_s": round(contender.wall, 4),
                "user_s": round(contender.user, 4),
                "system_s": round(contender.system, 4),
                "best_cpu_s": round(contender.cpu, 4),
                "peak_bytes": contender.peak_bytes,
                "baseline": self.baseline,
                "ratio": round(base.wall / contender.wall, 3),
                "cpu_ratio": round(base.cpu / contender.cpu, 3),
                "kept_events": int(counts.get("kept", 0)),
                "name_bytes": int(counts.get("name_bytes", 0)),
            }


class GraphCase:
    """Parts of making and asking a dependency graph, which a program of ours measures one by one."""

    def __init__(self, name, trace, command):
        self.name, self.trace, self.command, self.parts, self.size = name, trace, command, {}, {}

    def run(self, rounds):
        output = subprocess.run([str(word) for word in [*self.command, self.trace, rounds]], check=True, text=True,
                                stdout=subprocess.PIPE, env=ENVIRONMENT).stdout.splitlines()
        self.size = {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", output[0])}
        for line in output[1:]:
            part, *times = line.split()
            self.parts[part] = dict(zip(times[::2], map(float, times[1::2])))

    def rows(self):
        for part, times in self.parts.items():
            cpu = round(times["user_s"] + times["system_s"], 4)
            yield {
                "case": self.name, "contender": part, "input_bytes": self.trace.stat().st_size, **times,
                "best_cpu_s": cpu, "baseline": "graph",
                "peak_bytes": self.size["bytes"] if part == "graph" else 0,
                "ratio": round(self.parts["graph"]["wall_s"] / max(times["wall_s"], 1e-4), 3),
                "cpu_ratio": round((self.parts["graph"]["user_s"] + self.parts["graph"]["system_s"]) / max(cpu, 1e-4), 3),
                "kept_events": self.size["nodes"], "name_bytes": 0,
            }


# ---- making programs and inputs ----

def call(*command):
    subprocess.run([str(word) for word in command], check=True)


def is_newer(target, *sources):
    return target.exists() and all(target.stat().st_mtime >= source.stat().st_mtime for source in sources)


def build_programs(bench, build):
    """The generator, the readers and the peers."""
    bench.mkdir(parents=True, exist_ok=True)
    library = build / "libgputime.a"
    config = (build / "config.mk").read_text() if (build / "config.mk").exists() else ""
    optional = [name for name in ("-lisal", "-llzma") if name in config]
    libraries = ["-pthread", *optional, "-lsqlite3", "-lz", "-lzstd", "-llz4", "-lpcre2-8",
                 "-lxxhash", "-lm"]
    c = ["gcc", "-std=c17", "-D_GNU_SOURCE", "-O2"]
    rules = [
        ("tracegen", [HERE / "tracegen.c"], [*c, HERE / "tracegen.c"]),
        ("pack", [HERE / "pack.c"], [*c, HERE / "pack.c", "-lz", "-lzstd"]),
        ("read", [HERE / "read.c", library],
         [*c, f"-I{ROOT}/include", f"-I{ROOT}/lib", HERE / "read.c", library, *libraries]),
        ("graph", [HERE / "graph.c", library],
         [*c, f"-I{ROOT}/include", f"-I{ROOT}/lib", HERE / "graph.c", library, *libraries]),
        ("nsysgen", [HERE / "nsysgen.c"], [*c, HERE / "nsysgen.c", "-lsqlite3"]),
        ("nsysrepgen", [HERE / "nsysrepgen.c"], [*c, HERE / "nsysrepgen.c", "-llz4"]),
        ("chunks", [HERE / "peers/chunks.c"], [*c, HERE / "peers/chunks.c", "-llz4"]),
        ("bytes", [HERE / "peers/bytes.c"], [*c, HERE / "peers/bytes.c", "-pthread"]),
        ("sqlite_step", [HERE / "peers/sqlite_step.c"],
         [*c, HERE / "peers/sqlite_step.c", "-lsqlite3", "-pthread"]),
        ("rocpd_step", [HERE / "peers/rocpd_step.c"], [*c, HERE / "peers/rocpd_step.c", "-lsqlite3"]),
        ("inflate", [HERE / "peers/inflate.c"], [*c, HERE / "peers/inflate.c", "-lz", "-lisal", "-lzstd"]),
        ("simdjson", [HERE / "peers/simdjson_read.cpp"],
         ["g++", "-std=c++17", "-O3", "-march=native", "-DNDEBUG", HERE / "peers/simdjson_read.cpp", "-lsimdjson"]),
    ]
    for name, sources, command in rules:
        if not is_newer(bench / name, *sources):
            call(*command[:1], "-o", bench / name, *command[1:])


def make_input(path, source, *command):
    """The file that the command writes, given its name last; whole, and in the page cache."""
    if not is_newer(path, source):
        part = path.with_name(path.name + ".part")
        part.unlink(missing_ok=True)
        subprocess.run([*map(str, command), part], check=True, stdout=subprocess.DEVNULL)
        part.rename(path)
    path.read_bytes()
    return path


def make_trace(bench, size, layout, seed=1):
    path = bench / (f"{layout}-{size}.json" if seed == 1 else f"{layout}-{size}-{seed}.json")
    return make_input(path, bench / "tracegen", bench / "tracegen", "-s", size, "-y", layout, "-r", seed)


def pack(bench, trace, packing):
    path = trace.with_name(trace.name + {"gzip": ".gz", "zstd": ".zst"}[packing])
    return make_input(path, trace, bench / "pack", packing, trace)


def install_packages(bench):
    """The peers that come from npm, with the scripts that drive them, in a folder of their own."""
    folder = bench / "npm"
    folder.mkdir(exist_ok=True)
    lock = HERE / "peers/package-lock.json"
    is_current = (folder / "node_modules").exists() and (folder / lock.name).read_bytes() == lock.read_bytes()
    for source in [*HERE.glob("peers/*.mjs"), HERE / "peers/package.json", lock]:
        (folder / source.name).write_bytes(source.read_bytes())
    if not is_current:
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=folder, check=True)
    return folder


# ---- cases ----

def json_case(bench, build, trace, name, extra):
    """Plain JSON: reading alone on one and two threads, beside simdjson."""
    contenders = [
        Contender("gputime 1 thread", [bench / "read", 1, trace]),
        Contender("gputime 2 threads", [bench / "read", 2, trace]),
        Contender("simdjson on-demand", [bench / "simdjson", "mapped", trace]),
    ]
    if extra:
        contenders += [
            *(Contender(f"bytes alone, {way}, {threads}", [bench / "bytes", way, threads.split()[0], trace])
              for way in ("read", "mapped") for threads in ("1 thread", "2 threads")),
            Contender("simdjson, file loaded", [bench / "simdjson", "loaded", trace]),
            Contender("gputime portable, 1 thread", [bench / "read", 1, trace, "portable"]),
            *(Contender(f"whole command, {threads}",
                        [build / "gputime", "kernels", trace, "--no-cache", "--threads", threads.split()[0], "-o",
                         "/dev/null"])
              for threads in ("1 thread", "2 threads")),
            Contender("Python json", [sys.executable, HERE / "peers/json_read.py", trace], slow=True),
        ]
    return Case(name, trace.stat().st_size, "simdjson on-demand", contenders)


def other_programs_case(bench):
    """What users reach for today, on a trace that all of them manage."""
    trace = make_trace(bench, "100M", "multi")
    packages = install_packages(bench)
    contenders = [
        Contender("gputime 2 threads", [bench / "read", 2, trace]),
        Contender("gputime 1 thread", [bench / "read", 1, trace]),
        Contender("Perfetto (WebAssembly)", ["node", packages / "perfetto_read.mjs", trace], slow=True),
        Contender("DuckDB", ["node", packages / "duckdb_read.mjs", 2, trace], slow=True),
        Contender("Python json", [sys.executable, HERE / "peers/json_read.py", trace], slow=True),
    ]
    return Case("JSON, 100 MB", trace.stat().st_size, "Perfetto (WebAssembly)", contenders)


def large_case(bench):
    """More than 4 GiB, which simdjson refuses."""
    trace = make_trace(bench, "4600M", "multi")
    contenders = [Contender(f"gputime {threads}", [bench / "read", threads.split()[0], trace])
                  for threads in ("1 thread", "2 threads")]
    return Case("JSON, 4.6 GB", trace.stat().st_size, "gputime 1 thread", contenders)


def cache_case(bench, trace):
    """Mapping a kept trace instead of decoding it."""
    ENVIRONMENT["XDG_CACHE_HOME"] = str(bench / "cache")
    time.sleep(max(0, trace.stat().st_mtime + 3 - time.time()))  # younger files are not kept
    subprocess.run([bench / "read", "2", trace, "keep"], check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    contenders = [Contender("gputime, cached", [bench / "read", 1, trace, "cached"]),
                  Contender("gputime 1 thread", [bench / "read", 1, trace]),
                  Contender("gputime 2 threads", [bench / "read", 2, trace])]
    return Case("the cache", trace.stat().st_size, "gputime 1 thread", contenders)


def packed_case(bench, size, packing, name, libraries):
    trace = make_trace(bench, size, "multi")
    path = pack(bench, trace, packing)
    contenders = [Contender("gputime 2 threads", [bench / "read", 2, path]),
                  Contender("gputime 1 thread", [bench / "read", 1, path])]
    contenders += [Contender(f"{library} alone", [bench / "inflate", library, path]) for library in libraries]
    return Case(name, trace.stat().st_size, f"{libraries[0]} alone", contenders)


def sqlite_case(bench, build, kernels):
    """The kernel table of an Nsight export, beside a step loop over the same columns."""
    path = make_input(bench / f"kernels-{kernels}.sqlite", bench / "nsysgen", bench / "nsysgen", "-K", "-k", kernels)
    contenders = [
        Contender("gputime 1 thread", [bench / "read", 1, path]),
        Contender("gputime 2 threads", [bench / "read", 2, path]),
        Contender("sqlite3_step", [bench / "sqlite_step", 1, path]),
        Contender("sqlite3_step, 2 connections", [bench / "sqlite_step", 2, path]),
        Contender("whole command, 2 threads",
                  [build / "gputime", "kernels", path, "--no-cache", "--threads", 2, "-o", "/dev/null"]),
        Contender("Python sqlite3", [sys.executable, HERE / "peers/sqlite_read.py", "rows", path], slow=True),
        Contender("SQL GROUP BY", [sys.executable, HERE / "peers/sqlite_read.py", "group", path], slow=True),
    ]
    return Case("Nsight SQLite", path.stat().st_size, "sqlite3_step", contenders)


def export_with_calls_case(bench, build, kernels):
    """Kernels of eight GPUs with their launch calls and nested ranges: reading all of it beside step loops over the same
    columns of all tables, and commands beside reading what they need."""
    path = make_input(bench / f"calls-{kernels}.sqlite", bench / "nsysgen", bench / "nsysgen", "-g", 8, "-k", kernels)
    contenders = []
    for threads in ("1 thread", "2 threads"):
        options = [path, "--no-cache", "--threads", threads.split()[0], "-o", "/dev/null"]
        contenders += [
            Contender(f"reading all, {threads}", [bench / "read", threads.split()[0], path]),
            Contender(f"reading ops, {threads}", [bench / "read", threads.split()[0], path, "ops"]),
            Contender(f"kernels, {threads}", [build / "gputime", "kernels", *options]),
            Contender(f"summary, {threads}", [build / "gputime", "summary", *options]),
        ]
    contenders.append(Contender("sqlite3_step, all tables", [bench / "sqlite_step", 1, path, "all"]))
    return Case("Nsight SQLite, 8 GPUs", path.stat().st_size, "sqlite3_step, all tables", contenders)


def thread_counts():
    """1, 2, 4 ... as far as this machine has cores."""
    counts = [1]
    while counts[-1] * 2 <= (os.cpu_count() or 1):
        counts.append(counts[-1] * 2)
    return counts


def threads_case(name, path, build, command, folder=None):
    """One command with more and more threads. What writes no folder also runs as that many processes of one thread each at
    the same time, which share nothing but the machine: so many times the work, in a time that says what the machine allows."""
    output = ["-q", "--out", folder] if folder else ["-o", "/dev/null"]
    run = [build / "gputime", command, path, "--no-cache", *output, "--threads"]
    contenders = [Contender(f"{command}, {count} thread{'s' * (count > 1)}", [*run, count]) for count in thread_counts()]
    most = thread_counts()[-1]
    at_once = " ".join(shlex.quote(str(word)) for word in [*run, 1])
    if not folder:
        contenders.append(Contender(f"{command}, {most} processes at once",
                                    ["sh", "-c", f"for i in $(seq {most}); do {at_once} >/dev/null & done; wait"]))
    return Case(name, path.stat().st_size, contenders[0].name, contenders)


def gzip_threads_case(bench, size, name):
    """A gzip file of one member with more and more threads, beside ISA-L on one."""
    trace = make_trace(bench, size, "multi")
    path = pack(bench, trace, "gzip")
    contenders = [Contender(f"gputime {count} thread{'s' * (count > 1)}", [bench / "read", count, path])
                  for count in thread_counts()]
    contenders.append(Contender("isal alone", [bench / "inflate", "isal", path]))
    return Case(name, trace.stat().st_size, "isal alone", contenders)


def rocpd_case(bench, build, kernels):
    """Kernels, calls and what joins them in a rocpd database, beside step loops over the same columns."""
    path = make_input(bench / f"rocpd-{kernels}.db", HERE / "rocpdgen.py", sys.executable, HERE / "rocpdgen.py", kernels)
    contenders = [
        Contender("gputime 1 thread", [bench / "read", 1, path]),
        Contender("gputime 2 threads", [bench / "read", 2, path]),
        Contender("sqlite3_step", [bench / "rocpd_step", path]),
        Contender("whole command, 2 threads",
                  [build / "gputime", "kernels", path, "--no-cache", "--threads", 2, "-o", "/dev/null"]),
    ]
    return Case("rocpd", path.stat().st_size, "sqlite3_step", contenders)


def explain_case(bench, build, kernels):
    """A whole explain of an export with calls and nested ranges, beside reading it and a report of one table."""
    path = make_input(bench / f"explain-{kernels}.sqlite", bench / "nsysgen", bench / "nsysgen", "-k", kernels)
    options = [path, "--no-cache", "--threads", 2]
    contenders = [
        Contender("reading alone, 2 threads", [bench / "read", 2, path]),
        Contender("kernels, 2 threads", [build / "gputime", "kernels", *options, "-o", "/dev/null"]),
        Contender("explain, 2 threads", [build / "gputime", "explain", *options, "-q", "--out", bench / "explained"]),
    ]
    return Case("explain", path.stat().st_size, "reading alone, 2 threads", contenders)


def sql_case(bench, build, kernels):
    """Two queries over an export, beside the same in SQLite over the tables of the export: sums by name, and kernel time
    by the innermost of one range for every five kernels."""
    path = make_input(bench / f"explain-{kernels}.sqlite", bench / "nsysgen", bench / "nsysgen", "-k", kernels)
    options = ["--no-cache", "--threads", 2, "-o", "/dev/null", "--csv"]
    sums = "select {0}, count(*), sum(dur_ns) from ops group by {0}"
    peer = [sys.executable, HERE / "peers/sqlite_read.py"]
    contenders = [
        Contender("sql by name", [build / "gputime", "sql", path, sums.format("name"), *options]),
        Contender("sql by range", [build / "gputime", "sql", path, sums.format("range"), *options]),
        Contender("sqlite3 by name", [*peer, "names", path], slow=True),
        Contender("sqlite3 by range", [*peer, "ranges", path], slow=True),
    ]
    return Case("SQL", path.stat().st_size, "sqlite3 by name", contenders)


def arguments_case(bench, build, size):
    """Arguments of operators and launch configurations, next to reading the same trace without them; programs repeat
    their shapes."""
    path = make_input(bench / f"shapes-{size}.json", bench / "tracegen", bench / "tracegen", "-s", size, "-d", 1000)
    options = [path, "--no-cache", "--threads", 1, "-o", "/dev/null"]
    contenders = [
        Contender("reading alone, 1 thread", [bench / "read", 1, path]),
        Contender("reading with arguments, 1 thread", [bench / "read", 1, path, "arguments"]),
        Contender("efficiency, 1 thread", [build / "gputime", "efficiency", *options]),
    ]
    return Case("arguments", path.stat().st_size, "reading alone, 1 thread", contenders)


def export_case(bench, build, size):
    """Events as Parquet, next to reading what is written, and to reading what other commands need."""
    path = make_trace(bench, size, "multi")
    contenders = [
        Contender("reading what is exported, 2 threads", [bench / "read", 2, path, "exported"]),
        Contender("reading alone, 2 threads", [bench / "read", 2, path]),
        *(Contender(f"export, {threads} thread{'s' * (threads > 1)}",
                    [build / "gputime", "export", path, "-q", "--no-cache", "--threads", threads, "-o",
                     f"{bench}/exported/"]) for threads in (1, 2)),
    ]
    return Case("export", path.stat().st_size, "reading what is exported, 2 threads", contenders)


def graph_case(bench, kernels):
    """The dependency graph on one thread: about two nodes for each kernel."""
    path = make_input(bench / f"path-{kernels}.sqlite", bench / "nsysgen", bench / "nsysgen", "-k", kernels)
    return GraphCase("dependency graph", path, [bench / "graph", 1])


def path_case(bench, build, kernels):
    """The commands that use the graph, next to reading the same input."""
    path = make_input(bench / f"path-{kernels}.sqlite", bench / "nsysgen", bench / "nsysgen", "-k", kernels)
    options = [path, "--no-cache", "--threads", 2, "-o", "/dev/null"]
    contenders = [
        Contender("reading alone, 2 threads", [bench / "read", 2, path]),
        Contender("path, 2 threads", [build / "gputime", "path", *options]),
        Contender("whatif --cpu 2, 2 threads", [build / "gputime", "whatif", "--cpu", 2, *options]),
        Contender("whatif, 2 threads", [build / "gputime", "whatif", *options]),
    ]
    return Case("path", path.stat().st_size, "reading alone, 2 threads", contenders)


def diff_case(bench, build, size):
    """A comparison of two traces, beside reading one after the other: alone, with what every report needs, and by the
    command that makes least of it."""
    traces = [make_trace(bench, size, "multi", seed) for seed in (1, 2)]
    reading, opening = (" && ".join(f"'{bench / 'read'}' 2 '{trace}' {how}" for trace in traces)
                        for how in ("usual", "open"))
    options = "--no-cache --threads 2 -o /dev/null"
    kernels = " && ".join(f"'{build / 'gputime'}' kernels '{trace}' {options}" for trace in traces)
    contenders = [
        Contender("reading both, 2 threads", ["sh", "-c", reading]),
        Contender("opening both, 2 threads", ["sh", "-c", opening]),
        Contender("kernels of both, 2 threads", ["sh", "-c", kernels]),
        Contender("diff, 2 threads",
                  [build / "gputime", "diff", *traces, "--no-cache", "--threads", 2, "-o", "/dev/null"]),
    ]
    return Case("diff", sum(trace.stat().st_size for trace in traces), "reading both, 2 threads", contenders)


def report_case(bench, megabytes):
    """An Nsight report; its size counts as inflated events."""
    path = make_input(bench / f"report-{megabytes}.nsys-rep", bench / "nsysrepgen", bench / "nsysrepgen", "-m",
                      megabytes)
    contenders = [Contender("gputime 1 thread", [bench / "read", 1, path]),
                  Contender("gputime 2 threads", [bench / "read", 2, path])]
    return Case("Nsight report", megabytes * 1000000, "gputime 1 thread", contenders)


def metrics_case(bench, samples):
    """GPU metrics of a report, next to inflating it alone; its size counts as inflated samples."""
    path = make_input(bench / f"metrics-{samples}.nsys-rep", bench / "nsysrepgen", bench / "nsysrepgen", "-m", 1, "-g",
                      samples)
    alone = Contender("LZ4 alone", [bench / "chunks", path])
    alone.run()
    inflated_bytes = int(re.match(r"inflated (\d+)", alone.answer)[1])
    contenders = [Contender("gputime 1 thread", [bench / "read", 1, path, "counters"]),
                  Contender("gputime 2 threads", [bench / "read", 2, path, "counters"]), alone]
    return Case("GPU metrics", inflated_bytes, alone.name, contenders)


def counters_case(bench, build, samples):
    """Attribution of GPU metrics to kernels, about one kernel for each sample, next to reading all of it."""
    path = make_input(bench / f"sampled-{samples}.nsys-rep", bench / "nsysrepgen", bench / "nsysrepgen", "-m", 100,
                      "-g", samples)
    options = ["--table", "counters", path, "--no-cache", "--threads", 1, "-o", "/dev/null"]
    contenders = [Contender("reading all, 1 thread", [bench / "read", 1, path, "all"]),
                  Contender("counters, 1 thread", [build / "gputime", "summary", *options])]
    return Case("counters", path.stat().st_size, "reading all, 1 thread", contenders)


def view_case(bench, build, kernels):
    """Windows of any zoom by HTTP, and the memory of the server next to what it has read."""
    path = make_input(bench / f"explain-{kernels}.sqlite", bench / "nsysgen", bench / "nsysgen", "-k", kernels)
    return ViewCase("view", path, build / "gputime")


def small_case(bench, build):
    trace = make_trace(bench, "30M", "multi")
    contenders = [Contender("summary on the screen", [build / "gputime", trace, "--no-cache"]),
                  Contender("simdjson on-demand", [bench / "simdjson", "mapped", trace])]
    return Case("30 MB", trace.stat().st_size, "simdjson on-demand", contenders)


def make_cases(bench, build, is_quick, only):
    """One after the other, so that the input of a case nobody asked for is not made."""
    size, packed_size = ("150M", "150M") if is_quick else ("1G", "2G")
    calls, megabytes = (500000, 100) if is_quick else (5000000, 500)
    plain = make_trace(bench, size, "multi")
    makers = {
        "JSON as Kineto writes it": lambda name: json_case(bench, build, plain, name, extra=True),
        "JSON on one line": lambda name: json_case(bench, build, make_trace(bench, size, "min"), name, extra=False),
        "JSON, args on one line":
            lambda name: json_case(bench, build, make_trace(bench, size, "flat"), name, extra=False),
        "JSON in gzip": lambda name: packed_case(bench, packed_size, "gzip", name, ["isal", "zlib"]),
        "JSON in zstd": lambda name: packed_case(bench, packed_size, "zstd", name, ["zstd"]),
        "rocpd": lambda _: rocpd_case(bench, build, 300000 if is_quick else 1500000),
        "Nsight SQLite": lambda _: sqlite_case(bench, build, 1000000 if is_quick else 10000000),
        "Nsight SQLite, 8 GPUs": lambda _: export_with_calls_case(bench, build, calls),
        "JSON kernels by threads": lambda name: threads_case(name, plain, build, "kernels"),
        "JSON summary by threads": lambda name: threads_case(name, plain, build, "summary"),
        "SQLite summary by threads": lambda name: threads_case(
            name, make_input(bench / f"calls-{calls}.sqlite", bench / "nsysgen", bench / "nsysgen", "-g", 8, "-k", calls),
            build, "summary"),
        "SQLite explain by threads": lambda name: threads_case(
            name, make_input(bench / f"calls-{calls}.sqlite", bench / "nsysgen", bench / "nsysgen", "-g", 8, "-k", calls),
            build, "explain", bench / "explained"),
        "report kernels by threads": lambda name: threads_case(
            name, make_input(bench / f"report-{megabytes}.nsys-rep", bench / "nsysrepgen", bench / "nsysrepgen", "-m",
                             megabytes), build, "kernels"),
        "gzip by threads": lambda name: gzip_threads_case(bench, packed_size, name),
        "explain": lambda _: explain_case(bench, build, 1000000 if is_quick else 10000000),
        "SQL": lambda _: sql_case(bench, build, 1000000 if is_quick else 10000000),
        "view": lambda _: view_case(bench, build, 1000000 if is_quick else 10000000),
        "arguments": lambda _: arguments_case(bench, build, size),
        "export": lambda _: export_case(bench, build, size),
        "dependency graph": lambda _: graph_case(bench, 500000 if is_quick else 5000000),
        "path": lambda _: path_case(bench, build, 500000 if is_quick else 5000000),
        "diff": lambda _: diff_case(bench, build, size),
        "Nsight report": lambda _: report_case(bench, megabytes),
        "GPU metrics": lambda _: metrics_case(bench, 454546),
        "counters": lambda _: counters_case(bench, build, 454546),
        "the cache": lambda _: cache_case(bench, plain),
        "30 MB": lambda _: small_case(bench, build),
        "JSON, 100 MB": lambda _: other_programs_case(bench),
        "JSON, 4.6 GB": lambda _: large_case(bench),
    }
    for name, make in makers.items():
        if (only or "").lower() in name.lower() and not (is_quick and name == "JSON, 4.6 GB"):
            yield make(name)


# ---- the table ----

def print_table(rows):
    print(f"{'case':<26}{'contender':<28}{'wall s':>8}{'user s':>8}{'sys s':>8}{'MB/s':>8}{'peak MB':>9}{'ratio':>8}"
          f"{'by CPU':>8}")
    last = None
    for row in rows:
        case = row["case"] if row["case"] != last else ""
        last = row["case"]
        speed = row["input_bytes"] / row["wall_s"] / 1e6
        peak = f"{row['peak_bytes'] / 1e6:.0f}" if row["peak_bytes"] else "-"
        print(f"{case:<26}{row['contender']:<28}{row['wall_s']:>8.3f}{row['user_s']:>8.3f}{row['system_s']:>8.3f}"
              f"{speed:>8.0f}{peak:>9}{row['ratio']:>7.2f}x{row['cpu_ratio']:>7.2f}x")


def machine():
    text = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*:\s*(.+)", text)
    memory = re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())
    release = platform.freedesktop_os_release() if hasattr(platform, "freedesktop_os_release") else {}
    return {
        "cpu": model.group(1) if model else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(int(memory.group(1)) / 2**20) if memory else 0,
        "os": release.get("PRETTY_NAME", platform.system()),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller inputs and fewer rounds: under three minutes")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="where gputime was built")
    parser.add_argument("--rounds", type=int, help="how many rounds (9; quick: 6)")
    parser.add_argument("--only", help="cases whose name has this in it")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    bench = build / "bench"
    build_programs(bench, build)
    rows = []
    for case in make_cases(bench, build, arguments.quick, arguments.only):
        case.run(arguments.rounds or (6 if arguments.quick else 9))
        rows += case.rows()
    print_table(rows)
    results = {"machine": machine(), "quick": arguments.quick, "rows": rows}
    (bench / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    print(f"\n{results['machine']['cpu']}, {results['machine']['cores']} cores; bench/check compares "
          f"{os.path.relpath(bench / 'results.json')} with the targets")


ENVIRONMENT = {**os.environ, "LC_ALL": "C"}

if __name__ == "__main__":
    main()
