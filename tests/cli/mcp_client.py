"""A client of `gputime mcp` that checks every line: one JSON text for each answer, and nothing else on standard output."""

import json
import os
import subprocess


class Client:
    def __init__(self, gputime, *options, cwd=None, version="2025-06-18"):
        self.process = subprocess.Popen(
            [str(gputime.binary), "mcp", *map(os.fspath, options)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=gputime.environment, cwd=cwd)
        self.last_id = 0
        self.hello = self.ask("initialize", {"protocolVersion": version, "capabilities": {},
                                             "clientInfo": {"name": "test", "version": "1"}})["result"]
        self.tell("notifications/initialized")

    def send(self, line):
        """Sends a line as it is and gives the answer to it."""
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return self.receive()

    def receive(self):
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), (line[-200:], self.process.poll(), self.process.stderr.read())
        return json.loads(line.decode("utf-8"))

    def tell(self, method, params=None):
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params=None):
        self.last_id += 1
        answer = self.send(json.dumps({"jsonrpc": "2.0", "id": self.last_id, "method": method,
                                       "params": params or {}}).encode())
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.last_id, answer
        return answer

    def call(self, name, /, **arguments):
        result = self.ask("tools/call", {"name": name, "arguments": arguments})["result"]
        assert all(item["type"] == "text" for item in result["content"]) and result["content"], result
        return result

    def text(self, name, /, **arguments):
        result = self.call(name, **arguments)
        assert not result["isError"], result
        return "\n".join(item["text"] for item in result["content"])

    def tables(self, name, /, **arguments):
        result = self.call(name, **arguments)
        assert not result["isError"], result
        return result["structuredContent"]["tables"]

    def error(self, name, /, **arguments):
        result = self.call(name, **arguments)
        assert result["isError"] and "structuredContent" not in result, result
        return "\n".join(item["text"] for item in result["content"])

    def close(self):
        """Ends the server as clients do, by the end of its standard input."""
        rest, complaints = self.process.communicate(timeout=60)
        assert (rest, complaints, self.process.returncode) == (b"", b"", 0), (rest, complaints, self.process.returncode)
