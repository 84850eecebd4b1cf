"""Traces: opening them, their events, and a method for each command and analysis."""

import collections
import contextlib
import ctypes
import os
import threading

from . import _c
from ._arrow import sweep
from ._commands import COMMANDS
from ._frame import FRAMES, Frame
from ._library import Error, UsageError, call, counted, encoded, lib, text
from ._options import fact_names, facts_of, listed, opening, run, selection, set_texts, sized, texts, whole
from ._owner import Owner
from ._report import Report
from ._rows import Rows
from ._requests import ANALYSES, Request, analysis_command, request_of

# Commands that are not about one trace are functions of the package.
FUNCTIONS = ("diff", "ranks", "check")
SQL_ROWS = 40  # shown of a result
Info = collections.namedtuple("Info", "path format producer host rank world_size rank_source origin_ns base_ns "
                              "skipped_events loss facts facts_read facts_possible")


class Gate:
    """Many may use a trace at once, but reading more of it needs it alone."""

    def __init__(self):
        self._condition, self._users = threading.Condition(), 0

    @contextlib.contextmanager
    def shared(self):
        with self._condition:
            self._users += 1
        try:
            yield
        finally:
            with self._condition:
                self._users -= 1
                self._condition.notify_all()

    @contextlib.contextmanager
    def alone(self):
        with self._condition:
            self._condition.wait_for(lambda: self._users == 0)
            yield


def no_limit(name, value):
    """None: automatic, 0: none, as the library has them."""
    return 0 if value is None else whole(name, value, 2**63 - 1) or -1


def nanoseconds(name, seconds):
    if seconds is not None and not seconds >= 0:
        raise UsageError(f"{name} needs seconds from 0 on, not '{seconds}'")
    return None if seconds is None else int(seconds * 1e9)


@contextlib.contextmanager
def used(traces):
    """Traces as an array for the library; nothing more is read of them meanwhile."""
    owners = [trace._owner for trace in traces]
    with contextlib.ExitStack() as stack:
        for trace in {id(trace): trace for trace in traces}.values():
            stack.enter_context(trace._gate.shared())
        yield (ctypes.c_void_p * max(1, len(owners)))(*(owner.address for owner in owners))


def query_traces(traces, query, max_rows=None, timeout=None, max_bytes=None, **options):
    """The report of a query over traces that are open."""
    request = Request(analysis_command([]), options)
    request.shapes["rows"] = {"table": "rows", "screen_limit": SQL_ROWS}
    reporting = request.options("sql", max((trace._threads for trace in traces), default=0))
    how = sized(_c.gputime_sql_options, max_rows=no_limit("max_rows", max_rows), max_bytes=no_limit("max_bytes", max_bytes),
                timeout_ns=no_limit("timeout", nanoseconds("timeout", timeout)))
    how.reporting, out = ctypes.pointer(reporting), ctypes.c_void_p()
    with used(traces) as array:
        call(lib.gputime_sql_query, array, len(traces), encoded(query), ctypes.byref(how), ctypes.byref(out))
    return Report(Owner(out.value, lib.gputime_report_free), "rows")


def export_traces(traces, path, format=None, tables=None, **options):
    """Writes the events of traces that are open."""
    how = sized(_c.gputime_export_options, threads=max((trace._threads for trace in traces), default=0))
    how.selection = ctypes.pointer(selection(options))
    if options:
        raise UsageError(f"unknown option '{next(iter(options))}' of export")
    if format is not None:
        how.format = encoded(format)
    if tables is not None:
        set_texts(how, "tables", "table_count", listed(tables))
    with used(traces) as array:
        call(lib.gputime_traces_export, array, len(traces), ctypes.byref(how), encoded(path))


class Trace:
    """An open trace. Commands of the program and analyses of the library are methods: t.kernels(), t.gaps(per="device").
    Events are attributes: t.ops, t.calls, t.ranges. Memory is freed when the trace is closed and nothing made from it
    (reports, arrays) is left."""

    def __init__(self, owner, threads=0):
        self._held, self._threads = owner, threads
        self._gate = Gate()

    @property
    def _owner(self):
        if self._held is None:
            raise Error("the trace is closed")
        return self._held

    def close(self):
        """What was made from the trace stays valid; the trace itself can do nothing any more."""
        self._held = None
        sweep()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def info(self):
        with self._gate.shared():
            info = lib.gputime_trace_describe(self._owner)
            loss = text(lib.gputime_trace_loss(self._owner))
        return Info(os.fsdecode(info.path), text(info.format), counted(info.producer), counted(info.host),
                    info.rank if info.rank >= 0 else None, info.world_size if info.world_size >= 0 else None,
                    text(info.rank_source), info.origin_ns, info.base_ns, info.skipped_events, loss,
                    fact_names(info.facts_present), fact_names(info.facts_read), fact_names(info.facts_possible))

    def __repr__(self):
        if self._held is None:
            return "<closed trace>"
        info = self.info
        return f"<trace {info.path!r}: {info.format}, {len(self.ops):,} GPU ops>"

    # ---- reports ----

    def _make(self, request, name, options=None):
        options, out = options or request.options(name, self._threads), ctypes.c_void_p()
        owner = self._owner
        with self._gate.shared():
            call(lib.gputime_report_new, ctypes.byref(ctypes.c_void_p(owner.address)), 1, ctypes.byref(options),
                 ctypes.byref(out))
        report = Report(Owner(out.value, lib.gputime_report_free, owner), request.main, request.layout)
        if COMMANDS.get(name, {}).get("may_refuse") and "refused" in report.facts:
            raise Error(f"no answer for '{report.title}': {report.facts['refused']}; force=True answers all the same")
        return report

    def command(self, command, **options):
        """A command of the program by name: t.command("kernels", top=5)."""
        if command not in COMMANDS or command in FUNCTIONS:
            names = ", ".join(key for key in COMMANDS if key not in FUNCTIONS)
            raise UsageError(f"no command '{command}'; commands are {names}")
        return self._make(request_of(command, options), command)

    def report(self, *analyses, **options):
        """Analyses by name, in one report: t.report("kernels", "gaps", step=3)."""
        return self._make(Request(analysis_command(analyses), options), "report")

    def sql(self, query, **options):
        """The result of a SELECT over the events (ops, calls, ranges ...) and the tables of analyses (report_kernels ...):
        t.sql("select name, sum(dur_ns) from ops group by name"). max_rows, timeout (seconds), max_bytes: limits, 0 for none;
        other options are those of the analyses."""
        return query_traces([self], query, **options)

    def export(self, path, **options):
        """Writes the events to files of another format, by the end of the path: t.export("x.pftrace"), t.export("parquet/").
        format: a key of 'gputime list exports'; tables: only these; step=, device=, from_= and the like choose ops."""
        export_traces([self], path, **options)

    def check(self, *limits, **options):
        """Judges limits: t.check("idle<20%", "each kernel:*<10%").broken is how many do not hold."""
        from ._compare import check
        return check(self, limits, **options)

    # ---- events ----

    @property
    def kinds(self):
        """Kinds of rows that rows() takes: "ops", "calls", "kernel_configs" ..."""
        owner = self._owner
        with self._gate.shared():
            rows = [lib.gputime_trace_rows_at(owner, i) for i in range(lib.gputime_trace_rows_count(owner))]
        return tuple(text(lib.gputime_rows_key(one)) for one in rows)

    def rows(self, kind):
        """Rows of a kind as they are stored (docs/rows.md); what the trace was not asked for yet is read now."""
        facts = _c.FACTS_OF_ROWS.get(kind)
        if facts is None:
            raise UsageError(f"no rows '{kind}'; kinds are {', '.join(_c.FACTS_OF_ROWS)}")
        owner = self._owner
        self._read_for(kind)
        with self._gate.shared():
            address = lib.gputime_trace_rows(owner, encoded(kind))
            categories = lib.gputime_trace_rows(owner, b"categories")
        return Rows(owner, address, categories)

    def _read_for(self, kind):
        """Reads what rows of a kind need. Of a closed trace there is what was read."""
        owner, facts = self._held, _c.FACTS_OF_ROWS.get(kind, 0)
        if owner is None or not facts:
            return
        with self._gate.shared():
            lacks = facts & ~lib.gputime_trace_describe(owner).facts_read
        if lacks:
            self.read(*fact_names(lacks))

    def read(self, *facts):
        """Reads these facts, too ("memory", "comms", "all"), unless they were read already."""
        owner, bits = self._owner, facts_of(facts)
        with self._gate.alone():
            call(lib.gputime_trace_read, owner, bits)

    def frame(self, key):
        """Events of a kind as a wide table: t.frame("ops") is t.ops."""
        if key not in FRAMES:
            raise UsageError(f"no frame '{key}'; frames are {', '.join(FRAMES)}")
        return Frame(self, key)


# ---- methods ----

class Method:
    """The command or analysis of a name. Where events have the same name (ranges, gaps), the attribute is these, and
    calling it runs the command."""

    def __init__(self, name, help):
        self.name, self.__doc__ = name, help

    def __get__(self, trace, _=None):
        if trace is None:
            return self

        def run(**options):
            return trace._make(request_of(self.name, options), self.name)

        run.__name__, run.__qualname__, run.__doc__ = self.name, f"Trace.{self.name}", self.__doc__
        return Frame(trace, self.name, run) if self.name in FRAMES else run


def add_methods():
    """Commands, then analyses that are not commands as well, then frames that are neither."""
    about = {name: f"{command['help']}\n\n{command['details']}" for name, command in COMMANDS.items()}
    for name, (title, tables) in ANALYSES.items():
        about.setdefault(name, f"{title}\n\nTables: {', '.join(tables)}")
    for name, help in about.items():
        if name not in FUNCTIONS:
            setattr(Trace, name, Method(name, help))
    for name in FRAMES:
        if name not in about:
            setattr(Trace, name, property(lambda trace, name=name: trace.frame(name), doc=f"events: {name}"))


add_methods()


# ---- opening ----

def check_files(paths):
    """In the words of the program."""
    for path in paths:
        try:
            if encoded(path) != b"-":
                os.stat(path)
        except OSError as error:
            reason = error.strerror[:1].lower() + error.strerror[1:]
            raise Error(f"cannot read '{os.fsdecode(path)}': {reason}") from None


def open_trace(path, *more, **options):
    """Reads a trace: one path, or several files of the same capture.

    threads=N; strict=True: any loss is an error; cache=False; facts="all" or names of what to read; reader="native" or
    "nsys"; nsys=COMMAND; progress=function(done_bytes, total_bytes).
    rules=FILE, "FILE,ENGINE,MODEL" or "ENGINE,MODEL"; map=FILE or classes={part of a name: class}: categories of kernels.
    title=, iterations=, gpus=, iteration_range=, elapsed_ns=: what is known of the run.
    redact=True: host, user, paths, names of processes and clock time are hidden from everything that is made of the trace;
    "names": names of kernels, ranges and operators are hashes, too."""
    paths = [*listed(path), *more]
    for one in paths:
        if not isinstance(one, (str, bytes, os.PathLike)):
            raise TypeError(f"a trace is opened by its path, not by {type(one).__name__} {one!r}")
    about = run(options)
    how = opening(**options)
    check_files(paths)
    names, count = texts(paths)
    out = ctypes.c_void_p()
    call(lib.gputime_trace_open, names, count, ctypes.byref(how), ctypes.byref(about), ctypes.byref(out))
    owner = Owner(out.value, lib.gputime_trace_free)
    if not how.no_cache:
        lib.gputime_trace_store_cache(owner)
    return Trace(owner, how.threads)
