"""Traces of training steps whose kernels are known, and what a comparison or check says of them."""

import random

GEMM_A, GEMM_B = "nvjet_tst_128x64_64x8_2x1_v_bz_TNT", "Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT96x160x64"


def event(category, name, start, length, tid, args, pid=100):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start / 1000, "dur": length / 1000,
            "args": args}


def training(kernels, steps=8, seed=1, jitter=0.01, gap_ns=2_000, device=0, first_step=3, wait_ns=0):
    """Steps in which the kernels run one after the other: name -> (launches in a step, length in ns). wait_ns: how long
    each waits for its data first."""
    pick = random.Random(seed)
    events, now, correlation = [], 1_000_000, 1
    for step in range(steps):
        begin = now
        if wait_ns:
            events.append(event("cpu_op", "enumerate(DataLoader)#_SingleProcess", begin, wait_ns, 100, {}))
            now += wait_ns
        for name, (launches, length) in kernels.items():
            for _ in range(launches):
                exact = max(1, round(length * (1 + pick.uniform(-jitter, jitter))))
                events.append(event("cuda_runtime", "cudaLaunchKernel", now, 1_000, 100, {"correlation": correlation}))
                events.append(event("kernel", name, now + gap_ns, exact, 7,
                                    {"device": device, "stream": 7, "correlation": correlation}, pid=device))
                now += gap_ns + exact
                correlation += 1
        now += 10_000
        events.append(event("user_annotation", f"ProfilerStep#{step + first_step}", begin - 500, now - begin, 100, {}))
    return {"schemaVersion": 1, "traceEvents": events}


USUAL = {
    "flash_fwd_kernel": (4, 50_000),
    GEMM_A: (6, 80_000),
    "vectorized_elementwise_kernel": (10, 5_000),
    "triton_poi_fused_add_3": (3, 9_000),
    "layer_norm_kernel": (5, 7_000),
    "softmax_warp_forward": (2, 12_000),
}


def rows_of(report, table):
    return {row.get("name", row.get("measure", row.get("category"))): row for row in report["tables"][table]["rows"]}


def words_of(report):
    return report["inputs"][0]["notes"]


def broken(report):
    return [row["limit"] for row in report["tables"]["limits"]["rows"] if row["verdict"] == "broken"]


def with_warm_up(document, length_ns=50_000_000):
    """A long step before the others."""
    late = [dict(row, ts=row["ts"] + length_ns / 1000 + 100) for row in document["traceEvents"]]
    launch = event("cuda_runtime", "cudaLaunchKernel", 10_000, 1_000, 100, {"correlation": 90_000})
    kernel = event("kernel", GEMM_A, 20_000, 80_000, 7, {"device": 0, "stream": 7, "correlation": 90_000}, pid=0)
    step = event("user_annotation", "ProfilerStep#2", 5_000, length_ns, 100, {})
    return dict(document, traceEvents=[launch, kernel, step, *late])
