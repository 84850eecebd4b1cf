"""--redact: a trace of any format is redacted as it is opened, so that every command and every output is clean."""

import gzip
import json
import os
import pathlib
import shutil
import sqlite3

import pytest

import parquet_by_hand
import perfetto_writer as perfetto
import xla_by_hand as xla
from mcp_client import Client
from samples import DATA, OWN_CAPTURES

MARK = "zQsecretQz"
NAME_MARK = "zQnameQz"  # in names of kernels, ranges, operators and counters, which only --redact-names hides
PID, TID, STREAM = 987654, 876543, 7
EPOCH_US = 1765432109000000


def slice_of(category, name, start, length, tid=TID, **args):
    return {"ph": "X", "cat": category, "name": name, "ts": EPOCH_US + start, "dur": length, "pid": PID, "tid": tid,
            "args": {f"note {MARK}": MARK} | args}


def marked_trace():
    """Every text that a PyTorch trace can have says who it is from."""
    record = {"Collective name": f"allreduce{MARK}", "dtype": MARK, "Process Group Name": NAME_MARK,
              "Process Group Description": NAME_MARK, "Process Group Ranks": f"[0, 1, {MARK}]", "Group size": 2,
              "In msg nelems": 4, "Out msg nelems": 4, "In split size": f"[{MARK}]", "Out split size": "[]", "Rank": 0}
    events = [{"ph": "M", "name": "process_name", "pid": PID, "tid": 0, "args": {"name": f"/home/{MARK}/python"}},
              {"ph": "M", "name": "process_labels", "pid": PID, "tid": 0, "args": {"labels": f"CPU {MARK}"}},
              {"ph": "M", "name": "thread_name", "pid": PID, "tid": TID, "args": {"name": f"thread {PID} ({MARK})"}},
              {"ph": "M", "name": "process_name", "pid": f"Spans {MARK}", "tid": 0, "args": {"name": MARK}}]
    for step in range(4):
        at = 1000 * step
        events += [
            slice_of("user_annotation", f"ProfilerStep#{step}", at, 900),
            slice_of("user_annotation", f"load {NAME_MARK}", at + 1, 50),
            slice_of("user_annotation", f"read /data/{MARK}/file", at + 60, 20),
            slice_of("cpu_op", f"mine::{NAME_MARK}", at + 100, 80, **{
                "Input Dims": f"[[4, 4], [{MARK}]]", "Input type": ["float", MARK], "Concrete Inputs": [f"'{MARK}'", "True"],
                "External id": step + 1, "Sequence number": step, "Fwd thread id": TID, "Call stack": f"/home/{MARK}/x.py(3): f"}),
            slice_of("python_function", f"/home/{MARK}/train.py(41): f{NAME_MARK}", at + 90, 200, **{"Python id": step}),
            slice_of("python_function", f"src/{MARK}/train.py(42): g{NAME_MARK}", at + 95, 100, **{"Python id": 10 + step}),
            slice_of("cuda_runtime", "cudaLaunchKernel", at + 120, 5, correlation=10 * step + 1),
            slice_of("cuda_runtime", f"dlopen(/home/{MARK}/lib.so)", at + 130, 5, correlation=10 * step + 2),
            slice_of("overhead", f"Buffer ({MARK})", at + 140, 5),
            slice_of("kernel", f"gemm_{NAME_MARK}<float>", at + 150, 300, tid=STREAM, device=0, stream=STREAM,
                     correlation=10 * step + 1, **{"External id": step + 1}),
            slice_of("kernel", f"load(/home/{MARK}/k.cu)", at + 460, 100, tid=STREAM, device=0, stream=STREAM,
                     correlation=10 * step + 2),
            slice_of("kernel", f"ncclDevKernel_AllReduce_{NAME_MARK}", at + 570, 100, tid=STREAM, device=0, stream=STREAM,
                     correlation=10 * step + 3, **record),
            slice_of("gpu_memcpy", f"Memcpy HtoD (Pageable -> {MARK})", at + 680, 10, tid=STREAM, device=0, stream=STREAM,
                     correlation=10 * step + 4, bytes=4096),
            slice_of("gpu_user_annotation", f"load {NAME_MARK}", at + 150, 500, tid=STREAM, device=0, stream=STREAM),
            {"ph": "C", "cat": "counter", "name": f"watts {NAME_MARK}", "pid": PID, "tid": 0, "ts": EPOCH_US + at,
             "args": {f"gpu {NAME_MARK}": 300.5}},
            {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": PID, "tid": TID, "ts": EPOCH_US + at + 200,
             "s": "t", "args": {"Total Allocated": 4096, "Total Reserved": 8192, "Bytes": 512, "Addr": 140000000000 + at,
                                "Device Id": 0, "Device Type": 1}},
        ]
    return {"schemaVersion": 1, "traceName": f"/home/{MARK}/trace.json", "hostname": MARK, "host": MARK, "user": MARK,
            "displayTimeUnit": "ms", f"key {MARK}": MARK, "baseTimeNanoseconds": 1760000000000000000,
            "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150000000000, "uuid": MARK}],
            "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2, "pg_config": [
                {"pg_name": NAME_MARK, "pg_desc": NAME_MARK, "ranks": f"[0, 1, {MARK}]", "pg_size": 2, "backend_config": MARK}]},
            "traceEvents": events}


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    folder = tmp_path_factory.mktemp(f"of-{MARK}")
    path = folder / f"host-{MARK}_{PID}.pt.trace.json"
    path.write_text(json.dumps(marked_trace()))
    return path


@pytest.fixture(scope="module")
def marked_export(tmp_path_factory):
    """An Nsight export whose strings are all marked: those that kernels, ranges and calls refer to, and all others."""
    path = tmp_path_factory.mktemp(f"of-{MARK}") / f"{MARK}.sqlite"
    path.write_bytes(gzip.decompress((DATA / "nsys/train.sqlite.gz").read_bytes()))
    database = sqlite3.connect(path)
    tables = {name: [column[1] for column in database.execute(f"PRAGMA table_info('{name}')")] for name, in
              database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()}
    named = {value for table, columns in tables.items() for column in columns
             if column in ("demangledName", "shortName", "mangledName", "textId", "nameId") and "StringIds" in tables
             for value, in database.execute(f"SELECT DISTINCT \"{column}\" FROM \"{table}\"") if isinstance(value, int)}
    for key, value in database.execute("SELECT id, value FROM StringIds").fetchall():
        if key not in named:
            database.execute("UPDATE StringIds SET value = ? WHERE id = ?", (f"/home/{MARK}/{value}", key))
    for table in ("TARGET_INFO_SYSTEM_ENV", "META_DATA_CAPTURE", "META_DATA_EXPORT", "EXPORT_META_DATA", "TARGET_INFO_NIC_INFO"):
        if "value" in tables.get(table, []):
            database.execute(f"UPDATE {table} SET value = value || ' {MARK}' WHERE name NOT LIKE '%VERSION%'")
    database.execute(f"CREATE TABLE \"{MARK}\" (\"{MARK}\" TEXT)")
    database.execute(f"INSERT INTO \"{MARK}\" VALUES ('{MARK}')")
    database.commit()
    database.close()
    return path


@pytest.fixture(scope="module")
def marked_xplane(tmp_path_factory):
    """A profile of XLA: host, threads, texts of events and planes."""
    path = tmp_path_factory.mktemp(f"of-{MARK}") / f"{MARK}.xplane.pb"
    work = [xla.event(f"gemm_{NAME_MARK}", 1000 * step + 300, 400, correlation_id=step + 1, hlo_op=f"dot.{NAME_MARK}",
                      hlo_module=f"jit_{NAME_MARK}", source=f"/home/{MARK}/x.py:3", note=MARK) for step in range(4)]
    calls = [xla.event("cuLaunchKernel", 1000 * step + 100, 50, correlation_id=step + 1, note=f"/home/{MARK}/y") for step in range(4)]
    spans = [xla.event(f"span {NAME_MARK}", 1000 * step, 900, **{f"key {MARK}": MARK}) for step in range(4)]
    planes = [{"name": "/host:CPU", "stats": {}, "lines": [
                  {"id": TID, "name": f"python of {MARK}", "events": calls + spans},
                  {"id": TID + 1, "name": MARK, "events": [xla.event(f"open /home/{MARK}/z", 10, 50)]}]},
              {"name": "/device:GPU:0", "stats": {"device_vendor": "Nvidia", f"stat {MARK}": MARK}, "lines": [
                  {"id": STREAM, "name": "Stream #7(Compute)", "events": work}]},
              {"name": "Task Environment", "stats": {f"user {MARK}": f"/home/{MARK}"}, "lines": []}]
    path.write_bytes(xla.xplane(planes, host=MARK, warnings=[f"of {MARK}"]))
    return path


@pytest.fixture(scope="module")
def marked_pftrace(tmp_path_factory):
    """A Perfetto trace: names of processes, threads and tracks, arguments and categories."""
    path = tmp_path_factory.mktemp(f"of-{MARK}") / f"{MARK}.pftrace"
    data = perfetto.process(1, PID, f"/home/{MARK}/python") + perfetto.thread(2, 1, PID, TID, f"main {MARK}")
    data += perfetto.process(3, 900, f"GPU 0 {MARK}") + perfetto.thread(4, 3, 900, STREAM, f"stream 7 {MARK}")

    def slices(track, name, start, length, category, **args):
        begin = perfetto.event(perfetto.BEGIN, track, name, category, {f"key {MARK}": f"/home/{MARK}"} | args)
        return (perfetto.packet((8, start), (10, 1), (11, begin)) +
                perfetto.packet((8, start + length), (10, 1), (11, perfetto.event(perfetto.END, track))))

    for step in range(4):
        at = 1000 * (EPOCH_US + step)
        data += slices(2, "cudaLaunchKernel", at + 100, 50, "cuda_runtime", correlation=step + 1)
        data += slices(2, f"open(/home/{MARK}/z)", at + 200, 50, "user_annotation")
        data += slices(2, f"span {NAME_MARK}", at + 300, 50, "user_annotation")
        data += slices(4, f"gemm_{NAME_MARK}", at + 300, 400, "kernel", device=0, stream=STREAM, correlation=step + 1)
    path.write_bytes(data)
    return path


COMMANDS = [["summary", "--top", "0"], ["kernels", "--gaps", "--launches", "-v"], ["gaps"], ["gaps", "--per", "device"],
            ["ranges"], ["ranges", "--tree"], ["steps"], ["path"], ["whatif", "--cpu", "2", "--force"], ["memory"],
            ["efficiency"], ["findings"], ["findings", "--why", "host_bound"], ["graph"], ["explain", "--path", "--efficiency"],
            ["explain", "--print-schema"], ["stats"], ["ranks"], ["diff"], ["check", "--limit", "idle<101%"],
            ["sql", "select * from ops"], ["sql", "select * from inputs"], ["sql", "select * from ranges"],
            ["sql", "select * from processes"], ["sql", "select * from threads"]]
FORMATS = ["text", "md", "csv", "json", "html"]


def printed(gputime, command, option, trace, cwd):
    words = list(command)
    traces = [trace] * (2 if words[0] == "diff" else 1)
    if words[0] in ("graph",):
        words += ["--out-dir", str(cwd)]
    for form in FORMATS:
        if words[0] == "sql":
            words, traces = ["sql"], [trace, command[1]]
        done = gputime(*words, *traces, option, "--format", form, "--width", "200", cwd=cwd)
        assert done.returncode == 0, (words, form, done.stderr)
        yield form, done.stdout + done.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_private_is_in_any_output(gputime, marked, command, tmp_path):
    for option, marks in (("--redact", [MARK]), ("--redact-names", [MARK, NAME_MARK])):
        for form, output in printed(gputime, command, option, marked, tmp_path):
            text = output.decode()
            for mark in [*marks, str(PID), str(TID), "1765432109", "1760000000"]:
                assert mark not in text, (option, form, text[max(0, text.index(mark) - 200):][:400])


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_private_of_an_export_is_in_any_output(gputime, marked_export, command, tmp_path):
    for form, output in printed(gputime, command, "--redact", marked_export, tmp_path):
        assert MARK not in output.decode(), (form, command)


OTHERS = [["summary", "--top", "0"], ["kernels", "--launches", "-v"], ["ranges"], ["explain"], ["ranks"], ["findings"],
          ["sql", "select * from ops"], ["sql", "select * from ranges"], ["sql", "select * from threads"]]


@pytest.mark.parametrize("command", OTHERS, ids=" ".join)
@pytest.mark.parametrize("kind", ["xplane", "pftrace"])
def test_nothing_private_of_other_formats_is_in_any_output(gputime, request, kind, command, tmp_path):
    trace = request.getfixturevalue(f"marked_{kind}")
    for option, marks in (("--redact", [MARK, str(PID), str(TID)]), ("--redact-names", [MARK, NAME_MARK])):
        for form, output in printed(gputime, command, option, trace, tmp_path):
            assert not [mark for mark in marks if mark in output.decode()], (option, form, command)


@pytest.mark.parametrize("kind", ["xplane", "pftrace"])
def test_without_the_option_the_marks_of_other_formats_are_there(gputime, request, kind):
    trace = request.getfixturevalue(f"marked_{kind}")
    (kernel,) = gputime.json("kernels", trace)["tables"]["kernels"]["rows"]
    assert kernel["count"] == 4 and NAME_MARK in kernel["name"]
    text = "".join(gputime(*words, "--json").stdout.decode() for words in (
        ["ranges", trace], ["sql", trace, "select * from threads"], ["summary", trace]))
    assert MARK in text and NAME_MARK in text and str(TID) in text


def test_without_the_option_the_marks_are_there(gputime, marked):
    """The test would see them: the trace is read as far as that."""
    text = gputime("explain", marked, "--json").stdout.decode() + gputime("ranges", marked, "--json").stdout.decode()
    assert MARK in text and NAME_MARK in text and str(PID) in text
    assert NAME_MARK in gputime("kernels", marked, "--redact", "--json").stdout.decode()


def test_tools_and_exports_are_clean(gputime, marked, tmp_path):
    client = Client(gputime, "--redact-names")
    for name in ("summary", "kernels", "ranges", "findings", "efficiency", "memory", "path"):
        text = json.dumps(client.call(name, traces=[str(marked)]))
        assert MARK not in text and NAME_MARK not in text and str(PID) not in text, name
    client.close()
    client = Client(gputime)
    assert MARK not in json.dumps(client.call("summary", traces=[str(marked)], redact=True))
    assert MARK in json.dumps(client.call("summary", traces=[str(marked)]))
    client.close()


def exported(gputime, trace, folder, *options):
    """All texts of the event files, which are compressed, and of a Perfetto trace, which is not."""
    for target in (f"{folder}/events/", folder / "events.pftrace"):
        done = gputime("export", trace, *options, "-o", target)
        assert done.returncode == 0, done.stderr
    files = {path.name: parquet_by_hand.read(path) for path in (folder / "events").glob("*.parquet")}
    texts = {name: repr((file.rows(), file.about)) for name, file in files.items()}
    assert len(texts) == len(list((folder / "events").iterdir())) > 5
    return texts | {"events.pftrace": (folder / "events.pftrace").read_bytes().decode(errors="replace")}


@pytest.mark.parametrize("kind", ["", "_export", "_xplane", "_pftrace"])
def test_exports_are_clean(gputime, request, kind, tmp_path):
    trace = request.getfixturevalue(f"marked{kind}")
    for option, marks in (("--redact", [MARK]), ("--redact-names", [MARK, NAME_MARK])):
        folder = tmp_path / option
        folder.mkdir()
        for name, text in exported(gputime, trace, folder, option).items():
            assert not [mark for mark in [*marks, str(PID), str(TID)] if mark in text], (option, name)
    (tmp_path / "plain").mkdir()
    plain = exported(gputime, trace, tmp_path / "plain")
    assert MARK in plain["events.pftrace"] and any(MARK in text for name, text in plain.items() if "parquet" in name)


def test_inputs_are_numbered(gputime, marked):
    report = gputime.json("summary", marked, DATA / "overlap.json", "--redact")
    assert [(one["input"], one["path"]) for one in report["inputs"]] == [("input 1",) * 2, ("input 2",) * 2]
    assert not any(one["host"] for one in report["inputs"])
    assert report["inputs"][0]["origin_ns"] == "0" and report["inputs"][0]["base_ns"] is None
    assert gputime.json("summary", marked, "--redact")["inputs"][0]["rank"] == 0
    (one,) = gputime.json("sql", marked, "select 1", "--redact")["inputs"]
    assert (one["input"], one["path"]) == ("input 1",) * 2


def test_sides_are_told_apart(gputime, marked):
    other = DATA / "overlap.json"
    assert gputime("diff", marked, other, "--redact").stdout.startswith(b"input 1 -> input 2\n")
    report = gputime.json("diff", "--a", marked, other, "--b", other, marked, "--redact")
    assert [one["input"] for one in report["inputs"][1:]] == ["A: input 1", "A: input 2", "B: input 3", "B: input 4"]
    job = DATA / "ranks"
    assert gputime("diff", "--ranks", job, job, "--redact").stdout.startswith(b"input 1 -> input 2\n")


OF_PROCESSES = {"pid", "tid", "process", "thread", "process_name", "thread_name", "input", "path", "label", "host"}


def without_processes(report):
    return {key: [{name: value for name, value in row.items() if name not in OF_PROCESSES} for row in table["rows"]]
            for key, table in report["tables"].items() if key not in ("processes", "schema", "schema_columns", "range_texts")}


@pytest.mark.parametrize("sample", ["torch/llama_train_compiled.json.gz", "torch/tpdp_rank0.json.gz", "nsys/train.nsys-rep",
                                    "nsys/jax.nsys-rep", "nsys-csv/mini_cuda_gpu_trace.csv", "overlap.json"])
@pytest.mark.parametrize("command", [["summary"], ["kernels", "--launches"], ["ranges"], ["path"], ["efficiency"], ["memory"]],
                         ids=" ".join)
def test_the_numbers_are_those_of_the_trace(gputime, sample, command):
    """What is about the GPU does not change."""
    plain, redacted = (gputime.json(*command, DATA / sample, *option) for option in ([], ["--redact"]))
    assert set(plain["tables"]) == set(redacted["tables"])
    assert without_processes(redacted) == without_processes(plain)


@pytest.mark.parametrize("samples", [["nsys/train.nsys-rep", "nsys/train.nsys-rep", "nsys/jax.nsys-rep"],
                                     [f"ranks/rank{rank}.json.gz" for rank in range(4)]], ids=lambda names: names[0])
def test_the_numbers_of_a_job_are_those_of_its_traces(gputime, samples):
    """Which ranks share a host or a GPU is known without their names."""
    paths = [DATA / sample for sample in samples]
    plain, redacted = (gputime.json("ranks", *paths, *option) for option in ([], ["--redact"]))
    for report in (plain, redacted):
        report["tables"].pop("clocks", None)  # times begin with the first op, so clocks are others
    assert without_processes(redacted) == without_processes(plain)
    assert [(one["id"], one["count"]) for one in redacted["issues"]] == [(one["id"], one["count"]) for one in plain["issues"]]
    assert [one["id"] for one in redacted["findings"]] == [one["id"] for one in plain["findings"]]
    hosts = [[row["host"] for row in report["tables"]["ranks"]["rows"]] for report in (plain, redacted)]
    numbers = {host: str(number) for number, host in enumerate(dict.fromkeys(filter(None, hosts[0])), 1)}
    assert hosts[1] == [numbers.get(host) for host in hosts[0]]
    if samples[0].endswith(".nsys-rep"):
        assert "shared_gpu" in [one["id"] for one in plain["findings"]] and numbers


def test_a_trace_that_cannot_be_read_is_an_input_with_a_number(gputime, marked, tmp_path):
    folder = tmp_path / f"of-{MARK}"
    folder.mkdir()
    shutil.copyfile(marked, folder / f"a-{MARK}.json")
    (folder / f"b-{MARK}.sqlite").write_text(MARK)
    (folder / f"c-{MARK}.nsys-rep").touch()
    (folder / f"d-{MARK}'s.json").write_text(MARK)
    for form in FORMATS:
        done = gputime("ranks", folder, "--redact", "--format", form, "--width", "200")
        assert done.returncode == 1 and done.stdout and MARK not in done.stdout.decode(), form
    text = gputime("ranks", folder, "--redact", "--width", "200").stdout.decode()
    assert "Left out: input 2: unrecognized trace format" in text and "Left out: input 3 is empty." in text
    assert "Left out: input 4: unrecognized trace format" in text
    assert MARK.encode() in gputime("ranks", folder, "--redact").stderr  # who runs it is told which they are


def test_it_is_what_a_redacted_copy_gives(gputime, tmp_path):
    export = tmp_path / "train.sqlite"
    export.write_bytes(gzip.decompress((DATA / "nsys/train.sqlite.gz").read_bytes()))
    for names, option in (("full", "--redact"), ("hash", "--redact-names")):
        copy = tmp_path / f"{names}.sqlite"
        assert gputime("redact", export, "-o", copy, "--names", names).returncode == 0
        for command in (["summary", "--top", "0"], ["kernels"], ["ranges"], ["gaps", "--per", "device"]):
            assert without_processes(gputime.json(*command, export, option)) == without_processes(gputime.json(*command, copy))


def test_the_cache_keeps_the_trace_itself(gputime, marked, tmp_path):
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    old = tmp_path / "old.json"
    shutil.copyfile(marked, old)
    os.utime(old, (1600000000, 1600000000))
    gputime("kernels", old, "--redact", "--cache-after", "1ns", env=env)
    assert not list(pathlib.Path(tmp_path).rglob("*.gputime*")) and not (tmp_path / "gputime").exists()
    whole = gputime("kernels", old, "--json", "--cache-after", "1ns", env=env).stdout
    assert gputime("kernels", old, "--json", "--cache-after", "1ns", env=env).stdout == whole
    assert MARK not in gputime("kernels", old, "--redact", "--json", env=env).stdout.decode()
