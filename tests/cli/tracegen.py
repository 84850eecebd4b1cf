"""Random small Kineto traces from a seed: everything that real traces have been seen to hold, in a few hundred bytes.

In: a seed. Out: the text of a valid trace. Times are made as integer ns and written in one of the ways writers do it.
"""

import json
import random

KERNELS = [
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, std::array<char*, 1ul> >(int, ...)",
    "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2>(float*, int)",
    "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
    "triton_poi_fused_add_mul_3",
    "triton_red_fused_all_reduce_7",
    "Cijk_Alik_Bljk_HHS_BH_MT128x64x16",
    "kernel \"quoted\" \\ tab\t and \u00e9\u4e2d\U0001f600",
    "cudaLaunchKernel_in_its_name",
    "a",
    "",
]
COMM_KERNELS = [
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)",
    "void deep_ep::intranode::dispatch<8>(int4*)",
]
COPIES = ["Memcpy HtoD (Pageable -> Device)", "Memcpy DtoH (Device -> Pinned)", "Memcpy DtoD (Device -> Device)"]
LAUNCH_CALLS = ["cudaLaunchKernel", "cuLaunchKernel", "cudaLaunchKernelExC", "hipLaunchKernel", "cudaLaunchKernel_ptsz"]
SYNC_CALLS = [
    "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cuCtxSynchronize", "hipDeviceSynchronize",
    "cudaMemcpy", "cuMemcpyDtoH_v2", "cudaStreamSynchronize_ptsz", "cudaMemset_v3020",
]
OTHER_CALLS = ["cudaStreamWaitEvent", "cudaEventQuery", "cudaEventRecord", "cudaMalloc", "cudaStreamIsCapturing"]


STEP_NAMES = ("ProfilerStep#{}", "ProfilerStep#{}", "step {}", "[Executor] _forward_step {}: 0 ctx reqs", "Train_step")


class Raw(str):
    """Text that goes into the JSON unchanged."""


class Generator:
    def __init__(self, seed, step_count=None, device_count=None):
        self.random = random.Random(seed)
        pick = self.random
        self.events = []
        self.correlation = pick.choice([1, 100, 2**31 - 20, 2**40])
        self.base_ns = pick.choice([0, 0, 5000, 1_700_000_000_000_000_000, 3_847_745_009_978_503])
        self.length_ns = pick.choice([300, 5_000, 400_000, 50_000_000])
        self.time_style = pick.choice(["decimal", "decimal", "decimal", "exponent", "string", "mixed", "integer"])
        self.grain_ns = 1000 if self.time_style == "integer" else pick.choice([1, 1, 1, 10, self.length_ns // 20])
        self.length_ns = max(self.length_ns, 20 * self.grain_ns)
        self.old_names = pick.random() < 0.15
        self.devices = pick.sample(range(8), device_count or pick.choice([1, 1, 1, 2, 3]))
        self.streams = {device: pick.sample([0, 7, 13, 20, 41, 301], pick.choice([1, 1, 2, 3])) for device in self.devices}
        self.processes = pick.sample(range(1000, 5000), pick.choice([1, 1, 2]))
        self.step_count = pick.choice([0, 0, 2, 4]) if step_count is None else step_count
        self.step_name = random.Random(seed).choice(STEP_NAMES)
        self.comm_share = pick.choice([0, 0, 0.3])
        self.names = pick.sample(KERNELS, pick.randint(1, 6))

    # ---- events ----

    def make(self):
        pick = self.random
        for process in self.processes:
            self.add_steps(process)
        for _ in range(pick.choice([0, 1, 3, 8, 20, 40, 60])):
            pick.choice([self.add_launch] * 8 + [self.add_graph, self.add_orphan, self.add_sync, self.add_wait,
                                                 self.add_code, self.add_noise, self.add_noise])()
        if pick.random() < 0.3:
            pick.shuffle(self.events)
        return self.events

    def time(self):
        return self.base_ns + self.random.randrange(0, self.length_ns) // self.grain_ns * self.grain_ns

    def duration(self, largest=None):
        largest = max(largest or self.length_ns // self.random.choice([3, 10, 30]), 2, 3 * self.grain_ns)
        return self.random.randrange(0, largest) // self.grain_ns * self.grain_ns

    def event(self, category, name, start, length, pid, tid, args):
        event = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": self.written(start),
                 "dur": self.written(length), "args": args}
        if length == 0 and self.random.random() < 0.3:
            del event["dur"]
        if not args and self.random.random() < 0.5:
            del event["args"]
        self.events.append(event)

    def add_steps(self, process):
        width = self.length_ns // max(1, self.step_count)
        for number in range(self.step_count):
            start = self.base_ns + (number * width) // self.grain_ns * self.grain_ns
            category = "Operator" if self.old_names else "user_annotation"
            name = "ProfilerStep#{}" if self.old_names else self.step_name
            length = max(1, width - max(1, self.grain_ns) * 2) // self.grain_ns * self.grain_ns
            self.event(category, name.format(number + 3), start, length, process, process, {"External id": number})
            if self.random.random() < 0.5:
                device = self.devices[0]
                self.event("gpu_user_annotation", f"ProfilerStep#{number + 3}", start + 1000, 2000, device,
                           self.streams[device][0], {})

    def add_call(self, name, correlation, process=None, start=None):
        process = process or self.random.choice(self.processes)
        start = self.time() if start is None else start
        length = self.duration(max(2, self.length_ns // 30))
        if self.random.random() < 0.01:
            length = -self.grain_ns
        driver = name.startswith("cuL") or name.startswith("cuM") or name.startswith("cuC")
        category = "Runtime" if self.old_names else "cuda_driver" if driver else "cuda_runtime"
        thread = process + self.random.choice([0, 0, 1])
        args = {"cbid": 211, "correlation": correlation} if correlation is not None else {"cbid": 211}
        self.event(category, name, start, length, process, thread, args)
        return start, max(0, length)

    def add_op(self, correlation, not_before=None):
        pick = self.random
        device = pick.choice(self.devices)
        stream = pick.choice(self.streams[device])
        start = self.time() if not_before is None else not_before
        length = self.duration()
        kind = pick.random()
        args = {"External id": 3, "device": device, "context": 1, "stream": stream}
        if correlation is not None:
            args["correlation"] = correlation
        if kind < 0.12:
            category, name = ("Memcpy", "gpu_memcpy"), pick.choice(COPIES)
            args["bytes"] = pick.choice([0, 4, 65536, 2**33])
        elif kind < 0.18:
            category, name = ("Memset", "gpu_memset"), "Memset (Device)"
            if pick.random() < 0.8:
                args["bytes"] = 512
        else:
            category, name = ("Kernel", "kernel"), pick.choice(self.names)
            if pick.random() < self.comm_share:
                name = pick.choice(COMM_KERNELS)
            args.update({"registers per thread": 32, "grid": [80, 1, 1], "est. achieved occupancy %": 57})
        if pick.random() < 0.04:
            length = 0
        elif pick.random() < 0.03:
            length = -max(1, self.grain_ns)
        tid = stream
        if self.old_names:
            tid = f"stream {stream}"
            if pick.random() < 0.3:
                del args["stream"]
        elif pick.random() < 0.05:
            del args["stream"], args["device"]
        elif pick.random() < 0.05:
            args["stream"], args["device"] = str(stream), str(device)
        self.event(category[0] if self.old_names else category[1], name, start, length, device, tid, args)

    def queue_end(self, start, length):
        """When an op might start: right after its call, later, or (clock trouble) before it."""
        choice = self.random.random()
        if choice < 0.6:
            return start + length + self.duration(max(2, self.length_ns // 20))
        return None if choice < 0.9 else start

    def add_launch(self):
        self.correlation += 1
        name = self.random.choice(LAUNCH_CALLS)
        start, length = self.add_call(name, self.correlation)
        if self.random.random() < 0.08:
            self.add_call("cuLaunchKernel", self.correlation)
        self.add_op(self.correlation, self.queue_end(start, length))

    def add_graph(self):
        self.correlation += 1
        start, length = self.add_call(self.random.choice(["cudaGraphLaunch", "hipGraphLaunch"]), self.correlation)
        for _ in range(self.random.randint(2, 6)):
            self.add_op(self.correlation, self.queue_end(start, length))

    def add_orphan(self):
        self.correlation += 1
        self.add_op(self.random.choice([self.correlation, None]))

    def add_sync(self):
        self.correlation += 1
        name = self.random.choice(SYNC_CALLS + OTHER_CALLS)
        process = self.random.choice(self.processes)
        thread = process + self.random.choice([0, 0, 1])
        category = "Runtime" if self.old_names else "cuda_runtime"
        self.event(category, name, self.time(), self.duration(), process, thread, {"correlation": self.correlation})

    def add_wait(self):
        """The host blocks, then launches at once: what an idle gap of cause sync looks like."""
        self.correlation += 2
        process, start, length = self.random.choice(self.processes), self.time(), self.duration()
        category = "Runtime" if self.old_names else "cuda_runtime"
        for thread in (process, process + 1):
            self.event(category, self.random.choice(SYNC_CALLS), start, length, process, thread,
                       {"correlation": self.correlation - 1})
        launch, call_length = self.add_call("cudaLaunchKernel", self.correlation, process, start + length)
        self.add_op(self.correlation, launch + call_length + self.duration(max(2, self.length_ns // 100)))

    def add_code(self):
        """The program computes inside an operator or annotation, then launches: the GPU waits for the CPU."""
        self.correlation += 1
        process, start, length = self.random.choice(self.processes), self.time(), self.duration()
        category = self.random.choice(["cpu_op", "user_annotation"] if not self.old_names else ["Operator"])
        for thread in (process, process + 1):
            self.event(category, "aten::item", start, length, process, thread, {})
        launch, call_length = self.add_call("cudaLaunchKernel", self.correlation, process, start + length)
        self.add_op(self.correlation, launch + call_length + self.duration(max(2, self.length_ns // 100)))

    def add_noise(self):
        pick, process = self.random, self.random.choice(self.processes)
        start, length = self.time(), self.duration()
        kind = pick.randrange(9)
        if kind == 0:
            self.event("Operator" if self.old_names else "cpu_op", "aten::mm", start, length, process, process,
                       {"External id": 5, "Input Dims": [[], [2, 3]], "Concrete Inputs": ["", "{\"ph\": \"X\"}"]})
        elif kind == 1:
            self.event("python_function", "torch/nn/modules/module.py(1773): _call_impl {", start, length, process,
                       process, {"Python id": 4, "Python parent id": None})
        elif kind == 2:
            self.event("gpu_user_annotation", "forward", start, length, self.devices[0], 7, {})
        elif kind == 3:
            self.event("cuda_sync", "Stream Wait Event", start, length, self.devices[0], 7,
                       {"stream": 7, "correlation": self.correlation, "device": self.devices[0]})
        elif kind == 4:
            self.event("overhead", "Buffer Flush", start, length, -1, 0, {})
        elif kind == 5:
            self.events.append({"ph": pick.choice("sf"), "id": self.correlation, "pid": process, "tid": process,
                                "ts": self.written(start), "cat": "ac2g", "name": "ac2g", "bp": "e"})
        elif kind == 6:
            self.events.append({"ph": "M", "name": "process_name", "pid": process, "tid": 0, "ts": self.written(start),
                                "args": {"name": "python"}})
        elif kind == 7:
            self.events.append({"ph": pick.choice("CbenNDOi"), "name": "other", "pid": process, "cat": "kernel",
                                "ts": self.written(start), "args": {"value": 3}})
        else:
            self.event("user_annotation", "optimizer.step", start, length, process, process, {"External id": 9})

    # ---- text ----

    def written(self, ns):
        style = self.time_style
        if style == "mixed":
            style = self.random.choice(["decimal", "exponent", "string", "integer", "short"])
        sign, ns = "-" if ns < 0 else "", abs(ns)
        plain = f"{sign}{ns // 1000}.{ns % 1000:03d}"
        if style in ("integer", "short") and ns % 1000 == 0:
            return Raw(f"{sign}{ns // 1000}")
        if style == "short":
            return Raw(plain.rstrip("0"))
        if style == "exponent" and ns:
            digits = str(ns)
            fraction = digits[1:].rstrip("0")
            exponent = len(digits) - 4
            mark = self.random.choice(["e", "E", "e+"]) if exponent >= 0 else "e"
            return Raw(f"{sign}{digits[0]}{'.' if fraction else ''}{fraction}{mark}{exponent}")
        return plain if style == "string" else Raw(plain)


def encode(value, indent=None, level=0, ascii_only=True, space=" "):
    """JSON with Raw text left alone; indent: the unit of indentation, None for one line."""
    if isinstance(value, Raw):
        return str(value)
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, ensure_ascii=ascii_only)
    inside = [
        (json.dumps(key, ensure_ascii=ascii_only) + ":" + space if isinstance(value, dict) else "")
        + encode(item, indent, level + 1, ascii_only, space)
        for key, item in (value.items() if isinstance(value, dict) else ((None, item) for item in value))
    ]
    left, right = ("{", "}") if isinstance(value, dict) else ("[", "]")
    if indent is None:
        return left + ("," + space).join(inside) + right
    line = "\n" + indent * (level + 1)
    return left + line + ("," + line).join(inside) + "\n" + indent * level + right


def kineto_event(event, flat):
    """As the profiler writes it: a few fields to a line, args in a block of their own or on one line."""
    lines = [", ".join(f'"{key}": {encode(event[key])}' for key in group if key in event)
             for group in (("ph", "cat", "name", "pid", "tid", "id", "bp"), ("ts", "dur"))]
    text = "  {\n    " + ",\n    ".join(line for line in lines if line)
    if "args" in event:
        pairs = [f'"{key}": {encode(value)}' for key, value in event["args"].items()]
        text += ",\n    \"args\": {" + (", ".join(pairs) if flat else "\n      " + ", ".join(pairs) + "\n    ") + "}"
    return text + "\n  }"


LAYOUTS = ("kineto", "flat", "dump", "dump_utf8", "compact", "indent", "shuffled", "array", "array_lines")


def layout(events, name, pick=None):
    pick = pick or random.Random(0)
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}],
            "displayTimeUnit": "ms"}
    if name in ("kineto", "flat"):
        body = ",\n".join(kineto_event(event, name == "flat") for event in events)
        return '{\n  "schemaVersion": 1,\n  "displayTimeUnit": "ms",\n  "traceEvents": [\n' + body + \
            '\n  ],\n  "traceName": "a.json"\n}\n'
    if name == "array":
        return encode(events)
    if name == "array_lines":
        return "[\n" + ",\n".join(encode(event) for event in events) + "\n]\n"
    if name == "shuffled":
        events = [dict(pick.sample(list(event.items()), len(event))) for event in events]
        return encode({"traceEvents": events, **head})
    document = {**head, "traceEvents": events, "traceName": "a.json", "baseTimeNanoseconds": 1_722_222_222_000_000_000}
    if name == "compact":
        return encode(document, space="")
    if name == "indent":
        return encode(document, "  ") + "\n"
    return encode(document, ascii_only=name != "dump_utf8")


def trace(seed, **settings):
    """(text, name of the layout) of the random trace of that seed."""
    generator = Generator(seed, **settings)
    events = generator.make()
    name = generator.random.choice(LAYOUTS)
    return layout(events, name, generator.random), name
