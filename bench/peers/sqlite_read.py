"""Reads the kernels of an Nsight export with Python's sqlite3: sqlite_read.py rows|group FILE.

rows: every kernel as a tuple, as scripts do; group: one SQL statement that sums them by name.
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
else:
    groups = database.execute(
        "SELECT value, count(*), sum(end - start), min(end - start), max(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL"
        " JOIN StringIds ON StringIds.id = demangledName GROUP BY demangledName").fetchall()
    count, total = (sum(group[i] for group in groups) for i in (1, 2))
print(f"kernels {count} kernel_ns {total}")
