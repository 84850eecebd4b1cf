"""What a page of `gputime view` has to wait for: windows of a large trace by HTTP, at any zoom, and what memory the server
takes next to the trace that it has read. Alone: view.py GPUTIME TRACE."""

import http.client
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

WINDOWS, WIDTH, ZOOMS = 60, 1400, 12


class Server:
    def __init__(self, gputime, trace):
        environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
        self.process = subprocess.Popen([str(gputime), "view", str(trace), "--no-cache", "--no-open"], stdout=subprocess.PIPE,
                                        env=environment, bufsize=0)
        address = re.fullmatch(rb"http://([^/]+)(/.*/)\n", self.process.stdout.readline())
        if not address:
            sys.exit(f"bench: {gputime} view {trace} does not serve")
        self.connection, self.place = http.client.HTTPConnection(address[1].decode(), timeout=600), address[2].decode()

    def ask(self, path):
        """Seconds until the whole answer is here, and the answer."""
        begin = time.perf_counter()
        self.connection.request("GET", self.place + path)
        answer = self.connection.getresponse()
        body = answer.read()
        seconds = time.perf_counter() - begin
        if answer.status != 200:
            sys.exit(f"bench: {path}: {body[:300]!r}")
        return seconds, body

    def heap_bytes(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]) * 1024

    def stop(self):
        self.connection.close()
        self.process.terminate()  # also obeyed where the shell has interrupts ignored
        if self.process.wait() != 0:
            sys.exit("bench: the server did not end well")


def windows(first, last):
    """Windows of every zoom, from all of the trace to a few microseconds, anywhere."""
    draw = random.Random(1)
    for index in range(WINDOWS):
        length = max(2000, (last - first) >> 2 * (index % ZOOMS))
        start = first + int(draw.random() * (last - first - length))
        yield start, start + length


def measure(gputime, trace, rounds=3):
    """Seconds and bytes: of the page, of lanes (which are made then), of the slowest window at its best, of memory."""
    server = Server(gputime, trace)
    read_bytes = server.heap_bytes()
    page_s, _ = server.ask("")
    lanes_s, lanes = server.ask("lanes")
    first, last = (int(re.search(rb'"%s": (-?\d+)' % key, lanes)[1]) for key in (b"start_ns", b"end_ns"))
    best, most_bytes = {}, 0
    for _ in range(rounds):
        for start, end in windows(first, last):
            seconds, body = server.ask(f"window?from_ns={start}&to_ns={end}&width={WIDTH}")
            best[start, end] = min(seconds, best.get((start, end), seconds))
            most_bytes = max(most_bytes, len(body))
    ordered = sorted(best.values())
    result = {"page_s": page_s, "lanes_s": lanes_s, "median_s": ordered[len(ordered) // 2], "slowest_s": ordered[-1],
              "answer_bytes": most_bytes, "read_bytes": read_bytes, "heap_bytes": server.heap_bytes()}
    server.stop()
    return result


class ViewCase:
    def __init__(self, name, trace, gputime):
        self.name, self.trace, self.gputime, self.result = name, trace, gputime, {}

    def run(self, rounds):
        self.result = measure(self.gputime, self.trace, rounds)

    def rows(self):
        parts = {"reading": (0, self.result["read_bytes"]), "page": (self.result["page_s"], 0),
                 "lanes, when first asked for": (self.result["lanes_s"], 0), "window, median": (self.result["median_s"], 0),
                 "window, slowest": (self.result["slowest_s"], self.result["heap_bytes"])}
        for part, (seconds, heap) in parts.items():
            yield {"case": self.name, "contender": part, "input_bytes": self.trace.stat().st_size,
                   "wall_s": round(max(seconds, 1e-4), 4), "user_s": 0, "system_s": 0, "best_cpu_s": 0, "peak_bytes": heap,
                   "baseline": "page", "ratio": round(self.result["page_s"] / max(seconds, 1e-4), 3), "cpu_ratio": 0,
                   "kept_events": 0, "name_bytes": 0}


if __name__ == "__main__":
    for key, value in measure(sys.argv[1], Path(sys.argv[2])).items():
        print(f"{key:<14}{value * 1000:12.2f} ms" if key.endswith("_s") else f"{key:<14}{value / 1e6:12.2f} MB")
