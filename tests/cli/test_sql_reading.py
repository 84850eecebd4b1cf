"""What a table holds does not depend on what else is read of the trace: for every frame and every column."""

import pytest

from conftest import DATA
from test_sql import query
from test_sql_extension import database  # noqa: F401

SAMPLES = [
    DATA / "devices.json",
    DATA / "torch/tpdp_rank0.json.gz",
    DATA / "torch/ops_zoo.json.gz",
    DATA / "nsys/extras.nsys-rep",
    DATA / "nsys-csv/mini_cuda_gpu_trace.csv",
    DATA / "perfetto/sampled.pftrace",
    DATA / "xla/jax.xplane.pb",
]


@pytest.fixture(scope="module")
def frames(gputime):
    """Columns by frame, less those with numbers of rows and names: these count what was read."""
    found = {}
    for row in gputime.json("sql", "--schema")["tables"]["sql_schema"]["rows"]:
        if row["column"]:
            columns = found.setdefault(row["table"], [])
            if not row["refers_to"] and not row["column"].endswith("_id"):
                columns.append(row["column"])
    return found


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_columns_alone_have_the_values_of_everything_read(gputime, frames, path):
    everything = f"with unused as (select a.* from {', '.join(frames)} a) "
    some = 0
    for frame, columns in frames.items():
        options = ("--max-rows", "0", "--no-cache")
        whole = query(gputime, path, f"{everything} select {', '.join(columns)} from {frame}", *options)
        some += len(whole)
        for place, column in enumerate(columns):
            alone = query(gputime, path, f"select {column} from {frame}", *options)
            assert alone == [row[place:place + 1] for row in whole], (frame, column)
    assert some > len(frames)


def test_threads_and_processes_are_there_alone(gputime):
    path = DATA / "torch/llama_train_compiled.json.gz"
    assert len(query(gputime, path, "select * from threads")) == 3
    assert len(query(gputime, path, "select * from processes")) == 1


def test_correlation_needs_nothing_else(gputime):
    for path in (DATA / "nsys-csv/mini_cuda_gpu_trace.csv", DATA / "perfetto/tpdp_rank0.pftrace"):
        assert query(gputime, path, "select count(correlation) from ops where kind = 'kernel'")[0][0] > 0


def test_tables_of_the_extension_are_of_one_reading(gputime, database):  # noqa: F811
    path = DATA / "nsys/jax.nsys-rep"
    database.execute("select gputime_open(?)", [str(path)])
    joined = "select t.tid, count(*) from calls c join threads t on t.id = c.thread_id group by t.tid order by t.tid"
    expected = query(gputime, path, "select tid, count(*) from calls group by tid order by tid", "--max-rows", "0")
    assert database.execute("select count(*) from calls").fetchone()[0] > 0  # read before, with less
    assert database.execute(joined).fetchall() == expected
    assert database.execute("select count(*) from processes").fetchall() == query(
        gputime, path, "select count(*) from processes")
