"""What make does with the system and the user's flags: it installs nothing, names what is missing, keeps its own flags."""

import os
import re
import subprocess

import pytest

from building import SONAME, make, run_make
from conftest import ROOT, find_binary

OBJECT = "obj/lib/base/str.o"  # of a small file


def settings_of(build):
    lines = (line.partition(":=") for line in (build / "config.mk").read_text().splitlines())
    return {name.strip(): value.split() for name, _, value in lines}


@pytest.fixture
def marks(tmp_path):
    """Programs that install things, replaced by ones that leave a mark; the environment that finds them first."""
    folder, mark = tmp_path / "bin", tmp_path / "mark"
    folder.mkdir()
    for name in ("apt", "apt-get", "dpkg", "sudo", "npm", "npx", "node"):
        (folder / name).write_text(f'#!/bin/sh\necho {name} >> "{mark}"\nexit 1\n')
        (folder / name).chmod(0o755)

    def called():
        return mark.read_text().split() if mark.exists() else []

    return {"PATH": f"{folder}:{os.environ['PATH']}"}, called


def test_building_installs_nothing(marks, tmp_path):
    environment, called = marks
    everything = make("-n", f"BUILD={tmp_path}/dry", env=environment)
    assert "-o " + str(tmp_path / "dry/gputime") in everything
    assert not re.search(r"\b(apt|apt-get|sudo|npm|node|setup\.sh)\b", everything)
    make(f"BUILD={tmp_path}/one", tmp_path / "one" / OBJECT, tmp_path / "one/obj/lib/write/page.o", env=environment)
    assert (tmp_path / "one" / OBJECT).exists() and called() == []


def test_setting_up_installs_what_users_need(tmp_path):
    """On a system with no packages: the build's, and neither Node nor npm."""
    for name, text in (("dpkg-query", "exit 1"), ("sudo", 'exec "$@"'), ("apt-get", f'echo "$@" >> {tmp_path}/asked')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    make("setup", env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    asked = (tmp_path / "asked").read_text().split()
    assert {"gcc", "make", "libzstd-dev", "libsqlite3-dev", "libisal-dev"} <= set(asked)
    assert not {"nodejs", "npm", "chromium", "clang"} & set(asked)


@pytest.mark.parametrize("headers, packages", [
    (["zstd.h"], ["libzstd-dev"]),
    (["sqlite3.h", "xxhash.h"], ["libsqlite3-dev", "libxxhash-dev"]),
    (["isa-l.h", "zlib.h"], ["libisal-dev", "zlib1g-dev"]),
])
def test_what_is_missing_is_named(marks, tmp_path, headers, packages):
    environment, called = marks
    for header in headers:
        (tmp_path / header).write_text("#error missing\n")
    done = run_make("-n", f"BUILD={tmp_path}/build", f"CPPFLAGS=-I{tmp_path}", env=environment)
    assert done.returncode != 0 and "make setup" in done.stdout
    assert re.findall(r"[\w.-]+-dev\b", done.stdout) == packages
    assert called() == []


def test_a_compiler_that_is_missing_is_named(tmp_path):
    done = run_make(f"BUILD={tmp_path}/build", "CC=no-such-compiler")
    assert done.returncode != 0 and "no-such-compiler" in done.stdout and "make setup" in done.stdout


FLAGS = {"CFLAGS": "-O3 -funroll-loops", "CPPFLAGS": "-DUSER=1", "LDFLAGS": "-Wl,-O1", "LDLIBS": "-lrt"}


@pytest.mark.parametrize("is_environment", [False, True], ids=["arguments", "environment"])
def test_flags_of_the_user_follow_our_own(tmp_path, is_environment):
    build = tmp_path / "build"
    arguments = [] if is_environment else [f"{name}={value}" for name, value in FLAGS.items()]
    lines = make("-n", f"BUILD={build}", *arguments, env=FLAGS if is_environment else None).splitlines()
    compiled = next(line for line in lines if line.endswith(f" lib/base/str.c")).split()
    own = ["-std=c17", "-fPIC", "-fvisibility=hidden", "-pthread", "-Iinclude", "-D_GNU_SOURCE", "-O2", "-Wconversion"]
    user = ["-DUSER=1", "-O3", "-funroll-loops"]
    assert max(map(compiled.index, own)) < min(map(compiled.index, user))
    for target in ("gputime", SONAME):
        linked = next(line for line in lines if f" -o {build}/{target} " in line).split()
        assert linked.index("-O2") < linked.index("-O3") and "-Wl,-O1" in linked
        assert linked.index("-lsqlite3") < linked.index("-lrt") == len(linked) - 1


def test_other_flags_build_again(tmp_path):
    build = f"BUILD={tmp_path}"
    make(build, tmp_path / OBJECT)
    assert run_make("-q", build, tmp_path / OBJECT).returncode == 0
    for other in ("CFLAGS=-O1", "CC=cc"):
        assert run_make("-n", build, other, tmp_path / OBJECT).stdout.count("lib/base/str.c") == 1, other
        make(build, tmp_path / OBJECT)


def test_hardening_fits_the_flags(tmp_path):
    """_FORTIFY_SOURCE needs optimisation, and may be the user's own; HARDEN=0 has none of it."""
    def settings(*args):
        make(f"BUILD={tmp_path}", *args, tmp_path / "config.mk")
        return settings_of(tmp_path)

    usual = settings()
    assert any("_FORTIFY_SOURCE" in word for word in usual["CONFIG_HARDEN_MACROS"])
    assert {"-fstack-protector-strong", "-fstack-clash-protection"} <= set(usual["CONFIG_HARDEN_CODE"])
    assert {"-Wl,-z,relro", "-Wl,-z,now"} <= set(usual["CONFIG_HARDEN_LINK"]) and "-pie" in usual["CONFIG_HARDEN_PROGRAM"]
    assert settings("CFLAGS=-O0")["CONFIG_HARDEN_MACROS"] == []
    assert "-U_FORTIFY_SOURCE" not in make("-n", f"BUILD={tmp_path}", "CPPFLAGS=-D_FORTIFY_SOURCE=1", tmp_path / OBJECT)
    assert all(not values for name, values in settings("HARDEN=0").items() if "HARDEN" in name)


def elf(*args):
    return subprocess.run(["readelf", "-W", *map(str, args)], stdout=subprocess.PIPE, text=True, check=True).stdout


def test_program_is_hardened(gputime):
    if "-pie" not in settings_of(ROOT / "build").get("CONFIG_HARDEN_PROGRAM", []):
        pytest.skip("built with HARDEN=0")
    program = find_binary("GPUTIME", "build/gputime")
    assert re.search(r"Type:\s+DYN", elf("-h", program)) and "INTERP" in elf("-l", program)
    assert "GNU_RELRO" in elf("-l", program) and re.search(r"FLAGS_1.*NOW.*PIE", elf("-d", program))
    assert "RWE" not in elf("-l", program)
    imports = elf("--dyn-syms", program)
    assert "__stack_chk_fail" in imports and re.search(r"__\w+_chk\b", imports)
    library = elf("-l", "-d", ROOT / "build/libgputime.so")
    assert "GNU_RELRO" in library and "NOW" in library and f"Library soname: [{SONAME}]" in library


def test_every_source_is_built():
    """At any depth."""
    lines = make("-n", "-B", "-o", "build/flags", "-o", "build/config.mk")
    compiled = set(re.findall(r"\b(?:lib|cli)/[\w/]+\.c$", lines, re.MULTILINE))
    assert compiled == {str(path.relative_to(ROOT)) for folder in ("lib", "cli") for path in (ROOT / folder).rglob("*.c")}
