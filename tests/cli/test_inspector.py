"""Logs of NCCL Inspector against a judge that reads them with Python's json and works out every number plainly."""

import gzip
import json
import math
import random
from collections import defaultdict

import pytest

import inspector_logs
from conftest import DATA
from inspector_logs import line, record

KEYS = {"AllReduce": "all_reduce", "AllGather": "all_gather", "ReduceScatter": "reduce_scatter", "Broadcast": "broadcast",
        "Reduce": "reduce", "Send": "send", "Recv": "recv"}
SYNC = {"all_reduce", "all_gather", "reduce_scatter"}


# ---- the judge ----


def quantile(values, level):
    if not values:
        return None
    values = sorted(values)
    at = level * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def read(paths):
    """What the logs say, one dictionary for each record; copies are left out."""
    seen, entries = set(), []
    for path in paths:
        for text in path.read_text().splitlines():
            entry = json.loads(text)
            kind = "coll" if "coll_perf" in entry else "p2p"
            perf, header = entry[f"{kind}_perf"], entry["header"]
            rates = [perf[f"{kind}_{what}bw_gbs"] for what in ("algo", "bus")]
            one = {"communicator": int(header["id"], 16), "rank": header["rank"], "size": header["n_ranks"],
                   "nodes": header["nnodes"], "name": KEYS.get(perf[kind], perf[kind]), "number": perf[f"{kind}_sn"],
                   "bytes": perf[f"{kind}_msg_size_bytes"], "ns": perf[f"{kind}_exec_time_us"] * 1000,
                   "timing": perf[f"{kind}_timing_source"], "peer": perf.get("p2p_peer"),
                   "algbw": rates[0] if isinstance(rates[0], float) else None,
                   "busbw": rates[1] if isinstance(rates[1], float) else None}
            key = tuple(one[k] for k in ("communicator", "name", "number", "rank", "peer", "bytes", "ns", "timing"))
            if key not in seen:
                seen.add(key)
                entries.append(one)
    return entries


def compare(entries):
    """Adds `wait`, `last`, `shortest` and `held` to the entries of collectives that several ranks logged."""
    collectives = defaultdict(list)
    for entry in entries:
        if entry["peer"] is None and entry["name"] in SYNC:
            collectives[entry["communicator"], entry["name"], entry["number"]].append(entry)
    for members in collectives.values():
        members.sort(key=lambda entry: entry["rank"])
        ranks = [entry["rank"] for entry in members]
        if (len(members) < 2 or len(set(ranks)) < len(ranks) or len({entry["bytes"] for entry in members}) > 1
                or any(entry["timing"] == "collective_cpu" for entry in members)):
            continue
        least = min(entry["ns"] for entry in members)
        fastest = [entry for entry in members if entry["ns"] == least]
        for entry in members:
            entry["wait"] = entry["ns"] - least
        fastest[0]["shortest"] = True
        if len(fastest) == 1:
            fastest[0]["last"] = True
            fastest[0]["held"] = sum(entry["wait"] for entry in members)
    return entries


def by(entries, *keys):
    groups = defaultdict(list)
    for entry in entries:
        groups[tuple(entry[key] for key in keys)].append(entry)
    return groups


def judged_sizes(entries):
    rows = {}
    for key, run in by(entries, "communicator", "name", "bytes", "timing").items():
        rates = [entry["busbw"] for entry in run if entry["busbw"] is not None]
        rows[key] = {
            "count": len(run), "total_ns": sum(entry["ns"] for entry in run),
            "p50_ns": quantile([entry["ns"] for entry in run], 0.5),
            "p90_ns": quantile([entry["ns"] for entry in run], 0.9),
            "compared": sum("shortest" in entry for entry in run),
            "transfer_p50_ns": quantile([entry["ns"] for entry in run if "shortest" in entry], 0.5),
            "algbw_p50_gbs": quantile([entry["algbw"] for entry in run if entry["algbw"] is not None], 0.5),
            "busbw_p10_gbs": quantile(rates, 0.1), "busbw_p50_gbs": quantile(rates, 0.5),
            "busbw_p90_gbs": quantile(rates, 0.9),
        }
    return rows


def judged_ranks(entries):
    rows = {}
    for key, run in by(entries, "communicator", "rank").items():
        compared = [entry for entry in run if "wait" in entry]
        rows[key] = {
            "count": len(run), "messages": sum(entry["peer"] is not None for entry in run),
            "total_ns": sum(entry["ns"] for entry in run), "compared": len(compared),
            "last": sum("last" in entry for entry in run) if compared else None,
            "wait_ns": sum(entry["wait"] for entry in compared) if compared else None,
            "held_ns": sum(entry.get("held", 0) for entry in run) if compared else None,
            "busbw_p50_gbs": quantile([entry["busbw"] for entry in run if entry["busbw"] is not None], 0.5),
        }
    return rows


def judged_groups(entries):
    rows = {}
    for (communicator,), run in by(entries, "communicator").items():
        collectives = {(entry["name"], entry["number"]) for entry in run if entry["peer"] is None}
        compared = [entry for entry in run if "wait" in entry]
        best = [entry["busbw"] for entry in run if "shortest" in entry and entry["busbw"] is not None]
        rates = best if compared else [entry["busbw"] for entry in run if entry["busbw"] is not None]
        missing = 0
        for series in by([entry for entry in run if entry["peer"] is None], "rank", "name").values():
            numbers = {entry["number"] for entry in series}
            missing += max(numbers) - min(numbers) + 1 - len(numbers)
        rows[communicator] = {
            "size": run[0]["size"], "nodes": run[0]["nodes"], "ranks": len({entry["rank"] for entry in run}),
            "records": len(run), "messages": sum(entry["peer"] is not None for entry in run),
            "collectives": len(collectives), "compared": sum("shortest" in entry for entry in run), "missing": missing,
            "transfer_ns": sum(entry["ns"] for entry in run if "shortest" in entry) if compared else None,
            "wait_ns": sum(entry["wait"] for entry in compared) if compared else None,
            "busbw_p50_gbs": quantile(rates, 0.5),
        }
    return rows


def judged_links(entries):
    rows = {}
    for key, run in by([entry for entry in entries if entry["peer"] is not None], "communicator", "rank", "name",
                       "peer").items():
        rates = [entry["busbw"] for entry in run if entry["busbw"] is not None]
        rows[key] = {"count": len(run), "bytes": sum(entry["bytes"] for entry in run),
                     "total_ns": sum(entry["ns"] for entry in run), "busbw_p50_gbs": quantile(rates, 0.5),
                     "best_busbw_gbs": max(rates, default=None)}
    return rows


def number(row):
    return int(row["communicator"], 16)


def same(actual, expected):
    assert set(actual) == set(expected)
    for key, row in expected.items():
        for column, value in row.items():
            found = actual[key][column]
            if isinstance(value, float):
                assert found == pytest.approx(value, rel=1e-12), (key, column)
            else:
                assert found == value, (key, column)


def check(report, paths):
    """All tables of a report against the judge."""
    tables = {key: table["rows"] for key, table in report["tables"].items()}
    entries = compare(read(paths))
    same({(number(row), row["name"], row["bytes"], row["timing"]): row for row in tables["logged_sizes"]},
         judged_sizes(entries))
    same({(number(row), row["rank"]): row for row in tables["logged_ranks"]}, judged_ranks(entries))
    same({number(row): row for row in tables["logged_groups"]}, judged_groups(entries))
    same({(number(row), row["rank"], row["name"], row["peer"]): row for row in tables["logged_links"]},
         judged_links(entries))


# ---- jobs ----


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_job_and_each_of_its_logs(gputime, tmp_path, seed, verbose):
    paths = inspector_logs.write(tmp_path / "logs", inspector_logs.job(seed, ranks=4 + 2 * seed, verbose=verbose))
    check(gputime.json("ranks", tmp_path / "logs"), paths)
    check(gputime.json(paths[1]), paths[1:2])


def test_random_records(gputime, tmp_path):
    """Any order, gaps in numbers, ranks that others lack, other kinds of timing, two ranks in one log."""
    for seed in range(4):
        rng = random.Random(seed)
        files = [[] for _ in range(3)]
        for _ in range(300):
            name = rng.choice(["AllReduce", "AllGather", "Broadcast", "Send", "Oddity"])
            files[rng.randrange(3)].append(record(
                rng.choice([1, 0xfedcba9876543210]), rng.randrange(4), 4, name, rng.randrange(40),
                rng.choice([0, 8, 4096]), rng.randrange(0, 30), peer=rng.randrange(4) if name == "Send" else None,
                timing=rng.choice(["kernel_gpu"] * 9 + ["kernel_cpu", "collective_cpu"])))
        paths = []
        for index, records in enumerate(files):
            paths.append(tmp_path / f"{seed}" / f"{index}.jsonl")
            paths[-1].parent.mkdir(exist_ok=True)
            paths[-1].write_text("".join(map(line, records)))
        check(gputime.json("ranks", tmp_path / f"{seed}"), paths)


def test_who_came_last_and_which_link_is_slow(gputime, tmp_path):
    inspector_logs.write(tmp_path / "logs", inspector_logs.job(steps=12, late=2, slow_pair=1))
    text = gputime("ranks", tmp_path / "logs").stdout.decode()
    flat = " ".join(text.split())
    assert "Rank 2 of communicator 0x0000abc0ffee1234 came last in 36 of 36 compared collectives" in flat
    assert "Transfers of communicator 0x0000000000005001 take 3." in flat or "take 2.9" in flat
    assert "without kernels: what else the GPUs did, and how much of this time is exposed, is not known" in flat
    for claim in ("No findings", "No rank waited", "Exposed wait", "Accounting", "busy"):
        assert claim not in text


def test_one_log_says_what_it_is(gputime, tmp_path):
    path = inspector_logs.write(tmp_path, inspector_logs.job())[3]
    text = " ".join(gputime(path).stdout.decode().split())
    assert "NCCL Inspector logged 24 collectives and 12 messages in 2 communicators" in text
    report = gputime.json("kernels", path)
    assert [issue["id"] for issue in report["issues"]] == ["log_without_ops"]


def test_packed_and_printed_for_people(gputime, tmp_path):
    records = inspector_logs.job()[0]
    plain = tmp_path / "plain.log"
    plain.write_text("".join(map(line, records)))
    expected = gputime.json(plain)["tables"]["logged_sizes"]["rows"]
    packed = tmp_path / "packed.log.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    pretty = tmp_path / "pretty.jsonl"
    pretty.write_text("\n".join(json.dumps(entry, indent=2) for entry in records) + "\n")
    listed = tmp_path / "list.ndjson"
    listed.write_text(json.dumps(records, indent=1))
    for path in (packed, pretty, listed):
        rows = gputime.json(path)["tables"]["logged_sizes"]["rows"]
        assert [row | {"input": 0} for row in rows] == [row | {"input": 0} for row in expected]


# ---- logs that are not as they should be ----


def hostile(records):
    """(line, issue that it causes; None: none)."""
    good = line(records[0])
    yield good[:len(good) // 2] + "\n", "event_damaged"
    yield "NCCL INFO Bootstrap: using eth0\n", None
    yield "{}\n", None
    yield '{"header":{},"metadata":{}}\n', None
    yield good.replace('"coll":"AllReduce",', ""), "event_damaged"
    yield good.replace('"coll_sn":0', '"coll_sn":NaN'), "number_unreadable"
    yield good.replace('"coll_sn":0', '"coll_sn":99999999999999999999999999'), "number_unreadable"
    yield good.replace('"rank":0', '"rank":"zero"'), "number_unreadable"
    yield good.replace('"id":"0x', '"id":"0xyz'), "number_unreadable"
    yield good.replace('"coll_sn"', '"novel":{"a":[1,{"b":"}"}]},"coll_sn"'), None
    yield good.replace('"coll_exec_time_us":', '"coll_exec_time_us":-'), None


def test_hostile_lines_cost_only_themselves(gputime, tmp_path):
    records = inspector_logs.job()[0]
    good = "".join(map(line, records))
    for index, (odd, issue) in enumerate(hostile(records)):
        path = tmp_path / f"{index}.log"
        path.write_text(line(records[1]) + odd + good)
        report = gputime.json(path)
        assert sum(row["records"] for row in report["tables"]["logged_groups"]["rows"]) >= len(records), odd
        found = {entry["id"] for entry in report["issues"]} - {"log_without_ops"}
        assert found == ({issue} if issue else set()), odd


def test_records_without_some_of_their_members(dump_rows, tmp_path):
    """What is not there, or null, is not known; all that is there is kept."""
    def read_one(change):
        entry = json.loads(json.dumps(inspector_logs.job()[0][0]))
        change(entry)
        path = tmp_path / "one.log"
        path.write_text(line(entry))
        rows = dump_rows(path)
        (row,) = rows["comm_logs"]
        groups, processes = rows["comm_groups"], rows["processes"]
        return (row, groups[row["group"]] if row["group"] is not None else None,
                processes[row["process"]] if row["process"] is not None else None,
                {issue["id"]: issue["count"] for issue in rows["issues"]})

    assert read_one(lambda entry: entry["header"].pop("id"))[1] is None
    assert read_one(lambda entry: entry["header"].update(id="12345"))[1]["communicator"] == 12345
    assert read_one(lambda entry: entry["header"].update(id="0XfF"))[1]["communicator"] == 255
    _, group, _, issues = read_one(lambda entry: entry["header"].update(id="all ranks"))
    assert group["name"] == "all ranks" and issues["number_unreadable"] == 1
    assert not read_one(lambda entry: entry["header"].update(comm_name="unknown"))[1]["name"]
    assert read_one(lambda entry: entry["header"].update(comm_name="tp"))[1]["name"] == "tp"
    assert read_one(lambda entry: [entry["metadata"].pop(key) for key in ("pid", "hostname")])[2] is None
    assert read_one(lambda entry: entry["metadata"].pop("pid"))[2] is not None
    row, _, _, issues = read_one(lambda entry: entry["coll_perf"].update(coll_exec_time_us=None, coll_msg_size_bytes=-1))
    assert row["length_ns"] is None and row["bytes"] is None and "number_unreadable" not in issues
    row, _, _, issues = read_one(lambda entry: entry["coll_perf"].update(coll_exec_time_us="long", coll_busbw_gbs="fast"))
    assert row["length_ns"] is None and row["busbw"] is None and issues["number_unreadable"] == 2
    row, group, process, _ = read_one(lambda entry: entry.update(header=7, metadata="x"))
    assert group is None and process is None and row["name"] == "AllReduce"


def test_records_after_other_lines(gputime, tmp_path):
    records = "".join(map(line, inspector_logs.job()[0]))
    path = tmp_path / "first.log"
    path.write_text(records)
    expected = gputime.json(path)["tables"]["logged_sizes"]["rows"]
    for before in ("NCCL version 2.28\n", "\n\n", "{\"other\": 1}\n[\n", "\n \nNCCL INFO {\n"):
        path.write_text(before + records)
        assert gputime.json(path)["tables"]["logged_sizes"]["rows"] == expected, before
    path.write_text("its words alone: \"coll_perf\"")
    assert gputime(path).returncode == 1


def test_braces_that_nothing_closes(gputime, tmp_path):
    """Each could be looked for to the end of the log: that would take hours here."""
    records = inspector_logs.job()[0]
    path = tmp_path / "braces.log"
    printed = json.dumps(records[1], indent=1) + "\n"
    path.write_text(line(records[0]) + '{\n"x":[\n' + printed + '{\n"x":[\n' * 400000)
    report = gputime.json(path)
    assert sum(row["records"] for row in report["tables"]["logged_groups"]["rows"]) >= 1
    assert {entry["id"]: entry["count"] for entry in report["issues"]}["event_damaged"] >= 400000


def test_numbers_far_apart(gputime, tmp_path):
    path = tmp_path / "far.log"
    entry = next(entry for entry in inspector_logs.job()[0] if "coll_perf" in entry)
    numbered = [{**entry, "coll_perf": {**entry["coll_perf"], "coll_sn": number}} for number in (0, 2**63 - 1)]
    path.write_text("".join(line({**entry, "header": {**entry["header"], "rank": rank}}) for entry in numbered for rank in (0, 1)))
    (row,) = gputime.json("ranks", path)["tables"]["logged_groups"]["rows"]
    assert row["missing"] >= 2**62


def test_a_cut_last_line(gputime, tmp_path):
    good = "".join(map(line, inspector_logs.job()[0]))
    path = tmp_path / "cut.log"
    path.write_text(good[:-30])
    done = gputime(path)
    assert "input_cut" in done.stdout.decode()
    assert gputime("--strict", path).returncode == 1


def test_the_same_log_twice_counts_once(gputime, tmp_path):
    logs = inspector_logs.job()
    paths = inspector_logs.write(tmp_path / "logs", logs)
    copy = tmp_path / "logs" / "copy.log"
    copy.write_bytes(paths[0].read_bytes())
    check(gputime.json("ranks", tmp_path / "logs"), paths)
    text = " ".join(gputime("ranks", tmp_path / "logs").stdout.decode().split())
    assert f"{len(logs[0])} records are in the logs more than once" in text


def test_numbers_that_are_not_there(gputime, tmp_path):
    logs = inspector_logs.job()
    logs[0] = [entry for entry in logs[0] if entry.get("coll_perf", {}).get("coll_sn") != 3]
    paths = inspector_logs.write(tmp_path / "logs", logs)
    check(gputime.json("ranks", tmp_path / "logs"), paths)
    assert "4 collectives are not in the logs" in " ".join(gputime("ranks", tmp_path / "logs").stdout.decode().split())


def test_other_logs_in_the_folder_are_passed_over(gputime, tmp_path):
    paths = inspector_logs.write(tmp_path / "logs", inspector_logs.job())
    (tmp_path / "logs" / "stdout.log").write_text("step 1 loss 2.3\nstep 2 loss 2.2\n")
    check(gputime.json("ranks", tmp_path / "logs"), paths)


def test_json_that_is_no_record(gputime, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"header":{"id":"0x1"},"metadata":{"inspector_output_format_version":"v4.0"}}\n')
    done = gputime(path)
    assert done.returncode == 1 and b"no record of NCCL Inspector" in done.stderr


# ---- beside traces ----


def test_joined_with_a_trace_by_communicator(gputime, tmp_path):
    trace = DATA / "nsys-more/rank0.nsys-rep"
    traced = [row for row in gputime.json(trace)["tables"]["collectives"]["rows"]
              if row["name"] == "all_reduce" and row["min_bytes"] == row["max_bytes"]]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(line(record(int(row["communicator"], 16), 0, 4, "AllReduce", number, row["min_bytes"], 50))
                           for row in traced for number in range(3)) + line(record(5, 0, 2, "AllReduce", 0, 8, 9)))
    report = gputime.json("ranks", trace, log)
    sizes = {(row["communicator"], row["bytes"]): row for row in report["tables"]["logged_sizes"]["rows"]}
    for row in traced:
        size = sizes[row["communicator"], row["min_bytes"]]
        assert size["traced"] == row["count"] and size["p50_ns"] == 50000
        assert 0 < size["traced_p50_ns"] <= row["time_ns"]
    groups = {number(row): row["traced"] for row in report["tables"]["logged_groups"]["rows"]}
    assert groups.pop(5) == 0 and set(groups.values()) == {1}
    text = " ".join(gputime("ranks", trace, log).stdout.decode().split())
    assert f"{len(groups)} of {len(groups) + 1} logged communicators are in the traces as well" in text
    assert "Exposed transfer" in text or "Exposed" in text  # the trace's own tables are still there


def test_traces_that_name_no_communicator(gputime, tmp_path):
    log = inspector_logs.write(tmp_path, inspector_logs.job())[0]
    text = " ".join(gputime("ranks", DATA / "torch/tpdp_rank0.json.gz", log).stdout.decode().split())
    assert "cannot be joined with the logs of NCCL Inspector" in text
