"""Messages of protobuf without their schemas, for the readers and writers of traces that tests have. It shares nothing with
gputime's own."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def read_varint(data, at):
    """The number, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            assert value < 1 << 64
            return value, at


def fields(data):
    """(number, wire type, value) of each field of a message: varints as int, the rest as bytes."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, kind = key >> 3, key & 7
        assert number > 0
        if kind == VARINT:
            value, at = read_varint(data, at)
        else:
            size, at = read_varint(data, at) if kind == BYTES else ({FIXED64: 8, FIXED32: 4}[kind], at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        yield number, kind, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value
