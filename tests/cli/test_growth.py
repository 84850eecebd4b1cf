"""Cost against size: instructions for each event, counted by valgrind, of traces of 4 * 10^3, 4 * 10^4 and 4 * 10^5
events. No clock takes part, so the answer does not depend on the machine's mood."""

import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import time

import pytest

from conftest import ROOT, find_binary
from test_matrix import command_names

# Bytes of generated JSON that hold about so many events.
SIZES = {4 * 10**3: "1400K", 4 * 10**4: "14M", 4 * 10**5: "136M"}
# Sorting grows by log n: 18.6/15.3 from the second size to the third. More than this for each event, and something is worse.
WORST = 1.3

# How each command that reads traces is asked for everything it can do. All but one have it from the cache: what reading
# costs is counted once.
ALL_OF_IT = {
    "reading": ["--no-cache"],
    "summary": ["--json"],
    "kernels": ["--gaps", "--launches", "--csv"],
    "gaps": ["--per", "device", "--json"],
    "stream gaps": ["--per", "stream", "--json"],
    "ranges": ["--tree", "--json"],
    "steps": ["--top", "0", "--json"],
    "findings": ["--md"],
    "graph": ["--json"],
    "explain": ["--json"],
    "stats": ["--json"],
    "diff": ["--json"],
    "path": ["--json"],
    "whatif": ["--json"],
    "check": ["--limit", "idle<=100%", "--limit", "kernel:*>=0ms", "--json"],
    "memory": ["--json"],
    "efficiency": ["--json"],
    "ranks": ["--json"],
    "diff of jobs": ["--ranks", "--json"],
    "check of a job": ["--ranks", "--limit", "idle<=100%", "--json"],
    "export": ["--format", "parquet"],
    "sql": ["select name, count(*), sum(dur_ns) from ops group by name", "--csv"],
    "export for Perfetto": ["--format", "perfetto"],
    "page": ["--html"],
}
RUNS_AS = {"reading": "kernels", "page": "summary", "stream gaps": "gaps", "diff of jobs": "diff", "check of a job": "check",
           "export for Perfetto": "export"}
OUTPUTS = {"export": "exported/", "export for Perfetto": "exported.pftrace"}
TRACES = {"diff": 2, "diff of jobs": 2}
SERVE = {"view"}  # what it costs is in the answers (bench/view.py)
READ_NO_TRACE = {"define", "mcp", "redact", "list", "cache", "help", "version"}

# The traces are large, so one worker makes them for all tests.
pytestmark = [pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind counts the instructions"),
              pytest.mark.xdist_group("growth")]


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("growth")
    generator = folder / "tracegen"
    subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", "-o", generator, ROOT / "bench/tracegen.c"], check=True)
    made = {}
    for size, text in SIZES.items():
        path = folder / f"{size}.json"
        output = subprocess.run([generator, "-s", text, "-r", "7", path], check=True, capture_output=True, text=True)
        made[size] = path, int(re.search(r"events (\d+)", output.stdout + output.stderr)[1])
    yield made
    shutil.rmtree(folder)


def environment(folder):
    return os.environ | {"HOME": str(folder), "XDG_CACHE_HOME": str(folder), "LC_ALL": "C.UTF-8"}


def count_instructions(arguments, folder):
    run = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
                          find_binary("GPUTIME", "build/gputime"), *arguments],
                         cwd=folder, env=environment(folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 0, run.stderr
    return int(re.search(r"I\s+refs:\s+([\d,]+)", run.stderr)[1].replace(",", ""))


def keep_in_cache(path, folder):
    time.sleep(max(0, path.stat().st_mtime + 3 - time.time()))  # younger files are not kept
    # Findings read arguments of operators, too, ranks ask for logged collectives and exports for what is shown nowhere else:
    # what all commands read is in the cache before any is counted.
    for command in (["findings"], ["ranks"], ["export", "--format", "perfetto", "-o", folder / f"{path.stem}.pftrace"]):
        subprocess.run([find_binary("GPUTIME", "build/gputime"), *command, path, "--cache-after", "0s"],
                       env=environment(folder), check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def costs(traces, tmp_path_factory):
    """Instructions for each event, by what is asked for and size; counted on all cores at once, the dearest first."""
    folder = tmp_path_factory.mktemp("home")
    for path, _ in traces.values():
        keep_in_cache(path, folder)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = {}
        for size in sorted(SIZES, reverse=True):
            path, events = traces[size]
            for name, options in ALL_OF_IT.items():
                arguments = [RUNS_AS.get(name, name), *options, "--threads", "1", "-o",
                             OUTPUTS.get(name, "/dev/null"), *[path] * TRACES.get(name, 1)]
                counts[name, size] = pool.submit(count_instructions, arguments, folder), events
        return {key: future.result() / events for key, (future, events) in counts.items()}


def test_every_command_that_reads_traces_is_measured():
    assert set(command_names()) - READ_NO_TRACE - SERVE <= set(ALL_OF_IT)


@pytest.mark.parametrize("name", ALL_OF_IT)
def test_cost_of_an_event_does_not_grow(costs, name):
    small, middle, large = (costs[name, size] for size in SIZES)
    # Small traces bear what does not depend on size, so their events may only be dearer.
    assert middle <= WORST * small and large <= WORST * middle, (small, middle, large)


def many_devices(device_count):
    """One thread launches on many devices, which then all wait for it at the same time while it is in other calls."""
    events = []

    def add(category, name, start, length, pid, tid, **args):
        events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": length,
                       "args": args})

    calls = 10 * device_count
    for turn, start in enumerate((0, 10 * (device_count + calls))):
        for device in range(device_count):
            correlation = turn * device_count + device + 1
            add("cuda_runtime", "cudaLaunchKernel", start + 2 * device, 1, 1, 1, correlation=correlation)
            add("kernel", "k", start + 2 * device_count + 5, 3, 0, 7, device=device, stream=7, correlation=correlation)
    for call in range(calls):
        add("cuda_runtime", "cudaMalloc", 2 * device_count + 50 + 5 * call, 2, 1, 1, correlation=10**6 + call)
    return json.dumps({"traceEvents": sorted(events, key=lambda event: event["ts"])}), len(events)


def exchanges_of_a_large_group(count):
    """So many all_to_all of a group of so many ranks, which do not say what the place of their own rank is."""
    ranks = [3 * rank + rank % 2 for rank in range(count)]  # not evenly spaced
    header = {"rank": ranks[-1], "world_size": 3 * count,
              "pg_config": [{"pg_name": "7", "pg_desc": "ep", "pg_size": count, "ranks": ranks}]}
    events = [{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv", "pid": 0, "tid": 7, "ts": 20 * number, "dur": 10,
               "args": {"device": 0, "stream": 7, "External id": number, "Collective name": "all_to_allv",
                        "In msg nelems": 64, "Out msg nelems": 64, "dtype": "Float", "Group size": count,
                        "Process Group Name": "7"}} for number in range(count)]
    return json.dumps({"distributedInfo": header, "traceEvents": events}), len(events)


def test_cost_does_not_grow_with_the_ranks_of_a_group(tmp_path):
    costs = []
    for count in (2000, 8000):
        text, events = exchanges_of_a_large_group(count)
        path = tmp_path / f"{count}.json"
        path.write_text(text)
        costs.append(count_instructions(["summary", path, "--json", "--no-cache", "--threads", "1"], tmp_path) / events)
    assert costs[1] <= WORST * costs[0], costs


def test_cost_does_not_grow_with_devices_that_wait_for_one_thread(tmp_path):
    costs = []
    for device_count in (100, 400):
        text, events = many_devices(device_count)
        path = tmp_path / f"{device_count}.json"
        path.write_text(text)
        costs.append(count_instructions(["summary", path, "--no-cache", "--threads", "1"], tmp_path) / events)
    assert costs[1] <= WORST * costs[0], costs


def kernels_each_on_a_device_of_its_own(count):
    """So many kernels, each with a name and a device that no other one has."""
    events = [{"ph": "X", "cat": "kernel", "name": f"k{number}x", "pid": number, "tid": 7, "ts": 1000 + 20 * number, "dur": 5,
               "args": {"device": number, "stream": 7, "correlation": number + 1}} for number in range(count)]
    return json.dumps({"traceEvents": events}), len(events)


def test_cost_does_not_grow_with_devices_that_have_names_of_their_own(tmp_path):
    costs = []
    for count in (2000, 8000):
        text, events = kernels_each_on_a_device_of_its_own(count)
        path = tmp_path / f"{count}.json"
        path.write_text(text)
        costs.append(count_instructions(["findings", path, "--no-cache", "--threads", "1"], tmp_path) / events)
    assert costs[1] <= WORST * costs[0], costs


def waits_of_a_stream_that_another_thread_feeds(count):
    """So many waits of a stream, then a graph of as many nodes on another one."""
    events = []

    def add(category, name, tid, start, length, correlation, **args):
        events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": length,
                       "args": args | {"correlation": correlation}})

    add("cuda_runtime", "cudaLaunchKernel", 2, 0, 1, 1)
    add("kernel", "k", 9, 2, 1, 1, device=0, stream=9)
    for wait in range(count):
        add("cuda_runtime", "cudaStreamWaitEvent", 1, 5 + 2 * wait, 1, 10 + wait)
        add("cuda_sync", "Stream Wait Event", 9, 5 + 2 * wait, 0, 10 + wait, device=0, stream=9)
    add("cuda_runtime", "cudaGraphLaunch", 1, 10 + 2 * count, 5, 2)
    for node in range(count):
        add("kernel", "k", 7, 20 + 2 * count + 2 * node, 1, 2, device=0, stream=7)
    return json.dumps({"traceEvents": events}), len(events)


def test_cost_does_not_grow_with_waits_for_nothing(tmp_path):
    costs = []
    for count in (2000, 8000):
        text, events = waits_of_a_stream_that_another_thread_feeds(count)
        path = tmp_path / f"{count}.json"
        path.write_text(text)
        costs.append(count_instructions(["path", path, "--no-cache", "--threads", "1"], tmp_path) / events)
    assert costs[1] <= WORST * costs[0], costs
