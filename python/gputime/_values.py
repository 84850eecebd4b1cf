"""Columns of tables: values with their nulls, as arrays of numpy where it is there, as lists, and for pandas."""

import array

try:
    import numpy
except ImportError:  # everything but arrays works without it
    numpy = None

LETTERS = {"q": "int64", "d": "float64", "B": "uint8", "H": "uint16", "I": "uint32", "Q": "uint64", "i": "int32",
           "b": "int8", "h": "int16"}


class Column:
    """What is known of a column: key, title and unit ("ns", "bytes", "count", "share", "" for names and ids)."""

    __slots__ = ("key", "title", "unit", "of", "refers_to", "choices")

    def __init__(self, key, title="", unit="", of=None, refers_to=None, choices=None):
        self.key, self.title, self.unit, self.of = key, title, unit, of
        self.refers_to, self.choices = refers_to, choices

    def __repr__(self):
        shown = [f"{name}={getattr(self, name)!r}" for name in self.__slots__[1:] if getattr(self, name)]
        return f"Column({', '.join([repr(self.key)] + shown)})"


class Values:
    """The values of one column. data: a memoryview or array of numbers, or a list of texts. is_null: None, or a
    sequence of truth values, one for each."""

    def __init__(self, data, is_null=None, words=None):
        self.data, self.is_null = data, is_null
        self.words = words  # {number: text} where the data are numbers of texts; None: the data are the values

    def to_list(self):
        values = self.data.tolist() if hasattr(self.data, "tolist") else list(self.data)
        if self.words is not None:
            values = [self.words.get(value) for value in values]
        if self.is_null is not None:
            values = [None if is_null else value for value, is_null in zip(values, self.is_null)]
        return values

    def at(self, row):
        """One value."""
        if self.is_null is not None and self.is_null[row]:
            return None
        return self.data[row] if self.words is None else self.words.get(self.data[row])

    def is_text(self):
        return isinstance(self.data, list)

    def to_numpy(self):
        """An array on the memory of the library where the data are numbers; masked where some are null."""
        if numpy is None:
            is_plain = self.is_null is None and self.words is None and not self.is_text()
            return self.data if is_plain else self.to_list()
        if self.is_text() or self.words is not None:
            texts = numpy.empty(len(self.data), dtype=object)
            texts[:] = self.to_list()
            return texts
        numbers = self.numbers()
        if self.is_null is None:
            return numbers
        mask = numpy.asarray(self.is_null, dtype=bool)
        if numbers.dtype.kind == "f":
            return numpy.where(mask, numpy.nan, numbers)
        return numpy.ma.masked_array(numbers, mask=mask)

    def numbers(self):
        """The data as they are in memory."""
        return numpy.frombuffer(self.data, dtype=LETTERS[self.data.format]) if len(self.data) else \
            numpy.empty(0, dtype=LETTERS[self.data.format])

    def to_pandas(self, pandas):
        """What a column of a data frame is made of; numbers are not copied."""
        if self.is_text():
            return pandas.Series(self.to_list(), dtype=object)
        if self.words is not None:
            return self.to_categorical(pandas)
        numbers = self.to_numpy()
        if isinstance(numbers, numpy.ma.MaskedArray):
            return pandas.arrays.IntegerArray(numbers.data, numpy.ma.getmaskarray(numbers), copy=False)
        return numbers

    def to_categorical(self, pandas):
        codes = self.numbers().astype("int64")
        if self.is_null is not None:
            codes[numpy.asarray(self.is_null, dtype=bool)] = -1
        used, inverse = numpy.unique(codes, return_inverse=True)
        words = [self.words.get(code) for code in used.tolist()]
        distinct = {}
        places = numpy.array([-1 if word is None else distinct.setdefault(word, len(distinct)) for word in words] or [-1])
        return pandas.Categorical.from_codes(places[inverse] if len(codes) else [], list(distinct))


def joined(parts, letter):
    """Values of several parts, or of none, as one. letter: of numbers; None: they are texts."""
    values = [value for part in parts for value in part.to_list()]
    is_null = [value is None for value in values] if None in values else None
    if letter is None or any(isinstance(value, str) for value in values):
        return Values(values, is_null)
    return Values(memoryview(array.array(letter, [value or 0 for value in values])), is_null)
