"""Advice names the tools of whoever made the device: by its name, the label of its process, or its calls."""

import json
import re

import pytest

OF_NVIDIA = re.compile(r"CUDA|Nsight|nvidia|torch\.cuda|reduce-overhead")


def trace(path, label=None, device=None, call="launch", category="kernel", calls="runtime"):
    """Five kernels, each launched when the one before has ended: host-bound, and one kernel takes all the time."""
    events = [{"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": label}}] if label else []
    for i in range(5):
        events += [{"ph": "X", "cat": calls, "name": call, "pid": 100, "tid": 100, "ts": 100 * i, "dur": 5,
                    "args": {"correlation": i + 1}},
                   {"ph": "X", "cat": category, "name": "gemm_kernel", "pid": 0, "tid": 3, "ts": 100 * i + 10, "dur": 50,
                    "args": {"device": 0, "stream": 3, "correlation": i + 1}}]
    document = {"schemaVersion": 1, "traceEvents": events}
    if device:
        document["deviceProperties"] = [{"id": 0, "name": device}]
    path.write_text(json.dumps(document))
    return path


VENDORS = {
    "NVIDIA": ({"device": "NVIDIA H200"}, "Nsight Compute", "CUDA graphs"),
    "nothing said": ({}, "Nsight Compute", "CUDA graphs"),
    "AMD": ({"device": "AMD Instinct MI300X"}, "rocprofv3", "HIP graphs"),
    "Intel": ({"device": "Intel(R) Data Center GPU Max 1550", "label": "XPU 0"}, "VTune", "SYCL graphs"),
    "Intel by label": ({"label": "XPU 0"}, "VTune", "SYCL graphs"),
    "Intel by calls": ({"call": "urEnqueueKernelLaunch"}, "VTune", "SYCL graphs"),
    "Gaudi": ({"label": "HPU 0", "category": "hpu_op"}, "Gaudi's profiler", "HPU graphs"),
    "Gaudi of Intel": ({"device": "Intel Gaudi 3"}, "Gaudi's profiler", "HPU graphs"),
    "Ascend": ({"label": "NPU 0", "category": "npu_kernel"}, "msprof", "TorchAir"),
    "Ascend by calls": ({"call": "aclrtLaunchKernel"}, "msprof", "TorchAir"),
    "MTIA": ({"label": "MTIA 0", "category": "mtia_ccp_events"}, "the vendor's kernel profiler", "torch.compile"),
    "MTIA by category": ({"category": "mtia_kernel"}, "the vendor's kernel profiler", "torch.compile"),
    "MUSA": ({"label": "MUSA 0", "calls": "musa_runtime"}, "the vendor's kernel profiler", "torch.compile"),
}


@pytest.mark.parametrize("vendor", VENDORS)
def test_advice_fits_the_vendor(gputime, tmp_path, vendor):
    given, profiler, graphs = VENDORS[vendor]
    done = gputime("findings", trace(tmp_path / "trace.json", **given), "--json")
    findings = {finding["id"]: " ".join(finding["advice"]) for finding in json.loads(done.stdout)["findings"]}
    assert profiler in findings["dominant_kernel"] and graphs in findings["host_bound"]
    if vendor != "AMD":  # PyTorch calls its devices cuda, too
        assert bool(OF_NVIDIA.search(" ".join(findings.values()))) == (profiler == "Nsight Compute")


@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_label_names_a_device_that_nothing_describes(gputime, tmp_path, threads):
    def names(path):
        report = json.loads(gputime("sql", "select name from devices", path, "--threads", threads, "--json").stdout)
        return [row["name"] for table in report["tables"].values() for row in table["rows"]]

    assert names(trace(tmp_path / "a.json", label="XPU 0")) == ["XPU"]
    assert names(trace(tmp_path / "b.json", label="XPU 0", device="Intel Arc")) == ["Intel Arc"]
    assert names(trace(tmp_path / "c.json", label="GPU 0")) == [""]
