"""`make dist` makes a tarball that builds where there is no git."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
from building import AS_BUILT  # noqa: E402

VERSION = re.search(r'#define GPUTIME_VERSION "(.*)"', (ROOT / "include/gputime.h").read_text())[1]


def run(*command, **settings):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **settings)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def tarball():
    return ROOT / run("make", "-s", "-C", ROOT, "dist").strip().splitlines()[-1]


def test_it_has_the_version_and_no_build(tarball):
    with tarfile.open(tarball) as files:
        names = files.getnames()
        assert all(member.uid == 0 and member.mtime == files.getmembers()[0].mtime for member in files.getmembers())
    assert tarball.name == f"gputime-{VERSION}.tar.gz" and all(name.startswith(f"gputime-{VERSION}/") for name in names)
    inside = {name.split("/", 1)[1] for name in names}
    assert {"Makefile", "README.md", "LICENSE", "NOTICE", "include/gputime.h", "cli/main.c", "web/dist/page.html",
            "action.yml", "packaging/skill/SKILL.md", "docs/gputime.1"} <= inside
    assert not any(name.startswith(("build/", ".git/")) or "__pycache__" in name or name.endswith(".o") for name in inside)


def test_it_builds_without_git(tarball, tmp_path):
    run("tar", "-xzf", tarball, "-C", tmp_path)
    folder = tmp_path / f"gputime-{VERSION}"
    (tmp_path / "bin").mkdir()
    for name in ("git",):
        path = tmp_path / "bin" / name
        path.write_text("#!/bin/sh\necho 'there is no git here' >&2\nexit 1\n")
        path.chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "MAKEFLAGS": ""}
    # Objects are taken over, which saves most of the time: make still wants every file that they were made from.
    shutil.copytree(ROOT / "build/obj", folder / "build/obj", copy_function=shutil.copy2)
    for name in ("flags", "config.mk"):
        shutil.copy2(ROOT / "build" / name, folder / "build" / name)
    (folder / "cli/main.c").touch()
    run("make", "-s", "-C", folder, *AS_BUILT, "build/gputime", env=environment)
    assert run(folder / "build/gputime", "version").splitlines()[0] == f"gputime {VERSION}"
    again = folder / run("make", "-s", "-C", folder, "dist", env=environment).strip().splitlines()[-1]
    with tarfile.open(tarball) as first, tarfile.open(again) as second:
        assert sorted(first.getnames()) == sorted(second.getnames())
