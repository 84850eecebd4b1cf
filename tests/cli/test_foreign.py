"""Files that are no traces: the error names what was found, and what to do where there is something."""

import gzip
import io
import lzma
import pickle
import shutil
import tarfile

import pytest

from samples import DATA

REPORT = DATA / "nsys" / "train.nsys-rep"
TRACE = (DATA / "devices.json").read_bytes()


def tar(*names, mode="w"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(TRACE)
            archive.addfile(member, io.BytesIO(TRACE))
    return out.getvalue()


TAR = "a tar archive (its first file is 'run/rank0.json'); extract it ('tar -xf') and name the trace in it"
FOREIGN = {
    "tool": (lambda: open(shutil.which("true"), "rb").read(), "(looks like a program or library)"),
    "timeline.png": (lambda: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "(looks like a PNG image)"),
    "run.tar": (lambda: tar("run/rank0.json", "run/rank1.json"), TAR),
    "run.tar.gz": (lambda: gzip.compress(tar("run/rank0.json")), TAR),
    "run.tgz": (lambda: tar("run/rank0.json", mode="w:gz"), TAR),
    "run.tar.xz": (lambda: lzma.compress(tar("run/rank0.json")), TAR),
    "evil.tar": (lambda: tar("\x1b[31mred"), "its first file is '?[31mred'"),
    "events.parquet": (lambda: b"PAR1" + bytes(40) + b"PAR1", "(looks like a Parquet file); give the trace"),
    "events.arrow": (lambda: b"ARROW1\0\0" + bytes(40), "(looks like an Arrow file); give the trace"),
    "report.h5": (lambda: b"\x89HDF\r\n\x1a\n" + bytes(40), "(looks like an HDF5 file); export the report"),
    "old.qdrep": (lambda: b"NVIDIA Tegra Profiler Report\0" + bytes(100), "Nsight Systems report"),
    "cut.nsys-rep": (lambda: REPORT.read_bytes()[:40], "ends before its events; copy it again"),
    "more cut.nsys-rep": (lambda: REPORT.read_bytes()[:20], "the beginning of an Nsight Systems report); it is cut"),
    "kernels.ncu-rep": (lambda: b"NVR\0" + bytes(range(60)), "an Nsight Compute report); record a timeline"),
    "download": (lambda: b"\n <!doctype HTML>\n<html><body>Sign in</body></html>", "a web page); a download may have"),
    "page.html": (lambda: b"<html><head></head></html>", "(looks like a web page)"),
    "snapshot.pickle": (lambda: pickle.dumps({"segments": []}), "(looks like a Python pickle); gputime reads traces"),
    "run.7z": (lambda: b"7z\xbc\xaf\x27\x1c" + bytes(40), "(looks like a 7-Zip archive); extract it first"),
    "run.rar": (lambda: b"Rar!\x1a\7\0" + bytes(40), "(looks like a RAR archive); extract it first"),
    "trace.json.bz2": (lambda: b"BZh91AY&SY" + bytes(40), "(looks like bzip2 data); decompress it first"),
    "wide.json": (lambda: '\ufeff[{"ph": "X"}]'.encode("utf-16"), "(looks like UTF-16 text); save it as UTF-8"),
    "trace.json": (lambda: b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer); fetch the file"),
    "other.json": (lambda: b'{"a": 1}', 'JSON, but not a trace: no "traceEvents"'),
    "train.log": (lambda: b"step 1 loss 3.2\n", "(looks like text)"),
    "core": (lambda: bytes(range(1, 200)), "(looks like unknown binary data)"),
    "empty.json": (lambda: b"", "is empty"),
    "empty.json.gz": (lambda: gzip.compress(b""), "is empty"),
    "cut.json.gz": (lambda: gzip.compress(TRACE)[:15], "no readable data: gzip stream ends early"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_the_error_names_what_was_found(name, tmp_path, gputime):
    make, words = FOREIGN[name]
    path = tmp_path / name
    path.write_bytes(make())
    done = gputime("kernels", path, "--no-cache")
    message = done.stderr.decode()
    assert done.returncode == 1 and done.stdout == b""
    assert message.startswith("gputime: ") and len(message.splitlines()) == 1
    assert str(path) in message and words in message


def test_folders(tmp_path, gputime):
    (tmp_path / "notes.txt").write_text("no trace")
    done = gputime("ranks", tmp_path)
    assert done.returncode == 1 and f"no traces in '{tmp_path}'; see 'gputime list inputs'" in done.stderr.decode()
    done = gputime("kernels", tmp_path)
    assert done.returncode == 1 and b"it is a directory; name the traces in it" in done.stderr
    done = gputime("kernels", tmp_path / "*.json")
    assert done.returncode == 1 and f"no files match '{tmp_path}/*.json'" in done.stderr.decode()
