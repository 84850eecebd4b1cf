"""A Slurm of one machine: munged, slurmctld and several slurmd with names of their own, as root, in a scratch folder."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sinfo")
START_S = 40


def missing():
    return [name for name in PROGRAMS if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for it in sockets:
        it.bind(("127.0.0.1", 0))
    ports = [it.getsockname()[1] for it in sockets]
    for it in sockets:
        it.close()
    return ports


class Cluster:
    """Nodes n0, n1, ... for a with statement."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.started = []

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gputime-slurm."))
        self.folder.chmod(0o755)
        self.write_settings()
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"),
                            "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
        try:
            self.start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def write_settings(self):
        folder, host = self.folder, socket.gethostname().split(".")[0]
        (folder / "munge").mkdir(mode=0o755)
        (folder / "state").mkdir()
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        ports = free_ports(self.nodes + 1)
        lines = ["ClusterName=local", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={ports[0]}",
                 "AuthType=auth/munge", f"AuthInfo=socket={folder}/munge/sock", "SlurmUser=root", "SlurmdUser=root",
                 f"StateSaveLocation={folder}/state", f"SlurmdSpoolDir={folder}/spool.%n",
                 f"SlurmctldPidFile={folder}/ctld.pid", f"SlurmdPidFile={folder}/slurmd.%n.pid",
                 f"SlurmctldLogFile={folder}/ctld.log", f"SlurmdLogFile={folder}/slurmd.%n.log",
                 "ProctrackType=proctrack/pgid", "TaskPlugin=task/none", "SchedulerType=sched/builtin",
                 "SelectType=select/linear", "ReturnToService=2", "MpiDefault=pmi2", "JobCompType=jobcomp/none",
                 "AccountingStorageType=accounting_storage/none", "SwitchType=switch/none"]
        for number in range(self.nodes):
            (folder / f"spool.n{number}").mkdir()
            lines.append(f"NodeName=n{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[number + 1]} CPUs=2 "
                         "RealMemory=1000 State=UNKNOWN")
        lines.append("PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP OverSubscribe=FORCE:8")
        (folder / "slurm.conf").write_text("\n".join(lines) + "\n")

    def start(self, name, *words):
        with open(self.folder / f"{name}.out", "wb") as out:
            self.started.append(subprocess.Popen(words, stdout=out, stderr=out, env=self.environment))

    def start_all(self):
        munge = self.folder / "munge"
        self.start("munged", "munged", "--foreground", "--force", f"--key-file={self.folder}/munge.key",
                   f"--socket={munge}/sock", f"--pid-file={munge}/pid", f"--log-file={munge}/log",
                   f"--seed-file={munge}/seed")
        self.wait_for(lambda: (munge / "sock").exists(), "munged")
        settings = str(self.folder / "slurm.conf")
        self.start("slurmctld", "slurmctld", "-D", "-f", settings)
        for number in range(self.nodes):
            self.start(f"slurmd.{number}", "slurmd", "-D", "-N", f"n{number}", "-f", settings)
        self.wait_for(lambda: self.idle() == self.nodes, "the nodes")

    def idle(self):
        done = subprocess.run(["sinfo", "-h", "-N", "-o", "%T"], env=self.environment, capture_output=True, text=True,
                              timeout=20, check=False)
        return done.stdout.split().count("idle")

    def wait_for(self, is_there, what):
        until = time.monotonic() + START_S
        while not is_there():
            if time.monotonic() > until:
                raise AssertionError(f"{what} did not start:\n{self.logs()}")
            time.sleep(0.2)

    def logs(self):
        texts = [f"== {path.name}\n{path.read_text(errors='replace')[-1000:]}"
                 for path in sorted(self.folder.iterdir()) if path.suffix in (".log", ".out")]
        return "\n".join(texts)

    def popen(self, *words, **variables):
        return subprocess.Popen(["srun", *map(str, words)], env={**self.environment, **variables},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *words, **variables):
        return subprocess.run(["srun", *map(str, words)], env={**self.environment, **variables}, capture_output=True,
                              timeout=120, check=False)

    def __exit__(self, *_):
        for process in reversed(self.started):
            process.terminate()
        for process in self.started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
