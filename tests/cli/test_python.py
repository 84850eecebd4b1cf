"""The Python package has the numbers of the program: every table of its reports, on every sample."""

import html.parser
import json
import re
import shutil
import subprocess

import pytest

from conftest import DATA, ROOT
from python_package import json_rows, opened, package, table_rows
from samples import own_capture
from simulated_jobs import make_job, traces_of
from test_matrix import SAMPLES

LLAMA = DATA / "torch/llama_train_compiled.json.gz"
MORE = [DATA / "torch/tpdp_rank0.json.gz", *(path for path in sorted((DATA / "torch").glob("*.json.gz")))]
COMMANDS = [("summary", {}), ("kernels", {}), ("gaps", {"per": "device"}), ("gaps", {}), ("ranges", {}), ("steps", {}),
            ("memory", {}), ("efficiency", {}), ("path", {}), ("findings", {})]
ALL = sorted({*SAMPLES, *MORE})


def arguments(options):
    return [word for key, value in options.items() for word in (f"--{key}", value)]


@pytest.mark.parametrize("sample", ALL, ids=lambda path: path.name)
def test_numbers_are_those_of_the_program(gputime, unpacked, sample):
    path = unpacked(sample)
    done = gputime("summary", path, "--json", "--no-cache")
    if done.returncode != 0:
        with pytest.raises(package.Error) as error:
            opened(path).summary()
        assert done.stderr.decode().strip() == f"gputime: {error.value}"
        return
    with opened(path) as trace:
        for command, options in COMMANDS:
            expected = json.loads(gputime(command, *arguments(options), path, "--json", "--no-cache").stdout)
            report = trace.command(command, **options)
            tables = {key: table for key, table in report.tables.items() if key in expected["tables"]}
            assert set(expected["tables"]) == set(tables), command
            for key, table in tables.items():
                assert table_rows(table) == json_rows(expected, key), (command, key)
            assert report.facts == expected["facts"], command
            assert [finding.title for finding in report.findings] == [one["title"] for one in expected["findings"]]


@pytest.mark.parametrize("sample", ALL, ids=lambda path: path.name)
def test_events_sum_to_the_tables(unpacked, gputime, sample):
    """By SQL and by Python loops over frames: kernels, exposed communication, idle time by cause, ranges."""
    path = unpacked(sample)
    if gputime("summary", path, "--no-cache").returncode != 0:
        pytest.skip("is no trace")
    trace = opened(path)
    if not len(trace.ops):
        pytest.skip("has no ops with times")
    expected = {(row["name"], row["count"], row["total_ns"]) for row in trace.kernels()}
    query = "select name, count(*) as n, sum(dur_ns) as total from ops where kind in ('kernel', 'graph') group by name"
    assert {tuple(row.values()) for row in trace.sql(query)} == expected
    asked = json.loads(gputime("sql", query, path, "--json", "--no-cache").stdout)
    assert {tuple(row.values()) for row in json_rows(asked, "rows")} == expected
    summed = {}
    for row in trace.ops:
        if row["kind"] in ("kernel", "graph"):
            count, total = summed.get(row["name"], (0, 0))
            summed[row["name"]] = count + 1, total + row["dur_ns"]
    assert {(name, *sums) for name, sums in summed.items()} == expected
    idle = {row["cause"]: row["total_ns"] for row in trace.gaps(per="device")["idle_causes_all"]} \
        if "idle_causes_all" in trace.gaps(per="device").tables else {}
    causes = {}
    for row in trace.gaps:
        causes[row["cause"]] = causes.get(row["cause"], 0) + row["gap_ns"]
    by_query = {row["cause"]: row["total"] for row in trace.sql("select cause, sum(gap_ns) as total from gaps group by 1")}
    assert causes == by_query
    if idle:
        assert {key: value for key, value in causes.items() if value} == {key: value for key, value in idle.items() if value}
    report = trace.summary()
    parts = {part: sum(row["total_ns"] for row in report["time_parts"] if row["part"] == part)
             for part in ("exposed communication", "idle")}
    accounting = report["accounting"].to_dict()
    assert parts["exposed communication"] == sum(accounting["exposed_comm_ns"])
    assert parts["idle"] == sum(accounting["idle_ns"])
    named = {row["name"] for row in trace.ranges if row["ops"]}
    assert {row["name"] for row in trace.ranges() if row["busy_ns"]} <= named | {None}


def test_queries():
    trace = opened(LLAMA)
    result = trace.sql("select kind, count(*) as n from ops group by kind order by n desc")
    assert result.to_dict() == {"kind": ["kernel", "memset", "memcpy"], "n": [654, 102, 6]}
    assert "Query result" in repr(result) and result["n"].sum() == 762
    assert len(trace.sql("select * from ops", max_rows=5)) == 5
    assert "more rows" in repr(trace.sql("select name from ops")) and len(trace.sql("select name from ops")) == 762
    with pytest.raises(package.Error, match="SQL error at line 1, column 8: no such column: nowhere"):
        trace.sql("select nowhere from ops")
    with pytest.raises(package.Error):
        trace.sql("delete from ops")
    with pytest.raises(package.Error):
        trace.sql("with recursive r(n) as (select 1 union all select n + 1 from r) select max(n) from r", timeout=0.05)
    for wrong in ({"max_rows": -1}, {"max_rows": 1.5}, {"timeout": -1}, {"max_bytes": "x"}):
        with pytest.raises(package.UsageError, match=f"{next(iter(wrong))} needs"):
            trace.sql("select 1", **wrong)
    schema = package.schema()
    assert {"ops", "ranges", "gaps"} <= set(schema.to_dict()["table"]) and len(schema["report_tables"]) > 50


@pytest.mark.parametrize("command, options", [one for one in COMMANDS], ids=lambda value: str(value))
def test_text_is_that_of_the_program(gputime, command, options):
    done = gputime(command, *arguments(options), LLAMA, "--no-cache")
    shown = re.sub(r"\n\ntip: .*", "", done.stdout.decode().rstrip("\n"))
    assert repr(opened(LLAMA).command(command, **options)) == shown


def test_methods_are_made_from_the_registries(gputime):
    analyses = json.loads(gputime("list", "analyses", "--json").stdout)["tables"]["analyses"]["rows"]
    trace = opened(LLAMA)
    for row in analyses:
        if row["key"] != "ranks":  # of a job
            assert callable(getattr(trace, row["key"])), row
            assert row["key"] in dir(trace)
    accounting = trace.accounting()
    assert accounting.main.key == "time_parts" and "accounting" in accounting.tables


def test_options_and_selections(gputime):
    trace = opened(LLAMA)
    expected = json.loads(gputime("kernels", LLAMA, "--step", "4", "--sort", "duration", "--top", "3", "--json",
                                  "--names", "short", "--no-cache").stdout)
    report = trace.kernels(step=4, sort="duration", top=3, names="short")
    assert table_rows(report) == json_rows(expected, "kernels") and len(report) == 3
    expected = json.loads(gputime("gaps", LLAMA, "--from", "20ms", "--to", "60%", "--bins", "7",
                                  "--json", "--no-cache").stdout)
    report = trace.gaps(from_="20ms", to="60%", bins="linear", bin_count=7)
    assert table_rows(report["histogram"]) == json_rows(expected, "histogram") and len(report["histogram"]) == 7
    by_number = trace.gaps(from_=20_000_000, to="60%", bins="linear", bin_count=7)
    assert table_rows(by_number["histogram"]) == json_rows(expected, "histogram")
    expected = json.loads(gputime("kernels", LLAMA, "--category", "gemm,norm", "--device", "0", "--json",
                                  "--no-cache").stdout)
    assert table_rows(trace.kernels(category=["gemm", "norm"], device=[0])) == json_rows(expected, "kernels")
    assert table_rows(trace.kernels(step=range(3, 5))) == table_rows(trace.kernels(step="3-4")) != \
        table_rows(trace.kernels(step=3))
    expected = json.loads(gputime("kernels", LLAMA, "--name", "NVJET", "--json", "--no-cache").stdout)
    assert table_rows(trace.kernels(name="NVJET")) == json_rows(expected, "kernels")


def test_columns_have_units_and_titles():
    kernels = opened(LLAMA).kernels()
    column = next(column for column in kernels.columns if column.key == "total_ns")
    assert (column.title, column.unit) == ("Total", "ns") and "unit='ns'" in repr(column)
    share = next(column for column in kernels.columns if column.key == "share")
    assert (share.unit, share.of) == ("share", "kernel time")
    assert "total_ns" in kernels and "nothing" not in kernels
    with pytest.raises(KeyError, match="no column 'nothing'; there are name, count"):
        kernels["nothing"]
    assert kernels[0]["name"] == kernels["name"][0] and kernels[-1] == list(kernels)[-1]
    with pytest.raises(IndexError):
        kernels[len(kernels)]


def test_arrays_of_tables():
    numpy = pytest.importorskip("numpy")
    kernels = opened(LLAMA).kernels()
    total = kernels["total_ns"]
    assert total.dtype == numpy.int64 and total.tolist() == kernels.to_dict()["total_ns"]
    assert kernels["avg_ns"].dtype == numpy.float64 and kernels["name"].dtype == object
    gaps = opened(LLAMA).ops["gap_ns"]
    assert isinstance(gaps, numpy.ma.MaskedArray) and gaps.dtype == numpy.int64 and gaps.mask[0] and not gaps.mask[1]
    assert opened(LLAMA).rows("ops")["name"].dtype == numpy.uint32  # ids, as they are stored


def test_data_frames():
    pandas = pytest.importorskip("pandas")
    numpy = pytest.importorskip("numpy")
    trace = opened(LLAMA)
    frame = trace.kernels().to_pandas()
    assert list(frame.columns) == [column.key for column in trace.kernels().columns]
    assert frame["total_ns"].sum() == sum(trace.kernels().to_dict()["total_ns"])
    assert frame.attrs["units"]["total_ns"] == "ns"
    ops = trace.ops
    frame = ops.to_pandas()
    assert frame["name"].tolist() == ops.to_dict()["name"] and frame["category"].tolist() == ops.to_dict()["category"]
    assert frame["gap_ns"].isna().tolist() == [value is None for value in ops.to_dict()["gap_ns"]]
    assert frame["gap_ns"].sum() == sum(value for value in ops.to_dict()["gap_ns"] if value is not None)
    by_category = frame["dur_ns"].groupby(frame["category"].astype(str)).sum().to_dict()
    expected = dict(zip(trace.categories().to_dict()["category"], trace.categories().to_dict()["total_ns"]))
    assert {key: value for key, value in by_category.items() if value} == \
        {key: value for key, value in expected.items() if value}
    rows = trace.rows("ops")
    stored = rows.to_pandas()
    for key in ("start_ns", "end_ns", "correlation", "lane"):
        assert numpy.shares_memory(stored[key].to_numpy(), rows[key]) and not rows[key].flags.writeable
    for one in (trace.ranges, trace.gaps, trace.inputs, rows):
        assert isinstance(one.to_pandas(), pandas.DataFrame)


def test_a_million_ops_are_not_copied(tmp_path):
    """From the library's memory to numpy and pandas, shown by addresses: also where Arrow has them in several arrays."""
    numpy = pytest.importorskip("numpy")
    pytest.importorskip("pandas")
    from gputime import _arrow
    count = (1 << 20) + 1000
    names = '"k"'
    lines = (f'{{"ph":"X","cat":"kernel","name":{names},"pid":0,"tid":7,"ts":{2 * i},"dur":1,"args":{{"stream":7,"device":0}}}}'
             for i in range(count))
    path = tmp_path / "many.json"
    path.write_text('{"traceEvents":[' + ",\n".join(lines) + "]}")
    trace = opened(path)
    seen = []
    original = _arrow.next_array

    def spy(stream):
        found = original(stream)
        if found:
            seen.append(found[0].children[0].contents.buffers[1])
        return found

    _arrow.next_array = spy
    try:
        durations = trace.ops["dur_ns"]
    finally:
        _arrow.next_array = original
    assert len(durations) == count and int(durations.sum()) == 1000 * count and len(seen) == 2
    assert durations.__array_interface__["data"][0] == seen[0]  # the array of the library itself
    frame = trace.ops.select("dur_ns", "start_ns", "name").to_pandas()
    assert frame["name"].nunique() == 1 and len(frame) == count
    rows = trace.rows("ops")
    field = rows._fields[rows._index("start_ns")]
    assert rows["start_ns"].__array_interface__["data"][0] == field.data
    assert rows.to_pandas()["start_ns"].to_numpy().__array_interface__["data"][0] == field.data
    selected = trace.ops.select("dur_ns", "start_ns")
    array = selected["start_ns"]
    trace.close()
    del trace, rows, frame, durations
    assert array[-1] == 2000 * (count - 1)
    assert numpy.shares_memory(selected.to_pandas()["dur_ns"].to_numpy(), selected._values(0).numbers())


@pytest.mark.parametrize("sample", [LLAMA, DATA / "hostile.json", own_capture("train").report], ids=lambda path: path.name)
def test_events_are_those_of_the_store(dump_rows, sample):
    trace = opened(sample, facts="all")
    expected = dump_rows(sample)
    compared = 0
    for kind, rows in expected.items():
        if kind not in trace.kinds:
            continue
        found = trace.rows(kind).to_dict()
        for key in rows[0]:
            if key == "row" or key not in found:
                continue
            given = [None if row[key] == "" else row[key] for row in rows]
            if any(isinstance(value, str) and "\udc80" <= value[:1] for value in given):
                continue
            if all(value is None or isinstance(value, (int, str)) for value in given) and key != "flags":
                same = [as_text(value) for value in found[key]]
                assert same == [as_text(value) for value in given], (kind, key)
                compared += 1
    assert compared > 20


def as_text(value):
    """Bytes that are no UTF-8 are marked in different ways."""
    return re.sub("[\udc80-\udcff\ufffd]+", "?", value) or None if isinstance(value, str) else value


def test_facts_are_read_when_rows_are_asked_for(dump_rows):
    trace = opened(LLAMA)
    assert "configs" not in trace.info.facts_read
    early = trace.rows("ops")
    names = trace.rows("ops").to_dict()["name"]
    configs = trace.rows("kernel_configs")
    assert "configs" in trace.info.facts_read and len(configs) == len(dump_rows(LLAMA)["kernel_configs"]) > 0
    assert early.to_dict()["name"] == names == trace.rows("ops").to_dict()["name"]  # ids of another reading are others
    assert len(trace.collectives) == 117 and len(trace.collectives.columns) > 10 and "comms" in trace.info.facts_read
    assert opened(LLAMA).ops["grid_x"][0] > 0  # read for this column


def test_rows_and_command_of_one_name():
    trace = opened(LLAMA)
    assert len(trace.ranges) == 162 and trace.ranges[3]["name"] == "ProfilerStep#3"
    assert trace.ranges().main.key == "ranges" and "phases" in trace.ranges().tables
    with pytest.raises(TypeError):
        trace.ops()
    with pytest.raises(AttributeError, match="nothing"):
        trace.nothing
    with pytest.raises(package.UsageError, match="no rows 'nothing'; kinds are ops"):
        trace.rows("nothing")
    with pytest.raises(package.UsageError, match="no frame 'nothing'; frames are ops"):
        trace.frame("nothing")
    with pytest.raises(KeyError, match="no column 'nothing' in ops; there are id, start_ns"):
        trace.ops["nothing"]


def test_info():
    info = opened(LLAMA).info
    assert (info.format, info.rank, info.world_size, info.path) == ("torch-json", 0, 1, str(LLAMA))
    assert "ops" in info.facts and info.loss is None and info.origin_ns > 0
    assert opened(DATA / "cut.json").info.loss


def test_comparison(gputime, changed):
    a, b = changed
    for options in ({}, {"per": "step"}, {"per": "none"}, {"per": "launch"}):
        expected = json.loads(gputime("diff", a, b, *arguments(options), "--json").stdout)
        report = package.diff(a, b, cache=False, **options)
        assert set(expected["tables"]) <= set(report.tables), options
        for key in expected["tables"]:
            rows = [row for row in expected["tables"][key]["rows"] if row.get("input") == expected["inputs"][0]["input"]
                    or "input" not in row]
            if rows == expected["tables"][key]["rows"]:
                assert table_rows(report[key]) == json_rows(expected, key), (options, key)
    with opened(a) as first:
        report = package.diff(first, [b, b], limits=["each kernel:*>+10%", "step>+50%"], cache=False)
    assert report.broken == 1 and report["limits"].to_dict()["verdict"].count("broken") == 1
    assert report.main.key == "measures" and "flash_fwd_kernel" in repr(report)


def test_files_of_one_capture(gputime):
    folder = DATA / "nsys-csv"
    tables = sorted(str(path) for path in folder.glob("mini_cuda_gpu_*_sum.csv"))
    expected = json.loads(gputime("kernels", *tables, "--json").stdout)
    assert len(tables) > 1 and table_rows(opened(tables).kernels()) == json_rows(expected, "kernels")
    assert table_rows(package.open(*tables, cache=False).kernels()) == json_rows(expected, "kernels")
    assert package.diff(tables, tables, cache=False).broken == 0


def test_limits(gputime):
    report = package.check(LLAMA, ["idle<1%", "utilisation>10%"], cache=False)
    expected = json.loads(gputime("check", LLAMA, "--limit", "idle<1%", "--limit", "utilisation>10%", "--json").stdout)
    assert report.broken == 1 and table_rows(report["limits"]) == json_rows(expected, "limits")
    assert opened(LLAMA).check("idle<99%").broken == 0
    with pytest.raises(package.UsageError, match="'check' needs a limit"):
        package.check(LLAMA, [])


def test_several_jobs(gputime, tmp_path):
    """Of all jobs, as CSV and JSON have them."""
    shape = ("--steps", 4, "--layers", 1, "--kernels", 2)
    jobs = [make_job(tmp_path / f"of{ranks}", "--ranks", ranks, *shape) for ranks in (4, 2)]
    paths = [path for job in jobs for path in traces_of(job)]
    expected = gputime.json("ranks", *paths)
    report = package.ranks(paths, cache=False)
    assert [section.title for section in report.sections] == ["job 1: 4 ranks", "job 2: 2 ranks"]
    assert set(report.tables) == set(expected["tables"])
    for key, table in report.tables.items():
        assert table_rows(table) == expected["tables"][key]["rows"] == [table[row] for row in range(len(table))], key
    assert len(report) == 6 and report["input"].tolist() == ["job 1: 4 ranks"] * 4 + ["job 2: 2 ranks"] * 2
    for section, entry in zip(report.sections, expected["inputs"]):
        assert (section.facts, section.notes) == (entry["facts"], entry["notes"])
        assert len(section.tables["ranks"]) == section.facts["ranks"] == int(section.title.split()[2])
    assert report.notes == [note for entry in expected["inputs"] for note in entry["notes"]]
    assert len(report.findings) == sum(len(section.findings) for section in report.sections)
    assert "job 2: 2 ranks" in repr(report.tables["ranks"]) and list(report.to_pandas()["rank"]) == [0, 1, 2, 3, 0, 1]
    assert package.check(paths, ["ranks>3", "ranks<1"], ranks=True, cache=False).broken == 3
    with pytest.raises(package.Error, match="A has traces of 2 jobs, with world sizes of 4 and 2; pass the traces of one job"):
        package.diff(paths, traces_of(jobs[0]), ranks=True, cache=False)


def test_jobs(gputime, tmp_path):
    expected = json.loads(gputime("ranks", DATA / "ranks", "--json").stdout)
    seen = []
    report = package.ranks(DATA / "ranks", cache=False, progress=lambda done, total: seen.append((done, total)))
    assert report.main.key == "ranks" and len(report) == 4
    for key in expected["tables"]:
        assert table_rows(report[key]) == json_rows(expected, key), key
    assert seen and all(done <= total for done, total in seen)
    done = gputime("ranks", DATA / "ranks")
    assert repr(report) == done.stdout.decode().rstrip("\n")
    same = package.diff(DATA / "ranks", DATA / "ranks", ranks=True, limits="exposed_wait>+10%", cache=False)
    assert same.broken == 0 and same.main.key == "job_measures"
    assert package.check(DATA / "ranks", ["ranks>5"], ranks=True, cache=False).broken == 1
    broken = tmp_path / "rank9.json"
    broken.write_text("no trace")
    with pytest.warns(UserWarning, match="unrecognized trace format"):
        assert len(package.ranks([*sorted((DATA / "ranks").iterdir()), broken], cache=False)) == 4


def test_a_directory_has_the_traces_that_the_program_finds_in_it(gputime, tmp_path):
    """A capture that is there twice is read once."""
    shutil.copytree(DATA / "xla", tmp_path / "xla")
    shutil.copyfile(DATA / "nsys/train.nsys-rep", tmp_path / "xla/train.nsys-rep")
    shutil.copyfile(DATA / "nsys/train.sqlite.gz", tmp_path / "xla/train.sqlite.gz")
    expected = json.loads(gputime("ranks", tmp_path / "xla", "--json").stdout)
    assert table_rows(package.ranks(tmp_path / "xla", cache=False)["ranks"]) == json_rows(expected, "ranks")
    assert len(json_rows(expected, "ranks")) == 2


def test_classes_of_the_users(gputime, tmp_path):
    """What a class map and the iterations of a run give: as `gputime stats` prints it."""
    classes = {"nvjet": "Gemm", "triton": "Fusion", "multi_tensor": "Optimizer"}
    (tmp_path / "map.json").write_text(json.dumps(classes))
    done = gputime("stats", "--map", tmp_path / "map.json", "--iters", "3", "--nvtx-tag", "forward", "--title", "Run",
                   LLAMA, "--no-cache")
    trace = opened(LLAMA, classes=classes, iterations=3, iteration_range="forward", title="Run")
    assert trace.stats().text() == done.stdout.decode()
    by_file = opened(LLAMA, map=tmp_path / "map.json", iterations=3, iteration_range="forward")
    assert table_rows(by_file.stats()) == table_rows(trace.stats())


def test_definitions():
    definition = package.define("idle_causes")
    assert "| `device`, `cause` |" in definition and definition._repr_markdown_() == str(definition)
    with pytest.raises(package.UsageError, match="no definition of 'nothing at all'"):
        package.define("nothing at all")


def test_redacted(gputime, unpacked):
    for path in (unpacked(DATA / "nsys/graph_whole.sqlite.gz"), LLAMA):
        plain, hidden = opened(path), opened(path, redact="names")
        assert plain.kernels().to_dict()["total_ns"] == hidden.kernels().to_dict()["total_ns"]
        assert not set(plain.kernels().to_dict()["name"]) & set(hidden.kernels().to_dict()["name"])
        kernels = {row["name"] for row in plain.ops if row["kind"] != "memcpy" and row["kind"] != "memset"}
        assert not kernels & set(hidden.ops.to_dict()["name"])  # copies have no names of the program's own
        assert opened(path, redact=True).kernels().to_dict() == plain.kernels().to_dict()
        expected = json.loads(gputime("kernels", path, "--redact", "--json", "--no-cache").stdout)
        assert table_rows(opened(path, redact=True).kernels()) == json_rows(expected, "kernels")
    private = opened(LLAMA, redact=True)
    assert str(DATA) not in private.info.path + repr(private) + private.summary().to_string() and private.info.base_ns == 0
    with pytest.raises(package.UsageError, match="invalid redact 'all'"):
        opened(LLAMA, redact="all")


class Tags(html.parser.HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.text = set(), ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add((tag, *(name for name, _ in attrs)))

    def handle_data(self, data):
        self.text += data


def test_hostile_names_are_shown_as_text():
    trace = opened(DATA / "hostile.json")
    shown = {("table",), ("caption",), ("thead",), ("tbody",), ("tr",), ("th",), ("td",), ("td", "style"), ("pre",), ("p",)}
    for part in (trace.kernels().main, trace.ops, trace.ranges, trace.calls, trace.summary(), trace.kernels(),
                 trace.rows("ops")):
        page = Tags(part._repr_html_())
        assert page.tags <= shown, part
    names = trace.ops.to_dict()["name"]
    assert any("<" in name for name in names if name)
    for part in (trace.kernels(), trace.kernels().main, trace.summary(), trace.ops, trace.rows("ops")):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", repr(part)), "control characters reach the terminal"


def test_writing(gputime, tmp_path):
    report = opened(LLAMA).kernels()
    report.write(tmp_path / "kernels.csv")
    assert (tmp_path / "kernels.csv").read_text().startswith("input,name,count,total_ns")
    assert json.loads(report.to_string("json"))["tables"]["kernels"]["rows"][0]["count"] == report[0]["count"]
    assert report.to_string("csv") == (tmp_path / "kernels.csv").read_text()
    report.write(f"{tmp_path}/tables/", format="csv")
    assert (tmp_path / "tables/kernels.csv").exists()
    with pytest.raises(package.UsageError, match="unknown format 'nothing'"):
        report.to_string("nothing")
    assert "\x1b[" in report.text(color=True) and "\x1b[" not in report.text()
    assert max(map(len, report.main.text(width=60).splitlines())) <= 60
    assert "(us)" in report.main.text(unit="us")
    with pytest.raises(package.UsageError, match="no unit 'h'"):
        report.text(unit="h")
    with pytest.raises(package.UsageError, match="parquet is not text; use to_bytes"):
        report.to_string("parquet")
    assert report.to_bytes("parquet")[:4] == b"PAR1"


def test_suffixes_of_files(gputime, tmp_path):
    report = opened(LLAMA).kernels()
    for name in ("kernels.foo", "a.csv.bak"):
        assert gputime("kernels", LLAMA, "-o", tmp_path / name).stderr.startswith(b"gputime: unknown suffix of '")
        with pytest.raises(package.UsageError, match="unknown suffix of '.*'; use format= one of text, csv, json"):
            report.write(tmp_path / name)
        assert not (tmp_path / name).exists()
        report.write(tmp_path / name, format="csv")
        assert (tmp_path / name).read_text() == report.to_string("csv")
    for name in ("kernels", "kernels.TXT", "KERNELS.CSV", ".hidden"):
        report.write(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 100


def test_slices_are_rows():
    trace = opened(LLAMA)
    report = trace.kernels()
    for table in (trace.ops, trace.rows("ops"), report, report["kernels"], trace.sql("select name, dur_ns from ops")):
        rows = list(table)
        for part in (slice(0, 2), slice(-3, None), slice(None, None, -7), slice(5, 5), slice(10**9, None)):
            assert table[part] == rows[part], part
        with pytest.raises(TypeError, match="rows by a slice"):
            table[1.5]


def test_queries_over_several_traces(gputime):
    paths = sorted((DATA / "ranks").glob("*.json*"))[:3]
    query = "select count(*) as n, sum(dur_ns) as total from ops"
    traces = [opened(path) for path in paths]
    result = package.sql(traces, query)
    expected = [trace.sql(query)[0] for trace in traces]
    assert len(paths) == 3 and result[0] == {key: sum(row[key] for row in expected) for key in ("n", "total")}
    assert package.sql(paths, query, cache=False)[:] == package.sql([paths[0], *traces[1:]], query, cache=False)[:] == result[:]
    assert result[:] == json_rows(json.loads(gputime("sql", *paths, query, "--json").stdout), "rows")
    assert package.sql(traces[0], query)[:] == [expected[0]]
    by_rank = package.sql(traces, "select rank, count(*) as n, sum(dur_ns) as total from ops group by rank order by rank")
    assert by_rank[:] == [{"rank": rank, **row} for rank, row in enumerate(expected)]
    with pytest.raises(package.Error, match="no such column"):
        package.sql(traces, "select nowhere from ops")


def test_exports(gputime, tmp_path):
    trace = opened(LLAMA)
    trace.export(tmp_path / "own.pftrace")
    assert gputime("export", LLAMA, "-o", tmp_path / "other.pftrace").returncode == 0
    assert (tmp_path / "own.pftrace").read_bytes() == (tmp_path / "other.pftrace").read_bytes()
    trace.export(f"{tmp_path}/tables/", tables="ops")
    assert [path.name for path in (tmp_path / "tables").iterdir()] == ["ops.parquet"]
    trace.export(tmp_path / "part.pftrace", step=4)
    assert (tmp_path / "part.pftrace").stat().st_size < (tmp_path / "own.pftrace").stat().st_size
    with pytest.raises(package.UsageError, match="unknown option 'steps' of export"):
        trace.export(tmp_path / "x.pftrace", steps=4)
    with pytest.raises(package.UsageError):
        trace.export(tmp_path / "x.foo")
    assert not (tmp_path / "x.pftrace").exists() and not (tmp_path / "x.foo").exists()


ERRORS = [
    (["/no such file"], lambda: opened("/no such file")),
    (["kernels", "--step", "99", LLAMA], lambda: opened(LLAMA).kernels(step=99)),
    (["kernels", "--device", "7", LLAMA], lambda: opened(LLAMA).kernels(device=7)),
    (["kernels", "--category", "nothing", LLAMA], lambda: opened(LLAMA).kernels(category="nothing")),
    (["kernels", "--sort", "nothing", LLAMA], lambda: opened(LLAMA).kernels(sort="nothing")),
    (["kernels", "--name", "re:(", LLAMA], lambda: opened(LLAMA).kernels(name="re:(")),
    (["gaps", "--gap-sort", "nothing", LLAMA], lambda: opened(LLAMA).gaps(gap_sort="nothing")),
    (["kernels", "--rules", "/no such file", LLAMA], lambda: opened(LLAMA, rules="/no such file")),
    (["kernels", "--rules", "a,b", LLAMA], lambda: opened(LLAMA, rules="a,b")),
    (["check", "--limit", "nothing<3", LLAMA], lambda: package.check(LLAMA, "nothing<3", cache=False)),
    (["whatif", LLAMA, "--scale", "nothing=0.5"], lambda: opened(LLAMA).whatif(changes="scale:nothing=0.5")),
    (["findings", LLAMA, "--why", "nothing"], lambda: opened(LLAMA).findings(why="nothing")),
    (["define", "nothing"], lambda: package.define("nothing")),
    ([DATA / "cut.json", "--strict"], lambda: opened(DATA / "cut.json", strict=True)),
    ([DATA / "README.md"], lambda: opened(DATA / "README.md")),
]


@pytest.mark.parametrize("words, call", ERRORS, ids=["_".join(str(word) for word in words[:3] if word != LLAMA)[-40:]
                                                     for words, _ in ERRORS])
def test_errors_have_the_words_of_the_program(gputime, words, call):
    done = gputime(*words)
    with pytest.raises(package.Error) as error:
        call()
    assert done.stderr.decode().strip().splitlines()[-1] == f"gputime: {error.value}"
    assert (done.returncode == 2) == isinstance(error.value, package.UsageError) == isinstance(error.value, ValueError)


def test_numbers_out_of_range_are_refused(gputime):
    trace = opened(LLAMA)
    words = gputime("kernels", LLAMA, "--top=-3").stderr.decode().strip()
    assert words.endswith("needs a whole number from 0 to 2147483647, not '-3'")
    for top in (-3, 2.5, 2**31, "x", True):
        with pytest.raises(package.UsageError, match="top needs a whole number from 0 to 2147483647, not "):
            trace.kernels(top=top)
    for threads in (-1, 1025, 1.5, "2"):
        with pytest.raises(package.UsageError, match="threads needs a whole number from 0 to 1024, not "):
            opened(LLAMA, threads=threads)
    for time in (0.01, 1e6, True, [1]):
        with pytest.raises(package.UsageError, match="invalid time .*; use a text with a unit"):
            trace.kernels(from_=time)
    assert trace.kernels(from_=10_000_000)[:] == trace.kernels(from_="10ms")[:] != trace.kernels()[:]
    assert trace.kernels(from_=-5)[:] == trace.kernels(from_="-5ns")[:]


def test_traces_are_opened_by_paths():
    for wrong in (3, None, [LLAMA, 3], object()):
        with pytest.raises(TypeError, match="a trace is opened by its path, not by "):
            package.open(wrong)
    with pytest.raises(TypeError, match="a text or path is needed, not int 3"):
        opened(LLAMA).kernels(name=3)


def test_errors_of_python_alone():
    with pytest.raises(package.UsageError, match="no analysis has an option 'nothing'"):
        opened(LLAMA).kernels(nothing=3)
    with pytest.raises(package.UsageError, match="bin_count"):
        opened(LLAMA).gaps(bin_count="seven")
    with pytest.raises(TypeError):
        opened(LLAMA, nothing=3)
    with pytest.raises(package.UsageError, match="NUL"):
        opened("a\0b")
    with pytest.raises(package.UsageError, match="no fact 'nothing'; facts are ops"):
        opened(LLAMA, facts=["nothing"])
    with pytest.raises(package.UsageError, match="no reader 'nothing'"):
        opened(LLAMA, reader="nothing")
    with pytest.raises(package.UsageError, match="no command 'nothing'; commands are summary"):
        opened(LLAMA).command("nothing")
