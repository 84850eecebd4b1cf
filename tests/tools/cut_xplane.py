"""Leaves the compiled programs out of a file of XLA's profiler: most of a small one, and no reader of ours needs them.

    cut_xplane.py IN.xplane.pb OUT.xplane.pb"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
import xla_by_hand  # noqa: E402
import xla_facts  # noqa: E402


def without_programs(plane):
    if plane[2][:1] != [b"/host:metadata"]:
        return None
    kept = (xla_by_hand.field(number, value) for number, _, value in xla_facts.fields(plane["bytes"]) if number != 4)
    return b"".join(kept)


def cut(data):
    pieces = []
    for number, _, value in xla_facts.fields(data):
        plane = {2: [], "bytes": value}
        if number == 1:
            plane[2] = xla_facts.message(value)[2]
        pieces.append(xla_by_hand.field(number, without_programs(plane) or value))
    return b"".join(pieces)


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(cut(Path(sys.argv[1]).read_bytes()))
