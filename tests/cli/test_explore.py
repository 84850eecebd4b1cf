"""What the explorer shows is what the reports say: windows, items, search and flame graphs against SQL, naively."""

import collections
import json
import random
import subprocess

import pytest

import tracegen
from conftest import find_binary
from samples import DATA, ROOT
from test_timeline import unpack

LLAMA = DATA / "torch/llama_train_compiled.json.gz"
STACKS = DATA / "torch/llama_train_eager_stack.json.gz"
COLLECTIVES = DATA / "torch/tpdp_rank0.json.gz"
BEGIN, END = -10**12, 10**15


@pytest.fixture(scope="session")
def explore(gputime):
    """Answers to questions about a trace, see tests/tools/explore_trace.c."""
    binary = find_binary("GPUTIME_EXPLORE", "build/explore_trace")
    if not binary.exists():
        pytest.fail(f"{binary} is missing: run make {binary.relative_to(ROOT)} first")

    def ask(path, *questions):
        done = subprocess.run([binary, path], input="\n".join(questions), text=True, capture_output=True, check=False,
                              env=gputime.environment)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return ask


def rows_of(gputime, path, query):
    return gputime.json("sql", path, query, "--max-rows", "0")["tables"]["rows"]["rows"]


Span = collections.namedtuple("Span", "start end name category")


def ops_by_stream(gputime, path):
    """The spans of each stream, in the order of lanes."""
    lanes = collections.defaultdict(list)
    for op in rows_of(gputime, path, "select o.*, s.pid as stream_pid from ops o join streams s on s.id = o.stream_id order by o.id"):
        lanes[op["device"], op["stream_pid"], op["stream"]].append(Span(op["start_ns"], op["end_ns"], op["name"], op["category"]))
    for spans in lanes.values():
        spans.sort(key=lambda span: (span.start, -span.end))
    return lanes


def gaps_by_device(gputime, path):
    lanes = collections.defaultdict(list)
    for gap in rows_of(gputime, path, "select * from gaps order by device, start_ns"):
        lanes[gap["device"]].append(Span(gap["start_ns"], gap["end_ns"], gap["cause"], gap["cause"]))
    return lanes


def joined(spans, grain):
    """All items of a lane at a grain, as lists of spans with the busy time of each."""
    reached, items, place, is_long = None, [], None, False
    for span in spans:
        begin = span.start if reached is None else max(span.start, reached)
        busy = max(0, span.end - begin)
        reached = span.end if reached is None else max(reached, span.end)
        begins_long = grain and span.end - span.start >= grain
        if not items or not grain or span.start // grain != place or (begins_long and not is_long):
            items.append([])
            place, is_long = span.start // grain if grain else None, begins_long
        items[-1].append((span, busy))
    return items


def described(item):
    """(start, end, how many, busy time, name, category) of the spans of an item."""
    busy, longest = collections.Counter(), {}
    for span, ns in item:
        busy[span.category] += ns
        if span.category not in longest or span.end - span.start > longest[span.category].end - longest[span.category].start:
            longest[span.category] = span
    best = max(longest, key=lambda category: (busy[category], longest[category].end - longest[category].start))
    return (item[0][0].start, max(span.end for span, _ in item), len(item), sum(ns for _, ns in item), longest[best].name)


def expected(spans, begin, end, width):
    inside = sum(begin <= span.start < end for span in spans)
    grain = 0
    if inside > width:
        grain = 1
        while grain * width < end - begin:
            grain *= 2
    items = [described(item) for item in joined(spans, grain)]
    return grain, [item for item in items if item[0] < end and (item[1] > begin or item[0] >= begin)]


def shown(timeline, row):
    return [(item.start, item.end, item.count, item.busy, timeline["names"][item.name]) for item in unpack(row)]


def everything(explore, path):
    """All rows, with all items one by one: each lane is asked for alone, where it has most room."""
    lanes = [row["lane"] for row in explore(path, "lanes")[0]["rows"]]
    rows = []
    for timeline in explore(path, *(f"window {BEGIN} {END} 16384 {lane}" for lane in lanes)):
        [row] = timeline["rows"]
        assert row["kind"] == "counters" or row["grain_ns"] == 0
        rows.append(row | {"shown": shown(timeline, row)})
    return rows


def check_windows(gputime, explore, path, generator, count):
    lanes = explore(path, "lanes")[0]
    wanted = {"ops": ops_by_stream(gputime, path), "gaps": gaps_by_device(gputime, path)}
    questions, windows = [], []
    room = max(1, lanes["end_ns"] - lanes["start_ns"])
    for _ in range(count):
        length = max(1, room >> generator.randrange(16))
        begin = lanes["start_ns"] + generator.randrange(-length, room)
        width = generator.choice([8, 20, 300])
        windows.append((begin, begin + length, width))
        questions.append(f"window {begin} {begin + length} {width}")
    for (begin, end, width), timeline in zip(windows, explore(path, *questions)):
        for row in timeline["rows"]:
            if row["kind"] not in wanted:
                continue
            key = row["device"] if row["kind"] == "gaps" else (row["device"], row["pid"], row["stream"])
            assert (row["grain_ns"], shown(timeline, row)) == expected(wanted[row["kind"]][key], begin, end, width), row
            assert sum(item.count for item in unpack(row)) == row["count"]
            if row["kind"] == "ops":
                category = {span.name: span.category for span in wanted["ops"][key]}
                assert all(timeline["categories"][item.name] == category[timeline["names"][item.name]] for item in unpack(row))
    for row in lanes["rows"]:
        if row["kind"] in wanted:
            key = row["device"] if row["kind"] == "gaps" else (row["device"], row["pid"], row["stream"])
            assert row["count"] == len(wanted[row["kind"]][key])
            assert row["busy_ns"] == sum(busy for item in joined(wanted[row["kind"]][key], 0) for _, busy in item)


@pytest.mark.parametrize("seed", range(25))
def test_windows_of_random_traces(gputime, explore, tmp_path, seed):
    path = tmp_path / "trace.json"
    path.write_text(tracegen.trace(seed)[0], encoding="utf-8")
    check_windows(gputime, explore, path, random.Random(seed), 15)


@pytest.mark.parametrize("path", [LLAMA, STACKS, COLLECTIVES, DATA / "overlap.json", DATA / "devices.json"], ids=lambda path: path.name)
def test_windows_of_samples(gputime, explore, path):
    check_windows(gputime, explore, path, random.Random(path.name), 30)


def test_every_op_is_there_at_the_deepest_zoom(gputime, explore):
    ops = rows_of(gputime, LLAMA, "select * from ops")
    chosen = random.Random(1).sample(ops, 60)
    answers = explore(LLAMA, *(f"window {op['start_ns']} {op['end_ns'] + 1} 1000" for op in chosen))
    for op, timeline in zip(chosen, answers):
        found = {item[:3] + item[4:] for row in timeline["rows"] if row["kind"] == "ops" for item in shown(timeline, row)}
        assert (op["start_ns"], op["end_ns"], 1, op["name"]) in found


# ---- lanes of CPU threads ----


@pytest.mark.parametrize("kind, table", [("calls", "calls"), ("operators", "cpu_ops"), ("python", "python_calls")])
def test_lanes_of_threads(gputime, explore, kind, table):
    wanted = collections.Counter((row["start_ns"], row["end_ns"], row["name"]) for row in rows_of(gputime, STACKS, f"select * from {table}"))
    found = collections.Counter()
    for row in everything(explore, STACKS):
        items = row["shown"]
        if row["kind"] == kind:
            found.update((start, end, name) for start, end, _, _, name in items)
            assert all(before[1] <= after[0] for before, after in zip(items, items[1:]))
    assert found == wanted


def test_levels_are_those_of_nesting(explore):
    """A span is inside one of the level above, on its thread, or overlaps with one of it."""
    lanes = {(row["kind"], row["pid"], row["tid"], row["level"]): unpack(row)
             for row in everything(explore, STACKS) if row["level"] is not None}
    for (kind, pid, tid, level), items in lanes.items():
        if level and kind in ("operators", "python", "calls"):
            above = lanes[kind, pid, tid, level - 1]
            assert all(any(outer.start <= item.start < outer.end for outer in above) for item in items[:200])


def test_curves(gputime, explore):
    tracks = {}
    for row in rows_of(gputime, STACKS, "select t.id, t.name, c.time_ns, c.value from counters c join counter_tracks t on t.id = c.track_id"):
        tracks.setdefault((row["name"], row["id"]), []).append((row["time_ns"], row["value"]))
    curves = [row for row in everything(explore, STACKS) if row["kind"] == "counters"]
    found = sorted((row["title"], list(zip(row["points"][::3], row["points"][1::3]))) for row in curves if row["title"] != "Queued ops")
    assert found == sorted((name, values) for (name, _), values in tracks.items())
    [queue] = [row for row in curves if row["title"] == "Queued ops"]
    assert min(queue["points"][1::3]) >= 0 and queue["points"][-1] == 0
    [coarse] = explore(STACKS, "window 0 108000000 10")
    for fine, row in zip(curves, (row for row in coarse["rows"] if row["kind"] == "counters")):
        assert row["count"] < fine["count"] and row["low"] == fine["low"] and row["high"] == fine["high"]
        inside = [value for time, value in zip(fine["points"][::3], fine["points"][1::3]) if 0 <= time < 108000000]
        assert max(row["points"][2::3][1:]) == max(inside) and min(row["points"][1::3][1:]) == min(inside)


# ---- items ----


def lines_of(item):
    return {line["key"]: line["value"] for line in item["lines"]}


def item_questions(rows, kind, count):
    """Questions for some items of a kind."""
    items = [f"item {row['lane']} {item[0]} {item[1]}" for row in rows if row["kind"] == kind for item in row["shown"]]
    return random.Random(kind).sample(items, min(count, len(items)))


@pytest.mark.parametrize("path", [LLAMA, STACKS, COLLECTIVES], ids=lambda path: path.name)
def test_items_of_ops(gputime, explore, path):
    rows = everything(explore, path)
    ops = {(op["start_ns"], op["end_ns"], op["stream"]): op for op in rows_of(gputime, path, "select * from ops")}
    stream = {row["lane"]: row["stream"] for row in rows}
    for item in explore(path, *item_questions(rows, "ops", 60)):
        op, lines = ops[item["start_ns"], item["end_ns"], stream[item["lane"]]], lines_of(item)
        assert item["name"] == op["name"] and item["category"] == op["category"] and item["others"] == 0
        for key, column in (("correlation", "correlation"), ("queue_ns", "queue_ns"), ("delay_ns", "launch_delay_ns"), ("step", "step"),
                            ("bytes", "bytes"), ("registers", "registers"), ("launch_call", "call"), ("graph", "graph")):
            assert lines.get(key) == op[column], key
        assert lines.get("phase") in (op["phase"], None) and (op["phase"] in (None, "unmapped")) == ("phase" not in lines)
        if op["grid_x"] is not None:
            assert lines["grid"] == f"{op['grid_x']} x {op['grid_y']} x {op['grid_z']}"
        launches = [link for link in item["links"] if link["kind"] == "launch"]
        assert [(link["start_ns"], link["end_ns"]) for link in launches] == ([] if op["call_id"] is None else [(op["call_start_ns"], op["call_end_ns"])])
        operators = [frame["name"] for frame in item["stack"] if frame["kind"] == "operators"]
        assert (operators[-1] if operators else None) == op["operator"]
        starts = [(frame["start_ns"], -frame["end_ns"]) for frame in item["stack"]]
        assert starts == sorted(starts)


def test_items_of_gaps(gputime, explore):
    rows = everything(explore, LLAMA)
    ops = {op["id"]: op for op in rows_of(gputime, LLAMA, "select * from ops")}
    gaps = {gap["start_ns"]: gap for gap in rows_of(gputime, LLAMA, "select * from gaps")}
    for item in explore(LLAMA, *item_questions(rows, "gaps", 60)):
        gap, links = gaps[item["start_ns"]], collections.defaultdict(list)
        for link in item["links"]:
            links[link["kind"]].append((link["start_ns"], link["end_ns"], link["name"]))
        assert item["name"] == gap["cause"] == lines_of(item)["cause"] and lines_of(item).get("activity") == gap["activity"]
        for kind, column in (("previous", "previous_id"), ("next", "next_id")):
            op = ops.get(gap[column])
            assert links[kind] == ([(op["start_ns"], op["end_ns"], op["name"])] if op else [])


def test_links_go_both_ways(explore):
    """From a call to its kernels and back; from a kernel to the call that waited for it and back."""
    rows = everything(explore, LLAMA)
    found = collections.Counter()
    ways = {"kernel": "launch", "launch": "kernel", "sync": "waits_for", "cpu": "gpu", "gpu": "cpu"}
    for kind in ("ops", "calls", "ranges", "host_ranges"):
        for item in explore(LLAMA, *item_questions(rows, kind, 40)):
            for link in item["links"]:
                if link["kind"] not in ways:
                    continue
                [other] = explore(LLAMA, f"item {link['lane']} {link['start_ns']} {link['end_ns']}")
                assert other["name"] == link["name"]
                assert any(back["kind"] == ways[link["kind"]] and back["lane"] == item["lane"] and back["start_ns"] == item["start_ns"]
                           for back in other["links"]), (item["name"], link)
                found[link["kind"]] += 1
    assert found["kernel"] and found["launch"] and found["cpu"] and found["gpu"]


def test_a_sync_waits_for_the_op_that_ended_last(gputime, explore):
    ops = rows_of(gputime, LLAMA, "select * from ops")
    questions = [f"item {row['lane']} {item[0]} {item[1]}" for row in everything(explore, LLAMA) if row["kind"] == "calls"
                 for item in row["shown"] if item[4] == "cudaDeviceSynchronize"]
    assert questions
    for item in explore(LLAMA, *questions):
        ended = [op["end_ns"] for op in ops if item["start_ns"] < op["end_ns"] <= item["end_ns"]]
        assert [link["end_ns"] for link in item["links"] if link["kind"] == "waits_for"] == ([max(ended)] if ended else [])


# ---- search ----


@pytest.fixture(scope="module")
def spans(explore):
    return sorted((item[0], row["lane"], -item[1], item[4]) for row in everything(explore, STACKS) for item in row["shown"])


@pytest.mark.parametrize("text", ["gemm", "LAUNCH", "aten::", "step", "zzz", "s", "module"])
def test_search_finds_what_lanes_have(explore, spans, text):
    matches = [span for span in spans if text.lower() in span[3].lower()]
    for at in (-10**9, 30_000_000, 70_000_123, 10**12):
        ahead, back = explore(STACKS, f"search {at} 50 {text}", f"search-back {at} 50 {text}")
        assert ahead["total"] == back["total"] == len(matches)
        after, before = [span for span in matches if span[0] >= at], [span for span in matches if span[0] < at]
        assert [(m["start_ns"], m["lane"], -m["end_ns"]) for m in ahead["matches"]] == [span[:3] for span in after[:50]]
        assert [(m["start_ns"], m["lane"], -m["end_ns"]) for m in back["matches"]] == [span[:3] for span in before[::-1][:50]]


# ---- flame graphs ----


def check_tree(flame):
    """Own times and those of children are the time of a node; returns that of all."""
    nodes, below = flame["nodes"], collections.Counter()
    for place, node in enumerate(nodes):
        assert (node["parent"] is None) == (place == 0) and (place == 0 or node["parent"] < len(nodes))
        if place:
            below[node["parent"]] += node["ns"]
    assert all(node["ns"] == node["own_ns"] + below[place] for place, node in enumerate(nodes))
    return nodes[0]


@pytest.mark.parametrize("of", ["operators", "python", "ranges"])
@pytest.mark.parametrize("begin, end", [(-10**9, 10**12), (20_000_000, 47_000_000), (5, 6)])
def test_flames_have_the_time_of_the_window(gputime, explore, of, begin, end):
    ops, gaps = rows_of(gputime, STACKS, "select * from ops"), rows_of(gputime, STACKS, "select * from gaps")
    for by, rows in (("gpu", ops), ("idle", gaps)):
        [flame] = explore(STACKS, f"flame {of} {by} {begin} {end}")
        parts = [min(row["end_ns"], end) - max(row["start_ns"], begin) for row in rows]
        root = check_tree(flame)
        assert root["ns"] == sum(part for part in parts if part > 0)
        assert root["count"] == sum(part > 0 for part in parts)


def test_flames_are_of_the_innermost_operator(gputime, explore):
    [flame] = explore(LLAMA, "flame operators gpu -1000000000 1000000000000")
    wanted, found = collections.Counter(), collections.Counter()
    for op in rows_of(gputime, LLAMA, "select operator, dur_ns from ops"):
        wanted[op["operator"] or "(all)"] += op["dur_ns"]
    for node in flame["nodes"]:
        found[node["name"]] += node["own_ns"]
    assert +found == +wanted


def test_collectives_have_lanes_by_group(gputime, explore):
    rows = [row for row in everything(explore, COLLECTIVES) if row["kind"] == "collectives"]
    found = collections.Counter((item.start, item.end) for row in rows for item in unpack(row))
    wanted = collections.Counter((op["start_ns"], op["end_ns"]) for op in
                                 rows_of(gputime, COLLECTIVES, "select * from ops where collective_id is not null"))
    assert rows and found == wanted and all(row["title"] for row in rows)
    groups = rows_of(gputime, COLLECTIVES, "select distinct device, comm_group from ops where collective_id is not null")
    assert len(rows) == len(groups)
