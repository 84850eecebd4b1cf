"""Command lines whose machine is made to fail: every input format, every output, every command that talks to somebody."""

import collections
import gzip
import json
import lzma
import os
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests/data"
SEEDS = ROOT / "tests/fuzz/seeds"
LONG_AGO = 1_600_000_000
QUERY = "select name, count(*), sum(dur_ns) from ops group by name order by name"

# kind: run (to its end), talk (lines on standard input), serve (answers requests until it is interrupted).
# Words that begin with @ are inputs, output files are relative to the folder that it runs in. replaces: files that are there before. light: also in `make test`.
Case = collections.namedtuple("Case", "name words kind replaces light")


def case(name, *words, kind="run", replaces=(), light=False):
    return Case(name, words, kind, replaces, light)


INPUTS = {  # name in the world: where it comes from
    "devices.json": DATA / "devices.json",
    "overlap.json": DATA / "overlap.json",
    "devices.json.zip": DATA / "devices.json.zip",
    "packed.json.gz": None,
    "packed.json.xz": None,
    "real.json.zst": SEEDS / "fuzz_torch_json/real.json.zst",
    "facts.json": SEEDS / "fuzz_torch_json/facts.json",
    "small.nsys-rep": SEEDS / "fuzz_nsys_rep/small.nsys-rep",
    "small.sqlite": SEEDS / "fuzz_nsys_sqlite/small.sqlite",
    "mini_cuda_gpu_trace.csv": DATA / "nsys-csv/mini_cuda_gpu_trace.csv",
    "mini_cuda_gpu_kern_sum.csv": DATA / "nsys-csv/mini_cuda_gpu_kern_sum.csv",
    "words.xplane.pb": SEEDS / "fuzz_xla/words.xplane.pb",
    "small.trace.json": SEEDS / "fuzz_xla/small.trace.json",
    "small.pftrace": SEEDS / "fuzz_pftrace/small.pftrace",
    "small.db": SEEDS / "fuzz_rocm/small.db",
    "small.json": SEEDS / "fuzz_rocm/small.json",
    "old.rpd": SEEDS / "fuzz_rocm/old.rpd",
    "results.csv": SEEDS / "fuzz_rocm/results.csv",
    "small.log": SEEDS / "fuzz_nccl_inspector/small.log",
}

INPUT_CASES = [case(f"input {name}", "kernels", f"@{name}", "--csv", "--no-cache") for name in INPUTS]

OUTPUT_CASES = [
    case("summary", "summary", "@devices.json", "--no-cache", light=True),
    case("json to a file", "summary", "@devices.json", "--json", "-o", "out.json", "--no-cache", replaces=("out.json",), light=True),
    case("page", "summary", "@devices.json", "--html", "-o", "out.html", "--no-cache", replaces=("out.html",)),
    case("markdown and list", "kernels", "@overlap.json", "--gaps", "--launches", "-o", "out.csv", "--no-cache"),
    case("csv for each table", "summary", "@devices.json", "--csv", "-o", "tables/", "--no-cache"),
    case("parquet of a report", "kernels", "@devices.json", "--format", "parquet", "-o", "out.parquet", "--no-cache"),
    case("parquet of events", "export", "@devices.json", "-o", "events/", "--no-cache", light=True),
    case("parquet of a query", "sql", "@devices.json", QUERY, "--format", "parquet", "-o", "out.parquet", "--no-cache"),
    case("json redacted", "kernels", "@devices.json", "--redact", "--json", "-o", "out.json", "--no-cache"),
    case("perfetto", "export", "@devices.json", "--format", "perfetto", "-o", "out.pftrace", "--no-cache", replaces=("out.pftrace",)),
    case("explain folder", "explain", "@devices.json", "--out", "folder", "--no-cache"),
    case("graph folder", "graph", "@devices.json", "--out-dir", "folder", "--no-cache"),
    case("redact", "redact", "@small.sqlite", "-o", "out.sqlite", replaces=("out.sqlite",), light=True),
    case("cache", "summary", "@devices.json", "--cache-after", "0s", light=True),
    case("cached", "summary", "@cached.json", "--cache-after", "0s"),
    case("diff", "diff", "@devices.json", "@overlap.json", "--json", "-o", "out.json", "--no-cache"),
    case("check", "check", "@devices.json", "--limit", "idle<100%", "--no-cache"),
    case("ranks", "ranks", "@rank0.json", "@rank1.json", "--json", "--no-cache"),
    case("sql", "sql", "@devices.json", QUERY, "--csv", "--no-cache", light=True),
    case("sql of two", "sql", "@devices.json", "@overlap.json", "select * from gaps g join ops o on o.id = g.next_id order by 1, 2, 3",
         "--json", "-o", "out.json", "--no-cache"),
    case("sql of a report", "sql", "@devices.json", "select median(total_ns) from report_kernels", "--no-cache"),
    case("rules and map", "kernels", "@devices.json", "--rules", "@rules.json,engine,model", "--no-cache"),
    case("threads", "summary", "@devices.json", "--json", "--threads", "3", "--no-cache"),
    case("list", "list", "rules"),
    case("help", "help", "kernels"),
]

TALKS = [
    case("mcp", "mcp", kind="talk", light=True),
    case("view", "view", "@devices.json", "--no-cache", kind="serve", light=True),
]

CASES = INPUT_CASES + OUTPUT_CASES + TALKS


def asked(number, method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def lines_for_mcp(world):
    trace = str(world / "devices.json")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    return "\n".join([
        asked(1, "initialize", **hello), json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        asked(2, "tools/list"), asked(3, "tools/call", name="kernels", arguments={"traces": [trace]}),
        asked(4, "tools/call", name="sql", arguments={"traces": [trace], "query": "select count(*) from ops"}),
        asked(5, "tools/call", name="nothing", arguments={}), asked(6, "ping"),
    ]).encode() + b"\n"


def rank_trace(rank):
    """devices.json as the trace of one rank."""
    trace = json.loads((DATA / "devices.json").read_text())
    if isinstance(trace, list):
        trace = {"traceEvents": trace}
    return json.dumps(trace | {"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}})


def make_world(folder):
    """All inputs, old enough to be cached."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in INPUTS.items():
        if source:
            shutil.copyfile(source, folder / name)
    (folder / "packed.json.gz").write_bytes(gzip.compress((DATA / "devices.json").read_bytes(), mtime=0))
    (folder / "packed.json.xz").write_bytes(lzma.compress((DATA / "devices.json").read_bytes()))
    shutil.copyfile(DATA / "devices.json", folder / "cached.json")
    (folder / "rules.json").write_text(json.dumps({"engine": {"model": {"gemm": "matrix", ".*": "rest"}}}))
    for rank in range(2):
        (folder / f"rank{rank}.json").write_text(rank_trace(rank))
    for path in folder.iterdir():
        os.utime(path, (LONG_AGO, LONG_AGO))
    return folder
