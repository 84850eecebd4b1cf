"""Several processes: the same bytes as one, and an end in bounded time whatever happens to one of them."""

import json
import os
import re
import shutil
import signal
import time

import pytest

from mpi_programs import MPIS, are_gone, processes_of, run, start
from rank_traces import two_by_two
from simulated_jobs import make_job, traces_of

pytestmark = [pytest.mark.parametrize("mpi", MPIS), pytest.mark.xdist_group("mpi")]


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """Traces of unequal sizes, with pipelines, all_to_alls and groups of several kinds."""
    folder = make_job(tmp_path_factory.mktemp("job") / "traces", "--ranks", 8, "--tp", 2, "--pp", 2, "--steps", 6,
                      "--layers", 8, "--straggler", "3:more:1.5", "--noise", "0.02", "--skew", "--windows-apart")
    (folder / "truth.json").unlink()
    return folder


@pytest.fixture(scope="module")
def alone(gputime, job):
    """What one process writes, by format."""
    return {form: gputime("ranks", job, "--format", form, "--no-cache").stdout
            for form in ("json", "text", "csv")}


def clean(text):
    """Standard error without what launchers say themselves."""
    return [line for line in text.decode().splitlines() if line.startswith("gputime:")]


@pytest.mark.parametrize("processes", [1, 2, 3, 8, 11])
def test_same_bytes(mpi, processes, job, alone):
    result = run(mpi, processes, "ranks", job, "--json", "--no-cache")
    assert (result.returncode, clean(result.stderr)) == (0, [])
    assert result.stdout == alone["json"]


def test_lists_are_joined_in_all(job, alone, mpi):
    """The job is large enough for that: see gt_job_join_is_worth."""
    del mpi
    report = json.loads(alone["json"])
    lists = {row["id"] for row in report["tables"]["job_collectives"]["rows"] if row["rung"] == "order"}
    joined = sum(row["id"] in lists for row in report["tables"]["collective_ranks"]["rows"])
    assert joined > 4000


@pytest.mark.parametrize("form", ["text", "csv"])
def test_formats(mpi, form, job, alone):
    assert run(mpi, 3, "ranks", job, "--format", form, "--no-cache").stdout == alone[form]


def test_nsys_and_names(mpi, gputime, tmp_path):
    """Options of the command reach all processes."""
    paths = two_by_two().write(tmp_path)
    words = ("ranks", *paths, "--json", "--no-cache", "--step-tag", "Profiler", "--match", "names")
    assert run(mpi, 2, *words).stdout == gputime(*words).stdout


def test_other_commands(mpi, gputime, job):
    trace = traces_of(job)[0]
    assert run(mpi, 2, "summary", trace, "--no-cache").stdout == gputime("summary", trace, "--no-cache").stdout


def test_usage(mpi, job):
    result = run(mpi, 3, "ranks", job, "--no-such-option")
    assert result.returncode == 2 and len(clean(result.stderr)) == 1


def test_nothing_to_read(mpi, tmp_path):
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "b.json").write_text("{}")
    result = run(mpi, 3, "ranks", tmp_path)
    assert result.returncode == 1 and result.stdout == b"" and clean(result.stderr)


def test_damaged_among_ranks(mpi, gputime, job, tmp_path):
    """Cut, foreign, empty, not readable: the report of the others, and each is named."""
    for path in traces_of(job):
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "rank0002.json").unlink()
    whole = traces_of(job)[2].read_bytes()
    (tmp_path / "rank0002.json").write_bytes(whole[:len(whole) // 2])
    (tmp_path / "rank0100.json").write_text('{"some": "other file"}')
    (tmp_path / "rank0101.json").write_text("")
    (tmp_path / "rank0102.json").symlink_to(tmp_path / "absent.json")
    one = gputime("ranks", tmp_path, "--json", "--no-cache")
    result = run(mpi, 4, "ranks", tmp_path, "--json", "--no-cache")
    assert result.returncode == 1
    assert result.stdout == one.stdout
    assert clean(result.stderr) == [line for line in one.stderr.decode().splitlines() if line.startswith("gputime:")]
    assert {name for name in ("rank0100", "rank0101", "rank0102")
            if any(name in line for line in clean(result.stderr))} == {"rank0100", "rank0101", "rank0102"}


def test_full_disk(mpi, job):
    result = run(mpi, 3, "ranks", job, "--json", "--output", "/dev/full")
    assert result.returncode == 1
    assert any("/dev/full" in line for line in clean(result.stderr))


# ---- what happens to processes ----


@pytest.fixture
def stuck(job, tmp_path):
    """A job that process 0 cannot finish: one of its traces is a pipe that nobody writes to."""
    for path in traces_of(job)[:4]:
        (tmp_path / path.name).symlink_to(path)
    os.mkfifo(tmp_path / "rank0009.json")
    return tmp_path


def outcome_of(launcher, began):
    try:
        out, errors = launcher.communicate(timeout=40)
    finally:
        launcher.kill()
    return launcher.returncode, out, errors, time.monotonic() - began


@pytest.mark.parametrize("number", [0, 2])
def test_killed(mpi, number, stuck):
    """The launcher ends all of them."""
    launcher = start(mpi, 3, "ranks", stuck, "--json")
    pids = processes_of(launcher, mpi, 3)
    os.kill(pids[number], signal.SIGKILL)
    status, out, errors, seconds = outcome_of(launcher, time.monotonic())
    assert status != 0 and seconds < 20
    assert b"tables" not in out
    assert are_gone(pids.values())
    assert b"signal 9" in errors or b"KILLED BY SIGNAL: 9" in out + errors or b"EXIT CODE: 9" in out + errors


@pytest.mark.parametrize("number", [0, 2])
def test_stopped(mpi, number, stuck):
    """No launcher notices that, the other processes do."""
    launcher = start(mpi, 3, "ranks", stuck, "--json", GPUTIME_MPI_TIMEOUT="3")
    pids = processes_of(launcher, mpi, 3)
    try:
        os.kill(pids[number], signal.SIGSTOP)
        status, _, errors, seconds = outcome_of(launcher, time.monotonic())
        assert status != 0 and 2 < seconds < 20
        assert any(f"process {number} of 3" in line and "has not answered for 3 s" in line for line in clean(errors))
    finally:
        for pid in pids.values():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def test_read_hangs(mpi, stuck):
    launcher = start(mpi, 2, "ranks", stuck, "--json", GPUTIME_MPI_TIMEOUT="1")
    processes_of(launcher, mpi, 2)
    status, _, errors, seconds = outcome_of(launcher, time.monotonic())
    assert status != 0 and seconds < 30
    assert [line for line in clean(errors) if "has read nothing for 10 s" in line and "process 0 of 2" in line]


def test_progress(mpi, gputime, job, tmp_path):
    """Lines of process 0 alone: a trace arrives slowly."""
    folder = tmp_path / job.name  # which the job is named after
    folder.mkdir()
    slow = folder / "rank0000.json"
    text = traces_of(job)[0].read_bytes()
    os.mkfifo(slow)
    others = [shutil.copy(trace, folder) for trace in traces_of(job)[1:]]
    launcher = start(mpi, 2, "ranks", slow, *others, "--json", GPUTIME_MPI_PROGRESS="0.5")
    with open(slow, "wb", buffering=0) as pipe:
        for part in range(10):
            pipe.write(text[len(text) * part // 10:len(text) * (part + 1) // 10])
            time.sleep(0.3)
    status, out, errors, _ = outcome_of(launcher, time.monotonic())
    lines = clean(errors)
    reports = [json.loads(text) for text in (out, gputime("ranks", *traces_of(job), "--json").stdout)]
    for report in reports:
        del report["inputs"][0]["path"]  # of that folder
    assert status == 0 and reports[0] == reports[1]
    assert 2 <= len(lines) <= 20 and all(re.fullmatch(r"gputime: reading 8 traces, \d+ of \d+ MB after \d+ s", line)
                                        for line in lines)
