"""Runs gputime-mpi under the launchers of both MPIs, and knows its processes."""

import os
import pathlib
import shutil
import subprocess
import time

import pytest

from samples import ROOT

MPIS = ("openmpi", "mpich")
RANK_VARIABLES = (b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK=")
LIMIT_S = 60


def program_of(mpi):
    """The program, built where its MPI is installed; a test is skipped where it is not."""
    if not shutil.which(f"mpirun.{mpi}") or not shutil.which(f"mpicc.{mpi}"):
        pytest.skip(f"{mpi} is not installed")
    folder = pathlib.Path(os.environ.get("GPUTIME_MPI", ROOT / "build" / "mpi"))
    program = folder / mpi / "gputime-mpi"
    assert program.exists(), f"{program} is missing: run make mpi-both first"
    return program


def launch(mpi, processes):
    """The words before the program. More processes than cores are fine."""
    words = ["mpirun." + mpi]
    if mpi == "openmpi":
        words += ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
    return words + ["-n", str(processes)]


def environment(**more):
    own = {key: value for key, value in os.environ.items() if not key.startswith("GPUTIME_")}
    return {**own, "GPUTIME_CACHE": "off", "GPUTIME_MPI_TIMEOUT": "20", **more}


def run(mpi, processes, *words, **settings):
    return subprocess.run([*launch(mpi, processes), program_of(mpi), *map(str, words)], capture_output=True,
                          timeout=LIMIT_S, env=environment(**settings), check=False)


def start(mpi, processes, *words, **settings):
    return subprocess.Popen([*launch(mpi, processes), program_of(mpi), *map(str, words)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=environment(**settings))


def children_of(pid):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found += [int(path.parent.name), *children_of(int(path.parent.name))]
    return found


def number_of(pid, program):
    """The number of a process of the program; None: it is another program."""
    try:
        if os.readlink(f"/proc/{pid}/exe") != str(program.resolve()):
            return None
        variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((int(text.partition(b"=")[2]) for text in variables if text.startswith(RANK_VARIABLES)), None)


def processes_of(launcher, mpi, count):
    """By number, once all of them work: process 0 has started the thread that does."""
    program, until = program_of(mpi), time.monotonic() + 30
    while time.monotonic() < until and launcher.poll() is None:
        found = {number_of(pid, program): pid for pid in children_of(launcher.pid)}
        found.pop(None, None)
        if len(found) == count and all(has_worker(pid) for pid in found.values()):
            return found
        time.sleep(0.05)
    raise AssertionError("the processes did not start")


def has_worker(pid):
    """Whether MPI has started and the thread that does the work is there."""
    try:
        return any((task / "comm").read_text().startswith("gputime-work")
                   for task in pathlib.Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return False


def are_gone(pids):
    """Within a few seconds. What nobody has waited for yet is gone as well."""
    until = time.monotonic() + 10
    while any(state_of(pid) not in (None, "Z") for pid in pids) and time.monotonic() < until:
        time.sleep(0.05)
    return all(state_of(pid) in (None, "Z") for pid in pids)


def state_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return None
