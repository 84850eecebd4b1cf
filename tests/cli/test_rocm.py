"""What ROCm's profilers write: row by row against an independent reader (rocm_facts.py), all of its forms against each other,
and what no capture at hand has."""

import contextlib
import csv
import gzip
import json
import re
import shutil
import sqlite3

import pytest

import rocm_by_hand as by_hand
import rocm_facts
from samples import DATA

DB, JSON, CSV = DATA / "rocm/train.db", DATA / "rocm/train.json", sorted((DATA / "rocm").glob("train_*.csv"))
TABLES = ("ops", "copies", "graph_ops", "kernel_configs", "calls", "ranges", "call_args", "memory_events", "counters")
USE = "HIP memory in use"


# ---- rows ----


def resolve(dumped):
    """The rows with tracks instead of their numbers."""
    processes = [row["label"] or row["pid"] for row in dumped["processes"]]
    threads = [(processes[row["process"]], row["tid"]) for row in dumped["threads"]]
    lanes = [(None if row["process"] is None else processes[row["process"]], dumped["devices"][row["device"]]["id"], row["stream"])
             for row in dumped["lanes"]]
    tracks = {"process": processes, "thread": threads, "lane": lanes}
    tables = {name: [{key: tracks[key][value] if key in tracks and value is not None else value
                      for key, value in row.items() if key != "row"} for row in dumped.get(name, [])] for name in TABLES}
    tables["counters"] = []
    for run in dumped.get("counter_runs", []):
        about = dumped["counter_tracks"][run["track"]]
        for row in dumped["counters"][run["first"]:run["first"] + run["values"]]:
            tables["counters"].append({"track": (about["device"], about["name"]), "time_ns": row["time_ns"], "value": row["value"]})
    return tables


def comparable(tables, columns_of=None):
    """Rows that do not depend on the order of the file."""
    found = {}
    for name in TABLES:
        keys = columns_of.get(name) if columns_of else None
        rows = []
        for row in tables.get(name, []):
            row = {key: value for key, value in row.items() if keys is None or key in keys}
            if "op" in row:
                of = tables["ops"][row["op"]]
                row["op"] = (of["start_ns"], of["end_ns"], of["name"])
            for key in {"call", "range"} & set(row):
                of = tables[f"{key}s"][row[key]] if row[key] is not None else None
                row[key] = of and (of["start_ns"], of["end_ns"], of["name"], of["thread"])
            rows.append(tuple(sorted((key, str(value)) for key, value in row.items())))
        found[name] = sorted(rows)
    return found


def check_rows(found, expected, tables=TABLES):
    found["counters"] = [row for row in found["counters"] if row["track"][1] != USE]
    for row in expected["counters"]:
        row["value"] = row["value"] if isinstance(row["value"], int) else int(row["value"])
    columns = {name: set(expected[name][0]) for name in TABLES if expected.get(name)}
    found, expected = comparable(found, columns), comparable(expected)
    for name in tables:
        assert len(found[name]) == len(expected[name]), name
        assert found[name] == expected[name], name


VARIANTS = {
    "as the profiler writes it": {},
    "without views": {"views": False},
    "other ids, rows in any order": {"step": 7, "shuffle": 5},
    "more columns": {"extra": "more TEXT DEFAULT 'x', number INTEGER DEFAULT 5"},
    "schema 4": {"schema": 4},
    "schema 4, times in a table": {"schema": 4, "times_in_rows": False, "shuffle": 2},
    "small pages": {"page_size": 512},
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_row_of_databases_is_read(seed, variant, threads, tmp_path, dump_rows):
    path = by_hand.rocpd(tmp_path / "a.db", by_hand.capture(seed, steps=12), uuids=[by_hand.UUID], **VARIANTS[variant])
    expected = rocm_facts.rows_of(rocm_facts.read_rocpd(path, by_hand.UUID))
    assert len(expected["ops"]) > 50 and len(expected["ranges"]) > 20 and len(expected["memory_events"]) > 2 and expected["counters"]
    assert {row["name"] for row in expected["call_args"]} > {"dimBlocks", "sizeBytes"} and len(expected["call_args"]) > 100
    assert any(row["range"] is not None for row in expected["call_args"])
    check_rows(resolve(dump_rows(path, threads=threads)), expected)


@pytest.mark.parametrize("agents", ["logical", "type", "node"])
@pytest.mark.parametrize("seed", range(3))
def test_every_row_of_csvs_is_read(seed, agents, tmp_path, dump_rows):
    paths = by_hand.csvs(tmp_path, by_hand.capture(seed), agents=agents)
    expected = rocm_facts.rows_of(rocm_facts.read_csvs(paths))
    assert len(expected["ops"]) > 20 and len(expected["ranges"]) > 5
    for order in (paths, paths[::-1]):
        check_rows(resolve(dump_rows(order[0], also=order[1:])), expected)


@pytest.mark.parametrize("how", [{}, {"indent": None}, {"sort_keys": True}, {"ensure_ascii": False, "indent": 4}], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_every_row_of_json_is_read(seed, how, tmp_path, dump_rows):
    path = by_hand.rocprof_json(tmp_path / "a.json", by_hand.capture(seed), **how)
    expected = rocm_facts.rows_of(rocm_facts.read_json(path))
    assert len(expected["ops"]) > 20 and len(expected["ranges"]) > 5
    check_rows(resolve(dump_rows(path)), expected)


def test_the_samples(dump_rows):
    uuid = next(name for (name,) in sqlite3.connect(DB).execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                if name.startswith("rocpd_region"))[len("rocpd_region"):]
    check_rows(resolve(dump_rows(DB)), rocm_facts.rows_of(rocm_facts.read_rocpd(DB, uuid)))
    check_rows(resolve(dump_rows(JSON)), rocm_facts.rows_of(rocm_facts.read_json(JSON)))
    check_rows(resolve(dump_rows(CSV[0], also=CSV[1:])), rocm_facts.rows_of(rocm_facts.read_csvs(CSV)))


def test_what_nobody_asks_for_is_left_out(dump_rows):
    tables = {"ops": {"ops"}, "ops,bytes": {"ops", "copies"}, "calls": {"calls"}, "ranges": {"ranges"}, "configs": {"ops", "kernel_configs"},
              "metrics": {"counters"}, "call_args": {"calls", "ranges", "call_args"}, "memory": {"memory_events", "calls", "ranges"}}
    whole = {path: resolve(dump_rows(path)) for path in (DB, JSON)}
    for path, expected in whole.items():
        expected["counters"] = [row for row in expected["counters"] if row["track"][1] != USE]
        for fact, wanted in tables.items():
            found = resolve(dump_rows(path, facts=fact))
            columns = {"ops": {"start_ns", "end_ns", "name", "lane"}}
            for name in TABLES:
                if name in wanted:
                    assert comparable(found, columns)[name] == comparable(expected, columns)[name], (path.name, fact, name)
                else:
                    assert found[name] == [], (path.name, fact, name)


# ---- arguments and PC samples ----


def arguments_of(dump_rows, path, **how):
    rows = dump_rows(path, facts="call_args", **how)
    return [(row["call"], row["range"], row["position"], row["name"], row["type"], row["value"]) for row in rows.get("call_args", [])]


def with_rows(path, data, *statements):
    path = by_hand.rocpd(path, data, uuids=[by_hand.UUID])
    with contextlib.closing(sqlite3.connect(path)) as db:
        for statement, *values in statements:
            db.execute(statement.format(arg=f'"rocpd_arg{by_hand.UUID}"', uuid=by_hand.UUID), values)
        db.commit()
    return path


def test_odd_arguments(tmp_path, dump_rows):
    make = by_hand.Maker(1)
    make.launch()
    make.call("hipDeviceSynchronize")
    event = 2  # of the second call
    put = "INSERT INTO {arg} (event_id, position, type, name, value) VALUES (?, ?, ?, ?, ?)"
    rows = [(event, 2, "int", "last", "z" * 5000), (event, -1, "", "first", "\u00fc"), (event, 1, "int", "one", "a"),
            (event, 1, "int", "same place", "b"), (99_999, 0, "int", "of no event", "c"), (-5, 0, "int", "of none", "d")]
    path = with_rows(tmp_path / "a.db", make.capture, *((put, *row) for row in rows))
    found = [row for row in arguments_of(dump_rows, path) if row[0] == 1]
    assert found == [(1, None, -1, "first", "", "\u00fc"), (1, None, 1, "one", "int", "a"), (1, None, 1, "same place", "int", "b"),
                     (1, None, 2, "last", "int", "z" * 4096)]
    assert len(arguments_of(dump_rows, path)) == len(found) + len(by_hand.ARGUMENTS["hipLaunchKernel"])


def of_one_event(path, regions, arguments):
    make = by_hand.Maker(1)
    for _ in range(regions):
        make.call("hipDeviceSynchronize")
    put = "INSERT INTO {arg} (event_id, position, type, name, value) VALUES (1, ?, 'int', 'a', 'b')"
    return with_rows(path, make.capture, *((put, i) for i in range(arguments)), ('UPDATE "rocpd_region{uuid}" SET event_id = 1',))


def test_an_event_has_64_arguments_at_most(tmp_path, dump_rows):
    found = arguments_of(dump_rows, of_one_event(tmp_path / "a.db", 12, 200))
    assert [row[2] for row in found] == list(range(64)) * 12 and [row[0] for row in found] == [i for i in range(12) for _ in range(64)]


@pytest.mark.parametrize("threads", [1, 4])
def test_many_regions_of_one_event_do_not_multiply_its_arguments(tmp_path, dump_rows, threads):
    damaged = []
    for regions in (4, 5, 20_000):
        rows = dump_rows(of_one_event(tmp_path / f"{regions}.db", regions, 60), facts="call_args", threads=threads)
        assert len(rows["calls"]) == regions and len(rows["call_args"]) == (60 * regions if regions == 4 else 0)
        damaged.append(sum(row["count"] for row in rows["issues"] if row["id"] == "event_damaged"))
    assert damaged == [0, 60, 60]


def test_a_table_of_arguments_without_columns_is_done_without(tmp_path, dump_rows):
    path = with_rows(tmp_path / "a.db", by_hand.capture(1), ("DROP VIEW rocpd_arg",), ("ALTER TABLE {arg} RENAME COLUMN name TO title",))
    rows = dump_rows(path, facts="call_args")
    assert not rows.get("call_args") and rows["calls"]
    assert "table_incomplete" in {row["id"] for row in rows["issues"]}
    assert "table_incomplete" not in {row["id"] for row in dump_rows(path, facts="calls")["issues"]}


def test_arguments_in_queries(tmp_path, gputime):
    path = by_hand.rocpd(tmp_path / "a.db", by_hand.capture(3))
    query = "select c.name call, a.name, count(*) n from call_args a join calls c on c.id = a.call_id group by 1, 2 order by 1, 2"
    tables = gputime.json("sql", path, query)["tables"]
    rows = next(iter(tables.values()))["rows"]
    calls = [call["name"] for call in by_hand.capture(3)["calls"]]
    expected = sorted((name, arg, calls.count(name)) for name, args in by_hand.ARGUMENTS.items() for _, arg in args
                      if name in calls and name.startswith("hip"))
    assert expected and sorted(tuple(row.values()) for row in rows) == expected


def test_pc_samples_are_counted(tmp_path, dump_rows, gputime):
    create = 'CREATE TABLE "rocpd_pc_sampling{uuid}" (id INTEGER PRIMARY KEY, timestamp BIGINT, instruction TEXT)'
    put = 'INSERT INTO "rocpd_pc_sampling{uuid}" (timestamp, instruction) VALUES (?, ?)'
    data = by_hand.capture(1)
    path = with_rows(tmp_path / "a.db", data, (create,), *((put, i, "v_add_f32") for i in range(37)))
    none = with_rows(tmp_path / "b.db", data, (create,))
    assert {row["id"]: row["count"] for row in dump_rows(path)["issues"]}["pc_samples_not_read"] == 37
    assert "pc_samples_not_read" not in {row["id"] for row in dump_rows(none)["issues"]}
    assert "pc_samples_not_read" in json.dumps(gputime.json("summary", path))


# ---- all forms ----

COMMANDS = ("summary", "kernels", "gaps", "ranges", "steps", "findings", "path", "memory")
# What only some forms say: sizes of copies, the process's rank, and what follows from them.
OF_THE_INPUT = {"input", "rank", "range", "parent"}  # ranges have the numbers of their rows
OF_BYTES = {"bytes", "throughput", "gb_per_s", "bandwidth", "bytes_per_s", "median_bytes", "max_bytes", "min_bytes"}


def reduced(value, without):
    if isinstance(value, dict):
        return {key: reduced(item, without) for key, item in value.items() if key not in without}
    return [reduced(item, without) for item in value] if isinstance(value, list) else value


def all_forms(tmp_path, data):
    return {"rocpd": [by_hand.rocpd(tmp_path / "a.db", data)], "json": [by_hand.rocprof_json(tmp_path / "a.json", data)],
            "csv": by_hand.csvs(tmp_path, data), "rocpd 4": [by_hand.rocpd(tmp_path / "b.db", data, schema=4)]}


@pytest.mark.parametrize("command", COMMANDS)
def test_all_forms_give_the_same_report(command, gputime, tmp_path):
    data = by_hand.capture(11, steps=9)
    data["environment"] = {}
    forms = all_forms(tmp_path, data)
    reports = {name: gputime.json(command, *paths, "--no-cache")["tables"] for name, paths in forms.items()}
    assert any(table["rows"] for table in reports["rocpd"].values())
    for tables in reports.values():
        for row in tables.get("processes", {}).get("rows", ()):
            row.pop("name")  # CSVs have none
    reports["csv"].pop("memory_owners", None)  # nor threads of allocations
    for name in ("json", "csv", "rocpd 4"):
        without = OF_THE_INPUT | (OF_BYTES if name == "csv" else set())
        expected = {key: reports["rocpd"][key] for key in reports[name]} if name == "csv" else reports["rocpd"]
        assert reduced(reports[name], without) == reduced(expected, without), name


def test_facts_of_the_capture(gputime):
    """What no table has: the names of GPU, process and threads, the rank, the host."""
    report = gputime.json(DB)
    about = report["inputs"][0]
    assert about["format"] == "rocpd" and about["producer"] == "rocprofv3" and about["host"] == "node7"
    assert (about["rank"], about["world_size"]) == (3, 8)
    assert "secret" not in json.dumps(report)
    assert report["facts"]["device_names"] == "2 x AMD Instinct MI300X"
    assert gputime.json(JSON)["inputs"][0]["host"] == "node7"


def test_the_old_schema(gputime, tmp_path):
    """rocmProfileData: the same kernels, copies, calls and ranges."""
    data = by_hand.capture(5)
    data["calls"] = [call for call in data["calls"] if call["domain"] != "RCCL_API"]
    old, new = by_hand.rpd(tmp_path / "a.rpd", data), by_hand.rocpd(tmp_path / "a.db", data)
    for command in ("kernels", "gaps", "ranges", "steps"):
        one, other = (gputime.json(command, path)["tables"] for path in (old, new))
        for tables in (one, other):
            tables.pop("processes", None)
        assert reduced(one, OF_THE_INPUT | {"gpu", "pid"}) == reduced(other, OF_THE_INPUT | {"gpu", "pid"}), command


def test_rocprof_results(gputime, tmp_path):
    data = by_hand.capture(5)
    kernels = gputime.json("kernels", by_hand.results_csv(tmp_path / "results.csv", data))
    assert kernels["inputs"][0]["producer"] == "rocprof"
    expected = gputime.json("kernels", by_hand.rocpd(tmp_path / "a.db", data))
    one, other = ({row["name"]: (row["count"], row["total_ns"]) for row in report["tables"]["kernels"]["rows"]}
                  for report in (kernels, expected))
    assert one == other


def test_kernels_of_counters_alone(gputime, tmp_path):
    """Without a trace of kernels, those that counters are of are all there are; with one, they are the same kernels."""
    data = by_hand.capture(3, steps=8)
    counted = {value["dispatch"] for value in data["values"]}
    (path,) = by_hand.csvs(tmp_path, data, kinds=["counter_collection"])
    assert gputime.json(path)["inputs"][0]["ops"] == len(counted) > 3
    document = by_hand.document(data)
    document["rocprofiler-sdk-tool"][0]["buffer_records"]["kernel_dispatch"] = []
    document["rocprofiler-sdk-tool"][0]["buffer_records"]["memory_copy"] = []
    (tmp_path / "c.json").write_text(json.dumps(document))
    assert gputime.json(tmp_path / "c.json")["inputs"][0]["ops"] == len(counted)


# ---- several processes ----


def test_several_processes_and_machines(gputime, tmp_path, dump_rows):
    """Each has tables of its own; GPUs of another machine are other GPUs."""
    one, two = by_hand.capture(1), by_hand.capture(2, pid=4200)
    path = by_hand.rocpd(tmp_path / "same.db", one, two)
    ops = len(one["kernels"]) + len(one["copies"]) + len(two["kernels"]) + len(two["copies"])
    dumped = dump_rows(path)
    assert len(dumped["ops"]) == ops and {row["pid"] for row in dumped["processes"]} == {4100, 4200}
    assert sorted(row["id"] for row in dumped["devices"]) == [0, 1]
    far = by_hand.rocpd(tmp_path / "far.db", one, by_hand.capture(2, host="node8"))
    dumped = dump_rows(far, threads=2)
    assert sorted(row["id"] for row in dumped["devices"]) == [0, 1, 2, 3]
    assert {(row["pid"], row["label"]) for row in dumped["processes"]} == {(4100, "node7"), (4100, "node8")}
    assert gputime.json(far)["facts"]["devices"] == 4


def test_records_before_names_in_one_of_two_processes(tmp_path, dump_rows):
    """The file is read twice; what the first time knew of the other process is of no use the second time."""
    def with_names_last(process):
        records = ("buffer_records", "callback_records")
        return {key: process[key] for key in (*records, *(key for key in process if key not in records))}

    [one], [two] = (by_hand.document(by_hand.capture(seed, pid=pid))["rocprofiler-sdk-tool"] for seed, pid in ((1, 4100), (2, 4200)))
    found = []
    for number, processes in enumerate(([one, two], [one, with_names_last(two)], [with_names_last(one), two])):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps({"rocprofiler-sdk-tool": processes}))
        found.append(comparable(resolve(dump_rows(path))))
    assert found[0]["ops"] and found[0]["calls"] and found[0]["ranges"]
    assert found[1] == found[0] and found[2] == found[0]


@pytest.mark.parametrize("link", ["stack", "parent", "correlation"])
@pytest.mark.parametrize("schema", [3, 4])
def test_calls_find_what_they_launched(link, schema, gputime, tmp_path):
    data = by_hand.capture(4)
    path = by_hand.rocpd(tmp_path / "a.db", data, link=link, schema=schema)
    report = gputime.json(path)
    assert "op_without_call" not in issues(report) and report["facts"]["launch_calls"] == len(data["kernels"]) + len(data["copies"])


# ---- what is odd ----


def issues(report):
    return {issue["id"]: issue["count"] for issue in report["issues"]}


def edited(tmp_path, *statements, data=None, **how):
    path = by_hand.rocpd(tmp_path / "odd.db", data or by_hand.capture(1), uuids=["_u_1"], views=False, **how)
    db = sqlite3.connect(path)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()
    return path


def test_missing_tables(gputime, tmp_path):
    """Whatever is missing, the rest is read."""
    names = ["string", "info_node", "info_process", "info_thread", "info_agent", "info_kernel_symbol", "track", "event", "info_pmc",
             "kernel_dispatch", "memory_copy", "region", "sample", "memory_allocate", "pmc_event", "arg"]
    whole = gputime.json(edited(tmp_path))["inputs"][0]["ops"]
    data = by_hand.capture(1)
    for name in names:
        (tmp_path / "odd.db").unlink()
        report = gputime.json(edited(tmp_path, f"DROP TABLE rocpd_{name}_u_1"))
        lost = {"kernel_dispatch": len(data["kernels"]), "memory_copy": len(data["copies"])}.get(name, 0)
        assert report["inputs"][0]["ops"] == whole - lost, name
        if name == "info_kernel_symbol":
            assert issues(report)["op_without_name"] == len(data["kernels"])
        if name == "event":
            assert issues(report)["op_without_call"] == whole


def test_nulls_and_wrong_types(gputime, tmp_path):
    """Columns declared NOT NULL in the public schema may be anything in a file that somebody made."""
    data = by_hand.capture(1)
    path = tmp_path / "odd.db"
    db = sqlite3.connect(path)
    db.executescript("""
        CREATE TABLE rocpd_string_x_y_z (id, string);
        INSERT INTO rocpd_string_x_y_z VALUES (1, 'KERNEL_DISPATCH'), ('two', 'a'), (3, NULL), (NULL, 'b'), (1, 'twice'),
            (-5, 'hipLaunchKernel'), (9223372036854775807, 'HIP_RUNTIME_API'), (4, x'00ff');
        CREATE TABLE rocpd_event_x_y_z (id, category_id, stack_id);
        INSERT INTO rocpd_event_x_y_z VALUES (1, 1, 5), (1, 1, 6), (NULL, 1, 1), (9, 9223372036854775807, 5), ('x', 1, 5), (3, 77, 'y');
        CREATE TABLE rocpd_kernel_dispatch_x_y_z (start, "end", kernel_id, agent_id, event_id, pid, stream_id, queue_id, grid_size_x,
            workgroup_size_x);
        INSERT INTO rocpd_kernel_dispatch_x_y_z VALUES (100, 200, 1, 0, 1, 7, 0, 0, 10, 0), (300, 400, NULL, NULL, NULL, NULL, NULL,
            NULL, NULL, NULL), (NULL, 5, 1, 0, 1, 7, 0, 0, 1, 1), ('a', 'b', 1, 0, 1, 7, 0, 0, 1, 1), (500, 450, 1, 0, 1, 7, 0, 0, 1, 1),
            (600, 700, -9, -9, -9, -9, -9, -9, -9, -9), (800, 900.5, 1, 0, 1, 7, 0, 0, 1, 1),
            (1000, 1100, 4611686018427387904, 4611686018427387904, 4611686018427387904, 4611686018427387904, 1, 1, 1, 1);
        CREATE TABLE rocpd_region_x_y_z (start, "end", name_id, event_id, pid, tid);
        INSERT INTO rocpd_region_x_y_z VALUES (50, 90, -5, 9, 7, 8), (60, 55, 3, 3, NULL, NULL), (NULL, NULL, NULL, NULL, NULL, NULL);
    """)
    db.commit()
    db.close()
    for threads in (1, 3):
        report = gputime.json(path, "--threads", str(threads), "--no-cache")
        assert report["inputs"][0]["ops"] == 4
        assert issues(report)["op_without_time"] == 3 and issues(report)["op_negative_duration"] == 1


@pytest.mark.parametrize("threads", [1, 3])
def test_cut_databases(threads, tmp_path, dump_rows, hardened):
    """What is on the pages that are left is read; that there were more is said."""
    whole = DB.read_bytes()
    everything = len(dump_rows(DB)["ops"])
    path = tmp_path / "cut.db"
    seen = set()
    for share in range(5, 100, 5):
        path.write_bytes(whole[:len(whole) * share // 100])
        done = hardened("summary", path, "--json", "--no-cache", "--threads", str(threads))
        if done.returncode:
            assert done.returncode == 1 and done.stderr.count(b"\n") == 1
            continue
        report = json.loads(done.stdout)
        assert issues(report)["input_cut"] == 1 and report["inputs"][0]["ops"] <= everything
        seen.add(report["inputs"][0]["ops"])
    assert len(seen) > 1 and max(seen) > 0


def test_damaged_pages_cost_their_rows(tmp_path, hardened):
    whole = DB.read_bytes()
    size = int.from_bytes(whole[16:18], "big")
    path = tmp_path / "damaged.db"
    counted = 0
    for page in range(1, len(whole) // size):
        path.write_bytes(whole[:page * size] + b"\xff" * size + whole[(page + 1) * size:])
        done = hardened("summary", path, "--json", "--no-cache")
        if done.returncode == 0:
            counted += issues(json.loads(done.stdout)).get("event_damaged", 0) > 0
        else:
            assert done.returncode == 1 and done.stderr.count(b"\n") == 1
    assert counted > 3


def test_tables_that_lack_a_column(tmp_path, gputime):
    path = tmp_path / "a.db"
    shutil.copy(DB, path)
    connection = sqlite3.connect(path)
    (name,) = connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_kernel_dispatch%' AND type = 'table'").fetchone()
    for (view,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
        connection.execute(f'DROP VIEW "{view}"')
    connection.execute(f'ALTER TABLE "{name}" RENAME COLUMN "end" TO "finish"')
    connection.commit()
    connection.close()
    report = gputime.json(path)
    assert issues(report)["table_incomplete"] == 1 and 0 < report["inputs"][0]["ops"] < gputime.json(DB)["inputs"][0]["ops"]


def test_packed_databases_that_are_damaged(tmp_path, gputime):
    packed = bytearray(gzip.compress(DB.read_bytes()))
    packed[-8] ^= 1  # the checksum
    path = tmp_path / "a.db.gz"
    path.write_bytes(packed)
    report = gputime.json(path)
    assert issues(report) | {"packing_damaged": 1} == issues(report)
    assert report["inputs"][0]["ops"] == gputime.json(DB)["inputs"][0]["ops"]
    path.write_bytes(gzip.compress(b""))
    assert gputime(path).returncode == 1


CELLS = (None, "x", -1, 2**62, b"\x00\xff", 1.5)


@pytest.mark.parametrize("schema", [3, 4])
def test_any_cell_may_be_wrong(schema, tmp_path, dump_rows):
    """One row after the other of each table has a wrong cell in each of its columns: ops are there, or their loss is counted."""
    data = by_hand.capture(3, steps=2)
    good = by_hand.rocpd(tmp_path / "good.db", data, schema=schema)
    whole = len(dump_rows(good)["ops"])
    connection = sqlite3.connect(good)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd%'")]
    places = [(table, row[1]) for table in tables for row in connection.execute(f'PRAGMA table_info("{table}")')
              if row[1] not in ("id", "guid")]
    connection.close()
    for table, column in places:
        path = tmp_path / "a.db"
        shutil.copy(good, path)
        connection = sqlite3.connect(path)
        ids = [number for (number,) in connection.execute(f'SELECT rowid FROM "{table}" LIMIT {len(CELLS)}')]
        for number, cell in zip(ids, CELLS):
            with contextlib.suppress(sqlite3.IntegrityError):
                connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (cell, number))
        connection.commit()
        connection.close()
        rows = dump_rows(path)
        lost = whole - len(rows["ops"])
        assert lost <= sum(row["count"] for row in rows["issues"]), (table, column, lost, rows["issues"])


def members_of(value, path=()):
    """(path of keys without places in lists, object, key) of every member."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key), value, key
            yield from members_of(inner, (*path, key))
    if isinstance(value, list):
        for inner in value:
            yield from members_of(inner, path)


def test_any_member_may_be_wrong(tmp_path, dump_rows):
    """The same for JSON: one object after the other has a wrong value for each key, or lacks it."""
    text = json.dumps(by_hand.document(by_hand.capture(3, steps=2)))
    path = tmp_path / "a.json"
    path.write_text(text)
    whole = len(dump_rows(path)["ops"])
    paths = {found for found, _, _ in members_of(json.loads(text)) if len(found) > 2}
    assert len(paths) > 80
    for wanted in sorted(paths):
        document = json.loads(text)
        places = [(owner, key) for found, owner, key in members_of(document) if found == wanted]
        for (owner, key), value in zip(places, ("x", -1, 2**62, [], {}, None, 1.5)):
            owner[key] = value
        if len(places) > 7:
            del places[7][0][places[7][1]]
        path.write_text(json.dumps(document))
        rows = dump_rows(path)
        lost = whole - len(rows["ops"])
        of_records = wanted[1] in ("buffer_records", "callback_records") and len(wanted) == 3
        assert of_records or lost <= sum(row["count"] for row in rows["issues"]), (wanted, lost, rows["issues"])


def test_rows_without_rowids_and_other_layouts(gputime, tmp_path, dump_rows):
    """WITHOUT ROWID, UTF-16 and a write-ahead log are read through SQLite itself, and give the same."""
    data = by_hand.capture(6)
    expected = comparable(resolve(dump_rows(by_hand.rocpd(tmp_path / "a.db", data))))
    db = sqlite3.connect(tmp_path / "b.db")
    db.execute("PRAGMA encoding='UTF-16le'")
    by_hand.Rocpd(db, data)
    db.commit()
    db.close()
    assert comparable(resolve(dump_rows(tmp_path / "b.db"))) == expected
    shutil.copyfile(tmp_path / "a.db", tmp_path / "c.db")
    db = sqlite3.connect(tmp_path / "c.db")
    db.execute("PRAGMA journal_mode=WAL")
    db.execute(f"UPDATE \"rocpd_info_process{by_hand.UUID[:-1]}0\" SET command = 'other'")
    db.commit()
    assert comparable(resolve(dump_rows(tmp_path / "c.db"))) == expected
    db.close()


def test_the_list_of_tables_far_back(gputime, tmp_path):
    """A database that was something else before: its list of tables is not in the first bytes."""
    path = tmp_path / "a.db"
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size=512")
    db.execute("CREATE TABLE filler (x)")
    db.executemany("INSERT INTO filler VALUES (?)", [("y" * 400,)] * 400)
    by_hand.Rocpd(db, by_hand.capture(1))
    db.execute("DROP TABLE filler")
    db.commit()
    db.close()
    assert gputime.json(path)["inputs"][0]["format"] == "rocpd"


def test_other_databases_are_told_apart(gputime, tmp_path):
    path = tmp_path / "other.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE people (name TEXT)")
    db.commit()
    db.close()
    done = gputime(path)
    assert done.returncode == 1 and b"rocpd" not in done.stderr


def test_packed_files_and_pipes_are_the_same(gputime, tmp_path):
    wanted = gputime.json("kernels", DB)["tables"]["kernels"]["rows"]
    for path in (DB, JSON):
        packed = tmp_path / (path.name + ".gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        found = gputime.json("kernels", packed)["tables"]["kernels"]["rows"]
        assert reduced(found, OF_THE_INPUT) == reduced(wanted, OF_THE_INPUT)
        done = gputime("kernels", "-", "--format", "json", stdin=path.read_bytes())
        assert reduced(json.loads(done.stdout)["tables"]["kernels"]["rows"], OF_THE_INPUT) == reduced(wanted, OF_THE_INPUT)


def test_damage_is_counted(gputime, tmp_path):
    text = JSON.read_text()
    whole = gputime.json(JSON)["inputs"][0]["ops"]
    cut = tmp_path / "cut.json"
    cut.write_text(text[:text.index('"hip_api"') - 400])
    report = gputime.json(cut)
    assert 0 < report["inputs"][0]["ops"] < whole and issues(report)["input_cut"] == 1
    place = text.index('"buffer_records": {')
    cut.write_text(text[:place] + text[place:].replace('"dispatch_info": {', '"dispatch_info": ]', 1))
    assert issues(gputime.json(cut))["event_damaged"] == 1
    cut.write_text(text[:place] + text[place:].replace('"kernel_dispatch": [', '"kernel_dispatch": [7, "x", [], {}, '))
    report = gputime.json(cut)
    assert issues(report) == {"event_damaged": 3, "op_without_time": 1} and report["inputs"][0]["ops"] == whole
    kernels = next(path for path in CSV if "kernel_trace" in path.name).read_text().splitlines(keepends=True)
    (tmp_path / "a_kernel_trace.csv").write_text("".join(kernels[:5]) + "nonsense\n" + "".join(kernels[5:9]))
    report = gputime.json(tmp_path / "a_kernel_trace.csv")
    assert report["inputs"][0]["ops"] == 8 and issues(report)["event_damaged"] == 1


def csvs_with(tmp_path, change):
    """The sample's CSVs; change(kind, row as dict) gives each row anew, or None where it goes."""
    paths = []
    for path in CSV:
        kind = path.name[len("train_"):-len(".csv")]
        with path.open(newline="") as source:
            found = list(csv.DictReader(source))
        rows = [row for row in (change(kind, dict(row)) for row in found) if row is not None]
        paths.append(tmp_path / path.name)
        with paths[-1].open("w", newline="") as out:
            writer = csv.DictWriter(out, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return paths


def dump_all(dump_rows, paths):
    return dump_rows(paths[0], also=paths[1:])


def test_blanks_around_numbers(tmp_path, dump_rows):
    def pad(kind, row):
        return {key: f" \t{cell}  " if cell.isdigit() else cell for key, cell in row.items()}

    wanted, found = dump_all(dump_rows, CSV), dump_all(dump_rows, csvs_with(tmp_path, pad))
    assert found["ops"] == wanted["ops"] and found["counters"] == wanted["counters"] and found["calls"] == wanted["calls"]
    assert found["kernel_configs"] == wanted["kernel_configs"] and found["devices"] == wanted["devices"]


@pytest.mark.parametrize("column, value, issue", [
    ("Start_Timestamp", "", "event_damaged"), ("End_Timestamp", "soon", "event_damaged"),
    ("Node_Id", "", "event_damaged"), ("Correlation_Id", "-1", "number_unreadable"),
    ("Thread_Id", "0xfgh", "number_unreadable")])
def test_cells_that_are_no_numbers(column, value, issue, tmp_path, gputime):
    """Of the first row of each table; the other rows are as they were."""
    seen = set()

    def spoil(kind, row):
        if column in row and kind not in seen:
            seen.add(kind)
            row[column] = value
        return row

    paths = csvs_with(tmp_path, spoil)
    whole, report = gputime.json(*CSV), gputime.json(*paths)
    # An allocation has no end of its own; what nobody reads is not looked at.
    needed = seen - {"memory_allocation_trace"} if column == "End_Timestamp" else seen
    assert 1 <= issues(report)[issue] <= len(needed)
    lost = {"kernel_trace", "memory_copy_trace"} & needed if issue == "event_damaged" else set()
    assert whole["inputs"][0]["ops"] - report["inputs"][0]["ops"] == len(lost)


def test_lines_that_are_no_rows(tmp_path, dump_rows, gputime):
    """Blank lines, and a table that begins anew, as where files were put together."""
    (kernels,) = (path for path in CSV if "kernel_trace" in path.name)
    lines = kernels.read_text().splitlines(keepends=True)
    path = tmp_path / kernels.name
    path.write_text("".join([*lines[:4], "\n", "  \r\n", lines[0], *lines[4:], "\n"]))
    found, wanted = dump_rows(path), dump_rows(kernels)
    assert found["ops"] == wanted["ops"] and found["issues"] == wanted["issues"]
    packed = bytearray(gzip.compress(kernels.read_bytes()))
    packed[-8] ^= 1
    (tmp_path / "a_kernel_trace.csv.gz").write_bytes(packed)
    assert issues(gputime.json(tmp_path / "a_kernel_trace.csv.gz"))["packing_damaged"] == 1


def test_what_takes_no_time_or_memory(tmp_path, dump_rows):
    """Calls of roctx that mark nothing, scratch memory, and memory of unlikely size."""
    def change(kind, row):
        if kind == "marker_api_trace":
            row["Function"] = "roctxRangePop" if row["Correlation_Id"][-1] in "02468" else "roctxNameOsThread"
        if kind == "memory_allocation_trace":
            row["Operation"] = "SCRATCH_MEMORY_ALLOC"
        return row

    found = dump_all(dump_rows, csvs_with(tmp_path, change))
    wanted = dump_all(dump_rows, CSV)
    assert found["ops"] == wanted["ops"] and not found["memory_events"] and wanted["memory_events"]
    markers = sum(1 for _ in open(next(path for path in CSV if "marker" in path.name))) - 1
    assert len(wanted["ranges"]) - len(found["ranges"]) == markers > 0

    def enlarge(kind, row):
        return row | {"Allocation_Size": str(2**62), "Start_Timestamp": "5"} if kind == "memory_allocation_trace" else row

    use = [row["value"] for row in dump_all(dump_rows, csvs_with(tmp_path, enlarge))["counters"]]
    assert max(use) <= 2**63


def test_values_that_are_no_numbers(tmp_path, gputime):
    """A row without a value is no record of its kernel, but others may be."""
    (path,) = (one for one in CSV if "counter_collection" in one.name)
    lines = path.read_text().splitlines()
    kernels = {line.split(",")[1] for line in lines[1:]}
    spoilt = tmp_path / path.name
    spoilt.write_text("\n".join([lines[0], *(re.sub(r'"SQ_WAVES",\d+', '"SQ_WAVES",high', line) for line in lines[1:])]))
    damaged = sum('"SQ_WAVES"' in line for line in lines)
    assert gputime.json(path)["inputs"][0]["ops"] == len(kernels)
    report = gputime.json(spoilt)
    assert issues(report)["event_damaged"] == damaged > 0
    others = {line.split(",")[1] for line in lines[1:] if '"SQ_WAVES"' not in line}
    assert report["inputs"][0]["ops"] == len(others)


def test_agents_that_are_not_listed(tmp_path, dump_rows):
    """A number that no agent has stands for itself; what is no number is no GPU, and copies have a second chance."""
    def rename(kind, row):
        if kind == "kernel_trace":
            row["Agent_Id"] = "Agent 77"
        if kind == "memory_copy_trace":
            row["Destination_Agent_Id"], row["Source_Agent_Id"] = "host", "Agent 78"
        return row

    found = resolve(dump_all(dump_rows, csvs_with(tmp_path, rename)))
    assert {(row["kind"] == "kernel", row["lane"][1]) for row in found["ops"]} == {(True, 77), (False, 78)}


def test_agents_by_their_nodes_and_names(tmp_path, dump_rows):
    """Without the place among all the node is one; a product without a name has its model's, or that of its kind."""
    def strip(kind, row):
        if kind == "agent_info":
            row["Logical_Node_Id"] = ""
            row["Product_Name"] = ""
            row["Model_Name"] = "Aqua" if row["Node_Id"] == "2" else ""
            row["Cu_Count"], row["Lds_Size_In_Kb"], row["Max_Engine_Clk_Fcompute"] = "99999999999", "99999999999", ""
        elif "Agent_Id" in row and row["Agent_Id"].startswith("Agent "):
            row["Agent_Id"] = f"Agent {int(row['Agent_Id'][6:]) + 1}"
        return row

    wanted, found = dump_all(dump_rows, CSV), dump_all(dump_rows, csvs_with(tmp_path, strip))
    assert [row["id"] for row in found["devices"]] == [row["id"] for row in wanted["devices"]]
    names = {row["id"]: row["name"] for row in found["devices"]}
    assert names[0] == "Aqua" and names[1] == "gfx942"


def test_kernels_of_graphs(tmp_path, dump_rows):
    def launch(kind, row):
        return row | {"Graph_Exec_Id": "6" if int(row["Dispatch_Id"]) % 2 else "0"} if kind == "kernel_trace" else row

    rows = dump_all(dump_rows, csvs_with(tmp_path, launch))
    assert {row["graph"] for row in rows["graph_ops"]} == {6}
    names = {rows["ops"][row["op"]]["kind"] for row in rows["graph_ops"]}
    assert names == {"kernel"} and not dump_all(dump_rows, CSV)["graph_ops"]


def test_processes_by_guid(tmp_path, dump_rows):
    """Two processes with the same threads: only the guid tells whose a kernel is."""
    calls, kernels = tmp_path / "a_hip_api_trace.csv", tmp_path / "a_kernel_trace.csv"
    calls.write_text("Guid,Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
                     "one,HIP_RUNTIME_API_EXT,hipLaunchKernel,11,5,1,100,110\n"
                     "two,HIP_RUNTIME_API_EXT,hipLaunchKernel,22,5,2,200,210\n")
    kernels.write_text("Guid,Kind,Agent_Id,Queue_Id,Thread_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp\n"
                       "one,KERNEL_DISPATCH,GPU 0,1,5,a,1,120,130\n"
                       "two,KERNEL_DISPATCH,GPU 0,1,5,b,2,220,230\n"
                       ",KERNEL_DISPATCH,GPU 0,1,6,c,3,320,330\n"
                       ",KERNEL_DISPATCH,GPU 0,1,,,4,420,430\n")
    found = resolve(dump_rows(calls, also=[kernels]))
    processes = {row["name"]: row["lane"][0] for row in found["ops"]}
    assert processes["a"] == 11 and processes["b"] == 22 and processes["c"] is None
    assert len(found["ops"]) == 4


# ---- JSON in other forms ----


def same_rows(dump_rows, path):
    found, wanted = dump_rows(path), dump_rows(JSON)
    return all(found[name] == wanted[name] for name in TABLES)


def test_json_in_other_forms(tmp_path, dump_rows, gputime):
    document = json.loads(JSON.read_text())
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**document, "zzz": [1, {"a": "}"}, [], None]}))
    assert same_rows(dump_rows, path)
    path.write_text(json.dumps({"rocprofiler-sdk-tool": document["rocprofiler-sdk-tool"][0]}))
    assert same_rows(dump_rows, path)
    path.write_bytes(b"\xef\xbb\xbf" + JSON.read_bytes())
    assert same_rows(dump_rows, path)


ALL_OPS, COUNTED = 56, 10  # ops of the sample, and those of them that have counters


@pytest.mark.parametrize("value", [7, "text", None, [], {}, [[]], {"a": {"b": [1]}}], ids=json.dumps)
@pytest.mark.parametrize("key", ["metadata", "agents", "strings", "counters", "code_objects", "kernel_symbols",
                                 "buffer_records", "callback_records"])
def test_json_with_other_types(key, value, tmp_path, hardened):
    """Whatever the parts of a process are: a report with what the others say, or one line that says why there is none."""
    document = json.loads(JSON.read_text())
    document["rocprofiler-sdk-tool"][0][key] = value
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    done = hardened("summary", path, "--json", "--no-cache")
    if done.returncode == 0:
        ops = json.loads(done.stdout)["inputs"][0]["ops"]
        assert ops == (COUNTED if key == "buffer_records" else ALL_OPS)
    else:
        assert done.returncode == 1 and done.stderr.count(b"\n") == 1 and key in ("buffer_records", "metadata")


@pytest.mark.parametrize("place", ['"metadata"', '"kernel_dispatch"', '"strings"', '"agents"', '"hip_api"'])
@pytest.mark.parametrize("text", ["[", "}", ",", ":", "\\", '{"a":', "7", "nul"])
def test_json_with_stray_signs(place, text, tmp_path, hardened):
    """Before a key, where nothing of it may stand: it is counted, and what was read before it is there."""
    whole = JSON.read_text()
    at = whole.index(place)
    path = tmp_path / "a.json"
    path.write_text(whole[:at] + text + whole[at:])
    done = hardened("summary", path, "--json", "--no-cache")
    if done.returncode == 0:
        assert json.loads(done.stdout)["issues"]
    else:
        assert done.returncode == 1 and done.stderr.count(b"\n") == 1


def test_json_without_records(tmp_path, gputime):
    path = tmp_path / "a.json"
    path.write_text('{"rocprofiler-sdk-tool": [ ]}')
    assert gputime.json(path)["inputs"][0]["ops"] == 0
    path.write_text('{"other": {"rocprofiler-sdk-tool": []}}')
    done = gputime(path)
    assert done.returncode == 1 and b"no records of rocprofv3" in done.stderr


SUMMED = '"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"\n'


def write_sums(folder, prefix="a"):
    (folder / f"{prefix}_kernel_stats.csv").write_text(
        SUMMED + '"gemm(float*, ""x"").kd",3,60,20.0,75.0,10,30,10.0\n"relu",2,20,10.0,25.0,10,10,0\nbroken,1\n')
    (folder / f"{prefix}_memory_copy_stats.csv").write_text(SUMMED + '"MEMORY_COPY_HOST_TO_DEVICE",4,40,10.0,100.0,5,15,4.5\n')
    (folder / f"{prefix}_hip_api_stats.csv").write_text(SUMMED + '"hipLaunchKernel",5,500,100.0,100.0,50,150,9.0\n')
    (folder / f"{prefix}_domain_stats.csv").write_text(SUMMED + '"KERNEL_DISPATCH",5,80,16.0,100.0,10,30,9.0\n')
    return sorted(folder.glob(f"{prefix}_*_stats.csv"))


def test_sums_of_kernels_and_copies(gputime, tmp_path):
    """Without a trace, what the profiler has summed is the report; calls and domains are none of it."""
    report = gputime.json(*write_sums(tmp_path))
    rows = {row["name"]: row for row in gputime.json("kernels", tmp_path / "a_kernel_stats.csv")["tables"]["kernels"]["rows"]}
    assert [input["input"] for input in report["inputs"]] == ["a"]
    assert {row["category"]: (row["count"], row["total_ns"]) for row in report["tables"]["categories"]["rows"]} == {
        "gemm": (3, 60), "activation": (2, 20), "memcpy_h2d": (4, 40)}
    gemm = rows['gemm(float*, "x")']
    assert (gemm["count"], gemm["total_ns"], gemm["min_ns"], gemm["max_ns"], gemm["stddev_ns"]) == (3, 60, 10, 30, 10)
    assert {issue["id"]: issue["count"] for issue in report["issues"]} == {"event_damaged": 1}
    text = " ".join(gputime(*write_sums(tmp_path)).stdout.decode().split())
    assert "use the kernel_trace table or the database" in text and "nsys" not in text


def test_sums_do_not_count_beside_a_trace(gputime, tmp_path):
    traced = all_forms(tmp_path, by_hand.capture(1))["csv"]
    before = gputime.json("kernels", *traced)
    prefix = str(traced[0])[:str(traced[0]).index("_", len(str(traced[0].parent)) + 1)]
    sums = write_sums(traced[0].parent, prefix.rsplit("/", 1)[1])
    after = gputime.json("kernels", *traced, *sums)
    assert after["tables"]["kernels"] == before["tables"]["kernels"]


def test_a_summary_of_calls_is_no_trace(gputime, tmp_path):
    write_sums(tmp_path)
    for name in ("a_hip_api_stats.csv", "a_domain_stats.csv"):
        done = gputime(tmp_path / name)
        assert done.returncode == 1 and b"kernel_trace" in done.stderr


def test_the_summary_of_rocprof_is_passed_over(gputime, tmp_path):
    """rocprof writes it beside the results, without the shortest and longest time."""
    sums = tmp_path / "results.stats.csv"
    sums.write_text('"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"k",1,5000,5000,100\n')
    done = gputime(sums)
    assert done.returncode == 1 and b"(looks like a summary of a ROCm profiler); give the results.csv" in done.stderr
    (tmp_path / "results.csv").write_text('"Index","KernelName","gpu-id","queue-id","BeginNs","EndNs"\n0,"k.kd",0,0,2000,7000\n')
    done = gputime(tmp_path)
    assert done.returncode == 0 and not done.stderr and b"results.csv" in done.stdout


def test_older_headers(gputime, tmp_path):
    """Before streams and threads were written: numbers of agents alone, other words for LDS and scratch."""
    path = tmp_path / "199_kernel_trace.csv"
    path.write_text('"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp",'
                    '"Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z",'
                    '"Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n'
                    '"KERNEL_DISPATCH",1,139690710949888,15,"transpose(float*, int)",0,671599758568,671599825328,0,0,4,4,1,1024,1024,1\n')
    copies = tmp_path / "199_memory_copy_trace.csv"
    copies.write_text('"Kind","Direction","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
                      '"MEMORY_COPY","HOST_TO_DEVICE",0,1,0,671599700000,671599750000\n')
    report = gputime.json(path, copies)
    assert report["inputs"][0]["ops"] == 2
    assert report["facts"]["devices"] == 1


def test_names_are_shown_as_they_are(gputime, tmp_path):
    data = by_hand.capture(1)
    names = ["<script>alert(1)</script>", "a\u2028b", "x" * 5000, "_ZN2at6native3addEv", "${jndi}", "%s%n"]
    for symbol, name in zip(data["symbols"], names):
        symbol["name"] = name
    for paths in all_forms(tmp_path, data).values():
        found = {row["full_name"] if "full_name" in row else row["name"] for row in gputime.json("kernels", *paths)["tables"]["kernels"]["rows"]}
        assert found
        assert gputime(*paths, "--format", "html").returncode == 0
