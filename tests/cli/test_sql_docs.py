"""The queries of docs/sql.md run, and give something where the trace has it."""

import re

import pytest

from conftest import DATA, ROOT

PAGE = (ROOT / "docs/sql.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"^```sql\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
TRACES = [DATA / "torch/llama_train_compiled.json.gz", DATA / "torch/tpdp_rank0.json.gz"]


def rows_of(gputime, *args):
    return gputime.json("sql", *args)["tables"]["rows"]["rows"]


def test_there_are_a_dozen():
    assert len(QUERIES) >= 12


@pytest.mark.parametrize("text", QUERIES, ids=lambda text: " ".join(text.split())[:50])
def test_query(gputime, text):
    assert rows_of(gputime, *TRACES, text)
    rows_of(gputime, DATA / "overlap.json", text)


def test_exposed_communication_and_idle_time_are_those_of_the_report(gputime):
    summary = gputime.json("summary", TRACES[1])["tables"]
    [exposed] = [row["wall_ns"] for row in rows_of(gputime, TRACES[1], QUERIES[1]) if row["class"] == "comm"]
    assert exposed == sum(row["exposed_comm_ns"] for row in summary["accounting"]["rows"]) > 0
    causes = {(row["cause"], row["count"], row["total_ns"]) for row in rows_of(gputime, TRACES[1], QUERIES[2])}
    assert causes == {(row["cause"], row["count"], row["total_ns"]) for row in summary["idle_causes"]["rows"]}


def test_every_table_that_the_page_names_is_there(gputime):
    tables = {row["table"] for row in gputime.json("sql", "--schema")["tables"]["sql_schema"]["rows"]}
    named = set(re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `"))))
    assert named - {"report_KEY"} == tables - {"overheads", "driver_work", "summed"}


def query_with(words):
    [text] = [text for text in QUERIES if words in text]
    return text


@pytest.mark.parametrize("path", [TRACES[0], TRACES[1], DATA / "nsys/graph_whole.nsys-rep"], ids=lambda path: path.name)
def test_kernels_ranges_and_operators_are_those_of_the_commands(gputime, path):
    kernels = {}
    for row in gputime.json("kernels", path, "--names", "short", "--top", "0")["tables"]["kernels"]["rows"]:
        kernels[row["name"]] = kernels.get(row["name"], 0) + row["total_ns"]
    for row in rows_of(gputime, path, query_with("median(dur_ns)")):
        assert row["total_ns"] == kernels[row["short_name"]]
    keys = ("name", "domain", "instances", "ops", "range_ns")
    listed = {tuple(row[key] for key in keys) for row in
              gputime.json("ranges", path)["tables"].get("ranges", {"rows": []})["rows"]}
    text = query_with("from ranges").replace("limit 20", "")
    assert {tuple(row[key] for key in keys) for row in rows_of(gputime, path, text)} == listed
    for row in rows_of(gputime, path, query_with("from cpu_ops")):
        expected = rows_of(gputime, path, "select sum(dur_ns) as n from cpu_ops where name = '%s'" % row["operator"])
        assert row["cpu_ns"] == expected[0]["n"]


def test_first_and_second_are_in_the_order_of_the_command_line(gputime):
    for traces in (TRACES, TRACES[::-1]):
        sums = [rows_of(gputime, path, "select sum(dur_ns) as n from ops where kind in ('kernel', 'graph')")[0]["n"] for path in traces]
        rows = rows_of(gputime, *traces, query_with("first_ns").replace("limit 10", ""))
        assert [sum(row[key] for row in rows) for key in ("first_ns", "second_ns")] == sums
