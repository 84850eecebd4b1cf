"""Frames: the events of a trace as wide tables, with the joins made."""

import copy
import ctypes

from . import _arrow, _c
from ._library import call, encoded, lib, text
from ._options import texts
from ._tabular import Tabular, text_table



def keys_of(get, *place):
    """Keys that the library has by number, up to the first that is not there."""
    keys = []
    while (key := get(*place, len(keys))) is not None:
        keys.append(text(key))
    return keys


# Frame: keys of all its columns.
FRAMES = {key: keys_of(lib.gputime_frame_column_key, number)
          for number, key in enumerate(keys_of(lib.gputime_frame_key))}


class Frame(Tabular):
    """Events of one kind, as docs/frames.md lists them. Nothing is made before it is asked for: frame["name"] makes one
    column, even one that more must be read of the file for; `columns`, rows, to_pandas() and the like have all columns
    that can be had from what was read. Numbers are not copied on their way to numpy and pandas."""

    def __init__(self, trace, key, run=None):
        self._owner, self._gate, self.key, self._run = trace._owner, trace._gate, key, run
        self._prepare = trace._read_for  # reads what the rows need, if that was not read
        self.title, self._chosen = key, ()
        self._all, self._single = None, {}

    def __call__(self, **options):
        """The command or analysis of that name."""
        if self._run is None:
            raise TypeError(f"{self.key} is a frame; there is no command of that name")
        return self._run(**options)

    def _stream(self, *columns):
        columns = columns or self._chosen
        stream, (keys, count) = _c.ArrowArrayStream(), texts(columns)
        if not columns:
            self._prepare(self.key)
        with self._gate.shared():
            call(lib.gputime_trace_arrow, self._owner, encoded(self.key), keys if columns else None, count,
                 ctypes.byref(stream))
        return stream

    def _data(self):
        if self._all is None:
            self._all = _arrow.Columns(self._stream())
        return self._all

    @property
    def columns(self):
        return self._data().columns

    def __len__(self):
        made = self._all or next(iter(self._single.values()), None)
        if made is None:
            made = self._single[FRAMES[self.key][0]] = _arrow.Columns(self._stream(FRAMES[self.key][0]))
        return made.length

    def __contains__(self, key):
        return key in FRAMES[self.key]

    def __getitem__(self, key):
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in FRAMES[self.key]:
            raise KeyError(f"no column '{key}' in {self.key}; there are {', '.join(FRAMES[self.key])}")
        if key not in self._single:
            self._single[key] = _arrow.Columns(self._stream(key))
        return self._single[key].values(0).to_numpy()

    def _values(self, index):
        return self._data().values(index)

    def _row(self, row):
        return {column.key: self._values(index).at(row) for index, column in enumerate(self.columns)}

    def select(self, *columns):
        """The same events with these columns, in this order."""
        chosen = copy.copy(self)
        chosen._chosen, chosen._all, chosen._single = columns, None, {}
        return chosen

    def __repr__(self):
        return f"{self.key}: {len(self):,} rows\n{text_table(self)}"
