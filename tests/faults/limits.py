"""Little memory: a limit of the address space at many sizes, from the least that starts the program to what a run needs; and a
limit of a control group, beyond which the system kills."""

import contextlib
import os
import pathlib
import resource
import signal
import subprocess
import threading

from faulted import Broken, check, check_files

PAGE = 4096
MOST = 4 << 30
NOT_STARTED = b"error while loading shared libraries"


def limit_to(size):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


def smallest(low, high, works):
    """The smallest size, of whole pages, that works."""
    while high - low > 16 * PAGE:
        middle = (low + high) // 2 // PAGE * PAGE
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def least_to_start(machine):
    command = [str(machine.binary), "help"]
    return smallest(PAGE, MOST, lambda size: subprocess.run(
        command, preexec_fn=limit_to(size), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0)


def run_limited(machine, case, size, **more):
    return machine.run(case, preexec_fn=limit_to(size), LD_PRELOAD="", **more)


def least_to_finish(machine, case, usual, start):
    def is_usual(size):
        outcome = run_limited(machine, case, size)
        return outcome["status"] == 0 and outcome["printed"] == usual["printed"] and outcome["files"] == usual["files"]
    return smallest(start, MOST, is_usual)


def sizes_of(low, high, count):
    return [(low + (high - low) * i // (count - 1)) // PAGE * PAGE for i in range(count)]


def judge(case, usual, outcome):
    if outcome["status"] == 127 and NOT_STARTED in outcome["said"]:
        return "not started"
    return check(case, usual, outcome)


def torture_limits(machine, case, usual, start, count):
    """[(size, outcome)], of so many sizes."""
    high = least_to_finish(machine, case, usual, start) + (1 << 20)
    found = []
    for size in sizes_of(start, high, count):
        outcome = run_limited(machine, case, size)
        try:
            found.append((size, judge(case, usual, outcome)))
        except (Broken, ValueError, KeyError) as broken:
            raise Broken(f"{case.name} in {size} bytes: {broken}; said {outcome['said'][-800:]!r}") from None
    return found


# ---- control groups ----


def memory_group():
    """A folder of the memory controller and the name of its limit; None: there is none to write to."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers.split(",") == ["memory"]:
            return pathlib.Path(f"/sys/fs/cgroup/memory{path}"), "memory.limit_in_bytes"
        if controllers == "" and "memory" in read_words(f"/sys/fs/cgroup{path}/cgroup.subtree_control"):
            return pathlib.Path(f"/sys/fs/cgroup{path}"), "memory.max"
    return None


def read_words(path):
    try:
        return pathlib.Path(path).read_text().split()
    except OSError:
        return []


@contextlib.contextmanager
def group_of(size):
    """A function that puts the calling process into a new group with that limit; None where that is not allowed."""
    found = memory_group()
    group = found and found[0] / f"gputime-faults-{os.getpid()}-{threading.get_native_id()}"
    try:
        if group:
            group.mkdir()
            (group / found[1]).write_text(str(size))
    except OSError:
        group = group.rmdir() if group.is_dir() else None
    try:
        yield (lambda: (group / "cgroup.procs").write_text(str(os.getpid()))) if group else None
    finally:
        if group:
            group.rmdir()


def torture_groups(machine, case, usual, sizes):
    """[(size, outcome)]; None: there are no control groups here. A run that is killed can say nothing, but its files are whole."""
    found = []
    for size in sizes:
        with group_of(size) as enter:
            if not enter:
                return None
            outcome = machine.run(case, preexec_fn=enter, LD_PRELOAD="")
        try:
            if outcome["status"] != -signal.SIGKILL:
                found.append((size, judge(case, usual, outcome)))
                continue
            outcome["files"] = {name: content for name, content in outcome["files"].items() if not pathlib.Path(name).name.startswith(".")}
            check_files(case, usual, outcome | {"left": []})
            found.append((size, "killed"))
        except Broken as broken:
            raise Broken(f"{case.name} in a group of {size} bytes: {broken}; said {outcome['said'][-800:]!r}") from None
    return found
