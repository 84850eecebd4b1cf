"""Machines that fail and files that claim too much: a full disk, little memory, a short stack, other locales, files that
change while they are read, many processes and inputs; and memory that stays in proportion to what is kept.

docs/robustness.md lists the limits that are tested here.
"""

import concurrent.futures
import gzip
import json
import os
import resource
import sqlite3
import struct
import subprocess
import sys
import time

import pytest

from conftest import DATA
from test_errors import FAILED, check_error

OVERLAP = DATA / "overlap.json"
MEGABYTE = 1 << 20


def event(name, start, more=""):
    return f'{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": 7, "ts": {start}, "dur": 1{more}}}'


def limited(gputime, *args, **limits):
    """A run under limits of the system: STACK=64 << 10 and the like."""
    def limit():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))

    return subprocess.run([gputime.binary, *map(os.fspath, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=gputime.environment, preexec_fn=limit, timeout=120)


# ---- machines that fail -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["summary", "--json"], ["kernels", "-q"], ["explain", "--html"]], ids=" ".join)
def test_full_disk(gputime, tmp_path, command):
    target = tmp_path / "out"
    target.write_text("old")
    done = limited(gputime, *command, OVERLAP, "--no-cache", "-o", target, FSIZE=512)
    check_error(done, FAILED, "out")
    assert target.read_text() == "old" and os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("command", ["summary", "kernels", "gaps", "ranges", "steps", "findings", "explain", "stats"])
@pytest.mark.parametrize("sample", ["devices.json", "nsys/graph_whole.nsys-rep", "nsys-csv/mini_cuda_gpu_trace.csv"])
def test_short_stack(gputime, command, sample):
    done = limited(gputime, command, DATA / sample, "--no-cache", "--threads", "3", STACK=64 << 10)
    assert done.returncode == 0 and done.stdout, done.stderr


def test_short_stack_for_a_folder(gputime, tmp_path):
    done = limited(gputime, "explain", DATA / "devices.json", "--out", tmp_path / "out", STACK=64 << 10)
    assert done.returncode == 0 and (tmp_path / "out" / "report.json").exists(), done.stderr


@pytest.mark.parametrize("megabytes", [16, 24, 32, 48, 64, 128, 512])
def test_little_memory(gputime, megabytes):
    done = limited(gputime, DATA / "torch" / "llama_train_compiled.json.gz", "--no-cache", AS=megabytes * MEGABYTE)
    if done.returncode != 0 and done.stderr.startswith(b"gputime: "):
        check_error(done, FAILED, "memory")
    elif megabytes > 32:  # below that the system itself may not be able to start the program
        assert done.returncode == 0


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1", "no_SUCH.locale"])
def test_other_locale(gputime, tmp_path, locale):
    path = os.path.join(os.fsencode(tmp_path), b"tr\xe4ce \xff\xfe.json")
    with open(path, "wb") as file:
        file.write(OVERLAP.read_bytes())
    for format in ("text", "json", "md", "html"):
        done = gputime(path, "--format", format, "--no-cache", env={"LC_ALL": locale})
        assert done.returncode == 0 and done.stderr == b"" and done.stdout.decode("utf-8")
    done = gputime(path + b"x", env={"LC_ALL": locale})
    check_error(done, FAILED, "tr")


def test_output_of_any_name(gputime, tmp_path):
    target = os.path.join(os.fsencode(tmp_path), b"out \xff\n.json")
    assert gputime(OVERLAP, "-o", target).returncode == 0
    assert json.loads(open(target, "rb").read())["command"] == "summary"


def large_trace(path, events=100_000):
    path.write_text('{"traceEvents": [\n' + ",\n".join(event(f"k{i % 97}", 2 * i) for i in range(events)) + "\n]}\n")
    return path


@pytest.mark.parametrize("change", ["shrinks", "is replaced", "is removed"])
def test_file_changes_while_read(gputime, tmp_path, change):
    for delay in (0, 0.005, 0.02, 0.05):
        path = large_trace(tmp_path / "trace.json")
        program = subprocess.Popen([gputime.binary, path, "--json", "--no-cache"], env=gputime.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(delay)
        if change == "shrinks":
            os.truncate(path, 1000)
        elif change == "is replaced":
            path.write_bytes(OVERLAP.read_bytes())
        else:
            path.unlink()
        output, message = program.communicate(timeout=60)
        assert program.returncode in (0, FAILED), (delay, program.returncode, message)
        assert message.count(b"\n") <= 1
        if program.returncode == 0:
            json.loads(output)


def test_processes_share_a_cache(gputime, tmp_path):
    path = large_trace(tmp_path / "trace.json", 20_000)
    os.utime(path, (1_600_000_000, 1_600_000_000))
    args = ["kernels", path, "--json", "--cache-after", "0ns"]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda _: gputime(*args, env={"GPUTIME_CACHE": str(tmp_path / "cache")}), range(24)))
    assert {(run.returncode, run.stdout, run.stderr) for run in runs} == {(0, runs[0].stdout, b"")}
    [kept] = os.listdir(tmp_path / "cache")
    assert "tmp" not in kept


def test_thousand_inputs(gputime, tmp_path):
    paths = []
    for number in range(1000):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].symlink_to(OVERLAP)
    report = gputime.json("kernels", "--no-cache", *paths)
    assert len(report["inputs"]) == 1000 and len({row["input"] for row in report["tables"]["kernels"]["rows"]}) == 1000


# ---- files that claim too much ----------------------------------------------------------------------------------------


# Until it runs another program, a new process counts the memory of the old one: that must be a small one.
MEASURE = """import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
os.write(2, b"%d" % usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status) & 255)"""


def peak_run(gputime, *args):
    """A run and its peak of memory in bytes."""
    done = subprocess.run([sys.executable, "-SIc", MEASURE, gputime.binary, *map(os.fspath, args), "--no-cache"],
                          env=gputime.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)
    *message, kilobytes = done.stderr.split(b"\n")
    done.stderr = b"".join(line + b"\n" for line in message)
    return done, int(kilobytes) * 1024


def report_within(gputime, bytes_max, *args):
    done, peak = peak_run(gputime, "kernels", "--json", *args)
    assert done.returncode == 0, done.stderr
    assert peak < bytes_max, f"{peak / MEGABYTE:.0f} MB"
    report = json.loads(done.stdout)
    return report, {issue["id"]: issue["count"] for issue in report["issues"]}


def packed(path, *pieces):
    """Writes pieces of text, or (piece, times), packed."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        for piece in pieces:
            text, times = piece if isinstance(piece, tuple) else (piece, 1)
            block = text.encode() * min(times, 1 << 16)
            for _ in range(times // (1 << 16)):
                file.write(block)
            file.write(text.encode() * (times % (1 << 16)))
    return path


HEAD = '{"traceEvents": [' + event("first", 1) + ","
TAIL = event("last", 9) + "]}"


@pytest.mark.parametrize("filling", [" ", "{},", "0,", "[[],{}],"])
def test_bomb(gputime, tmp_path, filling):
    """What gives no row costs no memory, however much of it there is."""
    path = packed(tmp_path / "bomb.json.gz", HEAD, (filling, 200 * MEGABYTE // len(filling)), TAIL)
    assert path.stat().st_size < 4 * MEGABYTE
    report, _ = report_within(gputime, 96 * MEGABYTE, path)
    assert report["inputs"][0]["ops"] == 2


def test_huge_name(gputime, tmp_path):
    """An event of over 64 MiB is left out, and said to be."""
    path = packed(tmp_path / "name.json.gz", HEAD, '{"ph": "X", "cat": "kernel", "ts": 2, "dur": 1, "name": "',
                  ("n", 200 * MEGABYTE), '"},', TAIL)
    report, issues = report_within(gputime, 256 * MEGABYTE, path)
    assert report["inputs"][0]["ops"] == 2 and issues["event_damaged"] >= 1
    check_error(gputime(path, "--strict"), FAILED, "name.json.gz")


def test_huge_row(gputime, tmp_path):
    """A row of a CSV is left out above 16 MiB."""
    path = tmp_path / "long_cuda_gpu_trace.csv"
    text = (DATA / "nsys-csv" / "mini_cuda_gpu_trace.csv").read_text()
    path.write_text(text + text.splitlines()[-1] + "n" * (40 * MEGABYTE) + "\n" + text.splitlines()[-1] + "\n")
    whole = gputime.json("kernels", DATA / "nsys-csv" / "mini_cuda_gpu_trace.csv")["inputs"][0]["ops"]
    report, issues = report_within(gputime, 160 * MEGABYTE, path)
    assert report["inputs"][0]["ops"] == whole + 1 and issues["event_damaged"] >= 1


def test_many_names(gputime, tmp_path):
    """Names cost what they hold: a million of them here."""
    count = 1_000_000
    path = tmp_path / "names.json"
    with open(path, "w") as file:
        file.write('{"traceEvents": [')
        file.writelines(event(f"kernel_{i}", 2 * i) + ",\n" for i in range(count))
        file.write(TAIL)
    done, peak = peak_run(gputime, "kernels", "--csv", "--top", "3", path)
    assert done.returncode == 0 and done.stdout.count(b"\n") == 4
    assert peak < 1000 * count


@pytest.mark.parametrize("opening, closing", [("[", "]"), ('{"a":', "0}"), ("[", "")])
def test_deep_nesting(gputime, tmp_path, opening, closing):
    depth = 1_000_000
    inner = opening * depth + (closing * depth if closing != "0}" else "0" + "}" * depth)
    path = tmp_path / "deep.json"
    path.write_text(HEAD + event("deep", 2, f', "args": {{"x": {inner}}}') + ("," + TAIL if closing else ""))
    done = limited(gputime, "kernels", "--json", "--no-cache", path, STACK=256 << 10)
    names = {row["name"] for row in json.loads(done.stdout)["tables"]["kernels"]["rows"]}
    assert done.returncode == 0 and ({"first", "deep", "last"} if closing else {"first"}) <= names


def zstd_frame(window_log, content):
    """One raw block after a header that asks for a window of 2^window_log bytes."""
    return struct.pack("<IBB", 0xFD2FB528, 0, (window_log - 10) << 3) + struct.pack("<I", 1 | len(content) << 3)[:3] + content


def test_zstd_window(gputime, tmp_path):
    """A window of up to 2 GiB may be asked for, but only what is filled is touched; a larger one is refused."""
    path = tmp_path / "trace.json.zst"
    path.write_bytes(zstd_frame(31, OVERLAP.read_bytes()))
    report, _ = report_within(gputime, 64 * MEGABYTE, path)
    assert report["inputs"][0]["ops"] == gputime.json(OVERLAP)["inputs"][0]["ops"]
    path.write_bytes(zstd_frame(40, OVERLAP.read_bytes()))
    check_error(gputime(path), FAILED, "zstd window is too large")


def damage(path, offset, replacement):
    data = bytearray(path.read_bytes())
    data[offset:offset + len(replacement)] = replacement
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("filling", ["(", "()", ", a", "a ", "/*", '"'])
def test_statements_of_megabytes(gputime, tmp_path, filling):
    """A table whose statement cannot be read is reported; the others are as they were."""
    path = tmp_path / "statement.sqlite"
    path.write_bytes(gzip.decompress((DATA / "nsys" / "extras.sqlite.gz").read_bytes()))
    whole = gputime.json("kernels", path)["inputs"][0]["ops"]
    sql = "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (a " + filling * (8 * MEGABYTE // len(filling))
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'CUPTI_ACTIVITY_KIND_MEMSET'", (sql,))
    database.close()
    report, issues = report_within(gputime, 96 * MEGABYTE, path)
    assert issues["table_unreadable"] == 1 and 0 < report["inputs"][0]["ops"] < whole
    done = limited(gputime, "kernels", "--no-cache", path, STACK=256 << 10)
    assert done.returncode == 0, done.stderr


def test_damaged_pages(gputime, tmp_path):
    """Of a table with damaged pages all other rows are read, and the loss is counted."""
    path = tmp_path / "extras.sqlite"
    content = gzip.decompress((DATA / "nsys" / "extras.sqlite.gz").read_bytes())
    path.write_bytes(content)
    whole = gputime.json("kernels", path)["inputs"][0]["ops"]
    page = struct.unpack(">H", content[16:18])[0]
    leaves = [number for number in range(1, len(content) // page) if content[number * page] == 0x0D]
    lost = 0
    for number in leaves[len(leaves) // 2:len(leaves) // 2 + 30]:
        path.write_bytes(content)
        damage(path, number * page, b"\x99" * 16)
        report, issues = report_within(gputime, 64 * MEGABYTE, path)
        ops = report["inputs"][0]["ops"]
        assert ops >= whole - page // 16, number
        if ops < whole:
            lost += 1
            assert issues["event_damaged"] >= 1
            check_error(gputime("kernels", path, "--strict"), FAILED, "extras.sqlite")
    assert lost > 0


def test_packet_that_promises(gputime, tmp_path):
    """A Perfetto trace with a packet of gigabytes: what follows it is not kept in the hope of its end."""
    whole = (DATA / "perfetto" / "sampled.pftrace").read_bytes()
    ops = gputime.json("kernels", DATA / "perfetto" / "sampled.pftrace", "--no-cache")["inputs"][0]["ops"]
    path = tmp_path / "packet.pftrace.gz"
    path.write_bytes(gzip.compress(whole + b"\x0a" + b"\x80\x80\x80\x80\x10") + 600 * gzip.compress(bytes(MEGABYTE), 1))
    assert path.stat().st_size < 4 * MEGABYTE
    report, issues = report_within(gputime, 96 * MEGABYTE, path)
    assert report["inputs"][0]["ops"] == ops > 0 and issues["event_damaged"] == 1 and "input_cut" not in issues
    check_error(gputime("kernels", path, "--strict"), FAILED, "packet.pftrace.gz")


def test_report_that_promises(gputime, tmp_path):
    """A report whose index and blocks claim gigabytes."""
    path = tmp_path / "report.nsys-rep"
    content = (DATA / "nsys" / "graph_whole.nsys-rep").read_bytes()
    place = content.index(b"QDTEXT00")
    for offset in range(place + 8, place + 160, 3):
        path.write_bytes(content)
        damage(path, offset, b"\xff\xff\xff\xff\x7f")
        done, peak = peak_run(gputime, "kernels", "--json", "--reader", "native", path)
        assert done.returncode in (0, FAILED) and done.stderr.count(b"\n") <= 1
        assert peak < 300 * MEGABYTE
