"""Makes a rocpd database of any size, as rocprofv3 lays it out: rocpdgen.py KERNELS OUT.db

Every kernel has its launch call, a call in twenty waits, a copy in a hundred; each has a row of events. The same number
gives the same rows."""

import pathlib
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/cli"))
import rocm_by_hand  # noqa: E402

NAMES = 300


def main():
    kernels, path = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-200000")
    data = rocm_by_hand.capture(1, steps=0)
    data["symbols"] = [{"id": i + 1, "name": f"void kernel_{i}<float, {i % 7}>(float*, int)", "lds": 0, "vgprs": 32, "scratch": 0}
                       for i in range(NAMES)]
    for key in ("calls", "markers", "allocations", "kernels", "copies", "values"):
        data[key] = []
    made = rocm_by_hand.Rocpd(db, data)
    words = ("HIP_RUNTIME_API_EXT", "KERNEL_DISPATCH", "MEMORY_COPY", "hipLaunchKernel", "hipDeviceSynchronize", "hipMemcpyAsync",
             "MEMORY_COPY_HOST_TO_DEVICE")
    call, dispatch, copy, launch, wait, move, way = (made.string(word) for word in words)
    made.rows = {"string": made.rows["string"][-len(words):]}
    made.flush()
    calls = [(i + 1, 1_000_000_000 + 9000 * i, move if i % 100 == 99 else wait if i % 20 == 19 else launch) for i in range(kernels)]
    suffix, pid = made.uuid, data["pid"]
    db.executemany(f'INSERT INTO "rocpd_event{suffix}" (id, category_id, stack_id, parent_stack_id, correlation_id) VALUES (?, ?, ?, 0, 0)',
                   ((i, call, i) for i, _, _ in calls))
    db.executemany(f'INSERT INTO "rocpd_region{suffix}" (id, nid, pid, tid, start, end, name_id, event_id) VALUES (?, 1, ?, ?, ?, ?, ?, ?)',
                   ((i, pid, pid, start, start + 3000 + i * 7 % 4000, name, i) for i, start, name in calls))
    ops = [(i, start, name) for i, start, name in calls if name != wait]
    db.executemany(f'INSERT INTO "rocpd_event{suffix}" (id, category_id, stack_id, parent_stack_id, correlation_id) VALUES (?, ?, ?, ?, 0)',
                   ((kernels + n + 1, copy if name == move else dispatch, i, i) for n, (i, _, name) in enumerate(ops)))
    db.executemany(
        f'INSERT INTO "rocpd_kernel_dispatch{suffix}" (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, '
        "end, private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, "
        "grid_size_z, region_name_id, event_id) VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 256, 1, 1, ?, 1, 1, 1, ?)",
        ((i, pid, pid, 2 + i % 2, 1 + i * 7919 % NAMES, i, 1 + i % 4, i % 3, start + 5000, start + 6000 + i * 31 % 6000, 256 * (1 + i % 999),
          kernels + n + 1) for n, (i, start, name) in enumerate(ops) if name == launch))
    db.executemany(
        f'INSERT INTO "rocpd_memory_copy{suffix}" (nid, pid, tid, start, end, name_id, dst_agent_id, src_agent_id, size, stream_id, event_id) '
        "VALUES (1, ?, ?, ?, ?, ?, 2, 0, ?, 1, ?)",
        ((pid, pid, start + 5000, start + 5900, way, 4096 + i, kernels + n + 1) for n, (i, start, name) in enumerate(ops) if name == move))
    db.commit()
    db.close()


main()
