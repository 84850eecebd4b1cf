"""The laws. Each takes a trace, a source of chance and a folder for files, and fails where the reports break it.

Equal means equal: integers to the nanosecond, other numbers to the last digits of a double.
"""

import collections
import dataclasses
import math


from . import kineto, nsight
from .judged import judged
from .reports import document, ranks, without_input
from .traces import COPIES, MEMSET, Trace, in_line, without_ties

UNLIKE = {"pid"}  # Kineto does not say whose process an op is
NSIGHT_NAMES = {name: kineto.CSV_NAMES.get(name, name) for name in (*COPIES, MEMSET)}
# Where ops of one stream overlap, the graph guesses their order from that of the file, and so differs.
PATHS = {"path_windows", "path_kinds", "path_parts", "critical_path", "path_kernels", "path_host", "slack", "replay",
         "edge_kinds", "edge_delays", "findings"}
PATH_FACTS = ("path_", "edges_", "replay_")
WRITERS = {"json": kineto.write, "sqlite": nsight.write}


class Broken(AssertionError):
    """A law does not hold."""


def check(holds, *what):
    if not holds:
        raise Broken(" ".join(map(str, what)))


# ---- comparing ----

def is_near(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return a == b


def same(a, b, place=""):
    """Every value of two documents, in order."""
    if a == b:  # mostly, and quickly known; else which value it is
        return
    if isinstance(a, dict) and isinstance(b, dict):
        check(a.keys() == b.keys(), place, "has", sorted(a), "and", sorted(b))
        for key in a:
            same(a[key], b[key], f"{place}.{key}")
    elif isinstance(a, list) and isinstance(b, list):
        check(len(a) == len(b), place, "has", len(a), "and", len(b), "items:", a, b)
        for index, pair in enumerate(zip(a, b)):
            same(*pair, f"{place}[{index}]")
    else:
        check(is_near(a, b), place, "is", a, "and", b)


def sortable(row):
    """Texts and what is missing first: numbers of the two sides may differ in their last digits."""
    numbers = [float(value) for value in row.values() if isinstance(value, (int, float))]
    return [repr(value) for value in row.values() if not isinstance(value, (int, float))], numbers


def same_rows(a, b, place):
    """In any order."""
    same(sorted(a, key=sortable), sorted(b, key=sortable), place)


# ---- the laws ----

def shift(trace, pick, folder):
    """Times count from the first op: moving all of them changes nothing."""
    suffix = pick.choice(list(WRITERS))
    distance = pick.choice([1, 999, 1_000_000_007, 86_400 * 10**9])
    a = document(WRITERS[suffix](folder / f"a.{suffix}", trace))
    b = document(WRITERS[suffix](folder / f"b.{suffix}", trace.moved(lambda time: time + distance)))
    same(a.everything(), b.everything())


def permute(trace, pick, folder):
    """The order of rows in the file decides only between rows that are equal in time."""
    trace, suffix, is_legal = without_ties(trace, pick), pick.choice(list(WRITERS)), pick.random() < 0.5
    trace = in_line(trace) if is_legal else trace
    a = document(WRITERS[suffix](folder / f"a.{suffix}", trace))
    b = document(WRITERS[suffix](folder / f"b.{suffix}", trace, shuffle=pick.shuffle))
    check(a.tables.keys() == b.tables.keys(), "tables")
    for key in a.tables.keys() - (set() if is_legal else PATHS):
        same_rows(a.tables[key], b.tables[key], key)
    left_out = () if is_legal else PATH_FACTS
    same(*({key: value for key, value in one.facts.items() if not key.startswith(left_out)} for one in (a, b)), "facts")
    same(a.issues, b.issues, "issues")
    if is_legal:
        same(*([without_input(finding) for finding in one.findings] for one in (a, b)), "findings")


def split_files(trace, pick, folder):
    """Rows of one capture in two files are the rows of one."""
    ops = sorted(without_ties(trace, pick).ops, key=lambda op: op.start)
    parts = [ops, [], []]
    for op in ops:
        parts[pick.choice([1, 2])].append(op)
    paths = [folder / f"{name}_cuda_gpu_trace.csv" for name in ("whole", "part", "part2")]
    for path, part in zip(paths, parts):
        path.write_text(kineto.csv_text(part), encoding="utf-8")
    if not (parts[1] and parts[2]):
        return
    analyses = ("accounting", "kernels", "categories", "memory", "streams")
    a, b = document(paths[0], analyses=analyses), document(*paths[1:], analyses=analyses)
    for key in a.tables:
        same_rows(a.tables[key], b.tables[key], key)


def split_devices(trace, pick, folder):
    """What is said of one GPU follows from its own work."""
    device = pick.choice(trace.ops).device
    own = trace.changed(op=lambda op: op if op.device == device else None)
    analyses = ("accounting", "kernels", "categories", "memory", "streams", "transitions")
    a = document(kineto.write(folder / "whole.json", trace), analyses=analyses, device=device)
    b = document(kineto.write(folder / "own.json", own), analyses=analyses)
    for key in a.tables:
        same_rows(a.tables[key], b.tables[key], key)


def rename_streams(trace, pick, folder):
    """Streams are only numbers: other ones in the same order change nothing else."""
    streams = sorted({op.stream for op in trace.ops})
    number = dict(zip(streams, sorted(pick.sample(range(1000), len(streams)))))
    suffix = pick.choice(list(WRITERS))
    renamed = trace.changed(op=lambda op: dataclasses.replace(op, stream=number[op.stream]))
    a = document(WRITERS[suffix](folder / f"a.{suffix}", trace))
    b = document(WRITERS[suffix](folder / f"b.{suffix}", renamed))

    def with_numbers(value):
        if isinstance(value, dict):
            return {key: number.get(item, item) if key == "stream" else with_numbers(item) for key, item in value.items()}
        return [with_numbers(item) for item in value] if isinstance(value, list) else value

    same(with_numbers({"tables": a.tables, "facts": a.facts, "issues": a.issues}),
         {"tables": b.tables, "facts": b.facts, "issues": b.issues})


def scale(trace, pick, folder):
    """All times k times as long: amounts are, counts and shares stay."""
    factor = pick.choice([2, 3, 10, 1000])
    origin = trace.origin
    stretched = trace.moved(lambda time: origin + (time - origin) * factor)
    analyses = ("accounting", "categories", "kernels", "device_kernels", "memory", "streams", "transitions", "operators",
                "processes", "graphs")
    a = document(kineto.write(folder / "a.json", trace), analyses=analyses)
    b = document(kineto.write(folder / "b.json", stretched), analyses=analyses)

    def scaled(row):
        return {key: value * factor if key.endswith("_ns") and value is not None else value for key, value in row.items()
                if not key.startswith("bytes_per") and "gbps" not in key and "rate" not in key and "bandwidth" not in key}

    for key, rows in a.tables.items():
        kept = scaled(rows[0]).keys() if rows else ()
        others = [{column: row[column] for column in kept} for row in b.tables[key]]
        same_rows([scaled(row) for row in rows], others, key)


def drop_stream(trace, pick, folder):
    """Without a stream the trace says what the whole says of the other streams."""
    gone = pick.choice(trace.ops).stream
    rest = trace.changed(op=lambda op: op if op.stream != gone else None)
    if not rest.ops:
        return
    analyses = ("accounting", "kernels", "memory", "streams", "categories", "transitions")
    left = sorted({op.stream for op in rest.ops})
    a = document(kineto.write(folder / "whole.json", trace), analyses=analyses, stream=left)
    b = document(kineto.write(folder / "rest.json", rest), analyses=analyses)
    for key in a.tables:
        same_rows(a.tables[key], b.tables[key], key)


def sums(rows, key, columns):
    result = collections.Counter()
    for row in rows:
        for column in columns:
            result[row[key], column] += row[column]
    return result


def windows(trace, pick, folder):
    """Windows that follow each other share the time among them: sums over them are those of the whole."""
    suffix = pick.choice(list(WRITERS))
    path = WRITERS[suffix](folder / f"a.{suffix}", trace)
    length = trace.end - trace.origin
    if length < 2:
        return
    edges = sorted({0, length, *(pick.randrange(1, length) for _ in range(pick.randint(1, 4)))})
    analyses = ("accounting", "kernels", "categories", "memory", "streams")
    whole = document(path, analyses=analyses, from_=0, to=length)
    parts = [document(path, analyses=analyses, from_=start, to=end) for start, end in zip(edges, edges[1:])]
    for table, key, columns in (
            ("accounting", "device", ("span_ns", "busy_ns", "idle_ns", "compute_ns", "comm_ns", "memory_ns",
                                      "exposed_comm_ns", "exposed_memory_ns", "overlap_ns")),
            ("kernels", "name", ("total_ns",)), ("memory", "name", ("total_ns",)),
            ("categories", "category", ("total_ns", "wall_ns")), ("streams", "stream", ("busy_ns",))):
        rows = [row for part in parts for row in part.tables.get(table, [])]
        a, b = sums(whole.tables[table], key, columns), sums(rows, key, columns)
        check(+a == +b, table, edges, +a, +b)


def add_empty_rank(trace, pick, folder):
    """A rank without GPU work changes nothing that is said of the others, and is named."""
    distance = pick.choice([0, 1000])
    other = trace.moved(lambda time: time + distance)
    a, b = (kineto.write(folder / f"rank{number}.json", one, rank=number, world=3)
            for number, one in enumerate((trace, other)))
    empty = kineto.write(folder / "rank2.json", Trace([], trace.calls[:1], []), rank=2, world=3)
    two, three = ranks((a, b)), ranks((a, b, empty))
    rows = [{row["rank"]: row for row in one.tables["ranks"]} for one in (two, three)]
    for rank in (0, 1):
        same(rows[0][rank], rows[1][rank], f"rank {rank}")


def formats(trace, pick, folder):
    """What both formats can say, they say alike."""
    plain = without_ties(trace, pick).changed(span=lambda one: None if one.is_operator else one)
    analyses = ("accounting", "kernels", "categories", "streams", "stream_gaps", "gaps", "launches", "steps")
    a = document(kineto.write(folder / "a.json", plain), analyses=analyses)
    b = document(nsight.write(folder / "a.sqlite", plain), analyses=analyses)
    for key in ("accounting", "kernels", "categories", "streams", "stream_gaps", "idle_causes", "launches", "steps"):
        same_rows(*([{column: NSIGHT_NAMES.get(value, value) if isinstance(value, str) else value
                      for column, value in row.items() if column not in UNLIKE}
                     for row in one.tables[key]] for one in (a, b)), key)


def threads(trace, pick, folder):
    """Nothing depends on the number of threads."""
    path = kineto.write(folder / "a.json", trace)
    same(document(path, threads=1).everything(), document(path, threads=pick.randint(2, 5)).everything())


LAWS = {law.__name__: law for law in (shift, permute, split_files, split_devices, rename_streams, scale, drop_stream, windows,
                                      add_empty_rank, formats, threads, judged)}
