"""The library through ctypes: what the tests of its data interfaces call."""

import contextlib
import ctypes

import arrow_by_hand
from conftest import find_binary


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("message", ctypes.c_char * 1024)]


class ReportOptions(ctypes.Structure):
    """The beginning of the struct: a program built against an older header has no more."""
    _fields_ = [("size", ctypes.c_size_t), ("analyses", ctypes.POINTER(ctypes.c_char_p)), ("count", ctypes.c_size_t)]


class Cell(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("integer", ctypes.c_int64), ("real", ctypes.c_double), ("text", ctypes.c_void_p),
                ("text_bytes", ctypes.c_size_t)]

    def value(self):
        return [None, self.integer, self.real, ctypes.string_at(self.text or 0, self.text_bytes) if self.text else ""][self.type]


def texts(items):
    return (ctypes.c_char_p * len(items))(*[item.encode() for item in items])


class Library:
    def __init__(self):
        self.c = ctypes.CDLL(str(find_binary("GPUTIME_LIBRARY", "build/libgputime.so")))
        for name in ("gputime_report_table_at", "gputime_report_table"):
            getattr(self.c, name).restype = ctypes.c_void_p
        for name in ("gputime_table_key", "gputime_frame_key", "gputime_frame_column_key"):
            getattr(self.c, name).restype = ctypes.c_char_p
        for name in ("gputime_report_table_count", "gputime_table_row_count", "gputime_table_column_count"):
            getattr(self.c, name).restype = ctypes.c_size_t
        self.c.gputime_table_cell.restype = Cell

    @contextlib.contextmanager
    def opened(self, path):
        trace = self.open(path)
        yield trace
        self.c.gputime_trace_free(trace)

    def open(self, path):
        trace, error = ctypes.c_void_p(), Error()
        status = self.c.gputime_trace_open(texts([str(path)]), ctypes.c_size_t(1), None, None, ctypes.byref(trace),
                                           ctypes.byref(error))
        assert status == 0, error.message
        return trace

    def report(self, trace, analyses):
        report, error = ctypes.c_void_p(), Error()
        options = ReportOptions(ctypes.sizeof(ReportOptions), texts(analyses), len(analyses))
        traces = (ctypes.c_void_p * 1)(trace.value)
        status = self.c.gputime_report_new(traces, ctypes.c_size_t(1), ctypes.byref(options), ctypes.byref(report),
                                           ctypes.byref(error))
        assert status == 0, error.message
        return report

    def tables(self, report):
        """(key, handle) of each."""
        count = self.c.gputime_report_table_count(report, ctypes.c_size_t(0))
        handles = [self.c.gputime_report_table_at(report, ctypes.c_size_t(0), ctypes.c_size_t(i)) for i in range(count)]
        return [(self.c.gputime_table_key(ctypes.c_void_p(handle)).decode(), ctypes.c_void_p(handle)) for handle in handles]

    def rows(self, table):
        """The cells of a table, one by one."""
        rows, columns = self.c.gputime_table_row_count(table), self.c.gputime_table_column_count(table)
        cell = self.c.gputime_table_cell
        return [[cell(table, ctypes.c_size_t(r), ctypes.c_size_t(c)).value() for c in range(columns)] for r in range(rows)]

    def table_stream(self, table):
        stream, error = arrow_by_hand.Stream(), Error()
        status = self.c.gputime_table_arrow(table, ctypes.byref(stream), ctypes.byref(error))
        assert status == 0, error.message
        return stream

    def frame_stream(self, trace, frame, columns=None):
        """A stream, or the message of a failure."""
        stream, error = arrow_by_hand.Stream(), Error()
        status = self.c.gputime_trace_arrow(trace, frame.encode(), texts(columns) if columns else None,
                                            ctypes.c_size_t(len(columns or [])), ctypes.byref(stream), ctypes.byref(error))
        assert (status == 0) == bool(stream.release)
        return error.message.decode() if status else stream

    def frames(self):
        """Keys of all frames with those of their columns."""
        def keys(ask):
            found = []
            while key := ask(len(found)):
                found.append(key.decode())
            return found

        frames = keys(lambda i: self.c.gputime_frame_key(ctypes.c_size_t(i)))
        return {frame: keys(lambda i, f=f: self.c.gputime_frame_column_key(ctypes.c_size_t(f), ctypes.c_size_t(i)))
                for f, frame in enumerate(frames)}
