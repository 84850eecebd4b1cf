"""Arrow streams of the library, read by a consumer of our own: every value is that of the cells and of the JSON output, and
memory stays valid in whatever order things are released."""

import math

import pytest

from arrow_by_hand import Table
from conftest import DATA, sample_name
from library import Library

SAMPLES = [*sorted(DATA.glob("*.json")), DATA / "torch/llama_train_compiled.json.gz", DATA / "torch/tpdp_rank0.json.gz",
           DATA / "nsys/train.nsys-rep", DATA / "nsys/graph_whole.nsys-rep", DATA / "nsys-csv/mini_cuda_gpu_trace.csv",
           DATA / "nsys-csv/mini_cuda_gpu_kern_sum.csv"]


@pytest.fixture(scope="module")
def library():
    return Library()


@pytest.fixture(scope="module")
def analyses(gputime):
    rows = gputime.json("list", "analyses")["tables"]["analyses"]["rows"]
    return [row["key"] for row in rows if row["key"] not in ("whatif", "why")]


def decoded(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def same(cell, value):
    cell = decoded(cell)
    if isinstance(cell, float) and not math.isfinite(cell):
        return value is None
    return cell == value


@pytest.mark.parametrize("sample", SAMPLES, ids=sample_name)
def test_tables_are_those_of_the_report(library, analyses, gputime, sample):
    json_tables = gputime.json("summary", sample)["tables"]
    with library.opened(sample) as trace:
        report = library.report(trace, analyses)
        found, cells = {}, {}
        for key, handle in library.tables(report):
            cells[key] = library.rows(handle)
            found[key] = Table(library.table_stream(handle))
        library.c.gputime_report_free(report)
    assert {"kernels", "accounting"} <= set(found)
    seen = 0
    for key, table in found.items():  # report and trace are gone
        table.release_stream()
        columns = table.columns()
        rows = list(zip(*columns.values())) if columns else []
        assert len(rows) == len(cells[key])
        assert all(same(cell, value) for line, row in zip(cells[key], rows) for cell, value in zip(line, row)), key
        seen += check_json(json_tables.get(key), columns, rows)
        assert table.about()[None]["gputime.table"] == key
        table.release()
    assert seen or not any(table["rows"] for table in json_tables.values())


def check_json(wanted, columns, rows):
    """Each row of the JSON output, whose tables may be cut, is among the rows. Gives how many."""
    if not wanted:
        return 0
    keys = [column["key"] for column in wanted["columns"] if column["key"] not in ("input", "rank")]
    if keys != list(columns):  # made for another selection of columns
        return 0
    there = {tuple(map(repr, map(plain, row))) for row in rows}
    for row in wanted["rows"]:
        assert tuple(repr(plain(row[key])) for key in keys) in there
    return len(wanted["rows"])


def plain(value):
    return float(value) if isinstance(value, (int, float)) else value


def test_units_and_titles(library, gputime):
    sample = DATA / "torch/llama_train_compiled.json.gz"
    wanted = {column["key"]: column for column in gputime.json("kernels", sample)["tables"]["kernels"]["columns"]}
    with library.opened(sample) as trace:
        report = library.report(trace, ["kernels"])
        table = Table(library.table_stream(dict(library.tables(report))["kernels"]))
        library.c.gputime_report_free(report)
    about = table.about()
    for key in table.keys:
        for part in ("title", "unit", "of"):
            assert about[key].get(part, "") == wanted[key].get(part, ""), (key, part)
    assert table.formats() | {"total_ns": "l", "share": "g", "name": "i"} == table.formats()
    table.release_stream()
    table.release()


# ---- frames ----


@pytest.mark.parametrize("sample", SAMPLES, ids=sample_name)
def test_frames_outlive_the_trace(library, gputime, sample):
    report = gputime.json("summary", sample)
    trace = library.open(sample)
    tables = {}
    for frame in library.frames():
        stream = library.frame_stream(trace, frame)
        tables[frame] = Table(stream)
    library.c.gputime_trace_free(trace)
    columns = {frame: table.columns() for frame, table in tables.items()}
    for table in list(tables.values())[::-1]:
        table.release_stream()
    ops = columns["ops"]
    assert len(ops["name"]) == report["inputs"][0]["ops"]
    assert all(end - start == length for start, end, length in zip(ops["start_ns"], ops["end_ns"], ops["dur_ns"]))
    check_sums(ops, report)
    about = tables["ops"].about()
    assert about[None]["gputime.origin_ns"] == report["inputs"][0]["origin_ns"]
    for table in tables.values():
        table.release()


def check_sums(ops, report):
    """Categories sum up to those of the summary."""
    if not ops["name"]:
        return
    sums, counts = {}, {}
    for category, length in zip(ops["category"], ops["dur_ns"]):
        sums[category] = sums.get(category, 0) + length
        counts[category] = counts.get(category, 0) + 1
    wanted = {row["category"]: (row["count"], row["total_ns"]) for row in report["tables"]["categories"]["rows"]}
    assert {key: (counts[key], sums[key]) for key in sums} == {key: value for key, value in wanted.items() if value[0]}


def test_columns_can_be_chosen(library):
    sample = DATA / "torch/llama_train_compiled.json.gz"
    with library.opened(sample) as trace:
        everything = Table(library.frame_stream(trace, "ops"))
        some = Table(library.frame_stream(trace, "ops", ["dur_ns", "name", "grid_x"]))  # the last is read on demand
        assert "grid_x" not in everything.keys
    assert some.keys == ["dur_ns", "name", "grid_x"]
    assert any(value is not None for value in some.columns()["grid_x"])
    assert {key: everything.columns()[key] for key in ("dur_ns", "name")} == {
        key: some.columns()[key] for key in ("dur_ns", "name")}
    for table in (everything, some):
        table.release()
        table.release_stream()


def test_wrong_requests(library):
    with library.opened(DATA / "overlap.json") as trace:
        assert library.frame_stream(trace, "op").startswith("no frame 'op'; available: ops, calls")
        assert library.frame_stream(trace, "ops", ["nme"]) == "frame 'ops' has no column 'nme'"
