"""The program among others: closed pipes, signals, and the width, colours and progress of a terminal."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from commandline import FAILED, NAMES, names_in, op, text_of, write_trace


# ---- pipes and signals ----


def test_closed_pipe_is_quiet(gputime, folder):
    read_end, write_end = os.pipe()
    os.close(read_end)
    for args in (["a.json"], ["kernels", "a.json", "--json"], ["--help"], ["--print-man"]):
        done = gputime(*args, cwd=folder, stdout=write_end)
        assert done.returncode == FAILED and done.stderr == b"", args
    os.close(write_end)


def test_closed_standard_output(gputime, folder):
    for args in ("--help", "a.json", "kernels a.json -o k.txt"):
        done = subprocess.run(["bash", "-c", f'"{gputime.binary}" {args} >&-'], cwd=folder, env=gputime.environment,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        assert done.returncode == FAILED and done.stderr.startswith(b"gputime: "), args
    assert names_in((folder / "k.txt").read_text()) == list(NAMES)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_writing_leaves_nothing(gputime, folder, number):
    """The old file stays, the temporary goes, and the program ends by the signal."""
    names = [f"kernel_{index:06}_{'x' * 100}" for index in range(20000)]
    events = [op(name, 10 * index, 5, 7) for index, name in enumerate(names)]
    (folder / "large.json").write_text(json.dumps({"traceEvents": events}))
    (folder / "out").mkdir()
    (folder / "out" / "list.json").write_text("old")
    for _ in range(20):  # the program may be done before the signal arrives
        program = subprocess.Popen([gputime.binary, "kernels", "-q", "large.json", "-o", "out/list.json"], cwd=folder,
                                   env=gputime.environment, stderr=subprocess.PIPE)
        while program.poll() is None and len(os.listdir(folder / "out")) == 1:
            pass
        program.send_signal(number)
        assert program.communicate(timeout=60)[1] == b""
        assert os.listdir(folder / "out") == ["list.json"]
        if program.returncode == -number:
            break
        assert program.returncode == 0
        (folder / "out" / "list.json").write_text("old")
    assert program.returncode == -number
    assert (folder / "out" / "list.json").read_text() == "old"


def test_ignored_signals_stay_ignored(gputime, folder):
    os.mkfifo(folder / "pipe.json")
    program = subprocess.Popen(["nohup", gputime.binary, "kernels", "-q", "--no-cache", "pipe.json", "-o", "list.csv"], cwd=folder,
                               env=gputime.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    with open(folder / "pipe.json", "wb") as pipe:  # the program has opened it now
        program.send_signal(signal.SIGHUP)
        pipe.write((folder / "a.json").read_bytes())
    assert program.wait(timeout=60) == 0 and (folder / "list.csv").exists()


# ---- the terminal ----


def on_terminal(gputime, folder, *args, columns=100, **env):
    """What the program writes to a terminal of that width."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    program = subprocess.Popen([gputime.binary, *args], cwd=folder, stdin=subprocess.DEVNULL, stdout=terminal,
                               stderr=subprocess.PIPE, env=gputime.environment | {"TERM": "xterm"} | env)
    os.close(terminal)
    output = b""
    while select.select([master], [], [], 60)[0]:
        try:
            output += os.read(master, 65536)
        except OSError:
            break
    os.close(master)
    assert program.communicate(timeout=60)[1] == b"" and program.returncode == 0
    return output.decode()


def test_width_of_the_terminal(gputime, folder):
    write_trace(folder / "long.json", [f"{name}_kernel_{'x' * 150}" for name in NAMES])

    def widest(text):
        return max(len(line.rstrip()) for line in text.splitlines())
    for columns in (60, 100, 140):
        text = on_terminal(gputime, folder, "kernels", "long.json", columns=columns, NO_COLOR="1")
        assert columns - 25 <= widest(text) <= columns
    assert widest(on_terminal(gputime, folder, "kernels", "long.json", "--width", "90", NO_COLOR="1")) <= 90
    unknown = {"columns": 0, "NO_COLOR": "1"}  # a terminal that does not tell its width
    assert widest(on_terminal(gputime, folder, "kernels", "long.json", **unknown)) <= 80
    assert 95 <= widest(on_terminal(gputime, folder, "kernels", "long.json", COLUMNS="120", **unknown)) <= 120
    assert widest(on_terminal(gputime, folder, "kernels", "long.json", columns=60, NO_COLOR="1", COLUMNS="120")) <= 60


def test_width_in_a_pipe(gputime, folder):
    write_trace(folder / "long.json", [f"{name}_kernel_{'x' * 250}" for name in NAMES])

    def text(*args, **env):
        return text_of(gputime("kernels", "long.json", *args, cwd=folder, env=env))

    def widest(*args, **env):
        return max(len(line.rstrip()) for line in text(*args, **env).splitlines())
    usual = text()
    assert widest() <= 80
    for columns in (60, 100, 200):
        assert columns - 25 <= widest(COLUMNS=str(columns)) <= columns
        assert text(COLUMNS=str(columns)) == text("--width", str(columns))
    assert text("--width", "80", COLUMNS="200") == usual
    for nonsense in ("", "0", "19", "-100", "10001", "100x", "wide", "1e2", "99999999999999999999"):
        assert text(COLUMNS=nonsense) == usual, nonsense
    (folder / "config/gputime").mkdir(parents=True)
    (folder / "config/gputime/config").write_text("width = 80\n")
    assert text(XDG_CONFIG_HOME=str(folder / "config"), COLUMNS="200") == usual


def test_width_of_files_does_not_depend_on_the_terminal(gputime, folder):
    for name, env in (("a.txt", {}), ("b.txt", {"COLUMNS": "200"})):
        assert gputime("summary", "a.json", "-o", name, cwd=folder, env=env).returncode == 0
    assert (folder / "a.txt").read_bytes() == (folder / "b.txt").read_bytes()


def test_color(gputime, folder):
    assert "\033[" in on_terminal(gputime, folder, "kernels", "a.json")
    assert "\033[" not in on_terminal(gputime, folder, "kernels", "a.json", NO_COLOR="1")
    assert "\033[" in on_terminal(gputime, folder, "kernels", "a.json", NO_COLOR="")
    assert "\033[" not in on_terminal(gputime, folder, "kernels", "a.json", TERM="dumb")
    assert "\033[" not in on_terminal(gputime, folder, "kernels", "a.json", "--color", "never")
    assert "\033[" in on_terminal(gputime, folder, "kernels", "a.json", "--color=always", NO_COLOR="1")
    assert b"\033[" not in gputime("kernels", "a.json", cwd=folder).stdout
    assert b"\033[" in gputime("kernels", "a.json", "--color", "always", cwd=folder).stdout


def test_progress_of_long_reading(gputime, folder):
    """A slow pipe takes long: standard error shows a line, and it is erased at the end."""
    trace = json.dumps({"traceEvents": [op("alpha", 10 * number, 5, 7) for number in range(40000)]}).encode()

    def errors_on_terminal(*args, path="slow.json"):
        os.mkfifo(folder / path)
        master, terminal = pty.openpty()
        program = subprocess.Popen([gputime.binary, "--no-cache", path, *args], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=terminal,
                                   env=gputime.environment | {"TERM": "xterm"})
        os.close(terminal)
        with open(folder / path, "wb") as pipe:
            for part in range(8):
                pipe.write(trace[part * len(trace) // 8:(part + 1) * len(trace) // 8])
                pipe.flush()
                time.sleep(0.12)
        os.unlink(folder / path)
        assert program.wait(timeout=60) == 0
        try:
            shown = os.read(master, 65536).decode()
        except OSError:
            shown = ""
        os.close(master)
        return shown
    shown = errors_on_terminal()
    assert "reading slow.json " in shown and "MB/s" in shown and "\n" not in shown and shown.endswith("\r\033[K")
    shown = errors_on_terminal(path="\033]0;title\007.json")
    assert r"reading \x1b]0;title\x07.json " in shown and "\007" not in shown
    shown = errors_on_terminal("a.json")
    assert "reading 2 traces " in shown and "slow.json" not in shown and shown.endswith("\r\033[K")
    assert errors_on_terminal("--quiet") == ""
