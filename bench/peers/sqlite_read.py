"""Reads the kernels of an Nsight export with Python's sqlite3: sqlite_read.py rows|group|names|ranges FILE.

rows: every kernel as a tuple, as scripts do; group: one SQL statement that sums them by name; names: the same grouped by the
name itself; ranges: kernel time by the innermost NVTX range around the launch, with indexes for the joins.
"""
import sqlite3
import sys

how, path = sys.argv[1:]
database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
if how == "rows":
    count = total = 0
    for start, end, *_ in database.execute(
            "SELECT start, end, deviceId, streamId, correlationId, globalPid, demangledName, shortName, graphNodeId,"
            " graphId FROM CUPTI_ACTIVITY_KIND_KERNEL"):
        count += 1
        total += end - start
elif how == "names":
    groups = database.execute(
        "SELECT value, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL"
        " JOIN StringIds ON StringIds.id = demangledName GROUP BY value").fetchall()
    count, total = (sum(group[i] for group in groups) for i in (1, 2))
elif how == "ranges":
    database.executescript("""
        PRAGMA temp_store=MEMORY;
        CREATE TEMP TABLE range AS SELECT globalTid, start, end, coalesce(text, value) AS name FROM NVTX_EVENTS
            LEFT JOIN StringIds ON StringIds.id = textId WHERE eventType = 59;
        CREATE INDEX range_start ON range(globalTid, start DESC, end, name);
        CREATE TEMP TABLE call AS SELECT correlationId, globalTid / 0x1000000 * 0x1000000 AS pid, globalTid, start, end
            FROM CUPTI_ACTIVITY_KIND_RUNTIME;
        CREATE INDEX call_id ON call(correlationId, pid);""")
    groups = database.execute(
        "SELECT (SELECT name FROM range WHERE range.globalTid = call.globalTid AND range.start <= call.start"
        " AND range.end >= call.end ORDER BY range.start DESC LIMIT 1) AS name, count(*), sum(k.end - k.start)"
        " FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN call ON call.correlationId = k.correlationId AND call.pid = k.globalPid"
        " GROUP BY name").fetchall()
    count, total = (sum(group[i] for group in groups) for i in (1, 2))
else:
    groups = database.execute(
        "SELECT value, count(*), sum(end - start), min(end - start), max(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL"
        " JOIN StringIds ON StringIds.id = demangledName GROUP BY demangledName").fetchall()
    count, total = (sum(group[i] for group in groups) for i in (1, 2))
print(f"kernels {count} kernel_ns {total}")
