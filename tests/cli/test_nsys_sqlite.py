"""Nsight Systems' SQLite exports: NVIDIA's own summaries of the same captures, exports of every generation, databases
made by hand, broken ones, and that nothing is ever written."""

import collections
import gzip
import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess

import pytest
from samples import CAPTURES, DATA, NVIDIA_EXPORTS, OWN_CAPTURES, PUBLIC_EXPORTS, with_shared

OWN = [capture.export for capture in OWN_CAPTURES] + sorted((DATA / "nsys-more").glob("*.sqlite.gz"))
SMALL = DATA / "nsys" / "graph_whole.sqlite.gz"


def export_name(path):
    return path.name.removesuffix(".gz").removesuffix(".sqlite")


def check_times(ours, theirs):
    """The times of one name, to the digits that NVIDIA prints."""
    assert ours["total_ns"] == int(theirs["Total Time (ns)"])
    assert ours["min_ns"] == int(theirs["Min (ns)"])
    assert ours["max_ns"] == int(theirs["Max (ns)"])
    for key, column in (("avg_ns", "Avg (ns)"), ("median_ns", "Med (ns)"), ("stddev_ns", "StdDev (ns)")):
        assert abs(ours[key] - float(theirs[column])) <= 0.0501, (key, ours[key], theirs[column])


@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_kernels_as_nvidia_sums_them(gputime, unpacked, capture):
    rows = gputime.json("kernels", unpacked(capture.export), "--no-cache", "--top", "0")["tables"]["kernels"]["rows"]
    # Graphs that were traced whole are work of the GPU, but no kernels to NVIDIA.
    ours = {row["name"]: row for row in rows if not row["name"].startswith("[CUDA graph")}
    theirs = {row["Name"]: row for row in capture.rows("cuda_gpu_kern_sum")}
    assert ours.keys() == theirs.keys()
    for name, row in theirs.items():
        assert ours[name]["count"] == int(row["Instances"])
        check_times(ours[name], row)


@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_memory_as_nvidia_sums_it(gputime, unpacked, capture):
    document = gputime.json("summary", unpacked(capture.export), "--no-cache")
    ours = {row["name"]: row for row in document["tables"]["memory"]["rows"]}
    theirs = {row["Operation"]: row for row in capture.rows("cuda_gpu_mem_time_sum")}
    assert ours.keys() == theirs.keys()
    for name, row in theirs.items():
        assert ours[name]["count"] == int(row["Count"])
        check_times(ours[name], row)


@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_queues_as_nvidia_sums_them(gputime, unpacked, capture):
    """Time between launch and start: right only if every kernel found the launch of its process."""
    document = gputime.json("kernels", "--launches", unpacked(capture.export), "--no-cache", "--top", "0")
    ours = {row["name"]: row for row in document["tables"]["kernel_launches"]["rows"]}
    theirs = collections.defaultdict(list)
    for row in capture.rows("cuda_kern_exec_sum"):
        theirs[row["Kernel Name"]].append(row)
    for name, rows in theirs.items():  # one row for each thread and launch API
        queued = [row for row in rows if int(row["QCount"])]
        assert ours[name]["count"] == sum(int(row["Count"]) for row in rows)
        assert ours[name]["queued"] == sum(int(row["QCount"]) for row in rows)
        if queued:
            assert ours[name]["queue_max_ns"] == max(int(row["QMax (ns)"]) for row in queued)
        if len(rows) == 1 and queued:
            assert abs(ours[name]["queue_p50_ns"] - float(rows[0]["QMed (ns)"])) <= 0.0501


@pytest.mark.parametrize("path", with_shared(OWN, PUBLIC_EXPORTS), ids=export_name)
def test_exports_of_all_generations(gputime, unpacked, path):
    path = unpacked(path)
    document = gputime.json("summary", path, "--no-cache")
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    expected = 0
    for kind in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"):
        if f"CUPTI_ACTIVITY_KIND_{kind}" in tables:
            expected += connection.execute(f"SELECT count(*) FROM CUPTI_ACTIVITY_KIND_{kind}").fetchone()[0]
    assert document["inputs"][0]["ops"] == expected
    issues = {issue["id"] for issue in document["issues"]}
    assert ("no_gpu_work" in issues) == (expected == 0)
    assert not issues & {"event_damaged", "input_cut", "op_without_name", "op_without_time"}


@pytest.mark.parametrize("path", with_shared(OWN, NVIDIA_EXPORTS, PUBLIC_EXPORTS), ids=export_name)
def test_threads_change_nothing(gputime, unpacked, path):
    path = unpacked(path)
    one = gputime("summary", "--json", "--no-cache", "--threads", "1", path)
    assert one.returncode == 0
    assert one.stdout == gputime("summary", "--json", "--no-cache", "--threads", "5", path).stdout


# ---- databases made by hand ----

STRINGS = ["", "gemm", "copy", "cudaLaunchKernel_v7000"]
SCHEMA = """
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
        demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, graphNodeId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
        globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
    CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT);
    CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL);
"""


def global_id(pid, tid=0):
    return 1 << 48 | pid << 24 | tid


def make(path, kernels=(), calls=(), devices=(), gpus=(), more=""):
    """kernels: start, end, device, stream, correlation, pid, name id; calls: start, end, pid, correlation."""
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA + more)
    connection.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(STRINGS))
    connection.executemany(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, 1, ?, ?, ?, ?, 0, NULL)",
        [(start, end, device, stream, correlation, global_id(pid), name)
         for start, end, device, stream, correlation, pid, name in kernels])
    connection.executemany(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, 3, 0)",
        [(start, end, global_id(pid, pid), correlation) for start, end, pid, correlation in calls])
    connection.executemany("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (?, ?, ?)", devices)
    connection.executemany("INSERT INTO TARGET_INFO_GPU VALUES (1, ?, ?)", gpus)
    connection.commit()
    connection.close()
    return path


def test_gpu_of_a_worker_that_sees_one(gputime, tmp_path):
    """Both workers call their GPU 0; one runs on GPU 3."""
    path = make(tmp_path / "workers.sqlite",
                kernels=[(1000, 2000, 0, 7, 1, 10, 1), (1000, 5000, 0, 7, 1, 11, 2)],
                devices=[(0, 0, 10), (3, 0, 11)], gpus=[(0, "GPU a"), (3, "GPU b")])
    document = gputime.json("summary", path)
    busy = {row["device"]: row["busy_ns"] for row in document["tables"]["accounting"]["rows"]}
    assert busy == {0: 1000, 3: 4000}


def test_launches_stay_in_their_process(gputime, tmp_path):
    """Two processes with the same correlation ids."""
    path = make(tmp_path / "processes.sqlite",
                kernels=[(1000, 2000, 0, 7, 1, 10, 1), (3000, 5000, 0, 7, 1, 11, 2), (6000, 7000, 0, 7, 2, 11, 1)],
                calls=[(100, 900, 10, 1), (2400, 2600, 11, 1), (50, 60, 10, 2)], gpus=[(0, "GPU")])
    document = gputime.json("kernels", "--launches", path)
    queues = {row["name"]: row["queue_max_ns"] for row in document["tables"]["kernel_launches"]["rows"]}
    assert queues == {"gemm": 100, "copy": 400}
    # The third kernel's process has no such call; that of the other process is not its launch.
    issues = {issue["id"]: issue["count"] for issue in document["issues"]}
    assert issues["op_without_call"] == 1


def issues_of(document):
    return {issue["id"]: issue["count"] for issue in document["issues"]}


def alter(path, script, *rows):
    """Runs a script on a database, then statements with values."""
    connection = sqlite3.connect(path)
    connection.executescript(script)
    for statement, values in rows:
        connection.execute(statement, values)
    connection.commit()
    connection.close()
    return path


def machine_id(machine, pid, tid=0):
    return machine << 48 | pid << 24 | tid


def test_processes_of_two_machines(gputime, tmp_path):
    """The same process number and the same correlation ids in two virtual machines."""
    kernel = "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, 7, 1, ?, ?, 0, NULL)"
    call = "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, 1, 3, 0)"
    path = alter(make(tmp_path / "machines.sqlite", devices=[(0, 0, 100)], gpus=[(0, "GPU"), (1, "GPU")]), "",
                 (kernel, (1000, 2000, machine_id(1, 100), 1)), (kernel, (3000, 5000, machine_id(2, 100), 2)),
                 (call, (2400, 2500, machine_id(2, 100, 5))), (call, (100, 900, machine_id(1, 100, 5))))
    document = gputime.json("kernels", "--launches", path)
    queues = {row["name"]: row["queue_max_ns"] for row in document["tables"]["kernel_launches"]["rows"]}
    assert queues == {"gemm": 100, "copy": 500}
    issues = issues_of(document)
    assert "op_without_call" not in issues and "launch_ambiguous" not in issues
    assert issues["device_shared"] == 1  # the map of devices has only the number, which both have
    rows = gputime.json("summary", path)["tables"]["processes"]["rows"]
    assert [(row["pid"], row["name"]) for row in rows] == [(100, "hw 0, vm 2"), (100, "hw 0, vm 1")]


def test_table_with_a_bare_process_number(gputime, tmp_path):
    """Where only some tables record the machine, the number alone must be enough."""
    path = alter(make(tmp_path / "bare.sqlite", calls=[(100, 900, 10, 1)], gpus=[(0, "GPU")]),
                 "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, "
                 "end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, processId INTEGER, name TEXT);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 2000, 0, 7, 1, 10, 'k');"
                 "CREATE TABLE PROCESSES (globalPid INTEGER, name TEXT)",
                 ("INSERT INTO PROCESSES VALUES (?, 'python3')", (global_id(10),)))
    (row,) = gputime.json("kernels", "--launches", path)["tables"]["kernel_launches"]["rows"]
    assert row["queue_max_ns"] == 100
    (row,) = gputime.json("summary", path)["tables"]["processes"]["rows"]
    assert (row["pid"], row["name"]) == (10, "python3")


NVTX_OF_2020 = """
    CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL, eventType INTEGER NOT NULL,
        text TEXT NOT NULL, globalTid INTEGER NOT NULL, endGlobalTid INTEGER NOT NULL, textId INTEGER NOT NULL,
        domainId INTEGER NOT NULL);
"""


def test_exports_that_know_no_null(gputime, tmp_path):
    """Exports of 2019 to 2021 have 0 and '' where newer ones have NULL."""
    range_row = "INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, 0, ?, 0)"
    path = alter(make(tmp_path / "old.sqlite", kernels=[(1000, 2000, 0, 7, 1, 10, 1)]),
                 NVTX_OF_2020 + "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 0",
                 (range_row, (10, 20, 59, "", global_id(10, 1), 2)), (range_row, (30, 0, 59, "open", global_id(10, 1), 0)),
                 (range_row, (40, 2**63 - 1, 60, "endless", global_id(10, 1), 0)),
                 (range_row, (50, 60, 60, "", global_id(10, 1), 77)))
    document = gputime.json("ranges", path)
    issues = issues_of(document)
    assert issues["range_open"] == 2 and "call_negative" not in issues
    lengths = {row["name"]: row["range_ns"] for row in document["tables"]["ranges"]["rows"]}
    assert lengths == {"copy": 10, "open": 1970, "endless": 1960, "": 10}


CONCURRENT = """
    CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
        correlationId INTEGER, name INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (5000, 5700, 0, 7, 9, 2);
"""


def test_tables_of_the_same_kind(gputime, tmp_path):
    """An empty table hides no other, and two that have rows are both read."""
    empty = alter(make(tmp_path / "empty.sqlite"), CONCURRENT)
    assert gputime.json("kernels", empty)["inputs"][0]["ops"] == 1
    both = alter(make(tmp_path / "both.sqlite", kernels=[(1000, 2000, 0, 7, 1, 10, 1)]), CONCURRENT)
    rows = gputime.json("kernels", both)["tables"]["kernels"]["rows"]
    assert {row["name"]: row["total_ns"] for row in rows} == {"gemm": 1000, "copy": 700}


def test_generated_columns_are_not_there(gputime, tmp_path):
    path = alter(make(tmp_path / "made.sqlite"),
                 "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, "
                 "demangledName AS (hex(zeroblob(100000))), end INTEGER, deviceId INTEGER, streamId INTEGER AS (5) STORED, "
                 "shortName INTEGER); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 30, 0, 1)")
    (row,) = gputime.json("kernels", path)["tables"]["kernels"]["rows"]
    assert (row["name"], row["total_ns"]) == ("gemm", 20)


def test_text_that_no_such_file_holds(gputime, tmp_path):
    """A column added later has its value once for all rows: what that gives is bounded by the size of the file."""
    path = alter(make(tmp_path / "added.sqlite"),
                 "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER);"
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
                 " INSERT INTO NVTX_EVENTS SELECT i, i + 5, 59, 1 FROM n;"
                 f"ALTER TABLE NVTX_EVENTS ADD COLUMN text TEXT DEFAULT '{'x' * 100000}'")
    issues = issues_of(gputime.json("ranges", path, "--no-cache"))
    assert issues["event_damaged"] == 1
    few = alter(tmp_path / "added.sqlite", "DELETE FROM NVTX_EVENTS WHERE start > 10")
    assert "event_damaged" not in issues_of(gputime.json("ranges", few, "--no-cache"))


def test_first_entry_of_a_device_counts(gputime, tmp_path):
    path = make(tmp_path / "twice.sqlite", kernels=[(1000, 2000, 0, 7, 1, 10, 1)], devices=[(3, 0, 10), (1, 0, 10)],
                gpus=[(1, "GPU a"), (3, "GPU b")])
    (row,) = gputime.json("summary", path)["tables"]["accounting"]["rows"]
    assert row["device"] == 3


def test_short_name_where_the_long_one_is_unknown(gputime, tmp_path):
    path = alter(make(tmp_path / "short.sqlite", kernels=[(1000, 2000, 0, 7, 1, 10, 99)]),
                 "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET shortName = 2")
    document = gputime.json("kernels", path)
    assert [row["name"] for row in document["tables"]["kernels"]["rows"]] == ["copy"]
    assert "op_without_name" not in issues_of(document)


@pytest.mark.parametrize("devices, doubts", [([(0, 0, 10), (0, 0, 11)], 0), ([(0, 0, 10)], 1), ([(0, 0, 11)], 1),
                                             ([(1, 0, 10)], 0), ([], 1)])
def test_devices_under_doubt(gputime, tmp_path, devices, doubts):
    """Two processes use number 0; some of them say which GPU that is."""
    path = make(tmp_path / "doubt.sqlite", kernels=[(1000, 2000, 0, 7, 1, 10, 1), (1000, 2000, 0, 7, 1, 11, 1)],
                devices=devices, gpus=[(0, "GPU a"), (1, "GPU b")])
    store_issues = issues_of(gputime.json("summary", path))
    assert store_issues.get("device_shared", 0) == doubts


def test_words_of_the_profiler(gputime, tmp_path):
    words = "CREATE TABLE DIAGNOSTIC_EVENT (text TEXT); INSERT INTO DIAGNOSTIC_EVENT VALUES "
    lost = alter(make(tmp_path / "lost.sqlite"), words +
                 "('No CUDA events collected. Does the process use CUDA?'), ('No NVTX events collected.'),"
                 "('CUDA profiling might have not been started correctly.'), ('Number of CUPTI events produced: 5')")
    assert issues_of(gputime.json("summary", lost))["events_dropped"] == 2
    many = alter(make(tmp_path / "many.sqlite"), words +
                 "('Number of incomplete CUPTI events dropped: 99999999999999999999999'),"
                 "('Number of incomplete CUPTI events dropped: 18446744073709551615'),"
                 "('Number of incomplete CUPTI events dropped: 7')")
    assert issues_of(gputime.json("summary", many))["events_dropped"] == 2**63 - 1


def test_missing_tables_cost_their_facts_only(gputime, tmp_path):
    path = make(tmp_path / "bare.sqlite", kernels=[(1000, 2000, 0, 7, 1, 10, 1)],
                more="DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME;"
                     "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, r);"
                     "DROP TABLE TARGET_INFO_GPU; CREATE TABLE TARGET_INFO_GPU (a, b, c)")
    for command in ("summary", "kernels", "gaps", "ranges"):
        assert gputime.json(command, path)["inputs"][0]["ops"] == 1
    for options, lacks in ((["kernels", "--launches"], "runtime calls"), (["ranges"], "ranges")):
        notes = gputime.json(*options, path)["inputs"][0]["notes"]
        assert any(f"the trace has no {lacks}" in note for note in notes), notes
    assert gputime.json("kernels", path)["tables"]["kernels"]["rows"][0]["total_ns"] == 1000


def test_tables_without_a_column_that_is_needed(gputime, tmp_path):
    path = make(tmp_path / "a.sqlite", kernels=[(10, 20, 0, 7, 1, 5, 1)])
    alter(path, "CREATE TABLE NVTX_EVENTS (end INTEGER, text TEXT); CREATE TABLE ThreadNames (name TEXT)")
    assert "table_incomplete" not in issues_of(gputime.json(path))
    alter(path, "INSERT INTO NVTX_EVENTS VALUES (5, 'x')")
    document = gputime.json(path)
    assert issues_of(document)["table_incomplete"] == 1
    assert document["inputs"][0]["ops"] == 1
    refused(gputime, "--strict", path)


TIMED = ["NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_KERNEL",
         "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "PROFILER_OVERHEAD", "OSRT_API",
         "CUDA_GPU_MEMORY_USAGE_EVENTS"]


def counts(rows):
    return collections.Counter({name: len(found) for name, found in rows.items()})


@pytest.mark.parametrize("reader", ["native", "sqlite"])
@pytest.mark.parametrize("table", TIMED)
def test_rows_without_a_start(table, reader, dump_rows, tmp_path):
    """Each costs itself, and is counted."""
    path = tmp_path / "extras.sqlite"
    path.write_bytes(gzip.decompress((DATA / "nsys/extras.sqlite.gz").read_bytes()))
    whole = dump_rows(path, reader=reader)
    spoilt = 3
    those = "WHERE eventType = 59" if table == "NVTX_EVENTS" else ""  # pushed and popped; others name domains
    alter(path, f"UPDATE {table} SET start = 'soon' WHERE rowid IN (SELECT rowid FROM {table} {those} LIMIT {spoilt})")
    rows = dump_rows(path, reader=reader)
    lost = {name: number for name, number in (counts(whole) - counts(rows)).items() if name != "issues"}
    issues = {row["id"]: row["count"] for row in rows["issues"]}
    found = issues.get("event_damaged", 0) + issues.get("op_without_time", 0)
    assert found == spoilt and lost, (lost, issues)


def test_schema_has_the_times_of_what_was_read(gputime, unpacked):
    """Tables that are not read have none, whatever they contain."""
    path = unpacked(DATA / "nsys" / "extras.sqlite.gz")
    rows = {row["table"]: row for row in gputime.json("explain", path)["tables"]["schema"]["rows"]}
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        query = 'SELECT min(start), max("end") FROM {}'
        origin = min(database.execute(query.format("CUPTI_ACTIVITY_KIND_" + kind)).fetchone()[0]
                     for kind in ("KERNEL", "MEMCPY", "MEMSET"))
        for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "PROFILER_OVERHEAD"):
            start, end = database.execute(query.format(table)).fetchone()
            assert (rows[table]["start_ns"], rows[table]["end_ns"]) == (start - origin, end - origin)
    assert rows["CUDA_GRAPH_NODE_EVENTS"]["role"] == "graph_clones"
    unread = [row for row in rows.values() if row["role"] is None]
    assert "CUDA_GPU_MEMORY_USAGE_EVENTS" in {row["table"] for row in unread}
    assert {(row["start_ns"], row["end_ns"]) for row in unread} == {(None, None)}


def test_paths_that_mean_something_in_a_uri(gputime, tmp_path):
    for name in ("a b.sqlite", "50%20?mode=rwc&x#y.sqlite", "-dash.sqlite", "ü'\".sqlite"):
        path = make(tmp_path / name, kernels=[(1000, 2000, 0, 7, 1, 10, 1)])
        assert gputime.json("kernels", path)["inputs"][0]["ops"] == 1
        assert gputime.json("kernels", f"./{name}", cwd=tmp_path)["inputs"][0]["ops"] == 1
    assert len(os.listdir(tmp_path)) == 4


# ---- files that cannot be read ----


def refused(gputime, *args, **settings):
    done = gputime("summary", *args, **settings)
    assert done.returncode == 1
    assert done.stdout == b""
    message = done.stderr.decode()
    assert message.count("\n") == 1 and message.startswith("gputime: ")
    return message


def test_foreign_databases(gputime, tmp_path):
    path = tmp_path / "history.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE urls (id INTEGER, value TEXT); CREATE TABLE visits (a);")
    connection.close()
    assert "neither an Nsight Systems export nor of a ROCm profiler: its tables are urls, visits" in refused(gputime, path)
    empty = tmp_path / "empty.sqlite"
    connection = sqlite3.connect(empty)
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    assert "it has no tables" in refused(gputime, empty)
    refused(gputime, tmp_path / "missing.sqlite")
    many = tmp_path / "many.sqlite"
    connection = sqlite3.connect(many)
    connection.executescript("".join(f"CREATE TABLE table_of_number_{i} (a);" for i in range(90)))
    connection.close()
    text = refused(gputime, many)
    shown = text.count("table_of_number_")
    assert 3 < shown < 90 and f" and {90 - shown} more" in text
    assert sorted(os.listdir(tmp_path)) == ["empty.sqlite", "history.sqlite", "many.sqlite"]


def test_packed_and_piped_databases(gputime, tmp_path):
    path = make(tmp_path / "a.sqlite", kernels=[(1000, 2000, 0, 7, 1, 10, 1)])
    packed = tmp_path / "a.sqlite.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    rows = gputime.json("kernels", path)["tables"]["kernels"]["rows"]
    wanted = [{key: value for key, value in row.items() if key != "input"} for row in rows]

    def check(output):
        found = json.loads(output)["tables"]["kernels"]["rows"]
        assert [{key: value for key, value in row.items() if key != "input"} for row in found] == wanted

    check(gputime("kernels", packed, "--json").stdout)
    check(gputime("kernels", "-", "--json", stdin=path.read_bytes()).stdout)
    check(gputime("kernels", "-", "--json", stdin=packed.read_bytes()).stdout)
    with open(path, "rb") as file:
        command = [gputime.binary, "kernels", "-", "--json"]
        check(subprocess.run(command, stdin=file, capture_output=True, env=gputime.environment, check=True).stdout)
    packed.write_bytes(packed.read_bytes()[:-40])
    done = gputime("kernels", packed)
    assert done.returncode == 1 or b"packing_damaged" in done.stdout
    assert sorted(os.listdir(tmp_path)) == ["a.sqlite", "a.sqlite.gz"]


@pytest.mark.parametrize("capture", OWN, ids=lambda path: path.name)
def test_packed_exports_are_read_as_they_are(capture, gputime, unpacked):
    one, other = (gputime.json("kernels", path)["tables"]["kernels"]["rows"] for path in (capture, unpacked(capture)))
    for rows in (one, other):
        for row in rows:
            row.pop("input")
    assert one and one == other


def test_logs_and_journals(gputime, tmp_path):
    """Changes in a file next to the database are read where that needs no writing, and never overlooked."""
    path = make(tmp_path / "a.sqlite", kernels=[(1000, 2000, 0, 7, 1, 10, 1)])
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (3000, 4000, 0, 1, 7, 2, {global_id(10)}, 1, 0, NULL)")
    writer.commit()
    assert gputime.json("kernels", "--no-cache", path)["inputs"][0]["ops"] == 2
    copy = tmp_path / "copy.sqlite"
    shutil.copy(path, copy)
    shutil.copy(f"{path}-wal", f"{copy}-wal")
    before = sorted(os.listdir(tmp_path))
    assert "wal_checkpoint" in refused(gputime, copy)
    assert sorted(os.listdir(tmp_path)) == before
    writer.close()
    os.remove(f"{copy}-wal")
    (tmp_path / "copy.sqlite-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(504))
    assert "copy.sqlite-journal" in refused(gputime, copy)


@pytest.mark.parametrize("packed", OWN, ids=export_name)
def test_nothing_is_written(gputime, tmp_path, packed):
    path = tmp_path / packed.stem
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    before = hashlib.sha256(path.read_bytes()).digest(), os.stat(path).st_mtime_ns
    os.chmod(path, 0o444)
    os.chmod(tmp_path, 0o555)
    try:
        assert gputime("summary", path).returncode == 0
    finally:
        os.chmod(tmp_path, 0o755)
    assert (hashlib.sha256(path.read_bytes()).digest(), os.stat(path).st_mtime_ns) == before
    assert os.listdir(tmp_path) == [path.name]


# ---- broken files ----


def test_cut_exports(hardened, tmp_path):
    whole = gzip.decompress(SMALL.read_bytes())
    ops = []
    for part in range(1, 41):
        path = tmp_path / "cut.sqlite"
        path.write_bytes(whole[: len(whole) * part // 40])
        done = hardened("summary", path, "--json", "--no-cache", "--threads", "2")
        assert done.returncode in (0, 1), done.stderr
        if part < 40:
            assert hardened("summary", path, "--strict", "--no-cache").returncode == 1
        ops.append(b'"input_cut"' in done.stdout)
    assert any(ops) and not ops[-1]


def test_damaged_exports(hardened, tmp_path):
    whole = gzip.decompress(SMALL.read_bytes())
    generator = random.Random(5)
    path = tmp_path / "damaged.sqlite"
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(generator.choice((1, 10, 300))):
            damaged[generator.randrange(16, len(damaged))] = generator.randrange(256)
        path.write_bytes(damaged)
        done = hardened("summary", path, "--json", "--no-cache")
        assert done.returncode in (0, 1), done.stderr


def test_damaged_page_costs_its_rows(gputime, tmp_path):
    path = make(tmp_path / "big.sqlite", kernels=[(i * 100, i * 100 + 50, 0, 7, i, 10, 1) for i in range(1, 20001)])
    damaged = bytearray(path.read_bytes())
    at = 4096 * 100
    assert damaged[at] == 0x0D
    damaged[at : at + 4096] = bytes(4096)
    path.write_bytes(damaged)
    done = gputime("kernels", "--json", path)
    assert done.returncode == 0 and done.stderr.count(b"\n") == 1
    document = json.loads(done.stdout)
    assert 19800 < document["inputs"][0]["ops"] < 20000
    assert {issue["id"]: issue["count"] for issue in document["issues"]}["event_damaged"] == 1
