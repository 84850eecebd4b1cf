"""The doors of gputime under attack, beyond the lists of test_view_attack.py, test_sql_bounds.py and test_mcp_bounds.py: bytes that are
changed at random, connections that never ask, and files of random traces for readers of others."""

import json
import pathlib
import random
import socket

import pytest

import parquet_by_hand
from laws import kineto, traces
from mcp_client import Client
from samples import DATA
from view_client import Server

OVERLAP = str(DATA / "overlap.json")
SLOW_CONNECTIONS = 700
MEGABYTE = 1 << 20


# ---- HTTP ----


@pytest.fixture(scope="module")
def server(hardened):
    if b"no server" in hardened("version").stdout:
        pytest.skip("gputime was built without libmicrohttpd")
    with Server(hardened, OVERLAP) as server:
        yield server


def test_connections_that_never_ask_keep_nobody_out(server):
    """More than the server takes at once, each in the middle of a request."""
    held = []
    try:
        for number in range(SLOW_CONNECTIONS):
            held.append(server.connect())
            held[-1].sendall(b"GET /x HTTP/1.1\r\nHost: x\r\nX: ")
            if number % 100 == 99:
                assert server.get("alive")[0] == 200
        assert server.get("lanes")[0] == 200
    finally:
        for connection in held:
            connection.close()
    assert server.get("alive")[0] == 200


PIECES = [b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b"Host: ", b"HTTP/1.1", b"GET ", b"Content-Length: 9\r\n", b"Content-Length: -1\r\n",
          b"Content-Length: 99999999999999999999\r\n", b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: identity, chunked\r\n",
          b"Expect: 100-continue\r\n", b"Connection: keep-alive\r\n", b"Upgrade: h2c\r\n", b"5\r\nabcde\r\n0\r\n\r\n", b"ffffffff\r\n", b"%2e%2e%2f",
          b"../", b"%00", b"%", b"%zz", b"http://127.0.0.1/", b"*", b"\xff\xfe", b"\xe2\x80\xae", b"A" * 5000, b"?", b"#", b"//", b"\\",
          b"Range: bytes=0-0,-1\r\n", b"X-Forwarded-Host: evil.example\r\n", b"Origin: null\r\n", b"POST ", b"CONNECT ", b"TRACE "]


def changed(draw, data):
    """Bytes that are flipped, removed, repeated or put in."""
    for _ in range(draw.choice([1, 1, 2, 3, 6])):
        at, size = draw.randrange(len(data) + 1), draw.choice([1, 1, 2, 8, 30])
        way = draw.randrange(4)
        if way == 0 and at < len(data):
            data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1:]
        elif way == 1:
            data = data[:at] + data[at + size:]
        elif way == 2:
            data = data[:at] + data[at:at + size] * draw.choice([2, 3, 50]) + data[at + size:]
        else:
            data = data[:at] + draw.choice(PIECES) + data[at:]
    return data


def whole_answers(data):
    """Statuses of all answers, of which each must be a proper one. Pages of libmicrohttpd itself, about requests that never came to us,
    are the last; it may send their headers twice."""
    statuses = []
    while data:
        head, found, data = data.partition(b"\r\n\r\n")
        assert found and head.startswith(b"HTTP/1."), head[:200]
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        statuses.append(int(head.split(b" ", 2)[1]))
        if statuses[-1] >= 400 and b"content-security-policy" not in fields:
            break
        if statuses[-1] != 100:
            data = data[int(fields[b"content-length"]):]
    return statuses


def test_changed_requests(server):
    draw = random.Random(11)
    proper = [f"GET /{server.token}/{route} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAccept: */*\r\nConnection: close\r\n\r\n".encode()
              for route in ("alive", "lanes", "window?width=50", "sql?query=select+1")]
    seen = set()
    for _ in range(700):
        answer = server.send(changed(draw, draw.choice(proper) * draw.choice([1, 1, 2])))
        for status in whole_answers(answer):
            assert status in (100, 200, 400, 403, 404, 405, 411, 413, 414, 431, 500, 501, 503, 505), answer[:300]
            seen.add(status)
    assert {200, 400, 404} <= seen
    assert server.get("alive")[0] == 200


def test_answers_that_nobody_reads(server):
    """Who asks and goes away, or asks and does not read, costs a connection and no more."""
    data = f"GET /{server.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    held = []
    for number in range(60):
        connection = server.connect()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(data * 3)
        if number % 2:
            held.append(connection)
        else:
            connection.close()
    assert server.get("alive")[0] == 200
    for connection in held:
        connection.close()


# ---- MCP ----


def memory_of(process):
    """The most that it ever held, in bytes."""
    lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def test_a_line_without_end_takes_no_memory(gputime):
    client = Client(gputime)
    before = memory_of(client.process)
    for _ in range(64):
        client.process.stdin.write(b'{"x":"' + b"y" * MEGABYTE)
    assert client.send(b"")["error"]["code"] == -32600
    assert client.ask("ping")["result"] == {}
    assert memory_of(client.process) < before + 20 * MEGABYTE
    client.close()


JSON_PIECES = [b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"-", b"1e999", b"\\", b"\\u0000", b"\\ud800", b"\xff", b"\0", b"[" * 300, b"\x1b[2J",
               b'"id":{}', b'"id":1.5e300', b'"id":"x"', b'"jsonrpc":"2.0"', b'"method":"tools/call"', b'"params":[]', b"../../etc/passwd", b"/dev/zero", b"true"]


def changed_line(draw, line):
    for _ in range(draw.choice([1, 1, 2, 4])):
        at, size = draw.randrange(len(line) + 1), draw.choice([1, 1, 3, 20])
        line = draw.choice([line[:at] + line[at + size:], line[:at] + draw.choice(JSON_PIECES) + line[at:],
                            line[:at] + bytes([draw.randrange(256)]) + line[at + 1:]])
    return line.replace(b"\n", b" ").replace(b"\r", b" ")


def test_changed_lines(hardened):
    """Each line has at most one answer, which is JSON; after all of them the server still works."""
    draw = random.Random(13)
    proper = [json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).encode() for method, params in (
        ("ping", {}), ("tools/list", {}), ("tools/call", {"name": "kernels", "arguments": {"traces": [OVERLAP], "top": 3}}),
        ("tools/call", {"name": "sql", "arguments": {"traces": [OVERLAP], "query": "select count(*) from ops"}}),
        ("tools/call", {"name": "define", "arguments": {"key": "idle_ns"}}))]
    lines = [changed_line(draw, draw.choice(proper)) for _ in range(1000)]
    done = hardened("mcp", stdin=b"\n".join(lines) + b'\n{"jsonrpc":"2.0","id":"last","method":"ping"}\n', timeout=300)
    assert done.returncode == 0 and done.stderr == b"", done.stderr[-2000:]
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[-1] == {"jsonrpc": "2.0", "id": "last", "result": {}}
    assert 500 < len(answers) <= len(lines) + 1
    assert b"root:" not in done.stdout


# ---- files for readers of others ----


def sql_rows(gputime, path, table, columns):
    names = ", ".join(f'"{column}"' for column in columns)
    return gputime.json("sql", path, f"select {names} from {table} order by id", "--max-rows", "0")["tables"]["rows"]["rows"]


@pytest.mark.parametrize("seed", range(6))
def test_parquet_of_random_traces_has_the_rows_of_sql(gputime, tmp_path, seed):
    path = tmp_path / "trace.json"
    kineto.write(path, traces.make(seed))
    assert gputime("export", path, "-o", f"{tmp_path}/out/", "-q").returncode == 0
    columns = ["id", "name", "kind", "device", "stream", "start_ns", "end_ns", "dur_ns", "category"]
    file = parquet_by_hand.read(tmp_path / "out/ops.parquet")
    rows = [dict(zip(columns, row)) for row in zip(*(file.columns[column] for column in columns))]
    assert sorted(rows, key=lambda row: row["id"]) == sql_rows(gputime, path, "ops", columns) and rows


@pytest.mark.parametrize("seed", range(6))
def test_a_perfetto_trace_of_a_random_trace_has_its_ops(gputime, tmp_path, seed):
    path, other = tmp_path / "trace.json", tmp_path / "out.pftrace"
    kineto.write(path, traces.make(seed))
    assert gputime("export", path, "-o", other, "-q").returncode == 0
    query = "select name, kind, start_ns, dur_ns from ops order by start_ns, dur_ns, name, kind, device, stream"
    here, there = (gputime.json("sql", one, query)["tables"]["rows"]["rows"] for one in (path, other))
    assert here == there and here
