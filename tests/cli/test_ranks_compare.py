"""Two jobs compared, and limits on jobs: what was planted in one is what the comparison says."""

import json
import os
import shutil
import tempfile

import pytest

from conftest import DATA
from rank_traces import pipeline
from simulated_jobs import make_job, traces_of

TENSOR = ("--ranks", 8, "--tp", 2, "--noise", 0.02)
PARTS = ("compute", "exposed transfer", "exposed wait", "exposed memory", "idle")


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    made = {"healthy": TENSOR, "straggler": (*TENSOR, "--straggler", "3:more:1.4"),
            "link": (*TENSOR, "--slow-link", "tp1:3"), "longer": (*TENSOR, "--steps", 12), "half": ("--ranks", 4, "--tp", 2)}
    folders = {}
    for name, options in made.items():
        folders[name] = make_job(tmp_path_factory.mktemp("job") / name, *options)
        (folders[name] / "truth.json").unlink()  # no trace
    return folders


def rows_of(report, table, key):
    return {row[key]: row for row in report["tables"][table]["rows"]}


def text_of(gputime, *arguments):
    return " ".join(gputime(*arguments).stdout.decode().split())


# ---- comparisons ----


def test_straggler(gputime, jobs):
    text = text_of(gputime, "diff", "--ranks", jobs["healthy"], jobs["straggler"])
    assert "of time on each rank per step" in text and ": exposed wait +" in text
    assert "of exposed wait, all ranks together, per step" in text and "rank 3: more compute +" in text
    assert "healthy: 8 ranks -> straggler: 8 ranks" in text and "A: healthy: 8 ranks" in text and "Rank 3 holds the others up in 6 of 6 steps" in text
    report = gputime.json("diff", "--ranks", jobs["healthy"], jobs["straggler"])
    ranks = rows_of(report, "ranks", "rank")
    assert {rank for rank, row in ranks.items() if row["status"] == "up"} == {3}
    waits = rows_of(report, "wait_causes", "cause")
    assert max(waits, key=lambda cause: waits[cause]["delta_charged_ns"]) == "rank 3: more compute"


def test_causes_of_different_ranks_stay_apart(gputime, tmp_path):
    """A number of a rank is no generated number: what rank 0 caused before is not what rank 5 causes now."""
    noisy = ("--ranks", 8, "--tp", 2, "--noise", 0.03)
    even, slow = make_job(tmp_path / "even", *noisy), make_job(tmp_path / "slow", *noisy, "--straggler", "5:slower:1.3")
    report = gputime.json("diff", "--ranks", "--a", *traces_of(even), "--b", *traces_of(slow))
    waits = rows_of(report, "wait_causes", "cause")
    assert {row["match"] for row in waits.values()} == {"exact", "none"}
    assert max(waits, key=lambda cause: waits[cause]["delta_charged_ns"]) == "rank 5: slower kernels"
    text = text_of(gputime, "diff", "--ranks", "--a", *traces_of(even), "--b", *traces_of(slow))
    assert "rank 5: slower kernels +2.1" in text and "rank #" not in text


def test_ranks_and_groups_match_by_number(gputime, jobs):
    """Not by order: where each side lacks another rank, those are no pair."""
    traces = traces_of(jobs["healthy"])
    report = gputime.json("diff", "--ranks", "--a", *traces[:3], *traces[4:], "--b", *traces[:5], *traces[6:])
    for table, rows in [("ranks", {3: "only B", 5: "only A"})]:
        found = {row["rank"]: row["status"] for row in report["tables"][table]["rows"] if row["match"] != "exact"}
        assert found == rows
    report = gputime.json("diff", "--ranks", "--a", *traces[:2], "--b", *traces[2:4])
    for table, key, names in [("groups", "members", {"0,1", "2,3"}), ("group_speeds", "label", {"tp 0,1", "tp 2,3"})]:
        rows = {row[key]: row["match"] for row in report["tables"][table]["rows"] if row[key] in names}
        assert rows == dict.fromkeys(names, "none"), table


def test_slow_link(gputime, jobs):
    report = gputime.json("diff", "--ranks", jobs["healthy"], jobs["link"])
    speeds = rows_of(report, "group_speeds", "label")
    assert {label for label, row in speeds.items() if row["status"] != "same"} == {"tp 2,3"}
    assert speeds["tp 2,3"]["change"] == pytest.approx(-2 / 3, abs=0.01)
    groups = rows_of(report, "groups", "members")
    assert groups["2,3"]["change"] == pytest.approx(2, abs=0.05)
    assert all(row["status"] in ("same", "noise") for row in rows_of(report, "ranks", "rank").values())


def test_amounts_are_those_of_the_sides(gputime, jobs):
    sides = [gputime.json("ranks", *traces_of(jobs[name])) for name in ("healthy", "straggler")]
    report = gputime.json("diff", "--ranks", jobs["healthy"], jobs["straggler"])
    for row in report["tables"]["job_measures"]["rows"]:
        for side, of in zip("ab", sides):
            whole = rows_of(of, "job_measures", "measure")[row["measure"]]["total_ns"]
            assert row[f"{side}_total_ns"] == pytest.approx(whole / 6)
    for side in sides:
        parts = side["tables"]["job_parts"]["rows"]
        ranks = side["tables"]["ranks"]["rows"]
        span = sum(row["span_ns"] for row in ranks) / len(ranks)
        assert sum(row["total_ns"] for row in parts) == pytest.approx(span)
        measures = rows_of(side, "job_measures", "measure")
        assert measures["span"]["total_ns"] == pytest.approx(span)
        assert measures["exposed_wait"]["total_ns"] == pytest.approx(sum(row["exposed_wait_ns"] for row in ranks) / len(ranks))
        steps = {}
        for row in side["tables"]["rank_steps"]["rows"]:
            steps.setdefault(row["step"], []).append(row["step_ns"])
        medians = [sorted(lengths)[(len(lengths) - 1) // 2] for lengths in steps.values()]
        assert measures["step"]["total_ns"] == sum(medians)


def test_same_job(gputime, jobs):
    text = text_of(gputime, "diff", "--ranks", jobs["healthy"], jobs["healthy"])
    assert "No change: 1.968 ms of time on each rank per step in both traces." in text


def test_jobs_of_different_length(gputime, jobs):
    """Per step, so twice the steps are no change; a bandwidth is not divided by them."""
    report = gputime.json("diff", "--ranks", jobs["healthy"], jobs["longer"])
    assert abs(rows_of(report, "job_measures", "measure")["step"]["change"]) < 0.01
    assert all(abs(row["change"]) < 0.01 for row in report["tables"]["group_speeds"]["rows"])


def test_jobs_of_different_size(gputime, jobs):
    report = gputime.json("diff", "--ranks", jobs["healthy"], jobs["half"])
    ranks = rows_of(report, "ranks", "rank")
    assert {rank for rank, row in ranks.items() if row["status"] == "only A"} == {4, 5, 6, 7}


def test_sides_by_words(gputime, jobs):
    by_folder = gputime("diff", "--ranks", jobs["healthy"], jobs["straggler"], "--json").stdout
    by_words = gputime("diff", "--ranks", "--a", *traces_of(jobs["healthy"]), "--b", *traces_of(jobs["straggler"]),
                       "--json").stdout
    assert by_folder == by_words


def test_limits_on_changes(gputime, jobs):
    done = gputime("diff", "--ranks", jobs["healthy"], jobs["straggler"], "--fail-if", "exposed_wait>+10%", "--fail-if",
                   "step>+50%", "--fail-if", "slowdown>+0.1", "--fail-if", "each group:*<-5%")
    assert done.returncode == 3 and b"2 of 4 limits are broken" in done.stderr
    assert gputime("diff", "--ranks", jobs["healthy"], jobs["straggler"], "--fail-if", "step>+50%").returncode == 0
    assert gputime("diff", "--ranks", jobs["healthy"], jobs["link"], "--fail-if", "each group:tp*<-5%").returncode == 3


# ---- limits ----


@pytest.mark.parametrize("limit, holds", [
    ("exposed_wait<5%", False), ("exposed_wait<50%", True), ("exposed_comm<90%", True), ("slowdown<1.05", False),
    ("slowdown<1.5", True), ("step<2ms", False), ("step<3ms", True), ("replay<10ms", False), ("gain<100us", False), ("gain<1ms", True),
    ("imbalance<1.2", False), ("imbalance<1.5", True), ("ranks>=8", True), ("ranks>8", False), ("busbw>10", True),
    ("each group:tp*>90", True), ("each group:dp*>90", False), ("each wait:rank*<30%", False), ("part:idle*<20%", True),
    ("issues<1", True),
])
def test_limits(gputime, jobs, limit, holds):
    done = gputime("check", "--ranks", jobs["straggler"], "--limit", limit)
    assert done.returncode == (0 if holds else 3), done.stderr


def test_limit_on_what_a_job_lacks(gputime, jobs):
    for limit, why in [("mfu>10%", b"unknown measure 'mfu'; use one of step, span"), ("kernel:*<5%", b"use one of part, wait, group"),
                       ("all_to_all_imbalance<2", b"has no all_to_all whose sizes are known")]:
        done = gputime("check", "--ranks", jobs["straggler"], "--limit", limit)
        assert done.returncode == 2 and why in done.stderr, done.stderr


def test_limits_on_bandwidths_that_are_not_known(gputime, tmp_path):
    """Messages have no bandwidth that could be compared: a limit on it is no limit that holds."""
    pipeline(steps=3).write(tmp_path / "job")
    for limit in ("busbw>4", "each group:*>4", "group:default*>4"):
        done = gputime("check", "--ranks", tmp_path / "job", "--limit", limit)
        assert done.returncode == 2 and b"has no collective but messages whose bytes are known" in done.stderr, limit
    assert b"Median\n" in gputime("ranks", tmp_path / "job").stdout.replace(b" ", b"")
    done = gputime("diff", "--ranks", tmp_path / "job", tmp_path / "job", "--fail-if", "each group:*<-5%")
    assert done.returncode == 2 and b"has no collective but messages whose bytes are known" in done.stderr


@pytest.mark.parametrize("limit, lack", [
    ("exposed_wait<5%", "collective that was matched between ranks"), ("wait:*<5%", "collective that was matched between ranks"),
    ("exposed_transfer<99%", "collective that was matched between ranks"), ("gain<1ms", "replay"), ("slowdown<2", "replay"),
    ("each group:*>1", "collective but messages whose bytes are known")])
def test_limits_on_one_rank_of_a_job(gputime, jobs, limit, lack):
    """Nobody knows how long it waited: that is no wait of 0."""
    done = gputime("check", "--ranks", traces_of(jobs["straggler"])[3], "--limit", limit)
    assert done.returncode == 2 and f"has no {lack}".encode() in done.stderr, done.stderr
    assert gputime("check", "--ranks", traces_of(jobs["straggler"])[3], "--limit", "exposed_comm<99%").returncode == 0


def test_bandwidths_are_not_summed(gputime, jobs):
    """The slowest group decides where a limit is a least one, the fastest where it is a largest."""
    speeds = {row["label"]: row["busbw_gbs"] for row in gputime.json("ranks", jobs["link"])["tables"]["group_speeds"]["rows"]}
    tensor = {label: speed for label, speed in speeds.items() if label.startswith("tp ")}
    least, largest = min(tensor.values()), max(tensor.values())
    assert least == tensor["tp 2,3"]
    for limit, status in [(f"group:tp*>{least - 1}", 0), (f"group:tp*>{least + 1}", 3), (f"group:tp*<{largest + 1}", 0),
                          (f"group:tp*<{largest - 1}", 3)]:
        assert gputime("check", "--ranks", jobs["link"], "--limit", limit).returncode == status, limit
    report = gputime.json("check", "--ranks", jobs["link"], "--limit", "group:tp*>1")
    row = report["tables"]["limits"]["rows"][0]
    assert row["detail"] == f"{least:.4g} (least of 4: tp 2,3)" and row["worst"] == "tp 2,3" and row["value"] == least
    sides = (jobs["healthy"], jobs["link"])
    done = gputime("diff", "--ranks", *sides, "--fail-if", "group:tp*<-50%")  # of all four it would be 1/6
    assert done.returncode == 3 and b"(worst of 4: tp 2,3)" in done.stderr


def test_verdicts_say_what_times_are_of(gputime, jobs):
    limits = ["exposed_wait<99%", "exposed_wait<1s", "wait:rank 3*<1s", "gain<1s", "step<1s", "replay<1s", "part:idle*<1s"]
    ends = [" per run, mean over ranks)", " per run, mean over ranks", " per step, all ranks together", " per step",
            " per step, median over ranks", " per run", " per run, mean over ranks"]
    report = gputime.json("check", "--ranks", jobs["straggler"], *[f"--limit={limit}" for limit in limits])
    rows = rows_of(report, "limits", "limit")
    for limit, end in zip(limits, ends):
        assert rows[limit]["detail"].endswith(end), rows[limit]
    gain = max(row["gain_ns"] for row in gputime.json("ranks", jobs["straggler"])["tables"]["ranks"]["rows"])
    assert rows["gain<1s"]["value"] == pytest.approx(gain / 6)


def test_report_of_a_check(gputime, jobs):
    report = gputime.json("check", "--ranks", jobs["straggler"], "--limit", "exposed_wait<50%")
    row = report["tables"]["limits"]["rows"][0]
    assert row["limit"] == "exposed_wait<50%" and row["verdict"] == "ok"
    assert json.dumps(report)


# ---- documentation ----


def test_every_word_has_a_definition(gputime, jobs):
    reports = [gputime.json("ranks", jobs["link"]), gputime.json("diff", "--ranks", jobs["healthy"], jobs["straggler"])]
    words = set()
    for table in (table for report in reports for table in report["tables"].values()):
        words |= {table["title"]} | {column["title"] for column in table["columns"]}
    assert {"Bandwidth of groups", "Times as long", "A: Span"} <= words
    assert not [word for word in sorted(words) if gputime("define", word).returncode != 0]


# ---- what is refused ----


def test_names_of_jobs(gputime, jobs, tmp_path):
    """By their folder, where it has a name: in titles, rows and errors."""
    folder = jobs["link"]
    assert gputime("ranks", folder).stdout.startswith(b"link: 8 ranks\n")
    assert gputime("ranks", ".", cwd=folder).stdout.startswith(b"8 ranks\n")
    assert gputime("ranks", folder, "--redact").stdout.startswith(b"8 ranks\n")
    assert gputime("ranks", f"{folder}/", "--csv").stdout.splitlines()[1].startswith(b"link: 8 ranks,0,")
    done = gputime("check", "--ranks", folder, "--limit", "wait:zz<5%")
    assert done.returncode == 2 and b"nothing in 'link: 8 ranks' matches 'zz'" in done.stderr
    for side in ("a", "b"):
        shutil.copytree(folder, tmp_path / side / "traces")
    done = gputime("diff", "--ranks", tmp_path / "a" / "traces", tmp_path / "b" / "traces")
    assert done.stdout.startswith(b"a/traces -> b/traces\n")


def test_usage(gputime, jobs):
    for arguments, why in [
        (("diff", "--ranks", jobs["healthy"], jobs["straggler"], "--step", "3"), b"--ranks is about whole jobs"),
        (("check", "--ranks", jobs["healthy"], "--limit", "idle<5%", "--from", "40%"), b"--ranks is about whole jobs"),
        (("check", traces_of(jobs["healthy"])[0], "--limit", "idle<5%", "--step-tag", "x"), b"only valid with --ranks"),
        (("diff", "--ranks", jobs["healthy"]), b"diff needs two traces"),
        (("diff", "--ranks", jobs["healthy"], jobs["straggler"], "--per", "launch"), b"cannot compare per 'launch'"),
    ]:
        done = gputime(*arguments)
        assert done.returncode == 2 and why in done.stderr, (arguments, done.stderr)


def test_unreadable_ranks(gputime, jobs, tmp_path):
    folder = make_job(tmp_path, *TENSOR)  # truth.json is no trace
    done = gputime("diff", "--ranks", jobs["healthy"], folder)
    assert done.returncode == 1 and b"truth.json" in done.stderr and b"on each rank per step" in done.stdout
    assert gputime("check", "--ranks", folder, "--limit", "idle<90%").returncode == 1
    assert gputime("check", "--ranks", folder, "--limit", "idle<1%").returncode == 3


# ---- a directory for other commands ----


def test_directory(gputime, jobs):
    done = gputime(jobs["straggler"])
    text = done.stdout.decode()
    assert done.returncode == 0
    for rank in range(8):
        assert f"rank000{rank}.json" in text
    tip = f"tip: 'gputime ranks {jobs['straggler']}' compares the ranks of one job"
    assert text.startswith(tip + "\n\n") and text.count("tip: 'gputime ranks") == 1


def test_tip_on_traces_that_say_no_ranks(gputime, tmp_path):
    """They may be anything: it comes last."""
    for name in ("a.json", "b.json"):
        shutil.copy(DATA / "overlap.json", tmp_path / name)
    text = gputime(tmp_path).stdout.decode()
    assert text.rstrip().endswith(f"tip: 'gputime ranks {tmp_path}' compares the ranks of one job")


def test_directories_in_directories(gputime, jobs, tmp_path):
    """A folder for each machine: the same report as on all traces by name, in any order in which they were made."""
    traces = traces_of(jobs["straggler"])
    for rank in (5, 0, 7, 2, 6, 1, 4, 3):
        folder = tmp_path / "all" / f"node{rank // 4}" / "plugins" / "profile"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(traces[rank], folder)
    for hidden in ("all/.old", "elsewhere"):
        (tmp_path / hidden).mkdir()
        shutil.copy(traces_of(jobs["link"])[0], tmp_path / hidden)
    (tmp_path / "all" / "link").symlink_to(tmp_path / "elsewhere")
    same = tmp_path / "same" / "all"
    shutil.copytree(jobs["straggler"], same)
    report, alone = gputime.json("ranks", tmp_path / "all"), gputime.json("ranks", same)
    assert report["tables"] == alone["tables"]
    titles = [entry["input"] for entry in gputime.json(tmp_path / "all")["inputs"]]
    assert titles == [path.name for path in traces]
    shutil.move(tmp_path / "all" / "node0" / "plugins" / "profile" / traces[0].name, tmp_path / "all")
    assert gputime.json("ranks", tmp_path / "all")["tables"] == alone["tables"]  # some at the top


def test_bounds_of_directories(gputime, jobs, tmp_path):
    deep = tmp_path / "deep"
    for levels in (8, 9):
        inner = deep.joinpath(str(levels), *["x"] * (levels - 1))
        inner.mkdir(parents=True)
        shutil.copy(traces_of(jobs["healthy"])[0], inner)
        assert gputime(deep / str(levels)).returncode == 0
    assert len(gputime.json(deep)["inputs"]) == 1  # 9 levels down is too deep
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path  # disks take half a minute
    with tempfile.TemporaryDirectory(dir=memory) as many:
        for number in range(100_001):
            os.symlink("nothing", f"{many}/{number}")
        done = gputime("ranks", many)
    assert done.returncode == 1 and b"has more than 100000 entries; name the traces or a directory in it" in done.stderr


def test_directory_with_what_is_no_trace(gputime, tmp_path):
    folder = make_job(tmp_path, "--ranks", 2)
    (folder / "notes.txt").write_text("no trace")
    done = gputime(folder)
    assert done.returncode == 1 and b"rank0001.json" in done.stdout and b"truth.json" in done.stderr
    assert b"notes.txt" not in done.stderr
    empty = tmp_path / "empty"
    empty.mkdir()
    done = gputime(empty)
    assert done.returncode == 1 and b"no traces in" in done.stderr
