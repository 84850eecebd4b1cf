"""Facts that are read from Nsight Systems exports on demand: every row is compared with what sqlite3 reads."""

import importlib.util
import lzma
import shutil
import sqlite3
import struct
from collections import defaultdict

import pytest
from samples import DATA, shared_path, with_shared

EXPORTS = with_shared(sorted(DATA.glob("nsys*/*.sqlite.gz")), "data/h200/nsys/*/*.sqlite", "data/h200/efficiency/*.xz",
                      "data/h200/ranks/nsys/*.sqlite", "data/public/nsys/*/*.sqlite")
RANKS = with_shared([], "data/h200/ranks/nsys/*.sqlite")
NONE = 0xFFFFFFFF  # no stream, event or record
SYNCS = {1: "event", 3: "stream", 4: "context"}
OLD_SYNCS = {0: "context", 1: "context", 2: "event"}
KINDS = {0: "pageable", 1: "pinned", 2: "device", 3: "array", 4: "managed", 5: "static", 6: "static"}
UNITS = {"Throughput %": "%", "MHz": "Hz"}


class Database:
    """An export, read by sqlite3. Tables and columns that it lacks are empty."""

    def __init__(self, path):
        self.path = path
        self.connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        self.connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")

    def rows(self, table):
        if not self.connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            return []
        cursor = self.connection.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        return [defaultdict(lambda: None, zip(names, row)) for row in cursor]

    def has_column(self, table, column):
        return column in [row[1] for row in self.connection.execute(f"PRAGMA table_info({table})")]

    def devices(self):
        """The GPU for a process and the number that it has for it."""
        gpus = {(row["pid"], row["cudaId"]): row["gpuId"] for row in self.rows("TARGET_INFO_CUDA_DEVICE")}
        return lambda row: gpus.get((pid(row["globalPid"]), row["deviceId"]), row["deviceId"])


@pytest.fixture(scope="module")
def plain(tmp_path_factory, unpacked):
    folder = tmp_path_factory.mktemp("plain")

    def path_of(sample):
        if sample.suffix != ".xz":
            return unpacked(sample)
        path = folder / sample.stem
        if not path.exists():
            path.write_bytes(lzma.decompress(sample.read_bytes()))
        return path

    return path_of


@pytest.fixture(params=EXPORTS, ids=lambda path: path and path.name.split(".")[0], scope="module")
def export(request, plain):
    return Database(plain(request.param))


@pytest.fixture(scope="module")
def decoded(export, dump_rows):
    """All rows; two threads read the same as one."""
    one = dump_rows(export.path, threads=1)
    assert dump_rows(export.path, threads=2) == one
    return defaultdict(list, one)


def pid(global_id):
    return None if global_id is None else global_id >> 24 & 0xFFFFFF


def known(number):
    return None if number is None or number >= NONE else number


def unsigned(number):
    return None if number in (None, -1) else number & 0xFFFFFFFFFFFFFFFF


def process_of(decoded, row):
    return None if row["process"] is None else decoded["processes"][row["process"]]["pid"]


def test_kernel_configs(export, decoded):
    kernels = [(number, op) for number, op in enumerate(decoded["ops"]) if op["kind"] == "kernel"]
    rows = [row for row in export.rows("CUPTI_ACTIVITY_KIND_KERNEL") if row["end"] >= row["start"]]
    expected = [{
        "row": place, "external": None, "priority": None, "blocks_per_multiprocessor": None,
        "warps_per_multiprocessor": None, "occupancy_percent": None,
        "static_shared_bytes": row["staticSharedMemory"], "dynamic_shared_bytes": row["dynamicSharedMemory"],
        "shared_bytes": row["sharedMemoryExecuted"], "local_bytes": row["localMemoryPerThread"],
        **{f"{part}_{axis.lower()}": row[f"{part}{axis}"] for part in ("grid", "block", "cluster") for axis in "XYZ"},
        "registers": row["registersPerThread"], "op": number,
    } for place, (row, (number, _)) in enumerate(zip(rows, kernels, strict=True))]
    assert decoded["kernel_configs"] == expected
    assert [op["start_ns"] for _, op in kernels] == [row["start"] for row in rows]


def event_queries(export):
    """(process, correlation) of the calls that ask whether an event has happened."""
    names = {row["id"] for row in export.rows("StringIds")
             if row["value"].startswith(("cudaEventQuery", "cuEventQuery"))}
    return {(pid(row["globalTid"]), row["correlationId"]) for row in export.rows("CUPTI_ACTIVITY_KIND_RUNTIME")
            if row["nameId"] in names}


def sync_kind(row, is_old, queries):
    kind = recorded_kind(row, is_old)
    return "query" if kind == "event" and (pid(row["globalPid"]), row["correlationId"]) in queries else kind


def recorded_kind(row, is_old):
    number, waits = row["deprecatedSyncType"], known(row["eventId"]) is not None
    if number is None and not is_old:
        return ("stream_wait" if waits else "stream") if row["syncType"] == 2 else SYNCS.get(row["syncType"], "unknown")
    number = row["syncType"] if number is None else number
    return ("stream_wait" if waits else "stream") if number == 3 else OLD_SYNCS.get(number, "unknown")


def test_syncs(export, decoded):
    table, device = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", export.devices()
    queries = event_queries(export)
    is_old = not export.has_column(table, "deprecatedSyncType") and not export.has_column(table, "eventSyncId")
    expected = [{
        "start_ns": row["start"], "end_ns": row["end"], "correlation": row["correlationId"],
        "event": known(row["eventId"]), "record": known(row["eventSyncId"]), "wait_correlation": None,
        "device": device(row), "stream": known(row["streamId"]), "wait_stream": None, "process": pid(row["globalPid"]),
        "kind": sync_kind(row, is_old, queries),
    } for row in export.rows(table)]
    found = [{**row, "process": process_of(decoded, row)} for row in decoded["syncs"]]
    assert [row.pop("row") for row in found] == list(range(len(expected)))
    assert found == expected


def test_event_records(export, decoded):
    device = export.devices()
    expected = [{
        "correlation": row["correlationId"], "event": known(row["eventId"]), "record": known(row["eventSyncId"]),
        "device": device(row), "stream": known(row["streamId"]), "process": pid(row["globalPid"]),
    } for row in export.rows("CUPTI_ACTIVITY_KIND_CUDA_EVENT")]
    found = [{**row, "process": process_of(decoded, row)} for row in decoded["event_records"]]
    assert [row.pop("row") for row in found] == list(range(len(expected)))
    assert found == expected


def memory_events(export):
    device = export.devices()
    for row in export.rows("CUDA_GPU_MEMORY_USAGE_EVENTS"):
        is_freed = row["memoryOperationType"] == 1
        yield {
            "time_ns": row["start"] or None, "bytes": -row["bytes"] if is_freed else row["bytes"],
            "address": unsigned(row["address"]), "correlation": row["correlationId"],
            "pool": unsigned(row["localMemoryPoolAddress"]), "pool_bytes": row["localMemoryPoolSize"],
            "pool_used_bytes": row["localMemoryPoolUtilizedSize"],
            "pool_kept_bytes": unsigned(row["localMemoryPoolReleaseThreshold"]), "device": device(row),
            "stream": known(row["streamId"]), "name": row["name"] or "", "process": pid(row["globalPid"]),
            "kind": KINDS.get(row["memKind"], "unknown"), "operation": "free" if is_freed else "allocate",
        }


def test_memory(export, decoded):
    expected = [{**row, "thread": None, "allocated_bytes": None, "reserved_bytes": None, "source": "driver"}
                for row in memory_events(export)]
    found = [{**row, "process": process_of(decoded, row)} for row in decoded["memory_events"]]
    assert [row.pop("row") for row in found] == list(range(len(expected)))
    assert found == expected


def metric_series(export):
    """(GPU, name, unit) -> [(time, value)]."""
    names = {(row["typeId"], row["metricId"]): row["metricName"] for row in export.rows("TARGET_INFO_GPU_METRICS")}
    sizes = {(row["typeId"], row["fieldIdx"]): row["size"] for row in export.rows("GENERIC_EVENT_TYPE_FIELDS")
             if row["type"] == 1}
    series = defaultdict(list)
    for row in export.rows("GPU_METRICS"):
        key = row["typeId"], row["metricId"]
        name, _, unit = names[key].removesuffix("]").partition(" [")
        value = row["value"] + 256 ** sizes[key] if row["value"] < 0 else row["value"]
        series[row["typeId"] & 0xFF, name, UNITS.get(unit, unit)].append((row["timestamp"], value))
    return series


def test_metrics(export, decoded):
    options = {row["name"]: row["value"] for row in export.rows("META_DATA_CAPTURE")}
    found, times = {}, decoded["counters"]
    for run in decoded["counter_runs"]:
        track = decoded["counter_tracks"][run["track"]]
        if track["kind"] != "sampled":
            continue
        assert track["process"] is None
        assert track["period_ns"] == 10**9 // int(options["GPU_METRICS_OPTIONS:SAMPLING_FREQUENCY"])
        key = track["device"], track["name"], track["unit"]
        assert key not in found
        found[key] = [(row["time_ns"], row["value"]) for row in times[run["first"]:run["first"] + run["values"]]]
    assert found == metric_series(export)


def test_devices(export, decoded):
    gpus = {row["id"]: row for row in export.rows("TARGET_INFO_GPU")}
    for device in decoded["devices"]:
        row = gpus.get(device["id"], defaultdict(lambda: None))
        expected = {
            "name": row["name"] or "", "uuid": row["uuid"] or "", "memory_bytes": row["totalMemory"],
            "multiprocessors": row["smCount"], "bandwidth": row["memoryBandwidth"], "clock_hz": row["clockRate"],
            "l2_bytes": row["l2CacheSize"], "compute_major": row["computeMajor"],
            "compute_minor": row["computeMinor"], "max_warps": row["maxWarpsPerSm"],
            "max_blocks": row["maxBlocksPerSm"], "max_registers": row["maxRegistersPerSm"],
            "max_shared_bytes": row["maxShmemPerSm"],
        }
        assert {key: device[key] for key in expected} == {key: value or ("" if key in ("name", "uuid") else 0)
                                                          for key, value in expected.items()}


def environment_ranks(export):
    keys = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
    for row in export.rows("StringIds"):
        entries = dict(part.split("=", 1) for part in row["value"].split("\0") if "=" in part)
        if "\0" in row["value"] and "PATH" in entries:
            yield from [(int(entries[key]), key) for key in keys if key in entries][:1]


def test_host_and_ranks(export, decoded):
    hosts = [row["value"] for row in export.rows("TARGET_INFO_SYSTEM_ENV") if row["name"] == "Hostname"]
    assert decoded["meta"][0]["host"] == (hosts or [""])[0]
    users = {decoded["lanes"][op["lane"]]["process"] for op in decoded["ops"]}
    mpi = {pid(row["globalTid"]): row["rank"] for row in export.rows("MPI_RANKS")}
    environment = set(environment_ranks(export))
    for number, process in enumerate(decoded["processes"]):
        if process["pid"] in mpi:
            assert (process["rank"], process["rank_source"]) == (mpi[process["pid"]], "mpi")
        elif users == {number} and len(environment) == 1:
            assert (process["rank"], process["rank_source"]) == next(iter(environment))
        elif not environment:
            assert (process["rank"], process["rank_source"]) == (None, "unknown")


def test_facts_that_are_not_asked_for(export, decoded, dump_rows):
    """Rows of ops are the same, whatever else is read, and nothing else is looked at."""
    unasked = ("calls", "ranges", "overheads", "syncs", "source_columns")
    alone = dump_rows(export.path, "ops", "meta", *unasked, facts="ops")
    assert [{**row, "correlation": None} for row in decoded["ops"]] == alone["ops"]
    assert not any(alone[table] for table in unasked)
    meta, small = alone["meta"][0], 0
    for (table,) in export.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        if table in ("StringIds", "ThreadNames", "PROCESSES", "META_DATA_EXPORT", "ANALYSIS_DETAILS", "MPI_RANKS",
                     "DIAGNOSTIC_EVENT") or table.startswith(("TARGET_INFO_", "CUPTI_ACTIVITY_KIND_KERNEL",
                                                              "CUPTI_ACTIVITY_KIND_MEM", "CUPTI_ACTIVITY_KIND_GRAPH")):
            small += export.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    assert 0 < meta["read_rows"] <= small
    assert 0 < meta["read_bytes"] <= decoded["meta"][0]["read_bytes"]


# ---- what NCCL attaches to its ranges ----


def reference_decoder():
    spec = importlib.util.spec_from_file_location("nsysrep_dump", shared_path("tools/nsysrep_dump.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=RANKS, ids=lambda path: path and path.stem, scope="module")
def payloads(request, tmp_path_factory):
    """An export with the payloads of its report, as `nsys export --include-blobs=true` writes them; and these."""
    path = tmp_path_factory.mktemp("payloads") / request.param.name
    shutil.copyfile(request.param, path)
    report = request.param.with_suffix(".nsys-rep")
    module = reference_decoder()
    columns = module.COLUMNS["NVTX_PAYLOADS"]
    rows = [dict(zip(columns, row)) for row in module.decode(str(report))[1]["NVTX_PAYLOADS"]]
    with sqlite3.connect(path) as database:
        for row in rows:
            content = bytes.fromhex(row["bytes"])
            blob = struct.pack("<4Q", row["domainId"], row["schemaId"], len(content), 32) + content
            changed = database.execute("UPDATE NVTX_EVENTS SET binaryData = ? WHERE start = ? AND globalTid = ? AND "
                                       "domainId = ? AND eventType = 59", (blob, row["start"], row["globalTid"],
                                                                           row["domainId"]))
            assert changed.rowcount == 1
    database.close()
    return path, report, rows


def comms_of(rows):
    """What is known about collectives, with the start of the range that carries it."""
    for comm in rows["comms"]:
        group = rows["comm_groups"][comm["group"]]
        assert (comm["op"], comm["cpu_op"]) == (None, None)
        yield {**comm, "start": rows["ranges"][comm["range"]]["start_ns"], "communicator": group["communicator"],
               "size": group["size"], "range": None, "group": None, "row": None}


def test_payloads(payloads, dump_rows):
    path, _, written = payloads
    tables = ("comms", "comm_groups", "ranges", "issues")
    rows = dump_rows(path, *tables, facts="comms")
    assert dump_rows(path, *tables, facts="comms", threads=2) == rows
    assert "payload_unreadable" not in {row["id"] for row in rows["issues"]}
    expected = []
    for row in written:
        fields = dict(part.split("=") for part in row["payload"].split("; "))
        expected.append((row["start"], int(fields["NCCL communicator ID"]) % 2**64, int(fields["Message size [bytes]"]),
                         fields.get("Reduction operation", ""), fields.get("Root"), fields.get("Peer rank")))
    found = [(one["start"], one["communicator"], one["in_bytes"], one["reduction"],
              *(None if one[key] is None else str(one[key]) for key in ("root", "peer"))) for one in comms_of(rows)]
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert len(found) > 100


def test_payloads_as_in_the_report(payloads, dump_rows):
    path, report, _ = payloads
    tables = ("comms", "comm_groups", "ranges")
    export, native = (dump_rows(one, *tables, facts="comms") for one in (path, report))
    if not any(group["communicator"] for group in native["comm_groups"]):
        pytest.skip("the reader of reports does not read communicators")
    assert sorted(comms_of(export), key=str) == sorted(comms_of(native), key=str)


def test_default_exports_have_no_payloads(export, decoded):
    assert not decoded["comms"]


def test_redaction_drops_what_is_private(export, gputime, dump_rows, tmp_path):
    """Names of machines, numbers of GPUs, environments and names of variables."""
    path = tmp_path / "redacted.sqlite"
    assert gputime("redact", "--output", path, export.path).returncode == 0
    rows = defaultdict(list, dump_rows(path))
    assert rows["meta"][0]["host"] == ""
    assert {device["uuid"] for device in rows["devices"]} <= {""}
    assert not rows["memory_events"] and not rows["counters"] and not rows["comms"]
    assert {process["rank"] for process in rows["processes"]} <= {None}
