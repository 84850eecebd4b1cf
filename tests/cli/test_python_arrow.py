"""__arrow_c_stream__ as another program sees it, by the tests' own reader of Arrow's C interface."""

import ctypes
import gc

import pytest

import arrow_by_hand
from conftest import DATA
from python_package import opened
from samples import own_capture

LLAMA = DATA / "torch/llama_train_compiled.json.gz"
SAMPLES = [LLAMA, DATA / "hostile.json", DATA / "empty.json", DATA / "devices.json", own_capture("train").report]


def pointer_of(capsule, name):
    get = ctypes.PyDLL(None).PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


def read(capsule):
    """{name: values} of a stream; everything of it is released."""
    table = arrow_by_hand.Table(arrow_by_hand.Stream.from_address(pointer_of(capsule, b"arrow_array_stream")))
    columns = table.columns()
    table.release_stream()
    table.release()
    return columns


def same(found, expected):
    return list(found) == list(expected) and all(
        len(found[key]) == len(expected[key]) and all(a == b or (a != a and b != b) for a, b in zip(found[key], expected[key]))
        for key in expected)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_tables(sample):
    trace = opened(sample)
    for report in (trace.summary(), trace.gaps(), trace.ranges(), trace.path(), trace.report("trace_facts")):
        for key, table in report.tables.items():
            assert same(read(table.__arrow_c_stream__()), table.to_dict()), key
        if report.main is not None:
            assert same(read(report.__arrow_c_stream__()), report.main.to_dict())


@pytest.mark.parametrize("sample", SAMPLES[:2] + SAMPLES[-1:], ids=lambda path: path.name)
def test_frames(sample):
    from gputime._frame import FRAMES
    trace = opened(sample)
    for key in FRAMES:
        frame = trace.frame(key)
        assert same(read(frame.__arrow_c_stream__()), frame.to_dict()), key
        assert [dict(row) for row in frame][:3] == [frame[row] for row in range(min(3, len(frame)))] or key == "counters"
    chosen = trace.ops.select("dur_ns", "name")
    assert list(read(chosen.__arrow_c_stream__())) == ["dur_ns", "name"] == [column.key for column in chosen.columns]


def test_stream_of_a_frame_outlives_the_trace():
    trace = opened(LLAMA)
    expected = trace.ops.to_dict()
    capsule = trace.ops.__arrow_c_stream__()
    trace.close()
    del trace
    gc.collect()
    assert same(read(capsule), expected)


def test_stream_outlives_the_report():
    trace = opened(LLAMA)
    expected = trace.kernels().to_dict()
    capsule = trace.kernels().__arrow_c_stream__()
    trace.close()
    del trace
    gc.collect()
    assert same(read(capsule), expected)


def test_schema():
    kernels = opened(LLAMA).kernels()
    capsule = kernels.__arrow_c_schema__()
    schema = arrow_by_hand.Schema.from_address(pointer_of(capsule, b"arrow_schema"))
    columns = [schema.children[i].contents for i in range(schema.n_children)]
    assert schema.format == b"+s" and [child.name.decode() for child in columns] == list(kernels.to_dict())
    formats = {child.name: child.format for child in columns}
    assert (formats[b"total_ns"], formats[b"share"]) == (b"l", b"g")


def test_unused_capsules_are_released():
    from gputime import _arrow
    kernels = opened(LLAMA).kernels()
    capsules = [kernels.__arrow_c_stream__(), kernels.__arrow_c_schema__(), kernels.__arrow_c_stream__()]
    used = capsules[2]
    _arrow.sweep()
    structs = [entry[0] for entry in _arrow._handed.values()]
    assert len(structs) == 3 and all(one.release for one in structs)
    del capsules
    _arrow.sweep()
    assert len(_arrow._handed) == 1 and [bool(one.release) for one in structs] == [False, False, True]
    assert read(used) == kernels.to_dict()
    del used
    _arrow.sweep()
    assert not _arrow._handed


def test_capsules_end_while_an_exception_is_raised():
    """The destructor runs inside of a call that failed; it must not hide why."""
    kernels = opened(LLAMA).kernels()
    for _ in range(100):
        with pytest.raises(TypeError, match="has no len"):
            len(kernels.__arrow_c_stream__())
        with pytest.raises(ValueError, match="incorrect name"):
            pointer_of(kernels.__arrow_c_stream__(), b"other")


def test_other_libraries_take_it():
    pyarrow = pytest.importorskip("pyarrow")
    kernels = opened(LLAMA).kernels()
    assert pyarrow.table(kernels).num_rows == len(kernels)
