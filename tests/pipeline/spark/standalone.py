"""A standalone Spark cluster of this machine's own processes: a master, and workers with a bare Python.

They begin with nothing of the tests' environment: another folder, another PATH, no variable of ours. What they need of
Spark is in the pyspark package, whose Python they do not have.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from pathlib import Path

import pyspark

from postroom.pipeline.spark.java import find_java_home
from tests.processes import descendants

SPARK = Path(pyspark.__file__).parent
# Generous: the machine of a test may have other work, and none of these times is waited for in vain.
TIMEOUT_S = 900
# Small Java processes: there are four of them on two cores.
SMALL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


class Cluster:
    """A master on a port of its own, and its workers."""

    def __init__(self, folder: Path, bare: Path) -> None:
        self.folder = folder
        self.bare = bare
        self.workers: list[subprocess.Popen[bytes]] = []
        self.master, self.url = self._start_master()

    def add_worker(self, cores: int = 1) -> subprocess.Popen[bytes]:
        """One more worker, which has registered when this returns."""
        name = f"worker{len(self.workers)}"
        words = ["--cores", str(cores), "--memory", "1g"]
        worker = self._start(name, "org.apache.spark.deploy.worker.Worker", *words, self.url)
        self.workers.append(worker)
        self._until(name, "Successfully registered with master")
        return worker

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """Kill a worker with all that it runs, as when its machine goes away."""
        below = descendants(worker.pid)
        for process in (worker.pid, *below):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        worker.wait()

    def stop(self) -> None:
        for worker in self.workers:
            if worker.poll() is None:
                self.kill(worker)
        self.master.kill()
        self.master.wait()

    def _start_master(self) -> tuple[subprocess.Popen[bytes], str]:
        master = self._start("master", "org.apache.spark.deploy.master.Master", "--port", "0")
        return master, self._until("master", r"Starting Spark master at (spark://\S+)")

    def _start(self, name: str, service: str, *words: str) -> subprocess.Popen[bytes]:
        folder = self.folder / name
        folder.mkdir()
        environment = {
            "JAVA_HOME": str(find_java_home()),
            "PATH": f"{self.bare / 'bin'}:/usr/bin:/bin",
            "HOME": str(folder),
            "SPARK_HOME": str(SPARK),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(folder / "work"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": SMALL,
        }
        command = [str(SPARK / "bin" / "spark-class"), service, "--host", "127.0.0.1", "--webui-port", "0", *words]
        with (folder / "log").open("wb") as log:
            return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)

    def _until(self, name: str, pattern: str) -> str:
        """Wait for a line in the log of a process, and give what it says."""
        log, deadline = self.folder / name / "log", time.monotonic() + TIMEOUT_S
        while True:
            found = re.search(pattern, log.read_text(errors="replace"))
            if found is not None:
                return found[1] if found.groups() else found[0]
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.05)


@contextlib.contextmanager
def running_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster whose workers have a Python of this version and nothing else."""
    bare = folder / "bare"
    venv.create(bare, with_pip=False, symlinks=True)
    ran = subprocess.run([bare / "bin" / "python", "-c", "import postroom"], capture_output=True, cwd="/", check=False)
    assert ran.returncode, "the bare environment has postroom"
    made = Cluster(folder, bare)
    try:
        for _ in range(workers):
            made.add_worker()
        yield made
    finally:
        made.stop()


def spark_submit(*words: str) -> list[str]:
    """The command that submits a program to Spark."""
    return [str(SPARK / "bin" / "spark-submit"), *words]


def submitting(**more: str) -> dict[str, str]:
    """The environment of who submits: the driver has our Python, the workers their own."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    found = os.environ | {"PYSPARK_DRIVER_PYTHON": sys.executable, "PYSPARK_PYTHON": version}
    return found | {"JAVA_HOME": str(find_java_home()), "SPARK_LOCAL_IP": "127.0.0.1"} | more
