"""Jobs that bench/jobs simulates: makes them and reads their traces and their truth, naively and without its code."""

import gzip
import json
import subprocess
from collections import defaultdict

from conftest import find_binary

CLOCK_BASE_NS = 3901628417000000
OPERATIONS = {"allreduce": "all_reduce", "_allgather_base": "all_gather", "_reduce_scatter_base": "reduce_scatter",
              "all_to_allv": "all_to_all", "broadcast": "broadcast", "send": "send_recv", "recv": "send_recv"}


def generator():
    binary = find_binary("GPUTIME_JOBGEN", "build/jobgen")
    assert binary.exists(), f"{binary} is missing: run make {binary} first"
    return binary


def make_job(folder, *options):
    """The job's folder, with a trace for each rank and truth.json."""
    subprocess.run([generator(), *map(str, options), folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def traces_of(folder):
    return sorted(folder.glob("rank*.json*"))


def rows(truth, table):
    return [dict(zip(truth[table + "_columns"], row)) for row in truth[table + "_rows"]]


def exact(digits):
    """Times, which have three decimals, as ns: a double would lose the last of them."""
    return int(digits.replace(".", "")) if digits[-4:-3] == "." else float(digits)


class Rank:
    """One rank's trace. Times are on its own clock, less the base of all clocks."""

    def __init__(self, path):
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        trace = json.loads(text, parse_float=exact)
        self.info = trace["distributedInfo"]
        self.number = self.info["rank"]
        self.host = trace["host_name"]
        self.events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        for event in self.events:
            event["start"] = event["ts"] - CLOCK_BASE_NS
            event["end"] = event["start"] + event["dur"]
        self.kernels = sorted((event for event in self.events if event["cat"] == "kernel"), key=lambda event: event["start"])
        self.collectives = [event for event in self.kernels if "Collective name" in event["args"]]
        self.steps = {int(event["name"].partition("#")[2]): event for event in self.events
                      if event["name"].startswith("ProfilerStep#")}
        self.calls = {event["args"]["correlation"]: event for event in self.events
                      if event["cat"] in ("cuda_runtime", "cuda_driver")}
        self.operators = {event["args"]["External id"]: event for event in self.events
                          if event["name"] == "record_param_comms"}

    def step_of(self, kernel):
        launch = self.calls[kernel["args"]["correlation"]]
        return next((number for number, step in self.steps.items()
                     if step["start"] <= launch["start"] < step["end"]), None)


class Job:
    def __init__(self, folder):
        self.truth = json.loads((folder / "truth.json").read_text())
        self.ranks = [Rank(path) for path in traces_of(folder)]
        self.groups = {row["name"]: row for row in rows(self.truth, "group")}
        self.clocks = rows(self.truth, "rank")

    def members(self, name):
        group = self.groups[name]
        return [group["start"] + i * group["stride"] for i in range(group["size"])]

    def met(self):
        """Each collective of the truth with metadata and the kernels of its members: (row, {rank: kernel}). The n-th
        kernel of a rank in a group or channel is the n-th one of the truth that the rank recorded."""
        waiting = defaultdict(list)
        for rank in self.ranks:
            for kernel in rank.collectives:
                waiting[rank.number, self.channel(rank.number, kernel)].append(kernel)
        for lane in waiting.values():
            lane.reverse()
        for row in sorted(rows(self.truth, "collective"), key=self.place):
            is_message = row["op"] == "send_recv"
            key = (row["group"], *row["ranks"]) if is_message else row["group"]
            present = [rank for rank in row["ranks"] if rank not in row["not_recorded"]]
            if row["has_metadata"]:
                yield row, {rank: waiting[rank, key].pop() for rank in present}
        assert not any(waiting.values()), "kernels that the truth does not have"

    def place(self, row):
        """The collective that one rank added follows the one it repeats."""
        return self.truth["desync"]["index"] + 0.5 if len(row["ranks"]) == 1 else row["index"]

    def channel(self, rank, kernel):
        args = kernel["args"]
        name = args["Process Group Name"]
        if args["Collective name"] not in ("send", "recv"):
            return name
        peer = args.get("Dst Rank", args.get("Src Rank"))
        if self.truth["local_peers"]:
            peer = self.members(name)[peer]
        return (name, rank, peer) if args["Collective name"] == "send" else (name, peer, rank)


def union(intervals):
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        elif start < end:
            merged.append([start, end])
    return merged


def length_without(waits, busy):
    """The length of what is in the one and not in the other."""
    both = union([*waits, *busy])
    return sum(end - start for start, end in both) - sum(end - start for start, end in union(busy))
