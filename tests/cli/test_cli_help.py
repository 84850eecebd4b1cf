"""What the table of options becomes: help, manual page, lists and completions of shells."""

import json
import re
import subprocess

import pytest

from commandline import COMMANDS, REPORTS, USAGE, error_of, options_of, text_of
from conftest import ROOT
from test_matrix import options_of_commands


# ---- help and what is generated ----


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_one_screen(run, command):
    args = [command] if command else []
    text = text_of(run(*args, "--help"))
    assert text == text_of(run("help", *args))
    assert text == text_of(run(*args, "-h", "no-such-file"))
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= (56 if not command else 40)
    assert "Usage: gputime" in text
    assert "Example" in text


@pytest.mark.parametrize("command", ["", *COMMANDS, "ranges", "findings", "steps"])
def test_columns_of_the_help_stand_apart(run, command):
    text = text_of(run(*([command] if command else []), "--help"))
    text = re.split("\nCommon options|\nOther options|\nExample", text)[0]
    lines = [line for line in text.splitlines() if re.match("  +(-|[a-z]+  )", line)]
    assert len(lines) >= (25 if not command else 0)
    for line in lines:
        assert re.fullmatch(r"(  -[a-zA-Z], |      )--[a-z-]+( \S+)?(  +\S.*)?|  [a-z]+  +\S.*", line), line
        if line[28:].strip() and "--" in line[:28]:
            assert line[26:28] == "  " and line[28] != " ", line


def test_help_says_what_columns_are_for(run):
    line = re.search(r"--columns .*", text_of(run("--help")))[0]
    assert all(word in line for word in ("text", "Markdown", "CSV"))


def test_help_of_ranks_names_how_to_write_its_report(run):
    assert {"--format", "--json", "--table", "--output"} <= options_of(text_of(run("ranks", "--help")))


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
        first, parts = text_of(run(*args)).splitlines()
        assert first == f"gputime {version}"
        assert re.fullmatch(r"(dynamic|static) build with (ISA-L|zlib) [\d.]+, zstd [\d.]+, (xz [\d.]+|no xz), lz4 [\d.]+, SQLite [\d.]+, "
                            r"PCRE2 [\d.]+, (libmicrohttpd [\d.]+|no server), (no )?page", parts)


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
    for name in ("inputs", "analyses", "outputs", "exports", "categories"):
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


# ---- completions ----


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
    assert complete(bash_script, folder, "list", "") == {"inputs", "analyses", "outputs", "exports", "categories", "engines", "rules"}
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
