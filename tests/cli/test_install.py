"""`make install` puts everything where packagers expect it, a C program can be built against it, uninstall removes it."""

import ctypes
import gzip
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from building import AS_BUILT, SONAME, make
from conftest import ROOT

pytestmark = pytest.mark.xdist_group("install")  # it is installed once
PROGRAM = r"""
#include <gputime.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    struct gputime_trace *trace;
    struct gputime_report *report;
    struct gputime_error err;
    const char *path = argc > 1 ? argv[1] : "";
    const char *analysis = "kernels";
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    options.analyses = &analysis;
    options.analysis_count = 1;
    if (strcmp(gputime_version(), GPUTIME_VERSION) != 0)
        return 3;
    if (gputime_trace_open(&path, 1, NULL, NULL, &trace, &err) != GPUTIME_OK) {
        printf("failed: %s\n", err.message);
        return 1;
    }
    if (gputime_report_new(&trace, 1, &options, &report, &err) != GPUTIME_OK)
        return 2;
    printf("kernels %u\n", (unsigned)gputime_table_row_count(gputime_report_table(report, 0, "kernels")));
    gputime_report_free(report);
    gputime_trace_free(trace);
    return 0;
}
"""


def run(*command, **settings):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **settings)
    assert done.returncode == 0, done.stdout
    return done.stdout


def left_in(root):
    """All but folders that other programs install to as well."""
    return [path for path in root.rglob("*") if not path.is_dir() or path.is_symlink() or "gputime" in path.name]


@pytest.fixture(scope="module")
def installed(gputime, tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    make(*AS_BUILT, "install", f"DESTDIR={root}", "PREFIX=/usr")
    yield root
    make("uninstall", f"DESTDIR={root}", "PREFIX=/usr")
    assert left_in(root) == []


@pytest.mark.parametrize("name", [
    "bin/gputime", "lib/libgputime.a", "lib/libgputime.so", f"lib/{SONAME}", "include/gputime.h",
    "lib/pkgconfig/gputime.pc", "share/bash-completion/completions/gputime",
    "share/zsh/site-functions/_gputime", "share/fish/vendor_completions.d/gputime.fish",
    "share/doc/gputime/LICENSE", "share/doc/gputime/NOTICE",
])
def test_file_is_there(installed, name):
    path = installed / "usr" / name
    assert path.exists() and path.stat().st_size > 0


def test_manual_is_there(installed):
    assert list((installed / "usr/share/man/man1").glob("gputime.1*"))


OLD_NAMES = {"gputrc2graph", "gputrc2graph.py", "nsys-llm-explain"}


def test_old_names_are_links_to_the_program(installed):
    links = {path.name: os.readlink(path) for path in (installed / "usr/bin").iterdir() if path.is_symlink()}
    assert links == dict.fromkeys(OLD_NAMES, "gputime")
    assert run(installed / "usr/bin/nsys-llm-explain", "--help").startswith("Usage: gputime explain ")


def test_an_old_program_is_neither_replaced_nor_removed(gputime, tmp_path):
    old = tmp_path / "usr/bin/nsys-llm-explain"
    old.parent.mkdir(parents=True)
    old.write_text("the old one")
    make("install", f"DESTDIR={tmp_path}", "PREFIX=/usr", *AS_BUILT)
    make("install", f"DESTDIR={tmp_path}", "PREFIX=/usr", *AS_BUILT)
    assert old.read_text() == "the old one" and (old.parent / "gputrc2graph").is_symlink()
    make("uninstall", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == [old]


def test_nothing_else_is_there(installed):
    files = {path.relative_to(installed) for path in installed.rglob("*") if not path.is_dir() and path.name not in OLD_NAMES}
    strange = {path for path in files if "gputime" not in path.name and path.parent.name not in ("gputime", "skill")}
    assert not strange


def test_files_do_not_name_the_build_place(installed):
    for path in installed.rglob("*"):
        if path.is_file() and (path.suffix in (".pc", ".h", ".fish") or path.name in ("gputime.1", "NOTICE")):
            text = path.read_text(encoding="utf-8")
            assert str(installed) not in text and str(ROOT) not in text


def test_the_library_is_one_file_and_a_link(installed):
    libraries = installed / "usr/lib"
    assert os.readlink(libraries / "libgputime.so") == SONAME
    assert not (libraries / SONAME).is_symlink()
    for path in (libraries / "libgputime.so", ROOT / "build/libgputime.so"):
        assert f"soname: [{SONAME}]" in run("readelf", "-d", path)


def test_folders_can_be_chosen_one_by_one(gputime, tmp_path):
    """Below a DESTDIR with a space in it, and outside of the prefix."""
    root = tmp_path / "a root"
    chosen = {"prefix": "/opt/x", "bindir": "/opt/x/programs", "libdir": "/opt/x/lib/x86_64-linux-gnu",
              "includedir": "/usr/include/x", "datadir": "/srv/data", "mandir": "/srv/manual"}
    arguments = [f"DESTDIR={root}", *(f"{name}={path}" for name, path in chosen.items())]
    make(*AS_BUILT, "install", *arguments)
    package = (root / "opt/x/lib/x86_64-linux-gnu/pkgconfig/gputime.pc").read_text()
    assert "\nlibdir=${prefix}/lib/x86_64-linux-gnu\nincludedir=/usr/include/x\n" in package
    assert package.startswith("prefix=/opt/x\n") and str(root) not in package
    found = {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}
    assert {"opt/x/programs/gputime", f"opt/x/lib/x86_64-linux-gnu/{SONAME}", "usr/include/x/gputime.h",
            "srv/manual/man1/gputime.1", "srv/data/doc/gputime/NOTICE"} <= found and len(found) == 14 + len(OLD_NAMES)
    make("uninstall", *arguments)
    assert left_in(root) == []
    make("uninstall", *arguments)  # nothing is there any more


def test_installed_program_runs(installed):
    assert run(installed / "usr/bin/gputime", "--version").startswith("gputime ")


def build(installed, source, program, is_static, language=None):
    """A program against the installed header and library, as its author would build it; the environment to run it in."""
    environment = os.environ | {
        "PKG_CONFIG_SYSROOT_DIR": str(installed),
        "PKG_CONFIG_LIBDIR": str(installed / "usr/lib/pkgconfig"),
        "PKG_CONFIG_PATH": "",
        "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1",
        "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1",
    }
    flags = run("pkg-config", "--cflags", "--libs", *(["--static"] if is_static else []), "gputime", env=environment)
    flags = flags.split()
    if is_static:
        flags = [str(installed / "usr/lib/libgputime.a") if flag == "-lgputime" else flag for flag in flags]
    is_cpp = language == "c++" or source.suffix == ".cpp"
    compiler = [os.environ.get("CXX", "c++"), "-std=c++17"] if is_cpp else [*os.environ.get("CC", "cc").split(), "-std=c17"]
    as_language = ["-x", language, source, "-x", "none"] if language else [source]
    run(*compiler, "-Wall", "-Wextra", "-Werror", "-o", program, *as_language, *flags)
    return os.environ | {"LD_LIBRARY_PATH": str(installed / "usr/lib")}


needs_pkg_config = pytest.mark.skipif(not shutil.which("pkg-config"), reason="needs pkg-config")
both_libraries = pytest.mark.parametrize("is_static", [False, True], ids=["shared", "static"])


@needs_pkg_config
@both_libraries
@pytest.mark.parametrize("language", ["c", "c++"])
def test_program_against_the_library(installed, tmp_path, is_static, language):
    source, program = tmp_path / "example.c", tmp_path / "example"
    source.write_text(PROGRAM)
    where = build(installed, source, program, is_static, language)
    assert run(program, ROOT / "tests/data/overlap.json", env=where) == "kernels 2\n"
    failed = subprocess.run([program, tmp_path / "none"], stdout=subprocess.PIPE, text=True, env=where)
    assert failed.returncode == 1 and failed.stdout.startswith("failed: ")


def test_program_against_the_library_before_it_is_installed(gputime, tmp_path):
    source, program, folder = tmp_path / "example.c", tmp_path / "example", ROOT / "build"
    source.write_text(PROGRAM)
    run(*os.environ.get("CC", "cc").split(), f"-I{ROOT}/include", "-o", program, source, f"-L{folder}", "-lgputime",
        f"-Wl,-rpath,{folder}")
    assert f"[{SONAME}]" in run("readelf", "-d", program)
    assert run(program, ROOT / "tests/data/overlap.json") == "kernels 2\n"


@needs_pkg_config
@both_libraries
def test_example_of_the_documentation(installed, tmp_path, is_static):
    """It sets a class map, runs an analysis over tables, walks the report and writes it."""
    program, case = tmp_path / "stats", ROOT / "tests/data/stats/readme_gpt5b"
    where = build(installed, ROOT / "docs/examples/stats.c", program, is_static)
    walked, _, written = run(program, "5", "Train_step", *sorted(case.glob("*.csv")), env=where).partition("=====")
    assert "  Kernel total instances: 16775 count\n" in walked
    assert "  fp8_gemm: time_per_iter_ns=1.09208e+08 instances_per_iter=360 total_ns=5.4604e+08" in walked
    lines = [line.split() for line in (case / "reference.txt").read_text().splitlines()]
    unused = (["gelu"], ["fmha"])  # classes of the reference that the example has not
    expected = [line for line in lines[1:] if line and line[:1] not in unused]
    assert [line.split() for line in written.splitlines()[1:] if line.split()] == expected
    failed = subprocess.run([program, "5", "Train", *case.glob("*.csv")], stderr=subprocess.PIPE, text=True, env=where)
    assert failed.returncode == 2 and "did you mean 'Train_step'" in failed.stderr


def example(installed, tmp_path, name):
    program = tmp_path / name
    where = build(installed, ROOT / "docs/examples" / name, program, False)
    return lambda *args: subprocess.run([program, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=where)


@needs_pkg_config
def test_example_of_a_table(installed, tmp_path):
    kernels = example(installed, tmp_path, "kernels.c")
    assert kernels(ROOT / "tests/data/overlap.json").stdout == (
        "     20000 ns  57.1%      2 x  gemm\n"
        "     15000 ns  42.9%      1 x  ncclDevKernel_AllReduce_Sum_f32_RING_LL\n")
    failed = kernels(tmp_path / "none")
    assert failed.returncode == 1 and failed.stdout.startswith("kernels: cannot read")


@needs_pkg_config
def test_example_of_events(installed, tmp_path):
    done = example(installed, tmp_path, "longest_ops.c")(ROOT / "tests/data/devices.json")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["9000", "ns", "other", "alpha"], ["5000", "ns", "other", "alpha"], ["4000", "ns", "other", "beta"]]
    assert "calls (4): start_ns end_ns correlation name->strings thread->threads" in lines
    assert "lanes (3): process->processes device->devices stream" in lines


def mean_over_time(states):
    """Of (time, value): each lasts until the next."""
    weighted = [(after - before, value) for (before, value), (after, _) in zip(states, states[1:])]
    return sum(length * value for length, value in weighted) / sum(length for length, _ in weighted)


@needs_pkg_config
def test_example_of_counters(installed, tmp_path):
    counters = example(installed, tmp_path, "counters.c")
    trace = ROOT / "tests/data/torch/ops_zoo.json.gz"
    events = [event for event in json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
              if event.get("name") == "[memory]" and event["args"]["Device Type"] == 1]
    events = sorted((event["ts"], event["args"]["Total Allocated"]) for event in events)
    found = re.search(r"^GPU 0 Total Allocated: (\d+) values, mean ([\d.]+) bytes$", counters(trace).stdout, re.MULTILINE)
    assert int(found[1]) == len(events) > 100
    assert float(found[2]) == pytest.approx(mean_over_time(events), rel=1e-4)
    assert counters(ROOT / "tests/data/overlap.json").stdout == "no counters\n"
    assert counters(tmp_path / "none").returncode == 1


@needs_pkg_config
def test_example_of_a_comparison(installed, tmp_path):
    compare = example(installed, tmp_path, "compare.cpp")
    a, b = ROOT / "tests/data/devices.json", ROOT / "tests/data/overlap.json"
    changed = compare(a, b)
    assert changed.returncode == 3 and changed.stdout.endswith("busy>+5%: broken\n")
    assert "0.0 ns ->        20000.0 ns  gemm\n" in changed.stdout
    same = compare(a, a)
    assert same.returncode == 0 and same.stdout.endswith("busy>+5%: holds\n")
    assert compare(a, tmp_path / "none").returncode == 1


def test_the_shared_library_exports_the_functions_of_the_header_and_nothing_else(installed):
    """Symbols are hidden unless marked, so one that is forgotten works in the static library alone."""
    header = re.sub(r"/\*.*?\*/", "", (ROOT / "include/gputime.h").read_text(), flags=re.DOTALL)
    declared = set(re.findall(r"\b(gputime_\w+)\(", header))
    table = run("nm", "-D", "--defined-only", installed / "usr/lib/libgputime.so")
    assert len(declared) > 60 and declared == {line.split()[-1] for line in table.splitlines()}


def test_the_page_on_rows_is_current():
    made = run(sys.executable, ROOT / "docs/make_rows.py")
    assert made == (ROOT / "docs/rows.md").read_text(), "run: python3 docs/make_rows.py > docs/rows.md"


class Field(ctypes.Structure):
    _fields_ = [("key", ctypes.c_char_p), ("type", ctypes.c_int), ("null", ctypes.c_int), ("unit", ctypes.c_char_p),
                ("refers", ctypes.c_char_p), ("choices", ctypes.c_char_p), ("data", ctypes.c_void_p)]


def rows_of_the_library(trace, facts):
    """{kind: fields as lines of docs/rows.md without comments}, from a program that walks them."""
    library = ctypes.CDLL(str(ROOT / "build/libgputime.so"))
    for name, kind in (("trace_rows_at", ctypes.c_void_p), ("rows_key", ctypes.c_char_p), ("rows_field", Field),
                       ("trace_rows_count", ctypes.c_size_t), ("rows_field_count", ctypes.c_size_t)):
        getattr(library, f"gputime_{name}").restype = kind
    opened, path = ctypes.c_void_p(), ctypes.c_char_p(str(trace).encode())
    assert library.gputime_trace_open(ctypes.byref(path), ctypes.c_size_t(1), None, None, ctypes.byref(opened), None) == 0
    assert library.gputime_trace_read(opened, ctypes.c_uint64(facts), None) == 0
    kinds = {}
    for i in range(library.gputime_trace_rows_count(opened)):
        rows = ctypes.c_void_p(library.gputime_trace_rows_at(opened, ctypes.c_size_t(i)))
        fields = (library.gputime_rows_field(rows, ctypes.c_size_t(f))
                  for f in range(library.gputime_rows_field_count(rows)))
        kinds[library.gputime_rows_key(rows).decode()] = [
            {"key": one.key.decode(), "type": ["u8", "u16", "u32", "u64", "i64", "f64", "text"][one.type],
             "null": ["", "max", "min", "< 0"][one.null], "unit": one.unit.decode(),
             "refers": (one.refers or b"").decode(), "choices": (one.choices or b"").decode()} for one in fields]
    library.gputime_trace_free(opened)
    return kinds


def test_the_page_on_rows_has_the_rows_of_the_library(gputime):
    loaded = importlib.util.spec_from_file_location("make_rows", ROOT / "docs/make_rows.py")
    page = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(page)
    documented = {kind: [{key: value for key, value in one.items() if key != "comment"} for one in fields]
                  for kind, _, fields in page.tables()}
    facts = (ROOT / "lib/events/facts.def").read_text()
    comms = 1 << int(re.search(r'GT_FACT\(COMMS, (\d+),', facts)[1])
    found = rows_of_the_library(ROOT / "tests/data/overlap.json", comms)
    assert list(found) == list(documented)
    for kind, fields in found.items():
        assert fields == documented[kind], kind


def test_the_page_on_the_library_is_current():
    made = run(sys.executable, ROOT / "docs/make_api.py")
    assert made == (ROOT / "docs/api.md").read_text(), "run: python3 docs/make_api.py > docs/api.md"
