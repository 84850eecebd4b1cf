"""How tests run make on the project without disturbing its build, and what they share with each other."""

import contextlib
import fcntl
import os
import re
import subprocess

from conftest import ROOT

# Tests use the build that is there, whatever its flags are.
AS_BUILT = ("-o", "build/flags", "-o", "build/config.mk")
OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")
OF_THE_BUILD = ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS", "HARDEN", "WEB", "BUILD", "DESTDIR", "PREFIX")

VERSION = re.search(r'GPUTIME_VERSION "(\d+\.\d+)\.\d+"', (ROOT / "include/gputime.h").read_text())[1]
OFFLINE = re.compile(r"ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|E40[37]|ERR_SOCKET_TIMEOUT")  # npm
SONAME = f"libgputime.so.{VERSION}"  # while the version is 0.x, every x breaks programs


def run_make(*args, env=None):
    """make in the root of the project, with nothing of a make around it and none of the user's flags."""
    environment = {key: value for key, value in os.environ.items() if key not in OF_MAKE + OF_THE_BUILD}
    return subprocess.run(["make", "--no-print-directory", "-C", str(ROOT), *map(str, args)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment | (env or {}))


def make(*args, env=None):
    done = run_make(*args, env=env)
    assert done.returncode == 0, done.stdout
    return done.stdout


@contextlib.contextmanager
def alone(name):
    """For what several test processes would write at once."""
    path = ROOT / "build" / f"{name}.lock"
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
