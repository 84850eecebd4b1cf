"""gputime view: what a user and a page see of it."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from commandline import FAILED, USAGE, error_of, write_trace
from samples import DATA
from view_client import Server, environment_of, wait_until

LLAMA = str(DATA / "torch/llama_train_compiled.json.gz")
OVERLAP = str(DATA / "overlap.json")
DEVICES = str(DATA / "devices.json")
TUNNEL = re.compile(r"ssh -N -L (\d+):127\.0\.0\.1:(\d+) \S+")


@pytest.fixture(scope="module")
def has_server(gputime):
    if b"no server" in gputime("version").stdout:
        pytest.skip("gputime was built without libmicrohttpd")


@pytest.fixture(scope="module")
def server(gputime, has_server):
    with Server(gputime, LLAMA) as server:
        yield server


@pytest.fixture(scope="module")
def two(gputime, has_server):
    with Server(gputime, OVERLAP, DEVICES) as server:
        yield server


def rows_of(report, key):
    """Rows of a table in the page's form, as dicts."""
    table = report["tables"][key]
    keys = [column["key"] for column in table["columns"]]
    text = lambda cell: report["texts"][cell[0]] if isinstance(cell, list) else cell
    return [dict(zip(keys, map(text, row))) for row in table["rows"]]


# ---- the library ----


def test_other_commands_do_not_need_the_library(gputime, has_server, tmp_path):
    source, shim = tmp_path / "none.c", tmp_path / "none.so"
    source.write_text("void *dlopen(const char *path, int mode) { (void)path, (void)mode; return 0; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", shim, source], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(shim)}
    assert gputime("kernels", OVERLAP, env=environment).returncode == 0
    assert b"no server" in gputime("version", env=environment).stdout
    run = gputime("view", OVERLAP, "--no-open", env=environment)
    assert "there is no server: libmicrohttpd is not installed" in error_of(run, FAILED)


# ---- the page ----


def test_the_command_can_be_typed_again(gputime, has_server, tmp_path):
    odd = tmp_path / "it's `id`;$(id)\n#.json"
    odd.write_bytes(Path(OVERLAP).read_bytes())
    with Server(gputime, odd) as server:
        page = re.search(rb'<script type="application/json" id="report">(.*?)</script>', server.get()[2], re.DOTALL)
    assert shlex.split(json.loads(page[1])["view"]["command"]) == ["gputime", "view", str(odd)]


def test_the_page_comes_before_anything_is_analysed(server):
    status, headers, body = server.get()
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    page = re.search(rb'<script type="application/json" id="report">(.*?)</script>', body, re.DOTALL)
    view = json.loads(page[1])["view"]
    assert view["version"] == 1 and view["title"] == "llama_train_compiled.json.gz"
    assert view["command"] == f"gputime view {LLAMA}"
    (entry,) = view["inputs"]
    assert entry["input"] == view["title"] and entry["path"] == LLAMA and entry["format"] == "torch-json"
    assert entry["ops"] == 762


def test_the_page_may_run_its_own_script_and_ask_its_own_server_only(server):
    _, headers, body = server.get()
    header = headers["Content-Security-Policy"]
    meta = re.search(rb'http-equiv="Content-Security-Policy" content="([^"]*)"', body)[1].decode()
    for policy in (header, meta):
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        assert rules["default-src"] == "'none'" and rules["connect-src"] == "'self'"
        assert re.fullmatch(r"'sha256-[A-Za-z0-9+/=]+'", rules["script-src"])
        assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in header


@pytest.mark.parametrize("path", ["", "alive", "lanes", "nonsense"])
def test_every_answer_has_the_headers_of_safety(server, path):
    _, headers, _ = server.get(path)
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "no-store"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert not [name for name in headers if name.lower().startswith("access-control")]
    assert "Server" not in headers


def test_names_of_a_trace_stay_text(gputime, has_server, tmp_path):
    hostile = ["</script><script>alert(1)</script>", "<!--", "\u2028", "'\"&\\", "\x1b[31m"]
    path = tmp_path / "</script>".replace("/", "") / "<!-- <script>.json"
    path.parent.mkdir()
    write_trace(path, hostile)
    with Server(gputime, path) as server:
        _, _, body = server.get()
        inside = re.search(rb'id="report">(.*?)</script>\n<script>', body, re.DOTALL)[1]
        assert b"</" not in inside and json.loads(inside)["view"]["title"] == path.name
        raw = server.get("report?analyses=kernels")[2]
        assert b"</" not in raw and b"<!" not in raw and "\u2028".encode() not in raw
        names = {row["name"] for row in rows_of(json.loads(raw), "kernels")}
        assert f"{hostile[0]}_kernel" in names


# ---- reports ----


def test_the_report_is_that_of_the_summary(gputime, server):
    report, summary = server.json("report"), gputime.json("summary", LLAMA)
    assert report["inputs"][0]["input"] == "llama_train_compiled.json.gz"
    assert {"accounting", "kernels", "gaps", "findings"} <= set(report["tables"])
    assert "timelines" not in report
    kernels = rows_of(report, "kernels")
    assert [(row["name"], row["total_ns"]) for row in kernels] == \
        [(row["name"], row["total_ns"]) for row in summary["tables"]["kernels"]["rows"]]


def test_a_selection_gives_its_own_account(gputime, server):
    report = server.json("report", analyses="kernels,accounting", from_ns=10_000_000, to_ns=30_000_000, device=0)
    kernels = gputime.json("kernels", LLAMA, "--from", "10ms", "--to", "30ms", "--device", "0")["tables"]["kernels"]["rows"]
    assert {row["name"]: row["total_ns"] for row in rows_of(report, "kernels")} == \
        {row["name"]: row["total_ns"] for row in kernels}
    named = rows_of(server.json("report", analyses="kernels", name="triton"), "kernels")
    assert named and all("triton" in row["name"] for row in named)


def test_options_of_the_command_line_hold_for_all_reports(gputime, has_server):
    with Server(gputime, LLAMA, "--from", "10ms", "--to", "30ms") as server:
        plain = server.json("report", analyses="kernels")
        other = server.json("report", analyses="kernels", from_ns=0, to_ns=5_000_000)
    asked = gputime.json("kernels", LLAMA, "--from", "10ms", "--to", "30ms")["tables"]["kernels"]["rows"]
    assert sum(row["total_ns"] for row in rows_of(plain, "kernels")) == sum(row["total_ns"] for row in asked)
    assert sum(row["total_ns"] for row in rows_of(other, "kernels")) != sum(row["total_ns"] for row in asked)


def test_inputs_one_by_one_and_together(gputime, two):
    both = two.json("report", analyses="kernels")
    assert [entry["input"] for entry in both["inputs"]] == ["overlap.json", "devices.json"]
    for index, path in enumerate((OVERLAP, DEVICES)):
        one = two.json("report", analyses="kernels", input=index)
        assert [entry["input"] for entry in one["inputs"]] == [both["inputs"][index]["input"]]
        rows = gputime.json("kernels", path)["tables"]["kernels"]["rows"]
        assert [row["name"] for row in rows_of(one, "kernels")] == [row["name"] for row in rows]


def test_equal_names_are_told_apart_in_every_report(gputime, has_server, tmp_path):
    paths = [tmp_path / folder / "trace.json" for folder in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        write_trace(path)
    with Server(gputime, *paths) as server:
        names = [entry["input"] for entry in server.json("report", analyses="kernels")["inputs"]]
        assert names == ["a/trace.json", "b/trace.json"]
        assert server.json("report", analyses="kernels", input=1)["inputs"][0]["input"] == "b/trace.json"
        assert server.json("lanes", input=1)["input"] == "b/trace.json"


def test_a_comparison_is_that_of_diff(gputime, two):
    report = two.json("diff", a=0, b=1, analyses="kernels")
    rows = gputime.json("diff", OVERLAP, DEVICES)["tables"]["kernels"]["rows"]
    shown = {row["name"]: row["delta_total_ns"] for row in rows_of(report, "kernels")}
    assert shown == {row["name"]: row["delta_total_ns"] for row in rows}
    swapped = rows_of(two.json("diff", a=1, b=0, analyses="kernels"), "kernels")
    assert {row["name"]: -row["delta_total_ns"] for row in swapped} == shown


def test_a_job_is_that_of_ranks(gputime, two):
    report = two.json("ranks")
    expected = gputime.json("ranks", OVERLAP, DEVICES)
    assert {"ranks", "groups", "job_measures"} <= set(report["tables"]) <= set(expected["tables"])
    for key in set(report["tables"]) & set(expected["tables"]):
        assert len(rows_of(report, key)) == min(2000, len(expected["tables"][key]["rows"])), key


# ---- lanes ----


def test_lanes_and_windows_agree_with_the_trace(server):
    lanes = server.json("lanes")
    ops = [row for row in lanes["rows"] if row["kind"] == "ops"]
    assert sum(row["count"] for row in ops) == 762 and all(not row["items"] for row in ops)
    window = server.json("window", from_ns=lanes["start_ns"], to_ns=lanes["end_ns"], width=800, lanes=ops[0]["lane"])
    assert [row["lane"] for row in window["rows"]] == [ops[0]["lane"]] and window["rows"][0]["items"]


def test_a_match_is_an_item_with_a_story(server):
    found = server.json("search", text="TRITON", limit=3)
    assert found["total"] > 3 and len(found["matches"]) == 3
    first, second = found["matches"][:2]
    assert "triton" in first["name"].lower() and first["start_ns"] <= second["start_ns"]
    again = server.json("search", text="triton", from_ns=second["start_ns"], limit=1)["matches"]
    assert again[0]["start_ns"] == second["start_ns"]
    before = server.json("search", text="triton", before_ns=second["start_ns"], limit=1)["matches"]
    assert before[0]["start_ns"] <= second["start_ns"]
    item = server.json("item", lane=first["lane"], start_ns=first["start_ns"], end_ns=first["end_ns"])
    assert item["name"] == first["name"] and item["lines"]


@pytest.mark.parametrize("of", ["operators", "python", "ranges"])
@pytest.mark.parametrize("by", ["gpu", "idle"])
def test_a_flame_graph_is_a_tree(server, of, by):
    nodes = server.json("flame", of=of, by=by)["nodes"]
    for index, node in enumerate(nodes):
        assert node["parent"] is None or 0 <= node["parent"] < index, node
        assert 0 <= node["own_ns"] <= node["ns"], node


# ---- queries ----


def test_a_query_gives_columns_and_rows(gputime, server):
    answer = server.json("sql", query="select name, count(*) as n from ops group by name order by n desc, name", limit=5)
    assert [column["key"] for column in answer["columns"]] == ["name", "n"] and answer["error"] is None
    assert len(answer["rows"]) == 5 and answer["total_rows"] >= 5
    rows = gputime.json("sql", LLAMA, "select name, count(*) as n from ops group by name order by n desc, name")
    assert answer["rows"] == [[row["name"], row["n"]] for row in rows["tables"]["rows"]["rows"][:5]]


@pytest.mark.parametrize("query", ["selec 1", "drop table ops", "select * from nothing", "attach 'x' as y", ";", "--"])
def test_what_is_wrong_with_a_query_is_said(server, query):
    answer = server.json("sql", query=query)
    assert answer["error"] and not answer["rows"]


def test_numbers_that_a_script_cannot_hold_are_text(server):
    answer = server.json("sql", query="select 9007199254740993, 5, 1e300*1e300, null, 'x'")
    assert answer["rows"] == [["9007199254740993", 5, None, None, "x"]]


# ---- bad questions ----


@pytest.mark.parametrize("path, words", [
    ("report?foo=1", "unknown parameter 'foo'"), ("report?analyses=nothing", "unknown analysis 'nothing'"),
    ("report?input=1", "'input'"), ("report?input=-1", "'input'"), ("report?input=x", "'input'"),
    ("report?from_ns=NaN", "'from_ns'"), ("report?from_ns=1e9", "'from_ns'"), ("report?to_ns=99999999999999999999", "'to_ns'"),
    ("report?device=x", "'device'"), ("report?device=9", "device"), ("report?step=999999", "step"),
    ("report?name=%zz", "broken escape"), ("report?name=%0", "broken escape"), ("report?name=a%00b", "broken escape"),
    ("report?name=re:(", "bad pattern"), ("report?input=0&input=0", "given twice"), ("window?width=0", "'width'"),
    ("window?width=1000000", "'width'"), ("window?lanes=1,x", "'lanes'"), ("window?lanes=4294967295", "lane"),
    ("window?from_ns=5&to_ns=4", "after"), ("sql", "'query'"), ("sql?query=select+1&limit=0", "'limit'"),
    ("diff", "two traces"), ("item", "needed"), ("item?lane=1&start_ns=0", "needed"), ("search", "'text'"),
    ("item?lane=4294967295&start_ns=0&end_ns=1", "lane"), ("flame?of=x", "'of'"), ("flame?by=x", "'by'"),
    ("search?text=a&from_ns=1&before_ns=2", "exclude"), ("search?text=a&limit=99999999", "'limit'"), ("alive?x=1", "unknown parameter"), ("?x=1", "unknown parameter"),
])
def test_bad_questions_are_answered_with_the_reason(server, path, words):
    status, _, body = server.get(path)
    assert status == 400 and words in json.loads(body)["error"], (status, body)


def test_several_inputs_need_to_be_told_apart(two):
    status, answer = two.ask("lanes")
    assert status == 400 and "'input'" in answer["error"]


# ---- what is printed, and the browser ----


def test_the_address_is_printed_and_nothing_else_is_needed(gputime, has_server):
    with Server(gputime, OVERLAP) as server:
        assert server.host == "127.0.0.1" and server.get("alive")[0] == 200
        server.process.send_signal(signal.SIGTERM)
        assert server.ended() == "Ctrl-C ends it.\n"
        server.stop = lambda: None


def test_on_a_remote_machine_the_tunnel_is_printed(gputime, has_server):
    with Server(gputime, OVERLAP, env={"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22", "DISPLAY": ":0"}) as server:
        found = TUNNEL.search(server.process.stdout.readline().decode())
        assert found and int(found[1]) == int(found[2]) == server.port


@pytest.mark.parametrize("more, is_opened", [
    ({}, True), ({"SSH_CONNECTION": "a 1 b 2"}, True), ({"GPUTIME_TEST_OPTION": "--no-open"}, False)])
def test_a_browser_is_opened(gputime, has_server, tmp_path, more, is_opened):
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\nprintf %s \"$1\" > '{opened}.new' && mv '{opened}.new' '{opened}'\n")
    browser.chmod(0o755)
    options = [more.pop("GPUTIME_TEST_OPTION")] if "GPUTIME_TEST_OPTION" in more else []
    with Server(gputime, OVERLAP, *options, env=more | {"BROWSER": str(browser)}) as server:
        if is_opened:
            wait_until(opened.exists)
            assert opened.read_text() == server.url
        else:
            server.get()
            assert not opened.exists()


def test_a_browser_that_cannot_be_started_is_no_reason_to_end(gputime, has_server):
    says = b"gputime: cannot open 'http://"
    with Server(gputime, OVERLAP, env={"BROWSER": "/nonexistent/browser"}) as server:
        assert server.get()[0] == 200
        server.process.send_signal(signal.SIGINT)
        _, err = server.process.communicate(timeout=60)
        assert err.startswith(says) and server.process.returncode == 0
        server.stop = lambda: None


def test_a_port_that_is_in_use_is_named(gputime, has_server):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = error_of(gputime("view", OVERLAP, "--port", str(port)), FAILED)
    assert f"port {port} is in use" in message and "--port" in message


def test_the_port_can_be_chosen_and_used_again_at_once(gputime, has_server):
    with Server(gputime, OVERLAP) as server:
        port = server.port
        server.get()
    with Server(gputime, OVERLAP, "--port", str(port)) as server:
        assert server.port == port and server.get("alive")[0] == 200


def test_other_machines_only_when_asked_with_a_warning(gputime, has_server):
    with Server(gputime, OVERLAP, "--address", "0.0.0.0") as server:
        assert server.get("alive")[0] == 200
        assert server.get("alive", headers={"Host": f"10.1.2.3:{server.port}"})[0] == 200
        assert server.get("alive", headers={"Host": f"evil.example:{server.port}"})[0] == 403
        server.process.send_signal(signal.SIGINT)
        _, err = server.process.communicate(timeout=60)
        assert b"WARNING" in err and b"not encrypted" in err
        server.stop = lambda: None


@pytest.mark.parametrize("arguments", [["--port", "70000"], ["--port", "x"], ["--idle", "-1"], ["--json"], []])
def test_wrong_options_are_usage_errors(gputime, has_server, arguments):
    error_of(gputime("view", *([OVERLAP] if arguments else []), *arguments), USAGE)


def test_what_cannot_be_read_is_an_error_before_anything_is_served(gputime, has_server, tmp_path):
    assert "nothing.json" in error_of(gputime("view", tmp_path / "nothing.json"), FAILED)
    assert "no address" in error_of(gputime("view", OVERLAP, "--address", "no.such.host.invalid"), USAGE)


def test_a_pipe_is_read_whole(gputime, has_server):
    with open(OVERLAP, "rb") as pipe:
        with Server(gputime, "-", stdin=pipe) as server:
            assert server.json("sql", query="select count(*) from counters")["error"] is None
            assert server.json("report")["inputs"][0]["input"] == "standard input"


def test_a_directory_is_all_its_traces(gputime, has_server, tmp_path):
    for name in ("rank0.json", "rank1.json"):
        write_trace(tmp_path / name)
    with Server(gputime, tmp_path) as server:
        report = server.json("report", analyses="kernels")
    assert [entry["input"] for entry in report["inputs"]] == ["rank0.json", "rank1.json"]


def test_redacted_traces_hide_their_paths_everywhere(gputime, has_server, tmp_path):
    path = tmp_path / "secret_place" / "secret_name.json"
    path.parent.mkdir()
    write_trace(path)
    with Server(gputime, path, "--redact") as server:
        for question in ("", "report", "lanes", "ranks", "sql?query=select+*+from+ops", "sql?query=x",
                         "report?analyses=nothing", "report?name=re:(", "report?device=9", "window"):
            assert b"secret_" not in server.get(question)[2], question


# ---- life ----


def test_silence_ends_it(gputime, has_server):
    server = Server(gputime, OVERLAP, "--idle", "1")
    assert server.get()[0] == 200
    server.ended()


def test_silence_ends_it_even_if_nobody_ever_came_where_that_is_asked_for(gputime, has_server):
    Server(gputime, OVERLAP, "--idle", "1").ended()


def test_an_interrupt_ends_a_long_query(gputime, has_server):
    with Server(gputime, OVERLAP) as server:
        endless = "with+recursive+n(i)+as+(select+1+union+all+select+i%2B1+from+n)+select+count(*)+from+n"
        with server.connect() as connection:
            connection.sendall(f"GET /{server.token}/sql?query={endless} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
                               .encode())
            server.works_for(0.2)
            assert server.get("alive")[0] == 200
            server.process.send_signal(signal.SIGINT)
            server.ended(timeout=20)
        server.stop = lambda: None
