"""The measurements of all server processes on one socket, in a folder: whichever is scraped answers for all of them."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from postroom.http.operations.metric_table import CPU_SECONDS
from postroom.http.operations.metrics import Measured, ProcessMetrics

PUBLISH_SECONDS = 1.0
ENDED, LOCK, SUFFIX = "ended.json", ".lock", ".process"

_DECODER = msgspec.json.Decoder(Measured)


class SharedMetrics:
    """Publishes what this process measures, and adds up what all of them did.

    Numbers of other processes are up to a second old. What a process that has ended counted is kept, so that counters
    never go back.
    """

    def __init__(self, own: ProcessMetrics, folder: str) -> None:
        self._own = own
        self._folder = Path(folder)
        self._file = self._folder / f"{os.getpid()}{SUFFIX}"
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._publish_regularly, name="postroom-metrics", daemon=True)

    def start(self) -> None:
        """Begin to publish."""
        self._thread.start()

    def stop(self) -> None:
        """Publish once more, for the last time."""
        self._stopping.set()
        self._thread.join()
        self._publish()

    def measured(self) -> Measured:
        """What all processes measured together."""
        total = Measured()
        with self._locked():
            self._merge_ended()
            for path in self._folder.glob(f"*{SUFFIX}"):
                if path != self._file:
                    total.add(_read(path))
            total.add(_read(self._folder / ENDED), is_alive=False)
        total.add(self._own.measured())
        return total

    def _publish_regularly(self) -> None:
        while not self._stopping.wait(PUBLISH_SECONDS):
            self._publish()

    def _publish(self) -> None:
        with suppress(OSError):  # a full disk: metrics are not what the service ends for
            _write(self._file, self._own.measured())

    def _merge_ended(self) -> None:
        """Add the files of processes that have ended to one, so that they do not become many."""
        ended = [path for path in self._folder.glob(f"*{SUFFIX}") if not _is_running(int(path.stem))]
        if not ended:
            return
        total = _read(self._folder / ENDED)
        for path in ended:
            total.add(_read(path), is_alive=False)
        total.counters.pop(CPU_SECONDS.name, None)  # has the id of a process as a label, and would grow for ever
        _write(self._folder / ENDED, total)
        for path in ended:
            path.unlink(missing_ok=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self._folder / LOCK).open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _read(path: Path) -> Measured:
    try:
        return _DECODER.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):
        return Measured()


def _write(path: Path, measured: Measured) -> None:
    draft = path.with_suffix(f".{time.monotonic_ns()}.draft")
    draft.write_bytes(msgspec.json.encode(measured))
    draft.replace(path)
