"""Random traces through the laws; prints how many each law saw, and every seed that breaks one.

python3 run.py [--first SEED] [--jobs N] [--seconds S] TRACES [LAW...]     the laws: all of them, one trace after the other
"""

import argparse
import collections
import multiprocessing
import pathlib
import random
import signal
import sys
import tempfile
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from laws import rules, traces  # noqa: E402


def folder():
    shared = pathlib.Path("/dev/shm")
    return tempfile.TemporaryDirectory(prefix="laws-", dir=shared if shared.is_dir() else None)


def clear(place):
    for path in place.iterdir():
        path.unlink()


def obey(name, seed, place):
    """Whether the law holds for the trace of that seed. The files of one that breaks it stay."""
    clear(place)
    rules.LAWS[name](traces.make(seed), random.Random(f"{name} {seed}"), place)


def is_broken(name, seed, place):
    try:
        obey(name, seed, place)
    except Exception as error:  # what breaks a law is told with its seed; the others go on
        print(f"{name} {seed}: {type(error).__name__}: {str(error)[:600]}", flush=True)
        if not isinstance(error, AssertionError):
            traceback.print_exc(limit=-3)
        return True
    return False


def stop(*_):
    raise KeyboardInterrupt


def take(names, seeds, end):
    """(traces seen, traces that broke it) of each law. A signal or the end of the time stops it early."""
    seen, broken = collections.Counter(), collections.Counter()
    before = signal.signal(signal.SIGTERM, stop)
    try:
        with folder() as place:
            for name, seed in ((name, seed) for seed in seeds for name in names):
                if end and time.monotonic() > end:
                    break
                broken[name] += is_broken(name, seed, pathlib.Path(place))
                seen[name] += 1
    except KeyboardInterrupt:
        pass
    signal.signal(signal.SIGTERM, before)
    return seen, broken


def share(arguments):
    names, first, count, step, end = arguments
    return take(names, range(first, count, step), end)


def main(count, first=0, names=(), jobs=1, seconds=0):
    names = names or list(rules.LAWS)
    end = time.monotonic() + seconds if seconds else 0
    shares = [(names, first + job, first + count, jobs, end) for job in range(jobs)]
    if jobs == 1:
        results = [share(shares[0])]
    else:
        with multiprocessing.Pool(jobs) as pool:
            results = pool.map(share, shares, chunksize=1)
    seen, broken = (sum(counts, collections.Counter()) for counts in zip(*results))
    for name in names:
        print(f"{name}: {seen[name]} traces, {broken[name]} broken")
    return 1 if broken.total() else 0


def options(words):
    parser = argparse.ArgumentParser(description="Random traces through the laws.")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seconds", type=float, default=0, help="the longest time (default: no limit)")
    parser.add_argument("traces", type=int)
    parser.add_argument("laws", nargs="*", help="some of " + ", ".join(rules.LAWS))
    given = parser.parse_args(words)
    if unknown := set(given.laws) - rules.LAWS.keys():
        parser.error(f"no law {', '.join(unknown)}")
    return given


if __name__ == "__main__":
    given = options(sys.argv[1:])
    sys.exit(main(given.traces, given.first, given.laws, given.jobs, given.seconds))
