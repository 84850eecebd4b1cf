"""Everything with everything: each sample, command and format ends well, in valid output that does not depend on the
number of threads or on how the input is packed. What there is to try comes from the program's own lists."""

import csv
import gzip
import io
import itertools
import json
import os
import re
import subprocess
import unicodedata

import pytest

import parquet_by_hand
import tracegen
from conftest import DATA, LOSS_LINE, Program, check_warnings, find_binary, has_page, page_report, sample_name

WIDTH = 80
# Hand-written traces, and small captures of each kind of input: compiled and distributed training, graphs, processes.
SAMPLES = [
    *sorted(DATA.glob("*.json")),
    DATA / "devices.json.zip",
    DATA / "torch/llama_train_compiled.json.gz",
    DATA / "torch/tpdp_rank0.json.gz",
    DATA / "nsys/train.nsys-rep",
    DATA / "nsys/graph_whole.nsys-rep",
    DATA / "nsys/graph_whole.sqlite.gz",
    DATA / "nsys-more/two_part.sqlite.gz",
    DATA / "nsys-mpi/exchange.nsys-rep",
    DATA / "nsys-mpi/exchange.sqlite.gz",
    DATA / "nccl/node0-pid1000.log",
    DATA / "xla/jax.xplane.pb",
    DATA / "xla/jax.trace.json.gz",
    DATA / "rocm/train.db",
    DATA / "rocm/train.json",
    DATA / "rocm/train_kernel_trace.csv",
    DATA / "nsys-csv/mini_cuda_gpu_trace.csv",
    DATA / "nsys-csv/mini_cuda_gpu_kern_sum.csv",
    DATA / "perfetto/sampled.pftrace",
]


# ---- what there is to try; at collection time, when there may be no program yet ----


def ask(*args):
    binary = find_binary("GPUTIME", "build/gputime")
    if not binary.exists():
        return ""
    return subprocess.run([binary, *args], stdout=subprocess.PIPE, check=True).stdout.decode()


def registry(name):
    """The rows of one of the program's lists."""
    text = ask("list", name, "--format", "json")
    return json.loads(text)["tables"][name]["rows"] if text else []


def keys(name):
    return [row["key"] for row in registry(name)]


def command_names():
    """From the help: the indented words below its heading of commands."""
    lines = iter(ask("help").splitlines())
    if not any(line.startswith("Commands") for line in lines):
        return []
    return [line.split()[0] for line in itertools.takewhile(str.strip, lines)]


def options_of_commands():
    """From the completions: (option, commands that take it, its choices; none for a switch) of all but those that take
    free text or a file."""
    line = re.compile(r"complete .*'contains \(\w+\) ([\w ]+)' -l ([\w-]+)(?: -[ls] [\w-]+)*(?: -x -a '(.*?)')? -d .*")
    found = filter(None, map(line.fullmatch, ask("--print-completion", "fish").splitlines()))
    return [(f"--{match[2]}", match[1].split(), match[3].split() if match[3] else []) for match in found]


def commands_with(wanted):
    return next((commands for option, commands, _ in options_of_commands() if option == wanted), [])


# Comparisons need two traces and have tests of their own.
REPORT_COMMANDS = [name for name in commands_with("--table") if name not in commands_with("--a")]
# Choices that are tried in another way, are about the terminal, or only change which rows come first.
OTHER_CHOICES = {"--format", "--table", "--category", "--reader", "--color", "--unit", "--sort", "--gap-sort"}
NOT_IN_REPORTS = {("--names", "hash")}
SCHEMA = "--print-schema"  # prints one thing instead of the report


def variants(name):
    """A command as it is, with all its own switches on, and with each choice other than the default."""
    options = [(option, commands, choices) for option, commands, choices in options_of_commands() if name in commands]
    switches = [option for option, commands, choices in options if not choices and commands != REPORT_COMMANDS
                and set(commands) <= set(REPORT_COMMANDS) and option != SCHEMA]
    yield [name]
    if name in commands_with(SCHEMA):
        yield [name, SCHEMA]
    if switches:
        yield [name, *switches]
    for option, _, choices in options:
        for choice in choices[1:]:
            if option not in OTHER_CHOICES and (option, choice) not in NOT_IN_REPORTS:
                yield [name, *switches, option, choice]


COMMANDS = [command for name in REPORT_COMMANDS for command in variants(name)
            if name != "whatif" or "--force" in command]  # without, it may refuse to answer
FORMATS = [key for key in keys("outputs") if key != "html" or has_page()]
SCREEN_TABLES = {"time_parts"}  # a picture of another table, which JSON has instead
# Those on one finding need the finding; tests/cli/test_findings.py has them.
TABLES = [table for row in registry("analyses") for table in row["detail"].split(",")
          if table and not table.startswith("finding_")]


def test_there_is_something_to_try(gputime, unpacked):
    assert {"summary", "kernels", "gaps", "ranges"} <= set(REPORT_COMMANDS)
    assert {"list", "cache"} <= set(command_names()) - set(REPORT_COMMANDS)
    for option in ("--gaps", "--launches", "--tree", "linear", "device", "short"):
        assert any(option in command for command in COMMANDS), option
    assert {"text", "csv", "json", "md"} <= set(FORMATS)
    assert {"accounting", "kernels", "gaps", "idle_host", "ranges", "histogram"} <= set(TABLES)
    formats = {entry["format"] for sample in SAMPLES for entry in gputime.json(unpacked(sample))["inputs"]}
    assert formats == set(keys("inputs")), "every kind of input has a sample"


# ---- what every output must keep to ----


def width_of(line):
    """Columns a terminal needs for a line."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in line)
    none = sum(unicodedata.combining(char) != 0 or unicodedata.category(char) in ("Cf", "Mn", "Me") for char in line)
    return len(line) + wide - none


WIDE_COMMANDS = {"stats"}  # whose text has the lines of an older tool, however wide these are


def check_text(output, is_wide=False):
    text = output.decode("utf-8")
    for line in () if is_wide else text.splitlines():
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
    assert list(report) == ["tool", "command", "inputs", "tables", "facts", "findings", "issues"]
    for key, table in report["tables"].items():
        columns = [column["key"] for column in table["columns"]]
        assert len(set(columns)) == len(columns)
        assert all(list(row) == columns for row in table["rows"]), key
        assert {column["unit"] for column in table["columns"]} <= {"", "count", "ns", "bytes", "share"}


def check_html(output):
    page_report(output)


def check_parquet(output):
    file = parquet_by_hand.File(output)
    assert file.columns and file.about["gputime.table"] == file.name


CHECKS = {"parquet": check_parquet, "text": check_text, "csv": check_csv, "md": check_md, "json": check_json, "html": check_html}


def check(output, format, command):
    if format == "text":
        check_text(output, is_wide=SCHEMA in command or (command[0] in WIDE_COMMANDS and "--table" not in command))
    else:
        CHECKS.get(format, lambda output: None)(output)


def run(program, *args, **settings):
    """The output of a run that must end well. On stderr there may be what was lost, for those who read data only."""
    done = program(*args, "--width", str(WIDTH), **settings)
    assert done.returncode == 0, (args, done.returncode, done.stderr)
    if done.stdout.startswith(b"{"):
        check_warnings(json.loads(done.stdout), done.stderr)
    elif done.stderr:
        assert not {"text", "md", "--md"} & set(args), (args, done.stderr)
        assert all(LOSS_LINE.fullmatch(line) for line in done.stderr.decode().splitlines()), done.stderr
    return done.stdout


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("sample", SAMPLES, ids=sample_name)
def test_sample(gputime, unpacked, sample, command):
    for format in FORMATS:
        output = run(gputime, *command, unpacked(sample), "--format", format)
        check(output, format, command)
        for threads in ("2", "5"):
            again = run(gputime, *command, unpacked(sample), "--format", format, env={"GPUTIME_THREADS": threads})
            assert again == output, f"{threads} threads give another {format}"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_two_samples(gputime, unpacked, command):
    for format in FORMATS:
        for others in ([DATA / "devices.json"], [unpacked(sample) for sample in SAMPLES[-4:]]):
            output = run(gputime, *command, DATA / "overlap.json", *others, "--format", format)
            check(output, format, command)


@pytest.mark.parametrize("sample", SAMPLES, ids=sample_name)
def test_every_table(gputime, unpacked, sample):
    """Each table on its own, in each format; CSV and JSON have the same cells."""
    for table in TABLES:
        outputs = {format: run(gputime, "summary", unpacked(sample), "--table", table, "--format", format)
                   for format in FORMATS}
        for format, output in outputs.items():
            CHECKS.get(format, lambda output: None)(output)
        tables = json.loads(outputs["json"])["tables"]
        assert (table in tables) == (table not in SCREEN_TABLES), table
        if table in tables:
            compare_cells(outputs["csv"], tables[table])
            assert parquet_by_hand.File(outputs["parquet"]).rows() == tables[table]["rows"]


def compare_cells(output, table):
    lines = list(csv.DictReader(io.StringIO(output.decode(), newline="")))
    assert len(lines) == len(table["rows"])
    for line, row in zip(lines, table["rows"]):
        assert list(line) == list(row)
        for key, text in line.items():
            value = row[key]
            # CSV keeps formulas from running and has no control characters.
            if isinstance(value, str) and not re.match(r"[=+@\t\r-]|.*[\x00-\x1f\x7f-\x9f\ufffd]", value, re.DOTALL):
                assert text == value
            elif not isinstance(value, str):
                assert text == ("" if value is None else json.dumps(value))


def plain(sample):
    raw = sample.read_bytes()
    return gzip.decompress(raw) if sample.suffix == ".gz" else raw


def packed(folder, name, raw):
    """The same bytes under the same name, plain, as gzip and as zstd, each in its own directory."""
    contents = {
        "plain": raw,
        "gzip": gzip.compress(raw, 1),
        "zstd": subprocess.run(["zstd", "-qc"], input=raw, stdout=subprocess.PIPE, check=True).stdout,
    }
    for packing, content in contents.items():
        (folder / packing).mkdir()
        (folder / packing / name).write_bytes(content)
    return [folder / packing for packing in contents]


def without_label(output, name):
    """Standard input has no name: its label replaces the file's name."""
    return output.replace(b"standard input", name.encode()).replace(b'"path": "-"', b'"path": "%s"' % name.encode())


PACKABLE = [sample for sample in SAMPLES if not sample.name.endswith((".sqlite.gz", ".zip"))]


@pytest.mark.parametrize("sample", PACKABLE, ids=sample_name)
def test_packing_and_pipe_change_nothing(gputime, tmp_path, sample):
    raw, name = plain(sample), sample_name(sample)
    folders = packed(tmp_path, name, raw)
    for command in COMMANDS:
        outputs = [run(gputime, *command, name, "--json", cwd=folder) for folder in folders]
        assert outputs[1] == outputs[0] and outputs[2] == outputs[0]
        for stdin in (raw, (folders[1] / name).read_bytes()):
            piped = run(gputime, *command, "-", "--json", stdin=stdin)
            assert without_label(piped, name) == outputs[0]


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
    assert json.loads(without_label(piped.stdout, "trace.json"))["tables"] == large_tables


def test_help_fits_the_screen(gputime):
    for args in (["--help"], ["help"], *(["help", name] for name in command_names())):
        done = gputime(*args)
        assert done.returncode == 0 and not done.stderr
        check_text(done.stdout)


@pytest.mark.parametrize("name", ["inputs", "analyses", "outputs", "exports", "categories"])
def test_lists(gputime, name):
    assert keys(name)
    done = gputime("list", name)
    assert done.returncode == 0 and all(key.encode() in done.stdout for key in keys(name))


# ---- the cache ------------------------------------------------------------------------------------------------------


@pytest.fixture
def caching(gputime, tmp_path):
    """A program with its own empty cache, and a trace that is old enough to be kept."""
    trace = tmp_path / "trace.json"
    trace.write_bytes(plain(DATA / "torch/llama_train_compiled.json.gz"))
    os.utime(trace, (1_600_000_000, 1_600_000_000))
    return Program(gputime.binary, tmp_path / "home"), trace


def cache_files(program):
    return sorted(path for path in (program.home / "cache").rglob("*") if path.is_file())


KEEP = ["--cache-after", "0ns"]


def test_cache_changes_nothing(caching):
    program, trace = caching
    for command in COMMANDS:
        fresh = run(program, *command, trace, "--json", "--no-cache")
        assert run(program, *command, trace, "--json", *KEEP) == fresh
        assert cache_files(program), "nothing was kept"
        assert run(program, *command, trace, "--json", *KEEP) == fresh


def readings(program):
    """What is read is kept anew, in another file: which file there is tells whether the trace was read again."""
    return [path.stat().st_ino for path in cache_files(program)], [path.read_bytes() for path in cache_files(program)]


@pytest.mark.parametrize("sample, first, second, is_read_again", [
    ("torch/tpdp_rank0.json.gz", ["findings"], ["ranks"], False),
    ("torch/llama_train_compiled.json.gz", ["ranks"], ["sql", "select count(*) from comm_logs"], False),
    ("torch/llama_train_compiled.json.gz", ["kernels"], ["sql", "select count(*) from comm_logs"], False),
    ("torch/llama_train_compiled.json.gz", ["kernels"], ["kernels", "--details"], True),
    ("perfetto/sampled.pftrace", ["summary"], ["sql", "select count(*) from collectives"], False),
    ("perfetto/sampled.pftrace", ["kernels"], ["kernels", "--details"], True),
    ("nccl/node0-pid1000.log", ["sql", "select count(*) from comm_logs"], ["efficiency"], False),
])
def test_what_a_format_never_has_is_not_looked_for(gputime, tmp_path, sample, first, second, is_read_again):
    program = Program(gputime.binary, tmp_path / "home")
    trace = tmp_path / (DATA / sample).name
    trace.write_bytes((DATA / sample).read_bytes())
    os.utime(trace, (1_600_000_000, 1_600_000_000))
    run(program, *first, trace, *KEEP)
    kept, content = readings(program)
    assert len(kept) == 1
    fresh = run(program, *second, trace, "--no-cache")
    assert run(program, *second, trace, *KEEP) == fresh
    now, new_content = readings(program)
    assert (content != new_content) == is_read_again and (kept != now or not is_read_again)


def test_quick_traces_are_not_kept(caching):
    program, trace = caching
    run(program, trace)
    assert not cache_files(program)


def test_cache_can_be_switched_off(caching, tmp_path):
    program, trace = caching
    (tmp_path / "here").mkdir()
    run(program, trace, *KEEP, "--no-cache", cwd=tmp_path / "here")
    run(program, trace, *KEEP, env={"GPUTIME_CACHE": "off"}, cwd=tmp_path / "here")
    assert not cache_files(program) and not list((tmp_path / "here").iterdir())


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
