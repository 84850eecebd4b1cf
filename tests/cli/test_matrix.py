"""Everything with everything: each sample, command and format ends well, in valid output that does not depend on the
number of threads or on how the input is packed. What there is to try comes from the program's own lists."""

import csv
import gzip
import io
import json
import os
import re
import subprocess
import unicodedata

import pytest

import tracegen
from conftest import DATA, find_binary, Program

WIDTH = 80
SAMPLES = sorted(DATA.glob("*.json")) + sorted((DATA / "torch").glob("*.json.gz"))
COMMANDS = {
    "summary": ["summary"],
    "kernels": ["kernels"],
    "kernels short": ["kernels", "--names", "short", "--launches", "--gaps"],
    "gaps": ["gaps"],
    "gaps linear": ["gaps", "--hist", "linear", "--bins", "7"],
    "gaps device": ["gaps", "--per", "device"],
}


def registry(name):
    """The keys of one of the program's lists; at collection time, when there may be no program yet."""
    binary = find_binary("GPUTIME", "build/gputime")
    if not binary.exists():
        return []
    done = subprocess.run([binary, "list", name, "--format", "json"], stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    rows = found["tables"][name]["rows"] if "tables" in found else found[name]
    return [row["key"] for row in rows]


FORMATS = registry("outputs")


def width_of(line):
    """Columns a terminal needs for a line."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in line)
    none = sum(unicodedata.combining(char) != 0 or unicodedata.category(char) in ("Cf", "Mn", "Me") for char in line)
    return len(line) + wide - none


def check_text(output):
    text = output.decode("utf-8")
    for line in text.splitlines():
        assert width_of(line) <= WIDTH, f"{width_of(line)} columns: {line}"
    for char in text:
        assert char == "\n" or unicodedata.category(char) not in ("Cc", "Cs"), f"control character {char!r} on the screen"
    assert text.endswith("\n")


def check_csv(output):
    text = output.decode("utf-8", "surrogateescape")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows, "a CSV has a header at least"
    assert len({len(row) for row in rows}) == 1, "rows differ in their number of columns"
    assert len(set(rows[0])) == len(rows[0]) and all(re.fullmatch(r"[a-z0-9_]+", key) for key in rows[0])


def check_md(output):
    text = output.decode("utf-8")
    columns = None
    for line in text.splitlines():
        if not line.startswith("|"):
            columns = None
            continue
        cells = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) - 1
        assert columns in (None, cells), f"{cells} cells instead of {columns}: {line}"
        columns = cells


def check_json(output):
    report = json.loads(output.decode("utf-8"), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert list(report)[:2] == ["tool", "command"]
    assert {"tool", "command", "inputs", "tables", "facts", "issues"} <= set(report)
    for key, table in report["tables"].items():
        keys = [column["key"] for column in table["columns"]]
        assert len(set(keys)) == len(keys)
        assert all(list(row) == keys for row in table["rows"]), key
        assert {column["unit"] for column in table["columns"]} <= {"", "count", "ns", "bytes", "share"}


CHECKS = {"text": check_text, "csv": check_csv, "md": check_md, "json": check_json}


def run(program, *args, **settings):
    done = program(*args, "--width", str(WIDTH), **settings)
    assert done.returncode == 0, (args, done.returncode, done.stderr)
    assert done.stderr == b"", done.stderr
    return done.stdout


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name.split(".")[0])
def test_sample(gputime, sample, command, format):
    output = run(gputime, *COMMANDS[command], sample, "--format", format)
    CHECKS.get(format, lambda output: None)(output)
    for threads in ("2", "5"):
        again = run(gputime, *COMMANDS[command], sample, "--format", format, env={"GPUTIME_THREADS": threads})
        assert again == output, f"{threads} threads give another report"


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("command", COMMANDS)
def test_two_samples(gputime, command, format):
    output = run(gputime, *COMMANDS[command], DATA / "overlap.json", DATA / "devices.json", "--format", format)
    CHECKS.get(format, lambda output: None)(output)


def plain(sample):
    raw = sample.read_bytes()
    return gzip.decompress(raw) if sample.suffix == ".gz" else raw


def packed(folder, raw):
    """The same bytes under the same name, plain, as gzip and as zstd, each in a folder of its own."""
    contents = {
        "plain": raw,
        "gzip": gzip.compress(raw, 1),
        "zstd": subprocess.run(["zstd", "-qc"], input=raw, stdout=subprocess.PIPE, check=True).stdout,
    }
    for name, content in contents.items():
        (folder / name).mkdir()
        (folder / name / "trace.json").write_bytes(content)
    return [folder / name for name in contents]


def without_label(output):
    """Standard input has no name: its label stands where the file's name would."""
    return output.replace(b"standard input", b"trace.json").replace(b'"path": "-"', b'"path": "trace.json"')


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name.split(".")[0])
def test_packing_and_pipe_change_nothing(gputime, tmp_path, sample):
    raw = plain(sample)
    folders = packed(tmp_path, raw)
    for command in COMMANDS.values():
        outputs = [run(gputime, *command, "trace.json", "--json", cwd=folder) for folder in folders]
        assert outputs[1] == outputs[0] and outputs[2] == outputs[0]
        piped = run(gputime, *command, "-", "--json", stdin=raw)
        assert without_label(piped) == outputs[0]
        piped = run(gputime, *command, "-", "--json", stdin=(folders[1] / "trace.json").read_bytes())
        assert without_label(piped) == outputs[0]


LARGE_TIMES = 10  # the sample so many times over: larger than any piece a reading thread takes at once


def large_trace(name):
    """The events of a real trace, many times over, in one of the layouts writers use; numbers keep their digits."""
    document = json.loads(plain(DATA / "torch/llama_train_compiled.json.gz"), parse_float=tracegen.Raw,
                          parse_int=tracegen.Raw)
    marker = {"ph": "X", "cat": "kernel", "name": "MARKER"}
    events = [event for event in document["traceEvents"] if event.get("cat") != "cpu_op"]
    text = tracegen.layout([marker, *events, marker], name)
    first, last = (found.start() for found in re.finditer(r'"MARKER"', text))
    start, end = text.index("}", first) + 1, text.rindex("{", 0, last)
    separator = text[start:text.index("{", start)]
    body = text[start + len(separator):text.rindex(separator, start, end + 1)]
    return text[:text.rindex("{", 0, first)] + separator.join([body] * LARGE_TIMES) + text[text.index("}", last) + 1:]


@pytest.fixture(scope="module")
def large_tables(gputime, tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "trace.json"
    path.write_text(large_trace("kineto"))
    report = gputime.json("kernels", path, "--gaps", "--launches", "--threads", "1")
    sample = gputime.json("kernels", DATA / "torch/llama_train_compiled.json.gz")
    assert report["inputs"][0]["ops"] == LARGE_TIMES * sample["inputs"][0]["ops"]
    return report["tables"]


@pytest.mark.parametrize("layout", tracegen.LAYOUTS)
def test_large_trace_in_every_layout(gputime, tmp_path, large_tables, layout):
    path = tmp_path / "trace.json"
    path.write_text(large_trace(layout))
    assert path.stat().st_size > 2**23
    outputs = {threads: run(gputime, "kernels", "--gaps", "--launches", path, "--json", "--threads", threads)
               for threads in ("1", "2", "5")}
    assert outputs["2"] == outputs["1"] and outputs["5"] == outputs["1"]
    assert json.loads(outputs["1"])["tables"] == large_tables
    with open(path, "rb") as file:
        piped = gputime("kernels", "--gaps", "--launches", "-", "--json", stdin=file.read())
    assert json.loads(without_label(piped.stdout))["tables"] == large_tables


def test_help_fits_the_screen(gputime):
    for args in (["--help"], ["help"], *(["help", name] for name in ("summary", "kernels", "gaps", "list", "cache"))):
        done = gputime(*args)
        assert done.returncode == 0 and not done.stderr
        check_text(done.stdout)


@pytest.mark.parametrize("name", ["inputs", "analyses", "outputs", "categories"])
def test_lists(gputime, name):
    assert registry(name)
    done = gputime("list", name)
    assert done.returncode == 0 and all(key.encode() in done.stdout for key in registry(name))


def test_every_table_as_csv(gputime):
    sample = DATA / "devices.json"
    for command in COMMANDS.values():
        for table in gputime.json(*command, sample)["tables"]:
            check_csv(run(gputime, *command, sample, "--csv", "--table", table))


def test_csv_and_json_agree(gputime):
    sample = DATA / "torch/llama_train_compiled.json.gz"
    for command, table in ((["kernels"], "kernels"), (["gaps"], "stream_gaps"), (["gaps", "--per", "device"], "gaps")):
        rows = gputime.json(*command, sample)["tables"][table]["rows"]
        lines = list(csv.DictReader(io.StringIO(run(gputime, *command, sample, "--csv", "--table", table).decode())))
        assert len(lines) == len(rows)
        for line, row in zip(lines, rows):
            for key, text in line.items():
                value = row[key]
                assert text == ("" if value is None else value if isinstance(value, str) else json.dumps(value))


# ---- the cache ------------------------------------------------------------------------------------------------------


@pytest.fixture
def caching(gputime, tmp_path):
    """A program with an empty cache of its own, and a trace that is old enough to be kept."""
    trace = tmp_path / "trace.json"
    trace.write_bytes(plain(DATA / "torch/llama_train_compiled.json.gz"))
    os.utime(trace, (1_600_000_000, 1_600_000_000))
    return Program(gputime.binary, tmp_path / "home"), trace


def cache_files(program):
    return sorted(path for path in (program.home / "cache").rglob("*") if path.is_file())


KEEP = ["--cache-after", "0ns"]


def test_cache_changes_nothing(caching):
    program, trace = caching
    for command in COMMANDS.values():
        fresh = run(program, *command, trace, "--json", "--no-cache")
        assert run(program, *command, trace, "--json", *KEEP) == fresh
        assert cache_files(program), "nothing was kept"
        assert run(program, *command, trace, "--json", *KEEP) == fresh


def test_quick_traces_are_not_kept(caching):
    program, trace = caching
    run(program, trace)
    assert not cache_files(program)


def test_cache_can_be_switched_off(caching):
    program, trace = caching
    run(program, trace, *KEEP, "--no-cache")
    run(program, trace, *KEEP, env={"GPUTIME_CACHE": "off"})
    assert not cache_files(program)


def test_changed_trace_is_read_again(caching):
    program, trace = caching
    run(program, trace, "--json", *KEEP)
    assert cache_files(program)
    raw = trace.read_bytes()
    place = raw.index(b'"cat": "kernel", "name": "') + len(b'"cat": "kernel", "name": "')
    trace.write_bytes(raw[:place] + b"#" + raw[place + 1:])
    os.utime(trace, (1_600_000_000, 1_600_000_000))
    again = program.json("kernels", trace, *KEEP)
    assert any(row["name"].startswith("#") for row in again["tables"]["kernels"]["rows"])


def test_damaged_cache_is_never_believed(caching):
    program, trace = caching
    fresh = run(program, "kernels", trace, "--json", "--gaps", *KEEP)
    [entry] = cache_files(program)
    content = entry.read_bytes()
    for number in range(40):
        damaged = bytearray(content)
        place = number * 8 + number % 8 if number < 20 else (number - 19) * (len(content) - 1) // 20
        damaged[place] ^= 0x41
        entry.write_bytes(damaged)
        assert run(program, "kernels", trace, "--json", "--gaps", *KEEP) == fresh, f"byte {place}"
    for size in (0, 1, 100, len(content) // 2, len(content) - 1):
        entry.write_bytes(content[:size])
        assert run(program, "kernels", trace, "--json", "--gaps", *KEEP) == fresh, f"cut at {size}"


def test_cache_show_and_clear(caching):
    program, trace = caching
    run(program, trace, *KEEP)
    assert program("cache", "show").returncode == 0
    assert program("cache", "clear").returncode == 0
    assert not cache_files(program)


def test_unwritable_cache_is_no_failure(caching):
    program, trace = caching
    program.home.mkdir(exist_ok=True)
    (program.home / "cache").write_text("a file where the folder should be")
    assert run(program, trace, *KEEP)
