#!/usr/bin/env python3
"""Prints how predictions of `gputime whatif` compare with measurements, as a table of Markdown:

    python3 docs/make_path_table.py SHARED_FOLDER [build/gputime]
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "cli"))

from captured_whatif import ARCHIVE, rows, unpack  # noqa: E402

HEAD = """| regime | change | without it | predicted | measured | error | with all that differs | error |
|---|---|---|---|---|---|---|---|"""


def ask(binary):
    def run(*args):
        done = subprocess.run([binary, *map(str, args), "--json"], check=True, capture_output=True)
        return json.loads(done.stdout)
    return run


def ms(ns):
    return f"{ns / 1e6:.2f} ms"


def lines(binary, shared):
    yield HEAD
    with tempfile.TemporaryDirectory() as folder:
        traces = unpack(shared / ARCHIVE, pathlib.Path(folder))
        pairs = zip(rows(ask(binary), traces, together=False), rows(ask(binary), traces, together=True))
        for alone, together in pairs:
            yield (f"| {alone.regime} | `{' '.join(alone.options)}` | {ms(alone.base)} | {ms(alone.predicted)} | "
                   f"{ms(alone.measured)} | {alone.error:+.1%} | {ms(together.predicted)} | {together.error:+.1%} |")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program = sys.argv[2] if len(sys.argv) == 3 else str(ROOT / "build" / "gputime")
    print("\n".join(lines(program, pathlib.Path(sys.argv[1]))))
