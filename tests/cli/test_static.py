"""`make static`: one program without libraries around it, which writes what the other program writes."""

import os
import subprocess

import pytest

from building import AS_BUILT, alone, make
from conftest import DATA, ROOT

SAMPLES = [
    DATA / "torch/llama_train_compiled.json.gz",
    DATA / "devices.json",
    DATA / "nsys/graph_whole.nsys-rep",
    DATA / "nsys/graph_whole.sqlite.gz",
    DATA / "nsys-csv/mini_cuda_gpu_trace.csv",
    DATA / "nsys-csv/mini_cuda_gpu_kern_sum.csv",
]
FORMATS = ["text", "json", "csv", "md", "html"]


def supports_static_linking():
    """Some systems have no static libraries."""
    libraries = ["-lsqlite3", "-lzstd", "-llz4", "-lpcre2-8", "-lz", "-lm"]
    return subprocess.run(["gcc", "-static", "-x", "c", "-", "-o", os.devnull, *libraries], input=b"int main(void) {}",
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


@pytest.fixture(scope="module")
def static(gputime):
    if not supports_static_linking():
        pytest.skip("this system lacks static libraries")
    with alone("static"):
        make(*AS_BUILT, "build/static/gputime")
    return ROOT / "build/static/gputime"


def test_it_needs_no_libraries(static):
    def elf(*args):
        return subprocess.run(["readelf", "-W", *args, static], stdout=subprocess.PIPE, text=True, check=True).stdout

    assert "There is no dynamic section" in elf("-d") and "INTERP" not in elf("-l")
    done = subprocess.run(["ldd", static], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert "not a dynamic executable" in done.stdout


def test_version_says_what_is_inside(static, gputime):
    ours = subprocess.run([static, "--version"], stdout=subprocess.PIPE, text=True, check=True, env={}).stdout
    theirs = gputime("--version").stdout.decode()
    assert ours.splitlines()[0] == theirs.splitlines()[0]
    assert ours.splitlines()[1].startswith("static build with ") and "dynamic" in theirs


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_output_is_the_same_in_an_empty_world(static, gputime, unpacked, sample, tmp_path):
    """Without an environment; as root also without any other file than the trace."""
    path = unpacked(sample)
    (tmp_path / path.name).write_bytes(path.read_bytes())

    def enter():
        os.chdir(tmp_path)
        if os.geteuid() == 0:
            os.chroot(tmp_path)

    (tmp_path / "gputime").write_bytes(static.read_bytes())
    (tmp_path / "gputime").chmod(0o755)
    for format_key in FORMATS:
        args = ["summary", path.name, "--format", format_key, "--no-cache"]
        expected = subprocess.run([gputime.binary, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
                                  env={})
        done = subprocess.run(["./gputime", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={},
                              preexec_fn=enter)
        assert (done.returncode, done.stdout, done.stderr) == (0, expected.stdout, expected.stderr), format_key
