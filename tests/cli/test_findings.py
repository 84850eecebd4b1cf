"""Findings: their order, that all outputs have the same, what comes before them where nothing stands out, and how one of
them is explained. The rules themselves: test_findings_*.py."""

import csv
import gzip
import io
import json
import re
import sqlite3

import pytest

from finding_traces import (RULES, US, Trace, comm, copies_in_line, dense, findings_of, late_launches, made, order_of, overhead, readbacks, sample,
                            stalls, steps, sync_waits, tiny, unbalanced)
from samples import DATA, ROOT

IDLE_RULES = {"idle_gpu", "host_bound", "host_stalls", "sync_waits", "readback"}
DEFINED = (ROOT / "lib/measure/findings/findings.def").read_text()
DOUBTFUL = [rule for rule in RULES if "GT_NEEDS_WHOLE" in re.search(rf"^GT_RULE\({rule},(.*?)\"", DEFINED, re.MULTILINE | re.DOTALL)[1]]


# ---- the rules ----


def test_every_rule_has_a_case_that_it_reports_and_one_that_it_does_not():
    """The files on rules name each where it must be found, found["rule"] or only(found, "rule"), and where it must not."""
    text = "\n".join(path.read_text() for path in sorted((ROOT / "tests/cli").glob("test_findings_*.py")))
    reported = set(re.findall(r'(?:\[|, |== )"(\w+)"[\])]', text)) | set(re.findall(r'^    \("(\w+)", .*, "\w+", ', text, re.MULTILINE))
    refused = set(re.findall(r'"(\w+)" not in ', text)) | set(re.findall(r'\("(\w+)" in \w+\) == ', text))
    refused |= set(re.findall(r'^    \("(\w+)", .*, None, ', text, re.MULTILINE))
    refused |= {rule for rules in re.findall(r"not \{(.*?)\} & set", text) for rule in re.findall(r"\w+", rules)}
    assert sorted(set(RULES) - reported) == [], "no test where it is reported"
    assert sorted(set(RULES) - refused) == [], "no test where it is not"


def test_every_rule_is_documented():
    text = (ROOT / "docs/measures.md").read_text()
    for rule in RULES:
        assert f"| `{rule}` |" in text, rule


# ---- order and outputs ----


def several(folder):
    """A trace with findings of several severities: late launches of tiny kernels, GPUs that do not have the same to do,
    work of the profiler."""
    def make(trace):
        tiny(trace)
        for number in range(10):
            trace.op(100 + 20 * number, 4, name=f"kernel_{number % 8}", device=1)
        trace.event("overhead", "Buffer Flush", 200, 300, pid=-1, tid=0)

    return made(make)(folder)


def test_findings_come_by_severity_then_by_saving(gputime, tmp_path):
    for path in (several(tmp_path), sample("extras.nsys-rep")(tmp_path)):
        found = list(findings_of(gputime, path).values())
        assert len(found) > 2 and len({one["severity"] for one in found}) > 1
        order = order_of(found)
        assert order == sorted(order)


def test_the_severity_is_that_of_the_share(gputime, tmp_path):
    savings = 0
    for gap in (2, 4, 20):
        for one in findings_of(gputime, made(late_launches, 100, gap, length=30)(tmp_path)).values():
            share = one["share"]
            savings += share is not None
            limits = [] if share is None else [name for name, limit in (("high", 0.15), ("medium", 0.05)) if share >= limit]
            assert one["severity"] == (limits or ["low"])[0], one
            assert (share is None) == (one["recoverable_ns"] is None) and (share is None or share >= 0.01)
    assert savings >= 3


def test_no_idle_time_is_promised_twice(gputime, tmp_path):
    for make in (made(readbacks), made(sync_waits), made(stalls), made(late_launches, 100, 20)):
        path = make(tmp_path)
        promised = sum(one["recoverable_ns"] or 0 for one in findings_of(gputime, path).values())
        causes = gputime.json("gaps", path, "--per", "device")["tables"]["idle_causes"]["rows"]
        assert 0 < promised <= sum(row["total_ns"] for row in causes)


def worth(finding):
    """The words in parentheses after a title."""
    if not finding["recoverable_ns"]:
        return f"({finding['severity']})"
    steps = " a step" if finding["recoverable_step_ns"] else ""
    is_simulated = finding["saving_by"] == "simulation"
    most, how = ("", ", simulated") if is_simulated else ("up to ", "")
    return re.compile(rf"\({finding['severity']}, saves {most}[\d.]+ \w+{steps}{how}\)")


@pytest.mark.parametrize("make", [several, made(steps, [900, 100, 100, 100, 160])], ids=["plain", "steps"])
def test_all_outputs_have_the_same(gputime, tmp_path, make):
    trace = make(tmp_path)
    found = findings_of(gputime, trace)
    rows = list(csv.DictReader(io.StringIO(gputime("findings", trace, "--csv").stdout.decode())))
    assert [row["id"] for row in rows] == list(found)
    text = " ".join(gputime("findings", trace, "--width", "200").stdout.decode().split())
    markdown = gputime("findings", trace, "--md").stdout.decode().replace("\\", "")
    for row, finding in zip(rows, found.values()):
        assert row["title"] == finding["title"] and row["severity"] == finding["severity"]
        assert row["evidence"] == " ".join(finding["evidence"]) and row["advice"] == " ".join(finding["advice"])
        for key in ("recoverable_ns", "recoverable_step_ns", "share", "saving_by"):
            assert row[key] == ("" if finding[key] is None else str(finding[key]))
        for sentence in (finding["title"], *finding["evidence"], *finding["advice"]):
            assert sentence in text and sentence in markdown, sentence
    for output in (text, markdown):
        places = [output.index(finding["title"]) for finding in found.values()]
        assert places == sorted(places)
        for place, finding in zip(places, found.values()):
            after = output[place + len(finding["title"]):].lstrip("* ")
            assert re.match(worth(finding) if finding["recoverable_ns"] else re.escape(worth(finding)), after), after[:80]
    table = gputime("summary", trace, "--table", "findings", "--csv").stdout.decode()
    assert list(csv.DictReader(io.StringIO(table))) == rows


def test_the_saving_of_a_step_is_part_of_the_whole(gputime, tmp_path):
    def make(trace):
        for number in range(4):
            trace.range(f"step {number}", 1000 * number, 1000)
            trace.op(1000 * number + 500, 500, name=f"kernel_{number}")

    one = findings_of(gputime, made(make)(tmp_path))["host_bound"]
    assert one["recoverable_ns"] == 3 * 500 * US and one["recoverable_step_ns"] == 3 * 500 * US // 4
    assert "(high, saves 375 us a step, simulated)" in gputime("findings", tmp_path / "trace.json").stdout.decode()


def test_windows_are_where_the_time_is(gputime, tmp_path):
    trace = Trace()
    for start, length in ((100, 100), (700, 100), (1000, 100), (1150, 100)):
        trace.op(start, length)
    one = findings_of(gputime, trace.write(tmp_path))["host_bound"]
    assert one["windows"] == [{"start_ns": start * US, "end_ns": end * US, "device": 0}
                              for start, end in ((100, 600), (700, 900), (1000, 1050))]


def test_markdown_puts_sentences_below_their_finding(gputime, tmp_path):
    """An item belongs to a list item if it begins where the text of that one does."""
    path = several(tmp_path)
    column = 0
    blocks = gputime("findings", path, "--md").stdout.decode().split("What to do next\n\n")[1].split("\n\n")
    for line in next(block for block in blocks if block.startswith("1. ")).split("\n"):
        number, item = re.match(r"\d+\. ", line), re.match(r"( +)- ", line)
        column = len(number[0]) if number else column
        assert number or len(item[1]) == column, line


def test_the_summary_shows_three_and_says_where_the_others_are(gputime, tmp_path):
    trace = several(tmp_path)
    found = findings_of(gputime, trace)
    text = gputime(trace, "--width", "200").stdout.decode()
    shown = re.search(r"\nWhat to do next\n(.*?)\n\n", text, re.DOTALL)[1]
    assert [finding["title"] in shown for finding in found.values()] == [True] * 3 + [False] * (len(found) - 3)
    assert f"and {len(found) - 3} more (gputime findings shows all, with the evidence)" in shown
    assert gputime.json(trace)["findings"] == list(found.values())


def test_tables_named_by_findings_exist(gputime):
    tables = {table for row in json.loads(gputime("list", "analyses", "--json").stdout)["tables"]["analyses"]["rows"]
              for table in row["detail"].split(",")}
    named = set(re.findall(r"^GT_RULE\(\w+,[^\"]*\"(\w+)\"", DEFINED, re.MULTILINE))
    assert named and named <= tables


def test_names_of_a_trace_are_harmless_and_short(gputime, tmp_path):
    trace = Trace()
    trace.op(100, 50, name="evil\x1b|`_" + "x" * 300, launched=0)
    path = trace.write(tmp_path)
    found = findings_of(gputime, path)["dominant_kernel"]
    assert len(found["title"]) < 160
    assert b"\x1b" not in gputime("findings", path).stdout
    assert b"\\|\\`\\_xxx" in gputime("findings", path, "--md").stdout


# ---- where nothing stands out ----


def test_a_trace_in_which_nothing_stands_out_says_what_the_gpu_is_busy_with(gputime, tmp_path):
    def make(trace):
        for number in range(80):
            trace.op(100 + 100 * number, 100, name=f"ampere_bf16_gemm_{number % 8}", launched=number)

    path = made(make)(tmp_path)
    report = gputime.json("findings", path)
    verdict = "Nothing stands out: the GPU is busy 100.0% of the time; 100.0% of the op time is matrix products."
    assert report["findings"] == [] and report["facts"]["findings_verdict"] == verdict
    for command in ("findings", "summary"):
        assert verdict in " ".join(gputime(command, path).stdout.decode().split())
        assert f"\n\n{verdict}\n" in gputime(command, path, "--md").stdout.decode()


def test_low_findings_follow_the_verdict(gputime, tmp_path):
    path = made(overhead)(tmp_path)
    report = gputime.json("findings", path)
    assert [one["severity"] for one in report["findings"]] == ["low"]
    text = " ".join(gputime("findings", path).stdout.decode().split())
    assert text.index(report["facts"]["findings_verdict"]) < text.index(report["findings"][0]["title"])


def test_idle_time_without_a_cause_is_no_praise(gputime, tmp_path):
    trace = Trace()
    late_launches(trace, 10, 40)
    trace.events = [event for event in trace.events if event["cat"] == "kernel"]
    report = gputime.json("findings", trace.write(tmp_path))
    assert report["facts"]["findings_verdict"] == (
        "Nothing above low was found, although the GPU is idle 78.3% of the time: the trace shows no single cause.")


def test_communication_that_nothing_can_hide_is_no_praise(gputime, tmp_path):
    """Compute could hide 1 of 80 parts, which alone is not worth a finding above low."""
    trace = Trace()
    dense(trace, 100, 1)
    trace.op(200, 7900, name="ncclDevKernel_AllReduce", launched=50, stream=9)
    report = gputime.json("findings", trace.write(tmp_path))
    assert {one["severity"] for one in report["findings"]} == {"low"}
    assert report["facts"]["findings_verdict"].startswith(
        "Communication limits this: 98.8% of the time nothing else runs, and compute takes only 1.2%, too little to hide it.")


def test_findings_that_are_simulated_follow_the_path(gputime, tmp_path):
    path = several(tmp_path)
    report = gputime.json("findings", path)
    assert report["findings"][0]["saving_by"] == "simulation"
    assert report["facts"]["findings_verdict"] == (
        "Trace 2.386 ms: 95% waits for the CPU, 5% launching. "
        f"Fixing finding 1 saves {100 * report['findings'][0]['share']:.0f}% (simulated).")
    assert report["facts"] == {key: value for key, value in gputime.json(path)["facts"].items() if key in report["facts"]}


def test_there_is_no_verdict_over_losses_and_nothing(gputime, tmp_path):
    paths = [DATA / "empty.json", DATA / "cpu-only.json"]
    for path in paths:
        assert "findings_verdict" not in gputime.json("findings", path)["facts"]
    healthy = Trace()
    dense(healthy, 100, 80)
    path = healthy.write(tmp_path)
    path.write_text(path.read_text().rstrip().removesuffix("]}"))
    report = gputime.json("findings", path)
    assert "findings_verdict" not in report["facts"] and report["issues"]
    assert b"No findings." in gputime("findings", path).stdout


# ---- why ----


def test_why_shows_one_finding_and_all_that_it_is_based_on(gputime, tmp_path):
    path = made(stalls)(tmp_path)
    all_of_them = gputime.json("findings", path)["findings"]
    report = gputime.json("findings", path, "--why", "host_stalls")
    one, = report["findings"]
    assert one in all_of_them and one["id"] == "host_stalls"
    thresholds = {row["threshold"]: row["number"] for row in report["tables"]["finding_thresholds"]["rows"]}
    assert thresholds["high_share"] == 0.15 and thresholds["stall_ns"] == 1e6
    windows = report["tables"]["finding_windows"]["rows"]
    assert [{key: row[key] for key in ("start_ns", "end_ns", "device")} for row in windows] == one["windows"]
    rows = report["tables"]["finding_rows"]["rows"]
    assert sum(row["claimed_ns"] for row in rows) == one["recoverable_ns"]
    assert [row["claimed_ns"] for row in rows] == sorted((row["claimed_ns"] for row in rows), reverse=True)
    assert {(row["item"], row["cause"]) for row in rows} == {("gap", "host")}
    note, = (note for note in report["inputs"][0]["notes"] if note.startswith("host_stalls: "))
    assert one["rule"] in note and f"{100 * one['share']:.1f}% of the steady time" in note and "high from 15%" in note


def test_the_command_of_a_window_shows_it(gputime, tmp_path):
    path = made(stalls)(tmp_path)
    window = gputime.json("findings", path, "--why", "host_stalls")["tables"]["finding_windows"]["rows"][0]
    program, *args = window["command"].split()
    assert program == "gputime" and args[-1] == "TRACE" and window["command"] in " ".join(
        gputime("findings", path, "--why", "host_stalls").stdout.decode().split())
    gaps = gputime.json(*args[:-1], path)["tables"]["gaps"]["rows"]
    assert (window["start_ns"], window["end_ns"]) in {(row["start_ns"], row["end_ns"]) for row in gaps}


def test_why_works_for_findings_without_saving_and_in_all_formats(gputime, tmp_path):
    path = made(tiny)(tmp_path)
    report = gputime.json("findings", path, "--why", "tiny_kernels")
    assert [one["id"] for one in report["findings"]] == ["tiny_kernels"]
    assert report["tables"]["finding_rows"]["rows"] == [] == report["tables"]["finding_windows"]["rows"]
    assert any("it promises no saving by itself" in note for note in report["inputs"][0]["notes"])
    full = gputime.json("findings", path, "--why", "host_bound")
    rows = full["tables"]["finding_rows"]["rows"]
    assert len(rows) > 10 and {row["name"] for row in rows} == {f"kernel_{number}" for number in range(8)}
    table = gputime("findings", path, "--why", "host_bound", "--table", "finding_rows", "--csv").stdout.decode()
    assert [row["claimed_ns"] for row in csv.DictReader(io.StringIO(table))] == [str(row["claimed_ns"]) for row in rows]
    assert b"| `high_share` | 15% |" in gputime("findings", path, "--why", "host_bound", "--md").stdout
    text = gputime("findings", path, "--why", "host_bound").stdout.decode()
    assert text.count("kernel_") == 10 and max(map(len, text.splitlines())) <= 80
    assert gputime("findings", path, "--why", "host_bound", "--top", "3").stdout.decode().count("kernel_") == 3


def test_why_says_why_a_finding_is_not_reported(gputime, tmp_path):
    def little(trace):
        dense(trace, 100, 40)
        trace.op(4130, 100)

    path = made(little)(tmp_path)
    done = " ".join(gputime("findings", path, "--why", "host_bound").stdout.decode().split())
    assert "host_bound is not reported for this trace. What is reported: none." in done
    assert "Not reported: 0.7% of the steady time could be saved, and less than 1% is not reported." in done
    report = gputime.json("findings", path, "--why", "readback")
    assert report["findings"] == [] and any("Not reported: the rule found nothing." in note for note in report["inputs"][0]["notes"])
    bare = Trace()
    late_launches(bare, 10, 40)
    bare.events = [event for event in bare.events if event["cat"] == "kernel"]
    done = " ".join(gputime("findings", bare.write(tmp_path), "--why", "host_bound").stdout.decode().split())
    assert "Not reported: the trace has no " in done and "What is reported: idle_gpu." in done


def test_an_unknown_finding_is_a_usage_error(gputime, tmp_path):
    path = made(tiny)(tmp_path)
    done = gputime("findings", path, "--why", "nonsense")
    assert done.returncode == 2 and b"no finding has the id 'nonsense'; available: compilation, " in done.stderr
    assert all(rule.encode() in done.stderr for rule in RULES)
    done = gputime("summary", path, "--table", "finding_rows")
    assert done.returncode == 2 and b"gputime findings --why ID" in done.stderr


# ---- losses ----


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


def test_a_table_whose_pages_are_missing_does_not_lack_columns(gputime, unpacked, tmp_path):
    whole = unpacked(DATA / "nsys-more/infer_part.sqlite.gz").read_bytes()
    path = tmp_path / "cut.sqlite"
    path.write_bytes(whole[: len(whole) // 5])
    document = gputime.json("findings", path)
    issues = {issue["id"] for issue in document["issues"]}
    assert "table_unreadable" in issues and "table_incomplete" not in issues
    assert not IDLE_RULES & {one["id"] for one in document["findings"]}


def recorded(finding):
    """Its evidence but for what is simulated."""
    return [sentence for sentence in finding["evidence"] if "(simulated)" not in sentence]


def test_what_rests_on_missing_work_is_less_certain_where_something_was_lost(gputime, tmp_path):
    lower = {"high": "medium", "medium": "low", "low": "low"}
    doubted = set()
    for make in (several, made(readbacks), made(sync_waits), made(stalls), made(late_launches, 100, 20),
                 made(comm, hidden=0, exposed=500), made(copies_in_line), made(unbalanced)):
        path = make(tmp_path)
        whole = findings_of(gputime, path)
        path.write_text(path.read_text().rstrip().removesuffix("]}"))  # every event is there
        cut = findings_of(gputime, path)
        assert set(cut) <= set(whole)
        for rule, finding in cut.items():
            reported = [one for one in finding["evidence"] if "was only partly read (input_cut)" in one]
            assert len(reported) == (rule in DOUBTFUL and len(recorded(whole[rule])) < 6), finding
            severity = whole[rule]["severity"]
            assert finding["severity"] == (lower[severity] if rule in DOUBTFUL else severity), finding
            assert finding["saving_by"] != "simulation" and finding["simulation"] is None
            assert (finding["recoverable_ns"] or 0) >= (whole[rule]["recoverable_ns"] or 0)
            doubted |= {rule} if reported else set()
    assert len(doubted) > 5, doubted


def test_a_selection_finds_in_what_it_selects(gputime, tmp_path):
    path = made(steps, [900, 100, 100, 100])(tmp_path)
    assert "warm_up" in findings_of(gputime, path)
    assert "warm_up" not in findings_of(gputime, path, "--step", "1-3")


def test_an_export_has_the_findings_of_its_report(gputime, shared):
    found = findings_of(gputime, shared("data/h200/nsys/infer/infer.nsys-rep"))
    exported = findings_of(gputime, shared("data/h200/nsys/infer/infer.sqlite"))
    assert found and [{**one, "input": None} for one in found.values()] == [{**one, "input": None} for one in exported.values()]
