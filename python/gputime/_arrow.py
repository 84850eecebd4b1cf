"""Arrow's C stream interface: streams of the library read into columns, and handed to others as capsules."""

import ctypes
import sys

from . import _c
from ._library import Error
from ._owner import SIZES, Owner, view
from ._values import Column, Values, joined, numpy

# Formats of numbers: letters of the struct module.
NUMBERS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q", "g": "d"}


# ---- reading ----

def check(stream, status, what):
    if status:
        message = stream.get_last_error(ctypes.byref(stream))
        raise Error(f"cannot read {what}: {(message or b'error ' + str(status).encode()).decode('utf-8', 'replace')}")


def release(struct):
    if struct.release:
        struct.release(ctypes.byref(struct))


def release_array(address):
    release(_c.ArrowArray.from_address(address))


def next_array(stream):
    """(array, its owner), None at the end."""
    array = _c.ArrowArray()
    check(stream, stream.get_next(ctypes.byref(stream), ctypes.byref(array)), "rows")
    if not array.release:
        return None
    return array, Owner(ctypes.addressof(array), release_array, array)


def pairs_of(metadata):
    """Metadata as a dictionary: so many pairs of texts, each after its length."""
    pairs, place = {}, 4
    if not metadata:
        return pairs
    address = ctypes.cast(metadata, ctypes.c_void_p).value
    number = lambda at: ctypes.c_int32.from_address(address + at).value
    for _ in range(number(0)):
        texts = []
        for _ in range(2):
            texts.append(ctypes.string_at(address + place + 4, number(place)).decode("utf-8", "replace"))
            place += 4 + number(place)
        pairs[texts[0]] = texts[1]
    return pairs


def formats_of(stream):
    """[(Column, format, format of the dictionary or None)] of the columns."""
    schema = _c.ArrowSchema()
    check(stream, stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)), "columns")
    try:
        children = [schema.children[i].contents for i in range(schema.n_children)]
        return [(column_of(child), child.format.decode(),
                 child.dictionary.contents.format.decode() if child.dictionary else None) for child in children]
    finally:
        schema.release(ctypes.byref(schema))


def column_of(schema):
    about = pairs_of(schema.metadata)
    return Column(schema.name.decode("utf-8", "replace"), about.get("title", ""), about.get("unit", ""), about.get("of"))


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


def runs_on(parts):
    """Whether the parts of a column follow each other in memory, with the same texts: then they are one."""
    return all(first.end == second.start and first.words_at == second.words_at and second.words_at is not False
               for first, second in zip(parts, parts[1:]))


class Part:
    """A column of one array of a stream, before anything of it is decoded."""

    def __init__(self, array, owner, format, dictionary, known):
        self.array, self.owner, self.format, self.dictionary = array, owner, format, dictionary
        self.known = known  # words by where they are: many columns share the names of the trace
        size = SIZES[NUMBERS[format]] if format in NUMBERS else 0
        self.start = (array.buffers[1] or 0) + array.offset * size
        self.end = self.start + array.length * size
        self.words_at = False if format not in NUMBERS else None
        if dictionary is not None:
            words = array.dictionary.contents
            self.words_at = words.buffers[1], words.offset, words.length

    def is_null(self):
        return nulls_of(self.array, self.owner)

    def words(self):
        words = self.array.dictionary.contents
        if self.words_at not in self.known:
            self.known[self.words_at] = dict(enumerate(texts_of(words, self.owner, self.dictionary)
                                                       if words.length else []))
        return self.known[self.words_at]

    def values(self):
        if self.format not in NUMBERS:
            texts = texts_of(self.array, self.owner, self.format) if self.array.length else []
            return Values(texts, self.is_null())
        data = view(self.owner, self.start, NUMBERS[self.format], self.array.length)
        return Values(data, self.is_null(), self.words() if self.dictionary is not None else None)


class Columns:
    """All rows of a stream. Numbers are views of the library's memory."""

    def __init__(self, stream):
        try:
            formats = formats_of(stream)
            batches = []
            while (batch := next_array(stream)) is not None:
                batches.append(batch)
        finally:
            release(stream)
        self.columns = tuple(column for column, _, _ in formats)
        self.length = sum(array.length for array, _ in batches)
        known = {}
        self._parts = [[Part(array.children[i].contents, owner, format, dictionary, known) for array, owner in batches]
                       for i, (_, format, dictionary) in enumerate(formats)]
        self._formats, self._known = formats, {}

    def values(self, index):
        if index not in self._known:
            self._known[index] = self._join(self._parts[index], self._formats[index][1])
        return self._known[index]

    def _join(self, parts, format):
        if len(parts) == 1:
            return parts[0].values()
        if not parts or not runs_on(parts):
            return joined([part.values() for part in parts], NUMBERS.get(format))
        owners = tuple(part.owner for part in parts)
        data = view(owners, parts[0].start, NUMBERS[format], self.length)
        nulls = [part.is_null() for part in parts]
        is_null = None
        if any(one is not None for one in nulls):
            is_null = [flag for one, part in zip(nulls, parts) for flag in
                       (one if one is not None else [False] * part.array.length)]
        return Values(data, is_null, parts[0].words() if parts[0].dictionary is not None else None)


# ---- handing out ----

# A function of its own: that of ctypes.pythonapi has the types that anybody set last.
_new_capsule = ctypes.PyDLL(None).PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# Address: (struct, capsule that points to it). A capsule's destructor would have to be Python, which cannot run while an
# exception is on its way or the interpreter ends. So a reference to the capsule is kept here until it is the only one.
_handed = {}
ALONE = (lambda entry: sys.getrefcount(entry[1]))((None, object()))


def sweep():
    """Releases what is in capsules that nobody has any more; of those that were consumed nothing is left but the struct."""
    for address, entry in list(_handed.items()):
        if sys.getrefcount(entry[1]) <= ALONE and _handed.pop(address, None):
            release(entry[0])


def capsule_of(struct, name):
    sweep()
    capsule = _new_capsule(ctypes.addressof(struct), name, None)
    _handed[ctypes.addressof(struct)] = struct, capsule
    return capsule


def capsule_of_stream(stream):
    return capsule_of(stream, b"arrow_array_stream")


def capsule_of_schema(stream):
    schema = _c.ArrowSchema()
    try:
        check(stream, stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)), "columns")
    finally:
        release(stream)
    return capsule_of(schema, b"arrow_schema")
