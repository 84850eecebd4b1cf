"""What tables of reports, rows of events and results of queries have in common."""

import html

from . import _arrow

HTML_ROWS = 60


def number_text(value, unit):
    if unit == "share" and isinstance(value, float):
        return f"{value:.1%}"
    if isinstance(value, int) and unit:
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def shown_text(value, width):
    """One cell: nothing from a trace reaches a terminal that could command it."""
    text = "-" if value is None else value if isinstance(value, str) else number_text(value, "")
    text = "".join(character if character.isprintable() else "?" for character in text)
    return text if len(text) <= width else f"{text[:width - 1]}…"


def text_table(source, rows=10, width=80, cell=28):
    """The first rows, with as many columns as fit."""
    shown = [list(source._row(row).values()) for row in range(min(len(source), rows))]
    columns, used, hidden = [], 0, 0
    for index, column in enumerate(source.columns):
        cells = [shown_text(column.key, cell)] + [shown_text(row[index], cell) for row in shown]
        wide = max(map(len, cells))
        is_name = any(isinstance(row[index], str) for row in shown)
        if columns and used + wide + 2 > width:
            hidden += 1
            continue
        used += wide + 2 * bool(columns)
        columns.append([text.ljust(wide) if is_name else text.rjust(wide) for text in cells])
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns)]
    more = [f"{len(source) - rows:,} more rows"] if len(source) > rows else []
    more += [f"{hidden} more columns"] if hidden else []
    return "\n".join([*lines, *([f"({', '.join(more)})"] if more else [])])


class Tabular:
    """Columns by key (`table["total_ns"]`), rows by number or in a loop. Subclasses have a length, `columns`,
    `_values(index)` of a column, `_row(row)` as a dictionary, and `_stream()`, a struct ArrowArrayStream."""

    columns = ()
    title = None

    def _index(self, key):
        for index, column in enumerate(self.columns):
            if column.key == key:
                return index
        raise KeyError(f"no column '{key}'; there are {', '.join(column.key for column in self.columns)}")

    def __contains__(self, key):
        return any(column.key == key for column in self.columns)

    def __getitem__(self, key):
        """A column by its key as an array, a row by its number as a dictionary, a slice as a list of rows."""
        if isinstance(key, str):
            return self._values(self._index(key)).to_numpy()
        if isinstance(key, slice):
            return [self._row(row) for row in range(*key.indices(len(self)))]
        if not hasattr(key, "__index__"):
            raise TypeError("a column is chosen by its key, a row by its number, rows by a slice")
        row = key.__index__()
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return self._row(row % len(self))

    def _lists(self):
        return [self._values(index).to_list() for index in range(len(self.columns))]

    def __iter__(self):
        """Rows as dictionaries."""
        keys = [column.key for column in self.columns]
        return (dict(zip(keys, row)) for row in zip(*self._lists()))

    def to_dict(self):
        """{key of a column: list of its values}; what is not known is None."""
        return {column.key: values for column, values in zip(self.columns, self._lists())}

    def to_pandas(self):
        """A data frame; numbers are not copied. Needs pandas."""
        import pandas

        data = {column.key: self._values(index).to_pandas(pandas) for index, column in enumerate(self.columns)}
        frame = pandas.DataFrame(data, copy=False)
        frame.attrs["units"] = {column.key: column.unit for column in self.columns}
        return frame

    def __arrow_c_stream__(self, requested_schema=None):
        """For pyarrow, polars, DuckDB and others: the Arrow C stream interface."""
        return _arrow.capsule_of_stream(self._stream())

    def __arrow_c_schema__(self):
        return _arrow.capsule_of_schema(self._stream())

    def _repr_html_(self):
        """For notebooks. Names come from traces: everything is escaped."""
        head = "".join(f"<th>{html.escape(column.title or column.key)}</th>" for column in self.columns)
        rows = []
        for row in range(min(len(self), HTML_ROWS)):
            cells = zip(self.columns, self._row(row).values())
            rows.append(f"<tr>{''.join(self._html_cell(column, value) for column, value in cells)}</tr>")
        more = f"<p>{len(self) - HTML_ROWS:,} more rows</p>" if len(self) > HTML_ROWS else ""
        caption = html.escape(self.title or "")
        return (f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
                f"<tbody>{''.join(rows)}</tbody></table>{more}")

    @staticmethod
    def _html_cell(column, value):
        if value is None:
            return "<td></td>"
        if isinstance(value, str):
            return f'<td style="text-align:left">{html.escape(value)}</td>'
        return f"<td>{html.escape(number_text(value, column.unit))}</td>"
