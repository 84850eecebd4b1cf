"""An independent reader of what XLA's profiler writes, in both of its forms: the bytes of a file come in, the rows that
the event store should have go out. Plain on purpose: everything is in memory, every stat is looked at."""

import gzip
import json
import re
import struct
from collections import defaultdict

from protobuf_by_hand import fields, signed

TEXT_STATS = ("kernel_details", "memcpy_details", "Memset_details", "memalloc_details", "MemFree_details",
              "MemoryResidency_details", "allocator_name", "name")
OVERHEADS = ("<UNKNOWN>", "BUFFER_FLUSH", "INSTRUMENTATION", "RESOURCE", "COMMAND_BUFFER_FULL",
             "ACTIVITY_BUFFER_REQUEST", "UVM_ACTIVITY_INIT")
DRIVER_WORK = ("DRIVER_COMPILER", "RUNTIME_TRIGGERED_MODULE_LOADING", "LAZY_FUNCTION_LOADING")
HOSTS = ("/host:CPU", "/host:CUPTI", "/host:ROCTRACER", "/host:NVTX-CUPTI", "/host:python-tracer")
DIRECTIONS = {"MemcpyH2D": "HtoD", "MemcpyD2H": "DtoH", "MemcpyD2D": "DtoD", "MemcpyP2P": "PtoP", "MemcpyOther": "AtoA"}
MEMORY_KINDS = ("pageable", "pinned", "device", "array", "managed")


# ---- the protobuf ----


def message(data):
    found = defaultdict(list)
    for number, _, value in fields(data):
        found[number].append(value)
    return found


def text(values):
    return values[-1].decode("utf-8", "surrogateescape") if values else ""


def number(values, otherwise=0):
    return values[-1] if values else otherwise


def words(entries):
    """Names by number, the one to show first."""
    found = {}
    for entry in entries:
        entry = message(entry)
        value = message(number(entry[2], b""))
        found[number(entry[1])] = text(value[4]) or text(value[2])
    return found


def read_stat(data, names):
    stat = message(data)
    name = names.get(number(stat[1]), "")
    if stat[2]:
        return name, struct.unpack("<d", stat[2][-1])[0]
    if stat[3]:
        return name, stat[3][-1]
    if stat[4]:
        return name, signed(stat[4][-1])
    if stat[5]:
        return name, text(stat[5])
    if stat[7]:
        return name, names.get(stat[7][-1], "")
    return name, None


def rounded(ps):
    return (abs(ps) + 500) // 1000 * (1 if ps >= 0 else -1)


def read_xplane(data):
    """Planes as {"name", "stats", "lines": [{"name", "id", "events": [{"name", "start", "end", "stats"}]}]}, and the
    file's own facts."""
    space = message(data)
    planes = []
    for plane in map(message, space[1]):
        names, shown = words(plane[5]), words(plane[4])
        lines = []
        for line in map(message, plane[3]):
            events = []
            for event in map(message, line[4]):
                if event[5]:
                    continue
                start = signed(number(line[3])) + rounded(signed(number(event[2])))
                events.append({"name": shown.get(number(event[1]), ""), "start": start,
                               "end": start + rounded(signed(number(event[3]))),
                               "stats": dict(read_stat(stat, names) for stat in event[4])})
            lines.append({"name": text(line[2]), "id": signed(number(line[1])), "events": events})
        planes.append({"name": text(plane[2]), "lines": lines, "stats": dict(read_stat(stat, names) for stat in plane[6])})
    return planes, {"host": text(space[4][:1])}


# ---- the JSON ----


def nanoseconds(micros):
    return round(micros * 1000)


def json_value(key, value):
    return value if key in TEXT_STATS else float(value) if key == "theoretical_occupancy_pct" else \
        int(value) if re.fullmatch(r"-?\d+", value) else value


def read_json(data):
    events = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)["traceEvents"]
    planes, lines = {}, {}
    for event in events:
        if event.get("name") == "process_name":
            planes[event["pid"]] = {"name": event["args"]["name"], "lines": [], "stats": {}}
    for event in events:
        if event.get("name") == "thread_name":
            line = {"name": event["args"]["name"], "id": event["tid"], "events": []}
            lines[event["pid"], event["tid"]] = line
            planes[event["pid"]]["lines"].append(line)
    for event in events:
        if event.get("ph") == "X":
            start = nanoseconds(event["ts"])
            stats = {key: json_value(key, value) for key, value in event.get("args", {}).items()}
            lines[event["pid"], event["tid"]]["events"].append(
                {"name": event["name"], "start": start, "end": start + nanoseconds(event["dur"]), "stats": stats})
    return list(planes.values()), {"host": ""}


# ---- rows ----


def detail(text_of_stat, key):
    return dict(item.split(":", 1) for item in text_of_stat.split(" ") if ":" in item).get(key)


def whole(value):
    return int(value) if value and value.isdigit() else None


def memory_kind(word):
    return word.lower() if word and word.lower() in MEMORY_KINDS else "unknown"


def scope_of(name, names):
    """Of an operation: what is before its last part; of several that were fused: all of the name that they share."""
    is_scope = name.endswith(")") or any(name and other.startswith(name + "/") for other in names)
    return name if is_scope else name.rpartition("/")[0]


class Rows:
    def __init__(self, planes):
        self.tables, self.scopes = defaultdict(list), []
        pids = [plane["stats"]["process_id"] for plane in planes if "process_id" in plane["stats"]]
        self.process = pids[0] if pids else "/host:CPU"
        self.is_amd = any("AMD" in str(plane["stats"].get("device_vendor", "")) for plane in planes)
        for plane in planes:
            device = re.match(r"/device:GPU:(\d+)", plane["name"])
            for line in plane["lines"]:
                if device:
                    self.take_device_line(int(device[1]), line)
                elif plane["name"] in HOSTS:
                    self.thread = (self.process, line["id"] & 0xffffffff)
                    for event in line["events"]:
                        self.take_host(event)
        self.add_scopes()

    def add(self, table, **columns):
        self.tables[table].append(columns)

    # -- GPUs --

    def take_device_line(self, device, line):
        stream = re.match(r"Stream #(\d+)", line["name"])
        for event in line["events"] if stream else []:
            self.take_op((device, int(stream[1])), event)
        if line["name"] == "_counters_":
            for event in line["events"]:
                values = [value for value in event["stats"].values() if isinstance(value, (int, float))]
                self.add("counters", track=(None, device, event["name"], ""), time_ns=event["start"], value=values[-1])
        if line["name"] == "CUPTI overhead":
            for event in line["events"]:
                self.add("overheads", start_ns=event["start"], end_ns=event["end"], name=event["name"], thread=None)

    def take_op(self, lane, event):
        stats, name = event["stats"], event["name"]
        if {"memalloc_details", "MemFree_details", "MemoryResidency_details"} & set(stats) or name == "UnifiedMemory":
            return
        kind, copy = "kernel", None
        if "kernel_details" in stats:
            pass
        elif "memcpy_details" in stats or name.startswith("Memcpy"):
            kind, copy = "memcpy", self.copy(stats.get("memcpy_details", ""), "size", "kind_src", "kind_dst")
            if name in DIRECTIONS:
                kinds = [word.capitalize() for word in (copy["src"], copy["dst"])]
                name = f"Memcpy {DIRECTIONS[name]}" + (f" ({kinds[0]} -> {kinds[1]})" if kinds != ["Unknown"] * 2 else "")
        elif "Memset_details" in stats or name.startswith("Memset"):
            kind, copy = "memset", self.copy(stats.get("Memset_details", ""), "num_bytes", None, "kind")
            name = "Memset (Device)" if copy["dst"] == "device" else "Memset"
        elif "cuda_graph_exec_id" in stats:
            kind = "graph"
        graph = stats.get("cuda_graph_exec_id" if kind == "graph" else "cuda_graph_id")
        in_graph = kind != "graph" and bool(stats.get("cuda_graph_id") or stats.get("cuda_graph_node_id"))
        op = len(self.tables["ops"])
        self.add("ops", start_ns=event["start"], end_ns=event["end"], correlation=stats.get("correlation_id"), name=name,
                 lane=lane, kind=kind, flags=int(in_graph))
        if copy and copy["bytes"] is not None:
            self.add("copies", op=op, **copy)
        if graph:
            self.add("graph_ops", op=op, graph=graph)
        if "kernel_details" in stats:
            self.take_config(op, stats)
        self.scopes.append((lane, stats.get("name", ""), self.tables["ops"][op]))

    def copy(self, details, size, source, target):
        return {"bytes": whole(detail(details, size)), "src": memory_kind(source and detail(details, source)),
                "dst": memory_kind(detail(details, target))}

    def take_config(self, op, stats):
        details = stats["kernel_details"]
        row = {"op": op, "registers": whole(detail(details, "regs")),
               "static_shared_bytes": whole(detail(details, "static_shared")),
               "dynamic_shared_bytes": whole(detail(details, "dynamic_shared"))}
        row["shared_bytes"] = row["static_shared_bytes"] + row["dynamic_shared_bytes"]
        for key in ("grid", "block"):
            row.update(zip((f"{key}_{axis}" for axis in "xyz"), map(int, detail(details, key).split(","))))
        occupancy = stats.get("theoretical_occupancy_pct", float(detail(details, "occ_pct")))
        row["occupancy_percent"] = occupancy if 0 < occupancy <= 100 else None
        self.add("kernel_configs", **row)

    def add_scopes(self):
        """Around the calls of ops, and on the GPU around ops without one that follow each other."""
        names = {name for _, name, _ in self.scopes}
        self.scopes = [(lane, scope_of(name, names), op) for lane, name, op in self.scopes]
        by_correlation = {}
        for _, scope, op in self.scopes:
            if scope and op["correlation"] is not None:
                by_correlation.setdefault(op["correlation"], scope)
        called = {call["correlation"] for call in self.tables["calls"]}
        for call in self.tables["calls"]:
            if call["correlation"] in by_correlation:
                self.add("ranges", start_ns=call["start_ns"], end_ns=call["end_ns"], thread=call["thread"], lane=None,
                         name=by_correlation[call["correlation"]], kind="nested")
        before = None
        for lane, scope, op in self.scopes:
            scope = "" if op["correlation"] in called else scope
            if scope and before == (lane, scope):
                run = self.tables["ranges"][-1]
                run["start_ns"], run["end_ns"] = min(run["start_ns"], op["start_ns"]), max(run["end_ns"], op["end_ns"])
            elif scope:
                self.add("ranges", start_ns=op["start_ns"], end_ns=op["end_ns"], name=scope, thread=None, lane=lane,
                         kind="gpu")
            before = (lane, scope)

    # -- threads --

    def take_host(self, event):
        stats, name = event["stats"], event["name"]
        times = {"start_ns": event["start"], "end_ns": event["end"]}
        is_call = re.match(r"(cuda|cu|hip)[A-Z]", name)
        if "correlation_id" in stats or is_call:
            call = re.sub(r" \(CudaGraph:.*", "", name) if is_call else self.call(event)
            self.add("calls", correlation=stats.get("correlation_id"), name=call, thread=self.thread, **times)
        elif name.startswith("$"):
            self.add("python_calls", name=self.python(name[1:]), thread=self.thread, **times)
        elif name in OVERHEADS:
            self.add("overheads", name=name, thread=self.thread, **times)
        elif name in DRIVER_WORK:
            self.add("driver_work", name=name, thread=self.thread, **times)
        elif name in ("MemoryAllocation", "MemoryDeallocation"):
            self.take_memory(event)
        else:
            is_mark = event["start"] == event["end"] and "step_num" not in stats
            shown = f"{name}#step_num={stats['step_num']}#" if "step_num" in stats else name
            self.add("ranges", name=shown, thread=self.thread, lane=None, kind="mark" if is_mark else "nested", **times)

    def call(self, event):
        stats = event["stats"]
        copy, fill = stats.get("memcpy_details"), stats.get("Memset_details")
        if copy or fill:
            suffix = "" if detail(copy or fill, "async") == "0" else "Async"
            if self.is_amd:
                return ("hipMemcpy" if copy else "hipMemset") + suffix
            return ("cuMemcpy" if copy else "cuMemsetD8") + suffix
        if "memalloc_details" in stats or "MemFree_details" in stats:
            return ("hipFree", "hipMalloc", "cuMemFree", "cuMemAlloc")[("free" not in event["name"].lower()) +
                                                                       2 * (not self.is_amd)]
        return "hipLaunchKernel" if self.is_amd else "cuLaunchKernel"

    def python(self, name):
        place, _, function = name.partition(" ")
        line = re.fullmatch(r"(.+):(\d+)", place)
        if line:
            return f"{line[1]}({line[2]}): {function}"
        return f"<built-in function {'' if place in ('builtins', '<unknown>') else place + '.'}{function}>"

    def take_memory(self, event):
        stats = event["stats"]
        if "allocator_name" not in stats or "allocation_bytes" not in stats:
            return
        device = re.match(r"GPU_(\d+)", stats["allocator_name"])
        device = int(device[1]) if device else None
        is_free = event["name"] == "MemoryDeallocation"
        self.add("counters", track=(self.process, device, "Total Allocated", stats["allocator_name"]),
                 time_ns=event["start"], value=stats["bytes_allocated"])
        self.add("memory_events", time_ns=event["start"],
                 bytes=stats["allocation_bytes"] * (-1 if is_free else 1), address=stats["addr"],
                 allocated_bytes=stats["bytes_allocated"], device=device, process=self.process, thread=self.thread,
                 kind="pinned" if device is None else "device", operation="free" if is_free else "allocate",
                 source="framework")


def rows_of(planes):
    return Rows(planes).tables
