"""What the oracle says of a trace against the JSON report of it, every number to the ns. Needs no pytest."""

import collections
import math

import oracle


# Columns every report has, by table; the oracle may know more and compares those where the report has them.
COLUMNS = {
    "accounting": "device span_ns busy_ns idle_ns compute_ns comm_ns memory_ns exposed_comm_ns exposed_memory_ns "
                  "overlap_ns",
    "accounting_summary": "measure span_ns busy_ns idle_ns",
    "kernels": "name count total_ns avg_ns min_ns median_ns max_ns stddev_ns p90_ns share",
    "categories": "category count total_ns wall_ns share",
    "streams": "device pid stream count busy_ns gap_count gap_ns",
    "gaps": "device start_ns end_ns gap_ns cause queued_ns",
    "stream_gaps": "device stream start_ns end_ns gap_ns",
    "idle_causes": "device cause count total_ns recoverable_ns",
    "idle_causes_all": "cause count total_ns recoverable_ns share",
    "operators": "name calls ops total_ns avg_ns share",
    "idle_host": "device activity count total_ns longest_ns share",
    "idle_work": "device name count total_ns longest_ns stddev_ns share",
    "histogram": "from_ns to_ns count",
    "launches": "name count total_ns queued queue_p50_ns queue_p90_ns queue_max_ns",
    "kernel_launches": "name count queued queue_p50_ns queue_p90_ns queue_max_ns queue_ns",
    "steps": "step device start_ns end_ns ops busy_ns compute_ns exposed_comm_ns exposed_memory_ns idle_ns",
    "memory": "name count total_ns bytes",
    "processes": "pid ops total_ns",
    "transitions": "from to count total_ns avg_ns min_ns max_ns stddev_ns",
}
KEYS = {
    "accounting": ("device",),
    "accounting_summary": ("measure",),
    "kernels": ("name",),
    "categories": ("time_class",),
    "streams": ("device", "stream"),
    "gaps": ("device", "start_ns"),
    "stream_gaps": ("device", "stream", "start_ns"),
    "idle_causes": ("device", "cause"),
    "idle_causes_all": ("cause",),
    "operators": ("name",),
    "idle_host": ("device", "activity"),
    "idle_work": ("device", "name"),
    "launches": ("name",),
    "kernel_launches": ("name",),
    "steps": ("step", "pid", "cpu_start_ns", "device"),
    "memory": ("name",),
    "processes": ("pid",),
    "transitions": ("from", "to"),
}
COMMANDS = {
    "summary": [],
    "kernels": ["kernels", "--gaps", "--launches"],
    "gaps": ["gaps"],
    "device gaps": ["gaps", "--per", "device"],
    "steps": ["steps"],
    "ranges": ["ranges"],
}
# Tables that the command is about: all rows must be there. Others may show the first ones only.
OWN_TABLES = {
    "summary": {"accounting", "categories", "idle_causes", "streams", "processes"},
    "kernels": {"kernels", "launches"},
    "gaps": {"stream_gaps", "streams", "transitions", "histogram", "gaps", "idle_causes", "idle_host",
             "idle_work"},
    "device gaps": {"gaps", "idle_causes", "idle_host", "idle_work"},
    "steps": {"steps"},
    "ranges": {"operators"},
}
# The single numbers that each command gives.
FACTS = {
    "summary": [oracle.facts],
    "kernels": [oracle.kernel_facts, oracle.stream_gap_facts],
    "gaps": [oracle.stream_gap_facts],
    "device gaps": [],
    "steps": [],
    "ranges": [],
}
# What tables are ordered by, largest first.
ORDERS = {"gaps": "gap_ns", "stream_gaps": "gap_ns", "memory": "total_ns", "transitions": "avg_ns",
          "idle_work": "total_ns"}
KERNEL_ORDERS = {"summary": "total_ns", "kernels": "count"}
LEAST_ROWS = 10  # that a table which does not show all must have
INTEGERS = {"count", "total_ns", "min_ns", "max_ns", "queued", "queue_max_ns", "ops", "bytes", "device", "stream",
            "step", "pid", "gap_count", "kernels", "kernel_names", "kernel_launches", "memory_ops", "devices", "streams",
            "processes", "steps", "launch_calls"}
REALS = ("avg", "median", "stddev", "p50", "p9", "queue_p", "recoverable")  # means and quantiles, and what is made of them


def is_integer_column(key):
    key = key.removeprefix("stream_gap_")
    return key in INTEGERS or (key.endswith("_ns") and not key.startswith(REALS))


def same_value(table, key, expected, actual):
    if expected is None or isinstance(expected, str) or actual is None:
        return expected == actual
    if is_integer_column(key) and table != "accounting_summary":
        return type(actual) is int and actual == expected
    return type(actual) in (int, float) and math.isclose(actual, expected, rel_tol=1e-12, abs_tol=1e-12)


def sortable(row, keys):
    return [(row[key] is not None, row[key]) if row[key] is not None else (False, 0) for key in keys]


def compare_rows(table, expected, content, order, is_own):
    """Every row and every number of it. What does not fit a side table are the last rows of the order, not others."""
    rows, keys = content["rows"], KEYS[table]
    total = content.get("total_rows", len(rows))
    assert total == len(expected), f"{table}: {total} rows instead of {len(expected)}"
    assert len(rows) == total or (not is_own and order and len(rows) >= LEAST_ROWS), f"{table}: only {len(rows)} rows"
    known = {repr(sortable(row, keys)): row for row in expected}
    assert len({repr(sortable(row, keys)) for row in rows}) == len(rows), f"{table}: a row occurs twice"
    for got in rows:
        want = known.get(repr(sortable(got, keys)))
        assert want is not None, f"{table}: a row that should not be there: {got}"
        for key, value in want.items():
            assert same_value(table, key, value, got[key]), (
                f"{table}: {key} is {got[key]!r} instead of {value!r}\n report: {got}\n oracle: {want}")
    if order:
        best = sorted((row[order] for row in expected), reverse=True)[:len(rows)]
        assert all(same_value(table, order, want, got[order]) for want, got in zip(best, rows)), \
            f"{table}: not the first rows by {order}: {[row[order] for row in rows]}"


def compare_histogram(expected, rows):
    """Bin by bin: the edges of equal bins need not be whole numbers."""
    assert len(rows) == len(expected), f"histogram: {len(rows)} bins instead of {len(expected)}"
    for want, got in zip(expected, rows):
        for key, value in want.items():
            is_same = same_value("histogram", key, value, got[key]) if key in ("count", "total_ns") else \
                math.isclose(got[key], value, rel_tol=1e-12, abs_tol=1e-12)
            assert is_same, f"histogram: {key} is {got[key]!r} instead of {value!r}\n report: {got}\n oracle: {want}"


def compare_report(command, report, view):
    """Compares the tables and facts of a JSON report."""
    for table, content in report["tables"].items():
        if table not in COLUMNS:
            continue
        columns = [column["key"] for column in content["columns"]]
        missing = set(COLUMNS[table].split()) - set(columns)
        assert not missing, f"{table}: columns {missing} are missing"
        for row in content["rows"]:
            assert set(row) == set(columns), f"{table}: a row has the columns {list(row)}"
        if table == "histogram":
            compare_histogram(oracle.histogram(view), content["rows"])
            continue
        expected = oracle.TABLES[table](view)
        if table == "categories":
            content = {"rows": by_time_class(content["rows"])}
        order = KERNEL_ORDERS[command] if table == "kernels" else ORDERS.get(table)
        compare_rows(table, expected, content, order, table in OWN_TABLES[command])
    assert OWN_TABLES[command] <= set(report["tables"])
    for facts in FACTS[command] if view.ops else ():
        for key, value in facts(view).items():
            assert same_value("", key, value, report["facts"][key]), (key, value, report["facts"][key])
    check_laws(report, view)


def by_time_class(rows):
    """The oracle does not know the rules: their categories must sum up to the kinds of time."""
    assert len({row["category"] for row in rows}) == len(rows)
    sums = {}
    for row in rows:
        total = sums.setdefault(row["time_class"], {"time_class": row["time_class"], "count": 0, "total_ns": 0,
                                                    "wall_ns": 0, "share": 0})
        for key in ("count", "total_ns", "wall_ns", "share"):
            total[key] += row[key]
    return list(sums.values())


def check_laws(report, view):
    tables = report["tables"]
    for row in tables.get("accounting", {"rows": []})["rows"]:
        parts = row["compute_ns"] + row["exposed_comm_ns"] + row["exposed_memory_ns"] + row["idle_ns"]
        assert parts == row["span_ns"]
        assert row["busy_ns"] <= row["span_ns"]
    check_idle_laws(tables, view)
    calls = {call.name for call in view.trace.calls} - {op.name for op in view.trace.ops}
    for row in tables.get("kernels", {"rows": []})["rows"]:
        assert row["name"] not in calls, "a runtime call is no kernel"
    for content in tables.values():
        for column in content["columns"]:
            if column["unit"] == "share":
                assert all(row[column["key"]] is None or 0 <= row[column["key"]] <= 1 + 1e-12 for row in content["rows"])


def check_idle_laws(tables, view):
    """Causes and single gaps both sum to the idle time of each device, to the ns, and to the same savings."""
    if "idle_causes" not in tables:
        return
    idle = {row["device"]: row["idle_ns"] for row in oracle.accounting(view) if row["idle_ns"]}
    causes, gaps = tables["idle_causes"]["rows"], tables["gaps"]["rows"]
    assert sums_by_device(causes, "total_ns") == idle
    if len(gaps) < tables["gaps"].get("total_rows", 0):
        return
    assert sums_by_device(gaps, "gap_ns") == idle
    assert sum(row["recoverable_ns"] for row in causes) == sum(row["recoverable_ns"] for row in gaps)
    assert sum(row["count"] for row in causes) == len(gaps) + sum(row["queued_ns"] > 0 for row in gaps)
    for row in gaps:
        assert 0 <= row["queued_ns"] < row["gap_ns"]
        if row["queued_ns"]:
            assert (row["cause"] == "dependency") == (2 * row["queued_ns"] > row["gap_ns"])


def sums_by_device(rows, column):
    sums = collections.Counter()
    for row in rows:
        sums[row["device"]] += row[column]
    return dict(sums)


def check_input(report, trace):
    [entry] = report["inputs"]
    assert entry["format"] == "torch-json"
    assert entry["ops"] == len(trace.ops)
    assert entry["origin_ns"] == str(trace.origin)
    assert entry["base_ns"] == (str(trace.base) if trace.base else None)
    issues = {issue["id"]: issue["count"] for issue in report["issues"]}
    for key in ("op_negative_duration", "op_zero_length", "op_without_name", "op_without_time", "launch_ambiguous",
                "op_without_device", "call_negative_duration"):
        assert issues.get(key, 0) == trace.issues[key], key
    assert issues.get("op_overlap", 0) == oracle.overlaps(oracle.View(trace))
    if trace.calls:
        assert issues.get("op_without_call", 0) == trace.issues["op_without_call"]


def microseconds(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def selections(trace, pick):
    """Some selections that fit the trace: (arguments, what the oracle makes of them)."""
    if not trace.ops:
        return
    span = max(op.end for op in trace.ops) - trace.origin
    start = pick.randrange(0, span + 1)
    end = pick.randrange(start + 1, span + 3)
    yield ["--from", f"{start}ns", "--to", f"{end}ns"], oracle.Selection(from_ns=start, to_ns=end)
    yield ["--from", f"{start}ns"], oracle.Selection(from_ns=start)
    yield ["--to", f"{microseconds(end)}us"], oracle.Selection(to_ns=end)
    first, last = sorted(pick.sample(range(1001), 2))  # in tenths of a percent
    yield ["--from", f"{first / 10}%", "--to", f"{last / 10}%"], \
        oracle.Selection(from_ns=span * first // 1000, to_ns=span * last // 1000)
    op = pick.choice(trace.ops)
    yield ["--device", str(op.device)], oracle.Selection(devices={op.device})
    yield ["--stream", str(op.stream)], oracle.Selection(streams={op.stream})
    if op.call is not None and type(op.call.pid) is int:
        yield ["--process", str(op.call.pid)], oracle.Selection(processes={op.call.pid})
    classes = pick.sample(oracle.CLASSES, pick.choice([1, 2]))
    yield ["--category", ",".join(classes)], oracle.Selection(classes=set(classes))
    part = op.name[len(op.name) // 3:len(op.name) // 3 + 8]
    if part and not part.startswith("re:"):
        yield [f"--name={part.upper() if part.isascii() else part}"], oracle.Selection(name=part)
    for step in trace.steps[:1]:
        if any(op.step and op.step.number == step.number for op in trace.ops):
            yield ["--step", str(step.number)], oracle.Selection(steps={step.number})
            yield ["--step", str(step.number), "--from", f"{start}ns"], \
                oracle.Selection(steps={step.number}, from_ns=start)
