"""Backlog: the files of a folder that a stream has not taken yet.

Spark lists the folder for every batch, but tells nobody how many files it left for later. So we look ourselves: once
for a batch at most, and more seldom where looking takes long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Lock
from urllib.parse import unquote

import msgspec

from postroom.pipeline.sources.lag import Lag
from postroom.pipeline.sources.record_files import local_path, record_files

# Between two looks this many times as long must pass as a look takes.
PAUSE = 100


class _Noted(msgspec.Struct):
    path: str


class Backlog:
    """What waits in a folder, as it was when somebody looked last."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._next = clock()
        self._taken: set[str] = set()
        self._waiting: dict[str, int] = {}
        # Batches are taken in one thread while another looks.
        self._lock = Lock()
        self._read_notes = False
        self._changed = False

    def take(self, files: Iterable[Path]) -> None:
        """A stream has taken these files as its next batch."""
        taken = set(map(str, files))
        with self._lock:
            self._taken |= taken
            self._waiting = {path: size for path, size in self._waiting.items() if path not in taken}
            self._changed = True

    @property
    def lag(self) -> Lag:
        """How many files wait, and how large they are."""
        waiting = self._waiting
        return Lag(files=len(waiting), bytes=sum(waiting.values()))

    def look(self, checkpoint: Path) -> None:
        """Look again if a batch was taken since, and if the last look is long enough ago."""
        began = self._clock()
        if not self._changed or began < self._next:
            return
        self._changed = False
        if not self._read_notes:
            noted = set(noted_files(checkpoint))
            with self._lock:
                self._taken |= noted
            self._read_notes = True
        known = set(self._taken)
        there = set(record_files(self._path))
        found = {path: _size(path) for path in there - known}
        with self._lock:
            # What is gone needs no memory; what was taken in the meantime does not wait.
            self._taken -= known - there
            self._waiting = {path: size for path, size in found.items() if path not in self._taken}
        took = self._clock() - began
        self._next = began + took + PAUSE * took


def noted_files(checkpoint: Path) -> Iterator[str]:
    """The files that a stream has taken by its checkpoint: numbered logs, and from time to time one of all before."""
    logs = {int(path.stem): path for path in (checkpoint / "sources" / "0").glob("[0-9]*") if path.stem.isdigit()}
    whole = max((number for number, path in logs.items() if path.suffix == ".compact"), default=-1)
    for number, path in logs.items():
        if number >= whole:
            _version, *lines = path.read_bytes().splitlines()
            yield from (local_path(unquote(msgspec.json.decode(line, type=_Noted).path)) for line in lines)


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
