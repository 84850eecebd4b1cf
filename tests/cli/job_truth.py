#!/usr/bin/env python3
"""Scores `gputime ranks` on random simulated jobs (bench/jobs), whose culprits are known:

    python3 tests/cli/job_truth.py [--jobs 1000] [--first SEED] [--floor SHARE] [--verbose]

A culprit counts if it caused at least the floor of all exposed wait: the job runs a second time without it, and the
difference is its share. Then its rank and its reason have to be named in 99 % of the jobs. In jobs without a culprit,
none may be named in more than 1 %. Culprits below the floor, and those whose collectives are in CUDA graphs and have no
metadata, are counted apart. GPUTIME and GPUTIME_JOBGEN name the programs; build/gputime and build/jobgen are used else.
Exits with 1 if a target is missed.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GPUTIME = os.environ.get("GPUTIME", ROOT / "build/gputime")
JOBGEN = os.environ.get("GPUTIME_JOBGEN", ROOT / "build/jobgen")
FLOOR = 0.1
RIGHT_TARGET, NAMED_TARGET = 0.99, 0.01
# A hot expert is late for two reasons. Either is right unless one is so many times the other.
CLEARLY = 4


def reasons_of(fault):
    """The reasons that are right."""
    if fault["kind"] == "hot_expert":
        parts = {"bytes": fault["bytes_ns"], "compute_more": fault["compute_ns"]}
        return {reason for reason, ns in parts.items() if ns * CLEARLY >= max(parts.values())}
    return {fault["reason"], "idle_launch"} if fault["kind"] == "launch" else {fault["reason"]}


class Answer:
    """What the report of `gputime ranks --json` says about the job."""

    def __init__(self, report):
        places = [report.get("facts", {}), *(entry["facts"] for entry in report["inputs"])]
        facts = next(place for place in places if "verdict" in place)
        is_pinned = facts["verdict"] == "pinned"
        self.verdict = facts["verdict"]
        self.rank = facts["verdict_rank"] if is_pinned else None
        self.reason = facts["verdict_reason"] if is_pinned else None
        self.episodes = {(row["step"], row["rank"]): row["reason"]
                         for row in report["tables"].get("episodes", {"rows": []})["rows"]}


def judge(truth, answer, floor):
    """One word for the verdict: how the answer is to the truth."""
    culprit = truth["culprit"]
    if not culprit:
        return "clear" if answer.rank is None else "false alarm"
    if truth["graph"]:
        return "hidden" if answer.rank in (None, culprit["rank"]) else "hidden, another named"
    if culprit["share"] < floor:
        return "below" if answer.rank in (None, culprit["rank"]) else "below, another named"
    if answer.rank is None:
        return "missed"
    if answer.rank != culprit["rank"]:
        return "another named"
    return "right" if answer.reason in reasons_of(culprit) else "wrong reason"


def judge_episodes(truth, answer, floor):
    """How many of the episodes that count were found, and how many were named that are none."""
    true = {(fault["step"], fault["rank"]): fault for fault in truth["faults"] if fault["kind"].startswith("episode")}
    large = {key for key, fault in true.items() if fault["share"] >= floor}
    found = {key for key in large if answer.episodes.get(key, "").startswith(true[key]["reason"])}
    return {"asked": len(large), "found": len(found), "named": len(answer.episodes),
            "made up": len(set(answer.episodes) - set(true))}


def ask(folder):
    traces = sorted(folder.glob("rank*.json*"))
    done = subprocess.run([GPUTIME, "ranks", *traces, "--json", "--no-cache", "--threads", "1"], capture_output=True)
    if done.returncode != 0:
        sys.exit(f"job_truth: gputime ranks failed: {done.stderr.decode(errors='replace').strip()}")
    return Answer(json.loads(done.stdout))


def score(seed, floor, parent):
    folder = parent / str(seed)
    subprocess.run([JOBGEN, "--random", str(seed), "--threads", "1", folder], check=True, stdout=subprocess.DEVNULL)
    try:
        truth, answer = json.loads((folder / "truth.json").read_text()), ask(folder)
    finally:
        shutil.rmtree(folder)
    return seed, truth, answer, judge(truth, answer, floor), judge_episodes(truth, answer, floor)


def describe(seed, truth, answer, word):
    shape = " ".join(f"{key} {truth[key]}" for key in ("ranks", "tp", "pp", "dp", "ep", "steps"))
    flags = [key for key in ("skew", "windows_apart", "overlap", "gpipe", "sharding", "broadcast", "graph", "shared_gpu",
                             "seq", "comms_id") if truth[key]]
    flags += ["desync"] if truth["desync"] else []
    culprit = truth["culprit"]
    true = f"{culprit['rank']} {culprit['kind']} {culprit['factor']:.2f} ({culprit['share']:.2f})" if culprit else "none"
    others = [fault["kind"] for fault in truth["faults"] if fault != culprit]
    return (f"{word}: seed {seed}, {shape}, noise {truth['noise']:.3f}, {', '.join(flags + others)}: true {true}, "
            f"named {answer.rank} {answer.reason} ({answer.verdict})")


def share(part, whole):
    return part / whole if whole else 0


def print_scores(words, kinds, episodes):
    scored = words["right"] + words["wrong reason"] + words["missed"] + words["another named"]
    clear = words["clear"] + words["false alarm"]
    right, named = share(words["right"], scored), share(words["false alarm"], clear)
    print(f"culprit and reason right: {words['right']} of {scored} ({right:.1%}); "
          f"rank right: {words['right'] + words['wrong reason']}, another named: {words['another named']}")
    print(f"named without a culprit: {words['false alarm']} of {clear} ({named:.1%}); below the floor: "
          f"{words['below']}, in graphs: {words['hidden']}, with another named: "
          f"{words['below, another named'] + words['hidden, another named']}")
    for kind in sorted({kind for kind, _ in kinds}):
        print(f"  {kind}: " + ", ".join(f"{word} {count}" for (of, word), count in sorted(kinds.items()) if of == kind))
    print("episodes: " + ", ".join(f"{key} {value}" for key, value in episodes.items()))
    return scored > 0 and clear > 0 and right >= RIGHT_TARGET and named <= NAMED_TARGET


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--floor", type=float, default=FLOOR)
    parser.add_argument("--verbose", action="store_true", help="name every job that is not right")
    options = parser.parse_args()
    words, kinds, episodes = collections.Counter(), collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as parent, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        seeds = range(options.first, options.first + options.jobs)
        for seed, truth, answer, word, found in pool.map(
                lambda seed: score(seed, options.floor, pathlib.Path(parent)), seeds):
            words[word] += 1
            kinds[truth["culprit"]["kind"] if truth["culprit"] else "none", word] += 1
            episodes.update(found)
            if options.verbose and word not in ("right", "clear", "below", "hidden"):
                print(describe(seed, truth, answer, word), flush=True)
    return 0 if print_scores(words, kinds, episodes) else 1


if __name__ == "__main__":
    sys.exit(main())
