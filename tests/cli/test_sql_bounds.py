"""What queries may take: memory, long values, long patterns, bytes of a result; and what hostile databases may name."""

import random
import resource
import sqlite3

import pytest

from python_package import opened
from test_sql import LLAMA, failure, query
from test_sql_extension import EXTENSION

GIB = 1 << 30
TOO_MUCH = "needs more than 4 GiB of memory"


def limited():
    """So that a stop that comes late is a failure, not a machine that swaps."""
    resource.setrlimit(resource.RLIMIT_AS, (5 * GIB, 5 * GIB))


def available_bytes():
    with open("/proc/meminfo", encoding="ascii") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


# ---- memory ----


def test_sorting_is_stopped_before_it_takes_all_memory(gputime):
    if available_bytes() < 8 * GIB:
        pytest.skip("less than 8 GiB of memory are free")
    text = ("with recursive t(x) as (select 1 union all select x + 1 from t) "
            "select count(*) from (select x, replace(hex(zeroblob(999999)), '0', 'ab') as z from t order by z desc, x)")
    assert TOO_MUCH in failure(gputime, LLAMA, text, preexec_fn=limited)


def wide(value):
    """Thousands of values at once, without a branch between them."""
    text = value
    for _ in range(14):
        text = f"max({','.join([value] * 98)},{text})"
    return f"select length({text})"


@pytest.mark.parametrize("value", ["hex(zeroblob(1999000))", "hex(randomblob(1999000))"])
def test_many_values_of_one_statement_must_be_short(gputime, value):
    assert "too big" in failure(gputime, LLAMA, "-f", "-", stdin=wide(value).encode(), preexec_fn=limited)


def test_many_short_values_are_no_problem(gputime):
    assert query(gputime, LLAMA, "-f", "-", stdin=wide("hex(zeroblob(1000))").encode()) == [(2000,)]
    listed = ",".join(map(str, range(20000)))
    assert query(gputime, LLAMA, "-f", "-", stdin=f"select count(*), length(hex(zeroblob(50000))) from ops where id in ({listed})"
                 .encode()) == [(762, 100000)]


def test_a_value_has_at_most_4_mib(gputime):
    assert query(gputime, LLAMA, "select length(zeroblob(4194304))") == [(4194304,)]
    assert "too big" in failure(gputime, LLAMA, "select length(zeroblob(4194305))")


# ---- patterns ----


@pytest.mark.parametrize("operator, wildcard", [("like", "%"), ("glob", "*")])
def test_long_patterns_are_refused(hardened, operator, wildcard):
    """Also where no row has the text: a column whose texts are compared before SQLite sees a row."""
    for pattern in (wildcard * 100000, f"{wildcard}x" * 100000, "x" * 1001):
        text = f"select count(*) from ops where name {operator} '{pattern}'"
        assert "pattern too complex" in failure(hardened, LLAMA, "-f", "-", stdin=text.encode())
    text = f"select count(*) from ops where name {operator} '{wildcard * 999}'"
    assert query(hardened, LLAMA, "-f", "-", stdin=text.encode()) == [(762,)]


# ---- bytes of a result ----


def test_a_result_is_cut_before_the_row_that_is_too_large():
    with opened(LLAMA) as trace:
        text = "select id, hex(zeroblob(50000)) as a, zeroblob(50000) as b from ops order by id"
        assert len(trace.sql(text, max_bytes=100000)) == 0
        assert len(trace.sql(text, max_bytes=200500)) == 1
        assert len(trace.sql(text, max_bytes=1000000)) == 4
        assert len(trace.sql("select id from ops", max_bytes=0)) == 762


# ---- what is read ----


def test_names_in_the_quotes_of_strings_are_read_too(gputime):
    """SQLite takes them for tables and columns where nothing else can be meant."""
    counts = "select (select count(*) from ops), (select count(*) from {0}calls{0}), (select count(*) from {0}ranges{0})"
    plain = query(gputime, LLAMA, counts.format(""))
    assert min(plain[0]) > 0
    assert query(gputime, LLAMA, counts.format("'")) == plain
    columns = "select o.{0}range{0}, o.{0}grid_x{0}, count(*) from ops o group by 1, 2 order by 1, 2"
    plain = query(gputime, LLAMA, columns.format(""))
    assert any(row[0] for row in plain) and any(row[1] for row in plain)
    assert query(gputime, LLAMA, columns.format("'")) == plain


# ---- databases of others ----


def loaded(path):
    connection = sqlite3.connect(path)
    connection.enable_load_extension(True)
    connection.load_extension(str(EXTENSION))
    return connection


def test_views_of_a_database_read_no_traces(gputime, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    connection = loaded(tmp_path / "hostile.db")
    connection.execute(f"create virtual table hidden using gputime('{LLAMA}')")
    connection.execute("create view prices as select name from hidden")
    connection.execute("create table orders(id)")
    connection.execute("create trigger spy after insert on orders begin insert into orders select id from hidden; end")
    connection.commit()
    connection.close()
    connection = loaded(tmp_path / "hostile.db")
    for text in ("select * from prices", "insert into orders values(1)"):
        with pytest.raises(sqlite3.Error, match="unsafe use of virtual table"):
            connection.execute(text).fetchall()
    assert connection.execute("select count(*) from hidden").fetchone() == (762,)
    connection.close()


def test_the_extension_has_the_functions_after_it_is_loaded_twice(gputime, tmp_path):
    connection = loaded(":memory:")
    connection.load_extension(str(EXTENSION))
    assert connection.execute("select median(column1), percentile(column1, 25) from (values (1), (2.5), (4), (9))").fetchone() == (
        3.25, 2.125)
    connection.close()


# ---- functions that could compute for hours ----

LONG, MIDDLE = "printf('%.*c', 4000000, 'a')", "printf('%.*c', 2000000, 'a')"


@pytest.mark.parametrize("text, result", [
    (f"select instr({LONG}, {MIDDLE} || 'b')", 0),
    (f"select instr({LONG} || 'b', {MIDDLE} || 'b')", 2000001),
    (f"select length(replace({LONG}, {MIDDLE} || 'b', 'x'))", 4000000),
    (f"select replace({LONG}, {MIDDLE}, 'x')", "xx"),
    (f"select length(trim({MIDDLE}, 'b'))", 2000000),
])
def test_searches_are_linear(hardened, text, result):
    assert query(hardened, LLAMA, text, timeout=60) == [(result,)]


@pytest.mark.parametrize("text, words", [
    (f"select {LONG} like '%' || printf('%.*c', 990, 'a') || 'b'", "too complex"),
    (f"select {LONG} not glob '*' || printf('%.*c', 990, 'a') || 'b'", "too complex"),
    (f"select rtrim({MIDDLE}, printf('%.*c', 99999, 'b') || 'a')", "too many characters to trim"),
    ("select json_patch('{}', '{}')", "json_patch"),
    ("select unhex('00')", "unhex"),
    ("with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n where "
     "printf('%.*c', 50000, 'a') || i like '%' || printf('%.*c', 900, 'a') || 'b'", "stopped after"),
])
def test_long_work_is_refused_or_stopped(hardened, text, words):
    assert words in failure(hardened, LLAMA, text, "--timeout", "200ms", timeout=60)


def quoted(value):
    return f"x'{value.hex()}'" if isinstance(value, bytes) else "null" if value is None else \
        str(value) if isinstance(value, int) else "'{}'".format(value.replace("'", "''"))


EXPRESSIONS = ["instr(a, b)", "replace(a, b, c)", "trim(a)", "trim(a, b)", "ltrim(a, b)", "rtrim(a, b)", "a like b", "a like b escape c",
               "a glob b", "instr(b, a)", "replace(a, c, b)", "b not like a"]


@pytest.mark.parametrize("text, pattern, escape, result", [
    ("10x", "10%%", "%", 0), ("10%", "10%%", "%", 1), ("abc", "a%", "%", 0), ("ab", "a%b", "%", 1), ("a", "a%", "%", 0),
    ("axb", "a_b", "_", 0), ("ab", "a_b", "_", 1), ("a_b", "a__b", "_", 1), ("axyb", "a%b", "_", 1), ("a%b", "a_%b", "_", 1),
    ("axb", "a_%b", "_", 0), ("a\\b", "a\\b", "%", 1), ("a\\b", "a%\\_", "%", 1), ("aÄ", "a%Ä", "%", 1), ("", "", "_", 1), ("", "_", "_", 0)])
def test_wildcards_may_be_escapes(hardened, text, pattern, escape, result):
    asked = f"select '{text}' like '{pattern}' escape '{escape}'"
    assert sqlite3.connect(":memory:").execute(asked).fetchall() == [(result,)] == query(hardened, LLAMA, asked)


def test_functions_give_what_those_of_sqlite_give(hardened):
    """SQLite's own, by Python."""
    draw = random.Random(5)
    # 'ä' and 'ę' share a byte; blobs may end or begin within a character
    letters = ["a", "b", "A", "ä", "ę", "€", "%", "_", "*", "?", "[a-b]", " ", "'", "😀"]

    def value():
        text = "".join(draw.choice(letters) for _ in range(draw.choice([0, 1, 1, 2, 3, 6, 9])))
        return draw.choice([text, text, text, text, text.encode()[:draw.randrange(9)], text.encode()[1:], None, draw.randrange(99)])

    own = sqlite3.connect(":memory:")
    for expression in EXPRESSIONS:
        rows = [(value(), value(), draw.choice(letters) if "escape" in expression else value()) for _ in range(90)]
        values = ", ".join(f"({', '.join(map(quoted, row))})" for row in rows)
        text = f"with v(a, b, c) as (values {values}) select typeof({expression}) as t, hex({expression}) as h from v"
        if "escape" in expression:
            text = text.replace("'[a-b]')", "'x')")
        assert query(hardened, LLAMA, "-f", "-", stdin=text.encode()) == own.execute(text).fetchall(), expression
