"""Metrics of network cards, switches and NVLink in Nsight Systems exports, and samples of CPU threads: databases made
here, compared with what sqlite3 reads."""

import random
import sqlite3
from collections import defaultdict

import pytest

# Columns as the documentation of the export's schema 3.28 has them; "" is no declared type.
TABLES = {
    "META_DATA_EXPORT": ("name", "value"),
    "TARGET_INFO_NETWORK_METRICS": ("metricsListId", "metricsIdx", "name", "description", "unit"),
    "TARGET_INFO_NIC_INFO": ("GUID", "stateName", "nicId", "name", "deviceId", "vendorId", "linkLayer"),
    "NIC_ID_MAP": ("nicId", "globalId"),
    "NET_NIC_METRIC": ("start", "end", "globalId", "portId", "metricsListId", "metricsIdx", "value"),
    "NET_IB_SWITCH_METRIC": ("start", "end", "globalId", "portId", "metricsListId", "metricsIdx", "value"),
    "COMPOSITE_EVENTS": ("id", "start", "cpu", "threadState", "globalTid", "cpuCycles"),
    "GPU_METRICS": ("rawTimestamp", "timestamp", "typeId", "metricId", "value"),
    "TARGET_INFO_GPU_METRICS": ("typeId", "sourceId", "typeName", "metricId", "metricName"),
}
METRICS = [(1, 0, "IB: Bytes sent", "", "Bytes/ms"), (1, 1, "IB: Bytes received", "", "Bytes/ms"),
           (1, 2, "IB: Send waits", "", ""), (2, 0, "RoCE: Bytes sent", "", "Bytes/ms")]
CARD = 1 << 56 | 7  # a global id, as the export serializes it


def make(path, rows, without=()):
    """An export with these rows by table; `without` are columns, as TABLE.column."""
    with sqlite3.connect(path) as database:
        for table, lines in {"META_DATA_EXPORT": [("EXPORT_PRODUCT_VERSION", "2026.4.1")], **rows}.items():
            kept = [i for i, name in enumerate(TABLES[table]) if f"{table}.{name}" not in without]
            database.execute(f"CREATE TABLE {table} ({', '.join(chr(34) + TABLES[table][i] + chr(34) for i in kept)})")
            database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(kept))})",
                                 [[line[i] for i in kept] for line in lines])
    database.close()
    return path


def number(value):
    return isinstance(value, int | float)


def known(number_of):
    """Ids are unsigned; the largest is none."""
    return isinstance(number_of, int) and number_of != -1


def read(path, table):
    with sqlite3.connect(path) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            return []
        cursor = database.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        return [defaultdict(lambda: None, zip(names, row)) for row in cursor]


def card_names(path):
    """By the global id of samples, the name of the card, and whether others have the same."""
    names, owners = {}, defaultdict(set)
    for card in read(path, "TARGET_INFO_NIC_INFO"):
        if isinstance(card["nicId"], int) and isinstance(card["name"], str) and card["name"]:
            names.setdefault(card["nicId"], card["name"])
            owners[names[card["nicId"]]].add(card["nicId"])
    cards = {}
    for pair in read(path, "NIC_ID_MAP"):
        if pair["nicId"] in names:
            name = names[pair["nicId"]]
            cards.setdefault(pair["globalId"], (name, len(owners[name]) > 1))
    return cards


def label(cards, row, what):
    """What a port is called."""
    name, is_shared = (cards if what == "NIC" else {}).get(row["globalId"], (None, False))
    text = name or what
    if known(row["globalId"]) and (not name or is_shared):
        text += f" 0x{row['globalId'] % 2**64:x}"
    return text + (f" port {row['portId']}" if known(row["portId"]) else "")


def expected_series(path):
    """({(name, port, unit): [(time, value)]}, how many samples cannot be read)."""
    metrics, series, unreadable = {}, defaultdict(list), 0
    cards = card_names(path)
    for row in read(path, "TARGET_INFO_NETWORK_METRICS"):
        if isinstance(row["metricsIdx"], int) and isinstance(row["name"], str) and row["name"]:
            unit = row["unit"] if isinstance(row["unit"], str) else ""
            metrics.setdefault((row["metricsListId"] or 0, row["metricsIdx"]), (row["name"], unit))
    for table, what in ("NET_NIC_METRIC", "NIC"), ("NET_IB_SWITCH_METRIC", "switch"):
        for row in read(path, table):
            list_id = row["metricsListId"] if isinstance(row["metricsListId"], int) else 0
            metric = metrics.get((list_id, row["metricsIdx"])) if isinstance(row["metricsIdx"], int) else None
            if metric and isinstance(row["start"], int) and number(row["value"]):
                series[metric[0], label(cards, row, what), metric[1]].append((row["start"], float(row["value"])))
            else:
                unreadable += 1
    return {key: sorted(values) for key, values in series.items()}, unreadable


def found_series(rows):
    series = {}
    for run in rows["counter_runs"]:
        track = rows["counter_tracks"][run["track"]]
        assert (track["kind"], track["process"], track["device"], track["period_ns"]) == ("sampled", None, None, 0)
        key = track["name"], track["series"], track["unit"]
        assert key not in series
        values = rows["counters"][run["first"]:run["first"] + run["values"]]
        series[key] = sorted((row["time_ns"], row["value"]) for row in values)
    return series


def check(path, dump_rows):
    """Any number of threads reads what sqlite3 reads; returns the series."""
    tables = "counter_runs", "counter_tracks", "counters", "issues"
    rows = dump_rows(path, *tables, facts="metrics")
    assert dump_rows(path, *tables, facts="metrics", threads=3) == rows
    series, unreadable = expected_series(path)
    assert found_series(rows) == series
    assert {row["id"]: row["count"] for row in rows["issues"]}.get("payload_unreadable", 0) == unreadable
    return series


def samples(count, *ports, metrics=METRICS):
    """Of each port (a global id and a number), so many of each metric."""
    values = random.Random(7)
    return [(time, time + 10**6, card, port, metric[0], metric[1], values.choice((0, 1, 2**40, 2**53, 1.5)))
            for time in range(0, count * 10**6, 10**6) for card, port in ports for metric in metrics]


def test_cards_and_switches(tmp_path, dump_rows):
    cards = [(1, "", 0, "mlx5_0", 1, 1, 1), (2, "", 1, "mlx5_1", 1, 1, 1), (3, "", 2, "eth0", 1, 1, 2)]
    path = make(tmp_path / "a.sqlite", {
        "TARGET_INFO_NETWORK_METRICS": METRICS, "TARGET_INFO_NIC_INFO": cards,
        "NIC_ID_MAP": [(0, CARD), (1, CARD + 1), (2, CARD + 2)],
        "NET_NIC_METRIC": samples(300, (CARD, 1), (CARD, 2), (CARD + 1, 1), (CARD + 2, 1)),
        "NET_IB_SWITCH_METRIC": samples(200, (CARD, 1), (CARD + 9, 40)),
    })
    series = check(path, dump_rows)
    assert len(series) == 6 * len(METRICS)
    assert len(series["IB: Bytes sent", "mlx5_0 port 2", "Bytes/ms"]) == 300
    assert ("IB: Bytes sent", f"switch 0x{CARD + 9:x} port 40", "Bytes/ms") in series
    assert not dump_rows(path, "counter_tracks", facts="ops")["counter_tracks"]


def test_cards_with_one_name(tmp_path, dump_rows):
    """Machines of one report call their cards the same; these stay apart, and a card that is listed twice is one."""
    path = make(tmp_path / "a.sqlite", {
        "TARGET_INFO_NETWORK_METRICS": METRICS,
        "TARGET_INFO_NIC_INFO": [(1, "", 0, "mlx5_0", 1, 1, 1), (2, "", 1, "mlx5_0", 1, 1, 1),
                                 (3, "", 5, "mlx5_9", 1, 1, 1), (3, "", 5, "mlx5_9", 1, 1, 1)],
        "NIC_ID_MAP": [(0, CARD), (1, -CARD), (5, 3), (5, 3), (8, 4)],
        "NET_NIC_METRIC": samples(20, (CARD, 1), (-CARD, 1), (3, 1), (4, 1)),
    })
    assert {key[1] for key in check(path, dump_rows)} == {
        f"mlx5_0 0x{CARD:x} port 1", f"mlx5_0 0x{2**64 - CARD:x} port 1", "mlx5_9 port 1", "NIC 0x4 port 1"}


@pytest.mark.parametrize("without", [
    ("NET_NIC_METRIC.portId",), ("NET_NIC_METRIC.globalId",), ("NET_NIC_METRIC.end",),
    ("NET_NIC_METRIC.globalId", "NET_NIC_METRIC.portId"), ("NET_NIC_METRIC.metricsIdx",),
    ("NET_NIC_METRIC.metricsListId", "TARGET_INFO_NETWORK_METRICS.metricsListId"),
    ("TARGET_INFO_NETWORK_METRICS.unit",), ("TARGET_INFO_NIC_INFO.GUID", "TARGET_INFO_NIC_INFO.linkLayer"),
], ids=" ".join)
def test_missing_columns(tmp_path, dump_rows, without):
    metrics = METRICS[:3]
    check(make(tmp_path / "a.sqlite", {
        "TARGET_INFO_NETWORK_METRICS": metrics, "TARGET_INFO_NIC_INFO": [(1, "", 0, "mlx5_0", 1, 1, 1)],
        "NIC_ID_MAP": [(0, CARD)], "NET_NIC_METRIC": samples(20, (CARD, 1), (CARD + 1, 2), metrics=metrics),
    }, without), dump_rows)


@pytest.mark.parametrize("table", ["TARGET_INFO_NETWORK_METRICS", "TARGET_INFO_NIC_INFO", "NIC_ID_MAP"])
def test_missing_tables(tmp_path, dump_rows, table):
    rows = {"TARGET_INFO_NETWORK_METRICS": METRICS, "TARGET_INFO_NIC_INFO": [(1, "", 0, "mlx5_0", 1, 1, 1)],
            "NIC_ID_MAP": [(0, CARD)], "NET_NIC_METRIC": samples(5, (CARD, 1))}
    del rows[table]
    check(make(tmp_path / "a.sqlite", rows), dump_rows)


def test_table_without_values(tmp_path, dump_rows):
    path = make(tmp_path / "a.sqlite", {"TARGET_INFO_NETWORK_METRICS": METRICS,
                                        "NET_NIC_METRIC": samples(5, (CARD, 1))}, ("NET_NIC_METRIC.value",))
    rows = dump_rows(path, "counters", "issues", facts="metrics")
    assert not rows["counters"]
    assert {row["id"]: row["count"] for row in rows["issues"]}["table_incomplete"] == 1


def test_wrong_types(tmp_path, dump_rows):
    """Names, numbers and values of any type, everywhere."""
    values = random.Random(3)
    odd = [None, "", "x", b"\0\xff", 1.5, -1, 0, 1, 2**63 - 1, -2**63]

    def spoil(rows):
        return [tuple(values.choice(odd) if values.random() < 0.15 else cell for cell in row) for row in rows]

    path = make(tmp_path / "a.sqlite", {
        "TARGET_INFO_NETWORK_METRICS": METRICS + [(1, 0, "again", "", ""), (3, None, "x", "", ""),
                                                  (3, 1, None, "", ""), (3, 2, 7, "", 8), (3, 3, "", "", "")],
        "TARGET_INFO_NIC_INFO": [(1, "", 0, "mlx5_0", 1, 1, 1), (1, "", "1", "x", 1, 1, 1), (1, "", 2, None, 1, 1, 1)],
        "NIC_ID_MAP": [(0, CARD), (None, 5), (2, 6), (0, CARD)],
        "NET_NIC_METRIC": spoil(samples(100, (CARD, 1), (6, 1))),
    })
    series = check(path, dump_rows)
    assert len(series) > 8 and any(value == 2**53 for line in series.values() for _, value in line)


def test_nvlink(tmp_path, dump_rows):
    """NVLink's are among the GPU metrics."""
    names = ["NVLink TX Responses User Data [Throughput %]", "NVLink RX Requests Protocol Data [Throughput %]"]
    lines = [(time, time, 256 + gpu, metric, time % 101) for time in range(0, 10**5, 100) for gpu in (0, 1)
             for metric in (0, 1)]
    path = make(tmp_path / "a.sqlite", {
        "TARGET_INFO_GPU_METRICS": [(256 + gpu, 0, "", i, name) for gpu in (0, 1) for i, name in enumerate(names)],
        "GPU_METRICS": lines})
    rows = dump_rows(path, "counter_runs", "counter_tracks", "counters", facts="metrics")
    found = {}
    for run in rows["counter_runs"]:
        track = rows["counter_tracks"][run["track"]]
        found[track["device"], track["name"], track["unit"]] = [
            (row["time_ns"], row["value"]) for row in rows["counters"][run["first"]:run["first"] + run["values"]]]
    assert found == {(gpu, names[metric].partition(" [")[0], "%"): [(row[1], row[4]) for row in lines
                                                                    if row[2:4] == (256 + gpu, metric)]
                     for gpu in (0, 1) for metric in (0, 1)}


def test_samples_are_counted(tmp_path, dump_rows):
    """Samples of CPU threads are not read, which is said to those who ask for stacks, and to nobody else."""
    path = make(tmp_path / "a.sqlite", {"COMPOSITE_EVENTS": [(i, i * 100, 0, 1, 5 << 24 | 5, 9) for i in range(7000)]})
    for threads in (1, 3):
        rows = dump_rows(path, "issues", "python_calls", facts="stacks", threads=threads)
        assert {row["id"]: row["count"] for row in rows["issues"]}["samples_not_read"] == 7000
        assert not rows["python_calls"]
    others = dump_rows(path, "issues", facts="ops,calls,metrics")
    assert "samples_not_read" not in {row["id"] for row in others["issues"]}
    empty = make(tmp_path / "b.sqlite", {"COMPOSITE_EVENTS": []})
    assert "samples_not_read" not in {row["id"] for row in dump_rows(empty, "issues", facts="stacks")["issues"]}
