"""What a trace holds: ops, launch calls, steps and code, and what their names say."""

import collections
import dataclasses
import functools
import re

COMM_WORDS = (
    "nccl rccl msccl uccl nvshmem rocshmem roc_shmem deep_ep deepep dpsk::ep:: hybrid_ep epdispatch epcombine moea2a "
    "a2a_dispatch a2a_combine pplx userbuffers symmetric_memory cross_device_reduce allreduce all_reduce allgather "
    "all_gather reducescatter reduce_scatter alltoall all_to_all"
).split()
CLASSES = ("compute", "comm", "memory")
SYNC_CALL = re.compile(r"(cuda|cu|hip)(Device|Stream|Event|Ctx)Synchronize")
BLOCKING_COPY = re.compile(r"(cuda|cu|hip)Mem(cpy|set)(?!.*Async)")
CALL_SUFFIX = re.compile(r"(_v\d+|_ptsz|_ptds)+$")
NSIGHT_SUFFIX = re.compile(r"(_v\d{4,}|_ptsz|_ptds)+$")  # a short version is the driver's own: cuMemcpyDtoH_v2


@dataclasses.dataclass(slots=True)
class Call:
    row: int
    name: str
    start: int
    end: int
    pid: object
    tid: object
    correlation: object

    @property
    def plain_name(self):
        return NSIGHT_SUFFIX.sub("", self.name)

    @property
    def launches_by_name(self):
        return "Launch" in self.name and "HostFunc" not in self.name

    @property
    def blocks_host(self):
        name = CALL_SUFFIX.sub("", self.name)
        return bool(SYNC_CALL.fullmatch(name) or BLOCKING_COPY.match(name))


@dataclasses.dataclass(slots=True)
class Op:
    row: int
    kind: str
    name: str
    start: int
    end: int
    device: int
    stream: int
    correlation: object
    bytes: object
    call: object = None
    step: object = None

    @property
    def ns(self):
        return self.end - self.start

    @property
    def time_class(self):
        if self.kind in ("memcpy", "memset"):
            return "memory"
        return "comm" if self.kind == "kernel" and is_communication(self.name) else "compute"


@dataclasses.dataclass(slots=True)
class Step:
    number: int
    start: int
    end: int
    pid: object


@dataclasses.dataclass(slots=True)
class Code:
    """An operator or annotation on a CPU thread."""

    start: int
    end: int
    pid: object
    tid: object
    name: str = ""
    is_annotation: bool = False


@dataclasses.dataclass
class Trace:
    ops: list
    calls: list
    steps: list
    code: list
    issues: collections.Counter
    origin: int  # start of the first op; 0 without ops
    base: int
    events: int
    covers: dict = dataclasses.field(default_factory=dict)  # by kind and thread: when it was inside something of the kind


@functools.lru_cache(maxsize=None)
def is_communication(name):
    name = name.lower()
    return not name.startswith("triton_") and any(word in name for word in COMM_WORDS)
