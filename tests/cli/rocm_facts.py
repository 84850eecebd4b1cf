"""An independent reader of what ROCm's profilers write, slow and plain: rocpd databases through SQLite and its joins, CSVs and
JSON through Python's own readers. read_*() give records, rows_of() says what rows of the event store they must become."""

import csv
import json
import math
import re
import sqlite3

NO = None
WAYS = {("CPU", "CPU"): "HtoH", ("CPU", "GPU"): "HtoD", ("GPU", "CPU"): "DtoH", ("GPU", "GPU"): "DtoD"}
COPIES = {"HtoH": "Memcpy HtoH (Host -> Host)", "HtoD": "Memcpy HtoD (Host -> Device)", "DtoH": "Memcpy DtoH (Device -> Host)",
          "DtoD": "Memcpy DtoD (Device -> Device)"}
NOTHING = {"roctxGetThreadId", "roctxRangePop", "roctxRangeStop", "roctxProfilerPause", "roctxProfilerResume"}


def way_of(text):
    found = re.search("(HOST|DEVICE)_TO_(HOST|DEVICE)", text)
    return None if not found else {"HOST": "H", "DEVICE": "D"}[found[1]] + "to" + {"HOST": "H", "DEVICE": "D"}[found[2]]


def domain_of(category):
    if re.match("HIP_(API|RUNTIME|COMPILER)|HSA_", category):
        return "call"
    if re.match("MARKER_CORE|MARKER_API$|ROCTX", category):
        return "marker"
    return "collective" if category.startswith("RCCL") else "other"


def plain(name):
    return name.removesuffix(" [clone .kd]").removesuffix(".kd")


# ---- rocpd ----


def read_rocpd(path, uuid):
    """The records of one process."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def all_of(name):
        return [dict(row) for row in db.execute(f'SELECT * FROM "rocpd_{name}{uuid}"')] if f"rocpd_{name}{uuid}" in tables else []

    def by_id(name):
        return {row["id"]: row for row in all_of(name)}

    strings = {row["id"]: row["string"] for row in all_of("string")}
    categories = {row["id"]: row["name"] for row in all_of("info_category")} or strings
    processes, threads, agents = by_id("info_process"), by_id("info_thread"), by_id("info_agent")
    symbols, tracks, events, times = by_id("info_kernel_symbol"), by_id("track"), by_id("event"), by_id("timestamp")

    def where(row):
        """With what its track says, and its times."""
        row = {**{key: value for key, value in tracks.get(row.get("track_id"), {}).items() if key not in ("id", "name_id")}, **row}
        for key in ("start", "end", "timestamp"):
            if f"{key}_id" in row:
                row[key] = times[row[f"{key}_id"]]["value"]
        event = events[row["event_id"]]
        return {**row, "pid": processes[row["pid"]]["pid"], "tid": threads[row["tid"]]["tid"], "corr": event["stack_id"],
                "category": categories[event["category_id"]], "data": json.loads(event["extdata"] or "{}")}

    def regions():
        for row in map(where, all_of("region")):
            yield row, row["start"], row["end"], strings[row["name_id"]]
        for row in map(where, all_of("sample")):
            if domain_of(row["category"]) == "marker":
                yield row, row["timestamp"], row["timestamp"], strings[row["name_id"]] if "name_id" in row else "roctxMarkA"

    dispatches = {row["event_id"]: where(row) for row in all_of("kernel_dispatch")}
    counters = {row["id"]: row["name"] for row in all_of("info_pmc")}
    args = {}
    for arg in sorted(all_of("arg"), key=lambda arg: arg["position"]):
        args.setdefault(arg["event_id"], []).append([arg["position"], arg["name"], arg["type"], arg["value"] or ""])
    gpu = {key: (agent["type"], agent["type_index"]) for key, agent in agents.items()}
    return {
        "kernels": [{"start": row["start"], "end": row["end"], "name": plain(symbols[row["kernel_id"]]["display_name"]),
                     "device": gpu[row["agent_id"]][1], "stream": row["stream_id"], "corr": row["corr"], "pid": row["pid"],
                     "grid": [row[f"grid_size_{axis}"] for axis in "xyz"], "group": [row[f"workgroup_size_{axis}"] for axis in "xyz"],
                     "lds": row["group_segment_size"], "static": symbols[row["kernel_id"]]["group_segment_size"],
                     "scratch": row["private_segment_size"], "vgprs": symbols[row["kernel_id"]]["arch_vgpr_count"],
                     "graph": row.get("graph_exec_id") or 0} for row in dispatches.values()],
        "copies": [{"start": row["start"], "end": row["end"], "way": way_of(strings[row["name_id"]]) or
                    WAYS[gpu[row["src_agent_id"]][0], gpu[row["dst_agent_id"]][0]], "bytes": row["size"],
                    "device": max((gpu[row[key]] for key in ("src_agent_id", "dst_agent_id")), key=lambda agent: agent[0])[1],
                    "stream": row["stream_id"], "corr": row["corr"], "pid": row["pid"]} for row in map(where, all_of("memory_copy"))],
        "regions": [{"start": start, "end": end, "name": row["data"].get("message", name), "function": name, "tid": row["tid"],
                     "domain": domain_of(row["category"]), "corr": row["corr"], "pid": row["pid"],
                     "args": args.get(row["event_id"], [])} for row, start, end, name in regions()],
        "allocations": [{"start": row["start"], "kind": row["type"], "bytes": row["size"], "address": row["address"],
                         "agent": gpu.get(row["agent_id"]), "corr": row["corr"], "pid": row["pid"], "tid": row["tid"]}
                        for row in map(where, all_of("memory_allocate"))],
        "values": [{"key": row["event_id"], "start": dispatches[row["event_id"]]["start"], "end": dispatches[row["event_id"]]["end"],
                    "device": gpu[dispatches[row["event_id"]]["agent_id"]][1], "name": counters[row["pmc_id"]], "value": row["value"]}
                   for row in all_of("pmc_event")],
    }


# ---- CSVs ----


def read_csvs(paths):
    found = {"kernels": [], "copies": [], "regions": [], "allocations": [], "values": []}
    files = {re.search("_([a-z]+_[a-z_]+)[.]csv", path.name)[1]: list(csv.DictReader(path.open(encoding="utf-8", newline="")))
             for path in paths}
    agents, gpus = {}, 0
    for row in files.get("agent_info", []):
        agents[f"Agent {row['Logical_Node_Id']}"] = agents[row["Node_Id"]] = (row["Agent_Type"], gpus)
        agents[f"{row['Agent_Type']} {gpus}"] = (row["Agent_Type"], gpus)
        gpus += row["Agent_Type"] == "GPU"
    pids = {int(row["Process_Id"]) for rows in files.values() for row in rows if "Process_Id" in row}
    pid = next(iter(pids)) if len(pids) == 1 else None

    def number(row, key):
        return int(row[key]) if row.get(key) else None

    for row in files.get("kernel_trace", []):
        found["kernels"].append({
            "start": number(row, "Start_Timestamp"), "end": number(row, "End_Timestamp"), "name": plain(row["Kernel_Name"]), "pid": pid,
            "device": agents[row["Agent_Id"]][1], "stream": number(row, "Stream_Id"), "corr": number(row, "Correlation_Id"),
            "grid": [number(row, f"Grid_Size_{axis}") for axis in "XYZ"], "group": [number(row, f"Workgroup_Size_{axis}") for axis in
            "XYZ"], "lds": number(row, "LDS_Block_Size"), "scratch": number(row, "Scratch_Size"), "vgprs": number(row, "VGPR_Count"),
            "graph": 0})
    for row in files.get("memory_copy_trace", []):
        ends = agents[row["Source_Agent_Id"]], agents[row["Destination_Agent_Id"]]
        found["copies"].append({"start": number(row, "Start_Timestamp"), "end": number(row, "End_Timestamp"), "way":
                                way_of(row["Direction"]), "device": max(ends)[1], "stream": number(row, "Stream_Id"), "pid": pid,
                                "corr": number(row, "Correlation_Id"), "bytes": None})
    for kind in ("hip_api_trace", "hsa_api_trace", "rccl_api_trace", "marker_api_trace"):
        for row in files.get(kind, []):
            found["regions"].append({"start": number(row, "Start_Timestamp"), "end": number(row, "End_Timestamp"), "name":
                                     row["Function"], "function": row["Function"], "domain": domain_of(row["Domain"]), "tid":
                                     number(row, "Thread_Id"), "corr": number(row, "Correlation_Id"), "pid": number(row, "Process_Id")})
    for row in files.get("memory_allocation_trace", []):
        found["allocations"].append({"start": number(row, "Start_Timestamp"), "kind": "FREE" if "FREE" in row["Operation"] else "ALLOC",
                                     "bytes": number(row, "Allocation_Size"), "address": int(row["Address"], 16), "tid": None, "pid": pid,
                                     "agent": agents.get(row["Agent_Id"]), "corr": number(row, "Correlation_Id")})
    for row in files.get("counter_collection", []):
        found["values"].append({"key": row["Dispatch_Id"], "start": number(row, "Start_Timestamp"), "end": number(row, "End_Timestamp"),
                                "device": agents[row["Agent_Id"]][1], "name": row["Counter_Name"], "value": float(row["Counter_Value"])})
    return found


# ---- JSON ----


def read_json(path):
    (data,) = json.loads(path.read_text("utf-8"))["rocprofiler-sdk-tool"]
    kinds = data["strings"]["buffer_records"]
    messages = {item["key"]: item["value"] for item in data["strings"]["marker_api"]}
    symbols = {item["kernel_id"]: item for item in data["kernel_symbols"]}
    agents = {item["id"]["handle"]: ("GPU" if item["type"] == 2 else "CPU", item["logical_node_type_id"]) for item in data["agents"]}
    counters = {item["id"]["handle"]: item["name"] for item in data["counters"]}
    records = data["buffer_records"]
    found = {"kernels": [], "copies": [], "regions": [], "allocations": [], "values": []}

    def common(record):
        return {"start": record["start_timestamp"], "end": record["end_timestamp"], "corr": record["correlation_id"]["internal"],
                "pid": data["metadata"]["pid"], "tid": record["thread_id"]}

    def operation(record):
        return kinds[record["kind"]]["operations"][record["operation"]]

    for record in records["kernel_dispatch"]:
        info, symbol = record["dispatch_info"], symbols[record["dispatch_info"]["kernel_id"]]
        found["kernels"].append({**common(record), "name": plain(symbol["formatted_kernel_name"]), "device":
                                 agents[info["agent_id"]["handle"]][1], "stream": record["stream_id"]["handle"], "grid":
                                 [info["grid_size"][axis] for axis in "xyz"], "group": [info["workgroup_size"][axis] for axis in "xyz"],
                                 "lds": info["group_segment_size"], "static": symbol["group_segment_size"], "scratch":
                                 info["private_segment_size"], "vgprs": symbol["arch_vgpr_count"], "graph": record["graph_exec_id"]})
    for record in records["memory_copy"]:
        ends = agents[record["src_agent_id"]["handle"]], agents[record["dst_agent_id"]["handle"]]
        found["copies"].append({**common(record), "way": way_of(operation(record)), "bytes": record["bytes"], "device": max(ends)[1],
                                "stream": record["stream_id"]["handle"]})
    for kind in ("hip_api", "hsa_api", "rccl_api", "marker_api"):
        for record in records[kind]:
            about = common(record)
            name = messages.get(about["corr"], operation(record)) if kind == "marker_api" else operation(record)
            found["regions"].append({**about, "name": name, "function": operation(record), "domain": domain_of(kinds[record["kind"]]["kind"])})
    for record in records["memory_allocation"]:
        is_free = "FREE" in operation(record)
        found["allocations"].append({**common(record), "kind": "FREE" if is_free else "ALLOC", "bytes": record["allocation_size"],
                                     "address": int(record["address"], 16), "agent": agents.get(record["agent_id"]["handle"])})
    for record in data["callback_records"]["counter_collection"]:
        info = record["dispatch_data"]["dispatch_info"]
        found["values"] += [{"key": info["dispatch_id"], "start": record["dispatch_data"]["start_timestamp"], "end":
                             record["dispatch_data"]["end_timestamp"], "device": agents[info["agent_id"]["handle"]][1], "name":
                             counters[value["counter_id"]["handle"]], "value": value["value"]} for value in record["records"]]
    return found


# ---- rows ----


def range_kind(region):
    if region["domain"] == "collective":
        return "nested"
    if region["function"].startswith("roctxMark"):
        return "mark"
    if region["function"].startswith(("roctxRangeStart", "roctxProcessRange")):
        return "start_end"
    return "mark" if region["start"] == region["end"] else "nested"


def memory_rows(allocations):
    """What is freed was allocated before, at the same address."""
    rows, live = [], {}
    for made in sorted((made for made in allocations if made["kind"] == "ALLOC" or made["address"]), key=lambda made: made["start"]):
        key = (made["pid"], made["address"])
        if made["kind"] == "ALLOC":
            live[key] = made
            kind, size, agent = "allocate", made["bytes"], made["agent"]
        else:
            of = live.pop(key, {"bytes": made["bytes"], "agent": made["agent"]})
            kind, size, agent = "free", -of["bytes"], of["agent"]
        is_host = agent is not None and agent[0] == "CPU"
        rows.append({"time_ns": made["start"], "bytes": size, "address": made["address"], "correlation": made["corr"], "process":
                     made["pid"], "device": None if is_host or agent is None else agent[1], "operation": kind,
                     "kind": "pinned" if is_host else "device"})
    return rows


def counter_rows(values):
    """A kernel's counter while it runs, and 0 after it until the next."""
    sums, rows = {}, []
    for value in values:
        key = (value["device"], value["name"], value["start"], value["end"], value["key"])
        sums[key] = sums.get(key, 0) + value["value"]
    tracks = {}
    for (device, name, start, end, _), amount in sums.items():
        tracks.setdefault((device, name), []).append((start, end, amount))
    for (device, name), states in tracks.items():
        states.sort()
        for i, (start, end, amount) in enumerate(states):
            following = states[i + 1][0] if i + 1 < len(states) else math.inf
            if following != start:
                rows.append({"track": (device, name), "time_ns": start, "value": amount})
            if following == math.inf or following > end > start:
                rows.append({"track": (device, name), "time_ns": end, "value": 0})
    return rows


def rows_of(found):
    rows = {"ops": [], "copies": [], "kernel_configs": [], "graph_ops": [], "calls": [], "ranges": [], "call_args": [],
            "memory_events": memory_rows(found["allocations"]), "counters": counter_rows(found["values"])}
    for kernel in found["kernels"]:
        rows["ops"].append({"start_ns": kernel["start"], "end_ns": kernel["end"], "name": kernel["name"], "kind": "kernel",
                            "correlation": kernel["corr"], "lane": (kernel["pid"], kernel["device"], kernel["stream"])})
        config = {"op": len(rows["ops"]) - 1, "registers": kernel["vgprs"], "shared_bytes": kernel["lds"], "local_bytes": kernel["scratch"],
                  "static_shared_bytes": kernel.get("static"),
                  "dynamic_shared_bytes": kernel["lds"] - kernel["static"] if "static" in kernel else None}
        for axis, items, size in zip("xyz", kernel["grid"], kernel["group"]):
            config.update({f"grid_{axis}": -(-items // size), f"block_{axis}": size})
        rows["kernel_configs"].append(config)
        if kernel["graph"]:
            rows["graph_ops"].append({"op": len(rows["ops"]) - 1, "graph": kernel["graph"]})
    for copy in found["copies"]:
        rows["ops"].append({"start_ns": copy["start"], "end_ns": copy["end"], "name": COPIES[copy["way"]], "kind": "memcpy",
                            "correlation": copy["corr"], "lane": (copy["pid"], copy["device"], copy["stream"])})
        if copy["bytes"] is not None:
            rows["copies"].append({"op": len(rows["ops"]) - 1, "bytes": copy["bytes"], "src": "device" if copy["way"][0] == "D" else
                                   "unknown", "dst": "device" if copy["way"][-1] == "D" else "unknown"})
    for region in found["regions"]:
        about = {"start_ns": region["start"], "end_ns": region["end"], "name": region["name"], "thread": (region["pid"], region["tid"])}
        of = None
        if region["domain"] == "call":
            rows["calls"].append({**about, "correlation": region["corr"]})
            of = {"call": len(rows["calls"]) - 1, "range": None}
        elif region["domain"] != "other" and not (region["name"] == region["function"] and region["function"] in NOTHING):
            rows["ranges"].append({**about, "kind": range_kind(region), "domain": "RCCL" if region["domain"] == "collective" else ""})
            of = {"call": None, "range": len(rows["ranges"]) - 1}
        for position, name, kind, value in region.get("args", []) if of else []:
            rows["call_args"].append({**of, "position": position, "name": name, "type": kind, "value": value})
    return rows
