"""Python stacks that Nsight sampled: an export with payloads, against a join of the samples that is as plain as can be."""

import random
import sqlite3
import struct

import pytest

PID = 77 << 24 | 1 << 56
THREADS = [PID | 500, PID | 501]
DOMAIN, STACK, FRAME = 4, 1 << 32 | 2, 1 << 32
TEXTS = ["Python Periodic Sampling", "&lt;module&gt;", "train.py", "step", "loss", "a &amp; b.py", "Other Domain"]
MEANT = {"&lt;module&gt;": "<module>", "a &amp; b.py": "a & b.py"}
PERIOD = 1000


def make_export(path, samples, has_payloads=True, domain_name="Python Periodic Sampling"):
    """samples: (time, thread, [(function, file), ...] with the innermost first), numbers of TEXTS."""
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        database.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(TEXTS, 1))
        database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
                         "INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER)")
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 10, 0, 7, 1, ?, 4, 4)", (PID,))
        database.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, "
                         "globalTid INTEGER, domainId INTEGER, binaryData BLOB)")
        database.execute("CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, idx INTEGER, flags INTEGER, "
                         "type INTEGER, name TEXT, offset INTEGER)")
        database.executemany("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (?, ?, ?, ?, ?, ?, ?)", [
            (DOMAIN, STACK, 0, None, 18, "Thread state ID", None), (DOMAIN, STACK, 1, None, 16, "Frames count", 12),
            (DOMAIN, STACK, 2, 48, FRAME, "Frames", 16), (DOMAIN, FRAME, 0, None, 80, "Function", None),
            (DOMAIN, FRAME, 1, None, 80, "File", 8), (DOMAIN, FRAME, 2, None, 15, "Line", 16)])
        database.execute("INSERT INTO NVTX_EVENTS VALUES (1, NULL, 75, ?, NULL, ?, ?, NULL)", (domain_name, THREADS[0], DOMAIN))
        for time, thread, frames in samples:
            content = struct.pack("<QiI", 1, 0, len(frames)) + b"".join(struct.pack("<QQii", *frame, 42, 0) for frame in frames)
            blob = struct.pack("<4Q", DOMAIN, STACK, len(content), 32) + content if has_payloads else None
            database.execute("INSERT INTO NVTX_EVENTS VALUES (?, NULL, 34, NULL, NULL, ?, ?, ?)", (time, thread, DOMAIN, blob))
    database.close()


def naive_calls(samples):
    """Function by function: a frame that the next sample has at the same depth, under the same frames, goes on."""
    calls = []
    for thread in THREADS:
        own = sorted((time, frames[::-1]) for time, at, frames in samples if at == thread)
        runs = []  # (depth, outermost frames up to there, start, end)
        for i, (time, frames) in enumerate(own):
            end = own[i + 1][0] if i + 1 < len(own) and own[i + 1][0] - time < 11 * PERIOD else time + PERIOD
            for depth in range(len(frames)):
                stack = tuple(frames[:depth + 1])
                before = next((run for run in runs if run[0] == depth and run[1] == stack and run[3] == time), None)
                if before:
                    runs.remove(before)
                runs.append((depth, stack, before[2] if before else time, end))
        calls += [(start, end, stack[-1], thread & 0xFFFFFF) for _, stack, start, end in runs]
    return sorted((start, end, ": ".join(MEANT.get(TEXTS[part - 1], TEXTS[part - 1]) for part in reversed(frame)), tid)
                  for start, end, frame, tid in calls)


def random_samples(rng):
    samples = []
    for thread in THREADS:
        time, stack = 100, []
        for _ in range(150):
            time += PERIOD if rng.random() < 0.95 else 30 * PERIOD  # sampling stopped for a while
            if stack and rng.random() < 0.4:
                stack.pop()
            while len(stack) < 6 and rng.random() < 0.5:
                stack.append((rng.choice([2, 4, 5]), rng.choice([3, 6])))
            if stack:
                samples.append((time, thread, stack[::-1]))
    rng.shuffle(samples)
    return samples


def read(gputime, path):
    rows = gputime.json("sql", "select start_ns, end_ns, name, tid from python_calls", path)["tables"].popitem()[1]["rows"]
    return sorted(tuple(row.values()) for row in rows)


@pytest.mark.parametrize("seed", range(4))
def test_samples_become_calls(gputime, tmp_path, seed):
    samples = random_samples(random.Random(seed))
    make_export(tmp_path / "a.sqlite", samples)
    found = read(gputime, tmp_path / "a.sqlite")
    assert found == naive_calls(samples) and len(found) > 100
    marks = gputime.json("sql", "select count(*) as marks from ranges", tmp_path / "a.sqlite")
    assert marks["tables"].popitem()[1]["rows"][0]["marks"] == 0


def test_an_export_without_payloads_says_that_they_are_missing(dump_rows, tmp_path):
    samples = random_samples(random.Random(9))
    make_export(tmp_path / "a.sqlite", samples, has_payloads=False)
    rows = dump_rows(tmp_path / "a.sqlite")
    assert not rows["python_calls"] and not rows["ranges"]
    assert {issue["id"]: issue["count"] for issue in rows["issues"]}["samples_not_read"] == len(samples)


def test_stacks_of_other_domains_are_not_taken_for_samples(gputime, tmp_path):
    """Those of single CUDA calls say nothing about how long something took."""
    make_export(tmp_path / "a.sqlite", random_samples(random.Random(3)), domain_name="Python Backtrace on CUDA")
    assert read(gputime, tmp_path / "a.sqlite") == []
