"""What README.md shows is what the program prints: every console block is run and compared."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PROGRAM = re.compile(r"^\$ (?:build/)?gputime\b")


def examples():
    """(line number, command, expected output lines) of each command of the program that README.md shows."""
    readme = ROOT / "README.md"
    if not readme.exists():
        return
    text = readme.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        first_line = text.count("\n", 0, block.start()) + 2
        command, output, place = None, [], 0
        for number, line in enumerate(block[1].splitlines() + ["$ end"], first_line):
            if line.startswith("$ "):
                if command and PROGRAM.match(command):
                    yield place, command[2:], output
                command, output, place = line, [], number
            elif command and command.endswith("\\") and not output:
                command = command[:-1] + line.strip()
            else:
                output.append(line)


def matches(expected, actual):
    """Line by line; a line of three dots stands for any number of lines."""
    if not expected:
        return not actual
    if expected[0].strip() == "...":
        return any(matches(expected[1:], actual[skip:]) for skip in range(len(actual) + 1))
    return bool(actual) and expected[0].rstrip() == actual[0].rstrip() and matches(expected[1:], actual[1:])


def test_readme_shows_the_program():
    assert any(True for _ in examples()), "README.md has no console block that runs gputime"


@pytest.mark.parametrize("place, command, expected", examples(), ids=lambda value: str(value)[:50])
def test_example(gputime, tmp_path, place, command, expected):
    # Output files of the examples must not land in the repository: run in a folder that only looks like it.
    for name in ("tests", "docs", "README.md"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "build").mkdir()
    (tmp_path / "build/gputime").symlink_to(gputime.binary)
    path = f"{tmp_path / 'build'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run([shutil.which("bash"), "-c", command], cwd=tmp_path, env=gputime.environment | {"PATH": path},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=120)
    actual = done.stdout.decode("utf-8", "replace").splitlines()
    assert matches(expected, actual), f"README.md:{place}: {command}\nprints\n" + "\n".join(actual)


def test_dots_stand_for_lines():
    assert matches(["a", "...", "d"], ["a", "b", "c", "d"])
    assert matches(["a", "..."], ["a"])
    assert not matches(["a", "...", "d"], ["a", "b"])
    assert not matches(["a"], ["a", "b"])
