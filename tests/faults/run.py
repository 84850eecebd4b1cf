"""make faults N=: so many points of each kind of fault for each case, then little memory and loss of power. Prints tables and every
outcome that must not be."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import sys
import tempfile

import cases
import limits
import losing
from faulted import Broken, FAULTS, Machine, ROOT, points_of, torture

GROUP_SIZES = [megabytes << 20 for megabytes in (1, 2, 3, 4, 5, 6, 8, 12, 16, 32)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("points", type=int, nargs="?", default=50)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/gputime")
    parser.add_argument("--library", type=pathlib.Path, default=ROOT / "build/faulty.so")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--kinds", default=",".join(FAULTS))
    parser.add_argument("--parts", default="calls,memory,power")
    parser.add_argument("--sizes", type=int, default=100, help="limits of memory for each case")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def machine_for(case, options, world, folder):
    return Machine(options.binary, world, folder / case.name.replace(" ", "_").replace("/", "_"), options.library)


def torture_calls(case, options, world, folder):
    """Counts of outcomes by kind of fault, and what is broken."""
    machine = machine_for(case, options, world, folder)
    counts, broken = collections.Counter(), []
    try:
        usual = machine.usual(case)
    except Broken as reason:
        return counts, [str(reason)]
    for point in points_of(case, usual, options.points, random.Random(f"{options.seed} {case.name}")):
        if point[0] not in options.kinds.split(","):
            continue
        try:
            counts[point[0], torture(machine, case, usual, point)] += 1
        except Broken as reason:
            counts[point[0], "broken"] += 1
            broken.append(str(reason))
    return counts, broken


def torture_memory(case, options, world, folder):
    machine = machine_for(case, options, world, folder)
    counts = collections.Counter()
    try:
        usual = machine.usual(case)
        found = limits.torture_limits(machine, case, usual, limits.least_to_start(machine), options.sizes)
        counts.update(("address space", outcome) for _, outcome in found)
        found = limits.torture_groups(machine, case, usual, GROUP_SIZES)
        counts.update(("control group", outcome) for _, outcome in found or [])
        if found is None:
            counts["control group", "skipped: no memory controller to write to"] += 1
    except Broken as reason:
        return counts, [str(reason)]
    return counts, []


def torture_power(case, options, world, folder):
    machine = machine_for(case, options, world, folder)
    counts = collections.Counter()
    try:
        states = losing.lose_power(machine, case)
    except (Broken, AssertionError) as reason:
        return counts, [str(reason)]
    counts.update({(name, "whole"): count for name, count in states.items()})
    return counts, []


PARTS = {"calls": torture_calls, "memory": torture_memory, "power": torture_power}


def print_table(counts):
    outcomes = sorted({outcome for _, outcome in counts} | {"broken"})
    print("| what fails | points | " + " | ".join(outcomes) + " |")
    print("|---|---" + "|---" * len(outcomes) + "|")
    for kind in sorted({kind for kind, _ in counts}) + ["all"]:
        row = [sum(n for (k, o), n in counts.items() if o == outcome and kind in (k, "all")) for outcome in outcomes]
        print(f"| {kind} | {sum(row):,} | " + " | ".join(f"{n:,}" for n in row) + " |")


def torture_part(part, options, world, folder):
    """Whether all of it went well."""
    total, failed = collections.Counter(), False
    chosen = [case for case in cases.CASES if options.only in case.name]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = {pool.submit(PARTS[part], case, options, world, folder): case for case in chosen}
        for done in concurrent.futures.as_completed(work):
            counts, broken = done.result()
            total += counts
            failed |= bool(broken)
            print(f"{part}, {work[done].name}: {sum(counts.values())} points, {len(broken)} broken", flush=True)
            for reason in broken[:20]:
                print("  " + reason, flush=True)
    print_table(total)
    return not failed


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        world = cases.make_world(pathlib.Path(folder) / "world")
        return not all([torture_part(part, options, world, pathlib.Path(folder)) for part in options.parts.split(",")])


if __name__ == "__main__":
    sys.exit(main())
