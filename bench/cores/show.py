#!/usr/bin/env python3
"""What ran while on how many threads: a timeline of what `make cores` wrote, and what ran while few threads did.

    CORES_OUT=out GPUTIME_THREADS=16 build/cores/gputime summary --no-cache TRACE > /dev/null
    bench/cores/show.py out [--threads 16] [--bins 40] [--names 3]

Each line: milliseconds, threads that ran on average, functions with their callers and shares of the samples.
"""

import argparse
import bisect
import collections
import subprocess

# What deals work, and what simulates: under and over everything.
FRAMES_OF_ALL = {
    "advance", "cores_turn", "deal", "deal_in_new_team", "deal_in_team", "do_alone", "do_next", "do_slice", "do_together", "find_next",
    "give_turn", "gt_threads_deal", "gt_threads_gate_enter", "gt_threads_parts", "gt_threads_rows", "gt_threads_run",
    "gt_threads_together", "help_until_open", "let_go", "main", "place_of", "run_thread", "start_clock", "stop_clock", "take_lock",
    "take_part", "wait_at", "wait_for_turn", "wake", "wake_some", "cpu_now_ns", "libc.so.6", "?"}


class Run:
    def __init__(self, path):
        self.maps, self.stretches, self.samples = [], [], []
        for line in open(path, encoding="utf-8"):
            kind, *words = line.split()
            if kind == "M":
                begin, end = (int(word, 16) for word in words[0].split("-"))
                self.maps.append((begin, end, int(words[2], 16), words[5] if len(words) > 5 else ""))
            elif kind == "S":
                self.stretches.append(tuple(int(word) for word in words))
            else:
                self.samples.append((int(words[1]), [int(word, 16) for word in words[2:]]))
        self.end = max(end for thread, _, end in self.stretches if thread == 0)
        self.names = self.find_names()

    def find_names(self):
        """By address; of libraries, the library."""
        by_file, names = collections.defaultdict(list), {}
        for address in {address for _, addresses in self.samples for address in addresses}:
            for begin, end, offset, path in self.maps:
                if begin <= address < end:
                    names[address] = path.rsplit("/", 1)[-1]
                    by_file[path].append((address, address - begin + offset))
        for path, places in by_file.items():
            if path.endswith("/gputime"):
                asked = "\n".join(hex(place) for _, place in places)
                told = subprocess.run(["addr2line", "-f", "-e", path], input=asked, capture_output=True, text=True, check=True)
                for (address, _), name in zip(places, told.stdout.splitlines()[::2]):
                    names[address] = name
        return names

    def functions(self, addresses, count):
        named = [self.names.get(address, "?") for address in addresses]
        return " < ".join([name for name in named if name not in FRAMES_OF_ALL][:count])

    def by_count(self):
        """Times at which the number of threads that run changes, and that number from there on."""
        changes = sorted([(begin, 1) for _, begin, _ in self.stretches] + [(end, -1) for _, _, end in self.stretches])
        times, counts, count = [], [], 0
        for time, change in changes:
            count += change
            if times and times[-1] == time:
                counts[-1] = count
            else:
                times.append(time)
                counts.append(count)
        return times, counts


def print_timeline(run, bins, names):
    width = run.end / bins
    busy, seen = [0.0] * bins, [collections.Counter() for _ in range(bins)]
    for _, begin, end in run.stretches:
        for at in range(int(begin / width), min(int(end / width) + 1, bins)):
            busy[at] += max(0, min(end, (at + 1) * width) - max(begin, at * width))
    for time, addresses in run.samples:
        seen[min(int(time / width), bins - 1)][run.functions(addresses, 3)] += 1
    for at in range(bins):
        total = max(1, sum(seen[at].values()))
        print(f"{at * width / 1e6:8.1f} {busy[at] / width:5.1f}  " +
              "; ".join(f"{name} {count * 100 // total}%" for name, count in seen[at].most_common(names)))


def print_lost(run, threads, rows):
    """Samples weigh as many threads as do not run beside them."""
    times, counts = run.by_count()
    lost = collections.Counter()
    for time, addresses in run.samples:
        at = bisect.bisect_right(times, time) - 1
        count = max(1, counts[at]) if at >= 0 else 1
        lost[run.functions(addresses, 4)] += max(0, threads - count) / count
    ends = times[1:] + [run.end]
    lost_ms = sum((end - time) * max(0, threads - count) for time, end, count in zip(times, ends, counts)) / threads / 1e6
    total = sum(lost.values()) or 1
    print(f"{lost_ms:.1f} ms lost, by what ran meanwhile:")
    for name, weight in lost.most_common(rows):
        print(f"{weight / total * lost_ms:8.2f}  {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--bins", type=int, default=40)
    parser.add_argument("--names", type=int, default=3)
    options = parser.parse_args()
    run = Run(options.run)
    work = sum(end - begin for _, begin, end in run.stretches)
    print(f"{run.end / 1e6:.1f} ms, {work / 1e6:.1f} ms of work, {work / run.end:.1f} threads on average")
    print_timeline(run, options.bins, options.names)
    print_lost(run, options.threads, 25)


if __name__ == "__main__":
    main()
