"""The extension of SQLite: in its shell and in Python, with the rows that the command gives."""

import os
import shutil
import sqlite3
import subprocess

import pytest

from conftest import DATA, ROOT, find_binary

EXTENSION = find_binary("GPUTIME_EXTENSION", "build/gputime.so")
LLAMA = DATA / "torch/llama_train_compiled.json.gz"
TRAIN = DATA / "nsys/train.nsys-rep"
KERNELS = "select name, count(*), sum(dur_ns) from {} where kind = 'kernel' group by name order by name"


@pytest.fixture
def database(gputime, tmp_path, monkeypatch):
    """A connection that has it. No cache of the user takes part."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    connection = sqlite3.connect(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(str(EXTENSION))
    yield connection
    connection.close()


def result(gputime, path, text):
    table = gputime.json("sql", path, text, "--max-rows", "0")["tables"]["rows"]
    return [tuple(row[column["key"]] for column in table["columns"]) for row in table["rows"]]


@pytest.mark.parametrize("path", [LLAMA, TRAIN], ids=lambda path: path.name)
def test_tables_have_the_rows_of_the_command(gputime, database, path):
    database.execute(f"create virtual table work using gputime('{path}')")
    database.execute(f"create virtual table idle using gputime('{path}', 'gaps')")
    database.execute(f"create virtual table temp.kernels using gputime('{path}', 'report_kernels')")
    assert database.execute(KERNELS.format("work")).fetchall() == result(gputime, path, KERNELS.format("ops"))
    by_cause = "select cause, count(*), sum(gap_ns) from {} group by cause order by cause"
    assert database.execute(by_cause.format("idle")).fetchall() == result(gputime, path, by_cause.format("gaps"))
    assert database.execute("select name, total_ns from kernels order by 1").fetchall() == result(
        gputime, path, "select name, total_ns from report_kernels order by 1")


def test_more_is_read_when_a_query_needs_it(database):
    database.execute(f"create virtual table ops using gputime('{LLAMA}')")
    first = database.execute("select id, name from ops order by id")
    assert first.fetchone()[0] == 0  # and stays open while the file is read again for more
    ranges = database.execute("select range, count(*) from ops group by range").fetchall()
    assert len(ranges) > 3 and sum(count for _, count in ranges) == 762
    assert len(first.fetchall()) == 761
    assert database.execute("select count(grid_x) from ops").fetchone()[0] > 0


def test_all_tables_at_once(database):
    database.execute("create table mine(category text, title text)")
    database.execute("insert into mine values('gemm', 'my products')")
    [(count,)] = database.execute("select gputime_open(?, 'a_')", [str(LLAMA)]).fetchall()
    assert count > 10
    rows = database.execute("select title, count(*) from mine join a_ops using(category) group by title").fetchall()
    assert rows == [("my products", database.execute("select count(*) from a_ops where category = 'gemm'").fetchone()[0])]
    text = """select count(*) from a_ops o join a_calls c on c.id = o.call_id
              where exists (select 1 from a_gaps g where g.next_id = o.id and g.cause = 'host')"""
    assert database.execute(text).fetchone()[0] > 0
    assert database.execute("select median(dur) from a_ops").fetchone()[0] > 0


@pytest.mark.parametrize("arguments, words", [
    ("", "usage: create virtual table"),
    ("'/no/such/file'", "cannot read '/no/such/file'"),
    (f"'{LLAMA}', 'nothing'", "no table 'nothing'"),
    (f"'{LLAMA}', 'report_nothing'", "no table 'report_nothing'"),
    (f"'{LLAMA}', 'ops', 1", "usage: create virtual table"),
])
def test_errors_of_creating_a_table(database, arguments, words):
    with pytest.raises(sqlite3.Error, match=words.replace("'", ".")):
        database.execute(f"create virtual table t using gputime({arguments})")


def test_errors_of_reading(database, tmp_path):
    path = tmp_path / "it's no trace"
    path.write_text("text")
    database.execute("create virtual table t using gputime('{}')".format(str(path).replace("'", "''")))
    with pytest.raises(sqlite3.Error, match="no trace"):
        database.execute("select count(*) from t").fetchall()
    with pytest.raises(sqlite3.Error, match="path of a trace"):
        database.execute("select gputime_open(5)").fetchall()
    with pytest.raises(sqlite3.Error):
        database.execute("insert into t(id) values(1)")


def test_a_damaged_trace_says_so(gputime, database):
    path = DATA / "cut.json"
    database.execute(f"create virtual table inputs using gputime('{path}', 'inputs')")
    database.execute(f"create virtual table whole using gputime('{LLAMA}', 'inputs')")
    [(loss,)] = database.execute("select loss from inputs").fetchall()
    assert loss and loss in gputime("sql", path, "select 1").stderr.decode()
    assert database.execute("select loss from whole").fetchall() == [(None,)]


def test_a_database_keeps_its_tables(gputime, tmp_path, database):
    path = tmp_path / "kept.db"
    for expected in (0, 1):
        connection = sqlite3.connect(path)
        connection.enable_load_extension(True)
        connection.load_extension(str(EXTENSION))
        assert len(connection.execute("select * from sqlite_master").fetchall()) == expected
        if not expected:
            connection.execute(f"create virtual table ops using gputime('{LLAMA}')")
        assert connection.execute("select count(*) from ops").fetchone() == (762,)
        connection.commit()
        connection.close()


def test_the_shell_loads_it(gputime, tmp_path):
    shell = shutil.which("sqlite3")
    if not shell:
        pytest.skip("the sqlite3 shell is not installed")
    script = f".load {EXTENSION.with_suffix('')}\ncreate virtual table t using gputime('{LLAMA}');\n" + KERNELS.format("t") + ";\n"
    done = subprocess.run([shell, ":memory:"], input=script.encode(), capture_output=True,
                          env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)})
    assert done.returncode == 0 and not done.stderr, done
    expected = ["|".join(map(str, row)) for row in result(gputime, LLAMA, KERNELS.format("ops"))]
    assert done.stdout.decode().splitlines() == expected


def test_it_calls_the_sqlite_of_the_program_that_loads_it():
    """The functions that lib/sql calls are not those that the library itself is linked with."""
    objects = sorted((ROOT / "build/extension").rglob("*.o"))
    if not objects or not shutil.which("nm"):
        pytest.skip("built elsewhere")
    names = subprocess.run(["nm", "-u", *objects], check=True, capture_output=True, text=True).stdout
    called = {line.split()[-1] for line in names.splitlines() if " sqlite3_" in line}
    assert called == {"sqlite3_api"}
