"""The interpreter of GPU programs against timelines worked out by hand, and the traces that are written of them."""

import json

import pytest
from gpu_program import (MILLION, BlockingCopy, Change, Enter, Free, GraphLaunch, HandOver, Launch, Leave, Node, Op, Record,
                         Spawn, Synchronize, Wait, Work, run)
from gpu_program_traces import kineto, write_nsys
from gpu_programs import KINDS, changes, program

LONG, SHORT = Op("gemm", 100, gap=10, event_gap=20), Op("add", 30, gap=10, event_gap=20)
NO_LAUNCH, NO_THINK, NO_SYNC = (Change(no=frozenset({what})) for what in ("launch", "think", "sync"))


def launch(op, stream=7):
    return Launch(op, stream, length=5, delay=3, room=2)


def times(timeline):
    """Starts and ends of ops, then of calls."""
    return [(one.start, one.end) for one in timeline.ops], [(one.start, one.end) for one in timeline.calls]


def test_stream_works_in_order():
    """The second launch ends at 10 and its op may start at 13, but the stream is busy until 108 and takes 10 more."""
    assert times(run((launch(LONG), launch(SHORT)))) == ([(8, 108), (118, 148)], [(0, 5), (5, 10)])


def test_cpu_decides_when_the_stream_is_free():
    assert times(run((launch(SHORT), Work(200), launch(LONG))))[0] == [(8, 38), (213, 313)]


def test_streams_do_not_wait_for_each_other():
    assert times(run((launch(LONG, 7), launch(SHORT, 8))))[0] == [(8, 108), (13, 43)]


def test_stream_waits_for_an_event():
    """The event is reached at 108, and the op that waits starts 20 later. What was launched after the record counts not."""
    program_ = (launch(LONG, 7), Record("a", 7, 1), launch(LONG, 7), Wait("a", 8, 1), launch(SHORT, 8))
    assert times(run(program_))[0] == [(8, 108), (118, 218), (128, 158)]


def test_event_recorded_after_a_wait_is_reached_with_it():
    """Stream 8 has no op: its record is reached when its wait is."""
    program_ = (launch(LONG, 7), Record("a", 7, 1), Wait("a", 8, 1), Record("b", 8, 1), Wait("b", 9, 1), launch(SHORT, 9))
    assert times(run(program_))[0][1] == (128, 158)


def test_event_that_was_never_recorded_holds_nothing_up():
    assert times(run((Wait("a", 7, 1), launch(SHORT))))[0] == [(9, 39)]


@pytest.mark.parametrize("sync", [Synchronize(None, None, 2, 4), Synchronize(7, None, 2, 4), Synchronize(None, "a", 2, 4)])
def test_cpu_waits(sync):
    timeline = run((launch(LONG), Record("a", 7, 1), sync, Work(10), launch(SHORT)))
    assert times(timeline) == ([(8, 108), (130, 160)], [(0, 5), (5, 6), (6, 112), (122, 127)])
    without = run((launch(LONG), Record("a", 7, 1), sync, Work(10), launch(SHORT)), NO_SYNC)
    assert times(without) == ([(8, 108), (118, 148)], [(0, 5), (5, 6), (6, 8), (18, 23)])


def test_cpu_waits_for_one_stream_only():
    assert times(run((launch(LONG, 7), launch(SHORT, 8), Synchronize(8, None, 2, 4))))[1][-1] == (10, 47)


def test_blocking_copy():
    copy = BlockingCopy(SHORT, 7, offset=4, length=6, back=2)
    assert times(run((copy,))) == ([(4, 34)], [(0, 36)])
    assert times(run((launch(LONG), copy))) == ([(8, 108), (118, 148)], [(0, 5), (5, 150)])
    assert times(run((copy,), NO_SYNC)) == ([(4, 34)], [(0, 36)])
    assert times(run((copy,), NO_LAUNCH)) == ([(0, 30)], [(0, 32)])


def test_free_waits_for_the_device():
    assert times(run((launch(LONG), Free(20, 4))))[1][-1] == (5, 112)
    assert times(run((Free(20, 4),)))[1] == [(0, 20)]


def test_full_queue():
    """Two places: the third launch returns 2 after the end of the first op."""
    timeline = run((launch(LONG), launch(LONG), launch(LONG), launch(LONG)), queue_depth=2)
    assert times(timeline)[1] == [(0, 5), (5, 10), (10, 110), (110, 220)]
    assert [one.start for one in timeline.ops] == [8, 118, 228, 338]


def test_graph():
    """A chain with a branch on stream 9. What comes next on stream 7 waits for the branch, too."""
    nodes = (Node(LONG, 7), Node(SHORT, 7, (0,)), Node(LONG, 9, (0,)), Node(SHORT, 7, (1, 2)))
    timeline = run((GraphLaunch(nodes[:3], 7, 20, 12), launch(SHORT)))
    assert times(timeline) == ([(12, 112), (122, 152), (122, 222), (232, 262)], [(0, 20), (20, 25)])
    assert times(run((GraphLaunch(nodes, 7, 20, 12),)))[0][-1] == (232, 262)
    assert [one.is_node for one in timeline.ops] == [True, True, True, False]
    assert times(run((launch(LONG), GraphLaunch(nodes[:1], 7, 20, 12))))[0] == [(8, 108), (118, 218)]


def test_hand_over():
    """The first thread waits for the second; both take their time to notice."""
    program_ = (Work(5), HandOver(1, (Work(50), launch(SHORT)), there=7, back=9), launch(SHORT))
    timeline = run(program_)
    assert times(timeline) == ([(70, 100), (110, 140)], [(62, 67), (76, 81)])
    assert [one.thread for one in timeline.calls] == [1, 0]
    assert times(run(program_, Change(cpu=2)))[1][0] == (2 + 1 + 4 + 25, 35)  # 5 / 2, 7 / 2, 50 / 2: halves go up


def test_threads_work_at_the_same_time():
    """Calls reach the stream in the order of their starts."""
    timeline = run((Spawn(1, (Work(3), launch(SHORT)), there=1), Work(10), launch(LONG)))
    assert [(one.op.name, one.start) for one in timeline.ops] == [("add", 12), ("gemm", 52)]


def test_ranges_and_steps():
    """A step lasts to the end of its ops, and the next one begins there."""
    timeline = run((Enter("ProfilerStep#1"), Work(10), launch(LONG), Leave(), Work(4), Enter("ProfilerStep#2"),
                    Enter("aten::add", "cpu_op"), launch(SHORT), Leave(), Work(500), Leave()), start=1000)
    assert [(one.name, one.start, one.end) for one in timeline.ranges] == [
        ("ProfilerStep#1", 1000, 1015), ("aten::add", 1019, 1024), ("ProfilerStep#2", 1019, 1524)]
    assert timeline.bounds() == [1000, 1118, 1524]
    assert timeline.run_length() == 524 and timeline.step_lengths() == [118, 406]


def test_changes_of_lengths():
    program_ = (launch(LONG), launch(Op("Memcpy HtoD (Pinned -> Device)", 50, "memcpy")), launch(Op("ncclKernel", 70)))

    def lengths(**change):
        return [one.end - one.start for one in run(program_, Change(**change)).ops]

    assert lengths() == [100, 50, 70]
    assert lengths(scale=(("*", 2 * MILLION), ("g*", 0))) == [0, 100, 140]
    assert lengths(classes=(("compute", MILLION // 2),)) == [50, 50, 70]
    assert lengths(classes=(("memory", MILLION // 2), ("comm", 0))) == [100, 25, 0]
    assert lengths(scale=(("GEMM", 0),)) == [100, 50, 70]


def test_changes_of_the_cpu():
    """Records are CPU work, launches are not; the time from call to op is neither."""
    program_ = (Work(10), launch(SHORT), Record("a", 7, 4), Work(60), launch(SHORT))
    assert times(run(program_)) == ([(18, 48), (87, 117)], [(10, 15), (15, 19), (79, 84)])
    assert times(run(program_, NO_THINK)) == ([(8, 38), (48, 78)], [(0, 5), (5, 5), (5, 10)])
    assert times(run(program_, NO_LAUNCH)) == ([(10, 40), (74, 104)], [(10, 10), (10, 14), (74, 74)])
    assert times(run(program_, Change(cpu=0.5))) == ([(33, 63), (171, 201)], [(20, 30), (30, 38), (158, 168)])


def test_nothing_waits_for_overlapped_communication():
    comm = Op("ncclKernel", 500, gap=10, event_gap=20)
    program_ = (launch(LONG), Record("a", 7, 1), Wait("a", 17, 1), launch(comm, 17), Record("b", 17, 1), Wait("b", 7, 1),
                launch(SHORT), Synchronize(None, None, 2, 4))
    assert times(run(program_))[0] == [(8, 108), (128, 628), (648, 678)]
    changed = run(program_, Change(overlap_comm=True))
    assert times(changed)[0] == [(8, 108), (128, 628), (118, 148)]
    assert changed.calls[-1].end == 152


def test_communication_waits_for_communication():
    """Overlapped or not, two collectives of one stream run one after the other."""
    comm = Op("ncclKernel", 500, gap=10)
    assert times(run((launch(comm), launch(comm), launch(SHORT)), Change(overlap_comm=True)))[0] == [
        (8, 508), (518, 1018), (18, 48)]


# ---- random programs ----


@pytest.mark.parametrize("seed", range(2 * len(KINDS)))
def test_programs_are_the_same_every_time(seed):
    one, two = program(seed), program(seed)
    assert one == two
    assert kineto(one.run()) == kineto(two.run())
    assert [options for options, _ in changes(one.run(), seed)] == [options for options, _ in changes(two.run(), seed)]


@pytest.mark.parametrize("seed", range(2 * len(KINDS)))
def test_streams_never_overlap_but_in_graphs(seed):
    made = program(seed)
    timeline = made.run()
    ends = {}
    for one in timeline.ops:
        assert one.is_node or one.start >= ends.get(one.stream, 0), one
        assert one.start > one.launched
        ends[one.stream] = max(ends.get(one.stream, 0), one.end)
    for _, change in changes(timeline, seed):
        assert len(made.run(change).ops) == len(timeline.ops)


@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_faster_parts_never_cost_time(seed):
    made = program(seed)
    base = made.run().run_length()
    faster = [Change(classes=(("compute", MILLION // 2),)), Change(cpu=2), NO_LAUNCH, NO_THINK, NO_SYNC]
    assert all(made.run(change).run_length() <= base for change in faster)


# ---- traces ----


def facts_of(rows):
    """What both formats have, without the numbers that each gives to names."""
    return sorted((row["start_ns"], row["end_ns"], row["correlation"]) for row in rows)


@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_traces_have_what_happened(dump_rows, gputime, tmp_path, seed):
    timeline = program(seed).run()
    (tmp_path / "a.json").write_text(json.dumps(kineto(timeline)))
    write_nsys(tmp_path / "a.sqlite", timeline)
    for path in (tmp_path / "a.json", tmp_path / "a.sqlite"):
        rows = dump_rows(path)
        assert facts_of(rows["ops"]) == sorted((one.start, one.end, one.correlation) for one in timeline.ops)
        assert facts_of(rows["calls"]) == sorted((one.start, one.end, one.correlation) for one in timeline.calls)
        assert sorted((row["kind"], row["correlation"]) for row in rows["syncs"]) == sorted(
            (one.kind, one.call.correlation) for one in timeline.syncs)
        steps = gputime.json("steps", path, "--no-cache", "--top", "0")["tables"]["steps"]["rows"]
        assert [row["cpu_ns"] for row in steps] == [one.end - one.start for one in timeline.steps()]


def test_traces_name_the_record_that_is_waited_for(dump_rows, tmp_path):
    timeline = program([kind.__name__ for kind in KINDS].index("streams")).run()
    waits = [one for one in timeline.syncs if one.kind == "stream_wait"]

    def waits_of(syncs):
        path = tmp_path / f"{syncs}.json"
        path.write_text(json.dumps(kineto(timeline, syncs)))
        rows = [row for row in dump_rows(path)["syncs"] if row["kind"] == "stream_wait"]
        return [(row["correlation"], row["stream"], row["wait_stream"], row["wait_correlation"]) for row in rows]

    assert waits
    assert waits_of("records") == [(one.call.correlation, one.stream, one.record.stream, one.record.correlation)
                                   for one in waits]
    assert waits_of("streams") == [(one.call.correlation, one.stream, None, None) for one in waits]
    assert not waits_of("none")
    rows = dump_rows(write_nsys(tmp_path / "a.sqlite", timeline))
    records = {row["record"]: (row["stream"], row["correlation"]) for row in rows["event_records"]}
    assert [records[row["record"]] for row in rows["syncs"] if row["kind"] == "stream_wait"] == [
        (one.record.stream, one.record.correlation) for one in waits]
