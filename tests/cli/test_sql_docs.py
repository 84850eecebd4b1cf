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
    tables = {row["table"] for row in gputime.json("sql", "--schema")["tables"]["schema"]["rows"]}
    named = set(re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `"))))
    assert named - {"report_KEY"} == tables - {"overheads", "driver_work", "summed"}
