"""Folders that explain wrote: made from captures or small databases, read back, and held against themselves."""

import csv
import gzip
import io
import json
import re
import sqlite3

from conftest import DATA
from range_model import global_id

CASES = DATA / "explain"
OWN_TABLES = {"categories": "category", "idle_causes": "cause", "phases": "phase"}  # and what their rows are called by
WHEN = "2026-01-02T03:04:05+00:00"


class Folder:
    """What explain wrote."""

    def __init__(self, path, stdout):
        self.path, self.stdout = path, stdout
        self.json = json.loads((path / "report.json").read_text(encoding="utf-8"))
        self.markdown = (path / "report.md").read_text(encoding="utf-8")
        self.metrics = self.json["metrics"]

    def csv(self, name):
        path = self.path / "tables" / f"{name}.csv"
        text = path.read_bytes().decode("utf-8") if path.exists() else ""
        assert not text or text.endswith("\r\n")
        return list(csv.DictReader(io.StringIO(text, newline="")))

    def table(self, key):
        return self.json["tables"][key]["rows"] if key in self.json["tables"] else []


def explain(gputime, trace, folder, *options):
    done = gputime("explain", trace, "--out", folder, "--generated-at", WHEN, *options)
    assert done.returncode == 0, done.stderr
    return Folder(folder, done.stdout.decode("utf-8"))


def unpack(case, tmp_path):
    path = tmp_path / "trace.sqlite"
    path.write_bytes(gzip.decompress((CASES / case / "trace.sqlite.gz").read_bytes()))
    return path


def database(path, kernels=(), calls=(), ranges=(), more=""):
    """kernels: (start, end, device, pid, correlation, name); calls: (start, end, pid, tid, correlation, name);
    ranges: (start, end, pid, tid, name)."""
    connection = sqlite3.connect(path)
    connection.executescript("""
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
            nameId INTEGER);
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
    """ + more)
    names = {}
    for text in [row[5] for row in kernels] + [row[5] for row in calls]:
        names.setdefault(text, len(names) + 1)
    connection.executemany("INSERT INTO StringIds VALUES (?, ?)", [(number, text) for text, number in names.items()])
    connection.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, 7, ?, ?, ?, ?)", [
        (start, end, device, correlation, global_id(pid), names[name], names[name])
        for start, end, device, pid, correlation, name in kernels])
    connection.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, ?)", [
        (start, end, global_id(pid, tid), correlation, names[name]) for start, end, pid, tid, correlation, name in calls])
    connection.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?)", [
        (start, end, name, global_id(pid, tid)) for start, end, pid, tid, name in ranges])
    connection.commit()
    connection.close()
    return path


LAUNCH = "cudaLaunchKernel_v7000"


def check_tables(markdown):
    """(title, header, rows of cells) of each table; all rows of one are as wide as its header."""
    tables, title, lines = [], "", []
    for line in markdown.splitlines() + [""]:
        if line.startswith("### "):
            title = line[4:]
        if line.startswith("|"):
            lines.append([cell.strip() for cell in re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]])
        elif lines:
            assert len({len(cells) for cells in lines}) == 1, title
            tables.append((title, lines[0], lines[2:]))
            lines = []
    return tables


SCALES = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "kB": 1e3, "MB": 1e6, "GB": 1e9, "B": 1}


def shown(cell):
    """The number in a cell and half a unit of its last digit; None for text. "<0.01" is on either side of 0."""
    text = cell.replace("\\", "").replace(",", "").strip()
    match = re.fullmatch(r"(<)?(-?\d+(?:\.(\d+))?)\s*(%|[a-zA-Z]*)", text)
    if not match or (match[4] and match[4] != "%" and match[4] not in SCALES):
        return None
    scale = 0.01 if match[4] == "%" else SCALES.get(match[4], 1)
    step = 10 ** -len(match[3] or "") * scale
    return (0, step) if match[1] else (float(match[2]) * scale, 0.51 * step)


def check_markdown_in_json(new):
    titles = {table["title"]: table for table in new.json["tables"].values()}
    seen = 0
    for title, header, rows in check_tables(new.markdown):
        table = titles[title.replace("\\", "")]
        columns = {column["title"]: column["key"] for column in table["columns"]}
        for number, cells in enumerate(rows):
            for head, cell in zip(header, cells):
                match = re.fullmatch(r"(.*?)(?: \((ns|us|ms|s|B|kB|MB|GB)\))?", head.replace("\\", ""))
                value = table["rows"][number][columns[match[1]]]
                found = shown(cell)
                if value is None:
                    assert cell in ("-", ""), (title, head, cell)
                elif not isinstance(value, str):
                    scale = SCALES[match[2]] if match[2] else 1
                    assert found and abs(found[0] * scale - value) <= found[1] * scale * 1.0001 + 1e-9, (title, head, cell, value)
                    seen += 1
    return seen


def check_csv_in_json(new):
    """The CSV tables are lists of the metrics, cell for cell."""
    lists = {
        "kernels": new.metrics["top_kernels"]["kernels"], "gpu_idle_gaps": new.metrics["gpu_idle"]["gaps"],
        "kernels_by_pid": new.metrics["by_pid"]["kernels"]["kernels"], "sync_by_pid": new.metrics["by_pid"]["sync"]["sync_calls"],
        "nvtx_by_pid": new.metrics["by_pid"]["nvtx"]["ranges"],
    }
    for name, rows in lists.items():
        found = new.csv(name)
        assert len(found) == len(rows), name
        for one, other in zip(found, rows):
            for key, text in one.items():
                value = other[key]
                if isinstance(value, str):  # control characters are not for spreadsheets, formulas are defused
                    same = "\ufffd" in text or text in (value, f"'{value}")
                else:
                    same = text == "" if value is None else float(text) == value
                assert same, (name, key, text, value)
    own = {(row["name"], row["domain"]): row for row in new.table("ranges")}
    assert len(own) == len(new.csv("nvtx_ranges"))
    totals = sorted((float(row["total_time_ms"]) for row in new.csv("nvtx_ranges")), reverse=True)
    assert totals == sorted((row["range_ns"] / 1e6 for row in own.values()), reverse=True)
