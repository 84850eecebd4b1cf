"""Traces in zip archives, written by Python's zipfile: the one trace in it is read, what is damaged is said."""

import gzip
import io
import json
import random
import struct
import zipfile
import zlib

import pytest

from peak import peak_run
from samples import DATA

TRACE = DATA / "limits.json"
TEXT = TRACE.read_bytes()


def archive(path, members, **how):
    """members: (name, bytes) or (name, bytes, method)."""
    with zipfile.ZipFile(path, "w", **how) as made:
        for name, text, *method in members:
            made.writestr(name, text, *(method or (zipfile.ZIP_DEFLATED,)))
    return path


class Pipe(io.RawIOBase):
    """Cannot seek: zipfile then writes sizes after the bytes."""

    def __init__(self):
        self.bytes = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.bytes += data
        return len(data)


def streamed(path, members):
    pipe = Pipe()
    archive(pipe, members)
    path.write_bytes(pipe.bytes)
    return path


def zip64(path, name, text):
    """Sizes in 64 bits, as writers do that do not know them beforehand."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made, made.open(name, "w", force_zip64=True) as member:
        member.write(text)
    return path


def rows(gputime, path, **how):
    report = gputime.json("kernels", path, "--no-cache", **how)
    return [{**row, "input": ""} for row in report["tables"]["kernels"]["rows"]]


WAYS = {
    "deflated": lambda path: archive(path, [("trace.json", TEXT)]),
    "stored": lambda path: archive(path, [("trace.json", TEXT, zipfile.ZIP_STORED)]),
    "streamed": lambda path: streamed(path, [("trace.json", TEXT)]),
    "streamed, stored": lambda path: streamed(path, [("trace.json", TEXT, zipfile.ZIP_STORED)]),
    "zip64": lambda path: zip64(path, "trace.json", TEXT),
    "in a folder": lambda path: archive(path, [("run/", b""), ("run/trace.json", TEXT)]),
    "of macOS": lambda path: archive(path, [("trace.json", TEXT), ("__MACOSX/._trace.json", TEXT), (".DS_Store", b"x")]),
    "beside others": lambda path: archive(path, [("notes.txt", b"hello"), ("a.png", b"\x89PNG\r\n"), ("trace.json", TEXT)]),
    "gzip inside": lambda path: archive(path, [("trace.json.gz", gzip.compress(TEXT), zipfile.ZIP_STORED)]),
    "any name": lambda path: archive(path, [("no suffix", TEXT)]),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_trace_in_an_archive_is_read(way, tmp_path, gputime):
    path = WAYS[way](tmp_path / "trace.zip")
    assert rows(gputime, path) == rows(gputime, TRACE)
    report = gputime.json("summary", path, "--no-cache")
    assert not [issue for issue in report["issues"] if issue["id"] == "packing_damaged"]


def test_prefix_and_comment(tmp_path, gputime):
    path = archive(tmp_path / "trace.zip", [("trace.json", TEXT)])
    with zipfile.ZipFile(path, "a") as made:
        made.comment = b"PK\5\6 of a capture" * 100
    assert rows(gputime, path) == rows(gputime, TRACE)


def test_other_formats(tmp_path, gputime):
    for name in ("nsys/train.nsys-rep", "perfetto/sampled.pftrace", "xla/jax.xplane.pb"):
        source = DATA / name
        path = archive(tmp_path / "trace.zip", [(source.name, source.read_bytes())])
        assert rows(gputime, path) == rows(gputime, source), name


def test_from_a_pipe(tmp_path, gputime):
    path = archive(tmp_path / "trace.zip", [("a.txt", b"hi"), ("trace.json", TEXT)])
    assert rows(gputime, "-", stdin=path.read_bytes()) == rows(gputime, TRACE)


def test_a_folder_and_a_pattern(tmp_path, gputime):
    folder = tmp_path / "ranks"  # which the job is named after
    folder.mkdir()
    for rank, source in enumerate(sorted((DATA / "ranks").glob("rank*.json.gz"))):
        text = gzip.decompress(source.read_bytes())
        if rank % 2:
            archive(folder / f"rank{rank}.json.zip", [(f"rank{rank}.json", text)])
        else:
            archive(folder / f"rank{rank}.zip", [("about.txt", b"rank"), (source.name, source.read_bytes())])
    whole = gputime.json("ranks", DATA / "ranks", "--no-cache")["tables"]["ranks"]["rows"]
    for words in (folder, folder / "rank*.zip"):
        report = gputime.json("ranks", words, "--no-cache")
        assert report["tables"]["ranks"]["rows"] == whole
    assert len(gputime.json("kernels", folder / "rank?.zip", "--no-cache")["inputs"]) == 2


def fails(gputime, path):
    found = gputime("kernels", path, "--no-cache")
    assert found.returncode == 1 and found.stdout == b"" and len(found.stderr.splitlines()) == 1
    return found.stderr.decode()


def test_errors_name_what_was_found(tmp_path, gputime):
    path = tmp_path / "many.zip"
    two = archive(path, [("a.json", TEXT), ("b/b.json", TEXT), ("readme.md", b"#")])
    message = fails(gputime, two)
    assert "with 2 traces: 'a.json', 'b/b.json'; extract it and name one, or the folder" in message
    message = fails(gputime, archive(path, [(f"{i}.json", TEXT) for i in range(9)]))
    assert "with 9 traces: '0.json', '1.json', '2.json', '3.json' ...;" in message
    message = fails(gputime, archive(path, [("a.txt", b"hello"), ("b.png", b"\x89PNG")]))
    assert "zip archive without a trace: it has 'a.txt', 'b.png'" in message
    assert "unrecognized trace format (looks like text)" in fails(gputime, archive(path, [("a.txt", b"hello")]))
    assert "zip archive without files" in fails(gputime, archive(path, []))
    assert "zip archive without files" in fails(gputime, archive(path, [("a/", b"")]))
    assert "with more than 1000 members" in fails(gputime, archive(path, [(f"{i}.txt", b"") for i in range(1001)]))
    message = fails(gputime, archive(path, [("trace.json", TEXT, zipfile.ZIP_BZIP2)]))
    assert "cannot read 'trace.json' in" in message and "neither stored nor deflated; extract it first" in message
    for other in (("readme.md", b"#"), ("a.json", TEXT)):  # it may be the one that is meant
        message = fails(gputime, archive(path, [other, ("trace.json", TEXT, zipfile.ZIP_BZIP2)]))
        assert "neither stored nor deflated; extract it first" in message
    message = fails(gputime, archive(path, [("\x1b[31mred\n.txt", b"x"), ("b.txt", b"y")]))
    assert "'?[31mred?.txt'" in message


def test_an_encrypted_member(tmp_path, gputime):
    path = archive(tmp_path / "secret.zip", [("trace.json", TEXT)])
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(data)
    assert "it is encrypted; extract it first" in fails(gputime, path)


def damage_of(gputime, path):
    report = gputime.json("summary", path, "--no-cache")
    return {issue["id"]: issue["count"] for issue in report["issues"]}.get("packing_damaged", 0)


@pytest.mark.parametrize("way", ["deflated", "stored", "streamed", "zip64"])
def test_a_wrong_checksum_is_said(way, tmp_path, gputime):
    path = WAYS[way](tmp_path / "trace.zip")
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\1\2")
    data[entry + 16] ^= 0xff
    path.write_bytes(data)
    assert rows(gputime, path) == rows(gputime, TRACE)
    assert damage_of(gputime, path) == 1
    strict = gputime("kernels", path, "--strict", "--no-cache")
    assert strict.returncode == 1 and b"packing_damaged" in strict.stderr


@pytest.mark.parametrize("way", ["deflated", "stored", "streamed", "zip64"])
def test_a_cut_archive_gives_what_is_left(way, tmp_path, gputime):
    """An oracle of its own: what zlib makes of the first bytes."""
    path = WAYS[way](tmp_path / "trace.zip")
    data = path.read_bytes()
    whole = len(rows(gputime, TRACE))
    for share in (0.3, 0.6, 0.9):
        path.write_bytes(data[:int(len(data) * share)])
        report = gputime.json("summary", path, "--no-cache")
        issues = {issue["id"] for issue in report["issues"]}
        assert "packing_damaged" in issues or "input_cut" in issues
        assert 0 <= len(report["tables"]["kernels"]["rows"]) <= whole


def test_any_damage_ends_well(tmp_path, gputime):
    """An error in one line, or a report; never a crash, and never a whole report of damaged bytes."""
    chance = random.Random(7)
    path = tmp_path / "trace.zip"
    whole = WAYS["beside others"](path).read_bytes()
    good = rows(gputime, TRACE)
    for _ in range(40):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 1, 3))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        if chance.random() < 0.3:
            del data[chance.randrange(len(data)):]
        path.write_bytes(data)
        found = gputime("kernels", path, "--json", "--no-cache")
        if found.returncode == 1:
            assert len(found.stderr.splitlines()) == 1 and found.stderr.startswith(b"gputime: ")
        else:
            report = json.loads(found.stdout)
            issues = {issue["id"] for issue in report["issues"]}
            found_rows = [{**row, "input": ""} for row in report["tables"]["kernels"]["rows"]]
            assert found.returncode == 0 and (found_rows == good or issues)


def test_absurd_numbers(tmp_path, gputime):
    """Offsets, sizes and counts that point anywhere."""
    path = tmp_path / "trace.zip"
    whole = WAYS["zip64"](path).read_bytes()
    end, entry = whole.rindex(b"PK\5\6"), whole.rindex(b"PK\1\2")
    for at, form in ((end + 10, "<H"), (end + 12, "<I"), (end + 16, "<I"), (entry + 20, "<I"), (entry + 24, "<I"),
                     (entry + 28, "<H"), (entry + 30, "<H"), (entry + 42, "<I"), (26, "<H"), (28, "<H")):
        for value in (0, 1, 0xffff, 0xfffffffe, 0xffffffff):
            data = bytearray(whole)
            struct.pack_into(form, data, at, value & (0xffff if form == "<H" else 0xffffffff))
            path.write_bytes(data)
            found = gputime("kernels", path, "--json", "--no-cache")
            assert found.returncode in (0, 1) and len(found.stderr.splitlines()) <= 1


def with_end64(data):
    """The numbers of the directory in a second end, as in archives that are too large for the first."""
    at = data.rindex(b"PK\5\6")
    count, size, offset = struct.unpack_from("<HII", data, at + 10)
    second = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, size, offset)
    locator = b"PK\6\7" + struct.pack("<IQI", 0, at, 1)
    first = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0xffff, 0xffff, 0xffffffff, 0xffffffff, 0)
    return data[:at] + second + locator + first


def test_an_end_of_64_bits(tmp_path, gputime):
    path = tmp_path / "trace.zip"
    data = with_end64(archive(path, [("trace.json", TEXT)]).read_bytes())
    path.write_bytes(data)
    assert zipfile.ZipFile(path).namelist() == ["trace.json"]  # it is one for others
    assert rows(gputime, path) == rows(gputime, TRACE)
    assert damage_of(gputime, path) == 0
    # Where the second end is not what the locator says, the members are found by their own headers.
    path.write_bytes(data.replace(b"PK\6\6", b"PK\6\0"))
    assert rows(gputime, path) == rows(gputime, TRACE)
    assert damage_of(gputime, path) == 1


@pytest.mark.parametrize("extra", [b"UT\5\0\3abcd", b"UT\5\0\3abcd" * 3, b"\x99\x99\xff\xff", b"ab"], ids=str)
def test_other_extra_fields(extra, tmp_path, gputime):
    member = zipfile.ZipInfo("trace.json")
    member.compress_type, member.extra = zipfile.ZIP_DEFLATED, extra
    path = tmp_path / "trace.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(member, TEXT)
    assert rows(gputime, path) == rows(gputime, TRACE)
    assert damage_of(gputime, path) == 0


@pytest.mark.parametrize("form", ["<III", "<IQQ"])
def test_sizes_after_members_of_a_cut_archive(form, tmp_path, gputime):
    """The directory is missing; the first member has its sizes before and after its bytes."""
    def member(name, text, after):
        flags, check = (8 if after else 0), 0 if after else zlib.crc32(text)
        head = b"PK\3\4" + struct.pack("<HHHHHIIIHH", 20, flags, 0, 0, 0, check, len(text), len(text), len(name), 0)
        return head + name + text + after

    after = b"PK\7\10" + struct.pack(form, zlib.crc32(b"notes"), 5, 5)
    path = tmp_path / "trace.zip"
    path.write_bytes(member(b"notes.txt", b"notes", after) + member(b"trace.json", TEXT, b""))
    assert rows(gputime, path) == rows(gputime, TRACE)
    assert damage_of(gputime, path) == 1
    # What follows is no sizes of either length: reading ends there.
    path.write_bytes(member(b"notes.txt", b"notes", after[:10]) + member(b"trace.json", TEXT, b""))
    assert "looks like text" in fails(gputime, path)


def test_memory_does_not_grow_with_the_archive(tmp_path, gputime):
    """A trace of which every byte is the same kind of event, 40 MB: it streams."""
    event = b'{"ph":"X","cat":"other","name":"x","pid":1,"tid":1,"ts":1,"dur":1,"args":{}},\n'
    text = b'{"traceEvents":[\n' + event * 500000 + TEXT[TEXT.index(b'"traceEvents": [') + 16:]
    path = archive(tmp_path / "large.zip", [("trace.json", text)])
    plain = tmp_path / "small.zip"
    archive(plain, [("trace.json", TEXT)])
    large, small = (peak_run(gputime, "kernels", each)[1] for each in (path, plain))
    assert large < small + 30e6
