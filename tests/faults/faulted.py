"""One run of the program on a machine that fails, and what may come of it.

Either the run does what it does without the fault, or it says why not: exit status 1 (or 2, for a settings file that could not be
read) and a line on standard error. In both cases every file is whole: the old one, the new one or none.
"""

import errno
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading

from cases import lines_for_mcp

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARY = ROOT / "build/faulty.so"
HANG_SECONDS = 60
OLD = b"what was there before\n"
ADDRESS = re.compile(rb"http://[^/]+:(?P<port>\d+)/(?P<token>[0-9a-f]{32})/")
# A library that the server's one needs says this by itself while it is loaded.
LOADING = re.compile(rb"^Error in GnuTLS initialization: .*\n", re.MULTILINE)
SANITIZER = re.compile(rb"==\d+==|runtime error:|AddressSanitizer|LeakSanitizer")
ROUTES = ["", "alive", "report?analyses=kernels", "lanes", "window", "search?text=k", "flame", "nothing",
          "sql?query=select%20name,count(*)%20from%20ops%20group%20by%20name%20order%20by%20name"]

# Run in the background, this process ignores the signal that a server has to obey. What is ignored is inherited, what is handled is
# not.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# kind of call: the ways it fails, as FAULTY has them.
E = {name: getattr(errno, name) for name in ("EIO", "ENOSPC", "EMFILE", "ENOMEM", "EAGAIN", "EINTR", "EDQUOT", "EACCES")}
FAULTS = {
    "memory": [("ENOMEM", False), ("ENOMEM", True)],
    "thread": [("EAGAIN", False), ("EAGAIN", True)],
    "open": [("EMFILE", False), ("EMFILE", True), ("EIO", False), ("EACCES", False)],
    "read": [("EIO", False), ("EIO", True), ("short", True), ("interrupted", True)],
    "write": [("ENOSPC", False), ("ENOSPC", True), ("EIO", False), ("short", True), ("interrupted", True)],
    "sync": [("EIO", False), ("EIO", True), ("EINTR", False)],
    "rename": [("EIO", False), ("ENOSPC", True)],
    "close": [("EIO", False), ("EDQUOT", True), ("EINTR", False)],
    "truncate": [("EIO", False), ("ENOSPC", True)],
    "stat": [("EIO", False), ("EIO", True), ("EACCES", False)],
}


def plan_of(kind, place, error, goes_on):
    return f"{kind} {place} {E.get(error, error)}{' then' if goes_on else ''}"


class Broken(AssertionError):
    """What must not happen, and the fault that made it happen."""


class Machine:
    """Runs cases in folders of its own."""

    def __init__(self, binary, world, scratch, library=LIBRARY):
        self.binary, self.world, self.scratch, self.library = binary, world, pathlib.Path(scratch), library
        self.scratch.mkdir(parents=True, exist_ok=True)

    def environment(self, home, plan=None, **more):
        own = {key: value for key, value in os.environ.items() if not key.startswith(("GPUTIME", "XDG", "DISPLAY", "BROWSER"))}
        own |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "XDG_CONFIG_HOME": str(home / "config"),
                "TMPDIR": str(home / "tmp"), "LC_ALL": "C.UTF-8", "TERM": "dumb", "GPUTIME_THREADS": "1", "LD_PRELOAD": str(self.library),
                "SOURCE_DATE_EPOCH": "1600000000", "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1",
                "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=0:verify_asan_link_order=0:allocator_may_return_null=1"}
        if plan:
            own["FAULTY"] = plan
        return own | more

    def command(self, case):
        return [str(self.binary)] + [str(self.world / word[1:]) if word.startswith("@") else word for word in case.words]

    def prepare(self, case):
        """A folder to run in, with what is to be replaced, and a home."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        place, home = self.scratch / "work", self.scratch / "home"
        for folder in (place, home / "tmp", home / "config"):
            folder.mkdir(parents=True)
        for name in case.replaces:
            (place / name).write_bytes(OLD)
        if case.name == "cached":
            subprocess.run(self.command(case), cwd=place, env=self.environment(home) | {"LD_PRELOAD": ""}, check=True,
                           stdout=subprocess.DEVNULL)
            assert list((home / "cache").rglob("*")), "nothing was cached"
        return place, home

    def run(self, case, plan=None, preexec_fn=None, **more):
        place, home = self.prepare(case)
        environment = self.environment(home, plan, **more)
        if case.kind == "serve":
            outcome = serve(self.command(case), place, environment, preexec_fn)
        else:
            lines = lines_for_mcp(self.world) if case.kind == "talk" else None
            outcome = run_to_end(self.command(case), place, environment, lines, preexec_fn)
        return outcome | {"files": files_of(place), "left": names_of(home / "tmp"), "cache": files_of(home / "cache")}

    def usual(self, case):
        """What comes without a fault, and how many calls of each kind that takes."""
        counts = self.scratch.parent / (self.scratch.name + ".counts")
        usual = self.run(case, FAULTY_COUNTS=str(counts))
        again = self.run(case)
        for key in ("status", "printed", "files"):
            if usual[key] != again[key]:
                raise Broken(f"{case.name}: {key} differs from run to run")
        if usual["status"] != 0 or usual["said"]:
            raise Broken(f"{case.name}: fails without a fault: {usual['said']}")
        usual["calls"] = {kind: int(count) for kind, count in (line.split() for line in counts.read_text().splitlines())}
        return usual


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def names_of(folder):
    return sorted(path.name for path in folder.rglob("*"))


def run_to_end(command, place, environment, lines, preexec_fn):
    process = subprocess.Popen(command, cwd=place, env=environment, stdin=subprocess.PIPE if lines else subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=preexec_fn)
    try:
        printed, said = process.communicate(lines, timeout=HANG_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        printed, said = process.communicate()
        said += b"(it hangs)"
    return {"status": process.returncode, "printed": printed, "said": said}


# ---- a server, asked and then interrupted ----


def request(port, token, route):
    """Status and body; None: no whole answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANG_SECONDS)
    try:
        connection.request("GET", f"/{token}/{route}")
        answer = connection.getresponse()
        body = answer.read()
        # Only behind a host: a number of the report may have the same digits.
        return answer.status, re.sub(rb"(?<=[0-9a-z\]]):%d\b" % port, b":PORT", body.replace(token.encode(), b"TOKEN"))
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def serve(command, place, environment, preexec_fn):
    process = subprocess.Popen(command, cwd=place, env=environment, stdin=subprocess.DEVNULL, bufsize=0, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=preexec_fn)
    watch = threading.Timer(HANG_SECONDS, process.kill)  # for the line below, which would wait for ever
    watch.start()
    address = ADDRESS.match(process.stdout.readline())
    answers = {}
    if address:
        for route in ROUTES:
            answers[route] = request(int(address["port"]), address["token"].decode(), route)
    if process.poll() is None and address:
        process.send_signal(signal.SIGINT)
    try:
        _, said = process.communicate(timeout=HANG_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        _, said = process.communicate()
        said += b"(it hangs)"
    if process.returncode == -signal.SIGKILL and not watch.is_alive():
        said += b"(it hangs)"
    watch.cancel()
    return {"status": process.returncode, "printed": answers, "said": said, "is_served": bool(address)}


# ---- verdicts ----


def is_sentence(said):
    """One line for each failure, each with words; a path or the memory that was short is in the first one."""
    lines = said.decode("utf-8", "replace").splitlines()
    return bool(lines) and all(line.startswith("gputime: ") and len(line.split()) > 2 for line in lines)


def check_files(case, usual, outcome):
    for name, content in outcome["files"].items():
        known = [usual["files"].get(name)] + [OLD] * (name in case.replaces)
        if content not in known:
            raise Broken(f"the file {name} is neither old nor new ({len(content)} bytes)")
    for name in case.replaces:
        if name not in outcome["files"]:
            raise Broken(f"the file {name} that was there is lost")
    if outcome["left"]:
        raise Broken(f"temporary files are left: {outcome['left']}")


def check_answers(usual, answers):
    """Each answer is the usual one, a refusal, or none."""
    for route, answer in answers.items():
        if answer is None or answer == usual[route]:
            continue
        if answer[0] not in (200, 500, 503):
            raise Broken(f"the answer to '{route}' has status {answer[0]}")
        if answer[0] == 200 and not is_honest(answer[1]):
            raise Broken(f"the answer to '{route}' is wrong: {answer[1][:300]}")


def is_honest(body):
    try:
        answer = json.loads(body)
    except ValueError:
        return False
    return bool(answer.get("error"))


def check_lines(usual, printed):
    """Each line of mcp is the usual one or an error with its id; a line that is cut is the last."""
    expected = {json.loads(line)["id"]: line for line in usual.splitlines()}
    lines = printed.split(b"\n")
    for line in lines[:-1]:
        answer = json.loads(line)
        if line == expected.get(answer["id"]):
            continue
        if "error" not in answer and not answer["result"].get("isError"):
            raise Broken(f"an answer of mcp is wrong: {line[:300]}")


def check_printed(case, usual, outcome):
    if case.kind == "serve":
        check_answers(usual["printed"], outcome["printed"])
    elif case.kind == "talk":
        check_lines(usual["printed"], outcome["printed"])
    elif outcome["status"] == 0 and outcome["printed"] != usual["printed"] and not is_loss(outcome["said"]):
        raise Broken(f"exit status 0, but another output: {outcome['printed'][:300]}")


def is_loss(said):
    """A trace that was read in part is a report with a warning."""
    return b"was only partly read" in said


def check(case, usual, outcome):
    """Gives a word for what happened; Broken where it must not."""
    if b"(it hangs)" in outcome["said"]:
        raise Broken("it hangs")
    if SANITIZER.search(outcome["said"]):
        raise Broken("report of a sanitizer")
    # Without the thread that waits for signals, a signal ends it in the usual way.
    if not (outcome["status"] in (0, 1, 2) or (case.kind == "serve" and outcome["status"] == -signal.SIGINT)):
        raise Broken(f"exit status {outcome['status']}")
    check_files(case, usual, outcome)
    check_printed(case, usual, outcome)
    if outcome["status"] > 0 and not is_sentence(LOADING.sub(b"", outcome["said"])):
        raise Broken(f"exit status {outcome['status']} without a reason")
    if outcome["status"] == 0 and case.kind == "run" and not is_loss(outcome["said"]) and outcome["files"] != usual["files"]:
        raise Broken(f"exit status 0, but the files {sorted(outcome['files'])}")
    if outcome["status"] <= 0:
        return "warned" if outcome["said"] else "as usual"
    return "refused"


def places_of(count, most, draw):
    """All of them, or as many as asked for, spread."""
    if count <= most:
        return list(range(count))
    step = count / most
    return sorted({int(i * step + draw.random() * step) for i in range(most)})


def points_of(case, usual, most, draw):
    """Every fault that this case is tried with, as (kind, place, error, goes on)."""
    for kind, ways in FAULTS.items():
        for error, goes_on in ways:
            count = usual["calls"][kind]
            if error in ("short", "interrupted"):
                count = min(count, 1)
            for place in places_of(count, most, draw):
                yield kind, place, error, goes_on


def torture(machine, case, usual, point):
    outcome = machine.run(case, plan_of(*point))
    try:
        return check(case, usual, outcome)
    except (Broken, ValueError, KeyError) as broken:
        raise Broken(f"{case.name}, {plan_of(*point)}: {broken}; said {outcome['said'][-1500:].decode('utf-8', 'replace')!r}") from None
