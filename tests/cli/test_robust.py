"""Broken and hostile input: every form seen in the wild gives a report of what can be read; nothing crashes.

Uses the build with sanitizers (build/asan/gputime, or GPUTIME_ASAN) where there is one.
"""

import concurrent.futures
import gzip
import json
import lzma
import os
import random
import subprocess
import unicodedata
import zlib

import pytest

import tracegen
from conftest import DATA, check_warnings


def kernel(name='"k"', ts="10", dur="5", extra="", args='"device": 0, "stream": 7, "correlation": 1'):
    return f'{{"ph": "X", "cat": "kernel", "name": {name}, "pid": 0, "tid": 7, "ts": {ts}, "dur": {dur}{extra}, ' \
           f'"args": {{{args}}}}}'


def wrap(*events, comma=",\n"):
    return '{"traceEvents": [\n' + comma.join(events) + "\n]}\n"


FIRST, LAST = kernel('"first"', "1"), kernel('"last"', "100")

EITHER = {2, 3}  # the damaged event may be kept or lost
# name: (text of the trace, how many ops the report must have, ids of issues of which one must be reported, if any)
FORMS = {
    "control character": (wrap(FIRST, kernel('"a\x01b\nc"'), LAST), 3, {"text_repaired"}),
    "unescaped quote": (wrap(FIRST, kernel('"say "hi" now"'), LAST), EITHER, {"text_repaired", "event_damaged"}),
    "bad escape": (wrap(FIRST, kernel('"C:\\path\\kernel"'), LAST), 3, {"text_repaired"}),
    "bad unicode escape": (wrap(FIRST, kernel('"\\uZZZZ \\u12"'), LAST), 3, {"text_repaired"}),
    "lone surrogate": (wrap(FIRST, kernel('"\\ud800 x \\udc00"'), LAST), 3, set()),
    "infinite argument": (wrap(FIRST, kernel(args='"memory bandwidth (GB/s)": inf, "x": -inf, "device": 0, "stream": 7'),
                               LAST), 3, set()),
    "nan argument": (wrap(FIRST, kernel(args='"x": nan, "y": NaN, "z": Infinity, "w": N/A, "device": 0, "stream": 7'),
                          LAST), 3, set()),
    "nan duration": (wrap(FIRST, kernel(dur="NaN"), LAST), 3, {"number_unreadable"}),
    "inf duration": (wrap(FIRST, kernel(dur="inf"), LAST), 3, {"number_unreadable"}),
    "n/a time": (wrap(FIRST, kernel(ts="N/A"), LAST), 2, {"op_without_time", "number_unreadable"}),
    "time is text": (wrap(FIRST, kernel(ts='"soon"'), LAST), 2, {"op_without_time", "number_unreadable"}),
    "time is an object": (wrap(FIRST, kernel(ts='{"a": [1]}'), LAST), 2, {"op_without_time", "number_unreadable"}),
    "time is huge": (wrap(FIRST, kernel(ts="1e300"), LAST), 2, {"op_without_time", "number_unreadable"}),
    "duration is huge": (wrap(FIRST, kernel(dur="9223372036854775"), LAST), EITHER, set()),
    "no time": (wrap(FIRST, kernel(extra="").replace('"ts": 10, ', ""), LAST), 2, {"op_without_time"}),
    "trailing comma": (wrap(FIRST, LAST + ","), 2, set()),
    "trailing comma in object": (wrap(FIRST, kernel(args='"device": 0, "stream": 7,'), LAST), 3, set()),
    "missing comma": (wrap(FIRST, kernel(), LAST, comma="\n"), 3, set()),
    "missing comma on one line": (wrap(FIRST, kernel(), LAST, comma=" "), 3, set()),
    "cut in an event": (wrap(FIRST, LAST, kernel())[:-30], 2, {"input_cut"}),
    "cut after an event": (wrap(FIRST, LAST)[:-4], 2, {"input_cut"}),
    "array without end": ("[" + FIRST + ",\n" + LAST, 2, set()),
    "array that ends in a comma": ("[" + FIRST + ",\n" + LAST + ",\n", 2, set()),
    "two documents": (wrap(FIRST) + wrap(LAST), 2, {"documents_joined"}),
    "two arrays": (f"[{FIRST}]\n[{LAST}]\n", 2, {"documents_joined"}),
    "two heads interleaved": ('{"traceEvents": [\n' + FIRST + ",\n" + '{"traceEvents": [\n' + kernel() + ",\n" + LAST
                              + "\n]}\n" + kernel('"z"', "200") + "\n]}\n", {3, 4}, set()),
    "torn event": (wrap(FIRST, kernel()[:60], LAST), 2, {"event_damaged"}),
    "byte order mark": ("\ufeff" + wrap(FIRST, LAST), 2, set()),
    "events that are none": (wrap(FIRST, "1", '"text"', "null", "[1, [2]]", "true", "{}", LAST), 2, set()),
    "args are none": (wrap(FIRST, kernel().replace("{" + '"device": 0, "stream": 7, "correlation": 1' + "}", "null"),
                           LAST), 3, set()),
    "duplicate keys": (wrap(FIRST, kernel(extra=', "dur": 7, "name": "other"'), LAST), 3, set()),
    "deep nesting": (wrap(FIRST, kernel(args='"device": 0, "deep": ' + "[" * 5000 + "]" * 5000), LAST), 3, set()),
    "deep nesting cut": (wrap(FIRST, LAST, kernel(args='"deep": ' + '{"a": [' * 3000)), EITHER, set()),
    "garbage after the end": (wrap(FIRST, LAST) + "garbage \x00\x01 {[", 2, set()),
    "garbage between": (wrap(FIRST, "@@@ what ~~~", LAST), 2, {"event_damaged"}),
    "key without colon": (wrap(FIRST, kernel().replace('"ts":', '"ts"'), LAST), EITHER, set()),
    "long name": (wrap(FIRST, kernel('"' + "n" * 300_000 + '"'), LAST), 3, set()),
    "windows lines": (wrap(FIRST, kernel(), LAST).replace("\n", "\r\n"), 3, set()),
}


def write(path, text):
    path.write_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("form", FORMS)
def test_broken_form(hardened, tmp_path, form, threads):
    text, ops, ids = FORMS[form]
    path = write(tmp_path / "trace.json", text)
    report = hardened.json("kernels", path, env={"GPUTIME_THREADS": threads})
    issues = {issue["id"]: issue["count"] for issue in report["issues"]}
    names = {row["name"] for row in report["tables"]["kernels"]["rows"]}
    assert {"first", "last"} <= names, (names, issues)
    assert report["inputs"][0]["ops"] in (ops if isinstance(ops, set) else {ops}), issues
    if ids:
        assert ids & issues.keys(), issues


def test_first_of_duplicate_keys_wins(hardened, tmp_path):
    path = write(tmp_path / "trace.json", wrap(kernel('"one"', extra=', "dur": 700, "name": "two", "ts": 900')))
    [row] = hardened.json("kernels", path)["tables"]["kernels"]["rows"]
    assert (row["name"], row["total_ns"]) == ("one", 5000)


def test_invalid_utf8_gives_valid_output(hardened, tmp_path):
    raw = wrap(FIRST, kernel('"bad NAME bytes"'), LAST).encode().replace(b"NAME", b"\xff\xfe\xc3(\xed\xa0\x80")
    path = write(tmp_path / "trace.json", raw)
    for format in ("json", "text", "md", "csv"):
        done = hardened("kernels", path, "--format", format)
        assert done.returncode == 0
        if format != "csv":
            done.stdout.decode("utf-8")
    assert len(json.loads(hardened("kernels", path, "--json").stdout)["tables"]["kernels"]["rows"]) == 3


def test_members_back_to_back(hardened, tmp_path):
    text = wrap(FIRST, kernel(), LAST).encode()
    whole = write(tmp_path / "whole.json.gz", gzip.compress(text[:100]) + gzip.compress(text[100:]))
    assert hardened.json("kernels", whole)["inputs"][0]["ops"] == 3
    padded = write(tmp_path / "padded.json.gz", gzip.compress(text) + bytes(1000))
    assert hardened.json("kernels", padded)["inputs"][0]["ops"] == 3
    pack = ["zstd", "-qc"]
    frames = b"".join(subprocess.run(pack, input=part, stdout=subprocess.PIPE, check=True).stdout
                      for part in (text[:100], text[100:]))
    assert hardened.json("kernels", write(tmp_path / "frames.json.zst", frames))["inputs"][0]["ops"] == 3


def check_survival(done, what):
    assert done.returncode in (0, 1), (what, done.returncode, done.stderr[-2000:])
    if done.returncode == 0:
        check_warnings(json.loads(done.stdout), done.stderr)
    else:
        assert done.stderr.startswith(b"gputime: ") and done.stderr.count(b"\n") == 1, (what, done.stderr)


def survive_all(program, folder, suffix, variants, *command):
    """Runs the program on each (what, bytes), as many at once as there are cores."""
    def survive(numbered):
        number, (what, content, *environment) = numbered
        path = folder / f"{number}{suffix}"
        path.write_bytes(content)
        check_survival(program(*command, path, "--json", env=dict(environment)), what)
        path.unlink()

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(survive, enumerate(variants)))


EVENTS = json.loads((DATA / "devices.json").read_text())
SMALL = tracegen.layout(EVENTS, "kineto").encode()
TINY = {name: tracegen.layout([*EVENTS[1:3], *EVENTS[5:8]], name).encode() for name in ("kineto", "array_lines")}


def pack(text, packing):
    if packing == "gz":
        return gzip.compress(text)
    return subprocess.run(["zstd", "-qc"], input=text, stdout=subprocess.PIPE, check=True).stdout


# The replay of the fuzz targets cuts at every byte; here it is about what the program makes of it.
@pytest.mark.parametrize("layout", TINY)
def test_cut(hardened, tmp_path, layout):
    text = TINY[layout]
    cuts = ((f"cut at {end}", text[:end]) for end in range(0, len(text), 5))
    survive_all(hardened, tmp_path, ".json", cuts, "kernels", "--gaps", "--launches")


@pytest.mark.parametrize("packing", ["gz", "zst"])
def test_packed_cut(hardened, tmp_path, packing):
    packed = pack((DATA / "overlap.json").read_bytes(), packing)
    cuts = ((f"cut at {end}", packed[:end]) for end in range(0, len(packed), 3))
    survive_all(hardened, tmp_path, f".json.{packing}", cuts, "kernels")


def test_names_of_files_steer_nothing(hardened, tmp_path):
    """Neither in a report nor in a message does a file's name reach the terminal raw."""
    path = tmp_path / "a\x1b[31m\nb\x9b.json"
    path.write_bytes((DATA / "cut.json").read_bytes())
    for args in ([path], [path, "--md"], [path, "--csv"], [f"{path}.missing"], [path, "--strict"],
                 [path, "--name", "\x1b]0;x\x07"], ["--sort", "\x1b[2J", path], ["kernels\x1b[2J"]):
        done = hardened(*args)
        shown = done.stderr.decode() + ("" if "--csv" in args else done.stdout.decode())
        assert shown and not [char for char in shown if char != "\n" and unicodedata.category(char) == "Cc"], args
        assert done.stderr.count(b"\n") <= 1


def damaged(text, pick):
    data = bytearray(text)
    for _ in range(pick.choice([1, 1, 2, 5, 20])):
        place = pick.randrange(len(data))
        action = pick.randrange(4)
        if action == 0:
            data[place] ^= 1 << pick.randrange(8)
        elif action == 1:
            data[place] = pick.choice(b'"\\{}[],:0-e\n\x00\xff')
        elif action == 2:
            del data[place:place + pick.randrange(1, 40)]
        else:
            data[place:place] = data[(other := pick.randrange(len(data))):other + pick.randrange(1, 60)]
        data = data or bytearray(b"x")
    return bytes(data)


@pytest.mark.parametrize("command", [["kernels", "--gaps", "--launches"], ["summary"], ["gaps", "--per", "device"]],
                         ids=["kernels", "summary", "gaps"])
def test_damaged_bytes(hardened, tmp_path, command):
    def variants():
        for seed in range(100):
            pick = random.Random(f"{command} {seed}")
            text = SMALL if seed % 3 == 0 else tracegen.trace(pick.randrange(10**6))[0].encode()
            yield f"seed {seed}", damaged(text, pick), ("GPUTIME_THREADS", str(1 + seed % 3))

    survive_all(hardened, tmp_path, ".json", variants(), *command)


@pytest.mark.parametrize("packing", ["gz", "zst"])
def test_damaged_packing(hardened, tmp_path, packing):
    packed = pack(SMALL * 3, packing)
    variants = ((f"seed {seed}", damaged(packed, random.Random(seed))) for seed in range(60))
    survive_all(hardened, tmp_path, f".json.{packing}", variants, "kernels")


def test_extreme_numbers(hardened, tmp_path):
    """Times at both ends of 64 bits in one trace: no overflow, no endless loop over an endless span."""
    largest = 2**63 // 1000
    events = [kernel(f'"a{i}"', ts, dur) for i, (ts, dur) in enumerate([
        (f"-{largest - 1}", "1"), (f"{largest - 2}", "1"), (f"{largest - 1}.999", "99999"), ("0", f"{largest - 1}"),
        ("-0.0", "0.0004"), ("1e-400", "1e-9"), ("0.00049999", "1E3")])]
    args = '"device": 99999999999999999999, "stream": -9223372036854775808, "correlation": 18446744073709551616'
    path = write(tmp_path / "trace.json", wrap(FIRST, *events, kernel('"ids"', args=args), LAST))
    for command in (["kernels", "--gaps", "--launches"], [], ["gaps", "--per", "device"], ["gaps"]):
        check_survival(hardened(*command, path, "--json"), command)
        assert hardened(*command, path).returncode == 0


def test_a_dictionary_that_nobody_has_room_for(gputime, tmp_path):
    """An xz stream that asks for 3 GiB, with its checksum right."""
    packed = bytearray(lzma.compress(wrap(FIRST, LAST).encode()))
    header, size = 12, 4 * (packed[12] + 1)
    assert packed[header + 2:header + 4] == b"\x21\x01"  # LZMA2, of which one byte is the size of the dictionary
    packed[header + 4] = 39
    packed[header + size - 4:header + size] = zlib.crc32(packed[header:header + size - 4]).to_bytes(4, "little")
    path = tmp_path / "a.json.xz"
    path.write_bytes(packed)
    done = gputime(path)
    if b"xz" in done.stderr and b"built without" in done.stderr:
        pytest.skip("a build without xz")
    assert b"xz dictionary is too large" in done.stderr + done.stdout
