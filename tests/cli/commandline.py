"""A tiny trace for tests of the command line, and what the program said of it: text, rows or one line of error."""

import csv
import io
import json
import re

FAILED, USAGE = 1, 2
REPORTS = ("summary", "kernels", "gaps")
COMMANDS = (*REPORTS, "list", "cache", "help", "version")
NAMES = ("alpha", "beta", "gamma", "delta")


def op(name, start, length, stream):
    return {"ph": "X", "cat": "kernel", "name": f"{name}_kernel", "pid": 0, "tid": stream, "ts": start, "dur": length,
            "args": {"device": 0, "stream": stream, "correlation": start}}


def write_trace(path, names=NAMES, growth=0):
    """The i-th name runs len(names) - i times, 10 * (i + 1) us each and `growth` more each time, with gaps of i + 1 us."""
    now, events = 100, []
    for index, name in enumerate(names):
        for run in range(len(names) - index):
            length = 10 * (index + 1) + growth * run
            events.append(op(name, now, length, 7))
            now += length + index + 1
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def error_of(done, status):
    message = done.stderr.decode()
    assert done.returncode == status, (done.returncode, message)
    assert not done.stdout
    assert re.fullmatch(r"gputime: [^\n]*[^.\n]\n", message), message
    return message


def text_of(done):
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout.decode()


def rows_of(done):
    return list(csv.DictReader(io.StringIO(text_of(done))))


def names_in(text):
    """Kernels in the order in which they first appear."""
    return [name.removesuffix("_kernel") for name in
            dict.fromkeys(re.findall("|".join(f"{name}_kernel" for name in NAMES), text))]


def many_names():
    return [f"kernel_{index:02}" for index in range(30)]


def options_of(help_text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", help_text))
