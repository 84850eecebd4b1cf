"""Exposed communication by group of ranks: against a naive sweep, and as the findings and explain name it."""

import pytest

from simulated_jobs import Rank, make_job, traces_of

JOBS = {
    "tensor": ("--ranks", 4, "--tp", 2, "--noise", 0.05),
    "overlap": ("--ranks", 8, "--tp", 2, "--overlap", "--noise", 0.05, "--layers", 3),
    "pipeline": ("--ranks", 8, "--pp", 2, "--tp", 2, "--noise", 0.05),
    "experts": ("--ranks", 8, "--ep", 4, "--tp", 2, "--overlap", "--noise", 0.05),
}
SAMPLES = ["data/h200/ranks/tpdp_rank1.json.gz", "data/h200/ranks/moe_rank3.json.gz", "data/h200/ranks/nsys/rank0.nsys-rep"]


def is_comm(event):
    return event["cat"] == "kernel" and "nccl" in event["name"].lower()


def naive(path):
    """ns by group of every instant in which a communication kernel runs and no other one: of the first that started."""
    events = [event for event in Rank(path).events if event["cat"] == "kernel"]
    ends = {id(event): event["start"] + event["dur"] for event in events}
    edges = sorted({event["start"] for event in events} | set(ends.values()))
    exposed = {}
    for start, end in zip(edges, edges[1:]):
        running = [event for event in events if event["start"] <= start and ends[id(event)] >= end]
        if running and all(map(is_comm, running)):
            first = min(running, key=lambda event: event["start"])
            group = first["args"].get("Process Group Name")
            exposed[group] = exposed.get(group, 0) + end - start
    return exposed


def by_group(report):
    return {row["group"]: row["exposed_comm_ns"] for row in report["tables"]["comm_by_group"]["rows"] if row["exposed_comm_ns"]}


@pytest.mark.parametrize("name", JOBS)
def test_naive(gputime, tmp_path, name):
    for path in traces_of(make_job(tmp_path, "--steps", 2, "--kernels", 2, *JOBS[name]))[:2]:
        report = gputime.json(path, "--table", "comm_by_group")
        assert by_group(report) == naive(path)


def check_sums(report):
    rows = report["tables"]["comm_by_group"]["rows"]
    for account in report["tables"]["accounting"]["rows"]:
        own = [row for row in rows if row["device"] == account["device"]]
        assert sum(row["exposed_comm_ns"] for row in own) == account["exposed_comm_ns"]
        assert sum(row["share"] for row in own) == pytest.approx(1)
        assert [row["exposed_comm_ns"] for row in own] == sorted((row["exposed_comm_ns"] for row in own), reverse=True)


@pytest.mark.parametrize("sample", SAMPLES)
def test_samples_sum_to_the_accounting(gputime, shared, sample):
    report = gputime.json(shared(sample))
    check_sums(report)
    assert len(report["tables"]["comm_by_group"]["rows"]) >= 1


@pytest.mark.parametrize("options", [("--from", "30%", "--to", "70%"), ("--step", "2-3"), ("--name", "nccl")])
def test_selections_sum_to_the_accounting(gputime, tmp_path, options):
    path = traces_of(make_job(tmp_path, "--ranks", 4, "--tp", 2, "--overlap"))[0]
    check_sums(gputime.json(path, *options))


def test_shown_where_there_are_several_groups(gputime, shared, tmp_path):
    several = traces_of(make_job(tmp_path / "several", "--ranks", 4, "--tp", 2))[0]
    text = gputime(several).stdout.decode()
    assert "Exposed communication by group" in text and "dp" in text
    assert "Exposed communication by group" not in gputime(shared("data/h200/ranks/moe_rank3.json.gz")).stdout.decode()


def test_trace_without_metadata(gputime, tmp_path):
    path = traces_of(make_job(tmp_path, "--ranks", 2, "--graph"))[0]
    text = path.read_text()
    for key in ("Process Group", "Collective name", "record_param_comms", "pg_config", "Group size", "nelems"):
        text = text.replace(key, "something else")
    path.write_text(text)
    report = gputime.json(path)
    assert not report["tables"].get("comm_by_group", {"rows": []})["rows"]
    assert "By group of ranks" not in gputime("findings", path).stdout.decode()


def test_finding_names_the_group(gputime, shared):
    path = shared("data/h200/ranks/tpdp_rank1.json.gz")
    for command in (("findings",), ()):
        report = gputime.json(*command, path)
        finding = next(finding for finding in report["findings"] if finding["id"] == "exposed_comm")
        assert finding["title"].startswith("Exposed all_reduce, mostly dp (group 4): ")
        assert "By group of ranks: dp (group 4) 51.27 ms, tp (group 1) 33.51 ms." in finding["evidence"]


def test_explain_has_the_table(gputime, shared):
    report = gputime.json("explain", shared("data/h200/ranks/tpdp_rank1.json.gz"))
    assert [row["description"] for row in report["tables"]["comm_by_group"]["rows"]] == ["dp", "tp"]
