"""A running `gputime view`, as a browser, a curious program or an attacker sees it."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.parse
from pathlib import Path

DESKTOP = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "SSH_CONNECTION", "SSH_TTY")
ADDRESS = re.compile(r"http://(?P<host>[^/]+):(?P<port>\d+)/(?P<token>[0-9a-f]{32})/")


def environment_of(gputime, more):
    return {key: value for key, value in gputime.environment.items() if key not in DESKTOP} | (more or {})


class Server:
    """`with Server(gputime, trace) as server: server.json("lanes")`. At the end it is interrupted as by Ctrl-C and has to
    end with status 0 and without a word on standard error."""

    def __init__(self, gputime, *arguments, env=None, stdin=None, says=b""):
        self.says = says
        self.process = subprocess.Popen(
            [str(gputime.binary), "view", *map(os.fspath, arguments)], stdin=stdin or subprocess.DEVNULL,
            bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment_of(gputime, env))
        self.url = self.process.stdout.readline().decode().strip()
        found = ADDRESS.fullmatch(self.url)
        if not found:
            raise AssertionError((self.url, self.process.communicate()))
        self.host, self.port, self.token = found["host"], int(found["port"]), found["token"]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.process.kill()
            self.process.communicate()
        else:
            self.stop()

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        self.ended()

    def ended(self, timeout=60):
        """Ends by itself; gives what it printed after the address."""
        out, err = self.process.communicate(timeout=timeout)
        assert self.process.returncode == 0, (self.process.returncode, err[-3000:])
        assert err == self.says, err[-3000:]
        return out.decode()

    def works_for(self, seconds, timeout=60):
        """Waits until it has used so much more CPU time."""
        def used():
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        begin, until = used(), time.monotonic() + timeout
        while used() - begin < seconds:
            assert time.monotonic() < until, "it does nothing"
            time.sleep(0.01)

    # ---- as a browser ----

    def get(self, path="", headers=None, method="GET", body=None):
        """Status, headers and bytes of one answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, f"/{self.token}/{path}", headers=headers or {}, body=body)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def ask(self, route, **parameters):
        """Status and JSON of an answer."""
        query = urllib.parse.urlencode(parameters)
        status, headers, body = self.get(f"{route}?{query}" if query else route)
        assert headers["Content-Type"] == "application/json; charset=utf-8", headers
        return status, json.loads(body.decode("utf-8"))

    def json(self, route, **parameters):
        status, answer = self.ask(route, **parameters)
        assert status == 200, (status, answer)
        return answer

    # ---- byte by byte ----

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def send(self, data):
        """All that comes back until the server closes the connection."""
        with self.connect() as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            return read_all(connection)

    def status_of(self, data):
        """Status of the first answer; None: there was none."""
        found = re.match(rb"HTTP/1\.[01] (\d{3}) ", self.send(data))
        return found and int(found[1])


def read_all(connection):
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except OSError:
        pass
    return b"".join(parts)


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
