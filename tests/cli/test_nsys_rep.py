"""Nsight Systems reports: the same numbers as from NVIDIA's own export, broken files, and the way round through nsys."""

import functools
import gzip
import json
import os
import random
import signal
import stat
import subprocess
import time
from collections import Counter

import pytest
from samples import CAPTURES, DATA, OWN_CAPTURES, Capture, own_capture, with_shared

REPORTS = [*(capture.report for capture in OWN_CAPTURES), *sorted((DATA / "nsys-more").glob("*.nsys-rep"))]
RANKS = with_shared([], "data/h200/ranks/nsys/rank0.nsys-rep", make=Capture)
SMALL = own_capture("graph_whole").report
EXTRAS = own_capture("extras")
COMMANDS = [
    ["summary"],
    ["summary", "--from", "20%", "--to", "70%"],
    ["kernels", "--gaps", "--launches", "--top", "0", "--gap-top", "0"],
    ["kernels", "--names", "short"],
    ["gaps", "--top", "0", "--gap-top", "0"],
    ["gaps", "--per", "device", "--top", "0"],
    ["ranges", "--tree", "--top", "0"],
    ["steps"],
    ["findings"],
    ["graph"],
    ["explain"],
    ["stats"],
]
# What only a report has is in separate tables.
ONLY_IN_REPORTS = {"collectives", "comm_by_group", "driver_work", "range_texts"}
# What is reported about the file itself.
OF_THE_FILE = {"schema", "schema_columns", "schema_capabilities"}


# Findings that share the idle time: what one claims, another does not.
OF_IDLE_TIME = {"compilation", "data_loading", "allocator", "readback", "sync_waits", "host_stalls", "host_bound", "idle_gpu",
                "small_batch"}


@functools.cache
def driver_work(gputime, capture):
    return gputime.json("explain", "--table", "driver_work", capture.report)["tables"].get("driver_work", {}).get("rows")


def without_input(value):
    if isinstance(value, list):
        return [without_input(item) for item in value]
    if isinstance(value, dict):
        return {key: without_input(item) for key, item in value.items() if key != "input"}
    return value


def content(document):
    """All that must not depend on the format: everything but what names the file."""
    document = without_input(document)
    for entry in document["inputs"]:
        for key in ("path", "format", "producer"):
            del entry[key]
        entry["notes"] = [note for note in entry["notes"] if "collectives" not in note]  # of a table that exports lack
    for holder in (document, *document["inputs"]):
        facts = holder["facts"].items()
        holder["facts"] = {key: value for key, value in facts if not key.endswith(("_table", "_source"))}
    for key in ONLY_IN_REPORTS | OF_THE_FILE:
        document["tables"].pop(key, None)
    return document


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("capture", CAPTURES + RANKS, ids=str)
def test_report_and_export_say_the_same(gputime, unpacked, capture, command):
    first = gputime.json(*command, capture.report)
    second = gputime.json(*command, unpacked(capture.export))
    assert first["inputs"][0]["format"] == "nsys-rep"
    assert second["inputs"][0]["format"] == "nsys-sqlite"
    first_content, second_content = content(first), content(second)
    if driver_work(gputime, capture):  # exports lack it, and findings use it
        for document in (first_content, second_content):
            document["findings"] = [finding for finding in document["findings"] if finding["id"] not in OF_IDLE_TIME]
            document["tables"].pop("findings", None)
            document.pop("verdict", None)
            for holder in (document, *document["inputs"]):
                holder["facts"].pop("findings_verdict", None)
    assert first_content == second_content
    assert any(table["rows"] for table in first["tables"].values()) or command == ["steps"]  # of extras


def test_numbers_of_a_capture(gputime):
    entry = gputime.json(EXTRAS.report)["inputs"][0]
    assert (entry["ops"], entry["kernels"], entry["calls"], entry["ranges"]) == (800, 610, 1765, 94)
    assert entry["producer"] == "Nsight Systems 2025.3.1.0"
    assert entry["base_ns"] == "1794709052199428612"


# Counts of the rows in NVIDIA's exports, which have neither messages nor a place here.
MORE = {
    "rank0": (4154 + 418 + 112, 15142, {"all_reduce": 67, "broadcast": 16, "recv": 120, "send": 120,
                                        "all_gather": 13, "reduce_scatter": 6}),
    "zoo_10000": (3212 + 122 + 582 + 148, 8955, {}),  # with GPU metrics
}


@pytest.mark.parametrize("name", MORE)
def test_numbers_of_captures_without_an_export(gputime, name):
    document = gputime.json(DATA / "nsys-more" / f"{name}.nsys-rep")
    entry = document["inputs"][0]
    messages = Counter()
    for row in document["tables"]["collectives"]["rows"]:
        messages[row["name"]] += row["count"]
    assert (entry["ops"], entry["calls"], messages) == MORE[name]


def test_sizes_of_messages(gputime):
    report = own_capture("train").report
    document = gputime.json(report)
    (row,) = document["tables"]["collectives"]["rows"]
    # As an independent decoder sums them up.
    assert (row["name"], row["domain"], row["count"], row["bytes"]) == ("all_reduce", "NCCL", 195, 3743600640)
    assert (row["min_bytes"], row["max_bytes"]) == (4096, 131072000)
    # One rank alone launches no kernels for them.
    assert row["time_ns"] is None and row["busbw"] is None
    assert b"all_reduce" in gputime(report).stdout
    window = gputime.json(report, "--to", "50%")["tables"]["collectives"]["rows"][0]
    assert 0 < window["count"] < 195


def test_messages_are_an_empty_table_where_there_are_none(gputime):
    assert gputime.json(SMALL)["tables"]["collectives"]["rows"] == []


def test_clones_lead_to_the_graph_that_was_captured(gputime, unpacked):
    for path in (EXTRAS.report, unpacked(EXTRAS.export)):
        # 15 launches of an executable of the captured graph and 15 of one of its clone, 13 nodes each.
        (row,) = gputime.json(path)["tables"]["graphs"]["rows"]
        assert (row["graph"], row["launches"], row["ops"]) == (1, 30, 390)
        assert row["total_ns"] == 1223571 and row["avg_ns"] == 1223571 / 30


def test_categories_of_ranges(gputime, unpacked):
    for path in (EXTRAS.report, unpacked(EXTRAS.export)):
        rows = gputime.json("ranges", path)["tables"]["range_categories"]["rows"]
        assert [(row["category"], row["domain"], row["instances"], row["ops"]) for row in rows] == [
            ("io", "", 20, 40),
            ("layers", "engine", 20, 100),
        ]
        assert b"Range categories" in gputime("ranges", path).stdout


def test_work_of_the_driver(gputime):
    rows = gputime.json(EXTRAS.report)["tables"]["driver_work"]["rows"]
    # As an independent decoder sums up the events of class 103.
    assert [(row["name"], row["count"], row["total_ns"]) for row in rows] == [
        ("Runtime Triggered Module Loading", 4, 57728057),
        ("Lazy Function Loading", 5, 365260),
    ]


def test_texts_that_xla_attaches(gputime, unpacked):
    jax = own_capture("jax")
    rows = gputime.json("ranges", jax.report)["tables"]["range_texts"]["rows"]
    assert {row["domain"] for row in rows} == {"TSL"}
    counts = Counter()
    for row in rows:
        counts[row["key"]] += row["count"]
    assert counts == {"Called HLO": 390, "Name": 13, "Common source locations": 6}
    for row in rows:
        if row["key"] == "Name":
            assert f"hlo_module={row['text']}" in row["name"]
    assert gputime.json("ranges", unpacked(jax.export))["tables"]["range_texts"]["rows"] == []


def json_of_lossy(gputime, *args):
    """The report of a trace that was only partly read, which is remarked on in one line."""
    done = gputime(*args, "--json")
    assert done.returncode == 0 and done.stderr.count(b"\n") <= 1, done
    return json.loads(done.stdout)


# ---- packed, piped ----


def test_packed_and_piped_reports(gputime, tmp_path):
    plain = gputime.json(SMALL)
    packed = tmp_path / "a.nsys-rep.gz"
    packed.write_bytes(gzip.compress(SMALL.read_bytes()))
    assert content(gputime.json(packed)) == content(plain)
    done = gputime("-", "--json", stdin=SMALL.read_bytes())
    assert done.returncode == 0, done.stderr
    assert content(json.loads(done.stdout)) == content(plain)
    packed.write_bytes(packed.read_bytes()[: packed.stat().st_size // 2])
    document = json_of_lossy(gputime, packed)
    assert {"input_cut", "packing_damaged"} <= {issue["id"] for issue in document["issues"]}


# ---- broken ----


def issue_counts(document):
    return {issue["id"]: issue["count"] for issue in document["issues"]}


def test_cut_reports_give_what_is_there(hardened, tmp_path):
    whole = SMALL.read_bytes()
    path = tmp_path / "cut.nsys-rep"
    places = sorted({*range(0, 1200, 100), *range(1200, len(whole), len(whole) // 60), len(whole) - 1})
    ops = []
    for size in places:
        path.write_bytes(whole[:size])
        done = hardened(path, "--json", "--reader", "native")
        if done.returncode == 1:
            assert done.stdout == b"" and done.stderr.count(b"\n") == 1, (size, done.stderr)
            continue
        assert done.returncode == 0, (size, done.stderr)
        document = json.loads(done.stdout)
        assert issue_counts(document)["input_cut"] == 1
        ops.append(document["inputs"][0]["ops"])
    assert ops == sorted(ops) and ops[0] == 0 and ops[-1] == 120


def test_a_cut_before_the_strings_loses_the_names_only(gputime, tmp_path):
    path = tmp_path / "cut.nsys-rep"
    path.write_bytes(EXTRAS.report.read_bytes()[:61000])  # the events end at 60953
    document = json_of_lossy(gputime, "kernels", path)
    assert [row["name"] for row in document["tables"]["kernels"]["rows"]] == ["?"]
    assert document["tables"]["kernels"]["rows"][0]["count"] == 610
    counts = issue_counts(document)
    assert counts["input_cut"] == 1 and counts["op_without_name"] == 610 and counts["records_missing"] > 100
    done = gputime(path, "--strict")
    assert done.returncode == 1 and b"input_cut" in done.stderr


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.stem)
def test_flipped_bytes(hardened, tmp_path, report):
    """A flip may go unseen, for the format has no checksums, but it never breaks the program."""
    whole = report.read_bytes()
    dice = random.Random(report.stem)
    path = tmp_path / "flipped.nsys-rep"
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(dice.choice((1, 1, 4, 40))):
            damaged[dice.randrange(31, len(whole))] = dice.randrange(256)
        path.write_bytes(damaged)
        done = hardened(path, "--json", "--reader", "native")
        assert done.returncode in (0, 1), done.stderr
        if done.returncode == 0:
            json.loads(done.stdout)
        else:
            assert done.stderr.startswith(b"gputime: ") and done.stderr.count(b"\n") == 1, done.stderr


# ---- by way of nsys ----


@pytest.fixture
def unknown(tmp_path):
    """A report whose events say that they are packed in a way that is not known."""
    path = tmp_path / "new.nsys-rep"
    whole = SMALL.read_bytes()
    assert whole.count(b"J\x03lz4") == 1
    path.write_bytes(whole.replace(b"J\x03lz4", b"J\x03br2"))
    return path


class FakeNsys:
    """A program that replaces nsys, and a place for temporary files that can be looked into."""

    def __init__(self, folder, database):
        self.folder = folder / "bin"
        self.temporary = folder / "temporary"
        self.database = database
        self.said = folder / "arguments"
        self.folder.mkdir()
        self.temporary.mkdir()
        self.write(f'cp "{database}" "$5"')

    @property
    def path(self):
        return self.folder / "nsys"

    def write(self, script):
        self.path.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$@" > "{self.said}"\nstat -c %a "$(dirname "$5")" >> "{self.said}"\n{script}\n'
        )
        self.path.chmod(self.path.stat().st_mode | stat.S_IXUSR)

    def environment(self):
        return {"PATH": f"{self.folder}:{os.environ['PATH']}", "TMPDIR": str(self.temporary)}


@pytest.fixture
def nsys(tmp_path, unpacked):
    return FakeNsys(tmp_path, unpacked(own_capture("graph_whole").export))


def test_unknown_reports_are_read_with_nsys(gputime, nsys, unknown):
    document = gputime.json(unknown, env=nsys.environment())
    assert content(document) == content(gputime.json(nsys.database))
    export, kind, sqlite, option, output, payloads, report, mode = nsys.said.read_text().splitlines()
    assert (export, kind, sqlite, option) == ("export", "--type", "sqlite", "--output")
    assert payloads == "--include-blobs=true"  # sizes of collectives
    assert output.startswith(f"{nsys.temporary}/gputime-") and output.endswith(".sqlite")
    assert report.endswith(".nsys-rep") and mode == "700"
    assert list(nsys.temporary.iterdir()) == []


def test_nsys_can_be_asked_for_and_named(gputime, nsys, unknown):
    elsewhere = nsys.path.rename(nsys.folder / "other-nsys")
    for option in ("--nsys-cmd", "--nsys_cmd"):
        document = gputime.json(SMALL, "--reader", "nsys", option, elsewhere, env={"TMPDIR": str(nsys.temporary)})
        assert document["inputs"][0]["format"] == "nsys-sqlite"
    assert gputime.json(SMALL, "--nsys-cmd", elsewhere)["inputs"][0]["format"] == "nsys-rep"
    # A relative name, a name on PATH, and input that nsys could not open itself.
    done = gputime.json(unknown, "--nsys-cmd", "./other-nsys", cwd=nsys.folder, env=nsys.environment())
    assert done["inputs"][0]["ops"] == 120
    done = gputime("-", "--json", "--nsys-cmd", "other-nsys", stdin=unknown.read_bytes(), env=nsys.environment())
    assert done.returncode == 0, done.stderr
    assert list(nsys.temporary.iterdir()) == []


def failure(gputime, *args, **settings):
    done = gputime(*args, **settings)
    assert done.returncode == 1 and done.stdout == b"" and done.stderr.count(b"\n") == 1, done
    return done.stderr.decode()


def test_without_nsys_both_remedies_are_named(gputime, nsys, unknown):
    for options in (["--reader", "native"], ["--nsys-cmd", "/nowhere/nsys"]):
        text = failure(gputime, unknown, *options, env=nsys.environment())
        assert "'br2'" in text and "install nsys" in text and "nsys export --type sqlite" in text
        assert ("no program '/nowhere/nsys'" in text) == (options[0] == "--nsys-cmd")
    text = failure(gputime, SMALL, "--reader", "nsys", "--nsys-cmd", "/nowhere/nsys")
    assert "no program '/nowhere/nsys'" in text


@pytest.mark.parametrize(
    "script, expected",
    [
        ("echo starting; echo 'cannot\topen' >&2; exit 3", "failed with status 3: cannot open"),
        ("exit 0", "failed with status 0 and wrote nothing"),
        ("kill -9 $$", "was killed by signal 9"),
        ('echo this is no database > "$5"', "cannot read the nsys export of"),
        ('cat "$6" > "$5"', "not an SQLite database"),
        ('head -c 3000 "{database}" > "$5"', "cannot read the nsys export of"),
        ('mkdir "$5"', "it is a directory"),
        ("printf 'x\\033[31mred\\177\\n' >&2; exit 3", "failed with status 3: x [31mred"),
        ("seq 10000 >&2; exit 3", "failed with status 3: 10000"),
    ],
)
def test_failures_of_nsys(gputime, nsys, unknown, script, expected):
    nsys.write(script.format(database=nsys.database))
    text = failure(gputime, unknown, env=nsys.environment())
    assert expected in text
    assert list(nsys.temporary.iterdir()) == []


@pytest.mark.parametrize("place", ["missing", "x" * 5000], ids=["missing", "long"])
def test_no_place_for_the_export(gputime, nsys, unknown, place):
    text = failure(gputime, unknown, env=nsys.environment() | {"TMPDIR": f"{nsys.temporary}/{place}"})
    assert "cannot create a temporary directory: " in text and "set TMPDIR to a writable directory" in text


def test_the_usual_place_for_the_export(gputime, nsys, unknown):
    assert gputime.json(unknown, env=nsys.environment() | {"TMPDIR": ""})["inputs"][0]["ops"] == 120
    made = nsys.said.read_text().splitlines()[4]
    assert made.startswith("/tmp/gputime-") and not os.path.exists(os.path.dirname(made))


def test_reports_by_relative_and_old_names(gputime, nsys, unknown):
    """nsys sees a name that it knows, wherever it is started."""
    old = unknown.rename(unknown.with_name("a.qdrep"))
    assert gputime.json("a.qdrep", cwd=old.parent, env=nsys.environment())["inputs"][0]["ops"] == 120
    assert nsys.said.read_text().splitlines()[6].endswith("/report.qdrep")
    short = old.rename(old.with_name("r"))
    assert gputime.json("r", cwd=short.parent, env=nsys.environment())["inputs"][0]["ops"] == 120
    assert nsys.said.read_text().splitlines()[6].endswith("/report.nsys-rep")


def test_what_is_no_program_is_passed_over(gputime, nsys, unknown):
    """Before the program there is a folder of that name on PATH, and a file that may not be run."""
    others = [nsys.folder / "first", nsys.folder / "second"]
    (others[0] / "nsys").mkdir(parents=True)
    others[1].mkdir()
    (others[1] / "nsys").write_text("not to be run")
    environment = nsys.environment()
    environment["PATH"] = ":".join(map(str, others)) + f"::{environment['PATH']}"
    assert gputime.json(unknown, env=environment)["inputs"][0]["ops"] == 120
    environment["PATH"] = str(others[0])
    assert "install nsys" in failure(gputime, unknown, env=environment)


def test_a_program_that_cannot_be_run(gputime, nsys, unknown):
    nsys.path.write_text("#!/nowhere/interpreter\n")
    assert "cannot run" in failure(gputime, unknown, env=nsys.environment())
    assert list(nsys.temporary.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_folder_goes_when_the_program_is_killed(gputime, nsys, unknown, number):
    nsys.write('touch "$5"; exec sleep 60')
    environment = gputime.environment | nsys.environment()
    running = subprocess.Popen([gputime.binary, unknown], env=environment, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while not list(nsys.temporary.glob("*/*.sqlite")) and time.monotonic() < until:
        time.sleep(0.02)
    assert list(nsys.temporary.glob("*/*.sqlite"))
    running.send_signal(number)
    assert running.wait() == -number
    while list(nsys.temporary.iterdir()) and time.monotonic() < until:
        time.sleep(0.02)
    assert list(nsys.temporary.iterdir()) == []
