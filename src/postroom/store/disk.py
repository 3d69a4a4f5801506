"""The disk of a store: free space, and how failed writes are reported."""

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
"""Bytes that have to be free before a full disk counts as writable again."""
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
    """The file of a store, and whether it could be written to the last time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.is_faulty = False
        """Whether the last write failed because of the disk."""
        self.is_frozen = False
        """Whether the disk is so full that the file is only read."""

    def free(self) -> int:
        """The number of free bytes."""
        return shutil.disk_usage(self._path.parent).free

    def holds_all(self) -> bool:
        """Whether all that was committed is in the database file, and the WAL is empty."""
        wal = self._path.with_name(f"{self._path.name}-wal")
        return not wal.exists() or wal.stat().st_size == 0

    def address(self) -> str:
        """The URI by which SQLite opens the file."""
        return self._path.absolute().as_uri() + ("?immutable=1" if self.is_frozen else "")

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Turn errors of the disk during a write into the problem `disk_full`."""
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
    """Whether a database could not be opened because the disk is full."""
    return getattr(error, "sqlite_errorcode", 0) in _NO_ROOM


def disk_full() -> RegistryProblem:
    """The problem for a client whose change cannot be stored."""
    detail = f"{FULL} Nothing of the change was kept."
    problem = RegistryProblem("server_error", "/", detail=detail, status=INSUFFICIENT_STORAGE)
    problem.exit_code = MissingSystem.exit_code
    return problem
