"""Facts that are read from Nsight Systems reports on demand: every row is compared with NVIDIA's own export, read here by
sqlite3, and with the reference decoder of the samples where exports lack something (payloads, clusters)."""

import importlib.util
import lzma
import os
import sqlite3
from collections import Counter, defaultdict

import pytest
from samples import DATA, Capture, shared_path, with_shared

REPORTS = with_shared([], "data/h200/nsys/*/*.nsys-rep", "data/h200/efficiency/*.nsys-rep",
                      "data/h200/ranks/nsys/*.nsys-rep", name=lambda one: str(one), make=Capture)
NONE = 0xFFFFFFFF  # what exports write for no stream, event or recording
MEMORY_KINDS = {0: "pageable", 1: "pinned", 2: "device", 3: "array", 4: "managed", 5: "static", 6: "static"}
STATIC = (5, 6)
UNITS = {"Throughput %": "%", "MHz": "Hz"}


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    """Rows of an export as dicts, in the order of the file; none where it has no such table."""
    folder = tmp_path_factory.mktemp("exports")

    def rows_of(capture, table):
        path = capture.folder / f"{capture.name}.sqlite"
        if not path.exists():
            path = folder / path.name
        if not path.exists():
            path.write_bytes(lzma.decompress((capture.folder / f"{path.name}.xz").read_bytes()))
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        database.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        database.row_factory = sqlite3.Row
        known = database.execute("select 1 from sqlite_master where type = 'table' and name = ?", [table]).fetchone()
        rows = [dict(row) for row in database.execute(f"select * from {table}")] if known else []
        database.close()
        return rows

    return rows_of


@pytest.fixture(scope="module")
def decoded(dump_rows):
    """All rows of a report, read natively with every fact; kept for all tests of this file."""
    kept = {}

    def rows_of(capture):
        if capture.report not in kept:
            kept.clear()
            kept[capture.report] = defaultdict(list, dump_rows(capture.report, reader="native"))
        return kept[capture.report]

    return rows_of


@pytest.fixture(scope="module")
def reference():
    """Tables of a report, as the decoder that comes with the samples reads them: lists of dicts."""
    path = shared_path("tools/nsysrep_dump.py")
    spec = importlib.util.spec_from_file_location("nsysrep_dump", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kept = {}

    def rows_of(capture, table):
        if capture.report not in kept:
            kept.clear()
            kept[capture.report] = module.decode(str(capture.report))[1]
        return [dict(zip(module.COLUMNS[table], row)) for row in kept[capture.report][table]]

    return rows_of


def known(number):
    return None if number is None or number >= NONE else number


def pid_of(global_id):
    return global_id >> 24 & 0xFFFFFF


def pids(store):
    return {row["row"]: row["pid"] for row in store["processes"]}


def gpus(export, capture):
    """(pid, CUDA ordinal) -> GPU."""
    return {(row["pid"], row["cudaId"]): row["gpuId"] for row in export(capture, "TARGET_INFO_CUDA_DEVICE")}


def device_of(gpu_of, row):
    return gpu_of.get((pid_of(row["globalPid"]), row["deviceId"]), row["deviceId"])


def same_rows(mine, theirs):
    mine, theirs = Counter(mine), Counter(theirs)
    assert mine - theirs == Counter()
    assert theirs - mine == Counter()


CONFIG = {
    "gridX": "grid_x", "gridY": "grid_y", "gridZ": "grid_z", "blockX": "block_x", "blockY": "block_y",
    "blockZ": "block_z", "registersPerThread": "registers", "staticSharedMemory": "static_shared_bytes",
    "dynamicSharedMemory": "dynamic_shared_bytes", "sharedMemoryExecuted": "shared_bytes",
    "localMemoryPerThread": "local_bytes",
}
CLUSTER = {"clusterX": "cluster_x", "clusterY": "cluster_y", "clusterZ": "cluster_z"}


def configs(store, columns):
    for row in store["kernel_configs"]:
        op = store["ops"][row["op"]]
        yield (op["start_ns"], op["end_ns"], op["correlation"], *(row[name] for name in columns.values()))


def kernels(rows, columns):
    for row in rows:
        yield (row["start"], row["end"], row["correlationId"], *(row[name] for name in columns))


@pytest.mark.parametrize("capture", REPORTS, ids=str)
def test_launch_configurations(capture, decoded, export, reference):
    store = decoded(capture)
    same_rows(configs(store, CONFIG), kernels(export(capture, "CUPTI_ACTIVITY_KIND_KERNEL"), CONFIG))
    both = CONFIG | CLUSTER
    same_rows(configs(store, both), kernels(reference(capture, "CUPTI_ACTIVITY_KIND_KERNEL"), both))
    for row in store["kernel_configs"]:
        assert store["ops"][row["op"]]["kind"] == "kernel"
        assert [row[name] for name in ("external", "priority", "occupancy_percent")] == [None] * 3


def event_queries(export, capture):
    """(process, correlation) of the calls that ask whether an event has happened."""
    names = {row["id"] for row in export(capture, "StringIds")
             if row["value"].startswith(("cudaEventQuery", "cuEventQuery"))}
    return {(pid_of(row["globalTid"]), row["correlationId"]) for row in export(capture, "CUPTI_ACTIVITY_KIND_RUNTIME")
            if row["nameId"] in names}


def sync_kind(row, queries):
    """Up to 2025.6 stream synchronizations have the number of waits of streams, but no event."""
    has_event = known(row["eventId"]) is not None
    is_query = (pid_of(row["globalPid"]), row["correlationId"]) in queries
    return {1: "query" if is_query else "event", 2: "stream_wait" if has_event else "stream", 3: "stream",
            4: "context"}[row["syncType"]]


@pytest.mark.parametrize("capture", REPORTS, ids=str)
def test_synchronizations(capture, decoded, export):
    store, gpu_of = decoded(capture), gpus(export, capture)
    pid, queries = pids(store), event_queries(export, capture)
    same_rows(((row["start_ns"], row["end_ns"], row["correlation"], pid[row["process"]], row["device"], row["stream"],
                row["event"], row["record"], row["kind"].replace(" ", "_")) for row in store["syncs"]),
              ((row["start"], row["end"], row["correlationId"], pid_of(row["globalPid"]), device_of(gpu_of, row),
                known(row["streamId"]), known(row["eventId"]), known(row["eventSyncId"]), sync_kind(row, queries))
               for row in export(capture, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION")))
    same_rows(((row["correlation"], pid[row["process"]], row["device"], row["stream"], row["event"], row["record"])
               for row in store["event_records"]),
              ((row["correlationId"], pid_of(row["globalPid"]), device_of(gpu_of, row), known(row["streamId"]),
                known(row["eventId"]), known(row["eventSyncId"]))
               for row in export(capture, "CUPTI_ACTIVITY_KIND_CUDA_EVENT")))


def memory_rows(export, capture):
    gpu_of = gpus(export, capture)
    for row in export(capture, "CUDA_GPU_MEMORY_USAGE_EVENTS"):
        freed = row["memoryOperationType"] == 1
        yield row, (row["start"] or None, -row["bytes"] if freed else row["bytes"], row["address"],
                    row["correlationId"], pid_of(row["globalPid"]), device_of(gpu_of, row),
                    known(row.get("streamId")), row["name"] or "", MEMORY_KINDS[row["memKind"]],
                    "free" if freed else "allocate", row.get("localMemoryPoolAddress"),
                    row.get("localMemoryPoolSize"), row.get("localMemoryPoolUtilizedSize"),
                    row.get("localMemoryPoolReleaseThreshold"))


@pytest.mark.parametrize("capture", REPORTS, ids=str)
def test_memory(capture, decoded, export):
    store = decoded(capture)
    pid = pids(store)
    same_rows(((row["time_ns"], row["bytes"], row["address"], row["correlation"], pid[row["process"]], row["device"],
                row["stream"], row["name"], row["kind"], row["operation"], row["pool"], row["pool_bytes"],
                row["pool_used_bytes"], row["pool_kept_bytes"]) for row in store["memory_events"]),
              (expected for _, expected in memory_rows(export, capture)))
    assert {row["source"] for row in store["memory_events"]} <= {"driver"}


def values_of(store, kind):
    """{(name, unit, device, period, pid): [(time, value)]} of the counters of a kind."""
    pid, found = pids(store), {}
    for run in store["counter_runs"]:
        track = store["counter_tracks"][run["track"]]
        if track["kind"] == kind:
            key = (track["name"], track["unit"], track["device"], track["period_ns"], pid.get(track["process"]))
            values = store["counters"][run["first"]:run["first"] + run["values"]]
            found[key] = [(row["time_ns"], row["value"]) for row in values]
    for run in store["sample_runs"]:
        track = store["counter_tracks"][run["track"]]
        if track["kind"] == kind:
            key = (track["name"], track["unit"], track["device"], track["period_ns"], pid.get(track["process"]))
            times = store["sample_times"][run["times"]:run["times"] + run["values"]]
            values = store["sample_values"][run["first"]:run["first"] + run["values"]]
            found.setdefault(key, []).extend((a["time_ns"], b["value"]) for a, b in zip(times, values))
    return found


@pytest.mark.parametrize("capture", REPORTS, ids=str)
def test_memory_in_use(capture, decoded, export):
    """The sum of what was allocated, from what was there when the capture began."""
    changes, expected = defaultdict(list), {}
    for place, (row, (time_ns, change, _, correlation, pid, device, *_)) in enumerate(memory_rows(export, capture)):
        if row["memKind"] in (2, 3, 4):
            changes[pid, device].append((time_ns is not None, time_ns or 0, correlation, place, change))
    for (pid, device), rows in changes.items():
        states, total = {}, 0
        for _, time_ns, _, _, change in sorted(rows):
            total += change
            states[time_ns] = total
        expected["CUDA memory in use", "bytes", device, 0, pid] = sorted(states.items())
    assert values_of(decoded(capture), "state") == expected


def metric_names(name):
    words, bracket, unit = name.partition(" [")
    unit = unit.removesuffix("]")
    return (words, UNITS.get(unit, unit)) if bracket else (name, "")


@pytest.mark.parametrize("capture", REPORTS, ids=str)
def test_gpu_metrics(capture, decoded, export):
    """Exports give counters a sign that they do not have."""
    width = {(row["typeId"], row["fieldIdx"]): row["size"] for row in export(capture, "GENERIC_EVENT_TYPE_FIELDS")}
    names = {(row["typeId"], row["metricId"]): metric_names(row["metricName"])
             for row in export(capture, "TARGET_INFO_GPU_METRICS")}
    options = {row["name"]: row["value"] for row in export(capture, "META_DATA_CAPTURE")}
    period_ns = 10**9 // int(options.get("GPU_METRICS_OPTIONS:SAMPLING_FREQUENCY", 10**9))
    expected = defaultdict(list)
    for row in export(capture, "GPU_METRICS"):
        metric = row["typeId"], row["metricId"]
        value = row["value"] + (256 ** width[metric] if row["value"] < 0 else 0)
        expected[(*names[metric], row["typeId"] & 0xFF, period_ns, None)].append((row["timestamp"], value))
    assert values_of(decoded(capture), "sampled") == expected


GPU = {
    "id": "id", "name": "name", "uuid": "uuid", "totalMemory": "memory_bytes", "smCount": "multiprocessors",
    "memoryBandwidth": "bandwidth", "clockRate": "clock_hz", "l2CacheSize": "l2_bytes",
    "computeMajor": "compute_major", "computeMinor": "compute_minor", "maxWarpsPerSm": "max_warps",
    "maxBlocksPerSm": "max_blocks", "maxRegistersPerSm": "max_registers", "maxShmemPerSm": "max_shared_bytes",
}


@pytest.mark.parametrize("capture", REPORTS, ids=str)
def test_gpus_and_host(capture, decoded, export):
    store = decoded(capture)
    theirs = {row["id"]: row for row in export(capture, "TARGET_INFO_GPU")}
    assert store["devices"]
    for device in store["devices"]:
        assert {column: device[own] for column, own in GPU.items()} == {column: theirs[device["id"]][column]
                                                                        for column in GPU}
    hosts = [row["value"] for row in export(capture, "TARGET_INFO_SYSTEM_ENV") if row["name"] == "Hostname"]
    assert [store["meta"][0]["host"]] == hosts


@pytest.mark.parametrize("capture", REPORTS, ids=str)
def test_collectives(capture, decoded, reference):
    """Exports have no payloads unless they are asked for: the reference decoder reads them."""
    store = decoded(capture)
    groups = {row["row"]: row for row in store["comm_groups"]}
    mine = []
    for row in store["comms"]:
        place, group = store["ranges"][row["range"]], groups.get(row["group"], {})
        mine.append((place["start_ns"], place["end_ns"], place["name"], row["name"], group.get("communicator"),
                     row["in_bytes"], group.get("size"), row["rank"], row["root"], row["peer"], row["reduction"]))
    theirs = ((row["start"], row["end"], row["name"], row["name"], row["communicator"], row["bytes"], row["ranks"],
               row["rank"], row["root"], row["peer"], row["operation"] or "")
              for row in reference(capture, "NCCL_CALLS"))
    same_rows(mine, theirs)


RANK_KEYS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
SIZE_KEYS = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")


@pytest.mark.parametrize("capture", REPORTS, ids=str)
def test_ranks(capture, decoded, reference):
    """From the environment only where one process uses a GPU."""
    store = decoded(capture)
    users = {lane["process"] for lane in store["lanes"]}
    environments = defaultdict(dict)
    for row in reference(capture, "PROCESS_RANK"):
        environments[pid_of(row["globalPid"])].setdefault(row["name"], row["value"])
    for process in store["processes"]:
        environment = environments[process["pid"]] if users == {process["row"]} else {}
        source, rank = next(((key, int(environment[key])) for key in RANK_KEYS if key in environment), ("unknown", None))
        size = next((int(environment[key]) for key in SIZE_KEYS if key in environment), None)
        assert (process["rank"], process["world_size"], process["rank_source"]) == (rank, size, source)


@pytest.mark.parametrize("capture", REPORTS, ids=str)
def test_threads_change_nothing(capture, decoded, dump_rows):
    assert dump_rows(capture.report, reader="native", threads=3) == decoded(capture)


TABLES = {
    "ops": {"ops", "lanes"}, "calls": {"calls", "threads"}, "ranges": {"ranges", "threads"}, "bytes": set(),
    "overheads": {"overheads", "driver_work", "threads"}, "graphs": {"ops", "lanes", "graph_ops"},
    "range_texts": {"ranges", "threads", "range_categories", "range_texts"},
    "memory": {"memory_events", "calls", "threads", "ranges"},
    "counters": {"counter_tracks", "counter_runs", "counters", "sample_times", "sample_values", "sample_runs"},
    "syncs": {"calls", "threads", "syncs", "event_records"}, "configs": {"ops", "lanes", "kernel_configs"},
    "ops,bytes": {"ops", "lanes", "copies"},
}
VARIED = ("None", "extras", "rank0", "train", "zoo_10000")  # together they have rows in all tables


@pytest.mark.parametrize("facts", TABLES)
@pytest.mark.parametrize("capture", [one for one in REPORTS if str(one.values[0]) in VARIED], ids=str)
def test_what_nobody_asks_for_is_left_out(capture, facts, decoded, dump_rows):
    """Other tables are empty, and those that were asked for are whole."""
    whole, part = decoded(capture), dump_rows(capture.report, reader="native", facts=facts)
    given = set(part) - {"meta", "issues", "fact_issues", "processes", "devices"}
    assert given == {table for table in TABLES[facts] if whole[table]}
    for table in given - {"comms", "threads", "lanes"}:
        assert [without_tracks(row) for row in part[table]] == [without_tracks(row) for row in whole[table]]


def without_tracks(row):
    """Numbers of tracks, and of rows of tables that may be shorter, depend on what else is read."""
    return {key: value for key, value in row.items() if key not in ("thread", "end_thread", "lane", "process", "track")}


def test_sampled_counters_come_back_from_the_cache(gputime, tmp_path):
    """The runs of samples that share their times: the second time they are those of the cache's file."""
    path = tmp_path / "facts.nsys-rep"
    path.write_bytes((DATA.parent / "fuzz/seeds/fuzz_nsys_rep/facts.nsys-rep").read_bytes())
    os.utime(path, (1_600_000_000, 1_600_000_000))  # old enough to be kept
    query = ("sql", path, "SELECT name, count(*) AS number, sum(value) AS total, max(time_ns) AS last FROM counters GROUP BY name",
             "--cache-after", "0s")
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    first = gputime.json(*query, env=environment)["tables"]["rows"]["rows"]
    assert b"1 trace" in gputime("cache", "show", env=environment).stdout
    again = gputime.json(*query, env=environment)["tables"]["rows"]["rows"]
    assert again == first == gputime.json(*query, "--no-cache")["tables"]["rows"]["rows"]
    assert len(first) >= 3
