"""A consumer of the Arrow C stream interface, written from its specification with ctypes alone: tables as lists of Python
values. It moves arrays out of their parents and releases everything in an order of its own."""

import ctypes
import struct


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


SchemaPointer, ArrayPointer, StreamPointer = map(ctypes.POINTER, (Schema, Array, Stream))
Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(SchemaPointer)), ("dictionary", SchemaPointer),
    ("release", ctypes.CFUNCTYPE(None, SchemaPointer)), ("private_data", ctypes.c_void_p)]
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ArrayPointer)),
    ("dictionary", ArrayPointer), ("release", ctypes.CFUNCTYPE(None, ArrayPointer)), ("private_data", ctypes.c_void_p)]
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, StreamPointer, SchemaPointer)),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, StreamPointer, ArrayPointer)),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, StreamPointer)),
    ("release", ctypes.CFUNCTYPE(None, StreamPointer)), ("private_data", ctypes.c_void_p)]

FORMATS = {b"c": "b", b"C": "B", b"s": "h", b"S": "H", b"i": "i", b"I": "I", b"l": "q", b"L": "Q", b"g": "d"}
NULLABLE = 2


def pairs(address):
    """Metadata: the number of pairs, then length and bytes of each key and value."""
    if not address:
        return {}
    place = address

    def number():
        nonlocal place
        place += 4
        return ctypes.c_int32.from_address(place - 4).value

    def text():
        nonlocal place
        size = number()
        place += size
        return ctypes.string_at(place - size, size).decode()

    return {text(): text() for _ in range(number())}


def is_valid(bits, row):
    return bits is None or bits[row // 8] >> row % 8 & 1


def texts_of(array, schema):
    """All texts of a dictionary."""
    assert schema.format in (b"u", b"U") and array.n_buffers == 3 and array.offset == 0 and array.null_count == 0
    code, size = ("i", 4) if schema.format == b"u" else ("q", 8)
    raw = ctypes.string_at(array.buffers[1], size * (array.length + 1))
    offsets = struct.unpack(f"={array.length + 1}{code}", raw)
    content = ctypes.string_at(array.buffers[2], offsets[-1])
    return [content[begin:end].decode("utf-8") for begin, end in zip(offsets, offsets[1:])]


def values_of(array, schema):
    code = FORMATS[schema.format]
    size = struct.calcsize(code)
    assert array.n_buffers == 2 and array.offset == 0 and array.n_children == 0
    values = struct.unpack(f"={array.length}{code}", ctypes.string_at(array.buffers[1], size * array.length))
    bits = ctypes.string_at(array.buffers[0], (array.length + 7) // 8) if array.buffers[0] else None
    there = [bool(is_valid(bits, row)) for row in range(array.length)]
    assert array.null_count == there.count(False)
    assert schema.flags & NULLABLE or array.null_count == 0
    words = texts_of(array.dictionary.contents, schema.dictionary.contents) if array.dictionary else None
    return [None if not present else words[value] if words is not None else value
            for value, present in zip(values, there)]


class Table:
    """columns: lists by key; about: metadata by key, of the table under None; formats by key."""

    def __init__(self, stream):
        self.stream, self.schema, self.arrays = stream, Schema(), []
        assert stream.get_schema(ctypes.byref(stream), ctypes.byref(self.schema)) == 0
        assert self.schema.format == b"+s"
        self.keys = [self.schema.children[c].contents.name.decode() for c in range(self.schema.n_children)]
        while True:
            array = Array()
            assert stream.get_next(ctypes.byref(stream), ctypes.byref(array)) == 0
            if not array.release:
                break
            assert array.n_children == self.schema.n_children
            self.arrays.append(array)

    def release_stream(self):
        self.stream.release(ctypes.byref(self.stream))
        assert not self.stream.release

    def columns(self):
        found = {key: [] for key in self.keys}
        for array in self.arrays:
            for c, key in enumerate(self.keys):
                child = array.children[c].contents
                assert child.length == array.length
                found[key] += values_of(child, self.schema.children[c].contents)
        return found

    def about(self):
        children = {key: pairs(self.schema.children[c].contents.metadata) for c, key in enumerate(self.keys)}
        return {None: pairs(self.schema.metadata)} | children

    def formats(self):
        return {key: self.schema.children[c].contents.format.decode() for c, key in enumerate(self.keys)}

    def release(self):
        """Every second column is moved out of its array first, as consumers may, and released last."""
        moved = []
        for array in self.arrays:
            for c in range(0, array.n_children, 2):
                copy = Array.from_buffer_copy(array.children[c].contents)
                array.children[c].contents.release = type(copy.release)()
                moved.append(copy)
            array.release(ctypes.byref(array))
            assert not array.release
        self.schema.release(ctypes.byref(self.schema))
        assert not self.schema.release
        for array in moved:
            assert array.length == 0 or ctypes.string_at(array.buffers[1], 1) is not None
            array.release(ctypes.byref(array))
