"""Faults of several processes: a report is whole or not there, all processes end, and that in bounded time."""

import os
import signal
import stat
import subprocess
import time

import pytest

from mpi_programs import MPIS, are_gone, children_of, environment, launch, number_of, processes_of, program_of, run, start
from simulated_jobs import make_job

pytestmark = [pytest.mark.parametrize("mpi", MPIS), pytest.mark.xdist_group("mpi")]
LIMIT_S = 60  # none of these takes a tenth of it
GRACE_S = 10  # for a launcher whose processes have all ended


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    folder = make_job(tmp_path_factory.mktemp("job") / "traces", "--ranks", 8, "--tp", 2, "--steps", 6, "--size", "2M",
                      "--straggler", "3:more:1.5", "--noise", "0.02", "--skew")
    (folder / "truth.json").unlink()
    return folder


@pytest.fixture(scope="module")
def alone(gputime, job):
    return gputime("ranks", job, "--json", "--no-cache").stdout


def first_of(launcher, mpi, number):
    """The process as soon as it is there, before MPI has started."""
    program, until = program_of(mpi), time.monotonic() + 30
    while time.monotonic() < until and launcher.poll() is None:
        for pid in children_of(launcher.pid):
            if number_of(pid, program) == number:
                return pid
    raise AssertionError("the process did not start")


def of_ours(launcher, mpi):
    """Processes that still run. What has ended has no environment any more."""
    return [pid for pid in children_of(launcher.pid) if number_of(pid, program_of(mpi)) is not None]


def check_whole_or_nothing(launcher, mpi, report, alone):
    """All processes end. Now and then Open MPI's own launcher waits for one that was killed while it started, long after it
    has ended: that is left to Open MPI."""
    began = time.monotonic()
    while launcher.poll() is None and time.monotonic() - began < LIMIT_S:
        if time.monotonic() - began > GRACE_S and not of_ours(launcher, mpi):
            break
        time.sleep(0.1)
    assert launcher.poll() is not None or not of_ours(launcher, mpi)
    launcher.kill()
    out, errors = launcher.communicate()
    assert launcher.returncode != 0 or report.exists(), (out, errors)
    assert not report.exists() or report.read_bytes() == alone  # it may have been written just before
    return launcher.returncode


@pytest.mark.parametrize("number", [0, 1])
def test_killed_at_any_moment(mpi, number, job, alone, tmp_path):
    """Before MPI has started, as soon as all work, and while they read, send and write."""
    statuses = []
    for place, delay_s in enumerate((None, 0, 0.02, 0.05, 0.1)):
        report = tmp_path / str(place) / "report.json"
        report.parent.mkdir()
        launcher = start(mpi, 3, "ranks", job, "--json", "-o", report, GPUTIME_MPI_TIMEOUT="2")
        try:
            pids = processes_of(launcher, mpi, 3) if delay_s is not None else {number: first_of(launcher, mpi, number)}
            time.sleep(delay_s or 0)
            os.kill(pids[number], signal.SIGKILL)
        except (AssertionError, ProcessLookupError):  # all was done before
            assert launcher.wait(LIMIT_S) == 0
            pids = {}
        statuses.append(check_whole_or_nothing(launcher, mpi, report, alone))
        assert are_gone(pids.values())
    assert statuses[0] != 0


def limited(tmp_path, mpi, number, limit, *words, **settings):
    """One of three processes has less of something than it wants."""
    script = tmp_path / "limited.sh"
    script.write_text(f'#!/bin/sh\n[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = {number} ] && ulimit {limit}\nexec "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return subprocess.run([*launch(mpi, 3), script, program_of(mpi), *map(str, words)], capture_output=True, timeout=LIMIT_S,
                          env=environment(GPUTIME_MPI_TIMEOUT="2", **settings), check=False)


@pytest.mark.parametrize("number", [0, 1])
def test_little_memory(mpi, number, job, alone, tmp_path):
    """From too little to start to enough: the whole report, or none and a failure."""
    outcomes = set()
    for place, kilobytes in enumerate((90_000, 130_000, 225_000, 270_000, 4_000_000)):
        report = tmp_path / str(place) / "report.json"
        report.parent.mkdir()
        done = limited(tmp_path, mpi, number, f"-v {kilobytes}", "ranks", job, "--json", "-o", report)
        assert (done.returncode == 0) == report.exists(), (kilobytes, done.stderr)
        assert done.returncode != 0 or report.read_bytes() == alone
        assert not [path for path in report.parent.iterdir() if path != report]
        outcomes.add(done.returncode == 0)
    assert outcomes == {True, False}


def test_full_file_system(mpi, job, tmp_path):
    """The file that was there before stays as it was."""
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a file system")
    try:
        (folder / "report.json").write_text("before")
        done = run(mpi, 3, "ranks", job, "--json", "-o", folder / "report.json")
        assert done.returncode == 1 and b"no space left on device" in done.stderr
        assert (folder / "report.json").read_text() == "before" and len(list(folder.iterdir())) == 1
    finally:
        subprocess.run(["umount", folder], check=True)


def test_several_jobs(mpi, gputime, job, tmp_path):
    """Each is joined by all processes, one after the other."""
    other = make_job(tmp_path / "other", "--ranks", 8, "--tp", 2, "--steps", 6, "--size", "1M", "--seed", 5)
    for place, folder in enumerate((job, other)):
        for path in sorted(folder.glob("rank*.json")):
            (tmp_path / "all").mkdir(exist_ok=True)
            (tmp_path / "all" / f"run{place}-{path.name}").symlink_to(path)
    done = run(mpi, 3, "ranks", tmp_path / "all", "--json", "--no-cache")
    assert done.returncode == 0 and done.stdout == gputime("ranks", tmp_path / "all", "--json", "--no-cache").stdout
    assert done.stdout.count(b'"format": "job"') == 2
