"""Frames of what is read only on request: logs of NCCL Inspector, groups of ranks, calls of the C library and of MPI. Each is
compared with the file itself, read by other means."""

import gzip
import json
import sqlite3

import pytest

from samples import DATA

LOGS = sorted((DATA / "nccl").glob("*.log"))


def rows_of(gputime, query, *traces):
    document = gputime.json("sql", query, *traces)
    (table,) = document["tables"].values()
    return table["rows"]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_logged_collectives(gputime, path):
    records = [json.loads(line) for line in path.read_text().splitlines()]
    expected = []
    for record in records:
        header, perf = record["header"], record.get("coll_perf") or record["p2p_perf"]
        kind = "coll" if "coll_perf" in record else "p2p"
        expected.append((perf[kind], perf[f"{kind}_sn"], perf[f"{kind}_msg_size_bytes"], perf[f"{kind}_exec_time_us"] * 1000,
                         perf[f"{kind}_timing_source"], perf[f"{kind}_busbw_gbs"], header["rank"], header["n_ranks"], header["nnodes"],
                         int(header["id"], 16), record["metadata"]["pid"]))
    found = rows_of(gputime, "select name, sequence, bytes, dur_ns, timing, busbw, group_rank, group_size, nodes, communicator, pid "
                             "from comm_logs order by id", path)
    assert [tuple(row.values()) for row in found] == expected


def test_groups_of_logs(gputime):
    headers = {(int(record["header"]["id"], 16), record["header"]["comm_name"], record["header"]["n_ranks"])
               for record in map(json.loads, LOGS[0].read_text().splitlines())}
    found = rows_of(gputime, "select communicator, name, size from comm_groups", LOGS[0])
    assert {tuple(row.values()) for row in found} == headers


def test_calls_of_the_c_library(gputime, tmp_path):
    """Nsight exports a row for a call that it cannot name; the report has no such call."""
    export = tmp_path / "extras.sqlite"
    export.write_bytes(gzip.open(DATA / "nsys/extras.sqlite.gz").read())
    with sqlite3.connect(export) as database:
        expected = sorted(database.execute(
            "select value, end - start, globalTid & 0xffffff, (globalTid >> 24) & 0xffffff from OSRT_API join StringIds on nameId = id "
            "where value <> '[Unknown]'"))
    for trace in (export, DATA / "nsys/extras.nsys-rep"):
        found = rows_of(gputime, "select name, dur_ns, tid, pid from host_calls where domain = 'os' and name <> '[Unknown]'", trace)
        assert sorted(tuple(row.values()) for row in found) == expected and len(expected) > 30
