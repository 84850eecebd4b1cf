"""Perfetto traces as input: what gputime exports gives the same report, and what others write is understood."""

import collections
import gzip
import json
import random
import shutil
import struct
import subprocess
import zlib

import pytest

from kineto_by_hand import Trace
from peak import peak_run
from perfetto_writer import BEGIN, COUNTER, END, INSTANT, event, message, packet, process, thread, track
from protobuf_by_hand import fields, varint
from samples import DATA

SAMPLES = [*(DATA / name for name in ("devices.json", "late_start.json", "overlap.json", "sampled.json", "names.json")),
           *sorted((DATA / "torch").glob("*.json.gz")), *sorted((DATA / "nsys").glob("*.nsys-rep"))]

# Commands whose tables are equal, cell for cell, after an export and reading it again.
COMMANDS = {
    "kernels": ["kernels", "--top", "0"], "gaps": ["gaps", "--top", "0"], "steps": ["steps"], "ranges": ["ranges"],
    "summary": ["summary", "--top", "0"], "stats": ["stats"],
}
# What a Perfetto trace does not hold: records of collectives and categories of ranges. Findings say how a trace was
# recorded, and which facts it has.
NOT_KEPT = {"collectives", "comm_by_group", "comm_by_size", "range_categories", "range_texts", "findings"}
ROW_NUMBERS = {"range_instances"}  # are listed by row of the store; exports have them by track


def report(gputime, path, *arguments):
    done = gputime(arguments[0], path, *arguments[1:], "--json", "--no-cache")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def tables(found):
    return {key: [{name: cell for name, cell in row.items() if name != "input"} for row in table["rows"]]
            for key, table in found["tables"].items() if key not in NOT_KEPT | ROW_NUMBERS}


@pytest.fixture(scope="module", params=SAMPLES, ids=lambda path: path.name)
def pair(request, gputime, tmp_path_factory):
    path = tmp_path_factory.mktemp("perfetto") / "t.pftrace"
    done = gputime("export", "--no-cache", request.param, "-o", path)
    assert done.returncode == 0, done.stderr
    return request.param, path


@pytest.mark.parametrize("command", COMMANDS)
def test_an_export_gives_the_same_report(gputime, pair, command):
    own, again = (report(gputime, path, *COMMANDS[command]) for path in pair)
    assert tables(again) == tables(own)
    facts = {key: value for key, value in own["facts"].items() if key not in ("findings_verdict", "launch_calls")}
    assert {key: again["facts"].get(key) for key in facts} == facts
    assert {(one["id"], one["count"]) for one in again["issues"]} == {(one["id"], one["count"]) for one in own["issues"]}
    for key in ("ops", "calls", "ranges", "cpu_ops", "origin_ns", "base_ns", "rank", "world_size", "producer", "host"):
        assert again["inputs"][0][key] == own["inputs"][0][key], key


def rows_of(rows, table, *keys):
    """The rows of a table with what their threads and streams are, in no order."""
    def place(row):
        if row.get("lane") is not None:
            lane = rows["lanes"][row["lane"]]
            pid = rows["processes"][lane["process"]]["pid"] if lane["process"] is not None else None
            return rows["devices"][lane["device"]]["id"], lane["stream"], pid
        if row.get("thread") is None:
            return None
        found = rows["threads"][row["thread"]]
        return rows["processes"][found["process"]]["pid"], found["tid"]

    return collections.Counter((*(row[key] for key in keys), place(row)) for row in rows[table])


def test_rows_survive(dump_rows, pair):
    own, again = map(dump_rows, pair)
    assert rows_of(again, "ops", "start_ns", "end_ns", "name", "kind", "flags") == rows_of(own, "ops", "start_ns", "end_ns", "name", "kind", "flags")
    for table in ("calls", "cpu_ops", "python_calls", "overheads", "driver_work"):
        assert rows_of(again, table, "start_ns", "end_ns", "name") == rows_of(own, table, "start_ns", "end_ns", "name"), table
    assert rows_of(again, "ranges", "start_ns", "end_ns", "name", "domain", "kind") == rows_of(own, "ranges", "start_ns", "end_ns", "name", "domain", "kind")
    of_op = {"copies": ("bytes", "src", "dst"), "graph_ops": ("graph",),
             "kernel_configs": ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "registers", "shared_bytes",
                                "static_shared_bytes", "dynamic_shared_bytes", "local_bytes", "occupancy_percent", "cluster_x")}
    for table, keys in of_op.items():
        found = [collections.Counter((rows["ops"][row["op"]]["start_ns"], rows["ops"][row["op"]]["name"], *(row[key] for key in keys))
                                     for row in rows[table]) for rows in (own, again)]
        assert found[0] == found[1], table
    for table in ("counters", "sample_times"):
        assert len(own[table]) == len(again[table]) or table == "sample_times"
    values = [collections.Counter((row["time_ns"], row["value"]) for row in rows["counters"]) for rows in (own, again)]
    assert not values[0] - values[1]


# ---- as others write them ----


def read(dump_rows, tmp_path, data, name="a.pftrace"):
    (tmp_path / name).write_bytes(data)
    return dump_rows(tmp_path / name)


def times(rows, table, *keys):
    return sorted((row["start_ns"], row["end_ns"], *(row[key] for key in keys)) for row in rows[table])


def test_pytorch_writes_all_begins_before_all_ends(dump_rows, tmp_path):
    """No categories, names interned once, slices of a track in two groups, nested ones and neighbours among them."""
    kernels = [(1000 + 100 * i, 1000 + 100 * i + 100, i % 3) for i in range(20)]  # each ends when the next begins
    calls = [(10 * i, 10 * i + 7) for i in range(20)]
    names = ["gemm_kernel", "Memcpy HtoD (Pinned -> Device)", "softmax", "cudaLaunchKernel", "outer"]
    data = process(1, 77, "python") + thread(2, 1, 77, 77, "main") + process(3, 900, "GPU 0") + thread(4, 3, 900, 7, "stream 7")
    data += packet((10, 1), (13, 1), (12, message((2, [message((1, i + 1), (2, name)) for i, name in enumerate(names)]))))
    for i, (start, _, name) in enumerate(kernels):
        args = {"device": 0, "stream": 7, "correlation": i + 1, "grid": [8, 1, 1], "block": [128, 1, 1], "registers per thread": 32}
        args |= {"bytes": 4096} if name == 1 else {}
        data += packet((8, start), (10, 1), (13, 2), (11, event(BEGIN, 4, name_iid=name + 1, args=args)))
    data += b"".join(packet((8, end), (10, 1), (11, event(END, 4))) for _, end, _ in kernels)
    data += packet((8, 0), (10, 1), (13, 2), (11, event(BEGIN, 2, name_iid=5)))
    for i, (start, _) in enumerate(calls):
        data += packet((8, start), (10, 1), (13, 2), (11, event(BEGIN, 2, name_iid=4, args={"correlation": i + 1})))
    data += b"".join(packet((8, end), (10, 1), (11, event(END, 2))) for _, end in [*calls, (0, 500)])
    rows = read(dump_rows, tmp_path, data)
    assert times(rows, "ops", "name", "correlation") == [(*kernel[:2], names[kernel[2]], i + 1) for i, kernel in enumerate(kernels)]
    assert times(rows, "calls", "correlation") == [(*call, i + 1) for i, call in enumerate(calls)]
    assert times(rows, "ranges", "name") == [(0, 500, "outer")]
    assert {row["kind"] for row in rows["ops"]} == {"kernel", "memcpy"}
    assert {(row["grid_x"], row["block_x"], row["registers"]) for row in rows["kernel_configs"]} == {(8, 128, 32)}
    assert {row["bytes"] for row in rows["copies"]} == {4096}
    assert {(row["stream"], rows["devices"][row["device"]]["id"]) for row in rows["lanes"]} == {(7, 0)}


def test_rocprofv3_names_agents_queues_and_threads_in_arguments(dump_rows, tmp_path):
    data = process(1, 50, "app") + track(10, 1, "THREAD 51") + track(11, 0, "COMPUTE AGENT [1] QUEUE [0] (GPU)")
    common = {"begin_ns": 0, "delta_ns": 0, "tid": 51}
    steps = [(100, 140, 10, "hipLaunchKernel", "hip_api", {**common, "corr_id": 5}),
             (150, 190, 10, "hsa_queue_create", "hsa_api", {**common, "corr_id": 6}),
             (90, 300, 10, "region", "marker_api", {**common, "corr_id": 4}),
             (200, 280, 11, "vector_add", "kernel_dispatch", {**common, "agent": "1", "queue": 3, "corr_id": 5}),
             (300, 350, 11, "MEMORY_COPY_HOST_TO_DEVICE", "memory_copy", {**common, "dst_agent": "1", "stream_id": 2, "copy_bytes": 99, "corr_id": 7})]
    for start, end, uuid, name, category, args in sorted(steps, key=lambda step: step[0]):
        data += packet((8, start), (10, 3), (11, event(BEGIN, uuid, name, category, args)))
        data += packet((8, end), (10, 3), (11, event(END, uuid)))
    rows = read(dump_rows, tmp_path, data)
    lanes = [(rows["devices"][row["device"]]["id"], row["stream"]) for row in rows["lanes"]]
    assert [(row["name"], row["kind"], row["correlation"], lanes[row["lane"]]) for row in rows["ops"]] == [
        ("vector_add", "kernel", 5, (1, 3)), ("MEMORY_COPY_HOST_TO_DEVICE", "memcpy", 7, (1, 2))]
    assert times(rows, "calls", "name", "correlation") == [(100, 140, "hipLaunchKernel", 5)]
    assert times(rows, "ranges", "name") == [(90, 300, "region")]
    assert rows["threads"][rows["calls"][0]["thread"]]["tid"] == 51
    assert [row["bytes"] for row in rows["copies"]] == [99]


def test_state_of_sequences(dump_rows, tmp_path):
    """Names and defaults are those since the last clear; a sequence that lost packets is not understood until then."""
    def names(*texts):
        return message((2, [message((1, i + 1), (2, text)) for i, text in enumerate(texts)]), (1, [message((1, 1), (2, "cpu_op"))]))

    def slice_of(start, sequence, flags, *more):
        begin = event(BEGIN, None, name_iid=1, category_iid=1)
        return packet((8, start), (10, sequence), (13, flags), (11, begin), *more) + packet((8, start + 5), (10, sequence), (11, message((9, END))))

    defaults = message((11, message((11, 2))))
    data = process(1, 7, "p") + thread(2, 1, 7, 8, "t")
    data += slice_of(10, 1, 3, (12, names("first")), (59, defaults))
    data += slice_of(20, 1, 3, (12, names("second")), (59, defaults))
    data += slice_of(30, 2, 3, (12, names("other")), (59, defaults))
    data += packet((10, 1), (42, 1))
    data += packet((8, 40), (10, 1), (13, 2), (11, event(BEGIN, 2, name_iid=1, category_iid=1)))
    data += slice_of(50, 1, 3, (12, names("third")), (59, defaults))
    rows = read(dump_rows, tmp_path, data)
    assert [name for _, _, name in times(rows, "cpu_ops", "name")] == ["first", "second", "other", "third"]
    assert {row["thread"] for row in rows["cpu_ops"]} == {0} and rows["threads"][0]["tid"] == 8
    assert {row["id"]: row["count"] for row in rows["issues"]}["events_dropped"] == 2


def random_packets(random):
    """Fields of packets of three sequences that alternate: some have lost packets or say their names anew, some are of another
    machine, and each has a clock that counts on from the packet before."""
    names = message((1, message((1, 1), (2, "cpu_op"))), (2, [message((1, i), (2, f"name {i}")) for i in range(1, 5)]))
    clocks = message((1, [message((1, 6), (2, 1000)), message((1, 64), (2, 1000), (3, 1))]))
    packets, sequence = [], 1
    for _ in range(400):
        sequence = random.choice([1, 2, 300]) if random.random() < 0.2 else sequence
        if random.random() < 0.05:
            packets.append([(10, sequence), (13, 3), (6, clocks), (12, names), (59, message((58, 64), (11, message((11, 2 + sequence)))))])
        elif random.random() < 0.02:
            packets.append([(10, sequence), (42, 1)])
        elif random.random() < 0.1:
            stage = message((1, random.randrange(50)), (2, 7), (3, random.randrange(3)), (11, random.randrange(2)), (17, "gemm"))
            packets.append([(10, sequence), (13, 2), (98, random.choice([None, 5])), (8, random.randrange(30)), (53, stage)])
        else:
            kind = random.choice([BEGIN, BEGIN, END, END, INSTANT])
            named = kind != END and (random.randrange(1, 6))  # 5 is nobody's
            packets.append([(10, sequence), (13, random.choice([0, 2, 2, 2])), (98, random.choice([None, None, 5])),
                            (8, random.randrange(30)), (11, event(kind, None, name_iid=named or None, category_iid=named and 1 or None,
                                                                  args={"tid": 9} if random.random() < 0.1 else None))])
    return packets


def test_the_order_of_fields_does_not_matter(dump_rows, tmp_path):
    """Packets that begin like the one before are read in a shorter way: those with the time first are not, and say the same."""
    tracks = process(1, 7, "p") + b"".join(thread(2 + sequence, 1, 7, 8 + sequence, "t") for sequence in (1, 2, 300))
    for seed in range(12):
        packets = random_packets(random.Random(seed))
        first = tracks + b"".join(packet(*fields) for fields in packets)
        time_first = tracks + b"".join(packet(*sorted(fields, key=lambda field: field[0] != 8)) for fields in packets)
        one, other = read(dump_rows, tmp_path, first), read(dump_rows, tmp_path, time_first)
        assert one == other and len(one["cpu_ops"]) > 50 and len(one["ops"]) > 10, seed


def naive_slices(events):
    """Begins and ends of a track, in any order: the innermost open slice ends, and what began earlier ends first."""
    slices, opened = [], []
    for now in sorted({time for time, *_ in events}):
        ends = sum(1 for time, kind, _ in events if time == now and kind == END)
        while ends and opened and opened[-1][0] < now:
            start, name = opened.pop()
            slices.append((start, now, name))
            ends -= 1
        opened += [(now, name) for time, kind, name in events if time == now and kind == BEGIN]
        for _ in range(min(ends, len(opened))):
            start, name = opened.pop()
            slices.append((start, now, name))
    return sorted(slices)


def test_events_that_come_late_are_matched_anew(dump_rows, tmp_path):
    """Slices are matched as they come; one event before the one before it, anywhere, and they are matched by time."""
    for seed in range(8):
        rng = random.Random(seed)
        times_ns = sorted(rng.sample(range(1000), 40))
        events = [(time, END if i % 3 == 2 else BEGIN, f"slice {i}") for i, time in enumerate(times_ns)]
        late = events.pop(rng.randrange(5, 15))
        events.insert(rng.randrange(15, len(events)), late)
        data = process(1, 7, "p") + thread(2, 1, 7, 8, "t")
        data += b"".join(packet((8, time), (11, event(kind, 2, name if kind == BEGIN else None, "cpu_op"))) for time, kind, name in events)
        data += b"".join(packet((8, 2000), (11, event(END, 2))) for _ in events)  # of all that are still open, and more
        closed = naive_slices([*events, *((2000, END, None) for _ in events)])
        assert times(read(dump_rows, tmp_path, data), "cpu_ops", "name") == closed, seed


CATEGORIES, NAMES, ARGS, CONTEXTS, SPECIFICATIONS, STRINGS, KERNELS, LAUNCH_ARGS = 1, 2, 3, 23, 24, 29, 1000, 1001


def test_numbers_of_one_kind_of_names_are_not_those_of_another(dump_rows, gputime, tmp_path):
    """Numbers have 64 bits: a reader that puts the field into the upper ones finds pids where it looks for names."""
    asked = (CATEGORIES, NAMES, ARGS, SPECIFICATIONS, STRINGS, KERNELS, LAUNCH_ARGS)
    contexts = [message((1, 5 ^ (field ^ CONTEXTS) << 48), (2, 0x7FFFFFF0)) for field in asked]
    data = process(1, 77, "python") + thread(2, 1, 77, 77, "main") + packet((10, 1), (13, 1), (12, message((CONTEXTS, contexts))))
    unknown = message((1, 5), (17, 5))  # name and text of an argument
    begin = message((9, BEGIN), (11, 2), (10, 5), (3, 5), (4, [unknown, message((10, "domain"), (17, 5))]))
    data += packet((8, 10), (10, 1), (13, 2), (11, begin)) + packet((8, 20), (10, 1), (11, event(END, 2)))
    launch = message((3, [message((1, 5), (7, 5)), message((2, "src"), (7, 5))]))
    for start, name in ((100, (20, 5)), (200, (19, 5))):
        data += packet((8, start), (10, 1), (13, 2), (53, message((1, start), (2, 50), (13, 5), (14, 5), name, (21, launch))))
    rows = read(dump_rows, tmp_path, data)
    lost = rows["ranges"][0]["name"]
    assert times(rows, "ranges", "name") == [(10, 20, lost)] and not rows["ranges"][0]["domain"]
    assert times(rows, "ops", "name", "kind") == [(100, 150, lost, "kernel"), (200, 250, lost, "kernel")]
    assert report(gputime, tmp_path / "a.pftrace", "kernels")["inputs"][0]["ops"] == 2


def test_clocks(dump_rows, tmp_path):
    """Differences in microseconds, a clock apart from the trace's, and the time of day."""
    def clocks(*found):
        return message((1, [message((1, key), (2, at), (3, incremental), (4, unit)) for key, at, incremental, unit in found]))

    data = process(1, 7, "p") + thread(2, 1, 7, 8, "t")
    data += packet((10, 1), (13, 1), (6, clocks((6, 1_000_000, None, None), (64, 500, 1, 1000))), (59, message((58, 64))))
    for delta, kind in ((10, BEGIN), (5, END), (10, BEGIN), (1, END)):
        data += packet((8, delta), (10, 1), (11, event(kind, 2, "a" if kind == BEGIN else None)))
    data += packet((10, 2), (6, clocks((6, 1_000_000, None, None), (3, 200_000, None, None), (1, 5_000_000, None, None))))
    for at, kind in ((300_000, BEGIN), (300_500, END)):
        data += packet((8, at), (58, 3), (10, 2), (11, event(kind, 2, "b" if kind == BEGIN else None)))
    rows = read(dump_rows, tmp_path, data)
    assert times(rows, "ranges", "name") == [(1_010_000, 1_015_000, "a"), (1_025_000, 1_026_000, "a"), (1_100_000, 1_100_500, "b")]
    assert rows["meta"][0]["base_ns"] == 4_000_000


def test_counters_marks_and_open_slices(dump_rows, tmp_path):
    data = process(1, 7, "p") + thread(2, 1, 7, 8, "t")
    data += packet((60, message((1, 9), (5, 1), (2, "queue"), (8, message((6, "items"))))))
    data += packet((8, 5), (11, event(BEGIN, 2, "open"))) + packet((8, 6), (11, event(INSTANT, 2, "mark")))
    data += packet((8, 4), (11, event(END, 2)))
    for at, value in ((1, 10), (3, -4), (9, 0)):
        data += packet((8, at), (11, message((9, COUNTER), (11, 9), (30, value))))
    rows = read(dump_rows, tmp_path, data)
    assert times(rows, "ranges", "name", "kind") == [(5, 9, "open", "nested"), (6, 6, "mark", "mark")]
    assert [(row["time_ns"], row["value"]) for row in rows["counters"]] == [(1, 10), (3, -4), (9, 0)]
    assert [(row["name"], row["unit"]) for row in rows["counter_tracks"]] == [("queue", "items")]
    assert {row["id"]: row["count"] for row in rows["issues"]} == {"range_open": 1}


def stage(at, *fields):
    return packet((8, at), (10, 1), (53, message(*fields)))


def test_stages_of_other_writers(dump_rows, tmp_path):
    """Queues by number, kinds by name, arguments as real numbers and texts, and what is wrong with some of them."""
    args = [("registers_per_thread", 4, 1 << 40), ("shared_mem_static", 3, 64), ("occupancy_percent", 5, -1.0),
            ("warps_per_multiprocessor", 5, 2.5), ("blocks_per_multiprocessor", 3, 2), ("stream", 6, "17"), ("novel", 4, 3)]
    launch = message((1, message((1, 2), (2, 3), (3, 4), (9, 9))), (3, [message((2, name), (kind, value)) for name, kind, value in args]),
                     (77, 1))
    data = packet((10, 1), (13, 1))
    data += stage(100, (1, 1), (2, 10), (3, 5), (11, 1), (17, "memset of zeros"))
    data += stage(200, (1, 2), (2, 10), (3, 5), (11, 1), (17, "Memcpy HtoD"), (99, 7))
    data += stage(300, (1, 3), (2, 10), (3, -2), (17, "gemm"), (21, launch))
    data += stage(400, (1, 4), (2, 10), (5, 12345), (13, 9))
    data += packet((8, 500), (10, 1), (53, message((1, 5), (2, 10)) + b"\x1a\x7f"))  # longer than the packet
    data += packet((10, 1), (53, message((1, 6), (2, 10))))  # no time
    rows = read(dump_rows, tmp_path, data)
    found = {row["start_ns"]: (row["kind"], rows["lanes"][row["lane"]]["stream"]) for row in rows["ops"]}
    assert found[100] == ("memset", 5) and found[200] == ("memcpy", 5) and found[400] == ("kernel", 9)
    assert found[300][0] == "kernel" and set(found) == {100, 200, 300, 400}
    (config,) = rows["kernel_configs"]
    assert (config["grid_x"], config["grid_y"], config["grid_z"]) == (2, 3, 4) and config["static_shared_bytes"] == 64
    assert config["registers"] is None and config["occupancy_percent"] is None
    assert config["warps_per_multiprocessor"] == 2.5 and config["blocks_per_multiprocessor"] == 2
    assert {row["id"]: row["count"] for row in rows["issues"]} == {"event_damaged": 2}


def test_a_second_track_of_a_stream(dump_rows, tmp_path):
    """Ranges that overlap cannot be slices of one track; what is below a stream's track is of that stream."""
    data = process(1, 7, "p") + packet((60, message((1, 3), (5, 1), (2, "stream 12"), (14, "process 7"))))
    data += track(4, 3, "more")
    for uuid, start, end in ((3, 10, 50), (4, 20, 60)):
        begin = event(BEGIN, uuid, "layer", "gpu_user_annotation")
        data += packet((8, start), (11, begin)) + packet((8, end), (11, event(END, uuid)))
    rows = read(dump_rows, tmp_path, data)
    assert times(rows, "ranges", "name") == [(10, 50, "layer"), (20, 60, "layer")]
    lanes = [rows["lanes"][row["lane"]] for row in rows["ranges"]]
    assert {lane["stream"] for lane in lanes} == {12} and {rows["processes"][lane["process"]]["pid"] for lane in lanes} == {7}


def test_compressed_bytes_that_are_no_packets(dump_rows, tmp_path):
    good = process(1, 7, "p") + thread(2, 1, 7, 8, "t") + packet((8, 10), (11, event(BEGIN, 2, "a")))
    for inside in (b"\x08\x01" * 50, b"\x02\x04abcd", message((7, 5)) * 9, b"\x0a\xff\xff\xff\xff\x0f"):
        rows = read(dump_rows, tmp_path, good + packet((50, zlib.compress(inside))))
        assert [row["name"] for row in rows["ranges"]] == ["a"]
        assert {row["id"]: row["count"] for row in rows["issues"]}.get("packing_damaged", 0) == 1, inside


def test_arguments_of_other_types(dump_rows, tmp_path):
    """Numbers as texts, texts as numbers, lists that are too short or too long."""
    data = process(1, 7, "p") + track(3, 1, "stream 7")
    wrong = {"correlation": "eleven", "bytes": "many", "registers per thread": "x", "grid": [1, 2], "block": [4, 5, 6, 7, 8],
             "device": "0", "stream": "7", "External id": 12, "shared memory": 1.5}
    data += packet((8, 10), (10, 1), (13, 1), (11, event(BEGIN, 3, "k", "kernel", wrong)))
    data += packet((8, 20), (10, 1), (11, event(END, 3)))
    data += packet((8, 30), (10, 1), (11, event(BEGIN, 3, "Memset (Device)", None, {"device": 0, "stream": 7})))
    data += packet((8, 40), (10, 1), (11, event(END, 3)))
    data += packet((8, 50), (10, 1), (11, message((9, 77), (11, 3)))) + packet((8, 60), (10, 1), (11, message((9, 0), (11, 3))))
    rows = read(dump_rows, tmp_path, data)
    assert [(row["start_ns"], row["end_ns"], row["kind"]) for row in rows["ops"]] == [(10, 20, "kernel"), (30, 40, "memset")]
    assert rows["ops"][0]["correlation"] is None and not rows["copies"]
    (config,) = rows["kernel_configs"]
    assert config["registers"] is None and config["grid_x"] is None and config["block_z"] == 6


LAUNCH = {"device": 0, "stream": 7, "correlation": 5, "registers per thread": 32, "grid": [2, 3, 4], "warps per SM": 1.5}


@pytest.mark.parametrize("args", [
    LAUNCH, {key: str(value) for key, value in LAUNCH.items()}, {key: [str(one) for one in value] if isinstance(value, list) else
                                                                value for key, value in LAUNCH.items()},
    {"args": LAUNCH}, {"args": {key: str(value) for key, value in LAUNCH.items()}}, {"correlation": 5, "args": LAUNCH},
    {"args": LAUNCH | {"args": {"correlation": 9}, "other": {"stream": 9}}, "other": {"device": 9}}])
def test_arguments_below_a_name_and_as_text(dump_rows, tmp_path, args):
    """The call has its number as a number."""
    data = process(1, 7, "p") + thread(2, 1, 7, 8, "t") + track(3, 1, "stream 7")
    data += packet((8, 5), (10, 1), (13, 1), (11, event(BEGIN, 2, "cudaLaunchKernel", "cuda_runtime", {"correlation": 5})))
    data += packet((8, 8), (10, 1), (11, event(END, 2)))
    data += packet((8, 10), (10, 1), (11, event(BEGIN, 3, "k", "kernel", args))) + packet((8, 20), (10, 1), (11, event(END, 3)))
    rows = read(dump_rows, tmp_path, data)
    (op,), (call,), (config,), (lane,) = (rows[table] for table in ("ops", "calls", "kernel_configs", "lanes"))
    assert op["correlation"] == call["correlation"] == 5 and lane["stream"] == 7
    assert [config[key] for key in ("registers", "grid_x", "grid_y", "grid_z", "warps_per_multiprocessor")] == [32, 2, 3, 4, 1.5]


def test_sequences_that_say_they_were_cleared(dump_rows, tmp_path):
    """The old field for it, and a clock that nobody described, which is taken as it is."""
    names = message((2, [message((1, 1), (2, "named"))]), (1, [message((1, 1), (2, "cpu_op"))]))
    data = process(1, 7, "p") + thread(2, 1, 7, 8, "t") + packet((10, 1), (41, 1), (12, names))
    for at, kind, more in ((100, BEGIN, {"name_iid": 1, "category_iid": 1}), (150, END, {})):
        data += packet((8, at), (58, 99), (10, 1), (13, 2), (11, event(kind, 2, **more)))
    rows = read(dump_rows, tmp_path, data)
    assert times(rows, "cpu_ops", "name") == [(100, 150, "named")] and not rows["issues"]


def test_cut_numbers_at_the_end_of_packets(dump_rows, tmp_path):
    """Each of the fields that most packets begin with, without its last byte: that packet is lost, and counted."""
    good = (process(1, 7, "p") + thread(2, 1, 7, 8, "t")) * 4000  # more than is looked at to tell the format
    for tag in (8 << 3, 10 << 3, 13 << 3, 11 << 3 | 2, 53 << 3 | 2):
        body = message((8, 5)) + varint(tag) + b"\xff"
        rows = read(dump_rows, tmp_path, good + message((1, body)) + packet((8, 10), (11, event(BEGIN, 2, "a"))))
        assert [row["name"] for row in rows["ranges"]] == ["a"]
        assert {row["id"]: row["count"] for row in rows["issues"]}["event_damaged"] == 1, tag


# Beyond what samples have: what limits kernels, and threads whose numbers are as large as made-up ones.
LIMITS = {"limitingFactors": "REGS|SMEM", "activeBlocksPerMultiprocessor": 4, "blockLimitRegs": 4, "blockLimitSharedMem": 5,
          "blockLimitWarps": 6, "blockLimitBlocks": 32, "blockLimitBarriers": 16, "allocatedRegistersPerBlock": 8192,
          "allocatedSharedMemPerBlock": 1024}


def test_what_exports_add_for_gputime(gputime, dump_rows, tmp_path):
    trace = Trace()
    for number in range(20):
        trace.op(1000 + 100 * number, 10, tid=2505580696 if number % 2 else 3976662254, priority=-5, channel=3, channel_type=1,
                 **{"graph node id": 17, "occupancy": LIMITS})
    trace.events += [{"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "args": {"name": "python"}}
                     for tid in (2505580696, 3976662254)]
    own, exported = trace.write(tmp_path), tmp_path / "t.pftrace"
    assert gputime("export", own, "-o", exported).returncode == 0
    want, have = dump_rows(own), dump_rows(exported)
    assert {row["limiters"] for row in want["launch_details"]} == {"REGS|SMEM"} and [row["priority"] for row in want["kernel_configs"]] == [-5] * 20
    assert [row["priority"] for row in have["kernel_configs"]] == [-5] * 20
    for row, wanted in zip(have["launch_details"], want["launch_details"], strict=True):
        assert row == wanted
    assert sorted(row["tid"] for row in have["threads"]) == sorted(row["tid"] for row in want["threads"]) == [2505580696, 3976662254]


@pytest.mark.parametrize("sample", ["diff/llama_train_eager.json.gz", "rocm/train.db"])
def test_findings_of_an_export_speak_of_its_origin(gputime, tmp_path, sample):
    """The advice is for the profiler that recorded the trace; the number of ranks is the same."""
    exported = tmp_path / "t.pftrace"
    assert gputime("export", DATA / sample, "-o", exported).returncode == 0
    own, again = gputime.json("findings", DATA / sample), gputime.json("findings", exported)
    for key in ("rank", "world_size"):
        assert again["inputs"][0][key] == own["inputs"][0][key]
    ids = {"host_bound", "sync_waits"}
    want, have = ({one["id"]: (one["title"], one["evidence"], one["advice"]) for one in found["findings"] if one["id"] in ids}
                  for found in (own, again))
    assert have == want and want


def test_several_ranks_in_one_file_are_said(gputime, tmp_path):
    job, one = tmp_path / "job.pftrace", tmp_path / "one.pftrace"
    ranks = sorted((DATA / "ranks").glob("*.json.gz"))
    assert gputime("export", *reversed(ranks), "-o", job).returncode == 0
    assert gputime("export", ranks[2], "-o", one).returncode == 0
    issues = {issue["id"]: issue["count"] for issue in gputime.json("summary", job)["issues"]}
    assert issues["ranks_joined"] == len(ranks) == 4
    assert gputime.json("summary", job)["inputs"][0]["rank"] is None
    assert b"'gputime ranks' looks at each of them" in b" ".join(gputime("summary", job).stdout.split())
    rows = gputime.json("ranks", job)["tables"]["ranks"]["rows"]
    assert [row["rank"] for row in rows] == [0, 1, 2, 3] and len({row["compute_ns"] for row in rows}) > 1
    alone = gputime.json("summary", one)
    assert alone["inputs"][0]["rank"] == 2 and not any(issue["id"] == "ranks_joined" for issue in alone["issues"])
    joined = tmp_path / "joined.pftrace"
    assert gputime("export", ranks[1], "-o", joined).returncode == 0
    joined.write_bytes(joined.read_bytes() + one.read_bytes())
    assert any(issue["id"] == "ranks_joined" for issue in gputime.json("summary", joined)["issues"])


def rank_trace(folder, rank, pid=100, has_calls=True, extra=()):
    """A rank of two, each alone on its host: process numbers repeat in containers. An op without a call ends it."""
    trace = Trace()
    for step in range(3):
        at = 1000 + 300 * step
        trace.op(at, 50 + 30 * rank, "gemm_kernel")
        trace.op(at + 100 + 30 * rank, 40, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", stream=9)
    trace.event("kernel", "lost_kernel", 1900, 20, 0, 7, device=0, stream=7)
    for event in trace.events:
        event["pid"] = pid if event["cat"] == "cuda_runtime" else event["pid"]
    trace.events += extra
    document = {"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}, "host_name": f"node{rank}",
                "traceEvents": [event for event in trace.events if has_calls or event["cat"] != "cuda_runtime"]}
    path = folder / f"rank{rank}.json"
    path.write_text(json.dumps(document))
    return path


# Of the first rank a process that launches nothing, too: the stream is of the one that does.
OTHER = {"ph": "X", "cat": "cpu_op", "name": "load", "pid": 50, "tid": 50, "ts": 1000, "dur": 20, "args": {}}


@pytest.mark.parametrize("settings", [({}, {}), ({}, {"pid": 200}), ({"has_calls": False}, {"has_calls": False}),
                                      ({"extra": [OTHER]}, {})], ids=["same pid", "own pids", "GPU only", "other process"])
def test_ranks_of_a_job_stay_apart(gputime, tmp_path, settings):
    traces = [rank_trace(tmp_path, rank, **one) for rank, one in enumerate(settings)]
    job = tmp_path / "job.pftrace"
    assert gputime("export", *traces, "-o", job).returncode == 0
    own, again = (gputime.json("ranks", *paths)["tables"]["ranks"]["rows"] for paths in (traces, [job]))
    for key in ("rank", "host", "device", "compute_ns", "span_ns", "idle_ns"):
        assert [row[key] for row in again] == [row[key] for row in own], key
    assert [row["compute_ns"] for row in again] == [170000, 260000] and [row["host"] for row in again] == ["node0", "node1"]
    facts = gputime.json("summary", job)["inputs"][0]
    assert facts["host"] is None and facts["ops"] == 14


def test_an_export_without_gpu_work_says_so(gputime, tmp_path):
    trace, file = DATA / "torch/llama_train_compiled.json.gz", tmp_path / "x.pftrace"
    done = gputime("export", trace, "--name", "no such kernel", "-o", file)
    assert done.returncode == 0 and done.stderr.decode() == f"gputime: the selection of '{trace}' has no GPU ops\n"
    cpu = tmp_path / "cpu.json"
    cpu.write_text(json.dumps({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]}))
    done = gputime("export", cpu, trace, "-o", file)
    assert done.returncode == 0 and done.stderr.decode() == f"gputime: the trace '{cpu}' has no GPU ops\n"
    assert not gputime("export", cpu, "-o", file, "-q").stderr and not gputime("export", trace, "-o", file).stderr


def test_packed_traces_are_read(gputime, tmp_path):
    path = tmp_path / "t.pftrace"
    assert gputime("export", DATA / "devices.json", "-o", path).returncode == 0
    (tmp_path / "t.pftrace.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert tables(report(gputime, tmp_path / "t.pftrace.gz", "kernels")) == tables(report(gputime, path, "kernels"))


def test_a_cut_trace_says_so(hardened, gputime, tmp_path):
    assert gputime("export", DATA / "overlap.json", "-o", tmp_path / "a.pftrace").returncode == 0
    whole = (tmp_path / "a.pftrace").read_bytes()
    ends, at = {0}, 0
    while at < len(whole):
        size = shift = 0
        at += 1
        while True:
            byte = whole[at]
            size, shift, at = size | (byte & 0x7F) << shift, shift + 7, at + 1
            if byte < 0x80:
                break
        at += size
        ends.add(at)
    for cut in range(40, len(whole), 41):
        (tmp_path / "cut.pftrace").write_bytes(whole[:cut])
        done = hardened("kernels", tmp_path / "cut.pftrace", "--json", "--no-cache")
        if done.returncode == 1:  # nothing of it is a whole packet
            assert b"unrecognized" in done.stderr and cut < min(ends - {0}), (cut, done.stderr)
            continue
        found = {one["id"] for one in json.loads(done.stdout)["issues"]}
        assert ("input_cut" in found) == (cut not in ends), cut


# ---- compressed packets ----


def split_packets(data):
    """The packets of a file, each with its tag and length."""
    found, at = [], 0
    while at < len(data):
        begin = at
        assert data[at] == 10
        at, length, shift = at + 1, 0, 0
        while True:
            length |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                break
        at += length
        found.append(data[begin:at])
    return found


def compressed(data, pack, field, each):
    packets = split_packets(data)
    bundles = [b"".join(packets[i:i + each]) for i in range(0, len(packets), each)]
    return b"".join(packet((field, pack(bundle))) for bundle in bundles)


def same_rows(found, expected):
    for table in expected:
        if table not in ("meta", "issues", "fact_issues"):
            assert found[table] == expected[table], table


@pytest.mark.parametrize("each", [1, 7, 10000])
def test_compressed_packets(each, dump_rows, tmp_path):
    source = DATA / "perfetto" / "tpdp_rank0.pftrace"
    data, expected = source.read_bytes(), dump_rows(source)
    found = read(dump_rows, tmp_path, compressed(data, zlib.compress, 50, each))
    same_rows(found, expected)
    assert found["issues"] == expected["issues"]
    half = sum(map(len, split_packets(data)[:200]))  # some packets are compressed, others not
    same_rows(read(dump_rows, tmp_path, data[:half] + compressed(data[half:], zlib.compress, 50, each)), expected)


def test_packets_compressed_by_zstd(dump_rows, tmp_path):
    zstd = shutil.which("zstd")
    if not zstd:
        pytest.skip("no zstd")
    def pack(bundle):
        return subprocess.run([zstd, "-qc"], input=bundle, stdout=subprocess.PIPE, check=True).stdout
    source = DATA / "perfetto" / "sampled.pftrace"
    same_rows(read(dump_rows, tmp_path, compressed(source.read_bytes(), pack, 133, 50)), dump_rows(source))


def test_damaged_compressed_packets_are_counted(dump_rows, gputime, tmp_path):
    source = (DATA / "perfetto" / "sampled.pftrace").read_bytes()
    packets = split_packets(source)
    whole = zlib.compress(b"".join(packets))
    for damaged in (whole[:-10], whole[:-1] + bytes([whole[-1] ^ 1]), b"", b"nonsense", zlib.compress(b"\xff" * 99),
                    zlib.compress(packet((50, whole))), zlib.compress(b"".join(packets) + packets[0][:-3])):
        rows = read(dump_rows, tmp_path, packets[0] + packet((50, damaged)))
        assert [row["id"] for row in rows["issues"] if row["id"] == "packing_damaged"] == ["packing_damaged"], damaged
    bomb = packets[0] + packet((50, zlib.compress(packet((1, b"")) * (50 << 20), 9)))
    (tmp_path / "bomb.pftrace").write_bytes(bomb)
    done, peak = peak_run(gputime, "kernels", tmp_path / "bomb.pftrace")
    assert done.returncode == 0 and peak < 100e6


# ---- writers of old: times since the event before ----


def legacy(phase, name_iid=None, us=None):
    return message((1, name_iid), (2, ord(phase)), (3, us))


def legacy_trace(base_us=5_000_000, clear_at=None):
    """Packets without times, events without tracks: a thread's descriptor has both."""
    interned = message((2, [message((1, 1), (2, "outer")), message((1, 2), (2, "inner")), message((1, 3), (2, "whole"))]),
                       (1, [message((1, 1), (2, "user_annotation"))]))
    data = packet((43, message((1, 77), (6, "python"))))
    data += packet((10, 1), (13, 1), (12, interned), (44, message((1, 77), (2, 78), (5, "worker"), (6, base_us))))
    data += packet((10, 2), (13, 1), (12, interned), (44, message((1, 77), (2, 79), (5, "other"), (6, base_us + 100))))
    events = [(1, 10, (9, BEGIN), 1), (1, 5, (9, BEGIN), 2), (2, 1, (9, BEGIN), 1), (1, 5, (9, END), None),
              (1, 0, (6, legacy("X", us=3)), 3), (2, 20, (9, END), None), (1, 10, (9, END), None),
              (1, 0, (6, legacy("B", 2)), None), (1, 4, (6, legacy("E")), None)]
    for sequence, delta, what, name in events:
        data += packet((10, sequence), (13, 2), (11, message((1, delta), (3, 1), what, (10, name))))
    data += packet((10, 1), (13, 2), (11, message((16, base_us + 50), (3, 1), (6, legacy("X", us=1)), (10, 3))))
    return data


def test_times_since_the_event_before(dump_rows, tmp_path):
    rows = read(dump_rows, tmp_path, legacy_trace())
    base = 5_000_000_000
    tids = {row["row"]: row["tid"] for row in rows["threads"]}
    found = sorted((row["start_ns"] - base, row["end_ns"] - base, row["name"], tids[row["thread"]]) for row in rows["ranges"])
    assert found == [(10_000, 30_000, "outer", 78), (15_000, 20_000, "inner", 78), (20_000, 23_000, "whole", 78),
                     (30_000, 34_000, "inner", 78), (50_000, 51_000, "whole", 78), (101_000, 121_000, "outer", 79)]
    assert {row["name"] for row in rows["threads"]} == {"worker", "other"}
    assert [(row["pid"], row["name"]) for row in rows["processes"]] == [(77, "python")]
    assert rows["issues"] == []


def test_their_clock_is_converted(dump_rows, tmp_path):
    snapshot = packet((6, message((1, [message((1, 6), (2, 9_000_000_000)), message((1, 3), (2, 5_000_000_000))]))))
    rows = read(dump_rows, tmp_path, snapshot + legacy_trace())
    assert min(row["start_ns"] for row in rows["ranges"]) == 9_000_010_000


def test_without_a_reference_they_mean_nothing(dump_rows, tmp_path):
    lost = packet((10, 1), (13, 1), (11, message((1, 5), (9, BEGIN), (23, "x"))))
    rows = read(dump_rows, tmp_path, process(1, 77, "python") + lost + packet((10, 1), (11, message((9, BEGIN)))))
    assert rows["ranges"] == [] and [(row["id"], row["count"]) for row in rows["issues"]] == [("event_damaged", 2)]


# ---- the same in other bytes ----


def encoded(number, wire, value, is_long=False):
    tag = varint(number << 3 | wire)
    if is_long:  # the same number in one byte more
        tag = tag[:-1] + bytes([tag[-1] | 0x80, 0])
    if wire == 0:
        return tag + varint(value)
    return tag + (varint(len(value)) if wire == 2 else b"") + value


def rewritten(data, change, path=()):
    """The message with each field as change(path of numbers, wire type, value) has it; (path, None) goes into messages."""
    out = b""
    for number, wire, value in fields(data):
        here = (*path, number)
        if wire == 2 and change(here, None, value):
            value = rewritten(value, change, here)
        out += change(here, wire, value) or encoded(number, wire, value)
    return out


INSIDE = {(1,), (1, 11), (1, 53), (1, 11, 4), (1, 53, 21), (1, 53, 21, 3)}  # packets, events, stages and their arguments


def long_tags(path, wire, value):
    return path in INSIDE if wire is None else encoded(path[-1], wire, value, len(path) > 1)


def kinds_of_numbers(kind):
    """Integers of annotations (int_value) and of arguments (uint_value) as another kind that has the same value."""
    def change(path, wire, value):
        if wire is None:
            return path in INSIDE
        if wire == 0 and path == (1, 11, 4, 4):
            return encoded(kind, 0, value)
        return encoded(3, 0, value) if wire == 0 and path == (1, 53, 21, 3, 4) else None
    return change


def packed_categories(path, wire, value):
    if wire is None:
        return path in INSIDE
    return encoded(3, 2, varint(value) + varint(99)) if wire == 0 and path == (1, 11, 3) else None


def real_counters(path, wire, value):
    if wire is None:
        return path in INSIDE
    return encoded(44, 1, struct.pack("<d", float(value))) if path == (1, 11, 30) else None


OTHER_BYTES = {"tags of more bytes than needed": long_tags, "unsigned arguments": kinds_of_numbers(3),
               "pointers": kinds_of_numbers(7), "packed categories": packed_categories, "real counters": real_counters}


@pytest.fixture(scope="module")
def exports(gputime, tmp_path_factory):
    """Exports with stages, slices, copies and counters."""
    folder = tmp_path_factory.mktemp("exports")
    paths = []
    for name in ("devices.json", "sampled.json"):
        paths.append(folder / f"{len(paths)}.pftrace")
        assert gputime("export", "--no-cache", DATA / name, "-o", paths[-1]).returncode == 0
    return paths


@pytest.mark.parametrize("way", OTHER_BYTES)
def test_the_same_in_other_bytes(way, exports, dump_rows, tmp_path):
    changed = 0
    for path in exports + sorted((DATA.parent / "fuzz/seeds/fuzz_pftrace").glob("*ro*.pftrace")):
        data = rewritten(path.read_bytes(), OTHER_BYTES[way])
        changed += data != path.read_bytes()
        assert read(dump_rows, tmp_path, data) == dump_rows(path), path.name
    assert changed
