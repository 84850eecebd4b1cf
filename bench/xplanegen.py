"""Makes a large file of XLA's profiler of a small one: the events of every line, again and again, one after the other.

    xplanegen.py IN.xplane.pb OUT.xplane.pb MEGABYTES"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/cli"))
import xla_by_hand  # noqa: E402
import xla_facts  # noqa: E402

field, message, fields = xla_by_hand.field, xla_facts.message, xla_facts.fields


def shifted(event, offset_ps):
    parts = [field(number, value + offset_ps if number == 2 else value) if wire != 1 else b""
             for number, wire, value in fields(event)]
    return field(4, b"".join(parts))


def repeated(line, times, span_ps):
    events = [value for number, _, value in fields(line) if number == 4]
    head = b"".join(field(number, value) for number, _, value in fields(line) if number < 4)
    body = bytearray(head)
    for turn in range(times):
        for event in events:
            body += shifted(event, turn * span_ps)
    return bytes(body)


def enlarge(data, megabytes):
    times, span_ps = max(1, megabytes * 1_000_000 // len(data)), 60_000_000_000
    out = bytearray()
    for number, _, value in fields(data):
        if number == 1:
            parts = [field(3, repeated(item, times, span_ps)) if tag == 3 else field(tag, item)
                     for tag, _, item in fields(value)]
            value = b"".join(parts)
        out += field(number, value)
    return out


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(enlarge(Path(sys.argv[1]).read_bytes(), int(sys.argv[3])))
