"""What ROCm's profilers write: row by row against an independent reader (rocm_facts.py), all of its forms against each other,
and what no capture at hand has."""

import gzip
import json
import shutil
import sqlite3

import pytest

import rocm_by_hand as by_hand
import rocm_facts
from samples import DATA

DB, JSON, CSV = DATA / "rocm/train.db", DATA / "rocm/train.json", sorted((DATA / "rocm").glob("train_*.csv"))
TABLES = ("ops", "copies", "graph_ops", "kernel_configs", "calls", "ranges", "memory_events", "counters")
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
              "metrics": {"counters"}, "memory": {"memory_events", "calls", "ranges"}}
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


def test_a_summary_is_no_trace(gputime, tmp_path):
    path = tmp_path / "a_kernel_stats.csv"
    path.write_text('"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"\n"k",1,2,2.0,100,2,2,0\n')
    done = gputime(path)
    assert done.returncode == 1 and b"kernel_trace" in done.stderr


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
