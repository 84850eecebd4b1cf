"""`make deb` makes packages that lintian finds nothing in, that install and remove without a trace, and twice the same."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
from building import AS_BUILT, make  # noqa: E402

VERSION = re.search(r'#define GPUTIME_VERSION "(.*)"', (ROOT / "include/gputime.h").read_text())[1]
TRACE = ROOT / "tests/data/overlap.json"
needs_dpkg = pytest.mark.skipif(not shutil.which("dpkg-shlibdeps"), reason="SKIPPED: needs dpkg-dev")
pytestmark = needs_dpkg


def run(*command, **settings):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **settings)
    assert done.returncode == 0, done.stdout
    return done.stdout


def make_packages():
    folder = ROOT / "build/deb"
    shutil.rmtree(folder, ignore_errors=True)
    multiarch = run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
    # Edited files must not change the time in the packages while this runs.
    lines = make("-s", *AS_BUILT, "deb-packages", f"DESTDIR={folder}/stage", "prefix=/usr", f"libdir=/usr/lib/{multiarch}",
                 "OLD_NAMES=", env={"SOURCE_DATE_EPOCH": "1790000000"}).splitlines()  # as `make deb` does, with the build that is there
    return [pathlib.Path(line) for line in lines if line.endswith(".deb")]


@pytest.fixture(scope="module")
def packages():
    return {path.name.split("_")[0]: path for path in make_packages()}


def contents(package):
    return {line.split()[5].removeprefix(".") for line in run("dpkg-deb", "--contents", package).splitlines()}


def test_there_is_a_package_for_each_purpose(packages):
    expected = {"gputime", "gputime-doc", "libgputime-dev", "libgputime" + ".".join(VERSION.split(".")[:2])}
    if (ROOT / "python/gputime").is_dir():
        expected.add("python3-gputime")
    if (ROOT / "build/gputime.so").exists():
        expected.add("libsqlite3-mod-gputime")
    assert set(packages) - {"gputime-mpi"} == expected
    assert all(f"_{VERSION}-" in path.name for path in packages.values())


def test_files_are_where_debian_wants_them(packages):
    program = contents(packages["gputime"])
    assert {"/usr/bin/gputime", "/usr/share/man/man1/gputime.1.gz", "/usr/share/bash-completion/completions/gputime",
            "/usr/share/zsh/vendor-completions/_gputime", "/usr/share/fish/vendor_completions.d/gputime.fish",
            "/usr/share/gputime/skill/SKILL.md", "/usr/share/doc/gputime/copyright"} <= program
    library = next(path for name, path in packages.items() if re.fullmatch(r"libgputime[\d.]+", name))
    assert any(re.fullmatch(r"/usr/lib/[^/]+/libgputime\.so\.[\d.]+", path) for path in contents(library))
    assert {"/usr/include/gputime.h"} <= contents(packages["libgputime-dev"])
    assert "/usr/share/doc/gputime-doc/measures.md" in contents(packages["gputime-doc"])


def test_lintian_finds_nothing(packages):
    if not shutil.which("lintian"):
        pytest.skip("SKIPPED: needs lintian")
    done = subprocess.run(["lintian", "--allow-root", "--fail-on=error,warning", *map(str, packages.values())],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0 and done.stdout.strip() == "", done.stdout


def test_the_same_sources_give_the_same_bytes(packages):
    before = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in packages.values()}
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in make_packages()} == before


def installed():
    return set(run("dpkg-query", "-W", "-f=${Package} ${Status} ${Version}\\n").splitlines())


def files_of_gputime():
    places = ["/usr/bin", "/usr/include", "/usr/lib", "/usr/share/doc", "/usr/share/man/man1", "/usr/share/gputime",
              "/usr/share/bash-completion", "/usr/share/zsh", "/usr/share/fish", "/etc", "/var/lib/dpkg/info"]
    return set(run("find", *[place for place in places if os.path.exists(place)], "-iname", "*gputime*").splitlines())


def test_they_install_and_leave_nothing_behind(packages, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("SKIPPED: only root can install packages")
    names = sorted(packages)
    if any(re.match(rf"({'|'.join(names)})[: ]", line) for line in installed()):
        pytest.skip("SKIPPED: gputime is installed on this machine")
    chosen = [packages[name] for name in names if name != "gputime-mpi"]
    before = installed(), files_of_gputime()
    try:
        run("dpkg", "-i", *chosen)
        environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
        assert run("/usr/bin/gputime", "version").splitlines()[0] == f"gputime {VERSION}"
        assert "Kernels" in run("/usr/bin/gputime", "kernels", TRACE, env=environment)
        (tmp_path / "program.c").write_text('#include <gputime.h>\n#include <stdio.h>\nint main(void) { puts(gputime_version()); }\n')
        run("sh", "-c", f"gcc {tmp_path}/program.c -o {tmp_path}/program $(pkg-config --cflags --libs gputime)")
        assert run(tmp_path / "program").strip() == VERSION
        if "python3-gputime" in packages:
            assert run("/usr/bin/python3", "-c", "import gputime; print(gputime.__file__)", cwd=tmp_path).startswith("/usr/lib/python3")
    finally:
        run("dpkg", "--purge", *[name for name in names if name != "gputime-mpi"])
    assert (installed(), files_of_gputime()) == before


def test_packages_without_their_libraries_are_not_made(tmp_path):
    """Packages that depend on nothing would install everywhere and run nowhere."""
    multiarch = run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
    stage = tmp_path / "stage"
    make("-s", *AS_BUILT, "install", f"DESTDIR={stage}", "prefix=/usr", f"libdir=/usr/lib/{multiarch}", "OLD_NAMES=")
    [soname] = [path.name for path in (stage / f"usr/lib/{multiarch}").glob("libgputime.so.*") if not path.is_symlink()]
    library = stage / f"usr/lib/{multiarch}" / soname
    kept = library.read_bytes()
    stub = tmp_path / "bin/dpkg-shlibdeps"
    stub.parent.mkdir()
    for script, words in (("echo broken >&2; exit 1", "broken"), ("exit 2", "dpkg-shlibdeps failed"),
                          ("echo shlibs:Depends=", "names no package"), ("exit 0", "names no package")):
        stub.write_text(f"#!/bin/sh\n{script}\n")
        stub.chmod(0o755)
        library.write_bytes(kept)  # the script moves it
        done = subprocess.run([ROOT / "packaging/deb/build.sh", stage, tmp_path / "out", VERSION, soname],
                              env=os.environ | {"PATH": f"{stub.parent}:{os.environ['PATH']}"}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        assert done.returncode != 0 and words in done.stdout, (script, done.stdout)
        assert not list((tmp_path / "out").glob("*.deb"))
