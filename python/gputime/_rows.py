"""Rows of a trace as they are stored: columns are the store's own arrays."""

import ctypes

from . import _c
from ._library import counted, lib, text
from ._owner import view
from ._tabular import Tabular, text_table
from ._values import Column, Values, numpy

LETTERS = {_c.GPUTIME_FIELD_U8: "B", _c.GPUTIME_FIELD_U16: "H", _c.GPUTIME_FIELD_U32: "I", _c.GPUTIME_FIELD_U64: "Q",
           _c.GPUTIME_FIELD_I64: "q", _c.GPUTIME_FIELD_F64: "d"}


def nulls_of(data, null):
    """Which of the values are none; None: all are there."""
    if null == _c.GPUTIME_NULL_NEVER:
        return None
    values = numpy.frombuffer(data, dtype=data.format) if numpy and len(data) else data
    if null == _c.GPUTIME_NULL_NEGATIVE:
        is_null = values < 0 if values is not data else [value < 0 for value in data]
    else:
        bits = 8 * data.itemsize
        none = 2**bits - 1 if null == _c.GPUTIME_NULL_MAX else -2**(bits - 1)
        is_null = values == none if values is not data else [value == none for value in data]
    return is_null if (is_null.any() if values is not data else any(is_null)) else None


def category_keys(rows):
    """{row of categories: its key}, of the same reading as the rows that refer to them."""
    key = lib.gputime_rows_find_field(rows, b"key")
    return {row: counted(lib.gputime_rows_text(rows, row, key)) for row in range(lib.gputime_rows_count(rows))}


class Rows(Tabular):
    """Rows of one kind. A column is an array on the trace's memory, without a copy: text is ids there, and what the trace
    lacks a special value (docs/rows.md). to_dict(), to_pandas() and rows have texts and None instead."""

    def __init__(self, owner, address, categories):
        self._owner, self._rows = owner, address
        self.key = self.title = text(lib.gputime_rows_key(address))
        self._fields = [lib.gputime_rows_field(address, i) for i in range(lib.gputime_rows_field_count(address))]
        self.columns = tuple(self._column(field) for field in self._fields)
        self._categories = category_keys(categories)

    @staticmethod
    def _column(field):
        choices = text(field.choices)
        return Column(text(field.key), "", text(field.unit) or "", None, text(field.refers_to),
                      tuple(choices.split("|")) if choices else None)

    def __len__(self):
        return lib.gputime_rows_count(self._rows)

    def _raw(self, index):
        field = self._fields[index]
        if field.type == _c.GPUTIME_FIELD_TEXT:
            return [text(item) for item in ctypes.cast(field.data, ctypes.POINTER(ctypes.c_char_p))[:len(self)]]
        return view(self._owner, field.data, LETTERS[field.type], len(self))

    def __getitem__(self, key):
        if isinstance(key, str):
            return Values(self._raw(self._index(key))).to_numpy()
        return super().__getitem__(key)

    def _values(self, index):
        field, column, data = self._fields[index], self.columns[index], self._raw(index)
        if isinstance(data, list):
            return Values(data)
        words = dict(enumerate(column.choices)) if column.choices else None
        if column.refers_to == "strings":
            words = self._words(index, data)
        elif column.refers_to == "categories":
            words = self._categories
        return Values(data, nulls_of(data, field.null), words)

    def _words(self, index, data):
        """{id: text} of the ids in a column, by a row that has each: ids are those of the reading that the rows are of."""
        if numpy and len(data):
            ids, rows = numpy.unique(numpy.frombuffer(data, dtype=data.format), return_index=True)
            rows = dict(zip(ids.tolist(), rows.tolist()))
        else:
            rows = {number: row for row, number in enumerate(data)}
        return {number: counted(lib.gputime_rows_text(self._rows, row, index)) or None for number, row in rows.items()}

    def _row(self, row):
        return {column.key: self._value(row, index) for index, column in enumerate(self.columns)}

    def _value(self, row, index):
        field = self._fields[index]
        if lib.gputime_rows_is_null(self._rows, row, index):
            return None
        if field.type == _c.GPUTIME_FIELD_TEXT or field.choices or self.columns[index].refers_to == "strings":
            value = lib.gputime_rows_text(self._rows, row, index)
            return counted(value) or (None if self.columns[index].refers_to == "strings" else "")
        if field.type == _c.GPUTIME_FIELD_F64:
            return lib.gputime_rows_real(self._rows, row, index)
        value = lib.gputime_rows_int(self._rows, row, index)
        if self.columns[index].refers_to == "categories":
            return self._categories.get(value)
        return value % 2**64 if field.type == _c.GPUTIME_FIELD_U64 else value

    def texts(self, key):
        """The texts of a column whose values are ids of strings or choices."""
        return self._values(self._index(key)).to_list()

    def __repr__(self):
        return f"{self.key}: {len(self):,} rows\n{text_table(self)}"
