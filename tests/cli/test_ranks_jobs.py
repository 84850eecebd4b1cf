"""Traces of several jobs in one folder: each is judged by itself, exactly as if it were alone."""

import copy
import json
import shutil

import pytest

from rank_traces import document, two_by_two
from simulated_jobs import make_job, traces_of

SMALL = ("--ranks", 4, "--steps", 6, "--layers", 1, "--kernels", 3, "--noise", 0.01, "--skew")
DAY_NS = 86_400_000_000_000
EPOCH_NS = 1_790_000_000 * 10**9


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """Three jobs of the same shape and clock, with another culprit each."""
    parent = tmp_path_factory.mktemp("jobs")
    made = [make_job(parent / name, *SMALL, "--straggler", f"{rank}:more:{factor}", "--seed", rank + 1)
            for name, rank, factor in (("monday", 2, 1.2), ("tuesday", 1, 2), ("friday", 3, 1.4))]
    for job in made:
        (job / "truth.json").unlink()
    return made


def tables_of(report, job=None):
    """The rows of every table that are of one job, without its name."""
    return {key: [{column: value for column, value in row.items() if column != "input"}
                  for row in table["rows"] if job is None or row["input"] == job]
            for key, table in report["tables"].items()}


def names_of(report):
    return [entry["input"] for entry in report["inputs"]]


def facts_of(report, place=0):
    return report["inputs"][place]["facts"]


def notes_of(report):
    return [note for entry in report["inputs"] for note in entry["notes"]]


def check_alone(gputime, report, parts):
    """Each job of the report is what the report on its traces alone says."""
    assert names_of(report) == [f"job {place + 1}: {len(part)} rank{'s' if len(part) > 1 else ''}"
                                for place, part in enumerate(parts)]
    for name, entry, part in zip(names_of(report), report["inputs"], parts):
        alone = gputime.json("ranks", *part)
        assert tables_of(report, name) == tables_of(alone)
        assert entry["facts"] == facts_of(alone)
        assert [entry[key] for key in ("ops", "kernels")] == [alone["inputs"][0][key] for key in ("ops", "kernels")]
        assert alone["inputs"][0]["notes"][0] in entry["notes"]


def mixed(jobs, folder, name):
    """All traces in one folder, and the paths of each job in the order of names."""
    folder.mkdir()
    parts = []
    for place, job in enumerate(jobs):
        parts.append([folder / name.format(job=job.name, place=place, rank=rank) for rank in range(4)])
        for path, trace in zip(parts[-1], traces_of(job)):
            shutil.copy(trace, path)
    return parts


@pytest.mark.parametrize("name", ["{job}_rank{rank}.json", "rank{rank}_of_{job}.json", "rank-{rank}.{place}.json",
                                  "run{place}.{rank}.json"])
def test_names_of_files(gputime, jobs, tmp_path, name):
    """Wherever the number of the rank is in the name."""
    parts = sorted(mixed(jobs, tmp_path / "all", name), key=lambda part: str(part[0]))
    report = gputime.json("ranks", tmp_path / "all")
    check_alone(gputime, report, parts)
    assert notes_of(report)[0] == ("These traces are of 3 jobs or runs, since some ranks appear more than once: each is judged "
                                   "by itself. To judge one alone, name its traces.")


def test_the_pattern_of_a_job_names_its_traces(gputime, jobs, tmp_path):
    parts = mixed(jobs[:2], tmp_path / "all", "{job}_rank{rank}.json")
    report = gputime.json("ranks", tmp_path / "all")
    for place, part in enumerate(parts):
        note = report["inputs"][place]["notes"][1 if place == 0 else 0]
        pattern = note.split("'")[1]
        assert note == f"Traces: '{pattern}'."
        assert tables_of(gputime.json("ranks", pattern)) == tables_of(gputime.json("ranks", *part))


def test_a_pattern_that_other_jobs_match_is_none(gputime, jobs, tmp_path):
    """Then the first files are named."""
    shutil.copytree(jobs[0], tmp_path / "all")
    shutil.copy(traces_of(jobs[1])[3], tmp_path / "all" / "rank0003_other.json")
    report = gputime.json("ranks", tmp_path / "all")
    note = [note for note in report["inputs"][0]["notes"] if "rank0000" in note or "rank*" in note]
    assert len(note) == 1 and "*" not in note[0] and note[0].count("rank000") == 4


def test_folders(gputime, jobs):
    """Folders that are named together, whose files have equal names."""
    check_alone(gputime, gputime.json("ranks", *jobs[:2]), [traces_of(job) for job in jobs[:2]])


def test_ranks_missing_in_one(gputime, jobs, tmp_path):
    """The larger job comes first."""
    parts = mixed(jobs[:2], tmp_path / "all", "{job}.rank{rank}.json")
    parts[0].pop(1).unlink()
    check_alone(gputime, gputime.json("ranks", tmp_path / "all"), [parts[1], parts[0]])


@pytest.mark.parametrize("rank", [2, 6])
def test_trace_of_another_job(gputime, jobs, tmp_path, rank):
    """With a number of its own or that of another: the world size tells, and the others do not change."""
    other = make_job(tmp_path / "other", "--ranks", 8, "--tp", 2, "--steps", 4, "--seed", 9)
    report = gputime.json("ranks", *traces_of(jobs[0]), traces_of(other)[rank])
    check_alone(gputime, report, [traces_of(jobs[0]), [traces_of(other)[rank]]])
    assert notes_of(report)[0].startswith("These traces are of 2 jobs, whose world sizes differ: each is judged by itself.")


@pytest.mark.parametrize("gone", [(), (1,)])
def test_trace_of_a_single_gpu(gputime, jobs, tmp_path, gone):
    """It says no rank, and is first by name: it takes no place among the ranks of the job, not even one that is free."""
    folder = tmp_path / "all"
    folder.mkdir()
    parts = [[shutil.copy(path, folder / path.name) for rank, path in enumerate(traces_of(jobs[0])) if rank not in gone]]
    work = [{"ph": "X", "cat": "kernel", "name": "work", "ts": 100 * k, "dur": 50, "pid": 0, "tid": 7,
             "args": {"device": 0, "stream": 7, "correlation": k}} for k in range(1, 50)]
    (folder / "alone.json").write_text(json.dumps({"traceEvents": work}))
    report = gputime.json("ranks", folder)
    check_alone(gputime, report, [*parts, [folder / "alone.json"]])
    assert notes_of(report)[0].startswith("These traces are of 2 jobs, since some traces have no rank and do not fit ")
    limits = gputime("check", "--ranks", folder, "--limit", "exposed_wait<0.1%")
    assert limits.returncode == 3 and b"1 of 2 limits is broken" in limits.stderr


def test_unreadable_trace_among_several_jobs(gputime, jobs, tmp_path):
    """Nobody knows whose it is."""
    folder = tmp_path / "all"
    mixed(jobs[:2], folder, "{job}_rank{rank}.json")
    (folder / "tuesday_rank4.json").write_bytes(b"")
    done = gputime("check", "--ranks", folder, "--limit", "exposed_wait<100%", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 1 and len(report["inputs"]) == 2
    assert notes_of(report)[0].startswith("Left out: ") and "tuesday_rank4.json' is empty" in notes_of(report)[0]
    assert len([note for note in notes_of(report) if note.startswith("Left out: ")]) == 1
    assert [issue["input"] for issue in report["issues"] if issue["id"] == "trace_unreadable"] == names_of(report)
    assert all(row["detail"].endswith("; partly read") for row in report["tables"]["limits"]["rows"])


def test_same_rank_of_another_run(gputime, jobs, tmp_path):
    """One trace of another run, with the same world size."""
    shutil.copytree(jobs[0], tmp_path / "all")
    shutil.copy(traces_of(jobs[1])[2], tmp_path / "all" / "old_rank2.json")
    own = traces_of(tmp_path / "all")
    report = gputime.json("ranks", *own, tmp_path / "all" / "old_rank2.json")
    check_alone(gputime, report, [own, [tmp_path / "all" / "old_rank2.json"]])


def test_copies_count_once(gputime, jobs, tmp_path):
    """Also of all traces of a job, under any name."""
    shutil.copytree(jobs[0], tmp_path / "all")
    for place, path in enumerate(traces_of(jobs[0])):
        shutil.copy(path, tmp_path / "all" / f"copy {place}.json")
    report, alone = gputime.json("ranks", tmp_path / "all"), gputime.json("ranks", *traces_of(jobs[0]))
    assert tables_of(report) == tables_of(alone) and report["inputs"][0]["ops"] == alone["inputs"][0]["ops"]
    assert [note for note in notes_of(report) if note.startswith("Left out: 'rank0001.json' has the same events as "
                                                                  "'copy 1.json', rank 1.")]
    assert [(issue["id"], issue["count"]) for issue in report["issues"]] == [("rank_duplicate", 4)]


# ---- time ----


def captured(folder, names, begins_ns, culprit):
    """A job of which each trace says when it began in UTC; the clocks of its hosts may differ."""
    folder.mkdir(exist_ok=True)
    job = two_by_two(slow=culprit, late=None)
    paths = []
    for rank, name, begin_ns in zip(job.ranks, names, begins_ns):
        trace = document(copy.deepcopy(rank))
        trace["baseTimeNanoseconds"] = EPOCH_NS + begin_ns
        paths.append(folder / name)
        paths[-1].write_text(json.dumps(trace))
    return paths


def test_captures_of_one_run(gputime, tmp_path):
    """Names that say nothing: a profiler that records twice, with the time in the name of the file."""
    parts = [captured(tmp_path / "all", [f"node_{7000 + 13 * rank}.{place * 977 + rank}.pt.trace.json" for rank in range(4)],
                      [place * 10**10 + rank * 1000 for rank in range(4)], culprit) for place, culprit in enumerate((2, 3))]
    check_alone(gputime, gputime.json("ranks", tmp_path / "all"), parts)


def test_clocks_of_hosts_apart(gputime, tmp_path):
    """By more than a trace is long, but less than what is between two runs."""
    parts = [captured(tmp_path / "all", [f"{place}{rank}{chr(97 + 5 * place + rank)}.json" for rank in range(4)],
                      [place * DAY_NS + (rank // 2) * 10**11 for rank in range(4)], culprit) for place, culprit in
             enumerate((1, 0))]
    check_alone(gputime, gputime.json("ranks", tmp_path / "all"), parts)


def test_time_alone_divides_nothing(gputime, tmp_path):
    """One job, whose hosts do not agree about the day."""
    captured(tmp_path / "all", [f"rank{rank}.json" for rank in range(4)], [rank * DAY_NS for rank in range(4)], 2)
    report = gputime.json("ranks", tmp_path / "all")
    assert names_of(report) == ["all: 4 ranks"] and facts_of(report)["verdict_rank"] == 2


def test_local_ranks_are_no_jobs(gputime, tmp_path):
    """Numbers in names of files may be those of a machine."""
    job = two_by_two()
    for rank in job.ranks:
        trace = document(copy.deepcopy(rank), with_rank=False)
        (tmp_path / f"node{rank.number // 2}_rank{rank.number % 2}.json").write_text(json.dumps(trace))
    report = gputime.json("ranks", tmp_path)
    assert names_of(report) == [f"{tmp_path.name}: 4 ranks"] and {issue["id"] for issue in report["issues"]} >= {"rank_duplicate"}


# ---- other commands and outputs ----


def test_limits_of_each(gputime, jobs, tmp_path):
    mixed(jobs[:2], tmp_path / "all", "{job}_rank{rank}.json")
    done = gputime("check", "--ranks", tmp_path / "all", "--limit", "exposed_wait<14%")
    assert done.returncode == 3
    assert b"broken: exposed_wait<14% in job 2: 4 ranks" in done.stderr and b"in job 1" not in done.stderr


def test_comparison_with_several_runs(gputime, jobs, tmp_path):
    """Runs of one side are averaged; jobs of different sizes are not."""
    mixed(jobs[:2], tmp_path / "all", "{job}_rank{rank}.json")
    report = gputime.json("diff", "--ranks", tmp_path / "all", jobs[2])
    assert names_of(report)[1:] == ["A: job 1: 4 ranks", "A: job 2: 4 ranks", "B: friday: 4 ranks"]
    other = make_job(tmp_path / "other", "--ranks", 8, "--tp", 2, "--steps", 4, "--seed", 9)
    done = gputime("diff", "--ranks", "--a", *traces_of(jobs[0]), *traces_of(other), "--b", *traces_of(jobs[1]))
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == (b"gputime: A has traces of 2 jobs, with world sizes of 8 and 4; pass the traces of one job; "
                           b"'gputime ranks' lists them\n")


def without_world(job, ranks, folder):
    """Traces that say their rank, but not how many there are."""
    folder.mkdir(parents=True)
    for rank in ranks:
        trace = json.loads(traces_of(job)[rank].read_bytes())
        del trace["distributedInfo"]["world_size"]
        (folder / f"rank{rank}.json").write_text(json.dumps(trace))
    return folder


def test_comparison_with_runs_that_say_no_world(gputime, jobs, tmp_path):
    """One lacks the trace of its last rank: that is no other world."""
    runs = [without_world(job, ranks, tmp_path / "a" / job.name) for job, ranks in zip(jobs, (range(4), range(3)))]
    report = gputime.json("diff", "--ranks", "--a", *runs, "--b", jobs[2])
    assert names_of(report)[1:] == ["A: job 1: 4 ranks", "A: job 2: 3 ranks", "B: friday: 4 ranks"]


def test_names_of_copies_tell_them_apart(gputime, jobs, tmp_path):
    folders = [shutil.copytree(jobs[0], tmp_path / day) for day in ("mon", "tue")]
    notes = notes_of(gputime.json("ranks", *folders))
    assert "Left out: 'tue/rank0000.json' has the same events as 'mon/rank0000.json', rank 0." in notes


@pytest.mark.parametrize("size", [4, 8])
def test_comparison_leaves_a_stray_trace_out(gputime, jobs, tmp_path, size):
    """One rank of another run, of the same or another world: it is no capture that could be averaged."""
    other = make_job(tmp_path / "other", "--ranks", size, "--steps", 6, "--layers", 1, "--kernels", 3, "--seed", 9)
    sides = ("--a", *traces_of(jobs[0]), "--b", *traces_of(jobs[1]))
    report = gputime.json("diff", "--ranks", *sides, traces_of(other)[2])
    alone = gputime.json("diff", "--ranks", *sides)
    assert tables_of(report) == tables_of(alone)
    assert "Left out of B: 'job 2: 1 rank' has only one rank." in report["inputs"][0]["notes"]
    assert names_of(report)[1:] == ["A: monday: 4 ranks", "B: job 1: 4 ranks"]
    report = gputime.json("diff", "--ranks", "--a", traces_of(jobs[0])[1], "--b", traces_of(jobs[1])[1])
    assert not [note for note in report["inputs"][0]["notes"] if note.startswith("Left out")]


def test_outputs(gputime, jobs, tmp_path):
    """The first screen says it, whatever the format."""
    mixed(jobs[:2], tmp_path / "all", "{job}_rank{rank}.json")
    texts = {form: " ".join(gputime("ranks", tmp_path / "all", "--format", form).stdout.decode().replace("\\", "").split())
             for form in ("text", "md", "html")}
    for form, text in texts.items():
        assert "These traces are of 2 jobs or runs" in text, form
        assert f"Traces: '{tmp_path}/all/tuesday_rank*.json'." in text, form
        if form != "html":
            assert text.index("These traces are of 2 jobs") < text.index("job 1: 4 ranks") < text.index("Traces: "), form
    rows = gputime("ranks", tmp_path / "all", "--csv").stdout.decode().splitlines()
    assert [row.split(",")[:2] for row in rows[1:]] == [[f"job {job}: 4 ranks", str(rank)] for job in (1, 2) for rank in range(4)]


def test_names_are_hidden(gputime, jobs, tmp_path):
    mixed(jobs[:2], tmp_path / "all", "{job}_rank{rank}.json")
    done = gputime("ranks", tmp_path / "all", "--redact")
    text = done.stdout.decode()
    assert done.returncode == 0 and "Traces: 'input 5', 'input 6', 'input 7', 'input 8'." in text
    assert "monday" not in text and "all" not in text.split("\n")[0]
