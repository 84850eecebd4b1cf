"""The peak of memory of a run."""

import os
import subprocess
import sys

# Until it runs another program, a new process counts the memory of the old one: that must be a small one.
MEASURE = """import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
os.write(2, b"%d" % usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status) & 255)"""


def peak_run(gputime, *args):
    """A run and its peak of memory in bytes."""
    done = subprocess.run([sys.executable, "-SIc", MEASURE, gputime.binary, *map(os.fspath, args), "--no-cache"],
                          env=gputime.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)
    *message, kilobytes = done.stderr.split(b"\n")
    done.stderr = b"".join(line + b"\n" for line in message)
    return done, int(kilobytes) * 1024
