"""The first sentences of `gputime ranks`: who costs how much a step, in order of cost, and what is not known."""

import re

import pytest

import rank_traces
from rank_traces import Job
from simulated_jobs import make_job, traces_of

TENSOR = ("--ranks", 8, "--tp", 2)
NOISY = (*TENSOR, "--noise", 0.02)


def report_of(gputime, folder, *options):
    return gputime.json("ranks", *traces_of(folder), *options)


def words_of(report):
    return report["inputs"][0]["notes"][0]


def finding_of(report, name):
    return next((row for row in report["findings"] if row["id"] == name), None)


def us(text):
    value, unit = re.fullmatch(r"([\d.]+) (ns|us|ms|s)", text).groups()
    return float(value) * {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}[unit]


# ---- ranks that hide each other ----


def test_a_second_straggler_is_named_with_what_both_cost(gputime, tmp_path):
    both = report_of(gputime, make_job(tmp_path / "both", *NOISY, "--straggler", "5:slower:1.3", "--straggler",
                                       "2:slower:1.25"))
    none = report_of(gputime, make_job(tmp_path / "none", *NOISY))
    words, finding = words_of(both), finding_of(both, "straggler")
    assert words.startswith("Rank 5 holds the others up in 6 of 6 steps: slower kernels (")
    assert "; then rank 2: slower kernels (" in words
    alone, together = re.search(r"rank 5 alone would save ([\d.]+ us) a step, ranks 5 and 2 together ([\d.]+ us)\.",
                                words).groups()
    truth_us = (both["facts"]["recorded_ns"] - none["facts"]["recorded_ns"]) / 6 / 1e3
    assert us(alone) < 100 and us(together) == pytest.approx(truth_us, rel=0.05)
    assert finding["title"] == "Ranks 5 and 2 hold the others up: slower kernels" and finding["severity"] == "high"
    assert finding["recoverable_step_ns"] / 1e3 == pytest.approx(us(together), rel=0.01)
    assert "With rank 2 (slower kernels) like the median, too, the saving is" in " ".join(finding["evidence"])


def test_ranks_that_are_late_for_different_reasons(gputime, tmp_path):
    report = report_of(gputime, make_job(tmp_path, "--ranks", 16, "--tp", 2, "--pp", 2, "--straggler", "3:slower:1.2",
                                         "--straggler", "9:host:1.3", "--overlap", "--noise", 0.02))
    assert "; then rank 3: slower kernels (" in words_of(report)
    assert finding_of(report, "straggler")["title"] == (
        "Ranks 9 (the GPU idle, waiting for its CPU) and 3 (slower kernels) hold the others up")


def test_ranks_that_are_equally_late(gputime, tmp_path):
    """Neither gains anything alone."""
    report = report_of(gputime, make_job(tmp_path, "--ranks", 8, "--straggler", "5:slower:1.3", "--straggler",
                                         "2:slower:1.3", "--noise", 0.01))
    assert finding_of(report, "straggler")["title"] in ("Ranks 5 and 2 hold the others up: slower kernels",
                                                        "Ranks 2 and 5 hold the others up: slower kernels")


def test_three_ranks_in_turn(gputime, tmp_path):
    """None leads often enough for a verdict, and only all of them together gain anything."""
    faults = [word for rank in (5, 2, 7) for word in ("--straggler", f"{rank}:slower:1.3")]
    report = report_of(gputime, make_job(tmp_path, "--ranks", 8, "--steps", 9, "--noise", 0.02, *faults))
    words, facts = words_of(report), report["facts"]
    assert facts["verdict"] == "rotating" and facts["verdict_rank"] is None
    named = re.match(r"Ranks (\d), (\d) and (\d) hold the others up in turn; rank \1: slower kernels \(", words).groups()
    assert set(named) == {"2", "5", "7"}
    assert finding_of(report, "straggler")["recoverable_ns"] == pytest.approx(facts["replay_ns"] - facts["ideal_ns"], rel=0.1)


# ---- order and cost ----


def test_what_costs_most_comes_first(gputime, tmp_path):
    episode = ("--straggler", "2:more:1.1", "--episode", "4:1:host:6")
    words = words_of(report_of(gputime, make_job(tmp_path / "episode", *NOISY, *episode)))
    assert words.startswith("Step 4: rank 1's host was 6.002 ms late; rank 2 holds the others up in 6 of 6 steps: more ")
    small = ("--straggler", "2:more:1.6", "--episode", "4:1:host:2.5")
    words = words_of(report_of(gputime, make_job(tmp_path / "small", *NOISY, *small)))
    assert words.startswith("Rank 2 holds the others up in ") and "; step 4: rank 1's host was " in words


def test_a_slow_link_is_the_first_sentence(gputime, tmp_path):
    report = report_of(gputime, make_job(tmp_path, *NOISY, "--slow-link", "tp1:3"))
    start, cost = re.match(r"(The link of tp group 2 \(ranks 2,3\) is slow: .*), which costs ([\d.]+ us) a step; otherwise "
                           r"no rank holds the others up in most steps\.", words_of(report)).groups()
    assert us(cost) == pytest.approx(finding_of(report, "slow_link")["recoverable_step_ns"] / 1e3, rel=0.01)


def test_a_hot_expert_is_the_cause(gputime, tmp_path):
    options = ("--ranks", 8, "--ep", 8, "--noise", 0.03)
    report = report_of(gputime, make_job(tmp_path / "hot", *options, "--hot-expert", "6:0.4"))
    even = report_of(gputime, make_job(tmp_path / "even", *options))
    assert re.match(r"Rank 6 holds the others up in 6 of 6 steps: it receives up to 3\.\d+ times the mean in all_to_alls "
                    r"\(hot expert\), more compute \(", words_of(report))
    finding = finding_of(report, "hot_expert")
    assert report["findings"][0]["id"] == "hot_expert" and finding["saving_by"] == "simulation"
    truth_ns = report["facts"]["recorded_ns"] - even["facts"]["recorded_ns"]
    assert finding["recoverable_ns"] == pytest.approx(truth_ns, rel=0.1)


# ---- nobody ----


@pytest.mark.parametrize("options, stages, batches, ideal", [
    (("--pp", 8, "--noise", 0.02), 8, 16, 30.4), (("--pp", 8, "--gpipe", "--micro-batches", 4), 8, 4, 63.6),
    (("--pp", 2, "--gpipe"), 2, 4, 20.0)], ids=["one by one", "few micro-batches", "two stages"])
def test_an_even_pipeline_waits_for_its_schedule(gputime, tmp_path, options, stages, batches, ideal):
    report = report_of(gputime, make_job(tmp_path, "--ranks", 8, *options))
    assert words_of(report).startswith(
        f"No rank holds the others up: the pipeline schedule explains the waiting ({stages} stages, {batches} micro-batches: "
        f"ideal bubble {ideal}% of a step), which more micro-batches would shrink. Waiting takes ")
    assert report["findings"] == []


def test_the_last_rank_is_no_culprit_if_it_takes_no_longer(gputime, tmp_path):
    report = report_of(gputime, make_job(tmp_path, *TENSOR, "--straggler", "2:slower:1.015"))
    assert words_of(report).startswith("No rank holds the others up: rank 2 comes last in 6 of 6 steps, but takes less than "
                                       "2% longer than the median rank itself.")


def test_late_between_the_steps(gputime, tmp_path, monkeypatch):
    """The host of rank 1 begins each step late: its windows are as long as those of the other."""
    monkeypatch.setattr(rank_traces, "LAUNCH_AHEAD", 5_000)
    job = Job(2)

    def body(step):
        for rank in job.ranks:
            rank.compute(100_000)
        job.collective((0, 1), 30_000)

    for step in range(1, 13):
        job.ranks[1].idle(40_000)
        job.step(step, lambda: body(step))
    job.write(tmp_path / "job")
    words = words_of(gputime.json("ranks", tmp_path / "job"))
    assert words.startswith("Rank 1 holds the others up in ") and " a step, between the steps)" in words


def test_too_few_steps(gputime, tmp_path):
    words = words_of(report_of(gputime, make_job(tmp_path, *TENSOR, "--steps", 2, "--straggler", "2:more:1.3")))
    assert words.startswith("Too few steps to say whether one rank holds the others up: the traces have two, three are "
                            "needed; so far rank 2 has 100% of the charges.")


def test_nothing_is_said_of_waits_that_are_not_known(gputime, tmp_path):
    job = Job(2)

    def body(step):
        for rank in job.ranks:
            rank.compute(100_000)
        job.collective((0, 1), 30_000)

    for step in range(1, 5):
        job.step(step, lambda: body(step))
    job.write(tmp_path / "job", with_metadata=False)
    words = words_of(gputime.json("ranks", tmp_path / "job"))
    assert words.startswith("Who waited is not known") and "%" not in words


# ---- what was not seen ----


def test_a_trace_that_was_cut(gputime, tmp_path):
    folder = make_job(tmp_path, *NOISY, "--straggler", "5:slower:1.3")
    path = traces_of(folder)[5]
    path.write_bytes(path.read_bytes()[:path.stat().st_size // 2])
    report = report_of(gputime, folder)
    assert "The trace of rank 5 ends in step 2; the last step is 6." in words_of(report)
    assert report["tables"]["episodes"]["rows"] == [] and finding_of(report, "rank_episode") is None


def test_the_culprit_has_no_trace(gputime, tmp_path):
    folder = make_job(tmp_path, *NOISY, "--straggler", "5:slower:1.3")
    traces_of(folder)[5].unlink()
    assert words_of(report_of(gputime, folder)).startswith(
        "No rank that was read holds the others up in most steps; rank 5, which has no trace, may.")


def test_collectives_in_graphs_hide_what_a_rank_costs(gputime, tmp_path):
    report = report_of(gputime, make_job(tmp_path, *TENSOR, "--graph", "--straggler", "2:slower:1.3"))
    words = words_of(report)
    assert words.startswith("Rank 2 holds the others up in 5 of 6 steps: slower kernels (")
    assert "384 of 528 communication kernels could not be matched between ranks" in words
    assert "waits and costs are lower bounds. '--match names'" in words
    finding = finding_of(report, "straggler")
    assert finding["recoverable_ns"] is None and "That is a lower bound" in " ".join(finding["evidence"])


def test_shares_are_of_the_time_in_steps(gputime, shared):
    paths = [shared(f"data/h200/ranks/nsys/rank{rank}.nsys-rep") for rank in range(4)]
    words = words_of(gputime.json("ranks", "--step-tag", "step", *paths))
    assert "Waiting takes 19.8% of the ranks' time in steps." in words
    assert "a step would take 29.48 ms instead of 32.51 ms." in words
    assert "69% of all waiting is outside the steps, most of it for rank 2 (the GPU idle, waiting for its CPU)." in words


def test_where_the_exposed_wait_went_adds_up(gputime, tmp_path):
    folder = make_job(tmp_path, "--ranks", 8, "--ep", 8, "--hot-expert", "6:0.4", "--noise", 0.03)
    text = gputime("ranks", *traces_of(folder), "--width", "200").stdout.decode()
    job = text[text.index("\nJob\n"):text.index("What to do next")]
    parts = [us(found) for title in ("Charged to ranks", "Charged to other transfers", r"Nobody's \(spread\)",
                                     "Began before the trace", "Unresolved")
             for found in re.findall(title + r" +([\d.]+ [a-z]+)", job)]
    assert sum(parts) == pytest.approx(us(re.search(r"Exposed wait, all ranks +([\d.]+ ms)", job).group(1)), rel=2e-3)
