"""gputime-mpi under a real srun, on several nodes of one machine: the same bytes as one process, and what is said when a
process or a node is gone. make test-slurm sets it up; it needs root."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from cluster import Cluster, missing

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "cli"))

from mpi_programs import are_gone, number_of, program_of  # noqa: E402
from simulated_jobs import make_job, traces_of  # noqa: E402

NODES = 3
# How srun starts each: Open MPI of Debian speaks PMIx, whose servers of several nodes on one machine disagree.
WAYS = {"mpich": ("--mpi=pmi2", f"-N{NODES}", "--overcommit"), "openmpi": ("--mpi=pmix", "-N1", "--overcommit")}
SETTINGS = {"GPUTIME_CACHE": "off", "GPUTIME_MPI_TIMEOUT": "5"}


@pytest.fixture(scope="module")
def cluster():
    assert os.geteuid() == 0, "slurmd needs root"
    assert not missing(), f"not installed: {missing()}"
    with Cluster(NODES) as it:
        yield it


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    folder = make_job(tmp_path_factory.mktemp("slurm") / "traces", "--ranks", 8, "--tp", 2, "--pp", 2, "--steps", 4,
                      "--straggler", "5:slower:1.4")
    (folder / "truth.json").unlink()
    return folder


@pytest.fixture(scope="module")
def alone(job):
    done = subprocess.run([ROOT / "build" / "gputime", "ranks", job, "--json", "--no-cache"], capture_output=True,
                          check=True)
    return done.stdout


def errors_of(result):
    return [line for line in result.stderr.decode().splitlines() if line.startswith("gputime:")]


@pytest.mark.parametrize("mpi", WAYS)
@pytest.mark.parametrize("processes", [3, 7])
def test_same_bytes(cluster, job, alone, mpi, processes):
    result = cluster.run(*WAYS[mpi], f"-n{processes}", program_of(mpi), "ranks", job, "--json", **SETTINGS)
    assert result.returncode == 0, result.stderr.decode() + cluster.logs()
    assert result.stdout == alone and errors_of(result) == []


def test_unreadable_node(cluster, job, tmp_path):
    """A node that does not see the files: the others' ranks are reported, and its name is said."""
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\n"
                      "if [ $SLURMD_NODENAME = n1 ]; then exec unshare -m sh -c "
                      f"'mount -t tmpfs none {job} && exec \"$@\"' sh \"$@\"; fi\nexec \"$@\"\n")
    script.chmod(0o755)
    result = cluster.run(*WAYS["mpich"], f"-n{NODES}", script, program_of("mpich"), "ranks", job, "--json", **SETTINGS)
    lines = errors_of(result)
    assert result.returncode == 1, result.stderr.decode()
    assert len(lines) in (2, 3) and all("(on n1)" in line and "no such file" in line for line in lines), lines
    assert b'"tables"' in result.stdout


def stuck_job(job, folder):
    """Process 0 waits for a pipe."""
    for path in traces_of(job):
        (folder / path.name).symlink_to(path)
    os.mkfifo(folder / "rank0009.json")
    return folder


def processes_of(mpi, count):
    """Those of tasks of srun are not its children: slurmstepd has started them."""
    program, until = program_of(mpi), time.monotonic() + 30
    while time.monotonic() < until:
        found = {number_of(int(path.name), program): int(path.name)
                 for path in pathlib.Path("/proc").iterdir() if path.name.isdigit()}
        found.pop(None, None)
        if len(found) == count:
            time.sleep(1)
            return found
        time.sleep(0.1)
    raise AssertionError("the processes did not start")


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("number", [0, 2])
def test_gone(cluster, job, tmp_path, number, signal_number):
    """srun goes on when a task is killed, unless -K is given: the processes notice it themselves."""
    launcher = cluster.popen(*WAYS["mpich"], f"-n{NODES}", program_of("mpich"), "ranks", stuck_job(job, tmp_path),
                             **SETTINGS)
    pids = processes_of("mpich", NODES)
    began = time.monotonic()
    try:
        os.kill(pids[number], signal_number)
        _, errors = launcher.communicate(timeout=60)
        text = errors.decode()
        assert launcher.returncode != 0 and time.monotonic() - began < 45
        said = f"process {number} of {NODES} (on n{number}) has not answered for 5 s"
        assert said in text or f"task {number}: Killed" in text, text
    finally:
        launcher.kill()
        for pid in pids.values():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    assert are_gone(pids.values())
