"""gputime redact: the copy gives the same reports and contains nothing about the machine or its user."""

import gzip
import re
import shutil
import sqlite3

import pytest

from samples import DATA, NVIDIA_EXPORTS, OWN_CAPTURES, PUBLIC_EXPORTS, with_shared

EXPORTS = with_shared([*(capture.export for capture in OWN_CAPTURES), DATA / "nsys-more/two_part.sqlite.gz"], NVIDIA_EXPORTS,
                      PUBLIC_EXPORTS)
REPORTS = (["summary", "--top", "0"], ["kernels"], ["kernels", "--launches"], ["gaps"], ["gaps", "--per", "device"], ["ranges"])
OF_PROCESSES = {"pid", "tid", "process", "thread", "process_name", "thread_name"}


def export_name(path):
    return f"{path.parent.parent.name}/{path.name}"


@pytest.fixture(scope="module", params=EXPORTS, ids=export_name)
def case(request, gputime, tmp_path_factory):
    """An export and its redacted copies, with names and with hashes."""
    folder = tmp_path_factory.mktemp("redact")
    original = folder / "in" / "capture.sqlite"
    original.parent.mkdir()
    if request.param.suffix == ".gz":
        original.write_bytes(gzip.decompress(request.param.read_bytes()))
    else:
        shutil.copyfile(request.param, original)
    copies = {}
    for names in ("full", "hash"):
        copies[names] = folder / names / "capture.sqlite"
        copies[names].parent.mkdir()
        done = gputime("redact", original, "-o", copies[names], "--names", names)
        assert done.returncode == 0 and done.stderr == b"", done.stderr
        assert re.fullmatch(rb"wrote .*: kept \d+ tables?, \d+ rows? and \d+ strings?; left out .*\n", done.stdout)
        assert [path.name for path in copies[names].parent.iterdir()] == ["capture.sqlite"]
    return original, copies


def tables_of(gputime, path, command):
    """The report's tables without what names processes and threads."""
    tables = gputime.json(*command, path, "--no-cache")["tables"]
    for key, table in tables.items():
        hidden = OF_PROCESSES | ({"name"} if key in ("processes", "threads") else set())
        for row in table["rows"]:
            for column in hidden & set(row):
                del row[column]
            if key == "findings":  # their sentences name processes, too
                row |= {column: re.sub(r"process \d+", "process", value) for column, value in row.items()
                        if isinstance(value, str)}
    return tables


@pytest.mark.parametrize("command", REPORTS, ids=" ".join)
def test_reports_are_the_same(gputime, case, command):
    original, copies = case
    before, after = (tables_of(gputime, path, command) for path in (original, copies["full"]))
    before.pop("idle_calls", None)  # calls of the C library and of MPI are not in the copy
    assert after.pop("idle_calls", {"rows": []})["rows"] == []
    assert after == before


def test_accounting_is_the_same_with_hashes(gputime, case):
    original, copies = case
    before, after = (tables_of(gputime, path, ["summary", "--top", "0"]) for path in (original, copies["hash"]))
    assert after["accounting"] == before["accounting"]
    for key in ("idle_causes", "memory", "streams"):
        assert after.get(key) == before.get(key), key

    def times(tables):
        return sorted((row["count"], row["total_ns"], row["max_ns"]) for row in tables["kernels"]["rows"])

    assert times(after) == times(before)


# ---- what must not be in the copy ----


def cells(path, *queries):
    """Texts of the first columns; tables and columns that are not there have none."""
    found = set()
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        for query in queries:
            try:
                found |= {row[0] for row in database.execute(query) if isinstance(row[0], str) and row[0]}
            except sqlite3.OperationalError:
                pass
    return found


def private_texts(path):
    """Whatever the export says about machine, user and processes, whole and in its parts."""
    texts = cells(
        path,
        "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name LIKE '%host%' OR name LIKE '%env%' OR name LIKE '%dir%' "
        "OR name IN ('OsDescription', 'SystemUID', 'SoftwareReleaseVersion', 'CpuDescription')",
        "SELECT name FROM PROCESSES",
        "SELECT value FROM ThreadNames JOIN StringIds ON id = nameId",
        "SELECT value FROM ProcessStreams JOIN StringIds ON id IN (filenameId, contentId)",
        "SELECT value FROM StringIds WHERE value LIKE '/%' OR value LIKE '%=/%'",
        "SELECT filename FROM ANALYSIS_FILE",
        "SELECT value FROM META_DATA_EXPORT WHERE name LIKE '%HOST%' OR name LIKE '%USER%' OR name LIKE '%PATH%' OR "
        "name LIKE '%TIME_%'",
        "SELECT value FROM META_DATA_CAPTURE WHERE name LIKE '%COMMAND%' OR name LIKE '%ARGUMENT%' OR name LIKE '%DIR%' "
        "OR name LIKE '%ENVIRONMENT%' OR name LIKE '%USER%' OR name LIKE '%DISPLAY_NAME%'",
        "SELECT uuid FROM TARGET_INFO_GPU",
        "SELECT busLocation FROM TARGET_INFO_GPU",
        "SELECT utcTime FROM TARGET_INFO_SESSION_START_TIME",
        "SELECT jsonText FROM NVTX_EVENTS",
    )
    parts = {part for text in texts for part in re.split(r"[\0;:=\n\"]+", text)}
    return {text for text in texts | parts if len(text) > 1 and not text.isdigit()}


NAME_QUERIES = (
    "SELECT value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName",
    "SELECT value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName",
    "SELECT value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = mangledName",
    "SELECT text FROM NVTX_EVENTS WHERE eventType <> 39",
    "SELECT value FROM NVTX_EVENTS JOIN StringIds ON id = textId WHERE eventType <> 39",
)
CALL_QUERIES = (
    "SELECT value FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId",
    "SELECT value FROM CUDA_GRAPH_NODE_EVENTS JOIN StringIds ON id = nameId",
    "SELECT value FROM PROFILER_OVERHEAD JOIN StringIds ON id = nameId",
)


def texts_of(path):
    """Every text in every table; and apart from these NVIDIA's words: names of tables and columns, and enumerators."""
    said, terms = set(), set()
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_schema").fetchall():
            rows = database.execute(f'SELECT * FROM "{table}"')
            terms |= {table, *(column[0] for column in rows.description)}
            found = {cell for row in rows for cell in row if not isinstance(cell, (int, float, type(None)))}
            assert all(isinstance(cell, str) for cell in found), table
            if table.startswith("ENUM_"):
                terms |= found
            else:
                said |= found
    return said, terms


def test_nothing_private_is_left(case):
    original, copies = case
    private = private_texts(original)
    assert private
    names = cells(original, *NAME_QUERIES, *CALL_QUERIES)
    content = copies["full"].read_bytes()
    said, terms = texts_of(copies["full"])
    others = "\n".join(said - names)
    harmless = "\n".join(names | terms) # in whose words a short secret can occur by chance
    assert not any("/" in text for text in said - names)
    for secret in private:
        assert not re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", others), secret
        assert secret in harmless or len(secret) < 4 or secret.encode() not in content, secret


def test_hashes_hide_every_name(case):
    original, copies = case
    content = copies["hash"].read_bytes()
    said, terms = texts_of(copies["hash"])
    kept = "\n".join(terms | cells(original, *CALL_QUERIES))
    for name in cells(original, *NAME_QUERIES):
        assert name not in said or name in kept, name
        assert name in kept or len(name) < 5 or name.encode() not in content, name
    names = cells(copies["hash"], *NAME_QUERIES)
    assert all(re.fullmatch(r"(k|r|nccl)_([0-9a-f]{8}|[0-9a-f]{16})", name) for name in names), names
    for query in NAME_QUERIES:
        assert len(cells(copies["hash"], query)) == len(cells(original, query)), query


def test_numbers_of_processes_are_small(case):
    _, copies = case
    with sqlite3.connect(f"file:{copies['full']}?mode=ro", uri=True) as database:
        ids = set()
        for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"):
            try:
                columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
                for column in {"globalPid", "globalTid"} & set(columns):
                    ids |= {row[0] for row in database.execute(f"SELECT DISTINCT {column} FROM {table}")}
            except sqlite3.OperationalError:
                pass
    numbers = {number for value in ids - {None} for number in (value >> 24 & 0xFFFFFF, value & 0xFFFFFF)}
    assert all(number < 4096 for number in numbers)


def test_copy_is_sound(case):
    for path in case[1].values():
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            for table in ("TARGET_INFO_SYSTEM_ENV", "PROCESSES", "ThreadNames", "ProcessStreams",
                          "TARGET_INFO_SESSION_START_TIME", "OSRT_API"):
                assert not database.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)).fetchall()


# ---- a small export made here ----


def make_export(path):
    """Communication, equal names in two roles, paths in names, and columns and tables that nobody knows."""
    with sqlite3.connect(path) as database:
        database.executescript("""
            CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT, correlationId INT,
                globalPid INT, demangledName INT, shortName INT, secretColumn TEXT, gridX);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
            CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, globalTid INT, text TEXT, textId INT, jsonText TEXT);
            CREATE TABLE DIAGNOSTIC_EVENT (timestamp INT, text TEXT);
            CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
            CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
            CREATE TABLE ENUM_SECRET_THINGS (id INT, name TEXT);
            CREATE TABLE SecretTable (value TEXT);
            CREATE VIEW SecretView AS SELECT * FROM SecretTable;
            CREATE INDEX SecretIndex ON SecretTable (value);
        """)
        strings = ["ncclDevKernel_AllReduce_Sum_f32_RING_LL()", "void gemm<int>(int)", "cudaLaunchKernel_v7000", "gemm",
                   "step -I/usr/include/secret", "unused secret", "dlopen(libsecret.so)"]
        database.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(strings, 1))
        process = 1 << 48 | 54321 << 24
        for i, name in enumerate([1, 2, 2, 99]):
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, ?, ?, 4, 'secret', ?)",
                             (i * 100, i * 100 + 50, i, process, name, "secret" if i else 3))
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, ?)",
                             (i * 100 - 20, i * 100 - 10, process | 54321 + i % 2, i, 3 if i else 7))
        thread = process | 54321
        database.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?, ?)", [
            (0, 400, 59, thread, None, 5, "secret"), (0, 300, 59, thread, "load /data/secret", None, None),
            (0, 300, 59, thread, "jit(f)/add", None, None), (0, 200, 59, thread, None, 3, None),
            (0, None, 39, thread, "secret thread", None, None), (0, 9, 74, thread, "secret type", None, None),
            (0, 9, None, thread, "secret type", None, None)])
        database.executemany("INSERT INTO DIAGNOSTIC_EVENT VALUES (1, ?)", [
            ("Number of incomplete CUPTI events dropped: 12 in /secret",), ("Loaded /secret/libcupti.so",), (b"secret",)])
        database.executemany("INSERT INTO META_DATA_CAPTURE VALUES (?, ?)", [("DEVICE_DISPLAY_NAME", "secret")])
        database.executemany("INSERT INTO META_DATA_EXPORT VALUES (?, ?)", [
            ("EXPORT_PRODUCT_VERSION", "2025.1"), ("EXPORT_HOST", "secret"), ("EXPORT_SCHEMA_VERSION", "/secret")])
        database.execute("INSERT INTO ENUM_SECRET_THINGS VALUES (1, 'secret')")
        database.execute("INSERT INTO SecretTable VALUES ('secret')")
    return path


def test_only_what_is_known_is_kept(gputime, tmp_path):
    original, copy = make_export(tmp_path / "in.sqlite"), tmp_path / "out.sqlite"
    done = gputime("redact", original, "-o", copy)
    assert done.returncode == 0, done.stderr
    assert b"left out 2 tables, 2 columns and 7 rows; hid 2 names" in done.stdout
    assert gputime("redact", "-q", original, "-o", copy).stdout == b""
    assert b"secret" not in copy.read_bytes().lower() and b"54321" not in copy.read_bytes()
    with sqlite3.connect(copy) as database:
        assert database.execute("SELECT text FROM DIAGNOSTIC_EVENT").fetchall() == [
            ("Number of incomplete CUPTI events dropped: 12",)]
        assert database.execute("SELECT name, value FROM META_DATA_EXPORT").fetchall() == [
            ("EXPORT_PRODUCT_VERSION", "2025.1"), ("EXPORT_SCHEMA_VERSION", None)]
        assert database.execute("SELECT gridX FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchall() == [(3,), (None,), (None,), (None,)]
        assert database.execute("SELECT DISTINCT globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchall() == [
            (1 << 48 | 1 << 24 | 1,), (1 << 48 | 1 << 24 | 2,)]
        strings = {row[0] for row in database.execute("SELECT value FROM StringIds")}
        assert {"ncclDevKernel_AllReduce_Sum_f32_RING_LL()", "void gemm<int>(int)", "gemm", "dlopen"} < strings
        ranges = [row[0] for row in database.execute(
            "SELECT coalesce(text, value) FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId")]
    assert [bool(re.fullmatch("r_[0-9a-f]{8}", name)) for name in ranges] == [True, True, False, False]
    assert ranges[2:] == ["jit(f)/add", "cudaLaunchKernel_v7000"]


def test_hashes_keep_communication_and_calls(gputime, tmp_path):
    original, copy = make_export(tmp_path / "x.sqlite"), tmp_path / "out" / "x.sqlite"
    copy.parent.mkdir()
    assert gputime("redact", "--names", "hash", original, "-o", copy).returncode == 0
    before, after = (gputime.json("summary", path)["tables"]["accounting"]["rows"] for path in (original, copy))
    assert before == after and before[0]["comm_ns"] == 50
    with sqlite3.connect(copy) as database:
        kernels = [row[0] for row in database.execute(
            "SELECT value FROM CUPTI_ACTIVITY_KIND_KERNEL LEFT JOIN StringIds ON id = demangledName ORDER BY start")]
        calls = {row[0] for row in database.execute("SELECT value FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId")}
        ranges = [row[0] for row in database.execute("SELECT coalesce(text, value) FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId")]
    assert re.fullmatch("nccl_[0-9a-f]{8}", kernels[0])
    assert re.fullmatch("k_[0-9a-f]{8}", kernels[1]) and kernels[2] == kernels[1] and kernels[3] is None
    assert calls == {"cudaLaunchKernel_v7000", "dlopen"}
    assert all(re.fullmatch("r_[0-9a-f]{8}", name) for name in ranges) and len(set(ranges)) == 4


def test_hashes_are_the_same_in_every_file(gputime, tmp_path):
    original = make_export(tmp_path / "in.sqlite")
    for name in ("a", "b"):
        assert gputime("redact", "--names", "hash", original, "-o", tmp_path / name).returncode == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


# ---- what cannot be done ----


def fails(gputime, status, *args):
    done = gputime("redact", *args)
    assert done.returncode == status, done.stderr
    assert done.stdout == b"" and done.stderr.startswith(b"gputime: ") and done.stderr.count(b"\n") == 1
    return done.stderr.decode()


def test_input_is_never_the_output(gputime, tmp_path):
    original = make_export(tmp_path / "in.sqlite")
    content = original.read_bytes()
    (tmp_path / "link").symlink_to(original)
    (tmp_path / "hard").hardlink_to(original)
    for output in (original, tmp_path / "link", tmp_path / "hard", tmp_path / "." / "in.sqlite"):
        assert "it is the file to redact" in fails(gputime, 2, original, "-o", output)
    assert original.read_bytes() == content


def test_wrong_requests(gputime, tmp_path):
    original = make_export(tmp_path / "in.sqlite")
    assert "needs an output file" in fails(gputime, 2, original)
    assert "takes one file, not 0" in fails(gputime, 2, "-o", tmp_path / "out")
    assert "takes one file, not 2" in fails(gputime, 2, original, original, "-o", tmp_path / "out")
    assert "not short" in fails(gputime, 2, original, "--names", "short", "-o", tmp_path / "out")
    assert "standard output" in fails(gputime, 2, original, "-o", "-")
    assert "not a regular file" in fails(gputime, 2, original, "-o", "/dev/null")
    assert "not a regular file" in fails(gputime, 2, original, "-o", tmp_path)
    assert "cannot write" in fails(gputime, 1, original, "-o", tmp_path / "missing" / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in.sqlite"]
    done = gputime("kernels", "--names", "hash", original)
    assert done.returncode == 2 and b"redact" in done.stderr


def test_inputs_of_other_kinds(gputime, tmp_path):
    output = tmp_path / "out.sqlite"
    (tmp_path / "text").write_text("not a database\n")
    (tmp_path / "trace.json").write_text('{"traceEvents": []}')
    assert "unrecognized trace format" in fails(gputime, 1, tmp_path / "text", "-o", output)
    assert "only Nsight Systems SQLite exports" in fails(gputime, 1, tmp_path / "trace.json", "-o", output)
    assert "nsys export --type sqlite" in fails(gputime, 1, DATA / "nsys" / "extras.nsys-rep", "-o", output)
    assert "no such file" in fails(gputime, 1, tmp_path / "missing", "-o", output)
    with sqlite3.connect(tmp_path / "foreign.sqlite") as database:
        database.execute("CREATE TABLE people (name TEXT)")
    assert "neither an Nsight Systems export" in fails(gputime, 1, tmp_path / "foreign.sqlite", "-o", output)
    assert not output.exists()


def test_damage_leaves_no_files(hardened, tmp_path):
    """Cut or damaged anywhere: a whole copy or none, never a part, and the file that was there stays."""
    original, output, folder = make_export(tmp_path / "in.sqlite"), tmp_path / "out" / "copy.sqlite", tmp_path / "out"
    content = original.read_bytes()
    folder.mkdir()
    output.write_bytes(b"before")
    for at in range(0, len(content), 4096):
        (tmp_path / "bad.sqlite").write_bytes(content[:at + 100])
        fails(hardened, 1, tmp_path / "bad.sqlite", "-o", output)
        assert output.read_bytes() == b"before"
    for at in range(4096, len(content), 4096):
        (tmp_path / "bad.sqlite").write_bytes(content[:at] + b"\xff" * 64 + content[at + 64:])
        done = hardened("redact", tmp_path / "bad.sqlite", "-o", folder / "new.sqlite")
        assert done.returncode in (0, 1), done.stderr
        assert (folder / "new.sqlite").exists() == (done.returncode == 0)
        (folder / "new.sqlite").unlink(missing_ok=True)
    assert [path.name for path in folder.iterdir()] == ["copy.sqlite"]
