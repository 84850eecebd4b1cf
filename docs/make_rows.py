#!/usr/bin/env python3
"""Prints docs/rows.md from lib/events/columns.def and facts.def: python3 docs/make_rows.py > docs/rows.md"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
INTRO = """# Rows: the events of a trace

Made by `python3 docs/make_rows.py > docs/rows.md` from [columns.def](../lib/events/columns.def) and
[facts.def](../lib/events/facts.def). A program reads rows with `gputime_trace_rows` ([api.md](api.md));
[longest_ops.c](examples/longest_ops.c) and [counters.c](examples/counters.c) show how.

* **Facts.** A trace has the rows of the facts that were asked for (`gputime_open_options.facts`, `gputime_trace_read`);
  other kinds are empty. A fact that cannot be used without others has them read too. `gputime_trace_describe` says which
  facts were read, which of these the trace has, and which its format can hold.
* **Times** are nanoseconds in the trace's clock. Subtract `gputime_trace_info.origin_ns`, the start of the first op, for
  the times that reports print; it is 0 where no ops were read. Add `base_ns` for nanoseconds since 1970, if it is not 0.
* **Null.** Values that the trace lacks: the largest of the type (*max*), the smallest (*min*), or any negative one (*< 0*).
  `gputime_rows_is_null` knows which. Fields without an entry always have a value.
* **References** (`-> threads`) are numbers of rows of that kind, from 0. `-> strings` is a string id: an empty string
  means that the trace has no text.
* **Labels.** The fields that join rows with others need the facts of both: `call` of an op the facts `calls` and
  `correlation`, its `range` and `step` also `ranges`.
* **Devices.** `lanes.device` is a row of `devices`. Every other field `device` is the GPU's number as the trace has it,
  `devices.id`. The device of an op is that of its lane.
* **Counters.** `counter_tracks` has what is counted: name, unit, period. `gputime_trace_counter_read` gives the values of
  a track. They are stored in two ways: each row of `counter_runs` has a track and its rows of `counters`, `values` of them
  from `first` on, sorted by time; hardware counters that are sampled together share their times, so a row of `sample_runs`
  has `values` rows of `sample_values` from `first` on and as many of `sample_times` from `times` on. A sample covers
  [time, time + period); a state lasts until the next.
* **Memory.** `memory_events.bytes` is negative where memory was freed. A null time means before the capture began.
* **Collectives.** `ops.collective` is the first of the collectives that were launched with the op. Those of a group call
  follow it and have the same `launch`. The field is there only if the fact `comms` was read.
"""

# Which fact gives the rows of a table; the others come with any fact.
GIVEN_BY = {
    "copies": "bytes", "driver_work": "overheads", "graph_ops": "graphs", "range_categories": "range_texts",
    "counter_runs": "counters", "counter_tracks": "counters", "sample_times": "counters", "sample_values": "counters",
    "sample_runs": "counters", "comm_groups": "comms", "event_records": "syncs",
    "operator_args": "arguments", "kernel_configs": "configs", "memory_events": "memory", "python_calls": "stacks",
    "projection_groups": "projections", "source_columns": "source", "steps": "ranges", "collectives": "comms",
    "collective_groups": "comms"}
TYPES = {"uint8_t": "u8", "uint16_t": "u16", "uint32_t": "u32", "uint64_t": "u64", "int64_t": "i64", "double": "f64",
         "gt_strid": "u32"}
NULLS = {"OR_MAX": "max", "OR_MIN": "min", "OR_NEGATIVE": "< 0", "PROCESS": "max", "THREAD": "max", "LANE": "max",
         "COMM_GROUP": "max"}
REFERRED = {"STRING": "strings", "PROCESS": "processes", "THREAD": "threads", "DEVICE": "devices", "LANE": "lanes",
            "COUNTER_TRACK": "counter_tracks", "COMM_GROUP": "comm_groups", "OP": "ops", "RANGE": "ranges",
            "CPU_OP": "cpu_ops", "CALL": "calls", "COUNTER": "counters", "SAMPLE_TIME": "sample_times", "SAMPLE": "sample_values"}
OPERATIONS = "|".join(["other"] + re.findall(r"^GT_COMM_OP\((\w+)", (ROOT / "lib/events/comm_ops.def").read_text(), re.M))


def field(key, kind, null="", refers="", choices="", comment=""):
    unit = "ns" if key.endswith("_ns") else "bytes" if key.endswith("bytes") else ""
    return {"key": key, "type": kind, "null": null, "refers": refers, "choices": choices, "unit": unit, "comment": comment}


def row_of(key, refers, comment):
    return field(key, "u32", "max", refers, "", comment)


# What lib/rows.c adds from the labels; a test compares it with the library.
LABELS = {
    "ops": [field("category", "u8", refers="categories"),
            row_of("call", "calls", "that launched it"),
            row_of("range", "ranges", "the innermost around its launch"),
            row_of("step", "steps", "that launched it"),
            row_of("collective", "collectives", "the first one launched with it; only with the fact `comms`")],
    "ranges": [row_of("parent", "ranges", "the tightest range around it"),
               field("level", "u32", comment="how many ranges are around it")],
    "memory_events": [row_of("call", "calls", "that made it"),
                      row_of("cpu_op", "cpu_ops", "the innermost around it"),
                      row_of("range", "ranges", "the innermost around it")],
    "groups": [field("category", "u8", refers="categories")],
}
RECORD_FIELDS = ["in_bytes", "out_bytes", "comms_id", "sequence", "src_rank", "dst_rank", "rank", "root", "peer", "name",
                 "dtype", "reduction", "in_splits", "out_splits"]


def label_tables(comms):
    """Kinds of rows that are labels as a whole: (key, comment, fields)."""
    records = {one["key"]: one for one in comms}
    yield "steps", "Steps of the program: ProfilerStep#N or iteration ranges on a CPU thread, sorted by start.", [
        field("start_ns", "i64"), field("end_ns", "i64"), field("number", "i64", comment="as the range's name has it"),
        row_of("process", "processes", ""), row_of("range", "ranges", "that marks the step")]
    yield "categories", "Categories of ops and of summed rows, by the rules that the trace was opened with.", [
        field("key", "text", comment="`gemm`"), field("title", "text", comment="`matrix products`"),
        field("time", "u8", choices="compute|communication|memory")]
    yield "collectives", "Collectives and messages, with what the records of kernel and CPU operator say together.", [
        field("operation", "u8", choices=OPERATIONS),
        field("launch", "u32", comment="number of the launch: those of one group call of NCCL have the same"),
        row_of("group", "collective_groups", "the ranks that take part"),
        row_of("record", "comms", "the record of its kernel or range, else of its CPU operator"),
        row_of("more", "comms", "the record of its CPU operator, if that is another"),
        *(records[key] for key in RECORD_FIELDS)]
    yield "collective_groups", "Groups of ranks that collectives use, each once, as far as the trace says who is in them.", [
        field("size", "i64", "< 0"),
        field("first_rank", "i64", "min", comment="members are first_rank + i * stride"), field("stride", "i64", "min"),
        field("communicator", "u64", "max", comment="NCCL's number, the same on all ranks"),
        field("name", "u32", refers="strings"), field("description", "u32", refers="strings"),
        field("ranks", "text", comment="members where they are a list: `0,1,4`; else empty")]


# ---- columns.def ----

def plain(comment):
    """Without names of the source code."""
    text = " ".join(line.strip() for line in comment.split("\n"))
    text = re.sub(r"(?:^|(?<=\. ))[^.]*(?:: enum gt_|: GT_OP_)[^.]*\.", "", text)
    text = re.sub(r"\bGT_NO_\w+|UINT64_MAX", "null", text)
    return re.sub(r"\s+", " ", text).strip()


def choices_of():
    body = (ROOT / "lib/events/store.c").read_text()
    return dict(re.findall(r"\[GT_REFERS_(\w+)\] = \"([^\"]+)\"", body))


def column(table, kind, key, refers, comment):
    null = "max" if table in ("comms", "call_args") and refers in ("OP", "CALL", "RANGE", "CPU_OP") else NULLS.get(refers, "")
    if refers == "OP_FLAGS":
        comment = "1: a node of a CUDA graph, launched with it"
    return field(key, TYPES[kind], null, REFERRED.get(refers, ""), choices_of().get(refers, ""), comment)


def columns_of(table, body):
    """A comment on a line of its own is about all columns after it."""
    shared = ""
    for line in body.split("\n"):
        found = re.match(r"\s*GT_COLUMN\(\w+, (\w+), (\w+), (\w+)\)\)?\s*(?:/\* (.*) \*/)?", line)
        alone = re.match(r"\s*/\* (.*?)\.? \*/$", line)
        if found:
            own = plain(found[4] or "")
            yield column(table, found[1], found[2], found[3], "; ".join(part for part in (own, shared) if part))
        elif alone:
            shared = alone[1][0].lower() + alone[1][1:]


def tables():
    text = (ROOT / "lib/events/columns.def").read_text()
    text = text[text.index("*/") + 2:]
    found = re.findall(r"(?:/\*((?:(?!\*/).)*)\*/\n)?GT_TABLE\((\w+),\n(.*?)(?=\n\n|\n?\Z)", text, re.DOTALL)
    comms = None
    for comment, table, body in found:
        fields = list(columns_of(table, body))
        comms = fields if table == "comms" else comms
        yield table, plain(comment), fields + LABELS.get(table, [])
    yield from label_tables(comms)


# ---- facts.def ----

def facts():
    """(key, meaning, keys of implied facts, whether it is read without being asked for)."""
    header = (ROOT / "include/gputime.h").read_text()
    meaning = dict(re.findall(r"GPUTIME_FACT_(\w+) = 1 << \d+, +/\* ([^;*]*)", header))
    listed = re.findall(r"^GT_FACT\((\w+), \d+, \"(\w+)\", \"[^\"]*\",\s*([^)]*)\)",
                        (ROOT / "lib/events/facts.def").read_text(), re.M)
    keys = {name: key for name, key, _ in listed}
    is_usual = True
    for name, key, implied in listed:
        is_usual &= name != "MEMORY"
        yield key, meaning[name].strip(), [keys[one] for one in re.findall(r"GT_FACT_(\w+)", implied)], is_usual


def given_by(table, keys):
    return GIVEN_BY.get(table, table if table in keys else None)


# ---- the page ----

def fact_lines(kinds):
    listed = list(facts())
    keys = [key for key, *_ in listed]
    yield "| fact | gives | rows | also read | without being asked for |\n|---|---|---|---|---|"
    for key, meaning, implied, is_usual in listed:
        own = ", ".join(f"[{table}](#{table})" for table in kinds if given_by(table, keys) == key)
        own = own or {"correlation": "`correlation` of ops and calls"}.get(key, "")
        yield f"| `{key}` | {meaning} | {own} | {', '.join(implied)} | {'yes' if is_usual else ''} |"


def meaning_of(one):
    parts = [one["unit"], f"-> {one['refers']}" if one["refers"] else "",
             ", ".join(f"{i} {word}" for i, word in enumerate(one["choices"].split("|"))) if one["choices"] else "",
             one["comment"]]
    return "; ".join(part for part in parts if part).replace("|", "\\|")


def page():
    kinds = {table: (comment, fields) for table, comment, fields in tables()}
    keys = [key for key, *_ in facts()]
    yield INTRO + "\n## Facts\n"
    yield from fact_lines(kinds)
    for table, (comment, fields) in kinds.items():
        fact = given_by(table, keys)
        yield f"\n## {table}\n"
        yield f"{comment} " * bool(comment) + (f"Fact: `{fact}`." if fact else "With any fact.") + "\n"
        yield "| field | type | null | meaning |\n|---|---|---|---|"
        for one in fields:
            yield f"| `{one['key']}` | {one['type']} | {one['null']} | {meaning_of(one)} |"


if __name__ == "__main__":
    print("\n".join(page()))
