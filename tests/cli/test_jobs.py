"""Simulated jobs (bench/jobs): their traces against their truth, read without the generator's code."""

import collections
import gzip
import json
import subprocess

import pytest
from simulated_jobs import OPERATIONS, Job, generator, length_without, make_job, rows, traces_of

SMALL = ("--steps", 4, "--layers", 1, "--kernels", 2)
# Every option, alone and with others. Members leave together in all of them, and clocks do not drift.
JOBS = {
    "data": ("--ranks", 4, "--noise", 0.03),
    "tensor": ("--ranks", 4, "--tp", 4, "--noise", 0.03, "--straggler", "2:slower:1.3"),
    "pipeline": ("--ranks", 4, "--pp", 4, "--straggler", "1:more:1.4", "--local-peers"),
    "gpipe": ("--ranks", 4, "--pp", 2, "--gpipe", "--noise", 0.1, "--skew"),
    "experts": ("--ranks", 8, "--ep", 4, "--hot-expert", "5:0.6", "--noise", 0.01, "--tp", 2),
    "all of them": ("--ranks", 16, "--tp", 2, "--pp", 2, "--ep", 2, "--noise", 0.05, "--skew", "--seq", "--comms-id",
                    "--gpus-per-host", 4),
    "overlap": ("--ranks", 4, "--overlap", "--straggler", "3:more:1.5", "--noise", 0.02),
    "sharding": ("--ranks", 4, "--sharding", "--overlap", "--straggler", "0:launch:6", "--kernel-us", 8),
    "late host": ("--ranks", 8, "--tp", 2, "--straggler", "3:host:1.5", "--episode", "2:1:host:4"),
    "episodes": ("--ranks", 4, "--tp", 2, "--episode", "3:0:compute:5", "--episode", "2:1:host:4", "--noise", 0.01),
    "slow link": ("--ranks", 8, "--tp", 2, "--slow-link", "tp1:3", "--noise", 0.01),
    "windows": ("--ranks", 8, "--tp", 2, "--windows-apart", "--skew", "--noise", 0.02, "--gzip"),
    "windows of a pipeline": ("--ranks", 8, "--pp", 2, "--windows-apart", "--overlap"),
    "left out": ("--ranks", 4, "--tp", 2, "--desync", "1:2", "--noise", 0.02),
    "added": ("--ranks", 4, "--tp", 2, "--desync", "2:3:add", "--noise", 0.02),
    "shared GPU": ("--ranks", 4, "--shared-gpu"),
    "graph": ("--ranks", 4, "--tp", 2, "--graph", "--overlap", "--noise", 0.02),
    "broadcast": ("--ranks", 8, "--tp", 4, "--broadcast", "--noise", 0.05),
    "long lists": ("--ranks", 64, "--tp", 2, "--ep", 32, "--steps", 2, "--hot-expert", "7:0.2"),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {name: make_job(tmp_path_factory.mktemp("job"), *SMALL, *options) for name, options in JOBS.items()}


@pytest.fixture(scope="module", params=JOBS)
def job(request, folders):
    return Job(folders[request.param])


def true_start(job, rank, kernel):
    return kernel["start"] - job.clocks[rank]["offset_ns"]


def loads(job, row, kernels):
    """Bytes that each member of an all_to_all has to move, from the splits that its kernel names."""
    found = {}
    for rank, kernel in kernels.items():
        own = row["ranks"].index(rank)
        sides = [(json.loads(kernel["args"][side + " split size"]), kernel["args"][side + " msg nelems"])
                 for side in ("In", "Out")]
        found[rank] = max(size - size * parts[own] // sum(parts) for parts, size in sides)
    return found


def is_cut(kernels):
    return any("..." in kernel["args"]["In split size"] for kernel in kernels.values())


def test_every_rank_has_its_groups(job):
    truth = job.truth
    assert [rank.number for rank in job.ranks] == list(range(truth["ranks"]))
    for rank in job.ranks:
        assert rank.info["world_size"] == truth["ranks"] and rank.info["pg_count"] == len(job.groups)
        own = {group["pg_name"]: group for group in rank.info["pg_config"]}
        assert set(own) == {name for name in job.groups if rank.number in job.members(name)}
        for name, group in own.items():
            assert group["ranks"] == job.members(name) and group["pg_size"] == len(group["ranks"])
            assert group["pg_desc"] == job.groups[name]["desc"]


def test_metadata_names_the_collective(job):
    for row, kernels in job.met():
        for rank, kernel in kernels.items():
            args = kernel["args"]
            assert OPERATIONS[args["Collective name"]] == row["op"]
            members = job.members(row["group"])
            assert args["Group size"] == len(members) and rank in members
            shown = "[" + ", ".join(map(str, members[:30])) + (", ...]" if len(members) > 30 else "]")
            assert args["Process Group Ranks"] == shown
            operator = job.ranks[rank].operators[args["External id"]]
            assert {key: operator["args"][key] for key in args if key in operator["args"]}.items() <= args.items()
            start, stride = operator["args"]["Global rank start"], operator["args"]["Global rank stride"]
            assert [start + i * stride for i in range(len(members))] == members
            launch = job.ranks[rank].calls[args["correlation"]]
            assert operator["start"] <= launch["start"] <= launch["end"] <= operator["end"]
            assert launch["end"] <= kernel["start"]


def test_newer_fields_name_it_as_well(folders):
    job = Job(folders["all of them"])
    for row, kernels in job.met():
        for field in ("Seq", "Comms Id"):
            values = {kernel["args"][field] for kernel in kernels.values()}
            assert len(values) == 1 or row["op"] == "send_recv"
    for rank in job.ranks:
        ids = [kernel["args"]["Comms Id"] for kernel in rank.collectives]
        assert len(set(ids)) == len(ids)


def test_steps(job):
    for row, kernels in job.met():
        for rank, kernel in kernels.items():
            step = job.ranks[rank].step_of(kernel)
            assert step == row["step"] or (step is None and job.truth["windows_apart"])


def test_waits_are_those_of_the_rule(job):
    """A wait is the duration less the shortest one; for messages less the sender's. Each to the ns."""
    checked = 0
    for row, kernels in job.met():
        if not kernels:
            continue
        waits = {rank: wait for rank, wait in zip(row["ranks"], row["wait_ns"]) if rank in kernels}
        assert None not in waits.values() and min(waits.values()) >= 0
        moving = {rank: kernel["dur"] - waits[rank] for rank, kernel in kernels.items()}
        if row["op"] == "all_to_all":
            if not is_cut(kernels):
                rates = [moving[rank] / load for rank, load in loads(job, row, kernels).items()]
                assert max(rates) == pytest.approx(min(rates), rel=1e-3)
            continue
        assert len(set(moving.values())) == 1, (row, moving)
        if row["op"] != "broadcast" and not row["not_recorded"]:
            least = min(kernel["dur"] for kernel in kernels.values())
            assert {rank: kernel["dur"] - least for rank, kernel in kernels.items()} == waits
            checked += 1
    assert checked


def test_even_all_to_all_waits_are_those_of_the_rule(tmp_path):
    job = Job(make_job(tmp_path, *SMALL, "--ranks", 4, "--ep", 4, "--noise", 0.05))
    seen = 0
    for row, kernels in job.met():
        if row["op"] == "all_to_all":
            least = min(kernel["dur"] for kernel in kernels.values())
            assert [kernels[rank]["dur"] - least for rank in row["ranks"]] == row["wait_ns"]
            seen += any(row["wait_ns"])
    assert seen


def test_data_moves_when_the_last_has_come(job):
    """On the true clock: nobody moves data before the last member, or the sender, has come, and none waits longer."""
    for row, kernels in job.met():
        if not kernels or row["not_recorded"]:
            continue
        starts = {rank: true_start(job, rank, kernel) for rank, kernel in kernels.items()}
        is_directed = row["op"] in ("send_recv", "broadcast")
        last = starts[row["ranks"][0]] if is_directed else max(starts.values())
        assert row["transfer_start_ns"] == last
        assert row["end_ns"] == max(starts[rank] + kernel["dur"] for rank, kernel in kernels.items())
        assert row["wait_ns"] == [max(0, last - starts[rank]) for rank in row["ranks"]]


def test_streams_run_in_order(job):
    for rank in job.ranks:
        lanes = collections.defaultdict(list)
        for event in rank.events:
            if event["cat"] in ("kernel", "gpu_memcpy"):
                lanes[event["tid"]].append((event["start"], event["end"]))
        for lane in lanes.values():
            lane.sort()
            assert all(end <= start for (_, end), (start, _) in zip(lane, lane[1:]))


def test_exposed_wait(job):
    if job.truth["windows_apart"] or job.truth["graph"]:
        pytest.skip("not every wait is in the traces")
    waits, moves = collections.defaultdict(list), collections.defaultdict(list)
    for row, kernels in job.met():
        for rank, wait in zip(row["ranks"], row["wait_ns"]):
            if rank in kernels:
                start = kernels[rank]["start"]
                waits[rank].append((start, start + wait))
                moves[rank].append((start + wait, kernels[rank]["end"]))
    total = 0
    for rank in job.ranks:
        compute = [(kernel["start"], kernel["end"]) for kernel in rank.kernels if "Collective name" not in kernel["args"]]
        exposed = length_without(waits[rank.number], [*moves[rank.number], *compute])
        assert exposed == job.clocks[rank.number]["exposed_wait_ns"]
        total += exposed
    assert total == job.truth["exposed_wait_ns"]


def test_length_of_the_job(job):
    starts, ends = [], []
    for rank in job.ranks:
        offset = job.clocks[rank.number]["offset_ns"]
        work = [event for event in rank.events if event["cat"] in ("kernel", "gpu_memcpy")]
        starts.append(min(event["start"] for event in work) - offset)
        ends.append(max(event["end"] for event in work) - offset)
    assert max(ends) - min(starts) == job.truth["recorded_ns"]
    assert job.truth["recorded_ns"] <= job.truth["job_ns"]


@pytest.mark.parametrize("fault", [
    ("--straggler", "5:more:1.4"), ("--straggler", "2:slower:1.4"), ("--straggler", "7:host:1.4"),
    ("--straggler", "1:launch:8"), ("--hot-expert", "3:0.7"), ("--episode", "2:4:host:6"),
    ("--episode", "3:6:compute:6"), ("--slow-link", "dp1:4")])
def test_without_the_fault_the_job_is_another_one(tmp_path, fault):
    """What the truth says the job would be is what the generator makes without the fault."""
    rest = (*SMALL, "--ranks", 8, "--tp", 2, "--ep", 2, "--noise", 0.02, "--seed", 7)
    with_it = json.loads((make_job(tmp_path / "with", *rest, *fault) / "truth.json").read_text())
    without = json.loads((make_job(tmp_path / "without", *rest) / "truth.json").read_text())
    (found,) = with_it["faults"]
    assert found["without_ns"] == without["job_ns"] < with_it["job_ns"]
    assert found["exposed_wait_ns"] == with_it["exposed_wait_ns"] - without["exposed_wait_ns"]
    assert without["faults"] == [] and without["culprit"] is None
    is_pinned = found["kind"] in ("more", "slower", "host", "launch", "hot_expert")
    assert with_it["culprit"] == (found if is_pinned else None)


def test_faults_are_in_the_traces(tmp_path):
    """A rank that does more has more kernels, a slower one the same kernels for longer, a late host neither."""
    job = Job(make_job(tmp_path, *SMALL, "--ranks", 8, "--straggler", "1:more:1.5", "--straggler", "2:slower:1.5",
                       "--straggler", "3:host:1.5"))
    computes = [[kernel["dur"] for kernel in rank.kernels if "Collective name" not in kernel["args"]] for rank in job.ranks]
    usual = computes[0]
    assert all(durations == usual for durations in computes[4:]) and computes[3] == usual
    assert len(computes[1]) > len(usual)
    assert len(computes[2]) == len(usual) and sum(computes[2]) == pytest.approx(1.5 * sum(usual), rel=1e-3)
    loading = [sum(event["dur"] for event in rank.events if "DataLoader" in event["name"]) for rank in job.ranks]
    assert loading[3] > 2 * loading[0] and loading[1] == loading[0]


def test_desync(folders):
    job = Job(folders["left out"])
    (row,) = [row for row in rows(job.truth, "collective") if None in row["wait_ns"]]
    desync = job.truth["desync"]
    assert (desync["kind"], desync["rank"], desync["step"]) == ("left_out", 1, 2)
    assert row["not_recorded"] == [1] and row["step"] == 2
    assert (desync["group"], desync["index"]) == (row["group"], row["index"])
    job = Job(folders["added"])
    (row,) = [row for row in rows(job.truth, "collective") if row["ranks"] == [2]]
    assert row["step"] == 3 and row["group"] == job.truth["desync"]["group"] and job.truth["desync"]["kind"] == "added"


def test_graphs_have_no_metadata(folders):
    job = Job(folders["graph"])
    for rank in job.ranks:
        plain = [kernel for kernel in rank.kernels if "nccl" in kernel["name"] and "Collective name" not in kernel["args"]]
        assert plain and all(rank.calls[kernel["args"]["correlation"]]["name"] == "cudaGraphLaunch" for kernel in plain)
    assert any(not row["has_metadata"] for row in rows(job.truth, "collective"))


def test_drift(tmp_path):
    """Clocks run apart as the truth says."""
    options = (*SMALL, "--ranks", 4, "--gpus-per-host", 2, "--noise", 0.02)
    steady, drifting = Job(make_job(tmp_path / "a", *options)), Job(make_job(tmp_path / "b", *options, "--drift", 500))
    assert any(abs(clock["drift_ppm"]) > 20 for clock in drifting.clocks)
    for rank, other, clock in zip(steady.ranks, drifting.ranks, drifting.clocks):
        for kernel, moved in zip(rank.kernels, other.kernels):
            assert moved["start"] - kernel["start"] == pytest.approx(kernel["start"] * clock["drift_ppm"] / 1e6, abs=2)


def test_members_may_leave_apart(tmp_path):
    job = Job(make_job(tmp_path, *SMALL, "--ranks", 4, "--chunk", 15, "--noise", 0.02))
    apart = []
    for row, kernels in job.met():
        ends = [true_start(job, rank, kernel) + kernel["dur"] for rank, kernel in kernels.items()]
        apart.append(max(ends) - min(ends))
    assert 5000 < max(apart) <= 15000


def test_the_same_bytes(tmp_path):
    def contents(folder, *options):
        made = make_job(tmp_path / folder, "--random", 3, *options)
        return {path.name: path.read_bytes() for path in made.iterdir()}

    first = contents("a", "--threads", 1)
    assert first == contents("b", "--threads", 3)
    assert first != contents("c", "--seed", 4)


def test_gzip_has_the_same_text(tmp_path):
    plain = traces_of(make_job(tmp_path / "a", *SMALL))
    packed = traces_of(make_job(tmp_path / "b", *SMALL, "--gzip"))
    assert [path.read_bytes() for path in plain] == [gzip.decompress(path.read_bytes()) for path in packed]


@pytest.mark.parametrize("size, bytes_wanted", [("600K", 600_000), ("3M", 3_000_000)])
def test_size(tmp_path, size, bytes_wanted):
    for path in traces_of(make_job(tmp_path, "--ranks", 4, "--tp", 2, "--steps", 3, "--layers", 1, "--size", size)):
        assert path.stat().st_size == pytest.approx(bytes_wanted, rel=0.1)


def test_random_jobs_differ(tmp_path):
    kinds = collections.Counter()
    for seed in range(25):
        folder = make_job(tmp_path / str(seed), "--random", seed, "--layers", 1, "--kernels", 1)
        truth = json.loads((folder / "truth.json").read_text())
        kinds[truth["culprit"]["kind"] if truth["culprit"] else None] += 1
    assert {None, "more", "slower", "host"} <= set(kinds)


@pytest.mark.parametrize("options, message", [
    (("--ranks", 6, "--tp", 4), "tp * pp * dp is 4 * 1 * 1, not 6 ranks"),
    (("--ranks", 1), "--ranks: '1' is not between 2 and 1024"),
    (("--straggler", "9:more:2"), "the job has no rank 9"),
    (("--straggler", "1:most:2"), "--straggler: 'most' is not more, slower, host or launch"),
    (("--hot-expert", "1:0.5"), "--hot-expert: needs --ep of 2 or more"),
    (("--episode", "9:1:host:2"), "--episode: steps are 1 to 6"),
    (("--slow-link", "tp0:2"), "--slow-link: the job has no group 'tp0'"),
    (("--desync", "1"), "--desync: '1' is not RANK:STEP or RANK:STEP:add"),
    (("--size", "big"), "--size: 'big' is no size such as 300K or 5M"),
])
def test_wrong_options(tmp_path, options, message):
    done = subprocess.run([generator(), *map(str, options), tmp_path / "job"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, f"jobgen: {message}\n")


def test_gputime_reads_it_without_issues(gputime, folders):
    for name, folder in folders.items():
        job = Job(folder)
        path, rank = traces_of(folder)[-1], job.ranks[-1]
        report = gputime.json(path)
        assert report["issues"] == [], name
        assert gputime.json("steps", path)["tables"]["steps"]["rows"] or job.truth["windows_apart"]
        found = collections.Counter()
        for row in report["tables"]["collectives"]["rows"]:
            found[row["group"]] += row["count"]
        assert found == collections.Counter(kernel["args"]["Process Group Name"] for kernel in rank.collectives), name
