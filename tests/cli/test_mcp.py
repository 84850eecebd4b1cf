"""gputime mcp: the protocol, the tools made from the command table, and what clients may not do."""

import json
import os
import re
import shutil

import pytest

from mcp_client import Client
from samples import DATA

LLAMA = str(DATA / "torch/llama_train_compiled.json.gz")
OVERLAP = str(DATA / "overlap.json")
DEVICES = str(DATA / "devices.json")
ASK_PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


@pytest.fixture
def client(gputime):
    client = Client(gputime)
    yield client
    client.close()


@pytest.fixture(scope="module")
def listed(gputime):
    client = Client(gputime)
    tools = {tool["name"]: tool for tool in client.ask("tools/list")["result"]["tools"]}
    client.close()
    return tools


def help_rows(gputime, table):
    return json.loads(gputime("help", "--json").stdout)["tables"][table]["rows"]


# ---- the protocol ----


@pytest.mark.parametrize("asked, agreed", [("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"),
                                           ("2025-03-26", "2025-03-26"), ("2024-11-05", "2024-11-05"),
                                           ("1999-01-01", "2025-11-25"), (7, "2025-11-25")])
def test_the_version_is_the_clients_if_it_is_known(gputime, asked, agreed):
    client = Client(gputime, version=asked)
    assert client.hello["protocolVersion"] == agreed
    assert client.hello["serverInfo"]["name"] == "gputime" and client.hello["capabilities"] == {"tools": {}}
    client.close()


@pytest.mark.parametrize("line, code", [
    (b"{", -32700), (b'{"jsonrpc":"2.0","id":1,}', -32700), (b"nonsense", -32700), (b'"\xff"', -32700),
    (b'{"a":"\x01"}', -32700), (b'{"a":01}', -32700), (b'{"a":"\\x"}', -32700), (b"{} {}", -32700),
    (b"[" * 100000, -32700), (b'{"a":' * 5000, -32700), (b"[" + b"0," * 200000 + b"0]", -32700),
    (b"[]", -32600), (b"3", -32600), (b"{}", -32600), (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":1}', -32600), (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600),
    (b"[" + ASK_PING + b"]", -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}', -32601),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"redact","arguments":{}}}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"kernels\\u0000","arguments":{}}}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"kernels","arguments":[]}}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"' + b"x" * (5 << 20) + b'"}', -32600),
])
def test_what_is_wrong_has_the_code_for_it(client, line, code):
    answer = client.send(line)
    assert answer["error"]["code"] == code and answer["error"]["message"], answer
    assert client.ask("ping")["result"] == {}  # and the server goes on


def test_ids_come_back_as_they_were(client):
    for text in ("7", '"7"', "-1", '"\\u00e4\\"\\n"', "1.5", "12345678901234567890"):
        answer = client.send(b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % text.encode())
        assert answer == {"jsonrpc": "2.0", "id": json.loads(text), "result": {}}


def test_notifications_and_answers_get_no_answer(client):
    for message in ({"method": "notifications/cancelled", "params": {"requestId": 1}}, {"method": "unknown/thing"},
                    {"id": 4, "result": {}}, {"id": 4, "error": {"code": 1, "message": "x"}}):
        client.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n\r\n\n")
    assert client.ask("ping")["result"] == {}


def test_batches_exist_in_one_version(gputime):
    client = Client(gputime, version="2025-03-26")
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "method": "x"}, 5,
             {"jsonrpc": "2.0", "id": 2, "method": "nope"}]
    answers = client.send(json.dumps(batch).encode())
    assert [answer["id"] for answer in answers] == [1, None, 2]
    assert answers[1]["error"]["code"] == -32600 and answers[2]["error"]["code"] == -32601
    assert client.send(b"[]")["error"]["code"] == -32600
    client.process.stdin.write(b'[{"jsonrpc":"2.0","method":"x"}]\n')
    assert client.ask("ping")["result"] == {}
    client.close()


def test_a_last_line_without_its_end_is_answered(gputime):
    done = gputime("mcp", stdin=ASK_PING)
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}} and done.stderr == b""
    assert gputime("mcp", stdin=b"").stdout == b""


def test_the_end_of_a_client_is_the_end_of_the_server(gputime):
    client = Client(gputime)
    client.process.stdout.close()
    client.tell("ping")
    client.process.stdin.write(ASK_PING + b"\n")
    client.process.stdin.close()
    assert client.process.wait(timeout=60) == 1


def test_it_takes_no_traces_of_its_own(gputime):
    done = gputime("mcp", OVERLAP)
    assert done.returncode == 2 and b"traces are named by clients" in done.stderr


# ---- tools ----


def test_tools_are_the_commands_that_only_read(gputime, listed):
    commands = {row["command"]: row for row in help_rows(gputime, "commands")}
    assert {"summary", "findings", "kernels", "gaps", "steps", "ranges", "diff", "define", "efficiency", "path", "ranks",
            "memory", "check"} <= set(listed)
    assert not {"redact", "cache", "mcp", "help", "version"} & set(listed)
    assert {name for name, row in commands.items() if row["is_tool"]} == set(listed)
    for name, tool in listed.items():
        assert tool["annotations"]["readOnlyHint"] and commands[name]["help"] == tool["title"]
        assert commands[name]["details"] in tool["description"]


LOCAL = {"output", "gap-output", "out", "out-dir", "config", "rules", "map", "phase-map", "limits", "file", "nsys-cmd", "reader",
         "threads", "cache-after", "no-cache", "open", "color", "width", "quiet", "help", "version", "root"}


def test_schemas_are_the_options_of_the_commands(gputime, listed):
    options = {}
    for row in help_rows(gputime, "options"):
        options.setdefault(row["command"], {})[row["option"].replace("-", "_")] = row
    for name, tool in listed.items():
        schema = tool["inputSchema"]
        assert schema["type"] == "object" and schema["additionalProperties"] is False
        own = options.get(name, {})
        words = set(schema["properties"]) - set(own)
        assert words in ({"traces"}, {"what"}, {"key"}, {"query", "traces"}), words
        left_out = {row["option"] for key, row in own.items() if key not in schema["properties"]}
        assert left_out <= LOCAL | {"json", "csv", "md", "html", "in-file"}, (name, left_out)
        for key, about in schema["properties"].items():
            row = own.get(key)
            if row and row["type"] == "choice" and "enum" in about:
                assert set(about["enum"]) <= set(row["choices"].split("|"))
            if row and row["type"] == "integer" and key != "max_rows":
                assert (about["type"], about["minimum"], about["maximum"]) == ("integer", row["min"], row["max"])


@pytest.mark.parametrize("name, arguments, words", [
    ("summary", {}, []), ("kernels", {"top": 3, "sort": "total_ns"}, ["--top", "3", "--sort", "total_ns"]),
    ("kernels", {"gaps": True, "launches": False}, ["--gaps"]), ("gaps", {"per": "device"}, ["--per", "device"]),
    ("ranges", {"tree": True}, ["--tree"]), ("steps", {"step": 4}, ["--step", "4"]), ("path", {}, []),
    ("findings", {"why": "host_bound"}, ["--why", "host_bound"]), ("memory", {}, []),
    ("kernels", {"category": ["gemm", "comm"]}, ["--category", "gemm,comm"]),
    ("whatif", {"cpu": [2], "no": ["sync"], "force": True}, ["--cpu", "2", "--no", "sync", "--force"]),
    ("check", {"limit": ["idle<99%"]}, ["--limit", "idle<99%"]),
    ("kernels", {"from": "10%", "to": "50%", "name": "--gemm"}, ["--from", "10%", "--to", "50%", "--name=--gemm"]),
])
def test_an_answer_is_that_of_the_command(gputime, client, name, arguments, words):
    result = client.call(name, traces=[LLAMA], table_rows=0, **arguments)
    assert not result["isError"], result
    assert result["content"][0]["text"].encode() == gputime(name, LLAMA, *words, "--width", "120").stdout
    expected = json.loads(gputime(name, LLAMA, *words, "--json").stdout)
    if "structuredContent" in result and not any("rows of the JSON" in item["text"] for item in result["content"]):
        assert result["structuredContent"] == expected
    else:
        assert any(item["text"].startswith("Left out: ") for item in result["content"]), result["content"]


def test_formats(gputime, client):
    assert client.call("kernels", traces=[OVERLAP], format="csv")["content"][0]["text"].encode() == gputime(
        "kernels", OVERLAP, "--csv").stdout
    assert client.text("kernels", traces=[OVERLAP], format="md").startswith("#")
    assert "structuredContent" not in client.call("kernels", traces=[OVERLAP], format="text")
    result = client.call("kernels", traces=[OVERLAP], format="json", table_rows=0)
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"] == gputime.json("kernels", OVERLAP)
    assert "'html' is not available" in client.error("kernels", traces=[OVERLAP], format="html")
    assert "Suffixes" in client.text("list", what="inputs")
    assert client.call("list", what="inputs", format="json")["structuredContent"]["tables"]["inputs"]["rows"]


def test_queries(gputime, client):
    query = "-- kernels\nselect name, count(*) as launches from ops group by name order by launches desc"
    result = client.call("sql", traces=[LLAMA], query=query, table_rows=0)
    expected = json.loads(gputime("sql", "--json", "--", LLAMA, query).stdout)
    assert result["structuredContent"] == expected and expected["tables"]["rows"]["rows"]
    assert result["content"][0]["text"].encode() == gputime("sql", "--width", "120", "--", LLAMA, query).stdout
    assert len(client.tables("sql", traces=[LLAMA], query=query)["rows"]["rows"]) == 20
    assert client.tables("sql", traces=[LLAMA], query=query, max_rows=3)["rows"]["rows"] == expected["tables"]["rows"]["rows"][:3]
    assert "ops" in client.text("sql", schema=True, format="text")
    for words in (["select nonsense from ops"], ["drop table ops"], ["attach 'x' as y"], ["select readfile('/etc/passwd')"]):
        assert client.error("sql", traces=[LLAMA], query=words[0]) == gputime("sql", "--", LLAMA, *words).stderr.decode().replace(
            "'gputime sql --schema'", "'sql schema'")
    assert "ops" in client.text("sql", schema=True, query="", format="text")
    assert client.error("sql", traces=[LLAMA], query="/etc/passwd")
    assert "is not available here" in client.error("sql", traces=[LLAMA], file="/etc/passwd")
    assert client.error("sql", traces=[LLAMA])


def test_comparisons_have_two_sides(gputime, client):
    plain = client.call("diff", traces=[OVERLAP, DEVICES], table_rows=0)
    sides = client.call("diff", a=[OVERLAP], b=[DEVICES], table_rows=0)
    assert plain == sides and not plain["isError"]
    one = client.call("diff", traces=[OVERLAP, DEVICES], of="measures", table_rows=0)
    assert one["structuredContent"] == gputime.json("diff", OVERLAP, DEVICES, "--of", "measures")
    assert "diff needs two traces" in client.error("diff", traces=[OVERLAP])
    assert "has no range 'nowhere'" in client.error("diff", traces=[OVERLAP, OVERLAP], per="range:nowhere")


def test_errors_are_in_the_words_of_the_program(gputime, client, tmp_path):
    text = tmp_path / "text.json"
    text.write_text("hello")
    for name, arguments, words in [("kernels", {"traces": [str(text)]}, [text]),
                                   ("kernels", {"traces": [LLAMA], "sort": "x"}, [LLAMA, "--sort=x"]),
                                   ("kernels", {"traces": [LLAMA], "device": 9}, [LLAMA, "--device=9"]),
                                   ("define", {"key": "nonsense"}, ["nonsense"])]:
        message = gputime(name, *words).stderr.decode().replace("'gputime list", "'list")  # commands are tools there
        assert client.error(name, **arguments) == message, (name, arguments)


@pytest.mark.parametrize("name, arguments, message", [
    ("kernels", {"topp": 3}, "unknown argument 'topp' of 'kernels'; did you mean 'top'?"),
    ("kernels", {"trace": "x"}, "unknown argument 'trace' of 'kernels'; did you mean 'traces'?"),
    ("kernels", {"table-row": 1}, "unknown argument 'table-row' of 'kernels'; did you mean 'table_rows'?"),
    ("kernels", {"nonsensical_thing": 1}, "unknown argument 'nonsensical_thing' of 'kernels'"),
    ("kernels", {"of": "x"}, "'of' is not valid for 'kernels' (only: diff)"),
    ("kernels", {"top": -3}, "argument 'top' needs a whole number from 0 to 2147483647, not '-3'"),
    ("kernels", {"from": "5s", "to": "1s"}, f"'{LLAMA}': empty window: 'from' '5s' is not before 'to' '1s'"),
    ("kernels", {"output": "x"}, "argument 'output' is not available here: clients name traces and nothing else of this machine"),
    ("kernels", {"traces": None}, "'kernels' needs a trace"),
    ("kernels", {"table": "x"}, "no table 'x'; this command has kernels; see 'list analyses'"),
    ("check", {}, "'check' needs a limit: 'limit' 'idle<20%'"),
    ("sql", {"query": "nonsense"}, "'nonsense' is neither a trace nor a query"),
    ("define", {"traces": None, "key": None}, "'define' takes one key or word"),
    ("diff", {}, "diff needs two traces, or the captures of each side: 'a' A1 A2 'b' B1 B2"),
    ("diff", {"a": [LLAMA], "b": [LLAMA]}, "'diff' takes either traces or a and b, not both"),
    ("diff", {"a": [LLAMA]}, "'diff' takes either traces or a and b, not both"),
])
def test_errors_name_arguments(client, name, arguments, message):
    arguments = {key: value for key, value in ({"traces": [LLAMA]} | arguments).items() if value is not None}
    assert client.error(name, **arguments) == f"gputime: {message}\n"


def test_patterns_are_not_expanded(gputime, tmp_path):
    shutil.copyfile(OVERLAP, tmp_path / "a[1].json")
    for options in ([], ["--root", tmp_path]):
        client = Client(gputime, *options, cwd=tmp_path)
        assert client.error("kernels", traces=["*.json"]) == (
            "gputime: cannot read '*.json': patterns are not expanded here; name each file\n")
        assert client.error("ranks", traces=["a?.json"]).endswith("name each file, or a directory\n")
        assert not client.call("kernels", traces=["a[1].json"])["isError"]
        client.close()


def test_a_broken_limit_is_an_answer(client):
    result = client.call("check", traces=[LLAMA], limit=["idle<1%"])
    text = "\n".join(item["text"] for item in result["content"])
    assert not result["isError"] and "gputime: 1 of 1 limits is broken" in text
    assert result["structuredContent"]["tables"]["limits"]["rows"][0]["verdict"] == "broken"


@pytest.mark.parametrize("arguments", [{"traces": 5}, {"traces": {"a": 1}}, {"traces": [None]}, {"traces": [[OVERLAP]]},
                                       {"traces": ["a\0b"]}, {"traces": ["x" * 100000]}, {"traces": [""]}, {"traces": []},
                                       {"traces": [OVERLAP], "name": {"a": 1}}, {"traces": [OVERLAP], "name": "a\0b"},
                                       {"traces": [OVERLAP], "x" * 5000: 1}, {"traces": [OVERLAP], "": 1},
                                       {"traces": [OVERLAP], "table_rows": -1}, {"traces": [OVERLAP], "table_rows": "x"},
                                       {"traces": [OVERLAP], "format": 7}, {"traces": [OVERLAP], "=": 1}])
def test_odd_arguments_are_errors(client, arguments):
    assert client.error("kernels", **arguments).startswith("gputime: ")


# ---- sizes ----


def write_trace(path, events):
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def many_kernels(path, count):
    events = [{"ph": "X", "cat": "kernel", "name": f"kernel_{i}", "ts": i * 10, "dur": 5 + i % 7, "pid": 0, "tid": 7,
               "args": {"device": 0, "stream": 7}} for i in range(count)]
    return str(write_trace(path, events))


def test_answers_are_limited_and_say_so(gputime, client, tmp_path):
    trace = many_kernels(tmp_path / "many.json", 30000)
    result = client.call("kernels", traces=[trace])
    kernels = result["structuredContent"]["tables"]["kernels"]
    assert len(kernels["rows"]) == 20 and kernels["total_rows"] == 30000
    assert any("Left out: rows" in item["text"] and "table_rows" in item["text"] for item in result["content"])
    result = client.call("kernels", traces=[trace], table_rows=0)
    assert len(json.dumps(result)) < 160000 and any("Left out" in item["text"] for item in result["content"])
    csv = client.call("kernels", traces=[trace], format="csv")
    assert len(csv["content"][0]["text"]) <= 60000 and csv["content"][0]["text"].endswith("\n")
    assert csv["content"][1]["text"].startswith("Left out: the last ")
    assert client.text("kernels", traces=[trace], top=3, sort="total_ns").count("kernel_") >= 3
    full = client.text("kernels", traces=[trace], top=0, format="text")
    assert "Left out: the last" in full


def test_advice_names_arguments_that_the_tool_takes(listed, client):
    for name, tool in listed.items():
        for arguments in ({"traces": [LLAMA]}, {"traces": [OVERLAP, DEVICES]}):
            arguments |= {"query": {"query": "select * from ops"}, "limit": {"limit": ["idle<99%"]}}.get(
                next((key for key in ("query", "limit") if key in tool["inputSchema"]["properties"]), ""), {})
            if "traces" not in tool["inputSchema"]["properties"]:
                continue
            result = client.call(name, table_rows=1, **arguments)
            for note in (item["text"] for item in result["content"] if item["text"].startswith("Left out")):
                named = [key for part in re.findall(r"\(([a-z_, ]+)\)", note.partition("; ask ")[2]) for key in part.split(", ")]
                assert named and set(named) <= set(tool["inputSchema"]["properties"]), (name, note)
    left_out = client.call("sql", traces=[LLAMA], query="select * from ops")["content"][-1]["text"]
    assert left_out.endswith("; ask for fewer rows or columns in the query, or for other rows (table_rows).")


def test_what_is_required(listed):
    required = {name: tool["inputSchema"].get("required") for name, tool in listed.items()}
    own = {"sql": ["query"], "diff": None, "define": ["key"], "list": ["what"]}
    assert required == {name: own.get(name, ["traces"]) for name in listed}


def test_hostile_names_stay_inside_of_the_protocol(gputime, client, tmp_path):
    names = ['"}\n{"jsonrpc":"2.0","id":99,"result":{}}\n', "\x1b[2J\x1b]0;title\x07", "\u2028\u202e", "\\", "a\x00b", "ä" * 3000,
             ',"total_rows":5']
    events = [{"ph": "X", "cat": "kernel", "name": name, "ts": 10 * i, "dur": 5, "pid": 0, "tid": 7,
               "args": {"device": 0, "stream": 7}} for i, name in enumerate(names)]
    trace = str(write_trace(tmp_path / "hostile\x1b[1m.json", events))
    for name in ("summary", "kernels", "gaps", "findings"):
        assert "\x1b" not in client.text(name, traces=[trace], table_rows=0)
    result = client.call("kernels", traces=[trace], table_rows=0)
    assert len(result["content"]) == 1 and result["structuredContent"] == gputime.json("kernels", trace)
    assert client.ask("ping")["result"] == {}
    assert "\x1b" not in client.error("kernels", traces=["\x1b[2J"])


# ---- traces ----


def test_a_file_that_changed_is_read_again(client, tmp_path):
    path = tmp_path / "trace.json"
    shutil.copyfile(OVERLAP, path)
    first = client.call("kernels", traces=[str(path)])
    assert client.call("kernels", traces=[str(path)]) == first
    shutil.copyfile(DEVICES, path)
    second = client.call("kernels", traces=[str(path)])
    assert second != first and not second["isError"]
    path.unlink()
    assert "no such file" in client.error("kernels", traces=[str(path)])


def test_traces_stay_open(gputime, tmp_path):
    """A trace that cannot be read any more still answers: it is in memory, and the file looks the same."""
    path = tmp_path / "trace.json"
    shutil.copyfile(OVERLAP, path)
    client = Client(gputime)
    first = client.call("kernels", traces=[str(path)])
    # Same inode, size and times, other contents: only a server that reads it again would notice.
    before = os.stat(path)
    state = path.read_bytes()
    with open(path, "r+b") as file:
        file.write(b" " * len(state))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    changed = client.call("kernels", traces=[str(path)])
    assert changed["isError"], "the time of the last change of the inode shows that it was written to"
    with open(path, "r+b") as file:
        file.write(state)
    assert client.call("kernels", traces=[str(path)]) == first
    client.close()


def test_more_is_read_when_it_is_asked_for(gputime, client):
    client.call("kernels", traces=[LLAMA])
    for name in ("memory", "efficiency", "path", "summary", "kernels"):
        assert client.call(name, traces=[LLAMA], table_rows=0)["content"][0]["text"].encode() == gputime(
            name, LLAMA, "--width", "120").stdout


def test_many_traces_do_not_fill_the_memory(client, tmp_path):
    traces = [many_kernels(tmp_path / f"{i}.json", 1000 + i) for i in range(12)]
    first = [client.call("summary", traces=[trace]) for trace in traces]
    assert [client.call("summary", traces=[trace]) for trace in traces] == first
    assert not client.call("summary", traces=traces)["isError"]


def test_only_files_can_be_read(client, tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for path in ("-", "/dev/stdin", "/dev/zero", str(tmp_path / "pipe.json"), "/proc/self/fd/0"):
        assert client.error("kernels", traces=[path])
    assert client.ask("ping")["result"] == {}


def test_a_name_that_looks_like_an_option_is_a_file(gputime, tmp_path):
    shutil.copyfile(OVERLAP, tmp_path / "-v.json")
    client = Client(gputime, cwd=tmp_path)
    assert client.call("kernels", traces=["-v.json"], table_rows=0)["structuredContent"] == gputime.json(
        "kernels", "./-v.json", cwd=tmp_path)
    client.close()


def test_no_other_file_is_read_or_written(client, tmp_path):
    for name, key in (("kernels", "output"), ("kernels", "rules"), ("kernels", "map"), ("explain", "out"), ("graph", "out_dir"),
                      ("graph", "out-dir"), ("stats", "config"), ("check", "limits"), ("gaps", "gap_output"),
                      ("kernels", "nsys_cmd"), ("ranges", "phase_map")):
        target = tmp_path / "file"
        assert "is not available here" in client.error(name, traces=[OVERLAP], **{key: str(target)}), (name, key)
        assert not target.exists()


def test_graph_writes_no_files(gputime, tmp_path):
    client = Client(gputime, cwd=tmp_path)
    assert not client.call("graph", traces=[OVERLAP])["isError"]
    client.close()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def rooted(gputime, tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    shutil.copyfile(OVERLAP, root / "inside.json")
    shutil.copyfile(OVERLAP, tmp_path / "outside.json")
    (root / "link.json").symlink_to(tmp_path / "outside.json")
    (root / "own.json").symlink_to("inside.json")
    (tmp_path / "root2").mkdir()
    shutil.copyfile(OVERLAP, tmp_path / "root2/inside.json")
    client = Client(gputime, "--root", root)
    yield client, root
    client.close()


def test_root_limits_what_is_read(rooted):
    client, root = rooted
    for path in ("inside.json", "./inside.json", "own.json", str(root / "inside.json"), "../root/inside.json"):
        assert not client.call("kernels", traces=[path])["isError"], path
    for path in ("../outside.json", str(root.parent / "outside.json"), "link.json", "/etc/passwd", "../root2/inside.json",
                 "../missing.json", "missing.json", str(root.parent)):
        for name in ("kernels", "ranks", "graph"):
            assert ": not in the root" in client.error(name, traces=[path]), (name, path)
    assert ": not in the root" in client.error("graph", traces=["../outside.json,vllm,llama,3"])
    assert ": not in the root" in client.error("diff", a=["inside.json"], b=["../outside.json"])
    assert ": not in the root" in client.error("ranks", traces=["."])  # the directory has a link out of it


def test_root_must_be_there(gputime, tmp_path):
    done = gputime("mcp", "--root", tmp_path / "nowhere", stdin=b"")
    assert done.returncode == 1 and b"cannot read" in done.stderr


# ---- what agents are told wrongly by others ----


def test_an_empty_window_is_not_well_utilised(client):
    """A window without GPU work: nothing is busy, and nothing may say that all is well."""
    for name in ("summary", "findings", "gaps", "kernels", "steps"):
        result = client.call(name, traces=[LLAMA], **{"from": "200s", "to": "201s"})
        text = "\n".join(item["text"] for item in result["content"]).lower()
        assert "well" not in text and "no problem" not in text, text
        if not result["isError"]:
            assert "no gpu" in text or "no kernel" in text or "0.0% busy" in text or "nothing" in text or "no work" in text, text


@pytest.mark.parametrize("sample", ["overlap.json", "devices.json", "torch/llama_train_compiled.json.gz", "nsys/train.nsys-rep"])
def test_no_utilisation_is_above_100_percent(client, sample):
    for row in client.tables("summary", traces=[str(DATA / sample)], table_rows=0)["accounting"]["rows"]:
        assert row["busy_ns"] + row["idle_ns"] == row["span_ns"] and 0 <= row["busy_ns"] <= row["span_ns"]
    shares = [row["share"] for row in client.tables("gaps", traces=[str(DATA / sample)], per="device", table_rows=0)["idle_causes"]["rows"]
              if row.get("share") is not None]
    assert all(0 <= share <= 1 for share in shares)
