"""__arrow_c_stream__ as another program sees it: a reader of its own, by the layout of Arrow's C data interface."""

import ctypes
import gc
import struct

import pytest

from conftest import DATA
from python_package import opened, package
from samples import own_capture

LLAMA = DATA / "torch/llama_train_compiled.json.gz"
SAMPLES = [LLAMA, DATA / "hostile.json", DATA / "empty.json", DATA / "devices.json", own_capture("train").report]
WIDTHS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q", "f": "f", "g": "d"}
POINTER = ctypes.c_void_p


def pointer_of(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = POINTER, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


def words(address, count):
    return struct.unpack(f"{count}q", ctypes.string_at(address, 8 * count))


def call(address, result, *arguments):
    """A function of the C interface by its address."""
    return ctypes.CFUNCTYPE(result, *([POINTER] * len(arguments)))(address)(*arguments)


class Schema:
    """struct ArrowSchema: format, name, metadata, flags, n_children, children, dictionary, release, private_data."""

    def __init__(self, address):
        format, name, _, self.flags, count, children, dictionary, self.release, _ = words(address, 9)
        self.format, self.name = ctypes.string_at(format).decode(), ctypes.string_at(name or format)
        self.children = [Schema(child) for child in words(children, count)] if count else []
        self.dictionary = Schema(dictionary) if dictionary else None


def bit(address, index):
    return ctypes.string_at(address + index // 8, 1)[0] >> (index % 8) & 1


def texts(array, large):
    size = 8 if large else 4
    places = struct.unpack(f"{array.length + 1}{'q' if large else 'i'}",
                           ctypes.string_at(array.buffers[1] + array.offset * size, (array.length + 1) * size))
    return [ctypes.string_at(array.buffers[2] + first, last - first).decode() if last > first else ""
            for first, last in zip(places, places[1:])]


class Array:
    """struct ArrowArray: length, null_count, offset, n_buffers, n_children, buffers, children, dictionary, release."""

    def __init__(self, address):
        (self.length, self.null_count, self.offset, buffers_count, children_count, buffers, children, dictionary,
         self.release, _) = words(address, 10)
        self.buffers = words(buffers, buffers_count) if buffers_count else ()
        self.children = [Array(child) for child in words(children, children_count)] if children_count else []
        self.dictionary = Array(dictionary) if dictionary else None

    def valid(self, index):
        return not self.buffers[0] or bit(self.buffers[0], self.offset + index)

    def values(self, schema):
        if schema.format in ("u", "U"):
            found = texts(self, schema.format == "U") if self.length else []
        else:
            letter = WIDTHS[schema.format]
            size = struct.calcsize(letter)
            data = ctypes.string_at(self.buffers[1] + self.offset * size, self.length * size) if self.length else b""
            found = list(struct.unpack(f"{self.length}{letter}", data))
        is_there = [bool(self.valid(i)) for i in range(self.length)]
        assert self.null_count in (-1, is_there.count(False))
        assert schema.flags & 2 or all(is_there), "a column that cannot be null has nulls"
        if schema.dictionary:
            of = self.dictionary.values(schema.dictionary)
            found = [of[value] if there else None for value, there in zip(found, is_there)]
        return [value if there else None for value, there in zip(found, is_there)]


def read(capsule):
    """{name: values} of a stream, every struct released."""
    stream = pointer_of(capsule, b"arrow_array_stream")
    get_schema, get_next, _, release, _ = words(stream, 5)
    schema_memory = ctypes.create_string_buffer(9 * 8)
    assert call(get_schema, ctypes.c_int, stream, ctypes.addressof(schema_memory)) == 0
    schema = Schema(ctypes.addressof(schema_memory))
    assert schema.format == "+s"
    columns = {child.name.decode(): [] for child in schema.children}
    assert len(columns) == len(schema.children)
    while True:
        memory = ctypes.create_string_buffer(10 * 8)
        assert call(get_next, ctypes.c_int, stream, ctypes.addressof(memory)) == 0
        array = Array(ctypes.addressof(memory))
        if not array.release:
            break
        for child, part in zip(schema.children, array.children):
            assert part.length == array.length
            columns[child.name.decode()] += part.values(child)
        call(array.release, None, ctypes.addressof(memory))
        assert words(ctypes.addressof(memory), 10)[8] == 0
    call(schema.release, None, ctypes.addressof(schema_memory))
    call(release, None, stream)
    assert words(stream, 5)[3] == 0
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
    schema = Schema(pointer_of(kernels.__arrow_c_schema__(), b"arrow_schema"))
    assert schema.format == "+s" and [child.name.decode() for child in schema.children] == list(kernels.to_dict())
    formats = {child.name.decode(): child.format for child in schema.children}
    assert (formats["total_ns"], formats["share"]) == ("l", "g")


def test_unused_capsules_are_released():
    kernels = opened(LLAMA).kernels()
    from gputime import _arrow
    capsules = [kernels.__arrow_c_stream__(), kernels.__arrow_c_schema__()]
    assert len(_arrow._handed) == 2
    del capsules
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
    assert package.__version__
