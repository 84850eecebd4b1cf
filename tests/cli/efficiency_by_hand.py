"""PyTorch traces of operators with arguments, written by hand: one operator, its kernels, one H200."""

import json

from kineto_by_hand import Trace

H200 = {"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0,
        "maxThreadsPerMultiprocessor": 2048, "warpSize": 32, "numSms": 132, "regsPerMultiprocessor": 65536,
        "sharedMemPerMultiprocessor": 233472}
BF16, HALF, FP8 = "c10::BFloat16", "c10::Half", "c10::Float8_e4m3fn"
BF16_FLOPS, TF32_FLOPS, FP8_FLOPS, FP32_FLOPS = 4096 * 132 * 1830e6, 2048 * 132 * 1830e6, 8192 * 132 * 1830e6, 256 * 132 * 1980e6
BANDWIDTH = 4.8e12


def arguments(values):
    """As the profiler writes them: a tensor is (dims, type) or (dims, type, strides), anything else a value."""
    dims, types, inputs, strides = [], [], [], []
    for value in values:
        is_tensor = isinstance(value, tuple)
        dims.append(list(value[0]) if is_tensor else value if isinstance(value, list) else [])
        types.append(value[1] if is_tensor else "TensorList" if isinstance(value, list)
                     else "" if value is None else "ScalarList" if str(value).startswith("[") else "Scalar")
        strides.append(list(value[2]) if is_tensor and len(value) > 2 else [1] * len(dims[-1]))
        inputs.append("" if is_tensor or value is None or isinstance(value, list) else str(value))
    return {"Input Dims": dims, "Input type": types, "Input Strides": strides, "Concrete Inputs": inputs}


class Operators(Trace):
    """Operators one after the other on one thread, each with its kernels."""

    def __init__(self, *gpus):
        super().__init__()
        self.gpus = gpus or (H200,)
        self.at = 100

    def operator(self, name, start, length, tid=1, **args):
        self.event("cpu_op", name, start, length, tid=tid, **args)

    def run(self, name, values, kernels=("kernel_a",), length=100, inside=(), **args):
        """An operator whose kernels each take `length`; inside: operators between it and its launches."""
        start = self.at
        self.operator(name, start, 50, **(arguments(values) if values is not None else {}), **args)
        for depth, (inner, inner_values, more) in enumerate(inside, 1):
            self.operator(inner, start + depth, 50 - 2 * depth,
                          **(arguments(inner_values) if inner_values is not None else {}), **more)
        at = start + 60
        for place, kernel in enumerate(kernels):
            at = self.op(at, length, kernel, launched=start + 20 + 2 * place, grid=[132, 1, 1], block=[256, 1, 1],
                         **{"registers per thread": 32, "shared memory": 0})
        self.at = at + 100
        return self

    def write(self, folder, name="trace.json"):
        path = folder / name
        path.write_text(json.dumps({"deviceProperties": list(self.gpus), "traceEvents": self.events}))
        return path

    def report(self, gputime, folder, *options):
        return gputime.json("efficiency", self.write(folder), "--no-cache", "--top", "0", *options)

    def tables(self, gputime, folder, *options):
        return {key: table["rows"] for key, table in self.report(gputime, folder, *options)["tables"].items()}
