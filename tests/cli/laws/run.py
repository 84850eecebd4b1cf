"""python3 run.py N [FIRST]: N random traces from seed FIRST on through every law; prints what each saw."""

import collections
import contextlib
import pathlib
import random
import signal
import sys
import tempfile
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


def stop(*_):
    raise KeyboardInterrupt


def main(count, first=0, names=None):
    """A signal ends it early: what was seen until then is printed all the same."""
    signal.signal(signal.SIGTERM, stop)
    seen, broken = collections.Counter(), []
    with contextlib.suppress(KeyboardInterrupt), folder() as place:
        for seed in range(first, first + count):
            for name in names or rules.LAWS:
                try:
                    obey(name, seed, pathlib.Path(place))
                except Exception as error:  # what breaks a law is told with its seed; the others go on
                    broken.append((name, seed))
                    print(f"{name} {seed}: {type(error).__name__}: {str(error)[:600]}", flush=True)
                    if not isinstance(error, AssertionError):
                        traceback.print_exc(limit=-3)
                seen[name] += 1
    for name in seen:
        print(f"{name}: {seen[name]} traces, {sum(law == name for law, _ in broken)} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, sys.argv[3:]))
