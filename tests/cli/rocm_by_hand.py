"""Traces of ROCm's profilers, made up: a capture comes in, as capture() makes them, and a rocpd database (schemas 2, 3 and
4), the CSVs of rocprofv3, its JSON or the results.csv of rocprof goes out.

A capture is a dict: what its process is, agents, kernel symbols, and lists of records with the fields that the formats
share. Times are ns, ids are numbers as the profiler counts them."""

import json
import random
import sqlite3

UUID = "_0198f3a2_7c11_7b44_9d5e_3f2a1b0c9d8e"
WAYS = {1: "HOST_TO_HOST", 2: "HOST_TO_DEVICE", 3: "DEVICE_TO_HOST", 4: "DEVICE_TO_DEVICE"}
KINDS = ["NONE", "HSA_CORE_API", "HSA_AMD_EXT_API", "HIP_RUNTIME_API_EXT", "HIP_COMPILER_API_EXT", "MARKER_CORE_RANGE_API",
         "MEMORY_COPY", "MEMORY_ALLOCATION", "KERNEL_DISPATCH", "SCRATCH_MEMORY", "RCCL_API", "KFD_PAGE_FAULT"]
CALLS = {
    "HSA_CORE_API": ["hsa_signal_store_screlease", "hsa_queue_create"],
    "HIP_RUNTIME_API_EXT": ["hipLaunchKernel", "hipMemcpyAsync", "hipMemcpy", "hipDeviceSynchronize", "hipMalloc", "hipFree",
                            "hipExtModuleLaunchKernel", "hipGraphLaunch"],
    "HIP_COMPILER_API_EXT": ["__hipPushCallConfiguration", "__hipPopCallConfiguration"],
    "RCCL_API": ["ncclAllReduce", "ncclAllGather"],
}
ARGUMENTS = {
    "hipLaunchKernel": [("const void*", "function_address"), ("dim3", "numBlocks"), ("dim3", "dimBlocks"), ("void**", "args"),
                        ("size_t", "sharedMemBytes"), ("hipStream_t", "stream")],
    "hipMemcpyAsync": [("void*", "dst"), ("const void*", "src"), ("size_t", "sizeBytes"), ("hipMemcpyKind", "kind"),
                       ("hipStream_t", "stream")],
    "hipMalloc": [("void**", "ptr"), ("size_t", "size")],
    "ncclAllReduce": [("const void*", "sendbuff"), ("void*", "recvbuff"), ("size_t", "count"), ("ncclDataType_t", "datatype")],
    "roctxThreadRangeA": [("const char*", "message")],
}
MARKERS = ["roctxMarkA", "roctxThreadRangeA", "roctxProcessRangeA", "roctxGetThreadId"]
NAMES = [
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int, float*)",
    "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_SN", "__amd_rocclr_fillBufferAligned",
    "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", "softmax_warp_forward", 'odd "name", with \\ and \t tab',
    "gemm_übung_核",
]


def value_of(kind, number):
    """What the profiler writes of an argument; not everything has a value."""
    if kind == "dim3":
        return f"{{x = {1 + number % 7}, y = 1, z = 1}}"
    if kind.endswith("**"):
        return None
    return f"{0x7F00_0000_0000 + 64 * (number % 50):#x}" if kind.endswith("*") else str(number % 9)


def agents_of(gpus, node=0):
    cpu = {"node": 0, "logical": 0, "type": "CPU", "type_index": 0, "name": "AMD EPYC 9654", "product": "AMD EPYC 9654",
           "handle": 1000 + node, "cu": 96, "lds": 0, "clock": 3700}
    return [cpu] + [{"node": 2 + i, "logical": 1 + i, "type": "GPU", "type_index": i, "name": "gfx942",
                     "product": "AMD Instinct MI300X", "handle": 5000 + 7 * i, "cu": 304, "lds": 64, "clock": 2100}
                    for i in range(gpus)]


class Maker:
    """Adds records in the order of time, as a program on one thread makes them."""

    def __init__(self, seed, gpus=2, pid=4100, host="node7", start=10_000_000_000):
        self.rng = random.Random(seed)
        self.now = start
        self.corr = 0
        self.busy = {}
        self.capture = {
            "pid": pid, "host": host, "machine": f"machine of {host}", "command": "/usr/bin/python3 train.py --fast",
            "threads": [{"tid": pid, "name": "main"}, {"tid": pid + 3, "name": ""}], "agents": agents_of(gpus),
            "environment": {"HOME": "/home/secret", "RANK": "3", "WORLD_SIZE": "8"},
            "symbols": [{"id": 10 + 3 * i, "name": name, "lds": 512 * (i % 3), "vgprs": 16 + 4 * i, "scratch": 16 * (i % 2)}
                        for i, name in enumerate(NAMES)],
            "kernels": [], "copies": [], "calls": [], "markers": [], "allocations": [], "values": [],
        }

    def next(self):
        self.corr += 1
        return self.corr

    def wait(self, ns):
        self.now += ns
        return self.now

    def gpu(self):
        return self.rng.choice([a for a in self.capture["agents"] if a["type"] == "GPU"])

    def call(self, name, length=3000, domain="HIP_RUNTIME_API_EXT", corr=None, thread=0):
        corr = corr or self.next()
        self.capture["calls"].append({"start": self.now, "end": self.now + length, "name": name, "domain": domain,
                                      "tid": self.capture["threads"][thread]["tid"], "corr": corr})
        self.now += length + self.rng.randrange(0, 500)
        return corr

    def launch(self, symbol=None, agent=None, stream=0, length=None, graph=0):
        corr = self.call("hipGraphLaunch" if graph else "hipLaunchKernel")
        return self.dispatch(corr, symbol, agent, stream, length, graph)

    def dispatch(self, corr, symbol=None, agent=None, stream=0, length=None, graph=0):
        symbol = symbol or self.rng.choice(self.capture["symbols"])
        agent = agent or self.gpu()
        start = max(self.now + self.rng.randrange(500, 5000), self.busy.get((agent["node"], stream), 0))
        end = start + (self.rng.randrange(0, 40_000) if length is None else length)
        self.busy[agent["node"], stream] = end
        group = self.rng.choice(((256, 1, 1), (64, 4, 1), (8, 8, 8)))
        grid = tuple(g * self.rng.randrange(1, 500) - self.rng.choice((0, 0, g // 2)) for g in group)
        self.capture["kernels"].append({
            "start": start, "end": end, "symbol": symbol["id"], "agent": agent["node"], "queue": 1 + stream % 4, "stream": stream,
            "tid": self.capture["threads"][0]["tid"], "corr": corr, "grid": grid, "group": group, "graph": graph,
            "lds": symbol["lds"], "scratch": symbol["scratch"], "dispatch": len(self.capture["kernels"]) + 1})
        return self.capture["kernels"][-1]

    def copy(self, way=2, size=4096, stream=1, name="hipMemcpyAsync"):
        corr = self.call(name)
        gpu = self.gpu()
        start = self.now + self.rng.randrange(500, 3000)
        start = max(start, self.busy.get((gpu["node"], stream), 0))
        end = start + size // 20 + 100
        self.busy[gpu["node"], stream] = end
        source = gpu["node"] if way in (3, 4) else 0
        target = gpu["node"] if way in (2, 4) else 0
        self.capture["copies"].append({"start": start, "end": end, "way": way, "src": source, "dst": target, "bytes": size,
                                       "stream": stream, "tid": self.capture["threads"][0]["tid"], "corr": corr})

    def marker(self, message, start, end, function="roctxThreadRangeA", thread=0):
        self.capture["markers"].append({"start": start, "end": end, "function": function, "message": message,
                                        "tid": self.capture["threads"][thread]["tid"], "corr": self.next()})

    def memory(self, kind, address, size=0, node=None):
        self.capture["allocations"].append({
            "start": self.now, "end": self.wait(700), "type": kind, "address": address, "size": size if kind == "ALLOC" else 0,
            "agent": (self.gpu()["node"] if node is None else node) if kind == "ALLOC" else None,
            "tid": self.capture["threads"][0]["tid"], "corr": self.next()})

    def count(self, kernel, name, *values):
        self.capture["values"] += [{"dispatch": kernel["dispatch"], "name": name, "value": value} for value in values]


def capture(seed, steps=4, gpus=2, **about):
    """Steps of a made-up training: kernels, copies, ranges, memory, a counter."""
    make = Maker(seed, gpus, **about)
    rng = make.rng
    make.call("__hipPushCallConfiguration", 300, "HIP_COMPILER_API_EXT")
    make.memory("ALLOC", 0x7F0000001000, 1 << 20)
    make.memory("ALLOC", 0x7F0000900000, 1 << 14, node=0)
    for step in range(steps):
        begin = make.wait(rng.randrange(100, 90_000))
        make.copy(2, rng.randrange(1, 1 << 20), name=rng.choice(("hipMemcpy", "hipMemcpyAsync")))
        for layer in range(rng.randrange(1, 4)):
            inner = make.now
            kernels = [make.launch(stream=rng.choice((0, 0, 3))) for _ in range(rng.randrange(1, 5))]
            word = rng.choice(("a", "ü", "tab\tbed"))
            make.marker(f'layer {layer} "{word}"', inner, make.wait(50))
            if rng.random() < 0.5:
                make.count(kernels[-1], "SQ_WAVES", rng.randrange(100), rng.randrange(100))
                make.count(kernels[-1], "GRBM_COUNT", float(rng.randrange(10_000)))
        if rng.random() < 0.5:
            make.memory("ALLOC", 0x7F0000002000 + 4096 * step, rng.randrange(1, 1 << 16))
            make.memory("FREE", 0x7F0000002000 + 4096 * step)
        make.call("hsa_signal_store_screlease", 200, "HSA_CORE_API", thread=1)
        make.call("ncclAllReduce", 900, "RCCL_API")
        make.copy(3, rng.randrange(1, 1 << 12))
        make.copy(4, rng.randrange(1, 1 << 12), stream=0)
        make.call("hipDeviceSynchronize", rng.randrange(1000, 200_000))
        make.marker(f"step {step}", begin, make.wait(10))
        make.marker(f"mark {step}", make.now, make.now, "roctxMarkA")
    make.memory("FREE", 0x7F0000001000)
    make.memory("FREE", 0)
    return make.capture


# ---- rocpd ----

COMMON = 'id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT DEFAULT "{guid}" NOT NULL'
TABLES_3 = {
    "string": "string TEXT NOT NULL UNIQUE ON CONFLICT ABORT",
    "info_node": "hash BIGINT NOT NULL UNIQUE, machine_id TEXT NOT NULL UNIQUE, system_name TEXT, hostname TEXT, release TEXT, "
                 "version TEXT, hardware_name TEXT, domain_name TEXT",
    "info_process": "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, init BIGINT, fini BIGINT, start BIGINT, end BIGINT, "
                    'command TEXT, environment JSONB DEFAULT "{{}}" NOT NULL, extdata JSONB DEFAULT "{{}}" NOT NULL',
    "info_thread": "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, tid INTEGER NOT NULL, name TEXT, start BIGINT, "
                   'end BIGINT, extdata JSONB DEFAULT "{{}}" NOT NULL',
    "info_agent": "nid INTEGER NOT NULL, pid INTEGER NOT NULL, type TEXT CHECK (type IN ('CPU', 'GPU', 'NIC')), absolute_index "
                  "INTEGER, logical_index INTEGER, type_index INTEGER, uuid INTEGER, name TEXT, model_name TEXT, vendor_name TEXT, "
                  'product_name TEXT, user_name TEXT, extdata JSONB DEFAULT "{{}}" NOT NULL',
    "info_queue": 'nid INTEGER NOT NULL, pid INTEGER NOT NULL, name TEXT, extdata JSONB DEFAULT "{{}}" NOT NULL',
    "info_stream": 'nid INTEGER NOT NULL, pid INTEGER NOT NULL, name TEXT, extdata JSONB DEFAULT "{{}}" NOT NULL',
    "info_pmc": "nid INTEGER NOT NULL, pid INTEGER NOT NULL, agent_id INTEGER, target_arch TEXT, event_code INT, instance_id "
                "INTEGER, name TEXT NOT NULL, symbol TEXT NOT NULL, description TEXT, units TEXT DEFAULT \"\", "
                'extdata JSONB DEFAULT "{{}}" NOT NULL',
    "info_code_object": "nid INTEGER NOT NULL, pid INTEGER NOT NULL, agent_id INTEGER, uri TEXT",
    "info_kernel_symbol": "nid INTEGER NOT NULL, pid INTEGER NOT NULL, code_object_id INTEGER NOT NULL, kernel_name TEXT, "
                          "display_name TEXT, kernel_object INTEGER, kernarg_segment_size INTEGER, kernarg_segment_alignment "
                          "INTEGER, group_segment_size INTEGER, private_segment_size INTEGER, sgpr_count INTEGER, "
                          'arch_vgpr_count INTEGER, accum_vgpr_count INTEGER, extdata JSONB DEFAULT "{{}}" NOT NULL',
    "track": 'nid INTEGER NOT NULL, pid INTEGER, tid INTEGER, name_id INTEGER, extdata JSONB DEFAULT "{{}}" NOT NULL',
    "event": "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, call_stack JSONB DEFAULT "
             '"{{}}" NOT NULL, line_info JSONB DEFAULT "{{}}" NOT NULL, extdata JSONB DEFAULT "{{}}" NOT NULL',
    "arg": "event_id INTEGER NOT NULL, position INTEGER NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL, value TEXT",
    "pmc_event": 'event_id INTEGER, pmc_id INTEGER NOT NULL, value REAL DEFAULT 0.0, extdata JSONB DEFAULT "{{}}"',
    "region": "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL, start BIGINT NOT NULL, end BIGINT NOT NULL, "
              'name_id INTEGER NOT NULL, event_id INTEGER, extdata JSONB DEFAULT "{{}}" NOT NULL',
    "sample": 'track_id INTEGER NOT NULL, timestamp BIGINT NOT NULL, event_id INTEGER, extdata JSONB DEFAULT "{{}}" NOT NULL',
    "kernel_dispatch": "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER NOT NULL, kernel_id INTEGER NOT "
                       "NULL, dispatch_id INTEGER NOT NULL, queue_id INTEGER NOT NULL, stream_id INTEGER NOT NULL, start BIGINT "
                       "NOT NULL, end BIGINT NOT NULL, private_segment_size INTEGER, group_segment_size INTEGER, "
                       "workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER NOT NULL, workgroup_size_z INTEGER NOT NULL, "
                       "grid_size_x INTEGER NOT NULL, grid_size_y INTEGER NOT NULL, grid_size_z INTEGER NOT NULL, "
                       "graph_exec_id INTEGER NOT NULL DEFAULT 0, region_name_id INTEGER, event_id INTEGER, "
                       'extdata JSONB DEFAULT "{{}}" NOT NULL',
    "memory_copy": "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, start BIGINT NOT NULL, end BIGINT NOT NULL, name_id "
                   "INTEGER NOT NULL, dst_agent_id INTEGER, dst_address INTEGER, src_agent_id INTEGER, src_address INTEGER, size "
                   "INTEGER NOT NULL, queue_id INTEGER, stream_id INTEGER, region_name_id INTEGER, event_id INTEGER, "
                   'extdata JSONB DEFAULT "{{}}" NOT NULL',
    "memory_allocate": "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER, type TEXT, level TEXT, start "
                       "BIGINT NOT NULL, end BIGINT NOT NULL, address INTEGER, size INTEGER NOT NULL, queue_id INTEGER, stream_id "
                       'INTEGER, event_id INTEGER, extdata JSONB DEFAULT "{{}}" NOT NULL',
}
# Later schemas: rows refer to a track, categories have a table of their own, times may be rows of one.
TABLES_4 = {
    "info_category": "name TEXT NOT NULL",
    "track": "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, queue_id INTEGER, stream_id INTEGER, "
             "name_id INTEGER",
    "event": "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, extdata JSONB",
    "region": "track_id INTEGER NOT NULL, name_id INTEGER NOT NULL, {times}, event_id INTEGER",
    "sample": "track_id INTEGER NOT NULL, name_id INTEGER NOT NULL, {time}, event_id INTEGER",
    "kernel_dispatch": "track_id INTEGER NOT NULL, kernel_id INTEGER NOT NULL, dispatch_id INTEGER NOT NULL, {times}, "
                       "private_segment_size INTEGER, group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y "
                       "INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, "
                       "event_id INTEGER",
    "memory_copy": "track_id INTEGER NOT NULL, {times}, name_id INTEGER NOT NULL, dst_agent_id INTEGER, src_agent_id INTEGER, "
                   "size INTEGER NOT NULL, event_id INTEGER",
    "memory_allocate": "track_id INTEGER NOT NULL, type TEXT, level TEXT, {times}, name_id INTEGER NOT NULL, address INTEGER, "
                       "size INTEGER NOT NULL, event_id INTEGER",
    "timestamp": "value BIGINT NOT NULL",
}


class Rocpd:
    """The tables of one process, in a database that may have those of others."""

    def __init__(self, db, data, uuid=UUID, schema=3, step=1, shuffle=None, times_in_rows=True, extra="", views=True, link="stack"):
        self.db, self.data, self.uuid, self.schema = db, data, uuid, schema
        self.step, self.shuffle, self.times_in_rows, self.extra, self.link = step, shuffle, times_in_rows, extra, link
        self.rows, self.strings, self.tracks, self.times = {}, {}, {}, {}
        self.guid = uuid.strip("_").replace("_", "-")
        self.make_tables(views)
        self.put_facts()
        self.put_records()
        self.flush()

    def make_tables(self, views):
        tables = dict(TABLES_3)
        if self.schema == 4:
            tables.update(TABLES_4)
            if self.times_in_rows:
                del tables["timestamp"]
        words = {"times": "start BIGINT NOT NULL, end BIGINT NOT NULL", "time": "timestamp BIGINT NOT NULL"}
        if not self.times_in_rows:
            words = {"times": "start_id INTEGER NOT NULL, end_id INTEGER NOT NULL", "time": "timestamp_id INTEGER NOT NULL"}
        self.db.execute(f'CREATE TABLE "rocpd_metadata{self.uuid}" (id INTEGER PRIMARY KEY, tag TEXT NOT NULL, value TEXT NOT NULL)')
        self.db.execute(f'INSERT INTO "rocpd_metadata{self.uuid}" (tag, value) VALUES (\'schema_version\', ?)', (str(self.schema),))
        for name, columns in tables.items():
            columns = columns.format(guid=self.guid, **words)
            extra = f", {self.extra}" if self.extra and name != "string" else ""
            self.db.execute(f"CREATE TABLE `rocpd_{name}{self.uuid}` ({COMMON.format(guid=self.guid)}, {columns}{extra})")
            if views:
                self.db.execute(f"CREATE VIEW IF NOT EXISTS `rocpd_{name}` AS SELECT * FROM `rocpd_{name}{self.uuid}`")

    def put(self, table, **row):
        rows = self.rows.setdefault(table, [])
        row.setdefault("id", (len(rows) + 1) * self.step)
        rows.append(row)
        return row["id"]

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = self.put("string", string=text)
        return self.strings[text]

    def category(self, text):
        if self.schema == 3:
            return self.string(text)
        if ("category", text) not in self.strings:
            self.strings["category", text] = self.put("info_category", name=text)
        return self.strings["category", text]

    def track(self, tid, agent=None, queue=None, stream=None, name=None):
        key = (tid, agent, queue, stream, name)
        if key not in self.tracks:
            about = {"nid": self.nid, "pid": self.pid, "tid": self.tids.get(tid), "name_id": self.string(name or "")}
            if self.schema == 4:
                about.update(agent_id=agent, queue_id=queue, stream_id=stream)
            self.tracks[key] = self.put("track", **about)
        return self.tracks[key]

    def at(self, start, end):
        if self.times_in_rows:
            return {"start": start, "end": end}
        return {"start_id": self.put("timestamp", value=start), "end_id": self.put("timestamp", value=end)}

    def event(self, category, corr, is_call=False, extdata="{}"):
        """link: how ops and calls are joined, as the profiler does it or as others may."""
        stack, parent, correlation = corr, corr, 0
        if self.link == "parent" and not is_call:
            stack, parent = 1_000_000_000 + corr, corr
        if self.link == "correlation":
            stack, parent, correlation = 0, 0, corr
        if is_call and self.link != "correlation":
            parent = 0
        return self.put("event", category_id=self.category(category), stack_id=stack, parent_stack_id=parent,
                        correlation_id=correlation, extdata=extdata)

    def where(self, tid, agent=None, queue=None, stream=None, name=None):
        """The columns of a row that say where it is, of the schema."""
        if self.schema == 4:
            return {"track_id": self.track(tid, agent, queue, stream, name)}
        return {"nid": self.nid, "pid": self.pid, "tid": self.tids[tid]}

    def put_facts(self):
        data = self.data
        self.nid = self.put("info_node", hash=1, machine_id=data["machine"], system_name="Linux", hostname=data["host"])
        ids = {} if self.step == 1 else {"id": 70}
        if self.step == 1:
            ids = {"id": data["pid"]}  # as rocprofv3 writes it
        self.pid = self.put("info_process", nid=self.nid, ppid=1, pid=data["pid"], command=data["command"],
                            environment=json.dumps(data["environment"]), **ids)
        self.tids = {}
        for i, thread in enumerate(data["threads"]):
            ids = {"id": thread["tid"]} if self.step == 1 else {"id": 900 + i}
            self.tids[thread["tid"]] = self.put("info_thread", nid=self.nid, pid=self.pid, tid=thread["tid"], name=thread["name"] or None,
                                                **ids)
        self.agents = {None: None}
        for agent in data["agents"]:
            more = {} if self.schema == 4 else {"user_name": agent["product"]}
            extdata = json.dumps({"size": 312, "cu_count": agent["cu"], "lds_size_in_kb": agent["lds"], "nested": {"cu_count": 1},
                                  "max_engine_clk_fcompute": agent["clock"]})
            ids = {"id": agent["node"]} if self.step == 1 else {"id": 40 + agent["node"]}
            self.agents[agent["node"]] = self.put(
                "info_agent", nid=self.nid, pid=self.pid, type=agent["type"], absolute_index=agent["node"], name=agent["name"],
                logical_index=agent["logical"], type_index=agent["type_index"], product_name=agent["product"], model_name="",
                extdata=extdata, **ids, **more)
        self.symbols = {}
        for symbol in data["symbols"]:
            ids = {"id": symbol["id"]} if self.step == 1 else {}
            self.symbols[symbol["id"]] = self.put(
                "info_kernel_symbol", nid=self.nid, pid=self.pid, code_object_id=1, kernel_name=symbol["name"] + ".kd",
                display_name=symbol["name"], group_segment_size=symbol["lds"], private_segment_size=symbol["scratch"],
                arch_vgpr_count=symbol["vgprs"], accum_vgpr_count=4, **ids)
        gpu = next(agent["node"] for agent in data["agents"] if agent["type"] == "GPU")
        self.counters = {name: self.put("info_pmc", id=0x7000_0000_0000_0000 + i, nid=self.nid, pid=self.pid,
                                        agent_id=self.agents[gpu], name=name, symbol=name)
                         for i, name in enumerate(sorted({value["name"] for value in data["values"]}))}

    def put_args(self, event, function, corr):
        """As the function has them: by position, though the table may have them in any order."""
        for position, (kind, name) in enumerate(ARGUMENTS.get(function, ())):
            self.put("arg", event_id=event, position=position, type=kind, name=name, value=value_of(kind, corr + position))

    def put_regions(self):
        for call in self.data["calls"]:
            event = self.event(call["domain"], call["corr"], True)
            self.put("region", **self.where(call["tid"]), **self.at(call["start"], call["end"]), name_id=self.string(call["name"]),
                     event_id=event)
            self.put_args(event, call["name"], call["corr"])
        for marker in self.data["markers"]:
            event = self.event("MARKER_CORE_RANGE_API", marker["corr"], True, json.dumps({"message": marker["message"]}))
            self.put_args(event, marker["function"], marker["corr"])
            if marker["start"] != marker["end"]:
                self.put("region", **self.where(marker["tid"]), **self.at(marker["start"], marker["end"]), event_id=event,
                         name_id=self.string(marker["function"]))
                continue
            row = {"track_id": self.track(marker["tid"], name="MARKER_CORE_RANGE_API"), "event_id": event}
            if self.schema == 4:
                row["name_id"] = self.string(marker["function"])
            row["timestamp" if self.times_in_rows else "timestamp_id"] = next(iter(self.at(marker["start"], 0).values()))
            self.put("sample", **row)

    def put_records(self):
        self.put_regions()
        events = {}
        for kernel in self.data["kernels"]:
            events[kernel["dispatch"]] = self.event("KERNEL_DISPATCH", kernel["corr"])
            agent = self.agents[kernel["agent"]]
            own = {} if self.schema == 4 else {"agent_id": agent, "queue_id": kernel["queue"], "stream_id": kernel["stream"],
                                               "graph_exec_id": kernel["graph"]}
            self.put("kernel_dispatch", **self.where(kernel["tid"], agent, kernel["queue"], kernel["stream"]), **own,
                     **self.at(kernel["start"], kernel["end"]), kernel_id=self.symbols[kernel["symbol"]],
                     dispatch_id=kernel["dispatch"], private_segment_size=kernel["scratch"], group_segment_size=kernel["lds"],
                     event_id=events[kernel["dispatch"]],
                     **{f"{what}_size_{axis}": kernel[key][i] for what, key in (("grid", "grid"), ("workgroup", "group"))
                        for i, axis in enumerate("xyz")})
        for value in self.data["values"]:
            self.put("pmc_event", event_id=events[value["dispatch"]], pmc_id=self.counters[value["name"]], value=value["value"])
        for copy in self.data["copies"]:
            own = {} if self.schema == 4 else {"stream_id": copy["stream"]}
            self.put("memory_copy", **self.where(copy["tid"], stream=copy["stream"]), **self.at(copy["start"], copy["end"]), **own,
                     name_id=self.string(f"MEMORY_COPY_{WAYS[copy['way']]}"), dst_agent_id=self.agents[copy["dst"]],
                     src_agent_id=self.agents[copy["src"]], size=copy["bytes"], event_id=self.event("MEMORY_COPY", copy["corr"]))
        for made in self.data["allocations"]:
            own = {"name_id": self.string("")} if self.schema == 4 else {"agent_id": self.agents[made["agent"]]}
            self.put("memory_allocate", **self.where(made["tid"], self.agents[made["agent"]]), **own,
                     **self.at(made["start"], made["end"]), type=made["type"], level="REAL", address=made["address"],
                     size=made["size"], event_id=self.event("MEMORY_ALLOCATION", made["corr"]))

    def flush(self):
        for table, rows in self.rows.items():
            if self.shuffle is not None:
                random.Random(self.shuffle).shuffle(rows)
            for row in rows:
                keys = ", ".join(f'"{key}"' for key in row)
                self.db.execute(f'INSERT INTO "rocpd_{table}{self.uuid}" ({keys}) VALUES ({", ".join("?" * len(row))})',
                                list(row.values()))


def rocpd(path, *captures, uuids=None, page_size=4096, **how):
    """A database of one process or several."""
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA page_size={page_size}")
    for i, data in enumerate(captures):
        Rocpd(db, data, uuid=uuids[i] if uuids else f"{UUID[:-1]}{i:x}", **how)
    db.commit()
    db.close()
    return path


def rpd(path, data):
    """Schema 2, of rocmProfileData."""
    db = sqlite3.connect(path)
    strings = {}

    def string(text):
        if text not in strings:
            strings[text] = len(strings) + 1
            db.execute("INSERT INTO rocpd_string VALUES (?, ?)", (strings[text], text))
        return strings[text]

    db.executescript("""
        CREATE TABLE "rocpd_string" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "string" varchar(4096) NOT NULL);
        CREATE TABLE "rocpd_op" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "gpuId" integer NOT NULL, "queueId" integer NOT
            NULL, "sequenceId" integer NOT NULL, "completionSignal" varchar(18) NOT NULL, "start" integer NOT NULL, "end" integer
            NOT NULL, "description_id" integer NOT NULL, "opType_id" integer NOT NULL);
        CREATE TABLE "rocpd_api" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "pid" integer NOT NULL, "tid" integer NOT NULL,
            "start" integer NOT NULL, "end" integer NOT NULL, "apiName_id" integer NOT NULL, "args_id" integer NOT NULL);
        CREATE TABLE "rocpd_api_ops" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "api_id" integer NOT NULL, "op_id" integer
            NOT NULL);
        CREATE TABLE "rocpd_copyapi" ("api_ptr_id" integer NOT NULL PRIMARY KEY, "stream" varchar(18) NOT NULL, "size" integer NOT
            NULL, "kind" integer NOT NULL);
        CREATE TABLE "rocpd_metadata" ("id" integer NOT NULL PRIMARY KEY, "tag" varchar(4096) NOT NULL, "value" varchar(4096) NOT NULL);
        INSERT INTO rocpd_metadata VALUES (1, 'schema_version', '2');
    """)
    calls = [call for call in data["calls"] if call["domain"].startswith(("HIP", "HSA"))]
    for call in calls:
        db.execute("INSERT INTO rocpd_api VALUES (?, ?, ?, ?, ?, ?, ?)", (call["corr"], data["pid"], call["tid"], call["start"],
                                                                         call["end"], string(call["name"]), string("")))
    for marker in data["markers"]:
        db.execute("INSERT INTO rocpd_api VALUES (?, ?, ?, ?, ?, ?, ?)",
                   (marker["corr"], data["pid"], marker["tid"], marker["start"], marker["end"], string("UserMarker"),
                    string(marker["message"])))
    gpus = {agent["node"]: agent["type_index"] for agent in data["agents"] if agent["type"] == "GPU"}
    names = {symbol["id"]: symbol["name"] for symbol in data["symbols"]}
    ops = [(kernel["start"], kernel["end"], gpus[kernel["agent"]], kernel["stream"], names[kernel["symbol"]], "KernelExecution", kernel)
           for kernel in data["kernels"]]
    for copy in data["copies"]:
        gpu = gpus.get(copy["dst"] if copy["way"] != 3 else copy["src"], 0)
        words = "Copy" + "".join(word.capitalize() for word in WAYS[copy["way"]].split("_"))
        ops.append((copy["start"], copy["end"], gpu, copy["stream"], "", words, copy))
        db.execute("INSERT OR IGNORE INTO rocpd_copyapi VALUES (?, '', ?, ?)", (copy["corr"], copy["bytes"], copy["way"]))
    for i, (start, end, gpu, queue, name, kind, record) in enumerate(ops):
        db.execute("INSERT INTO rocpd_op VALUES (?, ?, ?, 0, '', ?, ?, ?, ?)", (i + 1, gpu, queue, start, end, string(name), string(kind)))
        db.execute("INSERT INTO rocpd_api_ops (api_id, op_id) VALUES (?, ?)", (record["corr"], i + 1))
    db.commit()
    db.close()
    return path


# ---- CSVs ----


def cell(value):
    return '"{}"'.format(value.replace('"', '""')) if isinstance(value, str) else str(value)


def table(path, titles, rows):
    lines = [",".join(f'"{title}"' for title in titles)] + [",".join(map(cell, row)) for row in rows]
    path.write_text("\n".join(lines) + "\n", "utf-8", newline="")
    return path


def agent_text(data, node, how):
    agent = next(agent for agent in data["agents"] if agent["node"] == node)
    return {"logical": f"Agent {agent['logical']}", "type": f"{agent['type']} {agent['type_index']}", "node": node}[how]


API = ("Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp")
KERNEL = ("Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id",
          "Start_Timestamp", "End_Timestamp", "LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count",
          "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z")
COPY = ("Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id", "Correlation_Id", "Start_Timestamp",
        "End_Timestamp")
ALLOCATION = ("Kind", "Operation", "Agent_Id", "Allocation_Size", "Address", "Correlation_Id", "Start_Timestamp", "End_Timestamp")
COUNTER = ("Correlation_Id", "Dispatch_Id", "Agent_Id", "Queue_Id", "Process_Id", "Thread_Id", "Grid_Size", "Kernel_Id",
           "Kernel_Name", "Workgroup_Size", "LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count",
           "Counter_Name", "Counter_Value", "Start_Timestamp", "End_Timestamp")
AGENT = ("Node_Id", "Logical_Node_Id", "Agent_Type", "Cpu_Cores_Count", "Lds_Size_In_Kb", "Cu_Count", "Max_Engine_Clk_Fcompute",
         "Name", "Vendor_Name", "Product_Name", "Model_Name")


def csvs(folder, data, prefix="4100", agents="logical", kinds=None):
    """The files that rocprofv3 writes, or those of some kinds, as a list of paths."""
    symbols = {symbol["id"]: symbol for symbol in data["symbols"]}
    values = {}
    for value in data["values"]:
        values.setdefault((value["dispatch"], value["name"]), []).append(value["value"])
    kernels = {kernel["dispatch"]: kernel for kernel in data["kernels"]}

    def api(domains):
        return [(call["domain"], call["name"], data["pid"], call["tid"], call["corr"], call["start"], call["end"])
                for call in data["calls"] if call["domain"].startswith(domains)]

    files = {
        "agent_info": (AGENT, [(agent["node"], agent["logical"], agent["type"], 0, agent["lds"], agent["cu"], agent["clock"],
                                agent["name"], "AMD", agent["product"], "") for agent in data["agents"]]),
        "kernel_trace": (KERNEL, [("KERNEL_DISPATCH", agent_text(data, k["agent"], agents), k["queue"], k["stream"], k["tid"],
                                   k["dispatch"], k["symbol"], symbols[k["symbol"]]["name"], k["corr"], k["start"], k["end"],
                                   k["lds"], k["scratch"], symbols[k["symbol"]]["vgprs"], 4, 32, *k["group"], *k["grid"])
                                  for k in data["kernels"]]),
        "memory_copy_trace": (COPY, [("MEMORY_COPY", f"MEMORY_COPY_{WAYS[c['way']]}", c["stream"], agent_text(data, c["src"], agents),
                                      agent_text(data, c["dst"], agents), c["corr"], c["start"], c["end"]) for c in data["copies"]]),
        "memory_allocation_trace": (ALLOCATION, [
            ("MEMORY_ALLOCATION", f"MEMORY_ALLOCATION_{'ALLOCATE' if a['type'] == 'ALLOC' else a['type']}",
             "" if a["agent"] is None else agent_text(data, a["agent"], agents), a["size"], f"0x{a['address']:016x}", a["corr"],
             a["start"], a["end"]) for a in data["allocations"]]),
        "hip_api_trace": (API, api("HIP")),
        "hsa_api_trace": (API, api("HSA")),
        "rccl_api_trace": (API, api("RCCL")),
        "marker_api_trace": (API, [("MARKER_CORE_RANGE_API", m["message"], data["pid"], m["tid"], m["corr"], m["start"], m["end"])
                                   for m in data["markers"]]),
        "counter_collection": (COUNTER, [
            (k["corr"], k["dispatch"], agent_text(data, k["agent"], agents), k["queue"], data["pid"], k["tid"],
             k["grid"][0] * k["grid"][1] * k["grid"][2], k["symbol"], symbols[k["symbol"]]["name"],
             k["group"][0] * k["group"][1] * k["group"][2], k["lds"], k["scratch"], symbols[k["symbol"]]["vgprs"], 4, 32, name,
             sum(amounts), k["start"], k["end"]) for (dispatch, name), amounts in values.items() for k in [kernels[dispatch]]]),
    }
    return [table(folder / f"{prefix}_{kind}.csv", *files[kind]) for kind in (kinds or files) if files[kind][1]]


def results_csv(path, data):
    """What rocprof wrote before rocprofv3."""
    gpus = {agent["node"]: agent["type_index"] for agent in data["agents"]}
    names = {symbol["id"]: symbol for symbol in data["symbols"]}
    titles = ("Index", "KernelName", "gpu-id", "queue-id", "queue-index", "pid", "tid", "grd", "wgr", "lds", "scr", "arch_vgpr",
              "accum_vgpr", "sgpr", "wave_size", "sig", "obj", "DispatchNs", "BeginNs", "EndNs", "CompleteNs", "DurationNs")
    rows = [(i, names[k["symbol"]]["name"] + " [clone .kd]", gpus[k["agent"]], k["stream"], i, data["pid"], k["tid"],
             k["grid"][0] * k["grid"][1] * k["grid"][2], k["group"][0] * k["group"][1] * k["group"][2], k["lds"], k["scratch"],
             names[k["symbol"]]["vgprs"], 4, 32, 64, "0x0", "0x7f", k["start"] - 10, k["start"], k["end"], k["end"] + 10,
             k["end"] - k["start"]) for i, k in enumerate(data["kernels"])]
    return table(path, titles, rows)


# ---- JSON ----


def document(data):
    """The JSON of rocprofv3 as a Python value."""
    handles = {agent["node"]: agent["handle"] for agent in data["agents"]}
    operations = {kind: [] for kind in KINDS}
    operations.update({kind: ["none", *names] for kind, names in CALLS.items()})
    operations["MARKER_CORE_RANGE_API"] = MARKERS
    operations["MEMORY_COPY"] = ["MEMORY_COPY_NONE", *(f"MEMORY_COPY_{WAYS[way]}" for way in sorted(WAYS))]
    operations["MEMORY_ALLOCATION"] = ["MEMORY_ALLOCATION_NONE", "MEMORY_ALLOCATION_ALLOCATE", "MEMORY_ALLOCATION_VMEM_ALLOCATE",
                                       "MEMORY_ALLOCATION_FREE", "MEMORY_ALLOCATION_VMEM_FREE"]
    for call in data["calls"]:
        if call["name"] not in operations[call["domain"]]:
            operations[call["domain"]].append(call["name"])
    counters = {name: 333 + i for i, name in enumerate(sorted({value["name"] for value in data["values"]}))}

    def at(record, kind, operation):
        return {"size": 64, "kind": KINDS.index(kind), "operation": operation, "thread_id": record["tid"],
                "correlation_id": {"internal": record["corr"], "external": 0, "ancestor": 0}, "start_timestamp": record["start"],
                "end_timestamp": record["end"]}

    def calls(domains):
        return [at(call, call["domain"], operations[call["domain"]].index(call["name"])) for call in data["calls"]
                if call["domain"].startswith(domains)]

    def info(kernel):
        return {"size": 72, "agent_id": {"handle": handles[kernel["agent"]]}, "queue_id": {"handle": kernel["queue"]},
                "kernel_id": kernel["symbol"], "dispatch_id": kernel["dispatch"], "private_segment_size": kernel["scratch"],
                "group_segment_size": kernel["lds"], "workgroup_size": dict(zip("xyz", kernel["group"])),
                "grid_size": dict(zip("xyz", kernel["grid"]))}

    collected = {}
    for value in data["values"]:
        collected.setdefault(value["dispatch"], []).append({"counter_id": {"handle": counters[value["name"]]}, "value": value["value"]})
    kernels = {kernel["dispatch"]: kernel for kernel in data["kernels"]}
    return {"rocprofiler-sdk-tool": [{
        "metadata": {"node": {"id": 1, "hash": 1, "machine_id": data["machine"], "hostname": data["host"]}, "pid": data["pid"],
                     "init_time": 1, "fini_time": 2, "command": data["command"].split(), "config": {"pid": 3}},
        "agents": [{"size": 312, "id": {"handle": agent["handle"]}, "type": 1 if agent["type"] == "CPU" else 2,
                    "node_id": agent["node"], "logical_node_id": agent["logical"], "logical_node_type_id": agent["type_index"],
                    "name": agent["name"], "product_name": agent["product"], "model_name": "", "cu_count": agent["cu"],
                    "lds_size_in_kb": agent["lds"], "max_engine_clk_fcompute": agent["clock"],
                    "caches": [{"size": 16}]} for agent in data["agents"]],
        "counters": [{"agent_id": {"handle": 1}, "id": {"handle": handle}, "name": name, "description": "d", "dimensions":
                      [{"id": {"handle": 9}, "name": "XCC"}]} for name, handle in counters.items()],
        "strings": {"callback_records": [{"kind": "NONE", "operations": []}],
                    "buffer_records": [{"kind": kind, "operations": operations[kind]} for kind in KINDS],
                    "marker_api": [{"key": marker["corr"], "value": marker["message"]} for marker in data["markers"]],
                    "correlation_id": {"external": []}, "counters": {"dimension_ids": []}},
        "code_objects": [],
        "kernel_symbols": [{"size": 0, "kernel_id": 0, "kernel_name": ""}] + [
            {"size": 80, "kernel_id": symbol["id"], "kernel_name": symbol["name"] + ".kd", "formatted_kernel_name": symbol["name"],
             "demangled_kernel_name": symbol["name"] + " [clone .kd]", "truncated_kernel_name": symbol["name"][:9],
             "group_segment_size": symbol["lds"], "private_segment_size": symbol["scratch"], "arch_vgpr_count": symbol["vgprs"],
             "accum_vgpr_count": 4} for symbol in data["symbols"]],
        "host_functions": [],
        "summary": [{"domain": "KERNEL_DISPATCH", "stats": {"count": len(data["kernels"])}}],
        "callback_records": {"counter_collection": [
            {"thread_id": kernels[dispatch]["tid"], "dispatch_data": {
                "correlation_id": {"internal": kernels[dispatch]["corr"], "external": 0}, "start_timestamp":
                kernels[dispatch]["start"], "end_timestamp": kernels[dispatch]["end"], "dispatch_info": info(kernels[dispatch])},
             "records": records, "stream_id": {"handle": kernels[dispatch]["stream"]}} for dispatch, records in collected.items()]},
        "buffer_records": {
            "kernel_dispatch": [{**at(kernel, "KERNEL_DISPATCH", 1), "dispatch_info": info(kernel), "stream_id":
                                 {"handle": kernel["stream"]}, "graph_exec_id": kernel["graph"]} for kernel in data["kernels"]],
            "hip_api": calls("HIP"), "hsa_api": calls("HSA"), "rccl_api": calls("RCCL"),
            "marker_api": [at(marker, "MARKER_CORE_RANGE_API", MARKERS.index(marker["function"])) for marker in data["markers"]],
            "memory_copy": [{**at(copy, "MEMORY_COPY", copy["way"]), "dst_agent_id": {"handle": handles[copy["dst"]]},
                             "src_agent_id": {"handle": handles[copy["src"]]}, "bytes": copy["bytes"],
                             "stream_id": {"handle": copy["stream"]}} for copy in data["copies"]],
            "memory_allocation": [{**at(made, "MEMORY_ALLOCATION", 1 if made["type"] == "ALLOC" else 3),
                                   "agent_id": {"handle": handles.get(made["agent"], 0)}, "address": f"0x{made['address']:x}",
                                   "allocation_size": made["size"]} for made in data["allocations"]],
            "pc_sample_host_trap": [{"inst_index": [1, [2, {"x": 3}]]}],
        },
    }]}


def rocprof_json(path, data, indent=0, **how):
    path.write_text(json.dumps(document(data), indent=indent, **how), "utf-8")
    return path
