"""Files of XLA's profiler, made up: planes with lines and events come in, as xla_facts.py has them, and the bytes of the
protobuf and of the JSON go out. Random ones have everything that real ones were seen to have, and what they may have."""

import json
import random
import struct

from protobuf_by_hand import varint

KEPT_BY_JSON = ("/host:CPU", "/device:GPU:")
INTERNAL = ("MemoryAllocation", "MemoryDeallocation")  # not in the JSON


def field(number, value):
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


class Words:
    """Numbers for names, from 1 on."""

    def __init__(self, first=1):
        self.ids, self.next = {}, first

    def number(self, name):
        if name not in self.ids:
            self.ids[name] = self.next
            self.next += 1
        return self.ids[name]

    def entries(self, tag):
        return b"".join(field(tag, field(1, number) + field(2, field(1, number) + field(2, name)))
                        for name, number in self.ids.items())


def stat(words, name, value):
    """Long texts are words, too, as the profiler has it."""
    head = field(1, words.number(name))
    if isinstance(value, float):
        return head + field(2, value)
    if isinstance(value, int):
        return head + (field(3, value) if value >= 0 else field(4, value))
    return head + (field(7, words.number(value)) if len(value) > 4 else field(5, value))


def plane_bytes(plane, first_word=1):
    names, stats = Words(first_word), Words(first_word)
    lines = b""
    for line in plane["lines"]:
        origin = line.get("origin", 0)
        events = b""
        for event in line["events"]:
            body = field(1, names.number(event["name"])) + field(2, (event["start"] - origin) * 1000)
            if event["end"] != event["start"]:
                body += field(3, (event["end"] - event["start"]) * 1000)
            events += field(4, body + b"".join(field(4, stat(stats, *item)) for item in event["stats"].items()))
        lines += field(3, field(1, line["id"]) + field(2, line["name"]) + field(3, origin) + events)
    own = b"".join(field(6, stat(stats, *item)) for item in plane["stats"].items())
    return field(2, plane["name"]) + lines + names.entries(4) + stats.entries(5) + own


def xplane(planes, host="", warnings=(), first_word=1):
    body = b"".join(field(1, plane_bytes(plane, first_word)) for plane in planes)
    return body + b"".join(field(3, warning) for warning in warnings) + (field(4, host) if host else b"")


def trace_json(planes):
    """As the profiler writes it: names first, numbers in quotes, no host of other recorders."""
    head, events = [], []
    for place, plane in enumerate(planes):
        if not plane["name"].startswith(KEPT_BY_JSON):
            continue
        pid = 701 if plane["name"] == "/host:CPU" else place + 1
        head.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": plane["name"]}})
        for line in plane["lines"]:
            tid = line["id"] & 0xffffffff
            head.append({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": line["name"]}})
            for event in line["events"]:
                if event["name"] in INTERNAL:
                    continue
                args = {key: str(value) for key, value in event["stats"].items()}
                events.append({"ph": "X", "pid": pid, "tid": tid, "ts": event["start"] / 1000,
                               "dur": (event["end"] - event["start"]) / 1000, "name": event["name"]} |
                              ({"args": args} if args else {}))
    document = {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": [*head, *events, {}]}
    return json.dumps(document, separators=(",", ":")).encode()


# ---- made-up captures ----


def event(name, start, duration, /, **stats):
    return {"name": name, "start": start, "end": start + duration, "stats": stats}


def kernel_details(rng):
    grid = ",".join(str(rng.randint(1, 400)) for _ in range(3))
    return (f"regs:{rng.randint(8, 255)} static_shared:{rng.choice((0, 8192))} dynamic_shared:{rng.choice((0, 65568))} "
            f"grid:{grid} block:{rng.choice((32, 128))},1,1 occ_pct:{rng.choice(('0', '18.75', '100'))}")


def device_event(rng, start, correlation, is_amd):
    duration, choice = rng.randint(1, 900), rng.random()
    if choice < 0.1:
        kinds = "kind:Unknown" if is_amd else f"kind_src:{rng.choice(('device', 'pinned', 'unknown'))} kind_dst:pageable"
        return event(rng.choice(("MemcpyD2H", "MemcpyH2D", "MemcpyOther")), start, duration, correlation_id=correlation,
                     memcpy_details=f"{kinds} size:{rng.randint(0, 1 << 40)} dest:0 async:{rng.randint(0, 1)}")
    if choice < 0.2:
        kind = rng.choice(("device", "unknown"))
        return event("Memset", start, duration, correlation_id=correlation,
                     Memset_details=f"kind:{kind} num_bytes:{rng.randint(0, 4096)} async:1")
    if choice < 0.25:
        return event("MemAlloc", start, duration, memalloc_details="kind:device num_bytes:64")
    if choice < 0.3:
        return event("graph", start, duration, correlation_id=correlation, cuda_graph_exec_id=rng.randint(1, 9))
    stats = {"correlation_id": correlation, "context_id": "$$1", "kernel_details": kernel_details(rng)}
    if rng.random() < 0.5:
        stats |= {"cuda_graph_id": rng.randint(1, 3), "cuda_graph_node_id": rng.randint(1, 1 << 40)}
    if rng.random() < 0.5:
        stats["theoretical_occupancy_pct"] = rng.choice((18.75, 100.0, 0.0))
    if rng.random() < 0.6:
        stats |= {"hlo_op": "fusion.3", "hlo_module": "jit_f",
                  "name": rng.choice(("jit(f)/layer0/dot_general", "jit(f)/layer0/add", "jit(f)/transpose(jvp(layer1))/mul",
                                      "jit(f)/layer0", "jit(f)/layer0-1", "jit(f)/jvp(layer1)", "jit(f)", "alone"))}
    return event(rng.choice(("loop_add_fusion", "gemm_fusion_dot_4", "input_reduce_fusion")), start, duration, **stats)


def host_event(rng, start, correlation):
    duration, choice = rng.randint(0, 300), rng.random()
    if choice < 0.4:
        return event(rng.choice(("loop_add_fusion", "cuGraphLaunch (CudaGraph:50)", "hipModuleLaunchKernel")), start,
                     duration, device_id=0, correlation_id=correlation, context_id="$$1")
    if choice < 0.5:
        return event("MemcpyD2H", start, duration, device_id=0, correlation_id=correlation,
                     memcpy_details=f"kind_src:unknown kind_dst:unknown size:4 dest:0 async:{rng.randint(0, 1)}")
    if choice < 0.6:
        return event(rng.choice(("$train.py:41 log", "$builtins len", "$numpy asarray", "$<unknown> __exit__")), start,
                     duration)
    if choice < 0.7:
        return event("train", start, duration, _r=1, step_num=rng.randint(0, 9))
    if choice < 0.8:
        return event(rng.choice(("BUFFER_FLUSH", "<UNKNOWN>", "LAZY_FUNCTION_LOADING", "cuStreamSynchronize")), start,
                     duration)
    if choice < 0.9:
        return event(rng.choice(INTERNAL), start, 0, allocator_name=rng.choice(("GPU_0_bfc", "xla_gpu_host_bfc")),
                     bytes_allocated=rng.randint(0, 1 << 40), allocation_bytes=rng.randint(1, 1 << 30),
                     addr=rng.randint(1, 1 << 47))
    return event(rng.choice(("PjitFunction(f)", "Wait for usage holds", "custom")), start, duration)


def capture(seed, events=60):
    rng = random.Random(seed)
    is_amd, origin = rng.random() < 0.3, rng.choice((0, 1000, 1 << 40))
    planes = []
    for device in range(rng.randint(1, 3)):
        lines = []
        for stream in rng.sample(range(40), rng.randint(1, 3)):
            start, found = 0, []
            for _ in range(rng.randint(0, events)):
                start += rng.randint(1, 1000)
                found.append(device_event(rng, start + origin, rng.randint(1, 90), is_amd))
            lines.append({"name": f"Stream #{stream}(Compute)", "id": stream, "origin": origin, "events": found})
        derived = [event("jit_f", origin + 5, 800, hlo_module="jit_f"), event("fusion.3", origin + 5, 9, correlation_id=3)]
        for name in ("XLA Modules", "XLA Ops", "Steps", "Framework Name Scope", "Framework Ops", "Source code"):
            lines.append({"name": name, "id": 1000 + len(lines), "origin": origin, "events": derived})
        lines.append({"name": "CUPTI overhead", "id": 999, "origin": origin, "events": [event("flush", origin + 7, 3)]})
        stats = {"device_vendor": "AMD" if is_amd else "Nvidia", "clock_rate": 1980000, "core_count": 132,
                 "memory_size": 1 << 37, "memory_bandwidth": 4814304000000}
        stats |= {"gpu_device_name": "AMD Instinct MI300X" if is_amd else "NVIDIA H200", "compute_cap_major": 9}
        planes.append({"name": f"/device:GPU:{device}", "lines": lines, "stats": stats})
    threads = []
    for thread in range(rng.randint(1, 3)):
        found = sorted((host_event(rng, origin + rng.randint(0, 40000), rng.randint(1, 90))
                        for _ in range(rng.randint(0, events))), key=lambda item: item["start"])
        threads.append({"name": f"python3/{thread}", "id": rng.getrandbits(62), "origin": origin, "events": found})
    planes.append({"name": "/host:CPU", "lines": threads, "stats": {}})
    planes.append({"name": "/host:metadata", "lines": [], "stats": {"jax_version": "0.11.2"}})
    return planes
