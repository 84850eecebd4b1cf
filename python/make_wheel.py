#!/usr/bin/env python3
"""Packs the Python package with the shared library as a wheel, with the standard library alone:
make_wheel.py LIBRARY DIRECTORY. Shared libraries that LIBRARY needs and not every Linux has are packed beside it."""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
# Parts of the C library and of the compiler's runtime.
EVERYWHERE = re.compile(r"(linux-vdso|ld-linux|libc|libm|libpthread|libdl|librt|libgcc_s)\b")
METADATA = """Metadata-Version: 2.1
Name: gputime
Version: {version}
Summary: Where did the GPU time go? Reads GPU traces of Nsight Systems and the PyTorch profiler
License: Apache-2.0
License-File: LICENSE
License-File: NOTICE
Requires-Python: >=3.9
Provides-Extra: pandas
Requires-Dist: numpy; extra == "pandas"
Requires-Dist: pandas; extra == "pandas"
Description-Content-Type: text/markdown

"""
WHEEL = """Wheel-Version: 1.0
Generator: gputime
Root-Is-Purelib: false
Tag: {tag}
"""


def version():
    header = (ROOT / "include/gputime.h").read_text(encoding="utf-8")
    return re.search(r'#define GPUTIME_VERSION "(.*)"', header)[1]


def needed(library):
    """Paths of the shared libraries that it needs, by the names that it asks for; what is not found is an error."""
    for line in subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout.splitlines():
        name, _, path = line.strip().partition(" => ")
        name, path = name.split(" (")[0], path.split(" (")[0]
        if EVERYWHERE.match(pathlib.Path(name).name):
            continue
        if not os.path.exists(path):
            sys.exit(f"make_wheel.py: {library} needs {name}, which is not there")
        yield name, pathlib.Path(path)


def contents(library, info):
    """(name in the wheel, bytes, whether it can be executed)."""
    for path in sorted((HERE / "gputime").glob("*.py")):
        yield f"gputime/{path.name}", path.read_bytes(), False
    yield f"gputime/{library.name}", library.read_bytes(), True
    for name, path in needed(library):
        yield f"gputime/{name}", path.read_bytes(), True
    tag = f"py3-none-{platform()}"
    about = METADATA.format(version=version()) + (ROOT / "docs/python.md").read_text(encoding="utf-8")
    yield f"{info}/METADATA", about.encode(), False
    yield f"{info}/WHEEL", WHEEL.format(tag=tag).encode(), False
    for name in ("LICENSE", "NOTICE"):
        yield f"{info}/licenses/{name}", (ROOT / name).read_bytes(), False


def platform():
    return re.sub(r"[^A-Za-z0-9]", "_", sysconfig.get_platform())


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def pack(library, directory):
    info = f"gputime-{version()}.dist-info"
    files = list(contents(library, info))
    record = [f"{name},sha256={digest(data)},{len(data)}\n" for name, data, _ in files] + [f"{info}/RECORD,,\n"]
    files.append((f"{info}/RECORD", "".join(record).encode(), False))
    path = directory / f"gputime-{version()}-py3-none-{platform()}.whl"
    directory.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data, is_program in files:  # the same files give the same bytes: all have the first date there is
            entry = zipfile.ZipInfo(name)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o755 if is_program else 0o644) << 16
            wheel.writestr(entry, data)
    return path


if __name__ == "__main__":
    print(pack(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
