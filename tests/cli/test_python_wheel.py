"""`make wheel`: a wheel that needs nothing of the source tree, and nothing but the C library of the system."""

import base64
import csv
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile

import pytest

from building import AS_BUILT, SONAME, alone, make
from conftest import DATA, ROOT

SAMPLE = DATA / "torch/llama_train_compiled.json.gz"
USE = """
import json, gputime
trace = gputime.open("sample.json.gz", cache=False)
maps = {line.split()[-1] for line in open("/proc/self/maps") if "libgputime" in line or "libisal" in line}
print(json.dumps([gputime.__file__, sorted(maps), trace.kernels().to_dict()["total_ns"], gputime.__version__]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    with alone("wheel"):
        output = make(*AS_BUILT, "-s", "wheel")
        path = ROOT / output.strip().splitlines()[-1]
        kept = tmp_path_factory.mktemp("wheel") / path.name
        shutil.copy(path, kept)
    return kept


def use(folder, site):
    """Away from the source tree: another folder, no variable that could lead to it, and a copy of the sample."""
    shutil.copy(SAMPLE, folder / "sample.json.gz")
    environment = {"PATH": os.defpath, "PYTHONPATH": str(site), "HOME": str(folder)}
    done = subprocess.run([sys.executable, "-c", USE], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_use(gputime, folder, site):
    place, maps, totals, version = use(folder, site)
    assert place.startswith(str(site)) and maps and all(one.startswith(str(site)) for one in maps)
    report = gputime.json("kernels", SAMPLE, "--no-cache")
    assert totals == [row["total_ns"] for row in report["tables"]["kernels"]["rows"]]
    assert version in (ROOT / "include/gputime.h").read_text()


def test_unpacked_wheel_works(gputime, wheel, tmp_path):
    site = tmp_path / "site"
    subprocess.run([sys.executable, "-m", "zipfile", "-e", wheel, site], check=True)
    check_use(gputime, tmp_path, site)


def test_installed_wheel_works(gputime, wheel, tmp_path):
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode != 0:
        pytest.skip("needs pip")
    site = tmp_path / "site"
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target", site, wheel],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    check_use(gputime, tmp_path, site)


def test_records_are_true(wheel):
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        info = next(name.split("/")[0] for name in names if name.endswith("/RECORD"))
        rows = list(csv.reader(io.StringIO(packed.read(f"{info}/RECORD").decode())))
        assert {row[0] for row in rows} == names and len(rows) == len(names)
        for name, digest, size in rows:
            data = packed.read(name)
            if name.endswith("/RECORD"):
                assert (digest, size) == ("", "")
                continue
            expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert digest == f"sha256={expected}" and int(size) == len(data)
        about = packed.read(f"{info}/METADATA").decode()
        tags = packed.read(f"{info}/WHEEL").decode()
        program = packed.getinfo(f"gputime/{SONAME}").external_attr >> 16
    version = re.search(r'GPUTIME_VERSION "(.*)"', (ROOT / "include/gputime.h").read_text())[1]
    platform = re.sub(r"\W", "_", sysconfig.get_platform())
    assert wheel.name == f"gputime-{version}-py3-none-{platform}.whl" and info == f"gputime-{version}.dist-info"
    assert f"\nVersion: {version}\n" in about and f"\nTag: py3-none-{platform}\n" in tags and program & 0o111
    assert {f"{info}/licenses/LICENSE", f"{info}/licenses/NOTICE"} <= names


def test_library_needs_nothing_else(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "zipfile", "-e", wheel, tmp_path], check=True)
    packed = {path.name for path in (tmp_path / "gputime").glob("*.so*")}
    for name in packed:
        listed = subprocess.run(["ldd", tmp_path / "gputime" / name], capture_output=True, text=True).stdout
        for line in listed.splitlines():
            library = line.split()[0]
            everywhere = re.match(r"(/.*/)?(linux-vdso|ld-linux|libc|libm|libpthread|libdl|librt|libgcc_s)\b", library)
            assert everywhere or library in packed and str(tmp_path) in line, line
    if shutil.which("nm"):
        symbols = subprocess.run(["nm", "-D", "--defined-only", tmp_path / "gputime" / SONAME], capture_output=True,
                                 text=True).stdout.split()[2::3]
        assert symbols and all(symbol.startswith("gputime_") for symbol in symbols)


def test_same_files_give_the_same_wheel(wheel, tmp_path):
    library = ROOT / "build/wheel" / SONAME
    done = subprocess.run([sys.executable, ROOT / "python/make_wheel.py", library, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0 and (tmp_path / wheel.name).read_bytes() == wheel.read_bytes(), done.stderr
