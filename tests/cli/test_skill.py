"""packaging/skill/SKILL.md: every command in it runs, the keys and options it names exist, and its table has every report."""

import json
import re
import shlex

import pytest

from samples import DATA, ROOT

SKILL = (ROOT / "packaging/skill/SKILL.md").read_text(encoding="utf-8")
TRACE = str(DATA / "torch/llama_train_compiled.json.gz")
PLACES = {"TRACE": [TRACE], "BEFORE": [TRACE], "AFTER": [str(DATA / "torch/llama_cudagraph.json.gz")],
          "DIR": [TRACE, str(DATA / "torch/tpdp_rank0.json.gz")], "COMMAND": ["kernels"]}


def commands():
    inline = [text for text in re.findall(r"`(gputime [^`\n]+)`", SKILL) if "mcp" not in text]
    return inline + re.findall(r"^    (gputime .+)$", SKILL, re.MULTILINE)


def test_it_is_a_skill():
    head = re.match(r"---\nname: ([a-z-]+)\ndescription: (.+)\n---\n", SKILL)
    assert head and head[1] == "gputime" and len(head[2]) <= 1024
    assert len(commands()) > 15 and len(SKILL.splitlines()) < 500


@pytest.mark.parametrize("line", commands())
def test_its_commands_run(gputime, line):
    words = [word for part in shlex.split(line)[1:] for word in PLACES.get(part, [part])]
    done = gputime(*words)
    assert done.returncode in (0, 3), (line, done.stderr)  # 3: the limit of the example does not hold
    assert done.stdout


def test_every_tool_is_in_it_or_another_way_to_the_same(gputime):
    rows = json.loads(gputime("help", "--json").stdout)["tables"]["commands"]["rows"]
    tools = {row["command"] for row in rows if row["is_tool"]}
    named = {shlex.split(line)[1] for line in commands()} | {"summary"}
    # What other tools were replaced by, and what has documents of its own.
    assert tools - named <= {"graph", "stats", "explain", "list"}


def test_keys_and_options_in_it_exist(gputime):
    report = gputime.json("findings", TRACE)
    for key in ("id", "severity", "title", "evidence", "advice", "recoverable_ns", "saving_by", "windows"):
        assert key in report["findings"][0] and f"`{key}`" in SKILL
    known = {row["option"] for row in json.loads(gputime("help", "--json").stdout)["tables"]["options"]["rows"]}
    assert set(re.findall(r"--([a-z][a-z-]+)", SKILL)) <= known
    accounting = gputime.json("summary", TRACE)["tables"]["accounting"]["rows"][0]
    assert {"busy_ns", "span_ns"} <= set(accounting)
    rows = gputime.json("kernels", "--table-rows", "5", TRACE)["tables"]["kernels"]
    assert len(rows["rows"]) == 5 and rows["total_rows"] == 45
