"""A naive reader of Perfetto traces: protobuf by hand, one dictionary after the other. It shares nothing with gputime."""

import struct

from protobuf_by_hand import fields, signed

CLOCK_OF_TRACE = 6


def message(data):
    """The last value of each field."""
    return {number: value for number, _, value in fields(data)}


def all_of(data, number):
    return [value for key, _, value in fields(data) if key == number]


def real(value):
    return struct.unpack("<d", value)[0]


def text(value):
    """Strict: a protobuf string is UTF-8."""
    decoded = value.decode()
    assert "\0" not in decoded
    return decoded


class Sequence:
    """What packets of one writer share."""

    def __init__(self):
        self.is_known = False
        self.names = {}
        self.track = None
        self.clock = None
        self.now = {}

    def clear(self):
        self.__init__()
        self.is_known = True

    def add_names(self, data):
        for field, _, value in fields(data):
            entry = message(value)
            assert (field, entry[1]) not in self.names, "names are written once"
            self.names[field, entry[1]] = value

    def name(self, field, iid):
        return text(message(self.names[field, iid])[2])


class Trace:
    """Lists of dictionaries: ops, slices, counters; tracks by uuid; gpus and attributes by machine."""

    def __init__(self, path):
        self.ops, self.slices, self.instants, self.counters = [], [], [], []
        self.tracks, self.gpus, self.attributes, self.snapshots = {}, {}, {}, []
        self.open = {}
        self.sequences = {}
        for number, _, packet in fields(path.read_bytes()):
            assert number == 1
            self.read_packet(packet)
        assert not any(self.open.values()), "every slice ends"

    def read_packet(self, data):
        packet = message(data)
        machine = packet.get(98, 0)
        sequence = self.sequences.setdefault(packet.get(10, 0), Sequence())
        if packet.get(13, 0) & 1:
            sequence.clear()
        assert sequence.is_known or not packet.get(13, 0) & 2
        if 12 in packet:
            sequence.add_names(packet[12])
        if 59 in packet:
            defaults = message(packet[59])
            sequence.clock = defaults.get(58)
            sequence.track = message(defaults.get(11, b"")).get(11)
        if 6 in packet:
            self.read_clocks(sequence, packet[6], machine)
        time = self.time_of(sequence, packet) if 8 in packet else None
        if 11 in packet:
            self.read_event(sequence, packet[11], time)
        if 53 in packet:
            self.read_op(sequence, packet[53], time, machine)
        if 60 in packet:
            self.read_track(packet[60], machine)
        if 126 in packet:
            found = (message(one) for one in all_of(packet[126], 1))
            self.attributes[machine] = {text(one[1]): text(one[3]) if 3 in one else one[2] for one in found}
        if 128 in packet:
            self.gpus[machine] = [message(one) for one in all_of(packet[128], 1)]

    def read_clocks(self, sequence, data, machine):
        clocks = {clock[1]: clock for clock in map(message, all_of(data, 1))}
        self.snapshots.append((machine, {key: clock[2] for key, clock in clocks.items()}))
        for key, clock in clocks.items():
            if clock.get(3):
                assert clock[2] == clocks[CLOCK_OF_TRACE][2]
                sequence.now[key] = clock[2]

    def time_of(self, sequence, packet):
        clock = packet.get(58, sequence.clock)
        if clock in sequence.now:
            sequence.now[clock] += packet[8]
            return sequence.now[clock]
        return packet[8]

    def read_track(self, data, machine):
        track = message(data)
        assert track[1] not in self.tracks
        counter = message(track.get(8, b""))
        process, thread = message(track.get(3, b"")), message(track.get(4, b""))
        self.tracks[track[1]] = {
            "name": text(track.get(2, b"")), "parent": track.get(5), "machine": machine,
            "pid": process.get(1, thread.get(1)), "tid": thread.get(2), "is_process": 3 in track, "is_thread": 4 in track,
            "process_name": text(process.get(6, b"")), "thread_name": text(thread.get(5, b"")),
            "is_counter": 8 in track, "unit": "bytes" if counter.get(3) == 3 else text(counter.get(6, b"")),
            "gpu": message(track[3000]).get(1) if 3000 in track else None,
        }

    def read_event(self, sequence, data, time):
        event = message(data)
        uuid = event.get(11, sequence.track)
        assert uuid in self.tracks, "tracks are described before their events"
        stack = self.open.setdefault(uuid, [])
        if event[9] == 2:
            stack.pop()["end_ns"] = time
            return
        if event[9] == 4:
            value = real(event[44]) if 44 in event else signed(event[30])
            self.counters.append({"track": uuid, "time_ns": time, "value": value})
            return
        one = {"track": uuid, "start_ns": time, "end_ns": time, "name": sequence.name(2, event[10]), "depth": len(stack),
               "category": sequence.name(1, event[3]), "args": self.annotations(sequence, data),
               "submitted": all_of(event[3000], 1) if 3000 in event else [], "api": event.get(3001)}
        if event[9] == 3:
            self.instants.append(one)
        else:
            assert event[9] == 1
            stack.append(one)
            self.slices.append(one)

    def annotations(self, sequence, data):
        found = (message(one) for one in all_of(data, 4))
        return {sequence.name(3, one[1]): sequence.name(29, one[17]) if 17 in one else signed(one[4]) for one in found}

    def args(self, sequence, found):
        values = {}
        for one in map(message, found):
            name = sequence.name(1001, one[1])
            assert name not in values
            values[name] = one[4] if 4 in one else signed(one[3]) if 3 in one else real(one[5]) if 5 in one else sequence.name(29, one[7])
        return values

    def read_op(self, sequence, data, time, machine):
        event = message(data)
        launch, args = event.get(21, b""), {}
        args |= self.args(sequence, all_of(launch, 3))
        sizes = {key: tuple(message(message(launch)[key]).get(i, 0) for i in (1, 2, 3))
                 for key in (1, 2) if key in message(launch)}
        kernel = {}
        if 19 in event:
            entry = sequence.names[1000, event[19]]
            kernel = {"short": text(message(entry)[2]), "full": text(message(entry)[3])}
            args |= self.args(sequence, all_of(entry, 5))
        context = message(sequence.names[23, event[5]]) if 5 in event else {}
        queue, stage = message(sequence.names[24, event[13]]), message(sequence.names[24, event[14]])
        self.ops.append({
            "id": event[1], "start_ns": time, "end_ns": time + event.get(2, 0), "name": sequence.name(2, event[20]),
            "queue": text(queue[2]), "stage": text(stage[2]), "stage_category": stage.get(4, 0), "gpu": signed(event[11]),
            "pid": context.get(2), "api": context.get(3), "kernel": kernel, "args": args, "machine": machine,
            "grid": sizes.get(1), "block": sizes.get(2)})
