"""A reader of Parquet files, written from the format's specification and naive on purpose: Thrift's compact protocol, pages,
levels, encodings. Decompression is libzstd's own. Everything that the format demands of a file is checked on the way."""

import ctypes
import ctypes.util
import struct

INT64, DOUBLE, BYTES = 2, 5, 6
PLAIN, RLE, DELTA, DICTIONARY = 0, 3, 5, 8
CODECS = {0: "uncompressed", 6: "zstd"}


# ---- Thrift ----


class Thrift:
    """Structs as dictionaries by field number."""

    def __init__(self, data, place=0):
        self.data, self.place = data, place

    def byte(self):
        self.place += 1
        return self.data[self.place - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def binary(self):
        size = self.varint()
        self.place += size
        assert self.place <= len(self.data)
        return bytes(self.data[self.place - size:self.place])

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return struct.unpack("b", bytes([self.byte()]))[0]
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            return self.binary()
        if kind == 9:
            head = self.byte()
            size = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(size)]
        assert kind == 12, f"type {kind} of Thrift is not expected"
        return self.struct()

    def struct(self):
        fields, last = {}, 0
        while head := self.byte():
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            assert last not in fields
            fields[last] = self.value(head & 15)
        return fields


# ---- bits ----


def unpack(data, bits, count):
    """Numbers of so many bits, the lowest bit first; eight of them are as many bytes as one has bits."""
    mask, values = (1 << bits) - 1, []
    for place in range(0, bits * count // 8, bits) if bits else ():
        whole = int.from_bytes(data[place:place + bits], "little")
        values += [whole >> bits * i & mask for i in range(8)]
    return values if bits else [0] * count


def hybrid(data, bits, count):
    """Runs and packed groups, until there are enough."""
    values, stream = [], Thrift(data)
    width = (bits + 7) // 8
    while len(values) < count:
        head = stream.varint()
        if head & 1:
            size = (head >> 1) * bits
            values += unpack(data[stream.place:stream.place + size], bits, (head >> 1) * 8)
            stream.place += size
        else:
            values += [int.from_bytes(data[stream.place:stream.place + width], "little")] * (head >> 1)
            stream.place += width
        assert head >> 1 and stream.place <= len(data)
    return values[:count]


def delta(data):
    stream = Thrift(data)
    block, minis, count, value = stream.varint(), stream.varint(), stream.varint(), stream.zigzag()
    assert block % 128 == 0 and block // minis % 32 == 0
    values = [value] if count else []
    while len(values) < count:
        least = stream.zigzag()
        widths = [stream.byte() for _ in range(minis)]
        for width in widths:
            if len(values) >= count:
                break
            size = width * (block // minis) // 8
            assert stream.place + size <= len(data)
            for number in unpack(data[stream.place:stream.place + size], width, block // minis):
                if len(values) < count:
                    value = value + least + number
                    value = (value + 2**63) % 2**64 - 2**63
                    values.append(value)
            stream.place += size
    assert stream.place == len(data)
    return values


# ---- pages ----


def zstd():
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t

    def decompress(data, size):
        out = ctypes.create_string_buffer(size or 1)
        done = library.ZSTD_decompress(out, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
        assert done == size
        return out.raw[:size]

    return decompress


DECOMPRESS = zstd()


class Column:
    def __init__(self, element):
        self.key, self.type = element[4].decode(), element[1]
        self.is_optional = element[3] == 1
        self.is_text = element.get(6) == 0 and 1 in element.get(10, {})
        self.is_unsigned = element.get(6) == 14
        assert self.is_text == (self.type == BYTES)
        assert not self.is_unsigned or element[10][10] == {1: 64, 2: False}

    def plain(self, data, count):
        if self.type != BYTES:
            assert len(data) == 8 * count
            return list(struct.unpack(f"<{count}{'d' if self.type == DOUBLE else 'q'}", data))
        values, place = [], 0
        for _ in range(count):
            size = int.from_bytes(data[place:place + 4], "little")
            values.append(data[place + 4:place + 4 + size])
            place += 4 + size
        assert place == len(data)
        return values

    def bound(self, value):
        return value if self.type == BYTES else self.finished(self.plain(value, 1)[0])

    def finished(self, value):
        if self.is_text:
            return value.decode("utf-8")
        return value % 2**64 if self.is_unsigned else value


def read_page(data, place, codec):
    stream = Thrift(data, place)
    header = stream.struct()
    raw = data[stream.place:stream.place + header[3]]
    assert len(raw) == header[3]
    content = DECOMPRESS(raw, header[2]) if codec == 6 else raw
    assert len(content) == header[2]
    return header, content, stream.place - place, stream.place + header[3]


def page_values(column, header, content, dictionary):
    about = header[5]
    count = about[1]
    levels = [1] * count
    if column.is_optional:
        size = int.from_bytes(content[:4], "little")
        levels = hybrid(content[4:4 + size], 1, count)
        content = content[4 + size:]
    there = sum(levels)
    if about[2] == PLAIN:
        values = column.plain(content, there)
    elif about[2] == DELTA:
        values = delta(content)
    else:
        assert about[2] == DICTIONARY
        values = [dictionary[number] for number in hybrid(content[1:], content[0], there)]
    assert len(values) == there
    values = iter(values)
    return [column.finished(next(values)) if level else None for level in levels], about[2]


def read_chunk(data, column, meta):
    assert meta[1] == column.type and meta[3] == [column.key.encode()] and meta[4] in CODECS
    place = begin = meta.get(11, meta[9])
    values, dictionary, plain_bytes, encodings = [], None, 0, {RLE}
    while len(values) < meta[5]:
        header, content, header_bytes, place = read_page(data, place, meta[4])
        plain_bytes += header_bytes + len(content)
        if header[1] == 2:
            assert dictionary is None and not values and header[7][2] == PLAIN
            dictionary = column.plain(content, header[7][1])
            assert place == meta[9]
            encodings.add(PLAIN)
        else:
            more, encoding = page_values(column, header, content, dictionary)
            values += more
            encodings.add(encoding)
    assert len(values) == meta[5] and set(meta[2]) == encodings
    assert place - begin == meta[7] and plain_bytes == meta[6]
    check_statistics(column, values, meta[12])
    return values, place - begin


def check_statistics(column, values, statistics):
    assert statistics[3] == values.count(None)
    there = [value.encode() if column.is_text else value for value in values if value is not None]
    if 5 in statistics:
        assert column.bound(statistics[6]) == min(there) and column.bound(statistics[5]) == max(there)


class File:
    """columns: lists by key; about: key-value metadata; types by key."""

    def __init__(self, data):
        assert data[:4] == data[-4:] == b"PAR1"
        size = int.from_bytes(data[-8:-4], "little")
        stream = Thrift(data, len(data) - 8 - size)
        footer = stream.struct()
        assert stream.place == len(data) - 8
        root, *elements = footer[2]
        assert root[5] == len(elements) == len(footer[7])
        self.name = root[4].decode()
        self.schema = [Column(element) for element in elements]
        self.types = {column.key: column.type for column in self.schema}
        self.columns = {column.key: [] for column in self.schema}
        self.about = {pair[1].decode(): pair[2].decode() for pair in footer.get(5, [])}
        self.groups = [group[3] for group in footer[4]]
        self.codecs = set()
        used = 4
        for group in footer[4]:
            used += self.read_group(data, group)
        assert used == len(data) - 8 - size, "there are bytes that belong to nothing"
        assert footer[3] == sum(self.groups)
        assert all(len(values) == footer[3] for values in self.columns.values())
        self.row_count = footer[3]

    def read_group(self, data, group):
        used = 0
        for column, chunk in zip(self.schema, group[1], strict=True):
            values, size = read_chunk(data, column, chunk[3])
            assert len(values) == group[3]
            self.columns[column.key] += values
            self.codecs.add(CODECS[chunk[3][4]])
            used += size
        assert used == group[6] and sum(chunk[3][6] for chunk in group[1]) == group[2]
        return used

    def rows(self):
        return [dict(zip(self.columns, row)) for row in zip(*self.columns.values())]


def read(path):
    return File(path.read_bytes())
