"""Python stacks that Nsight sampled: an export with payloads, against a join of the samples that is as plain as can be."""

import random
import sqlite3
import struct

import pytest

from peak import peak_run

PID = 77 << 24 | 1 << 56
THREADS = [PID | 500, PID | 501]
DOMAIN, STACK, FRAME = 4, 1 << 32 | 2, 1 << 32
TEXTS = ["Python Periodic Sampling", "&lt;module&gt;", "train.py", "step", "loss", "a &amp; b.py", "Other Domain"]
MEANT = {"&lt;module&gt;": "<module>", "a &amp; b.py": "a & b.py"}
PERIOD = 1000


def payload_of(frames, says=None):
    """says: how many frames the payload claims to have."""
    content = struct.pack("<QiI", 1, 0, len(frames) if says is None else says)
    content += b"".join(struct.pack("<QQii", *frame, 42, 0) for frame in frames)
    return struct.pack("<4Q", DOMAIN, STACK, len(content), 32) + content


def make_export(path, samples, has_payloads=True, domain_name="Python Periodic Sampling", texts=TEXTS, marks=()):
    """samples: (time, thread, [(function, file), ...] with the innermost first), numbers of texts. marks: (time, thread, payload)."""
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        database.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(texts, 1))
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
        for time, thread, payload in [*((*at, payload_of(frames) if has_payloads else None) for *at, frames in samples), *marks]:
            database.execute("INSERT INTO NVTX_EVENTS VALUES (?, NULL, 34, NULL, NULL, ?, ?, ?)", (time, thread, DOMAIN, payload))
    database.close()


def naive_calls(samples):
    """Function by function: a frame that the next sample has at the same depth, under the same frames, goes on."""
    calls = []
    for thread in THREADS:
        own = sorted((time, frames[::-1]) for time, at, frames in samples if at == thread)
        runs = []  # (depth, outermost frames up to there, start, end)
        for i, (time, frames) in enumerate(own):
            end = own[i + 1][0] if i + 1 < len(own) and own[i + 1][0] - time <= 10 * PERIOD else time + PERIOD
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
            time += PERIOD if rng.random() < 0.95 else rng.choice([10, 10.001, 10.9, 11, 30]) * PERIOD  # it may have stopped
            while stack and rng.random() < 0.4:
                stack.pop()
            while len(stack) < 6 and rng.random() < 0.5:
                stack.append((rng.choice([2, 4, 5]), rng.choice([3, 6])))
            samples.append((int(time), thread, stack[::-1]))
    rng.shuffle(samples)
    return samples


def issues_of(rows):
    return {issue["id"]: issue["count"] for issue in rows["issues"] if issue["id"].startswith(("samples", "payload"))}


def read(gputime, path):
    rows = gputime.json("sql", "select start_ns, end_ns, name, tid from python_calls", path)["tables"].popitem()[1]["rows"]
    return sorted(tuple(row.values()) for row in rows)


@pytest.mark.parametrize("seed", range(4))
def test_samples_become_calls(gputime, tmp_path, seed):
    samples = random_samples(random.Random(seed))
    make_export(tmp_path / "a.sqlite", samples)
    found = read(gputime, tmp_path / "a.sqlite")
    assert found == naive_calls(samples) and len(found) > 100
    assert any(not frames for _, _, frames in samples)
    marks = gputime.json("sql", "select count(*) as marks from ranges", tmp_path / "a.sqlite")
    assert marks["tables"].popitem()[1]["rows"][0]["marks"] == 0


def test_an_export_without_payloads_says_that_they_are_missing(dump_rows, tmp_path):
    samples = random_samples(random.Random(9))
    make_export(tmp_path / "a.sqlite", samples, has_payloads=False)
    rows = dump_rows(tmp_path / "a.sqlite")
    assert not rows["python_calls"] and not rows["ranges"]
    assert issues_of(rows) == {"samples_not_read": len(samples)}


def test_stacks_of_other_domains_are_not_taken_for_samples(gputime, tmp_path):
    """Those of single CUDA calls say nothing about how long something took."""
    make_export(tmp_path / "a.sqlite", random_samples(random.Random(3)), domain_name="Python Backtrace on CUDA")
    assert read(gputime, tmp_path / "a.sqlite") == []


def test_stacks_that_are_not_taken_are_skipped_whatever_is_asked_for(dump_rows, tmp_path):
    samples = random_samples(random.Random(5))
    make_export(tmp_path / "a.sqlite", samples, domain_name="Python Backtrace on CUDA", marks=[(5, THREADS[0], None)])
    skipped = {facts: dump_rows(tmp_path / "a.sqlite", facts=facts)["meta"][0]["skipped_events"] for facts in ["ops,ranges", "all"]}
    assert skipped == {"ops,ranges": len(samples) + 1, "all": len(samples) + 1}


def test_an_empty_stack_ends_all_frames(dump_rows, tmp_path):
    stack = [(4, 3)]
    make_export(tmp_path / "a.sqlite", [(1000, THREADS[0], stack), (2000, THREADS[0], []), (3000, THREADS[0], stack)])
    rows = dump_rows(tmp_path / "a.sqlite")
    assert [(row["start_ns"], row["end_ns"]) for row in rows["python_calls"]] == [(1000, 2000), (3000, 4000)]
    assert not issues_of(rows)


@pytest.mark.parametrize("payload", [payload_of([])[:-2], payload_of([], says=3)], ids=["no count", "no frames"])
def test_a_payload_that_is_cut_is_counted_once_and_ends_nothing(dump_rows, tmp_path, payload):
    stack = [(4, 3)]
    make_export(tmp_path / "a.sqlite", [(1000, THREADS[0], stack), (3000, THREADS[0], stack)], marks=[(2000, THREADS[0], payload)])
    rows = dump_rows(tmp_path / "a.sqlite")
    assert [(row["start_ns"], row["end_ns"]) for row in rows["python_calls"]] == [(1000, 5000)]
    assert issues_of(rows) == {"payload_unreadable": 1}


def test_a_long_file_name_does_not_cost_its_length_for_each_function(gputime, tmp_path):
    file_name, count = "é" + "x&" * 500_000, 1000
    texts = ["k", "Python Periodic Sampling", file_name, "", *(f"f{i}" for i in range(count))]
    frames = [(5 + i, 3) for i in range(count)]
    make_export(tmp_path / "a.sqlite", [(time, THREADS[0], frames) for time in (1000, 2000)], texts=texts)
    done, peak = peak_run(gputime, "sql", "--json", "select name from python_calls", tmp_path / "a.sqlite")
    assert done.returncode == 0 and peak < 200_000_000, f"{peak / 1e6:.0f} MB"
    names = [row[2] for row in read(gputime, tmp_path / "a.sqlite")]
    assert sorted(names) == sorted(f"{file_name.encode()[:4096].decode()}: f{i}" for i in range(count))


def test_long_texts_are_cut_between_characters(gputime, tmp_path):
    texts = ["k", "Python Periodic Sampling", "x" + "é" * 5000, "y" * 5000]
    make_export(tmp_path / "a.sqlite", [(1000, THREADS[0], [(4, 3)])], texts=texts)
    assert [row[2] for row in read(gputime, tmp_path / "a.sqlite")] == ["x" + "é" * 2047 + ": " + "y" * 4096]
