"""Options as they are given, on the command line, in a file or in the environment; what is wrong with them is said.

What the options do to the numbers is tested elsewhere; here a tiny trace shows only that they arrive.
"""

import json
import os

import pytest

from commandline import FAILED, NAMES, USAGE, error_of, rows_of, text_of, write_trace


# ---- forms of options ----


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
    for _ in range(5):  # a pipe that is given twice is read once, whoever comes first
        twice = run("kernels", "/dev/stdin", "/dev/stdin", "--csv", "--threads", "4", stdin=trace)
        assert twice.returncode == 1 and b"is empty" in twice.stderr, twice
        assert len(twice.stdout.splitlines()) == 1 + len(NAMES)


def test_a_pipe_that_nobody_writes_keeps_no_error_waiting(run, folder):
    os.mkfifo(folder / "never")
    (folder / "bad.json").write_text("no trace")
    assert "bad.json" in error_of(run("diff", "bad.json", "never", "--threads", "4"), 1)


@pytest.mark.parametrize("args, said", [
    (["-o", "x.md", "-o", "x.json"], "'x.md' and 'x.json'"),
    (["-o", "x.md", "--output=x.json"], "'x.md' and 'x.json'"),
    (["--json", "--csv"], "'json' and 'csv'"),
    (["--format", "md", "--html"], "'md' and 'html'"),
    (["--device", "0", "--device", "1"], "'0' and '1'"),
    (["--name", "a", "--name", "b"], "'a' and 'b'"),
    (["--step", "1", "--pstep", "2"], "'1' and '2'"),
    (["--table", "kernels", "--table", "launches"], "'kernels' and 'launches'"),
    (["--sort", "count", "-s", "name"], "'count' and 'name'"),
    (["--gap-output", "x", "--gap-output", "y"], "'x' and 'y'"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_what_cannot_add_up_is_given_once(run, folder, args, said):
    message = error_of(run("kernels", "a.json", *args), USAGE)
    assert f"{said}" in message and {path.name for path in folder.iterdir()} == {"a.json"}


@pytest.mark.parametrize("args", [
    ["--json", "--json"], ["--json", "--format", "json"], ["-o", "x.csv", "-o", "x.csv"], ["--threads", "1", "--threads", "2"],
    ["--width", "80", "--width", "90"], ["--unit", "ms", "--unit", "us"], ["--cache-after", "1s", "--cache-after", "2s"],
    ["-v", "-v"], ["--color", "never", "--color", "auto"]], ids=" ".join)
def test_what_loses_nothing_may_be_repeated(run, args):
    assert run("kernels", "a.json", *args).returncode == 0


def test_sides_and_units_are_given_once(run):
    twice = ["--per", "range", "x", "--per", "range", "y"]
    assert "'range x' and 'range y'" in error_of(run("diff", "a.json", "a.json", *twice), USAGE)
    assert "'step' and 'none'" in error_of(run("diff", "a.json", "a.json", "--per", "step", "--per", "none"), USAGE)


# ---- what is wrong is said, with what was meant ----


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
    assert error_of(run("kernels", "--html", "page.html"), FAILED) == (
        "gputime: cannot read 'page.html': no such file; to write a page: --html -o page.html\n"
    )
    assert "cannot read './compare'" in error_of(run("./compare"), FAILED)


@pytest.mark.parametrize("args", [["compare"], ["compare", "a.json"], ["compare", "a.json", "b.json", "--json"]], ids=" ".join)
def test_word_that_is_neither_command_nor_file(run, args):
    assert error_of(run(*args), USAGE).startswith("gputime: no command or file 'compare'; ")
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
    assert done.returncode == 0 and f"'{shown}' was only partly read".encode() in done.stderr
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
    (["--table", "nothing"], ["'nothing'", "this command has kernels; see 'gputime list analyses'"]),
    (["--table", "kernel"], ["'kernel'; did you mean 'kernels'? See 'gputime list analyses'"]),
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
    assert "--per is not valid for 'kernels'" in message and "gaps" in message
    assert "--top is" in error_of(run("list", "inputs", "--top", "3"), USAGE)


@pytest.mark.parametrize("args", [["list"], ["list", "things"], ["list", "inputs", "outputs"], ["cache"],
                                  ["cache", "empty"], ["kernels"], ["list", "inputs", "--format", "csv"]], ids=" ".join)
def test_command_with_wrong_words(run, args):
    assert args[0] in error_of(run(*args), USAGE)


def test_no_arguments_show_a_short_help(run):
    done = run()
    assert done.returncode == USAGE and not done.stdout
    assert b"Usage: gputime" in done.stderr and b"--help" in done.stderr
    assert done.stderr.count(b"\n") <= 6


# ---- settings ----


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
    assert "--threads is" in error_of(run("list", "inputs", "--threads", "2", env={"GPUTIME_THREADS": "2"}), USAGE)
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


def test_option_of_many_commands(gputime):
    """The list of those that take it is whole."""
    done = gputime("ranks", "trace.json", "--step", "4")
    assert done.returncode == 2 and b"(only: summary, kernels, " in done.stderr and done.stderr.endswith(b", export, view)\n")


@pytest.mark.parametrize("command", ["check", "diff"])
def test_help_says_what_jobs_refuse(gputime, command):
    text = " ".join(gputime(command, "--help").stdout.decode().split())
    assert "--from, --step, --name and the like are not valid with --ranks." in text
