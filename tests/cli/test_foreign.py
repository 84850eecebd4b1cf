"""Files that are no traces: the error names what was found, and what to do where there is something."""

import gzip
import io
import lzma
import pickle
import shutil
import sqlite3
import tarfile

import pytest

from samples import DATA

REPORT = DATA / "nsys" / "train.nsys-rep"
TRACE = (DATA / "devices.json").read_bytes()


def tar(*names, mode="w", format=tarfile.PAX_FORMAT, **more):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=format) as archive:
        for name in names:
            member = tarfile.TarInfo(name.rstrip("/"))
            member.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            member.size = 0 if member.isdir() else len(TRACE)
            for key, value in more.items():
                setattr(member, key, value)
            archive.addfile(member, io.BytesIO(TRACE))
    return out.getvalue()


LIST = "; see 'gputime list inputs'"
FAR = "a" * 40 + "/" + "b" * 80 + "/rank0.json"  # more than fits a header
TAR = "a tar archive (its first file is 'run/rank0.json'); extract it ('tar -xf') and name the trace in it"
NCU = "(looks like a table of Nsight Compute); record a timeline with Nsight Systems"
FOREIGN = {
    "tool": (lambda: open(shutil.which("true"), "rb").read(), "(looks like a program or library)" + LIST),
    "timeline.png": (lambda: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "(looks like a PNG image)" + LIST),
    "run.tar": (lambda: tar("run/rank0.json", "run/rank1.json"), TAR),
    "run.tar.gz": (lambda: gzip.compress(tar("run/rank0.json")), TAR),
    "run.tgz": (lambda: tar("run/rank0.json", mode="w:gz"), TAR),
    "run.tar.xz": (lambda: lzma.compress(tar("run/rank0.json")), TAR),
    "times.tar": (lambda: tar("run/", "run/rank0.json", mtime=1.5), TAR),  # pax has a member of its own for the time
    "far.tar": (lambda: tar(FAR), f"(its first file is '{FAR[:60]}')"),
    "far gnu.tar": (lambda: tar(FAR, format=tarfile.GNU_FORMAT), f"(its first file is '{FAR[:60]}')"),
    "far old.tar": (lambda: tar(FAR, format=tarfile.USTAR_FORMAT), f"(its first file is '{FAR[:60]}')"),
    "folder.tar": (lambda: tar("run/"), "a tar archive; extract it"),
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
    "snapshot.pickle": (lambda: pickle.dumps({"segments": []}), "a memory snapshot of PyTorch); record a timeline"),
    "nccl_trace_rank_0": (lambda: pickle.dumps({"version": "2.5", "entries": [{"pg_id": 0}], "pg_config": {}}),
                          "a dump of PyTorch's Flight Recorder); record a timeline with torch.profiler"),
    "model.pt": (lambda: pickle.dumps([1, 2]), "(looks like a Python pickle, as PyTorch's Flight Recorder dumps"),
    "flight.json": (lambda: b'{"pg_config":{},"entries":[],"version":"2.4"}',
                    "(looks like a dump of PyTorch's Flight Recorder); record a timeline"),
    "et.json": (lambda: b'{"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [{"id": 1, "name": "a"}]}',
                "(looks like a PyTorch execution trace); it has no times"),
    "proton.hatchet": (lambda: b'[{"children":[],"frame":{"name":"ROOT","type":"function"},"metrics":{}}]',
                       "(looks like a profile of Triton's Proton, which has only sums); record a timeline"),
    "gpu.prom": (lambda: b'nccl_bus_bandwidth_gbs{collective="AllReduce"} 12.3\n',
                 "(looks like Prometheus metrics of NCCL Inspector); NCCL_INSPECTOR_PROM_DUMP=0"),
    "new.prom": (lambda: b'# HELP nccl_bus_bandwidth_gbs Bandwidth\n', "Prometheus metrics of NCCL Inspector"),
    "ncu.csv": (lambda: b'"ID","Process ID","Kernel Name","Metric Name","Metric Value"\n', NCU),
    "ncu raw.csv": (lambda: b"==PROF== Connected\nID,range,Kernel Name,Block Size,gpu__time_duration.avg\n", NCU),
    "run.7z": (lambda: b"7z\xbc\xaf\x27\x1c" + bytes(40), "(looks like a 7-Zip archive); extract it first"),
    "run.rar": (lambda: b"Rar!\x1a\7\0" + bytes(40), "(looks like a RAR archive); extract it first"),
    "trace.json.bz2": (lambda: b"BZh91AY&SY" + bytes(40), "(looks like bzip2 data); decompress it first"),
    "wide.json": (lambda: '\ufeff[{"ph": "X"}]'.encode("utf-16"), "(looks like UTF-16 text); save it as UTF-8"),
    "trace.json": (lambda: b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer); fetch the file"),
    "other.json": (lambda: b'{"a": 1}', 'JSON, but not a trace: no "traceEvents"' + LIST),
    "train.log": (lambda: b"step 1 loss 3.2\n", "(looks like text)" + LIST),
    "core": (lambda: bytes(range(1, 200)), "(looks like unknown binary data)" + LIST),
    "twice.json.gz": (lambda: gzip.compress(gzip.compress(TRACE)), "gzip inside gzip; decompress it once"),
    "mixed.json.xz": (lambda: lzma.compress(gzip.compress(TRACE)), "gzip inside xz; decompress it once"),
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


def test_a_database_of_another_program(tmp_path, gputime):
    path = tmp_path / "history.db"
    with sqlite3.connect(path) as db:
        db.execute("create table urls(id)")
    done = gputime("kernels", path, "--no-cache")
    assert done.returncode == 1
    assert "neither an Nsight Systems export nor of a ROCm profiler: its tables are urls" in done.stderr.decode()
