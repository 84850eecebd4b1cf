"""The ctypes layer and the table of commands are those of this source: made again they are the same, and what the
compiler says of every struct is what ctypes says."""

import ctypes
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT, find_binary
from python_package import package

from gputime import _c  # noqa: E402 (found by python_package)

HEADER = ROOT / "include/gputime.h"


def structs():
    return {name: kind for name, kind in vars(_c).items()
            if isinstance(kind, type) and issubclass(kind, ctypes.Structure) and kind is not ctypes.Structure}


def run_script(*words):
    return subprocess.run([sys.executable, *map(str, words)], check=True, capture_output=True, text=True).stdout


def test_binding_is_made_from_the_header():
    made = run_script(ROOT / "python/make_binding.py")
    assert (ROOT / "python/gputime/_c.py").read_text(encoding="utf-8") == made, \
        "python3 python/make_binding.py > python/gputime/_c.py"


def test_commands_are_those_of_the_program():
    tool = find_binary("GPUTIME_DUMP_COMMANDS", "build/dump_commands")
    if not tool.exists():
        pytest.fail(f"{tool} is missing: run make build/dump_commands first")
    made = run_script(ROOT / "python/make_commands.py", tool)
    assert (ROOT / "python/gputime/_commands.py").read_text(encoding="utf-8") == made, \
        "python3 python/make_commands.py build/dump_commands > python/gputime/_commands.py"


def test_every_function_of_the_header_is_there():
    text = re.sub(r"/\*.*?\*/", " ", HEADER.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"\{[^{}]*\}", " ", text)
    declared = set(re.findall(r"\b(gputime_\w+)\s*\(", text))
    assert declared == set(_c.FUNCTIONS) and len(declared) > 90


def lines_of(kinds):
    for name, kind in kinds.items():
        yield f'printf("{name} %zu\\n", sizeof(struct {name}));'
        for field, _ in kind._fields_:
            yield (f'printf("{name}.{field} %zu %zu\\n", offsetof(struct {name}, {field}), '
                   f'sizeof(((struct {name} *)0)->{field}));')
    for name, value in vars(_c).items():
        if name.startswith("GPUTIME_") and isinstance(value, int):
            yield f'printf("{name} %lld\\n", (long long){name});'


def expected_lines(kinds):
    for name, kind in kinds.items():
        yield f"{name} {ctypes.sizeof(kind)}"
        for field, _ in kind._fields_:
            place = getattr(kind, field)
            yield f"{name}.{field} {place.offset} {place.size}"
    for name, value in vars(_c).items():
        if name.startswith("GPUTIME_") and isinstance(value, int):
            yield f"{name} {value}"


def test_layouts_are_those_of_the_compiler(tmp_path):
    compiler = shutil.which(os.environ.get("CC", "gcc").split()[-1]) or shutil.which("cc")
    if not compiler:
        pytest.skip("needs a C compiler")
    kinds = structs()
    assert len(kinds) > 25
    source = tmp_path / "layout.c"
    source.write_text('#include <stdio.h>\n#include <stddef.h>\n#include "gputime.h"\nint main(void) {\n'
                      + "\n".join(lines_of(kinds)) + "\n}\n")
    subprocess.run([compiler, "-I", HEADER.parent, source, "-o", tmp_path / "layout"], check=True)
    printed = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True).stdout
    assert printed.splitlines() == list(expected_lines(kinds))


def test_texts_without_an_end_are_not_read_to_a_nul():
    """What has a length is no c_char_p, which ctypes would read on and on."""
    for struct in structs().values():
        kinds = dict(struct._fields_)
        for field, kind in kinds.items():
            if f"{field}_bytes" in kinds or (struct is _c.gputime_text and field == "bytes"):
                assert kind is not ctypes.c_char_p, (struct, field)


def load(tmp_path, **environment):
    base = {key: value for key, value in os.environ.items() if key != "GPUTIME_LIBRARY"}
    return subprocess.run([sys.executable, "-c", "import gputime; print(gputime.__version__)"], cwd=tmp_path, text=True,
                          capture_output=True, env=base | {"PYTHONPATH": str(ROOT / "python")} | environment)


def test_library_is_found(tmp_path):
    assert load(tmp_path).stdout.strip() == package.__version__ == _c.HEADER_VERSION
    assert load(tmp_path, GPUTIME_LIBRARY=str(ROOT / "build/libgputime.so")).stdout.strip() == package.__version__
    done = load(tmp_path, GPUTIME_LIBRARY="/no such library")
    assert done.returncode == 1 and "ImportError: cannot load libgputime: /no such library" in done.stderr


def test_another_library_is_refused(tmp_path):
    if not shutil.which("gcc"):
        pytest.skip("needs a C compiler")
    for version, message in (("9.9.9", "is libgputime 9.9.9; this package needs"), (_c.HEADER_VERSION, "has no gputime_")):
        source, library = tmp_path / "other.c", tmp_path / f"other{version}.so"
        source.write_text(f'const char *gputime_version(void) {{ return "{version}"; }}\n')
        subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library], check=True)
        done = load(tmp_path, GPUTIME_LIBRARY=str(library))
        assert done.returncode == 1 and message in done.stderr, done.stderr
    (tmp_path / "other.c").write_text("int nothing;\n")
    subprocess.run(["gcc", "-shared", "-fPIC", tmp_path / "other.c", "-o", tmp_path / "none.so"], check=True)
    done = load(tmp_path, GPUTIME_LIBRARY=str(tmp_path / "none.so"))
    assert done.returncode == 1 and "ImportError: " in done.stderr and "none.so is not libgputime" in done.stderr, done.stderr
