"""`gputime ranks` on simulated jobs: waits, clocks and culprits against the truth, to the ns where members leave together.
tests/cli/job_truth.py asks about many more jobs."""

import json

import pytest
from job_truth import Answer, judge, reasons_of
from simulated_jobs import make_job, rows, traces_of

SMALL = ("--steps", 6, "--layers", 1, "--kernels", 3)
EXACT = {
    "data": ("--ranks", 4, "--noise", 0.03, "--skew", "--gpus-per-host", 1),
    "tensor": ("--ranks", 8, "--tp", 4, "--noise", 0.03, "--straggler", "2:slower:1.3"),
    "pipeline": ("--ranks", 8, "--pp", 4, "--noise", 0.02, "--straggler", "1:more:1.4", "--local-peers"),
    "gpipe": ("--ranks", 8, "--tp", 2, "--pp", 2, "--gpipe", "--noise", 0.05, "--skew", "--gpus-per-host", 2),
    "overlap": ("--ranks", 4, "--tp", 2, "--overlap", "--straggler", "3:more:1.5", "--noise", 0.02, "--seq"),
    "sharding": ("--ranks", 4, "--sharding", "--noise", 0.05, "--comms-id", "--episode", "3:2:host:5"),
    "experts": ("--ranks", 8, "--ep", 4, "--tp", 2, "--noise", 0.03),
}
CULPRITS = {
    "more": ("--ranks", 8, "--tp", 2, "--straggler", "5:more:1.2"),
    "slower": ("--ranks", 8, "--tp", 2, "--straggler", "0:slower:1.2", "--skew", "--drift", 40),
    "host": ("--ranks", 8, "--tp", 4, "--straggler", "3:host:1.3", "--windows-apart", "--skew"),
    "hot expert": ("--ranks", 8, "--ep", 4, "--hot-expert", "6:0.6"),
    "deep stage": ("--ranks", 4, "--pp", 4, "--straggler", "2:more:1.5"),
}


@pytest.fixture(scope="module", autouse=True)
def needs_the_command(gputime):
    if not gputime("ranks", "--help").stdout.startswith(b"Usage: gputime ranks"):
        pytest.skip("this gputime has no command 'ranks'")


def ask(gputime, folder, *options):
    return gputime.json("ranks", *traces_of(folder), *options)


@pytest.fixture(scope="module", params=EXACT)
def job(request, gputime, tmp_path_factory):
    folder = make_job(tmp_path_factory.mktemp("job"), *SMALL, *EXACT[request.param])
    return json.loads((folder / "truth.json").read_text()), ask(gputime, folder)


def test_every_wait(job):
    truth, report = job
    names = {row["group"]: row["name"] for row in report["tables"]["groups"]["rows"]}
    waits = {}
    for row in report["tables"]["collective_ranks"]["rows"]:
        waits.setdefault(row["id"], {})[row["rank"]] = row["wait_ns"]
    found = {}
    for row in report["tables"]["job_collectives"]["rows"]:
        ends = (row["src"], row["dst"]) if row["op"] == "send_recv" else ()
        found[names[row["group"]], row["op"], ends, row["index"]] = row["step"], waits[row["id"]]
    true = {}
    for row in rows(truth, "collective"):
        ends = tuple(row["ranks"]) if row["op"] == "send_recv" else ()
        true[row["group"], row["op"], ends, row["index"]] = row["step"], dict(zip(row["ranks"], row["wait_ns"]))
    assert found == true


def test_exposed_wait(job):
    truth, report = job
    found = {row["rank"]: row["exposed_wait_ns"] for row in report["tables"]["ranks"]["rows"]}
    assert found == {row["rank"]: row["exposed_wait_ns"] for row in rows(truth, "rank")}
    assert report["facts"]["exposed_wait_ns"] == truth["exposed_wait_ns"]


def test_nothing_is_unexplained(job):
    truth, report = job
    facts = report["facts"]
    assert report["issues"] == []
    assert facts["spread_ns"] == facts["unresolved_ns"] == 0
    assert facts["recorded_ns"] == facts["replay_ns"] == truth["recorded_ns"]


def test_clocks(job):
    truth, report = job
    true = {row["rank"]: row["offset_ns"] for row in rows(truth, "rank")}
    for row in report["tables"]["clocks"]["rows"]:
        assert row["offset_ns"] == pytest.approx(true[row["rank"]] - true[0], abs=row["floor_ns"])


@pytest.mark.parametrize("name", CULPRITS)
def test_culprits(gputime, tmp_path, name):
    folder = make_job(tmp_path, *SMALL, "--noise", 0.01, *CULPRITS[name])
    truth = json.loads((folder / "truth.json").read_text())
    answer = Answer(ask(gputime, folder))
    assert judge(truth, answer, 0.1) == "right", (truth["culprit"], answer.__dict__, reasons_of(truth["culprit"]))


@pytest.mark.parametrize("options", [("--pp", 4), ("--pp", 4, "--gpipe"), ("--tp", 2, "--pp", 2), ("--tp", 4), ("--ep", 4)],
                         ids=lambda options: " ".join(map(str, options)))
@pytest.mark.parametrize("seed", [1, 2])
def test_nobody_is_named_in_healthy_jobs(gputime, tmp_path, options, seed):
    folder = make_job(tmp_path, *SMALL, "--ranks", 8, "--noise", 0.02, "--seed", seed, *options)
    assert Answer(ask(gputime, folder)).rank is None


PIPELINES = {
    "two even stages": ("--ranks", 8, "--pp", 2, "--gpipe"),
    "four stages": ("--ranks", 8, "--pp", 4, "--gpipe", "--noise", 0.02),
    "a stage for each rank": ("--ranks", 8, "--pp", 8, "--gpipe", "--micro-batches", 4),
    "one forward, one backward": ("--ranks", 8, "--pp", 4, "--noise", 0.02),
}


def busy_ns(report):
    """The median over ranks of what each takes for compute and transfers alone."""
    rows = report["tables"]["ranks"]["rows"]
    return sorted(row["compute_ns"] + row["exposed_transfer_ns"] for row in rows)[(len(rows) - 1) // 2]


def compute_ns(report):
    rows = report["tables"]["ranks"]["rows"]
    return sorted(row["compute_ns"] for row in rows)[(len(rows) - 1) // 2]


@pytest.mark.parametrize("name", PIPELINES)
def test_even_stages_are_no_slowdown(gputime, tmp_path, name):
    """Who sends and who receives are no peers: their work around a message differs."""
    report = ask(gputime, make_job(tmp_path, *PIPELINES[name]))
    assert report["facts"]["slowdown"] == pytest.approx(1, abs=0.01)
    assert report["facts"]["ideal_ns"] >= busy_ns(report)


@pytest.mark.parametrize("seed", range(71, 91))
def test_no_job_is_shorter_than_its_work(gputime, tmp_path, seed):
    """Transfers that overlap with compute are less exposed where ranks are even."""
    folder = make_job(tmp_path, "--random", seed)
    report, overlaps = ask(gputime, folder), json.loads((folder / "truth.json").read_text())["overlap"]
    assert report["facts"]["ideal_ns"] >= (compute_ns if overlaps else busy_ns)(report)


@pytest.mark.parametrize("seed", [13, 50, 86])
def test_drifting_pipelines_are_replayed(gputime, tmp_path, seed):
    """Senders whose kernels are recorded as longer than the receivers' by 1 ns."""
    folder = make_job(tmp_path, "--random", seed)
    facts = ask(gputime, folder)["facts"]
    assert facts["replay_ns"] == facts["recorded_ns"]
    assert facts["replay_free_error"] == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("seed", [28, 54, 87, 30449])
def test_few_regular_collectives_are_joined_by_steps(gputime, tmp_path, seed):
    """One all_reduce a step: lists that are a step apart fit by chance."""
    report = ask(gputime, make_job(tmp_path, "--random", seed))
    assert "step_differs" not in {issue["id"] for issue in report["issues"]}
    assert report["facts"]["replay_ns"] is not None


def test_a_late_stage_is_named_in_the_verdict(gputime, tmp_path):
    folder = make_job(tmp_path, *SMALL, "--noise", 0.01, *CULPRITS["deep stage"])
    note = ask(gputime, folder)["inputs"][0]["notes"][0]
    assert note.startswith("Rank 2 holds the others up in ") and "pipeline stage 2 (of 0 to 3)" in note


def test_the_rank_that_differs_is_named(gputime, tmp_path):
    folder = make_job(tmp_path, *SMALL, "--ranks", 8, "--tp", 4, "--noise", 0.01, "--desync", "5:3:add")
    finding = next(row for row in ask(gputime, folder)["tables"]["findings"]["rows"] if row["id"] == "desync")
    assert "Most of them are on rank 5: 1." in finding["evidence"]


def test_a_trace_that_cannot_be_read_is_named_after_the_verdict(gputime, tmp_path):
    folder = make_job(tmp_path, *SMALL, "--ranks", 4, "--noise", 0.01)
    traces_of(folder)[2].write_text("no trace")
    done = gputime("ranks", *traces_of(folder), "--width", "400")
    text = " ".join(done.stdout.decode().split())
    assert done.returncode == 1
    assert text.index("hold") < text.index("Left out: '") and "rank0002.json'" in text
