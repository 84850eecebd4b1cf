"""Perfetto traces written by hand: packets as other programs write them. It shares nothing with gputime's own writer."""

import struct

from protobuf_by_hand import varint

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def message(*fields):
    """Of (number, value): int is a varint, float a double, text and bytes have a length; lists are repeated fields."""
    out = b""
    for number, value in fields:
        for one in value if isinstance(value, list) else [value]:
            if one is None:
                continue
            if isinstance(one, float):
                out += varint(number << 3 | 1) + struct.pack("<d", one)
            elif isinstance(one, int):
                out += varint(number << 3) + varint(int(one))
            else:
                data = one.encode() if isinstance(one, str) else one
                out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def packet(*fields):
    return message((1, message(*fields)))


def annotation(name, value):
    if isinstance(value, dict):
        return message((11, [annotation(key, one) for key, one in value.items()]), (10, name))
    if isinstance(value, list):
        return message((10, name), (12, [message((6 if isinstance(one, str) else 4, one)) for one in value]))
    return message((10, name), (5 if isinstance(value, float) else 4 if isinstance(value, int) else 6, value))


def event(kind, track, name=None, category=None, args=None, name_iid=None, category_iid=None, **more):
    """A TrackEvent. more: flow_ids, counter."""
    annotations = [annotation(key, value) for key, value in (args or {}).items()]
    return message((9, kind), (11, track), (23, name), (10, name_iid), (22, category), (3, category_iid),
                   (4, annotations), (30, more.get("counter")))


def process(uuid, pid, name):
    return packet((60, message((1, uuid), (3, message((1, pid), (6, name))))))


def thread(uuid, parent, pid, tid, name):
    return packet((60, message((1, uuid), (5, parent), (4, message((1, pid), (2, tid), (5, name))))))


def track(uuid, parent, name):
    return packet((60, message((1, uuid), (5, parent), (2, name))))
