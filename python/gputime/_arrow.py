"""Arrow's C stream interface: streams of the library read into columns, and handed to others as capsules."""

import ctypes

from . import _c
from ._library import Error
from ._owner import Owner, view
from ._values import Values, numpy

# Formats of numbers: letters of the struct module.
NUMBERS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q", "g": "d"}


# ---- reading ----

def check(stream, status, what):
    if status:
        message = stream.get_last_error(ctypes.byref(stream))
        raise Error(f"cannot read {what}: {(message or b'error ' + str(status).encode()).decode('utf-8', 'replace')}")


def release_array(address):
    array = _c.ArrowArray.from_address(address)
    if array.release:
        array.release(ctypes.byref(array))


def release_stream(stream):
    if stream.release:
        stream.release(ctypes.byref(stream))


def next_array(stream, *kept):
    """(array, its owner), None at the end. The owner keeps `kept`, too."""
    array = _c.ArrowArray()
    check(stream, stream.get_next(ctypes.byref(stream), ctypes.byref(array)), "rows")
    if not array.release:
        return None
    return array, Owner(ctypes.addressof(array), release_array, array, *kept)


def formats_of(stream):
    """[(key, format, format of the dictionary or None)] of the columns."""
    schema = _c.ArrowSchema()
    check(stream, stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)), "columns")
    try:
        children = [schema.children[i].contents for i in range(schema.n_children)]
        return [(child.name.decode("utf-8", "replace"), child.format.decode(),
                 child.dictionary.contents.format.decode() if child.dictionary else None) for child in children]
    finally:
        schema.release(ctypes.byref(schema))


def nulls_of(array, owner):
    """Which elements are none; None: all are there."""
    bits = array.buffers[0] if array.n_buffers else None
    if not array.null_count or not bits:
        return None
    data = view(owner, bits, "B", (array.offset + array.length + 7) // 8)
    if numpy is not None:
        valid = numpy.unpackbits(numpy.frombuffer(data, dtype="uint8"), bitorder="little")
        is_null = valid[array.offset:array.offset + array.length] == 0
        return is_null if is_null.any() else None
    is_null = [not data[i >> 3] >> (i & 7) & 1 for i in range(array.offset, array.offset + array.length)]
    return is_null if any(is_null) else None


def texts_of(array, owner, format):
    """Texts of an array of them, as a list."""
    offsets = view(owner, array.buffers[1], "i" if format == "u" else "q", array.offset + array.length + 1)
    size, start = offsets[-1], array.buffers[2]
    data = bytes(view(owner, start, "B", size)) if size else b""
    places = offsets[array.offset:].tolist()
    return [data[first:last].decode("utf-8", "replace") for first, last in zip(places, places[1:])]


def values_of(array, owner, format, dictionary):
    is_null = nulls_of(array, owner)
    if format in ("u", "U"):
        return Values(texts_of(array, owner, format) if array.length else [], is_null)
    letter = NUMBERS[format]
    data = view(owner, array.buffers[1], letter, array.offset + array.length)[array.offset:]
    if dictionary is None:
        return Values(data, is_null)
    return Values(data, is_null, dict(enumerate(texts_of(array.dictionary.contents, owner, dictionary)
                                                if array.dictionary.contents.length else [])))


class Columns:
    """All rows of a stream. One array of each column is a view of the library's memory."""

    def __init__(self, stream, *kept):
        try:
            self.formats = formats_of(stream)
            batches = []
            while (batch := next_array(stream, *kept)) is not None:
                batches.append(batch)
        finally:
            release_stream(stream)
        self.length = sum(array.length for array, _ in batches)
        self.columns = [self._column(batches, i) for i in range(len(self.formats))]

    def _column(self, batches, index):
        _, format, dictionary = self.formats[index]
        parts = [values_of(array.children[index].contents, owner, format, dictionary) for array, owner in batches]
        if len(parts) == 1:
            return parts[0]
        values = [value for part in parts for value in part.to_list()]
        return joined(values, format if dictionary is None else "u")


def joined(values, format):
    """Values of several arrays, or of none."""
    import array
    is_null = [value is None for value in values]
    is_null = is_null if any(is_null) else None
    if format in ("u", "U"):
        return Values(values, is_null)
    return Values(memoryview(array.array(NUMBERS[format], [value or 0 for value in values])), is_null)


# ---- handing out ----

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
