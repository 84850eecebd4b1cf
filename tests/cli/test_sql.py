"""SQL over traces: the same numbers as the reports, for every sample; queries that cannot do harm; errors that help."""

import json
import sqlite3

import pytest

from conftest import DATA

SAMPLES = [
    *sorted(DATA.glob("*.json")),
    *sorted((DATA / "torch").glob("*.json.gz")),
    *sorted((DATA / "nsys").glob("*.nsys-rep")),
    *sorted((DATA / "nsys").glob("*.sqlite.gz")),
    *sorted((DATA / "nsys-more").glob("*.sqlite.gz")),
    DATA / "nsys-csv/mini_cuda_gpu_trace.csv",
    *sorted((DATA / "xla").iterdir()),
    *sorted((DATA / "perfetto").iterdir()),
]
LLAMA = DATA / "torch/llama_train_compiled.json.gz"
RANKS = [DATA / "torch/tpdp_rank0.json.gz", LLAMA]


def query(gputime, *args, **settings):
    """The rows of a result as tuples."""
    report = gputime.json("sql", *args, **settings)
    table = report["tables"]["rows"]
    return [tuple(row[column["key"]] for column in table["columns"]) for row in table["rows"]]


def failure(program, *args, status=1, **settings):
    done = program("sql", *args, **settings)
    assert done.returncode == status, (done.returncode, done.stdout[-300:], done.stderr)
    assert not done.stdout
    return done.stderr.decode()


def table(report, key, *columns):
    return sorted(tuple(row[column] for column in columns) for row in report["tables"].get(key, {}).get("rows", []))


# ---- the same numbers as reports ----


@pytest.fixture(scope="module", params=SAMPLES, ids=lambda path: path.name)
def sample(request, unpacked):
    return unpacked(request.param)


def reported(gputime, *args):
    """The report of a command; None where the trace cannot be read, or has no GPU work."""
    done = gputime(*args, "--json")
    return json.loads(done.stdout) if done.returncode == 0 else None


def test_numbers_are_those_of_reports(gputime, sample):
    summary = reported(gputime, "summary", sample)
    if summary is None:
        assert gputime("sql", sample, "select 1").returncode != 0
        return
    kernels = query(gputime, sample, "select name, count(*), sum(dur_ns) from ops where kind in ('kernel', 'graph') "
                    "group by name")
    assert sorted(kernels) == table(summary, "kernels", "name", "count", "total_ns")
    assert kernels == query(gputime, sample, "select name, count, total_ns from report_kernels order by name")
    wall = query(gputime, sample, """select device, sum(case class when 'compute' then wall_ns else 0 end),
        sum(case class when 'comm' then wall_ns else 0 end), sum(case class when 'memory' then wall_ns else 0 end)
        from ops group by device order by device""")
    assert wall == table(summary, "accounting", "device", "compute_ns", "exposed_comm_ns", "exposed_memory_ns")
    causes = "select device, cause, count(*), sum(gap_ns), max(gap_ns), sum(recoverable_ns) from gaps group by 1, 2"
    assert sorted(query(gputime, sample, causes)) == pytest.approx(
        table(summary, "idle_causes", "device", "cause", "count", "total_ns", "longest_ns", "recoverable_ns"))


def test_ranges_operators_and_steps_are_those_of_reports(gputime, sample):
    ranges = reported(gputime, "ranges", sample)
    if ranges is None:
        return
    own = query(gputime, sample, "select range, range_domain, count(*), sum(dur_ns) from ops "
                "where range_id is not null group by 1, 2")
    exclusive = {row[:2]: row[2] for row in table(ranges, "ranges", "name", "domain", "exclusive_ns")}
    # GPU-side copies of ranges, used where the launch is not in the trace, are not listed.
    for name, domain, _, time in own:
        assert exclusive.get((name, domain), time) == time
    if own and len(exclusive) >= len(own):
        assert sum(exclusive.values()) == sum(time for *_, time in own)
    both = [query(gputime, sample, text) for text in (
        "select name, ops, total_ns from report_operators order by 1",
        "select operator, count(*), sum(dur_ns) from ops where operator_id is not null group by 1 order by 1")]
    assert both[0] == both[1]
    both = [query(gputime, sample, text) for text in (
        "select name, queued, queue_ns from report_kernel_launches where queued > 0 order by 1",
        "select name, count(queue_ns), sum(queue_ns) from ops where kind in ('kernel', 'graph') and queue_ns is not null "
        "group by 1 order by 1")]
    assert both[0] == both[1]


def test_statistics_are_those_of_reports(gputime):
    theirs = gputime.json("summary", LLAMA)["tables"]["kernels"]
    known = [column["key"] for column in theirs["columns"]]
    median = next(key for key in ("median_ns", "p50_ns") if key in known)
    own = dict(query(gputime, LLAMA, "select name, median(dur_ns) from ops where kind = 'kernel' group by name"))
    assert own == {row["name"]: row[median] for row in theirs["rows"]}
    deviations = dict(query(gputime, LLAMA, "select name, stddev(dur_ns) from ops where kind = 'kernel' group by name"))
    assert deviations == pytest.approx({row["name"]: row["stddev_ns"] for row in theirs["rows"]})
    assert query(gputime, LLAMA, "select percentile(value, 25), median(value) from json_each('[1, 2.5, 4, 8]')") == [(2.125, 3.25)]
    assert query(gputime, LLAMA, "select median(null), stddev('x'), percentile(1, 50)") == [(None, None, 1)]


def test_each_table_can_be_read(gputime, unpacked):
    schema = gputime.json("sql", "--schema")["tables"]
    frames = {row["table"] for row in schema["sql_schema"]["rows"]}
    reports = {row["table"] for row in schema["report_tables"]["rows"]}
    assert {"ops", "calls", "ranges", "gaps", "steps", "names", "counters", "inputs"} <= frames
    assert {"report_kernels", "report_gaps", "report_findings"} <= reports
    for path in (LLAMA, unpacked(DATA / "nsys-more/two_part.sqlite.gz")):
        for name in sorted(frames):
            listed = [row["column"] for row in schema["sql_schema"]["rows"] if row["table"] == name and row["column"]]
            rows = gputime.json("sql", path, f"select {', '.join(listed)} from {name} limit 3")["tables"]["rows"]
            assert [column["key"] for column in rows["columns"]] == listed
        text = " union all ".join(f"select '{name}' t, count(*) n from {name}" for name in sorted(frames))
        counted = dict(query(gputime, path, text))
        assert counted["ops"] > 0 and counted["inputs"] == 1
    for name in sorted(reports):
        done = gputime("sql", LLAMA, f"select * from {name} limit 2")
        assert done.returncode == 0 or b"lacks the data" in done.stderr, (name, done.stderr)


def test_schema_of_some_tables(gputime, tmp_path):
    whole = gputime.json("sql", "--schema")["tables"]
    assert "report_" not in {row["table"] for row in whole["report_tables"]["rows"]}
    (tmp_path / "ops").write_text("")  # a file of that name is no reason to look away
    some = gputime.json("sql", "--schema", "steps", "ops", cwd=tmp_path)["tables"]
    assert some["sql_schema"]["rows"] == [row for name in ("steps", "ops") for row in whole["sql_schema"]["rows"] if row["table"] == name]
    assert "report_tables" not in some
    assert gputime.json("sql", LLAMA, "--schema")["tables"] == whole
    assert "no table 'op'" in failure(gputime, "--schema", "op", status=2)
    message = failure(gputime, "--schema", "report_kernels", status=2)
    told = message.split("gputime sql TRACE '")[1].split("'")[0]
    assert b"name,count" in gputime("sql", LLAMA, told, "--csv").stdout


# ---- constraints, orders and joins, against SQLite's own tables with the same rows ----

CONSTRAINED = [
    "select id from ops where name like '%GEMM%' or name like 'nvjet%' order by id",
    "select id from ops where name like 'nvjet%' and dur_ns > 100000 order by id",
    "select id from ops where name glob '*elementwise*' and stream = 7 order by id",
    "select count(*) from ops where start_ns between 1e7 and 2.5e7",
    "select count(*), min(id), max(id) from ops where start_ns >= 12345678 and end_ns < 40000000.5",
    "select id from ops where id in (3, 5, 700, 100000) order by 1",
    "select id from ops where id = 17 or id = 18",
    "select count(*) from ops where queue_ns is null",
    "select count(*) from ops where queue_ns < 0 or dur_ns = '5504'",
    "select count(*) from ops where category = 'gemm' collate nocase",
    "select count(*) from ops where category = 'GEMM' collate nocase",
    "select count(*) from ops where category = 'GEMM'",
    "select count(*) from ops where step = 4 and bytes > 1000",
    "select name, step, count(*), sum(dur_ns), max(queue_ns) from ops group by name, step order by 1, 2",
    "select step, category, count(*) from ops group by step, category order by 1, 2",
    "select distinct category, stream from ops order by 1, 2",
    "select category from ops group by category having count(*) > 50 order by count(*) desc",
    "select id from ops order by dur_ns desc, id desc limit 20",
    "select id, name from ops order by name, start_ns limit 50",
    "select count(*), sum(o.dur_ns) from calls c join ops o on o.call_id = c.id where c.api like 'cuda%'",
    "select g.id, count(*) from gaps g join ops o on o.start_ns < g.end_ns and o.end_ns > g.start_ns group by g.id order by 1",
    "select a.name, count(*) from names a join ops o on o.name = a.name group by a.name order by 2 desc, 1 limit 9",
    "select o.id from ops o where o.dur_ns = (select max(dur_ns) from ops p where p.category = o.category) order by 1",
    "select id from ops where name = 'no such kernel'",
    "select id from ops where dur_ns > null",
    "select max(start_ns) from ops where start_ns < 9223372036854775807 and start_ns > -1e300",
]


@pytest.fixture(scope="module")
def copied(gputime):
    """SQLite tables with the rows that the program gives for whole tables."""
    database = sqlite3.connect(":memory:")
    for name in ("ops", "calls", "gaps", "names"):
        rows = gputime.json("sql", LLAMA, f"select * from {name}", "--max-rows", "0")["tables"]["rows"]
        keys = [column["key"] for column in rows["columns"]]
        listed = ", ".join(f'"{key}" {kind_of(rows["rows"], key)}' for key in keys)
        database.execute(f"create table {name} ({listed})")
        database.executemany(f"insert into {name} values ({', '.join('?' * len(keys))})",
                             [[row[key] for key in keys] for row in rows["rows"]])
    return database


def kind_of(rows, key):
    found = {type(row[key]) for row in rows} - {type(None)}
    return "text" if str in found else "integer" if found <= {int} else "real"


@pytest.mark.parametrize("text", CONSTRAINED)
def test_constraints_and_orders_leave_the_rows_that_sqlite_leaves(gputime, copied, text):
    assert query(gputime, LLAMA, text, "--max-rows", "0") == copied.execute(text).fetchall()


def test_several_traces(gputime):
    rows = query(gputime, *RANKS, "select input, rank, count(*), sum(dur_ns) from ops group by input, rank order by input")
    single = [query(gputime, path, "select input, rank, count(*), sum(dur_ns) from ops")[0] for path in RANKS]
    assert rows == sorted(single)
    name = RANKS[0].name
    assert query(gputime, *RANKS, f"select count(*) from ops where input = '{name}'") == [(dict((r[0], r[2]) for r in rows)[name],)]
    merged = query(gputime, *RANKS, "select name, count(*) from ops group by name order by 1")
    assert sum(count for _, count in merged) == sum(row[2] for row in rows)
    assert len(query(gputime, *RANKS, "select * from inputs")) == 2
    assert "input" in gputime.json("sql", *RANKS, "select * from ops limit 1")["tables"]["rows"]["rows"][0]
    both = query(gputime, *RANKS, "select input, count(*) from report_kernels group by 1 order by 1")
    assert [row[0] for row in both] == sorted(path.name for path in RANKS)


# ---- the command ----


def test_a_query_may_be_a_word_a_file_or_standard_input(gputime, tmp_path):
    text = "select count(*) from ops"
    file = tmp_path / "query.sql"
    file.write_text(f"-- how many\n{text};\n")
    expected = query(gputime, LLAMA, text)
    assert query(gputime, text, LLAMA) == expected
    assert query(gputime, LLAMA, "-f", file) == expected
    assert query(gputime, LLAMA, "-f", "-", stdin=text.encode()) == expected
    assert query(gputime, LLAMA, stdin=text.encode()) == expected


@pytest.mark.parametrize("option", ["--csv", "--md", "--json", "--html", "--format=text"])
def test_every_format_has_the_result(gputime, option):
    done = gputime("sql", LLAMA, "select 'a<b\"' as x, 2 as total_ns, null as z, x'00ff' as b", option)
    assert done.returncode == 0, done.stderr
    assert b"00ff" in done.stdout


def test_columns_of_csv_are_those_of_the_query(gputime):
    done = gputime("sql", LLAMA, 'select 1 as "a,b", 2 as a, 3 as a, count(*), sum(dur_ns) from ops', "--csv")
    assert done.stdout.splitlines()[0] == b"a_b,a,a_2,count,sum_dur_ns"


def test_results_are_cut_with_a_note(gputime):
    report = gputime.json("sql", LLAMA, "select id from ops", "--max-rows", "10")
    assert len(report["tables"]["rows"]["rows"]) == 10
    assert "Only the first 10 rows" in " ".join(report["inputs"][0]["notes"])
    assert len(query(gputime, LLAMA, "select id from ops", "--max-rows", "0")) == 762


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_formats_without_notes_say_on_stderr_that_rows_were_cut(gputime, tmp_path, name):
    done = gputime("sql", LLAMA, "select id from ops", "--max-rows", "10", "-o", tmp_path / name)
    assert done.returncode == 0 and done.stderr.decode().splitlines() == [
        "gputime: Only the first 10 rows are here: the result is larger than 10 rows."]
    assert not gputime("sql", LLAMA, "select id from ops", "--max-rows", "10", "-q", "-o", tmp_path / name).stderr
    assert not gputime("sql", LLAMA, "select id from ops", "--max-rows", "762", "-o", tmp_path / name).stderr


def test_text_names_options_that_the_command_takes(gputime):
    for option in ("--format=text", "--md"):
        shown = gputime("sql", LLAMA, "select * from ops", option).stdout.decode()
        assert "--top" not in shown and "--columns" not in shown and "--max-rows 0" in shown
    assert "see --csv)" in gputime("sql", LLAMA, "select * from ops").stdout.decode()
    whole = gputime("sql", LLAMA, "select id from ops", "--max-rows", "0").stdout.decode()
    assert len(whole.splitlines()) >= 762 and "more rows" not in whole


def test_csv_without_rows_has_a_header(gputime):
    assert gputime("sql", LLAMA, "select id, name from ops limit 0", "--csv").stdout == b"id,name\n"


# ---- errors ----


@pytest.mark.parametrize("text, words", [
    ("select nam from ops", ["line 1, column 8", "no such column: nam", "did you mean 'name'?"]),
    ("select name\nfrom ops where\n dur_n > 5", ["line 3, column 2", "did you mean 'dur_ns'?"]),
    ("select o.nme from ops o", ["did you mean 'name'?"]),
    ("select * from kernels", ["no such table: kernels", "did you mean 'report_kernels'?"]),
    ("select * from opss", ["did you mean 'ops'?"]),
    ("select zzzzzzzzzz from ops", ["'gputime sql --schema'"]),
    ("select (", ["incomplete input"]),
    ("select 1 select 2", ["syntax error"]),
    ("select 1; select 2", ["one at a time"]),
    ("select id from ops where id = ?2", ["parameter '?2' has no value"]),
    ("select :a, ?", ["parameter ':a' has no value"]),
    ("select ?", ["parameter '?' has no value"]),
])
def test_errors_say_where_and_what_to_do(gputime, text, words):
    message = failure(gputime, LLAMA, text)
    assert message.startswith("gputime: SQL error") and message.count("\n") == 1
    for word in words:
        assert word in message


def test_usage_errors(gputime):
    assert "needs a trace" in failure(gputime, "select 1", status=2)
    assert "needs a query" in failure(gputime, status=2)
    assert "neither a trace nor a query" in failure(gputime, LLAMA, "nothing.json", status=2)
    assert "query is empty" in failure(gputime, LLAMA, " -- nothing ", status=2)
    assert "cannot open" in failure(gputime, LLAMA, "-f", "/no/such/file")
    assert "'-f -' reads the query" in failure(gputime, LLAMA, "-", stdin=b"select 1", status=2)
    for time in ("-3", "-3s"):
        assert "invalid duration" in failure(gputime, LLAMA, "select 1", "--timeout", time, status=2)


# ---- nothing can be changed, opened or used up ----

FORBIDDEN = [
    "create table t(a)", "create temp table t as select 1", "insert into ops(id) values(1)", "delete from ops",
    "update ops set name = 'x'", "drop table ops", "attach '/tmp/x.db' as x", "detach main", "vacuum into '/tmp/x.db'",
    "pragma journal_mode", "pragma writable_schema = 1", "select * from pragma_database_list", "begin", "reindex", "analyze",
    "select load_extension('x')", "create virtual table t using fts5(a)", "explain create table t(a)",
    "insert into sqlite_master values(1,1,1,1,1)", "select fts3_tokenizer('x')",
]


@pytest.mark.parametrize("text", FORBIDDEN)
def test_only_selects_are_allowed(hardened, text, tmp_path):
    done = hardened("sql", LLAMA, text, cwd=tmp_path)
    assert done.returncode in (1, 2) and not done.stdout, done
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", [
    "with recursive t(x) as (select 1 union all select x + 1 from t) select count(*) from t",
    "select count(*) from ops a, ops b, ops c, ops d where a.dur_ns + b.dur_ns + c.dur_ns + d.dur_ns < 0",
    "with recursive t(x) as (select 1 union all select x + 1 from t) select x from t order by x desc",
])
def test_endless_queries_are_stopped(hardened, text):
    assert "stopped after" in failure(hardened, LLAMA, text, "--timeout", "300ms", timeout=60)


@pytest.mark.parametrize("text", [
    "select randomblob(1000000000)", "select zeroblob(2000000000)", "select percentile(1, 200)",
    "select replace(hex(zeroblob(30000000)), '0', 'yyyyyyyyyy')",
    "select " + "(" * 5000 + "1" + ")" * 5000, "select 1" + " union all select 1" * 2000, "select " + "1," * 5000 + "1",
    "select hex(zeroblob(60000000))",
])
def test_huge_values_are_errors(hardened, text):
    failure(hardened, LLAMA, "-f", "-", stdin=text.encode())


def test_a_huge_width_is_no_huge_text(hardened):
    [(length,)] = query(hardened, LLAMA, "select length(printf('%*c', 1000000000, 'x'))")
    assert length is None or length < 1 << 26


def test_endless_results_are_cut(hardened):
    text = "with recursive t(x) as (select 1 union all select x + 1 from t) select x from t"
    assert len(query(hardened, LLAMA, text, "--max-rows", "5000")) == 5000


def test_names_of_a_hostile_trace_are_values(hardened, tmp_path):
    names = ["'; drop table ops; --", 'a"b', "x\u0000y", "\u202e", "%_*[]", "\\", "ünï"]
    events = [{"ph": "X", "cat": "kernel", "name": name, "ts": 10 * i, "dur": 5, "pid": 0, "tid": 7,
               "args": {"device": 0, "stream": 7, "correlation": i}} for i, name in enumerate(names)]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    assert [row[0] for row in query(hardened, path, "select name from ops order by id")] == names
    assert query(hardened, path, "select name, count(*) from ops group by name order by name") == sorted(
        ((name, 1) for name in names), key=lambda row: row[0].encode())
    for name in names:
        quoted = name.replace("'", "''")
        if "\0" not in name:
            assert query(hardened, path, f"select count(*) from ops where name = '{quoted}'") == [(1,)]
    assert query(hardened, path, "select count(*) from ops where name like '%\\%' escape '\\'") == [(0,)]

