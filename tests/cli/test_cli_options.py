"""The command line itself: parsing, help, suggestions, settings, completions and the manual page.

What the options do to the numbers is tested elsewhere; here a tiny trace shows only that they arrive.
"""

import csv
import fcntl
import io
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from conftest import ROOT
from test_matrix import options_of_commands

FAILED, USAGE = 1, 2
REPORTS = ("summary", "kernels", "gaps")
COMMANDS = (*REPORTS, "list", "cache", "help", "version")
NAMES = ("alpha", "beta", "gamma", "delta")


def op(name, start, length, stream):
    return {"ph": "X", "cat": "kernel", "name": f"{name}_kernel", "pid": 0, "tid": stream, "ts": start, "dur": length,
            "args": {"device": 0, "stream": stream, "correlation": start}}


def write_trace(path, names=NAMES):
    """The i-th name runs len(names) - i times, 10 * (i + 1) us each, with gaps of i + 1 us."""
    now, events = 100, []
    for index, name in enumerate(names):
        for _ in range(len(names) - index):
            events.append(op(name, now, 10 * (index + 1), 7))
            now += 11 * (index + 1)
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


@pytest.fixture
def folder(tmp_path):
    """A working folder with a trace a.json in it."""
    write_trace(tmp_path / "a.json")
    return tmp_path


@pytest.fixture
def run(gputime, folder):
    def run_there(*args, **settings):
        return gputime(*args, cwd=folder, **settings)
    return run_there


def error_of(done, status):
    message = done.stderr.decode()
    assert done.returncode == status, (done.returncode, message)
    assert not done.stdout
    assert re.fullmatch(r"gputime: [^\n]*[^.\n]\n", message), message
    return message


def text_of(done):
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout.decode()


def rows_of(done):
    return list(csv.DictReader(io.StringIO(text_of(done))))


def names_in(text):
    """Kernels in the order in which they first appear."""
    return [name.removesuffix("_kernel") for name in
            dict.fromkeys(re.findall("|".join(f"{name}_kernel" for name in NAMES), text))]


# ---- forms of options -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [
    ["--top", "2", "a.json"],
    ["--top=2", "a.json"],
    ["-t", "2", "a.json"],
    ["-t2", "a.json"],
    ["a.json", "-t2"],
    ["a.json", "--limit", "2"],
    ["-vt2", "a.json"],
    ["-vt", "2", "a.json"],
    ["--top", "3", "a.json", "--top", "2"],
    ["--top=2", "--", "a.json"],
], ids=" ".join)
def test_forms_of_an_option(run, args):
    assert [row["name"] for row in rows_of(run("kernels", "--csv", *args))] == ["alpha_kernel", "beta_kernel"]


@pytest.mark.parametrize("form", [["--gap-sort", "max"], ["--gap_sort", "max"], ["--gap-sort=max"]], ids=" ".join)
def test_dashes_and_underscores_are_the_same(run, form):
    rows = rows_of(run("gaps", "a.json", "--csv", *form))
    longest = [float(row["max_ns"]) for row in rows]
    assert longest == sorted(longest, reverse=True) and len(rows) > 3


def test_options_may_stand_before_the_command(run):
    assert text_of(run("--json", "kernels", "a.json")) == text_of(run("kernels", "a.json", "--json"))


def test_flags_can_be_unset(run):
    assert not text_of(run("a.json", "--quiet"))
    assert text_of(run("a.json", "--quiet", "--quiet=no"))
    assert "--quiet" in error_of(run("a.json", "--quiet=maybe"), USAGE)


def test_words_after_two_dashes_are_files(run, folder):
    for name in ("kernels", "--csv", "-t"):
        write_trace(folder / name)
        assert json.loads(text_of(run("--json", "--", name)))["command"] == "summary"
    assert json.loads(text_of(run("--json", "./kernels")))["command"] == "summary"
    assert json.loads(text_of(run("--json", "kernels", "kernels")))["command"] == "kernels"


def test_standard_input_is_read_once(run, folder):
    trace = (folder / "a.json").read_bytes()
    assert len(rows_of(run("kernels", "-", "--csv", stdin=trace))) == len(NAMES)
    assert "standard input" in error_of(run("-", "-", stdin=trace), USAGE)


# ---- what is wrong is said, with what was meant -----------------------------------------------------------------------


@pytest.mark.parametrize("given, meant", [
    ("--tpo", "--top"), ("--limt", "--limit"), ("--sotr=count", "--sort"), ("--quite", "--quiet"), ("--jsn", "--json"),
    ("--hist-mn", "--hist-min"), ("--gap_outptu", "--gap-output"), ("--colr", "--color"), ("--psteps", "--pstep"),
])
def test_unknown_option_suggests(run, given, meant):
    name = given.split("=")[0]
    assert error_of(run("kernels", given, "a.json"), USAGE) == \
        f"gputime: unknown option '{name}'; did you mean '{meant}'?\n"


@pytest.mark.parametrize("given", ["--xyzzy", "--to-be-or-not-to-be", "-Z", "--t"])
def test_unknown_option_without_suggestion(run, given):
    message = error_of(run("kernels", given, "a.json"), USAGE)
    assert f"'{given}'" in message
    assert given == "--t" or "did you mean" not in message


def test_prefixes_are_no_options(run):
    assert "unknown option '--verb'" in error_of(run("kernels", "--verb", "a.json"), USAGE)


@pytest.mark.parametrize("given, meant", [("kernles", "kernels"), ("kernel", "kernels"), ("gap", "gaps"),
                                          ("sumary", "summary"), ("lst", "list"), ("hlep", "help")])
def test_unknown_command_suggests(run, given, meant):
    assert f"did you mean '{meant}'?" in error_of(run(given, "a.json"), USAGE)
    assert f"did you mean '{meant}'?" in error_of(run("help", given), USAGE)


def test_missing_file_is_no_unknown_command(run):
    message = error_of(run("trace.json"), FAILED)
    assert "'trace.json'" in message and "no such file" in message and "did you mean" not in message
    assert error_of(run("kernels", "gaps.json"), FAILED) == "gputime: cannot read 'gaps.json': no such file or directory\n"
    assert "cannot read './compare'" in error_of(run("./compare"), FAILED)


@pytest.mark.parametrize("args", [["compare"], ["compare", "a.json"], ["compare", "a.json", "b.json", "--json"]], ids=" ".join)
def test_word_that_is_neither_command_nor_file(run, args):
    assert error_of(run(*args), USAGE).startswith("gputime: there is no command or file 'compare'; ")
    done = run("--", *[word for word in args if word[0] != "-"])
    assert done.returncode == FAILED and done.stderr.startswith(b"gputime: cannot read 'compare'")


def test_nothing_printed_steers_the_terminal(run, folder):
    name = "b\x1b[31m\n\x7f\u009b\u00e9.json"
    shown = r"b\x1b[31m\x0a\x7f\xc2\x9b" + "\u00e9.json"
    assert f"'{shown}'" in error_of(run(name), FAILED)
    assert f"'{shown}'" in error_of(run("a.json", "-o", name + "/x.csv"), FAILED).replace("/x.csv", "")
    assert r"'\xff\xc3'" in error_of(run(b"--", b"\xff\xc3"), FAILED)
    (folder / name).write_bytes((folder / "a.json").read_bytes()[:-40])
    done = run("kernels", name, "--csv")
    assert done.returncode == 0 and f"'{shown}' was not read whole".encode() in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_every_trace_that_cannot_be_read_is_named(run, folder):
    (folder / "broken.json").write_text("no trace")
    done = run("kernels", "broken.json", "a.json", "missing.json", "--csv")
    broken, missing = done.stderr.decode().splitlines()
    assert "'broken.json'" in broken and "'missing.json'" in missing
    assert done.returncode == FAILED and done.stdout == run("kernels", "a.json", "--csv").stdout


@pytest.mark.parametrize("args, words", [
    (["--top"], ["--top", "N"]),
    (["--top", "--json"], ["--top", "needs a value"]),
    (["-t"], ["-t", "needs a value"]),
    (["--top="], ["--top", "needs a value"]),
    (["--top", "ten"], ["--top", "'ten'", "whole number"]),
    (["--top", "1e3"], ["'1e3'"]),
    (["--top", "+3"], ["'+3'"]),
    (["--top", "99999999999999999999"], ["whole number"]),
    (["--width", "3"], ["--width", "20"]),
    (["--threads", "5000"], ["1024"]),
    (["--unit", "hours"], ["--unit", "'hours'", "auto, ns, us, ms, s"]),
    (["--names", "long"], ["full, short"]),
    (["--color", "red"], ["auto, always, never"]),
    (["--json=yes"], ["--json", "no value"]),
    (["--hist-min", "-1"], ["--hist-min"]),
    (["--hist-min", "1e3"], ["'1e3'"]),
    (["--hist-max", "."], ["'.'"]),
    (["--gap-sort", "p90"], ["transitions", "'p90'", "avg", "stdev"]),
    (["--gap-sort", "+p90"], ["transitions", "'+p90'", "avg", "stdev"]),
    (["--table", "nothing"], ["'nothing'", "this command has kernels; 'gputime list analyses'"]),
    (["--table", "kernel"], ["'kernel'; did you mean 'kernels'? 'gputime list analyses'"]),
    (["--sort", "m"], ["no column 'm'; it has name, count"]),
])
def test_bad_value_is_named(run, args, words):
    message = error_of(run("kernels", "a.json", *args), USAGE)
    for word in words:
        assert word in message, message


def test_unknown_format_names_those_there_are(run):
    there_are = [row["key"] for row in json.loads(text_of(run("list", "outputs", "--json")))["tables"]["outputs"]["rows"]]
    message = error_of(run("a.json", "--format", "docx"), USAGE)
    assert "'docx'" in message and ", ".join(there_are) in message


def test_option_of_another_command(run):
    message = error_of(run("kernels", "a.json", "--per", "device"), USAGE)
    assert "'kernels'" in message and "'--per'" in message and "gaps" in message
    assert "'--top'" in error_of(run("list", "inputs", "--top", "3"), USAGE)


@pytest.mark.parametrize("args", [["list"], ["list", "things"], ["list", "inputs", "outputs"], ["cache"],
                                  ["cache", "empty"], ["kernels"], ["list", "inputs", "--format", "csv"]], ids=" ".join)
def test_command_with_wrong_words(run, args):
    assert args[0] in error_of(run(*args), USAGE)


def test_no_arguments_show_a_short_help(run):
    done = run()
    assert done.returncode == USAGE and not done.stdout
    assert b"Usage: gputime" in done.stderr and b"--help" in done.stderr
    assert done.stderr.count(b"\n") <= 6


# ---- tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sort, order", [
    (None, "abcd"), ("count", "abcd"), ("percentage", "abcd"), ("duration", "dcba"), ("avg_ns", "dcba"),
    ("+avg_ns", "abcd"), ("+duration", "abcd"), ("+count", "dcba"), ("+percentage", "dcba"), ("+name", "abcd"),
    ("Mean", "dcba"), ("+mean", "abcd"), ("av", "dcba"),  # a title, or a beginning that is of one column alone
    ("name", None), ("duration-percentage", None),
])
def test_sort_of_kernels(run, sort, order):
    args = ["--sort", sort] if sort else []
    rows = rows_of(run("kernels", "a.json", "--csv", *args))
    shown = names_in(text_of(run("kernels", "a.json", *args)))
    if sort == "duration-percentage":
        shares = [float(row["share"]) for row in rows]
        assert shares == sorted(shares, reverse=True)
    elif order:
        initials = {name[0]: f"{name}_kernel" for name in ("alpha", "beta")} | {"c": "gamma_kernel", "d": "delta_kernel"}
        if sort == "+name":
            initials = dict(zip("abcd", sorted(f"{name}_kernel" for name in NAMES)))
        assert [row["name"] for row in rows] == [initials[letter] for letter in order]
    else:
        assert [row["name"] for row in rows] == sorted((f"{name}_kernel" for name in NAMES), reverse=True)
    assert shown == [row["name"].removesuffix("_kernel") for row in rows]


def test_hint_only_below_text_sorted_by_count(run):
    hint = "--sort duration-percentage"
    assert hint in text_of(run("kernels", "a.json"))
    assert hint in text_of(run("kernels", "a.json", "--sort", "count"))
    for args in (["--sort", "duration"], ["--sort", "duration-percentage"], ["--csv"], ["--json"], ["--md"], ["-q"]):
        assert hint not in text_of(run("kernels", "a.json", *args)), args
    assert hint not in text_of(run("a.json")) and hint not in text_of(run("gaps", "a.json"))


def many_names():
    return [f"kernel_{index:02}" for index in range(30)]


def test_rows_shown_and_rows_written(run, folder):
    write_trace(folder / "many.json", many_names())

    def shown(*args):
        table = text_of(run(*args)).split("\nKernels")[1].split("\n\n")[0]
        return len(set(re.findall(r"kernel_\d\d", table)))

    def written(*args):
        return len(json.loads(text_of(run(*args, "--json")))["tables"]["kernels"]["rows"])
    assert shown("kernels", "many.json") == 10
    assert shown("kernels", "many.json", "--top", "3") == 3
    assert shown("kernels", "many.json", "--top", "0") == 30
    assert written("kernels", "many.json") == 30
    assert written("kernels", "many.json", "--top", "3") == 3
    assert written("kernels", "many.json", "--top", "0") == 30
    assert shown("many.json") == 6
    assert shown("many.json", "--top", "25") == 25
    assert shown("many.json", "--top", "0") == 30
    assert written("many.json") == 30
    assert written("many.json", "--top", "25") == 25
    assert written("many.json", "--top", "0") == 30


def test_table_of_another_analysis(run):
    expected = rows_of(run("gaps", "a.json", "--csv"))
    assert "from" in expected[0] and "to" in expected[0]
    assert rows_of(run("a.json", "--csv", "--table", "transitions", "--sort", "avg")) == expected
    assert len(rows_of(run("a.json", "--csv", "--table", "transitions", "--top", "1"))) == 1
    assert len(rows_of(run("a.json", "--csv", "--table", "kernels"))) == len(NAMES)


def test_table_alone_on_the_screen(run):
    both = text_of(run("gaps", "--per", "device", "a.json"))
    text = text_of(run("gaps", "--per", "device", "a.json", "--table", "idle_causes"))
    assert len(text.splitlines()) < len(both.splitlines())


def test_the_column_that_is_sorted_by_is_shown_and_others_give_way(run):
    for key, title in (("total_ns", "Total"), ("stddev_ns", "Std dev"), ("share", "Share")):
        text = text_of(run("gaps", "a.json", "--table", "transitions", "--sort", key, "--width", "60"))
        header = " ".join(text.split("──")[0].split("\n\n")[-1].split())
        assert key not in text.split("(no room for")[-1] and title.split()[0] in header, text
    assert "Total" not in text_of(run("kernels", "a.json", "--sort", "duration", "--columns", "name,count"))


def test_columns_on_the_screen(run):
    assert "Std" in text_of(run("kernels", "a.json"))
    text = text_of(run("kernels", "a.json", "--columns", "count,name"))
    assert "Std" not in text and text.index("Count") < text.index("alpha_kernel")
    assert "no_such" in error_of(run("kernels", "a.json", "--columns", "name,no_such"), USAGE)


def test_gap_options_ask_for_the_gaps(run):
    def tables(*args):
        return set(json.loads(text_of(run("kernels", "a.json", "--json", *args)))["tables"])
    gap_tables = {"streams", "histogram", "transitions"}
    assert not gap_tables & tables()
    for args in (["--gaps"], ["-g"], ["--gap-top", "3"], ["--gap-sort", "count"], ["--hist", "linear"], ["--bins", "3"],
                 ["--hist-min", "0.5"], ["--hist-max", "100"]):
        assert gap_tables <= tables(*args), args
    assert "launches" in tables("--launches") and "launches" not in tables("--gaps")


def test_gap_rows(run, folder):
    write_trace(folder / "many.json", many_names())

    def pairs(*args):
        return json.loads(text_of(run("gaps", "many.json", "--json", *args)))["tables"]["transitions"]["rows"]
    assert len(pairs()) > 15
    for option in ("--gap-top", "--top"):
        assert len(pairs(option, "4")) == 4
    averages = [row["avg_ns"] for row in pairs()]
    assert averages == sorted(averages, reverse=True)
    counts = [row["count"] for row in pairs("--gap-sort", "count")]
    assert counts == sorted(counts, reverse=True)
    counts = [row["count"] for row in pairs("--gap-sort", "+count")]
    assert counts == sorted(counts) and counts[0] < counts[-1]
    averages = [row["avg_ns"] for row in pairs("--sort", "+avg")]
    assert averages == sorted(averages) and averages[0] < averages[-1]


def test_number_of_bins_asks_for_linear_ones(run, config):
    def bins(*args, **settings):
        return json.loads(text_of(run("gaps", "a.json", "--json", *args, **settings)))["tables"]["histogram"]["rows"]
    linear = bins("--hist", "linear", "--bins", "3")
    assert len(linear) == 3
    assert bins("--bins", "3") == linear
    assert bins("--bins", "3", "--hist", "log") == bins() != linear
    env = {"XDG_CONFIG_HOME": str(config.parents[1])}
    config.write_text("bins = 3\n")
    assert bins(env=env) == linear
    config.write_text("bins = 3\nhist = log\n")
    assert bins(env=env) == bins()
    config.write_text("hist = log\n")
    assert bins("--bins", "3", env=env) == bins()


def test_rows_are_numbered_for_people(run, folder):
    write_trace(folder / "many.json", many_names())

    def ranks(text, table):
        rows = text.split(f"\n{table}")[1].split("\n\n")[0].splitlines()[1:]
        first = next(number for number, line in enumerate(rows) if line.lstrip().startswith("# "))
        return [line[:2].strip() for line in rows[first + 2:] if line[0] not in "\u2026("]
    numbers = [str(number) for number in range(1, 13)]
    assert ranks(text_of(run("kernels", "many.json", "--top", "12")), "Kernels") == numbers
    assert ranks(text_of(run("gaps", "many.json", "--top", "12")), "Gaps by the ops around them") == numbers
    table = text_of(run("kernels", "a.json", "--md")).split("### Kernels")[1]
    assert re.findall(r"^\|([^|]*)\|", table, re.MULTILINE) == [" # ", " ---: ", *(f" {rank} " for rank in "1234")]
    for args in (["a.json"], ["kernels", "a.json", "--columns", "name,count"]):
        assert not re.search(r"^ *# ", text_of(run(*args)), re.MULTILINE), args
    assert "#" not in text_of(run("kernels", "a.json", "--csv"))
    for width in (20, 24, 30, 40, 60):
        text = text_of(run("kernels", "many.json", "--width", str(width)))
        assert max(map(len, text.splitlines())) <= width


# ---- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, start", [("out.json", "{"), ("out.csv", "input,device,"), ("out.md", "#"), ("OUT.JSON", "{")])
def test_suffix_decides_the_format(run, folder, name, start):
    assert not text_of(run("a.json", "-o", name))
    assert (folder / name).read_text().startswith(start)


def test_format_wins_over_the_suffix(run, folder):
    assert not text_of(run("a.json", "--json", "-o", "out.txt"))
    assert json.loads((folder / "out.txt").read_text())["command"] == "summary"


def test_unknown_suffix_is_refused(run, folder):
    message = error_of(run("a.json", "-o", "report.docx"), USAGE)
    assert "'report.docx'" in message and "--format" in message
    assert not (folder / "report.docx").exists()
    assert not text_of(run("a.json", "-o", "report.docx", "--format", "json"))


def test_kernel_list_as_the_older_tool_wrote_it(run, folder):
    printed = text_of(run("kernels", "a.json", "--top", "1"))
    for name in ("list.txt", "list"):
        assert text_of(run("kernels", "a.json", "--top", "1", "-o", name)) == printed
        assert names_in((folder / name).read_text()) == list(NAMES), "the list has every kernel"
    assert names_in(printed) == ["alpha"]


def test_kernel_list_by_suffix(run, folder):
    assert names_in(text_of(run("kernels", "a.json", "-o", "list.csv"))) == list(NAMES)
    assert len((folder / "list.csv").read_text().splitlines()) == len(NAMES) + 1
    assert json.loads(text_of(run("kernels", "a.json", "--json", "-o", "list.md")))["command"] == "kernels"
    assert "|" in (folder / "list.md").read_text()


@pytest.mark.parametrize("name", ["list.txt", "list.csv", "list.md", "list.json", "tables/"])
def test_files_beside_the_table_have_every_row(run, folder, name):
    write_trace(folder / "many.json", many_names())
    for command, table, cut in (("kernels", "kernels", ["--top", "1"]), ("gaps", "transitions", ["--top", "1"]),
                                ("gaps", "transitions", ["--gap-top", "1"])):
        text_of(run(command, "many.json", *cut, "-o", name))
        path = folder / name / f"{table}.csv" if name.endswith("/") else folder / name
        assert set(re.findall(r"kernel_\d\d", path.read_text())) == set(many_names()), (command, cut)
    printed = text_of(run("kernels", "many.json", "--top", "1", "--csv", "-o", "list"))
    assert len(printed.splitlines()) == 2 and len((folder / "list").read_text().splitlines()) == 31
    assert not text_of(run("many.json", "--top", "1", "-o", "summary.json"))
    assert len(json.loads((folder / "summary.json").read_text())["tables"]["kernels"]["rows"]) == 1


def test_gap_report_file(run, folder):
    assert "alpha" in text_of(run("kernels", "a.json", "--gap-output", "gaps.txt"))
    assert not text_of(run("gaps", "a.json", "-q", "-o", "same.txt"))
    report = (folder / "gaps.txt").read_text()
    assert "alpha_kernel" in report and report == (folder / "same.txt").read_text()
    assert not text_of(run("gaps", "a.json", "-q", "--gap-output", "gaps.json"))
    assert json.loads((folder / "gaps.json").read_text())["command"] == "gaps"
    assert not text_of(run("gaps", "--per", "device", "a.json", "-q", "-o", "device.txt"))
    assert (folder / "device.txt").read_text()


def test_gap_file_has_only_the_gaps(run, folder):
    gaps = {"streams", "stream_gaps", "histogram", "transitions"}
    expected = text_of(run("gaps", "a.json", "--csv"))
    for args in ([], ["--gap-top", "1"], ["--columns", "name,count"], ["--table", "kernels"], ["-q"]):
        done = run("kernels", "a.json", *args, "--gap-output", "g.csv")
        assert names_in(text_of(done)) == ([] if args == ["-q"] else list(NAMES)), args
        assert (folder / "g.csv").read_text() == expected, args
        text_of(run("kernels", "a.json", *args, "--gap-output", "g.json"))
        assert set(json.loads((folder / "g.json").read_text())["tables"]) == gaps, args
        text_of(run("kernels", "a.json", *args, "--gap-output", "g.md"))
        markdown = (folder / "g.md").read_text()
        assert "### Gaps by the ops around them" in markdown and "### Kernels" not in markdown, args
        text_of(run("kernels", "a.json", *args, "--gap-output", "g/"))
        assert {path.stem for path in (folder / "g").iterdir()} == gaps, args
    text_of(run("kernels", "a.json", "-o", "k.csv", "--gap-output", "g.csv"))
    assert (folder / "k.csv").read_text() == text_of(run("kernels", "a.json", "--csv"))
    text_of(run("gaps", "a.json", "--columns", "from,count", "--gap-output", "g.csv"))
    assert (folder / "g.csv").read_text().startswith("from,count\n")
    assert text_of(run("kernels", "a.json", "--gaps", "--csv")) == text_of(run("kernels", "a.json", "--csv"))


def test_two_outputs_are_two_files(run, folder):
    (folder / "there.csv").write_text("old")
    os.symlink("there.csv", folder / "link.csv")
    os.link(folder / "there.csv", folder / "twin.csv")
    (folder / "tables").mkdir()
    pairs = [("x.csv", "x.csv"), ("x.csv", "./x.csv"), ("x.csv", "tables/../x.csv"), ("there.csv", "link.csv"),
             ("there.csv", "twin.csv"), ("tables/", "tables/transitions.csv"), ("new/", "./new/"),
             ("tables/", "tables//"), ("tables/kernels.csv", "tables/")]
    for output, gap_output in pairs:
        message = error_of(run("kernels", "a.json", "-o", output, "--gap-output", gap_output), USAGE)
        assert f"'{output}'" in message and f"'{gap_output}'" in message
    assert (folder / "there.csv").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == ["a.json", "link.csv", "tables", "there.csv", "twin.csv"]
    for output, gap_output in [("x.csv", "y.csv"), ("/dev/null", "/dev/null"), ("tables/", "tables/gaps.txt")]:
        text_of(run("kernels", "a.json", "-o", output, "--gap-output", gap_output))


@pytest.mark.parametrize("name, args", [("kernels", ["kernels", "-o"]), ("transitions", ["gaps", "-o"]),
                                        ("accounting", ["-o"]), ("transitions", ["kernels", "--gap-output"])])
def test_traces_in_an_output_folder_are_never_overwritten(gputime, run, folder, name, args):
    before = (folder / "a.json").read_bytes()
    (folder / "d").mkdir()
    trace = folder / "d" / f"{name}.csv"
    os.link(folder / "a.json", trace)
    for path in (f"d/{name}.csv", f"d/../d/{name}.csv", "a.json"):
        assert f"'d/{name}.csv' is a trace" in error_of(run("-q", *args, "d/", path), USAGE)
    done = subprocess.run(["bash", "-c", f'"{gputime.binary}" -q {" ".join(args)} d/ - < a.json'], cwd=folder,
                          env=gputime.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert f"'d/{name}.csv' is a trace" in error_of(done, USAGE)
    assert trace.read_bytes() == before and len(list((folder / "d").iterdir())) == 1

    trace.rename(folder / "d" / "trace.csv")
    assert not text_of(run("-q", *args, "d/", "d/trace.csv"))
    assert (folder / "d" / "trace.csv").read_bytes() == before and trace.read_bytes() != before


def test_traces_are_never_overwritten(run, folder):
    before = (folder / "a.json").read_bytes()
    os.link(folder / "a.json", folder / "link.json")
    for name in ("a.json", "./a.json", "link.json"):
        for args in (["-o", name], ["kernels", "-o", name], ["gaps", "--gap-output", name]):
            assert "trace" in error_of(run(*args[:-2], "a.json", *args[-2:]), USAGE)
    assert (folder / "a.json").read_bytes() == before


def test_files_of_one_capture(run, folder):
    """Files that share the name before a report's go to one reader, and the one for JSON takes no second file. Only CSVs
    are reports."""
    for name in ("x_cuda_gpu_trace.csv", "y_cuda_gpu_trace.csv", "x_nvtx_sum.csv", "x_nvtx_sum.json"):
        write_trace(folder / name)
    names = ["x_cuda_gpu_trace.csv", "a.json", "y_cuda_gpu_trace.csv", "x_nvtx_sum.json"]
    report = json.loads(text_of(run("--json", *names)))
    assert [os.path.basename(entry["path"]) for entry in report["inputs"]] == names
    done = run("x_cuda_gpu_trace.csv", "a.json", "x_nvtx_sum.csv")
    assert done.returncode == FAILED and b"not 2" in done.stderr and b"a.json" in done.stdout


def test_closed_pipe_is_quiet(gputime, folder):
    read_end, write_end = os.pipe()
    os.close(read_end)
    for args in (["a.json"], ["kernels", "a.json", "--json"], ["--help"], ["--print-man"]):
        done = gputime(*args, cwd=folder, stdout=write_end)
        assert done.returncode == FAILED and done.stderr == b"", args
    os.close(write_end)


def test_closed_standard_output(gputime, folder):
    for args in ("--help", "a.json", "kernels a.json -o k.txt"):
        done = subprocess.run(["bash", "-c", f'"{gputime.binary}" {args} >&-'], cwd=folder, env=gputime.environment,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        assert done.returncode == FAILED and done.stderr.startswith(b"gputime: "), args
    assert names_in((folder / "k.txt").read_text()) == list(NAMES)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_writing_leaves_nothing(gputime, folder, number):
    """The old file stays, the temporary goes, and the program ends by the signal."""
    names = [f"kernel_{index:06}_{'x' * 100}" for index in range(20000)]
    events = [op(name, 10 * index, 5, 7) for index, name in enumerate(names)]
    (folder / "large.json").write_text(json.dumps({"traceEvents": events}))
    (folder / "out").mkdir()
    (folder / "out" / "list.json").write_text("old")
    for _ in range(20):  # the program may be done before the signal arrives
        program = subprocess.Popen([gputime.binary, "kernels", "-q", "large.json", "-o", "out/list.json"], cwd=folder,
                                   env=gputime.environment, stderr=subprocess.PIPE)
        while program.poll() is None and len(os.listdir(folder / "out")) == 1:
            pass
        program.send_signal(number)
        assert program.communicate(timeout=60)[1] == b""
        assert os.listdir(folder / "out") == ["list.json"]
        if program.returncode == -number:
            break
        assert program.returncode == 0
        (folder / "out" / "list.json").write_text("old")
    assert program.returncode == -number
    assert (folder / "out" / "list.json").read_text() == "old"


def test_ignored_signals_stay_ignored(gputime, folder):
    os.mkfifo(folder / "pipe.json")
    program = subprocess.Popen(["nohup", gputime.binary, "kernels", "-q", "--no-cache", "pipe.json", "-o", "list.csv"], cwd=folder,
                               env=gputime.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    with open(folder / "pipe.json", "wb") as pipe:  # the program has opened it now
        program.send_signal(signal.SIGHUP)
        pipe.write((folder / "a.json").read_bytes())
    assert program.wait(timeout=60) == 0 and (folder / "list.csv").exists()


# ---- the terminal -----------------------------------------------------------------------------------------------------


def on_terminal(gputime, folder, *args, columns=100, **env):
    """What the program writes to a terminal of that width."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    program = subprocess.Popen([gputime.binary, *args], cwd=folder, stdin=subprocess.DEVNULL, stdout=terminal,
                               stderr=subprocess.PIPE, env=gputime.environment | {"TERM": "xterm"} | env)
    os.close(terminal)
    output = b""
    while select.select([master], [], [], 60)[0]:
        try:
            output += os.read(master, 65536)
        except OSError:
            break
    os.close(master)
    assert program.communicate(timeout=60)[1] == b"" and program.returncode == 0
    return output.decode()


def test_width_of_the_terminal(gputime, folder):
    write_trace(folder / "long.json", [f"{name}_kernel_{'x' * 150}" for name in NAMES])

    def widest(text):
        return max(len(line.rstrip()) for line in text.splitlines())
    for columns in (60, 100, 140):
        text = on_terminal(gputime, folder, "kernels", "long.json", columns=columns, NO_COLOR="1")
        assert columns - 25 <= widest(text) <= columns
    assert widest(on_terminal(gputime, folder, "kernels", "long.json", "--width", "90", NO_COLOR="1")) <= 90
    assert widest(text_of(gputime("kernels", "long.json", cwd=folder, env={"COLUMNS": "200"}))) <= 80


def test_color(gputime, folder):
    assert "\033[" in on_terminal(gputime, folder, "kernels", "a.json")
    assert "\033[" not in on_terminal(gputime, folder, "kernels", "a.json", NO_COLOR="1")
    assert "\033[" in on_terminal(gputime, folder, "kernels", "a.json", NO_COLOR="")
    assert "\033[" not in on_terminal(gputime, folder, "kernels", "a.json", TERM="dumb")
    assert "\033[" not in on_terminal(gputime, folder, "kernels", "a.json", "--color", "never")
    assert "\033[" in on_terminal(gputime, folder, "kernels", "a.json", "--color=always", NO_COLOR="1")
    assert b"\033[" not in gputime("kernels", "a.json", cwd=folder).stdout
    assert b"\033[" in gputime("kernels", "a.json", "--color", "always", cwd=folder).stdout


def test_progress_of_long_reading(gputime, folder):
    """A slow pipe takes long: standard error shows a line, and it is erased at the end."""
    trace = json.dumps({"traceEvents": [op("alpha", 10 * number, 5, 7) for number in range(40000)]}).encode()

    def errors_on_terminal(*args, path="slow.json"):
        os.mkfifo(folder / path)
        master, terminal = pty.openpty()
        program = subprocess.Popen([gputime.binary, "--no-cache", path, *args], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=terminal,
                                   env=gputime.environment | {"TERM": "xterm"})
        os.close(terminal)
        with open(folder / path, "wb") as pipe:
            for part in range(8):
                pipe.write(trace[part * len(trace) // 8:(part + 1) * len(trace) // 8])
                pipe.flush()
                time.sleep(0.12)
        os.unlink(folder / path)
        assert program.wait(timeout=60) == 0
        try:
            shown = os.read(master, 65536).decode()
        except OSError:
            shown = ""
        os.close(master)
        return shown
    shown = errors_on_terminal()
    assert "reading slow.json " in shown and "MB/s" in shown and "\n" not in shown and shown.endswith("\r\033[K")
    shown = errors_on_terminal(path="\033]0;title\007.json")
    assert r"reading \x1b]0;title\x07.json " in shown and "\007" not in shown
    shown = errors_on_terminal("a.json")
    assert "reading 2 traces " in shown and "slow.json" not in shown and shown.endswith("\r\033[K")
    assert errors_on_terminal("--quiet") == ""


# ---- settings ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def config(folder):
    path = folder / "config" / "gputime" / "config"
    path.parent.mkdir(parents=True)
    return path


def test_configuration_file(run, config):
    config.write_text("# how I like it\n\n  top = 2   # rows\nformat=csv\nnames = short\ngap_top = 5\n")
    env = {"XDG_CONFIG_HOME": str(config.parents[1])}
    assert len(rows_of(run("kernels", "a.json", env=env))) == 2
    assert len(rows_of(run("kernels", "a.json", "--top", "3", env=env))) == 3, "the command line wins"
    assert "transitions" not in json.loads(text_of(run("kernels", "a.json", "--json", env=env)))["tables"]
    assert run("cache", "show", env=env).returncode == 0, "what a command does not take is left out"


def test_settings_are_for_the_commands_that_take_them(run, config):
    env = {"XDG_CONFIG_HOME": str(config.parents[1])}
    expected = text_of(run("list", "inputs"))
    config.write_text("format = csv\ntop = 2\nquiet = yes\nper = device\ntree = yes\n")
    assert text_of(run("list", "inputs", env=env)) == expected
    assert text_of(run("list", "inputs", "--json", env=env)).startswith("{")
    assert len(rows_of(run("kernels", "a.json", "--quiet=no", env=env))) == 2
    assert not text_of(run("gaps", "a.json", env=env))
    config.write_text("format = json\n")
    assert text_of(run("list", "inputs", env=env)).startswith("{")
    assert text_of(run("kernels", "a.json", "--csv", env=env)) == text_of(run("kernels", "a.json", "--csv"))
    config.write_text("per = planet\n")
    assert "'planet'" in error_of(run("kernels", "a.json", env=env), USAGE), "a bad line is told wherever it is read"
    assert text_of(run("help", env=env)) and text_of(run("version", env=env))


def test_configuration_file_in_the_home_folder(run, folder):
    path = folder / ".config" / "gputime" / "config"
    path.parent.mkdir(parents=True)
    path.write_text("quiet = yes\n")
    assert not text_of(run("a.json", env={"XDG_CONFIG_HOME": "", "HOME": str(folder)}))
    assert text_of(run("a.json", "--quiet=no", env={"XDG_CONFIG_HOME": "", "HOME": str(folder)}))


@pytest.mark.parametrize("line, words", [
    ("tpo = 3", ["'tpo'", "did you mean 'top'"]),
    ("top = many", ["'top'", "'many'"]),
    ("top", ["'top'", "needs a value"]),
    ("unit = hours", ["'hours'"]),
    ("strict = perhaps", ["'strict'", "yes or no"]),
    ("help = yes", ["'help'"]),
    ("= 3", ["''"]),
])
def test_bad_line_of_the_configuration_file(run, config, line, words):
    config.write_text(f"width = 80\n{line}\n")
    env = {"XDG_CONFIG_HOME": str(config.parents[1])}
    message = error_of(run("a.json", env=env), USAGE)
    assert f"{config}:2: " in message
    for word in words:
        assert word in message, message
    assert text_of(run("--help", env=env)), "help works whatever the settings are"


def test_configuration_file_that_is_none(run, config):
    env = {"XDG_CONFIG_HOME": str(config.parents[1])}
    config.mkdir()
    assert str(config) in error_of(run("a.json", env=env), FAILED)
    config.rmdir()
    config.write_bytes(b"#" * 3_000_000)
    assert str(config) in error_of(run("a.json", env=env), FAILED)


def test_threads_from_the_environment(run):
    assert "GPUTIME_THREADS" in error_of(run("a.json", env={"GPUTIME_THREADS": "all"}), USAGE)
    assert "'--threads'" in error_of(run("list", "inputs", "--threads", "2", env={"GPUTIME_THREADS": "2"}), USAGE)
    assert text_of(run("list", "inputs", env={"GPUTIME_THREADS": "2"}))
    assert text_of(run("a.json", env={"GPUTIME_THREADS": "2"})) == text_of(run("a.json", env={"GPUTIME_THREADS": ""}))


def test_cache_can_be_off(run, folder):
    env = {"GPUTIME_CACHE": "off"}
    os.utime(folder / "a.json", (1e9, 1e9))
    assert text_of(run("cache", "show", env=env)) == "the cache is off (GPUTIME_CACHE=off)\n"
    assert "off" in error_of(run("cache", "clear", env=env), FAILED)
    assert text_of(run("a.json", "--cache-after", "0s", env=env))
    assert not (folder / "off").exists()
    text_of(run("a.json", "--cache-after", "0s", env={"GPUTIME_CACHE": "./off"}))
    assert "1 trace" in text_of(run("cache", "show", env={"GPUTIME_CACHE": "./off"}))


# ---- help and what is generated ---------------------------------------------------------------------------------------


def options_of(help_text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", help_text))


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_one_screen(run, command):
    args = [command] if command else []
    text = text_of(run(*args, "--help"))
    assert text == text_of(run("help", *args))
    assert text == text_of(run(*args, "-h", "no-such-file"))
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= (50 if not command else 40)
    assert "Usage: gputime" in text
    assert "Example" in text


@pytest.mark.parametrize("command", ["", *COMMANDS, "ranges", "findings", "steps"])
def test_columns_of_the_help_stand_apart(run, command):
    text = text_of(run(*([command] if command else []), "--help"))
    text = re.split("\nCommon options|\nOthers|\nExample", text)[0]
    lines = [line for line in text.splitlines() if re.match("  +(-|[a-z]+  )", line)]
    assert len(lines) >= (25 if not command else 0)
    for line in lines:
        assert re.fullmatch(r"(  -[a-zA-Z], |      )--[a-z-]+( \S+)?(  +\S.*)?|  [a-z]+  +\S.*", line), line
        if line[28:].strip() and "--" in line[:28]:
            assert line[26:28] == "  " and line[28] != " ", line


def test_help_says_what_columns_are_for(run):
    line = re.search(r"--columns .*", text_of(run("--help")))[0]
    assert all(word in line for word in ("text", "Markdown", "CSV"))


def test_help_names_every_command(run):
    text = text_of(run("--help"))
    for command in set(COMMANDS) - {"help", "version"}:  # these two are in the list of options
        assert re.search(rf"^  {command} ", text, re.MULTILINE), command
    assert {"--help", "--version"} <= options_of(text)


def test_help_of_kernels_names_the_options_of_the_older_tool(run):
    expected = {"--top", "--sort", "--step", "--pstep", "--verbose", "--output", "--gaps", "--gap-output", "--gap-top",
                "--gap-sort", "--hist", "--bins", "--hist-min", "--hist-max", "--launches", "--names"}
    text = text_of(run("kernels", "--help"))
    assert expected <= options_of(text)
    for letter in "tosvg":
        assert f"-{letter}, --" in text


def test_every_option_in_the_help_is_taken(run):
    for command in REPORTS:
        for option in options_of(text_of(run(command, "--help"))) | options_of(text_of(run("--help"))):
            done = run(command, "a.json", option + "=")
            assert b"unknown option" not in done.stderr, (command, option)


def test_version(run):
    header = (ROOT / "include/gputime.h").read_text()
    version = re.search(r'GPUTIME_VERSION "(.*)"', header)[1]
    for args in (["--version"], ["-V"], ["version"], ["kernels", "--version"]):
        assert text_of(run(*args)) == f"gputime {version}\n"


def test_manual_page_is_current(run):
    made = text_of(run("--print-man"))
    assert made == (ROOT / "docs/gputime.1").read_text(), "run: build/gputime --print-man > docs/gputime.1"


def test_manual_page_is_whole(run):
    page = text_of(run("--print-man")).replace("\\-", "-")
    for option in options_of(text_of(run("--help"))) | options_of(text_of(run("kernels", "--help"))):
        assert option in page, option
    for command in COMMANDS:
        assert f'.SS "gputime {command}' in page
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES",
                    "EXAMPLES"):
        assert f"\n.SH {heading}\n" in page
    assert "print-man" not in page.split("\n", 1)[1]


def test_lists_in_json_have_the_shape_of_reports(run):
    for name in ("inputs", "analyses", "outputs", "categories"):
        report = json.loads(text_of(run("list", name, "--json")))
        assert report["command"] == "list" and report["inputs"] == []
        table = report["tables"][name]
        assert [column["key"] for column in table["columns"]] == ["key", "title", "detail"]
        assert table["rows"] and all(row["key"] and row["title"] for row in table["rows"])


def test_examples_of_the_help_parse(run, folder):
    for command in REPORTS:
        for line in re.findall(r"^  gputime (.*)$", text_of(run(command, "--help")), re.MULTILINE):
            words = ["a.json" if re.match(r"(trace|profile)\.", word) else word for word in line.split()]
            text_of(run(*words))


# ---- completions ------------------------------------------------------------------------------------------------------


def complete(script, folder, *words):
    """What bash offers for the last of the words."""
    driver = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gputime; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", driver, "driver", script, "gputime", *words], cwd=folder, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert not done.stderr
    return set(done.stdout.split("\n")) - {""}


@pytest.fixture
def bash_script(run, folder):
    (folder / "scripts").mkdir()
    script = folder / "scripts" / "gputime.bash"
    script.write_text(text_of(run("--print-completion", "bash")))
    return script


def test_bash_completes_commands_and_files(bash_script, folder):
    (folder / "kern trace.json").touch()
    assert complete(bash_script, folder, "kern") == {"kernels", "kern trace.json"}
    assert complete(bash_script, folder, "kernels", "kern") == {"kern trace.json"}
    assert set(COMMANDS) <= complete(bash_script, folder, "")
    assert complete(bash_script, folder, "--top", "3", "a") == {"a.json"}


def test_bash_completes_options_of_the_command(run, bash_script, folder):
    for command in REPORTS:
        offered = complete(bash_script, folder, command, "--")
        listed = options_of(text_of(run(command, "--help")).split("Example")[0])
        assert listed - offered <= {"--pstep", "--limit"}, command
        assert not {option for option in offered if "print" in option}
    assert "--per" in complete(bash_script, folder, "gaps", "--p")
    assert "--per" not in complete(bash_script, folder, "kernels", "--p")
    assert "--gaps" not in complete(bash_script, folder, "--g")
    assert complete(bash_script, folder, "cache", "-") == {"--help", "--version"}


def test_bash_completes_values(run, bash_script, folder):
    assert complete(bash_script, folder, "kernels", "--unit", "") == {"auto", "ns", "us", "ms", "s"}
    assert complete(bash_script, folder, "kernels", "--unit", "=", "m") == {"ms"}
    assert complete(bash_script, folder, "kernels", "--unit", "=") == {"auto", "ns", "us", "ms", "s"}
    assert complete(bash_script, folder, "kernels", "-s", "dur") == {"duration", "duration-percentage"}
    assert complete(bash_script, folder, "gaps", "--gap-sort", "max") == {"max", "maxgap"}
    assert complete(bash_script, folder, "a.json", "-o", "a") == {"a.json"}
    assert complete(bash_script, folder, "a.json", "--top", "") == set()
    assert complete(bash_script, folder, "list", "") == {"inputs", "analyses", "outputs", "categories", "engines", "rules"}
    assert complete(bash_script, folder, "help", "k") == {"kernels"}
    formats = {row["key"] for row in json.loads(text_of(run("list", "outputs", "--json")))["tables"]["outputs"]["rows"]}
    assert complete(bash_script, folder, "--format", "") == formats
    tables = ",".join(row["detail"] for row in json.loads(text_of(run("list", "analyses", "--json")))
                      ["tables"]["analyses"]["rows"] if row["detail"])
    assert complete(bash_script, folder, "--table", "") == set(tables.split(","))


def test_bash_completes_an_option_by_its_command(bash_script, folder):
    assert complete(bash_script, folder, "gaps", "--per", "") == {"stream", "device"}
    assert complete(bash_script, folder, "diff", "--per", "") == {"step", "range", "launch", "none"}
    assert "idle_causes" in complete(bash_script, folder, "diff", "--of", "idle")


def entries_of(text, option):
    """The lines of a help or of a manual page (without its escapes) on an option, in one."""
    in_help = rf"^  (?:-\w, |    ){option}\b.*(?:\n {{28}}.*)*"
    in_manual = rf"^\.TP\n.*{option}\b.*(?:\n(?!\.).*)*"
    return " ".join(re.findall(f"{in_help}|{in_manual}", text, re.MULTILINE))


# 'gputime list' names the tables and categories, and the help says so.
@pytest.mark.parametrize("option, commands, choices", [row for row in options_of_commands() if row[2] and row[0] not in
                                                       ("--table", "--of", "--category")], ids=str)
def test_every_value_of_an_option_is_in_help_manual_and_completions(run, bash_script, folder, option, commands, choices):
    manual = entries_of(re.sub(r"\\f[BIR]", "", text_of(run("--print-man")).replace("\\-", "-")), option)
    general = entries_of(text_of(run("--help")), option)
    zsh = text_of(run("--print-completion", "zsh"))
    told = general + manual
    for command in commands:
        help_of_command = text_of(run(command, "--help"))
        own = entries_of(help_of_command, option)
        if "as --gap-sort" in own:
            own += entries_of(help_of_command, "--gap-sort")
        told += own
        offered = complete(bash_script, folder, command, option, "")
        assert offered == set(choices), (command, offered)
        if option in help_of_command and own and not general:  # explained here alone
            assert all(re.search(rf"\b{choice}\b", own) for choice in choices), (command, own)
    for choice in choices:
        assert re.search(rf"\b{choice}\b", told), (choice, told)
        if option != "--sort":  # its names are those of a command's own table
            assert re.search(rf"\b{choice}\b", manual), (choice, manual)
        assert re.search(rf"{option}=.*\b{choice}\b", zsh), choice


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_everything(run, shell):
    script = text_of(run("--print-completion", shell))
    names = options_of(text_of(run("--help"))) | options_of(text_of(run("kernels", "--help")).split("Example")[0])
    for option in names - {"--print-man"}:
        bare = option.removeprefix("--")
        wanted = rf"-l {bare}\b" if shell == "fish" else rf"--{bare}\b"
        assert re.search(wanted, script), option
    for command in COMMANDS:
        assert command in script
    assert "print-man" not in script
    assert script.count("'") % 2 == 0 or "\\'" in script


def test_unknown_shell(run):
    message = error_of(run("--print-completion", "tcsh"), USAGE)
    assert "bash" in message and "zsh" in message and "fish" in message
