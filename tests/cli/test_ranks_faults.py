"""What may happen to the files of a job: the report names what is missing, and the rest is as if it had never been there."""

import json
import os
import pathlib
import resource
import shutil
import tempfile
import threading
import time

import pytest

from simulated_jobs import make_job, traces_of

OPTIONS = ("--ranks", 4, "--tp", 2, "--steps", 6, "--layers", 1, "--kernels", 3, "--noise", 0.01, "--skew", "--straggler", "2:more:1.4")
LIMIT_S = 60  # none of these takes a hundredth of it


@pytest.fixture
def job(tmp_path):
    folder = make_job(tmp_path / "job", *OPTIONS)
    (folder / "truth.json").unlink()
    return folder


def tables_of(report):
    return report["tables"]


def issues_of(report):
    return {issue["id"]: issue["count"] for issue in report["issues"]}


def without(gputime, job, gone):
    return gputime.json("ranks", *[path for path in traces_of(job) if path != gone])


FAULTS = {
    "absent": (lambda path: path.unlink(), "no such file or directory"),
    "dangling": (lambda path: (path.unlink(), path.symlink_to("nowhere")), "no such file or directory"),
    "a loop": (lambda path: (path.unlink(), path.symlink_to(path.name)), "too many levels of symbolic links"),
    "empty": (lambda path: path.write_bytes(b""), "is empty"),
    "cut at once": (lambda path: path.write_bytes(path.read_bytes()[:40]), "not a trace"),
    "zeros": (lambda path: path.write_bytes(bytes(path.stat().st_size)), "unrecognized trace format"),
    "a page": (lambda path: path.write_text("<html><body>404 Not Found</body></html>"), "unrecognized trace format"),
    "compressed, cut at once": (lambda path: path.write_bytes(b"\x1f\x8b\x08\x00\x00\x00"), ""),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_unreadable(gputime, job, fault):
    """Every table is that of the job without the file, and the first screen names it."""
    path = traces_of(job)[1]
    alone = without(gputime, job, path)
    named = traces_of(job)
    damage, reason = FAULTS[fault]
    damage(path)
    done = gputime("ranks", *named, "--json", timeout=LIMIT_S)
    errors = [line for line in done.stderr.decode().splitlines() if line.startswith("gputime: ")]
    assert done.returncode == 1 and len(errors) == 1 and str(path) in errors[0] and reason in errors[0]
    report = json.loads(done.stdout)
    assert tables_of(report) == tables_of(alone) and report["findings"] == alone["findings"]
    assert report["inputs"][0]["facts"] == alone["inputs"][0]["facts"]
    assert issues_of(report) == {**issues_of(alone), "trace_unreadable": 1}
    verdict, left_out = report["inputs"][0]["notes"][:2]
    assert verdict == alone["inputs"][0]["notes"][0] and left_out.startswith("Left out: ") and str(path) in left_out
    assert [issue["loss"] for issue in report["issues"] if issue["id"] == "trace_unreadable"] == [True]


@pytest.mark.parametrize("form", ["text", "md", "html"])
def test_named_next_to_the_verdict(gputime, job, form):
    path = traces_of(job)[1]
    path.write_bytes(b"")
    done = gputime("ranks", job, "--format", form)
    text = "".join(done.stdout.decode().replace("\\", "").split())  # long names are broken
    if form == "html":
        text = text[text.index('id="report"'):]
    assert done.returncode == 1
    verdict, left_out, first_table = (
        text.index(words) for words in ("Rank2holdstheothersupin", "Leftout:", "Exposedwait,allranks"))
    assert form == "html" or verdict < left_out < first_table
    assert text[left_out:].startswith(f"Leftout:'{path}'isempty.")


def test_many_unreadable(gputime, tmp_path):
    """The first are named, the others counted."""
    job = make_job(tmp_path / "job", "--ranks", 16, "--steps", 4, "--layers", 1, "--kernels", 2)
    for path in traces_of(job)[2:14]:
        path.write_bytes(b"")
    done = gputime("ranks", *traces_of(job), "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 1 and issues_of(report)["trace_unreadable"] == 12 and done.stderr.count(b"is empty") == 12
    notes = report["inputs"][0]["notes"][1:]
    assert [note for note in notes if note.startswith("Left out: ")] == notes[:8] and notes[8] == "4 more traces were left out."


@pytest.mark.parametrize("gone, words", [
    ((1,), "Rank 1 of 4 has no trace; waits for it are charged to other ranks."),
    ((0, 3), "Ranks 0 and 3 of 4 have no trace; waits for them are charged to other ranks."),
    ((1, 2, 3), "Ranks 1-3 of 4 have no trace.")])
def test_not_in_the_folder(gputime, job, gone, words):
    """Nothing failed, so that the status is 0; which ranks the job had is known from the others."""
    for path in [traces_of(job)[rank] for rank in gone]:
        path.unlink()
    report = gputime.json("ranks", job)
    assert report["inputs"][0]["notes"][1:] == [words] and issues_of(report)["rank_missing_trace"] == len(gone)


def test_many_not_in_the_folder(gputime, tmp_path):
    job = make_job(tmp_path / "job", "--ranks", 32, "--steps", 3, "--layers", 1, "--kernels", 2, "--noise", 0.05)
    for path in traces_of(job)[1::2]:
        path.unlink()
    assert gputime.json("ranks", *traces_of(job))["inputs"][0]["notes"][1] == (
        "Ranks 1, 3, 5, 7, 9, 11, 13, 15 and 8 more of 32 have no trace; waits for them are charged to other ranks.")


def test_nothing_readable(gputime, job):
    for path in traces_of(job):
        path.write_bytes(b"")
    done = gputime("ranks", job, timeout=LIMIT_S)
    assert (done.returncode, done.stdout) == (1, b"") and b"is empty" in done.stderr


def test_cut_before_the_first_kernel(gputime, job):
    path = traces_of(job)[1]
    alone = without(gputime, job, path)
    path.write_bytes(path.read_bytes()[:path.stat().st_size // 50])
    report = gputime.json("ranks", job)
    assert tables_of(report) == tables_of(alone)
    assert issues_of(report) == {**issues_of(alone), "trace_without_work": 1, "trace_partly_read": 1}
    assert report["inputs"][0]["notes"][1] == ("Left out: 'rank0001.json' has no GPU work whose times can be trusted; it was only "
                                               "partly read (input_cut).")


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
def test_cut(gputime, job, share):
    """What is before the cut counts, and what the others did without that rank stays as it is."""
    path = traces_of(job)[1]
    whole = gputime.json("ranks", job)
    path.write_bytes(path.read_bytes()[:int(path.stat().st_size * share)])
    report = gputime.json("ranks", job)
    assert issues_of(report)["trace_partly_read"] == 1
    assert [note for note in report["inputs"][0]["notes"] if note.startswith("'rank0001.json' was only partly read (input_cut)")]
    own = ("rank", "host", "span_ns", "compute_ns", "idle_ns", "exposed_memory_ns")
    for key in own:
        rows = [{row["rank"]: row[key] for row in tables_of(each)["ranks"]["rows"]} for each in (whole, report)]
        assert all(rows[1][rank] == rows[0][rank] for rank in (0, 2, 3)), key
    assert report["inputs"][0]["facts"]["verdict_rank"] == 2


def test_compressed_and_cut(gputime, tmp_path):
    job = make_job(tmp_path / "job", *OPTIONS, "--gzip")
    path = traces_of(job)[1]
    path.write_bytes(path.read_bytes()[:path.stat().st_size // 2])
    report = gputime.json("ranks", *traces_of(job))
    assert issues_of(report)["trace_partly_read"] == 1 and report["inputs"][0]["facts"]["verdict_rank"] == 2


def test_growing_while_it_is_read(gputime, job):
    """As by a copy that is still on its way: what is there counts, and the others are whole."""
    path = traces_of(job)[1]
    whole, content = gputime.json("ranks", job), path.read_bytes()
    path.write_bytes(content[:len(content) // 10])

    def grow():
        with open(path, "ab", buffering=0) as file:
            for place in range(1, 10):
                file.write(content[len(content) * place // 10:len(content) * (place + 1) // 10])
                time.sleep(0.02)

    writer = threading.Thread(target=grow)
    writer.start()
    seen = set()
    while True:
        is_last = not writer.is_alive()
        done = gputime("ranks", job, "--json", timeout=LIMIT_S)
        report = json.loads(done.stdout)
        assert done.returncode == 0 and issues_of(report).get("trace_partly_read", 0) <= 1
        spans = [{row["rank"]: row["span_ns"] for row in tables_of(each)["ranks"]["rows"]} for each in (whole, report)]
        assert all(spans[1][rank] == spans[0][rank] for rank in (0, 2, 3))
        seen.add("trace_partly_read" in issues_of(report))
        if is_last:
            break
    writer.join()
    assert True in seen and tables_of(report) == tables_of(whole) and report["issues"] == whole["issues"]


def test_shrinking_and_vanishing_while_it_is_read(gputime, job):
    """As by a job that clears its folder: never a crash, and each run ends."""
    path, is_done = traces_of(job)[1], threading.Event()
    content = path.read_bytes()

    def change():
        while not is_done.is_set():
            path.write_bytes(content[:len(content) // 3])
            path.unlink()
            path.write_bytes(content)

    writer = threading.Thread(target=change)
    writer.start()
    try:
        for _ in range(20):
            done = gputime("ranks", *traces_of(job)[:1], path, *[each for each in traces_of(job)[1:] if each != path], "--json",
                           timeout=LIMIT_S)
            ranks = [row["rank"] for row in json.loads(done.stdout)["tables"]["ranks"]["rows"]]
            assert done.returncode in (0, 1) and set(ranks) >= {0, 2, 3}
            assert (done.returncode == 1) == (b"rank0001.json" in done.stderr)
    finally:
        is_done.set()
        writer.join()


def as_nobody():
    """In the child: no rights beyond those of others. The superuser may read everything."""
    os.setgid(65534)
    os.setuid(65534)


def is_reachable(path):
    """Whether everybody may run it."""
    return all(folder.stat().st_mode & 0o001 for folder in (path.resolve(), *path.resolve().parents))


@pytest.mark.parametrize("what", ["folder", "file"])
def test_no_right_to_read(gputime, job, what):
    change = as_nobody if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory() as parent:
        folder = pathlib.Path(parent) / "job"
        shutil.copytree(job, folder)
        for path in (pathlib.Path(parent), folder, *folder.iterdir()):
            path.chmod(0o755)
        gone = folder if what == "folder" else traces_of(folder)[1]
        gone.chmod(0)
        try:
            if change and not is_reachable(gputime.binary):
                pytest.skip("nobody may not run the program where it is")
            done = gputime("ranks", folder, "--json", "--no-cache", timeout=LIMIT_S, preexec_fn=change,
                           env={"HOME": parent, "XDG_CONFIG_HOME": parent, "XDG_CACHE_HOME": parent})
        finally:
            gone.chmod(0o755)
        assert done.returncode == 1 and f"cannot read '{gone}': permission denied".encode() in done.stderr
        if what == "folder":
            assert done.stdout == b""
        else:
            assert tables_of(json.loads(done.stdout)) == tables_of(without(gputime, folder, gone))


def test_files_may_not_be_large(gputime, job, tmp_path):
    """The file that was there before is kept."""
    report = tmp_path / "report.json"
    report.write_text("before")
    done = gputime("ranks", job, "--json", "-o", report, timeout=LIMIT_S,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    assert done.returncode == 1 and b"file too large" in done.stderr
    assert report.read_text() == "before" and not [path for path in tmp_path.iterdir() if "report" in path.name and path != report]


def test_little_memory(gputime, job):
    """The whole report, one of the traces that fit, which says so, or none."""
    whole, outcomes = gputime("ranks", job, "--json").stdout, set()
    for megabytes in (24, 32, 48, 64, 4096):
        done = gputime("ranks", job, "--json", "--threads", "1", "--no-cache", timeout=LIMIT_S, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_AS, (megabytes << 20, megabytes << 20)))
        outcomes.add(done.returncode)
        if done.returncode == 0:
            assert done.stdout == whole
        elif done.stdout:
            assert issues_of(json.loads(done.stdout))["trace_unreadable"] == done.stderr.count(b"out of memory")
        else:
            assert done.stderr.count(b"\n") >= 1
    assert 0 in outcomes


@pytest.mark.parametrize("gone, words", [((1,), "Rank 1 of 4 has"), ((1, 2), "Ranks 1-2 of 4 have")])
def test_the_largest_rank_says_how_many_there_are(gputime, job, gone, words):
    """Not all formats say the size of the world."""
    for rank, path in enumerate(traces_of(job)):
        trace = json.loads(path.read_text())
        del trace["distributedInfo"]["world_size"]
        path.write_text(json.dumps(trace))
        if rank in gone:
            path.unlink()
    report = gputime.json("ranks", job)
    assert [note for note in report["inputs"][0]["notes"] if note.startswith(f"{words} no trace; ")]
    assert issues_of(report)["rank_missing_trace"] == len(gone) and report["inputs"][0]["facts"]["world_size"] == 4


# ---- limits ----


def limits_of(done):
    return [row["detail"] for row in json.loads(done.stdout)["tables"]["limits"]["rows"]]


def gates(job, whole):
    return (["check", "--ranks", job, "--limit", "exposed_wait<100%"],
            ["diff", "--ranks", whole, job, "--fail-if", "exposed_wait>+900%"])


def test_a_rank_beyond_the_world_is_an_error_of_its_trace(gputime, job):
    """It does not make the world larger: 4 ranks, one of which has no trace."""
    path = traces_of(job)[3]
    trace = json.loads(path.read_bytes())
    assert trace["distributedInfo"]["world_size"] == 4
    trace["distributedInfo"]["rank"] = 99_999
    path.write_text(json.dumps(trace))
    report = gputime.json("ranks", job)
    assert report["inputs"][0]["facts"]["world_size"] == 4
    assert issues_of(report)["rank_beyond_world"] == 1 and issues_of(report)["rank_missing_trace"] == 1
    assert "100000" not in json.dumps(report["inputs"][0]["notes"])


@pytest.mark.parametrize("share", [0.02, 0.7])
def test_gates_tell_of_a_cut_rank(gputime, job, tmp_path, share):
    whole = shutil.copytree(job, tmp_path / "whole")
    path = traces_of(job)[1]
    path.write_bytes(path.read_bytes()[:int(path.stat().st_size * share)])
    for args in gates(job, whole):
        done = gputime(*args, "--json")
        assert done.returncode == 0 and "; partly read" in limits_of(done)[0]
        assert path.name in done.stderr.decode() and "only partly read" in done.stderr.decode()
        assert gputime(*args, "--strict").returncode == 1


def test_gates_tell_of_a_rank_without_a_trace(gputime, job, tmp_path):
    whole = shutil.copytree(job, tmp_path / "whole")
    traces_of(job)[1].unlink()
    for args in gates(job, whole):
        done = gputime(*args, "--json")
        assert done.returncode == 0 and limits_of(done)[0].endswith("; no trace of rank 1" + (" in B" if args[0] == "diff" else ""))
        assert done.stderr.decode().count("rank 1 of 4 has no trace; ") == 1 == done.stderr.count(b"\n")
        done = gputime(*args, "--strict")
        assert done.returncode == 1 and b"rank 1 of 4 has no trace; " in done.stderr
    assert gputime("ranks", job).returncode == 0 and gputime("ranks", job, "--strict").returncode == 1
    assert gputime("check", "--ranks", job, "--limit", "losses<1").returncode == 3
    for args in gates(whole, whole):
        assert gputime(*args, "--strict").stderr == b""


def test_comparisons_name_the_ranks_that_either_job_lacks(gputime, tmp_path):
    """Also where the number of one begins like that of the other."""
    whole = make_job(tmp_path / "whole", "--ranks", 16, "--steps", 3, "--layers", 1, "--kernels", 2)
    (whole / "truth.json").unlink()
    jobs = [shutil.copytree(whole, tmp_path / name) for name in "ab"]
    for job, rank in zip(jobs, (12, 1)):
        traces_of(job)[rank].unlink()
    done = gputime("diff", "--ranks", *jobs, "--fail-if", "exposed_wait>+900%", "--json")
    assert done.returncode == 0 and limits_of(done)[0].endswith("; no trace of rank 12 in A; no trace of rank 1 in B")
    notes = json.loads(done.stdout)["inputs"][0]["notes"]
    assert notes[:2] == ["A: no trace of rank 12.", "B: no trace of rank 1."] and "partly read" not in "".join(notes)


def test_a_cut_trace_that_is_not_named_is_a_loss_too(gputime, job):
    """Many traces without GPU work, of which the last is cut."""
    for place in range(8):
        (job / f"w{place}.json").write_text('{"traceEvents": []}')
    check = ["check", "--ranks", job, "--limit", "exposed_wait<100%", "--json"]
    assert gputime(*check).stderr == b""
    (job / "z.json").write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1, "pid": 1, "tid": 1}, {"ph"')
    done = gputime(*check)
    assert done.returncode == 0 and done.stderr == b"gputime: 1 more trace was left out: no GPU work\n"
    assert "1 more trace was left out: no GPU work." in json.loads(done.stdout)["inputs"][0]["notes"]


def test_a_number_in_the_name_of_a_file_is_no_world(gputime, job):
    """A time in the place of a rank."""
    for place, path in enumerate(traces_of(job)):
        trace = json.loads(path.read_bytes())
        del trace["distributedInfo"]
        (job / ("run_rank-1731888000.json" if place == 3 else f"run_rank{place}.json")).write_text(json.dumps(trace))
        path.unlink()
    report = gputime.json("ranks", job)
    assert report["inputs"][0]["facts"]["world_size"] == 4 and "rank_missing_trace" not in issues_of(report)
    assert "has no trace" not in "".join(report["inputs"][0]["notes"])
