"""Nsight Systems' SQLite exports: NVIDIA's own summaries of the same captures, exports of every generation, databases
made by hand, broken ones, and that nothing is ever written."""

import collections
import csv
import gzip
import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess

import pytest
from conftest import DATA, SHARED

OWN = sorted((DATA / "nsys").glob("*.sqlite.gz"))
OTHERS = sorted((SHARED / "data/h200/nsys").glob("*/*.sqlite"))
PUBLIC = sorted((SHARED / "data/public/nsys").glob("*/*.sqlite"))


def capture_name(path):
    return path.name.removesuffix(".gz").removesuffix(".sqlite")


NAMES_OF_OWN = {capture_name(path) for path in OWN}
CAPTURES = OWN + [path for path in OTHERS if capture_name(path) not in NAMES_OF_OWN]


@pytest.fixture
def plain(tmp_path):
    """The path of a capture as a plain file: the repository keeps its own packed."""

    def unpack(path):
        if path.suffix != ".gz":
            return path
        copy = tmp_path / path.stem
        copy.write_bytes(gzip.decompress(path.read_bytes()))
        return copy

    return unpack


def summary_rows(path, report):
    with open(path.parent / f"{capture_name(path)}_{report}.csv", newline="") as file:
        return list(csv.DictReader(file))


def check_times(ours, theirs):
    """The times of one name, to the digits that NVIDIA prints."""
    assert ours["total_ns"] == int(theirs["Total Time (ns)"])
    assert ours["min_ns"] == int(theirs["Min (ns)"])
    assert ours["max_ns"] == int(theirs["Max (ns)"])
    for key, column in (("avg_ns", "Avg (ns)"), ("median_ns", "Med (ns)"), ("stddev_ns", "StdDev (ns)")):
        assert abs(ours[key] - float(theirs[column])) <= 0.0501, (key, ours[key], theirs[column])


@pytest.mark.parametrize("path", CAPTURES, ids=capture_name)
def test_kernels_as_nvidia_sums_them(gputime, plain, path):
    rows = gputime.json("kernels", plain(path), "--no-cache", "--top", "0")["tables"]["kernels"]["rows"]
    # Graphs that were traced whole are work of the GPU, but no kernels to NVIDIA.
    ours = {row["name"]: row for row in rows if not row["name"].startswith("[CUDA graph")}
    theirs = {row["Name"]: row for row in summary_rows(path, "cuda_gpu_kern_sum")}
    assert ours.keys() == theirs.keys()
    for name, row in theirs.items():
        assert ours[name]["count"] == int(row["Instances"])
        check_times(ours[name], row)


@pytest.mark.parametrize("path", CAPTURES, ids=capture_name)
def test_memory_as_nvidia_sums_it(gputime, plain, path):
    document = gputime.json("summary", plain(path), "--no-cache")
    ours = {row["name"]: row for row in document["tables"]["memory"]["rows"]}
    theirs = {row["Operation"]: row for row in summary_rows(path, "cuda_gpu_mem_time_sum")}
    assert ours.keys() == theirs.keys()
    for name, row in theirs.items():
        assert ours[name]["count"] == int(row["Count"])
        check_times(ours[name], row)


@pytest.mark.parametrize("path", CAPTURES, ids=capture_name)
def test_queues_as_nvidia_sums_them(gputime, plain, path):
    """Time between launch and start: right only if every kernel found the launch of its own process."""
    document = gputime.json("kernels", "--launches", plain(path), "--no-cache", "--top", "0")
    ours = {row["name"]: row for row in document["tables"]["kernel_launches"]["rows"]}
    theirs = collections.defaultdict(list)
    for row in summary_rows(path, "cuda_kern_exec_sum"):
        theirs[row["Kernel Name"]].append(row)
    for name, rows in theirs.items():  # one row for each thread and launch API
        queued = [row for row in rows if int(row["QCount"])]
        assert ours[name]["count"] == sum(int(row["Count"]) for row in rows)
        assert ours[name]["queued"] == sum(int(row["QCount"]) for row in rows)
        if queued:
            assert ours[name]["queue_max_ns"] == max(int(row["QMax (ns)"]) for row in queued)
        if len(rows) == 1 and queued:
            assert abs(ours[name]["queue_p50_ns"] - float(rows[0]["QMed (ns)"])) <= 0.0501


@pytest.mark.parametrize("path", PUBLIC, ids=capture_name)
def test_exports_of_all_generations(gputime, path):
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


@pytest.mark.parametrize("path", CAPTURES + PUBLIC, ids=capture_name)
def test_threads_change_nothing(gputime, plain, path):
    path = plain(path)
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


def test_missing_tables_cost_their_facts_only(gputime, tmp_path):
    path = make(tmp_path / "bare.sqlite", kernels=[(1000, 2000, 0, 7, 1, 10, 1)],
                more="DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME;"
                     "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, r);"
                     "DROP TABLE TARGET_INFO_GPU; CREATE TABLE TARGET_INFO_GPU (a, b, c)")
    for command in ("summary", "kernels", "gaps", "ranges"):
        assert gputime(command, path).returncode == 0


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
    assert "no export of Nsight Systems: its tables are urls, visits" in refused(gputime, path)
    empty = tmp_path / "empty.sqlite"
    connection = sqlite3.connect(empty)
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    assert "it has no tables" in refused(gputime, empty)
    refused(gputime, tmp_path / "missing.sqlite")
    assert sorted(os.listdir(tmp_path)) == ["empty.sqlite", "history.sqlite"]


def test_packed_and_piped_databases(gputime, tmp_path):
    path = make(tmp_path / "a.sqlite", kernels=[(1000, 2000, 0, 7, 1, 10, 1)])
    packed = tmp_path / "a.sqlite.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert "unpack" in refused(gputime, packed)
    assert "unpack" in refused(gputime, "-", stdin=path.read_bytes())
    with open(path, "rb") as file:
        done = subprocess.run([gputime.binary, "summary", "-"], stdin=file, capture_output=True, env=gputime.environment)
    assert done.returncode == 1 and b"save it" in done.stderr


def test_logs_and_journals(gputime, tmp_path):
    """Changes that stand beside the database are read where that needs no writing, and never overlooked."""
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


@pytest.mark.parametrize("path", OWN, ids=capture_name)
def test_nothing_is_written(gputime, plain, tmp_path, path):
    path = plain(path)
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


def test_cut_exports(hardened, plain, tmp_path):
    whole = plain(OWN[-1]).read_bytes()
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


def test_damaged_exports(hardened, plain, tmp_path):
    whole = plain(OWN[-1]).read_bytes()
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
