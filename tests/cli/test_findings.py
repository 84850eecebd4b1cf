"""Findings: every rule fires where it should and stays silent where it should not; all outputs say the same; and what a
real inference is bound by is found."""

import csv
import gzip
import io
import json
import re
import sqlite3

import pytest

from samples import DATA, ROOT

DOUBTFUL = re.findall(r"^GT_RULE\((\w+),.*GT_NEEDS_WHOLE", (ROOT / "lib/measure/findings/findings.def").read_text(), re.MULTILINE)
RULES = re.findall(r"^GT_RULE\((\w+),", (ROOT / "lib/measure/findings/findings.def").read_text(), re.MULTILINE)
SEVERITIES = ["high", "medium", "low"]
KEYS = ["input", "id", "severity", "title", "evidence", "advice", "table", "recoverable_ns"]
US = 1000


class Trace:
    """A Kineto trace by hand; times in microseconds."""

    def __init__(self):
        self.events = []
        self.correlation = 0

    def event(self, category, name, start, length, pid=1, tid=1, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": length,
                            "args": args})

    def op(self, start, length, name="kernel_a", launched=None, call="cudaLaunchKernel", call_length=1, device=0,
           stream=7, **args):
        """A kernel or, by its name, a copy or fill; launched just before it starts unless given."""
        self.correlation += 1
        launched = start - call_length - 1 if launched is None else launched
        category = {"Memcpy": "gpu_memcpy", "Memset": "gpu_memset"}.get(name[:6], "kernel")
        self.event("cuda_runtime", call, launched, call_length, correlation=self.correlation)
        self.event(category, name, start, length, device, stream, device=device, stream=stream,
                   correlation=self.correlation, **args)
        return start + length

    def range(self, name, start, length):
        self.event("user_annotation", name, start, length)

    def call(self, name, start, length):
        self.event("cuda_runtime", name, start, length)

    def write(self, folder):
        path = folder / "trace.json"
        path.write_text(json.dumps({"traceEvents": self.events}))
        return path


def dense(trace, start, count, length=100, **settings):
    """Kernels back to back, all launched long before."""
    for number in range(count):
        trace.op(start + number * length, length, name=f"kernel_{'abcdefgh'[number % 8]}", launched=number * 2, **settings)
    return start + count * length


def late_launches(trace, count, gap, length=10):
    """The CPU launches each kernel `gap` us after the one before has ended."""
    for number in range(count):
        trace.op(100 + number * (gap + length), length, name=f"kernel_{'abcdefgh'[number % 8]}", call_length=1)


def one_kernel(trace, share):
    trace.op(100, share, name="big<int>(float*)", launched=0)
    for number in range(10):
        trace.op(100 + share + 10 * number, 10, name=f"small_{number}", launched=1 + number)


def stalls(trace):
    dense(trace, 100, 40)
    trace.range("loading", 4000, 2500)
    trace.op(6100, 100, launched=6090)
    dense(trace, 6200, 1)


def sync_waits(trace):
    for number in range(10):
        start = 1000 * number
        trace.op(start + 10, 100, launched=start)
        trace.call("cudaStreamSynchronize", start + 2, 900)


def readbacks(trace, waits="cudaStreamSynchronize", call="cudaMemcpyAsync", count=12):
    for number in range(count):
        start = 1000 * number
        trace.op(start + 20, 300, launched=start)
        trace.op(start + 320, 2, name="Memcpy DtoH (Device -> Pinned)", launched=start + 5, call=call, call_length=2,
                 bytes=4)
        if waits:
            trace.call(waits, start + 8, 320)
        trace.range("sampling", start + 1, 500)


def storm(trace, nodes=1):
    """Each launch brings so many kernels."""
    for number in range(1200):
        trace.op(100 + 10 * number, 8, name=f"kernel_{number % 8}", launched=number / 100)
    for event in trace.events:
        event["args"]["correlation"] = (event["args"]["correlation"] - 1) // nodes


def tiny(trace):
    for number in range(120):
        trace.op(100 + 20 * number, 4, name=f"kernel_{number % 8}")


def comm(trace, hidden, exposed=200, compute=1000):
    dense(trace, 100, compute // 100)
    trace.op(100 + compute - hidden, exposed + hidden, name="ncclDevKernel_AllReduce", launched=50, stream=9)


def unbalanced(trace, other=6):
    dense(trace, 100, 10)
    dense(trace, 100, other, device=1)


def nested_copies(trace):
    """As some exports write one call: two rows with one correlation. The last pair has two correlations."""
    dense(trace, 100, 10)
    for number in range(3):
        trace.event("cuda_runtime", "cudaMemcpy_v3020", 2010 + 1000 * number, 500, correlation=900 + number // 2 * number)
        trace.event("cuda_runtime", "cudaMemcpy", 2000 + 1000 * number, 600, correlation=900 + number // 2)


def copies_in_line(trace, start=1100, stream=7):
    dense(trace, 100, 10)
    trace.op(start, 200, name="Memcpy HtoD (Pinned -> Device)", launched=50, call="cudaMemcpyAsync", stream=stream,
             bytes=10**8)


def small_copies(trace, name="Memcpy HtoD (Pinned -> Device)"):
    dense(trace, 1000, 10, length=1000)
    for number in range(100):
        trace.op(1000 + number * 3, 2, name=name, launched=number, call="cudaMemcpyAsync", stream=9, bytes=64000)


def pageable_copy(trace, name="Memcpy HtoD (Pageable -> Device)", call="cudaMemcpyAsync"):
    dense(trace, 100, 10)
    trace.op(200, 30, name=name, launched=50, call=call, stream=9, bytes=10**6)


def sync_copy(trace, call="cudaMemcpy", size=64001):
    dense(trace, 100, 10)
    trace.op(200, 30, name="Memcpy HtoD (Pinned -> Device)", launched=50, call=call, call_length=1200, stream=9, bytes=size)


def sync_memset(trace, name="Memset (Managed)"):
    dense(trace, 100, 10)
    trace.op(200, 30, name=name, launched=50, call="cudaMemset", call_length=10, stream=9, bytes=100)


def steps(trace, lengths, name="step {}"):
    start = 1000
    for number, length in enumerate(lengths):
        trace.range(name.format(number), start, length)
        trace.op(start + 10, length - 20, name=f"kernel_{number % 8}", launched=start + 1)
        start += length


def ranges(trace, inside, outside, name="decode"):
    for number in range(8):
        trace.op(100 + number * inside, inside, name=f"kernel_{number}", launched=10 + number)
        trace.op(100 + 8 * inside + number * outside, outside, name=f"kernel_{number}", launched=50 + number)
    trace.range(name, 5, 30)


def overhead(trace, start=150):
    dense(trace, 100, 10)
    trace.event("overhead", "Buffer Flush", start, 60, pid=-1, tid=0)
    trace.event("overhead", "Buffer Flush", start + 50, 60, pid=-1, tid=0)


def made(make, *args, **settings):
    def write(folder):
        trace = Trace()
        make(trace, *args, **settings)
        return trace.write(folder)

    return write


def sample(name):
    return lambda folder: DATA / "nsys" / name


# rule, how its trace is made, severity (None: silent), potential saving in us (None: not known; ...: not checked)
CASES = [
    ("dominant_kernel", made(one_kernel, 24), None, ...),
    ("dominant_kernel", made(one_kernel, 34), "medium", None),
    ("dominant_kernel", made(one_kernel, 100), "high", None),
    ("idle_gpu", made(late_launches, 10, 2), None, ...),
    ("idle_gpu", made(late_launches, 10, 4), "medium", None),
    ("idle_gpu", made(late_launches, 10, 40), "high", None),
    ("host_bound", made(dense, 100, 20), None, ...),
    ("host_bound", made(late_launches, 100, 1), "low", 99),
    ("host_bound", made(late_launches, 100, 2), "medium", 198),
    ("host_bound", made(late_launches, 100, 20), "high", 1980),
    ("host_bound", made(late_launches, 100, 1000), None, ...),  # pauses are another matter
    ("host_stalls", made(late_launches, 10, 999), None, ...),
    ("host_stalls", made(stalls), "high", 2000),
    ("sync_waits", made(sync_waits), "high", 9 * 900),
    ("sync_waits", made(late_launches, 10, 900), None, ...),
    ("readback", made(readbacks), "high", 11 * 698),
    ("readback", made(readbacks, waits=None, call="cudaMemcpy"), "high", 11 * 698),
    ("readback", made(readbacks, waits=None), None, ...),
    ("readback", made(readbacks, waits="cudaEventQuery"), None, ...),
    ("readback", made(readbacks, count=9), None, ...),
    ("launch_storm", made(storm), "high", None),
    ("launch_storm", made(late_launches, 1200, 20), None, ...),
    ("launch_storm", made(storm, nodes=100), None, ...),  # of graphs
    ("tiny_kernels", made(tiny), "high", None),
    ("tiny_kernels", made(late_launches, 120, 20), None, ...),
    ("exposed_comm", made(comm, hidden=200), "medium", 200),
    ("exposed_comm", made(comm, hidden=0, exposed=500), "high", 500),
    ("exposed_comm", made(comm, hidden=100, exposed=500, compute=300), "high", 200),  # as compute can hide no more
    ("exposed_comm", made(comm, hidden=500, exposed=0), None, ...),
    ("exposed_comm", made(comm, hidden=200, exposed=20), None, ...),
    ("exposed_comm", made(dense, 100, 10), None, ...),
    ("poor_overlap", made(comm, hidden=0), "high", None),
    ("poor_overlap", made(comm, hidden=50), "medium", None),
    ("poor_overlap", made(comm, hidden=200), None, ...),
    ("poor_overlap", made(comm, hidden=0, exposed=50), None, ...),  # too little to matter
    ("unbalanced_devices", made(unbalanced), "high", 200),
    ("unbalanced_devices", made(unbalanced, other=8), "medium", 100),
    ("unbalanced_devices", made(unbalanced, other=9), "low", 50),
    ("unbalanced_devices", made(unbalanced, other=10), None, ...),
    ("unbalanced_devices", made(dense, 100, 10), None, ...),
    ("copies_in_line", made(copies_in_line), "high", 200),
    ("copies_in_line", made(copies_in_line, stream=9), None, ...),
    ("copies_in_line", made(copies_in_line, start=300), None, ...),  # kernels of another stream run at the same time
    ("small_copies", made(small_copies), "low", 200),
    ("small_copies", made(small_copies, name="Memcpy DtoD (Device -> Device)"), None, ...),
    ("pageable_copies", made(pageable_copy), "medium", None),
    ("pageable_copies", made(pageable_copy, name="Memcpy HtoD (Pinned -> Device)"), None, ...),
    ("pageable_copies", made(pageable_copy, call="cudaMemcpy"), None, ...),
    ("sync_copies", made(sync_copy), "medium", None),
    ("sync_copies", made(sync_copy, size=64000), None, ...),
    ("sync_copies", made(sync_copy, call="cudaMemcpyAsync"), None, ...),
    ("sync_copies", sample("extras.nsys-rep"), "medium", None),
    ("sync_memsets", made(sync_memset), "low", None),
    ("sync_memsets", made(sync_memset, name="Memset (Device)"), None, ...),
    ("sync_calls", made(sync_waits), "medium", None),
    ("sync_calls", made(readbacks, waits="cudaEventQuery"), None, ...),
    ("step_outliers", made(steps, [100, 100, 100, 151, 100]), "medium", 51),
    ("step_outliers", made(steps, [100, 100, 100, 150, 100]), None, ...),
    ("warm_up", made(steps, [900, 100, 100, 100]), "medium", None),
    ("warm_up", made(steps, [100, 100, 900, 100]), None, ...),
    ("graph_time", sample("graph_whole.nsys-rep"), "medium", None),
    ("graph_time", sample("extras.nsys-rep"), None, ...),
    ("dominant_kernel", sample("graph_whole.nsys-rep"), None, ...),  # a graph is no kernel
    ("range_coverage", made(ranges, 60, 40), "medium", None),
    ("range_coverage", made(ranges, 80, 20), None, ...),
    ("dominant_phase", made(ranges, 80, 20), "medium", None),
    ("dominant_phase", made(ranges, 80, 20, name="nameless"), None, ...),
    ("dominant_phase_cpu", made(ranges, 80, 20), "medium", None),
    ("dominant_phase_cpu", made(ranges, 80, 20, name="nameless"), None, ...),
    ("has_ranges", made(ranges, 80, 20), "low", None),
    ("has_ranges", made(dense, 100, 10), None, ...),
    ("profiler_overhead", made(overhead), "medium", None),
    ("profiler_overhead", made(overhead, start=5000), None, ...),  # after the span
    ("dropped_events", sample("graph_whole.nsys-rep"), "medium", None),
    ("dropped_events", made(overhead), None, ...),
]


def findings_of(gputime, *args):
    report = gputime.json("findings", *args)
    for finding in report["findings"]:
        assert list(finding) == KEYS and finding["evidence"] and finding["advice"] and finding["title"]
        assert finding["id"] in RULES and finding["severity"] in ("high", "medium", "low")
    return {finding["id"]: finding for finding in report["findings"]}


def overlaps(finding):
    return any(one.startswith("Overlaps finding ") for one in finding["evidence"])


def without_ranks(sentences):
    """What is lost may change the order of findings."""
    return [re.sub(r"^Overlaps finding \d+", "Overlaps finding", sentence) for sentence in sentences]


def measured_severity(found, rule):
    """What the thresholds say: a finding is lower if another one that is as severe is about the same time."""
    finding = found[rule]
    others = [one for place, one in enumerate(found.values(), 1) if f"Overlaps finding {place} ({one['id']})." in finding["evidence"]]
    assert len(others) == overlaps(finding)
    higher = {"low": "medium", "medium": "high", "high": "high"}[finding["severity"]]
    return higher if others and SEVERITIES.index(others[0]["severity"]) <= SEVERITIES.index(higher) else finding["severity"]


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{case[0]}-{case[2]}-{i}" for i, case in enumerate(CASES)])
def test_rule(gputime, tmp_path, number):
    rule, make, severity, recoverable_us = CASES[number]
    found = findings_of(gputime, make(tmp_path))
    if severity is None:
        assert rule not in found, found[rule]
        return
    assert rule in found, list(found)
    assert measured_severity(found, rule) == severity, found[rule]
    if recoverable_us is not ...:
        expected = None if recoverable_us is None else recoverable_us * US
        assert found[rule]["recoverable_ns"] == expected, found[rule]


def test_a_call_inside_itself_counts_once(gputime, tmp_path):
    trace = made(nested_copies)(tmp_path)
    finding = findings_of(gputime, trace)["sync_calls"]
    assert finding["title"] == "CPU blocked in synchronizing calls for 2.3 ms"
    assert finding["evidence"] == ["cudaMemcpy: 3 calls, 1.8 ms; all synchronizing calls: 4 calls, 2.3 ms."]
    report = gputime.json("summary", trace, "--table", "sync_calls")
    rows = [(row["api_name"], row["count"], row["total_ns"]) for row in report["tables"]["sync_calls"]["rows"]]
    assert rows == [("cudaMemcpy", 3, 1800 * US), ("cudaMemcpy_v3020", 1, 500 * US)]


def test_every_rule_has_a_case_that_it_reports_and_one_that_it_does_not():
    assert {case[0] for case in CASES if case[2]} == set(RULES)
    assert {case[0] for case in CASES if not case[2]} == set(RULES)


def test_every_rule_is_documented():
    text = (ROOT / "docs/measures.md").read_text()
    for rule in RULES:
        assert f"| `{rule}` |" in text, rule


def test_findings_come_by_severity_then_by_the_time_at_stake(gputime, tmp_path):
    for make in (made(readbacks), made(steps, [900, 100, 100, 160]), made(tiny), sample("extras.nsys-rep")):
        found = list(findings_of(gputime, make(tmp_path)).values())
        assert len(found) > 2 and len({one["severity"] for one in found}) > 1
        assert found == sorted(found, key=lambda one: (SEVERITIES.index(one["severity"]), -(one["recoverable_ns"] or 0), overlaps(one)))


def test_idle_time_is_reported_first_where_no_call_explains_it(gputime, tmp_path):
    trace = Trace()
    late_launches(trace, 10, 40)
    trace.events = [event for event in trace.events if event["cat"] == "kernel"]
    assert list(findings_of(gputime, trace.write(tmp_path)))[0] == "idle_gpu"


@pytest.mark.parametrize("make", [made(readbacks), made(sync_waits), made(stalls), made(late_launches, 100, 20)])
def test_no_idle_time_is_promised_twice(gputime, tmp_path, make):
    path = make(tmp_path)
    found = findings_of(gputime, path)
    promised = sum(found[rule]["recoverable_ns"] for rule in ("host_bound", "host_stalls", "sync_waits", "readback")
                   if rule in found)
    causes = gputime.json("gaps", path, "--per", "device")["tables"]["idle_causes"]["rows"]
    assert 0 < promised <= sum(row["recoverable_ns"] for row in causes)


def test_an_op_that_starts_late_is_no_stall_of_the_cpu(gputime, tmp_path):
    """Its launch call ended 43 us into the gap; launches take 1 us here."""
    trace = Trace()
    late_launches(trace, 3, 40)
    trace.op(210 + 463_000, 10, launched=210 + 38, call_length=5)
    path = trace.write(tmp_path)
    found = findings_of(gputime, path)
    assert "host_stalls" not in found and "sync_waits" not in found
    assert found["host_bound"]["recoverable_ns"] == (40 + 40 + 44) * US
    assert found["idle_gpu"]["evidence"][:2] == [
        "Idle for 463.1 ms of 463.1 ms, in 3 gaps.", "By cause: host 124 us, dependency 463 ms."]
    on_time = Trace()
    late_launches(on_time, 3, 40)
    on_time.op(210 + 463_000, 10)
    assert findings_of(gputime, on_time.write(tmp_path))["host_stalls"]["recoverable_ns"] == 463_000 * US


def test_all_outputs_say_the_same(gputime, tmp_path):
    trace = made(readbacks)(tmp_path)
    found = findings_of(gputime, trace)
    rows = list(csv.DictReader(io.StringIO(gputime("findings", trace, "--csv").stdout.decode())))
    assert [row["id"] for row in rows] == list(found)
    text = " ".join(gputime("findings", trace, "--width", "200").stdout.decode().split())
    markdown = gputime("findings", trace, "--md").stdout.decode().replace("\\", "")
    for row, finding in zip(rows, found.values()):
        assert row["title"] == finding["title"] and row["severity"] == finding["severity"]
        assert row["evidence"] == " ".join(finding["evidence"]) and row["advice"] == " ".join(finding["advice"])
        assert row["recoverable_ns"] == ("" if finding["recoverable_ns"] is None else str(finding["recoverable_ns"]))
        for sentence in (finding["title"], *finding["evidence"], *finding["advice"]):
            assert sentence in text and sentence in markdown, sentence
    table = gputime("summary", trace, "--table", "findings", "--csv").stdout.decode()
    assert list(csv.DictReader(io.StringIO(table))) == rows


def test_markdown_puts_sentences_below_their_finding(gputime, tmp_path):
    """An item belongs to a list item if it begins where the text of that one does."""
    trace = Trace()
    for make in (readbacks, small_copies, pageable_copy, sync_copy, sync_memset, overhead, tiny):
        make(trace)
    ranges(trace, 60, 40)
    path = trace.write(tmp_path)
    assert len(findings_of(gputime, path)) > 9
    column = 0
    for line in gputime("findings", path, "--md").stdout.decode().split("What to do next\n\n")[1].split("\n\n")[0].split("\n"):
        number, item = re.match(r"\d+\. ", line), re.match(r"( +)- ", line)
        column = len(number[0]) if number else column
        assert number or len(item[1]) == column, line


def test_the_summary_shows_three_and_says_where_the_others_are(gputime, tmp_path):
    trace = made(readbacks)(tmp_path)
    found = findings_of(gputime, trace)
    text = gputime(trace, "--width", "200").stdout.decode()
    shown = re.search(r"\nWhat to do next\n(.*?)\n\n", text, re.DOTALL)[1]
    assert [finding["title"] in shown for finding in found.values()] == [True] * 3 + [False] * (len(found) - 3)
    assert f"and {len(found) - 3} more (gputime findings shows all, with the evidence)" in shown
    assert gputime.json(trace)["findings"] == list(found.values())


def test_tables_named_by_findings_exist(gputime, tmp_path):
    tables = {row["detail"] for row in gputime_list(gputime)}
    known = {table for detail in tables for table in detail.split(",")}
    for make in (made(readbacks), made(small_copies), sample("extras.nsys-rep"), sample("graph_whole.nsys-rep")):
        for finding in findings_of(gputime, make(tmp_path)).values():
            assert finding["table"] is None or finding["table"] in known, finding


def gputime_list(gputime):
    return json.loads(gputime("list", "analyses", "--json").stdout)["tables"]["analyses"]["rows"]


def test_names_of_a_trace_are_harmless_and_short(gputime, tmp_path):
    trace = Trace()
    trace.op(100, 50, name="evil\x1b|`_" + "x" * 300, launched=0)
    path = trace.write(tmp_path)
    found = findings_of(gputime, path)["dominant_kernel"]
    assert len(found["title"]) < 140
    assert b"\x1b" not in gputime("findings", path).stdout
    assert b"\\|\\`\\_xxx" in gputime("findings", path, "--md").stdout


def test_nothing_to_tell(gputime, tmp_path):
    trace = Trace()
    dense(trace, 100, 80)
    assert b"No findings." in gputime("findings", trace.write(tmp_path)).stdout
    assert findings_of(gputime, DATA / "empty.json") == {}
    assert findings_of(gputime, DATA / "cpu-only.json") == {}


def changed(folder, script=None, lost_table=None):
    """The sample of an export after a script, or with a page of zeros where a table begins."""
    path = folder / "changed.sqlite"
    path.write_bytes(gzip.decompress((DATA / "nsys" / "extras.sqlite.gz").read_bytes()))
    connection = sqlite3.connect(path)
    connection.executescript(script or "")
    page_bytes, = connection.execute("PRAGMA page_size").fetchone()
    page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (lost_table,)).fetchone()
    connection.close()
    if page:
        with path.open("r+b") as file:
            file.seek((page[0] - 1) * page_bytes)
            file.write(bytes(page_bytes))
    return path


IDLE_RULES = {"idle_gpu", "host_bound", "host_stalls", "sync_waits", "readback"}


def test_kernels_without_names_are_not_one_kernel(gputime, tmp_path):
    path = changed(tmp_path, "UPDATE StringIds SET id = id + 1000000")
    found = findings_of(gputime, path)
    assert "dominant_kernel" not in found and IDLE_RULES & set(found)
    assert not any("'?'" in sentence for one in found.values() for sentence in (one["title"], *one["evidence"]))


def test_nothing_is_found_on_idle_time_where_the_kernels_were_lost(gputime, tmp_path):
    path = changed(tmp_path, lost_table="CUPTI_ACTIVITY_KIND_KERNEL")
    assert gputime.json(path)["inputs"][0]["ops"] > 0
    assert not IDLE_RULES & set(findings_of(gputime, path))
    assert IDLE_RULES & set(findings_of(gputime, changed(tmp_path)))


def test_what_goes_by_missing_work_is_less_certain_where_something_was_lost(gputime, tmp_path):
    lower = {"high": "medium", "medium": "low", "low": "low"}
    doubted = set()
    for make in (case[1] for case in CASES if case[0] in DOUBTFUL and case[2]):
        path = make(tmp_path)
        if path.suffix != ".json":
            continue
        whole = findings_of(gputime, path)
        path.write_text(path.read_text().rstrip().removesuffix("]}"))  # every event is there
        cut = findings_of(gputime, path)
        assert set(cut) == set(whole)
        for rule, finding in cut.items():
            reported = [one for one in finding["evidence"] if "was only partly read (input_cut)" in one]
            assert len(reported) == (rule in DOUBTFUL), finding
            severity = whole[rule]["severity"]
            if not overlaps(finding):
                assert finding["severity"] == (lower[severity] if reported else severity), finding
            assert finding["recoverable_ns"] == whole[rule]["recoverable_ns"]
            assert without_ranks(one for one in finding["evidence"] if one not in reported) == without_ranks(whole[rule]["evidence"])
            doubted |= {rule} if reported else set()
    assert doubted >= set(DOUBTFUL) - {"graph_time"}  # whose case is no text


def test_a_table_whose_pages_are_missing_does_not_lack_columns(gputime, unpacked, tmp_path):
    whole = unpacked(DATA / "nsys-more/infer_part.sqlite.gz").read_bytes()
    path = tmp_path / "cut.sqlite"
    path.write_bytes(whole[: len(whole) // 5])
    document = gputime.json("findings", path)
    issues = {issue["id"] for issue in document["issues"]}
    assert "table_unreadable" in issues and "table_incomplete" not in issues
    assert not IDLE_RULES & {one["id"] for one in document["findings"]}


def test_tiny_kernels_are_reported_without_the_longer_ones_of_their_names(gputime, tmp_path):
    trace = Trace()
    tiny(trace)
    trace.op(4000, 5, name="kernel_0")
    trace.op(4020, 30, name="kernel_0")
    path = trace.write(tmp_path)
    evidence = findings_of(gputime, path)["tiny_kernels"]["evidence"]
    assert evidence[1] == "'kernel_0': 16 launches of 5 us or less, 4.063 us on average."
    assert evidence[2] == "'kernel_1': 15 launches of 5 us or less, 4 us on average."
    row = gputime.json("summary", path, "--table", "tiny_kernels")["tables"]["tiny_kernels"]["rows"][0]
    assert (row["name"], row["count"], row["avg_ns"]) == ("kernel_0", 16, 4062.5)


def test_copies_that_block_distinguish_cpu_and_gpu_time(gputime, tmp_path):
    assert findings_of(gputime, made(sync_copy)(tmp_path))["sync_copies"]["evidence"] == [
        "The CPU was blocked for 1.2 ms; moving 64 kB took the GPU 30 us.",
        "Longest: 30 us, 'Memcpy HtoD (Pinned -> Device)' by cudaMemcpy."]
    assert findings_of(gputime, made(sync_memset)(tmp_path))["sync_memsets"]["evidence"][0] == (
        "The CPU was blocked for 10 us; filling 100 B took the GPU 30 us.")


def test_a_selection_finds_in_what_it_selects(gputime, tmp_path):
    path = made(steps, [900, 100, 100, 100])(tmp_path)
    assert "warm_up" in findings_of(gputime, path)
    assert "warm_up" not in findings_of(gputime, path, "--step", "1-3")


def test_an_inference_is_bound_by_launching_and_its_token_copy_is_named(gputime, shared):
    found = findings_of(gputime, shared("data/h200/nsys/infer/infer.nsys-rep"))
    host = found["host_bound"]
    assert host["severity"] == "high" and any("Warm-up excluded" in sentence for sentence in host["evidence"])
    assert host["recoverable_ns"] < 450_000_000  # of the 2.7 s, the last 0.47 s are no warm-up
    assert list(found)[:3] == ["host_bound", "readback", "warm_up"]
    copy = found["readback"]
    assert "[CUDA memcpy Device-to-Host]" in copy["title"] and "cudaMemcpyAsync" in copy["title"]
    assert copy["evidence"][0].startswith("cudaMemcpyAsync copies '[CUDA memcpy Device-to-Host]' 72 times")
    assert "cudaStreamSynchronize" in copy["evidence"][0] and "'sampling'" in copy["evidence"][1]
    assert list(found).index("idle_gpu") < list(found).index("has_ranges")
    assert found["idle_gpu"]["evidence"][-2:] == [
        "Warm-up included here; it is excluded from the findings on CPU-caused gaps.",
        f"Overlaps finding {list(found).index('host_bound') + 1} (host_bound)."]
    exported = findings_of(gputime, shared("data/h200/nsys/infer/infer.sqlite"))
    assert [{**one, "input": None} for one in found.values()] == [{**one, "input": None} for one in exported.values()]
