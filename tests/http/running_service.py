"""`postroom serve` as a process of its own, that can be asked, stopped and killed."""

from __future__ import annotations

import functools
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def locate(database: str) -> str:
    """Where a registry is; a run of the suite on PostgreSQL has another answer."""
    return database


@contextmanager
def serving(
    database: str,
    *arguments: str,
    program: str = "postroom",
    listens: str = "127.0.0.1",
    scheme: str = "http",
    room: int | None = None,
    log: Path | None = None,
    python: str = sys.executable,
    **environment: str,
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the service on a free port; the process and its URL. It is stopped at the end, if it still runs.

    With `room`, none of its files can grow beyond so many bytes; with `log`, what it logs is added to that file;
    with `python`, it is the one that is installed beside that interpreter.
    """
    command = [python, "-m", program, "serve", "--db", locate(database), "--port", "0", *arguments]
    env = {**os.environ, **environment}
    with (log or Path(os.devnull)).open("ab") as errors:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=env,
            preexec_fn=None if room is None else functools.partial(limit, 0, room),  # noqa: PLW1509  # only a limit
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith(f"listening on {scheme}://{listens}:"), line
        yield process, line.removeprefix("listening on ").strip()
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


def limit(pid: int, room: int = resource.RLIM_INFINITY) -> None:
    """Let no file of a process grow beyond so many bytes, as if the disk were full; 0 is this process."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))


def kill(process: subprocess.Popen[str]) -> None:
    """kill -9: the parent first, for it would start a new worker."""
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    for pid in (process.pid, *map(int, listed.split())):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait(30)
