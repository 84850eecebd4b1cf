"""Calls of the C library and of MPI in Nsight traces: rows as sqlite3 reads them, and idle time by call as plainly as its
definition allows. What is measured by ranges must not see them."""

import random
import shutil
import sqlite3
from collections import defaultdict

import pytest

from conftest import DATA

EXTRAS = DATA / "nsys/extras.sqlite.gz"
MPI_REPORT, MPI_EXPORT = DATA / "nsys-mpi/exchange.nsys-rep", DATA / "nsys-mpi/exchange.sqlite.gz"
MPI_TABLES = {"MPI_COLLECTIVES_EVENTS": "MPI_Allreduce", "MPI_P2P_EVENTS": "MPI_Isend",
              "MPI_START_WAIT_EVENTS": "MPI_Waitall", "MPI_OTHER_EVENTS": "MPI_Init"}
PID = 77 << 24 | 1 << 56
THREADS = [PID | 500, PID | 501]


def add_calls(path, calls):
    """calls: (table, name, start, end, globalTid). Tables as the exporter declares them, as far as they matter."""
    with sqlite3.connect(path) as database:
        strings = defaultdict(lambda: None, {value: key for key, value in database.execute("SELECT * FROM StringIds")})
        for table in ["OSRT_API", *MPI_TABLES]:
            name = "nameId" if table == "OSRT_API" else "textId"
            more = ", eventClass INTEGER, returnValue INTEGER, nestingLevel INTEGER, callchainId INTEGER" \
                if table == "OSRT_API" else ", commHandle INTEGER"
            database.execute(f"CREATE TABLE IF NOT EXISTS {table} "
                             f"(start INTEGER, end INTEGER, globalTid INTEGER, {name} INTEGER{more})")
        for table, text, start, end, thread in calls:
            if strings[text] is None:
                strings[text] = 1 + max(key for key, in database.execute("SELECT id FROM StringIds"))
                database.execute("INSERT INTO StringIds VALUES (?, ?)", (strings[text], text))
            name = "nameId" if table == "OSRT_API" else "textId"
            more = {"eventClass": 27, "returnValue": 0, "callchainId": 0} if table == "OSRT_API" else {}
            columns = {"start": start, "end": end, "globalTid": thread, name: strings[text], **more}
            database.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
                             list(columns.values()))


def random_calls(rng, count, last_ns, threads):
    names = ["read", "poll", "pthread_cond_wait"]
    for _ in range(count):
        table = rng.choice(["OSRT_API", *MPI_TABLES])
        start = rng.randrange(last_ns)
        yield (table, MPI_TABLES.get(table) or rng.choice(names), start, start + rng.choice([0, 100, 5000, 40000]),
               rng.choice(threads))


def make_export(path, rng, kernels=40):
    """Kernels that are each launched after the one before has ended: every gap is the host's. (start, end, launch end,
    thread) of each."""
    made, now = [], 1000
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        database.execute("INSERT INTO StringIds VALUES (1, 'kernel'), (2, 'cudaLaunchKernel_v7000')")
        database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
                         "INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER)")
        database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, correlationId INTEGER, "
                         "globalTid INTEGER, nameId INTEGER)")
        for number in range(kernels):
            call = now + rng.randrange(10000, 50000)
            start, end = call + 6000, call + 6000 + rng.randrange(1000, 9000)
            thread = rng.choice(THREADS)
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, ?, 1, 1)",
                             (start, end, number, PID))
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 2)",
                             (call, call + 4000, number, thread))
            made.append((start, end, call + 4000, thread))
            now = end
    return made


def judge(kernels, calls):
    """{(kind, name): (gaps, total, longest)}."""
    parts = defaultdict(lambda: defaultdict(int))
    ordered = [(start, -end, place, table, name, thread) for place, (table, name, start, end, thread)
               in enumerate(sorted(calls, key=lambda call: (call[0] != "OSRT_API", list(MPI_TABLES).index(call[0])
                                                            if call[0] in MPI_TABLES else 0)))]
    for gap, ((_, from_ns, _, _), (start, _, launched, thread)) in enumerate(zip(kernels, kernels[1:])):
        to_ns = min(start, launched)
        own = [call for call in ordered if call[5] == thread]
        edges = sorted({from_ns, to_ns, *(edge for call in own for edge in (call[0], -call[1]))})
        for left, right in zip(edges, edges[1:]):
            around = [call for call in own if call[0] <= left and -call[1] >= right]
            if from_ns <= left and right <= to_ns and around:
                _, _, _, table, name, _ = min(around)
                parts["os" if table == "OSRT_API" else "mpi", name][gap] += right - left
    return {key: (len(gaps), sum(gaps.values()), max(gaps.values())) for key, gaps in parts.items()}


@pytest.mark.parametrize("seed", range(5))
def test_idle_time_by_call(gputime, tmp_path, seed):
    rng = random.Random(seed)
    path = tmp_path / "made.sqlite"
    kernels = make_export(path, rng)
    calls = list(random_calls(rng, 150, kernels[-1][1], THREADS))
    add_calls(path, calls)
    report = gputime.json("gaps", "--per", "device", path)
    assert {row["cause"] for row in report["tables"]["idle_causes"]["rows"]} == {"host"}
    rows = report["tables"]["idle_calls"]["rows"]
    assert {(row["kind"], row["name"]): (row["count"], row["total_ns"], row["longest_ns"]) for row in rows} == \
        judge(kernels, calls)
    idle = report["tables"]["idle_causes"]["rows"][0]["total_ns"]
    assert all(row["share"] == pytest.approx(row["total_ns"] / idle) for row in rows)


def test_rows_are_those_of_the_export(dump_rows, unpacked, tmp_path):
    path = tmp_path / "extras.sqlite"
    shutil.copy(unpacked(EXTRAS), path)
    with sqlite3.connect(path) as database:
        thread, = database.execute("SELECT globalTid FROM OSRT_API LIMIT 1").fetchone()
    add_calls(path, random_calls(random.Random(3), 60, 10 ** 7, [thread]))
    one = dump_rows(path, threads=1)
    assert dump_rows(path, threads=3)["host_calls"] == one["host_calls"]
    found = sorted((row["start_ns"], row["end_ns"], row["name"], row["domain"],
                    one["threads"][row["thread"]]["tid"]) for row in one["host_calls"])
    with sqlite3.connect(path) as database:
        expected = [(*row[:2], row[2], "os", row[3] & 0xFFFFFF) for row in database.execute(
            "SELECT start, end, value, globalTid FROM OSRT_API JOIN StringIds ON id = nameId")]
        for table in MPI_TABLES:
            expected += [(*row[:2], row[2], "mpi", row[3] & 0xFFFFFF) for row in database.execute(
                f"SELECT start, end, value, globalTid FROM {table} JOIN StringIds ON id = textId")]
    assert found == sorted(expected) and len(found) == 95


@pytest.mark.parametrize("report, export, kind", [(DATA / "nsys/extras.nsys-rep", EXTRAS, "os"), (MPI_REPORT, MPI_EXPORT, "mpi")],
                         ids=["os", "mpi"])
def test_a_report_and_its_export_say_the_same(gputime, unpacked, report, export, kind):
    rows = [gputime.json("gaps", "--per", "device", path)["tables"]["idle_calls"]["rows"] for path in (report, unpacked(export))]
    assert {row["kind"] for row in rows[0]} == {kind}
    assert [row | {"input": 0} for row in rows[0]] == [row | {"input": 0} for row in rows[1]]


def host_calls(rows):
    """(start, end, name, kind, process, thread) of each."""
    return sorted((row["start_ns"], row["end_ns"], row["name"], row["domain"],
                   rows["processes"][rows["threads"][row["thread"]]["process"]]["pid"], rows["threads"][row["thread"]]["tid"])
                  for row in rows["host_calls"])


def mpi_calls(path):
    """As sqlite3 reads them. A call that waits for several requests has as many rows."""
    with sqlite3.connect(path) as database:
        return sorted({(*row[:3], "mpi", row[3] >> 24 & 0xFFFFFF, row[3] & 0xFFFFFF) for table in MPI_TABLES for row in
                       database.execute(f"SELECT start, end, value, globalTid FROM {table} JOIN StringIds ON id = textId")})


@pytest.mark.parametrize("threads", [1, 3])
def test_mpi_calls_of_a_report_are_those_of_its_export(dump_rows, unpacked, threads):
    expected = mpi_calls(unpacked(MPI_EXPORT))
    # 20 rounds of 2 ranks: Irecv, Isend, Waitall, Sendrecv, Send or Recv, Bcast, Allreduce, Reduce, Barrier; Init and Finalize.
    assert len(expected) == 20 * 2 * 9 + 2 * 2
    for path in (MPI_REPORT, unpacked(MPI_EXPORT)):
        rows = dump_rows(path, threads=threads)
        assert host_calls(rows) == expected, path
        assert rows["ranges"] == [] and rows["comms"] == [], path


def test_mpi_calls_are_no_ranges_where_nobody_asks_for_them(dump_rows, unpacked):
    for path in (MPI_REPORT, unpacked(MPI_EXPORT)):
        rows = dump_rows(path, facts="usual")
        assert rows["ops"] and rows["host_calls"] == [] and rows["ranges"] == [], path


@pytest.mark.parametrize("threads", [1, 4])
def test_rows_of_a_call_are_one_call_wherever_pages_end(dump_rows, tmp_path, threads):
    path, rng = tmp_path / "made.sqlite", random.Random(4)
    make_export(path, rng, kernels=2)
    calls, now = [], 0
    for _ in range(3000):
        now += rng.randrange(1, 50)
        call = ("MPI_START_WAIT_EVENTS", rng.choice(["MPI_Waitall", "MPI_Testsome"]), now, now + 40, rng.choice(THREADS))
        calls += [call] * rng.choice([1, 2, 30])
    add_calls(path, calls)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA page_size = 512")  # many pages, so that several threads share the table
    database.execute("VACUUM")
    database.close()
    assert host_calls(dump_rows(path, threads=threads)) == mpi_calls(path)
    assert len(mpi_calls(path)) == 3000


@pytest.mark.parametrize("command", [["summary"], ["gaps", "--gap-top", "0"], ["ranges", "--tree"], ["steps"], ["findings"],
                                     ["path"], ["ranks"]], ids=" ".join)
def test_nothing_else_differs_between_a_report_with_mpi_and_its_export(gputime, unpacked, command):
    tables = [gputime.json(*command, path)["tables"] for path in (MPI_REPORT, unpacked(MPI_EXPORT))]
    rows = [{key: [row | {"input": 0} for row in table["rows"]] for key, table in one.items() if key != "comm_by_group"}
            for one in tables]
    assert any(rows[0].values()) == (command[0] not in ("ranges", "steps")) and rows[0] == rows[1]


def test_what_is_measured_by_ranges_does_not_see_them(gputime, unpacked, tmp_path):
    before, after = tmp_path / "before" / "x.sqlite", tmp_path / "after" / "x.sqlite"
    for path in (before, after):
        path.parent.mkdir()
        shutil.copy(unpacked(EXTRAS), path)
    with sqlite3.connect(after) as database:
        threads = [row[0] for row in database.execute("SELECT DISTINCT globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME")]
    add_calls(after, random_calls(random.Random(1), 500, 10 ** 7, threads))
    for command in ([], ["ranges", "--tree"], ["steps"], ["gaps", "--per", "device"], ["findings"], ["path"]):
        reports = [gputime.json(*command, path) for path in (before, after)]
        for report in reports:
            report["tables"].pop("idle_calls", None)
        assert reports[0]["tables"] == reports[1]["tables"], command


def test_only_who_asks_reads_them(gputime, unpacked):
    facts = gputime.json("explain", "--print-schema", unpacked(EXTRAS), "--table", "trace_facts")
    assert "host_calls" in str(facts)
