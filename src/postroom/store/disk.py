"""The disk that a store is on: how full it is, and what it means when a write fails."""

from __future__ import annotations

import logging
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from postroom.errors import MissingSystem
from postroom.registry.problems import RegistryProblem

LOG = logging.getLogger(__name__)
LEAST_FREE = 256 * 1024
"""So much room there has to be before a full disk counts as one that can be written to again."""
INSUFFICIENT_STORAGE = 507
NEARLY_FULL = "There is little room left on the disk that the store is on."
FULL = "The disk that the store is on is full, or cannot be written to."
_FAULTS = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN})
_NO_ROOM = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_SHMOPEN,
        sqlite3.SQLITE_IOERR_SHMSIZE,
    }
)


class Disk:
    """Where the file of a store is, and whether it can be written to as far as is known."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.is_faulty = False
        """Whether the last write failed because of the disk."""
        self.is_frozen = False
        """Whether there is no room for what writers need, so that the file is only read."""

    def free(self) -> int:
        """How many bytes there is room for."""
        return shutil.disk_usage(self._path.parent).free

    def holds_all(self) -> bool:
        """Whether all that was committed is in the file itself, and nothing of it in the one beside."""
        beside = self._path.with_name(f"{self._path.name}-wal")
        return not beside.exists() or beside.stat().st_size == 0

    def address(self) -> str:
        """The URI by which SQLite opens the file."""
        return self._path.absolute().as_uri() + ("?immutable=1" if self.is_frozen else "")

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Tell faults of the disk from others while something is written."""
        try:
            yield
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _FAULTS:  # the upper bits say more of it
                raise
            if not self.is_faulty:
                LOG.error("%s cannot be written to: %s", self._path, error)  # noqa: TRY400  # a sentence
            self.is_faulty = True
            raise disk_full() from None
        self.is_faulty = False


def lacks_room(error: sqlite3.Error) -> bool:
    """Whether a file could not be opened because the disk is full."""
    return getattr(error, "sqlite_errorcode", 0) in _NO_ROOM


def disk_full() -> RegistryProblem:
    """What a client is told whose change cannot be stored."""
    detail = f"{FULL} Nothing of the change was kept."
    problem = RegistryProblem("server_error", "/", detail=detail, status=INSUFFICIENT_STORAGE)
    problem.exit_code = MissingSystem.exit_code
    return problem
