"""Comparisons, limits, jobs of many ranks, definitions."""

import ctypes
import os
import re
import warnings

from . import _c
from ._commands import COMMANDS
from ._library import Error, UsageError, call, counted, encoded, entries, failure, lib, text
from ._options import analysis_options, fact_names, listed, opening, run, set_texts, sized, texts
from ._owner import Owner
from ._report import Report
from ._requests import Request, request_of
from ._trace import Trace, open_trace, query_traces

PER = {"auto": _c.GPUTIME_PER_AUTO, "step": _c.GPUTIME_PER_STEP, "range": _c.GPUTIME_PER_RANGE,
       "launch": _c.GPUTIME_PER_LAUNCH, "none": _c.GPUTIME_PER_NONE}
WHOLE_STEPS = {_c.GPUTIME_PER_AUTO: _c.GPUTIME_STEPS_IF_MOST, _c.GPUTIME_PER_STEP: _c.GPUTIME_STEPS_WHOLE}


def judge(report, limits):
    """Judges limits one by one; the report counts those that do not hold."""
    for limit in limits:
        broken, (array, count) = ctypes.c_size_t(), texts([limit])
        call(lib.gputime_report_check, report, array, count, ctypes.byref(broken))
    verdicts = Report(report, "limits")
    verdicts.broken = sum(verdict == "broken" for verdict in
                          verdicts["limits"].to_dict()["verdict"]) if limits else 0
    return verdicts


def split_options(options):
    """(keywords for opening, keywords for reports)."""
    names = opening.__code__.co_varnames[:opening.__code__.co_argcount]
    return ({key: options.pop(key) for key in names if key in options}, options)


def opened(sides, how, facts):
    """Traces that are open, and those of paths, which are read with all that the reports need."""
    paths = [one for one in sides if not isinstance(one, Trace)]
    if facts:
        how = dict({"facts": fact_names(facts)}, **how)
    return [one for one in sides if isinstance(one, Trace)] + [open_trace(*group, **how) for group in grouped(paths)]


def parse_per(value):
    """(enum gputime_per, name of a range): "step", "launch", "none", "range NAME"."""
    kind, _, name = (value or "auto").partition(" ")
    if kind not in PER or (kind == "range") != bool(name):
        raise UsageError(f"invalid per '{value}'; use step, 'range NAME', launch or none")
    return PER[kind], encoded(name) if name else None


def compared(sides, request, per, name, tables, labels, noise):
    """The comparison of two reports, which outlive it."""
    options = sized(_c.gputime_diff_options, per=per, noise_share=noise or 0.0)
    options.shaping = ctypes.pointer(request.shaping())
    if name:
        options.range = name
    if labels:
        options.label_a, options.label_b = map(encoded, labels)
    if tables:
        set_texts(options, "tables", "table_count", tables)
    out = ctypes.c_void_p()
    call(lib.gputime_report_diff, sides[0], sides[1], ctypes.byref(options), ctypes.byref(out))
    return Owner(out.value, lib.gputime_report_free, *sides)


def side_reports(traces, first_of_b, request, per, options):
    """Reports of both sides, made at the same time."""
    options.selection[0].whole_steps = WHOLE_STEPS.get(per, _c.GPUTIME_STEPS_ANY)
    request.shown, request.shapes, request.main = [], {}, None
    options.shaping = ctypes.pointer(request.shaping())
    out, owners = (ctypes.c_void_p * 2)(), tuple(trace._owner for trace in traces)
    array = (ctypes.c_void_p * len(owners))(*(owner.address for owner in owners))
    call(lib.gputime_report_new_sides, array, len(owners), first_of_b, ctypes.byref(options), out)
    return [Owner(address, lib.gputime_report_free, *owners) for address in out]


def diff(a, b, per=None, limits=(), tables=None, labels=None, noise=None, ranks=False, **options):
    """What changed from a to b: traces that are open or paths, or several captures of each side as lists.

    per: "step", "range NAME", "launch" or "none"; limits: "step>+3%", "each kernel:*>+10%"; the result's `broken` is how
    many do not hold. ranks=True: a and b are jobs, each a directory or a list of traces."""
    if ranks:
        return diff_jobs(a, b, limits, tables, labels, noise, options)
    kind, name = parse_per(per)
    how, options = split_options(options)
    limits, tables = listed(limits), listed(tables) if tables else None
    command = COMMANDS["diff"]
    shown = Request(command, dict(options), limits)
    request = Request(command, options, limits)
    request.absent = [table for part in command["parts"][:1] for table in part.get("asked_tables", ())
                      if table not in (tables or ())]
    built = request.options("diff")
    facts = lib.gputime_report_sides_facts(ctypes.byref(built))
    a, b = opened(listed(a), how, facts), opened(listed(b), how, facts)
    sides = side_reports(a + b, len(a), request, kind, built)
    shown.absent = []
    made = compared(sides, shown, kind, name, tables, labels, noise)
    report = judge(made, limits)
    return with_main(report, tables[0] if tables else shown.main)


def with_main(report, key):
    report.main = report.tables.get(key, report.main)
    return report


def check(trace, limits, ranks=False, **options):
    """Judges limits ("idle<20%", "each kernel:*<10%") on a trace or its path; `broken` is how many do not hold. With
    ranks=True it is a job: a directory or a list of traces."""
    limits = listed(limits)
    if not limits:
        raise UsageError("'check' needs a limit: 'idle<20%'")
    how, options = split_options(options)
    if ranks:
        owner, request = job_report(open_job(trace, how, options), dict(options, ranks=True), "check")
        return judge(owner, limits)
    request = request_of("check", options, limits)
    built = request.options("check")
    one = opened([trace], how, lib.gputime_report_facts(ctypes.byref(built)))[0]
    return judge(one._make(request, "check", built)._owner, limits)


def sql(traces, query, **options):
    """The result of a SELECT over several traces, open ones or paths; `input` and `rank` of a row say which it is of.
    max_rows, timeout (seconds), max_bytes: limits, 0 for none; other options are those of opening and of the analyses."""
    how, options = split_options(options)
    return query_traces(opened(listed(traces), how, lib.gputime_sql_facts(encoded(query))), query, **options)


# ---- jobs ----

def suffixes():
    return tuple(suffix for entry in entries(_c.GPUTIME_INPUTS) for suffix in text(entry.detail).split())


def natural(name):
    """Numbers in names are compared as such: rank2 before rank10."""
    return [(0, int(part), part) if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name) if part]


def gathered(paths):
    """The traces of directories in their place, as the program gathers them."""
    for path in map(os.fspath, listed(paths)):
        if not os.path.isdir(path):
            yield path
            continue
        names = sorted((name for name in os.listdir(path) if not name.startswith(".")
                        and name.lower().endswith(suffixes())), key=natural)
        found = [os.path.join(path, name) for name in names]
        array, count = texts(found)
        kept = [one for one in found if not lib.gputime_capture_is_copy(encoded(one), array, count)]
        if not kept:
            raise Error(f"no traces in '{path}'; see 'gputime list inputs'")
        yield from kept


def grouped(paths):
    """Files of one capture belong together."""
    groups = {}
    for path in paths:
        length = lib.gputime_capture_prefix(encoded(path))
        groups.setdefault(encoded(path)[:length] if length else object(), []).append(path)
    return list(groups.values())


def open_job(paths, how, given):
    """The owner of a job. What cannot be read is left out, with a warning."""
    options, known = opening(**how), [key for key in ("step_tag", "match") if key in given]
    about, groups = run({}), grouped(gathered(paths))
    lists = [texts(group) for group in groups]
    inputs = (_c.gputime_input * max(1, len(groups)))(*(
        _c.gputime_input(names, count, ctypes.pointer(options), ctypes.pointer(about)) for names, count in lists))
    array, count = analysis_options({key: given[key] for key in known})
    errors, out = (_c.gputime_error * max(1, len(groups)))(), ctypes.c_void_p()
    call(lib.gputime_job_open, inputs, len(groups), array, count, ctypes.byref(out), errors)
    for error in errors:
        if error.status:
            warnings.warn(str(failure(error)), stacklevel=4)
    return Owner(out.value, lib.gputime_job_free)


def job_report(job, given, command):
    request, out = Request(COMMANDS[command], given), ctypes.c_void_p()
    options = request.options(command)
    call(lib.gputime_job_report, job, ctypes.byref(options), ctypes.byref(out))
    return Owner(out.value, lib.gputime_report_free), request


def ranks(paths, **options):
    """A report on the ranks of a job: a directory or a list of traces. match="names", step_tag=..., why=FINDING."""
    how, options = split_options(options)
    owner, request = job_report(open_job(paths, how, options), options, "ranks")
    return Report(owner, request.main)


def diff_jobs(a, b, limits, tables, labels, noise, options):
    how, options = split_options(options)
    options["ranks"], tables = True, listed(tables) if tables else None
    command = COMMANDS["diff"]
    part = next(part for part in command["parts"] if part.get("option") == "ranks")
    owners = []
    for paths in (a, b):
        request, out = Request(command, dict(options)), ctypes.c_void_p()
        request.shown, request.shapes, request.main = [], {}, None
        request.absent = [table for table in part.get("asked_tables", ()) if table not in (tables or ())]
        how_made = request.options("diff")
        call(lib.gputime_job_report, open_job(paths, how, options), ctypes.byref(how_made), ctypes.byref(out))
        owners.append(Owner(out.value, lib.gputime_report_free))
    shown = Request(command, dict(options))
    shown.absent = []
    made = compared(owners, shown, _c.GPUTIME_PER_AUTO, None, tables, labels, noise)
    return with_main(judge(made, listed(limits)), tables[0] if tables else shown.main)


# ---- definitions ----

class Definition(str):
    """Markdown, which notebooks show as such."""

    def _repr_markdown_(self):
        return str(self)

    def __repr__(self):
        return str(self)


def define(key):
    """What a key of a table, a fact, a finding or a word means, with its formula."""
    count = lib.gputime_definitions(encoded(key), None, 0)
    if not count:
        raise UsageError(f"no definition of '{key}'; use a key of the JSON output or a word on the screen")
    places, parts = (_c.gputime_definition * count)(), []
    lib.gputime_definitions(encoded(key), places, count)
    for place in places:
        section, header = counted((place.section, place.section_bytes)), counted((place.header, place.header_bytes))
        body = counted((place.text, place.text_bytes)).strip()
        if header:
            rule = "|" + "---|" * (header.strip().count("|") - 1)
            body = f"{header.strip()}\n{rule}\n{body}"
        parts.append(f"### {section}\n\n{body}")
    return Definition("\n\n".join(parts))


def schema():
    """The tables and columns that t.sql() can query."""
    options, out = Request({"parts": []}, {}).options("sql"), ctypes.c_void_p()
    call(lib.gputime_sql_schema, ctypes.byref(options), ctypes.byref(out))
    return Report(Owner(out.value, lib.gputime_report_free), "schema")
