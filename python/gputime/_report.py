"""Reports and their tables."""

import ctypes
import functools
import html
import os

from . import _arrow, _c
from ._library import UsageError, call, counted, encoded, entries, lib, text
from ._options import set_texts, sized
from ._tabular import Tabular
from ._values import Column

UNITS = (None, "ns", "us", "ms", "s")


def cell_value(cell):
    """None, an int, a float or a str."""
    if cell.type == _c.GPUTIME_CELL_INT:
        return cell.integer
    if cell.type == _c.GPUTIME_CELL_REAL:
        return cell.real
    return counted((cell.text, cell.text_bytes)) if cell.type == _c.GPUTIME_CELL_TEXT else None


def writing(width=80, unit=None, color=False, full_names=False):
    if unit not in UNITS:
        raise UsageError(f"no unit '{unit}'; use one of {', '.join(UNITS[1:])}")
    return sized(_c.gputime_write_options, width=width, unit=UNITS.index(unit), full_names=bool(full_names),
                 color=_c.GPUTIME_COLOR_ALWAYS if color else _c.GPUTIME_COLOR_NEVER)


def printed(function, source, options):
    """The bytes that one of the library's print functions makes."""
    out = _c.gputime_text()
    call(function, source, ctypes.byref(options), ctypes.byref(out))
    try:
        return ctypes.string_at(out.bytes, out.size)
    finally:
        lib.gputime_text_free(out)


def check_suffix(path):
    """A file without a suffix gets text; one that no output has is refused, as by the program."""
    suffix = os.path.splitext(os.fsdecode(path))[1].lower()
    outputs = entries(_c.GPUTIME_OUTPUTS)
    if suffix and not any(suffix in text(entry.detail).replace(",", " ").split() for entry in outputs):
        raise UsageError(f"unknown suffix of '{os.fsdecode(path)}'; use format= one of "
                         f"{', '.join(text(entry.key) for entry in outputs)}")


class Table(Tabular):
    """A table of a report: shows itself as on a terminal."""

    def __init__(self, owner, address):
        self._owner, self._table = owner, address
        self.key, self.title = text(lib.gputime_table_key(address)), text(lib.gputime_table_title(address))
        self._data = None

    @functools.cached_property
    def columns(self):
        return tuple(self._column(i) for i in range(lib.gputime_table_column_count(self._table)))

    def _column(self, index):
        column = lib.gputime_table_column(self._table, index)
        return Column(text(column.key), text(column.title), text(column.unit) or "", text(column.of))

    def __len__(self):
        return lib.gputime_table_row_count(self._table)

    def _cell(self, row, index):
        return cell_value(lib.gputime_table_cell(self._table, row, index))

    def _row(self, row):
        return {column.key: self._cell(row, index) for index, column in enumerate(self.columns)}

    def _values(self, index):
        if self._data is None:
            self._data = _arrow.Columns(self._stream())
        return self._data.values(index)

    def _stream(self):
        stream = _c.ArrowArrayStream()
        call(lib.gputime_table_arrow, self._table, ctypes.byref(stream))
        return stream

    def text(self, **how):
        """As text that fits a terminal. how: width=80, unit="us", color=True, full_names=True."""
        shown = printed(lib.gputime_table_print, self._table, writing(**how)).decode("utf-8", "replace")
        return shown.rstrip("\n") or f"{self.title}: no rows"

    def __repr__(self):
        return self.text()


class JoinedTable(Tabular):
    """A table of several sections: their rows one after the other, with the title of the section as the column `input`."""

    def __init__(self, owner, parts):
        self._owner, self._parts = owner, parts  # parts: [(Section, Table)]
        self.key, self.title = parts[0][1].key, parts[0][1].title

    @functools.cached_property
    def _data(self):
        return _arrow.Columns(self._stream())

    @property
    def columns(self):
        return self._data.columns

    def __len__(self):
        return self._data.length

    def _values(self, index):
        return self._data.values(index)

    def _row(self, row):
        return {column.key: self._values(index).at(row) for index, column in enumerate(self.columns)}

    def _stream(self):
        stream = _c.ArrowArrayStream()
        call(lib.gputime_report_arrow, self._owner, encoded(self.key), ctypes.byref(stream))
        return stream

    def text(self, **how):
        """As text that fits a terminal, section by section. how: as of the tables of one."""
        return "\n\n".join(f"{section.title}\n{table.text(**how)}" for section, table in self._parts)

    def __repr__(self):
        return self.text()


class Finding:
    """Something worth acting on."""

    def __init__(self, finding):
        self.id, self.severity, self.rule = text(finding.id), text(finding.severity), text(finding.rule)
        self.title, self.table = counted(finding.title), text(finding.table)
        self.evidence = tuple(counted(finding.evidence[i]) for i in range(finding.evidence_count))
        self.advice = tuple(counted(finding.advice[i]) for i in range(finding.advice_count))
        self.recoverable_ns = finding.recoverable_ns if finding.recoverable_ns >= 0 else None
        self.recoverable_step_ns = finding.recoverable_step_ns if finding.recoverable_step_ns >= 0 else None
        self.share = finding.share if finding.share >= 0 else None
        self.windows = tuple((window.start_ns, window.end_ns, window.device)
                             for window in finding.windows[:finding.window_count])

    def __repr__(self):
        return f"<{self.severity} {self.id}: {self.title}>"


class Issue:
    """A problem in the data; is_loss: something could not be read."""

    def __init__(self, issue):
        self.id, self.help, self.count, self.is_loss = text(issue.id), text(issue.help), issue.count, bool(issue.is_loss)
        self.first_offset = issue.first_offset if issue.first_offset != 2**64 - 1 else None

    def __repr__(self):
        return f"<{self.id}: {self.help} ({self.count})>"


class Tables(dict):
    """Tables by key."""

    def __repr__(self):
        return "\n".join(f"{key}: {len(table):,} rows ({table.title})" for key, table in self.items())


def listed(count, item, report, section):
    return [item(report, section, index) for index in range(count(report, section))]


class Section:
    """A part of a report: of a job where there are several, of a side of a comparison, else all of it."""

    def __init__(self, owner, index):
        self._owner, self._index = owner, index
        tables = [Table(owner, address) for address in self._listed(lib.gputime_report_table_count, lib.gputime_report_table_at)]
        self.tables = Tables((table.key, table) for table in tables)

    def _listed(self, count, item):
        return listed(count, item, self._owner, self._index)

    @property
    def title(self):
        return text(lib.gputime_report_section_title(self._owner, self._index))

    @property
    def facts(self):
        """{key: value}."""
        facts = self._listed(lib.gputime_report_fact_count, lib.gputime_report_fact_at)
        return {text(fact.key): cell_value(fact.value) for fact in facts}

    @property
    def notes(self):
        return [text(note) for note in self._listed(lib.gputime_report_note_count, lib.gputime_report_note)]

    @property
    def findings(self):
        return [Finding(one) for one in self._listed(lib.gputime_report_finding_count, lib.gputime_report_finding)]

    @property
    def issues(self):
        return [Issue(one) for one in self._listed(lib.gputime_report_issue_count, lib.gputime_report_issue)]

    def __repr__(self):
        return f"<section {self.title!r}: {', '.join(self.tables) or 'no tables'}>"


def tables_of(owner, sections):
    """Those of the only section that has tables; of several, each as one."""
    having = [section for section in sections if section.tables]
    if len(having) < 2:
        return having[0].tables if having else Tables()
    parts = {}
    for section in having:
        for key, table in section.tables.items():
            parts.setdefault(key, []).append((section, table))
    return Tables((key, JoinedTable(owner, some)) for key, some in parts.items())


class Report(Tabular):
    """The result of a command: facts, notes, findings, issues and tables (`report["kernels"]`). It is its main table,
    too: columns, rows, to_pandas() and the like are those of that table. A report on several jobs has a section for each;
    then tables have the rows of all, with a column `input`."""

    def __init__(self, owner, main=None, layout=None):
        self._owner, self._report = owner, owner.address
        self._layout = layout
        self.sections = [Section(owner, index) for index in range(lib.gputime_report_section_count(self._report))]
        self.tables = tables_of(owner, self.sections)
        self.main = self.tables.get(main) or next(iter(self.tables.values()), None)
        self.broken = 0  # limits that do not hold

    @property
    def title(self):
        return self.sections[0].title

    @property
    def facts(self):
        """{key: value}, of the first section."""
        return self.sections[0].facts

    @property
    def notes(self):
        """Of all sections, as are findings and issues."""
        return [note for section in self.sections for note in section.notes]

    @property
    def findings(self):
        return [finding for section in self.sections for finding in section.findings]

    @property
    def issues(self):
        return [issue for section in self.sections for issue in section.issues]

    # ---- the main table ----

    def _main(self):
        if self.main is None:
            raise UsageError("this report has no tables")
        return self.main

    @property
    def columns(self):
        return self.main.columns if self.main is not None else ()

    def __len__(self):
        return len(self.main) if self.main is not None else 0

    def __bool__(self):
        return True  # a report of a trace without kernels is one

    def __getitem__(self, key):
        return self.tables[key] if isinstance(key, str) and key in self.tables else self._main()[key]

    def _values(self, index):
        return self._main()._values(index)

    def _row(self, row):
        return self._main()._row(row)

    def _stream(self):
        return self._main()._stream()

    # ---- writing ----

    def text(self, **how):
        """As the program prints it. how: width=80, unit="us", color=True, full_names=True."""
        options = writing(**how)
        if self._layout and not options.unit:
            options.format = encoded(self._layout)
        return printed(lib.gputime_report_print, self._report, options).decode("utf-8", "replace")

    def to_bytes(self, format="json", table=None):
        """In any output format of one file: "json", "csv", "md", "html", "parquet"."""
        options = sized(_c.gputime_write_options, format=encoded(format))
        if table is not None:
            options.table = encoded(table)
        return printed(lib.gputime_report_print, self._report, options)

    def to_string(self, format="json", table=None):
        """The same as text; binary formats have none."""
        if lib.gputime_registry_find(_c.GPUTIME_OUTPUTS, encoded(format)).is_binary:
            raise UsageError(f"{format} is not text; use to_bytes('{format}') or write()")
        return self.to_bytes(format, table).decode("utf-8", "replace")

    def write(self, path, format=None, table=None, columns=None):
        """To a file, in the format of its suffix; a path that ends in '/' is a directory of tables."""
        options = sized(_c.gputime_write_options)
        if format is not None:
            options.format = encoded(format)
        else:
            check_suffix(path)
        if table is not None:
            options.table = encoded(table)
        if columns is not None:
            set_texts(options, "columns", "column_count", columns)
        call(lib.gputime_report_write, self._report, ctypes.byref(options), encoded(path))

    def __repr__(self):
        return self.text().rstrip("\n")

    def _repr_html_(self):
        return f"<pre>{html.escape(self.text())}</pre>"
