"""Tables and traces for `gputime stats`, and what it says of them: words, facts, rows or one line of error.

Cases of tests/data/stats are tables with what an older tool printed for them (reference.txt).
"""

import json
import shutil

from conftest import DATA

CASES = DATA / "stats"
HEADER = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
REPORT_OF = {"kernel_sum": "cuda_gpu_kern_sum", "nvtx_proj_trace": "nvtx_gpu_proj_trace",
             "mem_time_sum": "cuda_gpu_mem_time_sum", "k": "cuda_gpu_kern_sum", "m": "cuda_gpu_mem_time_sum",
             "n": "nvtx_gpu_proj_trace"}


def words(text):
    """Lines as lists of words: white space does not count, nor do blank lines."""
    return [line.split() for line in text.splitlines() if line.split()]


def reference(case):
    return words((CASES / case / "reference.txt").read_text())


def one_capture(case, folder):
    """The tables of a case under names that make them one capture."""
    paths = []
    for path in sorted((CASES / case).glob("*.csv")):
        paths.append(folder / f"run_{REPORT_OF[path.stem]}.csv")
        shutil.copy(path, paths[-1])
    return paths


def table_of(folder, rows, name="run_cuda_gpu_kern_sum.csv"):
    """A table of kernels: rows of (name, total ns, instances)."""
    lines = [f'0.0,{total},{count},1,1,1,1,1,"{kernel}"\n' for kernel, total, count in rows]
    path = folder / name
    path.write_text(HEADER + "".join(lines))
    return path


def map_of(folder, classes):
    path = folder / "classes.json"
    path.write_text(json.dumps(classes))
    return path


def text_of(gputime, *args, **settings):
    done = gputime("stats", *args, **settings)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    return done.stdout.decode()


def error_of(gputime, *args, status=1, **settings):
    done = gputime("stats", *args, **settings)
    message = done.stderr.decode()
    assert done.returncode == status and done.stdout == b"", (done.returncode, message)
    assert message.startswith("gputime: ") and message.count("\n") == 1
    return message


def facts_of(gputime, *args):
    return gputime.json("stats", *args)["facts"]


def rows_of(gputime, table, *args):
    key = "class" if table == "class_stats" else "operation"
    return {row[key]: row for row in gputime.json("stats", *args)["tables"][table]["rows"]}


RANGES = ("Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration (ns),Style,PID,TID,NumGPUOps,Lvl,"
          "NumChild,RangeId,ParentId,RangeStack\n")


def ranges_of(folder, names):
    path = folder / "run_nvtx_gpu_proj_trace.csv"
    path.write_text(RANGES + "".join(f'"{name}",{i * 100},50,{i * 100},50,PushPop,1,1,3,0,0,{i},None,:{i}\n'
                                     for i, name in enumerate(names)))
    return path


def two_gpus(folder, kernel_us=(10, 30)):
    """Two steps; each launches a kernel on GPU 0 and one on GPU 1, at the same time."""
    events = []
    for step in range(2):
        at = 1000 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": "step", "ts": at, "dur": 100, "pid": 1, "tid": 1})
        for device, length in enumerate(kernel_us):
            number = step * 2 + device + 1
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 10 + device, "dur": 1,
                           "pid": 1, "tid": 1, "args": {"correlation": number}})
            events.append({"ph": "X", "cat": "kernel", "name": "gemm", "ts": at + 20, "dur": length, "pid": device,
                           "tid": 7, "args": {"correlation": number, "device": device, "stream": 7}})
    path = folder / "two.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def write_config(folder, files, arguments=None, classes=None, **others):
    path = folder / "config.json"
    entry = {"format": "csv", "title": "T", "nsys_csv_file_path": files, "analysis_args": arguments or {"num_of_iters": 2}}
    path.write_text(json.dumps({"inputs": [entry | others], "kernel_to_class_map": classes or {"gemm": "gemm"}}))
    return path
