"""Errors are one line on stderr with the right exit status, and no partial output remains."""

import gzip
import json
import subprocess

import pytest

from conftest import DATA

FAILED, USAGE = 1, 2
OVERLAP = DATA / "overlap.json"
DEVICES = DATA / "devices.json"


def check_error(done, status, *words):
    message = done.stderr.decode()
    assert done.returncode == status, (done.returncode, message)
    assert message.startswith("gputime: ") and message.endswith("\n") and message.count("\n") == 1, message
    assert not message.rstrip().endswith("."), "a message has no full stop"
    for word in words:
        assert word in message, f"{message!r} does not say {word!r}"


def check_refusal(done, status, *words):
    check_error(done, status, *words)
    assert not done.stdout


@pytest.fixture
def files(tmp_path):
    (tmp_path / "empty.json").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("these are notes\nof several lines\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (tmp_path / "config.json").write_text('{"name": "x", "values": [1, 2, 3], "on": true}\n')
    (tmp_path / "number.json").write_text("42\n")
    (tmp_path / "blank.json").write_text(" \n\n ")
    (tmp_path / "zeros.json").write_bytes(bytes(5000))
    (tmp_path / "text.json.gz").write_bytes(gzip.compress(b"nothing of interest\n"))
    (tmp_path / "head.json.gz").write_bytes(b"\x1f\x8b\x08\x00")
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", ["missing.json", "folder", "empty.json", "notes.txt", "picture.png", "config.json",
                                  "number.json", "blank.json", "zeros.json", "text.json.gz", "head.json.gz"])
@pytest.mark.parametrize("command", [[], ["kernels", "--json"]], ids=["summary", "kernels"])
def test_unreadable_input(gputime, files, name, command):
    check_refusal(gputime(*command, files / name), FAILED, name)


def test_unreadable_input_in_second_place(gputime, files):
    """One that cannot be read costs its own report and the exit status; the others are still there."""
    done = gputime("kernels", OVERLAP, files / "missing.json", files / "empty.json", "--csv")
    assert done.returncode == FAILED
    assert done.stdout == gputime("kernels", OVERLAP, "--csv").stdout
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 2 and "missing.json" in lines[0] and "empty.json" in lines[1]
    done = gputime("kernels", files / "missing.json", files / "empty.json")
    assert done.returncode == FAILED and done.stdout == b"" and done.stderr.count(b"\n") == 2


@pytest.mark.parametrize("command", [[], ["summary"], ["gaps"], ["findings"], ["stats"]], ids=lambda words: " ".join(words))
def test_a_missing_file_among_several(gputime, files, command):
    done = gputime(*command, OVERLAP, files / "missing.json", DEVICES, "--json")
    assert done.returncode == FAILED and b"missing.json" in done.stderr
    assert done.stdout == gputime(*command, OVERLAP, DEVICES, "--json").stdout


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_first_capture_that_cannot_be_read_is_reported(gputime, files, threads):
    """Several are read at the same time, and what is said does not depend on it."""
    names = ["notes.txt", "missing.json", "picture.png", "empty.json"]
    for name in names:
        for other in [*names, OVERLAP]:
            check_refusal(gputime("diff", files / name, files / other, "--threads", threads), FAILED, name)
        check_refusal(gputime("diff", OVERLAP, files / name, "--threads", threads), FAILED, name)
    done = gputime("kernels", files / "notes.txt", OVERLAP, files / "missing.json", files / "zeros.json", DEVICES, "--csv",
                   "--threads", threads)
    assert done.returncode == FAILED
    assert done.stdout == gputime("kernels", OVERLAP, DEVICES, "--csv", "--threads", "1").stdout
    lines = done.stderr.decode().splitlines()
    assert [name in line for name, line in zip(["notes.txt", "missing.json", "zeros.json"], lines)] == [True] * 3


def test_text_on_standard_input(gputime):
    check_refusal(gputime("-", stdin=b"hello\n"), FAILED, "standard input")
    check_refusal(gputime("-", stdin=b""), FAILED, "standard input")


@pytest.mark.parametrize("args", [
    ["--no-such-option", OVERLAP],
    ["kernels", "--no-such-option", OVERLAP],
    ["kernels", "-Z", OVERLAP],
    ["kernels"],
    ["kernels", OVERLAP, "--top"],
    ["kernels", OVERLAP, "--top", "many"],
    ["kernels", OVERLAP, "--top", "-3"],
    ["kernels", OVERLAP, "--format", "docx"],
    ["kernels", OVERLAP, "--sort", "no_such_column"],
    ["kernels", OVERLAP, "--columns", "name,no_such_column"],
    ["kernels", OVERLAP, "--csv", "--table", "no_such_table"],
    ["kernels", OVERLAP, "--from", "yesterday"],
    ["kernels", OVERLAP, "--from", ""],
    ["kernels", OVERLAP, "--to", "3 parsecs"],
    ["kernels", OVERLAP, "--from", "20us", "--to", "10us"],
    ["kernels", OVERLAP, "--step", "x"],
    ["kernels", OVERLAP, "--step", "4-2"],
    ["kernels", OVERLAP, "--device", "9"],
    ["kernels", OVERLAP, "--name", "re:("],
    ["kernels", OVERLAP, "--category", "no_such_category"],
    ["gaps", "--per", "planet", OVERLAP],
    ["gaps", "--hist-min", "abc", OVERLAP],
    ["gaps", "--gap-sort", "no_such_column", OVERLAP],
    ["list", "no_such_list"],
    ["help", "no_such_command"],
], ids=lambda args: " ".join(str(arg).rsplit("/", 1)[-1] for arg in args))
def test_usage(gputime, args):
    check_refusal(gputime(*args), USAGE)


def test_nothing_asked_says_how_to_ask(gputime):
    done = gputime()
    assert done.returncode == USAGE and done.stdout == b""
    lines = done.stderr.decode().splitlines()
    assert 2 <= len(lines) <= 8 and all(len(line) <= 80 for line in lines)
    assert any(line.startswith("Usage: gputime ") for line in lines) and b"gputime --help" in done.stderr


def test_unknown_command_is_named(gputime, tmp_path):
    done = gputime("kernles", OVERLAP, cwd=tmp_path)
    check_refusal(done, done.returncode, "kernles")
    assert done.returncode in (FAILED, USAGE)


def test_unknown_step_lists_the_steps(gputime):
    check_refusal(gputime("kernels", DEVICES, "--step", "7"), USAGE, "7", "1", "2")
    check_refusal(gputime("kernels", DEVICES, "--pstep", "7"), USAGE)


def test_step_without_steps(gputime):
    check_refusal(gputime("kernels", OVERLAP, "--step", "1"), USAGE, "step")


@pytest.mark.parametrize("format", ["text", "csv", "json", "md"])
def test_full_device(gputime, format):
    with open("/dev/full", "wb") as full:
        check_error(gputime("kernels", OVERLAP, "--format", format, stdout=full), FAILED)


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["list", "inputs"], ["help", "kernels"]], ids=" ".join)
def test_full_device_without_trace(gputime, args):
    with open("/dev/full", "wb") as full:
        check_error(gputime(*args, stdout=full), FAILED)


def test_closed_pipe_is_no_crash(gputime):
    done = subprocess.run(["bash", "-c", f'"{gputime.binary}" kernels "{OVERLAP}" --json | true; echo "${{PIPESTATUS[0]}}"'],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=gputime.environment)
    assert int(done.stdout) in (0, FAILED, 128 + 13)
    assert done.stderr.count(b"\n") <= 1


@pytest.mark.parametrize("target", ["no/such/folder/out.csv", "file/out.csv", "file/"])
def test_unwritable_output(gputime, tmp_path, target):
    (tmp_path / "file").write_text("x")
    before = sorted(tmp_path.rglob("*"))
    done = gputime(OVERLAP, "--csv", "-o", target, cwd=tmp_path)
    check_error(done, FAILED)
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_text() == "x"


def test_unwritable_folder(gputime):
    check_error(gputime(OVERLAP, "--csv", "-o", "/proc/out.csv"), FAILED, "/proc/out.csv")


def test_old_output_survives_a_failure(gputime, tmp_path, files):
    (tmp_path / "out.csv").write_text("old")
    for args in (["notes.txt"], [DATA / "cut.json", "--strict"], [OVERLAP, "--sort", "no_such_column"]):
        done = gputime("kernels", *args, "-o", "out.csv", cwd=tmp_path)
        assert done.returncode in (FAILED, USAGE)
    assert (tmp_path / "out.csv").read_text() == "old"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(("out.csv.", ".out"))]


def test_output_is_whole_and_alone(gputime, tmp_path):
    target = tmp_path / "out.json"
    target.write_text("old")
    done = gputime(OVERLAP, "-o", target)
    assert done.returncode == 0 and done.stdout == b"" and done.stderr == b""
    assert json.loads(target.read_text())["command"] == "summary"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_output_keeps_a_pipe_and_a_device(gputime):
    assert gputime(OVERLAP, "--json", "-o", "/dev/stdout").stdout.startswith(b"{")
    assert gputime(OVERLAP, "--json", "-o", "/dev/null").returncode == 0


def test_kernel_list_file_next_to_the_table(gputime, tmp_path):
    done = gputime("kernels", OVERLAP, "-o", "list.csv", cwd=tmp_path)
    assert done.returncode == 0 and b"gemm" in done.stdout
    assert "gemm" in (tmp_path / "list.csv").read_text()
    quiet = gputime("kernels", OVERLAP, "-q", "-o", "list.csv", cwd=tmp_path)
    assert quiet.returncode == 0 and quiet.stdout == b""


def test_csv_folder_has_a_file_for_each_table(gputime, tmp_path):
    assert gputime(OVERLAP, "--csv", "-o", f"{tmp_path}/tables/").returncode == 0
    tables = set(gputime.json(OVERLAP)["tables"])
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {f"{key}.csv" for key in tables}


# ---- damage that leaves something to report ---------------------------------------------------------------------------


def issues(report):
    return {issue["id"]: issue["count"] for issue in report["issues"]}


def test_cut_json(gputime):
    report = gputime.json("kernels", DATA / "cut.json")
    assert report["inputs"][0]["ops"] == 2
    assert issues(report).get("input_cut") == 1
    check_refusal(gputime("kernels", DATA / "cut.json", "--strict"), FAILED, "cut.json")


LOSS = f"gputime: '{DATA / 'cut.json'}' was only partly read: the file ends in the middle"


def test_loss_is_reported_once(gputime, tmp_path):
    """Above the tables where people read them, on stderr where they do not; always with exit status 0."""
    for format in ("text", "md"):
        done = gputime(DATA / "cut.json", "--format", format)
        assert done.returncode == 0 and b"only partly read" in done.stdout.lower() and done.stderr == b""
    for args in (["--csv"], ["--json"], ["-o", tmp_path / "out.txt"], ["--csv", "-o", f"{tmp_path}/tables/"]):
        done = gputime(DATA / "cut.json", *args)
        message = done.stderr.decode()
        assert done.returncode == 0 and message.startswith(LOSS) and message.count("\n") == 1, (args, message)


def test_loss_of_each_trace_is_reported(gputime):
    done = gputime("kernels", DATA / "cut.json", OVERLAP, DATA / "cut.json", "--csv")
    assert done.returncode == 0 and done.stdout
    assert [line.startswith(LOSS) for line in done.stderr.decode().splitlines()] == [True, True]


def test_quiet_does_not_report_loss(gputime, tmp_path):
    done = gputime("kernels", DATA / "cut.json", "-q", "-o", tmp_path / "out.csv")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_odd_but_whole_trace_is_silent(gputime):
    for name in ("overlap.json", "devices.json", "hostile.json"):
        assert gputime(DATA / name, "--json").stderr == b""


@pytest.mark.parametrize("packing", ["gz", "zst"])
def test_cut_packing(gputime, tmp_path, packing):
    # Noise between the events keeps the packed file from holding everything in its last block.
    body = b",\n".join(b'{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":7,"ts":%d,"dur":1}' % (i * 7919 % 5003, i)
                       for i in range(20000))
    text = b'{"traceEvents":[' + body + b"]}"
    if packing == "gz":
        packed = gzip.compress(text)
    else:
        packed = subprocess.run(["zstd", "-c"], input=text, stdout=subprocess.PIPE, check=True).stdout
    path = tmp_path / f"trace.json.{packing}"
    path.write_bytes(packed[:len(packed) * 3 // 4])
    report = gputime.json("kernels", path)
    assert 0 < report["inputs"][0]["ops"] < 20000
    assert {"packing_damaged", "input_cut"} & issues(report).keys()
    check_refusal(gputime("kernels", path, "--strict"), FAILED)


def test_strict_accepts_a_whole_trace(gputime):
    assert gputime("kernels", OVERLAP, "--strict").returncode == 0


def test_no_event_is_a_report(gputime):
    for name in ("empty.json", "cpu-only.json"):
        done = gputime(DATA / name)
        assert done.returncode == 0 and done.stdout and not done.stderr
        assert issues(gputime.json(DATA / name)).get("no_gpu_work")


def xla_trace(path, *events):
    """A trace of XLA's profiler, joined with something else that has categories: it is no file of the profiler."""
    names = [{"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}}
             for pid, name in ((1, "/device:GPU:0"), (2, "/device:GPU:1"), (7, "/host:CPU"))]
    kernel = {"ph": "X", "pid": 1, "tid": 14, "ts": 5, "dur": 2, "name": "loop_add_fusion",
              "args": {"correlation_id": "53", "hlo_module": "jit_f"}}
    other = {"ph": "X", "cat": "other", "pid": 7, "tid": 1, "ts": 5, "dur": 2, "name": "x"}
    path.write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": [*names, other, kernel, *events]}))
    return path


def test_a_trace_with_events_of_xla_says_what_it_is(gputime, tmp_path):
    path = xla_trace(tmp_path / "xla.json")
    done = gputime(path)
    assert done.returncode == 0 and b"XLA" in done.stdout and b"xplane.pb" in done.stdout
    assert issues(gputime.json(path)) == {"xla_trace": 2}
    for command in ("kernels", "gaps", "ranges"):
        assert issues(gputime.json(command, path, "--threads", "3", "--no-cache"))["xla_trace"] == 2
    check_refusal(gputime(path, "--strict"), FAILED)


def test_a_trace_with_gpu_ops_is_none_of_xla(gputime, tmp_path):
    kernel = {"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "ts": 9, "dur": 2, "name": "gemm",
              "args": {"device": 0, "stream": 7, "correlation": 1}}
    report = gputime.json(xla_trace(tmp_path / "both.json", kernel))
    assert report["inputs"][0]["ops"] == 1 and "xla_trace" not in issues(report)


# ---- several traces ---------------------------------------------------------------------------------------------------


def test_two_traces_stay_apart(gputime):
    both = gputime.json("kernels", OVERLAP, DEVICES)
    assert len(both["inputs"]) == 2
    rows = both["tables"]["kernels"]["rows"]
    assert both["tables"]["kernels"]["columns"][0]["key"] == "input"
    labels = list(dict.fromkeys(row["input"] for row in rows))
    assert len(labels) == 2
    for label, path in zip(labels, (OVERLAP, DEVICES)):
        alone = gputime.json("kernels", path)["tables"]["kernels"]["rows"]
        mine = [row for row in rows if row["input"] == label]
        assert [{key: value for key, value in row.items() if key != "input"} for row in mine] == \
            [{key: value for key, value in row.items() if key != "input"} for row in alone]


def test_same_trace_twice_has_two_labels(gputime, tmp_path):
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    for folder in "ab":
        (tmp_path / folder / "trace.json").write_bytes(OVERLAP.read_bytes())
    report = gputime.json("kernels", tmp_path / "a/trace.json", tmp_path / "b/trace.json")
    rows = report["tables"]["kernels"]["rows"]
    assert len(rows) == 4 and len({row["input"] for row in rows}) == 2


def test_file_named_like_a_command(gputime, tmp_path):
    (tmp_path / "kernels").write_bytes(OVERLAP.read_bytes())
    assert gputime.json("./kernels", cwd=tmp_path)["command"] == "summary"
    assert gputime("gaps", "--json", "--", "kernels", cwd=tmp_path).returncode == 0


def test_option_like_file(gputime, tmp_path):
    (tmp_path / "--json").write_bytes(OVERLAP.read_bytes())
    assert gputime("kernels", "--", "--json", cwd=tmp_path).returncode == 0
