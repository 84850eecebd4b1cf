"""Many ranks: laws of the report, on made jobs whose waits are known and on the samples."""

import collections
import gzip
import json
import re
import shutil
import subprocess

import pytest

from rank_traces import Job, drifting, numbered, pipeline, shifted, two_by_two, without
from samples import DATA, ROOT, with_shared

SAMPLES = with_shared([], "data/h200/ranks/*_rank0.json.gz")
PARTS = ("compute_ns", "exposed_transfer_ns", "exposed_wait_ns", "exposed_memory_ns", "idle_ns")
IDLE = ("idle_sync_ns", "idle_host_ns", "idle_launch_ns", "idle_dependency_ns", "idle_unknown_ns")


def facts_of(report):
    return report["inputs"][0]["facts"]


def rows_of(report, table):
    """Without the name of the input, which is the same in all."""
    return [{key: value for key, value in row.items() if key != "input"} for row in report["tables"][table]["rows"]]


def issues_of(report):
    return {issue["id"]: issue["count"] for issue in report["issues"]}


def check_laws(report):
    facts, ranks = facts_of(report), rows_of(report, "ranks")
    for row in ranks + [{**row, "span_ns": row["step_ns"]} for row in rows_of(report, "rank_steps")]:
        parts = [row[part] or 0 for part in PARTS]  # waits may not be known
        assert sum(parts) == row["span_ns"] and all(part >= 0 for part in parts), row
    for row in ranks:
        assert sum(row[part] for part in IDLE) == row["idle_ns"]
        assert row["own_ns"] == row["compute_ns"] + row["exposed_memory_ns"] + row["idle_ns"]
    check_blame(report)
    kinds = {row["id"]: row["kind"] for row in rows_of(report, "job_collectives")}
    least = {}
    for row in rows_of(report, "collective_ranks"):
        assert 0 <= row["exposed_wait_ns"] <= row["wait_ns"] <= row["dur_ns"], row
        least[row["id"]] = min(row["wait_ns"], least.get(row["id"], row["wait_ns"]))
    assert all(least[number] == 0 for number, kind in kinds.items() if kind == "sync")
    assert facts["collectives"] == len(kinds) == sum(facts.get(f"rungs_{rung}", 0) for rung in
                                                     ("comms_id", "seq", "hash", "order", "names"))


def check_blame(report):
    facts, blame, ranks = facts_of(report), rows_of(report, "blame"), rows_of(report, "ranks")
    if facts["exposed_wait_ns"] is None:
        assert not blame and all(row[key] is None for row in ranks for key in ("exposed_wait_ns", "charged_ns"))
        assert facts["collectives"] == 0 and facts["charged_ns"] is None and facts["spread_ns"] is None
        return
    waited = sum(row["exposed_wait_ns"] for row in ranks)
    assert facts["exposed_wait_ns"] == waited == sum(row["charged_ns"] for row in blame)
    assert waited == sum(facts[key] for key in ("charged_ns", "charged_transfer_ns", "spread_ns", "window_ns",
                                                "unresolved_ns"))
    assert [row["charged_ns"] for row in blame] == sorted((row["charged_ns"] for row in blame), reverse=True)
    for rank in ranks:
        guilt = sum(row["charged_ns"] for row in blame if row["rank"] == rank["rank"] and row["reason"] != "transfer")
        assert guilt == rank["charged_ns"]
    assert facts["charged_ns"] == sum(row["charged_ns"] for row in ranks)


def waits_of(report):
    """By rank and start on it."""
    return {(row["rank"], row["start_ns"]): row["wait_ns"] for row in rows_of(report, "collective_ranks")}


@pytest.fixture(scope="module")
def made(gputime, tmp_path_factory):
    """A job of four ranks, its traces and its report."""
    job = two_by_two()
    paths = job.write(tmp_path_factory.mktemp("job"))
    return job, paths, gputime.json("ranks", *paths)


# ---- made jobs ----


def test_exact(made):
    """Members leave together, so nothing is left that nobody's lateness explains, and the replay is exact."""
    job, _, report = made
    check_laws(report)
    facts = facts_of(report)
    assert facts["spread_ns"] == 0 and facts["replay_error"] == 0 and facts["replay_free_error"] == 0
    assert facts["rungs_order"] == facts["collectives"] == 6 * 8
    expected = {(rank.number, start - rank.kernels[0][1]): wait for rank in job.ranks for start, _, wait in rank.waits}
    assert waits_of(report) == expected
    assert not report["issues"]


def test_long_times(gputime, tmp_path):
    """Sums of parts beyond 32 bits of ns: the same job, a thousand times as slow."""
    job = two_by_two(scale=1000, late=(4, 1, 15_000_000_000))
    report = gputime.json("ranks", *job.write(tmp_path / "slow"))
    check_laws(report)
    assert {row["rank"]: row["compute_ns"] for row in rows_of(report, "ranks")} == {
        rank.number: sum(end - start for name, start, end, _ in rank.kernels if "gemm" in name) for rank in job.ranks}
    assert facts_of(report)["replay_error"] == 0 and facts_of(report)["verdict_rank"] == 2
    assert [(row["step"], row["rank"]) for row in rows_of(report, "episodes")] == [(4, 1)]


def test_aligned_starts(made):
    """A window begins where the one before ends, the first one with the first op."""
    job, _, report = made
    first = min(rank.kernels[0][1] for rank in job.ranks)
    expected = {(number, rank.number): (rank.kernels[begin - 1][2] if begin else rank.kernels[0][1]) - first
                for rank in job.ranks for number, begin, _ in rank.steps}
    rows = rows_of(report, "rank_steps")
    assert {(row["step"], row["rank"]): row["aligned_start_ns"] for row in rows} == expected and len(rows) == 24


def test_verdict(made):
    _, _, report = made
    facts = facts_of(report)
    assert (facts["verdict"], facts["verdict_rank"], facts["verdict_reason"]) == ("pinned", 2, "compute_more")
    assert [(row["step"], row["rank"]) for row in rows_of(report, "episodes")] == [(4, 1)]
    ranks = {row["rank"]: row for row in rows_of(report, "ranks")}
    assert ranks[2]["leads"] == 6 and ranks[2]["gain_ns"] > 0 and 13_000_000 <= ranks[1]["gain_ns"] <= 15_000_000
    assert facts["slowdown"] > 1
    kernels = {row["kernel"] for row in rows_of(report, "blame") if row["rank"] == 2 and row["reason"] == "compute_more"}
    assert kernels == {"extra_gemm_kernel"}


def test_sums_over_steps_say_of_how_many(gputime, made):
    _, paths, _ = made
    lines = gputime("ranks", *paths, "--table", "job_measures").stdout.decode().splitlines()
    heading = next(line for line in lines if line.startswith("Measure "))
    step = next(line for line in lines if line.startswith("step "))
    assert "Steps" in heading and "6" in step.split()


def test_first_line(gputime, made):
    _, paths, _ = made
    text = " ".join(gputime("ranks", *paths).stdout.decode().split())
    assert "rank 2 holds the others up in 6 of 6 steps: more compute (extra_gemm_kernel, +1.2 ms a step)" in text
    assert "Step 4: rank 1's host was 15.01 ms late; rank 2" in text and "% of the ranks' time. With all ranks like" in text
    report = gputime.json("ranks", *paths)
    facts = facts_of(report)
    shown = re.search(r"like the median a step would take ([\d.]+) ms instead of ([\d.]+) ms\.", text)
    lengths = collections.defaultdict(list)
    for row in report["tables"]["rank_steps"]["rows"]:
        lengths[row["step"]].append(row["step_ns"])
    step_ns = sum(sorted(rows)[(len(rows) - 1) // 2] for rows in lengths.values()) / len(lengths)
    less_ns = (facts["replay_ns"] - facts["ideal_ns"]) / len(lengths)
    assert [float(ms) for ms in shown.groups()] == pytest.approx([(step_ns - less_ns) / 1e6, step_ns / 1e6], rel=1e-3)


@pytest.mark.parametrize("by_ns", [7_300_000, -123_000_000_000])
@pytest.mark.parametrize("number", [0, 2])
def test_other_clock(gputime, made, tmp_path, number, by_ns):
    """Only the offset of a clock depends on the clock."""
    job, _, before = made
    after = gputime.json("ranks", *job.write(tmp_path / "shifted", shifted(number, by_ns)))
    assert facts_of(after) == facts_of(before)
    for table in before["tables"]:
        if table != "clocks":
            assert rows_of(after, table) == rows_of(before, table), table
    offsets = [{row["rank"]: row["offset_ns"] for row in rows_of(report, "clocks")} for report in (before, after)]
    moved = {rank: offsets[1][rank] - offsets[0][rank] for rank in offsets[0]}
    assert moved == ({rank: -by_ns for rank in (1, 2, 3)} | {0: 0} if number == 0 else {0: 0, 1: 0, 2: by_ns, 3: 0})
    still = [[{**row, "offset_ns": 0} for row in rows_of(report, "clocks")] for report in (before, after)]
    assert still[0] == still[1]


def test_drift(gputime, tmp_path):
    """A clock that is 40 ppm too fast changes no verdict, and is found where the trace is long enough."""
    job = two_by_two(steps=120, late=(60, 1, 150_000_000), scale=10)
    before = gputime.json("ranks", *job.write(tmp_path / "right"))
    after = gputime.json("ranks", *job.write(tmp_path / "wrong", drifting(3, 40)))
    check_laws(after)
    for fact in ("verdict", "verdict_rank", "verdict_reason", "collectives"):
        assert facts_of(after)[fact] == facts_of(before)[fact], fact
    found = [[(row["step"], row["rank"], row["reason"]) for row in rows_of(report, "episodes")]
             for report in (before, after)]
    assert found[0] == found[1]
    drifts = {row["rank"]: row["drift_ppm"] for row in rows_of(after, "clocks")}
    assert drifts[3] == pytest.approx(40, abs=0.5) and drifts[1] == pytest.approx(0, abs=0.5)


def test_cut(gputime, made, tmp_path):
    """A trace that begins later is compared from there on; what is left has the same waits."""
    job, _, before = made
    after = gputime.json("ranks", *job.write(tmp_path / "cut", without(1, range(8))))
    check_laws(after)
    waits = waits_of(before)
    assert all(waits[key] == wait for key, wait in waits_of(after).items())
    assert facts_of(after)["collectives"] == 48 - 8
    assert set(issues_of(after)) == {"collective_outside_window"}


def test_dropped(gputime, made, tmp_path):
    """A kernel that is missing inside leaves one hole, and all others are matched as before."""
    job, _, before = made
    after = gputime.json("ranks", *job.write(tmp_path / "dropped", without(3, [21])))
    check_laws(after)
    waits = waits_of(before)
    assert all(waits[key] == wait for key, wait in waits_of(after).items())
    assert facts_of(after)["collectives"] == 48 - 1 and issues_of(after)["collective_unmatched"] == 1
    holes = [row for row in rows_of(after, "groups") if row["unmatched"]]
    assert len(holes) == 1 and holes[0]["first_mismatch"] is not None


@pytest.mark.parametrize("key, rung, value", [
    ("Seq", "seq", lambda args: args["made sequence"]),
    ("Comms Id", "comms_id", lambda args: hash((args["Process Group Name"], args["made sequence"])) & (1 << 60) - 1),
])
def test_numbers(gputime, made, tmp_path, key, rung, value):
    """Numbers that all ranks know give the same as the order of time."""
    job, _, before = made
    after = gputime.json("ranks", *job.write(tmp_path / "numbered", numbered(key, value)))
    assert facts_of(after)[f"rungs_{rung}"] == 48
    assert waits_of(after) == waits_of(before)
    assert rows_of(after, "blame") == rows_of(before, "blame")


def test_stride(gputime, made, tmp_path):
    """Members that are given by a first rank and a stride are the same members."""
    job, _, before = made

    def change(rank):
        for kernel in rank.kernels:
            if kernel[3]:
                members = json.loads(kernel[3].pop("Process Group Ranks"))
                kernel[3] |= {"Process Group Ranks": "[0, ...]", "Global rank start": members[0],
                              "Global rank stride": members[1] - members[0]}
        return rank

    after = gputime.json("ranks", *job.write(tmp_path / "strides", change))
    assert waits_of(after) == waits_of(before)
    assert rows_of(after, "groups") == rows_of(before, "groups")


def test_renumbered(gputime, made, tmp_path):
    """Other numbers of ranks change the numbers alone."""
    job, _, before = made
    other = {0: 3, 1: 0, 2: 1, 3: 2}

    def change(rank):
        for kernel in rank.kernels:
            if kernel[3]:
                members = [other[number] for number in json.loads(kernel[3]["Process Group Ranks"])]
                kernel[3]["Process Group Ranks"] = str(members)
        rank.number = other[rank.number]
        return rank

    after = gputime.json("ranks", *job.write(tmp_path / "renumbered", change))
    check_laws(after)
    assert waits_of(after) == {(other[rank], start): wait for (rank, start), wait in waits_of(before).items()}
    assert facts_of(after)["verdict_rank"] == other[2]
    assert facts_of(after)["exposed_wait_ns"] == facts_of(before)["exposed_wait_ns"]


def test_pipeline(gputime, tmp_path):
    report = gputime.json("ranks", *pipeline().write(tmp_path / "pipeline"))
    check_laws(report)
    bubbles = rows_of(report, "bubbles")
    assert {(row["rank"], row["stage"]) for row in bubbles} == {(rank, rank) for rank in range(4)}
    assert all(row["stages"] == 4 and row["micro_batches"] == 4 for row in bubbles)
    assert all(row["ideal_share"] == pytest.approx(3 / 7) for row in bubbles)
    assert {row["op"] for row in rows_of(report, "job_collectives")} == {"send_recv"}
    assert len(rows_of(report, "job_collectives")) == 4 * 4 * 6
    assert facts_of(report)["verdict_rank"] == 1 and facts_of(report)["replay_error"] == 0


def test_threads_and_order(gputime, made):
    """Neither the number of threads nor the order of the arguments makes a difference."""
    _, paths, report = made
    assert gputime.json("ranks", *reversed(paths), "--threads", "1") == report
    assert gputime.json("ranks", *paths, "--threads", "3") == report


# ---- the command ----


def test_counts_of_the_job(made):
    job, _, report = made
    (entry,) = report["inputs"]
    assert entry["ops"] == entry["kernels"] == sum(len(rank.kernels) for rank in job.ranks)
    assert [entry[key] for key in ("calls", "ranges", "cpu_ops")] == [None] * 3


def test_directory(gputime, made):
    _, paths, report = made
    assert gputime.json("ranks", paths[0].parent) == report


def test_unreadable(gputime, made, tmp_path):
    """What cannot be read is named; the report has the others."""
    job, _, _ = made
    paths = job.write(tmp_path / "some")
    paths[1].write_text("no trace")
    paths[2].write_bytes(b"")
    done = gputime("ranks", tmp_path / "some", tmp_path / "absent.json", "--json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert [row["rank"] for row in rows_of(report, "ranks")] == [0, 3]
    assert issues_of(report)["rank_missing_trace"] == 2
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 3 and all(name in "".join(lines) for name in ("rank1.json", "rank2.json", "absent.json"))


@pytest.mark.parametrize("packing, program", [("gz", "gzip"), ("zst", "zstd"), ("xz", "xz")])
def test_directories_of_packed_traces(gputime, tmp_path, packing, program):
    if not shutil.which(program) or packing == "xz" and b"no xz" in gputime("version").stdout:
        pytest.skip(f"needs {program}, and a build that reads it")
    for number in range(2):
        with open(tmp_path / f"rank{number}.json.{packing}", "wb") as file:
            raw = gzip.decompress((DATA / f"ranks/rank{number}.json.gz").read_bytes())
            file.write(subprocess.run([program, "-c"], input=raw, stdout=subprocess.PIPE, check=True).stdout)
    report = gputime.json("ranks", tmp_path)
    assert [row["rank"] for row in rows_of(report, "ranks")] == [0, 1]
    assert gputime.json("sql", tmp_path, "select count(distinct input) as n from ops")["tables"]["rows"]["rows"][0]["n"] == 2
    listed = {row["key"]: row["detail"].split() for row in gputime.json("list", "inputs")["tables"]["inputs"]["rows"]}
    assert all(f"{suffixes[0]}.{packing}" in suffixes for suffixes in listed.values())


def test_nothing_to_read(gputime, tmp_path):
    (tmp_path / "empty").mkdir()
    done = gputime("ranks", tmp_path / "empty")
    assert done.returncode == 1 and b"no traces in" in done.stderr
    done = gputime("ranks", tmp_path / "absent.json")
    assert done.returncode == 1 and b"absent.json" in done.stderr


def test_exports_next_to_reports(gputime):
    """Of a report and its exports in one folder only the report is read."""
    done = gputime("ranks", DATA / "nsys", "--json")
    assert done.returncode == 0, done.stderr
    assert len(rows_of(json.loads(done.stdout), "ranks")) == len(list((DATA / "nsys").glob("*.nsys-rep")))


def test_ranks_of_file_names(gputime, made, tmp_path):
    job, _, before = made
    report = gputime.json("ranks", *job.write(tmp_path / "named", with_rank=False))
    assert {row["rank_source"] for row in rows_of(report, "ranks")} == {"file name"}
    assert issues_of(report) == {"rank_from_file_name": 4}
    assert waits_of(report) == waits_of(before)
    report = gputime.json("ranks", *job.write(tmp_path / "order", with_rank=False, name="trace_{}.json"))
    assert {row["rank_source"] for row in rows_of(report, "ranks")} == {"order"}
    assert issues_of(report) == {"rank_missing": 4}
    assert waits_of(report) == waits_of(before)


def test_same_trace_twice(gputime, made):
    """Under two names, or named twice: it counts once."""
    _, paths, report = made
    twice = gputime.json("ranks", *paths, paths[0])
    assert twice["tables"] == report["tables"]
    assert issues_of(twice)["rank_duplicate"] == 1
    assert twice["inputs"][0]["notes"][1] == "Left out: 'rank0.json' has the same events as 'rank0.json', rank 0."


def test_same_rank_twice(gputime, made, tmp_path):
    """Other events, and nothing that says which of the traces are of one job."""
    job, paths, _ = made
    again = tmp_path / "again.json"
    job.write(tmp_path / "shifted", change=shifted(0, 1000))[0].rename(again)
    named = [tmp_path / name for name in ("one.json", "two.json", "three.json", "four.json")]
    for path, other in zip(paths, named):
        other.write_bytes(path.read_bytes())
    report = gputime.json("ranks", *named, again)
    assert [row["rank"] for row in rows_of(report, "ranks")] == [0, 1, 2, 3, 4]
    assert issues_of(report)["rank_duplicate"] == 1
    assert report["inputs"][0]["notes"][0] == (
        "1 of 5 traces repeats a rank and was renumbered; if these are several jobs, pass the traces of one.")
    check_laws(report)


@pytest.mark.parametrize("steps, verdict, chance", [(3, "rotating", None), (4, "pinned", 1 / 64)])
def test_steps_that_nobody_leads(gputime, tmp_path, steps, verdict, chance):
    """What the first collective waits for began before the trace: the step says nothing about who leads by chance."""
    def body():
        for rank in job.ranks:
            rank.compute(100_000 + 50_000 * (rank.number == 3))
        job.collective((0, 1, 2, 3), 10_000)

    job = Job(4)
    for step in range(1, steps + 1):
        job.step(step, body)
    report = gputime.json("ranks", *job.write(tmp_path / "job"))
    facts = facts_of(report)
    assert [row["leads"] for row in rows_of(report, "ranks")] == [0, 0, 0, steps - 1]
    assert (facts["verdict"], facts["verdict_rank"]) == (verdict, 3 if chance else None)
    assert chance is None or facts["verdict_p"] == pytest.approx(chance)


def test_names_alone(gputime, made, tmp_path):
    """Kernels that only have names are matched where that is asked for."""
    job, _, _ = made
    paths = job.write(tmp_path / "bare", with_metadata=False)
    report = gputime.json("ranks", *paths)
    check_laws(report)
    assert facts_of(report)["collectives"] == 0 and facts_of(report)["verdict"] == "none"
    assert issues_of(report) == {"collective_no_metadata": 96, "clock_unconnected": 3}
    assert facts_of(report)["exposed_wait_ns"] is None
    text = " ".join(gputime("ranks", *paths).stdout.decode().split())
    assert "96 communication kernels say nothing about their collective ('--match names' matches" in text
    assert "No rank waited" not in text
    for limit in ("exposed_wait<5%", "each wait:*<5%"):
        done = gputime("check", "--ranks", tmp_path / "bare", "--limit", limit)
        assert done.returncode == 2 and b"has no collective that was matched between ranks" in done.stderr, limit
    report = gputime.json("ranks", "--match", "names", *paths)
    check_laws(report)
    assert facts_of(report)["rungs_names"] > 0


def test_one_rank(gputime, made):
    _, paths, _ = made
    report = gputime.json("ranks", paths[0])
    check_laws(report)
    assert facts_of(report)["ranks"] == 1 and facts_of(report)["collectives"] == 0
    assert issues_of(report)["collective_alone"] == 24


@pytest.mark.parametrize("arguments", [["--csv"], ["--format", "md"], ["--html"], ["--table", "clocks"],
                                       ["--table", "collective_ranks", "--top", "3"]])
def test_outputs(gputime, made, arguments):
    _, paths, _ = made
    done = gputime("ranks", *paths, *arguments)
    assert done.returncode == 0 and done.stdout and not done.stderr


def test_step_tag(gputime, made, tmp_path):
    job, _, before = made
    report = gputime.json("ranks", *job.write(tmp_path / "tagged"), "--step-tag", "ProfilerStep")
    steps = [{**row, "step": row["step"] + 1} for row in rows_of(report, "rank_steps")]
    assert steps == rows_of(before, "rank_steps")
    report = gputime.json("ranks", *job.write(tmp_path / "tagged"), "--step-tag", "absent")
    check_laws(report)
    assert not rows_of(report, "rank_steps") and facts_of(report)["verdict"] == "few_steps"


def test_summary_of_directory(gputime, made):
    """A summary of each trace, and where to go from there."""
    _, paths, _ = made
    done = gputime(paths[0].parent)
    assert done.returncode == 0
    text = done.stdout.decode()
    assert all(path.name in text for path in paths) and f"gputime ranks {paths[0].parent}" in text


# ---- samples ----


def job_of(path):
    return sorted(path.parent.glob(path.name.replace("rank0", "rank*")))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path and path.name)
def test_laws_of_samples(gputime, path):
    check_laws(gputime.json("ranks", *job_of(path)))


def test_laws_of_reports(gputime, shared):
    folder = shared("data/h200/ranks/nsys")
    report = gputime.json("ranks", folder, "--step-tag", "step")
    check_laws(report)
    assert {row["rung"] for row in rows_of(report, "groups")} == {"hash"}


def test_exports_have_no_payloads(gputime, shared):
    """Exports without payloads do not say which collective a kernel is."""
    paths = [shared(f"data/h200/ranks/nsys/rank{rank}.sqlite") for rank in range(4)]
    report = gputime.json("ranks", *paths)
    check_laws(report)
    assert facts_of(report)["collectives"] == 0 and issues_of(report)["collective_no_metadata"] > 0
    text = " ".join(gputime("ranks", *paths).stdout.decode().split())
    assert "(an export lacks what its .nsys-rep has; '--match names' matches by names" in text


def test_perfetto_traces_name_what_they_were_made_from(gputime, made, tmp_path):
    job, _, _ = made
    for path in job.write(tmp_path / "bare", with_metadata=False):
        out = tmp_path / f"{path.stem}.pftrace"
        assert gputime("export", path, "-o", out).returncode == 0
    text = " ".join(gputime("ranks", *sorted(tmp_path.glob("*.pftrace"))).stdout.decode().split())
    assert "(the trace that a .pftrace was made from may have it; '--match names' matches by names" in text
    assert ".nsys-rep" not in text


def test_formats_mixed(gputime, shared, tmp_path):
    """Ranks of several formats in one folder: nothing is matched across, all of them are there."""
    for name in ("tpdp_rank0.json.gz", "nsys/rank1.nsys-rep", "nsys/rank2.sqlite"):
        path = shared(f"data/h200/ranks/{name}")
        shutil.copy(path, tmp_path / path.name)
    report = gputime.json("ranks", tmp_path)
    check_laws(report)
    assert [row["rank"] for row in rows_of(report, "ranks")] == [0, 1, 2]


def test_cut_of_samples(gputime, shared):
    paths = [shared(f"data/public/kineto/hta/sampled_rank-{rank}.json.gz") for rank in range(2)]
    report = gputime.json("ranks", *paths)
    check_laws(report)
    assert [row["rank"] for row in rows_of(report, "ranks")] == [0, 1]


def changed(path, folder, change):
    """A sample with every event changed, or without those that `change` gives nothing for."""
    document = json.loads(gzip.decompress(path.read_bytes()))
    document["traceEvents"] = [event for event in map(change, document["traceEvents"]) if event]
    copy = folder / path.name.removesuffix(".gz")
    copy.write_text(json.dumps(document))
    return copy


def moved(time):
    """A change of all times, in us."""
    def change(event):
        return {**event, "ts": round(time(event["ts"]), 3)} if "ts" in event else event
    return change


@pytest.mark.parametrize("by_us", [7_300, -123_000_000])
@pytest.mark.parametrize("name", ["tpdp", "moe", "pp"])
def test_other_clock_of_samples(gputime, shared, tmp_path, name, by_us):
    paths = [shared(f"data/h200/ranks/{name}_rank{rank}.json.gz") for rank in range(4)]
    before = gputime.json("ranks", *paths)
    paths[2] = changed(paths[2], tmp_path, moved(lambda time: time + by_us))
    after = gputime.json("ranks", *paths)
    assert facts_of(after) == facts_of(before)
    for table in before["tables"]:
        if table != "clocks":
            assert rows_of(after, table) == rows_of(before, table), table
    offsets = [{row["rank"]: row["offset_ns"] for row in rows_of(report, "clocks")} for report in (before, after)]
    assert {rank: offsets[1][rank] - offsets[0][rank] for rank in range(4)} == {0: 0, 1: 0, 2: 1000 * by_us, 3: 0}


@pytest.mark.parametrize("name", ["tpdp", "moe", "pp", "ddp"])
def test_drift_of_samples(gputime, shared, tmp_path, name):
    paths = [shared(f"data/h200/ranks/{name}_rank{rank}.json.gz") for rank in range(4)]
    before = gputime.json("ranks", *paths)
    first = min(event["ts"] for event in json.loads(gzip.decompress(paths[1].read_bytes()))["traceEvents"] if "ts" in event)
    paths[1] = changed(paths[1], tmp_path, moved(lambda time: time + (time - first) * 40e-6))
    after = gputime.json("ranks", *paths)
    check_laws(after)
    for fact in ("verdict", "verdict_rank", "verdict_reason"):
        assert facts_of(after)[fact] == facts_of(before)[fact]
    episodes = [[(row["step"], row["rank"], row["reason"]) for row in rows_of(report, "episodes")]
                for report in (before, after)]
    assert episodes[0] == episodes[1]


def without_kernels(path, chosen):
    """Communication kernels by their place in time are not there."""
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    kernels = sorted(event["ts"] for event in events if event.get("cat") == "kernel" and "nccl" in event["name"])
    gone = {kernels[place] for place in chosen}
    return lambda event: None if event.get("cat") == "kernel" and event["ts"] in gone else event


@pytest.mark.parametrize("chosen, left", [(range(8), 96 - 8), ([21], 96 - 1)], ids=["cut", "dropped"])
def test_holes_of_samples(gputime, shared, tmp_path, chosen, left):
    """What is left has the same waits."""
    paths = [shared(f"data/h200/ranks/tpdp_rank{rank}.json.gz") for rank in range(4)]
    before = gputime.json("ranks", *paths)
    paths[1] = changed(paths[1], tmp_path, without_kernels(paths[1], chosen))
    after = gputime.json("ranks", *paths)
    check_laws(after)
    assert facts_of(after)["collectives"] == left
    waits = waits_of(before)
    assert all(waits[key] == wait for key, wait in waits_of(after).items())


# ---- documentation ----


def test_every_key_has_a_definition(gputime, made, tmp_path):
    """Also those of pipelines, and of all issues that a job can have."""
    reports = [made[2], gputime.json("ranks", *pipeline(steps=3).write(tmp_path / "pipeline"))]
    issues = re.findall(r'^GT_RANK_ISSUE\(\w+, "(\w+)"', (ROOT / "lib/ranks/rank_issues.def").read_text(), re.MULTILINE)
    keys = set(issues) | {"straggler", "rank_episode", "hot_expert", "pipeline_bubble", "slow_link", "shared_gpu", "desync"}
    for report in reports:
        keys |= set(facts_of(report)) | {finding["id"] for finding in report["findings"]}
        for name, table in report["tables"].items():
            keys |= {name} | {column["key"] for column in table["columns"]} - {"input"}
    assert not [key for key in sorted(keys) if gputime("define", key).returncode != 0]


def test_findings(made):
    _, _, report = made
    found = {finding["id"]: finding for finding in report["findings"]}
    gains = {row["rank"]: row["gain_ns"] for row in rows_of(report, "ranks")}
    assert set(found) == {"straggler", "rank_episode"}
    assert found["straggler"]["recoverable_ns"] == gains[2] and found["rank_episode"]["recoverable_ns"] == gains[1]


def test_the_example_of_the_documentation(gputime, shared):
    """What docs/ranks.md quotes is what the program says."""
    paths = [shared(f"data/h200/ranks/tpdp_rank{rank}.json.gz") for rank in range(4)]
    verdict = gputime.json("ranks", *paths)["inputs"][0]["notes"][0]
    text = " ".join((ROOT / "docs/ranks.md").read_text(encoding="utf-8").split())
    quoted = re.search(r"Step 4: rank 1's host was.*? instead of 17[.]69 ms[.]", text).group()
    shown = re.sub(r"[(]nvjet\S*[.][.][.]", "(nvjet...", verdict)
    assert re.sub(r"[(]nvjet\S*[.][.][.]", "(nvjet...", quoted) == shown
