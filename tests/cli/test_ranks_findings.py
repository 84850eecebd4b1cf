"""Findings about a job: each where it is planted, with the saving of the replay, and none in healthy jobs."""

import json

import pytest

from rank_traces import BASE, Job, document, two_by_two
from simulated_jobs import make_job, traces_of

HEALTHY = {
    "data": ("--ranks", 8, "--noise", 0.02),
    "tensor": ("--ranks", 8, "--tp", 2, "--noise", 0.02),
    "pipeline": ("--ranks", 8, "--pp", 4, "--noise", 0.02),
    "experts": ("--ranks", 8, "--ep", 4, "--noise", 0.02),
    "all": ("--ranks", 16, "--tp", 2, "--pp", 2, "--ep", 2, "--noise", 0.02, "--skew"),
}
TENSOR = ("--ranks", 8, "--tp", 2, "--noise", 0.02)
PLANTED = {
    "more": ("straggler", (*TENSOR, "--straggler", "3:more:1.4"), "Rank 3 holds the others up: more compute", 0.1),
    "slower": ("straggler", (*TENSOR, "--straggler", "3:slower:1.4"), "Rank 3 holds the others up: slower kernels", 0.1),
    "late host": ("straggler", (*TENSOR, "--straggler", "3:host:1.4"), "Rank 3 holds the others up: the GPU idle", 0.1),
    "episode": ("rank_episode", (*TENSOR, "--episode", "3:2:host:6"), "Rank 2 holds the others up in step 3: the GPU", 0.2),
    "long step": ("rank_episode", (*TENSOR, "--episode", "3:2:compute:6"), "Rank 2 holds the others up in step 3: more", 0.2),
    "hot expert": ("hot_expert", ("--ranks", 8, "--ep", 4, "--hot-expert", "5:0.6"), "Rank 5 receives most", None),
    "deep stage": ("pipeline_bubble", ("--ranks", 4, "--pp", 4, "--straggler", "1:more:2"), "Pipeline bubbles are up to",
                   None),
    "slow tensor link": ("slow_link", (*TENSOR, "--slow-link", "tp1:3"), "The link of tp group 2 (ranks 2,3) is slow: 3.", 0.1),
    "slow data link": ("slow_link", (*TENSOR, "--slow-link", "dp0:3"), "The link of dp group 5 (ranks 0-6:2) is slow: 3.", 0.1),
    "left out": ("desync", ("--ranks", 4, "--tp", 2, "--desync", "1:2"), "Ranks of tp group 1 (ranks 0,1) differ", None),
    "left out of eight": ("desync", ("--ranks", 8, "--noise", 0.02, "--desync", "3:4"),
                          "Rank 3 leaves out collective 3 of default_pg group 0 (ranks 0-7): all_reduce in step 4", None),
    "added to eight": ("desync", ("--ranks", 8, "--noise", 0.02, "--desync", "3:4:add"),
                       "Rank 3 alone runs collective 4 of default_pg group 0 (ranks 0-7): all_reduce in step 4", None),
    "added": ("desync", ("--ranks", 4, "--tp", 2, "--desync", "2:3:add"), "Ranks of tp group 2 (ranks 2,3) differ", None),
}


def findings_of(gputime, folder):
    report = gputime.json("ranks", *traces_of(folder))
    return report, {finding["id"]: finding for finding in report["findings"]}


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy(gputime, tmp_path, name):
    folder = make_job(tmp_path, *HEALTHY[name])
    assert findings_of(gputime, folder)[1] == {}
    text = " ".join(gputime("ranks", *traces_of(folder)).stdout.decode().split())
    assert "No rank" in text or "The ranks are even" in text or "Ranks hold each other up in turn" in text
    assert "No findings." in text


@pytest.mark.parametrize("name", PLANTED)
def test_planted(gputime, tmp_path, name):
    wanted, options, title, share = PLANTED[name]
    report, found = findings_of(gputime, make_job(tmp_path, *options))
    finding = found[wanted]
    assert finding["title"].startswith(title) and finding["evidence"] and finding["advice"] and finding["rule"]
    assert finding["table"] in report["tables"]
    if share is not None:
        facts = report["inputs"][0]["facts"]
        assert finding["saving_by"] == "simulation"
        assert finding["recoverable_ns"] >= share * facts["replay_ns"]
        assert finding["share"] == pytest.approx(finding["recoverable_ns"] / facts["replay_ns"])
    others = set(found) - {wanted}
    assert others <= ({"straggler"} if wanted in ("hot_expert", "pipeline_bubble") else set())


def test_saving_is_what_the_job_without_the_slow_link_takes(gputime, tmp_path):
    """The generator runs the same job with the link as it should be."""
    slow, found = findings_of(gputime, make_job(tmp_path / "slow", *TENSOR, "--slow-link", "tp1:3"))
    right, _ = findings_of(gputime, make_job(tmp_path / "right", *TENSOR))
    lengths = [report["inputs"][0]["facts"]["recorded_ns"] for report in (slow, right)]
    assert found["slow_link"]["recoverable_ns"] == pytest.approx(lengths[0] - lengths[1], rel=0.05)


def test_what_is_left_out_is_not_unread(gputime, tmp_path):
    report, found = findings_of(gputime, make_job(tmp_path, "--ranks", 8, "--noise", 0.02, "--desync", "3:4"))
    assert {issue["id"]: issue["count"] for issue in report["issues"]} == {"collective_left_out": 1}
    assert found["desync"]["title"].startswith("Rank 3 leaves out collective")
    assert report["tables"]["groups"]["rows"][0]["first_mismatch"] == 3


def test_speeds_of_groups(gputime, tmp_path):
    report, _ = findings_of(gputime, make_job(tmp_path, *TENSOR, "--slow-link", "tp1:3"))
    rows = {row["label"]: row for row in report["tables"]["group_speeds"]["rows"]}
    assert rows.pop("default_pg 0-7")["slow_factor"] is None  # there is no other of its kind
    assert set(rows) == {"tp 0,1", "tp 2,3", "tp 4,5", "tp 6,7", "dp 0-6:2", "dp 1-7:2"}
    for label, row in rows.items():
        assert row["slow_factor"] == pytest.approx(3 if label == "tp 2,3" else 1, rel=0.05)
        assert row["busbw_gbs"] * row["slow_factor"] == pytest.approx(row["usual_busbw_gbs"], rel=0.02)
        assert (row["slow_ns"] > 0) == (label == "tp 2,3") == (row["gain_ns"] is not None)


def test_several_pipelines_have_the_stages_of_one(gputime, tmp_path):
    report, _ = findings_of(gputime, make_job(tmp_path, "--ranks", 8, "--pp", 4, "--micro-batches", 6))
    rows = report["tables"]["bubbles"]["rows"]
    assert {row["stages"] for row in rows} == {4} and {row["stage"] for row in rows} == {0, 1, 2, 3}
    assert all(row["ideal_share"] == pytest.approx(3 / 9) for row in rows)


def test_ranks_on_one_gpu(gputime, shared):
    paths = [shared(f"data/h200/ranks/nsys/rank{rank}.nsys-rep") for rank in range(4)]
    found = {finding["id"]: finding for finding in gputime.json("ranks", "--step-tag", "step", *paths)["findings"]}
    assert found["shared_gpu"]["title"] == "4 ranks share a GPU with another rank"
    assert found["shared_gpu"]["recoverable_ns"] is None


# ---- text ----


@pytest.fixture(scope="module")
def culprit(tmp_path_factory):
    return traces_of(make_job(tmp_path_factory.mktemp("job"), *TENSOR, "--straggler", "3:more:1.4"))


def test_text_has_the_verdict_then_findings_then_tables(gputime, culprit):
    text = gputime("ranks", *culprit).stdout.decode()
    places = [text.index(part) for part in ("Rank 3 holds the others up in 6 of 6 steps", "What to do next",
                                            "1. Rank 3 holds the others up: more compute", "\nRanks\n",
                                            "Who is charged for the waiting")]
    assert places == sorted(places) and "saves" in text and "simulated" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "(not shown" not in text


def test_why(gputime, culprit):
    done = gputime("ranks", *culprit, "--why", "straggler")
    text = " ".join(done.stdout.decode().split())
    assert "straggler: One rank has the largest guilt in most steps" in text and "Severity high" in text
    assert "It is charged with" in text and "[straggler] see --table blame" in text and "Who is charged" not in text
    absent = " ".join(gputime("ranks", *culprit, "--why", "desync").stdout.decode().split())
    assert "Not reported: the rule found nothing." in absent
    report = gputime.json("ranks", *culprit, "--why", "straggler")
    assert [finding["id"] for finding in report["tables"]["findings"]["rows"]] == ["straggler"]
    failed = gputime("ranks", *culprit, "--why", "straglers")
    assert failed.returncode == 2 and b"available: straggler, rank_episode" in failed.stderr


def test_many_ranks_show_the_most_guilty(gputime, tmp_path):
    paths = traces_of(make_job(tmp_path, "--ranks", 40, "--tp", 2, "--steps", 3, "--layers", 1, "--kernels", 2,
                               "--straggler", "33:more:1.5", "--noise", 0.02))
    text = gputime("ranks", *paths).stdout.decode()
    table = text[text.index("\nRanks\n"):]
    rows = table.split("─\n", 1)[1].splitlines()
    assert rows[0].split()[0] == "33" and "and 24 more rows (--table ranks --top 0 shows all)" in rows[16]
    charged = [float(row.split()[1].replace(",", "")) for row in rows[:16]]
    assert charged == sorted(charged, reverse=True)
    report = gputime.json("ranks", *paths)
    assert [row["rank"] for row in report["tables"]["ranks"]["rows"]] == list(range(40))
    csv = gputime("ranks", *paths, "--csv").stdout.decode().splitlines()
    assert len(csv) == 41
    few = gputime("ranks", *paths[:10]).stdout.decode()
    shown = few[few.index("\nRanks\n"):].split("─\n", 1)[1].splitlines()[:10]
    assert [int(row.split()[0]) for row in shown] == list(range(10))


@pytest.mark.parametrize("format", ["--md", "--csv", "--json", "--html"])
def test_formats(gputime, culprit, format):
    text = gputime("ranks", *culprit, format).stdout.decode()
    if format == "--csv":
        assert text.splitlines()[0].startswith("input,rank,") or text.splitlines()[0].startswith("rank,")
    else:
        assert "Rank 3 holds the others up" in text
    if format == "--json":
        assert json.loads(text)["findings"][0]["id"] == "straggler"


def test_unreadable_ranks_are_left_out(gputime, culprit, tmp_path):
    broken = tmp_path / "rank0009.json"
    broken.write_bytes(b"\x00\x01\x02\x03" * 1000)
    done = gputime("ranks", *culprit, broken)
    assert done.returncode == 1 and b"rank0009.json" in done.stderr
    assert b"Rank 3 holds the others up" in done.stdout


def test_time_before_the_steps_hides_nothing(gputime, tmp_path):
    """A second of work before the first step, as in every job: a rank that costs the steps much is named all the same."""
    def change(rank):
        rank.kernels.insert(0, ["warmup_kernel", BASE - 1_000_000_000, BASE - 5_000_000, {}])
        rank.steps = [(number, begin + 1, end + 1) for number, begin, end in rank.steps]
        rank.late = {index + 1 for index in rank.late}
        return rank

    def severities(folder):
        return {row["id"]: row["severity"] for row in gputime.json("ranks", folder)["findings"]}

    job = two_by_two()
    job.write(tmp_path / "without")
    job.write(tmp_path / "with", change=change)
    assert severities(tmp_path / "with") == severities(tmp_path / "without")
    assert severities(tmp_path / "with")["straggler"] == "high"
    assert "; rank 2 holds the others up in 6 of 6 steps" in " ".join(gputime("ranks", tmp_path / "with").stdout.decode().split())


def test_how_late_a_host_was(gputime, tmp_path):
    """It is what those waited who waited for it, however many others there are."""
    def body(step):
        for rank in job.ranks:
            if step == 4 and rank.number == 1:
                rank.idle(15_000_000)
            rank.compute(100_000)
        for first in (0, 2, 4, 6):
            job.collective((first, first + 1), 300_000)

    job = Job(8)
    for step in range(1, 9):
        job.step(step, lambda: body(step))
    job.write(tmp_path / "job")
    assert "Step 4: rank 1's host was 15 ms late" in " ".join(gputime("ranks", tmp_path / "job").stdout.decode().split())


def test_hosts_of_a_group(gputime, tmp_path):
    """Ranks of a host need not follow each other."""
    def body():
        for rank in job.ranks:
            rank.compute(100_000)
        for members, length in (((0, 1, 2, 3), 900_000), ((4, 5, 6, 7), 300_000)):
            job.collective(members, length, nelems=1 << 20, group=f"dp{members[0]}")

    job = Job(8)
    for step in range(1, 7):
        job.step(step, body)
    for rank in job.ranks:
        trace = document(rank) | {"host_name": f"node{rank.number % 2}"}
        (tmp_path / f"rank{rank.number}.json").write_text(json.dumps(trace))
    found = {finding["id"]: finding for finding in gputime.json("ranks", tmp_path)["findings"]}
    assert "Its members are on 2 hosts." in " ".join(map(str, found["slow_link"]["evidence"]))
