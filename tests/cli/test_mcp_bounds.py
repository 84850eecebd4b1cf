"""gputime mcp: what clients cannot reach, whatever their arguments look like."""

import json
import shutil
import subprocess

import pytest

from mcp_client import Client
from samples import DATA, ROOT

OVERLAP = str(DATA / "overlap.json")
RULES = {"e": {"m": {".*": "stolen"}}}
ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
MANY = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000) select i from n"


@pytest.fixture
def client(gputime):
    client = Client(gputime)
    yield client
    client.close()


@pytest.fixture
def rooted(gputime, tmp_path):
    """A server that is limited to a directory, that directory, and a file outside of it."""
    root = tmp_path / "root"
    root.mkdir()
    shutil.copyfile(OVERLAP, root / "inside.json")
    outside = tmp_path / "outside.json"
    outside.write_text(json.dumps(RULES))
    client = Client(gputime, "--root", root)
    yield client, root, outside
    client.close()


def options_of(gputime):
    """(command, row) of every option of every tool."""
    tables = json.loads(gputime("help", "--json").stdout)["tables"]
    tools = {row["command"] for row in tables["commands"]["rows"] if row["is_tool"]}
    return [(row["command"], row) for row in tables["options"]["rows"] if row["command"] in tools]


def names_file(row):
    return row["argument"] in ("FILE", "DIR", "PATH")


# ---- arguments that are not in the schema ----


def test_a_key_cannot_carry_the_value_of_another_option(gputime, rooted):
    client, root, outside = rooted
    seen = set()
    for command, row in options_of(gputime):
        if not names_file(row):
            continue
        target = root / "written"
        for value in (f"{outside},e,m", str(outside), str(target), f"{target}/"):
            for key in (f"{row['option']}={value}", f"{row['option'].replace('-', '_')}={value}", f"{row['option']}={value}\0"):
                said = client.error(command, traces=["inside.json"], **{key: "x"})
                assert "unknown" in said and "stolen" not in said, (command, key, said)
        assert not target.exists() and [path.name for path in root.iterdir()] == ["inside.json"]
        seen.add(row["option"])
    assert {"rules", "map", "phase-map", "output", "limits", "file", "out-dir", "config", "gap-output"} <= seen


def test_rules_outside_of_the_root_are_not_applied(rooted):
    client, _, outside = rooted
    assert "unknown" in client.error("kernels", traces=["inside.json"], **{f"rules={outside},e,m": True})
    assert "stolen" not in json.dumps(client.call("kernels", traces=["inside.json"]))


def test_only_arguments_of_the_schema_are_taken(gputime, client):
    """Every option of any command, given to every tool: it is in the schema, or it is refused."""
    tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in client.ask("tools/list")["result"]["tools"]}
    names = {row["option"].replace("-", "_") for _, row in options_of(gputime)} | {"a", "b", "query", "what", "key", "traces"}
    assert len(names) > 60
    refused = 0
    for tool, properties in tools.items():
        first = {"traces": [OVERLAP]} if "traces" in properties else {}
        for name in sorted(names - set(properties) - {"limit"}):  # another name of top, where it is not an option of its own
            said = client.error(tool, **first | {name: [] if name in ("a", "b") else "1"})
            assert "unknown" in said or "not valid for" in said or "not available here" in said, (tool, name, said)
            refused += 1
    assert refused > 500


def test_options_of_other_commands_are_refused_before_their_values_are_looked_at(rooted):
    """Whether a file exists outside of the root does not show in what is said."""
    client, _, outside = rooted
    said = [client.error("sql", traces=["inside.json"], query="select 1", rules=f"{path},,") for path in
            (outside, outside.parent / "missing.json")]
    assert said[0] == said[1] and "rules" in said[0]


# ---- queries ----


@pytest.mark.parametrize("arguments", [{"max_rows": 0}, {"max_rows": "0"}, {"max-rows": 0}, {"timeout": "0"}, {"timeout": 0},
                                       {"timeout": "0s"}, {"timeout": "0ms"}])
def test_limits_of_queries_cannot_be_switched_off(client, arguments):
    said = client.error("sql", traces=[OVERLAP], query="select 1", **arguments)
    assert next(iter(arguments)).replace("-", "_") in said and "here" in said


@pytest.mark.parametrize("arguments", [{}, {"max_rows": 150000}, {"max_rows": 2**62}])
def test_results_of_queries_are_limited(client, arguments):
    assert client.tables("sql", traces=[OVERLAP], query=MANY, **arguments)["rows"]["total_rows"] == 100000
    assert "Only the first 7 rows" in client.text("sql", traces=[OVERLAP], query=MANY, max_rows=7)


def test_a_setting_does_not_switch_limits_off(gputime, tmp_path):
    config = tmp_path / "config/gputime/config"
    config.parent.mkdir(parents=True)
    config.write_text("max-rows = 0\ntimeout = 0\n")
    gputime = type(gputime)(gputime.binary, tmp_path)
    client = Client(gputime)
    assert client.tables("sql", traces=[OVERLAP], query=MANY)["rows"]["total_rows"] == 100000
    client.close()


def test_the_schema_has_the_limits_of_queries(client):
    [sql] = [tool for tool in client.ask("tools/list")["result"]["tools"] if tool["name"] == "sql"]
    about = sql["inputSchema"]["properties"]
    assert (about["max_rows"]["minimum"], about["max_rows"]["maximum"]) == (1, 100000)
    assert "0 =" not in about["max_rows"]["description"] + about["timeout"]["description"]
    assert "60s" in about["timeout"]["description"]


def test_a_query_that_does_not_end_is_stopped(client):
    assert "stopped after" in client.error("sql", traces=[OVERLAP], query=ENDLESS, timeout="50ms")


def test_queries_do_not_tell_which_files_there_are(rooted):
    client, root, outside = rooted
    missing = outside.parent / "missing.json"
    said = [client.error("sql", traces=["inside.json"], query=str(path)).replace(str(path), "PATH")
            for path in (outside, missing, root / "inside.json", root / "missing.json")]
    assert len(set(said)) == 1 and "PATH" in said[0], said
    # A file whose name is a query changes nothing either.
    (root / "select 1 as one").write_text("x")
    assert client.tables("sql", traces=["inside.json"], query="select 1 as one")["rows"]["rows"] == [{"one": 1}]
    (root / "select 2 as two").write_text(json.dumps({"traceEvents": []}))
    assert client.tables("sql", traces=["inside.json"], query="select 2 as two")["rows"]["rows"] == [{"two": 2}]


def test_a_query_is_needed(client):
    for arguments in ({}, {"query": ""}):
        assert "needs a query" in client.error("sql", traces=[OVERLAP], **arguments)
    assert "ops" in client.text("sql", schema=True, format="text")


# ---- the root ----


def test_the_place_of_the_root_is_not_told(rooted):
    client, root, outside = rooted
    for path in ("../outside.json", "missing.json", "/etc/passwd", ".."):
        said = client.error("kernels", traces=[path])
        assert "not in the root" in said and str(root) not in said and str(root.parent) not in said
    assert str(root) not in json.dumps(client.hello)


# ---- traces that stay open ----


def categories(client):
    return {row["category"] for row in client.tables("kernels", traces=[OVERLAP], table_rows=0)["kernels"]["rows"]}


@pytest.fixture
def with_rules(gputime, tmp_path):
    """Starts a server whose settings have these lines, in a home of its own."""
    clients = []

    def start(*lines):
        config = tmp_path / "config/gputime/config"
        config.parent.mkdir(parents=True)
        config.write_text("\n".join(lines))
        clients.append(Client(type(gputime)(gputime.binary, tmp_path)))
        return clients[0]
    yield start
    clients[0].close()


def rewrite(path, content):
    """Another content of the same size, so that only the times differ."""
    path.write_text(json.dumps(content))


def test_rules_that_changed_are_read_again(with_rules, tmp_path):
    path = tmp_path / "rules.json"
    rewrite(path, {".*": "before"})
    client = with_rules(f"rules = {path}")
    assert categories(client) == {"before"}
    rewrite(path, {".*": "behind"})
    assert categories(client) == {"behind"}
    rewrite(path, {".*": "before"})
    assert categories(client) == {"before"}


def test_a_folder_of_rules_that_changed_is_read_again(with_rules, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    rewrite(folder / "a.json", {"e": {"m": {".*": "before"}}})
    client = with_rules(f"rules = {folder},e,m")
    assert categories(client) == {"before"}
    rewrite(folder / "a.json", {"e": {"m": {".*": "behind"}}})
    assert categories(client) == {"behind"}
    rewrite(folder / "b.json", {"e": {"m": {".*": "beside"}}})
    assert categories(client) == {"beside"}


def test_a_map_that_changed_is_read_again(with_rules, tmp_path):
    path = tmp_path / "map.json"
    letters = "abcdefghijklmnopqrstuvwxyz"
    rewrite(path, {letter: "before" for letter in letters})
    client = with_rules(f"map = {path}")
    first = categories(client)
    rewrite(path, {letter: "behind" for letter in letters})
    assert "before" in first and categories(client) == first - {"before"} | {"behind"}


def test_different_options_have_different_traces(with_rules, tmp_path):
    """Where an engine ends and its model begins is part of what a trace is kept for."""
    rules = tmp_path / "rules.json"
    rewrite(rules, {"a b": {"c": {".*": "first"}}, "a": {"b c": {".*": "second"}}})
    client = with_rules(f"rules = {rules}")
    for run, category in (("a b,c", "first"), ("a,b c", "second"), ("a b,c", "first")):
        text = client.text("graph", traces=[f"{OVERLAP},{run},3"], table_rows=0)
        assert {"first", "second"} & set(text.split()) == {category}, (run, text)


# ---- groups of options ----


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_groups_of_options_are_standard_c(compiler):
    """Constants of an enum are of type int, which has no room for the last groups."""
    if not shutil.which(compiler):
        pytest.skip(f"SKIPPED: needs {compiler}")
    source = '#include "options.h"\n_Static_assert(sizeof(CLI_GROUP_MCP) == 8 && CLI_GROUPS_SPECIAL > 0 && CLI_GROUP_MCP, "groups");\n'
    done = subprocess.run([compiler, "-std=c17", "-pedantic-errors", "-D_GNU_SOURCE", "-I", ROOT / "include", "-I", ROOT / "cli", "-x", "c",
                           "-fsyntax-only", "-"], input=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
