"""Jobs with traces that are cut, empty, foreign or not there: the others are reported, and what is wrong is said."""

import json

import pytest
from peak import peak_run
from rank_traces import BASE, Job, document, pipeline, two_by_two, us
from simulated_jobs import make_job, traces_of

OPTIONS = ("--ranks", 4, "--steps", 6, "--layers", 1, "--kernels", 3, "--noise", 0.01, "--skew", "--straggler", "2:more:1.4")


@pytest.fixture
def job(tmp_path):
    return make_job(tmp_path / "job", *OPTIONS)


def rows_of(report, table):
    return report["tables"][table]["rows"]


def issues_of(report):
    return {issue["id"]: issue["count"] for issue in report["issues"]}


def verdict_of(report):
    return report["inputs"][0]["facts"]["verdict_rank"], report["inputs"][0]["facts"]["verdict_reason"]


def failing(gputime, *arguments):
    """The report of those that can be read; the command fails."""
    done = gputime("ranks", *arguments, "--json")
    assert done.returncode == 1
    return json.loads(done.stdout), done.stderr.decode()


def test_cut_trace(gputime, job):
    """What is before the cut counts; --strict leaves the trace out."""
    path = traces_of(job)[1]
    path.write_bytes(path.read_bytes()[:path.stat().st_size * 2 // 3])
    report = gputime.json("ranks", *traces_of(job))
    assert [row["rank"] for row in rows_of(report, "ranks")] == [0, 1, 2, 3]
    assert issues_of(report)["trace_partly_read"] == 1 and verdict_of(report) == (2, "compute_more")
    text = gputime("ranks", *traces_of(job)).stdout.decode()
    assert f"'{path.name}' was only partly read (input_cut)" in " ".join(text.split())
    report, error = failing(gputime, *traces_of(job), "--strict")
    assert [row["rank"] for row in rows_of(report, "ranks")] == [0, 2, 3]
    assert str(path) in error and "input_cut" in error and verdict_of(report) == (2, "compute_more")


def test_many_cut_traces(gputime, job):
    for path in traces_of(job):
        path.write_bytes(path.read_bytes()[:path.stat().st_size - 100])
    report = gputime.json("ranks", *traces_of(job))
    assert issues_of(report)["trace_partly_read"] == 4 and verdict_of(report) == (2, "compute_more")


@pytest.mark.parametrize("damage, message", [
    (lambda path: path.write_bytes(b""), "is empty"),
    (lambda path: path.write_text("no trace"), "unrecognized trace format"),
    (lambda path: path.unlink(), "no such file or directory"),
    (lambda path: (path.unlink(), path.symlink_to("nowhere")), "no such file or directory"),
], ids=["empty", "text", "absent", "dangling"])
def test_unreadable_trace(gputime, job, damage, message):
    paths = traces_of(job)
    damage(paths[1])
    report, error = failing(gputime, *paths)
    assert [row["rank"] for row in rows_of(report, "ranks")] == [0, 2, 3]
    assert issues_of(report)["rank_missing_trace"] == 1 and verdict_of(report) == (2, "compute_more")
    assert error.count("\n") == 1 and str(paths[1]) in error and message in error


def test_trace_without_work(gputime, job):
    paths = traces_of(job)
    paths[1].write_text('{"traceEvents": []}')
    report = gputime.json("ranks", *paths)
    assert [row["rank"] for row in rows_of(report, "ranks")] == [0, 2, 3]
    assert issues_of(report)["trace_without_work"] == 1 and verdict_of(report) == (2, "compute_more")


@pytest.mark.parametrize("outputs", [["-o", "/dev/full"], ["--json", "-o", "/dev/full"], ["--html", "-o", "/dev/full"]])
def test_full_disk(gputime, job, outputs):
    done = gputime("ranks", *traces_of(job), *outputs)
    assert done.returncode == 1 and b"no space left on device" in done.stderr


def test_full_standard_output(gputime, job):
    with open("/dev/full", "wb") as full:
        done = gputime("ranks", *traces_of(job), stdout=full)
    assert done.returncode == 1 and b"no space left on device" in done.stderr


def test_members_that_nobody_lists(gputime, tmp_path):
    """A first rank and a stride cost no memory, however many ranks they mean; lists and strides are the same group."""
    def spaced(size):
        def change(rank):
            for kernel in rank.kernels:
                if kernel[3]:
                    kernel[3].pop("Process Group Ranks")
                    kernel[3].update({"Group size": size, "Global rank start": 0, "Global rank stride": 1})
            return rank
        return change

    def body():
        for group in range(64):
            job.collective((0, 1), 1000, group=f"g{group}")

    job = Job(2)
    for step in range(1, 4):
        job.step(step, body)
    job.write(tmp_path / "listed" / "job")
    job.write(tmp_path / "small" / "job", change=spaced(2))
    job.write(tmp_path / "large", change=spaced(1 << 24))
    listed, small = (gputime.json("ranks", tmp_path / name / "job") for name in ("listed", "small"))
    assert listed["tables"] == small["tables"]
    done, peak = peak_run(gputime, "ranks", tmp_path / "large", "--json")
    assert done.returncode == 0 and peak < 1 << 29
    large = json.loads(done.stdout)
    assert len(rows_of(large, "groups")) == 64
    assert large["inputs"][0]["facts"]["collectives"] == listed["inputs"][0]["facts"]["collectives"] == 3 * 64


def facts_of(report):
    return report["inputs"][0]["facts"]


def test_clocks_far_apart(gputime, tmp_path):
    """Differences of clocks that fit, while twice as much does not."""
    job, far_ns = pipeline(), 2_500_000_000_000_000_000

    def change(rank):
        for kernel in rank.kernels:
            kernel[1:3] = [time_ns - BASE + (far_ns if rank.number else -far_ns) for time_ns in kernel[1:3]]
        return rank

    job.write(tmp_path / "near")
    job.write(tmp_path / "far", change=change)
    near, far = (gputime.json("ranks", tmp_path / name) for name in ("near", "far"))
    assert facts_of(far)["recorded_ns"] == pytest.approx(facts_of(near)["recorded_ns"], rel=0.01)
    assert [row["offset_ns"] for row in rows_of(far, "clocks")] == pytest.approx([0, *[2 * far_ns] * 3])


def test_drift_that_no_clock_has(gputime, tmp_path):
    """It is not believed: times on such a clock would not fit."""
    def body():
        for rank in job.ranks:
            rank.compute(100_000_000)
        job.collective((0, 1), 1_000_000)

    def change(rank):
        for kernel in rank.kernels:
            if rank.number == 0:
                kernel[1:3] = [BASE + (time_ns - BASE) * 100_000 for time_ns in kernel[1:3]]
        return rank

    job = Job(2)
    for step in range(1, 41):
        job.step(step, body)
    job.write(tmp_path / "job", change=change)
    report = gputime.json("ranks", tmp_path / "job")
    assert [row["drift_ppm"] for row in rows_of(report, "clocks")] == [0, 0]


def test_sums_that_do_not_fit(gputime, tmp_path):
    """Thousands of kernels of days at the same time: the rank has more work, as much as a number can say."""
    def body():
        for rank in job.ranks:
            rank.compute(1000 if rank.number else 6000)
        job.collective((0, 1), 1000)

    job = Job(2)
    for step in range(1, 5):
        job.step(step, body)
    (tmp_path / "job").mkdir()
    for rank in job.ranks:
        trace = document(rank)
        for i in range(0 if rank.number else 8800):
            trace["traceEvents"].append({
                "ph": "X", "cat": "kernel", "name": "long_kernel", "pid": 0, "tid": 1000 + i, "ts": us(BASE + 10**8),
                "dur": 1.1e12, "args": {"device": 0, "stream": 1000 + i, "correlation": 100000 + i,
                                        "grid": [1, 1, 1], "block": [1 + i % 2, 1, 1]}})
        (tmp_path / "job" / f"rank{rank.number}.json").write_text(json.dumps(trace))
    row = rows_of(gputime.json("ranks", tmp_path / "job"), "blame")[0]
    assert (row["rank"], row["reason"], row["more_ns"], row["kernel"]) == (0, "compute_more", 2**63 - 1, "long_kernel")


def test_kernels_without_length_at_one_time(gputime, tmp_path):
    """Each begins before it ends, so that the job can be replayed; many of them take no longer than others."""
    def body():
        for rank in job.ranks:
            rank.compute(120_000 if rank.number else 100_000)
        job.collective((0, 1), 50_000)
        for group in range(2000):
            job.collective((0, 1), 0, group=f"g{group % 2}")

    job = Job(2)
    for step in range(1, 7):
        job.step(step, body)
    job.write(tmp_path / "job")
    facts = facts_of(gputime.json("ranks", tmp_path / "job"))
    assert facts["replay_ns"] == facts["recorded_ns"] and facts["replay_error"] == 0 and facts["slowdown"] > 1


def test_bytes_that_do_not_fit(gputime, tmp_path):
    """The bytes of all members together are not known."""
    def change(rank):
        for kernel in rank.kernels:
            if kernel[3]:
                kernel[3].update({"Collective name": "gather", "In msg nelems": 2**62, "Out msg nelems": 2**62})
        return rank

    two_by_two(steps=3).write(tmp_path / "job", change=change)
    rows = rows_of(gputime.json("ranks", tmp_path / "job"), "job_collectives")
    assert {(row["bytes"], row["algbw_gbs"]) for row in rows} == {(None, None)}


def test_steps_of_a_tag_are_counted(gputime, tmp_path):
    """Also where the tag is the name that the profiler gives to steps: a rank that begins one step later is no break."""
    def change(rank):
        if rank.number == 1:
            end = rank.steps[0][2]
            rank.kernels = rank.kernels[end:]
            rank.late = {index - end for index in rank.late if index >= end}
            rank.steps = [(number, first - end, last - end) for number, first, last in rank.steps[1:]]
        return rank

    two_by_two(steps=8).write(tmp_path / "job", change=change)
    plain = gputime.json("ranks", tmp_path / "job")
    tagged = gputime.json("ranks", tmp_path / "job", "--step-tag", "ProfilerStep")
    assert facts_of(tagged)["collectives"] == facts_of(plain)["collectives"]
    assert "desync" not in {finding["id"] for finding in tagged["findings"]}
