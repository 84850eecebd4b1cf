"""gputime view as an attacker sees it: other sites in the same browser, other users of the same machine, and anybody who
sends bytes. Nothing is answered without the token, nothing but the given traces can be reached, and the server survives."""

import concurrent.futures
import os
import random
import socket
import subprocess
import time
import urllib.parse

import pytest

from samples import DATA
from view_client import Server

OVERLAP = str(DATA / "overlap.json")
ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"


@pytest.fixture(scope="module")
def server(hardened, gputime):
    """With sanitizers where there is such a build: it ends with status 0, so nothing was leaked or broken."""
    if b"no server" in hardened("version").stdout:
        pytest.skip("gputime was built without libmicrohttpd")
    with Server(hardened, OVERLAP) as server:
        yield server
        assert server.get("alive")[0] == 200


def request(server, target=None, host=None, method="GET", version="HTTP/1.1", more=""):
    target = f"/{server.token}/alive" if target is None else target
    host = f"127.0.0.1:{server.port}" if host is None else host
    return f"{method} {target} {version}\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n".encode("latin-1")


def test_a_proper_request_is_answered(server):
    assert server.status_of(request(server)) == 200


# ---- the token ----


def wrong_tokens(token):
    flipped = [token[:i] + ("0" if token[i] != "0" else "1") + token[i + 1:] for i in (0, 1, 15, 30, 31)]
    return [*flipped, token[:-1], token[:16], token[:1], "", token + "0", token + token, token.upper() + "x", "0" * 32, "f" * 32,
            urllib.parse.quote(token[0], safe="") + "%" + token[1:], "%" + f"{ord(token[0]):02x}" + token[1:],
            " " + token, token[::-1], token[:31] + "%00", "." * 32, "../" + token, "*" * 32]


def test_every_wrong_token_is_refused_alike(server):
    answers = set()
    for token in wrong_tokens(server.token):
        if token == server.token:
            continue
        for tail in ("/", "/alive", "/sql?query=select+1", ""):
            data = server.send(request(server, f"/{token}{tail}"))
            if data and b" 400 " not in data.split(b"\r\n")[0]:
                answers.add(b"\n".join(line for line in data.split(b"\r\n") if not line.startswith(b"Date:")))
    assert len(answers) == 1 and answers.pop().startswith(b"HTTP/1.1 404 ")


def test_upper_case_is_another_token(server):
    if server.token.upper() != server.token:
        assert server.status_of(request(server, f"/{server.token.upper()}/alive")) == 404


@pytest.mark.parametrize("form", ["/", "", "*", "//{t}/alive", "/./{t}/alive", "/x/../{t}/alive", "/{t}", "/%2f{t}/alive", "{t}/alive",
                                  "http://127.0.0.1/{t}/alive", "/?{t}/alive", "/#/{t}/alive", "\\{t}\\alive", "/{t}\\alive",
                                  "/favicon.ico", "/robots.txt", "/.well-known/x"])
def test_the_token_is_at_its_place_only(server, form):
    assert server.status_of(request(server, form.format(t=server.token))) in (400, 404, None)


def test_tokens_differ(hardened, server):
    tokens = {server.token}
    for _ in range(3):
        with Server(hardened, OVERLAP) as other:
            tokens.add(other.token)
    assert len(tokens) == 4


# ---- other sites ----


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:{p}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{p}0", "localhost", "localhost.evil.example:{p}",
    "127.0.0.1.evil.example:{p}", "127.0.0.1:{p}.evil.example", "127.1:{p}", "0.0.0.0:{p}", "2130706433:{p}", "[::1]", "[::]:{p}", "::1:{p}",
    "192.168.0.1:{p}", "user@127.0.0.1:{p}", "127.0.0.1:{p}@evil.example", "127.0.0.1:{p}/", "", " ", "127.0.0.1:{p},evil.example"])
def test_names_that_lead_here_are_not_ours(server, host):
    assert server.status_of(request(server, host=host.format(p=server.port))) in (400, 403)


@pytest.mark.parametrize("host", ["127.0.0.1:{p}", "localhost:{p}", "LOCALHOST:{p}", "[::1]:{p}"])
def test_our_own_names(server, host):
    assert server.status_of(request(server, host=host.format(p=server.port))) == 200


def test_a_host_is_there_once(server):
    own = f"127.0.0.1:{server.port}"
    assert server.status_of(request(server, more=f"Host: {own}\r\n")) == 400
    assert server.status_of(request(server, more="Host: evil.example\r\n")) == 400
    bare = f"GET /{server.token}/alive HTTP/%s\r\nConnection: close\r\n\r\n"
    assert server.status_of((bare % "1.1").encode()) in (400, None)
    assert server.status_of((bare % "1.0").encode()) in (400, None)


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "http://evil.example:{p}", "https://127.0.0.1:{p}", "http://127.0.0.1",
                                    "http://127.0.0.1:1", "http://localhost:{p}", "http://127.0.0.1:{p}.evil.example", "file://",
                                    "http://127.0.0.1:{p}/", "", "http://127.0.0.1:{p} http://evil.example", "moz-extension://x"])
def test_pages_of_others_may_not_ask(server, origin):
    assert server.status_of(request(server, more=f"Origin: {origin.format(p=server.port)}\r\n")) == 403


def test_the_own_page_may_ask(server):
    own = f"Origin: http://127.0.0.1:{server.port}\r\n"
    assert server.status_of(request(server, more=own)) == 200
    assert server.status_of(request(server, more=own + "Sec-Fetch-Site: same-origin\r\n")) == 200
    assert server.status_of(request(server, more="Sec-Fetch-Site: none\r\n")) == 200
    assert server.status_of(request(server, more=own + own)) == 400


@pytest.mark.parametrize("site", ["cross-site", "same-site", "x", "", "Same-Origin"])
def test_requests_of_other_sites_are_refused_even_with_the_token(server, site):
    for more in ("", "Sec-Fetch-Mode: no-cors\r\n", "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n",
                 "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"):
        assert server.status_of(request(server, more=f"Sec-Fetch-Site: {site}\r\n{more}")) == 403
    page = f"/{server.token}/"
    assert server.status_of(request(server, page, more=f"Sec-Fetch-Site: {site}\r\nSec-Fetch-Mode: no-cors\r\n")) == 403
    click = f"Sec-Fetch-Site: {site}\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
    assert server.status_of(request(server, page, more=click)) == 200  # a click on the address in a terminal of a browser
    assert server.status_of(request(server, page, more=click.replace("document", "iframe"))) == 403


def test_no_answer_is_for_other_origins(server):
    answer = server.send(request(server, more="Origin: http://evil.example\r\nAccess-Control-Request-Method: GET\r\n"))
    assert b"access-control" not in answer.lower()
    assert server.status_of(request(server, method="OPTIONS", more="Access-Control-Request-Method: GET\r\n")) == 405


# ---- methods and bodies ----


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT", "get", "GETX", "X" * 5000])
def test_only_get_and_head(server, method):
    assert server.status_of(request(server, method=method)) in (400, 405, 414, 431, None)


def test_head_is_get_without_a_body(server):
    status, headers, body = server.get("alive", method="HEAD")
    assert status == 200 and body == b"" and headers["Content-Length"] == "2"


@pytest.mark.parametrize("more", ["Content-Length: 1\r\n", "Content-Length: 99999999999999999999\r\n", "Content-Length: -1\r\n", "Content-Length: x\r\n",
                                  "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: x\r\n", "Content-Length: 5\r\nContent-Length: 6\r\n",
                                  "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"])
def test_bodies_are_refused(server, more):
    assert server.status_of(request(server, more=more) + b"x" * 100) in (400, 413, None)


# ---- paths ----


@pytest.mark.parametrize("path", ["../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "/etc/passwd", "file:///etc/passwd", "%00", "lanes%00", "lanes/", "lanes//",
                                  "Lanes", "report/../lanes", "lanes;x", "lanes%3finput=0", "page.html", "index.html", ".", "..", "%2e%2e", "\x7f", "a" * 5000,
                                  "\u00e9", "lanes#x", "alive/"])
def test_there_is_no_other_path(server, path):
    target = f"/{server.token}/{path}".encode("utf-8").decode("latin-1")
    assert server.status_of(request(server, target)) in (400, 404)


def test_files_cannot_be_read_by_parameters(server, tmp_path):
    secret = tmp_path / "secret.json"
    secret.write_text('{"secret": "hidden treasure"}')
    for query in (f"attach '{secret}' as x", f"select readfile('{secret}')", f"select load_extension('{secret}')", f"select * from '{secret}'",
                  f"select edit('{secret}')", f"select writefile('{secret}', 'x')", f"vacuum into '{tmp_path}/x'", f"pragma database_list",
                  f"create table x(y)", "insert into ops(name) values (1)", "update ops set name = 1", "delete from ops",
                  f"create virtual table x using gputime('{secret}')", "select fts3_tokenizer('x')", "begin", "select 1; select 2"):
        answer = server.json("sql", query=query)
        assert answer["error"] and "treasure" not in str(answer), query
    for parameter in ("name", "analyses", "input", "device"):
        body = server.get(f"report?{parameter}={urllib.parse.quote(str(secret))}")[2]
        assert b"treasure" not in body
    assert os.listdir(tmp_path) == ["secret.json"]


# ---- broken HTTP ----

BROKEN = [
    b"", b"\r\n", b"\r\n" * 1000, b"\x00", b"\x00" * 10000, b"GET", b"GET ", b"GET / ", b"GET /\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1",
    b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost", b"GET / HTTP/1.1\r\nHost:\r\n\r\n", b"GET / HTTP/1.1\nHost: x\n\n", b"GET / HTTP/1.1\r\n: x\r\n\r\n",
    b"GET / HTTP/1.1\r\n x\r\n\r\n", b"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", b"GET / HTTP/1.1\r\nA\x00: b\r\n\r\n", b"GET / HTTP/1.1\r\nA: \x00\r\n\r\n",
    b"GET  /  HTTP/1.1\r\n\r\n", b"GET\t/\tHTTP/1.1\r\n\r\n", b"GET / HTTP/1.1 x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xaa" * 500,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", b"<policy-file-request/>\x00",
    b"GET /" + b"A" * 200000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nA: " + b"B" * 2000000 + b"\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 50000 + b"\r\n",
    b"A" * 1000000, b"GET / HTTP/1.1\r\n" + b"A" * 100000, b"GET /?" + b"a=b&" * 40000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"\xff\xfe" * 1000,
    b"GET /%ZZ HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n", b"GET / HTTP/1.1\r\nHost: " + b"x" * 90000 + b"\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nCookie: " + b"a=b;" * 9000 + b"\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
]


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_broken_requests_are_refused_and_nothing_breaks(server, number):
    assert server.status_of(BROKEN[number]) in (None, 400, 403, 404, 405, 413, 414, 431, 501, 505)
    assert server.get("alive")[0] == 200


def test_requests_one_after_the_other_on_one_connection(server):
    one = request(server).replace(b"Connection: close\r\n", b"")
    answer = server.send(one * 5 + request(server))
    assert answer.count(b"HTTP/1.1 200 ") == 6
    refused = request(server, "/x/").replace(b"Connection: close\r\n", b"")
    assert server.send(refused + one).count(b"HTTP/1.1 ") == 1  # who is refused is not heard any more


# ---- a thousand of them ----

KEYS = ["input", "from_ns", "to_ns", "width", "lanes", "lane", "start_ns", "end_ns", "nth", "text", "before_ns", "limit", "query", "of", "by", "analyses", "device",
        "stream", "pid", "step", "name", "a", "b", "x", ""]
VALUES = ["0", "-1", "1", "NaN", "inf", "-inf", "1e308", "0x10", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "2305843009213693952",
          "-2305843009213693952", "", " ", "%", "%0", "%00", "%ff%fe", "0,0", "0," * 300, "1-9223372036854775807", "9-1", ",", "re:(a+)+$", "re:[", "kernels",
          "kernels,kernels", "timeline", "select 1", "operators", "gpu", "'", "\"", "<script>", "\u202e", "a" * 3000]
ROUTES = ["", "report", "diff", "ranks", "lanes", "window", "item", "search", "sql", "flame", "alive", "gone", "x", "../x"]


def hostile_target(server, draw):
    """Anything from a wild string to a question that is nearly right."""
    token = server.token if draw.random() < 0.85 else "".join(draw.choice("0123456789abcdef") for _ in range(32))
    pairs = [(draw.choice(KEYS), draw.choice(VALUES)) for _ in range(draw.randrange(5))]
    encode = urllib.parse.quote if draw.random() < 0.7 else lambda text: text.replace(" ", "+").replace("\u202e", "%e2%80%ae")
    query = "&".join(f"{key}={encode(value)}" for key, value in pairs)
    return f"/{token}/{draw.choice(ROUTES)}{'?' if pairs else ''}{query}"


def test_a_thousand_hostile_requests(server):
    draw = random.Random(7)
    targets = [hostile_target(server, draw) for _ in range(1000)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda target: server.status_of(request(server, target)), targets))
    odd = [(status, target[:200]) for status, target in zip(statuses, targets) if status not in (200, 400, 404, 503)]
    assert not odd, odd[:5]
    assert statuses.count(200) > 50 and statuses.count(404) > 50
    assert server.get("alive")[0] == 200


# ---- many, slow, and greedy ----


def test_two_hundred_connections_at_once(server):
    held = [server.connect() for _ in range(40)]
    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        statuses = list(pool.map(lambda _: server.status_of(request(server)), range(200)))
    assert statuses == [200] * 200
    for connection in held:
        connection.close()


def test_a_slow_client_is_cut_off_and_hurts_nobody(server):
    """One byte at a time would keep a connection for ever."""
    slow = [server.connect() for _ in range(3)]
    begin = time.monotonic()
    cut = [None] * len(slow)
    data = request(server, more="X: " + "y" * 100000)
    sent = 0
    while not all(cut) and time.monotonic() < begin + 60:
        for index, connection in enumerate(slow):
            try:
                if not cut[index]:
                    connection.sendall(data[sent:sent + 1])
            except OSError:
                cut[index] = time.monotonic()
        assert server.get("alive")[0] == 200
        sent += 1
        time.sleep(0.5)
    assert all(cut), cut
    for connection in slow:
        connection.close()


def test_long_queries_wait_for_each_other_and_all_else_goes_on(server):
    target = "/{}/sql?{}".format(server.token, urllib.parse.urlencode({"query": ENDLESS}))
    busy = [server.connect() for _ in range(6)]
    for connection in busy:
        connection.sendall(request(server, target))
    for _ in range(5):
        assert server.get("alive")[0] == 200
        assert server.get("window")[0] == 200
    for connection in busy:
        connection.close()


def test_results_are_bounded(server):
    many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000) select i, hex(zeroblob(50)) from n"
    answer = server.json("sql", query=many)
    assert len(answer["rows"]) == 1000 and answer["notes"]
    wide = "select hex(zeroblob(100000000))"
    answer = server.json("sql", query=wide)
    assert answer["error"] or answer["notes"] or not answer["rows"]


def test_nothing_is_written_about_tokens(hardened, tmp_path):
    """Neither on the screen, except for the address, nor anywhere below the home of the user."""
    with Server(hardened, OVERLAP) as server:
        server.get()
        server.get("nonsense?" + server.token)
        found = subprocess.run(["grep", "-rl", server.token, str(hardened.home)], capture_output=True).stdout
        assert not found


def test_other_addresses_of_this_machine_are_closed(server):
    names = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    names |= {"127.0.0.2"}
    for name in names:
        with pytest.raises(OSError):
            socket.create_connection((name, server.port), timeout=5)
