"""Logs of NCCL Inspector, made up: several ranks, communicators and kinds of collectives, plain and verbose, as the plugin
writes them (one JSON object in a line), with the truth about who came last."""

import json
import random

FORMAT = "v4.0"
BASE_US = 1752867229000000


def factor(name, ranks):
    """(algorithm, bus) bytes for each byte that the log gives."""
    whole = ranks if name in ("AllGather", "ReduceScatter") else 1
    bus = {"AllReduce": 2 * (ranks - 1) / ranks, "AllGather": (ranks - 1) / ranks,
           "ReduceScatter": (ranks - 1) / ranks}.get(name, 1)
    return whole, whole * bus


def record(communicator, rank, size, name, number, count_bytes, micros, *, nodes=1, host="node0", pid=100, peer=None,
           at_us=BASE_US, verbose=False, timing="kernel_gpu", comm_name=None):
    """One object, keys in the plugin's order."""
    header = {"id": f"0x{communicator:x}"}
    if comm_name is not None:
        header["comm_name"] = comm_name
    header |= {"rank": rank, "n_ranks": size, "nnodes": nodes}
    whole, bus = factor(name, size)
    seconds = micros / 1e6
    rate = [round(count_bytes * part / 1e9 / seconds, 6) if seconds else "nan" for part in (whole, bus)]
    kind = "coll" if peer is None else "p2p"
    perf = {kind: name, f"{kind}_sn": number}
    if peer is not None:
        perf["p2p_peer"] = peer
    perf |= {f"{kind}_msg_size_bytes": count_bytes, f"{kind}_exec_time_us": micros, f"{kind}_timing_source": timing,
             f"{kind}_algobw_gbs": rate[0], f"{kind}_busbw_gbs": rate[1]}
    if verbose:
        start = at_us - micros - 100
        perf["event_trace_sn"] = {f"{kind}_start_sn": 1, f"{kind}_stop_sn": 2, "kernel_events": [
            {"channel_id": 0, "kernel_start_sn": 3, "kernel_stop_sn": 48, "kernel_record_sn": 47}]}
        perf["event_trace_ts"] = {f"{kind}_start_ts": start, f"{kind}_stop_ts": start + 5, "kernel_events": [
            {"channel_id": 0, "kernel_start_ts": start + 20, "kernel_stop_ts": start + 20 + micros,
             "kernel_record_ts": start + 20 + micros}]}
    return {"header": header,
            "metadata": {"inspector_output_format_version": FORMAT, "git_rev": "", "rec_mechanism":
                         "nccl_profiler_interface", "dump_timestamp_us": at_us, "hostname": host, "pid": pid},
            f"{kind}_perf": perf}


def line(entry):
    return json.dumps(entry, separators=(",", ":")) + "\n"


def job(seed=1, ranks=4, steps=6, verbose=False, late=None, slow_pair=None):
    """{rank: [records]} of a job of two layers of communicators: all ranks, and pairs (0,1), (2,3) ...; messages go from
    each rank to the next. `late` comes last in collectives of all ranks; the pair `slow_pair` has a slow link."""
    rng = random.Random(seed)
    logs = {rank: [] for rank in range(ranks)}
    now = BASE_US
    for step in range(steps):
        now += 100000
        for index, (name, size) in enumerate((("AllReduce", 1 << 24), ("AllGather", 1 << 20), ("ReduceScatter", 1 << 20))):
            transfer = 400 + 10 * index + rng.randrange(5)
            last = late if late is not None else rng.randrange(ranks)
            for rank in range(ranks):
                wait = 0 if rank == last else 50 + rng.randrange(100)
                logs[rank].append(record(0xabc0ffee1234, rank, ranks, name, step, size, transfer + wait, nodes=2,
                                         host=f"node{rank // 2}", pid=1000 + rank, at_us=now + 1000 * index,
                                         verbose=verbose, comm_name="default_pg"))
        for rank in range(ranks):
            pair = rank // 2
            transfer = (900 if pair == slow_pair else 300) + rng.randrange(3)
            logs[rank].append(record(0x5000 + pair, rank % 2, 2, "AllReduce", step, 1 << 22, transfer + 7 * (rank % 2),
                                     host=f"node{pair}", pid=1000 + rank, at_us=now + 5000, verbose=verbose,
                                     comm_name=f"tp_{pair}"))
            for name, peer in (("Send", (rank + 1) % ranks), ("Recv", (rank - 1) % ranks)):
                logs[rank].append(record(0xabc0ffee1234, rank, ranks, name, step, 1 << 16, 20 + rng.randrange(4), nodes=2,
                                         host=f"node{pair}", pid=1000 + rank, peer=peer, at_us=now + 6000,
                                         verbose=verbose, comm_name="default_pg"))
    return logs


def write(directory, logs, suffix=".log"):
    """One file for each rank, named as the plugin names them."""
    directory.mkdir(exist_ok=True, parents=True)
    paths = []
    for rank, records in logs.items():
        meta = records[0]["metadata"]
        path = directory / f"{meta['hostname']}-pid{meta['pid']}{suffix}"
        path.write_text("".join(map(line, records)))
        paths.append(path)
    return paths
