"""What is asked for is read whatever else is not, in every format: the rows of each fact alone are those of all together."""

import pytest

from samples import DATA

SEEDS = DATA.parent / "fuzz/seeds"
FORMATS = [DATA / "nsys/extras.nsys-rep", DATA / "nsys/graph_whole.nsys-rep", SEEDS / "fuzz_nsys_rep/facts.nsys-rep",
           SEEDS / "fuzz_nsys_sqlite/facts.sqlite", SEEDS / "fuzz_pftrace/small.pftrace", SEEDS / "fuzz_pftrace/pytorch.pftrace",
           SEEDS / "fuzz_pftrace/rocprof.pftrace", DATA / "xla/jax.xplane.pb", DATA / "rocm/train.db", DATA / "rocm/train.json",
           DATA / "devices.json", SEEDS / "fuzz_torch_json/facts.json", DATA / "nccl/node0-pid1000.log"]
# A table that each fact brings, and the columns of it that depend on nothing else.
FACTS = {"ops": ("ops", "start_ns", "end_ns", "name"), "calls": ("calls", "start_ns", "end_ns", "name"),
         "ranges": ("ranges", "start_ns", "end_ns", "name"), "cpu_ops": ("cpu_ops", "start_ns", "end_ns", "name"),
         "overheads": ("overheads", "start_ns", "end_ns", "name"), "counters": ("counters", "time_ns", "value"),
         "syncs": ("syncs", "start_ns", "end_ns"), "configs": ("kernel_configs", "grid_x", "block_x"),
         "graphs": ("graph_ops", "graph"), "memory": ("memory_events", "time_ns", "bytes"),
         "stacks": ("python_calls", "start_ns", "end_ns", "name"), "comm_logs": ("comm_logs", "length_ns", "name")}


@pytest.fixture(scope="module")
def read_once(dump_rows):
    kept = {}

    def read(path):
        if path not in kept:
            kept[path] = dump_rows(path)
        return kept[path]

    return read


@pytest.mark.parametrize("fact", FACTS)
@pytest.mark.parametrize("path", FORMATS, ids=lambda path: path.name)
def test_each_fact_alone(path, fact, dump_rows, read_once):
    table, *columns = FACTS[fact]
    whole, alone = read_once(path), dump_rows(path, facts=fact)

    def found(rows):
        return sorted(tuple(str(row[column]) for column in columns) for row in rows[table])

    assert found(alone) == found(whole)
    assert not alone["issues"] or whole["issues"]


def test_each_fact_is_somewhere(read_once):
    there = {fact for fact, (table, *_) in FACTS.items() for path in FORMATS if read_once(path)[table]}
    assert there == set(FACTS)
