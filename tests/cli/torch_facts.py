"""The rows of a Kineto trace by another way: Python's json reads the file, and every table is made as plainly as its
description in lib/events/columns.def allows. Slow, and shares nothing with the program.

Tables are lists of rows in the order of the file. Rows refer to each other and to tracks by what these are: a thread is
(pid, tid), a lane (device, stream), an op its number. What is not known is None.
"""

import decimal
import gzip
import json
import re

CALL_CATEGORIES = {"cuda_runtime", "cuda_driver", "runtime", "driver", "hip_runtime", "hip_driver", "hip_runtime_api",
                   "hip_api", "xpu_runtime", "xpu_driver", "mtia_runtime", "privateuse1_runtime", "privateuse1_driver",
                   "glow_runtime"}
KINDS = {"kernel": "kernel", "gpu_memcpy": "memcpy", "memcpy": "memcpy", "gpu_memset": "memset", "memset": "memset"}
LOADING = ("Lazy Function Loading", "Runtime Triggered Module Loading")
MEMORY_KINDS = ("device", "pageable", "pinned", "managed", "array")
TYPE_BYTES = {"Byte": 1, "Char": 1, "Bool": 1, "Short": 2, "Half": 2, "BFloat16": 2, "UInt16": 2, "Int": 4, "Float": 4,
              "UInt32": 4, "ComplexHalf": 4, "Long": 8, "Double": 8, "UInt64": 8, "ComplexFloat": 8, "ComplexDouble": 16}
COMM_KEYS = ("Collective name", "In msg nelems", "Out msg nelems", "Group size", "dtype", "In split size",
             "Out split size", "Process Group Name", "Process Group ID", "Process Group Description",
             "Process Group Ranks", "Global rank start", "Global rank stride", "Rank", "Src Rank", "Dst Rank", "Seq",
             "Comms Id")
GROUP_KEYS = ("Group size", "Process Group Name", "Process Group ID", "Process Group Description",
              "Process Group Ranks", "Global rank start", "Global rank stride")
SYNC_KINDS = {"Event Sync": "event", "Stream Wait Event": "stream_wait", "Stream Sync": "stream",
              "Context Sync": "context"}
CONFIG_KEYS = ("External id", "external id", "grid", "block", "registers per thread", "shared memory", "blocks per SM",
               "warps per SM", "est. achieved occupancy %", "priority")
LIMIT_KEYS = {"active_blocks": "activeBlocksPerMultiprocessor", "limit_registers": "blockLimitRegs",
              "limit_shared": "blockLimitSharedMem", "limit_warps": "blockLimitWarps", "limit_blocks": "blockLimitBlocks",
              "limit_barriers": "blockLimitBarriers", "allocated_registers": "allocatedRegistersPerBlock",
              "allocated_shared_bytes": "allocatedSharedMemPerBlock"}
DETAIL_KEYS = {"kernel_name": "kernel_name", "kernel_file": "kernel_file", "kernel_hash": "kernel_hash",
               "kernel_backend": "kernel_backend", "kernel_kwargs": "kernel_kwargs", "kernel_grid": "grid",
               "stack": "Call stack", "modules": "Module Hierarchy"}
DETAIL_NUMBERS = ("num_warps", "num_stages")
OPERATOR_KEYS = ("External id", "Sequence number", "Fwd thread id", "Input Dims", "Input type", "Input Strides",
                 "Concrete Inputs")
# Words that are no JSON and mean that a number is missing.
NO_NUMBER = re.compile(rb'(:\s*)(-?(?:inf|nan|Infinity|NaN)|N/A)(?=\s*[,}\]])')


def load(path):
    text = gzip.open(path).read() if path.name.endswith(".gz") else path.read_bytes()
    text = NO_NUMBER.sub(rb'\1"N/A"', text)
    document = json.loads(text.decode("utf-8", "surrogateescape"), strict=False, parse_float=decimal.Decimal)
    return document if isinstance(document, dict) else {"traceEvents": document}


def nanoseconds(value):
    """Microseconds in ns, half away from zero."""
    return int((decimal.Decimal(str(value)) * 1000).quantize(0, decimal.ROUND_HALF_UP))


def number(value):
    """As an integer, or None."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        return int(decimal.Decimal(str(value)).quantize(0, decimal.ROUND_HALF_UP))
    except decimal.InvalidOperation:
        return None


def count(value):
    """The same where negative numbers mean nothing."""
    value = number(value)
    return value if value is not None and value >= 0 else None


def real(value):
    try:
        value = float(value)
    except (TypeError, ValueError):
        return None
    return value if value >= 0 and value != float("inf") else None


def text(value):
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def plain(words):
    """A list as written, without the blanks that files may differ in."""
    return re.sub(r"\s", "", words)


def track(value):
    """A pid or tid: a number, negative ones alike, or words."""
    as_number = number(value)
    return max(as_number, -1) if as_number is not None else value if isinstance(value, str) else -1


class Reader:
    """One pass over the events; every table of the store as a list."""

    def __init__(self, document):
        self.tables = {name: [] for name in (
            "ops", "calls", "ranges", "cpu_ops", "overheads", "driver_work", "copies", "comms", "syncs", "event_records",
            "flows", "operator_args", "kernel_configs", "memory_events", "python_calls", "counters", "graph_ops",
            "launch_details", "operator_details")}
        self.skipped = 0
        self.groups = set()
        self.add_configured(document.get("distributedInfo"))
        for event in document.get("traceEvents", []):
            if isinstance(event, dict) and not self.take(event):
                self.skipped += 1

    # ---- parts of an event ----

    def times(self, event):
        start = nanoseconds(event["ts"])
        return {"start_ns": start, "end_ns": start + nanoseconds(event.get("dur", 0))}

    def host_times(self, event):
        times = self.times(event)
        return {**times, "end_ns": max(times["start_ns"], times["end_ns"])}

    def thread(self, event):
        return (track(event.get("pid")), track(event.get("tid")))

    def lane(self, event, args):
        device, stream = number(args.get("device")), number(args.get("stream"))
        if device is None or device < 0:
            device = number(event.get("pid"))
        if stream is None:
            words = re.match(r"stream (\d+)", str(event.get("tid")))
            stream = int(words[1]) if words else number(event.get("tid"))
            if stream is not None and 1000000 <= stream < 2000000:
                stream -= 1000000
        return (device if device is not None else 0, stream if stream is not None else 0)

    def external(self, args):
        return count(args.get("External id", args.get("external id")))

    def add(self, table, **row):
        self.tables[table].append(row)

    def last(self, table):
        return len(self.tables[table]) - 1

    # ---- events by phase ----

    def take(self, event):
        """Whether it made a row, or names a track."""
        args = event.get("args") if isinstance(event.get("args"), dict) else {}
        phase = event.get("ph")
        if phase == "X":
            return self.take_complete(event, args)
        if phase == "M":
            return event["name"] in ("process_name", "thread_name", "process_labels") and any(args.values())
        if phase == "C":
            return self.take_counter(event, args)
        if phase == "i" and event["name"] == "[memory]":
            return self.take_memory(event, args)
        if phase in ("s", "f") and self.is_forward_to_backward(event):
            self.add("flows", time_ns=nanoseconds(event["ts"]), id=number(event["id"]), thread=self.thread(event),
                     phase="start" if phase == "s" else "end")
            return True
        return False

    def is_forward_to_backward(self, event):
        return event.get("cat") == "fwdbwd" or (event.get("name") == "fwdbwd" and event.get("cat") != "ac2g")

    def take_complete(self, event, args):
        category, name = str(event.get("cat", "")).lower(), event.get("name", "")
        if category == "user_annotation" or (name.startswith("ProfilerStep#") and category in (
                "operator", "cpu_op", "python_function", "cuda_sync", "trace", "")):
            self.add("ranges", **self.host_times(event), name=name, thread=self.thread(event), lane=None, kind="nested")
        elif category == "gpu_user_annotation":
            self.add("ranges", **self.host_times(event), name=name, thread=None, lane=self.lane(event, args), kind="gpu")
        elif category in KINDS:
            self.add_op(event, args, KINDS[category])
        elif self.accelerator_kind(category, name):
            self.add_op(event, args, self.accelerator_kind(category, name))
        elif category in CALL_CATEGORIES:
            self.add("calls", **self.host_times(event), correlation=count(args.get("correlation")), name=name,
                     thread=self.thread(event))
        elif category in ("cpu_op", "operator"):
            self.add_cpu_op(event, args)
        elif category == "overhead":
            thread = None if (number(event.get("pid")) or 0) < 0 else self.thread(event)
            self.add("driver_work" if name in LOADING else "overheads", **self.host_times(event), name=name,
                     thread=thread)
        elif category in ("python_function", "pythonfunction"):
            self.add("python_calls", **self.host_times(event), name=name, thread=self.thread(event))
        elif category == "cuda_sync":
            self.add_sync(event, args)
        elif category == "cuda_event":
            self.add("event_records", correlation=count(args.get("correlation")), event=count(args.get("event_id")),
                     record=None, device=self.sync_device(event, args), stream=self.sync_stream(event, args),
                     process=None)
        else:
            return False
        return True

    def accelerator_kind(self, category, name):
        """Of work on other accelerators; None: the event is none."""
        kind = category.rpartition("_")[2]
        if category not in ("mtia_ccp_events", "hpu_op", "ascend hardware") and ("_" not in category or kind not in (
                "kernel", "memcpy", "memset")):
            return None
        words = re.match("memcpy|memset", name.lower())
        return kind if kind in ("memcpy", "memset") else words[0] if words else "kernel"

    # ---- the GPU ----

    def add_op(self, event, args, kind):
        times = self.times(event)
        if times["end_ns"] < times["start_ns"]:
            return
        in_graph = bool(number(args.get("graph id")) or number(args.get("graph node id")))
        self.add("ops", **times, correlation=count(args.get("correlation")), name=event.get("name", ""),
                 lane=self.lane(event, args), kind=kind, flags=int(in_graph))
        if (number(args.get("graph id")) or 0) > 0:
            self.add("graph_ops", op=self.last("ops"), graph=number(args["graph id"]))
        self.add_launch(args, kind)
        if kind == "kernel":
            self.add_comm(args, "op")
            self.add_config(args)
        elif count(args.get("bytes")) is not None:
            source, target = self.memory_kinds(event["name"])
            self.add("copies", bytes=count(args["bytes"]), op=self.last("ops"), src=source, dst=target)

    def add_launch(self, args, kind):
        limits = args.get("occupancy") if kind == "kernel" and isinstance(args.get("occupancy"), dict) else {}
        row = {key: count(limits.get(name)) for key, name in LIMIT_KEYS.items()}
        row["limiters"] = text(limits.get("limitingFactors"))
        row["graph_node"] = count(args.get("graph node id")) or None
        for key in ("channel", "channel_type"):
            row[key] = count(args.get(key)) if kind == "kernel" else None
        if any(value not in (None, "") for value in row.values()):
            self.add("launch_details", **row, op=self.last("ops"))

    def memory_kinds(self, name):
        def kind(words):
            return next((kind for kind in MEMORY_KINDS if words.lower().startswith(kind)), "unknown")

        inside = name.partition("(")[2]
        source, arrow, target = inside.partition(" -> ")
        return (kind(source), kind(target)) if arrow else ("unknown", kind(inside))

    def add_config(self, args):
        if not any(key in args for key in CONFIG_KEYS):
            return
        extent = {}
        for name in ("grid", "block"):
            sizes = args.get(name, [])
            for axis, size in zip("xyz", [*sizes, None, None, None]):
                extent[f"{name}_{axis}"] = size
        self.add("kernel_configs", external=self.external(args), static_shared_bytes=None, dynamic_shared_bytes=None,
                 shared_bytes=count(args.get("shared memory")), local_bytes=None, priority=number(args.get("priority")),
                 blocks_per_multiprocessor=real(args.get("blocks per SM")),
                 warps_per_multiprocessor=real(args.get("warps per SM")),
                 occupancy_percent=real(args.get("est. achieved occupancy %")), **extent, cluster_x=None,
                 cluster_y=None, cluster_z=None, registers=count(args.get("registers per thread")), op=self.last("ops"))

    # ---- collectives ----

    def add_comm(self, args, carrier):
        if not any(key in args for key in COMM_KEYS):
            return
        carriers = {"op": None, "cpu_op": None, "range": None, carrier: self.last(carrier + "s")}
        self.add("comms", in_bytes=self.comm_bytes(args, "In"), out_bytes=self.comm_bytes(args, "Out"),
                 comms_id=count(args.get("Comms Id")), external=self.external(args), sequence=number(args.get("Seq")),
                 src_rank=number(args.get("Src Rank")), dst_rank=number(args.get("Dst Rank")),
                 rank=number(args.get("Rank")), root=None, peer=None, name=text(args.get("Collective name")),
                 dtype=text(args.get("dtype")), reduction="", in_splits=text(args.get("In split size")),
                 out_splits=text(args.get("Out split size")), group=self.group(args), **carriers)

    def comm_bytes(self, args, side):
        elements, dtype = count(args.get(f"{side} msg nelems")), text(args.get("dtype"))
        each = 1 if dtype.startswith(("Float8", "Float4")) else TYPE_BYTES.get(dtype)
        total = elements * each if elements is not None and each else None
        return total if total is not None and total < 2**64 - 1 else None

    def group(self, args):
        if not any(key in args for key in GROUP_KEYS):
            return None
        group = (None, count(args.get("Group size")), number(args.get("Global rank start")),
                 number(args.get("Global rank stride")),
                 text(args.get("Process Group Name", args.get("Process Group ID"))),
                 text(args.get("Process Group Description")), plain(text(args.get("Process Group Ranks"))), "record")
        self.groups.add(group)
        return group

    def add_configured(self, distributed):
        for group in (distributed or {}).get("pg_config", []):
            self.groups.add((None, count(group.get("pg_size")), None, None, text(group.get("pg_name")),
                             text(group.get("pg_desc")), plain(text(group.get("ranks"))), "config"))

    # ---- the host ----

    def add_cpu_op(self, event, args):
        self.add("cpu_ops", **self.host_times(event), name=event.get("name", ""), thread=self.thread(event))
        if event.get("name") == "record_param_comms":
            self.add_comm(args, "cpu_op")
        if any(key in args for key in (*DETAIL_KEYS.values(), *DETAIL_NUMBERS)):
            self.add("operator_details", **{key: text(args.get(name)) for key, name in DETAIL_KEYS.items()},
                     **{key: count(args.get(key)) for key in DETAIL_NUMBERS}, cpu_op=self.last("cpu_ops"))
        if any(key in args for key in OPERATOR_KEYS):
            self.add("operator_args", external=self.external(args), sequence=count(args.get("Sequence number")),
                     forward_thread=count(args.get("Fwd thread id")), dims=args.get("Input Dims", ""),
                     types=args.get("Input type", ""), strides=args.get("Input Strides", ""),
                     inputs=args.get("Concrete Inputs", ""), cpu_op=self.last("cpu_ops"))

    def sync_device(self, event, args):
        return count(args["device"] if "device" in args else event.get("pid"))

    def sync_stream(self, event, args):
        if "stream" in args:
            return count(args["stream"])
        stream = count(event.get("tid"))
        return stream - 1000000 if stream is not None and stream >= 1000000 else stream

    def add_sync(self, event, args):
        kind = SYNC_KINDS.get(args.get("cuda_sync_kind")) or SYNC_KINDS.get(event.get("name"), "unknown")
        self.add("syncs", **self.host_times(event), correlation=count(args.get("correlation")),
                 event=count(args.get("wait_on_cuda_event_id", args.get("event_id"))), record=None,
                 wait_correlation=count(args.get("wait_on_cuda_event_record_corr_id")),
                 device=self.sync_device(event, args), stream=self.sync_stream(event, args),
                 wait_stream=count(args.get("wait_on_stream")), process=None, kind=kind)

    # ---- counters and memory ----

    def add_counter(self, track_key, event, value):
        self.add("counters", track=track_key, time_ns=nanoseconds(event["ts"]), value=float(value))

    def take_counter(self, event, args):
        device = count(args.get("device", args.get("Device Id")))
        if device is None:
            words = re.match(r"GPU (\d+)", str(event.get("pid")))
            device = int(words[1]) if words else None
        process = track(event.get("pid")) if device is None else None
        made = False
        for series, value in args.items():
            if series in ("device", "Device Id") or isinstance(value, (str, list, dict, bool, type(None))):
                continue
            series = "" if series in ("value", event["name"]) else series
            self.add_counter((process, device, event["name"], series, ""), event, value)
            made = True
        return made

    def take_memory(self, event, args):
        device = count(args.get("Device Id")) if number(args.get("Device Type")) != 0 else None
        pid, tid = self.thread(event)
        made = False
        if number(args.get("Bytes")) is not None:
            size = number(args["Bytes"])
            nothing = dict.fromkeys(("correlation", "pool", "pool_bytes", "pool_used_bytes", "pool_kept_bytes", "stream"))
            self.add("memory_events", time_ns=nanoseconds(event["ts"]), bytes=size, address=count(args.get("Addr")),
                     allocated_bytes=count(args.get("Total Allocated")), reserved_bytes=count(args.get("Total Reserved")),
                     device=device, name="", process=pid, thread=(pid, tid),
                     kind="unknown" if device is None else "device", operation="free" if size < 0 else "allocate",
                     source="framework", **nothing)
            made = True
        for name in ("Total Allocated", "Total Reserved"):
            if number(args.get(name)) is not None:
                self.add_counter((pid, device, name, "", "bytes"), event, number(args[name]))
                made = True
        return made
